"""What each lever does to a deployment, by hand calculation on published shapes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from advisor.deployment import Deployment
from advisor.ledger.capacity import capacity_of, kv_bytes_per_token
from advisor.ledger.step import Ledger, count_step
from advisor.levers import LEVERS, Lever, lever_class

LLAMA_8B = Deployment("Llama-3.1-8B", "H100 SXM")
HEAD = 128_256 * 4096
LINEAR = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
ATTENTION = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024)
MLP = 32 * 3 * 4096 * 14336
NORMS = 65 * 4096
ROW = 4096


def lever(kind: str, **fields: Any) -> Lever:
    return lever_class(kind).model_validate({"kind": kind, **fields})


def after(kind: str, deployment: Deployment = LLAMA_8B, **fields: Any) -> Ledger:
    return count_step(lever(kind, **fields).apply(deployment))


def test_int4_weights_leave_the_head_in_16_bits() -> None:
    ledger = after("quantize", weights="int4-g128")
    assert ledger.weight_bytes == LINEAR * 4.125 / 8 + 2 * (HEAD + NORMS + ROW)
    assert ledger.kv_read_bytes == count_step(LLAMA_8B).kv_read_bytes


def test_a_quantized_head_is_counted_where_it_is_said() -> None:
    ledger = after("quantize", weights="int8-g128", lm_head="int8-g128")
    assert ledger.weight_bytes == (LINEAR + HEAD) * 8.125 / 8 + 2 * (NORMS + ROW)


def test_fp8_kv_halves_the_cache() -> None:
    ledger = after("quantize", kv_cache="fp8")
    assert ledger.kv_read_bytes * 2 == count_step(LLAMA_8B).kv_read_bytes
    assert ledger.weight_bytes == count_step(LLAMA_8B).weight_bytes


def test_weights_and_kv_of_one_entry_are_two_levers() -> None:
    parts = lever("quantize", weights="int4", kv_cache="fp8").parts()
    assert [part.machine_kind for part in parts] == ["quantize.weights.int4", "quantize.kv"]


@pytest.mark.parametrize("storage", ["dense", None])
@pytest.mark.parametrize("pattern", ["unstructured", "2:4", "block", "channels", "heads"])
def test_zeros_in_dense_tensors_change_nothing(pattern: str, storage: str | None) -> None:
    ledger = after("prune", pattern=pattern, sparsity="50%", storage=storage)
    assert ledger == count_step(LLAMA_8B)


def test_live_masks_double_what_is_read() -> None:
    # weight_orig and weight_mask of the same shape and type (torch.nn.utils.prune).
    ledger = after("prune", sparsity=0.5, storage="masked")
    assert ledger.weight_bytes == 2 * 2 * LINEAR + 2 * (HEAD + NORMS + ROW)


@pytest.mark.parametrize(
    ("fields", "bits"),
    [
        ({"sparsity": "50%", "storage": "bitmap"}, 9.0),
        ({"sparsity": "50%", "storage": "csr32"}, 24.0),
        ({"pattern": "2:4", "storage": "2:4-packed"}, 9.0),
        ({"pattern": "block", "sparsity": 0.75, "storage": "block"}, 4.0),
    ],
)
def test_packed_zeros_cost_their_storage(fields: dict[str, Any], bits: float) -> None:
    assert after("prune", **fields).weight_bytes == LINEAR * bits / 8 + 2 * (HEAD + NORMS + ROW)


def test_2_4_on_int4_is_three_bits_and_the_scale() -> None:
    int4 = lever("quantize", weights="int4-g128").apply(LLAMA_8B)
    ledger = after("prune", int4, pattern="2:4", storage="2:4-packed")
    assert ledger.weight_bytes == LINEAR * 3.125 / 8 + 2 * (HEAD + NORMS + ROW)


def test_removed_layers_take_weights_cache_and_fixed_time() -> None:
    ledger = after("prune", pattern="layers", sparsity="25%")
    assert ledger.layers == 24
    assert ledger.kv_read_bytes == 0.75 * count_step(LLAMA_8B).kv_read_bytes
    per_layer = (LINEAR + 64 * 4096) * 3 / 4
    assert ledger.weight_bytes == 2 * (per_layer + HEAD + 4096 + ROW)


def test_removed_channels_narrow_the_mlp() -> None:
    ledger = after("prune", pattern="channels", sparsity="25%", storage="removed")
    assert ledger.weight_bytes == 2 * (ATTENTION + MLP * 0.75 + HEAD + NORMS + ROW)


def test_removed_query_heads_leave_the_cache_of_a_gqa_model() -> None:
    ledger = after("prune", pattern="heads", sparsity="25%", storage="removed")
    gone = 32 * 2 * 4096 * 1024  # 8 of 32 heads of 128 in q and o
    assert ledger.weight_bytes == 2 * (LINEAR - gone + HEAD + NORMS + ROW)
    assert ledger.kv_read_bytes == count_step(LLAMA_8B).kv_read_bytes
    both = after("prune", pattern="heads", sparsity="25%", storage="removed", kv_heads=6)
    assert both.kv_read_bytes == 0.75 * count_step(LLAMA_8B).kv_read_bytes


def test_evicted_tokens_are_neither_stored_nor_read() -> None:
    half = lever("prune", pattern="kv_tokens", sparsity="50%").apply(LLAMA_8B)
    assert count_step(half).kv_read_bytes == 0.5 * count_step(LLAMA_8B).kv_read_bytes
    stored = capacity_of(LLAMA_8B).per_sequence_bytes
    assert capacity_of(half).per_sequence_bytes == 0.5 * stored


def test_pruned_experts_free_memory_but_are_read_as_before() -> None:
    moe = Deployment("Qwen3-30B-A3B", "H100 SXM")
    pruned = lever("prune", pattern="experts", sparsity="50%").apply(moe)
    before, ledger = count_step(moe), count_step(pruned)
    router = 48 * 64 * 2048 * 2
    assert before.weight_bytes - ledger.weight_bytes == pytest.approx(router, rel=0.01)
    assert capacity_of(pruned).weights_bytes < 0.55 * capacity_of(moe).weights_bytes


def test_activation_sparsity_reads_the_union_over_the_batch() -> None:
    for batch, kept in ((1, 0.5), (2, 0.75), (4, 0.9375)):
        work = LLAMA_8B.evolve(batch=batch)
        sparse = after("activation_sparsity", work, sparsity="50%")
        rest = 2 * (HEAD + batch * ROW)
        full = count_step(work).weight_bytes - rest
        assert sparse.weight_bytes - rest == pytest.approx(kept * full)


def test_low_rank_breaks_even_at_half_the_width_of_a_square() -> None:
    square = count_step(LLAMA_8B)
    assert after("low_rank", rank=1024).weight_bytes < square.weight_bytes
    # r (in + out) against in * out: q and o of 4096x4096 break even at 2048, k and v at 819.
    assert after("low_rank", rank=4096).weight_bytes > square.weight_bytes
    assert after("low_rank", rank=1024, storage="multiplied") == square
    attention = 32 * (2 * 1024 * 8192 + 2 * 1024 * 5120)
    mlp = 32 * 3 * 1024 * (4096 + 14336)
    expected = 2 * (attention + mlp + HEAD + NORMS + ROW)
    assert after("low_rank", rank=1024).weight_bytes == expected


def test_early_exit_runs_to_the_deepest_of_the_batch() -> None:
    assert after("early_exit", mean_depth="50%").layers == 16
    assert after("early_exit", mean_depth=24).layers == 24
    assert after("early_exit", LLAMA_8B.evolve(batch=16), mean_depth="50%").layers > 28


def test_attention_variants_change_the_cache() -> None:
    per_token = kv_bytes_per_token(LLAMA_8B)
    assert per_token == 131_072
    mqa = lever("attention", variant="mqa").apply(LLAMA_8B)
    assert kv_bytes_per_token(mqa) == per_token / 8
    mla = lever("attention", variant="mla").apply(LLAMA_8B)
    assert kv_bytes_per_token(mla) == 32 * 576 * 2
    window = lever("attention", variant="window", window="1k").apply(LLAMA_8B)
    assert count_step(window).kv_read_bytes == 1024 * per_token


def test_distilling_swaps_the_model() -> None:
    big = Deployment("Llama-3.1-70B", "H100 SXM", tensor_parallel=2)
    small = lever("distill", model="Llama-3.1-8B").apply(big)
    assert small.model.total_parameters == 8_030_261_248
    assert small.parallelism == big.parallelism


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({"acceptance": 0.8, "draft_tokens": 4}, 3.3616),  # (1 - 0.8^5) / 0.2
        ({"acceptance": 0.6, "draft_tokens": 3}, 2.176),
        ({"acceptance": 1.0, "draft_tokens": 3}, 4.0),
        ({"tokens_per_pass": 2.3}, 2.3),
    ],
)
def test_tokens_per_pass(fields: dict[str, Any], tokens: float) -> None:
    speculation = lever("speculate", method="EAGLE-3", **fields).apply(LLAMA_8B).speculation
    assert speculation is not None
    assert speculation.tokens_per_pass == pytest.approx(tokens)


def test_hardware_keeps_the_split_unless_a_count_says_otherwise() -> None:
    pair = Deployment("Llama-3.1-70B", "2 x H100 SXM")
    assert lever("hardware", hardware="H200").apply(pair).parallelism.tensor == 2
    four = lever("hardware", hardware="4 x H200").apply(pair)
    assert four.parallelism.tensor == 4
    assert four.hardware.bandwidth_gbs == 4800


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("quantize", {}),
        ("quantize", {"weights": "int5.5"}),
        ("quantize", {"weights": "int4", "bits": 4}),
        ("prune", {"sparsity": "130%"}),
        ("prune", {"pattern": "sideways"}),
        ("prune", {"storage": "a box"}),
        ("attention", {"variant": "gqa"}),
        ("batch", {"batch": 0}),
        ("batch", {"batch": "many"}),
        ("offload", {}),
        ("speculate", {"acceptance": 1.5}),
        ("tensor_parallel", {"size": -2}),
        ("low_rank", {"rank": 2.5}),
    ],
)
def test_what_cannot_be_is_refused(kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        lever(kind, **fields)


EXAMPLES: dict[str, dict[str, Any]] = {
    "quantize": {"weights": "int4"},
    "prune": {"sparsity": "30%"},
    "activation_sparsity": {"sparsity": 0.4},
    "low_rank": {"rank": 512},
    "early_exit": {"mean_depth": 0.8},
    "distill": {"model": "Llama-3.2-1B"},
    "attention": {"variant": "mqa"},
    "merge_layers": {"layers_added": 8},
    "no_kv_cache": {},
    "speculate": {"tokens_per_pass": 2},
    "batch": {"batch": 8},
    "tensor_parallel": {"size": 2},
    "pipeline_parallel": {"size": 2},
    "data_parallel": {"size": 2},
    "expert_parallel": {"size": 2},
    "hardware": {"hardware": "H200"},
    "offload": {"weights": "4 GB"},
    "matmul_kernel": {"speedup": "1.5x"},
    "attention_kernel": {"name": "FlashAttention-3"},
    "cuda_graphs": {},
    "compile": {},
    "fuse": {},
    "prefix_cache": {},
    "chunked_prefill": {},
    "disaggregate": {},
    "compress": {},
    "share_weights": {"times": 2},
    "cache_residency": {},
    "lora": {},
    "experts_per_token": {"top_k": 1},
    "sparse_attention": {"tokens": 1024},
    "shared_prefix": {"tokens": 1024},
    "paged_cache": {},
    "static_cache": {},
    "parallel_sampling": {"samples": 4},
    "block_decoding": {"block": 8, "tokens_per_pass": 3},
    "continuous_batching": {},
    "context_parallel": {"size": 2},
    "host_work": {},
    "clocks": {"core": "+10%"},
    "numa": {},
    "elementwise": {},
    "token_pruning": {},
    "shorter_output": {},
    "loading": {},
    "training_only": {},
}


@pytest.mark.parametrize("kind", LEVERS)
def test_every_kind_validates_applies_and_tells_its_machine_kind(kind: str) -> None:
    idea = lever(kind, **EXAMPLES[kind])
    count_step(idea.apply(LLAMA_8B))
    assert idea.machine_kind in LEVERS[kind].machine_kinds
    assert idea.label


@pytest.mark.parametrize(
    ("kind", "fields", "open_on"),
    [
        ("batch", {"batch": "unknown"}, "batch"),
        ("tensor_parallel", {"size": "unknown"}, "degree"),
        ("prune", {"pattern": "layers"}, "how much"),
        ("low_rank", {"rank": "unknown"}, "rank"),
        ("distill", {"model": "unknown"}, "student"),
        ("quantize", {"weights": "auto"}, "width"),
        ("quantize", {"weights": "int4", "packed": False}, "packing"),
        ("quantize", {"weights": "llm.int8"}, "outlier"),
        ("quantize", {"kv_cache": "int4", "in_kernel": False}, "kernel"),
        ("activation_sparsity", {"sparsity": "unknown"}, "zero"),
    ],
)
def test_what_is_open_is_said_and_changes_no_bytes(
    kind: str, fields: dict[str, Any], open_on: str
) -> None:
    idea = lever(kind, **fields)
    assert open_on in (idea.condition(LLAMA_8B) or "")
    if "llm.int8" not in fields.values():
        assert count_step(idea.apply(LLAMA_8B)) == count_step(LLAMA_8B)


def test_merged_layers_cost_bytes() -> None:
    # 16 more of 32 layers: half as many layer weights again.
    ledger = after("merge_layers", layers_added=16)
    assert ledger.weight_bytes == 2 * (1.5 * (LINEAR + 64 * 4096) + HEAD + 4096 + ROW)


def test_without_a_cache_every_token_computes_the_prefix() -> None:
    ledger = after("no_kv_cache")
    assert ledger.flops > 3000 * count_step(LLAMA_8B).flops


INDEPENDENT = [
    ("quantize", {"weights": "int4"}),
    ("quantize", {"kv_cache": "fp8"}),
    ("prune", {"pattern": "layers", "sparsity": 0.25}),
    ("prune", {"pattern": "kv_tokens", "sparsity": 0.5}),
    ("batch", {"batch": 16}),
    ("tensor_parallel", {"size": 4}),
    ("prune", {"pattern": "2:4", "storage": "2:4-packed"}),
    ("speculate", {"tokens_per_pass": 2.0, "draft_tokens": 3}),
]


@settings(max_examples=60, deadline=None)
@given(order=st.permutations(INDEPENDENT))
def test_levers_on_different_parts_compose_in_any_order(
    order: list[tuple[str, dict[str, Any]]],
) -> None:
    deployments = []
    for chosen in (INDEPENDENT, order):
        deployment = LLAMA_8B
        for kind, fields in chosen:
            deployment = lever(kind, **fields).apply(deployment)
        deployments.append(count_step(deployment))
    one, other = deployments
    assert other.weight_bytes == pytest.approx(one.weight_bytes, rel=1e-12)
    assert other.kv_read_bytes == pytest.approx(one.kv_read_bytes, rel=1e-12)
    assert other.flops == pytest.approx(one.flops, rel=1e-12)


# The rest of the catalogue: what each changes, by hand.

WEIGHTS_8B = 2 * (LINEAR + HEAD + NORMS + ROW)
MOE = Deployment("Qwen3-30B-A3B", "H100 SXM")


def test_lossless_compression_saves_bytes_in_the_kernel_only() -> None:
    packed = after("compress", ratio="70%", in_kernel=True)
    assert packed.weight_bytes == pytest.approx(0.7 * WEIGHTS_8B)
    # Read packed, written wide, read wide: 0.7 + 1 + 1 of the bytes.
    expanded = after("compress", ratio="70%")
    through = expanded.weight_bytes - packed.weight_bytes
    assert through == pytest.approx(2 * 2 * LINEAR, rel=1e-3)
    kept = capacity_of(lever("compress", ratio="70%").apply(LLAMA_8B)).weights_bytes
    assert kept == pytest.approx(0.7 * capacity_of(LLAMA_8B).weights_bytes)


def test_shared_layers_are_stored_once_and_streamed_at_every_use() -> None:
    shared = lever("share_weights", times=2).apply(LLAMA_8B)
    assert count_step(shared).weight_bytes == count_step(LLAMA_8B).weight_bytes
    saved = capacity_of(LLAMA_8B).weights_bytes - capacity_of(shared).weights_bytes
    assert saved == LINEAR + 32 * 2 * 4096  # half of the layers, 2 bytes each


def test_weights_stay_in_a_cache_that_holds_them_twice() -> None:
    idea = lever("cache_residency")
    assert idea.apply(LLAMA_8B) is LLAMA_8B  # 15 GB against 50 MB
    assert count_step(idea.apply(LLAMA_8B)) == count_step(LLAMA_8B)


def test_unmerged_adapters_are_read_beside_the_weights() -> None:
    ledger = after("lora", rank=16, adapters=2)
    sides = 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336)
    assert ledger.weight_bytes - WEIGHTS_8B == 2 * 2 * 16 * 32 * sides
    assert after("lora", merged=True) == count_step(LLAMA_8B)


def test_fewer_experts_per_token_are_fewer_bytes_at_batch_1() -> None:
    expert = 48 * 3 * 2048 * 768 * 2
    saved = count_step(MOE).weight_bytes - after("experts_per_token", MOE, top_k=4).weight_bytes
    assert saved == pytest.approx(4 * expert)
    assert lever("experts_per_token", top_k=8).condition(MOE)
    assert lever("experts_per_token", top_k=4).condition(LLAMA_8B)


def test_sparse_attention_reads_part_and_keeps_all() -> None:
    idea = lever("sparse_attention", tokens=1024, index="5%").apply(LLAMA_8B)
    before, ledger = count_step(LLAMA_8B), count_step(idea)
    assert ledger.kv_read_bytes == pytest.approx(0.3 * before.kv_read_bytes)
    assert capacity_of(idea).per_sequence_bytes == capacity_of(LLAMA_8B).per_sequence_bytes


def test_a_static_cache_read_whole_counts_with_its_length() -> None:
    ledger = after("static_cache", length=16384, read_whole=True)
    assert ledger.kv_read_bytes == 16384 * 131_072
    assert after("static_cache", length=16384) == count_step(LLAMA_8B)


def test_a_shared_prefix_is_read_once() -> None:
    crowd = LLAMA_8B.evolve(batch=16)
    ledger = after("shared_prefix", crowd, tokens=3072)
    assert ledger.kv_read_bytes == (3072 + 16 * 1024) * 131_072
    assert lever("shared_prefix", tokens=3072).condition(LLAMA_8B)


def test_context_parallel_spreads_the_cache_and_repeats_the_weights() -> None:
    ledger = after("context_parallel", size=4)
    assert ledger.kv_read_bytes == 1024 * 131_072
    assert ledger.weight_bytes == WEIGHTS_8B
    assert (ledger.ranks, ledger.communication.all_reduces) == (4, 32)


def test_layers_that_share_a_cache_all_read_it() -> None:
    idea = lever("attention", variant="cross_layer", layers=2).apply(LLAMA_8B)
    assert count_step(idea).kv_read_bytes == count_step(LLAMA_8B).kv_read_bytes
    assert kv_bytes_per_token(idea) == 131_072 / 2
    assert count_step(idea).weight_bytes == WEIGHTS_8B - 2 * 16 * 2 * 4096 * 1024


def test_a_low_rank_cache_is_smaller_and_approximate_scores_are_not() -> None:
    ledger = after("attention", variant="low_rank", kept="50%")
    assert ledger.kv_read_bytes == 2048 * 131_072
    assert after("attention", variant="approximate") == count_step(LLAMA_8B)


def test_a_smaller_vocabulary_is_a_smaller_head() -> None:
    ledger = after("prune", pattern="vocabulary", sparsity="50%")
    assert ledger.weight_bytes == 2 * (LINEAR + HEAD / 2 + NORMS + ROW)


def test_an_exact_width_of_the_mlp() -> None:
    ledger = after("prune", pattern="channels", sparsity="25%", width=10752, storage="removed")
    assert ledger.weight_bytes == 2 * (ATTENTION + MLP * 10752 / 14336 + HEAD + NORMS + ROW)


def test_clocks_scale_peaks_and_bandwidth() -> None:
    faster = lever("clocks", core="+10%").apply(LLAMA_8B).hardware
    assert faster.bandwidth_gbs == LLAMA_8B.hardware.bandwidth_gbs
    assert faster.peak_flops("bf16") == pytest.approx(1.1 * 989.4e12)
    memory = lever("clocks", memory="+10%").apply(LLAMA_8B).hardware
    assert memory.bandwidth_gbs == pytest.approx(1.1 * 3350)
    with pytest.raises(ValidationError, match="which clock"):
        lever("clocks")


def test_blocks_of_tokens_leave_a_pass() -> None:
    ledger = after("block_decoding", block=8, tokens_per_pass=3)
    assert ledger.tokens == 8
    assert lever("block_decoding", block=8).condition(LLAMA_8B)


@pytest.mark.parametrize(
    "kind",
    ["paged_cache", "loading", "training_only", "token_pruning", "shorter_output", "numa",
     "host_work", "continuous_batching", "elementwise"],
)  # fmt: skip
def test_ideas_beside_the_step_leave_it_as_it_is(kind: str) -> None:
    assert after(kind) == count_step(LLAMA_8B)
    assert lever(kind).nominal_flops(LLAMA_8B) < 1e-3


def test_every_alias_of_a_lever_is_written_once() -> None:
    names = [name for entry in LEVERS.values() for name in entry.aliases]
    assert len(names) == len(set(names)) > 150
