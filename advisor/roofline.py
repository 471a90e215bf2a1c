"""From bytes to time: floor, expected interval and bound of a counted step.

A step is a sum over operators of max(memory time, compute time), because they run one after
another, plus a fixed time per layer that no byte lever touches, plus communication. The floor
takes every efficiency as 1 and no fixed time: no implementation can beat it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from advisor.catalog.device import Device
from advisor.deployment import Deployment, Speculation
from advisor.ledger.formats import Format
from advisor.ledger.step import Capacity, Ledger, capacity_of, count_step

Bound = Literal["memory", "compute", "overhead", "communication", "host_link"]


class Interval(NamedTuple):
    """A quantity with its 90% interval."""

    low: float
    mid: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """All three times a factor."""
        return Interval(self.low * factor, self.mid * factor, self.high * factor)

    def inverse(self, numerator: float) -> Interval:
        """`numerator` over the interval: low and high change places."""
        return Interval(numerator / self.high, numerator / self.mid, numerator / self.low)


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
    fits: bool
    capacity: Capacity
    fallbacks: tuple[tuple[str, str], ...] = ()
    """What the time rests on where the data holds no figure: (what, what stood in for it)."""

    @property
    def tpot_ms(self) -> Interval:
        """Expected time per output token of one sequence."""
        return self.expected_ms.scaled(1.0 / self.tokens_per_step)

    @property
    def floor_tpot_ms(self) -> float:
        """Time per output token that no implementation can beat."""
        return self.floor_ms / self.tokens_per_step


_EFFICIENCY: Final[Mapping[str, float]] = {
    "f32": 0.85, "f16": 0.83, "fp8": 0.78, "int8": 0.75, "int4": 0.68, "fp4": 0.65,
    "q4_0": 0.8, "q4_k": 0.78, "q8_0": 0.82,
}  # fmt: skip
_OTHER_EFFICIENCY: Final = 0.6
_KV_EFFICIENCY: Final = 0.6
_MATH_EFFICIENCY: Final = 0.65
_LINK_EFFICIENCY: Final = 0.8
_LAYER_US: Final = 45.0
_EAGER_LAYER_US: Final = 150.0
_SPREAD: Final = 1.2
_ALL_REDUCE_US: Final = 12.0
_HOP_US: Final = 200.0
_UNKNOWN_PEAK_FLOPS: Final = 1e13
_NVME_BYTES_PER_SECOND: Final = 7e9

_DRAFT_COST: Final[Mapping[str, float]] = {
    "ngram": 0.01, "eagle": 0.08, "medusa": 0.04, "mtp": 0.1, "draft_model": 0.3,
}  # fmt: skip
_UNKNOWN_DRAFT_COST: Final = 0.15
_DEFAULT_ACCEPTANCE: Final = 0.7


def matmul_dtype(form: Format, activations: Format) -> str:
    """The dtype the matrix units run in: the wider of weights and activations."""
    wide = max((form.element_bits, activations.element_bits))
    if wide > 16:
        return "fp32"
    if wide > 8:
        return "bf16"
    kinds = {form.kind, activations.kind}
    if wide > 4:
        return "fp8" if "fp8" in kinds else "int8"
    return "fp4" if "fp4" in kinds else "int4"


@lru_cache(maxsize=4096)
def _peak_flops(device: Device, form: Format, activations: Format) -> float:
    return device.peak_flops(matmul_dtype(form, activations)) or _UNKNOWN_PEAK_FLOPS


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
    device = deployment.hardware
    bandwidth = device.bandwidth_gbs * 1e9
    kernels = deployment.kernels
    activations = deployment.activations
    floor = weights_s = kv_s = state_s = compute_s = 0.0
    main_format = None
    most = -1.0
    for operator in ledger.operators:
        moved = operator.read_bytes + operator.written_bytes
        form = operator.format
        if operator.resource == "weights" and form is not None:
            peak = _peak_flops(device, form, activations)
            efficiency = _EFFICIENCY.get(form.family, _OTHER_EFFICIENCY)
            if moved > most:
                main_format, most = form, moved
        else:
            peak = _peak_flops(device, activations, activations)
            efficiency = _KV_EFFICIENCY
        if kernels.weight_bandwidth_fraction is not None and operator.resource == "weights":
            efficiency = kernels.weight_bandwidth_fraction
        memory_floor, math_floor = moved / bandwidth, operator.flops / peak
        floor += max(memory_floor, math_floor)
        memory_s = memory_floor / efficiency
        math_s = math_floor / (_MATH_EFFICIENCY * kernels.matmul_peak_factor)
        if math_s > memory_s:
            compute_s += math_s
        elif operator.resource == "weights":
            weights_s += memory_s
        elif operator.resource == "state":
            state_s += memory_s
        else:
            kv_s += memory_s
    main_format = main_format or activations
    eager = kernels.graphs is False or (kernels.graphs is None and not deployment.engine.graphs)
    layer_us = _EAGER_LAYER_US if eager and not kernels.compiled else _LAYER_US
    fixed_s = ledger.layers * layer_us * 1e-6 * kernels.fixed_factor
    link = (device.interconnect_gbs or 32.0) / 2.0 * 1e9
    communication = ledger.communication
    calls = communication.all_reduces + communication.all_to_alls
    comm_floor = communication.bytes / link
    comm_s = comm_floor + (calls * _ALL_REDUCE_US + communication.hops * _HOP_US) * 1e-6
    host_s = 0.0
    if ledger.host_bytes and deployment.offload is not None:
        host_link = (device.host_link_gbs or 32.0) * 1e9
        if deployment.offload.tier == "nvme":
            host_link = min(host_link, _NVME_BYTES_PER_SECOND)
        host_s = ledger.host_bytes / (_LINK_EFFICIENCY * host_link)
        floor += ledger.host_bytes / host_link
    floor += comm_floor
    pass_s = weights_s + kv_s + state_s + compute_s + fixed_s + comm_s + host_s
    speculation = deployment.speculation
    draft_s = 0.0
    if speculation is not None:
        if speculation.draft is not None:
            alone = deployment.evolve(model=speculation.draft, speculation=None, offload=None)
            draft = predict(alone)
            draft_s = draft.expected_ms.mid / 1e3 * speculation.draft_tokens
            floor += draft.floor_ms / 1e3 * speculation.draft_tokens
        else:
            cost = _DRAFT_COST.get(speculation.method, _UNKNOWN_DRAFT_COST)
            draft_s = pass_s * cost * speculation.draft_tokens
    seconds = pass_s + draft_s
    low, high = seconds / _SPREAD, seconds * _SPREAD
    if deployment.time_factor is not None:
        shrink = deployment.time_factor
        low, seconds, high = low * shrink[0], seconds * shrink[1], high * shrink[2]
    low, seconds, high = max(low, floor), max(seconds, floor), max(high, floor)
    expected = Interval(low * 1e3, seconds * 1e3, high * 1e3)
    total_s = pass_s + draft_s
    shares = Shares(
        weights_s / total_s, kv_s / total_s, state_s / total_s, compute_s / total_s,
        fixed_s / total_s, comm_s / total_s, host_s / total_s, draft_s / total_s,
    )  # fmt: skip
    by_bound: dict[Bound, float] = {
        "memory": weights_s + kv_s + state_s,
        "compute": compute_s,
        "overhead": fixed_s,
        "communication": comm_s,
        "host_link": host_s,
    }
    factor = ledger.total_factor
    moved_all = StepBytes(
        ledger.weight_bytes * factor,
        ledger.kv_read_bytes * factor,
        ledger.kv_write_bytes * factor,
        ledger.state_bytes * factor,
        ledger.activation_bytes * factor,
        communication.bytes * factor,
    )
    dtype = matmul_dtype(main_format, activations)
    peak = _peak_flops(device, main_format, activations)
    tokens = expected_tokens(speculation)
    rate = expected.inverse(1e3 * tokens)
    capacity = capacity_of(deployment)
    memory = ledger.memory_bytes
    return Estimate(
        bytes=moved_all,
        flops=ledger.flops * factor,
        intensity=ledger.flops / memory if memory else 0.0,
        ridge=peak / bandwidth,
        math=dtype,
        bound=max(by_bound, key=by_bound.__getitem__),
        floor_ms=floor * 1e3,
        expected_ms=expected,
        tokens_per_step=tokens,
        tokens_per_second=rate,
        throughput=rate.scaled(deployment.batch),
        shares=shares,
        mbu=memory / bandwidth / seconds if seconds else 0.0,
        crossover_batch=peak / bandwidth * main_format.bits / 16.0,
        fits=capacity.fits,
        capacity=capacity,
    )


def predict(deployment: Deployment) -> Estimate:
    """Count one step of a deployment and time it."""
    return estimate(count_step(deployment), deployment)


def compare(before: Estimate, after: Estimate) -> Interval:
    """Speedup of the time per output token; what both share cancels in its width."""
    mid = before.tpot_ms.mid / after.tpot_ms.mid
    return Interval(mid / 1.1, mid, mid * 1.1)
