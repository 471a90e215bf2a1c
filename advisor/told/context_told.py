"""The length of context that a statement is about."""

from __future__ import annotations

from advisor.forms import Form
from advisor.prose.cache_patterns import lengths_in
from advisor.prose.model import Kind
from advisor.said import Said
from advisor.told.cache_rows import row_length
from advisor.told.cache_told import PARTED

LONG = 16_000
"""Tokens from which on the cache of common models is no small part of a step."""

ABOUT_LENGTH = (
    r"context|tokens?\b(?! ?(?:/|per|a) ?s(?:ec)?)|(?<!per )(?:prompt|window|session|histor(?:y"
    r"|ies)"
    r"|conversation|document|inputs?\b|novel|transcript)|however long"
)

_AT_LENGTH = Form(
    r"\b(?:irrelevant|negligible|immaterial|nothing|noise|insignificant) (?:at|for|up to|below"
    r"|under)"
    r" (?:about |some |only )?(\d[\d,]*)( ?k)?[ -]?(?:tok|$)"
)
"""The length for which the cache is said to be nothing: "irrelevant at 500 tokens"."""

_AS_BEFORE = Form(r"\b(?:where|what|as) it was at \d")
"""The short length that a long one is compared with: "ITL is what it was at 1K"."""


def context_of(said: Said) -> int:
    """The longest context that a statement is about; 0 where none is named.

    Its own part of the sentence comes first: "at 1k it is tiny; at 128k it outweighs them".
    """
    statement = said.statement
    sentence, at = statement.sentence_text, statement.sentence_text.find(statement.text[:24])
    before = [cut.end() for cut in PARTED.finditer(sentence, 0, max(at, 0))]
    after = PARTED.search(sentence, max(at, 0) + 1)
    part = sentence[before[-1] if before else 0 : after.start() if after else len(sentence)]
    if (of_row := row_length(statement)) is not None:
        return of_row
    ignored = statement.kind is Kind.KV_IGNORED
    if ignored and (near := _AT_LENGTH.search(statement.text)) is not None:
        return round(float(near[1].replace(",", "")) * (1024 if near[2] else 1))
    if not (ignored or said.says(ABOUT_LENGTH)):
        return statement.frame.context or 0
    if ignored and _AS_BEFORE.search(part) is None and (own := lengths_in(part)):
        return max(own)
    found = lengths_in(statement.context_text if ignored else sentence)
    if ignored and not found and not statement.frame.context:
        # "reading it is free. Load 120k tokens and ..."
        found = [length for length in lengths_in(statement.next_text) if length >= LONG]
    return max([statement.frame.context or 0, *found])
