"""Compression toolkits with configs of their own: DeepSpeed, Olive, neural-compressor, modelopt.

Source: the toolkits' documentation of their configs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.entries import by_name, number_of, text_of
from advisor.readers.inner_text import InnerText
from advisor.readers.options.effects import Setting
from advisor.readers.options.formats import AUTO, integer_format, weight_format
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


# DeepSpeed


def add_deepspeed(setup: Setup, node: Node, text: InnerText) -> None:
    """`compression_training`: each technique with its switch and its groups."""
    for name, entry in by_name(node).items():
        parts = by_name(entry.value)
        shared = by_name(parts["shared_parameters"].value) if "shared_parameters" in parts else {}
        enabled = shared.get("enabled") or parts.get("enabled")
        state = None
        if enabled is not None and isinstance(enabled.value, ScalarNode):
            value = enabled.value.value
            state = value if isinstance(value, bool) else None
        if state is False or enabled is None:
            continue
        groups = [
            by_name(by_name(group.value)["params"].value)
            for group in by_name(parts["different_groups"].value).values()
            if "params" in by_name(group.value)
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
    ratio = number_of(next((text_of(group.get("dense_ratio")) for group in groups), ""))
    sparsity = {"sparsity": round(1.0 - ratio, 4)} if ratio is not None and 0 < ratio < 1 else {}
    match name:
        case "weight_quantization":
            bits = whole_of(next((text_of(group.get("target_bits")) for group in groups), ""))
            form = integer_format(bits, None) if bits is not None and 1 <= bits <= 8 else AUTO
            return Setting("quantize", {"weights": form, "packed": False})
        case "sparse_pruning":
            block = "block_pattern" in shared and "1x1" not in text_of(shared["block_pattern"])
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
    kept = whole_of(text_of(parts.get("keep_number_layer")))
    teacher = parts.get("teacher_layer")
    if kept is None or teacher is None or not isinstance(teacher.value, ListNode):
        return {}
    numbers = [whole_of(plain_value(item)) for item in teacher.value.items]
    deepest = max((number for number in numbers if number is not None), default=0) + 1
    return {"sparsity": round(1.0 - kept / deepest, 4)} if kept < deepest else {}


# Places of weights


def is_placement(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is a device map, or ZeRO's config of inference from the host."""
    if "lm_head" in entries and any(
        name.startswith(("model.", "transformer.")) for name in entries
    ):
        return all(isinstance(entry.value, ScalarNode) for entry in entries.values())
    zero = by_name(entries["zero_optimization"].value) if "zero_optimization" in entries else {}
    trains = entries.keys() & {"optimizer", "scheduler"} or "offload_optimizer" in zero
    learns = any(name.startswith("gradient_") for name in entries)
    return "offload_param" in zero and not trains and not learns


