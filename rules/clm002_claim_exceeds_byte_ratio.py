"""## What it does
Flags a claimed speedup of quantization or of a packed sparse format that is more than 1.10 times
the ratio of bytes read before and after.

## Why is this bad
A memory-bound step gets faster by the bytes it no longer reads, scales and 16-bit parts counted.
Each format brings its own kernel, better or worse at keeping the bus busy, and that is worth a few
percent: of 217 published pairs, 95% stay under 1.05 of the byte ratio and the largest is at 1.09.
What is above comes from something else, mostly a baseline with other kernels or in eager mode.

## Instead
Compare within one engine, or name the other change and claim it apart.

## When this rule is wrong
If the baseline's kernel wastes bandwidth, a new one can win that as well. State the baseline as
`measured` and the bandwidth the new kernel sustains ("if the kernel sustains 95% of bandwidth");
the limit is then that fraction over the baseline's, times the byte ratio.

## References
- Frantar et al.: MARLIN, mixed-precision auto-regressive parallel inference:
  https://arxiv.org/abs/2408.11743
- Lin et al.: AWQ, activation-aware weight quantization: https://arxiv.org/abs/2306.00978
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.evidence import claim_numbers, claims_of, lever_facts, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.prose.devices import devices_in
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.prose.shrinkage import TIMES_LESS, byte_ratio, sizes_by_format, tells_sizes
from advisor.prose.split import count_in
from advisor.prose.widths import UNQUANTIZED_BITS, sizes_of, widths_of
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import (
    NO_DECODE,
    Said,
    Wrong,
    bandwidths_in,
    confidence_of,
    is_of_units,
    is_small_batch,
    is_summed,
)
from advisor.told.byte_rows import is_of_other_device, over_bytes
from advisor.told.narrow_cache import narrower_cache
from advisor.wording import factor, factors, size

RULE = Rule(
    code="CLM002",
    name="claim-exceeds-byte-ratio",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.QUANT_OVER_BYTE_RATIO,
    about=(CLAIMS, PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: quantize
    weights: fp8
    claim: «2.3x tokens/s»
""",
        """\
FP8 checkpoint versus BF16, one request at a time: «2.6x more tokens per second.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
measured: {tpot: 26 ms}
levers:
  - kind: quantize
    weights: int4-g128
    claim: 83 tokens/s if the kernel sustains 95% of bandwidth
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: quantize
    weights: fp8
    claim: 1.8x tokens/s
""",
        """\
INT4 makes single-stream decode up to 3.9x faster than BF16: a quarter of the bytes is read.
""",
        """\
Switching from BF16 to FP8 raised total throughput 2.6x at saturation.
""",
    ),
)

_KINDS = ("quantize.", "prune.unstructured", "prune.2:4", "prune.block")
_KERNEL_SPREAD = 1.10
"""The largest of 217 published pairs is at 1.09 of its byte ratio."""


def check(audit: Audit) -> Iterator[Finding]:
    """Claims of byte levers above what the bytes give."""
    for claim in claims_of(audit):
        lever, judged = claim.lever, claim.judged
        if lever is None or not _is_byte_lever(lever) or judged.metric != "tpot":
            continue
        speedup, possible, _ = judged.figures
        if judged.tpot_ms is not None and audit.context.measured_tpot_ms is None:
            continue  # a rate against a baseline that nobody measured is no factor
        limit = _KERNEL_SPREAD * lever.byte_ratio
        if judged.claim is not None and judged.claim.conditions.bandwidth_fraction is not None:
            limit = max(limit, GRACE * possible.high)
        if speedup <= limit:
            continue
        before, after = lever.before.estimate.bytes.total, lever.after.estimate.bytes.total
        yield RULE.on_claim(
            audit,
            claim,
            f"bytes fall {factor(lever.byte_ratio)}, {size(before)} to {size(after)} a step;"
            f" {factor(speedup)} needs something else to change: name it",
            why="a memory-bound step gets faster by the bytes it no longer reads",
            instead=f"claim {factors(possible)}, or compare kernels within one engine",
            facts=lever_facts(lever),
            numbers={**claim_numbers(audit, claim), "byte_ratio": lever.byte_ratio},
            confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="what is not read twice cannot be saved twice",
        instead="claim at most bytes before over bytes after, or name what else changes",
    )


def _is_byte_lever(lever: LeverAudit) -> bool:
    """Quantization or packed zeros at a memory-bound step, alone in its entry."""
    kind = lever.lever.machine_kind
    memory_bound = lever.before.estimate.bound == "memory"
    alone = not lever.proposed.together
    return kind.startswith(_KINDS) and memory_bound and alone and lever.moves_fewer_bytes


