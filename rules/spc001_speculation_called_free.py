"""## What it does
Flags speculative decoding that is said to pay at any load, to cost nothing when drafts are wrong, or
to keep its gain at a large batch.

## Why is this bad
Verifying g drafted tokens makes B x (g + 1) tokens a step. Near the crossover batch the linear layers
are compute-bound, and rejected tokens take compute from other requests; the draft itself takes time
everywhere. Tokens per pass are (1 - a^(g+1)) / (1 - a) at acceptance a, and the step costs g x c more.

## Instead
State acceptance (or tokens per pass), draft length, batch and temperature, and switch drafting off
above a load.

## When this rule is wrong
At long context decode stays bound by the KV cache at any batch, and speculation can keep paying; n-gram
drafts cost next to nothing at small batch.

## References
- Leviathan et al.: Fast inference from transformers via speculative decoding: https://arxiv.org/abs/2211.17192
- Chen et al.: MagicDec: https://arxiv.org/abs/2408.11049
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of

RULE = Rule(
    code="SPC001",
    name="speculation-called-free",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=(PROSE,),
    flagged=(
        """\
«At batch 256 speculative decoding will still give 2.5x.»
""",
    ),
    passing=(
        """\
Speculative decoding gave 2.3x at batch 1 with 2.9 accepted tokens per pass.
""",
        """\
Speculative decoding stops paying at batch 64 and more.
""",
    ),
)

_LARGE = 64
"""Sequences with which four drafted tokens each reach the crossover of an H100 (295)."""


def check(audit: Audit) -> Iterator[Finding]:
    """Speculation without a condition, or at a batch where it pays no more."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="verification takes compute, and drafting takes time, whether drafts are accepted or not",
        instead="state acceptance, draft length and batch; switch drafting off above a load",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or "SPEC" not in statement.nearby or statement.phase in NO_DECODE:
        return None
    if said.has(r"n-?gram|prompt lookup"):
        return None
    named = "SPEC" in statement.sentence or (statement.cause == "SPEC" and statement.is_linked)
    free = statement.kind is Kind.FREE and named
    always = (
        statement.kind is Kind.GAIN
        and "ALWAYS" in statement.sentence
        and "SPEC" in statement.sentence
    )
    large = (statement.frame.batch or 0) >= _LARGE or "LARGE_BATCH" in statement.sentence
    loaded = (
        statement.kind is Kind.GAIN
        and large
        and not statement.is_aggregate
        and not said.says(r"\boff\b|disabl|slow|less")
    )
    if not (free or always or loaded):
        return None
    return Wrong(
        "4 drafted tokens make 5 tokens of each sequence: at batch 64 a step verifies 320, above"
        " the crossover of an H100 (295 in BF16); at 60% acceptance a pass yields 2.3 tokens",
        sure,
    )
