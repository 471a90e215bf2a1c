"""## What it does
Flags a relative claim of a proposal that names neither model nor hardware nor a measured baseline.

## Why is this bad
"2x faster" than what? A factor over an unknown baseline cannot be held against anything: the same
change is 4x over an eager loop and nothing over a tuned engine.

## Instead
State model, hardware, engine and number format, and both absolute numbers.

## When this rule is wrong
Where the settings of the repository give the context, it is known, and the rule is silent. With
model or hardware alone missing it speaks in strict mode only.

## References
- MLPerf inference rules: https://github.com/mlcommons/inference_policies
- Hoefler and Belli: Scientific benchmarking of parallel computing systems:
  https://doi.org/10.1145/2807591.2807644
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claim_numbers, claims_of, is_stated
from advisor.finding import Confidence, Finding, Severity
from advisor.judge import GRACE
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor

RULE = Rule(
    code="MEA001",
    name="no-comparable-baseline",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
claim: «2x faster tokens after optimisation»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: quantize, weights: int8, claim: 1.5x tokens/s}
""",
        """\
rooflint: 1
measured: {tokens_per_second: 104.9}
claim: 155.6 tokens/s
""",
    ),
)

_TOLD: Final = ("model", "hardware", "engine", "weights")


def check(audit: Audit) -> Iterator[Finding]:
    """Factors over a baseline that nobody can know."""
    if audit.context.measured_tpot_ms is not None or is_stated(audit, "model", "hardware"):
        return
    missing = [name for name in _TOLD if not is_stated(audit, name)]
    unknown = not (is_stated(audit, "model") or is_stated(audit, "hardware"))
    for claim in claims_of(audit):
        judged = claim.judged
        relative = judged.speedup is not None and judged.tpot_ms is None
        if not relative or (judged.speedup or 0.0) <= GRACE:
            continue
        yield RULE.on_claim(
            audit,
            claim,
            f"{factor(judged.speedup or 0.0)} over what? Not stated: {', '.join(missing)}, and a"
            " measured baseline",
            why="a factor over an unknown baseline cannot be held against anything",
            instead="state them, and both absolute numbers",
            numbers=claim_numbers(audit, claim),
            confidence=None if unknown else Confidence.MEDIUM,
        )
