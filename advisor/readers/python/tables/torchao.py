"""torchao in all eras, gpt-fast's handlers, and other weight quantizers of PyTorch modules."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import OPEN, Setting
from advisor.readers.options.formats import AUTO, integer_format
from advisor.readers.options.values import whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    Rule,
)
from advisor.readers.python.rules import (
    by_bits,
    by_word,
    every,
    format_named,
    pruned,
    quantized,
)
from advisor.readers.python.values import Made, Symbol, usual

_FAKE: Final = frozenset(
    {"QATConfig", "IntXQuantizationAwareTrainingConfig", "FromIntXQuantizationAwareTrainingConfig"}
)
_NO_KERNEL: Final = (
    "a low-bit kernel: 8-bit activations with int4 weights have one on CPU and mobile only"
)


def _config(form: str | None, *, group: int | None = None, condition: str = "") -> Rule:
    """A config class: its format and its group; `_qat` reads those that QAT takes."""

    def rule(call: Call) -> Iterator[Found]:
        if _is_only_for_training(call):
            return
        given = call.plain("group_size", position=0)
        size = whole_of(given) if given is not ABSENT else None
        name = form or AUTO
        if name == "int4":
            name = integer_format(4, size if size is not None else group, symmetric=False)
        fields: dict[str, object] = {"weights": name}
        layout = call.value("layout")
        sparse = usual(layout) if layout is not None else None
        yield call.found(Setting("quantize", fields), condition=condition)
        if isinstance(sparse, Made) and "Sparse" in sparse.name:
            marlin = "marlin" in sparse.name.lower()
            more = {"storage": "2:4-packed", "kernel": "Sparse-Marlin" if marlin else "CUTLASS"}
            yield call.found(Setting("prune", {"pattern": "2:4", **more}), "layout")

    return rule


def _is_only_for_training(call: Call) -> bool:
    """Whether all that takes a config is `QATConfig`, which says where it acts."""
    return call.is_used_by == {"QATConfig"}


def _qat(call: Call) -> Iterator[Found]:
    """QATConfig(base_config, step=...): "prepare" simulates the base, "convert" packs it."""
    value = call.value("base_config", position=0)
    base = usual(value) if value is not None else None
    rule = CALLS.get(f"torchao:{base.name.rpartition('.')[2]}") if isinstance(base, Made) else None
    if not isinstance(base, Made) or rule is None:
        return
    packs = call.plain("step", position=3) == "convert"
    alone = Call(Made(base.node, base.name, base.args, base.keywords), call.hangs_on, call.file)
    for one in rule(alone):
        if isinstance(one.effect, Setting) and one.effect.kind == "quantize":
            fields = {**one.effect.fields, **({} if packs else {"packed": False})}
            effect = one.effect._replace(fields=fields)
            yield call.found(effect, condition=one.condition if packs else "")


def _by_dtype(call: Call) -> Iterator[Found]:
    """IntxWeightOnlyConfig(weight_dtype=torch.int4), UIntXWeightOnlyConfig(torch.uint4)."""
    if _is_only_for_training(call):
        return
    given = call.plain("weight_dtype", "dtype", position=0)
    form = format_named(given) if isinstance(given, str) else None
    fields: dict[str, object] = {"weights": form or ("int8" if given is ABSENT else AUTO)}
    yield call.found(Setting("quantize", fields))


def _open(call: Call) -> Iterator[Found]:
    """quantize_(model, config) whose config nobody states: the width is open."""
    given = call.value("config", "apply_tensor_subclass", position=1)
    value = usual(given) if given is not None else None
    is_open = call.plain("config", "apply_tensor_subclass", position=1) is OPEN
    if value is not None and is_open and not isinstance(value, Made | Symbol):
        yield call.found(Setting("quantize", {"weights": AUTO}))


def _fake_config(call: Call) -> Iterator[Found]:
    """A fake quantizer's config: rounding in wide tensors."""
    given = call.plain("dtype", position=0)
    form = format_named(given) if isinstance(given, str) else None
    held = bool(_FAKE & call.is_used_by) and "activation_config" not in _holders(call)
    second = any(call.made in made.args[1:] for made in call.made.used_by)
    if held and ("weight_config" in _holders(call) or second):
        yield call.found(Setting("quantize", {"weights": form or AUTO, "packed": False}))


def _holders(call: Call) -> frozenset[str]:
    return frozenset(
        name
        for made in call.made.used_by
        for name, (_, value) in made.keywords.items()
        if value is call.made
    )


def _qat_quantizer(form: str) -> Rule:
    return quantized(form, packed=False, packed_by=frozenset({"convert"}))


def _fixed(form: str) -> Rule:
    """A config class of one format."""
    inner = quantized(form)

    def rule(call: Call) -> Iterator[Found]:
        if not _is_only_for_training(call):
            yield from inner(call)

    return rule


_INT8: Final = _fixed("int8")
_FP8: Final = _fixed("fp8")
_MOBILE_INT4: Final = _config("int4", group=32, condition=_NO_KERNEL)

