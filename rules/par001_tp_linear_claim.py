"""## What it does
Flags tensor parallelism over n devices with a claim of n times the speed of one stream.

## Why is this bad
t = a + b/n: only the part that is read and computed divides. Fixed time per layer stays, and two
all-reduces a layer come on top, whose latency of some microseconds does not depend on the link's
GB/s for the kilobytes of a decode step. Measured on A100 with NVLink: a 7B 3.1x on eight, a 70B
2.9x from two to eight.

## Instead
Claim what t = a + b/n gives, or measure.

## When this rule is wrong
Where one device did not hold the model and the baseline spilled to the host: then n devices can
be more than n times as fast; say so.

## References
- Shoeybi et al.: Megatron-LM: https://arxiv.org/abs/1909.08053
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from advisor.audit import Audit
from advisor.catalog.hardware import device
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.prose.baselines import OVER_BANDWIDTH
from advisor.prose.cache_patterns import ANY_LENGTH
from advisor.prose.devices import devices_in
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.portions import is_portion
from advisor.prose.scaling import against_fewer
from advisor.prose.shrinkage import gigabytes_in
from advisor.prose.split import (
    chain_of,
    counts_in_rows,
    divided_by_count,
    has_replicas,
    is_staged,
    names_devices,
    row_of,
    ways_of,
    ways_of_row,
)
from advisor.quantity.units import in_milliseconds
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, bandwidth_of, confidence_of, is_unlinked
from advisor.wording import factors, milliseconds

RULE = Rule(
    code="PAR001",
    name="tp-linear-claim",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.TP_IGNORES_COMM,
    about=("tensor_parallel", PROSE),
    flagged=(
        """\
«With tensor parallelism over four GPUs each token takes a quarter of the time.»
""",
        """\
rooflint: 1
model: Llama-2-7B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: tensor_parallel», size: 8, claim: 8x lower latency}
""",
    ),
    passing=(
        """\
TP=8 took the 7B from 9.5 to 3.0 ms per token, 3.1x on eight GPUs.
""",
        """\
Two GPUs give 1.8x for the 70B at batch 1.
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
weights: fp8
levers:
  - {kind: tensor_parallel, size: 2, claim: 1.8x}
