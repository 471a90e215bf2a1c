"""Counters and timelines: Nsight Compute, Nsight Systems, DCGM.

Forms: `ncu --csv` (a row a metric, or --page raw with a row a kernel), `nsys stats --format csv`
(cuda_gpu_kern_sum, cuda_gpu_trace), `dcgmi dmon` and the text of dcgm-exporter.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from advisor.prove.imports.figures import Benchmark, Counters, Remark, milliseconds, number_of
from advisor.prove.record import RunFileError

_BYTES: Final = {
    "byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12,
    "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9,
}  # fmt: skip
_TIMES: Final = {
    "nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s",
    "ns": "ns", "us": "us", "ms": "ms", "s": "s",
}  # fmt: skip
_READ: Final = "dram__bytes_read.sum"
_DRAM: Final = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "DRAM Throughput",
)
_TENSOR: Final = (
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
)
_TIME: Final = ("gpu__time_duration.sum", "Duration")
_NOTHING: Final = frozenset({"n/a", "nan", "no data", ""})

_DCGM_COLUMNS: Final = {"DRAMA": "dram", "TENSO": "tensor", "GPUTL": "busy", "GRACT": "graphics"}
_DCGM_FIELD: Final = re.compile(
    r"^DCGM_FI_(?:PROF_(DRAM_ACTIVE|PIPE_TENSOR_ACTIVE)|DEV_(GPU_UTIL))\{([^}]*)\}\s+(\S+)",
    re.MULTILINE,
)
_GPU: Final = re.compile(r'gpu="([^"]*)"')

Metrics = dict[str, tuple[str, str]]
"""Metric -> unit and value."""


def read_ncu(text: str, path: str) -> Benchmark | None:
    """Kernels with DRAM and tensor counters; None for another tool's."""
    rows = _table(text, '"ID"', "Kernel Name")
    if rows is None:
        return None
    launches: dict[str, tuple[str, Metrics]] = {}
    units: Mapping[str, str] = {}
    for row in rows:
        if "Metric Name" in row:
            kernel = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
            kernel[1][row["Metric Name"]] = (row["Metric Unit"], row["Metric Value"])
        elif not row["ID"]:
            units = row  # the second line of the raw page holds the units
        else:
            metrics = {name: (units.get(name, ""), value) for name, value in row.items()}
            launches[row["ID"]] = (row["Kernel Name"], metrics)
    found = tuple(_kernel(name, metrics, path) for name, metrics in launches.values())
    if not found:
        raise RunFileError(f"{path}: Nsight Compute's heading without any kernel below it")
    if all(one.dram_share is None and one.read_bytes is None for one in found):
        raise RunFileError(
            f"{path}: no DRAM counter in it; collect {_READ} and {_DRAM[0]} (--set full has them)"
        )
    return Benchmark(path, counters=found)


def _kernel(name: str, metrics: Metrics, path: str) -> Counters:
    time = _first(metrics, _TIME)
    read = _first(metrics, (_READ,))
    return Counters(
        "Nsight Compute",
        name[:60],
        dram_share=_percent(metrics, _DRAM, path),
        tensor_share=_percent(metrics, _TENSOR, path),
        read_bytes=None if read is None else _scaled(*read, path),
        time_ms=None if time is None else _timed(*time, path),
        remarks=(_LOCKED,),
    )


def _first(metrics: Metrics, names: Sequence[str]) -> tuple[str, str] | None:
    for name in names:
        if name in metrics and metrics[name][1].strip().lower() not in _NOTHING:
            return metrics[name]
    return None


def _percent(metrics: Metrics, names: Sequence[str], path: str) -> float | None:
    found = _first(metrics, names)
    if found is None:
        return None
    if found[0] != "%":
        raise RunFileError(f"{path}: {names[0]} is in {found[0]!r}, not in %")
    return number_of(found[1], f"{path}: {names[0]}", "%") / 100.0


def _scaled(unit: str, value: str, path: str) -> float:
    if unit not in _BYTES:
        raise RunFileError(f"{path}: {_READ} is in {unit!r}, not in bytes")
    return number_of(value, f"{path}: {_READ}", unit) * _BYTES[unit]


def _timed(unit: str, value: str, path: str) -> float:
    number = number_of(value, f"{path}: {_TIME[0]}", unit)
    if number <= 0.0:
        raise RunFileError(f"{path}: {_TIME[0]} is {number:g}: nothing was measured")
    return milliseconds(number, _TIMES.get(unit, unit), f"{path}: {_TIME[0]}")


def read_nsys(text: str, path: str) -> Benchmark | None:
    """A timeline's idle share, or the sum of its kernels; None for another tool's."""
    trace = _table(text, "Start (ns)", "Duration (ns)")
    if trace is not None:
        return Benchmark(path, counters=(_timeline(trace, path),))
    kernels = _table(text, "Time (%)", "Total Time (ns)")
    if kernels is None:
        return None
    rows = list(kernels)
    total = sum(number_of(row["Total Time (ns)"], f"{path}: Total Time (ns)", "ns") for row in rows)
    if total <= 0.0:
        raise RunFileError(f"{path}: Total Time (ns) is 0: no kernel was traced")
    most = max(rows, key=lambda row: number_of(row["Total Time (ns)"], path))
    share = number_of(most["Total Time (ns)"], path) / total
    label = f"{len(rows)} kernels; {share:.0%} in {most.get('Name', '?')[:48]}"
    return Benchmark(
        path, counters=(Counters("Nsight Systems", label, time_ms=total / 1e6, remarks=(_SUMS,)),)
    )


