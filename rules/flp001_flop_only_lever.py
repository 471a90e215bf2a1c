"""## What it does
Flags ideas that cut or speed up arithmetic while every byte of weights and KV cache still crosses
the memory bus: fast matrix multiplication (Strassen, Winograd), cheaper activation functions and
norms, approximate attention scores.

## Why is this bad
A decode step at small batch does 1 to 4 FLOP for each byte it reads, against a ridge of 37 to 600
FLOP/B on current devices. The matrix units wait for memory; work taken off them ends no step
sooner: alone, at peak, it would take a percent of the step and less.

## Instead
Move fewer bytes (narrower weights, fewer layers, a packed sparse format with its kernel) or make
more tokens per pass over the weights (speculation).

## When this rule is wrong
In prefill and from the crossover batch on, steps are compute-bound and these ideas pay: the rule is
silent where the model's time moves. A kernel that also removes launches saves fixed time; propose
that part as `fuse`.

## References
- Williams, Waterman, Patterson: Roofline, an insightful visual performance model:
  https://doi.org/10.1145/1498765.1498785
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
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
from advisor.prose.zeros import reads_all, skips_products
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, bytes_fall, decode_gain
from advisor.told.less_work import WORK, cheaper_way, fewer_products, less_work
from advisor.told.other_reasons import has_fewer_users

RULE = Rule(
    code="FLP001",
    name="flop-only-lever",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.FLOP_CUT,
    about=("matmul_kernel", "elementwise", "attention", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: matmul_kernel»
    name: Strassen GEMV
    claim: 1.14x tokens/s
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: elementwise»
    name: GELU to ReLU
    claim: 1.2x decode
""",
        """\
The cheaper activation saves 8% of the FLOPs per token, «so decode gets 8% faster.»
""",
        """\
The cheaper activation saves 8% of the FLOPs per token, «so decode gets 8% faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3-8B
hardware: H100 SXM
workload: {phase: prefill, batch: 1, context: 2048}
levers:
  - kind: matmul_kernel
    name: Strassen
    claim: 1.1x TTFT
""",
        """\
rooflint: 1
model: Llama-3-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: fuse
    mode: Strassen GEMV with norm and rotation in one kernel
    claim: 1.05x decode
""",
        """\
In prefill, 30% fewer FLOPs mean close to 30% less time.
""",
        """\
30% fewer FLOPs do not make decode faster.
""",
        """\
In prefill, 30% fewer FLOPs mean close to 30% less time.
""",
        """\
30% fewer FLOPs do not make decode faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Levers on arithmetic that leave a step's bytes and time."""
    for lever in audit.levers:
        cuts = lever.lever.kind in RULE.about and lever.flops_saved > 0
        if not (cuts and changes_nothing(lever) and promises_speed(lever)):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{lever.lever.label} takes work off the arithmetic, but all"
            f" {weights_read(lever.after)} of weights are still read; arithmetic takes"
            f" {arithmetic_of(lever.before)}",
            why="at small batch the matrix units wait for memory",
            instead=advice(audit),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="the matrix units wait for the bytes",
        instead="move fewer bytes: narrower weights, fewer layers, a packed format with its kernel",
    )


_TWO_SIZES = r"\d ?GB\b(?!/s).{0,60}\d ?GB\b(?!/s)"
_SCORES = r"\bscores?\b|\battention (?:flops|arithmetic|math)\b"
"""What is approximated without a weight less."""
_NO_STEP = (
    r"\bre-?comput|\b(?:s|d|sd|gd)ram (?:is|are)\b|\bfaster in (?:operations|comput\w+"
    r"|arithmetic)\b|\binvisible\b"
)
"""What is not computed again, the speed of a memory or a unit, and what nobody sees."""
_BOTH = (
    rf"\b(?:weights|bytes|parameters|layers|blocks) and (?:the )?{WORK}"
    rf"|\b{WORK} and (?:the )?(?:weights|bytes|parameters|weight reads)"
)
"""Bytes fall with the arithmetic."""


_IN_PROPORTION = (
    r"\b(?:itl|tpot|latency|time|speed|rate|tok\S*|steps?)\b[^.;:]{0,32}?"
    r" (?:in proportion to|proportional to|scales? with) (?:it|this|that|them|these)\b"
)
"""The time of a token that is to follow what was told before."""


def _is_on_a_device(said: Said) -> bool:
    """Whether operations are saved, and the device named since is where that is to show."""
    statement = said.statement
    near = statement.nearby
    return (
        statement.cause == "HARDWARE"
        and "FLOPS" in near - statement.sentence
        and near.isdisjoint({"PEAK", "QUANT"})
        and (
            fewer_products(statement.context_text)
            or reads_all(statement.context_text)
            or said.says(_IN_PROPORTION)
        )
    )


def _judge(said: Said) -> Wrong | None:
    """Fewer operations, no fewer bytes, and a promise for decode."""
    statement = said.statement
    sure = decode_gain(said)
    if sure is None or has_fewer_users(said):
        return None
    skipped = (
        statement.cause == "LAYERS"
        and not statement.nearby.isdisjoint({"DENSE", "MASK"})
        and "REMOVED" not in statement.nearby
    )
    rebuilt = statement.cause == "LOWRANK" and said.has(
        r"rebuilt|multiplied (?:out|back)|reconstruct|on the fly|back (?:to|into|as) (?:a "
        r"|one )?(?:full|dense"
        r"|\d|matrix|single)|\bthen merged?\b|formed (?:once |again )?(?:at load|before|up front)"
        r"|(?:merged?|stored?|saved?|written|write) (?:\w+ ){0,5}?(?:back|as one)"
    )
    by_work = (
        statement.cause == "FLOPS"
        or (
            # the product that gets cheaper, named in another sentence
            statement.cause == "MATMUL"
            and statement.reach >= 1
            and "FLOPS" in statement.nearby
            and fewer_products(statement.context_text)
        )
        or _is_on_a_device(said)
    )
    of_scores = said.has(_SCORES) or cheaper_way(statement.context_text)
    cut = (
        (by_work or (statement.cause == "LOWRANK" and of_scores))
        and statement.nearby.isdisjoint({"REMOVED", "DISTILL", "LAYERS"})
        and "OFFLOAD" not in statement.sentence
        and not bytes_fall(said)
        and not said.has(_TWO_SIZES)
        and (less_work(statement.context_text) or said.says(_IN_PROPORTION))
        and not said.has(_BOTH)
        and not said.says(_NO_STEP)
    )
    dynamic = skips_products(statement.context_text) and reads_all(statement.context_text)
    if not (skipped or rebuilt or cut or dynamic):
        return None
    return Wrong(
        "at batch 1 a step does 1 FLOP per byte of 16-bit weights (2 in 8 bits, 4 in 4) against a"
        " ridge of 37 to 420: fewer FLOPs at equal bytes are 1.00x",
        sure,
    )
