"""## What it does
Flags speculation on a mixture of experts at a batch where verifying the drafts reads nearly as many
more experts as it makes tokens.

## Why is this bad
Draft tokens are routed like any others. At batch 1 with 8 of 128 experts, four tokens touch 29
instead of 8: the pass reads 3.6 times the experts for the two or three tokens it yields. Gain comes
back at medium batch, where all experts are read anyway.

## Instead
One or two draft tokens (MTP), or speculation at a batch that touches most experts.

## When this rule is wrong
Routing within a sequence is correlated, so fewer experts are touched than independent routing
gives: the figure is an upper estimate, and a measured gain settles it.

## References
- MoESD: https://arxiv.org/abs/2505.19645
- MoE-Spec: https://arxiv.org/abs/2602.16052
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import expects_speed, lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.ledger.step import distinct_experts
from advisor.levers.speculate import Speculate
from advisor.operands import routed
from advisor.rule import Rule
from advisor.wording import digits, factor

RULE = Rule(
    code="SPC004",
    name="moe-verify-experts",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=("speculate",),
    flagged=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: speculate», method: EAGLE-3, draft_tokens: 5, acceptance: 60%, claim: 2.2x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 64, context: 1k}
levers:
  - {kind: speculate, method: MTP, draft_tokens: 1, acceptance: 80%, claim: 1.2x}
""",
    ),
)

_EATEN: Final = 0.7
"""Part of the tokens of a pass that reading more experts may take."""


def check(audit: Audit) -> Iterator[Finding]:
    """Verification that reads more experts than it saves passes."""
    for lever in audit.levers:
        found = routed(lever.after)
        if not isinstance(lever.lever, Speculate) or found is None or not expects_speed(lever):
            continue
        growth = lever.after.ledger.weight_bytes / lever.before.ledger.weight_bytes
        tokens = lever.after.estimate.tokens_per_step
        if growth <= _EATEN * tokens or growth < GRACE:
            continue
        before = distinct_experts(found.experts, found.top_k, lever.before.ledger.tokens)
        yield RULE.on_lever(
            audit,
            lever,
            f"verifying {lever.after.ledger.tokens} tokens touches {found.touched:.0f} of"
            f" {found.experts} experts a layer instead of"
            f" {before:.0f}: {factor(growth)} the weight bytes for"
            f" {digits(tokens, 2)} tokens a pass",
            why="draft tokens are routed like any others",
            instead="one or two draft tokens, or a batch that touches most experts",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "weight_bytes_ratio": growth},
        )
