"""Entries of mappings by name, and their texts and numbers; nothing for what is something else."""

from __future__ import annotations

from advisor.readers.yaml_nodes import Entry, MapNode, Node, ScalarNode


def by_name(node: Node | None) -> dict[str, Entry]:
    """The entries of a mapping by key; none for any other value."""
    if not isinstance(node, MapNode):
        return {}
    return {entry.key.text: entry for entry in node.entries}


def text_of(entry: Entry | None) -> str:
    """The text of an entry's value; empty where there is none."""
    return entry.value.text if entry is not None and isinstance(entry.value, ScalarNode) else ""


def number_of(text: str) -> float | None:
    """A number; None for a text that is none."""
    try:
        return float(text)
    except ValueError:
        return None
