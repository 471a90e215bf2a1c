"""What a file does: its calls, what it sets, its imports; and its own functions and classes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from advisor.readers.python.values import Made, Value


class Assigned(NamedTuple):
    """An attribute or item that is set: `plugin.reduce_fusion = True`."""

    receiver: Value
    name: str
    value: Value
    node: ast.stmt
    hangs_on: str
    path: str
    """The target as dotted text."""


@dataclass(slots=True, eq=False)
class Local(Value):
    """A function or class of the file."""

    scopes: tuple[dict[str, Value], ...]
    owner: Value | None = None


@dataclass(slots=True)
class Seen:
    """What a file does."""

    calls: list[tuple[Made, str]] = field(default_factory=list)
    """Calls, and what each hangs on."""
    assigned: list[Assigned] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    """By id of a call's node: the name it is assigned to."""
    stars: list[str] = field(default_factory=list)
    """Modules of star imports."""
    imports: set[str] = field(default_factory=set)
    """Modules imported, whole dotted names."""
