"""Steps counted and timed, and one against another: speedups, and what a lever could bring at best.

Speedups are of the time per token, of one sequence or of all. A ceiling is 1 / (1 - the shares of
the step that a lever touches): where what it touches goes to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from advisor.deployment import Deployment
from advisor.ledger.step import Ledger, count_step
from advisor.levers import Lever, Nature
from advisor.roofline import Estimate, Interval, compare, estimate

_SAME_BYTES: Final = 1e-4
"""Relative change of bytes below which nothing has changed: a count is exact, a time is not."""
SAME: Final = Interval(1.0, 1.0, 1.0)
"""The speedup of what does not change."""


class Step(NamedTuple):
    """A deployment with its counted and timed step."""

    deployment: Deployment
    ledger: Ledger
    estimate: Estimate


def step_of(deployment: Deployment) -> Step:
    """Count and time a deployment's step."""
    ledger = count_step(deployment)
    return Step(deployment, ledger, estimate(ledger, deployment))


def bytes_per_token(step: Step) -> float:
    """Bytes to and from the memory of one rank's devices, for each token."""
    return step.ledger.memory_bytes / step.estimate.tokens_per_step


def moves_fewer_bytes(before: Step, after: Step) -> bool:
    """Whether one device moves noticeably fewer bytes per token than before."""
    return bytes_per_token(after) < (1.0 - _SAME_BYTES) * bytes_per_token(before)


def tpot_speedup(before: Step, after: Step) -> Interval:
    """Speedup of the time per token of one sequence."""
    one, other = before.estimate, after.estimate
    if (one.bytes, one.shares, one.expected_ms) == (other.bytes, other.shares, other.expected_ms):
        return SAME  # nothing that a token waits for has changed, so nothing is uncertain
    return compare(before.estimate, after.estimate)


def within(interval: Interval, ceiling: float) -> Interval:
    """An interval cut at what the lever could bring at best."""
    top = max(interval.mid, min(interval.high, ceiling))
    return interval._replace(high=top)


def throughput_speedup(before: Step, after: Step) -> Interval:
    """Speedup of the tokens per second of all sequences."""
    per_stream = tpot_speedup(before, after)
    return per_stream.scaled(after.deployment.batch / before.deployment.batch)


def lever_ceiling(lever: Lever, before: Step, after: Step) -> float:
    """The best speedup of the time per token that the lever could bring at no cost of its own.

    1 / (1 - sum of the shares of the step that it touches). Where the host's time was inferred from
    a measured step, the shares are those without it: something else may explain the measurement.
    """
    modelled = _without_host_time(before)
    shares = modelled.estimate.shares
    match lever.acts_on:
        case Nature.TOKENS:
            speculation = after.deployment.speculation
            if speculation is None:
                return 1.0
            # All drafts accepted, and the pass as short as it may well be: how much drafting and
            # verifying cost (a mixture of experts above all) is the least certain part of it.
            best = speculation.draft_tokens + 1.0
            return best * min(1.0, before.estimate.tpot_ms.mid / after.estimate.expected_ms.low)
        case Nature.HARDWARE:
            ratio = before.estimate.floor_tpot_ms / after.estimate.floor_tpot_ms
            return max(ratio, before.estimate.tpot_ms.mid / after.estimate.tpot_ms.mid)
        case Nature.PREFILL:
            # An attention kernel has decode's attention over the cache to gain, a prompt nothing.
            attends = lever.kind == "attention_kernel"
            return _amdahl(shares.kv) if attends else 1.0
        case Nature.AMORTISE | Nature.LINK | Nature.COST | Nature.CAPACITY:
            return 1.0
        case Nature.OVERHEAD:
            fixed = _amdahl(before.estimate.shares.fixed)
            if before.deployment.captures_steps or not after.deployment.captures_steps:
                return fixed
            # The host's time is the widest part of an eager step: at worst all of it goes.
            return max(fixed, before.estimate.tpot_ms.high / after.estimate.tpot_ms.mid)
        case Nature.FLOPS:
            if lever.condition(before.deployment):
                # A kernel for few tokens may keep the bus busier, up to its peak.
                return before.estimate.tpot_ms.mid / before.estimate.floor_tpot_ms
            return _amdahl(shares.compute)
        case Nature.BYTES:
            if before.deployment is after.deployment and lever.condition(before.deployment):
                # What is open decides whether anything is saved; at best its part of the weights.
                part = lever.nominal_flops(before.deployment) or 1.0
                return _amdahl(part * shares.weights)
            return _amdahl(sum(touched_shares(modelled, after).values()))


def _without_host_time(step: Step) -> Step:
    """A step as modelled, where the host's time was fitted to a measurement of it."""
    kernels = step.deployment.kernels
    if kernels.host is None:
        return step
    return step_of(step.deployment.evolve(kernels=kernels._replace(host=None)))


def touched_shares(before: Step, after: Step) -> Mapping[str, float]:
    """Shares of the baseline's time, by resource, that a lever on bytes can move.

    Under tensor parallelism a resource that is split n ways keeps 1/n of its time. Where layers
    go, what stays of them stays whole: only the part that is gone is touched.
    """
    shares = before.estimate.shares
    one, other = before.ledger, after.ledger
    touched: dict[str, float] = {}
    if other.layers < one.layers and not _differs(one.ranks, other.ranks):
        touched["weights"] = shares.weights * _part_gone(one.weight_bytes, other.weight_bytes)
        touched["kv"] = shares.kv * _part_gone(one.kv_read_bytes, other.kv_read_bytes)
        touched["state"] = shares.state * _part_gone(one.state_bytes, other.state_bytes)
        touched["compute"] = shares.compute * _part_gone(one.flops, other.flops)
        touched["fixed"] = shares.fixed * _part_gone(one.layers, other.layers)
        return touched
    ways = other.ranks / one.ranks
    gone = 1.0 - 1.0 / ways if ways > 1.0 else 1.0
    if _differs(one.weight_bytes, other.weight_bytes):
        touched["weights"] = shares.weights * gone
    if _differs(one.kv_read_bytes, other.kv_read_bytes):
        touched["kv"] = shares.kv * gone
    if _differs(one.state_bytes, other.state_bytes):
        touched["state"] = shares.state * gone
    if _differs(one.flops, other.flops) or not touched:
        touched["compute"] = shares.compute * gone
    if _differs(one.layers, other.layers):
        touched["fixed"] = shares.fixed
    return touched


def _part_gone(before: float, after: float) -> float:
    return max(0.0, 1.0 - after / before) if before else 0.0


def _differs(one: float, other: float) -> bool:
    return abs(one - other) > _SAME_BYTES * max(one, other)


def _amdahl(touched: float) -> float:
    return 1.0 / max(1.0 - touched, 1e-6)
