"""Devices that share one model, as a text counts them: how many times as many, and their figures.

"from 2 to 4 GPUs", "a second card", "each holds a quarter of the weights", a row of a table,
"TP4 23.5, TP8 11.75": all of them tell by what number something would have to be divided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from advisor.forms import Form
from advisor.prose.model import Statement
from advisor.prose.patterns import PARTS
from advisor.quantity.numerals import SEVERAL, count_of

NUMBER: Final = rf"\d{{1,2}}|{SEVERAL}"
CARD: Final = (
    r"(?:gpus?|cards?|accelerators?|devices?|chips?|ranks?|boards?|(?:rtx |nvidia |amd |tesla )?"
    r"(?:[hablvp]\d{2,3}s?|a\d{1,4}s?|l4s?|gb?\d{3}s?|mi\d{3}x?s?|t4s?|[2-5]0[5-9]0s?|tpus?"
    r"|gaudi(?: ?[23])?s?|trainium\d?))"
)
MACHINE: Final = (
    r"(?:(?:mac )?(?:minis?|studios?)|macs?|sparks?|nodes?|machines?|boxes|servers?|hosts?"
    r"|computers?|pis?|jetsons?|sockets?)"
)
"""What shares a model only where the text says so: it may serve on its own as well."""
_SHARED: Final = Form(
    r"\btensor[-_ ]parallel|\btp\b|\btp[ =]?\d|\ball-?reduces?\b|\b(?:row|tensor)[- ]split\b"
    r"|\bshard(?:ed|ing)?\b|\bsplit (?:over|across|between)\b"
)
_FROM_TO: Final = Form(
    rf"\bfrom (?P<few>{NUMBER}|one|a single) to (?P<many>{NUMBER}) (?:\w+ )?(?:{CARD})\b"
    rf"|\b(?:{CARD}|degree|size|count)(?: \w+)? from (?P<few2>\d+) to (?P<many2>\d+)\b"
    r"|\b(?:tp|tensor[-_ ]parallel(?:ism)?(?:[-_ ]size)?)(?:[ =-]| of )?(?P<few3>\d{1,2}) to"
    r" (?:tp ?=?)?(?P<many3>\d{1,2})\b"
    rf"|\b(?P<many5>{NUMBER}) (?:\w+ )?(?:{CARD})\b[^.;:,]{{0,48}}? (?:rather than|instead of"
    rf"|in place"
    rf" of|where (?:there )?(?:were|was)|compared (?:with|to)|against|versus|vs\.?|not) (?:the "
    rf"|only |just |former )?(?P<few5>{NUMBER}|one)"
    rf"(?![\w.]| ?(?:ms|%|tok|x\b|gb))"
    r"|\btp ?=? ?(?P<many6>\d{1,2})\b[^.;]{0,100}? (?:of|than|over|against|vs\.?|versus"
    r"|compared (?:to|with)|where) tp ?=? ?(?P<few6>\d{1,2})\b"
    r"|(?<![\w.])(?P<few4>\d{1,2}) ?(?:->|→|to) ?(?P<many4>\d{1,2})(?:-way)? (?:in |with |of )?"
    r"(?:tp|tensor[-_ ]parallel\w*)\b"
)
_GOING: Final = Form(
    rf"\b(?:go(?:ing|es)?|mov(?:e|es|ing)|scal(?:e|es|ing)|step(?:s|ping)?|grow(?:s|ing)?"
    rf"|expand(?:s|ing)?|switch(?:es|ing)?|upgrad\w+)(?: up)? from (?P<few>{NUMBER}|one)(?: of"
    rf" them)? to (?P<many>{NUMBER})(?! ?(?:ms\b|%|bits?\b|tok|x\b|×|users|requests|layers|streams"
    r"|sequences|[kmgt]b?\b|\d|\.\d|-?bit))"
)
"""A change of a number whose things were named before."""
_DEVICES: Final = Form(
    rf"\b({NUMBER}) (?:more )?(?:\w+ )?(?:{CARD})\b|\b({NUMBER}) of (?:them|these|those)\b"
    rf"|\b({NUMBER})[x×] ?(?:{CARD})\b"
)
_COUNTED: Final = Form(
    rf"\b(?P<count>{NUMBER}|one|single)(?: ?[x×])?[ -](?:(?:nvidia|amd|apple|rtx|m\d|intel|dgx|more"
    rf"|such|equal) (?:pro |max |ultra )?)?(?:{CARD}|{MACHINE})\b"
    rf"|\b(?P<on>on|over|with|across) (?P<bare>{NUMBER})(?= of (?:them|these|those)\b|[,;.]|$)"
    r"|\btp ?=? ?(?P<degree>\d{1,2})\b"
)
_MACHINES: Final = Form(
    rf"\b({NUMBER}) (?:more )?(?:(?:m\d|apple|dgx|nvidia|intel) (?:pro |max |ultra )?)?{MACHINE}\b"
)
_BOTH: Final = Form(
    rf"\b(?:both|the two|a pair of|dual) (?:of (?:the|my|our) )?(?:{CARD}|{MACHINE})\b"
)
_SECOND: Final = Form(
    rf"\b(?:second|another|one more|additional|twin) (?:\w+ )?{CARD}\b"
    rf"|\b{CARD}\b[^;]{{0,80}}?\b(?:a second|another) one\b"
    r"|\b(?:add|stick in|put in|buy|plug in|slot in) (?:a second|another)(?: one)?\b"
)
_TIMES_THE: Final = Form(rf"\b({NUMBER}) times (?:the|as many) (?:number of )?(?:{CARD})")
_MULTIPLIED: Final = Form(
    rf"\b(?P<verb>doubl|tripl|quadrupl)\w* (?:the |our )?(?:number of |count of )?(?:{CARD})\b"
    r"(?! (?:memory|hours?|bill|price|cost))"
    rf"|\b(?P<twice>twice) as many (?:{CARD})\b"
)
_BY_VERB: Final = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}
_TP: Final = Form(
    r"\btp ?=? ?(\d+)\b|tensor[-_ ]parallel(?:ism)?(?:[-_ ]size)?(?: of| ?= ?| |: ?)(\d+)"
    r"|\b[pn] ?= ?(\d{1,2})\b"
)
_PART_EACH: Final = Form(
    r"\b(?:each|every) (?:card|gpu|device|accelerator|rank)? ?(?:only |then )?(?:holds?|reads?|has"
    r"|loads?|keeps?)"
    r" (?:only |just )?(?:an?|one)? ?(half|third|quarter|sixth|eighth|sixteenth)\b",
)
_RANK_PART: Final = Form(
    r"\b(?:every|each) (?:rank|shard|gpu|card|device)\b[^.;,]{0,24}? (?:an?|one) (half|third"
    r"|quarter"
    r"|sixth|eighth|sixteenth) of (?:the |all )?(?:weights|model|parameters|matrices|layers)"
)
_WAYS: Final = Form(rf"\b({NUMBER})[- ]ways?\b")
_STAGES: Final = Form(
    r"\bpipeline[- _]parallel|\bpipeline stages?\b|\b(?:in|with|using) pipeline mode\b"
    r"|\bstages (?:in|of) (?:a"
    r"|the) pipeline\b|\b\w+-stage pipeline|\bas"
    r" (?:pipeline )?stages\b|\bpp"
    r" ?=?\d\b"
    r"|\bpipeline over \w+ (?:gpus?|cards?|devices?|nodes?)\b|\bboth (?:halves|parts) in turn\b"
    r"|\blayer[- ]split\b|\bsplit[- _]mode[ =]layer\b|-sm layer\b|\blayer[- ]wise split\b"
    r"|\b(?:each|every) (?:\w+ )?(?:gpu|card|node|device|machine|stage|accelerator)\b[^.;,]{0,24}?"
    rf" (?:half|an? (?:third|quarter|eighth)|{NUMBER}) (?:of )?(?:the |its |all )?(?:\d+ )?layers\b"
)
_REPLICAS: Final = Form(
    r"(?<!per )(?<!each )(?<!one )\breplicas?\b|\bdata[- _]parallel|\bdp ?=?\d\b|\bpods?\b"
    r"|\bload[- ]balanc\w+"
    r"|\b(?:second|another|more|additional|extra) (?:\w+ )?(?:instances?|servers?|copy|copies"
    r"|deployments?)\b"
    rf"|\b(?:{NUMBER}) (?:\w+ )?(?:instances?|copies|servers) (?:of|behind)\b"
    r"|\bbehind (?:nginx|haproxy|a proxy|the gateway)\b"
)
_SPLIT_WAYS: Final = Form(rf"\b(?:{NUMBER})[- ]way (?:\w+ )?(?:split|shard\w*|tensor|tp)\b")
_TP_MS: Final = Form(
    r"\b(?:tp ?=?(\d{1,2})|(\d{1,2}) (?:cards?|gpus?|devices"
    r"|ranks))\b[^;.]{0,28}?(?:from \d[\d.]* (?:ms )?to (?:about"
    r" )?)?(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?: ?(?:ms|tok\S*"
    r"|t/s))?(?![\w%])"
)
"""A degree and its figure in a chain: "TP4 23.5, TP8 11.75"."""
_THINGS: Final = rf"(?:\w+[- ]){{0,2}}?(?:{CARD}|{MACHINE})"
BY_COUNT: Final = Form(
    r"(?<![\w/])1/[np]\b|\bt\(1\) ?/ ?[np]\b|\ban n-?th of\b|\bn-?fold\b"
    r"|\bdivid\w+ (?:[\w-]+ ){0,6}?by (?:the number of|n\b|that many|their number)"
    r"|\bbandwidths? (?:just |simply )?adds? up\b|\bperfect(?:ly)? (?:linear )?scal\w+"
    r"|\b(?:each|every)(?: time (?:we|you|one|they))? (?:doubl(?:e|es|ing)|added (?:gpu|card)"
    r"|further (?:gpu|card))[^.;]{0,60}? (?:halves|doubles|in (?:half|two)|halved|doubled|twice as"
    r" \w+)\b"
    r"|\bhalving each time\b|\bhalves (?:with|at) (?:each|every) doubling\b"
    r"|\bn times (?:as (?:fast|quick)|faster|the (?:speed|rate))|\bmultipl\w+ [^.;]{0,48}? by n\b"
    r"|\bscal\w+ [^.;,]{0,30}?(?:perfectly|linearly)|\blinear(?:ly)? (?:scal\w+|in n\b|speed-?up)"
    rf"|\b(?:in (?:\w+ )?proportion|proportional(?:ly)?|one to one|linear(?:ly)?) (?:to|with|in)"
    rf" (?:the"
    rf" )?(?:number|count) of {_THINGS}"
    r"|\bproportional(?:ly)? (?:to|with) (?:the )?(?:tensor[- ]parallel|tp)[- ](?:degree|size)\b"
)
"""N devices and N times the speed, without a number."""
_OF_SIZE: Final = Form(
    r"\b(?:matri(?:x|ces)|weights?|parameters?|memory|heads?|cache|experts?|layers?|tensors?|sizes?"
    r"|activations?|states?|gradients?|model|vocabulary|dimensions?|width|data|batch|tokens?)\b"
    r"[^.;:,]{0,40}?\b(?:slic|split|shard|partition|divid|cut|reduc|shr[iu]nk|stor|hold|keep"
    r"|kept)\w*"
    r"[^.;:,]{0,16}?$"
    r"|\b(?:hold|stor|keep|compute|process|own|receiv|gets?|needs?|load)\w* (?:only |just "
    r"|about )?\W?$"
)
"""Before a part: what is divided is held, and no time."""


def divided_by_count(text: str) -> re.Match[str] | None:
    """Where speed is said to follow the number of devices; parts that each holds are no speed."""
    match = BY_COUNT.search(text)
    if match is None or not match[0].startswith("1/"):
        return match
    near = max(0, match.start() - _BEFORE_PART)
    return None if _OF_SIZE.search(text, near, match.start()) is not None else match


_BEFORE_PART: Final = 96
_SOME: Final = Form(
    rf"\b(?:{NUMBER}|(?:a|the) second|another) (?:\w+ )?(?:{CARD}|of them)\b|\b(?:{NUMBER})[x×]"
    rf" ?(?:{CARD})\b"
)
_TIMES: Final = Form(r"\bms\b|latency|tpot|itl")


def is_shared(text: str) -> bool:
    """Whether a text says that devices share one model's layers."""
    return _SHARED.search(text) is not None


