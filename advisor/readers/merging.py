"""mergekit configs: which layers of which models are stacked.

Fewer layers than the deepest source has are pruned, more are added; equal depths are neither.
Source: mergekit's documentation of `slices` and `layer_range` (half-open).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advisor.readers.inner_text import InnerText
from advisor.readers.options.effects import Fact, Setting
from advisor.readers.options.meanings import dtype, model
from advisor.readers.options.values import whole_of
from advisor.readers.setups import Setup
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode
from advisor.source import Span


class _Slice(NamedTuple):
    """Layers of one model in one slice of the merge."""

    model: ScalarNode | None
    key: Span
    first: int
    last: int


def is_merge(entries: dict[str, Entry]) -> bool:
    """Whether a document is a merge."""
    return "merge_method" in entries and bool(entries.keys() & {"slices", "models", "modules"})


def add_merge(setup: Setup, entries: dict[str, Entry], text: InnerText) -> None:
    """Layers left out or stacked by a passthrough merge."""
    method = entries["merge_method"].value
    slices = entries.get("slices")
    if not isinstance(method, ScalarNode) or method.text != "passthrough" or slices is None:
        return
    found = list(_slices(slices.value))
    if not found:
        return
    if (stored := entries.get("dtype")) is not None and isinstance(stored.value, ScalarNode):
        setup.add(dtype(stored.value.text), text.place(stored.value.span))
    source = next((one.model for one in found if one.model is not None), None)
    if source is not None:
        place = text.place(source.span)
        facts = [effect for effect in model(source.text) if isinstance(effect, Fact)]
        setup.add(facts, place, place)
    kept = sum(one.last - one.first for one in found)
    deepest = max(one.last for one in found)
    place = text.place(found[min(1, len(found) - 1)].key)
    if kept > deepest:
        setup.add((Setting("merge_layers", {"layers_added": kept - deepest}),), place)
    elif kept < deepest:
        share = 1.0 - kept / deepest
        fields = {"pattern": "layers", "sparsity": round(share, 4), "storage": "removed"}
        setup.add((Setting("prune", fields),), place)
    elif len(found) == 1:
        fields = {"pattern": "layers", "storage": "removed", "kept": kept}
        setup.add((Setting("prune", fields),), place)


def _slices(node: Node) -> Iterator[_Slice]:
    """The first source of each slice: several sources of one slice are mixed, not stacked."""
    if not isinstance(node, ListNode):
        return
    for item in node.items:
        sources = _entry(item, "sources")
        if sources is None or not isinstance(sources.value, ListNode) or not sources.value.items:
            continue
        source = sources.value.items[0]
        bounds, named = _entry(source, "layer_range"), _entry(source, "model")
        if bounds is None or not isinstance(bounds.value, ListNode):
            continue
        numbers = [
            whole_of(part.value) if isinstance(part, ScalarNode) else None
            for part in bounds.value.items
        ]
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            continue
        name = named.value if named is not None and isinstance(named.value, ScalarNode) else None
        if 0 <= numbers[0] < numbers[1]:
            yield _Slice(name, bounds.key.span, numbers[0], numbers[1])


def _entry(node: Node, name: str) -> Entry | None:
    if not isinstance(node, MapNode):
        return None
    return next((entry for entry in node.entries if entry.key.text == name), None)
