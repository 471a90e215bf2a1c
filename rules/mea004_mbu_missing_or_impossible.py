"""## What it does
Flags a measured rate that would need more than the peak bandwidth, and notes in strict mode which
part of the bandwidth a measurement comes to.

## Why is this bad
MBU, bytes per token over time and peak bandwidth, says what a measurement means: 0.6 to 0.9 waits
for memory, 0.2 to 0.4 for launches and host. Above 1 the bytes or the clock are wrong: another
format, speculation, a batch, a cache hit.

## Instead
Report GB per token and MBU beside tokens/s.

## When this rule is wrong
If several tokens leave a pass, or weights are narrower than stated, the bytes are not those that
were counted: state it.

## References
- Databricks: LLM inference performance engineering, MBU:
  https://www.databricks.com/blog/llm-inference-performance-engineering-best-practices
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.rule import MEASURED, Rule
from advisor.wording import milliseconds, percent, size

RULE = Rule(
    code="MEA004",
    name="mbu-missing-or-impossible",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(MEASURED,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: bf16
measured: «{tokens_per_second: 300}»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 512}
weights: bf16
measured: {tokens_per_second: 158}
""",
    ),
)

_LOW: Final = 0.5


def check(audit: Audit) -> Iterator[Finding]:
    """Measurements against the bytes that they imply."""
    measured, given = audit.context.measured_tpot_ms, audit.proposal.measured
    if measured is None or given is None or not is_stated(audit, "model", "hardware"):
        return
    step = audit.baseline
    if step.deployment.phase != "decode":
        return
    deployment = step.deployment
    bandwidth = deployment.hardware.bandwidth_gbs * 1e9
    read = step.ledger.memory_bytes / step.estimate.tokens_per_step
    implied = read / (measured / 1e3 * bandwidth)
    if _LOW <= implied <= GRACE:
        return
    over = implied > GRACE
    yield RULE.on_fact(
        audit,
        1,
        given.span,
        f"implied MBU {percent(implied)}: {size(step.estimate.bytes.memory)} in"
        f" {milliseconds(measured)} ms{_told(over)}",
        why="bytes per token over time is bandwidth, and that has a peak",
        instead="check format, batch and speculation" if over else "look at launches and host time",
        numbers={"mbu": implied, "measured_tpot_ms": measured},
        severity=None if over else Severity.INFO,
        confidence=None if is_stated(audit, "batch") or not over else Confidence.MEDIUM,
    )


def _told(over: bool) -> str:
    if over:
        return " is more than the memory delivers"
    return ": the step waits for fixed time, not for bandwidth and not for arithmetic"
