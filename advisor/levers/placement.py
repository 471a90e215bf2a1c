"""Where the work and the bytes are: parallelism, offload, other hardware."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import model_validator

from advisor.deployment import Deployment, Offload, find_device
from advisor.levers.base import Amount, Count, Lever, Metric, Nature, Open

_SMALL_MODEL: Final = 3e9
"""Parameters below which a step is mostly fixed time, which no split divides."""


class _Parallel(Lever):
    size: Annotated[Count | None, Open]

    @property
    def label(self) -> str:
        """Kind and degree."""
        return f"{self.kind.replace('_', ' ')} {self.size or ''}".rstrip()

    def condition(self, deployment: Deployment) -> str | None:
        """A degree that nobody stated."""
        del deployment
        return "the degree, which is left open" if self.size is None else None

    @abstractmethod
    def _split(self, deployment: Deployment, size: int) -> Deployment:
        """The deployment with this degree."""

    def apply(self, deployment: Deployment) -> Deployment:
        """The same work split further; an open degree changes nothing."""
        return deployment if self.size is None else self._split(deployment, self.size)


class TensorParallel(_Parallel):
    """Each weight split over several devices."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["tensor_parallel"] = "tensor_parallel"
    at_least: bool = False
    """Whether it is switched on over all devices there are, of which `size` is the least."""

    @property
    def label(self) -> str:
        """Kind and degree."""
        return f"{super().label} or more" if self.at_least else super().label

    def condition(self, deployment: Deployment) -> str | None:
        """A degree that nobody stated; a model so small that all-reduces eat what it saves."""
        if self.size is not None and deployment.model.total_parameters < _SMALL_MODEL:
            return "a model of 3B or more: below, all-reduces take what smaller shards save"
        return super().condition(deployment)

    def _split(self, deployment: Deployment, size: int) -> Deployment:
        """Each device reads its part of the weights; two all-reduces a layer."""
        return deployment.evolve(parallelism=replace(deployment.parallelism, tensor=size))


class PipelineParallel(_Parallel):
    """Layers split into stages on several devices."""

    nature: ClassVar[Nature] = Nature.AMORTISE
    metric: ClassVar[Metric] = "throughput"

    kind: Literal["pipeline_parallel"] = "pipeline_parallel"

    def _split(self, deployment: Deployment, size: int) -> Deployment:
        """Stages one after another for each token."""
        return deployment.evolve(parallelism=replace(deployment.parallelism, pipeline=size))


class DataParallel(_Parallel):
    """Replicas of the whole model."""

    nature: ClassVar[Nature] = Nature.AMORTISE
    metric: ClassVar[Metric] = "throughput"

    kind: Literal["data_parallel"] = "data_parallel"

    def _split(self, deployment: Deployment, size: int) -> Deployment:
        """As many sequences per replica as before, on more replicas."""
        old = deployment.parallelism
        batch = max(1, deployment.batch * size // old.data)
        return deployment.evolve(parallelism=replace(old, data=size), batch=batch)


class ExpertParallel(_Parallel):
    """Whole experts spread over devices."""

    nature: ClassVar[Nature] = Nature.AMORTISE
    metric: ClassVar[Metric] = "throughput"

    kind: Literal["expert_parallel"] = "expert_parallel"

    def _split(self, deployment: Deployment, size: int) -> Deployment:
        """Experts divided by whole ones; two all-to-alls a MoE layer."""
        return deployment.evolve(parallelism=replace(deployment.parallelism, expert=size))


class ContextParallel(_Parallel):
    """The cache of one sequence spread over devices by its tokens."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["context_parallel"] = "context_parallel"

    def _split(self, deployment: Deployment, size: int) -> Deployment:
        """Each device reads its part of the cache, and all of the weights; one exchange a layer."""
        return deployment.evolve(parallelism=replace(deployment.parallelism, context=size))


class OffloadLever(Lever):
    """Weights or cache kept on the host or on NVMe and read from there."""

    nature: ClassVar[Nature] = Nature.LINK

    kind: Literal["offload"] = "offload"
    weights: Amount | None = None
    kv_cache: Amount | None = None
    to: Literal["host", "nvme"] = "host"
    evicted: bool = False
    """Whether only evicted cache blocks go there, to come back with their prefix."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.weights is None and self.kv_cache is None:
            raise ValueError("offload what? give weights or kv_cache as a size: weights: 10 GB")
        return self

    @property
    def machine_kind(self) -> str:
        """offload.weights or offload.kv."""
        return "offload.weights" if self.weights is not None else "offload.kv"

    @property
    def label(self) -> str:
        """What goes where."""
        what = "weights" if self.weights is not None else "KV cache"
        size = (self.weights if self.weights is not None else self.kv_cache) or 0.0
        place = "NVMe" if self.to == "nvme" else "the host"
        if self.evicted:
            what = "evicted KV cache"
        return f"{size / 1e9:.3g} GB of {what} on {place}" if size else f"{what} on {place}"

    @property
    def acts_on(self) -> Nature:
        """The link in every step, or only the prompt: evicted blocks are no part of a step."""
        return Nature.PREFILL if self.evicted and self.weights is None else self.nature

    def condition(self, deployment: Deployment) -> str | None:
        """An amount that nobody stated."""
        del deployment
        if self.weights or self.kv_cache or self.acts_on is Nature.PREFILL:
            return None
        return "how much is offloaded, and the link"

    def apply(self, deployment: Deployment) -> Deployment:
        """These bytes come over the host link in every step that needs them."""
        if self.acts_on is Nature.PREFILL:
            return deployment
        away = Offload(self.weights or 0.0, self.kv_cache or 0.0, self.to)
        return deployment.evolve(offload=away)

    def parts(self) -> tuple[Lever, ...]:
        """Weights and cache are two levers."""
        if self.weights is None or self.kv_cache is None:
            return (self,)
        first = self.model_copy(update={"kv_cache": None})
        return (first, self.model_copy(update={"weights": None}))


class Hardware(Lever):
    """Other devices."""

    nature: ClassVar[Nature] = Nature.HARDWARE

    kind: Literal["hardware"] = "hardware"
    hardware: str

    @property
    def label(self) -> str:
        """The devices."""
        return self.hardware

    def apply(self, deployment: Deployment) -> Deployment:
        """The same work on other devices; a stated count is the tensor parallel degree."""
        count, device = find_device(self.hardware)
        split = deployment.parallelism
        if count != 1:
            split = replace(split, tensor=count)
        return deployment.evolve(hardware=device, parallelism=split)
