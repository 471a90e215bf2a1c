"""## What it does
Flags FP8 arithmetic proposed for a part whose matrix units do not multiply FP8.

## Why is this bad
FP8 matrix math begins with compute capability 8.9 (Ada, Hopper). On an A100 engines fall back to
weight-only kernels: the weights are half the bytes, and the arithmetic stays at the 16-bit rate.
A gain that rests on doubled FLOPs is not there.

## Instead
Sell it as bytes, which it does halve, or use INT8 W8A8 where INT8 units exist.

## When this rule is wrong
An FP8 checkpoint for its bytes or memory is right on any part that can unpack it, and is not
flagged.

## References
- vLLM: FP8 quantization: https://docs.vllm.ai/en/latest/features/quantization/fp8.html
- NVIDIA Ampere architecture whitepaper:
  https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.catalog.features import multiplies
from advisor.evidence import claimed_over, lever_facts, lever_numbers, rests_on_arithmetic
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.quantize import Quantize
from advisor.rule import Rule
from advisor.wording import factor

RULE = Rule(
    code="HW001",
    name="fp8-math-unsupported",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PEAK_TFLOPS,
    about=(
        "quantize",
        "matmul_kernel",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 256, context: 512}
levers:
  - {«kind: quantize», weights: fp8, activations: fp8, claim: 2x throughput from FP8 tensor cores}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: fp8, claim: half the weight bytes}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 64, context: 512}
levers:
  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.3x throughput}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """FP8 math where no unit does it."""
    for lever in audit.levers:
        device = lever.after.deployment.hardware
        if not _is_fp8_math(lever) or multiplies(device, "fp8") is not False:
            continue
        relies = rests_on_arithmetic(lever)
        if not relies and not claimed_over(lever, lever.tpot.interval.mid):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{device.name} (sm{(device.compute_capability or '').replace('.', '')}) has no FP8"
            f" matrix units: bytes fall {factor(lever.byte_ratio)}, arithmetic stays at"
            f" {(device.peak_flops('bf16') or 0.0) / 1e12:,.0f} TFLOPS",
            why="FP8 matrix math begins with compute capability 8.9",
            instead="sell it as bytes, or use INT8 W8A8",
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
            severity=Severity.ERROR if relies else Severity.WARNING,
        )


def _is_fp8_math(lever: LeverAudit) -> bool:
    idea = lever.lever
    if isinstance(idea, Quantize):
        return "fp8" in (idea.activations or "")
    name = (getattr(idea, "name", None) or "").lower()
    return idea.kind == "matmul_kernel" and "fp8" in name
