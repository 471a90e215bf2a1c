"""The regime a sentence is about: batch, context, phase, devices, what a kernel sustains.

`parse_context` finds every mention with its place. A value counts as stated only where all its
mentions agree: "batch 1, 8 and 64" states no one batch.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from advisor.quantity import Dimension, Found, scan_tokens
from advisor.quantity.lexing import HYPHENS, Token, TokenKind, tokenize, words
from advisor.quantity.units import GENERIC_DEVICES, is_device

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Aspect(StrEnum):
    """What of the regime is mentioned."""

    BATCH = "batch"
    CONTEXT = "context"
    PROMPT = "prompt"
    OUTPUT = "output"
    PHASE = "phase"
    HARDWARE = "hardware"
    DEVICES = "devices"
    GEMM_ROWS = "gemm_rows"
    BANDWIDTH_FRACTION = "bandwidth_fraction"
    TOKENS_PER_PASS = "tokens_per_pass"  # noqa: S105  no password
    ACCEPTANCE = "acceptance"
    DRAFT_TOKENS = "draft_tokens"


class Mention(NamedTuple):
    """One stated value; `text[start:end]` says it."""

    aspect: Aspect
    value: float
    """The number (the middle of a range); 0 for a phase or a device name."""
    low: float
    high: float
    name: str
    """The phase (decode, prefill, training) or the device as written; else empty."""
    start: int
    end: int


class Regime(NamedTuple):
    """What a text states about where a claim holds; None where it states nothing or several."""

    batch: int | None = None
    context_tokens: int | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    phase: str | None = None
    hardware: str | None = None
    devices: int | None = None
    gemm_rows: int | None = None
    bandwidth_fraction: float | None = None
    tokens_per_pass: float | None = None
    acceptance: float | None = None
    draft_tokens: int | None = None
    mentions: tuple[Mention, ...] = ()


def parse_context(text: str) -> Regime:
    """The regime that `text` states."""
    return regime_of(mentioned(text).mentions)


def regime_of(mentions: Iterable[Mention]) -> Regime:
    """Sum up mentions; what they disagree on stays None."""
    kept = tuple(mentions)

    def one(aspect: Aspect) -> float | None:
        of_aspect = [m for m in kept if m.aspect is aspect]
        values = {m.value for m in of_aspect if m.low == m.high}
        plain = len(values) == 1 and all(m.low == m.high for m in of_aspect)
        return values.pop() if plain else None

    def whole(aspect: Aspect) -> int | None:
        value = one(aspect)
        return None if value is None else round(value)

    def name(aspect: Aspect) -> str | None:
        names = {m.name for m in kept if m.aspect is aspect}
        return names.pop() if len(names) == 1 else None

    return Regime(
        whole(Aspect.BATCH),
        whole(Aspect.CONTEXT),
        whole(Aspect.PROMPT),
        whole(Aspect.OUTPUT),
        name(Aspect.PHASE),
        name(Aspect.HARDWARE),
        whole(Aspect.DEVICES),
        whole(Aspect.GEMM_ROWS),
        one(Aspect.BANDWIDTH_FRACTION),
        one(Aspect.TOKENS_PER_PASS),
        one(Aspect.ACCEPTANCE),
        whole(Aspect.DRAFT_TOKENS),
        kept,
    )


class Mentioned(NamedTuple):
    """A text as its tokens, with the amounts and the mentions in them."""

    tokens: tuple[Token, ...]
    amounts: tuple[Found, ...]
    """Plain numbers as TOKENS."""
    mentions: tuple[Mention, ...]


@lru_cache(maxsize=1024)
def mentioned(text: str) -> Mentioned:
    """A text split and scanned, once for all who ask in turn what it claims and what it states."""
    tokens = tokenize(text)
    amounts = scan_tokens(tokens, Dimension.TOKENS)
    return Mentioned(tuple(tokens), tuple(amounts), tuple(find_mentions(text, tokens, amounts)))


def find_mentions(text: str, tokens: Sequence[Token], found: Sequence[Found]) -> list[Mention]:
    """Every mention in order; `found` are the amounts of the tokens, plain ones as TOKENS."""
    mentions: list[Mention] = []
    listed: Aspect | None = None
    for position, amount in enumerate(found):
        previous = found[position - 1] if position else None
        aspect = _aspect(tokens, amount) or _continues(tokens, previous, amount, listed)
        listed = aspect
        if aspect is not None:
            mentions.append(_mention(aspect, amount, tokens))
    mentions.extend(_in_words(text, tokens))
    mentions.sort(key=lambda mention: (mention.start, mention.end))
    return mentions


# Numbers

_BATCH_WORDS = words("batch bs bsz batchsize batch_size concurrency")
_LABELS = MappingProxyType(
    {
        **dict.fromkeys(_BATCH_WORDS, Aspect.BATCH),
        **dict.fromkeys(
            words("context ctx seqlen seq_len sequence seq ctx_len depth"), Aspect.CONTEXT
        ),
        **dict.fromkeys(words("prompt prompts isl input input_len"), Aspect.PROMPT),
        **dict.fromkeys(words("osl output output_len max_new_tokens"), Aspect.OUTPUT),
        **dict.fromkeys(words("mbu"), Aspect.BANDWIDTH_FRACTION),
        **dict.fromkeys(words("acceptance alpha"), Aspect.ACCEPTANCE),
        **dict.fromkeys(words("gamma num_speculative_tokens"), Aspect.DRAFT_TOKENS),
    }
)
"""Words that stand before a number and name it: batch 8, context length 4096, MBU 0.8."""
_LETTERS = MappingProxyType({"B": Aspect.BATCH, "S": Aspect.CONTEXT, "M": Aspect.GEMM_ROWS})
"""Letters that do so with an equals sign: B=1, S=8k, M=4096."""
_BETWEEN_LABEL = words("size sizes length len window rate of = : is at - from tokens a to about ~")
_AFTER_CONTEXT = words("context ctx session conversation history depth sequence")
_PROMPT_NOUNS = words("prompt prompts input inputs")
_OUTPUT_NOUNS = words("output outputs new generated completion")
_AT_ONCE = words("concurrent parallel simultaneous")
_LENGTHS = words("short long")
_STREAMS = words("streams sequences requests users clients sessions conversations chats")
_CONTEXT_PREPOSITIONS = words("at beyond past")
_CLOSING = words(". , ; : ) / | and or to at on for with in is when while so") | HYPHENS
_BANDWIDTH_NOUNS = words("bandwidth mbu hbm roofline")
_BANDWIDTH_ADJECTIVES = words(
    "of the its peak memory hbm dram theoretical available achievable all"
)
_PASSES = words("pass step iteration")
_DRAFTED = words("draft drafted speculative")
_LOOK_BACK = 4


def _aspect(tokens: Sequence[Token], amount: Found) -> Aspect | None:
    """What an amount is a value of, by the words around it."""
    dimension = amount.quantity.dimension
    after = [token.folded for token in tokens[amount.last : amount.last + 4]]
    plain = dimension is Dimension.TOKENS
    if dimension is Dimension.RATIO or (amount.bare and amount.quantity.high <= 1):
        shared = _share(tokens, amount, after)
        if shared is not None:
            return shared
    if dimension is Dimension.COUNT:  # "64 requests"; the rate has another dimension
        before = tokens[amount.first - 1].folded if amount.first else ""
        return Aspect.BATCH if before in _AT_ONCE else None
    if not plain:
        return None
    if amount.per == "pass" or _accepted(after, tokens, amount):
        return Aspect.TOKENS_PER_PASS
    nouns = [word for word in after[:3] if word not in HYPHENS]
    if nouns[:1] and nouns[0] in _AT_ONCE and len(nouns) > 1 and nouns[1] in _STREAMS:
        return Aspect.BATCH
    counted = nouns[1:2] if nouns[:1] and nouns[0] in _LENGTHS else nouns[:1]
    if counted and counted[0] in {"streams", "sequences"} and amount.bare:
        return Aspect.BATCH
    if amount.bare and _counts_devices(tokens, amount.last):
        return Aspect.DEVICES
    if nouns[:1] and nouns[0] in _DRAFTED and nouns[1:2] == ["tokens"]:
        return Aspect.DRAFT_TOKENS
    if nouns[:1] and nouns[0] in _PROMPT_NOUNS:
        return Aspect.PROMPT
    if nouns[:1] and nouns[0] in _OUTPUT_NOUNS:
        return Aspect.OUTPUT
    if nouns[:1] and nouns[0] in _AFTER_CONTEXT:
        return Aspect.CONTEXT
    if nouns[:1] == ["of"] and len(nouns) > 1 and nouns[1] in _AFTER_CONTEXT:
        return Aspect.CONTEXT
    return _labelled(tokens, amount) or _after_preposition(tokens, amount, after)


def _share(tokens: Sequence[Token], amount: Found, after: list[str]) -> Aspect | None:
    """95% of bandwidth, 82% MBU, MBU 0.82, 80% acceptance."""
    at = 0
    while at < len(after) and after[at] in _BANDWIDTH_ADJECTIVES and after[at] != "hbm":
        at += 1
    nouns = after[at:]
    named = bool(nouns) and nouns[0] in _BANDWIDTH_NOUNS
    if named and not (nouns[0] == "hbm" and len(nouns) > 1 and nouns[1] != "bandwidth"):
        return Aspect.BANDWIDTH_FRACTION
    if after[:1] in (["acceptance"], ["accepted"]):
        return Aspect.ACCEPTANCE
    label = _labelled(tokens, amount)
    return label if label in {Aspect.BANDWIDTH_FRACTION, Aspect.ACCEPTANCE} else None


def _accepted(after: list[str], tokens: Sequence[Token], amount: Found) -> bool:
    """2.3 accepted tokens per pass, 2.3 tokens accepted per step, acceptance length 2.3."""
    following = [word for word in after if word not in {"on", "average"}]
    if following[:3] == ["accepted", "tokens", "per"]:
        return True
    if following[:2] == ["accepted", "per"] or following[:1] == ["tokens/pass"]:
        return True
    before = [token.folded for token in tokens[max(0, amount.first - 3) : amount.first]]
    return before[-2:] in (["acceptance", "length"], ["accepted", "length"]) or before == [
        "acceptance",
        "length",
        "of",
    ]


def _labelled(tokens: Sequence[Token], amount: Found) -> Aspect | None:
    """The label before a number: "batch size of 8", "seq len 4096", "B=1"."""
    at = amount.first - 1
    if at >= 1 and tokens[at].raw == "=" and tokens[at - 1].raw in _LETTERS:
        return _LETTERS[tokens[at - 1].raw]
    floor = max(0, amount.first - _LOOK_BACK)
    while at >= floor and tokens[at].folded in _BETWEEN_LABEL:
        at -= 1
    if at < floor:
        return None
    return _LABELS.get(tokens[at].folded)


def _after_preposition(tokens: Sequence[Token], amount: Found, after: list[str]) -> Aspect | None:
    """At 32k, at 512 tokens: a context where nothing else is named."""
    before = tokens[amount.first - 1].folded if amount.first else ""
    if before not in _CONTEXT_PREPOSITIONS or (after and after[0] not in _CLOSING):
        return None
    suffixed = tokens[amount.last - 1].folded in {"k", "m", "ki"}
    return Aspect.CONTEXT if suffixed or not amount.bare else None


def _continues(
    tokens: Sequence[Token], previous: Found | None, amount: Found, listed: Aspect | None
) -> Aspect | None:
    """The further numbers of "batch 1, 3, 5 and 30" are of the same aspect."""
    if previous is None or listed not in {Aspect.BATCH, Aspect.CONTEXT} or not amount.bare:
        return None
    between = [token.folded for token in tokens[previous.last : amount.first]]
    if not between or len(between) > 2 or not set(between) <= {",", "/", "and", "or"}:
        return None
    after = tokens[amount.last].folded if amount.last < len(tokens) else "."
    return listed if after in _CLOSING else None


def _counts_devices(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number at the end of which `at` stands counts devices: 8 GPUs, 2 x H100."""
    if at < len(tokens) and tokens[at].folded in {"x", "×"}:
        at += 1
    return at < len(tokens) and is_device(tokens[at])


