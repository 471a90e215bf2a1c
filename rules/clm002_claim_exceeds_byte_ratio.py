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
from advisor.prose.model import Kind, Phase
from advisor.prose.widths import widths_of
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_small_batch
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
_FROM_TO = re.compile(r"from (?:about )?(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) GB")
_WHOLE = re.compile(r"of the (\d+(?:\.\d+)?) GB")
_PAIR = re.compile(
    r"(\d+(?:\.\d+)?)(?: ?GB)? (?:instead of|rather than|against|versus|vs\.?|(?:down |reduced )?"
    r"from|to|becomes?|->|→|where it was|(?:shrinks?|falls?|drops?) to|and not) (?:about |roughly "
    r"|some |only |just |nearly |around |~|a mere )?(\d+(?:\.\d+)?) ?GB\b(?!/s)"
    r"|(?:fp16|bf16|16 bits?|8 bits?|int8|fp8)\b[^.;:]{0,24}?(\d+(?:\.\d+)?) GB\b(?!/s)"
    r"[^.;:]{0,24}?(?:int[2348]|fp[468]|nf4|[2-8][- ]bits?|awq|gptq)\b[^.;:]{0,16}?"
    r"(\d+(?:\.\d+)?) GB\b(?!/s)",
    re.IGNORECASE,
)
"""Bytes before and after, or after and before."""
_PART_OF = Form(
    r"\b(?:an?|one|about an?|roughly an?|less than an?) (half|third|quarter|fifth|sixth|seventh"
    r"|eighth|tenth|sixteenth) (?:of )?(?:the )?(?:\w+ )?(?:size|bytes|weights?|f16|fp16|bf16"
    r"|traffic|data|footprint|reads|volume)\b|\b(halv|quarter)(?:e?s|ed|ing) (?:the )?(?:\w+ )?"
    r"(?:bytes|traffic|reads|weights?|size|data|volume)\b"
)
_PARTS = {"half": 2.0, "halv": 2.0, "third": 3.0, "quarter": 4.0, "fifth": 5.0, "sixth": 6.0,
          "seventh": 7.0, "eighth": 8.0, "tenth": 10.0, "sixteenth": 16.0}  # fmt: skip
_TIMES_LESS = Form(
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:x|×|times|-?fold) (?:fewer|less|smaller|reduction (?:in|of)"
    r"|lower) (?:\w+ ){0,2}?(?:bytes|traffic|weights?|data|reads|size|volume)"
    r"|\b(?:bytes|traffic|weights?|checkpoint|model|reads|size|data) (?:\w+ ){0,4}?(?:shr[aiu]nk\w*"
    r"|f[ae]ll\w*|drops?|reduced|smaller|compressed|reduction)(?: \w+)?(?: by)?:? (?:a factor of )?"
    r"(\d+(?:\.\d+)?) ?[x×]"
    r"|\breduction of (?:the )?(?:weights?|bytes|traffic|size)\b[^.;]{0,24}?(\d+(?:\.\d+)?) ?[x×]"
)
_GRACE = 1.10
_FITTING = (
    r"(?<!both )(?<!all )(?<!either )(?<!already )\bfits?\b|spill|\bswap"
    r"|batch(?:es)? (?:more|larger)|\bcpus?\b|system ram|offload"
)
"""What the smaller model gains beside its bytes."""
_ENGINES = Form(
    r"\b(?:hf|hugging ?face|transformers|vllm|tgi|sglang|tensorrt(?:-llm)?|llama\.cpp"
    r"|exllama(?:v\d)?|mlc(?:-llm)?|ollama|lmdeploy|eager|torch\.compile|cuda graphs)\b"
)
"""Engines: of two, one is what the other is compared with."""
_OTHER_GOODS = Form(
    r"\b(?:energy|joules?|watts?|power draw|costs? per|price|dollars?|euros?|perplexity|accuracy"
    r"|carbon|download|disk|load(?:ing)? time)\b"
)
_NARROWED = (
    r"\bweights\b|per token|quanti[sz]|checkpoint|\b(?:fp|int|nf|q)\d|\bbits?\b|\bawq\b|\bgptq\b"
)


