"""One deployment given by options, as several commands take it."""

from __future__ import annotations

from typing import Any

from advisor.audit import Audit
from advisor.audit import audit as judge
from advisor.checking import proposal_of
from advisor.commands.options import DeploymentOptions, SettingsOptions
from advisor.commands.settings import configured_by
from advisor.context import Defaults
from advisor.outcome import CommandError
from advisor.quantity import Dimension, QuantityError, parse_quantity


def audited(given: DeploymentOptions, settings: SettingsOptions, phase: str | None = None) -> Audit:
    """Audit the deployment alone, over the settings.

    Raises:
        CommandError: for names that nobody knows, and for settings that cannot be read.

    """
    facts: dict[str, Any] = {
        name.removesuffix("_parallel"): value for name, value in given._asdict().items()
    }
    for name, value in given._asdict().items():
        if value == "":
            raise CommandError(f"--{name.replace('_', '-')}: nothing is given")
    facts |= {"context": tokens(given.context), "phase": phase}
    defaults = Defaults(configured_by(settings).settings.context)
    found, problems = judge(proposal_of(facts), defaults)
    if found is None:
        raise CommandError("; ".join(problem.message for problem in problems))
    return found


def tokens(
    text: str | None, option: str = "--context", counted: Dimension = Dimension.TOKENS
) -> int | None:
    """A count, of tokens or other things, as people write it; None where nobody gave one.

    Raises:
        CommandError: for text that is none, with the option that it was given for.

    """
    try:
        return None if text is None else int(parse_quantity(text, counted).value)
    except QuantityError as error:
        raise CommandError(f"{option}: {error}") from None
