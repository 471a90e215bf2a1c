"""## What it does
Flags more memory (a larger card, freed gigabytes) that is to make tokens of one stream come
faster where the model already fits.

## Why is this bad
A token reads the same bytes from a card of 24 GB and of 48 GB; time follows bandwidth. Capacity
pays where a model would spill over a link, or where it is turned into a larger batch or a longer
context.

## Instead
Compare GB/s. Sell capacity as users, context or a model that did not fit, with the arithmetic.

## When this rule is wrong
If the model did not fit before (weights on the host, PCIe in the token path), say so: then
capacity does set speed. If the larger card also has more bandwidth, name it.

## References
- Kwon et al.: PagedAttention: https://arxiv.org/abs/2309.06180
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.levers import Nature
from advisor.prose.compared import capacities, compared_devices
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.patterns import CAPACITY_DRIVES
from advisor.prose.shrinkage import FORMAT
from advisor.prose.tiers import SHARED_LAYERS
from advisor.prose.widths import UNQUANTIZED_BITS, widths_of
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, bandwidths_in, confidence_of
from advisor.told.compared_rates import rates_compared
from advisor.wording import size

RULE = Rule(
    code="CAP001",
    name="capacity-sold-as-speed",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=("paged_cache", "loading", "training_only", "prune", PROSE),
    flagged=(
        """\
The 7B fits in both. «The card with more VRAM gives more tokens per second.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 4k}
levers:
  - {«kind: paged_cache», claim: 2x faster generation at batch 1}
""",
    ),
    passing=(
        """\
The 70B does not fit 24 GB and spills to system RAM; more VRAM makes it many times faster.
""",
        """\
More VRAM does not make a model that already fits any faster.
""",
        """\
48 GB allow more sessions, not faster ones.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 4k}
levers:
  - {kind: paged_cache, claim: twice the sequences in the same memory}
""",
    ),
)

_HELPS = (
    r"(?:does|do|did|would|will|could|can)(?: ?n['o’]t| not) fit|no longer fit|spill"
    r"|(?<!no )(?<!without )(?<!never )\bswapping\b(?! (?:the|an?|our|its|your|\w+ (?:for|to|with"
    r"|against))\b)|\bswap (?:space"
    r"|file)|\bswap(?:s|ped|ping)? (?:in|out|to)|into swap|offload"
    r"|pcie"
    r"|system ram|\bdisk|\bhit rate|\bexperts (?:\w+ ){0,2}?(?:kept|held|cached|resident)"
    r"|larger batch|more (?:users|sequences|requests)|concurren|preempt|evict|(?:peak|under) load"
    r"|\d ?GB[^.;:]{0,24}?, of which|than (?:on )?(?:an? |the |any )?(?:[\w-]+ )?(?:cpus?|phone)\b"
)
"""What makes capacity a matter of speed after all."""
_SPILLED = Form(
    r"\blayers (?:\w+ ){0,3}?(?:ran|run|fit|were|lived|sit|sat|stayed|stay|went|go|spilled)\b"
    r"|\b(?:more|all|half|some|\d+(?: of \d+)?) (?:of the )?layers (?:fit|ran|in|on|from)\b"
    r"|\b(?:ran|read|streamed|served|paged|ran out) (?:\w+ )?(?:from|of|out of) (?:ddr\d?|ram"
    r"|system"
    r"|host|disk|ssd)\b"
)
"""Layers that ran from slower memory before, wherever the text says so."""
_SAME_BANDWIDTH = (
    r"(?:same|equal|identical|unchanged) (?:\w+[- ]){0,3}?(?:bandwidth|[tg]b/s|bus|clocks?"
    r"|channels?|ddr\S*"
    r"|lpddr\S*|mt/s|speed|chip)"
    r"|\d ?[tg]b/s\)?,? (?:each|either|in (?:both|each)|for (?:both|either)|both|throughout"
    r"|as before)"
    r"|both (?:\w+ ){0,3}?\d[\d.,]* ?[tg]b/s|shar(?:e|es|ing) \d[\d.,]* ?[tg]b/s|bus unchanged"
    r"|(?:bandwidth|bus(?: width)?|clocks?|channels) (?:is|are|stays?|remains?) (?:the same|equal"
    r"|unchanged|as (?:it|they) w)|same \d[\d.,]* ?[tg]b/s"
    r"|keeps? [^.;]{0,40}?(?:bandwidth|bus|clock)|still (?:dual|single|quad)[- ]channel"
    r"|both (?:at|have|with|run at) \d[\d.,]* ?[tg]b/s"
    r"|no (?:more|extra|additional) bandwidth"
)
_MORE = (
    r"more (?:gigabytes|vram|memory|gb|ram)|\d ?gb[^.]{0,80}more room|(?:unused|spare|idle"
    r"|free) (?:vram|memory)|(?:vram|memory) (?:is|stays) (?:unused|idle|empty)"
    r"|\d+ ?gb (?:instead of|rather than|against) \d+ ?gb|\d+ ?gb (?:configuration|variant)"
    r"|\d+ ?gb (?:card|part|version|gpu|model)"
    r"|(?:twice|double|triple|times|much|extra|additional|large|vast|ample)"
    r" (?:the |as much |of |an? )?vram|resident in vram|vram (?:size|matters|counts|helps|makes"
    r"|gives|means|wins)"
    r"|doubl\w+ the memory|(?:larger|bigger) (?:memory|hbm|vram)|memory to \d+|(?:frees|saves"
    r"|releases|free "
    r"up) \d+ ?gb"
    r"|\d+ ?gb of (?:memory|vram|ram|hbm\w*) (?:\w+ ){0,3}?(?:makes?|speeds?|accelerates?|gives?"
    r"|brings?|means?|will|would)\b"
)
_OTHER_LEVERS = frozenset({"QUANT", "PRUNE", "DISTILL", "KVQ", "GQA", "SPEC"})
_KEPT = Form(
    rf"\b\d{{1,4}}(?:\.\d)?B(?:-[\w.]+)? (?:model )?\(?(?:in |at |as |with )?{FORMAT}\b"
    rf"|\b{FORMAT} (?:\w+ )?\d{{1,4}}(?:\.\d)?B\b"
)
"""A model in the format in which it is kept: "a 7B in Q4", "the 8-bit 8B"."""


def _other_levers(text: str) -> frozenset[str]:
    """What makes a step faster by itself; the one format in which the model is kept does not."""
    kept = len(widths_of(text)) < 2 and _KEPT.search(text) is not None
    return _OTHER_LEVERS - {"QUANT"} if kept else _OTHER_LEVERS


def check(audit: Audit) -> Iterator[Finding]:
    """More memory with a promise for one stream."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="fitting is not streaming less",
        instead="compare GB/s first; turn capacity into users or context, with the arithmetic",
    )


