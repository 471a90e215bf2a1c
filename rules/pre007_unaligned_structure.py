"""## What it does
Flags an MLP width that is left by pruning and is no multiple of 64, or does not divide by the
tensor parallel degree in tiles of 64.

## Why is this bad
Matrix kernels work in tiles of 64 or 128. A ragged width pads its last tile, falls to a slower
kernel or breaks group-wise quantization; measured gains of width pruning at small batch are often
nothing for this reason.

## Instead
Round the width to a multiple of 128, or take out whole layers, which also saves fixed time.

## When this rule is wrong
A percentage is not judged: near each there is a width that fits. State `width` where it is exact.

## References
- Kim et al.: Shortened LLaMA: https://arxiv.org/abs/2402.02834
- NVIDIA: Matrix multiplication background, tile quantization:
  https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_any_speed
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.prune import Prune
from advisor.rule import Rule
from advisor.wording import percent

RULE = Rule(
    code="PRE007",
    name="unaligned-structure",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("prune",),
    flagged=(
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: prune», pattern: channels, sparsity: 29%, width: 7837, storage: removed}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: prune, pattern: channels, sparsity: 30%, width: 7680, storage: removed}
""",
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: prune, pattern: channels, sparsity: 29%, storage: removed}
""",
    ),
)

_TILE: Final = 64


def check(audit: Audit) -> Iterator[Finding]:
    """Exact widths that do not fill their tiles."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, Prune) or idea.width is None or idea.keeps_dense_bytes:
            continue
        ways = lever.after.deployment.parallelism.tensor
        unit = _TILE * ways
        ragged = idea.width % unit
        if not ragged or not promises_any_speed(lever):
            continue
        wasted = (unit - ragged) / (idea.width + unit - ragged)
        near = max(unit, round(idea.width / unit) * unit)
        yield RULE.on_lever(
            audit,
            lever,
            f"a width of {idea.width:,} is no multiple of {unit}: the last tile wastes"
            f" {percent(wasted)} of the work; {near:,} would fill it",
            why="matrix kernels work in tiles, and groups and shards must divide",
            instead=f"prune to {near:,}, or take out whole layers",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "width": idea.width, "aligned_width": near},
        )
