from __future__ import annotations

import json
from dataclasses import replace

import pytest

from advisor.deployment import Deployment, find_model
from advisor.ledger.shapes import Architecture
from advisor.levers.reshape import with_depth
from advisor.prove.record import Run, RunFileError, run_of, to_json
from advisor.prove.session import Wanted, run
from advisor.prove.statistics import paired_speedup
from advisor.prove.verdict import Verdict, judge
from tests.prove.simulated import SimulatedMachine

MODEL = find_model("Qwen2.5-0.5B")


def wanted(
    model: Architecture = MODEL, *, batch: int = 1, rounds: int = 9, minutes: float = 5.0
) -> Wanted:
    return Wanted(model, "fp32", batch, 128, rounds, minutes)


def ignore(_text: str) -> None: ...


def verdict_of(machine: SimulatedMachine, *, batch: int = 1) -> tuple[Run, Verdict]:
    measured = run(machine, wanted(batch=batch), ignore)
    verdict = judge(measured)
    assert verdict is not None
    return measured, verdict


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {test.name: test.result for test in verdict.tests}


def test_a_machine_that_reads_all_the_time_is_memory_bound() -> None:
    # 2.0 GB in fp32 at 20 GB/s: 99 ms, of which 1 ms is fixed; 1 GFLOP takes 2.5 ms.
    _measured, verdict = verdict_of(SimulatedMachine(bandwidth_gbs=20.0, fixed_ms=1.0))
    assert verdict.bound == "memory"
    assert verdict.mbu == pytest.approx(0.99, abs=0.02)
    assert verdict.line is not None
    assert verdict.line.gbs == pytest.approx(20.0, rel=0.03)
    found = outcomes(verdict)
    assert found["zeros stored dense"] == "shown"
    assert found["half the MLP channels removed"] == "shown"
    assert found["FLOPs doubled at equal bytes"] == "shown"
    assert found["int8 weights"] == "shown"
    assert verdict.doubts == ()


def test_a_machine_that_waits_for_its_host_is_bound_by_overhead() -> None:
    # 2.0 GB at 2,000 GB/s: 1 ms; the other 20 ms are the host's.
    _measured, verdict = verdict_of(
        SimulatedMachine(bandwidth_gbs=2000.0, gflops=1e6, fixed_ms=20.0)
    )
    assert verdict.bound == "overhead"
    assert verdict.follows is not None
    assert verdict.follows.neither > 0.9
    found = outcomes(verdict)
    assert found["bandwidth used (MBU)"] == "refuted"
    assert found["half the MLP channels removed"] == "refuted"
    assert found["int8 weights"] == "refuted"
    assert found["FLOPs doubled at equal bytes"] == "shown"


def test_a_large_batch_on_slow_arithmetic_is_compute_bound() -> None:
    # 64 sequences: 63 GFLOP at 100 GFLOP/s take 630 ms, the bytes 100 ms.
    _measured, verdict = verdict_of(SimulatedMachine(gflops=100.0, fixed_ms=1.0), batch=64)
    assert verdict.bound == "compute"
    assert outcomes(verdict)["FLOPs doubled at equal bytes"] == "refuted"


@pytest.mark.parametrize(
    ("machine", "sign"),
    [
        (SimulatedMachine(noise=0.8), "varies by"),
        (SimulatedMachine(drift=0.004), "moved by"),
        (SimulatedMachine(bandwidth_gbs=20.0, fixed_ms=-60.0), "cache"),
    ],
    ids=["noise", "drift", "read from a cache"],
)
def test_a_contaminated_run_decides_nothing(machine: SimulatedMachine, sign: str) -> None:
    _measured, verdict = verdict_of(machine)
    assert verdict.bound == "undecided"
    assert any(sign in doubt for doubt in verdict.doubts)


def test_a_process_that_had_half_its_core_says_so() -> None:
    machine = SimulatedMachine()
    machine.busy = 0.5
    _measured, verdict = verdict_of(machine)
    assert verdict.bound == "undecided"
    assert "50%" in verdict.because
    on_the_core = replace(_measured, machine=replace(_measured.machine, clock="cpu"))
    other = judge(on_the_core)
    assert other is not None
    assert other.bound == "memory"
    assert any("50%" in doubt for doubt in other.doubts)


def test_the_knee_is_where_computing_takes_as_long_as_reading() -> None:
    # 2 * 494M FLOP a token at 200 GFLOP/s: 4.9 ms; 1.98 GB at 20 GB/s: 98.9 ms: batch 20.
    _measured, verdict = verdict_of(SimulatedMachine(gflops=200.0, fixed_ms=0.0))
    assert verdict.knee is not None
    assert verdict.knee.reached
    assert verdict.knee.batch == pytest.approx(20.0, rel=0.15)


