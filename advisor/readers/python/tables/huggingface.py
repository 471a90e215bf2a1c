"""transformers, accelerate, bitsandbytes, optimum, peft and quantizers that load through them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Mapping as Mapping_
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Fact, Setting, named_precision
from advisor.readers.options.formats import AUTO
from advisor.readers.options.values import switch_of, whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    Rule,
    inside,
    model_fact,
    options,
    read,
)
from advisor.readers.python.rules import (
    by_bits,
    by_word,
    every,
    pruned,
    sets,
)
from advisor.readers.python.values import Made, Mapping, plain, symbol_of, usual

_ATTENDING: Final = ("Model", "For", "Pipeline", "LLM")


def _load(call: Call) -> Iterator[Found]:
    """`X.from_pretrained`: only of models; tokenizers and configs have names too."""
    owner = call.made.name.split(".")[-2] if "." in call.made.name else ""
    if owner.endswith("Config"):
        layers = call.plain("num_hidden_layers", "n_layer", "num_layers")
        if isinstance(layers, int) and layers > 0:
            kept = {"pattern": "layers", "storage": "removed", "kept": layers}
            yield call.found(Setting("prune", kept), "num_hidden_layers", "n_layer", "num_layers")
        yield from model_fact("pretrained_model_name_or_path")(call)
        return
    if not any(word in owner for word in _ATTENDING) or "Tokenizer" in owner:
        return
    if any(word in owner for word in OF_PICTURES):
        return
    if call.plain("use_fp8") is True:
        yield call.found(Setting("quantize", {"weights": "fp8"}), "use_fp8")
    if call.has("gguf_file"):
        yield from _expanded(call)
        return
    if call.made.name.partition(".")[0] in _OWN_WIDTHS:
        yield from _own_widths(call)
    engine = "openvino" if owner.startswith("OV") else "transformers"
    yield from options(engine, "model", within=("model_kwargs",))(call)
    layers = call.plain("num_hidden_layers")
    if isinstance(layers, int) and layers > 0:
        fields = {"pattern": "layers", "storage": "removed", "kept": layers}
        yield call.found(Setting("prune", fields), "num_hidden_layers")
    if call.has("load_in_low_bit"):
        yield from by_word("load_in_low_bit")(call)
    ov_config = call.value("ov_config")
    if ov_config is not None:
        yield from _ov_config(call, "ov_config")


OF_PICTURES: Final = (
    "ImageClassification", "ObjectDetection", "Segmentation", "DepthEstimation",
    "VideoClassification", "KeypointDetection", "MaskGeneration",
)  # fmt: skip
"""What models of pictures alone end in."""
_OWN_WIDTHS: Final = frozenset({"ipex_llm", "bigdl", "intel_extension_for_transformers"})


def _own_widths(call: Call) -> Iterator[Found]:
    """`load_in_4bit` of libraries that are not bitsandbytes."""
    for name, form in (("load_in_4bit", "int4"), ("load_in_8bit", "int8")):
        if name in call.made.keywords:
            given = call.made.keywords.pop(name)
            if switch_of(plain(given[1])) is not False:
                yield Found(Setting("quantize", {"weights": form}), given[0], call.hangs_on)


def _expanded(call: Call) -> Iterator[Found]:
    """`gguf_file`: transformers expands what is packed when it loads it."""
    name = call.plain("gguf_file")
    form = named_precision(name).weights if isinstance(name, str) else None
    yield call.found(Setting("quantize", {"weights": form or AUTO, "packed": False}), "gguf_file")


def _half(call: Call) -> Iterator[Found]:
    """`model.half()` of a model that is loaded in 32 bits, as old transformers load them."""
    made = call.made.receiver
    inner = usual(made) if made is not None else None
    loaded = isinstance(inner, Made) and inner.name.endswith("from_pretrained")
    if not isinstance(inner, Made) or not loaded or "For" not in inner.name:
        return
    stated = Call(inner, "", call.file).plain("torch_dtype", "dtype")
    wide = stated is ABSENT or str(stated).rpartition(".")[2] in {"float32", "float"}
    if wide and "quantization_config" not in inner.keywords:
        yield call.found(Fact("dtype", "fp32"))
        yield call.found(Setting("quantize", {"weights": "fp16"}))


def _to(call: Call) -> Iterator[Found]:
    """`model.to(torch.float16)`, as `half`."""
    given = call.plain("dtype", position=0)
    if isinstance(given, str) and given.rpartition(".")[2] in {"float16", "half", "bfloat16"}:
        yield from _half(call)


def _kivi(call: Call) -> Iterator[Found]:
    """KIVI's models read a cache of 2 or 4 bits by their own kernels."""
    yield from model_fact("pretrained_model_name_or_path")(call)
    if "k_bits" not in call.file.attributes:
        yield call.found(Setting("quantize", {"kv_cache": "int2"}))


