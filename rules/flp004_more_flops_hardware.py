"""## What it does
Flags a move to hardware with more FLOP/s but not the bandwidth to match, proposed for decode at a
batch where the step is memory-bound.

## Why is this bad
Below the ridge, time follows bytes over bandwidth. From an A100 SXM to an L40S FP16 arithmetic
grows 1.16x and bandwidth falls to 0.42x: a token takes twice as long. An H100 PCIe has 2.4 times
the arithmetic of an A100 SXM and the same 2.0 TB/s.

## Instead
Compare GB/s (and capacity) first. Sell the FLOP/s for what is compute-bound: prefill, large
batches.

## When this rule is wrong
For a prefill pool, for batches beyond the crossover, and where the new devices are chosen for
price or memory: state that as the claim. The rule is silent where bandwidth grows and the claim
follows it (H100 to H200, A100 to H100 SXM at 1.6x).

## References
- NVIDIA L40S product page: https://www.nvidia.com/en-us/data-center/l40s/
- NVIDIA H100 product page: https://www.nvidia.com/en-us/data-center/h100/
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.evidence import (
    claimed_over,
    hardware_of,
    lever_facts,
    lever_numbers,
    promises_speed,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.prose.baselines import CONCLUDING
from advisor.prose.columns import scaled_by_peak
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.patterns import OF_SHAPE, PEAK_DECIDES
from advisor.rule import PROSE, Rule
from advisor.said import (
    LABELS,
    Said,
    Wrong,
    bandwidths_in,
    carries_over,
    confidence_of,
    in_sight,
    is_excused,
    is_of_units,
    is_small_batch,
    is_unlinked,
)
from advisor.steps import Step
from advisor.told.equal_peaks import equal_by_peak, shares_peak
from advisor.told.other_reasons import has_fewer_users
from advisor.told.peaks_told import BY_BANDWIDTH, follows_peak, is_peak_of_row, shows_bandwidth
from advisor.wording import factor

RULE = Rule(
    code="FLP004",
    name="more-flops-hardware",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PEAK_TFLOPS,
    about=("hardware", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: hardware»
    hardware: L40S
    claim: 1.2x decode
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: hardware»
    hardware: H100 PCIe
    claim: 2.4x tokens/s
""",
        """\
The new card has 660 instead of 330 TFLOPS, «so one user sees tokens twice as fast.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: hardware
    hardware: H100 SXM
    claim: 1.6x decode
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: hardware
    hardware: H200
    claim: 1.4x
""",
        """\
TFLOPS do not matter for single-user decoding; bandwidth does.
""",
        """\
More TFLOPS make prefill of long prompts 3x faster.
""",
        """\
The card has 1008 instead of 936 GB/s and more TFLOPS, so decode is 8% faster.
""",
    ),
)

_OUT_OF_PROPORTION = 1.2
"""FLOP/s that grow this much more than bandwidth are what the move is about."""


def check(audit: Audit) -> Iterator[Finding]:
    """Moves to hardware whose arithmetic grows and whose bandwidth does not keep up."""
    for lever in audit.levers:
        if lever.lever.kind != "hardware" or not promises_speed(lever):
            continue
        before, after = lever.before, lever.after
        if "compute" in {before.estimate.bound, after.estimate.bound}:
            continue
        peaks = (_flops(before, before.estimate.math), _flops(after, before.estimate.math))
        if not all(peaks):
            continue
        flops = peaks[1] / peaks[0]
        bandwidth = _bandwidth(after) / _bandwidth(before)
        wrong = claimed_over(lever, bandwidth) or bandwidth < GRACE
        if flops <= _OUT_OF_PROPORTION * bandwidth or not wrong:
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{hardware_of(after)}: {factor(flops)} the {before.estimate.math} FLOP/s of"
            f" {hardware_of(before)} but {factor(bandwidth)} the bandwidth, which sets decode at"
            f" batch {before.deployment.batch}",
            why="below the ridge time follows bytes over bandwidth",
            instead="compare GB/s first; use the FLOP/s for prefill or large batches",
            facts=(_parts(lever), *lever_facts(lever)),
            numbers={
                **lever_numbers(lever),
                "flops_ratio": flops,
                "bandwidth_ratio": bandwidth,
            },
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="below the ridge time follows bytes over bandwidth",
        instead="compare GB/s first; use the FLOP/s for prefill or large batches",
    )


def _flops(step: Step, math: str) -> float:
    """Peak of all devices; 0 where nobody publishes one."""
    return (step.deployment.hardware.peak_flops(math) or 0.0) * step.deployment.devices


