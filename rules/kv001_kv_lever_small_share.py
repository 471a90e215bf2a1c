"""## What it does
Flags ideas on the KV cache, proposed for speed, where the cache is under a tenth of the step.

## Why is this bad
The step reads the weights once and the cache once per sequence. At short context and small batch
the cache is a few percent of the bytes: a quarter of it saved is hardly measurable, and narrower
cache formats cost a conversion. The cache of an 8B in 16 bits equals its weights at 114,000 cached
tokens over all sequences.

## Instead
Take a lever on the weights first, or keep this one for the batch and context where it pays.

## When this rule is wrong
If the point is memory (longer contexts, more sequences), claim memory. If batch or context grow
beyond what is stated, state what is served: the rule is silent where nobody says the context.

## References
- Liu et al.: KIVI, a tuning-free asymmetric 2bit quantization for KV cache:
  https://arxiv.org/abs/2402.02750
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.evidence import (
    is_stated,
    lever_facts,
    lever_numbers,
    promises_speed,
    shares_entry,
)
from advisor.finding import Confidence, Finding, Severity
from advisor.levers import Nature
from advisor.operands import waits_for_attention
from advisor.rule import Rule
from advisor.wording import factor, percent

RULE = Rule(
    code="KV001",
    name="kv-lever-small-share",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("quantize", "attention", "prune", "sparse_attention", "shared_prefix"),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 1k}
levers:
  - «kind: quantize»
    kv_cache: int4
    claim: 1.5x tokens/s
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - «kind: prune»
    pattern: kv_tokens
    sparsity: 50%
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 32, context: 32k}
levers:
  - kind: quantize
    kv_cache: fp8
    claim: 1.5x tokens/s
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 1k}
levers:
  - kind: quantize
    kv_cache: fp8
    claim: half the KV cache memory
""",
    ),
)

_SMALL = 0.10


def check(audit: Audit) -> Iterator[Finding]:
    """Levers on a cache that is a small part of the step."""
    if audit.baseline.deployment.phase != "decode" or not is_stated(audit, "context"):
        return
    for lever in audit.levers:
        share = lever.before.estimate.shares.kv
        if not _is_on_cache(lever) or share >= _SMALL or not _for_latency(lever):
            continue
        before = lever.before
        if shares_entry(audit, lever) or not before.estimate.bytes.kv_read:
            continue
        if waits_for_attention(before):
            continue  # its bytes are no small part: its arithmetic hides them
        batch, context = before.deployment.batch, before.deployment.context
        equal = before.estimate.bytes.weights / before.estimate.bytes.kv_read * batch * context
        part = before.estimate.bytes.kv_read / before.estimate.bytes.total
        yield RULE.on_lever(
            audit,
            lever,
            f"the KV cache is {percent(part)} of the bytes at batch {batch} and {context:,} tokens,"
            f" so {factor(lever.tpot.ceiling)} at most; it equals the weights at about"
            f" {_rounded(equal):,} cached tokens over all sequences",
            why="at short context and small batch the step reads weights",
            instead=advice(audit),
            facts=lever_facts(lever),
            numbers={
                **lever_numbers(lever),
                "kv_share_of_bytes": part,
                "tokens_where_kv_equals_weights": equal,
            },
            confidence=None if is_stated(audit, "batch") else Confidence.MEDIUM,
        )


def _is_on_cache(lever: LeverAudit) -> bool:
    kind = lever.lever.machine_kind
    on_cache = kind in {"quantize.kv", "prune.kv_tokens"} or kind.startswith("kv.")
    return on_cache and lever.lever.acts_on is Nature.BYTES


def _for_latency(lever: LeverAudit) -> bool:
    """Throughput may grow by the memory that a smaller cache leaves to more sequences."""
    about_throughput = lever.claim is not None and lever.claim.metric == "throughput"
    return promises_speed(lever) and not about_throughput


def _rounded(tokens: float) -> int:
    """Three digits: what it rests on is not known better."""
    return round(float(f"{tokens:.3g}"))
