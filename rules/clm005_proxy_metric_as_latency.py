"""## What it does
Flags a claim that turns a saving of parameters, FLOPs or memory into the same saving of time.

## Why is this bad
Parameters, FLOPs and megabytes are not time. Parameters that a token does not read cost none,
FLOPs at small batch hide behind the reads, and what is saved leaves the rest of the step as it is.

## Instead
Measure the time per token at a stated batch and context, or quote what the byte model expects.

## When this rule is wrong
Where the bytes read per token fall as claimed and the fixed time is small, time nearly follows: the
rule is silent within the expected interval.

## References
- Dehghani et al.: The efficiency misnomer: https://arxiv.org/abs/2110.12894
- Kim et al.: Shortened LLaMA, depth pruning: https://arxiv.org/abs/2402.02834
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.claims import Claim, Metric
from advisor.evidence import claim_facts, claim_numbers, claims_of, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.operands import claims_in
from advisor.rule import CLAIMS, Rule
from advisor.wording import factor, factors, percent

RULE = Rule(
    code="CLM005",
    name="proxy-metric-as-latency",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.FLOP_CUT,
    about=(CLAIMS,),
    flagged=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: prune, pattern: experts, sparsity: 40%, claim: "«40% fewer parameters, 40% faster»"}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - kind: prune
    pattern: layers
    sparsity: 25%
    claim: "22% fewer parameters, 1.25x faster tokens"
""",
    ),
)

_PROXIES: Final = frozenset({Metric.PARAMETERS, Metric.FLOPS, Metric.MEMORY})
_SAME: Final = 0.06


def check(audit: Audit) -> Iterator[Finding]:
    """Savings of a resource told as savings of time."""
    for claim in claims_of(audit):
        judged = claim.judged
        if judged.metric != "tpot":
            continue
        speedup, possible, _ = judged.figures
        proxy = next((one for one in claims_in(judged) if _is_echoed(one, speedup)), None)
        if proxy is None or proxy.change is None or speedup <= GRACE * possible.high:
            continue
        yield RULE.on_claim(
            audit,
            claim,
            f"{proxy.metric.value} fall by {percent(1.0 - proxy.change)}, which is no time: the"
            f" bytes and the fixed time of the step allow {factors(possible)}, not"
            f" {factor(speedup)}",
            why="parameters, FLOPs and memory are not time",
            instead=f"claim {factors(possible)}, or measure the time per token",
            facts=claim_facts(judged, possible),
            numbers={**claim_numbers(audit, claim), "resource_left": proxy.change},
            confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
        )


def _is_echoed(proxy: Claim, speedup: float) -> bool:
    """Whether a speedup is a resource's saving again, as less time or as more speed."""
    if proxy.metric not in _PROXIES or proxy.change is None or not 0.0 < proxy.change < 1.0:
        return False
    echoes = (1.0 / proxy.change, 2.0 - proxy.change)
    return any(abs(speedup / echo - 1.0) <= _SAME for echo in echoes)
