"""## What it does
Flags a diagnosis that says decode waits for arithmetic where the model's numbers say it waits for
memory, or for the fixed time of its kernels.

## Why is this bad
At batch B a decode step does about 2 x B FLOP for each weight it reads. Devices do 37 to 600 FLOP
in the time of one byte, so the step is far on the memory side of the roofline until B comes near
the crossover. Low utilisation of the matrix units is the symptom, not the cause. Every lever that
follows from the wrong diagnosis (fewer FLOPs, a faster GEMM, more TFLOPS) gains nothing.

## Instead
Count the bytes per token, compare with the measured time, and cite the intensity and the ridge.

## When this rule is wrong
Prefill is compute-bound, and decode can be: at a batch beyond the crossover and short context, with
latent attention (MLA) on a part with a low ridge, on CPUs with little arithmetic. State the batch;
a sentence that names its own batch or context is judged there.

## References
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
- Williams, Waterman, Patterson: Roofline: https://doi.org/10.1145/1498765.1498785
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice, at
from advisor.audit import Audit
from advisor.evidence import arithmetic_of, bound_of, is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.limits import Limit
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.rule import PROSE, STATEMENTS, Rule
from advisor.said import (
    LARGE_BATCH,
    Said,
    Wrong,
    confidence_of,
    in_sight,
    is_small_batch,
    many_rows,
)
from advisor.statements import Assertion, read_statement
from advisor.steps import Step
from advisor.wording import digits, milliseconds, size

RULE = Rule(
    code="TXT001",
    name="decode-called-compute-bound",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.DECODE_CALLED_COMPUTE_BOUND,
    about=(STATEMENTS, PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
diagnosis: «decode is limited by how quickly the tensor cores get through them»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 4, context: 2k}
diagnosis:
  - prefill is compute-bound
  - «single-stream decode saturates the tensor cores»
""",
        """\
«Single-stream decoding saturates the tensor cores.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 4 x H20
workload: {phase: decode, batch: 128, context: 256}
diagnosis: decode is compute-bound
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis:
  - decode is memory-bound, not compute-bound
  - prefill is compute-bound
""",
        """\
rooflint: 1
model: DeepSeek-V3
hardware: 8 x H20
workload: {phase: decode, context: 4k}
diagnosis: MLA decode is compute-bound on H20
""",
        """\
Prefill is compute-bound, decode is memory-bound.
""",
        """\
At batch 256 with short contexts decode is compute-bound.
""",
        """\
If decode were compute-bound, a faster GEMM would help.
""",
    ),
)

_MINOR = 0.25
"""A step of which arithmetic is less than this waits for something else, efficiencies aside."""
_NEAR_CROSSOVER = 0.7
"""Arithmetic reaches less of its peak than memory does: linear layers cross over sooner."""
_LOW_RIDGE = 60.0
"""FLOP/B below which an unstated batch may well be beyond the crossover."""


def check(audit: Audit) -> Iterator[Finding]:
    """Sentences that call a memory-bound decode compute-bound."""
    for index, sentence in enumerate(audit.diagnosis):
        for assertion in read_statement(sentence.text):
            if not _says_compute_bound(assertion):
                continue
            step = at(audit, assertion.batch, assertion.context)
            estimate = step.estimate
            if _waits_for_arithmetic(step) or _may_hold(audit, step, assertion):
                continue
            span = assertion.place_in(sentence.text, sentence.span, audit.proposal.source)
            yield RULE.on_statement(
                audit,
                index,
                span,
                _message(step),
                why="the matrix units wait for the bytes",
                instead=advice(audit),
                facts=(("numbers", _numbers(step)),),
                numbers={
                    "intensity_flop_per_byte": estimate.intensity,
                    "ridge_flop_per_byte": estimate.ridge,
                    "compute_share": estimate.shares.compute,
                    "step_bytes": estimate.bytes.total,
                    "floor_ms": estimate.floor_ms,
                    "crossover_batch": estimate.crossover_batch,
                },
            )
            break
    yield from RULE.in_prose(
        audit,
        _judge,
        why="the matrix units wait for the bytes",
        instead="count bytes per token and compare with the measured time",
    )


def _says_compute_bound(assertion: Assertion) -> bool:
    return (
        assertion.limit is Limit.COMPUTE
        and assertion.phase != "prefill"
        and not assertion.denied
        and not assertion.open
    )


def _waits_for_arithmetic(step: Step) -> bool:
    """Whether arithmetic is a good part of the step, or all of its linear layers."""
    estimate = step.estimate
    crossing = step.ledger.tokens >= _NEAR_CROSSOVER * estimate.crossover_batch
    return crossing or estimate.bound == "compute" or estimate.shares.compute >= _MINOR


