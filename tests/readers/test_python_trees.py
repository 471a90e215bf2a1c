from __future__ import annotations

from pathlib import Path

import pytest

from advisor.checking import Checked, Run, check_run

FLAGGED = (
    "import torch.nn.utils.prune as prune\n"
    "# rooflint: model=Llama-3.1-8B claim='1.4x decode'\n"
    "prune.l1_unstructured(layer, 'weight', amount=0.3)\n"
)
FOUND = "import torch.nn.utils.prune as prune\nprune.l1_unstructured(layer, 'weight', amount=0.3)\n"
PLAIN = "import os\nprint(os.name)\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some scripts, one in a folder, and one that would leave a trace if it were run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    for index in range(6):
        (tmp_path / "deep" / f"plain{index}.py").write_text(PLAIN)
    (tmp_path / "deep" / "plan.py").write_text(FLAGGED)
    (tmp_path / "found.py").write_text(FOUND)
    (tmp_path / "broken.py").write_text("from vllm import LLM\nLLM(\n")
    (tmp_path / "trace.py").write_text(
        "import pathlib, vllm\npathlib.Path('trace').touch()\nvllm.LLM('m', kv_cache_dtype='fp8')\n"
    )
    (tmp_path / "setup.py").write_text("open('trace', 'w').close()\nimport vllm\nvllm.LLM('m')\n")
    return tmp_path


def rules(checked: Checked) -> set[tuple[str, str]]:
    return {(finding.path, finding.rule) for finding in checked.findings}


def test_a_tree_tells_what_is_annotated_and_what_is_plainly_wrong_and_nothing_else(
    tree: Path,
) -> None:
    assert {path for path, _ in rules(check_run(["."], Run()))} == {"deep/plan.py", "found.py"}
    assert not (tree / "trace").exists()


def test_several_processes_say_the_same_as_one(tree: Path) -> None:
    assert tree.exists()
    one, two, three = (check_run(["."], Run(strict=True, processes=n)) for n in (1, 2, 3))
    assert one == two == three
    assert one.findings
