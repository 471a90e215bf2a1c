"""## What it does
Flags a gain of decode at small batch that is carried over to the prompt: "3.9x at batch 1, so the
8K prompt takes a quarter of the time".

## Why is this bad
A prompt of a few hundred tokens or more multiplies every weight with all its tokens: it is
compute-bound. Fewer bytes of weights and more tokens per pass are hidden behind the arithmetic, and
unpacking narrow weights adds some (0.9 to 1.0x).

## Instead
Claim time per token. For the prompt: formats that the matrix units multiply (FP8, W8A8, NVFP4), a
prefix cache, a fused attention kernel.

## When this rule is wrong
For prompts of some tens of tokens, which are as memory-bound as decode: state their length.

## References
- Agrawal et al.: Sarathi-Serve, prefill and decode: https://arxiv.org/abs/2403.02310
- Frantar et al.: MARLIN at larger batches: https://arxiv.org/abs/2408.11743
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.claims import Metric
from advisor.evidence import is_stated, lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.operands import wide_crossover
from advisor.prose.cache_patterns import lengths_in
from advisor.prose.lengths import READS_DOCUMENT
from advisor.prose.model import Kind, Phase
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, confidence_of

RULE = Rule(
    code="PHS002",
    name="decode-lever-prefill-claim",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PREFILL_DECODE,
    about=("quantize", "speculate", PROSE),
    flagged=(
        """\
The 4-bit kernel is 3.9x faster at batch 1, «so an 8K prompt is processed in a quarter of the time.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, prompt: 8k, output: 200}
levers:
  - {«kind: quantize», weights: int4-g128, claim: 2x lower TTFT}
""",
    ),
    passing=(
        """\
The 4-bit kernel is 3.9x faster at batch 1 and somewhat slower for long prompts.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, prompt: 8k, output: 200}
levers:
  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.5x lower TTFT}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, prompt: 30, output: 200}
levers:
  - {kind: quantize, weights: int4-g128, claim: 1.5x lower TTFT}
""",
    ),
)

_SAME_FOR = (
    r"(?:do|does|is|are) the same for|same (?:holds|applies|goes) (?:for|to)|as much for|equally "
    r"for"
)
_CONCLUDING = frozenset({"so", "hence", "therefore", "thus", "accordingly"})


def check(audit: Audit) -> Iterator[Finding]:
    """A decode gain that is concluded to hold for the prompt."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a long prompt waits for arithmetic, not for bytes",
        instead="claim time per token; for the prompt use formats that the matrix units multiply",
    )


_TTFT = frozenset({Metric.TTFT})


def _levers(audit: Audit) -> Iterator[Finding]:
    """Claims on the first token for levers that save bytes of weights or passes."""
    prompt = audit.proposal.workload.prompt
    for lever in audit.levers:
        read = lever.claim.claim if lever.claim is not None else None
        if read is None or read.metric not in _TTFT or (read.speedup or 0.0) <= GRACE:
            continue
        tokens = prompt.value if prompt is not None else lever.before.deployment.context
        stated = prompt is not None or is_stated(audit, "context")
        crossover = wide_crossover(lever.before)
        if lever.lever.kind not in RULE.about or not stated or tokens <= crossover:
            continue
        if lever.after.deployment.activations.bits < lever.before.deployment.activations.bits:
            continue  # narrower arithmetic does make a prompt faster
        yield RULE.on_lever(
            audit,
            lever,
            f"a prompt of {tokens:,} tokens waits for arithmetic, from {crossover:,.0f} on:"
            f" {lever.lever.label} leaves its FLOPs as they are, 0.9-1.0x",
            why="bytes hide behind the arithmetic of a long prompt",
            instead="formats that the matrix units multiply (FP8, W8A8), or a prefix cache",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "prompt_tokens": tokens, "crossover": crossover},
        )