def _sinks(call: Call) -> Iterator[Found]:
    """Attention sinks: the first tokens and a window of the last."""
    sizes = [
        whole_of(call.plain(*names, position=place))
        for names, place in (
            (("attention_sink_window_size", "recent_size", "window_length"), 2),
            (("attention_sink_size", "start_size", "num_sink_tokens"), 1),
        )
    ]
    kept = (sizes[0] or 0) + (sizes[1] or 0) if sizes[0] else None
    fields: dict[str, object] = {"pattern": "kv_tokens"} | ({"kept": kept} if kept else {})
    yield call.found(Setting("prune", fields))


def _layer_by_layer(call: Call) -> Iterator[Found]:
    """AirLLM: each layer is read from disk when its turn comes."""
    yield call.found(Setting("offload", {"weights": "unknown", "to": "nvme"}))
    yield from model_fact("pretrained_model_name_or_path")(call)
    bits = {"4bit": "nf4", "8bit": "int8-bnb"}.get(str(call.plain("compression")))
    if bits:
        yield call.found(Setting("quantize", {"weights": bits}), "compression")


def _zero_inference(call: Call) -> Iterator[Found]:
    """ZeRO stage 3 with parameters on the host or NVMe."""
    given = call.plain("config", "config_params", "config_file_or_dict", position=0)
    if isinstance(given, dict) and "optimizer" in given:
        return  # a training run
    zero = given.get("zero_optimization") if isinstance(given, dict) else None
    away = zero.get("offload_param") if isinstance(zero, dict) else None
    device = away.get("device") if isinstance(away, dict) else None
    if str(device) in {"cpu", "nvme"}:
        fields = {"weights": "unknown", "to": "nvme" if device == "nvme" else "host"}
        value = call.value("config", "config_params", "config_file_or_dict", position=0)
        found = call.found(Setting("offload", fields), "config", "config_params")
        node = inside(value, ("zero_optimization", "offload_param")) if value is not None else None
        yield found._replace(node=node or found.node)


def _ov_config(call: Call, name: str) -> Iterator[Found]:
    """OpenVINO's properties: KV_CACHE_PRECISION."""
    given = call.value(name)
    inner = usual(given) if given is not None else None
    if not isinstance(inner, Mapping):
        return
    for key, (place, value) in inner.entries.items():
        if key.upper().endswith("KV_CACHE_PRECISION"):
            yield from read("openvino", "kv_cache_precision", place, value, call.hangs_on)


def _device_map(call: Call) -> Iterator[Found]:
    yield from options("transformers")(call)


_NOT_TEXT: Final = re.compile(
    r"(?:image-(?!text-to-text)|object|video|depth|mask-gen|keypoint|audio-|text-to-(?:image|audio)"
    r"|zero-shot-(?:image|object|audio))"
)


def _is_of_pictures(call: Call) -> bool:
    task = call.plain("task", position=0)
    return isinstance(task, str) and _NOT_TEXT.match(task) is not None


def _pipeline(call: Call) -> Iterator[Found]:
    if _is_of_pictures(call):
        return
    yield from options("transformers", "task", "model", within=("model_kwargs",))(call)
    yield from _batch(call)


def _batch(call: Call) -> Iterator[Found]:
    """Sequences of one call of a pipeline."""
    given = call.plain("batch_size")
    number = whole_of(given) if given is not ABSENT else 1
    if number is None:
        yield call.found(Setting("batch", {"batch": "unknown"}), "batch_size")
    elif number > 1:
        yield call.found(Setting("batch", {"batch": number}), "batch_size")


def _piped(call: Call) -> Iterator[Found]:
    """A pipeline called: `pipe(prompts, batch_size=16)`."""
    maker = symbol_of(call.made.receiver) if call.made.receiver is not None else ""
    made = usual(call.made.receiver or call.made)
    if isinstance(made, Made) and _is_of_pictures(Call(made, "", call.file)):
        return
    if maker.endswith((".pipeline", "TextGenerationPipeline")):
        yield from _batch(call)
        yield from options("transformers")(call)


