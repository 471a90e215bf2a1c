"""## What it does
Flags a factorisation whose two matrices hold as many bytes as the one they replace, or that is
multiplied back into it.

## Why is this bad
Rank r turns an (out, in) matrix into r x (out + in) values: fewer only below out x in / (out + in),
half the width of a square one. Multiplied back (LASER) the matrix is as large as before.

## Instead
A lower rank, or quantization, which at equal bytes usually loses less quality.

## When this rule is wrong
Multiplying back can raise quality; it saves nothing. State quality as the claim.

## References
- Wang et al.: SVD-LLM: https://arxiv.org/abs/2403.07378
- Sharma et al.: LASER, layer-selective rank reduction: https://arxiv.org/abs/2312.13558
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import expects_speed, lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.structure import LowRank
from advisor.operands import linear_bytes
from advisor.rule import Rule
from advisor.wording import factor, size

RULE = Rule(
    code="PRE005",
    name="factorisation-too-wide",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.FLOP_CUT,
    about=("low_rank",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: low_rank», rank: 3000, claim: 1.2x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: low_rank», rank: 512, storage: multiplied, claim: 1.5x decode}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: low_rank, rank: 1024, claim: 1.3x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Low rank that holds no fewer bytes."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, LowRank) or idea.rank is None or not expects_speed(lever):
            continue
        before, after = linear_bytes(lever.before), linear_bytes(lever.after)
        if after < before:
            continue
        multiplied = idea.storage == "multiplied"
        told = "multiplied back, the matrices hold" if multiplied else "the two factors hold"
        yield RULE.on_lever(
            audit,
            lever,
            f"rank {idea.rank}: {told} {factor(after / before)} of the bytes,"
            f" {size(before)} before and {size(after)} after",
            why="two thin matrices are smaller than one only below the break-even rank",
            instead=advice(audit, "a lower rank, stored as factors"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "bytes_ratio": after / before},
        )
