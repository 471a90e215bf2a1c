"""## What it does
Flags speculative decoding that is said to pay at any load, to cost nothing when drafts are wrong,
or to keep its gain at a large batch.

## Why is this bad
Verifying g drafted tokens makes B x (g + 1) tokens a step. Near the crossover batch the linear
layers are compute-bound, and rejected tokens take compute from other requests; the draft itself
takes time everywhere. Tokens per pass are (1 - a^(g+1)) / (1 - a) at acceptance a, and the step
costs g x c more.

## Instead
State acceptance (or tokens per pass), draft length, batch and temperature, and switch drafting
off above a load.

## When this rule is wrong
At long context decode stays bound by the KV cache at any batch, and speculation can keep paying;
n-gram drafts cost next to nothing at small batch.

## References
- Leviathan et al.: Fast inference from transformers via speculative decoding:
  https://arxiv.org/abs/2211.17192
- Chen et al.: MagicDec: https://arxiv.org/abs/2408.11049
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.operands import gemm_share
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.wording import digits, factor, factors

RULE = Rule(
    code="SPC003",
    name="verify-no-longer-free",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=("speculate", PROSE),
    flagged=(
        """\
«At batch 256 speculative decoding will still give 2.5x.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 64, context: 512}
weights: int4-g128
levers:
  - {«kind: speculate», method: EAGLE, draft_tokens: 7, acceptance: 60%, claim: 1.5x}
""",
    ),
    passing=(
        """\
Speculative decoding gave 2.3x at batch 1 with 2.9 accepted tokens per pass.
""",
        """\
Speculative decoding stops paying at batch 64 and more.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%, claim: 1.8x}
""",
    ),
)

_LARGE = 64
"""Sequences with which four drafted tokens each reach the crossover of an H100 (295)."""


def check(audit: Audit) -> Iterator[Finding]:
    """Speculation without a condition, or at a batch where it pays no more."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why=(
            "verification takes compute, and drafting takes time, whether drafts are accepted or "
            "not"
        ),
        instead="state acceptance, draft length and batch; switch drafting off above a load",
    )


_HALF = 0.5


def _levers(audit: Audit) -> Iterator[Finding]:
    """Drafts whose verification crosses into arithmetic."""
    for lever in audit.levers:
        before, after = lever.before.estimate, lever.after.estimate
        tokens = lever.after.ledger.tokens
        if lever.lever.kind != "speculate" or tokens <= after.crossover_batch:
            continue
        if gemm_share(lever.after) <= _HALF or not promises_speed(lever):
            continue
        verify = after.expected_ms.mid * (1.0 - after.shares.draft) / before.expected_ms.mid
        yield RULE.on_lever(
            audit,
            lever,
            f"a pass verifies {tokens} tokens, linear layers wait for arithmetic from"
            f" {after.crossover_batch:,.0f}: it takes {factor(verify)} of a step for"
            f" {digits(after.tokens_per_step, 2)} tokens, {factors(lever.tpot.interval)}",
            why="speculation and batching spend the same headroom",
            instead="fewer draft tokens, or none above a load",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "verify_steps": verify, "tokens_per_step": tokens},
        )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or "SPEC" not in statement.nearby or statement.phase in NO_DECODE:
        return None
    if said.has(r"n-?gram|prompt lookup"):
        return None
    named = "SPEC" in statement.sentence or (statement.cause == "SPEC" and statement.is_linked)
    free = statement.kind is Kind.FREE and named
    always = (
        statement.kind is Kind.GAIN
        and "ALWAYS" in statement.sentence
        and "SPEC" in statement.sentence
    )
    large = (statement.frame.batch or 0) >= _LARGE or "LARGE_BATCH" in statement.sentence
    loaded = (
        statement.kind is Kind.GAIN
        and large
        and not (statement.is_aggregate or statement.is_single)
        and not said.says(r"\boff\b|disabl|slow|less")
    )
    if not (free or always or loaded):
        return None
    return Wrong(
        "4 drafted tokens make 5 tokens of each sequence: at batch 64 a step verifies 320, above"
        " the crossover of an H100 (295 in BF16); at 60% acceptance a pass yields 2.3 tokens",
        sure,
    )
