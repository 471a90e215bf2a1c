"""What a clause says of bytes, arithmetic, the cache and what a step waits for, other than speed.

Each is one effect at most: a limit that is named, a utilisation, bytes or arithmetic that are saved
or read, a cost of nothing, a cache that is left out, room, a peak, advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.forms import Form
from advisor.prose.activations import activations_decide
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.cache_effects import cache_effects
from advisor.prose.cells import limit_cell
from advisor.prose.experts import ALL_EXPERTS, LIKE_DENSE, MEMORY_LIKE, whole_read
from advisor.prose.gains import saving
from advisor.prose.limit_effects import limit_effect
from advisor.prose.model import Effect, Kind
from advisor.prose.patterns import (
    ADVICE,
    CAPACITY_DRIVES,
    DECIDES,
    FITS,
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
    limit = limit_effect(block.text, clause) or limit_cell(block, clause)
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
