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
from advisor.judge import GRACE
from advisor.operands import wide_crossover
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


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if statement.kind is not Kind.GAIN or sure is None:
        return None
    if statement.cause == "QUANT" and "PREFILL" in statement.clause and said.says(_SAME_FOR):
        return _hidden(sure)
    if statement.phase is not Phase.PREFILL:
        return None
    carried = statement.opener in _CONCLUDING or "TRANSFER" in statement.clause
    decode = any(phase is Phase.DECODE for phase, _, _ in statement.earlier)
    if not carried or not decode or "PREFILL" not in statement.clause:
        return None
    return _hidden(sure)


def _hidden(sure: Confidence) -> Wrong:
    return Wrong(
        "a prompt of 512 tokens does about 512 FLOP for each byte of 16-bit weights, above the"
        " ridge of nearly every device (37 to 420): fewer bytes bring it 0.9 to 1.0x",
        sure,
    )
