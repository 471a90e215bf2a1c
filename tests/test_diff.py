"""What a change of configuration does, on pairs whose figures are counted by hand.

Llama-3.1-8B: 32 layers of 218,103,808 weights in linears, and a head of 128,256 x 4,096. A step
streams 15,009,857,536 bytes of bf16 weights; the cache holds 131,072 bytes a token.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from advisor.diffing import Change, Differences, DiffError, diff
from advisor.reports.diff import diff_markdown, diff_text, headline
from advisor.reports.style import Style

LINEAR = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
STREAMED = 15_009_857_536
CACHE = 4096 * 131_072

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: llama
spec:
  template:
    spec:
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.10.0
          args: [--model=meta-llama/Llama-3.1-8B-Instruct{args}]
"""


def change(tmp_path: Path, before: str, after: str) -> Change:
    (tmp_path / "old.yaml").write_text(MANIFEST.format(args=before), encoding="utf-8")
    (tmp_path / "new.yaml").write_text(MANIFEST.format(args=after), encoding="utf-8")
    found = diff(str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"))
    assert not found.problems
    (only,) = found.changes
    return only


def test_bf16_to_fp8_weights_halves_the_linears(tmp_path: Path) -> None:
    found = change(tmp_path, "", ", --quantization=fp8")
    before, after = found.before.step.ledger, found.after.step.ledger
    assert before.weight_bytes == STREAMED
    # One byte less for each weight of a linear; the head stays in 16 bits.
    assert after.weight_bytes == STREAMED - LINEAR
    assert before.kv_read_bytes == after.kv_read_bytes == CACHE
    # (15.01 + 0.54) / (8.03 + 0.54) GB: no more than 1.81 times faster.
    ratio = (STREAMED + CACHE) / (STREAMED - LINEAR + CACHE)
    assert round(ratio, 2) == 1.81
    assert 1.2 < found.speedup.mid < 1.05 * ratio
    # 6.98 GB of room are 6.98e9 / (4,096 x 131,072 B) = 13 sequences of this context.
    rooms = [side.step.estimate.capacity.largest_batch for side in (found.before, found.after)]
    assert rooms[1] - rooms[0] in {13, 14}
    words = headline(found)
    assert words.startswith("llama: a token is ")
    assert "15.5 -> 8.57 GB a token" in words


def test_tp_2_to_4_halves_what_one_device_reads(tmp_path: Path) -> None:
    sizes = ", --tensor-parallel-size=2", ", --tensor-parallel-size=4"
    found = change(tmp_path, *sizes)
    before, after = found.before.step, found.after.step
    assert (before.deployment.devices, after.deployment.devices) == (2, 4)
    # Norms and the row of the embedding are read whole by each device: 65 x 8 KB and 8 KB.
    for step, ways in ((before, 2), (after, 4)):
        split = (STREAMED - 66 * 8192) / ways + 66 * 8192
        assert step.ledger.weight_bytes == pytest.approx(split, rel=1e-4)
        assert step.ledger.kv_read_bytes == CACHE / ways
    # Half the bytes, the same time per layer: well below twice as fast.
    assert 1.0 < found.speedup.mid < 1.9
    assert "2 x 7.7" in headline(found)
    assert "4 x 3.8" in headline(found)


def test_eager_to_graphs_moves_no_byte(tmp_path: Path) -> None:
    found = change(tmp_path, ", --enforce-eager", "")
    before, after = found.before.step, found.after.step
    assert before.ledger.memory_bytes == after.ledger.memory_bytes
    assert before.estimate.capacity == after.estimate.capacity
    assert found.speedup.mid > 1.05
    # Streaming 15.5 GB at 3.35 TB/s takes 4.6 ms however steps are launched.
    assert after.estimate.expected_ms.mid > (STREAMED + CACHE) / 3.35e12 * 1e3
    assert "GB a token" not in headline(found)


def test_what_acts_on_the_prompt_or_is_open_is_said_not_to_be_estimated(tmp_path: Path) -> None:
    after = ", --enable-prefix-caching, --tensor-parallel-size=$(TP)"
    found = change(tmp_path, "", after)
    said = " ".join(found.not_estimated())
    assert "prefix cache acts on the prompt" in said
    assert "degree" in said
    assert found.speedup.mid == 1.0


def test_a_larger_limit_of_sequences_is_a_change_of_the_limit(tmp_path: Path) -> None:
    found = change(tmp_path, ", --max-num-seqs=64", ", --max-num-seqs=128")
    assert (found.before.sequences, found.after.sequences) == (64, 128)
    assert found.speedup.mid == 1.0


def test_folders_are_compared_file_by_file(tmp_path: Path) -> None:
    for side, args in (("old", ""), ("new", ", --quantization=fp8")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.yaml").write_text(MANIFEST.format(args=args), encoding="utf-8")
        (tmp_path / side / "same.yaml").write_text(MANIFEST.format(args=""), encoding="utf-8")
        (tmp_path / side / f"{side}.yaml").write_text(MANIFEST.format(args=""), encoding="utf-8")
    found = diff(str(tmp_path / "old"), str(tmp_path / "new"))
    assert [one.title for one in found.changes] == ["a.yaml: llama"]
    assert found.same == 1
    assert [one.path for one in found.added] == ["new.yaml"]
    assert [one.path for one in found.removed] == ["old.yaml"]


def test_markdown_is_a_sentence_a_table_and_remarks(tmp_path: Path) -> None:
    change(tmp_path, "", ", --quantization=fp8, --enable-prefix-caching")
    found = diff(str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"))
    lines = diff_markdown(found).splitlines()
    assert lines[0].startswith("**llama: a token is ")
    assert lines[2:4] == ["|  | before | after |", "|---|---:|---:|"]
    assert lines[4] == "| GB read a token | 15.5 | 8.57 |"
    assert "- not estimated: new: prefix cache acts on the prompt" in lines
    assert "- assumed: batch 1; context 4096" in lines


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    for name in ("old.yaml", "new.yaml"):
        (tmp_path / name).write_text("name: CI\n", encoding="utf-8")
    found = diff(str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"))
    assert diff_text(found, Style()) == "no setup of a deployment on either side\n"


def test_a_file_and_a_folder_do_not_compare(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("x: 1\n", encoding="utf-8")
    with pytest.raises(DiffError, match="two files or two folders"):
        diff(str(tmp_path), str(tmp_path / "a.yaml"))


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_revisions_are_compared_without_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _git(tmp_path, "init", "--quiet")
    for number, args in enumerate(("", ", --quantization=fp8")):
        (tmp_path / "deploy.yaml").write_text(MANIFEST.format(args=args), encoding="utf-8")
        (tmp_path / "other.yaml").write_text(f"x: {number}\n", encoding="utf-8")
        _git(tmp_path, "add", ".")
        _git(tmp_path, "commit", "--quiet", "--message", str(number))
    (tmp_path / "deploy.yaml").write_text("nothing: here\n", encoding="utf-8")
    found = diff("HEAD~1", "HEAD")
    (only,) = found.changes
    assert only.title == "deploy.yaml: llama"
    assert only.after.step.ledger.weight_bytes == STREAMED - LINEAR
    assert diff("HEAD~1", "HEAD", ["elsewhere"]).changes == ()
    with pytest.raises(DiffError, match="no revision"):
        diff("HEAD", "no-such-name")
    with pytest.raises(DiffError, match="no revision"):
        diff("HEAD", "--output=x")


def test_the_command_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from advisor import cli  # noqa: PLC0415

    change(tmp_path, "", ", --quantization=fp8")
    assert cli.run(["diff", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]) == 0
    assert "GB read a token" in capsys.readouterr().out
    assert cli.run(["diff", str(tmp_path / "old.yaml"), "nowhere"]) == 2
    assert "no revision" in capsys.readouterr().err


def test_what_stays_the_same_is_counted(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.yaml").write_text(MANIFEST.format(args=""), encoding="utf-8")
    sides = str(tmp_path / "old"), str(tmp_path / "new")
    assert diff_text(diff(*sides), Style()) == (
        "1 setup reads as many bytes in as much time as before\n"
    )
    for name in ("old", "new"):
        text = MANIFEST.format(args="").replace("name: llama", "name: other")
        (tmp_path / name / "two.yaml").write_text(text, encoding="utf-8")
    assert diff_text(diff(*sides), Style()).startswith("2 setups read as many bytes")
    (tmp_path / "new" / "two.yaml").unlink()
    assert diff_text(diff(*sides), Style()).endswith(
        "1 more reads as many bytes in as much time as before\n"
    )


def test_what_is_read_on_neither_side_is_told_once(tmp_path: Path) -> None:
    told = diff_text(diff(str(tmp_path), str(tmp_path)), Style()).splitlines()
    assert len([line for line in told if line.startswith("not read: ")]) == 1


def test_without_a_repository_no_revision_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DiffError, match="this is no git repository"):
        diff("main", "HEAD")


def test_a_limit_of_sequences_is_a_row_of_its_own(tmp_path: Path) -> None:
    found = change(tmp_path, "", ", --max-num-seqs=32, --kv-cache-dtype=fp8")
    told = diff_text(Differences((found,), 0), Style())
    (row,) = [line for line in told.splitlines() if "limit of sequences" in line]
    assert row.split()[-3:] == ["not", "set", "32"]


def test_what_gets_slower_says_how_much_longer_it_takes(tmp_path: Path) -> None:
    found = change(tmp_path, ", --quantization=fp8", "")
    ratio = found.after.step.estimate.tpot_ms.mid / found.before.step.estimate.tpot_ms.mid
    assert ratio > 1.2
    assert f"a token takes {ratio:.2f}x as long" in headline(found)


def test_room_may_change_where_time_does_not(tmp_path: Path) -> None:
    # Half of the cache's bytes of one sequence of 4,096 tokens: 1.7% of what a step reads.
    found = change(tmp_path, "", ", --kv-cache-dtype=fp8")
    assert abs(found.speedup.mid - 1.0) < 0.05
    assert "room for" in headline(found)
