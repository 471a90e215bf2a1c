"""Mutants of a module: what is changed, what is left alone, and that the change is made."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.mutants import mutants, mutated, users

HEAD = '"""A module of 1 line."""\n\nRULE = dict(code=1)\nLIMIT: int = 3\n\n\n'


def changes(body: str) -> list[str]:
    text = f"{HEAD}def judge(a, b=0, c=()):\n    {body}\n"
    return [one.change for one in mutants("m.py", text) if one.line > 7]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a < b", ["a < b -> a <= b", "a < b -> a >= b"]),
        ("return a == b", ["a == b -> a != b"]),
        ("return a is not b", ["a is not b -> a is b"]),
        ("return a and b", ["a and b -> a or b"]),
        ("return not a", ["not a -> a"]),
        ("return a * b", ["a * b -> a / b"]),
        ("return a - 2", ["a - 2 -> a + 2", "2 -> 3", "2 -> 1"]),
        ("return 3.0", ["3.0 -> 4.5", "3.0 -> 2.0"]),
        ("return True", ["True -> False"]),
        ("return b if a else c", ["if a -> if not a"]),
        ("return [x for x in c if x]", ["if x -> if not x"]),
        ("return [x for x in c if not x]", ["not x -> x"]),
        ("return f'{a + 1} of {b < 2}'", []),
        ("x: int = a; return x", []),
        ("for x in c: break", ["for x in c -> for x in ()", "break -> continue"]),
    ],
)
def test_what_is_changed(body: str, expected: list[str]) -> None:
    assert changes(body) == expected


def test_metadata_and_pages_are_left_alone() -> None:
    found = mutants("m.py", HEAD)
    assert [(one.line, one.where, one.change) for one in found] == [
        (4, "", "3 -> 4"),
        (4, "", "3 -> 2"),
    ]


def test_each_mutant_differs_in_its_one_place() -> None:
    text = "def judge(a, b):\n    return a < b and not a\n"
    results = []
    for one in mutants("m.py", text):
        assert (one.path, one.line, one.where) == ("m.py", 2, "judge")
        names: dict[str, Any] = {}
        exec(compile(mutated(text, one), "m.py", "exec"), names)  # noqa: S102 - the text above
        results.append((one.change, names["judge"](1, 1), names["judge"](0, 1)))
    assert results == [
        ("a < b and (not a) -> a < b or not a", False, True),
        ("a < b -> a <= b", False, True),
        ("a < b -> a >= b", False, False),
        ("not a -> a", False, 0),
    ]


def test_lines_that_use_what_a_line_gives() -> None:
    text = "ONE = 1\nTWO = 2\n\n\ndef judge():\n    return ONE\n\n\ndef other():\n    return TWO\n"
    assert users(text, 1) == {6}
    assert users(text, 2) == {10}
