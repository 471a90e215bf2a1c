"""Step time over batch and context: curves of one deployment, a million points in a blink.

A captured decode step is the sum of a part that the batch decides (weights, fixed time,
collectives) and attention over the cache, which both decide. The first is estimated once for each
batch, the second for all points at once, so that every point equals `predict` of that deployment.
Steps that do not come apart like that (eager ones, speculation, offload, prefill) are estimated
one by one. numpy is an extra: this module is imported when a sweep is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.deployment import Deployment
from advisor.ledger.holdings import holdings_of
from advisor.ledger.step import count_step
from advisor.roofline import Bound, estimate, predict
from advisor.timing.kernels import narrow_cache
from advisor.timing.profile import math_rate, profile_of

Numbers: TypeAlias = NDArray[np.float64]

BOUNDS: Final[tuple[Bound, ...]] = ("memory", "compute", "overhead", "communication", "host_link")


_MOST_BATCHES: Final = 4096
"""Batches estimated one by one; step time is near a straight line between so many."""


class SweepError(ValueError):
    """A sweep that cannot be: no points, or batches and contexts that are no whole numbers."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One deployment over batches and contexts; its arrays have the shape of both broadcast."""

    batch: Any
    context: Any
    step_ms: Numbers
    """Expected."""
    floor_ms: Numbers
    bound: NDArray[np.intp]
    """What most of the step waits for: an index into `BOUNDS`."""
    tokens_per_step: float

    @property
    def tokens_per_second(self) -> Numbers:
        """Of one sequence."""
        return 1e3 * self.tokens_per_step / self.step_ms

    @property
    def throughput(self) -> Numbers:
        """Of all sequences."""
        rates: Numbers = self.tokens_per_second * self.batch
        return rates


def sweep(
    deployment: Deployment, batches: Sequence[int] | Any, contexts: Sequence[int] | Any
) -> Sweep:
    """Estimate a deployment at every pair of the broadcast `batches` and `contexts`.

    Pass `batches[:, None]` and `contexts[None, :]` for a grid. Raises SweepError.
    """
    batch, context = _whole(batches, "batches"), _whole(contexts, "contexts")
    try:
        shape = np.broadcast_shapes(batch.shape, context.shape)
    except ValueError:
        raise SweepError(
            f"{batch.shape} batches and {context.shape} contexts make no common shape"
        ) from None
    if not _comes_apart(deployment):
        return _one_by_one(deployment, batch, context, shape)
    rates = _AttentionRates.of(deployment)
    per_sequence = _attention(deployment, np.asarray(deployment.context))
    columns = _by_batch(deployment, batch, rates, float(per_sequence[0]))
    rest_s, floor_s, attended, written, *parts = columns
    read, flops = _attention(deployment, context)
    moved, work = attended * read + written, attended * flops
    memory_s, math_s = moved * rates.byte_s, work * rates.flop_s
    attention_s = np.maximum(memory_s, math_s)
    parts[0] = parts[0] + np.where(math_s > memory_s, 0.0, attention_s)
    parts[1] = parts[1] + np.where(math_s > memory_s, attention_s, 0.0)
    bound = np.argmax(np.stack(np.broadcast_arrays(*parts)), axis=0)
    step_s = rest_s + attention_s
    if deployment.time_factor is not None:
        step_s = step_s * deployment.time_factor[1]
    floor = floor_s + np.maximum(moved * rates.floor_byte_s, work * rates.floor_flop_s)
    return Sweep(batch, context, np.maximum(step_s, floor) * 1e3, floor * 1e3, bound, 1.0)


def values_between(first: int, last: int, points: int) -> list[int]:
    """At most `points` whole numbers from `first` to `last`, each the same factor from the next.

    Raises SweepError where `last` is not above `first`.
    """
    if last <= first:
        raise SweepError(f"from {first:,} to {last:,} goes nowhere: the end is above the start")
    values: list[int] = np.unique(np.geomspace(first, last, points).round().astype(int)).tolist()
    return values


def _whole(values: Any, what: str) -> Any:
    array = np.asarray(values)
    if array.size == 0:
        raise SweepError(f"no {what}")
    if array.dtype.kind not in "iu" or array.min() < 1:
        raise SweepError(f"{what} are whole numbers from 1")
    return array


def _comes_apart(deployment: Deployment) -> bool:
    """Whether attention over the cache is one addend of the step and the rest knows no context."""
    return bool(
        deployment.captures_steps
        and deployment.engine.graphs
        and deployment.phase == "decode"
        and deployment.speculation is None
        and deployment.offload is None
        and not deployment.shared_prefix
    )