def _generate(call: Call) -> Iterator[Found]:
    """`model.generate(...)`: transformers' keywords."""
    yield from options("transformers")(call)
    past = call.value("past_key_values")
    cache = usual(past) if past is not None else None
    written = getattr(call.place("past_key_values"), "value", None)
    copied = isinstance(written, ast.Call) and ast.unparse(written.func).endswith("deepcopy")
    copied |= isinstance(cache, Made) and any(by.name.endswith("deepcopy") for by in cache.used_by)
    if copied:
        yield call.found(Setting("prefix_cache"), "past_key_values")


def _cache_config(call: Call) -> Iterator[Found]:
    """Bits of transformers' quantized cache, which is expanded before attention reads it."""
    bits = whole_of(call.plain("nbits", position=0))
    form = f"int{bits}" if bits in {2, 3, 4, 8} else "int4"
    yield call.found(Setting("quantize", {"kv_cache": form, "in_kernel": False}), "nbits")


def _window(*names: str) -> Rule:
    """A cache that keeps the last tokens."""

    def rule(call: Call) -> Iterator[Found]:
        kept = whole_of(call.plain(*names, position=0))
        fields: dict[str, object] = {"pattern": "kv_tokens"} | ({"kept": kept} if kept else {})
        yield call.found(Setting("prune", fields), *names)

    return rule


def _heads(call: Call) -> Iterator[Found]:
    fields: dict[str, object] = {"pattern": "heads", "storage": "removed"}
    given = call.plain("heads_to_prune", position=0)
    if isinstance(given, dict | list):
        listed = given.values() if isinstance(given, dict) else [given]
        count = sum(len(heads) for heads in listed if isinstance(heads, list))
        if not given:
            return
        fields |= {"dropped": count} if count else {}
    yield call.found(Setting("prune", fields))


def _fewer_kv_heads(family: str) -> Rule:
    """A config written by hand: KV heads fewer than heads, and a model inline."""

    def rule(call: Call) -> Iterator[Found]:
        heads = call.plain("num_attention_heads")
        kv_heads = call.plain("num_key_value_heads")
        if isinstance(kv_heads, int) and isinstance(heads, int) and 0 < kv_heads < heads:
            stated = {
                name: value
                for name in (*_SHAPE, "head_dim", "max_position_embeddings")
                if isinstance(value := call.plain(name), int)
            }
            config = {"model_type": family, **_SHAPE, **_SHAPES[family], **stated,
                      "num_key_value_heads": heads}  # fmt: skip
            yield call.found(Fact("inline_model", config))
            kind = {"variant": "mqa"} if kv_heads == 1 else {"variant": "gqa", "kv_heads": kv_heads}
            yield call.found(Setting("attention", kind), "num_key_value_heads")

    return rule


def _neuron(call: Call) -> Iterator[Found]:
    """Models compiled for Neuron cores: how many share the weights, the batch, the width."""
    size = whole_of(call.plain("num_cores", "tp_degree", "tensor_parallel_size"))
    if size is not None and size > 1:
        names = ("num_cores", "tp_degree", "tensor_parallel_size")
        yield call.found(Setting("tensor_parallel", {"size": size}), *names)
    yield from model_fact("model_id", "pretrained_model_name_or_path")(call)
    yield from _batch(call)


def _attention_set(call: Call) -> Iterator[Found]:
    """`model.set_attn_implementation("flash_attention_2")`."""
    value = call.value("attn_implementation", position=0)
    if value is not None:
        yield from read("transformers", "attn_implementation", call.made.node, value,
                        call.hangs_on, call.made)  # fmt: skip


# What the config classes hold where a call says nothing.
_SHAPE: Final = {
    "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "vocab_size": 32000,
}  # fmt: skip
_SHAPES: Final[Mapping_[str, Mapping_[str, int]]] = MappingProxyType(
    {
        "llama": {},
        "mistral": {"intermediate_size": 14336},
        "qwen2": {"intermediate_size": 22016, "vocab_size": 151936},
        "qwen3": {"intermediate_size": 22016, "vocab_size": 151936, "head_dim": 128},
    }
)

