"""Figures asked for by what must not happen: "must not fall below 90 tokens per second"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.forms import Form
from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause

REQUIRED: Final = Form(
    r"\b(?:must|shall|may|should|can|is|are|to)(?: never| not|n['’]t)(?: ever| allowed to)?"
    r" (?:(?:fall|drop|go|sink|be|come|get|dip) (?:below|under|lower than|less than|slower than)"
    r" (?P<rate>\d[\d,]*(?:\.\d+)?) ?(?:tok(?:en)?s?(?: ?/ ?| per | an? )s(?:ec(?:ond)?)?\b|t/s\b"
    r"|tps\b)"
    r"|(?:exceed|(?:be|take|last) (?:more|longer) than|(?:go|rise|come|be) (?:above|over|beyond))"
    r" (?P<ms>\d[\d,]*(?:\.\d+)?) ?ms (?:per|a|for each) (?:\w+ )?token)"
)
"""What a rate may not fall below, or a time per token may not exceed."""
DEMANDING: Final = Form(
    r"\b(?:(?:exit|acceptance|success|release|pass(?:ing)?) (?:criteri(?:a|on)|tests?|conditions?"
    r"|gates?)|criteria|targets?|goals?|definition of done|requirements?|service levels?)\b"
)
"""A heading of what has to be reached, whatever the tense below it."""


def demanded(text: str, clause: Clause) -> Iterator[Effect]:
    """The figure that a requirement comes to; it begins before the words that deny its failure."""
    match = REQUIRED.search(text)
    if match is None:
        return
    value = float((match["rate"] or match["ms"]).replace(",", ""))
    if value > 0:
        tpot = 1e3 / value if match["rate"] else value
        start = clause.start + match.start()
        yield Effect(Kind.FIGURE, start, clause.start + match.end(), None, tpot)