def is_staged(text: str) -> bool:
    """Whether devices hold whole layers each, one stage after the other."""
    return _STAGES.search(text) is not None


def has_replicas(text: str) -> bool:
    """Whether devices or servers hold the whole model each."""
    return _REPLICAS.search(text) is not None


def names_devices(text: str) -> bool:
    """Whether a text names several devices, or a part of the weights for each."""
    forms = (_PART_EACH, _SOME, _FROM_TO, _SPLIT_WAYS, _SECOND)
    if any(form.search(text) is not None for form in forms):
        return True
    return is_shared(text) and any(_machines(text))


def ways_of(statement: Statement) -> float | None:
    """How many times the devices: "from 2 to 4 GPUs", "eight GPUs", "TP=4"."""
    text, own = statement.context_text, statement.sentence_text
    if (told := _multiple(own) or _change(text)) is not None:
        return told
    if statement.tpot_ms is not None and (ratio := _against_before(statement)) is not None:
        return ratio
    if _SECOND.search(text) is not None:
        return 2.0
    if part := _PART_EACH.search(text):
        return PARTS[part[1].lower()]
    if way := _WAYS.search(text):
        return float(count_of(way[1]))
    if fraction := _RANK_PART.search(text):
        return PARTS[fraction[1].lower()]
    counts = [next(filter(None, match.groups())) for match in _DEVICES.finditer(text)]
    if is_shared(text):
        counts += _machines(text)
    if several := [count_of(word) for word in counts if count_of(word) > 1]:
        return float(several[0])
    if parallel := _TP.search(text):
        return float(parallel[1] or parallel[2] or parallel[3])
    if _BOTH.search(text) is not None:
        return 2.0
    devices = statement.frame.devices
    return float(devices) if devices is not None and devices > 1 else None


