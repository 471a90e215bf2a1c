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
from advisor.finding import Confidence, ErrorClass, Finding, Severity
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
    about=(PROSE,),
    flagged=(
        """\
The 4-bit kernel is 3.9x faster at batch 1, «so an 8K prompt is processed in a quarter of the time.»
""",
    ),
    passing=(
        """\
The 4-bit kernel is 3.9x faster at batch 1 and somewhat slower for long prompts.
""",
    ),
)

_CONCLUDING = frozenset({"so", "hence", "therefore", "thus", "accordingly"})


def check(audit: Audit) -> Iterator[Finding]:
    """A decode gain that is concluded to hold for the prompt."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a long prompt waits for arithmetic, not for bytes",
        instead="claim time per token; for the prompt use formats that the matrix units multiply",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    if statement.kind is not Kind.GAIN or statement.phase is not Phase.PREFILL:
        return None
    sure = confidence_of(statement)
    carried = statement.opener in _CONCLUDING or "TRANSFER" in statement.clause
    decode = any(phase is Phase.DECODE for phase, _, _ in statement.earlier)
    if sure is None or not carried or not decode or "PREFILL" not in statement.clause:
        return None
    return Wrong(
        "a prompt of 512 tokens does about 512 FLOP for each byte of 16-bit weights, above the"
        " ridge of nearly every device (37 to 420): fewer bytes bring it 0.9 to 1.0x",
        sure,
    )
