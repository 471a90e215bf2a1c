"""The figures that a finding in prose works with: read from the text, and worked out by hand."""

from __future__ import annotations

import pytest

from advisor.audit import audit
from advisor.finding import Finding
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

TIMES = [("twice", 2), ("double", 2), ("2x", 2), ("triple", 3), ("three times", 3), ("3x", 3),
         ("quadruple", 4), ("four times", 4), ("4x", 4)]  # fmt: skip
PEAKS = """\
| | {first} | {second} |
|---|---|---|
| BF16 TFLOPS | {peaks[0]} | {peaks[1]} |
| GB/s | {rates[0]} | {rates[1]} |
| Decode, batch 1 | {factors[0]} | {factors[1]} |
"""


def found(text: str, rule: str) -> Finding | None:
    """The one finding of a rule in a Markdown text, at any level."""
    ours = [
        one
        for proposal in read(Source("a.md", text)).proposals
        for audited in [audit(proposal)[0]]
        if audited is not None
        for one in run(audited, strict=True)
        if one.rule == rule
    ]
    assert len(ours) <= 1
    return ours[0] if ours else None


def numbers(text: str, rule: str) -> dict[str, object]:
    finding = found(text, rule)
    assert finding is not None, text
    return dict(finding.numbers)


@pytest.mark.parametrize(("word", "ratio"), TIMES)
def test_more_memory_at_the_same_bandwidth_is_no_speed(word: str, ratio: int) -> None:
    text = (
        f"The new card has {word} the memory at the same 900 GB/s, so a single user gets his"
        f" tokens {ratio}x as fast."
    )
    assert numbers(text, "CAP001")["capacity_ratio"] == ratio


def test_a_factor_of_peaks_in_a_table_is_told_beside_that_of_bandwidths() -> None:
    table = PEAKS.format(
        first="L40S", second="A100", peaks=(362, 312), rates=(864, 2039), factors=("1.16x", "1.0x")
    )
    told = numbers(table, "FLP004")
    assert told["peak_ratio"] == pytest.approx(362 / 312)
    assert told["bandwidth_ratio"] == pytest.approx(864 / 2039)


def test_the_baseline_may_stand_in_the_first_column() -> None:
    table = PEAKS.format(
        first="old", second="new", peaks=(312, 624), rates=(900, 900), factors=("1.0x", "2.0x")
    )
    told = numbers(table, "FLP004")
    assert (told["peak_ratio"], told["bandwidth_ratio"]) == (2.0, 1.0)


def test_bandwidth_that_grows_as_well_explains_the_factor() -> None:
    # 990 / 900 is 1.10: nearly all of 1.16, which is also the ratio of the peaks
    table = PEAKS.format(
        first="X", second="Y", peaks=(362, 312), rates=(990, 900), factors=("1.16x", "1.0x")
    )
    assert found(table, "FLP004") is None


@pytest.mark.parametrize(("users", "touched"), [(16, 82), (32, 112), (64, 126)])
def test_tokens_of_many_users_touch_most_experts(users: int, touched: int) -> None:
    # 128 x (1 - (1 - 8/128)^users): 16 -> 82.4, 32 -> 111.8, 64 -> 125.9
    text = f"In our 30B-A3B with {users} users a step still reads just the 3B active parameters."
    finding = found(text, "MOE001")
    assert finding is not None
    assert f"they touch {touched} a layer, not 8" in finding.message


def test_few_users_touch_few_experts() -> None:
    text = "In our 30B-A3B with 15 users a step still reads just the 3B active parameters."
    assert found(text, "MOE001") is None


def test_a_cache_of_several_sequences_is_told_with_their_number() -> None:
    # 32 layers x 8 KV heads x 128 x 2 x 2 bytes = 131,072 a token; x 64,000 = 8.389 GB
    one = "Llama-3.1-8B in FP8 at 64k tokens: the cache is negligible beside the weights in decode."
    told = numbers(one, "KV002")
    assert told["cache_bytes"] == 131_072 * 64_000
    finding = found(one, "KV002")
    assert finding is not None
    assert finding.message.startswith("64,000 tokens hold 8.39 GB of cache")
    many = one.replace("at 64k tokens", "with 16 users of 64k tokens each")
    finding = found(many, "KV002")
    assert finding is not None
    assert finding.message.startswith("16 sequences of 64,000 tokens hold 134 GB of cache")


def test_the_factor_of_a_part_is_not_that_of_the_whole() -> None:
    text = "The MLP kernel gets 2.0x. So decode of the whole model runs at 2.0x the tokens/s."
    finding = found(text, "CLM001")
    assert finding is not None
    assert finding.numbers is not None
    assert dict(finding.numbers)["part_factor"] == 2.0
    # half of the step at 2x, half as before: 1 / (0.5 + 0.25)
    assert "1.33x, never 2x" in finding.message
    modest = text.replace("at 2.0x the tokens/s", "at 1.3x the tokens/s")
    assert found(modest, "CLM001") is None


