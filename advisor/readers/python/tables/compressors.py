"""modelopt and neural-compressor: configs as objects, constants and dicts."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.options.formats import AUTO, MIXED, integer_format
from advisor.readers.options.values import mapping_of, whole_of
from advisor.readers.python.calls import (
    Call,
    Found,
    Rows,
)
from advisor.readers.python.rules import (
    by_bits,
    pruned,
    quantized,
    sets,
)
from advisor.readers.python.values import Made, Mapping, Sequence, Value, alternatives, plain, usual

# modelopt

_MODELOPT: Final = (
    ("NVFP4_KV", "", "nvfp4"), ("FP8_KV", "", "fp8"), ("FP8_AFFINE_KV", "", "fp8"),
    ("NVFP4", "nvfp4", ""), ("MXFP4", "mxfp4", ""), ("MXFP8", "mxfp8", ""), ("MXINT8", "int8", ""),
    ("W4A8_NVFP4", "nvfp4", ""), ("W4A8_MXFP4", "mxfp4", ""),
    ("W4A8", "awq", ""), ("INT4_AWQ", "awq", ""), ("INT4", "int4-g128", ""), ("FP8", "fp8", ""),
    ("INT8", "int8", ""), ("MXFP6", "fp6", ""),
)  # fmt: skip
"""Beginnings of modelopt's constants: weight format, cache format."""


def _modelopt(name: str) -> tuple[str, str]:
    last = name.rpartition(".")[2].upper()
    return next(((form, kv) for start, form, kv in _MODELOPT if last.startswith(start)), ("", ""))


def _mtq(call: Call) -> Iterator[Found]:
    """mtq.quantize(model, mtq.FP8_DEFAULT_CFG, forward_loop)."""
    value = call.value("config", position=1)
    given = False
    for option, condition in alternatives(value) if value is not None else ():
        name = _constant(option)
        form, cache = _modelopt(name)
        for key, known in (("weights", form), ("kv_cache", cache)):
            if known:
                given = True
                found = call.found(Setting("quantize", {key: known}), "config")
                yield found._replace(condition=found.condition or condition)
    if not given:
        yield call.found(Setting("quantize", {"weights": AUTO}), "config")


def _constant(value: Value) -> str:
    """The constant a config comes from, through copies and updates."""
    for _ in range(4):
        value = usual(value)
        if isinstance(value, Made) and value.receiver is not None:
            value = value.receiver
        elif isinstance(value, Made) and value.args:
            value = value.args[0]
    name = getattr(value, "name", "")
    return name if isinstance(name, str) else ""


def _with_cache(call: Call) -> Iterator[Found]:
    """A config that takes in one of the constants for the cache: `cfg.update(mtq.FP8_KV_CFG)`."""
    for value in call.made.args:
        _, cache = _modelopt(_constant(value).partition("[")[0])
        if cache:
            yield call.found(Setting("quantize", {"kv_cache": cache}))


def _mtq_auto(call: Call) -> Iterator[Found]:
    yield call.found(Setting("quantize", {"weights": MIXED}))


def _mtp(call: Call) -> Iterator[Found]:
    """mtp.prune: what the exported shape, or the FLOPs, take out."""
    inner = usual(call.value("constraints", position=2) or call.made)
    export = None
    if isinstance(inner, Mapping) and "export_config" in inner.entries:
        export = usual(inner.entries["export_config"][1])
    patterns = {"num_layers": "layers", "ffn_hidden_size": "channels", "hidden_size": "channels",
                "num_attention_heads": "heads", "moe_ffn_hidden_size": "channels",
                "num_moe_experts": "experts", "mamba_num_heads": "heads"}  # fmt: skip
    named: dict[str, Found] = {}
    if isinstance(export, Mapping):
        for key, (place, value) in export.entries.items():
            if key in patterns:
                fields: dict[str, object] = {
                    "pattern": patterns[key], "storage": "removed", "sparsity": "unknown",
                }  # fmt: skip
                if key == "ffn_hidden_size" and isinstance(count := plain(value), int):
                    fields = {"pattern": "channels", "storage": "removed", "width": count}
                if key == "num_layers" and isinstance(count := plain(value), int):
                    fields = {"pattern": "layers", "storage": "removed", "kept": count}
                found = Found(Setting("prune", fields), place, call.hangs_on, call=call.made)
                named.setdefault(patterns[key], found)
    yield from named.values()
    if not named:
        fields = {"pattern": "channels", "storage": "removed", "sparsity": "unknown"}
        yield call.found(Setting("prune", fields), "constraints")


