"""Keys of serving platforms that mean a lever: KServe, llm-d, the production stack, Dynamo."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.manifest_values import value_of
from advisor.readers.options import OPEN, Effect, Setting, Value, named_precision, read_option
from advisor.readers.options.values import gigabytes_of, kebab, switch_of
from advisor.readers.yaml_nodes import MapNode, Node, ScalarNode

MODEL_KEYS: Final = frozenset(
    {"model", "model-id", "model-name", "model-path", "model-url", "model-uri", "storage-uri",
     "model-source", "hf-model-id", "model-name-or-path", "url", "uri", "hugging-face-model",
     "hf-model", "huggingface-model", "hf-model-name", "model-repo", "served-model", "base-model",
     "pretrained-model-name-or-path", "model-artifacts-uri", "model-tag", "filename",
     "gguf-file", "model-file", "model-filename"}
)  # fmt: skip


_REPOSITORY: Final = re.compile(
    r"(?:hf://|ollama://|huggingface://|hf:|pvc://[\w.-]+/|oci://[\w./-]*/)?"
    r"[A-Za-z0-9][\w.-]*/[\w.:-]+(?:/[\w.-]+)*"
)


_LONGEST_MODEL: Final = 300


def platform_effects(
    name: str, value: Node, variables: Mapping[str, str]
) -> tuple[Effect, ...] | None:
    """What a key of a platform's own does; None for any other key."""
    if isinstance(value, ScalarNode):
        word = value.text.strip()
        if name in _ROUTING_KEYS and word.lower() in _PREFIX_ROUTERS:
            return (Setting("prefix_cache"),)
        if name == "type" and "prefix-cache" in word:
            return (Setting("prefix_cache"),)
        if name == "type" and word == "pd-profile-handler":
            return (Setting("disaggregate"),)
        if name in {"enable-pd", "remote-prefill"} and switch_of(word):
            return (Setting("disaggregate"),)
        if name == "parallel-flag" and word.startswith("-"):
            return tuple(
                effect._replace(fields={"size": 2, "at_least": True})
                if isinstance(effect, Setting) and effect.kind == "tensor_parallel"
                else effect
                for effect in read_option("vllm", word, OPEN) or ()
            )
        return None
    if not isinstance(value, MapNode) or name not in _PLATFORM_BLOCKS:
        return None
    plain = value_of(value, variables)
    config: Mapping[str, Value] = plain if isinstance(plain, dict) else {}
    if name == "parallelism":
        return tuple(_parallelism(config)) or None
    if name == "lmcache-config":
        return _lmcache(config)
    if name in {"kv-cache-offloading", "kv-offloading"} and config.get("mode") != "none":
        cpu = config.get("cpu")
        size = cpu.get("size") if isinstance(cpu, dict) else None
        amount = size if isinstance(size, str) else "unknown"
        path = ("cpu", "size") if isinstance(size, str) else ("mode",)
        fields = {"kv_cache": _bytes(amount), "evicted": True}
        return (Setting("offload", fields, path=path),)
    if name == "speculator":
        inner = config.get("config")
        read = read_option("vllm", "speculative-config", inner or config) or ()
        path = ("config", "method") if inner else ("method",)
        return tuple(one._replace(path=path) if isinstance(one, Setting) else one for one in read)
    return None


_PLATFORM_BLOCKS: Final = frozenset(
    {"parallelism", "lmcache-config", "kv-cache-offloading", "kv-offloading", "speculator"}
)


_ROUTING_KEYS: Final = frozenset(
    {"routing-logic", "router", "router-mode", "routing-strategy", "routing-algorithm",
     "router-policy", "routing-policy"}
)  # fmt: skip
_PREFIX_ROUTERS: Final = frozenset(
    {"prefixaware", "kvaware", "kv", "prefix", "kv_aware", "prefix_aware", "prefix-cache",
     "cache_aware", "cache-aware", "prefixhash"}
)  # fmt: skip


_DEGREES: Final[Mapping[str, str]] = {
    "tensor": "tensor-parallel-size",
    "pipeline": "pipeline-parallel-size",
    "data": "data-parallel-size",
    "expert": "enable-expert-parallel",
}


def _parallelism(config: Mapping[str, Value]) -> Iterator[Effect]:
    """`parallelism` of KServe and llm-d: tensor, pipeline, data, expert."""
    for name, item in config.items():
        kind = _DEGREES.get(name)
        for effect in (read_option("vllm", kind, item) or ()) if kind is not None else ():
            yield effect._replace(path=(name,)) if isinstance(effect, Setting) else effect


def _lmcache(config: Mapping[str, Value]) -> tuple[Effect, ...] | None:
    """`lmcacheConfig` of the production stack."""
    if switch_of(config.get("enabled")) is False:
        return ()
    effects: list[Effect] = []
    for name, item in config.items():
        spelled = kebab(name)
        if spelled in {"cpu-offloading-buffer-size", "disk-offloading-buffer-size"}:
            sizes = read_option("vllm", "kv-offloading-size", item) or ()
            effects += (one._replace(path=(name,)) for one in sizes if isinstance(one, Setting))
        elif spelled == "enable-pd" and switch_of(item):
            effects.append(Setting("disaggregate", path=(name,)))
    return tuple(effects)


def _bytes(amount: str) -> str:
    size = gigabytes_of(amount)
    return f"{size:.0f} B" if size else "unknown"


def model_effects(name: str) -> tuple[Effect, ...]:
    """A model by what looks like a repository's or a file's name."""
    if len(name) > _LONGEST_MODEL:
        return ()
    if name.startswith("http") and name.endswith(".gguf"):
        return read_option("vllm", "model", name.rpartition("/")[2]) or ()
    if _REPOSITORY.fullmatch(name) is None and named_precision(name).weights is None:
        return ()
    if name.startswith(("http:", "https:", "s3:", "gs:")) or " " in name:
        return ()
    bare = re.sub(r"^(?:hf|ollama|huggingface)://|^hf:", "", name)
    return read_option("vllm", "model", bare) or ()
