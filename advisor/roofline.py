"""From bytes to time: floor, expected interval and bound of a counted step.

A step is a sum over operators of max(memory time, compute time), because they run one after
another, plus a fixed time per layer that no byte lever touches, plus communication. The floor
takes every efficiency as 1 and no fixed time: no implementation can beat it. The expected time
takes the fitted coefficients of advisor.timing, and its interval their uncertainty: wide where an
engine, a card or a format is not in the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, sqrt
from typing import Final, Literal, NamedTuple

from advisor.catalog.engines import all_engines
from advisor.deployment import Deployment, Speculation
from advisor.ledger.capacity import Capacity, capacity_of
from advisor.ledger.step import Ledger, count_step
from advisor.timing.effects import LINEAR_OPERATORS
from advisor.timing.fitted import load_fitted
from advisor.timing.kernels import (
    STREAM_FRACTION,
    UNKNOWN_LINK_GBS,
    all_reduce,
    narrow_cache,
)
from advisor.timing.profile import Coefficient, math_rate, profile_of, weight_rates

Bound = Literal["memory", "compute", "overhead", "communication", "host_link"]


class Interval(NamedTuple):
    """A quantity with its 90% interval."""

    low: float
    mid: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """All three times a factor."""
        return Interval(self.low * factor, self.mid * factor, self.high * factor)


class StepBytes(NamedTuple):
    """Bytes of one step over all devices."""

    weights: float
    kv_read: float
    kv_write: float
    state: float
    activations: float
    communication: float

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self)

    @property
    def memory(self) -> float:
        """What goes to and from device memory."""
        return self.total - self.communication


class Shares(NamedTuple):
    """Parts of the expected step time, summing to 1."""

    weights: float
    kv: float
    state: float
    compute: float
    fixed: float
    communication: float
    host_link: float
    draft: float


class Basis(NamedTuple):
    """The fitted coefficients of an expected time and the seconds that each stands for."""

    coefficients: tuple[Coefficient, ...]
    seconds: tuple[float, ...]
    total_s: float


_NO_BASIS: Final = Basis((), (), 1.0)


class Estimate(NamedTuple):
    """One step of a deployment in bytes, FLOPs and time."""

    bytes: StepBytes
    flops: float
    intensity: float
    """FLOP per byte of device memory."""
    ridge: float
    """FLOP per byte at which compute and memory time are equal, for the math the matmuls run in."""
    math: str
    """The dtype of that math."""
    bound: Bound
    floor_ms: float
    expected_ms: Interval
    tokens_per_step: float
    """Tokens of one sequence that leave a step; above 1 only with speculation."""
    tokens_per_second: Interval
    """Of one sequence."""
    throughput: Interval
    """Of all sequences together."""
    shares: Shares
    mbu: float
    """Part of peak bandwidth that the step's bytes make of the expected time."""
    crossover_batch: float
    """Tokens per step from which the linear layers are compute-bound, at peak rates."""
    crossover_context: float | None
    """Context at which reading one sequence's cache takes as long as its matrix products at peak.

    Far above it no batch makes the step compute-bound; None where no cache is read.
    """
    fits: bool
    capacity: Capacity
    fallbacks: tuple[tuple[str, str], ...] = ()
    """What the time rests on where the data holds no figure: (what, what stood in for it)."""
    basis: Basis = _NO_BASIS
    """What the expected time rests on, for comparing two estimates."""

    @property
    def tpot_ms(self) -> Interval:
        """Expected time per output token of one sequence."""
        return self.expected_ms.scaled(1.0 / self.tokens_per_step)

    @property
    def floor_tpot_ms(self) -> float:
        """Time per output token that no implementation can beat."""
        return self.floor_ms / self.tokens_per_step