def _levers(audit: Audit) -> Iterator[Finding]:
    """Levers on memory with claims on the time per token."""
    for lever in audit.levers:
        before, after = lever.before.estimate, lever.after.estimate
        saving = lever.lever.acts_on is Nature.CAPACITY or lever.lever.machine_kind == (
            "prune.experts"
        )
        if lever.lever.kind not in RULE.about or not saving or not promises_speed(lever):
            continue
        if lever.moves_fewer_bytes or lever.claim is None or lever.claim.metric != "tpot":
            continue
        held = before.capacity.needed_bytes - after.capacity.needed_bytes
        yield RULE.on_lever(
            audit,
            lever,
            f"{lever.lever.label} saves {size(max(held, 0.0))} of memory at this batch; a token"
            f" still reads {size(after.bytes.memory)}: 1.00x",
            why="fitting is not streaming less",
            instead=advice(audit, "turn the room into sequences or context, with the arithmetic"),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )


def _is_paged(said: Said) -> bool:
    """Whether a paged cache is to speed up one stream, which shares its memory with nobody."""
    return "SINGLE" in said.statement.clause and said.says(r"paged ?attention|paged (?:kv )?cache")


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.phase in NO_DECODE or statement.is_aggregate:
        return None
    if _of_shared_layers(said):
        return Wrong(
            "layers that share their weights hold them once and read them once a layer: a token"
            " moves the same bytes (1.00x), unless they stay in a cache on the chip",
            sure,
        )
    if statement.kind not in {Kind.GAIN, Kind.ADVICE, Kind.DRIVER} or said.has(_HELPS):
        return None
    if _SPILLED.search(f"{statement.context_text} {statement.after_text}"):
        return None
    if (wrong := _room_for_what_fits(said, sure)) is not None:
        return wrong
    if said.has(r"bandwidth|[tg]b/s|\bbus\b|clock") and not _is_as_fast(said):
        return None
    if _BY_BANDWIDTH.search(statement.text) is not None or _ONLY_ROOM.search(statement.text):
        return None
    if _SHRUNK.search(statement.context_text) or said.has(_CONSUMED):
        return None  # what is smaller is read in less time as well; what is used is no room
    if (ratio := _follows_capacity(said)) is not None:
        return Wrong(
            f"{ratio:.3g}x the memory is not {ratio:.3g}x the speed: memory that is not read moves"
            " nothing, at equal GB/s a token takes the same time (1.00x)",
            sure,
            numbers={"capacity_ratio": ratio},
        )
    if _only_room_grows(said):
        return Wrong(_nothing(statement.context_text), sure)
    if statement.kind is Kind.DRIVER:
        told = CAPACITY_DRIVES.search(statement.text) and not said.says(r"\bfits?\b")
        if "depend" in statement.text:  # which states what decides and hedges nothing
            sure = Confidence.HIGH
        return (
            Wrong(_nothing(statement.context_text), sure)
            if told and statement.sentence & _OF_SPEED
            else None
        )
    others = _other_levers(statement.context_text)
    if "CAPACITY" not in statement.sentence or not others.isdisjoint(statement.sentence):
        return None
    if statement.kind is Kind.ADVICE:
        about_speed = not statement.sentence.isdisjoint({"FASTER", "SLOWER", "RATE"})
        decode = statement.phase is Phase.DECODE and "CAPACITY" in statement.clause
        if not about_speed or not decode or said.has(r"fit|users|context"):
            return None
    elif (
        statement.cause not in {"CAPACITY", "TP", "BATCH", "HARDWARE"}
        or not (said.says(_MORE) or _is_paged(said))
        or said.says(
            r"(?:memory|hbm|bandwidth|clock|ram|kernel|gpu|cores?) (?:is|are|runs?|gets?) (?:\w+ "
            r"){0,2}faster"
        )
    ):
        return None
    about_tokens = not statement.nearby.isdisjoint({"TOKENS", "LLM", "RATE"})
    if statement.phase is Phase.UNKNOWN and not about_tokens and not said.has(r"\bfits?\b"):
        sure = Confidence.MEDIUM
    return Wrong(_nothing(statement.context_text), sure)


