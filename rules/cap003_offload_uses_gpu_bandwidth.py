"""## What it does
Flags a token rate for a model with offloaded weights that only the device's own bandwidth would
allow.

## Why is this bad
What stays on the host is read over the link or from the host's DRAM, at 20 to 80 GB/s, and that
part sets the rate. An estimator that used the GPU's bandwidth said 80 tokens/s for an 80B with 3B
active; measured were 15.4, and the DRAM model gives 15.2.

## Instead
Model each tier by its own bandwidth, and measure.

## When this rule is wrong
If the offloaded experts are rarely routed to, fewer bytes cross the link than their share: state
the size that is read. If the host computes them, its DRAM bandwidth counts instead of the
link: that is a higher limit on PCIe 3 and 4.

## References
- KTransformers: https://github.com/kvcache-ai/ktransformers
- Kamahori et al.: Fiddler: https://arxiv.org/abs/2402.07033
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.levers.placement import OffloadLever
from advisor.rule import Rule
from advisor.wording import milliseconds, size

RULE = Rule(
    code="CAP003",
    name="offload-uses-gpu-bandwidth",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=("offload",),
    flagged=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: offload», weights: 40 GB, to: host, claim: 80 tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: offload, weights: 40 GB, to: host, claim: 8 tokens/s}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Rates that the link does not carry."""
    for lever in audit.levers:
        idea, judged = lever.lever, lever.claim
        if not isinstance(idea, OffloadLever) or judged is None or judged.tpot_ms is None:
            continue
        after = lever.after.estimate
        if not idea.weights or judged.tpot_ms * GRACE >= after.floor_tpot_ms:
            continue
        link = lever.after.deployment.hardware.host_link_gbs
        yield RULE.on_lever(
            audit,
            lever,
            f"{size(lever.after.ledger.host_bytes)} a step over a link of"
            f" {f'{link:g} GB/s' if link else 'the host'} take {milliseconds(after.floor_tpot_ms)}"
            f" ms at least, {1e3 / after.floor_tpot_ms:.3g} tokens/s, not"
            f" {1e3 / judged.tpot_ms:.3g}",
            why="each tier delivers at its own bandwidth",
            instead="model host DRAM and link apart from device memory",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "claimed_tpot_ms": judged.tpot_ms},
        )