def _may_hold(audit: Audit, step: Step, assertion: Assertion) -> bool:
    """Whether the sentence may be about a batch that nobody stated, or about latent attention."""
    attention = step.deployment.model.attention
    latent = attention is not None and attention.is_latent
    stated = assertion.batch is not None or is_stated(audit, "batch")
    if latent and (assertion.about_attention or not stated):
        return True
    return not stated and not assertion.single_stream and step.estimate.ridge < _LOW_RIDGE


def _message(step: Step) -> str:
    estimate, batch = step.estimate, step.deployment.batch
    gap = estimate.ridge / estimate.intensity
    return (
        f"at batch {batch} the step does {digits(estimate.intensity, 2)} FLOP/B against a"
        f" ridge of {digits(estimate.ridge)}, {digits(gap, 2)} times too little to wait for"
        f" arithmetic, which takes {arithmetic_of(step)}"
    )


def _numbers(step: Step) -> str:
    estimate = step.estimate
    return (
        f"{size(estimate.bytes.total)} and {digits(estimate.flops / 1e9)} GFLOP a step, floor"
        f" {milliseconds(estimate.floor_ms)} ms, {bound_of(estimate)}; linear layers are"
        f" compute-bound from batch {estimate.crossover_batch:,.0f}"
    )


_BUSY = 0.1
"""Part of peak arithmetic that no small batch reaches: 1 to 4 FLOP/B over a ridge of 37 to 420."""
_BELOW = 0.9
_FAR_BELOW = (
    "at batch 1 decode does 1 to 4 FLOP per byte against a ridge of 37 to 420: the matrix units are"
    " busy 1 to 5% of the time"
)
_OF_ARITHMETIC = (
    r"\balus?\b|tensor|flops?\b|arithmetic|multipl|\bmaths?\b|avx|simd|compute|\bcores\b|\bsms\b"
)
_OTHER_WAIT = (
    r"\b(?:kernel )?launch\w*|\boverheads?\b|\bhost\b|\bpython\b|\bsampler|\bthreads?\b"
    r"|\b(?:one|single) core\b|\bpcie\b|\bnetwork|\ball-?reduce|\bdisk|\bssd\b|\boffload"
    r"|\bbetween (?:\w+ )?(?:requests|turns|questions|messages|replies|answers|runs)\b"
)
"""What else a step with idle memory may wait for."""
_SOME_KERNEL_RUNS = (
    r"\bgpu[-_ ]?util|nvidia-smi|task manager|\bnvtop|\bgpu (?:\w+ )?(?:shows?|reports?|sits|is|at"
    r"|runs)\b|volatile"
)
"""The share of the time in which some kernel runs: no figure of the arithmetic."""
_OTHER_SUBJECT = (
    r"kernel|attention|lever|dequant|unpack|lookup|codebook|softmax|sampl|\bcpu|thread|latent"
    r"|draft|verif|M ?="
    r"|encoder"
    r"|(?<!sitting )(?<!sits )\bthere\b(?!['’]s| is\b| are\b)"
)
_DRIVEN = Form(
    r"\b(?:proportional|scal(?:es?|ing)|follows?|tracks?|decid\w+|determin\w+|govern\w+|dictat\w+"
    r"|sets?\b|depends?|down to|(?:matter|question|function) of)\b"
)
"""What a specification is said to drive, where another sentence says what is waited for."""
_MAY_BE_LARGE = r"\bMLA\b|latent attention|H20\b|(?<!small)(?<!small[- ])\bbatch"
"""A sentence with one of these may well be about a step that is bound by arithmetic."""
_MANY_ROWS = (
    r"\b(?:[3-9]\d|[1-9]\d\d+) (?:(?!and\b)\w+ )?(?:tokens(?! ?/| (?:per|a|each)\b)|sequences"
    r"|requests"
    r"|users|rows)"
)
_SPARE = (
    r"\b(?:compute|arithmetic|flops?|maths?)\b[^.;]{0,16}?\b(?:is|are|lies|sits|was|were) (?!not\b"
    r"|never\b|hardly\b|rarely\b)(?:\w+ )?(?:spare|idle|unused|plentiful|abundant|free|to spare)\b"
)
"""Arithmetic that is said to be left over, which a lever may cost."""
_ON_CHIP = r"\bweights (?:\w+ ){0,4}?in (?:\w+ )?(?:on-chip|sram)\b"
"""Weights that no step reads from memory."""
_ONE_OF_TWO = r"\bthe (?:former|latter|(?:first|second|third|last|other) (?:case|one|of them))\b"
"""One of several regimes that were told before."""
_SPECIFIED = Form(
    r"\b(?:(?:[tp]|tera|peta)-?flop/?s?|tops)\b[^.;:]{0,24}? (?:is"
    r"|are) what [^.;:]{0,24}?\bmakes?\b"
)
"""A rate on a data sheet that is said to make the tokens."""
_INTENSITY = Form(r"intensity (?:of|is) (?:about )?(\d+)")
_RIDGE = Form(r"(?:=|ridge\D{0,40}) (\d{2,4}) FLOP")


