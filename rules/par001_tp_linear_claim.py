"""## What it does
Flags tensor parallelism over n devices with a claim of n times the speed of one stream.

## Why is this bad
t = a + b/n: only the part that is read and computed divides. Fixed time per layer stays, and two
all-reduces a layer come on top, whose latency of some microseconds does not depend on the link's GB/s
for the kilobytes of a decode step. Measured on A100 with NVLink: a 7B 3.1x on eight, a 70B 2.9x
from two to eight.

## Instead
Claim what t = a + b/n gives, or measure.

## When this rule is wrong
Where one device did not hold the model and the baseline spilled to the host: then n devices can be
more than n times as fast; say so.

## References
- Shoeybi et al.: Megatron-LM: https://arxiv.org/abs/1909.08053
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_unlinked

RULE = Rule(
    code="PAR001",
    name="tp-linear-claim",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.TP_IGNORES_COMM,
    about=(PROSE,),
    flagged=(
        """\
«With tensor parallelism over four GPUs each token takes a quarter of the time.»
""",
    ),
    passing=(
        """\
TP=8 took the 7B from 9.5 to 3.0 ms per token, 3.1x on eight GPUs.
""",
        """\
Two GPUs give 1.8x for the 70B at batch 1.
""",
    ),
)

_COUNTS = {"two": 2, "three": 3, "four": 4, "six": 6, "eight": 8, "sixteen": 16}
_NUMBER = r"\d{1,2}|two|three|four|six|eight|sixteen"
_THINGS = r"gpus|cards|accelerators|devices|h100s|a100s|l40s|h200s"
_FROM_TO = re.compile(
    rf"from (\d+) to (\d+) (?:{_THINGS})|(?:{_THINGS}) from (\d+) to (\d+)", re.IGNORECASE
)
_DEVICES = re.compile(
    rf"\b({_NUMBER}) (?:more )?(?:\w+ )?(?:{_THINGS})\b|\b({_NUMBER}) of (?:them|these|those)\b",
    re.IGNORECASE,
)
_TP = re.compile(
    r"\btp ?=? ?(\d+)\b|tensor[- ]parallel(?:ism)?(?: size)?(?: of)? (\d+)", re.IGNORECASE
)
_MODEST = (
    r"bit more than|more than half|over half|short of|almost|nearly|close to|up to|at best|at most"
    r"|less than|not \d|floor|ideal|theor|bound\b|bytes"
)
_LINEAR = 0.95
"""Of n: from here on nothing is left for fixed time and all-reduces."""


def check(audit: Audit) -> Iterator[Finding]:
    """N devices, n times the speed."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="fixed time and all-reduces do not divide by the number of devices",
        instead="claim what t = a + b/n gives: about 1.8x on two, 3x on eight",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.phase in NO_DECODE or statement.is_aggregate:
        return None
    if statement.kind not in {Kind.GAIN, Kind.FIGURE} or is_unlinked(statement):
        return None
    if "TP" not in statement.nearby and not said.has(rf"\b(?:{_NUMBER}) (?:{_THINGS}|of them)\b"):
        return None
    metrics = {"RATE", "TIME", "FASTER", "DECODE", "TOKENS", "SINGLE"}
    if statement.kind is Kind.GAIN and statement.clause.isdisjoint(metrics):
        return None
    if said.has(r"(?:does|do|did|would)(?: ?n['o’]t| not) fit|spill|system ram|replica|requests"):
        return None
    if re.search(_MODEST, statement.text, re.IGNORECASE):
        return None
    ways, factor = _devices(said), _factor(said)
    if ways is None or factor is None or not _LINEAR * ways <= factor <= 1.6 * ways:
        return None
    expected = 1.0 / (0.2 + 0.8 / ways)
    return Wrong(
        f"{factor:.3g}x on {ways:.3g}x the devices leaves nothing for fixed time and 2 all-reduces a"
        f" layer: with a fifth of the step fixed, t = a + b/n gives {expected:.1f}x",
        sure,
        numbers={"devices_ratio": ways, "speedup": factor},
    )


def _factor(said: Said) -> float | None:
    statement = said.statement
    if statement.speedup is not None:
        return statement.speedup
    before = [tpot for _, _, tpot in statement.earlier if tpot]
    if statement.tpot_ms is None or not before:
        return None
    return before[-1] / statement.tpot_ms


def _devices(said: Said) -> float | None:
    """How many times the devices: "from 2 to 4 GPUs", "eight GPUs", "TP=4"."""
    text = said.statement.context_text
    if change := _FROM_TO.search(text):
        before, after = (change[1], change[2]) if change[1] else (change[3], change[4])
        return int(after) / max(int(before), 1)
    if said.has(rf"doubl\w+ the (?:number of )?(?:{_THINGS})|twice as many (?:{_THINGS})"):
        return 2.0
    for match in _DEVICES.finditer(text):
        word = (match[1] or match[2]).lower()
        count = _COUNTS.get(word) or int(word)
        if count > 1:
            return float(count)
    if parallel := _TP.search(text):
        return float(parallel[1] or parallel[2])
    devices = said.statement.frame.devices
    return float(devices) if devices is not None and devices > 1 else None
