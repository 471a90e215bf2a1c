"""Rates told for several lengths of context, against the cache that each step has to read.

From a short context to a long one the time per token grows by the cache between them over the
bandwidth, whatever the weights are.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.cache_patterns import lengths_in
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.prose.row_lengths import length_of
from advisor.said import Said, bandwidth_of

_NUMBER: Final = re.compile(r"\s*[~≈]?\s*(\d[\d,]*(?:\.\d+)?)")
_LONG: Final = 16_000
_VERY_LONG: Final = 64_000
"""Tokens from which on the cache of every common model is felt."""
_FAR: Final = 8
"""Times the context, from which on no model with a full cache keeps its rate."""
_SAME: Final = 1.02
_OF_WHAT_IS_NEEDED: Final = 0.5
_FELT: Final = 0.1


class Told(NamedTuple):
    """A time per token at a long context beside that at a short one."""

    long: int
    short: int
    long_ms: float
    short_ms: float


def row_length(statement: Statement) -> int | None:
    """The length of context that the row of a cell is about."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    return length_of(columns, cells, own)


def keeps_its_rate(said: Said) -> bool:
    """Whether a rate hardly falls from a short context to a long one, by too little for a cache."""
    told = _beside_short(said.statement)
    if told is None:
        return False
    slower = told.long_ms / told.short_ms
    frame = said.statement.frame
    bandwidth = bandwidth_of(frame)
    if frame.kv_per_token is not None and bandwidth is not None:
        added = frame.kv_per_token * (told.long - told.short) * (frame.sequences or 1)
        needed = added / (bandwidth * 1e9) * 1e3
        return needed >= _FELT * told.long_ms and (
            told.long_ms - told.short_ms < _OF_WHAT_IS_NEEDED * needed
        )
    return slower == 1.0 or (told.long >= _VERY_LONG and slower < _SAME)


def _beside_short(statement: Statement) -> Told | None:
    if statement.kind is not Kind.FIGURE or statement.status is not Status.ASSERTED:
        return None
    if statement.phase not in {Phase.DECODE, Phase.UNKNOWN} or not statement.tpot_ms:
        return None
    told = _of_row(statement) if statement.table is not None else _of_sentence(statement)
    if told is None or told.long < _LONG or told.long < _FAR * told.short:
        return None
    return told


def _of_row(statement: Statement) -> Told | None:
    """A cell beside the one above it in the first row."""
    assert statement.table is not None
    assert statement.tpot_ms is not None
    columns, cells, own = statement.table
    first = statement.first_row
    if not first or own >= min(len(first), len(cells)) or not _is_same_setup(columns, cells, first):
        return None
    long, short = length_of(columns, cells, own), length_of(columns, first, own)
    now, then = _NUMBER.match(cells[own]), _NUMBER.match(first[own])
    if long is None or short is None or now is None or then is None:
        return None
    value, before = (float(match[1].replace(",", "")) for match in (now, then))
    if min(value, before) <= 0:
        return None
    is_rate = abs(1e3 / value - statement.tpot_ms) < abs(value - statement.tpot_ms)
    return Told(long, short, statement.tpot_ms, 1e3 / before if is_rate else before)


_SETUP: Final = Form(
    r"\b(?:models?|devices?|hardware|gpus?|cards?|quant\w*|formats?|precision|dtype|data type"
    r"|engines?|backends?|attention|config\w*|setup|method|kv|cache|tp|batch|concurrency|users)\b"
)
"""Columns in which rows of one model, at several lengths, agree."""


def _is_same_setup(
    columns: tuple[str, ...], cells: tuple[str, ...], first: tuple[str, ...]
) -> bool:
    """Whether a row differs from the first one in no model, device or format."""
    return all(
        one == other or _SETUP.search(column) is None or _A_SIZE.search(one) is not None
        for column, one, other in zip(columns, cells, first, strict=False)
    )


_A_SIZE: Final = re.compile(r"\d ?[GM]i?B\b")
"""Bytes of the cache at a length, which differ with it."""


def _of_sentence(statement: Statement) -> Told | None:
    """A figure beside the one before it, in a sentence that names two lengths."""
    lengths = lengths_in(statement.sentence_text)
    if len(set(lengths)) == 1:
        lengths = lengths_in(statement.context_text)
    earlier = [ms for phase, _, ms in statement.earlier if ms and phase is not Phase.PREFILL]
    if len(set(lengths)) != 2 or not earlier or lengths[0] > lengths[-1]:
        return None
    assert statement.tpot_ms is not None
    return Told(max(lengths), min(lengths), statement.tpot_ms, earlier[-1])
