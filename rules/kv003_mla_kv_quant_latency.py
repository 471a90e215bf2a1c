"""## What it does
Flags a narrower cache for latent attention (MLA), proposed for speed, where attention waits for
arithmetic and not for the cache.

## Why is this bad
All heads share one latent, so each byte of it is used by every head: 242 FLOP/B for DeepSeek-V3
with its 128 heads on one device, above the ridge of an H20 (37) and the achieved one of an H800
(220). Fewer bytes per entry raise that further and save no time; they save memory.

## Instead
Read fewer tokens (sparse attention), multiply in FP8, or claim the memory.

## When this rule is wrong
Tensor parallelism splits the heads and repeats the latent: at 8 ways it is 30 FLOP/B, below every
ridge, and the cache counts again. The rule computes it for the stated split.

## References
- FlashMLA: https://github.com/deepseek-ai/FlashMLA
- DeepSeek-V2, multi-head latent attention: https://arxiv.org/abs/2405.04434
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, Finding, Severity
from advisor.operands import attention_intensity, attention_ridge, waits_for_attention
from advisor.rule import Rule

RULE = Rule(
    code="KV003",
    name="mla-kv-quant-latency",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("quantize",),
    flagged=(
        """\
rooflint: 1
model: DeepSeek-V3
hardware: 8 x H20
workload: {phase: decode, batch: 64, context: 16k}
weights: fp8
parallelism: {tensor: 8, attention_data: 8}
levers:
  - {«kind: quantize», kv_cache: fp8, claim: 1.3x tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: DeepSeek-V3
hardware: 8 x H200
workload: {phase: decode, batch: 64, context: 16k}
weights: fp8
levers:
  - {kind: quantize, kv_cache: fp8, claim: 1.05x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 64, context: 16k}
levers:
  - {kind: quantize, kv_cache: fp8, claim: 1.5x tokens/s}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Fewer bytes for a latent that arithmetic waits for."""
    for lever in audit.levers:
        attention = lever.before.deployment.model.attention
        if lever.lever.machine_kind != "quantize.kv" or attention is None:
            continue
        intensity, ridge = attention_intensity(lever.before), attention_ridge(lever.before)
        if intensity is None or ridge is None or not waits_for_attention(lever.before):
            continue
        if not promises_speed(lever):
            continue
        heads = attention.heads // lever.before.deployment.parallelism.attention_ways
        yield RULE.on_lever(
            audit,
            lever,
            f"latent attention with {heads} heads on a device does {intensity:,.0f} FLOP per byte"
            f" of cache against a ridge of {ridge:,.0f}: it waits for arithmetic, so 1.00x",
            why="all heads of a device use the same latent",
            instead="claim memory; read fewer tokens, or split the heads over devices",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "attention_flop_per_byte": intensity},
            confidence=Confidence.MEDIUM if lever.configured else None,
        )
