"""Quantities that rules compare, against hand calculations from the models' shapes."""

from __future__ import annotations

import pytest

from advisor.audit import Audit, Step, audit
from advisor.operands import (
    Request,
    alone_at_batch_1,
    attention_intensity,
    attention_ridge,
    claims_in,
    gemm_share,
    linear_bytes,
    place_of_fact,
    request_of,
    routed,
    sentences_of,
    stored_weight_bytes,
    waits_for_attention,
    well_run,
    wide_crossover,
    without_cache_bytes_ms,
)
from advisor.readers import read
from advisor.source import Source

# Llama-3.1-8B: 32 layers of 4,096, MLPs of 14,336, 32 heads and 8 KV heads of 128, 128,256 words.
LINEAR_8B = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14_336)
TABLE_8B = 128_256 * 4096
NORMS_8B = 65 * 4096


def audited(
    extra: str = "",
    *,
    model: str = "Llama-3.1-8B",
    hardware: str = "H100 SXM",
    work: str = "phase: decode, batch: 1, context: 2k",
) -> Audit:
    text = f"rooflint: 1\nmodel: {model}\nhardware: {hardware}\nworkload: {{{work}}}\n{extra}"
    [proposal] = read(Source("p.yaml", text)).proposals
    found, problems = audit(proposal)
    assert problems == ()
    assert found is not None
    return found


def step(extra: str = "", **facts: str) -> Step:
    return audited(extra, **facts).baseline


def test_crossovers_are_the_ridge_of_16_bit_math() -> None:
    assert wide_crossover(step()) == pytest.approx(989e12 / 3.35e12, rel=1e-3)
    assert wide_crossover(step(hardware="A100 80GB SXM")) == pytest.approx(312 / 2.039, rel=1e-3)
    assert attention_ridge(step()) == pytest.approx(295, abs=1)


def test_gemms_are_weights_and_arithmetic() -> None:
    shares = step().estimate.shares
    assert gemm_share(step()) == pytest.approx(shares.weights + shares.compute)
    assert 0.5 < gemm_share(step()) < 1.0


@pytest.mark.parametrize(
    ("model", "extra", "flop_per_byte"),
    [
        # Each key and value of 2 bytes is multiplied and added for 32 / 8 queries.
        ("Llama-3.1-8B", "", 2 * 4 / 2),
        # With 8-bit caches twice as many for each byte.
        ("Llama-3.1-8B", "kv_cache: fp8\n", 2 * 4 / 1),
        # A latent of 512 + 64 values serves 128 heads, as key with 576 and as value with 512.
        ("DeepSeek-V3", "", 2 * 128 * (576 + 512) / (2 * 576)),
    ],
)
def test_attention_over_the_cache(model: str, extra: str, flop_per_byte: float) -> None:
    found = step(extra, model=model, work="phase: decode, batch: 1, context: 16k")
    assert attention_intensity(found) == pytest.approx(flop_per_byte, rel=0.02)


def test_no_cache_no_intensity() -> None:
    assert attention_intensity(step(model="mamba-2.8b-hf")) is None
    assert not waits_for_attention(step(model="mamba-2.8b-hf"))


@pytest.mark.parametrize(
    ("model", "hardware", "extra", "waits"),
    [
        # 242 FLOP/B against three quarters of 295 on an H100 and of 153 on an A100.
        ("DeepSeek-V3", "16 x H100 SXM", "", True),
        ("DeepSeek-V3", "16 x H100 SXM", "parallelism: {tensor: 2}\n", False),
        ("DeepSeek-V3", "16 x A100 80GB SXM", "parallelism: {tensor: 2}\n", True),
        ("DeepSeek-V3", "16 x A100 80GB SXM", "parallelism: {tensor: 4}\n", False),
        ("Llama-3.1-8B", "H100 SXM", "", False),
    ],
)
def test_latent_attention_waits_for_its_arithmetic(
    model: str, hardware: str, extra: str, waits: bool
) -> None:
    found = step(
        f"weights: fp8\n{extra or 'parallelism: {tensor: 1, data: 16}'}\n",
        model=model,
        hardware=hardware,
        work="phase: decode, batch: 16, context: 4k",
    )
    assert waits_for_attention(found) is waits


def test_linear_layers_have_neither_head_nor_norms() -> None:
    assert linear_bytes(step()) == LINEAR_8B * 2
    assert linear_bytes(step("weights: fp8\n")) == pytest.approx(LINEAR_8B, rel=1e-3)


def test_all_weights_are_stored_wherever_they_are() -> None:
    every = (LINEAR_8B + 2 * TABLE_8B + NORMS_8B) * 2
    assert stored_weight_bytes(step().deployment) == every
    split = step("parallelism: {tensor: 2}\n", hardware="2 x H100 SXM").deployment
    assert stored_weight_bytes(split) == every
    two = step(hardware="2 x H100 SXM", work="phase: decode, batch: 8, context: 2k").deployment
    assert stored_weight_bytes(two) == every


