"""Units as people write them, as data: what follows a number and what it says.

The base units are those the rest of the program computes in (`BASE_UNIT`). Spellings that differ
only in case are told apart where case carries meaning (GB and Gb, FLOPs and FLOPS, T and t).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from advisor.quantity.lexing import HYPHENS, Token, TokenKind, words


class Dimension(StrEnum):
    """What kind of thing a quantity measures."""

    RATIO = "ratio"
    COUNT = "count"
    TOKENS = "tokens"
    TIME = "time"
    BYTES = "bytes"
    BANDWIDTH = "bandwidth"
    WORK = "work"
    COMPUTE = "compute"
    RATE = "rate"
    FACTOR = "factor"


BASE_UNIT = MappingProxyType(
    {
        Dimension.RATIO: "",
        Dimension.COUNT: "",
        Dimension.TOKENS: "tokens",
        Dimension.TIME: "ms",
        Dimension.BYTES: "bytes",
        Dimension.BANDWIDTH: "bytes/s",
        Dimension.WORK: "FLOP",
        Dimension.COMPUTE: "FLOP/s",
        Dimension.RATE: "tokens/s",
        Dimension.FACTOR: "x",
    }
)
"""The unit values are kept in; a rate may also be in requests/s."""


class Unit(NamedTuple):
    """A unit after a number: value x `scale` is in the base unit `name`."""

    dimension: Dimension
    scale: float
    name: str
    per: str | None = None
    """token, pass, layer, user or device, where the text says "ms per token", "tok/s/GPU"."""


_SI = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_WORD_PREFIXES = {"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def _exact_units() -> dict[str, Unit]:
    """Spellings in which upper and lower case mean different things."""
    units = {"B": Unit(Dimension.BYTES, 1.0, "bytes")}
    for prefix, scale in _SI.items():
        units[f"{prefix}B"] = Unit(Dimension.BYTES, scale, "bytes")
        units[f"{prefix}Bps"] = Unit(Dimension.BANDWIDTH, scale, "bytes/s")
        units[f"{prefix}bps"] = Unit(Dimension.BANDWIDTH, scale / 8, "bytes/s")
        for flop in ("FLOPS", "FLOPs", "FLOP", "Flops", "Flop", "flops", "flop"):
            rate = flop == "FLOPS" or (prefix in "TPE" and flop in {"FLOPs", "Flops", "flops"})
            dimension = Dimension.COMPUTE if rate else Dimension.WORK
            units[f"{prefix}{flop}"] = Unit(dimension, scale, BASE_UNIT[dimension])
        for ops in ("OPS", "OPs", "ops"):
            units[f"{prefix}{ops}"] = Unit(Dimension.COMPUTE, scale, "FLOP/s")
    for prefix in ("T", "P"):
        units[f"{prefix}F"] = Unit(Dimension.COMPUTE, _SI[prefix], "FLOP/s")
    for prefix, binary in _BINARY.items():
        units[f"{prefix}B"] = Unit(Dimension.BYTES, float(binary), "bytes")
    units["us"] = Unit(Dimension.TIME, 1e-3, "ms")
    units["t"] = Unit(Dimension.TOKENS, 1.0, "tokens")
    return units


def _folded_units() -> dict[str, Unit]:
    """Spellings read in any case."""
    units: dict[str, Unit] = {}

    def add(names: str, dimension: Dimension, scale: float, unit: str | None = None) -> None:
        for name in names.split():
            units[name] = Unit(dimension, scale, BASE_UNIT[dimension] if unit is None else unit)

    add("% percent pct", Dimension.RATIO, 0.01)
    add("x × times fold", Dimension.FACTOR, 1.0)
    add("ns nanosecond nanoseconds", Dimension.TIME, 1e-6)
    add("µs μs usec microsecond microseconds", Dimension.TIME, 1e-3)
    add("ms msec msecs millisecond milliseconds", Dimension.TIME, 1.0)
    add("s sec secs second seconds", Dimension.TIME, 1e3)
    add("min mins minute minutes", Dimension.TIME, 60e3)
    add("h hr hour hours", Dimension.TIME, 3600e3)
    add("byte bytes", Dimension.BYTES, 1.0)
    for short, scale in (("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12), ("pb", 1e15)):
        letter = short[0]
        add(f"{short} {letter}byte {letter}bytes", Dimension.BYTES, scale)
    for short, scale in (("kib", 2**10), ("mib", 2**20), ("gib", 2**30), ("tib", 2**40)):
        add(short, Dimension.BYTES, scale)
    for prefix, scale in _WORD_PREFIXES.items():
        add(f"{prefix}byte {prefix}bytes", Dimension.BYTES, scale)
        add(f"{prefix}flop {prefix}flops", Dimension.COMPUTE, scale)
    add("flop flops", Dimension.WORK, 1.0)
    add("token tokens tok toks", Dimension.TOKENS, 1.0)
    add("tps", Dimension.RATE, 1.0)
    add("rps qps", Dimension.RATE, 1.0, "requests/s")
    add("request requests req reqs query queries", Dimension.COUNT, 1.0, "requests")
    return units


_EXACT = MappingProxyType(_exact_units())
_FOLDED = MappingProxyType(_folded_units())
_BITS = MappingProxyType(
    {f"{p}{b}": _SI[p] / 8 for p in "kMGT" for b in ("b", "bit", "bits") if p + b != "kb"}
)
_MILLISECONDS = MappingProxyType(
    {name: unit.scale for name, unit in _FOLDED.items() if unit.dimension is Dimension.TIME}
    | {"us": _EXACT["us"].scale}
)
_ONE = frozenset({"a", "one", "each", "every"})
_EACH = _ONE | {"per", "an"}
_SECONDS = MappingProxyType({"s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0})
_PER = MappingProxyType(
    {
        **dict.fromkeys(("token", "tokens", "tok", "word"), "token"),
        **dict.fromkeys(("step", "pass", "iteration", "forward", "steps"), "pass"),
        "layer": "layer",
        **dict.fromkeys(("user", "stream", "session", "sequence", "request", "client"), "user"),
        **dict.fromkeys(("gpu", "device", "card", "chip", "accelerator"), "device"),
    }
)
_PER_ADJECTIVES = words(
    "output generated new decoded accepted single decode decoding forward verification"
)
_AFTER_SPACED_X = words(
    "faster slower lower higher less fewer more better smaller larger quicker shorter longer "
    "cheaper greater speedup speed throughput latency tokens as the on at in for over than"
)
_COUNT_SUFFIXES = MappingProxyType(
    {
        "k": 1e3,
        "K": 1e3,
        "M": 1e6,
        "B": 1e9,
        "T": 1e12,
        "thousand": 1e3,
        "million": 1e6,
        "billion": 1e9,
        "trillion": 1e12,
        "Ki": 2.0**10,
        "Mi": 2.0**20,
        "Gi": 2.0**30,
    }
)

GENERIC_DEVICES = words(
    "gpu gpus card cards device devices accelerator accelerators chip chips node nodes"
)
DEVICE_WORDS = GENERIC_DEVICES | words(
    "nvidia amd intel geforce radeon tesla quadro rtx gtx tpu gaudi xeon epyc jetson instinct "
    "trainium inferentia apple"
)
_DEVICE = re.compile(
    r"(?:A(?:2|10G?|16|30|40|100|800|4000|4500|5000|6000)|H(?:20|100|200|800)|B(?:60|100|200|300)"
    r"|L(?:2|4|20|40S?)|T4G?|V100S?|P(?:4|40|100)|G[HB](?:10|200|300)|MI[0-9]{2,3}[A-Z]?|M[1-9])s?"
)
"""Names of data-centre cards and Apple chips that stand alone in a sentence.