_LINK_EFFICIENCY: Final = 0.8
"""Of a host link: 24 of 31.5 GB/s over PCIe 4 x16, 50 of 63 over PCIe 5 x16, pinned memory."""
_NVME_BYTES_PER_SECOND: Final = 7e9
_CAPTURED: Final = "torch-compile"
_MATH_DEVIATION: Final = 0.2
"""Of the rate that matrix units reach, in log units."""

_DRAFT_COST: Final[Mapping[str, float]] = {
    "ngram": 0.01, "eagle": 0.08, "medusa": 0.04, "mtp": 0.1, "draft_model": 0.3,
}  # fmt: skip
_UNKNOWN_DRAFT_COST: Final = 0.15
_DRAFT_DEVIATION: Final = 0.5
"""Published costs of a drafted token differ fivefold between settings (0.07 to 0.38 of a step)."""
_DEFAULT_ACCEPTANCE: Final = 0.7


def expected_tokens(speculation: Speculation | None) -> float:
    """Mean tokens that leave one pass: stated, or (1-a^(g+1))/(1-a) at a middling acceptance."""
    if speculation is None:
        return 1.0
    if speculation.tokens_per_pass is not None:
        return speculation.tokens_per_pass
    a, g = _DEFAULT_ACCEPTANCE, speculation.draft_tokens
    return (1.0 - a ** (g + 1)) / (1.0 - a)


