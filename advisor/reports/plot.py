"""Plots of points and lines: characters for a terminal, SVG for a page. Nothing else is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, isfinite, log10
from typing import Final, NamedTuple

Point = tuple[float, float]

_PALETTE: Final = ("#0b6e99", "#c2410c", "#4d7c0f", "#7e22ce", "#a16207", "#be123c", "#334155")
"""Dark enough on white, far enough apart for most eyes; lines also differ by their dashes."""
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
_MARKS: Final = "ox+*#@%"
_FONT: Final = 'font-family="system-ui, sans-serif" font-size="12"'
_LEFT, _RIGHT, _TOP, _BOTTOM, _LEGEND_ROW = 74, 24, 40, 52, 18


class Axis(NamedTuple):
    """What an axis shows and between which values; both ends are shown."""

    label: str
    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value stands on the axis, 0 to 1 within its ends."""
        if self.log:
            low, high, value = log10(self.low), log10(self.high), log10(max(value, 1e-300))
        else:
            low, high = self.low, self.high
        return (value - low) / (high - low) if high > low else 0.5

    def ticks(self) -> list[float]:
        """Round values on the axis: powers of ten, or steps of 1, 2 or 5."""
        if self.log:
            first, last = floor(log10(self.low)), ceil(log10(self.high))
            powers = [10.0**power for power in range(first, last + 1)]
            fine = powers if last - first > 3 else [p * nice for p in powers for nice in (1, 2, 5)]
            within = [m for m in fine if self.low <= m * 1.001 and m <= self.high * 1.001]
            return within or [self.low, self.high]
        step = _round_step((self.high - self.low) / 5 or 1.0)
        first = ceil(self.low / step - 1e-9)
        last = floor(self.high / step + 1e-9)
        return [count * step for count in range(first, last + 1)]


class Series(NamedTuple):
    """Points of one kind, joined or not, under one name."""

    label: str
    points: Sequence[Point]
    joined: bool = True
    names: Sequence[str] = ()
    """A word beside each point, where points have names."""


