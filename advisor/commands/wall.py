"""`rooflint wall`: ridge points over the years, and a deployment on the roofline."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.audit import Audit
from advisor.commands.terminal import write_file
from advisor.outcome import CommandError, Outcome
from advisor.reports.style import Style
from advisor.reports.wall import ridges_drawing, roofline_drawing, wall_text
from advisor.wall import CLASSES, UnknownClassError, generations, roofline_of


def run_wall(
    audited: Audit,
    style: Style,
    *,
    classes: Sequence[str] | None,
    ridges_svg: str | None,
    roofline_svg: str | None,
) -> Outcome:
    """Tell the wall as text, and draw what is asked for.

    Raises:
        CommandError: for a class of hardware that is none.

    """
    try:
        rows = generations(classes or CLASSES)
    except UnknownClassError as error:
        raise CommandError(str(error)) from None
    roof = roofline_of(audited.context.deployment)
    for path, drawing in (
        (ridges_svg, ridges_drawing(rows)),
        (roofline_svg, roofline_drawing(roof)),
    ):
        if path is not None:
            write_file(path, drawing.svg())
    return Outcome(wall_text(rows, roof, style))
