"""Faster arithmetic, other attention kernels, and the fixed time of a step."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Literal

from advisor.deployment import Deployment
from advisor.levers.base import Factor, Flops, Lever, Nature

_FEWER_MULTIPLICATIONS: Final = re.compile(
    r"strassen|winograd|laderman|karatsuba|coppersmith|alpha ?tensor|alpha ?evolve"
)
_STRASSEN_SAVING: Final = 1.0 / 8.0
"""One level of Strassen's algorithm makes 7 products of blocks where 8 would be needed."""
_STREAMING: Final = re.compile(
    r"gemv|mat-?vec|split-?k|stream-?k|skinny|marlin|machete|exllama|gemlite|tinygemm|bitblas|flute"
)
_FUSED_FIXED_FACTOR: Final = 0.8
"""Fused norms, rotations and projections take a tenth to two fifths of the fixed time away."""
_ONE_KERNEL_FIXED_FACTOR: Final = 0.2
"""One persistent kernel for the step: 5 to 15 us a layer are left of 35 to 100."""
_ONE_KERNEL: Final = re.compile(r"mega-?kernel|persistent|no bubbles|single kernel", re.IGNORECASE)


class MatmulKernel(Lever):
    """A faster matrix multiplication: nearer the peak, a higher peak, another data path."""

    nature: ClassVar[Nature] = Nature.FLOPS

    kind: Literal["matmul_kernel"] = "matmul_kernel"
    name: str | None = None
    peak: Flops | None = None
    speedup: Factor | None = None

    @property
    def cuts_multiplications(self) -> bool:
        """Whether it is an algorithm that needs fewer multiplications for the same product."""
        return bool(_FEWER_MULTIPLICATIONS.search((self.name or "").lower()))

    @property
    def streams_weights(self) -> bool:
        """Whether it is made for few tokens: it may sustain more bandwidth than another kernel."""
        name = (self.name or "").lower()
        return not self.cuts_multiplications and bool(_STREAMING.search(name))

    @property
    def label(self) -> str:
        """Name or rate."""
        if self.name:
            return self.name
        return f"matmul at {self.peak / 1e12:,.0f} TFLOPS" if self.peak else "faster matmul"

    def apply(self, deployment: Deployment) -> Deployment:
        """Arithmetic that many times faster; the same bytes."""
        faster = self.speedup or 2.0
        kernels = deployment.kernels._replace(
            matmul_peak_factor=deployment.kernels.matmul_peak_factor * faster,
        )
        return deployment.evolve(kernels=kernels)

    def condition(self, deployment: Deployment) -> str | None:
        """A kernel for few tokens gains by the bandwidth it sustains, and only by that."""
        del deployment
        if self.streams_weights and self.peak is None:
            return "the bandwidth it sustains at this batch, against the kernel in use"
        return None

    def nominal_flops(self, deployment: Deployment) -> float:
        """What one level of a fast algorithm saves."""
        del deployment
        return _STRASSEN_SAVING if self.cuts_multiplications else 0.0


class AttentionKernel(Lever):
    """Another attention kernel."""

    nature: ClassVar[Nature] = Nature.PREFILL

    kind: Literal["attention_kernel"] = "attention_kernel"
    name: str | None = None
    peak: Flops | None = None
    speedup: Factor | None = None

    @property
    def label(self) -> str:
        """Name."""
        return self.name or "attention kernel"

    def apply(self, deployment: Deployment) -> Deployment:
        """The named kernel; bytes of the cache stay."""
        kernels = deployment.kernels._replace(attention=self.name or "other")
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
        return deployment.evolve(kernels=deployment.kernels._replace(graphs=self.enabled))


class Compile(Lever):
    """torch.compile or another graph compiler."""

    nature: ClassVar[Nature] = Nature.OVERHEAD

    kind: Literal["compile"] = "compile"
    mode: str | None = None
    phase: Literal["decode", "prefill"] = "decode"
    """Which of the two functions is compiled, where they are compiled apart."""

    @property
    def label(self) -> str:
        """Mode."""
        what = "compile" if self.phase == "decode" else "compile prefill"
        return f"{what} ({self.mode})" if self.mode else what

    @property
    def acts_on(self) -> Nature:
        """The fixed time of a step, or the prompt alone."""
        return Nature.PREFILL if self.phase == "prefill" else self.nature

    def apply(self, deployment: Deployment) -> Deployment:
        """Fewer kernels, and graphs where the mode captures them."""
        if self.phase == "prefill":
            return deployment
        return deployment.evolve(kernels=deployment.kernels._replace(compiled=True))


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
        whole = _ONE_KERNEL.search(self.mode or "")
        factor = _ONE_KERNEL_FIXED_FACTOR if whole else _FUSED_FIXED_FACTOR
        fixed = deployment.kernels.fixed_factor * factor
        return deployment.evolve(kernels=deployment.kernels._replace(fixed_factor=fixed))
