"""The pages on settings and CI say what the program does, and the action runs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from advisor.config import Settings, read_settings
from advisor.config_table import CONTEXT, read_table
from advisor.reports.formats import FORMATS

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
CI = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PRUNED = """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
levers:
  - {kind: prune, sparsity: 30%, storage: dense, claim: 1.4x}
"""


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_page_on_settings_shows_every_setting(tmp_path: Path) -> None:
    [shown] = blocks(SETTINGS, "toml")
    file = tmp_path / "pyproject.toml"
    file.write_text(shown, encoding="utf-8")
    configured = read_settings(file)
    assert configured.given == set(Settings._fields)
    table = tomllib.loads(shown)["tool"]["rooflint"]
    assert read_table(file, table) == configured.settings
    assert configured.settings.context["context"] == 8192
    assert set(configured.settings.context) == set(CONTEXT) - {"phase", "activations", "lm_head"}


def test_the_page_on_ci_names_every_format() -> None:
    named = re.findall(r"^\| `(\w+)` \|", CI, re.MULTILINE)
    assert sorted(named) == sorted(FORMATS)
    for block in blocks(CI, "yaml"):
        assert yaml.safe_load(block)
    inputs = re.findall(r"with: \{paths: [^}]*?, (\w+): ", CI)
    assert set(inputs) <= set(ACTION["inputs"])


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
@pytest.mark.parametrize(
    ("inputs", "code", "log"),
    [
        ({}, 1, False),
        ({"paths": "clean.yaml"}, 0, False),
        ({"paths": "clean.yaml pruned.yaml", "sarif": "a log.sarif"}, 1, True),
        ({"arguments": "--ignore FLP,CLM --isolated"}, 0, False),
        ({"paths": "clean.yaml; touch stolen"}, 1, False),
        ({"paths": "$(touch stolen) `touch stolen`"}, 1, False),
    ],
)
def test_the_action_checks_what_it_is_given(
    tmp_path: Path, inputs: dict[str, str], code: int, *, log: bool
) -> None:
    (tmp_path / "pruned.yaml").write_text(PRUNED)
    (tmp_path / "clean.yaml").write_text("rooflint: 1\nlevers: [{kind: quantize, weights: fp8}]\n")
    command = tmp_path / "temp" / "rooflint" / "bin" / "rooflint"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m advisor "$@"\n')
    command.chmod(0o755)
    given = {name: entry["default"] for name, entry in ACTION["inputs"].items()} | inputs
    step = ACTION["runs"]["steps"][1]
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "RUNNER_TEMP": str(tmp_path / "temp"),
             "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), **variables},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert (tmp_path / "a log.sarif").is_file() is log
    assert ("FLP002" in (tmp_path / "summary.md").read_text()) is ("::warning" in done.stdout)
    assert not (tmp_path / "stolen").exists()
    if code == 1 and "stolen" not in given["paths"]:
        assert re.search(r"^::warning file=pruned\.yaml,line=5,", done.stdout, re.MULTILINE)
