"""## What it does
Flags faster arithmetic on the same stored bytes, proposed for decode: a GEMM nearer the peak, a
higher peak, another math mode (TF32, FP16 accumulation), matrix units or an NPU on the same memory.

## Why is this bad
At small batch each weight is used once or a few times after it is read. The multiplication is
hidden behind the read, so making it faster ends no step sooner. A rate measured at M = 4096 says
nothing about M = 1.

## Instead
Store fewer bits per weight, or claim the gain where the arithmetic is the limit: prefill, large
batches, time to first token.

## When this rule is wrong
A kernel made for few tokens (a GEMV, split-K, Marlin) can gain by sustaining more bandwidth than
the one in use, never more than the floor allows: name it, and claim the bandwidth. Storing FP16
where FP32 was stored halves the bytes: propose that as `quantize`.

## References
- NVIDIA: Matrix multiplication background, math and memory bounds:
  https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import (
    arithmetic_of,
    changes_nothing,
    hardware_of,
    lever_facts,
    lever_numbers,
    per_step,
    promises_speed,
    weights_read,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.patterns import OF_SHAPE
from advisor.prose.widths import UNQUANTIZED_BITS, widths_of
from advisor.rule import PROSE, Rule
from advisor.said import (
    Said,
    Wrong,
    bytes_fall,
    carries_over,
    confidence_of,
    decode_gain,
    gain,
    in_sight,
    is_excused,
    is_small_batch,
)
from advisor.told.less_work import fewer_products
from advisor.told.other_reasons import is_for_few_rows

RULE = Rule(
    code="FLP007",
    name="same-bytes-faster-math",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.FASTER_MATMUL,
    about=("matmul_kernel", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
weights: fp8
levers:
  - «kind: matmul_kernel»
    name: persistent FP8 GEMM
    peak: 1.4 PFLOP/s
    claim: another 1.5x on decode
""",
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 1024}
levers:
  - «kind: matmul_kernel»
    name: INT8 tensor cores, weights cast on the fly
    speedup: 2x
    claim: 2x tokens/s
""",
        """\
The new GEMM is 1.6x faster at M=8192, «so we expect 1.6x lower inter-token latency.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: matmul_kernel
    name: FP8 GEMM
    peak: 1.4 PFLOP/s
    claim: 1.4x lower TTFT
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 512, context: 256}
levers:
  - kind: matmul_kernel
    name: better GEMM
    speedup: 1.2x
    claim: 1.1x throughput
""",
        """\
A faster GEMM helps prefill and large batches, not batch-1 decode.
""",
        """\