def _mention(aspect: Aspect, amount: Found, tokens: Sequence[Token]) -> Mention:
    quantity = amount.quantity
    first = amount.first
    label = first - 1
    floor = max(0, first - _LOOK_BACK)
    while label >= floor and tokens[label].folded in _BETWEEN_LABEL:
        label -= 1
    named = label >= floor and _LABELS.get(tokens[label].folded) is aspect
    start = tokens[label].start if named else amount.start
    end = amount.end
    if aspect is Aspect.TOKENS_PER_PASS:
        for token in tokens[amount.last : amount.last + 4]:
            if token.folded in _PASSES:
                end = token.end
                break
    return Mention(aspect, quantity.value, quantity.low, quantity.high, "", start, end)


# Words

_ONE = words("one single lone")
_ONE_OF = words("user stream request sequence client session conversation")
_PHASES = MappingProxyType(
    {
        **dict.fromkeys(words("decode decoding tpot itl tbt"), "decode"),
        **dict.fromkeys(words("prefill prefilling ttft"), "prefill"),
        **dict.fromkeys(words("training finetuning pretraining"), "training"),
    }
)
_PHASE_PAIRS = MappingProxyType(
    {
        ("token", "generation"): "decode",
        ("inter", "token"): "decode",
        ("output", "token"): "decode",
        ("first", "token"): "prefill",
        ("prompt", "processing"): "prefill",
        ("prompt", "pass"): "prefill",
        ("fine", "tuning"): "training",
    }
)
_PHASE_OPENERS = frozenset(first for first, _ in _PHASE_PAIRS)
_DEVICE_TAIL = re.compile(
    r"(?:sxm[0-9]?|pcie|nvl|nvl[0-9]+|ti|super|ada|max|pro|ultra|oam|xtx?|orin|nano|nx|agx|thor|v[0-9][ep]?"
    r"|platinum|gold|[0-9]{4}[a-z]?)",
    re.IGNORECASE,
)
_CONSUMER = re.compile(r"[2-5]0[5-9]0")
_BATCH_IN_ONE_WORD = re.compile(r"(?:bs|bsz|batch)([0-9]{1,6})")
_ARTICLES = words("a an the one this")


