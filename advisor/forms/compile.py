"""The file that keeps what every pattern of the package needs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Final

from advisor.forms.form import Form, Forms
from advisor.forms.letters import DIGIT, PLACES, key_of
from advisor.forms.needs import Need, needs_in, needs_of_alternatives

_PACKAGES: Final = ("advisor", "advisor.rules")
"""The rules stand in a folder of their own and are not found from the package."""
_ASKS: Final = ("has", "says")
"""Methods of a statement that look for a pattern in it (advisor/said.py)."""


def compiled_file(patterns: Iterable[str]) -> bytes:
    """The content of letters.json for some patterns."""
    whole = {pattern: (needs_in(pattern),) for pattern in patterns}
    alternative = {pattern: needs_of_alternatives(pattern) for pattern in whole}
    content = {"patterns": _table_of(whole), "alternatives": _table_of(alternative)}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return re.sub(r"(?<=[\]}],)(?=\")|(?<={)(?=\")", "\n", text).encode() + b"\n"  # an entry a line


def _table_of(needs: Mapping[str, tuple[tuple[Need, ...], ...]]) -> dict[str, Any]:
    """One table, with a number for each need."""
    every = sorted({need for parts in needs.values() for part in parts for need in part})
    number = {need: index for index, need in enumerate(every)}
    places: dict[str, dict[str, list[int]]] = {place: {} for place in PLACES}
    for need, index in number.items():
        for letters in need:
            if letters != DIGIT:
                entries = places[_place_of(letters)]
                entries.setdefault(letters.strip(), []).append(index)
    rows = {
        key_of(pattern): [[number[need] for need in part] for part in parts]
        for pattern, parts in needs.items()
        if any(parts)
    }
    return {
        "needs": dict(sorted(rows.items())),
        "digit": [index for need, index in number.items() if DIGIT in need],
        **{place: dict(sorted(entries.items())) for place, entries in places.items()},
    }


def _place_of(letters: str) -> str:
    if letters.startswith(" "):
        return "word" if letters.endswith(" ") else "start"
    return "end" if letters.endswith(" ") else "within"


def patterns_in(module: ModuleType, source: str) -> set[str]:
    """The patterns of a module: its forms, and what it asks a statement for in words."""
    found = {form.pattern for value in vars(module).values() for form in _forms_in(value)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            asked = node.args[0]
            if node.func.attr not in _ASKS:
                continue
            if isinstance(asked, ast.Name):
                asked = ast.Constant(getattr(module, asked.id, None))
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                found.add(asked.value)
    return found


def _forms_in(value: Any) -> Iterator[Form]:
    if isinstance(value, Form):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _forms_in(part)
    elif isinstance(value, (tuple, list, Forms)):
        for part in value:
            yield from _forms_in(part)


def form_patterns() -> set[str]:
    """The patterns of the whole package."""
    found: set[str] = set()
    for name, source in _modules():
        found |= patterns_in(import_module(name), source)
    return found


def _modules() -> Iterator[tuple[str, str]]:
    """Name and source of each module that holds patterns."""
    for package in _PACKAGES:
        for found in walk_packages(import_module(package).__path__, f"{package}."):
            spec = find_spec(found.name)
            if spec is None or spec.origin is None:
                continue
            source = Path(spec.origin).read_text(encoding="utf-8")
            if "Form(" in source or any(f".{asks}(" in source for asks in _ASKS):
                yield found.name, source
