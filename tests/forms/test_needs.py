"""The letters that a pattern needs, and its alternatives."""

from __future__ import annotations

import re

import pytest

from advisor.forms.alternatives import alternatives
from advisor.forms.needs import needs_in


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        (r"\bspeed(?:s|ed)? up\b", (" speed",)),
        (r"speed\b", ("speed ",)),
        (r"\bspeed\b", (" speed ",)),
        (r"\b(?:only |just )?speed(?!\w)", (" speed ",)),
        (r"\w?speed", ("speed",)),
        (r"\bt/s\b", (" t ",)),
        (r"\b(?:faster|slower) (?:by|than)\b", (" faster ", " slower ")),
        (r"\b(?:pin|peg)s?\b", (" peg", " pin")),
        (r"(?:un)?bound\b", ("bound ",)),
        (r"tensor[- ]cores?", ("tensor ",)),
        (r"\d+ ?ms\b", ("ms ",)),
        (r"(?:half|\d) of\b", ("0", "half ")),
        (r"colou?r", ("colo",)),
    ],
)
def test_letters_and_edges_of_the_part_that_tells_most(
    pattern: str, first: tuple[str, ...]
) -> None:
    assert needs_in(pattern)[0] == first


@pytest.mark.parametrize("pattern", [r"[a-z]+", r"(?:the|that)", r"(?:abc)*", r"x(?=after)"])
def test_what_may_be_missing_or_stands_everywhere_is_not_needed(pattern: str) -> None:
    assert needs_in(pattern) == ()


def test_every_part_that_has_to_stand_is_needed() -> None:
    assert set(needs_in(r"\b(?:halves|cuts) (?:\w+ )?(?:latency|traffic)\b")) == {
        (" cuts ", " halves "), (" latency ", " traffic "),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"a|b", ("(?:a)", "(?:b)")),
        (r"\b(?:a|b(?:c|d))\b", (r"\b(?:a)\b", r"\b(?:b(?:c|d))\b")),
        (r"(?<!x)(?:a|[|)]b)(?!y)", (r"(?<!x)(?:a)(?!y)", r"(?<!x)(?:[|)]b)(?!y)")),
        (r"(?P<n>a)|\|", ("(?:(?P<n>a))", r"(?:\|)(?:(?P<n>(?!)))?")),
        (r"a(?:b|c)", ()),
        (r"(?:a|b)?", ()),
        (r"(a)|b", ()),
        (r"a", ()),
    ],
)
def test_alternatives(pattern: str, expected: tuple[str, ...]) -> None:
    assert alternatives(pattern) == expected
    assert all(re.compile(one) for one in expected)
