"""How many sequences share a step, as a text told it last."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form

LARGE: Final = 64
"""Sequences with which four drafted tokens each reach the crossover of an H100 (295)."""
_MANY: Final = Form(
    r"\b(?:batch(?:es)?(?: size)?|bs|concurrency|max_num_seqs)\W{0,3}(?:of |is |at"
    r" )?(?P<batch>\d{1,4})"
    r"\b(?! ?(?:%|ms|k\b))"
    r"|\b(?P<count>\d{1,4}) (?:[\w-]+ ){0,2}?(?:users|chats|streams|sessions|sequences|requests"
    r"|clients|conversations|seqs|slots|callers|queries|of them|in flight|at once|in parallel"
    r"|together|concurrent(?:ly)?)\b"
)
BUSY: Final = (
    r"\b(?:(?<!not )(?<!n't )(?<!far from )(?<!below )(?<!before )saturat(?!e\b)\w+|(?:100"
    r"|9\d) ?%? ?(?:gpu )?(?:utili[sz]ation|load|busy|occupancy)|full(?:y)?"
    r" (?:load|batch|server|house|loaded|occupied)|peak (?:hours?|load"
    r"|traffic)|rush hour|heavy (?:load|traffic)|under (?:full |heavy |high )?load|busy|batch jobs?"
    r"|offline (?:job|batch|run|queue|workload)s?|bulk|nightly|overnight|high (?:concurrency|load"
    r"|qps)|large batch(?:es)?|big batch(?:es)?|hundreds of (?:users|requests|streams|sequences)"
    r"|max(?:ed|imum)? (?:out|batch|throughput|load)|throughput (?:job|tier|profile)s?|flat out)\b"
)
"""A server whose step is full."""
_BUSY: Final = Form(BUSY)
SMALL: Final = (
    r"\b(?:batch(?: size)?|bs|concurrency)\W{0,3}(?:of |is )?(?:1|one|2|two|4|four)\b|single[- ]"
    r"(?:user|stream|request|sequence)|(?:one|a single) (?:user|stream|request|chat)|lone|\bsolo\b"
    r"|idle"
    r"|small"
    r" batch|(?:low|light|small) (?:load|concurrency|batch|traffic)|alone"
)
"""A server with little to do."""
_SMALL: Final = Form(SMALL)


def sequences_in(text: str) -> int:
    """The most sequences in a step that a text tells; 0 where it tells none."""
    return max((_number(match) for match in _MANY.finditer(text)), default=0)


def most_load(text: str) -> int | None:
    """The most sequences in a step that a text tells; None where it tells none."""
    return max((number for _, number in _loads(text)), default=None)


def last_load(text: str) -> int | None:
    """Sequences in a step by the last words that tell it; a busy server counts as `LARGE`."""
    return max(_loads(text), default=(0, None))[1]


def _loads(text: str) -> list[tuple[int, int]]:
    """Where a text tells how many sequences share a step, and how many."""
    found = [(match.end(), _number(match)) for match in _MANY.finditer(text)]
    found += [(match.end(), LARGE) for match in _BUSY.finditer(text)]
    found += [(match.end(), 1) for match in _SMALL.finditer(text)]
    return found


def _number(match: re.Match[str]) -> int:
    """The number of a match of `_MANY`."""
    return int(match["batch"] or match["count"])