_CAUSES = frozenset({"QUANT", "MATMUL"})
_OTHERS = frozenset(
    {"SPEC", "PRUNE", "S24", "TP", "GRAPHS", "DISTILL", "OFFLOAD", "BATCH", "REMOVED", "LAYERS"}
)
_GRACE = 1.10
_FITTING = (
    r"(?<!both )(?<!all )(?<!either )(?<!already )\bfits?\b|spill|\bswap(?:ped(?! (?:the|an?"
    r"|our)\b)"
    r"|ping(?! (?:the|an?|our|its|\w+ for)\b)| space|file|s (?:in|out))\b"
    r"|batch(?:es)? (?:more|larger)|\bcpus?\b|system ram|(?<!no )(?<!without )offload"
)
"""What the smaller model gains beside its bytes."""
_ENGINES = Form(
    r"\b(?:hf|hugging ?face|transformers|vllm|tgi|sglang|tensorrt(?:-llm)?|llama\.cpp"
    r"|deepspeed|pytorch|fastertransformer|ctranslate2|openvino|onnx ?runtime|powerinfer|lightllm"
    r"|exllama(?:v\d)?|mlc(?:-llm)?|ollama|lmdeploy|eager|torch\.compile|cuda graphs)\b"
)
"""Engines: of two, one is what the other is compared with."""
_SYSTEM = Form(
    r"(?<![\w-])(?!llama|gpt|opt|bloom|glm|mpt|bert|moe)(?-i:[A-Z][a-z]*(?:[A-Z]+[a-z]*"
    r"|-[A-Z][A-Za-z]*)+)"
    r" \((?:fp|int|w|q|nf)\d\w*\)"
)
"""A system, whose format is an aside: another is what it is compared with, in a format untold."""
_OTHER_GOODS = Form(
    r"\b(?:energy|joules?|watts?|power draw|costs? per|price|dollars?|euros?|perplexity|accuracy"
    r"|carbon|download|disk|load(?:ing)? time)\b"
)
_AT_A_COST = Form(
    r",? (?:at|for|with|without|and) (?:an? |the |no |little |only |any )*(?:cost|loss|expense"
    r"|price|drop"
    r"|increase|rise|change|sacrifice) (?:of|in|to)\b[^;:]*$"
    r"|, (?:and )?(?:the|our|its) (?:only |main )?(?:risk|price|downside|drawback|catch)\b[^;:]*$"
    r"|, (?:and )?(?:i|we)(?:['’](?:ll|d)| will| would| can)? (?:\w+ )?(?:trade|give up|sacrifice"
    r"|lose"
    r"|pay|accept|live with)\b[^;:]*$"
)
"""What is paid for a gain: no good that gains."""
_NARROWED = (
    r"\bweights\b|per token|quanti[sz]|checkpoint|\b(?:fp|int|nf|q)\d|\bbits?\b|\bawq\b|\bgptq\b"
    r"|\bcompress\w*|\bbytes?\b|\bgguf\b"
)


_OF_CACHE = (
    r"\b(?:cache|kv|keys and values)\b[^;]{0,80}? (?:keep(?:ing)?|stor(?:e|ing)|hold(?:ing)?"
    r"|put(?:ting)?)"
    r" (?:it|them) (?:in|at) (?:fp8|int8|int4|[48] bits?)"
)
"""It is the cache that gets narrower."""


_IS_BOUND = Form(
    r"\b\d[\d.]*x is (?:the |its |our )?(?:limit|ceiling|bound|most|maximum|best (?:case"
    r"|possible))\b"
)


def _judge(said: Said) -> Wrong | None:
    """A factor of quantization above its bytes before over after."""
    statement = said.statement
    if (wrong := _by_cache(said)) is not None:
        return wrong
    if statement.kind not in {Kind.GAIN, Kind.FIGURE} or said.has(_OF_CACHE):
        return None
    if statement.table is not None and (wrong := _beside_bytes(said)) is not None:
        return wrong
    sure = _sure(statement)
    speedup = (statement.speedup if statement.kind is Kind.GAIN else None) or _risen(said)
    if sure is None or speedup is None:
        return None
    if _IS_BOUND.search(statement.text) is not None:
        return None  # "so 3.2x is the limit"
    if statement.is_aggregate or is_summed(statement) or _PART_OF_OTHERS.search(statement.text):
        return None
    if not is_small_batch(statement) or not _is_of_quant(said):
        return None
    per_token = said.has(r"GB (?:per|a|for each) (?:\w+ )?token")
    if statement.phase is not Phase.DECODE and not (
        statement.is_single or per_token or _is_at_home(statement)
    ):
        return None
    if is_of_units(statement) or is_of_other_device(statement):
        return None
    if statement.phase in NO_DECODE or not _OTHERS.isdisjoint(statement.sentence):
        return None
    if _explained(said) or _OTHER_GOODS.search(_AT_A_COST.sub("", statement.text)):
        return None
    if _has_more_devices(statement):
        return None
    if len({one.lower() for one in _ENGINES.findall(statement.context_text)}) > 1:
        return None
    if _SYSTEM.search(statement.sentence_text) and len(widths_of(statement.sentence_text)) == 1:
        return None
    if _has_own_factors(statement.sentence_text):
        return None
    ratio = byte_ratio(statement.context_text)
    if ratio is None or speedup <= _GRACE * ratio:
        return None
    return Wrong(
        f"{speedup:.3g}x is more than the {ratio:.3g}x by which the bytes fall",
        sure,
        numbers={"byte_ratio": ratio},
    )


