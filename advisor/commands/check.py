"""`rooflint check`: settings and flags to a plan, the run, the baseline, the report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from advisor.checking import Checked, against, check_run
from advisor.commands.options import CheckOptions, SettingsOptions, codes_in
from advisor.commands.settings import configured_by
from advisor.commands.terminal import write_file
from advisor.config import Configuration, SettingsError
from advisor.outcome import CommandError, Outcome
from advisor.plan import Flags, Plan, plan
from advisor.plugins import RuleError, load
from advisor.readers.discover import STDIN
from advisor.reports.style import Style
from advisor.rule import LoadedRule
from advisor.selection import UnknownRuleError


class _Step(NamedTuple):
    """A run on its way, and what to say about it on standard error."""

    checked: Checked
    notes: tuple[str, ...] = ()


def run_check(
    paths: Sequence[str], options: CheckOptions, settings: SettingsOptions, style: Style
) -> Outcome:
    """Check files and folders.

    Raises:
        CommandError: for rules, words, files and settings that cannot be used.

    """
    if options.statistics and options.output not in {"text", "json"}:
        raise CommandError("--statistics counts as text or as json, in no other format")
    configured = configured_by(settings)
    notes = _untrusted(configured)
    select, ignore = codes_in(options.select), codes_in(options.ignore)
    flags = Flags(select, ignore, options.fail_on, options.strict)
    try:
        planned = plan(flags, configured, _further_rules(options, configured))
    except (SettingsError, UnknownRuleError, RuleError) as error:
        raise CommandError(str(error)) from None
    if options.stdin_filename is not None:
        planned = planned._replace(run=planned.run._replace(stdin=options.stdin_filename))
    if _is_seen(options):
        planned = planned._replace(run=planned.run._replace(counts_more=not options.quiet))
    notes += _left_out(paths, planned, configured)
    if options.fix:
        notes += _mended(paths, planned)
    checked, more = _baselined(
        check_run(paths, planned.run), planned, _baseline_path(configured, options), options
    )
    failed = any(finding.severity >= planned.limit for finding in checked.findings)
    text = _report(checked, options, style)
    notes += more
    if options.file is not None:
        write_file(options.file, text)
        text, notes = "", (*notes, *(() if options.quiet else _written(checked, options.file)))
    said = "".join(f"rooflint: {note}\n" for note in notes)
    return Outcome(text, int(failed and not options.exit_zero), said)


def _mended(paths: Sequence[str], planned: Plan) -> tuple[str, ...]:
    """Mend files in place, and say which."""
    from advisor.fixes import fix  # noqa: PLC0415 - most runs change nothing

    return tuple(f"{path}: fixed" for path in fix(paths, planned.run))


def _further_rules(options: CheckOptions, configured: Configuration) -> tuple[LoadedRule, ...]:
    """Rules beside the pack: a file of settings names them only where the user names that file."""
    by_settings = configured.settings.rules if configured.named else ()
    return load([*(configured.folder / path for path in by_settings), *(options.rules or ())])


def _untrusted(configured: Configuration) -> tuple[str, ...]:
    if configured.named or not configured.settings.rules:
        return ()
    file = _shown(configured)
    return (
        f"{file} names rules; they are code, so only --config {file} or --rules PATH loads them",
    )


def _left_out(paths: Sequence[str], planned: Plan, configured: Configuration) -> tuple[str, ...]:
    """What to say about paths that the user names and that the settings leave out."""
    named = (planned.run.stdin if path == STDIN else path for path in paths)
    names = [path for path in named if path != STDIN and planned.run.scope.excludes(path)]
    if not names:
        return ()
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (f"{names[0]}{more}: left out by exclude in {_shown(configured)}",)


def _shown(configured: Configuration) -> str:
    assert configured.path is not None
    return os.path.relpath(configured.path)


def _baseline_path(configured: Configuration, options: CheckOptions) -> Path | None:
    """The flag's, else the settings', else that of `--write-baseline`."""
    if options.baseline is not None:
        return Path(options.baseline)
    if configured.settings.baseline is not None:
        return Path(os.path.relpath(configured.folder / configured.settings.baseline))
    if options.write_baseline:
        from advisor.baseline import DEFAULT_FILE  # noqa: PLC0415

        return Path(DEFAULT_FILE)
    return None


def _baselined(checked: Checked, planned: Plan, path: Path | None, options: CheckOptions) -> _Step:
    """Take out what the baseline accepts; with `--write-baseline`, accept what was found."""
    if path is None:
        return _Step(checked)
    from advisor import baseline  # noqa: PLC0415 - most runs have none

    try:
        is_first = options.write_baseline and not path.exists()
        before = baseline.Baseline() if is_first else baseline.read_baseline(path)
    except baseline.BaselineError as error:
        raise CommandError(str(error)) from None
    compared = against(checked, before, path.parent, planned.run)
    assert compared.baseline is not None
    if not options.write_baseline:
        stale = len(compared.baseline.stale)
        said = "1 entry matches" if stale == 1 else f"{stale:,} entries match"
        note = f"{said} nothing any more in {path}; --write-baseline drops such entries"
        return _Step(compared, (note,) if stale else ())
    found = baseline.entries_of(checked.findings, checked.sources, path.parent)
    after = baseline.renewed(compared.baseline, found, before, strict=planned.run.strict)
    write_file(path, baseline.baseline_text(after))
    old, new = ({entry.key for entry in one.entries} for one in (before, after))
    note = f"{path} holds {len(new):,} accepted: {len(new - old):,} new, {len(old - new):,} gone"
    return _Step(against(checked, after, path.parent, planned.run), (note,))


def _report(checked: Checked, options: CheckOptions, style: Style) -> str:
    terminal = _is_seen(options)
    if options.output in {"text", "concise", "github"} and not checked.findings and not terminal:
        return ""  # the usual end of a hook, without the import of what would be shown
    from advisor.reports import formats, statistics  # noqa: PLC0415

    root = formats.repository_root(Path.cwd())
    page = formats.PageSetup(style, options.quiet, terminal, root)
    if not options.statistics:
        return formats.write(options.output, checked, page)
    as_json = options.output == "json"
    return statistics.report_json(checked) if as_json else statistics.report(checked, page)


def _is_seen(options: CheckOptions) -> bool:
    """Whether somebody looks at the report."""
    return options.file is None and sys.stdout.isatty()


def _written(checked: Checked, file: str) -> tuple[str, ...]:
    from advisor.reports.text import summary  # noqa: PLC0415

    return (f"{summary(checked)}; see {file}",)
