"""What would pay instead: the ranking of `advise`, in the words that a finding has room for."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from advisor.advise import first_choice
from advisor.audit import Audit
from advisor.deployment import Deployment
from advisor.levers import Lever
from advisor.roofline import Interval, compare
from advisor.steps import Step, step_of
from advisor.wording import factor


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
    return tuple(
        Alternative(advice.ideas[0].told, advice.gain) for advice in first_choice(deployment)
    )


def advice(audit: Audit, *first: str) -> str:
    """What to do instead, as one line: what a rule says itself, then what the model finds."""
    return "; ".join((*first, *map(str, alternatives(audit))))


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
