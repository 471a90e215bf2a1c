"""Numbers written as words."""

from __future__ import annotations

import re

import pytest

from advisor.quantity.numerals import FROM_TEN, NUMERALS, SEVERAL, count_of


@pytest.mark.parametrize(
    ("written", "number"),
    [("two", 2), ("Eleven", 11), ("thirty-two", 32), ("ninety-nine", 99), ("a hundred", 100),
     ("7", 7), ("1,024", 1024)],
)  # fmt: skip
def test_words_and_digits_count_alike(written: str, number: int) -> None:
    assert count_of(written) == number


def test_the_longest_word_is_found() -> None:
    found = re.findall(rf"\b(?:{SEVERAL})\b", "thirty-two users on sixteen cards, one each")
    assert found == ["thirty-two", "sixteen"]


def test_the_patterns_find_their_words_and_no_others() -> None:
    for word, number in NUMERALS.items():
        assert (re.fullmatch(SEVERAL, word) is not None) == (number > 1), word
        assert (re.fullmatch(FROM_TEN, word) is not None) == (number >= 10), word
    for other in ("twentyone", "forteen", "fiveteen", "eightty", "ten-two", "a hundred two"):
        assert re.fullmatch(SEVERAL, other) is None


def test_every_number_to_a_hundred_has_its_word() -> None:
    assert set(NUMERALS.values()) >= set(range(1, 101))


def test_another_word_is_no_number() -> None:
    with pytest.raises(ValueError, match="several"):
        count_of("several")
