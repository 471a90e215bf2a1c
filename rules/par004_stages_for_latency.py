"""## What it does
Flags pipeline stages or replicas that are to make one user's tokens come faster.

## Why is this bad
Stages run one after the other: a token passes all of them, and the sum of their times is the step
of one device. A request lives on one replica, whose step is as long as without the others. More
sequences in flight, and so more tokens in total, are what both bring.

## Instead
Claim throughput or room; for one user: tensor parallelism, fewer bytes, speculation.

## When this rule is wrong
A replica takes load off the others: where many requests share a step, or wait for one, each of them
gets faster. Where one device did not hold the model, stages end the reading from the host.

## References
- Huang et al.: GPipe: https://arxiv.org/abs/1811.06965
- vLLM: parallelism and scaling: https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.split import has_replicas, is_shared, is_staged
from advisor.prose.users import OF_ONE
from advisor.prose.widths import widths_of
from advisor.rule import PROSE, Rule
from advisor.said import (
    NO_DECODE,
    Said,
    Wrong,
    confidence_of,
    is_general,
    is_small_batch,
    is_unlinked,
)

RULE = Rule(
    code="PAR004",
    name="stages-for-latency",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OTHER,
    about=(PROSE,),
    flagged=(
        """\
With two pipeline stages each GPU runs half of the layers, «so a single user's tokens come twice as
fast.»
""",
        """\
We serve one request at a time. «A second replica will halve the time per token.»
""",
    ),
    passing=(
        """\
Two pipeline stages double the total throughput.
""",
        """\
A second replica halves the queue at peak, so answers start sooner.
""",
        """\
Tensor parallelism over two GPUs instead of two pipeline stages makes a single user's tokens come
1.7x as fast.
""",
    ),
)

_LOADED: Final = Form(
    r"\bqueu\w*|\bbacklog|\bbursts?\b|\bpeak|\brush\b|\bp9\d\b|\btails?\b|\bovercommit\w*"
    r"|\b(?:fewer|less|half the) (?:\w+ )?(?:users|requests|sequences|streams|load)\b|\bttft\b"
    r"|\bfirst token\b|\bsaturat\w+|\b(?:the|its|each) batch\b"
)
"""Load that a replica takes off the others."""
_SPILLED: Final = Form(
    r"\b(?:does|do|did|would|could)(?: ?n[o'’]t| not) fit|\bspill|\bsystem ram\b|\bddr\d|\boffload"
    r"|\bfrom (?:the )?(?:host|cpu|disk)\b"
)
_OF_SERVICE: Final = Form(
    r"\b(?:total|aggregate|throughput|requests (?:per|a) second|capacity|the service|the pool"
    r"|the fleet|all users|in sum|altogether|users served)\b"
)
_IN_TURN: Final = Form(
    r"\b(?:in (?:sequence|turn|series|succession)|one after (?:the |an)other|both halves|add up"
    r"|sequential\w*|serial\w*)\b"
)
"""How stages run, where a text knows it."""
_FELT: Final = 1.15
"""A smaller gain may come from elsewhere."""


def check(audit: Audit) -> Iterator[Finding]:
    """Stages and replicas, and one user who is to see tokens faster."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="stages run one after the other, and replicas beside each other",
        instead="claim throughput or room; for one user: tensor parallelism, fewer bytes",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.kind is not Kind.GAIN or statement.phase in NO_DECODE:
        return None
    if statement.is_aggregate or is_unlinked(statement) or not _is_of_one(statement):
        return None
    if _is_narrower(said) or statement.cause in {"QUANT", "SPEC", "DISTILL"}:
        return None  # the stream is faster for its bytes
    if (statement.speedup or _FELT) < _FELT or _OF_SERVICE.search(statement.text) is not None:
        return None
    text = statement.context_text
    if _IN_TURN.search(statement.sentence_text) is not None:
        return None
    if _SPILLED.search(text) is not None or is_shared(statement.sentence_text):
        return None
    if is_staged(text):
        return Wrong(
            "a token passes all stages, one after the other: their times add up to the step of one"
            " device, 1.00x for one user; what can grow is the number of tokens in flight",
            sure,
        )
    if not has_replicas(text) or _LOADED.search(text) is not None:
        return None
    return Wrong(
        "a request runs on one replica, whose step is as long as before: 1.00x for one user; what"
        " grows is the number of requests served",
        sure if _is_light(said) else Confidence.MEDIUM,
    )


def _is_narrower(said: Said) -> bool:
    """Whether the weights change their format as well, and not only come in one."""
    if "QUANT" in said.statement.sentence:
        return True
    return "QUANT" in said.statement.nearby and len(widths_of(said.statement.context_text)) != 1


_SPEED: Final = frozenset({"TIME", "RATE", "DECODE", "SINGLE", "TOKENS"})


def _is_of_one(statement: Statement) -> bool:
    """Whether a time per token, or the tokens of one user, are to get better."""
    if statement.phase is not Phase.DECODE or is_general(statement):
        return False
    if statement.speedup is None and statement.clause.isdisjoint({"FASTER", "DOWN", "UP"}):
        return False
    if "TIME" in statement.clause:
        return True
    single = statement.is_single or OF_ONE.search(statement.text) is not None
    return single and not statement.clause.isdisjoint(_SPEED)


_LIGHT: Final = Form(
    r"\b(?:below|under|fewer than|less than|at most|about|only|just)? ?(?:one|(?:a|the) single"
    r"|the (?:only"
    r"|sole|lone)|1) (?:request|user|chat|sequence|session|conversation|stream)\b|\bidle\b"
    r"|\balone\b|\bat a time\b"
)


def _is_light(said: Said) -> bool:
    """Whether no others share the step, so that there is no load to take off."""
    return is_small_batch(said.statement) and _LIGHT.search(said.statement.context_text) is not None
