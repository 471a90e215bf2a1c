"""The numbers that findings carry, each by hand from published shapes and data sheets."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.audit import audit
from advisor.finding import Confidence, Finding, Severity
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

LINEAR_8B = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
REST_8B = 128_256 * 4096 + 65 * 4096 + 4096
KV_8B = 131_072
EXPERT_30B = 48 * 3 * 2048 * 768 * 2
"""Bytes of one routed expert of Qwen3-30B-A3B in all 48 layers, 16 bits."""
OTHER_30B = 2 * (48 * (2 * 2048 * 4096 + 2 * 2048 * 512 + 2048 * 128) + 151_936 * 2048)


def judged(
    lever: str = "",
    *,
    model: str = "Llama-3.1-8B",
    hardware: str = "H100 SXM",
    work: str = "batch: 1, context: 2k",
    extra: str = "",
    strict: bool = False,
) -> list[Finding]:
    levers = f"levers:\n  - {{{lever}}}\n" if lever else ""
    text = (
        f"rooflint: 1\nmodel: {model}\nhardware: {hardware}\n"
        f"workload: {{phase: decode, {work}}}\n{extra}{levers}"
    )
    reading = read(Source("p.yaml", text))
    assert reading.problems == ()
    audited, unknown = audit(reading.proposals[0])
    assert unknown == ()
    assert audited is not None
    return list(run(audited, strict=strict))


CASES: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    (
        "PRE008",
        {"lever": "kind: share_weights, times: 2, claim: 2x tokens/s"},
        {"block_bytes": 2 * LINEAR_8B / 32, "cache_bytes": 50e6},
    ),
    (
        "PRE008",
        {"lever": "kind: cache_residency, claim: 2x tokens/s"},
        {"block_bytes": 2 * (LINEAR_8B + REST_8B)},
    ),
    (
        "PRE008",
        {
            "lever": "kind: attention, variant: cross_layer, layers: 2, claim: 1.5x tokens/s",
            "work": "batch: 8, context: 32k",
        },
        {"block_bytes": 8 * 32768 * KV_8B / 32},
    ),
    (
        "CAP002",
        {"lever": "kind: offload, weights: 8 GB, claim: 1.1x tokens/s"},
        # Of what is kept, the table of input embeddings is not read by a step.
        {"host_bytes": 8e9 * (LINEAR_8B + REST_8B) / (LINEAR_8B + REST_8B + 128_256 * 4096)},
    ),
    (
        "CAP003",
        {"lever": "kind: offload, weights: 8 GB, claim: 60 tokens/s"},
        {"claimed_tpot_ms": 1e3 / 60},
    ),
    (
        "KV004",
        {
            "lever": "kind: offload, kv_cache: 2 GB, claim: 1.1x tokens/s",
            "work": "batch: 1, context: 32k",
        },
        {"host_bytes": 2e9},
    ),
    (
        "PAR001",
        {"lever": "kind: tensor_parallel, size: 8, claim: 8x lower latency"},
        {"devices_ratio": 8.0, "claimed_speedup": 8.0},
    ),
    (
        "PAR003",
        {"lever": "kind: tensor_parallel, size: 12"},
        {"ways": 12, "heads": 32, "kv_heads": 8},
    ),
    (
        "SPC003",
        {
            "lever": "kind: speculate, method: EAGLE, draft_tokens: 7, acceptance: 60%,"
            " claim: 1.5x",
            "hardware": "A100 80GB SXM",
            "work": "batch: 64, context: 512",
            "extra": "weights: int4-g128\n",
        },
        {"tokens_per_step": 64 * 8},
    ),
    (
        "SPC004",
        {
            "lever": "kind: speculate, method: EAGLE, draft_tokens: 5, acceptance: 60%, claim: 2x",
            "model": "Qwen3-30B-A3B",
        },
        {
            "weight_bytes_ratio": (OTHER_30B + EXPERT_30B * 128 * (1 - (1 - 8 / 128) ** 6))
            / (OTHER_30B + EXPERT_30B * 8)
        },
    ),
    (
        "CLM003",
        {
            "lever": "kind: quantize, weights: fp8, claim: 2x tokens/s",
            "model": "Llama-3.1-70B",
            "hardware": "2 x H100 SXM",
        },
        {"bits_ratio": 2.0, "claimed_speedup": 2.0},
    ),
    (
        "CLM005",
        {
            "lever": "kind: prune, pattern: experts, sparsity: 40%,"
            ' claim: "40% fewer parameters, 40% faster"',
            "model": "Qwen3-30B-A3B",
        },
        {"resource_left": 0.6, "claimed_speedup": 1.4},
    ),
    (
        "CLM007",
        {
            "lever": "kind: quantize, weights: fp8, claim: 1.5x tokens/s",
            "model": "Llama-2-7B",
            "hardware": "A100 80GB SXM",
            "extra": "engine: transformers\nmeasured: {tokens_per_second: 25}\n",
        },
        {"measured_tpot_ms": 40.0},
    ),
    (
        "MEA006",
        {
            "lever": "kind: fuse, mode: attention,"
            ' claim: "8x faster attention kernel, so 8x tokens/s"'
        },
        {"kernel_speedup": 8.0},
    ),
    (
        "HW004",
        {
            "lever": "kind: attention_kernel, name: FlashAttention-3, claim: 1.1x",
            "hardware": "A100 80GB SXM",
        },
        {"least_compute_capability": 9.0},
    ),
    (
        "PRE002",
        {
            "lever": "kind: prune, sparsity: 20%, storage: bitmap, kernel: SpInfer, claim: 1.3x",
            "hardware": "RTX 4090",
        },
        {"kernel_break_even_percent": 30.0, "bytes_ratio": 0.8 + 1 / 16},
    ),
    (
        "FLP006",
        {"lever": "kind: clocks, core: +10%, claim: 1.1x tokens/s"},
        {"bandwidth_gbs": 3350.0},
    ),
    (
        "BAT003",
        {
            "work": "batch: 512, context: 8k",
            "hardware": "8 x H100 SXM",
            "extra": "diagnosis: decode at batch 512 is compute-bound\n",
        },
        {},
    ),
    (
        "MOE002",
        {
            "model": "gpt-oss-120b",
            "hardware": "RTX 4080",
            "extra": "diagnosis: the 5B active parameters fit in 16 GB\n",
        },
        {"available_bytes": 16 * 2**30 * 0.98},
    ),
    (
        "TXT002",
        {"extra": "diagnosis: NVLink moves 900 GB/s in each direction\n"},
        {"stated_gbs": 900.0, "one_way_gbs": 450.0},
    ),
]


@pytest.mark.parametrize(
    ("rule", "case", "numbers"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)]
)
def test_numbers_by_hand(rule: str, case: dict[str, Any], numbers: dict[str, float]) -> None:
    [one] = judged(**case)
    assert one.rule == rule
    for name, value in numbers.items():
        assert one.numbers[name] == pytest.approx(value, rel=0.002), name


def test_shares_of_a_cache_bound_batch() -> None:
    [one] = judged(
        work="batch: 512, context: 8k",
        hardware="8 x H100 SXM",
        extra="diagnosis: decode at batch 512 is compute-bound\n",
    )
    kv, compute = one.numbers["kv_share"], one.numbers["compute_share"]
    assert isinstance(kv, float)
    assert isinstance(compute, float)
    assert compute < 0.2
    assert 0.5 < kv < 1.0 - compute


@pytest.mark.parametrize(
    "sentence",
    [
        "decode at batch 512 is not compute-bound",
        "if decode at batch 512 were compute-bound, a faster GEMM would help",
        "prefill at batch 512 is compute-bound",
        "decode at batch 512 is memory-bound",
    ],
)
def test_what_nobody_asserts_is_not_refuted(sentence: str) -> None:
    found = judged(
        work="batch: 512, context: 8k", hardware="8 x H100 SXM", extra=f"diagnosis: {sentence}\n"
    )
    assert found == []


def test_a_claim_on_other_hardware_has_the_ratio_of_the_floors_for_a_limit() -> None:
    [one] = judged("kind: hardware, hardware: H200, claim: 2.5x tokens/s")
    assert one.rule == "FLP004" or "other hardware allows" in one.message
    both = " ".join((one.message, *(note.message for note in one.notes)))
    assert "1.43x" in both


def test_stacks_are_held_against_the_joint_model() -> None:
    extra = (
        "levers:\n  - {kind: quantize, weights: fp8, claim: 1.6x}\n"
        "  - {kind: quantize, weights: int4-g128, claim: 2.4x}\nclaim: 3.8x tokens/s\n"
    )
    [one] = judged(model="Llama-3.1-70B", hardware="2 x H100 SXM", extra=extra)
    assert one.rule == "CLM004"
    assert one.numbers["product_of_claims"] == pytest.approx(1.6 * 2.4)


def test_offload_that_makes_a_model_run_is_no_error() -> None:
    lever = "kind: offload, weights: 80 GB"
    assert judged(lever, model="Llama-3.1-70B") == []
    [one] = judged("kind: offload, weights: 4 GB")
    assert (one.rule, one.severity) == ("CAP002", Severity.WARNING)


def test_defaults_are_noted_in_strict_mode() -> None:
    lever = "kind: paged_cache, claim: twice the sequences"
    assert judged(lever, extra="engine: vllm\n") == []
    [one] = judged(lever, extra="engine: vllm\n", strict=True)
    assert (one.rule, one.severity) == ("ENG002", Severity.INFO)
    assert judged(lever, strict=True) == []


def test_eager_mode_costs_a_small_model_and_no_large_one() -> None:
    lever = "kind: cuda_graphs, enabled: false"
    [one] = judged(lever, model="Llama-3.2-1B", extra="engine: vllm\n")
    assert one.rule == "ENG003"
    assert one.numbers["tpot_after_ms"] > 1.05 * float(one.numbers["tpot_before_ms"] or 0.0)


def test_a_low_measurement_is_noted_and_no_error() -> None:
    # 15.15 GB in 20 ms are 758 GB/s, 23% of 3,350.
    extra = "weights: bf16\nmeasured: {tpot: 20 ms}\n"
    assert judged(work="batch: 1, context: 1k", extra=extra) == []
    [one] = judged(work="batch: 1, context: 1k", extra=extra, strict=True)
    assert (one.rule, one.severity) == ("MEA004", Severity.INFO)
    assert one.numbers["mbu"] == pytest.approx(0.226, abs=0.002)


def test_a_gain_within_the_noise_is_noted() -> None:
    lever = "kind: quantize, lm_head: int8, claim: 1.02x tokens/s"
    assert judged(lever) == []
    [one] = judged(lever, strict=True)
    assert (one.rule, one.severity) == ("MEA006", Severity.INFO)


def test_model_or_hardware_alone_leave_a_factor_half_known() -> None:
    reading = read(Source("p.yaml", "rooflint: 1\nmodel: Llama-3.1-8B\nclaim: 2x faster tokens\n"))
    audited, _ = audit(reading.proposals[0])
    assert audited is not None
    [one] = run(audited, strict=True)
    assert (one.rule, one.confidence) == ("MEA001", Confidence.MEDIUM)
    assert "hardware" in one.message
    assert "model" not in one.message


def test_activations_of_a_token_are_kilobytes() -> None:
    [one] = judged("kind: quantize, activations: int8, claim: 1.5x", extra="weights: int8\n")
    # In and out of a linear layer: 2 * 4,096 values of 2 bytes.
    assert one.rule == "FLP008"
    assert "16.4 KB a layer" in one.message
    assert one.numbers["weights_before_bytes"] == one.numbers["weights_after_bytes"]


@pytest.mark.parametrize(
    ("work", "settles"),
    [("", "batch and context"), ("batch: 1", "the context"), ("context: 8k", "the batch")],
)
def test_the_fact_that_settles_a_verdict_is_named(work: str, settles: str) -> None:
    lever = "{kind: quantize, kv_cache: fp8, claim: 1.4x tokens/s}"
    text = (
        f"rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\nworkload: {{{work}}}\n"
        f"levers:\n  - {lever}\n"
    )
    audited, _ = audit(read(Source("p.yaml", text)).proposals[0])
    assert audited is not None
    [one] = run(audited)
    assert (one.rule, one.instead) == ("MEA002", f"state {settles}")
    low, high = one.numbers["speedup_low"], one.numbers["speedup_high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert 0.9 < low < high <= 2.0


def test_below_both_crossovers_the_batch_is_not_to_blame() -> None:
    lever = "kind: quantize, weights: int4-g128, claim: 3.6x throughput"
    rules = {one.rule for one in judged(lever, work="batch: 60, context: 128", strict=True)}
    assert "BAT001" not in rules
    assert {one.rule for one in judged(lever, work="batch: 90, context: 128")} == {"BAT001"}


def test_two_tokens_still_skip_most_of_very_sparse_rows() -> None:
    # 0.9^2 = 81% of the rows are needed by neither of two tokens, 0.5^2 = 25%.
    assert judged("kind: activation_sparsity, sparsity: 90%", work="batch: 2, context: 1k") == []
    [one] = judged("kind: activation_sparsity, sparsity: 50%", work="batch: 2, context: 1k")
    assert "75%" in one.message


def test_prefill_is_not_judged_as_decode() -> None:
    text = (
        "rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\n"
        "workload: {phase: prefill, batch: 1, context: 4k}\nlevers:\n"
        "  - {kind: clocks, core: +10%}\n  - {kind: quantize, kv_cache: fp8}\n"
        "  - {kind: offload, weights: 4 GB}\n  - {kind: cuda_graphs, enabled: false}\n"
    )
    audited, _ = audit(read(Source("p.yaml", text)).proposals[0])
    assert audited is not None
    assert run(audited) == ()


def test_one_way_of_a_split_is_no_split() -> None:
    found = judged("kind: tensor_parallel, size: 1, claim: 1.2x", strict=True)
    assert "PAR001" not in {one.rule for one in found}
    assert "PAR003" not in {one.rule for one in found}


def test_a_split_at_a_large_batch_is_not_held_against_a_small_one() -> None:
    lever = "kind: tensor_parallel, size: 2, claim: 2x"
    assert {one.rule for one in judged(lever)} == {"PAR001"}
    found = judged(lever, work="batch: 64, context: 2k", strict=True)
    assert "PAR001" not in {one.rule for one in found}


def test_a_repeated_cache_is_told_where_the_cache_is_claimed() -> None:
    claim = "claim: a sixteenth of the KV cache per GPU"
    [one] = judged(f"kind: tensor_parallel, size: 16, {claim}", model="Llama-3.1-70B")
    assert (one.rule, one.severity) == ("PAR003", Severity.WARNING)
    assert "8 ways at most" in one.message
    latent = judged(f"kind: tensor_parallel, size: 8, {claim}", model="DeepSeek-V3")
    assert "1 ways at most" in " ".join(one.message for one in latent)


def test_bandwidth_counts_all_devices() -> None:
    [one] = judged(
        "kind: hardware, hardware: 2 x L40S, claim: 1.5x tokens/s", hardware="A100 80GB SXM"
    )
    assert one.rule == "FLP004"
    assert one.numbers["bandwidth_ratio"] == pytest.approx(2 * 864 / 2039, rel=0.001)
    assert one.numbers["flops_ratio"] == pytest.approx(2 * 362 / 312, rel=0.001)


@pytest.mark.parametrize(
    ("rate", "rules"), [(900, ["TXT002"]), (890, ["TXT002"]), (450, []), (800, []), (1000, [])]
)
def test_both_directions_of_a_link(rate: int, rules: list[str]) -> None:
    found = judged(extra=f"diagnosis: NVLink moves {rate} GB/s in each direction\n")
    assert [one.rule for one in found] == rules


@pytest.mark.parametrize(
    ("sentence", "rules"),
    [
        # 8.03e9 parameters are stored, 7.50e9 of them are read: 16.06 and 15.01 GB.
        ("a forward pass reads 16 GB per token", ["TXT002"]),
        ("a forward pass reads 15 GB per token", []),
        ("the checkpoint has 16 GB", []),
    ],
)
def test_a_stored_size_is_not_what_a_token_reads(sentence: str, rules: list[str]) -> None:
    found = judged(extra=f"diagnosis: {sentence}\n", strict=True)
    assert [one.rule for one in found] == rules
    assert all(one.severity is Severity.INFO for one in found)


def test_levers_of_one_kind_are_judged_one_by_one() -> None:
    levers = (
        "levers:\n"
        "  - {kind: clocks, memory: +5%}\n"
        "  - {kind: clocks, core: +10%, claim: 1.1x tokens/s}\n"
        "  - {kind: tensor_parallel, size: 2}\n"
        "  - {kind: tensor_parallel, size: 8, claim: 8x lower latency}\n"
        "  - {kind: quantize, weights: fp8, claim: 1.2x}\n"
        "  - {kind: quantize, activations: int8, claim: 1.5x}\n"
        "  - {kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%, claim: 1.5x}\n"
        "  - {kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%, claim: 4x}\n"
        "  - {kind: offload, kv_cache: 0.1 GB, evicted: true}\n"
        "  - {kind: offload, weights: 4 GB}\n"
        "  - {kind: low_rank, rank: 512}\n"
        "  - {kind: low_rank, rank: 4000, claim: 1.1x}\n"
        "  - {kind: prune, pattern: channels, sparsity: 25%, storage: removed}\n"
        "  - {kind: prune, pattern: channels, sparsity: 25%, storage: removed, width: 10700}\n"
        "  - {kind: quantize, weights: fp8, claim: 2x tokens/s}\n"
        "  - {kind: activation_sparsity, sparsity: 40%}\n"
        "  - {kind: paged_cache}\n"
        "  - {kind: share_weights, times: 2, claim: 2x tokens/s}\n"
    )
    found = judged(extra=levers, work="batch: 1, context: 2k")
    told = [(one.rule, one.subject.number) for one in found if one.subject is not None]
    assert told == [
        ("FLP006", 1), ("PAR001", 3), ("FLP008", 5), ("SPC002", 7), ("CAP002", 9), ("PRE005", 11),
        ("PRE007", 13), ("CLM003", 14), ("PRE008", 17),
    ]  # fmt: skip


@pytest.mark.parametrize(("batch", "unit"), [(1, "GB/token"), (2, "GB/step")])
def test_bytes_of_a_batch_are_those_of_a_step(batch: int, unit: str) -> None:
    [one] = judged(
        "kind: elementwise, name: GELU to ReLU, claim: 1.2x", work=f"batch: {batch}, context: 1k"
    )
    assert any(unit in text for _, text in one.facts)


def test_graphs_that_are_off_are_no_default() -> None:
    found = judged("kind: cuda_graphs, enabled: false", extra="engine: vllm\n", strict=True)
    assert "ENG002" not in {one.rule for one in found}
    [on] = judged("kind: cuda_graphs", extra="engine: vllm\n", strict=True)
    assert on.rule == "ENG002"
    assert "vLLM" in on.message


@pytest.mark.parametrize(
    ("lever", "rule"),
    [
        ("kind: offload, weights: 4 GB, claim: 1.1x tokens/s", "CAP002"),
        ("kind: offload, kv_cache: 2 GB, claim: 1.1x tokens/s", "KV004"),
    ],
)
def test_a_gain_over_the_link_is_impossible(lever: str, rule: str) -> None:
    [one] = judged(lever, work="batch: 1, context: 32k")
    assert (one.rule, one.severity) == (rule, Severity.ERROR)
    [quiet] = judged(lever.partition(", claim")[0], work="batch: 1, context: 32k")
    assert (quiet.rule, quiet.severity) == (rule, Severity.WARNING)


@pytest.mark.parametrize(
    ("kernel", "severity"), [("", Severity.ERROR), (", kernel: SpInfer", Severity.WARNING)]
)
def test_a_kernel_of_ones_own_may_be_added_to_an_engine(kernel: str, severity: Severity) -> None:
    lever = f"kind: prune, sparsity: 60%, storage: bitmap{kernel}, claim: 1.3x"
    [one] = judged(lever, hardware="RTX 4090", extra="engine: {name: vllm, version: 0.11.0}\n")
    assert (one.rule, one.severity) == ("ENG001", severity)


def test_savings_by_name_are_told() -> None:
    [one] = judged("kind: matmul_kernel, name: Strassen, claim: 1.1x")
    # 7 products of blocks where 8 would be needed: an eighth.
    assert any("FLOPs -12%" in text for _, text in one.facts)
    assert one.numbers["flops_saved_percent"] == pytest.approx(12.5)


def test_claims_on_the_prompt_are_judged_one_by_one() -> None:
    levers = (
        "levers:\n"
        "  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.5x lower TTFT}\n"
        "  - {kind: quantize, weights: int4-g128, claim: 2x lower TTFT}\n"
        "  - {kind: prefix_cache, claim: 3x lower TTFT}\n"
        "  - {kind: speculate, method: EAGLE, draft_tokens: 3, claim: 1.5x lower TTFT}\n"
    )
    found = judged(extra=levers, work="batch: 1, prompt: 8k, output: 100")
    told = [(one.rule, one.subject.number) for one in found if one.subject is not None]
    assert told == [("PHS002", 1), ("PHS002", 3)]


def test_activations_of_four_tokens() -> None:
    [one] = judged(
        "kind: quantize, activations: int8", work="batch: 4, context: 1k", extra="weights: int8\n"
    )
    assert "65.5 KB a layer" in one.message


def test_a_lever_on_the_cache_is_no_plan_on_arithmetic() -> None:
    work, hardware = "batch: 512, context: 8k", "8 x H100 SXM"
    assert judged("kind: quantize, kv_cache: fp8, claim: 1.4x", work=work, hardware=hardware) == []
    [one] = judged(
        "kind: quantize, weights: fp8, activations: fp8, claim: 2x throughput",
        work=work,
        hardware=hardware,
    )
    assert one.rule == "BAT003"


@pytest.mark.parametrize(("power", "rules"), [("+20%", ["FLP006"]), ("2x", [])])
def test_a_cap_that_is_lifted_by_a_third_frees_a_gddr_card(power: str, rules: list[str]) -> None:
    found = judged(f"kind: clocks, power: {power}", hardware="RTX 4090")
    assert [one.rule for one in found] == rules
    [hbm] = judged("kind: clocks, power: 2x")
    assert hbm.rule == "FLP006"


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ("method: draft model, acceptance: 70%", ["ENG001"]),
        ("draft_model: Llama-3.2-1B, acceptance: 70%", ["ENG001"]),
        ("method: EAGLE, acceptance: 70%", []),
        ("method: ngram, acceptance: 70%", []),
        ("method: dflash, acceptance: 70%", []),
    ],
)
def test_which_drafts_an_engine_lacks(fields: str, rules: list[str]) -> None:
    extra = "engine: {name: vllm, version: 0.10.2}\n"
    found = judged(f"kind: speculate, draft_tokens: 3, {fields}, claim: 1.2x", extra=extra)
    assert [one.rule for one in found] == rules
