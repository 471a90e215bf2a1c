"""What a mapping of a manifest is: options of an engine, a container, a schema, a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from advisor.readers.options import engine_named_in, find_option
from advisor.readers.options.lookup import LONGEST_NAME
from advisor.readers.options.values import kebab
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode
from advisor.source import Span

_STRONG: Final = re.compile(
    r"^(?:tensor-parallel(?:-size|-degree|-shards)?|pipeline-parallel(?:-size|-degree)?"
    r"|data-parallel-size|(?:moe-)?expert-parallel-size|tp-size|pp-size|dp-size|ep-size"
    r"|max-num-seqs?|max-num-batched-tokens?|max-model-len|max-running-requests|max-num-tokens"
    r"|(?:no-)?enable-prefix-caching|(?:no-)?enable-chunked-prefill|enable-expert-parallel"
    r"|kv-cache-dtype|kv-cache-config|kv-transfer-config|kv-cache-free-gpu-memory-fraction"
    r"|enforce-eager|disable-cuda-graph|cuda-graphs|cuda-graph-\w[\w-]*|(?:max-)?cudagraph-[\w-]+"
    r"|use-cuda-graph|gpu-memory-utilization|gpu-memory-util|mem-fraction-static"
    r"|speculative-[\w-]+|num-speculative-tokens|compilation-config|num-scheduler-steps"
    r"|disable-radix-cache|chunked-prefill-size|attention-backend|attn-backend|num-shard"
    r"|n-gpu-layers|gpu-layers|cache-type-[kv]|cache-mode|flash-attn|quant-policy"
    r"|cpu-offload-gb|async-scheduling|disable-overlap-scheduler|enable-attention-dp"
    r"|enable-dp-attention|max-rolling-batch-size|torch-compile-config|load-in-[48]bit"
    r"|stream-interval|cache-transceiver-config|enable-torch-compile|draft-model-name"
    r"|enable-hierarchical-cache|disaggregation-mode|all2all-backend|swap-space"
    r"|quantization-bit|export-quantization-bit|max-local-cpu-size|quant-algo|kv-cache-quant-algo|compile-backend"
    r"|quantkv|gpulayers|quantization-config|qformat|prompt-lookup-num-tokens|assistant-model"
    r"|quantization-scheme|torch-compile|press-name|recent-size|heavy-ratio|generation-strategy|load-in-low-bit|num-assistant-tokens|auto-quantization|auto-optimization|press-name|attn-implementation|cache-implementation)$"
)
"""Keys that only an engine's options have."""


_ENGINE_KEY: Final = re.compile(
    r"^(?:(?:vllm|sglang|trtllm|engine|llm|server|runtime|model)[-_]?)?"
    r"(?:args|kwargs|config|options|params|parameters|engine|extra[-_]?args)$|^vllm$|^sglang$",
    re.IGNORECASE,
)


_ENGINE_FIELD: Final = re.compile(
    r"(?:vllm|sglang|trtllm|tensorrt|tgi|llama|lmdeploy|deepspeed|openvino|ollama)", re.IGNORECASE
)


_BY_KEYS: Final = (
    ("sglang", ("tp-size", "mem-fraction-static", "max-running-requests", "model-path",
                "chunked-prefill-size", "disable-radix-cache", "context-length",
                "disable-cuda-graph", "cuda-graph-max-bs", "enable-dp-attention",
                "speculative-algorithm", "schedule-conservativeness")),
    ("tensorrt_llm", ("kv-cache-config", "cuda-graph-config", "enable-attention-dp",
                      "moe-expert-parallel-size", "cache-transceiver-config", "max-num-tokens",
                      "print-iter-log", "build-config", "moe-config", "use-cuda-graph",
                      "disable-overlap-scheduler", "trt-build-config", "torch-compile-config",
                      "enable-chunked-context", "quant-algo", "kv-cache-quant-algo", "qformat")),
    ("deepspeed", ("replace-with-kernel-inject", "enable-cuda-graph", "mp-size",
                   "replace-method", "injection-policy")),
    ("exllama", ("cache-mode", "draft-model-name", "gpu-split-auto")),
    ("localai", ("gpu-layers", "flash-attention", "f16")),
    ("llamacpp", ("n-gpu-layers", "cache-type-k", "flash-attn", "type-k", "ctx-size", "n-ctx")),
    ("tgi", ("cuda-graphs", "num-shard", "quantize", "max-total-tokens",
             "max-batch-prefill-tokens")),
    ("lmdeploy", ("quant-policy", "session-len", "cache-max-entry-count")),
    ("djl", ("tensor-parallel-degree", "max-rolling-batch-size", "rolling-batch")),
    ("mlc", ("tensor-parallel-shards", "context-window-size", "prefill-chunk-size")),
    ("kobold", ("gpulayers", "quantkv", "flashattention")),
    ("transformers", ("load-in-4bit", "load-in-8bit", "attn-implementation", "torch-dtype",
                      "cache-implementation", "quantization-scheme", "torch-compile",
                      "device-map", "no-weights", "quantization-bit", "export-quantization-bit",
                      "quantization-config", "prompt-lookup-num-tokens", "assistant-model",
                      "recent-size", "heavy-ratio", "generation-strategy", "press-name",
                      "auto-quantization", "auto-optimization")),
)  # fmt: skip
"""Engines by keys that are theirs; vLLM where none of these has more than another."""


