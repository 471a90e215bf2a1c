"""What a sentence says limits a step: arithmetic, memory or fixed time; in which phase; or not.

A small lexicon, read clause by clause. Precision comes first: what is denied, reported, asked,
supposed or said of another batch is told apart, and a sentence that fits no form asserts nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from advisor.claims import Regime, parse_context
from advisor.source import Source, Span

Phase = Literal["decode", "prefill", "training"]


class Limit(StrEnum):
    """What a step waits for."""

    COMPUTE = "compute"
    MEMORY = "memory"
    OVERHEAD = "overhead"


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


_COMPUTE: Final = (
    r"(?P<compute>compute|computations?|computing|flop/?s|flops?|[tg]flops|arithmetic|maths?|alus?"
    r"|(?:tensor|matrix|cuda)[- ]cores?|matrix units?|tensor units?|multipl(?:iers?|ications?|ies)"
    r"|multiply[- ]adds?|floating[- ]point (?:operations|throughput|units?)|processing power)"
)
_MEMORY: Final = (
    r"(?P<memory>(?:memory|hbm|dram|vram|ddr|weight|kv)?[- ]?bandwidth|memory|hbm|dram|vram|bytes"
    r"|weights?|(?:weight |kv |cache )?(?:reads|reading|loads|loading|streaming|traffic|fetch\w*)"
    r"|data movement|i/?o|kv cache)"
)
_OVERHEAD: Final = (
    r"(?P<overhead>(?:kernel |cuda )?launch(?:es|ing)?|overheads?|cpu|host|python|scheduling"
    r"|synchroni[sz]ation|dispatch)"
)
_ANY: Final = rf"\b(?:{_COMPUTE}|{_MEMORY}|{_OVERHEAD})\b"
_FEW: Final = {most: rf"(?:[\w'’/%-]+ ){{0,{most}}}?" for most in (2, 3, 4, 7)}
"""At most so many words, as few as will do."""
_IS: Final = r"(?:is|are|was|were|remains?|stays?|becomes?|['’]s|['’]re)"
_BE_NOT: Final = r"(?:isn['’]t|aren['’]t|wasn['’]t)"
_NO_NOUN: Final = (
    r"(?! (?:workloads?|kernels?|phases?|regimes?|models?|operations?|ops|parts?|tasks?|cases?"
    r"|steps?|layers?|work)\b)"
)
"""Compute-bound workloads are a kind of workload; nothing says that this one is of it."""
_STOP: Final = (
    r"(?:bottlenecks?|limit|limiter|limiting factor|limitation|constraint|binding constraint|wall"
    r"|cost|pace[- ]?setter|culprit|what (?:counts|limits|decides|matters))"
)


class _Form(NamedTuple):
    """A form of words that names a limit, compiled when a text may hold it."""

    hints: tuple[str, ...]
    """Without one of these, in lower case, the form is not there."""
    pattern: str


_STOP_HINTS: Final = (
    "bottleneck",
    "limit",
    "constraint",
    "wall",
    "cost",
    "pace",
    "culprit",
    "what",
)
_FORMS: Final = (
    # compute-bound, memory bandwidth limited
    _Form(
        ("bound", "limited", "constrained", "bottlenecked", "dominated"),
        rf"{_ANY}[- ](?:bound|limited|constrained|bottlenecked|dominated)\b{_NO_NOUN}",
    ),
    # is a compute-bound workload
    _Form((" a ", " an "), rf"\b{_IS} an? {_ANY}[- ](?:bound|limited)\b"),
    # limited by how quickly the tensor cores get through them
    _Form(
        (" by ", " on ", " for "),
        r"\b(?:bound|limited|constrained|bottlenecked|dominated|dictated|governed|determined|gated"
        r"|throttled|capped|restricted|set|held (?:back|up)|bottlenecks?|waits?|waiting|stalls?"
        rf"|depends?) (?:only |mostly |mainly |entirely |purely )?(?:by|on|for) {_FEW[7]}{_ANY}",
    ),
    # the bottleneck is arithmetic; the limit here are the FLOPs
    _Form(
        _STOP_HINTS,
        rf"\b{_STOP}(?: (?:of|for|in|at|during|here)\b[^,;:]{{0,40}}?)?"
        rf" (?:{_IS}|{_BE_NOT}|lies in|sits in) {_FEW[4]}{_ANY}",
    ),
    # arithmetic is the bottleneck
    _Form(_STOP_HINTS, rf"{_ANY} {_FEW[3]}(?:{_IS}|{_BE_NOT}) {_FEW[3]}{_STOP}\b"),
    # saturates the tensor cores, runs out of FLOPs
    _Form(
        ("saturat", "max", "exhaust", "out of", "short of", "starved"),
        r"\b(?:saturat(?:es?|ed|ing)|max(?:es|ed|ing)? out|exhausts?|runs? out of|short of"
        rf"|starved (?:of|for)) {_FEW[4]}{_ANY}",
    ),
    # the tensor cores are saturated
    _Form(
        ("saturated", "maxed out", "exhausted", "fully"),
        rf"{_ANY} {_FEW[2]}(?:{_IS}|{_BE_NOT}) {_FEW[2]}"
        r"(?:saturated|maxed out|exhausted|fully (?:used|utili[sz]ed|loaded|busy))\b",
    ),
    # arithmetic dominates, FLOPs dictate latency
    _Form(
        ("dominate", "dictate", "limit", "govern", "determine", "gate", "pace", "hold"),
        rf"{_ANY} {_FEW[3]}(?:dominates?|dictates?|limits?|governs?|determines?|gates?"
        r"|sets? the pace|holds? \w+ (?:back|up))\b",
    ),
    # on the compute side of the roofline
    _Form(("side", "regime", "roof"), rf"{_ANY}[- ](?:bound )?(?:side|regime|roof)\b"),
    # right of the ridge
    _Form(
        ("ridge", "knee"),
        r"\b(?:(?P<compute>right|above|past|beyond)|(?P<memory>left|below|under))(?: of)?"
        r" the (?:ridge|knee)\b",
    ),
)


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


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
    for match in _limits(text, clause):
        limit = next(limit for limit in Limit if match.groupdict().get(limit.value))
        if limit in told:
            continue
        told.add(limit)
        before = text[clause[0] : match.end()]
        lead = _LEADING.match(text, *clause)
        yield Assertion(
            limit=limit,
            phase=_phase(sentence, match),
            start=lead.end() if lead is not None else clause[0],
            end=clause[1],
            denied=bool(_DENIAL.search(_NO_DENIAL.sub("", before))),
            open=sentence.open or sentence.supposed_from < match.end(),
            batch=sentence.regime.batch,
            context=sentence.regime.context_tokens,
            single_stream=sentence.single_stream,
            about_attention=bool(_ATTENTION.search(text, clause[0], match.end())),
        )


def _limits(text: str, clause: tuple[int, int]) -> list[re.Match[str]]:
    """Where a form names a limit, in order; of two that overlap the first."""
    words = text[slice(*clause)].lower()
    matches = [
        match
        for form in _FORMS
        if any(hint in words for hint in form.hints)
        for match in _compiled(form.pattern).finditer(text, *clause)
    ]
    kept: list[re.Match[str]] = []
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        if not kept or match.start() >= kept[-1].end():
            kept.append(match)
    return kept


def _phase(sentence: _Sentence, match: re.Match[str]) -> Phase | None:
    """The phase named last before the end of the match, else the first one after it."""
    at = bisect_left(sentence.phases, match.end(), key=lambda mention: mention[0])
    if not sentence.phases:
        return None
    return sentence.phases[max(at - 1, 0)][1]
