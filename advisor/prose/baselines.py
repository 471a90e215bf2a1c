"""Figures against earlier ones: a hoped rate after a measured one is the gain that it is."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.rows import BASE_ROW, OF_REGIMES, base_row

_NOT_TOKENS: Final = frozenset({Phase.PREFILL, Phase.TRAINING, Phase.OTHER})
_PLANNED: Final = Form(
    r"\b(?:est\.|estimated?|projected|derived|extrapolated|planned|afterwards?|then|becomes?"
    r"|predicted|budget(?:ed)?|calculated|theory|in future|from now on|tomorrow|next)",
)
CONCLUDING: Final = frozenset(
    ["so", "hence", "thus", "therefore", "thereby", "which", "accordingly"]
)
"""Words that open a conclusion."""
OVER_BANDWIDTH: Final = Form(
    r"\d ?m?s (?:at|over|from|with) (?:\w+ )?\d[\d.,]* ?[tg]b/s"
    r"|/ ?\d[\d.,]* ?[tg]b/s ?(?:=|≈|~|is|gives|makes|comes to)"
    r"|\b(?:at|over|by) (?:\w+ )?\d[\d.,]* ?[tg]b/s,? (?:(?:this|that|it|which|these) )?"
    r"(?:is|are|takes?|needs?|comes? to|makes?|gives?|means)\b"
)
"""A time that is computed of bytes, and no claim: "which at 3.35 TB/s is 10.7 ms"."""
_MS: Final = re.compile(r"\d ?(?:ms|[uµμ]s|s)\b")


def against_earlier(statement: Statement, base_ms: float | None) -> Statement:
    """A figure that is hoped for, after one that is not, as the gain that it is.

    Items of a list are compared with the one that is the baseline, if one is.
    """
    if statement.kind is not Kind.FIGURE or statement.tpot_ms is None or not statement.is_sure:
        return statement
    if statement.is_aggregate or statement.phase in _NOT_TOKENS:
        return statement
    of_part = not statement.clause.isdisjoint({"FLOPS", "PEAK", "BYTES", "KV", "MATMUL"})
    if OVER_BANDWIDTH.search(statement.text) is not None:
        return statement
    if of_part and _MS.search(statement.text) is not None:
        return statement  # the time of a part: "the arithmetic would take 0.05 ms"
    before = [tpot for phase, _, tpot in statement.earlier if tpot and phase not in _NOT_TOKENS]
    hoped = (
        "HOPED" in statement.clause
        or statement.opener in CONCLUDING
        or _PLANNED.search(statement.text) is not None
    )
    base_ms = base_ms or _above_ms(statement) or _beside_ms(statement)
    if base_ms is not None:
        factor = base_ms / statement.tpot_ms
    elif before and (hoped or _is_after_base(statement)):
        factor = before[-1] / statement.tpot_ms
    else:
        return statement
    if factor < _FELT:
        return statement
    return statement._replace(kind=Kind.GAIN, speedup=factor)


_LEVERS: Final = frozenset({"PRUNE", "S24", "MASKED_HEADS"})
"""Levers after which nothing else changes, so that a figure is held against the dense one."""
_BASE: Final = Form(
    r"\b(?:dense|today|baseline|before|unpruned|unmasked|currently|at present|so far"
    r"|original(?:ly)?"
    r"|as it is|full model)\b"
)


def _is_after_base(statement: Statement) -> bool:
    """Whether a figure is told of a lever after one of the dense model: "dense 60, pruned 110"."""
    if statement.cause not in _LEVERS or statement.reach > 1:
        return False
    told = statement.context_text
    at = told.rfind(statement.text)
    return at > 0 and _BASE.search(told, 0, at) is not None


def _above_ms(statement: Statement) -> float | None:
    """Time per token of the row of a table that a cell's row goes on from, in the same unit."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    if OF_REGIMES.search(columns[0]) is not None:
        return None
    base = base_row(cells[0], statement.rows)
    if base is None or own >= min(len(cells), len(base)):
        return None
    return _base(base[own], cells[own])


def _beside_ms(statement: Statement) -> float | None:
    """Time per token in the same row, where its column is the baseline: "before", "today"."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    of_base = [
        index for index, column in enumerate(columns[: len(cells)])
        if index and BASE_ROW.search(column) is not None
    ]  # fmt: skip
    if len(of_base) != 1 or own in {0, of_base[0]} or own >= len(cells):
        return None
    return _base(cells[of_base[0]], cells[own])


def _base(first: str, second: str) -> float | None:
    """The first of two cells as a time per token, where both have the same unit."""
    before, after = _IN_UNIT.match(first), _IN_UNIT.match(second)
    if before is None or after is None or bool(before["time"]) != bool(after["time"]):
        return None
    value = float(before["value"].replace(",", ""))
    if value <= 0:
        return None
    return value if before["time"] else 1e3 / value


_IN_UNIT: Final = Form(
    r"\s*[~≈]?\s*(?P<value>\d[\d,]*(?:\.\d+)?) ?(?:(?P<time>ms\b)|tok\S*|t/s|tokens per second)"
)
_FELT: Final = 1.05
"""From here on a figure is no repetition of the one before."""
