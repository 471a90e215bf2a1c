"""Bytes and bandwidths that a sentence tells, and what each is of: weights, cache, a link."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from advisor.forms import Form
from advisor.quantity import Dimension, Found

OF_CACHE: Final = Form(r"\b(?:kv|cache|keys and values)\b")

_WEIGHTS_NEAR: Final = Form(
    r"\b(?:weights?|checkpoint|model|weighs(?: in at)?|quant|file|build|export|conversion)\b"
    r"|\bis $|\bare $|[\w)] = ?$"
    r"|_[MSL01]\b\W*$|\b(?:fp|bf|int|mxfp|nvfp)\d{1,2} ?\($"
    r"|\b(?:(?:fp|bf|f|int|mxfp|nvfp)\d{1,2}|awq|gptq|i?q[2-8](?:_\w{1,6})?|[2-8][- ]bits?)\W*$",
)

_CAPACITY_NEAR: Final = Form(
    r"^\W{0,2}(?:of )?(?:vram|hbm|memory|ram|card|cards|gpu|part|device|version|ddr)|^ ?(?:sxm"
    r"|pcie)",
)

_WEIGHTS_AFTER: Final = Form(
    r"\W{0,2}(?:of )?(?:\w+[- ])?(?:weights?|file|checkpoint|gguf)\b",
)

_REACHED: Final = Form(
    r"\s?\(?(?:achieved|effective|sustained|measured|reached|in practice)\b"
    r"|\b(?:achiev\w+|effective\w*|sustain\w+|measured|reach\w*)\b",
)
"""A bandwidth that a run had: no limit for another."""

_CONSUMED: Final = Form(
    r"\b(?:takes?|took|us(?:e|es|ed|ing)|consum\w+|steals?|eats?|draws?|occup\w+)"
    r" (?:up to |about |around |some |another |a further |at most |only |roughly |~ ?)*$"
)
"""A part of a bandwidth that something else has."""

_PARTING: Final = re.compile(r"[,;()|]| and | plus |\. ")

_FILLERS: Final = frozenset({"", "about", "around", "some", "roughly", "nearly"})

_LINK: Final = Form(
    r"\b(?:(?<!100 )(?<!100-)(?<!a30 )(?<!a40 )(?<!80gb )(?<!v100s )pcie|nvlink|link|nic|wire|disk"
    r"|ssd|nvme|network|ethernet|infiniband|system ram|ddr"
    r"|host|interconnect|bus bandwidth|all-reduce|usb|read from)\b",
)

_REACH: Final = 28

_TOGETHER: Final = Form(
    r"\b(?:together|in total|total|combined|aggregated?|altogether|summed|in sum|overall"
    r"|(?:all|both) (?:\w+ )?(?:cards|gpus|devices|chips|of them)|across|per node|node)\b",
)

_OF_EACH: Final = Form(
    r"\W{0,2}(?:each\b|apiece\b|(?:per|a|/) ?(?:card|gpu|device|chip|accelerator|socket|one)\b)"
)


def amounts_in(
    text: str, amounts: Iterable[Found]
) -> tuple[float | None, float | None, list[tuple[float, bool]]]:
    """Bytes of weights and of cache in a sentence, where there is one of each, and bandwidths.

    Of a bandwidth in GB/s it is told whether its words say that it is of all devices.
    """
    weights: set[float] = set()
    read: set[float] = set()
    cache: set[float] = set()
    rates: list[tuple[float, bool]] = []
    for found in amounts:
        quantity = found.quantity
        if quantity.low != quantity.high or found.before is not None:
            continue
        before, after = _segment(text, found.start, found.end)
        if quantity.dimension is Dimension.BANDWIDTH and quantity.value >= 5e9:
            reached = _REACHED.search(before) or _REACHED.match(after) or _CONSUMED.search(before)
            if not _LINK.search(before) and not _LINK.search(after) and not reached:
                together = _TOGETHER.search(before) or _TOGETHER.search(after)
                of_all = together is not None and _OF_EACH.match(after) is None
                rates.append((quantity.value / 1e9, of_all))
        elif quantity.dimension is Dimension.BYTES and quantity.value >= 1e8:
            if _CAPACITY_NEAR.match(after):
                continue
            cached = OF_CACHE.search(after[:18]) or OF_CACHE.search(before)
            named = _WEIGHTS_AFTER.match(after)
            if not cached and (found.per in _STEPS or _READ.search(after)):
                read.add(quantity.value)
            elif named or (not cached and _WEIGHTS_NEAR.search(before)):
                weights.add(quantity.value)
            elif cached:
                cache.add(quantity.value)
    # what a token reads is told apart from what the file takes
    return only_one(read or weights), only_one(cache), rates


_STEPS: Final = frozenset({"token", "step"})

_READ: Final = Form(r"^ ?(?:are |is |get |gets )?read(?: for| per| by| at|$|\W*$)")


def _segment(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after an amount, up to the next sign that parts words."""
    before = text[max(0, start - _REACH) : start]
    after = text[end : end + _REACH]
    pieces = [piece for piece in _PARTING.split(before) if piece.strip(" ~≈") not in _FILLERS]
    return (pieces[-1] if pieces else ""), _PARTING.split(after)[0]


def only_one(values: set[float]) -> float | None:
    """The value that there is, where there is one alone."""
    return next(iter(values)) if len(values) == 1 else None
