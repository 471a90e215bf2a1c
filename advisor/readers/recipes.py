"""Compression recipes: llm-compressor and SparseML modifiers, wherever in a file they stand.

Stages and groups have free names; a modifier is a class name ending in "Modifier", as a key with
its arguments or as a YAML tag on them. Recipes write dense tensors unless they say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.readers.inner_text import InnerText
from advisor.readers.options.effects import Effect, Setting
from advisor.readers.options.formats import AUTO, integer_format, weight_format
from advisor.readers.options.values import mapping_of, switch_of, whole_of, word_of
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_nothing
from advisor.source import Span

_NAME: Final = re.compile(r"[A-Z]\w*Modifier")
_TAG: Final = re.compile(r"!(?:[\w.]*\.)?([A-Z]\w*Modifier)\s*$")
_PATTERN: Final = re.compile(r"(\d{1,3}):(\d{1,3})")
_BLOCK: Final = re.compile(r"block|\[|\d+\s*x\s*\d+")

_QUANTIZE: Final = frozenset(
    {"QuantizationModifier", "GPTQModifier", "AWQModifier", "AutoRoundModifier",
     "LegacyQuantizationModifier", "vLLMQuantizationModifier", "QATModifier", "IMatrixModifier"}
)  # fmt: skip
_PRUNE: Final = frozenset(
    {"SparseGPTModifier", "MagnitudePruningModifier", "WandaPruningModifier", "GMPruningModifier",
     "ConstantPruningModifier", "OBSPruningModifier", "GlobalMagnitudePruningModifier",
     "MFACPruningModifier", "MovementPruningModifier", "ACDCPruningModifier",
     "AlternatingPruningModifier", "LearnedPruningModifier", "STRPruningModifier",
     "RigLPruningModifier", "TopKASTPruningModifier", "OBCQModifier",
     "SparseGPTPruningModifier"}
)  # fmt: skip
_MAGIC: Final = frozenset({"SparseGPTModifier", "OBCQModifier"})
"""Old recipes quantized inside the pruning modifier."""


class Modifier(NamedTuple):
    """One modifier as it stands in a recipe."""

    name: str
    span: Span
    """Its name, in the file."""
    arguments: MapNode | None
    variables: Mapping[str, object]
    text: InnerText


def modifiers_of(
    node: Node, text: InnerText, variables: Mapping[str, object] | None = None, key: str = ""
) -> Iterator[Modifier]:
    """The modifiers below a node, in order of the text."""
    known = variables or MappingProxyType({})
    if isinstance(node, ListNode):
        for item in node.items:
            tagged = _tagged(item, text)
            if tagged is not None:
                arguments = item if isinstance(item, MapNode) else None
                yield Modifier(*tagged, arguments, known, text)
            else:
                yield from modifiers_of(item, text, known)
        return
    if not isinstance(node, MapNode):
        if isinstance(node, ScalarNode) and "Modifier" in node.text and "\n" in node.text:
            inner = text.inside(node)
            for root in inner.documents():
                yield from modifiers_of(root, inner, known, key)
        return
    known = {**known, **_plain(node)}
    for entry in node.entries:
        name = entry.key.text
        if _NAME.fullmatch(name):
            arguments = entry.value if isinstance(entry.value, MapNode) else None
            yield Modifier(name, text.place(entry.key.span), arguments, known, text)
        yield from modifiers_of(entry.value, text, known, name)


def _tagged(node: Node, text: InnerText) -> tuple[str, Span] | None:
    """The class that a YAML tag before a value names; tags are read as text, never acted on."""
    start = node.outer.start
    match = _TAG.search(text.text, max(0, start - 120), start)
    if match is None:
        return None
    return match[1], text.place(Span(match.start(1), match.end(1)))


def _plain(node: MapNode) -> dict[str, object]:
    """Top-level variables that `eval(name)` refers to."""
    return {
        entry.key.text: entry.value.value
        for entry in node.entries
        if isinstance(entry.value, ScalarNode)
    }


def add_recipe(setup: Setup, modifiers: Iterator[Modifier], *, masks_only: bool = False) -> None:
    """Put what modifiers do into a setup; of one class in several stages the last one holds.

    `masks_only`: in training, pruning modifiers only hold the zeros of the checkpoint.
    """
    last: dict[str, Modifier] = {}
    for modifier in modifiers:
        last[modifier.name] = modifier
    for modifier in last.values():
        values = _values(modifier)
        if modifier.name in _PRUNE:
            _add_pruning(setup, modifier, values, masks_only=masks_only)
        if modifier.name in _QUANTIZE or (modifier.name in _MAGIC and "scheme" in values):
            _add_quantization(setup, modifier, values)
        if modifier.name == "DistillationModifier":
            continue
        if modifier.name in {"REAPPruningModifier", "ExpertPruningModifier"}:
            sparsity = _ratio(values.get("sparsity", values.get("ratio")))
            fields: dict[str, object] = {"pattern": "experts", "storage": "removed"}
            _add(setup, modifier, Setting("prune", _known(fields, "sparsity", sparsity)), ())
        if modifier.name in {"LayerPruningModifier", "LayerDropModifier"}:
            _add(setup, modifier, Setting("prune", {"pattern": "layers"}), ())


def _values(modifier: Modifier) -> Mapping[str, object]:
    """Arguments of a modifier as plain data, `eval(name)` looked up."""
    if modifier.arguments is None:
        return {}
    return {
        entry.key.text: _value(entry.value, modifier.variables)
        for entry in modifier.arguments.entries
    }


def _value(node: Node, variables: Mapping[str, object]) -> object:
    if isinstance(node, ScalarNode):
        value = node.value
        if isinstance(value, str):
            match = re.fullmatch(r"eval\(\s*(\w+)\s*\)", value.strip())
            if match is not None:
                return variables.get(match[1], value)
        return value
    if isinstance(node, ListNode):
        return [_value(item, variables) for item in node.items]
    return {entry.key.text: _value(entry.value, variables) for entry in node.entries}


def _add(
    setup: Setup, modifier: Modifier, effect: Effect, path: tuple[str, ...], *, sure: bool = True
) -> None:
    """One lever, at the argument that sets it, else at the modifier's name.

    `sure`: whether it is proposed, and not a mask kept that another run may have packed since.
    """
    span = modifier.span
    node: Node | None = modifier.arguments
    value = None
    for name in path:
        entry = _entry(node, name)
        if entry is None:
            break
        span, node = modifier.text.place(entry.key.span), entry.value
        value = modifier.text.place(entry.value.span)
    setup.add((effect,), span, value, sure=sure)


def _entry(node: Node | None, name: str) -> Entry | None:
    if not isinstance(node, MapNode):
        return None
    return next((entry for entry in node.entries if entry.key.text == name), None)


def _add_pruning(
    setup: Setup, modifier: Modifier, values: Mapping[str, object], *, masks_only: bool
) -> None:
    """Zeros: their pattern, how many, and that nothing packs them."""
    pattern, path = _pattern(values)
    holds = masks_only or modifier.name == "ConstantPruningModifier"
    stated = "final_sparsity" in values or "sparsity" in values or path
    if holds and not stated and _mentions_24(setup):
        pattern = "2:4"
    sparsity = _ratio(values.get("sparsity", values.get("final_sparsity")))
    if sparsity == 0:
        return
    fields: dict[str, object] = {"pattern": pattern}
    if pattern == "unstructured":
        fields["storage"] = "dense"
    if pattern in {"channels", "heads"}:
        fields["storage"] = "masked"
    if pattern != "2:4":
        fields = _known(fields, "sparsity", sparsity)
    where = path or next(((name,) for name in ("sparsity", "final_sparsity") if name in values), ())
    sure = not (holds and not stated) and _ENCODER.search(modifier.text.text) is None
    _add(setup, modifier, Setting("prune", fields), where, sure=sure)


_ENCODER: Final = re.compile(
    r"\b(?:distil|ro|al|mobile|tiny)?bert\b|\bdeberta|\bencoder\.|\bclassifier\b|\bqa_outputs\b",
    re.IGNORECASE,
)
"""Names of the modules of models that emit no tokens: zeros in them slow down no decode."""


def _known(fields: dict[str, object], name: str, value: object) -> dict[str, object]:
    return fields if value is None else {**fields, name: value}


def _mentions_24(setup: Setup) -> bool:
    return any(
        isinstance(one.effect, Setting) and one.effect.fields.get("pattern") == "2:4"
        for one in setup.placed
    )


def _pattern(values: Mapping[str, object]) -> tuple[str, tuple[str, ...]]:
    """The pattern of the zeros and the argument that says so."""
    structure = values.get("mask_structure")
    if structure is not None:
        match = _PATTERN.fullmatch(str(structure).strip())
        if match is not None and int(match[2]) > 0 and int(match[1]) > 0:
            return "2:4", ("mask_structure",)
        return "unstructured", ("mask_structure",)
    kind = values.get("mask_type")
    if kind is not None:
        word = "[" if isinstance(kind, list) else str(kind).lower()
        if _PATTERN.fullmatch(word):
            return "2:4", ("mask_type",)
        if word in {"filter", "channel"}:
            return "channels", ("mask_type",)
        if word == "head":
            return "heads", ("mask_type",)
        if _BLOCK.search(word):
            return "block", ("mask_type",)
        return "unstructured", ("mask_type",)
    return "unstructured", ()


def _ratio(value: object) -> float | None:
    """A sparsity that is one number; per layer or open it is not known."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < 1 else None


