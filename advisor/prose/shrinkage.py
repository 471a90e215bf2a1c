"""How far the bytes of weights shrink, as a text tells it: by sizes, by parts, by widths.

"16.1 GB to 8.5 GB", "Q5_K_M is 5.7 gigs, Q4_K_S is 4.7", "28% of the half-precision reference",
"a quarter of the bytes", "3.6x fewer bytes", "INT4 instead of BF16".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.widths import UNQUANTIZED_BITS, widths_of
from advisor.quantity.numerals import NUMERALS, SEVERAL

_FROM_TO: Final = re.compile(r"from (?:about )?(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) GB")
_WHOLE: Final = re.compile(r"of the (\d+(?:\.\d+)?) GB")
_GB: Final = r"(?:GB|gigs?|gigabytes)"
_PAIR: Final = re.compile(
    rf"(\d+(?:\.\d+)?)(?: ?{_GB})?(?: (?:file|checkpoint|model|weights|copy|build))? (?:instead of"
    rf"|rather than|against|versus|vs\.?"
    r"|(?:down |reduced )?"
    r"from|to|becomes?|->|→|where it was|(?:shrinks?|falls?|drops?) to|and not) (?:about |roughly "
    rf"|some |only |just |nearly |around |~|a mere )?(\d+(?:\.\d+)?) ?{_GB}\b(?!/s)"
    r"|(?:fp16|bf16|16 bits?|8 bits?|int8|fp8)\b[^.;:]{0,24}?(\d+(?:\.\d+)?) GB\b(?!/s)"
    r"[^.;:]{0,24}?(?:int[2348]|fp[468]|nf4|[2-8][- ]bits?|awq|gptq)\b[^.;:]{0,16}?"
    r"(\d+(?:\.\d+)?) GB\b(?!/s)",
    re.IGNORECASE,
)
"""Bytes before and after, or after and before."""
FORMAT: Final = (
    r"(?:(?:b?f|fp|float|int)(?:32|16)|(?:fp|int)[3-8]|w[48]a16|nf4|(?:mx|nv)fp[468]|awq|gptq"
    r"|i?q[1-8](?:_\w{1,4}(?:_\w{1,2})?)?|\d(?:\.\d+)?[- ]?(?:bits?|bpw))"
)
_SIZED: Final = Form(
    rf"\b{FORMAT}\b[^.;\d]{{0,24}}?(?<![\w.])(?P<after>\d{{1,4}}(?:\.\d+)?)"
    rf"(?: ?(?P<unit>{_GB}\b(?!/s))|(?=,|;|\.(?:\s|$)|\)|$| and ))"
    rf"|(?<![\w.])(?P<before>\d{{1,4}}(?:\.\d+)?) ?{_GB}\b(?!/s)(?: (?:in|as|at|with|for|of|the"
    rf"|when|under)){{1,2}} {FORMAT}\b"
)
"""The size of the weights in one format: "Q4_K_S is 4.7", "15.2 GB in bf16"."""
_OTHER_BUILD: Final = (
    rf"(?:{FORMAT}|original|full|unquanti[sz]ed|uncompressed|reference|old|base|previous|source"
    rf"|wide|16-bit)(?: (?:one|file|model|build|checkpoint|version|weights))?"
)
_BESIDE: Final = Form(
    rf"(?<![\w.])(?P<one>\d{{1,4}}(?:\.\d+)?) ?{_GB}\b(?!/s),? (?:(?:where|while|whereas|against"
    rf"|and"
    rf"|but) )?(?:the |an? )?{_OTHER_BUILD} (?:(?:is|was|has|takes?|took|needs?|weighs|weighed) )?"
    rf"(?:at )?(?P<other>\d{{1,4}}(?:\.\d+)?)(?: ?{_GB}\b(?!/s)|(?=[,;)]|\.(?:\s|$)|$))"
    rf"|(?<![\w.])(?P<from>\d{{1,4}}(?:\.\d+)?) ?{_GB}\b(?!/s)(?: \w+)? (?:shrinks?|falls?|drops?"
    rf"|comes? down|go(?:es)? down|becomes?) (?:to )?(?P<to>\d{{1,4}}(?:\.\d+)?)(?=[,;)]|\.(?:\s"
    rf"|$)|$)"
)
"""A size, and that of another format: "it is 9.7 GB where Q8_0 is 12.5"."""
_PART_OF: Final = Form(
    r"\b(?:(?:(?:an?|one|about an?|roughly an?|less than an?) )?(?P<half>half)|(?:an?|one|the)"
    r" (?P<part>third|quarter|fifth|sixth|seventh|eighth|tenth|sixteenth)) (?:of )?(?:the |its )?"
    r"(?:\w+ )?(?:size|bytes|bits|weights?|f16|fp16|bf16"
    r"|traffic|data|footprint|reads|volume)\b|\b(?P<verb>halv|quarter)(?:e?s|ed|ing) (?:the )?"
    r"(?:\w+ )?(?:bytes|bits|traffic|reads|weights?|size|data|volume)\b"
)
_PARTS: Final = {
    "half": 2.0, "halv": 2.0, "third": 3.0, "quarter": 4.0, "fifth": 5.0, "sixth": 6.0,
    "seventh": 7.0, "eighth": 8.0, "tenth": 10.0, "sixteenth": 16.0,
}  # fmt: skip
_TIMES_LESS: Final = Form(
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:x|×|times|-?fold) (?:fewer|less|smaller|reduction (?:in|of)"
    r"|lower) (?:\w+ ){0,2}?(?:bytes|traffic|weights?|data|reads|size|volume)"
    r"|\b(?:bytes|traffic|weights?|checkpoint|model|reads|size|data) (?:\w+ ){0,4}?(?:shr[aiu]nk\w*"
    r"|f[ae]ll\w*|drops?|reduced|smaller|compressed|reduction)(?: \w+)?(?: by)?:? (?:a factor of )?"
    r"(\d+(?:\.\d+)?) ?[x×]"
    r"|\breduction of (?:the )?(?:weights?|bytes|traffic|size)\b[^.;]{0,24}?(\d+(?:\.\d+)?) ?[x×]"
)
_LEFT: Final = Form(
    r"\b(?:to|at|takes?|occup\w+|needs?|is|are|holds?|i\.e\.,?|just|only|about|roughly|some)"
    r" (?:only |just |about )?(?P<left>\d{1,2}(?:\.\d+)?) ?% of (?:the |its |their )?"
    r"(?:\w+[- ]){0,2}?(?:size|bytes|footprint|reference|original|half[- ]precision|b?f16|fp16|file"
    r"|checkpoint|volume)\b(?! (?:is|are|of))"
)
"""What is left of the bytes: "28% of the half-precision reference"."""
_LESS: Final = Form(
    r"(?P<less>\d{1,2}(?:\.\d+)?) ?% (?:smaller\b|fewer (?:\w+ )?bytes|less (?:bytes|data"
    r"|(?:memory |weight )?traffic))"
    r"|\b(?:an?|one) (?P<part>third|quarter|fifth|half) smaller\b"
    r"|\b(?:bytes|traffic|file|checkpoint|size|footprint|weights)\b[^.;:\d]{0,24}? by"
    r" (?P<by>\d{1,2}(?:\.\d+)?) ?%"
)
"""What is saved of the bytes: "40% smaller"."""
_WORDS: Final = ("two", "three", "four", "five", "six", "eight", "sixteen")
_BITS: Final = rf"(?:\d{{1,2}}(?:\.\d+)?|{'|'.join(_WORDS)})"
_FROM_BITS: Final = Form(
    rf"(?<![\w.])(?:from )?({_BITS}) (?:to|down to|->|→|instead of|rather than|against|versus"
    rf"|vs\.?) ({_BITS})[- ]?(?:bits?|bpw)\b"
    rf"|(?<![\w.])({_BITS})[- ]?(?:bpw|bits?)(?: per weight)?(?:,| weights)? (?:to|->|→"
    r"|instead of|rather than|against|versus|vs\.?|over) (?:an? )?(\d{1,2}(?:\.\d+)?)\b"
    r"(?! ?[x×%G])"
)
"""Two widths with one unit: "from 8 to 4 bits", "6.5 bpw instead of 8"."""
_WIDEST: Final = 32.0


class Sized(NamedTuple):
    """An amount of bytes in GB, and where it is told."""

    start: int
    gigabytes: float


_GIGABYTES: Final = re.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?|(?i:{SEVERAL})(?= [gG]ig| terab))"
    r" ?(?:GB|gb|[gG]igs?|[gG]igabytes|(?P<tera>TB|[tT]erabytes?))\b"
    r"(?! ?/ ?s| (?:per|a) s)"
)
"""The case counts: 3 Gb are bits."""


@lru_cache(maxsize=1024)
def gigabytes_in(text: str) -> tuple[Sized, ...]:
    """Every amount of bytes in GB that a text tells, in order; no bandwidths."""
    return tuple(
        Sized(match.start(), _number(match[1]) * (1e3 if match["tera"] else 1.0))
        for match in _GIGABYTES.finditer(text)
    )


@lru_cache(maxsize=1024)
def sizes_by_format(text: str) -> tuple[Sized, ...]:
    """Sizes that a text tells of several formats of one model, in order; none where it tells one.

    A unit may be left out after the first.
    """
    found = [
        (Sized(match.start(), float(match["after"] or match["before"])),
         bool(match["unit"] or match["before"]))
        for match in _SIZED.finditer(text)
    ]  # fmt: skip
    if len(found) < 2 or not found[0][1]:
        return ()
    return tuple(one for one, _ in found if one.gigabytes > 0)


def byte_ratio(text: str) -> float | None:
    """Bytes before over after: by sizes, where a part of the whole shrinks, as told, or by widths.

    Of several readings the largest counts, which allows the most.
    """
    shrunk = _FROM_TO.search(text)
    whole = _WHOLE.search(text)
    if shrunk and whole:
        before, after, total = float(shrunk[1]), float(shrunk[2]), float(whole[1])
        return total / (total - before + after) if total >= before > after else None
    sizes = [one.gigabytes for one in sizes_by_format(text)]
    if sizes and max(sizes) > min(sizes):
        return max(sizes) / min(sizes)
    told = list(_told(text))
    for pair in _FROM_BITS.finditer(text):
        one, other = (_number(told) for told in pair.groups() if told)
        if 0.0 < one <= _WIDEST and 0.0 < other <= _WIDEST and one != other:
            return max(one, other) / min(one, other)
    widths = widths_of(text).union(*map(widths_of, _SLOWER_FORMAT.findall(text)))
    if len(widths) > 1:
        told.append(max(widths) / min(widths))
    elif not told and widths and min(widths) < UNQUANTIZED_BITS:
        told.append(UNQUANTIZED_BITS / min(widths))
    return max(told, default=None)


_SLOWER_FORMAT: Final = Form(
    r"(?:\btimes|\btwice|\d ?[x×]) (?:as (?:fast|quick)(?:ly)? as|(?:faster|quicker) than)"
    rf" (?:(?:in|with|under|at) )?(?:the |its |our |an? |plain )?({FORMAT})\b"
)
"""The format that another is so many times as fast as."""


def _number(told: str) -> float:
    """A number in figures or in words."""
    return float(NUMERALS.get(told.lower()) or told)


def changes_width(text: str) -> bool:
    """Whether a text tells two widths of which one takes the place of the other."""
    return _FROM_BITS.search(text) is not None


def tells_sizes(text: str) -> bool:
    """Whether a text gives bytes before and after, or their ratio."""
    if sizes_by_format(text) or changes_width(text):
        return True
    return any(True for _ in _told(text))


TIMES_LESS: Final = _TIMES_LESS.pattern
"""A factor by which bytes fall."""


def _told(text: str) -> Iterator[float]:
    """Ratios of bytes before and after that a text tells as such."""
    for pair in _PAIR.finditer(text):
        sizes = [float(size) for size in pair.groups() if size]
        if min(sizes) > 0:
            yield max(sizes) / min(sizes)
    for part in _PART_OF.finditer(text):
        yield _PARTS[(part["half"] or part["part"] or part["verb"]).lower()]
    for times in _TIMES_LESS.finditer(text):
        yield float(next(filter(None, times.groups())))
    for left in _LEFT.finditer(text):
        if float(left["left"]) > 0:
            yield 100.0 / float(left["left"])
    for less in _LESS.finditer(text):
        if less["part"]:
            parts = _PARTS[less["part"].lower()]
            yield parts / (parts - 1.0)
        else:
            yield 100.0 / (100.0 - float(less["less"] or less["by"]))
    for beside in _BESIDE.finditer(text):
        one = float(beside["one"] or beside["from"])
        other = float(beside["other"] or beside["to"])
        if min(one, other) > 0:
            yield max(one, other) / min(one, other)
