"""Quantities as people write them: 30%, 1/3, 4k, 3.35 TB/s, 70 GiB, 26 ms, 1.4 PFLOP/s, 1.5-1.8x.

`parse_quantity` reads the value of one field; `scan` finds every amount in a sentence, in order.

Rules of reading:

- GB, MB, TB are decimal (10^9 ...), GiB, MiB, TiB binary; "Gb" is gigabits and is read only as a
  rate (400 Gb/s = 50 GB/s); all-lower-case "gb" is taken for GB.
- A count of tokens with k or M is binary where the number is a power of two (4k = 4,096,
  128K = 131,072, 1M = 1,048,576), as context sizes are written, and decimal otherwise
  (10k = 10,000, 100k = 100,000). Other counts and all rates are decimal. "Ki" is always binary.
- TFLOPS, TFLOP/s and TOPS are rates; GFLOP and "TFLOPs per token" are amounts of work.
- "A to B" is a range where it rises; it is a change where it falls, follows "from" or has an arrow
  (a factor or a percentage "from A to B" stays a range).
- "up to", "<", "at most" bound the number from above; "at least", ">", "more than", "2x+" from
  below. The bound is on the number, whatever it means for speed.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from types import MappingProxyType

from advisor.quantity.lexing import tokenize
from advisor.quantity.model import Bound, Quantity
from advisor.quantity.scan import Found, scan, scan_tokens
from advisor.quantity.units import BASE_UNIT, Dimension, bits_slip, unit_at

__all__ = [
    "BASE_UNIT",
    "READABLE",
    "Bound",
    "Dimension",
    "Found",
    "Quantity",
    "QuantityError",
    "parse_quantity",
    "scan",
    "scan_tokens",
]

READABLE = MappingProxyType(
    {
        Dimension.RATIO: "30%, 0.3, 30 percent, 1/3",
        Dimension.COUNT: "8, 4,096, 4k, 1.5M",
        Dimension.TOKENS: "4096, 4,096, 4k (4,096), 128K (131,072), 100k (100,000)",
        Dimension.TIME: "26 ms, 0.026 s, 120 us",
        Dimension.BYTES: "70 GB, 70 GiB, 900 MB",
        Dimension.BANDWIDTH: "3.35 TB/s, 3350 GB/s, 400 Gb/s",
        Dimension.WORK: "141 GFLOP, 141 GFLOPs per token",
        Dimension.COMPUTE: "989 TFLOPS, 1.4 PFLOP/s, 45 TOPS",
        Dimension.RATE: "83 tokens/s, 83 tok/s, 12 requests/s",
        Dimension.FACTOR: "1.8x, 1.8 times, 1.5-1.8x",
    }
)
"""What can be read, by dimension, for messages."""

_BARE = frozenset({Dimension.RATIO, Dimension.COUNT, Dimension.TOKENS, Dimension.FACTOR})
"""Dimensions whose plain numbers need no unit."""
_WHOLE = frozenset({Dimension.COUNT, Dimension.TOKENS})
_NAMES = MappingProxyType(
    {
        Dimension.RATIO: "a share",
        Dimension.COUNT: "a count",
        Dimension.TOKENS: "a number of tokens",
        Dimension.TIME: "a time",
        Dimension.BYTES: "a size in bytes",
        Dimension.BANDWIDTH: "a bandwidth",
        Dimension.WORK: "a number of operations",
        Dimension.COMPUTE: "a rate of operations",
        Dimension.RATE: "a rate",
        Dimension.FACTOR: "a factor",
    }
)


class QuantityError(ValueError):
    """A quantity that cannot be read; the message says what can be."""


def parse_quantity(
    value: object, expect: Dimension, *, unit: str | None = None, allow_zero: bool = False
) -> Quantity:
    """Read the value of a field: a YAML number, or text such as "26 ms".

    `unit` is the unit a plain number has in this field ("ms" for `tpot: 26`); without it a plain
    number is read only where the dimension needs none. Raises `QuantityError`.
    """
    if isinstance(value, str):
        read = _read(value, expect, unit)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise _unreadable(value, expect)
    else:
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            raise _unreadable(value, expect)
        read = _with_unit(
            Quantity(number, "", Dimension.COUNT, number, number), value, expect, unit
        )
    return _checked(read, value, allow_zero=allow_zero)


def _read(text: str, expect: Dimension, unit: str | None) -> Quantity:
    tokens = tokenize(text.strip().removesuffix("."))
    plain = expect if expect in _WHOLE else Dimension.COUNT
    found = scan_tokens(tokens, plain)
    whole = len(found) == 1 and found[0].first == 0 and found[0].last == len(tokens)
    if not whole or found[0].before is not None:
        bits = any(bits_slip(token.raw) is not None for token in tokens)
        if bits and expect in {Dimension.BYTES, Dimension.BANDWIDTH}:
            raise QuantityError(
                f"{_shown(text)} counts bits; a size is in bytes (GB, not Gb); "
                f"can be read: {READABLE[expect]}"
            )
        raise _unreadable(text, expect)
    if found[0].signed == "-":
        raise _negative(text, expect)
    if found[0].bare:
        return _with_unit(found[0].quantity, text, expect, unit)
    read = found[0].quantity
    if expect is Dimension.COMPUTE and read.dimension is Dimension.WORK and found[0].per is None:
        read = replace(read, dimension=expect, unit=BASE_UNIT[expect])  # "989 GFLOPs" for a rate
    if read.dimension is not expect:
        raise QuantityError(
            f"{_shown(text)} is {_NAMES[read.dimension]}, not {_NAMES[expect]}; "
            f"can be read: {READABLE[expect]}"
        )
    return read


def _with_unit(read: Quantity, shown: object, expect: Dimension, unit: str | None) -> Quantity:
    """A number without unit, in the unit of its field."""
    if unit is None and expect not in _BARE:
        raise QuantityError(f"{_shown(shown)} has no unit; can be read: {READABLE[expect]}")
    meant = None if unit is None else unit_at(tokenize(unit), 0)
    scale, name = (1.0, BASE_UNIT[expect]) if meant is None else (meant[0].scale, meant[0].name)
    return replace(
        read,
        value=read.value * scale,
        low=read.low * scale,
        high=read.high * scale,
        unit=name,
        dimension=expect,
    )


def _checked(read: Quantity, shown: object, *, allow_zero: bool) -> Quantity:
    """Refuse what no such quantity can be."""
    if read.low < 0:
        raise _negative(shown, read.dimension)
    if read.low == 0 and not allow_zero:
        raise QuantityError(f"{_shown(shown)} is zero; {_NAMES[read.dimension]} is above zero")
    if read.dimension is Dimension.RATIO and read.high > 1:
        plain = isinstance(shown, int | float) and read.high <= 100
        percent = f": write {read.value:g}%" if plain else ""
        raise QuantityError(f"{_shown(shown)} is more than the whole (1.0, 100%){percent}")
    if read.dimension in _WHOLE and not (read.low.is_integer() and read.high.is_integer()):
        raise QuantityError(f"{_shown(shown)} is not a whole number")
    return read


def _negative(shown: object, expect: Dimension) -> QuantityError:
    return QuantityError(f"{_shown(shown)} is negative; {_NAMES[expect]} is above zero")


def _unreadable(shown: object, expect: Dimension) -> QuantityError:
    return QuantityError(
        f"cannot read {_shown(shown)} as {_NAMES[expect]}; can be read: {READABLE[expect]}"
    )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
