"""Prompts that are said to wait for memory, by the words of a clause."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.limits import Limit, limits_in
from advisor.prose.lengths import READS_DOCUMENT, is_length
from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause
from advisor.prose.tagging import Tag

_BESIDE: Final = Form(
    r"\b(?:unlike|not|than|versus|vs\.?|beside|against|instead of|different"
    r" from)\W+(?:\w+\W+){0,2}$"
)
_OF_RATE: Final = Form(
    r"bandwidth|bound|limited|constrained|bottleneck|matter of|traffic|\bhbm|reads|reading|fetch"
    r"|[gt]b/s"
)
"""Memory that is waited for, and not memory that is full."""
_SHORT_OF_ROOM: Final = Form(
    r"(?:memory|vram|hbm|ram)[- ](?:constrained|limited|bound) (?:[\w-]+ ){0,2}?(?:deployments?"
    r"|scenarios?|environments?|settings?|devices?|gpus?|hardware|servers?|systems?|platforms?"
    r"|setups?|instances?|budgets?|situations?|conditions?|regimes?|serving|cards?|machines?)\b"
)
"""Where there is little memory: its size is meant, and no rate."""
_NAMES_OTHER: Final = Form(
    r" (?:\w+ )?(?:decod\w*|generation|tokens?)\b"
    r"|[- ](?:costs?|terms?|branch|estimates?|model|formula|approximation|case)\b"
)
"""What is limited, right after the limit: "memory-bound decode requests", or a part of a model."""
_BOTH_PHASES: Final = Form(
    r"\b(?:prefill\w*|prompt processing) (?:and|as well as|just like|no less than) (?:decod\w+"
    r"|generation)\b"
)
_OF_PHASE: Final = frozenset({"PREFILL", "DECODE", "SINGLE", "TRAINING"})


_READING: Final = Form(
    r"reading (?:in )?(?:\w+ ){0,2}(?:documents?|prompts?|texts?|files?|books?|contracts?"
    r"|questions?"
    r"|articles?|histor(?:y|ies)|pages?|mails?|reports?)\b"
)
"""A prompt that is read, and no memory."""


def _is_mention(whole: str, tag: Tag) -> bool:
    """Whether a phase is part of an identifier, or a prompt only tells how long something is."""
    if whole[tag.end : tag.end + 1] == "_" or whole[max(0, tag.start - 1) : tag.start] in {
        "_",
        ".",
    }:
        return True
    return tag.name == "PREFILL" and is_length(whole, tag.start)


def memory_of_prompt(whole: str, clause: Clause) -> Effect | None:
    """Where a clause says that the prompt waits for memory."""
    for named in limits_in(whole, clause.start, clause.end):
        words = whole[named.start : named.end]
        if (
            named.limit is not Limit.MEMORY
            or _OF_RATE.search(words) is None
            or _BESIDE.search(whole, clause.start, named.start)
            or _READING.match(words) is not None
            or _SHORT_OF_ROOM.match(whole, named.start)
            or _NAMES_OTHER.match(whole, named.end)
        ):
            continue
        if READS_DOCUMENT.search(whole, clause.start, named.start) or _BOTH_PHASES.search(
            whole, clause.start, named.start
        ):
            return Effect(Kind.MEMORY, named.start, named.end, is_prefill=True)
        phases = [
            tag for tag in clause.tags
            if tag.name in _OF_PHASE and not _is_mention(whole, tag)
        ]  # fmt: skip
        before = [tag for tag in phases if tag.start <= named.start]
        after = [tag for tag in phases if tag.start > named.start]
        if before and before[-1].name == "PREFILL":
            return Effect(Kind.MEMORY, named.start, named.end, is_prefill=True)
        first = after[0] if after and not before else None
        if (
            first is not None
            and first.name == "PREFILL"
            and _BESIDE.search(whole, named.start, first.start) is None
        ):
            return Effect(Kind.MEMORY, named.start, named.end, is_prefill=True)
    return None
