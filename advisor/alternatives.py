"""What would pay instead: a few levers that do move bytes, tried on the same deployment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from advisor.audit import Audit, Step, step_of
from advisor.deployment import Deployment, Speculation
from advisor.ledger.formats import parse_format
from advisor.levers import Lever
from advisor.roofline import Interval, compare
from advisor.wording import factor

_MOST: Final = 3
"""Estimates that one finding may cost."""
_WORTH: Final = 1.05
_TOKENS_PER_PASS: Final = 2.0
"""A modest figure for a trained draft head; the gain is told with it."""
_DRAFT_TOKENS: Final = 3


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
    before = audit.baseline
    found = []
    for count, (label, deployment) in enumerate(_candidates(before)):
        if count == _MOST:
            break
        speedup = compare(before.estimate, step_of(deployment).estimate)
        if speedup.mid >= _WORTH:
            found.append(Alternative(label, speedup))
    return tuple(found)


def advice(audit: Audit, *first: str) -> str:
    """What to do instead, as one line: what a rule says itself, then what the model finds."""
    return "; ".join((*first, *map(str, alternatives(audit))))


def _candidates(before: Step) -> Iterator[tuple[str, Deployment]]:
    """Ideas worth trying, by what the step's time goes to."""
    deployment, shares = before.deployment, before.estimate.shares
    weights = deployment.weights
    bits = weights.bits if weights is not None else 16.0
    if shares.kv > shares.weights and deployment.kv_cache.bits > 8:
        yield "fp8 KV cache", deployment.evolve(kv_cache=parse_format("fp8"))
    if bits > 6:
        layers = deployment.model.layer_count
        smaller = parse_format("int4-g128", layers)
        yield "int4-g128 weights", deployment.evolve(weights=smaller)
    if deployment.speculation is None and deployment.batch <= 8:
        drafting = Speculation("eagle", _DRAFT_TOKENS, _TOKENS_PER_PASS)
        label = f"speculation at {_TOKENS_PER_PASS:.0f} tokens per pass"
        yield label, deployment.evolve(speculation=drafting)
    if shares.kv > 0.2 and deployment.kv_cache.bits > 8 and shares.kv <= shares.weights:
        yield "fp8 KV cache", deployment.evolve(kv_cache=parse_format("fp8"))
    if deployment.kernels.graphs is False:
        graphs = replace(deployment.kernels, graphs=True)
        yield "CUDA graphs", deployment.evolve(kernels=graphs)


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
