"""ONNX Runtime, OpenVINO and NNCF, Core ML, Olive, DeepSpeed, FlexGen, CTranslate2, MLX."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.options.formats import AUTO, MIXED, integer_format, weight_format
from advisor.readers.options.values import mapping_of, switch_of, whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    model_fact,
    options,
    read,
)
from advisor.readers.python.rules import (
    by_bits,
    by_word,
    every,
    format_named,
    pruned,
    quantized,
    sets,
)
from advisor.readers.python.values import Made, Mapping, plain, usual

# OpenVINO


def _compress_weights(call: Call) -> Iterator[Found]:
    """nncf.compress_weights: INT8_ASYM by default; a ratio below one mixes int4 with int8."""
    mode = call.plain("mode", position=1)
    form = (format_named(mode) if isinstance(mode, str) else None) or (
        "int8" if mode is ABSENT else AUTO
    )
    group = whole_of(call.plain("group_size"))
    ratio = call.plain("ratio", position=2)
    if form == "int4" and isinstance(ratio, float) and 0 < ratio < 1:
        fields = {"weights": MIXED, "mean_bits": _mean_bits(ratio)}
        yield call.found(Setting("quantize", fields), "ratio")
        return
    if form == "int4" and group:
        form = integer_format(4, group, symmetric=False)
    yield call.found(Setting("quantize", {"weights": form}), "mode")


def _mean_bits(ratio: float) -> float:
    """Bits per weight of a share in 4 bits, the rest in 8."""
    return round(4.0 * ratio + 8.0 * (1.0 - ratio), 3)


def _ov_quantization(call: Call) -> Iterator[Found]:
    ratio = call.plain("ratio")
    if whole_of(call.plain("bits")) == 4 and isinstance(ratio, float) and 0 < ratio < 1:
        fields = {"weights": MIXED, "mean_bits": _mean_bits(ratio)}
        yield call.found(Setting("quantize", fields), "ratio")
        return
    yield from by_bits(8, group=128, symmetric=False, words=("quant_method",))(call)


def _ov_pipeline(call: Call) -> Iterator[Found]:
    yield from options("openvino")(call)
    for made in (usual(value) for _, value in call.made.keywords.values()):
        if isinstance(made, Made) and made.name.endswith(".draft_model"):
            yield call.found(Setting("speculate", {}), "draft_model")
    if call.plain("prompt_lookup") is True:
        yield call.found(Setting("speculate", {"method": "ngram"}), "prompt_lookup")


def _evicted(call: Call) -> Iterator[Found]:
    """CacheEvictionConfig(start_size, recent_size, max_cache_size, ...)."""
    kept = whole_of(call.plain("max_cache_size", position=2))
    fields = {"pattern": "kv_tokens"} | ({"kept": kept} if kept else {})
    yield call.found(Setting("prune", fields))


def _compiled(call: Call) -> Iterator[Found]:
    """`core.compile_model(model, "CPU", {"KV_CACHE_PRECISION": "u8"})`."""
    for value in (*call.made.args, *(value for _, value in call.made.keywords.values())):
        inner = usual(value)
        for key, (place, item) in inner.entries.items() if isinstance(inner, Mapping) else ():
            if key.upper().endswith("KV_CACHE_PRECISION"):
                yield from read("openvino", "kv_cache_precision", place, item, call.hangs_on)


# ONNX Runtime


def _onnx(call: Call) -> Iterator[Found]:
    yield from by_word("weight_type", default="int8")(call)


def _genai(call: Call) -> Iterator[Found]:
    """onnxruntime_genai.models.builder.create_model(name, path, output, precision, ...)."""
    yield from by_word("precision", position=3)(call)


def _olive(call: Call) -> Iterator[Found]:
    """olive.run({... "passes": {id: {"type": "gptq", "bits": 4}}})."""
    inner = usual(call.value("config", "run_config", position=0) or call.made)
    passes = inner.entries.get("passes") if isinstance(inner, Mapping) else None
    table = usual(passes[1]) if passes is not None else None
    for place, value in table.entries.values() if isinstance(table, Mapping) else ():
        entry = plain(value)
        if not isinstance(entry, dict):
            continue
        kind = str(entry.get("type", "")).lower()
        bits = whole_of(entry.get("bits", entry.get("precision")))
        form = weight_format(str(entry.get("precision", ""))) if entry.get("precision") else None
        if bits:
            form = integer_format(bits, whole_of(entry.get("group_size")) or 128)
        quantizes = any(word in kind for word in ("quant", "gptq", "awq", "rtn", "modelbuilder"))
        if quantizes and form != "fp16" and not str(entry.get("precision", "")).startswith("fp"):
            default = "int4" if any(word in kind for word in ("gptq", "awq", "4")) else "int8"
            yield Found(Setting("quantize", {"weights": form or default}), place, call.hangs_on)
        elif "slicegpt" in kind or "sparsegpt" in kind:
            pattern = "channels" if "slice" in kind else "unstructured"
            stored = "removed" if "slice" in kind else "dense"
            fields = {"pattern": pattern, "storage": stored, "sparsity": "unknown"}
            yield Found(Setting("prune", fields), place, call.hangs_on)


# DeepSpeed

_COMPRESSION: Final = {
    "sparse_pruning": ("unstructured", "dense"), "row_pruning": ("channels", "removed"),
    "channel_pruning": ("channels", "removed"), "head_pruning": ("heads", "removed"),
}  # fmt: skip


def _init_compression(call: Call) -> Iterator[Found]:
    """compression_training: each block with `shared_parameters.enabled`."""
    inner = usual(call.value("deepspeed_config", position=1) or call.made)
    entry = inner.entries.get("compression_training") if isinstance(inner, Mapping) else None
    table = usual(entry[1]) if entry is not None else None
    if not isinstance(table, Mapping):
        return
    cleaned = "redundancy_clean" in call.file.names
    for name, (place, value) in table.entries.items():
        block = plain(value)
        shared = mapping_of(block.get("shared_parameters")) if isinstance(block, dict) else None
        on = shared.get("enabled") if shared else None
        if name == "layer_reduction" and isinstance(block, dict):
            on = block.get("enabled")
        if switch_of(on) is not True or not isinstance(block, dict):
            continue
        groups = mapping_of(block.get("different_groups")) or {}
        first = mapping_of(next(iter(groups.values()), None)) or {}
        params = mapping_of(first.get("params")) or {}
        if name in _COMPRESSION:
            pattern, stored = _COMPRESSION[name]
            kept = params.get("dense_ratio")
            share: object = round(1 - kept, 6) if isinstance(kept, float) else "unknown"
            stored = stored if cleaned or stored == "dense" else "masked"
            fields = {"pattern": pattern, "storage": stored, "sparsity": share}
            yield Found(Setting("prune", fields), place, call.hangs_on, call=call.made)
        elif name == "layer_reduction":
            fields = {"pattern": "layers", "storage": "removed", "sparsity": "unknown"}
            if count := whole_of(block.get("keep_number_layer", block.get("keep_number_layers"))):
                fields = {"pattern": "layers", "storage": "removed", "kept": count}
            yield Found(Setting("prune", fields), place, call.hangs_on, call=call.made)
        elif name == "weight_quantization":
            bits = whole_of(params.get("target_bits")) or 8
            fake = bool(shared) and switch_of((shared or {}).get("quantize_weight_in_forward"))
            fields = {"weights": integer_format(bits, None)} | ({"packed": False} if fake else {})
            yield Found(Setting("quantize", fields), place, call.hangs_on, call=call.made)


def _init_inference(call: Call) -> Iterator[Found]:
    yield from options("deepspeed", "model", within=("config",))(call)


# FlexGen


def _policy(call: Call) -> Iterator[Found]:
    """Policy(gpu_batch_size, num_gpu_batches, w_gpu, w_cpu, cache_gpu, ...), all in percent."""
    args = [plain(value) for value in call.made.args]
    named = ("gpu_batch_size", "num_gpu_batches", "w_gpu_percent", "w_cpu_percent",
             "cache_gpu_percent")  # fmt: skip
    values = dict(zip(named, args, strict=False))
    nodes = dict(zip(named, (value.node for value in call.made.args), strict=False))
    for name in named:
        if name in call.made.keywords:
            nodes[name], values[name] = call.place(name), call.plain(name)
    size, count = values.get("gpu_batch_size"), values.get("num_gpu_batches")
    if isinstance(size, int) and isinstance(count, int) and size * count > 1:
        yield Found(Setting("batch", {"batch": size * count}), nodes["gpu_batch_size"])
    on_gpu = values.get("w_gpu_percent")
    if isinstance(on_gpu, int) and on_gpu < 100:
        yield Found(Setting("offload", {"weights": "unknown"}), nodes["w_gpu_percent"])
    cache = values.get("cache_gpu_percent")
    if isinstance(cache, int) and cache < 100:
        yield Found(Setting("offload", {"kv_cache": "unknown"}), nodes["cache_gpu_percent"])
    for name, config, key in (("compress_weight", "comp_weight_config", "weights"),
                              ("compress_cache", "comp_cache_config", "kv_cache")):  # fmt: skip
        if call.plain(name) is True:
            inner = usual(call.value(config) or call.made)
            bits = (
                whole_of(plain(inner.keywords["num_bits"][1]))
                if (isinstance(inner, Made) and "num_bits" in inner.keywords)
                else 4
            )
            fields: dict[str, object] = {key: integer_format(bits or 4, 64)}
            if key == "kv_cache":
                fields["in_kernel"] = False
            yield call.found(Setting("quantize", fields), name)


# MLX


def _mlx_convert(call: Call) -> Iterator[Found]:
    if call.plain("quantize") is True or call.plain("q_bits") is not ABSENT:
        yield from by_bits(4, group=64, symmetric=False)(call)


def _mlx_generate(call: Call) -> Iterator[Found]:
    bits = call.plain("kv_bits")
    if bits is not ABSENT and bits is not None:
        number = whole_of(bits)
        fields = {"kv_cache": f"int{number}" if number else AUTO}
        start = whole_of(call.plain("quantized_kv_start"))
        late = f"a context of more than {start} tokens" if start else ""
        yield call.found(Setting("quantize", fields), "kv_bits", condition=late)
    if call.has("draft_model"):
        yield call.found(Setting("speculate", {}), "draft_model")
    if call.has("max_kv_size"):
        fields = {"pattern": "kv_tokens", "sparsity": "unknown"}
        yield call.found(Setting("prune", fields), "max_kv_size")


def _rotating(call: Call) -> Iterator[Found]:
    """A cache of the last tokens: RotatingKVCache(max_size=512)."""
    kept = whole_of(call.plain("max_size", "max_kv_size"))
    if kept:
        setting = Setting("prune", {"pattern": "kv_tokens", "kept": kept})
        yield call.found(setting, "max_size", "max_kv_size")


def _mlx_cache(call: Call) -> Iterator[Found]:
    """QuantizedKVCache(group_size=64, bits=8)."""
    bits = whole_of(call.plain("bits", position=1))
    yield call.found(Setting("quantize", {"kv_cache": f"int{bits or 8}"}), "bits")


def _level(call: Call) -> Iterator[Found]:
    """Optimum's OptimizationConfig: fused operators from level 1 on; half precision beside."""
    level = whole_of(call.plain("optimization_level", position=0))
    if level is None or level > 0:
        yield call.found(Setting("fuse", {"mode": "graph"}), "optimization_level")
    if call.plain("fp16") is True:
        yield call.found(Setting("quantize", {"weights": "fp16"}), "fp16")


