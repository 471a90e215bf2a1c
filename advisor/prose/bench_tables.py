"""Tables that a benchmark printed: what their columns hold, and that their cells are no claims.

A tool prints the counts of a run, its times and its rates side by side, and more digits than
anybody plans with.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind

_PRINTED: Final = Form(
    r"(?:^|[\W_])(?:n_kv|[st]_(?:pp|tg)|prompt eval|eval(?:uation)?(?: time| rate)?\)?$"
    r"|(?:load(?:ing)?|elapsed|wall|wall[- ]clock|run|end[- ]to[- ]end|e2e) ?(?:time|latency)"
    r"|p(?:50|75|9\d(?:\.\d)?)|percentile|std\.?(?: ?dev\w*)?|stddev|median|mean"
    r"|#? ?(?:of )?(?:runs|repetitions|repeats|iterations|iters|warm-?ups))(?![a-z])"
)
"""What only the log of a run has a column for."""
_OF_TOOL: Final = re.compile(
    r"\s*(?:test|ngl|n_?(?:batch|ubatch|gpu_layers|threads)|type_[kv]|fa|mmap)\s*"
)
"""Names that llama-bench gives its columns."""
_RATE: Final = Form(r"(?:\b|_)(?:tok(?:en)?s?(?:\s?/\s?| per | a )s(?:ec\w*)?|t/s|tps)\b")
_TIME: Final = Form(r"(?:\b|_)(?:m?s|sec|seconds|ms|time|latency|duration|elapsed)\b")
_SPREAD: Final = re.compile(r"\d\s*(?:±|\+/-|\+-)\s*\d")
"""A mean with its deviation."""
_EXACT: Final = re.compile(r"\s*\d{2,}[\d,]*\.\d{2,}\s*|\s*\d{3,}[\d,]*\.\d+\s*|\s*\d\.\d{3,}\s*")
"""Four digits and more."""
_NUMBER: Final = re.compile(r"\s*(\d[\d,]*(?:\.\d+)?)\s*")
_PROMISED: Final = Form(
    r"\b(?:target|goal|expect\w*|plan(?:ned)?|project\w*|promis\w+|claim\w*|estimat\w*|est|budget"
    r"|floor|ceiling|predict\w*|forecast|theor\w+|ideal|limit|bound|required|needed|should|will)\b"
)
"""A column of what is hoped for, or computed."""
_MOST: Final = 12
"""Columns of a table whose figures are held against each other."""
_ALIKE: Final = 0.01


def is_logged(block: Block) -> bool:
    """Whether a cell tells what a run came to, and nothing that anybody claims."""
    if block.kind is not BlockKind.CELL or not _is_log(block.columns, block.cells):
        return False
    if _PROMISED.search(block.column) is not None:
        return False
    # the lead-in may be a page of prose: what it says last is said of the table
    labels = (block.lead_in[-_NEXT_TO:], *block.headings[-1:])
    return not any(_FORESEEN.search(label) is not None for label in labels)


_NEXT_TO: Final = 160
"""Characters of a lead-in before its table."""
_FORESEEN: Final = Form(
    r"\b(?:projected|projections?|expected|estimated|planned|targets?|promised|forecasts?"
    r"|foreseen|claimed|claims|predicted|hypothetical)\b"
)
"""A table of what has not been run."""


@lru_cache(maxsize=1024)
def _is_log(columns: tuple[str, ...], cells: tuple[str, ...]) -> bool:
    """Whether a row was printed by a benchmark."""
    if any(_SPREAD.search(cell) is not None for cell in cells):
        return True
    if any(_PROMISED.search(column) is not None for column in columns):
        return False
    rates = [at for at, column in enumerate(columns[: len(cells)]) if _RATE.search(column)]
    if not rates:
        return False
    if any(_PRINTED.search(column) or _OF_TOOL.fullmatch(column) for column in columns):
        return True
    if len([at for at in rates if _EXACT.fullmatch(cells[at])]) >= _SEVERAL:
        return True
    return len(columns) <= _MOST and any(_divides(columns, cells, at) for at in rates)


_SEVERAL: Final = 2
"""Rates to four digits in one row, which nobody plans with."""


def _divides(columns: tuple[str, ...], cells: tuple[str, ...], rate: int) -> bool:
    """Whether a rate is the count of one column over the seconds of another."""
    matches = enumerate(map(_NUMBER.fullmatch, cells))
    told = {at: float(match[1].replace(",", "")) for at, match in matches if match is not None}
    if rate not in told or not told[rate]:
        return False
    times = [at for at in told if at < len(columns) and at != rate and _TIME.search(columns[at])]
    return any(
        told[time] > 0 and abs(told[count] / told[time] / told[rate] - 1.0) < _ALIKE
        for time in times
        for count in told
        if count not in {time, rate}
    )


_COUNTED: Final = re.compile(r"\s*(?P<phase>pp|tg)\d*\s*", re.IGNORECASE)
_UNIT: Final = Form(r"(?:\b|_)(?:t/s|tok\w*/s|tps|m?s)\b")


def holds_counts(column: str, columns: tuple[str, ...]) -> bool:
    """Whether a column named "PP" or "TG" holds tokens of a run, as others hold their rates."""
    if _COUNTED.fullmatch(column) is None:
        return False
    return any(other != column and _UNIT.search(other) is not None for other in columns)


_SHORT: Final = re.compile(r"(?<![A-Za-z])(?:PP|pp)(?=\d*(?![A-Za-z\d]))")
_SHORT_DECODE: Final = re.compile(r"(?<![A-Za-z])(?:TG|tg)(?=\d*(?![A-Za-z\d]))")
_EVAL: Final = Form(r"(?<!prompt )\beval(?:uation)?(?= (?:time|rate|speed|duration)|\))")
"""What llama.cpp calls decode, beside the "prompt eval"."""


def spelled(label: str) -> str:
    """A label with the names that benchmarks give the phases in words: "S_PP t/s"."""
    told = _SHORT_DECODE.sub("decode ", _SHORT.sub("prefill ", label))
    return _EVAL.sub("decode", told)
