"""`rooflint model`: what a model stores, keeps resident, streams and caches."""

from __future__ import annotations

from advisor.outcome import CommandError, Outcome
from advisor.reports.model import ModelError, find_model, model_report, model_text
from advisor.reports.style import Style


def run_model(name: str, output: str, style: Style) -> Outcome:
    """Count a model, as text or as json.

    Raises:
        CommandError: for a model that nobody knows or that cannot be counted.

    """
    try:
        facts = find_model(name)
    except ModelError as error:
        raise CommandError(str(error)) from None
    if output == "json":
        return Outcome(model_report(facts).model_dump_json(indent=2) + "\n")
    return Outcome(model_text(facts, style))
