"""Whose operands a figure has: those of its own sentence or row, or some of several before it."""

from __future__ import annotations

import re
from typing import Final

from advisor.prose.devices import devices_in
from advisor.prose.extremes import may_be_mixture
from advisor.prose.frame import frame_of
from advisor.prose.model import Statement
from advisor.prose.named import models_in
from advisor.prose.rows import SIZE_COLUMN
from advisor.prose.widths import sizes_of, widths_of
from advisor.said import Said


def own_words(statement: Statement) -> str:
    """The sentence of a statement; of a cell, its row."""
    if statement.table is None:
        return statement.sentence_text
    columns, cells, _ = statement.table
    return "; ".join(f"{column}: {cell}" for column, cell in zip(columns, cells, strict=False))


def tells_bytes(statement: Statement) -> bool:
    """Whether the sentence or row of a rate says itself what is read for it."""
    return frame_of(own_words(statement)).weight_bytes is not None


def is_ambiguous(statement: Statement) -> bool:
    """Whether an operand comes from before the sentence, where the text gives several."""
    text = statement.context_text
    if statement.table is not None:
        text = own_words(statement)
    own, whole = frame_of(statement.sentence_text), frame_of(text)
    several = {
        "bandwidth_gbs": len(re.findall(r"[GT]B/s", text)) > 1,
        "parameters": len({size for size, _ in sizes_of(text)}) > 1,
        "weight_bits": len(widths_of(text)) > 1,
        "weight_bytes": len(re.findall(r"\d ?GB\b(?!/s)", text)) > 1,
    }
    if statement.frame.weight_bytes is not None and whole.weight_bytes is not None:
        del several["parameters"], several["weight_bits"]  # what is read is told
    return any(
        many
        and getattr(own, name) is None
        and getattr(whole, name) is None
        and getattr(statement.frame, name) is not None
        for name, many in several.items()
    )


def is_of_unknown(statement: Statement) -> bool:
    """Whether a file's size is that of a model that may be a mixture, for all that is known."""
    if statement.table is None:
        return False
    columns, cells, _ = statement.table
    if not any(SIZE_COLUMN.search(column) for column in columns):
        return False
    if re.search(r"\bmodels?\b", columns[0], re.IGNORECASE):
        named = [one.model for one in models_in(cells[0])]
        if (
            any(one.active is not None for one in named)
            and statement.frame.active_parameters is None
        ):
            return True
        sizes = [one.parameters for one in named]
        stored = statement.frame.weight_bytes or 0.0
        return not any(_FEWEST * count < stored < _MOST * count for count in sizes)
    return statement.frame.model is None


_FEWEST, _MOST = 0.18, 2.3
"""Bytes a parameter, between which a file of some model lies: 1.5 bits and 16, rounded."""


def names_several_devices(text: str) -> bool:
    """Whether a sentence tells figures of several devices: "22 ms on the A100, 41 on the L40S"."""
    return len({one.identifier for one in devices_in(text)}) > 1


_SPLIT_MEMORY: Final = (
    r"\b(?:part(?:s|ly|ially)?|some|half|rest|layers?|experts?|tensors?"
    r"|attention) (?:\w+ ){0,3}?(?:on|in"
    r"|to) (?:the )?(?:gpu|cpu|vram|ram|host)\b|\bcpu ?(?:\+|and) ?gpu\b|\bgpu ?(?:\+|and) ?cpu\b"
    r"|\bhybrid (?:cpu|gpu|inference|setup)|\boverride-tensors?\b|\bexps=cpu\b|\bn-?cpu-?moe\b"
)
"""Weights in two memories, which are read at two rates."""


def is_read_in_part(said: Said) -> bool:
    """Whether a token reads a part of the weights, or reads them from two memories."""
    statement = said.statement
    about = f"{statement.heading_text} {statement.lead_text} {statement.context_text}"
    return may_be_mixture(statement.frame, about) or said.has(_SPLIT_MEMORY)
