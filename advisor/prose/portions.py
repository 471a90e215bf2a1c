"""Gains told as portions: a step that is halved, half of what is left, 1/8 of the time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from advisor.forms import Form
from advisor.prose.model import Effect, Kind
from advisor.prose.patterns import PARTS
from advisor.prose.sentences import Clause
from advisor.quantity.numerals import NUMERALS

_STEP: Final = r"(?:\w+[- ]){0,2}?(?:step|pass)"
_HALVED: Final = Form(
    rf"\bhalv(?:e|es|ed|ing) (?:the|each|every|a|our|its) {_STEP}\b(?! (?:size|count|number|in))"
    rf"|\b(?:the|each|every|a) {_STEP} (?:is |gets |will be )?(?:halved|halves|cut in (?:half|two))"
    rf"|\bcut(?:s|ting)? (?:the|each|every|a|our) {_STEP} in (?:half|two)\b"
)
"""A step of which half is left."""
_WHAT_IS_LEFT: Final = (
    r"(?:what(?:ever)?|all that|that which) (?:\w+ )?(?:remains?|is left|is still left)"
)
_REST: Final = Form(
    rf"\bhalf (?:of |off )?(?:{_WHAT_IS_LEFT}|the (?:rest|remainder)|(?:of )?that again)\b"
    rf"|\bhalv(?:e|es|ing) (?:{_WHAT_IS_LEFT}|the (?:rest|remainder))\b"
    rf"|\bcut(?:s|ting)? (?:{_WHAT_IS_LEFT}|the (?:rest|remainder)) in (?:half|two)\b"
)
"""Half of a time that earlier points left; of bytes or memory it is said in other words."""
_OF_BYTES: Final = Form(r"\b(?:memory|vram|bytes|gb|weights|cache|traffic|capacity|cost|price)\b")
_ONE_NTH: Final = Form(
    r"(?<![\w./])1/(?P<n>\d{1,2}) (?:of )?(?:the|its|that) (?:\w+ )?(?:time|latency|wait)\b"
)


_PARTS: Final = "|".join(PARTS)
_PORTION: Final = (
    r"(?:(?P<percent>\d{1,2}(?:\.\d+)?) ?(?:%|per ?cent)"
    rf"|(?P<count>two|three|four|five|six|seven|nine) (?P<nth>{_PARTS})s"
    rf"|(?:(?:an?|another|one|some|the next) )?(?:further |full |whole |good )?(?P<part>{_PARTS}))"
)
_TIME: Final = r"(?:time|latency|tpot|itl|tbt|wait|steps?|token times?|pause)"
_LESS: Final = Form(
    rf"\bthere go(?:es)? {_PORTION} of (?:the |each |every |our |its |my )?(?:remaining "
    rf"|rest of the )?"
    rf"(?:\w+['’]?s?[- ])?{_TIME}\b"
    rf"|\bwait(?:s|ing)? (?:for (?:\w+ ){{1,3}})?{_PORTION.replace('P<', 'P<w_')} (?:less"
    rf"|shorter)\b"
    r"|\b(?:decod(?:e|ing)|generation|generating|steps?|tokens?|repl(?:y|ies)|answers?)\b"
    rf"(?: \w+){{0,3}}? {_PORTION.replace('P<', 'P<c_')} (?:cheaper|shorter|sooner|earlier)\b"
    rf"|\b{_TIME}(?: per (?:output )?token)? (?:falls?|drops?|shrinks?|sinks?|decreases?|goes down)"
    rf" by (?:the|that|this) (?:same |very |full ){{1,2}}{_PORTION.replace('P<', 'P<s_')}(?!\w)"
)
"""A time that is shorter by a portion: "there goes a third of the step", "waits 40% less"."""

_LEFT: Final = Form(
    rf"\b(?:in|within|takes?|needs?|spends?|after|to) (?:only |just |about |some |roughly "
    rf"|nearly )?"
    rf"{_PORTION.replace('P<', 'P<l_')} of (?:the|its|their) (?:usual|original|old|former|previous"
    rf"|normal|earlier|full|dense|unmasked|unpruned) {_TIME}\b"
)
"""What is left of a time: "in five eighths of the usual time"."""


_OF_SPEED: Final = (
    r"\b(?:decod(?:e|ing)|generation|typing|chats?|streams?|output|repl(?:y|ies)|(?:token )?rate"
    r"|speed|pace|tok\S*)\b"
)
_MORE: Final = Form(
    rf"{_OF_SPEED}(?: \w+){{0,5}}? (?:gains?|wins?|picks? up|climbs?|rises?|improves?|grows?"
    rf"|increases?|goes up) (?:by )?{_PORTION.replace('P<', 'P<m_')}(?! (?:of|fewer|less|more))\b"
    rf"|{_OF_SPEED}[^.;:,]{{0,48}}? (?:lead|edge|advantage|head start) of (?:about |some )?"
    r"(?P<lead>\d{1,2}) ?%"
)
"""A rate that is higher by a portion: "generation gains a quarter", "a lead of 32%"."""


def _part_of(match: re.Match[str], kinds: Sequence[str]) -> float:
    """The portion that some of the groups of a match tell."""
    for kind in kinds:
        if match[f"{kind}percent"]:
            return float(match[f"{kind}percent"]) / 100.0
        if match[f"{kind}count"]:
            return NUMERALS[match[f"{kind}count"].lower()] / PARTS[match[f"{kind}nth"].lower()]
        if match[f"{kind}part"]:
            return 1.0 / PARTS[match[f"{kind}part"].lower()]
    return 0.0


_MULTIPLIED: Final = Form(
    r"\b(?<!acceptance )(?<!hit )(?<!error )(?<!sampling )(?<!math )(?<!lane )(?<!link"
    r" )(?<!learning )"
    r"(?:rates?|speeds?|pace) (?:is |are |gets? |be |will be )?(?P<verb>doubl|tripl|quadrupl)ed\b"
    r"|\b\d+(?:\.\d+)?b (?:\w+ )?(?:(?:will|should|would|can) )?(?P<model>doubl|tripl|quadrupl)es?"
    r" (?:as well|too|likewise|in speed)\b"
)
_FACTORS: Final = MappingProxyType({"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0})


def portion(clause: Clause, text: str) -> Effect | None:
    """A gain of a portion of a step or of a time."""
    less = _LESS.search(text)
    if less is not None and 0.0 < (gone := _part_of(less, ("", "w_", "c_", "s_"))) < 1.0:
        return _gain(clause, less, 1.0 / (1.0 - gone))
    left = _LEFT.search(text)
    if left is not None and 0.0 < (part := _part_of(left, ("l_",))) < 1.0:
        return _gain(clause, left, 1.0 / part)
    gained = _MORE.search(text)
    if gained is not None:
        lead = gained["lead"]
        part = float(lead) / 100.0 if lead else _part_of(gained, ("m_",))
        return _gain(clause, gained, 1.0 + part) if part else None
    match = _HALVED.search(text)
    if match is None:
        match = _REST.search(text)
        if match is not None and _OF_BYTES.search(text) is not None:
            return None
    if match is not None:
        return _gain(clause, match, 2.0)
    if (more := _MULTIPLIED.search(text)) is not None:
        return _gain(clause, more, _FACTORS[(more["verb"] or more["model"]).lower()])
    nth = _ONE_NTH.search(text)
    return _gain(clause, nth, float(nth["n"])) if nth is not None and nth["n"] != "1" else None


def is_left(text: str) -> bool:
    """Whether a text tells what is left of a time: "in two thirds of the usual time"."""
    return _LEFT.search(text) is not None


def is_portion(text: str) -> bool:
    """Whether a gain is one of a step, or of a time told before: "half of what remains"."""
    return _REST.search(text) is not None or _HALVED.search(text) is not None


def _gain(clause: Clause, match: re.Match[str], factor: float) -> Effect:
    return Effect(Kind.GAIN, clause.start + match.start(), clause.start + match.end(), factor)
