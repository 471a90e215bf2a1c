"""Items of a list: what one tells of those above it, and what each tells by itself."""

from __future__ import annotations

from advisor.prose.blocks import BlockKind
from advisor.prose.plain import read_restructured
from benchmarks.prose import findings_in


def found(text: str) -> list[tuple[str, str]]:
    return [(one.rule, text[one.start : one.end]) for one in findings_in(text)]


def test_an_item_that_names_no_lever_tells_what_comes_of_those_above() -> None:
    text = "- prune half of the weights, stored dense\n- 8B in BF16, one user\n- TPOT: -40%\n"
    assert [rule for rule, _ in found(text)] == ["FLP002"]


def test_an_item_with_a_lever_of_its_own_is_judged_by_it() -> None:
    text = (
        "1. Prune 50% of the weights with Wanda, keep the checkpoint dense. Decode gets 2x"
        " faster.\n2. Switch the weights to INT4 (AWQ): 3x lower TPOT than FP8.\n"
    )
    assert found(text) == [
        ("FLP002", "Decode gets 2x faster."),
        ("CLM002", "3x lower TPOT than FP8."),
    ]


def test_a_row_that_adds_to_an_earlier_one_is_compared_with_that() -> None:
    # flash attention and the mask leave the 165 tok/s of Q4 alone; the first row is no baseline
    # of theirs
    text = (
        "Llama-3.1-8B on an RTX 4090, one user.\n\n"
        "| Change | tok/s | Comment |\n|---|---|---|\n| FP16 baseline | 55 | |\n"
        "| Q4_K_M | 165 | |\n| Q4_K_M + flash attention | 168 | short context |\n"
        "| Q4_K_M + 2:4 mask | 165 | zeros still stored |\n"
    )
    assert found(text) == []


def test_a_row_that_begins_with_a_plus_adds_to_the_one_above() -> None:
    text = (
        "The 8B for one user, 512 tokens of context.\n\n"
        "| step | expected ms per token |\n|---|---|\n"
        "| BF16 today | 12 |\n| + INT8 weights | 7 |\n| + FlashAttention | 4 |\n"
    )
    assert found(text) == [("PHS001", "4")]


def test_a_rate_in_a_row_is_no_length_of_context() -> None:
    text = (
        "The 8B for one user.\n\n| change | tok/s | comment |\n|---|---|---|\n"
        "| baseline | 55 | |\n| masked heads | 80 | short context |\n"
    )
    findings = findings_in(text)
    assert [one.rule for one in findings] == ["FLP003"]


def test_rows_of_a_restructured_table_have_the_same_baselines() -> None:
    text = (
        "The 8B for one user, 512 tokens of context.\n\n"
        "================ =====================\n"
        "step             expected ms per token\n"
        "================ =====================\n"
        "BF16 today       12\n"
        "\\+ INT8 weights  7\n"
        "\\+ FlashAttention 4\n"
        "================ =====================\n"
    )
    (page,) = [read_restructured(text)]
    cells = [block for block in page.blocks if block.kind is BlockKind.CELL]
    assert [len(block.rows) for block in cells if block.column.startswith("expected")] == [0, 1, 2]
