"""## What it does
Flags a speedup claimed of speculation without the acceptance or the tokens per pass that it rests
on, where a middling acceptance would not bring it.

## Why is this bad
A pass over g draft tokens yields (1 - a^(g+1)) / (1 - a) tokens at acceptance a: with four drafts
2.3 at 60% and 3.4 at 80%. Acceptance hangs on the traffic and the temperature: code and summaries
are high, chat and sampling low. A figure without it can neither be checked nor be transferred.

## Instead
Report tokens per pass (or acceptance), draft length, batch and temperature, on your traffic.

## When this rule is wrong
A claim that even 60% acceptance would bring is not asked for it. N-gram drafts on copying tasks can
accept nearly everything: state it.

## References
- Leviathan et al.: Fast inference from transformers via speculative decoding:
  https://arxiv.org/abs/2211.17192
- vLLM: speculative decoding: https://docs.vllm.ai/en/latest/features/spec_decode.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.alternatives import gain_of
from advisor.audit import Audit, LeverAudit
from advisor.claims import Metric
from advisor.evidence import lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE, JudgedClaim
from advisor.levers.speculate import Speculate
from advisor.operands import claims_in
from advisor.rule import Rule
from advisor.wording import factor, percent

RULE = Rule(
    code="SPC001",
    name="missing-acceptance",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=("speculate",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: speculate», method: EAGLE, claim: 3x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - kind: speculate
    method: EAGLE-3
    draft_tokens: 4
    claim: 2.3x with 2.9 accepted tokens per pass
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE, draft_tokens: 4, claim: 1.2x}
""",
    ),
)

_LOW: Final = 0.6
_HIGH: Final = 0.8


def check(audit: Audit) -> Iterator[Finding]:
    """Gains of speculation that nothing can be held against."""
    for lever in audit.levers:
        idea, judged = lever.lever, lever.claim
        if not isinstance(idea, Speculate) or judged is None or judged.speedup is None:
            continue
        if idea.acceptance is not None or idea.tokens_per_pass is not None or _says(judged):
            continue
        low, high = (_at(lever, idea, acceptance) for acceptance in (_LOW, _HIGH))
        if judged.tpot_ms is not None or judged.speedup <= GRACE * low:
            continue
        drafting = idea.speculation()
        yield RULE.on_lever(
            audit,
            lever,
            f"{factor(judged.speedup)} hangs on an acceptance that is not stated: with"
            f" {drafting.draft_tokens} draft tokens {factor(low)} at {percent(_LOW)},"
            f" {factor(high)} at {percent(_HIGH)}",
            why="tokens per pass are (1 - a^(g+1)) / (1 - a)",
            instead="report tokens per pass, draft length, batch and temperature",
            numbers={
                **lever_numbers(lever),
                "speedup_at_60_percent": low,
                "speedup_at_80_percent": high,
            },
        )


def _says(judged: JudgedClaim) -> bool:
    """Whether the claim itself gives acceptance or tokens per pass."""
    read = claims_in(judged)
    stated = (one.conditions.acceptance or one.conditions.tokens_per_pass for one in read)
    return any(stated) or any(one.metric is Metric.TOKENS_PER_PASS for one in read)


def _at(lever: LeverAudit, idea: Speculate, acceptance: float) -> float:
    other = idea.model_copy(update={"acceptance": acceptance})
    return gain_of(lever.before, other).mid
