"""Text inside text: a value that is YAML, JSON or a shell command of its own, and its places.

A block, folded or quoted scalar loses indentation, line ends and escapes when YAML reads it. An
`InnerText` knows, for each character of the value, where it stands in the file.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from advisor.readers.yaml_nodes import Node, ScalarNode
from advisor.readers.yaml_tree import compose
from advisor.source import Source, Span

_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r?\n[ \t]*|.)", re.DOTALL
)
_MAX_NESTED: Final = 200_000
"""Characters of a value that is read as a text of its own."""


class InnerText(NamedTuple):
    """A text, and where each of its characters stands in the file that holds it."""

    source: Source
    offsets: Sequence[int] | None = None
    """None where the text is the file itself."""

    @property
    def text(self) -> str:
        """The text itself."""
        return self.source.text

    def place(self, span: Span) -> Span:
        """Where a span of this text stands in the file."""
        if self.offsets is None:
            return span
        offsets = self.offsets
        if not offsets:
            return Span(0, 0)
        start = offsets[min(span.start, len(offsets) - 1)]
        if span.end <= span.start:
            return Span(start, start)
        return Span(start, max(offsets[min(span.end, len(offsets)) - 1] + 1, start))

    def inside(self, node: ScalarNode) -> InnerText:
        """The value of a scalar of this text as a text of its own."""
        value = node.text[:_MAX_NESTED]
        if self.text.startswith(value, node.span.start):
            here: Sequence[int] = range(node.span.start, node.span.start + len(value))
        else:
            here = _aligned(self.text, node, value)
        if self.offsets is not None:
            last = len(self.offsets) - 1
            here = array("l", (self.offsets[min(index, last)] for index in here))
        return InnerText(Source(self.source.path, value), here)

    def documents(self) -> tuple[Node, ...]:
        """The YAML or JSON documents of this text, those that can be read."""
        return compose(self.source).documents


def _aligned(text: str, node: ScalarNode, value: str) -> Sequence[int]:
    """Where each character of a value stands: words in order, white space before the next word.

    YAML drops, adds and folds white space only, so characters that are none keep their order.
    """
    raw = text[node.outer.start : node.outer.end]
    places = _written(raw, node, text)
    offsets = array("l", bytes(array("l").itemsize * len(value)))
    index = node.span.start
    for at, character in enumerate(value):
        if not character.isspace():
            index = next(places, index)
            offsets[at] = index
        else:
            offsets[at] = index + 1 if at else node.span.start
    return offsets


def _written(raw: str, node: ScalarNode, text: str) -> Iterator[int]:
    """Places of the characters of a scalar, as written, that are no white space once read."""
    start = node.outer.start
    if raw.startswith(("|", ">")):
        yield from _words(text, node.span.start, node.outer.end)
        return
    if raw.startswith('"'):
        yield from _double_quoted(text, start + 1, node.outer.end - 1)
        return
    if raw.startswith("'"):
        at, end = start + 1, node.outer.end - 1
        while at < end:
            if not text[at].isspace():
                yield at
            at += 2 if text.startswith("''", at) else 1
        return
    yield from _words(text, start, node.outer.end)


def _words(text: str, start: int, end: int) -> Iterator[int]:
    return (at for at in range(start, end) if not text[at].isspace())


def _double_quoted(text: str, start: int, end: int) -> Iterator[int]:
    at = start
    while at < end:
        if text[at] != "\\":
            if not text[at].isspace():
                yield at
            at += 1
            continue
        match = _ESCAPE.match(text, at, end)
        if match is None:
            return
        escaped = match[0][1:]
        if not _is_white(escaped):
            yield at
        at = match.end()


def _is_white(escaped: str) -> bool:
    """Whether an escape stands for white space, or for nothing."""
    if escaped[0] in "\r\n":
        return True
    if escaped[0] in "xuU" and len(escaped) > 1:
        return chr(min(int(escaped[1:], 16), 0x10FFFF)).isspace()
    return escaped[0] in "tnrvfNLP_ "
