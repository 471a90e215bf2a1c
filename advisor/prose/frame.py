"""The regime and the operands that a text states, and how they are inherited.

Nearer wins: the own sentence, the previous ones of the block, row, column and lead-in, then what
the document said once. A value that the document states twice and differently is no operand
beyond its own block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Final

from advisor.catalog.hardware import device
from advisor.claims.regime import mentioned, regime_of
from advisor.forms import Form
from advisor.prose.amounts import OF_CACHE, amounts_in, only_one
from advisor.prose.devices import (
    channels_gbs,
    device_called,
    devices_counted,
    is_in_turn,
    only_device,
)
from advisor.prose.lengths import inputs_in, per_token_in, sequences_in
from advisor.prose.named import models_in
from advisor.prose.patterns import SET_APART
from advisor.prose.widths import sizes_of, widths_of


@dataclass(frozen=True, slots=True)
class Frame:
    """What is stated; None where nothing is, or where several values are."""

    batch: int | None = None
    is_mixed: bool | None = None
    """Whether one stream and a batch are named together: two loads, and none of both."""
    context: int | None = None
    is_loose: bool | None = None
    """Whether the context is a number of tokens that no word calls one."""
    sequences: int | None = None
    """Sequences that hold so long a context each: "64 users, 8K tokens of history each"."""
    phase: str | None = None
    hardware: str | None = None
    """Identifier of a device of the catalog."""
    devices: int | None = None
    in_turn: bool | None = None
    """Whether the devices hold layers each and work one after another."""
    bandwidth_gbs: float | None = None
    """Of one device, as the text gives it."""
    total_bandwidth_gbs: float | None = None
    """Of all devices together, as the text gives it."""
    model: str | None = None
    """Repository identifier of a model of the catalog."""
    parameters: float | None = None
    """Nominal: 8e9 for "the 8B"."""
    active_parameters: float | None = None
    """Of a mixture of experts: 3e9 for "30B-A3B"."""
    weight_bits: float | None = None
    weight_bytes: float | None = None
    """All weights, as the text gives them."""
    kv_bytes: float | None = None
    """Of one step, as the text gives them."""
    kv_per_token: float | None = None
    """Bytes of cache that a token of context adds, as the text gives them."""
    tokens_per_pass: float | None = None
    acceptance: float | None = None

    def lacks(self, other: Frame) -> frozenset[str]:
        """Names of the operands of a step that another frame has, and this one has not."""
        return frozenset(
            name
            for name in _OPERANDS
            if getattr(self, name) is None and getattr(other, name) is not None
        )

    def over(self, outer: Frame) -> Frame:
        """The frame, with what it leaves open taken from an outer one."""
        if outer is NOTHING:
            return self
        missing = {
            name: getattr(outer, name)
            for name in NAMES
            if getattr(self, name) is None and getattr(outer, name) is not None
        }
        if self.context is not None:
            missing.pop("is_loose", None)
        # weights in bytes belong to the model and the format that they were stated for
        if self.parameters is not None or self.weight_bits is not None:
            missing.pop("weight_bytes", None)
        if self.parameters not in {None, outer.parameters}:
            missing.pop("active_parameters", None)
        if self.hardware is not None or self.bandwidth_gbs is not None:
            missing.pop("total_bandwidth_gbs", None)
        if self.hardware is not None or self.total_bandwidth_gbs is not None:
            missing.pop("bandwidth_gbs", None)
        if self.parameters is not None:
            missing.pop("model", None)
        return replace(self, **missing) if missing else self


_OPERANDS: Final = (
    "weight_bits", "weight_bytes", "parameters", "active_parameters", "model", "hardware",
    "devices", "bandwidth_gbs", "total_bandwidth_gbs",
)  # fmt: skip
NOTHING: Final = Frame()
NAMES: Final = tuple(item.name for item in fields(Frame))

_FACT: Final = Form(
    r"\d ?[kmgti]*b\b|\d ?k\b|\d{3,}|\d ?-?bit|\bbatch|\bbs|b ?=|token"
    r"|\b[habltvpm]\d{1,3}|gpu|rtx|tpu|\bmi\d|\b[2-5]0[5-9]0|7900|\btp[ =\d]|tensor.parallel"
    r"|\b[iqf]+\d|\bw\d|mxfp|nf4|awq|gptq|precision|illion|gigabytes|-way\b"
    r"|fp\d|bf16|int\d|\d ?%|acceptance|context|card|single|one (?:user|stream)"
    r"|trix |dgx|rin n|udi|\bpi \d|layer|pipeline|hannel"
    r"|ixtral|deepseek|phi-|gpt-oss|scout|maverick"
)
"""What a sentence holds that may state an operand."""


@lru_cache(maxsize=8192)
def frame_of(text: str) -> Frame:
    """What one sentence, heading or cell states."""
    if _FACT.search(text) is None:
        return NOTHING
    text = SET_APART.sub(" ", text)
    _, amounts, mentions = mentioned(text)
    regime = regime_of(mentions)
    bits = widths_of(_REPLACED.sub(" ", text))
    size, active = _one_size(text, sizes_of(text))
    models = {named.model.repo_id for named in models_in(text)}
    weight_bytes, kv_bytes, bandwidths = amounts_in(text, amounts)
    devices = devices_counted(text, regime.devices)
    hardware = device_called(regime.hardware) if regime.hardware else None
    if hardware is not None and hardware.startswith("apple") and _MILESTONE.match(text):
        hardware = None
    hardware = hardware or only_device(text)
    bandwidth = only_one({rate for rate, _ in bandwidths})
    if bandwidth is None and not bandwidths and hardware is None:
        bandwidth = channels_gbs(text)
    together = bandwidth is not None and _is_of_all(bandwidths, bandwidth, devices, hardware)
    several = (regime.batch or 1) > 1
    mixed = several and (_ALONE.search(text) or _UP_TO.search(text)) is not None
    named = regime.context_tokens or regime.prompt_tokens
    loose = _context_of(text) if named is None else None
    if loose is not None and _SESSION.search(text) is not None:
        named, loose = loose, None
    if loose is not None and _OF_INPUT.search(text) and set(inputs_in(text)) == {loose}:
        named, loose = loose, None
    context = named or loose
    return Frame(
        batch=None if mixed else _batch_of(text, regime.batch),
        is_mixed=True if mixed else None,
        context=context,
        is_loose=True if loose is not None else None,
        sequences=sequences_in(text) if context is not None and _EACH.search(text) else None,
        phase=regime.phase,
        hardware=hardware,
        devices=devices,
        in_turn=True if is_in_turn(text) else None,
        bandwidth_gbs=None if together else bandwidth,
        total_bandwidth_gbs=bandwidth if together else None,
        model=models.pop() if len(models) == 1 else None,
        parameters=size,
        active_parameters=active,
        weight_bits=bits.pop() if len(bits) == 1 else None,
        weight_bytes=weight_bytes,
        kv_bytes=kv_bytes,
        kv_per_token=per_token_in(text) if OF_CACHE.search(text) is not None else None,
        tokens_per_pass=regime.tokens_per_pass,
        acceptance=regime.acceptance,
    )


def is_left_aside(text: str) -> bool:
    """Whether a sentence names what was not taken: "BF16 was never an option: 29.3 GB ..."."""
    return _LEFT_ASIDE.search(text) is not None


_LEFT_ASIDE: Final = Form(
    r"\b(?:never|not|no(?: longer)?) (?:\w+ )?(?:an? )?(?:option|choice|candidate|alternative)\b"
    r"|\bwould (?:not |never )?have\b|\b(?:ruled|left|crossed|sorted) out\b|\bout of the question\b"
)


def _batch_of(text: str, told: int | None) -> int | None:
    if told is None:
        return 1 if _EACH_ALONE.search(text) is not None else None
    if told > 1 and _OF_CHUNKS.search(text) is not None:
        return None
    return told if told <= _MOST_SEQUENCES else None


_OF_CHUNKS: Final = Form(
    r"\bthreads[-_]batch\b|\bn_u?batch\b|\bu-?batch(?:[-_ ]size)?\b|(?<!\S)-ub \d"
    r"|\bllama-(?:server|cli|bench|sweep-bench|perplexity)\b|\blogical batch\b"
)
"""Settings of llama.cpp, whose batches are tokens of a prompt, and threads that work on them."""
_EACH_ALONE: Final = Form(
    r"\b(?:one|an?|a single|1) (?:[\w-]+ )?(?:user|person|developer|engineer|analyst|agent"
    r"|customer|client|caller|tenant|seat|student|clinician|operator|employee|writer|reader|player"
    r"|session|stream|conversation|dialogue|chat|request|sequence|prompt) (?:per|to an?|on each"
    r"|for each) (?:gpu|card|device|machine|box|accelerator|replica|instance|server|workstation)\b"
)
"""One sequence in a step, told by what a device serves: "one developer per GPU"."""
_SESSION: Final = Form(
    r"\b(?:sessions?|chats?|conversations?|dialogues?|threads?|histor(?:y|ies)|logs?)"
    r" (?:of|with|at) (?:about |around |roughly |some |up to )?\d[\d,.]* ?k?[- ]?tok"
)
"""A length of what stays in the cache, and not of an answer."""
_REPLACED: Final = Form(
    r"\b(?:instead of|rather than|in place of|replaces|replacing) (?:the |an? |our )?(?:\w+[- ])?"
    r"(?:fp|bf|int|f)\d{1,2}\b"
)
"""A format that something else takes the place of."""
_MILESTONE: Final = Form(
    r"[\W_]*M\d[\W_]{0,4}(?:(?:is |by |in |at )?(?:due|by|until|end of|mid|early|late|week|Q[1-4]"
    r"|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b)"
)
"""A point of a plan with its date: "M2 (July): 36 tok/s", and no chip."""
_EACH: Final = Form(r"\beach\b|\bapiece\b|\bper (?:user|session|sequence|request)\b")
_MOST_SEQUENCES: Final = 65_536
"""In a step; more are parameters of a model that "streams": "the 13B streams its replies"."""
_OF_INPUT: Final = Form(r"\b(?:prompts?|contexts?|inputs?|histor(?:y|ies)|windows?|documents?)\b")
_ALONE: Final = Form(
    r"\b(?:one|a single|single|a lone) (?:[\w-]+ ){0,2}?(?:users?|streams?|requests?|sequences?"
    r"|sessions?|conversations?|callers?)\b|\bbatch(?: size)?[ =:]{1,2}1\b(?![,.]?\d)"
)
"""One stream, in a sentence that names a batch as well."""
_UP_TO: Final = Form(
    r"\b(?:up to|at most|max(?:imum|imal)?|peaks? (?:of|at)|between|from|as many as) (?:about )?\d+"
    r" (?:[\w-]+ ){0,2}?(?:users?|streams?|requests?|sequences?|sessions?|conversations?|chats?)\b"
)
"""The most of a load that changes."""
_SUM_GRACE: Final = 0.04
_MORE_THAN_ONE: Final = 1.5


def _is_of_all(
    rates: Iterable[tuple[float, bool]], rate: float, devices: int | None, hardware: str | None
) -> bool:
    """Whether a bandwidth is that of all devices: by its words, or as the sum of the device's."""
    if any(together for _, together in rates):
        return True
    if devices is None or devices == 1 or hardware is None:
        return False
    one = device(hardware).bandwidth_gbs
    # a name may stand for several variants; what no single one of them has is that of all
    more_than_one = rate > _MORE_THAN_ONE * one and rate <= (1.0 + _SUM_GRACE) * devices * one
    return more_than_one or abs(rate / (devices * one) - 1.0) < _SUM_GRACE


