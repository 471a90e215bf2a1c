"""Rates of matrix units, collectives and narrow caches: what kernel benchmarks show of them."""

from __future__ import annotations

from functools import lru_cache
from math import log2
from typing import Final

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine
from advisor.ledger.formats import Format
from advisor.timing.fitted import Collective, KernelTables, NarrowCache, load_fitted

STREAM_FRACTION: Final = 0.7
"""Of peak bandwidth, on recurrent states and activations, which no table covers."""
UNKNOWN_PEAK_FLOPS: Final = 1e13
"""Where no peak of a device is known: a small one, so that no compute roof is promised away."""
UNKNOWN_VECTOR_INTENSITY: Final = 34.0
"""FP32 operations per byte of bandwidth where no FP32 peak is known (the catalog's median)."""
UNKNOWN_LINK_GBS: Final = 32.0
"""PCIe 4 x16, one way: the link to the host, and between devices, where none is known."""

_NARROW_BITS: Final = 9.0
_SWITCHED_GBS: Final = 100.0
"""One way; slower links are bridges between two cards, sold apart and not assumed."""
_LARGEST_GROUP: Final = 8


def matmul_dtype(form: Format, activations: Format) -> str:
    """The dtype the matrix units run in: the wider of weights and activations."""
    wide = max(form.element_bits, activations.element_bits)
    if wide > 16:
        return "fp32"
    if wide > 8:
        return "bf16"
    kinds = {form.kind, activations.kind}
    if wide > 4:
        return "fp8" if "fp8" in kinds else "int8"
    return "fp4" if "fp4" in kinds else "int4"


@lru_cache(maxsize=4096)
def peak_flops(device: Device, form: Format, activations: Format) -> float:
    """Dense peak of the math that multiplies weights of `form` with `activations`, FLOP/s."""
    return device.peak_flops(matmul_dtype(form, activations)) or UNKNOWN_PEAK_FLOPS


@lru_cache(maxsize=4096)
def math_fraction(
    device: Device, form: Format, activations: Format, tables: KernelTables | None = None
) -> float:
    """Part of that peak that large matrix products reach."""
    math = (tables or load_fitted().tables).math
    dtype = matmul_dtype(form, activations)
    return math.get(f"{dtype}|{device.generation}") or math.get(dtype) or math["bf16"]


def vector_flops(device: Device) -> float:
    """FP32 vector peak, FLOP/s: what unpacking and scaling of weights runs on."""
    known = device.tflops_dense.get("fp32")
    return known * 1e12 if known else UNKNOWN_VECTOR_INTENSITY * device.bandwidth_gbs * 1e9


def link_of(device: Device) -> tuple[str, float]:
    """Kind of the link between devices of one machine, and its one-way rate in bytes/s."""
    switched = device.interconnect_one_way_gbs
    if switched is not None and switched >= _SWITCHED_GBS:
        return "nvlink", switched * 1e9
    return "pcie", (device.host_link_gbs or UNKNOWN_LINK_GBS) * 1e9


@lru_cache(maxsize=1024)
def all_reduce(
    device: Device, engine: Engine, devices: int, tables: KernelTables | None = None
) -> tuple[float, float]:
    """Latency in seconds and seconds per byte of one all-reduce of a tensor-parallel group.

    A group larger than a table's largest takes one more of its steps for every doubling.
    """
    table = (tables or load_fitted().tables).all_reduce
    link, rate = link_of(device)
    steps = max(log2(devices), 1.0)
    known = [
        (log2(size), table[f"{link}|{engine.all_reduce}|{size}"]) for size in (2, 4, _LARGEST_GROUP)
    ]
    latency_us, reached = _between(known, steps)
    sent = 2.0 * (devices - 1) / devices
    return latency_us * 1e-6, sent / (rate * reached)


def _between(known: list[tuple[float, Collective]], steps: float) -> tuple[float, float]:
    (low, first), (high, second) = known[:2] if steps <= known[1][0] else known[1:]
    part = (steps - low) / (high - low)
    latency = first.latency_us + part * (second.latency_us - first.latency_us)
    reached = first.reached * (second.reached / first.reached) ** min(part, 1.0)
    return latency, reached


@lru_cache(maxsize=1024)
def narrow_cache(
    form: Format, kernels: str, generation: str, tables: KernelTables | None = None
) -> NarrowCache:
    """What an 8-bit or narrower KV cache costs and reaches beside a 16-bit one."""
    if form.bits > _NARROW_BITS:
        return NarrowCache(0.0, 1.0)
    table = (tables or load_fitted().tables).narrow_cache
    return table.get(f"{kernels}|{generation}") or table.get(kernels) or table[""]