CALLS: Final[Rows] = MappingProxyType(
    {
        f"torchao:{name}": rule
        for name, rule in {
            "Int4WeightOnlyConfig": _config("int4", group=128),
            "int4_weight_only": _config("int4", group=128),
            "Int8WeightOnlyConfig": _INT8,
            "int8_weight_only": _INT8,
            "Int8DynamicActivationInt8WeightConfig": _INT8,
            "Int8StaticActivationInt8WeightConfig": _INT8,
            "int8_dynamic_activation_int8_weight": _INT8,
            "int8_dynamic_activation_int8_semi_sparse_weight": every(
                _INT8, pruned("2:4", storage="2:4-packed")
            ),
            "Int8DynamicActivationInt4WeightConfig": _MOBILE_INT4,
            "Int8DynamicActivationIntxWeightConfig": _by_dtype,
            "int8_dynamic_activation_int4_weight": _MOBILE_INT4,
            "Int4DynamicActivationInt4WeightConfig": _config("int4"),
            "Int4DynActInt4WeightConfig": _config("int4"),
            "Float8WeightOnlyConfig": _FP8,
            "float8_weight_only": _FP8,
            "Float8DynamicActivationFloat8WeightConfig": _FP8,
            "float8_dynamic_activation_float8_weight": _FP8,
            "Float8StaticActivationFloat8WeightConfig": _FP8,
            "float8_static_activation_float8_weight": _FP8,
            "Float8DynamicActivationFloat8SemiSparseWeightConfig": every(
                _FP8, pruned("2:4", storage="2:4-packed")
            ),
            "Float8DynamicActivationInt4WeightConfig": _config("int4", group=128),
            "NVFP4WeightOnlyConfig": _fixed("nvfp4"),
            "NVFP4DynamicActivationNVFP4WeightConfig": _fixed("nvfp4"),
            "NVFP4InferenceConfig": _fixed("nvfp4"),
            "MXFPInferenceConfig": _fixed("mxfp8"),
            "MXDynamicActivationMXWeightConfig": _fixed("mxfp8"),
            "IntxWeightOnlyConfig": _by_dtype,
            "UIntXWeightOnlyConfig": _by_dtype,
            "uintx_weight_only": _by_dtype,
            "intx_weight_only": _by_dtype,
            "FPXWeightOnlyConfig": quantized("fp6"),
            "fpx_weight_only": quantized("fp6"),
            "GemliteUIntXWeightOnlyConfig": by_bits(4, group=128, symmetric=False),
            "gemlite_uintx_weight_only": by_bits(4, group=128, symmetric=False),
            "change_linear_weights_to_int8_dqtensors": quantized("int8"),
            "change_linear_weights_to_int8_woqtensors": quantized("int8"),
            "change_linear_weights_to_int4_woqtensors": _config("int4", group=128),
            "autoquant": quantized(AUTO),
            "quantize_": _open,
            "QATConfig": _qat,
            "Int4WeightOnlyQuantizer": _config("int4", group=256),
            "Int4WeightOnlyGPTQQuantizer": _config("int4", group=128),
            "Int8DynActInt4WeightQuantizer": _MOBILE_INT4,
            "Int8DynActInt4WeightGPTQQuantizer": _MOBILE_INT4,
            "Int8DynActInt4WeightQATQuantizer": _qat_quantizer("int4"),
            "Int4WeightOnlyQATQuantizer": _qat_quantizer("int4"),
            "Float8ActInt4WeightQATQuantizer": _qat_quantizer("int4"),
            "FakeQuantizeConfig": _fake_config,
            "IntxFakeQuantizeConfig": _fake_config,
            "Int4WeightFakeQuantizeConfig": quantized("int4", packed=False),
            "semi_sparse_weight": pruned("2:4", storage="2:4-packed"),
            "SemiSparseWeightConfig": pruned("2:4", storage="2:4-packed"),
            "apply_fake_sparsity": pruned("2:4", storage="dense"),
            "apply_sparse_semi_structured": pruned("2:4", storage="2:4-packed"),
            "block_sparse_weight": pruned("block", storage="bsr"),
            "BlockSparseWeightConfig": pruned("block", storage="bsr"),
            "WandaSparsifier": pruned("unstructured", "sparsity_level", position=0),
            "SmoothQuantConfig": _INT8,
            "HQQConfig": by_bits(4, group=64),
            "CodebookWeightOnlyConfig": by_word("dtype", position=0, default="int4"),
        }.items()
    }
    | {
        "*:WeightOnlyInt8QuantHandler": quantized("int8"),
        "*:WeightOnlyInt4QuantHandler": by_bits(4, group=128, position=9, symmetric=False),
        "*:WeightOnlyInt4GPTQQuantHandler": by_bits(4, group=128, position=9, symmetric=False),
        "torchtune:Int8DynActInt4WeightQATQuantizer": _qat_quantizer("int4"),
        "torchtune:Int8DynActInt4WeightQuantizer": _MOBILE_INT4,
        "torchtune:Int4WeightOnlyQuantizer": _config("int4", group=128),
        "torchtune:Int4WeightOnlyQATQuantizer": _qat_quantizer("int4"),
    }
)
"""Rows."""
