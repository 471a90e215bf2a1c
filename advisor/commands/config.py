"""`rooflint config`: the settings that hold, and where each comes from."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.commands.options import SettingsOptions
from advisor.commands.settings import configured_by, planned_by
from advisor.outcome import Outcome
from advisor.reports.configuration import configuration_json, configuration_text
from advisor.reports.style import Style


def run_config(
    paths: Sequence[str], settings: SettingsOptions, output: str, style: Style
) -> Outcome:
    """Tell the settings, and what they mean for each of the files, as text or as json."""
    configured = configured_by(settings)
    planned = planned_by(configured)
    if output == "json":
        return Outcome(configuration_json(configured, planned, paths))
    return Outcome(configuration_text(configured, planned, paths, style))
