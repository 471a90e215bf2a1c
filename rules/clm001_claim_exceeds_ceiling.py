"""## What it does
Flags a claimed speedup of the time per token above the ceiling of what it is claimed for: 1 over
1 minus the share of the step that the lever touches, or the most tokens a pass can make.

## Why is this bad
What a lever does not touch stays. Narrower weights leave the KV cache, the 16-bit output head and
the fixed time per layer, 45 to 100 microseconds that no byte lever removes; so even weights of no
bytes at all give a finite speedup (Amdahl's law). Above it, something else must have changed.

## Instead
Claim what the model expects, or name what else changes: the engine, the kernel, the launches.

## When this rule is wrong
If the baseline is slower than assumed, its time has other shares: state it as `measured`, with the
engine. Claims on prefill, on one kernel or at another batch are not judged here. What
speculation costs is estimated: up to draft tokens and one, a claim is questioned in strict mode
only.

## References
- Amdahl: Validity of the single processor approach: https://doi.org/10.1145/1465482.1465560
- Lin et al.: AWQ, measured against byte ratios: https://arxiv.org/abs/2306.00978
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import (
    AttachedClaim,
    claim_facts,
    claim_numbers,
    claims_of,
    hangs_on_other_requests,
    lever_facts,
    rests_on_guesses,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE, ClaimVerdict
from advisor.levers import Nature
from advisor.prose.model import Kind, Phase
from advisor.prose.step_shares import bytes_share
from advisor.prose.widths import sizes_of
from advisor.quantity.numerals import SEVERAL, count_of
from advisor.roofline import Interval
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import Said, Wrong, confidence_of, decode_gain, is_small_batch
from advisor.told.cache_share import cache_share
from advisor.wording import factor, factors, milliseconds, percent

RULE = Rule(
    code="CLM001",
    name="claim-exceeds-ceiling",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS, PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: quantize
    weights: int4-g128
    claim: «8x tokens/s»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: prune
    pattern: layers
    sparsity: 25%
    storage: removed
  - kind: quantize
    weights: fp8
claim: «12x faster decode»
""",
        """\
The student has 8B parameters instead of 70B. «Replies stream 20x faster.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: quantize
    weights: int4-g128
    claim: 1.9x tokens/s
""",
        """\
The student has 8B parameters instead of 70B. Replies stream up to 8.75x faster.
""",
    ),
)

_BY_KIND = {
    "quantize": ErrorClass.QUANT_OVER_BYTE_RATIO,
    "tensor_parallel": ErrorClass.TP_IGNORES_COMM,
}


def check(audit: Audit) -> Iterator[Finding]:
    """Claims above the ceiling of their levers."""
    for claim in claims_of(audit) if audit.levers else ():
        judged = claim.judged
        if judged.verdict is not ClaimVerdict.IMPOSSIBLE or judged.below_floor:
            continue
        if not _is_about_tokens(claim):
            continue
        speedup, possible, ceiling = judged.figures
        lever = claim.lever
        if lever is not None and hangs_on_other_requests(audit, lever):
            continue
        known = _BY_KIND.get(lever.lever.kind) if lever is not None else None
        yield RULE.on_claim(
            audit,
            claim,
            f"{factor(speedup)} is claimed, but {_reason(claim, ceiling)}{_expected(possible)}",
            why="what a lever does not touch stays as it is",
            instead=f"claim {factors(possible)}, or name what else changes",
            facts=lever_facts(lever) if lever is not None else claim_facts(judged, possible),
            numbers=claim_numbers(audit, claim),
            confidence=None if _is_sure(audit, claim) else Confidence.MEDIUM,
            error_class=known or RULE.error_class,
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="what a lever does not touch stays as it is",
        instead="claim the share of the bytes that shrinks",
    )


def _is_about_tokens(claim: AttachedClaim) -> bool:
    """Time per token; throughput only of levers for it, for others make room for a batch."""
    if claim.judged.metric == "tpot":
        return True
    return claim.lever is not None and claim.lever.lever.metric == "throughput"


