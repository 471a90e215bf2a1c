"""Quantization methods: from the words of a config to format names and module lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from advisor.ledger.families.keys import UnsupportedModelError
from advisor.ledger.module_patterns import other_expert

_KEPT_KEYS: Final = (
    "ignore",
    "modules_to_not_convert",
    "exclude_modules",
    "llm_int8_skip_modules",
    "skip_modules",
    "ignored_layers",
    "exclude",
)
_MODELOPT: Final[Mapping[str, str | None]] = {
    "NVFP4": "nvfp4",
    "NVFP4_AWQ": "nvfp4",
    "W4A16_NVFP4": "nvfp4",
    "W4A8_NVFP4_FP8": "nvfp4",
    "FP8": "fp8",
    "FP8_PER_CHANNEL_PER_TOKEN": "fp8-channel",
    "FP8_PB_WO": "fp8-block128",
    "FP8_PB_REAL": "fp8-block128",
    "MXFP8": "mxfp8",
    "MXFP4": "mxfp4",
    "W4A8_MXFP4_FP8": "mxfp4",
    "W4A16_MXFP4": "mxfp4",
    "W4A16_AWQ": "int4-g128",
    "W4A8_AWQ": "int4-g128",
    "INT4_AWQ": "int4-g128",
    "W8A8_SQ_PER_CHANNEL": "int8",
    "INT8_SQ": "int8",
    "INT8": "int8",
    "W8A16": "int8",
    "NO_QUANT": None,
}
_MIXED: Final = "MIXED_PRECISION"


class Rules(NamedTuple):
    """What a quantization config says, before its module names are matched."""

    default: str | None = None
    """Format of the linear layers that nothing else names."""
    kept: tuple[str, ...] = ()
    """Module patterns that stay wide."""
    named: Mapping[str, tuple[str, ...]] = {}
    """Module patterns by the format they are stored in."""
    head: bool = False
    """The output head is covered too."""
    experts_only: bool = False
    everything: bool = False
    """Embeddings, head and routers are covered too (MLX)."""
    where: str = "quantization_config"
    """Under which key, or in which file, all this is written."""


class _Config:
    """A quantization config with checked access."""

    def __init__(self, raw: Mapping[str, object], model_type: str, where: str) -> None:
        self.raw = raw
        self.model_type = model_type
        self.where = where

    def error(self, reason: str, key: str = "") -> UnsupportedModelError:
        name = f"{self.where}.{key}" if key else self.where
        return UnsupportedModelError(self.model_type, reason, name)

    def whole(self, key: str, default: int | None = None, *, aliases: tuple[str, ...] = ()) -> int:
        for name in (key, *aliases):
            value = self.raw.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= 65536:
                raise self.error(f"{name} = {value!r} is no group size or bit width", name)
            return value
        if default is None:
            raise self.error(f"{key} is missing, and the stored bytes depend on it", key)
        return default

    def text(self, key: str) -> str:
        value = self.raw.get(key)
        return value if isinstance(value, str) else ""

    def mapping(self, key: str) -> Mapping[str, object]:
        value = self.raw.get(key)
        return value if isinstance(value, Mapping) else {}

    def kept(self) -> tuple[str, ...]:
        found: list[str] = []
        for key in _KEPT_KEYS:
            value = self.raw.get(key)
            if value is None:
                continue
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise self.error(f"{key} must list module names", key)
            found += value
        return tuple(found)


def read_rules(
    given: Mapping[str, object], config: Mapping[str, object], model_type: str, where: str
) -> Rules:
    """Read a quantization config found under `where`.

    Raises:
        UnsupportedModelError: a method, or a value of it, that is not known.

    """
    nested = given.get("quantization")
    if isinstance(nested, Mapping) and "quant_algo" in nested:  # hf_quant_config.json
        given = {**given, **nested}
    quantized = _Config(given, model_type, where)
    if "quant_algo" in given:
        return _modelopt(quantized, config)._replace(where=where)
    method = quantized.text("quant_method").lower()
    if not method:
        if "bits" in given and "group_size" in given:
            return _mlx(quantized)._replace(where=where)
        if "config_groups" in given:
            method = "compressed-tensors"
    reader = _METHODS.get(method)
    if reader is None:
        raise quantized.error(f"unknown quantization method {method!r}", "quant_method")
    return reader(quantized, config)._replace(where=where)


def integer_format(bits: int, group: int, *, zero: str) -> str:
    """Name of an integer format; `zero` is sym, asym (packed) or zp (16 bits)."""
    if group <= 0:
        return "int8" if bits == 8 else f"int{bits}-channel"
    usual = "zp" if group <= 64 else "sym"
    return f"int{bits}-g{group}" + ("" if zero == usual else f"-{zero}")


def _modelopt_format(config: _Config, algo: object, group: object) -> str | None:
    """A ModelOpt algorithm's format."""
    if algo is None:
        return None
    if not isinstance(algo, str) or algo not in _MODELOPT:
        raise config.error(f"unknown algorithm {algo!r}", "quant_algo")
    name = _MODELOPT[algo]
    if name == "int4-g128" and isinstance(group, int) and not isinstance(group, bool):
        return integer_format(4, group, zero="sym")
    return name