def _add_quantization(setup: Setup, modifier: Modifier, values: Mapping[str, object]) -> None:
    """Weights, activations and cache of a quantization modifier."""
    groups = mapping_of(values.get("config_groups")) or {}
    for name, group in groups.items():
        _add_group(setup, modifier, name, group)
    scheme = values.get("scheme")
    if scheme is not None and not groups:
        _add_scheme(setup, modifier, scheme)
    overrides = mapping_of(values.get("scheme_overrides"))
    if overrides and not groups and scheme is None:
        _add_scheme(setup, modifier, next(iter(overrides.values())))
    cache = mapping_of(values.get("kv_cache_scheme"))
    if cache:
        form = _of_bits(cache) or "int8"
        path = ("kv_cache_scheme", "num_bits")
        _add(setup, modifier, Setting("quantize", {"kv_cache": form}), path)
    legacy = modifier.name in {"LegacyQuantizationModifier", "QuantizationModifier"}
    silent = not groups and scheme is None and not cache and not overrides
    if legacy and silent and _starts(values):
        _add(setup, modifier, Setting("quantize", {"weights": "int8", "packed": False}), ())


def _starts(values: Mapping[str, object]) -> bool:
    """Whether it is a SparseML modifier of training: with epochs, quantizing to int8 by default."""
    return bool(
        values.keys() & {"start_epoch", "submodules", "disable_quantization_observer_epoch"}
    )


