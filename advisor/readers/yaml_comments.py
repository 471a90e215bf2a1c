"""Comments of a YAML text that speak to rooflint, and what each is about.

A "#" begins a comment where white space or the start of a line stands before it and no value
holds it; so the places of all values say which are comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from advisor.readers import Comment
from advisor.readers.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from advisor.readers.yaml_tree import compose
from advisor.source import Source, Span

_COMMENT: Final = re.compile(r"(?:(?<=\s)|^)#[^\n\r]*", re.MULTILINE)
_MARK: Final = "rooflint:"


def comments(source: Source) -> tuple[Comment, ...]:
    """The comments that hold "rooflint:", each with the places it covers.

    At the end of a line that is the line, with the text that a "|" or ">" on it opens; on a line
    of its own, the entry that begins on the next line that holds one. Comments behind a syntax
    error are not found.
    """
    composed = compose(source)
    end = len(source.text)
    if not composed.whole:
        end = max((root.outer.end for root in composed.documents), default=0)
    held: list[Span] = []
    begins: dict[int, int] = {}  # line -> end of the longest entry that begins on it
    opens: dict[int, int] = {}  # line -> end of the text that a block's header on it opens
    for node, is_entry in (pair for root in composed.documents for pair in _places(root)):
        line = source.position(node.outer.start).line
        if is_entry:
            begins[line] = max(begins.get(line, 0), node.outer.end)
        if isinstance(node, ScalarNode):
            is_block = source.text.startswith(("|", ">"), node.outer.start)
            held.append(node.span if is_block else node.outer)
            if is_block:
                opens[line] = node.outer.end
    lines = sorted(begins)
    found: list[Comment] = []
    for comment in _outside(source.text, end, sorted(held)):
        line = source.position(comment.start).line
        first = source.offset(line, 1)
        stop = first + len(source.line(line))
        words = Span(comment.start + 1, comment.end)
        if source.text[first : comment.start].strip():
            found.append(Comment(words, Span(first, max(stop, opens.get(line, 0)))))
            continue
        after = bisect_right(lines, line)
        if after < len(lines):
            first = source.offset(lines[after], 1)
            stop = begins[lines[after]]
        found.append(Comment(words, Span(first, stop)))
    return tuple(found)


def _outside(text: str, end: int, held: list[Span]) -> Iterator[Span]:
    """Comments that speak to rooflint and that no value holds."""
    starts = [span.start for span in held]
    at = 0
    while match := _COMMENT.search(text, at, end):
        before = bisect_right(starts, match.start()) - 1
        if before >= 0 and held[before].end > match.start():
            at = held[before].end  # a comment may follow on the same line
            continue
        at = match.end()
        if _MARK in match[0]:
            yield Span(match.start(), match.start() + len(match[0].rstrip()))


def _places(root: Node) -> Iterator[tuple[Node, bool]]:
    """Every key, value and item, and whether an entry begins with it."""
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, is_entry = waiting.pop()
        yield node, is_entry
        if isinstance(node, ListNode):
            waiting += ((item, True) for item in node.items)
        elif isinstance(node, MapNode):
            for entry in node.entries:
                waiting += ((entry.key, False), (entry.value, False))
                yield ListNode((), entry.pair), True
