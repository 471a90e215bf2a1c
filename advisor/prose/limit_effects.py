"""What a clause says that a step waits for: arithmetic, or not memory.

A limit may be named without being claimed: as a condition ("to be compute-bound, B must exceed
240"), as what is hard to reach, as a regime that something else happens in.
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.limits import Limit, limit_alone, limits_in
from advisor.prose.model import Effect, Kind
from advisor.prose.patterns import COPULA, NOT_BEFORE, OTHER_SIDE
from advisor.prose.sentences import Clause


def limit_effect(text: str, clause: Clause) -> Effect | None:
    """Where a clause says that a step waits for arithmetic, or does not wait for memory."""
    if "different from" in text[clause.start : clause.end]:
        return None
    for named in limits_in(text, clause.start, clause.end):
        before = text[clause.start : named.start]
        not_so = not named.by_memory and _IS_NOT.search(text, named.start, named.end)
        adjective = _ADJECTIVE.search(text, named.start, named.end) is not None
        if named.limit is Limit.COMPUTE and (
            not_so
            or _WHICHEVER.search(before)
            or _FOR_PRODUCTS.search(text, clause.start, named.end)
        ):
            continue  # "what limits us is not arithmetic"; "the phase that is limited by it"
        if _is_only_named(before, text[named.end : clause.end], clause, adjective=adjective):
            continue
        if named.limit is Limit.COMPUTE and not OTHER_SIDE.search(before):
            said_so = _COPULA.match(text, named.start) or COPULA.search(before)
            labelled = clause.opener == ":" and limit_alone(text[clause.start : clause.end])
            if not adjective or said_so is not None or labelled:
                return Effect(Kind.BOUND, named.start, named.end)
        elif named.limit is Limit.MEMORY and NOT_BEFORE.search(text[clause.start : named.end]):
            if _CAPACITY.search(text, clause.start, named.end) is not None:
                continue  # "the 24 GB of memory are not the bottleneck"
            near = max(0, clause.start - _NEAR)
            if (
                _BY_ANOTHER.search(text, clause.start, clause.end) is not None
                or _ON_CHIP.search(text, near, clause.end) is not None
            ):
                continue  # "latency-bound, not bandwidth-bound" names the limit
            return Effect(Kind.BOUND, clause.start, clause.start + 1)
    if clause.opener == ":" and _LIMIT_LABEL.search(text, 0, clause.start) is not None:
        alone = limit_alone(text[clause.start : clause.end]) is Limit.COMPUTE
        return Effect(Kind.BOUND, clause.start, clause.end) if alone else None
    return None


def _is_only_named(before: str, after: str, clause: Clause, *, adjective: bool) -> bool:
    """Whether a limit is a condition, an end to be reached or a regime, and nobody's claim.

    `before` and `after` are what stands in its clause around it.
    """
    if _CONDITION.search(before) or _HARD.search(before):
        return True
    end = _END.search(before)
    if end is not None and _REACHED.search(before) is None:
        return True
    if adjective and _WITHIN.search(before) is not None:
        return _NOUN_NEXT.match(after) is not None
    of_one = any(tag.name in _OF_ONE for tag in clause.tags)
    return not of_one and _ONSET.search(before) is not None


_OF_ONE: Final = frozenset({"DECODE", "SINGLE", "TOKENS"})
_CONDITION: Final = Form(
    r"\b(?:while|when|if|as long as|so long as|without|by|until|before|after|once)"
    r" (?:\w+ )?(?:stay(?:s|ing)|remain(?:s|ing)?|being|keep(?:s|ing)|get(?:s|ting)"
    r"|becom(?:es?|ing)|going)(?: \w+)?\W*$"
)
"""Before a state that is to be kept or reached: "what we can use while staying compute-bound"."""
_HARD: Final = Form(
    r"\b(?:hard|harder|difficult|tough|tougher|tricky|trickier|impossible|unlikely) (?:\w+ ){0,3}?"
    r"to (?:\w+ )?$"
)
_END: Final = Form(
    r"(?:^\W*(?:(?:so|and|then|in order|hence|thus) )*|,? (?:in order|so as) "
    r"|\bfor (?:[\w-]+ ){1,4}?"
    r"|\b(?:needs?|needed|required?|requires|must|enough|above|beyond|exceed\w*|at least|greater"
    r"|larger)\b[^.;:]{0,48}? )to (?:(?:be(?:come)?|get|stay|remain|go|make \w+) ?"
    r"(?:\w+ )?)?$"
)
"""What has to hold for it: "so to be compute-bound, ...", "needs 300 rows to saturate ..."."""
_REACHED: Final = Form(r"\b(?:is|are|was|were|['’]s|already) (?:\w+ )?enough to\b")
"""What does reach it: "one stream is enough to saturate the cores"."""
_WITHIN: Final = Form(
    r"\b(?:in|for|under|within|during|of|to|on|with) (?:an?|the|this|that|such|any|most|our|its)?"
    r"(?: ?(?:very|highly|strongly|typical|so-called))? ?$"
)
_NOUN_NEXT: Final = Form(r" [a-z]{4,}")
"""A regime that something is told of: "not ideal in a memory-bound situation"."""
_ONSET: Final = Form(
    r"\b(?:we|you|they|one|it|which|this|things?) (?:\w+ )?(?:becomes?|gets?|turns?"
    r"|starts? (?:to be"
    r"|being|getting)) (?:\w+ )?$"
)
"""Where a regime begins, whose condition follows: "we become compute-bound when B exceeds 240"."""
_CAPACITY: Final = Form(r"\b\d[\d.,]* ?(?:[gt]i?b|gigabytes) of (?:\w+ )?(?:memory|vram|ram|hbm)\b")
_FOR_PRODUCTS: Final = Form(
    r"\b(?:for|of|on|with) (?:\w+ ){1,3}?(?:products?|gemms?|matmuls?|multiplications?|matrices"
    r"|batches|problems?) (?:limited|bound|dominated|governed)\b"
)
"""What a figure holds for: "that figure is for large products limited by arithmetic"."""
_WHICHEVER: Final = Form(
    r"\b(?:phase|part|regime|case|stage|side|half|kernels?|steps?|work|workloads?) (?:that|which)"
    r"(?:['’]s| is| are)? ?(?:\w+ly )?$"
)
"""A description of what is limited by arithmetic, which does not say what is."""
_BY_ANOTHER: Final = Form(
    r"\b(?:latency|launch|overhead|communication|comm|network|sync|host|cpu|kernel|dispatch|i/?o"
    r"|pcie"
    r"|disk)[- ](?:bound|limited|dominated)\b"
    r"|\b(?:bound|limited|dominated|held up|set) by (?:the )?(?:\w+ )?(?:latency|latencies"
    r"|launch\w*"
    r"|overheads?|communication|synchroni[sz]ation|network|all-?reduces?|host|python|cpu|disk)\b"
)
"""What a step waits for that is neither arithmetic nor memory."""
_NEAR: Final = 160
_ON_CHIP: Final = Form(r"\b(?:l[23]|llc|last-level|on-chip|sram)\b")
"""Weights that are said to come from a cache: another claim, which is judged by its size."""
_LIMIT_LABEL: Final = Form(
    r"\b(?:bottlenecks?|limit(?:er)?|limiting (?:factor|resource)|(?:limited|bound|held up|gated)"
    r" by|waits? (?:for|on))\W{0,4}$"
)
"""A label of what follows a colon: "Bottleneck: FLOPs"."""
_IS_NOT: Final = Form(
    r"\b(?:is|are|was|were)(?: not|n['’]t)\b(?! enough)(?![^.;:]* but )",
)
_COPULA: Final = Form(r"(?:is|are|was|were|be|being|remains?|stays?|becomes?)\b")
_ADJECTIVE: Final = Form(
    r"(?:bound|limited|intensive|heavy|hungry|constrained|bottlenecked|dominated)$",
)
"""A form that also names a kind of kernel or phase: it is said of something after a copula."""
