"""More numbers that rules state, by hand calculation, and the limits at which they turn."""

from __future__ import annotations

import re

import pytest

from advisor.audit import audit
from advisor.explain import LEVER_EXAMPLES
from advisor.finding import ErrorClass, Finding, Severity
from advisor.readers import read
from advisor.rulebook import load_rules, run
from advisor.source import Source


def told(text: str, *, strict: bool = False) -> list[Finding]:
    reading = read(Source("p.yaml", "rooflint: 1\n" + text))
    assert reading.problems == ()
    found: list[Finding] = []
    for proposal in reading.proposals:
        audited, unknown = audit(proposal)
        assert unknown == ()
        assert audited is not None
        found += run(audited, strict=strict)
    return found


def of(
    lever: str,
    *,
    model: str = "Llama-3.1-8B",
    hardware: str = "H100 SXM",
    work: str = "batch: 1, context: 2k",
    extra: str = "",
    strict: bool = False,
) -> list[Finding]:
    levers = f"levers:\n  - {{{lever}}}\n" if lever else ""
    facts = f"model: {model}\nhardware: {hardware}\nworkload: {{phase: decode, {work}}}\n"
    return told(f"{facts}{extra}{levers}", strict=strict)


def number(finding: Finding, name: str) -> float:
    value = finding.numbers[name]
    assert isinstance(value, float | int)
    return float(value)


def test_every_class_of_error_has_its_rule() -> None:
    shown = of(
        "kind: attention_kernel, name: FlashAttention-3, claim: 1.5x faster token generation",
        work="batch: 1, context: 1k",
    )
    classes = {loaded.rule.error_class for loaded in load_rules()}
    assert classes | {one.error_class for one in shown} >= set(ErrorClass)


@pytest.mark.parametrize("kind", LEVER_EXAMPLES)
@pytest.mark.parametrize("model", ["Llama-3.1-8B", "DeepSeek-V3", "gpt-oss-20b", "mamba-2.8b-hf"])
@pytest.mark.parametrize("hardware", ["8 x H100 SXM", "M2 Ultra", "V100 SXM2 32GB"])
def test_no_rule_fails_on_any_lever(kind: str, model: str, hardware: str) -> None:
    text = f"model: {model}\nhardware: {hardware}\nlevers:\n  - {LEVER_EXAMPLES[kind]}\n"
    found = told(text, strict=True)
    subjects = [one.subject for one in found]
    assert len(subjects) == len(set(subjects))
    assert all(re.search(r"\d", one.message) for one in found)


# Storage


@pytest.mark.parametrize(
    ("storage", "sparsity", "ratio"),
    [
        ("csr32", 0.5, 0.5 * (16 + 32) / 16),  # 1.5
        ("csr16", 0.4, 0.6 * (16 + 16) / 16),  # 1.2
        ("bitmap", 0.05, 0.95 + 1 / 16),  # 1.01
    ],
)
def test_packed_weights_may_be_more_bytes(storage: str, sparsity: float, ratio: float) -> None:
    [one] = of(f"kind: prune, sparsity: {sparsity}, storage: {storage}, kernel: k, claim: 1.3x")
    assert (one.rule, one.severity) == ("PRE002", Severity.ERROR)
    assert number(one, "bytes_ratio") == pytest.approx(ratio)


def test_a_kernel_wins_later_than_the_bytes() -> None:
    lever = "kind: prune, sparsity: 20%, storage: bitmap, kernel: SpInfer, claim: 1.3x"
    [one] = of(lever, hardware="RTX 4090")
    assert (one.rule, one.severity) == ("PRE002", Severity.WARNING)
    assert "30%" in one.message
    crowd = lever.replace("20%", "60%")
    assert of(crowd, hardware="RTX 4090", work="batch: 32, context: 512") == []
    [late] = of(crowd, hardware="RTX 4090", work="batch: 33, context: 512")
    assert "33" in late.message


def test_rank_above_the_break_even_holds_more_bytes() -> None:
    [one] = of("kind: low_rank, rank: 3000, claim: 1.2x")
    full = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336
    thin = 3000 * (2 * 8192 + 2 * 5120 + 3 * 18432)
    assert one.rule == "PRE005"
    assert number(one, "bytes_ratio") == pytest.approx(thin / full)
    assert of("kind: low_rank, rank: 1024, claim: 1.2x") == []


