"""Settings: [tool.rooflint] of the nearest pyproject.toml, or rooflint.toml, or a named file.

The nearest file at or above the working directory wins whole; nothing is merged. What a file says
is validated by `config_table`, which is imported only where there is such a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

FailOn = Literal["error", "warning", "info"]

_OWN_FILE = "rooflint.toml"
_SHARED_FILE = "pyproject.toml"


class SettingsError(ValueError):
    """Settings that cannot be read: the message names the file, the key and what would be right."""


class Settings(NamedTuple):
    """What a repository sets for all runs. Words for rules are codes, families or names."""

    select: tuple[str, ...] = ()
    """Rules to run; empty: all."""
    ignore: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    strict: bool = False
    exclude: tuple[str, ...] = ()
    """Patterns of files that are not read, relative to the folder of the file of settings."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Patterns of files, each with the rules that do not run on them."""
    no_suppress: tuple[str, ...] = ()
    """Rules that no comment hides."""
    baseline: str | None = None
    """File of accepted findings, relative to the folder of the file of settings."""
    rules: tuple[str, ...] = ()
    """Files and folders of further rules, relative to the folder of the file of settings."""
    context: Mapping[str, Any] = MappingProxyType({})
    """Facts, by name, that hold for every proposal that does not state its own."""


class Configuration(NamedTuple):
    """Settings, the file they come from, and what that file sets itself."""

    settings: Settings
    path: Path | None = None
    given: frozenset[str] = frozenset()
    """Names of the fields of `Settings` that the file sets."""
    named: bool = False
    """Whether the user named the file: it may then say what code to load."""

    @property
    def folder(self) -> Path:
        """What paths in the settings are relative to."""
        return Path() if self.path is None else self.path.parent


def find_settings(start: Path) -> Configuration:
    """Read the settings that hold for a folder: the nearest file at or above it.

    Raises:
        SettingsError: for a file that is not TOML, and for unknown keys or wrong values.

    """
    for folder in (start, *start.parents):
        own = folder / _OWN_FILE
        if own.is_file():
            return _configuration(own, _table(own))
        shared = folder / _SHARED_FILE
        if shared.is_file() and _mentions_us(shared):
            table = _table(shared).get("tool", {})
            if isinstance(table, dict) and "rooflint" in table:
                return _configuration(shared, table["rooflint"])
    return Configuration(Settings())


def read_settings(path: Path) -> Configuration:
    """Read the settings of a file that the user names; a pyproject.toml holds them in a table.

    Raises:
        SettingsError: as `find_settings`, and where there is no such file or table.

    """
    table: object = _table(path)
    if path.name == _SHARED_FILE:
        tools = _table(path).get("tool", {})
        if not isinstance(tools, dict) or "rooflint" not in tools:
            raise SettingsError(f"{path}: there is no [tool.rooflint] in it")
        table = tools["rooflint"]
    return _configuration(path, table)._replace(named=True)


def _mentions_us(path: Path) -> bool:
    """Whether a file can hold the table at all; most do not, and are then not parsed."""
    try:
        data = path.read_bytes()
    except OSError:
        return True  # parsing says why
    return b"rooflint" in data


def _table(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  only where there is a file to read

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: cannot be read as TOML: it is no text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: cannot be read as TOML: {error}") from None


def _configuration(path: Path, table: object) -> Configuration:
    from advisor.config_table import read_table  # noqa: PLC0415  builds pydantic models

    return Configuration(read_table(path, table), path, _given(table))


def _given(table: object) -> frozenset[str]:
    assert isinstance(table, dict)
    return frozenset(name.replace("-", "_") for name in table)