def _multiple(own: str) -> float | None:
    """How many times as many, said as such: "four times the GPUs", "doubling the cards"."""
    if times := _TIMES_THE.search(own):
        return float(count_of(times[1]))
    if more := _MULTIPLIED.search(own):
        return 2.0 if more["twice"] else _BY_VERB[more["verb"].lower()]
    return None


@lru_cache(maxsize=4096)
def count_in(text: str) -> int | None:
    """How many devices share the model by a text: the largest number that it counts."""
    found = [*_counts(text)]
    if _SECOND.search(text) is not None or _BOTH.search(text) is not None or _A_PAIR.search(text):
        found.append(2)
    return max(found, default=None)


_A_PAIR: Final = Form(r"\bpairs?\b")


def _change(text: str) -> float | None:
    """The later number of devices over the earlier one, where a change is told."""
    change = _FROM_TO.search(text) or (_GOING.search(text) if _SOME.search(text) else None)
    if change is None:
        return None
    words = [word.lower() for word in change.groups() if word]
    first, last = (1 if word in {"one", "a single"} else count_of(word) for word in words[:2])
    told = change.groupdict()
    if told.get("many5") or told.get("many6"):
        first, last = last, first
    return last / max(first, 1)


def _machines(text: str) -> Iterator[str]:
    """Numbers of machines in words."""
    return (match[1] for match in _MACHINES.finditer(text))


