"""Kinds of terms in some words, with what several of them mean together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.activations import are_narrowed
from advisor.prose.no_weights import is_no_attention_head, is_of_no_head, is_of_no_weight
from advisor.prose.tagging import Tag, names
from advisor.prose.threads import is_program
from advisor.prose.zeros import are_two_of_four

_WITHOUT: Final = Form(
    r"\b(?:without|no|not|never|nor|nothing to|neither|needs? no|whether or not)\b[^.;:,]{0,24}$",
)
_OR_NOT: Final = Form(r",? or (?:not|dense|unpacked)\b")
_WEIGHTS: Final = (
    r"(?:weights?|parameters?|params|connections?|entries|values|coefficients|quants|checkpoint"
    r"|matri(?:x|ces)|tensors?)"
)
_ZEROED_WEIGHTS: Final = Form(
    rf"\b(?:mask|zero|null|blank|wipe|clear|knock)(?:s|ed|es|d|ing)?(?: out)?"
    rf" (?:(?!attention|causal|head)[\w.%-]+ ){{0,7}}?{_WEIGHTS}\b"
    rf"|\b(?:fill|set|turn|overwrit|replac|writ|clamp|forc"
    rf"|multipl)\w* (?:(?!head)[\w.%-]+ ){{0,7}}?"
    rf"{_WEIGHTS}"
    r" (?:\w+ ){0,2}?(?:to|by|with|as) (?:0(?:\.0)?(?![\d.])|zeros?|null)\b"
    rf"|\b{_WEIGHTS}(?: [\w-]+){{0,4}}? (?:at|to|as|are|is|equals?|become|being|hold)"
    r" (?:now |all |exactly |set to |just |only )*(?:0(?:\.0)?(?![\d.%]| ?[kmgt]?b\b)|zeros?|null"
    r"|nought|nil)\b"
    rf"|\b{_WEIGHTS} (?:(?:are|is|were|get|gets) )?(?:masked|muted)(?! attention| causal)\b"
    rf"|\b{_WEIGHTS} (?:zero|null|blank)(?:ed)?(?=[,;.)|]|$| in\b| and\b)"
    r"|\b(?:writing|wrote|puts?|putting|with) (?:nothing but |all )?zeros (?:over|into|in place of)"
    r"\b|\b(?:written|stored|saved|flushed|rounded) (?:as|to) (?:0(?:\.0)?(?![\d.])|zeros?)\b"
)
"""Weights that are zero, or are set to it."""
_MAYBE_ZEROED: Final = Form(r"zero|null|mask|\b0\b|blank|nought|\bnil\b|wipe")
_ZERO: Final = Form(
    r"\b(?:zero\w*|0|off|skipped|ablat\w+|mask\w*|gate[sd]?)\b",
)
_OFF: Final = Form(
    r"(?: (?:in|of|per) (?:the |each |every |all )?\w+)? (?:(?:is|are|was|were|get|gets|being|stay"
    r"|stays)"
    r" (?:now |all |then )?(?:off|inactive|closed|shut|(?:not|no longer) (?:run|running|active"
    r"|computed"
    r"|executed|evaluated))\b|(?:is|are|do|does)n['’]?t (?:\w+ )?(?:run|running|active|computed"
    r"|executed|evaluated|fire)\b|(?:do|does) not (?:\w+ )?(?:run|fire)\b|no longer (?:run|fire)\b)"
)
"""After heads: that they do not run."""
_SMALL_MODEL: Final = Form(r"(?:small|tiny|little|cheap)\w* (?:\w+ )?(?:model|llm|network)")
_DRAFTS: Final = Form(
    r"\b(?:small|tiny|little|cheap)\w* (?:\w+ )?(?:model|llm|network)\b[^.;]{0,32}?\b(?:words"
    r"|tokens|ahead"
    r"|guess\w*|propos\w+)\b[^.;]{0,48}?\b(?:big|large|main|target|real|\d+b)\b[^.;]{0,16}?"
    r" (?:check|mark|verif|grade|confirm|correct|approve|accept|judge)\w*"
)
"""What speculation is, in other words."""
_MORE_COMPUTE: Final = re.compile(
    r"\b(?:doubl(?:e|es|ing)|twice|tripl(?:e|es|ing)|more|higher|extra|additional"
    r"|(?:\d+(?:\.\d+)?x|two"
    r"|three|four|\d+) times|\d+(?:\.\d+)?x) (?:the |as many |as much |dense |raw |peak |fp\d+ "
    r"|bf16"
    r" |int8 |available )*(?:flop/s|FLOPS|compute|math rate|tensor throughput)\b(?! (?:per|budget"
    r"|cost"
    r"|work|for each))"
    r"|\b(?:[Hh]as|[Hh]ave|[Oo]ffers?|[Bb]rings?|[Dd]elivers?|[Ww]ith) (?:\w+ )?(?:twice|double"
    r"|\d+(?:\.\d+)?(?:x| times)|two times|three times|four times) the (?:arithmetic|math)\b"
)
"""More compute of a chip, and not more to compute."""
_SHARE_OF_A_PEAK: Final = Form(
    r"\b(?:half|twice|double|(?:an?|one|two) (?:third|quarter|fifth|sixth|eighth|tenth)s?(?: of)?"
    r"|\d[\d.]* ?(?:%|per ?cent) of|\d[\d.]*x) (?:the |an? )?(?:[A-Z]{0,3}\d{1,4}\w*['’]s"
    r" (?:dense |peak )?(?:flop/?s|compute|(?:bf|fp)\d+)|dense (?:bf16|fp16|fp8|fp4|int8)(?= of))\b"
)
"""The peak of one device in parts of that of another."""
_FASTER_MATH: Final = Form(
    r"\b(?:dot products?|inner products?|multipl(?:y|ies|ications?)|multiply[- ]adds?|fmas?|macs"
    r"|maths?|arithmetic|mat(?:rix)?[- ]?vec(?:tor)?s?(?: products?)?)\b (?:(?:is|are|runs?|gets?"
    r"|becomes?|now|then|almost|about|nearly|some|\d[\d.]*x|\w+ times|twice"
    r"|several) ){0,5}?(?:(?:as"
    r" )?(?:fast|quick)(?:er|ly)?\b|at (?:double|twice) (?:the )?(?:rate|speed))"
    r"|\b(?:faster|quicker) (?:dot|inner|matrix) products?\b"
    r"|\b(?:faster|quicker) (?:multiply-?adds?|fmas|arithmetic|maths?|multiplications?)\b"
    r"|\bmultipl(?:y|ying|ies|ied) (?:\w+ )?(?:in|with|as|at) (?:fp8|int8|fp4|int4|8[- ]bits?)\b"
    r"|\bmultipl(?:y|ies) in (?:fp|bf)(?:16|32)\b[^.;:]{0,24}? in (?:fp8|int8|fp4|int4|fp16|bf16)\b"
    r"|\b(?:cast|convert|quanti[sz]|round)\w*\b[^.;]{0,40}? (?:to|into|in) (?:fp8|int8|fp4|int4"
    r"|e4m3)"
    r"\b[^.;]{0,24}?\b(?:before|for|during|inside|within) (?:the |each |its )?(?:\w+ )?(?:multipl"
    r"|matmul|gemm|mma|product|kernel|tensor core)"
)
"""Arithmetic that gets faster, or narrower right where it is done, on the same bytes."""
_SOME_MATH: Final = (
    "product", "ultipl", "fma", "FMA", "macs", "MACs", "math", "rithmetic", "vec",
)  # fmt: skip
_REPLACED: Final = frozenset(
    {"S24", "PRUNE", "MASK", "ATTN", "SPEC", "LAYERS", "KVQ", "TP", "BATCH", "DENSE"}
)
_INSTEAD: Final = Form(
    r"\b(?:instead of|(?:rather )?than|in place of|replac(?:es?|ed|ing)|unlike|without|no"
    r"|of what)"
    r" (?:(?!by |with )[\w:-]+ ){0,2}$",
)
_SOME_ATTENTION: Final = Form(r"naive|eager|math|tiled|fused|backend|implementation|kernel|matri")
_COMPUTERS: Final = frozenset({"Mac", "Macs"})
"""What is written like multiply-accumulates, and is none."""
_SETTINGS: Final = frozenset({"GRAPHS", "TP", "QUANT", "BATCH", "SPEC"})
_CONSTANT: Final = Form(
    r"(?:s|ed)?(?: (?:is|are|was|were))?(?: already| both)?(?: (?:active|on|enabled|used|in (?:use"
    r"|place)"
    r"|captured|running))? (?:before and after|in both (?:cases|runs|builds|versions|columns)|both"
    r" times|throughout|on both sides|either way|all along|the same)\b"
)
"""After a lever: it is the same in what is compared."""
_OF_A_KIND: Final = Form(
    r"\b(?:later|newer|modern|current|recent|today['’]s|most|nvidia|amd|consumer|data ?cent(?:er"
    r"|re)"
    r"|ampere|hopper|blackwell|ada|such|ordinary|gaming) $"
)
_SAME: Final = Form(r"\b(?:on|with|in) the (?:very |exact )?same $")
_NEAR_CHARACTERS: Final = 36
_SHARE: Final = 12
"""Characters of a part, before the term that it is a part of."""
_TAKEN: Final = 6
"""Words between a word for taking out and the part that is taken."""


def ideas_of(text: str, tags: Iterable[Tag]) -> frozenset[str]:
    """Kinds of terms, with what several of them mean together.

    Heads count as masked where the same words mask something; parts count as gone beside a word
    for taking them out; storage that is said to be done without is not packed; units that are busy
    are told apart from servers that are.
    """
    kept = [
        tag
        for tag in tags
        if not (tag.name == "PACKED" and _is_without(text, tag))
        and not (tag.name in _SETTINGS and _is_constant(text, tag))
        and not (tag.name == "PEAK" and _is_no_rate(text, tag))
        and not (tag.name in _REPLACED and _is_replaced(text, tag))
        and not (tag.name == "PRUNE" and is_of_no_weight(text, tag))
        and not (tag.name in {"MASK", "DENSE"} and is_of_no_head(text, tag))
        and not (tag.name == "HEADS" and is_no_attention_head(text, tag))
        and not (tag.name in {"PRUNE", "MASK"} and _is_of_cost(text, tag))
        and not (tag.name == "PRUNE" and _is_setting(text, tag))
        and not (tag.name == "MATMUL" and _is_of_formats(text, tag))
        and not (tag.name == "BATCH" and _is_of_scales(text, tag))
        and not (tag.name == "TP" and _is_class(text, tag))
        and not (tag.name == "FLOPS" and text[tag.start : tag.end] in _COMPUTERS)
        and not (tag.name == "LARGE_BATCH" and _is_part(text, tag))
        and not (tag.name in {"TRAINING", "MEASURED"} and _is_without(text, tag))
        and not (
            tag.name == "MEASURED" and _PARTIAL.search(text, max(0, tag.start - 16), tag.start)
        )
        and not (tag.name == "LARGE_BATCH" and _tells_no_load(text, tag))
        and not (tag.name == "REMOVED" and _is_of_work(text, tag))
    ]
    found = names(kept)
    if any(tag.name == "REMOVED" and _is_of_work(text, tag) for tag in tags):
        found |= {"DOWN"}
    if any(tag.name == "RATE" and _OF_DECODING.match(text, tag.start) for tag in kept):
        found |= {"DECODE"}
    if "LARGE_BATCH" in found and all(
        _is_of_units(text, tag) for tag in kept if tag.name == "LARGE_BATCH"
    ):
        found = (found - {"LARGE_BATCH"}) | {"BUSY_UNITS"}
    if "HEADS" in found and (
        "MASK" in found
        or ("PRUNE" in found and _ZERO.search(text) is not None)
        or any(_is_off(text, tag) for tag in kept if tag.name == "HEADS")
    ):
        found |= {"MASKED_HEADS"}
    whole = _told_of(text)
    if (
        whole.may_zero
        and found.isdisjoint({"PRUNE", "HEADS", "KV"})
        and _zeroes_weights(text, kept)
    ):
        found |= {"PRUNE"}
    if whole.of_four and not found.isdisjoint({"PRUNE", "MASK", "REMOVE", "REMOVED", "WEIGHTS"}):
        found |= {"S24"}
    if whole.narrows:
        found |= {"ACTQ"}
    if whole.drafts:
        found |= {"SPEC"}
    if kept and whole.multiplies:
        start, end = max(0, kept[0].start - _NEAR_CHARACTERS), kept[-1].end + _NEAR_CHARACTERS
        if _FASTER_MATH.search(text, start, end) is not None:
            found |= {"MATMUL"}
    if "FLOPS" in found and _MORE_COMPUTE.search(text) is not None:
        found |= {"PEAK"}
    if kept and "PEAK" not in found:
        start, end = max(0, kept[0].start - _SHARE), kept[-1].end
        if _SHARE_OF_A_PEAK.search(text, start, end) is not None:
            found |= {"PEAK"}
    if "REMOVE" in found and "PART" in found and _takes_parts(kept):
        found |= {"REMOVED"}
    return found


class _Told(NamedTuple):
    """What the text of a block tells as a whole; of each of its clauses the kinds are asked."""

    narrows: bool
    drafts: bool
    may_zero: bool
    multiplies: bool
    of_four: bool


@lru_cache(maxsize=512)
def _told_of(text: str) -> _Told:
    return _Told(
        narrows=are_narrowed(text),
        drafts=_DRAFTS.search(text) is not None and _SMALL_MODEL.search(text) is not None,
        may_zero=_MAYBE_ZEROED.search(text) is not None,
        multiplies=any(word in text for word in _SOME_MATH),
        of_four=are_two_of_four(text),
    )


def _zeroes_weights(text: str, tags: Sequence[Tag]) -> bool:
    """Whether weights are zero, or set to it, where some tags stand."""
    if not tags:
        return False
    start, end = max(0, tags[0].start - _NEAR_CHARACTERS), tags[-1].end + _NEAR_CHARACTERS
    stop = re.search(r"[.;:](?=\s)", text[tags[-1].end : end])
    end = end if stop is None else tags[-1].end + stop.start()
    begin = max(text.rfind(sign, start, tags[0].start) for sign in (". ", "; ", ": "))
    return _ZEROED_WEIGHTS.search(text, max(start, begin), end) is not None


def _is_off(text: str, heads: Tag) -> bool:
    return _OFF.match(text, heads.end) is not None


_COST_NEXT: Final = Form(r" (?:\w+ )?(?:cost|loss|overhead|effort|downside|risk|penalty)\b")


def _is_of_cost(text: str, tag: Tag) -> bool:
    """Whether it is a cost that is zero, and no weight: "at zero quality cost"."""
    zero = text[tag.start : tag.end].lower().endswith("zero")
    return zero and _COST_NEXT.match(text, tag.end) is not None


_OF_FORMATS: Final = Form(r"[ -](?:\w+[ -])?(?:quanti[sz]\w*|compress\w*|weights?|checkpoints?)\b")


def _is_of_formats(text: str, tag: Tag) -> bool:
    """Whether precisions are mixed among weights: "mixed-precision quantization"."""
    mixed = "precision" in text[tag.start : tag.end].lower()
    return mixed and _OF_FORMATS.match(text, tag.end) is not None


_SET_TO: Final = frozenset({"set to 0", "set to zero"})
_PARTS_OF_A_MODEL: Final = Form(
    r"weights?\b|parameters?\b|values?\b|entr(?:y|ies)\b|heads?\b|rows?\b|columns?\b|elements?\b"
    r"|neurons?\b|channels?\b|blocks?\b|matri|magnitude|\d ?%|half|third|quarter|smallest|prun"
    r"|spars"
    r"|mask|layers?\b|experts?\b|(?:every|each) (?:other|second|fourth)"
)


def _is_setting(text: str, tag: Tag) -> bool:
    """Whether an option is set to 0, and no weight: "the chunk length can be set to 0"."""
    if text[tag.start : tag.end].lower() not in _SET_TO:
        return False
    return _PARTS_OF_A_MODEL.search(text, max(0, tag.start - 160), tag.start + 160) is None


_OF_BOTH: Final = Form(
    r"\b(?:both|either|all three|all of them|each)(?: of them| parts| versions| models| cards)?"
    r" (?:come with|comes with|have|has|share|offer|use|carry|bring|get) (?:the |an? )?(?:same )?"
    r"(?:[\w-]+ ){0,2}(?:\d+-)?$"
)
"""Two devices that do not differ in it."""


def _is_of_both(text: str, tag: Tag) -> bool:
    return _OF_BOTH.search(text, max(0, tag.start - 64), tag.start) is not None


def _is_no_rate(text: str, tag: Tag) -> bool:
    """Whether a word for a peak names what is alike, another clock or a program."""
    return _is_of_both(text, tag) or _is_of_memory(text, tag) or is_program(text, tag)


_PARTIAL: Final = Form(r"\b(?:partial|intermediate|numeric(?:al)?|correct|same) $")
"""Results that are computed, and none of a measurement."""
_MEMORY_BEFORE: Final = Form(r"\b(?:memory|vram|hbm|g?ddr\w*|ram|bus)[- ]$")


def _is_of_memory(text: str, tag: Tag) -> bool:
    """Whether a clock is that of the memory."""
    if "clock" not in text[tag.start : tag.end].lower():
        return False
    return _MEMORY_BEFORE.search(text, max(0, tag.start - 8), tag.start) is not None


_SCALED: Final = Form(r"\b(?:scales?|scaled|zero[- ]points?|quanti[sz]\w*|bits)\b")


def _is_of_scales(text: str, tag: Tag) -> bool:
    """Whether weights are grouped under a common scale, and no requests."""
    if not text[tag.start : tag.end].lower().startswith("group"):
        return False
    return _SCALED.search(text, tag.end, tag.end + _NEAR_CHARACTERS) is not None


_OF_DECODER: Final = Form(r"\bdecod(?:er|ing) $")
_BUSY_WITH: Final = Form(r" (?:with|doing|multiplying|computing)\b")
_OF_WORK: Final = Form(
    r"(?: [\w%-]+){0,5}? (?:multiplications|multiplies|operations|flops|macs|fmas|multiply-adds"
    r"|arithmetic)\b"
)
_OF_DECODING: Final = Form(r"(?:decod|generat)\w+ ")
"""A rate that says of what: "decoding rate"."""
_WORK_BEFORE: Final = Form(
    r"\b(?:operations?|multiplications?|multipl(?:y|ies)|multipliers|arithmetic|flops|macs) $"
)
"""What is taken out are operations, and no part of the model."""


def _is_of_work(text: str, tag: Tag) -> bool:
    before = _WORK_BEFORE.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start)
    return before is not None or _OF_WORK.match(text, tag.end) is not None


def _tells_no_load(text: str, tag: Tag) -> bool:
    """Whether a decoder is busy, or something is busy with a task: at any batch."""
    before = _OF_DECODER.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start)
    return before is not None or _BUSY_WITH.match(text, tag.end) is not None


_UNITS: Final = Form(
    r"\b(?:alus?|sms|mxus?|multipliers?|(?:tensor|cuda|gpu|matrix|shader)[- ]cores?"
    r"|(?:arithmetic|math|matrix|tensor|compute|vector) (?:units?|pipes?))\b"
    r" (?:(?:is|are|gets?|stays?|remains?|constantly|fully|nearly|almost|always|kept) ){0,3}"
    r"(?:\(?\d{1,3} ?% )?$"
)


def _is_of_units(text: str, tag: Tag) -> bool:
    """Whether it is the arithmetic units that are busy, which tells no batch."""
    return _UNITS.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start) is not None


def _is_replaced(text: str, tag: Tag) -> bool:
    """Whether a lever is named as what another one takes the place of.

    What takes the place of an attention kernel is one as well.
    """
    if tag.name == "ATTN" and _SOME_ATTENTION.search(text, tag.start, tag.end) is not None:
        return False
    return _INSTEAD.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start) is not None


def _is_constant(text: str, tag: Tag) -> bool:
    """Whether a lever is named as what both of two compared states have."""
    same = _SAME.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start) is not None
    return same or _CONSTANT.match(text, tag.end) is not None


def _is_class(text: str, tag: Tag) -> bool:
    """Whether GPUs of a kind are meant, and not how many share the work: "later GPUs"."""
    plural = text[tag.start : tag.end].lower() in {"gpus", "cards"}
    start = max(0, tag.start - _NEAR_CHARACTERS)
    return plural and _OF_A_KIND.search(text, start, tag.start) is not None


def _is_part(text: str, tag: Tag) -> bool:
    """Whether "the bulk of" something is meant, and no load."""
    return text[tag.start : tag.end].lower() == "bulk" and text.startswith(" of", tag.end)


def _is_without(text: str, tag: Tag) -> bool:
    """Whether a term is named as what is not there, or does not matter."""
    return (
        _WITHOUT.search(text, max(0, tag.start - _NEAR_CHARACTERS), tag.start) is not None
        or _OR_NOT.match(text, tag.end) is not None
    )


def _takes_parts(tags: Sequence[Tag]) -> bool:
    """Whether a part stands close after a word for taking, or close before it."""
    taking = [tag for tag in tags if tag.name == "REMOVE"]
    parts = [tag for tag in tags if tag.name == "PART"]
    metrics = [tag.first for tag in tags if tag.name in {"TIME", "RATE", "FLOPS", "KV"}]
    for verb in taking:
        for part in parts:
            if not (0 <= part.first - verb.last <= _TAKEN or 0 <= verb.first - part.last <= 2):
                continue
            if not any(verb.last <= at < part.first for at in metrics):
                return True
    return False
