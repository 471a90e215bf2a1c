"""What a document states of its deployment so far, for the sentences that leave it open."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from advisor.prose.blocks import Block, BlockKind, Page
from advisor.prose.frame import Frame, Memory, frame_of
from advisor.prose.patterns import SOME_DIGIT
from advisor.prose.sentences import LONGEST_SENTENCE, sentences_of
from advisor.prose.widths import sizes_of

LONGEST_BLOCK: Final = 40_000
"""Beyond these it is no prose that a person wrote to be read, and is left alone."""
_PAIR: Final = 2
"""Columns of a table of names and values."""
_SETUP: Final = re.compile(
    r"\d ?[GT]i?B\b|\b[bB]atch\D{0,10}\d|\b[HABL]\d{2,3}|RTX|MI\d|TPU|\d ?B\b|\d ?[kK]\b"
    r"|[Ff][Pp]\d|\d-?bit|[Bb][Ff]16"
)
"""What a block holds from which later ones may inherit an operand."""
_NAMED_SETUP: Final = ("RTX", "TPU")


def _may_set_up(text: str) -> bool:
    """Whether a text may state an operand: a digit is in every form but some names."""
    if SOME_DIGIT.search(text) is None and not any(name in text for name in _NAMED_SETUP):
        return False
    return _SETUP.search(text) is not None


class Setting:
    """The setup of a document, learned block by block when somebody asks."""

    def __init__(self, page: Page) -> None:
        """Begin with the front matter."""
        self._page = page
        self._memory = Memory()
        self._waiting: list[Block] = list(page.front)

    def add(self, block: Block) -> None:
        """Take note of a block that was read; a row of a wide table speaks for itself alone."""
        wide = block.kind is BlockKind.CELL and len(block.columns) > _PAIR
        if not wide and _may_set_up(block.text):
            self._waiting.append(block)

    def within(self, frame: Frame) -> Frame:
        """A frame with what the document said before."""
        for block in self._waiting:
            for sentence in sentences_of(block.text):
                if len(sentence.text) <= LONGEST_SENTENCE:
                    self._memory.learn(frame_of(sentence.text))
                    self._memory.learn_mixtures(sizes_of(sentence.text))
        self._waiting.clear()
        return self._memory.completed(frame.over(self._memory.frame()))

    @cached_property
    def disputed(self) -> frozenset[str]:
        """What the parts of the whole document state differently."""
        whole = Memory()
        for block in (*self._page.front, *self._page.blocks):
            if len(block.text) <= LONGEST_BLOCK and _may_set_up(block.text):
                for sentence in sentences_of(block.text):
                    if len(sentence.text) <= LONGEST_SENTENCE:
                        whole.learn(frame_of(sentence.text))
        return whole.disputed
