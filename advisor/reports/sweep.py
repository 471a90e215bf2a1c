"""The answer of `rooflint sweep`: a table and a plot for people, every point for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from advisor.deployment import Deployment
from advisor.reports.columns import table
from advisor.reports.plot import Series, axis, svg, terminal
from advisor.reports.style import Style, wrap
from advisor.reports.table import describe
from advisor.roofline import Estimate, predict
from advisor.sweep import BOUNDS, Sweep
from advisor.wording import digits, span_of

Over = Literal["batch", "context"]

_ROWS: Final = 13
"""Rows of the table, spread over the points."""


class Curve(NamedTuple):
    """A sweep over one of batch and context, the other as the deployment has it."""

    deployment: Deployment
    over: Over
    values: list[int]
    result: Sweep


def sweep_text(curve: Curve, style: Style) -> str:
    """What was swept, a table of some points, the plot, and what to read off it."""
    lines = [*_title(curve, style), ""]
    chosen = _spread(curve.values)
    rows = [_row(value, predict(_at(curve, value))) for value in chosen]
    heading = (curve.over, "step ms", "interval", "tok/s each", "tok/s in all", "waits for", "fits")
    lines += table(heading, rows, style, right="rrlrr")
    lines += ["", *_plot(curve, style), "", *_marks(curve, style)]
    return "\n".join(lines) + "\n"


def _title(curve: Curve, style: Style) -> list[str]:
    return [style.paint(f"{describe(curve.deployment)}, over {curve.over}", "heading")]


def _at(curve: Curve, value: int) -> Deployment:
    return curve.deployment.evolve(**{curve.over: value})


def _spread(values: list[int]) -> list[int]:
    """Some of the values, each about the same factor from the next."""
    if len(values) <= _ROWS:
        return values
    growth = (values[-1] / values[0]) ** (1.0 / (_ROWS - 1))
    wanted = (values[0] * growth**number for number in range(_ROWS))
    return sorted({min(values, key=lambda value: abs(value - aim)) for aim in wanted})


def _row(value: int, found: Estimate) -> tuple[str, ...]:
    return (
        f"{value:,}", digits(found.expected_ms.mid), span_of(found.expected_ms),
        digits(found.tokens_per_second.mid), digits(found.throughput.mid), found.bound,
        "yes" if found.fits else "no",
    )  # fmt: skip


def _series(curve: Curve) -> list[Series]:
    result = curve.result
    places = [float(value) for value in curve.values]
    times = Series("expected step", list(zip(places, result.step_ms.tolist(), strict=True)))
    floors = Series("floor", list(zip(places, result.floor_ms.tolist(), strict=True)))
    return [times, floors]


def _plot(curve: Curve, style: Style) -> list[str]:
    series = _series(curve)
    x = axis(curve.over, [float(value) for value in curve.values], log=True)
    y = axis("ms", [point[1] for line in series for point in line.points], log=True)
    return terminal(series, x, y, width=min(style.width, 100))


def sweep_svg(curve: Curve) -> str:
    """The curve as an SVG document."""
    series = _series(curve)
    x = axis(curve.over, [float(value) for value in curve.values], log=True)
    y = axis("step time, ms", [point[1] for line in series for point in line.points], log=True)
    return svg(series, x, y, f"{describe(curve.deployment)}, over {curve.over}")


def _marks(curve: Curve, style: Style) -> Iterator[str]:
    """Where things change: the crossover batch, the context S*, the largest batch that fits."""
    here, context = predict(curve.deployment), curve.deployment.context
    ridge = f"ridge {digits(here.ridge)} FLOP/B, {here.math} math, peak rates"
    from_batch = f"crossover: from {here.crossover_batch:,.0f} tokens a step"
    told = [f"{from_batch} the linear layers are compute-bound ({ridge})"]
    limit = here.crossover_context
    if limit is not None:
        share = 1.0 / (1.0 + context / limit)
        told.append(
            f"S*: at {limit:,.0f} tokens of context reading the cache takes as long as the"
            f" products, at any batch; at {context:,} tokens the products are at most {share:.0%}"
            " of a large batch's step"
        )
    most = here.capacity.largest_batch
    told.append(f"memory: {most:,} sequences of {context:,} tokens fit")
    if changes := _changes(curve):
        told.append("waits: " + ", ".join(changes))
    for line in told:
        yield from wrap(line, style.width)


def _changes(curve: Curve) -> list[str]:
    bounds = [BOUNDS[index] for index in curve.result.bound.tolist()]
    told = [f"{bounds[0]} from {curve.values[0]:,}"]
    for value, before, after in zip(curve.values[1:], bounds, bounds[1:], strict=False):
        if after != before:
            told.append(f"{after} from {value:,}")
    return told if len(told) <= 6 else []


def sweep_rows(curve: Curve) -> Iterator[dict[str, float | int | str]]:
    """Every point."""
    result = curve.result
    columns = (
        curve.values, result.step_ms.tolist(), result.floor_ms.tolist(),
        result.tokens_per_second.tolist(), result.throughput.tolist(), result.bound.tolist(),
    )  # fmt: skip
    for value, step, floor, each, total, bound in zip(*columns, strict=True):
        yield {
            curve.over: value, "step_ms": step, "floor_ms": floor, "tokens_per_second": each,
            "throughput": total, "bound": BOUNDS[bound],
        }  # fmt: skip


def sweep_csv(curve: Curve) -> str:
    """Every point as CSV."""
    names = (curve.over, "step_ms", "floor_ms", "tokens_per_second", "throughput", "bound")
    lines = [",".join(names)]
    lines += [
        ",".join(f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row.values())
        for row in sweep_rows(curve)
    ]
    return "\n".join(lines) + "\n"


def sweep_json(curve: Curve) -> str:
    """Every point as JSON."""
    record = {"version": 1, "over": curve.over, "points": list(sweep_rows(curve))}
    return json.dumps(record) + "\n"
