"""What a benchmark says, whatever tool wrote it: decode figures, counters and remarks on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from advisor.prove.record import RunFileError
from advisor.quantity.units import in_milliseconds

Severity = Literal["error", "warning", "info"]

_ENGINES: Final = {
    "llama-bench": "llama.cpp", "vllm": "vllm", "sglang": "sglang", "trtllm-bench": "tensorrt-llm",
}  # fmt: skip


class Remark(NamedTuple):
    """Something about how a figure was measured, under the code of the rule on it."""

    code: str
    severity: Severity
    message: str
    instead: str


class Figure(NamedTuple):
    """One measured workload. None where the file does not say."""

    tool: str
    label: str
    model: str | None = None
    hardware: str | None = None
    devices: int = 1
    weights: str | None = None
    kv_cache: str | None = None
    batch: float | None = None
    """Sequences that were decoded at once, on average."""
    prompt: float | None = None
    output: float | None = None
    context: float | None = None
    """Tokens in the cache at the start, where that is no prompt of this run."""
    step_tokens: float = 1.0
    """Tokens of one sequence that leave one pass (speculation)."""
    tpot_ms: float | None = None
    """Time per output token of one sequence, without the prompt's time."""
    ttft_ms: float | None = None
    throughput: float | None = None
    """Output tokens per second of all sequences."""
    prompt_rate: float | None = None
    """Prompt tokens per second."""
    model_bytes: float | None = None
    """Size of the checkpoint that the file states."""
    remarks: tuple[Remark, ...] = ()

    @property
    def engine(self) -> str | None:
        """The engine that the tool measures; None where it measures any server."""
        return _ENGINES.get(self.tool.split()[0])

    @property
    def mean_context(self) -> float | None:
        """Tokens in the cache in the middle of decoding."""
        if self.prompt is None and self.context is None:
            return None
        return (self.context or 0.0) + (self.prompt or 0.0) + (self.output or 0.0) / 2.0


class Counters(NamedTuple):
    """What hardware counters or a timeline say, 0 to 1 where they are shares."""

    tool: str
    label: str
    dram_share: float | None = None
    tensor_share: float | None = None
    read_bytes: float | None = None
    time_ms: float | None = None
    idle_share: float | None = None
    """Part of the timeline in which no kernel ran."""
    remarks: tuple[Remark, ...] = ()


class Benchmark(NamedTuple):
    """All of one file."""

    path: str
    figures: tuple[Figure, ...] = ()
    counters: tuple[Counters, ...] = ()


class Fields(NamedTuple):
    """A mapping of a result, read with one clear message for what cannot be."""

    data: Mapping[str, Any]
    path: str
    place: str = ""

    def inner(self, name: str) -> Fields:
        """A mapping inside; an empty one where there is none."""
        value = self.data.get(name)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise RunFileError(f"{self.path}: {self.place}{name} is a mapping, not {value!r:.60}")
        return Fields(value, self.path, f"{self.place}{name}.")

    def text(self, name: str) -> str | None:
        """A text, None where it is absent or empty."""
        value = self.data.get(name)
        return value.strip() or None if isinstance(value, str) else None

    def number(self, name: str, unit: str = "") -> float | None:
        """A finite number, None where it is absent; a text that holds one counts (CSV).

        Raises:
            RunFileError: for anything else in its place, such as a number with its unit.

        """
        value = self.data.get(name)
        if value is None or value == "":
            return None
        return number_of(value, f"{self.path}: {self.place}{name}", unit)

    def above_zero(self, name: str, unit: str = "") -> float:
        """A number that must be there and above 0: a time, a rate.

        Raises:
            RunFileError: where it is absent, 0, negative, or no number.

        """
        value = self.number(name, unit)
        if value is None:
            raise RunFileError(f"{self.path}: {self.place}{name} is missing")
        if value <= 0.0:
            raise RunFileError(
                f"{self.path}: {self.place}{name} is {value:g}: nothing was measured"
            )
        return value


def number_of(value: object, place: str, unit: str = "") -> float:
    """A finite number.

    Raises:
        RunFileError: naming the place and what is right there.

    """
    right = f"a number{f' of {unit}' if unit else ''}"
    if isinstance(value, str):
        try:
            value = float(value.replace(",", ""))
        except ValueError:
            raise RunFileError(
                f"{place} is {right} and nothing beside it, not {value!r:.60}"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RunFileError(f"{place} is {right}, not {value!r:.60}")
    if not math.isfinite(value):
        raise RunFileError(f"{place} is {value}: no time or rate was measured")
    return float(value)


def milliseconds(value: float, unit: str, place: str) -> float:
    """A time in milliseconds from the unit that a file states.

    Raises:
        RunFileError: for a unit that is none of time.

    """
    factor = in_milliseconds(unit)
    if factor is None:
        raise RunFileError(f"{place} is in {unit!r}; a time is in ns, us, ms or s")
    return value * factor


def mixed_window(what: str) -> Remark:
    """A window that holds more than decode steps."""
    return Remark(
        "MEA003",
        "warning",
        f"{what}, so no time per decoded token follows from it",
        "time decode alone: TPOT without the first token, warmed up, on prompts that differ",
    )
