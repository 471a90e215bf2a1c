"""Words of a text and the terms they form: one pass, one dictionary look-up a word.

A term is a sequence of words; hyphens, slashes and underscores between them count as spaces, so
"batch-1", "tokens/s" and "max_batch_size" are sequences like any other. Of several terms that
begin at a word the longest counts, and no two overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"\d+:\d+(?!\d)|[^\W_]+(?:['’][^\W_]+)?")
_GAP: Final = frozenset(
    (" ", "-", "/", "_", "  ", "‑", "–", ". ", " (", ") ", ".", " -", "- ", ": ", ":")
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


Table = Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]
"""First word -> (further words, tags), longest first."""


def words_of(text: str) -> list[Word]:
    """The words of a text in order."""
    return [
        Word(_folded(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)
    ]


def _folded(word: str) -> str:
    """Lower case, and without the mark of a possessive."""
    word = word.lower()
    if "'" in word or "’" in word:
        word = word.replace("’", "'").removesuffix("'s")
    return word


def compile_terms(terms: Mapping[str, str]) -> Table:
    """A look-up table of terms: by tag, terms between commas, "prun(e|es|ing)" for inflections."""
    table: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for tag, listed in terms.items():
        for pattern in listed.split(","):
            for term in expanded(pattern.strip()):
                parts = tuple(word.folded for word in words_of(term))
                if parts:
                    tags = table.setdefault(parts[0], {}).setdefault(parts[1:], [])
                    if tag not in tags:
                        tags.append(tag)
    return {
        first: tuple(
            (rest, tuple(tags))
            for rest, tags in sorted(ends.items(), key=lambda item: -len(item[0]))
        )
        for first, ends in table.items()
    }


@lru_cache(maxsize=4096)
def expanded(pattern: str) -> tuple[str, ...]:
    """Every term that a pattern with alternatives stands for."""
    parts = _GROUP.split(pattern)
    choices = [part.split("|") if at % 2 else [part] for at, part in enumerate(parts)]
    return tuple("".join(chosen) for chosen in product(*choices))


def tags_of(text: str, words: Sequence[Word], table: Table) -> list[Tag]:
    """Every term of the table in a text, in order."""
    found: list[Tag] = []
    at, count = 0, len(words)
    while at < count:
        step = 1
        for rest, tags in table.get(words[at].folded, ()):
            stop = at + 1 + len(rest)
            if stop > count or any(words[at + 1 + i].folded != word for i, word in enumerate(rest)):
                continue
            if not all(
                text[words[i].end : words[i + 1].start] in _GAP for i in range(at, stop - 1)
            ):
                continue
            start, end = words[at].start, words[stop - 1].end
            found.extend(Tag(tag, start, end, at, stop) for tag in tags)
            step = stop - at
            break
        at += step
    return found


def names(tags: Iterable[Tag]) -> frozenset[str]:
    """The kinds of terms among tags."""
    return frozenset(tag.name for tag in tags)
