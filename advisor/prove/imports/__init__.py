"""Results that other tools wrote, by the form of the file: `read_benchmark`.

The forms are those that the tools' public documentation describes. A file is told by its content
and not by its name; one that is of no known form is refused with the list of those that are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from advisor.prove.imports.counters import read_dcgm, read_ncu, read_nsys
from advisor.prove.imports.figures import Benchmark
from advisor.prove.imports.llama_bench import read_llama_bench, read_llama_bench_table
from advisor.prove.imports.serving import read_serving
from advisor.prove.record import RunFileError, load_text, parse_json

KNOWN: Final = (
    "a run of rooflint prove (JSON), llama-bench (json, jsonl, csv, md), vllm bench latency / "
    "serve / throughput (JSON), SGLang bench_serving / bench_one_batch (jsonl), trtllm-bench "
    "(--report_json), AIPerf / genai-perf (JSON), Nsight Compute (--csv), nsys stats (csv), DCGM "
    "(dmon, exporter)"
)

_TEXT_READERS: Final[tuple[Callable[[str, str], Benchmark | None], ...]] = (
    read_llama_bench_table, read_ncu, read_nsys, read_dcgm,
)  # fmt: skip


def read_benchmark(path: str) -> Benchmark:
    """What a file of results says.

    Raises:
        RunFileError: for a file that cannot be read, is of no known form, or holds impossible
            values; the message names the field.

    """
    return benchmark_of(load_text(path), path)


def benchmark_of(text: str, path: str) -> Benchmark:
    """What a text of results says; RunFileError as `read_benchmark` raises it."""
    if text.lstrip()[:1] in {"[", "{"}:
        return _of_json(_objects(text, path), path)
    for read in _TEXT_READERS:
        found = read(text, path)
        if found is not None:
            return found
    raise RunFileError(f"{path}: not a result that this reads; known are {KNOWN}")


def _objects(text: str, path: str) -> list[Mapping[str, Any]]:
    """The objects of a JSON document, or of JSON lines."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > 1 and _is_whole(lines[0][1]):
        data: list[Any] = [parse_json(line, path, number) for number, line in lines]
    else:
        data = [parse_json(text, path)]
    if len(data) == 1 and isinstance(data[0], list):
        data = data[0]
    if not data or not all(isinstance(one, Mapping) for one in data):
        raise RunFileError(f"{path}: not a result that this reads; known are {KNOWN}")
    return data


def _is_whole(line: str) -> bool:
    """Whether a line is a JSON value of its own."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _of_json(objects: list[Mapping[str, Any]], path: str) -> Benchmark:
    for read in (read_llama_bench, read_serving):
        found = read(objects, path)
        if found is not None:
            return found
    raise RunFileError(f"{path}: not a result that this reads; known are {KNOWN}")
