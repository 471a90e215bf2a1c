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
from advisor.said import Said, Wrong, carries_over, confidence_of, decode_gain
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
_SHORT = 4096
"""Tokens up to which attention is a few percent of a step at batch 1."""


def _judge(said: Said) -> Wrong | None:
    """A property or gain of the prompt, applied to decode."""
    statement = said.statement
    sure = decode_gain(said)
    if _same_rate(said):
        sure, wrong = confidence_of(statement), True
    elif said.has(_OTHERWISE):
        return None
    elif sure is None:
        return _short_attention(said)
    elif statement.cause == "PREFIX":
        about_tokens = not statement.clause.isdisjoint({"DECODE", "RATE", "TOKENS"})
        wrong = "PREFILL" not in statement.clause and statement.reach <= 2 and about_tokens
    elif _rests_on_prompt(said):
        wrong = True
    else:
        wrong = carries_over(said) or (
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
    return _short_attention(said)


def _rests_on_prompt(said: Said) -> bool:
    """Whether the sentence before is about the prompt alone, and this one concludes from it."""
    statement = said.statement
    if statement.cause not in {None, "FLOPS", "HARDWARE"} or not statement.is_linked:
        return False
    if "PREFILL" in statement.sentence or "PREFILL" not in statement.nearby:
        return False
    before = said.statement.context_text.removesuffix(statement.sentence_text)
    return re.search(_OF_DECODE, before, re.IGNORECASE) is None and said.says(_FOLLOWS)


_OTHERWISE = (
    r"stall|interfer|head[- ]of[- ]line|block(?:s|ed|ing)? (?:the )?(?:decod|other|stream)"
    r"|end[- ]to[- ]end"
    r"|from submission|whole request|total time|turnaround|less (?:of )?kv|fewer kv|smaller cache"
)
"""Why a lever on the prompt may help the tokens after it, or the whole request."""
_OF_DECODE = r"\b(?:decod|generat|tpot|itl|tbt|per token|each token|weights?|output|repl(?:y|ies))"
_FOLLOWS = (
    r"^\W*(?:as a (?:result|consequence)|so|hence|thus|therefore|consequently|accordingly"
    r"|this)\b"
)


def _same_rate(said: Said) -> bool:
    """A rate of the prompt that the tokens after it are said to have as well."""
    statement = said.statement
    tpot = statement.tpot_ms
    rates = [rate.replace(",", "") for rate in _RATES.findall(statement.context_text)]
    repeated = len(rates) > len(set(rates)) and statement.phase is Phase.DECODE
    if statement.kind is Kind.FIGURE and repeated and "PREFILL" in statement.nearby:
        return said.says(r"\b(?:also|too|as well|therefore|same)\b")
    if statement.kind is not Kind.FIGURE or tpot is None or "TRANSFER" not in statement.clause:
        return False
    return statement.phase is Phase.DECODE and any(
        phase is Phase.PREFILL and other is not None and abs(other - tpot) < 0.05 * other
        for phase, _, other in statement.earlier
    )


def _short_attention(said: Said) -> Wrong | None:
    """An attention kernel that is to make decode faster at short context."""
    statement = said.statement
    sure = decode_gain(said)
    if statement.kind is Kind.DRIVER and statement.phase is Phase.DECODE:
        sure = confidence_of(statement)
    if sure is None or statement.cause != "ATTN":
        return None
    context = statement.frame.context
    long = "LONG" in statement.sentence and "SHORT" not in statement.sentence
    if (context is not None and context > _SHORT) or long:
        return None
    if "SHORT" not in statement.nearby and context is None:
        sure = Confidence.MEDIUM
    length = context or 512
    return Wrong(
        f"at {length:,} tokens the cache of an 8B is {131_072 * length / 1e9:.2g} GB beside 15 "
        f"GB of"
        f" weights: attention is {100 * 131_072 * length / (15e9 + 131_072 * length):.1f}% of the"
        " bytes, so even for free it brings no more",
        sure,
        ErrorClass.FLASH_ATTENTION_SHORT,
    )
