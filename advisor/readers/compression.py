"""Compression toolkits with configs of their own: DeepSpeed, Olive, neural-compressor, modelopt.

Source: the toolkits' documentation of their configs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.inner_text import InnerText
from advisor.readers.options.effects import Setting
from advisor.readers.options.formats import AUTO, MIXED, integer_format, weight_format
from advisor.readers.options.meanings import model
from advisor.readers.options.values import flat, mapping_of, switch_of, whole_of, word_of
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode, plain_value
from advisor.source import Span

_IF_ENABLED: Final = "the switch, which is left open"
_VISION: Final = re.compile(
    r"imagenet|resnet|mobilenet|efficientnet|\bvgg|inception|\bcoco\b|squeezenet|yolo|\bssd\b"
    r"|image-classification|ImageClassif|\bvit\b|torchvision|\btimm\b|\bconv\d?\b"
    r"|sections\.\d|backbone|patch_embed|stable-diffusion|\bunet\b|\bvae_|safety_checker|\battn\.qkv\b",
    re.IGNORECASE,
)
"""Convolutions and image classifiers generate no tokens."""


def is_vision(text: str) -> bool:
    """Whether a config is of a convolutional network or an image classifier."""
    return _VISION.search(text) is not None


def _by_name(node: Node | None) -> dict[str, Entry]:
    if not isinstance(node, MapNode):
        return {}
    return {entry.key.text: entry for entry in node.entries}


def _text(entry: Entry | None) -> str:
    return entry.value.text if entry is not None and isinstance(entry.value, ScalarNode) else ""


# DeepSpeed


def add_deepspeed(setup: Setup, node: Node, text: InnerText) -> None:
    """`compression_training`: each technique with its switch and its groups."""
    for name, entry in _by_name(node).items():
        parts = _by_name(entry.value)
        shared = _by_name(parts["shared_parameters"].value) if "shared_parameters" in parts else {}
        enabled = shared.get("enabled") or parts.get("enabled")
        state = None
        if enabled is not None and isinstance(enabled.value, ScalarNode):
            value = enabled.value.value
            state = value if isinstance(value, bool) else None
        if state is False or enabled is None:
            continue
        groups = [
            _by_name(_by_name(group.value)["params"].value)
            for group in _by_name(parts["different_groups"].value).values()
            if "params" in _by_name(group.value)
        ] if "different_groups" in parts else []  # fmt: skip
        effect = _technique(name, parts, shared, groups)
        body = text.text[entry.value.outer.start : entry.value.outer.end]
        if effect is None or re.search(r"conv\d|downsample", body):
            continue
        key = "keep_number_layer" if name == "layer_reduction" else ""
        where = parts[key].key.span if key in parts else enabled.key.span
        if state is None and effect.kind != "quantize":
            effect = Setting(effect.kind, effect.fields, condition=_IF_ENABLED)
        setup.add((effect,), text.place(where))


def _technique(
    name: str,
    parts: Mapping[str, Entry],
    shared: Mapping[str, Entry],
    groups: list[dict[str, Entry]],
) -> Setting | None:
    ratio = _number(next((_text(group.get("dense_ratio")) for group in groups), ""))
    sparsity = {"sparsity": round(1.0 - ratio, 4)} if ratio is not None and 0 < ratio < 1 else {}
    match name:
        case "weight_quantization":
            bits = whole_of(next((_text(group.get("target_bits")) for group in groups), ""))
            form = integer_format(bits, None) if bits is not None and 1 <= bits <= 8 else AUTO
            return Setting("quantize", {"weights": form, "packed": False})
        case "sparse_pruning":
            block = "block_pattern" in shared and "1x1" not in _text(shared["block_pattern"])
            pattern = "block" if block else "unstructured"
            return Setting("prune", {"pattern": pattern, "storage": "dense", **sparsity})
        case "row_pruning" | "channel_pruning":
            return Setting("prune", {"pattern": "channels", **sparsity})
        case "head_pruning":
            return Setting("prune", {"pattern": "heads", **sparsity})
        case "layer_reduction":
            return Setting("prune", {"pattern": "layers", **_kept_layers(parts)})
        case _:
            return None


def _kept_layers(parts: Mapping[str, Entry]) -> dict[str, object]:
    """Share of layers left out, where the teacher's layers that are copied are listed."""
    kept = whole_of(_text(parts.get("keep_number_layer")))
    teacher = parts.get("teacher_layer")
    if kept is None or teacher is None or not isinstance(teacher.value, ListNode):
        return {}
    numbers = [whole_of(plain_value(item)) for item in teacher.value.items]
    deepest = max((number for number in numbers if number is not None), default=0) + 1
    return {"sparsity": round(1.0 - kept / deepest, 4)} if kept < deepest else {}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# Olive

