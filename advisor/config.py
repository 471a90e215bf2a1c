"""Settings: [tool.rooflint] of the nearest pyproject.toml, or rooflint.toml.

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
    """What a repository sets for all runs."""

    context: Mapping[str, Any] = MappingProxyType({})
    """Facts, by name, that hold for every proposal that does not state its own."""
    select: tuple[str, ...] = ()
    """Rule codes or families to run; empty: all."""
    ignore: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    strict: bool = False


class Configuration(NamedTuple):
    """Settings and the file they come from."""

    settings: Settings
    path: Path | None = None


def find_settings(start: Path) -> Configuration:
    """Read the settings that hold for a folder: the nearest file at or above it.

    Raises:
        SettingsError: for a file that is not TOML, and for unknown keys or wrong values.

    """
    for folder in (start, *start.parents):
        own = folder / _OWN_FILE
        if own.is_file():
            return Configuration(_validated(own, _table(own)), own)
        shared = folder / _SHARED_FILE
        if shared.is_file() and _mentions_us(shared):
            table = _table(shared).get("tool", {})
            if isinstance(table, dict) and "rooflint" in table:
                return Configuration(_validated(shared, table["rooflint"]), shared)
    return Configuration(Settings())


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
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path}: cannot be read as TOML: {error}") from None


def _validated(path: Path, table: object) -> Settings:
    from advisor.config_table import read_table  # noqa: PLC0415  builds pydantic models

    return read_table(path, table)