@pytest.mark.parametrize(("batch", "saved"), [(2, 0.25), (4, 0.0625), (16, 0.5**16)])
def test_a_batch_needs_the_union_of_its_rows(batch: int, saved: float) -> None:
    [one] = of("kind: activation_sparsity, sparsity: 50%", work=f"batch: {batch}, context: 1k")
    assert one.rule == "PRE006"
    assert number(one, "union_density") == pytest.approx(1 - saved)


def test_widths_are_judged_where_they_are_exact() -> None:
    lever = "kind: prune, pattern: channels, sparsity: 29%, storage: removed, width: "
    [one] = of(f"{lever}7837", model="Llama-2-7B")
    assert (one.rule, number(one, "aligned_width")) == ("PRE007", 7808)
    assert of(f"{lever}7808", model="Llama-2-7B") == []


def test_nf4_passes_memory_three_times_from_two_rows_on() -> None:
    lever = "kind: quantize, weights: nf4, claim: 2x lower TPOT"
    [one] = of(lever, work="batch: 2, context: 1k")
    # 4.5 bits read, 16 written, 16 read again, over 16.
    assert one.rule == "PRE004"
    assert number(one, "traffic_ratio") == pytest.approx((4.5 + 32) / 16)
    assert of(lever, work="batch: 1, context: 1k") == []


# Batch and phase


@pytest.mark.parametrize(("hardware", "crossover"), [("H100 SXM", 295), ("A100 80GB SXM", 153)])
def test_weight_only_gains_end_at_the_crossover(hardware: str, crossover: int) -> None:
    lever = "kind: quantize, weights: int4-g128"
    work = "batch: {}, context: 128"
    assert of(lever, hardware=hardware, work=work.format(crossover)) == []
    [one] = of(lever, hardware=hardware, work=work.format(crossover + 1))
    assert one.rule == "BAT001"
    assert round(number(one, "crossover_16_bit_tokens")) == crossover
    assert number(one, "crossover_tokens") == pytest.approx(crossover * 4.125 / 16, rel=0.01)


def test_sequences_that_do_not_fit_are_counted() -> None:
    [one] = of("", work="batch: 256, context: 32k")
    # 80 GiB of which 98% are usable, 16.06 GB of weights, 1 GB of runtime, 4.29 GB a sequence.
    assert one.rule == "BAT004"
    assert number(one, "kv_bytes_per_sequence") == 32_768 * 131_072
    assert number(one, "largest_batch") == (80 * 2**30 * 0.98 - 16.06e9 - 1e9) // (32768 * 131072)
    assert of("", work="batch: 256, context: 1k") == []


def test_other_levers_may_make_it_fit() -> None:
    assert of("kind: quantize, kv_cache: fp8, claim: twice the sequences",
              work="batch: 24, context: 32k") == []  # fmt: skip


def test_a_long_prompt_waits_for_arithmetic() -> None:
    lever = "kind: quantize, weights: int4-g128, claim: 2x lower TTFT"
    work = "batch: 1, prompt: {}, output: 100"
    [one] = of(lever, work=work.format(296))
    assert one.rule == "PHS002"
    assert of(lever, work=work.format(295)) == []


def test_the_minor_phase_of_a_request() -> None:
    lever = "kind: quantize, weights: int4-g128, claim: 2x lower end-to-end latency"
    [one] = of(lever, work="batch: 1, prompt: 16k, output: 2", strict=True)
    assert (one.rule, one.severity) == ("PHS003", Severity.INFO)
    assert number(one, "phase_share") < 0.2
    assert of(lever, work="batch: 1, prompt: 16k, output: 2") == []
    assert of(lever, work="batch: 1, prompt: 100, output: 2000", strict=True) == []


# Hardware and engines


@pytest.mark.parametrize(
    ("hardware", "rules"),
    [("A100 80GB SXM", ["HW001"]), ("H100 SXM", []), ("L40S", [])],
)
def test_fp8_arithmetic_needs_its_units(hardware: str, rules: list[str]) -> None:
    lever = "kind: quantize, weights: fp8, activations: fp8, claim: 1.3x from FP8 tensor cores"
    found = of(lever, hardware=hardware, work="batch: 32, context: 512")
    assert [one.rule for one in found] == rules


