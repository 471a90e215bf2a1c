"""A document's review in Markdown, and what an audit says was understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import cli

DOCUMENT = """\
# Plan

We prune 30% of the weights, cutting FLOPs by 30%, so batch-1 decode gets 30% faster.

INT4 weights (AWQ) read a quarter of the bytes.
"""


@pytest.fixture
def document(tmp_path: Path) -> str:
    path = tmp_path / "plan.md"
    path.write_text(DOCUMENT, encoding="utf-8")
    return str(path)


def test_a_review_quotes_the_words_and_gives_the_number(
    document: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", "--format", "markdown", document]) == 1
    output = capsys.readouterr().out
    assert "> so batch-1 decode gets 30% faster." in output
    assert "**Line 3: FLP002**" in output
    assert "- Number: zeros stored dense" in output
    assert "- Instead: " in output


def test_an_audit_lists_levers_and_statements(
    document: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["audit", document]) == 0
    output = capsys.readouterr().out
    assert "int4-g128 weights" in output
    words = " ".join(output.split())
    assert "[1.3x; by pruning; decode; batch 1] -> contradicted by FLP002" in words


def test_an_audit_tells_what_was_not_judged_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.md"
    path.write_text(
        "INT4 weights, INT4 weights again.\n\nWe use INT4 weights.\n\n"
        "Prompt processing gets 2x faster with FlashAttention.\n\n"
        "Is decode 2x faster with pruning?\n\n"
        "It decodes at 40 tok/s.\n",
        encoding="utf-8",
    )
    assert cli.run(["audit", str(path)]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "int4-g128 weights :1 (2x)" in words
    assert "3 statements, 0 contradicted, 3 not judged" in words
    assert "not judged: it is about the prompt" in words
    assert "not judged: it is asked" in words
    assert "not judged: the text does not give the bytes of the weights for it" in words


def test_a_document_about_something_else_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "menu.md"
    path.write_text("Lunch is at noon.\n", encoding="utf-8")
    assert cli.run(["audit", str(path)]) == 0
    assert "nothing to audit" in capsys.readouterr().err


def test_a_correct_document_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("Batching raises total throughput; TPOT stays as it is.\n", encoding="utf-8")
    assert cli.run(["check", str(path)]) == 0
    assert capsys.readouterr().out == ""
