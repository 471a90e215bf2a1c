"""## What it does
Flags the denial of a lever that works: weight-only quantization or speculation that "cannot" make
a stream faster because it saves no arithmetic, GQA that "brings nothing" at long context.

## Why is this bad
At small batch time follows bytes per token. Weight-only INT4 reads a quarter of them and
multiplies in 16 bits all the same; speculation does more arithmetic and reads the weights less
often; GQA shrinks the cache that every token reads.

## Instead
Count bytes per token before and after, and tokens per pass.

## When this rule is wrong
In prefill and at batches beyond the crossover the denial is right: state the regime.

## References
- Lin et al.: AWQ: https://arxiv.org/abs/2306.00978
- Leviathan et al.: Speculative decoding: https://arxiv.org/abs/2211.17192
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind, Phase
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, is_small_batch

RULE = Rule(
    code="TXT003",
    name="real-lever-denied",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OTHER,
    about=(PROSE,),
    flagged=(
        """\
Weight-only INT4 still multiplies in 16 bits, «so it cannot make single-user decode faster.»
""",
    ),
    passing=(
        """\
Weight-only INT4 cannot make prefill of long prompts faster.
""",
        """\
Head masks do not make single-user decode faster.
""",
    ),
)

_ARITHMETIC = r"multipl|flops|arithmetic|\bcompute|adds work|16 bits|16-bit"
_OPENERS = frozenset({"so", "hence", "therefore", "because", "thus", ""})
_OTHERS = frozenset({"ACTQ", "KVQ", "PRUNE", "BYTES", "BATCH"})


def check(audit: Audit) -> Iterator[Finding]:
    """A lever on bytes, denied for the sake of arithmetic."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="decode waits for bytes, of which the lever moves fewer",
        instead="count bytes per token and tokens per pass",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    if statement.kind is not Kind.NO_GAIN or statement.phase is not Phase.DECODE:
        return None
    if not is_small_batch(statement) or said.says(r"[?\"“]"):
        return None
    by_arithmetic = (
        statement.cause in {"QUANT", "SPEC"}
        and said.has(_ARITHMETIC)
        and _OTHERS.isdisjoint(statement.sentence)
        and statement.opener in _OPENERS
        and statement.is_single
    )
    by_heads = statement.cause == "GQA" and "LONG" in statement.nearby
    if not by_arithmetic and not by_heads:
        return None
    return Wrong(
        "at batch 1 a step does 1 to 4 FLOP per byte against a ridge of 37 to 420: fewer bytes, or"
        " more tokens per pass, are what makes it faster",
        Confidence.HIGH,
    )
