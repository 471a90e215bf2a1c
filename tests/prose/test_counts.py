"""Numbers in words, sizes of memory and of caches: each entry of the tables that rules read by."""

from __future__ import annotations

import pytest

from tests.prose.test_limits import found

USERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10, "twelve": 12,
    "sixteen": 16, "twenty": 20, "thirty": 30, "thirty-two": 32, "fifty": 50, "sixty-four": 64,
}  # fmt: skip
DRAFTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "sixteen": 16, "thirty-two": 32, "sixty-four": 64,
}  # fmt: skip
SESSIONS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10, "twelve": 12,
    "sixteen": 16, "twenty": 20, "thirty-two": 32, "sixty-four": 64,
}  # fmt: skip
MEMORY = (
    4, 6, 8, 10, 11, 12, 16, 20, 22, 24, 32, 36, 40, 48, 64, 72, 80, 94, 96, 120, 128, 141, 180,
    188, 192, 256, 288, 384, 512, 768,
)  # fmt: skip


@pytest.mark.parametrize(("word", "count"), USERS.items())
def test_users_of_a_step(word: str, count: int) -> None:
    text = f"vLLM makes 3,200 tokens/s in total. With {word} users each user sees 3,000 tokens/s."
    [one] = found("BAT002", text)
    assert one.numbers["users"] == count


@pytest.mark.parametrize(("word", "count"), DRAFTS.items())
def test_drafts_of_a_pass(word: str, count: int) -> None:
    [one] = found("SPC003", f"Drafting {word} tokens makes generation {count} times faster.")
    # 1 + 0.6 + 0.6^2 + ... of them are kept at 60% acceptance.
    kept = sum(0.6**place for place in range(count + 1))
    assert one.numbers["drafted"] == count
    assert one.numbers["tokens_per_pass"] == pytest.approx(kept)


@pytest.mark.parametrize(("word", "count"), SESSIONS.items())
def test_caches_of_a_step(word: str, count: int) -> None:
    text = (
        f"The cache takes 128 KB per token. For {word} sessions of 32K tokens we have to read"
        " 4.2 GB of cache per step."
    )
    [one] = found("KV002", text)
    assert one.numbers["right_bytes"] == count * 128e3 * 32 * 1024


@pytest.mark.parametrize("size", MEMORY)
def test_sizes_that_memory_comes_in(size: int) -> None:
    text = (
        "The card has 1024 GB, the other {} GB, so the tokens of the 7B come faster on the first."
    )
    assert found("CAP001", text.format(size))
    odd = size + 1 if size + 1 not in MEMORY else size - 1
    assert odd in MEMORY or not found("CAP001", text.format(odd))


@pytest.mark.parametrize(
    ("model", "per_token", "parameters"),
    [
        ("8B", 32 * 8 * 128 * 2 * 2, 8e9),
        ("70B", 80 * 8 * 128 * 2 * 2, 70e9),
        ("7B with MHA", 32 * 32 * 128 * 2 * 2, 7e9),
        ("13B with MHA", 40 * 40 * 128 * 2 * 2, 13e9),
    ],
)
def test_caches_of_usual_models(model: str, per_token: int, parameters: float) -> None:
    [one] = found("KV002", f"At 128K tokens the KV cache of the {model} can be neglected.")
    assert one.numbers["cache_bytes"] == pytest.approx(128_000 * per_token)
    assert one.numbers["weight_bytes"] == pytest.approx(2 * parameters)
    narrow = f"At 256K tokens the FP8 KV cache of the {model} can be neglected."
    [half] = found("KV002", narrow)
    assert half.numbers["cache_bytes"] == pytest.approx(256_000 * per_token / 2)


def test_a_cache_of_which_little_is_read_beside_the_weights() -> None:
    # 16K tokens of a 70B are 5.2 GB beside 140: 4% of them.
    assert found("KV002", "At 16K tokens the KV cache of the 70B can be neglected.") == []
    # 65,000 tokens are 15.2%, 64,000 are 15.0%.
    assert found("KV002", "At 65K tokens the KV cache of the 70B can be neglected.")
    assert found("KV002", "At 63K tokens the KV cache of the 70B can be neglected.") == []


