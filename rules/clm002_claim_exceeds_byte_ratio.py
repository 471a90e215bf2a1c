"""## What it does
Flags a claimed speedup of quantization or of a packed sparse format that is more than 1.10 times
the ratio of bytes read before and after.

## Why is this bad
A memory-bound step gets faster by the bytes it no longer reads, scales and 16-bit parts counted.
Each format brings its own kernel, better or worse at keeping the bus busy, and that is worth a few
percent: of 217 published pairs, 95% stay under 1.05 of the byte ratio and the largest is at 1.09.
What is above comes from something else, mostly a baseline with other kernels or in eager mode.

## Instead
Compare within one engine, or name the other change and claim it apart.

## When this rule is wrong
If the baseline's kernel wastes bandwidth, a new one can win that as well. State the baseline as
`measured` and the bandwidth the new kernel sustains ("if the kernel sustains 95% of bandwidth");
the limit is then that fraction over the baseline's, times the byte ratio.

## References
- Frantar et al.: MARLIN, mixed-precision auto-regressive parallel inference:
  https://arxiv.org/abs/2408.11743
- Lin et al.: AWQ, activation-aware weight quantization: https://arxiv.org/abs/2306.00978
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.evidence import claim_numbers, claims_of, lever_facts, rests_on_guesses
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.prose.model import Kind, Phase
from advisor.prose.widths import widths_of
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import Said, Wrong, confidence_of, is_small_batch
from advisor.wording import factor, factors, size

RULE = Rule(
    code="CLM002",
    name="claim-exceeds-byte-ratio",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.QUANT_OVER_BYTE_RATIO,
    about=(CLAIMS, PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: quantize
    weights: fp8
    claim: «2.3x tokens/s»
""",
        """\
FP8 checkpoint versus BF16, one request at a time: «2.6x more tokens per second.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
measured: {tpot: 26 ms}
levers:
  - kind: quantize
    weights: int4-g128
    claim: 83 tokens/s if the kernel sustains 95% of bandwidth
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: quantize
    weights: fp8
    claim: 1.8x tokens/s
""",
        """\
INT4 makes single-stream decode up to 3.9x faster than BF16: a quarter of the bytes is read.
""",
        """\
Switching from BF16 to FP8 raised total throughput 2.6x at saturation.
""",
    ),
)

_KINDS = ("quantize.", "prune.unstructured", "prune.2:4", "prune.block")
_KERNEL_SPREAD = 1.10
"""The largest of 217 published pairs is at 1.09 of its byte ratio."""


def check(audit: Audit) -> Iterator[Finding]:
    """Claims of byte levers above what the bytes give."""
    for claim in claims_of(audit):
        lever, judged = claim.lever, claim.judged
        if lever is None or not _is_byte_lever(lever) or judged.metric != "tpot":
            continue
        if judged.speedup is None or judged.claim is None or judged.possible is None:
            continue
        if judged.tpot_ms is not None and audit.context.measured_tpot_ms is None:
            continue  # a rate against a baseline that nobody measured is no factor
        limit = _KERNEL_SPREAD * lever.byte_ratio
        fraction = judged.claim.conditions.bandwidth_fraction
        if fraction is not None:
            limit = max(limit, GRACE * judged.possible.high)
        if judged.speedup <= limit:
            continue
        before, after = lever.before.estimate.bytes.total, lever.after.estimate.bytes.total
        yield RULE.on_claim(
            audit,
            claim,
            f"bytes fall {factor(lever.byte_ratio)}, {size(before)} to {size(after)} a step;"
            f" {factor(judged.speedup)} needs something else to change: name it",
            why="a memory-bound step gets faster by the bytes it no longer reads",
            instead=f"claim {factors(judged.possible)}, or compare kernels within one engine",
            facts=lever_facts(lever),
            numbers={**claim_numbers(audit, claim), "byte_ratio": lever.byte_ratio},
            confidence=Confidence.MEDIUM if rests_on_guesses(audit, claim) else None,
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="what is not read twice cannot be saved twice",
        instead="claim at most bytes before over bytes after, or name what else changes",
    )


