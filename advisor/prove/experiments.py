"""The experiments: which variants of the step are timed against which, and the timing itself.

Every variant is a `Deployment`, most of them made by a lever: what is built and timed and what is
predicted come from the same state. Variants of a group are timed in turns, each round in another
order, so that slow drift of the machine touches all of them alike.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from advisor.catalog.device import Device
from advisor.deployment import Deployment, Speculation
from advisor.ledger.formats import parse_format
from advisor.ledger.step import Ledger, count_step
from advisor.levers import Lever
from advisor.levers.prune import Prune
from advisor.levers.quantize import Quantize
from advisor.prove.record import BASELINE, Trial
from advisor.roofline import compare, estimate

WARM_UP: Final = 2
LEAST_ROUNDS: Final = 3
"""Fewer repetitions are no measurement."""
_BATCHES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_CONTEXT_FACTORS: Final = (1, 4, 16)
_WEIGHTS: Final = ("fp32", "bf16", "int8", "int4-g128")
_DEAREST: Final = 8.0
"""A sweep ends where one step takes this many times the first one."""


class Variant(NamedTuple):
    """One variant of the step."""

    name: str
    deployment: Deployment
    doubled: bool = False
    """Every token is computed twice in the same pass: twice the FLOPs at the same bytes."""
    zeros: float = 0.0
    """Part of the weights that is zero and still stored."""
    graph: bool = False
    twin: bool = False
    """The baseline again, in weights of its own: what differs is where they lie in memory."""


class Group(NamedTuple):
    """Variants that are timed in turns; the first is the baseline."""

    name: str
    variants: tuple[Variant, ...]
    sweep: bool = False
    """Whether dearer variants come later, and may be left out when one takes too long."""


class Missing(Exception):  # noqa: N818  no error: something that this machine has not
    """A variant that cannot be run here; the message says why."""


Step = Callable[[], float]
"""Runs the step once and returns its milliseconds."""


class Bench(Protocol):
    """A machine that builds and times steps."""

    def prepare(self, variant: Variant) -> Step:
        """Build a variant.

        Raises:
            Missing: where there is no kernel or not enough memory for it.

        """
        ...

    def release(self) -> None:
        """Free what was built."""
        ...


def plan(baseline: Deployment, sixteen_bit: str, *, graphs: bool) -> tuple[Group, ...]:
    """The groups of experiments on a baseline, the most telling first."""
    base = Variant(BASELINE, baseline)
    levers: tuple[tuple[str, Lever], ...] = (
        ("half the MLP channels removed", _channels(0.5)),
        ("three quarters of them removed", _channels(0.75)),
    )
    removed = tuple(Variant(name, lever.apply(baseline)) for name, lever in levers)
    zeros = Prune(pattern="unstructured", sparsity=0.5, storage="dense")
    placebo = (
        base,
        Variant("the same again, elsewhere in memory", baseline, twin=True),
        Variant("half the weights zero, stored dense", zeros.apply(baseline), zeros=0.5),
        *removed,
        Variant("FLOPs doubled, same bytes", baseline, doubled=True),
    )
    groups = [Group("placebo", placebo), Group("weights", (base, *_formats(baseline, sixteen_bit)))]
    if graphs:
        captured = baseline.evolve(kernels=baseline.kernels._replace(graphs=True))
        groups.append(Group("graph", (base, Variant("captured as a graph", captured, graph=True))))
    first = baseline.batch
    batches = [first * n for n in _BATCHES]
    sweep = (base, *(Variant(f"batch {n}", baseline.evolve(batch=n)) for n in batches[1:]))
    groups.append(Group("batch", sweep, sweep=True))
    contexts = [baseline.context * n for n in _CONTEXT_FACTORS[1:]]
    longer = tuple(Variant(f"context {n}", baseline.evolve(context=n)) for n in contexts)
    groups.append(Group("context", (base, *longer), sweep=True))
    return tuple(groups)


def _channels(fraction: float) -> Prune:
    return Prune(pattern="channels", sparsity=fraction, storage="removed")


def _formats(baseline: Deployment, sixteen_bit: str) -> Iterator[Variant]:
    """Narrower weights in the linear layers and the head, where such a kernel may be."""
    stored = (baseline.weights or parse_format(baseline.model.dtype)).name
    names = [sixteen_bit if name == "bf16" else name for name in _WEIGHTS]
    for name in names[names.index(stored) + 1 :] if stored in names else names[1:]:
        # The head in the same format, so that one kernel reads everything. Weight-only kernels
        # take 16-bit activations, and the cache goes with them.
        lever = Quantize(weights=name, lm_head=name, kv_cache=sixteen_bit, activations=sixteen_bit)
        yield Variant(f"{name} weights", lever.apply(baseline))


def counted(variant: Variant) -> Ledger:
    """Bytes and FLOPs of a variant's step. Twice the tokens read the caches as often as one."""
    deployment = variant.deployment
    if variant.doubled:
        deployment = deployment.evolve(speculation=Speculation("same token twice", 1, 1.0))
    return count_step(deployment)


