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
    ("text", "rule", "number", "value"),
    [
        # 16 over 4.2 bits are 3.8x; the narrower of the names counts, 4 bits
        (
            ("AWQ in groups comes to 4.2 bits per weight. For one request decode is now 5x as fast"
            " as in FP16."),
            "CLM002", "byte_ratio", 4.0,
        ),
        (
            ("Qwen2.5-72B in FP16 on A100: at TP=2 a token takes 44 ms. At TP=8 it takes a quarter"
            " of that, 11 ms."),
            "PAR001", "speedup", 4.0,
        ),
        # 2 x 64 layers x 8 heads x 128 x 2 bytes are 262,144 a token; x 8 x 30 x 1,024
        (
            ("Eight sessions of 30K tokens each run at once on the 32B (FP8, 33 GB). Beside the"
            " weights their cache is small change in a decode step."),
            "KV002", "cache_bytes", 64.4e9,
        ),
        (
            ("A 40 GB and an 80 GB board carry 1.6 TB/s each. 2.00 times the memory makes one"
            " stream of the 7B in FP8 2.0 times as fast."),
            "CAP001", "capacity_ratio", 2.0,
        ),
    ],
)  # fmt: skip
def test_figures_that_sentences_before_give(
    text: str, rule: str, number: str, value: float
) -> None:
    found = [one for one in findings(text) if one.rule == rule]
    assert [one.numbers[number] for one in found] == [pytest.approx(value, rel=0.01)]


def test_more_memory_is_told_in_the_sizes_of_the_text() -> None:
    (found,) = findings(
        "The Max is sold with 64 or with 128 GB, at 546 GB/s in both cases. Take the large one: a"
        " 24B Q4 model of 14 GB writes twice as fast on it."
    )
    assert found.rule == "CAP001"
    assert "from 64 GB as from 128 GB" in found.message


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
        # what others wrote, held against the bytes by the author
        (
            "Page 5 claims 900 tokens per second for the 70B in FP8 on one H200. For one stream"
            " 4.8 TB/s and 70 GB allow at most 68."
        ),
        "Mixtral 8x7B in Q4 on one card: 9 GB of VRAM hold 90 of 256 experts, the others stay out.",
        (
            "Prompt lookup drafts from the input: 1.8x on our edits. On open-ended chat acceptance"
            " was 15% and the gain 2%."
        ),
        (
            "L40S: 362 dense FP16 TFLOPS. A100 80GB: 312. For one user the A100 writes faster all"
            " the same, as 2.0 TB/s beats 0.86."
        ),
        (
            "The NPU went from 16 to 48 TOPS, the memory is that of last year. Reading a long"
            " document into the 8B gets a lot quicker, writing the reply does not."
        ),
        (
            "70B in FP16 on A100s: with TP=2 a token takes 38 ms. With TP=8 it takes 15 ms and not"
            " a quarter, 9.5 ms, as two all-reduces a layer remain."
        ),
    ],
)
def test_what_is_told_of_parts_bounds_and_several_devices_is_left_alone(text: str) -> None:
    assert findings(text) == []


def test_a_hypothesis_that_is_acted_on_is_believed() -> None:
    told = "Decode at batch 1 takes 20 ms a token. Hypothesis: the FLOPs are the cost"
    assert findings(f"{told}.") == []
    (found,) = findings(f"{told}, so use fewer FLOPs per layer.")
    assert found.rule == "TXT001"


_PLAN = """\
Mistral-7B in FP16 on one A10G, one engineer per GPU.

| Option | Expected speedup |
|---|---|
"""


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("| Move to an H100 SXM (7x TFLOPS) | 7x |", "FLP004"),
        ("| INT8 activations only | 1.5x |", "FLP008"),
        ("| 2:4 sparsity, dense kernels | 2x |", "PRE003"),
        ("| Move to an H100 SXM (3.35 instead of 0.6 TB/s) | 5x |", None),
        ("| INT8 weights | 1.8x |", None),
    ],
)
def test_a_row_is_judged_for_the_one_user_that_a_device_has(row: str, rule: str | None) -> None:
    assert [one.rule for one in findings(f"{_PLAN}{row}\n")] == ([rule] if rule else [])


