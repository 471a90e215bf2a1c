"""The table of settings as it stands in a file, validated: unknown keys name the nearest known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from advisor.catalog.hardware import parse_hardware
from advisor.catalog.models import resolve_model
from advisor.catalog.names import UnknownNameError
from advisor.config import FailOn, Settings, SettingsError
from advisor.levers.base import Count, FormatName, Tokens


class _Context(BaseModel):
    model_config = ConfigDict(extra="forbid")

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
    measured: str | None = None
    """A run of `rooflint prove`, beside the file of settings or below it."""

    @model_validator(mode="before")
    @classmethod
    def _spelled_as_settings_are(cls, given: Any) -> Any:
        """The other settings are written with hyphens; here both are right."""
        if not isinstance(given, dict):
            return given
        return {str(name).replace("-", "_"): value for name, value in given.items()}

    @field_validator("model")
    @classmethod
    def _known_model(cls, name: str) -> str:
        match = resolve_model(name)
        if not match.found:
            raise ValueError(str(UnknownNameError("model", name, match.nearest)))
        return name

    @field_validator("hardware")
    @classmethod
    def _known_hardware(cls, name: str) -> str:
        _, match = parse_hardware(name)
        if not match.found:
            raise ValueError(str(UnknownNameError("hardware", name, match.nearest)))
        return name


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=lambda name: name.replace("_", "-"))

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    strict: bool = False
    exclude: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    no_suppress: tuple[str, ...] = ()
    baseline: str | None = None
    rules: tuple[str, ...] = ()
    context: _Context = _Context()


CONTEXT: Final = tuple(_Context.model_fields)
"""Names of the facts that settings may give."""


def read_table(path: Path, table: object) -> Settings:
    """The settings of a table.

    Raises:
        SettingsError: for unknown keys and wrong values, one a line.

    """
    try:
        read = _Table.model_validate(table)
    except ValidationError as error:
        raise SettingsError("\n".join(_messages(path, error))) from None
    return Settings(
        select=read.select,
        ignore=read.ignore,
        fail_on=read.fail_on,
        strict=read.strict,
        exclude=read.exclude,
        per_file_ignores=MappingProxyType(read.per_file_ignores),
        no_suppress=read.no_suppress,
        baseline=read.baseline,
        rules=read.rules,
        context=MappingProxyType(_facts(path, read.context)),
    )


def _facts(path: Path, context: _Context) -> dict[str, Any]:
    """What the settings say of every proposal; the run that they name as an absolute path."""
    facts = context.model_dump(exclude_none=True)
    if context.measured is not None:
        folder = path.resolve().parent
        run = (folder / context.measured).resolve()
        if folder not in run.parents:
            raise SettingsError(
                f"{path}: context.measured: {context.measured} lies outside {folder}"
            )
        facts["measured"] = str(run)
    return facts


def _messages(path: Path, error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            if item["loc"][0] == "context":
                known = list(_Context.model_fields)
            else:
                known = [name.replace("_", "-") for name in _Table.model_fields]
            near = get_close_matches(str(item["loc"][-1]), known, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            yield f"{path}: unknown setting {place!r}{hint}"
        else:
            message = item["msg"].removeprefix("Value error, ")
            if item["type"] == "tuple_type":
                message = f"write a list of texts, such as [{json.dumps(str(item['input']))}]"
            yield f"{path}: {place}: {message}"
