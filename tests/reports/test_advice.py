"""The answer of `advise` in words: what pays, stacks, and what does not help and why."""

from __future__ import annotations

from advisor.advise import advise
from advisor.deployment import Deployment
from advisor.reports.advice import advice_text
from advisor.reports.style import Style

WIDE = Style(width=140)


def test_stacks_are_told_as_one_deployment_each() -> None:
    ranking = advise(Deployment("Llama-3.1-8B", "H100 SXM"), stack=2)
    told = advice_text(ranking, WIDE)
    _, together = told.split("together (one deployment each, no product)\n")
    first = together.splitlines()[1]
    assert " + " in first
    assert ranking.stacks[0].gain.mid > ranking.helping[0].gain.mid


def test_what_does_not_fit_is_said_where_it_is_ranked() -> None:
    told = advice_text(advise(Deployment("Llama-3.1-405B", "H100 SXM"), stack=2), WIDE)
    assert "does not fit; " in told
    assert "(does not fit)" in told


def test_memory_is_ranked_by_what_it_frees() -> None:
    ranking = advise(Deployment("Llama-3.1-8B", "H100 SXM"), goal="memory")
    told = advice_text(ranking, WIDE)
    assert told.startswith("what pays for memory, alone\n")
    freed = [one.freed_bytes for one in ranking.helping]
    assert freed == sorted(freed, reverse=True)
    assert "frees no memory" in told.split("what would not help")[1]


def test_throughput_is_told_in_tokens_per_second() -> None:
    told = advice_text(advise(Deployment("Llama-3.1-8B", "H100 SXM"), goal="throughput"), WIDE)
    assert "tok/s" in told.splitlines()[1]
    assert "batch 32" in told.split("what would not help")[0]
