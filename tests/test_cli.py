from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor import cli
from advisor.commands import check
from advisor.schema import SCHEMAS

ROOT = Path(__file__).resolve().parent.parent
HEAD = "rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\n"
CLEAN = HEAD + "levers:\n  - {kind: quantize, weights: fp8}\n"
WARNED = HEAD + "levers:\n  - {kind: prune, sparsity: 30%, storage: dense, claim: 1.4x}\n"
WRONG = HEAD + "claim: 2000 tokens/s for one user\n"
BROKEN = HEAD + "levers: [\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (
        ("clean.yaml", CLEAN), ("warned.yaml", WARNED), ("wrong.yaml", WRONG),
        ("broken.yaml", BROKEN),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for variable in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    assert folder.is_dir()

    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return call


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["clean.yaml"], 0),
        (["warned.yaml"], 1),
        (["wrong.yaml"], 1),
        (["broken.yaml"], 1),
        (["missing.yaml"], 1),
        (["warned.yaml", "--fail-on", "warning"], 1),
        (["warned.yaml", "--fail-on", "error"], 0),
        (["warned.yaml", "--fail-on", "info"], 1),
        (["wrong.yaml", "--fail-on", "error"], 1),
        (["warned.yaml", "wrong.yaml", "--fail-on", "error"], 1),
        (["wrong.yaml", "--exit-zero"], 0),
        (["warned.yaml", "--ignore", "FLP"], 1),
        (["warned.yaml", "--ignore", "FLP,clm"], 0),
        (["warned.yaml", "--select", "clm"], 1),
        (["warned.yaml", "--select", "KV,PHS001"], 0),
        (["clean.yaml", "--fail-on", "never"], 2),
        (["clean.yaml", "--select", "FLPX"], 2),
        (["clean.yaml", "--no-such-option"], 2),
    ],
)
def test_exit_codes(run: Run, arguments: list[str], code: int) -> None:
    assert run("check", *arguments)[0] == code


