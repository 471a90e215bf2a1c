"""What would pay instead: a few levers that do move bytes, tried on the same deployment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from advisor.audit import Audit, Step, step_of
from advisor.deployment import Deployment, Speculation
from advisor.ledger.formats import parse_format
from advisor.levers import Lever
from advisor.roofline import Interval, compare
from advisor.wording import factor

_MOST: Final = 3
"""Estimates that the advice on one proposal may cost."""
_WORTH: Final = 1.05
_TOKENS_PER_PASS: Final = 2.0
"""A modest figure for a trained draft head; the gain is told with it."""
_DRAFT_TOKENS: Final = 3
_NARROW_BITS: Final = 6.0
_SMALL_BATCH: Final = 8
"""Beyond it verifying drafts costs more than reading the weights saves."""


class Alternative(NamedTuple):
    """Something else to do, and how much faster a token comes with it."""

    label: str
    speedup: Interval

    def __str__(self) -> str:
        """Label, speedup and its interval: int4-g128 weights: 1.7x (1.5-1.8)."""
        low, mid, high = self.speedup
        return f"{self.label}: {mid:.1f}x ({low:.1f}-{high:.1f})"


def alternatives(audit: Audit) -> tuple[Alternative, ...]:
    """Levers that make a token of this deployment faster, by the time they really take."""
    return _alternatives(audit.baseline.deployment)


@lru_cache(maxsize=16)
def _alternatives(deployment: Deployment) -> tuple[Alternative, ...]:
    before = step_of(deployment)
    found = []
    for label, other in islice(_candidates(before), _MOST):
        speedup = compare(before.estimate, step_of(other).estimate)
        if speedup.mid >= _WORTH:
            found.append(Alternative(label, speedup))
    return tuple(found)


def advice(audit: Audit, *first: str) -> str:
    """What to do instead, as one line: what a rule says itself, then what the model finds."""
    return "; ".join((*first, *map(str, alternatives(audit))))


def _candidates(before: Step) -> Iterator[tuple[str, Deployment]]:
    """Ideas worth trying, those on what takes the most time first."""
    deployment, shares = before.deployment, before.estimate.shares
    ideas: list[tuple[float, str, Deployment]] = []
    weights = deployment.weights
    if weights is None or weights.bits > _NARROW_BITS:
        smaller = parse_format("int4-g128", deployment.model.layer_count)
        ideas.append((shares.weights, "int4-g128 weights", deployment.evolve(weights=smaller)))
    if deployment.kv_cache.bits > 8 and shares.kv > _WORTH - 1.0:
        smaller = parse_format("fp8")
        ideas.append((shares.kv, "fp8 KV cache", deployment.evolve(kv_cache=smaller)))
    graphs = deployment.kernels.graphs
    if graphs is False or (graphs is None and not deployment.engine.graphs):
        kernels = deployment.kernels._replace(graphs=True)
        ideas.append((shares.fixed, "CUDA graphs", deployment.evolve(kernels=kernels)))
    if deployment.speculation is None and deployment.batch <= _SMALL_BATCH:
        drafting = Speculation("eagle", _DRAFT_TOKENS, _TOKENS_PER_PASS)
        label = f"speculation at {_TOKENS_PER_PASS:.0f} tokens per pass"
        ideas.append((0.0, label, deployment.evolve(speculation=drafting)))
    ideas.sort(key=lambda idea: -idea[0])
    yield from ((label, changed) for _, label, changed in ideas)


def gain_of(before: Step, lever: Lever) -> Interval:
    """How much faster a token would come with another lever in the place of the proposed one."""
    return compare(before.estimate, step_of(lever.apply(before.deployment)).estimate)


def at(audit: Audit, batch: int | None, context: int | None) -> Step:
    """The baseline's step at another batch or context; None keeps the proposal's."""
    deployment = audit.baseline.deployment
    batch, context = batch or deployment.batch, context or deployment.context
    if (batch, context) == (deployment.batch, deployment.context):
        return audit.baseline
    return step_of(deployment.evolve(batch=batch, context=context))


def told(label: str, gain: Interval) -> str:
    """A gain as advice tells it; how little where it is little."""
    return f"{label}: {factor(gain.mid)}"


def byte_ratio_of(before: Step, lever: Lever) -> float:
    """Bytes of a step before over after another lever."""
    after = step_of(lever.apply(before.deployment))
    return before.estimate.bytes.memory / after.estimate.bytes.memory
