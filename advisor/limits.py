"""What words say a step waits for: arithmetic, memory or fixed time.

Forms of a limit, each a relation ("bound by", "is the bottleneck", "saturates") and what it is
said of. Whether the text asserts it, and of which phase, is another question: statements.py asks it
of a sentence by itself, the reader of prose of a sentence in its document.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.forms import Form


class Limit(StrEnum):
    """What a step waits for."""

    COMPUTE = "compute"
    MEMORY = "memory"
    OVERHEAD = "overhead"


_COMPUTE: Final = (
    r"(?P<compute>compute(?: power| throughput| capacity| units?)?|computations?"
    r"|(?:calculating|calculation|computing|processing|arithmetic) (?:power|units?|capacity"
    r"|resources)"
    r"|computing|[tp]era-?flops?|tensor (?:throughput|math|performance|rate)|core counts?|sms"
    r"|doing (?:sums|math|maths|calculations|arithmetic)|streaming multiprocessors"
    r"|[gtp]?flop/?s|[gtp]?flops?|tops|arithmetic(?: units?| throughput)?|maths?(?: units?)?|alus?"
    r"|(?:tensor|matrix|cuda|shader|gpu|cpu)[- ]cores?|matrix (?:units?|engines?)|tensor units?"
    r"|multipl(?:iers?|ications?|ies|ying)|multiply[- ](?:adds?|accumulate\w*)|macs"
    r"|(?:avx[- ]?\d*|simd) units?|matrix (?:products?|math)"
    r"|floating[- ]point (?:operations|throughput|units?)|processing power|number crunching"
    r"|(?:core |gpu )?clock(?: speed| rate)?s?)"
)
_MEMORY: Final = (
    r"(?P<memory>(?:memory|hbm|dram|vram|ddr|weight|kv)?[- ]?bandwidth|memory|hbm|dram|vram|bytes"
    r"|weights?|(?:weight |kv |cache )?(?:reads|reading|loads|loading|streaming|traffic|fetch\w*)"
    r"|data movement|i/?o|kv cache|[gt]b/s)"
)
_BYTES: Final = r"[gt]b/s|(?:memory )?bandwidth|memory|hbm|bytes|dram|vram|weights?|\d+ ?gb"
_OVERHEAD: Final = (
    r"(?P<overhead>(?:kernel |cuda )?launch(?:es|ing)?|overheads?|cpu|host|python|scheduling"
    r"|synchroni[sz]ation|dispatch)"
)
_ANY: Final = rf"\b(?:{_COMPUTE}|{_MEMORY}|{_OVERHEAD})\b"
_FEW: Final = {most: rf"(?:[\w'’/%-]+ ){{0,{most}}}?" for most in (2, 3, 4, 7)}
"""At most so many words, as few as will do."""
_IS: Final = r"(?:is|are|was|were|be|being|gets?|remains?|stays?|becomes?|['’]s|['’]re)"
_BE_NOT: Final = r"(?:isn['’]t|aren['’]t|wasn['’]t)"
_NO_NOUN: Final = (
    r"(?! (?:\w+ )?(?:workloads?|kernels?|phases?|regimes?|models?|operations?|ops|parts?|tasks?"
    r"|cases?"
    r"|steps?|layers?|work)\b)"
)
"""Compute-bound workloads are a kind of workload; nothing says that this one is of it."""
_STOP: Final = (
    r"(?:bottlenecks?|limits?|limiter|limiting (?:factor|resource)|limitation|constraint"
    r"|binding constraint|(?:deciding|decisive) factor|scarce resource|wall|cost|pace[- ]?setter"
    r"|culprit|(?:the )?reason|(?:what|where) (?:\w+ ){0,4}?(?:counts?|limits?|decides?|matters?"
    r"|determines?|sets?"
    r"|waits?|slows?|takes?|costs?|governs?|spends?|goes|holds?|keeps?|drives?)(?: \w+){0,5}?)"
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
    "where",
    "reason",
    "what",
)
_BUSY: Final = (
    r"(?:saturated|maxed out|exhausted|pegged|busy|occupied"
    r"|fully (?:used|utili[sz]ed|loaded|busy|occupied))"
)
_FORMS: Final = (
    # compute-bound, memory bandwidth limited, compute-intensive
    _Form(
        (
            "bound",
            "limited",
            "constrained",
            "bottlenecked",
            "dominated",
            "intensive",
            "heavy",
            "hungry",
        ),
        rf"{_ANY}[- ](?:bound|limited|constrained|bottlenecked|dominated|intensive|heavy|hungry)\b"
        rf"{_NO_NOUN}",
    ),
    # is a compute-bound workload, is a compute problem
    _Form(
        (" a ", " an "),
        rf"\b(?:{_IS}|as) (?:\w+ )?an? {_ANY}[- ](?:bound|limited|heavy|intensive|problem|issue"
        r"|bottleneck|limit|matter)\b",
    ),
    # limited by how quickly the tensor cores get through them
    _Form(
        (" by ", " on ", " for "),
        r"\b(?:bound(?:ed)?|limited|constrained|bottlenecked|dominated|dictated|governed|determined|gated"
        r"|throttled|capped|restricted|set|driven|decided|given|slowed down|held (?:back|up)"
        r"|bottlenecks?|waits?|waiting|stalls?|depends?|hinges) "
        rf"(?:only |mostly |mainly |entirely |purely |primarily )?(?:by|on|for) {_FEW[7]}{_ANY}",
    ),
    # is proportional to the FLOPs, scales with bandwidth, comes down to arithmetic
    _Form(
        (
            "proportional",
            "scale",
            "follow",
            "track",
            "down to",
            "matter of",
            "question of",
            "function of",
        ),
        r"\b(?:(?:is|are) (?:\w+ )?(?:proportional to|a (?:matter|question|function) of)"
        r"|scal(?:es?|ing) (?:\w+ )?with|follows?|tracks?|(?:comes?|boils?) down to) "
        rf"{_FEW[4]}{_ANY}",
    ),
    # the bottleneck is arithmetic; what the user waits for is the FLOPs
    _Form(
        _STOP_HINTS,
        rf"\b{_STOP}(?: (?:of|for|in|at|during|here)\b[^,;:]{{0,40}}?)?"
        rf" (?:{_IS}|{_BE_NOT}|lies in|sits in) {_FEW[4]}{_ANY}",
    ),
    # arithmetic is the bottleneck
    _Form(_STOP_HINTS, rf"{_ANY} {_FEW[3]}(?:{_IS}|{_BE_NOT}) {_FEW[3]}{_STOP}\b"),
    # therefore is the calculating power the limit
    _Form(_STOP_HINTS, rf"\b{_IS} (?:the |a )?{_ANY} (?:the |a )?{_STOP}\b"),
    # saturates the tensor cores, runs out of FLOPs, short on compute
    _Form(
        ("saturat", "max", "exhaust", "out of", "short o", "starved", "enough", "too few"),
        r"\b(?:saturat(?:es?|ed|ing)|max(?:es|ed|ing)? out|exhausts?|r[ua]ns? out of"
        r"|running out of|short (?:of|on)|starved (?:of|for)|(?:not|has no|lacks) enough"
        rf"|too few) {_FEW[4]}{_ANY}",
    ),
    # the tensor cores are saturated, keeps the ALUs busy
    _Form(
        ("saturated", "maxed out", "exhausted", "fully", "busy", "occupied", "pegged"),
        rf"{_ANY} {_FEW[2]}(?:{_IS}|{_BE_NOT}) {_FEW[2]}{_BUSY}\b",
    ),
    _Form(("keep",), rf"\bkeep(?:s|ing)? {_FEW[2]}{_ANY} {_FEW[2]}{_BUSY}\b"),
    # has to wait until the multipliers are done
    _Form(("wait",), rf"\bwait(?:s|ing)? (?:until|till) {_FEW[4]}{_ANY}"),
    # as fast as the tensor cores can
    _Form(
        ("as fast as", "as quickly as"),
        rf"\bas (?:fast|quickly) as (?:\w+ ){{0,2}}?{_ANY} (?:can|could|allows?|permits?|goes?"
        rf"|manage)\b",
    ),
    # almost all of it arithmetic
    _Form(
        (" of it", " of which", " of the step", " of the time", " of every step"),
        r"\b(?:all|most|the bulk|the lion['’]s share|9\d ?%) of (?:it|which|(?:the|every"
        r"|each) (?:\w+ )?"
        rf"(?:step|time|latency|token))(?: is| being|:|,)? (?:\w+ )?{_ANY}",
    ),
    # insufficient arithmetic, a pure compute workload, high arithmetic intensity
    _Form(
        ("insufficient", "lack", "shortage", "too little", "pure", "intensity"),
        rf"\b(?:insufficient|lack of|lacks|shortage of|too little) (?:\w+ )?{_COMPUTE}",
    ),
    _Form(
        ("pure",), rf"\bpure(?:ly)? (?:an? )?{_ANY} (?:workload|problem|job|task|affair|matter)\b"
    ),
    _Form(
        ("intensity",),
        r"\b(?:high|large|considerable|plenty of) (?P<compute>arithmetic) intensity\b",
    ),
    # busy multiplying, spends its time on arithmetic
    _Form(
        ("busy", "spen"),
        rf"\b(?:busy (?:with )?|spen(?:t|ds?|ding) {_FEW[7]}(?:on |in |with |doing )?){_FEW[2]}"
        rf"{_ANY}",
    ),
    # arithmetic dominates, FLOPs dictate latency
    _Form(
        (
            "dominate",
            "dictate",
            "limit",
            "govern",
            "determine",
            "gate",
            "pace",
            "hold",
            "decide",
            "throttle",
            "set",
            "drive",
        ),
        rf"{_ANY} {_FEW[3]}(?:dominates?|dictates?|limits?|governs?|determines?|gates?|decides?"
        r"|throttles?|sets?|drives?|holds? \w+ (?:back|up))\b",
    ),
    # on the compute side of the roofline, hits the compute ceiling
    _Form(
        ("side", "regime", "roof"),
        rf"{_ANY}[- ](?:bound )?(?:side|regime|roof|roofline)\b",
    ),
    _Form(
        ("roof", "ceiling", "wall", "limit"),
        r"\b(?:hits?|hitting|reach(?:es|ed)?|on|against|under|at) (?:the |its )?"
        rf"{_ANY} (?:roof|ceiling|wall|limit)\b",
    ),
    # right of the ridge
    _Form(
        ("ridge", "knee"),
        r"\b(?:(?P<compute>right|above|past|beyond)|(?P<memory>left|below|under))(?: of)?"
        r" (?:the |its )?(?:ridge|knee)\b",
    ),
    # not bandwidth but arithmetic; arithmetic rather than bandwidth
    _Form(
        ("not ", "rather than"),
        rf"\bnot (?:the )?(?:\w+ )?(?:{_BYTES})\b[^.;:]{{0,30}}? but (?:the )?(?:\w+"
        rf" ){{0,2}}?{_COMPUTE}\b",
    ),
    _Form(
        ("not ", "rather than"),
        rf"\b{_COMPUTE},? (?:rather than|and not|not) (?:the )?(?:{_BYTES})\b",
    ),
    # the chip cannot multiply fast enough
    _Form(
        ("enough",),
        r"\b(?:can ?not|can['’]t|unable to) (?:\w+ ){0,2}?(?P<compute>multiply|compute|calculate"
        r"|crunch|do the math)\b[^.;:]{0,24}? (?:fast|quickly) enough",
    ),
)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Form:
    return Form(pattern)


_HINTS: Final = tuple(sorted({hint for form in _FORMS for hint in form.hints}))
_HINT: Final = re.compile("|".join(re.escape(hint.strip()) for hint in _HINTS))


def may_name_a_limit(text: str) -> bool:
    """Whether some form may stand in a text: quicker than looking for them."""
    return _HINT.search(text.lower()) is not None


class Named(NamedTuple):
    """A limit that a text names; offsets in the text."""

    limit: Limit
    start: int
    end: int


def limits_in(text: str, start: int, end: int) -> list[Named]:
    """Where a form names a limit in `text[start:end]`, in order; of two that overlap the first."""
    words = text[start:end].lower()
    hints = {hint for hint in _HINTS if hint in words}
    if not hints:
        return []
    found = [
        Named(next(limit for limit in Limit if match.groupdict().get(limit.value)), *match.span())
        for form in _FORMS
        if not hints.isdisjoint(form.hints)
        for match in _compiled(form.pattern).finditer(text, start, end)
    ]
    kept: list[Named] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept
