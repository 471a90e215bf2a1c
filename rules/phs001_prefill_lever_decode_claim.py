"""## What it does
Flags ideas that act on the prompt (attention kernels, prefix caches, chunked prefill, separate
prefill workers) with a claim on the time per output token.

## Why is this bad
A decode step attends with one query per sequence: there is no S x S score matrix to avoid, and at
short context the cache is a few percent of what the step reads. A prefix cache skips work before
the first token and nothing after it; the reused keys and values are read in every step all the
same. So the most an attention kernel can bring is 1 / (1 - KV share of the step).

## Instead
Claim time to first token. For decode at long context, propose what reads less cache: FP8 KV,
fewer KV heads, a window; or a kernel that splits the cache of one sequence over the device.

## When this rule is wrong
Chunked and separate prefill keep other requests' prompts out of a decode step, which shortens the
tail of inter-token latency under load. The rule flags them at batch 1 only, where there are no
others. At long context an attention kernel matters, and a claim within the KV share is silent.

## References
- Dao et al.: Flash-Decoding for long-context inference:
  https://pytorch.org/blog/flash-decoding/
- Agrawal et al.: Sarathi-Serve, taming throughput-latency tradeoff: https://arxiv.org/abs/2403.02310
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.claims import Metric, Stream
from advisor.evidence import (
    claimed_over,
    hangs_on_other_requests,
    is_stated,
    lever_facts,
    lever_numbers,
    promises_speed,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind, Phase
from advisor.rule import PROSE, Rule
from advisor.said import (
    Said,
    Wrong,
    attributed,
    bytes_fall,
    carries_over,
    confidence_of,
    decode_gain,
)
from advisor.told.prompt_time import at_the_others_rate
from advisor.told.short_attention import short_attention
from advisor.wording import factor, percent, size

RULE = Rule(
    code="PHS001",
    name="prefill-lever-decode-claim",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PREFILL_DECODE,
    about=("attention_kernel", "prefix_cache", "chunked_prefill", "disaggregate", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 1k}
levers:
  - «kind: attention_kernel»
    name: FlashAttention-3
    claim: 1.5x faster token generation
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 4k}
levers:
  - «kind: prefix_cache»
    claim: 2x tokens/s per user
""",
        """\
FlashAttention-3 at 512 tokens of context: «token generation gets 2x faster.»
""",
        """\
The new kernel cut TTFT from 800 to 400 ms, «so tokens are generated twice as fast as well.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 4k}
levers:
  - kind: prefix_cache
    claim: 3x lower TTFT
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 64k}
levers:
  - kind: attention_kernel
    name: split-KV
    claim: 1.2x tokens/s
""",
        """\
FlashAttention makes prefill of 32K prompts 3x faster.
""",
        """\
Prefix caching cuts TTFT for repeated prompts, TPOT stays the same.
""",
    ),
)

_PER_TOKEN = frozenset({Metric.TPOT, Metric.TOKENS_PER_SECOND})


def check(audit: Audit) -> Iterator[Finding]:
    """Levers on the prompt with claims on decode."""
    for lever in audit.levers:
        kind = lever.lever.kind
        if kind not in RULE.about or not _claims_decode(audit, lever):
            continue
        attention = kind == "attention_kernel"
        if attention and not is_stated(audit, "context"):
            continue
        if hangs_on_other_requests(audit, lever):
            continue
        if not claimed_over(lever, lever.tpot.ceiling):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            _attention(lever) if attention else _prompt(lever),
            why="with one query per sequence the step waits for weights and cache, not for scores",
            instead=advice(audit, "claim time to first token"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "kv_share": lever.before.estimate.shares.kv},
            error_class=ErrorClass.FLASH_ATTENTION_SHORT if attention else None,
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="decode reads weights and cache once per token, whatever the prompt cost",
        instead="claim time to first token, or a decode kernel at long context",
    )


def _claims_decode(audit: Audit, lever: LeverAudit) -> bool:
    """Whether time per token is claimed, by name or in a proposal that is about decode."""
    judged = lever.claim
    if judged is None or judged.claim is None or not promises_speed(lever):
        return False
    by_name = judged.claim.metric in _PER_TOKEN or judged.claim.stream is Stream.SINGLE
    if lever.lever.kind == "attention_kernel":
        return by_name or is_stated(audit, "phase")
    return by_name


def _attention(lever: LeverAudit) -> str:
    before = lever.before
    share = before.estimate.shares.kv
    return (
        f"{lever.lever.label} acts on the prompt; in decode at {before.deployment.context:,} tokens"
        f" attention over the cache is {percent(share)} of the step,"
        f" so {factor(lever.tpot.ceiling)} at most"
    )


def _prompt(lever: LeverAudit) -> str:
    moved = lever.after.estimate.bytes
    return (
        f"{lever.lever.label} acts on the prompt; each token after the first still reads"
        f" {size(moved.weights)} of weights and {size(moved.kv_read)} of cache: 1.00x"
    )


_RATES = re.compile(r"(\d[\d,]*) (?:prompt |input )?tok(?:en)?s?(?:/s| per second)")


def _judge(said: Said) -> Wrong | None:
    """A property or gain of the prompt, applied to decode."""
    statement = said.statement
    sure = attributed(said) or decode_gain(said)
    if (by_rate := at_the_others_rate(said)) is not None:
        return by_rate
    if _same_rate(said) or _taken_over(said):
        sure, wrong = confidence_of(statement), True
    elif said.has(_OTHERWISE):
        return short_attention(said)
    elif _apart_for_one(said):
        sure, wrong = confidence_of(statement), True
    elif _among_others(said) or sure is None:
        return short_attention(said)
    elif statement.cause == "PREFIX" and statement.table is not None:
        label = f"{statement.table[1][0]} {statement.table[0][statement.table[2]]}"
        wrong = re.search(_BETWEEN_TOKENS, label, re.IGNORECASE) is not None
        wrong &= re.search(_OF_THE_FIRST, label, re.IGNORECASE) is None
    elif statement.cause == "PREFIX":
        about_tokens = not statement.clause.isdisjoint({"DECODE", "RATE", "TOKENS"}) or (
            # a label parts the metric from what is said of it: "TPOT: -40% by ..."
            _LABELLED.match(statement.sentence_text) is not None
        )
        first = re.search(_OF_THE_FIRST, statement.text, re.IGNORECASE) is not None
        first &= re.search(_BETWEEN_TOKENS, statement.text, re.IGNORECASE) is None
        first |= re.search(_OF_EACH_WORD, statement.sentence_text, re.IGNORECASE) is None
        later = re.search(_THEREAFTER, statement.text, re.IGNORECASE) is not None
        first, about_tokens = first and not later, about_tokens or later
        carried = "TRANSFER" in statement.clause and statement.is_linked
        wrong = not first and (statement.reach <= 2 or carried or later) and about_tokens
    elif _rests_on_prompt(said):
        wrong = True
    else:
        modest = statement.cause == "DISTILL" and (statement.speedup or 0.0) < _OF_STUDENT
        wrong = (carries_over(said) and not modest) or (
            statement.cause in {"QUANT", "MATMUL", "ATTN"}
            and statement.nearby >= {"PREFILL", "DECODE"}
            and said.has(
                r"no difference between (?:prompt|prefill) and (?:generation|decod)|both are"
            )
        )
    if wrong and sure is not None:
        return Wrong(
            "prefill multiplies each weight with hundreds of tokens, decode with 1: what is gained"
            " on the prompt is 1.00x for the tokens after it",
            sure,
            ErrorClass.PREFILL_DECODE,
        )
    return short_attention(said)