def _modelopt(config: _Config, model: Mapping[str, object]) -> Rules:
    """ModelOpt: one algorithm for all linear layers, or one for each that it lists."""
    algo = config.raw.get("quant_algo")
    group = config.raw.get("group_size")
    if algo != _MIXED:
        return Rules(_modelopt_format(config, algo, group), config.kept())
    named: dict[str, list[str]] = {}
    for module, what in config.mapping("quantized_layers").items():
        if other_expert(module):
            continue
        if not isinstance(what, Mapping):
            raise config.error(f"{module!r} must be an object", "quantized_layers")
        found = _modelopt_format(config, what.get("quant_algo"), what.get("group_size"))
        if found is not None:
            named.setdefault(found, []).append(module)
    listed = {name: tuple(modules) for name, modules in named.items()}
    if config.text("quant_method") == "fp8":  # experts converted, the rest as the original
        base = _fp8(config, model)
        return base._replace(kept=(), named=listed)
    return Rules(None, config.kept(), listed)


def _fp8(config: _Config, model: Mapping[str, object]) -> Rules:
    """Fine-grained FP8; DeepSeek-V4 stores its experts in 4 bits beside it."""
    blocks = config.raw.get("weight_block_size")
    if blocks is None:
        name = "fp8"
    elif blocks == [128, 128]:
        name = "fp8-block128"
    else:
        raise config.error(f"blocks of {blocks!r} are not known", "weight_block_size")
    experts = model.get("expert_dtype") or config.raw.get("expert_dtype")
    named = {"mxfp4": ("mlp.experts",)} if experts == "fp4" else {}
    return Rules(name, config.kept(), named)


