"""How numbers are told: few digits, the unit people think in, intervals as intervals."""

from __future__ import annotations

from advisor.roofline import Interval


def digits(value: float, significant: int = 3) -> str:
    """A number in `significant` digits, thousands separated: 0.0672, 1.43, 70.6, 1,979."""
    if value == 0:
        return "0"
    magnitude = abs(value)
    decimals = significant - 1
    while magnitude >= 10 and decimals > 0:
        magnitude /= 10
        decimals -= 1
    while magnitude < 1 and decimals < 12:
        magnitude *= 10
        decimals += 1
    return f"{value:,.{decimals}f}"


def size(count_bytes: float) -> str:
    """Bytes in decimal units: 70.6 GB, 131 KB."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count_bytes >= 0.9995 * scale:
            return f"{digits(count_bytes / scale)} {unit}"
    return f"{count_bytes:.0f} bytes"


def gigabytes(count_bytes: float) -> str:
    """The number of decimal gigabytes, without its unit."""
    return digits(count_bytes / 1e9)


def change(before: float, after: float) -> str:
    """A relative change: -30%, +12%, 0%."""
    if before == 0:
        return "0%"
    percent = 100.0 * (after / before - 1.0)
    return "0%" if abs(percent) < 0.5 else f"{percent:+.0f}%"


def percent(share: float) -> str:
    """A share: 0.4%, 12%."""
    value = 100.0 * share
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{digits(value, 2)}%"


def milliseconds(value: float) -> str:
    """Milliseconds without the unit: 13.4, 0.27."""
    return digits(value)


def span_of(interval: Interval, unit: str = "") -> str:
    """An interval: 12.1-15.0, or one number where both ends read the same."""
    low, high = digits(interval.low), digits(interval.high)
    return f"{low}{unit}" if low == high else f"{low}-{high}{unit}"


def factor(value: float) -> str:
    """A speedup: 1.43x."""
    return f"{value:.2f}x" if value < 9.95 else f"{value:.0f}x"


def factors(interval: Interval) -> str:
    """A speedup's interval: 1.5-1.8x, or 1.00x where it is certain."""
    if abs(interval.high - interval.low) < 0.005:
        return factor(interval.mid)
    low, high = interval.low, interval.high
    places = 0 if low >= 9.95 else 1 if high - low >= 0.1 else 2
    return f"{low:.{places}f}-{high:.{places}f}x"
