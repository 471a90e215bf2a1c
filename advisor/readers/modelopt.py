"""TensorRT Model Optimizer: recipes with `quant_cfg`, presets by name, searches by effective bits.

Source: the documentation of modelopt's quantization configs and recipes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from advisor.readers.entries import by_name
from advisor.readers.inner_text import InnerText
from advisor.readers.options.effects import Setting
from advisor.readers.options.formats import AUTO
from advisor.readers.options.names import named_precision
from advisor.readers.options.values import switch_of, whole_of
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import Entry, ListNode, Node, ScalarNode, plain_value
from advisor.source import Span

_PRESET: Final = re.compile(r"(?:mtq\.)?([A-Z][A-Z0-9_]*)_CFG")
_CACHE: Final = re.compile(r"(?:^|_)kv(?:_|$)|[kv]_bmm|\[kv\]_bmm|kv_cache", re.IGNORECASE)
_IGNORED: Final = re.compile(r"disable|input|output|activation|softmax|bmm_quantizer$")
_FLOATS: Final[Mapping[str, str]] = {
    "[4, 3]": "fp8", "[5, 2]": "fp8", "e4m3": "fp8", "e5m2": "fp8", "(4, 3)": "fp8",
    "[2, 1]": "nvfp4", "e2m1": "nvfp4", "(2, 1)": "nvfp4",
}  # fmt: skip


def is_rules(root: Node) -> bool:
    """Whether a document is a list of quantizer rules alone."""
    if not isinstance(root, ListNode) or not root.items:
        return False
    return all(by_name(item).keys() & {"$import", "quantizer_name"} for item in root.items)


def add_rules(setup: Setup, root: Node, text: InnerText) -> None:
    """Weights and cache of a list of quantizer rules."""
    for item in root.items if isinstance(root, ListNode) else ():
        for effect, span in _rule(item):
            setup.add((effect,), text.place(span))


def add_named_recipe(setup: Setup, entry: Entry, text: InnerText) -> None:
    """A recipe that a training run names: what it makes is simulated until it is exported."""
    if isinstance(entry.value, ScalarNode) and entry.value.text.strip():
        for effect, _ in _by_words(entry.value.text.rpartition("/")[2], entry.key.span):
            simulated = {"packed": False} if "weights" in effect.fields else {}
            made = effect._replace(fields={**effect.fields, **simulated})
            setup.add((made,), text.place(entry.key.span), text.place(entry.value.span))


def is_modelopt(entries: Mapping[str, Entry]) -> bool:
    """Whether a document is a recipe of modelopt."""
    if "auto_quantize" in entries or "quant_cfg" in entries:
        return True
    inside = by_name(entries["quantize"].value) if "quantize" in entries else {}
    return "quant_cfg" in inside or ("$import" in inside and "imports" in entries)


def add_modelopt(
    setup: Setup, entries: Mapping[str, Entry], text: InnerText, *, packed: bool = True
) -> None:
    """Weights and cache that a recipe quantizes; in training they are only simulated."""
    search = entries.get("auto_quantize")
    if search is not None:
        bits = _below(search.value, "effective_bits")
        if bits is not None:
            number = bits.value.value if isinstance(bits.value, ScalarNode) else None
            fields: dict[str, object] = {"weights": "mixed"}
            if isinstance(number, int | float) and not isinstance(number, bool):
                fields["mean_bits"] = float(number)
            setup.add((Setting("quantize", fields),), text.place(bits.key.span))
        return
    quantize = by_name(entries["quantize"].value) if "quantize" in entries else {}
    config = quantize.get("quant_cfg") or entries.get("quant_cfg")
    imports = {
        name: entry.value.text.rpartition("/")[2]
        for name, entry in by_name(
            entries["imports"].value if "imports" in entries else None
        ).items()
        if isinstance(entry.value, ScalarNode)
    }
    found = list(_config(config)) if config is not None else []
    if "$import" in quantize and isinstance(quantize["$import"].value, ScalarNode):
        found += _by_words(quantize["$import"].value.text, quantize["$import"].key.span)
    for name, span in _imported(config.value if config is not None else None, quantize):
        if not found and name in imports:
            found += _by_words(imports[name], span)
    for effect, span in found:
        simulated = not packed and "weights" in effect.fields
        fields = {**effect.fields, **({"packed": False} if simulated else {})}
        setup.add((effect._replace(fields=fields),), text.place(span))


def _imported(node: Node | None, quantize: Mapping[str, Entry]) -> Iterator[tuple[str, Span]]:
    """Names that a config imports, for those that say nothing themselves."""
    items = node.items if isinstance(node, ListNode) else ()
    parts = [by_name(item).get("$import") for item in items] + [quantize.get("$import")]
    for part in parts:
        if part is not None and isinstance(part.value, ScalarNode):
            yield part.value.text, part.value.span


def _below(node: Node, name: str) -> Entry | None:
    for entry in by_name(node).values():
        if entry.key.text == name:
            return entry
        found = _below(entry.value, name)
        if found is not None:
            return found
    return None


def _config(config: Entry) -> Iterator[tuple[Setting, Span]]:
    """`quant_cfg`: a preset's name, a list of rules, or a mapping from quantizers to rules."""
    node = config.value
    if isinstance(node, ScalarNode):
        match = _PRESET.fullmatch(node.text)
        if match is not None:
            yield from _by_words(match[1], config.key.span)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _rule(item)
    else:
        for entry in by_name(node).values():
            yield from _quantizer(entry.key.text, entry.value, entry.key.span)


