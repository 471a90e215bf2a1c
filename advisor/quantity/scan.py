"""Every amount in a sentence: numbers with their units, ranges, changes, bounds and signs.

All look-ahead and look-back is over a bounded number of tokens, so time is linear in the text.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from advisor.quantity.amounts import PART_WORDS, Amount, amount_at, quantity_of
from advisor.quantity.lexing import DASHES, HYPHENS, Token, TokenKind, tokenize, words
from advisor.quantity.model import Bound, Quantity
from advisor.quantity.units import (
    BASE_UNIT,
    Dimension,
    Unit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class Found(NamedTuple):
    """An amount within a text; offsets in code points, ends exclusive."""

    quantity: Quantity
    start: int
    """Where the phrase begins, with its "about", "up to", "from" or sign."""
    end: int
    number_start: int
    """Where the first number begins."""
    first: int
    """Index of the phrase's first token."""
    last: int
    """Index after the phrase's last token."""
    per: str | None = None
    """token, pass, layer, user or device in "ms per token"."""
    before: Quantity | None = None
    """The A of "from A to B"; `quantity` is the B."""
    bare: bool = False
    """A number without a unit."""
    signed: str = ""
    """"+" or "-" written before the number: a change."""


class _Prefix(NamedTuple):
    """What stands before a number: "about", "up to", "from", a sign."""

    first: int
    approximate: bool = False
    bound: Bound | None = None
    opener: str = ""
    """"from" or "between"."""
    signed: str = ""
    factor: bool = False
    """ "a factor of" stands before it."""


_APPROXIMATE = words("~ ≈ ∼ about around roughly approximately approx ca circa nearly almost some")
_PRECISE = words("exactly precisely merely barely scarcely")
"""Words before a number that leave it what it is."""
_AT_MOST = (
    "up to, at most, less than, fewer than, lower than, no more than, not more than, as much as, "
    "as high as, as many as, cannot exceed, not exceed, limited to, capped at, < =, <, ≤, under, "
    "below, sub, max, maximum, within"
)
_AT_LEAST = (
    "at least, more than, greater than, higher than, no less than, not less than, upwards of, "
    "as low as, as little as, a bit over, > =, >, ≥, over, above, exceeding, min, minimum"
)
_BOUND_PHRASES = MappingProxyType(
    dict.fromkeys(_AT_MOST.split(", "), Bound.AT_MOST)
    | dict.fromkeys(_AT_LEAST.split(", "), Bound.AT_LEAST)
)
_COMPARING = frozenset({"over", "above", "under", "below"})
"""Right after an amount these name what it is compared with ("1.8x over 26 ms"), no bound."""
_CHANGES = frozenset(
    {
        Dimension.TIME,
        Dimension.BYTES,
        Dimension.BANDWIDTH,
        Dimension.WORK,
        Dimension.COMPUTE,
        Dimension.RATE,
    }
)
"""What "from A to B" changes; a factor or percentage from A to B is a range."""
_FILLERS = words("today now currently just only down up all the way before , (")
_INSTEAD = frozenset(
    {"instead of", "down from", "up from", "rather than", "compared to", "compared with", "vs"}
    | {"versus", "against", "was", "vs ."}
)
_PREFIX_TOKENS = 8
_FILLED_REACH = 3
_FROM_REACH = 6
"""Tokens between "from A" and "to B": from 7 tokens/s at batch 1 to 79."""
_PUNCTUATION = words(", ; : . ( ) |")


def scan(text: str, plain: Dimension = Dimension.COUNT) -> list[Found]:
    """Every amount in `text`, in order, without overlap. Numbers in names are none.

    `plain` is what a number without unit counts: with TOKENS, 4k is 4,096.
    """
    return scan_tokens(tokenize(text), plain)


def scan_tokens(tokens: Sequence[Token], plain: Dimension = Dimension.COUNT) -> list[Found]:
    """`scan` of a text that is already split."""
    found: list[Found] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.value is None and token.folded not in PART_WORDS:
            at += 1
            continue
        phrase = _phrase(tokens, at, found[-1].last if found else 0, plain)
        if phrase is None:
            at += 1
        else:
            found.append(phrase)
            at = phrase.last
    return found


