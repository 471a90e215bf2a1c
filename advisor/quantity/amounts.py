"""One amount among tokens: a number with its unit, in figures or in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from advisor.quantity.lexing import Token, TokenKind, words
from advisor.quantity.model import Quantity
from advisor.quantity.units import (
    BASE_UNIT,
    Dimension,
    Unit,
    after_hyphen,
    scale_of_count,
    unit_at,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRACTIONS = MappingProxyType(
    {"half": 2.0, "third": 3.0, "quarter": 4.0, "fifth": 5.0, "sixth": 6.0, "eighth": 8.0}
    | {"thirds": 3.0, "quarters": 4.0, "fifths": 5.0, "eighths": 8.0, "tenth": 10.0}
)
_AFTER_FRACTION = words(
    "of the as its that a less fewer lower more higher smaller shorter faster slower longer . , ; )"
)
_ORDINAL_BEFORE = words("the first second last other this that")
"""Before "half" these make it a part of a text or a list."""
_SMALLEST, _LARGEST = 1e-30, 1e30
"""Nothing that people measure lies outside; ratios of what lies inside are finite."""


class Amount(NamedTuple):
    """One number with its unit, before it is joined to another."""

    number: float
    suffix: str
    unit: Unit | None
    stop: int
    plus: bool = False
    fraction: bool = False


PART_WORDS = frozenset({"a", "an", "half"})
"""Words that are no number and may begin an amount: a third."""


def amount_at(tokens: Sequence[Token], at: int) -> Amount | None:
    """The number that token `at` is or begins, with its unit; None where it is part of a name."""
    token = tokens[at]
    if token.kind is TokenKind.WORD:
        return _amount_in_words(tokens, at)
    if token.value is None or token.attached:
        return None
    stop = at + 1
    plus = (
        stop + 1 < len(tokens)
        and tokens[stop].raw == "+"
        and tokens[stop].glued
        and tokens[stop + 1].kind is TokenKind.WORD
    )
    stop += plus
    fraction = "/" in token.raw
    if stop < len(tokens) and tokens[stop].kind is TokenKind.WORD:
        word = tokens[stop]
        counts = scale_of_count(word.raw, token.value, Dimension.COUNT) is not None
        if counts and (word.glued or len(word.raw) > 2):
            return _counted(tokens, token.value, stop, plus=plus)
    start = after_hyphen(tokens, stop)
    found = unit_at(tokens, start)
    if found is not None:
        return Amount(token.value, "", found[0], found[1], plus)
    names = start < len(tokens) and tokens[start].kind is TokenKind.WORD and tokens[start].glued
    if names:
        return None  # 4bit, 8-way, 3rd
    return Amount(token.value, "", None, stop, plus, fraction)


def _counted(tokens: Sequence[Token], number: float, at: int, *, plus: bool) -> Amount:
    """A number with k, M, B or a word like million, and perhaps what is counted."""
    found = unit_at(tokens, after_hyphen(tokens, at + 1))
    counted = {Dimension.TOKENS, Dimension.RATE, Dimension.COUNT}
    if found is not None and found[0].dimension in counted:
        return Amount(number, tokens[at].raw, found[0], found[1], plus)
    return Amount(number, tokens[at].raw, None, at + 1, plus)


def _part_of_a_time(tokens: Sequence[Token], at: int) -> Amount | None:
    """Half a second, a quarter of a second, two thirds of a minute."""
    word, stop = tokens[at], at + 1
    parts = 0.5
    if word.folded != "half":
        count = 1.0 if word.folded in {"a", "an"} else word.value
        whole = _FRACTIONS.get(tokens[stop].folded.rstrip("s")) if stop < len(tokens) else None
        if count is None or whole is None:
            return None
        parts, stop = count / whole, stop + 1
    stop += stop < len(tokens) and tokens[stop].folded == "of"
    if stop + 1 >= len(tokens) or tokens[stop].folded not in {"a", "an", "one"}:
        return None
    unit = unit_at(tokens, stop + 1)
    if unit is None or unit[0].dimension is not Dimension.TIME:
        return None
    return Amount(parts, "", unit[0], unit[1])


def _amount_in_words(tokens: Sequence[Token], at: int) -> Amount | None:
    """Three times, ten percent, half, a third, two thirds; a bare "two" may open a range."""
    word = tokens[at]
    parts = 1.0 if word.folded in {"a", "an"} else word.value
    if (short := _part_of_a_time(tokens, at)) is not None:
        return short
    if word.folded == "half":
        parts, stop = 0.5, at + 1
    elif parts is not None and at + 1 < len(tokens):
        stop = after_hyphen(tokens, at + 1) + 1
        whole = _FRACTIONS.get(tokens[stop - 1].folded)
        parts = None if whole is None else parts / whole
    else:
        parts = None
    if parts is not None:
        before = tokens[at - 1].folded if at else ""
        ends = stop == len(tokens) or tokens[stop].folded in _AFTER_FRACTION
        measures = (ends and before not in _ORDINAL_BEFORE) or before in {"by", "in"}
        return Amount(parts, "", None, stop, fraction=True) if measures and parts < 1 else None
    if word.value is None:
        return None
    value, stop = _number_in_words(tokens, at, word.value)
    found = unit_at(tokens, after_hyphen(tokens, stop))
    if found is not None and found[0].dimension in _TOLD_IN_WORDS:
        return Amount(value, "", found[0], found[1])
    return Amount(value, "", None, stop)


_TOLD_IN_WORDS = frozenset(
    {Dimension.FACTOR, Dimension.RATIO, Dimension.RATE, Dimension.BYTES, Dimension.BANDWIDTH}
)
"""What people give in words: thirty-five tokens a second, two gigabytes."""
_HUNDRED = 100.0


def _number_in_words(tokens: Sequence[Token], at: int, value: float) -> tuple[float, int]:
    """Thirty-five, a hundred and twenty, two hundred: the number and the index after it."""
    stop = at + 1
    if 1 <= value < 10 and stop < len(tokens) and tokens[stop].value == _HUNDRED:
        value, stop = _HUNDRED * value, stop + 1
    if value >= _HUNDRED:
        behind = stop + (stop < len(tokens) and tokens[stop].folded == "and")
        tens = tokens[behind] if behind < len(tokens) else None
        if tens is not None and tens.kind is TokenKind.WORD and 0 < (tens.value or 0) < _HUNDRED:
            more, stop = _number_in_words(tokens, behind, tens.value or 0.0)
            value += more
        return value, stop
    if value >= 20 and value % 10 == 0:
        unit = after_hyphen(tokens, stop)
        one = tokens[unit].value if unit < len(tokens) else None
        if one is not None and 1 <= one < 10 and tokens[unit].kind is TokenKind.WORD:
            return value + one, unit + 1
    return value, stop


def quantity_of(amount: Amount, plain: Dimension) -> Quantity | None:
    """An amount in base units; without a unit it counts `plain`. None beyond what is physical."""
    if amount.fraction and amount.unit is None:
        unit = Unit(Dimension.RATIO, 1.0, "")
    else:
        unit = amount.unit or Unit(plain, 1.0, BASE_UNIT[plain])
    scale = unit.scale
    if amount.suffix:
        scale *= scale_of_count(amount.suffix, amount.number, unit.dimension) or 1.0
    # division where it can be, so that 95% is 0.95 to the last bit
    value = amount.number * scale if scale >= 1 else amount.number / round(1 / scale)
    if value and not _SMALLEST < value < _LARGEST:
        return None
    return Quantity(value, unit.name, unit.dimension, value, value)