class _AttentionRates(NamedTuple):
    """Seconds that attention over the cache takes per byte and per FLOP, expected and at best."""

    byte_s: float
    flop_s: float
    floor_byte_s: float
    floor_flop_s: float

    @classmethod
    def of(cls, deployment: Deployment) -> _AttentionRates:
        """As the estimate has them for this deployment."""
        device, engine = deployment.hardware, deployment.engine
        profile = profile_of(
            deployment.model, device, engine, deployment.kernels.attention,
            deployment.parallelism.tensor,
        )  # fmt: skip
        setting = profile.setting
        narrow = narrow_cache(deployment.kv_cache, setting.kernels, setting.generation)
        math = math_rate(device, deployment.activations, deployment.activations)
        return cls(
            profile.cache_byte_s.value / narrow.reached,
            math.reached_s,
            1.0 / (device.bandwidth_gbs * 1e9),
            math.floor_s,
        )


def _attention(deployment: Deployment, context: Any) -> tuple[Any, Any]:
    """Cache bytes and FLOPs of one sequence's attention at each context, on one rank."""
    read, flops = np.zeros(context.shape), np.zeros(context.shape)
    for cache, entry_bytes, _written, entry_flops in holdings_of(deployment).caches:
        entries = context // cache.tokens_per_entry
        for limit in (cache.window, cache.read_limit):
            if limit is not None:
                entries = np.minimum(entries, limit)
        read = read + entry_bytes * entries
        flops = flops + entry_flops * entries
    return read, flops


def _by_batch(
    deployment: Deployment, batch: Any, rates: _AttentionRates, bytes_per_sequence: float
) -> list[Any]:
    """The columns of `_rest` at each batch; between `_MOST_BATCHES` of them by straight lines."""
    each, place = np.unique(batch, return_inverse=True)
    knots = each
    if each.size > _MOST_BATCHES:
        knots = np.unique(np.geomspace(each[0], each[-1], _MOST_BATCHES).round().astype(each.dtype))
    rows = [_rest(deployment.evolve(batch=int(size)), rates, bytes_per_sequence) for size in knots]
    at = place.reshape(batch.shape)
    return [np.interp(each, knots, column)[at] for column in zip(*rows, strict=True)]


def _rest(
    deployment: Deployment, rates: _AttentionRates, bytes_per_sequence: float
) -> tuple[float, ...]:
    """A step at one batch without its attention over the cache.

    Expected and floor seconds, sequences in the attention of a rank's pass, bytes it writes, and
    expected seconds by what they wait for, in the order of `BOUNDS`.
    """
    ledger = count_step(deployment)
    found = estimate(ledger, deployment)
    total_s, shares = found.basis.total_s, found.shares
    read = written = flops = 0.0
    for operator in ledger.operators:
        if operator.resource == "kv":
            read, written, flops = operator.read_bytes, operator.written_bytes, operator.flops
    moved = read + written
    memory_s, math_s = moved * rates.byte_s, flops * rates.flop_s
    attention_s = max(memory_s, math_s)
    in_memory = memory_s if memory_s >= math_s else 0.0
    return (
        total_s - attention_s,
        found.floor_ms / 1e3 - max(moved * rates.floor_byte_s, flops * rates.floor_flop_s),
        read / bytes_per_sequence if bytes_per_sequence else 0.0,
        written,
        (shares.weights + shares.kv + shares.state) * total_s - in_memory,
        shares.compute * total_s - (attention_s - in_memory),
        shares.fixed * total_s,
        shares.communication * total_s,
        shares.host_link * total_s,
    )


def _one_by_one(deployment: Deployment, batch: Any, context: Any, shape: tuple[int, ...]) -> Sweep:
    flat = zip(
        np.broadcast_to(batch, shape).ravel().tolist(),
        np.broadcast_to(context, shape).ravel().tolist(),
        strict=True,
    )
    found = [predict(deployment.evolve(batch=size, context=tokens)) for size, tokens in flat]
    step = np.array([one.expected_ms.mid for one in found]).reshape(shape)
    floor = np.array([one.floor_ms for one in found]).reshape(shape)
    bound = np.array([BOUNDS.index(one.bound) for one in found]).reshape(shape)
    return Sweep(batch, context, step, floor, bound, found[0].tokens_per_step)
