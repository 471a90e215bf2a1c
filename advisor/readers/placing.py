"""Devices as manifests name them: node labels, resources, instance types, accelerator fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.readers.options.values import kebab
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode
from advisor.source import Span

_LABELS: Final = re.compile(
    r"gke-(?:tpu-)?accelerator$|gpu\.product$|gpu-name$|gpu\.nvidia\.com/(?:model|class)$"
    r"|instance-type$|(?:^|[./])accelerator(?:[-_]?(?:type|name))?$|amd\.com/gpu\.product-name$"
    r"|gpu[-_.]?(?:type|model|class)$"
)
_FIELDS: Final = frozenset(
    {
        "accelerator", "accelerators", "accelerator-type", "gpu-type", "instance-type",
        "machine-type", "resource-profile", "gpu-model", "hardware", "gpu", "gpu-name",
        "gpu-product", "vm-size",
    }
)  # fmt: skip
_COUNTED: Final = re.compile(r"([A-Za-z][\w .-]*?)\s*[:=]\s*\d+(?:\.\d+)?")
_COUNT: Final = re.compile(r":\s*(\d{1,3})\s*$")
_WORDS: Final = re.compile(r"-(?:slice|podslice|device)$|^(?:nvidia-gpu|gpu)-", re.IGNORECASE)
_SIZE: Final = re.compile(r"\d")


def device_of(entry: Entry) -> tuple[str, Span] | None:
    """The device that a key and its value name, if they name one."""
    key = entry.key.text
    if _LABELS.search(key) is None and kebab(key) not in _FIELDS:
        return None
    return next(_names(entry.value), None)


def device_count(node: Node) -> int | None:
    """Devices of a node that SkyPilot's `accelerators` ask for, where all choices agree."""
    texts: list[str] = []
    if isinstance(node, ScalarNode):
        texts = [node.text]
    elif isinstance(node, MapNode):
        for entry in node.entries:
            value = entry.value.text if isinstance(entry.value, ScalarNode) else ""
            texts.append(f"{entry.key.text}:{value}" if value else entry.key.text)
    elif isinstance(node, ListNode):
        texts = [item.text for item in node.items if isinstance(item, ScalarNode)]
    counts = {match[1] if (match := _COUNT.search(text)) else "1" for text in texts}
    return int(next(iter(counts))) if len(counts) == 1 else None


def device_of_expression(node: MapNode) -> tuple[str, Span] | None:
    """The device of a node affinity: {key: ..., operator: In, values: [...]}."""
    parts = {entry.key.text: entry.value for entry in node.entries}
    key, values = parts.get("key"), parts.get("values")
    if not isinstance(key, ScalarNode) or values is None or _LABELS.search(key.text) is None:
        return None
    return next(_names(values), None)


def _names(node: Node) -> Iterator[tuple[str, Span]]:
    if isinstance(node, ScalarNode):
        name = _cleaned(node.text)
        if name:
            yield name, node.span
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _names(item)
    else:
        for entry in node.entries:  # SkyPilot: {H100: 8, A100-80GB: 8}, or {H200:8, H100:8}
            name = _cleaned(entry.key.text)
            if name:
                yield name, entry.key.span


def _cleaned(text: str) -> str:
    """A device's name without the count beside it; empty for what cannot be one."""
    name = text.strip()
    match = _COUNTED.fullmatch(name)
    name = match[1] if match is not None else name
    name = _WORDS.sub("", _WORDS.sub("", name)).removeprefix("nvidia.com/")
    plausible = 1 < len(name) <= 60 and _SIZE.search(name) is not None
    return name if plausible and not re.search(r"[{}$<>\ue000/]|^\d+$", name) else ""
