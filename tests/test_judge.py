"""Claims against intervals, ceilings and floors: which metric, which figure, which verdict."""

from __future__ import annotations

import pytest

from advisor.audit import Audit, Verdict, audit
from advisor.judge import GRACE, ClaimVerdict, JudgedClaim
from advisor.readers import read
from advisor.source import Source

PLAUSIBLE, OPEN, IMPOSSIBLE = (
    ClaimVerdict.PLAUSIBLE, ClaimVerdict.NEEDS_EVIDENCE, ClaimVerdict.IMPOSSIBLE,
)  # fmt: skip


def audited(
    lever: str = "", work: str = "batch: 1, context: 2k", extra: str = "", model: str = "8B"
) -> Audit:
    levers = f"levers:\n  - {{{lever}}}\n" if lever else ""
    text = (
        f"rooflint: 1\nmodel: Llama-3.1-{model}\nhardware: H100 SXM\n"
        f"workload: {{phase: decode, {work}}}\n{extra}{levers}"
    )
    [proposal] = read(Source("p.yaml", text)).proposals
    found, problems = audit(proposal)
    assert problems == ()
    assert found is not None
    return found


def claimed(claim: str, lever: str = "kind: quantize, weights: fp8", **facts: str) -> JudgedClaim:
    judged = audited(f'{lever}, claim: "{claim}"', **facts).levers[0].claim
    assert judged is not None
    return judged


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("2x tokens/s at batch 32", "batch 32"),
        ("2x tokens/s at 8k context", "8,192 tokens"),
        ("2x tokens/s at 1000 tokens of context", "1,000 tokens"),
        ("2x faster prefill", "about prefill"),
        ("2x lower TTFT", "about prefill"),
        ("2x lower end-to-end latency", "whole request"),
        ("2x faster attention kernel", "one kernel"),
        ("2x faster under load as requests queue less", "wait for others"),
        ("50% fewer FLOPs", "resource"),
        ("the same tokens/s", "stays as it is"),
    ],
)
def test_what_a_step_does_not_show_is_not_judged(claim: str, reason: str) -> None:
    judged = claimed(claim)
    assert (judged.metric, judged.speedup, judged.verdict) == (None, None, None)
    assert reason in judged.reason
    assert not judged.below_floor


@pytest.mark.parametrize(
    "claim",
    [
        "1.4x tokens/s at batch 1",
        "1.4x tokens/s at 4k context",
        "1.4x tokens/s at 1024 tokens of context",
        "1.4x faster decode",
        "1.4x lower TPOT",
        "1.4x",
    ],
)
def test_what_a_step_shows_is_judged(claim: str) -> None:
    judged = claimed(claim)
    assert (judged.metric, judged.speedup, judged.reason) == ("tpot", 1.4, "")
    assert judged.verdict is PLAUSIBLE
    assert judged.tpot_ms is None


def test_prefill_is_judged_in_a_step_of_prefill_only() -> None:
    text = (
        "rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\n"
        "workload: {phase: prefill, batch: 1, context: 2k}\nlevers:\n"
        "  - {kind: quantize, weights: fp8, activations: fp8, claim: 1.3x in prefill}\n"
    )
    found, _ = audit(read(Source("p.yaml", text)).proposals[0])
    assert found is not None
    [lever] = [one for one in found.levers if one.claim is not None]
    assert lever.claim is not None
    assert lever.claim.reason != "about prefill"


@pytest.mark.parametrize(
    ("claim", "work", "metric", "tpot_ms"),
    [
        ("5 ms per token", "batch: 1, context: 2k", "tpot", 5.0),
        ("200 tokens/s", "batch: 1, context: 2k", "tpot", 1e3 / 200),
        ("100 tokens/s per user", "batch: 8, context: 2k", "tpot", 1e3 / 100),
        ("800 tokens/s in total", "batch: 8, context: 2k", "throughput", 1e3 * 8 / 800),
        # A rate below the floor of one sequence may be that of all.
        ("800 tokens/s", "batch: 8, context: 2k", "throughput", 1e3 * 8 / 800),
        ("100 tokens/s", "batch: 8, context: 2k", "tpot", 1e3 / 100),
        ("100 tokens/s", "batch: 1, context: 2k", "tpot", 1e3 / 100),
        ("800 tokens/s", "batch: 1, context: 2k", "tpot", 1e3 / 800),
        ("800 tokens/s per user", "batch: 8, context: 2k", "tpot", 1e3 / 800),
    ],
)
def test_absolute_figures(claim: str, work: str, metric: str, tpot_ms: float) -> None:
    judged = claimed(claim, work=work)
    assert judged.metric == metric
    assert judged.tpot_ms == pytest.approx(tpot_ms)
    before = audited(work=work).baseline.estimate
    assert judged.speedup == pytest.approx(before.tpot_ms.mid / tpot_ms)


def test_a_rate_of_a_lever_on_throughput_is_of_all_where_there_are_several() -> None:
    for batch in (2, 8):
        several = claimed(
            "40 tokens/s", "kind: data_parallel, size: 2", work=f"batch: {batch}, context: 2k"
        )
        assert several.metric == "throughput"


def test_an_absolute_rate_of_a_larger_batch_gains_by_the_batch() -> None:
    # 16 sequences instead of one: each token takes a little longer, 16 of them come.
    judged = claimed("1600 tokens/s in total", "kind: batch, batch: 16")
    before = audited().baseline.estimate
    assert judged.metric == "throughput"
    assert judged.tpot_ms == pytest.approx(1e3 * 16 / 1600)
    assert judged.speedup == pytest.approx(16 * before.tpot_ms.mid / 10.0)
    assert judged.ceiling is not None
    assert judged.ceiling == pytest.approx(16 * before.tpot_ms.mid / judged.floor_tpot_ms)


def test_the_floor_bounds_a_rate_over_a_baseline_that_nobody_measured() -> None:
    judged = claimed("300 tokens/s")
    step = audited("kind: quantize, weights: fp8")
    before, after = step.baseline.estimate, step.levers[0].after.estimate
    # 8.04 GB of FP8 and 16-bit head, 0.27 GB of cache: 2.5 ms at 3,350 GB/s.
    assert judged.floor_tpot_ms == pytest.approx(after.bytes.memory / 3350e6, rel=1e-6)
    # Weights that took no time at all would bring more than that: the ceiling of the lever holds.
    assert judged.ceiling == pytest.approx(1.0 / (1.0 - before.shares.weights))
    assert judged.ceiling > before.tpot_ms.mid / after.floor_tpot_ms
    cache = claimed("300 tokens/s", "kind: quantize, kv_cache: fp8")
    # The cache is 2% of the step, so the floor allows more: 15.1 GB take 4.52 ms.
    assert cache.floor_tpot_ms is not None
    assert cache.ceiling == pytest.approx(before.tpot_ms.mid / cache.floor_tpot_ms)
    assert not judged.below_floor


@pytest.mark.parametrize(("grace", "below"), [(1.04, False), (1.06, True)])
def test_a_figure_is_below_the_floor_by_more_than_the_grace(grace: float, below: bool) -> None:
    floor = audited("kind: quantize, weights: fp8").levers[0].after.estimate.floor_tpot_ms
    judged = claimed(f"{floor / grace:.5f} ms per token")
    assert judged.below_floor is below
    assert (judged.verdict is IMPOSSIBLE) is below


def test_a_measured_baseline_is_what_a_rate_is_held_against() -> None:
    judged = claimed("100 tokens/s", extra="measured: {tpot: 8 ms}\n")
    assert judged.speedup == pytest.approx(8.0 / 10.0)
    fast = claimed("250 tokens/s", extra="measured: {tpot: 8 ms}\n")
    assert fast.speedup == pytest.approx(8.0 / 4.0)


def test_a_stated_fraction_of_the_bandwidth_lifts_what_is_possible() -> None:
    plain = claimed("300 tokens/s")
    lifted = claimed("300 tokens/s at 99% of bandwidth")
    before = audited().baseline.estimate
    assert lifted.possible is not None
    assert plain.possible is not None
    assert lifted.floor_tpot_ms is not None
    assert lifted.possible.high == pytest.approx(
        max(plain.possible.high, 0.99 * before.tpot_ms.mid / lifted.floor_tpot_ms)
    )
    low = claimed("300 tokens/s at 10% of bandwidth")
    assert low.possible == plain.possible


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("1.3x tokens/s", PLAUSIBLE),
        ("3x tokens/s", OPEN),
        ("5x tokens/s", IMPOSSIBLE),
        ("up to 1.5x tokens/s", PLAUSIBLE),
        ("up to 5x tokens/s", IMPOSSIBLE),
        ("1.5-5x tokens/s", OPEN),  # a range is possible where its low end is
        ("4.5-5x tokens/s", IMPOSSIBLE),
    ],
)
def test_verdicts_on_fp8_weights(claim: str, verdict: ClaimVerdict) -> None:
    # Weights are 73% of the step: 3.7x if they took no time.
    assert claimed(claim).verdict is verdict


