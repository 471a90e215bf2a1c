"""## What it does
Flags a relative claim against a measured baseline that runs far slower than the same model does on
an engine with captured graphs.

## Why is this bad
Whatever is changed with the engine gets the engine's gain as well. A 7B in an eager loop ran 25
tokens/s on an A100 and four times that compiled; a sparse runtime's 7x was against dense FP32.

## Instead
Measure the baseline on the engine that will serve, in the number format that is served today.

## When this rule is wrong
If the slow baseline is what runs in production and the lever is the engine itself (graphs, fusion,
a compiler), the gain is real: such levers are not flagged. A small model at a third of the
bandwidth is no weak baseline: the limit is 1.5 times the high end of what is expected, not an MBU.

## References
- PyTorch: Accelerating generative AI II: https://pytorch.org/blog/accelerating-generative-ai-2/
- vLLM: Optimization and tuning: https://docs.vllm.ai/en/latest/configuration/optimization.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claim_numbers, claims_of, is_stated
from advisor.finding import Confidence, Finding, Severity
from advisor.judge import GRACE
from advisor.levers import Nature
from advisor.operands import well_run
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor, milliseconds, percent, span_of

RULE = Rule(
    code="CLM007",
    name="weak-baseline",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: transformers
measured: {tokens_per_second: 25}
levers:
  - {kind: quantize, weights: fp8, claim: «1.5x tokens/s»}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: vllm
measured: {tokens_per_second: 95}
levers:
  - {kind: prune, pattern: layers, sparsity: 25%, claim: 1.3x tokens/s}
""",
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: transformers
measured: {tokens_per_second: 25}
levers:
  - {kind: compile, claim: 1.1x tokens/s}
""",
    ),
)

_WEAK: Final = 1.5


def check(audit: Audit) -> Iterator[Finding]:
    """Factors over a measured baseline that the engine alone would beat."""
    measured = audit.context.measured_tpot_ms
    if measured is None or not is_stated(audit, "model", "hardware"):
        return
    usual = well_run(audit.baseline).estimate.tpot_ms
    if measured <= _WEAK * usual.high or audit.baseline.deployment.phase != "decode":
        return
    for claim in claims_of(audit):
        judged, lever = claim.judged, claim.lever
        if judged.speedup is None or judged.tpot_ms is not None or judged.speedup <= GRACE:
            continue
        if lever is not None and lever.lever.acts_on is Nature.OVERHEAD:
            continue
        yield RULE.on_claim(
            audit,
            claim,
            f"the baseline takes {milliseconds(measured)} ms a token, an engine with graphs"
            f" {span_of(usual)} ms: {factor(measured / usual.mid)} of any gain is the engine's"
            f" (MBU now {percent(audit.baseline.estimate.mbu)})",
            why="what changes with the engine gets the engine's gain as well",
            instead="measure the baseline on the engine that will serve",
            numbers={
                **claim_numbers(audit, claim),
                "measured_tpot_ms": measured,
                "usual_tpot_ms": usual.mid,
            },
        )
