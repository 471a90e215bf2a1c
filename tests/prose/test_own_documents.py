"""The project's own pages are correct prose about this very subject: nothing in them is flagged."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.prose.markdown import read_markdown
from benchmarks.prose import findings_in

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], key=lambda page: page.as_posix())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_own_pages_hold_no_error(page: Path) -> None:
    """Fenced blocks are left out: they hold examples of what is flagged."""
    text = page.read_text("utf-8")
    fences = [(fence.start, fence.end) for fence in read_markdown(text).fences]
    flagged = [
        (one.rule, text[one.start : one.end])
        for one in findings_in(text)
        if not any(start <= one.start < end for start, end in fences)
    ]
    assert flagged == []
