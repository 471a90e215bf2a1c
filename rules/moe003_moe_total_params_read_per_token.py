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

from advisor.audit import Audit
from advisor.evidence import is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.operands import routed, sentences_of, stored_weight_bytes
from advisor.prose.experts import CANNOT_PASS, TRAFFIC_KEPT
from advisor.prose.model import Statement, Status
from advisor.rule import CLAIMS, PROSE, STATEMENTS, Rule
from advisor.said import (
    NO_DECODE,
    Said,
    Wrong,
    confidence_of_bound,
    is_small_batch,
    many_rows,
    sizes_of,
)
from advisor.told.all_experts import is_like_dense, reads_all
from advisor.told.all_weights import all_bytes, stored_bytes, time_of_all
from advisor.told.mixtures import by_stored_experts, slower_than_dense
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


_ROWS = Form(r"\b(?:top|bottom|upper|lower|first|last|other|later) (?:\w+ )?(?:rows?|lines?)\b")


def _judge(said: Said) -> Wrong | None:
    """One token, or one step at batch 1, that takes all weights: in bytes, in time or in words."""
    statement = said.statement
    sure = _sure(statement)
    sparse = "MOE" in statement.nearby or sizes_of(statement)[1] is not None
    sparse = sparse or TRAFFIC_KEPT.search(statement.text) is not None
    if _DENSE_LABEL.match(statement.sentence_text) or _FROM_THERE.match(statement.sentence_text):
        return None
    if sure is None or not sparse or statement.phase in NO_DECODE:
        return None
    if not is_small_batch(statement) or (statement.frame.batch or 1) > 1:
        return None
    if re.search(_SEVERAL, statement.text, re.IGNORECASE):
        return None
    if statement.is_aggregate and not said.says(_ALL_COUNTED):
        return None
    summed = "AGGREGATE" in statement.sentence and _OF_ONE_TOKEN.search(statement.text) is None
    if summed and statement.frame.total_bandwidth_gbs is None and not said.says(_ALL_COUNTED):
        return None
    if _ROWS.search(statement.text) is not None:
        return None  # of a table whose rows tell the batch
    if many_rows(said) > 1 or said.has(
        r"\b\d{2,5} tokens (?:per step|routed|at once|in (?:a|one|each) (?:step|batch)|together)"
        r"|\bat that load\b"
    ):
        return None
    if (told := all_bytes(said)) is not None:
        return Wrong(
            f"{told / 1e9:.0f} GB are all weights of the model; one token reads the shared layers"
            f" and its routed experts{_share(statement)}",
            sure,
            numbers={"total_bytes": told},
        )
    if (took := time_of_all(said)) is not None:
        return Wrong(
            f"{took:.3g} ms are all weights over the bandwidth; one token reads the shared layers"
            f" and its routed experts{_share(statement)}",
            sure,
            topic="time",
            numbers={"total_bytes": stored_bytes(statement)},
        )
    if by_stored_experts(said):
        return Wrong(
            "a token reads the k experts of each layer that it is routed to, however many a model"
            " stores: fewer of them leave its bytes and its time as they are (1.00x at batch 1)",
            sure,
            topic="stored",
        )
    if slower_than_dense(said):
        return Wrong(
            "one token of a mixture reads the shared layers and its routed experts"
            f"{_share(statement)}: fewer bytes than the dense model, at equal precision",
            sure,
            topic="dense",
        )
    dense = is_like_dense(said)
    if dense or reads_all(said):
        kept = TRAFFIC_KEPT.search(statement.text) is not None
        return Wrong(
            "one token reads the shared layers and its routed experts (2 of 8, 8 of 128 a layer),"
            f" not all of them{_share(statement)}",
            sure,
            topic="dense" if dense else "traffic" if kept else "",
        )
    return None


_OF_ONE_TOKEN = Form(r"\b(?:for|per|on|with) (?:each|every|a|one|any)(?: single)? token\b|/token\b")
_ALL_COUNTED = (
    r"\d ?[BT] (?:parameters |params |weights )?(?:in )?total\b"
    r"|\btotal (?:parameters?|params|weights?|size|of \d[\d.]* ?[BT])\b"
)
"""What is summed are the parameters, and no users."""
_DENSE_LABEL = Form(r"\W*(?:an? |the )?dense\b[^.;:]{0,32}:")
"""A sentence that begins with the dense model that it is about."""
_FROM_THERE = Form(
    r"\W*(?:from (?:then|there|that (?:point|batch)|here) on(?:wards?)?|beyond (?:that|this)"
    r"|at (?:that|this) (?:point|batch)|past (?:that|this))\b"
)
"""A sentence of the load that the one before it names: "From then on every step streams all"."""


def _sure(statement: Statement) -> Confidence | None:
    """As the text asserts it; a ceiling that it computes is no hedge."""
    if statement.status is Status.REJECTED and _OPTION.match(statement.context_text):
        return Confidence.HIGH
    if statement.status is Status.DENIED and CANNOT_PASS.search(statement.text):
        return Confidence.HIGH if statement.tpot_ms is not None else None
    return confidence_of_bound(statement)


_OPTION = Form(
    r"\W*(?:alternative|option|variant|candidate|choice|design"
    r"|plan)\b[^.:]{0,60}?\((?:we )?(?:rejected"
    r"|discarded|dismissed|not (?:chosen|taken|pursued)|ruled out|declined)"
)
"""An option of which is told why it was not taken: the reason is the author's own."""


def _share(statement: Statement) -> str:
    """Active of all parameters, where they are known."""
    total, active = sizes_of(statement)
    if active is None or total is None:
        return ""
    return f", {active / 1e9:.3g}B of {total / 1e9:.3g}B parameters"


_SEVERAL = (
    r"\b(?:[2-9]|\d{2,}|many|several) (?:\w+ )?(?:tokens(?!/| (?:per|a) s)|sequences|users|requests"
    r"|streams(?! (?:its|the|all|every|each|\d)))"
    r"|\b(?:hundreds|dozens|thousands|plenty|lots) of (?:\w+ )?(?:tokens|sequences|users|requests"
    r"|streams)"
    r"|\b(?:nearly|almost|far more|more) (?:\w+ )?(?:every|all|experts)"
    r"|\bbatch (?!1\b|one\b)(?:\w+ ){0,2}?(?:reads?|touch\w*|loads?|streams?|visits?|needs?)\b"
)
"""Several tokens in a step touch many experts, and rightly."""
