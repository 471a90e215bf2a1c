"""Claims that something stays as it is: "same quality", "no slowdown", "lossless"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.claims.layout import Layout, Named, Span
from advisor.claims.words import CHANGE_NOUNS, NONE_OF, SAME, Metric, Polarity, Sense
from advisor.quantity.lexing import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAME_THINGS = words("memory vram size footprint")
"""Of the resources only these are claims when they stay ("the same weights" is none)."""
_LINKS = words("in of to on")
_REACH = 4


class Stays(NamedTuple):
    """What stays as it is."""

    sense: Sense
    span: Span
    at_least: bool
    """It gets no worse, rather than being the same."""


def find_unchanged(layout: Layout) -> Iterator[Stays]:
    """Every such claim; its words are dropped from the layout, so that no number takes them."""
    for at, token in enumerate(layout.tokens):
        if layout.covered[at]:
            continue
        stays = None
        if token.folded in SAME:
            stays = _same(layout, at)
        elif token.folded in NONE_OF:
            stays = _nothing_lost(layout, at)
        elif token.folded == "lossless":
            quality = Sense(Metric.QUALITY, Polarity.RESOURCE)
            stays = Stays(quality, Span(at, at + 1), at_least=False)
        if stays is not None:
            layout.drop(stays.span)
            yield stays


def _same(layout: Layout, at: int) -> Stays | None:
    """The same tokens/s, identical quality, latency unchanged."""
    span = Span(at, at + 1)
    sides = [layout.metric_right(span, at + _REACH)]
    if layout.tokens[at].folded not in {"same", "equal"}:
        sides.append(layout.metric_left(span, max(0, at - _REACH)))
    for named in sides:
        if named is None or not _can_stay(layout, named):
            continue
        first, last = min(at, named.span.first), max(at + 1, named.span.last)
        if any(layout.covered[first:last]):
            continue  # "the same 120 tokens/s"
        return Stays(named.sense, Span(first, last), at_least=False)
    return None


def _can_stay(layout: Layout, named: Named) -> bool:
    if named.sense.polarity is Polarity.RESOURCE:
        word = layout.tokens[named.span.first].folded
        return named.sense.metric is Metric.QUALITY or word in _SAME_THINGS
    return named.sense.polarity is not Polarity.SPEED


def _nothing_lost(layout: Layout, at: int) -> Stays | None:
    """No slowdown, without quality loss, no drop in tokens/s, not slower."""
    tokens = layout.tokens
    for noun in range(at + 1, min(at + 1 + _REACH, len(tokens))):
        if layout.clause[noun] != layout.clause[at] or layout.covered[noun]:
            return None
        if tokens[noun].folded not in CHANGE_NOUNS:
            continue
        here = Span(noun, noun + 1)
        named = layout.metric_left(here, at + 1)
        linked = noun + 1 < len(tokens) and tokens[noun + 1].folded in _LINKS
        if named is None and linked:
            named = layout.metric_right(here, noun + 1 + _REACH)
        if named is not None:
            last = max(noun + 1, named.span.last)
            return Stays(named.sense, Span(at, last), at_least=True)
        metric = CHANGE_NOUNS[tokens[noun].folded]
        if metric is None:
            return None
        polarity = Polarity.SPEED if metric is Metric.UNKNOWN else Polarity.RESOURCE
        return Stays(Sense(metric, polarity), Span(at, noun + 1), at_least=True)
    return None
