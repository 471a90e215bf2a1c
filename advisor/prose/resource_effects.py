"""What a clause says of bytes, arithmetic, the cache and what a step waits for, other than speed.

Each is one effect at most: a limit that is named, a utilisation, bytes or arithmetic that are saved
or read, a cost of nothing, a cache that is left out, room, a peak, advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.forms import Form
from advisor.limits import Limit, limit_alone, limits_in
from advisor.prose.activations import activations_decide
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.cache_effects import cache_effects
from advisor.prose.cells import limit_cell
from advisor.prose.experts import ALL_EXPERTS, LIKE_DENSE, MEMORY_LIKE, whole_read
from advisor.prose.gains import saving
from advisor.prose.model import Effect, Kind
from advisor.prose.patterns import (
    ADVICE,
    CAPACITY_DRIVES,
    COPULA,
    DECIDES,
    FITS,
    NOT_BEFORE,
    OTHER_SIDE,
    OVER_ALL,
    PEAK_DECIDES,
    QUADRATIC,
    READS,
    REMOVING,
    SAME_AS_SHORT,
    SOME_AMOUNT,
    SOME_DIGIT,
    SOME_PEAK,
    UNUSED,
    UTILISATION,
)
from advisor.prose.premises import premises
from advisor.prose.replies import replies_in
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.tier_effects import tier_effects
from advisor.prose.users import AS_OWN
from advisor.prose.zeros import zeros_skipped


def _limit(text: str, clause: Clause) -> Effect | None:
    """Where a clause says that a step waits for arithmetic, or does not wait for memory."""
    if "different from" in text[clause.start : clause.end]:
        return None
    for named in limits_in(text, clause.start, clause.end):
        before = text[clause.start : named.start]
        not_so = not named.by_memory and _IS_NOT.search(text, named.start, named.end)
        if named.limit is Limit.COMPUTE and (
            not_so
            or _WHICHEVER.search(before)
            or _FOR_PRODUCTS.search(text, clause.start, named.end)
        ):
            continue  # "what limits us is not arithmetic"; "the phase that is limited by it"
        if named.limit is Limit.COMPUTE and not OTHER_SIDE.search(before):
            adjective = _ADJECTIVE.search(text, named.start, named.end) is not None
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


_EXCEPT: Final = Form(
    r" (?:but|except|apart from|beyond|save|in (?:quality|accuracy|perplexity|memory))\b"
)
"""After "cost nothing": what they do cost, or something other than time."""


def resource_effects(
    block: Block, sentence: Sentence, clause: Clause, names: set[str]
) -> Iterator[Effect]:
    """What a clause says of bytes, arithmetic and the cache, other than speed."""
    text = block.text[clause.start : clause.end]
    yield from tier_effects(block.text, sentence, clause)
    yield from premises(text, clause)
    skipped = zeros_skipped(text, clause, sentence.names)
    if skipped is not None:
        yield skipped
    driven = activations_decide(text, clause)
    if driven is not None:
        yield driven
    decides = DECIDES.search(text) if "ATTN" in names else None
    if decides is not None and names & {"TIME", "RATE", "DECODE", "SINGLE"}:
        yield Effect(Kind.DRIVER, clause.start + decides.start(), clause.start + decides.end())
    peak = PEAK_DECIDES.search(text) if "PEAK" in sentence.names else None
    if peak is not None and sentence.names.isdisjoint({"BYTES", "CAPACITY", "PREFILL"}):
        yield Effect(Kind.DRIVER, clause.start + peak.start(), clause.start + peak.end())
    sized = CAPACITY_DRIVES.search(text) if names & _OF_PACE else None
    if sized is not None:
        yield Effect(Kind.DRIVER, clause.start + sized.end() - 1, clause.start + sized.end())
    limit = _limit(block.text, clause) or limit_cell(block, clause)
    if limit is not None:
        yield limit
    used = UTILISATION.search(text) if names & {"PEAK", "DECODE", "FLOPS"} else None
    left = used is not None and (
        REMOVING.search(text, 0, used.start()) or UNUSED.match(text, used.end())
    )
    if used is not None and not left:
        share = float(used["low"] or used["other"]) / 100.0
        yield Effect(
            Kind.UTILISATION, clause.start + used.start(), clause.start + used.end(), share
        )
    pruned = not sentence.names.isdisjoint({"PRUNE", "MASK"})
    saved = saving(clause, text, pruned=pruned)
    if saved is not None and skipped is None:
        yield saved
    free = next(
        (
            tag for tag in clause.tags
            if tag.name == "FREE" and _EXCEPT.match(block.text, tag.end) is None
        ),
        None,
    )  # fmt: skip
    if free is not None:
        yield Effect(Kind.FREE, free.start, free.end)
    yield from cache_effects(block, sentence, clause, text, names)
    if "KV" in names and "FLOPS" not in names and (grown := QUADRATIC.search(text)) is not None:
        yield Effect(Kind.KV_SQUARE, clause.start + grown.start(), clause.start + grown.end())
    read = READS.search(text) if names & {"DECODE", "ROUTE", "MOE"} else None
    if read is None and (" all" in text or "very" in text or "each" in text):
        read = ALL_EXPERTS.search(text)
    read = read or (LIKE_DENSE.search(text) if SOME_DIGIT.search(text) is not None else None)
    whole = whole_read(text)
    if whole is not None or read is not None:
        start, end = whole or (read.span() if read is not None else (0, 0))
        yield Effect(Kind.READS, clause.start + start, clause.start + end)
    fits = FITS.search(text) if SOME_DIGIT.search(sentence.text) else None
    if fits is None and not sentence.names.isdisjoint({"MOE", "CAPACITY"}):
        fits = MEMORY_LIKE.search(text)
    if fits is not None:
        yield Effect(Kind.FITS, clause.start + fits.start(), clause.start + fits.end())
    if "PEAK" in names and "dense" in text.lower() and (peak := SOME_PEAK.search(text)) is not None:
        yield Effect(Kind.PEAK, clause.start + peak.start(), clause.start + peak.end())
    in_column = block.kind is BlockKind.CELL and _BARE.fullmatch(text) is not None
    as_own = AS_OWN.search(text)
    if as_own is not None:
        yield Effect(Kind.CARRIED, clause.start + as_own.start(), clause.start + as_own.end())
    replied = " second" in text and any(replies_in(text))
    if SOME_AMOUNT.search(text) is not None or (in_column and "GB" in block.column) or replied:
        yield Effect(Kind.AMOUNT, clause.start, clause.start + 1)
    if names & {"PEAK", "CAPACITY"} and (advice := ADVICE.search(text)) is not None:
        yield Effect(
            Kind.ADVICE,
            clause.start + advice.start(advice.lastindex or 0),
            clause.start + advice.end(),
        )
    of_speed = names & {"RATE", "TIME", "DECODE", "TOKENS", "SINGLE", "LONG", "KV", "FASTER"}
    if of_speed and (same := SAME_AS_SHORT.search(text)) is not None:
        yield Effect(Kind.KV_IGNORED, clause.start + same.start(), clause.start + same.end())
    over = OVER_ALL.search(text) if "%" in text else None
    if over is not None:
        yield Effect(
            Kind.OVER_ALL,
            clause.start + over.start(),
            clause.start + over.end(),
            float(over[1]) / 100.0,
        )


_BARE: Final = re.compile(r"\W*\d+(?:\.\d+)?\W*")
"""An amount whose unit stands in the header of its column."""
_OF_PACE: Final = frozenset({"CAPACITY", "RATE", "FASTER", "DECODE", "SINGLE", "TOKENS"})
