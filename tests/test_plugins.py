"""Rules of others: loaded where they are named, told like any other, and never the end of a run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor import cli, plugins
from advisor.plugins import RuleError, load
from advisor.rulebook import entries

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "user-rules.md").read_text(encoding="utf-8")
RULE, TEST = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SLOW = "rooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\nlevers: [{kind: batch, batch: 512}]\n"
LINE = RULE.splitlines().index("PROMISED_MS = 50.0") + 1
FAST = SLOW.replace("512", "2")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.yaml").write_text(SLOW)
    (tmp_path / "fast.yaml").write_text(FAST)
    (tmp_path / "acme_rules").mkdir()
    (tmp_path / "acme_rules" / "acme001_batch_breaks_promise.py").write_text(RULE)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    assert folder.is_dir()

    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(["check", "--format", "concise", "-q", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def codes(out: str) -> list[tuple[str, str]]:
    """File and rule of each line."""
    return [(line.split(":")[0], line.split()[2]) for line in out.splitlines()]


# The page


def test_the_rule_of_the_page_is_as_short_as_it_says_and_works(run: Run) -> None:
    assert len(RULE.splitlines()) <= 30
    code, out, err = run("slow.yaml", "fast.yaml", "--rules", "acme_rules", "--select", "ACME")
    assert (code, err) == (1, "")
    assert codes(out) == [("slow.yaml", "ACME001")]
    # 512 sequences of 4,096 tokens x 131,072 bytes of cache: 0.27 TB at 3.35 TB/s alone is 82 ms.
    assert int(re.findall(r"takes (\d+) ms", out)[0]) > 82


def test_the_test_of_the_page_passes(folder: Path) -> None:
    (folder / "test_acme.py").write_text(TEST)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_acme.py"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": f"{folder}:{ROOT}", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_is_found_where_the_finding_says(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "acme_rules").rename(folder / "our rules")
    _, out, _ = run("slow.yaml", "--rules", "our rules", "--format", "text")
    assert "rooflint explain ACME001 --rules 'our rules'" in out
    for name in ("ACME001", "batch-breaks-promise"):
        assert cli.run(["explain", name, "--rules", "our rules"]) == 0
        assert "longer than the 50 ms" in capsys.readouterr().out
    assert cli.run(["explain", "ACME001"]) == 2
    assert cli.run(["explain", "ACME001", "--rules", "missing"]) == 2


# What is loaded


def test_nothing_is_loaded_unless_it_is_named(run: Run, folder: Path) -> None:
    assert "ACME" not in run("slow.yaml")[1]
    (folder / "rooflint.toml").write_text('rules = ["acme_rules"]\n')
    _, out, err = run("slow.yaml")
    assert "ACME" not in out
    assert err.startswith("rooflint: rooflint.toml names rules; they are code, so only --config")
    _, out, err = run("slow.yaml", "--config", "rooflint.toml")
    assert ("slow.yaml", "ACME001") in codes(out)
    assert err == ""


def test_rules_of_the_settings_lie_beside_them(run: Run, folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "acme_rules").rename(folder / "inner" / "acme_rules")
    (folder / "inner" / "ours.toml").write_text('rules = ["acme_rules"]\nselect = ["ACME001"]\n')
    assert codes(run("slow.yaml", "--config", "inner/ours.toml")[1]) == [("slow.yaml", "ACME001")]


def test_settings_may_speak_of_rules_that_a_run_does_not_load(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rooflint.toml").write_text(
        'rules = ["acme_rules"]\nignore = ["ACME001", "FLP"]\nno-suppress = ["ACME"]\n'
        '[per-file-ignores]\n"a/" = ["batch-breaks-promise"]\n'
    )
    assert run("slow.yaml", "--select", "ACME,FLP")[0] == 2
    assert run("slow.yaml")[0] == 0
    assert run("slow.yaml", "--config", "rooflint.toml")[0] == 0
    for arguments in (["audit", "slow.yaml"], ["config", "slow.yaml"]):
        assert cli.run(arguments) == 0
    capsys.readouterr()


def test_a_rule_of_others_is_suppressed_and_selected_like_any(run: Run, folder: Path) -> None:
    hidden = SLOW.replace("levers:", "# rooflint: ignore[ACME001] for a batch job\nlevers:")
    (folder / "hidden.yaml").write_text(hidden)
    assert run("hidden.yaml", "--rules", "acme_rules", "--select", "ACME,SUP")[:2] == (0, "")
    _, out, _ = run("hidden.yaml", "--select", "SUP")
    assert codes(out) == [("hidden.yaml", "SUP003")]  # without the rule nobody knows the code
    for words in (["--ignore", "acme001"], ["--ignore", "batch-breaks-promise"]):
        assert "ACME" not in run("slow.yaml", "--rules", "acme_rules", *words)[1]


def test_helpers_are_no_rules_and_nothing_is_left_behind(folder: Path) -> None:
    (folder / "acme_rules" / "_limits.py").write_text("PROMISED_MS = 1.0\n")
    (folder / "acme_rules" / "acme002_other.py").write_text(
        RULE.replace("PROMISED_MS = 50.0", "from ._limits import PROMISED_MS")
        .replace("ACME001", "ACME002").replace("batch-breaks-promise", "batch-is-slow")
    )  # fmt: skip
    found = load(["acme_rules"])
    assert [one.rule.code for one in found] == ["ACME001", "ACME002"]
    assert found[0].page.startswith("Flags a batch")
    left = {path.name for path in (folder / "acme_rules").rglob("acme*.pyc")}
    assert left == set()


def test_installed_packages_declare_rules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = folder / "site"
    (site / "acme_rules").mkdir(parents=True)
    (site / "acme_rules" / "__init__.py").write_text("")
    (site / "acme_rules" / "acme001.py").write_text(RULE)
    (site / "acme_rules" / "_helper.py").write_text("raise RuntimeError\n")
    about = site / "acme_rules-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rooflint.rules]\nacme = acme_rules\n")
    assert load() == ()
    monkeypatch.setattr(plugins.site, "getsitepackages", lambda: [str(site)])
    monkeypatch.syspath_prepend(str(site))
    assert [one.rule.code for one in load()] == ["ACME001"]
    (about / "entry_points.txt").write_text("[rooflint.rules]\none = acme_rules.acme001\n")
    assert [one.rule.code for one in load()] == ["ACME001"]
    (about / "entry_points.txt").write_text("[rooflint.rules]\nacme = acme_rule\n")
    with pytest.raises(RuleError, match=r"entry point acme \(acme_rule\): ModuleNotFoundError"):
        load()


def test_packages_in_the_tree_that_is_checked_declare_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = folder / "evil-1.0.dist-info"
    about.mkdir()
    (about / "entry_points.txt").write_text("[rooflint.rules]\nevil = evil\n")
    (folder / "evil.py").write_text("raise SystemExit(77)\n")
    monkeypatch.syspath_prepend(str(folder))
    assert load() == ()


# What goes wrong


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("RULE = Rule(", "RULES = Rule(", "there is no RULE = Rule(...)"),
        ("def check(", "def judge(", "there is no check(audit)"),
        ('"""Flags', 'TEXT = """Flags', "the docstring is missing"),
        ("ACME001", "acme1", "'acme1' is not of the form ABC001"),
        ("ACME001", "FLP901", "codes FLP... are kept for rules of rooflint"),
        ("ACME001", "FLP002", "codes FLP... are kept for rules of rooflint"),
        ("ACME001", "SUP001", "SUP001 is already a rule of rooflint"),
        ("batch-breaks-promise", "pruning-dense-storage", "is already a rule of rooflint"),
        ("batch-breaks-promise", "Promise", "'Promise' is not of the form two-words"),
        ('("batch",)', '("batching",)', "about holds 'batching'; known: claims"),
        ('("batch",)', "()", "the rule never runs"),
        (
            "PROMISED_MS = 50.0",
            "PROMISED_MS = 50.0 / 0",
            "ZeroDivisionError: float",
        ),
        ("PROMISED_MS = 50.0", "raise SystemExit(3)", f"SystemExit: 3 (line {LINE})"),
        ("PROMISED_MS = 50.0", "PROMISED_MS = = 50", "SyntaxError: invalid syntax"),
        ("from advisor.rule", "from advisor.rulez", "ModuleNotFoundError"),
    ],
)
def test_a_module_that_is_no_rule_is_one_clear_message(
    run: Run, folder: Path, old: str, new: str, said: str
) -> None:
    file = folder / "acme_rules" / "acme001_batch_breaks_promise.py"
    assert old in RULE
    file.write_text(RULE.replace(old, new))
    code, out, err = run("slow.yaml", "--rules", "acme_rules")
    assert (code, out) == (2, "")
    assert err.startswith(f"rooflint: acme_rules/{file.name}: ")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("missing", "no such file or folder"),
        ("slow.yaml", "is no Python file"),
        ("empty", "the folder holds no rule"),
    ],
)
def test_a_path_without_rules_is_told(run: Run, folder: Path, path: str, said: str) -> None:
    (folder / "empty").mkdir()
    code, _, err = run("slow.yaml", "--rules", path)
    assert code == 2
    assert said in err


def test_two_rules_with_one_code_are_told(run: Run, folder: Path) -> None:
    (folder / "acme_rules" / "second.py").write_text(
        RULE.replace("batch-breaks-promise", "other-name")
    )
    _, _, err = run("slow.yaml", "--rules", "acme_rules")
    assert "second.py: ACME001 is already of acme_rules/acme001_batch_breaks_promise.py" in err


def test_a_rule_that_fails_is_one_finding_and_hides_no_other(run: Run, folder: Path) -> None:
    file = folder / "acme_rules" / "acme001_batch_breaks_promise.py"
    broken = RULE.replace("        step_ms =", "        audit.nothing\n        step_ms =")
    file.write_text(broken)
    (folder / "pruned.yaml").write_text(
        SLOW.replace("[{", "[{kind: prune, sparsity: 30%, storage: dense, claim: 1.4x}, {")
    )
    code, out, _ = run("slow.yaml", "fast.yaml", "pruned.yaml", "--rules", "acme_rules")
    assert code == 1
    found = codes(out)
    assert found.count(("slow.yaml", "E990")) == 1
    assert [rule for _, rule in found].count("E990") == 1
    assert ("pruned.yaml", "FLP002") in found
    line = next(line for line in out.splitlines() if "E990" in line)
    assert "rule ACME001 fails here: AttributeError" in line
    assert f"{file.name}:{broken.splitlines().index('        audit.nothing') + 1})" in line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("yield 'slow'", "TypeError: it yields str and not Finding"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("return None", ""),
        ("raise ValueError('two\\nlines')", "ValueError: two (acme_rules"),
    ],
)
def test_whatever_a_rule_does_the_run_goes_on(run: Run, folder: Path, line: str, said: str) -> None:
    file = folder / "acme_rules" / "acme001_batch_breaks_promise.py"
    file.write_text(RULE.replace("    for lever in", f"    {line}\n    for lever in"))
    code, out, _ = run("slow.yaml", "--rules", "acme_rules", "--select", "ACME")
    assert code == (1 if said else 0)
    assert said in out
    file.write_text(RULE.partition("    for lever in")[0] + "    return None\n")
    code, out, _ = run("slow.yaml", "--rules", "acme_rules", "--select", "ACME")
    assert "TypeError: 'NoneType' object is not iterable\n" in out


def test_no_code_of_the_pack_is_free_for_others() -> None:
    assert all(plugins._CODE.fullmatch(code) for code in entries())  # noqa: SLF001
