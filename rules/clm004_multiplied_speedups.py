"""## What it does
Flags a claim for several levers that is the product of what is claimed for each.

## Why is this bad
Each lever shortens a part of the step, and leaves the next one a step of other parts. Narrower
weights make the fixed time a larger share, so a draft head that gives 2.15x on 16 bits gives 1.74x
on 4. Levers on one resource (two on the weights) share it.

## Instead
Judge the stack as one deployment: that is what the line "all together" of an audit is.

## When this rule is wrong
If the levers act on different metrics (time to first token, time per token), nothing is multiplied.
The rule is silent where the joint model comes within 15% of the product.

## References
- PyTorch: gpt-fast, measured stacks: https://github.com/pytorch-labs/gpt-fast
- Amdahl: Validity of the single processor approach: https://doi.org/10.1145/1465482.1465560
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claim_facts, claim_numbers, claims_of, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor, factors

RULE = Rule(
    code="CLM004",
    name="multiplied-speedups",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
claim: «3.8x tokens/s»
levers:
  - {kind: quantize, weights: fp8, claim: 1.6x}
  - {kind: quantize, weights: int4-g128, claim: 2.4x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
claim: 1.9x tokens/s
levers:
  - {kind: quantize, weights: fp8, claim: 1.5x}
  - {kind: prune, pattern: layers, sparsity: 25%, storage: removed, claim: 1.3x}
""",
    ),
)

_SHARE_OF_PRODUCT: Final = 0.95
_JOINT: Final = 0.85


def check(audit: Audit) -> Iterator[Finding]:
    """Claims for all levers that are the product of the levers' claims."""
    singles = [
        lever.claim.speedup
        for lever in audit.levers
        if lever.claim is not None and lever.claim.metric == "tpot" and lever.claim.speedup
    ]
    if len(singles) < 2:
        return
    product = math.prod(singles)
    joint = audit.speedup
    for claim in claims_of(audit):
        judged = claim.judged
        if claim.lever is not None or judged.metric != "tpot":
            continue
        if judged.figures[0] < _SHARE_OF_PRODUCT * product or joint.mid >= _JOINT * product:
            continue
        told = " x ".join(f"{one:.2f}" for one in singles)
        yield RULE.on_claim(
            audit,
            claim,
            f"{told} = {factor(product)} multiplies single speedups; jointly the levers bring"
            f" {factor(joint.mid)} ({factors(joint)})",
            why="each lever leaves the next a step of other shares",
            instead=f"claim {factors(joint)} for all together",
            facts=claim_facts(judged, joint),
            numbers={**claim_numbers(audit, claim), "product_of_claims": product},
            confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
        )
