"""Words, numbers and symbols of a sentence, with their places: what quantities are read from.

A number that belongs to a name, a version, a date, an N:M pattern or a path is told apart here
(`Token.attached`), so that "Llama-3.1-70B", "v0.6.3", "2024-11-30", "2:4" and "INT4" never look
like amounts. One pass, time linear in the length of the text.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from advisor.quantity.numerals import NUMERALS


class TokenKind(StrEnum):
    """What a token is."""

    NUMBER = "number"
    WORD = "word"
    SYMBOL = "symbol"


class Token(NamedTuple):
    """One word, number or symbol; `text[start:end] == raw`, offsets in code points."""

    kind: TokenKind
    raw: str
    folded: str
    """`raw` in lower case."""
    start: int
    end: int
    glued: bool
    """No white space before it."""
    value: float | None = None
    """The number; None for a token that is none or is not well formed ("1,3,5", "0.6.3")."""
    attached: bool = False
    """A number that is part of a name, version, date, ratio N:M or path: never an amount."""
    opens_line: bool = False
    """The first of its line."""


_TOKEN = re.compile(
    r"(?P<number>[0-9](?:[0-9.,_]*[0-9])?(?:[eE][+-]?[0-9]{1,3}(?!\w))?|(?<![\w.])\.[0-9]+)"
    r"|(?P<word>[^\W0-9]\w*(?:['’]\w+)?)"
    r"|(?P<symbol>\S)"
)
_CHAIN = re.compile(r"[0-9][/:-][0-9.]")
_KINDS = {kind.value: kind for kind in TokenKind}
_NUMBER = re.compile(
    r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,2}(?:_[0-9]{3})+|[0-9]+)?"
    r"(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
)
_LONGEST_NUMBER = 40
"""Digits beyond this are noise; it also keeps the conversion cheap."""

HYPHENS = frozenset("-‐‑")
DASHES = HYPHENS | frozenset("–—−")
_NAME_SYMBOLS = frozenset("/#@$€£§\\_")
_HYPHENATED_BEFORE_AMOUNTS = frozenset({"batch", "bs", "batchsize", "sub", "to", "under", "over"})
"""Words that stand before an amount with a hyphen: batch-1, sub-20 ms, up-to-2x."""


def words(text: str) -> frozenset[str]:
    """A set of words, written as one string."""
    return frozenset(text.split())


def tokenize(text: str) -> list[Token]:
    """Split `text` into tokens in order; white space is dropped, nothing else is."""
    tokens: list[Token] = []
    end = -1
    number, word = TokenKind.NUMBER, TokenKind.WORD
    for match in _TOKEN.finditer(text):
        raw = match[0]
        folded = raw.lower()
        start = match.start()
        glued = start == end
        opens = not glued and (end < 0 or "\n" in text[end:start])
        end = match.end()
        kind = _KINDS[match.lastgroup or "symbol"]
        value = None
        attached = False
        if kind is number:
            value = _number(raw)
            attached = value is None or (glued and _in_a_name(tokens))
        elif kind is word:
            value = float(NUMERALS[folded]) if folded in NUMERALS else None
        tokens.append(Token(kind, raw, folded, start, end, glued, value, attached, opens))
    return _join_fractions_and_chains(tokens) if _CHAIN.search(text) else tokens


def _number(raw: str) -> float | None:
    if len(raw) > _LONGEST_NUMBER or not _NUMBER.fullmatch(raw):
        return None
    value = float(raw.replace(",", "").replace("_", ""))
    return value if value < float("inf") else None


def _in_a_name(before: list[Token]) -> bool:
    """Whether a number glued to what stands before it is part of a name."""
    last = before[-1]
    if last.kind is TokenKind.SYMBOL and last.raw in _NAME_SYMBOLS:
        # the second half of 1/3 is joined to the first later
        numerator = len(before) > 1 and last.raw == "/" and before[-2].kind is TokenKind.NUMBER
        return not (numerator and last.glued)
    if last.raw == "." and last.glued:
        return True
    if last.raw not in HYPHENS or not last.glued or len(before) < 2:
        return False
    name = before[-2]
    if name.kind is TokenKind.WORD and name.glued and before[-3].kind is TokenKind.NUMBER:
        return before[-3].attached  # 1.5x-1.8x
    if name.kind is TokenKind.WORD:
        return name.value is None and name.folded not in _HYPHENATED_BEFORE_AMOUNTS
    return name.attached


def _join_fractions_and_chains(tokens: list[Token]) -> list[Token]:
    """Make one token of 1/3; mark 2:4, 10:30, 3/4/2024 and 2024-11-30 as no amounts."""
    joined: list[Token] = []
    i = 0
    while i < len(tokens):
        stop = i + 1
        separators = set()
        # a chain: numbers glued by / or : or -
        while (
            tokens[stop - 1].kind is TokenKind.NUMBER
            and stop + 1 < len(tokens)
            and tokens[stop].raw in "/:-"
            and tokens[stop].glued
            and tokens[stop + 1].glued
            and tokens[stop + 1].kind is TokenKind.NUMBER
        ):
            separators.add(tokens[stop].raw)
            stop += 2
        chain = tokens[i:stop]
        first, last = chain[0], chain[-1]
        if separators == {"/"} and len(chain) == 3 and _is_fraction(first, last):
            assert first.value is not None
            assert last.value is not None
            raw = f"{first.raw}/{last.raw}"
            joined.append(
                first._replace(raw=raw, folded=raw, end=last.end, value=first.value / last.value)
            )
        elif separators and (separators != {"-"} or len(chain) > 3):
            joined.extend(t._replace(attached=True) for t in chain)
        else:
            joined.extend(chain)
        i = stop
    return joined


def _is_fraction(top: Token, bottom: Token) -> bool:
    """1/3 and 3/4 are parts of a whole; 24/7 and 1.5/2 are not read."""
    plain = top.raw.isdigit() and bottom.raw.isdigit() and not (top.attached or bottom.attached)
    return plain and 0 < int(top.raw) < int(bottom.raw)
