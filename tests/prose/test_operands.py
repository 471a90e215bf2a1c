"""Which bytes, devices and times a figure is held against, where a document names several."""

from __future__ import annotations

import pytest

from advisor.prose.frame import frame_of
from advisor.prose.shrinkage import byte_ratio, changes_width, gigabytes_in
from advisor.prose.widths import widths_of
from benchmarks.prose import findings_in

SETUP = (
    "Llama-3.1-405B with FP8 weights, about 405 GB, on one node with eight H200 (4.8 TB/s each,"
    " NVLink), TP8, one stream at 8K context.\n\n"
)


@pytest.mark.parametrize(
    ("text", "total", "active"),
    [
        ("3.3B of 30.5B parameters active per token", 30.5e9, 3.3e9),
        ("The 30B activates 3 billion.", 30e9, 3e9),
        ("12.9B of its 46.7B parameters are active", 46.7e9, 12.9e9),
    ],
)
def test_of_two_sizes_the_smaller_is_active(text: str, total: float, active: float) -> None:
    frame = frame_of(text)
    assert (frame.parameters, frame.active_parameters) == (total, active)


@pytest.mark.parametrize(
    ("text", "devices", "each", "together"),
    [
        ("One node with eight H200 (4.8 TB/s each)", 8, 4800.0, None),
        ("Eight H200 with 38.4 TB/s in total", 8, None, 38400.0),
        ("one H200 pair", 2, None, None),
        ("a pair of A100 cards", 2, None, None),
    ],
)
def test_a_bandwidth_is_of_each_device_or_of_all(
    text: str, devices: int, each: float | None, together: float | None
) -> None:
    frame = frame_of(text)
    assert (frame.devices, frame.bandwidth_gbs, frame.total_bandwidth_gbs) == (
        devices,
        each,
        together,
    )


def test_a_format_that_is_compared_with_is_not_that_of_the_figure() -> None:
    assert widths_of("The AWQ file is 2.98x as fast as FP16") == {4.0}
    assert widths_of("It is 2.98x as fast as in FP16") == set()


@pytest.mark.parametrize(
    "told",
    [
        # 405 GB over 38.4 TB/s take 10.5 ms: none of these is the time of a token
        "Reading takes 10.6 ms, sampling and launches account for 8 ms.",
        "The profile shows 3 ms per token which a better kernel would give back.",
        "A good deal of our 8 ms goes into launches.",
        "One token needs 810 GFLOP; the eight cards do this in about 0.05 ms.",
        "Anyone who quotes 900 tokens/s for one user misleads the reader.",
        # a fifth of the layers is gone, and with it a fifth of the bytes
        "| Lever | ms per token |\n|---|---|\n| 126 to 100 layers, distilled | 9.5 |",
        # the row names two formats, and one of them only to fall back on
        "| Step | ms per token | Rollback |\n|---|---|---|\n| INT4 weights | 6 | FP8 |",
    ],
)
def test_times_of_parts_and_of_other_weights_are_no_claims(told: str) -> None:
    assert [one.rule for one in findings_in(SETUP + told)] == []


def test_the_time_of_a_token_is_held_against_all_devices() -> None:
    # 405 GB over 8 x 4.8 TB/s take 10.5 ms
    assert [one.rule for one in findings_in(SETUP + "A token takes 8 ms.")] == ["CLM006"]
    assert [one.rule for one in findings_in(SETUP + "A token takes 12 ms.")] == []


def test_a_row_of_a_table_is_no_claim_about_the_title() -> None:
    text = (
        "# A 2:4 sparse model\n\nH100 PCIe (2.0 TB/s), batch 1.\n\n"
        "| Folder | Weights per token | Tokens/s |\n|---|---|---|\n"
        "| `dense-bf16` | 15.0 GB | 110 |\n| `ffn11k-bf16` | 12.6 GB | 126 |\n"
    )
    assert [one.rule for one in findings_in(text)] == []


OTHERS = "Later, on an H100 with 3.35 TB/s and INT4 weights, we will see.\n"


def test_operands_of_a_document_that_names_several_are_not_sure() -> None:
    # 140 GB over 2,039 GB/s take 69 ms; the second paragraph says nothing of what it runs on
    setup = "The 70B in BF16 (140 GB) runs on an A100 with 2,039 GB/s for one user.\n\n"
    claim = "A token takes 40 ms.\n\n"
    assert [one.rule for one in findings_in(setup + claim)] == ["CLM006"]
    assert [one.rule for one in findings_in(setup + claim + OTHERS)] == []
    assert [one.rule for one in findings_in(setup + claim + OTHERS, strict=True)] == ["CLM006"]


@pytest.mark.parametrize(
    "told",
    [
        "Prefix reuse saves repeated prefill, not time per token, for one user.",
        "Masking heads saves neither bytes nor time in decode for one user.",
        "We removed the sentence that pruning doubles generation speed for one user.",
        "FP8 brings 1.9x, INT4 3.1x, for one stream in decode.",
        "From 83 tok/s for one request, batching brings it to 670 tok/s in sum.",
    ],
)
def test_what_is_contrasted_taken_back_or_summed_is_no_claim(told: str) -> None:
    assert [one.rule for one in findings_in(told)] == []


def test_two_loads_in_one_sentence_are_none() -> None:
    frame = frame_of("one interactive user by day and a batch of 256 at night")
    assert (frame.batch, frame.is_mixed) == (None, True)
    assert frame_of("a batch of 256 at night").batch == 256


def test_attention_is_held_against_the_cache_of_the_model_that_is_named() -> None:
    # Qwen2.5-32B: 64 layers, 8 KV heads of 128, 2 bytes: 262,144 bytes per token, 1.6 GB at 6,144
    # tokens beside 64 GB: free attention would bring 1.03x
    setup = "We run Qwen2.5-32B in BF16 for one user; prompts are around 6k tokens.\n\n"
    claim = "FlashAttention-3 makes generation {} faster."
    assert [one.rule for one in findings_in(setup + claim.format("1.6x"))] == ["PHS001"]
    assert [one.rule for one in findings_in(setup + claim.format("1.03x"))] == []
    long = setup.replace("6k", "60k")
    assert [one.rule for one in findings_in(long + claim.format("1.6x"))] == []


def test_each_reason_for_a_device_is_judged_by_itself() -> None:
    text = (
        "The B200 has 2.5 PFLOPS against 0.99 for the H100, so TPOT goes down by 2.5x. Its 192 GB"
        " of memory will also make decoding faster."
    )
    assert [one.rule for one in findings_in(text)] == ["FLP004", "CAP001"]
    right = "192 GB of memory will hold the 70B, and its 8 TB/s make decoding faster."
    assert [one.rule for one in findings_in(right)] == []


@pytest.mark.parametrize(
    ("text", "gigabytes"),
    [
        ("Two gigabytes are left of 24 GB, and 16 gigs of RAM.", [2.0, 24.0, 16.0]),
        ("It reads 14.5 GB at 864 GB/s, or 900 GB per second.", [14.5]),
        ("Half a gigabyte, 3 Gb and 2 games.", []),
    ],
)
def test_amounts_of_bytes(text: str, gigabytes: list[float]) -> None:
    assert [one.gigabytes for one in gigabytes_in(text)] == gigabytes


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("Going from eight to four bits", 2.0),
        ("6.5 bpw instead of 13", 2.0),
        ("Sixteen to five bits", 3.2),
    ],
)
def test_a_width_that_takes_the_place_of_another(text: str, ratio: float) -> None:
    assert changes_width(text)
    assert byte_ratio(text) == pytest.approx(ratio)
