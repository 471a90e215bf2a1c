"""Options of transformers, bitsandbytes, optimum-benchmark, DeepSpeed and CTranslate2.

`from_pretrained` and generation keywords, quantization configs, and the same names as YAML keys.
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
from advisor.readers.options.formats import AUTO, integer_format, kv_format, weight_format
from advisor.readers.options.meanings import (
    degree,
    dtype,
    graphs,
    kernel,
    model,
    nested,
    nothing,
    part_of_speculation,
    speculation,
    switch,
    weights,
    weights_as,
)
from advisor.readers.options.values import (
    flat,
    is_off,
    mapping_of,
    switch_of,
    whole_of,
    word_of,
)

_METHODS: Final = ("quant_method", "quantization_scheme", "quant_type", "method", "type")


def quantization_config(value: Value) -> tuple[Effect, ...]:
    """`quantization_config` as a mapping: method, bits, group, or bitsandbytes' switches."""
    config = mapping_of(value)
    if config is None:
        return NOTHING if is_off(value) else weights(value)
    keys = {key.lower(): item for key, item in config.items()}
    for key, switched in (("load_in_4bit", "nf4"), ("load_in_8bit", "int8-bnb")):
        if key in keys and switch_of(keys[key]) is not False:
            return (Setting("quantize", {"weights": switched}, path=(key,)),)
    method = next((word_of(keys[name]) for name in _METHODS if name in keys), "")
    bits = whole_of(keys.get("bits", keys.get("w_bit", keys.get("nbits"))))
    group = whole_of(keys.get("group_size", keys.get("q_group_size")))
    if bits is not None and 1 <= bits <= 8:
        form = weight_format(method)
        plain = form is None or not form.startswith(("aqlm", "quip", "hqq"))
        asymmetric = flat(method) in {"awq", "gptq"} and group not in {None, -1}
        if form is None or plain or bits != 4:
            form = integer_format(bits, 128 if group is None else group, symmetric=not asymmetric)
        return (Setting("quantize", {"weights": form}),)
    if not method:
        return (
            NOTHING
            if not keys or "load_in_4bit" in keys or "load_in_8bit" in keys
            else ((Setting("quantize", {"weights": AUTO}),))
        )
    return weights(method)


def _bits(value: Value) -> tuple[Effect, ...]:
    """LLaMA-Factory: bits of bitsandbytes at loading."""
    form = {4: "nf4", 8: "int8-bnb"}.get(whole_of(value) or 0)
    return (Setting("quantize", {"weights": form}),) if form else NOTHING


def _exported_bits(value: Value) -> tuple[Effect, ...]:
    """LLaMA-Factory: bits of GPTQ at export."""
    bits = whole_of(value)
    form = integer_format(bits, 128) if bits is not None and 2 <= bits <= 8 else None
    return (Setting("quantize", {"weights": form}),) if form else NOTHING


def _cache(value: Value) -> tuple[Effect, ...]:
    """`cache_implementation`: static caches are made for graphs, quantized ones expanded."""
    word = word_of(value)
    if "quant" in word:
        return (Setting("quantize", {"kv_cache": AUTO, "in_kernel": False}),)
    if word.startswith("offloaded-static"):
        return (Setting("offload", {"kv_cache": UNKNOWN}), Setting("cuda_graphs"))
    if word.startswith("offloaded"):
        return (Setting("offload", {"kv_cache": UNKNOWN}),)
    if word in {"static", "hybrid", "sliding-window", "hybrid-chunked"}:
        return (Setting("cuda_graphs"),)
    return NOTHING


def _attention(value: Value) -> tuple[Effect, ...]:
    if word_of(value) == "eager":
        return NOTHING
    return kernel("attention_kernel")(value)


def _use_cache(value: Value) -> tuple[Effect, ...]:
    return (Setting("no_kv_cache"),) if switch_of(value) is False else NOTHING


