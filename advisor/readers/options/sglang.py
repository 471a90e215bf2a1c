"""Options of SGLang: `sglang.launch_server`, its YAML config, Engine keywords, environment.

Source: the engine's documented server arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options.effects import NOTHING, Effect, Fact, Meaning, Setting, Value
from advisor.readers.options.formats import weight_format
from advisor.readers.options.meanings import (
    batch,
    degree,
    dtype,
    fused,
    graph_sizes,
    graphs,
    kernel,
    kv,
    limit,
    model,
    nothing,
    offload_kv,
    offload_weights,
    part_of_speculation,
    speculation,
    switch,
    weights,
    weights_as,
)
from advisor.readers.options.values import is_off, switch_of, whole_of, word_of
from advisor.readers.options.vllm import role


def chunk(value: Value) -> tuple[Effect, ...]:
    """`--chunked-prefill-size`: tokens of a chunk, -1 for none."""
    number = whole_of(value)
    if number is not None and number <= 0:
        return NOTHING
    return NOTHING if is_off(value) else (Setting("chunked_prefill"),)


def attention_data(value: Value) -> tuple[Effect, ...]:
    """Attention replicated over the tensor group, each replica on its own sequences."""
    if switch_of(value) is False:
        return NOTHING
    return (Setting("data_parallel", {"size": "unknown"}), Fact("attention_data", value=True))


def _router(value: Value) -> tuple[Effect, ...]:
    """`--policy` of the router: cache_aware sends a prompt where its prefix is cached."""
    return (Setting("prefix_cache"),) if word_of(value) == "cache-aware" else NOTHING


def torchao(value: Value) -> tuple[Effect, ...]:
    """`--torchao-config`: int4wo-128, int8wo, fp8wo, fp8dq-per_row."""
    word = word_of(value)
    if not word:
        return NOTHING
    form = "fp8" if word.startswith("fp8") else weight_format(word) or "auto"
    return (Setting("quantize", {"weights": form}),)


OPTIONS: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-path", "model"): model,
        ("tp-size", "tp", "tensor-parallel-size"): degree("tensor_parallel"),
        ("dp-size", "dp", "data-parallel-size"): degree("data_parallel"),
        ("pp-size", "pp", "pipeline-parallel-size"): degree("pipeline_parallel"),
        ("ep-size", "ep", "expert-parallel-size", "moe-expert-parallel-size"): degree(
            "expert_parallel"
        ),
        ("enable-ep-moe", "enable-deepep-moe"): switch("expert_parallel", {"size": "unknown"}),
        ("enable-dp-attention",): attention_data,
        ("enable-dp-lm-head", "moe-dense-tp-size"): nothing,
        ("quantization",): weights,
        ("torchao-config",): torchao,
        ("kv-cache-dtype",): kv(),
        ("int8-kv-cache",): switch("quantize", {"kv_cache": "int8"}),
        ("dtype",): dtype,
        ("load-in-4bit",): weights_as("nf4"),
        ("load-in-8bit",): weights_as("int8-bnb"),
        ("context-length",): limit,
        ("max-running-requests",): batch,
        ("mem-fraction-static", "max-total-tokens", "max-prefill-tokens"): nothing,
        ("disable-radix-cache",): switch("prefix_cache", on=False),
        ("chunked-prefill-size",): chunk,
        ("enable-mixed-chunk",): switch("chunked_prefill"),
        ("disable-cuda-graph",): graphs(on=False),
        ("disable-cuda-graph-padding", "disable-decode-cuda-graph-padding"): nothing,
        ("cuda-graph-max-bs", "cuda-graph-max-bs-decode", "cuda-graph-bs"): graph_sizes,
        ("cuda-graph-bs-decode", "cuda-graph-max-bs-prefill"): graph_sizes,
        ("enable-torch-compile",): switch("compile"),
        ("torch-compile-max-bs",): nothing,
        ("attention-backend", "decode-attention-backend"): kernel("attention_kernel"),
        ("prefill-attention-backend", "mm-attention-backend"): kernel("attention_kernel"),
        ("enable-flashinfer-mla", "enable-flashmla"): switch("attention_kernel"),
        ("enable-cutlass-mla",): switch("attention_kernel"),
        ("disable-flashinfer", "triton-attention-reduce-in-fp32"): nothing,
        ("speculative-algorithm", "speculative-algo"): speculation(value="method"),
        ("speculative-draft-model-path", "speculative-draft"): part_of_speculation("draft_model"),
        ("speculative-num-draft-tokens",): nothing,
        ("speculative-num-steps",): part_of_speculation("draft_tokens"),
        ("speculative-eagle-topk", "speculative-token-map", "speculative-attention-mode"): nothing,
        ("disaggregation-mode",): role,
        ("disaggregation-transfer-backend", "disaggregation-bootstrap-port"): nothing,
        ("disaggregation-ib-device",): nothing,
        ("cpu-offload-gb",): offload_weights(),
        ("enable-hierarchical-cache",): switch("offload", {"kv_cache": "unknown", "evicted": True}),
        ("hicache-size",): offload_kv(),
        ("hicache-ratio", "hicache-write-policy", "hicache-io-backend"): nothing,
        ("enable-lmcache",): switch("offload", {"kv_cache": "unknown", "evicted": True}),
        ("num-continuous-decode-steps",): fused("several decode steps in a row", at_least=2),
        ("stream-interval",): fused("streaming interval", at_least=2),
        ("disable-overlap-schedule",): nothing,
        ("policy",): _router,
        ("schedule-policy", "schedule-conservativeness"): nothing,
        ("trust-remote-code", "served-model-name", "tokenizer-path"): nothing,
        ("moe-a2a-backend", "deepep-mode", "moe-runner-backend"): nothing,
        ("enable-lora", "lora-paths", "max-loras-per-batch"): nothing,
        ("nnodes", "node-rank", "dist-init-addr", "watchdog-timeout"): nothing,
        ("enable-two-batch-overlap", "enable-metrics", "log-level"): nothing,
    }
)
"""Options by their spellings."""

ENVIRONMENT: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "SGLANG_TP_SIZE": degree("tensor_parallel"),
        "SGLANG_KV_CACHE_DTYPE": kv(),
        "SGLANG_QUANTIZATION": weights,
        "SGLANG_MODEL_PATH": model,
        "SGLANG_ATTENTION_BACKEND": kernel("attention_kernel"),
    }
)
"""Environment variables by name."""
