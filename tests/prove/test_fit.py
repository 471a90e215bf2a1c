from __future__ import annotations

from pathlib import Path

import pytest

from advisor import cli
from advisor.audit import audit
from advisor.config import SettingsError, find_settings
from advisor.context import Defaults
from advisor.deployment import Deployment, find_model
from advisor.finding import Finding
from advisor.proposal import Proposal
from advisor.prove.fit import fit_of
from advisor.prove.record import RunFileError, to_json
from advisor.prove.session import Wanted, run
from advisor.readers import read
from advisor.reports.style import Style
from advisor.reports.table import audit_text
from advisor.roofline import predict
from advisor.source import Source
from tests.prove.simulated import SimulatedMachine

MODEL = find_model("Qwen2.5-0.5B")
SAME = """\
rooflint: 1
model: Qwen2.5-0.5B
weights: fp32
lm_head: fp32
kv_cache: fp32
workload: {batch: 1, context: 128}
measured: prove.json
"""


def measured(machine: SimulatedMachine) -> str:
    return to_json(run(machine, Wanted(MODEL, "fp32", 1, 128, 9, 5.0), lambda _text: None))


@pytest.fixture(scope="module")
def text() -> str:
    return measured(SimulatedMachine(bandwidth_gbs=20.0, fixed_ms=24.0, noise=0.001))


@pytest.fixture
def folder(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prove.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proposal(folder: Path, content: str) -> Proposal:
    path = folder / "proposal.yaml"
    path.write_text(content)
    (one,) = read(Source(str(path), content), named=True).proposals
    return one


def problems(folder: Path, content: str) -> tuple[Finding, ...]:
    judged, found = audit(proposal(folder, content), Defaults())
    assert judged is None
    return found


def test_the_step_that_was_measured_has_the_time_that_was_measured(folder: Path) -> None:
    judged, found = audit(proposal(folder, SAME), Defaults())
    assert judged is not None, found
    # 1.98 GB at 20 GB/s, and 24 ms.
    assert judged.baseline.estimate.expected_ms.mid == pytest.approx(98.9 + 24.0, rel=0.02)
    assert judged.context.deployment.hardware.name == "A simulated processor"
    assert judged.context.measured_tpot_ms == pytest.approx(98.9 + 24.0, rel=0.02)


def test_another_model_on_the_machine_has_its_bandwidth_and_fixed_time(folder: Path) -> None:
    other = SAME.replace("Qwen2.5-0.5B", "Qwen2.5-1.5B")
    judged, found = audit(proposal(folder, other), Defaults())
    assert judged is not None, found
    # 28 layers instead of 24, 1 ms each; 1.544e9 weights in fp32 at 20 GB/s.
    expected = 28.0 + 1.5437e9 * 4 / 20e6
    assert judged.baseline.estimate.expected_ms.mid == pytest.approx(expected, rel=0.08)
    assert judged.context.measured_tpot_ms is None
    shown = audit_text(judged, Style())
    assert "measured: this machine, in prove.json; times are fitted to it" in shown


def test_what_stays_fixed_limits_what_fewer_bytes_give(text: str, tmp_path: Path) -> None:
    (tmp_path / "prove.json").write_text(text)
    lever = "levers: [{kind: quantize, weights: int8, lm_head: int8}]\n"
    judged, found = audit(proposal(tmp_path, SAME + lever), Defaults())
    assert judged is not None, found
    (one,) = judged.levers
    # (98.9 + 24) / (98.9 / 3.97 + 24) = 2.5, not 3.97.
    assert 1.8 < one.speedup.interval.mid < 3.0


def test_a_proposal_about_other_hardware_is_told_so(folder: Path) -> None:
    (one,) = problems(folder, SAME + "hardware: H100 SXM\n")
    assert one.rule == "E906"
    assert "A simulated processor" in one.message
    assert one.start.line == 7


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.json", "no such file"),
        ("../prove.json", "outside the proposal's folder"),
        ("/etc/prove.json", "outside the proposal's folder"),
        ("other.json", "no run of rooflint prove"),
        ("cut.json", "truncated"),
    ],
)
def test_a_run_that_cannot_be_read_is_a_finding(
    folder: Path, text: str, name: str, message: str
) -> None:
    (folder / "other.json").write_text("{}")
    (folder / "cut.json").write_text(text[:500])
    (one,) = problems(folder, SAME.replace("prove.json", name))
    assert one.rule == "E901"
    assert message in one.message
    assert one.start.line == 7


def test_a_spoilt_run_fits_nothing(folder: Path) -> None:
    (folder / "prove.json").write_text(measured(SimulatedMachine(noise=0.8)))
    (one,) = problems(folder, SAME)
    assert "nothing can be fitted" in one.message


def test_a_run_without_a_baseline_fits_nothing() -> None:
    empty = run(SimulatedMachine(interrupt_after=1), Wanted(MODEL, "fp32", 1, 128, 9, 5.0), print)
    with pytest.raises(RunFileError, match="no baseline was measured"):
        fit_of(empty, "prove.json")


def test_settings_name_a_run_for_all_proposals(folder: Path) -> None:
    (folder / "rooflint.toml").write_text('[context]\nmeasured = "prove.json"\n')
    below = folder / "proposals"
    below.mkdir()
    settings = find_settings(folder).settings
    judged, found = audit(
        proposal(below, SAME.replace("measured: prove.json\n", "")), Defaults(settings.context)
    )
    assert judged is not None, found
    assert judged.baseline.estimate.expected_ms.mid == pytest.approx(122.9, rel=0.02)
    assert judged.context.facts["measured"].origin == "settings"
    # A proposal about other hardware is judged without the run.
    other = proposal(below, SAME.replace("measured: prove.json", "hardware: H100 SXM"))
    judged, found = audit(other, Defaults(settings.context))
    assert judged is not None, found
    assert "measured" not in judged.context.facts


def test_settings_name_no_run_outside_their_folder(folder: Path) -> None:
    (folder / "rooflint.toml").write_text('[context]\nmeasured = "../prove.json"\n')
    with pytest.raises(SettingsError, match="lies outside"):
        find_settings(folder)


def test_check_reads_it_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "proposal.yaml"
    claim = "levers: [{kind: prune, sparsity: 50%, storage: dense, claim: 1.8x}]\n"
    path.write_text(SAME + claim)
    assert cli.run(["check", str(path)]) == 1
    assert "FLP002" in capsys.readouterr().out


def test_a_run_on_a_known_gpu_keeps_the_catalogs_device() -> None:
    machine = SimulatedMachine(bandwidth_gbs=3000.0, gflops=6e5, fixed_ms=1.0, noise=0.001)
    machine.device, machine.name, machine.sixteen_bit = "cuda", "NVIDIA H100 80GB HBM3", "bf16"
    kept = run(machine, Wanted(MODEL, "bf16", 1, 128, 9, 5.0), lambda _text: None)
    fit = fit_of(kept, "prove.json")
    assert fit.device.bandwidth_gbs == 3350
    assert fit.reached == pytest.approx(3000 / 3350, rel=0.03)
    deployment = Deployment(MODEL, fit.device, weights="bf16", context=128)
    # 0.99 GB at 3,000 GB/s and 1 ms.
    assert predict(fit.applied(deployment)).expected_ms.mid == pytest.approx(1.33, rel=0.03)
