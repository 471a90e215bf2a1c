"""Items of a list: what one tells of those above it, and what each tells by itself."""

from __future__ import annotations

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
