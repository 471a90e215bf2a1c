"""## What it does
Flags 2:4 sparsity, proposed for speed, on a part without sparse matrix units.

## Why is this bad
The 2:4 pattern is what the sparse matrix units of Ampere and later take. On a V100 or T4 no kernel
skips the zeros, and the dense product is all there is.

## Instead
Dense INT8 or INT4 weights.

## When this rule is wrong
CDNA 3 and RDNA 4 have the instructions, though no mainstream LLM kernel uses them: these parts are
not flagged. A format of your own that stores 2:4 without the units is a packed format: name its
kernel.

## References
- NVIDIA: Accelerating inference with sparsity, Ampere:
  https://developer.nvidia.com/blog/accelerating-inference-with-sparsity-using-ampere-and-tensorrt/
- Mishra et al.: Accelerating sparse deep neural networks: https://arxiv.org/abs/2104.08378
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import expects_speed, lever_facts, lever_numbers, weights_read
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.prune import Prune
from advisor.rule import Rule

RULE = Rule(
    code="HW003",
    name="sparse24-unsupported",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPARSITY_24,
    about=("prune",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: V100 SXM2 32GB
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: prune», pattern: "2:4", storage: 2:4-packed, claim: 1.3x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: int4-g128
engine: torchao
levers:
  - {kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: sparse-marlin, claim: 1.15x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """2:4 on parts without its units."""
    for lever in audit.levers:
        idea, device = lever.lever, lever.before.deployment.hardware
        if not isinstance(idea, Prune) or idea.pattern != "2:4" or idea.keeps_dense_bytes:
            continue
        if device.sparse_24_tensor_cores is not False or not expects_speed(lever):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{device.name} has no 2:4 matrix units: dense kernels read all"
            f" {weights_read(lever.before)} of weights, 1.00x",
            why="sparse matrix units begin with Ampere",
            instead=advice(audit, "dense int8 or int4 weights"),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )
