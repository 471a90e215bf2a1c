"""Devices and memories that prose names, how many share a model, and whether they work in turn.

The catalog knows a device by its name; here it is found in a sentence. Of a name that several
variants share, the one with the most bandwidth counts, which allows the most.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.catalog.hardware import device, parse_hardware
from advisor.forms import Form
from advisor.quantity.numerals import count_of


class NamedDevice(NamedTuple):
    """A device of the catalog that a text names; offsets in the text."""

    start: int
    end: int
    identifier: str

    @property
    def bandwidth_gbs(self) -> float:
        """Of its memory, in GB/s."""
        return device(self.identifier).bandwidth_gbs


@lru_cache(maxsize=512)
def device_called(name: str) -> str | None:
    """The device of the catalog that a name stands for, of variants the fastest."""
    _, match = parse_hardware(name)
    if not match.found:
        return None
    return max(match.candidates, key=lambda candidate: device(candidate).bandwidth_gbs)


_CARD: Final = Form(
    r"(?:(?<![\w.,$€-])|(?<=\d[x×]))(?:(?:RTX|GTX|RX|GeForce|Radeon)[-_ ]?)?"
    r"(?P<card>[2-5]0[5-9]0|7900)(?P<plural>s)?"
    r"(?P<tail>[- ]?(?:Ti|Super|XTX|XT|GRE|D)\b)?(?P<size> \d{1,2} ?GB\b)?"
    r"\b(?! ?(?:tok|t/s|ms\b|[KMGT]i?B\b|MHz|GHz|%|/|TFLOPS"
    r"|W\b|tokens|requests|users|steps|layers|\d))",
)
"""A consumer card by its number alone: "two 5090s", "2x3090", "a 24 GB 7900 XTX"."""
_IN_WORDS: Final = Form(
    r"\b(?:strix halo|ryzen ai max\+?(?: 395)?|framework desktop|dgx spark|gb10|gtx \d{4}(?: ti)?"
    r"|(?:raspberry |r)?pi [45]\b|jetson (?:agx |orin )?(?:orin|nano|nx|xavier|thor)"
    r"(?: (?:nano|nx|super))?|agx (?:orin|xavier|thor)|orin (?:nano|nx)(?: super)?|gaudi ?[23]"
    r"|arc (?:pro )?[ab]\d{2,3}|snapdragon x elite|titan rtx|rx [5-9]\d{3}(?: xtx?)?"
    r"|radeon (?:780m|890m)|lunar lake)(?!\w)"
)
"""Devices whose names are words, or a family and a number."""
_LETTERED: Final = re.compile(
    r"\b(?:(?:RTX |Tesla |Quadro )?(?:A(?:2|10G?|16|30|40|100|800|[2456][05]00)|P(?:4|40|100)|T4G?"
    r"|V100S?|L(?:2|4|20|40S?)|H(?:20|100|200)|B(?:200|300)|GH200)|MI\d{2,3}[AX]?|W[67][5-9]00"
    r"|M[1-5](?:[- ](?:Pro|Max|Ultra))?|RTX (?:PRO )?[4-6]000(?: Ada)?)\b"
    r"(?: (?:(?:\d\d GB|\d\dGB)\b)?(?: ?(?:SXM\d?|PCIe|NVL))?)?"
)
"""Cards of data centres and chips of Apple by letter and number."""


def devices_in(text: str) -> list[NamedDevice]:
    """Every device that a text names, in order."""
    found: list[NamedDevice] = []
    for match in (*_CARD.finditer(text), *_IN_WORDS.finditer(text), *_LETTERED.finditer(text)):
        name = _card_name(match) if match.re is _CARD.compiled else match[0].strip()
        identifier = device_called(name)
        if identifier is not None and not any(
            one.start < match.end() and match.start() < one.end for one in found
        ):
            found.append(NamedDevice(match.start(), match.end(), identifier))
    return sorted(found)


def _card_name(match: re.Match[str]) -> str:
    maker = "RX" if match["card"] == "7900" else "RTX"
    return f"{maker} {match['card']}{(match['tail'] or '').replace('-', ' ')}{match['size'] or ''}"


def only_device(text: str) -> str | None:
    """The device that a text names without a maker or in words, where it is one alone."""
    found = {
        device_called(_card_name(match)) or device_called(f"RTX {match['card']}")
        for match in _CARD.finditer(text)
    }
    found |= {device_called(match[0]) for match in _IN_WORDS.finditer(text)}
    found.discard(None)
    return found.pop() if len(found) == 1 else None


_CHANNELS: Final = Form(
    r"\b(?P<count>single|dual|quad|two|four|six|eight|twelve|\d{1,2})[- ]channel\b[^.;]{0,16}?"
    r"(?<!lp)ddr[345][- ]?(?P<rate>\d{4})\b"
    r"|(?<![a-z])ddr[345][- ](?P<named>\d{4})\b[^.;]{0,16}?\b(?P<times>single|dual|quad|two|four"
    r"|six|eight|twelve|\d{1,2})[- ]channels?\b"
)
_BY_WORD: Final = {"single": 1, "dual": 2, "quad": 4}
_CHANNEL_BYTES: Final = 8


def channels_gbs(text: str) -> float | None:
    """Bandwidth of memory told by its channels and transfers: "dual-channel DDR5-5600"."""
    match = _CHANNELS.search(text)
    if match is None:
        return None
    word = (match["count"] or match["times"]).lower()
    channels = _BY_WORD.get(word) or count_of(word)
    return channels * _CHANNEL_BYTES * float(match["rate"] or match["named"]) / 1e3


_PARALLEL: Final = Form(
    r"\bTP[- ]?=?[- ]?(\d{1,2})\b|\btensor[-_ ]parallel(?:ism|[-_ ]size)?(?: of| degree| size)*"
    r"[ =:]{1,3}(\d{1,2})\b|(?<![\w.])-tp[ =](\d{1,2})\b"
    r"|\b(\d{1,2}|two|four|eight|sixteen)[- ](?:way|gpu|card)\b"
    r"|\b(dual|pair of|two|both|three|four|eight|\d{1,2}) ?[x×]? ?(?:nvidia )?(?:rtx |rx |the )?"
    r"(?:[2-5]0[5-9]0|7900)",
)
_NODES: Final = Form(
    r"\b(\d{1,2}|an?|one|two|three|four|eight|sixteen) (?:nodes?|servers?|box(?:es)?|machines?) "
    r"(?:of|with|[x×]) "
    r"(\d{1,2}|two|four|eight|sixteen)\b",
)
_TWO: Final = frozenset({"dual", "both", "pair of"})
_PAIR: Final = Form(
    r"\bpair of (?:\w+ ){0,2}?(?:[habl]|mi|gb|rtx ?)?\d{2,4}"
    r"|\b(?:[habl]|mi|gb)?\d{2,4}(?: \w+)? pair\b"
)


def devices_counted(text: str, counted: int | None) -> int | None:
    """Devices that share the model: of several numbers the largest, which promises the most."""
    found = {counted} if counted is not None else set()
    nodes = _NODES.search(text)
    if nodes is not None:
        one, other = (_one_or_more(part.lower()) for part in nodes.groups())
        found.add(one * other)
    if _PAIR.search(text) is not None:
        found.add(2)
    for match in _PARALLEL.finditer(text):
        number = next(group for group in match.groups() if group).lower()
        found.add(2 if number in _TWO else count_of(number))
    return max(found, default=None)


def _one_or_more(word: str) -> int:
    return 1 if word in {"a", "an"} else count_of(word)


_IN_TURN: Final = Form(
    r"(?<![\w-])(?:-sm|--split-mode) (?:layer|none)\b|\bsplit[- ]mode(?: is| =|:)? layer\b"
    r"|\blayer[- ](?:split|wise split)\b|\bsplit (?:by|over|along|across)(?: the)? layers\b"
    r"|\blayers (?:are )?(?:split|divided|spread|distributed) (?:over|across|between|among)\b"
    r"|\bpipeline[- ]paralle\w+|\bpp ?= ?\d\b|\b(?:one card|cards?|gpus?) after (?:the other"
    r"|another)\b|\b(?:cards|gpus) (?:work |working )?in (?:series|turn|sequence)\b"
)


def is_in_turn(text: str) -> bool:
    """Whether devices hold layers each and work one after another: no bandwidth adds up."""
    return _IN_TURN.search(text) is not None