def _phrase(tokens: Sequence[Token], at: int, floor: int, plain: Dimension) -> Found | None:
    """The amount, range or change whose first number is token `at`."""
    first = amount_at(tokens, at)
    if first is None:
        return None
    prefix = _prefix(tokens, at, floor)
    if prefix.factor and first.unit is None:
        first = first._replace(unit=Unit(Dimension.FACTOR, 1.0, BASE_UNIT[Dimension.FACTOR]))
    joined = _join(tokens, first, prefix, plain)
    if joined is None:
        if first.unit is None and tokens[at].kind is TokenKind.WORD and not first.fraction:
            return None  # "one" of "one user" is no amount
        quantity = quantity_of(first, plain)
        joined = None if quantity is None else _Joined(quantity, None, first, prefix)
    if joined is None:
        return None
    last, bound = _suffix(tokens, joined.amount)
    inner = joined.prefix
    quantity = Quantity(
        joined.quantity.value,
        joined.quantity.unit,
        joined.quantity.dimension,
        joined.quantity.low,
        joined.quantity.high,
        prefix.approximate or inner.approximate or last.approximate,
        prefix.bound or inner.bound or bound,
    )
    unit = joined.amount.unit
    per = next((u.per for u in (unit, first.unit) if u is not None and u.per), None)
    return Found(
        quantity,
        tokens[prefix.first].start,
        tokens[last.first - 1].end,
        tokens[at].start,
        prefix.first,
        last.first,
        per,
        joined.before,
        unit is None and not joined.amount.fraction,
        prefix.signed,
    )


# Two numbers


class _Joined(NamedTuple):
    quantity: Quantity
    before: Quantity | None
    amount: Amount
    """The amount that ends the phrase."""
    prefix: _Prefix
    """What stood before the second number."""


def _join(
    tokens: Sequence[Token], first: Amount, prefix: _Prefix, plain: Dimension
) -> _Joined | None:
    """The range or change that `first` begins, if it does."""
    joiner, at = _joiner(tokens, first.stop, prefix.opener)
    if not joiner:
        return None
    start = at
    while at < len(tokens) and at - start < 4 and tokens[at].folded in _SOFTENERS:
        at += 1
    second = amount_at(tokens, at) if at < len(tokens) else None
    if second is None:
        return None
    softened = _prefix(tokens, at, start)
    if joiner == "spaced dash" and (first.unit is None or first.unit != second.unit):
        return None  # "at batch 1 - 1.8x"
    if first.unit is None and second.unit is not None:
        if joiner == "arrow" and second.unit.dimension in {Dimension.FACTOR, Dimension.RATIO}:
            return None  # "TP=8 -> 5x"
        first = first._replace(unit=second.unit)
    elif second.unit is None and first.unit is not None:
        if tokens[at].kind is TokenKind.WORD and not second.fraction:
            return None  # "150 tokens/s to one user"
        second = second._replace(unit=first.unit)
    elif first.unit is None and tokens[at].kind is TokenKind.WORD:
        return None
    if second.suffix and not first.suffix and first.number < second.number:
        first = first._replace(suffix=second.suffix)
    one, two = quantity_of(first, plain), quantity_of(second, plain)
    if one is None or two is None or one.unit != two.unit:
        return None
    if joiner == "spread":
        low, high = one.value - two.value, one.value + two.value
        spread = Quantity(one.value, one.unit, one.dimension, low, high)
        return _Joined(spread, None, second, softened)
    if joiner == "instead":
        changes = one.dimension in _CHANGES
        return _Joined(one, two, second, softened) if changes else None
    falls = two.value < one.value
    changes = joiner == "arrow" or (joiner == "to" and (falls or prefix.opener == "from"))
    if changes and one.dimension in _CHANGES:
        return _Joined(two, one, second, softened)
    if two.value <= one.value or joiner == "arrow":
        return None
    middle = (one.value + two.value) / 2
    between = Quantity(middle, one.unit, one.dimension, one.value, two.value)
    return _Joined(between, None, second, softened)


_SOFTENERS = _APPROXIMATE | words("just only under below over above less more than")


