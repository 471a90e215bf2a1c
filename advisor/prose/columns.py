"""Tables of devices: a speed that was scaled by the peaks of a table, and not by its bandwidths.

Devices stand in the columns or in the rows. A bandwidth that the table leaves out is that of the
catalog for the device's name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from advisor.catalog.hardware import device
from advisor.forms import Form
from advisor.prose.frame import frame_of
from advisor.prose.model import Statement

Row = tuple[str, ...]
_PEAK: Final = Form(
    r"\b(?:[sdhb]?gemms?|matmuls?)\b|[gtp]flops|\btops\b|tensor (?:rate|throughput)|(?:cuda"
    r"|gpu) cores"
)
_KERNEL: Final = Form(
    r"\b(?:[sdhb]?gemms?|matmuls?|kernels?|mat ?mul)\b|\d{3,5} ?(?:\^|³|x|×|cubed)|M ?= ?\d{3}"
)
"""A peak that a kernel reached, and no specification."""
_BANDWIDTH: Final = Form(r"[gt]b/s|bandwidth")
_OF_PEAK: Final = re.compile(r"\d ?[GTP](?:FLOPS|FLOP/s|OPS)\b")
_PER_SECOND: Final = re.compile(r"(?<![\d.,])(\d[\d,]*(?:\.\d+)?) ?([GT])B/s")
"""What tells a column, or a row, by its cells where its label does not."""
_TIME: Final = Form(r"\bms\b|\btpot\b|\bitl\b|latency|\btime\b|seconds? per")
_NUMBER: Final = re.compile(r"\s*(?:[~≈]\s*)?(\d[\d,]*(?:\.\d+)?)(?!\d*B\b)")
_UNIT: Final = re.compile(r"\s*1(?:\.0+)? ?[x×]?\s*")
_ALIKE: Final = 0.06
_APART: Final = math.log(1.15)
"""From here on a factor is not that of the bandwidths."""
_ALMOST_ONE: Final = 0.08
"""Peaks this close to each other show nothing."""


class Scaled(NamedTuple):
    """A speed over that of another device, which is the ratio of their peaks."""

    claimed: float
    peak: float
    bandwidth: float
    of_kernel: bool = False
    """Two kernels on one device: its bandwidth stays as it is."""


def scaled_by_peak(statement: Statement) -> Scaled | None:
    """How a cell of speed was scaled, where the peaks tell it and the bandwidths do not."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    if own == 0 or own >= len(cells):
        return None
    if _PEAK.search(columns[own]) or _BANDWIDTH.search(columns[own]):
        return None
    return _across(columns, cells, statement.rows, own) or _down(
        columns, cells, statement.rows, own
    )


def _across(columns: Row, cells: Row, rows: Sequence[Row], own: int) -> Scaled | None:
    """Of devices in columns, against those before it or one that is 1 by itself."""
    peaks = _labelled(rows, _PEAK, _OF_PEAK)
    if peaks is None:
        return None
    rates = _labelled(rows, _BANDWIDTH, _PER_SECOND)
    label = f"{cells[0]} {columns[own]}"
    for other in range(1, len(cells)):
        if other == own or (other > own and _UNIT.fullmatch(cells[other]) is None):
            continue
        of_peak = _ratio(peaks, own, other)
        of_rate = _ratio(rates, own, other) if rates else _known(columns[own], columns[other])
        speed = _speed(cells[own], cells[other], label)
        found = _scaled(speed, of_peak, of_rate, _KERNEL.search(peaks[0]) is not None)
        if found is not None:
            return found
    return None


def _down(columns: Row, cells: Row, rows: Sequence[Row], own: int) -> Scaled | None:
    """Of devices in rows, against each row before."""
    peak = _column(columns, cells, _PEAK, _OF_PEAK)
    rate = _column(columns, cells, _BANDWIDTH, _PER_SECOND)
    if peak is None:
        return None
    for row in rows:
        if len(row) != len(cells):
            continue
        of_peak = _quotient(cells[peak], row[peak])
        of_rate = _quotient(cells[rate], row[rate]) if rate else _known(cells[0], row[0])
        speed = _speed(cells[own], row[own], columns[own])
        found = _scaled(speed, of_peak, of_rate, _KERNEL.search(columns[peak]) is not None)
        if found is not None:
            return found
    return None


def _scaled(
    claimed: float | None, peak: float | None, bandwidth: float | None, of_kernel: bool
) -> Scaled | None:
    if bandwidth is None and of_kernel:
        bandwidth = 1.0
    if claimed is None or peak is None or bandwidth is None:
        return None
    if abs(peak - 1.0) < _ALMOST_ONE or abs(claimed / peak - 1.0) > _ALIKE:
        return None
    if abs(math.log(claimed / bandwidth)) < _APART:
        return None
    return Scaled(claimed, peak, bandwidth, of_kernel)


def _labelled(rows: Sequence[Row], label: Form, unit: re.Pattern[str]) -> Row | None:
    """The row of a quantity, by its label or by the unit of each of its cells."""
    named = next((row for row in rows if row and label.search(row[0])), None)
    return named or next((row for row in rows if row[1:] and all(map(unit.search, row[1:]))), None)


def _column(columns: Row, cells: Row, label: Form, unit: re.Pattern[str]) -> int | None:
    """The column of a quantity, by its header or by the unit of a cell."""
    named = next((at for at, name in enumerate(columns) if label.search(name)), None)
    if named is not None:
        return named
    return next((at for at, cell in enumerate(cells) if at and unit.search(cell)), None)


def _ratio(row: Row, own: int, other: int) -> float | None:
    return _quotient(row[own], row[other]) if max(own, other) < len(row) else None


def _speed(cell: str, other: str, label: str) -> float | None:
    """How many times as fast; a time is the faster the smaller it is."""
    factor = _quotient(cell, other)
    if factor is None:
        return None
    return 1.0 / factor if _TIME.search(label) else factor


def _quotient(cell: str, other: str) -> float | None:
    above, below = _value(cell), _value(other)
    return above / below if above and below else None


def _value(cell: str) -> float | None:
    """The number that a cell begins with; of a bandwidth, in GB/s, wherever it stands."""
    rate = _PER_SECOND.search(cell)
    match = rate or _NUMBER.match(cell)
    if match is None:
        return None
    scale = 1e3 if rate is not None and rate[2] == "T" else 1.0
    return float(match[1].replace(",", "")) * scale


def _known(one: str, other: str) -> float | None:
    """The ratio of the bandwidths of two devices by their names."""
    names = frame_of(one).hardware, frame_of(other).hardware
    if names[0] is None or names[1] is None:
        return None
    return device(names[0]).bandwidth_gbs / device(names[1]).bandwidth_gbs
