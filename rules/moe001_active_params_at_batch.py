"""## What it does
Flags a token rate of a mixture of experts, or a sentence on what a step reads, that holds only if
the whole batch read the experts of one token.

## Why is this bad
Each token is routed by itself. T tokens touch E x (1 - (1 - k/E)^T) experts of a layer: of 128 with
8 active, 8 at one token, 52 at eight, 112 at thirty-two. "Active parameters" is a figure for batch
1; speculation raises T as well.

## Instead
Count distinct experts, and batch until they are all read anyway.

## When this rule is wrong
Routing within one sequence is correlated, so fewer experts are touched than independent routing
gives: the rule leaves a margin of 0.6.

## References
- MoESD, speculation and mixtures of experts: https://arxiv.org/abs/2505.19645
- Qwen3 technical report: https://arxiv.org/abs/2505.09388
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import claim_numbers, claims_of, is_stated, step_of_claim
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.operands import alone_at_batch_1, routed, sentences_of
from advisor.prose.model import Kind, Statement
from advisor.prose.shrinkage import gigabytes_in
from advisor.prose.tiers import FEW_EXPERTS
from advisor.rule import CLAIMS, PROSE, STATEMENTS, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of_bound, many_rows, sizes_of
from advisor.wording import factor, milliseconds, size

RULE = Rule(
    code="MOE001",
    name="active-params-at-batch",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OVER_CEILING,
    about=(CLAIMS, STATEMENTS, PROSE),
    flagged=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 32, context: 512}
claim: «450 tokens/s for each user»
""",
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 32, context: 512}
diagnosis: «a step of 32 users reads only 3B parameters»
""",
        """\
The 30B-A3B serves 64 users at once. «Each decode step still reads just the 3B active parameters.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 512}
claim: 150 tokens/s
""",
        """\
rooflint: 1
model: Qwen3-30B-A3B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 512}
diagnosis: a token reads only 3B parameters
""",
        """\
With 64 users nearly all experts of the 30B-A3B are read in each step, 3B parameters per token.
""",
    ),
)

_CORRELATED: Final = 0.6
"""Least part of the expected distinct experts that correlated routing touches."""


_AMOUNT: Final = Form(r"\bread(?:s|ing)?\b[^.;]{0,40}?(\d+(?:\.\d+)?)\s?(GB|B)\b")
_MORE: Final = 1.5
"""Bytes of the step over those of batch 1 from which the difference is no rounding."""


def check(audit: Audit) -> Iterator[Finding]:
    """One token's experts counted for many."""
    yield from _rates(audit)
    yield from _sentences(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="every token is routed by itself",
        instead="count distinct experts: E x (1 - (1 - k/E)^T) of a layer for T tokens",
    )


def _rates(audit: Audit) -> Iterator[Finding]:
    for claim in claims_of(audit):
        judged, step = claim.judged, step_of_claim(audit, claim)
        found = routed(step)
        if found is None or judged.tpot_ms is None or judged.metric != "tpot":
            continue
        floor, alone = step.estimate.floor_tpot_ms, alone_at_batch_1(step).estimate
        if judged.tpot_ms * GRACE >= _CORRELATED * floor or step.ledger.tokens == 1:
            continue
        if judged.tpot_ms * GRACE < alone.floor_ms / step.estimate.tokens_per_step:
            continue
        read, single = step.estimate.bytes.weights, alone.bytes.weights
        yield RULE.on_claim(
            audit,
            claim,
            f"{step.ledger.tokens} tokens touch {found.touched:.0f} of {found.experts} experts a"
            f" layer: {size(read)} of weights a step, {factor(read / single)} of batch 1, so"
            f" {milliseconds(floor)} ms at least",
            why="every token is routed by itself",
            instead="count distinct experts",
            numbers={**claim_numbers(audit, claim), "experts_touched": found.touched},
        )


