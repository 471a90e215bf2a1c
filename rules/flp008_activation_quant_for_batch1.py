"""## What it does
Flags narrower activations (W8A8 over W8A16, A8, A4) that are to make decode at small batch faster
while the stored weights keep their format.

## Why is this bad
At one token the activations of a layer are some kilobytes, against hundreds of megabytes of weights.
Narrower ones save nothing that is read from memory, and quantizing them adds a kernel per linear layer.

## Instead
Store the weights in fewer bits. Keep W8A8 and W4A4 for prefill and for large batches, where the
matrix units are what is short.

## When this rule is wrong
From 16-bit weights to W8A8 the weights shrink as well: state the format before. At a batch beyond
the crossover arithmetic counts; state the batch.

## References
- Xiao et al.: SmoothQuant: https://arxiv.org/abs/2211.10438
- Lin et al.: QServe, W4A8KV4: https://arxiv.org/abs/2405.04532
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, gain

RULE = Rule(
    code="FLP008",
    name="activation-quant-for-batch1",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.ACTIVATION_QUANT,
    about=(PROSE,),
    flagged=(
        """\
The server already runs W8A16. «Moving to W8A8 makes single-user decode 1.5x faster.»
""",
    ),
    passing=(
        """\
Moving from W8A16 to W8A8 brings nothing for a single stream.
""",
        """\
W8A8 instead of BF16 halves the weight bytes, so decode at batch 1 gets up to 2x faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Narrower activations, the same weights, and a promise for one stream."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="activations are kilobytes, weights are gigabytes",
        instead="store the weights in fewer bits; keep W8A8 for prefill and large batches",
    )


def _judge(said: Said) -> Wrong | None:
    sure = gain(said, "ACTQ")
    if sure is None:
        return None
    kept = any(
        said.has(rf"\bw{bits}a16\b") and said.has(rf"\bw{bits}a[48]\b") for bits in "48"
    ) or said.has(
        r"weights? (?:\w+ ){0,3}(?:already|kept|remain|unchanged|stay|same|as before)"
        r"|already (?:int|fp|4|8|run)|on top of"
    )
    alone = said.has(r"activations?") and not said.has(r"weights and activations")
    if not kept and not alone:
        return None
    if not kept and not said.statement.is_single:
        sure = Confidence.MEDIUM
    return Wrong(
        "one token's activations are 8 to 16 KB a layer in 16 bits, beside 100 MB and more of"
        " weights: narrowing them saves less than 0.1% of the bytes",
        sure,
    )