def _one_size(
    text: str, sizes: list[tuple[float, float | None]]
) -> tuple[float | None, float | None]:
    """The model that a sentence is about, where all its sizes agree.

    "30B" is "30B-A3B" again, and its 3B are no model of their own.
    """
    stated = _ACTIVE_OF.search(text)
    parts = _alike(part for _, part in sizes if part is not None)
    if stated is not None:
        own = float(next(filter(None, stated.groups()))) * 1e9
        whole = _alike(size for size, _ in sizes if not is_alike(size, own, _ROUNDED))
        return (whole[0], own) if len(whole) == 1 and own < whole[0] else (None, None)
    whole = [
        size
        for size in _alike(size for size, _ in sizes)
        if not any(is_alike(size, part, _ROUNDED) for part in parts)
    ]
    if len(whole) != 1:
        return None, None
    return whole[0], parts[0] if len(parts) == 1 else None


_SAME_SIZE: Final = 0.06
"""Sizes of one model under two names: 46.7 and 47 billion."""
_ROUNDED: Final = 0.16
"""What is active is told in round numbers: 5 of 5.7 billion, 3.3 as 3."""


def _alike(sizes: Iterable[float]) -> list[float]:
    """Sizes that are not one and the same, rounded."""
    kept: list[float] = []
    for size in sizes:
        if not any(is_alike(size, known) for known in kept):
            kept.append(size)
    return kept


