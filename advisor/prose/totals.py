"""Rates of a server beside those of one user: figures in tokens/s, and of how many they are."""

from __future__ import annotations

from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.replies import replies_in
from advisor.prose.users import HOW_MANY, MANY
from advisor.quantity.numerals import count_of

_RATE: Final = Form(
    r"(?<![\w.,])(?P<rate>\d[\d,]*(?:\.\d+)?) ?(?:tok(?:en)?s?(?: ?/ ?| per | a )s(?:ec(?:ond)?)?\b"
    r"|t/s\b|tps\b)"
)
_BARE: Final = Form(
    r"\b(?:alone|me|by myself|solo|batch 1|one (?:user|stream|request)|single[- ](?:user|stream"
    r"|request)|(?:shows?|got|gets?|get|gave|gives|had|was|saw|does|did|makes?))"
    r"(?: alone)?[:,]? (?:only |just |about |around |some )?(?P<rate>\d[\d,]*(?:\.\d+)?)"
    r"(?=[.,;)]|$| (?:alone|for|with|on|by)\b)"
)
"""A rate whose unit was told before: "me alone: 45"."""
_CHANGED: Final = Form(
    r"\bfrom (?P<old>\d[\d,]*(?:\.\d+)?)(?: ?(?:tok\S*|t/s))? to (?P<new>\d[\d,]*(?:\.\d+)?)"
    r" ?(?:tok(?:en)?s?(?: ?/ ?| per | a )s|t/s\b|tps\b|tokens? (?:per|a) second)"
)
_SHARED: Final = Form(
    rf"\b(?:{HOW_MANY}) (?:[\w-]+ ){{0,2}}?{MANY}\b|\b(?:total|aggregate|together|combined|in all"
    r"|overall|altogether|whole server)\b|\bconcurrency (?:of )?(?:[2-9]\b|\d\d)"
)
_ALONE: Final = Form(
    r"\b(?:alone|just me|only me|me\b|by myself|solo|batch (?:size )?1\b|(?:one|a single|single"
    r"|lone)[- ](?:user|stream|request|chat|sequence|client|slot|session|caller|customer|reader)"
    r"|my (?:local|own|\d{4}|card|box"
    r"|setup|laptop|gpu|mac))\b"
)
_PARTS: Final = Form(r"[.;!?](?=\s|$)|, (?=where|while|but|and)|\bwhere\b|\bwhile\b")
_CLOSE: Final = 0.08
_WITHIN: Final = 1.4
"""Of a bound like "more than ten times", "in less than a second": what is meant is not far off."""
_BOUNDED: Final = Form(r"\b(?:more than|over|above|upwards? of|well beyond|at least)\b")
_NO_LONGER_THAN: Final = Form(
    r"\b(?:less than|under|within|below|not even|no more than|inside)\W*(?:\d[\d.]* ?|an? |half a "
    r"|one )"
    r"(?:m?s|seconds?|milliseconds?)\b"
)


class Rate(NamedTuple):
    """A rate in tokens/s and whether it is that of many users or of one."""

    tokens_per_second: float
    is_shared: bool
    is_alone: bool


def rates_in(text: str) -> list[Rate]:
    """The rates of a text, each with the users told in its own part of a sentence."""
    found: list[Rate] = []
    start = 0
    cuts = [match.start() for match in _PARTS.finditer(text)] + [len(text)]
    for cut in cuts:
        part = text[start:cut]
        start = cut
        values = [_number(match["rate"]) for match in _RATE.finditer(part)]
        if not values and found:
            values = [_number(match["rate"]) for match in _BARE.finditer(part)]
        if values:
            shared, alone = _SHARED.search(part), _ALONE.search(part)
            found.extend(
                Rate(value, shared is not None, alone is not None and shared is None)
                for value in values
            )
    return found


def _number(written: str) -> float:
    return float(written.replace(",", ""))


def factor_of_totals(
    text: str, claimed: float, *, raised: bool, own: str = ""
) -> tuple[float, float] | None:
    """One user's rate and that of all, where a claimed factor is just their ratio.

    Where the batch is `raised`, a rate that changes is that of all before and after. The `own`
    words may give the factor as a bound: "more than ten times".
    """
    most = _WITHIN if _BOUNDED.search(own) is not None else 1.0 + _CLOSE
    changed = _CHANGED.search(text) if raised else None
    if changed is not None:
        old, new = _number(changed["old"]), _number(changed["new"])
        if old > 0 and 1.0 - _CLOSE < new / old / claimed < most:
            return old, new
    rates = rates_in(text)
    for total in (rate for rate in rates if rate.is_shared):
        for one in (rate for rate in rates if rate.is_alone or (raised and not rate.is_shared)):
            least = total.tokens_per_second / one.tokens_per_second if one.tokens_per_second else 0
            if least > 1.0 and 1.0 - _CLOSE < least / claimed < most:
                return one.tokens_per_second, total.tokens_per_second
    return None


def reply_at_total(own: str, text: str) -> tuple[float, float] | None:
    """The rate of all and the tokens of one reply, where its time is just one over the other."""
    reply = next(replies_in(own), None)
    if reply is None:
        return None
    most = _WITHIN if _NO_LONGER_THAN.search(own) is not None else 1.0 + _CLOSE
    for rate in rates_in(text):
        if (
            rate.is_shared
            and 1.0 - _CLOSE < rate.tokens_per_second / reply.tokens_per_second < most
        ):
            return rate.tokens_per_second, reply.tokens
    return None


def shared_rate(text: str) -> float | None:
    """The last rate of a text, where it is that of many together and not of each of them."""
    rates = rates_in(text)
    if not rates or not rates[-1].is_shared or _EACH.search(text) is not None:
        return None
    return rates[-1].tokens_per_second


def beats_alone(text: str, own: str, rate: float) -> float | None:
    """The rate of one who is alone, where each of many is said to have more than that.

    `own` is the sentence that tells the rate of each, and how many they are.
    """
    if _USERS.search(own) is None or _EACH.search(own) is None:
        return None
    alone = [one.tokens_per_second for one in rates_in(text) if one.is_alone]
    compared = _THAN_ALONE.search(own)
    if compared is not None:
        alone.append(_number(compared["rate"]))
    return max(alone) if alone and rate > _ABOVE * max(alone) else None


_ABOVE: Final = 1.1
_EACH: Final = Form(
    r"\b(?:each|every|apiece|per (?:user|head|stream|session|chat|client|person))\b"
)
_THAN_ALONE: Final = Form(
    r"\b(?:than|against|instead of|compared (?:to|with)|versus|vs\.?) (?:the |only |just |a mere )?"
    r"(?P<rate>\d[\d,]*(?:\.\d+)?)(?: ?(?:tok\S*|t/s|tokens (?:per|a) second))?"
    r" (?:(?:of|for|on|with|that|which|it|when|he|she|they|a|an|the|had|has|gets?|got|saw|sees?|was"
    r"|one) ){1,4}?(?:empty|idle|lone|single|solitary|alone|unshared|user)\b"
)
"""What one had by himself: "more than the 188 of an empty machine"."""


def users_of(text: str) -> int | None:
    """How many share a server, by the last words that tell it."""
    found = [match[1] for match in _USERS.finditer(text)]
    return count_of(found[-1]) if found else None


_USERS: Final = Form(rf"\b({HOW_MANY}) (?:[\w-]+ ){{0,2}}?{MANY}\b")
