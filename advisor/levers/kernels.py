"""Faster arithmetic, other attention kernels, and the fixed time of a step."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar, Final, Literal

from advisor.deployment import Deployment
from advisor.levers.base import Factor, Flops, Lever, Nature

_SPLIT_KV: Final = frozenset({"flashdecoding", "splitkv", "splitk", "pagedattentionv2"})
_FUSED_FIXED_FACTOR: Final = 0.8
"""Fused norms, rotations and projections take a tenth to two fifths of the fixed time away."""


class MatmulKernel(Lever):
    """A faster matrix multiplication: nearer the peak, a higher peak, another data path."""

    nature: ClassVar[Nature] = Nature.FLOPS

    kind: Literal["matmul_kernel"] = "matmul_kernel"
    name: str | None = None
    peak: Flops | None = None
    speedup: Factor | None = None

    @property
    def label(self) -> str:
        """Name or rate."""
        if self.name:
            return self.name
        return f"matmul at {self.peak / 1e12:,.0f} TFLOPS" if self.peak else "faster matmul"

    def apply(self, deployment: Deployment) -> Deployment:
        """Arithmetic that many times faster; the same bytes."""
        faster = self.speedup or 2.0
        kernels = replace(
            deployment.kernels,
            matmul_peak_factor=deployment.kernels.matmul_peak_factor * faster,
        )
        return deployment.evolve(kernels=kernels)


class AttentionKernel(Lever):
    """Another attention kernel."""

    nature: ClassVar[Nature] = Nature.PREFILL

    kind: Literal["attention_kernel"] = "attention_kernel"
    name: str | None = None
    peak: Flops | None = None
    speedup: Factor | None = None

    @property
    def splits_kv(self) -> bool:
        """Whether it spreads one sequence's cache over the device, which decode can feel."""
        return re.sub(r"[^a-z0-9]", "", (self.name or "").lower()) in _SPLIT_KV

    @property
    def label(self) -> str:
        """Name."""
        return self.name or "attention kernel"

    def apply(self, deployment: Deployment) -> Deployment:
        """The named kernel; bytes of the cache stay."""
        kernels = replace(deployment.kernels, attention=self.name or "other")
        return deployment.evolve(kernels=kernels)


class CudaGraphs(Lever):
    """Steps replayed as captured graphs, or not."""

    nature: ClassVar[Nature] = Nature.OVERHEAD

    kind: Literal["cuda_graphs"] = "cuda_graphs"
    enabled: bool = True

    @property
    def machine_kind(self) -> str:
        """cuda_graph or cuda_graph.off."""
        return "cuda_graph" if self.enabled else "cuda_graph.off"

    @property
    def label(self) -> str:
        """On or off."""
        return "CUDA graphs" if self.enabled else "CUDA graphs off"

    def apply(self, deployment: Deployment) -> Deployment:
        """Launches by graph replay, or one by one."""
        return deployment.evolve(kernels=replace(deployment.kernels, graphs=self.enabled))


class Compile(Lever):
    """torch.compile or another graph compiler."""

    nature: ClassVar[Nature] = Nature.OVERHEAD

    kind: Literal["compile"] = "compile"
    mode: str | None = None

    @property
    def label(self) -> str:
        """Mode."""
        return f"compile ({self.mode})" if self.mode else "compile"

    def apply(self, deployment: Deployment) -> Deployment:
        """Fewer kernels, and graphs where the mode captures them."""
        return deployment.evolve(kernels=replace(deployment.kernels, compiled=True))


class Fuse(Lever):
    """Kernels fused by hand: norms, rotations, projections, sampling."""

    nature: ClassVar[Nature] = Nature.OVERHEAD

    kind: Literal["fuse"] = "fuse"
    mode: str | None = None

    @property
    def machine_kind(self) -> str:
        """latency_overhead."""
        return "latency_overhead"

    @property
    def label(self) -> str:
        """What is fused."""
        return f"fused {self.mode}" if self.mode else "fused kernels"

    def apply(self, deployment: Deployment) -> Deployment:
        """A part of the fixed time per layer goes."""
        fixed = deployment.kernels.fixed_factor * _FUSED_FIXED_FACTOR
        return deployment.evolve(kernels=replace(deployment.kernels, fixed_factor=fixed))
