"""The table of settings as it stands in a file, validated: unknown keys name the nearest known."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

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


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=lambda name: name.replace("_", "-"))

    context: _Context = _Context()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    strict: bool = False


def read_table(path: Path, table: object) -> Settings:
    """The settings of a table.

    Raises:
        SettingsError: for unknown keys and wrong values, one a line.

    """
    try:
        read = _Table.model_validate(table)
    except ValidationError as error:
        raise SettingsError("\n".join(_messages(path, error))) from None
    facts = MappingProxyType(read.context.model_dump(exclude_none=True))
    return Settings(facts, read.select, read.ignore, read.fail_on, read.strict)


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
            yield f"{path}: {place}: {message}"
