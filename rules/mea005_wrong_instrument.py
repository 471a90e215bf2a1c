"""## What it does
Flags a conclusion drawn from an instrument that does not show it: GPU utilization for
compute-bound, a power cap as a clock test, profiler times as absolute times.

## Why is this bad
The utilization that nvidia-smi prints is the part of time in which some kernel was resident: it
reads 100% for a decode that uses 1% of the matrix units. Power caps do not engage at 137 to 300 of
700 W. A kernel profiler locks clocks and runs kernels one by one.

## Instead
Counters of memory and matrix-unit activity (DCGM fields 1005 and 1004), locked clocks, and buffers
of three times the last cache in microbenchmarks.

## When this rule is wrong
As a sign that the device is busy at all, utilization is fine; the rule needs a conclusion on what
limits the step in the same sentence.

## References
- NVIDIA DCGM, profiling metrics: https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/feature-overview.html
- Nsight Compute, clock control: https://docs.nvidia.com/nsight-compute/NsightComputeCli/index.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.operands import sentences_of
from advisor.rule import CLAIMS, STATEMENTS, Rule

RULE = Rule(
    code="MEA005",
    name="wrong-instrument",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.DECODE_CALLED_COMPUTE_BOUND,
    about=(
        STATEMENTS,
        CLAIMS,
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 300, context: 64}
diagnosis: «GPU-Util is 100%, so decode is compute-bound»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: DCGM shows tensor cores active 5% and DRAM 80%, so decode is memory-bound
""",
    ),
)

_INSTRUMENTS: Final = (
    (
        re.compile(
            r"gpu-?\s?util\w*|nvidia-smi|gpu usage|\d+ ?% (?:gpu )?utili[sz]ation", re.IGNORECASE
        ),
        "GPU utilization shows that a kernel was resident 100% of the time, not what it waited for",
        "DCGM fields 1005 (DRAM active) and 1004 (tensor active)",
    ),
    (
        re.compile(r"power (?:cap|limit)\w*", re.IGNORECASE),
        "a power cap does not engage in decode, which draws 137-300 of 700 W on an H200",
        "locked clocks (nvidia-smi -lgc) at 100, 80 and 60%",
    ),
    (
        re.compile(r"\bncu\b|nsight compute", re.IGNORECASE),
        "ncu locks clocks to base and runs kernels one by one: its times are no absolute times",
        "nsys for times, ncu for ratios",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Instruments that do not show what is concluded."""
    for sentence, index in sentences_of(audit):
        found = next((one for one in _INSTRUMENTS if one[0].search(sentence.text)), None)
        if found is None or not _concludes(sentence.text):
            continue
        estimate = audit.baseline.estimate
        yield RULE.on_sentence(
            audit,
            sentence,
            index,
            found[1],
            why="the instrument does not measure what is concluded from it",
            instead=found[2],
            numbers={
                "intensity_flop_per_byte": estimate.intensity,
                "ridge_flop_per_byte": estimate.ridge,
            },
        )


def _concludes(text: str) -> bool:
    """Whether the sentence asserts that arithmetic limits the step."""
    from advisor.limits import Limit  # noqa: PLC0415 - few proposals need it
    from advisor.statements import read_statement  # noqa: PLC0415

    return any(
        one.limit is Limit.COMPUTE and not one.denied and not one.open
        for one in read_statement(text)
    )