def test_an_item_with_a_lever_of_its_own_rests_on_none_above_it() -> None:
    (found,) = findings(
        "1. Use FlashAttention 3 for long prompts.\n"
        "2. Serve 16 users together: each user then sees tokens 10x faster.\n"
    )
    assert found.rule == "BAT002"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("My friend has two of them. Twice as fast?\n: Over Ethernet a chat runs as on one.", 3),
        ("The ratio is 3 : 4. That is all.", 2),
    ],
)
def test_a_definition_is_a_sentence_of_its_own(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count


def test_the_first_row_is_no_baseline_where_the_others_have_its_name() -> None:
    assert not findings(
        "| model | read per token (GB) | tok/s |\n|---|---|---|\n"
        "| 70B dense, 4 bit | 40 | 4.9 |\n| 8B dense, 4 bit | 4.8 | 39 |\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "The draft agrees with the 34B five times in six (acceptance 0.83, k = 4).",
        (
            "With one request EAGLE gives 2.4x. By noon the server has 300, the tensor cores are"
            " flat out, and EAGLE gives nothing."
        ),
        "FP8 GEMMs trimmed the intake of 12k-token briefs from 1.9 s to 1.15 s.",
        (
            "Suppose one stream really were governed by peak arithmetic. A 4060 Ti, at 88 TFLOPS,"
            " ought then to beat a 3060 with its 51."
        ),
        (
            "Phi-3-mini in INT8 is 3.7 GB on an Orin with 204 GB/s. The cameras take up to 30 GB/s"
            " of it. Budget 35 tok/s in the field."
        ),
        "At batch 1 the step over 8 GPUs is latency-bound, not bandwidth-bound.",
        (
            'The document said: "Pruning removes half of the operations. With half the compute per'
            ' token we will halve TPOT from 40 to 20 ms." Nobody objected.'
        ),
        "141 GFLOP per token against 864 TFLOPS: 0.16 ms. Memory takes 180 times as long.",
        "TP2 on H100 SXM: each GPU streams 32.8 GB per token, 9.8 ms at 3,350 GB/s.",
        "405 GB / 8 / 3,350 GB/s = 15.1 ms per token at batch 1. We measure 22 ms.",
        "We use 13 GB for one caller; the 24 GB of memory are not the bottleneck.",
        "Unpacking costs arithmetic in the phase that's limited by arithmetic.",
        "Each of the 270 users gets 34 tok/s where a lone user gets 82.",
        "For us 2:4 does not exist. Even with it you'd save some bytes, not half of the time.",
        "2:4 packed gives 1.4x. The 2x of the data sheet plays no part at batch 1.",
        (
            "A second card under tensor parallelism cuts the weight part from 33.1 to 16.6 ms. Then"
            " there are 96 all-reduces per token; I measured 30 us per all-reduce, so 2.9 ms."
        ),
        "Decode is limited by GDDR6 and hardly notices a 30% lower core clock.",
        "2:4 helps generation by its bytes, with the right kernel.",
        (
            "The 70B in FP8 on two H200 (TP2) reads 70.6 GB a step. No single reply can get a token"
            " more often than every 7.35 ms."
        ),
        "Pipeline over 2 GPUs gives space: one token still goes through both halves in turn.",
        (
            "# Voice\n\nThe 70B in FP8 (71 GB) runs on two H100 SXM with TP=2, one call at a time."
            "\n\n## Goal\n\n100 tokens/s for the stream of one caller."
        ),
        "TP=8, 405 GB in FP8. Custom all-reduce: saves 7.5 us each time, 1.9 ms per token.",
        (
            "The new card has a larger FP4 peak. The reasons why a single request would become"
            " faster on it are the 8 TB/s memory and the quicker links."
        ),
        (
            "DeepSeek has 671B, 37B active. Attention, shared experts and head are about 16B of the"
            " 37B. At Q4 that is some 10 GB and fits into the 4090."
        ),
        (
            "The 4060 Ti has newer tensor cores and is less than half as quick at writing, because"
            " its memory bus is 128 bits wide."
        ),
        (
            "TP2: 160 all-reduces per token. We timed them at 45 us each, 7.2 ms in sum. The step"
            " comes to 31.5 ms."
        ),
        "A customer wants to prune the 7B to half its weights to double the speed.",
        "FP8 weights: at 4.8 TB/s of one H200 this moves the floor from 29.0 to 14.7 ms.",
        "Quantized 30B-A3B on a CPU. Reading long documents is the weak spot.",
        "k = 6 gave 3.06 tokens per round of 35.6 ms, i.e. 86 tok/s.",
        (
            "Is 256 tok/s believable with 61 GB of experts? Yes. If every expert were read for each"
            " token, the rate could not exceed 55 tok/s."
        ),
        "Mixtral in FP8 on one H100 SXM: of 46.7 GB, one token touches 12.9 GB.",
        "The 3B in BF16 reads 6.4 GB a token. At 4 bits it is 2.0 GB, so 3.2x is the limit.",
        "2:4 on one A100, one user. That figure is for large products limited by arithmetic.",
        "The paper's twice-the-math for 2:4 says nothing about reading weights for a lone user.",
        (
            "An RTX 4090 writes 118 tokens a second with the 7B in INT8. Prompt processing had"
            " recovered (5,100 to 6,000 tokens a second) while decode had not."
        ),
        "Weight-only INT8 reads half the bytes and is as fast as 2:4 on the models we tried.",
        "Mixtral has 12.9 B active weights: 12.9 B x 4.53 bits = 7.3 GB a token.",
        (
            "With B sequences the intensity is about B, and the ridge is reached near B = 139."
            " Above it, step time grows with B, and there fewer FLOPs shorten the step."
        ),
        (
            "Bertil proposed to lower the response time by batching 16 pupils. Long discussion. It"
            " would leave each of them with 40 rather than 49 tok/s."
        ),
        (
            '"A 70B now fits, but it writes at 4 words per second. With five times the memory I'
            ' expected five times the speed. Defective?"\n\nYour machine is in order.'
        ),
        (
            "The remaining space on the card could hold 200,000 tokens of cache; it does not change"
            " the speed of any conversation."
        ),
    ],
)
def test_shares_loads_prompts_and_suppositions_are_left_alone(text: str) -> None:
    assert not findings(text)


