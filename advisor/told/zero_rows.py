"""Bytes that a text tells without the zeros, which are stored and read like any other value.

"| INT8, half of the entries set to 0 | 4 GB |" below "| INT8 | 8 GB |"; "60% is zero ... it used
to pull 16 GB for each token, now it's 6.4": the amount is that of the weights without their zeros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.model import Phase
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
_PLAIN: Final = Form(
    r"\b(?:dense(?:ly)?|ordinary|in place|plain|usual|normal|regular|conventional|mask\w*"
    r"|(?:same|unchanged) (?:shapes?|format|layout|files?|tensors?))\b"
)
"""Zeros that stay in their tensors."""
_OF_READING: Final = Form(r"\b(?:read|reads|traffic|streamed|moved|fetched|loaded|per token)\b")
_SHARE: Final = Form(
    r"(?<![\d.])(?P<percent>\d{1,2}(?:\.\d+)?) ?(?:%|per ?cent)|\b(?P<half>half|(?:one|1) (?:of|in)"
    r" (?:every )?(?:two|2)|every (?:second|other))\b"
)
_DENSITY: Final = Form(
    r" ?(?:density|dense\b|nonzeros?|non-zeros?|(?:of (?:the |its )?(?:weights|parameters|values) "
    r")?(?:left|kept|remain\w*|surviv\w*))"
)
"""After a share: of what is left, and not of what is zero."""
_CLOSE: Final = 0.04


class WithoutZeros(NamedTuple):
    """Gigabytes that are told, and those that would have to be told."""

    told: float
    stored: float


def without_zeros(said: Said) -> WithoutZeros | None:
    """The bytes of a cell, where they are those of the row above without the share of its zeros."""
    table = said.statement.table
    if table is None:
        return None
    columns, cells, own = table
    told = _in_cell(cells[own], columns[own]) if own < len(cells) else None
    if told is None:
        return None
    around = f"{said.statement.lead_text} {' '.join(said.statement.around & _STORED)}"
    about = " | ".join((*cells[:own], *cells[own + 1 :], columns[own]))
    if _ZEROS.search(about) is None:
        plain = _PLAIN.search(f"{around} {' | '.join(columns)}") is not None
        if not plain or _OF_READING.search(columns[own]) is None:
            return None
        if _ZEROS.search(f"{' | '.join(columns)} {around}") is None:
            return None
        if _LEFT_OUT.search(around) is not None and _ZEROS.search(" ".join(columns)) is None:
            return None
    if _LEFT_OUT.search(about) is not None:
        return None
    others = [(cell, columns[at]) for at, cell in enumerate(cells) if at != own]
    others += [(row[own], columns[own]) for row in said.statement.rows if own < len(row)]
    stored = [size for cell, column in others if (size := _in_cell(cell, column)) is not None]
    return _without(told, stored, _left(about))


_STORED: Final = frozenset({"DENSE"})


def _in_cell(cell: str, column: str) -> float | None:
    """The gigabytes of a cell, whose unit may stand in its column."""
    found = gigabytes_in(cell)
    if found:
        return found[0].gigabytes
    bare = _BARE.fullmatch(cell)
    return float(bare[1]) if bare is not None and _UNIT.search(column) is not None else None


_BARE: Final = re.compile(r"\W*(\d+(?:\.\d+)?)\W*")
_UNIT: Final = re.compile(r"\bGB\b(?!/s)")


def _left(text: str) -> Iterator[float]:
    """The parts of the weights that are not zero, as a text tells them."""
    for share in _SHARE.finditer(text):
        part = 0.5 if share["half"] else float(share["percent"]) / 100.0
        yield part if _DENSITY.match(text, share.end()) is not None else 1.0 - part


def _without(told: float, stored: list[float], left: Iterator[float]) -> WithoutZeros | None:
    for part in left:
        for size in stored:
            if 0.0 < part < 1.0 - _CLOSE and abs(told - part * size) <= _CLOSE * told:
                return WithoutZeros(told, size)
    return None


_READS: Final = Form(
    r"\b(?:reads?|streams?|streamed|fetch(?:es|ed)?|loads?|loaded|moves?|moved|needs?|touch(?:es"
    r"|ed)?"
    r"|costs?|pulls?|pulled|travels?|cross(?:es)?|transferr?(?:ed|s)?|traffic|brings?|leaves?"
    r"|takes?)\b"
)
_TOKEN: Final = Form(
    r"\b(?:tokens?|steps?|words?|decod\w+|generat\w+|vram|hbm|memory|bus|dram|gpu|card|bandwidth)\b"
)
_NOW: Final = re.compile(
    r"\b(?:now |then |afterwards )?(?:it['’]s|it is|they are|is|becomes?|down to|just|only)"
    r" (?:now |just |only |about )*(\d+(?:\.\d+)?)(?=[.,;)]*(?:\s|$))(?! ?(?:%|x\b|ms|tok|t/s))"
)
"""An amount whose unit stands before: "used to pull 16 GB, now it's 6.4"."""
_OF_ALL: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) of (?:the |its |all )?\d[\d.]* ?GB\b(?!/s)")
"""An amount whose unit follows with the whole: "4.8 of the 16 GB"."""
_THEN: Final = re.compile(
    r"\b(?:instead of|rather than|in place of|down from|where it was) (?:about )?(\d+(?:\.\d+)?)"
    r"(?=[.,;)]*(?:\s|$))"
)
"""As above: "7 GB instead of 14"."""
_CONTRASTED: Final = Form(
    r"\b(?:not|never|nor|instead of|rather than|in place of|than|without|where|expect\w*|hoped)\b"
    r"[^.;:]*$"
)
"""Before an amount that is none of those read: "15 GB and not 7.5 GB"."""
_NEAR: Final = 32
_WIDTHS: Final = (16.0, 8.0, 4.0)


def reads_without_zeros(said: Said) -> WithoutZeros | None:
    """Bytes read for a token, where they are those of the weights without their zeros.

    "Pruned to 70%, the 70B streams 42 GB": 140 GB in 16 bits without 70 percent.
    """
    statement = said.statement
    text = statement.text
    if statement.table is not None or _READS.search(text) is None:
        return None
    if statement.phase is not Phase.DECODE and _TOKEN.search(text) is None:
        return None
    told = [
        one.gigabytes for one in gigabytes_in(text)
        if _CONTRASTED.search(text, max(0, one.start - _NEAR), one.start) is None
    ]  # fmt: skip
    if told:
        told += [float(number) for number in (*_NOW.findall(text), *_OF_ALL.findall(text))]
    sizes = [one.gigabytes for one in gigabytes_in(statement.context_text)]
    sizes += [float(number) for number in _THEN.findall(text)] if told else []
    if statement.frame.parameters is not None:
        widths = (statement.frame.weight_bits,) if statement.frame.weight_bits else _WIDTHS
        sizes.extend(statement.frame.parameters * bits / 8e9 for bits in widths)
    found = (_without(own, sizes, _left(statement.context_text)) for own in told)
    return next((one for one in found if one is not None), None)
