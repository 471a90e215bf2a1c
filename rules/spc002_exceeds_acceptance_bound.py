"""## What it does
Flags a speedup of speculation above the tokens that leave a pass: what acceptance and draft length
give, or draft tokens and one.

## Why is this bad
One pass over the weights yields E = (1 - a^(g+1)) / (1 - a) tokens at acceptance a with g draft
tokens, and never more than g + 1. Drafting and verifying take time on top, so the speedup stays
below E.

## Instead
Claim E / (g c + v), where c is the time of a draft token and v that of the verification, in steps.

## When this rule is wrong
For a tree the draft length is its depth, and the tokens it verifies count in v: state the depth or
the measured tokens per pass.

## References
- Leviathan et al.: Fast inference from transformers via speculative decoding:
  https://arxiv.org/abs/2211.17192
- Li et al.: EAGLE-3: https://arxiv.org/abs/2503.01840
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.rule import Rule
from advisor.wording import digits, factor, factors

RULE = Rule(
    code="SPC002",
    name="exceeds-acceptance-bound",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=(
        "speculate",
        "block_decoding",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: speculate», method: EAGLE-3, draft_tokens: 3, acceptance: 80%, claim: 5x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
levers:
  - {«kind: speculate», method: ngram, draft_tokens: 5, tokens_per_pass: 1.4, claim: 2x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE, draft_tokens: 60, tokens_per_pass: 4.5, claim: 2.5x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE-3, draft_tokens: 5, tokens_per_pass: 3.4, claim: 2.3x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Claims above the tokens of a pass."""
    for lever in audit.levers:
        drafting, judged = lever.after.deployment.speculation, lever.claim
        if drafting is None or lever.lever.kind not in RULE.about or judged is None:
            continue
        claimed = judged.speedup
        most, drafted = drafting.tokens_per_pass, drafting.draft_tokens + 1.0
        stated = "draft_tokens" in lever.proposed.spans
        limit = most if most is not None else drafted
        if claimed is None or judged.tpot_ms is not None or claimed <= GRACE * limit:
            continue
        if most is None and not stated:
            continue
        told = f"{digits(limit, 2)} tokens leave a pass" if most else f"{limit:.0f} at most"
        yield RULE.on_lever(
            audit,
            lever,
            f"{factor(claimed)} is claimed of {drafting.draft_tokens} draft tokens:"
            f" {told}, and drafting and verifying take time; expected"
            f" {factors(lever.tpot.interval)}",
            why="no token leaves without a pass that verified it",
            instead=f"claim {factors(lever.tpot.interval)}",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "tokens_per_pass": limit},
        )
