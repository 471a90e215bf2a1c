"""## What it does
Flags FP4 arithmetic proposed for a part whose matrix units do not multiply FP4.

## Why is this bad
FP4 matrix math begins with Blackwell (compute capability 10.0). Below it NVFP4 and MXFP4 run
weight-only: the bytes fall to 0.28, the arithmetic stays in 16 bits. Even on a B200 a checkpoint
with 16-bit activations (W4A16) runs that way.

## Instead
Sell it as bytes; check the checkpoint's quantization config for quantized activations.

## When this rule is wrong
FP4 for its bytes or memory is right anywhere it can be unpacked, and is not flagged.

## References
- NVIDIA Blackwell tuning guide: https://docs.nvidia.com/cuda/blackwell-tuning-guide/index.html
- vLLM: quantization: https://docs.vllm.ai/en/latest/features/quantization/index.html
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.catalog.features import multiplies
from advisor.evidence import claimed_over, lever_facts, lever_numbers, rests_on_arithmetic
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.rule import Rule
from advisor.wording import factor

RULE = Rule(
    code="HW002",
    name="fp4-math-unsupported",
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
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: quantize», weights: nvfp4, activations: nvfp4, claim: 4x FLOPs and 3x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 256, context: 512}
levers:
  - {«kind: quantize», weights: nvfp4, claim: 3x throughput from FP4 tensor cores}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: nvfp4, claim: a quarter of the weight memory}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """FP4 math where no unit does it."""
    for lever in audit.levers:
        device = lever.after.deployment.hardware
        if not _is_fp4(lever) or multiplies(device, "fp4") is not False:
            continue
        relies = rests_on_arithmetic(lever)
        if not relies and not claimed_over(lever, lever.tpot.ceiling):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{device.name} (sm{(device.compute_capability or '').replace('.', '')}) has no FP4"
            f" matrix units: it runs weight-only, bytes fall {factor(lever.byte_ratio)}, arithmetic"
            " stays in 16 bits",
            why="FP4 matrix math begins with compute capability 10.0",
            instead="sell it as bytes",
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
            severity=Severity.ERROR if relies else Severity.WARNING,
        )


def _is_fp4(lever: LeverAudit) -> bool:
    idea = lever.lever
    if idea.kind not in RULE.about:
        return False
    names = (getattr(idea, name, None) or "" for name in ("weights", "activations", "name"))
    return any("fp4" in name.lower() for name in names)
