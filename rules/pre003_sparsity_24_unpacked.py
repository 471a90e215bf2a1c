"""## What it does
Flags 2:4 sparsity through kernels made for large products (cuSPARSELt,
`to_sparse_semi_structured`), proposed for the few rows of a decode step.

## Why is this bad
The sparse matrix units double the arithmetic that decode does not wait for, and the library pads a
step of one row to 32 or 64: a product of 1x4096 with 4096x4096 took 0.196 ms against 0.022 ms
dense, and decode of a 7B on an RTX 4090 got 12% slower. What 2:4 can save at small batch are bytes:
9 of 16 bits.

## Instead
A kernel that streams the packed form at few rows (Sparse-Marlin), or dense int4, which saves more.

## When this rule is wrong
In prefill and from 64 rows on the library kernels gain. Sparse-Marlin and CUTLASS kernels with
small tiles are not flagged. Where no kernel is named the rule asks, in strict mode.

## References
- PyTorch issue 111339, semi-structured sparsity at small M:
  https://github.com/pytorch/pytorch/issues/111339
- Sparse-Marlin: https://github.com/IST-DASLab/Sparse-Marlin
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.catalog.features import small_m_kernel
from advisor.evidence import expects_speed, lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.levers.prune import Prune
from advisor.prose.model import Kind, Phase, Statement
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, claimed, confidence_of, gain
from advisor.wording import factor

RULE = Rule(
    code="PRE003",
    name="sparse24-at-small-m",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPARSITY_24,
    about=("prune", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - «kind: prune»
    pattern: "2:4"
    storage: 2:4-packed
    kernel: to_sparse_semi_structured
    claim: 1.3x
""",
        """\
2:4 sparsity doubles tensor-core throughput, «so decode at batch 1 becomes 2x faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: prefill, batch: 1, context: 4k}
levers:
  - {kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: cuSPARSELt, claim: 1.3x lower TTFT}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: int4-g128
engine: torchao
levers:
  - kind: prune
    pattern: "2:4"
    storage: 2:4-packed
    kernel: torchao MarlinSparseLayout
    claim: 1.15x
""",
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

_ROWS: Final = 64


def check(audit: Audit) -> Iterator[Finding]:
    """2:4 kernels for large products at a decode step's rows."""
    for lever in audit.levers:
        idea = lever.lever
        rows = lever.after.ledger.tokens
        packed = isinstance(idea, Prune) and idea.pattern == "2:4" and not idea.keeps_dense_bytes
        if not isinstance(idea, Prune) or not packed or idea.storage is None or rows >= _ROWS:
            continue
        if lever.before.deployment.phase != "decode" or not expects_speed(lever):
            continue
        kernel = small_m_kernel(idea.kernel) if idea.kernel else None
        if idea.kernel and (kernel is None or kernel.made_for_it):
            continue
        name = kernel.label if kernel is not None else "which kernel? a library one"
        claims = lever.claim is not None and (lever.claim.speedup or 0.0) > 1.0
        yield RULE.on_lever(
            audit,
            lever,
            f"{name} fills {rows} of the 32 or 64 rows it works on; measured 0.11x of dense at"
            f" 1x4096x4096, where the packed bytes alone would allow {factor(lever.byte_ratio)}",
            why="library kernels for 2:4 are made for large products",
            instead=advice(audit, "a kernel for few rows (Sparse-Marlin)"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "rows": rows},
            severity=Severity.ERROR if kernel is not None and claims else Severity.WARNING,
            confidence=None if kernel is not None else Confidence.MEDIUM,
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="decode waits for bytes, and an unpacked 2:4 matrix has all of them",
        instead=(
            "pack the weights and name the kernel that streams them: at most 1.78x in 16 bits, "
            "1.33x in 4"
        ),
    )


_MOST = 1.8
"""Dense over packed bytes of 16-bit 2:4 weights: 16 / 9 = 1.78."""


_MOST_OF_BITS = {8.0: 1.62, 4.0: 1.35}
"""Of narrower ones the indices weigh more: 8/5 = 1.60 and 4/3 = 1.33."""


_UNPACKED: Final = (
    r"\bunpacked (?:\w+ ){0,2}?(?:tensors?|weights|checkpoint|file|int\d|fp\d)"
    r"|\bnot (?:yet )?(?:re-?)?packed|\b(?:re)?packing (?:comes|follows|is (?:next|later"
    r"|planned|to come|still)|will)|\bwithout (?:re-?)?pack"
)


def _saves(statement: Statement) -> Confidence | None:
    """How sure it is that 2:4 zeros in dense tensors are said to save reads."""
    about = statement.cause == "S24" and statement.kind in {Kind.SAVING, Kind.SKIPPED}
    if not about or statement.phase in NO_DECODE or "PACKED" in statement.nearby:
        return None
    amount = re.search(r"\b(?:half|halv\w+|\d{1,2} ?%)", statement.text, re.IGNORECASE)
    dense = "DENSE" in statement.nearby and _THAN_DENSE.search(statement.text) is None
    told = dense or (statement.phase is Phase.DECODE and amount is not None)
    return confidence_of(statement) if told or statement.kind is Kind.SKIPPED else None


_THAN_DENSE: Final = Form(r"\b(?:than|over|against|versus)\b[^.;:]{0,24}? (?:dense|unstructured)\b")
"""Dense or unstructured weights as what 2:4 is compared with."""
_BY_BYTES = r"\b(?:by|through|via) (?:its|the|fewer) (?:\w+ )?bytes\b|\bthe right kernel\b"


def _carried(statement: Statement) -> Confidence | None:
    """How sure it is that what 2:4 gained in large products is said to hold for one stream."""
    if statement.kind is not Kind.CARRIED or statement.cause != "S24" or not statement.is_single:
        return None
    return confidence_of(statement) if statement.phase is Phase.DECODE else None


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = gain(said, "S24") or _saves(statement) or _carried(statement)
    if sure is None or "PREFILL" in statement.clause:
        return None
    packed = "PACKED" in statement.nearby or said.has(r"\bindices\b|\bmetadata\b|9/16")
    packed = packed or said.says(_BY_BYTES)
    packed = packed and not said.has(_UNPACKED)
    most = _MOST_OF_BITS.get(statement.frame.weight_bits or 16.0, _MOST)
    if packed and statement.table is not None and (statement.frame.weight_bits or 16.0) < 16.0:
        return None  # narrower as well: the row it is compared with may be wider
    if packed and (statement.speedup is None or statement.speedup <= most):
        return None
    figure = claimed(statement)
    told = f"; {figure} is claimed" if figure else ""
    return Wrong(
        "2:4 weights stored dense keep 100% of their bytes (1.00x); packed they are 56% (16-bit),"
        f" 63% (8-bit) or 75% (4-bit), so 1.78x, 1.60x or 1.33x at most{told}",
        sure,
    )
