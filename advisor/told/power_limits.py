"""Power limits as a text tells them, and the loss that it ascribes to one.

"From 420 to 300 W", "29% of the power", "30% less power", "capped at 75% power".
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form

_WATTS: Final = Form(
    r"(?<![\w.])(?P<high>\d{2,4}) ?(?:w|watts?)? ?(?:to|->|→|down to) (?P<low>\d{2,4}) ?(?:w"
    r"|watts?)\b"
    r"|(?<![\w.])(?P<now>\d{2,4}) ?(?:w|watts?)? (?:instead of|rather than|where it had|down from"
    r"|in place of) (?P<then>\d{2,4}) ?(?:w|watts?)\b"
)
_PERCENT: Final = Form(
    r"(?<![\w.])(?P<less>\d{1,2}(?:\.\d+)?) ?% (?:(?:less|lower|of the|off the|of its) (?:board "
    r"|card "
    r")?power\b|(?:lower )?(?:power limit|tdp)\b)"
    r"|\bpower (?:limit |target |cap )?(?:by|down) (?P<by>\d{1,2}(?:\.\d+)?) ?%"
    r"|\b(?:power (?:limit|target|cap)|tdp)\b[^.;:\d]{0,12}? (?:to|at|of) (?P<left>\d{2}) ?%"
)
_LOWERS: Final = Form(
    r"\b(?:limit\w*|cap(?:s|ped|ping)?|lower\w*|reduc\w+|cut\w*|less|undervolt\w*|takes? away|down"
    r"|drop\w*|throttl\w*)\b"
)


def power_taken(text: str) -> float | None:
    """The part of its power that a device gives up, by a text; None where it tells none."""
    watts = _WATTS.search(text)
    if watts is not None and _LOWERS.search(text) is not None:
        high, low = float(watts["high"] or watts["then"]), float(watts["low"] or watts["now"])
        return 1.0 - low / high if low < high else None
    told = _PERCENT.search(text)
    if told is None or _LOWERS.search(text) is None:
        return None
    if told["left"]:
        return 1.0 - float(told["left"]) / 100.0
    return float(told["less"] or told["by"]) / 100.0
