"""Model sizes and widths of number formats as prose writes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from advisor.forms import Form
from advisor.prose.named import models_in

_SIZE: Final = re.compile(
    r"(?<![\w.,])(?:[A-Za-z][\w.]{0,20}-){0,4}(?P<size>\d{1,4}(?:\.\d{1,2})?)"
    r"(?:[ -]?(?P<unit>[BT])|[ -](?P<word>billion|trillion)|(?<=-\d\d)b|(?<=-\d\d\d)b)\b"
    r"(?:-?A(?P<active>\d{1,3}(?:\.\d{1,2})?)B\b)?(?!/s)"
)
_SMALLEST: Final = 1e8
_NOMINAL: Final = 0.12
"""Sizes in names are round; beyond this much the number in a name is not the size."""


def sizes_of(text: str) -> list[tuple[float, float | None]]:
    """Model sizes in a text: (parameters, active parameters) of "70B", "30B-A3B", "Mixtral-8x7B".

    A size that a name does not carry is the catalog's.
    """
    found: list[tuple[int, float, float | None]] = []
    taken = []
    for named in models_in(text):
        own = _written(text[named.start : named.end])
        size, active = own[0][1:] if len(own) == 1 else (0.0, None)
        total = named.model.parameters
        if abs(size - total) > _NOMINAL * total:
            size, active = total, named.model.active
        found.append((named.start, size, active or named.model.active))
        taken.append((named.start, named.end))
    found.extend(
        one for one in _written(text) if not any(start <= one[0] < end for start, end in taken)
    )
    return [one[1:] for one in sorted(found)]


def _written(text: str) -> list[tuple[int, float, float | None]]:
    """Sizes in numbers, each with where it stands."""
    found = []
    for match in _SIZE.finditer(text):
        trillions = match["word"] == "trillion" or (match["unit"] == "T" and not match["active"])
        size = float(match["size"]) * (1e12 if trillions else 1e9)
        active = float(match["active"]) * 1e9 if match["active"] else None
        if size >= _SMALLEST:
            found.append((match.start("size"), size, active))
    return found


_FORMAT: Final = (
    r"(?:(?:fp|int|bf|nf|f|float|bfloat|mxfp|nvfp|w)\d{1,2}|\d{1,2}[- ]bits?|q[2-8]_[0-9k](?:_\w)?"
    r"|(?:four|eight|sixteen)[- ]bits?)"
)
_OF_OTHERS: Final = Form(
    rf"\b{_FORMAT}[- ](?:kv|k/v|cached?|keys|activations?|acts?|accumulat\w+|tensor|tflops|tops"
    r"|math|arithmetic|compute|matmul|gemms?|inputs?|prompt|prefill)\b"
    rf"|\b(?:kv|k/v|caches?|cached|activations?|keys and values|tflops|inputs?)(?: cache)?"
    rf"(?: (?:is|are|was|stays?|kept|held|stored|quanti[sz]ed))?(?:,? (?:in|at|as|to|of)"
    rf"|\s?[:=(])? ?{_FORMAT}\b"
    r"|\bactivations? (?:\w+ )?from \w+(?:[- ]bits?)? to \w+(?:[- ]bits?)?\b"
    rf"|\d ?tflops (?:of )?{_FORMAT}\b"
    r"|\b(?:as (?:fast|quick|slow)(?:ly)? as|(?:faster|slower|quicker|lower|higher|more|less|fewer"
    rf"|better) than) (?:(?:in|with|under|at) )?(?:the |its |our |an? |plain )?{_FORMAT}\b",
)
"""Formats of the cache, of activations and of arithmetic, or of what is compared: no width of
weights."""


def _width(names: str) -> Form:
    """Names of one width; the "2 bits" of "4.2 bits" are none."""
    return Form(rf"(?<!\d\.)\b(?:{names})\b")


_WIDTHS: Final = (
    (_width(r"fp32|float32|f32|32[- ]bits?|single precision"), 32.0),
    (
        _width(r"bf16|fp16|f16|float16|bfloat16|16[- ]bits?|sixteen[- ]bits?|half[- ]precision"),
        16.0,
    ),
    (_width(r"fp8|int8|w8a8|w8a16|w8|8[- ]bits?|e4m3|e5m2|eight[- ]bits?"), 8.0),
    (_width(r"fp6|int6|w6a16|6[- ]bits?|six[- ]bits?"), 6.0),
    (_width(r"int5|5[- ]bits?|five[- ]bits?"), 5.0),
    (_width(r"int4|fp4|nf4|w4a16|w4a8|w4a4|w4|awq|gptq|4[- ]bits?|four[- ]bits?"), 4.0),
    (_width(r"int3|3[- ]bits?|w3a16|three[- ]bits?"), 3.0),
    (_width(r"int2|2[- ]bits?|w2a16|two[- ]bits?"), 2.0),
)
_BLOCKS: Final = Form(
    r"\b(?:i?q[1-8]_(?:k(?:_(?:xl|[sml]))?|[01]|xxs|xs|nl|[sm])|mxfp[48]|nvfp4|mxfp6)\b",
)
"""Formats with blocks, whose scales count."""
_SHORT: Final = Form(
    r"(?:\b|x)(?:\d{1,3}(?:\.\d{1,2})? ?B(?: \w+)?|at|to|a|quanti[sz]ed(?: \w+)?"
    r"|weights?|gguf|llama\.cpp) q([2-8])\b"
    r"|\bq([2-8])(?= (?:\d|weights?|quants?|gguf|models?|files?|of the)|\))|\bq([5-8])\b",
)
"""Q4 beside a model or its weights; "Q4" alone is as often a quarter of a year."""
_BITS: Final = Form(
    r"(?<![\w.])(\d{1,2}\.\d{1,2})[ -]?(?:bits?(?: per weight)?|bpw)\b"
    r"|(?<![\w.])(\d{1,2}) ?bpw\b"
)
UNQUANTIZED_BITS: Final = 16.0
"""Of a weight in the formats that models are published in."""
_ALIKE: Final = 1.3
"""One format under several names: Q4_K_M of 4.5 bits is "4-bit" as well."""


def widths_of(text: str) -> set[float]:
    """Widths in bits of the weight formats that a text names, scales of blocks counted.

    Formats of the cache, of activations and of arithmetic are not among them.
    """
    return set(_widths(text))


@lru_cache(maxsize=4096)
def _widths(text: str) -> frozenset[float]:
    plain = _OF_OTHERS.sub(" ", text)
    found = {bits for form, bits in _WIDTHS if form.search(plain) is not None}
    for match in _BLOCKS.finditer(plain):
        from advisor.ledger.formats import UnknownFormatError, parse_format  # noqa: PLC0415

        try:
            found.add(parse_format(match[0]).bits)
        except UnknownFormatError:
            found.add(float(re.sub(r"\D", "", match[0])[0]))
    found.update(float(next(filter(None, one.groups()))) for one in _SHORT.finditer(plain))
    found.update(float(match[1] or match[2]) for match in _BITS.finditer(plain))
    kept: list[float] = []
    for bits in sorted(found):
        # of names of one format the narrower counts: bytes are then not overstated
        if not kept or bits >= UNQUANTIZED_BITS or bits > _ALIKE * kept[-1]:
            kept.append(bits)
    return frozenset(kept)