def is_alike(size: float, known: float, grace: float = _SAME_SIZE) -> bool:
    """Whether two sizes of a model are one and the same, rounded."""
    return abs(size - known) <= grace * known


_ACTIVE_OF: Final = Form(
    r"\b(\d+(?:\.\d+)?) ?(?:B|billion) (?:of (?:the |its |all |[\w.-]+['’]s )?\d+(?:\.\d+)? ?(?:B"
    r"|billion) )?"
    r"(?:of (?:them |these |those |which )?)?(?:parameters |params )?(?:(?:are|is"
    r"|being) )?(?:active"
    r"|activated|in use|at work)\b"
    r"|\b(?:activat(?:es|ing)|uses|using|touches) (?:only |just |merely |about |around |roughly "
    r"|some |barely )?(\d+(?:\.\d+)?)(?: ?B| billion)\b(?: (?:of|out of|parameters|params|per"
    r"|weights"
    r"|active)\b|[.,;)]|$)"
    r"|\bactivat(?:es|ing) (?:only |just )?(\d+(?:\.\d+)?)\b"
    r"|\b(?:only|just|merely) uses? (\d+(?:\.\d+)?) ?(?:B|billion)\b"
    r"|\bactive (?:parameters|params)[ :=(]{1,2}(?:are |of )?(\d+(?:\.\d+)?) ?(?:B|billion)\b",
)
_TOKENS: Final = Form(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s?([kKM])?[- ]tokens?\b(?! ?(?:/|per (?!turn|chat|reply"
    r"|request|session|prompt|message)|a second|each (?:second|step|pass)))",
)


def _context_of(text: str) -> int | None:
    """A length in tokens that no other word names: "200-token chats", "at 64K tokens"."""
    found = set()
    for match in _TOKENS.finditer(text):
        number = float(match[1].replace(",", ""))
        suffix = (match[2] or "").lower()
        scale = {"": 1.0, "k": 1024.0, "m": 1024.0**2}[suffix]
        after = text[match.end() : match.end() + 24].lower()
        if number * scale >= 16 and not after.startswith(
            (" accepted", " drafted", " in flight", " of output", " of cache", " in total")
        ):
            found.add(round(number * scale))
    for match in _LONG_THINGS.finditer(text):
        found.add(int(match[1]) * 1024)
    return found.pop() if len(found) == 1 else None


_LONG_THINGS: Final = re.compile(
    r"(?<![\w.])(\d{1,4})\s?K[- ](?:sessions?|prompts?|contexts?|chats?|documents?|windows?)\b"
)
