"""`rooflint diff`: what a change of configuration does to a decode step."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.commands.options import SettingsOptions
from advisor.commands.settings import configured_by, planned_by
from advisor.diffing import DiffError, diff
from advisor.outcome import CommandError, Outcome
from advisor.reports.diff import diff_markdown, diff_text
from advisor.reports.style import Style


def run_diff(
    old: str, new: str, paths: Sequence[str], settings: SettingsOptions, output: str, style: Style
) -> Outcome:
    """Compare two files, folders or revisions, as text or as markdown.

    Raises:
        CommandError: for what cannot be compared.

    """
    planned = planned_by(configured_by(settings))
    try:
        found = diff(old, new, paths, planned.run.defaults)
    except DiffError as error:
        raise CommandError(str(error)) from None
    if output == "markdown":
        return Outcome(diff_markdown(found))
    return Outcome(diff_text(found, style))