_APART = (
    r"\bdisaggregat\w+|\bchunked prefill|\bseparat\w+ (?:the )?prefill"
    r"|\b(?:prompts? in|chunks of the|splitting the) (?:chunks|prompts?)\b"
    r"|\bprefill (?:\w+"
    r" ){0,3}?(?:on|onto|to)"
    r" (?:its|their|an?|separate|other|dedicated) (?:own )?"
)


def _apart_for_one(said: Said) -> bool:
    """Whether a prefill kept apart is to make the tokens of one user faster."""
    statement = said.statement
    if statement.kind is not Kind.GAIN or "SINGLE" not in statement.clause:
        return False
    if statement.clause.isdisjoint({"RATE", "TIME", "DECODE"}) or not said.says(_APART):
        return False
    return re.search(_OF_THE_FIRST, statement.text, re.IGNORECASE) is None


_MANY_CALLS = (
    r"\b\d[\d.]* ?(?:qps|rps|req(?:uests)?(?: ?/ ?| per | a )s(?:ec(?:ond)?)?)\b|\bunder load\b"
    r"|\bmixed (?:server|batch|traffic)|\bat the fleet level\b"
)
"""Prompts of others share the steps: work that is saved on them shortens these."""


def _among_others(said: Said) -> bool:
    """Whether prompts are kept out of the steps of others: a user alone would not notice."""
    statement = said.statement
    if statement.cause != "PREFIX" or statement.is_single:
        return False
    if said.says(_MANY_CALLS):
        return True
    return said.says(_APART) if "PREFIX" in statement.sentence else said.has(_APART)


_OF_EACH_WORD = (
    r"\b(?:tokens?|tpot|itl|tbt|inter-?token|typ(?:es?|ing)|stream\w*|decod(?:es?|ing) (?!worker"
    r"|node|engine"
    r"|instance"
    r"|server|pod|step is)|decode[- ](?:speed|rate|latency)|t/s|tps|words?|writ(?:es|ing|ten)"
    r"|generat(?:es|ing|ion) (?!time|delay|latency)|generation (?:speed|rate)|speed)\b"
)
"""What is told of tokens, and not of a whole response with its prompt."""
_BETWEEN_TOKENS = (
    r"\b(?:tpot|itl|tbt|inter-?token|per output token|(?:between|of) (?:\w+ ){0,2}?tokens"
    r"|tok(?:ens?)?(?:/s| per second))\b"
)
"""What is told of the tokens after the first, and compared with it perhaps."""
_OF_STUDENT = 5.0
"""A smaller model reads so many times fewer bytes, and does help the tokens as well."""
_THEREAFTER = (
    r"\b(?:rest of (?:the |each |every |its )?(?:answer|reply|response|output|text|completion)"
    r"|once the first (?:token|word) is|(?:each|every) (?:further|later|following|next|subsequent)"
    r" token|(?:gap|time|interval|pause|wait) between (?:\w+ ){0,2}?tokens)\b"
)
"""The tokens after the first, in so many words."""
_LABELLED = re.compile(
    r"\W*(?:tpot|itl|tbt|decode|ms per token|tok\S*)\b[^.:]{0,24}:", re.IGNORECASE
)
_BOTH_WAYS = (
    r"w8a8|w4a4|fp8 weights and activations|weights and activations|layers? (?:\w+ )?(?:removed"
    r"|dropped"
    r"|cut|out|gone)|fewer layers|(?:half|third|quarter) of the layers|(?:remov|drop|cut)\w* (?:\w+"
    r" ){0,4}?"
    r"(?:layers|blocks)|(?:small(?:er)?|student|distill\w*) model|the student|smaller network|depth"
    r" prun|new (?:card|gpu)|newer (?:card|gpu)|upgrade|(?:from|on) (?:the |an? )?[ahb]\d00 to"
    r"|tensor[- ]parallel|\btp ?=? ?\d|cuda graphs?|launch|overhead|eager|throttl|clock"
)
"""Levers that do help prompt and tokens alike."""
_AFTER_PROMPT = (
    r"\b(?:tokens? (?:that follow|after|thereafter|afterwards)|(?:following|subsequent|remaining"
    r"|later)"
    r" tokens?|generat\w+|decod\w+|tpot|itl|tbt|inter-?token|written|emitted|repl(?:y|ies)|answers?"
    r"|per token|each token|output|summary|caption|completion|second token|stream\w*|one user"
    r"|tg\d*)\b"
)
_OF_PROMPT = r"\b(?:pre-?fill\w*|prompts?|ttft|first token|ingest\w*|encod\w+|pp\d+)\b"