def measure(
    bench: Bench,
    groups: Sequence[Group],
    *,
    rounds: int,
    out_of_time: Callable[[], bool],
    progress: Callable[[str], None],
    note: Callable[[str], None],
    seed: int = 0,
) -> Iterator[Trial]:
    """Time the groups one after another; trials come as soon as their group is done.

    Ends early when `out_of_time` says so. A group that is interrupted by an exception (Ctrl-C)
    still gives the rounds it has before the exception goes on.
    """
    shuffle = random.Random(seed)  # noqa: S311  an order, not a secret
    for group in groups:
        if out_of_time():
            note(f"no time was left for the {group.name} experiments")
            continue
        built = _built(bench, group, note, progress)
        if len(built) > 1:
            times: list[list[float]] = [[] for _ in built]
            try:
                _rounds(group, built, times, shuffle, rounds, out_of_time, progress)
            finally:
                done = min(map(len, times))
                if done >= LEAST_ROUNDS:
                    yield from _trials(group, built, [one[:done] for one in times])
                else:
                    note(f"too few rounds of the {group.name} experiments to say anything")
        bench.release()


def _built(
    bench: Bench, group: Group, note: Callable[[str], None], progress: Callable[[str], None]
) -> list[tuple[Variant, Step]]:
    """The variants that this machine can run, warmed up."""
    built: list[tuple[Variant, Step]] = []
    first_ms = None
    for variant in group.variants:
        progress(f"{group.name}: preparing {variant.name}")
        try:
            step = bench.prepare(variant)
            warm_ms = [step() for _ in range(WARM_UP)][-1]
        except Missing as missing:
            note(f"{variant.name}: {missing}")
            if group.sweep or not built:
                break  # a dearer variant will not run either, nor anything without the baseline
            continue
        built.append((variant, step))
        first_ms = first_ms or warm_ms
        if group.sweep and warm_ms > _DEAREST * first_ms:
            break
    return built


def _rounds(
    group: Group,
    built: Sequence[tuple[Variant, Step]],
    times: Sequence[list[float]],
    shuffle: random.Random,
    rounds: int,
    out_of_time: Callable[[], bool],
    progress: Callable[[str], None],
) -> None:
    order = list(range(len(built)))
    for number in range(rounds):
        if number >= LEAST_ROUNDS and out_of_time():
            return
        progress(f"{group.name}: round {number + 1} of {rounds}")
        shuffle.shuffle(order)
        for place in order:
            times[place].append(built[place][1]())


def _trials(
    group: Group, built: Iterable[tuple[Variant, Step]], times: Sequence[Sequence[float]]
) -> Iterator[Trial]:
    before = None
    for (variant, _step), measured in zip(built, times, strict=True):
        ledger = counted(variant)
        modelled = estimate(ledger, variant.deployment)
        before = before or (modelled, variant.deployment.batch)
        speedup = compare(before[0], modelled)
        more = variant.deployment.batch / before[1]
        deployment = variant.deployment
        yield Trial(
            group=group.name,
            name=variant.name,
            batch=deployment.batch,
            context=deployment.context,
            weights=(deployment.weights or parse_format(deployment.model.dtype)).name,
            bytes=ledger.memory_bytes,
            flops=ledger.flops,
            modelled_ms=modelled.expected_ms.mid,
            predicted=(speedup.low * more, speedup.mid * more, speedup.high * more),
            times_ms=tuple(float(f"{time:.6g}") for time in measured),
        )


def machine_device(
    name: str,
    kind: str,
    bandwidth_gbs: float,
    tflops: dict[str, float | None],
    memory_bytes: float,
    cache_bytes: float,
    like: Device | None = None,
) -> Device:
    """A device with the figures measured on this machine, for predictions.

    `like` is the catalog's entry of the same device, whose architecture tells which published
    efficiencies apply.
    """
    return Device(
        id=f"measured-{like.id if like is not None else kind}",
        name=name,
        aliases=(),
        vendor=like.vendor if like is not None else "unknown",
        kind=kind,
        architecture=like.architecture if like is not None else "unknown",
        compute_capability=like.compute_capability if like is not None else None,
        released=like.released if like is not None else "2026-01",
        memory_type=like.memory_type if like is not None else "DRAM",
        memory_gb=memory_bytes / 2**30,
        bandwidth_gbs=bandwidth_gbs,
        tflops_dense=tflops,
        sparse_24_tensor_cores=like.sparse_24_tensor_cores if like is not None else None,
        llc_mb=cache_bytes / 1e6 or None,
        interconnect_gbs=None,
        host_link_gbs=None,
        tdp_w=None,
        unit="device",
        confidence="high",
        preliminary=False,
        source=(),
        notes="measured by rooflint prove",
    )
