"""One function over many items: in this process, or in several where there are many.

What comes back is the same, in the same order, whatever the number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_MUCH: Final = 400.0
"""What all items weigh from which a second process is worth its start: that many quick ones."""
_CHUNK: Final = 40.0
"""What the items weigh that a process takes at once."""
_MOST: Final = 16
"""Processes; more of them wait for each other's files."""


def _alike(_item: object) -> float:
    return 1.0


def each(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    processes: int | None = None,
    weight: Callable[[Item], float] = _alike,
) -> Iterator[Result]:
    """The function of each item, in order.

    The function and its results must be picklable. `processes` None: as many as there are cores
    where there is much to do, else this one alone. `weight` is how long an item takes, 1 where it
    is quick.
    """
    if processes is not None and processes <= 1:
        return map(function, items)
    waiting = iter(items)
    first: list[Item] = []
    count = processes
    if count is None:
        first, total = _first_of(waiting, weight)
        count = min(_cores(), _MOST) if total >= _MUCH and len(first) > 1 else 1
    everything = chain(first, waiting)
    if count <= 1:
        return map(function, everything)
    return _in_processes(function, _chunks(everything, weight), count)


def _first_of(waiting: Iterator[Item], weight: Callable[[Item], float]) -> tuple[list[Item], float]:
    """Items up to what is worth a second process, and what they weigh."""
    first: list[Item] = []
    total = 0.0
    for item in waiting:
        first.append(item)
        total += weight(item)
        if total >= _MUCH and len(first) > 1:
            break
    return first, total


def _chunks(items: Iterable[Item], weight: Callable[[Item], float]) -> Iterator[list[Item]]:
    """Items in parts that take about as long, each at least one."""
    chunk: list[Item] = []
    total = 0.0
    for item in items:
        chunk.append(item)
        total += weight(item)
        if total >= _CHUNK:
            yield chunk
            chunk, total = [], 0.0
    if chunk:
        yield chunk


def _in_processes(
    function: Callable[[Item], Result], chunks: Iterable[list[Item]], count: int
) -> Iterator[Result]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - only large runs need it

    _register()
    with ProcessPoolExecutor(count, initializer=_register) as pool:
        for results in pool.map(partial(_of_each, function), chunks):
            yield from results


def _of_each(function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    return [function(item) for item in items]


def _register() -> None:
    """Let read-only views go from process to process."""
    from multiprocessing.reduction import ForkingPickler  # noqa: PLC0415

    ForkingPickler.register(MappingProxyType, _reduced)


def _reduced(view: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[dict[Any, Any]]]:
    return _view, (dict(view),)


def _view(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(entries)


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
