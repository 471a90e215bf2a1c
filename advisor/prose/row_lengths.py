"""The length of context that the row of a table is about, by the headers of its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from advisor.forms import Form

_OF_LENGTH: Final = Form(
    r"\b(?:contexts?|ctx|depth|prompt|history|length|tokens|position|window|seq\w*|test|n_kv|isl"
    r"|input|kv len)\b"
)
_NO_LENGTH: Final = Form(
    r"(?:\b|_)(?:tok(?:en)?s?(?:\s?/\s?| per | a )s(?:ec\w*)?|t/s|tps|m?s|ms|seconds?|times?|rate"
    r"|speed|latency|throughput|ttft|tpot|itl|[kmgt]i?b|bytes|per|accept\w*|cost)\b"
)
"""A column of rates, times or bytes, whatever they are told for."""
_OF_OUTPUT: Final = Form(
    r"\b(?:outputs?|generated|generation|completions?|osl|new|draft\w*|max[-_ ]tokens|batch\w*)\b"
)
_OF_INPUT: Final = Form(r"\b(?:inputs?|prompts?|contexts?|in)\b")
_LENGTH: Final = re.compile(
    r"(?:^|[@ (]|\bd)\s?~?(\d[\d,]*(?:\.\d+)?)\s?([kKmM])?(?: ?tok(?:en)?s?)?\)?\s*$"
)
_IN_AND_OUT: Final = re.compile(
    r"\s*(\d[\d,]*(?:\.\d+)?)\s?([kKmM])?\s?[/+]\s?(\d[\d,]*(?:\.\d+)?)\s?([kKmM])?\s*"
)
"""Lengths of what goes in and of what comes out: "1024/1024"."""
_SCALES: Final = {"": 1, "k": 1000, "m": 1_000_000}


def length_of(columns: Sequence[str], cells: Sequence[str], own: int | None = None) -> int | None:
    """The length that a row names under a header of lengths: "128k", "tg32 @ d16384", "1k/1k".

    `own` is the column of a cell that the length is asked for, which tells none of itself.
    """
    for index, (column, cell) in enumerate(zip(columns, cells, strict=False)):
        if index == own or not _tells_length(column):
            continue
        both = _IN_AND_OUT.fullmatch(cell)
        if both is not None:
            return _tokens(both[1], both[2]) + _tokens(both[3], both[4])
        match = _LENGTH.search(cell)
        if match is not None:
            return _tokens(match[1], match[2])
    return None


def _tells_length(column: str) -> bool:
    if _OF_LENGTH.search(column) is None or _NO_LENGTH.search(column) is not None:
        return False
    return _OF_OUTPUT.search(column) is None or _OF_INPUT.search(column) is not None


def _tokens(number: str, suffix: str | None) -> int:
    return round(float(number.replace(",", "")) * _SCALES[(suffix or "").lower()])
