"""Audits of hand-built proposals against hand calculations and the field's measured facts."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.audit import Audit, LeverAudit, Verdict, audit
from advisor.context import Defaults
from advisor.judge import ClaimVerdict
from advisor.levers import lever_class
from advisor.proposal import (
    Measured,
    Proposal,
    ProposedLever,
    Sentence,
    Splits,
    Stated,
    Workload,
)
from advisor.source import Source, Span

SOURCE = Source("proposal.yaml", "rooflint: 1\n")
SPAN = Span(0, 11)


def proposed(kind: str, claim: str | None = None, **fields: Any) -> tuple[ProposedLever, ...]:
    parts = lever_class(kind).model_validate({"kind": kind, **fields}).parts()
    sentence = Sentence(claim, SPAN) if claim is not None else None
    together = parts if len(parts) > 1 else ()
    return tuple(
        ProposedLever(part, SPAN, sentence if index == 0 else None, together)
        for index, part in enumerate(parts)
    )


def audited(
    *levers: tuple[ProposedLever, ...], claims: tuple[str, ...] = (), **stated: Any
) -> Audit:
    result, problems = audit(
        Proposal(
            SOURCE,
            SPAN,
            levers=tuple(part for entry in levers for part in entry),
            claims=tuple(Sentence(claim, SPAN) for claim in claims),
            **stated,
        )
    )
    assert not problems
    assert result is not None
    return result


def only(kind: str, claim: str | None = None, fields: Any = None, **stated: Any) -> LeverAudit:
    (lever, *_rest) = audited(proposed(kind, claim, **(fields or {})), **stated).levers
    return lever


SEED = {
    "model": Stated("Llama-3.1-70B"),
    "hardware": Stated("H100 SXM"),
    "weights": Stated("fp8"),
    "workload": Workload(batch=Stated(1), context=Stated(2048)),
    "measured": Measured(SPAN, tpot_ms=26.0),
}


def test_the_baseline_of_the_70b_on_one_h100() -> None:
    step = audited(**SEED).baseline.estimate
    # 68.45 GB of FP8 linears, 2.1 GB of 16-bit head: 70.6 GB; 0.67 GB of KV; 3,350 GB/s.
    assert step.bytes.weights == pytest.approx(70.56e9, rel=1e-3)
    assert step.floor_ms == pytest.approx(21.3, abs=0.05)
    assert step.expected_ms.mid == pytest.approx(26.0)
    assert step.fits
    assert step.bound == "memory"
    assert step.ridge == pytest.approx(295, abs=1)


@pytest.mark.parametrize(
    ("kind", "fields", "claim"),
    [
        ("prune", {"sparsity": "30%", "storage": "dense"}, "ITL drops from 26 ms to about 18 ms"),
        ("prune", {"pattern": "heads", "sparsity": 0.25, "storage": "masked"}, "25% more tokens/s"),
        ("matmul_kernel", {"speedup": "1.55x"}, "1.5x decode"),
        ("matmul_kernel", {"peak": "3958 TFLOPS"}, "2x single-user speed"),
    ],
)
def test_what_leaves_the_bytes_gains_nothing(kind: str, fields: Any, claim: str) -> None:
    lever = only(kind, claim, fields, **SEED)
    assert lever.verdict is Verdict.FLOP_ONLY
    assert lever.score == 0
    assert lever.tpot.interval.mid == 1.0
    assert lever.claim is not None
    assert lever.claim.verdict is ClaimVerdict.IMPOSSIBLE


def test_120_tokens_per_second_are_below_the_floor() -> None:
    (claim,) = audited(claims=("120 tokens/s for one user",), **SEED).claims
    assert claim.tpot_ms == pytest.approx(1000 / 120)
    assert claim.below_floor
    assert claim.verdict is ClaimVerdict.IMPOSSIBLE


def test_83_tokens_per_second_from_int4_are_possible() -> None:
    claim = "83 tokens/s if the kernel sustains 95% of bandwidth"
    lever = only("quantize", claim, {"weights": "int4-g128"}, **SEED)
    assert lever.verdict is Verdict.BANDWIDTH
    assert lever.byte_ratio == pytest.approx(1.87, abs=0.005)
    assert lever.claim is not None
    assert lever.claim.speedup == pytest.approx(26 * 83 / 1000)
    assert lever.claim.verdict is ClaimVerdict.PLAUSIBLE
    assert not lever.claim.below_floor


@pytest.mark.parametrize(
    ("kind", "fields", "verdict"),
    [
        ("quantize", {"weights": "int4"}, Verdict.BANDWIDTH),
        ("quantize", {"kv_cache": "fp8"}, Verdict.BANDWIDTH),
        ("prune", {"sparsity": 0.5}, Verdict.CONDITIONAL),
        ("prune", {"pattern": "2:4", "storage": "2:4-packed"}, Verdict.CONDITIONAL),
        (
            "prune",
            {"pattern": "2:4", "storage": "2:4-packed", "kernel": "sparse-marlin"},
            Verdict.BANDWIDTH,
        ),
        ("prune", {"pattern": "layers", "sparsity": 0.25}, Verdict.BANDWIDTH),
        ("prune", {"sparsity": 0.5, "storage": "masked"}, Verdict.REGRESSION),
        ("low_rank", {"rank": 512, "storage": "multiplied"}, Verdict.FLOP_ONLY),
        ("low_rank", {"rank": 4096}, Verdict.REGRESSION),
        ("distill", {"model": "Llama-3.2-1B"}, Verdict.BANDWIDTH),
        ("attention", {"variant": "gqa", "kv_heads": 8}, Verdict.CONDITIONAL),
        ("speculate", {"acceptance": 0.8, "draft_tokens": 4}, Verdict.BANDWIDTH),
        ("speculate", {"method": "EAGLE-3"}, Verdict.BANDWIDTH),
        ("batch", {"batch": 32}, Verdict.THROUGHPUT_ONLY),
        ("data_parallel", {"size": 4}, Verdict.THROUGHPUT_ONLY),
        ("pipeline_parallel", {"size": 2}, Verdict.THROUGHPUT_ONLY),
        ("tensor_parallel", {"size": 2}, Verdict.BANDWIDTH),
        ("hardware", {"hardware": "H200"}, Verdict.BANDWIDTH),
        ("hardware", {"hardware": "L40S"}, Verdict.REGRESSION),
        ("matmul_kernel", {"speedup": "2x"}, Verdict.FLOP_ONLY),
        ("attention_kernel", {"name": "FlashAttention-3"}, Verdict.PREFILL_ONLY),
        ("cuda_graphs", {}, Verdict.OVERHEAD),
        ("prefix_cache", {}, Verdict.PREFILL_ONLY),
        ("offload", {"weights": "4 GB"}, Verdict.REGRESSION),
    ],
)
def test_verdicts_at_batch_one(kind: str, fields: Any, verdict: Verdict) -> None:
    assert only(kind, fields=fields).verdict is verdict


def test_together_is_one_deployment_and_no_product() -> None:
    result = audited(
        proposed("quantize", weights="int4"),
        proposed("speculate", acceptance=0.8, draft_tokens=4),
    )
    alone = [lever.tpot.interval.mid for lever in result.levers]
    joint = result.baseline.estimate.tpot_ms.mid / result.combined.estimate.tpot_ms.mid
    assert max(alone) < joint < alone[0] * alone[1]


def test_a_batch_is_judged_by_throughput() -> None:
    lever = only("batch", "7x throughput", {"batch": 8})
    assert lever.speedup.metric == "throughput"
    assert 6 < lever.speedup.interval.mid <= 8
    assert lever.score < 0
    assert lever.claim is not None
    assert lever.claim.verdict is ClaimVerdict.PLAUSIBLE


@pytest.mark.parametrize(
    "claim",
    ["3x per GEMM", "25% fewer FLOPs", "TTFT drops 40%", "same quality", "at batch 64, 3x"],
)
def test_a_claim_about_something_else_is_not_judged_on_the_step(claim: str) -> None:
    lever = only("quantize", claim, {"weights": "int4"})
    assert lever.claim is not None
    assert lever.claim.verdict is None
    assert lever.claim.reason


def test_facts_tell_given_from_settings_from_assumed() -> None:
    proposal = Proposal(SOURCE, SPAN, hardware=Stated("2 x H200", "given", SPAN))
    result, _problems = audit(proposal, Defaults({"model": "Qwen3-8B"}))
    assert result is not None
    origins = {name: fact.origin for name, fact in result.context.facts.items()}
    assert origins["hardware"] == "given"
    assert origins["model"] == "settings"
    assert origins["batch"] == "assumed"
    assert result.context.deployment.parallelism.tensor == 2


def test_stated_splits_win_over_the_count() -> None:
    splits = Splits(tensor=Stated(2), pipeline=Stated(2))
    result = audited(hardware=Stated("4 x H100 SXM"), splits=splits)
    assert result.context.deployment.devices == 4
    only_pipeline = audited(
        hardware=Stated("4 x H100 SXM"), splits=Splits(pipeline=Stated(4))
    ).context.deployment
    assert only_pipeline.parallelism.tensor == 1


def test_an_ambiguous_name_keeps_its_candidates() -> None:
    result = audited(hardware=Stated("A100"))
    assert len(result.context.devices) == 4


def test_every_unknown_name_is_named_at_once() -> None:
    result, problems = audit(
        Proposal(
            SOURCE,
            SPAN,
            model=Stated("Lama-3.1-8B"),
            hardware=Stated("H1000"),
            weights=Stated("int44"),
        )
    )
    assert result is None
    assert [found.rule for found in problems] == ["E906", "E906", "E906"]
    assert "Llama-3.1-8B" in problems[0].message


def test_an_unknown_student_hides_no_other_lever() -> None:
    levers = (*proposed("distill", model="Nonesuch-3B"), *proposed("cuda_graphs"))
    result, problems = audit(Proposal(SOURCE, SPAN, levers=levers))
    assert result is not None
    assert [lever.lever.kind for lever in result.levers] == ["cuda_graphs"]
    assert [found.rule for found in problems] == ["E906"]
