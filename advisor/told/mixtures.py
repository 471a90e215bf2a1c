"""Mixtures of experts beside dense models, or with fewer experts, by what one token reads.

A token reads the shared layers and its k experts of each layer. How many experts there are besides
is no matter for it, and a dense model of more parameters than those costs it more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.forms import Form
from advisor.prose.experts import FOR_EACH
from advisor.prose.model import Kind, Phase
from advisor.prose.named import models_in
from advisor.said import Said, sizes_of

if TYPE_CHECKING:
    from advisor.prose.model import Statement

_EXPERTS: Final = r"(?:routed |stored |cold |unused |rare(?:ly used)? |weakest )*experts?"
_FEWER_EXPERTS: Final = Form(
    rf"\b(?:prun|remov|delet|drop|merg|cut|halv|reduc|trimm?|discard|eliminat|fus)(?:e[sd]?|ing|ed"
    rf"|s)?"
    rf"\b[^.;:|,]{{0,32}}?\b{_EXPERTS}\b"
    rf"|\b(?:\d{{3}}|[3-9]\d) (?:down )?(?:to|->|→) \d+ {_EXPERTS}\b"
    rf"|\b\d+ (?:of the |of its )?{_EXPERTS}[^.;:|,]{{0,24}}? (?:to|in|into|->|→) (?:one|\d+)\b"
    rf"|\b{_EXPERTS} (?:of \S+ )?(?:(?:are|is|were|get|being|have been) )?(?:pruned|removed|deleted"
    r"|dropped|merged|cut|trimmed|discarded|gone)\b"
    rf"|\b(?:fewer|half (?:of )?(?:the|as many)|less) {_EXPERTS}\b(?! (?:per|a|for each|each) )"
)
"""Experts that are taken out of a model."""
_MORE_EXPERTS: Final = Form(
    rf"\b(?:twice|double|doubling|three times|more|four times|additional|extra"
    rf"|adding) (?:\w+ ){{0,3}}?"
    rf"{_EXPERTS}\b(?! (?:per|a|for each|each) )"
)
"""Experts that a model has more of."""
_LOWER_K: Final = (
    r"\btop-?\d+ (?:in place of|instead of|rather than|to|->|→)|\b(?:to|from) top-?\d"
    r"|\b(?:experts?|k) (?:per|for (?:each|every|a)|a|each) token\b(?! (?:stays?|is|are|remains?))"
    r"|\b(?:active|activated|selected|chosen|picked) experts\b|\b(?:the|its|least|weakest|lowest)"
    r" (?:\w+ ){0,2}?of (?:the|its) (?:\w+ )?(?:chosen|selected|active|top)"
    r"|\bskip\w*\b|\bactive parameters (?:fall|drop|shrink|go)"
)
"""A token itself gets fewer experts, and reads less."""
_HELD_ELSEWHERE: Final = (
    r"\boffload|\bpcie\b|\bhost\b|\bsystem ram\b|\bcpu\b|\bssd\b|\bnvme\b|\bdisk\b|\bswap"
    r"|\b(?:does|do|did)(?: not|n['’]t) fit|\bfits?\b|\bcards?\b to \b|\bexpert[- ]parallel"
    r"|\bhit rate\b"
    r"|\bcache (?:hit|of experts)|\bload balanc"
)
"""Experts that are fetched from elsewhere, of which fewer do help."""
_FEWER_BYTES: Final = Form(r"\b(?:bytes|traffic|reads?|weights? (?:reads?|traffic)|bandwidth)\b")


def by_stored_experts(said: Said) -> bool:
    """Whether a token is to read less, or come sooner, because a model stores fewer experts."""
    statement = said.statement
    if statement.phase is not Phase.DECODE or said.has(_LOWER_K) or said.has(_HELD_ELSEWHERE):
        return False
    told = _told_of_token(statement)
    if not told or statement.kind not in {Kind.GAIN, Kind.SAVING, Kind.LOSS}:
        return False
    if _FEWER_EXPERTS.search(_near(statement)) is not None:
        return statement.kind is not Kind.LOSS
    grown = _MORE_EXPERTS.search(statement.sentence_text) is not None
    return grown and statement.kind is Kind.LOSS


def _near(statement: Statement) -> str:
    """The sentence with those before it, or the row of a cell."""
    if statement.table is not None:
        return " | ".join(statement.table[1])
    of_them = statement.cause in {None, "MOE", "PRUNE"}
    return statement.context_text if of_them else statement.sentence_text


def _told_of_token(statement: Statement) -> bool:
    """Whether it is told of one token or user, in bytes or in time."""
    if statement.kind is Kind.SAVING and _FEWER_BYTES.search(statement.text) is None:
        return False
    return statement.is_single or FOR_EACH.search(statement.sentence_text) is not None


_DENSE: Final = Form(
    r"\bdense (?:\w+[- ]){0,2}?(\d{1,4}(?:\.\d+)?) ?B\b|\b(\d{1,4}(?:\.\d+)?) ?B dense\b"
)
_SLOWER: Final = Form(
    r"\b(?:slower|slowest|more slowly|(?:times|twice) as long|longer (?:for|per) (?:a|each"
    r"|one)? ?token"
    r"|behind)\b"
)
_BY_BYTES: Final = Form(
    r"\b(?:weights?|parameters?|params|bytes|billion|GB|trillion)\b[^.;]{0,60}?\b(?:read|fetch"
    r"|stream|load"
    r"|mov|pull|transfer|travers|drag|haul)\w*"
    r"|\b(?:read|fetch|stream|load|mov|pull|transfer|travers|drag"
    r"|haul)\w*\b[^.;]{0,40}?\b(?:weights?"
    r"|parameters?|params|bytes|billion|GB|trillion)\b"
)
"""Bytes to read, as the reason."""


def slower_than_dense(said: Said) -> bool:
    """Whether a mixture is said to be slower than a dense model that reads more for a token."""
    statement, text = said.statement, said.statement.sentence_text
    if statement.kind not in {Kind.LOSS, Kind.GAIN} or _SLOWER.search(statement.text) is None:
        return False
    slower, dense = _SLOWER.search(text), _DENSE.search(text)
    if slower is None or dense is None or said.has(_HELD_ELSEWHERE) or not _BY_BYTES.search(text):
        return False
    subjects = [one.start() for one in _MIXTURE.finditer(text, 0, slower.start())]
    if not subjects or subjects[-1] < dense.start() < slower.start():
        return False  # the dense one is the slower
    size = float(dense[1] or dense[2]) * 1e9
    active, total = _sizes(statement)
    return active is not None and total is not None and active < size < total


def _sizes(statement: Statement) -> tuple[float | None, float | None]:
    """Active and all parameters of the mixture that a sentence names, else those stated near by."""
    named = [
        one.model for one in models_in(statement.sentence_text) if one.model.active is not None
    ]
    if len(named) == 1:
        return named[0].active, named[0].parameters
    if (told := _BY_NAME.search(statement.sentence_text)) is not None:
        return float(told["active"]) * 1e9, float(told["total"]) * 1e9
    total, active = sizes_of(statement)
    return active, total


_MIXTURE: Final = Form(
    r"\b(?:moe|mixture|mixtral|deepseek|kimi|gpt-oss|glm|maverick|scout|\S*-A\d+(?:\.\d+)?B)\b"
)
"""A mixture of experts, by its kind or its name."""
_BY_NAME: Final = Form(r"\b(?P<total>\d+(?:\.\d+)?)B-A(?P<active>\d+(?:\.\d+)?)B\b")
