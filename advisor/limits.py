"""What words say a step waits for: arithmetic, memory or fixed time.

Forms of a limit, each a relation ("bound by", "is the bottleneck", "saturates") and what it is
said of. Whether the text asserts it, and of which phase, is another question: statements.py asks it
of a sentence by itself, the reader of prose of a sentence in its document.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.limit_forms import ALL_MEMORY, COMPUTE, FORMS, MEMORY, OVERHEAD


class Limit(StrEnum):
    """What a step waits for."""

    COMPUTE = "compute"
    MEMORY = "memory"
    OVERHEAD = "overhead"


_ALONE: Final = Form(
    rf"\W*(?:the |its |our )?(?:{COMPUTE}|{MEMORY}|{OVERHEAD})"
    r"(?:[- ](?:bound|limited|time|work|rate|throughput))?(?: \([^()]*\))?"
    r"(?:,? (?:here |there )?(?:too|as well|again|also|likewise)|,? (?:at|with|though|but|if|partly"
    r"|mostly|only)\b[^.;|]{0,40})?\W*"
)
_OF_MEMORY: Final = Form(ALL_MEMORY)


def may_name_a_limit(text: str) -> bool:
    """Whether some form may stand in a text: quicker than looking for them."""
    return bool(FORMS.standing_in(text))


class Named(NamedTuple):
    """A limit that a text names; offsets in the text."""

    limit: Limit
    start: int
    end: int
    by_memory: bool = False
    """Arithmetic, since memory is said to be no limit."""


def _limit_of(match: re.Match[str]) -> Limit:
    """The limit whose words stand in a match; of a form that names none, arithmetic."""
    groups = match.groupdict()
    return next((limit for limit in Limit if groups.get(limit.value)), Limit.COMPUTE)


def _of_memory(match: re.Match[str]) -> bool:
    words = match.groupdict().get(Limit.COMPUTE.value)
    return words is not None and _OF_MEMORY.match(words) is not None


def limit_alone(text: str) -> Limit | None:
    """The limit that a text names by itself, as the cell of a column "Bound by"."""
    match = _ALONE.fullmatch(text)
    return None if match is None else _limit_of(match)


def limits_in(text: str, start: int, end: int) -> list[Named]:
    """Where a form names a limit in `text[start:end]`, in order; of two that overlap the first."""
    found = [
        Named(_limit_of(match), *match.span(), by_memory=_of_memory(match))
        for form in FORMS.standing_in(text, start, end)
        for match in form.compiled.finditer(text, start, end)
    ]
    kept: list[Named] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept
