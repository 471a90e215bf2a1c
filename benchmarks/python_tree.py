"""Trees of Python files: seconds for annotated files only, and with every call looked at.

    python benchmarks/python_tree.py FOLDER [FOLDER ...] [--processes 1,2]

Prints, for each folder, files and megabytes, the time to tell which files are annotated, the time
to tell which may hold a lever, the time of the whole check by number of processes, the slowest
file, and whether all runs say the same. Times are scaled to 3,000 files beside the bars: 1.5 s for
annotated files, 8 s with recognition, 2 s for one file, on 2 cores.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from advisor.checking import Checked, Run, check_run
from advisor.readers import MARK, read
from advisor.readers.discover import Candidate, candidates, load
from advisor.readers.python.marks import worth_reading
from advisor.source import Source

BARS = {"annotated": 1.5, "recognised": 8.0, "one file": 2.0}
PER = 3000


def scripts_in(folder: Path) -> list[Path]:
    """The Python files that a run would look at."""
    found = (Path(one.path) for one in candidates([str(folder)]))
    return [path for path in found if path.suffix == ".py"]


def seconds_annotated(paths: list[Path]) -> tuple[float, int]:
    """Time to read all bytes and search them for the mark; files that say it."""
    start = time.perf_counter()
    hits = sum(MARK in path.read_bytes() for path in paths)
    return time.perf_counter() - start, hits


def seconds_sieved(paths: list[Path]) -> tuple[float, int]:
    """Time to read all bytes and search them for levers; files that may hold one."""
    start = time.perf_counter()
    hits = sum(worth_reading(path.read_bytes()) for path in paths)
    return time.perf_counter() - start, hits


def slowest(paths: list[Path]) -> tuple[float, Path]:
    """The file that takes longest to read, with its time."""
    worst = (0.0, Path())
    for path in paths:
        start = time.perf_counter()
        found = load(Candidate(str(path), named=False))
        if found is not None and isinstance(found.content, Source):
            read(found.content, named=False)
        worst = max(worst, (time.perf_counter() - start, path))
    return worst


def seconds_checked(folder: Path, processes: int) -> tuple[float, Checked]:
    """Time of the whole check of a folder."""
    start = time.perf_counter()
    checked = check_run([str(folder)], Run(processes=processes))
    return time.perf_counter() - start, checked


def measure(folder: Path, processes: list[int]) -> None:
    """Print the figures of one folder."""
    paths = scripts_in(folder)
    size = sum(path.stat().st_size for path in paths) / 1e6
    scale = PER / max(len(paths), 1)
    print(f"{folder}: {len(paths):,} files, {size:.1f} MB")

    def told(name: str, seconds: float, more: str) -> None:
        bar = BARS[name]
        print(f"  {name:10} {seconds:6.2f} s, {seconds * scale:6.2f} s per {PER:,} files"
              f" (bar {bar:g} s)  {more}")  # fmt: skip

    seconds, hits = seconds_annotated(paths)
    told("annotated", seconds, f"{hits} files say rooflint")
    sieved, worth = seconds_sieved(paths)
    print(f"  sieve      {sieved:6.2f} s, {worth} files may hold a lever")
    runs = [(count, *seconds_checked(folder, count)) for count in processes]
    for count, taken, checked in runs:
        told("recognised", taken, f"{count} processes, {len(checked.findings)} findings")
    same = all(checked == runs[0][2] for _, _, checked in runs)
    print(f"  runs say {'the same' if same else 'DIFFERENT THINGS'}")
    taken, path = slowest(paths)
    print(f"  slowest    {taken:6.2f} s (bar {BARS['one file']:g} s)  {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--processes", default="1,2", help="numbers of processes to compare")
    given = parser.parse_args()
    for folder in given.folders:
        measure(folder, [int(part) for part in given.processes.split(",")])


if __name__ == "__main__":
    main()
