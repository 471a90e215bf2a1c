"""Options of Text Generation Inference, DJL Serving and LMDeploy, and their environment.

Source: the engines' documented arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options.effects import NOTHING, Effect, Meaning, Setting, Value
from advisor.readers.options.meanings import (
    batch,
    degree,
    dtype,
    graph_sizes,
    graphs,
    kernel,
    kv,
    limit,
    model,
    nothing,
    speculation,
    switch,
    weights,
)
from advisor.readers.options.values import switch_of, whole_of, word_of
from advisor.readers.options.vllm import role


def _quant_policy(value: Value) -> tuple[Effect, ...]:
    """LMDeploy: 0 keeps the cache, 4 and 8 are its bits, 16 and 17 fp8 formats of newer ones."""
    bits = whole_of(value)
    form = {4: "int4", 8: "int8", 16: "fp8", 17: "fp8"}.get(bits or 0)
    return (Setting("quantize", {"kv_cache": form}),) if form else NOTHING


def _bits(value: Value) -> tuple[Effect, ...]:
    bits = whole_of(value)
    return (Setting("quantize", {"weights": f"int{bits}"}),) if bits in {2, 3, 4, 8} else NOTHING


def _sharded(value: Value) -> tuple[Effect, ...]:
    """`--sharded`: over all devices that are there."""
    if switch_of(value) is False:
        return NOTHING
    return (Setting("tensor_parallel", {"size": "unknown"}, starts=False),)


def _quantize(value: Value) -> tuple[Effect, ...]:
    """`--quantize`: plain bitsandbytes is LLM.int8 here, its 4-bit types have other names."""
    if word_of(value) in {"bitsandbytes", "bnb"}:
        return (Setting("quantize", {"weights": "int8-bnb"}),)
    return weights(value)


TGI: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-id",): model,
        ("quantize",): _quantize,
        ("num-shard",): degree("tensor_parallel"),
        ("sharded",): _sharded,
        ("speculate",): speculation(value="draft_tokens"),
        ("cuda-graphs",): graph_sizes,
        ("dtype",): dtype,
        ("kv-cache-dtype",): kv(),
        ("max-batch-size",): batch,
        ("max-batch-prefill-tokens", "max-batch-total-tokens"): nothing,
        ("max-concurrent-requests", "waiting-served-ratio", "max-waiting-tokens"): nothing,
        ("max-input-tokens", "max-input-length"): nothing,
        ("max-total-tokens",): limit,
        ("max-best-of", "max-stop-sequences", "validation-workers"): nothing,
        ("cuda-memory-fraction", "huggingface-hub-cache", "trust-remote-code"): nothing,
        ("lora-adapters", "disable-grammar-support", "hostname", "port"): nothing,
    }
)
"""Text Generation Inference."""

TGI_ENVIRONMENT: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "MODEL_ID": model,
        "HF_MODEL_ID": model,
        "QUANTIZE": _quantize,
        "HF_MODEL_QUANTIZE": _quantize,
        "NUM_SHARD": degree("tensor_parallel"),
        "SM_NUM_GPUS": degree("tensor_parallel"),
        "SPECULATE": speculation(value="draft_tokens"),
        "CUDA_GRAPHS": graph_sizes,
        "DTYPE": dtype,
        "MAX_BATCH_SIZE": batch,
        "MAX_TOTAL_TOKENS": limit,
        "PREFIX_CACHING": switch("prefix_cache"),
        "USE_PREFIX_CACHING": switch("prefix_cache"),
        "ATTENTION": kernel("attention_kernel"),
        "PREFILL_CHUNKING": switch("chunked_prefill"),
        "FLASH_DECODING": switch("attention_kernel", {"name": "flash-decoding"}),
        "USE_FLASH_ATTENTION": switch("attention_kernel"),
    }
)
"""Environment variables of Text Generation Inference; only beside its image or command."""

DJL: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-id",): model,
        ("tensor-parallel-degree", "tensor-parallel-size"): degree("tensor_parallel"),
        ("pipeline-parallel-degree",): degree("pipeline_parallel"),
        ("quantize",): weights,
        ("dtype",): dtype,
        ("max-rolling-batch-size",): batch,
        ("max-model-len", "n-positions"): limit,
        ("enforce-eager",): graphs(on=False),
        ("enable-prefix-caching",): switch("prefix_cache"),
        ("enable-chunked-prefill",): switch("chunked_prefill"),
        ("kv-cache-dtype",): kv(),
        ("speculative-draft-model", "speculative-model"): speculation(value="draft_model"),
        ("rolling-batch", "entry-point", "engine"): nothing,
    }
)
"""DJL Serving (`serving.properties`, OPTION_ variables)."""

LMDEPLOY: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-path", "model"): model,
        ("tp",): degree("tensor_parallel"),
        ("dp",): degree("data_parallel"),
        ("ep",): degree("expert_parallel"),
        ("quant-policy",): _quant_policy,
        ("model-format",): weights,
        ("w-bits",): _bits,
        ("dtype",): dtype,
        ("max-batch-size",): batch,
        ("session-len",): limit,
        ("enable-prefix-caching",): switch("prefix_cache"),
        ("eager-mode",): graphs(on=False),
        ("role",): role,
        ("speculative-algorithm",): speculation(value="method"),
        ("cache-max-entry-count", "cache-block-seq-len", "backend", "server-port"): nothing,
    }
)
"""LMDeploy."""