_BY_BANDWIDTH = Form(
    r"\d ?[tg]b/s (?:\w+ ){0,2}?(?:makes?|speeds?|gives?|brings?|accelerates?)\b"
    r"|\b(?:because|account|thanks|owing|due|for)\b[^.;]{0,24}? (?:faster|wider|quicker) (?:hbm"
    r"|memory"
    r"|g?ddr|lpddr|ram|bus)"
)
"""A bandwidth as what makes it faster."""


_ONLY_ROOM = Form(
    r"\b(?:capacity|room|space|gigabytes) (?:only|alone)\b"
    r"|\b(?:only|nothing but|no more than|merely) (?:more |extra )?(?:capacity|room|space)\b"
)
"""More room as all that comes of more memory."""
_CONSUMED = (
    r"\b(?:us(?:es?|ed|ing)|tak(?:es?|en|ing)|needs?|needed|needing|consum\w+|requir\w+|costs?"
    r"|occup\w+|expense of|price of|trad\w+)\b[^.;:]{0,24}? (?:more|extra|additional) (?:\w+ )?"
    r"(?:memory|vram|ram)\b"
)
"""More memory that something takes, for a speed that it has by another way of working."""
_SHRUNK = Form(
    r"\b(?:down|shr[iau]nk\w*|cuts?|reduc\w+|compress\w*|slim\w*|squeez\w+|trim\w*|packed|goes|went"
    r"|brings?|brought)\b(?: [\w-]+){0,4}? (?:to|into|from) (?:just |only |about |under )?"
    r"\d[\d.]* ?[GM]B\b(?! ?(?:cards?|gpus?|of (?:v?ram|memory))|/s)"
)
"""A file that gets smaller."""


def _is_as_fast(said: Said) -> bool:
    """Whether the memory is said to be as fast as before: in words, or by one bandwidth alone."""
    one = bandwidths_in(said.statement.context_text) == 1
    return said.has(_SAME_BANDWIDTH) or (one and not said.has("bandwidth"))


_MORE_ROOM = Form(
    r"\b(?:more|additional|extra|bigger|larger|double|twice|each additional|freed|spare|unused"
    r"|another)"
    r" (?:\d+ ?gb |the )?(?:\w+ )?(?:memory|vram|ram|hbm|capacity|gigabytes?|headroom|room|dimms?"
    r"|sticks?)"
    r"|\b(?:freed|adding|added|installed) (?:\w+ ){0,2}?\d+ ?gb|(?:dimm|memory) size"
    r"|(?:bigger|larger) the memory"
)
_FITTED = (
    r"(?:already|it|model|\d+b) (?:\w+ ){0,2}?(?:fit(?:s|ted)?\b|resident|in (?:ram|vram|memory))"
    r"|fitted (?:before|in both|already|all along)|(?:was|is) (?:already )?resident|had room"
    r"|all along"
    r"|(?:use[sd]?|needs?|takes?|has) (?:only |just )?\d+(?:\.\d+)? (?:of (?:the )?\d|gb\b)"
    r"|fits both|either (?:fits|holds)|already|lives in vram|runs? in both"
)
_IN_BOTH = Form(r"\bfits? (?:on |in |into )?(?:both|either)\b|\bboth (?:hold|fit)\b")
"""What fits both is no faster in either, in any phase."""
_BECAUSE = (
    r"because of (?:those|the|its) (?:\w+ )?\d+ ?gb|as there['’]?s more|more memory for"
    r"|in proportion to (?:the"
    r" )?memory|proportional to (?:the )?(?:memory|vram)|\d+ ?gb makes (?:it"
    r"|the)"
)


