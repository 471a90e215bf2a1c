"""## What it does
Flags a peak that is the 2:4-sparse figure of the part: twice the dense rate of the format in
question, and no dense rate of it.

## Why is this bad
Vendors print the rate of structured sparsity first, and some tables repeat it as dense. Dense
weights never run at it, so every ridge and every "percent of peak" computed from it is off by two.
At decode neither figure sets the speed: the step waits for memory.

## Instead
Use the dense figure (`rooflint catalog hardware` lists it) and recompute the ridge.

## When this rule is wrong
The figure may be right for another format (1,979 TFLOPS is dense FP8 on an H100 SXM and sparse
BF16): name the format. The rule is silent for parts whose dense rate doubles with FP16 accumulation
(GeForce), and for boards that hold two devices.

## References
- NVIDIA H100 product page, "with sparsity" footnotes:
  https://www.nvidia.com/en-us/data-center/h100/
- Mishra et al.: Accelerating sparse deep neural networks: https://arxiv.org/abs/2104.08378
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.catalog.device import Device
from advisor.deployment import find_device
from advisor.evidence import hardware_of, lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.kernels import AttentionKernel, MatmulKernel
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, confidence_of

RULE = Rule(
    code="FLP005",
    name="sparse-tflops-quoted",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PEAK_TFLOPS,
    about=("matmul_kernel", "attention_kernel", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
weights: fp8
levers:
  - «kind: matmul_kernel»
    name: sparse tensor-core path
    peak: 3958 TFLOPS
    claim: 2x single-user speed
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
weights: bf16
levers:
  - «kind: matmul_kernel»
    name: bf16 GEMM
    peak: 1979 TFLOPS
""",
        """\
«Four H100 SXM with 1,979 TFLOPS of dense BF16 each deliver 7.9 PFLOPS.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: prefill, batch: 1, context: 2048}
weights: fp16
levers:
  - kind: matmul_kernel
    peak: 330 TFLOPS
    claim: 1.5x TTFT
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: prefill, batch: 1, context: 2048}
weights: bf16
levers:
  - kind: matmul_kernel
    name: FP8 GEMM
    peak: 1979 TFLOPS
    claim: 1.5x TTFT
""",
        """\
One H100 SXM has 989 TFLOPS of dense BF16.
""",
        """\
The 1,979 TFLOPS on the data sheet include sparsity.
""",
    ),
)

_NEAR = 0.03
_DTYPES = re.compile(r"(?:nv|mx)?fp(?:4|8|16)|bf16|tf32|int[48]")
_TWO_IN_ONE = frozenset({"nvidia-gb200", "nvidia-gb300", "nvidia-h100-nvl"})
"""Printed as pairs, on one superchip or bridged: twice the figure is the pair's dense one."""


def check(audit: Audit) -> Iterator[Finding]:
    """Quoted peaks that are twice the dense rate of the part."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, MatmulKernel | AttentionKernel) or idea.peak is None:
            continue
        device = lever.before.deployment.hardware
        if not device.sparse_24_tensor_cores or device.id in _TWO_IN_ONE:
            continue
        dense = {
            dtype: float(peak)
            for dtype in sorted(_dtypes(audit, lever, idea.name or ""))
            if (peak := device.tflops_dense.get(dtype)) is not None
        }
        quoted = idea.peak / 1e12
        doubled = [dtype for dtype, peak in dense.items() if _close(quoted, 2.0 * peak)]
        devices = lever.before.deployment.devices
        if not doubled or _explained(quoted, dense, device, devices):
            continue
        yield _finding(audit, lever, quoted, doubled[0], dense[doubled[0]])
    yield from RULE.in_prose(
        audit,
        _judge,
        why="dense weights never run at the rate of structured sparsity",
        instead="use the dense figure",
    )


def _dtypes(audit: Audit, lever: LeverAudit, name: str) -> set[str]:
    """Formats the figure may be about: those named, else the math of the stated weights."""
    named = {dtype.removeprefix("nv").removeprefix("mx") for dtype in _DTYPES.findall(name.lower())}
    if named or not audit.context.is_given("weights"):
        return named
    weights = lever.before.deployment.weights
    stored = {weights.kind} if weights is not None else set()
    return {lever.before.estimate.math, *stored}


def _explained(quoted: float, dense: dict[str, float], device: Device, devices: int) -> bool:
    """Whether the figure is dense after all: of several devices, or with FP16 accumulation."""
    if any(_close(quoted, count * peak) for peak in dense.values() for count in {1, devices}):
        return True
    return device.halves_wide_accumulation and not dense.keys() <= {"int8", "int4", "fp4"}


def _close(one: float, other: float) -> bool:
    return abs(one / other - 1.0) <= _NEAR


def _finding(audit: Audit, lever: LeverAudit, quoted: float, dtype: str, dense: float) -> Finding:
    decode = lever.before.deployment.phase == "decode"
    return RULE.on_lever(
        audit,
        lever,
        f"{quoted:,.0f} TFLOPS is the 2:4-sparse {dtype} figure of"
        f" {lever.before.deployment.hardware.name}; dense is {dense:,.0f}",
        why="dense weights never run at the rate of structured sparsity",
        instead=advice(audit) if decode else f"use {dense:,.0f} TFLOPS",
        facts=lever_facts(lever),
        numbers={
            **lever_numbers(lever),
            "quoted_tflops": quoted,
            "dense_tflops": dense,
            "devices": hardware_of(lever.before),
        },
    )


_DENSE_QUOTED = re.compile(
    r"(\d[\d,]*) TFLOPS (?:of )?dense (bf16|fp16|fp8|int8)|(\d[\d,]*) dense (bf16|fp16|fp8"
    r"|int8) TFLOPS",
    re.IGNORECASE,
)


_OF_EACH = re.compile(r"\b(?:each|apiece|per (?:card|gpu|device|chip))\b", re.IGNORECASE)


def _judge(said: Said) -> Wrong | None:
    """A sparse peak that the text calls dense, of a device that it names."""
    statement = said.statement
    sure = confidence_of(statement)
    quoted = _DENSE_QUOTED.search(statement.text)
    if sure is None or statement.kind is not Kind.PEAK or quoted is None:
        return None
    if statement.frame.hardware is None:
        return None
    device = find_device(statement.frame.hardware)[1]
    figure = float((quoted[1] or quoted[3]).replace(",", ""))
    dtype = (quoted[2] or quoted[4]).lower()
    peak = device.tflops_dense.get(dtype)
    if peak is None or device.id in _TWO_IN_ONE or not _close(figure, 2.0 * peak):
        return None
    if (statement.frame.devices or 1) > 1 and not _OF_EACH.search(statement.text):
        return None  # the sum of several
    return Wrong(
        f"{figure:,.0f} TFLOPS is the 2:4-sparse {dtype} figure of {device.name}; dense is"
        f" {peak:,.0f}",
        sure,
        numbers={"quoted_tflops": figure, "dense_tflops": peak},
    )
