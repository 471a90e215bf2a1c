"""What is promised, what a finding rests on, and the lines under it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.audit import Audit, audit
from advisor.evidence import (
    arithmetic_of,
    assumed_facts,
    bound_of,
    changes_nothing,
    claim_facts,
    claimed_over,
    claimed_words,
    claims_of,
    expects_speed,
    hangs_on_other_requests,
    hardware_of,
    is_stated,
    lever_facts,
    lever_numbers,
    per_step,
    promises_any_speed,
    promises_bytes,
    promises_speed,
    rests_on_guesses,
    shares_entry,
    step_facts,
    step_of_claim,
    weights_read,
)
from advisor.finding import Confidence
from advisor.readers import read
from advisor.source import Source

FACTS = (
    "model: Llama-3.1-8B\nhardware: H100 SXM\nworkload: {phase: decode, batch: 1, context: 2k}\n"
)


def audited(*levers: str, facts: str = FACTS, extra: str = "") -> Audit:
    listed = "".join(f"  - {{{lever}}}\n" for lever in levers)
    text = f"rooflint: 1\n{facts}{extra}" + (f"levers:\n{listed}" if levers else "")
    [proposal] = read(Source("p.yaml", text)).proposals
    found, problems = audit(proposal)
    assert problems == ()
    assert found is not None
    return found


DENSE = "kind: prune, sparsity: 30%, storage: dense"


@pytest.mark.parametrize(
    ("claim", "speed", "any_speed", "expected", "held"),
    [
        ("", True, True, True, False),  # proposed for decode, so faster decode is meant
        (", claim: 1.3x tokens/s", True, True, True, False),
        (", claim: 1.02x tokens/s", False, False, False, False),  # within the noise
        (", claim: 1.03x tokens/s", False, False, True, False),  # within the grace of 1.00x
        (", claim: 1.06x tokens/s", True, True, True, False),
        (", claim: 2x faster prefill", False, True, True, False),
        (", claim: 1.02x faster prefill", False, False, False, False),
        (", claim: 2x lower end-to-end latency", False, True, True, False),
        (", claim: half the memory", False, False, False, True),
        (", claim: 30% fewer bytes", False, False, False, True),
        (", claim: 30% fewer FLOPs", False, False, False, False),
        (", claim: tidier weights", True, True, True, False),
    ],
)
def test_what_a_lever_is_said_to_bring(
    claim: str, speed: bool, any_speed: bool, expected: bool, held: bool
) -> None:
    lever = audited(DENSE + claim).levers[0]
    found = (
        promises_speed(lever), promises_any_speed(lever), expects_speed(lever),
        promises_bytes(lever),
    )  # fmt: skip
    assert found == (speed, any_speed, expected, held)


def test_a_claim_that_holds_promises_nothing_wrong_and_expects_speed() -> None:
    lever = audited("kind: quantize, weights: fp8, claim: 1.3x tokens/s").levers[0]
    assert not promises_speed(lever)
    assert expects_speed(lever)


def test_a_gain_within_the_noise_is_promised_by_nobody() -> None:
    slow = "kind: offload, weights: 8 GB"
    assert not promises_speed(audited(f"{slow}, claim: 1.02x tokens/s").levers[0])
    assert promises_speed(audited(f"{slow}, claim: 1.03x tokens/s").levers[0])


@pytest.mark.parametrize(
    ("lever", "sure", "speed"),
    [
        ("kind: quantize, weights: fp8", Confidence.HIGH, True),
        ("kind: quantize, weights: fp8", Confidence.MEDIUM, False),
        ("kind: offload, weights: 8 GB", Confidence.HIGH, False),
        ("kind: offload, weights: 8 GB", Confidence.MEDIUM, False),
    ],
)
def test_settings_promise_speed_where_they_have_no_other_use(
    lever: str, sure: Confidence, speed: bool
) -> None:
    proposed = audited(lever).levers[0]
    setting = replace(
        proposed, configured=True, proposed=proposed.proposed._replace(confidence=sure)
    )
    assert promises_speed(proposed)
    assert (promises_speed(setting), promises_any_speed(setting)) == (speed, speed)


def test_prefill_promises_nothing_of_decode() -> None:
    facts = FACTS.replace("phase: decode", "phase: prefill")
    assert not promises_speed(audited(DENSE, facts=facts).levers[0])
    assert promises_any_speed(audited(DENSE, facts=facts).levers[0])


@pytest.mark.parametrize(
    ("kind", "batch", "hangs"),
    [
        ("chunked_prefill", "batch: 1, ", False),
        ("chunked_prefill", "batch: 8, ", True),
        ("chunked_prefill", "", True),
        ("prefix_cache", "batch: 8, ", False),
    ],
)
def test_prompts_of_others_hold_up_a_shared_step(kind: str, batch: str, hangs: bool) -> None:
    found = audited(f"kind: {kind}", facts=FACTS.replace("batch: 1, ", batch))
    assert hangs_on_other_requests(found, found.levers[0]) is hangs


def test_parts_of_one_entry_share_its_claim() -> None:
    found = audited("kind: quantize, weights: fp8, kv_cache: fp8, claim: 1.4x tokens/s")
    first, second = found.levers
    assert not shares_entry(found, first) or not shares_entry(found, second)
    assert shares_entry(found, second)
    [claim] = claims_of(found)
    assert claim.lever is first
    alone = audited("kind: quantize, weights: fp8", "kind: quantize, kv_cache: fp8")
    assert [shares_entry(alone, lever) for lever in alone.levers] == [False, False]


def test_claims_stand_with_their_levers_and_then_with_all_of_them() -> None:
    found = audited(
        "kind: cuda_graphs", "kind: quantize, weights: fp8, claim: 1.2x", extra="claim: 1.3x\n"
    )
    told = list(claims_of(found))
    assert [(one.subject.kind, one.subject.number) for one in told] == [("lever", 1), ("claim", 0)]
    assert step_of_claim(found, told[0]) is found.levers[1].after
    assert step_of_claim(found, told[1]) is found.combined


def test_limits_are_exceeded_by_more_than_the_grace() -> None:
    lever = audited("kind: quantize, weights: fp8, claim: 2.1x tokens/s").levers[0]
    assert claimed_over(lever, 1.99)
    assert not claimed_over(lever, 2.0)  # 1.05 * 2.0 itself is within
    assert not claimed_over(audited("kind: cuda_graphs").levers[0], 0.5)
    assert claimed_words(lever) == "2.1x tokens/s"
    assert claimed_words(audited("kind: cuda_graphs").levers[0]) == ""


def test_savings_by_name_change_nothing_in_decode_alone() -> None:
    lever = "kind: matmul_kernel, name: Strassen"
    assert changes_nothing(audited(lever).levers[0])
    prefill = FACTS.replace("phase: decode", "phase: prefill")
    assert not changes_nothing(audited(lever, facts=prefill).levers[0])
    assert not changes_nothing(audited("kind: quantize, weights: fp8").levers[0])


def test_the_lines_of_a_lever() -> None:
    lever = audited("kind: quantize, weights: fp8, kv_cache: fp8, claim: 3x tokens/s").levers[0]
    label, numbers = step_facts(lever)
    before, after = lever.before.estimate, lever.after.estimate
    assert label == "numbers"
    # 7.50e9 parameters in 16 bits; in 8 bits all but the head of 0.53e9.
    assert "weights 15.0 -> 8.03 GB/token" in numbers
    assert "KV" not in numbers  # this part is about the weights
    assert "FLOPs 0%" in numbers
    assert f"step {before.tpot_ms.mid:.3g} -> {after.tpot_ms.mid:.3g} ms" in numbers
    assert "memory-bound: 1.1 FLOP/B, ridge 295" in numbers
    cache = audited("kind: quantize, kv_cache: fp8").levers[0]
    # 2,048 tokens of 128 KiB.
    assert "KV 0.268 -> 0.134 GB/token" in step_facts(cache)[1]
    assert [name for name, _ in lever_facts(lever)] == ["numbers", "claimed"]
    assert [name for name, _ in lever_facts(cache)] == ["numbers"]
    assert claim_facts(lever.claim, lever.tpot.interval)[0][1].startswith("3.00x; possible ")
    assert claim_facts(None, lever.tpot.interval) == ()


def test_the_numbers_of_a_lever() -> None:
    lever = audited("kind: prune, sparsity: 30%, storage: dense, claim: 1.4x").levers[0]
    numbers = lever_numbers(lever)
    assert numbers["weights_before_bytes"] == pytest.approx(15.01e9, rel=1e-3)
    assert numbers["kv_read_before_bytes"] == 2048 * 131_072
    # 30% of the 6.98e9 weights of linear layers; beside them the head and attention are computed:
    # 2 * 7.505e9 FLOP, and 4 * 32 heads * 128 * 2,048 tokens in each of 32 layers.
    flops = 2 * 7.505e9 + 4 * 32 * 128 * 2048 * 32
    assert numbers["flops_saved_percent"] == pytest.approx(30 * 2 * 6.979e9 / flops, rel=1e-3)
    assert numbers["claimed_speedup"] == pytest.approx(1.4)
    assert numbers["possible_speedup"] == 1.0
    assert numbers["ridge_flop_per_byte"] == pytest.approx(295, abs=1)


@pytest.mark.parametrize(
    ("work", "levers", "unit"),
    [
        ("batch: 1", (), "GB/token"),
        ("batch: 2", (), "GB/step"),
    ],
)
def test_units_of_a_step(work: str, levers: tuple[str, ...], unit: str) -> None:
    found = audited(*levers, facts=FACTS.replace("batch: 1", work))
    assert per_step(found.baseline) == unit
    drafting = audited("kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%")
    assert per_step(drafting.levers[0].after) == "GB/step"


def test_words_for_a_step() -> None:
    step = audited().baseline
    assert weights_read(step) == "15.0 GB"
    assert hardware_of(step) == "H100 SXM"
    # 16.1 GFLOP with attention over 2,048 tokens, at 989 TFLOPS; 16.1 of them over 15.3 GB.
    assert arithmetic_of(step).startswith("0.016 ms of the ")
    assert bound_of(step.estimate) == "memory-bound: 1.1 FLOP/B, ridge 295"
    two = audited(facts=FACTS.replace("H100 SXM", "2 x H100 SXM")).baseline
    assert hardware_of(two) == "2 x H100 SXM"
    # Two devices do the same work in half the time.
    assert arithmetic_of(two).startswith("0.008")


def test_what_nobody_states_is_told() -> None:
    assert assumed_facts(audited()) == ()
    [(label, told)] = assumed_facts(audited(facts="model: Llama-3.1-8B\nhardware: H100 SXM\n"))
    assert (label, told.split(", ")[0]) == ("assumed", "batch 1")
    assert "tokens of context" in told
    nothing = audited("kind: cuda_graphs", facts="")
    assert not is_stated(nothing, "model")
    assert not is_stated(nothing, "no such fact")
    assert "H100" in dict(assumed_facts(nothing))["assumed"]


@pytest.mark.parametrize(
    ("facts", "lever", "guessed"),
    [
        (FACTS, "kind: quantize, kv_cache: fp8", False),
        ("model: Llama-3.1-8B\n", "kind: quantize, weights: fp8", True),
        ("hardware: H100 SXM\n", "kind: quantize, weights: fp8", True),
        # At the 4,096 tokens that are assumed the cache of a 70B is 1% of a step.
        ("model: Llama-3.1-70B\nhardware: 2 x H100 SXM\n", "kind: quantize, weights: fp8", False),
        ("model: Llama-3.1-70B\nhardware: 2 x H100 SXM\n", "kind: quantize, kv_cache: fp8", True),
        (
            "model: Llama-3.1-8B\nhardware: H100 SXM\nworkload: {context: 32k}\n",
            "kind: quantize, weights: fp8",
            True,  # 4.3 of 19.3 GB are cache: the batch matters
        ),
    ],
)
def test_what_a_ceiling_rests_on(facts: str, lever: str, guessed: bool) -> None:
    found = audited(f"{lever}, claim: 1.5x tokens/s", facts=facts)
    [claim] = claims_of(found)
    assert rests_on_guesses(found, claim) is guessed