def test_halved_at_each_doubling_leaves_nothing_for_the_exchange() -> None:
    text = (
        "A step of one user on one card takes 20 ms. With two cards it takes 10 ms and with four"
        " 5 ms."
    )
    told = numbers(text, "PAR001")
    assert (told["devices_ratio"], told["speedup"]) == (2.0, 2.0)
    # a fifth of the step fixed: 1 / (0.2 + 0.8 / 2)
    finding = found(text, "PAR001")
    assert finding is not None
    assert "gives 1.7x" in finding.message


@pytest.mark.parametrize(
    ("text", "ways", "times"),
    [
        ("Step time of one user: TP2 20 ms, TP4 10 ms, TP8 5 ms.", 2.0, 2.0),
        ("TP1: 20 ms, TP2: 10 ms, TP4: 5 ms per token for one user.", 2.0, 2.0),
        ("| TP | tok/s, one user |\n|---|---|\n| 1 | 40 |\n| 4 | 158 |", 4.0, 158 / 40),
        ("| TP | ms per token |\n|---|---|\n| 2 | 20 |\n| 8 | 5.0 |", 4.0, 4.0),
    ],
)
def test_degrees_and_their_figures_are_compared(text: str, ways: float, times: float) -> None:
    told = numbers(text, "PAR001")
    assert told["devices_ratio"] == ways
    assert told["speedup"] == pytest.approx(times)


@pytest.mark.parametrize(
    "text",
    [
        # t = 5.7 + 82.4 / n ms, a 70B on A100
        "Step time of one user: TP2 46.9 ms, TP4 26.3 ms, TP8 16.0 ms.",
        "| TP | tok/s, one user |\n|---|---|\n| 4 | 158 |\n| 4 | 160 |",
        "| TP | tok/s, one user |\n|---|---|\n| 1 | 40 |\n| 4 | 101 |",
    ],
)
def test_degrees_that_pay_for_their_exchange_are_left_alone(text: str) -> None:
    assert found(text, "PAR001") is None


def test_heads_that_are_gone_bring_their_share_of_attention() -> None:
    text = "We removed 8 of 32 attention heads from the tensors; one user decodes 1.4x faster."
    # a quarter of a third of the weights: 1 / (1 - 1/12)
    assert numbers(text, "FLP003")["share_of_heads"] == 0.25
    finding = found(text, "FLP003")
    assert finding is not None
    assert "1.09x at most" in finding.message
    assert found(text.replace("1.4x", "1.05x"), "FLP003") is None


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("In prefill the weights are loaded anew for every prompt token.", True),
        ("Each prompt token fetches all weights from HBM, 2,000 times for 2,000 tokens.", True),
        ("In decode the weights are loaded anew for every generated token.", False),
    ],
)
def test_a_prompt_reads_the_weights_once(text: str, *, is_wrong: bool) -> None:
    assert (found(text, "PHS001") is not None) == is_wrong


def test_layers_that_share_weights_are_read_as_often() -> None:
    text = "ALBERT ties its layers, so decode of one user is 12x faster."
    assert found(text, "CAP001") is not None
    assert found("ALBERT ties its layers, so the checkpoint is 12x smaller.", "CAP001") is None


@pytest.mark.parametrize(
    "text",
    [
        (
            "The 48 GB card answers twice as fast as the 24 GB card at the same bandwidth, having"
            " 2x the memory."
        ),
        "From 16 GB to 32 GB at the same bandwidth, one user's tokens come 2x as fast.",
    ],
)
def test_sizes_of_memory_are_divided(text: str) -> None:
    assert numbers(text, "CAP001")["capacity_ratio"] == 2.0


def test_all_parameters_must_be_held() -> None:
    # 120e9 x 0.5 bytes = 60 GB, x 2 bytes = 240 GB
    text = "The 120B-A5B fits in 16 GB because only 5B are active."
    told = numbers(text, "MOE002")
    assert (told["total_parameters"], told["stated_bytes"]) == (120e9, 16e9)
    finding = found(text, "MOE002")
    assert finding is not None
    assert "60 GB at 4 bits, 240 GB in 16 bits, not 16 GB" in finding.message
    # 30e9 parameters at 4 bits are 15 GB
    assert found("The 30B-A3B fits in 16 GB because only 3B are active.", "MOE002") is None


def test_a_token_of_a_mixture_reads_its_active_parameters() -> None:
    finding = found("The 235B-A22B reads 235B parameters for every token.", "MOE003")
    assert finding is not None
    assert finding.message.endswith("22B of 235B parameters")
    assert found("The 235B-A22B reads 22B parameters for every token.", "MOE003") is None
