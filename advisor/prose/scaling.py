"""A figure of several devices against one that the document told before, of fewer of them.

The two may stand in different parts: "today 19 ms at TP8", and "TP16: 9.5 ms" in a row or section
below. They are compared where nothing else is said to differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.prose.split import count_in, has_replicas, is_staged

_EXACT: Final = 0.05
"""How close to a proportion a figure comes that was computed by it."""
_FAR_BACK: Final = 100
"""Statements before a figure among which the other one is looked for."""
_TOLD: Final = frozenset({Status.ASSERTED, Status.MEASURED})
_OTHER_LEVERS: Final = frozenset(
    {
        "SPEC",
        "SMALL_MODEL",
        "DISTILL",
        "LAYERS",
        "PRUNE",
        "S24",
        "KVQ",
        "GRAPHS",
        "OFFLOAD",
        "BATCH",
        "GQA",
    }
)
_SAME: Final = ("model", "parameters", "weight_bits", "hardware")
"""Operands in which the two have to agree, as far as both state them."""


def against_fewer(statement: Statement, before: Sequence[Statement]) -> tuple[float, float] | None:
    """Devices and speed over those of a figure told before, where the speed is just as many times.

    The last of several such figures counts.
    """
    if statement.tpot_ms is None or not _OTHER_LEVERS.isdisjoint(_named_by(statement)):
        return None
    label = _label(statement)
    many = count_in(label)
    if many is None and statement.table is None and statement.cause == "TP":
        many = count_in(statement.heading_text)
        label = f"{label} {statement.heading_text}"
    if many is None or many < 2 or is_staged(label) or has_replicas(label):
        return None
    for earlier in reversed(before[-_FAR_BACK:]):
        few = _devices_of(earlier)
        if few is None or few >= many or not _is_alike(statement, earlier):
            continue
        factor = (earlier.tpot_ms or 0.0) / statement.tpot_ms
        if abs(factor * few / many - 1.0) <= _EXACT:
            return many / few, factor
    return None


def _named_by(statement: Statement) -> frozenset[str]:
    return statement.sentence if statement.table is None else statement.clause


def _label(statement: Statement) -> str:
    """What names the devices of a figure: its sentence, or the other cells of its row."""
    if statement.table is None:
        return statement.sentence_text
    _, cells, own = statement.table
    return "; ".join(cell for index, cell in enumerate(cells) if index != own)


def _devices_of(statement: Statement) -> int | None:
    """The devices that share the model of a time per token told before."""
    if statement.kind not in {Kind.FIGURE, Kind.GAIN} or statement.tpot_ms is None:
        return None
    if statement.phase is not Phase.DECODE or statement.is_aggregate:
        return None
    if statement.status not in _TOLD or not _OTHER_LEVERS.isdisjoint(_named_by(statement)):
        return None
    frame = statement.frame
    return count_in(_label(statement)) or frame.devices or (1 if frame.hardware else None)


def _is_alike(one: Statement, other: Statement) -> bool:
    """Whether two figures are of one model, in one format, on one kind of device."""
    pairs = ((getattr(one.frame, name), getattr(other.frame, name)) for name in _SAME)
    return all(own is None or before is None or own == before for own, before in pairs)
