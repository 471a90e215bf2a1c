"""Quantizers that load through transformers: bitsandbytes, AWQ, GPTQ, HQQ, quanto and others."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import OPEN, Fact, Setting
from advisor.readers.options.formats import AUTO, MIXED
from advisor.readers.options.values import switch_of, whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    model_fact,
)
from advisor.readers.python.rules import by_bits, by_word, every, format_named, quantized
from advisor.readers.python.values import Mapping, usual


def _bits_and_bytes(call: Call) -> Iterator[Found]:
    for name, form in (("load_in_4bit", "nf4"), ("load_in_8bit", "int8-bnb")):
        given = call.plain(name)
        if given is not ABSENT and switch_of(given) is not False:
            double = call.plain("bnb_4bit_use_double_quant") is True
            fields = {"weights": "nf4-dq" if double and form == "nf4" else form}
            condition = "the switch, which is left open" if given is OPEN else ""
            yield call.found(Setting("quantize", fields), name, condition=condition)
            return


def _saved(call: Call) -> Iterator[Found]:
    """llm-compressor's switch by which a 2:4 pattern is stored with its zeros."""
    if call.plain("disable_sparse_compression") is True:
        yield call.found(
            Setting("prune", {"pattern": "2:4", "storage": "dense"}), "disable_sparse_compression"
        )


def _unsloth(call: Call) -> Iterator[Found]:
    """`FastLanguageModel.from_pretrained` loads in 4 bits where nothing else is said."""
    others = ("load_in_8bit", "load_in_16bit", "full_finetuning", "load_in_fp8", "dtype")
    if call.plain("load_in_4bit") is ABSENT and not call.has(*others):
        yield call.found(Setting("quantize", {"weights": "nf4"}))
        return
    yield from _bits_and_bytes(call)


def _rounded(call: Call) -> Iterator[Found]:
    """SmoothQuant's fake_quant: values of 8 bits that stay in 16."""
    yield call.found(Setting("quantize", {"weights": "int8", "packed": False}))


def _bits_and_bytes_mode(call: Call) -> Iterator[Found]:
    """Lightning's plugin: "nf4", "nf4-dq", "fp4", "int8", "int8-training"."""
    mode = str(call.plain("mode", position=0))
    form = "int8-bnb" if mode.startswith("int8") else "nf4-dq" if mode.endswith("dq") else "nf4"
    yield call.found(Setting("quantize", {"weights": form}), "mode")


def _awq_config(call: Call) -> Iterator[Found]:
    yield from by_bits(4, group=128, symmetric=False)(call)
    if call.plain("do_fuse") is True or call.plain("fuse_layers") is True:
        yield call.found(Setting("fuse", {"mode": "layers"}), "do_fuse", "fuse_layers")


def _awq_load(call: Call) -> Iterator[Found]:
    yield from by_bits(4, group=128, symmetric=False)(call)
    yield from model_fact("quant_path", "model_path")(call)
    if call.plain("fuse_layers") is not False:
        yield call.found(Setting("fuse", {"mode": "layers"}), "fuse_layers")
    batch = call.plain("batch_size", "max_batch_size")
    if batch == 1:
        yield call.found(Fact("batch_limit", 1))


def _fused(call: Call) -> Iterator[Found]:
    if call.plain("fuse_layers") is True:
        yield call.found(Setting("fuse", {"mode": "layers"}), "fuse_layers")


def _quant_config_argument(call: Call) -> Iterator[Found]:
    """`model.quantize(tokenizer, quant_config={"w_bit": 4, "q_group_size": 128})`."""
    word = call.plain("mode", position=0)
    if isinstance(word, str) and word in {"int8", "int4", "float8", "gptq"}:  # Keras
        form = {"float8": "fp8", "gptq": "int4"}.get(word, word)
        yield call.found(Setting("quantize", {"weights": form}), "mode")
        return
    inner = usual(call.value("quant_config", "quantize_config", position=1) or call.made)
    if isinstance(inner, Mapping) and inner.entries:
        made = type(call.made)(inner.node, "", [], dict(inner.entries))
        yield from by_bits(4, group=128, symmetric=False)(Call(made, call.hangs_on, call.file))


def _hqq(call: Call) -> Iterator[Found]:
    """HqqConfig: one width, or `dynamic_config` with widths by layer."""
    table = call.plain("dynamic_config")
    entries = table.values() if isinstance(table, dict) else ()
    stated = [one.get("nbits") for one in entries if isinstance(one, dict)]
    listed = [bits for one in stated if (bits := whole_of(one))]
    widths = set(listed)
    if len(widths) > 1:
        fields = {"weights": MIXED, "mean_bits": sum(listed) / len(listed)}
        yield call.found(Setting("quantize", fields), "dynamic_config")
        return
    if widths:
        bits = widths.pop()
        form = f"int{bits}" if 1 <= bits <= 8 else AUTO
        yield call.found(Setting("quantize", {"weights": form}), "dynamic_config")
        return
    yield from by_bits(4, group=64, symmetric=False)(call)


def _mxfp4(call: Call) -> Iterator[Found]:
    """Mxfp4Config: packed, unless it is expanded when it is loaded."""
    if call.plain("dequantize") is not True:
        yield call.found(Setting("quantize", {"weights": "mxfp4"}))


def _torchao_config(call: Call) -> Iterator[Found]:
    """TorchAoConfig("int4_weight_only", group_size=128), or a config object with its own row."""
    given = call.plain("quant_type", position=0)
    if isinstance(given, str):
        form = format_named(given) or ("fp8" if "float8" in given else AUTO)
        if given.startswith("int8_dynamic_activation_int4"):
            form = "int4"
        elif given.startswith("int8_"):
            form = "int8"
        elif given == "autoquant":
            form = AUTO
        yield call.found(Setting("quantize", {"weights": form}))


