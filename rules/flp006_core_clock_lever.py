"""## What it does
Flags a higher core clock or power limit, proposed to make decode at small batch faster.

## Why is this bad
The core clock sets how fast the matrix units multiply; the memory has a clock of its own. A step
that waits for bytes ends no sooner, and cards in decode draw far less than their power limit: 137
to 300 of 700 W on an H200.

## Instead
Raise the memory clock where the part allows it, or lower the core clock and save the energy.

## When this rule is wrong
Prefill and large batches do follow the core clock. A GDDR card held under about three quarters of
its power loses bandwidth as well (an RTX 4090 at half its power kept 83%), so lifting such a cap
by a third or more is not flagged on these cards.

## References
- The illusion of power capping in LLM decode: https://arxiv.org/abs/2605.11999
- NVIDIA System Management Interface, clocks: https://docs.nvidia.com/deploy/nvidia-smi/index.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import arithmetic_of, lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.host import Clocks
from advisor.rule import Rule

RULE = Rule(
    code="FLP006",
    name="core-clock-lever",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PEAK_TFLOPS,
    about=("clocks",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: clocks», core: +10%, claim: 1.1x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H200
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: clocks», power: +40%, claim: 15% faster decode}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 3090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: clocks, memory: +10%, claim: 1.08x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: clocks, power: 2x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: clocks, core: +10%, claim: 1.08x lower TTFT}
""",
    ),
)

_WAITS: Final = 0.05
"""Part of the step from which arithmetic is worth a clock."""
_FREED: Final = 1.33
"""A power limit raised from under three quarters of the full one."""


def check(audit: Audit) -> Iterator[Finding]:
    """Core clocks and power limits where a step waits for memory."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, Clocks) or idea.memory is not None or not promises_speed(lever):
            continue
        step = lever.before.estimate
        if step.shares.compute > _WAITS or lever.before.deployment.phase != "decode":
            continue
        device = lever.before.deployment.hardware
        if (idea.power or 1.0) >= _FREED and device.hardware_class.endswith("-gddr"):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{idea.label}: memory still delivers {device.bandwidth_gbs:,.0f} GB/s, and"
            f" arithmetic takes {arithmetic_of(lever.before)}; expect 0.98-1.02x",
            why="the memory has a clock of its own, and the step waits for it",
            instead=advice(audit, "raise the memory clock, or save energy with a lower core clock"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "bandwidth_gbs": device.bandwidth_gbs},
        )
