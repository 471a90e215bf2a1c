"""The fit behind timing.json: a robust, shrunken least squares of log time (numpy only).

Every coefficient is a sum of effects (advisor.timing.effects). The fit maximises the posterior of
all effects together: residuals of log time with Huber's loss, each effect drawn to 0 (or to its
stated prior mean) with the width of its kind. Gauss-Newton with reweighting; deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.timing.effects import Effect, kind_of

Array = NDArray[np.float64]

NEVER_FITTED: Final = 1e3
"""Sigma of rows that are kept to be predicted only."""

BUS: Final = 0.98
"""No kernel reaches more of the peak bandwidth than this."""


class Segment(NamedTuple):
    """Weights of one kernel family in one step, as times at peak rates (ms)."""

    bandwidth: Sequence[Effect]
    dequantize: Sequence[Effect]
    memory_ms: float
    vector_ms: float
    """One vector operation per weight at the FP32 peak."""
    math_ms: float
    """The FLOPs at the rate the matrix units reach."""


class Observation(NamedTuple):
    """One measured row and everything of it that the model sees."""

    id: str
    group: str
    card: str
    measured_ms: float
    sigma: float
    knee: float
    """Residuals beyond this count linearly (Huber)."""
    segments: Sequence[Segment]
    cache: Sequence[Effect]
    cache_ms: float
    cache_math_ms: float
    """The FLOPs of attention at the rate the matrix units reach."""
    layer: Sequence[Effect]
    layers: float
    growth: Sequence[Effect]
    log_sequences: float
    reduce: Sequence[Effect]
    reduce_ms: float
    """All-reduces at the time the collective library takes in a loop."""
    hop: Sequence[Effect]
    hops: float
    prefill: Sequence[Effect]
    prefill_ms: float
    """Prefill of other requests that falls between two tokens, at the rate of the matrix units."""
    constant_ms: float
    """What nothing fitted changes."""


TERMS: Final = ("bandwidth", "dequantize", "kv", "layer", "growth", "reduce", "hop", "prefill")


@dataclass(frozen=True)
class Priors:
    """Means of the intercepts and widths of every kind of effect."""

    means: Mapping[str, float]
    widths: Mapping[str, float]
    weight_exponent: float
    """A row weighs its group's rows to the minus this."""

    def width(self, key: str) -> float:
        """Prior width of an effect: of its population's own kind, else of its kind."""
        own = self.widths.get(key.partition("=")[0])
        return self.widths[kind_of(key)] if own is None else own

    def mean(self, key: str) -> float:
        """Prior mean of an effect: of its population's own, else of its kind; deviations have 0."""
        return self.means.get(key, 0.0 if "=" in key else self.means.get(kind_of(key), 0.0))


class Fit(NamedTuple):
    """A fitted set of effects."""

    values: Array
    conditional_sd: Array
    """Of each effect with all others held: 1/sqrt of the Hessian's diagonal."""


class _Parts(NamedTuple):
    """Times of a design at given effects (ms): of segments, then of rows."""

    memory: Array
    slack: Array
    """1 less the fraction of the bus reached: how much of an effect the time follows."""
    vector: Array
    cache: Array
    cache_slack: Array
    layer: Array
    reduce: Array
    hop: Array
    prefill: Array
    total: Array


