"""## What it does
Flags a mixture of experts of which one token is said to read every expert, or all parameters.

## Why is this bad
A token is routed to k of E experts a layer. At batch 1 a 30B-A3B reads about a tenth of its weights;
the total counts for what must be held. Only with many tokens in a step are nearly all experts read:
E x (1 - (1 - k/E)^T).

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

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_small_batch

RULE = Rule(
    code="MOE003",
    name="moe-total-params-read-per-token",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.MOE_TOTAL_READ,
    about=(PROSE,),
    flagged=(
        """\
Mixtral has 47B parameters, «so each token reads 94 GB of weights at batch 1.»
""",
    ),
    passing=(
        """\
A token of Mixtral reads 2 of 8 experts.
""",
        """\
At batch 64 nearly all experts of the MoE are read in each step.
""",
    ),
)

_GIGABYTES = re.compile(r"(\d+(?:\.\d+)?) ?GB\b(?!/s)")
_SIZES = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B\b")
_NEARLY = 0.8
"""Of all weights: more than any routed share of the models at hand."""


def check(audit: Audit) -> Iterator[Finding]:
    """One token that reads all experts."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a token is routed to a few experts; the total is what must be held",
        instead="count the shared layers and the routed experts of one token",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    sparse = "MOE" in statement.nearby or statement.frame.active_parameters is not None
    if sure is None or not sparse or statement.phase in NO_DECODE:
        return None
    if statement.kind is not Kind.READS or not is_small_batch(statement):
        return None
    if "AGGREGATE" in statement.sentence or not said.has(r"token"):
        return None
    if _reads_all(said):
        return Wrong(
            "one token reads the shared layers and its routed experts (2 of 8, 8 of 128 a layer),"
            " not all of them",
            sure,
        )
    return None


def _reads_all(said: Said) -> bool:
    statement = said.statement
    if re.search(
        r"\b(?:only|just|fraction|few|active|part of|must|held|fit)\b",
        statement.text,
        re.IGNORECASE,
    ):
        return False
    if said.has(r"(?:all|through) (?:the |its )?(?:\d+ )?experts|every expert"):
        return True
    if not re.search(r"token", statement.text):
        return False
    if re.search(r"\b(?:all|every|entire|full|whole|complete)\b", statement.text, re.IGNORECASE):
        return True
    sizes = [float(size) for size in _SIZES.findall(statement.context_text)]
    read = [float(size) for size in _GIGABYTES.findall(statement.text)]
    bits = statement.frame.weight_bits or 16.0
    return bool(sizes and read) and max(read) > _NEARLY * max(sizes) * bits / 8.0
