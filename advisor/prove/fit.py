"""A run as what it says of its machine: predictions on other models are fitted to it.

Two figures carry over from the measured step to any other on the same machine: the bandwidth that
its kernels reach, and the fixed time of a layer. A proposal about the very step that was measured
also gets its time.
"""

from __future__ import annotations

from statistics import median
from typing import Final, NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.hardware import all_devices
from advisor.deployment import Deployment
from advisor.ledger.formats import UnknownFormatError, parse_format
from advisor.prove.experiments import machine_device
from advisor.prove.record import Baseline, Run, RunFileError
from advisor.prove.verdict import judge
from advisor.roofline import predict

_STRAIGHT: Final = 0.1
"""A line that misses a point by more than this part is no fixed time and bandwidth."""
_SPREAD: Final = 0.05
"""A step timed again on another day differs by about this much, whatever the noise of the run."""
_MOST: Final = 0.98
"""No kernel is taken to reach more of the bandwidth."""


class MachineFit(NamedTuple):
    """What a run says of its machine."""

    device: Device
    """With the figures that were measured; the catalog's own where it knows the device."""
    catalog_id: str | None
    reached: float
    """Bandwidth of the weight-streaming kernels, as part of the device's."""
    layer_ms: float | None
    """Fixed time of a layer; None where the run does not separate it."""
    baseline: Baseline
    step_ms: float
    spread: float

    def is_of(self, deployment: Deployment) -> bool:
        """Whether the run timed this very step, all layers of it."""
        base = self.baseline
        form = deployment.weights or parse_format(deployment.model.dtype)
        return (
            base.layers == base.all_layers
            and base.model == deployment.model.name
            and base.batch == deployment.batch
            and base.context == deployment.context
            and parse_format(base.weights) is form
            and deployment.phase == "decode"
            and deployment.devices == 1
        )

    def applied(self, deployment: Deployment) -> Deployment:
        """A deployment on this machine, with its expected time fitted to the run."""
        kernels = deployment.kernels._replace(weight_bandwidth_fraction=self.reached)
        fitted = deployment.evolve(kernels=kernels)
        if self.layer_ms is not None:
            modelled = predict(fitted)
            fixed_ms = modelled.shares.fixed * modelled.expected_ms.mid
            if fixed_ms > 0.0:
                wanted = self.layer_ms * deployment.model.layer_count
                factor = kernels.fixed_factor * wanted / fixed_ms
                fitted = fitted.evolve(kernels=kernels._replace(fixed_factor=factor))
        if self.is_of(deployment):
            expected = predict(fitted).expected_ms
            low, high = self.step_ms * (1.0 - self.spread), self.step_ms * (1.0 + self.spread)
            factors = (low / expected.low, self.step_ms / expected.mid, high / expected.high)
            fitted = fitted.evolve(time_factor=factors)
        return fitted


def fit_of(run: Run, path: str) -> MachineFit:
    """What a run says of its machine.

    Raises:
        RunFileError: for a run that measured nothing, or that other work has spoilt.

    """
    verdict = judge(run)
    if verdict is None:
        raise RunFileError(f"{path}: no baseline was measured in this run")
    if verdict.bound == "undecided" and verdict.doubts:
        raise RunFileError(f"{path}: nothing can be fitted to this run: {verdict.because}")
    machine = run.machine
    known = _known(machine.known_as, path)
    try:
        parse_format(run.baseline.weights)
    except UnknownFormatError as error:
        raise RunFileError(f"{path}: baseline.weights: {error}") from None
    device = known or machine_device(
        machine.name,
        {"cpu": "cpu", "mps": "soc"}.get(machine.device, "gpu"),
        verdict.streaming_gbs,
        {dtype: median(rates) / 1e3 for dtype, rates in machine.matmul_gflops.items()},
        machine.memory_bytes,
        machine.cache_bytes,
    )
    line = verdict.line
    layers = run.baseline.layers
    if line is not None and line.residual <= _STRAIGHT:
        achieved_gbs, fixed_ms = line.gbs, max(line.fixed_ms, 0.0)
    else:
        achieved_gbs, fixed_ms = verdict.mbu * verdict.streaming_gbs, None
    return MachineFit(
        device=device,
        catalog_id=machine.known_as,
        reached=min(achieved_gbs / device.bandwidth_gbs, _MOST),
        layer_ms=None if fixed_ms is None else fixed_ms / layers,
        baseline=run.baseline,
        step_ms=verdict.baseline_ms,
        spread=max(_SPREAD, verdict.noise),
    )


def _known(identifier: str | None, path: str) -> Device | None:
    if identifier is None:
        return None
    known = {one.id: one for one in all_devices()}.get(identifier)
    if known is None:
        raise RunFileError(
            f"{path}: machine.known_as: the catalog has no device {identifier!r:.40}"
        )
    return known
