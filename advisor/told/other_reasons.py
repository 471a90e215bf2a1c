"""Reasons for a gain, told beside it, that are not the arithmetic of the device."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.said import Said

_LOAD: Final = (
    r"(?:(?:the )?(?:batch(?: size)?|number of (?:users|requests|sequences|streams)|concurrency"
    r"|load"
    r"|traffic|occupancy)(?: (?:size|B))?|B|bs)"
)
_FEWER_USERS: Final = Form(
    rf"\b(?:as|when|if|with|once) {_LOAD} ?(?:↓|→|->|(?:is |gets |getting |goes |going )?(?:down|to"
    r"|toward\w*|shrink\w*|fall\w*|drop\w*|decreas\w+|decline\w*|reduc\w+|lower\w*|small\w*"
    r"|approach\w*|nears))"
    r"|\b(?:fewer|less) (?:concurrent |other |active |parallel )?(?:users|requests|sequences"
    r"|streams"
    r"|sessions|traffic)\b"
    r"|\bat (?:a )?(?:smaller|lower) (?:batch(?: sizes?)?|concurrency|load)\b"
)
"""Who shares a step: with fewer rows it does get shorter."""
_FEW_ROWS: Final = (
    r"(?:(?:small|low|tiny|single|few|skinny|narrow|decode|latency|short)\b|batch(?: size|-size)?"
    r"[- =]*(?:1|one)\b|bs ?= ?1\b|m ?= ?1\b|(?:one|1|single)[- ]row|gemv|matrix[- ]vector)"
)
_WORDS: Final = (
    r"(?:(?!(?:makes?|brings?|gives?|gets?|lets?|speeds?|improves?|cuts?|is|are|will|and|so)\b)"
    r"[\w/='’.-]+ ){0,5}?"
)
_FOR_FEW_ROWS: Final = Form(
    r"\b(?:speciali[sz]ed|tuned|optimi[sz]ed|tailored|dedicated|designed|written|made|built|meant"
    rf"|bespoke|custom) (?:\w+ )?(?:for|at|to) {_WORDS}{_FEW_ROWS}"
    r"|\b(?:split-?k|stream-?k|skinny|low-latency) (?:gemms?|matmuls?|kernels?)\b"
)
"""A kernel made for the steps of a few users, which may reach more of the bandwidth."""


def has_fewer_users(said: Said) -> bool:
    """Whether a step gets shorter as fewer users share it, by the sentence itself."""
    return _FEWER_USERS.search(said.statement.sentence_text) is not None


def is_for_few_rows(said: Said) -> bool:
    """Whether the kernel that is told of was made for few rows."""
    return _FOR_FEW_ROWS.search(said.statement.context_text) is not None
