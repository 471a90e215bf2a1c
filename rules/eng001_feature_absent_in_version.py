"""## What it does
Flags a format or feature that the named engine does not have in the named version.

## Why is this bad
Engines drop what few people use. vLLM disabled sparse-only 2:4 in 0.7 and removed its kernels in
2026; draft-model speculation was missing from its 0.10 line. A plan that rests on them loads, warns
and runs dense, or does not start.

## Instead
Pin a version that has it, or use a format that the engine still ships.

## When this rule is wrong
A fork or plugin may bring it back: name the fork as the engine. Without a version the rule speaks
in strict mode only, except of what no version has.

## References
- vLLM pull request 36799, removal of 2:4 kernels: https://github.com/vllm-project/vllm/pull/36799
- vLLM pull request 12417: https://github.com/vllm-project/vllm/pull/12417
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.catalog.features import Absence, absence
from advisor.evidence import is_stated
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.prune import Prune
from advisor.levers.speculate import Speculate
from advisor.rule import Rule

RULE = Rule(
    code="ENG001",
    name="feature-absent-in-version",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(
        "prune",
        "speculate",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: {name: vllm, version: 0.24.0}
levers:
  - {«kind: prune», pattern: "2:4", storage: 2:4-packed, kernel: CUTLASS, claim: 1.3x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: {name: vllm, version: 0.10.2}
levers:
  - «kind: speculate»
    method: draft model
    draft_model: Llama-3.2-1B
    draft_tokens: 4
    acceptance: 70%
    claim: 1.3x
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
engine: {name: vllm, version: 0.8.0}
levers:
  - {kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: CUTLASS, claim: 1.15x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Levers that the engine cannot run."""
    if not is_stated(audit, "engine"):
        return
    engine = audit.baseline.deployment.engine
    for lever in audit.levers:
        known = [one for name in _features(lever) if (one := absence(engine, name)) is not None]
        if not known:
            continue
        found, sure = known[0]
        when = f"{engine.label} {engine.version or ''}".strip()
        since = "" if found.always else f" (from {found.since}"
        since += "" if found.always else f" to {found.until})" if found.until else " on)"
        yield RULE.on_lever(
            audit,
            lever,
            f"{when}: {lever.lever.label} {found.status}{since}, so 1.00x at best",
            why="what an engine does not ship does not run",
            instead="pin a version that has it, or use a format that the engine ships",
            facts=(("source", found.source),),
            numbers={"since_version": found.since, "until_version": found.until},
            severity=_severity(lever, found, sure=sure),
        )


def _severity(lever: LeverAudit, found: Absence, *, sure: bool) -> Severity:
    """A kernel of one's own may be added to an engine that ships none."""
    if not sure:
        return Severity.INFO
    own = found.always and getattr(lever.lever, "kernel", None) is not None
    return Severity.WARNING if own else Severity.ERROR


def _features(lever: LeverAudit) -> Iterator[str]:
    """What an engine must have for the lever, by the names of the table."""
    idea, weights = lever.lever, lever.before.deployment.weights
    if isinstance(idea, Prune) and not idea.keeps_dense_bytes and idea.storage is not None:
        if idea.pattern == "unstructured":
            yield "sparse-unstructured"
        if idea.pattern == "2:4":
            yield "sparse-24"
            if weights is None or weights.is_wide:
                yield "sparse-24-16-bit"
    if isinstance(idea, Speculate) and _drafts_by_model(idea):
        yield "draft-model"


def _drafts_by_model(idea: Speculate) -> bool:
    named = idea.draft_model is not None or "draft" in (idea.method or "").lower()
    return named and idea.speculation().method == "draft_model"
