"""Rates of matrix units, collectives and caches, read off the kernel benchmarks of fixtures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from math import log2
from statistics import median
from typing import Final

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine, resolve_engine
from advisor.catalog.hardware import device
from advisor.deployment import find_model
from advisor.ledger.formats import Format, parse_format
from advisor.timing.effects import (
    Setting,
    bandwidth_effects,
    cache_effects,
    dequantize_effects,
    setting_of,
)
from advisor.timing.fitted import KernelTables, read_tables
from advisor.timing.kernels import link_of, vector_flops
from benchmarks.fitting import Observation, Segment
from benchmarks.measured import read_table

_GPUS: Final[Mapping[str, str]] = {
    "a100_sxm": "nvidia-a100-sxm-80gb", "h100_sxm": "nvidia-h100-sxm",
    "h200_sxm": "nvidia-h200-sxm", "b200_sxm": "nvidia-b200", "b300_sxm": "nvidia-b300",
    "gb200": "nvidia-gb200", "gb300": "nvidia-gb300", "l40s": "nvidia-l40s",
    "rtx_pro_6000_server": "nvidia-rtx-pro-6000-server", "b60": "intel-arc-pro-b60",
}  # fmt: skip
_MATH: Final = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8", "nvfp4": "fp4", "sq": "int8"}
_STORED: Final = {
    "bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8-block128", "nvfp4": "nvfp4",
    "int8_wo": "int8", "int4_wo": "int4-g128", "sq": "int8",
}  # fmt: skip
_COLLECTIVES: Final = {"NCCL": "nccl"}
_MULTI_NODE: Final = "gb300"
_LARGE_BYTES: Final = 2e8
_SMALL_BYTES: Final = 4.5e6
_STREAMING_TOKENS: Final = {1, 4, 16}
_SATURATING_TOKENS: Final = 512


def kernel_tables() -> KernelTables:
    """Read rates of matrix units, collectives and narrow caches off the kernel benchmarks."""
    return read_tables(
        {
            "math": _math_fractions(),
            "all_reduce": _all_reduces(),
            "narrow_cache": _narrow_caches(),
        }
    )


def rounded(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


class _Product:
    """One matrix product of the GEMM table."""

    def __init__(self, row: Mapping[str, str]) -> None:
        self.gpu = device(_GPUS[row["gpu"]])
        self.engine = row["engine"]
        self.dtype = row["dtype"]
        self.tokens = int(row["m"])
        self.weights = int(row["n"]) * int(row["k"])
        self.seconds = float(row["ms"]) * 1e-3
        self.form = parse_format(_STORED[self.dtype])

    @property
    def memory_s(self) -> float:
        """Time of the weights at peak bandwidth."""
        return self.weights * self.form.bits / 8 / (self.gpu.bandwidth_gbs * 1e9)


@lru_cache(maxsize=1)
def _products() -> tuple[_Product, ...]:
    return tuple(_Product(row) for row in read_table("gemm.csv.gz"))


def _math_fractions() -> dict[str, float]:
    """Fraction of the dense peak that products of 512 tokens reach, the best engine's."""
    cells: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for product in _products():
        dtype = _MATH.get(product.dtype)
        peak = product.gpu.peak_flops(dtype) if dtype else None
        if product.tokens != _SATURATING_TOKENS or dtype is None or peak is None:
            continue
        floor = max(2.0 * product.tokens * product.weights / peak, product.memory_s)
        cells[dtype, product.gpu.id, product.engine].append(floor / product.seconds)
    best: dict[tuple[str, str], float] = defaultdict(float)
    for (dtype, gpu, _), fractions in cells.items():
        best[dtype, gpu] = max(best[dtype, gpu], min(median(fractions), 1.0))
    pooled: dict[str, list[float]] = defaultdict(list)
    for (dtype, gpu), fraction in best.items():
        pooled[dtype].append(fraction)
        pooled[f"{dtype}|{device(gpu).generation}"].append(fraction)
    return {key: rounded(median(values), 3) for key, values in sorted(pooled.items())}


def _all_reduces() -> dict[str, tuple[float, float]]:
    """Latency of small messages, and the part of the link's rate that large ones reach."""
    small: dict[str, list[float]] = defaultdict(list)
    large: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in read_table("all_reduce.csv.gz"):
        if row["gpu"] == _MULTI_NODE:
            continue
        size, elements = int(row["devices"]), int(row["elements"])
        link, rate = link_of(device(_GPUS[row["gpu"]]))
        key = f"{link}|{_COLLECTIVES.get(row['kernel'], 'custom')}|{size}"
        if elements <= 4096:
            small[key].append(float(row["ms"]) * 1e3)
        elif elements >= 2**20:
            moved_s = 2.0 * (size - 1) / size * 2.0 * elements / rate
            large[key].append((moved_s, float(row["ms"]) * 1e-3))
    found = {}
    for key in sorted(small):
        latency_us = median(small[key])
        reached = median(
            moved / (seconds - latency_us * 1e-6)
            for moved, seconds in large[key]
            if seconds > latency_us * 1e-6
        )
        found[key] = (rounded(latency_us, 3), rounded(min(reached, 1.0), 3))
    return found


