"""Equations in prose: "2 x 70e9 x 8,192 = 1.15 PFLOP", and whether they come out.

Units are not read: a product or quotient may differ by a power of ten, as GB over GB/s gives
thousandths of what is told in ms. What is left is the mantissa, which no unit changes.
"""

from __future__ import annotations

import re
from math import floor, log10
from typing import Final, NamedTuple

_PART: Final = (
    r"(?P<number>(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e\d{1,2})?)|(?P<sign>(?<=\s)[x×*/+](?=\s+\d))"
)
_UNPLAIN: Final = r"\*\*|\^|[-−–]\s*\d|%|\([^()]*\d|\d[·(]|\d[a-z]\b|\bat\b|\bfor\b|\bwith\b|sizeof"
_RESULT: Final = r"\s*(?:about |roughly |nearly |almost |~|≈)?\s*(\d[\d,]*(?:\.\d+)?)"
_STOP: Final = r"[=;:]|[.!?]\s|, (?![\d])"
_REACH: Final = 120
_LONGEST_UNIT: Final = 18
_MOST_PARTS: Final = 8
_GRACE: Final = 0.06
_BINARY: Final = (1.0, *(1.024**k for k in (-3, -2, -1, 1, 2, 3)))
_BINARY_GRACE: Final = 0.01


class Equation(NamedTuple):
    """One equation; offsets in the text."""

    start: int
    end: int
    left: float
    right: float

    @property
    def is_right(self) -> bool:
        """Whether both sides agree but for a power of ten, or of 1,024."""
        ratio = _mantissa(self.left) / _mantissa(self.right)
        return any(
            abs(ratio / (scale * factor) - 1.0) < (_GRACE if factor == 1.0 else _BINARY_GRACE)
            for factor in _BINARY
            for scale in (0.1, 1.0, 10.0)
        )


_COUNTED: Final = re.compile(
    r"\b(?:tokens|positions|sequences|sessions|users|chats|layers|heads)\s*$"
)
_BYTES: Final = re.compile(r"\s?[KMGT]i?B\b")


_BITS: Final = re.compile(r"\d ?bits?\b(?! ?/ ?8)")
_BITS_OF_A_BYTE: Final = 8.0


def equations_in(text: str) -> list[Equation]:
    """The equations of a sentence: a product, quotient or sum, a sign of equality, a number."""
    found: list[Equation] = []
    at = text.find("=")
    while at >= 0 and len(found) < _MOST_PARTS:
        left = _left(text, at)
        right = re.compile(_RESULT).match(text, at + 1)
        other = _COUNTED.search(text, max(0, at - _REACH), at) and _BYTES.match(
            text, at + 1 if right is None else right.end()
        )
        if left is None or right is None or other:
            at = text.find("=", at + 1)
            continue  # "24 x 6K tokens = 33 GB" leaves out what a token takes
        value = _number(right[1])
        if _BITS.search(text, left[0], at) and _BYTES.match(text, right.end()):
            value *= _BITS_OF_A_BYTE
        if value > 0:
            found.append(Equation(left[0], right.end(), left[1], value))
        at = text.find("=", at + 1)
    return found


def _left(text: str, end: int) -> tuple[int, float] | None:
    """Where the left side begins and what it comes to; None where it is no plain expression."""
    begin = max(0, end - _REACH)
    for stop in re.compile(_STOP).finditer(text, begin, end):
        begin = stop.end()
    parts = list(re.compile(_PART).finditer(text, begin, end))
    # the expression is what runs up to the sign of equality: number, sign, number ...
    chain: list[re.Match[str]] = []
    for part in reversed(parts):
        wants = "number" if not chain or chain[-1].lastgroup == "sign" else "sign"
        if part.lastgroup != wants:
            break
        chain.append(part)
    chain.reverse()
    if chain and chain[0].lastgroup == "sign":
        chain = chain[1:]
    if not 3 <= len(chain) <= 2 * _MOST_PARTS:
        return None
    if re.compile(_UNPLAIN).search(text, begin, end) or end - chain[-1].end() > _LONGEST_UNIT:
        return None
    return chain[0].start(), _value([part[0] for part in chain])


def _value(parts: list[str]) -> float:
    total, term = 0.0, _number(parts[0])
    for sign, number in zip(parts[1::2], parts[2::2], strict=True):
        value = _number(number)
        if sign == "+":
            total, term = total + term, value
        elif sign == "/":
            term = term / value if value else float("inf")
        else:
            term *= value
    return total + term


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _mantissa(value: float) -> float:
    if value <= 0 or value == float("inf"):
        return 1.0
    return float(value / 10 ** floor(log10(value)))
