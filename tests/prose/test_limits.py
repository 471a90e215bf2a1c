"""Where the judges of prose turn: for each limit, figures on both sides of it.

A case is a text with a gap, what is wrong in the gap, what is right there, and the figures that the
finding about the first wrong one states.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from advisor.audit import audit
from advisor.finding import Confidence, Finding
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "prose"


class Case(NamedTuple):
    rule: str
    text: str
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    numbers: dict[str, float] = {}  # noqa: RUF012 - nobody changes it


def found(rule: str, text: str) -> list[Finding]:
    """What a rule finds in a text, the unsure included."""
    return [
        one
        for proposal in read(Source("doc.md", text)).proposals
        for audited in [audit(proposal)[0]]
        if audited is not None
        for one in run(audited, strict=True)
        if one.rule == rule
    ]


GPUS = "| GPUs | ms per token |\n|---|---|\n| 2 | 40 |\n| 8 | {} |\n"
RATES = "| GPUs | tok/s per user |\n|---|---|\n| 2 | 40 |\n| 8 | {} |\n"
BATCHES = "| Batch | Throughput tok/s | Per-user tok/s |\n|---|---|---|\n{}| 16 | 640 | {} |\n"
CLIENTS = "| Users | Total tok/s | TPOT of a client |\n|---|---|---|\n{}| 32 | 1,150 | {} ms |\n"
CONTEXTS = "| Context | tok/s |\n|---|---|\n| {}K | 100 |\n| 128K | {} |\n"

CASES = (
    # n devices bring less than 0.95 n.
    Case(
        "PAR001", "Eight GPUs give {} the decode speed.",
        ("eight times", "8x", "7.7x", "13x"), ("7.5x", "6x"),
        {"devices_ratio": 8, "speedup": 8},
    ),
    Case("PAR001", "TP=8 cuts the ITL from 40 ms to {} ms.", ("5", "5.2", "3"),
         ("5.4", "12"), {"devices_ratio": 8, "speedup": 40 / 5}),
    Case("PAR001", "{} GPUs give 4x the decode speed.", ("Four", "4", "3", "2"), ("eight", "six")),
    Case(
        "PAR001", "Going from 2 to 8 GPUs gives {} the tokens per second for one user.",
        ("4x", "3.85x", "8x"), ("3.7x", "2x"), {"devices_ratio": 8 / 2, "speedup": 4},
    ),
    Case("PAR001", "Increasing the GPUs from 2 to 8 gives {} the tokens per second for one user.",
         ("4x", "3.85x"), ("3.7x",), {"devices_ratio": 8 / 2}),
    Case("PAR001", "Adding a second GPU {} the latency of every token.", ("halves",),
         ("cuts 30% off",), {"devices_ratio": 2, "speedup": 2}),
    Case(
        "PAR001",
        "NVLink moves 900 GB/s, so {}-way tensor parallelism makes a single"
        " stream eight times faster.",
        ("eight", "8"), ("sixteen",), {"devices_ratio": 8},
    ),
    Case("PAR001", "Since each card holds {} of the weights, the token rate is 4x.",
         ("a quarter", "one quarter"), ("an eighth", "a sixth"), {"devices_ratio": 4}),
    Case("PAR001", "Doubling the number of GPUs gives {} the tokens per second for one user.",
         ("2x", "1.92x", "3.1x"), ("1.85x",), {"devices_ratio": 2}),
    Case("PAR001", "Twice as many GPUs give {} the tokens per second for one user.",
         ("2x", "1.92x"), ("1.85x",), {"devices_ratio": 2}),
    Case("PAR001", GPUS, ("10", "10.5", "6"), ("10.6", "20"),
         {"devices_ratio": 4, "speedup": 40 / 10}),
    Case("PAR001", RATES, ("160", "152", "255"), ("150",),
         {"devices_ratio": 4, "speedup": 160 / 40}),
    Case("PAR001", "With {} GPUs a stream is 16 times faster.", ("16", "sixteen"), ("32",)),
    Case("PAR001", "With tensor parallel size {} a single stream decodes 4x faster.", ("4",),
         ("8",)),
    # 64 all-reduces of 20 us are 1.28 ms; a quarter more or less is rounding.
    Case(
        "PAR001", "64 all-reduces at 20 us each add up to {} ms per token with TP=8.",
        ("0.32", "1.65", "1.0"), ("1.28", "1.55", "1.05"), {"right_ms": 1.28, "told_ms": 0.32},
    ),
    Case(
        "PAR001", "64 all-reduces at 0.02 ms each add up to {} us per token with TP=8.",
        ("320", "1650", "1000"), ("1280", "1550", "1050"), {"right_ms": 1.28, "told_ms": 0.32},
    ),
    # 64 users share 3,200 tokens/s: 50 for each, 15% of rounding.
    Case(
        "BAT002", "vLLM makes 3,200 tokens/s in total. With 64 users each user sees {} tokens/s.",
        ("58", "80"), ("57", "50"),
        {"users": 64, "total_tokens_per_second": 3200, "each_tokens_per_second": 58},
    ),
    Case("BAT002", "vLLM makes 3,200 tokens/s in total. With {} users each user sees 100"
         " tokens/s.",
         ("64", "37"), ("36", "32"), {"users": 64, "each_tokens_per_second": 100}),
    Case("BAT002", BATCHES.format("| 1 | 50 | 50 |\n", "{}"), ("200", "46.5"), ("45.5", "40"),
         {"users": 16, "total_tokens_per_second": 640, "each_tokens_per_second": 200}),
    Case("BAT002", CLIENTS.format("| 1 | 45 | 22 ms |\n", "{}"), ("0.9", "24"), ("24.5", "28"),
         {"users": 32, "total_tokens_per_second": 1150, "each_tokens_per_second": 1e3 / 0.9}),
    Case("BAT002", "One step of 16 sequences takes 20 ms, so per user that is just {} ms per"
         " token.", ("1.25", "15.9"), ("20", "16.1"), {"claimed_tpot_ms": 1.25}),
    Case("BAT002", "Aggregate throughput is 529 tok/s, i.e. {} ms per token for the user.",
         ("1.9", "1.79", "2.0"), ("2.1", "1.7", "30"), {"claimed_tpot_ms": 1.9}),
    Case("BAT002", "With 8 requests per step, the 40 ms for reading the weights are divided by 8,"
         " so each customer waits only {} ms per token.", ("5", "31"), ("40",)),
    Case("BAT002", "Going from batch {} cuts TPOT from 20 ms to 2 ms.", ("1 to batch 16", "4 to 8"),
         ("16 to batch 1", "8 to 4"), {"claimed_speedup": 10, "claimed_tpot_ms": 2}),
    # From 16,000 tokens on the cache counts; a token of an 8B with 8 KV heads caches 128 KiB.
    Case(
        "KV002", "At {}K tokens the KV cache can be neglected; only the weights count for decode"
        " speed.", ("128", "16", "20"), ("15", "1", "4"),
        {"context_tokens": 128 * 1024, "kv_bytes_of_an_8b": 128 * 1024 * 128 * 1024},
    ),
    Case("KV002", "Token rate does not depend on the context length, so at {}K tokens we still get"
         " the same 60 tokens/s as at 1K.", ("100", "16"), ("15", "8")),
    Case("KV002", CONTEXTS.format("1", "{}"), ("100", "99"), ("97", "50")),
    Case("KV002", CONTEXTS.format("{}", "100"), ("1", "16"), ("17", "64", "128")),
    Case("KV002", "| Context | tok/s |\n|---|---|\n| 1K | 100 |\n| {}K | 100 |\n",
         ("128", "16", "20"), ("15", "8")),
    Case(
        "KV002", "8B in FP8 on 3.35 TB/s: 8 GB, so {} tokens/s per user even with 120K tokens in"
        " the cache.", ("400", "370"), ("330", "150"), {"context_tokens": 120 * 1024},
    ),
    Case("KV002", "8B in FP8 on 3.35 TB/s: 8 GB, so 400 tokens/s per user even with {}K tokens in"
         " the cache.", ("120", "32"), ("31", "8")),
    Case(
        "KV002", "The cache takes 128 KB per token. For 16 sessions of 32K tokens we have to read"
        " {} GB of cache per step.", ("4.2", "4.5", "3.8"), ("67", "4.8", "3.6"),
        {"told_bytes": 4.2e9, "right_bytes": 16 * 128e3 * 32 * 1024},
    ),
    # Factors of levers: bytes, bandwidths, drafted tokens.
    Case("CLM001", "The student has 8B parameters instead of 70B. Replies stream up to {}x"
         " faster.", ("9.2", "15"), ("8.75", "9.1", "4"), {"size_ratio": 70 / 8}),
    Case(
        "CLM001", "Moving from the A100 (2.0 TB/s) to the H100 ({} TB/s) makes decode of the same"
        " FP16 model 3x faster.", ("3.35", "5.4"), ("5.5", "6", "8"),
        {"bandwidth_ratio": 3.35 / 2},
    ),
    Case("CLM001", "Moving from a card with 500 GB/s to one with {} GB/s makes decode of the same"
         " model 3x faster.", ("1000", "1,350"), ("1375", "1500"), {"bandwidth_ratio": 2}),
    Case("CLM001", "A draft of {} tokens per step will speed up decode 5x.", ("three", "3"),
         ("four", "4", "5"), {"tokens_per_pass": 3 + 1}),
    Case("CLM001", "With num_speculative_tokens = {} a single stream decodes 6.5x faster.",
         ("5", "4"), ("6", "8"), {"tokens_per_pass": 5 + 1}),
    Case("CLM001", "At {} tokens of context an FP8 KV cache doubles the tokens per second of one"
         " user.", ("512", "2048"), ("2049", "4096", "32K"), {"context_tokens": 512}),
    Case("CLM002", "INT8 weights instead of FP16 will make single-stream decode {}x faster.",
         ("3", "2.25"), ("2.15", "1.8"), {"byte_ratio": 16 / 8}),
    Case("CLM002", "{} weights instead of FP16 will make single-stream decode 4.5x faster.",
         ("INT8", "INT4"), ("INT3",), {"byte_ratio": 16 / 8}),
    Case("CLM002", "AWQ 4-bit: {}x faster decode at batch 1.", ("8", "4.5"), ("4.35", "3"),
         {"byte_ratio": 16 / 4}),
    Case(
        "CLM002", "Quantizing the MLP from 20 to 10 GB of the 40 GB speeds up a single stream"
        " {}x.", ("1.5", "2"), ("1.45", "1.3"), {"byte_ratio": 40 / 30},
    ),
    # 26 GB over 864 GB/s are 30.1 ms or 33.2 tokens/s, with 5% of grace 34.9.
    Case(
        "CLM006", "13B in FP16 is 26 GB and the card has 864 GB/s. Target: {} tokens/s for a single"
        " session.", ("60", "36"), ("34", "30", "20"),
        {"step_bytes": 26e9, "floor_ms": 26e9 / 864e9 * 1e3, "bandwidth_gbs": 864},
    ),
    Case("CLM006", "The 8B in BF16 on an RTX 4090 will reach {} tokens/s at batch 1.",
         ("120", "75"), ("60", "55"), {"bandwidth_gbs": 1008}),
    Case("CLM006", "The 8B in BF16 on an RTX 4090 will reach 120 tokens/s at batch {}.", ("1",),
         ("8", "32")),
    Case("CLM006", "With {} accepted tokens per pass the 8B in BF16 will reach 120 tokens/s at"
         " batch 1 on an RTX 4090.", ("1.5",), ("2.5", "3")),
    # Memory
    Case(
        "CAP001", "More VRAM gives higher tokens per second{}.",
        ("", " at the same bandwidth"),
        (" because the bandwidth grows too", " as the model no longer spills to system RAM",
         " through larger batches, with quantized weights"),
    ),
    Case(
        "MOE002", "The 120B-A5B fits in {} GB because only 5B parameters are active.",
        ("16", "47"), ("48", "60", "240"), {"total_parameters": 120e9, "stated_bytes": 16e9},
    ),
    Case("MOE002", "With only 22B active parameters the 235B runs in {} GB at 8 bits.",
         ("24", "90", "96"), ("210", "240"), {"total_parameters": 235e9}),
    Case("MOE003", "Mixtral at 16 bits is 94 GB. One token at 2 TB/s therefore takes {} ms.",
         ("47",), ("13", "70"), {"total_bytes": 46.7e9 * 2}),
    Case("MOE003", "A 120B-A5B at 4 bits has to read {} GB for each token.", ("60", "58"),
         ("30", "10", "5")),
    # 671e9 parameters of a byte each; 8% of rounding.
    Case("MOE003", "DeepSeek-V3 in FP8: {} GB have to cross the memory bus for each token of a"
         " single stream.", ("671", "700", "640"), ("40", "600", "740"), {"total_bytes": 671e9}),
    Case("MOE003", "DeepSeek-V3 in FP8: 671 GB have to cross the memory bus for each token at"
         " batch {}.", ("1",), ("64", "128")),
    # Phases
    Case("PHS001", "The engine reads prompts at 8,000 tokens/s, so it will also write at {}"
         " tokens/s.", ("8,000",), ("80", "60")),
    Case("PHS001", "FlashAttention-2 will make token generation 2x faster at {} context.",
         ("512 tokens of", "4096 tokens of", "short"), ("4097 tokens of", "32K tokens of", "long")),
    # 2:4 packed in 16 bits: 16 / 9 = 1.78.
    Case("PRE003", "2:4 sparsity{} gives 1.9x faster decode at batch 1.",
         ("", " with packed weights"), (), {"claimed_speedup": 1.9}),
    Case("PRE003", "2:4 sparsity with packed weights gives {}x faster decode at batch 1.",
         ("1.9", "2.5"), ("1.8", "1.7", "1.2")),
    # Speculation
    Case("SPC003", "Drafting {} tokens makes generation five times faster.", ("five", "5", "four"),
         ("three", "eight", "six")),
    Case("SPC003", "Drafting five tokens makes generation {} faster.", ("5x", "4.8x", "6.3x"),
         ("4.7x", "6.4x", "2x")),
    Case("SPC003", "At batch {} speculative decoding will still give 2.5x.", ("256", "64"),
         ("63", "8", "1")),
    Case("SPC003", "Drafting five tokens makes generation five times faster{}.", ("",),
         (" at most", ", if all are accepted")),
    # Units: 20 GB over 400 Gb/s are 400 ms, over 400 GB/s 50 ms; 12% of rounding.
    Case("TXT002", "A {} Gb/s link moves 20 GB in 50 ms.", ("400", "380"), ("3200", "500"),
         {"bytes": 20e9, "right_ms": 8 * 20 / 400 * 1e3}),
    Case("TXT002", "A 400 Gb/s link moves 20 GB in {} ms.", ("50", "55", "45"),
         ("400", "57", "43"), {"right_ms": 400}),
    Case("TXT002", "A 400 Gb/s link moves 20 GB in {} s.", ("0.05", "0.055"), ("0.4", "0.06"),
         {"right_ms": 400}),
    Case("TXT002", "Early exit saves {}% of the compute.", ("200", "101"), ("100", "30")),
    # 140 GB, from 0.8 of it for rounded names to 1.45 with scales and wide heads.
    Case("TXT002", "A 70B in FP16 takes {} GB.", ("100", "111", "204"), ("140", "113", "202"),
         {"right_bytes": 70e9 * 2, "told_bytes": 100e9}),
    Case("TXT002", "A 70B in int4 takes {} GB.", ("27", "51"), ("29", "35", "50"),
         {"right_bytes": 70e9 / 2, "told_bytes": 27e9}),
    Case("TXT002", "A decode step takes 20 ms per token, i.e. {} tokens per second.",
         ("60", "44", "58"), ("50", "45", "56"), {"right_tokens_per_second": 1e3 / 20}),
    Case("FLP005", "The H100 SXM delivers {} TFLOPS of dense BF16.", ("1979", "2030"),
         ("989", "2050", "1900"), {"quoted_tflops": 1979, "dense_tflops": 989}),
    Case("FLP005", "The H100 SXM delivers {} TFLOPS of dense FP8.", ("3958",), ("1979",),
         {"quoted_tflops": 3958, "dense_tflops": 1979}),
    Case("TXT001", "At an intensity of {} FLOP/B against a ridge of 295 FLOP/B, decode is"
         " compute-bound.", ("2", "265"), ("266", "300"), {"intensity_flop_per_byte": 2}),
    # Mixtral: 47B in 16 bits are 94 GB, 28.06 ms at 3.35 TB/s; 7% more or less is the whole.
    Case("MOE003", "Mixtral in FP16 on 3.35 TB/s has 47B parameters of which 13B are active, and"
         " its weights take {} ms per token at batch 1.", ("28", "26.5", "29.5"),
         ("8", "18", "24", "36")),
    # 61 GB in 16 bits and 31 in 8; four fifths of it is no routed share.
    Case("MOE003", "In the 30B-A3B in BF16 each token reads {} GB of weights.", ("60", "49"),
         ("47", "6")),
    Case("MOE003", "In the 30B-A3B in FP8 each token reads {} GB of weights.", ("30", "25"),
         ("23", "3")),
    Case("MOE003", "In the 30B-A3B {} experts are read for every token.",
         ("all", "all the", "every"), ("only 8", "8 of 128")),
    Case("MOE003", "In the 30B-A3B the {} model is read for every token.",
         ("whole", "entire", "full", "complete"), ("active part of the",)),
    Case("MOE003", "For {} of the 30B-A3B all 128 experts are read.", ("each token",),
         ("64 tokens", "several sequences", "many users")),
    Case("KV002", "At 128K tokens the KV cache of {} can be neglected.", ("the 8B",),
         ("Mamba", "a sliding window model", "an MLA model")),
    # A step of 30 ms is 30 ms for each; four fifths of it are rounding.
    Case("BAT002", "At batch 32 one step takes 30 ms, so every user waits only {} ms per token.",
         ("1", "10", "23"), ("25", "30")),
    Case("BAT002", "A single stream takes 30 ms per token. With batch 16 each user waits {} ms per"
         " token.", ("2", "23"), ("25", "30", "31")),
    Case("BAT002", "The server does 2,400 tokens/s at batch 64, so each user gets {} tokens per"
         " second.", ("2,400", "2,300", "2,500", "2,200", "60"), ("40", "37")),
    Case("PHS001", "TTFT fell from 800 ms to 400 ms; the same {} applies to the inter-token"
         " latency.", ("2x",), ()),
    Case("PHS001", "Prefix caching makes {} 3x faster.",
         ("token generation", "each generated token"), ("the prompt", "prefill")),
    Case("PHS001", "FlashAttention cut the prefill time in half, so generation will be twice as"
         " fast{}.", (" as well", " too"), ()),
    Case("FLP001", "The factors are {} at run time, so the low-rank model decodes 1.5x faster.",
         ("multiplied back", "rebuilt", "reconstructed"), ("kept apart",)),
    Case("FLP001", "A cheaper activation function saves 8% of the {}, which shows up one to one as"
         " 8% lower TPOT.", ("FLOPs", "operations", "arithmetic"), ("bytes", "weights and FLOPs")),
    Case("FLP002", "We prune 30% of the weights{}, so decode gets 30% faster.",
         ("", " in dense tensors"), (" and remove them", " and pack them for SpInfer")),
    Case("FLP002", "We prune 30% of the weights, so {} gets 30% faster.", ("decode",),
         ("prefill", "training")),
    Case("FLP003", "We mask a quarter of the heads{}, so decode gets 25% faster.",
         ("", " at run time"), (" and slice them out of the tensors",)),
    Case("FLP004", "Overclocking the GPU core by 10% will give 10% more tokens per second{}.",
         ("", " per user"), (" in prefill", " at batch 512")),
    Case("FLP004", "The new card has twice the TFLOPS{}, so a single chat will run twice as fast.",
         ("", " at the same bandwidth"), (" and twice the bandwidth",)),
    Case("FLP007", "The new GEMM is 1.6x faster, so we expect 1.6x lower {}.",
         ("inter-token latency", "TPOT at batch 1"), ("TTFT", "prefill time")),
    Case("FLP007", "The new {} is 1.6x faster, so we expect 1.6x lower TPOT at batch 1.",
         ("GEMM", "matmul kernel"), ("fused GEMV", "dequant kernel")),
    Case("FLP008", "We already run {}; moving to W8A8 will give another 1.5x in single-user"
         " decode.", ("W8A16",), ("W16A16",)),
    Case("TXT003", "Speculative decoding {}, therefore it can never make a single stream faster.",
         ("does more arithmetic in total", "adds work"), ("has no draft model",)),
    Case("TXT001", "At batch {} decode is compute-bound.", ("1", "8"), ("64", "256")),
    Case("TXT001", "{} is compute-bound for a single user.", ("Decode", "Token generation"),
         ("Prefill", "Training")),
    Case("SPC003", "Speculative decoding gives a 3x speedup {}.",
         ("regardless of batch size", "at any batch size"), ("at batch 1", "at 70% acceptance")),
    Case("SPC003", "N-gram speculation makes {} 2x faster.",
         ("creative writing", "stories", "poetry"), ("code edits", "summaries")),
    Case("SPC003", "Speculative decoding never makes decode {}.", ("slower", "worse"),
         ("faster",)),
    Case("CLM001", "With {} tokens accepted per pass speculative decoding makes a single stream 4x"
         " faster.", ("2", "3", "3.7"), ("3.9", "4"), {"tokens_per_pass": 2}),
    Case("PRE003", "2:4 sparsity doubles {}.",
         ("decode speed at batch 1", "tokens per second of a single user"),
         ("prefill speed", "throughput of training")),
    # A quarter of the heads is a quarter of attention: three quarters of it are 18.75% less time.
    Case("FLP003", "At 1K context we remove {} heads from the tensors, so a single stream decodes"
         " 25% faster.", ("8 of the 32", "25% of the", "a quarter of the", "26% of the"),
         ("a third of the", "half of the", "27% of the"), {"share_of_heads": 8 / 32}),
    Case("FLP003", "At 1K context we remove a quarter of the heads from the tensors, so a single"
         " stream decodes {} faster.", ("25%", "30%", "24%"), ("22%", "10%")),
    Case("FLP003", "At {} context we remove a quarter of the heads from the tensors, so a single"
         " stream decodes 25% faster.", ("1K", "8K"), ("16K", "long")),
    Case("FLP003", "At 1K context we remove a quarter of the heads from the tensors, so {} 25%"
         " faster.", ("a single stream decodes",), ("prefill gets", "decode at batch 64 gets")),
    # Thresholds in tokens hold to the token.
    Case("KV002", "At {} tokens the KV cache can be neglected; only the weights count for decode"
         " speed.", ("16,000", "128,000"), ("15,999",), {"context_tokens": 16_000}),
    Case("KV002", "8B in FP8 on 3.35 TB/s: 8 GB, so 400 tokens/s per user even with {} tokens in"
         " the cache.", ("32,000",), ("31,999",), {"context_tokens": 32_000}),
    Case("KV002", "The cache takes 128 KB per token. For {} of 32K tokens we have to read 4.2 GB of"
         " cache per step.", ("16 sessions", "2 sessions"), ("1 sessions",)),
    # Nobody says how long: at 128,000 tokens.
    Case("KV002", "At {} context the KV cache can be neglected; only the weights count for decode"
         " speed.", ("long",), ("short",), {"context_tokens": 128_000}),
    # 2250 / 989 = 2.275, bandwidth 2.39; 6% of rounding.
    Case("FLP004", "The B200 does 2250 TFLOPS against 989 of the H100, and 8000 against 3350 GB/s,"
         " so a single chat runs {}x faster.", ("2.27", "2.2"), ("1.5",)),
)  # fmt: skip

READINGS = tuple(
    Case(row["rule"], row["text"], tuple(row["wrong"]), tuple(row["right"]))
    for row in yaml.safe_load((FIXTURES / "readings.yaml").read_text("utf-8"))
)

NUMBERS = {"two": 2, "three": 3, "four": 4, "six": 6, "eight": 8, "sixteen": 16}


@pytest.mark.parametrize(("word", "count"), NUMBERS.items())
def test_devices_are_counted_in_words(word: str, count: int) -> None:
    for text in (
        f"{word.capitalize()} GPUs give {count}x the decode speed.",
        f"Over NVLink {word}-way tensor parallelism makes a single stream {count}x faster.",
    ):
        [one] = found("PAR001", text)
        assert one.numbers["devices_ratio"] == count


@pytest.mark.parametrize(
    ("part", "count"),
    [("half", 2), ("third", 3), ("quarter", 4), ("sixth", 6), ("eighth", 8), ("sixteenth", 16)],
)
def test_devices_are_counted_by_their_parts(part: str, count: int) -> None:
    text = f"Since each card holds one {part} of the weights, the token rate is {count}x."
    [one] = found("PAR001", text)
    assert one.numbers["devices_ratio"] == count


DRAFTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8}


@pytest.mark.parametrize(("word", "count"), DRAFTS.items())
def test_drafts_are_counted_in_words(word: str, count: int) -> None:
    [one] = found("CLM001", f"A draft of {word} tokens per step will speed up decode 12x.")
    assert one.numbers["tokens_per_pass"] == count + 1
    assert found("SPC003", f"Drafting {word} tokens makes generation {count} times faster.")
    assert not found("SPC003", f"Drafting {word} tokens makes generation {count - 0.5}x faster.")
    assert not found("SPC003", f"Drafting {word} tokens makes generation {count + 1.5}x faster.")


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        # Of one stream by its words; by a batch of one; by a modest excess; by nothing.
        ("The 8B in BF16 on an RTX 4090 will reach 120 tokens/s for one user.", Confidence.HIGH),
        ("The 8B in BF16 on an RTX 4090 will reach 120 tokens/s at batch 1.", Confidence.HIGH),
        ("The 8B in BF16 on an RTX 4090 will reach 300 tokens/s.", Confidence.HIGH),
        ("The 8B in BF16 on an RTX 4090 will reach 420 tokens/s.", Confidence.MEDIUM),
        ("The 8B in BF16 on an RTX 4090 may reach 120 tokens/s for one user.", None),
    ],
)
def test_how_sure_it_is_that_a_rate_is_of_one_stream(
    text: str, confidence: Confidence | None
) -> None:
    assert [one.confidence for one in found("CLM006", text)] == ([confidence] if confidence else [])


@pytest.mark.parametrize("case", CASES + READINGS, ids=lambda case: f"{case.rule}-{case.text[:40]}")
def test_both_sides_of_a_limit(case: Case) -> None:
    wrong = [found(case.rule, case.text.replace("{}", gap)) for gap in case.wrong]
    assert [gap for gap, one in zip(case.wrong, wrong, strict=True) if not one] == []
    assert [gap for gap in case.right if found(case.rule, case.text.replace("{}", gap))] == []
    if case.numbers:
        stated = {name: wrong[0][0].numbers[name] for name in case.numbers}
        assert stated == pytest.approx(case.numbers, rel=0.002)
