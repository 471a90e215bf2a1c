"""Olive workflows: passes that quantize, prune and fuse, in order.

Source: Olive's documentation of its passes and their arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.compression import is_vision
from advisor.readers.entries import by_name, number_of, text_of
from advisor.readers.inner_text import InnerText
from advisor.readers.options.effects import Setting
from advisor.readers.options.formats import AUTO, MIXED, integer_format, weight_format
from advisor.readers.options.meanings import model
from advisor.readers.options.values import flat, switch_of, whole_of
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode

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

_SCALE_BITS: Final = 16


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
        parts = by_name(step)
        config = {**parts, **by_name(parts["config"].value)} if "config" in parts else parts
        kind = config.get("type")
        word = flat(text_of(kind)) or flat(name)
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
    parts = by_name(source.value)
    inner = {**parts, **by_name(parts["config"].value)} if "config" in parts else parts
    for name in ("model_path", "hf_config", "model_name"):
        entry = inner.get(name)
        if entry is not None and text_of(entry):
            place = text.place(entry.value.span)
            setup.add(model(text_of(entry)), place, place, sure=False)
            return


def _olive_pass(word: str, config: Mapping[str, Entry]) -> Iterator[tuple[Setting, str]]:
    """What one pass does, and the argument that says so."""
    bits = whole_of(text_of(config.get("bits") or config.get("w_bit")))
    group = whole_of(text_of(config.get("group_size") or config.get("block_size")))
    precision = text_of(config.get("precision") or config.get("weight_type"))
    if word in _OLIVE_FUSED:
        yield Setting("fuse", {"mode": "graph"}), "type"
        if switch_of(text_of(config.get("float16")) or False):
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
        form = _quark_scheme(text_of(config["quant_scheme"]))
        yield Setting("quantize", {"weights": form}), "quant_scheme"
    elif word == "selectivemixedprecision":
        yield from _selective(config)
    elif word in _OLIVE_INT4 | _OLIVE_INT8:
        default = "nf4" if "bnb" in word else "int4" if word in _OLIVE_INT4 else "int8"
        mode = text_of(config.get("mode")) or text_of(config.get("compress_mode"))
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


def _selective(config: Mapping[str, Entry]) -> Iterator[tuple[Setting, str]]:
    """SelectiveMixedPrecision: `ratio` of the weights in `bits`, the others in `high_bits`.

    The k_quant algorithms state no ratio: they raise the head, and in half of the layers the last
    matrix of the MLP (k_quant_down), one of three, or that and Q, K and V (k_quant_mixed), which
    are together less than half of a layer. The wider share is counted.
    """
    bits = whole_of(text_of(config.get("bits"))) or 4
    high = whole_of(text_of(config.get("high_bits"))) or 8
    group = whole_of(text_of(config.get("group_size"))) or 128
    algorithm = flat(text_of(config.get("algorithm")))
    ratio = number_of(text_of(config.get("ratio")))
    if algorithm == "kquantlast" and bits <= 8 and high <= 8:
        fields = {"weights": integer_format(bits, group), "lm_head": integer_format(high, group)}
        yield Setting("quantize", fields), "algorithm"
        return
    share = {"kquantdown": 1 / 6, "kquantmixed": 1 / 4}.get(algorithm)
    if share is None and ratio is not None and 0 < ratio < 1:
        share = 1 - ratio
    mixed: dict[str, object] = {"weights": MIXED}
    if share is not None:
        mean = bits * (1 - share) + high * share + _SCALE_BITS / max(group, 1)
        mixed["mean_bits"] = round(mean, 2)
    yield Setting("quantize", mixed), "type"


def _inside(config: Mapping[str, Entry]) -> dict[str, Entry]:
    """Arguments that OpenVINO's passes keep one level deeper."""
    found: dict[str, Entry] = {}
    for name in ("extra_args", "ov_quant_config"):
        found.update(by_name(config[name].value) if name in config else {})
    return found


def _weight_format(config: Mapping[str, Entry]) -> Setting:
    """OpenVINO: int4 with a group, or a ratio of int4 beside int8."""
    form = weight_format(text_of(config["weight_format"])) or AUTO
    ratio = number_of(text_of(config.get("ratio")))
    group = whole_of(text_of(config.get("group_size")))
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
    ratio = number_of(text_of(entry))
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
