"""Blocks of a document: a paragraph, item, cell or heading with what stands around it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from advisor.prose.text import PlainText
from advisor.source import Span


class BlockKind(StrEnum):
    """What a block is in the document."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CELL = "cell"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of prose that is read by itself, and what it inherits."""

    kind: BlockKind
    body: PlainText
    headings: tuple[str, ...] = ()
    """Texts of the headings above it, outermost first."""
    lead_in: str = ""
    """The paragraph that opens the list or table it stands in."""
    column: str = ""
    """The header of a cell's column."""
    row: str = ""
    """The label of a cell's row: its first cell."""
    columns: tuple[str, ...] = ()
    """All headers of a cell's table."""
    cells: tuple[str, ...] = ()
    """All cells of a cell's row."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The rows of a cell's table before its own."""
    quoted: bool = False
    """Inside a block quotation."""
    group: int = 0
    """Blocks of one list, or of one table, have one number."""

    @property
    def text(self) -> str:
        """The plain text."""
        return self.body.text


MOST_ROWS: Final = 12
"""Rows of a table that later ones may be compared with."""
INDENTED: Final = "(indented)"
"""The language of a block that is code by its indentation: nobody says what it is."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of another format, to be read by that format's own reader."""

    info: str
    start: int
    """Offset in the file of its first line."""
    end: int


class Comment(NamedTuple):
    """An HTML comment that holds "rooflint:"."""

    words: Span
    scope: Span
    """What it covers: its line, or the block that follows it."""


@dataclass(frozen=True, slots=True)
class Page:
    """A document as its blocks, in order."""

    blocks: tuple[Block, ...]
    fences: tuple[Fence, ...] = ()
    comments: tuple[Comment, ...] = ()
    front: tuple[Block, ...] = ()
    """The lines of the front matter: they state the document's setup, and claim nothing."""