def _mtsp(call: Call) -> Iterator[Found]:
    """mtsp.convert(model, [("eagle", config)])."""
    inner = usual(call.value("mode", position=1) or call.made)
    first = usual(inner.items[0]) if isinstance(inner, Sequence) and inner.items else inner
    word = plain(first.items[0]) if isinstance(first, Sequence) and first.items else plain(first)
    fields = {"method": word} if isinstance(word, str) else {}
    yield call.found(Setting("speculate", fields), "mode")


# neural-compressor


def _fp8_config(call: Call) -> Iterator[Found]:
    yield call.found(Setting("quantize", {"weights": "fp8"}))
    allowed = call.plain("allowlist")
    types = allowed.get("types") if isinstance(allowed, dict) else None
    if isinstance(types, list) and any("KVCache" in str(word) for word in types):
        yield call.found(Setting("quantize", {"kv_cache": "fp8"}), "allowlist")


def _post_training(call: Call) -> Iterator[Found]:
    """PostTrainingQuantConfig: int8 by default, weight-only with the bits of its table."""
    if call.plain("approach") != "weight_only":
        yield call.found(Setting("quantize", {"weights": "int8"}))
        return
    table = call.plain("op_type_dict")
    bits = 4
    for entry in table.values() if isinstance(table, dict) else ():
        weight = mapping_of((mapping_of(entry) or {}).get("weight")) or {}
        bits = whole_of(weight.get("bits")) or bits
    yield call.found(Setting("quantize", {"weights": integer_format(bits, 32)}), "op_type_dict")


def _weight_pruning(call: Call) -> Iterator[Found]:
    """WeightPruningConfig([{"pattern": "4x1", "target_sparsity": 0.8}])."""
    listed = call.value("pruning_configs", position=0)
    inner = usual(listed) if listed is not None else None
    own = {key: plain(value) for key, (_, value) in call.made.keywords.items()}
    items = inner.items if isinstance(inner, Sequence) else []
    for item in items or [call.made]:
        entry = {**own, **(plain(item) if isinstance(usual(item), Mapping) else {})}  # type: ignore[dict-item]
        found = call.found(Setting("prune", _pattern(entry)))
        yield found._replace(node=item.node) if items else found


def _pattern(entry: dict[str, object]) -> dict[str, object]:
    word = str(entry.get("pattern", "4x1"))
    share = entry.get("target_sparsity", 0.9)
    sparsity = share if isinstance(share, float) else "unknown"
    if word in {"2:4", "4:8"}:
        return {"pattern": "2:4"}
    if word == "1x1":
        return {"pattern": "unstructured", "storage": "dense", "sparsity": sparsity}
    if "channel" in word:
        return {"pattern": "channels", "storage": "masked", "sparsity": sparsity}
    if word.startswith(("mha", "head")):
        return {"pattern": "heads", "storage": "masked", "sparsity": sparsity}
    return {"pattern": "block", "sparsity": sparsity}


_INC: Final = "neural_compressor"
_INC_ROWS: Final = {
    **dict.fromkeys(
        (
            "RtnConfig",
            "AwqConfig",
            "TeqConfig",
            "RTNConfig",
            "GPTQConfig",
            "AWQConfig",
            "HQQConfig",
            "AutoRoundConfig",
            "TEQConfig",
        ),
        by_bits(4, group=32, words=("scheme", "data_type", "dtype")),
    ),
    "INT8WeightOnlyConfig": quantized("int8"),
    "FP8Config": _fp8_config,
    "SmoothQuantConfig": quantized("int8"),
    "StaticQuantConfig": quantized("int8"),
    "DynamicQuantConfig": quantized("int8"),
    "MXQuantConfig": quantized("mxfp8"),
    "MixedPrecisionConfig": quantized("fp16"),
    "PostTrainingQuantConfig": _post_training,
    "QuantizationAwareTrainingConfig": quantized("int8", packed=False),
    "WeightPruningConfig": _weight_pruning,
    "DistillationConfig": sets("distill", model="unknown"),
    "KnowledgeDistillationLossConfig": sets("distill", model="unknown"),
}


CALLS: Final[Rows] = MappingProxyType(
    {
        **{f"{_INC}:{name}": rule for name, rule in _INC_ROWS.items()},
        "modelopt:mtq.quantize": _mtq,
        "modelopt:quantization.quantize": _mtq,
        "modelopt:auto_quantize": _mtq_auto,
        "modelopt:update": _with_cache,
        "modelopt:update_quant_cfg_with_kv_cache_quant": _with_cache,
        "modelopt:sparsity.sparsify": pruned("2:4", storage=None),
        "modelopt:sparsify": pruned("2:4", storage=None),
        "modelopt:prune.prune": _mtp,
        "modelopt:pruning.prune": _mtp,
        "modelopt:distill.convert": sets("distill", model="unknown"),
        "modelopt:speculative.convert": _mtsp,
        "nvidia_modelopt:auto_quantize": _mtq_auto,
    }
)  # fmt: skip
"""Rows."""
