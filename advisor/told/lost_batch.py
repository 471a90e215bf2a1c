"""The cache of one sequence that is told as that of a step of several."""

from __future__ import annotations

from advisor.forms import Form
from advisor.prose.lengths import sequences_in
from advisor.prose.model import Statement
from advisor.prose.shrinkage import gigabytes_in
from advisor.said import Said

_OF_ONE_CACHE = Form(
    r"\d ?GB (?:(?:per|for (?:each|every|one)|each|every) (?:\w+ )?(?:sequence|user|session|stream"
    r"|request|chat|conversation|one)|each|apiece)\b|\bcaches (?:of|at|with) (?:about )?\d"
    r"|\b(?:remains?|left|free|spare|available|over|room)\b"
)
"""Bytes that are told as those of one of several, or that are free for them."""

_ONE_USER = Form(r"\b(?:1|one|single|lone) (?:user|stream|sequence|session|request|client)\b")


def _is_of_one_user(statement: Statement) -> bool:
    """Whether the column of a cell, or the name of its row, tells of one sequence alone."""
    columns, cells, own = statement.table or ((), (), 0)
    labels = (*columns[own : own + 1], *cells[:1])
    return any(_ONE_USER.search(label) is not None for label in labels)


def lost_batch(said: Said) -> tuple[float, float, int] | None:
    """The cache of one sequence, given as that of a step with several."""
    frame, text = said.statement.frame, said.statement.context_text
    from advisor.prose.lengths import per_token_in  # noqa: PLC0415 - only documents pay for it

    per_token, length = frame.kv_per_token or per_token_in(text), frame.context
    if per_token is None or length is None:
        return None
    count, one = sequences_in(text), per_token * length
    if said.statement.table is not None and _is_of_one_user(said.statement):
        return None
    if _OF_ONE_CACHE.search(said.statement.text) is not None:
        return None
    for amount in gigabytes_in(said.statement.text):
        told = amount.gigabytes * 1e9
        if count > 1 and abs(told - one) < 0.1 * one:
            return told, count * one, count
    return None
