"""Libraries as data: what each of their calls sets up.

Each module holds `CALLS`, rows by "package:Name", and may hold `ATTRIBUTES`, levers by
"package:Class.attribute". A new library is a row.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Final

from advisor.readers.python.calls import Rows

MODULES: Final = (
    "torch",
    "torchao",
    "huggingface",
    "quantizers",
    "compressors",
    "toolkits",
    "engines",
    "pruners",
    "frameworks",
    "devices",
)


@lru_cache(maxsize=1)
def calls() -> Rows:
    """Every row."""
    found = {}
    for name in MODULES:
        module = import_module(f"advisor.readers.python.tables.{name}")
        found.update(module.CALLS)
    return MappingProxyType(found)