ROLES: Final = frozenset(
    {"prefill", "decode", "context_servers", "generation_servers", "prefillWorker", "decodeWorker",
     "PrefillWorker", "DecodeWorker", "VllmPrefillWorker", "VllmDecodeWorker", "prefill_worker",
     "decode_worker", "routerSpec", "router", "Frontend", "Router", "Processor"}
)  # fmt: skip


_OPTION_LINE: Final = re.compile(r"^[ \t]*[\w-]+[ \t]*:\s", re.MULTILINE)


_TAG: Final = re.compile(r":v?(\d+\.\d+(?:\.\d+)?(?:\.?(?:post|rc)\d+)?)")


_BUILD: Final = re.compile(r"[:-](b\d{3,5})\b")


@lru_cache(maxsize=4096)
def is_strong(key: str) -> bool:
    """Whether a key is one that only an engine's options have."""
    if key.startswith("_"):
        return False  # what transformers keeps of a model, no option
    return len(key) <= LONGEST_NAME and _STRONG.match(kebab(key)) is not None


def has_options(text: str) -> bool:
    """Whether a text looks like a mapping of an engine's options."""
    if text.lstrip()[:1] != "{" and not _OPTION_LINE.search(text):
        return False
    keys = re.findall(r"^[ \t]*[\"']?([A-Za-z][\w-]*)[\"']?[ \t]*:(?:\s|$)", text, re.MULTILINE)
    keys += re.findall(r"[{,]\s*[\"']([A-Za-z][\w-]*)[\"']\s*:", text[:4000])
    return any(is_strong(key) for key in keys)


def engine_of_options(entries: Mapping[str, Entry], engine: str | None, key: str) -> str | None:
    """The engine whose options the keys of a mapping under `key` are; None for any other mapping.

    `engine` is the one of the setup that the mapping stands in.
    """
    strong = sum(is_strong(name) for name in entries)
    if not strong:
        if engine is None or not _ENGINE_KEY.match(key):
            return None
        known = sum(find_option(engine, name) is not None for name in entries)
        return engine if known and known >= len(entries) / 3 else None
    names = {kebab(name) for name in entries}
    best, most = "vllm", 0
    for candidate, keys in _BY_KEYS:
        count = len(names.intersection(keys))
        if count > most:
            best, most = candidate, count
    if engine is not None and (most == 0 or _knows_most(engine, entries)):
        return engine
    return best


def _knows_most(engine: str, entries: Mapping[str, Entry]) -> bool:
    strong = [name for name in entries if is_strong(name)]
    return all(find_option(engine, name) is not None for name in strong)


def is_schema(entries: Mapping[str, Entry]) -> bool:
    """Whether a mapping describes what others may hold: a JSON schema, a resource definition."""
    return "properties" in entries or "openAPIV3Schema" in entries or "$ref" in entries


def is_checkpoint(entries: Mapping[str, Entry]) -> bool:
    """Whether a mapping is the config.json of a model."""
    return "architectures" in entries or {"model_type", "hidden_size"} <= entries.keys()


def engine_hint(entries: Mapping[str, Entry]) -> tuple[str, Span] | None:
    """The engine that a mapping names by its image, command, or a field for it."""
    for key in ("image", "command", "args", "entrypoint", "backendFramework", "engine", "runtime",
                "backend", "run", "modelFormat", "name", "framework", "inference_engine",
                "defaults", "cmd", "url", "infer_backend", "loader", "model_engine"):  # fmt: skip
        entry = entries.get(key)
        if entry is None:
            continue
        for scalar in _scalars(entry.value, depth=3):
            engine = engine_named_in(scalar.text)
            if engine is not None:
                return engine, scalar.span
            if key == "modelFormat" and scalar.text == "huggingface":
                return "vllm", scalar.span
    for name in entries:
        engine = engine_named_in(name) if _ENGINE_FIELD.match(name) else None
        if engine is not None:
            return engine, entries[name].key.span
    return None


def _scalars(node: Node, depth: int) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif depth and isinstance(node, ListNode):
        for item in node.items[:40]:
            yield from _scalars(item, depth - 1)
    elif depth and isinstance(node, MapNode):
        for entry in node.entries[:10]:
            yield from _scalars(entry.value, depth - 1)


def is_unit(entries: Mapping[str, Entry], key: str) -> bool:
    """Whether a mapping is one deployment: a container, service, model or worker role."""
    if key in ROLES or runs(entries):
        return True
    if "model_id" in entries and entries.keys() & {"extra_args", "precision", "vram_minimum_gb"}:
        return True
    return bool(
        entries.keys() & {"vllmConfig", "engine_kwargs", "modelURL", "llm_config", "engineArgs"}
    )


def runs(entries: Mapping[str, Entry]) -> bool:
    """Whether a mapping runs something: an image with a command, arguments or variables."""
    keys = entries.keys()
    return bool(keys & {"image", "command", "args", "run", "entrypoint"}) and (
        "image" in keys or "args" in keys or "command" in keys or "run" in keys
    )


def name_of(node: Node) -> str:
    """What a document or container calls itself."""
    if not isinstance(node, MapNode):
        return ""
    entries = {entry.key.text: entry.value for entry in node.entries}
    metadata = entries.get("metadata")
    if isinstance(metadata, MapNode):
        return name_of(metadata)
    name = entries.get("name", entries.get("container_name"))
    if isinstance(name, ScalarNode) and not re.search(r"[{}$\ue000]", name.text):
        return name.text.strip()[:80]
    return ""


def version_of(image: str) -> str | None:
    """The engine's version that an image's tag names."""
    match = _TAG.search(image) or _BUILD.search(image)
    return match[1] if match is not None else None
