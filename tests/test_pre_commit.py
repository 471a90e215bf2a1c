from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

FLAGGED = """\
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
CLEAN = """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
engine: vllm
workload: {phase: decode, batch: 1, context: 4096}
levers:
  - kind: quantize
    weights: fp8
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command as somebody without any settings for git, pre-commit's cache in tmp_path."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", "Tester"), ("EMAIL", "tester@example.com"))
    }
    own = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "PRE_COMMIT_COLOR": "never",
    }

    def call(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=inherited | who | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=420,
            check=False,
        )

    return call


@pytest.fixture
def published(working_tree: Path, run: Run) -> Path:
    """The repository as it stands, committed, as pre-commit would clone it."""
    run("git", "init", "--quiet", "--initial-branch=main", cwd=working_tree)
    run("git", "add", "--all", cwd=working_tree)
    done = run("git", "commit", "--quiet", "--message=Everything", cwd=working_tree)
    assert done.returncode == 0, done.stdout
    return working_tree


def commit_proposals(run: Run, place: Path, hooks: dict[str, object]) -> None:
    """Commit a flagged and a clean proposal where `hooks` is the only repository of hooks."""
    place.mkdir()
    run("git", "init", "--quiet", "--initial-branch=main", cwd=place)
    (place / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hooks]}))
    (place / "clean.yaml").write_text(CLEAN)
    (place / "notes.txt").write_text(FLAGGED)
    pre_commit = (sys.executable, "-m", "pre_commit")
    done = run(*pre_commit, "install", "--install-hooks", cwd=place)
    assert done.returncode == 0, done.stdout

    run("git", "add", "--all", cwd=place)
    done = run("git", "commit", "--message=Clean", cwd=place)
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout

    (place / "flagged.yaml").write_text(FLAGGED)
    run("git", "add", "--all", cwd=place)
    done = run("git", "commit", "--message=Flagged", cwd=place)
    assert done.returncode == 1, done.stdout
    assert "flagged.yaml:8:" in done.stdout
    assert "FLP002" in done.stdout
    assert "clean.yaml" not in done.stdout
    assert run("git", "log", "--format=%s", cwd=place).stdout.split() == ["Clean"]


def test_the_hook_in_its_own_environment(published: Path, run: Run, tmp_path: Path) -> None:
    """As users have it: pre-commit clones rooflint and pip installs it with what it needs."""
    probe = (sys.executable, "-m", "pip", "--timeout=10", "--retries=0", "download")
    options = ("--quiet", "--no-deps", "--dest", tmp_path / "probe")
    done = run(*probe, *options, "setuptools>=77", "pydantic>=2.11", cwd=tmp_path)
    if done.returncode != 0:
        pytest.skip("no package index answers, so pre-commit cannot build an environment")
    revision = run("git", "rev-parse", "HEAD", cwd=published).stdout.strip()
    hooks = {"repo": str(published), "rev": revision, "hooks": [{"id": "rooflint"}]}
    commit_proposals(run, tmp_path / "theirs", hooks)


def test_the_hook_with_the_rooflint_that_runs_the_tests(run: Run, tmp_path: Path) -> None:
    """The same hook without a package index: all its settings but the language."""
    [hook] = yaml.safe_load(
        (Path(__file__).parent.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    )
    command = Path(sys.executable).with_name(hook["entry"].split()[0])
    entry = " ".join([str(command), *hook["entry"].split()[1:]])
    local = {"repo": "local", "hooks": [hook | {"language": "system", "entry": entry}]}
    commit_proposals(run, tmp_path / "theirs", local)
