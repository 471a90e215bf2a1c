"""The excerpt of a file under a finding: its lines, with the words it is about underlined.

Tabs become spaces and characters that take two columns get two marks, so that the marks stand
under what they mean; a line too long for the page is cut around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from advisor.reports.style import TAB_COLUMNS, Style, columns, printable, width_of, wrap
from advisor.source import Source, Span

_ELLIPSIS = "…"
_MIN_TEXT = 30
"""Columns that an excerpt keeps for the file's text, however narrow the page is."""
_BESIDE = 36
"""Columns that a label needs to stand below the start of its marks; with fewer it starts left."""
_GUTTER = 5
"""Digits of line numbers; what is said below an excerpt lines up with its bar."""
_LOOKED_AT = 1000
"""Code points on each side of a mark that matter on an endless line."""


class Mark(NamedTuple):
    """Words to underline, and what to say about them."""

    span: Span
    label: str
    colour: str
    sign: str = "^"


class _Stretch(NamedTuple):
    """The part of a mark on one line, in code points of the line."""

    mark: Mark
    line: int
    start: int
    end: int
    last: bool = True
    """Whether the mark ends here: its label stands under its last line."""


def excerpt(source: Source, marks: Sequence[Mark], style: Style) -> list[str]:
    """The lines that the marks are on, each with its marks and their labels below it."""
    stretches = [stretch for mark in marks for stretch in _stretches(source, mark)]
    numbers = sorted({stretch.line for stretch in stretches})
    gutter = max(_GUTTER, len(str(numbers[-1]))) if numbers else _GUTTER
    lines: list[str] = []
    before = None
    for number in numbers:
        if before is not None and number > before + 1:
            lines.append(style.paint(f"{'...':>{gutter}}", "gutter"))
        before = number
        here = [stretch for stretch in stretches if stretch.line == number]
        lines += _numbered(source, number, here, gutter, style)
    return lines


def _stretches(source: Source, mark: Mark) -> Iterable[_Stretch]:
    """Where a mark stands: its line, or the first and the last of several."""
    start = source.position(mark.span.start)
    # The end is exclusive: a span up to and including a line end does not reach the next line.
    end = source.position(max(mark.span.end - 1, mark.span.start))
    first = source.line(start.line)
    if start.line == end.line:
        stop = min(max(end.column, start.column), len(first) + 1)
        empty = mark.span.end <= mark.span.start
        yield _Stretch(mark, start.line, start.column - 1, start.column if empty else stop)
        return
    yield _Stretch(mark, start.line, start.column - 1, len(first), last=False)
    last = source.line(end.line)
    indent = len(last) - len(last.lstrip())
    yield _Stretch(mark, end.line, min(indent, end.column - 1), min(end.column, len(last)))


def _numbered(
    source: Source, number: int, stretches: Sequence[_Stretch], gutter: int, style: Style
) -> list[str]:
    """One line of the file and the marks below it."""
    room = max(style.width - gutter - 3, _MIN_TEXT)
    line = source.line(number)
    skipped = max(stretches[0].start - _LOOKED_AT, 0)
    text = line[skipped : skipped + 2 * _LOOKED_AT]
    edges = _edges(text)
    first, stop = _window(edges, stretches[0], skipped, room)
    shown = _display(text[first:stop], edges[first])
    before = _ELLIPSIS if first + skipped else ""
    after = _ELLIPSIS if stop + skipped < len(line) else ""
    head = style.paint(f"{number:>{gutter}} |", "gutter")
    lines = [f"{head} {before}{shown}{after}".rstrip()]
    for stretch in stretches:
        left = min(max(stretch.start - skipped, first), len(text))
        right = max(min(stretch.end - skipped, stop), left + 1)
        begin = _column(edges, left) - edges[first] + len(before)
        length = max(_column(edges, right) - _column(edges, left), 1)
        lines += _underline(stretch, begin, length, gutter, style)
    return lines


def _underline(stretch: _Stretch, begin: int, length: int, gutter: int, style: Style) -> list[str]:
    mark = stretch.mark
    head = f"{'':>{gutter}} {style.paint('|', 'gutter')} "
    used = gutter + 3
    length = min(length, max(style.width - used - begin, 1))
    marks = style.paint(mark.sign * length, mark.colour)
    row = f"{head}{'':{begin}}{marks}"
    if not stretch.last or not mark.label:
        return [row]
    beside = style.width - used - begin - length - 1
    if columns(mark.label) <= beside:
        return [f"{row} {style.paint(wrap(mark.label, beside)[0], mark.colour)}"]
    if beside >= 2 * _BESIDE:
        words = wrap(mark.label, beside)
        pad = " " * (begin + length + 1)
        rows = [f"{row} {style.paint(words[0], mark.colour)}"]
        return rows + [f"{head}{pad}{style.paint(line, mark.colour)}" for line in words[1:]]
    indent = begin if style.width - used - begin >= _BESIDE else 0
    return [
        row,
        *(
            f"{head}{'':{indent}}{style.paint(line, mark.colour)}"
            for line in wrap(mark.label, style.width - used - indent)
        ),
    ]


def _edges(text: str) -> list[int]:
    """Column at which each code point begins, and one past the last."""
    edges = [0]
    for character in text:
        at = edges[-1]
        edges.append(at + (TAB_COLUMNS - at % TAB_COLUMNS if character == "\t" else _w(character)))
    return edges


def _w(character: str) -> int:
    return width_of(printable(character))


def _column(edges: Sequence[int], offset: int) -> int:
    """Column of a code point; places past the end of the line stand one column apart."""
    past = offset - (len(edges) - 1)
    return edges[-1] + past if past > 0 else edges[offset]


def _display(text: str, at: int) -> str:
    """The text as it is printed from column `at`: tabs as spaces, control characters as signs."""
    shown: list[str] = []
    for character in text:
        if character == "\t":
            spaces = TAB_COLUMNS - at % TAB_COLUMNS
            shown.append(" " * spaces)
            at += spaces
        else:
            sign = printable(character)
            shown.append(sign)
            at += width_of(sign)
    return "".join(shown)


def _window(edges: Sequence[int], stretch: _Stretch, skipped: int, room: int) -> tuple[int, int]:
    """Code points of a line to show: all where they fit, else a window around the mark."""
    count = len(edges) - 1
    if edges[-1] <= room and not skipped:
        return 0, count
    room -= 2  # an ellipsis on each side
    start = min(stretch.start - skipped, count)
    end = min(max(stretch.end - skipped, start), count)
    if edges[end] <= room:
        first = 0
    else:
        lead = max(room - (edges[end] - edges[start]), 0) // 2
        first = start
        while first > 0 and edges[start] - edges[first - 1] <= lead:
            first -= 1
    stop = first
    while stop < count and edges[stop + 1] - edges[first] <= room:
        stop += 1
    return first, stop
