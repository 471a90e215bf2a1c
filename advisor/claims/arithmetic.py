"""From "30% lower" to a factor: the rules of `RULES` as arithmetic."""

from __future__ import annotations

from typing import NamedTuple

from advisor.claims.words import Direction, Metric, Polarity, Sense
from advisor.quantity import Bound, Dimension, Quantity


class Change(NamedTuple):
    """After / before of a metric, for the stated number and the ends of its range."""

    rule: str
    middle: float
    low: float
    high: float
    """`low` and `high` belong to the quantity's low and high; they may be in falling order."""


EXAMPLES = "30% lower latency (1.43x) or 30% faster (1.30x)"
_UNCLEAR_FACTOR = (
    "{text} {metric} can mean either way: write {text} lower {metric} or {text} higher {metric}"
)
_CONTRADICTION = "{text} less leaves nothing or less than nothing"


def relative(
    quantity: Quantity, direction: Direction | None, sense: Sense, text: str
) -> Change | str:
    """After / before of `sense`, or why the words do not say it.

    `direction` None is a bare factor ("1.8x decode"). SPEED stands for speed: above 1 is faster.
    """
    if direction is None:
        return _bare_factor(quantity, sense, text)
    percent = quantity.dimension is Dimension.RATIO
    if direction in {Direction.FASTER, Direction.SLOWER}:
        return _speed(quantity, direction, sense, text, percent=percent)
    down = _goes_down(direction, sense)
    if down is None:
        if percent or direction is not Direction.BETTER:
            return f"{text} {direction.value} of what? write for example {EXAMPLES}"
        down = False  # "1.8x better", "a gain of 1.8x"
    rule = _rule(sense.polarity, down=down, percent=percent)
    if percent and down:
        if quantity.high >= 1:
            return _CONTRADICTION.format(text=text)
        return _map(quantity, rule, -1)
    if percent:
        return _map(quantity, rule, 1)
    if quantity.low < 1:
        return f"{text} {direction.value} is unclear: write a factor above 1 or the change itself"
    return _divide(quantity, rule) if down else _times(quantity, rule)


def _bare_factor(quantity: Quantity, sense: Sense, text: str) -> Change | str:
    if sense.polarity is Polarity.RATE:
        return _times(quantity, "more_rate")
    if sense.polarity is Polarity.SPEED:
        return _times(quantity, "factor")
    if quantity.high < 1:
        return _times(quantity, "share")
    return _UNCLEAR_FACTOR.format(text=text, metric=sense.metric.value)


def _speed(
    quantity: Quantity, direction: Direction, sense: Sense, text: str, *, percent: bool
) -> Change | str:
    """Faster and slower; for a time the change is the inverse of the speed."""
    slower = direction is Direction.SLOWER
    if not percent and quantity.low < 1:
        return f"{text} {direction.value} is unclear: write the factor of speed, above 1 or below"
    rule = f"{direction.value}_{'percent' if percent else 'factor'}"
    factor = _map(quantity, rule, 1) if percent else _times(quantity, rule)
    inverse = slower != (sense.polarity is Polarity.TIME)
    if not inverse:
        return factor
    return Change(rule, 1 / factor.middle, 1 / factor.low, 1 / factor.high)


def _goes_down(direction: Direction, sense: Sense) -> bool | None:
    """Whether the metric gets smaller; None where the text does not say what changes."""
    if sense.polarity is Polarity.SPEED:
        return False if direction is Direction.MORE and sense.metric is not Metric.UNKNOWN else None
    good_is_less = sense.polarity in {Polarity.TIME, Polarity.RESOURCE}
    if sense.metric is Metric.QUALITY:
        good_is_less = False
    if direction is Direction.BETTER:
        return good_is_less
    if direction is Direction.WORSE:
        return not good_is_less
    return direction is Direction.LESS


def _rule(polarity: Polarity, *, down: bool, percent: bool) -> str:
    if polarity is Polarity.RESOURCE:
        return "resource"
    if polarity is Polarity.TIME:
        less = "less_time_percent" if percent else "less_time_factor"
        return less if down else "more_time"
    return "less_rate" if down else "more_rate"


def _map(quantity: Quantity, rule: str, sign: int) -> Change:
    middle, low, high = quantity.value, quantity.low, quantity.high
    return Change(rule, 1 + sign * middle, 1 + sign * low, 1 + sign * high)


def _times(quantity: Quantity, rule: str) -> Change:
    return Change(rule, quantity.value, quantity.low, quantity.high)


def _divide(quantity: Quantity, rule: str) -> Change:
    return Change(rule, 1 / quantity.value, 1 / quantity.low, 1 / quantity.high)


def share(quantity: Quantity) -> Change:
    """The stated number is after / before itself: "to 70%", "half the latency"."""
    return _times(quantity, "share")


def speed_of(change: Change, sense: Sense) -> tuple[float, float, float] | None:
    """Speedup (stated, low, high) of a change, None for a resource."""
    if sense.polarity is Polarity.RESOURCE:
        return None
    values = [change.middle, change.low, change.high]
    if sense.polarity is Polarity.TIME:
        values = [1 / value for value in values]
    return values[0], min(values), max(values)


def bound_of_gain(bound: Bound | None, change: Change, sense: Sense) -> Bound | None:
    """The bound on the gain: "under 70% of the time" is a gain of at least 1.43x."""
    if bound is None:
        return None
    grows = _grows_with_number(change, sense)
    if grows:
        return bound
    return Bound.AT_LEAST if bound is Bound.AT_MOST else Bound.AT_MOST


def _grows_with_number(change: Change, sense: Sense) -> bool:
    """Whether a larger stated number means a larger gain."""
    if change.rule in {"share", "change", "absolute"}:
        return sense.polarity in {Polarity.RATE, Polarity.SPEED}
    if change.rule in {"slower_percent", "slower_factor", "more_time", "less_rate"}:
        return False
    if change.rule == "resource":
        return (change.middle > 1) == (sense.metric is Metric.QUALITY)
    return True
