"""Rows held out of the fit and predicted: errors, their stated deviations, intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from benchmarks.fitting import Array, Design, Fit
from benchmarks.measured import Row

COVERAGE: Final = 0.9
HELD_OUT_TOLERANCE: Final = 0.05


def folds_of(names: Iterable[str], count: int) -> dict[str, int]:
    """Deal names into folds: by a hash of each name, so that new rows move no others."""
    ordered = sorted(set(names), key=lambda name: sha256(name.encode()).hexdigest())
    return {name: place % count for place, name in enumerate(ordered)}


class Held(NamedTuple):
    """What a design says of rows that were held out of the fit."""

    residuals: Array
    """Log of measured over predicted time; NaN where a row was never held out."""
    deviations: Array
    pair_deviations: Array


def hold_out(
    design: Design,
    fit: Fit,
    folds: Mapping[int, int],
    pairs: Sequence[tuple[int, int]] = (),
) -> Held:
    """Predict every fold of rows (row -> fold) from a fit to all other rows.

    Pairs of rows are predicted where both are held out together.
    """
    count = len(design.observations)
    held = Held(np.full(count, np.nan), np.full(count, np.nan), np.full(len(pairs), np.nan))
    fold = np.array([folds.get(row, -1) for row in range(count)])
    for number in sorted(set(folds.values())):
        out = fold == number
        other = design.fit((~out).astype(float), fit.values, steps=12, tolerance=HELD_OUT_TOLERANCE)
        held.residuals[out] = design.residuals(other.values)[out]
        held.deviations[out] = design.deviations(other)[out]
        places = [place for place, (base, target) in enumerate(pairs) if out[base] and out[target]]
        if places:
            held.pair_deviations[places] = design.pair_deviations(
                other, [pairs[place][0] for place in places], [pairs[place][1] for place in places]
            )
    return held


def group_weights(groups: Sequence[str]) -> Array:
    """Weights by which every group counts the same."""
    sizes = Counter(groups)
    return np.array([1.0 / sizes[group] for group in groups])


def quantile(values: Array, weights: Array, part: float) -> float:
    """Weighted quantile."""
    order = np.argsort(values)
    summed = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(summed, part)])


def covering_scale(held: Held, rows: Sequence[int], groups: Sequence[str], noise: float) -> float:
    """Half-width in standard deviations that holds 90 % of the held-out groups' rows."""
    chosen = list(rows)
    ratio = np.abs(held.residuals[chosen]) / np.hypot(held.deviations[chosen], noise)
    return quantile(ratio, group_weights([groups[row] for row in chosen]), COVERAGE)


def served_pairs(rows: Sequence[Row]) -> dict[str, list[tuple[int, int]]]:
    """Served rows of one group and load that differ in format or in devices alone."""
    formats: dict[Hashable, dict[str, int]] = defaultdict(dict)
    devices: dict[Hashable, dict[int, int]] = defaultdict(dict)
    for place, row in enumerate(rows):
        deployment, split = row.deployment, row.deployment.parallelism
        if row.grade != "served" or deployment.weights is None:
            continue
        load = (row.group, row.prompt, row.output, deployment.batch)
        formats[*load, split].setdefault(deployment.weights.name, place)
        if split.attention_data == 1:
            layout = (*load, deployment.weights.name, split.expert > 1)
            devices[layout].setdefault(split.tensor, place)
    return {
        "weight format": [pair for cell in formats.values() for pair in pairwise(cell.values())],
        "devices": [
            pair for cell in devices.values() for pair in pairwise(cell[n] for n in sorted(cell))
        ],
    }


def pair_scale(
    held: Held, pairs: Sequence[tuple[int, int]], groups: Sequence[str], noise: float
) -> float:
    """Half-width in standard deviations that holds 90 % of the ratios of held-out groups."""
    errors = np.array([held.residuals[after] - held.residuals[before] for before, after in pairs])
    ratio = np.abs(errors) / np.hypot(held.pair_deviations, noise)
    return quantile(ratio, group_weights([groups[before] for before, _ in pairs]), COVERAGE)
