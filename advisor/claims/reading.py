"""Read each amount of a text as a claim: its metric, its direction, its arithmetic.

Every search is within the number's clause and a bounded number of tokens: linear in the text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.claims.arithmetic import (
    EXAMPLES,
    Change,
    bound_of_gain,
    relative,
    share,
    speed_of,
)
from advisor.claims.items import RELATIVE, Item, Written
from advisor.claims.layout import Heading, Layout, Mark, Named, Span
from advisor.claims.model import Claim, Kind, Scope, Stream, Unreadable
from advisor.claims.unchanged import find_unchanged
from advisor.claims.words import (
    BASELINES,
    BELOW,
    DEFAULT_SENSES,
    EQUALLY,
    MULTIPLES,
    READING,
    SAVING_VERBS,
    SHARE_OPENERS,
    WRITING,
    Direction,
    Metric,
    Polarity,
    Sense,
)
from advisor.quantity import Bound, Dimension, Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPEED = Sense(Metric.UNKNOWN, Polarity.SPEED)
_WHOLE_SYSTEM = frozenset(
    {Metric.TPOT, Metric.TTFT, Metric.LATENCY_E2E, Metric.TOKENS_PER_SECOND, Metric.THROUGHPUT}
)
_TOKENS_AND_TIME = 18
"""Words of a number of tokens, of the time that they take, and between them."""
_AROUND = 4
"""Words beside these that tell what the tokens are for."""
_LONG_MS = 60_000.0
"""A minute: longer times are about jobs, unless a metric is named."""


class Reader:
    """Reads the items of one text in order."""

    def __init__(self, text: str, layout: Layout, written: Sequence[Written] = ()) -> None:
        """Read `text` as `layout` has it; `written` are the numbers of tokens in it."""
        self.text = text
        self._written = written
        self.layout = layout
        self.tokens = layout.tokens
        self._used = 0
        self._last: tuple[int, Direction, Polarity] | None = None

    def read(self, items: Sequence[Item]) -> Iterator[Claim | Unreadable]:
        """What each item claims, where it claims something."""
        for position, item in enumerate(items):
            after = items[position + 1] if position + 1 < len(items) else None
            stop = len(self.tokens) if after is None else after.span.first
            claim: Claim | Unreadable | None
            if _is_nothing(item):
                shown = self.text[item.start : item.end]
                claim = self._unreadable(item, f"{shown}: an amount is above zero")
            elif item.quantity.dimension in RELATIVE:
                claim = self._relative(item, stop)
            else:
                claim = self._absolute(item, stop)
            self._used = max(self._used, item.span.last)
            if claim is not None:
                yield claim

    # Factors and percentages

    def _relative(self, item: Item, stop: int) -> Claim | Unreadable | None:
        span = item.span
        shown = self.text[item.start : item.end]
        if self._word(span.last, span) == "as" and self._word(span.last + 1, span) in EQUALLY:
            if item.quantity.low <= 0:
                return self._unreadable(item, f"{shown}: an amount is above zero")
            return self._equally(item, stop)
        heading = self._heading(item, stop)
        left = self.layout.metric_left(span, self._used)
        right = self.layout.metric_right(span, stop)
        as_share = self._share(item, heading, left, right)
        if as_share is not None and item.quantity.low <= 0:
            return self._unreadable(item, f"{shown} of it leaves nothing: an amount is above zero")
        if as_share is not None:
            return self._claim(item, share(item.quantity), as_share.sense, heading, as_share)
        named = _choose(heading, left, right)
        if heading is None and named is not None and named.distance <= 2:
            heading = self._inherited(item, named.sense)
        if heading is None and item.quantity.dimension is Dimension.RATIO:
            return None
        word = span.last == span.first + 1 and self.tokens[span.first].folded in MULTIPLES
        if heading is None and word and not _within(right, 0):
            return None  # "twice" of something that is no metric
        if heading is None:
            named = _for_bare_factor(item.quantity, named, left, right)
        elif heading.direction in {Direction.FASTER, Direction.SLOWER}:
            named = _not_a_resource(named, left, right)
        sense = named.sense if named is not None else self._default(heading)
        if heading is not None:
            self._last = (self.layout.sentence[span.first], heading.direction, sense.polarity)
        direction = None if heading is None else heading.direction
        change = relative(item.quantity, direction, sense, shown)
        if isinstance(change, str) and item.direction is not None:
            change = f"{shown} what? write for example {EXAMPLES}"
        if isinstance(change, str):
            return self._unreadable(item, change)
        return self._claim(item, change, sense, heading, named)

    def _heading(self, item: Item, stop: int) -> Heading | None:
        if item.direction is not None:
            return Heading(item.direction, item.span, left=False, by=False)
        left = self.layout.direction_left(item.span, self._used)
        right = self.layout.direction_right(item.span, stop)
        if right is not None and not (left is not None and left.by):
            return right
        if left is None and item.signed:
            sign = Direction.MORE if item.signed == "+" else Direction.LESS
            return Heading(sign, item.span, left=True, by=False)
        return left

    def _inherited(self, item: Item, sense: Sense) -> Heading | None:
        """The direction of the number before: "TTFT drops 40%, TPOT 20%".

        A factor of a rate takes none from what is no rate: "40% fewer bytes, 1.5x tokens/s".
        """
        if self._last is None or self._last[0] != self.layout.sentence[item.span.first]:
            return None
        _, direction, polarity = self._last
        factor = item.quantity.dimension is not Dimension.RATIO
        if factor and sense.polarity is Polarity.RATE and polarity is not Polarity.RATE:
            return None
        return Heading(direction, item.span, left=True, by=False)

    def _default(self, heading: Heading | None) -> Sense:
        if heading is None:
            return SPEED
        return DEFAULT_SENSES.get(self.tokens[heading.span.first].folded, SPEED)

    def _equally(self, item: Item, stop: int) -> Claim | None:
        """Twice as fast, half as long, 1.5x as much memory."""
        at = item.span.last
        power = EQUALLY[self.tokens[at + 1].folded]
        as_span = Span(at, at + 2)
        if power == 0:
            named = self.layout.metric_right(Span(item.span.first, at + 2), stop)
            if named is None:
                named = self.layout.metric_left(item.span, self._used)
            if named is None:
                return None
            return self._claim(item, share(item.quantity), named.sense, None, named, as_span)
        quantity = item.quantity
        rule = "faster_factor" if power > 0 else "slower_factor"
        named = _not_a_resource(self.layout.metric_left(item.span, self._used))
        sense = SPEED if named is None else named.sense
        if sense.polarity is Polarity.TIME:
            power = -power
        values = [value**power for value in (quantity.value, quantity.low, quantity.high)]
        return self._claim(item, Change(rule, *values), sense, None, named, as_span)

    def _share(
        self, item: Item, heading: Heading | None, left: Named | None, right: Named | None
    ) -> Named | None:
        """The metric whose after / before the number states, if it states that."""
        span = item.span
        before = self._word(span.first - 1, span)
        if before == "to" and not item.signed and item.direction is None:
            return left or right
        after = self._word(span.last, span)
        the = after in {"the", "its", "our", "their"} and item.direction is None
        if the and _within(right, 1):
            return right
        if heading is not None:
            return None
        if after == "of":
            if self._word(span.last + 1, span) in BASELINES:
                return left if left is not None and left.distance <= 4 else None
            return right if before in SHARE_OPENERS and _within(right, 5) else None
        ratio = item.quantity.dimension is Dimension.RATIO
        return right if ratio and before == "in" and _within(right, 0) else None

    def _word(self, at: int, span: Span) -> str:
        """The word at `at`, empty outside of the number's clause."""
        inside = 0 <= at < len(self.tokens)
        same = inside and self.layout.clause[at] == self.layout.clause[span.first]
        return self.tokens[at].folded if same else ""

    # Values with a unit

    def _absolute(self, item: Item, stop: int) -> Claim | Unreadable | None:
        quantity, span = item.quantity, item.span
        if item.before is None and self.tokens[span.first].folded == "from":
            return None  # what was before, without what is now
        written = self._tokens_in(item)
        if written is not None:
            each = item._replace(quantity=_divided(quantity, written.number))
            per_token = Sense(Metric.TPOT, Polarity.TIME)
            change = Change("absolute", 1, 1, 1)
            return self._claim(each, change, per_token, None, also=written.span)
        left = self.layout.metric_left(span, self._used)
        right = self.layout.metric_right(span, stop)
        heading = self._heading(item, stop)
        sense, named = self._sense(item, left, right)
        if item.before is not None and sense is not None:
            ratio = quantity.value / item.before.value
            ends = quantity.low / item.before.value, quantity.high / item.before.value
            return self._claim(item, Change("change", ratio, *ends), sense, None, named)
        if heading is not None and self._is_difference(item, heading):
            less = heading.direction in {Direction.LESS, Direction.FASTER}
            if quantity.dimension is Dimension.RATE:
                shown = self.text[item.start : item.end]
                return self._unreadable(
                    item, f"a difference of {shown} needs its baseline: write from A to B"
                )
            if sense is None and quantity.dimension is Dimension.BYTES:
                sense = Sense(Metric.MEMORY, Polarity.RESOURCE)
            if sense is not None:
                return self._amount(item, sense, heading, named, 1 if less else -1)
        if sense is None or (named is None and item.per is None and not _speaks_alone(quantity)):
            return None
        return self._claim(item, Change("absolute", 1, 1, 1), sense, None, named)

    def _tokens_in(self, item: Item) -> Written | None:
        """The tokens that are written in a time: "a reply of 1,000 tokens is finished in 5 s"."""
        sentence, span = self.layout.sentence, item.span
        if item.quantity.dimension is not Dimension.TIME or item.per is not None or item.signed:
            return None
        same = [one for one in self._written if sentence[one.span.first] == sentence[span.first]]
        if len(same) != 1 or item.before is not None:
            return None
        first, last = min(same[0].span, span).first, max(same[0].span, span).last
        if last - first > _TOKENS_AND_TIME:
            return None
        near = range(max(0, first - _AROUND), min(len(sentence), last + _AROUND))
        around = {self.tokens[at].folded for at in near if sentence[at] == sentence[span.first]}
        if self._word(span.first - 1, span) in SAVING_VERBS | {"pays", "pay", "another"}:
            return None  # "a reply of 300 tokens saves 0.7 s"
        return same[0] if around & WRITING and not around & READING else None

    def _sense(
        self, item: Item, left: Named | None, right: Named | None
    ) -> tuple[Sense | None, Named | None]:
        """The metric of a value by its unit, what it is per, and the words around it."""
        dimension, per = item.quantity.dimension, item.per
        if dimension is Dimension.RATE:
            aggregate = item.quantity.unit != "tokens/s" or per == "device"
            metric = Metric.THROUGHPUT if aggregate else Metric.TOKENS_PER_SECOND
            return Sense(metric, Polarity.RATE), None
        if dimension is Dimension.WORK:
            return Sense(Metric.FLOPS, Polarity.RESOURCE), None
        if dimension is Dimension.BYTES:
            traffic = Sense(Metric.BYTES, Polarity.RESOURCE)
            if per in {"token", "pass"}:
                return traffic, None
            named = _nearest(left, right, {Metric.BYTES, Metric.MEMORY}, 4)
            if named is not None:
                return named.sense, named
            change = item.before is not None
            return (Sense(Metric.MEMORY, Polarity.RESOURCE) if change else None), None
        if per == "layer":
            return None, None
        times = {Metric.TPOT, Metric.TTFT, Metric.LATENCY, Metric.LATENCY_E2E}
        if per in {"token", "pass"}:
            return Sense(Metric.TPOT, Polarity.TIME), None
        if per == "user":
            return Sense(Metric.LATENCY_E2E, Polarity.TIME), None
        named = _nearest(left, right, times, 12)
        if named is not None:
            return Sense(named.sense.metric, Polarity.TIME), named
        long = item.quantity.value >= _LONG_MS
        return (None if long else Sense(Metric.UNKNOWN, Polarity.TIME)), None

    def _is_difference(self, item: Item, heading: Heading) -> bool:
        """Saves 35 GB, by 8 ms, 8 ms less; but not "drops to 18 ms"."""
        quantified = heading.direction in {Direction.LESS, Direction.MORE}
        if not quantified and item.quantity.dimension is not Dimension.TIME:
            return False  # "24 GB beats 16 GB"
        if heading.by or item.signed or (not heading.left and heading.span.first >= item.span.last):
            near = heading.left or heading.span.first - item.span.last <= 1
            return near or bool(item.signed)
        verb = self.tokens[heading.span.first].folded
        if self.tokens[item.span.first].folded in BELOW:
            return False
        return heading.span.last == item.span.first and verb in SAVING_VERBS

    def _amount(
        self, item: Item, sense: Sense, heading: Heading, named: Named | None, sign: int
    ) -> Claim:
        quantity = item.quantity
        low, high = sorted((sign * quantity.low, sign * quantity.high))
        spans = (heading.span, None if named is None else named.span)
        return replace(
            self._placed(item, sense, Kind.SAVING, "amount", spans),
            value=sign * quantity.value,
            value_low=low,
            value_high=high,
            unit=quantity.unit,
            bound=quantity.bound,
        )

    # Putting a claim together

    def _claim(
        self,
        item: Item,
        change: Change,
        sense: Sense,
        heading: Heading | None,
        named: Named | None = None,
        also: Span | None = None,
    ) -> Claim:
        quantity = item.quantity
        kind = Kind.SAVING if sense.polarity is Polarity.RESOURCE else Kind.SPEEDUP
        absolute = change.rule in {"change", "absolute"}
        spans = (
            None if heading is None else heading.span,
            None if named is None else named.span,
            also,
        )
        claim = self._placed(item, sense, Kind.ABSOLUTE if absolute else kind, change.rule, spans)
        claim = replace(claim, bound=bound_of_gain(quantity.bound, change, sense))
        if absolute:
            claim = replace(
                claim,
                value=quantity.value,
                value_low=quantity.low,
                value_high=quantity.high,
                before=None if item.before is None else item.before.value,
                unit=quantity.unit,
            )
        if change.rule == "absolute":
            return claim
        speed = speed_of(change, sense)
        if speed is None:
            return replace(claim, change=change.middle)
        return replace(
            claim,
            change=change.middle,
            speedup=speed[0],
            speedup_low=speed[1],
            speedup_high=speed[2],
        )

    def _placed(
        self, item: Item, sense: Sense, kind: Kind, rule: str, spans: Sequence[Span | None]
    ) -> Claim:
        """A claim with its place, scope, stream and evidence."""
        used = [span for span in spans if span is not None]
        start = min([item.start, *(self.tokens[span.first].start for span in used)])
        end = max([item.end, *(self.tokens[span.last - 1].end for span in used)])
        self._used = max([item.span.last, *(span.last for span in used)])
        span = item.span
        scope = self._scope(span, sense)
        resource = sense.polarity is Polarity.RESOURCE
        stream = Stream.UNSTATED if resource else self._stream(span, item.per)
        metric = sense.metric
        if scope is Scope.KERNEL and sense.polarity is Polarity.SPEED:
            metric = Metric.UNKNOWN  # of the kernel, not of decode
        if metric is Metric.TOKENS_PER_SECOND and stream is Stream.AGGREGATE:
            metric = Metric.THROUGHPUT
        return Claim(
            metric=metric,
            kind=kind,
            text=self.text[start:end],
            start=start,
            end=end,
            rule=rule,
            scope=scope,
            stream=stream,
            approximate=item.quantity.approximate,
            negated=self.layout.negated(span),
            evidence=tuple(self.layout.evidence.get(self.layout.sentence[span.first], ())),
        )

    def _scope(self, span: Span, sense: Sense) -> Scope:
        layout = self.layout
        clauses = {layout.clause[span.first]}
        if span.last < len(self.tokens) and self.tokens[span.last].raw == "(":
            clauses.add(layout.clause[span.last])  # "1.5x (end to end)"
        if clauses & layout.marked_clauses[Mark.END_TO_END]:
            return Scope.END_TO_END
        whole = sense.metric in _WHOLE_SYSTEM and sense.polarity is not Polarity.SPEED
        return Scope.KERNEL if not whole and layout.about_kernel(span) else Scope.UNSTATED

    def _stream(self, span: Span, per: str | None) -> Stream:
        if per in {"user", "device"}:
            return Stream.SINGLE if per == "user" else Stream.AGGREGATE
        layout = self.layout
        for ids, marked in (
            (layout.clause, layout.marked_clauses),
            (layout.sentence, layout.marked_sentences),
        ):
            single = ids[span.first] in marked[Mark.SINGLE]
            aggregate = ids[span.first] in marked[Mark.AGGREGATE]
            if single != aggregate:
                return Stream.SINGLE if single else Stream.AGGREGATE
        return Stream.UNSTATED

    def _unreadable(self, item: Item, reason: str) -> Unreadable:
        return Unreadable(item.start, item.end, self.text[item.start : item.end], reason)

    def unchanged(self) -> Iterator[Claim]:
        """Claims that something stays as it is; their words are then out of the way."""
        for stays in find_unchanged(self.layout):
            span, resource = stays.span, stays.sense.polarity is Polarity.RESOURCE
            one = Quantity(1.0, "x", Dimension.FACTOR, 1.0, 1.0)
            start, end = self.tokens[span.first].start, self.tokens[span.last - 1].end
            item = Item(one, span, start, end)
            speed = None if resource else 1.0
            yield replace(
                self._placed(item, stays.sense, Kind.UNCHANGED, "unchanged", ()),
                bound=Bound.AT_LEAST if stays.at_least and not resource else None,
                speedup=speed,
                speedup_low=speed,
                speedup_high=speed,
                change=1.0,
            )


