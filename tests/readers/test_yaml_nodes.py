from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.readers.yaml_nodes import (
    Entry,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    plain_value,
)
from advisor.readers.yaml_tree import compose
from advisor.source import Source, Span


def root_of(text: str) -> Node:
    composed = compose(Source("a.yaml", text))
    assert composed.problems == ()
    (root,) = composed.documents
    return root


def entries_of(text: str) -> dict[str, Entry]:
    root = root_of(text)
    assert isinstance(root, MapNode)
    return {entry.key.text: entry for entry in root.entries}


def scalars(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from scalars(item)
    else:
        for entry in node.entries:
            yield entry.key
            yield from scalars(entry.value)


# Words that are the same in every style of scalar: no quotes, backslashes or indicators.
WORDS = st.text(st.sampled_from("aZ09é漢😀\U0010fffd%()*+.;=_/"), min_size=1, max_size=12).map(
    lambda text: "w" + text
)
STYLED = st.tuples(WORDS, st.sampled_from(("{}", '"{}"', "'{}'")))


@given(
    pairs=st.lists(st.tuples(STYLED, STYLED), min_size=1, max_size=6, unique_by=lambda p: p[0][0]),
    line_end=st.sampled_from(("\n", "\r\n", "\r")),
    before=st.sampled_from(("", "# é😀 comment\n", "\ufeff", "\ufeff\ufeff", "--- # 漢\n")),
    flow=st.booleans(),
)
def test_a_span_holds_the_words_of_its_key_or_value(
    pairs: list[tuple[tuple[str, str], tuple[str, str]]], line_end: str, before: str, flow: bool
) -> None:
    lines = [
        f"{key_style.format(key)}: {style.format(value)}"
        for (key, key_style), (value, style) in pairs
    ]
    body = "{" + f",{line_end}  ".join(lines) + "}" if flow else line_end.join(lines)
    source = Source("a.yaml", before + body)
    composed = compose(source)
    assert composed.problems == ()
    found = list(scalars(composed.documents[0]))
    assert [node.text for node in found] == [
        w for (key, _), (value, _) in pairs for w in (key, value)
    ]
    assert all(source.slice(node.span) == node.text for node in found)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_places_inside_it(text: str) -> None:
    source = Source("a.yaml", text)
    composed = compose(source)
    assert composed.whole or composed.problems
    for problem in composed.problems:
        assert 0 <= problem.start.offset <= problem.end.offset <= len(text)
    for root in composed.documents:
        for node in scalars(root):
            assert 0 <= node.span.start <= node.span.end <= len(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(min_size=1, max_size=5).filter(lambda key: key != "<<"), VALUES))
@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_read_as_json_reads_it(indent: int | None, value: dict[str, object]) -> None:
    # json.dumps writes 😀 as the two escapes \ud83d\ude00, which YAML itself does not know.
    text = json.dumps(value, indent=indent)
    if "\\ud" in text and _lone(value):
        return
    assert plain_value(root_of(text)) == value


