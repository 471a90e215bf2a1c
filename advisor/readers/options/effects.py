"""What an option of an engine does: levers and facts, in terms of the proposal dialect.

No text, span or file is known here: a reader gives an option's name and its value as plain data
and places what comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

Value: TypeAlias = object
"""A plain value: text, number, true, false, nothing, a list, a mapping, or `OPEN`."""


class _Open:
    """A value that the text does not fix."""

    def __repr__(self) -> str:
        return "OPEN"


OPEN: Final = _Open()
"""Stands for a template's place, a shell variable, a computed argument."""

UNKNOWN: Final = "unknown"
"""What a lever's field holds where the value is open."""

_NO_FIELDS: Final[Mapping[str, object]] = MappingProxyType({})


class Setting(NamedTuple):
    """A lever that an option sets, or a part of one."""

    kind: str
    """Kind of the proposal dialect: quantize, tensor_parallel, ..."""
    fields: Mapping[str, object] = _NO_FIELDS
    """Fields of that kind, `UNKNOWN` where the value is open."""
    starts: bool = True
    """False where the option only says more of a lever that another option sets."""
    condition: str = ""
    """What the setting leaves open beyond its fields; empty where nothing."""
    path: tuple[str, ...] = ()
    """Keys inside the option's value that lead to what sets the lever."""


class Fact(NamedTuple):
    """Something of the context that an option states.

    Names: model, dtype, batch_limit, context_limit, tensor, attention_data, hardware, engine.
    """

    name: str
    value: object


Effect: TypeAlias = Setting | Fact
Meaning: TypeAlias = Callable[[Value], tuple[Effect, ...]]
"""What a value of an option does; nothing for the values that switch it off."""

NOTHING: Final[tuple[Effect, ...]] = ()
