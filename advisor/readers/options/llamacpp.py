"""Options of llama.cpp, llama-cpp-python, Ollama, LocalAI, tabbyAPI and MLC-LLM.

Source: the projects' documented arguments.
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
from advisor.readers.options.formats import kv_format
from advisor.readers.options.meanings import (
    batch,
    degree,
    graphs,
    kv,
    limit,
    mean_bits,
    model,
    nested,
    nothing,
    part_of_speculation,
    speculation,
    switch,
    weights,
)
from advisor.readers.options.values import is_off, mapping_of, switch_of, whole_of, word_of

_ALL_LAYERS: Final = 33
"""As many layers as a 7B model has, its head counted: people write this or more for "all"."""
_GGML_TYPES: Final[Mapping[int, str]] = MappingProxyType(
    {2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 20: "iq4_nl"}
)


def _layers_on_device(value: Value) -> tuple[Effect, ...]:
    """`-ngl`: layers on the device; those left out are read from the host in every step."""
    number = whole_of(value)
    if number is None or number < 0 or number >= _ALL_LAYERS:
        return NOTHING
    return (Setting("offload", {"weights": UNKNOWN}),)


def _experts_on_host(value: Value) -> tuple[Effect, ...]:
    number = whole_of(value)
    if number == 0 or switch_of(value) is False:
        return NOTHING
    return (Setting("offload", {"weights": UNKNOWN}),)


def _tensor_override(value: Value) -> tuple[Effect, ...]:
    if isinstance(value, str) and "cpu" in value.lower():
        return (Setting("offload", {"weights": UNKNOWN}),)
    return NOTHING


def _flash(value: Value) -> tuple[Effect, ...]:
    """`-fa`: a switch of old builds, on, off or auto in new ones."""
    if isinstance(value, list | dict):
        return NOTHING
    if word_of(value) in {"auto", "-1", "disabled"} or switch_of(value) is False:
        return NOTHING
    return (Setting("attention_kernel", {"name": "flash attention"}),)


def _split_mode(value: Value) -> tuple[Effect, ...]:
    word = word_of(value)
    if word in {"row", "tensor", "graph", "2"}:
        return (Setting("tensor_parallel", {"size": UNKNOWN}),)
    if word in {"layer", "1"}:
        return (Setting("pipeline_parallel", {"size": UNKNOWN}),)
    return NOTHING


def _tensor_split(value: Value) -> tuple[Effect, ...]:
    """`-ts 3,1`: parts of the layers by device; one device is no split."""
    parts = (
        [part for part in value.replace("/", ",").split(",") if part.strip() not in {"", "0"}]
        if isinstance(value, str)
        else value
        if isinstance(value, list)
        else []
    )
    if value is OPEN:
        return (Setting("pipeline_parallel", {"size": UNKNOWN}),)
    size = len(parts)
    return (Setting("pipeline_parallel", {"size": size}),) if size > 1 else NOTHING


def _type(value: Value) -> tuple[Effect, ...]:
    """`type_k` of llama-cpp-python: a number of GGML."""
    number = whole_of(value)
    form = _GGML_TYPES.get(number) if number is not None else kv_format(word_of(value))
    return (Setting("quantize", {"kv_cache": form}),) if form else NOTHING


def _kv_on_device(value: Value) -> tuple[Effect, ...]:
    """`offload_kqv: false` keeps the cache on the host, where every step reads it."""
    if switch_of(value) is False:
        return (Setting("offload", {"kv_cache": UNKNOWN}),)
    return NOTHING


def _reuse(value: Value) -> tuple[Effect, ...]:
    number = whole_of(value)
    off = (number is not None and number <= 0) or is_off(value)
    return NOTHING if off else (Setting("prefix_cache"),)


def _draft_type(value: Value) -> tuple[Effect, ...]:
    word = word_of(value)
    if word in {"", "none"}:
        return NOTHING
    return (Setting("speculate", {"method": "ngram" if "ngram" in word else word}),)


def _cache_mode(value: Value) -> tuple[Effect, ...]:
    """tabbyAPI: FP16, Q8, Q6, Q4, or "8,8": bits of keys and values."""
    word = word_of(value).split(",")[0]
    form = kv_format(word)
    return (Setting("quantize", {"kv_cache": form}),) if form else NOTHING


def _radix(value: Value) -> tuple[Effect, ...]:
    return (Setting("prefix_cache"),) if word_of(value) == "radix" else NOTHING


def _all_devices(value: Value) -> tuple[Effect, ...]:
    if switch_of(value) is False:
        return NOTHING
    return (Setting("tensor_parallel", {"size": 2, "at_least": True}),)


def _draft_block(value: Value) -> tuple[Effect, ...]:
    config = mapping_of(value) or {}
    name = config.get("draft_model_name") or config.get("draft_model_dir_name")
    if not isinstance(name, str) or not name.strip():
        return NOTHING
    return (Setting("speculate", {"draft_model": name.strip()}, path=("draft_model_name",)),)


LLAMACPP: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model", "m", "hf-repo", "hf", "hfr", "hf-file", "model-url", "model-path"): model,
        ("quantization-type",): weights,
        ("n-gpu-layers", "ngl", "gpu-layers"): _layers_on_device,
        ("cpu-moe", "cmoe", "n-cpu-moe", "ncmoe"): _experts_on_host,
        ("override-tensor", "ot"): _tensor_override,
        ("cache-type-k", "ctk"): kv(),
        ("cache-type-v", "ctv"): kv(),
        ("type-k", "type-v"): _type,
        ("flash-attn", "fa", "flash-attention"): _flash,
        ("model-draft", "md", "hf-repo-draft", "hfd", "hfrd", "draft-model"): speculation(
            value="draft_model"
        ),
        ("spec-draft-model",): speculation(value="draft_model"),
        ("draft-max", "draft", "draft-n", "spec-draft-n-max", "n-draft"): part_of_speculation(
            "draft_tokens"
        ),
        ("draft-model-num-pred-tokens",): part_of_speculation("draft_tokens"),
        ("draft-min", "draft-n-min", "draft-p-min", "ctx-size-draft", "cd"): nothing,
        ("gpu-layers-draft", "ngld", "n-gpu-layers-draft"): nothing,
        ("spec-type",): _draft_type,
        ("lookup-cache-dynamic", "lookup-cache-static", "lcd", "lcs"): speculation(method="ngram"),
        ("parallel", "np", "n-parallel"): batch,
        ("no-kv-offload", "nkvo"): switch("offload", {"kv_cache": UNKNOWN}),
        ("offload-kqv", "kv-offload"): _kv_on_device,
        ("split-mode", "sm"): _split_mode,
        ("tensor-split", "ts"): _tensor_split,
        ("cache-reuse",): _reuse,
        ("ctx-size", "c", "n-ctx", "context-size"): limit,
        ("batch-size", "b", "ubatch-size", "ub", "n-batch", "threads", "t"): nothing,
        ("cont-batching", "cb", "no-cont-batching", "nocb", "mlock", "no-mmap"): nothing,
        ("main-gpu", "mg", "device", "dev", "host", "port", "jinja", "slots"): nothing,
        ("n-predict", "predict", "n", "temp", "seed", "verbose", "alias"): nothing,
        ("prune-layers",): lambda value: (
            NOTHING
            if is_off(value)
            else (Setting("prune", {"pattern": "layers", "storage": "removed"}),)
        ),
    }
)
"""llama.cpp and llama-cpp-python."""

OLLAMA_ENVIRONMENT: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "OLLAMA_KV_CACHE_TYPE": kv(),
        "OLLAMA_FLASH_ATTENTION": _flash,
        "OLLAMA_NUM_PARALLEL": batch,
        "OLLAMA_CONTEXT_LENGTH": limit,
        "OLLAMA_MODEL": model,
    }
)
"""Environment variables of Ollama."""

LOCALAI: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model",): model,
        ("gpu-layers",): _layers_on_device,
        ("cache-type-k", "cache-type-v"): kv(),
        ("flash-attention",): _flash,
        ("draft-model",): speculation(value="draft_model"),
        ("n-draft",): part_of_speculation("draft_tokens"),
        ("context-size", "max-model-len"): limit,
        ("quantization",): weights,
        ("tensor-parallel-size",): degree("tensor_parallel"),
        ("enforce-eager",): graphs(on=False),
        ("no-kv-offloading",): switch("offload", {"kv_cache": UNKNOWN}),
    }
)
"""LocalAI model files."""

EXLLAMA: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-name", "model-dir-name"): model,
        ("cache-mode",): _cache_mode,
        ("b",): mean_bits,
        ("tensor-parallel",): _all_devices,
        ("max-batch-size",): batch,
        ("max-seq-len",): limit,
        ("draft-model", "draft"): _draft_block,
        ("draft-model-name",): speculation(value="draft_model"),
        ("cache-4bit",): switch("quantize", {"kv_cache": "int4"}),
        ("cache-8bit",): switch("quantize", {"kv_cache": "int8"}),
        ("cache-type",): kv(),
        ("gpu-split-auto", "gpu-split", "autosplit-reserve", "cache-size", "chunk-size"): nothing,
    }
)
"""tabbyAPI."""


def _quant_kv(value: Value) -> tuple[Effect, ...]:
    """KoboldCpp: 0 is 16 bits, 1 is q8_0, 2 is q4_0."""
    form = {1: "q8_0", 2: "q4_0"}.get(whole_of(value) or 0)
    return (Setting("quantize", {"kv_cache": form}),) if form else NOTHING


KOBOLD: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model", "model-param"): model,
        ("gpulayers",): _layers_on_device,
        ("quantkv",): _quant_kv,
        ("flashattention",): _flash,
        ("draftmodel",): speculation(value="draft_model"),
        ("draftamount",): part_of_speculation("draft_tokens"),
        ("contextsize",): limit,
        ("moecpu",): _experts_on_host,
    }
)
"""KoboldCpp."""

MLC: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model",): model,
        ("quantization",): weights,
        ("tensor-parallel-shards",): degree("tensor_parallel"),
        ("pipeline-parallel-stages",): degree("pipeline_parallel"),
        ("max-num-sequence", "max-batch-size"): batch,
        ("context-window-size",): limit,
        ("prefix-cache-mode",): _radix,
        ("speculative-mode",): speculation(value="method"),
        ("overrides",): nested({"tensor_parallel_shards": degree("tensor_parallel")}),
    }
)
"""MLC-LLM."""