def _joiner(tokens: Sequence[Token], at: int, opener: str) -> tuple[str, int]:
    """The kind of joint at token `at` (dash, to, arrow, instead, spread or "") and what follows."""
    skipped = at
    reach = _FROM_REACH if opener == "from" else _FILLED_REACH
    while skipped < len(tokens) and skipped - at < reach:
        two = " ".join(token.folded for token in tokens[skipped : skipped + 2])
        one = tokens[skipped].folded
        if two in _INSTEAD:
            return "instead", skipped + 2
        if one in _INSTEAD:
            return "instead", skipped + 1
        if one == "to" or (one == "and" and opener == "between"):
            return "to" if one == "to" else "dash", skipped + 1
        if one not in _FILLERS and (opener != "from" or one in _PUNCTUATION):
            break
        skipped += 1
    if at + 1 >= len(tokens):
        return "", at
    sign, following = tokens[at], tokens[at + 1]
    if sign.raw in "→⇒➜":
        return "arrow", at + 1
    if sign.raw in "-–=" and following.raw == ">" and following.glued:
        return "arrow", at + 2
    if sign.raw == "±":
        return "spread", at + 1
    if sign.raw in DASHES and sign.glued and following.glued:
        return "dash", at + 1
    if sign.raw in DASHES and not (sign.glued or following.glued or sign.opens_line):
        return "spaced dash", at + 1
    return "", at


# What stands around a number


def _prefix(tokens: Sequence[Token], at: int, floor: int) -> _Prefix:
    """Read back from the number at `at`, not before token `floor`."""
    first, approximate, bound, opener, signed, factor = at, False, None, "", "", False
    if at > floor and tokens[at].glued and tokens[at - 1].raw in {"+", *DASHES}:
        alone = at - 1 == 0 or not tokens[at - 1].glued or tokens[at - 2].raw in "(:|,=*"
        if alone:
            signed = "+" if tokens[at - 1].raw == "+" else "-"
            first -= 1
    if first - floor > 1 and tokens[first - 1].raw in HYPHENS and tokens[first - 2].folded == "sub":
        first -= 1
    while first > floor and at - first < _PREFIX_TOKENS:
        before = [token.folded for token in tokens[max(floor, first - 3) : first]]
        length, limit = _bound_phrase(before)
        word = before[-1]
        if length and not (word in _COMPARING and length == 1 and first - 1 == floor and floor):
            bound = bound or limit
            first -= length
        elif word in _APPROXIMATE or (word == "to" and before[-2:-1] == ["close"]):
            approximate = True
            first -= 1 if word != "to" else 2
        elif word in _PRECISE:
            first -= 1
        elif word == "of" and before[-2:] == ["factor", "of"]:
            factor = True
            first -= 2
        elif word in {"from", "between"}:
            opener = word
            first -= 1
            break
        else:
            break
    return _Prefix(first, approximate, bound, opener, signed, factor)


def _bound_phrase(before: list[str]) -> tuple[int, Bound | None]:
    """The longest bound phrase that ends `before`: its length in words, and its bound."""
    for length in range(min(3, len(before)), 0, -1):
        bound = _BOUND_PHRASES.get(" ".join(before[-length:]))
        if bound is not None:
            return length, bound
    return 0, None


def _suffix(tokens: Sequence[Token], amount: Amount) -> tuple[_Prefix, Bound | None]:
    """Read "+", "or more", "or so" after the phrase; `first` is the index after it."""
    at = amount.stop
    bound = Bound.AT_LEAST if amount.plus else None
    two = " ".join(token.folded for token in tokens[at : at + 2])
    if two in {"or more", "or better", "or higher"}:
        return _Prefix(at + 2), Bound.AT_LEAST
    if two in {"or less", "or lower"}:
        return _Prefix(at + 2), Bound.AT_MOST
    if two == "or so":
        return _Prefix(at + 2, approximate=True), bound
    if at < len(tokens) and tokens[at].raw == "+" and tokens[at].glued and amount.unit is not None:
        ends = at + 1 == len(tokens) or not tokens[at + 1].glued
        return (_Prefix(at + 1), Bound.AT_LEAST) if ends else (_Prefix(at), bound)
    return _Prefix(at), bound
