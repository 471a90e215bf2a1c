"""The bandwidths of two devices that a text compares: as it tells them, else by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.forms import Form
from advisor.prose.compared import capacities, compared_devices
from advisor.prose.devices import devices_in
from advisor.said import bandwidths_in

if TYPE_CHECKING:
    from advisor.prose.model import Statement

_PAIR: Final = Form(
    r"(?<![\w.])(\d[\d.,]*)(?: ?([TG])B/s)? (?:to|→|->|against|versus|vs\.?|instead of|over"
    r"|rather than|up from) (?:\w+ ){0,2}?(\d[\d.,]*) ?([TG])B/s"
)


def _rates_told(text: str) -> tuple[float, float] | None:
    """Two bandwidths in GB/s of one comparison, the larger first."""
    told = _PAIR.search(text)
    if told is None:
        return None
    unit = told[4]
    pair = (_in_gbs(told[1], told[2] or unit), _in_gbs(told[3], unit))
    return max(pair), min(pair)


def _in_gbs(number: str, unit: str) -> float:
    return float(number.rstrip(".,").replace(",", "")) * (1e3 if unit.upper() == "T" else 1.0)


def rates_compared(statement: Statement) -> tuple[float, float] | None:
    """Bandwidths of two devices, the one said to be faster first; twice one of one device."""
    told = _rates_told(statement.sentence_text)
    if told is not None or bandwidths_in(statement.sentence_text) > 1:
        return told
    devices = compared_devices(statement)
    if devices is not None:
        pair = devices.one.bandwidth_gbs, devices.other.bandwidth_gbs
        return pair if devices.is_told else (max(pair), min(pair))
    text = statement.sentence_text
    named = {one.bandwidth_gbs for one in devices_in(text)}
    own = len(capacities(text)) == 2 and bandwidths_in(text) < 2 and _OF_ONE_KIND.search(text)
    return (one := named.pop(), one) if len(named) == 1 and own else None


_OF_ONE_KIND: Final = Form(
    r"\b(?:one|ones|version|variant|edition|configuration|model|same|M[1-5](?: (?:pro|max|ultra))?"
    r"|mac\w*)\b"
)
"""Words by which two sizes are those of one device, and not of two."""
