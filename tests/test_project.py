from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

from docs import generate

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
PRUNED = """\
rooflint: 1
model: Llama-3.1-70B
hardware: 2 x H100 SXM
engine: vllm
workload: {phase: decode, batch: 1, context: 4096}
weights: fp8
levers:
  - kind: prune
    pattern: unstructured
    sparsity: 30%
    storage: dense
    claim: 1.43x
"""
QUANTIZED = """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
engine: vllm
workload: {phase: decode, batch: 1, context: 4096}
levers:
  - kind: quantize
    weights: fp8
"""
LOOK = """
import importlib.metadata, importlib.resources, importlib.util, json, pkgutil, sys
import advisor.rules
root = importlib.resources.files("advisor")
parts = [file.parts[0] for file in importlib.metadata.files("rooflint")]
print(json.dumps({
    "missing": [name for name in sys.argv[1:] if not root.joinpath(name).is_file()],
    "rules": sorted(module.name for module in pkgutil.iter_modules(advisor.rules.__path__)),
    "foreign": [name for name in ("rules", "fixtures", "tests", "docs", "benchmarks")
                if importlib.util.find_spec(name)],
    "folders": sorted({name for name in parts if "rooflint" not in name and name != ".."}),
}))
"""
"""Printed by an installed Python: what it holds of rooflint, given the data files to look for."""
HEAVY = {"gguf", "jsonschema", "libcst", "markdown_it", "numpy", "rich"}


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


# README and generated files


def test_the_readme_shows_the_output_of_a_command_at_all() -> None:
    asked = []

    def remember(arguments: list[str]) -> str:
        asked.append(arguments)
        return ""

    generate.refresh(README, remember)
    assert {"audit", "check"} <= {arguments[0] for arguments in asked}


def test_generated_files_are_fresh() -> None:
    done = run(sys.executable, "-m", "docs.generate", "--check")
    assert done.returncode == 0, done.stderr


def test_shown_output_is_replaced_and_nothing_else() -> None:
    text = "a\n```console\n$ rooflint check 'a b'\nold\n```\nb\n```yaml\n$ rooflint x\n```\n"
    asked = []

    def answer(arguments: list[str]) -> str:
        asked.append(arguments)
        return "new  \nlines\n"

    assert generate.refresh(text, answer) == (
        "a\n```console\n$ rooflint check 'a b'\nnew\nlines\n```\nb\n```yaml\n$ rooflint x\n```\n"
    )
    assert asked == [["check", "a b"]]


def test_what_is_stale_is_named_and_then_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, made = tmp_path / "page.md", tmp_path / "new" / "made.json"
    page.write_text("old")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(
        generate,
        "PRODUCERS",
        (lambda: {made: b"{}"}, lambda: {page: b"made" if made.exists() else b"made too early"}),
    )
    assert generate.main(["--check"]) == 1
    assert "stale: new/made.json, page.md" in capsys.readouterr().err
    assert page.read_text() == "old"
    assert generate.main([]) == 0
    assert page.read_text() == "made"
    assert made.read_bytes() == b"{}"
    assert generate.main(["--check"]) == 0


def test_ci_runs_the_command_that_the_readme_gives() -> None:
    command = (ROOT / ".ci/run").read_text().splitlines()[-1]
    assert re.search(rf"^{re.escape(command)}\b", README, re.MULTILINE)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_check_runs_every_tool() -> None:
    planned = run("make", "--dry-run", "--always-make", "check").stdout
    for tool in (
        "ruff check",
        "ruff format --check",
        "mypy",
        "lint-imports --no-logo",
        "pytest --cov",
    ):
        assert re.search(rf"bin/(python -m )?{tool}$", planned, re.MULTILINE), tool
    assert "-m docs.generate --check" in planned


# Packaging


def test_every_package_and_kind_of_data_is_listed() -> None:
    setuptools = PYPROJECT["tool"]["setuptools"]
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "advisor").rglob("*.py")
        if "__pycache__" not in path.parts
    }
    listed = set(setuptools["packages"])
    assert listed == folders | {"advisor.rules"}, "list them in [tool.setuptools] packages"


