"""`rooflint predict`: bytes and time of one step of one deployment."""

from __future__ import annotations

from advisor.audit import Audit
from advisor.outcome import Outcome
from advisor.reports.style import Style


def run_predict(audited: Audit, output: str, style: Style) -> Outcome:
    """Tell the estimate of a deployment, as text or as json."""
    if output == "json":
        from advisor.reports.machine import estimate_record  # noqa: PLC0415

        record = estimate_record(audited.baseline.estimate)
        return Outcome(record.model_dump_json(indent=2) + "\n")
    from advisor.reports.table import audit_text  # noqa: PLC0415

    return Outcome(audit_text(audited, style))
