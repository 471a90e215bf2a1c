"""## What it does
Flags a split over devices after which collectives take more than a quarter of the step.

## Why is this bad
At small batch an all-reduce carries 16 KB. Its time is latency, 4 to 100 microseconds by the link,
twice a layer, and it does not shrink with the devices while everything else does. Over PCIe two
devices spent 71% of a step in it.

## Instead
Fewer devices, one-shot kernels over NVLink, all-reduces fused with the norms; or fewer bytes on one
device.

## When this rule is wrong
If the model does not fit on fewer devices, the split is needed and its cost is the price: the rule
is silent there. Large batches carry more per message.

## References
- vLLM issue 7579, all-reduce at batch 1: https://github.com/vllm-project/vllm/issues/7579
- NCCL tests: https://github.com/NVIDIA/nccl-tests
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.rule import Rule
from advisor.wording import factors, milliseconds, size

RULE = Rule(
    code="PAR002",
    name="alpha-bound-communication",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.TP_IGNORES_COMM,
    about=(
        "tensor_parallel",
        "context_parallel",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.2-3B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
weights: int4-g128
levers:
  - {«kind: tensor_parallel», size: 8}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: tensor_parallel, size: 4, claim: 2x}
""",
    ),
)

_MUCH: Final = 0.25
_WORTH: Final = 1.2
"""A split that gains less is not worth its devices."""


def check(audit: Audit) -> Iterator[Finding]:
    """Splits whose collectives eat what they save."""
    for lever in audit.levers:
        if lever.lever.kind not in RULE.about or not lever.before.estimate.fits:
            continue
        share = lever.after.estimate.shares.communication
        if share <= _MUCH or not promises_speed(lever):
            continue
        calls = lever.after.ledger.communication.all_reduces
        spent = share * lever.after.estimate.expected_ms.mid
        message = lever.after.ledger.communication.all_reduce_bytes
        yield RULE.on_lever(
            audit,
            lever,
            f"{calls:.0f} all-reduces of {size(message)} take {milliseconds(spent)} of the"
            f" {milliseconds(lever.after.estimate.expected_ms.mid)} ms step; the split brings"
            f" {factors(lever.tpot.interval)}",
            why="small messages ride the latency of the link",
            instead=advice(audit, "fewer devices, or one-shot collectives"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "communication_share": share},
            confidence=None if lever.tpot.interval.mid < _WORTH else Confidence.MEDIUM,
        )
