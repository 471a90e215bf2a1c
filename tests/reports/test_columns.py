"""Tables by hand: what becomes of a last column that is too long for the page."""

from __future__ import annotations

from advisor.reports.columns import cut, table
from advisor.reports.style import Style

HEADING = ("lever", "needs")
ROWS = [("fp8", "a kernel that reads eight bits and a checkpoint"), ("int4", "nothing")]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(("a", "bb"), [("ccc", "1"), ("d", "22")], Style(), right="lr") == [
        "a    bb",
        "ccc   1",
        "d    22",
    ]


def test_a_wide_character_takes_two_columns() -> None:
    assert table(("a", "b"), [("日本", "1")], Style()) == ["a     b", "日本  1"]


def test_a_last_column_runs_over_the_edge_where_nothing_is_said() -> None:
    (_, first, _) = table(HEADING, ROWS, Style(width=40))
    assert first == "fp8    a kernel that reads eight bits and a checkpoint"


def test_a_last_column_goes_on_below_itself() -> None:
    assert table(HEADING, ROWS, Style(width=34), last="wrap") == [
        "lever  needs",
        "fp8    a kernel that reads eight",
        "       bits and a checkpoint",
        "int4   nothing",
    ]


def test_a_page_too_narrow_to_wrap_in_is_left_alone() -> None:
    assert len(table(HEADING, ROWS, Style(width=26), last="wrap")) == 3


def test_lines_are_cut_with_an_ellipsis_headings_too() -> None:
    lines = table(("a long heading", "another"), ROWS, Style(width=18), last="cut")
    assert lines == ["a long heading  a…", "fp8             a…", "int4            n…"]
    assert cut("日本語", 4) == "日…"
    assert cut("short", 5) == "short"
