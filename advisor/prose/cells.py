"""Cells by their labels: a rate or a time per token, what a phase is bound by."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.limits import Limit, limit_alone
from advisor.prose.bench_tables import holds_counts
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.gains import LABEL_RATE, LABEL_TIME, SAME
from advisor.prose.model import Effect, Kind
from advisor.prose.rows import BASE_ROW, OF_REGIMES, RATE_COLUMN, base_row
from advisor.prose.sentences import Clause

_PER_TOKEN_COLUMN: Final = re.compile(r"token|tpot|itl|tbt|decode|step")
_NUMBER_ALONE: Final = re.compile(
    r"\s*(?:[~≈]|about|approx\.?|est\.?)?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:\([^()]*\)|[*†‡])?\s*"
)
_MS: Final = re.compile(r"\bms\b")
_OF_A_TOKEN: Final = Form(
    r"\b(?:tpot|itl|tbt|inter-?token|per (?:output |generated )?token|(?:each|a|every) token"
    r"|ms ?/ ?tok\w*|decode (?:step|latency|time)|step time|time between tokens|token latency)\b"
)
"""A time per token, in a label that may speak of other times as well."""
_EACH_COLUMN: Final = Form(
    r"^(?:for |of )?(?:each|per|every)(?: (?:one|single))?(?: (?:of them|user|stream|client|session"
    r"|request|chat|person|seat))?\W*$"
)
_OF_PROMPT: Final = Form(r"\b(?:prefill\w*|prompts?|ttft|first token|pp\d*)\b")
_ROW_NAME: Final = Form(r"\b(?:ms|tok\w*|t/s|tps)\b")
_SHORT: Final = 200
"""Characters of a lead-in, the last of them, that may name the metric of a table."""
_RELATIVE: Final = re.compile(
    r"(?<!\bbs)(?<!\bbs )(?<!\bm)(?<!\bm )(?<!size)(?<!size )(?<!batch)(?<!batch )= ?1(?:\.0+)?\b"
    r"|\brelative\b|\bvs\.? |\bversus\b|normali[sz]ed|\bof (?:the )?baseline"
    r"|speed-?up|(?:compared|relative) to"
)


def bare_cell(block: Block, clause: Clause) -> Effect | None:
    """A number that is a rate or a time, against the first one where that is a baseline."""
    if block.kind is not BlockKind.CELL or not block.row or block.text[: clause.start].strip():
        return None
    match = _NUMBER_ALONE.fullmatch(block.text)
    if match is None:
        return None
    column = block.column.lower()
    value = float(match[1].replace(",", ""))
    relative = _relative(block, clause, column, value)
    if relative is not None:
        return relative
    across = _by_row(block)
    is_rate = across if across is not None else _by_column(block, column)
    if value <= 0 or is_rate is None:
        return None
    base = _base(block, across=across is not None)
    speedup = None
    if base is not None:
        speedup = value / base if is_rate else base / value
    kind = Kind.GAIN if speedup is not None and speedup > 1.0 + SAME else Kind.FIGURE
    label = block.row.lower() if across is not None else column
    aggregate = re.search(r"aggregate|total|overall|throughput|all ", label) is not None
    tpot = 1e3 / value if is_rate else value
    return Effect(kind, clause.start, clause.end, speedup, tpot, is_aggregate=aggregate)


def of_token_in_lead(block: Block) -> bool:
    """Whether the paragraph that opens a list names the time per token: "ITL by degree:"."""
    lead = block.lead_in[-_SHORT:]
    if block.kind is not BlockKind.ITEM or not lead or _OF_PROMPT.search(lead) is not None:
        return False
    return _OF_A_TOKEN.search(lead) is not None


def _by_column(block: Block, column: str) -> bool | None:
    """Whether a column holds rates (True) or times per token (False); its lead-in may say half."""
    if RATE_COLUMN.search(column) is not None:
        return None if holds_counts(block.column, block.columns) else True
    if _EACH_COLUMN.search(column) is not None:  # its unit is that of the total beside it
        beside = [other.lower() for other in block.columns if other != block.column]
        if any(RATE_COLUMN.search(other) is not None for other in beside):
            return True
    in_ms, of_token = _MS.search(column), _PER_TOKEN_COLUMN.search(column)
    if in_ms and of_token:
        return False
    lead = block.lead_in[-_SHORT:].lower()
    if not (in_ms or of_token) or not lead or _OF_PROMPT.search(f"{column} {lead}") is not None:
        return None
    if in_ms:
        return False if _OF_A_TOKEN.search(lead) is not None else None
    return False if _OF_A_TOKEN.search(column) and _MS.search(lead) else None


def _by_row(block: Block) -> bool | None:
    """Whether a row, named by its first cell, holds rates (True) or times per token (False)."""
    row = block.row.lower()
    if _ROW_NAME.search(row) is None or _ROW_NAME.search(block.column) is not None:
        return None
    if _OF_PROMPT.search(f"{row} {block.column.lower()}") is not None:
        return None
    if RATE_COLUMN.search(row) is not None:
        return True
    return False if _MS.search(row) is not None and _OF_A_TOKEN.search(row) is not None else None


def _base(block: Block, *, across: bool) -> float | None:
    """The first number of the column, or of the row, where its label says that it is a baseline."""
    index = block.columns.index(block.column) if block.column in block.columns else 0
    if across:
        if index <= 1 or len(block.cells) <= 1 or OF_REGIMES.search(" ".join(block.columns[1:])):
            return None
        if BASE_ROW.search(block.columns[1]) is None:
            return None
        cell = block.cells[1]
    else:
        base = base_row(block.cells[0], block.rows) or ()
        if index >= len(base) or (block.columns and OF_REGIMES.search(block.columns[0])):
            return None
        cell = base[index]
    first = _NUMBER_ALONE.fullmatch(cell)
    if first is None:
        return None
    return float(first[1].replace(",", "")) or None


def _relative(block: Block, clause: Clause, column: str, value: float) -> Effect | None:
    """A number whose column tells times or rates in parts of a baseline: "TPOT, BF16 = 1"."""
    if _RELATIVE.search(column) is None or not 0.02 < value < 50.0 or abs(value - 1.0) <= SAME:
        return None
    label = f"{block.row} {column}"
    is_time = LABEL_TIME.search(label) is not None or re.search(r"\b(?:latency|time)\b", column)
    is_rate = LABEL_RATE.search(label) is not None or re.search(
        r"\b(?:speed|speed-?up|rate|pace)\b", column
    )
    if bool(is_time) == bool(is_rate):
        return None
    factor = 1.0 / value if is_time else value
    kind = Kind.GAIN if factor > 1.0 else Kind.LOSS
    return Effect(kind, clause.start, clause.end, factor)


_LIMIT_COLUMN: Final = Form(
    r"\b(?:bound|limited|governed|held up|determined) by\b|\b(?:bottleneck|limiter"
    r"|limiting (?:factor"
    r"|resource)|limited|bound|what (?:\w+ )?(?:limits|bounds|slows)(?: \w+){0,2}"
    r"|waits? (?:for|on)|(?:dominant|scarce|critical"
    r"|constraining) (?:resource|factor))\W*$"
)


def limit_cell(block: Block, clause: Clause) -> Effect | None:
    """Arithmetic alone in a column of what a phase is bound by."""
    if block.kind is not BlockKind.CELL or _LIMIT_COLUMN.search(block.column) is None:
        return None
    if limit_alone(block.text) is not Limit.COMPUTE:
        return None
    return Effect(Kind.BOUND, clause.start, clause.end)
