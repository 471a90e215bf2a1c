"""Sentences and clauses of a block, by their punctuation and connectives.

A full stop ends a sentence where a capital, a digit or a quotation follows and no abbreviation
stands before it. A clause ends at a semicolon, colon or dash, and before "so", "which", "because"
and their kind: what is concluded and what it is concluded from are different clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from advisor.prose.lexicon import terms
from advisor.prose.patterns import SET_APART
from advisor.prose.tagging import Tag, Word, tags_of, words_of
from advisor.prose.tagging import names as names_of

LONGEST_SENTENCE: Final = 1500
"""Characters; a longer one is no sentence that a person wrote to be read."""
_STOP: Final = re.compile(r"[.!?]+[\"'”’»)\]]?[\"'”’»)\]]?(?=\s|$)|[。！？]+")
_OPENS: Final = re.compile(r"\s*(?:[A-Z0-9\"'“”‘«(\[`~>+*_-]|: |[^\x00-\x7f]|[a-z]{1,5}[A-Z0-9]|$)")
"""A capital, a sign, or a name that begins small: "vLLM", "tg128"."""
_BEGINS_SMALL: Final = re.compile(r"\W*(?:\w+: )?[a-z]{2,} [a-z0-9]")
_OPENS_SMALL: Final = re.compile(rf"{_OPENS.pattern}|\s+[a-z]{{2,}}\b")
"""Who writes the first word of a message small writes so at the beginning of each sentence."""
_ABBREVIATIONS: Final = frozenset(
    [
        "e.g",
        "i.e",
        "vs",
        "etc",
        "approx",
        "fig",
        "cf",
        "resp",
        "ca",
        "eq",
        "sec",
        "al",
        "incl",
        "excl",
        "max",
        "min",
        "avg",
    ]
)
_BREAK: Final = re.compile(
    r"[;:]\s|\s[–—-]{1,2}\s|[()]|,?\s(?:i\.e\.,?|that is,|which means|meaning)\s|,\s"
)
_CONNECTIVES: Final = frozenset(
    [
        "so",
        "hence",
        "thus",
        "therefore",
        "thereby",
        "which",
        "because",
        "since",
        "but",
        "yet",
        "while",
        "whereas",
        "although",
        "though",
        "whence",
        "whereby",
        "accordingly",
    ]
)
_ANYWHERE: Final = frozenset(["because", "since", "although", "whereas", "thanks", "but"])
_CUTTING: Final = _CONNECTIVES | _ANYWHERE | {"as"}
"""Words that a clause may begin with."""
_AFTER_AND: Final = frozenset({"hence", "therefore", "thus", "so"})
_ALL_BUT: Final = ("nothing", "anything", "all", "none", "anything")
_AS_NOT: Final = frozenset(
    [
        "well",
        "before",
        "in",
        "of",
        "expected",
        "shown",
        "a",
        "an",
        "usual",
        "always",
        "if",
        "though",
        "such",
        "much",
        "far",
        "long",
        "soon",
        "many",
        "with",
        "per",
        "proposed",
        "is",
        "are",
        "does",
        "do",
        "did",
        "was",
        "were",
        "has",
        "stated",
        "told",
        "for",
        "on",
        "at",
        "to",
        "by",
        "above",
        "below",
        "planned",
        "advised",
        "suggested",
        "promised",
        "opposed",
        "compared",
        "little",
        "few",
        "described",
        "here",
        "there",
        "ever",
        "one",
        "noted",
        "can",
        "will",
        "would",
        "measured",
    ]
)
"""After "as" these compare, or name where it is told; anything else begins a reason."""
_SO_NOT: Final = frozenset(["far", "that", "many", "much", "long", "called", "few", "little"])


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence; offsets in the block's text."""

    start: int
    end: int
    opener: str
    """The connective it begins with, or the sign before it."""
    tags: tuple[Tag, ...]
    subject: tuple[Tag, ...] = ()
    """Of a clause that goes on after an aside in parentheses: what stands before the aside."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a block; offsets in the block's text."""

    start: int
    end: int
    text: str
    words: tuple[Word, ...]
    """Offsets in the block's text, as those of tags."""
    tags: tuple[Tag, ...]
    clauses: tuple[Clause, ...]
    names: frozenset[str]
    """The kinds of terms in it."""

    @property
    def is_question(self) -> bool:
        """Whether it asks, or tells what somebody asks: "Is it faster? asks a reader"."""
        text = self.text.rstrip(" \"'”’)]")
        return text.endswith("?") or ("?" in text and _ASKS.search(text) is not None)


