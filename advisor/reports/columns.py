"""Plain columns: aligned by the width characters take, readable on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from advisor.reports.style import Style, clean, columns, wrap

_GAP: Final = "  "
_NARROWEST: Final = 20
"""Columns that the last one needs to be wrapped."""


def table(
    heading: Sequence[str],
    rows: Sequence[Sequence[str]],
    style: Style,
    *,
    right: str = "",
    last: Literal["over", "cut", "wrap"] = "over",
) -> list[str]:
    """Lines of a table; `right` holds an "r" at the place of each column that is set right.

    `last` is what becomes of a last column that is too long for the page: it runs over the edge, it
    is cut, or it goes on below itself.
    """
    cells = [[clean(cell) for cell in row] for row in (heading, *rows)]
    widths = [max(columns(row[place]) for row in cells) for place in range(len(heading))]
    before = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    if last == "wrap" and style.width - before >= _NARROWEST:
        cells = [part for row in cells for part in _wrapped(row, style.width - before)]
    lines = []
    for number, row in enumerate(cells):
        parts = [
            _set(cell, widths[place], right=right[place : place + 1] == "r")
            for place, cell in enumerate(row)
        ]
        line = _GAP.join(parts).rstrip()
        if last == "cut":
            line = cut(line, style.width)
        lines.append(style.paint(line, "heading") if number == 0 else line)
    return lines


def _wrapped(row: list[str], width: int) -> list[list[str]]:
    """A row, and rows below it for what its last cell holds beyond the width."""
    first, *others = wrap(row[-1], width) or [""]
    return [[*row[:-1], first], *([*[""] * (len(row) - 1), other] for other in others)]


def _set(cell: str, width: int, *, right: bool) -> str:
    pad = " " * (width - columns(cell))
    return pad + cell if right else cell + pad


def cut(text: str, width: int) -> str:
    """A text in at most `width` columns, with an ellipsis where it was longer."""
    if columns(text) <= width:
        return text
    while columns(text) >= width and text:
        text = text[:-1]
    return text.rstrip() + "…"