class _Cell:
    """One attention shape on one GPU in one engine: 16-bit and 8-bit seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.bytes = 0.0
        self.sharing = 1

    def note(self, row: Mapping[str, str]) -> None:
        """Keep the fastest kernel of either width."""
        seconds = float(row["ms"]) * 1e-3
        known = self.seconds.get(row["kv_dtype"], seconds)
        self.seconds[row["kv_dtype"]] = min(known, seconds)
        heads, kv_heads = int(row["heads"]), int(row["kv_heads"])
        self.sharing = heads // kv_heads
        # Keys and values of 128 elements in 16 bits.
        self.bytes = 2.0 * 2.0 * 128 * int(row["batch"]) * kv_heads * int(row["context"])


@lru_cache(maxsize=1)
def _attention() -> dict[tuple[str, str], list[_Cell]]:
    """Attention shapes by GPU and engine."""
    cells: dict[tuple[str, ...], _Cell] = defaultdict(_Cell)
    for row in read_table("decode_attention.csv.gz"):
        shape = tuple(
            row[name] for name in ("gpu", "engine", "batch", "heads", "kv_heads", "context")
        )
        cells[shape].note(row)
    grouped: dict[tuple[str, str], list[_Cell]] = defaultdict(list)
    for shape, cell in cells.items():
        grouped[shape[0], shape[1]].append(cell)
    return grouped


def _narrow_caches() -> dict[str, tuple[float, float]]:
    """Cost and reach of 8-bit caches beside 16-bit ones, by engine and generation."""
    extra: dict[str, list[float]] = defaultdict(list)
    reached: dict[str, list[float]] = defaultdict(list)
    for (gpu, engine), cells in _attention().items():
        known = device(_GPUS[gpu])
        kernels = resolve_engine(engine).kernel_set(known)
        both = [cell for cell in cells if len(cell.seconds) == 2 and cell.sharing > 1]
        small = [cell for cell in both if cell.bytes <= _SMALL_BYTES]
        large = [cell for cell in both if cell.bytes >= _LARGE_BYTES]
        if not small or not large:
            continue
        start = {kind: median(cell.seconds[kind] for cell in small) for kind in ("bfloat16", "fp8")}
        for key in ("", kernels, f"{kernels}|{known.generation}"):
            extra[key].append((start["fp8"] - start["bfloat16"]) * 1e6)
            reached[key] += [
                (cell.seconds["bfloat16"] - start["bfloat16"])
                / (2.0 * (cell.seconds["fp8"] - start["fp8"]))
                for cell in large
            ]
    return {
        key: (rounded(median(extra[key]), 3), rounded(median(reached[key]), 3))
        for key in sorted(extra)
    }


def _kernel_setting(gpu: Device, engine: Engine, sharing: int = 1) -> Setting:
    base = setting_of(find_model("Llama-3.1-8B"), gpu, engine, None, 1)
    return base._replace(sharing=log2(sharing))


def kernel_observations() -> list[Observation]:
    """The kernel benchmarks of the serving engines as rows: reads at 1 ms of peak bandwidth."""
    rows: list[Observation] = []
    streams: dict[tuple[str, str, Format], list[float]] = defaultdict(list)
    for product in _products():
        if product.tokens in _STREAMING_TOKENS:
            key = (product.gpu.id, product.engine, product.form)
            streams[key].append(product.memory_s / product.seconds)
    best: dict[tuple[str, str, str], tuple[float, Format]] = {}
    for (gpu, engine, form), fractions in streams.items():
        value = median(fractions)
        if value > best.get((gpu, engine, form.family), (0.0, form))[0]:
            best[gpu, engine, form.family] = (value, form)
    for (gpu, engine, family), (reached, form) in sorted(best.items(), key=lambda item: item[0]):
        known = device(gpu)
        setting = _kernel_setting(known, resolve_engine(engine))
        weights = known.bandwidth_gbs * 1e6 / (form.bits / 8)
        segment = Segment(
            bandwidth_effects(setting, family, form.element_bits, routed=False),
            dequantize_effects(setting, family),
            1.0,
            weights / vector_flops(known) * 1e3,
            0.0,
        )
        rows.append(_kernel_row(f"gemm|{gpu}", gpu, 1.0 / min(reached, 0.97), segment))
    nothing = Segment((), (), 0.0, 0.0, 0.0)
    for (gpu, engine), cells in sorted(_attention().items()):
        known = device(_GPUS[gpu])
        for sharing in (1, 4, 8):
            found = [
                cell.bytes / (known.bandwidth_gbs * 1e9) / cell.seconds["bfloat16"]
                for cell in cells
                if cell.sharing == sharing
                and cell.bytes >= _LARGE_BYTES
                and "bfloat16" in cell.seconds
            ]
            if found:
                setting = _kernel_setting(known, resolve_engine(engine), sharing)
                row = _kernel_row(
                    f"attention|{known.id}", known.id, 1.0 / min(median(found), 0.97), nothing
                )
                rows.append(row._replace(cache=cache_effects(setting), cache_ms=1.0))
    return rows


def _kernel_row(group: str, card: str, measured_ms: float, segment: Segment) -> Observation:
    return Observation(
        id=group, group=group, card=card, measured_ms=measured_ms, sigma=0.12, knee=0.36,
        segments=[segment], cache=(), cache_ms=0.0, cache_math_ms=0.0, layer=(), layers=0.0,
        growth=(), log_sequences=0.0, reduce=(), reduce_ms=0.0, hop=(), hops=0.0, prefill=(),
        prefill_ms=0.0, constant_ms=0.0,
    )  # fmt: skip
