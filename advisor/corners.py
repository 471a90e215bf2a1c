"""What becomes of a lever at other facts: batches, contexts and devices that nobody states.

Only what is open is varied, so a fully stated proposal costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.audit import Audit, LeverAudit, audit_lever
from advisor.deployment import Deployment, DeploymentError
from advisor.evidence import is_stated
from advisor.steps import step_of

BATCHES: Final = (1, 32, 256)
CONTEXTS: Final = (512, 8192, 65536)


class Corner(NamedTuple):
    """One lever judged at one corner of what is open."""

    batch: int
    context: int
    hardware: str
    bandwidth_gbs: float
    judged: LeverAudit

    @property
    def speedup(self) -> float:
        """Expected speedup in the metric of the lever's claim, else of the lever."""
        claim = self.judged.claim
        metric = claim.metric if claim is not None else None
        if metric == "throughput":
            return self.judged.throughput.interval.mid
        if metric == "tpot":
            return self.judged.tpot.interval.mid
        return self.judged.speedup.interval.mid


def corners_of_work(audit: Audit, lever: LeverAudit) -> tuple[Corner, ...]:
    """The lever over batches and contexts that nobody states, on the device in use."""
    base = audit.baseline.deployment
    batches = (base.batch,) if is_stated(audit, "batch") else BATCHES
    contexts = (base.context,) if is_stated(audit, "context") else CONTEXTS
    if len(batches) * len(contexts) == 1 or audit.context.measured_tpot_ms is not None:
        return ()
    variants = (
        base.evolve(batch=batch, context=context) for batch in batches for context in contexts
    )
    return tuple(_judged(audit, lever, variants))


def corners_of_devices(audit: Audit, lever: LeverAudit) -> tuple[Corner, ...]:
    """The lever on every device that the name of the hardware may mean."""
    if len(audit.context.devices) < 2 or audit.context.measured_tpot_ms is not None:
        return ()
    base = audit.baseline.deployment
    return tuple(
        _judged(audit, lever, (base.evolve(hardware=one) for one in audit.context.devices))
    )


def _judged(audit: Audit, lever: LeverAudit, variants: Iterator[Deployment]) -> Iterator[Corner]:
    proposed = lever.proposed
    for deployment in variants:
        try:
            before, after = step_of(deployment), step_of(proposed.lever.apply(deployment))
        except DeploymentError:
            continue
        context = audit.context._replace(deployment=deployment)
        judged = audit_lever(lever.index, proposed, before, after, after, context)
        device = deployment.hardware
        yield Corner(
            deployment.batch, deployment.context, device.name, device.bandwidth_gbs, judged
        )
