"""A small frozen tree of what a file holds, in which every key and value has its place.

Spans are code points of the decoded text. `yaml_tree` makes it of YAML.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

from advisor.source import Span

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"


class ScalarNode(NamedTuple):
    """One value that holds no others."""

    text: str
    """As YAML reads it: quotes, escapes and folds undone."""
    span: Span
    """Its words, quotes left out; for a text over several lines, from its first to its last."""
    outer: Span
    """With quotes, or with the header of a block."""
    plain: bool
    """Whether it stands without quotes, so that it may be a number or nothing."""

    @property
    def value(self) -> bool | int | float | str | None:
        """What the text stands for: a number, true, false, nothing, or itself."""
        if not self.plain:
            return self.text
        if self.text in _CONSTANTS:
            return _CONSTANTS[self.text]
        if len(self.text) <= _LONGEST_NUMBER:
            if _WHOLE.fullmatch(self.text):
                return int(self.text)
            if _FRACTION.fullmatch(self.text):
                return float(self.text)
        return self.text


class ListNode(NamedTuple):
    """A list."""

    items: tuple[Node, ...]
    span: Span

    @property
    def outer(self) -> Span:
        """Its span."""
        return self.span


class Entry(NamedTuple):
    """A key of a mapping and its value."""

    key: ScalarNode
    value: Node

    @property
    def pair(self) -> Span:
        """From the key to the end of the value."""
        return Span(self.key.outer.start, max(self.key.outer.end, self.value.outer.end))


class MapNode(NamedTuple):
    """A mapping whose keys are text, each once, merge keys resolved."""

    entries: tuple[Entry, ...]
    span: Span

    @property
    def outer(self) -> Span:
        """Its span."""
        return self.span


Node: TypeAlias = ScalarNode | ListNode | MapNode

_LONGEST_NUMBER: Final = 40
_CONSTANTS: Final[dict[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_WHOLE: Final = re.compile(r"[-+]?[0-9]+")
_FRACTION: Final = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?"
)


def is_nothing(node: Node) -> bool:
    """Whether a value is empty or null."""
    return isinstance(node, ScalarNode) and node.value is None


def plain_value(node: Node) -> Plain:
    """The tree as dicts, lists, text and numbers."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, ListNode):
        return [plain_value(item) for item in node.items]
    return {entry.key.text: plain_value(entry.value) for entry in node.entries}
