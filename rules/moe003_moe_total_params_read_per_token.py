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
from typing import TYPE_CHECKING

from advisor.audit import Audit
from advisor.evidence import is_stated
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.operands import routed, sentences_of, stored_weight_bytes
from advisor.prose.experts import (
    ALL_EXPERTS,
    CANNOT_PASS,
    LIKE_DENSE,
    TRAFFIC_KEPT,
    whole_read,
)
from advisor.prose.model import Kind, Statement, Status
from advisor.rule import CLAIMS, PROSE, STATEMENTS, Rule
from advisor.said import (
    NO_DECODE,
    Said,
    Wrong,
    bandwidth_of,
    confidence_of,
    is_small_batch,
    many_rows,
)
from advisor.wording import size

if TYPE_CHECKING:
    from advisor.prose.frame import Frame

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
    """One token, or one step at batch 1, that takes all weights: in bytes, in time or in words."""
    statement = said.statement
    sure = _sure(statement)
    sparse = "MOE" in statement.nearby or statement.frame.active_parameters is not None
    sparse = sparse or TRAFFIC_KEPT.search(statement.text) is not None
    if _DENSE_LABEL.match(statement.sentence_text):
        return None
    if sure is None or not sparse or statement.phase in NO_DECODE:
        return None
    if not is_small_batch(statement) or (statement.frame.batch or 1) > 1:
        return None
    if re.search(_SEVERAL, statement.text, re.IGNORECASE) or statement.is_aggregate:
        return None
    if many_rows(said) > 1 or said.has(r"\b\d{2,5} tokens per step|\bat that load\b"):
        return None
    if "AGGREGATE" in statement.sentence and statement.frame.total_bandwidth_gbs is None:
        return None
    if (told := _all_bytes(said)) is not None:
        return Wrong(
            f"{told / 1e9:.0f} GB are all weights of the model; one token reads the shared layers"
            f" and its routed experts{_share(statement)}",
            sure,
            numbers={"total_bytes": told},
        )
    if (took := _time_of_all(said)) is not None:
        return Wrong(
            f"{took:.3g} ms are all weights over the bandwidth; one token reads the shared layers"
            f" and its routed experts{_share(statement)}",
            sure,
            numbers={"total_bytes": _stored(statement.frame)},
        )
    dense = _is_like_dense(said)
    if dense or _reads_all(said):
        kept = TRAFFIC_KEPT.search(statement.text) is not None
        return Wrong(
            "one token reads the shared layers and its routed experts (2 of 8, 8 of 128 a layer),"
            f" not all of them{_share(statement)}",
            sure,
            topic="dense" if dense else "traffic" if kept else "",
        )
    return None


_DENSE_LABEL = Form(r"\W*(?:an? |the )?dense\b[^.;:]{0,32}:")
"""A sentence that begins with the dense model that it is about."""
_WAVERING = r"\b(?:may|might|perhaps|possibly|maybe|could|seems?|appears?|sometimes)\b"


def _sure(statement: Statement) -> Confidence | None:
    """As the text asserts it; a ceiling that it computes is no hedge."""
    if statement.status is Status.HEDGED and not re.search(
        _WAVERING, statement.text, re.IGNORECASE
    ):
        return Confidence.HIGH
    if statement.status is Status.REJECTED and _OPTION.match(statement.context_text):
        return Confidence.HIGH
    if statement.status is Status.DENIED and CANNOT_PASS.search(statement.text):
        return Confidence.HIGH if statement.tpot_ms is not None else None
    return confidence_of(statement)


_OPTION = Form(
    r"\W*(?:alternative|option|variant|candidate|choice|design"
    r"|plan)\b[^.:]{0,60}?\((?:we )?(?:rejected"
    r"|discarded|dismissed|not (?:chosen|taken|pursued)|ruled out|declined)"
)
"""An option of which is told why it was not taken: the reason is the author's own."""


def _share(statement: Statement) -> str:
    """Active of all parameters, where they are known."""
    frame = statement.frame
    if frame.active_parameters is None or frame.parameters is None:
        return ""
    return f", {frame.active_parameters / 1e9:.3g}B of {frame.parameters / 1e9:.3g}B parameters"


