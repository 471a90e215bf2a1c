"""Robust statistics of repeated timings: medians, spread, paired ratios, a line, a knee.

Timings have a hard lower end and a long upper tail (other processes, clocks), so medians stand
for the centre and the median absolute deviation for the width. Two variants are compared by the
ratios of runs that stood beside each other in time: slow drift cancels in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, sqrt
from statistics import fmean, median
from typing import Final, NamedTuple

_NORMAL: Final = 1.4826
"""Standard deviation of a normal distribution over its median absolute deviation."""
_MEDIAN_ERROR: Final = 1.2533
"""Standard error of a median over that of a mean, for normal deviates (sqrt(pi / 2))."""
_Z90: Final = 1.645
"""95th percentile of the normal distribution: 90% lie within it on both sides."""
_RISING: Final = 1.6
"""Time of the largest batch over that of half of it, from which its time follows the tokens."""

_NEARLY_FREE: Final = 1.25
"""Time of a step over that of batch 1 up to which more sequences count as free."""


class Ratio(NamedTuple):
    """A ratio of two times with its 90% interval."""

    low: float
    mid: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies inside the interval."""
        return self.low <= value <= self.high


class Line(NamedTuple):
    """t = fixed + bytes / rate, by least squares."""

    fixed_ms: float
    gbs: float
    """Slope as bandwidth, GB/s; infinite where the time does not rise with the bytes."""
    residual: float
    """Largest distance of a point from the line, as part of its time."""


class Knee(NamedTuple):
    """Where a batch sweep turns from flat to rising with the batch."""

    batch: float
    reached: bool
    """False where the largest batch tried is still below it: `batch` is then a lower bound."""
    free_until: int
    """Largest batch up to which every sequence more was nearly free."""


def spread(times: Sequence[float]) -> float:
    """Standard deviation over the median, from the median absolute deviation; 0 for one time."""
    centre = median(times)
    return _NORMAL * median(abs(time - centre) for time in times) / centre


def paired_speedup(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """How many times faster `after` is: the median over rounds of before / after.

    Times of one round share their place; a sequence that was cut short loses its last rounds.
    """
    ratios = [old / new for old, new in zip(before, after, strict=False)]
    middle = median(ratios)
    error = _t90(len(ratios) - 1) * _MEDIAN_ERROR * spread(ratios) / sqrt(len(ratios))
    if len(ratios) == 1:
        error = 1.0  # one pair says nothing of how far it scatters
    return Ratio(middle * max(1.0 - error, 0.0), middle, middle * (1.0 + error))


def _t90(degrees: int) -> float:
    """95th percentile of Student's t, by the Cornish-Fisher series; few rounds say less."""
    z, n = _Z90, max(degrees, 1)
    first = (z**3 + z) / (4 * n)
    return z + first + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)


def drift(times: Sequence[float]) -> float:
    """How far the medians of the first and the last third lie apart, as part of the whole's."""
    third = len(times) // 3
    if third < 1:
        return 0.0
    return abs(median(times[-third:]) - median(times[:third])) / median(times)


def fit_line(points: Sequence[tuple[float, float]]) -> Line:
    """Fixed time and bandwidth of (bytes, milliseconds): t = t0 + bytes / BW'.

    Raises:
        ValueError: for fewer than two different byte counts.

    """
    count, time = fmean(x for x, _ in points), fmean(t for _, t in points)
    spread_x = sum((x - count) ** 2 for x, _ in points)
    if spread_x == 0.0:
        raise ValueError("a line needs two different byte counts")
    slope = sum((x - count) * (t - time) for x, t in points) / spread_x
    fixed = time - slope * count
    residual = max(abs(fixed + slope * x - t) / t for x, t in points)
    return Line(fixed, 1e-6 / slope if slope > 0.0 else inf, residual)


def find_knee(sweep: Sequence[tuple[int, float]]) -> Knee | None:
    """The batch at which time per step stops being flat: the crossing of a roofline's two sides.

    `sweep` holds (batch, milliseconds) by rising batch. The flat side is the time of the smallest
    batch; the rising side goes through the origin and the largest batch. None for fewer than three
    batches or a smallest batch above 1.
    """
    if len(sweep) < 3 or sweep[0][0] != 1:
        return None
    flat = sweep[0][1]
    largest, time = sweep[-1]
    half, half_time = sweep[-2]
    # The rise over one step of the sweep, as if the batch had doubled.
    rise = (time / half_time) ** (log(2.0) / log(largest / half))
    free = 1
    for batch, taken in sweep[1:]:
        if taken > _NEARLY_FREE * flat:
            break
        free = batch
    return Knee(max(flat * largest / time, 1.0), rise >= _RISING, free)
