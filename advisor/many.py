"""One function over many items: in this process, or in several where there are many.

What comes back is the same, in the same order, whatever the number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_MANY: Final = 400
"""Items from which a second process is worth its start."""
_CHUNK: Final = 40
_MOST: Final = 16
"""Processes; more of them wait for each other's files."""


def each(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int | None = None
) -> Iterator[Result]:
    """The function of each item, in order.

    The function and its results must be picklable. `processes` None: as many as there are cores
    where there are many items, else this one alone.
    """
    waiting = iter(items)
    first = list(islice(waiting, _MANY))
    count = processes
    if count is None:
        count = min(_cores(), _MOST) if len(first) == _MANY else 1
    everything = chain(first, waiting)
    if count <= 1:
        return map(function, everything)
    return _in_processes(function, everything, count)


def _in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], count: int
) -> Iterator[Result]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - only large runs need it

    _register()
    with ProcessPoolExecutor(count, initializer=_register) as pool:
        yield from pool.map(function, items, chunksize=_CHUNK)


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
