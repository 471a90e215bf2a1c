"""## What it does
Flags slips of units and counts that change a result: gigabits taken for gigabytes, more than the
whole saved, a cache that grows with the square of the context.

## Why is this bad
Such a slip makes a result wrong by a factor of 8, or by the length of the context, and everything
that is concluded from it.

## Instead
Write the unit that the figure is in, and recompute.

## When this rule is wrong
Where "Gb" is meant for gigabytes: write GB. Attention scores in prefill do grow with the square
of the prompt; say that it is their arithmetic.

## References
- BIPM: SI brochure: https://www.bipm.org/en/publications/si-brochure
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.operands import routed, sentences_of, stored_weight_bytes
from advisor.prose.equations import equations_in
from advisor.prose.model import Kind
from advisor.prose.shrinkage import gigabytes_in
from advisor.prose.widths import widths_of
from advisor.rule import CLAIMS, PROSE, STATEMENTS, Rule
from advisor.said import Said, Wrong, confidence_of
from advisor.wording import percent, size

RULE = Rule(
    code="TXT002",
    name="unit-or-count-slip",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OTHER,
    about=(STATEMENTS, CLAIMS, PROSE),
    flagged=(
        """\
«A 400 Gb/s link moves 20 GB in 50 ms.»
""",
        """\
«The KV cache grows quadratically with the context length.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: «NVLink moves 900 GB/s in each direction»
""",
    ),
    passing=(
        """\
A 400 Gb/s link moves 20 GB in 0.4 s.
""",
        """\
