"""Markdown as blocks of plain text, each with its headings, lead-in, row and column.

markdown-it-py finds the blocks; inline markup is taken out by `text.plain`, which keeps the way
back to the file. Code and HTML are left out. Fenced blocks and comments are reported by place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from advisor.prose.blocks import INDENTED, MOST_ROWS, Block, BlockKind, Comment, Fence, Page
from advisor.prose.text import PlainText, plain
from advisor.source import Span

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_FRONT_MATTER: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
_COMMENT: Final = re.compile(r"<!--(?P<words>[^<>]*?rooflint:[^<>]*?)-->")
_BOLD_LINE: Final = re.compile(r"\*\*[^*\n]{2,120}[^*\n.!]\*\*[:?]?")
_BOLD_LEVEL: Final = 7
"""Below every heading with number signs."""
_MOST_COLUMNS: Final = 64
"""A wider table is data, and no prose."""
_MOST_FENCES: Final = 50
_DEEPEST: Final = 40
"""Levels of nesting that markdown-it follows."""


@dataclass(slots=True)
class _List:
    """A list or quotation that is open."""

    group: int
    lead_in: str


class _Table:
    """A table while its rows are read."""

    def __init__(self, group: int, lead_in: str) -> None:
        self.group = group
        self.lead_in = lead_in
        self.columns: tuple[str, ...] = ()
        self.rows: tuple[tuple[str, ...], ...] = ()
        self.bodies: list[PlainText] = []
        self.line = 0
        self.text = ""
        self.places: list[tuple[int, int]] = []
        self.is_header = True


def read_markdown(text: str) -> Page:
    """The blocks, fences and comments of a Markdown text."""
    return _Walk(text).page()


class _Walk:
    """One pass over the block tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_starts = [0, *(m.end() for m in _LINE_END.finditer(text))]
        self.blocks: list[Block] = []
        self.front: list[Block] = []
        self.fences: list[Fence] = []
        self.extents: dict[int, int] = {}
        """First line of a block to the line after the longest block that begins there."""
        self.code: list[Span] = []
        self.headings: list[tuple[int, str]] = []
        self.lists: list[_List] = []
        self.quotes = 0
        self.groups = 0
        self.last = ""
        """The last paragraph, which may open what follows."""

    def page(self) -> Page:
        from markdown_it import MarkdownIt  # noqa: PLC0415 - only documents pay for it

        parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
        parser.core.ruler.disable(["inline", "text_join"])
        skipped = self._front_matter()
        body = self.text
        if skipped:
            at = self._start(skipped)
            kept = "\n" * skipped + body[at:]
            body = kept
        tokens = parser.parse(body)
        table: _Table | None = None
        for index, token in enumerate(tokens):
            if token.map is not None and token.nesting != -1:
                first, stop = token.map
                self.extents[first] = max(self.extents.get(first, 0), stop)
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    self.groups += 1
                    self.lists.append(_List(self.groups, self.last))
                case "bullet_list_close" | "ordered_list_close":
                    self.lists.pop()
                case "blockquote_open":
                    self.quotes += 1
                case "blockquote_close":
                    self.quotes -= 1
                case "table_open":
                    self.groups += 1
                    table = _Table(self.groups, self.last)
                case "table_close":
                    table = None
                case "tr_open" if table is not None and token.map is not None:
                    table.bodies = []
                    table.line = token.map[0]
                    table.text = self._line(table.line)
                    table.places = _cells(table.text)
                    table.is_header = not table.columns
                case "tr_close" if table is not None:
                    self._row(table)
                case "inline" if table is not None:
                    table.bodies.append(self._cell(table))
                case "inline":
                    self._inline(token, tokens[index - 1])
                case "fence" | "code_block" if token.map is not None:
                    self._code(token, token.map[0], token.map[1])
                case _:
                    pass
        return Page(tuple(self.blocks), tuple(self.fences), self._comments(), tuple(self.front))

    def _start(self, line: int) -> int:
        """Offset of a line, from 0."""
        return self.line_starts[line] if line < len(self.line_starts) else len(self.text)

    def _line(self, number: int) -> str:
        if not 0 <= number < len(self.line_starts):
            return ""
        return self.text[self._start(number) : self._start(number + 1)].rstrip("\r\n")

    def _front_matter(self) -> int:
        """Lines of front matter, which becomes a fence."""
        if _FRONT_MATTER.match(self.text) is None:
            return 0
        for number in range(1, min(len(self.line_starts), 400)):
            if self._line(number).rstrip() in {"---", "..."}:
                self.fences.append(Fence("yaml", self._start(1), self._start(number)))
                self.front.extend(self._front_line(line) for line in range(1, number))
                self.code.append(Span(0, self._start(number + 1)))
                return number + 1
        return 0

    def _front_line(self, number: int) -> Block:
        words = self._line(number).rstrip("\r\n")
        return Block(BlockKind.PARAGRAPH, plain([(words, self._start(number))], markup=False))

    def _code(self, token: Token, first: int, stop: int) -> None:
        self.code.append(Span(self._start(first), self._start(stop)))
        if len(self.fences) >= _MOST_FENCES:
            return
        if token.type == "code_block":
            self.fences.append(Fence(INDENTED, self._start(first), self._start(stop)))
        else:
            inner = min(first + 1 + token.content.count("\n"), stop)
            self.fences.append(
                Fence(token.info.strip(), self._start(first + 1), self._start(inner))
            )

    def _inline(self, token: Token, opener: Token) -> None:
        body = self._body(token)
        if body is None:
            return
        if opener.type == "heading_open":
            level = int(opener.tag[1])
            while self.headings and self.headings[-1][0] >= level:
                self.headings.pop()
            self._add(BlockKind.HEADING, body)
            self.headings.append((level, body.text.strip()))
            self.last = ""
            return
        if self.lists:
            self._add(BlockKind.ITEM, body)
        else:
            self.groups += 1
            self._add(BlockKind.PARAGRAPH, body)
            if self.quotes == 0 and _BOLD_LINE.fullmatch(token.content):
                # a bold line of its own stands over what follows like a heading
                while self.headings and self.headings[-1][0] >= _BOLD_LEVEL:
                    self.headings.pop()
                self.headings.append((_BOLD_LEVEL, body.text.strip()))
        self.last = body.text.strip()

    def _add(self, kind: BlockKind, body: PlainText) -> None:
        inner = self.lists[-1] if self.lists else None
        self.blocks.append(
            Block(
                kind,
                body,
                headings=tuple(title for _, title in self.headings),
                lead_in=inner.lead_in if inner is not None else "",
                quoted=self.quotes > 0,
                group=inner.group if inner is not None else self.groups,
            )
        )

    def _body(self, token: Token) -> PlainText | None:
        """The plain text of a block, each of its lines found again in the file."""
        if token.map is None:
            return None
        lines: list[tuple[str, int]] = []
        for offset, line in enumerate(token.content.split("\n")):
            wanted = line.strip()
            number = token.map[0] + offset
            whole = self._line(number)
            at = _found(whole, wanted)
            if at < 0:
                return None
            lines.append((wanted, self._start(number) + at))
        return plain(lines)

    def _cell(self, table: _Table) -> PlainText:
        """The next cell of a row, by the bars of its line."""
        index = len(table.bodies)
        begin = self._start(table.line)
        if index >= len(table.places):
            return plain([("", begin + len(table.text))])
        start, stop = table.places[index]
        return plain([(table.text[start:stop], begin + start)])

    def _row(self, table: _Table) -> None:
        texts = tuple(body.text.strip() for body in table.bodies)
        if table.is_header:
            table.columns = texts
            return
        if len(texts) > _MOST_COLUMNS:
            return
        for index, body in enumerate(table.bodies):
            if not body.text:
                continue
            self.blocks.append(
                Block(
                    BlockKind.CELL,
                    body,
                    headings=tuple(title for _, title in self.headings),
                    lead_in=table.lead_in,
                    column=table.columns[index] if index < len(table.columns) else "",
                    row=texts[0] if index else "",
                    columns=table.columns,
                    cells=texts,
                    rows=table.rows,
                    quoted=self.quotes > 0,
                    group=table.group,
                )
            )
        if len(table.rows) < MOST_ROWS:
            table.rows = (*table.rows, texts)
        self.last = ""

    def _is_alone(self, line: int, start: int, end: int) -> bool:
        """Whether nothing but the signs of quotations and lists stands beside a comment."""
        before = self.text[self._start(line) : start]
        return not _has_words(before) and not self.text[end : self._start(line + 1)].strip()

    def _comments(self) -> tuple[Comment, ...]:
        """Comments that speak to rooflint, outside code, and what each covers."""
        found: list[Comment] = []
        firsts = sorted(self.extents)
        code = sorted(self.code)
        last_line = -1
        for match in _COMMENT.finditer(self.text):
            before = bisect_right(code, (match.start(), len(self.text))) - 1
            if before >= 0 and code[before][1] > match.start():
                continue
            if self.text[match.start() - 1 : match.start()] == "`" == self.text[match.end() :][:1]:
                continue  # it stands in a span of code, as an example of itself
            line = bisect_right(self.line_starts, match.start()) - 1
            words = Span(match.start("words"), match.end("words"))
            if line == last_line or not self._is_alone(line, match.start(), match.end()):
                last_line = line
                found.append(Comment(words, Span(self._start(line), self._start(line + 1))))
                continue
            last = bisect_right(self.line_starts, match.end()) - 1
            after = bisect_right(firsts, last)
            if after < len(firsts):
                first = firsts[after]
                scope = Span(self._start(first), self._start(self.extents[first]))
            else:
                scope = Span(match.start(), match.end())
            found.append(Comment(words, scope))
        return tuple(found)


