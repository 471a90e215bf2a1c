"""How sentences, names of patterns and variants of devices are read."""

from __future__ import annotations

import pytest

from advisor.audit import audit
from advisor.catalog.hardware import variants_of
from advisor.finding import Finding
from advisor.prose.ideas import ideas_of
from advisor.prose.sentences import sentences_of
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source


def findings(text: str) -> list[Finding]:
    return [
        one
        for proposal in read(Source("a.md", text)).proposals
        for audited in [audit(proposal)[0]]
        if audited is not None
        for one in run(audited)
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("moved it to the x16 slot. loads are quicker now. rates are as before", 3),
        ("The weights stay. Decode reads them. That is all.", 3),
        ("We use e.g. vLLM or llama.cpp. it works", 1),  # who writes capitals writes them always
        ("anna: it is fast. see fig. 3 for more", 2),
    ],
)
def test_who_begins_small_begins_every_sentence_small(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count


def test_the_call_of_a_function_parts_no_sentence() -> None:
    (sentence,) = sentences_of("Do not wait for generate() to become quicker.")
    assert len(sentence.clauses) == 1


@pytest.mark.parametrize(
    ("text", "is_pattern"),
    [
        ("We keep two weights of every four and set the others to zero.", True),
        ("Of each four consecutive weights two are zeroed.", True),
        ("At most two non-zero values per four.", True),
        ("Two of the four GPUs are pruned from the pool of weights servers.", False),
        ("Two times two is four, and weights are pruned.", False),
    ],
)
def test_two_of_four_in_words(text: str, is_pattern: bool) -> None:
    tags = [tag for sentence in sentences_of(text) for tag in sentence.tags]
    assert ("S24" in ideas_of(text, tags)) is is_pattern


def test_a_short_name_stands_for_every_variant_and_a_slower_one_for_itself() -> None:
    every = variants_of("nvidia-h100-nvl")
    assert {"nvidia-h100-sxm", "nvidia-h100-nvl", "nvidia-h100-pcie-80gb"} <= set(every)
    assert variants_of("nvidia-h100-sxm") == ("nvidia-h100-sxm",)
    assert variants_of("nvidia-l40s") == ("nvidia-l40s",)


ROWS = """\
| variant of the 8B | weights read per token |
|---|---|
| BF16 | 16 GB |
| {name} | {size} GB |
"""


@pytest.mark.parametrize(
    ("name", "size", "is_wrong"),
    [
        ("Wanda, 60% zeros", "6.4", True),  # 16 GB without 60 percent
        ("half of the entries set to 0", "8", True),
        ("Wanda, 60% zeros", "16", False),
        ("Wanda, 60% zeros, packed with bitmaps", "7.4", False),
        ("INT8", "8", False),
        ("40% of the layers removed", "9.6", False),
    ],
)
def test_rows_without_their_zeros(name: str, size: str, is_wrong: bool) -> None:
    found = [one for one in findings(ROWS.format(name=name, size=size)) if one.rule == "FLP002"]
    assert bool(found) is is_wrong
    if found:
        assert found[0].numbers["stored_bytes"] == pytest.approx(16e9)


@pytest.mark.parametrize(
    "text",
    [
        # what bytes alone come to, with the exchange added afterwards
        (
            "A 70B in FP8 on 4 H100 SXM (TP=4), one user: 70 GB over 13.4 TB/s are 5.2 ms. To this"
            " we add 160 all-reduces of 10 us."
        ),
        # two devices in one sentence, each with its own figure
        "Qwen2.5-14B in FP16, one user: 22.9 ms per token on the A100 80 GB, 41 ms on the L40S.",
        (
            "The gap of 0.5 ms a token between floor and measurement of our 70B in FP8 on one H200,"
            " one user, is launches."
        ),
        "A rate of less than 2 tok/s is all that the 70B in FP8 reaches from DDR5 at 90 GB/s.",
    ],
)
def test_what_is_told_of_parts_bounds_and_several_devices_is_left_alone(text: str) -> None:
    assert findings(text) == []
