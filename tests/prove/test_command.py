from __future__ import annotations

import io
import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor import cli
from advisor.deployment import find_model
from advisor.prove.fit import fit_of
from advisor.prove.record import RunFileError, read_run, run_of, to_json
from advisor.prove.session import Wanted, run
from advisor.prove.verdict import judge
from advisor.reports.prove import prove_json
from tests.prove.simulated import SimulatedMachine

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "fixtures" / "benchmarks"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("COLUMNS", "120")

    def prove(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(["prove", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return prove


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of Qwen2.5-0.5B on a machine of 20 GB/s with 1 ms of fixed time."""
    machine = SimulatedMachine(bandwidth_gbs=20.0, fixed_ms=1.0)
    wanted = Wanted(find_model("Qwen2.5-0.5B"), "fp32", 1, 128, 9, 5.0)
    path = tmp_path_factory.mktemp("run") / "prove.json"
    path.write_text(to_json(run(machine, wanted, lambda _text: None)))
    return path


def changed(record: Path, folder: Path, change: Callable[[Any], object]) -> Path:
    data = json.loads(record.read_text())
    change(data)
    path = folder / "prove.json"
    path.write_text(json.dumps(data))
    return path


# Without torch


def test_without_torch_it_says_what_to_install(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "advisor.prove.torch_machine", raising=False)
    monkeypatch.delitem(sys.modules, "advisor.prove.torch_step", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = call("--model", "Qwen2.5-0.5B")
    assert (code, out) == (2, "")
    assert "pip install 'rooflint[prove]'" in err
    assert err.count("\n") == 1


def test_the_extra_that_it_names_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(part.startswith("torch") for part in project["optional-dependencies"]["prove"])


def test_usage(call: Call) -> None:
    assert call()[2].startswith("rooflint: which model?")
    code, _out, err = call("--model", "Lama-3.1-8B")
    assert code == 2
    assert "Llama-3.1-8B" in err
    assert call("--model", "x", "--device", "tpu")[0] == 2
    assert call("--rounds", "2", "--model", "x")[0] == 2


# Measuring


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> SimulatedMachine:
    machine = SimulatedMachine()
    monkeypatch.setattr("advisor.commands.prove._hardware", lambda _options: machine)
    return machine


def test_a_machine_is_measured_and_the_run_kept(
    call: Call, simulated: SimulatedMachine, tmp_path: Path
) -> None:
    path = tmp_path / "prove.json"
    code, out, err = call("--model", "Qwen2.5-0.5B", "--rounds", "5", "--save", str(path))
    assert (code, err) == (0, "")
    assert "memory-bound" in out
    kept = read_run(path)
    assert (kept.baseline.weights, kept.baseline.batch, kept.baseline.context) == ("fp32", 1, 512)
    assert simulated.steps > 100


def test_progress_is_told_to_whoever_watches(
    call: Call, simulated: SimulatedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _code, out, err = call("--model", "Qwen2.5-0.5B", "--rounds", "3")
    assert simulated.steps
    assert "placebo: round 3 of 3" in err
    assert "round" not in out
    assert err.endswith("\r\x1b[K")


def test_an_interruption_is_told_and_shows_what_there_is(
    call: Call, simulated: SimulatedMachine
) -> None:
    simulated.interrupt_after = 60
    code, out, _err = call("--model", "Qwen2.5-0.5B", "--rounds", "7")
    assert code == 0
    assert "interrupted: what was measured until then is shown" in out
    assert "predicted against measured" in out


def test_formats_that_cannot_be_measured_are_said(call: Call, simulated: SimulatedMachine) -> None:
    code, _out, err = call("--model", "Qwen2.5-0.5B", "--weights", "int9")
    assert code == 2
    assert "unknown number format 'int9'" in err
    simulated.missing = ("fp8",)
    code, out, err = call("--model", "Qwen2.5-0.5B", "--weights", "fp8")
    assert (code, out) == (2, "")
    assert "nothing was measured: baseline: no kernel for fp8" in err


def test_too_little_memory_is_one_message(call: Call, simulated: SimulatedMachine) -> None:
    simulated.memory_bytes = 1e8
    code, out, err = call("--model", "Llama-3.1-8B")
    assert (code, out) == (2, "")
    assert "not even one layer" in err


# A run that was kept


def test_a_run_is_judged_again(call: Call, record: Path) -> None:
    code, out, err = call("--from", str(record))
    assert (code, err) == (0, "")
    assert "memory-bound: " in out
    assert "predicted against measured, per token" in out
    assert "tokens per second" in out


@pytest.mark.parametrize("name", ["llama_bench.json", "vllm_serve.json", "dcgm_dmon.txt"])
def test_results_come_on_standard_input_too(
    call: Call, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    data = (FILES / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    piped = call("--from", "-")
    code, out, err = call("--from", str(FILES / name))
    assert piped == (code, out.replace(str(FILES / name), "-"), err)
    assert code == 0


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "-: the file is empty"),
        (b"\xff\xfe\x00", "-: not a text file in UTF-8"),
        (b"{", "-:1:2: ends in the middle"),
        (b"hello", "-: not a result that this reads"),
    ],
)
def test_standard_input_that_is_no_result_is_said(
    call: Call, monkeypatch: pytest.MonkeyPatch, data: bytes, told: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, out, err = call("--from", "-")
    assert (code, out) == (2, "")
    assert err.startswith(f"rooflint: {told}")


def test_markdown_has_a_row_for_every_lever(call: Call, record: Path) -> None:
    _code, out, _err = call("--from", str(record), "--format", "markdown")
    levers = [one for one in read_run(record).trials if one.name != "baseline"]
    assert all(f"| {one.name} | " in out for one in levers)
    assert "| test | outcome | what it shows | what would have refuted it |" in out


def test_json_holds_the_run_and_its_verdict(call: Call, record: Path) -> None:
    _code, out, _err = call("--from", str(record), "--format", "json")
    data = json.loads(out)
    assert data["verdict"]["bound"] == "memory"
    assert run_of(data, "output") == read_run(record)
    # 1.98 GB of weights at 20 GB/s: 98.9 ms, and 1 ms of fixed time.
    assert data["verdict"]["baseline_ms"] == pytest.approx(99.9, rel=0.02)


def test_the_sweep_is_drawn(call: Call, record: Path, tmp_path: Path) -> None:
    path = tmp_path / "sweep.svg"
    assert call("--from", str(record), "--svg", str(path))[0] == 0
    assert path.read_text().startswith("<svg")
    code, _out, err = call("--from", str(record), "--svg", str(tmp_path / "no" / "sweep.svg"))
    assert code == 2
    assert "cannot be written" in err


def test_without_a_sweep_there_is_nothing_to_draw(call: Call, record: Path, tmp_path: Path) -> None:
    def drop(data: Any) -> None:
        data["trials"] = [one for one in data["trials"] if one["group"] != "batch"]

    path = changed(record, tmp_path, drop)
    code, _out, err = call("--from", str(path), "--svg", str(tmp_path / "sweep.svg"))
    assert code == 2
    assert "nothing to draw" in err
    assert call("--from", str(path))[0] == 0


def test_a_run_of_nothing_says_why(call: Call, record: Path, tmp_path: Path) -> None:
    def empty(data: Any) -> None:
        data.update(trials=[], notes=["no time was left"], ended="time")

    code, out, err = call("--from", str(changed(record, tmp_path, empty)))
    assert (code, out) == (2, "")
    assert "nothing was measured: no time was left" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(version=9), "version 9"),
        (lambda data: data.update(ended="later"), "ended is done, time or interrupted"),
        (lambda data: data.update(trials={}), "trials is a list"),
        (lambda data: data.update(trials=[3]), "trials[0] is a mapping"),
        (lambda data: data.update(notes=[3]), "notes is a list of texts"),
        (lambda data: data.update(busy="all"), "busy is a number"),
        (lambda data: data.pop("machine"), "machine is missing"),
        (lambda data: data["machine"].update(clock="sun"), "machine.clock is wall, cpu or device"),
        (lambda data: data["machine"].update(name=3), "machine.name is a text"),
        (lambda data: data["machine"].update(bandwidth_gbs=[]), "a list of numbers above 0"),
        (lambda data: data["machine"].update(threads=1.5), "a whole number"),
        (lambda data: data["trials"][0].update(times_ms=[0.0]), "times_ms[0] is a finite number"),
        (lambda data: data["trials"][0].update(times_ms=["9 ms"]), "times_ms[0] is a number"),
        (lambda data: data["trials"][0].update(times_ms=[float("nan")]), "a finite number above 0"),
        (lambda data: data["trials"][0].update(predicted=[2, 1]), "three rising numbers"),
        (lambda data: data["trials"][0].update(batch=True), "batch is a number"),
        (lambda data: data["trials"][0].update(batch=1e300), "batch is a finite number"),
        (lambda data: data["trials"][0].update(name="first"), "begin with 'baseline'"),
        (lambda data: data["trials"][2].update(name=data["trials"][1]["name"]), "of their own"),
        (lambda data: data["trials"][-4].update(batch=1), "rising batch"),
    ],
)
def test_impossible_runs_are_refused_in_one_message(
    record: Path, tmp_path: Path, change: Callable[[Any], object], message: str
) -> None:
    path = changed(record, tmp_path, change)
    with pytest.raises(RunFileError) as raised:
        read_run(path)
    assert message in str(raised.value)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_run_with_any_field_changed_is_judged_or_refused_in_words(
    record: Path, data: st.DataObject
) -> None:
    """A proposal may name any file: nothing in it is trusted."""
    run_data = json.loads(record.read_text())
    part = data.draw(st.sampled_from([run_data, run_data["machine"], run_data["baseline"],
                                      *run_data["trials"]]))  # fmt: skip
    name = data.draw(st.sampled_from(sorted(part)))
    part[name] = data.draw(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9),
            st.lists(st.floats(), max_size=3), st.just({}),
        )
    )  # fmt: skip
    try:
        changed_run = run_of(run_data, "prove.json")
        prove_json(changed_run, judge(changed_run))
        fit_of(changed_run, "prove.json")
    except RunFileError as error:
        assert str(error).startswith("prove.json: ")  # noqa: PT017


def test_a_truncated_run_and_a_foreign_file(record: Path, tmp_path: Path, call: Call) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text(record.read_text()[:900])
    code, _out, err = call("--from", str(cut))
    assert code == 2
    assert "truncated" in err
    with pytest.raises(RunFileError, match="no run of rooflint prove"):
        read_run(FILES / "vllm_serve.json")


# Other tools' results


def test_a_benchmark_is_judged_on_the_hardware_that_is_named(call: Call) -> None:
    path = str(FILES / "vllm_serve.json")
    _code, out, _err = call("--from", path, "--hardware", "H100 SXM")
    assert "memory-bound: MBU 71%" in out
    _code, out, _err = call("--from", path)
    assert "MEA001: the file does not say which hardware it was" in out
    _code, out, _err = call("--from", path, "--hardware", "H1000 SXN")
    assert "MEA001" in out
    assert "H1000 SXN" in out


def test_options_come_before_what_the_file_says(call: Call) -> None:
    path = str(FILES / "llama_bench.json")
    code, out, _err = call(
        "--from", path, "--hardware", "RTX 5090", "--weights", "q4_k_m", "--format", "json"
    )
    assert code == 0
    _prompt, decode = json.loads(out)["results"]
    # A file of 4.92 GB, of which 0.30 GB are the input embedding; 100 tokens/s of 1,792 GB/s.
    assert decode["mbu"] == pytest.approx((4.92 - 0.30) * 100 / 1792, rel=0.02)


def test_a_benchmark_of_four_gpus_is_judged_by_what_each_reads(call: Call) -> None:
    _code, out, _err = call("--from", str(FILES / "trtllm_bench.json"), "--format", "json")
    (one,) = json.loads(out)["results"]
    # 68.5 GB of FP8 linears, 2.1 GB of 16-bit head, 0.19 GB of FP8 cache; a quarter each, 9.7 ms.
    assert one["mbu"] == pytest.approx((68.45 + 2.1 + 0.19) / 4 / 9.7 / 3.350, rel=0.01)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()))
def test_every_file_is_told_in_every_form(call: Call, name: str, form: str) -> None:
    code, out, err = call("--from", str(FILES / name), "--format", form)
    assert (code, err) == (0, "")
    assert "bound" in out or "undecided" in out


def test_a_file_of_no_known_form_names_those_that_are(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"tokens": 3}')
    code, out, err = call("--from", str(path))
    assert (code, out) == (2, "")
    assert "llama-bench" in err
    assert err.count("\n") == 1
