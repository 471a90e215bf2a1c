"""Around the kernels: host code, clocks and power, memory of the host, cheap operators."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from advisor.catalog.device import Device
from advisor.deployment import Deployment
from advisor.levers.base import Lever, Nature
from advisor.quantity import Dimension, parse_quantity

_PINNED_BANDWIDTH: Final = 0.8
"""Part of its bandwidth that a CPU reaches with threads and pages on the right node."""


class HostWork(Lever):
    """Work of the host in a step: runtime, scheduler, sampler, tokenizer."""

    nature: ClassVar[Nature] = Nature.OVERHEAD

    kind: Literal["host_work"] = "host_work"
    part: Literal["runtime", "scheduler", "sampler", "tokenizer"] = "runtime"
    name: str | None = None

    @property
    def machine_kind(self) -> str:
        """latency_overhead, as every other fixed time of a step."""
        return "latency_overhead"

    @property
    def label(self) -> str:
        """Name, or the part."""
        return self.name or f"faster {self.part}"

    def apply(self, deployment: Deployment) -> Deployment:
        """Nothing that is counted: what it saves is time between steps, which is not given."""
        return deployment

    def condition(self, deployment: Deployment) -> str | None:
        """Time of the host that kernels do not hide."""
        del deployment
        return f"the time the {self.part} takes in a step that kernels do not hide: measure it"


def _change(value: object) -> float:
    text = str(value).strip()
    if match := re.fullmatch(r"([+-])\s*(\d+(?:\.\d+)?)\s*%", text):
        sign = 1.0 if match[1] == "+" else -1.0
        return 1.0 + sign * float(match[2]) / 100.0
    return parse_quantity(value, Dimension.FACTOR).value


Change = Annotated[
    float,
    BeforeValidator(_change),
    WithJsonSchema({"type": ["number", "string"], "examples": ["+10%", "1.1x"]}),
]


@lru_cache(maxsize=64)
def _reclocked(device: Device, core: float, memory: float) -> Device:
    peaks = {name: peak and peak * core for name, peak in device.tflops_dense.items()}
    return replace(device, bandwidth_gbs=device.bandwidth_gbs * memory, tflops_dense=peaks)


class Clocks(Lever):
    """Clocks and power limits: of the cores, of the memory."""

    nature: ClassVar[Nature] = Nature.FLOPS

    kind: Literal["clocks"] = "clocks"
    core: Change | None = None
    memory: Change | None = None
    power: Change | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.core is None and self.memory is None and self.power is None:
            raise ValueError("which clock? give core, memory or power: core: +10%")
        return self

    @property
    def label(self) -> str:
        """What changes."""
        parts = (("core clock", self.core), ("memory clock", self.memory), ("power", self.power))
        return ", ".join(f"{name} {100 * (value - 1):+.0f}%" for name, value in parts if value)

    @property
    def acts_on(self) -> Nature:
        """A memory clock is bandwidth; core clock and power are arithmetic."""
        return Nature.HARDWARE if self.memory is not None else Nature.FLOPS

    def apply(self, deployment: Deployment) -> Deployment:
        """Peaks by the core clock (or the power that allows it), bandwidth by the memory clock."""
        core = self.core or self.power or 1.0
        return deployment.evolve(hardware=_reclocked(deployment.hardware, core, self.memory or 1.0))


class Numa(Lever):
    """Threads and pages on the right node of the host: numactl, huge pages, interleaving."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["numa"] = "numa"
    name: str | None = None

    @property
    def label(self) -> str:
        """Its name."""
        return self.name or "threads and pages pinned to their node"

    def apply(self, deployment: Deployment) -> Deployment:
        """Nothing is read less; a CPU may read it faster."""
        return deployment

    def condition(self, deployment: Deployment) -> str | None:
        """Weights in host memory, and what of its bandwidth is reached now."""
        if deployment.hardware.kind != "cpu":
            return f"weights in host memory: {deployment.hardware.name} reads its own"
        return f"bandwidth reached now, against {_PINNED_BANDWIDTH:.0%} with pinned threads"


class Elementwise(Lever):
    """Cheaper small operators: another activation function, norm or softmax, biases removed."""

    nature: ClassVar[Nature] = Nature.FLOPS

    kind: Literal["elementwise"] = "elementwise"
    name: str | None = None

    @property
    def label(self) -> str:
        """Its name."""
        return self.name or "cheaper activation function or norm"

    def apply(self, deployment: Deployment) -> Deployment:
        """A thousandth of the arithmetic; every byte stays."""
        return deployment

    def nominal_flops(self, deployment: Deployment) -> float:
        """A few operations on each element of an activation beside 2 FLOP for each weight."""
        model = deployment.model
        elements = 4.0 * (model.hidden + model.intermediate) * model.layer_count
        return elements / (2.0 * max(model.total_parameters, 1))
