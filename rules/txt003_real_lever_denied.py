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
from advisor.prose.model import Kind, Phase, Status
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, is_small_batch

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

_ARITHMETIC = (
    r"multipl|flops|arithmetic|\bcompute|adds work|16 bits|16-bit|\bmath\b|de-?quanti[sz]|more work"
    r"|extra work|tensor cores"
)
_OPENERS = frozenset({"so", "hence", "therefore", "because", "thus", "", ":", "as", "since"})
_OTHERS = frozenset({"ACTQ", "KVQ", "PRUNE", "BATCH", "MASK", "MASKED_HEADS", "S24"})
_BUSY = (
    r"saturat|full (?:server|load|batch)|busy|throughput|large batch|high load|accept|under load"
    r"|prefill|prompts?\b|at scale|offline|rejected"
)
_OF_MATH = (
    r"(?:multiplications?|math|arithmetic|products?|matmuls?|gemms?|compute) (?:\w+ )?(?:in|at|with"
    r"|to)"
    r" (?:fp8|int8|fp4|int4|8|4)"
)
"""Narrower arithmetic, which does bring nothing."""
_LONG_ENOUGH = 16_384
"""Tokens from which on the cache is a large part of a step."""


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
    denied = statement.status in {Status.DENIED, Status.ASSERTED}
    if statement.kind is not Kind.NO_GAIN or not denied or statement.phase in NO_DECODE:
        return None
    if not is_small_batch(statement) or said.says(r"[?\"“]") or said.says(_ELSE):
        return None
    context = statement.frame.context or 0
    long = context >= _LONG_ENOUGH or (not context and "LONG" in statement.nearby)
    weights = (
        statement.cause in {"QUANT", "SPEC"}
        and said.has(_ARITHMETIC)
        and not said.has(_BUSY)
        and _OTHERS.isdisjoint(statement.sentence)
        and statement.opener in _OPENERS
        and not said.says(_OF_MATH)
        and not ("HARDWARE" in statement.clause and "PEAK" in statement.nearby)
        and (statement.cause == "SPEC" or (statement.is_single and statement.phase is Phase.DECODE))
    )
    if weights and "LONG" not in statement.sentence:
        return Wrong(_BYTES, Confidence.HIGH)
    decode = statement.phase is Phase.DECODE
    by_heads = statement.cause == "GQA" and long and decode and not said.says(_OF_FLOPS)
    return _unread(context or _AN_EXAMPLE) if by_heads else None


_ELSE = (
    r"\b(?:nothing (?:that|which)|aside|apart from|prefill|ttft|first token|training|accuracy"
    r"|quality"
    r"|memory footprint|capacity)\b"
)
_OF_FLOPS = r"\bflops (?:of|in|for|per)\b"
_AN_EXAMPLE = 100_000
_BYTES = (
    "at batch 1 a step does 1 to 4 FLOP per byte against a ridge of 37 to 420: fewer bytes, or"
    " more tokens per pass, are what makes it faster"
)


def _unread(context: int) -> Wrong:
    cache = 131_072 * context
    return Wrong(
        f"at {context:,} tokens the cache of an 8B with 8 KV heads is {cache / 1e9:.3g} GB, read"
        f" for"
        f" each token beside 16 GB of weights ({4 * cache / 1e9:.3g} GB with a KV head for each"
        f" query"
        " head): what shrinks it makes decode faster",
        Confidence.HIGH,
        numbers={"kv_bytes_of_an_8b": cache},
    )