@pytest.mark.parametrize(
    ("version", "weights", "rules"),
    [
        ("0.8.5", "fp8", []),
        ("0.8.5", "bf16", ["ENG001"]),
        ("0.24.0", "fp8", ["ENG001"]),
        ("0.6.3", "bf16", []),
    ],
)
def test_2_4_by_version_and_width(version: str, weights: str, rules: list[str]) -> None:
    lever = 'kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: CUTLASS, claim: 1.15x'
    extra = f"engine: {{name: vllm, version: {version}}}\nweights: {weights}\n"
    assert [one.rule for one in of(lever, extra=extra)] == rules


def test_an_engine_without_a_version_is_asked_for_it() -> None:
    lever = 'kind: prune, pattern: "2:4", storage: 2:4-packed, kernel: CUTLASS, claim: 1.15x'
    extra = "engine: vllm\nweights: fp8\n"
    assert of(lever, extra=extra) == []
    assert "ENG001" in {one.rule for one in of(lever, extra=extra, strict=True)}


def test_a_name_of_several_parts_is_told_where_the_verdict_hangs_on_it() -> None:
    # 40 GB parts have 1,555 GB/s and 80 GB parts 2,039: a rate between their floors.
    lever = "kind: quantize, lm_head: int8, claim: 120 tokens/s"
    found = of(lever, hardware="A100", strict=True)
    assert "HW004" in {one.rule for one in found} | {
        note.rule for one in found for note in one.notes
    }


# Caches and experts


def test_latent_attention_by_heads_on_a_device() -> None:
    lever = "kind: quantize, kv_cache: fp8, claim: 1.3x tokens/s"
    work = "batch: 64, context: 16k"
    apart = "weights: fp8\nparallelism: {tensor: 8, attention_data: 8}\n"
    [one] = of(lever, model="DeepSeek-V3", hardware="8 x H20", work=work, extra=apart)
    # 2 * 128 heads * (2 * 512 + 64) FLOP over (512 + 64) * 2 bytes.
    assert one.rule == "KV003"
    flops, read = 2 * 128 * (2 * 512 + 64), (512 + 64) * 2
    assert number(one, "attention_flop_per_byte") == pytest.approx(flops / read)
    together = of(lever, model="DeepSeek-V3", hardware="8 x H20", work=work, extra="weights: fp8\n")
    assert "KV003" not in {one.rule for one in together}


def test_a_rate_that_forgets_the_cache() -> None:
    # 15.01 GB over 3,350 GB/s are 4.48 ms, 223 tokens/s; 131,072 tokens are 17.2 GB more.
    [one] = of("", work="batch: 1, context: 128k", extra="claim: 220 tokens/s for one user\n")
    assert one.rule == "KV002"
    [beyond] = of("", work="batch: 1, context: 128k", extra="claim: 260 tokens/s for one user\n")
    assert beyond.rule == "CLM006"


def test_distinct_experts_of_a_batch() -> None:
    [one] = of("", model="Qwen3-30B-A3B", work="batch: 32, context: 512",
               extra="claim: 450 tokens/s for each user\n")  # fmt: skip
    assert one.rule == "MOE001"
    # 128 * (1 - (1 - 8/128)^32) = 111.8
    assert number(one, "experts_touched") == pytest.approx(111.8, abs=0.1)


@pytest.mark.parametrize(
    ("sentence", "batch", "rules"),
    [
        ("each token reads 94 GB of weights", 1, ["MOE003"]),
        ("each token reads 26 GB of weights", 1, []),
        ("94 GB of weights must be resident", 1, []),
        ("each step reads 94 GB of weights", 64, []),
        ("a token does not read 94 GB of weights", 1, []),
    ],
)
def test_what_a_token_of_mixtral_reads(sentence: str, batch: int, rules: list[str]) -> None:
    found = of("", model="Mixtral-8x7B", hardware="2 x H100 SXM",
               work=f"batch: {batch}, context: 1k", extra=f"diagnosis: {sentence}\n")  # fmt: skip
    assert [one.rule for one in found] == rules


# Speculation and splits