def _rule(node: Node) -> Iterator[tuple[Setting, Span]]:
    parts = by_name(node)
    imported, named = parts.get("$import"), parts.get("quantizer_name")
    if imported is not None and isinstance(imported.value, ScalarNode):
        if not re.search(r"disable", imported.value.text):
            yield from _by_words(imported.value.text, imported.value.span)
    elif named is not None and isinstance(named.value, ScalarNode):
        enable = parts.get("enable")
        off = enable is not None and switch_of(plain_value(enable.value)) is False
        if not off and "cfg" in parts:
            yield from _quantizer(named.value.text, parts["cfg"].value, named.key.span)


def _by_words(words: str, span: Span) -> Iterator[tuple[Setting, Span]]:
    """A preset or an imported unit by the words of its name."""
    told = set()
    for part in words.removesuffix(".yaml").split("-"):
        form = named_precision(part.replace("_", "-")).weights
        target = "kv_cache" if _CACHE.search(part) else "weights"
        if form is not None and target not in told:
            told.add(target)
            yield Setting("quantize", {target: form}), span


def _quantizer(name: str, node: Node, span: Span) -> Iterator[tuple[Setting, Span]]:
    """One quantizer and what it makes of its tensor."""
    parts = by_name(node)
    enable = parts.get("enable")
    if enable is not None and switch_of(plain_value(enable.value)) is False:
        return
    cache = bool(_CACHE.search(name))
    if not cache and ("weight" not in name or _IGNORED.search(name)):
        return
    imported = parts.get("$import")
    form = None
    if imported is not None and isinstance(imported.value, ScalarNode):
        form = named_precision(imported.value.text.replace("_", "-")).weights
    if "num_bits" in parts:
        form, span = _bits(parts), parts["num_bits"].key.span
    if form is not None:
        yield Setting("quantize", {"kv_cache" if cache else "weights": form}), span


def _bits(parts: Mapping[str, Entry]) -> str:
    value = plain_value(parts["num_bits"].value)
    blocks = plain_value(parts["block_sizes"].value) if "block_sizes" in parts else None
    form = _FLOATS.get(str(value))
    if form is not None:
        shared = isinstance(blocks, dict) and str(blocks.get("scale_bits")) in {"[8, 0]", "e8m0"}
        return {"nvfp4": "mxfp4", "fp8": "mxfp8"}[form] if shared else form
    bits = whole_of(value)
    return f"int{bits}" if bits is not None and 1 <= bits <= 8 else AUTO