def test_a_list_is_held_against_the_rate_that_leads_it_in() -> None:
    (found,) = findings(
        "Llama-3.2-3B in FP16 is 6.4 GB, and we measured 13.1 tok/s with one user.\n\n"
        "- Step 1: SparseGPT to 50%, the checkpoint stays dense.\n"
        "- Step 2: fine-tune with masks.\n"
        "- Expected: 26 tok/s, since only half of the weights take part in the computation.\n"
    )
    assert found.rule in {"FLP001", "FLP002"}


def test_a_time_after_the_bytes_of_a_token_is_held_against_them() -> None:
    (found,) = findings(
        "The 70B in FP8 on one H100 SXM reads 70 GB per token: 21 ms floor. We see 27 ms."
        " With the new kernel we expect 15 ms.\n"
    )
    assert found.rule == "CLM006"


def test_the_nx_of_a_jetson_is_no_agx() -> None:
    (proposal,) = read(Source("a.md", "One Jetson Orin NX 16GB decodes 8 tok/s.\n")).proposals
    assert proposal.statements[0].frame.hardware == "nvidia-jetson-orin-nx-16gb"


def test_a_letter_over_a_column_tells_how_many_share_a_step() -> None:
    assert not findings(
        "Mixtral 8x7B in FP16, by the sequences that decode together:\n\n"
        "| B | bytes per step | floor |\n|---|---|---|\n"
        "| 1 | 25.8 GB | 6.3 ms |\n| 16 | 92.5 GB | 22.7 ms |\n"
    )


def test_a_column_of_tokens_per_round_divides_the_floor() -> None:
    text = (
        "The 32B in BF16 is 64 GB on one H200 (4.8 TB/s), one user.\n\n"
        "| acceptance | tokens per round | ms per token |\n|---|---|---|\n"
        "| 0.75 | {} | 6.9 |\n"
    )
    assert not findings(text.format("3.05"))  # 13.3 / 3.05 = 4.4 ms
    assert [one.rule for one in findings(text.format("1.5"))] == ["CLM006"]  # 8.9 ms