def _is_sure(audit: Audit, claim: AttachedClaim) -> bool:
    """Whether the ceiling rests on what is stated.

    What it costs to verify drafts is estimated; that a pass makes no more tokens than were drafted
    and one is certain.
    """
    lever, claimed = claim.lever, claim.judged.speedup or 0.0
    if lever is not None and lever.lever.acts_on is Nature.TOKENS:
        speculation = lever.after.deployment.speculation
        stated = "draft_tokens" in lever.proposed.spans
        most = speculation.draft_tokens + 1 if speculation is not None else 1
        return stated and claimed > GRACE * most
    return not rests_on_guesses(audit, claim)


def _expected(possible: Interval) -> str:
    return "" if possible.high == possible.low else f"; expected {factors(possible)}"


def _reason(claim: AttachedClaim, ceiling: float) -> str:
    limit = factor(ceiling)
    if claim.lever is None:
        return f"all levers together allow {limit}"
    before = claim.lever.before.estimate
    nature = claim.lever.lever.acts_on
    if nature is Nature.TOKENS:
        return f"if every draft token is accepted a pass brings {limit}"
    if nature is Nature.HARDWARE:
        return f"the other hardware allows {limit}"
    if nature in {Nature.BYTES, Nature.FLOPS, Nature.OVERHEAD, Nature.PREFILL} and ceiling > 1.0:
        step = (
            f"{percent(1.0 - 1.0 / ceiling)} of the {milliseconds(before.expected_ms.mid)} ms step"
        )
        return f"it touches {step}, so {limit} even at no cost of its own"
    return f"nothing changes that one user's token waits for: {limit}"


_BANDWIDTH = re.compile(r"(\d+(?:[.,]\d+)?) ?([TG])B/s")
_DRAFTED = re.compile(
    rf"\b(\d{{1,2}}|{SEVERAL}) (?:drafted|draft|speculative|proposed|guessed) tokens?"
    r"|(?:gamma|num_speculative_tokens) ?(?:=|of) ?(\d{1,2})"
    rf"|draft(?:s|ing)? (?:of )?(\d{{1,2}}|{SEVERAL}) tokens?",
    re.IGNORECASE,
)
_SHORT = 2048
"""Tokens up to which the cache is a few percent of a step at batch 1."""


