"""Passages and documents written by hand apart from the rules: how they are scored.

The bounds are what was measured when the passages came in, rounded down: they hold the reader of
prose to its precision first. Of `unread` files nobody looks at the texts while rules are written.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.prose import Score, findings_in, read_rows, score

PROSE = Path(__file__).parent.parent.parent / "fixtures" / "prose"


class Bounds(NamedTuple):
    """What a set of passages comes to at least, and how many there are."""

    passages: int
    precision: float
    recall: float
    flagged: float
    """Of the correct passages, at most."""


SETS = {
    "written.jsonl": Bounds(2780, 0.98, 0.82, 0.003),
    "unread.jsonl": Bounds(650, 0.93, 0.65, 0.025),
    "unread.txt": Bounds(1265, 0.92, 0.44, 0.02),
    "documents.jsonl": Bounds(136, 0.99, 0.67, 0.0),
    "unread_documents.jsonl": Bounds(32, 0.77, 0.5, 0.17),
}


@lru_cache(maxsize=8)
def scores(name: str) -> tuple[Score, ...]:
    return tuple(score(row, findings_in(row["text"])) for row in read_rows(PROSE / name))


def test_right_passages_are_left_alone() -> None:
    passages = read_rows_of_right()
    assert len(passages) == 1404
    assert [text for text in passages if findings_in(text)] == []


def read_rows_of_right() -> list[str]:
    return [row["text"] for row in read_rows(PROSE / "right.jsonl")]


@pytest.mark.parametrize("name", SETS)
def test_wrong_passages_are_found_where_they_are_wrong(name: str) -> None:
    bounds, told = SETS[name], scores(name)
    right, wrong = sum(one.right for one in told), sum(one.wrong for one in told)
    correct = [one for one in told if not one.expected]
    assert len(told) == bounds.passages
    assert right / (right + wrong) >= bounds.precision
    assert sum(one.found for one in told) / sum(one.expected for one in told) >= bounds.recall
    assert sum(bool(one.wrong) for one in correct) / len(correct) <= bounds.flagged
