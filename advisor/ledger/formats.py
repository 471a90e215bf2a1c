"""Number formats: stored bits per weight with scales, zeros and metadata, and sparse storages.

Bits are what a weight costs in memory, not what its name says: int4 with a 16-bit scale for
every 128 weights is 4.125 bits. Conventions for a group size without further words: groups of
128 and more are symmetric (one 16-bit scale a group, as compressed-tensors and Marlin store
them); groups of 64 and less carry a 16-bit scale and a 16-bit zero (as torchao, gpt-fast, MLX
and HQQ store them). `-sym`, `-asym` (zero packed at the element's width, as GPTQ and AWQ) and
`-zp` (16-bit zero) say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple


class UnknownFormatError(ValueError):
    """A number format that nobody knows by this name."""

    def __init__(self, text: str, nearest: tuple[str, ...]) -> None:
        """Keep the nearest known names beside the message."""
        self.text, self.nearest = text, nearest
        near = (
            f"did you mean {' or '.join(nearest)}?" if nearest else "see rooflint catalog formats"
        )
        super().__init__(f"unknown number format {text!r}; {near}")


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """How one weight, or one cache element, is stored. Compared by identity: parsing is cached."""

    name: str
    kind: str
    """Machine kind of quantizing to it: int8 int6 int4 int3 int2 int1 fp8 fp4 nf4 fp16 mixed."""
    element_bits: float
    """What the name says."""
    bits: float
    """Stored bits per weight, scales and zeros of groups included."""
    row_bits: float = 0.0
    """Bits per output row on top (per-channel scales)."""
    family: str = ""
    """Kernel family, which decides the bandwidth a decode kernel reaches on it."""
    about: str = ""
    mix: Mapping[str, float] | None = None
    """Bits by tensor role where a file format mixes widths; other roles take `bits`."""
    head: str | None = None
    """Format the output head takes by default where the file format quantizes it too."""

    def bytes_of(self, elements: float, rows: float = 0.0, role: str = "") -> float:
        """Bytes of a matrix of `elements` weights in `rows` output rows."""
        bits = self.bits if self.mix is None else self.mix.get(role, self.bits)
        return (elements * bits + rows * self.row_bits) / 8

    @property
    def is_wide(self) -> bool:
        """Whether nothing is quantized: 16- or 32-bit floating point."""
        return self.kind in {"fp16", "fp32"}


def _wide(name: str, bits: int, about: str) -> Format:
    return Format(
        name, "fp32" if bits == 32 else "fp16", bits, bits, family=f"f{bits}", about=about
    )


def _gguf(name: str, kind: str, bits: float, family: str) -> Format:
    head = "q8_0" if name == "q8_0" else "q6_k"
    return Format(
        name, kind, round(bits - 0.3), bits, family=family, about="GGUF block format", head=head
    )


_PLAIN = (
    _wide("fp32", 32, "IEEE single precision"),
    _wide("bf16", 16, "bfloat16"),
    _wide("fp16", 16, "IEEE half precision"),
    Format("fp8", "fp8", 8, 8, 0, "fp8", "E4M3 or E5M2, one scale a tensor"),
    Format("fp8-channel", "fp8", 8, 8, 16, "fp8", "E4M3, one 16-bit scale a row"),
    Format(
        "fp8-block128", "fp8", 8, 8 + 32 / 16384, 0, "fp8", "E4M3, a 32-bit scale per 128x128 block"
    ),
    Format("mxfp8", "fp8", 8, 8.25, 0, "fp8", "OCP MX, an E8M0 scale per 32"),
    Format("fp6", "int6", 6, 6, 16, "fp6", "FP6-LLM E3M2, one scale a row"),
    Format("mxfp6", "int6", 6, 6.25, 0, "fp6", "OCP MX, an E8M0 scale per 32"),
    Format("mxfp4", "fp4", 4, 4.25, 0, "fp4", "OCP MX, an E8M0 scale per 32"),
    Format("nvfp4", "fp4", 4, 4.5, 0, "fp4", "E2M1, an E4M3 scale per 16 and one a tensor"),
    Format("int8", "int8", 8, 8, 16, "int8", "one 16-bit scale a row (per channel)"),
    Format("int8-bnb", "int8", 8, 8, 32, "bnb-int8", "LLM.int8: a 32-bit scale a row"),
    Format("nf4", "nf4", 4, 4.5, 0, "bnb-nf4", "bitsandbytes NF4, a 32-bit scale per 64"),
    Format(
        "nf4-dq", "nf4", 4, 4 + 8 / 64 + 32 / 16384, 0, "bnb-nf4", "NF4 with double quantization"
    ),
    Format("aqlm-2bit", "int2", 2, 2.07, 0, "codebook", "additive codebooks of 16 bits for 8"),
    Format("quip-2bit", "int2", 2, 2.0, 0, "codebook", "QuIP# E8 lattice codebook"),
    Format("qtip-2bit", "int2", 2, 2.0, 0, "codebook", "QTIP trellis code"),
    Format("ternary", "int1", 1.58, 2.0, 0, "ternary", "BitNet b1.58, two bits a weight packed"),
    Format(
        "df11",
        "mixed",
        11,
        11.2,
        0,
        "lossless",
        "DFloat11: entropy-coded bf16, decompressed to read",
    ),
    Format("int64", "raw", 64, 64, 0, "raw", "integer tables (hash routing), never quantized"),
    Format("int32", "raw", 32, 32, 0, "raw", "integer tables, never quantized"),
    _gguf("q4_0", "int4", 4.5, "q4_0"),
    _gguf("q4_1", "int4", 5.0, "q4_0"),
    _gguf("q5_0", "int6", 5.5, "q5_0"),
    _gguf("q5_1", "int6", 6.0, "q5_0"),
    _gguf("q8_0", "int8", 8.5, "q8_0"),
    _gguf("q2_k", "int2", 2.625, "q2_k"),
    _gguf("q3_k", "int3", 3.4375, "q3_k"),
    _gguf("q4_k", "int4", 4.5, "q4_k"),
    _gguf("q5_k", "int6", 5.5, "q5_k"),
    _gguf("q6_k", "int6", 6.5625, "q6_k"),
    _gguf("iq1_s", "int1", 1.5625, "iq"),
    _gguf("iq1_m", "int1", 1.75, "iq"),
    _gguf("iq2_xxs", "int2", 2.0625, "iq"),
    _gguf("iq2_xs", "int2", 2.3125, "iq"),
    _gguf("iq2_s", "int2", 2.5625, "iq"),
    _gguf("iq3_xxs", "int3", 3.0625, "iq"),
    _gguf("iq3_s", "int3", 3.4375, "iq"),
    _gguf("iq4_xs", "int4", 4.25, "iq4"),
    _gguf("iq4_nl", "int4", 4.5, "iq4"),
    _gguf("tq1_0", "int1", 1.6875, "ternary"),
    _gguf("tq2_0", "int2", 2.0625, "ternary"),
)
FORMATS: Mapping[str, Format] = MappingProxyType({form.name: form for form in _PLAIN})

_SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        "fp32": "fp32", "f32": "fp32", "float32": "fp32", "float": "fp32", "32bit": "fp32",
        "tf32": "fp32",
        "bf16": "bf16", "bfloat16": "bf16", "bfloat": "bf16", "16bit": "bf16",
        "fp16": "fp16", "f16": "fp16", "float16": "fp16", "half": "fp16",
        "fp8": "fp8", "f8": "fp8", "float8": "fp8", "e4m3": "fp8", "fp8e4m3": "fp8",
        "fp8e5m2": "fp8", "e5m2": "fp8", "e4m3fn": "fp8", "fp8e4m3fn": "fp8",
        "float8e4m3fn": "fp8", "fp8dynamic": "fp8-channel", "fp8perchannel": "fp8-channel",
        "fp8perrow": "fp8-channel", "fp8channel": "fp8-channel",
        "w8a8fp8": "fp8", "fp8w8a8": "fp8", "fp8pertensor": "fp8",
        "fp8static": "fp8", "fp8tensor": "fp8", "fp8block": "fp8-block128",
        "fp8block128": "fp8-block128", "fp8blockwise": "fp8-block128",
        "int8": "int8", "w8a16": "int8", "w8a8": "int8", "8bit": "int8", "int8wo": "int8",
        "i8": "int8", "smoothquant": "int8", "w8": "int8", "int8weightonly": "int8",
        "llmint8": "int8-bnb", "loadin8bit": "int8-bnb", "bnb8bit": "int8-bnb",
        "bnbint8": "int8-bnb", "bitsandbytes8bit": "int8-bnb",
        "int4": "int4-g128", "w4a16": "int4-g128", "4bit": "int4-g128", "i4": "int4-g128",
        "w4": "int4-g128", "u4": "int4-g128", "uint4": "int4-g128", "marlin": "int4-g128",
        "w4a8": "int4-g128", "int4wo": "int4-g64", "int4weightonly": "int4-g64",
        "awq": "int4-g128-asym", "gptq": "int4-g128-asym", "awqint4": "int4-g128-asym",
        "gptqint4": "int4-g128-asym", "awq4bit": "int4-g128-asym", "gptq4bit": "int4-g128-asym",
        "autoround": "int4-g128-asym", "hqq": "int4-g64", "hqq4bit": "int4-g64",
        "mlx4bit": "int4-g64", "mlx8bit": "int8-g64", "4bitg64": "int4-g64",
        "int3": "int3-g128", "3bit": "int3-g128", "int2": "int2-g64", "2bit": "int2-g64",
        "int6": "int6-g128", "6bit": "int6-g128", "int5": "int5-g128", "5bit": "int5-g128",
        "int1": "int1-g128", "1bit": "int1-g128",
        "nf4": "nf4", "bnb": "nf4", "bnbnf4": "nf4", "bnb4bit": "nf4", "bnbint4": "nf4",
        "loadin4bit": "nf4", "qlora": "nf4", "bitsandbytes4bit": "nf4", "nf4dq": "nf4-dq",
        "nf4doublequant": "nf4-dq", "bitsandbytes": "nf4", "int4bnb": "nf4",
        "int8bnb": "int8-bnb",
        "fp4": "nvfp4", "nvfp4": "nvfp4", "modeloptfp4": "nvfp4", "w4a4": "nvfp4",
        "mxfp4": "mxfp4", "mxfp8": "mxfp8", "mxfp6": "mxfp6", "fp6": "fp6", "fp6llm": "fp6",
        "aqlm": "aqlm-2bit", "aqlm2bit": "aqlm-2bit", "quip": "quip-2bit",
        "quip2bit": "quip-2bit", "qtip": "qtip-2bit", "qtip2bit": "qtip-2bit",
        "bitnet": "ternary", "ternary": "ternary", "158bit": "ternary", "b158": "ternary",
        "dfloat11": "df11", "df11": "df11",
    }
)  # fmt: skip

# File-level GGUF mixes and the part of the layers that takes the wider format. llama.cpp gives
# "more bits" to the first and last eighth of the layers and to every third between them; the
# output matrix is Q6_K in every mix but Q8_0. Roles that a mix does not name take its base.
_MORE = "more"  # the layers picked by _share_of_more
_ALL = "all"
_MIXES: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]] = MappingProxyType(
    {
        "q2_k_m": ("q2_k", {"v_proj": ("q4_k", _ALL), "down_proj": ("q3_k", _ALL),
                            "o_proj": ("q3_k", _ALL), "lm_head": ("q6_k", _ALL)}),
        "q2_k_s": ("q2_k", {"v_proj": ("q4_k", _ALL), "down_proj": ("q4_k", "eighth"),
                            "lm_head": ("q6_k", _ALL)}),
        "q3_k_s": ("q3_k", {"lm_head": ("q6_k", _ALL)}),
        "q3_k_m": ("q3_k", {"v_proj": ("q4_k", _ALL), "down_proj": ("q4_k", _ALL),
                            "o_proj": ("q4_k", _ALL), "lm_head": ("q6_k", _ALL)}),
        "q3_k_l": ("q3_k", {"v_proj": ("q5_k", _ALL), "down_proj": ("q5_k", _ALL),
                            "o_proj": ("q5_k", _ALL), "lm_head": ("q6_k", _ALL)}),
        "q4_k_s": ("q4_k", {"v_proj": ("q5_k", "eighth"), "down_proj": ("q5_k", "eighth"),
                            "lm_head": ("q6_k", _ALL)}),
        "q4_k_m": ("q4_k", {"v_proj": ("q6_k", _MORE), "down_proj": ("q6_k", _MORE),
                            "lm_head": ("q6_k", _ALL)}),
        "q4_k_xl": ("q4_k", {"v_proj": ("q6_k", _MORE), "down_proj": ("q6_k", _MORE),
                             "lm_head": ("q6_k", _ALL)}),
        "q5_k_s": ("q5_k", {"lm_head": ("q6_k", _ALL)}),
        "q5_k_m": ("q5_k", {"v_proj": ("q6_k", _MORE), "down_proj": ("q6_k", _MORE),
                            "lm_head": ("q6_k", _ALL)}),
        "q6_k_xl": ("q6_k", {"lm_head": ("q8_0", _ALL)}),
        "q8_k_xl": ("q8_0", {"lm_head": ("bf16", _ALL)}),
        "mxfp4_moe": ("mxfp4", {"q_proj": ("q8_0", _ALL), "k_proj": ("q8_0", _ALL),
                                "v_proj": ("q8_0", _ALL), "o_proj": ("q8_0", _ALL),
                                "lm_head": ("q8_0", _ALL)}),
    }
)  # fmt: skip

_INTEGER = re.compile(
    r"(?:int|i|w)?(?P<bits>[1-8])(?:bit)?(?:a16)?-?"
    r"(?:g(?:roup)?-?(?:size)?-?(?P<group>\d{1,5})|(?P<channel>(?:per-?)?(?:channel|row)))?"
    r"(?:-(?P<zero>sym|asym|zp))?"
)
_BPW = re.compile(r"(?:exl[23]-?)?(?P<bits>\d{1,2}(?:\.\d{1,3})?)-?bpw(?:-exl[23])?")
_MAX_GROUP = 65536


def _share_of_more(layers: int) -> float:
    """Part of `layers` that llama.cpp gives more bits in a "_M" mix."""
    eighth = layers // 8
    more = sum(
        1
        for layer in range(layers)
        if layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
    )
    return more / layers


def _mixed(name: str, layers: int) -> Format:
    base_name, roles = _MIXES[name]
    base = FORMATS[base_name]
    share: Mapping[str, Callable[[int], float]] = {
        _MORE: _share_of_more,
        "eighth": lambda count: (count // 8) / count,
        _ALL: lambda _: 1.0,
    }
    bits = {
        role: base.bits + (FORMATS[wider].bits - base.bits) * share[part](layers)
        for role, (wider, part) in roles.items()
    }
    return Format(
        name,
        base.kind,
        base.element_bits,
        base.bits,
        family=base.family,
        about=f"GGUF mix: {base.name} with wider " + ", ".join(sorted(roles)),
        mix=MappingProxyType(bits),
        head=roles.get("lm_head", (base.name, _ALL))[0],
    )


def _integer(bits: int, group: int | None, zero: str | None) -> Format:
    if group is None:
        name = f"int{bits}-channel"
        if bits == 8:
            return FORMATS["int8"]
        return Format(name, _kind(bits), bits, bits, 16, _family(bits), "one 16-bit scale a row")
    zero = zero or ("zp" if group <= 64 else "sym")
    zero_bits = {"sym": 0, "asym": bits, "zp": 16}[zero]
    default = zero == ("zp" if group <= 64 else "sym")
    name = f"int{bits}-g{group}" + ("" if default else f"-{zero}")
    words = {"sym": "a 16-bit scale", "asym": "a 16-bit scale and a packed zero"}
    about = f"{words.get(zero, 'a 16-bit scale and zero')} per {group}"
    return Format(name, _kind(bits), bits, bits + (16 + zero_bits) / group, 0, _family(bits), about)


def _kind(bits: float) -> str:
    if bits > 8:
        return "fp16"
    return f"int{8 if bits > 6.75 else 6 if bits >= 5 else max(1, int(bits))}"


def _family(bits: float) -> str:
    return f"int{8 if bits > 6.75 else 6 if bits >= 5 else max(2, int(bits))}"


@lru_cache(maxsize=1024)
def parse_format(text: str, layers: int = 32) -> Format:
    """Read a number format as people write it; `layers` is the depth a GGUF mix is spread over.

    Raises:
        UnknownFormatError: with the nearest known names.

    """
    key = text.strip().lower().replace("_", "-").replace(" ", "-")
    key = key.removeprefix("gguf-")
    flat = key.replace("-", "").replace(".", "")
    for name in (key, key.replace("-", "_")):
        if name in FORMATS:
            return FORMATS[name]
        if name in _MIXES:
            return _mixed(name, max(layers, 1))
    if flat in _SYNONYMS:
        name = _SYNONYMS[flat]
        return FORMATS[name] if name in FORMATS else parse_format(name)
    if not key.isdecimal() and (match := _INTEGER.fullmatch(key)):
        group = match["group"]
        if group is None and match["channel"] is None and match["zero"] is None:
            group = None if match["bits"] == "8" else "128"
        if group is None or 1 < int(group) <= _MAX_GROUP:
            return _integer(
                int(match["bits"]), None if group is None else int(group), match["zero"]
            )
    if match := _BPW.fullmatch(key):
        bits = float(match["bits"])
        if 1 <= bits <= 16:
            return Format(
                key, _kind(bits), bits, bits, 0, "exl2", "bits per weight as the file states them"
            )
    known = (*FORMATS, *_MIXES, *_SYNONYMS, "int4-g128", "int4-g64", "int8-g64")
    raise UnknownFormatError(text, tuple(get_close_matches(key, known, 2, 0.6)))


def known_formats() -> tuple[Format, ...]:
    """Every named format, the usual integer groups and the GGUF mixes, for the catalog."""
    groups = ("int8-g128", "int8-g64", "int6-g128", "int5-g128", "int4-g128", "int4-g128-asym",
              "int4-g64", "int4-g32", "int3-g128", "int2-g64", "int1-g128")  # fmt: skip
    named = tuple(parse_format(name) for name in groups)
    return (*_PLAIN, *named, *(_mixed(name, 32) for name in _MIXES))


class SparseStorage(NamedTuple):
    """How a matrix with zeros is kept, and what that costs per weight of the dense shape."""

    name: str
    about: str
    bits: Callable[[float, float], float]
    """(element bits, density) -> stored bits per dense weight, group scales apart."""
    skips_zeros: bool = True
    """Whether a kernel exists that streams the stored form (else the zeros are read)."""


def _macko_bits(bits: float, density: float) -> float:
    padding = (1.0 - density) ** 16
    return density * (bits + 4) * (1 + padding)


STORAGES: Mapping[str, SparseStorage] = MappingProxyType(
    {
        storage.name: storage
        for storage in (
            SparseStorage(
                "dense", "zeros stored as weights", lambda bits, _density: bits, skips_zeros=False
            ),
            SparseStorage(
                "masked",
                "the weight kept beside a mask of the same shape, multiplied at every call",
                lambda bits, _density: 2 * bits,
                skips_zeros=False,
            ),
            SparseStorage("bitmap", "values and one bit a place", lambda b, r: r * b + 1),
            SparseStorage("macko", "values and 4-bit gaps, long gaps padded", _macko_bits),
            SparseStorage("csr16", "values and 16-bit columns", lambda b, r: r * (b + 16)),
            SparseStorage("csr32", "values and 32-bit columns", lambda b, r: r * (b + 32)),
            SparseStorage("coo", "values and two 64-bit places", lambda b, r: r * (b + 128)),
            SparseStorage(
                "tiled-csl", "values and 16-bit places in a tile", lambda b, r: r * (b + 16)
            ),
            SparseStorage("2:4-packed", "2 of 4 kept with 2-bit indices", lambda b, _r: b / 2 + 1),
            SparseStorage("block", "whole blocks kept, indices negligible", lambda b, r: r * b),
        )
    }
)

_STORAGE_SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        "zeros": "dense", "zeroed": "dense", "densezeros": "dense", "none": "dense",
        "mask": "masked", "masks": "masked", "torchprune": "masked",
        "spinfer": "bitmap", "tcabme": "bitmap", "bitmask": "bitmap",
        "csr": "csr32", "csc": "csr32", "cusparse": "csr32", "sputnik": "csr32",
        "flashllm": "tiled-csl",
        "tiledcsl": "tiled-csl", "24packed": "2:4-packed", "24": "2:4-packed",
        "packed24": "2:4-packed", "packed": "2:4-packed", "sparse24": "2:4-packed",
        "marlin24": "2:4-packed", "marlinsparse": "2:4-packed", "cusparselt": "2:4-packed",
        "semistructured": "2:4-packed", "compressed24": "2:4-packed", "bsr": "block",
        "blocksparse": "block",
    }
)  # fmt: skip


def parse_storage(text: str) -> SparseStorage:
    """Read a sparse storage as people write it.

    Raises:
        UnknownFormatError: with the nearest known names.

    """
    key = text.strip().lower()
    if key in STORAGES:
        return STORAGES[key]
    flat = re.sub(r"[^a-z0-9]", "", key)
    for name in STORAGES:
        if flat == re.sub(r"[^a-z0-9]", "", name):
            return STORAGES[name]
    if flat in _STORAGE_SYNONYMS:
        return STORAGES[_STORAGE_SYNONYMS[flat]]
    near = get_close_matches(key, (*STORAGES, *_STORAGE_SYNONYMS), 2, 0.6)
    raise UnknownFormatError(text, tuple(near))