def _only_room_grows(said: Said) -> bool:
    """Whether a gain of one stream rests on more memory, at the old bandwidth, for what fitted."""
    statement = said.statement
    text = statement.context_text
    if statement.kind is not Kind.GAIN or not _other_levers(text).isdisjoint(statement.clause):
        return False
    if len(widths_of(text)) > 1:
        return False  # of two formats the sizes may be those of the weights
    by_bytes = (
        len(capacities(text)) > 1
        and bool(held_bytes(statement))
        and _fits_both(said, capacities(text))
    )
    in_both = by_bytes or (_of_a_model(statement) and _IN_BOTH.search(text) is not None)
    if statement.phase is not Phase.DECODE and not statement.is_single and not in_both:
        return False
    aside = statement.cause == "PEAK" and statement.reach > 1
    if not aside and statement.cause not in {None, "CAPACITY", "HARDWARE", "QUANT", "TP", "MOE"}:
        return False
    if _shrinks(text):
        return False
    several = len(capacities(text)) > 1 or _capacity_ratio(text) is not None
    grown = several or _MORE_ROOM.search(text)
    if not grown or said.has(
        r"quanti|\bint\d|->|→|\bfp8\b.{0,20}\binstead|prun|distil|speculat|draft"
    ):
        return False
    if compared_devices(statement) is not None:
        return False  # their bandwidths decide
    as_fast = said.has(_SAME_BANDWIDTH) or bandwidths_in(text) == 1
    return as_fast or by_bytes or said.has(_FITTED) or said.has(_BECAUSE)


def _of_a_model(statement: Statement) -> bool:
    """Whether a language model is named, in whatever phase."""
    near = statement.near or statement.frame
    return "LLM" in statement.nearby or near.model is not None


_LEAST_GAIN = 1.15
"""Over the ratio of the bandwidths: devices reach different parts of theirs."""
_ROOM = 0.85


def _room_for_what_fits(said: Said, sure: Confidence) -> Wrong | None:
    """A device with more memory said to be faster than its bandwidth allows, for what fits both."""
    statement, text = said.statement, said.statement.context_text
    if statement.kind is not Kind.GAIN or not _other_levers(text).isdisjoint(statement.clause):
        return None
    if statement.phase is not Phase.DECODE and not _of_a_model(statement):
        return None
    sizes = capacities(text)
    if not (len(sizes) > 1 or said.has(r"\bvram\b|more memory|bigger memory")):
        return None
    rates = rates_compared(statement)
    gain = statement.speedup or 1.0
    if rates is None or not _fits_both(said, sizes):
        return None
    ratio = rates[0] / rates[1]
    if gain <= _LEAST_GAIN * ratio:
        return None
    return Wrong(
        f"{rates[0]:,.0f} GB/s against {rates[1]:,.0f} allow {ratio:.2g}x; memory that is not read"
        " moves nothing",
        sure,
        numbers={"bandwidth_ratio": ratio},
    )


def held_bytes(statement: Statement) -> list[float]:
    """Bytes of weights that a text tells as such: "a 5 GB quant"."""
    held = [float(size) * 1e9 for size in _OF_A_QUANT.findall(statement.context_text)]
    return held + ([statement.frame.weight_bytes] if statement.frame.weight_bytes else [])


def _fits_both(said: Said, sizes: list[int]) -> bool:
    """Whether the weights fit the smaller memory: as told, or by their bytes."""
    frame = said.statement.frame
    if said.has(_FITTED):
        return True
    held = held_bytes(said.statement)
    if not held and frame.parameters is not None:
        held.append(frame.parameters * (frame.weight_bits or UNQUANTIZED_BITS) / 8.0)
    others = [size for size in sizes if all(abs(size * 1e9 / one - 1.0) > 0.02 for one in held)]
    return bool(held and others) and max(held) < _ROOM * min(others) * 1e9


