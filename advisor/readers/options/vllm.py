"""Options of vLLM: command line, `serve --config`, EngineArgs and LLM keywords, environment.

Source: the engine's documented arguments, versions 0.3 to 0.11; old spellings kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options.effects import NOTHING, OPEN, Effect, Meaning, Setting, Value
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
    offload_weights,
    part_of_speculation,
    speculation,
    switch,
    weights,
)
from advisor.readers.options.names import named_precision
from advisor.readers.options.values import flat, is_off, mapping_of, switch_of, whole_of, word_of

_STORES: Final = (
    "lmcache", "offloading", "mooncakestore", "hf3fs", "sharedstorage", "simplecpu", "kvbm",
    "dynamoconnector", "infinistore", "aibrix", "flexkv", "cpuoffload", "tieredoffloading", "ucm",
)  # fmt: skip
_LARGE_BATCH: Final = 16


def speculative_config(value: Value) -> tuple[Effect, ...]:
    """`--speculative-config`: method, draft, number of draft tokens."""
    config = mapping_of(value)
    if config is None:
        return NOTHING if is_off(value) else (Setting("speculate"),)
    fields: dict[str, object] = {}
    names = {
        "method": "method", "speculative_method": "method", "decoding_type": "method",
        "algorithm": "method", "model": "draft_model", "speculative_model": "draft_model",
        "speculative_model_dir": "draft_model", "draft_model": "draft_model",
        "pytorch_weights_path": "draft_model",
    }  # fmt: skip
    counts = (
        "num_speculative_tokens", "max_draft_len", "num_nextn_predict_layers",
        "num_assistant_tokens", "num_draft_tokens", "prompt_lookup_num_tokens", "max_ngram_size",
    )  # fmt: skip
    for key, item in config.items():
        name = key.lower().replace("-", "_")
        if name in names and isinstance(item, str) and item.strip():
            fields.setdefault(names[name], item.strip())
        elif name in counts and "draft_tokens" not in fields:
            number = whole_of(item)
            if number == 0 and name in counts[:2]:
                return NOTHING
            if number is not None and number > 0:
                fields["draft_tokens"] = number
        elif name == "prompt_lookup_max":
            fields.setdefault("method", "ngram")
    if str(fields.get("draft_model", "")).strip("[]").lower() == "ngram":
        fields.pop("draft_model")
        fields["method"] = "ngram"
    return (Setting("speculate", fields),) if config else NOTHING


def speculative_model(value: Value) -> tuple[Effect, ...]:
    """The old flat `--speculative-model`; "[ngram]" is no model."""
    if is_off(value):
        return NOTHING
    if isinstance(value, str) and word_of(value).strip("[]") == "ngram":
        return (Setting("speculate", {"method": "ngram"}),)
    fields = {"draft_model": value.strip()} if isinstance(value, str) else {}
    return (Setting("speculate", fields),)


def compilation_config(value: Value) -> tuple[Effect, ...]:
    """`--compilation-config`, `-O`, `-cc`: a level, or a mapping of passes and graphs."""
    if isinstance(value, str) and whole_of(value) is None and mapping_of(value) is None:
        word = word_of(value)
        if word.startswith("{"):
            return (Setting("compile"),)
    level = whole_of(value)
    if level is not None:
        return _level(level)
    config = mapping_of(value)
    if config is None:
        return (Setting("compile"),) if value is OPEN else NOTHING
    return nested(_COMPILATION)(config)


def _level(level: int) -> tuple[Effect, ...]:
    if level <= 0:
        return (Setting("cuda_graphs", {"enabled": False}),)
    return (Setting("compile", {"mode": f"level {level}"}),)


def _compile_level(value: Value) -> tuple[Effect, ...]:
    level = whole_of(value)
    if level is None:
        word = flat(word_of(value))
        level = {"none": 0, "stocktorchcompile": 1, "dynamotraceonce": 2, "vllmcompile": 3}.get(
            word, 3
        )
    return (Setting("compile", {"mode": f"level {level}"}),) if level > 0 else NOTHING


def _graph_mode(value: Value) -> tuple[Effect, ...]:
    if value is None or flat(word_of(value)) in {"none", "0"} or value == 0:
        return (Setting("cuda_graphs", {"enabled": False}),)
    return (Setting("cuda_graphs"),)


def _passes(value: Value) -> tuple[Effect, ...]:
    config = mapping_of(value)
    if config is None or not any(switch_of(item) for item in config.values()):
        return NOTHING
    return (Setting("compile", {"mode": "fusion passes"}),)


_COMPILATION: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "level": _compile_level,
        "mode": _compile_level,
        "cudagraph_mode": _graph_mode,
        "use_cudagraph": graphs(on=True),
        "cudagraph_capture_sizes": graph_sizes,
        "max_cudagraph_capture_size": graph_sizes,
        "full_cuda_graph": graphs(on=True),
        "pass_config": _passes,
        "use_inductor": switch("compile", {"mode": "inductor"}),
    }
)


def kv_transfer(value: Value) -> tuple[Effect, ...]:
    """`--kv-transfer-config`: a store of evicted blocks, or prefill and decode apart."""
    config = mapping_of(value)
    if config is None:
        return NOTHING if is_off(value) else (Setting("disaggregate"),)
    role = word_of(config.get("kv_role", ""))
    name = flat(word_of(config.get("kv_connector", "")))
    if name == "multiconnector" or not name:
        inner = config.get("kv_connector_extra_config")
        text = flat(repr(inner))
    else:
        text = name
    stored = any(word in text for word in _STORES)
    apart = role in {"kv-producer", "kv-consumer"} or not stored
    found: list[Effect] = []
    if stored and not (apart and role in {"kv-producer", "kv-consumer"}):
        found.append(Setting("offload", {"kv_cache": "unknown", "evicted": True}))
    if apart or "nixl" in text:
        found.append(Setting("disaggregate"))
    return tuple(found)


def _profile(value: Value) -> tuple[Effect, ...]:
    """NIM profiles: tensorrt_llm-h100-fp8-tp2-latency names precision and split."""
    name = value if isinstance(value, str) else ""
    split = re.search(r"(?<![a-z])tp(\d+)", name)
    form = named_precision(name).weights
    found: list[Effect] = [Setting("quantize", {"weights": form})] if form else []
    if split is not None and int(split[1]) > 1:
        found.append(Setting("tensor_parallel", {"size": int(split[1])}))
    return tuple(found)


def role(value: Value) -> tuple[Effect, ...]:
    """`--disaggregation-mode`: prefill, decode or null."""
    if value is OPEN or word_of(value) in {"prefill", "decode", "encode"}:
        return (Setting("disaggregate"),)
    return NOTHING


def _router(value: Value) -> tuple[Effect, ...]:
    """`--router-mode` of Dynamo: kv sends a prompt where its prefix is cached."""
    return (Setting("prefix_cache"),) if word_of(value) == "kv" else NOTHING


def _load_format(value: Value) -> tuple[Effect, ...]:
    if flat(word_of(value)) == "bitsandbytes":
        return (Setting("quantize", {"weights": "nf4"}),)
    return NOTHING


def _attention(value: Value) -> tuple[Effect, ...]:
    config = mapping_of(value)
    if config is None:
        return kernel("attention_kernel")(value)
    return nested({"backend": kernel("attention_kernel")})(config)


def _profiled_ngram(value: Value) -> tuple[Effect, ...]:
    number = whole_of(value)
    return (Setting("speculate", {"method": "ngram"}, starts=False),) if number else NOTHING


def _fewer_layers(value: Value) -> tuple[Effect, ...]:
    """The first layers of a checkpoint, by a config that counts fewer."""
    number = whole_of(value)
    if number is None or number < 1:
        return NOTHING
    return (Setting("prune", {"pattern": "layers", "storage": "removed", "kept": number}),)


OPTIONS: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model", "model-tag", "model-source"): model,
        ("tensor-parallel-size", "tp"): degree("tensor_parallel"),
        ("pipeline-parallel-size", "pp"): degree("pipeline_parallel"),
        ("data-parallel-size", "dp"): degree("data_parallel"),
        ("enable-expert-parallel", "ep"): switch("expert_parallel", {"size": "unknown"}),
        ("max-num-seqs",): batch,
        ("max-num-batched-tokens",): nothing,
        ("max-model-len", "max-seq-len"): limit,
        ("enable-prefix-caching",): switch("prefix_cache"),
        ("enable-chunked-prefill",): switch("chunked_prefill"),
        ("enforce-eager",): graphs(on=False),
        ("kv-cache-dtype",): kv(),
        ("quantization", "q"): weights,
        ("dtype",): dtype,
        ("speculative-config", "spec"): speculative_config,
        ("speculative-model",): speculative_model,
        ("num-speculative-tokens",): part_of_speculation("draft_tokens"),
        ("speculative-method",): speculation(value="method"),
        ("ngram-prompt-lookup-max", "ngram-prompt-lookup-min"): _profiled_ngram,
        ("speculative-draft-tensor-parallel-size", "speculative-disable-by-batch-size"): nothing,
        ("compilation-config", "o", "cc"): compilation_config,
        ("cuda-graph-sizes", "cudagraph-capture-sizes"): graph_sizes,
        ("max-cudagraph-capture-size",): graph_sizes,
        ("max-seq-len-to-capture", "max-context-len-to-capture"): graph_sizes,
        ("cpu-offload-gb",): offload_weights(),
        ("kv-offloading-size",): offload_kv(),
        ("kv-offloading-backend",): nothing,
        ("swap-space",): nothing,
        ("kv-transfer-config",): kv_transfer,
        ("attention-backend",): kernel("attention_kernel"),
        ("attention-config", "ac"): _attention,
        ("async-scheduling",): fused("asynchronous scheduling"),
        ("num-scheduler-steps",): fused("multi-step scheduling", at_least=2),
        ("stream-interval",): fused("streaming interval", at_least=2),
        ("load-format",): _load_format,
        ("load-in-low-bit",): weights,
        ("router-mode",): _router,
        ("is-prefill-worker", "is-decode-worker"): switch("disaggregate"),
        ("disaggregation-mode",): role,
        ("local-cpu", "max-local-cpu-size", "local-disk", "remote-url"): offload_kv(),
        ("max-local-disk-size",): nothing,
        ("num-gpus",): degree("tensor_parallel"),
        ("gpu-memory-utilization",): nothing,
        ("max-num-partial-prefills", "long-prefill-token-threshold"): nothing,
        ("data-parallel-size-local", "data-parallel-address", "data-parallel-rpc-port"): nothing,
        ("data-parallel-backend", "data-parallel-rank", "data-parallel-start-rank"): nothing,
        ("trust-remote-code",): nothing,
        ("served-model-name", "tokenizer", "tokenizer-mode"): nothing,
        ("reasoning-parser", "tool-call-parser", "enable-auto-tool-choice"): nothing,
        ("disable-log-requests", "disable-log-stats", "uvicorn-log-level"): nothing,
        ("enable-lora", "max-loras", "max-lora-rank", "lora-modules"): nothing,
        ("distributed-executor-backend", "block-size", "no-enable-log-requests"): nothing,
        ("hf-overrides",): nested({"num_hidden_layers": _fewer_layers}),
        ("num-gpu-blocks-override", "limit-mm-per-prompt"): nothing,
    }
)
"""Options by their spellings; an option that moves nothing is named so that no other is guessed."""

ENVIRONMENT: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "VLLM_ATTENTION_BACKEND": kernel("attention_kernel"),
        "VLLM_USE_TRTLLM_ATTENTION": switch("attention_kernel", {"name": "TRT-LLM attention"}),
        "VLLM_USE_TRTLLM_DECODE_ATTENTION": switch("attention_kernel"),
        "VLLM_TENSOR_PARALLEL_SIZE": degree("tensor_parallel"),
        "VLLM_PIPELINE_PARALLEL_SIZE": degree("pipeline_parallel"),
        "VLLM_DATA_PARALLEL_SIZE": degree("data_parallel"),
        "VLLM_DP_SIZE": degree("data_parallel"),
        "VLLM_MODEL": model,
        "VLLM_QUANTIZATION": weights,
        "VLLM_DTYPE": dtype,
        "VLLM_KV_CACHE_DTYPE": kv(),
        "VLLM_MAX_MODEL_LEN": limit,
        "VLLM_MAX_NUM_SEQS": batch,
        "VLLM_ENFORCE_EAGER": graphs(on=False),
        "VLLM_ENABLE_PREFIX_CACHING": switch("prefix_cache"),
        "VLLM_SPECULATIVE_CONFIG": speculative_config,
        "VLLM_CPU_OFFLOAD_GB": offload_weights(),
        "VLLM_CPU_KVCACHE_SPACE": nothing,
        # LMCache, beside vLLM
        "LMCACHE_LOCAL_CPU": offload_kv(),
        "LMCACHE_MAX_LOCAL_CPU_SIZE": offload_kv(),
        "LMCACHE_LOCAL_DISK": offload_kv(),
        "LMCACHE_MAX_LOCAL_DISK_SIZE": nothing,
        "LMCACHE_REMOTE_URL": switch("offload", {"kv_cache": "unknown", "evicted": True}),
        # workers of RunPod and other images that turn variables into arguments
        "TENSOR_PARALLEL_SIZE": degree("tensor_parallel"),
        "PIPELINE_PARALLEL_SIZE": degree("pipeline_parallel"),
        "MAX_MODEL_LEN": limit,
        "MAX_NUM_SEQS": batch,
        "QUANTIZATION": weights,
        "KV_CACHE_DTYPE": kv(),
        "ENFORCE_EAGER": graphs(on=False),
        "ENABLE_PREFIX_CACHING": switch("prefix_cache"),
        "ENABLE_CHUNKED_PREFILL": switch("chunked_prefill"),
        "SPECULATIVE_MODEL": speculative_model,
        "NUM_SPECULATIVE_TOKENS": part_of_speculation("draft_tokens"),
        "CPU_OFFLOAD_GB": offload_weights(),
        "LOAD_IN_LOW_BIT": weights,
        "NIM_MODEL_PROFILE": _profile,
        "NIM_TENSOR_PARALLEL_SIZE": degree("tensor_parallel"),
        "NIM_MAX_MODEL_LEN": limit,
        "NIM_KV_CACHE_REUSE": switch("prefix_cache"),
        "NIM_ENABLE_KV_CACHE_REUSE": switch("prefix_cache"),
    }
)
"""Environment variables by name."""
