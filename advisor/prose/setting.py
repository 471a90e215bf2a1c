"""What a document states of its deployment so far, for the sentences that leave it open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind, Page
from advisor.prose.extremes import Extremes, Least
from advisor.prose.frame import Frame, frame_of, is_left_aside
from advisor.prose.lettered_rows import LetteredRows
from advisor.prose.memory import Memory
from advisor.prose.refusals import is_rejected
from advisor.prose.rows import regime_text, row_frame
from advisor.prose.sentences import LONGEST_SENTENCE, sentences_of
from advisor.prose.widths import sizes_of

LONGEST_BLOCK: Final = 40_000
"""Beyond these it is no prose that a person wrote to be read, and is left alone."""
_PAIR: Final = 2
"""Columns of a table of names and values."""
_SETUP: Final = Form(
    r"\d ?[gt]i?b\b|\bbatch\D{0,10}\d|\b[habl]\d{2,3}|rtx|\bmi\d|tpu|\d ?b\b|\d ?k\b"
    r"|fp\d|\d-?bit|bf16"
)
"""What a block holds from which later ones may inherit an operand."""


class Setting:
    """The setup of a document, learned block by block when somebody asks."""

    def __init__(self, page: Page) -> None:
        """Begin with the front matter."""
        self._page = page
        self._memory = Memory()
        self._extremes = Extremes()
        self._rows = LetteredRows()
        self._waiting: list[Block] = list(page.front)

    def add(self, block: Block) -> None:
        """Take note of a block that was read; a row of a wide table speaks for itself alone."""
        self._extremes.note(block.text)
        wide = block.kind is BlockKind.CELL and len(block.columns) > _PAIR
        if wide and block.column == block.columns[0] and not is_rejected(block):
            row = row_frame(block)
            self._extremes.learn_row(regime_text(block), row)
            self._rows.learn(block.cells, row)
        if not wide and _tells_setup(block):
            self._waiting.append(block)

    def within(self, frame: Frame) -> Frame:
        """A frame with what the document said before."""
        for block in self._waiting:
            for text in _telling(block):
                self._memory.learn(frame_of(text))
                self._extremes.learn(text, block.headings[-1] if block.headings else "")
                self._memory.learn_mixtures(sizes_of(text))
        self._waiting.clear()
        return self._memory.completed(frame.over(self._memory.frame()))

    def row_named(self, text: str) -> Frame:
        """The bytes of the row of a table before it that a sentence names by its letter."""
        return self._rows.named_in(text)

    def least(self, block: Sequence[str], near: Frame) -> Least | None:
        """The lowest floor of a figure by what its block, or the document before it, states."""
        self.within(near)
        return self._extremes.least(block, near)

    @cached_property
    def disputed(self) -> frozenset[str]:
        """What the parts of the whole document state differently."""
        whole = Memory()
        for block in (*self._page.front, *self._page.blocks):
            if block.columns and block.column == block.columns[0]:
                whole.learn(row_frame(block))  # a row: each may be of another variant
            if len(block.text) <= LONGEST_BLOCK and _tells_setup(block):
                for text in _telling(block):
                    whole.learn(frame_of(text))
        return whole.disputed


def _tells_setup(block: Block) -> bool:
    """Whether a block may state an operand of what is done, and not of what is not."""
    return _may_tell_setup(block.text) and not is_rejected(block)


@lru_cache(maxsize=8192)
def _may_tell_setup(text: str) -> bool:
    """Asked when a block is read, and of all of them when a figure is held against a setup."""
    return _SETUP.search(text) is not None


def _telling(block: Block) -> Iterator[str]:
    """The sentences of a block that tell what is there, and not what was left aside."""
    for sentence in sentences_of(block.text):
        if len(sentence.text) <= LONGEST_SENTENCE and not is_left_aside(sentence.text):
            yield sentence.text