def add_placement(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """Weights that stay on the host or on disk and are read from there."""
    zero = by_name(entries["zero_optimization"].value) if "zero_optimization" in entries else {}
    if "offload_param" in zero:
        device = by_name(zero["offload_param"].value).get("device")
        places = [] if device is None else [device]
    else:
        places = list(entries.values())
    for entry in places:
        word = text_of(entry)
        if word in {"cpu", "disk", "nvme"}:
            fields = {"weights": "unknown", "to": "host" if word == "cpu" else "nvme"}
            setup.add((Setting("offload", fields),), text.place(entry.key.span))
            return


# NeMo


def is_nemo(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is NeMo's config of a quantization after training."""
    return "algorithm" in by_name(entries["quantization"].value) if (
        "quantization" in entries
    ) else False  # fmt: skip


def add_nemo(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """The algorithm, the cache, and the split it is exported for."""
    for block in ("quantization", "export"):
        for name, entry in by_name(entries[block].value).items() if block in entries else ():
            place = text.place(entry.key.span)
            word = text_of(entry)
            if name == "algorithm":
                form = weight_format(word)
                if form is not None:
                    setup.add((Setting("quantize", {"weights": form}),), place)
            elif name in {"enable_kv_cache", "quantize_kv_cache"} and switch_of(word):
                wide = "int8" if "int8" in text_of(_below(entries, "algorithm")) else "fp8"
                setup.add((Setting("quantize", {"kv_cache": wide}),), place)
            elif name in {"inference_tensor_parallel", "inference_tp", "inference_tensor_para"}:
                size = whole_of(word)
                if size is not None and size > 1:
                    setup.add((Setting("tensor_parallel", {"size": size}),), place)


def _below(entries: Mapping[str, Entry], name: str) -> Entry | None:
    return by_name(entries["quantization"].value).get(name)


# neural-compressor

_PRUNERS: Final = frozenset({"pruners", "pruning_configs"})
_SHARES: Final = frozenset({"target_sparsity", "target_sparsity_ratio"})
_DISTILS: Final = frozenset({"criterion", "teacher_model", "student_model", "teacher", "student"})
"""What a distillation has that learns from a teacher; a schedule alone changes nothing."""


def is_neural_compressor(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is a config of neural-compressor."""
    framework = by_name(entries["model"].value).keys() if "model" in entries else set()
    steps = entries.keys() & {"quantization", "pruning", "distillation", "mixed_precision",
                              "auto_distillation"}  # fmt: skip
    if "framework" in framework and steps:
        return True
    if {"mode", "observer", "scale_method"} <= entries.keys():
        return True
    if "quantization" in entries and "approach" in by_name(entries["quantization"].value):
        return True
    return "approach" in by_name(entries["pruning"].value) if "pruning" in entries else False


def add_neural_compressor(setup: Setup, entries: Mapping[str, Entry], text: InnerText) -> None:
    """Quantization and pruning of neural-compressor's YAML."""
    pruning = entries.get("pruning")
    pruners = _pruners(pruning.value) if pruning is not None else []
    kept = [one for one in pruners if not is_vision(_words_of(one, text))]
    if is_vision(_without(pruners, text)) or (pruners and not kept):
        return
    mode = entries.get("mode")
    if (
        mode is not None
        and word_of(text_of(mode)) in {"quantize", "auto"}
        and "observer" in entries
    ):
        setup.add((Setting("quantize", {"weights": "fp8"}),), text.place(mode.key.span))
        return
    quantization = entries.get("quantization")
    if quantization is not None and isinstance(quantization.value, MapNode):
        inner = _deepest(quantization, ("bits", "dtype", "approach"))
        setup.add((_quantization(quantization.value),), text.place(inner))
    if pruning is not None:
        _neural_pruning(setup, pruning, kept, text)
    distilled = entries.get("distillation")
    if distilled is not None and _DISTILS & {
        one.key.text for one in _entries_below(distilled.value)
    }:
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


def _pruners(node: Node) -> list[MapNode]:
    """The pruners of a block, each for layers of its own; none where the block is the pruner."""
    listed = (one.value for one in _entries_below(node) if one.key.text in _PRUNERS)
    items = next((value.items for value in listed if isinstance(value, ListNode)), ())
    return [item for item in items if isinstance(item, MapNode)]


def _words_of(node: Node, text: InnerText) -> str:
    return text.text[node.outer.start : node.outer.end]


def _without(nodes: list[MapNode], text: InnerText) -> str:
    """The text around some nodes."""
    around, at = [], 0
    for node in nodes:
        around.append(text.text[at : node.outer.start])
        at = node.outer.end
    return "".join(around) + text.text[at:]


def _neural_pruning(setup: Setup, pruning: Entry, pruners: list[MapNode], text: InnerText) -> None:
    """The block's share of zeros, and each pruner that has a pattern or a share of its own."""
    own = [one for one in pruners if by_name(one).keys() & _SHARES]
    listed = {id(entry) for pruner in _pruners(pruning.value) for entry in _entries_below(pruner)}
    around = [entry for entry in _entries_below(pruning.value) if id(entry) not in listed]
    shares = [entry for entry in around if entry.key.text in _SHARES]
    if not pruners or shares or len(own) < len(pruners):
        rest = [entry for one in pruners if one not in own for entry in _entries_below(one)]
        _add_pruner(setup, [*rest, *around], pruning.pair, text)
    for one in own:
        _add_pruner(setup, [*_entries_below(one), *around], one.span, text)


def _add_pruner(setup: Setup, entries: list[Entry], block: Span, text: InnerText) -> None:
    """Zeros of a pattern in dense tensors, unless the pattern takes whole parts away.

    It stands at the first of its keys inside of the block: what holds for it may stand outside.
    """
    parts: dict[str, Entry] = {}
    for entry in entries:
        parts.setdefault(entry.key.text, entry)
    share = next((parts[name] for name in sorted(_SHARES) if name in parts), None)
    ratio = number_of(text_of(share))
    pattern = parts.get("pattern") or parts.get("prune_type")
    word = word_of(text_of(pattern))
    fields: dict[str, object] = {"pattern": "unstructured", "storage": "dense"}
    if re.search(r"\d:\d", word):
        fields = {"pattern": "2:4"}
    elif flat(word) == "gradientsensitivity":
        fields = {"pattern": "heads"}
    elif "channelx1" in word or "1xchannel" in word or "group-lasso" in word:
        fields = {"pattern": "channels", "storage": "masked"}
    elif re.search(r"\d+x\d+", word) and "1x1" not in word:
        fields = {"pattern": "block"}
    if ratio is not None and 0 < ratio < 1 and fields["pattern"] != "2:4":
        fields["sparsity"] = ratio
    keys = [entry.key.span for entry in (pattern, share, *entries) if entry is not None]
    inside = (key for key in keys if block.start <= key.start < block.end)
    setup.add((Setting("prune", fields),), text.place(next(inside, block)))


def _deepest(block: Entry, names: tuple[str, ...]) -> Span:
    """The first of some keys below a block; the block's own where there is none."""
    below = {entry.key.text: entry.key.span for entry in _entries_below(block.value)}
    return next((below[name] for name in names if name in below), block.key.span)


def _entries_below(node: Node) -> Iterator[Entry]:
    if isinstance(node, MapNode):
        for entry in node.entries:
            yield entry
            yield from _entries_below(entry.value)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _entries_below(item)