def estimate(ledger: Ledger, deployment: Deployment) -> Estimate:
    """Turn a counted step into floor, expected interval, bound and shares."""
    device, engine, kernels = deployment.hardware, deployment.engine, deployment.kernels
    captured = deployment.captures_steps
    if captured and not engine.graphs:
        # Steps of an eager engine that are captured or compiled are what torch.compile runs.
        engine = all_engines()[_CAPTURED]
    activations, split = deployment.activations, deployment.parallelism
    profile = profile_of(deployment.model, device, engine, kernels.attention, split.tensor)
    bandwidth = device.bandwidth_gbs * 1e9
    stated, faster = kernels.weight_bandwidth_fraction, kernels.matmul_peak_factor
    sparse = deployment.sparsity is not None and deployment.sparsity.storage.skips_zeros
    narrow = narrow_cache(deployment.kv_cache, profile.setting.kernels, profile.setting.generation)
    plain = math_rate(device, activations, activations)
    floor = weights_s = kv_s = state_s = compute_s = linear_flops = 0.0
    deviation_weights = deviation_vector = deviation_kv = 0.0
    main_format, most = activations, -1.0
    main_stand_ins: tuple[tuple[str, str], ...] = ()
    coefficients: list[Coefficient] = []
    seconds: list[float] = []

    for name, resource, form, parameters, read, written, flops in ledger.operators:
        moved = read + written
        memory_floor = moved / bandwidth
        if resource == "weights" and form is not None:
            byte_s, weight_s, math, stand_ins = weight_rates(
                profile, form, activations, sparse and name in LINEAR_OPERATORS, name == "experts"
            )
            bytes_s = moved * byte_s.value if stated is None else memory_floor / stated
            vector_s = parameters * weight_s.value
            memory_s = bytes_s + vector_s
            math_s = flops * math.reached_s
            if faster != 1.0:
                math_s = max(math_s / faster, flops * math.floor_s)
            linear_flops += flops
            if moved > most:
                main_format, most, main_stand_ins = form, moved, stand_ins
            if math_s <= memory_s:
                weights_s += memory_s
                deviation_weights += bytes_s * byte_s.deviation
                deviation_vector += vector_s * weight_s.deviation
                coefficients += byte_s, weight_s
                seconds += bytes_s, vector_s
        elif resource == "kv":
            math = plain
            memory_s = moved * profile.cache_byte_s.value / narrow.reached
            math_s = flops * math.reached_s
            if math_s <= memory_s:
                kv_s += memory_s
                deviation_kv += memory_s * profile.cache_byte_s.deviation
                coefficients.append(profile.cache_byte_s)
                seconds.append(memory_s)
        else:
            math = plain
            memory_s = memory_floor / STREAM_FRACTION
            math_s = flops * math.reached_s
            if math_s <= memory_s:
                state_s += memory_s
        if math_s > memory_s:
            compute_s += math_s
        math_floor = flops * math.floor_s
        floor += max(math_floor, memory_floor)

    layer_s = ledger.layers * profile.layer_s.value * kernels.fixed_factor
    if ledger.sequences > 1:
        layer_s *= ledger.sequences**profile.growth
    fixed_s = layer_s + profile.token_s + profile.attention_layers * narrow.extra_us * 1e-6
    coefficients.append(profile.layer_s)
    seconds.append(layer_s)

    communication = ledger.communication
    comm_s = reduce_s = hops_s = 0.0
    if communication.bytes:
        floor += communication.bytes * profile.link_byte_s
        latency_s, sent_s = all_reduce(device, engine, max(split.tensor, split.expert))
        reduce_s = profile.reduce.value * (
            communication.all_reduces * (latency_s + communication.all_reduce_bytes * sent_s)
            + communication.all_to_alls * (latency_s + communication.all_to_all_bytes * sent_s)
        )
        hops_s = communication.hops * profile.hop_s.value
        comm_s = reduce_s + hops_s
        coefficients += profile.reduce, profile.hop_s
        seconds += reduce_s, hops_s

    host_s = 0.0
    if ledger.host_bytes:
        host_rate = _host_rate(deployment)
        host_s = ledger.host_bytes / (_LINK_EFFICIENCY * host_rate)
        floor += ledger.host_bytes / host_rate

    device_s = weights_s + kv_s + state_s + compute_s + fixed_s + comm_s + host_s
    host = kernels.host or engine.host
    issue_s = 0.0
    if not captured:
        # The host issues kernels while the device works: the slower of the two sets the pace.
        issue_s = ledger.layers * host.typical * 1e-6 * kernels.fixed_factor
        fixed_s += max(issue_s - device_s, 0.0)
    draft_floor_s, draft_s = _draft(deployment, max(device_s, issue_s))
    floor += draft_floor_s
    total_s = max(device_s, issue_s) + draft_s

    spread = profile.spread
    variance = (
        deviation_weights**2
        + deviation_vector**2
        + deviation_kv**2
        + (layer_s * profile.layer_s.deviation) ** 2
        + (reduce_s * profile.reduce.deviation) ** 2
        + (hops_s * profile.hop_s.deviation) ** 2
        + (compute_s * _MATH_DEVIATION) ** 2
        + (draft_s * _DRAFT_DEVIATION) ** 2
    ) / total_s**2 + spread.noise**2
    width = exp(spread.scale * sqrt(variance))
    # What was measured of the host is as sure as the measurement, however sure the rest is.
    modelled_s = total_s if kernels.host is None else device_s + draft_s
    low, mid, high = modelled_s / width, total_s, modelled_s * width
    if issue_s:
        low = min(max(low, issue_s * host.low / host.typical), mid)
        high = max(high, issue_s * host.high / host.typical)
    if deployment.time_factor is not None:
        to_low, to_mid, to_high = deployment.time_factor
        mid *= to_mid
        low, high = min(low * to_low, mid), max(high * to_high, mid)
    low, mid, high = max(low, floor), max(mid, floor), max(high, floor)
    expected = Interval(low * 1e3, mid * 1e3, high * 1e3)

    memory_bound_s = weights_s + kv_s + state_s
    largest = max(memory_bound_s, compute_s, fixed_s, comm_s, host_s)
    bound: Bound = (
        "memory" if largest == memory_bound_s
        else "compute" if largest == compute_s
        else "overhead" if largest == fixed_s
        else "communication" if largest == comm_s
        else "host_link"
    )  # fmt: skip
    factor = ledger.total_factor
    linear = math_rate(device, main_format, activations)
    ridge = 1.0 / (linear.floor_s * bandwidth)
    tokens = expected_tokens(deployment.speculation)
    rate = Interval(tokens / high, tokens / mid, tokens / low)
    capacity = capacity_of(deployment)
    memory = ledger.memory_bytes
    crossover_context = None
    if ledger.kv_read_bytes:
        # One sequence's products at peak over one sequence's cache at peak, both in FLOP.
        per_cache = ledger.kv_read_bytes / ledger.sequences * ridge
        crossover_context = deployment.context * linear_flops / ledger.tokens / per_cache
    return Estimate(
        StepBytes(
            ledger.weight_bytes * factor,
            ledger.kv_read_bytes * factor,
            ledger.kv_write_bytes * factor,
            ledger.state_bytes * factor,
            ledger.activation_bytes * factor,
            communication.bytes * factor,
        ),
        flops=ledger.flops * factor,
        intensity=ledger.flops / memory if memory else 0.0,
        ridge=ridge,
        math=linear.dtype,
        bound=bound,
        floor_ms=floor * 1e3,
        expected_ms=expected,
        tokens_per_step=tokens,
        tokens_per_second=rate,
        throughput=rate if deployment.batch == 1 else rate.scaled(deployment.batch),
        shares=Shares(
            weights_s / total_s, kv_s / total_s, state_s / total_s, compute_s / total_s,
            fixed_s / total_s, comm_s / total_s, host_s / total_s, draft_s / total_s,
        ),
        mbu=memory / bandwidth / mid if mid else 0.0,
        crossover_batch=ridge * main_format.bits / 16.0,
        crossover_context=crossover_context,
        fits=capacity.fits,
        capacity=capacity,
        fallbacks=profile.fallbacks + main_stand_ins,
        basis=Basis(tuple(coefficients), tuple(seconds), total_s),
    )  # fmt: skip


