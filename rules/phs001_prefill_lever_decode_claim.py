"""## What it does
Flags ideas that act on the prompt (attention kernels, prefix caches, chunked prefill, separate
prefill workers) with a claim on the time per output token.

## Why is this bad
A decode step attends with one query per sequence: there is no S x S score matrix to avoid, and at
short context the cache is a few percent of what the step reads. A prefix cache skips work before
the first token and nothing after it; the reused keys and values are read in every step all the
same. So the most an attention kernel can bring is 1 / (1 - KV share of the step).

## Instead
Claim time to first token. For decode at long context, propose what reads less cache: FP8 KV,
fewer KV heads, a window; or a kernel that splits the cache of one sequence over the device.

## When this rule is wrong
Chunked and separate prefill keep other requests' prompts out of a decode step, which shortens the
tail of inter-token latency under load. The rule flags them at batch 1 only, where there are no
others. At long context an attention kernel matters, and a claim within the KV share is silent.

## References
- Dao et al.: Flash-Decoding for long-context inference:
  https://pytorch.org/blog/flash-decoding/
- Agrawal et al.: Sarathi-Serve, taming throughput-latency tradeoff: https://arxiv.org/abs/2403.02310
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.claims import Metric, Stream
from advisor.evidence import (
    claimed_over,
    hangs_on_other_requests,
    is_stated,
    lever_facts,
    lever_numbers,
    promises_speed,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.rule import Rule
from advisor.wording import factor, percent, size

RULE = Rule(
    code="PHS001",
    name="prefill-lever-decode-claim",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PREFILL_DECODE,
    about=("attention_kernel", "prefix_cache", "chunked_prefill", "disaggregate"),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 1k}
levers:
  - «kind: attention_kernel»
    name: FlashAttention-3
    claim: 1.5x faster token generation
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 4k}
levers:
  - «kind: prefix_cache»
    claim: 2x tokens/s per user
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 4k}
levers:
  - kind: prefix_cache
    claim: 3x lower TTFT
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 64k}
levers:
  - kind: attention_kernel
    name: split-KV
    claim: 1.2x tokens/s
""",
    ),
)

_PER_TOKEN = frozenset({Metric.TPOT, Metric.TOKENS_PER_SECOND})


def check(audit: Audit) -> Iterator[Finding]:
    """Levers on the prompt with claims on decode."""
    for lever in audit.levers:
        kind = lever.lever.kind
        if kind not in RULE.about or not _claims_decode(audit, lever):
            continue
        attention = kind == "attention_kernel"
        if attention and not is_stated(audit, "context"):
            continue
        if hangs_on_other_requests(audit, lever):
            continue
        if not claimed_over(lever, lever.tpot.ceiling):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            _attention(lever) if attention else _prompt(lever),
            why="with one query per sequence the step waits for weights and cache, not for scores",
            instead=advice(audit, "claim time to first token"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "kv_share": lever.before.estimate.shares.kv},
            error_class=ErrorClass.FLASH_ATTENTION_SHORT if attention else None,
        )


def _claims_decode(audit: Audit, lever: LeverAudit) -> bool:
    """Whether time per token is claimed, by name or in a proposal that is about decode."""
    judged = lever.claim
    if judged is None or judged.claim is None or not promises_speed(lever):
        return False
    by_name = judged.claim.metric in _PER_TOKEN or judged.claim.stream is Stream.SINGLE
    if lever.lever.kind == "attention_kernel":
        return by_name or is_stated(audit, "phase")
    return by_name


def _attention(lever: LeverAudit) -> str:
    before = lever.before
    share = before.estimate.shares.kv
    return (
        f"{lever.lever.label} acts on the prompt; in decode at {before.deployment.context:,} tokens"
        f" attention over the cache is {percent(share)} of the step,"
        f" so {factor(lever.tpot.ceiling)} at most"
    )


def _prompt(lever: LeverAudit) -> str:
    moved = lever.after.estimate.bytes
    return (
        f"{lever.lever.label} acts on the prompt; each token after the first still reads"
        f" {size(moved.weights)} of weights and {size(moved.kv_read)} of cache: 1.00x"
    )
