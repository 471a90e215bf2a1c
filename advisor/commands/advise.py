"""`rooflint advise`: every usual lever on one deployment, the best first."""

from __future__ import annotations

from advisor.advise import Goal, advise
from advisor.audit import Audit
from advisor.outcome import Outcome
from advisor.reports.style import Style


def run_advise(
    audited: Audit,
    output: str,
    style: Style,
    *,
    goal: Goal,
    stack: int,
    must_fit: bool,
    max_devices: int | None,
) -> Outcome:
    """Rank levers on a deployment, as text under its audit, or as json."""
    ranking = advise(
        audited.context.deployment,
        goal=goal,
        stack=stack,
        must_fit=must_fit,
        max_devices=max_devices,
    )
    if output == "json":
        from advisor.reports.machine import advice_record  # noqa: PLC0415

        return Outcome(advice_record(ranking).model_dump_json(indent=2) + "\n")
    from advisor.reports.advice import advice_text  # noqa: PLC0415
    from advisor.reports.table import audit_text  # noqa: PLC0415

    return Outcome(f"{audit_text(audited, style)}\n{advice_text(ranking, style)}")
