"""What may carry a claim: amounts, and words such as "halves" and "twice"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.claims.layout import Span
from advisor.claims.words import MULTIPLES, NEW, TOKENS, Direction
from advisor.quantity import Dimension, Found, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.quantity.lexing import Token

RELATIVE = frozenset({Dimension.RATIO, Dimension.FACTOR})
_SEVERAL = 2.0
_ABSOLUTE = frozenset({Dimension.TIME, Dimension.BYTES, Dimension.RATE, Dimension.WORK})


class Item(NamedTuple):
    """An amount, or a word such as "halves" or "twice", that may carry a claim."""

    quantity: Quantity
    span: Span
    start: int
    end: int
    before: Quantity | None = None
    per: str | None = None
    signed: str = ""
    direction: Direction | None = None
    """The direction that the word itself holds."""


class Written(NamedTuple):
    """A number of tokens that come out: "a reply of 1,000 tokens", "500 new tokens"."""

    number: float
    span: Span


def written_in(tokens: Sequence[Token], found: Sequence[Found]) -> list[Written]:
    """The numbers of tokens, in order; whether they are read or written is told by other words."""
    counts = []
    for amount in found:
        if amount.quantity.dimension is not Dimension.TOKENS or amount.per is not None:
            continue
        last = amount.last
        if amount.bare:  # "500 output tokens"
            if last + 1 >= len(tokens) or tokens[last].folded not in NEW:
                continue
            if tokens[last + 1].folded not in TOKENS:
                continue
            last += 2
        if amount.quantity.low >= _SEVERAL:
            counts.append(Written(amount.quantity.value, Span(amount.first, last)))
    return counts


def items_of(tokens: Sequence[Token], found: Sequence[Found]) -> list[Item]:
    """The amounts that may carry a claim, in order."""
    covered = bytearray(len(tokens))
    items = []
    for amount in found:
        covered[amount.first : amount.last] = b"\1" * (amount.last - amount.first)
        if amount.quantity.dimension in RELATIVE | _ABSOLUTE:
            span = Span(amount.first, amount.last)
            items.append(
                Item(
                    amount.quantity,
                    span,
                    amount.start,
                    amount.end,
                    amount.before,
                    amount.per,
                    amount.signed,
                )
            )
    for at, token in enumerate(tokens):
        multiple = MULTIPLES.get(token.folded)
        if multiple is not None and not covered[at]:
            factor, direction = multiple
            quantity = Quantity(factor, "x", Dimension.FACTOR, factor, factor)
            span = Span(at, at + 1)
            items.append(Item(quantity, span, token.start, token.end, direction=direction))
    return sorted(items, key=lambda item: item.span)
