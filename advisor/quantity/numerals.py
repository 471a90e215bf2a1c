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
_STEMS: Final = "|".join(word.removesuffix("ty") for word in _TENS)
_TEENS: Final = "|".join(word.removesuffix("teen") for word in _ONES[12:])
FROM_TEN: Final = (
    rf"(?:{_STEMS})ty(?:-(?:{'|'.join(_ONES[:9])}))?|(?:{_TEENS})teen|{'|'.join(_ONES[9:12])}"
    r"|hundred|a hundred|one hundred|two hundred"
)
"""Their words from ten on, as alternatives of a pattern; of two that begin alike the longer first.

Word by word they were a hundred alternatives, which a pattern takes long to compile and to try.
"""
SEVERAL: Final = f"{FROM_TEN}|{'|'.join(_ONES[1:9])}"
"""Their words from two on."""


def count_of(written: str) -> int:
    """The number that digits or a word stand for.

    Raises ValueError for a word that is no number.
    """
    word = written.lower()
    return NUMERALS.get(word) or int(word.replace(",", ""))
