"""Forms find what their patterns find, before and after they look for letters first."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import advisor.prose
from advisor.forms import Form, hints_of

ROOT = Path(__file__).resolve().parents[2]
ASKED_OFTEN = 400


@pytest.mark.parametrize(
    ("pattern", "hints"),
    [
        (r"\bspeed(?:s|ed)? up\b", ("speed",)),
        (r"\b(?:faster|slower) (?:by|than)\b", ("faster", "slower")),
        (r"\d+ ?%", ("0",)),
        (r"(?:half|\d) of", ("half", "0")),
        (r"[a-z]+", ()),
        (r"colou?r", ("colo",)),
        (r"(?:the|that)", ()),
        (r"(?:abc)*", ()),
        (r"x(?=following)", ()),
    ],
)
def test_hints_stand_in_every_match(pattern: str, hints: tuple[str, ...]) -> None:
    assert {hint for part in hints_of(pattern)[:1] for hint in part} == set(hints)


def test_every_part_that_has_to_stand_has_hints() -> None:
    assert hints_of(r"\b(?:halves|cuts) (?:\w+ )?(?:latency|traffic)\b") == (
        ("latency", "traffic"), ("cuts", "halves"),
    )  # fmt: skip


def forms() -> list[Form]:
    found: dict[str, Form] = {}
    for module in iter_modules(advisor.prose.__path__):
        for value in vars(import_module(f"advisor.prose.{module.name}")).values():
            if isinstance(value, Form):
                found.setdefault(value.pattern, value)
    return list(found.values())


def sentences() -> list[str]:
    lines = (ROOT / "fixtures/prose/passages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines if line.strip()]
    texts += (ROOT / "fixtures/prose/sentences.txt").read_text(encoding="utf-8").splitlines()
    return texts


def test_a_form_asked_often_finds_what_its_pattern_finds() -> None:
    texts = sentences()
    assert len(texts) > ASKED_OFTEN
    found = 0
    for form in forms():
        pattern = re.compile(form.pattern, re.IGNORECASE)
        fresh = Form(form.pattern)
        for text in texts:
            expected = pattern.search(text)
            match = fresh.search(text)
            assert (match and match.span()) == (expected and expected.span())
            found += match is not None
    assert found > len(texts)


def test_a_form_looks_where_it_is_told() -> None:
    form = Form(r"\bfaster\b")
    text = "faster here, slower there, faster again"
    for _ in range(ASKED_OFTEN):
        assert form.search(text, 1, 20) is None
    match = form.search(text, 1)
    assert match is not None
    assert match.span() == (27, 33)
    assert [one.start() for one in form.finditer(text)] == [0, 27]
    assert form.sub("x", "nothing") == "nothing"
    assert form.sub("x", "Faster!") == "x!"
