"""## What it does
Flags a token rate of a mixture of experts that holds only if the whole batch read the experts of
one token.

## Why is this bad
Each token is routed by itself. T tokens touch E x (1 - (1 - k/E)^T) experts of a layer: of 128 with
8 active, 8 at one token, 52 at eight, 112 at thirty-two. "Active parameters" is a figure for batch
1; speculation raises T as well.

## Instead
Count distinct experts, and batch until they are all read anyway.

## When this rule is wrong
Routing within one sequence is correlated, so fewer experts are touched than independent routing
gives: the rule leaves a margin of 0.6.

## References
- MoESD, speculation and mixtures of experts: https://arxiv.org/abs/2505.19645
- Qwen3 technical report: https://arxiv.org/abs/2505.09388
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claim_numbers, claims_of, step_of_claim
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.operands import alone_at_batch_1, routed
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor, milliseconds, size

RULE = Rule(
    code="MOE001",
    name="active-params-at-batch",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 32, context: 512}
claim: «450 tokens/s for each user»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 512}
claim: 150 tokens/s
""",
    ),
)

_CORRELATED: Final = 0.6
"""Least part of the expected distinct experts that correlated routing touches."""


def check(audit: Audit) -> Iterator[Finding]:
    """Rates that count one token's experts for many."""
    for claim in claims_of(audit):
        judged, step = claim.judged, step_of_claim(audit, claim)
        found = routed(step)
        if found is None or judged.tpot_ms is None or judged.metric != "tpot":
            continue
        floor, alone = step.estimate.floor_tpot_ms, alone_at_batch_1(step).estimate
        if judged.tpot_ms * GRACE >= _CORRELATED * floor or step.ledger.tokens == 1:
            continue
        if judged.tpot_ms * GRACE < alone.floor_ms / step.estimate.tokens_per_step:
            continue
        read, single = step.estimate.bytes.weights, alone.bytes.weights
        yield RULE.on_claim(
            audit,
            claim,
            f"{step.ledger.tokens} tokens touch {found.touched:.0f} of {found.experts} experts a"
            f" layer: {size(read)} of weights a step, {factor(read / single)} of batch 1, so"
            f" {milliseconds(floor)} ms at least",
            why="every token is routed by itself",
            instead="count distinct experts",
            numbers={**claim_numbers(audit, claim), "experts_touched": found.touched},
        )