def test_formats_without_a_kernel_are_left_out_and_said() -> None:
    measured, verdict = verdict_of(SimulatedMachine(missing=("int4-g128",)))
    assert [trial.name for trial in measured.group("weights")] == [
        "baseline",
        "bf16 weights",
        "int8 weights",
    ]
    assert any("int4-g128" in note and "no kernel" in note for note in measured.notes)
    assert "int4-g128 weights" not in outcomes(verdict)


def test_all_variants_of_a_group_have_the_same_rounds() -> None:
    measured = run(SimulatedMachine(), wanted(rounds=5), ignore)
    assert {len(trial.times_ms) for trial in measured.trials} == {5}
    assert [trial.name for trial in measured.trials if trial.name == "baseline"] == ["baseline"] * 4


def test_removing_rows_predicts_what_the_simulated_bytes_say() -> None:
    # Half of the MLP's 3 * 4864 * 896 * 24 weights: 157M of 494M are gone, 1.466 times fewer.
    measured, _verdict = verdict_of(SimulatedMachine(fixed_ms=0.0, noise=0.0))
    placebo = {trial.name: trial for trial in measured.group("placebo")}
    half = placebo["half the MLP channels removed"]
    ratio = paired_speedup(placebo["baseline"].times_ms, half.times_ms)
    assert ratio.mid == pytest.approx(494 / (494 - 156.9), rel=0.01)
    assert half.predicted[0] <= ratio.mid <= half.predicted[2]


def test_an_interruption_keeps_the_rounds_that_are_done() -> None:
    # 6 variants, warmed up twice each: round 4 of the placebo group ends after 12 + 24 steps.
    measured = run(SimulatedMachine(interrupt_after=39), wanted(rounds=9), ignore)
    assert measured.ended == "interrupted"
    assert {trial.group for trial in measured.trials} == {"placebo"}
    assert {len(trial.times_ms) for trial in measured.trials} == {4}
    assert judge(measured) is not None


def test_an_early_interruption_leaves_nothing_to_judge() -> None:
    measured = run(SimulatedMachine(interrupt_after=3), wanted(), ignore)
    assert measured.trials == ()
    assert judge(measured) is None


def test_no_time_left_is_said_for_every_group() -> None:
    measured = run(SimulatedMachine(), wanted(minutes=-1.0), ignore)
    assert measured.ended == "time"
    assert measured.trials == ()
    assert sum("no time was left" in note for note in measured.notes) == 4


def test_a_model_that_does_not_fit_gives_up_layers_and_says_so() -> None:
    machine = SimulatedMachine()
    machine.memory_bytes = 80e9
    # Llama-3.1-8B in fp32: 0.87 GB a layer and 4.2 GB of embedding and head; 4.4 times that in
    # 60 % of 80 GB: 10.9 GB, 7 layers.
    measured = run(machine, wanted(find_model("Llama-3.1-8B")), ignore)
    assert (measured.baseline.layers, measured.baseline.all_layers) == (7, 32)
    assert "7 of 32 layers" in measured.notes[0]


def test_a_model_of_which_no_layer_fits_is_refused() -> None:
    machine = SimulatedMachine()
    machine.memory_bytes = 1e9
    with pytest.raises(RunFileError, match=r"not even one layer of .*Llama-3\.1-8B"):
        run(machine, wanted(find_model("Llama-3.1-8B")), ignore)


def test_a_run_survives_its_json() -> None:
    measured = run(SimulatedMachine(), wanted(with_depth(MODEL, 2), rounds=3), ignore)
    assert run_of(json.loads(to_json(measured)), "run.json") == measured


def test_launches_are_taken_out_by_a_graph_where_the_host_is_behind() -> None:
    machine = SimulatedMachine(fixed_ms=20.0, graph_saves_ms=18.0)
    machine.device = "cuda"
    measured, verdict = verdict_of(machine)
    assert outcomes(verdict)["launches taken out by a graph"] == "shown"
    row = next(lever for lever in verdict.levers if lever.group == "graph")
    # 98.9 ms of reading: (98.9 + 20) / (98.9 + 2).
    assert row.measured.mid == pytest.approx(118.9 / 100.9, rel=0.02)
    assert [trial.name for trial in measured.group("graph")][1] == "captured as a graph"
    idle = SimulatedMachine()
    idle.device = "cuda"
    assert outcomes(verdict_of(idle)[1])["launches taken out by a graph"] == "refuted"


