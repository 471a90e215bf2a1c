"""A change and what it changes, where they stand near each other: "lowers the latency"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from advisor.forms import Form
from advisor.prose.tagging import Tag

_REACH: Final = 9
"""Words between a change and the metric that it changes."""
_OF_HARDWARE: Final = frozenset({"PEAK", "CAPACITY", "TP"})
"""What is more of the hardware right after "more", and no speed."""
_STEADINESS: Final = (
    r"(?:stab(?:ility|le)|steadi(?:ness|er)|jitter|varia(?:nce|bility|tion)s?|fluctuations?"
    r"|consisten(?:cy|t)|predictab(?:ility|le)|smoothness|regularity|spread)"
)
_CONTRAST: Final = Form(
    r"\b(?:not|no|neither|nor|rather than|instead of|nothing of|(?:stabili[sz]|stead|smooth"
    r"|even)(?:es"
    rf"|ies|s|ing)(?: out)?|{_STEADINESS})\b"
)
"""What stands before a metric that does not fall or rise: it is another, or only gets steadier."""
_OF_ITS_SPREAD: Final = Form(rf" {_STEADINESS}\b")
"""After a metric: how much it varies is what changes ("better ITL stability")."""


def change_near(tags: Sequence[Tag], change: str, metrics: Sequence[str]) -> tuple[Tag, Tag] | None:
    """A change and a metric within reach of each other."""
    things = {tag.first for tag in tags if tag.name in _OF_HARDWARE}
    changes = [tag for tag in tags if tag.name == change and tag.last not in things]
    if not changes:
        return None
    for metric in (tag for tag in tags if tag.name in metrics):

        def gap(tag: Tag, metric: Tag = metric) -> int:
            after = metric.first >= tag.last
            return metric.first - tag.last if after else tag.first - metric.last

        nearest = min(changes, key=gap)
        if gap(nearest) <= _REACH:
            return nearest, metric
    return None


def is_of_time(tags: Sequence[Tag], pair: tuple[Tag, Tag]) -> bool:
    """Whether a change goes on to a time or rate: "at the same bandwidth to halve the TPOT"."""
    change, metric = pair
    if metric.start > change.start:
        return False
    of_time = change_near(tags, "DOWN", ("TIME", "RATE"))
    return of_time is not None and of_time[0] == change and of_time[1].start > change.start


def is_contrasted(text: str, pair: tuple[Tag, Tag], start: int = 0) -> bool:
    """Whether a metric is named as what does not change: "saves prefill, not time per token".

    Or as what gets steadier: "reduces jitter and stabilizes the latency".

    `start`: where the text begins in the block.
    """
    first, last = sorted(pair, key=lambda tag: tag.start)
    if _OF_ITS_SPREAD.match(text, pair[1].end - start) is not None:
        return True
    return _CONTRAST.search(text, first.end - start, last.start - start) is not None
