"""## What it does
Flags wrong premises about a decode step: that it is spent in the sampler or in launches, that
weights cross the slot of a card that holds them, that an adapter is all that is read, that layers
run at once, that a cached prefix is not read, that weights come out of an on-chip cache, that a
device whose gauge is at 100% has no more to give.

## Why is this bad
A step reads every weight of its layers, one layer after the other, and the keys and values of all
tokens before it, from device memory. What follows from another account of it is wrong as well.

## Instead
Divide the bytes by the bandwidth first: what remains of the measured time is overhead.

## When this rule is wrong
Models of under some billions of parameters do spend their steps in launches and samplers, and
small ones fit into a cache. Launches are judged only where the text gives bytes, bandwidth and
time. Offloaded weights do cross the slot.

## References
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
- Hu et al.: LoRA: https://arxiv.org/abs/2106.09685
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.prose.besides import ELSEWHERE, RESIDENT, SAMPLER_COUNTS
from advisor.prose.model import Kind, Status
from advisor.prose.premises import Premise, premise_in
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Judge, Said, Wrong, confidence_of, is_small_batch
from advisor.wording import size

RULE = Rule(
    code="TXT005",
    name="false-step-premise",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.OTHER,
    about=(PROSE,),
    flagged=(
        """\
The 14B sits in VRAM, «but its weights go over PCIe for every token.»
""",
        """\
«Most of each step of our 32B model is the sampler.»
""",
    ),
    passing=(
        """\
Half of the 70B is offloaded, and its weights go over PCIe for every token.
""",
        """\
Launch overhead makes up most of the step of our 0.5B model.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Accounts of a step that are wrong."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a step reads its weights, layer after layer, and its cache from device memory",
        instead="divide the bytes by the bandwidth; what remains of the time is overhead",
    )


_OF_FACT: Final = frozenset(
    {Premise.SLOT, Premise.ADAPTER, Premise.ON_CHIP, Premise.PREFIX, Premise.LAYERS}
)
"""What is no matter of a measurement, told in the past or not."""


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    if statement.phase in NO_DECODE:
        return None
    if (wrong := _reads_adapter(said)) is not None:
        return wrong
    if statement.kind is not Kind.PREMISE:
        return None
    found = premise_in(statement.text)
    if found is None:
        return None
    sure = confidence_of(statement)
    if statement.status is Status.MEASURED and found[0] in _OF_FACT:
        sure = Confidence.HIGH
    wrong = None if sure is None else _JUDGES[found[0]](said)
    if wrong is None or sure is None:
        return None
    return wrong if sure is Confidence.HIGH else wrong._replace(confidence=sure)


_LARGE: Final = 6e9
"""Bytes of weights from which reading them takes milliseconds on any device."""
_FEWEST_BITS: Final = 4.0


def _weight_bytes(said: Said) -> float | None:
    """Bytes of the weights, at least, as far as the text tells."""
    frame = said.statement.frame
    if frame.weight_bytes is not None:
        return frame.weight_bytes
    count = frame.active_parameters or frame.parameters
    return None if count is None else count * (frame.weight_bits or _FEWEST_BITS) / 8.0


def _about(said: Said) -> str:
    statement = said.statement
    return f"{statement.lead_text} {statement.context_text} {statement.next_text}"


def _sampler(said: Said) -> Wrong | None:
    if not is_small_batch(said.statement) or SAMPLER_COUNTS.search(_about(said)) is not None:
        return None
    weights = _weight_bytes(said)
    if weights is not None and weights < _LARGE:
        return None
    return Wrong(
        "the sampler works on one row of logits (0.5 MB at 128k tokens), some ten microseconds"
        " beside the milliseconds that reading the weights takes",
        Confidence.MEDIUM if weights is None else Confidence.HIGH,
    )


_MS: Final = Form(r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:ms|milliseconds)\b")
_HALF: Final = 0.5


def _launches(said: Said) -> Wrong | None:
    """Launches as most of a time of which reading the weights alone takes more than half."""
    statement, floor = said.statement, said.floor
    told = _MS.findall(statement.text) or _MS.findall(statement.context_text)
    if floor is None or not told or not is_small_batch(statement):
        return None
    step = max(map(float, told))  # the others may be parts of it
    if step <= 0 or not _HALF * step < floor.ms <= step:
        return None
    return Wrong(
        f"of {step:g} ms reading {size(floor.weight_bytes)} at {floor.bandwidth_gbs:,.0f} GB/s"
        f" takes"
        f" {floor.ms:.3g} ms: launches are less than half",
        Confidence.HIGH,
        numbers={"step_ms": step, "floor_ms": floor.ms},
    )