_FOR_EACH = re.compile(
    r"\b(?:per|each|every|one|an?|new|generated|single|next) (?:\w+[- ]){0,2}?"
    r"(?:tokens?|step|word)\b|\bdecode step\b|\b(?:each|every) time\b|\bper-token\b"
    r"|\btokens? (?:needs?|costs?|takes?|drags?|pulls?|reads?|streams?)\b",
    re.IGNORECASE,
)
_HELD = Form(
    r"\b(?:resident|held|holds?|hosts?|memory needed|needed to|fits?|capacity|stored?|kept|sit|sits"
    r"|live|lives|occup\w+|footprint"
    r"|allocat\w+|disk|download\w*|vram|must be in|have to be in|available"
    r"|gb of (?:\w+ )?(?:memory|ram|hbm))\b"
)
"""What must be there, which is rightly all."""
_TAKEN = Form(
    r"\b(?:travel|flow|arriv|leav|read|stream|load|fetch|pull|mov|drag|cross|travers|touch"
    r"|go(?:es)? (?:over|through)|pass|haul|shift|transfer|transport|suck|shovel|need|cost|traffic"
    r"|through|per token|bandwidth|visit|walk|run|sweep|activat|execut|evaluat|comput"
    r"|us(?:e|es|ed)\b|tak(?:e|es|en)\b|bytes)\w*"
)
_CLOSE = {True: (0.92, 1.08), False: (0.85, 1.3)}
"""All weights at 8 bits and more, and below, where scales and wide parts add to them."""
_UNSTATED_BITS = (16.0, 8.0, 4.5)
_TIMED = (
    r"weights|read|stream|pull|bandwidth|bus|/ ?\d|floor|limit|roof|ceiling|bound|at most|best"
    r"|cannot|perfect|\bGB\b|\b(?:therefore|thus|hence|so)\b"
)
"""A time that is computed of bytes, and not measured."""


def _all_bytes(said: Said) -> float | None:
    """Bytes that a token is said to take and that are all weights of the model."""
    statement = said.statement
    total = statement.frame.parameters
    if statement.frame.active_parameters is None or total is None:
        return None
    if statement.kind not in {Kind.READS, Kind.AMOUNT}:
        return None
    text = statement.text
    if statement.table is not None:
        text = f"{statement.table[0][statement.table[2]]}: {text}"
    told_of = text if statement.table is not None else statement.sentence_text
    if not _FOR_EACH.search(told_of) or not _TAKEN.search(text):
        return None
    if _HELD.search(text) or re.search(_PART_OF, text) or re.search(r"\b(?:dense|active)\b", text):
        return None
    for amount in _GIGABYTES.finditer(text):
        told = float(amount[1]) * 1e9
        denied = _DENIED.search(text, 0, amount.start()) is not None
        denied |= _is_of_active(told, statement.frame) or _has_larger(said, told)
        if not denied and _is_all(told, total, statement.frame.weight_bits):
            return told
    return None


_DENIED = Form(r"\b(?:not|rather than|instead of|never|nor|against|than)(?: \w+){0,2} ?$")
"""What an amount is contrasted with."""


def _has_larger(said: Said, told: float) -> bool:
    """Whether the sentence tells all weights apart: "needs 94 GB of memory but reads 26 GB"."""
    frame = said.statement.frame
    amounts = [float(one[1]) * 1e9 for one in _GIGABYTES.finditer(said.statement.sentence_text)]
    larger = (amount for amount in amounts if amount > _FAR_MORE * told)
    return any(_is_all(amount, frame.parameters or 0.0, frame.weight_bits) for amount in larger)


_FAR_MORE = 1.5


def _is_of_active(told: float, frame: Frame) -> bool:
    """Whether an amount is what the active parameters come to in the format, or in a wide one."""
    active = frame.active_parameters or 0.0
    if frame.weight_bytes is not None and abs(told - frame.weight_bytes) < _SAME * told:
        return False  # what the file takes
    widths = (frame.weight_bits,) if frame.weight_bits is not None else (16.0, 8.0)
    return any(abs(told - active * bits / 8.0) < _SAME * told for bits in widths)


_SAME = 0.06


