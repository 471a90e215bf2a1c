"""The words of the field, as one table to look terms up in.

No term alone says that a sentence is right or wrong.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from advisor.prose.lever_terms import LEVERS
from advisor.prose.mark_terms import MARKS
from advisor.prose.tagging import Table, compile_terms, expanded

_OF_DECODE: Final = frozenset(
    [
        "decode",
        "decoding",
        "generation",
        "token",
        "tps",
        "itl",
        "tpot",
        "tbt",
        "typing",
        "chat",
        "reply",
        "writing",
        "generated",
        "generate",
        "stream",
        "streaming",
        "user",
        "output",
    ]
)
"""Metrics with one of these words are metrics of decode."""


@lru_cache(maxsize=1)
def terms() -> Table:
    """The look-up table of all terms. A tag may come from levers and marks alike."""
    listed = {**LEVERS, **MARKS}
    of_decode = [
        term.strip()
        for name in ("TIME", "RATE", "BYTES")
        for term in listed[name].split(",")
        if not _OF_DECODE.isdisjoint(term.split())
    ]
    derived = {
        "DECODE": ",".join(
            [
                listed["DECODE"],
                *of_decode,
                *_with(listed, "SHORT", _TALK),
                *_with(listed, "LONG", _TALK),
            ]
        ),
        "PREFILL": ",".join([listed["PREFILL"], *_with(listed, "LONG", _READ)]),
    }
    return compile_terms({**listed, **derived})


_TALK: Final = frozenset(
    [
        "chats",
        "chat",
        "replies",
        "reply",
        "answers",
        "conversation",
        "conversations",
        "questions",
        "messages",
    ]
)
_READ: Final = frozenset(["prompt", "prompts", "document", "documents", "input", "inputs"])


def _with(listed: dict[str, str], name: str, words: frozenset[str]) -> list[str]:
    """Terms of a kind that hold one of some words, as patterns."""
    patterns = [pattern.strip() for pattern in listed[name].split(",")]
    terms_of_kind = [term for pattern in patterns for term in expanded(pattern)]
    return [term for term in terms_of_kind if not words.isdisjoint(term.split())]
