"""Command lines of tools that make or run models, and that are no engine of their own.

Converters, quantizers and the scripts that papers come with. What such a script only simulates
(rounded or zeroed, and kept in 16 bits) says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options.effects import (
    NOTHING,
    OPEN,
    UNKNOWN,
    Effect,
    Meaning,
    Setting,
    Value,
)
from advisor.readers.options.formats import AUTO, MIXED, integer_format
from advisor.readers.options.meanings import (
    batch,
    degree,
    kv,
    mean_bits,
    model,
    nothing,
    speculation,
    switch,
    weights,
    weights_as,
)
from advisor.readers.options.values import is_off, mapping_of, whole_of, word_of

Table = Mapping[tuple[str, ...], Meaning]


def _share(value: Value) -> object:
    """A share that a script takes out, as a part of one."""
    try:
        number = float(str(value))
    except ValueError:
        return UNKNOWN
    return number if 0 < number < 1 else UNKNOWN


def _pruned(pattern: str, storage: str) -> Meaning:
    """A share of the model, by a number; nothing for none of it."""

    def read(value: Value) -> tuple[Effect, ...]:
        if is_off(value) or str(value) in {"0", "0.0"}:
            return NOTHING
        fields = {"pattern": pattern, "storage": storage, "sparsity": _share(value)}
        return (Setting("prune", fields),)

    return read


def _bits(*, packed: bool = True, cache: bool = False) -> Meaning:
    """A width of weights or of the cache; 16 and more say nothing."""

    def read(value: Value) -> tuple[Effect, ...]:
        bits = whole_of(value)
        if value is OPEN:
            return (Setting("quantize", {"weights": AUTO}),) if not cache else NOTHING
        if bits is None or not 1 <= bits <= 8:
            return NOTHING
        if cache:
            return (Setting("quantize", {"kv_cache": f"int{bits}", "in_kernel": False}),)
        fields: dict[str, object] = {"weights": integer_format(bits, 128)}
        return (Setting("quantize", fields if packed else fields | {"packed": False}),)

    return read


def _pattern(value: Value) -> tuple[Effect, ...]:
    """Wanda's `--sparsity_type`: unstructured, 2:4, 4:8; zeros in dense tensors."""
    word = str(value).strip()
    if ":" in word:
        return (Setting("prune", {"pattern": "2:4", "storage": "dense"}),)
    fields = {"pattern": "unstructured", "storage": "dense", "sparsity": UNKNOWN}
    return (Setting("prune", fields),) if value is OPEN or word.startswith("unstr") else NOTHING


def _of_every(value: Value) -> tuple[Effect, ...]:
    """SparseGPT's `--prunen 2`: so many of every four."""
    number = whole_of(value)
    return (Setting("prune", {"pattern": "2:4", "storage": "dense"}),) if number else NOTHING


def _percent_on_device(value: Value) -> tuple[Effect, ...]:
    """FlexGen's `--percent 20 80 ...`: the first of six is the part of the weights on the GPU."""
    number = whole_of(value)
    return (Setting("offload", {"weights": UNKNOWN}),) if number is None or number < 100 else ()


def _mobile(value: Value) -> tuple[Effect, ...]:
    """ExecuTorch's `-qmode`: 8da4w is int4 weights, with kernels where it runs."""
    word = word_of(value)
    form = "int4" if word.startswith("8da4w") or word.endswith("4w") else word
    return weights(form)


def _chat(value: Value) -> tuple[Effect, ...]:
    """Torchchat's `--quantize '{"linear:int4": {"groupsize": 256}}'`."""
    config = mapping_of(value)
    kinds = [key.partition(":")[2] for key in config or {} if key.startswith("linear:")]
    form = next((word.removeprefix("a8w").removesuffix("dq") for word in kinds), "")
    if form.isdigit():
        form = f"int{form}"
    return weights(form) if form else NOTHING


def _pruned_cache(value: Value) -> tuple[Effect, ...]:
    if is_off(value):
        return NOTHING
    return (Setting("prune", {"pattern": "kv_tokens", "sparsity": UNKNOWN}),)


def _mixed(value: Value) -> tuple[Effect, ...]:
    return NOTHING if is_off(value) else (Setting("quantize", {"weights": MIXED}),)