def _host_rate(deployment: Deployment) -> float:
    """Bytes per second over the host link, or from NVMe behind it."""
    rate = (deployment.hardware.host_link_gbs or UNKNOWN_LINK_GBS) * 1e9
    offload = deployment.offload
    if offload is not None and offload.tier == "nvme":
        return min(rate, _NVME_BYTES_PER_SECOND)
    return rate


def _draft(deployment: Deployment, pass_s: float) -> tuple[float, float]:
    """Floor and expected seconds of drafting for one pass."""
    speculation = deployment.speculation
    if speculation is None:
        return 0.0, 0.0
    if speculation.draft is not None:
        draft = predict(deployment.evolve(model=speculation.draft, speculation=None, offload=None))
        tokens = speculation.draft_tokens / 1e3
        return draft.floor_ms * tokens, draft.expected_ms.mid * tokens
    cost = _DRAFT_COST.get(speculation.method, _UNKNOWN_DRAFT_COST)
    return 0.0, pass_s * cost * speculation.draft_tokens


def predict(deployment: Deployment) -> Estimate:
    """Count one step of a deployment and time it."""
    return estimate(count_step(deployment), deployment)


def compare(before: Estimate, after: Estimate) -> Interval:
    """Speedup of the time per output token; what both share cancels in its width.

    Each fitted effect enters with the difference of its parts in the two times, so that a card or
    an engine that both run on widens the ratio far less than either time.
    """
    fitted = load_fitted()
    pulls: dict[str, float] = {}
    for sign, basis in ((1.0, before.basis), (-1.0, after.basis)):
        for coefficient, part_s in zip(basis.coefficients, basis.seconds, strict=True):
            pull = sign * part_s / basis.total_s * coefficient.slope
            for key, weight in coefficient.effects:
                pulls[key] = pulls.get(key, 0.0) + pull * weight
    variance = sum((pull * fitted.deviation(key)) ** 2 for key, pull in pulls.items())
    spread = fitted.widest_spread(pulls)
    width = exp(spread.pair_scale * sqrt(variance + spread.pair_noise**2))
    mid = before.tpot_ms.mid / after.tpot_ms.mid
    return Interval(mid / width, mid, mid * width)