def test_commands_that_only_tell_end_with_0(run: Run) -> None:
    for arguments in (
        ["audit", "warned.yaml"], ["audit", "broken.yaml"], ["explain", "FLP002"], ["explain"],
        ["catalog", "engines"], ["model", "Llama-3.1-8B"], ["schema"], ["predict"], ["--version"],
        ["--help"], ["check", "--help"],
    ):  # fmt: skip
        code, out, _ = run(*arguments)
        assert (code, bool(out)) == (0, True), arguments


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "FLP02"], "FLP002"),
        (["model", "Lama-3.1-8B"], "Llama-3.1-8B"),
        (["predict", "--hardware", "H1000"], "H100"),
        (["predict", "--weights", "int44"], "number format"),
        (["predict", "--context", "many"], "--context"),
        (["predict", "--batch", "0"], "batch"),
        (["catalog", "gpus"], "hardware"),
        (["schema", "proposals"], "proposal"),
        (["check", "clean.yaml", "--select", "FLP02"], "FLP002"),
        (["chekc"], "chekc"),
    ],
)
def test_what_cannot_be_done_is_told_on_standard_error(
    run: Run, arguments: list[str], words: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["predict", "--batch", "0"], "invalid value for '--batch'"),
        (["predict", "--no-such"], "no such option: --no-such"),
        (["catalog", "gpus"], "invalid value for 'name': 'gpus' is not one of"),
        (["catalog"], "missing argument 'name'"),
        (["model", "Llama-3.1-8B", "more"], "got unexpected extra argument"),
        (["chekc"], "no such command 'chekc'"),
        (["predict", "--engine", ""], "--engine: nothing is given"),
        (
            ["predict", "--tp", "99999999999999"],
            "at most 1,099,511,627,776, not 99,999",
        ),
        (["predict", "--weights", "zz"], "'zz'; see rooflint catalog formats"),
        (["sweep", "--from", "0"], "--from: '0' is zero; a count is above zero"),
        (
            ["sweep", "--over", "context", "--to", "x"],
            "--to: cannot read 'x' as a number of",
        ),
        (["explain", "--rules", "missing.py"], "missing.py: no such file"),
    ],
)
def test_every_error_has_one_form(run: Run, arguments: list[str], told: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    first, *others = err.splitlines()
    assert first.startswith("rooflint: ")
    assert told in first
    assert len(others) <= 1
    for line in others:
        assert line.startswith("Try 'rooflint")
        assert line.endswith("--help' for help.")


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    code, out, err = run()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: rooflint ")


def test_the_user_may_name_a_model_anywhere_and_a_proposal_may_not(
    run: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = tmp_path_factory.mktemp("elsewhere") / "mine"
    config.mkdir()
    layer = {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 8}
    (config / "config.json").write_text(
        json.dumps({"model_type": "llama", "num_hidden_layers": 2, "vocab_size": 32_000, **layer})
    )
    estimate = json.loads(run("predict", "--model", str(config), "--format", "json")[1])
    # Two layers of 4 h^2 + 3 h i, two norms each; a final norm; the head; one row of the table.
    layers = 2 * (4 * 1024**2 + 3 * 1024 * 4096 + 2 * 1024) + 1024
    assert estimate["bytes"]["weights"] == 2 * (layers + 32_000 * 1024 + 1024)
    (folder / "models").mkdir()
    (config / "config.json").rename(folder / "models" / "config.json")
    assert run("predict", "--model", "models")[0] == 0
    (folder / "far.yaml").write_text(f"rooflint: 1\nmodel: {config}\n")
    _, out, _ = run("check", "far.yaml")
    assert "lies outside the proposal's folder" in out
    (folder / "rooflint.toml").write_text(f'[context]\nmodel = "{config}/config.json"\n')
    assert run("predict")[0] == 2  # nor may a file of settings
    assert run("predict", "--model", "missing.json")[0] == 2


def test_rules_of_ones_own_are_listed_with_the_others(run: Run, folder: Path) -> None:
    docs = (ROOT / "docs" / "user-rules.md").read_text(encoding="utf-8")
    code = docs.split("```python\n")[1].split("```")[0]
    (folder / "own.py").write_text(code)
    listed = run("explain", "--rules", "own.py")[1]
    assert "  FLP002               pruning-dense-storage\n" in listed
    assert "batch-breaks-promise\n" in listed


def test_a_model_is_called_the_same_everywhere(run: Run) -> None:
    for command in ("predict", "wall", "sweep", "advise"):
        out = run(command, "--model", "Llama-3.1-8B")[1]
        assert "Meta-Llama-3.1-8B" in out
        assert "meta-llama/" not in out


def test_settings_that_cannot_be_read_end_with_2(run: Run, folder: Path) -> None:
    (folder / "rooflint.toml").write_text("strikt = true\n")
    code, out, err = run("check", "clean.yaml")
    assert (code, out) == (2, "")
    assert "rooflint.toml" in err
    assert "'strict'" in err


def test_settings_hold_where_no_flag_says_otherwise(run: Run, folder: Path) -> None:
    (folder / "rooflint.toml").write_text(
        'fail-on = "error"\n[context]\nhardware = "A100 80GB SXM"\n'
    )
    assert run("check", "warned.yaml")[0] == 0
    assert run("check", "warned.yaml", "--fail-on", "warning")[0] == 1
    _, out, _ = run("predict")
    assert "A100 SXM 80GB" in out
    assert "settings: hardware A100 80GB SXM" in out


def test_an_internal_error_is_one_clear_message(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(check, "check_run", fail)
    code, out, err = run("check", "clean.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("rooflint: internal error: ZeroDivisionError: division by zero\n")
    assert "report it" in err
    assert "Traceback" not in err
    with pytest.raises(ZeroDivisionError):
        run("--debug", "check", "clean.yaml")


# Output of check


def test_a_right_file_is_met_with_silence(run: Run) -> None:
    assert run("check", "clean.yaml") == (0, "", "")


def test_one_broken_file_hides_no_other(run: Run) -> None:
    code, out, _ = run("check", "broken.yaml", "missing.yaml", "warned.yaml", "--format", "concise")
    assert code == 1
    rules = [line.split()[2] for line in out.splitlines()[:-1]]
    assert rules == ["E902", "E901", "FLP002"]
    assert out.splitlines()[-1] == "2 errors, 1 warning in 3 files"


def test_a_folder_is_read_when_no_path_is_given(run: Run) -> None:
    _, out, _ = run("check", "--format", "concise")
    assert {line.split(":")[0] for line in out.splitlines()[:-1]} == {
        "broken.yaml", "warned.yaml", "wrong.yaml",
    }  # fmt: skip


def test_frames_show_the_file_and_quiet_leaves_out_the_summary(run: Run) -> None:
    _, out, _ = run("check", "warned.yaml")
    assert "    5 |   - {kind: prune, sparsity: 30%" in out
    assert "      |      ^^^^^^^^^^^" in out
    assert out.splitlines()[-1] == "1 warning in 1 file"
    assert "in 1 file" not in run("check", "warned.yaml", "-q")[1]


@pytest.mark.parametrize(
    "text", [WARNED, "\ufeff" + WARNED, WARNED.replace("\n", "\r\n"), "# 🚀 日本\n" + WARNED]
)
def test_offsets_in_json_point_at_the_decoded_text(run: Run, folder: Path, text: str) -> None:
    (folder / "one.yaml").write_bytes(text.encode())
    code, out, _ = run("check", "one.yaml", "--format", "json")
    assert code == 1
    whole = json.loads(out)
    jsonschema.validate(whole, SCHEMAS["check"]())
    [finding] = whole["findings"]
    start, end = finding["start"]["offset"], finding["end"]["offset"]
    decoded = text.removeprefix("\ufeff")
    assert decoded[start:end] == "kind: prune"
    assert finding["start"]["line"] == 5 + decoded.startswith("#")
    assert finding["start"]["column"] == 6
    assert finding["path"] == "one.yaml"


def test_suppressed_findings_are_counted(run: Run, folder: Path) -> None:
    (folder / "hidden.yaml").write_text(
        WARNED.replace("levers:\n", "levers:\n  # rooflint: ignore[FLP002] kept for history\n")
    )
    assert run("check", "hidden.yaml")[:2] == (0, "")
    summary = json.loads(run("check", "hidden.yaml", "--format", "json")[1])["summary"]
    assert summary == {
        "files": 1, "errors": 0, "warnings": 0, "info": 0, "suppressed": 1, "baselined": 0,
        "stale": 0,
    }  # fmt: skip


def test_a_rule_that_does_not_run_leaves_its_suppression_alone(run: Run, folder: Path) -> None:
    (folder / "hidden.yaml").write_text(
        WARNED.replace("levers:\n", "levers:\n  # rooflint: ignore[FLP002] kept for history\n")
    )
    assert run("check", "hidden.yaml", "--ignore", "FLP002", "--ignore", "CLM")[0] == 0
    (folder / "unused.yaml").write_text("# rooflint: ignore-file[FLP002] no more\n" + CLEAN)
    code, out, _ = run("check", "unused.yaml", "--format", "concise")
    assert code == 1
    assert "SUP004" in out
    assert run("check", "unused.yaml", "--ignore", "SUP")[0] == 0


def test_errors_of_input_cannot_be_ignored(run: Run) -> None:
    assert run("check", "broken.yaml", "--select", "FLP")[0] == 1


# Output of the others


def test_audits_as_text_and_as_json(run: Run) -> None:
    code, out, _ = run("audit", "warned.yaml", "broken.yaml")
    assert code == 0
    assert "prune 30%, stored dense" in out
    assert "broken.yaml:4:9 error E902" in out
    code, out, _ = run("audit", "warned.yaml", "missing.yaml", "--format", "json")
    assert code == 0
    whole = json.loads(out)
    jsonschema.validate(whole, SCHEMAS["audit"]())
    assert [one["path"] for one in whole["audits"]] == ["warned.yaml"]
    assert [(one["rule"], one["path"]) for one in whole["errors"]] == [("E901", "missing.yaml")]


def test_a_prediction_as_text_and_as_json(run: Run) -> None:
    arguments = ["predict", "--model", "Llama-3.1-8B", "--hardware", "H100 SXM", "--batch", "8"]
    _, out, _ = run(*arguments, "--context", "2k", "--kv-cache", "fp8")
    assert "batch 8 | 2,048 tokens | bf16 weights, fp8 KV" in out
    assert "assumed: engine vllm" in out
    _, out, _ = run(*arguments, "--context", "2048", "--tp", "2", "--format", "json")
    estimate: dict[str, Any] = json.loads(out)
    assert list(estimate)[:3] == ["bytes", "flops", "intensity"]
    # 8 sequences of 2,048 tokens of 131,072 bytes.
    assert estimate["bytes"]["kv_read"] == 8 * 2048 * 131_072
    assert estimate["throughput"]["mid"] == pytest.approx(8 * estimate["tokens_per_second"]["mid"])


def test_schemas_are_printed_as_they_are_committed(run: Run) -> None:
    for name in SCHEMAS:
        committed = (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
        assert run("schema", name)[1] == committed


def test_help_is_plain_and_gives_an_example_each(run: Run) -> None:
    _, out, _ = run("--help")
    for command in ("check", "audit", "predict", "explain", "catalog", "model", "schema"):
        assert f"  {command} " in out
        told = run(command, "--help")[1]
        assert f"rooflint {command}" in told.split("Example")[1]
        assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize("command", [["predict"], ["advise"], ["sweep"], ["wall"]])
def test_a_deployment_is_given_in_the_same_options_everywhere(
    run: Run, folder: Path, command: list[str]
) -> None:
    (folder / "other.toml").write_text('[context]\nmodel = "Qwen3-8B"\n')
    code, out, err = run(
        *command, "--hardware", "A100 80GB SXM", "--weights", "fp8", "--kv-cache", "int8",
        "--activations", "bf16", "--lm-head", "fp8", "--engine", "sglang", "--context", "3k",
        "--tp", "2", "--pp", "2", "--dp", "1", "--ep", "1", "--attention-data-parallel", "1",
        "--config", "other.toml",
    )  # fmt: skip
    assert (code, err) == (0, "")
    for words in ("Qwen3-8B", "4 x A100 SXM 80GB", "fp8 weights, int8 KV"):
        assert words in out, command
    assert run(*command, "--config", "other.toml", "--isolated")[0] == 2
    assert "Llama-3.1-8B" in run(*command, "--isolated")[1]


def test_the_protocol_is_of_the_deployment_that_is_given(run: Run) -> None:
    told = run("explain", "prove", "--model", "Qwen3-8B", "--pp", "2", "--isolated")[1]
    assert "Qwen3-8B" in told
    assert "Llama" not in told


def test_a_sweep_without_its_extra_says_how_to_get_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("advisor.sweep", "advisor.reports.sweep"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.delattr("advisor.sweep", raising=False)
    monkeypatch.delattr("advisor.reports.sweep", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    code, out, err = run("sweep")
    assert (code, out) == (2, "")
    assert err == "rooflint: sweep needs numpy: pip install 'rooflint[sweep]'\n"


# The process


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "advisor", *arguments]
    inherited = {"PYTHONPATH": str(ROOT), **os.environ}
    environment = {**inherited, **options.pop("env", {})}
    return subprocess.run(
        command, capture_output=True, timeout=60, check=False, env=environment, **options
    )


def test_standard_input_is_read(folder: Path) -> None:
    done = process("check", "-", "--format", "concise", input=WARNED.encode(), cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith(b"-:5:6: warning FLP002 ")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("--select FLP00", ["FLP001", "FLP002"]),
        ("--ignore flp00", ["flp001", "flp002"]),
        ("--select KV001,FLP00", ["KV001,FLP001", "KV001,FLP002"]),
    ],
)
def test_shells_complete_codes_of_rules(folder: Path, words: str, completed: list[str]) -> None:
    line = {"COMP_WORDS": f"rooflint check {words}", "COMP_CWORD": "3"}
    env = {"_ROOFLINT_COMPLETE": "complete_bash", **line}
    done = process(cwd=folder, env=env)
    assert done.stdout.decode().split()[:2] == completed


def test_a_terminal_that_cannot_show_a_character_gets_its_code(folder: Path) -> None:
    (folder / "one.yaml").write_text(WARNED.replace("claim: 1.4x", 'claim: "1.4x → 日本"'))
    done = process(
        "check", "one.yaml", cwd=folder, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )
    assert done.returncode == 1
    assert b"\\u65e5" in done.stdout


def test_a_reader_that_has_seen_enough_is_met_with_silence(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-m", "advisor", "catalog", "models"]
        done = subprocess.run(
            command, stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False, cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["schema"], ["--help"], ["check", "warned.yaml"]])
def test_output_that_cannot_be_written_is_one_message(folder: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "advisor", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False, cwd=folder,
            env=environment,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == b"rooflint: the output cannot be written: no space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell closes the streams")
@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [
        (">&-", "check warned.yaml", 1),
        (">&-", "--help", 0),
        (">&- 2>&-", "predict --batch x", 2),
        ("2>&-", "predict --batch x", 2),
        ("<&-", "check -", 1),
    ],
)
def test_streams_may_be_closed(folder: Path, closed: str, arguments: str, code: int) -> None:
    line = f'"{sys.executable}" -m advisor {arguments} {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", line], capture_output=True, timeout=60, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == code
    assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="signals are another matter there")
def test_an_interrupt_ends_with_130_and_no_word(folder: Path) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-m", "advisor", "check", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        # A shell starts what it puts in the background with interrupts ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )  # fmt: skip
    assert waiting.stdin is not None
    assert waiting.stderr is not None
    try:
        _wait_until_reading(waiting.pid)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(timeout=30) == 130
        assert waiting.stderr.read() == b""
    finally:
        waiting.kill()
        waiting.communicate()


def _wait_until_reading(pid: int) -> None:
    """Wait until a process does nothing but sleep, which it does for its standard input."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        pytest.skip("this system does not show what a process does")
    asleep = 0
    for _ in range(1000):
        asleep = asleep + 1 if stat.read_text().rpartition(")")[2].split()[0] == "S" else 0
        if asleep == 10:
            return
        time.sleep(0.03)
    raise AssertionError("the process never waited for its input")


def test_colours_follow_the_flag_and_the_environment(folder: Path) -> None:
    def coloured(*arguments: str, **env: str) -> bool:
        return b"\x1b[" in process("check", "warned.yaml", *arguments, cwd=folder, env=env).stdout

    assert not coloured()
    assert coloured("--color", "always", NO_COLOR="1")
    assert coloured(FORCE_COLOR="1", NO_COLOR="")


def test_the_width_follows_the_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    _, out, _ = run("check", "warned.yaml")
    assert max(map(len, out.splitlines())) <= 70


def test_a_terminal_is_told_that_nothing_was_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    code, out, _ = run("check", "clean.yaml", "--color", "never")
    assert (code, out) == (0, "no findings in 1 file\n")
