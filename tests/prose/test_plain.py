"""reStructuredText as blocks: prose is read, code and data are left alone, places are exact."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.prose.blocks import BlockKind
from advisor.prose.plain import read_plain, read_restructured

DOCUMENT = """\
=====
Guide
=====

Weights
-------

We use **INT4 weights** and a ``FP8`` cache (:ref:`why <kv>`)::

    literal_code = 4

After it.

.. note:: Short.

   Longer *text* of the note.

.. code-block:: yaml
   :caption: a file

   tensor_parallel_size: 4

.. image:: picture.png
   :alt: decode gets 2x faster

.. a comment that says decode gets 2x faster

- prune 30% of
  the weights
- decode gets 30% faster

======  ==========
lever   tok/s
======  ==========
bf16    40
int4    90
======  ==========

+------+--------+
| a    | b      |
+======+========+
| one  | two    |
+------+--------+

Rejected
--------

Masked heads.
"""
PAGE = read_restructured(DOCUMENT)


def texts(kind: BlockKind) -> list[str]:
    return [block.text.strip() for block in PAGE.blocks if block.kind is kind]


def test_paragraphs_notes_and_items_are_read_without_their_marks() -> None:
    assert texts(BlockKind.PARAGRAPH) == [
        "We use INT4 weights and a FP8 cache (why <kv>):",
        "After it.",
        "Short.",
        "Longer text of the note.",
        "Masked heads.",
    ]
    assert texts(BlockKind.ITEM) == ["prune 30% of the weights", "decode gets 30% faster"]


def test_headings_stand_above_what_follows() -> None:
    assert texts(BlockKind.HEADING) == ["Guide", "Weights", "Rejected"]
    last = PAGE.blocks[-1]
    assert last.headings == ("Guide", "Rejected")


def test_code_is_reported_by_its_place_and_not_read() -> None:
    code = [(one.info, DOCUMENT[one.start : one.end].strip()) for one in PAGE.fences]
    assert code == [
        ("(indented)", "literal_code = 4"),
        ("yaml", "tensor_parallel_size: 4"),
    ]
    assert not any("2x faster" in block.text for block in PAGE.blocks)


def test_cells_know_their_row_and_column() -> None:
    cells = {block.text: block for block in PAGE.blocks if block.kind is BlockKind.CELL}
    assert cells["90"].column == "tok/s"
    assert cells["90"].row == "int4"
    assert cells["two"].column == "b"
    assert cells["two"].cells == ("one", "two")


def test_windows_line_ends_do_not_move_a_word() -> None:
    text = DOCUMENT.replace("\n", "\r\n")
    for block in read_restructured(text).blocks:
        span = block.body.span(0, len(block.text.split()[0]))
        assert text[span.start : span.end] == block.text.split()[0]


@given(st.text(alphabet="ab .:`*-=+|_~\n\t\r😀é", max_size=200))
def test_every_letter_stands_where_it_is_said_to(text: str) -> None:
    for page in (read_plain(text), read_restructured(text)):
        for block in page.blocks:
            for at, letter in enumerate(block.text):
                if letter.strip():
                    assert text[block.body.place(at)] == letter
        for fence in page.fences:
            assert 0 <= fence.start <= fence.end <= len(text)
