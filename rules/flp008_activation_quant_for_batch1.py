"""## What it does
Flags narrower activations (W8A8 over W8A16, A8, A4) on the same stored weights, proposed for decode
below the crossover batch.

## Why is this bad
The activations of one token are kilobytes, the weights gigabytes. Narrower activations double the
rate of arithmetic that nothing waits for, and add a quantizing kernel to each linear layer.

## Instead
Store fewer bits per weight. Keep narrow activations for prefill and large batches.

## When this rule is wrong
From the crossover batch on steps wait for arithmetic and W8A8 pays; the rule is silent where the
model's time moves. Where the weights get narrower in the same entry, they are the lever.

## References
- Xiao et al.: SmoothQuant: https://arxiv.org/abs/2211.10438
- Kurtic et al.: Give me BF16 or give me death: https://arxiv.org/abs/2411.02355
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import (
    arithmetic_of,
    changes_nothing,
    lever_facts,
    lever_numbers,
    promises_speed,
    weights_read,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind, Phase
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, confidence_of, gain
from advisor.wording import size

RULE = Rule(
    code="FLP008",
    name="activation-quant-claimed-for-batch1",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.ACTIVATION_QUANT,
    about=("quantize", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
levers:
  - {«kind: quantize», activations: fp8, claim: 1.5x tokens/s}
""",
        """\
The server already runs W8A16. «Moving to W8A8 makes single-user decode 1.5x faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.5x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 512, context: 256}
weights: fp8
levers:
  - {kind: quantize, activations: fp8, claim: 1.3x throughput}
""",
        """\
Moving from W8A16 to W8A8 brings nothing for a single stream.
""",
        """\
W8A8 instead of BF16 halves the weight bytes, so decode at batch 1 gets up to 2x faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Narrower activations where arithmetic is not waited for."""
    for lever in audit.levers:
        before, after = lever.before.deployment, lever.after.deployment
        narrower = after.activations.bits < before.activations.bits
        same = lever.before.estimate.bytes == lever.after.estimate.bytes
        if not (narrower and same and changes_nothing(lever) and promises_speed(lever)):
            continue
        model, tokens = before.model, lever.before.ledger.tokens
        moved_bytes = 2.0 * tokens * model.hidden * before.activations.bits / 8.0
        yield RULE.on_lever(
            audit,
            lever,
            f"all {weights_read(lever.after)} of weights are still read; the activations of"
            f" {tokens} tokens are {size(moved_bytes)} a layer, and arithmetic takes"
            f" {arithmetic_of(lever.before)}",
            why="at one token the activations are kilobytes",
            instead=advice(audit, "keep narrow activations for prefill and large batches"),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="activations are kilobytes, weights are gigabytes",
        instead="store the weights in fewer bits; keep W8A8 for prefill and large batches",
    )


def _decides(said: Said) -> Confidence | None:
    """How sure it is that the width of activations is said to decide the speed of one stream."""
    statement = said.statement
    about = statement.kind is Kind.DRIVER and "ACTQ" in statement.clause
    if not about or statement.phase is not Phase.DECODE or not statement.is_single:
        return None
    return confidence_of(statement)


_INPUTS = (
    r"activations?|hidden (?:states?|vectors?)|\binputs?\b|residual stream|feature maps"
    r"|intermediate tensors"
    r"|(?:norm|gelu|silu|mlp) outputs"
)


def _judge(said: Said) -> Wrong | None:
    sure = _decides(said) or gain(said, "ACTQ")
    if sure is None or said.has(r"\bw16a16\b"):
        return None  # where the weights get narrower, too, the bytes fall
    kept = any(
        said.has(rf"\bw{bits}a16\b") and said.has(rf"\bw{bits}a[3-8]\b") for bits in "34568"
    ) or said.has(
        r"weights? (?:\w+ ){0,3}(?:already|kept|remain|unchanged|stay|same|as before"
        r"|throughout|fixed)"
        r"|(?:same|keeps? its|existing|unchanged) (?:\w+ ){0,2}weights|weight[- ]only"
        r"|already (?:int|fp|4|8|run)|on top of"
    )
    alone = said.has(_INPUTS) and not said.has(r"weights and activations")
    if not kept and not alone and said.statement.kind is Kind.GAIN:
        return None
    if not kept and not said.statement.is_single:
        sure = Confidence.MEDIUM
    return Wrong(
        "one token's activations are 8 to 16 KB a layer in 16 bits, beside 100 MB and more of"
        " weights: narrowing them saves less than 0.1% of the bytes",
        sure,
    )
