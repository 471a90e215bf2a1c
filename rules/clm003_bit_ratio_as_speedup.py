"""## What it does
Flags a claimed speedup of weight quantization that is the ratio of the bits by name: 4x for INT4
over 16 bits, 2x for FP8.

## Why is this bad
Scales are stored beside the values, the output head mostly stays in 16 bits, the KV cache and the
fixed time per layer do not change. No published pair of measurements reaches 0.87 of the ratio of
the bits.

## Instead
Quote bytes and time apart: the ratio of the bytes is exact, the time follows from the model.

## When this rule is wrong
For one matrix product alone the ratio is nearly reached ("3.87x per GEMV"): say so. The rule is
silent where the model itself expects 0.87 of the ratio or more.

## References
- Frantar et al.: MARLIN: https://arxiv.org/abs/2408.11743
- PyTorch: Accelerating generative AI II: https://pytorch.org/blog/accelerating-generative-ai-2/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claim_numbers, claims_of, lever_facts, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.ledger.formats import parse_format
from advisor.rule import CLAIMS, Rule
from advisor.steps import Step
from advisor.wording import digits, factor, factors

RULE = Rule(
    code="CLM003",
    name="bit-ratio-as-speedup",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.QUANT_OVER_BYTE_RATIO,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: fp8, claim: «2x tokens/s»}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A10
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: int4-g128, claim: 3.87x per GEMV}
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: fp8, claim: 1.7x tokens/s}
""",
    ),
)

_NEAR: Final = 0.05
_MOST_MEASURED: Final = 0.87
"""Of the ratio of the bits: the most that a published pair of measurements reaches."""


def check(audit: Audit) -> Iterator[Finding]:
    """Claims that repeat the ratio of the bits."""
    for claim in claims_of(audit):
        lever, judged = claim.lever, claim.judged
        if lever is None or judged.metric != "tpot":
            continue
        speedup, possible, _ = judged.figures
        before, after = _bits(lever.before), lever.after.deployment.weights
        if after is None or after.element_bits >= before:
            continue
        nominal = before / after.element_bits
        if abs(speedup / nominal - 1.0) > _NEAR or judged.tpot_ms is not None:
            continue
        if lever.tpot.interval.mid >= _MOST_MEASURED * nominal:
            continue
        yield RULE.on_claim(
            audit,
            claim,
            f"{factor(nominal)} is the ratio of the bits; stored are {digits(after.bits)} bits a"
            f" weight, all bytes fall {factor(lever.byte_ratio)} and expected are"
            f" {factors(possible)}",
            why="scales, the output head, the cache and the fixed time do not shrink with the bits",
            instead=f"claim {factors(possible)}",
            facts=lever_facts(lever),
            numbers={**claim_numbers(audit, claim), "bits_ratio": nominal},
            confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
        )


def _bits(step: Step) -> float:
    """Bits by name of the linear layers."""
    deployment = step.deployment
    return (deployment.weights or parse_format(deployment.model.dtype)).element_bits