def test_between_interval_and_ceiling_evidence_is_needed() -> None:
    lever = audited("kind: quantize, weights: int4-g128").levers[0]
    high, ceiling = lever.tpot.interval.high, lever.tpot.ceiling
    assert GRACE * high < ceiling
    for figure, verdict in (
        (1.04 * high, PLAUSIBLE), (1.06 * high, OPEN), (1.04 * ceiling, OPEN),
        (1.06 * ceiling, IMPOSSIBLE),
    ):  # fmt: skip
        judged = claimed(f"{figure:.4f}x tokens/s", "kind: quantize, weights: int4-g128")
        assert judged.verdict is verdict, figure


def test_the_first_claim_on_speed_is_judged() -> None:
    assert claimed("40% fewer parameters, 1.2x tokens/s").speedup == pytest.approx(1.2)
    assert "no amount is claimed" in claimed("nothing but good").reason
    assert claimed("nothing but good").claim is None


# The ceilings of levers: 1 / (1 - what they touch), in shares of the step.


@pytest.mark.parametrize(
    ("lever", "touched"),
    [
        ("kind: quantize, weights: int4-g128", ("weights",)),
        ("kind: quantize, kv_cache: fp8", ("kv",)),
        ("kind: elementwise, name: GELU to ReLU", ("compute",)),
        ("kind: attention_kernel, name: FlashAttention-3", ("kv",)),
        ("kind: prefix_cache", ()),
        ("kind: paged_cache", ()),
        ("kind: batch, batch: 16", ()),
    ],
)
def test_a_ceiling_is_what_is_left_without_what_a_lever_touches(
    lever: str, touched: tuple[str, ...]
) -> None:
    found = audited(lever, work="batch: 1, context: 16k").levers[0]
    shares = found.before.estimate.shares
    left = 1.0 - sum(getattr(shares, name) for name in touched)
    assert found.tpot.ceiling == pytest.approx(1.0 / left)


def test_layers_that_go_take_their_share_of_everything() -> None:
    found = audited("kind: prune, pattern: layers, sparsity: 25%").levers[0]
    shares = found.before.estimate.shares
    one, other = found.before.ledger, found.after.ledger
    assert other.layers == 0.75 * one.layers
    # The head stays: 0.53e9 of 7.50e9 parameters.
    weights = 0.25 * (1.0 - 0.5253 / 7.505)
    gone = shares.weights * weights + 0.25 * (shares.kv + shares.fixed)
    assert found.tpot.ceiling == pytest.approx(1.0 / (1.0 - gone), rel=2e-3)


def test_a_split_leaves_each_device_its_part() -> None:
    found = audited("kind: tensor_parallel, size: 4").levers[0]
    shares = found.before.estimate.shares
    gone = 0.75 * (shares.weights + shares.kv + shares.compute)
    assert found.tpot.ceiling == pytest.approx(1.0 / (1.0 - gone))


def test_drafts_bring_themselves_and_one_token_at_best() -> None:
    found = audited("kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%").levers[0]
    before, after = found.before.estimate, found.after.estimate
    assert before.tpot_ms.mid > after.expected_ms.low  # the pass may be as short as a step
    assert found.tpot.ceiling == pytest.approx(4.0)
    long = audited(
        "kind: speculate, method: EAGLE, draft_tokens: 7, acceptance: 70%", "batch: 64, context: 1k"
    ).levers[0]
    step, verified = long.before.estimate, long.after.estimate
    assert long.tpot.ceiling == pytest.approx(8 * step.tpot_ms.mid / verified.expected_ms.low)
    assert long.tpot.ceiling < 8.0
    # (1 - 0.7^4) / 0.3 tokens leave a pass.
    assert after.tokens_per_step == pytest.approx((1 - 0.7**4) / 0.3)


def test_other_hardware_is_bounded_by_its_floor_or_by_what_is_expected() -> None:
    found = audited("kind: hardware, hardware: H200").levers[0]
    assert found.tpot.ceiling >= 4800 / 3350 * (1 - 1e-9)
    assert found.verdict is Verdict.BANDWIDTH
    worse = audited("kind: hardware, hardware: L40S").levers[0]
    assert worse.verdict is Verdict.REGRESSION
    assert worse.score < 0


