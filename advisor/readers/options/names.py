"""Precision that stands only in a name: of a model, a folder, a file, or a tag.

Such a name is often the only sign of quantization in a manifest; it says less than an option.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from advisor.readers.options.formats import AUTO, MIXED


class Named(NamedTuple):
    """What a name says of a checkpoint."""

    weights: str | None = None
    kv_cache: str | None = None
    sparse: bool = False
    """Whether a 2:4 pattern stands in it."""


_EDGE: Final = r"(?<![a-z0-9])"
_END: Final = r"(?![a-z0-9])"

# Longer and more exact forms first: the first that fits holds.
_WEIGHTS: Final = tuple(
    (re.compile(_EDGE + pattern + _END, re.IGNORECASE), form)
    for pattern, form in (
        (r"(?:UD-)?I?Q\d_K?_?(?:XXS|XL|XS|NL|[SML01])", "gguf"),
        (r"Q[2-8]_K", "gguf"),
        (r"(\d(?:\.\d{1,2})?)[-_ ]?bpw(?:[-_.]?h\d)?", "bpw"),
        (r"bnb[-_.]?4[-_.]?bit(?:s)?|nf4|bnb-4bit", "nf4"),
        (r"bnb[-_.]?8[-_.]?bit(?:s)?", "int8-bnb"),
        (r"w4a16(?:[-_.]?g?(?:128|64|32))?|w4a8|w4afp8", "int4"),
        (r"w8a8[-_.]?fp8|fp8[-_.]?w8a8", "fp8"),
        (r"w8a16|w8a8(?:[-_.]?int8)?", "int8"),
        (r"w3a16", "int3"),
        (r"(?:awq|gptq)[-_.]?(?:int|w)?[-_.]?(\d)(?:[-_.]?bits?)?", "bits"),
        (r"(?:int|w)[-_.]?(\d)[-_.]?(?:awq|gptq|autoround|ar|rtn)", "bits"),
        (r"(\d)[-_.]?bits?[-_.]?(?:awq|gptq|autoround)", "bits"),
        (r"gptq[-_.]?int8|gptq[-_.]?8bit", "int8"),
        (r"awq(?:[-_.]?marlin)?", "awq"),
        (r"gptq(?:[-_.]?marlin)?", "gptq"),
        (r"autoround|auto[-_]round", "int4"),
        (r"nvfp4(?:a16)?", "nvfp4"),
        (r"mxfp4", "mxfp4"),
        (r"mxfp8", "mxfp8"),
        (r"fp4", "nvfp4"),
        (r"fp8(?:[-_.]?(?:dynamic|block|static|kv|e4m3|e5m2|tensor|channel))?", "fp8"),
        (r"float8", "fp8"),
        (r"int(\d)", "bits"),
        (r"(\d)[-_.]?bits?", "bits"),
        (r"hqq", "int4"),
        (r"aqlm(?:[-_.]?2bit)?", "aqlm"),
        (r"quip(?:-?sharp|#)?", "quip"),
        (r"bitnet(?:[-_.]?b?1[._]58)?|1[._]58[-_ ]?(?:bits?)?|ternary", "ternary"),
        (r"q([3-8])f16(?:_\d)?", "bits"),
        (r"(?:bf16|f16|fp16|f32|fp32)(?:[-_.]\d{5}-of-\d{5})?\.gguf", ""),
        (r"exl[23]", AUTO),
        (r"gguf", AUTO),
        (r"quantized", AUTO),
    )
)
_KV: Final = re.compile(_EDGE + r"(?:fp8[-_.]?kv|kv[-_.]?fp8|kvfp8)" + _END, re.IGNORECASE)
_SPARSE: Final = re.compile(
    _EDGE + r"(?:2of4|2[-_.]4|pruned2[._]4|sparse[-_.]?24|2by4|semi[-_]?structured)" + _END
    + r"|pruned[_.-]?2[._]4",
    re.IGNORECASE,
)  # fmt: skip


def named_precision(name: str) -> Named:
    """What a model's name, path or file name says of its precision.

    Only the last two parts of a path speak: folders above them name machines and mounts.
    """
    if "://" in name:
        name = name.partition("://")[2]
    tail = "/".join(name.rstrip("/").split("/")[-2:])
    if len(tail) > 300 or not re.search(r"[a-zA-Z]", tail):
        return Named()
    found: str | None = None
    for pattern, form in _WEIGHTS:
        match = pattern.search(tail)
        if match is not None:
            found = _form(form, match)
            if found is not None:
                found = found or None  # "" says 16 bits
                break
    kv_cache = "fp8" if _KV.search(tail) else None
    return Named(found, kv_cache, bool(_SPARSE.search(tail)))


def _form(form: str, match: re.Match[str]) -> str | None:
    if form == "gguf":
        return match[0].lower().removeprefix("ud-")
    if form == "bpw":
        return f"{match[1]}bpw"
    if form == "bits":
        bits = int(match[1])
        return f"int{bits}" if 1 <= bits <= 8 and bits != 7 else None
    return form


__all__ = ["AUTO", "MIXED", "Named", "named_precision"]