_OF_CACHE = (
    r"\b(?:cache|kv|keys and values)\b[^;]{0,80}? (?:keep(?:ing)?|stor(?:e|ing)|hold(?:ing)?"
    r"|put(?:ting)?)"
    r" (?:it|them) (?:in|at) (?:fp8|int8|int4|[48] bits?)"
)
"""It is the cache that gets narrower."""


def _judge(said: Said) -> Wrong | None:
    """A factor of quantization above its bytes before over after."""
    statement = said.statement
    if said.has(_OF_CACHE):
        return None
    sure = confidence_of(statement)
    speedup = statement.speedup if statement.kind is Kind.GAIN else _risen(said)
    if sure is None or speedup is None:
        return None
    if statement.is_aggregate or not is_small_batch(statement) or not _is_of_quant(said):
        return None
    per_token = said.has(r"GB (?:per|a|for each) (?:\w+ )?token")
    if statement.phase is not Phase.DECODE and not (statement.is_single or per_token):
        return None
    if statement.phase in NO_DECODE or not _OTHERS.isdisjoint(statement.sentence):
        return None
    if said.has(_FITTING) or _OTHER_GOODS.search(statement.text):
        return None
    if len({one.lower() for one in _ENGINES.findall(statement.context_text)}) > 1:
        return None
    ratio = _ratio(statement.context_text)
    if ratio is None or speedup <= _GRACE * ratio:
        return None
    return Wrong(
        f"{speedup:.3g}x is more than the {ratio:.3g}x by which the bytes fall",
        sure,
        numbers={"byte_ratio": ratio},
    )


_BEFORE = Form(
    r"\b(?:before|today|now|currently|baseline|base|reference|was|old)\b[^;\n]{0,60}?"
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:tok(?:ens?)?s?/s|t/s|tps|tokens (?:per|a) second)"
)


def _risen(said: Said) -> float | None:
    """The factor between a rate that items above tell of before, and the one that is told."""
    statement = said.statement
    if statement.kind is not Kind.FIGURE or statement.tpot_ms is None:
        return None
    above = statement.context_text[: -len(statement.sentence_text)]
    rates = {float(rate) for rate in _BEFORE.findall(above)} - {0.0}
    return 1e3 / statement.tpot_ms / rates.pop() if len(rates) == 1 else None


def _is_of_quant(said: Said) -> bool:
    """Whether narrower weights are what the gain is ascribed to, and nothing else is near."""
    statement = said.statement
    if statement.cause in _CAUSES:
        return True
    if "QUANT" in statement.sentence and (
        statement.reach > 1 or (statement.cause == "PEAK" and said.says(_TIMES_LESS.pattern))
    ):
        return True  # the format is named nearer, or with what it saves
    return (
        statement.cause in {None, "FLOPS", "CAPACITY", "HARDWARE"}
        and said.has(_NARROWED)
        and ("QUANT" in statement.nearby or _PAIR.search(statement.context_text) is not None)
        and not said.has(r"\bkv\b|\bcache\b|\bvram\b|[GT]B/s")
        and _OTHERS.isdisjoint(statement.nearby)
    )


def _ratio(text: str) -> float | None:
    """Bytes before over after: by sizes, where a part of the whole shrinks, as told, or by widths.

    Of several readings the largest counts, which allows the most.
    """
    shrunk = _FROM_TO.search(text)
    whole = _WHOLE.search(text)
    if shrunk and whole:
        before, after, total = float(shrunk[1]), float(shrunk[2]), float(whole[1])
        return total / (total - before + after) if total >= before > after else None
    pairs = [[float(size) for size in one.groups() if size] for one in _PAIR.finditer(text)]
    found = [max(sizes) / min(sizes) for sizes in pairs if min(sizes) > 0]
    found += [_PARTS[(part[1] or part[2]).lower()] for part in _PART_OF.finditer(text)]
    told = (next(filter(None, one.groups())) for one in _TIMES_LESS.finditer(text))
    found += [float(times) for times in told]
    widths = widths_of(text)
    if len(widths) > 1:
        found.append(max(widths) / min(widths))
    elif not found and widths and min(widths) < 16:
        found.append(16.0 / min(widths))
    return max(found, default=None)
