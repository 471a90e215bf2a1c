"""The way back from plain text to the file is exact, whatever the file holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prose.markdown import read_markdown
from advisor.prose.plain import read_plain
from advisor.prose.reading import statements_of
from advisor.prose.text import plain

PIECES = [
    "We prune 30% of the weights, so decode gets 30% faster.",
    "décodé à 2×",
    "e\u0301 combining",
    "مرحبا بالعالم",
    "שלום",
    "👩‍👩‍👧 emoji",
    "\t",
    "  ",
    "**bold**",
    "`code span`",
    "[link](https://x.y/z)",
    "~~gone~~",
    "<b>html</b>",
    "\\*escaped\\*",
    "_it_",
    "| a | b |",
    "|---|---|",
    "- item",
    "1. one",
    "> quote",
    "# Heading",
    "```",
    "    indented",
    "[^1]: note",
    "---",
    "\u2028",
    "\u00a0",
    "*",
    "`",
    "[",
    "](",
]
LINES = st.lists(st.lists(st.sampled_from(PIECES), max_size=5).map(" ".join), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def shown(text: str) -> str:
    """A text with every white space as one sign: a line end is a space in plain text."""
    return re.sub(r"\s", " ", text)


@settings(deadline=None, max_examples=150)
@given(lines=LINES, end=ENDS)
def test_every_character_stands_where_it_is_said_to(lines: list[str], end: str) -> None:
    text = end.join(lines)
    for page in (read_markdown(text), read_plain(text)):
        for block in page.blocks:
            for at, char in enumerate(block.text):
                assert shown(text[block.body.place(at)]) == shown(char)


@settings(deadline=None, max_examples=100)
@given(lines=LINES, end=ENDS)
def test_the_span_of_a_statement_holds_its_text(lines: list[str], end: str) -> None:
    text = end.join(lines)
    for statement in statements_of(read_markdown(text)):
        inside = text[statement.span.start : statement.span.end]
        words = re.findall(r"\w+", statement.text)
        at = 0
        for word in words:  # markup may stand between the words, and only there
            at = inside.index(word, at) + len(word)
        assert inside[: len(words[0])] == words[0] if inside[:1].isalnum() and words else True


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="ab*_`~[]()<>\\! \n", max_size=60))
def test_any_markup_keeps_offsets(text: str) -> None:
    body = plain([(text, 7)])
    whole = "." * 7 + text
    for at, char in enumerate(body.text):
        assert shown(whole[body.place(at)]) == shown(char)


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("a **b** c", "a b c"),
        ("see [the docs](https://a.b/c_(d)) now", "see the docs now"),
        ("run `prune.l1_unstructured(m)` once", "run prune.l1_unstructured(m) once"),
        ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("![picture](x.png) text", "picture text"),
        ("a[^1] b<br/>c", "a bc"),
        (r"5 \* 3", "5 * 3"),
        ("- [ ] task", "- [ ] task"),
    ],
)
def test_markup_is_taken_out(markdown: str, words: str) -> None:
    assert plain([(markdown, 0)]).text == words


def test_struck_text_and_quoted_code_stand_apart() -> None:
    body = plain([("~~decode is compute-bound~~ and `decode is compute-bound`", 0)])
    assert [body.text[start:end] for start, end in body.apart] == [
        "decode is compute-bound",
        "decode is compute-bound",
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a step takes $2.5\\times$ as long", "a step takes 2.5× as long"),
        ("at $B=8$ it is $\\approx 2\\%$", "at B=8 it is ≈2%"),
        ("let $T_\\text{math} \\geq 2$ hold", "let  hold"),
        ("we need $$\\frac{2BD}{C}$$ or more", "we need  or more"),
        ("from $5 to $6 per hour", "from $5 to $6 per hour"),
        ("between $1-$2", "between $1-$2"),
        ("{{< justify >}}Text{% enddetails %}", "Text"),
    ],
)
def test_of_formulas_figures_are_read_and_of_templates_nothing(text: str, read: str) -> None:
    assert plain([(text, 0)]).text == read


def test_a_range_that_ends_with_a_sign_of_a_formula_holds_all_of_it() -> None:
    text = "it is $2.5\\times$ faster"
    body = plain([(text, 0)])
    span = body.span(body.text.index("2.5"), body.text.index("×") + 1)
    assert text[span.start : span.end] == "2.5\\times"
