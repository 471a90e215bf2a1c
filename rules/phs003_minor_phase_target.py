"""## What it does
Notes a claim on the end-to-end latency of a request for a lever whose phase is under a fifth of it.

## Why is this bad
A request is a prefill of its prompt and a decode of its answer. With 8,000 tokens in and 20 out the
decode is a small part, and no lever on decode can make the request much faster; with 100 in and
2,000 out the same holds for the prompt.

## Instead
Attack the larger phase, or claim the metric of the phase.

## When this rule is wrong
Where requests wait for each other, the smaller phase may block the larger one: claim the waiting
time. Prompt and output are those that `workload` states.

## References
- Zhong et al.: DistServe: https://arxiv.org/abs/2401.09670
- Amdahl: Validity of the single processor approach: https://doi.org/10.1145/1465482.1465560
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.claims import Metric
from advisor.evidence import claims_of
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.levers import Nature
from advisor.operands import request_of
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor, percent

RULE = Rule(
    code="PHS003",
    name="minor-phase-target",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PREFILL_DECODE,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, prompt: 16k, output: 5}
levers:
  - {kind: quantize, weights: int4-g128, claim: «2x lower end-to-end latency»}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, prompt: 500, output: 1000}
levers:
  - {kind: quantize, weights: int4-g128, claim: 1.8x lower end-to-end latency}
""",
    ),
)

_MINOR: Final = 0.20
_PROMPT: Final = frozenset({Nature.PREFILL})
_TOKENS: Final = frozenset({Nature.BYTES, Nature.TOKENS, Nature.OVERHEAD})


def check(audit: Audit) -> Iterator[Finding]:
    """End-to-end claims for levers on the minor phase."""
    request = None
    for claim in claims_of(audit):
        lever, read = claim.lever, claim.judged.claim
        if lever is None or read is None or read.metric is not Metric.LATENCY_E2E:
            continue
        request = request or request_of(audit)
        nature = lever.lever.acts_on
        if request is None or nature not in _PROMPT | _TOKENS or not read.speedup:
            continue
        decodes = nature in _TOKENS
        share = request.decode_share if decodes else 1.0 - request.decode_share
        ceiling = 1.0 / (1.0 - share)
        if share >= _MINOR or read.speedup <= GRACE * ceiling:
            continue
        yield RULE.on_claim(
            audit,
            claim,
            f"{'decode' if decodes else 'prefill'} is {percent(share)} of a request of"
            f" {request.prompt_tokens:,} tokens in and {request.output_tokens:,} out:"
            f" {factor(ceiling)} end to end at most",
            why="what a lever does not touch stays as it is",
            instead="attack the larger phase, or claim the metric of this one",
            numbers={
                "phase_share": share,
                "ceiling_speedup": ceiling,
                "claimed_speedup": read.speedup,
            },
        )
