"""Plain text and reStructuredText as blocks: paragraphs, items, headings and cells of tables.

Of reStructuredText, directives of prose (notes, warnings, figures' captions) are read, code and the
arguments of the others are not: what is indented below `::`, `.. code-block::` or `.. math::` is
code, reported by its place. Interpreted text loses its marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.prose.blocks import INDENTED, MOST_ROWS, Block, BlockKind, Fence, Page
from advisor.prose.text import PlainText, plain

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_ADORNMENT: Final = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}\s*$")
_DIRECTIVE: Final = re.compile(r"\.\. +(?:\|[^|]+\| +)?(?P<name>[\w:.+-]+)::[ \t]*(?P<rest>.*)")
_COMMENT: Final = re.compile(r"\.\.(?: |$)")
_OPTION: Final = re.compile(r":[\w -]+:(?: |$)")
_ITEM: Final = re.compile(r"(?:[-*+•]|\(?(?:\d{1,3}|[a-z#])[.)])[ \t]+(?=\S)")
_GRID: Final = re.compile(r"\+(?:[-=]+\+)+\s*$")
_SIMPLE: Final = re.compile(r"=+(?:[ \t]+=+)+\s*$")
_PROSE: Final = frozenset(
    {"note", "warning", "tip", "hint", "important", "attention", "caution", "danger", "error",
     "admonition", "seealso", "topic", "sidebar", "versionadded", "versionchanged", "deprecated",
     "epigraph", "highlights", "container", "dropdown", "tab-item", "tab-set", "grid", "card",
     "grid-item-card", "figure", "compound", "rubric", "list-table", "table", "only", "details"}
)  # fmt: skip
"""Directives whose text is prose; the rest hold code, data or names of files."""
_LANGUAGES: Final = frozenset({"code-block", "code", "sourcecode", "highlight"})
_MARKS: Final = re.compile(
    r"(?<!\w)(?::[\w:+.-]+:)?(`{1,2})(?=\S)|(?<=\S)(`{1,2})_{0,2}(?!\w)|\*{1,2}"
)
_CELL: Final = re.compile(r"[^|\s](?:[^|]*[^|\s])?")
_COLUMN: Final = re.compile(r"=+")


class _Line(NamedTuple):
    """A line without its end; where it begins, and how far it is indented."""

    text: str
    start: int
    indent: int

    @property
    def is_empty(self) -> bool:
        return not self.text.strip()


def _lines(text: str) -> list[_Line]:
    found = []
    at = 0
    for match in (*_LINE_END.finditer(text), None):
        stop = match.start() if match is not None else len(text)
        line = text[at:stop]
        found.append(_Line(line, at, len(line) - len(line.lstrip())))
        at = match.end() if match is not None else stop
    return found


def read_plain(text: str) -> Page:
    """The paragraphs of plain text: lines between empty lines."""
    blocks: list[Block] = []
    lines: list[tuple[str, int]] = []
    for line in (*_lines(text), _Line("", len(text), 0)):
        if not line.is_empty:
            lines.append((line.text.strip(), line.start + line.indent))
        elif lines:
            body = plain(lines, markup=False)
            blocks.append(Block(BlockKind.PARAGRAPH, body, group=len(blocks) + 1))
            lines = []
    return Page(tuple(blocks))


def read_restructured(text: str) -> Page:
    """The blocks and the code of reStructuredText."""
    return _Walk(text).page()


class _Walk:
    """One pass over the lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _lines(text)
        self.blocks: list[Block] = []
        self.fences: list[Fence] = []
        self.levels: list[str] = []
        """Signs that underline headings, in the order of their levels."""
        self.headings: list[str] = []
        self.group = 0
        self.items = 0
        """The group of the list that is open; 0 where none is."""
        self.last = ""
        self.lead_in = ""

    def page(self) -> Page:
        at = 0
        while at < len(self.lines):
            at = self._next(at)
        return Page(tuple(self.blocks), tuple(self.fences))

    def _next(self, at: int) -> int:
        """Read what begins at a line; the index of the line after it."""
        line = self.lines[at]
        if line.is_empty:
            return at + 1
        bare = line.text.strip()
        directive = _DIRECTIVE.match(bare)
        if directive is not None:
            return self._directive(at, directive)
        if _COMMENT.match(bare):
            return self._below(at + 1, line.indent)
        if _GRID.match(bare) or _SIMPLE.match(bare):
            return self._table(at)
        title = self._title(at)
        if title:
            return title
        if _ADORNMENT.match(bare):
            return at + 1
        return self._paragraph(at)

    def _below(self, at: int, indent: int) -> int:
        """Index of the first line from `at` on that is indented no more than a line before it."""
        while at < len(self.lines) and (self.lines[at].is_empty or self.lines[at].indent > indent):
            at += 1
        return at

    def _directive(self, at: int, match: re.Match[str]) -> int:
        name, indent = match["name"].lower(), self.lines[at].indent
        stop = self._below(at + 1, indent)
        if name in _PROSE:
            if match["rest"].strip() and name not in {"figure", "only", "container"}:
                begin = self.lines[at].start + indent + match.start("rest")
                self._add(BlockKind.PARAGRAPH, [(match["rest"].strip(), begin)])
            at += 1
            while at < stop and _OPTION.match(self.lines[at].text.strip()):
                at += 1
            return at
        if name in _LANGUAGES or name in {"parsed-literal", "prompt", "literalinclude"}:
            language = match["rest"].strip() if name in _LANGUAGES else ""
            at += 1
            while at < stop and (
                self.lines[at].is_empty or _OPTION.match(self.lines[at].text.strip())
            ):
                at += 1
            self._code(language or INDENTED, at, stop)
        return stop

    def _code(self, language: str, at: int, stop: int) -> None:
        if at < stop:
            end = self.lines[stop].start if stop < len(self.lines) else len(self.text)
            self.fences.append(Fence(language, self.lines[at].start, end))

    def _title(self, at: int) -> int:
        """A heading with a line below it, and perhaps one above; 0 where there is none."""
        over = _ADORNMENT.match(self.lines[at].text)
        first = at + 1 if over and at + 2 < len(self.lines) else at
        if first + 1 >= len(self.lines):
            return 0
        text, under = self.lines[first].text, self.lines[first + 1].text
        match = _ADORNMENT.match(under)
        if match is None or not text.strip() or _ADORNMENT.match(text):
            return 0
        if len(under.rstrip()) < len(text.rstrip()) or (over and over[1] != match[1]):
            return 0
        sign = match[1] * (2 if over else 1)
        if sign not in self.levels:
            self.levels.append(sign)
        level = self.levels.index(sign)
        line = self.lines[first]
        del self.headings[level:]
        self.items = 0
        body = self._add(BlockKind.HEADING, [(text.strip(), line.start + line.indent)])
        self.headings.append(body.text.strip())
        self.last = ""
        return first + 2

    def _paragraph(self, at: int) -> int:
        line = self.lines[at]
        bare = line.text.strip()
        item = _ITEM.match(bare)
        begin = line.indent + (item.end() if item is not None else 0)
        lines = [(line.text[begin:].rstrip(), line.start + begin)]
        stop = at + 1
        while stop < len(self.lines):
            other = self.lines[stop]
            words = other.text.strip()
            if other.is_empty or _ITEM.match(words) or words.startswith(".. "):
                break
            lines.append((words, other.start + other.indent))
            stop += 1
        is_code = lines[-1][0].endswith("::")
        if is_code:
            lines[-1] = (lines[-1][0][:-1], lines[-1][1])
        if item is None and line.indent == 0:
            self.items = 0
        elif item is not None and not self.items:
            self.group += 1
            self.items, self.lead_in = self.group, self.last
        if lines[0][0] not in {"", ":"}:
            self._add(BlockKind.ITEM if self.items else BlockKind.PARAGRAPH, lines)
        if is_code:
            after = self._below(stop, line.indent)
            while stop < after and self.lines[stop].is_empty:
                stop += 1
            self._code(INDENTED, stop, after)
            return after
        return stop

    def _table(self, at: int) -> int:
        """A grid or a simple table: each line of text is a row of cells."""
        is_grid = _GRID.match(self.lines[at].text.strip()) is not None
        border = self.lines[at]
        columns = [match.span() for match in _COLUMN.finditer(border.text)]
        stop = at + 1
        while stop < len(self.lines) and not self.lines[stop].is_empty:
            stop += 1
        rows = [
            row
            for line in self.lines[at + 1 : stop]
            if not (_GRID.match(line.text.strip()) or _SIMPLE.match(line.text.strip()))
            for row in [list(_cells(line, columns, is_grid=is_grid))]
            if row
        ]
        if not rows:
            return stop
        self.group += 1
        header = tuple(text for text, _ in rows[0])
        before: tuple[tuple[str, ...], ...] = ()
        for row in rows[1:]:
            texts = tuple(text for text, _ in row)
            for index, (text, begin) in enumerate(row):
                self.blocks.append(
                    Block(
                        BlockKind.CELL,
                        _bare([(text, begin)]),
                        headings=tuple(self.headings),
                        lead_in=self.last,
                        column=header[index] if index < len(header) else "",
                        row=texts[0] if index else "",
                        columns=header,
                        cells=texts,
                        rows=before,
                        group=self.group,
                    )
                )
            if len(before) < MOST_ROWS:
                before = (*before, texts)
        self.last = ""
        return stop

    def _add(self, kind: BlockKind, lines: list[tuple[str, int]]) -> PlainText:
        body = _bare(lines)
        if kind is not BlockKind.ITEM:
            self.group += 1
        self.blocks.append(
            Block(
                kind,
                body,
                headings=tuple(self.headings),
                lead_in=self.lead_in if kind is BlockKind.ITEM else "",
                group=self.items if kind is BlockKind.ITEM else self.group,
            )
        )
        if kind is BlockKind.PARAGRAPH:
            self.last = body.text.strip()
        return body


