"""What an expression is known to be without running it.

A value is a literal, a sequence or mapping of values, a dotted name, the result of a call, one of
several (by a branch), or open. Each keeps the node that wrote it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from advisor.readers.options import OPEN

HOLE: Final = "\ue000"
"""Stands in a text for a part that nobody fixes, as in the texts of other formats."""
_DEEPEST: Final = 12
MAX_ALTERNATIVES: Final = 64


@dataclass(slots=True, eq=False)
class Value:
    """Something nobody fixes; the other kinds say more."""

    node: ast.AST


@dataclass(slots=True, eq=False)
class Literal(Value):
    """A constant."""

    data: str | bytes | bool | int | float | None


@dataclass(slots=True, eq=False)
class Sequence(Value):
    """A list, tuple or set."""

    items: list[Value]


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dict with text keys: key node and value of each."""

    entries: dict[str, tuple[ast.AST, Value]] = field(default_factory=dict)
    is_namespace: bool = False
    """Whether its entries are attributes (parsed arguments, an instance)."""


@dataclass(slots=True, eq=False)
class Symbol(Value):
    """A dotted name from an import, or a name nobody defines ("?.name")."""

    name: str


@dataclass(slots=True, eq=False)
class Member(Value):
    """An attribute of something."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class Made(Value):
    """The result of a call: `name` is qualified, or ".method" of a receiver."""

    name: str
    args: list[Value]
    keywords: dict[str, tuple[ast.AST, Value]]
    receiver: Value | None = None
    used_by: list[Made] = field(default_factory=list)
    """Calls that take it."""


@dataclass(slots=True, eq=False)
class Either(Value):
    """One of several; beside each what it hangs on, "" where nothing."""

    options: list[tuple[Value, str]]


def alternatives(value: Value) -> Iterator[tuple[Value, str]]:
    """Every value it may be, and what that hangs on; no more than anyone would write."""
    if not isinstance(value, Either):
        yield value, ""
        return
    waiting: list[tuple[Value, str]] = [(value, "")]
    for _ in range(MAX_ALTERNATIVES):
        if not waiting:
            return
        option, hangs_on = waiting.pop()
        if isinstance(option, Either):
            inner = [(one, hangs_on or words) for one, words in option.options]
            waiting += reversed(inner[:MAX_ALTERNATIVES])
        else:
            yield option, hangs_on


def usual(value: Value) -> Value:
    """The value that holds where nothing else is chosen: the first that hangs on nothing."""
    if not isinstance(value, Either):
        return value
    first: Value | None = None
    for option, hangs_on in alternatives(value):
        if not hangs_on:
            return option
        first = first or option
    return Value(value.node) if first is None else first


def plain(value: Value, depth: int = 0) -> object:
    """As plain data for the tables of options: `OPEN` where nothing is known.

    A dotted name is its text (`torch.float8_e4m3fn`), a configuration object its keywords.
    """
    if depth > _DEEPEST:
        return OPEN
    value = usual(value)
    if isinstance(value, Literal):
        if isinstance(value.data, str):
            return OPEN if HOLE in value.data else value.data
        return OPEN if isinstance(value.data, bytes) else value.data
    if isinstance(value, Sequence):
        return [plain(item, depth + 1) for item in value.items]
    if isinstance(value, Mapping):
        return {key: plain(item, depth + 1) for key, (_, item) in value.entries.items()}
    if isinstance(value, Symbol):
        return OPEN if value.name.startswith("?.") or "[" in value.name else value.name
    if isinstance(value, Made) and value.name[:1] != "." and _is_class(value.name):
        return {key: plain(item, depth + 1) for key, (_, item) in value.keywords.items()}
    if isinstance(value, Member) and isinstance(value.receiver, Symbol):
        return f"{value.receiver.name}.{value.name}"
    return OPEN


def _is_class(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()


def text_of(value: Value) -> str | None:
    """A text, whole; None for anything else."""
    value = usual(value)
    if isinstance(value, Literal) and isinstance(value.data, str) and HOLE not in value.data:
        return value.data
    return None


def symbol_of(value: Value) -> str:
    """The dotted name that a value is, or that made it; ""."""
    value = usual(value)
    if isinstance(value, Symbol | Made):
        return value.name
    return ""


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    found: set[bool | None] = set()
    for option, hangs_on in alternatives(value):
        if hangs_on:
            continue
        if isinstance(option, Literal):
            found.add(None if option.data == HOLE else bool(option.data))
        elif isinstance(option, Sequence):
            found.add(bool(option.items) or None)
        elif isinstance(option, Mapping):
            found.add(bool(option.entries) or option.is_namespace or None)
        else:
            found.add(True if isinstance(option, Made | Symbol) and _is_thing(option) else None)
    return next(iter(found)) if len(found) == 1 else None


def _is_thing(value: Made | Symbol) -> bool:
    """Whether a value is an object, which counts as true, rather than an answer."""
    return isinstance(value, Made) and value.name[:1] != "." and _is_class(value.name)


def dotted(node: ast.AST) -> str:
    """A chain of names and attributes as text, subscripts as "[]"; "" for anything else."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Subscript):
            parts.append("[]")
            node = node.value
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            return "".join(reversed(parts))
        else:
            return ""
