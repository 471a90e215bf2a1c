"""Blocks know what they stand in: headings, lists, tables, quotations, code, front matter."""

from __future__ import annotations

from advisor.prose.blocks import Block, BlockKind
from advisor.prose.markdown import read_markdown
from advisor.prose.plain import read_plain

DOCUMENT = """\
---
rooflint: 1
title: front
---
# Plan

## Decode

Levers that we try:

- prune **half**
  - nested
1. quantize

| Lever | Claim |
|:--|--:|
| prune \\| mask | 2x |
| int4 | `1.8x` |

> quoted words

```yaml
rooflint: 1
model: Llama-3.1-8B
```

    indented code

Last.
"""


def block(text: str) -> Block:
    return next(one for one in read_markdown(DOCUMENT).blocks if one.text == text)


def test_headings_and_lead_ins() -> None:
    assert block("prune half").headings == ("Plan", "Decode")
    assert block("prune half").lead_in == "Levers that we try:"
    assert block("nested").lead_in == "prune half"
    assert block("quantize").kind is BlockKind.ITEM
    assert block("Last.").kind is BlockKind.PARAGRAPH


def test_cells_have_their_column_and_row() -> None:
    cell = block("1.8x")
    assert (cell.column, cell.row, cell.columns) == ("Claim", "int4", ("Lever", "Claim"))
    assert cell.cells == ("int4", "1.8x")
    assert cell.rows[0] == ("prune | mask", "2x")


def test_code_is_no_prose_and_quotations_are_marked() -> None:
    page = read_markdown(DOCUMENT)
    assert block("quoted words").quoted
    assert not any("indented" in one.text or "rooflint" in one.text for one in page.blocks)
    assert [DOCUMENT[one.start : one.end] for one in page.fences] == [
        "rooflint: 1\ntitle: front\n",
        "rooflint: 1\nmodel: Llama-3.1-8B\n",
        "    indented code\n",
    ]


def test_comments_cover_what_follows_or_their_line() -> None:
    text = (
        "<!-- rooflint: ignore[FLP002] why -->\nfirst\nstill first\n\nsecond\n\n"
        "- one <!-- rooflint: ignore[FLP002] why -->\n\n"
        "  <!-- rooflint: ignore[FLP002] why -->\n- two\n\n"
        "| a |\n|---|\n| x <!-- rooflint: ignore[FLP002] why --> |\n| y |\n"
    )
    covered = [text[start:end].strip() for _, (start, end) in read_markdown(text).comments]
    assert covered[0] == "first\nstill first"
    assert covered[1].startswith("- one")
    assert covered[2] == "- two"
    assert covered[3].startswith("| x")


def test_comments_in_code_are_text() -> None:
    assert read_markdown("```\n<!-- rooflint: ignore[FLP002] x -->\n```\n").comments == ()
    inline = "Write `<!-- rooflint: ignore[FLP002] x -->` before it.\n"
    assert read_markdown(inline).comments == ()


def test_plain_text_is_paragraphs() -> None:
    blocks = read_plain("Title\n=====\n\none\ntwo\n\n\nthree").blocks
    assert [one.text for one in blocks] == ["Title =====", "one two", "three"]
