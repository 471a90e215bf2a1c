"""## What it does
Flags a mixture of experts of which one token is said to read every expert, or all parameters.

## Why is this bad
A token is routed to k of E experts a layer. At batch 1 a 30B-A3B reads about a tenth of its
weights; the total counts for what must be held. Only with many tokens in a step are nearly all
experts read: E x (1 - (1 - k/E)^T).

## Instead
Count shared layers and k experts per layer at batch 1, and the formula above at larger batches.

## When this rule is wrong
At a batch where the experts are saturated: state the batch.

## References
- Jiang et al.: Mixtral of Experts: https://arxiv.org/abs/2401.04088
- Huang et al.: MoESD: https://arxiv.org/abs/2505.19645
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from advisor.audit import Audit
from advisor.evidence import is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.operands import routed, sentences_of, stored_weight_bytes
from advisor.prose.model import Kind
from advisor.rule import CLAIMS, PROSE, STATEMENTS, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_small_batch
from advisor.wording import size

RULE = Rule(
    code="MOE003",
    name="moe-total-params-read-per-token",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.MOE_TOTAL_READ,
    about=(STATEMENTS, CLAIMS, PROSE),
    flagged=(
        """\
Mixtral has 47B parameters, «so each token reads 94 GB of weights at batch 1.»
""",
        """\
rooflint: 1
model: Mixtral-8x7B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: «each token reads 94 GB of weights»
""",
    ),
    passing=(
        """\
A token of Mixtral reads 2 of 8 experts.
""",
        """\
At batch 64 nearly all experts of the MoE are read in each step.
""",
        """\
rooflint: 1
model: Mixtral-8x7B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
diagnosis: 94 GB of weights must be resident
""",
        """\