_OF_A_QUANT = Form(
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:GB|gigs?) (?:(?:\w+ )?\d+B )?(?:\w+ )?(?:quant|model|file|gguf"
    r"|checkpoint)\b"
)


def _of_shared_layers(said: Said) -> bool:
    """Whether layers that use the same weights are to be read less, or to be faster."""
    statement = said.statement
    if statement.kind not in {Kind.GAIN, Kind.SAVING} or statement.phase is not Phase.DECODE:
        return False
    if said.has(r"\bkv\b|\bk/v\b|\bcache|\bkeys\b|\bl2\b|\bsram\b|on-?chip|embedding|scratchpad"):
        return False
    return (
        "TP" not in statement.sentence and SHARED_LAYERS.search(statement.context_text) is not None
    )


_OF_SPEED = frozenset({"FASTER", "SLOWER", "RATE", "TIME", "DECODE"})
_USUAL_SIZES = (24, 48)


def _nothing(text: str) -> str:
    """What more memory brings, in the sizes of the text where it tells two."""
    sizes = capacities(text)
    few, many = sizes if len(sizes) == 2 else _USUAL_SIZES
    return (
        "memory that is not read moves nothing: at equal GB/s a token takes the same time from"
        f" {few} GB as from {many} GB (1.00x)"
    )


_PAIRS = (
    re.compile(
        r"(\d+(?:\.\d+)?)(?: ?GB)? (?:down to|to|→|->|up to) (\d+(?:\.\d+)?) ?GB\b(?!/s)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(\d+(?:\.\d+)?) ?GB (?:rather than|instead of|in place of|against|over|vs\.?|versus"
        r"|and not) "
        r"(?:the )?(\d+(?:\.\d+)?) ?GB\b(?!/s)",
        re.IGNORECASE,
    ),
)
_OF_A_CARD = Form(
    r"(\d+(?:\.\d+)?) ?GB (?:of (?:memory|vram|ram|hbm)|card|board|gpu|version|variant|one\b"
    r"|original|part|model\b|configuration|mac|machine|memory|vram|ram\b|kit|module|[A-Z]+\d|RTX"
    r"|\d{4})"
)
_TIMES = Form(
    r"\b(twice|double|doubled|two times|2x|triple|tripled|three times|3x|thrice|quadruple"
    r"|four times|4x|(\d\.\d{1,2}) ?(?:x|×|times))"
    r" (?:the |as much |more )?(?:amount of )?(?:memory(?! (?:bandwidth|traffic|reads))|vram|ram"
    r"|hbm|capacity|gigabytes"
    r"|gb)\b"
)
_FACTORS = {"tw": 2.0, "do": 2.0, "2x": 2.0, "tr": 3.0, "th": 3.0, "3x": 3.0, "qu": 4.0, "fo": 4.0,
            "4x": 4.0}  # fmt: skip
_OF_WEIGHTS = (
    r"\bweights?\b|checkpoint|quanti|\bbits?\b|\bint\d|\bgb per token|\bkv\b|\bcache|\bfiles?\b"
    r"|prun|distil|layers|traffic|\bbytes\b|\breads?\b|spars|\bzero|per step"
)
"""Words with which two sizes may be those of what is read."""
_SAME_RATIO = 0.06


def _follows_capacity(said: Said) -> float | None:
    """The ratio of two memory sizes that a promised speedup is equal to."""
    statement = said.statement
    if statement.kind is not Kind.GAIN or statement.speedup is None or said.has(_OF_WEIGHTS):
        return None
    if (
        statement.phase is not Phase.DECODE
        and not statement.is_single
        and not _of_a_model(statement)
    ):
        return None
    if _shrinks(statement.context_text) or len(widths_of(statement.context_text)) > 1:
        return None
    ratio = _capacity_ratio(statement.context_text)
    if ratio is None or abs(statement.speedup / ratio - 1.0) > _SAME_RATIO:
        return None
    return ratio


def _shrinks(text: str) -> bool:
    """Whether a size falls: what shrinks is a file, and no memory."""
    return any(float(change[1]) > float(change[2]) for change in _PAIRS[0].finditer(text))


def _capacity_ratio(text: str) -> float | None:
    """How much larger one memory is than another, as a text gives it."""
    for pair in _PAIRS:
        if (sizes := pair.search(text)) is not None:
            one, other = float(sizes[1]), float(sizes[2])
            return max(one, other) / min(one, other) if min(one, other) > 0 else None
    if (told := _TIMES.search(text)) is not None:
        return float(told[2]) if told[2] else _FACTORS[told[1].lower()[:2]]
    cards = {float(size) for size in _OF_A_CARD.findall(text)} - {0.0}
    return max(cards) / min(cards) if len(cards) == 2 else None
