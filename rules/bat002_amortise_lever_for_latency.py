"""## What it does
Flags more sequences in a step, more replicas, pipeline stages or spread experts with a claim that
one user's tokens come faster.

## Why is this bad
A batch reads the weights once for all its sequences, which multiplies the tokens of all users
together. Each user still waits for the whole step, and the step grows by the caches of the others.
Pipeline stages run one after another for each token; replicas do not meet in one request at all.

## Instead
Claim throughput. For one user's latency: tensor parallelism, fewer bytes, speculation.

## When this rule is wrong
Under load, more slots cut the time a request waits in the queue: say so ("less queueing delay").
Fewer sequences per step do make each faster, and are not flagged.

## References
- Yu et al.: Orca, a distributed serving system for transformer-based generative models:
  https://www.usenix.org/conference/osdi22/presentation/yu
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.evidence import claim_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.levers import Nature
from advisor.rule import Rule
from advisor.wording import factor, milliseconds

RULE = Rule(
    code="BAT002",
    name="amortise-lever-for-latency",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.BATCHING_FOR_LATENCY,
    about=("batch", "pipeline_parallel", "data_parallel", "expert_parallel"),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: batch»
    batch: 32
    claim: 40% lower latency per token
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: {device: H100 SXM, count: 1}
workload: {phase: decode, batch: 1, context: 2048}
weights: fp8
levers:
  - «kind: pipeline_parallel»
    size: 4
    claim: 4x lower TPOT
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: batch
    batch: 32
    claim: 20x throughput
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 2048}
levers:
  - kind: batch
    batch: 32
    claim: 40% lower latency under load, because requests queue less
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Levers on throughput with claims on one user's latency."""
    for lever in audit.levers:
        if lever.lever.acts_on is not Nature.AMORTISE or not _claims_latency(lever):
            continue
        before, after = lever.before.estimate, lever.after.estimate
        yield RULE.on_lever(
            audit,
            lever,
            f"{lever.lever.label}: each user's token takes {milliseconds(before.tpot_ms.mid)} ms"
            f" before and {milliseconds(after.tpot_ms.mid)} ms after; {_throughput(lever)}",
            why="each user still waits for the whole step",
            instead=advice(audit, "claim throughput"),
            facts=claim_facts(lever.claim, lever.tpot.interval),
            numbers={
                **lever_numbers(lever),
                "throughput_ratio": lever.throughput.interval.mid,
            },
        )


def _claims_latency(lever: LeverAudit) -> bool:
    """Whether one stream is claimed to get faster than it does."""
    judged = lever.claim
    if judged is None or judged.metric != "tpot" or judged.speedup is None:
        return False
    return judged.speedup > GRACE * max(1.0, lever.tpot.interval.mid)


def _throughput(lever: LeverAudit) -> str:
    gain = lever.throughput.interval.mid
    if gain > GRACE:
        return f"what grows is the tokens of all users, {factor(gain)}"
    return "the tokens of all users grow with more sequences in flight"
