"""## What it does
Flags a tensor parallel degree that does not divide the heads or the MLP of the model, and one above
the KV heads where a smaller cache per device is claimed.

## Why is this bad
Engines split whole heads and equal columns: 12 ways of 32 heads cannot run. Beyond as many ways as
there are KV heads, keys and values are repeated: at 16 ways of 8 KV heads each device holds an
eighth of the cache, not a sixteenth. A latent cache (MLA) is repeated from the second device on.

## Instead
A degree that divides; for MLA, attention split by sequences (data-parallel attention).

## When this rule is wrong
Some engines pad heads or split them unevenly; name the engine and its option. Pipeline stages sold
as latency are flagged by BAT002, as everything that amortises is.

## References
- Shoeybi et al.: Megatron-LM: https://arxiv.org/abs/1909.08053
- vLLM: distributed serving: https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claimed_words, lever_facts
from advisor.finding import Confidence, Finding, Severity
from advisor.forms import Form
from advisor.rule import Rule

RULE = Rule(
    code="PAR003",
    name="split-does-not-divide",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("tensor_parallel",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: tensor_parallel», size: 12}
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 64, context: 8k}
levers:
  - {«kind: tensor_parallel», size: 16, claim: a sixteenth of the KV cache per GPU}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 8 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: tensor_parallel, size: 8}
""",
    ),
)

_CACHE: Final = Form(r"\bkv\b|\bcache\b")


def check(audit: Audit) -> Iterator[Finding]:
    """Degrees that do not divide, or that repeat the cache they are to split."""
    for lever in audit.levers:
        model, ways = lever.before.deployment.model, getattr(lever.lever, "size", None)
        attention = model.attention
        if lever.lever.kind != "tensor_parallel" or not ways or attention is None:
            continue
        kv_heads = attention.kv_heads
        apart = lever.after.deployment.parallelism.attention_ways
        odd = [f"{attention.heads} heads"] if attention.heads % apart else []
        odd += [f"{model.intermediate} MLP columns"] if model.intermediate % ways else []
        if kv_heads % apart and apart % kv_heads and not attention.is_latent:
            odd.append(f"{kv_heads} KV heads")
        repeated = attention.is_latent or ways > kv_heads
        if odd:
            told = f"{ways} ways do not divide {', '.join(odd)}"
        elif repeated and ways > 1 and _CACHE.search(claimed_words(lever)):
            least = 1 if attention.is_latent else kv_heads
            told = f"the cache is split {least} ways at most and repeated on the rest of {ways}"
        else:
            continue
        yield RULE.on_lever(
            audit,
            lever,
            told,
            why="engines split whole heads and equal columns",
            instead="a degree that divides; data-parallel attention for a latent cache",
            facts=lever_facts(lever),
            numbers={"ways": ways, "heads": attention.heads, "kv_heads": kv_heads},
            severity=Severity.ERROR if odd else Severity.WARNING,
        )