def _sparse(value: Value) -> tuple[Effect, ...]:
    """Modelopt's `--sparsity_fmt`: always 2:4."""
    return NOTHING if word_of(value) in {"", "dense"} else (Setting("prune", {"pattern": "2:4"}),)


def _kept_cache(value: Value) -> tuple[Effect, ...]:
    number = whole_of(value)
    fields: dict[str, object] = {"pattern": "kv_tokens"}
    return (Setting("prune", fields | ({"kept": number} if number else {})),)


def _bnb(value: Value) -> tuple[Effect, ...]:
    """LitGPT's `--quantize bnb.nf4`."""
    word = str(value)
    form = "int8-bnb" if "int8" in word else "nf4-dq" if word.endswith("dq") else "nf4"
    return (Setting("quantize", {"weights": form}),) if word.startswith("bnb.") else NOTHING


_MODEL: Final[Table] = MappingProxyType(
    {
        ("model", "model-name", "model-name-or-path", "model-path", "base-model", "model-dir",
         "input-model", "pyt-ckpt-path", "hf-path", "hf-model"): model,
    }
)  # fmt: skip

WANDA: Final[Table] = {
    **_MODEL,
    ("sparsity-type",): _pattern,
    ("sparsity-ratio", "prune-method", "nsamples"): nothing,
}
SPARSEGPT: Final[Table] = {
    ("sparsity",): _pruned("unstructured", "dense"),
    ("prunen",): _of_every,
    ("wbits",): _bits(packed=False),
    ("gmp", "prunem"): nothing,
}
SLICEGPT: Final[Table] = {**_MODEL, ("sparsity",): _pruned("channels", "removed")}
LLM_PRUNER: Final[Table] = {**_MODEL, ("pruning-ratio",): _pruned("channels", "removed")}
ROTATION: Final[Table] = {
    **_MODEL,
    ("w-bits", "wbits"): _bits(packed=False),
    ("k-bits", "v-bits"): _bits(cache=True),
    ("a-bits", "abits"): nothing,
}
MODELOPT: Final[Table] = {
    **_MODEL,
    ("qformat", "quant"): weights,
    ("kv-cache-dtype", "kv-cache-qformat"): kv(),
    ("auto-quantize-bits", "effective-bits"): _mixed,
    ("sparsity-fmt",): _sparse,
    ("tp-size", "inference-tensor-parallel"): degree("tensor_parallel"),
}
FLEXGEN: Final[Table] = {
    **_MODEL,
    ("percent",): _percent_on_device,
    ("compress-weight",): weights_as("int4"),
    ("compress-cache",): switch("quantize", {"kv_cache": "int4", "in_kernel": False}),
    ("gpu-batch-size",): batch,
}
EXECUTORCH: Final[Table] = {**_MODEL, ("qmode", "quantization-mode"): _mobile}
TORCHCHAT: Final[Table] = {
    ("quantize",): _chat,
    ("compile",): switch("compile"),
    ("draft",): speculation(value="draft_model"),
}
GPT_FAST: Final[Table] = {
    ("checkpoint-path",): model,
    ("mode",): weights,
    ("draft-checkpoint-path",): speculation(value="draft_model"),
    ("compile",): switch("compile"),
    ("compile-prefill",): switch("compile", {"phase": "prefill"}),
}
AWQ: Final[Table] = {**_MODEL, ("w-bit",): _bits(), ("q-group-size", "q-backend"): nothing}
AUTO_ROUND: Final[Table] = {**_MODEL, ("bits",): _bits(), ("scheme",): weights}
MLX: Final[Table] = {
    **_MODEL,
    ("q-bits",): _bits(),
    ("quantize", "q"): weights_as("int4"),
    ("kv-bits",): kv(),
    ("max-kv-size",): _kept_cache,
    ("draft-model",): speculation(value="draft_model"),
}
LITGPT: Final[Table] = {("quantize",): _bnb, ("compile",): switch("compile")}
FASTCHAT: Final[Table] = {
    **_MODEL,
    ("load-8bit",): weights_as("int8-bnb"),
    ("cpu-offloading",): switch("offload", {"weights": UNKNOWN}),
    ("gptq-wbits", "awq-wbits"): _bits(),
}
HOST_EXPERTS: Final[Table] = {
    **_MODEL,
    ("gguf-path", "m"): model,
    ("cpu-infer", "vram-budget"): switch("offload", {"weights": UNKNOWN}),
}
BITNET: Final[Table] = {("quant-type", "q"): lambda _: weights("ternary"), ("hf-repo", "m"): model}
HEADS: Final[Table] = {
    **_MODEL,
    ("ea-model-path", "medusa-model", "draft-model-path"): speculation(),
}
SMALL_CACHE: Final[Table] = {
    **_MODEL,
    # By default a tenth of the heaviest and a tenth of the last tokens stay; 2,004 of a stream.
    ("enable-small-cache", "enable-h2o-cache"): switch(
        "prune", {"pattern": "kv_tokens", "sparsity": 0.8}
    ),
    ("enable-streaming",): switch("prune", {"pattern": "kv_tokens", "kept": 2004}),
    ("press-name",): _pruned_cache,
    ("heavy-ratio", "recent-ratio", "recent-size", "start-size"): nothing,
}
WEIGHT_ONLY: Final[Table] = {**_MODEL, ("woq-bits",): _bits(), ("woq-algo",): nothing}
GENAI: Final[Table] = {
    ("precision", "p"): weights,
    ("model-name", "m"): model,
    ("execution-provider", "e", "o", "output", "c", "cache-dir"): nothing,
}
EXL2: Final[Table] = {
    ("b", "bits"): mean_bits,
    ("hb", "head-bits", "i", "o", "cf"): nothing,
}
LIGHTLLM: Final[Table] = {
    **_MODEL,
    ("tp",): degree("tensor_parallel"),
    ("mode",): lambda value: kv()("int8") if "int8kv" in str(value) else weights(value),
}
QUARK: Final[Table] = {
    **_MODEL,
    ("quant-scheme",): weights,
    ("kv-cache-dtype",): kv(),
}

