"""How to prove that decode is bandwidth-bound on one model and device: tests and what to expect.

Eight experiments that do not rest on each other, each with the figures that this deployment would
show if it waits for memory, and what it would show otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.deployment import Deployment, Speculation
from advisor.evidence import bound_of, hardware_of
from advisor.levers.host import Clocks
from advisor.steps import Step, step_of
from advisor.wording import digits, factor, milliseconds, percent, size, span_of

TITLE: Final = "How to prove that decode is bandwidth-bound"

_BATCHES: Final = (1, 2, 4, 8, 16, 32)
_FORMATS: Final = ("bf16", "fp8", "int4-g128")
_SLOWER_CLOCK: Final = 0.8


def protocol(deployment: Deployment) -> str:
    """The tests for one deployment, in Markdown."""
    step = step_of(deployment)
    estimate = step.estimate
    lead = (
        f"{deployment.model.name} on {hardware_of(step)}, batch {deployment.batch},"
        f" {deployment.context:,} tokens: {size(estimate.bytes.memory)} a step, floor"
        f" {milliseconds(estimate.floor_ms)} ms, expected {span_of(estimate.expected_ms)} ms"
        f" ({bound_of(estimate)}). Run two of these tests at least: each can mislead alone."
    )
    return "\n\n".join((lead, *_tests(step)))


def _tests(step: Step) -> Iterator[str]:
    yield _utilisation(step)
    yield _counters(step)
    yield _clocks(step)
    yield _batches(step)
    yield _formats(step)
    yield (
        "## 6. Zeros in dense tensors\nSet half of the weights to zero and keep the tensors:"
        f" expect {milliseconds(step.estimate.expected_ms.mid)} ms again, within 2%. Any gain is"
        " power, not bytes."
    )
    yield _placebo(step)
    yield _cache(step)


def _utilisation(step: Step) -> str:
    estimate = step.estimate
    moved = step.ledger.memory_bytes
    peak = step.deployment.hardware.bandwidth_gbs * 1e9
    times = (estimate.expected_ms.high, estimate.expected_ms.low)
    low, high = (moved / (time / 1e3 * peak) for time in times)
    return (
        "## 1. Bandwidth utilization\nTime output tokens after the first, without prompt and"
        f" detokenization. MBU is {size(moved)} over the time and {peak / 1e12:.2f} TB/s: expect"
        f" {percent(estimate.mbu)} ({percent(low)}-{percent(min(high, 1.0))}). 60% and more with"
        " idle matrix units is bandwidth-bound, 20-40% is launches and host, not arithmetic; above"
        " 95% the bytes are overcounted."
    )


def _counters(step: Step) -> str:
    deployment, estimate = step.deployment, step.estimate
    peak = estimate.ridge * deployment.hardware.bandwidth_gbs * 1e9
    busy = step.ledger.flops / (peak * estimate.expected_ms.mid / 1e3)
    return (
        "## 2. Counters\nDCGM fields 1005 (DRAM active) and 1004 (tensor active), or"
        " dram__bytes_read.sum and sm__pipe_tensor_cycles_active of ncu on one GEMV: expect DRAM"
        f" near {percent(estimate.mbu)} and matrix units near {percent(busy)}. The GPU-Util of"
        " nvidia-smi reads 100% either way. Gaps between kernels (nsys) are fixed time: expect"
        f" {percent(estimate.shares.fixed)} of the step."
    )


def _clocks(step: Step) -> str:
    slower = step_of(Clocks(core=_SLOWER_CLOCK).apply(step.deployment))
    memory = step_of(Clocks(memory=_SLOWER_CLOCK).apply(step.deployment))
    base = step.estimate.expected_ms.mid
    return (
        "## 3. Clocks\nLock the core clock at 80% (nvidia-smi -lgc, no power cap): expect"
        f" {factor(slower.estimate.expected_ms.mid / base)} of the time where memory is waited for,"
        f" {factor(1.0 / _SLOWER_CLOCK)} where arithmetic is. Lock the memory clock at 80% where"
        f" the part allows it: expect {factor(memory.estimate.expected_ms.mid / base)}."
    )


def _batches(step: Step) -> str:
    times = [
        (batch, step_of(step.deployment.evolve(batch=batch)).estimate.expected_ms.mid)
        for batch in _BATCHES
    ]
    told = ", ".join(f"{batch}: {milliseconds(time)}" for batch, time in times)
    return (
        f"## 4. Batch sweep\nStep time in ms by batch: {told}. Flat with a slope of one sequence's"
        f" cache is bandwidth-bound; the knee is expected at"
        f" {step.estimate.crossover_batch:,.0f} tokens a step. Flat is also what a host-bound step"
        " is: test 1 tells them apart."
    )


def _formats(step: Step) -> str:
    rows = []
    for name in _FORMATS:
        deployment = step.deployment
        other = step_of(
            Deployment(
                deployment.model, deployment.hardware, weights=name, engine=deployment.engine,
                kv_cache=deployment.kv_cache, batch=deployment.batch, context=deployment.context,
                tensor_parallel=deployment.parallelism.tensor,
            )
        )  # fmt: skip
        moved, time = size(other.estimate.bytes.memory), other.estimate.expected_ms.mid
        rows.append(f"{name}: {moved}, {milliseconds(time)} ms")
    fixed = step.estimate.shares.fixed * step.estimate.expected_ms.mid
    return (
        f"## 5. Width sweep\nThe same model in other widths: {'; '.join(rows)}. Fit t = t0 +"
        f" bytes / BW: a BW near the data sheet's and t0 above zero (expect {milliseconds(fixed)}"
        " ms) prove the limit and give the ceiling of every byte lever. The most telling of all."
    )


def _placebo(step: Step) -> str:
    deployment = step.deployment.evolve(speculation=Speculation("ngram", 1, 1.0))
    twice = step_of(deployment).estimate
    ratio = twice.expected_ms.mid * (1.0 - twice.shares.draft) / step.estimate.expected_ms.mid
    return (
        "## 7. Twice the FLOPs\nRun two query tokens a sequence and throw one away: expect"
        f" {factor(ratio)} of the time for {factor(twice.flops / step.estimate.flops)} of the"
        " FLOPs. What is above 1.00x is the price of verifying a draft."
    )


def _cache(step: Step) -> str:
    cache_bytes = (step.deployment.hardware.llc_mb or 0.0) * 1e6
    layer = step.ledger.weight_bytes / max(step.deployment.model.layer_count, 1)
    held = f"of {size(cache_bytes)} " if cache_bytes else ""
    return (
        f"## 8. Honest buffers\nA microbenchmark on one matrix reads the last cache {held}and not"
        f" memory: rotate buffers of {size(3.0 * cache_bytes) if cache_bytes else '3x its size'}"
        f" and more. A layer here is {digits(layer / 1e6)} MB."
    )
