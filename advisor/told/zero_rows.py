"""Rows of a table whose bytes leave out zeros that are stored like any other value.

"| INT8, half of the entries set to 0 | 4 GB |" below "| INT8 | 8 GB |": the amount is that of the
weights without their zeros, and no format is named that would leave them out.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.shrinkage import gigabytes_in
from advisor.said import Said

_ZEROS: Final = Form(
    r"\bzeros?\b|\bzeroed\b|\bspars(?:e|ity)\b|\bsparsegpt\b|\bwanda\b|\bunstructured\b"
    r"|\bmagnitude\b"
    r"|\bset to 0\b|\bprun(?:e|ed|ing)\b"
)
_LEFT_OUT: Final = Form(
    r"\bpacked\b|\bcsr\b|\bbitmaps?\b|\bcompress(?:ed|ion)\b|\bindices\b|\bmetadata\b|\bremov\w+"
    r"|\bcut out\b"
    r"|\bsparse (?:format|kernels?|layout|storage)\b|\b(?:layers|channels|columns|blocks|experts)\b"
    r"|\bstructured\b|\bcusparselt\b|\bmarlin\b|\bshrunk\b|\bsmaller (?:shapes|matrices|tensors)\b"
)
"""What makes zeros take no room."""
_SHARE: Final = Form(
    r"(?<![\d.])(?P<percent>\d{1,2}(?:\.\d+)?) ?(?:%|per ?cent)|\b(?P<half>half)\b"
)
_CLOSE: Final = 0.04


class WithoutZeros(NamedTuple):
    """Gigabytes that a row tells, and those that it would have to tell."""

    told: float
    stored: float


def without_zeros(said: Said) -> WithoutZeros | None:
    """The bytes of a cell, where they are those of the row above without the share of its zeros."""
    table = said.statement.table
    if table is None:
        return None
    columns, cells, own = table
    told = gigabytes_in(cells[own]) if own < len(cells) else ()
    if not told:
        return None
    about = " | ".join((*cells[:own], *cells[own + 1 :], columns[own]))
    if _ZEROS.search(about) is None or _LEFT_OUT.search(about) is not None:
        return None
    value = told[0].gigabytes
    others = [cell for at, cell in enumerate(cells) if at != own]
    others += [row[own] for row in said.statement.rows if own < len(row)]
    stored = [one.gigabytes for other in others for one in gigabytes_in(other)]
    for share in _SHARE.finditer(about):
        left = 1.0 - (0.5 if share["half"] else float(share["percent"]) / 100.0)
        for size in stored:
            if 0.0 < left < 1.0 - _CLOSE and abs(value - left * size) <= _CLOSE * value:
                return WithoutZeros(value, size)
    return None