TOOLS: Final[Mapping[str, tuple[str, Table]]] = MappingProxyType(
    {
        # tool: words of its command line, its options
        "wanda": (r"--prune[-_]method", WANDA),
        "slicegpt": (r"slicegpt", SLICEGPT),
        "llm-pruner": (r"hf_prune\.py|llm[-_]pruner|--pruner[-_]type", LLM_PRUNER),
        "sparsegpt": (r"\b(?:opt|llama|bloom)\.py .*--(?:sparsity|prunen|wbits)\b", SPARSEGPT),
        "rotation": (r"spinquant|quarot|--(?:w|k|a)[-_]bits\b|--rotate\b", ROTATION),
        "modelopt": (r"--qformat|hf_ptq\.py|huggingface_example\.sh", MODELOPT),
        "flexgen": (r"flexgen|flex_opt", FLEXGEN),
        "executorch": (r"export_llama|executorch", EXECUTORCH),
        "torchchat": (r"torchchat", TORCHCHAT),
        "gpt-fast": (
            r"gpt[-_]fast|--(?:draft[-_]checkpoint|compile[-_]prefill)|quantize\.py .*--mode\b",
            GPT_FAST,
        ),
        "awq": (r"awq\.entry|--run[-_]awq|--load[-_]awq", AWQ),
        "auto-round": (r"auto[-_]round", AUTO_ROUND),
        "mlx": (r"mlx[-_]lm", MLX),
        "litgpt": (r"\blitgpt\b", LITGPT),
        "fastchat": (r"\bfastchat\b", FASTCHAT),
        "ktransformers": (r"ktransformers|powerinfer|--cpu[-_]infer|--vram-budget", HOST_EXPERTS),
        "bitnet": (r"bitnet|setup_env\.py", BITNET),
        "draft-heads": (r"--ea-model-path|medusa\.inference|eagle\.\w+", HEADS),
        "small-cache": (
            r"--enable[-_](?:small[-_]cache|h2o[-_]cache|streaming)|--press[-_]name", SMALL_CACHE,
        ),
        "weight-only": (r"--woq[-_](?:algo|bits)", WEIGHT_ONLY),
        "ort-genai": (r"onnxruntime_genai\.models\.builder", GENAI),
        "gguf": (r"convert_hf_to_gguf", {("outtype",): weights, ("outfile",): nothing}),
        "exl2": (r"convert\.py .*-cf\b|exllamav[23]/convert", EXL2),
        "lightllm": (r"lightllm\.server", LIGHTLLM),
        "quark": (r"quantize_quark|--quant[-_]scheme w_", QUARK),
    }
)  # fmt: skip
"""Tools by what their command lines say."""
