"""A run of `rooflint prove` as it is kept: the machine, every time measured, what it rests on.

The JSON is the run's whole truth: the verdict is computed from it, today's or an old one. Times are
milliseconds of one decode step; rounds stand side by side in all trials of a group.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

VERSION: Final = 1
_MOST: Final = 1e18
"""No count, time or rate of a run is larger."""
KIND: Final = "rooflint prove"
"""What the field `tool` says, by which a run is told from other files."""
BASELINE: Final = "baseline"
"""Name of the first trial of every group."""
MAX_BYTES: Final = 64_000_000
"""A larger file is no result of a benchmark."""

Ended = Literal["done", "time", "interrupted"]
Clock = Literal["wall", "cpu", "device"]


class RunFileError(ValueError):
    """A file of results that cannot be used; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The device and what was measured of it."""

    device: str
    """cpu, cuda or mps."""
    name: str
    """Processor or accelerator, as it calls itself."""
    memory_bytes: float
    cache_bytes: float
    """Last-level cache; 0 where nobody knows."""
    threads: int
    torch: str
    clock: Clock
    """wall, cpu (time on the core, other processes' turns left out) or device (its own events)."""
    bandwidth_gbs: tuple[float, ...]
    """Streaming read, one rate per repetition."""
    matmul_gflops: Mapping[str, tuple[float, ...]]
    """Dense square matmul by dtype, one rate per repetition."""
    known_as: str | None = None
    """Its name in the hardware catalog, where it is there."""

    @property
    def streaming_gbs(self) -> float:
        """The best rate: other work on the machine can only slow a probe down."""
        return max(self.bandwidth_gbs)


@dataclass(frozen=True, slots=True)
class Trial:
    """One variant of the step, timed many times."""

    group: str
    name: str
    batch: int
    context: int
    weights: str
    """Format of the weights."""
    bytes: float
    """Read and written by one step, counted."""
    flops: float
    modelled_ms: float
    """Expected time by the model of this machine, not fitted to any step."""
    predicted: tuple[float, float, float]
    """Predicted speedup per token over the baseline: low, middle, high."""
    times_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What all trials are compared with."""

    model: str
    layers: int
    """Layers that were built and timed."""
    all_layers: int
    """Layers of the model."""
    weights: str
    batch: int
    context: int


@dataclass(frozen=True, slots=True)
class Run:
    """Everything of one run."""

    date: str
    rooflint: str
    machine: Machine
    baseline: Baseline
    trials: tuple[Trial, ...]
    ended: Ended
    busy: float | None = None
    """Part of the time that the process had its core, on CPUs."""
    notes: tuple[str, ...] = field(default=())
    """What was left out, and why."""

    def group(self, name: str) -> tuple[Trial, ...]:
        """Trials of a group; its baseline is the one called "baseline"."""
        return tuple(trial for trial in self.trials if trial.group == name)


def to_json(run: Run) -> str:
    """A run as text."""
    return json.dumps({"tool": KIND, "version": VERSION, **asdict(run)}, indent=1) + "\n"


def read_run(path: str | Path) -> Run:
    """Read a run.

    Raises:
        RunFileError: for a file that is missing, truncated, foreign, or holds impossible values.

    """
    return run_of(load_json(path), str(path))


def load_json(path: str | Path) -> Any:
    """Read a JSON file of bounded size.

    Raises:
        RunFileError: for a file that is missing, too large or no JSON.

    """
    return parse_json(load_text(path), str(path))


def parse_json(text: str, path: str, first_line: int = 1) -> Any:
    """A JSON text that begins at a line of a file.

    Raises:
        RunFileError: for text that is no JSON, with the place.

    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        cut = text.rstrip()[-1:] not in {"]", "}"}
        what = "ends in the middle: the file is truncated" if cut else f"is no JSON: {error.msg}"
        line = error.lineno + first_line - 1
        raise RunFileError(f"{path}:{line}:{error.colno}: {what}") from None
    except RecursionError:
        raise RunFileError(f"{path}: nested too deeply to be a result") from None


def load_text(path: str | Path) -> str:
    """Read a text file of bounded size.

    Raises:
        RunFileError: for a file that is missing, unreadable, too large or no text.

    """
    place = Path(path)
    try:
        if not place.is_file():
            what = "a folder, not a file" if place.is_dir() else "no such file"
            raise RunFileError(f"{path}: {what}")
        with place.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RunFileError(f"{path}: {error.strerror or error}") from None
    return text_of(data, str(path))


def text_of(data: bytes, path: str) -> str:
    """The text of a file of results, which has at most `MAX_BYTES`.

    Raises:
        RunFileError: for what is too large, no text or empty.

    """
    if len(data) > MAX_BYTES:
        raise RunFileError(f"{path}: larger than {MAX_BYTES // 10**6} MB, no result of a run")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RunFileError(f"{path}: not a text file in UTF-8") from None
    if not text.strip():
        raise RunFileError(f"{path}: the file is empty")
    return text


def is_run(data: object) -> bool:
    """Whether parsed JSON says that it is a run of `rooflint prove`."""
    return isinstance(data, Mapping) and data.get("tool") == KIND


class _Fields(NamedTuple):
    """A mapping of a file, read field by field with one clear message for what is wrong."""

    data: Mapping[str, Any]
    path: str
    place: str

    def get(self, name: str) -> Any:
        if name not in self.data:
            raise RunFileError(f"{self.path}: {self.place}{name} is missing")
        return self.data[name]

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a text", value)
        return value

    def number(self, name: str, least: float = 0.0) -> float:
        return self.checked(name, self.get(name), least)

    def count(self, name: str) -> int:
        value = self.number(name, 1.0)
        if value != int(value):
            raise self.wrong(name, "a whole number", value)
        return int(value)

    def rates(self, name: str) -> tuple[float, ...]:
        values = self.get(name)
        if not isinstance(values, list) or not values:
            raise self.wrong(name, "a list of numbers above 0", values)
        return tuple(
            self.checked(f"{name}[{place}]", value, math.ulp(0.0))
            for place, value in enumerate(values)
        )

    def checked(self, name: str, value: object, least: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, "a number", value)
        if not least <= value <= _MOST:  # no number is on neither side
            raise self.wrong(name, "a finite number above 0" if least else "a finite number", value)
        return float(value)

    def inner(self, name: str, value: object) -> _Fields:
        if not isinstance(value, Mapping):
            raise self.wrong(name, "a mapping", value)
        return _Fields(value, self.path, f"{self.place}{name}.")

    def wrong(self, name: str, right: str, value: object) -> RunFileError:
        shown = repr(value)[:60]
        return RunFileError(f"{self.path}: {self.place}{name} is {right}, not {shown}")


def run_of(data: object, path: str) -> Run:
    """A run of parsed JSON.

    Raises:
        RunFileError: for anything that no run can hold.

    """
    if not is_run(data) or not isinstance(data, Mapping):
        raise RunFileError(f"{path}: no run of rooflint prove (its field tool says {KIND!r})")
    top = _Fields(data, path, "")
    if data.get("version") != VERSION:
        found = repr(data.get("version"))[:20]
        raise RunFileError(f"{path}: version {found} of the run's form; this reads {VERSION}")
    ended = top.text("ended")
    if ended not in {"done", "time", "interrupted"}:
        raise top.wrong("ended", "done, time or interrupted", ended)
    trials = top.get("trials")
    if not isinstance(trials, list):
        raise top.wrong("trials", "a list", trials)
    read = tuple(_trial(top.inner(f"trials[{n}]", one)) for n, one in enumerate(trials))
    _check_groups(read, path)
    notes = top.get("notes")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise top.wrong("notes", "a list of texts", notes)
    return Run(
        date=top.text("date"),
        rooflint=top.text("rooflint"),
        machine=_machine(top.inner("machine", top.get("machine"))),
        baseline=_baseline(top.inner("baseline", top.get("baseline"))),
        trials=read,
        ended="done" if ended == "done" else "time" if ended == "time" else "interrupted",
        busy=None if top.get("busy") is None else top.number("busy"),
        notes=tuple(notes),
    )


def _check_groups(trials: tuple[Trial, ...], path: str) -> None:
    """Every group begins with the baseline, and a sweep rises: what the verdict stands on."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.group, []).append(trial)
    for name, members in groups.items():
        names = [trial.name for trial in members]
        if names[0] != BASELINE or len(set(names)) < len(names):
            raise RunFileError(
                f"{path}: the trials of group {name!r:.40} begin with {BASELINE!r} and have names "
                "of their own"
            )
    batches = [trial.batch for trial in groups.get("batch", ())]
    if any(later <= earlier for earlier, later in pairwise(batches)):
        raise RunFileError(f"{path}: the trials of group 'batch' stand by rising batch")


def _machine(fields: _Fields) -> Machine:
    matmul = fields.inner("matmul_gflops", fields.get("matmul_gflops"))
    clock = fields.text("clock")
    if clock not in {"wall", "cpu", "device"}:
        raise fields.wrong("clock", "wall, cpu or device", clock)
    return Machine(
        device=fields.text("device"),
        name=fields.text("name"),
        memory_bytes=fields.number("memory_bytes", 1.0),
        cache_bytes=fields.number("cache_bytes"),
        threads=fields.count("threads"),
        torch=fields.text("torch"),
        clock="cpu" if clock == "cpu" else "device" if clock == "device" else "wall",
        bandwidth_gbs=fields.rates("bandwidth_gbs"),
        matmul_gflops={dtype: matmul.rates(dtype) for dtype in matmul.data},
        known_as=None if fields.get("known_as") is None else fields.text("known_as"),
    )


def _baseline(fields: _Fields) -> Baseline:
    return Baseline(
        model=fields.text("model"),
        layers=fields.count("layers"),
        all_layers=fields.count("all_layers"),
        weights=fields.text("weights"),
        batch=fields.count("batch"),
        context=fields.count("context"),
    )


def _trial(fields: _Fields) -> Trial:
    low, mid, high = (*fields.rates("predicted"), 0.0, 0.0)[:3]
    if not 0.0 < low <= mid <= high:
        raise fields.wrong("predicted", "three rising numbers", fields.get("predicted"))
    return Trial(
        group=fields.text("group"),
        name=fields.text("name"),
        batch=fields.count("batch"),
        context=fields.count("context"),
        weights=fields.text("weights"),
        bytes=fields.number("bytes", 1.0),
        flops=fields.number("flops", 1.0),
        modelled_ms=fields.number("modelled_ms", math.ulp(0.0)),
        predicted=(low, mid, high),
        times_ms=fields.rates("times_ms"),
    )