rooflint: 1
model: Mixtral-8x7B
hardware: 2 x H100 SXM
workload: {phase: decode, batch: 64, context: 1k}
diagnosis: a step reads 94 GB of weights
""",
    ),
)

_GIGABYTES = re.compile(r"(\d+(?:\.\d+)?) ?GB\b(?!/s)")
_SIZES = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B\b")
_NEARLY = 0.8
"""Of all weights: more than any routed share of the models at hand."""


def check(audit: Audit) -> Iterator[Finding]:
    """One token that reads all experts."""
    yield from _sentences(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a token is routed to a few experts; the total is what must be held",
        instead="count the shared layers and the routed experts of one token",
    )


_AMOUNT = re.compile(r"\bread(?:s|ing)?\b[^.;]{0,40}?(\d+(?:\.\d+)?)\s?(GB|B)\b")
_TOUCHED = 0.9
"""Of all experts: from here on nearly everything is read."""


def _sentences(audit: Audit) -> Iterator[Finding]:
    """Sentences that let a token read every expert."""
    step = audit.baseline
    found = routed(step)
    if found is None or found.touched >= _TOUCHED * found.experts:
        return
    if not is_stated(audit, "model", "batch"):
        return
    total, read = stored_weight_bytes(step.deployment), step.estimate.bytes.weights
    parameters = step.deployment.model.total_parameters
    for sentence, index in sentences_of(audit):
        told = _AMOUNT.search(sentence.text)
        if told is None or re.search(r"\b(?:not|no|never)\b", sentence.text):
            continue
        share = float(told[1]) * 1e9 / (total if told[2] == "GB" else parameters)
        if not _TOUCHED <= share <= 1.0 / _TOUCHED:
            continue
        yield RULE.on_sentence(
            audit,
            sentence,
            index,
            f"a step of {step.ledger.tokens} tokens reads {size(read)}: the shared layers and"
            f" {found.touched:.0f} of {found.experts} experts a layer, not all {size(total)}",
            why="a token is routed to a few experts; the total is what must be held",
            instead="count the shared layers and the routed experts",
            numbers={"read_bytes": read, "total_bytes": total},
        )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    sparse = "MOE" in statement.nearby or statement.frame.active_parameters is not None
    if sure is None or not sparse or statement.phase in NO_DECODE:
        return None
    if not is_small_batch(statement) or (statement.frame.batch or 1) > 1:
        return None
    if re.search(_SEVERAL, statement.text, re.IGNORECASE):
        return None
    if "AGGREGATE" in statement.sentence or not said.has(r"token"):
        return None
    if _takes_all(said):
        assert statement.tpot_ms is not None
        return Wrong(
            f"{statement.tpot_ms:.3g} ms are all weights over the bandwidth; one token reads"
            f" {statement.frame.active_parameters or 0:.3g} of "
            f"{statement.frame.parameters or 0:.3g}"
            " parameters",
            sure,
        )
    if (told := _whole_model(said)) is not None:
        return Wrong(
            f"{told / 1e9:.0f} GB are all weights of the model; one token reads the shared layers "
            f"and"
            " its routed experts",
            sure,
            numbers={"total_bytes": told},
        )
    per_token = statement.kind is Kind.AMOUNT and re.search(
        r"GB (?:per|for each) token", statement.text
    )
    if statement.kind is not Kind.READS and not per_token:
        return None
    if _reads_all(said):
        return Wrong(
            "one token reads the shared layers and its routed experts (2 of 8, 8 of 128 a layer),"
            " not all of them",
            sure,
        )
    return None


_NAMED = re.compile(
    r"\b(?:mixtral|deepseek|qwen|gpt-oss|llama-?4|dbrx|grok|glm|kimi|minimax|olmoe)[\w.-]*",
    re.IGNORECASE,
)
_FOR_EACH = r"\b(?:per|each|every|one|a|an|new|generated) (?:\w+ )?token"
_ALIKE = 0.08


def _whole_model(said: Said) -> float | None:
    """Bytes of all weights of a named model, where they are what one token is said to take."""
    statement, frame = said.statement, said.statement.frame
    if not re.search(_FOR_EACH, statement.text, re.IGNORECASE):
        return None
    total = next(filter(None, map(_total, _NAMED.findall(statement.context_text))), None)
    if total is None or re.search(r"\b(?:resident|held?|fits?|capacity)\b", statement.text):
        return None
    told = [float(size) * 1e9 for size in _GIGABYTES.findall(statement.text)]
    if statement.kind is Kind.FIGURE and statement.tpot_ms and frame.bandwidth_gbs:
        told.append(statement.tpot_ms * 1e6 * frame.bandwidth_gbs * (frame.devices or 1))
    for bits in (frame.weight_bits,) if frame.weight_bits else (16.0, 8.0):
        whole = total * bits / 8.0
        if any(abs(one - whole) < _ALIKE * whole for one in told):
            return whole
    return None


@lru_cache(maxsize=256)
def _total(name: str) -> float | None:
    from advisor.catalog.model_names import resolve_model  # noqa: PLC0415 - few texts need it
    from advisor.catalog.models import load_model  # noqa: PLC0415

    candidates = resolve_model(name.rstrip(".-")).candidates
    return float(load_model(candidates[0]).total_parameters) if candidates else None


def _takes_all(said: Said) -> bool:
    """A time per token that is all weights over the bandwidth."""
    statement, floor = said.statement, said.floor
    frame = statement.frame
    if statement.kind is not Kind.FIGURE or statement.tpot_ms is None or floor is None:
        return False
    if frame.active_parameters is None or frame.parameters is None:
        return False
    if not said.says(r"weights|read|stream|bandwidth|/ ?\d"):
        return False
    whole = floor.ms * frame.parameters / frame.active_parameters
    return 0.4 * whole <= statement.tpot_ms <= 1.35 * whole and statement.tpot_ms > 2.5 * floor.ms


_SEVERAL = (
    r"\b(?:[2-9]|\d{2,}|many|several) (?:\w+ )?(?:tokens|sequences|users|requests|streams)"
    r"|\b(?:nearly|far more|more) (?:\w+ )?(?:every|all|experts)"
)
"""Several tokens in a step touch many experts, and rightly."""
_PART_OF = r"\d ?B? of (?:the |its )?\d|of (?:the|its) (?:\d+ )?experts"


def _reads_all(said: Said) -> bool:
    statement = said.statement
    if re.search(
        r"\b(?:only|just|fraction|few|active|part of|must|held|fit)\b",
        statement.text,
        re.IGNORECASE,
    ):
        return False
    if re.search(_PART_OF, statement.text):
        return False
    if said.has(r"(?:all|through) (?:the |its )?(?:\d+ )?experts|every expert"):
        return True
    if not re.search(r"token", statement.text):
        return False
    if re.search(
        r"\b(?:all|entire|full|whole|complete)\b|\bevery (?!\w*(?: \w+)? ?token)",
        statement.text,
        re.IGNORECASE,
    ):
        return True
    sizes = [float(size) for size in _SIZES.findall(statement.context_text)]
    read = [float(size) for size in _GIGABYTES.findall(statement.text)]
    bits = statement.frame.weight_bits or 16.0
    return bool(sizes and read) and max(read) > _NEARLY * max(sizes) * bits / 8.0
