"""Rows of a table that the text below names by their letter: "option B", "with A in production"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from advisor.forms import Form
from advisor.prose.frame import NOTHING, Frame

_LABEL: Final = re.compile(
    r"\W*(?:[Oo]ption|[Vv]ariant|[Pp]lan|[Cc]ase)? ?([A-Z])(?:[.:),]| [-–—] |$)"
)
_NAMED: Final = Form(
    r"\b(?:options?|variants?|plans?|cases?|with|for|under|in|and|or|of|takes?|choos(?:e|ing)"
    r"|pick(?:ing)?|,) (?-i:([A-Z]))\b(?![-'’+*/=.]?\w)"
)


class LetteredRows:
    """What the rows of a document's tables state, by the letters that they begin with."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._frames: dict[str, Frame | None] = {}

    def learn(self, cells: Sequence[str], frame: Frame) -> None:
        """Take in a row; a letter of two rows that differ in their bytes names neither."""
        label = _LABEL.match(cells[0]) if cells else None
        if label is None or frame.weight_bytes is None:
            return
        known = self._frames.get(label[1], frame)
        same = known is not None and known.weight_bytes == frame.weight_bytes
        self._frames[label[1]] = frame if same else None

    def named_in(self, text: str) -> Frame:
        """The bytes of the rows that a sentence names, where they are the same."""
        if not self._frames:
            return NOTHING
        named = {match[1] for match in _NAMED.finditer(text)} | set(_PAIR.findall(text))
        frames = [self._frames.get(letter) for letter in named if letter in self._frames]
        told = {frame.weight_bytes if frame is not None else None for frame in frames}
        if len(told) != 1 or None in told:
            return NOTHING
        return Frame(weight_bytes=told.pop())


_PAIR: Final = re.compile(r"\b([A-Z])(?= and [A-Z]\b)")
"""The first of two: "B and C"."""