@pytest.mark.parametrize(
    ("acceptance", "draft", "tokens"), [(0.6, 3, 2.176), (0.8, 3, 2.952), (0.7, 5, 2.941)]
)
def test_no_more_tokens_than_acceptance_gives(acceptance: float, draft: int, tokens: float) -> None:
    fields = f"kind: speculate, method: EAGLE, draft_tokens: {draft}, acceptance: {acceptance}"
    [one] = of(f"{fields}, claim: {1.06 * tokens:.2f}x")
    assert one.rule == "SPC002"
    assert number(one, "tokens_per_pass") == pytest.approx(tokens, abs=0.001)
    assert "SPC002" not in {found.rule for found in of(f"{fields}, claim: {tokens:.2f}x")}


def test_a_modest_gain_needs_no_acceptance() -> None:
    [one] = of("kind: speculate, method: EAGLE, draft_tokens: 3, claim: 2.8x")
    assert one.rule == "SPC001"
    low, high = number(one, "speedup_at_60_percent"), number(one, "speedup_at_80_percent")
    assert 1.0 < low < high < 2.952
    assert of("kind: speculate, method: EAGLE, draft_tokens: 3, claim: 1.3x") == []


@pytest.mark.parametrize(("size", "rules"), [(2, []), (8, []), (12, ["PAR003"]), (3, ["PAR003"])])
def test_degrees_that_divide_the_heads(size: int, rules: list[str]) -> None:
    found = of(f"kind: tensor_parallel, size: {size}", model="Llama-3.1-70B")
    assert [one.rule for one in found] == rules


def test_heads_that_are_not_split_need_not_divide() -> None:
    apart = "parallelism: {tensor: 2, attention_data: 2}\n"
    lever = "kind: tensor_parallel, size: 12"
    [one] = of(lever, model="DeepSeek-V3", hardware="2 x H200", extra=apart)
    # 128 heads over 6 ways and 18,432 columns over 12: the heads do not divide.
    assert one.rule == "PAR003"
    assert "128 heads" in one.message
    assert "columns" not in one.message


# Measuring


@pytest.mark.parametrize(("rate", "rules"), [(300, ["MEA004"]), (230, []), (158, [])])
def test_a_measurement_implies_its_bandwidth(rate: int, rules: list[str]) -> None:
    extra = f"weights: bf16\nmeasured: {{tokens_per_second: {rate}}}\n"
    found = of("", work="batch: 1, context: 512", extra=extra)
    assert [one.rule for one in found] == rules
    for one in found:
        # 15.08 GB a token at 300 tokens/s over 3,350 GB/s.
        assert number(one, "mbu") == pytest.approx(15.08e9 * rate / 3350e9, abs=0.005)


@pytest.mark.parametrize(
    ("sentence", "rules"),
    [
        ("(2048 + 128) / total time gives 120 tokens/s", ["MEA003"]),
        ("100 identical prompts give 120 tokens/s", ["MEA003"]),
        ("the throughput, including prefill, is 120 tok/s", ["MEA003"]),
        ("120 tokens/s, not including prefill", []),
        ("TPOT after the first token, unique prompts", []),
        ("120 tokens/s at the same prompt length", []),
        ("120 tokens/s with one prompt of 2k tokens", []),
    ],
)
def test_windows_that_are_no_decoding(sentence: str, rules: list[str]) -> None:
    assert [one.rule for one in of("", extra=f'diagnosis: "{sentence}"\n')] == rules


def test_a_factor_over_nothing() -> None:
    [one] = told("claim: 2x faster tokens\n")
    assert one.rule == "MEA001"
    assert "model, hardware" in one.message
    assert told("model: Llama-3.1-8B\nclaim: 2x faster tokens\n") == []


def test_one_open_fact_settles_the_verdict() -> None:
    [one] = told(
        "model: Llama-3.1-8B\nhardware: H100 SXM\nworkload: {batch: 1}\n"
        "levers:\n  - {kind: quantize, kv_cache: fp8, claim: 1.3x tokens/s}\n"
    )
    assert one.rule == "MEA002"
    assert one.instead == "state the context"


def test_a_lever_without_a_claim_is_asked_about_in_strict_mode() -> None:
    text = "model: Llama-3.1-8B\nhardware: H100 SXM\nlevers:\n  - {kind: quantize, kv_cache: fp8}\n"
    assert told(text) == []
    [one] = told(text, strict=True)
    assert one.rule == "MEA002"
    assert "the verdict on the lever hangs on" in one.message