def _add_group(setup: Setup, modifier: Modifier, name: str, group: object) -> None:
    config = mapping_of(group)
    if config is None:
        return
    path: tuple[str, ...] = ("config_groups", name)
    weights = mapping_of(config.get("weights"))
    if weights is not None:
        form = _of_bits(weights)
        if form is not None:
            bits = ("num_bits",) if "num_bits" in weights else ()
            here = (*path, "weights", *bits)
            _add(setup, modifier, Setting("quantize", {"weights": form}), here)
            return
    scheme = config.get("scheme")
    if scheme is not None:
        _add(setup, modifier, _scheme(scheme), (*path, "scheme"))


def _add_scheme(setup: Setup, modifier: Modifier, scheme: object) -> None:
    presets = mapping_of(scheme)
    if presets is None:
        if not is_off_word(scheme):
            _add(setup, modifier, _scheme(scheme), ("scheme",))
        return
    weights = mapping_of(presets.get("weights"))
    form = _of_bits(weights) if weights else None
    if form is not None:
        path = ("scheme", "weights", "num_bits")
        _add(setup, modifier, Setting("quantize", {"weights": form}), path)
        return
    for name in presets:  # {W4A16: [Linear], FP8: [...]}
        if weight_format(name) is not None:
            _add(setup, modifier, _scheme(name), ("scheme", name))


def is_off_word(value: object) -> bool:
    """Whether a scheme is named that is none."""
    return value is None or switch_of(value) is False


def _scheme(scheme: object) -> Setting:
    form = weight_format(word_of(scheme))
    return Setting("quantize", {"weights": form or AUTO})


def _of_bits(config: Mapping[str, object]) -> str | None:
    """A format by num_bits, type, strategy and group_size of compressed-tensors."""
    bits = whole_of(config.get("num_bits"))
    if bits is None or not 1 <= bits <= 8:
        return None
    strategy = word_of(config.get("strategy"))
    group = whole_of(config.get("group_size"))
    if word_of(config.get("type", "int")) == "float":
        if bits == 8:
            if group == 32:
                return "mxfp8"
            return {"block": "fp8-block128", "channel": "fp8-channel"}.get(strategy, "fp8")
        return "mxfp4" if group == 32 else "nvfp4"
    if strategy in {"channel", "tensor"} or (group is None and strategy != "group"):
        group = None
    symmetric = switch_of(config.get("symmetric", True)) is not False
    if strategy == "group" and group is None:
        group = 128
    return integer_format(bits, group, symmetric=symmetric)


__all__ = ["Modifier", "add_recipe", "is_nothing", "modifiers_of"]
