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

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.operands import gemm_share
from advisor.prose.model import Kind, Status
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


_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10}
_DRAFTED = re.compile(
    rf"\bdraft(?:s|ing|ed)? (?:of )?({'|'.join(_WORDS)}|\d{{1,2}})\b"
    rf"|\b({'|'.join(_WORDS)}|\d{{1,2}}) (?:draft(?:ed)?|proposed|guessed|speculative) tokens",
    re.IGNORECASE,
)
_NEVER = (
    r"never (?:\w+ ){0,2}?(?:slow|worse)"
    r"|(?:cannot|can not|can['’]t) (?:\w+ )?(?:slow|make \w+ worse)"
)
_ACCEPTED = r"accept|reject|agree|hit rate|at best|at most|up to|upper|ceiling|if all|theor"
_NEW_TEXT = (
    r"creative|stor(?:y|ies)|poem|poetry|fiction|any (?:text|prompt|task)|free[- ]form|brainstorm"
)


def _takes_all_drafts(said: Said) -> bool:
    """Whether a gain is as large as the draft is long, with no word on what is accepted."""
    statement, drafted = said.statement, _DRAFTED.search(said.statement.context_text)
    if drafted is None or statement.speedup is None or said.has(_ACCEPTED):
        return False
    word = (drafted[1] or drafted[2]).lower()
    count = _WORDS.get(word) or int(word)
    return count > 1 and 0.95 * count <= statement.speedup <= 1.05 * (count + 1)


def _unpredictable(said: Said, sure: Confidence) -> Wrong | None:
    """Drafts copied from the text so far, and a gain where little of it comes again."""
    statement = said.statement
    if statement.kind is not Kind.GAIN or said.has(_ACCEPTED):
        return None
    if re.search(_NEW_TEXT, statement.text, re.IGNORECASE) is None:
        return None
    return Wrong(
        "n-gram drafts repeat what the text already holds: where little recurs a pass yields hardly"
        " more than 1 token, about 1.0x",
        sure,
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if statement.kind is Kind.LOSS and statement.status is Status.DENIED and said.says(_NEVER):
        sure = Confidence.HIGH
    if sure is None or "SPEC" not in statement.nearby or statement.phase in NO_DECODE:
        return None
    if said.has(r"n-?gram|prompt lookup"):
        return _unpredictable(said, sure)
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
    never = statement.kind is Kind.LOSS and said.says(_NEVER) and "SPEC" in statement.sentence
    every = statement.kind is Kind.GAIN and named and _takes_all_drafts(said)
    if not (free or always or loaded or every or never):
        return None
    return Wrong(
        "4 drafted tokens make 5 tokens of each sequence: at batch 64 a step verifies 320, above"
        " the crossover of an H100 (295 in BF16); at 60% acceptance a pass yields 2.3 tokens",
        sure,
    )
