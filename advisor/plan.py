"""What one run is to do: the flags of the command line over the settings of the repository.

A flag that is given wins over its setting. `--select` starts afresh: the settings' `select` and
`ignore` do not hold beside it; `--ignore` adds to what they leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from advisor.checking import Run, known_rules
from advisor.config import (
    Configuration,
    FailOn,
    Settings,
    SettingsError,
    find_settings,
    read_settings,
)
from advisor.context import Defaults
from advisor.finding import Severity
from advisor.rule import LoadedRule
from advisor.scope import Scope
from advisor.selection import UnknownRuleError


class Flags(NamedTuple):
    """What the command line says on how to judge; None and empty: nothing."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    strict: bool = False


class Plan(NamedTuple):
    """How a run judges, and the severity from which on it fails."""

    run: Run
    limit: Severity


def configuration(start: Path, file: str | None = None, *, isolated: bool = False) -> Configuration:
    """The settings that hold in a folder: of the named file, else the nearest, else none.

    Raises:
        SettingsError: for settings that cannot be read.

    """
    if isolated and file is not None:
        raise SettingsError("--isolated takes no settings and --config names some: give one")
    if isolated:
        return Configuration(Settings())
    return find_settings(start) if file is None else read_settings(Path(file))


def plan(flags: Flags, configured: Configuration, rules: Iterable[LoadedRule] = ()) -> Plan:
    """Put flags over settings; `rules` are those beside the pack.

    Where the settings name rules that this run does not load, words of theirs may be about these,
    and those that mean nothing are passed over.

    Raises:
        UnknownRuleError: for a flag that names no rule.
        SettingsError: for a setting that names no rule.

    """
    settings, extra = configured.settings, tuple(rules)
    words = known_rules(extra)

    def of_settings(
        name: str, find: Callable[..., frozenset[str]], *given: Iterable[str]
    ) -> frozenset[str]:
        if settings.rules and not extra:
            given = tuple(filter(words.knows, each) for each in given)
        try:
            return find(*given)
        except UnknownRuleError as error:
            raise SettingsError(f"{configured.path}: {name}: {error}") from None

    chosen = of_settings("select, ignore", words.chosen, settings.select, settings.ignore)
    if flags.select:
        codes = words.chosen(flags.select, flags.ignore)
    else:
        codes = chosen - words.codes(flags.ignore)
    per_file = tuple(
        (pattern, of_settings(f"per-file-ignores {pattern!r}", words.codes, ignored))
        for pattern, ignored in settings.per_file_ignores.items()
    )
    limit = Severity[(flags.fail_on or settings.fail_on).upper()]
    run = Run(
        codes=codes,
        strict=flags.strict or settings.strict or limit is Severity.INFO,
        defaults=Defaults(settings.context),
        scope=Scope(str(configured.folder), settings.exclude, per_file),
        no_suppress=of_settings("no-suppress", words.codes, settings.no_suppress),
        rules=extra,
    )
    return Plan(run, limit)
