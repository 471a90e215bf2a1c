"""## What it does
Flags packed sparse weights at a sparsity where the format holds as many bytes as dense weights, or
where no kernel for it is faster than the dense one.

## Why is this bad
A format stores where the values stand beside the values. A bitmap costs one bit a place: it breaks
even at 6% sparsity in 16 bits, at 25% in 4 bits. CSR stores an index with each value: 50% with
16-bit columns, 67% with 32-bit ones, and more for narrower values. Irregular reads cost bandwidth
on top, so kernels win later than bytes do.

## Instead
More sparsity, a bitmap, or plain quantization, which has no break-even.

## When this rule is wrong
If your kernel has been measured faster at this sparsity, on this device and at this batch: name it
and give the measurement. Kernel break-evens are published figures for consumer cards at batch 1.

## References
- Fan et al.: SpInfer: https://doi.org/10.1145/3689031.3717481
- MACKO, sparse matrix-vector products for low sparsity: https://arxiv.org/abs/2511.13061
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.catalog.features import BreakEven, break_even
from advisor.evidence import expects_speed, lever_facts, lever_numbers
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.prune import Prune
from advisor.operands import linear_bytes
from advisor.rule import Rule
from advisor.wording import factor, percent

RULE = Rule(
    code="PRE002",
    name="below-break-even",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("prune",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: prune», sparsity: 50%, storage: csr32, kernel: cuSPARSE, claim: 1.5x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: prune, sparsity: 50%, storage: macko, kernel: MACKO, claim: 1.4x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: prune, sparsity: 60%, storage: bitmap, kernel: SpInfer}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Packed formats that hold no fewer bytes, or below their kernel's break-even."""
    for lever in audit.levers:
        idea = lever.lever
        sparsity = lever.after.deployment.sparsity
        if not isinstance(idea, Prune) or sparsity is None or idea.pattern != "unstructured":
            continue
        if not sparsity.storage.skips_zeros or not expects_speed(lever):
            continue
        before, after = linear_bytes(lever.before), linear_bytes(lever.after)
        kernel = break_even(sparsity.storage.name)
        more = after >= before
        early = kernel is not None and sparsity.fraction < kernel.sparsity
        crowded = kernel is not None and lever.after.ledger.tokens > kernel.tokens
        if not (more or early or crowded):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{sparsity.storage.name} at {percent(sparsity.fraction)} zeros holds"
            f" {factor(after / before)} of the dense bytes{_kernel(kernel, lever)}",
            why="places are stored beside values, and irregular reads cost bandwidth",
            instead=advice(audit, "more sparsity, or a bitmap with its kernel"),
            facts=lever_facts(lever),
            numbers={
                **lever_numbers(lever),
                "bytes_ratio": after / before,
                "kernel_break_even_percent": 100.0 * kernel.sparsity if kernel else None,
            },
            severity=Severity.ERROR if more else Severity.WARNING,
        )


def _kernel(kernel: BreakEven | None, lever: LeverAudit) -> str:
    if kernel is None:
        return ""
    tokens = lever.after.ledger.tokens
    if tokens > kernel.tokens:
        return f"; its kernels hold to {kernel.tokens} tokens a step, here are {tokens}"
    return f"; its kernels are faster than dense from {percent(kernel.sparsity)}"
