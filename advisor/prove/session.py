"""One run from the model's name to the record: how much fits, the probes, the experiments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from time import monotonic
from typing import Final, NamedTuple, Protocol

from advisor.catalog.device import Device
from advisor.catalog.hardware import device as catalog_device
from advisor.catalog.hardware import parse_hardware
from advisor.deployment import Deployment
from advisor.ledger.capacity import capacity_of
from advisor.ledger.shapes import Architecture
from advisor.levers.reshape import with_depth
from advisor.prove.experiments import Bench, machine_device, measure, plan
from advisor.prove.record import Baseline, Clock, Ended, Machine, Run, RunFileError, Trial

ENGINE: Final = "hf-eager"
"""What a step launched operator by operator from Python is nearest to."""
_AT_ONCE: Final = 4.4
"""Weights of the largest group beside each other, in sizes of the baseline's."""
_MEMORY_SHARE: Final = 0.6


class Wanted(NamedTuple):
    """What to measure."""

    model: Architecture
    weights: str
    batch: int
    context: int
    rounds: int
    minutes: float


class Hardware(Bench, Protocol):
    """A bench that knows its machine and can probe it."""

    device: str
    clock: Clock
    threads: int

    version: str
    """Of torch."""
    sixteen_bit: str
    """The 16-bit type that suits it."""
    name: str
    """As it calls itself."""

    @property
    def memory_bytes(self) -> float:
        """Free now."""
        ...

    @property
    def cache_bytes(self) -> float:
        """Of the last level; 0 where nobody knows."""
        ...

    @property
    def busy(self) -> float | None:
        """Part of the timed time that the process had its core."""
        ...

    def bandwidth_gbs(self) -> tuple[float, ...]:
        """Streaming rates."""
        ...

    def matmul_gflops(self, dtypes: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
        """Matmul rates by dtype."""
        ...


def run(hardware: Hardware, wanted: Wanted, progress: Callable[[str], None]) -> Run:
    """Probe, measure, record. Ctrl-C ends it early and keeps what was measured.

    Raises:
        RunFileError: where not even one layer fits in memory.

    """
    began = monotonic()
    notes: list[str] = []
    progress("probing the streaming bandwidth")
    bandwidth = hardware.bandwidth_gbs()
    progress("probing the matmul rate")
    rates = hardware.matmul_gflops(("fp32", hardware.sixteen_bit))
    memory, cache = hardware.memory_bytes, hardware.cache_bytes
    like = _known(hardware)
    kind = {"cpu": "cpu", "mps": "soc"}.get(hardware.device, "gpu")
    tflops: dict[str, float | None] = {name: median(all_) / 1e3 for name, all_ in rates.items()}
    part = machine_device(hardware.name, kind, median(bandwidth), tflops, memory, cache, like)
    baseline = _baseline(wanted, part, hardware.sixteen_bit)
    layers = layers_that_fit(baseline, memory)
    if layers < wanted.model.layer_count:
        notes.append(
            f"{layers} of {wanted.model.layer_count} layers fit in the {memory / 1e9:.1f} GB that "
            "are free and are measured; everything here is of them"
        )
        baseline = baseline.evolve(model=with_depth(wanted.model, layers))
    trials: list[Trial] = []
    ended: Ended = "done"

    def out_of_time() -> bool:
        return monotonic() - began > wanted.minutes * 60.0

    graphs = hardware.device == "cuda"
    try:
        for trial in measure(
            hardware,
            plan(baseline, hardware.sixteen_bit, graphs=graphs),
            rounds=wanted.rounds,
            out_of_time=out_of_time,
            progress=progress,
            note=notes.append,
        ):
            trials.append(trial)  # noqa: PERF402  kept one by one: the next may be interrupted
    except KeyboardInterrupt:
        ended = "interrupted"
    if ended != "interrupted":
        progress("probing the streaming bandwidth again")
        bandwidth += hardware.bandwidth_gbs()
    if ended == "done" and out_of_time():
        ended = "time"
    return Run(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        rooflint=_version(),
        machine=Machine(
            device=hardware.device,
            name=hardware.name,
            memory_bytes=memory,
            cache_bytes=cache,
            threads=hardware.threads,
            torch=hardware.version,
            clock=hardware.clock,
            bandwidth_gbs=bandwidth,
            matmul_gflops=rates,
            known_as=like.id if like is not None else None,
        ),
        baseline=Baseline(
            wanted.model.name, layers, wanted.model.layer_count, wanted.weights,
            wanted.batch, wanted.context,
        ),
        trials=tuple(trials),
        ended=ended,
        busy=hardware.busy,
        notes=tuple(notes),
    )  # fmt: skip


def _baseline(wanted: Wanted, part: Device, sixteen_bit: str) -> Deployment:
    wide = wanted.weights if wanted.weights in {"fp32", "bf16", "fp16"} else sixteen_bit
    return Deployment(
        wanted.model, part, weights=wanted.weights, lm_head=wide, kv_cache=wide,
        activations=wide, engine=ENGINE, batch=wanted.batch, context=wanted.context,
    )  # fmt: skip


def layers_that_fit(baseline: Deployment, memory_bytes: float) -> int:
    """As many layers as the variants that stand beside each other leave room for.

    Raises:
        RunFileError: where not even one layer fits.

    """
    model = baseline.model

    def fits(layers: int) -> bool:
        needed = capacity_of(baseline.evolve(model=with_depth(model, layers)))
        caches = needed.sequences * needed.per_sequence_bytes * 2
        return needed.weights_bytes * _AT_ONCE + caches <= memory_bytes * _MEMORY_SHARE

    low, high = 0, model.layer_count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    if low == 0:
        raise RunFileError(
            f"not even one layer of {model.name} in {baseline.weights and baseline.weights.name} "
            f"fits in the {memory_bytes / 1e9:.1f} GB of memory that are free; take a smaller model"
        )
    return low


def _known(hardware: Hardware) -> Device | None:
    """The catalog's entry of a GPU by its own name. A CPU's name does not tell its memory."""
    if hardware.device != "cuda":
        return None
    _count, match = parse_hardware(hardware.name)
    return catalog_device(match.candidates[0]) if match.found else None


def _version() -> str:
    try:
        return version("rooflint")
    except PackageNotFoundError:
        return "unknown"
