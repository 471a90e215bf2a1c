"""Two devices, or two sizes of memory, that a text compares.

"The A6000 with its 48 GB, compared with the 24 GB of a 4090", "P40 or 3080? P40, hands down". What
the catalog knows of the two bounds what the one can be faster by.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.devices import NamedDevice, devices_in
from advisor.prose.model import Statement

_OTHER_SIDE: Final = Form(
    r"\b(?:than|over|against|versus|vs\.?|compared (?:with|to)|instead of|rather than|replac\w+"
    r"|from"
    r"|beside|unlike|not)\b[^.;]{0,32}$"
)
"""Before the device that the other one is compared with."""
_COUNTED: Final = Form(
    r"\b(?:two|three|four|six|eight|both|dual|pair of|\d{1,2} ?[x×]?) (?:nvidia |rtx |of the )?$"
)
"""Several of a device, whose bandwidths may add up."""


class Compared(NamedTuple):
    """Two devices; the first is the one that is said to be the faster, where that is told."""

    one: NamedDevice
    other: NamedDevice
    is_told: bool

    @property
    def ratio(self) -> float:
        """Bandwidth of the one over the other's; the larger reading where no order is told."""
        ratio = self.one.bandwidth_gbs / self.other.bandwidth_gbs
        return ratio if self.is_told else max(ratio, 1.0 / ratio)


def compared_devices(statement: Statement) -> Compared | None:
    """The two devices that a statement, with what it rests on, compares; None where not two."""
    text = statement.context_text
    found = devices_in(text)
    by_name = {one.identifier: one for one in found}
    if len(by_name) != 2 or any(_COUNTED.search(text, 0, one.start) for one in found):
        return None
    chosen = _chosen(statement, found)
    one, other = by_name.values()
    if chosen is None:
        return Compared(one, other, is_told=False)
    if chosen == other.identifier:
        one, other = other, one
    return Compared(one, other, is_told=True)


def _chosen(statement: Statement, found: list[NamedDevice]) -> str | None:
    """The device that is said to be faster: the subject of the sentence, or the last one named."""
    text = statement.context_text
    begin = text.rfind(statement.sentence_text)
    own = [one for one in found if one.start >= begin >= 0]
    if own:
        subjects = {one.identifier for one in own if not _OTHER_SIDE.search(text, begin, one.start)}
        if len({one.identifier for one in own}) == 1 and not subjects:
            rest = {one.identifier for one in found} - {own[0].identifier}
            return rest.pop() if len(rest) == 1 else None
        return subjects.pop() if len(subjects) == 1 else None
    before = text[: max(begin, 0)].rstrip()
    last = re.split(r"[.?!]\s", before)[-1]
    named = {one.identifier for one in devices_in(last)}
    return named.pop() if len(named) == 1 else None


_CAPACITY: Final = Form(
    r"(?<![\w.,])(\d{1,4}) ?(?:GB|gigs?|gigabytes)\b(?!/s)"
    r"|\b(?:against|versus|vs\.?|over|than|instead of|to) (?:the )?(\d{1,4})\b(?=[.,;:)]|$| of)"
    r"|(?<![\w.,])(\d{1,4}) (?:or|and) (?:with |of )?(?=\d{1,4} ?(?:GB|gigs?|gigabytes)\b(?!/s))"
)
_SIZES_OF_MEMORY: Final = frozenset(
    {4, 6, 8, 10, 11, 12, 16, 20, 22, 24, 32, 36, 40, 48, 64, 72, 80, 94, 96, 120, 128, 141, 180,
     188, 192, 256, 288, 384, 512, 768, 1024}
)  # fmt: skip
"""Sizes in which memory is sold, in GB."""


def capacities(text: str) -> list[int]:
    """Different sizes of memory that a text names, the smallest first."""
    found = {int(next(filter(None, told))) for told in _CAPACITY.findall(text)}
    return sorted(found & _SIZES_OF_MEMORY)
