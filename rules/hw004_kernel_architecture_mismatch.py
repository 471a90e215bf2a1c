"""## What it does
Flags a named kernel on an architecture it does not run on, and notes a device name that several
parts answer to where the verdict on a claim differs between them.

## Why is this bad
FlashAttention-3 needs Hopper, Marlin and FlashAttention-2 need Ampere or newer; elsewhere an engine
falls back to something slower, or refuses. "An A100" is 1,555 or 2,039 GB/s, an M3 Max 307 or 410:
a claim may be possible on one and not on the other.

## Instead
Name a kernel that the part has, and the part's full name.

## When this rule is wrong
A port for another architecture may exist under the same name: name the port. Ambiguous names are
only told where a claim's verdict hangs on them, in strict mode.

## References
- FlashAttention: https://github.com/Dao-AILab/flash-attention
- Marlin: https://github.com/IST-DASLab/marlin
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.catalog.features import Kernel, kernel_named
from advisor.corners import Corner, corners_of_devices
from advisor.finding import Confidence, Finding, Severity
from advisor.rule import OPEN_FACTS, Rule
from advisor.wording import factor

RULE = Rule(
    code="HW004",
    name="kernel-architecture-mismatch",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(
        "attention_kernel",
        "matmul_kernel",
        "quantize",
        "prune",
        "fuse",
        OPEN_FACTS,
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 64k}
levers:
  - {«kind: attention_kernel», name: FlashAttention-3, claim: 1.1x tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 64k}
levers:
  - {kind: attention_kernel, name: FlashAttention-2, claim: 2x lower TTFT}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: int4-g128, claim: 1.6x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Kernels without their architecture, and names of several parts."""
    for lever in audit.levers:
        kernel, device = _kernel(lever), lever.after.deployment.hardware
        if kernel is not None and kernel.runs_on(device) is False:
            yield RULE.on_lever(
                audit,
                lever,
                f"{kernel.label} needs {kernel.needs}; {device.name} is"
                f" sm{(device.compute_capability or '').replace('.', '')}",
                why="an engine falls back to a slower kernel, or refuses",
                instead="name a kernel that this part has",
                facts=(("source", kernel.source),),
                numbers={
                    "compute_capability": device.compute_capability,
                    "least_compute_capability": kernel.min,
                },
            )
    yield from _ambiguous(audit)


def _kernel(lever: LeverAudit) -> Kernel | None:
    idea = lever.lever
    for field in ("kernel", "name", "mode"):
        name = getattr(idea, field, None)
        if isinstance(name, str) and (found := kernel_named(name)) is not None:
            return found
    return None


def _ambiguous(audit: Audit) -> Iterator[Finding]:
    for lever in audit.levers:
        corners = corners_of_devices(audit, lever)
        verdicts = {one.judged.claim.verdict for one in corners if one.judged.claim is not None}
        if len(verdicts) < 2:
            continue
        low, high = min(corners, key=_bandwidth), max(corners, key=_bandwidth)
        yield RULE.on_lever(
            audit,
            lever,
            f"{audit.context.facts['hardware'].value} may be {low.hardware}"
            f" ({low.bandwidth_gbs:,.0f} GB/s, {factor(low.speedup)}) or {high.hardware}"
            f" ({high.bandwidth_gbs:,.0f} GB/s, {factor(high.speedup)}): the verdict changes",
            why="several parts answer to the name",
            instead="give the part's full name",
            numbers={"low_gbs": low.bandwidth_gbs, "high_gbs": high.bandwidth_gbs},
            severity=Severity.INFO,
        )


def _bandwidth(corner: Corner) -> float:
    return corner.bandwidth_gbs
