"""Number formats by the words of engines, libraries and model names.

Values are names that the catalog of formats reads. "auto" is a width that only the checkpoint or
the run fixes, "mixed" a mix of widths fixed by a ratio.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options.values import flat

AUTO: Final = "auto"
MIXED: Final = "mixed"

WEIGHTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # vLLM, SGLang, TGI, lmdeploy, Aphrodite: --quantization / --quantize
        "awq": "awq", "awqmarlin": "awq", "autoawq": "awq", "gptq": "gptq", "gptqmarlin": "gptq",
        "gptqmarlin24": "gptq", "gptqbitblas": "gptq", "marlin": "int4", "moewna16": "int4",
        "squeezellm": "int4", "bitblas": "int4", "exl2": AUTO, "exl3": AUTO, "hqq": "hqq",
        "qqq": "int4", "autoround": "int4", "intel/autoround": "int4",
        "aqlm": "aqlm", "quip": "quip", "fp6": "fp6", "deepspeedfp": "fp6", "wf6af16": "fp6",
        "fp8": "fp8", "fp8e4m3": "fp8", "fp8e5m2": "fp8", "e4m3": "fp8", "fbgemmfp8": "fp8",
        "float8": "fp8", "float8e4m3fn": "fp8", "float8e4m3": "fp8", "float8e5m2": "fp8",
        "ptpcfp8": "fp8-channel", "fp8perchannel": "fp8-channel", "w8a8fp8": "fp8-channel",
        "modeloptfp8": "fp8", "mxfp8": "mxfp8", "fp8blockwise": "fp8-block128",
        "blockwisefp8": "fp8-block128", "fp8block": "fp8-block128", "blockfp8": "fp8-block128",
        "w8a8int8": "int8", "expertsint8": "int8", "tpuint8": "int8", "int8": "int8",
        "int8weightonly": "int8", "eetq": "int8", "w8a16": "int8", "w8a8": "int8", "q8": "int8",
        "smoothquant": "int8", "int8sq": "int8", "int8wo": "int8", "weightonlyint8": "int8",
        "symint4": "int4", "asymint4": "int4", "woqint4": "int4", "symint8": "int8",
        "int4": "int4", "w4a16": "int4", "w4a8": "int4", "w4afp8": "int4", "int4wo": "int4",
        "int4awq": "awq", "w4a8awq": "awq", "w4a16awq": "awq", "w4a16gptq": "gptq",
        "w4a8awqbeta": "awq", "w4a8qserveperchannel": "int4", "w4a8qservepergroup": "int4",
        "qoq": "int4", "4bit": "int4", "8bit": "int8", "w8a16gptq": "int8",
        "bitsandbytes": "nf4", "bitsandbytesnf4": "nf4", "bitsandbytesfp4": "nf4", "nf4": "nf4",
        "bnb": "nf4", "bnbnf4": "nf4", "bnbfp4": "nf4", "bnbnf4dq": "nf4-dq",
        "bnb4bit": "nf4", "bnb8bit": "int8-bnb", "bitsandbytes4bit": "nf4",
        "bitsandbytes8bit": "int8-bnb", "llmint8": "int8-bnb",
        "nvfp4": "nvfp4", "modeloptfp4": "nvfp4", "petitnvfp4": "nvfp4", "fp4": "nvfp4",
        "nvfp4awq": "nvfp4", "nvfp4a16": "nvfp4", "w4a4": "nvfp4", "w4a16nvfp4": "nvfp4",
        "modeloptmixed": MIXED, "mixedprecision": MIXED,
        "mxfp4": "mxfp4", "w4a8mxfp4fp8": "mxfp4", "w4a8mxfp4mxfp8": "mxfp4", "gptoss": "mxfp4",
        "quarkw4fp8": "mxfp4", "gptossmxfp4": "mxfp4", "mxfp4a16": "mxfp4",
        "compressedtensors": AUTO, "modelopt": AUTO, "quark": AUTO, "gguf": AUTO, "torchao": AUTO,
        "inc": AUTO, "rtn": "int8", "ipex": AUTO, "online": AUTO, "quanto": AUTO, "custom": AUTO,
        "sparseml": AUTO,
        # schemes of compressed-tensors
        "fp8dynamic": "fp8-channel", "fp8static": "fp8",
        "w4a16asym": "int4-g128-asym",
        "w8a8dynamic": "int8", "w3a16": "int3", "w2a16": "int2",
    }
)  # fmt: skip
"""Weight formats by the words of engines and schemes, signs and case left out."""

KV: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fp8": "fp8", "fp8e4m3": "fp8", "fp8e5m2": "fp8", "fp8e4m3fn": "fp8", "fp8e4m3fnuz": "fp8",
        "fp8inc": "fp8", "fp8dsmla": "fp8", "float8": "fp8", "fp8ds": "fp8",
        "fp8e5m2fnuz": "fp8", "torchfloat8e4m3fn": "fp8", "torchfloat8e5m2": "fp8",
        "float8e4m3fn": "fp8", "float8e5m2": "fp8", "f8e4m3": "fp8", "f8e5m2": "fp8", "f8": "fp8",
        "int8": "int8", "uint8": "int8", "u8": "int8", "i8": "int8", "q8": "int8", "8": "int8",
        "int4": "int4", "uint4": "int4", "u4": "int4", "i4": "int4", "q4": "int4", "4": "int4",
        "q6": "int6", "6": "int6", "5": "int5", "3": "int3", "2": "int2", "int2": "int2",
        "fp4": "nvfp4", "fp4e2m1": "nvfp4", "nvfp4": "nvfp4", "mxfp4": "mxfp4", "mxfp8": "mxfp8",
        "q80": "q8_0", "q40": "q4_0", "q41": "q4_1", "q50": "q5_0", "q51": "q5_1",
        "iq4nl": "iq4_nl",
        "turboquant": AUTO, "qjl": AUTO,
    }
)  # fmt: skip
"""Cache formats that are fewer bits than 16."""

WIDE: Final = frozenset(
    {"auto", "bf16", "bfloat16", "fp16", "float16", "half", "f16", "fp32", "f32", "float32",
     "float", "model", "none", "null", "", "16", "torchbfloat16", "torchfloat16", "default"}
)  # fmt: skip
"""Words for what is kept as it is, or in 16 bits and more."""

DTYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bf16": "bf16", "bfloat16": "bf16", "torchbfloat16": "bf16", "fp16": "fp16",
        "float16": "fp16", "half": "fp16", "f16": "fp16", "torchfloat16": "fp16",
        "fp32": "fp32", "float32": "fp32", "float": "fp32", "f32": "fp32", "torchfloat32": "fp32",
    }
)  # fmt: skip


def weight_format(word: str) -> str | None:
    """The weight format of an engine's or scheme's word; None for one nobody knows."""
    key = flat(word)
    if key in WEIGHTS:
        return WEIGHTS[key]
    match = re.fullmatch(r"(?:gguf)?(i?q[2-8](?:[01k](?:[smlx]{1,3})?|xxs|xs|s|m|nl))", key)
    if match:
        return _gguf(match[1])
    match = re.fullmatch(r"(?:int|uint|w)([1-8])(?:bit|wo|weightonly|a16)?(?:g?(\d{2,3}))?", key)
    if match:
        return f"int{match[1]}" + (f"-g{match[2]}" if match[2] else "")
    match = re.fullmatch(r"q([3-8])f(?:16|32)(?:[01ft]\w*)?", key)  # MLC-LLM: q4f16_1
    if match:
        return f"int{match[1]}"
    return None


def kv_format(word: str) -> str | None:
    """The cache format of a word, "" where it is 16 bits or more, None for one nobody knows."""
    key = flat(word)
    if key in KV:
        return KV[key]
    return "" if key in WIDE else None


def integer_format(bits: int, group: int | None, *, symmetric: bool = True) -> str:
    """An integer format by its width and group; -1 and None are one scale a row."""
    if bits == 8 or group is None or group <= 0:
        return "int8" if bits == 8 else f"int{bits}-channel"
    return (
        f"int{bits}-g{group}"
        + ("-sym" if symmetric and group <= 64 else "")
        + ("" if symmetric else "-asym")
    )


_GGUF_KINDS: Final = re.compile(r"(i?q\d)_?([01k]|xxs|xs|s|m|nl)?_?([sml]|xl)?")


def _gguf(key: str) -> str:
    match = _GGUF_KINDS.fullmatch(key)
    if match is None:
        return key
    return "_".join(part for part in match.groups() if part)