def _is_all(told: float, total: float, bits: float | None) -> bool:
    """Whether bytes are those of all parameters, at the stated width or a usual one."""
    for width in (bits,) if bits else _UNSTATED_BITS:
        low, high = _CLOSE[width >= 8.0] if bits else (0.88, 1.12)
        if low <= told / (total * width / 8.0) <= high:
            return True
    return False


def _stored(frame: Frame) -> float:
    """Bytes of all parameters, at the stated width or as stated."""
    if frame.parameters and frame.weight_bits:
        return frame.parameters * frame.weight_bits / 8.0
    return frame.weight_bytes or 0.0


_FILE_BYTES = (0.45, 2.2)
"""Of a parameter, in any format."""


def _is_file(frame: Frame) -> bool:
    """Whether stated bytes are those of a whole file, of a format that nobody names."""
    if frame.weight_bytes is None or frame.parameters is None or frame.weight_bits is not None:
        return False
    if frame.active_parameters is None or frame.weight_bytes < 2.2 * frame.active_parameters:
        return False
    return _FILE_BYTES[0] <= frame.weight_bytes / frame.parameters <= _FILE_BYTES[1]


_SAME_TIME = 0.07


def _time_of_all(said: Said) -> float | None:
    """A time per token, in ms, that is all weights over the bandwidth."""
    statement, frame = said.statement, said.statement.frame
    bandwidth = bandwidth_of(frame)
    if statement.kind is not Kind.FIGURE or statement.tpot_ms is None or bandwidth is None:
        return None
    if frame.active_parameters is None or frame.parameters is None or not said.says(_TIMED):
        return None
    stated = frame.weight_bytes
    if stated is None or not (
        _is_all(stated, frame.parameters, frame.weight_bits) or _is_file(frame)
    ):
        stated = frame.parameters * frame.weight_bits / 8.0 if frame.weight_bits else None
    if stated is None:
        return None
    whole = stated / bandwidth / 1e6
    right = abs(statement.tpot_ms / whole - 1.0) < _SAME_TIME
    # a quotient in the text may be rounded, or that of one of several cards
    near = 0.4 * whole <= statement.tpot_ms <= 1.35 * whole and said.says(
        r"\d ?/ ?\d|weights alone"
    )
    return statement.tpot_ms if right or near else None


_SEVERAL = (
    r"\b(?:[2-9]|\d{2,}|many|several) (?:\w+ )?(?:tokens(?!/| (?:per|a) s)|sequences|users|requests"
    r"|streams(?! (?:its|the|all|every|each|\d)))"
    r"|\b(?:hundreds|dozens|thousands|plenty|lots) of (?:\w+ )?(?:tokens|sequences|users|requests"
    r"|streams)"
    r"|\b(?:nearly|almost|far more|more) (?:\w+ )?(?:every|all|experts)"
)
"""Several tokens in a step touch many experts, and rightly."""
_PART_OF = (
    r"\d ?(?:G?B|gigs?)? (?:out )?of (?:(?:the |its )?\d|(?:it|them|that|those|which)\b)"
    r"|\b[oO]f (?:the|its|those) \d[\d.]* ?G?B\b[^.;:]{0,60}? (?:only|just|merely|but|some) \d"
    r"|(?<!each )(?<!all )of (?:the|its) (?:\d+ )?experts|(?<!\ball )\bof which\b"
)
_OF_FEW = Form(
    r"\b(?:most or all|only (?!after|once|when)|just|fraction|few|active (?:weights|parameters"
    r"|part|experts)"
    r"|part of|score[sd]?|rank(?:s|ed)?|trained|training|over time|eventually|in the long run"
    r"|anyway|already|by then|(?:medium|moderate|large|larger|high|higher|big|bigger) batch(?:es)?"
    r"|balanc\w+|unless|except|any of|spread\w*|distribut\w*|shard\w*"
    r"|places?|(?:two|2|four|eight) of them|first (?:forward )?pass|paged? in|warm-?up"
    r"|download\w*)\b"
)
_ALL_WEIGHTS = Form(
    r"\b(?:all|entire|full|whole|complete)\b(?: of)?(?: the| its)?"
    r"(?: \d[\d.]* ?(?:B|GB|billion)?)? ?(?:weight sets?|weights?|parameters|parameter sets?|model"
    r"|checkpoint|file|size|expert (?:table|bank|layer)|matrices|experts?|bytes|GB|B\b)"
    r"|\bcomplete pass over\b|\btotal (?:weight|parameter|size|weights|parameters)\b"
    r"|\bevery (?:single )?(?:weight|parameter|matrix|expert|byte)\b"
)