class Design:
    """Observations as arrays: what times stand at peak rates, and which effects scale them."""

    def __init__(self, observations: Sequence[Observation], priors: Priors) -> None:
        """Collect the effects in use and lay the rows out."""
        self.observations = observations
        self.priors = priors
        self.keys: dict[str, int] = {}
        for row in observations:
            for segment in row.segments:
                self._note(segment.bandwidth)
                self._note(segment.dequantize)
            for effects in (row.cache, row.layer, row.growth, row.reduce, row.hop, row.prefill):
                self._note(effects)
        self.width = np.array([priors.width(key) for key in self.keys])
        self.mean = np.array([priors.mean(key) for key in self.keys])
        segments = [segment for row in observations for segment in row.segments]
        counts = [len(row.segments) for row in observations]
        self.starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int)
        self.owner = np.repeat(np.arange(len(observations)), counts)
        self.x_bandwidth = self._matrix([segment.bandwidth for segment in segments])
        self.x_dequantize = self._matrix([segment.dequantize for segment in segments])
        self.memory = np.array([segment.memory_ms for segment in segments])
        self.vector = np.array([segment.vector_ms for segment in segments])
        self.math = np.array([segment.math_ms for segment in segments])
        self.x = {
            "kv": self._matrix([row.cache for row in observations]),
            "layer": self._matrix([row.layer for row in observations]),
            "growth": self._matrix([row.growth for row in observations]),
            "reduce": self._matrix([row.reduce for row in observations]),
            "hop": self._matrix([row.hop for row in observations]),
            "prefill": self._matrix([row.prefill for row in observations]),
        }
        self.cache = self._column(lambda row: row.cache_ms)
        self.cache_math = self._column(lambda row: row.cache_math_ms)
        self.layers = self._column(lambda row: row.layers * 1e-3)
        self.log_sequences = self._column(lambda row: row.log_sequences)
        self.reduce = self._column(lambda row: row.reduce_ms)
        self.hops = self._column(lambda row: row.hops)
        self.prefill = self._column(lambda row: row.prefill_ms)
        self.constant = self._column(lambda row: row.constant_ms)
        self.target = self._column(lambda row: log(row.measured_ms))
        self.sigma = self._column(lambda row: row.sigma)
        self.knee = self._column(lambda row: row.knee)
        sizes = Counter(row.group for row in observations)
        self.weight = self._column(lambda row: sizes[row.group] ** -priors.weight_exponent)

    def told(self) -> set[str]:
        """Effects of the rows that are fitted to, rather than only predicted."""
        chosen = [row for row in self.observations if row.sigma < NEVER_FITTED]
        lists = [
            effects
            for row in chosen
            for effects in (row.cache, row.layer, row.growth, row.reduce, row.hop, row.prefill)
        ]
        lists += [
            effects
            for row in chosen
            for part in row.segments
            for effects in (part.bandwidth, part.dequantize)
        ]
        return {effect.key for effects in lists for effect in effects}

    def _note(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            self.keys.setdefault(effect.key, len(self.keys))

    def _matrix(self, lists: Sequence[Sequence[Effect]]) -> Array:
        matrix = np.zeros((len(lists), len(self.keys)))
        for position, effects in enumerate(lists):
            for effect in effects:
                matrix[position, self.keys[effect.key]] += effect.weight
        return matrix

    def _column(self, get: Callable[[Observation], float]) -> Array:
        return np.array([get(row) for row in self.observations], dtype=float)

    def _parts(self, values: Array) -> _Parts:
        """Times of every term at the given effects."""
        x = self.x
        reached = 1.0 / (1.0 + np.exp(-(self.x_bandwidth @ values)))
        memory = self.memory / (BUS * reached)
        vector = self.vector * np.exp(self.x_dequantize @ values)
        streams = memory + vector >= self.math
        cache_reached = 1.0 / (1.0 + np.exp(-(x["kv"] @ values)))
        growth = x["growth"] @ values
        weights = np.add.reduceat(np.where(streams, memory + vector, self.math), self.starts)
        cache = self.cache / (BUS * cache_reached)
        reads = cache >= self.cache_math
        parts = _Parts(
            np.where(streams, memory, 0.0),
            1.0 - reached,
            np.where(streams, vector, 0.0),
            np.where(reads, cache, 0.0),
            1.0 - cache_reached,
            self.layers * np.exp(x["layer"] @ values + growth * self.log_sequences),
            self.reduce * np.exp(x["reduce"] @ values),
            self.hops * np.exp(x["hop"] @ values),
            self.prefill * np.exp(x["prefill"] @ values),
            weights,
        )
        total = (
            weights
            + np.where(reads, 0.0, self.cache_math)
            + parts.cache
            + parts.layer
            + parts.reduce
            + parts.hop
            + parts.prefill
        )
        return parts._replace(total=total + self.constant)

    def predict(self, values: Array) -> Array:
        """Log of the predicted time of every row."""
        return np.log(self._parts(values).total)

    def _gradient(self, parts: _Parts) -> Array:
        """Of the log times, by the effects."""
        x = self.x
        slope = -(parts.memory * parts.slack)[:, None] * self.x_bandwidth
        slope += parts.vector[:, None] * self.x_dequantize
        gradient = np.add.reduceat(slope, self.starts, axis=0)
        gradient -= (parts.cache * parts.cache_slack)[:, None] * x["kv"]
        grown = x["layer"] + self.log_sequences[:, None] * x["growth"]
        gradient += parts.layer[:, None] * grown
        gradient += parts.reduce[:, None] * x["reduce"]
        gradient += parts.hop[:, None] * x["hop"]
        gradient += parts.prefill[:, None] * x["prefill"]
        result: Array = gradient / parts.total[:, None]
        return result

    def fit(
        self,
        mask: Array | None = None,
        start: Array | None = None,
        *,
        steps: int = 300,
        tolerance: float = 1e-4,
    ) -> Fit:
        """The effects of highest posterior on the rows that `mask` keeps (1) or leaves out (0).

        Gauss-Newton on the reweighted residuals, each step halved until the loss falls; ends when
        a step gains less than `tolerance` of a unit of log posterior.
        """
        values = self.mean.copy() if start is None else start.copy()
        weight = self.weight if mask is None else self.weight * mask
        precision = self.width**-2.0
        loss = self._loss(values, weight)
        hessian = np.diag(precision)
        for _ in range(steps):
            parts = self._parts(values)
            gradient = self._gradient(parts)
            residual = self.target - np.log(parts.total)
            robust = np.minimum(1.0, self.knee / np.maximum(np.abs(residual), 1e-12))
            row_precision = weight * robust / self.sigma**2
            hessian = gradient.T @ (row_precision[:, None] * gradient) + np.diag(precision)
            pull = gradient.T @ (row_precision * residual) - precision * (values - self.mean)
            step = np.linalg.solve(hessian, pull)
            reach, tried = 1.0, self._loss(values + step, weight)
            while tried > loss and reach > 1e-4:
                reach /= 2.0
                tried = self._loss(values + reach * step, weight)
            gained = loss - tried
            if gained > 0.0:
                values, loss = values + reach * step, tried
            if gained < tolerance:
                break
        return Fit(values, np.diag(hessian) ** -0.5)

    def _loss(self, values: Array, weight: Array) -> float:
        """Negative log posterior, up to a constant."""
        size = np.abs(self.residuals(values))
        knee = self.knee
        rows = np.where(size < knee, size**2 / 2.0, knee * (size - knee / 2.0)) / self.sigma**2
        prior = ((values - self.mean) / self.width) ** 2
        return float(weight @ rows + prior.sum() / 2.0)

    def residuals(self, values: Array) -> Array:
        """Log of measured over predicted time."""
        return self.target - self.predict(values)

    def deviations(self, fit: Fit) -> Array:
        """Standard deviation of every row's log time, as an estimate would state it.

        Effects are taken as independent given each other; weights of several formats as wholly
        dependent; no noise of the measurement itself. An effect that the fit saw no row of has its
        prior width.
        """
        variance = fit.conditional_sd**2
        x = self.x
        parts = self._parts(fit.values)
        spread = parts.memory * parts.slack * np.sqrt(self.x_bandwidth**2 @ variance)
        unpack = parts.vector * np.sqrt(self.x_dequantize**2 @ variance)
        total = np.add.reduceat(spread, self.starts) ** 2
        total += np.add.reduceat(unpack, self.starts) ** 2
        total += (parts.cache * parts.cache_slack) ** 2 * (x["kv"] ** 2 @ variance)
        total += parts.layer**2 * (x["layer"] ** 2 @ variance)
        total += parts.reduce**2 * (x["reduce"] ** 2 @ variance)
        total += parts.hop**2 * (x["hop"] ** 2 @ variance)
        deviation: Array = np.sqrt(total) / parts.total
        return deviation

    def pair_deviations(self, fit: Fit, base: Sequence[int], target: Sequence[int]) -> Array:
        """Standard deviation of the log ratio of two rows' times: what both share cancels."""
        parts = self._parts(fit.values)
        gradient = self._gradient(parts)
        pull = gradient[list(target)] - gradient[list(base)]
        return np.sqrt(pull**2 @ fit.conditional_sd**2)
