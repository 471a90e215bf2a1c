"""Settings: [tool.rooflint] of the nearest pyproject.toml, or rooflint.toml.

The nearest file above the working directory wins whole; nothing is merged. Unknown keys are
errors that name the nearest known one. Every setting is frozen once read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from advisor.levers.base import Count, FormatName, Tokens

FailOn = Literal["error", "warning", "info"]


class SettingsError(ValueError):
    """Settings that cannot be read: the message names the file, the key and what would be right."""


class ContextSettings(BaseModel):
    """Facts that hold for every proposal of the repository that does not state its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    hardware: str | None = None
    engine: str | None = None
    phase: Literal["decode", "prefill"] | None = None
    batch: Count | None = None
    context: Tokens | None = None
    weights: FormatName | None = None
    kv_cache: FormatName | None = None
    activations: FormatName | None = None
    lm_head: FormatName | None = None

    def stated(self) -> dict[str, Any]:
        """The facts that are set, by name."""
        return self.model_dump(exclude_none=True)


class Settings(BaseModel):
    """What a repository sets for all runs."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda name: name.replace("_", "-"),
        validate_by_name=True,
    )  # fmt: skip

    context: ContextSettings = ContextSettings()
    select: tuple[str, ...] = ()
    """Rule codes or families to run; empty: all."""
    ignore: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings and the file they come from."""

    settings: Settings
    path: Path | None = None


def find_settings(start: Path) -> Configuration:
    """Read the settings that hold for a folder: the nearest file at or above it.

    Raises:
        SettingsError: for a file that is not TOML, and for unknown keys or wrong values.

    """
    for folder in (start, *start.parents):
        own = folder / "rooflint.toml"
        if own.is_file():
            return Configuration(_read(own, _table(own)), own)
        shared = folder / "pyproject.toml"
        if shared.is_file():
            table = _table(shared).get("tool", {})
            if isinstance(table, dict) and "rooflint" in table:
                return Configuration(_read(shared, table["rooflint"]), shared)
    return Configuration(Settings())


def _table(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  only where there is a file to read

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path}: cannot be read as TOML: {error}") from None


def _read(path: Path, table: object) -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise SettingsError("\n".join(_messages(path, error))) from None


def _messages(path: Path, error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            model = ContextSettings if item["loc"][0] == "context" else Settings
            known = [name.replace("_", "-") for name in model.model_fields]
            if model is ContextSettings:
                known = list(model.model_fields)
            near = get_close_matches(str(item["loc"][-1]), known, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            yield f"{path}: unknown setting {place!r}{hint}"
        else:
            message = item["msg"].removeprefix("Value error, ")
            yield f"{path}: {place}: {message}"
