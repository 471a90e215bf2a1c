"""Lines of a text that is no YAML, however it is made readable: what each says for itself.

Keys with a value on their line, and items of lists of arguments, become one mapping, so that
options and flags that are literal are still read. Structure is lost, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.readers.yaml_nodes import Entry, ListNode, MapNode, Node, ScalarNode
from advisor.source import Span

_LINE: Final = re.compile(r"[^\r\n]+")
_PAIR: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?P<quote>[\"']?)(?P<key>[A-Za-z_][\w.-]{0,79})(?P=quote)[ \t]*:[ \t]+"
    r"(?P<value>[^\s#].*?)[ \t]*,?[ \t]*"
)
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(?P<value>\S.*?)[ \t]*")
_MAX_LINES: Final = 20_000


def loose_nodes(text: str, start: int = 0, end: int | None = None) -> tuple[Node, ...]:
    """Mappings of what the lines between two offsets say; a new one where a key comes again."""
    return tuple(_mappings(text, start, len(text) if end is None else end))


def _mappings(text: str, start: int, end: int) -> Iterator[MapNode]:
    entries: dict[str, Entry] = {}
    items: list[ScalarNode] = []
    first = start
    for count, line in enumerate(_LINE.finditer(text, start, end)):
        if count > _MAX_LINES:
            break
        item = _ITEM.fullmatch(text, *line.span())
        pair = _PAIR.fullmatch(text, *line.span())
        if pair is not None:
            key = ScalarNode(
                pair["key"], Span(*pair.span("key")), Span(*pair.span("key")), plain=True
            )
            if pair["key"] in entries:
                yield _mapping(entries, items, first)
                entries, items, first = {}, [], line.start()
            entries[pair["key"]] = Entry(key, _scalar(text, Span(*pair.span("value"))))
        elif item is not None:
            items.append(_scalar(text, Span(*item.span("value"))))
    if entries or items:
        yield _mapping(entries, items, first)


def _mapping(entries: dict[str, Entry], items: list[ScalarNode], start: int) -> MapNode:
    found = list(entries.values())
    if items and "args" not in entries:
        span = Span(items[0].outer.start, items[-1].outer.end)
        key = ScalarNode(
            "args", Span(span.start, span.start), Span(span.start, span.start), plain=True
        )
        found.append(Entry(key, ListNode(tuple(items), span)))
    ends = [entry.pair.end for entry in found]
    return MapNode(tuple(found), Span(start, max(ends, default=start)))


def _scalar(text: str, span: Span) -> ScalarNode:
    """A value without the quotes around it."""
    raw = text[span.start : span.end]
    if len(raw) > 1 and raw[0] in "'\"" and raw[-1] == raw[0]:
        inner = Span(span.start + 1, span.end - 1)
        return ScalarNode(raw[1:-1], inner, span, plain=False)
    return ScalarNode(raw, span, span, plain=True)