def _sentences(audit: Audit) -> Iterator[Finding]:
    step = audit.baseline
    found = routed(step)
    if found is None or step.ledger.tokens == 1 or not is_stated(audit, "model", "batch"):
        return
    read, single = step.estimate.bytes.weights, alone_at_batch_1(step).estimate.bytes.weights
    parameters = sum(one.parameters for one in alone_at_batch_1(step).ledger.operators)
    if read < _MORE * single:
        return
    for sentence, index in sentences_of(audit):
        told = _AMOUNT.search(sentence.text)
        if told is None or re.search(r"\b(?:not|no|never|at batch 1)\b", sentence.text):
            continue
        share = float(told[1]) * 1e9 / (single if told[2].upper() == "GB" else parameters)
        if not 1.0 / _MORE < share < _MORE:
            continue
        yield RULE.on_sentence(
            audit,
            sentence,
            index,
            f"{step.ledger.tokens} tokens touch {found.touched:.0f} of {found.experts} experts a"
            f" layer, so a step reads {size(read)}, {factor(read / single)} of batch 1",
            why="every token is routed by itself",
            instead="count distinct experts",
            numbers={"read_bytes": read, "batch_1_bytes": single},
        )


_MANY: Final = 16
"""Tokens of a step that touch several times the experts of one, whatever k of E."""
_OF_ONE: Final = Form(
    r"\b(?:per|each|every|a|one|single) (?:\w+ )?(?:token|sequence|user|request)\b|\bapiece\b"
    r"|\b(?:nearly|almost) (?:all|every)\b|\bat batch (?:1|one)\b"
)


def _judge(said: Said) -> Wrong | None:
    """A step of many tokens that is said to read what one token reads."""
    statement, frame = said.statement, said.statement.frame
    sure = confidence_of_bound(statement)
    if sure is None or not _tells_reads(statement) or statement.phase in NO_DECODE:
        return None
    rows = max(frame.batch or 0, many_rows(said))
    text = _REASON.sub("", statement.text)
    told = FEW_EXPERTS.search(text)
    of_batch = _OF_BATCH.search(text) is not None and _tells_active_bytes(statement)
    if (rows < _MANY and not of_batch) or _OF_ONE.search(text) or _WHOLE.search(text):
        return None
    if told is None and not _tells_active_bytes(statement):
        return None
    if "MOE" not in statement.nearby and frame.active_parameters is None:
        return None
    amount = re.search(r"(\d+(?:\.\d+)?) ?(?:B|billion)\b", told[0]) if told else None
    if amount is not None and frame.active_parameters is not None:
        share = float(amount[1]) * 1e9 / frame.active_parameters
        if not _LEAST < share < 1.0 / _LEAST:
            return None
    rows = max(rows, _MANY)
    return Wrong(
        f"{rows} tokens are routed each by itself: of 128 experts with 8 active they touch"
        f" {128 * (1 - (1 - 8 / 128) ** rows):.0f} a layer, not 8",
        sure,
        ErrorClass.OTHER,
    )


def _tells_reads(statement: Statement) -> bool:
    """Whether it is told what is read, be it by an amount alone: "a step moves 13 GB"."""
    if statement.kind is Kind.AMOUNT:
        return _MOVES.search(statement.text) is not None
    return statement.kind is Kind.READS


_LEAST: Final = 0.7
_OF_BATCH: Final = Form(r"\b(?:the|a) (?:whole|entire|full|complete) batch\b")
"""A batch of which the size stands elsewhere or nowhere, and which is more than one token."""
_REASON: Final = Form(r"^\W*(?:since|because|as|given that) [^,;:.]{3,120}, ")
"""A reason that opens a sentence, which may well be of one token."""
_WHOLE: Final = Form(
    r"\b(?:full|whole|entire|total|complete|close to|nearly|almost|practically|virtually"
    r"|roughly all)\b(?! (?:batch|group|load)\b)"
)
"""What many tokens do read."""
_MOVES: Final = Form(r"\b(?:reads?|moves?|streams?|loads?|fetch(?:es)?|pulls?)\b[^.;:]{0,24}?\d")
_OF_STEP: Final = Form(r"\b(?:weights?|steps?|traffic|bytes)\b")
_WIDTHS: Final = (16.0, 8.0, 4.5)


def _tells_active_bytes(statement: Statement) -> bool:
    """Whether a step is said to read the bytes of the active parameters."""
    _, active = sizes_of(statement)
    if active is None or _OF_STEP.search(statement.text) is None:
        return False
    bits = statement.frame.weight_bits
    return any(
        _LEAST < one.gigabytes * 8e9 / (active * width) < 1.0 / _LEAST
        for one in gigabytes_in(statement.text)
        for width in ((bits,) if bits else _WIDTHS)
    )
