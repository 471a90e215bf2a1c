"""Values of Python as nodes of the dialect, each where it stands, for the readers of YAML."""

from __future__ import annotations

import ast
from typing import Final

from advisor.readers.python.seen import Local
from advisor.readers.python.syntax import Places
from advisor.readers.python.values import Literal, Made, Mapping, Sequence, Value, usual
from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode
from advisor.source import Source, Span

_DEEPEST: Final = 20


def scalar(text: str, span: Span, *, plain: bool = True) -> ScalarNode:
    """A value as a node."""
    return ScalarNode(text, span, span, plain)


def entry(name: str, value: Node, span: Span) -> Entry:
    """A field as a node."""
    return Entry(scalar(name, span), value)


class Nodes:
    """From values to nodes of the dialect."""

    def __init__(self, source: Source, places: Places) -> None:
        """Keep the text and the places in it."""
        self._source, self._places = source, places

    def of(self, value: Value, depth: int = 0) -> Node:
        """A value as a node; what is not known is its text in the file."""
        value = usual(value)
        span = self._places.span(value.node)
        if depth > _DEEPEST:
            return scalar("", span)
        if isinstance(value, Sequence):
            return ListNode(tuple(self.of(item, depth + 1) for item in value.items), span)
        if isinstance(value, Mapping):
            return MapNode(self._entries(value.entries, depth), span)
        if isinstance(value, Made) and value.keywords:
            return MapNode(self._entries(value.keywords, depth), span)
        if isinstance(value, Literal) and not isinstance(value.data, bytes):
            return self._literal(value, span)
        return scalar(self._source.slice(span), span, plain=False)

    def _entries(self, items: dict[str, tuple[ast.AST, Value]], depth: int) -> tuple[Entry, ...]:
        found: list[Entry] = []
        for name, (place, value) in items.items():
            if isinstance(usual(value), Local):
                continue
            span = self._places.span(place)
            start = self._source.text.find(name, span.start, span.end)
            key = Span(start, start + len(name)) if start >= 0 else span
            found.append(entry(name, self.of(value, depth + 1), key))
        return tuple(found)

    @staticmethod
    def _literal(value: Literal, span: Span) -> ScalarNode:
        data = value.data
        if isinstance(data, str):
            inner = (
                Span(span.start + 1, span.end - 1)
                if span.end - span.start == len(data) + 2
                else span
            )
            return ScalarNode(data, inner, span, plain=False)
        words = {"None": "null", "True": "true", "False": "false"}
        return ScalarNode(words.get(str(data), str(data)), span, span, plain=True)
