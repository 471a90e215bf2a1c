"""Quantizers of other frameworks and devices: JAX, Keras' kin, AI Edge, AIMET, NPUs, vendors."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.options.formats import AUTO, integer_format, kv_format, weight_format
from advisor.readers.options.values import whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    model_fact,
)
from advisor.readers.python.rules import (
    by_bits,
    by_word,
    format_named,
    quantized,
    sets,
)
from advisor.readers.python.values import Symbol, usual


def _template(call: Call) -> Iterator[Found]:
    """Quark's `LLMTemplate.get("llama").get_config(scheme="mxfp4", kv_cache_scheme="fp8")`."""
    word = call.plain("scheme", position=0)
    if isinstance(word, str):
        form = weight_format(word) or format_named(word.partition("_")[0]) or AUTO
        yield call.found(Setting("quantize", {"weights": form}), "scheme")
    cache = call.plain("kv_cache_scheme")
    if isinstance(cache, str) and (known := kv_format(cache)):
        yield call.found(Setting("quantize", {"kv_cache": known}), "kv_cache_scheme")


def _simulated(call: Call) -> Iterator[Found]:
    """AIMET's simulation: rounded weights in wide tensors, until they are exported."""
    bits = whole_of(call.plain("default_param_bw", position=None))
    form = integer_format(8 if bits is None else bits, None)
    if bits is None or bits <= 8:
        yield call.found(
            Setting("quantize", {"weights": form, "packed": False}), "default_param_bw"
        )


def _rule(call: Call) -> Iterator[Found]:
    """qwix: QuantizationRule(weight_qtype="int4")."""
    given = call.plain("weight_qtype")
    form = format_named(given) if isinstance(given, str) else None
    if form:
        yield call.found(Setting("quantize", {"weights": form}), "weight_qtype")


_FILE_TYPE: Final = "LLAMA_FTYPE_MOSTLY_"


def _file_type(call: Call) -> Iterator[Found]:
    """llama.cpp's parameters of a quantization: the type of the file that it writes."""
    for value in call.made.args:
        inner = usual(value)
        last = inner.name.rpartition(".")[2] if isinstance(inner, Symbol) else ""
        form = weight_format(last.removeprefix(_FILE_TYPE)) if last.startswith(_FILE_TYPE) else None
        if form:
            yield call.found(Setting("quantize", {"weights": form}))


def _npu(call: Call) -> Iterator[Found]:
    """Intel's NPU library: `compile(model, CompilerConfig(dtype=int4))`, or a dtype itself."""
    given = call.plain("dtype", position=1)
    form = format_named(given) if isinstance(given, str) else None
    if form and form.startswith("int"):
        yield call.found(Setting("quantize", {"weights": form}), "dtype")


def _created(call: Call) -> Iterator[Found]:
    """`ollama.create(model="m", from_="base", quantize="q4_K_M")`."""
    if call.plain("quantize") is not ABSENT:
        yield from by_word("quantize")(call)


CALLS: Final[Rows] = MappingProxyType(
    {
        ".get_config": _template,
        "aimet_torch:QuantizationSimModel": _simulated,
        "aimet_onnx:QuantizationSimModel": _simulated,
        "brevitas:layerwise_quantize": quantized(AUTO, packed=False),
        "brevitas:quantize_model": by_bits(8, names=("weight_bit_width",), packed=False),
        "brevitas_examples:quantize_model": by_bits(8, names=("weight_bit_width",), packed=False),
        "qwix:QuantizationRule": _rule,
        "ai_edge_torch:full_int8_dynamic_recipe": quantized("int8"),
        "ai_edge_torch:full_int8_weight_only_recipe": quantized("int8"),
        "ai_edge_torch:full_int4_dynamic_block_recipe": quantized("int4"),
        "ai_edge_torch:full_int4_weight_only_recipe": quantized("int4"),
        "ai_edge_torch:full_fp16_recipe": quantized("fp16"),
        "intel_npu_acceleration_library:compile": _npu,
        "intel_npu_acceleration_library:CompilerConfig": _npu,
        "vptq:AutoModelForCausalLM.from_pretrained": quantized(AUTO),
        "aqlm:QuantizedLinear": quantized("aqlm"),
        "quip_sharp:model_from_hf_path": quantized("quip"),
        "llama_cpp:llama_model_quantize_params": _file_type,
        "onnxruntime_genai:Model": model_fact(),
        "ollama:create": _created,
        "thunder:jit": sets("compile"),
        "thunder:compile": sets("compile"),
        "tensorflow_model_optimization:quantize_model": quantized("int8", packed=False),
    }
)
"""Rows."""