_WEIGHT_ONLY = (
    r"\b(?:awq|gptq|int4|4[- ]bit|w4a16|w8a16|weight[- ]only|marlin|gguf|q[3-6](?:_\w+)?|nf4|exl2"
    r"|hqq"
    r"|quarters? the weight|weights (?:to|in|at) (?:int4|int8|4|8))"
)
_NARROW_MATH = (
    r"\b(?:w8a8|w4a8|w4a4|fp8|fp4|nvfp4|mxfp4|mxfp8"
    r"|activations?(?! (?:stay|remain|(?:are|is) (?:kept|left|still|in (?:bf|fp)?16|untouched)"
    r"|keep|in"
    r" (?:bf|fp)?16))|smoothquant|tflops|tensor cores"
    r" (?:twice"
    r"|faster)|compute)\b"
)
_BANDWIDTH = r"\b(?:[GT]B/s|bandwidth|hbm3e?|memory (?:speed|clock))\b"
_MORE_MATH = (
    r"\b(?:[tp]flops|(?:more|faster|twice the|stronger) (?:tensor |cuda )?(?:cores|compute|sms)|sm"
    r" count"
    r"|compute (?:rate|throughput)|newer (?:card|gpu)|tensor[- ]parallel|\btp ?=? ?\d)\b"
)
_SAME_MATH = (
    r"\b(?:same|unchanged|equal|identical) (?:\w+ )?(?:tensor cores|compute|tflops|cores|sms)"
)
_ELSEWHERE = (
    r"\b(?:disk|load(?:ing|ed)? (?:the )?(?:weights|checkpoint|model)|cold|ssd|nvme|pcie|host"
    r"|offload\w*"
    r"|cache hits?|prefix|swap\w*|transfer\w*|network|start-?up|queu\w*|batch(?:es)? of one token"
    r"|cpu|arm|laptop|phone)\b"
)
_LONG_PROMPT = 512
_HANDFUL = Form(
    r"\b(?:prompts?|input)\b[^.;]{0,24}?(?<![\d,.])(\d{1,3}) tokens"
    r"|(?<![\d,.])(\d{1,3})[- ]token (?:prompts?"
    r"|inputs?)"
    r"|(?:handful|few|ten|dozen) (?:of )?tokens"
)


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None:
        return None
    if statement.kind is Kind.MEMORY and statement.phase is Phase.PREFILL:
        if _BOTH_OR_OTHER.search(statement.text) is not None:
            return None
        return None if _is_short(said) or said.has(_ELSEWHERE) else _hidden(sure)
    if statement.kind is Kind.CARRIED and _is_carried(said):
        return _hidden(sure)
    if statement.kind is not Kind.GAIN:
        return None
    if statement.cause == "MATMUL" and "QUANT" not in statement.nearby:
        return None  # a faster product does speed the prompt up
    if statement.cause == "QUANT" and "PREFILL" in statement.clause and said.says(_SAME_FOR):
        return _hidden(sure)
    reading = READS_DOCUMENT.search(statement.text) is not None
    if (statement.phase is not Phase.PREFILL and not reading) or _is_short(said):
        return None
    carried = statement.opener in _CONCLUDING or "TRANSFER" in statement.clause
    decode = any(phase is Phase.DECODE for phase, _, _ in statement.earlier)
    of_device = statement.cause == "HARDWARE" and statement.reach > 1
    if carried and decode and "PREFILL" in statement.clause and not of_device:
        return _hidden(sure)
    if statement.cause == "SPEC" and _OF_PROMPT_ITSELF.search(statement.text) is not None:
        hardly = statement.speedup is not None and statement.speedup < _FELT
        return None if hardly else _drafted(sure)
    if said.has(_ELSEWHERE) or _prompt_tokens(said) < _LONG_PROMPT:
        return None
    if not statement.clause.isdisjoint({"SLOWER", "SINGLE"}):
        return None
    of_prompt = "PREFILL" in statement.clause or statement.is_linked
    if not of_prompt or (statement.speedup is not None and statement.speedup < _FELT):
        return None
    by_bytes = said.has(_WEIGHT_ONLY) and not said.has(_NARROW_MATH)
    by_rate = said.has(_BANDWIDTH) and not said.has(_MORE_MATH) and not said.has(_NARROW_MATH)
    others = statement.cause in {"PREFIX", "ATTN", "PRUNE", "LAYERS", "DISTILL", "SPEC", "MATMUL"}
    others |= of_device  # another device differs in its arithmetic as well
    others |= statement.cause == "PEAK" and not said.has(_SAME_MATH)
    return _hidden(sure) if (by_bytes or by_rate) and not others else None


