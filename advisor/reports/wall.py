"""The pages of `rooflint wall`: ridges by generation, and the classes of levers on one roofline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from advisor.reports.columns import table
from advisor.reports.plot import Axis, Series, axis, svg, terminal
from advisor.reports.style import Style
from advisor.reports.table import describe
from advisor.wall import Generation, Roofline
from advisor.wording import digits, factor


class Drawing(NamedTuple):
    """What a plot shows, for the terminal and for SVG alike."""

    title: str
    series: Sequence[Series]
    x: Axis
    y: Axis

    def text(self, style: Style) -> list[str]:
        """The plot in characters."""
        width = min(style.width, 100)
        return [
            style.paint(self.title, "heading"),
            *terminal(self.series, self.x, self.y, width=width),
        ]

    def svg(self) -> str:
        """The plot as an SVG document."""
        return svg(self.series, self.x, self.y, self.title)


def ridges_drawing(rows: Sequence[Generation]) -> Drawing:
    """Ridge points over the years, one series a class, and the narrower formats of the first."""
    by_class: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        points = by_class.setdefault(row.device.hardware_class, [])
        if row.ridge_16 is not None:
            points.append((row.device.year, row.ridge_16))
    series = [Series(f"{name}, 16-bit", points) for name, points in by_class.items() if points]
    first = rows[0].device.hardware_class if rows else ""
    own = [row for row in rows if row.device.hardware_class == first]
    for width, ridges in (
        ("8-bit", [(row.device.year, row.ridge_8) for row in own]),
        ("4-bit", [(row.device.year, row.ridge_4) for row in own]),
    ):
        known = [(float(year), ridge) for year, ridge in ridges if ridge is not None]
        if known:
            series.append(Series(f"{first}, {width}", known))
    values = [point[1] for line in series for point in line.points]
    years = [point[0] for line in series for point in line.points]
    return Drawing(
        "ridge point by year: FLOP per byte before arithmetic is the limit",
        series, axis("year", years), axis("FLOP/B", [*values, 1.0], log=True),
    )  # fmt: skip


def roofline_drawing(roof: Roofline) -> Drawing:
    """The roof of a deployment's devices, and the deployment under it, before and after levers."""
    places = roof.places
    lows = [place.intensity for place in places]
    x = axis("useful FLOP per byte moved", [min(lows) / 2, 4 * roof.ridge], log=True)
    rates = [place.flops_per_second / 1e12 for place in places]
    y = axis("useful TFLOP/s", [min(rates) / 2, roof.peak_flops / 1e12 * 1.5], log=True)
    peak = roof.peak_flops / 1e12
    slope = roof.bandwidth / 1e12
    line = [(x.low, x.low * slope), (roof.ridge, peak), (x.high, peak)]
    series = [
        Series(f"the roof: {slope:.3g} TB/s, {peak:,.0f} TFLOPS", line),
        *(
            Series(f"{place.label}: {place.about}", [(place.intensity, rate)], joined=False,
                   names=(place.label,))
            for place, rate in zip(places, rates, strict=True)
        ),
    ]  # fmt: skip
    return Drawing(describe(roof.step.deployment), series, x, y)


def wall_text(rows: Sequence[Generation], roof: Roofline, style: Style) -> str:
    """Both pages with their tables."""
    intensity = roof.step.estimate.intensity
    cells = [
        (
            row.device.hardware_class, str(row.device.year), row.device.name,
            f"{row.device.bandwidth_gbs:,.0f}",
            *map(_ridge, (row.ridge_16, row.ridge_8, row.ridge_4)),
            "" if row.ridge_16 is None else f"{row.ridge_16 / intensity:,.0f}x",
        )
        for row in rows
    ]  # fmt: skip
    heading = ("class", "year", "device", "GB/s", "ridge 16", "8-bit", "4-bit", "above decode")
    lines = table(heading, cells, style, right="llrrrrrr")
    model = roof.step.deployment.model.name.rsplit("/", 1)[-1]
    batch = f"batch {roof.step.deployment.batch}"
    lines += [
        "",
        f"above decode: ridge 16 over the {digits(intensity, 2)} FLOP/B of {model} at {batch}",
        "",
        *ridges_drawing(rows).text(style),
        "",
        *roofline_drawing(roof).text(style),
        "",
    ]
    moves = [
        (place.label, digits(place.intensity, 2), digits(place.flops_per_second / 1e12, 3),
         factor(place.speedup), place.about)
        for place in roof.places
    ]  # fmt: skip
    lines += table(("class of lever", "FLOP/B", "TFLOP/s", "per token", "what happens"), moves,
                   style, right="lrrr")  # fmt: skip
    return "\n".join(lines) + "\n"


def _ridge(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"
