"""## What it does
Flags a batch and context whose KV cache does not fit beside the weights, with all levers applied.

## Why is this bad
The weights are kept once, each sequence's cache on top: 131 KB a token for an 8B with 8 KV heads in
16 bits, 1.1 TB for 256 sequences of 32,000 tokens. An engine will preempt, swap or refuse long
before the batch is reached, so its gain is never seen.

## Instead
A narrower cache, shorter contexts, more devices: propose them in the same file.

## When this rule is wrong
If sequences are mostly shorter than stated, state the mean context. The limits of an engine's
configuration are upper bounds and not judged. Where the weights alone do not
fit, nothing about the batch is wrong: that is told in strict mode only.

## References
- Kwon et al.: PagedAttention: https://arxiv.org/abs/2309.06180
- NVIDIA H100 product page, memory: https://www.nvidia.com/en-us/data-center/h100/
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import is_stated
from advisor.finding import Confidence, Finding, Severity
from advisor.judge import GRACE
from advisor.operands import place_of_fact
from advisor.rule import MEMORY, Rule
from advisor.wording import size

RULE = Rule(
    code="BAT004",
    name="batch-does-not-fit",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(MEMORY,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: «256», context: 32k}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 256, context: 1k}
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: int4-g128, claim: fits one card}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """More sequences than memory holds."""
    if not is_stated(audit, "model", "hardware", "batch", "context"):
        return
    if audit.proposal.kind == "configuration":
        return  # its limits are upper bounds, not what is served
    step = audit.combined
    capacity, deployment = step.estimate.capacity, step.deployment
    if capacity.needed_bytes <= GRACE * capacity.available_bytes:
        return
    most = capacity.largest_batch * deployment.parallelism.data
    needed, room = capacity.needed_bytes, capacity.available_bytes
    whole = f"{size(needed)} are needed on each device, {size(room)} are there"
    told = f"at most {most:,} sequences of {deployment.context:,} tokens fit"
    alone = "the weights alone do not fit"
    yield RULE.on_fact(
        audit,
        0,
        place_of_fact(audit, "batch", "hardware"),
        f"{whole}: {told if most else alone}",
        why="each sequence keeps a cache of its own beside the weights",
        instead="a narrower cache or weights, shorter contexts, or more devices",
        numbers={
            "needed_bytes": needed,
            "available_bytes": room,
            "kv_bytes_per_sequence": capacity.per_sequence_bytes,
            "largest_batch": most,
        },
        confidence=None if most else Confidence.MEDIUM,
    )
