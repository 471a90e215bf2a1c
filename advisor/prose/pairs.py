"""Two figures of one thing, before and after: "62 tok/s where we had 41", "40 -> 25 ms".

The order is told by the words between them ("instead of", "down to"), the direction by the unit: of
a time the smaller is the faster, of a rate the larger. Where neither figure has a unit, the words
of the sentence say whether a time or a rate is meant.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.quantity.units import in_milliseconds

_NUMBER: Final = r"(\d{1,6}(?:[.,]\d+)?)"
_UNIT: Final = (
    r"\s?(tok(?:en)?s?\s?(?:/|per |a )\s?s(?:ec(?:ond)?)?s?\b(?:/user)?|t/s\b|tps\b|ms\b(?:\s?(?:/"
    r"|per |a )"
    r"\s?tok(?:en)?\b)?|milliseconds?\b|s\b(?!/)|seconds?\b|[uµ]s\b|microseconds?\b)?"
)
_SOME: Final = (
    r"(?:about |some |around |roughly |nearly |only |just |below |under |less than |every "
    r"|the (?:old|previous) |~ ?|≈ ?)?"
)
_AFTER_BEFORE: Final = (
    r"(?: that way| now| today| since| afterwards| with it)?"
    r"\s?[,(]?\s?(?:in place of|instead of|rather than|and not|not|where (?:we|it|there"
    r"|you|they|I) (?:\w+ ){0,2}?(?:had|was|were|got|be|took|wrote|did|managed|ran|made|typed"
    r"|needed"
    r"|saw|produced|stood|reached|read|gave)|down from|up from|from|over (?:the|our)(?: old)?"
    r"|against|versus|vs\.?"
    r"|compared (?:to"
    r"|with)|previously|was|were|it was|formerly|used to be|as opposed to|before:?|earlier:?)\s"
)
"""What stands between the new figure and the old one."""
_BEFORE_AFTER: Final = (
    r"\s?(?:->|→|=>|⇒|[,;]? ?(?:now|then)|to|becomes?|down to|up to|goes (?:down |up )?to"
    r"|(?:falls?|drops?|shrinks?|rises?|climbs?|improves?) to|turns? into"
    r"|(?:before|earlier|today|so far|at present|originally)[,;:]? (?:and |now |then )?)\s?"
)
"""What stands between the old figure and the new one."""
_FOR_WHOM: Final = (
    r"(?: (?:for|to|in) (?:an?|one|each|every|the) (?:single |lone |isolated )?(?:user|caller|chat"
    r"|conversation|stream|session|request|client|sequence|customer))?"
)
_FIRST: Final = Form(
    rf"(?<![\w.,:/-]){_NUMBER}{_UNIT}{_FOR_WHOM}(?P<word>{_AFTER_BEFORE}){_SOME}{_NUMBER}{_UNIT}(?![\w%]"
    rf"|\.\d)",
)
_ASIDE: Final = Form(
    rf"(?<![\w.,:/-]){_NUMBER}{_UNIT}(?P<word> ?\((?:was |were |from |down from |up from |before:? "
    rf"|today:? |previously |formerly |instead of |not )){_SOME}{_NUMBER}{_UNIT}\)"
)
_ASIDE_AFTER: Final = Form(
    rf"(?<![\w.,:/-]){_NUMBER}{_UNIT}(?P<word> ?\(){_SOME}{_NUMBER}{_UNIT}(?:,? (?:today|before"
    r"|currently|previously|at present|so far|dense|as it was|earlier|at the moment))\)"
)
"""The old figure in brackets: "12 ms (20 ms today)"."""
_OF_OLD: Final = (
    r"(?: (?:of (?:today|now)|that we (?:have|see|had)|we have|today|at present|or so)){0,2}"
)
_SECOND: Final = Form(
    rf"(?<![\w.,:/-]){_NUMBER}{_UNIT}{_OF_OLD}(?P<word>{_BEFORE_AFTER}){_SOME}{_NUMBER}{_UNIT}(?![\w%]"
    rf"|\.\d)",
)
_ABOUT_TIME: Final = Form(
    r"\b(?:ms|latency|tpot|itl|tbt|time|interval|delay|wait|step)\b",
)
_ABOUT_RATE: Final = Form(
    r"\b(?:tok(?:en)?s?\s?/\s?s|t/s|tps|tok/sec|token rate|tokens per second|speed"
    r"|interactivity)\b",
)
_OF_BYTES: Final = Form(r" ?(?:[KMGT]i?B|gigs?|gigabytes?)\b")
_UNIT_OF_TIME: Final = re.compile(r"[^\W\d]+")
_LARGEST: Final = 500.0


_PATTERNS: Final = ((_FIRST, True), (_ASIDE, True), (_ASIDE_AFTER, True), (_SECOND, False))


class Pair(NamedTuple):
    """Two figures; offsets in the text. The factor is above 1 where the later one is faster."""

    start: int
    end: int
    factor: float
    tpot_ms: float | None
    """The later figure as a time per token; None for a time of something longer."""


@lru_cache(maxsize=4096)
def pairs_in(text: str) -> tuple[Pair, ...]:
    """Every pair of figures in a sentence, in order."""
    found = [
        pair
        for pattern, reverse in _PATTERNS
        for match in pattern.finditer(text)
        if (pair := _pair(text, match, reverse=reverse)) is not None
    ]
    return tuple(sorted(found))


def _pair(text: str, match: re.Match[str], *, reverse: bool) -> Pair | None:
    one, unit, _, other, last = match.groups()
    units = (unit or last or "").lower(), (last or unit or "").lower()
    values = [float(number.replace(",", "")) for number in (one, other)]
    if min(values) <= 0:
        return None
    rates = [_is_rate(name) for name in units]
    if units[0] and rates[0] != rates[1]:
        return None
    if units[0]:
        rate = rates[0]
    elif _OF_BYTES.match(text, match.end()):
        return None  # "from 384 to 768 GB"
    elif _ABOUT_RATE.search(text[: match.start()]) or _ABOUT_RATE.match(
        text[match.end() :].strip()
    ):
        rate = True
    elif _ABOUT_TIME.search(text[: match.start()]):
        rate = False
    else:
        return None
    if not rate and units[0]:
        values = [value * _scale(name) for value, name in zip(values, units, strict=True)]
    old, new = reversed(values) if reverse else values
    factor = new / old if rate else old / new
    if not 1.0 / _LARGEST < factor < _LARGEST or abs(factor - 1.0) < _SAME:
        return None
    per_token = rate or units[0] in {"", "ms"} or "tok" in units[0]
    tpot = (1e3 / new if rate else new) if per_token else None
    return Pair(match.start(), match.end(), factor, tpot)


_SAME: Final = 0.02


def _scale(unit: str) -> float:
    """Milliseconds of the unit that one of a time per token begins with: "ms/token"."""
    word = _UNIT_OF_TIME.match(unit)
    return (in_milliseconds(word[0]) if word is not None else None) or 1.0


def _is_rate(unit: str) -> bool:
    return unit.startswith("t")
