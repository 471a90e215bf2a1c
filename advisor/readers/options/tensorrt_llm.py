"""Options of TensorRT-LLM: API options in YAML, LLM keywords, trtllm-serve, -build, quantize.

Source: the library's documented LLM arguments and command lines; old spellings kept.
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
    fused,
    graph_sizes,
    graphs,
    kernel,
    kv,
    limit,
    model,
    nested,
    nothing,
    offload_kv,
    part_of_speculation,
    speculation,
    switch,
    weights,
    weights_as,
)
from advisor.readers.options.sglang import attention_data
from advisor.readers.options.values import is_off, mapping_of, switch_of, word_of
from advisor.readers.options.vllm import role, speculative_config


def _graph_config(value: Value) -> tuple[Effect, ...]:
    """`cuda_graph_config`: null turns graphs off, a mapping (also an empty one) on."""
    if value is None or (mapping_of(value) is None and is_off(value)):
        return (Setting("cuda_graphs", {"enabled": False}),)
    return (Setting("cuda_graphs"),)


def _compile_config(value: Value) -> tuple[Effect, ...]:
    if mapping_of(value) is None and is_off(value):
        return NOTHING
    return (Setting("compile", {"mode": "torch.compile"}),)


def _compile_backend(value: Value) -> tuple[Effect, ...]:
    word = word_of(value)
    if "cudagraph" in word:
        return (Setting("cuda_graphs"),)
    return (Setting("compile", {"mode": word}),) if "compile" in word else NOTHING


def _windows(value: Value) -> tuple[Effect, ...]:
    """`max_attention_window`: the last tokens that stay in the cache."""
    if is_off(value):
        return NOTHING
    return (Setting("prune", {"pattern": "kv_tokens"}),)


def _transceiver(value: Value) -> tuple[Effect, ...]:
    config = mapping_of(value)
    if (config is None and is_off(value)) or config == {}:
        return NOTHING
    return (Setting("disaggregate"),)


def _sparse_attention(value: Value) -> tuple[Effect, ...]:
    if mapping_of(value) is None:
        return NOTHING
    return (Setting("prune", {"pattern": "kv_tokens"}),)


def _enabled(kind: str, mode: str) -> Meaning:
    return switch(kind, {"mode": mode})


def _weight_only(value: Value) -> tuple[Effect, ...]:
    if switch_of(value) is False:
        return NOTHING
    return (Setting("quantize", {"weights": "auto"}),)


_KV_CACHE: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "dtype": kv(),
        "quant_algo": kv(),
        "enable_block_reuse": switch("prefix_cache"),
        "host_cache_size": offload_kv("b"),
        "max_attention_window": _windows,
        "enable_partial_reuse": nothing,
    }
)
_QUANT: Final[Mapping[str, Meaning]] = MappingProxyType(
    {"quant_algo": weights, "kv_cache_quant_algo": kv()}
)

OPTIONS: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model", "model-path", "model-dir", "checkpoint-dir", "model-name"): model,
        ("tensor-parallel-size", "tp-size", "tp"): degree("tensor_parallel"),
        ("pipeline-parallel-size", "pp-size", "pp"): degree("pipeline_parallel"),
        ("moe-expert-parallel-size", "ep-size", "ep", "moe-ep-size"): degree("expert_parallel"),
        ("moe-cluster-parallel-size", "moe-tensor-parallel-size", "moe-tp-size"): nothing,
        ("enable-attention-dp",): attention_data,
        ("max-batch-size",): batch,
        ("max-num-tokens", "max-beam-width", "max-input-len"): nothing,
        ("max-seq-len",): limit,
        ("dtype",): dtype,
        ("kv-cache-config",): nested(_KV_CACHE),
        ("kv-cache-dtype",): kv(),
        ("int8-kv-cache",): switch("quantize", {"kv_cache": "int8"}),
        ("fp8-kv-cache",): switch("quantize", {"kv_cache": "fp8"}),
        ("kv-cache-free-gpu-memory-fraction", "free-gpu-memory-fraction"): nothing,
        ("kv-cache-free-gpu-mem-fraction",): nothing,
        ("enable-block-reuse", "enable-kv-cache-reuse", "kv-cache-enable-block-reuse"): switch(
            "prefix_cache"
        ),
        ("host-cache-size", "kv-host-cache-bytes"): offload_kv("b"),
        ("cuda-graph-config",): _graph_config,
        ("use-cuda-graph", "enable-cuda-graph"): graphs(on=True),
        ("cuda-graph-batch-sizes", "cuda-graph-max-batch-size"): graph_sizes,
        ("cuda-graph-padding-enabled", "cuda-graph-cache-size"): nothing,
        ("speculative-config",): speculative_config,
        ("enable-chunked-prefill", "enable-chunked-context"): switch("chunked_prefill"),
        ("quant-config", "quantization-config", "quantization"): nested(_QUANT, None),
        ("quant-algo", "qformat", "quantize"): weights,
        ("kv-cache-quant-algo", "kv-cache-qformat"): kv(),
        ("use-fp8",): weights_as("fp8"),
        ("use-weight-only", "weight-only"): _weight_only,
        ("weight-only-precision",): weights,
        ("use-smooth-quant", "smoothquant"): weights_as("int8"),
        ("weight-sparsity",): switch("prune", {"pattern": "2:4", "storage": "2:4-packed"}),
        ("torch-compile-config",): _compile_config,
        ("torch-compile-enabled",): switch("compile"),
        ("compile-backend",): _compile_backend,
        ("attn-backend", "attention-backend"): kernel("attention_kernel"),
        ("use-fused-mlp", "gemm-swiglu-plugin", "reduce-fusion"): _enabled("fuse", "layers"),
        ("low-latency-gemm-plugin", "low-latency-gemm-swiglu-plugin"): _enabled("fuse", "GEMM"),
        ("context-fmha", "use-paged-context-fmha", "use-fp8-context-fmha"): switch(
            "attention_kernel", {"name": "context FMHA"}
        ),
        ("multi-block-mode",): switch("attention_kernel", {"name": "flash decoding"}),
        ("stream-interval",): fused("streaming interval", at_least=2),
        ("enable-iter-perf-stats", "print-iter-log", "enable-iter-req-stats"): nothing,
        ("disable-overlap-scheduler", "enable-trtllm-sampler"): nothing,
        ("cache-transceiver-config",): _transceiver,
        ("disaggregation-mode",): role,
        ("sparse-attention-config",): _sparse_attention,
        ("speculative-decoding-mode",): speculation(value="method"),
        ("max-draft-len",): part_of_speculation("draft_tokens"),
        ("moe-config", "moe-backend", "scheduler-config", "guided-decoding-backend"): nothing,
        ("gpus-per-node", "gather-generation-logits", "trust-remote-code"): nothing,
    }
)
"""Options by their spellings."""

ENVIRONMENT: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "TRTLLM_ENABLE_XQA_JIT": nothing,
        "TRTLLM_ENABLE_PDL": _enabled("fuse", "programmatic dependent launch"),
    }
)
"""Environment variables by name."""