def _judge(said: Said) -> Wrong | None:
    """A smaller model, or a smaller cache, with more than it can bring."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.kind is not Kind.GAIN:
        return None
    if statement.cause == "DISTILL" and statement.phase is Phase.DECODE and statement.speedup:
        sizes = {size for size, _ in sizes_of(statement.context_text)}
        ratio = max(sizes) / min(sizes) if len(sizes) == 2 else None
        if ratio is None or statement.speedup <= GRACE * ratio:
            return None
        return Wrong(
            f"{statement.speedup:.3g}x is more than the {ratio:.3g}x by which the weights shrink",
            sure,
            numbers={"size_ratio": ratio},
        )
    for wrong in (
        _over_bandwidth(said, sure), _part_as_whole(said, sure), _over_rest(said, sure)
    ):  # fmt: skip
        if wrong is not None:
            return wrong
    context = statement.frame.context
    short = (context is not None and context <= _SHORT) or "SHORT" in statement.nearby
    if statement.cause != "KVQ" or decode_gain(said) is None or not short:
        return None
    if "LONG" in statement.sentence:
        return None
    beside = cache_share(statement.frame, context or _SHORT)
    if statement.speedup is not None and statement.speedup <= beside.most:
        return None
    return Wrong(
        f"{beside}: without any cache decode is {beside.most:.2f}x",
        sure,
        numbers={"context_tokens": beside.context, "cache_bytes": beside.cache_bytes},
    )


_PART = Form(
    r"\b(?:rms ?norm|layer ?norm|norms?|softmax|mlp|ffn|feed[- ]forward|rope|rotary|sampl\w+"
    r"|embedding|activation function|lm[- ]head|router)\b"
)
_FACTOR = Form(r"(?:\d+(?:\.\d+)?[-–])?(\d+(?:\.\d+)?) ?[x×]")
_SHARE = r"%|share|fraction|\bms\b|of the (?:time|step)|whole model|amdahl"


def _part_as_whole(said: Said, sure: Confidence) -> Wrong | None:
    """The factor of one part of a layer, told again for the tokens of the whole model."""
    statement = said.statement
    if statement.speedup is None or statement.phase is not Phase.DECODE:
        return None
    if _PART.search(statement.text) or statement.clause.isdisjoint({"DECODE", "RATE", "TIME"}):
        return None
    before = said.statement.context_text
    before = before[: before.rfind(statement.text)]
    part, factor = _PART.search(before), _FACTOR.search(before)
    if part is None or factor is None or re.search(_SHARE, before):
        return None
    if statement.speedup < 0.95 * float(factor[1]):
        return None
    return Wrong(
        f"{part[0]} alone gets {factor[1]}x, the rest of the step takes the time it took: with half"
        f" of the step {1 / (0.5 + 0.5 / float(factor[1])):.2f}x, never {statement.speedup:.3g}x",
        sure,
        numbers={"part_factor": float(factor[1])},
    )


_OF_THE_REST = Form(
    r"\b(?:graphs?|launch\w*|kernels?|fus(?:e|es|ed|ing|ion)|compil\w+|schedul\w+|megakernel|engine"
    r"|tun(?:e|ed|ing)|hand-?written|rewrit\w+|gemv|ptx|triton|assembly|optimi[sz]\w+|python"
    r"|overheads?|persistent)\b"
)
_OTHER_LEVERS = frozenset(
    {"QUANT", "SPEC", "PRUNE", "S24", "DISTILL", "KVQ", "TP", "OFFLOAD", "LAYERS", "GQA", "BATCH"}
)


_CLOSER = Form(
    r"\d ?% (?:to|->|→) (?:about )?\d+ ?% of (?:the |its )?(?:peak |memory |hbm )*bandwidth"
)
"""A kernel that reaches more of the bandwidth than the one before."""


def _over_rest(said: Said, sure: Confidence) -> Wrong | None:
    """More from kernels, launches or the scheduler than the part of a step that reads no bytes."""
    statement = said.statement
    if statement.speedup is None or statement.phase is not Phase.DECODE or statement.is_aggregate:
        return None
    if not is_small_batch(statement) or not _OTHER_LEVERS.isdisjoint(statement.sentence):
        return None
    if _OF_THE_REST.search(statement.sentence_text) is None:
        return None
    share = bytes_share(statement.context_text)
    if (
        share is None
        or _CLOSER.search(statement.context_text)
        or statement.speedup * share <= GRACE
    ):
        return None
    return Wrong(
        f"{share:.0%} of the step reads bytes, which no kernel and no graph shortens:"
        f" {1.0 / share:.3g}x if the rest takes no time, not {statement.speedup:.3g}x",
        sure,
        numbers={"bytes_share": share},
    )


def _over_bandwidth(said: Said, sure: Confidence) -> Wrong | None:
    """More than the ratio of two bandwidths, or than the tokens a pass can make."""
    statement = said.statement
    if statement.speedup is None or decode_gain(said) is None:
        return None
    if statement.cause == "SPEC":
        most = _tokens_per_pass(said)
        if most is None or statement.speedup <= GRACE * most:
            return None
        return Wrong(
            f"{statement.speedup:.3g}x is more than the {most:.3g} tokens that a pass makes at "
            f"most",
            sure,
            numbers={"tokens_per_pass": most},
        )
    if statement.cause not in {"HARDWARE", None}:
        return None
    rates = {
        float(number.replace(",", ".") if unit == "T" else number.replace(",", ""))
        * (1e3 if unit == "T" else 1.0)
        for number, unit in _BANDWIDTH.findall(statement.context_text)
    }
    if len(rates) != 2 or min(rates) <= 0:
        return None
    ratio = max(rates) / min(rates)
    if statement.speedup <= 1.1 * ratio or said.has(r"offload|spill|fits?\b|pcie|link|ddr"):
        return None
    return Wrong(
        f"{statement.speedup:.3g}x is more than the {ratio:.3g}x by which the bandwidth grows",
        sure,
        numbers={"bandwidth_ratio": ratio},
    )


def _tokens_per_pass(said: Said) -> float | None:
    """Tokens that a pass makes as stated, or the drafted ones and one more."""
    frame = said.statement.frame
    if frame.tokens_per_pass is not None:
        return frame.tokens_per_pass
    drafted = _DRAFTED.search(said.statement.context_text)
    if drafted is None:
        return None
    word = next(group for group in drafted.groups() if group).lower()
    return float(count_of(word)) + 1.0