def _taken_over(said: Said) -> bool:
    """Whether a gain or a rate of the prompt is said to hold for the tokens after it."""
    statement = said.statement
    if statement.kind not in {Kind.CARRIED, Kind.GAIN} or statement.is_aggregate:
        return False
    if statement.phase in {Phase.TRAINING, Phase.OTHER} or said.has(_BOTH_WAYS):
        return False
    if bytes_fall(said):
        return False  # which speeds up the tokens by itself
    own = statement.text
    # "generation is made of the same products, so its rate improves by that factor"
    told = statement.sentence_text if _ITS.search(own) is not None else own
    if not re.search(_AFTER_PROMPT, told, re.IGNORECASE) or re.search(
        _OF_PROMPT, own, re.IGNORECASE
    ):
        return False
    before = statement.context_text.rpartition(own)[0]
    if not re.search(_PROMPT_GAIN, before, re.IGNORECASE):
        return False
    if re.search(_OF_TOKENS, before, re.IGNORECASE) or re.search(_OLD, own, re.IGNORECASE):
        return False
    if statement.kind is Kind.CARRIED or not statement.earlier:
        return statement.kind is Kind.CARRIED or bool(re.search(_ALIKE_TOO, own, re.IGNORECASE))
    same = statement.speedup is not None and any(
        phase is not Phase.DECODE and other and abs(other / statement.speedup - 1.0) < _ALIKE
        for phase, other, _ in statement.earlier
    )
    of_kernel = statement.cause in {None, "MATMUL", "PEAK"} and said.has(_KERNEL)
    return same and (of_kernel or bool(re.search(_TOO, own, re.IGNORECASE)))


_ITS = re.compile(r"^\W*(?:so|hence|thus|therefore|and|which is why) (?:its|their|it|they)\b")
_PROMPT_GAIN = (
    rf"{_OF_PROMPT}[^;]{{0,90}}?(?:fast|quick|soon|\d ?[x×%]|fold\b|times\b|hal[fv]|third|quarter"
    rf"|down|\d ?(?:->|→)"
    r"|from \d[\d.]* ?(?:ms |s )?to \d|cut|shorten|fell|drop|\bmfu|[tp]flops|tok\S*/s|\bpeak"
    r"|utili[sz]|instead of)"
    rf"|(?:fast|quick|\d ?[x×%]|fold\b|times\b|hal[fv]|quarter|cut|short|\bmfu|[tp]flops|tok\S*/s"
    rf"|\bpeak|utili[sz])[^;]{{0,60}}?{_OF_PROMPT}"
    r"|prompt chunks?\b"
)
"""A gain or a rate of the prompt."""
_OLD = (
    r"as before|as ever|\bold (?:rate|pace|speed)|unchanged|as (?:it|they) (?:was|were|did)"
    r"|same (?:rate|pace|speed|time) as\b"
)
_ALIKE_TOO = (
    r"\b(?:as well|too|also|likewise|same|equally|accordingly|follows? (?:suit|along)|in step)\b"
)
_OF_TOKENS = r"\b(?:decod\w+|tpot|itl|tbt|per token|each token|tok(?:ens?)?/s per user)\b"
"""What stands before the prompt's gain where tokens gain by themselves."""
_TOO = (
    r"\b(?:too|as well|also|likewise|same|equally|accordingly|hence|therefore|so|thus|then"
    r"|as a (?:result|consequence))\b"
)
_ALIKE = 0.06
_KERNEL = (
    r"\b(?:kernels?|gemms?|mmq|matmuls?|tiles?|tiling|tensor cores?|w?mma|wgmma|cutlass|cublas)\b"
)
_OF_THE_FIRST = (
    r"\b(?:ttft|first (?:\w+ )?(?:token|word)(?! to\b)|starts?|starting|begins?|appears? sooner"
    r"|prompts?"
    r" (?:\w+"
    r" ){0,3}?"
    r"(?:faster|sooner))\b"
)


