"""A baseline is kept by what findings are about: it stays where lines move, and goes with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.baseline import (
    Baseline,
    BaselineError,
    Compared,
    Entry,
    baseline_text,
    compare,
    entries_of,
    fingerprint,
    read_baseline,
    renewed,
)
from advisor.finding import Confidence, Finding, Severity, Subject
from advisor.problems import problem
from advisor.source import Source, Span

HERE = Path()
CODES = {"FLP002", "CLM001"}
ODD_COUNT = """{"version": 1, "findings": [
{"path": "a", "rule": "b", "hash": "c", "occurrence": "x"}]}"""
TEXT = """\
rooflint: 1
levers:
  - kind: prune
    sparsity: 30%

    claim: 1.4x
  - {kind: batch, batch: 8}
claim: 2x for  one user
"""


def found(source: Source, words: str, rule: str = "FLP002", kind: str = "lever") -> Finding:
    start = source.text.index(words)
    return Finding(
        rule, "a-rule", Severity.WARNING, Confidence.HIGH, source.path, source.position(start),
        source.position(start + len(words)), "no gain", subject=Subject(kind, 0),  # type: ignore[arg-type]
    )  # fmt: skip


def source(text: str = TEXT, path: str = "a.yaml") -> Source:
    return Source(path, text)


def against(baseline: Baseline, *findings: Finding, text: str = TEXT, strict: bool = False,
            read: tuple[str, ...] = ("a.yaml",), codes: set[str] = CODES) -> Compared:  # fmt: skip
    sources = {"a.yaml": source(text)}
    return compare(findings, sources, read, baseline, HERE, codes=codes, strict=strict)


def written(*findings: Finding, text: str = TEXT) -> Baseline:
    return Baseline(entries_of(findings, {"a.yaml": source(text)}, HERE))


# What a finding rests on


@pytest.mark.parametrize(
    ("before", "after", "stays"),
    [
        ("", "", True),
        ("rooflint: 1\n", "# a comment\n\nrooflint: 1\n", True),
        ("    sparsity: 30%\n", "      sparsity:   30%\n", True),
        ("sparsity: 30%", "sparsity: 60%", False),
        ("claim: 1.4x", "claim: 1.8x", False),
        ("batch: 8", "batch: 16", True),
        ("2x for  one user", "3x", True),
    ],
)
def test_a_finding_on_a_lever_rests_on_all_its_lines(
    before: str, after: str, *, stays: bool
) -> None:
    old, new = source(), source(TEXT.replace(before, after, 1))
    same = fingerprint(found(old, "kind: prune"), old) == fingerprint(
        found(new, "kind: prune"), new
    )
    assert same is stays


def test_a_finding_on_a_lever_in_flow_style_rests_on_its_line() -> None:
    old, new = source(), source(TEXT.replace("batch: 8", "batch: 16"))
    prints = {fingerprint(found(one, "kind: batch"), one) for one in (old, new)}
    assert len(prints) == 2


def test_a_finding_on_words_rests_on_the_words_white_space_aside() -> None:
    def of(text: str, words: str) -> str:
        return fingerprint(found(source(text), words, kind="claim"), source(text))

    assert of(TEXT, "2x for  one user") == of(
        "claim: 2x\n  for one\n  user", "2x\n  for one\n  user"
    )
    assert of(TEXT, "2x for  one user") != of("claim: 3x for one user", "3x for one user")


def test_prose_may_be_wrapped_anew() -> None:
    one = Source("a.md", "We prune 30% of it.\n\nMore.\n")
    two = Source("a.md", "Now:\nWe prune\n30% of it. And so on\n")
    assert fingerprint(found(one, "prune 30%"), one) == fingerprint(found(two, "prune\n30%"), two)


# New, unchanged, stale


def test_what_is_accepted_is_not_new() -> None:
    prune, claim = found(source(), "kind: prune"), found(source(), "2x for", "CLM001", "claim")
    result = against(written(prune), prune, claim)
    assert (result.new, result.unchanged, result.stale) == ((claim,), (prune,), ())


def test_another_rule_or_file_is_new() -> None:
    prune = found(source(), "kind: prune")
    other = prune._replace(rule="FLP001")
    assert against(written(prune), other).new == (other,)
    elsewhere = prune._replace(path="b.yaml")
    assert against(written(prune), elsewhere).new == (elsewhere,)


def test_the_same_words_count_as_often_as_they_were_accepted() -> None:
    text = "- kind: prune\n" * 3
    first = [
        found(source(text), "kind: prune")._replace(
            start=source(text).position(2 + 14 * number),
            end=source(text).position(13 + 14 * number),
        )
        for number in range(3)
    ]
    twice = written(*first[:2], text=text)
    assert [entry.occurrence for entry in twice.entries] == [0, 1]
    result = against(twice, *first, text=text)
    assert (result.unchanged, result.new) == (tuple(first[:2]), (first[2],))
    assert len(against(twice, first[0], text=text).stale) == 1


def test_what_is_gone_is_stale_only_where_this_run_can_tell() -> None:
    prune = found(source(), "kind: prune")
    before = written(prune)
    assert against(before).stale == before.entries
    assert against(before, codes={"CLM001"}).stale == ()
    assert against(before, read=()).stale == before.entries  # a.yaml does not exist here
    strict = before._replace(strict=True)
    assert against(strict).stale == ()
    assert against(strict, strict=True).stale == strict.entries


def test_a_file_that_was_not_read_keeps_its_entries(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("rooflint: 1\n")
    entry = Entry("b.yaml", "FLP002", "0123456789abcdef", 0)
    result = compare((), {}, (), Baseline((entry,)), tmp_path, codes=CODES, strict=False)
    assert result.stale == ()
    assert renewed(result, (), Baseline((entry,)), strict=False).entries == (entry,)


def test_input_that_cannot_be_read_is_never_accepted() -> None:
    text = source()
    unread = problem("E903", text, Span(0, 8), "unknown key")
    before = written(unread)
    assert against(before, unread).new == (unread,)
    compared = against(Baseline(), unread)
    assert renewed(compared, before.entries, Baseline(), strict=False).entries == ()


def test_to_write_again_drops_what_is_gone_and_adds_what_is_new() -> None:
    prune, claim = found(source(), "kind: prune"), found(source(), "2x for", "CLM001", "claim")
    before = written(prune)
    compared = against(before, claim)
    after = renewed(compared, written(claim).entries, before, strict=False)
    assert [entry.rule for entry in after.entries] == ["CLM001"]


# The file


def test_the_file_is_sorted_with_one_entry_a_line(tmp_path: Path) -> None:
    prune, claim = found(source(), "kind: prune"), found(source(), "2x for", "CLM001", "claim")
    compared = against(Baseline(), prune, claim)
    after = renewed(compared, written(prune, claim).entries, Baseline(), strict=True)
    text = baseline_text(after)
    assert json.loads(text)["version"] == 1
    assert [json.loads(line.rstrip(","))["rule"] for line in text.splitlines()[1:-1]] == [
        "CLM001", "FLP002",
    ]  # fmt: skip
    (tmp_path / "known.json").write_text(text, encoding="utf-8")
    assert read_baseline(tmp_path / "known.json") == after


@given(
    st.lists(
        st.builds(Entry, st.text(), st.text(), st.text(), st.integers(0, 9), st.text()),
        unique_by=lambda entry: entry.key,
    )
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory,
                                      entries: list[Entry]) -> None:  # fmt: skip
    file = tmp_path_factory.getbasetemp() / "round.json"
    whole = Baseline(tuple(entries), strict=True)
    file.write_text(baseline_text(whole), encoding="utf-8", errors="surrogatepass")
    assert read_baseline(file) == whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such file or directory; --write-baseline makes one"),
        ("", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"version": 2, "findings": []}', "version 2 is not known"),
        ('{"version": 1, "findings": [{"path": "a"}]}', "is not a baseline"),
        ('{"version": 1, "findings": 3}', "is not a baseline"),
        (ODD_COUNT, "is not a baseline"),
    ],
)  # fmt: skip
def test_what_is_no_baseline_is_told(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "known.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(BaselineError) as error:
        read_baseline(file)
    assert said in str(error.value)
    assert "known.json" in str(error.value)