def _against_before(statement: Statement) -> float | None:
    """The devices of a sentence over those of the one before it, where both are counted."""
    own = statement.sentence_text
    at = statement.context_text.rfind(own)
    before = [count for count in _counts(statement.context_text[: max(at, 0)]) if count]
    now = [count for count in _counts(own) if count > 1]
    if not before or not now or before[-1] >= max(now):
        return None
    return max(now) / before[-1]


def _counts(text: str) -> Iterator[int]:
    for match in _COUNTED.finditer(text):
        word = (match["count"] or match["bare"] or match["degree"]).lower()
        yield 1 if word in {"one", "single"} else count_of(word)


def chain_of(statement: Statement, least: float) -> tuple[float, float] | None:
    """Devices and speed of the last of several degrees over the one before.

    All of them have to come to `least` of what their devices would give.
    """
    pairs = [
        (int(match[1] or match[2]), float(match[3].replace(",", "")))
        for match in _TP_MS.finditer(statement.context_text)
    ]
    if len(pairs) < 2 or _TP_MS.search(statement.sentence_text) is None:
        return None
    times = _TIMES.search(statement.context_text) is not None
    steps = []
    for (few, first), (many, second) in pairwise(pairs):
        if many <= few or min(first, second) <= 0:
            return None
        factor = first / second if times else second / first
        if factor < least * many / few:
            return None
        steps.append((many / few, factor))
    return steps[-1] if steps else None