def _is_byte_lever(lever: LeverAudit) -> bool:
    """Quantization or packed zeros at a memory-bound step, alone in its entry."""
    kind = lever.lever.machine_kind
    memory_bound = lever.before.estimate.bound == "memory"
    alone = not lever.proposed.together
    return kind.startswith(_KINDS) and memory_bound and alone and lever.moves_fewer_bytes


_CAUSES = frozenset({"QUANT", "MATMUL"})
_OTHERS = frozenset({"SPEC", "PRUNE", "S24", "TP", "GRAPHS", "DISTILL", "OFFLOAD", "BATCH"})
_FROM_TO = re.compile(r"from (?:about )?(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) GB")
_WHOLE = re.compile(r"of the (\d+(?:\.\d+)?) GB")
_PAIR = re.compile(
    r"(\d+(?:\.\d+)?) GB (?:instead of|rather than|against|versus|vs\.?|down from|to|becomes?) "
    r"(?:about )?(\d+(?:\.\d+)?) GB\b(?!/s)(?: per token)?"
    r"|(?:fp16|bf16|16 bits?|8 bits?|int8"
    r"|fp8)\b[^.;:]{0,24}?(\d+(?:\.\d+)?) GB\b(?!/s)[^.;:]{0,24}?"
    r"(?:int[2348]|fp[468]|nf4|[2-8][- ]bits?|awq|gptq)\b[^.;:]{0,16}?(\d+(?:\.\d+)?) GB\b(?!/s)",
    re.IGNORECASE,
)
"""Bytes before and after, or after and before."""
_GRACE = 1.10


def _judge(said: Said) -> Wrong | None:
    """A factor of quantization above its bytes before over after."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.kind is not Kind.GAIN or statement.speedup is None:
        return None
    if (
        statement.is_aggregate
        or not is_small_batch(statement)
        or (statement.cause not in _CAUSES and not _is_of_sizes(said))
    ):
        return None
    if statement.phase is not Phase.DECODE and not statement.is_single:
        return None
    if not _OTHERS.isdisjoint(statement.sentence):
        return None
    if said.has(r"\bfits?\b|spill|swap|\bram\b|batch(?:es)? (?:more|larger)|\bcpu"):
        return None
    ratio = _ratio(statement.context_text)
    if ratio is None or statement.speedup <= _GRACE * ratio:
        return None
    return Wrong(
        f"{statement.speedup:.3g}x is more than the {ratio:.3g}x by which the bytes fall",
        sure,
        numbers={"byte_ratio": ratio},
    )


def _is_of_sizes(said: Said) -> bool:
    """Whether the gain follows from two sizes of the weights in the text, and from nothing else."""
    statement = said.statement
    return (
        statement.cause in {None, "FLOPS"}
        and said.has(_PAIR.pattern)
        and (
            said.has(r"\bweights\b|per token|quanti[sz]")
            and not said.has(r"\bkv\b|\bcache\b|\bvram\b")
        )
    )


def _ratio(text: str) -> float | None:
    """Bytes before over after: by sizes, where a part of the whole shrinks, or by widths."""
    shrunk = _FROM_TO.search(text)
    whole = _WHOLE.search(text)
    if shrunk and whole:
        before, after, total = float(shrunk[1]), float(shrunk[2]), float(whole[1])
        return total / (total - before + after) if total >= before > after else None
    if (pair := _PAIR.search(text)) is not None:
        sizes = [float(size) for size in pair.groups() if size]
        return max(sizes) / min(sizes) if min(sizes) > 0 else None
    widths = widths_of(text)
    if len(widths) == 2:
        return max(widths) / min(widths)
    if len(widths) == 1 and min(widths) < 16:
        return 16.0 / min(widths)
    return None