_OF_SLOT: Final = Form(r"\bpci|\bslots?\b|\blanes?\b|\brisers?\b|\bx(?:1|4|8|16)\b")
_OF_MEMORY: Final = Form(r"\b(?:memory|vram|hbm|gddr\w*|\d+-bit) (?:bus|link)\b")


def _slot(said: Said) -> Wrong | None:
    about = _about(said)
    if _OF_SLOT.search(about) is None or _OF_MEMORY.search(said.statement.text) is not None:
        return None
    if RESIDENT.search(about) is None or ELSEWHERE.search(about) is not None:
        return None
    return Wrong(
        "weights that lie in the memory of the card are read from there: over the slot go token"
        " ids and logits, 4 bytes and some 0.5 MB a token",
        Confidence.HIGH,
    )


_NOT_READ: Final = Form(
    r"\b(?:training|trains?|trainers?|updat\w*|swap\w*|disk|ssd|nvme|download\w*|network"
    r"|merged?\b(?<!un-merged)"
    r"|extra|additional\w*|on top|in addition|besides|plus|cold|switch\w*|ship\w*|host|cpu"
    r"|(?:base|backbone)[^.;:,]{0,24}? (?:is|are|being) shared|shared (?:base|backbone)"
    r"|share the)\b"
)
_ADAPTER: Final = Form(r"\b(?:lo-?ras?|adapters?)\b")
_MB_A_TOKEN: Final = Form(
    r"\b(?:reads?|streams?|touch(?:es)?|loads?|fetch(?:es)?|moves?|pulls?|needs?)\b[^.;:\d]{0,24}"
    r"(?P<read>\d[\d.]*) ?MB (?:per|for each|for every|each|every|a) (?:\w+ )?(?:token|word|step)"
    r"[^.;:]{0,16}? (?:instead of|rather than|in place of|and not|not) "
)
_TOLD_ADAPTER: Final = (
    "an adapter is added to the weights below it: a token reads all of them and the adapter, so the"
    " bytes per token do not fall"
)


def _adapter(said: Said) -> Wrong | None:
    if _NOT_READ.search(said.statement.sentence_text) is not None:
        return None
    return Wrong(_TOLD_ADAPTER, Confidence.HIGH)


def _reads_adapter(said: Said) -> Wrong | None:
    """The bytes of an adapter, as those that a token reads instead of the model's."""
    statement = said.statement
    if statement.kind is not Kind.READS or statement.status not in _TOLD:
        return None
    told = _MB_A_TOKEN.search(statement.text)
    if told is None or _ADAPTER.search(statement.context_text) is None:
        return None
    return _adapter(said)


_TOLD: Final = frozenset({Status.ASSERTED, Status.MEASURED})
_SIDE_BY_SIDE: Final = Form(
    r"\b(?:pipelin\w*|stages?|micro-?batch\w*|gpus|cards|devices|chips|nodes|train\w*|prompts?"
    r"|prefill|draft\w*|verif\w*|different (?:requests|tokens|sequences|users)|attention and"
    r" (?:the )?(?:mlp|ffn|feed)|parallel (?:attention|blocks?|formulation|residual)|gpt-j|palm"
    r"|rows|batch\w*|two layers|pairs? of|split\w*|threads?|ctas?|tiles?|chunks?)\b"
)
"""Layers of several tokens or devices, or parts of one layer, which may run side by side."""


def _layers(said: Said) -> Wrong | None:
    if _SIDE_BY_SIDE.search(said.statement.context_text) is not None:
        return None
    return Wrong(
        "a layer starts from what the layer before it puts out, so a token passes them one after"
        " the other: 10% fewer layers take about 10% less time",
        Confidence.HIGH,
    )


_PREFIX: Final = Form(
    r"\b(?:prefix\w*|(?:system|shared|cached) prompt|preambles?|cache hits?|radix\w*)\b"
)
_KEYS: Final = Form(
    r"\b(?:keys?|values?|k/?v|tokens|prompts?|prefix\w*|cache|them|those|these|it|preamble)\b"
)
_OTHER_WAY: Final = Form(
    r"\b(?:recomput\w*|re-?process\w*|prefill\w*|slid\w+|window\w*|evict\w*|compress\w*|prun\w*"
    r"|drop\w*|gist|summar\w*|sparse|sinks?|quest|h2o|snapkv|weights?|cascade|shared by|at once"
    r"|hydragen|batch\w*|users)\b"
)
"""How keys may be left out after all, or be read once for many."""