_OF_DEVICES: Final = Form(rf"\b(?:{CARD}|{MACHINE}|tp|tensor parallel\w*)\b")


def row_of(statement: Statement) -> tuple[float, float] | None:
    """Devices and speed of a cell over those of the first row, or of the first column."""
    if statement.table is None or statement.tpot_ms is None:
        return None
    columns, cells, own = statement.table
    at = next((i for i, name in enumerate(columns) if _OF_DEVICES.search(name)), None)
    if at is None or at == own or _count(columns[own]) is not None:
        return _across(statement)
    above = statement.first_row
    if not above or max(at, own) >= min(len(cells), len(above)):
        return None
    return _ratio((above[at], above[own]), (cells[at], statement.tpot_ms), columns[own])


def counts_in_rows(statement: Statement) -> bool:
    """Whether a column of the table of a cell, other than its own, counts devices."""
    if statement.table is None:
        return False
    columns, _, own = statement.table
    return any(_OF_DEVICES.search(name) for at, name in enumerate(columns) if at != own)


def ways_of_row(statement: Statement) -> float | None:
    """The devices of a row over those that its column, or the first row, compares it with."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    at = next((i for i, name in enumerate(columns) if _OF_DEVICES.search(name)), None)
    if at is None or at == own or at >= len(cells):
        return None
    named = _AGAINST.search(columns[own])
    few = count_of(named[1]) if named is not None else _count((statement.first_row or cells)[at])
    many = _count(cells[at])
    return many / few if many and few and many > few else None


_AGAINST: Final = Form(
    rf"\b(?:vs\.?|versus|over|against|relative to|compared (?:to|with)) (?:tp ?=? ?)?({NUMBER})\b"
)


def _across(statement: Statement) -> tuple[float, float] | None:
    """The same where every column is a number of devices: "| | 1 GPU | 2 GPUs |"."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    of_devices = _OF_DEVICES.search(" ".join(columns))
    if own < 2 or len(cells) <= own or of_devices is None or statement.tpot_ms is None:
        return None
    return _ratio((columns[1], cells[1]), (columns[own], statement.tpot_ms), cells[0])


def _ratio(
    first: tuple[str, str], last: tuple[str, float], metric: str
) -> tuple[float, float] | None:
    """Devices and speed of one place of a table over those of the first."""
    before, after = _count(first[0]), _count(last[0])
    number = re.match(r"\s*[~≈]?\s*(\d[\d,]*(?:\.\d+)?)", first[1])
    if not before or not after or after <= before or number is None:
        return None
    value = float(number[1].replace(",", ""))
    if value <= 0:
        return None
    is_time = re.search(r"\bms\b|latency|tpot|itl", f"{metric} {first[1]}", re.IGNORECASE)
    return after / before, (value if is_time else 1e3 / value) / last[1]


def _count(cell: str) -> int | None:
    """The devices of a cell: "4", "four", "4x", "TP4", "2 GPUs"."""
    match = re.match(
        rf"\s*(?:tp ?=? ?)?({NUMBER}|one|single)\b(?!\.\d| ?(?:[mu]?s|[kmgt]i?b|%|tok\w*|t/s|w)\b)"
        r"|\s*(\d+)[x×]",
        cell,
        re.IGNORECASE,
    )
    if match is None:
        return None
    word = (match[1] or match[2]).lower()
    return 1 if word == "single" else count_of(word)
