"""Speed that is said not to feel memory elsewhere: what a clause says of a slower tier.

The forms of words stand in `advisor.prose.tiers`, which rules import without the reader of gains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.tiers import CARD_SPEED, ELSEWHERE, UNHURT

_REACH: Final = 600
"""Characters before a sentence in which it may be said where things lie."""


def tier_effects(text: str, sentence: Sentence, clause: Clause) -> Iterator[Effect]:
    """What a clause says of speed that does not feel memory elsewhere."""
    told = UNHURT.search(text, clause.start, clause.end) or CARD_SPEED.search(
        text, clause.start, clause.end
    )
    if told is None:
        return
    if ELSEWHERE.search(text, max(0, sentence.start - _REACH), sentence.end) is not None:
        yield Effect(Kind.UNHURT, *told.span())
