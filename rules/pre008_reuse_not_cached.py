"""## What it does
Flags weights or caches used several times and claimed to be read once: shared layers, caches shared
by layers, weights "in L2".

## Why is this bad
Between two uses everything else of a step passes the cache. A bf16 layer of an 8B is 436 MB, the
last cache of a B200 126 MB, of an H100 50 MB: by the next use the block is gone and is read again.
Sharing parameters saves memory, not traffic.

## Instead
Claim memory. To save reads, repeat a block at once and make it smaller than half the last cache.

## When this rule is wrong
If the shared block fits twice into the last cache and its uses follow each other, or on machines
that keep all weights in SRAM: the rule is silent where they fit.

## References
- Lan et al.: ALBERT: https://arxiv.org/abs/1909.11942
- Liu et al.: MobileLLM, immediate block-wise sharing: https://arxiv.org/abs/2402.14905
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.structure import AttentionVariant
from advisor.operands import linear_bytes
from advisor.rule import Rule
from advisor.wording import size

RULE = Rule(
    code="PRE008",
    name="reuse-not-cached",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=(
        "share_weights",
        "attention",
        "cache_residency",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: share_weights», times: 2, claim: half the latency}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: cache_residency», claim: 2x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 32k}
levers:
  - {«kind: attention», variant: cross_layer, layers: 2, claim: 1.5x tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: share_weights, times: 2, claim: 45% less memory}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 32k}
levers:
  - {kind: attention, variant: cross_layer, layers: 2, claim: half the KV cache memory}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Blocks used again that no cache keeps."""
    for lever in audit.levers:
        idea = lever.lever
        if isinstance(idea, AttentionVariant) and idea.variant != "cross_layer":
            continue
        if idea.kind not in RULE.about or not promises_speed(lever):
            continue
        deployment = lever.before.deployment
        cache_bytes = (deployment.hardware.llc_mb or 0.0) * 1e6
        cached = idea.kind == "attention"
        ledger, layers = lever.before.ledger, max(deployment.model.layer_count, 1)
        block = (ledger.kv_read_bytes if cached else linear_bytes(lever.before)) / layers
        whole = idea.kind == "cache_residency"
        held = ledger.weight_bytes if whole else block
        if held <= cache_bytes / 2.0:
            continue
        what = "a layer's cache" if cached else "a step's weights" if whole else "a layer's weights"
        yield RULE.on_lever(
            audit,
            lever,
            f"{what} of {size(held)} do not stay in {size(cache_bytes)} of last-level cache: they"
            f" are read at every use, {size(lever.after.estimate.bytes.memory)} a step as before",
            why="between two uses everything else of the step passes the cache",
            instead=advice(audit, "claim memory"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "block_bytes": held, "cache_bytes": cache_bytes},
        )
