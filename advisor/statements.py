"""What a sentence says limits a step: arithmetic, memory or fixed time; in which phase; or not.

A small lexicon, read clause by clause. Precision comes first: what is denied, reported, asked,
supposed or said of another batch is told apart, and a sentence that fits no form asserts nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from advisor.claims import Regime, parse_context
from advisor.limits import Limit, limits_in
from advisor.source import Source, Span

Phase = Literal["decode", "prefill", "training"]


@dataclass(frozen=True, slots=True)
class Assertion:
    """One clause that names a limit. Offsets in code points of the text that was read."""

    limit: Limit
    phase: Phase | None
    """None where the sentence names none."""
    start: int
    end: int
    denied: bool
    """The clause says that this is not the limit."""
    open: bool
    """Asked, supposed, reported as others' view, or said of batches that are not named."""
    batch: int | None
    """The batch that the sentence itself names."""
    context: int | None
    single_stream: bool
    about_attention: bool

    def place_in(self, text: str, span: Span, source: Source) -> Span:
        """Where the clause stands in a source whose `span` holds `text`; the span if unclear."""
        words = map(re.escape, text[self.start : self.end].split())
        found = list(re.finditer(r"\s+".join(words), source.slice(span)))
        if len(found) != 1:
            return span
        return Span(span.start + found[0].start(), span.start + found[0].end())


_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n\s*\n|;\s*")
_CLAUSE_END: Final = re.compile(
    r"\s*[,:()—–]\s*|[.!?]+$"
    r"|\s+(?:but|because|since|while|whereas|although|though|so that|so|which|and|yet)\s+",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    r"(?:(?:and|but|so|because|since|while|whereas|although|though|hence|thus|therefore|yet|that"
    r"|which means(?: that)?)\s+)+",
    re.IGNORECASE,
)
_DENIAL: Final = re.compile(
    r"\b(?:not|never|no|neither|nor|cannot|hardly|without|nothing|\w+n['’]t|rather than|instead of"
    r"|far from|unlike|contrary to|other than|less)\b",
    re.IGNORECASE,
)
_NO_DENIAL: Final = re.compile(r"\bnot (?:only|just|merely)\b|\bno doubt\b", re.IGNORECASE)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|whether|unless|until|would|could|might|may|were|assum\w+|suppos\w+|imagine|myth"
    r"|misconception|mistake\w*|wrong(?:ly)?|belie[fv]\w*|people|often (?:said|claimed|called)"
    r"|some (?:say|claim|think)|claims? that|said to|seems?|looks?|no evidence|hypothes\w+|suspect"
    r"|once|when(?:ever)?|only (?:at|for|with|above|beyond|from))\b",
    re.IGNORECASE,
)
_OTHER_BATCH: Final = re.compile(
    r"\b(?:large|larger|big|bigger|high|higher|huge|enough|many|full|increasing|growing)[- ]"
    r"(?:enough )?(?:batch\w*|concurren\w+|users|requests|sequences|load)\b"
    r"|\bat scale\b|\bbatched\b",
    re.IGNORECASE,
)
_BATCHES: Final = re.compile(
    r"\bbatch(?:es|ed|ing)?\b|\bconcurren\w+|\b(?:users|requests|sequences)\b", re.IGNORECASE
)
"""Words for a batch; without one clear number the sentence is about several, or about none."""
_AND_ABOVE: Final = re.compile(
    r"\b(?:above|beyond|over|past|exceed\w*|more than|greater than|at least|upwards?|or more"
    r"|and (?:above|up)|onwards?)\b|[>≥+]",
    re.IGNORECASE,
)
_PHASES: Final = re.compile(
    r"\b(?:(?P<prefill>pre-?fill\w*|prompts?|ttft|first[- ]token)"
    r"|(?P<training>training|fine-?tuning|backward)"
    r"|(?P<decode>decod\w+|generat\w+|tokens?|tpot|itl|steps?|single[- ](?:stream|user|token)\w*"
    r"|autoregressive|chat|replies|reply))\b",
    re.IGNORECASE,
)
_SINGLE: Final = re.compile(
    r"\b(?:single|one)[- ](?:stream|user|request|sequence|token)\b"
    r"|\bbatch[- ](?:size )?(?:1|one)\b",
    re.IGNORECASE,
)
_ATTENTION: Final = re.compile(r"\b(?:attention|mla|kv)\b", re.IGNORECASE)


class _Sentence(NamedTuple):
    """What a sentence says around the limits in it, read once."""

    regime: Regime
    phases: tuple[tuple[int, Phase], ...]
    """Where each phase is named, in order."""
    open: bool
    supposed_from: int
    """Where words begin after which nothing is asserted; the end of the text where none are."""
    single_stream: bool


def read_statement(text: str) -> tuple[Assertion, ...]:
    """Every limit that a text names, in order. Never raises; offsets are of `text`."""
    found: list[Assertion] = []
    for start, end in _pieces(text, 0, len(text), _SENTENCE_END):
        sentence = _sentence(text, start, end)
        for first, last in _pieces(text, start, end, _CLAUSE_END):
            found += _assertions(text, sentence, (first, last))
    return tuple(found)


def _pieces(text: str, start: int, end: int, between: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Parts of `text[start:end]` between matches, without the white space around them."""
    at = start
    for match in (*between.finditer(text, start, end), None):
        stop = match.start() if match is not None else end
        part = text[at:stop]
        if part.strip():
            yield at + len(part) - len(part.lstrip()), at + len(part.rstrip())
        at = match.end() if match is not None else end


def _sentence(text: str, start: int, end: int) -> _Sentence:
    regime = parse_context(text[start:end])
    phases: list[tuple[int, Phase]] = []
    for mention in _PHASES.finditer(text, start, end):
        match mention.lastgroup:
            case "decode" | "prefill" | "training" as phase:
                phases.append((mention.start(), phase))
    supposed = _SUPPOSED.search(text, start, end)
    single = bool(_SINGLE.search(text, start, end))
    if regime.batch is not None:
        other_batch = bool(_AND_ABOVE.search(text, start, end))
    else:
        other_batch = bool(_BATCHES.search(text, start, end)) and not single
    return _Sentence(
        regime,
        tuple(phases),
        text[end - 1] == "?" or other_batch or bool(_OTHER_BATCH.search(text, start, end)),
        supposed.start() if supposed is not None else len(text),
        single,
    )


def _assertions(text: str, sentence: _Sentence, clause: tuple[int, int]) -> Iterator[Assertion]:
    """The limits named in one clause, each once."""
    told: set[Limit] = set()
    for named in limits_in(text, *clause):
        if named.limit in told:
            continue
        told.add(named.limit)
        before = text[clause[0] : named.end]
        lead = _LEADING.match(text, *clause)
        yield Assertion(
            limit=named.limit,
            phase=_phase(sentence, named.end),
            start=lead.end() if lead is not None else clause[0],
            end=clause[1],
            denied=bool(_DENIAL.search(_NO_DENIAL.sub("", before))),
            open=sentence.open or sentence.supposed_from < named.end,
            batch=sentence.regime.batch,
            context=sentence.regime.context_tokens,
            single_stream=sentence.single_stream,
            about_attention=bool(_ATTENTION.search(text, clause[0], named.end)),
        )


def _phase(sentence: _Sentence, end: int) -> Phase | None:
    """The phase named last before the end of the words for a limit, else the first one after."""
    at = bisect_left(sentence.phases, end, key=lambda mention: mention[0])
    if not sentence.phases:
        return None
    return sentence.phases[max(at - 1, 0)][1]
