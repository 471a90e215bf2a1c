"""## What it does
Flags a speedup of speculation above the tokens that leave a pass: what acceptance and draft length
give, or draft tokens and one.

## Why is this bad
One pass over the weights yields E = (1 - a^(g+1)) / (1 - a) tokens at acceptance a with g draft
tokens, and never more than g + 1. Drafting and verifying take time on top, so the speedup stays
below E.

## Instead
Claim E / (g c + v), where c is the time of a draft token and v that of the verification, in steps.

## When this rule is wrong
For a tree the draft length is its depth, and the tokens it verifies count in v: state the depth or
the measured tokens per pass.

## References
- Leviathan et al.: Fast inference from transformers via speculative decoding:
  https://arxiv.org/abs/2211.17192
- Li et al.: EAGLE-3: https://arxiv.org/abs/2503.01840
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.prose.drafts import acceptance_in, drafted_in, tokens_per_pass
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.wording import digits, factor, factors, percent

RULE = Rule(
    code="SPC002",
    name="exceeds-acceptance-bound",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=(
        "speculate",
        "block_decoding",
        PROSE,
    ),
    flagged=(
        """\
Of the drafted tokens 12% are accepted. «Speculation makes a chat 3x faster.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: speculate», method: EAGLE-3, draft_tokens: 3, acceptance: 80%, claim: 5x tokens/s}
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
levers:
  - {«kind: speculate», method: ngram, draft_tokens: 5, tokens_per_pass: 1.4, claim: 2x}
""",
    ),
    passing=(
        """\
Of the drafted tokens 80% are accepted. Speculation makes a chat 2.4x faster.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE, draft_tokens: 60, tokens_per_pass: 4.5, claim: 2.5x}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE-3, draft_tokens: 5, tokens_per_pass: 3.4, claim: 2.3x}
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Claims above the tokens of a pass."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="no token leaves without a pass that verified it",
        instead="claim less than the tokens of a pass, or raise acceptance",
    )


def _levers(audit: Audit) -> Iterator[Finding]:
    """Claims of levers above what their drafts allow."""
    for lever in audit.levers:
        drafting, judged = lever.after.deployment.speculation, lever.claim
        if drafting is None or lever.lever.kind not in RULE.about or judged is None:
            continue
        claimed = judged.speedup
        most, drafted = drafting.tokens_per_pass, drafting.draft_tokens + 1.0
        stated = "draft_tokens" in lever.proposed.spans
        limit = most if most is not None else drafted
        if claimed is None or judged.tpot_ms is not None or claimed <= GRACE * limit:
            continue
        if most is None and not stated:
            continue
        told = f"{digits(limit, 2)} tokens leave a pass" if most else f"{limit:.0f} at most"
        yield RULE.on_lever(
            audit,
            lever,
            f"{factor(claimed)} is claimed of {drafting.draft_tokens} draft tokens:"
            f" {told}, and drafting and verifying take time; expected"
            f" {factors(lever.tpot.interval)}",
            why="no token leaves without a pass that verified it",
            instead=f"claim {factors(lever.tpot.interval)}",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "tokens_per_pass": limit},
        )


_LITTLE = 1.35
"""Tokens per pass that drafting and verifying may well eat up."""
_OF_DRAFT = Form(
    r"\b(?:draft(?:er|ing)?(?: model)?|small(?:er)? model|assistant(?: model)?) (?:\w+ ){0,2}?(?:is"
    r"|are|runs?|generates?|decodes?|takes?|costs?)\b"
)
"""The speed of the draft, and not of what it is drafted for."""
_NO_GAIN = Form(
    r"\b(?:no|not|only|hardly|barely|never|cannot|less|below|under|loses?|slower|off)\b"
)
_OTHERS = frozenset({"QUANT", "TP", "GRAPHS", "BATCH", "DISTILL", "KVQ"})


def _judge(said: Said) -> Wrong | None:
    """A gain above the tokens of a pass at the acceptance that the text gives."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.kind not in {Kind.GAIN, Kind.FREE}:
        return None
    if statement.phase in NO_DECODE or not _OTHERS.isdisjoint(statement.clause):
        return None
    if _OF_DRAFT.search(statement.text) is not None:
        return None
    text = statement.context_text
    if _ELSEWHERE.match(statement.next_text) is None:
        text = f"{text} {statement.next_text}"
    accepted = acceptance_in(text)
    if accepted is None:
        return None
    if "SPEC" not in statement.nearby and drafted_in(statement.context_text) is None:
        return None
    accepted = max([accepted, *map(float, _SHARE.findall(statement.sentence_text))])
    drafted = drafted_in(text)
    most = tokens_per_pass(drafted, accepted)
    if statement.speedup is None:
        certain = statement.kind is Kind.GAIN or _CERTAIN.search(statement.text) is not None
        if (
            most > _LITTLE
            or not certain
            or _NO_GAIN.search(_CONCEDED.sub("", statement.text)) is not None
        ):
            return None
    elif statement.speedup <= GRACE * most:
        return None
    told = f"{drafted} drafted tokens" if drafted is not None else "any number of drafted tokens"
    return Wrong(
        f"at an acceptance of {percent(accepted)} {told} leave {most:.2f} tokens a pass, less the"
        " time of drafting and verifying",
        sure,
        numbers={"acceptance": accepted, "tokens_per_pass": most},
    )


_ELSEWHERE = Form(r"\W*(?:on|for|in|with|against) (?!this\b|that\b|these\b|average\b)")
"""The next sentence is of another set of prompts: "On open-ended chat acceptance was 15%"."""
_CONCEDED = re.compile(r"^\W*(?:although|though|even though|while) [^,]{3,160}, ", re.IGNORECASE)
_SHARE = re.compile(r"(?<![\w.])0\.\d+(?![\w.]*\d?x)")
_CERTAIN = Form(r"\b(?:guarantee[ds]?|certain|sure|assured|always)\b")