_WAVERS = Form(r"\b(?:may|might|perhaps|possibly|maybe|could|seems?)\b")
"""A hedge; "the ceiling" is none."""
_PEAK_RATE = re.compile(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) ?([TP])(?:FLOPS?|FLOP/s|OPS)\b(?! per token)"
)
_PER_TOKEN = re.compile(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) ?(?:([GT])FLOPs?|(?P<word>billion|trillion) (?:flops?"
    r"|operations))"
    r"\b",
    re.IGNORECASE,
)
_ALIKE = 0.12
"""Of a quotient: people round it."""
_NOT_ALONE = Form(
    r"bandwidth|memory|bytes|\b\d[\d.,]* ?[gt]b\b|\bwould\b|in theory|theoretical|on paper"
    r"|arithmetic"
    r" alone|\bmfu\b|wast\w+|on the table|\bpeak alone|\bif\b|\bidle|\bwaiting|\brest of the"
    r"|(?:arithmetic|maths?|multiplications?|compute|flops) (?:\w+ )?(?:(?:does|do|can)(?: ?not"
    r"|n['’]t)"
    r" (?:explain|account)|takes?|needs?|(?:is"
    r"|are) done"
    r"|finish\w*|accounts?)"
)
"""The text counts bytes as well, or sets the quotient aside."""


_OF_A_TOKEN = Form(r"tok|\b(?:tpot|itl|tbt)\b|\b(?:so|hence|thus|therefore)\b|t/s|\bword\b|step")


def _time_of_arithmetic(said: Said) -> float | None:
    """FLOP per token over peak FLOP/s in ms, where a rate or time of one stream is just that."""
    statement = said.statement
    text = statement.context_text
    if statement.tpot_ms is None or statement.is_aggregate or "PREFILL" in statement.sentence:
        return None
    if "ms" in statement.text and not _OF_A_TOKEN.search(statement.text):
        return None  # what arithmetic takes, and no claim about a token
    if _NOT_ALONE.search(text) or _NOT_ALONE.search(statement.sentence_text):
        return None
    peaks = [
        float(value.replace(",", "")) * _SCALE[unit] for value, unit in _PEAK_RATE.findall(text)
    ]
    work = [
        float(match[1].replace(",", "")) * _SCALE[(match[2] or match["word"][0]).upper()]
        for match in _PER_TOKEN.finditer(text)
        if match[2] or match["word"]
    ]
    if not work and statement.frame.parameters is not None and "FLOP" in text:
        work = [2.0 * (statement.frame.active_parameters or statement.frame.parameters)]
    if said.floor is not None and statement.tpot_ms >= said.floor.ms:
        return None  # the rate is what the bytes allow, and the FLOP/s what that comes to
    times = [flop / peak * 1e3 for flop in work for peak in peaks if peak > flop]
    return next((ms for ms in times if abs(statement.tpot_ms / ms - 1.0) < _ALIKE), None)


_SO_MUCH_WORK = Form(
    r"\b\d[\d.,]* ?[gt]flops?\b[^.;:]{0,40}?,? (?:and )?(?:(?:this|that|which) is (?:why|what"
    r"|where)|(?:this|that|which) explains|hence|so that)\b"
)
"""Operations of a token as the reason for its time, in one sentence."""
_POINTS = Form(
    r"\W*(?:(?:so|and|hence) )?(?:that|this|these|they|it) (?:(?:is|are) (?:what|why|where)"
    r"|explains?"
    r"|accounts? for|costs?|takes? (?:up )?the)\b"
)


def _points_at_work(said: Said) -> bool:
    """Whether a time of one stream is put down to its FLOPs, told just before."""
    statement = said.statement
    other = {"BYTES", "WEIGHTS", "KV", "GRAPHS", "PREFILL", "OFFLOAD"}
    if not statement.is_single:
        return False
    if _SO_MUCH_WORK.search(statement.sentence_text) is not None:
        return statement.nearby.isdisjoint(other)
    if _POINTS.match(statement.text) is None:
        return False
    return "FLOPS" in statement.nearby - statement.sentence and statement.nearby.isdisjoint(other)


_SCALE = {"G": 1e9, "B": 1e9, "T": 1e12, "P": 1e15}


def _sure(statement: Statement) -> Confidence | None:
    """As the text asserts it; a roof that is hit is no hedge."""
    roofed = statement.kind is Kind.BOUND and _ROOF.search(statement.text) is not None
    if statement.status is Status.HEDGED and roofed and not _WAVERS.search(statement.text):
        return Confidence.HIGH
    return confidence_of(statement)


_ROOF = Form(
    r"\b(?:hits?|hitting|reach(?:es|ed)?|against|under|at) (?:the|its|our) [\w -]{2,24}ceiling\b"
)


_MORE_BANDWIDTH = Form(
    r"\b(?:(?:more|extra|additional|higher|wider|twice the|double the) (?:memory |hbm |dram )?"
    r"(?:bandwidth|[gt]b/s)|(?:faster|quicker) (?:memory|hbm\w*|dram|ram|vram|g?ddr\w*))\b"
)


def _denies_bandwidth(said: Said) -> bool:
    """Whether more bandwidth is said to bring one stream nothing, for the sake of arithmetic."""
    statement = said.statement
    if statement.kind is not Kind.NO_GAIN or not statement.is_single:
        return False
    if statement.status not in {Status.ASSERTED, Status.DENIED}:
        return False
    if statement.phase is not Phase.DECODE or "PREFILL" in statement.sentence:
        return False
    told = _MORE_BANDWIDTH.search(statement.text) is not None and said.has(_OF_ARITHMETIC)
    return told and not said.has(_OTHER_WAIT) and not said.has(_ON_CHIP)


def _judge(said: Said) -> Wrong | None:
    """Small-batch decode that is said to wait for arithmetic, or to keep the matrix units busy."""
    statement = said.statement
    if _denies_bandwidth(said):
        return Wrong(_FAR_BELOW, Confidence.HIGH)
    sure = in_sight(statement, _sure(statement))
    if sure is None or not is_small_batch(statement):
        return None
    decode = statement.phase is Phase.DECODE
    if statement.kind is Kind.UTILISATION:
        busy = (statement.speedup or 0.0) >= _BUSY
        if not decode or not busy or "PREFILL" in statement.sentence:
            return None
        if said.says(_SOME_KERNEL_RUNS):
            return None
        return Wrong(_FAR_BELOW, sure)
    if statement.kind is Kind.FIGURE and decode and (took := _time_of_arithmetic(said)) is not None:
        return Wrong(
            f"{took:.2g} ms are the arithmetic of a token at peak; a token of one stream also reads"
            " all weights that it uses, which takes longer at every peak",
            Confidence.MEDIUM if _WAVERS.search(statement.text) else Confidence.HIGH,
            numbers={"arithmetic_ms": took},
        )
    if statement.kind in {Kind.AMOUNT, Kind.FIGURE} and decode and _points_at_work(said):
        return Wrong(_FAR_BELOW, sure)
    if statement.kind is not Kind.BOUND or said.says(_ONE_OF_TWO):
        return None
    intensity, ridge = (
        _INTENSITY.search(statement.context_text), _RIDGE.search(statement.context_text)
    )  # fmt: skip
    if intensity and ridge:
        if float(intensity[1]) >= _BELOW * float(ridge[1]):
            return None
        return Wrong(
            f"{intensity[1]} FLOP/B is below the ridge of {ridge[1]}: the memory side of the "
            f"roofline",
            sure,
            numbers={"intensity_flop_per_byte": float(intensity[1])},
        )
    batch_open = statement.frame.batch is None and not statement.is_single
    if batch_open and (said.says(_MAY_BE_LARGE) or many_rows(said) >= LARGE_BATCH):
        return None
    if said.says(_SPARE) or said.has(_ON_CHIP):
        return None
    if said.says(_MANY_ROWS) or (said.says(_OTHER_WAIT) and not said.says(_OF_ARITHMETIC)):
        return None
    wasted = re.search(r"\bwast|squander|on the table", statement.text) is not None
    if re.search(_OTHER_SUBJECT, statement.text, re.IGNORECASE) and not wasted:
        sure = Confidence.MEDIUM
    driven = _DRIVEN.search(statement.text) is not None
    peak = (driven and said.says(r"tflops|\btops\b|cores?\b|clock|peak")) or (
        _SPECIFIED.search(statement.text) is not None
    )
    if decode:
        return Wrong(_FAR_BELOW, sure, ErrorClass.PEAK_TFLOPS if peak else None)
    return None
