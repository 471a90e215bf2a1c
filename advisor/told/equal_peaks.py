"""Devices that share a peak of arithmetic, and not a bandwidth, said to be equally fast for one."""

from __future__ import annotations

from typing import Final

from advisor.catalog.hardware import device
from advisor.forms import Form
from advisor.prose.devices import devices_in
from advisor.prose.model import Kind, Status
from advisor.said import Said

_SAME_PEAK: Final = Form(
    r"\b(?:same|equal|identical) (?:peak |dense |bf16 |fp\d+ |int8 |\d[\d.,]* ){0,4}(?:[tp]flops"
    r"|tops|cuda cores|tensor cores|compute|core counts?)\b"
    r"|\b(?:tensor throughput|[tp]flops|tops|compute|peak)(?: rate)? (?:equals?|matches"
    r"|is (?:the same as"
    r"|identical to)) (?:that of )?(?:the )?"
    r"|\bboth (?:cards |chips |of them )?(?:do|reach|offer|have|deliver|manage|peak at|come to)"
    r" (?:about |some )?\d[\d.,]* (?:\w+ )?(?:[tp]flops|tops)\b"
)
"""A peak that two devices share, and which hence explains no difference between them."""


def shares_peak(said: Said) -> bool:
    """Whether the text tells a peak that two devices share."""
    return _SAME_PEAK.search(said.statement.context_text) is not None


def equal_by_peak(said: Said) -> bool:
    """Whether devices that share a peak, and no bandwidth, are said to be equally fast for one."""
    statement = said.statement
    if statement.kind not in {Kind.CARRIED, Kind.NO_GAIN} or not statement.is_single:
        return False
    if statement.status not in {Status.ASSERTED, Status.DENIED} or not shares_peak(said):
        return False
    text = statement.context_text
    rates = {device(one.identifier).bandwidth_gbs for one in devices_in(text)}
    apart = len(rates) > 1 and max(rates) > _APART * min(rates)
    return apart and _AS_FAST.search(statement.text) is not None and _BANDWIDTH.search(text) is None


_APART: Final = 1.1
_BANDWIDTH: Final = Form(r"[gt]b/s|bandwidth|\bhbm")
_AS_FAST: Final = Form(
    r"\b(?:same|equal|identical) (?:speed|rate|pace|latency|time)|\bequally (?:fast|quick)"
    r"|\b(?:nothing|no (?:gain|speed-?up|advantage|difference)) (?:\w+ ){0,3}?(?:from|in|between"
    r"|for)"
    r"|\b(?:notices?|sees?|feels?) (?:no|any) difference\b|\b(?:as (?:fast|quick(?:ly)?) as"
    r"|no (?:faster|quicker) than)\b"
)