def test_experts_that_a_step_touches() -> None:
    assert routed(step()) is None
    # 8 of 128 for a token; of 32 tokens a given expert is missed by all with (1 - 8/128)^32.
    one = routed(step(model="Qwen3-30B-A3B"))
    assert one is not None
    assert (one.experts, one.top_k, one.touched) == (128, 8, pytest.approx(8))
    many = routed(step(model="Qwen3-30B-A3B", work="phase: decode, batch: 32, context: 2k"))
    assert many is not None
    assert many.touched == pytest.approx(128 * (1 - (1 - 8 / 128) ** 32))


def test_one_sequence_and_one_token() -> None:
    found = step(work="phase: decode, batch: 32, context: 2k")
    alone = alone_at_batch_1(found)
    assert (alone.deployment.batch, alone.ledger.tokens) == (1, 1)
    assert alone.deployment.context == 2048
    drafting = audited(
        "levers:\n  - {kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%}\n"
    )
    assert drafting.levers[0].after.ledger.tokens == 4
    assert alone_at_batch_1(drafting.levers[0].after).ledger.tokens == 1


def test_the_floor_without_its_cache() -> None:
    found = step(work="phase: decode, batch: 1, context: 128k")
    # 7.505e9 parameters of 2 bytes over 3,350 GB/s.
    read_bytes = (LINEAR_8B + TABLE_8B + NORMS_8B) * 2
    assert without_cache_bytes_ms(found) == pytest.approx(read_bytes / 3350e6, rel=1e-3)
    assert found.estimate.floor_tpot_ms > 2 * without_cache_bytes_ms(found)


def test_a_step_on_an_engine_with_graphs() -> None:
    eager = step("engine: transformers\nmeasured: {tpot: 40 ms}\n")
    usual = well_run(eager)
    assert eager.estimate.tpot_ms.mid == pytest.approx(40.0)
    assert usual.deployment.engine.graphs
    assert usual.estimate.tpot_ms.mid < 10.0
    served = well_run(step("engine: vllm\n"))
    assert served.deployment.engine.label == "vLLM"


def test_both_phases_of_a_request() -> None:
    assert Request(100, 10, 30.0, 90.0).decode_share == pytest.approx(0.75)
    assert request_of(audited()) is None
    found = request_of(audited(work="phase: decode, batch: 1, prompt: 4k, output: 1000"))
    assert found is not None
    assert (found.prompt_tokens, found.output_tokens) == (4096, 1000)
    # Decode is timed in the middle of the output: at 4,096 + 500 tokens.
    middle = step(work="phase: decode, batch: 1, context: 4596").estimate.tpot_ms.mid
    assert found.decode_ms == pytest.approx(1000 * middle)
    # 2 x 7.5e9 FLOP a token at 40 to 100% of 989 TFLOPS.
    fastest_ms = 4096 * 2 * 7.0e9 / 989e12 * 1e3
    assert fastest_ms < found.prefill_ms < 2.5 * fastest_ms
    short = request_of(audited(work="phase: decode, batch: 1, prompt: 4k, output: 1"))
    assert short is not None
    last = step(work="phase: decode, batch: 1, context: 4097").estimate.tpot_ms.mid
    assert short.decode_ms == pytest.approx(last)


def test_sentences_and_where_they_stand() -> None:
    found = audited(
        "diagnosis: [decode is memory-bound, weights are read]\n"
        "levers:\n  - {kind: quantize, weights: fp8, claim: 1.2x}\n  - {kind: cuda_graphs}\n"
        "claim: 1.3x\n"
    )
    told = [(sentence.text, index) for sentence, index in sentences_of(found)]
    assert told == [
        ("decode is memory-bound", 0), ("weights are read", 1), ("1.2x", None), ("1.3x", None),
    ]  # fmt: skip


def test_claims_of_a_sentence_that_are_not_denied() -> None:
    assert claims_in(None) == ()
    judged = (
        audited(
            'levers:\n  - {kind: quantize, weights: fp8, claim: "1.2x tokens/s, not 2x tokens/s"}\n'
        )
        .levers[0]
        .claim
    )
    assert [one.speedup for one in claims_in(judged)] == [1.2]


def test_facts_have_a_place() -> None:
    found = audited()
    text = found.proposal.source.slice(place_of_fact(found, "batch", "hardware"))
    assert text.endswith("1")
    hardware = found.proposal.source.slice(place_of_fact(found, "engine", "hardware"))
    assert "H100 SXM" in hardware
    assert place_of_fact(found, "engine") == found.proposal.first_line()
