"""Plain columns: aligned by the width characters take, readable on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from advisor.reports.style import Style, clean, columns

_GAP: Final = "  "


def table(
    heading: Sequence[str], rows: Sequence[Sequence[str]], style: Style, *, right: str = ""
) -> list[str]:
    """Lines of a table; `right` holds an "r" at the place of each column that is set right.

    The last column is not cut: what is too long there runs over the edge of the page.
    """
    cells = [[clean(cell) for cell in row] for row in (heading, *rows)]
    widths = [max(columns(row[place]) for row in cells) for place in range(len(heading))]
    lines = []
    for number, row in enumerate(cells):
        parts = [
            _set(cell, widths[place], right=right[place : place + 1] == "r")
            for place, cell in enumerate(row)
        ]
        line = _GAP.join(parts).rstrip()
        lines.append(style.paint(line, "heading") if number == 0 else line)
    return lines


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
