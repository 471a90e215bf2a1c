"""Which rules words mean, and which of two words wins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.selection import Named, UnknownRuleError, Words

RULES = (
    Named("FLP001", "flop-only-lever"),
    Named("FLP002", "pruning-dense-storage"),
    Named("KV001", "kv-lever-small-share"),
    Named("SUP004", "unused-suppression"),
)
WORDS = Words(RULES)
EVERY = {rule.code for rule in RULES}


def test_no_word_means_every_rule() -> None:
    assert WORDS.chosen() == EVERY
    assert WORDS.chosen(["ALL"]) == EVERY
    assert WORDS.chosen(ignore=["ALL"]) == set()


@pytest.mark.parametrize("word", ["FLP002", "flp002", " Flp002 ", "pruning-dense-storage"])
def test_a_rule_is_meant_by_code_and_name_in_any_case(word: str) -> None:
    assert WORDS.chosen([word]) == {"FLP002"}


def test_a_family_is_all_its_rules() -> None:
    assert WORDS.chosen(["flp"]) == {"FLP001", "FLP002"}
    assert WORDS.chosen(ignore=["FLP", "SUP"]) == {"KV001"}


@pytest.mark.parametrize(
    ("select", "ignore", "chosen"),
    [
        (["FLP"], ["FLP002"], {"FLP001"}),
        (["FLP002"], ["FLP"], {"FLP002"}),
        (["FLP002", "KV"], ["FLP", "KV001"], {"FLP002"}),
        (["FLP002"], ["pruning-dense-storage"], set()),
        (["ALL"], ["FLP"], {"KV001", "SUP004"}),
        (["KV001"], ["ALL"], {"KV001"}),
        (["FLP"], ["FLP"], set()),
    ],
)
def test_the_more_specific_word_wins(
    select: list[str], ignore: list[str], chosen: set[str]
) -> None:
    assert WORDS.chosen(select, ignore) == chosen


@given(
    st.lists(st.sampled_from(["ALL", "FLP", "KV", "FLP001", "kv-lever-small-share"])),
    st.lists(st.sampled_from(["ALL", "FLP", "SUP", "FLP002", "KV001"])),
)
def test_what_is_ignored_by_code_never_runs(select: list[str], ignore: list[str]) -> None:
    assert not WORDS.chosen(select, ignore) & set(ignore)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("FLP02", "did you mean FLP002?"),
        ("flop-only-levers", "did you mean flop-only-lever?"),
        ("E903", "what cannot be read is always told"),
        ("!", "rooflint explain lists all"),
    ],
)
def test_a_word_that_means_no_rule_is_told_with_the_nearest(word: str, said: str) -> None:
    for ask in (WORDS.look_up, lambda word: WORDS.codes([word]), lambda word: WORDS.chosen([word])):
        with pytest.raises(UnknownRuleError) as error:
            ask(word)
        assert said in str(error.value)
        assert repr(word) in str(error.value)
