"""A document's review in Markdown, and what an audit says was understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from advisor.cli import app

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


def test_a_review_quotes_the_words_and_gives_the_number(document: str) -> None:
    result = CliRunner().invoke(app, ["check", "--format", "markdown", document])
    assert result.exit_code == 1
    assert "> so batch-1 decode gets 30% faster." in result.output
    assert "**Line 3: FLP002**" in result.output
    assert "- Number: zeros stored dense" in result.output
    assert "- Instead: " in result.output


def test_an_audit_lists_levers_and_statements(document: str) -> None:
    output = CliRunner().invoke(app, ["audit", document]).output
    assert "int4-g128 weights" in output
    assert "[1.3x; by pruning; decode; batch 1; asserted]" in " ".join(output.split())


def test_a_correct_document_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("Batching raises total throughput; TPOT stays as it is.\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(path)])
    assert (result.exit_code, result.output) == (0, "")
