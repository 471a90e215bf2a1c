"""Runs that were recorded on a real machine, each judged right: see docs/prove.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.prove.fit import fit_of
from advisor.prove.record import RunFileError, read_run
from advisor.prove.verdict import LeverRow, Verdict, judge

FILES = Path(__file__).resolve().parents[2] / "fixtures" / "benchmarks"


def verdict_of(name: str) -> Verdict:
    verdict = judge(read_run(FILES / f"prove_{name}.json"))
    assert verdict is not None
    return verdict


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {test.name: test.result for test in verdict.tests}


def levers(verdict: Verdict) -> dict[str, LeverRow]:
    return {row.name: row for row in verdict.levers}


def test_one_token_of_a_model_of_2_gb_is_memory_bound() -> None:
    verdict = verdict_of("bandwidth")
    assert verdict.bound == "memory"
    # 1.989 GB in 136.3 ms are 14.6 GB/s, of 15.9 that the machine streams.
    assert verdict.mbu == pytest.approx(14.6 / 15.9, abs=0.01)
    found = outcomes(verdict)
    assert found["zeros stored dense"] == "shown"
    assert found["half the MLP channels removed"] == "shown"
    assert found["FLOPs doubled at equal bytes"] == "shown"
    assert found["int4-g128 weights"] == "shown"
    # No BF16 instructions: half the bytes, and as long.
    assert found["bf16 weights"] == "refuted"
    assert not levers(verdict)["bf16 weights"].agrees


def test_rows_that_are_gone_are_predicted_within_a_tenth() -> None:
    rows = levers(verdict_of("bandwidth"))
    for name in ("half the MLP channels removed", "three quarters of them removed"):
        assert abs(rows[name].error) < 0.1
        assert rows[name].agrees


def test_64_sequences_of_a_small_model_are_compute_bound() -> None:
    verdict = verdict_of("compute")
    assert verdict.bound == "compute"
    assert outcomes(verdict)["FLOPs doubled at equal bytes"] == "refuted"
    assert outcomes(verdict)["zeros stored dense"] == "shown"


def test_a_step_of_half_a_millisecond_is_bound_by_its_launches() -> None:
    verdict = verdict_of("host")
    assert verdict.bound == "overhead"
    assert verdict.follows is not None
    assert verdict.follows.neither > 0.5


def test_two_threads_among_other_programs_decide_nothing() -> None:
    verdict = verdict_of("contaminated")
    assert verdict.bound == "undecided"
    assert verdict.doubts
    assert set(outcomes(verdict).values()) == {"undecided"}
    with pytest.raises(RunFileError, match="nothing can be fitted"):
        fit_of(read_run(FILES / "prove_contaminated.json"), "prove_contaminated.json")


def test_a_recorded_run_fits_its_machine() -> None:
    fit = fit_of(read_run(FILES / "prove_bandwidth.json"), "prove_bandwidth.json")
    # 15.3 of 15.9 GB/s; 6.1 ms over 24 layers.
    assert fit.reached == pytest.approx(15.3 / 15.9, abs=0.01)
    assert fit.layer_ms == pytest.approx(6.1 / 24, rel=0.05)
