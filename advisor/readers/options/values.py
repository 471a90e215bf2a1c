"""Values of options as people write them: switches, whole numbers, sizes, choices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from advisor.readers.options.effects import OPEN, Value

_ON: Final = frozenset({"true", "1", "yes", "on", "y", "t", "enable", "enabled"})
_OFF: Final = frozenset(
    {"false", "0", "no", "off", "n", "f", "none", "null", "", "disable", "disabled", "~", "unset"}
)
_WHOLE: Final = re.compile(r"[-+]?\d{1,12}")
_SIZE: Final = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*(k|m|g|t)?(i)?b?", re.IGNORECASE)
_POWERS: Final = {"k": 1, "m": 2, "g": 3, "t": 4}


def switch_of(value: Value) -> bool | None:
    """On or off; None where the text does not say. An option without a value is on."""
    if value is OPEN:
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value != 0
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _ON:
            return True
        return False if word in _OFF else None
    if value is None:
        return False
    return bool(value)


def is_off(value: Value) -> bool:
    """Whether a value says that there is nothing: null, none, empty, false."""
    return value is not OPEN and switch_of(value) is False and not _is_zero_number(value)


def _is_zero_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole_of(value: Value) -> int | None:
    """A whole number, also in quotes or with a fraction of nothing; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        text = value.strip().replace("_", "").replace(",", "")
        if _WHOLE.fullmatch(text):
            return int(text)
        return tokens_of(text)
    return None


def tokens_of(text: str) -> int | None:
    """A count with a suffix, as vLLM and SGLang take it: 16k is 16,000 and 16K is 16,384."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([kKmM])", text)
    if match is None:
        return None
    factor = {"k": 1e3, "K": 1024, "m": 1e6, "M": 1024**2}[match[2]]
    return int(float(match[1]) * factor)


def gigabytes_of(value: Value, unit: str = "g", *, binary: bool = True) -> float | None:
    """Bytes of an amount whose unit, where none is written, is the option's."""
    text = str(value) if isinstance(value, int | float | str) else ""
    if isinstance(value, bool):
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    letter = (match[2] or unit).lower()
    base = 1024 if match[3] or (binary and match[2] is None) else 1000
    power = _POWERS.get(letter, 0)
    return float(match[1]) * float(base) ** power


def word_of(value: Value) -> str:
    """A choice as one lower-case word, "_" and spaces as "-"; empty where it is no text."""
    if isinstance(value, bool) or value is None or value is OPEN:
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value.strip().lower().replace("_", "-").replace(" ", "-")
    return ""


def flat(name: str) -> str:
    """A name without case and signs."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def kebab(name: str) -> str:
    """An option's name in one spelling: --tp_size, tpSize and TP-SIZE are tp-size."""
    bare = name.strip().lstrip("-")
    if not bare.isupper() and not bare.islower():
        bare = _CAMEL.sub("-", bare)
    return re.sub(r"[-_.\s]+", "-", bare).strip("-").lower()


def mapping_of(value: Value) -> Mapping[str, object] | None:
    """A mapping with text keys, or None."""
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    return None