_FELT = 1.1
_BOTH_OR_OTHER = Form(
    r"\b(?:compute|gemm|math|flops?)[- ](?:bound|limited|intensive)\b"
    r"|\b(?:compared (?:to|with)|unlike|than|versus|vs\.?|in contrast to|as opposed to|relative to"
    r"|different from|opposite of) (?:the |its )?(?:prefill\w*|prompt\w*)"
)
"""A prompt that waits for arithmetic all the same, or with which something else is compared."""
_OF_PROMPT_ITSELF = Form(
    r"\bprompts?\b[^.;,]{0,24}? (?:is|are|gets?) (?:\w+ )?(?:read|processed|ingested|evaluated"
    r"|prefilled)|\bprefill\w* (?:\w+ ){0,3}?(?:fast|quick|speed)|\bttft\b|time to first token"
    r"|\bfirst token\b|\b(?:on|for) (?:the |our |long )?(?:prefill|prompts?)\b"
)


def _is_carried(said: Said) -> bool:
    """Whether a factor of decode, by weights in fewer bits, is carried over to the prompt."""
    statement = said.statement
    if statement.phase is not Phase.PREFILL or "PREFILL" not in statement.clause:
        return False
    if _is_short(said) or said.has(_ELSEWHERE) or said.has(_NARROW_MATH):
        return False
    of_decode = any(phase is Phase.DECODE and speedup for phase, speedup, _ in statement.earlier)
    return of_decode and statement.cause == "QUANT" and said.has(_WEIGHT_ONLY)


def _drafted(sure: Confidence) -> Wrong:
    return Wrong(
        "drafts stand for tokens that are not known yet; those of the prompt are all known and"
        " computed together anyway: no gain before the first token",
        sure,
    )


def _prompt_tokens(said: Said) -> int:
    """Tokens of the prompt, as told; "long" is long."""
    context = said.statement.frame.context
    if context is not None:
        return context
    if lengths := lengths_in(said.statement.sentence_text):
        return max(lengths)
    if lengths := [
        int(match[1]) * 1000 for match in _OF_INPUT.finditer(said.statement.context_text)
    ]:
        return max(lengths)
    long = "LONG" in said.statement.nearby or READS_DOCUMENT.search(said.statement.text) is not None
    return _LONG_PROMPT if long else 0


_OF_INPUT = Form(
    r"(?<![\w.])(\d{1,3}) ?k(?:[- ]tokens?)?[- ](?:tickets?|prompts?|documents?|inputs?|e-?mails?"
    r"|articles?|contracts?|pages|files?|reports?|papers?|logs?)\b"
)
"""The length of what is read, told before: "8k-token tickets"."""


def _is_short(said: Said) -> bool:
    """Whether the prompt has so few tokens that its weights are read for hardly any."""
    match = _HANDFUL.search(said.statement.context_text)
    if match is not None:
        count = match[1] or match[2]
        return count is None or int(count) < _LONG_PROMPT // 2
    context = said.statement.frame.context
    return (context is not None and context < _LONG_PROMPT // 2) or "SHORT" in said.statement.nearby


def _hidden(sure: Confidence) -> Wrong:
    return Wrong(
        "a prompt of 512 tokens does about 512 FLOP for each byte of 16-bit weights, above the"
        " ridge of nearly every device (37 to 420): fewer bytes bring it 0.9 to 1.0x",
        sure,
    )
