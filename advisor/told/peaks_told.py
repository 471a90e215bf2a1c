"""Peaks of arithmetic that a text or a table tells, and factors that are just their ratio."""

from __future__ import annotations

import re

from advisor.forms import Form
from advisor.prose.model import Statement
from advisor.said import Said

BY_BANDWIDTH = (
    r"\bmemory bus\b|\bbus width\b|\d[- ]bits? wide\b|"
    r"\breasons?\b[^.;]{0,80}?\b(?:is|are) (?:the |its )?(?:\d[\d.,]* ?[gt]b/s|bandwidth|memory)|"
    r"\b(?:because|since|as|for|thanks to|owing to|due to|with)\b(?:[^.;]|\.\d)*?(?:[gt]b/s"
    r"|bandwidth)"
    r"[^.;]*?\b(?:\d[\d.,]*|more|higher|wider|faster)\b"
)
"""The sentence gives bandwidths as the reason: "because this one has 400 GB/s, not 300"."""

_NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?!\s?%)")

_ALIKE = 0.06

_OF_TOKENS = Form(
    r" ?(?:(?:and|to|or|->|→|vs\.?|against|instead of) \d[\d.,]* ?)?(?:tok\w*|t/s|tps)\b"
)
"""A number that is a rate of tokens, and no peak."""


def follows_peak(said: Said) -> bool:
    """Whether the factor is that of two peaks which the text gives, whatever else it gives."""
    claimed, text = said.statement.speedup, said.statement.context_text
    if claimed is not None and 0.0 < claimed < 1.0:
        claimed = 1.0 / claimed  # a loss: what it was is so many times as fast
    if (
        claimed is None
        or claimed <= _NEXT_TO_NOTHING
        or said.says(BY_BANDWIDTH)
        or not said.has(r"\d\D{0,24}(?:[tp]flops|tops|cores|[gm]hz)\b")
    ):
        return False
    peaks, others = set[float](), set[float]()
    for match in _NUMBER.finditer(text):
        if _OF_TOKENS.match(text, match.end()) is not None:
            continue
        value = float(match[1].replace(",", ""))
        is_rate = re.match(r"\s?[gt]b/s", text[match.end() :], re.IGNORECASE) is not None
        (others if is_rate else peaks).add(value)

    def alike(values: set[float]) -> bool:
        return any(
            low and abs(high / low / claimed - 1.0) < _ALIKE
            for high in values
            for low in values
            if high > low
        )

    return alike({peak for peak in peaks if peak > 2 * claimed}) and not alike(others)


_BANDWIDTH = Form(r"\bbandwidth\b|[gt]b/s")


def shows_bandwidth(statement: Statement) -> bool:
    """Whether a table has bandwidths beside the TFLOPS: it is judged by both (`_by_table`)."""
    if statement.table is None:
        return False
    columns, cells, _ = statement.table
    return any(_BANDWIDTH.search(text) is not None for text in (*columns, *cells))


_TIMES_PEAK = Form(
    r"(\d+(?:\.\d+)?) ?[x×] (?:the |as many |more )?(?:[\w.]+ )?(?:[tp]flops|tops)\b"
)


def is_peak_of_row(statement: Statement) -> bool:
    """Whether a speedup is the factor of the peak that its row names: "H100 (3.2x TFLOPS)"."""
    if statement.table is None or statement.speedup is None:
        return False
    columns, cells, own = statement.table
    of_speed = re.search(r"speed|faster|gain|tok|decode", columns[own], re.IGNORECASE) is not None
    peaks = [float(peak) for peak in _TIMES_PEAK.findall(" ".join(cells))]
    return of_speed and any(abs(statement.speedup / peak - 1.0) < _ALIKE for peak in peaks if peak)


_NEXT_TO_NOTHING = 1.05
"""A gain from which on it may follow a peak."""