_ASKS: Final = re.compile(
    r"\?[\"'”’*_]{0,3},? (?:\w+ ){0,3}?(?:asks?|asked|wonders?|wondered|wants? to know|wrote|writes"
    r"|enquire[sd]|inquire[sd])\b"
)


@lru_cache(maxsize=8192)
def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text in order."""
    return tuple(_sentence(text, start, end) for start, end in _bounds(text))


def _bounds(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    opens = _OPENS_SMALL if _BEGINS_SMALL.match(text) is not None else _OPENS
    for match in _STOP.finditer(text):
        end = match.end()
        if match[0][0] == "." and _abbreviated(text, match.start()):
            continue
        if opens.match(text, end) is None:
            continue
        if text[start:end].strip():
            yield _trimmed(text, start, end)
        start = end
    if text[start:].strip():
        yield _trimmed(text, start, len(text))


_CHIP: Final = re.compile(r"\bM\d$")


def _abbreviated(text: str, stop: int) -> bool:
    begin = max(text.rfind(" ", max(0, stop - 12), stop), text.rfind("(", max(0, stop - 12), stop))
    word = text[begin + 1 : stop].lower()
    if word == "max" and _CHIP.search(text, max(0, begin - 4), begin):
        return False  # "on an M1 Max." names a chip
    if word == "no":  # "No. 5" is a number, "No. Zeros are read" an answer
        return text[stop + 1 : stop + 3].strip()[:1].isdigit()
    return (
        word in _ABBREVIATIONS
        or (len(word) == 1 and word.isalpha() and not text[:begin].rstrip()[-1:].isdigit())
        or (word.isdigit() and (begin <= 0))
    )


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _sentence(text: str, start: int, end: int) -> Sentence:
    words = words_of(text, start, end)
    tags = _without_contrasts(text, start, end, tags_of(text, words, terms()))
    clauses = tuple(_clauses(text, start, end, words, tags))
    return Sentence(start, end, text[start:end], tuple(words), tuple(tags), clauses, names_of(tags))


_REGIMES: Final = frozenset({"SINGLE", "LARGE_BATCH"})


def _without_contrasts(text: str, start: int, end: int, tags: list[Tag]) -> list[Tag]:
    """Terms of a sentence without the regime that it sets itself apart from."""
    apart = [match.span() for match in SET_APART.finditer(text, start, end)]
    if not apart:
        return tags
    return [
        tag for tag in tags
        if tag.name not in _REGIMES or not any(at <= tag.start < stop for at, stop in apart)
    ]  # fmt: skip


def _clauses(
    text: str, start: int, end: int, words: list[Word], tags: list[Tag]
) -> Iterator[Clause]:
    cuts: dict[int, str] = {start: ""}
    for match in _BREAK.finditer(text, start, end):
        sign = match[0].strip() or match[0]
        if sign in "()" and _within_aside(text, match.start(), sign):
            continue
        if sign != ",":
            cuts[match.end()] = sign
    for index, word in enumerate(words):
        if word[0] not in _CUTTING:
            continue
        after = words[index + 1].folded if index + 1 < len(words) else ""
        if word.folded == "as" and after not in _AS_NOT and text[word.start - 2] == ",":
            cuts[word.start] = "as"
            continue
        if word.folded not in _CONNECTIVES and word.folded not in _ANYWHERE:
            continue
        if word.folded == "so" and after in _SO_NOT:
            continue
        before = text[max(start, word.start - 12) : word.start].rstrip()
        if word.folded == "but" and before.lower().endswith(_ALL_BUT):
            continue
        before = (
            "," if before.lower().endswith(" and") and word.folded in _AFTER_AND else before[-1:]
        )
        if before in {",", ";", ":", "(", "."} or word.folded in _ANYWHERE or word.folded == "so":
            if word.folded == "since" and after[:1].isdigit():
                continue
            cuts.pop(word.start, None)
            cuts[word.start] = word.folded
    cuts.update((place, ",") for place in _turns(text, start, end) if place not in cuts)
    cuts.update(_points(text, start, end, tags, cuts))
    places = sorted(cuts)
    at = 0
    main: tuple[Tag, ...] = ()
    for index, begin in enumerate(places):
        stop = places[index + 1] if index + 1 < len(places) else end
        first, last = _trimmed(text, begin, stop)
        while last > first and text[last - 1] in ",;:(–—- ":
            last -= 1
        if last <= first:
            continue
        own = []
        while at < len(tags) and tags[at].start < stop:
            if tags[at].start >= begin:
                own.append(tags[at])
            at += 1
        goes_on = cuts[begin] == ")" and text[first].islower()
        yield Clause(first, last, cuts[begin], tuple(own), main if goes_on else ())
        if cuts[begin] != "(":
            main = (*(main if goes_on else ()), *own)


_ASIDE: Final = re.compile(r"\([A-Za-z][\w.-]{0,11}\)")
"""One word in parentheses, as a format: what stands before it goes on after it."""


def _within_aside(text: str, at: int, sign: str) -> bool:
    begin = at if sign == "(" else text.rfind("(", max(0, at - 13), at)
    if text[begin : begin + 2] == "()":
        return True  # the call of a function
    return begin >= 0 and _ASIDE.match(text, begin) is not None


_TAKES_TURN: Final = re.compile(
    r", (?:and |while )?(?=(?:[\w'’/-]+ ){1,4}(?:needs?|requires?|benefits? from|wants?|calls? for"
    r"|prefers?|rel(?:ies|y) on|demands?) )"
)
"""Where an enumeration goes on to what another one needs: "search needs A, chat needs B"."""
_NEEDS: Final = re.compile(
    r"\b(?:needs?|requires?|benefits? from|wants?|calls? for|prefers?|rel(?:ies|y) on|demands?) "
)


def enumerates_needs(text: str) -> bool:
    """Whether a sentence tells of several, one after the other, what each of them needs."""
    return any(True for _ in _turns(text, 0, len(text)))


def _turns(text: str, start: int, end: int) -> Iterator[int]:
    """Where a sentence goes on to what another one needs."""
    for match in _TAKES_TURN.finditer(text, start, end):
        if _NEEDS.search(text, start, match.start()) is not None:
            yield match.start() + 2


_METRICS: Final = frozenset({"TIME", "RATE", "PREFILL"})
_COMPARED: Final = _METRICS | {"FLOPS"}
_CHANGES: Final = frozenset({"UP", "DOWN", "FASTER", "SLOWER", "IMPROVED"})
_COMMA: Final = re.compile(r", (?:and |but |while |the |our |its )?(?=[A-Za-z])")
_AHEAD: Final = 24
_LONGEST: Final = 600
"""A longer sentence enumerates nothing that a reader compares."""


def _points(
    text: str, start: int, end: int, tags: list[Tag], cuts: dict[int, str]
) -> dict[int, str]:
    """Where an enumeration goes from one metric to the next: "TPOT +-0, prefill -35 %"."""
    found: dict[int, str] = {}
    if end - start > _LONGEST:
        return found
    at = start
    for match in _COMMA.finditer(text, start, end):
        begin = match.start() + 2
        at = max([at, *(place for place in cuts if place <= match.start())])
        stop = min((place for place in cuts if place >= begin), default=end)
        named = [tag for tag in tags if tag.name in _METRICS]
        before = [
            tag for tag in tags
            if tag.name in _COMPARED and at <= tag.start < match.start()
        ]  # fmt: skip
        after = [tag for tag in named if match.end() <= tag.start <= match.end() + _AHEAD]
        if not before or not after or begin in cuts:
            continue
        if _changes(text, at, match.start(), tags) and _changes(text, begin, stop, tags):
            found[begin] = ","
            at = begin
    return found


def _changes(text: str, start: int, end: int, tags: list[Tag]) -> bool:
    """Whether a part tells a change, or a figure."""
    if any(start <= tag.start < end and tag.name in _CHANGES for tag in tags):
        return True
    return any(sign.isdigit() for sign in text[start:end])
