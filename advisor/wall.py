"""The memory wall: ridge points over the years, and where a model's decode stands on a roofline.

The ridge of a device (dense peak over bandwidth) says how much arithmetic each byte must bring
before arithmetic is what a step waits for. Decode at batch 1 brings one to four FLOP per byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.hardware import all_devices
from advisor.deployment import Deployment, Speculation
from advisor.ledger.formats import parse_format
from advisor.steps import Step, step_of

CLASSES: Final = ("nvidia-hbm", "nvidia-gddr", "amd-hbm", "amd-gddr", "tpu", "apple-ultra")
"""Classes whose generations the table follows unless others are asked for."""


class UnknownClassError(ValueError):
    """A class of hardware that no device of the catalog belongs to."""


class Generation(NamedTuple):
    """The device of a class and year with the most bandwidth, and its ridges."""

    device: Device
    ridge_16: float | None
    ridge_8: float | None
    ridge_4: float | None


def generations(classes: Iterable[str] = CLASSES) -> tuple[Generation, ...]:
    """One device for each class and year, by class and then by year.

    Ridges are of math that the device has; where a narrower format runs at the rate of a wider
    one, it has no ridge of its own.

    Raises:
        UnknownClassError: with the classes there are.

    """
    best: dict[tuple[str, int], Device] = {}
    wanted = tuple(classes)
    known = sorted({device.hardware_class for device in all_devices()})
    if unknown := [name for name in wanted if name not in known]:
        raise UnknownClassError(f"no hardware class {unknown[0]!r}; known: {', '.join(known)}")
    for device in all_devices():
        key = (device.hardware_class, device.year)
        if device.hardware_class not in wanted or device.preliminary or not _rank(device)[1]:
            continue
        if key not in best or _rank(device) > _rank(best[key]):
            best[key] = device
    rows = sorted(best.items(), key=lambda item: (wanted.index(item[0][0]), item[0][1]))
    return tuple(
        Generation(
            device, _ridge(device, "bf16", "fp16"), _ridge(device, "fp8", "int8"),
            _ridge(device, "fp4", "int4"),
        )
        for _key, device in rows
    )  # fmt: skip


def _rank(device: Device) -> tuple[float, float]:
    return (device.bandwidth_gbs, _peak(device, "bf16", "fp16") or 0.0)


def _peak(device: Device, *formats: str) -> float | None:
    rates = [device.tflops_dense.get(form) for form in formats]
    return max((rate for rate in rates if rate is not None), default=None)


def _ridge(device: Device, *formats: str) -> float | None:
    peak = _peak(device, *formats)
    return None if peak is None else peak * 1e3 / device.bandwidth_gbs


class Place(NamedTuple):
    """A deployment on the roofline: useful FLOPs per byte moved, and useful FLOPs per second."""

    label: str
    about: str
    intensity: float
    flops_per_second: float
    speedup: float
    """Of the time per token against the deployment as it is."""


class Roofline(NamedTuple):
    """A device's roof and where a model's decode and the classes of levers stand on it."""

    step: Step
    ridge: float
    peak_flops: float
    bandwidth: float
    """Bytes per second, of all devices of the deployment."""
    places: tuple[Place, ...]


def roofline_of(deployment: Deployment) -> Roofline:
    """The roofline of a deployment's devices with the four classes of levers tried on it."""
    here = step_of(deployment)
    count = deployment.parallelism.tensor * deployment.parallelism.data
    bandwidth = deployment.hardware.bandwidth_gbs * 1e9 * count
    ridge = here.estimate.ridge
    int4 = parse_format("int4-g128", deployment.model.layer_count)
    fewer = step_of(deployment.evolve(weights=int4, lm_head=None))
    many = step_of(deployment.evolve(batch=deployment.batch * 32))
    drafting = step_of(deployment.evolve(speculation=Speculation("eagle", 3, 2.0)))
    useful = here.estimate.flops
    floor_s = here.estimate.floor_ms / 1e3
    places = (
        _place("now", "the deployment as it is", here, here, useful),
        _place("fewer bytes", "int4-g128 weights: right, and faster", here, fewer, useful),
        _place("more tokens", "32 times the batch: right and up", here, many, many.estimate.flops),
        _place("more tokens (one user)", "speculation, 2 of 3 drafts kept", here, drafting,
               2.0 * useful),
        Place("closer to the roof", "no overhead at all: straight up",
              here.estimate.intensity, useful / floor_s,
              here.estimate.tpot_ms.mid / here.estimate.floor_tpot_ms),
        Place("fewer FLOPs", "half of them, same bytes: left and down, no faster",
              here.estimate.intensity / 2.0,
              useful / 2.0 / (here.estimate.expected_ms.mid / 1e3), 1.0),
    )  # fmt: skip
    return Roofline(here, ridge, ridge * bandwidth, bandwidth, places)


def _place(label: str, about: str, before: Step, after: Step, useful_flops: float) -> Place:
    moved = after.estimate.bytes.memory
    seconds = after.estimate.expected_ms.mid / 1e3
    speedup = before.estimate.tpot_ms.mid / after.estimate.tpot_ms.mid
    return Place(label, about, useful_flops / moved, useful_flops / seconds, speedup)