def _device_map(value: Value) -> tuple[Effect, ...]:
    places = mapping_of(value)
    words = {word_of(item) for item in places.values()} if places else {word_of(value)}
    if words & {"cpu", "disk"} and words - {"cpu", "disk", ""}:
        return (Setting("offload", {"weights": UNKNOWN}),)
    return NOTHING


def _auto_quantization(value: Value) -> tuple[Effect, ...]:
    """Optimum on ONNX Runtime: avx512_vnni and the like make int8 weights."""
    return NOTHING if is_off(value) else (Setting("quantize", {"weights": "int8"}),)


def _auto_optimization(value: Value) -> tuple[Effect, ...]:
    """Optimum on ONNX Runtime: O1 to O4 fuse the graph."""
    return NOTHING if is_off(value) else (Setting("fuse", {"mode": "graph"}),)


def _kept_tokens(value: Value) -> tuple[Effect, ...]:
    """StreamingLLM and H2O: the last and the heaviest tokens stay in the cache."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if is_off(value) or (number is not None and number <= 0):
        return NOTHING
    fields: dict[str, object] = {"pattern": "kv_tokens"}
    if isinstance(number, int) and number > 1:
        fields["kept"] = number
    elif number is not None and number < 1:
        fields["sparsity"] = 1.0 - number
    return (Setting("prune", fields),)


def _strategy(value: Value) -> tuple[Effect, ...]:
    """LayerSkip: draft with the first layers and verify with all, or stop after them."""
    word = word_of(value)
    if "speculative" in word:
        return (Setting("speculate", {"method": "self"}),)
    return (Setting("early_exit", {"mean_depth": UNKNOWN}),) if "exit" in word else NOTHING


def _press(value: Value) -> tuple[Effect, ...]:
    """kvpress: a method that drops part of the cache."""
    if word_of(value) in {"", "no-press", "none"}:
        return NOTHING
    return (Setting("prune", {"pattern": "kv_tokens", "sparsity": UNKNOWN}),)


def _max_memory(value: Value) -> tuple[Effect, ...]:
    places = mapping_of(value)
    if places is not None and "cpu" in {key.lower() for key in places}:
        return (Setting("offload", {"weights": UNKNOWN}),)
    return NOTHING


def _offload_folder(value: Value) -> tuple[Effect, ...]:
    named = isinstance(value, str) and word_of(value) not in {"", "none", "null"}
    if not named and is_off(value):
        return NOTHING
    return (Setting("offload", {"weights": UNKNOWN, "to": "nvme"}),)


def _compile(value: Value) -> tuple[Effect, ...]:
    if mapping_of(value) is not None or switch_of(value) is not False:
        return (Setting("compile"),)
    return NOTHING


def _compute_type(value: Value) -> tuple[Effect, ...]:
    """CTranslate2: int8, int8_float16, float16, ..."""
    word = word_of(value).split("-")[0]
    form = weight_format(word) if word.startswith("int") else None
    return (Setting("quantize", {"weights": form}),) if form else NOTHING


def _kv_precision(value: Value) -> tuple[Effect, ...]:
    form = kv_format(word_of(value))
    return (Setting("quantize", {"kv_cache": form}),) if form else NOTHING


def _tensor_parallel(value: Value) -> tuple[Effect, ...]:
    config = mapping_of(value)
    if config is not None:
        return nested({"tp_size": degree("tensor_parallel")})(config)
    return degree("tensor_parallel")(value)


def _tp_plan(value: Value) -> tuple[Effect, ...]:
    if is_off(value) and value is not OPEN:
        return NOTHING
    if value is OPEN:
        return (Setting("tensor_parallel", {"size": UNKNOWN}),)
    # Over as many devices as the launcher starts: two is the fewest that a split is over.
    return (Setting("tensor_parallel", {"size": 2}),)


TRANSFORMERS: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model", "model-name-or-path", "pretrained-model-name-or-path", "model-id"): model,
        ("load-in-4bit",): weights_as("nf4"),
        ("load-in-8bit",): weights_as("int8-bnb"),
        ("quantization-config",): quantization_config,
        ("quantization-scheme",): weights,
        ("quantization-bit",): _bits,
        ("export-quantization-bit",): _exported_bits,
        ("load-8bit",): weights_as("int8-bnb"),
        ("load-4bit",): weights_as("nf4"),
        ("bnb-4bit-quant-type", "bnb-4bit-compute-dtype", "bnb-4bit-use-double-quant"): nothing,
        ("torch-dtype", "dtype"): dtype,
        ("attn-implementation",): _attention,
        ("use-flash-attention-2", "use-flash-attention", "flash-attention"): switch(
            "attention_kernel", {"name": "flash attention 2"}
        ),
        ("cache-implementation",): _cache,
        ("use-cache",): _use_cache,
        ("device-map",): _device_map,
        ("max-memory",): _max_memory,
        ("offload-folder",): _offload_folder,
        ("torch-compile", "compile", "compile-config"): _compile,
        ("tp-plan",): _tp_plan,
        ("use-kernels",): switch("fuse", {"mode": "kernels"}),
        ("press-name",): _press,
        ("recent-size", "heavy-ratio", "sink-size"): _kept_tokens,
        ("generation-strategy",): _strategy,
        ("auto-quantization",): _auto_quantization,
        ("auto-optimization",): _auto_optimization,
        ("assistant-model",): speculation(value="draft_model"),
        ("prompt-lookup-num-tokens",): speculation(value="draft_tokens", method="ngram"),
        ("assistant-early-exit",): speculation(method="self"),
        ("num-assistant-tokens",): part_of_speculation("draft_tokens"),
        ("prefill-chunk-size",): lambda value: (
            NOTHING if is_off(value) or whole_of(value) == 0 else (Setting("chunked_prefill"),)
        ),
        ("low-cpu-mem-usage", "max-new-tokens", "num-beams", "batch-size"): nothing,
    }
)
"""transformers: `from_pretrained`, `generate`, and generation configs."""

DEEPSPEED: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-name-or-path", "model"): model,
        ("tensor-parallel", "mp-size", "tp-size"): _tensor_parallel,
        ("dtype",): dtype,
        ("enable-cuda-graph",): graphs(on=True),
        ("replace-with-kernel-inject",): switch("fuse", {"mode": "injected kernels"}),
        ("replica-num",): degree("data_parallel"),
        ("quantization-mode",): weights,
    }
)
"""DeepSpeed inference and MII."""


def _devices(value: Value) -> tuple[Effect, ...]:
    """MaxText: ways of a split, -1 for all devices that are left."""
    number = whole_of(value)
    if number == -1:
        return (Setting("tensor_parallel", {"size": 2, "at_least": True}),)
    return degree("tensor_parallel")(value)


JETSTREAM: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-name",): model,
        ("ici-tensor-parallelism", "ici-autoregressive-parallelism"): _devices,
        ("quantization",): weights,
        ("quantize-kvcache",): switch("quantize", {"kv_cache": "int8"}),
        ("per-device-batch-size",): nothing,
    }
)
"""JetStream and MaxText, whose arguments are name=value."""

CTRANSLATE2: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("compute-type", "quantization"): _compute_type,
        ("tensor-parallel",): _tp_plan,
    }
)
"""CTranslate2."""

OLIVE: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model-name-or-path", "m"): model,
        ("precision",): weights,
        ("algorithm", "implementation", "data-name"): nothing,
    }
)
"""The command line of Olive."""

OPENVINO: Final[Mapping[tuple[str, ...], Meaning]] = MappingProxyType(
    {
        ("model", "model-id"): model,
        ("load-in-8bit",): weights_as("int8"),
        ("load-in-4bit",): weights_as("int4"),
        ("quantization-config",): quantization_config,
        ("kv-cache-precision",): _kv_precision,
        ("weight-format",): weights,
    }
)
"""OpenVINO and optimum-intel."""
