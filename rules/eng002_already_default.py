"""## What it does
Notes a lever that the engine applies by default, or that the model already has.

## Why is this bad
The baseline has it, so the gain is 1.00x over that baseline. Published gains of such levers were
measured against engines without them.

## Instead
Measure against the engine's defaults; propose what they leave out.

## When this rule is wrong
If the baseline runs with the default switched off (eager mode, `enforce_eager`), say so with the
engine or with `measured`; the rule then does not see a default.

## References
- vLLM documentation: https://docs.vllm.ai/en/latest/
- Ainslie et al.: GQA: https://arxiv.org/abs/2305.13245
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.catalog.features import is_default
from advisor.evidence import is_stated, lever_facts, lever_numbers
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.structure import AttentionVariant
from advisor.rule import Rule

RULE = Rule(
    code="ENG002",
    name="already-default",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(
        "cuda_graphs",
        "paged_cache",
        "continuous_batching",
        "prefix_cache",
        "chunked_prefill",
        "attention",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: vllm
levers:
  - {«kind: cuda_graphs», claim: 1.3x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 16k}
levers:
  - {«kind: attention», variant: gqa, kv_heads: 8, claim: 1.5x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: transformers
levers:
  - {kind: cuda_graphs, claim: 1.3x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Levers that are in the baseline already."""
    for lever in audit.levers:
        owner = _owner(audit, lever)
        if owner is None or lever.configured:
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{owner} has it already: 1.00x over that baseline",
            why="the baseline has it",
            instead="measure against the defaults, and propose what they leave out",
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )


def _owner(audit: Audit, lever: LeverAudit) -> str | None:
    idea, deployment = lever.lever, lever.before.deployment
    if isinstance(idea, AttentionVariant):
        attention = deployment.model.attention
        same = attention is not None and idea.kv_heads == attention.kv_heads
        latent = idea.variant == "mla" and attention is not None and attention.is_latent
        return deployment.model.name if same or latent else None
    off = idea.kind == "cuda_graphs" and not getattr(idea, "enabled", True)
    if off or not is_stated(audit, "engine") or deployment.kernels.graphs is False:
        return None
    return deployment.engine.label if is_default(deployment.engine, idea.kind) else None