def _has_words(text: str) -> bool:
    """Whether more than the signs of quotations and lists stands there."""
    return bool(text.strip(" \t>-*+.)0123456789"))


def _found(whole: str, wanted: str) -> int:
    """Where the text of a block's line stands in the line of the file; -1 where it does not."""
    kept = whole.rstrip()
    if kept.endswith(wanted):
        return len(kept) - len(wanted)
    return whole.find(wanted)


def _cells(line: str) -> list[tuple[int, int]]:
    """Start and end of each cell in a row, without the spaces around it."""
    bars: list[int] = []
    at = line.find("|")
    while at >= 0:
        slashes = 0
        while at - slashes > 0 and line[at - slashes - 1] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            bars.append(at)
        at = line.find("|", at + 1)
    edges = [-1, *bars, len(line)]
    cells = [(a + 1, b) for a, b in pairwise(edges)]
    if cells and not line[cells[0][0] : cells[0][1]].strip(" \t>-*+.)0123456789"):
        cells = cells[1:]
    if cells and not line[cells[-1][0] : cells[-1][1]].strip():
        cells = cells[:-1]
    trimmed = []
    for start, stop in cells:
        part = line[start:stop]
        left = len(part) - len(part.lstrip())
        trimmed.append((start + left, max(start + left, start + len(part.rstrip()))))
    return trimmed
