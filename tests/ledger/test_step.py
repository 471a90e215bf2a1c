"""The step ledger against published counts, counted FLOPs and hand calculations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.catalog.models import load_model
from advisor.deployment import Deployment, Offload, Speculation, parse_sparsity
from advisor.ledger.capacity import capacity_of, kv_bytes_per_token, kv_stored_bytes
from advisor.ledger.shapes import Component
from advisor.ledger.step import count_step, distinct_experts

VECTORS = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "ledger" / "vectors.json").read_text()
)
MODELS: dict[str, dict[str, Any]] = VECTORS["models"]


@pytest.mark.parametrize("name", MODELS)
def test_streamed_and_cached_bytes_equal_the_vectors(name: str) -> None:
    vector = MODELS[name]
    model = load_model(name)
    text_parameters = model.total_parameters - model.parameters()[Component.VISION]
    assert text_parameters == vector["total_params"]
    for batch, streamed in vector["decode_weight_bytes_bf16"].items():
        ledger = count_step(Deployment(model, weights="bf16", batch=int(batch)))
        assert ledger.weight_bytes == pytest.approx(streamed, abs=1)
    for context, cached in vector["kv_bytes_at"].items():
        deployment = Deployment(model, weights="bf16", context=int(context))
        assert kv_stored_bytes(deployment) == cached
        assert count_step(deployment).kv_read_bytes == cached
        assert kv_bytes_per_token(deployment) == vector["kv_write_bytes_per_token_bf16"]


@pytest.mark.parametrize("name", VECTORS["flops_at_9_tokens"])
def test_flops_equal_torchs_counter(name: str) -> None:
    # 2 per matmul weight and token, 4*heads*head_dim per visible token and layer, T = 9.
    deployment = Deployment(name, context=9)
    assert count_step(deployment).flops == VECTORS["flops_at_9_tokens"][name]


@pytest.mark.parametrize("case", VECTORS["distinct_experts"])
def test_distinct_experts(case: str) -> None:
    experts, top_k, tokens = (int(part.split("=")[1]) for part in case.split(","))
    expected = VECTORS["distinct_experts"][case]
    assert distinct_experts(experts, top_k, tokens) == pytest.approx(expected, abs=5e-5)


def test_an_8b_streams_fifteen_gigabytes() -> None:
    ledger = count_step(Deployment("Llama-3.1-8B", "H100 SXM"))
    assert ledger.weight_bytes == 15_009_857_536
    assert kv_bytes_per_token(Deployment("Llama-3.1-8B")) == 131_072


# Hand counts: bytes read per token at batch 1, no input embedding, lm_head counted; "int4" is a
# 16-bit scale and zero per 32 weights, head included; "fp8" one byte a weight of the linears.
HAND_COUNTS = [
    ("Llama-2-7b-hf", {"weights": "bf16"}, 256, 13.215, 0.134),
    ("Llama-2-7b-hf", {"weights": "int8", "lm_head": "int8"}, 256, 6.608, 0.134),
    ("Llama-2-7b-hf", {"weights": "int4-g32", "lm_head": "int4-g32"}, 256, 4.130, 0.134),
    ("Llama-3.1-70B", {"weights": "bf16"}, 4096, 139.006, 1.342),
    ("Llama-3.1-70B", {"weights": "fp8"}, 4096, 70.555, 1.342),
    ("Mixtral-8x7B-v0.1", {"weights": "bf16"}, 4096, 25.498, 0.537),
    ("Mixtral-8x7B-v0.1", {"weights": "int8", "lm_head": "int8"}, 256, 12.749, 0.034),
    ("Qwen3-30B-A3B", {"weights": "bf16"}, 4096, 6.084, 0.403),
    ("DeepSeek-V3", {"weights": "fp8"}, 4096, 37.659, 0.288),
    ("gpt-oss-20b", {}, 4096, 3.706, 0.104),
]


@pytest.mark.parametrize(("model", "formats", "context", "weights_gb", "kv_gb"), HAND_COUNTS)
def test_bytes_per_token_equal_the_hand_count(
    model: str, formats: dict[str, str], context: int, weights_gb: float, kv_gb: float
) -> None:
    ledger = count_step(Deployment(model, context=context, **formats))  # type: ignore[arg-type]
    assert ledger.weight_bytes / 1e9 == pytest.approx(weights_gb, rel=1e-3)
    assert ledger.kv_read_bytes / 1e9 == pytest.approx(kv_gb, abs=6e-4)


def test_tensor_parallel_divides_weights_but_kv_only_by_its_heads() -> None:
    one = Deployment("Llama-3.1-70B", "H100 SXM")
    alone = count_step(one)
    for ways in (2, 8, 16):
        split = count_step(one.evolve(parallelism=_tensor(ways)))
        assert split.kv_read_bytes == alone.kv_read_bytes / min(ways, 8)
        assert split.ranks == ways
    eight = count_step(one.evolve(parallelism=_tensor(8)))
    # Norms are replicated, everything else is a eighth: 1,318,912 norm parameters of 2 bytes.
    norms = 2 * 1_318_912
    rows = 2 * 8192
    expected = (alone.weight_bytes - norms - rows) / 8 + norms + rows / 8
    assert eight.weight_bytes == pytest.approx(expected, rel=1e-6)


def test_tensor_parallel_replicates_the_latent_of_mla() -> None:
    one = Deployment("DeepSeek-V3", context=4096)
    eight = one.evolve(parallelism=_tensor(8))
    assert count_step(one).kv_read_bytes == 61 * 576 * 2 * 4096
    assert count_step(eight).kv_read_bytes == count_step(one).kv_read_bytes
    # Heads are split, so the intensity on the latent falls from 242 to 30 FLOP per byte.
    attention = _operator(count_step(eight), "attention over KV")
    assert attention.flops / attention.read_bytes == pytest.approx(242 / 8, rel=0.01)


def test_expert_bytes_grow_with_the_batch() -> None:
    # Qwen3-30B-A3B at batch 8 reads 4.2 times the bytes of batch 1.
    one = count_step(Deployment("Qwen3-30B-A3B"))
    eight = count_step(Deployment("Qwen3-30B-A3B", batch=8))
    assert eight.weight_bytes / one.weight_bytes == pytest.approx(4.248, abs=0.001)


def test_offload_moves_bytes_to_the_link() -> None:
    base = Deployment("Llama-3.1-8B")
    moved = count_step(base.evolve(offload=Offload(weights_bytes=8_030_261_248)))
    # Half of the 16.06 GB checkpoint is away: half of what streams comes over the link.
    assert moved.host_bytes == pytest.approx(15_009_857_536 / 2, rel=1e-3)
    assert moved.weight_bytes == pytest.approx(15_009_857_536 / 2, rel=1e-3)


def test_capacity_counts_weights_cache_and_runtime() -> None:
    fp8 = Deployment("Llama-3.1-70B", "H100 SXM", weights="fp8", context=2048)
    # 68.45 GB of FP8 linears, 4.2 GB of 16-bit head and embedding, 0.67 GB of KV: fits 80 GiB.
    assert capacity_of(fp8).weights_bytes == pytest.approx(72.66e9, rel=1e-3)
    assert capacity_of(fp8).fits
    assert not capacity_of(fp8.evolve(weights=None)).fits
    batch = Deployment("Llama-3.1-8B", "H100 SXM", batch=256, context=32768)
    assert not capacity_of(batch).fits
    # (0.98 * 80 GiB - 16.06 GB - 1 GB) / (131,072 * 32,768 bytes) = 15 sequences.
    assert capacity_of(batch).largest_batch == 15


def test_sparse_storage_costs_its_indices() -> None:
    base = Deployment("Llama-3.1-8B")
    linear = 2 * (7_504_924_672 - 525_336_576 - 266_240 - 4096)
    rest = count_step(base).weight_bytes - linear
    for storage, ratio in (("bitmap", 0.5 + 1 / 16), ("csr32", 1.5), ("2:4-packed", 9 / 16)):
        sparse = base.evolve(sparsity=parse_sparsity(0.5, storage))
        expected = rest + linear * ratio
        assert count_step(sparse).weight_bytes == pytest.approx(expected, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(batch=st.integers(1, 512), context=st.integers(1, 200_000))
def test_weights_are_shared_by_the_batch_and_caches_are_not(batch: int, context: int) -> None:
    one = count_step(Deployment("Llama-3.1-8B", batch=1, context=context))
    many = count_step(Deployment("Llama-3.1-8B", batch=batch, context=context))
    rows = 4096 * 2 * (batch - 1)
    assert many.weight_bytes == one.weight_bytes + rows
    assert many.kv_read_bytes == batch * one.kv_read_bytes
    assert many.flops == pytest.approx(batch * one.flops, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    fewer=st.sampled_from(["int4-g128", "nvfp4", "mxfp4", "q4_0", "int3"]),
    more=st.sampled_from(["int8", "fp8", "q8_0", "bf16", "int8-g64"]),
    model=st.sampled_from(["Llama-3.1-8B", "Qwen3-30B-A3B", "DeepSeek-V3", "gemma-2-9b"]),
    batch=st.integers(1, 64),
)
def test_fewer_bits_are_never_more_bytes(fewer: str, more: str, model: str, batch: int) -> None:
    small = count_step(Deployment(model, weights=fewer, batch=batch))
    large = count_step(Deployment(model, weights=more, batch=batch))
    assert small.weight_bytes < large.weight_bytes
    assert small.flops == large.flops


@settings(max_examples=30, deadline=None)
@given(draft=st.integers(1, 16), batch=st.integers(1, 32))
def test_verifying_reads_dense_weights_once(draft: int, batch: int) -> None:
    base = Deployment("Llama-3.1-8B", batch=batch)
    verify = count_step(base.evolve(speculation=Speculation("eagle", draft)))
    plain = count_step(base)
    assert verify.weight_bytes - plain.weight_bytes == 2 * 4096 * batch * draft
    assert verify.kv_read_bytes == plain.kv_read_bytes
    assert verify.flops == pytest.approx(plain.flops * (draft + 1), rel=1e-12)


def _tensor(ways: int) -> Any:
    return Deployment("Llama-3.1-8B", tensor_parallel=ways).parallelism


def _operator(ledger: Any, name: str) -> Any:
    return next(operator for operator in ledger.operators if operator.name == name)