def test_a_sweep_ends_where_memory_ends() -> None:
    measured, verdict = verdict_of(SimulatedMachine(largest_context=1024))
    assert [trial.context for trial in measured.group("context")] == [128, 512]
    assert any(note.startswith("context 2048: not enough memory") for note in measured.notes)
    assert "context sweep" in outcomes(verdict)


def test_a_cache_that_is_read_slowly_is_told() -> None:
    # 24.6 kB a token: 2,048 tokens are 50 MB, 0.05 ms at 1,000 GB/s, below the noise.
    fast = SimulatedMachine(bandwidth_gbs=1000.0, gflops=1e6, fixed_ms=50.0)
    assert outcomes(verdict_of(fast)[1])["context sweep"] == "undecided"
    # At 1 GFLOP/s attention computes for longer than it reads.
    slow = SimulatedMachine(bandwidth_gbs=1000.0, gflops=20.0, fixed_ms=0.0, noise=0.0001)
    assert outcomes(verdict_of(slow)[1])["context sweep"] == "refuted"


def test_dear_variants_end_a_sweep() -> None:
    measured = run(SimulatedMachine(gflops=22.0), wanted(), ignore)
    # 45 ms of computing a token and 99 ms of reading: 7 times the first step at batch 16, 14 at 32.
    assert max(trial.batch for trial in measured.group("batch")) == 32


def test_an_interruption_within_the_first_rounds_keeps_none_of_them() -> None:
    measured = run(SimulatedMachine(interrupt_after=15), wanted(), ignore)
    assert measured.trials == ()
    assert any("too few rounds" in note for note in measured.notes)


def test_time_that_runs_out_ends_a_group_after_three_rounds() -> None:
    from advisor.prove.experiments import measure, plan  # noqa: PLC0415
    from advisor.prove.session import ENGINE  # noqa: PLC0415

    deployment = Deployment(
        with_depth(MODEL, 1), "Xeon 8480+", weights="fp32", engine=ENGINE, context=16
    )
    groups = plan(deployment, "bf16", graphs=False)[:1]
    asked = iter([False] + [True] * 100)
    trials = list(
        measure(
            SimulatedMachine(),
            groups,
            rounds=50,
            out_of_time=lambda: next(asked),
            progress=ignore,
            note=ignore,
        )
    )
    assert {len(trial.times_ms) for trial in trials} == {3}


def test_a_run_without_its_controls_falls_back_on_the_bandwidth_used() -> None:
    measured = run(SimulatedMachine(), wanted(), ignore)
    alone = replace(measured, trials=measured.group("batch"))
    verdict = judge(alone)
    assert verdict is not None
    assert verdict.follows is None
    assert (verdict.bound, "streaming bandwidth" in verdict.because) == ("memory", True)
    slow = run(SimulatedMachine(fixed_ms=150.0), wanted(), ignore)
    verdict = judge(replace(slow, trials=slow.group("batch")))
    assert verdict is not None
    assert verdict.bound == "undecided"


def test_no_single_limit_is_undecided() -> None:
    # 99 ms of reading hide 66 ms of computing, which show when doubled; 66 ms are fixed.
    machine = SimulatedMachine(gflops=15.0, fixed_ms=66.0, noise=0.001)
    _measured, verdict = verdict_of(machine)
    assert verdict.bound == "undecided"
    assert "no single limit" in verdict.because


def test_weights_that_lie_elsewhere_may_differ_and_are_told() -> None:
    measured = run(SimulatedMachine(noise=0.001), wanted(), ignore)
    slower = tuple(
        replace(one, times_ms=tuple(1.08 * time for time in one.times_ms))
        if one.name.startswith(("the same", "half the weights zero"))
        else one
        for one in measured.trials
    )
    verdict = judge(replace(measured, trials=slower))
    assert verdict is not None
    assert any("elsewhere in memory differ by 7%" in doubt for doubt in verdict.doubts)
    # As far off as the same weights elsewhere: no sign that zeros do anything.
    assert outcomes(verdict)["zeros stored dense"] == "shown"


def test_zeros_that_pay_refute_the_claim_that_they_do_not() -> None:
    measured = run(SimulatedMachine(noise=0.001), wanted(), ignore)
    faster = tuple(
        replace(one, times_ms=tuple(0.7 * time for time in one.times_ms))
        if one.name.startswith("half the weights zero")
        else one
        for one in measured.trials
    )
    verdict = judge(replace(measured, trials=faster))
    assert verdict is not None
    assert outcomes(verdict)["zeros stored dense"] == "refuted"
