"""`rooflint explain`: the page of a rule, a lever or a term, or how to prove what limits decode."""

from __future__ import annotations

from collections.abc import Sequence

from advisor import explain
from advisor.commands.options import DeploymentOptions, SettingsOptions
from advisor.outcome import CommandError, Outcome
from advisor.plugins import RuleError, load
from advisor.reports.style import Style


def run_explain(
    subject: Sequence[str],
    given: DeploymentOptions,
    settings: SettingsOptions,
    rules: Sequence[str],
    style: Style,
) -> Outcome:
    """Tell what there is on a subject; without one, what there is.

    Raises:
        CommandError: for a subject without a page.

    """
    name = " ".join(subject)
    if name.lower() == explain.PROVE:
        return _protocol(given, settings, style)
    try:
        own = load(rules)
        return Outcome(explain.explain(name, style, own) if name else explain.contents(style, own))
    except (explain.UnknownSubjectError, RuleError) as error:
        raise CommandError(str(error)) from None


def _protocol(given: DeploymentOptions, settings: SettingsOptions, style: Style) -> Outcome:
    from advisor.commands.deployment import audited  # noqa: PLC0415
    from advisor.protocol import TITLE, protocol  # noqa: PLC0415
    from advisor.reports.page import page_text  # noqa: PLC0415

    text = protocol(audited(given, settings).context.deployment)
    return Outcome(page_text(TITLE, text, style))
