"""The load of a step in which drafts are verified, by the clause that claims their gain."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.prose.loads import BUSY, LARGE, last_load, most_load, sequences_in
from advisor.prose.model import Kind, Statement
from advisor.said import Said

_LONGEST_SHORT: Final = 8192
"""Tokens of context from which on decode stays bound by the cache at any batch."""


def sequences_of(said: Said) -> int:
    """The most sequences in a step that the sentence or its frame tells."""
    return max(said.statement.frame.batch or 0, sequences_in(said.statement.sentence_text))


_PARTED: Final = Form(
    r", (?:and |but )?(?:only |just |still )?(?:0\.\d+|1\.[0-2]\d?)[x×] (?:at|for|with|under)\b"
    r"|,? (?:and|but|while|whereas) (?:costs?|needs?|takes?|pays?|slows?|not|loses?)\b"
)
"""Two loads of which different things are said."""
_COMPARED: Final = re.compile(r"\b(?:same|just|exactly|as much) (?:as|like)\b.*", re.IGNORECASE)
"""What a load is compared with: "same as for a lone user"."""
SOURCE: Final = re.compile(
    r"\b(?:g[ai]ves?|given|brought|brings?|had|has|saw|seen|sees?|got|gets?|measured|show(?:s|ed"
    r"|n)?"
    r"|yield(?:s|ed)|found|known|of|from|for) (?:by |on |at |for |with )?(?:an? |the |our )?"
    r"(?:lone|single|one|idle|batch(?: size)? (?:1|one)|bs ?=? ?1)\b[^.;,]{0,24}?"
    r"(?= (?:still |also )?(?:carr|hold|appl|stay|surviv|remain|persist|transfer|is|will"
    r"|continue))",
    re.IGNORECASE,
)
"""The load at which a gain was seen that is carried over to another: "the 2.5x of a lone user"."""
_THERE: Final = Form(
    r"\b(?:there|its|it|same|too|also|as well|either|these|those|this|that|on top)\b"
)


def own_load(statement: Statement) -> int | None:
    """Sequences in a step by the clause: the first of two of which different things are said."""
    told = _COMPARED.sub("", statement.text)
    if statement.kind is Kind.CARRIED:
        told = SOURCE.sub("", told)
    parted = _PARTED.search(told)
    return most_load(told if parted is None else told[: parted.start()])


def is_full(said: Said) -> bool:
    """Whether a step is full: by its clause or sentence, or by what was told last before."""
    statement = said.statement
    own = own_load(statement)
    if own is not None and statement.table is None:
        return own >= LARGE
    full = sequences_in(statement.sentence_text) >= LARGE or said.says(BUSY)
    if full or "LARGE_BATCH" in statement.sentence or (statement.frame.batch or 0) >= LARGE:
        return True
    before = statement.context_text[: statement.context_text.rfind(statement.sentence_text)]
    return _goes_on(statement) and (last_load(before) or 0) >= LARGE


def _goes_on(statement: Statement) -> bool:
    """Whether a clause is about the load told before it.

    It points there, carries a figure over to it, or is the reason for a clause that does.
    """
    if statement.is_aggregate or statement.kind is Kind.CARRIED:
        return True
    reason = statement.opener in {"since", "because", "as"}
    told = statement.sentence_text if reason else statement.text
    return _THERE.search(told) is not None or (reason and _CARRIED_OVER.search(told) is not None)


_CARRIED_OVER: Final = Form(
    r"\b(?:carr(?:y|ies) over|still|remains?|holds?|keeps?|stays?|survives?)\b"
)


def is_long(said: Said) -> bool:
    """Whether decode stays bound by the cache, so that drafts keep paying."""
    context = said.statement.frame.context
    if context is not None:
        return context > _LONGEST_SHORT
    return "LONG" in said.statement.nearby
