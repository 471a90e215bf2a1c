"""A machine through torch: what it is, how fast it streams and multiplies, and timed steps."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import torch

from advisor.ledger.formats import parse_format
from advisor.prove.experiments import Missing, Step, Variant, counted
from advisor.prove.record import Clock
from advisor.prove.torch_step import DTYPES, DecodeStep, Weights

_GPU_CACHE_BYTES: Final = 64e6
"""Rotate beyond this much where torch does not say how large the last cache is."""
_PROBE_REPEATS: Final = 7
_PROBE_WIDTH: Final = 4096
_LARGEST_PROBE: Final = 2e9
_MATMUL_SIZE: Final = {"cpu": 768, "cuda": 8192, "mps": 2048}
CACHE_MULTIPLE: Final = 3.0
"""Weights of a step, with its copies, are at least this many times the last cache."""


class NoDeviceError(RuntimeError):
    """A device that is not there; the message names those that are."""


class TorchMachine:
    """Builds and times steps on one device."""

    def __init__(self, device: str, threads: int | None, clock: Clock) -> None:
        """Take hold of a device.

        Raises:
            NoDeviceError: where this torch has no such device, or the clock does not fit it.

        """
        available = ["cpu"]
        available += ["cuda"] if torch.cuda.is_available() else []
        available += ["mps"] if torch.backends.mps.is_available() else []
        if device not in available:
            raise NoDeviceError(f"no {device} device here; torch sees {', '.join(available)}")
        if threads is not None:
            torch.set_num_threads(threads)
        if clock == "cpu" and (device != "cpu" or torch.get_num_threads() != 1):
            raise NoDeviceError("--clock cpu is the time of one core: it needs --threads 1")
        self.device = device
        self.clock: Clock = clock if device != "cuda" else "device"
        self.threads = torch.get_num_threads()
        self.version = str(torch.__version__)
        self.sixteen_bit = "fp16" if device == "mps" else "bf16"
        self.name = _name_of(device)
        self._wall_s = self._core_s = 0.0
        self._weights: dict[tuple[object, ...], Weights] = {}

    @property
    def memory_bytes(self) -> float:
        """What is free now."""
        if self.device == "cuda":
            return float(torch.cuda.mem_get_info()[0])
        meminfo = Path("/proc/meminfo")
        if meminfo.is_file():
            for line in meminfo.read_text(encoding="ascii").splitlines():
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2

    @property
    def cache_bytes(self) -> float:
        """Last-level cache; 0 where the system does not say."""
        if self.device == "cuda":
            return float(getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0))
        sizes = [0.0]
        for size in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
            text = size.read_text(encoding="ascii").strip()
            unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
            sizes.append(float(text.rstrip("KM")) * unit)
        return max(sizes)

    @property
    def busy(self) -> float | None:
        """Part of the timed time that the process had its core; None but on one CPU thread."""
        if self.device != "cpu" or self.threads != 1 or not self._wall_s:
            return None
        return min(self._core_s / self._wall_s, 1.0)

    def bandwidth_gbs(self) -> tuple[float, ...]:
        """Rates of reading a buffer far larger than any cache.

        By a sum, or a matrix times a vector: whichever this machine does faster.
        """
        cache = self.cache_bytes or _GPU_CACHE_BYTES
        size = min(max(CACHE_MULTIPLE * cache, 2.5e8), _LARGEST_PROBE, self.memory_bytes / 4)
        rows = int(size // (4 * _PROBE_WIDTH))
        matrix = torch.ones(rows, _PROBE_WIDTH, device=self.device)
        vector = torch.ones(_PROBE_WIDTH, device=self.device)
        kinds = [self._repeat(work) for work in (matrix.sum, partial(torch.mv, matrix, vector))]
        best = min(kinds, key=min)
        return tuple(matrix.numel() * 4 / 1e6 / ms for ms in best)

    def matmul_gflops(self, dtypes: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
        """Rates of a square matmul by dtype, those that this device multiplies."""
        size = _MATMUL_SIZE[self.device]
        rates = {}
        for name in dtypes:
            left = torch.randn(size, size, device=self.device).to(DTYPES[name])
            try:
                times = self._repeat(partial(torch.matmul, left, left))
            except RuntimeError:
                continue
            rates[name] = tuple(2.0 * size**3 / 1e6 / ms for ms in times)
        return rates

    def _repeat(self, work: Callable[[], Any]) -> list[float]:
        for _ in range(2):
            self._timed(work)
        return [self._timed(work) for _ in range(_PROBE_REPEATS)]

    def prepare(self, variant: Variant) -> Step:
        """Build a variant; see `Bench.prepare`."""
        try:
            with torch.inference_mode():
                return self._prepare(variant)
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            words = str(error).splitlines()[0][:160] if str(error) else type(error).__name__
            if "memory" in words.lower():
                words = "not enough memory"
            raise Missing(f"cannot run on this {self.device}: {words}") from None

    def _prepare(self, variant: Variant) -> Step:
        step = DecodeStep(variant, self.device, self._built(variant))
        run: Callable[[], Any] = step
        if variant.graph:
            run = _captured(step)

        def timed() -> float:
            with torch.inference_mode():
                return self._timed(run)

        timed()  # a kernel that is missing says so now
        return timed

    def _built(self, variant: Variant) -> Weights:
        """The variant's weights; variants that differ in other things share them."""
        deployment = variant.deployment
        form = deployment.weights or parse_format(deployment.model.dtype)
        key = (deployment.model, form, deployment.lm_head, variant.zeros, variant.twin)
        if key not in self._weights:
            # Weight-only kernels take 16-bit activations; wide weights multiply in their own.
            dtype = DTYPES.get(form.name, DTYPES[self.sixteen_bit])
            self._weights[key] = Weights(variant, self.device, dtype, self._copies(variant))
        return self._weights[key]

    def _copies(self, variant: Variant) -> int:
        """Copies of the weights to take in turn, so that none is read from a cache."""
        cache = self.cache_bytes or (_GPU_CACHE_BYTES if self.device == "cuda" else 0.0)
        size = counted(variant).weight_bytes
        wanted = int(-(-CACHE_MULTIPLE * cache // max(size, 1.0)))
        room = int(self.memory_bytes / 4 // max(size, 1.0))
        return max(min(wanted, room, 64), 1)

    def release(self) -> None:
        """Free what was built, the first weights aside: every group has the baseline."""
        for key in list(self._weights)[1:]:
            del self._weights[key]
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def _timed(self, work: Callable[[], Any]) -> float:
        """Milliseconds of one call, by the device's own events where it has them."""
        if self.device == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            work()
            end.record()
            end.synchronize()
            return float(start.elapsed_time(end))
        wall, core = time.perf_counter(), time.thread_time()
        work()
        if self.device == "mps":
            torch.mps.synchronize()
        core_s = time.thread_time() - core
        wall_s = time.perf_counter() - wall
        self._wall_s += wall_s
        self._core_s += core_s
        return 1e3 * (core_s if self.clock == "cpu" else wall_s)


def _name_of(device: str) -> str:
    """Processor or GPU, as it calls itself."""
    if device == "cuda":
        return str(torch.cuda.get_device_name())
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.lower().startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _captured(step: DecodeStep) -> Callable[[], Any]:
    """The step as CUDA graphs, one a copy of the weights: a graph holds its addresses."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for number in range(step.copies):
            step.run_copy(number)
    torch.cuda.current_stream().wait_stream(side)
    graphs = []
    for number in range(step.copies):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step.run_copy(number)
        graphs.append(graph)
    turns = cycle(graphs)
    return lambda: next(turns).replay()
