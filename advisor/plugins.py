"""Rules that are not of rooflint: files and folders that the user names, and installed packages.

A rule is code, so none is loaded because it lies in the tree that is checked: only what
`--rules PATH` names, what the settings of a file name that `--config FILE` names, and what an
installed package declares as an entry point of the group "rooflint.rules".
"""

from __future__ import annotations

import os
import re
import site
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Final

from advisor.levers import LEVERS
from advisor.problems import PROBLEMS
from advisor.rule import CLAIMS, STATEMENTS, LoadedRule, Rule
from advisor.rulebook import entries
from advisor.suppress import SUPPRESSION_PROBLEMS

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

GROUP: Final = "rooflint.rules"

_CODE: Final = re.compile(r"[A-Z]{2,8}\d{3}")
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


class RuleError(ValueError):
    """A rule that cannot be loaded; the message names its file and what is wrong."""


def load(paths: Iterable[str | Path] = ()) -> tuple[LoadedRule, ...]:
    """The rules of installed packages, then those of files and folders.

    A folder stands for the Python files in it whose names do not begin with "_".

    Raises:
        RuleError: for a module that is no rule, or that takes the code or name of another.

    """
    modules = [(place, module, "") for place, module in _installed()]
    modules += (
        (place, module, str(path)) for path in paths for place, module in _in_path(Path(path))
    )
    found: dict[str, LoadedRule] = {}
    taken = _taken()
    for place, module, origin in modules:
        loaded = _rule_of(module, place)._replace(origin=origin)
        for word in (loaded.rule.code, loaded.rule.name):
            if word in taken:
                raise RuleError(f"{place}: {word} is already {taken[word]}; take another")
            taken[word] = f"of {place}"
        found[loaded.rule.code] = loaded
    return tuple(found[code] for code in sorted(found))


def _taken() -> dict[str, str]:
    """Codes and names that are in use, and whose they are."""
    problems = (*PROBLEMS.values(), *SUPPRESSION_PROBLEMS.values())
    own = [*((entry.code, entry.name) for entry in entries().values())]
    own += ((problem.code, problem.name) for problem in problems)
    return {word: "a rule of rooflint" for pair in own for word in pair}


def _rule_of(module: ModuleType, place: str) -> LoadedRule:
    """The rule of a module, its parts checked."""
    rule, check = getattr(module, "RULE", None), getattr(module, "check", None)
    if not isinstance(rule, Rule):
        raise RuleError(f"{place}: there is no RULE = Rule(...) of advisor.rule in it")
    if not callable(check):
        raise RuleError(f"{place}: there is no check(audit) in it")
    if not (module.__doc__ or "").strip():
        raise RuleError(f"{place}: the docstring is missing; it is the rule's page")
    if not _CODE.fullmatch(rule.code):
        raise RuleError(f"{place}: the code {rule.code!r} is not of the form ABC001")
    if rule.family in {entry.code.rstrip("0123456789") for entry in entries().values()} | {"E"}:
        raise RuleError(
            f"{place}: codes {rule.family}... are kept for rules of rooflint; take letters of "
            "your own"
        )
    if not _NAME.fullmatch(rule.name):
        raise RuleError(f"{place}: the name {rule.name!r} is not of the form two-words")
    subjects = {CLAIMS, STATEMENTS, *(word for entry in entries().values() for word in entry.about)}
    unknown = set(rule.about) - subjects - LEVERS.keys()
    if unknown or not rule.about:
        known = ", ".join([*sorted(subjects - LEVERS.keys()), *LEVERS])
        wrong = f"holds {min(unknown)!r}" if unknown else "is empty, so the rule never runs"
        raise RuleError(f"{place}: about {wrong}; known: {known}")
    return LoadedRule(rule, (module.__doc__ or "").strip("\n"), check)


def _in_path(path: Path) -> Iterator[tuple[str, ModuleType]]:
    """The rule modules of a file or folder."""
    if path.is_dir():
        files = [file for file in sorted(path.glob("*.py")) if not file.name.startswith("_")]
        if not files:
            raise RuleError(f"{path}: the folder holds no rule, no .py file")
    elif path.suffix == ".py" and path.is_file():
        files = [path]
    else:
        wrong = "is no Python file" if path.exists() else "no such file or folder"
        raise RuleError(f"{path}: {wrong}; name a rule's .py file, or a folder of them")
    for file in files:
        yield str(file), _module(file)


class _Loader(SourceFileLoader):
    """Leaves no compiled files beside the rules."""

    def set_data(self, path: str, data: Buffer, *, _mode: int = 0o666) -> None:
        """Write nothing."""


def _module(file: Path) -> ModuleType:
    """Import a file, in a package of its folder, so that it may import its neighbours."""
    folder = str(file.parent.resolve())
    package = f"rooflint_rules_{sha256(os.fsencode(folder)).hexdigest()[:12]}"
    if package not in sys.modules:
        parent = ModuleType(package)
        parent.__path__ = [folder]
        sys.modules[package] = parent
    name = f"{package}.{file.stem}"
    module = module_from_spec(ModuleSpec(name, _Loader(name, str(file)), origin=str(file)))
    module.__file__ = str(file)
    sys.modules[name] = module
    try:
        _Loader(name, str(file)).exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it may raise anything
        raise RuleError(f"{file}: {_first_words(error)}{_line_of(error, str(file))}") from None
    return module


def _first_words(error: BaseException) -> str:
    words = f"{type(error).__name__}: {error}".splitlines()
    return words[0]


def _line_of(error: BaseException, file: str) -> str:
    """Where in a file an error comes from."""
    from traceback import extract_tb  # noqa: PLC0415 - only a failure pays for it

    if isinstance(error, SyntaxError):
        return ""
    lines = [part.lineno for part in extract_tb(error.__traceback__) if part.filename == file]
    return f" (line {lines[-1]})" if lines else ""


def _installed() -> Iterator[tuple[str, ModuleType]]:
    """The rule modules of installed packages."""
    if not _any_declared():
        return
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes time to import and run

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        place = f"entry point {point.name} ({point.value})"
        try:
            module = import_module(point.module)
            if hasattr(module, "RULE") or not hasattr(module, "__path__"):
                yield place, module
                continue
            for part in iter_modules(module.__path__):
                if not part.name.startswith("_"):
                    inner = f"{point.module}.{part.name}"
                    yield f"{place}, {inner}", import_module(inner)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it may raise anything
            raise RuleError(f"{place}: {_first_words(error)}") from None


def _any_declared() -> bool:
    """Whether an installed package may declare rules: a search in one file of each.

    Only the folders that packages are installed to are looked at, never the working directory.
    """
    folders = dict.fromkeys([*site.getsitepackages(), site.getusersitepackages()])
    return any(GROUP.encode() in declared for folder in folders for declared in _declared(folder))


def _declared(folder: str) -> Iterator[bytes]:
    """What the packages in a folder declare; every run pays for this, so without Path."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return
    for name in names:
        if name.endswith(".dist-info"):
            with suppress(OSError), open(f"{folder}/{name}/entry_points.txt", "rb") as file:  # noqa: PTH123
                yield file.read()
