"""## What it does
Flags weights kept on the host or on NVMe that every token reads over the link, proposed for speed.

## Why is this bad
A PCIe 5 link moves 63 GB/s, the memory of an H100 3,350. Ten gigabytes over a PCIe 4 link are 400
ms for every token, against 3 ms from device memory.

## Instead
Quantize until it fits, use tensor parallelism, or compute the offloaded part on the host.

## When this rule is wrong
If it is what makes the model run at all, claim that it fits. With a very large batch the transfer
is shared by many tokens; on a coherent link (NVLink-C2C) it may pay: the rule is silent where the
model does not see a loss.

## References
- Sheng et al.: FlexGen: https://arxiv.org/abs/2303.06865
- Hugging Face Accelerate, big model inference:
  https://huggingface.co/docs/accelerate/concept_guides/big_model_inference
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE, JudgedClaim
from advisor.levers.placement import OffloadLever
from advisor.rule import Rule
from advisor.wording import milliseconds, size

RULE = Rule(
    code="CAP002",
    name="link-in-token-path",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=("offload",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: offload», weights: 10 GB, to: host, claim: 1.2x lower latency}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: offload, weights: 80 GB, to: host, claim: runs on one card}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Weights that cross the link for every token."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, OffloadLever) or not idea.weights or not promises_speed(lever):
            continue
        judged = lever.claim
        if judged is not None and judged.tpot_ms is not None:
            continue
        before, after = lever.before.estimate, lever.after.estimate
        if after.tpot_ms.mid <= GRACE * before.tpot_ms.mid:
            continue
        if not before.fits and not _claims_gain(judged):
            continue  # without it nothing runs
        moved_bytes = lever.after.ledger.host_bytes
        yield RULE.on_lever(
            audit,
            lever,
            f"{size(moved_bytes)} cross the link for every step: {milliseconds(after.tpot_ms.mid)}"
            f" ms a token instead of {milliseconds(before.tpot_ms.mid)}",
            why="a host link has a fiftieth of the bandwidth of device memory",
            instead=advice(audit, "quantize until it fits"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "host_bytes": moved_bytes},
            severity=Severity.ERROR if _claims_gain(judged) else Severity.WARNING,
        )


def _claims_gain(judged: JudgedClaim | None) -> bool:
    return judged is not None and (judged.speedup or 0.0) >= 1.0