@pytest.mark.parametrize(
    ("lever", "verdict"),
    [
        ("kind: quantize, weights: fp8", Verdict.BANDWIDTH),
        ("kind: quantize, activations: int8", Verdict.FLOP_ONLY),
        ("kind: batch, batch: 16", Verdict.THROUGHPUT_ONLY),
        ("kind: cuda_graphs", Verdict.OVERHEAD),
        ("kind: paged_cache", Verdict.CAPACITY_ONLY),
        ("kind: offload, weights: 8 GB", Verdict.REGRESSION),
        ("kind: prefix_cache", Verdict.PREFILL_ONLY),
        ("kind: elementwise, name: GELU to ReLU", Verdict.FLOP_ONLY),
        ("kind: prune, sparsity: 50%", Verdict.CONDITIONAL),
        ("kind: speculate, method: EAGLE, draft_tokens: 3", Verdict.BANDWIDTH),
        # One draft in twenty kept: a pass with its drafts takes longer than it saves.
        ("kind: speculate, method: EAGLE, draft_tokens: 7, acceptance: 5%", Verdict.REGRESSION),
    ],
)
def test_verdicts(lever: str, verdict: Verdict) -> None:
    assert audited(lever).levers[0].verdict is verdict


def test_scores_are_percent_of_the_step() -> None:
    found = audited("kind: quantize, weights: fp8").levers[0]
    ratio = found.after.estimate.tpot_ms.mid / found.before.estimate.tpot_ms.mid
    assert found.score == pytest.approx(100 * (1 - ratio))
    assert 25 < found.score < 46  # 15.28 -> 8.31 GB is 46% less, the fixed time stays
    assert audited("kind: elementwise, name: GELU to ReLU").levers[0].score == 0.0


def test_the_speedup_of_a_lever_is_in_its_own_metric() -> None:
    prompt = audited("kind: prefix_cache").levers[0]
    assert (prompt.speedup.metric, prompt.speedup.ceiling) == ("ttft", 1.0)
    assert prompt.speedup.interval == (1.0, 1.0, 1.0)
    attention = audited("kind: attention_kernel, name: FlashAttention-3", "batch: 1, context: 64k")
    assert attention.levers[0].speedup is attention.levers[0].tpot
    weights = audited("kind: quantize, weights: fp8").levers[0]
    assert weights.speedup is weights.tpot


def test_throughput_grows_by_the_batch() -> None:
    found = audited("kind: batch, batch: 16").levers[0]
    ratio = found.before.estimate.tpot_ms.mid / found.after.estimate.tpot_ms.mid
    assert found.throughput.interval.mid == pytest.approx(16 * ratio)
    assert found.throughput.ceiling == pytest.approx(16.0)
    assert found.speedup is found.throughput
    assert found.tpot.ceiling == 1.0


@pytest.mark.parametrize(
    ("other", "context", "limit"),
    [
        ("kind: cuda_graphs", "32k", "product"),
        ("kind: quantize, weights: int8", "32k", "floor"),
        ("kind: quantize, weights: int8", "2k", "single"),
    ],
)
def test_all_together_are_bounded_by_product_floor_and_the_best_of_them(
    other: str, context: str, limit: str
) -> None:
    levers = (
        f"levers:\n  - {{kind: quantize, kv_cache: fp8}}\n  - {{{other}}}\nclaim: 9x tokens/s\n"
    )
    both = audited(work=f"batch: 1, context: {context}", extra=levers)
    ceilings = [lever.tpot.ceiling for lever in both.levers]
    limits = {
        "product": ceilings[0] * ceilings[1],
        "floor": both.baseline.estimate.tpot_ms.mid / both.combined.estimate.floor_tpot_ms,
        "single": max(ceilings),
    }
    assert limits[limit] == pytest.approx(
        max(limits["single"], min(limits["product"], limits["floor"]))
    )
    assert both.claims[0].ceiling == pytest.approx(limits[limit])


def test_no_lever_and_one_lever_have_their_own_ceiling() -> None:
    claim = audited(extra="claim: 9x tokens/s\n").claims[0]
    assert claim.ceiling == 1.0
    one = audited(extra="levers:\n  - {kind: quantize, weights: fp8}\nclaim: 9x tokens/s\n")
    assert one.claims[0].ceiling == pytest.approx(one.levers[0].tpot.ceiling)
