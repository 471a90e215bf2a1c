"""Claims as people write them: "30% lower latency", "from 26 ms to 18 ms", "saves 35 GB".

`parse_claim` reads every claim of a text, in order, with its place; what cannot be read without
guessing comes back as `Unreadable` with the reason. `RULES` is the table of how each form is read;
the three that people disagree on:

- "30% lower latency" takes 0.7 of the time: 1 / (1 - 0.3) = 1.43x;
- "30% faster" and "30% higher throughput" are 1.30x;
- "30% slower" takes 1.3 times the time: 0.77x.

A resource (FLOPs, bytes, memory, parameters) is no time: a saving of it has no speedup.
`parse_context` reads batch, context, phase, devices and the conditions of a claim.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from advisor.claims.arithmetic import EXAMPLES
from advisor.claims.items import items_of, written_in
from advisor.claims.layout import Layout, Span
from advisor.claims.model import (
    RULES,
    Claim,
    ClaimReading,
    Kind,
    Rule,
    Scope,
    Stream,
    Unreadable,
)
from advisor.claims.reading import Reader
from advisor.claims.regime import (
    Aspect,
    Mention,
    Regime,
    mentioned,
    parse_context,
    regime_of,
)
from advisor.claims.words import Metric
from advisor.quantity import Dimension, Found
from advisor.quantity.lexing import Token

__all__ = [
    "RULES",
    "Aspect",
    "Claim",
    "ClaimReading",
    "Kind",
    "Mention",
    "Metric",
    "Regime",
    "Rule",
    "Scope",
    "Stream",
    "Unreadable",
    "parse_claim",
    "parse_context",
]

_CONDITIONS = frozenset({Aspect.BANDWIDTH_FRACTION, Aspect.ACCEPTANCE})
"""Shares that are a condition of a claim and none themselves."""


def parse_claim(text: str) -> ClaimReading:
    """Every claim in `text`, in order. Never raises; see `ClaimReading.reason`."""
    tokens, found, mentions = mentioned(text)
    items = items_of(tokens, found)
    spans = [Span(amount.first, amount.last) for amount in found]
    layout = Layout(tokens, spans + [item.span for item in items])
    conditions = {mention.end for mention in mentions if mention.aspect in _CONDITIONS}
    reader = Reader(text, layout, written_in(tokens, found))
    read: list[Claim | Unreadable] = list(reader.unchanged())
    read.extend(reader.read([item for item in items if item.end not in conditions]))
    read.extend(_tokens_per_pass(text, mentions))
    claims = [claim for claim in read if isinstance(claim, Claim)]
    claims.sort(key=lambda claim: (claim.start, claim.end))
    unreadable = [problem for problem in read if isinstance(problem, Unreadable)]
    if not claims and not unreadable:
        unreadable.append(_nothing(text, tokens, found))
    placed = _with_conditions(claims, mentions, layout)
    return ClaimReading(text, tuple(placed), tuple(unreadable), regime_of(mentions))


def _tokens_per_pass(text: str, mentions: Sequence[Mention]) -> list[Claim]:
    """2.3 accepted tokens per pass: what speculation is said to reach."""
    return [
        Claim(
            Metric.TOKENS_PER_PASS,
            Kind.ABSOLUTE,
            text[mention.start : mention.end],
            mention.start,
            mention.end,
            "absolute",
            value=mention.value,
            value_low=mention.low,
            value_high=mention.high,
            unit="tokens",
        )
        for mention in mentions
        if mention.aspect is Aspect.TOKENS_PER_PASS
    ]


def _with_conditions(
    claims: list[Claim], mentions: Sequence[Mention], layout: Layout
) -> list[Claim]:
    """Give each claim the conditions stated for it.

    A text with one claim states all for it. Else a condition belongs to the claims of its clause;
    one of a clause without a claim, to the claim before it in the sentence; one that opens the
    sentence, to all claims of the sentence.
    """
    if len(claims) < 2:
        return [replace(claim, conditions=regime_of(mentions)) for claim in claims]
    starts = [token.start for token in layout.tokens]
    by_clause: dict[int, list[int]] = {}
    by_sentence: dict[int, list[int]] = {}
    for number, claim in enumerate(claims):
        at = bisect_right(starts, claim.end - 1) - 1
        by_clause.setdefault(layout.clause[at], []).append(number)
        by_sentence.setdefault(layout.sentence[at], []).append(number)
    given: list[list[Mention]] = [[] for _ in claims]
    opening: dict[int, list[Mention]] = {}
    for mention in mentions:
        at = bisect_right(starts, mention.start) - 1
        owners = by_clause.get(layout.clause[at])
        if owners is None:
            numbers = by_sentence.get(layout.sentence[at], [])
            before = bisect_right(numbers, mention.start, key=lambda n: claims[n].start)
            if before == 0:
                opening.setdefault(layout.sentence[at], []).append(mention)
                continue
            owners = numbers[before - 1 : before]
        for owner in owners:
            given[owner].append(mention)
    placed = []
    regimes = {sentence: tuple(found) for sentence, found in opening.items()}
    for claim, own in zip(claims, given, strict=True):
        at = bisect_right(starts, claim.end - 1) - 1
        first = regimes.get(layout.sentence[at], ())
        placed.append(replace(claim, conditions=regime_of((*first, *own))))
    return placed


def _nothing(text: str, tokens: Sequence[Token], found: Sequence[Found]) -> Unreadable:
    """Why a text without a claim has none."""
    examples = f"write for example {EXAMPLES}, 1.8x, 83 tokens/s, TPOT 18 ms"
    if not tokens:
        return Unreadable(0, 0, "", f"the claim is empty: {examples}")
    if not found:
        start, end = tokens[0].start, tokens[-1].end
        return Unreadable(start, end, text[start:end], f"no amount is claimed: {examples}")
    first = next((amount for amount in found if not amount.bare), found[0])
    shown = text[first.start : first.end]
    if first.bare:
        reason = f"{shown} has no unit: {examples}"
    elif first.quantity.dimension is Dimension.RATIO:
        reason = f"{shown} of what, and which way? {examples}"
    else:
        reason = f"{shown} is a figure and no claim: {examples}"
    return Unreadable(first.start, first.end, shown, reason)
