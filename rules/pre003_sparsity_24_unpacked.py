"""## What it does
Flags 2:4 (N:M, semi-structured) sparsity that is to make decode faster without packed weights and a
kernel that streams them, and the matrix units' 2x taken for a 2x in decode.

## Why is this bad
Sparse tensor cores halve arithmetic, which decode at small batch does not wait for. Time falls only
if fewer bytes are read: packed, 16-bit weights are 0.5625 of the dense bytes, 8-bit 0.625, 4-bit
0.75. Library kernels for 2:4 pad a single row to 32 and more, and have been measured slower there.

## Instead
Name the packed layout and the kernel (Sparse-Marlin) and claim at most 1.78x, 1.60x or 1.33x; or
use dense 4-bit weights.

## When this rule is wrong
In prefill and at large batch the sparse units do pay. Where the text names the storage further away
than the paragraph, say it beside the claim.

## References
- Frantar et al.: MARLIN and Sparse-MARLIN: https://arxiv.org/abs/2408.11743
- PyTorch: semi-structured sparsity: https://docs.pytorch.org/tutorials/advanced/semi_structured_sparse.html
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, claimed, gain

RULE = Rule(
    code="PRE003",
    name="sparsity-24-unpacked",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPARSITY_24,
    about=(PROSE,),
    flagged=(
        """\
2:4 sparsity doubles tensor-core throughput, «so decode at batch 1 becomes 2x faster.»
""",
    ),
    passing=(
        """\
2:4 weights in the packed Sparse-Marlin layout give 1.3x at batch 1.
""",
        """\
2:4 masks without packed weights do not make decode faster.
""",
        """\
2:4 sparsity makes prefill of long prompts 1.6x faster.
""",
    ),
)

_MOST = 1.8
"""Dense over packed bytes of 16-bit 2:4 weights: 16 / 9 = 1.78."""


def check(audit: Audit) -> Iterator[Finding]:
    """2:4 sparsity without its storage, or with more than its bytes allow."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="decode waits for bytes, and an unpacked 2:4 matrix has all of them",
        instead="pack the weights and name the kernel that streams them: at most 1.78x in 16 bits, 1.33x in 4",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = gain(said, "S24")
    if sure is None or "PREFILL" in statement.clause:
        return None
    packed = "PACKED" in statement.nearby
    if packed and (statement.speedup is None or statement.speedup <= _MOST):
        return None
    figure = claimed(statement)
    told = f"; {figure} is claimed" if figure else ""
    return Wrong(
        "2:4 weights stored dense keep 100% of their bytes (1.00x); packed they are 56% (16-bit),"
        f" 63% (8-bit) or 75% (4-bit), so 1.78x, 1.60x or 1.33x at most{told}",
        sure,
    )
