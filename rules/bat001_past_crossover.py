"""## What it does
Flags weight-only quantization at more tokens per step than the crossover of the 16-bit weights, and
claims above what is left of its gain between the two crossovers.

## Why is this bad
Weight-only formats multiply in 16 bits. Once the step has enough tokens to wait for arithmetic,
fewer bytes save no time and expanding them costs some. Its whole gain holds to the crossover of the
narrow format (76 tokens on an H100 for int4, 39 on an A100); above, the linear layers gain at most
crossover over tokens, and from the 16-bit crossover on (295 and 153) nothing.

## Instead
Formats that the matrix units multiply: W8A8, W4A8, NVFP4.

## When this rule is wrong
At long context the cache dominates and the weights are a small part either way. If memory is the
point, claim memory. Achieved rates put the crossover at three quarters of these figures, so the
rule is lenient.

## References
- Frantar et al.: MARLIN: https://arxiv.org/abs/2408.11743
- Kurtic et al.: Give me BF16 or give me death: https://arxiv.org/abs/2411.02355
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit, LeverAudit
from advisor.evidence import is_stated, lever_facts, lever_numbers, promises_any_speed
from advisor.finding import Confidence, Finding, Severity
from advisor.judge import GRACE
from advisor.operands import gemm_share, wide_crossover
from advisor.rule import Rule
from advisor.wording import factor

RULE = Rule(
    code="BAT001",
    name="past-crossover",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=("quantize",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 320, context: 256}
levers:
  - {«kind: quantize», weights: int4-g128, claim: 2x throughput}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 128, context: 256}
levers:
  - {«kind: quantize», weights: int4-g128, claim: 3.5x throughput}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 16, context: 512}
levers:
  - {kind: quantize, weights: int4-g128, claim: 1.8x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 100, context: 512}
levers:
  - {kind: quantize, weights: int4-g128, claim: 1.5x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 320, context: 256}
levers:
  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.5x throughput}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Weight-only formats where the linear layers wait for arithmetic."""
    for lever in audit.levers:
        before, after = lever.before, lever.after
        weights = after.deployment.weights
        if weights is None or not _is_weight_only(lever) or not promises_any_speed(lever):
            continue
        tokens = before.ledger.tokens
        crossover, narrow = wide_crossover(before), after.estimate.crossover_batch
        claimed = lever.claim.speedup if lever.claim is not None else None
        best = _best(lever, tokens, crossover)
        past = tokens > crossover
        if not past and (tokens <= narrow or claimed is None or claimed <= GRACE * best):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            f"{tokens} tokens a step: 16-bit linear layers wait for arithmetic from"
            f" {crossover:,.0f}, {weights.name} from {narrow:,.0f}; what is left is"
            f" {factor(best)} at most",
            why="weight-only formats multiply in 16 bits",
            instead="a format that the matrix units multiply: W8A8, W4A8, NVFP4",
            facts=lever_facts(lever),
            numbers={
                **lever_numbers(lever),
                "tokens_per_step": tokens,
                "crossover_16_bit_tokens": crossover,
                "crossover_tokens": narrow,
            },
            confidence=None if is_stated(audit, "batch", "hardware") else Confidence.MEDIUM,
        )


def _is_weight_only(lever: LeverAudit) -> bool:
    before, after = lever.before.deployment, lever.after.deployment
    wide = before.weights is None or before.weights.is_wide
    narrower = lever.lever.machine_kind.startswith("quantize.weights.")
    return wide and narrower and after.weights is not before.weights and after.activations.bits > 8


def _best(lever: LeverAudit, tokens: int, crossover: float) -> float:
    """The speedup if the linear layers gained all that their arithmetic leaves."""
    share = gemm_share(lever.before)
    gain = max(1.0, min(lever.byte_ratio, crossover / tokens))
    return 1.0 / (1.0 - share + share / gain)
