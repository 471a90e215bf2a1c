"""## What it does
Flags the speedup of one kernel told as the speedup of decoding, and notes gains below 3%, which one
run does not show.

## Why is this bad
A kernel is a part of the step: 8x on an attention that is 5% of it is 1.05x. Runs of the same build
differ by one to three percent.

## Instead
Report the step with its repeats; for a lever that changes outputs, the evaluation as well.

## When this rule is wrong
If the kernel is nearly all of the step (attention at very long context), its gain carries over: the
rule compares with what the model expects.

## References
- Amdahl: Validity of the single processor approach: https://doi.org/10.1145/1465482.1465560
- Hoefler and Belli: Scientific benchmarking of parallel computing systems:
  https://doi.org/10.1145/2807591.2807644
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.claims import Scope
from advisor.evidence import claim_numbers, claims_of, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.operands import claims_in
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor, milliseconds, percent

RULE = Rule(
    code="MEA006",
    name="kernel-or-quality-extrapolated",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: fuse, mode: attention, claim: "«8x faster attention kernel, so 8x tokens/s»"}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 64k}
levers:
  - {kind: attention_kernel, name: split-KV, claim: 8x faster attention kernel}
""",
    ),
)

_SAME: Final = 0.05
_NOISE: Final = 1.03


def check(audit: Audit) -> Iterator[Finding]:
    """Kernel gains told as gains of a step, and gains within the noise."""
    for claim in claims_of(audit):
        read = claims_in(claim.judged)
        kernel = next(
            (one.speedup for one in read if one.scope is Scope.KERNEL and one.speedup), None
        )
        whole = next(
            (one.speedup for one in read if one.scope is not Scope.KERNEL and one.speedup), None
        )
        lever = claim.lever
        possible = lever.tpot if lever is not None else None
        if kernel and whole and possible and abs(whole / kernel - 1.0) <= _SAME:
            if whole <= GRACE * possible.interval.high:
                continue
            yield RULE.on_claim(
                audit,
                claim,
                f"{factor(kernel)} of one kernel is not {factor(whole)} of the step: of its"
                f" {milliseconds(audit.baseline.estimate.expected_ms.mid)} ms the lever touches"
                f" {percent(1.0 - 1.0 / possible.ceiling)}, {factor(possible.ceiling)} at most",
                why="a kernel is a part of the step",
                instead="report the time per token",
                numbers={**claim_numbers(audit, claim), "kernel_speedup": kernel},
                confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
            )
        elif claim.judged.speedup is not None and 1.0 < claim.judged.speedup < _NOISE:
            yield RULE.on_claim(
                audit,
                claim,
                f"{factor(claim.judged.speedup)} is within the spread of one run (1-3%)",
                why="runs of the same build differ by as much",
                instead="give repeats and their spread",
                numbers=claim_numbers(audit, claim),
                severity=Severity.INFO,
            )