def _prefix(said: Said) -> Wrong | None:
    statement = said.statement
    if "PREFIX" not in statement.nearby and _PREFIX.search(statement.context_text) is None:
        return None
    if _KEYS.search(statement.text) is None or _OTHER_WAY.search(statement.text) is not None:
        return None
    return Wrong(
        "a cached prefix spares its computation in prefill; each token after it still reads 100% of"
        " its keys and values",
        Confidence.HIGH,
    )


_CACHE_MB: Final = Form(
    r"(?<![\w.])(?P<before>\d{1,3}(?:\.\d+)?) ?MB (?:of |large |big |shared |unified )?(?:\w+ )?"
    r"(?:l[23]|llc|last[- ]level|on-?(?:chip|die)|infinity|system[- ]level|slc|sram|smart|cache)\b"
    r"|\b(?:l[23]|llc|cache|sram)\b[^.;\d]{0,24}?(?P<after>\d{1,3}(?:\.\d+)?) ?MB\b"
)
_NAMED_CACHE: Final = Form(r"\b(?:l[23]|llc|last[- ]level|infinity cache|system[- ]level|slc)\b")
_ALL_SRAM: Final = Form(
    r"\b(?:cerebras|wafer\w*|wse\S*|groq|graphcore|d-?matrix|chips|tiles?|blocks?|re-?us\w+|kv"
    r"|routers?|norms?|scales?|bias(?:es)?|some|part|fraction|hot|drafts?|drafter|lo-?ras?"
    r"|adapters?|heads?|codebooks?|luts?|prefetch\w*|next layer|layer at a time|prefix\w*"
    r"|\d[\d.]* ?MB of (?:\w+ )?(?:weights|parameters))\b"
)
"""Chips made of such memory, or parts that are used again while they are there."""
_LARGEST_CACHE_MB: Final = 512.0


_AHEAD_OF_USE: Final = Form(r"\bpre-?(?:fetch|load)\w*|\boverlap\w*|\bahead of (?:use|time)\b")


def _on_chip(said: Said) -> Wrong | None:
    """Weights that are larger than the cache they are said to come from."""
    text, weights = said.statement.context_text, _weight_bytes(said)
    if weights is None or _ALL_SRAM.search(said.statement.text) is not None:
        return None
    told = _CACHE_MB.search(text)
    if _AHEAD_OF_USE.search(text) is not None:
        return None  # what one kernel needs next is there in time; all of it is still read
    if told is None and _NAMED_CACHE.search(said.statement.text) is None:
        return None
    cache = float(told["before"] or told["after"]) if told else _LARGEST_CACHE_MB
    if weights <= 2.0 * cache * 1e6:
        return None
    kept = f"{cache:g} MB of cache hold" if told else "an on-chip cache holds"
    return Wrong(
        f"{kept} a small part of {size(weights)}, and a step reads each weight once: they come from"
        " device memory",
        Confidence.HIGH,
        numbers={"weight_bytes": weights},
    )


_GAUGE: Final = Form(
    r"\b(?:gpu[- ]?util\w*|utili[sz]ation|nvidia-smi|nvtop|task manager|rocm-smi)\b[^;]{0,80}?"
    r"(?<![\d.])(?:9\d|100) ?(?:%|per ?cent)"
    r"|(?<![\d.])(?:9\d|100) ?(?:%|per ?cent) (?:gpu[- ]?util\w*|utili[sz]ation|gpu (?:usage|load))"
)
_OTHER_GAUGE: Final = Form(
    r"\b(?:bandwidth|memory (?:controller|bus)|mbu|mfu|dram|hbm|sm (?:active|occupancy)|tensor"
    r"|prefill"
    r"|prompts?|train\w*|batch (?:of )?\d{2,})\b"
)
"""Gauges that do tell what is used, and phases that use it."""


def _gauge(said: Said) -> Wrong | None:
    """Busy time taken for use."""
    text = said.statement.context_text
    if _GAUGE.search(text) is None or _OTHER_GAUGE.search(text) is not None:
        return None
    if not is_small_batch(said.statement):
        return None
    return Wrong(
        "the gauge tells for how much of the time some kernel ran, and not how much of the"
        " bandwidth"
        " or of the arithmetic it used: compare bytes per token times tokens per second with GB/s",
        Confidence.HIGH,
    )


_JUDGES: Final[Mapping[Premise, Judge]] = MappingProxyType(
    {
        Premise.SAMPLER: _sampler,
        Premise.LAUNCHES: _launches,
        Premise.SLOT: _slot,
        Premise.ADAPTER: _adapter,
        Premise.LAYERS: _layers,
        Premise.PREFIX: _prefix,
        Premise.ON_CHIP: _on_chip,
        Premise.GAUGE: _gauge,
    }
)