def axis(label: str, values: Sequence[float], *, log: bool = False) -> Axis:
    """An axis that holds all the values, with a little room."""
    known = [value for value in values if isfinite(value) and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    if log:
        return Axis(label, low / 1.25, high * 1.25, log=True)
    room = 0.05 * (high - low or abs(high) or 1.0)
    return Axis(label, 0.0 if 0 <= low <= 0.5 * high else low - room, high + room)


def terminal(
    series: Sequence[Series], x: Axis, y: Axis, *, width: int = 78, height: int = 18
) -> list[str]:
    """The plot in characters, `width` columns wide: one mark a series, named below."""
    gutter = max(len(short(tick)) for tick in y.ticks()) + 1
    columns = max(width - gutter - 2, 20)
    grid = [[" "] * columns for _ in range(height)]
    for number, line in enumerate(series):
        mark = _MARKS[number % len(_MARKS)]
        for place_x, place_y in _cells(line, x, y, columns):
            grid[height - 1 - round(place_y * (height - 1))][round(place_x * (columns - 1))] = mark
    labels = {height - 1 - round(y.place(tick) * (height - 1)): short(tick) for tick in y.ticks()}
    lines = [f"{'':{gutter}} {y.label}"]
    for number, row in enumerate(grid):
        lines.append(f"{labels.get(number, ''):>{gutter}} |{''.join(row).rstrip()}")
    lines.append(f"{'':{gutter}} +{'-' * columns}")
    lines.append(f"{'':{gutter}}  {_tick_line(x, columns)}".rstrip())
    lines.append(f"{'':{gutter}}  {x.label:^{columns}}".rstrip())
    lines += [
        f"{'':{gutter}}  {_MARKS[number % len(_MARKS)]} {line.label}"
        for number, line in enumerate(series)
    ]
    return lines


def svg(
    series: Sequence[Series], x: Axis, y: Axis, title: str, *, width: int = 760, height: int = 460
) -> str:
    """The plot as an SVG document that stands alone; the names of the series stand below it."""
    inner_width, inner_height = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM
    page_height = height + _LEGEND_ROW * len(series) + 8

    def at(point: Point) -> Point:
        return (
            _LEFT + x.place(point[0]) * inner_width,
            _TOP + (1.0 - y.place(point[1])) * inner_height,
        )

    box = f'viewBox="0 0 {width} {page_height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {_FONT} role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{page_height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-size="15" fill="#111827">{escape(title)}</text>',
    ]
    for tick in x.ticks():
        place = at((tick, y.low))[0]
        parts.append(_rule(place, _TOP, place, height - _BOTTOM))
        parts.append(_text(place, height - _BOTTOM + 18, short(tick), "middle"))
    for tick in y.ticks():
        place = at((x.low, tick))[1]
        parts.append(_rule(_LEFT, place, width - _RIGHT, place))
        parts.append(_text(_LEFT - 8, place + 4, short(tick), "end"))
    parts.append(_text(_LEFT + inner_width / 2, height - 12, x.label, "middle"))
    middle = _TOP + inner_height / 2
    parts.append(
        f'<text x="16" y="{middle:.0f}" text-anchor="middle" fill="#374151" '
        f'transform="rotate(-90 16 {middle:.0f})">{escape(y.label)}</text>'
    )
    for number, line in enumerate(series):
        parts += _drawn(line, number, [at(point) for point in line.points])
    parts += _legend(series, height)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _drawn(line: Series, number: int, places: list[Point]) -> Iterator[str]:
    colour = _PALETTE[number % len(_PALETTE)]
    if line.joined and len(places) > 1:
        dash = _DASHES[number // len(_PALETTE) % len(_DASHES)]
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        yield (
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'
        )
    else:
        for px, py in places:
            yield f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{colour}"/>'
    for name, (px, py) in zip(line.names, places, strict=False):
        below = 14 if number % 2 else -7  # names of neighbours keep out of each other's way
        yield (
            f'<text x="{px + 6:.1f}" y="{py + below:.1f}" font-size="10" fill="{colour}">'
            f"{escape(name)}</text>"
        )


def _legend(series: Sequence[Series], top: int) -> Iterator[str]:
    for number, line in enumerate(series):
        colour = _PALETTE[number % len(_PALETTE)]
        row = top + _LEGEND_ROW * number + 4
        dash = _DASHES[number // len(_PALETTE) % len(_DASHES)]
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        yield (
            f'<line x1="{_LEFT}" y1="{row}" x2="{_LEFT + 18}" y2="{row}" '
            f'stroke="{colour}" stroke-width="3"{dashed}/>'
        )
        yield _text(_LEFT + 26, row + 4, line.label, "start")


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="#e5e7eb" stroke-width="1"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="#374151">{escape(words)}</text>'


def short(value: float) -> str:
    """A tick's value in few characters: 0.1, 2024, 40k, 1.5M."""
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= max(scale, 1e4):
            return f"{value / scale:.4g}{unit}"
    return f"{value:.4g}"


def _round_step(step: float) -> float:
    power = 10.0 ** floor(log10(step))
    return next(nice * power for nice in (1.0, 2.0, 5.0, 10.0) if nice * power >= step * 0.999)


def _cells(line: Series, x: Axis, y: Axis, columns: int) -> Iterator[Point]:
    """Places of a series on the grid: its points, and what joins them."""
    places = [(x.place(px), y.place(py)) for px, py in line.points]
    for number, (px, py) in enumerate(places):
        steps = 1
        qx, qy = px, py
        if line.joined and number + 1 < len(places):
            qx, qy = places[number + 1]
            steps = max(1, round(abs(qx - px) * columns))
        for step in range(steps):
            part = step / steps
            cell = (px + (qx - px) * part, py + (qy - py) * part)
            if 0.0 <= cell[0] <= 1.0 and 0.0 <= cell[1] <= 1.0:
                yield cell


def _tick_line(x: Axis, columns: int) -> str:
    line = [" "] * columns
    for tick in x.ticks():
        words = short(tick)
        start = round(x.place(tick) * (columns - 1)) - len(words) // 2
        start = min(max(start, 0), columns - len(words))
        if all(character == " " for character in line[max(start - 1, 0) : start + len(words) + 1]):
            line[start : start + len(words)] = words
    return "".join(line)
