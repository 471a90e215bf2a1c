"""Words by which a token reads every expert of a mixture, or costs what a dense model does."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.prose.experts import (
    ALL_EXPERTS,
    FOR_EACH,
    HELD,
    LIKE_DENSE,
    OTHER_READER,
    PART_OF,
    TAKEN,
    whole_read,
)
from advisor.prose.model import Kind
from advisor.said import Said, sizes_of
from advisor.told.all_weights import tells_all_bytes, tells_all_parameters
from advisor.told.asked import question_before

_QUALITY: Final = (
    r"\b(?:quality|benchmark|mmlu|accura\w+|smart|knows?|knowledge|vram|train\w*"
    r"|memory(?! (?:traffic|bus|bandwidth|reads)))\b"
)


def is_like_dense(said: Said) -> bool:
    """Whether a mixture is said to run like a dense model of all its parameters."""
    statement = said.statement
    told = LIKE_DENSE.search(statement.text)
    concluded = statement.opener in {"so", "hence", "thus", "therefore", "which"}
    if concluded and "BYTES" in statement.clause and ALL_EXPERTS.search(statement.sentence_text):
        concluded = False  # the traffic is a figure of its own, and no mere consequence
    if told is None or concluded or statement.kind is not Kind.READS or HELD.search(statement.text):
        return False
    if re.search(_QUALITY, statement.sentence_text, re.IGNORECASE):
        return False
    size = float(told[1] or told[2]) * 1e9
    total, active = sizes_of(statement)
    if total is None or abs(size - total) > 0.1 * total:
        return False
    return active is not None or "MOE" in statement.nearby


_OF_FEW: Final = Form(
    r"\b(?:most or all|only (?!after|once|when)|just|fraction|few|active (?:weights|parameters"
    r"|part|experts)"
    r"|part of|score[sd]?|rank(?:s|ed)?|trained|training|over time|eventually|in the long run"
    r"|already|by then|calibrat\w*|routed to|at least one token|(?:that|which) (?:are|is) (?:hit"
    r"|needed)|first (?:\w+ )?layers|(?:experts?|ones?) (?:it|they) (?:needs?|uses?|chose|chooses?"
    r"|picks?|selects?)"
    r"|(?:chosen|selected|picked) ones|(?:medium|moderate|large|larger"
    r"|high|higher|big|bigger) batch(?:es)?"
    r"|balanc\w+|unless|except|any of|spread\w*|distribut\w*|shard\w*"
    r"|places?|(?:two|2|four|eight) of them|first (?:forward )?pass|paged? in|warm-?up"
    r"|download\w*)\b"
)
_ALL_WEIGHTS: Final = Form(
    r"\b(?:all|entire|full|whole|complete)\b(?: of)?(?: the| its)?"
    r"(?: \d[\d.]* ?(?:B|GB|billion)?)? ?(?:weight sets?|weights?|parameters|parameter sets?|model"
    r"|checkpoint|file|size|expert (?:table|bank|layer)|matrices|experts?|bytes|GB|B\b)"
    r"|\bcomplete pass over\b|\btotal (?:weight|parameter|size|weights|parameters)\b"
    r"|\bevery (?:single )?(?:weight|parameter|matrix|expert|byte)\b"
)
_DENSE_LAYERS: Final = Form(r"\blayers\b[^.;:]{0,32}? (?:are|is|stay) dense\b")
"""Layers of a mixture that have no experts."""
_LOADING: Final = Form(
    r"\b(?:\d+ (?:minutes?|seconds?)|start-?up|cold start|at start|load(?:ing)? (?:time|takes?|took"
    r"|the checkpoint)|from (?:disk|ssd|nvme|storage)|into (?:the )?(?:gpu |device )?(?:hbm|vram"
    r"|memory))\b"
)
"""What is read once, when a model is loaded."""


def reads_all(said: Said) -> bool:
    """Whether every expert, or every weight, is said to be read for a token."""
    statement = said.statement
    per_token = statement.kind is Kind.AMOUNT and re.search(
        r"GB (?:per|for each) token", statement.text
    )
    if statement.kind is not Kind.READS and not per_token:
        return False
    text = statement.text
    if OTHER_READER.search(text) is not None or _DENSE_LAYERS.search(statement.sentence_text):
        return False
    asked = question_before(statement) or ""
    alone = FOR_EACH.search(f"{asked} {statement.sentence_text}") or statement.is_single
    if (whole := whole_read(text)) is not None and alone:
        if _LOADING.search(statement.sentence_text):
            return False
        return not _is_partly(text[slice(*whole)]) and not re.search(PART_OF, text)
    if _is_partly(text) or re.search(PART_OF, text) or _LOADING.search(text) is not None:
        return False
    if not (alone or said.has(r"\btokens?\b")):
        return False
    if ALL_EXPERTS.search(text) and TAKEN.search(text):
        return bool(alone)
    if not re.search(r"token|step|each word", statement.sentence_text) or not TAKEN.search(text):
        return False
    if re.match(r"\W*(?:(?:for|in|with) )?(?:(?:an?|the|any) )?dense\b", text, re.IGNORECASE):
        return False
    if _ALL_WEIGHTS.search(text) or tells_all_parameters(said):
        return True
    return tells_all_bytes(said)


def _is_partly(text: str) -> bool:
    """Whether words are of a part, or of what must be held."""
    return _OF_FEW.search(text) is not None or HELD.search(text) is not None