def _by_cache(said: Said) -> Wrong | None:
    """A gain of a narrower cache above what cache and weights together shrink by."""
    statement = said.statement
    sure = confidence_of(statement)
    told = sure and narrower_cache(said)
    if not told or sure is None or statement.speedup is None or is_summed(statement):
        return None
    if statement.speedup <= _GRACE * told.ratio or said.has(_FITTING):
        return None
    return Wrong(
        f"of {told.cache:.3g} GB of cache beside {told.weights:.3g} GB of weights a step reads"
        f" {told.ratio:.3g}x less in all; {statement.speedup:.3g}x is more",
        sure,
        numbers={"byte_ratio": told.ratio},
    )


def _beside_bytes(said: Said) -> Wrong | None:
    """A cell of a table that gives the bytes of each format beside its speed."""
    statement = said.statement
    if statement.phase in NO_DECODE or statement.is_aggregate or not is_small_batch(statement):
        return None
    sure = Confidence.MEDIUM if statement.status is Status.MEASURED else confidence_of(statement)
    told = over_bytes(statement, _GRACE)
    if told is None or sure is None or said.has(_FITTING):
        return None
    return Wrong(
        f"{told.claimed:.3g}x is more than the {told.before / told.after:.3g}x by which the bytes"
        f" fall, {told.before:g} to {told.after:g} GB",
        sure,
        numbers={"byte_ratio": told.before / told.after},
    )


def _has_more_devices(statement: Statement) -> bool:
    """Whether the sentence counts more devices than what stands before it."""
    own = count_in(statement.sentence_text)
    if own is None or own == 1:
        return False
    before = statement.context_text[: statement.context_text.rfind(statement.sentence_text)]
    return own > (count_in(f"{statement.lead_text} {before}") or 1)


_PART_OF_OTHERS = Form(
    r"(?<!to )(?<!at )(?<!in )\b(?:half|an? (?:third|quarter|fifth|sixth|eighth|tenth)) of what "
    r"(?:the |an? )?[\w.-]+ (?:reads?|takes?|needs?|costs?|weighs?|moves?)\b"
)
"""The size of one thing in terms of another, and no change of either."""
_HOME_FORMAT = Form(r"\bi?q[1-8]_\w|\bgguf\b|\bbpw\b|\bexl[23]\b|llama\.cpp|\bollama\b")


def _is_at_home(statement: Statement) -> bool:
    """Whether formats of one-user runtimes are compared, and nothing is said of prompts."""
    told = _HOME_FORMAT.search(statement.context_text) is not None
    return told and "PREFILL" not in statement.around and statement.phase is Phase.UNKNOWN


_FACTORS = Form(r"(?<![\w.])\d+(?:\.\d+)? ?[x×](?!\d)")


def _explained(said: Said) -> bool:
    """Whether a smaller model gains more than its bytes; of what was seen it may be told after."""
    seen = said.statement.status is Status.MEASURED
    return said.has(_FITTING) or (
        seen and re.search(_FITTING, said.statement.after_text, re.IGNORECASE) is not None
    )


def _has_own_factors(sentence: str) -> bool:
    """Whether each of two narrow formats has a factor: over 16 bits, and not over the other.

    "FP8 brings 1.9x, INT4 3.1x".
    """
    widths = widths_of(sentence)
    narrow = len(widths) > 1 and max(widths) < UNQUANTIZED_BITS
    return narrow and len(_FACTORS.findall(sentence)) > 1


def _sure(statement: Statement) -> Confidence | None:
    """A measured factor is ascribed to bytes as well, where both sizes stand beside it."""
    if statement.table is not None and _BOUND.search(statement.table[0][statement.table[2]]):
        return Confidence.HIGH
    told = tells_sizes(statement.context_text) or len(widths_of(statement.context_text)) > 1
    if statement.status is Status.MEASURED and told:
        return Confidence.HIGH if statement.reach <= 1 else Confidence.MEDIUM
    return confidence_of(statement)


