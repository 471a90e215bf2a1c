"""Which letters stand in a text, found once for all patterns that ask for them.

A pattern needs some letters for each of its parts: of `(?:halves|cuts) the latency` one of "halves"
and "cuts", and "latency". Each such need has a bit. A word of a text has the bits of all needs that
it meets, a text those of its words, and a pattern whose bits the text lacks cannot match there:
one comparison of two numbers, however many letters the pattern names.

The needs are derived from the patterns beforehand (needs.py) and kept in letters.json. A pattern
that is not kept there needs nothing, and is looked for in every text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from hashlib import blake2b
from operator import or_
from pathlib import Path
from typing import Any, Final, NamedTuple

FILE: Final = Path(__file__).with_name("letters.json")
DIGIT: Final = "0"
"""Stands for any digit among the letters of a need."""
PIECE: Final = re.compile(r"\w+|[^\w\s.,'’()-]")
"""What texts and patterns are taken apart into: words, and signs that are not in every sentence."""
_PATTERNS: Final = "patterns"
_ALTERNATIVES: Final = "alternatives"
PLACES: Final = ("word", "start", "end", "within")
SHORTEST: Final = 2
"""Letters that are not a whole word: fewer tell nothing."""


class Table(NamedTuple):
    """The bits of the needs that letters meet, by where in a word they stand."""

    needs: Mapping[str, tuple[int, ...]]
    """Key of a pattern -> the bits that it needs, or that each of its alternatives does."""
    word: Mapping[str, int]
    """Letters that are a whole word."""
    start: Mapping[str, int]
    """Letters that a word begins with."""
    end: Mapping[str, int]
    """Letters that a word ends with."""
    within: Mapping[str, tuple[tuple[str, int], ...]]
    """Two letters -> letters that begin with them and stand anywhere in a word."""
    digit: int
    """The bits of needs that any digit meets."""

    def of_piece(self, piece: str) -> int:
        """The bits of the needs that a word, or a sign, meets."""
        found = self.word.get(piece, 0)
        if not piece.isalpha():
            found |= self.digit
        start, end, within = self.start, self.end, self.within
        for at in range(len(piece) - SHORTEST + 1):
            found |= start.get(piece[: at + SHORTEST], 0) | end.get(piece[at:], 0)
            for letters, bits in within.get(piece[at : at + SHORTEST], ()):
                if piece.startswith(letters, at):
                    found |= bits
        return found


def need_of(pattern: str) -> int:
    """What a pattern needs."""
    return next(iter(_table(_PATTERNS).needs.get(key_of(pattern), ())), 0)


def needs_of_alternatives(pattern: str) -> tuple[int, ...]:
    """What each alternative of a pattern needs; empty where it is not worth to ask."""
    return _table(_ALTERNATIVES).needs.get(key_of(pattern), ())


def _scanner(kind: str) -> Callable[[str], int]:
    """Find the bits of the needs that a text meets, with every part of it looked at once."""

    @lru_cache(maxsize=65536)
    def of_piece(piece: str) -> int:
        return _table(kind).of_piece(piece)

    @lru_cache(maxsize=65536)
    def of_token(token: str) -> int:
        return reduce(or_, map(of_piece, PIECE.findall(token.lower())), 0)

    @lru_cache(maxsize=8192)
    def of_text(text: str) -> int:
        return reduce(or_, map(of_token, text.split()), 0)

    return of_text


letters_of: Final = _scanner(_PATTERNS)
"""The bits of the needs of patterns that a text meets."""
letters_of_alternatives: Final = _scanner(_ALTERNATIVES)
"""The bits of the needs of alternatives that a text meets: few texts are asked for these."""


def key_of(pattern: str) -> str:
    """The key of a pattern in a table."""
    return blake2b(pattern.encode(), digest_size=8).hexdigest()


@lru_cache(maxsize=2)
def _table(kind: str) -> Table:
    data = _content()[kind]
    bits = {
        place: {letters: _bits(numbers) for letters, numbers in data[place].items()}
        for place in PLACES
    }
    within: dict[str, list[tuple[str, int]]] = {}
    for letters, its in bits["within"].items():
        within.setdefault(letters[:SHORTEST], []).append((letters, its))
    return Table(
        {key: tuple(map(_bits, needs)) for key, needs in data["needs"].items()},
        bits["word"],
        bits["start"],
        bits["end"],
        {two: tuple(group) for two, group in within.items()},
        _bits(data["digit"]),
    )


@lru_cache(maxsize=1)
def _content() -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(FILE.read_bytes())
    return content


def _bits(numbers: list[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found