def _bandwidth(step: Step) -> float:
    return step.deployment.hardware.bandwidth_gbs * step.deployment.devices


def _parts(lever: LeverAudit) -> tuple[str, str]:
    one, other = _bandwidth(lever.before), _bandwidth(lever.after)
    return ("bandwidth", f"{one:,.0f} -> {other:,.0f} GB/s")


_BOTH_GROW = r"\band (?:twice|double|\d(?:\.\d+)?x) the (?:memory )?bandwidth"
_REASON = (
    r"(?:twice|double|\d(?:\.\d+)?x) the (?:\w+ )?(?:tflops|compute|flops|cores|tops)\b"
    r"|\b(?:since|because|thanks to|due to|owing to)\b.{0,60}?(?:tflops|compute|cores?|clock"
    r"|flops|tops)\b"
)
"""The text gives arithmetic as the reason, whatever else it mentions."""


_LIMITED = r"core clock|power (?:limit|cap)"
_EXPLAINED = r"(?:tflops|compute|cores)\b.{0,60}?(?:explains?|because|hence|therefore|reason)"


_OF_MEMORY = (
    r"\b(?<!same )(?:memory|vram|hbm|g?ddr\w*|ram) (?:over)?clocks?\b(?! (?:is |are |stays? |left "
    r"|kept )*"
    r"(?:untouched|unchanged|the same|fixed|alone|constant|stock|as (?:it is|before)))"
    r"|\b\d+ ?gb\b(?!/s)[^.;]{0,40}?"
    r" (?:than|as) (?:the )?\d+ ?gb\b(?!/s)"
)
"""A clock or a size of memory, which is no rate of arithmetic."""


_MAKES_IT_FAST = (
    r"\b(?:makes?|gets?) (?:it|this|them|a chat|replies|answers) (?:\w+ )?(?:fast|quick(?:ly)?"
    r"|snappy)\b"
)
_BY_COUNT = Form(
    r"\b(?:from|by|with|for|given) (?:the |its |their |his )?(?:core counts?|[tp]flops|tops|cores"
    r"|clocks?|compute)\b"
)
"""A gain whose reason stands beside it, whatever prompts gain: "27% more, from the core count"."""


def _judge(said: Said) -> Wrong | None:
    """More FLOP/s, cores or clock, and a promise for one stream."""
    statement = said.statement
    sure = in_sight(statement, confidence_of(statement))
    if statement.phase is Phase.DECODE and equal_by_peak(said):
        return Wrong(_FOLLOWS_BANDWIDTH, Confidence.HIGH)
    if sure is None or statement.phase is not Phase.DECODE or not is_small_batch(statement):
        return None
    if (by_table := _by_table(statement)) is not None:
        return by_table
    if is_excused(said) or said.says(_OF_MEMORY) or said.says(_HARDLY):
        return None
    own_reason = statement.speedup is not None and _BY_COUNT.search(statement.text) is not None
    if is_unlinked(statement) or (carries_over(said) and not own_reason):
        return None
    if statement.kind is Kind.ADVICE:
        speed = {"FASTER", "SLOWER", "RATE", "TIME", "SINGLE"}
        other = {"PREFILL", "TRAINING", "BYTES", "LARGE_BATCH"}
        wrong = (
            "PEAK" in statement.clause
            and (not statement.sentence.isdisjoint(speed) or said.says(_MAKES_IT_FAST))
            and statement.sentence.isdisjoint(other)
        )
    elif statement.kind is Kind.DRIVER:
        wrong = PEAK_DECIDES.search(statement.text) is not None
    else:
        wrong = _is_driven(said)
    if not wrong:
        return None
    if statement.phase_reach > 1 and not (statement.is_single or statement.is_linked):
        sure = Confidence.MEDIUM
    if said.says(r"\bthreads?\b|\bcores?\b") and not (
        statement.speedup or said.has(r"same (?:ram|memory)|tensor cores?|cuda cores?")
    ):
        sure = Confidence.MEDIUM
    return Wrong(_FOLLOWS_BANDWIDTH, sure)


_FOLLOWS_BANDWIDTH = (
    "single-stream decode does 1 to 4 FLOP per byte against a ridge of 37 to 420: its speed follows"
    " GB/s, and more FLOP/s at the same bandwidth are 1.00x"
)


