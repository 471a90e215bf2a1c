"""Settings: the nearest file wins, unknown keys are named with their neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.config import Settings, SettingsError, find_settings


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
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rooflint.toml").write_text(text)
    with pytest.raises(SettingsError, match=said.replace("(", r"\(")):
        find_settings(tmp_path)