def _lone(value: object) -> bool:
    """Half a surrogate pair is no text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4096", 4096),
        ("0.30", 0.3),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("~", None),
        ("2:4", "2:4"),  # YAML 1.1 would make 124 of it, in base 60
        ("30%", "30%"),
        ("yes", "yes"),
        ("'4096'", "4096"),
        ("!!str 4096", "4096"),
        ("2024-11-30", "2024-11-30"),
        (".nan", ".nan"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_plain_scalars_stand_for(written: str, value: object) -> None:
    found = entries_of(f"a: {written}")["a"].value
    assert isinstance(found, ScalarNode)
    assert found.value == value
    assert type(found.value) is type(value)


def test_texts_over_several_lines_have_the_places_of_their_words() -> None:
    text = "a: |  # why\n  one\n  two\n\n# comment\nb: >-\n  three\n  four\nc: five\n  six # no\n"
    source = Source("a.yaml", text)
    found = {name: entry.value for name, entry in entries_of(text).items()}
    assert [source.slice(node.span) for node in found.values() if isinstance(node, ScalarNode)] == [
        "one\n  two",
        "three\n  four",
        "five\n  six",
    ]
    assert [plain_value(node) for node in found.values()] == [
        "one\ntwo\n",
        "three four",
        "five six",
    ]


def test_anchors_and_tags_are_no_part_of_a_value() -> None:
    text = "a: &x one\nb: !!str &y two\nc: &z\n  d: 1\ne: &w [1]\n"
    source = Source("a.yaml", text)
    assert [source.slice(entry.value.span) for entry in entries_of(text).values()] == [
        "one",
        "two",
        "d: 1",
        "[1]",
    ]


def test_an_alias_stands_where_it_is_written() -> None:
    text = "a: &x fp8\nb: *x\n"
    value = entries_of(text)["b"].value
    assert plain_value(value) == "fp8"
    assert Source("a", text).slice(value.span) == "*x"


def test_merge_keys_give_way_to_own_keys_and_to_earlier_ones() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*b, *a], z: 3}\n"
    assert plain_value(entries_of(text)["c"].value) == {"z": 3, "y": 2, "x": 1}
    merged = entries_of(text)["c"].value
    assert isinstance(merged, MapNode)
    places = {entry.key.text: Source("a", text).slice(entry.pair) for entry in merged.entries}
    assert places == {"z": "z: 3", "y": "*b", "x": "*a"}


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000, "- " * 10_000, "{a: " * 10_000, "? " * 10_000, "[" * 10_000 + "]" * 10_000],
)
def test_ten_thousand_levels_are_refused_in_one_finding(text: str) -> None:
    composed = compose(Source("a.yaml", text))
    assert [(problem.rule, problem.start.line) for problem in composed.problems] == [("E908", 1)]
    assert "nested" in composed.problems[0].message
    assert not composed.documents


def test_a_hundred_levels_are_read() -> None:
    root = root_of("[" * 99 + "1" + "]" * 99)
    depth = 0
    while isinstance(root, ListNode):
        depth, root = depth + 1, root.items[0]
    assert depth == 99


def test_aliases_count_as_what_they_stand_for() -> None:
    # Nine aliases on each of eight levels would be 9^9 values.
    levels = "\n".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghi"))
    composed = compose(Source("a.yaml", f"a: &a [{', '.join(['lol'] * 9)}]\n{levels}\n"))
    assert [problem.rule for problem in composed.problems] == ["E908"]
    assert "aliases counted" in composed.problems[0].message


def test_nothing_of_a_tag_is_run() -> None:
    composed = compose(Source("a.yaml", 'a: !!python/object/apply:os.system ["exit 1"]\nb: !x 1\n'))
    assert [problem.rule for problem in composed.problems] == ["E912", "E912"]
    assert plain_value(composed.documents[0]) == {"a": ["exit 1"], "b": "1"}


def test_documents_before_a_syntax_error_are_kept() -> None:
    composed = compose(Source("a.yaml", "a: 1\n---\nb: [\n"))
    assert [plain_value(root) for root in composed.documents] == [{"a": 1}]
    assert [problem.rule for problem in composed.problems] == ["E902"]
    assert not composed.whole


def test_a_control_character_is_shown_by_its_number() -> None:
    (problem,) = compose(Source("a.yaml", "é: 1\nb: \x1b[0m\n")).problems
    assert (problem.rule, problem.start, problem.start.offset) == ("E902", (2, 4, 8), 8)
    assert "U+001B" in problem.message


def test_a_pair_reaches_from_key_to_value() -> None:
    entry = Entry(
        ScalarNode("a", Span(1, 2), Span(0, 3), plain=False),
        ScalarNode("b", Span(6, 7), Span(5, 8), plain=False),
    )
    assert entry.pair == Span(0, 8)