@pytest.mark.parametrize(
    ("text", "cache_bytes", "weight_bytes"),
    [
        ("With 0.5 MB per token, at 64K tokens {} of the 8B {}.", 65_536 * 0.5e6, 16e9),
        ("With 500 KB per token, at 64K tokens {} of the 8B {}.", 65_536 * 500e3, 16e9),
        # What is told per token is told for the format of the cache.
        ("With 500 KB per token in FP8 KV, at 64K tokens {} of the 8B {}.", 65_536 * 500e3, 16e9),
        ("At 16 sessions of 4K tokens {} of the 8B {}.", 16 * 4000 * 131_072, 16e9),
        ("At batch 16 and 8K tokens {} of the 8B {}.", 16 * 8000 * 131_072, 16e9),
        ("At batch 16 and 4K tokens {} of the 8B in FP8 {}.", 16 * 4000 * 131_072, 8e9),
        ("At 64K tokens {} of Llama-3.1-8B {}.", 64_000 * 131_072, 16e9),
        ("At 1K tokens the cache is small, but at 128K tokens {} of the 8B {}.",
         128_000 * 131_072, 16e9),
        ("At 128K tokens it outweighs the weights; at 1K tokens {} of the 8B {}.", None, None),
        ("At batch 4 and 4K tokens {} of the 8B {}.", None, None),  # 2.1 GB, 13% of 16
        ("At batch 5 and 4K tokens {} of the 8B {}.", 5 * 4000 * 131_072, 16e9),  # 16%
    ],
)  # fmt: skip
def test_caches_by_what_a_text_gives(
    text: str, cache_bytes: float | None, weight_bytes: float | None
) -> None:
    stated = found("KV002", text.format("the KV cache", "can be neglected"))
    assert [one.numbers["cache_bytes"] for one in stated] == (
        [] if cache_bytes is None else pytest.approx([cache_bytes])
    )
    assert [one.numbers["weight_bytes"] for one in stated] == (
        [] if weight_bytes is None else pytest.approx([weight_bytes])
    )


PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "tenth": 10, "sixteenth": 16,
}  # fmt: skip


@pytest.mark.parametrize(("part", "times"), PARTS.items())
def test_parts_of_the_bytes(part: str, times: int) -> None:
    text = f"Quantizing the weights leaves about a {part} of the bytes, so a single stream decodes "
    [one] = found("CLM002", f"{text}{1.2 * times:.1f}x faster.")
    assert one.numbers["byte_ratio"] == times
    assert found("CLM002", f"{text}{1.05 * times:.2f}x faster.") == []


def test_a_length_that_nobody_states() -> None:
    [one] = found("KV002", "At long context the KV cache of the 7B can be neglected.")
    assert one.numbers["context_tokens"] == 128_000
    assert one.numbers["kv_bytes_of_an_8b"] == 128_000 * 32 * 8 * 128 * 2 * 2


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("CAP001", "More VRAM, 24 GB instead of 0 GB, doubles the tokens per second of one user."),
        (
            "CAP001",
            "A 0 GB card and a 24 GB card: more VRAM makes one user's tokens come 2x faster.",
        ),
        ("PAR001", "With tensor parallelism TP2 takes 20 ms, TP4 takes 0 ms per token."),
        ("PAR001", "| GPUs | ms per token |\n|---|---|\n| 0 | 0 |\n| 8 | 5 |\n"),
        ("CLM002", "INT4 is 0 GB instead of 14 GB, so a single stream decodes 9x faster."),
        ("CLM006", "The weights are 0 GB and the card has 0 GB/s: 60 tokens/s for one user."),
        ("TXT002", "A 0 Gb/s link moves 0 GB in 0 ms, and 0 ms per token, i.e. 0 tokens/s."),
        ("KV002", "The cache takes 0 KB per token, for 0 sessions of 0K tokens we read 0 GB."),
        ("BAT002", "The server makes 0 tokens/s in total, with 0 users each user sees 0 tokens/s."),
        ("MOE003", "The 0B-A0B in FP8 reads 0 GB for each token, 0 ms at 0 GB/s."),
    ],
)
def test_figures_of_zero_divide_nothing(rule: str, text: str) -> None:
    assert len(found(rule, text)) <= 1


def test_a_chain_of_degrees_is_told_by_its_last_step() -> None:
    text = "With tensor parallelism a single stream takes TP2 20 ms, TP4 10 ms, TP8 5 ms."
    [one] = found("PAR001", text)
    assert (one.numbers["devices_ratio"], one.numbers["speedup"]) == (2, 2)


@pytest.mark.parametrize(
    ("heads", "share"), [("8 of the 32", 8 / 32), ("25% of the", 0.25), ("a quarter of the", 1 / 4)]
)
def test_shares_of_heads(heads: str, share: float) -> None:
    text = (
        f"At 1K context we remove {heads} heads from the tensors, so one user decodes 25% faster."
    )
    [one] = found("FLP003", text)
    assert one.numbers["share_of_heads"] == share