def _by_table(statement: Statement) -> Wrong | None:
    """Devices side by side: a speed that is scaled by their TFLOPS, and not by their GB/s."""
    if statement.kind not in {Kind.GAIN, Kind.FIGURE, Kind.LOSS}:
        return None
    scaled = scaled_by_peak(statement)
    if scaled is None:
        return None
    if scaled.of_kernel:
        return Wrong(
            f"{scaled.claimed:.3g}x is the ratio of the rates of a product of many rows; a step of"
            " one row waits for the same bytes at the same GB/s (1.00x)",
            Confidence.HIGH,
            ErrorClass.FASTER_MATMUL,
            numbers={"peak_ratio": scaled.peak},
        )
    return Wrong(
        f"{scaled.claimed:.3g}x is the ratio of the TFLOPS; that of the GB/s, which single-stream"
        f" decode follows, is {scaled.bandwidth:.2g}x",
        Confidence.HIGH,
        numbers={"peak_ratio": scaled.peak, "bandwidth_ratio": scaled.bandwidth},
    )


_SAME_MEMORY = (
    r"(?:same|equal|identical|unchanged|as before) (?:\w+ ){0,3}?(?:bandwidth|[tg]b/s|hbm\w*"
    r"|memory|ddr\d?)|\b(?:memory|bandwidth|bus|hbm\w*|ddr\d?) (?:has |have )?(?:stay"
    r"|remain)\w* at \d"
    r"|same \d[\d.,]* ?[tg]b/s|(?:bandwidth|memory|hbm\w*|ddr\d?) (?:is |are |stays "
    r"|remains )?(?:the same"
    r"|unchanged|identical|as before)"
)
"""The text itself says that the memory is no faster."""
_WAS_SLOWER = (
    r"dequant|fill\w* the (?:\w+ )?(?:bus|bandwidth|memory|ddr\d?)|saturat\w+ (?:the|its"
    r"|their|our|all) (?:\w+ )?(?:bus"
    r"|memory"
    r"|bandwidth|ddr\d?)|single core|one core|one thread|\be-core|below (?:the )?(?:dram|memory"
    r"|hbm)"
    r"|lacked|\bidle\b|nothing (?:else |better )?to do\b|split[- ]?kv|thread blocks|(?:cannot"
    r"|can['’]t|could not"
    r"|couldn['’]t) (?:pull|saturate|fill|use|reach)"
    r"|without avx|throttl|stuck at|power fault|memory (?:\w+ )?overclock"
    r"|overclock\w* (?:the )?"
    r"(?:memory|vram|hbm)|\bgbps|compute-bound|bound by (?:the )?(?:arithmetic|compute|alus)"
)
"""The text itself says that the step did not reach the bandwidth before."""


_FEWER_BITS = (
    r"\b(?:half|a (?:third|quarter)|fewer) (?:of )?(?:the |as many )?(?:bits|bytes)\b"
    r"|\d ?(?:GB )?(?:->|→|to) ?\d[\d.]* ?GB\b(?!/s)"
)
"""What shrinks in the same sentence, whatever unit does the arithmetic."""


_HARDLY = (
    r"\b(?:writing|typing|generating|decoding|answering|generation|decode)\b[^.;,]{0,24}?"
    r" (?:does|do|is|will|did) not\b(?=\W*$)"
    r"|\bjust as (?:fast|quick(?:ly)?)\b|\bat (?:equal|the same) speed\b|\b(?:decod\w+|generati\w+"
    r"|writing|typing) (?:only|just"
    r"|hardly|barely)\b"
)
"""Decode is said to lose or gain next to nothing."""


def _memory_is_told(said: Said) -> bool:
    """Whether the text gives memory a part in it: two bandwidths, or bytes in the sentence."""
    if said.says(BY_BANDWIDTH):
        return True
    if bandwidths_in(said.statement.context_text) == 1:
        return False
    return "BYTES" in said.statement.sentence or said.has(
        r"\d ?GB (?:are |is )?(?:read|moved|streamed|fetched)|[gt]b/s|bandwidth"
        r"|(?<!same )(?<!leaves the )memory (?:speed|clock)s?\b"
        r"(?! (?:is |are |was |were |stays? |left |kept )*(?:untouched|unchanged|as (?:it|they)"
        r"|the same))"
    )


_THAN_OTHER = (
    r"\bthan (?:an?|the|its|our) (?:[\w-]+ ){0,3}?[\w-]+, which (?!(?:\w+ )?(?:explains?|why|means"
    r"|makes?|gives?|lets|leads|brings?|results?)\b)"
)
"""What "which" tells is told of the other device."""
_IN_SPITE = (
    r"nothing to do with|regardless of|despite|although|whatever|no matter"
    r"|\band (?:still|yet|nevertheless)"
)
"""The text itself says that the peak does not decide."""