CALLS: Final[Rows] = MappingProxyType(
    {
        "transformers:from_pretrained": _load,
        "optimum:from_pretrained": _load,
        "ipex_llm:from_pretrained": _load,
        "bigdl:from_pretrained": _load,
        "intel_extension_for_transformers:from_pretrained": _load,
        ".half": _half,
        ".bfloat16": _half,
        ".to": _to,
        "*:LlamaForCausalLM_KIVI.from_pretrained": _kivi,
        "*:MistralForCausalLM_KIVI.from_pretrained": _kivi,
        "transformers:prune_linear_layer": pruned("heads", storage="removed"),
        "intel_extension_for_pytorch:get_weight_only_quant_qconfig_mapping": by_word(
            "weight_dtype", default="int8"
        ),
        "airllm:from_pretrained": _layer_by_layer,
        "transformers:HfDeepSpeedConfig": _zero_inference,
        "deepspeed:initialize": _zero_inference,
        "*:StartRecentKVCache": _sinks,
        "*:real_quantize_model_weight": by_bits(4, group=128, symmetric=False, position=1),
        "*:pseudo_quantize_model_weight": by_bits(4, group=128, position=1, packed=False),
        "attention_sinks:from_pretrained": every(
            _sinks, model_fact("pretrained_model_name_or_path")
        ),
        "*:enable_streaming_llm": _sinks,
        "ctransformers:from_pretrained": every(
            options("llamacpp"), model_fact("model_file", position=None)
        ),
        "transformers:pipeline": _pipeline,
        "transformers:TextGenerationPipeline": _pipeline,
        "()": _piped,
        ".generate": _generate,
        "transformers:GenerationConfig": _generate,
        "transformers:QuantizedCacheConfig": _cache_config,
        "transformers:QuantizedCache": sets("quantize", kv_cache=AUTO, in_kernel=False),
        "transformers:QuantoQuantizedCache": sets("quantize", kv_cache=AUTO, in_kernel=False),
        "transformers:HQQQuantizedCache": sets("quantize", kv_cache=AUTO, in_kernel=False),
        "transformers:StaticCache": sets("cuda_graphs"),
        "transformers:HybridCache": sets("cuda_graphs"),
        "transformers:OffloadedCache": sets("offload", kv_cache="unknown"),
        "transformers:OffloadedStaticCache": sets("offload", kv_cache="unknown"),
        "transformers:SinkCache": _window("window_length"),
        "transformers:SlidingWindowCache": _window("sliding_window"),
        ".to_bettertransformer": sets("attention_kernel", name="BetterTransformer"),
        "optimum:BetterTransformer.transform": sets("attention_kernel", name="BetterTransformer"),
        ".prune_heads": _heads,
        ".set_attn_implementation": _attention_set,
        **{
            f"optimum:NeuronModelFor{task}.from_pretrained": _neuron
            for task in ("CausalLM", "Seq2SeqLM")
        },
        **{
            f"transformers_neuronx:{name}.from_pretrained": _neuron
            for name in (
                "LlamaForSampling",
                "MistralForSampling",
                "GPTNeoXForSampling",
                "NeuronAutoModelForCausalLM",
                "OPTForSampling",
                "GPT2ForSampling",
                "BloomForSampling",
                "MixtralForSampling",
            )
        },
        "kernels:kernelize": sets("fuse", mode="kernels"),
        "habana_frameworks:wrap_in_hpu_graph": sets("cuda_graphs"),
        ".load_tp": sets("tensor_parallel", size="all"),
        "transformers:LlamaConfig": _fewer_kv_heads("llama"),
        "transformers:MistralConfig": _fewer_kv_heads("mistral"),
        "transformers:Qwen2Config": _fewer_kv_heads("qwen2"),
        "transformers:Qwen3Config": _fewer_kv_heads("qwen3"),
        "accelerate:infer_auto_device_map": _device_map,
        "accelerate:cpu_offload": sets("offload", weights="unknown"),
        "accelerate:cpu_offload_with_hook": sets("offload", weights="unknown"),
        "accelerate:disk_offload": sets("offload", weights="unknown", to="nvme"),
        "accelerate:load_checkpoint_and_dispatch": _device_map,
        "accelerate:dispatch_model": _device_map,
        "liger_kernel:apply_liger_kernel_to_llama": sets("fuse", mode="Liger"),
        "liger_kernel:AutoLigerKernelForCausalLM.from_pretrained": sets("fuse", mode="Liger"),
    }
)
"""Rows."""

__all__ = ["CALLS", "OF_PICTURES"]
