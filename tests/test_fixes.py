from __future__ import annotations

from pathlib import Path

import pytest

from advisor.checking import Run, check_run
from advisor.fixes import fix

CLAIMED = (
    "import torch.nn.utils.prune as prune\n\n\n"
    "def make(layer):\n"
    "    # rooflint: claim='1.4x decode'\n"
    "    prune.l1_unstructured(layer, 'weight', amount=0.3)\n"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fixed(text: str, name: str = "a.py") -> str:
    path = Path(name)
    path.write_bytes(text.encode())
    fix([name], Run())
    once = path.read_bytes()
    assert fix([name], Run()) == ()
    assert path.read_bytes() == once
    return once.decode()


def test_removes_a_comment_that_hides_nothing_and_no_other_byte() -> None:
    text = "x = {  'a':1 }   # rooflint: ignore[FLP002] not pruned\r\ny  =  2  # kept\r\n"
    assert fixed(text) == "x = {  'a':1 }\r\ny  =  2  # kept\r\n"


def test_removes_the_whole_line_of_a_comment_that_stands_alone() -> None:
    text = "x = 1\n# rooflint: ignore[FLP002] not pruned\ny = 2\n"
    assert fixed(text) == "x = 1\ny = 2\n"


def test_keeps_the_codes_that_hide_something() -> None:
    text = CLAIMED.replace("claim=", "hardware=H100 batch=1 claim=").replace(
        "amount=0.3)", "amount=0.3)  # rooflint: ignore[FLP002, KV001] measured"
    )
    assert fixed(text) == text.replace("[FLP002, KV001]", "[FLP002]")


def test_writes_the_assumed_context_above_a_claim_that_states_none() -> None:
    lines = fixed(CLAIMED).splitlines()
    # The reference context: what is assumed where nobody states anything.
    assert lines[4] == (
        '    # rooflint: model=Llama-3.1-8B hardware="H100 SXM" batch=1 context=4096'
    )
    assert [*lines[:4], *lines[5:]] == CLAIMED.splitlines()


def test_what_is_written_changes_no_verdict() -> None:
    Path("a.py").write_text(CLAIMED)
    before = [finding.rule for finding in check_run(["a.py"], Run()).findings]
    fix(["a.py"], Run())
    after = [finding.rule for finding in check_run(["a.py"], Run()).findings]
    assert before == after != []


@pytest.mark.parametrize(
    "text",
    [
        "# rooflint: model=Llama-3.1-8B hardware=H100 batch=1\n" + CLAIMED,
        CLAIMED.replace("# rooflint: claim='1.4x decode'", "pass"),
        "x = '# rooflint: ignore[FLP002] text'\n",
        "x = 1\n",
    ],
    ids=["context given", "no claim", "words in a string", "nothing of ours"],
)
def test_leaves_everything_else_alone(text: str) -> None:
    assert fixed(text) == text


def test_leaves_files_alone_that_are_not_utf_8() -> None:
    data = "# coding: latin-1\nx = 'é'  # rooflint: ignore[FLP002] no\n".encode("latin-1")
    Path("a.py").write_bytes(data)
    assert fix(["a.py"], Run()) == ()
    assert Path("a.py").read_bytes() == data


def test_mends_comments_of_yaml_too() -> None:
    text = "rooflint: 1\nmodel: Llama-3.1-8B  # rooflint: ignore[FLP002] no\n"
    assert fixed(text, "a.yaml") == "rooflint: 1\nmodel: Llama-3.1-8B\n"