_SCALED = (
    r"\b(?:scal|extrapolat|convert)\w*\b[^.;:]{0,48}? (?:by|with|from|in proportion to"
    r"|according to)"
    r" (?:the |their )?(?:ratio of )?(?:the |their )?(?:(?:peak|dense|tensor|bf16|fp\d+|vendor)"
    r" )*(?:tflops|tops|compute|flop/s|flops|core counts?)\b"
)
_TOO_FEW = (
    r"\b(?:since|because|as|for)\b.{0,60}?\b(?:only|just|merely|fewer|lower|lacks?|too few)\b"
    r".{0,30}?(?:[tp]flops|\btops|tensor cores?|cuda cores?)\b|"
    r"\b(?:below|under|less than|fewer than|only|just) \d[\d,.]* ?(?:[tp]flops|tops)\b"
    r"|\bwith half the (?:\w+ )?(?:[tp]flops|tops|cores)\b|\b(?:only|just) (?:an?|one) (?:half"
    r"|third|quarter|fifth|sixth|eighth|tenth) (?:of )?the"
    r" (?:\w+ )?(?:[tp]flops|tops|compute|cores)\b"
)


_UNFELT = 0.9
"""A loss so small that overheads make up for it."""
_NEAR = 2
"""Sentences back to what is said to carry over."""


def _is_effect(said: Said) -> bool:
    """Whether a statement tells what a peak brings: a gain, or a loss or figure drawn from it."""
    statement = said.statement
    if statement.kind in {Kind.GAIN, Kind.CARRIED}:
        return True
    concluded = statement.opener in CONCLUDING and "PEAK" in statement.sentence - statement.clause
    if statement.kind is Kind.FIGURE:
        by_work = "FLOPS" in statement.sentence and said.says(r"[gt]flops? per token|/ ?\d")
        drawn = concluded and statement.opener != "which" and statement.is_single
        return not by_work and (drawn or said.says(_SCALED))
    if statement.kind is not Kind.LOSS or statement.opener == "yet":
        return False
    if statement.speedup is not None and statement.speedup >= _UNFELT:
        return False
    if said.has(r"[gt]b/s|bandwidth") and not (said.has(_SAME_MEMORY) or follows_peak(said)):
        return False
    explained = said.has(_LIMITED) or said.says(_EXPLAINED) or follows_peak(said)
    return explained or concluded or said.says(_TOO_FEW)


def _is_driven(said: Said) -> bool:
    statement = said.statement
    by_work = statement.cause == "FLOPS" and "PEAK" in statement.nearby and follows_peak(said)
    if not (statement.cause == "PEAK" or by_work) or not _is_effect(said):
        return False
    of_one = "SINGLE" in statement.clause | statement.sentence
    if statement.reach >= LABELS and not (of_one or statement.table):
        return False  # a heading that names an NPU, far above "all the words come sooner"
    if shows_bandwidth(statement) or (statement.kind is not Kind.CARRIED and shares_peak(said)):
        return False
    if statement.kind is Kind.CARRIED and (
        statement.reach > _NEAR
        or OF_SHAPE.search(statement.context_text) is not None
        or "PREFILL" in statement.nearby
        or said.says(r"\b(?:at|in|with) the same (?:speed|rate|pace|time|latency)\b")
    ):
        return False
    metrics = {"FASTER", "SLOWER", "TIME", "RATE", "DECODE", "SINGLE"}
    of_tokens = statement.tpot_ms is not None or not statement.clause.isdisjoint(metrics)
    if (
        not (of_tokens or is_peak_of_row(statement))
        or statement.is_aggregate
        or is_of_units(statement)
    ):
        return False
    if said.has(_WAS_SLOWER) or said.has(_BOTH_GROW) or said.has(_FEWER_BITS):
        return False
    if has_fewer_users(said):
        return False
    in_spite = said.says(_IN_SPITE) and not said.has(_SAME_MEMORY)
    if in_spite or (statement.opener == "which" and said.says(_THAN_OTHER)):
        return False
    if not statement.sentence.isdisjoint({"PREFIX", "SPEC"}):
        return False
    return (
        said.says(_REASON)
        or said.says(_SCALED)
        or said.has(_SAME_MEMORY)
        or follows_peak(said)
        or not _memory_is_told(said)
    )