The KV cache grows linearly with the context, attention FLOPs in prefill with its square.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: NVLink moves 450 GB/s in each direction
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: the checkpoint is 16 GB of weights
""",
    ),
)

_RATE = re.compile(r"(\d+(?:\.\d+)?) ?(?:G(?:b/s|bps|bit/s|bits/s)|gigabits?(?: per second|/s))")
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s)\b")
_CLOSE = 0.12
_SIZE_OF = re.compile(
    r"\b(\d{1,3}(?:\.\d+)?)B (?:model |parameters |params )?(?:in |at |with )?(?:bf16|fp16|fp8"
    r"|int8|int4|fp4|4 bits|8 bits|16 bits|4-bit|8-bit)"
    r"(?: weights)?,? (?:is|are|takes?|needs?|has|weighs?|=|\() ?(?:about |roughly |some "
    r"|~)?(\d{1,4}(?:\.\d+)?) ?GB\b(?!/s)",
    re.IGNORECASE,
)
_SAME_RATE = Form(
    r"(\d{1,4}(?:\.\d+)?) ms(?: per token| a token|/token)?,? (?:\(|i\.e\.,? |that is |which is "
    r"|= |or in other words )(?:about )?(\d[\d,]*(?:\.\d+)?) tok"
)
_SIZE_LOW, _SIZE_HIGH = 0.8, 1.45
"""Scales, 16-bit heads and rounded names make up for this much."""
_RATE_GRACE = 0.12


def check(audit: Audit) -> Iterator[Finding]:
    """Bits for bytes, more than all, and squares that are none."""
    yield from _sentences(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="the figure is off by a factor, and so is what follows from it",
        instead="write the unit that the figure is in, and recompute",
    )


_EACH_WAY = Form(
    r"(\d+(?:[.,]\d+)*)\s?(GB|TB)/s\b[^.;]{0,30}\b(?:each way|each direction|per direction|one way"
    r"|unidirectional)"
)
_PER_TOKEN = Form(r"(\d+(?:\.\d+)?)\s?GB\b[^.;]{0,20}?(?:per|a|each|every) token")
_MINOR = 0.10


def _sentences(audit: Audit) -> Iterator[Finding]:
    """Figures of the model and the device with the wrong unit or count."""
    device, step = audit.baseline.deployment.hardware, audit.baseline
    both = device.interconnect_gbs if is_stated(audit, "hardware") else None
    alone = step.deployment.batch == 1 and is_stated(audit, "model")
    read = step.estimate.bytes.weights
    for sentence, index in sentences_of(audit):
        link, token = _EACH_WAY.search(sentence.text), _PER_TOKEN.search(sentence.text)
        if link is not None and both:
            told = float(link[1].replace(",", "")) * (1e3 if link[2].upper() == "TB" else 1.0)
            if abs(told / both - 1.0) < _CLOSE / 4.0:
                yield RULE.on_sentence(
                    audit, sentence, index,
                    f"{told:,.0f} GB/s is both directions of {device.name} together; one way is"
                    f" {device.interconnect_one_way_gbs or both / 2.0:,.0f} GB/s",
                    why="the figure is off by a factor of two, and so is what follows from it",
                    instead="write the rate of one direction",
                    numbers={"stated_gbs": told, "one_way_gbs": device.interconnect_one_way_gbs},
                )  # fmt: skip
        if token is not None and alone and routed(step) is None:
            told, total = float(token[1]) * 1e9, stored_weight_bytes(step.deployment)
            off = told / read - 1.0
            if abs(told / total - 1.0) < _CLOSE / 4.0 and off > _CLOSE / 4.0:
                yield RULE.on_sentence(
                    audit, sentence, index,
                    f"{size(told)} is what is stored; a token reads {size(read)}: of the input"
                    f" embeddings one row ({percent(off)} less)",
                    why="a stored size is not what a token reads",
                    instead="leave the table of input embeddings out",
                    numbers={"stored_bytes": total, "read_bytes": read},
                    severity=Severity.INFO if off < _MINOR else None,
                )  # fmt: skip


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None:
        return None
    if statement.kind is Kind.OVER_ALL and statement.speedup and statement.speedup > 1.0:
        return Wrong(f"{100 * statement.speedup:.0f}% is more than the whole (100%)", sure)
    if statement.kind is Kind.KV_SQUARE:
        if said.says(
            r"attention (?:compute|flops|cost|work|scores?)|score matrix|prefill|arithmetic"
        ):
            return None
        return Wrong(
            "the cache holds one key and one value a token, layer and KV head: 2x the context is 2x"
            " the cache, not 4x",
            sure,
        )
    for slip in (_bits_as_bytes, _wrong_equation, _wrong_size, _wrong_rate):
        if (wrong := slip(said, sure)) is not None:
            return wrong
    return None


def _bits_as_bytes(said: Said, sure: Confidence) -> Wrong | None:
    statement = said.statement
    rate = _RATE.search(statement.context_text)
    if rate is None or not float(rate[1]) or statement.kind is not Kind.AMOUNT:
        return None
    for _, amount in gigabytes_in(statement.context_text):
        slipped_ms = amount / float(rate[1]) * 1e3
        for number, unit in _TIME.findall(statement.text):
            told_ms = float(number) * (1.0 if unit == "ms" else 1e3)
            if abs(told_ms - slipped_ms) < _CLOSE * slipped_ms:
                return Wrong(
                    f"{amount:g} GB are {8 * amount:.3g} Gb: {8 * slipped_ms:,.0f} ms at"
                    f" {rate[1]} Gb/s, not {told_ms:,.0f} ms",
                    sure,
                    numbers={"bytes": amount * 1e9, "right_ms": 8 * slipped_ms},
                )
    return None


def _wrong_equation(said: Said, sure: Confidence) -> Wrong | None:
    """A product, quotient or sum that does not come out."""
    statement = said.statement
    if statement.kind not in {Kind.AMOUNT, Kind.FIGURE} or "=" not in statement.text:
        return None
    for equation in equations_in(statement.text):
        if not equation.is_right:
            shown = statement.text[equation.start : equation.end]
            return Wrong(
                f"{shown}: the left side is {equation.left:.4g}",
                sure,
                numbers={"left": equation.left, "right": equation.right},
            )
    return None


def _wrong_size(said: Said, sure: Confidence) -> Wrong | None:
    """A size of weights that its parameters and format do not have."""
    statement = said.statement
    size = _SIZE_OF.search(statement.text) if statement.kind is Kind.AMOUNT else None
    if size is None or said.has(r"per (?:gpu|card|device)|each|active|moe|experts|kv|cache"):
        return None
    widths = widths_of(size[0])
    if len(widths) != 1:
        return None
    right = float(size[1]) * widths.pop() / 8.0
    told = float(size[2])
    if _SIZE_LOW * right <= told <= _SIZE_HIGH * right:
        return None
    return Wrong(
        f"{size[1]}B parameters are {right:.3g} GB in this format, not {told:.3g} GB",
        sure,
        numbers={"right_bytes": right * 1e9, "told_bytes": told * 1e9},
    )


def _wrong_rate(said: Said, sure: Confidence) -> Wrong | None:
    """A time per token and a rate that are said to be the same and are not."""
    statement = said.statement
    if statement.kind is not Kind.FIGURE or not said.says(
        r"i\.e\.|that is\b|which is\b|or in other words|="
    ):
        return None
    same = _SAME_RATE.search(statement.sentence_text)
    if same is None or said.says(
        r"batch|users|streams|sessions|requests|sequences|in total|accepted|draft|concurr"
        r"|tokens? (?:per|a|each) (?:round|pass|step|cycle)"
    ):
        return None
    if re.search(r"[/×x*÷]\s*$", statement.sentence_text[: same.start(1)]):
        return None  # "64 / 12.5 ms"
    tpot, rate = float(same[1]), float(same[2].replace(",", ""))
    if rate <= 0 or tpot <= 0 or abs(1e3 / tpot / rate - 1.0) < _RATE_GRACE:
        return None
    return Wrong(
        f"{tpot:.3g} ms per token are {1e3 / tpot:.3g} tokens/s, not {rate:.3g}",
        sure,
        numbers={"right_tokens_per_second": 1e3 / tpot},
    )
