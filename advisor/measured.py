"""A baseline fitted to what was measured of it.

Where a step is issued by the host, kernel by kernel, and takes longer than the device may need for
its bytes and FLOPs, the host's time is what explains it: it is fitted, and no lever on bytes gets
the credit for time that the host spends. Everything else is a factor on all of the step's time.
"""

from __future__ import annotations

from typing import Final

from advisor.catalog.engines import HostTime
from advisor.deployment import Deployment
from advisor.proposal import Measured
from advisor.roofline import Estimate, predict

_SPREAD: Final = 0.05
"""One published figure measured again differs by about this much."""
_SLOWEST_HOST_US: Final = 2000.0
"""A layer from Python: 1,225 us in the transformers of 2023 (7B, 25.5 tokens/s on an A100); more
than this is something else, such as weights that are dequantized apart or copied on the way."""
_NO_HOST: Final = HostTime(0.0, 0.0, 0.0)


def measured_tpot_ms(measured: Measured, deployment: Deployment) -> float | None:
    """Time per output token of one sequence, from whichever figure was measured."""
    if measured.tpot_ms is not None:
        return measured.tpot_ms
    if measured.tokens_per_second is not None:
        return 1e3 / measured.tokens_per_second
    if measured.throughput is not None:
        return 1e3 * deployment.batch / measured.throughput
    return None


def fitted_to(deployment: Deployment, tpot_ms: float) -> Deployment:
    """A deployment whose expected time per output token is the measured one."""
    fitted = _with_host_time(deployment, tpot_ms)
    return fitted.evolve(time_factor=_factors(predict(fitted), tpot_ms))


def _with_host_time(deployment: Deployment, tpot_ms: float) -> Deployment:
    """The host's time of a layer as measured, where the device alone would be done before."""
    if deployment.captures_steps:
        return deployment
    kernels = deployment.kernels
    alone = predict(deployment.evolve(kernels=kernels._replace(host=_NO_HOST)))
    step_ms = tpot_ms * alone.tokens_per_step
    if step_ms <= alone.expected_ms.high:
        return deployment
    layers = deployment.model.layer_count * deployment.depth
    issued_ms, speculation = step_ms, deployment.speculation
    if speculation is not None and speculation.draft is not None:
        layers += speculation.draft_tokens * speculation.draft.layer_count
    else:
        # Drafts of a model that nobody names take their part of whatever the pass takes.
        issued_ms *= 1.0 - alone.shares.draft
    host_us = min(1e3 * issued_ms / (layers * kernels.fixed_factor), _SLOWEST_HOST_US)
    host = HostTime(host_us * (1.0 - _SPREAD), host_us, host_us * (1.0 + _SPREAD))
    return deployment.evolve(kernels=kernels._replace(host=host))


def _factors(modelled: Estimate, tpot_ms: float) -> tuple[float, float, float]:
    step_ms = tpot_ms * modelled.tokens_per_step
    expected = modelled.expected_ms
    return (
        step_ms * (1.0 - _SPREAD) / expected.low,
        step_ms / expected.mid,
        step_ms * (1.0 + _SPREAD) / expected.high,
    )