A8 and A4 are not among them: those are activation formats.
"""


def in_milliseconds(unit: str) -> float | None:
    """Milliseconds that a unit of time has, with either sign for "micro"; None for another unit."""
    return _MILLISECONDS.get(unit.strip().lower())


def is_device(token: Token) -> bool:
    """Whether a word names a device or its maker: H100, MI300X, L40S, RTX, GPUs."""
    return token.kind is TokenKind.WORD and (
        token.folded in DEVICE_WORDS or _DEVICE.fullmatch(token.raw) is not None
    )


def scale_of_count(suffix: str, number: float, dimension: Dimension) -> float | None:
    """What k, M, B ... multiply a count by; None for another word. Module docs: the binary rule."""
    scale = _COUNT_SUFFIXES.get(suffix)
    if scale is None or dimension is not Dimension.TOKENS or suffix not in "kKM":
        return scale
    power_of_two = number.is_integer() and number >= 1 and int(number) & (int(number) - 1) == 0
    if not power_of_two:
        return scale
    return 2.0**20 if suffix == "M" else 2.0**10


def bits_slip(word: str) -> float | None:
    """Bytes in one Gb, Mbit ...; None for another word."""
    return _BITS.get(word)


def unit_at(tokens: Sequence[Token], at: int) -> tuple[Unit, int] | None:
    """The unit that starts at token `at` and the index after it, or None."""
    if at >= len(tokens):
        return None
    head = tokens[at]
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if head.folded == "per" and following is not None and following.folded == "cent":
        return _FOLDED["percent"], at + 2
    bits = _BITS.get(head.raw)
    if bits is not None:
        unit = Unit(Dimension.BANDWIDTH, bits, "bits")
    else:
        known = _EXACT.get(head.raw) or _FOLDED.get(head.folded)
        if known is None:
            return None
        unit = known
    if unit.dimension is Dimension.FACTOR:
        inner = at + 2 < len(tokens) and tokens[at + 2].kind is TokenKind.NUMBER
        multiplies = following is not None and (
            _multiplies(head, following) or (following.raw == "(" and inner)
        )
        return None if multiplies else (unit, at + 1)
    found = _with_per(unit, tokens, at + 1)
    if head.raw == "t" and (found is None or found[0].dimension is not Dimension.RATE):
        return None  # t/s is tokens/s, a lone t nothing
    return found


def _multiplies(times: Token, following: Token) -> bool:
    """8 x 4.8 TB/s, 8x H100 and 2 x Llama multiply; they are no speedup factors."""
    if following.kind is TokenKind.NUMBER:
        return not following.attached
    if times.folded not in {"x", "×"} or following.kind is not TokenKind.WORD:
        return False
    return is_device(following) or (not times.glued and following.folded not in _AFTER_SPACED_X)


def _with_per(unit: Unit, tokens: Sequence[Token], at: int) -> tuple[Unit, int] | None:
    """Read "/s", "per second", "per token", "/GPU" after the head of a unit."""
    while True:
        found = _per(tokens, at)
        if found is None:
            break
        word, stop, slash = found
        seconds = _SECONDS.get(word)
        if seconds is not None:
            rate = _per_second(unit, seconds)
            if rate is None:
                return None if slash else (unit, at)
            unit = rate
        elif word in _PER:
            per = _PER[word]
            if unit.dimension is Dimension.COMPUTE and per in {"token", "pass"}:
                unit = unit._replace(dimension=Dimension.WORK, name="FLOP")
            unit = unit._replace(per=per)
        elif slash:
            return None  # FLOP/B, GB/weight: another dimension
        else:
            break
        at = stop
    if unit.name == "bits":
        return None
    return unit, at


def _per(tokens: Sequence[Token], at: int) -> tuple[str, int, bool] | None:
    """The word after "/", "per", "a" or "in a", the index after it, and whether it was a "/"."""
    if at + 1 >= len(tokens):
        return None
    if tokens[at].folded == "in" and tokens[at + 1].folded in _ONE:
        at += 1
        if at + 1 >= len(tokens) or tokens[at + 1].folded not in _SECONDS:
            return None
    sign = tokens[at]
    slash = sign.raw == "/" and sign.glued
    if not slash and sign.folded not in _EACH:
        return None
    word = at + 1
    if tokens[word].folded in _PER_ADJECTIVES and word + 1 < len(tokens):
        word += tokens[word + 1].folded in _PER
    name = tokens[word].folded
    if sign.folded in _EACH - {"per"} and name not in _SECONDS and name != "token":
        return None
    return name, word + 1, slash


def _per_second(unit: Unit, seconds: float) -> Unit | None:
    """The unit divided by a time."""
    scale = unit.scale / seconds
    if unit.name == "requests":
        return Unit(Dimension.RATE, scale, "requests/s")
    if unit.name == "bits":
        return Unit(Dimension.BANDWIDTH, scale, "bytes/s")
    rate = {
        Dimension.TOKENS: Dimension.RATE,
        Dimension.BYTES: Dimension.BANDWIDTH,
        Dimension.WORK: Dimension.COMPUTE,
        Dimension.COMPUTE: Dimension.COMPUTE,
    }.get(unit.dimension)
    return None if rate is None else Unit(rate, scale, BASE_UNIT[rate])


def after_hyphen(tokens: Sequence[Token], at: int) -> int:
    """The index after one glued hyphen (26-ms, 1.8-fold), or `at`."""
    glued = at + 1 < len(tokens) and tokens[at].raw in HYPHENS and tokens[at].glued
    return at + 1 if glued and tokens[at + 1].glued else at