_BOUND = Form(r"\b(?:upper bound|bound|ceiling|limit|at most|theoretical|max(?:imum)?)\b")
"""A column of what the bytes allow, which is computed and not measured."""


_BEFORE = Form(
    r"\b(?:before|today|now|currently|baseline|base|reference|was|old)\b[^;\n]{0,60}?"
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:tok(?:ens?)?s?/s|t/s|tps|tokens (?:per|a) second)"
)


def _risen(said: Said) -> float | None:
    """The factor between a rate or time that is told before, and the one that is told."""
    statement = said.statement
    if statement.kind not in {Kind.FIGURE, Kind.GAIN} or statement.tpot_ms is None:
        return None
    if (listed := _listed(said)) is not None:
        return listed
    above = statement.context_text[: -len(statement.sentence_text)]
    rates = {float(rate) for rate in _BEFORE.findall(above)} - {0.0}
    if len(rates) == 1:
        return 1e3 / statement.tpot_ms / rates.pop()
    if (told := _of_wide(said)) is not None:
        return told / statement.tpot_ms
    earlier = {tpot for phase, _, tpot in statement.earlier if tpot and phase not in NO_DECODE}
    changed = "QUANT" in statement.sentence and len(widths_of(statement.context_text)) > 1
    planned = "HOPED" in statement.sentence or statement.kind is Kind.GAIN
    if len(earlier) != 1 or not (planned or (changed and _is_of_one(said))):
        return None
    return earlier.pop() / statement.tpot_ms


_WIDE = Form(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(ms|tok(?:ens?)?s?/s|t/s|tps|tokens (?:per|a) second)\b"
    r"[^.;\d]{0,16}? (?:in|with|at|under) (?:bf16|fp16|f16|16 bits?|half precision)\b"
)
"""What the model takes in 16 bits, told beside: "it has 30 ms in BF16"."""


def _of_wide(said: Said) -> float | None:
    """Time per token in 16 bits, in ms, as the sentence or the next one tells it."""
    statement = said.statement
    near = f"{statement.sentence_text} {statement.after_text}"
    found = {
        float(value.replace(",", "")) if unit == "ms" else 1e3 / float(value.replace(",", ""))
        for value, unit in _WIDE.findall(near)
        if float(value.replace(",", "")) > 0
    }
    if len(found) != 1 or statement.tpot_ms is None:
        return None
    told = found.pop()
    return told if abs(told / statement.tpot_ms - 1.0) > _SAME else None


def _is_of_one(said: Said) -> bool:
    """Whether one device and one model are named: rates of several are no gain of a format."""
    text = said.statement.context_text
    return len(devices_in(text)) < 2 and bandwidths_in(text) < 2 and len(set(sizes_of(text))) < 2


def _listed(said: Said) -> float | None:
    """The factor between the rates of two formats, told in the order of their sizes.

    "F16 is 16.1 GB, Q4_K_M 4.9 GB. tg128 for the two: 22 t/s and 118 t/s."
    """
    statement = said.statement
    sizes = [one.gigabytes for one in sizes_by_format(statement.context_text)]
    rates = [
        float((told or bench).replace(",", ""))
        for told, bench in _RATE.findall(statement.context_text)
    ]
    if len(sizes) != 2 or len(rates) != 2 or min(rates) <= 0 or statement.tpot_ms is None:
        return None
    if not _is_of_one(said):
        return None
    is_second = abs(statement.tpot_ms * rates[1] / 1e3 - 1.0) < _SAME
    grows = (sizes[0] > sizes[1]) == (rates[0] < rates[1])
    return max(rates) / min(rates) if is_second and grows else None


_RATE = Form(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(?:tok(?:ens?)?s?/s|t/s|tps|tokens (?:per|a) second)"
    r"|\btg\d{1,4}(?: ?[:=] ?| )(\d{1,4}(?:\.\d+)?)(?![\d.]*(?: ?(?:tok|t/s|->|→)|\d))"
)
_SAME = 0.02


def _is_of_quant(said: Said) -> bool:
    """Whether narrower weights are what the gain is ascribed to, and nothing else is near."""
    statement = said.statement
    if statement.cause in _CAUSES:
        return True
    if "QUANT" in statement.sentence and (
        statement.reach > 1 or (statement.cause == "PEAK" and said.says(TIMES_LESS))
    ):
        return True  # the format is named nearer, or with what it saves
    return (
        statement.cause in {None, "FLOPS", "CAPACITY", "HARDWARE"}
        and said.has(_NARROWED)
        and ("QUANT" in statement.nearby or tells_sizes(statement.context_text))
        and not said.has(r"\bkv\b|\bcache\b|\bvram\b|[GT]B/s")
        and _OTHERS.isdisjoint(statement.nearby)
    )
