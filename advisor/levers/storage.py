"""How weights are kept: compressed without loss, shared between layers, loaded; adapters beside."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, ClassVar, Final, Literal

from advisor.deployment import Deployment
from advisor.ledger.formats import Format, parse_format
from advisor.levers import reshape
from advisor.levers.base import Count, Lever, Nature, Open, Ratio

_ADAPTER_FIXED_FACTOR: Final = 1.4
"""Two more kernels for each linear: unmerged adapters cost a fifth to three fifths of the fixed
time of a step at batch 1."""
_BFLOAT_RATIO: Final = 0.70
"""Entropy-coded exponents leave 11 of 16 bits (DFloat11: https://arxiv.org/abs/2504.11651)."""


@lru_cache(maxsize=64)
def _compressed(form: Format, ratio: float) -> Format:
    return replace(form, name=f"{form.name} at {ratio:.0%}", bits=form.bits * ratio, mix=None)


class Compress(Lever):
    """Weights compressed without loss, expanded by the kernel or through memory."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["compress"] = "compress"
    ratio: Ratio = _BFLOAT_RATIO
    """Size after over size before."""
    in_kernel: bool = False
    """Whether the kernel that multiplies also expands; else expanded weights pass memory twice."""

    @property
    def machine_kind(self) -> str:
        """compress.lossless."""
        return "compress.lossless"

    @property
    def label(self) -> str:
        """Ratio and where it is expanded."""
        place = "in the kernel" if self.in_kernel else "through memory"
        return f"lossless compression to {self.ratio:.0%}, expanded {place}"

    @property
    def acts_on(self) -> Nature:
        """Bytes a step reads, or only those that are kept."""
        return Nature.BYTES if self.in_kernel else Nature.COST

    def apply(self, deployment: Deployment) -> Deployment:
        """Fewer bytes kept; expanded through memory they are read, written and read again."""
        form = deployment.weights or parse_format(deployment.model.dtype)
        packed = deployment.evolve(weights=_compressed(form, self.ratio))
        if self.in_kernel:
            return packed
        return packed.evolve(weight_traffic=(self.ratio + 2.0) / self.ratio)


class ShareWeights(Lever):
    """One block of weights used by several layers (ALBERT, looped and recursive models)."""

    nature: ClassVar[Nature] = Nature.CAPACITY

    kind: Literal["share_weights"] = "share_weights"
    times: Annotated[Count | None, Open]
    """Layers that use one block."""

    @property
    def label(self) -> str:
        """How often a block is used."""
        return f"weights shared by {self.times or 'several'} layers"

    def apply(self, deployment: Deployment) -> Deployment:
        """Stored once; streamed at every use, for a layer is larger than the last cache."""
        if self.times is None:
            return deployment
        return deployment.evolve(model=reshape.share_layers(deployment.model, self.times))

    def condition(self, deployment: Deployment) -> str | None:
        """A number that nobody stated."""
        del deployment
        return "how many layers share a block" if self.times is None else None


class CacheResidency(Lever):
    """Weights said to stay in the last-level cache or in on-chip memory between steps."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["cache_residency"] = "cache_residency"

    @property
    def label(self) -> str:
        """Its name."""
        return "weights resident in the last cache"

    def apply(self, deployment: Deployment) -> Deployment:
        """Nothing is read where half the cache holds a step's weights; else everything is."""
        from advisor.ledger.step import count_step  # noqa: PLC0415 - only this lever counts here

        cache_bytes = (deployment.hardware.llc_mb or 0.0) * 1e6
        fits = count_step(deployment).weight_bytes <= cache_bytes / 2.0
        return deployment.evolve(weight_traffic=0.0) if fits else deployment


class Lora(Lever):
    """Low-rank adapters beside the weights, served unmerged, or merged into them."""

    nature: ClassVar[Nature] = Nature.COST

    kind: Literal["lora"] = "lora"
    rank: Count = 16
    adapters: Count = 1
    """Distinct adapters among the sequences of a step."""
    merged: bool = False

    @property
    def label(self) -> str:
        """Rank, number, and whether they are merged."""
        if self.merged:
            return "LoRA merged into the weights"
        many = f"{self.adapters} adapters" if self.adapters > 1 else "adapter"
        return f"LoRA {many} of rank {self.rank}, unmerged"

    @property
    def acts_on(self) -> Nature:
        """More work per token; merging takes it off again."""
        return Nature.OVERHEAD if self.merged else Nature.COST

    def apply(self, deployment: Deployment) -> Deployment:
        """Adapters' bytes and their kernels; merged, the base model as it is."""
        if self.merged:
            return deployment
        kernels = deployment.kernels
        kernels = kernels._replace(fixed_factor=kernels.fixed_factor * _ADAPTER_FIXED_FACTOR)
        model = reshape.with_adapters(deployment.model, self.rank, self.adapters)
        return deployment.evolve(model=model, kernels=kernels)

    def condition(self, deployment: Deployment) -> str | None:
        """Merging gains what unmerged adapters cost; into quantized weights it needs a new pack."""
        if not self.merged:
            return None
        wide = deployment.weights is None or deployment.weights.is_wide
        again = "" if wide else ", and quantizing again: merged 16-bit weights undo the format"
        return f"that adapters are served unmerged now{again}"


class Loading(Lever):
    """How a checkpoint is stored and loaded: safetensors, mmap, tensorizer, sharded loading."""

    nature: ClassVar[Nature] = Nature.CAPACITY

    kind: Literal["loading"] = "loading"
    name: str | None = None

    @property
    def label(self) -> str:
        """Its name."""
        return self.name or "checkpoint loading"

    def apply(self, deployment: Deployment) -> Deployment:
        """Nothing about a step changes once the weights are in memory."""
        return deployment


class TrainingOnly(Lever):
    """What only training feels: gradient checkpointing, optimizer sharding, mixed precision."""

    nature: ClassVar[Nature] = Nature.CAPACITY

    kind: Literal["training_only"] = "training_only"
    name: str | None = None

    @property
    def label(self) -> str:
        """Its name."""
        return self.name or "a training technique"

    def apply(self, deployment: Deployment) -> Deployment:
        """Nothing: inference keeps no activations for a backward pass."""
        return deployment