# Choosing among the metrics around a number


def _choose(heading: Heading | None, left: Named | None, right: Named | None) -> Named | None:
    """The metric on the side of the direction word; the nearer one where there is none."""
    if left is None or right is None:
        return left or right
    if heading is not None:
        return left if heading.left else right
    return left if left.distance < right.distance else right


def _is_nothing(item: Item) -> bool:
    """Zero or less, before or after: "0x", "from 0 ms"; "0% loss" is a claim."""
    low = item.quantity.low
    zero = low < 0 or (low == 0 and item.quantity.dimension is not Dimension.RATIO)
    return zero or (item.before is not None and item.before.value <= 0)


def _divided(time: Quantity, count: float) -> Quantity:
    return replace(time, value=time.value / count, low=time.low / count, high=time.high / count)


def _within(named: Named | None, distance: int) -> bool:
    return named is not None and named.distance <= distance


def _not_a_resource(named: Named | None, *others: Named | None) -> Named | None:
    for candidate in (named, *others):
        if candidate is not None and candidate.sense.polarity is not Polarity.RESOURCE:
            return candidate
    return None


def _for_bare_factor(
    quantity: Quantity, named: Named | None, left: Named | None, right: Named | None
) -> Named | None:
    """Which metric "1.8x" without a direction is of: a near one, a resource only right after it."""
    resource = named is not None and named.sense.polarity is Polarity.RESOURCE
    if resource and quantity.high >= 1 and not _within(right, 0):
        named = _not_a_resource(left, right)
    time = named is not None and named.sense.polarity is Polarity.TIME
    return None if time and not _within(named, 3) else named


def _nearest(
    left: Named | None, right: Named | None, metrics: set[Metric], within: int
) -> Named | None:
    fitting = [
        named
        for named in (right, left)
        if named is not None and named.sense.metric in metrics and named.distance <= within
    ]
    return min(fitting, key=lambda named: named.distance, default=None)


def _speaks_alone(quantity: Quantity) -> bool:
    """Whether a value needs no metric beside it: 18 ms and 83 tokens/s do, 80 GB does not."""
    return quantity.dimension in {Dimension.TIME, Dimension.RATE}