_OLIVE_INT8: Final = frozenset(
    {"onnxdynamicquantization", "onnxstaticquantization", "onnxquantization", "quarkquantization",
     "incdynamicquantization", "incstaticquantization", "incquantization", "vitisaiquantization",
     "openvinoquantization", "qnnquantization", "openvinoquantizationwithaccuracy",
     "quantizationawaretraining", "nvmodeloptquantization", "aimetquantization"}
)  # fmt: skip
_OLIVE_INT4: Final = frozenset(
    {"gptq", "gptqquantizer", "autogptqquantizer", "autoawqquantizer", "awq", "rtn", "kquant",
     "onnxmatmul4quantizer", "onnxhqqquantization", "onnxblockwisertnquantization", "hqq",
     "onnxkquantquantization", "autoround", "openvinoweightcompression", "onnxbnb4quantization",
     "ortmatmul4bitsquantizer", "gptqmodel"}
)  # fmt: skip
_OLIVE_FUSED: Final = frozenset(
    {"orttransformersoptimization", "orttransformeroptimization", "onnxmodeloptimizer",
     "onnxpeepholeoptimizer", "onnxtransformersoptimization"}
)  # fmt: skip


def is_olive(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is an Olive workflow."""
    passes = entries.get("passes")
    if passes is None or not isinstance(passes.value, MapNode | ListNode):
        return False
    return bool(entries.keys() & {"input_model", "systems", "engine", "target", "host"})


def add_olive(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """The passes of a workflow, in order."""
    source = entries.get("input_model")
    if source is not None:
        if is_vision(text.text[source.value.outer.start : source.value.outer.end]):
            return
        _olive_model(setup, source, text)
    for name, step in _passes(entries["passes"].value):
        parts = _by_name(step)
        config = {**parts, **_by_name(parts["config"].value)} if "config" in parts else parts
        kind = config.get("type")
        word = flat(_text(kind)) or flat(name)
        for effect, key in _olive_pass(word, config):
            at = config.get(key) or kind
            if at is not None:
                setup.add((effect,), text.place(at.key.span), text.place(at.value.span))


def _passes(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node, MapNode):
        for entry in node.entries:
            if isinstance(entry.value, ListNode):
                yield from ((entry.key.text, item) for item in entry.value.items)
            else:
                yield entry.key.text, entry.value
    elif isinstance(node, ListNode):
        yield from (("", item) for item in node.items)


def _olive_model(setup: Setup, source: Entry, text: InnerText) -> None:
    parts = _by_name(source.value)
    inner = {**parts, **_by_name(parts["config"].value)} if "config" in parts else parts
    for name in ("model_path", "hf_config", "model_name"):
        entry = inner.get(name)
        if entry is not None and _text(entry):
            place = text.place(entry.value.span)
            setup.add(model(_text(entry)), place, place, sure=False)
            return


def _olive_pass(word: str, config: Mapping[str, Entry]) -> Iterator[tuple[Setting, str]]:
    """What one pass does, and the argument that says so."""
    bits = whole_of(_text(config.get("bits") or config.get("w_bit")))
    group = whole_of(_text(config.get("group_size") or config.get("block_size")))
    precision = _text(config.get("precision") or config.get("weight_type"))
    if word in _OLIVE_FUSED:
        yield Setting("fuse", {"mode": "graph"}), "type"
        if switch_of(_text(config.get("float16")) or False):
            yield Setting("quantize", {"weights": "fp16"}), "float16"
    elif word in {"onnxfloattofloat16", "ortmixedprecision"}:
        yield Setting("quantize", {"weights": "fp16"}), "type"
    elif word == "modelbuilder":
        form = weight_format(precision) if precision else None
        if form is not None or precision.lower() in {"fp16", "float16"}:
            yield Setting("quantize", {"weights": form or "fp16"}), "precision"
    elif "weight_format" in _inside(config):
        yield _weight_format(_inside(config)), "ov_quant_config"
    elif "quant_scheme" in config:
        form = _quark_scheme(_text(config["quant_scheme"]))
        yield Setting("quantize", {"weights": form}), "quant_scheme"
    elif word == "selectivemixedprecision":
        yield Setting("quantize", {"weights": MIXED}), "type"
    elif word in _OLIVE_INT4 | _OLIVE_INT8:
        default = "nf4" if "bnb" in word else "int4" if word in _OLIVE_INT4 else "int8"
        mode = _text(config.get("mode")) or _text(config.get("compress_mode"))
        named = precision or re.sub(r"_(?:a?sym).*", "", mode)
        form = weight_format(named) or default
        if bits is not None and 1 <= bits <= 8:
            form = integer_format(bits, group if group is not None else 128)
        elif "bits" in config and not isinstance(config["bits"].value, ScalarNode):
            form = AUTO
        key = "bits" if "bits" in config else "precision" if precision else "type"
        yield Setting("quantize", {"weights": form}), key
    elif word in {"slicegpt", "sparsegpt", "torchtrtconversion"}:
        yield from _olive_pruning(word, config)


def _inside(config: Mapping[str, Entry]) -> dict[str, Entry]:
    """Arguments that OpenVINO's passes keep one level deeper."""
    found: dict[str, Entry] = {}
    for name in ("extra_args", "ov_quant_config"):
        found.update(_by_name(config[name].value) if name in config else {})
    return found


def _weight_format(config: Mapping[str, Entry]) -> Setting:
    """OpenVINO: int4 with a group, or a ratio of int4 beside int8."""
    form = weight_format(_text(config["weight_format"])) or AUTO
    ratio = _number(_text(config.get("ratio")))
    group = whole_of(_text(config.get("group_size")))
    if form == "int4" and ratio is not None and 0 < ratio < 1:
        return Setting(
            "quantize", {"weights": MIXED, "mean_bits": 4.0 * ratio + 8.0 * (1.0 - ratio)}
        )
    if form == "int4" and group is not None:
        form = integer_format(4, group)
    return Setting("quantize", {"weights": form})


def _quark_scheme(scheme: str) -> str:
    """Quark: w_uint4_per_group_asym, w_int8_a_int8_per_tensor_sym, w_mxfp4_a_mxfp4, w_fp8_a_fp8."""
    match = re.match(r"w_(?:u?int([248])|(mxfp4|mxfp6|fp8|nvfp4))", scheme)
    if match is None:
        return AUTO
    return f"int{match[1]}" if match[1] else match[2]


def _olive_pruning(word: str, config: Mapping[str, Entry]) -> Iterator[tuple[Setting, str]]:
    entry = config.get("sparsity")
    ratio = _number(_text(entry))
    if word == "slicegpt":
        fields: dict[str, object] = {"pattern": "channels", "storage": "removed"}
        if ratio is not None and 0 < ratio < 1:
            fields["sparsity"] = ratio
        yield Setting("prune", fields), "sparsity"
    elif word == "sparsegpt":
        if entry is not None and isinstance(entry.value, ListNode):
            yield Setting("prune", {"pattern": "2:4"}), "sparsity"
        else:
            fields = {"pattern": "unstructured", "storage": "dense"}
            if ratio is not None and 0 < ratio < 1:
                fields["sparsity"] = ratio
            yield Setting("prune", fields), "sparsity"


# NeMo


def is_nemo(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is NeMo's config of a quantization after training."""
    return "algorithm" in _by_name(entries["quantization"].value) if (
        "quantization" in entries
    ) else False  # fmt: skip


def add_nemo(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """The algorithm, the cache, and the split it is exported for."""
    for block in ("quantization", "export"):
        for name, entry in _by_name(entries[block].value).items() if block in entries else ():
            place = text.place(entry.key.span)
            word = _text(entry)
            if name == "algorithm":
                form = weight_format(word)
                if form is not None:
                    setup.add((Setting("quantize", {"weights": form}),), place)
            elif name in {"enable_kv_cache", "quantize_kv_cache"} and switch_of(word):
                wide = "int8" if "int8" in _text(_below(entries, "algorithm")) else "fp8"
                setup.add((Setting("quantize", {"kv_cache": wide}),), place)
            elif name in {"inference_tensor_parallel", "inference_tp", "inference_tensor_para"}:
                size = whole_of(word)
                if size is not None and size > 1:
                    setup.add((Setting("tensor_parallel", {"size": size}),), place)


def _below(entries: Mapping[str, Entry], name: str) -> Entry | None:
    return _by_name(entries["quantization"].value).get(name)


# neural-compressor


def is_neural_compressor(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is a config of neural-compressor."""
    framework = _by_name(entries["model"].value).keys() if "model" in entries else set()
    steps = entries.keys() & {"quantization", "pruning", "distillation", "mixed_precision",
                              "auto_distillation"}  # fmt: skip
    if "framework" in framework and steps:
        return True
    if {"mode", "observer", "scale_method"} <= entries.keys():
        return True
    if "quantization" in entries and "approach" in _by_name(entries["quantization"].value):
        return True
    return "approach" in _by_name(entries["pruning"].value) if "pruning" in entries else False


def add_neural_compressor(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """Quantization and pruning of neural-compressor's YAML."""
    if is_vision(text.text):
        return
    mode = entries.get("mode")
    if mode is not None and word_of(_text(mode)) in {"quantize", "auto"} and "observer" in entries:
        setup.add((Setting("quantize", {"weights": "fp8"}),), text.place(mode.key.span))
        return
    quantization = entries.get("quantization")
    if quantization is not None and isinstance(quantization.value, MapNode):
        inner = _deepest(quantization, ("bits", "dtype", "approach"))
        setup.add((_quantization(quantization.value),), text.place(inner))
    pruning = entries.get("pruning")
    if pruning is not None:
        _neural_pruning(setup, pruning, text)
    distilled = entries.get("distillation")
    if distilled is not None and isinstance(distilled.value, MapNode):
        setup.add((Setting("distill", {"model": "unknown"}),), text.place(distilled.key.span))


def _quantization(node: Node) -> Setting:
    config = mapping_of(plain_value(node)) or {}
    wise = mapping_of(config.get("model_wise")) or mapping_of(config.get("op_wise")) or {}
    weight = mapping_of(wise.get("weight")) or {}
    bits = whole_of(weight.get("bits", config.get("bits")))
    approach = word_of(config.get("approach"))
    fields: dict[str, object] = {"weights": "int8"}
    if bits is not None and 1 <= bits <= 8:
        group = whole_of(weight.get("group_size", config.get("group_size")))
        fields = {"weights": integer_format(bits, group if group is not None else 32)}
    elif "weight-only" in approach:
        fields = {"weights": "int4"}
    if "aware" in approach:
        fields["packed"] = False
    return Setting("quantize", fields)


def _neural_pruning(setup: Setup, pruning: Entry, text: InnerText) -> None:
    """Every pruner with its pattern, zeros in dense tensors."""
    config = mapping_of(plain_value(pruning.value)) or {}
    target = _find(config, "target_sparsity")
    ratio = target if isinstance(target, float) and 0 < target < 1 else None
    word = word_of(_find(config, "pattern") or _find(config, "prune_type") or "")
    fields: dict[str, object] = {"pattern": "unstructured", "storage": "dense"}
    if re.search(r"\d:\d", word):
        fields = {"pattern": "2:4"}
    elif "channelx1" in word or "1xchannel" in word or "group-lasso" in word:
        fields = {"pattern": "channels", "storage": "masked"}
    elif re.search(r"\d+x\d+", word) and "1x1" not in word:
        fields = {"pattern": "block"}
    if ratio is not None and fields["pattern"] != "2:4":
        fields["sparsity"] = ratio
    span = _deepest(pruning, ("pattern", "prune_type", "target_sparsity"))
    setup.add((Setting("prune", fields),), text.place(span))


def _deepest(block: Entry, names: tuple[str, ...]) -> Span:
    """The first of some keys below a block; the block's own where there is none."""
    below = {entry.key.text: entry.key.span for entry in _entries_below(block.value)}
    return next((below[name] for name in names if name in below), block.key.span)


def _find(config: object, name: str) -> object:
    """The first value of a key, however deep."""
    if isinstance(config, Mapping):
        if name in config:
            return config[name]
        for item in config.values():
            found = _find(item, name)
            if found is not None:
                return found
    if isinstance(config, list):
        for item in config:
            found = _find(item, name)
            if found is not None:
                return found
    return None


def _entries_below(node: Node) -> Iterator[Entry]:
    if isinstance(node, MapNode):
        for entry in node.entries:
            yield entry
            yield from _entries_below(entry.value)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _entries_below(item)
