"""## What it does
Flags a KV cache kept on the host or on NVMe that every step reads over the link.

## Why is this bad
Attention reads the whole cache for every token. The 4.3 GB of an 8B at 32,000 tokens take 1.3 ms
from device memory and 172 ms over a link of 25 GB/s.

## Instead
Evict or quantize, or keep the cache of running sequences on the device and offload only idle ones.

## When this rule is wrong
A cache that comes back once with its prompt (prefix reuse, `evicted`) is no part of a step and is
not flagged. If it is all that makes the context fit, claim that.

## References
- LMCache: https://github.com/LMCache/LMCache
- Sheng et al.: FlexGen: https://arxiv.org/abs/2303.06865
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.levers.placement import OffloadLever
from advisor.rule import Rule
from advisor.wording import milliseconds, size

RULE = Rule(
    code="KV004",
    name="kv-offload-per-token",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=("offload",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 32k}
levers:
  - {«kind: offload», kv_cache: 4 GB, to: host, claim: 1.1x tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 32k}
levers:
  - {kind: offload, kv_cache: 4 GB, evicted: true, claim: 3x lower TTFT}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Caches that cross the link for every token."""
    for lever in audit.levers:
        idea, judged = lever.lever, lever.claim
        if not isinstance(idea, OffloadLever) or not idea.kv_cache or not promises_speed(lever):
            continue
        before, after = lever.before.estimate, lever.after.estimate
        host = lever.after.ledger.host_bytes
        if not host or after.tpot_ms.mid <= GRACE * before.tpot_ms.mid:
            continue
        gain = judged is not None and judged.speedup is not None
        if not before.fits and not gain:
            continue  # without it nothing runs
        yield RULE.on_lever(
            audit,
            lever,
            f"{size(host)} of cache cross the link for every token:"
            f" {milliseconds(after.tpot_ms.mid)} ms instead of {milliseconds(before.tpot_ms.mid)}",
            why="attention reads the whole cache for every token",
            instead=advice(audit, "evict or quantize; offload idle sequences only"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "host_bytes": host},
            severity=Severity.ERROR if gain else Severity.WARNING,
        )