@pytest.fixture(params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, tmp_path: Path, working_tree: Path) -> Path:
    """The Python of a new environment that holds rooflint, and sees what rooflint needs."""
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    )
    (site / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed"]
    editable = ["--editable"] if request.param == "editable" else []
    pip = [sys.executable, "-m", "pip", "--python", python]
    done = run(*pip, "install", *options, *editable, working_tree)
    assert done.returncode == 0, done.stdout + done.stderr
    return python


def test_an_installed_rooflint_is_whole_and_alone(installed: Path, tmp_path: Path) -> None:
    data = [
        path.relative_to(ROOT / "advisor").as_posix()
        for path in (ROOT / "advisor").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".py"
    ]
    assert "py.typed" in data
    done = run(installed, "-I", "-c", LOOK, *data, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["missing"] == []
    assert seen["rules"] == sorted(path.stem for path in (ROOT / "rules").glob("[!_]*.py"))
    assert seen["foreign"] == []
    assert set(seen["folders"]) <= {"advisor", "__pycache__"}

    command = installed.with_name("rooflint")
    assert PYPROJECT["project"]["version"] in run(command, "--version", cwd=tmp_path).stdout
    (tmp_path / "pruned.yaml").write_text(PRUNED)
    for start in ((command,), (installed, "-m", "advisor")):
        done = run(*start, "check", "pruned.yaml", cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        assert "FLP002" in done.stdout


def test_the_version_stands_in_the_changelog() -> None:
    version = PYPROJECT["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(version)}\]", changelog, re.MULTILINE)


# Checks that must be able to fail


def test_every_module_has_its_place_in_the_direction_of_the_data() -> None:
    [layers] = [
        contract["layers"]
        for contract in PYPROJECT["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    placed = {name.strip(" ()") for layer in layers for name in re.split(r"[:|]", layer)}
    modules = {  # of the ledger, the main parts stand on lines of their own
        f"advisor.{path.stem}"
        for path in (ROOT / "advisor").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    homeless = modules - placed - {"advisor.__init__", "advisor.ledger"}
    assert not homeless, "give them a line in the layers of [tool.importlinter]"
    assert "rules" in placed


def test_imports_against_the_direction_of_the_data_are_caught(working_tree: Path) -> None:
    upward = {
        "advisor/source.py": "import advisor.reports",
        "advisor/readers/__init__.py": "import advisor.ledger.step",
        "advisor/ledger/shapes.py": "import yaml",
        "rules/__init__.py": "import advisor.readers",
    }
    for path, statement in upward.items():
        with (working_tree / path).open("a") as file:
            file.write(f"\n{statement}\n")
    done = run(Path(sys.executable).with_name("lint-imports"), cwd=working_tree)
    assert done.returncode == 1, done.stdout
    for contract in PYPROJECT["tool"]["importlinter"]["contracts"]:
        assert f"{contract['name']} BROKEN" in done.stdout


def test_a_wrong_attribute_in_a_rule_is_a_type_error(tmp_path: Path) -> None:
    rule = min((ROOT / "rules").glob("[!_]*.py"))
    broken = tmp_path / rule.name
    text = rule.read_text(encoding="utf-8")
    broken.write_text(
        f"{text}\n\ndef _broken(audit: Audit) -> float:\n    return audit.no_such_number\n"
    )
    done = run(sys.executable, "-m", "mypy", "--shadow-file", rule, broken)
    assert f"rules/{rule.name}:{text.count(chr(10)) + 4}: error" in done.stdout
    assert "no_such_number" in done.stdout


# Start-up


@pytest.mark.parametrize(("text", "code"), [(PRUNED, 1), (QUANTIZED, 0)])
def test_checking_yaml_imports_nothing_heavy(tmp_path: Path, text: str, code: int) -> None:
    proposal = tmp_path / "one.yaml"
    proposal.write_text(text)
    done = run(sys.executable, "-X", "importtime", "-m", "advisor", "check", proposal)
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert done.returncode == code, done.stdout
    assert {"advisor.cli", "typer", "yaml"} <= imported
    assert not {name for name in imported if name.split(".")[0] in HEAVY}
