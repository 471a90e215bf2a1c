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
    assert "[1.3x; by pruning; decode; batch 1; asserted]" in " ".join(output.split())


def test_a_correct_document_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("Batching raises total throughput; TPOT stays as it is.\n", encoding="utf-8")
    assert cli.run(["check", str(path)]) == 0
    assert capsys.readouterr().out == ""