def _cells(
    line: _Line, columns: list[tuple[int, int]], *, is_grid: bool
) -> Iterator[tuple[str, int]]:
    """The cells of a line, each with its offset in the file."""
    if is_grid:
        for match in _CELL.finditer(line.text):
            yield match[0], line.start + match.start()
        return
    for index, (start, _) in enumerate(columns):
        end = columns[index + 1][0] if index + 1 < len(columns) else len(line.text)
        part = line.text[start:end]
        if part.strip():
            yield part.strip(), line.start + start + len(part) - len(part.lstrip())


def _bare(lines: list[tuple[str, int]]) -> PlainText:
    """Lines without the marks of emphasis, code and roles, each piece with its place."""
    pieces: list[tuple[str, int]] = []
    for line, place in lines:
        at = 0
        for match in _MARKS.finditer(line):
            pieces.append((line[at : match.start()], place + at))
            at = match.end()
        pieces.append((line[at:], place + at))
        pieces.append((" ", place + len(line)))
    kept = [piece for piece in pieces[:-1] if piece[0]]
    starts: list[int] = []
    length = 0
    for piece, _ in kept:
        starts.append(length)
        length += len(piece)
    return PlainText(
        "".join(piece for piece, _ in kept),
        tuple(starts) or (0,),
        tuple(place for _, place in kept) or (lines[0][1],),
    )
