"""Patterns of files: what settings leave out, and which rules where."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.scope import Scope


@pytest.mark.parametrize(
    ("pattern", "path", "is_left_out"),
    [
        ("drafts/", "drafts/a.yaml", True),
        ("drafts/", "deep/drafts/a.yaml", True),
        ("/drafts/", "deep/drafts/a.yaml", False),
        ("drafts/", "drafts.yaml", False),
        ("*.tmp.yaml", "a/b.tmp.yaml", True),
        ("docs/**/old.md", "docs/a/b/old.md", True),
        ("docs/*.md", "docs/a/new.md", False),
        ("a.yaml", "./a.yaml", True),
        ("日本/", "日本/a.yaml", True),
    ],
)
def test_patterns_are_those_of_gitignore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, path: str, *, is_left_out: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Scope(str(tmp_path), (pattern,)).excludes(path) is is_left_out
    assert Scope(str(tmp_path), (pattern,)).excludes(str(tmp_path / path)) is is_left_out


def test_a_later_pattern_takes_files_back_in() -> None:
    scope = Scope(".", ("*.yaml", "!keep.yaml"))
    assert scope.excludes("a.yaml")
    assert not scope.excludes("keep.yaml")


def test_patterns_are_relative_to_their_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    scope = Scope(str(tmp_path), ("/inner/a.yaml",))
    assert scope.excludes("a.yaml")
    assert not scope.excludes("../a.yaml")
    assert not Scope(str(inner), ("*.yaml",)).excludes("../a.yaml")


def test_a_folder_is_left_out_with_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drafts").mkdir()
    assert Scope(".", ("drafts/",)).excludes("drafts")
    assert not Scope(".", ("drafts/",)).excludes(".")


def test_rules_are_left_out_by_every_pattern_that_matches() -> None:
    flp, kv = frozenset({"FLP001", "FLP002"}), frozenset({"KV001"})
    scope = Scope(".", (), (("docs/", flp), ("*.md", kv)))
    assert scope.ignored("docs/a.md") == flp | kv
    assert scope.ignored("a.md") == kv
    assert scope.ignored("a.yaml") == frozenset()
