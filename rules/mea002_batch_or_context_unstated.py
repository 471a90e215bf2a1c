"""## What it does
Asks for the batch or the context where nobody states it and the verdict on a lever or its claim
differs over batch 1, 32 and 256 and context 512, 8k and 64k.

## Why is this bad
A narrower cache is 1.01x at batch 1 and short context and 1.8x at 32 sequences of 8,000 tokens;
weight-only quantization is 2x at batch 1 and nothing at 256. A verdict without the two is a guess.

## Instead
State `workload: {batch, context}`; the finding says which of the two settles it. A lever of which
nothing is claimed is asked about in strict mode only.

## When this rule is wrong
Where the verdict is the same at every corner the rule is silent: the facts do not matter then. The
settings of a repository can state them once for all proposals.

## References
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
- Kwon et al.: PagedAttention: https://arxiv.org/abs/2309.06180
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.corners import Corner, corners_of_work
from advisor.finding import Confidence, Finding, Severity
from advisor.rule import OPEN_FACTS, Rule
from advisor.wording import factor

RULE = Rule(
    code="MEA002",
    name="batch-or-context-unstated",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(OPEN_FACTS,),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
levers:
  - {«kind: quantize», kv_cache: fp8, claim: 1.5x tokens/s}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
levers:
  - {kind: prune, pattern: layers, sparsity: 25%, claim: 1.2x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 32, context: 32k}
levers:
  - {kind: quantize, kv_cache: fp8, claim: 1.5x tokens/s}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Levers whose verdict hangs on facts that nobody states."""
    for lever in audit.levers:
        corners = () if lever.configured else corners_of_work(audit, lever)
        if len({_verdict(corner) for corner in corners}) < 2:
            continue
        low, high = min(corners, key=_speedup), max(corners, key=_speedup)
        settles, claimed = _settling(corners), _has_figure(lever)
        yield RULE.on_lever(
            audit,
            lever,
            f"{factor(low.speedup)} at batch {low.batch} and {low.context:,} tokens,"
            f" {factor(high.speedup)} at batch {high.batch} and {high.context:,}: the verdict on"
            f" the {'claim' if claimed else 'lever'} hangs on {settles}",
            why="what a step waits for changes with batch and context",
            instead=f"state {settles}",
            numbers={"speedup_low": low.speedup, "speedup_high": high.speedup},
            confidence=None if claimed else Confidence.MEDIUM,
        )


def _has_figure(lever: LeverAudit) -> bool:
    return lever.claim is not None and lever.claim.speedup is not None


def _verdict(corner: Corner) -> str:
    claim = corner.judged.claim
    if claim is not None and claim.verdict is not None:
        return claim.verdict.value
    return corner.judged.verdict.value


def _speedup(corner: Corner) -> float:
    return corner.speedup


def _settling(corners: tuple[Corner, ...]) -> str:
    """Which fact decides: one alone where the verdict is the same along the other."""
    by_batch: dict[int, set[str]] = {}
    by_context: dict[int, set[str]] = {}
    for corner in corners:
        by_batch.setdefault(corner.batch, set()).add(_verdict(corner))
        by_context.setdefault(corner.context, set()).add(_verdict(corner))
    if all(len(found) == 1 for found in by_batch.values()):
        return "the batch"
    if all(len(found) == 1 for found in by_context.values()):
        return "the context"
    return "batch and context"
