"""Flags over settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.checking import known_rules
from advisor.config import Configuration, Settings, SettingsError
from advisor.finding import Severity
from advisor.plan import Flags, configuration, plan
from advisor.selection import UnknownRuleError

EVERY = known_rules().chosen()
FLP = known_rules().codes(["FLP"])


NONE = Flags()


def planned(flags: Flags = NONE, **settings: object) -> frozenset[str]:
    configured = Configuration(Settings(**settings), Path("rooflint.toml"))  # type: ignore[arg-type]
    codes = plan(flags, configured).run.codes
    assert codes is not None
    return codes


def test_settings_hold_where_no_flag_says_otherwise() -> None:
    assert planned() == EVERY
    assert planned(select=("FLP",), ignore=("FLP002",)) == FLP - {"FLP002"}


def test_to_ignore_adds_to_the_settings() -> None:
    assert planned(Flags(ignore=("KV",)), ignore=("FLP",)) == EVERY - FLP - {
        code for code in EVERY if code.startswith("KV")
    }
    assert planned(Flags(ignore=("FLP",)), select=("FLP002",)) == set()


def test_to_select_starts_afresh() -> None:
    assert planned(Flags(select=("FLP002",)), select=("KV",), ignore=("FLP",)) == {"FLP002"}
    assert planned(Flags(select=("ALL",)), ignore=("FLP",)) == EVERY


@pytest.mark.parametrize(
    ("flags", "settings", "limit", "strict"),
    [
        (Flags(), {}, Severity.WARNING, False),
        (Flags(fail_on="error"), {"fail_on": "info"}, Severity.ERROR, False),
        (Flags(), {"fail_on": "info"}, Severity.INFO, True),
        (Flags(strict=True), {}, Severity.WARNING, True),
        (Flags(), {"strict": True}, Severity.WARNING, True),
    ],
)
def test_the_level_of_failing(
    flags: Flags, settings: dict[str, object], limit: Severity, *, strict: bool
) -> None:
    made = plan(flags, Configuration(Settings(**settings)))  # type: ignore[arg-type]
    assert (made.limit, made.run.strict) == (limit, strict)


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"select": ("FLP02",)}, "select"),
        ({"ignore": ("FLP02",)}, "ignore"),
        ({"no_suppress": ("FLP02",)}, "no-suppress"),
        ({"per_file_ignores": {"docs/": ("FLP02",)}}, "per-file-ignores 'docs/'"),
    ],
)
def test_a_setting_that_names_no_rule_is_told_with_its_place(
    settings: dict[str, object], place: str
) -> None:
    with pytest.raises(SettingsError) as error:
        planned(**settings)
    for words in ("rooflint.toml", place, "did you mean FLP002?"):
        assert words in str(error.value)


def test_a_flag_that_names_no_rule_is_told_as_one() -> None:
    with pytest.raises(UnknownRuleError, match="did you mean FLP002"):
        planned(Flags(ignore=("FLP02",)))


def test_where_settings_come_from(tmp_path: Path) -> None:
    (tmp_path / "rooflint.toml").write_text("strict = true\n")
    (tmp_path / "other.toml").write_text('fail-on = "error"\n')
    found = configuration(tmp_path)
    assert (found.settings.strict, found.named, found.given) == (True, False, {"strict"})
    named = configuration(tmp_path, str(tmp_path / "other.toml"))
    assert (named.settings.fail_on, named.settings.strict, named.named) == ("error", False, True)
    assert configuration(tmp_path, isolated=True) == Configuration(Settings())
    with pytest.raises(SettingsError, match="give one"):
        configuration(tmp_path, "other.toml", isolated=True)
    with pytest.raises(SettingsError, match="no such file"):
        configuration(tmp_path, str(tmp_path / "missing.toml"))