""",
    ),
)

_MODEST = (
    r"(?:part|share) of (?:the |each )?(?:step|tpot|itl|time|latency|token)|bit more than|more"
    r" than half|over half|short of|almost|\bnearly|close to|up to|at best"
    r"|at most|less than|not \d|floor|ideal|theor|bound\b|bytes|\blimit|ceiling"
    r"|\broof|maxim|cannot exceed|no more|ms or (?:more|longer|worse)"
)
_EACH = re.compile(r"(\d+(?:\.\d+)?) ?([uµμ]s|ms) (?:each|apiece|per (?:all-?reduce|reduce|call))")
_A_TIME = re.compile(r"(\d+(?:\.\d+)?) ?([uµμ]s|ms)\b")
_SUM = re.compile(
    r"(?:add(?:s)? up to|sum(?:s)? to|total(?:s|ling)?|come(?:s)? to|amount(?:s)? to|make(?:s)?"
    r"|cost(?:s)?)"
    r" (?:about |only |just |some )?(\d+(?:\.\d+)?) ?([uµμ]s|ms)"
)
_CALLS = re.compile(
    r"\b(\d[\d,]{0,5}) (?:per token|all-?reduces|reduces|collectives|calls|of them)"
)
_EXCHANGE = (
    r"all-?reduces?|allreduces?|collectives?|communication|interconnect|exchanges?"
    r"|synchroni[sz]ation|\bsyncs?\b|(?:swap|hand)(?:ping|ing)(?: over| round)? of (?:the )?partial"
    r"|nvlink traffic|inter-?gpu traffic|tp traffic|payloads?|link traffic|hand-?offs?|messages?"
    r"|\blinks?\b|\b(?:add(?:ing|ed)? up|summ(?:ing|ed)(?: up)?|reduc(?:ing|ed)|gather(?:ing|ed)"
    r"|merg(?:ing|ed)"
    r"|combin(?:ing|ed)|collect(?:ing|ed)) [^.;,]{0,40}? (?:across|over|between|among"
    r"|from) (?:them|the|all"
    r"|both|two|four|eight|\d)"
    r"|fabric|cables?\b|what (?:crosses|goes across|travels)|traffic between the|(?:they|cards"
    r"|gpus)"
    r" (?:swap|exchange)|\bx[148] slots?"
)
_LATENCY = (
    r"\b(?:latency (?:of|floor|per (?:call|hop|layer|all-?reduce))|latency-dominated|launch\w*"
    r"|floor|\d"
    r" ?micro-?seconds?"
    r"|\d ?[uµ]s\b|hop|alpha|start-?up|round trips?|synchroni[sz]ation cost)"
)
_STAGED = (
    r"\b(?:pipeline|stages?|layer[- ]split|split[- ]mode layer|-sm layer|no tensor|without tensor)"
)
"""Layers that are not split: one hidden vector a stage is all that crosses."""
_SMALL_WORK = r"prefill|prompt|training|large batch|batch (?:of )?(?:6[4-9]|[7-9]\d|\d{3})|gradient"
_SUM_GRACE = 1.25
_LINEAR = 0.95
"""Of n: from here on nothing is left for fixed time and all-reduces."""


def check(audit: Audit) -> Iterator[Finding]:
    """N devices, n times the speed."""
    yield from _levers(audit)
    told = [said.statement for said in audit.said]
    yield from RULE.in_prose(
        audit,
        lambda said: _judge(said, told[: said.group]),
        why="fixed time and all-reduces do not divide by the number of devices",
        instead="claim what t = a + b/n gives: about 1.8x on two, 3x on eight",
    )


_SMALL_BATCH = 4


def _levers(audit: Audit) -> Iterator[Finding]:
    """Claims above t = a + b/n for the split, a being what does not divide."""
    for lever in audit.levers:
        if lever.lever.kind != "tensor_parallel" or lever.before.ledger.tokens > _SMALL_BATCH:
            continue
        ways = lever.after.ledger.ranks / lever.before.ledger.ranks
        claimed = lever.claim.speedup if lever.claim is not None else None
        if claimed is None or ways <= 1.0 or not promises_speed(lever):
            continue
        before, after = lever.before.estimate, lever.after.estimate
        fixed = after.shares.fixed * after.expected_ms.mid
        reduced = after.shares.communication * after.expected_ms.mid
        yield RULE.on_lever(
            audit,
            lever,
            f"{milliseconds(before.expected_ms.mid)} -> {milliseconds(after.expected_ms.mid)} ms on"
            f" {ways:.3g}x the devices, {milliseconds(fixed)} ms fixed and"
            f" {milliseconds(reduced)} ms in all-reduces: {factors(lever.tpot.interval)}",
            why="fixed time and all-reduces do not divide by the number of devices",
            instead=f"claim {factors(lever.tpot.interval)}",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "devices_ratio": ways, "fixed_ms": fixed},
        )


def _judge(said: Said, before: Sequence[Statement] = ()) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None:
        return None
    if statement.kind is Kind.AMOUNT and (wrong := _bad_sum(said, sure)) is not None:
        return wrong
    if _leaves_out_exchange(said):
        return _unpaid(sure)
    if statement.phase in NO_DECODE or statement.is_aggregate:
        return None
    if statement.kind not in {Kind.GAIN, Kind.FIGURE} or is_unlinked(statement):
        return None
    if OVER_BANDWIDTH.search(statement.text) is not None or statement.text.startswith("="):
        return None  # arithmetic, of which somebody may conclude something
    text = statement.context_text
    if said.has(_EXCHANGE_TIMED) or _OF_A_PART.search(statement.text) is not None:
        return None
    if not _is_split(said) or is_staged(text) or has_replicas(text) or _is_bound(statement):
        return None
    metrics = {"RATE", "TIME", "FASTER", "DECODE", "TOKENS", "SINGLE"}
    worded = _AS_FAST.search(statement.text) is not None or is_portion(statement.text)
    bare = statement.table is None and statement.clause.isdisjoint(metrics) and not worded
    of_point = statement.opener == ":" and not statement.around.isdisjoint(metrics)
    if statement.kind is Kind.GAIN and bare and statement.tpot_ms is None and not of_point:
        return None
    if said.has(
        r"(?:does|do|did|would)(?: ?n['o’]t| not) fit|spill|system ram|\bddr\d|offload"
        r"|everything in vram|requests"
    ):
        return None
    if said.says(r"\bdraft(?:er)?:") or said.says(
        r"than (?:pcie|infiniband|ethernet|the (?:network|nic))|interconnect bandwidth"
    ):
        return None
    if re.search(_MODEST, statement.text, re.IGNORECASE):
        return None
    chain = chain_of(statement, _LINEAR)
    if chain is not None:
        return _too_much(*chain, sure)
    if divided_by_count(statement.sentence_text) is not None and "TP" in statement.nearby:
        return Wrong(
            "t = a + b/n: only the part that is read and computed divides by n; a 7B came to "
            "3.1x on"
            " 8 A100, a 70B to 2.9x from 2 to 8",
            sure,
        )
    if (whole := _whole_bandwidth(said)) is not None:
        return Wrong(
            f"{whole:.3g} ms per token is all bytes over the bandwidths of all devices added up,"
            f" with"
            f" nothing for fixed time and 2 all-reduces a layer",
            sure,
            numbers={"floor_ms": whole},
        )
    alone = ways_of_row(statement) if counts_in_rows(statement) else ways_of(statement)
    ways, factor = row_of(statement) or (alone, _factor(said))
    for pair in ((ways, factor), against_fewer(statement, before) or (None, None)):
        more, faster = pair
        if more is None or faster is None or not 1 < more <= _MOST_WAYS:
            continue
        if _LINEAR * more <= faster <= _BEYOND_ANY * more:
            return _too_much(more, faster, sure)
    return None


def _is_bound(statement: Statement) -> bool:
    """Whether a figure is told as what bytes alone come to, with the exchange still to be added."""
    labels = ""
    if statement.table is not None:
        columns, cells, own = statement.table
        labels = f"{columns[own]} | {cells[0]}"
    if _BOUND.search(labels) is not None or _BEFORE_EXCHANGE.search(statement.text) is not None:
        return True
    told = f"{statement.sentence_text} {statement.after_text} {statement.next_text}"
    return _ADDED.search(told) is not None or _ROOF.search(statement.sentence_text) is not None


_BOUND = Form(
    r"\b(?:floors?|bounds?|limits?|ceilings?|roofline|roof|minimum|ideal(?:ly)?|theoretical|theory"
    r"|on paper|at best|best case|perfect|linear|GB|bytes)\b"
)
_BEFORE_EXCHANGE = Form(
    r"\b(?:bandwidth|bytes|reads?|reading|traffic|memory|bus(?:es)?|weights) (?:alone )?(?:would"
    r"|could|might|allows?|permits?|is good for)\b|"
    r"\W*(?:the )?(?:weight |memory )?(?:traffic|reads?|reading|streaming"
    r"|bytes)(?: alone)? (?:takes?|costs?|is|are)\b|"
    r"\b(?:before|not counting|excluding|leaving out|plus|floors?|lower bound|on paper)\b"
    r"[^.;]{0,40}?\b(?:all-?reduces?|communication|exchange|overheads?|fixed|launch\w*)\b"
    r"|\b(?:floors?|lower bound|on paper|at best|ideal(?:ly)?)\b"
)
_ROOF = Form(
    r"\b(?:moves?|brings?|lowers?|takes?|cuts?|drops?|reduces?|shifts?) the floor\b|"
    r"\b(?:no|never|not|cannot|can['’]t)\b[^.;]{0,48}?\b(?:more often|sooner|faster|quicker"
    r"|earlier|less|below"
    r"|under) (?:\w+ ){0,2}?\d|\b(?:rooflines?|lower bounds?|weights[- ]only floor)\b"
)
_ADDED = Form(
    r"\b(?:to this|on top|we add|adds?|added|adding|plus|then comes?|beside this)\b[^.;]{0,60}?"
    r"\b(?:all-?reduces?|communication|exchange|collectives?)\b"
    r"|\b(?:all-?reduces?|communication|exchange|collectives?)\b[^.;]{0,40}?\b(?:on top"
    r"|come in addition"
    r"|are added|is added|not counted|not included)\b"
)
"""The exchange is added to a figure afterwards."""
_AS_FAST = Form(r"\bas (?:fast|quick(?:ly)?)\b|\btimes the (?:rate|speed|pace)\b")
_MOST_WAYS = 32
"""Devices that one model is split over; a larger number counts something else."""
_BEYOND_ANY = 4.0
"""A factor beyond it is no claim of these devices: the figures are of something else."""


def _is_split(said: Said) -> bool:
    """Whether one model is split over several devices."""
    statement = said.statement
    return (
        "TP" in statement.nearby
        or (statement.cause == "TP" and statement.tpot_ms is not None and statement.table is None)
        or row_of(statement) is not None
        or names_devices(statement.context_text)
    )


def _too_much(ways: float, factor: float, sure: Confidence) -> Wrong:
    expected = 1.0 / (0.2 + 0.8 / ways)
    return Wrong(
        f"{factor:.3g}x on {ways:.3g}x the devices leaves nothing for fixed time and 2 "
        f"all-reduces a"
        f" layer: with a fifth of the step fixed, t = a + b/n gives {expected:.1f}x",
        sure,
        numbers={"devices_ratio": ways, "speedup": factor},
    )


def _unpaid(sure: Confidence) -> Wrong:
    return Wrong(
        "an all-reduce of some kilobytes takes its latency, 5 to 20 us over NVLink, whatever the"
        " GB/s: 2 in each of 80 layers are 0.8 to 3.2 ms per token",
        sure,
        numbers={"least_ms": 0.8, "most_ms": 3.2},
    )


_BESIDE = Form(
    r"\b(?:beside|besides|against|compared (?:to|with)|relative to|than|next to"
    r"|unlike)\b[^.;,]{0,24}$"
)
_NANOSECONDS = Form(r"\b\d[\d.,]* ?(?:ns|nanoseconds?)\b")


_SPLIT_COSTS = Form(
    r"\b(?:tensor[- ]parallel\w*|tp(?:[ =]?\d)?) (?:\w+ ){0,3}?(?:comes?|costs?|is|loses?|takes?)\b"
)


_BETWEEN = r"\binter-?gpu\b|\bbetween (?:the )?(?:\w+ )?(?:cards|gpus|ranks|devices|machines)\b"
_IF_FREE = Form(r"\bif (?:\w[\w-]* ){0,4}?(?:costs?|took|takes?|were|was|are|is)\b")


def _leaves_out_exchange(said: Said) -> bool:
    """Whether the exchange between devices in decode is said to cost nothing, for its few bytes."""
    statement = said.statement
    if statement.phase in {Phase.TRAINING, Phase.OTHER}:
        return False
    split = "TP" in statement.nearby or said.has(_BETWEEN) or names_devices(statement.context_text)
    if not split or not said.has(_EXCHANGE) or said.has(_SMALL_WORK):
        return False
    if _IF_FREE.search(statement.text) is not None:
        return False
    if said.has(_LATENCY) or said.has(_STAGED):
        return False
    named = re.search(_EXCHANGE, statement.text, re.IGNORECASE)
    if re.search(
        r"\b(?:compared|relative|next) (?:to|with)\b|pcie|all-?gather",
        statement.text,
        re.IGNORECASE,
    ):
        return False
    told = named is not None and not _BESIDE.search(statement.text, 0, named.start())
    pointing = re.search(r"\b(?:it|this|they|these|which|them|that)\b", statement.text) is not None
    if _OF_ROOM.search(statement.text) is not None:
        return False
    if ANY_LENGTH.search(statement.text) is not None:
        return False  # said of the context, which the exchange does not depend on
    if statement.kind in {Kind.FREE, Kind.KV_IGNORED}:
        named_split = _SPLIT_COSTS.search(statement.text)
        return told or named_split is not None or (pointing and statement.is_linked)
    short = _NANOSECONDS.search(statement.text) is not None
    return (
        statement.kind in {Kind.AMOUNT, Kind.FIGURE} and short and statement.phase is Phase.DECODE
    )


_EXCHANGE_TIMED = r"\d ?[uµ]s (?:per|an|each) all-?reduce\b"
"""The exchange is added up of its calls."""
_OF_A_PART = Form(
    r"\b(?:weight|fixed|read|reading|memory|matrix|compute|variable) (?:part|share|portion|term"
    r"|time)\b"
    r"|\bdon['’]t divide\b|\bdo not divide\b"
)
_COUNTED_EXCHANGE = (
    r"\d[\d.]* ?(?:ms|[uµ]s)\b[^.;]{0,40}?\ball-?reduces?\b|\ball-?reduces?\b[^.;]{0,40}?\d ?(?:ms"
    r"|[uµ]s)\b"
)
"""The exchange has a time of its own near by."""


_OF_ROOM = Form(r"\b(?:gigabytes|GB(?!/s)|memory|capacity|vram)\b")


_SHOWN = Form(r"\W*(?:that|this|it|which)(?:['’]s| is| makes| takes| gives| comes to)\b")


def _whole_bandwidth(said: Said) -> float | None:
    """Bytes over the bandwidths of all devices together in ms, where a figure is just that."""
    statement, frame = said.statement, said.statement.frame
    if statement.tpot_ms is None or said.has(_COUNTED_EXCHANGE):
        return None
    if _SHOWN.match(statement.text) is not None and said.says(r"\d ?[tg]b/s"):
        return None  # a quotient that the sentence shows
    ways = frame.devices or ways_of(statement) or 1
    summed = _SUMMED.search(statement.context_text) is not None
    if ways <= 1 and not summed:
        return None
    each = frame.bandwidth_gbs
    rates = [bandwidth_of(frame), each if summed else None, each * ways if each else None]
    rooms = {device(one.identifier).memory_gb for one in devices_in(statement.context_text)}
    told = (one.gigabytes for one in gigabytes_in(statement.context_text))
    sizes = [size for size in told if size not in rooms]
    floors = [size / rate * 1e3 for rate in rates if rate for size in sizes if size >= 1.0]
    if said.floor is not None:
        floors.append(said.floor.ms)
    return next((ms for ms in floors if abs(statement.tpot_ms / ms - 1.0) < _EXACT), None)


_SUMMED = re.compile(
    r"\b\d{1,2} ?[x×*] ?\d[\d,.]* ?(?:[GT]B/s)?[^.;]{0,12}? ?(?:=|makes?|is|are|gives?|come|adds?)",
    re.IGNORECASE,
)
_EXACT = 0.03


def _in_ms(time: re.Match[str]) -> float:
    return float(time[1]) * (in_milliseconds(time[2]) or 0.0)


def _bad_sum(said: Said, sure: Confidence) -> Wrong | None:
    """So many all-reduces at so many microseconds each, added up wrongly."""
    statement = said.statement
    if not said.has(r"all-?reduce|collective|reduces\b"):
        return None
    each = _EACH.search(statement.context_text)
    totals = [one for one in _SUM.finditer(statement.text) if each is None or one[1] != each[1]]
    total = totals[0] if totals else None
    counts = [int(n.replace(",", "")) for n in _CALLS.findall(statement.context_text)]
    if each is None or total is None or not counts:
        return None
    right = counts[-1] * _in_ms(each)
    every = (_in_ms(one) for one in _A_TIME.finditer(statement.context_text))
    if any(1 / _SUM_GRACE < one / right < _SUM_GRACE for one in every):
        return None  # the sum was told, and another time is that of the step
    told = _in_ms(total)
    if 1 / _SUM_GRACE < told / right < _SUM_GRACE:
        return None
    return Wrong(
        f"{counts[-1]} x {each[1]} {each[2]} = {right:.3g} ms, not {told:.3g} ms",
        sure,
        numbers={"right_ms": right, "told_ms": told},
    )


def _factor(said: Said) -> float | None:
    statement = said.statement
    if statement.speedup is not None:
        return statement.speedup
    if statement.tpot_ms is None:
        return None
    told = statement.context_text[: statement.context_text.rfind(statement.sentence_text)]
    before = [tpot for _, _, tpot in statement.earlier if tpot] or [
        float(match[1]) for match in _MS.finditer(told)
    ]
    return before[-1] / statement.tpot_ms if before else None


_MS = re.compile(r"(?<![\w.,])(\d{1,4}(?:\.\d+)?) ?ms\b(?! (?:each|apiece|per (?!token)))")
