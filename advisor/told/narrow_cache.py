"""What a narrower cache can bring: the weights beside it are read as before."""

from __future__ import annotations

from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.frame import frame_of
from advisor.prose.model import Kind, Phase
from advisor.prose.shrinkage import gigabytes_in
from advisor.said import Said

_TO_A_QUARTER: Final = Form(
    r"\b(?:int4|fp4|q4|4[- ]bits?|quarter\w*)\b[^.;]{0,24}?\b(?:kv|cache|keys)\b"
    r"|\b(?:kv|cache|keys and values)\b[^.;]{0,24}?\b(?:int4|fp4|q4|4[- ]bits?|quarter)\b"
)
_TO_HALF: Final = Form(
    r"\b(?:fp8|int8|q8\w*|8[- ]bits?|hal[fv]\w*)\b[^.;]{0,24}?\b(?:kv|cache|keys)\b"
    r"|\b(?:kv|cache|keys and values)\b[^.;]{0,24}?\b(?:fp8|int8|q8\w*|8[- ]bits?|hal[fv]\w*)\b"
)
_AS_WELL: Final = Form(
    r"\b(?:weights? and|and (?:the )?(?:\w+ )?weights|weights? (?:too|as well|go(?:es)?|becomes?"
    r"|move"
    r"|drop|shrink)|kernels?|split\w*|draft\w*|evict\w*|windows?)\b"
)
"""What else may change."""
_ALIKE: Final = 0.08


class NarrowCache(NamedTuple):
    """Gigabytes of cache before, those of the weights, and all bytes before over after."""

    cache: float
    weights: float
    ratio: float


def narrower_cache(said: Said) -> NarrowCache | None:
    """What a gain that is ascribed to a narrower cache alone may come to, by the bytes told."""
    statement, text = said.statement, said.statement.context_text
    if statement.kind is not Kind.GAIN or statement.cause != "KVQ" or _AS_WELL.search(text):
        return None
    if statement.phase is not Phase.DECODE:
        return None
    cut = 4.0 if _TO_A_QUARTER.search(text) else 2.0 if _TO_HALF.search(text) else None
    frame = statement.frame
    weights = frame.weight_bytes
    if weights is None and frame.parameters is not None and frame.weight_bits is not None:
        weights = (frame.active_parameters or frame.parameters) * frame.weight_bits / 8.0
    cache = _told(text, cut) if cut is not None else None
    if cut is None or cache is None or weights is None:
        return None
    ratio = (weights + cache) / (weights + cache / cut)
    return NarrowCache(cache / 1e9, weights / 1e9, ratio)


def _told(text: str, cut: float) -> float | None:
    """Bytes of the cache before it shrinks: of two that are told the larger."""
    sizes = [one.gigabytes for one in gigabytes_in(text)]
    for size in sizes:
        if any(abs(size / cut / other - 1.0) < _ALIKE for other in sizes if other):
            return size * 1e9
    return frame_of(text).kv_bytes
