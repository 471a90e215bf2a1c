"""`rooflint sweep`: one deployment over batch or context."""

from __future__ import annotations

from typing import Literal

from advisor.audit import Audit
from advisor.commands.deployment import tokens
from advisor.commands.terminal import write_file
from advisor.outcome import CommandError, Outcome
from advisor.quantity import Dimension
from advisor.reports.style import Style

_RANGES = {"batch": (1, 256), "context": (256, 131_072)}
"""First and last value where nobody says."""


def run_sweep(
    audited: Audit,
    output: str,
    style: Style,
    *,
    over: Literal["batch", "context"],
    start: str | None,
    end: str | None,
    points: int,
    svg: str | None,
) -> Outcome:
    """Follow a deployment from `start` to `end`, as text, csv or json, and as a drawing.

    Raises:
        CommandError: for a range that is none; without numpy, which is an extra.

    """
    try:
        from advisor import sweep  # noqa: PLC0415
        from advisor.reports import sweep as report  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise CommandError("sweep needs numpy: pip install 'rooflint[sweep]'") from None
    counted = Dimension.TOKENS if over == "context" else Dimension.COUNT
    first, last = tokens(start, "--from", counted), tokens(end, "--to", counted)
    usual_first, usual_last = _RANGES[over]
    try:
        values = sweep.values_between(first or usual_first, last or usual_last, points)
    except sweep.SweepError as error:
        raise CommandError(str(error)) from None
    deployment = audited.context.deployment
    batches = values if over == "batch" else deployment.batch
    contexts = values if over == "context" else deployment.context
    curve = report.Curve(deployment, over, values, sweep.sweep(deployment, batches, contexts))
    if svg is not None:
        write_file(svg, report.sweep_svg(curve))
    if output == "csv":
        return Outcome(report.sweep_csv(curve))
    if output == "json":
        return Outcome(report.sweep_json(curve))
    return Outcome(report.sweep_text(curve, style))
