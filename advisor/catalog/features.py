"""What hardware, kernels and engines support: facts by architecture and version.

features.yaml is the source, features.json what is read. A question that the table does not answer
is answered by None, never by a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine
from advisor.catalog.store import FOLDER

_SHORT = 4
"""Names up to this length (FA3, PDL) are whole words: within others they mean nothing."""


class Kernel(NamedTuple):
    """A kernel that runs on some architectures only; bounds are compute capabilities."""

    label: str
    names: tuple[str, ...]
    min: float | None
    max: float | None
    source: str

    def runs_on(self, device: Device) -> bool | None:
        """Whether it runs there; None where the device has no compute capability of NVIDIA's."""
        capability = capability_of(device)
        if capability is None:
            return None
        return (self.min or 0.0) <= capability <= (self.max or 1e9)

    @property
    def needs(self) -> str:
        """The architectures in words: sm90, sm80 and newer."""
        low = f"sm{round(10 * (self.min or 0.0))}"
        if self.max is None:
            return f"{low} and newer"
        return f"{low}x only" if int(self.min or 0) == int(self.max) else low


class BreakEven(NamedTuple):
    """Where a packed sparse format begins to be faster than dense weights."""

    storage: str
    sparsity: float
    tokens: int
    source: str


class SmallM(NamedTuple):
    """A kernel of the 2:4 format, and whether it is made for a decode step's few rows."""

    label: str
    names: tuple[str, ...]
    made_for_it: bool
    source: str


class Absence(NamedTuple):
    """A feature that an engine lacks."""

    feature: str
    status: str
    since: str
    until: str | None
    source: str

    @property
    def always(self) -> bool:
        """Whether no version has it."""
        return self.since == "0" and self.until is None


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "features.json").read_bytes())
    return tables


def capability_of(device: Device) -> float | None:
    """NVIDIA's compute capability as a number; None for other makers."""
    text = device.compute_capability or ""
    return float(text) if re.fullmatch(r"\d+\.\d", text) else None


def multiplies(device: Device, form: str) -> bool | None:
    """Whether matrix units multiply a format; None where nothing says."""
    capability = capability_of(device)
    for row in _tables()["math"]:
        if row["format"] == form and capability is not None:
            return bool(capability >= row["capability"])
    peaks = device.tflops_dense
    return True if peaks.get(form) is not None else None


@lru_cache(maxsize=256)
def kernel_named(text: str) -> Kernel | None:
    """The architecture-bound kernel that a name means; None where it means none of the table."""
    for row in _tables()["kernels"]:
        if _matches(row["names"], text):
            return Kernel(row["label"], tuple(row["names"]), row["min"], row["max"], row["source"])
    return None


def small_m_kernel(text: str) -> SmallM | None:
    """The 2:4 kernel that a name means."""
    for row in _tables()["small_m"]:
        if _matches(row["names"], text):
            return SmallM(row["label"], tuple(row["names"]), row["made_for_it"], row["source"])
    return None


def _matches(patterns: list[str], text: str) -> bool:
    plain = " ".join(re.findall(r"[a-z]+|\d+", text.lower()))
    forms = (plain, plain.replace(" ", ""))
    words = re.split(r"[^a-z0-9]+", text.lower())
    return any(
        pattern in words
        if len(pattern) <= _SHORT
        else any(re.search(pattern, one) for one in forms)
        for pattern in patterns
    )


def break_even(storage: str) -> BreakEven | None:
    """Where a storage of sparse weights pays at few tokens."""
    for row in _tables()["break_even"]:
        if row["storage"] == storage:
            return BreakEven(storage, row["sparsity"], row["tokens"], row["source"])
    return None


def absence(engine: Engine, feature: str) -> tuple[Absence, bool] | None:
    """What an engine lacks, and whether its version is certain to; None where it may have it."""
    for row in _tables()["absent"]:
        if (row["engine"], row["feature"]) != (engine.id, feature):
            continue
        found = Absence(feature, row["status"], row["from"], row["until"], row["source"])
        if found.always:
            return found, True
        if engine.version is None:
            return found, False
        if _in_range(engine.version, found):
            return found, True
    return None


def _in_range(version: str, found: Absence) -> bool:
    number = _number(version)
    return _number(found.since) <= number and (found.until is None or number < _number(found.until))


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def is_default(engine: Engine, lever: str) -> bool:
    """Whether an engine applies a lever without being asked."""
    return any(
        row["engine"] == engine.id
        and lever in row["levers"]
        and (row["from"] == "0" or _number(engine.version or "99") >= _number(row["from"]))
        for row in _tables()["defaults"]
    )


def compile_features(source: Mapping[str, Any]) -> bytes:
    """Turn the parsed features.yaml into features.json."""
    tables = {name: rows for name, rows in source.items() if name != "schema"}
    lines = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]"
        for name, rows in tables.items()
    )
    return f"{{\n{lines}\n}}\n".encode()
