"""`check` as people run it in a repository: settings, baseline, reports to files, counts."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor import cli
from advisor.checking import audit_paths
from advisor.config_table import CONTEXT
from advisor.proposal import Reading
from advisor.readers import read
from advisor.reports.formats import FORMATS
from advisor.source import Source

HEAD = "rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\n"
CLEAN = HEAD + "levers:\n  - {kind: quantize, weights: fp8}\n"
PRUNED = HEAD + "levers:\n  - {kind: prune, sparsity: 30%, storage: dense, claim: 1.4x}\n"
IMPOSSIBLE = HEAD + "claim: 2000 tokens/s for one user\n"
HIDDEN = PRUNED.replace("levers:\n", "levers:\n  # rooflint: ignore[FLP002] packed at export\n")
BASE = "rooflint-baseline.json"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (
        ("clean.yaml", CLEAN), ("pruned.yaml", PRUNED), ("impossible.yaml", IMPOSSIBLE),
        ("hidden.yaml", HIDDEN), ("broken.yaml", HEAD + "levers: [\n"),
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
        code = cli.run(["check", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def rules(out: str) -> list[str]:
    """Rules of concise lines, the summary left out."""
    return [line.split()[2] for line in out.splitlines() if " in " not in line.split(":")[0]]


# Settings


def settings(folder: Path, text: str) -> None:
    (folder / "rooflint.toml").write_text(text)


def test_files_are_left_out_even_where_they_are_named(run: Run, folder: Path) -> None:
    settings(folder, 'exclude = ["broken.yaml", "pruned.*"]\n')
    _, out, err = run("--format", "concise", "-q")
    assert {line.split(":")[0] for line in out.splitlines()} == {"impossible.yaml"}
    assert err == ""
    code, out, err = run("pruned.yaml", "broken.yaml")
    assert (code, out) == (0, "")
    assert err == "rooflint: pruned.yaml and 1 more: left out by exclude in rooflint.toml\n"


def test_rules_are_left_out_by_file(run: Run, folder: Path) -> None:
    settings(folder, '[per-file-ignores]\n"pruned.yaml" = ["FLP002", "CLM"]\n')
    (folder / "other.yaml").write_text(PRUNED)
    _, out, _ = run("pruned.yaml", "other.yaml", "--format", "concise", "-q")
    assert out.startswith("other.yaml:5:6: warning FLP002")
    assert len(out.splitlines()) == 1


def test_a_suppression_of_a_rule_that_is_left_out_by_file_is_not_unused(
    run: Run, folder: Path
) -> None:
    settings(folder, '[per-file-ignores]\n"hidden.yaml" = ["FLP002", "CLM"]\n')
    assert run("hidden.yaml")[:2] == (0, "")


def test_settings_may_forbid_to_suppress(run: Run, folder: Path) -> None:
    assert run("hidden.yaml")[:2] == (0, "")
    settings(folder, 'no-suppress = ["pruning-dense-storage"]\n')
    code, out, _ = run("hidden.yaml", "--format", "concise")
    assert code == 1
    assert rules(out) == ["SUP005", "FLP002"]
    assert "the settings forbid to suppress FLP002" in out
    assert out.splitlines()[-1] == "2 warnings in 1 file"
    assert run("hidden.yaml", "--isolated")[0] == 0


def test_settings_are_named_or_left_aside(run: Run, folder: Path) -> None:
    settings(folder, 'ignore = ["FLP", "CLM"]\n')
    (folder / "strict.toml").write_text('select = ["FLP002"]\n')
    assert run("pruned.yaml")[0] == 0
    assert run("pruned.yaml", "--isolated")[0] == 1
    assert run("pruned.yaml", "--config", "strict.toml")[0] == 1
    code, out, err = run("pruned.yaml", "--config", "missing.toml")
    assert (code, out) == (2, "")
    assert err == "rooflint: missing.toml: no such file or directory\n"
    assert run("pruned.yaml", "--isolated", "--config", "strict.toml")[0] == 2


@pytest.mark.parametrize("arguments", [[], ["--select", "KV"]])
def test_what_is_wrong_in_settings_is_told_whatever_is_asked(
    run: Run, folder: Path, arguments: list[str]
) -> None:
    settings(folder, 'ignore = ["FLP02"]\n')
    code, out, err = run("clean.yaml", *arguments)
    assert (code, out) == (2, "")
    assert "rooflint.toml: select, ignore: " in err
    assert "did you mean FLP002?" in err
    assert run("clean.yaml", "--isolated", *arguments)[0] == 0


def test_standard_input_stands_for_a_file(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def piped(*arguments: str) -> tuple[int, str, str]:
        stream = io.TextIOWrapper(io.BytesIO(PRUNED.encode()))
        monkeypatch.setattr("sys.stdin", stream)
        return run("-", "--format", "concise", "-q", *arguments)

    assert piped()[1].startswith("-:5:6: warning FLP002")
    name = ("--stdin-filename", "drafts/x.yaml")
    assert piped(*name)[1].startswith("drafts/x.yaml:5:6: warning FLP002")
    settings(folder, '[per-file-ignores]\n"drafts/" = ["FLP", "CLM"]\n')
    assert piped(*name)[:2] == (0, "")
    settings(folder, 'exclude = ["drafts/"]\n')
    assert piped(*name) == (
        0, "", "rooflint: drafts/x.yaml: left out by exclude in rooflint.toml\n"
    )  # fmt: skip


# Baseline


def test_a_baseline_takes_in_a_repository_as_it_is(run: Run, folder: Path) -> None:
    code, out, err = run("pruned.yaml", "impossible.yaml", "--write-baseline")
    assert (code, out) == (0, "")
    assert err == f"rooflint: {BASE} holds 2 accepted: 2 new, 0 gone\n"
    settings(folder, f'baseline = "{BASE}"\n')
    assert run("pruned.yaml", "impossible.yaml") == (0, "", "")
    summary = json.loads(run("pruned.yaml", "--format", "json")[1])["summary"]
    assert (summary["warnings"], summary["baselined"], summary["stale"]) == (0, 1, 0)


def test_only_what_is_new_is_told(run: Run, folder: Path) -> None:
    run("pruned.yaml", "--write-baseline", "--baseline", "known.json")
    (folder / "pruned.yaml").write_text("# moved\n\n" + PRUNED + IMPOSSIBLE[len(HEAD) :])
    code, out, _ = run("pruned.yaml", "--baseline", "known.json", "--format", "concise")
    assert code == 1
    assert rules(out) == ["CLM006"]
    assert out.splitlines()[-1] == "1 error (1 baselined) in 1 file"


def test_what_is_mended_is_stale_and_goes(run: Run, folder: Path) -> None:
    run("pruned.yaml", "impossible.yaml", "--write-baseline")
    (folder / "pruned.yaml").write_text(CLEAN)
    code, out, err = run("pruned.yaml", "--baseline", BASE)
    assert (code, out) == (0, "")
    assert err.startswith(f"rooflint: 1 entry matches nothing any more in {BASE}; --write-baseline")
    before = (folder / BASE).read_text()
    _, _, err = run("pruned.yaml", "impossible.yaml", "--write-baseline")
    assert err == f"rooflint: {BASE} holds 1 accepted: 0 new, 1 gone\n"
    after = (folder / BASE).read_text()
    assert set(after.splitlines()) < set(before.replace("},", "}").splitlines()) | {"]}"}
    assert run("pruned.yaml", "impossible.yaml", "--baseline", BASE) == (0, "", "")


def test_to_write_for_some_files_keeps_the_entries_of_others(run: Run, folder: Path) -> None:
    run("pruned.yaml", "--write-baseline")
    run("impossible.yaml", "--write-baseline")
    assert run("pruned.yaml", "impossible.yaml", "--baseline", BASE)[:2] == (0, "")
    (folder / "pruned.yaml").unlink()
    assert "1 entry matches" in run("impossible.yaml", "--baseline", BASE)[2]


def test_input_that_cannot_be_read_is_told_beside_a_baseline(run: Run) -> None:
    code, out, _ = run("broken.yaml", "pruned.yaml", "--write-baseline", "--format", "concise")
    assert code == 1
    assert rules(out) == ["E902"]


def test_a_baseline_is_relative_to_its_own_folder(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("pruned.yaml", "--write-baseline")
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert run("../pruned.yaml", "--baseline", f"../{BASE}")[:2] == (0, "")


def test_a_baseline_that_is_missing_or_odd_ends_the_run(run: Run, folder: Path) -> None:
    code, out, err = run("pruned.yaml", "--baseline", "known.json")
    assert (code, out) == (2, "")
    assert "--write-baseline makes one" in err
    (folder / "known.json").write_text("{}")
    assert "is not a baseline" in run("pruned.yaml", "--baseline", "known.json")[2]
    assert "is not a baseline" in run("--baseline", "known.json", "--write-baseline")[2]
    assert (
        "no such file" in run("pruned.yaml", "--write-baseline", "--baseline", "no/known.json")[2]
    )


# Reports


@pytest.mark.parametrize("name", FORMATS)
def test_exit_codes_do_not_hang_on_the_format(run: Run, name: str) -> None:
    assert run("pruned.yaml", "--format", name)[0] == 1
    assert run("pruned.yaml", "--format", name, "--exit-zero")[0] == 0
    assert run("clean.yaml", "--format", name)[0] == 0


def test_a_report_goes_to_a_file_and_its_summary_to_the_terminal(run: Run, folder: Path) -> None:
    code, out, err = run("pruned.yaml", "--format", "sarif", "--output", "out.sarif")
    assert (code, out, err) == (1, "", "rooflint: 1 warning in 1 file; see out.sarif\n")
    assert json.loads((folder / "out.sarif").read_text())["version"] == "2.1.0"
    assert run("clean.yaml", "-q", "-o", "out.txt") == (0, "", "")
    assert (folder / "out.txt").read_text() == ""
    assert sorted(path.name for path in folder.glob("out*")) == ["out.sarif", "out.txt"]
    assert run("pruned.yaml", "-o", os.devnull, "-q") == (1, "", "")
    assert not Path(os.devnull).is_file()
    (folder / "linked.txt").symlink_to(folder / "out.txt")
    run("pruned.yaml", "-o", "linked.txt", "--format", "concise")
    assert (folder / "linked.txt").is_symlink()
    assert "FLP002" in (folder / "out.txt").read_text()
    code, out, err = run("clean.yaml", "--output", "no/such/out.txt")
    assert (code, out) == (2, "")
    assert err == "rooflint: no/such/out.txt: cannot be written: no such file or directory\n"


def test_a_report_in_a_file_has_no_colours_unless_they_are_asked_for(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    run("pruned.yaml", "--output", "out.txt")
    assert "\x1b" not in (folder / "out.txt").read_text()
    run("pruned.yaml", "--output", "out.txt", "--color", "always")
    assert "\x1b" in (folder / "out.txt").read_text()


def test_somebody_who_looks_is_told_that_nothing_was_there_to_check(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    (folder / "list.yaml").write_text("a: 1\n")
    (folder / "empty").mkdir()
    _, out, _ = run("list.yaml", "empty", "clean.yaml", "--color", "never")
    assert out == ("no findings in 3 files, of which 2 without a proposal; 2 more with --strict\n")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    _, out, _ = run("list.yaml", "empty", "clean.yaml", "--strict", "--format", "concise")
    assert rules(out) == ["E914", "E914"]


def test_somebody_who_looks_is_told_how_much_more_a_strict_run_tells(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Heads that are pruned and not said to be removed: PRE001, of medium confidence.
    (folder / "heads.yaml").write_text(
        HEAD + "workload: {phase: decode, batch: 1, context: 4096}\n"
        "levers: [{kind: prune, pattern: heads, sparsity: 25%, claim: 1.1x}]\n"
    )
    _, out, _ = run("heads.yaml", "--strict", "--format", "concise", "-q")
    count = len(out.splitlines())
    assert count > 0
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    _, out, _ = run("heads.yaml", "--color", "never")
    assert out == f"no findings in 1 file; {count} more with --strict\n"
    assert "more" not in run("heads.yaml", "--ignore", "ALL", "--color", "never")[1]
    assert "more" not in run("heads.yaml", "--strict", "--color", "never")[1].splitlines()[-1]


def test_counts_by_rule(run: Run) -> None:
    code, out, _ = run("pruned.yaml", "impossible.yaml", "hidden.yaml", "--statistics")
    assert code == 1
    assert [line.split()[:5] for line in out.splitlines()[1:3]] == [
        ["1", "1", "-", "-", "CLM006"], ["1", "1", "1", "-", "FLP002"],
    ]  # fmt: skip
    whole = json.loads(run("clean.yaml", "--statistics", "--format", "json")[1])
    assert whole == {"version": 1, "statistics": []}
    code, _, err = run("clean.yaml", "--statistics", "--format", "sarif")
    assert code == 2
    assert "--statistics" in err


# config


def config(run: Run, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run is not None
    assert cli.run(["config", *arguments]) == 0
    return capsys.readouterr().out


def test_config_shows_each_setting_and_where_it_comes_from(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(
        folder,
        'fail-on = "error"\nexclude = ["drafts/"]\n[per-file-ignores]\n"a.yaml" = ["FLP002"]\n'
        '[context]\nhardware = "A100 80GB SXM"\n',
    )
    rows = {line.split()[0]: line.split()[1:] for line in config(run, capsys).splitlines()}
    assert rows["fail-on"] == ["rooflint.toml", '"error"']
    assert rows["strict"] == ["default", "false"]
    assert rows["context.hardware"] == ["rooflint.toml", '"A100', "80GB", 'SXM"']
    assert rows["context.batch"] == ["default", "1"]
    assert {name.partition(".")[2] for name in rows if name.startswith("context.")} == set(CONTEXT)
    told = config(run, capsys, "a.yaml", "drafts/x.yaml", "b.yaml").splitlines()[-3:]
    assert told[0].startswith("a.yaml: ")
    assert told[0].endswith("rules run, not FLP002")
    assert told[1] == "drafts/x.yaml: left out by exclude"
    assert told[2].startswith("b.yaml: all ")
    assert "rooflint.toml" not in config(run, capsys, "--isolated")
    settings(folder, 'rules = ["ours"]\n')
    assert "only where --config names the file" in config(run, capsys)
    assert "only where --config" not in config(run, capsys, "--config", "rooflint.toml")


def test_config_for_programs(run: Run, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings(folder, 'select = ["FLP002", "KV"]\nexclude = ["x/"]\n')
    whole = json.loads(config(run, capsys, "a.yaml", "x/b.yaml", "--format", "json"))
    assert whole["file"] == str(folder / "rooflint.toml")
    rows = {row["name"]: row for row in whole["settings"]}
    assert rows["select"] == {
        "name": "select",
        "value": ["FLP002", "KV"],
        "origin": "rooflint.toml",
    }
    assert rows["baseline"] == {"name": "baseline", "value": None, "origin": "default"}
    first, second = whole["paths"]
    assert "FLP002" in first["rules"]
    assert "FLP001" not in first["rules"]
    assert (first["excluded"], second["excluded"]) == (False, True)


def test_a_file_on_which_rooflint_fails_is_told_and_hides_no_other(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(source: Source, *, named: bool) -> Reading:
        if source.path == "clean.yaml":
            raise KeyError("no such unit")
        return read(source, named=named)

    monkeypatch.setattr("advisor.checking.read", fails)
    code, out, err = run("clean.yaml", "pruned.yaml", "--format", "concise")
    assert (code, err) == (1, "")
    assert rules(out) == ["E991", "FLP002"]
    line = next(line for line in out.splitlines() if "E991" in line)
    assert "KeyError: 'no such unit'" in line
    assert "test_check_command.py:" in line
    assert [problem.rule for problem in audit_paths(["clean.yaml", "pruned.yaml"]).problems] == [
        "E991"
    ]
