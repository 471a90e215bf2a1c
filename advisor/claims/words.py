"""The vocabulary of claims, as data: metrics, directions, scopes, and how people write them."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.quantity.lexing import HYPHENS, Token, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Metric(StrEnum):
    """What a claim is about."""

    TPOT = "tpot"
    """Time per output token, inter-token latency, decode step time."""
    TTFT = "ttft"
    LATENCY = "latency"
    """Latency or time that the text does not tell apart."""
    LATENCY_E2E = "latency_e2e"
    TOKENS_PER_SECOND = "tokens_per_second"
    """Of one stream unless the claim says aggregate."""
    THROUGHPUT = "throughput"
    FLOPS = "flops"
    BYTES = "bytes"
    """Traffic: bytes read or moved."""
    MEMORY = "memory"
    """Capacity: bytes held."""
    PARAMETERS = "parameters"
    QUALITY = "quality"
    TOKENS_PER_PASS = "tokens_per_pass"  # noqa: S105  no password
    COST = "cost"
    """Money or energy: read so that it is not taken for time."""
    UNKNOWN = "unknown"
    """Speed of something unsaid ("1.8x", "30% faster")."""


class Polarity(StrEnum):
    """How a metric relates to speed."""

    TIME = "time"
    RATE = "rate"
    RESOURCE = "resource"
    SPEED = "speed"
    """A phase or the word speed itself: a bare factor on it is a speedup."""


class Direction(StrEnum):
    """Which way a claim says its metric goes."""

    LESS = "less"
    MORE = "more"
    FASTER = "faster"
    SLOWER = "slower"
    BETTER = "better"
    WORSE = "worse"


class Sense(NamedTuple):
    """A metric and its polarity."""

    metric: Metric
    polarity: Polarity


_TIME, _RATE, _RESOURCE, _SPEED = Polarity.TIME, Polarity.RATE, Polarity.RESOURCE, Polarity.SPEED

_METRIC_PHRASES: Mapping[Sense, str] = {
    Sense(Metric.TPOT, _TIME): (
        "tpot|itl|tbt|inter token latency|intertoken latency|time per output token"
        "|time per token|latency per token|latency per output token|per token latency"
        "|per token time|token latency|token time|time between tokens|decode latency"
        "|decoding latency|decode time|decoding time|decode step time|decode step latency"
        "|decode step|step time|step latency|time per step|generation latency|each token"
        "|inter token gap|token gap|token interval|gap between tokens|interval between tokens"
        "|forward pass|a step|each step|every step|each pass|every pass"
        "|every token|each generated token|each output token|single stream latency"
        "|single user latency|the step|a token"
    ),
    Sense(Metric.TTFT, _TIME): (
        "ttft|time to first token|first token latency|first token|prefill latency"
        "|prefill time|prompt latency|prompt processing time|prompt time"
    ),
    Sense(Metric.TTFT, _RATE): "prefill speed|prefill throughput|prompt speed",
    Sense(Metric.TTFT, _SPEED): "prefill|prompt processing|prompt pass",
    Sense(Metric.LATENCY_E2E, _TIME): (
        "end to end latency|e2e latency|end to end time|request latency|response time"
        "|total latency|total time|wall time|wall clock time|wall clock"
    ),
    Sense(Metric.LATENCY, _TIME): (
        "latency|time|latencies|run time|execution time|inference time"
        "|inference latency|generation time|forward time|the wait"
    ),
    Sense(Metric.TOKENS_PER_SECOND, _RATE): (
        "tokens per second|tokens / s|tokens / sec|tokens / second|tok / s|tok / sec"
        "|toks / s|t / s|tps|tokens a second|tokens per sec|token rate|tokens per user"
        "|tokens / s / user|single stream speed|single user speed|per user speed"
        "|output tokens per second|single stream throughput|per user throughput|decode speed"
        "|decoding speed|decode rate|generation speed|token generation speed"
    ),
    Sense(Metric.TOKENS_PER_SECOND, _SPEED): (
        "decode|decoding|generation|token generation|text generation|tokens|replies|reply"
        "|answers|stream"
    ),
    Sense(Metric.THROUGHPUT, _RATE): (
        "throughput|requests per second|requests / s|req / s|qps|rps|token throughput"
        "|goodput|decode throughput|aggregate tokens / s|total tokens / s|total output"
        "|total tokens per second|aggregate tokens per second|total throughput"
        "|aggregate throughput|tokens per gpu hour"
    ),
    Sense(Metric.FLOPS, _RESOURCE): (
        "flops|flop|flops per token|gflops|tflops|compute|operations|arithmetic"
        "|multiplications|multiplies|macs|computation|computations|math|work"
        "|floating point operations|ops"
    ),
    Sense(Metric.BYTES, _RESOURCE): (
        "bytes|byte|traffic|memory traffic|weight traffic|kv traffic|hbm traffic"
        "|dram traffic|reads|bandwidth|memory bandwidth|data movement|memory reads"
        "|weight reads|bytes per token|bytes read|bytes moved|weight bytes"
        "|memory accesses|memory access|data|bandwidth use"
    ),
    Sense(Metric.MEMORY, _RESOURCE): (
        "memory|vram|memory use|memory usage|memory footprint|footprint|kv cache|cache"
        "|weights|model size|size|storage|disk|checkpoint|gpu memory|memory consumption"
        "|kv|file|file size|kv memory|weight memory|hbm|ram|model weights|weight size"
    ),
    Sense(Metric.PARAMETERS, _RESOURCE): "parameters|params|parameter count",
    Sense(Metric.QUALITY, _RESOURCE): (
        "quality|accuracy|perplexity|ppl|score|scores|mmlu|output quality|model quality"
    ),
    Sense(Metric.COST, _RESOURCE): "cost|price|energy|power|cost per token|dollars|watts",
    Sense(Metric.UNKNOWN, _RATE): "speed|performance|inference speed|perf",
}

_DIRECTION_PHRASES: Mapping[Direction, str] = {
    Direction.LESS: (
        "lower|less|fewer|smaller|shorter|lighter|reduced|reduction|reductions|reduces"
        "|reduce|reducing|cut|cuts|cutting|drop|drops|dropped|dropping|decrease|decreases"
        "|decreased|decreasing|shrink|shrinks|shrank|shrinking|fall|falls|fell|falling"
        "|save|saves|saved|saving|savings|shave|shaves|shaved|trim|trims|trimmed|slash"
        "|slashes|slashed|down|lowers|lowered|lowering|remove|removes|removed|removing"
        "|eliminates|eliminate|avoids|free|frees|freed|freeing|off|compress|compresses"
        "|compressed|compression|cheaper|shortens|shortened|shorten|minus|lose|loses|lost|losing"
    ),
    Direction.MORE: (
        "higher|more|greater|larger|bigger|increase|increases|increased|increasing|raise"
        "|raises|raised|rise|rises|rose|rising|grow|grows|grew|up|plus|extra|additional"
        "|climb|climbs|lifts|lift|adds|add|increments"
    ),
    Direction.FASTER: (
        "faster|quicker|sooner|speedup|speedups|speed up|speeds up|sped up|speeding up"
        "|accelerate|accelerates|accelerated|acceleration|snappier|beats|outperforms"
    ),
    Direction.SLOWER: ("slower|more slowly|slowdown|slow down|slows down|slowed down|slows|longer"),
    Direction.BETTER: (
        "better|improve|improves|improved|improvement|improvements|improving|gain|gains"
        "|gained|boost|boosts|boosted|win|wins|benefit|uplift"
    ),
    Direction.WORSE: "worse|degradation|degrades|regression|regresses|overhead|penalty|loss",
}

_Index = MappingProxyType[str, tuple[tuple[tuple[str, ...], object], ...]]


def _index(phrases: Mapping[Any, str]) -> _Index:
    """Phrases by their first word, the longest first."""
    index: dict[str, list[tuple[tuple[str, ...], object]]] = {}
    for meaning, listed in phrases.items():
        for phrase in listed.split("|"):
            parts = tuple(phrase.split())
            index.setdefault(parts[0], []).append((parts, meaning))
    return MappingProxyType(
        {
            first: tuple(sorted(options, key=lambda option: -len(option[0])))
            for first, options in index.items()
        }
    )


_METRICS = _index(_METRIC_PHRASES)
_DIRECTIONS = _index(_DIRECTION_PHRASES)


def phrase_at(tokens: Sequence[Token], at: int, phrase: Sequence[str]) -> int:
    """The index after `phrase` where it stands at token `at`, hyphens skipped; else 0."""
    for position, word in enumerate(phrase):
        if position and at < len(tokens) and tokens[at].raw in HYPHENS and tokens[at].glued:
            at += 1
        if at >= len(tokens) or tokens[at].folded != word:
            return 0
        at += 1
    return at


def _look_up(index: _Index, tokens: Sequence[Token], at: int) -> tuple[object, int] | None:
    for phrase, meaning in index.get(tokens[at].folded, ()):
        stop = phrase_at(tokens, at, phrase)
        if stop:
            return meaning, stop
    return None


def metric_at(tokens: Sequence[Token], at: int) -> tuple[Sense, int] | None:
    """The metric named at token `at` and the index after it."""
    found = _look_up(_METRICS, tokens, at)
    if found is None:
        return None
    sense, stop = found
    assert isinstance(sense, Sense)
    return sense, stop


def direction_at(tokens: Sequence[Token], at: int) -> tuple[Direction, int] | None:
    """The direction word at token `at` and the index after it."""
    found = _look_up(_DIRECTIONS, tokens, at)
    if found is None:
        return None
    direction, stop = found
    assert isinstance(direction, Direction)
    return direction, stop


MULTIPLES: Mapping[str, tuple[float, Direction | None]] = MappingProxyType(
    {
        **dict.fromkeys(("double", "doubles", "doubled", "doubling"), (2.0, Direction.MORE)),
        **dict.fromkeys(("triple", "triples", "tripled", "tripling"), (3.0, Direction.MORE)),
        **dict.fromkeys(("quadruple", "quadruples", "quadrupled"), (4.0, Direction.MORE)),
        **dict.fromkeys(("halve", "halves", "halved", "halving"), (2.0, Direction.LESS)),
        **dict.fromkeys(("twice", "twofold"), (2.0, None)),
        **dict.fromkeys(("thrice", "threefold"), (3.0, None)),
        "fourfold": (4.0, None),
        "tenfold": (10.0, None),
    }
)
"""Words that hold both a number and, for the verbs, a direction."""

SAME = words("same identical unchanged equivalent constant")
NONE_OF = words("no without zero not")
CHANGE_NOUNS: Mapping[str, Metric | None] = MappingProxyType(
    {
        **dict.fromkeys(words("slowdown slower regression overhead penalty"), Metric.UNKNOWN),
        **dict.fromkeys(words("loss degradation"), Metric.QUALITY),
        **dict.fromkeys(words("drop impact change increase decrease"), None),
    }
)
"""After "no" or "without": what does not happen, and to what where the text does not say."""
DEFAULT_SENSES: Mapping[str, Sense] = MappingProxyType(
    {
        **dict.fromkeys(
            words("smaller lighter compression compressed compresses"),
            Sense(Metric.MEMORY, Polarity.RESOURCE),
        ),
        **dict.fromkeys(words("overhead penalty"), Sense(Metric.LATENCY, Polarity.TIME)),
        "cheaper": Sense(Metric.COST, Polarity.RESOURCE),
    }
)
"""What a direction word is about where nothing else is named."""
EQUALLY: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(words("fast quick quickly"), 1.0),
        **dict.fromkeys(words("slow slowly long"), -1.0),
        **dict.fromkeys(words("much many large big high low small"), 0.0),
    }
)
"""After "as": speed, its inverse, or an amount of what follows ("twice as many tokens/s")."""
NEED_BY = words(
    "faster quicker slower lower higher more less fewer smaller larger bigger greater better worse "
    "longer shorter cheaper lighter extra additional"
)
"""Adjectives: left of a number they are about something else, but for "faster by 30%"."""
NO_UP = words("end ends ended set make makes take takes pick picks")
"""With these "up" is no direction."""
BASELINES = words("baseline original dense before fp16 bf16 previous today current what fp32 that")
"""After "70% of": the text compares with what was."""
SHARE_OPENERS = words("in at to only just with gives brings reads moves streams fetches")
"""Before "40% of the time" these compare with what was; without one it is a part of a whole."""
SAVING_VERBS = words(
    "save saves saved saving shave shaves shaved free frees freed freeing cut cuts cutting "
    "drop drops dropped trim trims remove removes removed removing adds add"
)
"""Right before an amount they say that it is a difference ("saves 35 GB")."""

BELOW = words("below under beneath")
"""Between a verb and an amount they say that it is what is left: "drops below 5 ms"."""
TOKENS = words("token tokens")
NEW = words("new output generated decoded more further reply answer")
"""Before "tokens": those that come out."""
WRITING = NEW | words(
    "replies answers response responses completion completions summary story essay generation "
    "generate generates generating write writes writing written wrote emit emits emitting produce "
    "produces producing type types decode decodes decoding complete completes completed"
)
"""What tokens are for that come out one by one."""
READING = words(
    "prompt prompts prefill prefilling ttft input inputs ingest ingests ingesting context contexts "
    "history document documents read reads reading digest processing first cached"
)
"""What tokens are for that are read at once."""

CLAUSE_SYMBOLS = words(", ; | ( ) — – ? !")
CLAUSE_WORDS = words(
    "so hence thus therefore which while whereas but because since if when though "
    "although then unless and or plus"
)
AFTER_NUMBER_STOPS = words(
    "with from using via over than by when at instead vs versus compared relative thanks "
    "through after"
)
"""Right of a number these open something else than its metric."""
DIRECTION_STOPS = AFTER_NUMBER_STOPS | words("in of on for to per")
CAUSING = words(
    "gives give giving gave yields yield brings bring delivers deliver makes make making "
    "means mean reaches reach achieves achieve leads lead produces provides provide "
    "offers offer allows lets"
)
"""Between a direction word and a number these end what the word is about."""
LINKING = words(
    "by to the a an our its their of for in per is was are were be been get gets got "
    "getting becomes goes go went comes come will would should could can may now also "
    "another overall average mean median model inference about up down further some "
    "roughly almost nearly just only end serving single user stream batch"
)
"""Words between a direction and a number that change nothing."""

KERNEL_NOUNS = words(
    "kernel kernels gemm gemv matmul matmuls gemms gemvs operator op microbenchmark"
)
NOT_ABOUT_KERNEL = words("with using via from needs need through requires if no")
"""Before a kernel's name: it is the means or a condition, not what was measured."""
END_TO_END = ("end to end", "e2e", "wall clock", "overall", "whole model", "full model")
SINGLE_STREAM = (
    "one user",
    "single user",
    "single stream",
    "per user",
    "per stream",
    "per request",
    "each user",
    "each stream",
    "each request",
    "one stream",
    "one request",
    "single request",
    "single sequence",
    "one sequence",
    "lone user",
    "/ user",
    "an individual user",
    "interactive user",
)
AGGREGATE = (
    "aggregate",
    "in total",
    "total output",
    "total tokens",
    "total throughput",
    "total token",
    "all users",
    "all requests",
    "all streams",
    "all sequences",
    "system throughput",
    "fleet",
    "cluster",
    "combined",
    "across users",
    "across requests",
    "across all",
    "concurrent requests",
    "concurrent users",
    "parallel requests",
)
NEGATIONS = words("not never cannot nor neither hardly no nothing nobody barely") | words(
    "don't doesn't didn't won't isn't aren't wasn't can't couldn't shouldn't wouldn't "
    "haven't hasn't"
)
AFFIRMATIVE = (
    "not only",
    "no more than",
    "not more than",
    "no less than",
    "not less than",
    "no fewer than",
    "not just",
    "no doubt",
)
"""Start with a negation and deny nothing."""
EVIDENCE = words(
    "measured benchmarked benchmark benchmarks profiled observed observe reported report "
    "reports saw see tested recorded verified expect expected expects should estimate "
    "estimated estimates predict predicted projected projection target goal aim "
    "theoretical theory ideally would could might may hope plan promise promises claim "
    "claims claimed advertised likely presumably"
)
"""Words that tell a measurement from a hope; the claim lists those its sentence holds."""