def _timeline(rows: Iterator[Mapping[str, str]], path: str) -> Counters:
    """Busy and idle time between the first kernel and the last; copies count as busy."""
    spans = sorted(
        (
            number_of(row["Start (ns)"], f"{path}: Start (ns)", "ns"),
            number_of(row["Duration (ns)"], f"{path}: Duration (ns)", "ns"),
        )
        for row in rows
    )
    if not spans:
        raise RunFileError(f"{path}: a trace without any kernel in it")
    busy, end = 0.0, spans[0][0]
    for start, duration in spans:
        stop = start + duration
        busy += max(stop - max(start, end), 0.0)
        end = max(end, stop)
    whole = end - spans[0][0]
    if whole <= 0.0:
        raise RunFileError(f"{path}: Duration (ns) is 0 throughout: nothing was measured")
    label = f"{len(spans)} kernels and copies"
    return Counters("Nsight Systems", label, time_ms=whole / 1e6, idle_share=1.0 - busy / whole)


def read_dcgm(text: str, path: str) -> Benchmark | None:
    """Active shares of DRAM and tensor pipes by GPU; None for another tool's."""
    exported = _DCGM_FIELD.findall(text)
    if exported:
        return _of_fields(exported, path)
    heads = [line for line in text.splitlines() if line.startswith("#Entity")]
    if not heads:
        return None
    names = heads[0].split()[1:]
    seen: dict[str, dict[str, list[float]]] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or words[0] != "GPU":
            continue
        values = words[2:]
        if len(values) != len(names):
            raise RunFileError(f"{path}: {len(values)} values under {len(names)} columns: {line!r}")
        columns = seen.setdefault(words[1], {})
        for name, value in zip(names, values, strict=True):
            kind = _DCGM_COLUMNS.get(name)
            if kind is not None and value.lower() not in _NOTHING:
                columns.setdefault(kind, []).append(number_of(value, f"{path}: {name}"))
    return _of_columns(seen, path)


def _of_fields(exported: Sequence[tuple[str, str, str, str]], path: str) -> Benchmark:
    kinds = {"DRAM_ACTIVE": "dram", "PIPE_TENSOR_ACTIVE": "tensor", "GPU_UTIL": "busy"}
    seen: dict[str, dict[str, list[float]]] = {}
    for profiled, device, labels, value in exported:
        gpu = _GPU.search(labels)
        name = profiled or device
        columns = seen.setdefault(gpu[1] if gpu else "?", {})
        columns.setdefault(kinds[name], []).append(number_of(value, f"{path}: {name}"))
    return _of_columns(seen, path)


def _of_columns(seen: Mapping[str, Mapping[str, Sequence[float]]], path: str) -> Benchmark:
    found = []
    for gpu, columns in seen.items():
        for kind in ("dram", "tensor"):
            for value in columns.get(kind, ()):
                if not 0.0 <= value <= 1.0:
                    raise RunFileError(
                        f"{path}: GPU {gpu}: {kind} activity is a share from 0 to 1, not {value:g}"
                    )
        remarks = () if "dram" in columns else (_RESIDENT,)
        found.append(
            Counters(
                "DCGM",
                f"GPU {gpu}",
                dram_share=fmean(columns["dram"]) if "dram" in columns else None,
                tensor_share=fmean(columns["tensor"]) if "tensor" in columns else None,
                remarks=remarks,
            )
        )
    if not found:
        raise RunFileError(f"{path}: DCGM's heading without any sample of a GPU below it")
    return Benchmark(path, counters=tuple(found))


def _table(text: str, *heading: str) -> Iterator[Mapping[str, str]] | None:
    """Rows of a CSV table below the first line that holds all words of its heading."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if all(word in line for word in heading):
            until = next(
                (n for n in range(number + 1, len(lines)) if not lines[n].strip()), len(lines)
            )
            reader = csv.DictReader(lines[number:until])
            return ({k: v or "" for k, v in row.items() if k is not None} for row in reader)
    return None


_LOCKED: Final = Remark(
    "MEA005",
    "info",
    "Nsight Compute locks the clocks to base and runs kernels one by one: its shares hold, its "
    "times do not",
    "--clock-control none for times, nsys for the whole step",
)
_SUMS: Final = Remark(
    "MEA005",
    "warning",
    "sums of kernels show no gaps between them: whether the host is behind cannot be seen",
    "nsys stats --report cuda_gpu_trace, with --cuda-graph-trace=node",
)
_RESIDENT: Final = Remark(
    "MEA005",
    "warning",
    "GPU utilisation says that a kernel was resident, not what it waited for",
    "DCGM 1005 (DRAM active) and 1004 (tensor active)",
)
