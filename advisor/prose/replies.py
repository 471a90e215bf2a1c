"""Texts of so many tokens and the time that one takes: a rate in other words.

"a 400-token answer is there in half a second", "a reply of 600 tokens takes 13 s". The time to the
first token is told in the same words and is none of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.quantity.numerals import SEVERAL, count_of

_TEXTS: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|completions?|outputs?|summar(?:y|ies)|essays?"
    r"|stor(?:y|ies)|e-?mails?|mails?|letters?|texts?|reports?|pages?|posts?|drafts?|briefs?|memos?"
    r"|poems?|articles?|messages?|paragraphs?|notes?|chapters?|translations?|minutes)"
)
_PART_OF_SECOND: Final = MappingProxyType(
    {"tenth": 0.1, "half": 0.5, "fifth": 0.2, "quarter": 0.25, "third": 1 / 3}
)
_TIME: Final = (
    rf"(?:(?P<time>\d[\d,]*(?:\.\d+)?|a|one|{SEVERAL}) ?(?P<unit>ms|s|sec|seconds?|milliseconds?)\b"
    r"|(?P<part>tenth|half|fifth|quarter|third) (?:of )?a sec(?:ond)?\b)"
)
_LONG: Final = Form(
    rf"(?<![\w.,])(?P<tokens>\d[\d,]*)[- ]tokens?(?: \w+)?"
    rf" {_TEXTS}\b(?P<gap>[^.;]{{0,48}}?)\b{_TIME}"
)
_OF_SO_MANY: Final = Form(
    rf"\b(?:{_TEXTS}|generat\w+|writ\w+)\b[^.;]{{0,24}}?(?<![\w.,])(?P<tokens>\d[\d,]*) tokens\b"
    rf"(?P<gap>[^.;]{{0,48}}?)\b{_TIME}"
)
_FIRST: Final = Form(
    r"\b(?:starts?|begins?|first|queue\w*|waits?|waiting|after|before|prompts?|prefill|every|each"
    r"|taken in|reads?|reading|ingest\w*|process\w*|digest\w*|swallow\w*|pars\w+|scann\w+)\b"
)
"""What the time is of, other than the writing of it: its beginning, or reading it."""


class Reply(NamedTuple):
    """A text and the time that it takes; offsets in the text that tells of it."""

    start: int
    end: int
    tokens: float
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        """The rate that it comes to."""
        return self.tokens / self.seconds


def replies_in(text: str) -> Iterator[Reply]:
    """The texts of so many tokens whose time is told."""
    for form in (_LONG, _OF_SO_MANY):
        for match in form.finditer(text):
            seconds = _seconds(match["time"], match["unit"], match["part"])
            tokens = float(match["tokens"].replace(",", ""))
            if seconds > 0 and tokens > 0 and _FIRST.search(match["gap"]) is None:
                yield Reply(match.start(), match.end(), tokens, seconds)


def _seconds(time: str | None, unit: str | None, part: str | None) -> float:
    if part is not None:
        return _PART_OF_SECOND[part.lower()]
    if time is None or unit is None:
        return 0.0
    word = time.lower()
    if word in {"a", "one"}:
        value = 1.0
    elif word[0].isdigit():
        value = float(word.replace(",", ""))
    else:
        value = float(count_of(word))
    return value / 1e3 if unit.lower().startswith("m") else value
