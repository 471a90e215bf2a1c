"""Model sizes and widths of number formats as prose writes them."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = (
    r"(?<![\w.,])(?:[A-Za-z][\w.]{0,20}-){0,4}(?P<size>\d{1,4}(?:\.\d{1,2})?)"
    r"(?:[ -]?(?P<unit>[BT])|(?<=-\d\d)b|(?<=-\d\d\d)b)\b"
    r"(?:-?A(?P<active>\d{1,3}(?:\.\d{1,2})?)B\b)?(?!/s)"
)
_KV_FORMAT: Final = r"\b(?:fp8|int8|int4|8-bit|4-bit) (?:kv|cache)"
_WIDTHS: Final = (
    (r"\b(?:fp32|float32|32-bit)\b", 32.0),
    (r"\b(?:bf16|fp16|float16|bfloat16|16[- ]bits?|half precision)\b", 16.0),
    (r"\b(?:fp8|int8|w8a8|w8a16|8[- ]bits?|q8_0|eight bits)\b", 8.0),
    (r"\b(?:int4|fp4|nf4|nvfp4|mxfp4|w4a16|w4a8|w4|awq|4[- ]bits?|four bits|q4_k_m|q4_0)\b", 4.0),
)
_SMALLEST: Final = 1e8


def sizes_of(text: str) -> list[tuple[float, float | None]]:
    """Model sizes in a text: (parameters, active parameters) of "70B", "30B-A3B"."""
    found = []
    for match in re.finditer(_SIZE, text):
        whole_trillions = match["unit"] == "T" and match["active"] is None
        size = float(match["size"]) * (1e12 if whole_trillions else 1e9)
        active = float(match["active"]) * 1e9 if match["active"] else None
        if size >= _SMALLEST:
            found.append((size, active))
    return found


def widths_of(text: str) -> set[float]:
    """Widths in bits of the weight formats that a text names; formats of the cache are not."""
    plain = re.sub(_KV_FORMAT, " ", text, flags=re.IGNORECASE)
    return {bits for pattern, bits in _WIDTHS if re.search(pattern, plain, re.IGNORECASE)}