def _tells_all_parameters(said: Said) -> bool:
    """Whether the count of parameters that a token is said to take is that of all of them."""
    statement = said.statement
    total, active = statement.frame.parameters, statement.frame.active_parameters
    if total is None or active is None:
        return False
    if re.search(r"\bdense\b|\bof what\b", statement.text):
        return False
    told = [float(match[1]) * 1e9 for match in _COUNT.finditer(statement.text)]
    if any(abs(count - active) < _ALIKE_COUNT * active for count in told):
        return False  # both are told apart
    return any(abs(count - total) < _ALIKE_COUNT * total for count in told)


_COUNT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:B|billion)\b(?!-)(?! (?:total|in total|model))")
_ALIKE_COUNT = 0.06


def _is_like_dense(said: Said) -> bool:
    """Whether a mixture is said to run like a dense model of all its parameters."""
    statement = said.statement
    told = LIKE_DENSE.search(statement.text)
    concluded = statement.opener in {"so", "hence", "thus", "therefore", "which"}
    if concluded and "BYTES" in statement.clause and ALL_EXPERTS.search(statement.sentence_text):
        concluded = False  # the traffic is a figure of its own, and no mere consequence
    if (
        told is None
        or concluded
        or statement.kind is not Kind.READS
        or _HELD.search(statement.text)
    ):
        return False
    if re.search(_QUALITY, statement.sentence_text, re.IGNORECASE):
        return False
    size = float(told[1] or told[2]) * 1e9
    total, active = statement.frame.parameters, statement.frame.active_parameters
    if total is None or abs(size - total) > 0.1 * total:
        return False
    return active is not None or "MOE" in statement.nearby


_QUALITY = (
    r"\b(?:quality|benchmark|mmlu|accura\w+|smart|knows?|knowledge|vram|train\w*"
    r"|memory(?! (?:traffic|bus|bandwidth|reads)))\b"
)


_LOADING = Form(
    r"\b(?:\d+ (?:minutes?|seconds?)|start-?up|cold start|at start|load(?:ing)? (?:time|takes?|took"
    r"|the checkpoint)|from (?:disk|ssd|nvme|storage))\b"
)
"""What is read once, when a model is loaded."""


def _is_partly(text: str) -> bool:
    """Whether words are of a part, or of what must be held."""
    return _OF_FEW.search(text) is not None or _HELD.search(text) is not None


def _reads_all(said: Said) -> bool:
    """Whether every expert, or every weight, is said to be read for a token."""
    statement = said.statement
    per_token = statement.kind is Kind.AMOUNT and re.search(
        r"GB (?:per|for each) token", statement.text
    )
    if statement.kind is not Kind.READS and not per_token:
        return False
    text = statement.text
    alone = _FOR_EACH.search(statement.sentence_text) or statement.is_single
    if (whole := whole_read(text)) is not None and alone:
        if _LOADING.search(statement.sentence_text):
            return False
        return not _is_partly(text[slice(*whole)]) and not re.search(_PART_OF, text)
    if _is_partly(text) or re.search(_PART_OF, text):
        return False
    if not (alone or said.has(r"\btokens?\b")):
        return False
    if ALL_EXPERTS.search(text) and _TAKEN.search(text):
        return bool(alone)
    if not re.search(r"token|step|each word", statement.sentence_text) or not _TAKEN.search(text):
        return False
    if re.match(r"\W*(?:(?:for|in|with) )?(?:(?:an?|the|any) )?dense\b", text, re.IGNORECASE):
        return False
    if _ALL_WEIGHTS.search(text) or _tells_all_parameters(said):
        return True
    sizes = [float(size) for size in _SIZES.findall(statement.context_text)]
    read = [float(size) for size in _GIGABYTES.findall(text)]
    bits = statement.frame.weight_bits or 16.0
    if sizes and statement.frame.active_parameters and statement.frame.parameters:
        sizes.append(statement.frame.parameters / 1e9)  # the text may give the active ones alone
    return bool(sizes and read) and max(read) > _NEARLY * max(sizes) * bits / 8.0
