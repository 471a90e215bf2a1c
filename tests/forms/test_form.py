"""Forms find what their patterns find, though they look for letters first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.forms import Form, Forms
from advisor.forms.compile import form_patterns
from advisor.forms.letters import needs_of_alternatives

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = sorted(form_patterns())


def sentences() -> list[str]:
    lines = (ROOT / "fixtures/prose/passages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines if line.strip()]
    texts += (ROOT / "fixtures/prose/sentences.txt").read_text(encoding="utf-8").splitlines()
    return texts


def test_every_form_finds_what_its_pattern_finds() -> None:
    found = 0
    texts = sentences()
    for pattern in PATTERNS:
        form, plain = Form(pattern), re.compile(pattern, re.IGNORECASE)
        for text in texts:
            expected, match = plain.search(text), form.search(text)
            assert (match and match.span()) == (expected and expected.span()), pattern
            found += match is not None
    assert found > len(texts)


@given(st.data())
def test_what_a_pattern_makes_is_found(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PATTERNS))
    plain = re.compile(pattern, re.IGNORECASE)
    text = data.draw(st.from_regex(plain))
    expected = plain.search(text)
    match = Form(pattern).search(text)
    # small letters of other scripts that `re` takes for ours are nothing that anybody writes
    if expected is not None and expected[0].isascii():
        assert match is not None
        assert match.span() == expected.span()


def test_the_patterns_of_every_room_are_kept() -> None:
    assert len(PATTERNS) > 600
    assert r"\bas before\b" in PATTERNS  # asked by a rule in passing
    assert sum(bool(needs_of_alternatives(pattern)) for pattern in PATTERNS) > 100


def test_an_alternative_keeps_the_groups_of_all() -> None:
    pattern = next(one for one in PATTERNS if "(?P<" in one and needs_of_alternatives(one))
    names = set(re.compile(pattern).groupindex)
    form = Form(pattern)
    found = [match for text in sentences() if (match := form.search(text)) is not None]
    assert names
    assert all(set(match.re.groupindex) == names for match in found)


@pytest.mark.parametrize("pattern", [r"\bfaster\b", r"\b(?:faster|zebra)\b"])
def test_a_form_looks_where_it_is_told(pattern: str) -> None:
    form = Form(pattern)
    text = "faster here, slower there, faster again"
    assert form.search(text, 1, 20) is None
    match = form.search(text, 1)
    assert match is not None
    assert match.span() == (27, 33)
    assert [one.start() for one in form.finditer(text)] == [0, 27]
    assert form.sub("x", "nothing") == "nothing"
    assert form.sub("x", "Faster!") == "x!"


def test_a_pattern_that_no_file_keeps_is_looked_for() -> None:
    form = Form(r"\bquagga(?:s)?\b")
    assert form.need == 0
    assert form.search("no such animal") is None
    match = form.search("two Quaggas")
    assert match is not None
    assert match[0] == "Quaggas"


def test_of_many_forms_those_remain_whose_letters_stand() -> None:
    kept = [pattern for pattern in PATTERNS if Form(pattern).need]
    forms = Forms(*map(Form, kept))
    text = "Decoding is compute-bound, so more TFLOPS make it 2x faster."
    standing = {form.pattern for form in forms.standing_in(text)}
    there = {pattern for pattern in kept if re.search(pattern, text, re.IGNORECASE)}
    assert there
    assert there <= standing
    assert len(standing) < len(kept) / 4
