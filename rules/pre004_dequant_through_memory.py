"""## What it does
Flags packed weights that are expanded to 16 bits in memory before they are multiplied, proposed for
speed.

## Why is this bad
The packed form is read, the wide form written, and the wide form read again: 2.3 times the traffic
of plain 16-bit weights for 4.5 bits. bitsandbytes has a fused kernel for one row only; with more
rows it expands and multiplies. Lossless compression that expands to memory does the same.

## Instead
A kernel that expands in registers: Marlin, Machete, GemLite, tinygemm, llama.cpp.

## When this rule is wrong
If the point is to fit the model, claim memory. At one row bitsandbytes 0.40 and later has its fused
kernel, and the rule is silent.

## References
- bitsandbytes documentation: https://huggingface.co/docs/bitsandbytes/main/en/index
- DFloat11, lossless compression of LLM weights: https://arxiv.org/abs/2504.11651
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.evidence import expects_speed, lever_facts, lever_numbers
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.quantize import Quantize
from advisor.rule import Rule
from advisor.wording import digits, factor

RULE = Rule(
    code="PRE004",
    name="dequant-through-memory",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(
        "quantize",
        "compress",
    ),
    flagged=(
        """\
rooflint: 1
model: Mistral-7B-v0.1
hardware: RTX 4090
workload: {phase: decode, batch: 8, context: 1k}
levers:
  - {«kind: quantize», weights: nf4, claim: 2x lower TPOT}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: compress», ratio: 70%, claim: 1.4x tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Mistral-7B-v0.1
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 1k}
levers:
  - {kind: quantize, weights: nf4, claim: fits in 8 GB}
""",
        """\
rooflint: 1
model: Mistral-7B-v0.1
hardware: RTX 4090
workload: {phase: decode, batch: 8, context: 1k}
levers:
  - {kind: quantize, weights: nf4, claim: 70% less memory}
""",
    ),
)

_WIDE_BITS: Final = 16.0


def check(audit: Audit) -> Iterator[Finding]:
    """Weights that pass memory packed and wide."""
    for lever in audit.levers:
        bits = _expanded_bits(lever)
        if bits is None or not expects_speed(lever):
            continue
        traffic = (bits + 2.0 * _WIDE_BITS) / _WIDE_BITS
        yield RULE.on_lever(
            audit,
            lever,
            f"at {lever.after.ledger.tokens} rows the {digits(bits)}-bit weights are read, written"
            f" in 16 bits and read again: {factor(traffic)} the traffic of plain 16-bit weights",
            why="what is expanded to memory crosses it two more times",
            instead=advice(audit, "a kernel that expands in registers"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "traffic_ratio": traffic},
        )


def _expanded_bits(lever: LeverAudit) -> float | None:
    """Stored bits of weights that a step expands through memory; None where none are."""
    idea, form = lever.lever, lever.after.deployment.weights
    if not isinstance(idea, Quantize):
        from advisor.levers.storage import Compress  # noqa: PLC0415 - few proposals need it

        expands = isinstance(idea, Compress) and not idea.in_kernel
        return form.bits if expands and form is not None else None
    if idea.weights is None or form is None:
        return None
    unfused = form.family == "bnb-nf4" and idea.kernel is None
    return form.bits if unfused and lever.after.ledger.tokens > 1 else None