def _quanto(call: Call) -> Iterator[Found]:
    yield from by_word("weights", default="int8")(call)


def _neuron_width(call: Call) -> Iterator[Found]:
    """transformers-neuronx: QuantizationConfig(quant_dtype="s8")."""
    word = call.plain("quant_dtype", position=0)
    form = {"s8": "int8", "f8e4m3fn": "fp8"}.get(word) if isinstance(word, str) else None
    if form:
        yield call.found(Setting("quantize", {"weights": form}), "quant_dtype")


CALLS: Final[Rows] = MappingProxyType(
    {
        "transformers:BitsAndBytesConfig": _bits_and_bytes,
        "accelerate:BnbQuantizationConfig": _bits_and_bytes,
        "transformers:GPTQConfig": by_bits(4, group=128, symmetric=False, position=0),
        "transformers:AwqConfig": _awq_config,
        "transformers:AWQConfig": _awq_config,
        "transformers:HqqConfig": _hqq,
        "transformers:QuantoConfig": _quanto,
        "transformers:EetqConfig": quantized("int8"),
        "transformers:FbgemmFp8Config": quantized("fp8-channel"),
        "transformers:FineGrainedFP8Config": quantized("fp8-block128"),
        "transformers:CompressedTensorsConfig": quantized(AUTO),
        "transformers:AqlmConfig": by_bits(2, names=("nbits_per_codebook_group",)),
        "transformers:VptqConfig": quantized(AUTO),
        "transformers:HiggsConfig": by_bits(4),
        "transformers:SpQRConfig": by_bits(3),
        "transformers:BitNetQuantConfig": quantized("ternary"),
        "transformers:BitNetConfig": quantized("ternary"),
        "transformers:Mxfp4Config": _mxfp4,
        "transformers:FPQuantConfig": quantized("mxfp4"),
        "transformers:AutoRoundConfig": by_bits(4),
        "transformers:QuarkConfig": quantized(AUTO),
        "transformers:TorchAoConfig": _torchao_config,
        **{
            f"smoothquant:{name}": _rounded
            for name in (
                "quantize_model",
                "quantize_opt",
                "quantize_llama_like",
                "quantize_mixtral",
                "quantize_falcon",
            )
        },
        ".save_pretrained_gguf": by_word("quantization_method", position=2, default="q8_0"),
        ".push_to_hub_gguf": by_word("quantization_method", position=2, default="q8_0"),
        ".save_pretrained": _saved,
        "unsloth:from_pretrained": every(_unsloth, model_fact("model_name")),
        "transformers:SinqConfig": by_bits(4, group=64),
        "lightning:BitsandbytesPrecision": _bits_and_bytes_mode,
        "optimum:GPTQQuantizer": by_bits(4, group=128, symmetric=False, position=0),
        "transformers_neuronx:QuantizationConfig": _neuron_width,
        "peft:LoftQConfig": by_bits(4, names=("loftq_bits",), packed=False),
        "bitsandbytes:Linear8bitLt": quantized("int8-bnb"),
        "bitsandbytes:Linear4bit": quantized("nf4"),
        "bitsandbytes:LinearNF4": quantized("nf4"),
        "bitsandbytes:LinearFP4": quantized("nf4"),
        "bitsandbytes:Params4bit": quantized("nf4"),
        "bitsandbytes:Int8Params": quantized("int8-bnb"),
        "bitsandbytes:quantize_4bit": quantized("nf4"),
        "bitsandbytes:quantize_nf4": quantized("nf4"),
        "bitsandbytes:quantize_fp4": quantized("nf4"),
        "awq:AutoAWQForCausalLM.from_quantized": _awq_load,
        "awq:AutoAWQForCausalLM.from_pretrained": model_fact("model_path"),
        ".quantize": _quant_config_argument,
        "auto_gptq:BaseQuantizeConfig": by_bits(4, group=128, symmetric=False),
        "auto_gptq:from_quantized": every(
            by_bits(4, group=128, symmetric=False), _fused, model_fact("model_name_or_path")
        ),
        "gptqmodel:QuantizeConfig": by_bits(4, group=128, symmetric=False, position=0),
        **{
            f"gptqmodel:GPTQModel.{name}": model_fact("model_id_or_path")
            for name in ("load", "from_quantized", "from_pretrained")
        },
        "hqq:BaseQuantizeConfig": by_bits(4, group=64, symmetric=False),
        "hqq:AutoHQQHFModel.from_quantized": by_bits(4, group=64, symmetric=False),
        "auto_round:AutoRound": by_bits(4, words=("scheme", "data_type")),
        "auto_round:AutoRoundConfig": by_bits(4, words=("scheme", "data_type")),
        "auto_round:AutoScheme": quantized(MIXED),
        "optimum:quantize": _quanto,
        "quanto:quantize": _quanto,
        "optimum:QuantizedModelForCausalLM.quantize": _quanto,
        "eetq:eet_quantize": quantized("int8"),
        "eetq:EETQCausalLM": quantized("int8"),
        "intel_extension_for_transformers:WeightOnlyQuantConfig": by_bits(
            4, words=("weight_dtype",)
        ),
        "intel_extension_for_transformers:RtnConfig": by_bits(4, words=("weight_dtype",)),
        "ipex_llm:optimize_model": by_word("low_bit", default="int4"),
        "bigdl:optimize_model": by_word("low_bit", default="int4"),
    }
)
"""Rows."""
