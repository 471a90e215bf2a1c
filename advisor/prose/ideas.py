"""Kinds of terms in some words, with what several of them mean together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from advisor.prose.tagging import Tag, names

_WITHOUT: Final = re.compile(
    r"\b(?:without|no|not|never|nor|needs? no|whether or not)\b[^.;:,]{0,24}$", re.IGNORECASE
)
_OR_NOT: Final = re.compile(r",? or (?:not|dense|unpacked)\b", re.IGNORECASE)
_NARROW: Final = r"(?:int8|fp8|int4|fp4|8[- ]bits?|4[- ]bits?|half (?:the )?width|one byte)"
_INPUTS: Final = r"(?:activations?|hidden states?|layer inputs)"
_NARROW_INPUTS: Final = re.compile(
    rf"\b{_INPUTS}[^.;,]{{0,30}}? (?:to|in|at|into|as|on|now) {_NARROW}\b"
    rf"|\b(?:{_NARROW}|quanti[sz]\w+|narrow\w*) (?:the |our |its )?{_INPUTS}\b",
    re.IGNORECASE,
)
_NEAR_CHARACTERS: Final = 36
_TAKEN: Final = 6
"""Words between a word for taking out and the part that is taken."""


def ideas_of(text: str, tags: Iterable[Tag]) -> frozenset[str]:
    """Kinds of terms, with what several of them mean together.

    Heads count as masked where the same words mask something; parts count as gone beside a word
    for taking them out; storage that is said to be done without is not packed.
    """
    kept = [tag for tag in tags if tag.name != "PACKED" or not _is_without(text, tag)]
    found = names(kept)
    if "HEADS" in found and "MASK" in found:
        found |= {"MASKED_HEADS"}
    if "QUANT" in found and _NARROW_INPUTS.search(text) is not None:
        found |= {"ACTQ"}
    if "REMOVE" in found and "PART" in found and _takes_parts(kept):
        found |= {"REMOVED"}
    return found


def _is_without(text: str, tag: Tag) -> bool:
    """Whether a term is named as what is not there, or does not matter."""
    return (
        _WITHOUT.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start) is not None
        or _OR_NOT.match(text, tag.end) is not None
    )


def _takes_parts(tags: Sequence[Tag]) -> bool:
    """Whether a part stands close after a word for taking, or close before it."""
    taking = [tag for tag in tags if tag.name == "REMOVE"]
    parts = [tag for tag in tags if tag.name == "PART"]
    metrics = [tag.first for tag in tags if tag.name in {"TIME", "RATE", "FLOPS", "KV"}]
    for verb in taking:
        for part in parts:
            if not (0 <= part.first - verb.last <= _TAKEN or 0 <= verb.first - part.last <= 2):
                continue
            if not any(verb.last <= at < part.first for at in metrics):
                return True
    return False