def _gptq(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    """GPTQ and what packs like it: zeros are stored even where they are symmetric."""
    bits = config.whole("bits")
    group = config.whole("group_size", 128)
    named: dict[str, tuple[str, ...]] = {}
    kept = list(config.kept())
    for pattern, what in config.mapping("dynamic").items():
        if pattern.startswith("-:"):
            kept.append(f"re:{pattern[2:]}")
        elif isinstance(what, Mapping):
            other = _Config({**config.raw, **what}, config.model_type, config.where)
            name = integer_format(other.whole("bits"), other.whole("group_size", 128), zero="asym")
            named[name] = (*named.get(name, ()), f"re:{pattern.removeprefix('+:')}")
    head = config.raw.get("lm_head") is True
    return Rules(integer_format(bits, group, zero="asym"), tuple(kept), named, head=head)


def _awq(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    bits = config.whole("bits", 4, aliases=("w_bit",))
    group = config.whole("group_size", 128, aliases=("q_group_size",))
    return Rules(integer_format(bits, group, zero="asym"), config.kept())


def _bitsandbytes(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    four = config.raw.get("load_in_4bit") or config.raw.get("_load_in_4bit")
    eight = config.raw.get("load_in_8bit") or config.raw.get("_load_in_8bit")
    if four:
        double = config.raw.get("bnb_4bit_use_double_quant") is True
        return Rules("nf4-dq" if double else "nf4", config.kept())
    if eight:
        return Rules("int8-bnb", config.kept())
    raise config.error("neither load_in_4bit nor load_in_8bit is set", "load_in_4bit")


def _mxfp4(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    """gpt-oss: the experts' matrices in MXFP4, nothing else."""
    return Rules("mxfp4", config.kept(), experts_only=True)


def _compressed(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    """compressed-tensors: groups of modules, each with its own scheme."""
    default: str | None = None
    named: dict[str, tuple[str, ...]] = {}
    groups = config.mapping("config_groups")
    if not groups:
        raise config.error("config_groups is missing", "config_groups")
    for key, group in groups.items():
        if not isinstance(group, Mapping):
            raise config.error(f"{key} must be an object", "config_groups")
        weights = group.get("weights")
        if weights is None:
            continue
        if not isinstance(weights, Mapping):
            raise config.error("weights must be an object", f"config_groups.{key}")
        name = _weights_format(_Config(weights, config.model_type, f"{config.where}.{key}"))
        targets = group.get("targets")
        listed = (
            tuple(t for t in targets if isinstance(t, str)) if isinstance(targets, list) else ()
        )
        modules = tuple(target for target in listed if target not in _LINEAR_CLASSES)
        if len(modules) < len(listed) or not listed:
            default = name
        if modules:
            named[name] = (*named.get(name, ()), *modules)
    return Rules(default, config.kept(), named)


_LINEAR_CLASSES: Final = frozenset({"Linear", "LinearBase", "FusedMoE"})


def _weights_format(weights: _Config) -> str:
    """The format of a compressed-tensors weight scheme."""
    bits, kind = weights.whole("num_bits"), weights.text("type") or "int"
    group = weights.whole("group_size", 0)
    strategy = weights.text("strategy") or ("group" if group > 0 else "tensor")
    if kind == "float":
        names = {
            (8, "tensor"): "fp8",
            (8, "channel"): "fp8-channel",
            (8, "block"): "fp8-block128",
            (8, "group"): "mxfp8",
            (4, "group"): "mxfp4" if group == 32 else "nvfp4",
            (4, "tensor_group"): "nvfp4",
        }
        if (bits, strategy) not in names:
            raise weights.error(f"{bits}-bit floats by {strategy} are not known", "strategy")
        return names[bits, strategy]
    if strategy not in {"group", "channel", "tensor"}:
        raise weights.error(f"integers by {strategy} are not known", "strategy")
    zero = "sym" if weights.raw.get("symmetric", True) else "asym"
    return integer_format(bits, group if strategy == "group" else 0, zero=zero)


def _mlx(config: _Config) -> Rules:
    """MLX: every linear layer and embedding, a 16-bit scale and bias for each group."""
    default = _mlx_format(config)
    named: dict[str, tuple[str, ...]] = {}
    kept: list[str] = []
    for path, what in config.raw.items():
        if what is False:
            kept.append(path)
        elif isinstance(what, Mapping) and "bits" in what:
            other = _Config({**config.raw, **what}, config.model_type, config.where)
            name = _mlx_format(other)
            named[name] = (*named.get(name, ()), path)
    return Rules(default, tuple(kept), named, everything=True)


def _mlx_format(config: _Config) -> str:
    mode = config.text("mode")
    if mode in {"mxfp4", "nvfp4", "mxfp8"}:
        return mode
    return integer_format(config.whole("bits"), config.whole("group_size"), zero="zp")


def _hqq(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    params = config.mapping("quant_config").get("weight_quant_params")
    if not isinstance(params, Mapping):
        raise config.error("weight_quant_params is missing", "quant_config")
    inner = _Config(params, config.model_type, f"{config.where}.quant_config")
    name = integer_format(inner.whole("nbits"), inner.whole("group_size", 64), zero="zp")
    return Rules(name, config.kept())


def _torchao(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    """torchao: one scheme, by the name of its config class or its short name."""
    kind: object = config.raw.get("quant_type")
    data: Mapping[str, object] = config.mapping("quant_type_kwargs")
    if isinstance(kind, Mapping):
        entry = kind.get("default")
        kind = entry.get("_type") if isinstance(entry, Mapping) else None
        found = entry.get("_data") if isinstance(entry, Mapping) else None
        data = found if isinstance(found, Mapping) else {}
    name = str(kind).lower().replace("_", "")
    inner = _Config(data, config.model_type, f"{config.where}.quant_type")
    if name.startswith("int4weightonly"):
        return Rules(integer_format(4, inner.whole("group_size", 128), zero="zp"), config.kept())
    if name.startswith(("int8weightonly", "int8dynamicactivationint8")):
        return Rules("int8", config.kept())
    if name.startswith(("float8weightonly", "float8dynamicactivation")):
        return Rules("fp8-channel", config.kept())
    raise config.error(f"unknown torchao scheme {kind!r}", "quant_type")


def _quanto(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    names = {
        "int8": "int8",
        "float8": "fp8-channel",
        "int4": "int4-g128-zp",
        "int2": "int2-g128-zp",
    }
    weights = config.text("weights")
    if weights not in names:
        raise config.error(f"unknown weights {weights!r}", "weights")
    return Rules(names[weights], config.kept())


def _exl(config: _Config, model: Mapping[str, object]) -> Rules:  # noqa: ARG001
    bits = config.raw.get("bits")
    if isinstance(bits, bool) or not isinstance(bits, int | float) or not 1 <= bits <= 16:
        raise config.error(f"bits = {bits!r}", "bits")
    return Rules(f"{bits:.4g}bpw", config.kept())


def _fixed(name: str) -> Callable[[_Config, Mapping[str, object]], Rules]:
    """A method with one format."""
    return lambda config, _model: Rules(name, config.kept())


_METHODS: Final[Mapping[str, Callable[[_Config, Mapping[str, object]], Rules]]] = {
    "fp8": _fp8,
    "fbgemm_fp8": _fixed("fp8-channel"),
    "gptq": _gptq,
    "gptq_marlin": _gptq,
    "auto-round": _gptq,
    "intel/auto-round": _gptq,
    "awq": _awq,
    "awq_marlin": _awq,
    "bitsandbytes": _bitsandbytes,
    "mxfp4": _mxfp4,
    "compressed-tensors": _compressed,
    "compressed_tensors": _compressed,
    "hqq": _hqq,
    "torchao": _torchao,
    "quanto": _quanto,
    "exl2": _exl,
    "exl3": _exl,
    "eetq": _fixed("int8"),
    "bitnet": _fixed("ternary"),
    "aqlm": _fixed("aqlm-2bit"),
    "quip": _fixed("quip-2bit"),
}
