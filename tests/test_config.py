"""Settings: the nearest file wins, unknown keys are named with their neighbour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.config import Settings, SettingsError, find_settings, read_settings


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    found = find_settings(tmp_path)
    assert found.settings.fail_on == Settings().fail_on == "warning"


def test_the_nearest_file_wins_whole(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.rooflint]\nfail-on = "error"\n[tool.rooflint.context]\nbatch = 8\n'
    )
    inner = tmp_path / "inner"
    inner.mkdir()
    assert find_settings(inner).settings.fail_on == "error"
    assert find_settings(inner).settings.context == {"batch": 8}
    (inner / "rooflint.toml").write_text('[context]\ncontext = "8k"\nhardware = "H200"\n')
    found = find_settings(inner)
    assert found.path == inner / "rooflint.toml"
    assert found.settings.fail_on == "warning"
    assert found.settings.context == {"context": 8192, "hardware": "H200"}


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "rooflint.toml").write_text("strict = true\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert find_settings(inner).settings.strict


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fail_onn = 'error'", "fail-on"),
        ("[context]\nbatchsize = 4", "did you mean 'batch'"),
        ("[context]\nbatch = 'lots'", "context.batch"),
        ("[context]\nweights = 'int44'", "unknown number format"),
        ("fail-on = 'never'", "fail-on"),
        ("this is not toml", "cannot be read as TOML"),
        ("per_file_ignores = {}", "did you mean 'per-file-ignores'"),
        ("ignore = 'FLP'", 'a list of texts, such as ["FLP"]'),
        ("[per-file-ignores]\n'docs/' = 'FLP'", 'such as ["FLP"]'),
        ("[context]\nhardware = 'H1000'", "H100"),
        ("[context]\nmodel = 'Lama-3.1-8B'", "Llama-3.1-8B"),
        ("[context]\nphase = 'training'", "context.phase"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rooflint.toml").write_text(text)
    with pytest.raises(SettingsError, match=re.escape(said)):
        find_settings(tmp_path)


def test_every_setting_is_read(tmp_path: Path) -> None:
    (tmp_path / "rooflint.toml").write_text(
        """\
select = ["FLP"]
ignore = ["FLP002"]
fail-on = "info"
strict = true
exclude = ["drafts/"]
no-suppress = ["CLM"]
baseline = "known.json"
rules = ["tools/rules"]
[per-file-ignores]
"docs/" = ["TXT", "kv-lever-small-share"]
[context]
kv-cache = "fp8"
lm_head = "int8"
"""
    )
    found = find_settings(tmp_path)
    assert found.settings == Settings(
        select=("FLP",),
        ignore=("FLP002",),
        fail_on="info",
        strict=True,
        exclude=("drafts/",),
        per_file_ignores={"docs/": ("TXT", "kv-lever-small-share")},
        no_suppress=("CLM",),
        baseline="known.json",
        rules=("tools/rules",),
        context={"kv_cache": "fp8", "lm_head": "int8"},
    )
    assert found.given == set(Settings._fields)
    assert found.folder == tmp_path


def test_a_named_pyproject_must_hold_the_table(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[project]\nname = 'x'\n")
    with pytest.raises(SettingsError, match=r"no \[tool.rooflint\]"):
        read_settings(file)
    file.write_text("[tool.rooflint]\nstrict = true\n")
    assert read_settings(file).settings.strict