def _rests_on_prompt(said: Said) -> bool:
    """Whether the sentence before is about the prompt alone, and this one concludes from it."""
    statement = said.statement
    if statement.cause not in {None, "FLOPS", "HARDWARE"} or not statement.is_linked:
        return False
    if "PREFILL" in statement.sentence or "PREFILL" not in statement.nearby:
        return False
    before = said.statement.context_text.removesuffix(statement.sentence_text)
    if re.search(_OF_PACE, before, re.IGNORECASE) is None:
        return False
    return re.search(_OF_DECODE, before, re.IGNORECASE) is None and said.says(_FOLLOWS)


_OTHERWISE = (
    r"\bstall|interfer|\bcompet(?:es?|ing|ition)\b|contend|head[- ]of[- ]line|block(?:s|ed"
    r"|ing)? (?:the )?(?:decod|other|stream)"
    r"|end[- ]to[- ]end"
    r"|from submission|whole request|total time|turnaround|less (?:of )?kv|fewer kv|smaller cache"
)
"""Why a lever on the prompt may help the tokens after it, or the whole request."""
_OF_DECODE = r"\b(?:decod|generat|tpot|itl|tbt|per token|each token|weights?|output|repl(?:y|ies))"
_OF_PACE = (
    r"\b(?:fast\w*|quick\w*|speed\w*|slow\w*|time|latency|ttft|throughput|rate|[tp]?flops"
    r"|comput\w+|arithmetic|utili[sz]\w+|bound|tensor cores?|kernels?|ms|seconds|tok\S*/s"
    r"|\d[\d.]*[x×]|\d ?%)"
)
"""What is told of the pace of a prompt, and not of what it says."""
_FOLLOWS = (
    r"^\W*(?:as a (?:result|consequence)|so|hence|thus|therefore|consequently|accordingly"
    r"|this)\b"
)


_SAME_TOKENS = r"\bsame (?:rate of )?~?\d[\d,.]* ?k? ?tok"
_NO_SINGLE = 1.0
"""Milliseconds: rates of a thousand tokens a second are those of prompts."""


def _same_rate(said: Said) -> bool:
    """A rate of the prompt that the tokens after it are said to have as well."""
    statement = said.statement
    tpot = statement.tpot_ms
    rates = [rate.replace(",", "") for rate in _RATES.findall(statement.context_text)]
    repeated = len(rates) > len(set(rates)) and statement.phase is Phase.DECODE
    if statement.kind is Kind.FIGURE and repeated and "PREFILL" in statement.nearby:
        return said.says(r"\b(?:also|too|as well|therefore|same)\b")
    if statement.kind is Kind.FIGURE and statement.phase is Phase.DECODE and tpot is not None:
        told = re.search(_SAME_TOKENS, statement.text, re.IGNORECASE)
        if told and "PREFILL" in statement.nearby and tpot < _NO_SINGLE:
            return True
    if statement.kind is not Kind.FIGURE or tpot is None or statement.phase is not Phase.DECODE:
        return False
    if "TRANSFER" not in statement.clause and not (statement.is_linked and tpot < _NO_SINGLE):
        return False
    return any(
        phase is Phase.PREFILL and other is not None and abs(other - tpot) < _ALIKE * other
        for phase, _, other in statement.earlier
    )
