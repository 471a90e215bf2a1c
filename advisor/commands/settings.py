"""The settings that hold for a command, and a run as they alone say."""

from __future__ import annotations

from pathlib import Path

from advisor.commands.options import SettingsOptions
from advisor.config import Configuration, SettingsError
from advisor.outcome import CommandError
from advisor.plan import Flags, Plan, configuration, plan


def configured_by(given: SettingsOptions) -> Configuration:
    """The settings that hold here.

    Raises:
        CommandError: for settings that cannot be read.

    """
    try:
        return configuration(Path.cwd(), given.config, isolated=given.isolated)
    except SettingsError as error:
        raise CommandError(str(error)) from None


def planned_by(configured: Configuration) -> Plan:
    """A run as the settings alone say.

    Raises:
        CommandError: for settings that name no rule.

    """
    try:
        return plan(Flags(), configured)
    except SettingsError as error:
        raise CommandError(str(error)) from None
