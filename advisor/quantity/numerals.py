"""Numbers that are written as words: "eight users", "thirty-two cards"."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_ONES: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMERALS: Final = MappingProxyType(
    {
        **{word: number for number, word in enumerate(_ONES, 1)},
        **{word: 10 * number for number, word in enumerate(_TENS, 2)},
        **{
            f"{ten}-{one}": 10 * tens + ones
            for tens, ten in enumerate(_TENS, 2)
            for ones, one in enumerate(_ONES[:9], 1)
        },
        "hundred": 100, "a hundred": 100, "one hundred": 100, "two hundred": 200,
    }
)  # fmt: skip
"""Word in lower case -> number."""
SEVERAL: Final = "|".join(
    sorted((word for word, number in NUMERALS.items() if number > 1), key=len, reverse=True)
)
"""Their words from two on, as alternatives of a pattern; the longest first."""


def count_of(written: str) -> int:
    """The number that digits or a word stand for.

    Raises ValueError for a word that is no number.
    """
    word = written.lower()
    return NUMERALS.get(word) or int(word.replace(",", ""))