The new GEMM kernel made training 1.4x faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Faster arithmetic where the step waits for bytes."""
    for lever in audit.levers:
        faster = lever.lever.kind == "matmul_kernel" and not lever.flops_saved
        if not (faster and changes_nothing(lever) and promises_speed(lever)):
            continue
        deployment = lever.before.deployment
        bandwidth = deployment.hardware.bandwidth_gbs * deployment.devices
        when = per_step(lever.before).removeprefix("GB/")
        yield RULE.on_lever(
            audit,
            lever,
            f"every {when} still reads {weights_read(lever.after)} of weights at"
            f" {bandwidth:,.0f} GB/s ({hardware_of(lever.before)}); arithmetic takes"
            f" {arithmetic_of(lever.before)}",
            why="at small batch the multiplication hides behind the read",
            instead=advice(audit),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="the weights still come from the same memory at the same bytes",
        instead="store fewer bits per weight; use the faster GEMM for prefill and large batches",
    )


def _carried(said: Said) -> Confidence | None:
    """How sure it is that what a GEMM gained is said to hold for decode at small batch."""
    statement = said.statement
    if statement.kind is not Kind.CARRIED or not _of_kernel(statement):
        return None
    if statement.phase is not Phase.DECODE or "PREFILL" in statement.nearby:
        return None
    if not statement.clause.isdisjoint({"WEIGHTS", "BYTES"}) or said.says(r"\bas before\b"):
        return None
    if statement.is_aggregate or is_excused(said) or not is_small_batch(statement):
        return None
    return in_sight(statement, confidence_of(statement))


def _of_kernel(statement: Statement) -> bool:
    """Whether the lever is a kernel: by name, or as a peak that was reached at some shape."""
    if statement.cause == "MATMUL":
        return True
    of_shape = OF_SHAPE.search(statement.context_text) is not None
    return statement.cause in {"PEAK", None} and of_shape


_POINTS_BACK = Form(r"\W*(?:this|that) (?:is (?:where|why|what)|explains|accounts for)\b")


def _put_down_to_math(said: Said) -> Confidence | None:
    """How sure it is that the gain of a format is put down to the faster math told before it."""
    statement = said.statement
    if statement.cause != "QUANT" or _POINTS_BACK.match(statement.text) is None:
        return None
    before = statement.nearby - statement.sentence
    if "MATMUL" not in before or not statement.nearby.isdisjoint({"BYTES", "WEIGHTS"}):
        return None
    return decode_gain(said)


def _repeated(said: Said) -> Confidence | None:
    """How sure it is that decode is to gain just what a product of many rows gained before."""
    statement = said.statement
    if statement.cause is not None or not _of_kernel(statement):
        return None
    claimed = statement.speedup
    told = claimed is not None and any(
        other is not None and abs(other / claimed - 1.0) < _ALIKE
        for phase, other, _ in statement.earlier
        if phase is not Phase.DECODE
    )
    own = _SAME_GAIN.search(statement.text) is not None
    return decode_gain(said) if told or own else None


_ALIKE = 0.02
_SAME_GAIN = Form(r"\b(?:this|that|the (?:very )?same) \d[\d.]* ?[x×%]")


_OF_KERNEL = Form(r"\bat M ?= ?(?:\d{2,}|[2-9]\b)")
"""What is timed is the kernel itself, at many rows."""
_OF_ONE_STREAM = frozenset({"DECODE", "SINGLE"})
_BY_BANDWIDTH = r"\d ?(?:vs\.?|versus|against|instead of|rather than|over) \d[\d.,]* ?[gt]b/s"


_OTHER_MEANS = r"\bgemv|launch|overhead|\bfus(?:es?|ed|ing|ion)\b|dequant|synchroni[sz]"
"""What a kernel may gain besides: fixed time."""
_WAY = r"\b(?:on|from|in) the host\b|\bcop(?:ied|ying) (?:\w+ )?(?:to|from|back|between|over)\b"
"""Why weights took longer to come before."""


def _narrows(row: str) -> bool:
    """Whether a row begins with narrower weights: "INT4 weights, FP16 math"."""
    first = row.split(",", maxsplit=1)[0]
    is_changed = "weights" in first and "same" not in first
    return is_changed and any(bits < UNQUANTIZED_BITS for bits in widths_of(first))


def _judge(said: Said) -> Wrong | None:
    """A faster GEMM or narrower arithmetic, and a promise for steps of one row."""
    statement = said.statement
    sure = gain(said, "MATMUL") or _carried(said) or _repeated(said) or _put_down_to_math(said)
    if sure is None or "BYTES" in statement.clause or carries_over(said):
        return None
    if statement.table is not None and _narrows(statement.table[1][0]):
        return None  # the row itself stores fewer bits
    if "FLOPS" in statement.nearby and statement.reach and fewer_products(statement.context_text):
        return None  # fewer operations, and no faster ones
    if "S24" in statement.nearby or {"PACKED", "PRUNE"} <= statement.nearby:
        return None
    if said.has(_OTHER_MEANS) or said.says(_WAY) or is_for_few_rows(said) or bytes_fall(said):
        return None
    carried = "TRANSFER" in statement.clause and not statement.clause.isdisjoint(_OF_ONE_STREAM)
    if _OF_KERNEL.search(statement.text) is not None and not carried:
        return None
    if said.says(_BY_BANDWIDTH):
        return None
    return Wrong(
        "a decode step multiplies each matrix with 1 row: 2 FLOP per weight, under 1% of the matrix"
        " units; a GEMM that is faster at thousands of rows leaves its time as it is (1.00x)",
        sure,
    )