def _in_words(text: str, tokens: Sequence[Token]) -> Iterable[Mention]:
    """Mentions without a number of their own: single stream, decode, H100 SXM, bs32."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind is TokenKind.SYMBOL:
            at += 1
            continue
        after = at + 1
        if after < len(tokens) and tokens[after].raw in HYPHENS and tokens[after].glued:
            after += 1
        following = tokens[after].folded if after < len(tokens) else ""
        end = tokens[after].end if after < len(tokens) else token.end
        word = token.folded
        joined = _BATCH_IN_ONE_WORD.fullmatch(word) if word[0] == "b" else None
        phase = _PHASES.get(word)
        pair = _PHASE_PAIRS.get((word, following)) if word in _PHASE_OPENERS else None
        if joined is not None:
            size = float(joined.group(1))
            yield Mention(Aspect.BATCH, size, size, size, "", token.start, token.end)
        elif (word in _ONE and following in _ONE_OF) or (word == "batch" and following == "one"):
            yield Mention(Aspect.BATCH, 1.0, 1.0, 1.0, "", token.start, end)
        elif phase is not None:
            yield Mention(Aspect.PHASE, 0.0, 0.0, 0.0, phase, token.start, token.end)
        elif pair is not None:
            yield Mention(Aspect.PHASE, 0.0, 0.0, 0.0, pair, token.start, end)
        elif _begins_device(tokens, at):
            stop = at + 1
            while stop < len(tokens) and _continues_device(tokens, stop):
                stop += 1
            if stop == at + 1 and _is_hyphenated(tokens, stop):
                stop += 2  # "M2-Max"
            start, end = token.start, tokens[stop - 1].end
            yield Mention(Aspect.HARDWARE, 0.0, 0.0, 0.0, text[start:end], start, end)
            yield from _counted_in_words(tokens, at)
            at = stop
            continue
        elif word in GENERIC_DEVICES:
            yield from _counted_in_words(tokens, at)
        at += 1


def _begins_device(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if token.kind is TokenKind.NUMBER:
        article = at > 0 and tokens[at - 1].folded in _ARTICLES
        return article and _CONSUMER.fullmatch(token.raw) is not None
    return is_device(token) and token.folded not in GENERIC_DEVICES


def _continues_device(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if _DEVICE_TAIL.fullmatch(token.raw) is not None or _begins_device(tokens, at):
        return True
    size = token.kind is TokenKind.NUMBER and at + 1 < len(tokens)
    if size and tokens[at + 1].folded == "gb" and tokens[at + 1].glued:
        return True
    return token.folded == "gb" and token.glued and tokens[at - 1].kind is TokenKind.NUMBER


def _is_hyphenated(tokens: Sequence[Token], at: int) -> bool:
    """Whether a hyphen and the variant of a device stand at a place."""
    if at + 1 >= len(tokens) or tokens[at].raw not in HYPHENS or not tokens[at].glued:
        return False
    variant = tokens[at + 1]
    return variant.glued and _DEVICE_TAIL.fullmatch(variant.raw) is not None


def _counted_in_words(tokens: Sequence[Token], at: int) -> Iterable[Mention]:
    """Two L40s, one H100, eight GPUs; "8x H100", whose number is no amount of its own."""
    if at == 0:
        return
    before = tokens[at - 1]
    if before.folded in {"x", "×"} and at > 1:
        before = tokens[at - 2]
        if before.kind is not TokenKind.NUMBER or not tokens[at - 1].glued:
            return
    elif before.kind is not TokenKind.WORD:
        return
    if before.value is not None and not before.attached:
        count = before.value
        end = tokens[at].end
        yield Mention(Aspect.DEVICES, count, count, count, "", before.start, end)