# CTranslate2


def _max_batch(call: Call) -> Iterator[Found]:
    number = whole_of(call.plain("max_batch_size"))
    if number is None and call.has("generation_config"):  # transformers' continuous batching
        yield call.found(Setting("batch", {"batch": "unknown"}))
    if number is not None and number > 1:
        yield call.found(Setting("batch", {"batch": number}), "max_batch_size")


# Core ML


def _coreml_pruner(call: Call) -> Iterator[Found]:
    """OpMagnitudePrunerConfig: stored as a bitmask and the values that are left."""
    pattern = "2:4" if call.has("n_m_ratio") else "unstructured"
    yield from pruned(pattern, "target_sparsity", storage="bitmap")(call)


_INT8: Final = quantized("int8")

CALLS: Final[Rows] = MappingProxyType(
    {
        "onnxruntime:quantize_dynamic": _onnx,
        "onnxruntime:quantize_static": _onnx,
        "onnxruntime:quantize": _onnx,
        "onnxruntime:MatMul4BitsQuantizer": by_bits(4, group=32),
        "onnxruntime:MatMulNBitsQuantizer": by_bits(4, group=32),
        "onnxruntime:DefaultWeightOnlyQuantConfig": by_bits(4, group=128),
        "onnxruntime:HQQWeightOnlyQuantConfig": by_bits(4, group=128),
        "onnxruntime:RTNWeightOnlyQuantConfig": by_bits(4, group=128),
        "onnxruntime:GPTQWeightOnlyQuantConfig": by_bits(4, group=128),
        "onnxruntime:convert_float_to_float16": quantized("fp16"),
        ".convert_float_to_float16": quantized("fp16"),
        "optimum:OptimizationConfig": _level,
        "optimum:AutoOptimizationConfig.O1": sets("fuse", mode="graph"),
        "optimum:AutoOptimizationConfig.O2": sets("fuse", mode="graph"),
        "optimum:AutoOptimizationConfig.O3": sets("fuse", mode="graph"),
        "onnxconverter_common:convert_float_to_float16": quantized("fp16"),
        "onnxruntime_genai:create_model": _genai,
        "optimum:AutoQuantizationConfig.avx512_vnni": _INT8,
        "optimum:AutoQuantizationConfig.avx512": _INT8,
        "optimum:AutoQuantizationConfig.avx2": _INT8,
        "optimum:AutoQuantizationConfig.arm64": _INT8,
        "optimum:OVWeightQuantizationConfig": _ov_quantization,
        "transformers:OVWeightQuantizationConfig": _ov_quantization,
        "optimum:OVDynamicQuantizationConfig": _ov_quantization,
        "optimum:OVMixedQuantizationConfig": quantized(MIXED),
        "nncf:compress_weights": _compress_weights,
        "nncf:quantize": _INT8,
        "openvino_genai:LLMPipeline": _ov_pipeline,
        "openvino_genai:SchedulerConfig": options("vllm"),
        "openvino_genai:CacheEvictionConfig": _evicted,
        ".compile_model": _compiled,
        ".set_property": _compiled,
        "olive:run": _olive,
        "olive:quantize": by_word("precision", default="int8"),
        "olive:auto_opt": by_word("precision"),
        "olive:optimize": by_word("precision"),
        "olive:workflows.run": _olive,
        "coremltools:OpPalettizerConfig": by_bits(8, group=None),
        "coremltools:OpLinearQuantizerConfig": by_word("dtype", default="int8"),
        "coremltools:OpMagnitudePrunerConfig": _coreml_pruner,
        "coremltools:OpThresholdPrunerConfig": pruned("unstructured", storage="bitmap"),
        "deepspeed:init_inference": _init_inference,
        "deepspeed:init_compression": _init_compression,
        "mii:pipeline": options("deepspeed", "model"),
        "mii:serve": options("deepspeed", "model"),
        "mii:deploy": options("deepspeed", "model", within=("mii_config",)),
        "flexgen:Policy": _policy,
        "flexllmgen:Policy": _policy,
        "ctranslate2:Generator": options("ctranslate2"),
        "faster_whisper:WhisperModel": options("ctranslate2"),
        "ctranslate2:Translator": options("ctranslate2"),
        ".generate_batch": _max_batch,
        ".convert": by_word("quantization"),
        "ctranslate2:TransformersConverter.convert": by_word("quantization"),
        "mlx_lm:load": model_fact("path_or_hf_repo"),
        "mlx_lm:convert": _mlx_convert,
        "mlx_vlm:convert": _mlx_convert,
        "mlx_lm:quantize_model": by_bits(4, group=64, symmetric=False),
        "mlx_lm:generate": _mlx_generate,
        "mlx_lm:stream_generate": _mlx_generate,
        "mlx_vlm:load": model_fact("path_or_hf_repo"),
        "mlx_lm:RotatingKVCache": _rotating,
        "mlx_lm:make_prompt_cache": _rotating,
        "mlx_lm:QuantizedKVCache": _mlx_cache,
        "mlx_lm:load_prompt_cache": sets("prefix_cache"),
        "mlx:quantize": every(by_bits(4, group=64, symmetric=False)),
        "mlx:QuantizedLinear.from_linear": by_bits(4, group=64, symmetric=False),
        "mlx:compile": sets("compile"),
    }
)
"""Rows."""
