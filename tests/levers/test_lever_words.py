"""What levers call themselves, what is open where a number is missing, and what changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from advisor.deployment import Deployment
from advisor.ledger.step import count_step
from advisor.levers import Lever, lever_class

LLAMA_8B = Deployment("Llama-3.1-8B", "H100 SXM")
QWEN_MOE = Deployment("Qwen3-30B-A3B", "H100 SXM")


def lever(kind: str, **fields: Any) -> Lever:
    return lever_class(kind).model_validate({"kind": kind, **fields})


@pytest.mark.parametrize(
    ("kind", "fields", "label"),
    [
        ("early_exit", {"mean_depth": "unknown"}, "early exit"),
        ("early_exit", {"mean_depth": "70%"}, "early exit after 70% of the layers"),
        ("early_exit", {"mean_depth": 20}, "early exit after 20 layers"),
        ("attention", {"variant": "gqa", "kv_heads": 4}, "GQA with 4 KV heads"),
        ("attention", {"variant": "window", "window": 4096}, "window of 4,096 tokens"),
        ("attention", {"variant": "cross_layer", "layers": 2}, "KV cache shared by 2 layers"),
        ("attention", {"variant": "low_rank", "kept": "50%"}, "low-rank KV cache, 50% kept"),
        ("lora", {"rank": 16, "merged": True}, "LoRA merged into the weights"),
        ("sparse_attention", {"tokens": "unknown"}, "sparse attention"),
        ("sparse_attention", {"tokens": 2048}, "sparse attention over 2,048 tokens"),
        ("prune", {"pattern": "layers", "dropped": 4}, "prune 4 of layers"),
        ("prune", {"pattern": "layers", "kept": 16}, "prune all but 16 of layers"),
    ],
)
def test_labels(kind: str, fields: dict[str, Any], label: str) -> None:
    assert lever(kind, **fields).label.startswith(label)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"variant": "gqa"}, "kv_heads"),
        ({"variant": "window"}, "window: 4096"),
        ({"variant": "cross_layer"}, "layers: 2"),
        ({"variant": "low_rank"}, "kept: 50%"),
    ],
)
def test_variants_of_attention_need_their_size(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        lever("attention", **fields)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("early_exit", {"mean_depth": "unknown"}),
        ("share_weights", {"times": "unknown"}),
        ("sparse_attention", {"tokens": "unknown"}),
        ("shared_prefix", {"tokens": "unknown"}),
    ],
)
def test_a_number_that_nobody_states_is_asked_for_and_moves_nothing(
    kind: str, fields: dict[str, Any]
) -> None:
    one = lever(kind, **fields)
    assert one.condition(LLAMA_8B)
    assert count_step(one.apply(LLAMA_8B)) == count_step(LLAMA_8B)


def test_a_low_rank_cache_needs_a_kernel_that_absorbs_its_projection() -> None:
    one = lever("attention", variant="low_rank", kept="50%")
    before, after = count_step(LLAMA_8B), count_step(one.apply(LLAMA_8B))
    assert after.kv_read_bytes == before.kv_read_bytes / 2
    assert "absorbs" in str(one.condition(LLAMA_8B))


def test_approximate_attention_saves_its_part_of_the_arithmetic_over_the_cache() -> None:
    long = LLAMA_8B.evolve(context=131_072)
    one = lever("attention", variant="approximate", kept="25%")
    # Scores and values: 4 FLOP for each of 32 x 128 query channels, 32 layers, each cached token.
    over_cache = 4 * 32 * 128 * 32 * 131_072
    linears = 2 * (32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 128_256 * 4096)
    expected = 0.75 * over_cache / (over_cache + linears)
    assert one.nominal_flops(long) == pytest.approx(expected, rel=1e-6)


def test_merging_adapters_into_quantized_weights_needs_another_pack() -> None:
    merged = lever("lora", rank=16, merged=True)
    assert "unmerged" in str(merged.condition(LLAMA_8B))
    assert "again" not in str(merged.condition(LLAMA_8B))
    quantized = Deployment("Llama-3.1-8B", "H100 SXM", weights="int4-g128")
    assert "quantizing again" in str(merged.condition(quantized))


def test_experts_go_where_there_are_any() -> None:
    half = lever("prune", pattern="experts", sparsity="50%", storage="removed")
    assert count_step(half.apply(LLAMA_8B)) == count_step(LLAMA_8B)
    # 128 experts in 48 layers; 8 of 128 and 8 of 64 are the same weights for one token.
    before, after = count_step(QWEN_MOE), count_step(half.apply(QWEN_MOE))
    router = 48 * 128 * 2048 * 2
    assert before.weight_bytes - after.weight_bytes == pytest.approx(router / 2)
    counted = lever("prune", pattern="experts", dropped=64, storage="removed")
    assert count_step(counted.apply(QWEN_MOE)).weight_bytes == pytest.approx(after.weight_bytes)


def test_keeping_more_than_there_is_takes_nothing_out() -> None:
    kept = lever("prune", pattern="kv_tokens", kept=100_000)
    assert "more than the 100,000" in str(kept.condition(LLAMA_8B))


def test_latent_attention_has_no_heads_to_share_caches() -> None:
    deepseek = Deployment("DeepSeek-V3", "H200")
    one = lever("attention", variant="gqa", kv_heads=4)
    assert count_step(one.apply(deepseek)).kv_read_bytes == count_step(deepseek).kv_read_bytes
    assert one.condition(deepseek)
