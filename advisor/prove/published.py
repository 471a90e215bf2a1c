"""What somebody's benchmark shows: MBU, the bound, and what is wrong with the measurement.

The bytes are the ledger's where model and hardware are known, the bandwidth the data sheet's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from advisor.deployment import Deployment
from advisor.prove.imports.figures import Counters, Figure, Remark
from advisor.roofline import Estimate, Interval, predict

Bound = Literal["memory", "compute", "overhead", "undecided"]

_GOOD: Final = 0.6
_POOR: Final = 0.4
_CLOSE: Final = 0.95
_SENSITIVE: Final = 0.3
_IDLE: Final = 0.3


class Reading(NamedTuple):
    """A figure judged."""

    figure: Figure
    mbu: float | None
    step_bytes: float | None
    """Counted, over all devices."""
    expected_ms: Interval | None
    """Time per output token that rooflint expects."""
    bound: Bound
    because: str
    remarks: tuple[Remark, ...]


class CountersReading(NamedTuple):
    """Counters judged."""

    counters: Counters
    bound: Bound
    because: str


def judge_figure(figure: Figure, deployment: Deployment | None, missing: str = "") -> Reading:
    """A figure against the deployment it was measured on.

    `deployment` is None where something needed is unknown; `missing` says what.
    """
    remarks = list(figure.remarks)
    if figure.tpot_ms is None:
        because = "no time per decoded token in it"
        if figure.prompt_rate is not None:
            because = f"prefill at {figure.prompt_rate:,.4g} tokens/s: compute, not decode"
        return Reading(figure, None, None, None, "undecided", because, tuple(remarks))
    if deployment is None:
        remarks.append(_unscored(missing))
        because = "without bytes and bandwidth a time shows no bound"
        return Reading(figure, None, None, None, "undecided", because, tuple(remarks))
    estimate = predict(deployment)
    step_ms = figure.tpot_ms * figure.step_tokens
    per_device = estimate.bytes.memory / deployment.devices
    mbu = per_device / (step_ms * 1e6) / deployment.hardware.bandwidth_gbs
    remarks += _about_mbu(mbu, figure)
    remarks += _about_prompt(figure, deployment)
    bound, because = _bound(mbu, estimate)
    if bound == "overhead" and any(remark.code == "MEA003" for remark in remarks):
        bound, because = "undecided", f"MBU {mbu:.0%}, with more than decode in the time"
    expected = estimate.expected_ms.scaled(1.0 / figure.step_tokens)
    return Reading(figure, mbu, estimate.bytes.memory, expected, bound, because, tuple(remarks))


def _bound(mbu: float, estimate: Estimate) -> tuple[Bound, str]:
    if mbu > 1.0:
        return "undecided", "more bytes than the memory can deliver: one of the facts is wrong"
    if mbu >= _GOOD:
        return "memory", f"MBU {mbu:.0%}: the step reads at most of the bandwidth"
    if estimate.bound == "compute":
        return "compute", f"MBU {mbu:.0%}, and at this batch computing is expected to limit"
    if mbu < _POOR:
        return "overhead", f"MBU {mbu:.0%}: launches, the host or communication, not computing"
    return "undecided", f"MBU {mbu:.0%}: between reading and overhead; a dtype sweep would tell"


def _about_mbu(mbu: float, figure: Figure) -> Iterator[Remark]:
    if mbu > 1.0:
        yield Remark(
            "MEA004",
            "error",
            f"implied MBU {mbu:.0%}: impossible",
            "look for speculation, a prefix of several tokens, other weights than stated, more "
            "devices",
        )
    elif mbu > _CLOSE:
        yield Remark(
            "MEA004",
            "warning",
            f"implied MBU {mbu:.0%} is nearer the peak than kernels come",
            "check the bytes (format, embedding, offload) and the bandwidth of this very part",
        )
    if figure.throughput is not None and figure.batch == 1.0 and figure.tpot_ms is not None:
        alone = 1e3 / figure.tpot_ms
        if figure.throughput < 0.8 * alone:
            yield Remark(
                "MEA003",
                "info",
                f"output tokens over the whole time give {figure.throughput:,.4g} tokens/s, decode "
                f"alone {alone:,.4g}: the difference is prefill and waiting",
                "quote TPOT and TTFT apart",
            )


def _about_prompt(figure: Figure, deployment: Deployment) -> Iterator[Remark]:
    """A first token sooner than the prompt can be computed was not computed."""
    if not figure.ttft_ms or not figure.prompt:
        return
    tokens = round(figure.prompt)
    if tokens < 1:
        return
    prompt = deployment.evolve(phase="prefill", batch=1, context=tokens, speculation=None)
    floor = predict(prompt).floor_ms
    if figure.ttft_ms < 0.9 * floor:
        yield Remark(
            "MEA003",
            "warning",
            f"TTFT {figure.ttft_ms:,.4g} ms is below the {floor:,.4g} ms that {tokens:,} prompt "
            "tokens take at peak rate: the prefix cache was warm",
            "prompts that differ, or the prefix cache off",
        )


def _unscored(missing: str) -> Remark:
    return Remark("MEA001", "warning", missing, "give --model, --hardware, --weights beside --from")


def judge_counters(counters: Counters) -> CountersReading:
    """DRAM busy and tensor pipes idle is memory; gaps are the host's."""
    dram, tensor, idle = counters.dram_share, counters.tensor_share, counters.idle_share
    if idle is not None:
        if idle >= _IDLE:
            why = f"the GPU is idle for {idle:.0%} of the time: the host is behind"
            return CountersReading(counters, "overhead", why)
        why = f"the GPU is idle for {idle:.0%} of the time: kernels, not the host, take it"
        return CountersReading(counters, "undecided", why)
    if dram is None:
        return CountersReading(counters, "undecided", "no share of DRAM time in it")
    pipes = "unknown" if tensor is None else f"{tensor:.0%}"
    words = f"DRAM active {dram:.0%}, tensor pipes {pipes}"
    if dram >= _GOOD and (tensor is None or tensor < dram):
        return CountersReading(counters, "memory", words)
    if tensor is not None and tensor >= _GOOD:
        return CountersReading(counters, "compute", words)
    if dram < _POOR and (tensor is not None and tensor < _SENSITIVE):
        return CountersReading(counters, "overhead", f"{words}: neither is the limit")
    return CountersReading(counters, "undecided", words)
