"""## What it does
Flags the speedup of one kernel told as the speedup of decoding, and what captured graphs bring to a
small model told of a large one; notes gains below 3%, which one run does not show.

## Why is this bad
A kernel is a part of the step: 8x on an attention that is 5% of it is 1.05x. Runs of the same build
differ by one to three percent. The gaps between launches grow with the layers of a model, the time
to read its weights with their number: what is half of a step of a 0.5B is 1 to 3% of one of a 70B.

## Instead
Report the step with its repeats; for a lever that changes outputs, the evaluation as well.

## When this rule is wrong
If the kernel is nearly all of the step (attention at very long context), its gain carries over: the
rule compares with what the model expects.

## References
- Amdahl: Validity of the single processor approach: https://doi.org/10.1145/1465482.1465560
- Hoefler and Belli: Scientific benchmarking of parallel computing systems:
  https://doi.org/10.1145/2807591.2807644
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.claims import Scope
from advisor.evidence import claim_numbers, claims_of, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.operands import claims_in
from advisor.prose.model import Kind
from advisor.prose.widths import sizes_of
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.wording import factor, milliseconds, percent

RULE = Rule(
    code="MEA006",
    name="kernel-or-quality-extrapolated",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS, PROSE),
    flagged=(
        """\
CUDA graphs doubled the rate of the 0.5B at batch 1, «so the 70B gets its rate doubled too.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: fuse, mode: attention, claim: "«8x faster attention kernel, so 8x tokens/s»"}
""",
    ),
    passing=(
        """\
CUDA graphs doubled the rate of the 0.5B at batch 1, and a 1B gets 1.7x.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 64k}
levers:
  - {kind: attention_kernel, name: split-KV, claim: 8x faster attention kernel}
""",
    ),
)

_SAME: Final = 0.05
_NOISE: Final = 1.03


def check(audit: Audit) -> Iterator[Finding]:
    """Kernel gains told as gains of a step, and gains within the noise."""
    yield from _claims(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="gaps grow with the layers of a model, reading with its weights",
        instead="measure the launch gaps of the large model; expect some percent",
    )


def _claims(audit: Audit) -> Iterator[Finding]:
    """Gains that a proposal claims."""
    for claim in claims_of(audit):
        read = claims_in(claim.judged)
        kernel = next(
            (one.speedup for one in read if one.scope is Scope.KERNEL and one.speedup), None
        )
        whole = next(
            (one.speedup for one in read if one.scope is not Scope.KERNEL and one.speedup), None
        )
        lever = claim.lever
        possible = lever.tpot if lever is not None else None
        if kernel and whole and possible and abs(whole / kernel - 1.0) <= _SAME:
            if whole <= GRACE * possible.interval.high:
                continue
            yield RULE.on_claim(
                audit,
                claim,
                f"{factor(kernel)} of one kernel is not {factor(whole)} of the step: of its"
                f" {milliseconds(audit.baseline.estimate.expected_ms.mid)} ms the lever touches"
                f" {percent(1.0 - 1.0 / possible.ceiling)}, {factor(possible.ceiling)} at most",
                why="a kernel is a part of the step",
                instead="report the time per token",
                numbers={**claim_numbers(audit, claim), "kernel_speedup": kernel},
                confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
            )
        elif claim.judged.speedup is not None and 1.0 < claim.judged.speedup < _NOISE:
            yield RULE.on_claim(
                audit,
                claim,
                f"{factor(claim.judged.speedup)} is within the spread of one run (1-3%)",
                why="runs of the same build differ by as much",
                instead="give repeats and their spread",
                numbers=claim_numbers(audit, claim),
                severity=Severity.INFO,
            )


_MORE_LAYERS: Final = 4.0
"""The layers of a large model over those of a small one: 80 to 24, and some kernels more."""
_MUCH_LARGER: Final = 8.0
_MILLIONS: Final = re.compile(r"(?<![\w.])(\d{2,3}) ?M\b(?!B|i|Hz|/)")


def _judge(said: Said) -> Wrong | None:
    """What graphs bring to a small model, told of one with many times its weights."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.kind not in {Kind.GAIN, Kind.CARRIED} or statement.is_aggregate:
        return None
    if "GRAPHS" not in statement.nearby or statement.phase in NO_DECODE:
        return None
    before = statement.context_text[: statement.context_text.rfind(statement.text)]
    large = max((size for size, _ in sizes_of(statement.text)), default=None)
    small = [size for size, _ in sizes_of(before)] or [
        float(match[1]) * 1e6 for match in _MILLIONS.finditer(before)
    ]
    gains = [gain for _, gain, _ in statement.earlier if gain is not None and gain > 1.0]
    gain = gains[-1] if gains else statement.speedup
    if large is None or not small or gain is None or large < _MUCH_LARGER * small[-1]:
        return None
    ratio = large / small[-1]
    most = 1.0 + _MORE_LAYERS * (gain - 1.0) / ratio
    claimed = statement.speedup or gain
    if claimed <= GRACE * most:
        return None
    return Wrong(
        f"{factor(claimed)} is what gaps between launches make of a small step: a model of"
        f" {ratio:.0f}x the weights reads {ratio:.0f}x as long, and has a few times the layers, so"
        f" about {factor(most)} at most",
        sure,
        ErrorClass.OTHER,
        numbers={"weights_ratio": ratio, "most_speedup": most},
    )
