"""The quantity itself: an amount, its interval, and how firmly it was stated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from advisor.quantity.units import Dimension


class Bound(StrEnum):
    """On which side the stated number bounds the real one."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in the base unit of its dimension (`BASE_UNIT`: ms, bytes, bytes/s, FLOP/s ...)."""

    value: float
    """The number; the middle of a range."""
    unit: str
    dimension: Dimension
    low: float
    high: float
    approximate: bool = False
    bound: Bound | None = None

    def __str__(self) -> str:
        """Write the quantity as people do; it reads back as the same amount, to six digits."""
        prefix = "about " if self.approximate else ""
        if self.bound is not None:
            prefix += "up to " if self.bound is Bound.AT_MOST else "at least "
        if self.low == self.high:
            return prefix + self._written(self.value)
        return f"{prefix}{self._written(self.low)} to {self._written(self.high)}"

    def _written(self, value: float) -> str:
        match self.dimension:
            case Dimension.RATIO:
                return f"{value * 100:.6g}%"
            case Dimension.FACTOR:
                return f"{value:.6g}x"
            case Dimension.COUNT | Dimension.TOKENS:
                text = f"{value:,.0f}" if value.is_integer() else _digits(value)
                return f"{text} {self.unit}".rstrip()
            case Dimension.TIME | Dimension.RATE:
                return f"{_digits(value)} {self.unit}"
            case Dimension.BYTES | Dimension.BANDWIDTH:
                unit = self.unit.replace("bytes", "B")
            case _:
                unit = self.unit
        for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
            if value >= scale:
                return f"{_digits(value / scale)} {prefix}{unit}"
        return f"{_digits(value)} {self.unit}"


def _digits(value: float) -> str:
    """Six significant digits, never with an exponent."""
    text = f"{value:.6g}"
    return text if "e" not in text else f"{float(text):.15f}".rstrip("0").rstrip(".")
