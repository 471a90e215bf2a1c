from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.checking import Checked
from advisor.finding import Confidence, Finding, Note, Severity
from advisor.reports import concise
from advisor.reports.frame import Mark, excerpt
from advisor.reports.style import Style, columns, wants_colour
from advisor.reports.text import frame, frames, summary
from advisor.source import Source, Span, decode
from advisor.suppress import Suppressed

PLAIN = Style()


def marked(text: str, words: str, label: str = "here", width: int = 100) -> list[str]:
    start = text.index(words)
    mark = Mark(Span(start, start + len(words)), label, "warning")
    return excerpt(Source("a.yaml", text), [mark], Style(width=width))


def found(source: Source, words: str, **changes: object) -> Finding:
    start = source.text.index(words)
    known: dict[str, object] = {
        "rule": "FLP002",
        "name": "pruning-dense-storage",
        "severity": Severity.WARNING,
        "confidence": Confidence.HIGH,
        "path": source.path,
        "start": source.position(start),
        "end": source.position(start + len(words)),
        "message": "30% of the weights are zero, but all 70.6 GB are still read",
    }
    return Finding(**{**known, **changes})  # type: ignore[arg-type]


def test_the_frame_of_a_finding() -> None:
    source = Source("proposals/prune-70b.yaml", "levers:\n  - kind: prune\n    sparsity: 30%\n")
    finding = found(
        source,
        "kind: prune",
        facts=(("numbers", "weights 70.6 -> 70.6 GB/token"), ("claimed", "1.43x; possible 1.00x")),
        instead="int4-g128 weights: 1.7x (1.5-1.8)",
        notes=(Note("stated here", Span(28, 41)), Note("above its ceiling", rule="CLM001")),
    )
    assert frame(finding, source, PLAIN) == [
        "proposals/prune-70b.yaml:2:5 warning FLP002 pruning-dense-storage",
        "    2 |   - kind: prune",
        "      |     ^^^^^^^^^^^ 30% of the weights are zero, but all 70.6 GB are still read",
        "    3 |     sparsity: 30%",
        "      |     ------------- stated here",
        "      = numbers   weights 70.6 -> 70.6 GB/token",
        "      = claimed   1.43x; possible 1.00x",
        "      = instead   int4-g128 weights: 1.7x (1.5-1.8)",
        "      = note      CLM001 above its ceiling",
        "      = explain   rooflint explain FLP002",
    ]


def test_a_tab_is_as_wide_as_it_is_printed() -> None:
    line, marks = marked("\tmodel:\tx", "x")
    assert line == "    1 |     model:  x"
    assert marks.index("^") == line.index("x")


def test_wide_characters_get_two_marks_and_combining_ones_none() -> None:
    line, marks = marked("title: 日本 🚀 e\u0301x", "日本")
    assert marks.count("^") == 4
    line, marks = marked("title: 日本 🚀 e\u0301x", "x")
    assert columns(line[: line.index("x")]) == marks.index("^")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_no_part_of_a_line(end: str) -> None:
    line, marks = marked(f"a: 1{end}bcd: 2{end}", "bcd")
    assert line == "    2 | bcd: 2"
    assert marks == "      | ^^^ here"


def test_a_byte_order_mark_takes_no_column() -> None:
    line, marks = marked(decode(b"\xef\xbb\xbfmodel: x"), "model")
    assert (line, marks) == ("    1 | model: x", "      | ^^^^^ here")


def test_an_empty_span_has_one_mark() -> None:
    source = Source("a.yaml", "a: 1\n\n")
    for offset, number, before in ((3, 1, 3), (4, 1, 4), (5, 2, 0)):
        mark = Mark(Span(offset, offset), "", "error")
        line, marks = excerpt(source, [mark], PLAIN)
        assert line.startswith(f"    {number} |")
        assert marks == f"      | {' ' * before}^"


def test_an_empty_text_is_no_obstacle() -> None:
    assert excerpt(Source("a.yaml", ""), [Mark(Span(0, 0), "empty", "error")], PLAIN) == [
        "    1 |",
        "      | ^ empty",
    ]


def test_several_lines_show_their_first_and_last() -> None:
    text = "- kind: prune\n  sparsity: 1\n  storage: dense\nx: 1\n"
    assert marked(text, text[: text.index("x")]) == [
        "    1 | - kind: prune",
        "      | ^^^^^^^^^^^^^",
        "  ...",
        "    3 |   storage: dense",
        "      |   ^^^^^^^^^^^^^^ here",
    ]


