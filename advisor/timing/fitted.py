"""The fitted figures of timing.json: effects with their uncertainty, kernel tables, intervals.

benchmarks/calibrate.py writes the file from fixtures/measured; nothing here is set by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from advisor.timing.effects import SERVING, Effect, Setting, is_serving, kind_of

FILE = Path(__file__).parent / "timing.json"


class Collective(NamedTuple):
    """One all-reduce over a link: t = latency + 2*(n-1)/n * bytes / (one-way rate * reached)."""

    latency_us: float
    reached: float


class NarrowCache(NamedTuple):
    """An 8-bit KV cache beside a 16-bit one, in the same attention kernel."""

    extra_us: float
    """Added to every attention layer, whatever its bytes (scales, conversion)."""
    reached: float
    """Achieved bandwidth over that of the 16-bit kernel."""


class KernelTables:
    """Figures read off kernel benchmarks, by key; the key without its last part is the mean."""

    __slots__ = ("all_reduce", "math", "narrow_cache")

    def __init__(
        self,
        math: Mapping[str, float],
        all_reduce: Mapping[str, Collective],
        narrow_cache: Mapping[str, NarrowCache],
    ) -> None:
        self.math = math
        """Fraction of the dense peak reached, by dtype and generation ("bf16", "bf16|hopper")."""
        self.all_reduce = all_reduce
        """By link, library and devices ("nvlink|custom|8")."""
        self.narrow_cache = narrow_cache
        """By kernel set and generation ("vllm|hopper"), by kernel set, and "" for all."""


class Spread(NamedTuple):
    """How wide the 90 % intervals are."""

    noise: float
    """Of one published figure, in log units."""
    scale: float
    """Half-width of the interval in standard deviations."""
    pair_noise: float
    """Of a ratio of two figures of one source."""
    pair_scale: float


class Fitted(NamedTuple):
    """All of timing.json."""

    effects: Mapping[str, tuple[float, float]]
    """Key -> value and standard deviation with all other effects held."""
    widths: Mapping[str, float]
    """Kind of effect -> prior width, which is the deviation of an effect without data."""
    token_ms: float
    """Fixed time of a step beside its layers."""
    tables: KernelTables
    local: Spread
    """Of engines that run one sequence."""
    serving: Spread

    def spread_of(self, setting: Setting) -> Spread:
        """Interval widths of the population that a setting's engine belongs to."""
        return self.serving if setting.family == SERVING else self.local

    def widest_spread(self, keys: Iterable[str]) -> Spread:
        """Interval widths for effects of either population or of both."""
        return self.serving if any(is_serving(key) for key in keys) else self.local

    def total(self, effects: tuple[Effect, ...]) -> float:
        """The coefficient that effects add up to; one without data adds nothing."""
        values = self.effects
        return sum(values[key][0] * weight for key, weight in effects if key in values)

    def variance(self, effects: tuple[Effect, ...]) -> float:
        """Of that coefficient; an effect without data has its prior's."""
        return sum((self.deviation(effect.key) * effect.weight) ** 2 for effect in effects)

    def deviation(self, key: str) -> float:
        """Standard deviation of one effect."""
        known = self.effects.get(key)
        if known is not None:
            return known[1]
        own = self.widths.get(key.partition("=")[0])
        return self.widths[kind_of(key)] if own is None else own


def read_tables(data: Mapping[str, Any]) -> KernelTables:
    """The kernel tables of parsed JSON."""
    return KernelTables(
        MappingProxyType(data["math"]),
        MappingProxyType({key: Collective(*pair) for key, pair in data["all_reduce"].items()}),
        MappingProxyType({key: NarrowCache(*pair) for key, pair in data["narrow_cache"].items()}),
    )


@lru_cache(maxsize=1)
def load_fitted() -> Fitted:
    """Read timing.json."""
    data = json.loads(FILE.read_bytes())
    return Fitted(
        MappingProxyType({key: (pair[0], pair[1]) for key, pair in data["effects"].items()}),
        MappingProxyType(data["widths"]),
        data["token_ms"],
        read_tables(data["tables"]),
        Spread(**data["spread"]["local"]),
        Spread(**data["spread"]["serving"]),
    )
