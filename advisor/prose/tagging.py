"""Words of a text and the terms they form: one pass, one dictionary look-up a word.

A term is a sequence of words; hyphens, slashes and underscores between them count as spaces, so
"batch-1", "tokens/s" and "max_batch_size" are sequences like any other. Of several terms that
begin at a word the longest counts, and no two overlap.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"\d+:\d+(?!\d)|[^\W_]+(?:['’][^\W_]+)?")
_GAP: Final = frozenset(
    (" ", "-", "=", " = ", "/", "_", "  ", "‑", "–", ". ", " (", ") ", ".", " -", "- ", ": ", ":")
)
_GROUP: Final = re.compile(r"\(([^()]*)\)")


class Word(NamedTuple):
    """One word; `text[start:end]` in lower case."""

    folded: str
    start: int
    end: int


class Tag(NamedTuple):
    """A term in a text: what it is, where it stands, and its words by index."""

    name: str
    start: int
    end: int
    first: int
    last: int
    """Index after the last word."""


class Node:
    """The terms that go on from some words: by the next word, and the tags of those that end."""

    __slots__ = ("further", "tags")

    def __init__(self) -> None:
        """Nothing goes on from here."""
        self.further: dict[str, Node] = {}
        self.tags: tuple[str, ...] = ()


Table = Mapping[str, Node]
"""First word -> what goes on from it."""


def words_of(text: str, start: int = 0, end: int = sys.maxsize) -> list[Word]:
    """The words of `text[start:end]` in order, with their offsets in `text`."""
    folded = _lowered(text)
    if len(folded) == len(text):
        found = [
            _new(Word, (match[0], *match.span())) for match in _WORD.finditer(folded, start, end)
        ]
    else:  # of few letters the small one is longer
        found = [
            _new(Word, (match[0].lower(), *match.span()))
            for match in _WORD.finditer(text, start, end)
        ]
    if "'" in text or "’" in text:
        return [Word(_folded(word.folded), word.start, word.end) for word in found]
    return found


@lru_cache(maxsize=8)
def _lowered(text: str) -> str:
    """A text in small letters; it is asked for each of its sentences."""
    return text.lower()


_new: Final = tuple.__new__
"""Of a NamedTuple without its constructor, which would be half the time of reading words."""


_LONGEST_PRONOUN: Final = 6
"""Letters of "they'd", in which the mark stands for a verb."""


def _folded(word: str) -> str:
    """Without the mark of a possessive, or of a name made a verb: "wanda'd"."""
    if "'" in word or "’" in word:
        word = word.replace("’", "'").removesuffix("'s")
        if len(word) > _LONGEST_PRONOUN:
            word = word.removesuffix("'d")
    return word


def compile_terms(terms: Mapping[str, str]) -> Table:
    """A look-up table of terms: by tag, terms between commas, "prun(e|es|ing)" for inflections."""
    table: dict[str, Node] = {}
    for tag, listed in terms.items():
        for pattern in listed.split(","):
            for term in expanded(pattern.strip()):
                node, further = None, table
                for word in words_of(term):
                    node = further.setdefault(word.folded, Node())
                    further = node.further
                if node is not None and tag not in node.tags:
                    node.tags = (*node.tags, tag)
    return table


@lru_cache(maxsize=4096)
def expanded(pattern: str) -> tuple[str, ...]:
    """Every term that a pattern with alternatives stands for; groups may stand in groups."""
    group = _GROUP.search(pattern)
    if group is None:
        return (pattern,)
    before, after = pattern[: group.start()], pattern[group.end() :]
    return tuple(
        term for choice in group[1].split("|") for term in expanded(f"{before}{choice}{after}")
    )


def tags_of(text: str, words: Sequence[Word], table: Table) -> list[Tag]:
    """Every term of the table in a text, in order."""
    found: list[Tag] = []
    at, count = 0, len(words)
    while at < count:
        node = table.get(words[at].folded)
        tags: tuple[str, ...] = ()
        stop, next_at = 0, at + 1
        while node is not None:
            if node.tags:
                stop, tags = next_at, node.tags
            if next_at == count or not node.further:
                break
            node = node.further.get(words[next_at].folded)
            if node is not None and text[words[next_at - 1].end : words[next_at].start] not in _GAP:
                break
            next_at += 1
        if stop:
            start, end = words[at].start, words[stop - 1].end
            found += [_new(Tag, (tag, start, end, at, stop)) for tag in tags]
        at = stop or at + 1
    return found


def names(tags: Iterable[Tag]) -> frozenset[str]:
    """The kinds of terms among tags."""
    return frozenset(tag.name for tag in tags)
