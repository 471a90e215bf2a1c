"""## What it does
Flags activation sparsity that is proposed for a step of several tokens.

## Why is this bad
A row of weights is skipped only where no token of the step needs it. Of independent tokens each
skipping half, 1 - 0.5^T of the rows are read: 50% at one token, 94% at four, all at sixteen.
Draft tokens that are verified count as tokens.

## Instead
Keep it for a single stream without speculation; for a server, narrower weights.

## When this rule is wrong
Tokens of one prompt are correlated, so a little more is skipped than independent ones allow. If you
measured the union on your traffic, state it as the sparsity at batch 1.

## References
- Liu et al.: TEAL, training-free activation sparsity: https://arxiv.org/abs/2408.14690
- Liu et al.: Deja Vu, contextual sparsity: https://arxiv.org/abs/2310.17157
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.structure import ActivationSparsity
from advisor.rule import Rule
from advisor.wording import percent

RULE = Rule(
    code="PRE006",
    name="activation-sparsity-union",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("activation_sparsity",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 16, context: 2k}
levers:
  - {«kind: activation_sparsity», sparsity: 50%, claim: 1.5x}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: activation_sparsity, sparsity: 50%, kernel: TEAL, claim: 1.5x}
""",
    ),
)

_LOST: Final = 0.25
"""Part of the saving that must be gone before the batch is what matters."""


def check(audit: Audit) -> Iterator[Finding]:
    """Activation sparsity at more than one token."""
    for lever in audit.levers:
        idea, tokens = lever.lever, lever.after.ledger.tokens
        if not isinstance(idea, ActivationSparsity) or not idea.sparsity or tokens <= 1:
            continue
        saved = idea.sparsity**tokens
        if saved > (1.0 - _LOST) * idea.sparsity or not promises_speed(lever):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{tokens} tokens of a step need {percent(1.0 - saved)} of the rows between them:"
            f" {percent(saved)} is saved, not {percent(idea.sparsity)}",
            why="a row is skipped only where no token of the step needs it",
            instead=advice(audit, "a single stream"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "union_density": 1.0 - saved},
        )