def test_a_long_line_is_cut_around_the_mark() -> None:
    text = "claims: " + "before " * 60 + "NEEDLE " + "after " * 60
    line, marks = marked(text, "NEEDLE", width=80)
    assert columns(line) <= 80
    assert line.startswith("    1 | …")
    assert line.endswith("…")
    assert line[marks.index("^") : marks.rindex("^") + 1] == "NEEDLE"


def test_an_endless_line_costs_no_more_than_a_long_one() -> None:
    text = "x" * 5_000_000 + "NEEDLE" + "y" * 1_000_000
    line, marks = marked(text, "NEEDLE", width=80)
    assert line[marks.index("^") : marks.rindex("^") + 1] == "NEEDLE"


def test_a_mark_longer_than_the_page_ends_with_it() -> None:
    line, marks, *_ = marked("a" * 500, "a" * 500, width=80)
    assert columns(line) <= 80
    assert columns(marks) <= 80


def test_a_label_without_room_beside_its_marks_stands_below_them() -> None:
    label = "a sentence that is much too long to stand beside the words that it is about"
    _, marks, *below = marked("  - kind: prune", "kind", label, width=60)
    assert marks == "      |     ^^^^"
    assert len(below) == 2
    assert " ".join(line.removeprefix("      |").strip() for line in below) == label


def test_nothing_in_a_file_steers_the_terminal() -> None:
    text = "title: \x1b[2J\x9b31m \u202e\x07 \x7f"
    source = Source("a\x1b[31m.yaml", text)
    finding = found(source, "title", message="seen \x1b[31m in it")
    shown = "\n".join([*frame(finding, source, PLAIN), *concise.lines([finding], PLAIN)])
    for sign in "\x1b\x9b\x07\x7f\u202e":
        assert sign not in shown
    assert "\u241b" in shown


@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200),
    ends=st.tuples(st.integers(0, 200), st.integers(0, 200)),
    width=st.integers(60, 140),
)
def test_marks_stand_inside_their_frame(text: str, ends: tuple[int, int], width: int) -> None:
    start, end = sorted(min(end, len(text)) for end in ends)
    lines = excerpt(
        Source("a.yaml", text), [Mark(Span(start, end), "label", "error")], Style(width=width)
    )
    assert sum("^" in line.partition("|")[2] for line in lines) >= 1
    assert all("\n" not in line and "\t" not in line for line in lines)
    assert all(columns(line) <= width for line in lines)


def test_a_finding_about_a_file_without_text_has_no_excerpt() -> None:
    source = Source("gone.yaml", "")
    finding = found(source, "", rule="E901", name="unreadable-file", message="no such file")
    assert frame(finding, None, PLAIN)[1] == "      no such file"


def test_lower_confidence_is_told() -> None:
    source = Source("a.yaml", "a: 1")
    assert (
        "(medium confidence)"
        in frame(found(source, "a", confidence=Confidence.MEDIUM), source, PLAIN)[0]
    )


def test_concise_is_a_line_each() -> None:
    source = Source("a.yaml", "a: 1\nb: 2")
    lines = list(concise.lines([found(source, "b", message="two\nlines")], PLAIN))
    assert lines == ["a.yaml:2:1: warning FLP002 two lines"]


def test_colours_only_where_asked() -> None:
    source = Source("a.yaml", "a: 1")
    plain, coloured = (
        next(iter(frames([found(source, "a")], {"a.yaml": source}, Style(colour=colour))))
        for colour in (False, True)
    )
    assert "\x1b" not in plain
    assert "\x1b[1;33mwarning FLP002\x1b[0m" in coloured


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_who_decides_on_colour(
    choice: str, environment: dict[str, str], *, terminal: bool, wanted: bool
) -> None:
    assert wants_colour(choice, environment, terminal=terminal) is wanted  # type: ignore[arg-type]


def test_the_summary_counts_by_severity() -> None:
    source = Source("a.yaml", "a: 1")
    three = [found(source, "a"), found(source, "a", severity=Severity.ERROR), found(source, "a")]
    assert (
        summary(Checked(tuple(three), (Suppressed(three[0], "measured"),), files=2))
        == "1 error, 2 warnings (1 suppressed) in 2 files"
    )
    assert summary(Checked((), files=1)) == "no findings in 1 file"
