"""llama-bench: JSON, JSON lines, CSV (the same fields) and the Markdown table.

Fields and tests (pp, tg, pg, depth): tools/llama-bench/README.md of ggml-org/llama.cpp.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from advisor.prove.imports.figures import Benchmark, Fields, Figure, Remark, mixed_window
from advisor.prove.record import RunFileError

_TOOL: Final = "llama-bench"
_TEST: Final = re.compile(r"(?:pp(?P<pp>\d+))?\+?(?:tg(?P<tg>\d+))?(?:\s*@\s*d(?P<depth>\d+))?")
_SIZE: Final = re.compile(r"([\d.]+)\s*(KiB|MiB|GiB|TiB)")
_POWERS: Final = {"KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}
_QUANT: Final = re.compile(
    r"\b(I?Q\d_[0-9A-Z]+|F16|F32|BF16)\b(?: - (Small|Medium|Large))?", re.IGNORECASE
)
_LETTER: Final = {"small": "_S", "medium": "_M", "large": "_L"}


def read_llama_bench(objects: Sequence[Mapping[str, Any]], path: str) -> Benchmark | None:
    """JSON or JSON lines; None for another tool's."""
    if not all("n_gen" in one and "n_prompt" in one for one in objects):
        return None
    return Benchmark(path, tuple(_figure(Fields(one, path)) for one in objects))


def read_llama_bench_table(text: str, path: str) -> Benchmark | None:
    """CSV or the Markdown table; None for another tool's."""
    first = text.lstrip().splitlines()[0]
    if "n_prompt" in first and "avg_ts" in first:
        return read_llama_bench(list(csv.DictReader(io.StringIO(text.lstrip()))), path)
    found = list(_table_rows(text, path))
    return Benchmark(path, tuple(found)) if found else None


def _figure(fields: Fields) -> Figure:
    prompt = fields.number("n_prompt", "tokens") or 0.0
    output = fields.number("n_gen", "tokens") or 0.0
    rate = fields.above_zero("avg_ts", "tokens per second")
    deviation = fields.number("stddev_ts", "tokens per second") or 0.0
    samples = fields.data.get("samples_ts")
    remarks = []
    if isinstance(samples, list) and len(samples) == 1:
        remarks.append(_once())
    if deviation > 0.1 * rate:
        remarks.append(_scattered(deviation / rate))
    file = fields.text("model_filename") or ""
    return _of_test(
        prompt,
        output,
        fields.number("n_depth", "tokens") or 0.0,
        rate,
        tuple(remarks),
        model=PurePosixPath(file.replace("\\", "/")).name or fields.text("model_type"),
        hardware=_hardware(fields),
        weights=quantization(fields.text("model_type") or ""),
        kv_cache=fields.text("type_k"),
        model_bytes=fields.number("model_size", "bytes"),
    )


def _hardware(fields: Fields) -> str | None:
    """The GPU where layers run on one, else the CPU."""
    on_gpu = (fields.number("n_gpu_layers") or 0.0) > 0.0
    gpu = fields.text("gpu_info")
    return gpu if gpu and on_gpu else fields.text("cpu_info")


def _of_test(
    prompt: float, output: float, depth: float, rate: float, remarks: tuple[Remark, ...], **of: Any
) -> Figure:
    parts = [f"pp{prompt:g}"] if prompt else []
    parts += [f"tg{output:g}"] if output else []
    label = "+".join(parts) + (f" @ d{depth:g}" if depth else "")
    figure = Figure(_TOOL, label, batch=1.0, context=depth, output=output, remarks=remarks, **of)
    if prompt and output:
        mixed = mixed_window(f"{label} counts the prompt's tokens and time with the generated ones")
        return figure._replace(prompt=prompt, remarks=(*remarks, mixed))
    if prompt:
        return figure._replace(prompt=prompt, prompt_rate=rate)
    return figure._replace(tpot_ms=1e3 / rate, throughput=rate)


def _table_rows(text: str, path: str) -> Iterator[Figure]:
    """Rows of `| model | size | params | backend | ... | test | t/s |`."""
    names: list[str] | None = None
    gpu = re.search(r"Device \d+: ([^,\n]+)", text)
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.lstrip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if names is None:
            if "test" in cells and "t/s" in cells:
                names = cells
            continue
        if set(line) <= set("|-: "):
            continue
        if len(cells) != len(names):
            raise RunFileError(f"{path}:{number}: {len(cells)} cells under {len(names)} headings")
        row = dict(zip(names, cells, strict=True))
        test = _TEST.fullmatch(row["test"])
        if test is None or not (test["pp"] or test["tg"]):
            raise RunFileError(f"{path}:{number}: unknown test {row['test']!r}")
        speed, _, deviation = row["t/s"].partition("±")
        place = Fields({"t/s": speed.strip(), "±": deviation.strip()}, f"{path}:{number}")
        rate = place.above_zero("t/s", "tokens per second")
        wide = (place.number("±") or 0.0) / rate
        size = _SIZE.fullmatch(row.get("size", ""))
        yield _of_test(
            float(test["pp"] or 0),
            float(test["tg"] or 0),
            float(test["depth"] or 0),
            rate,
            (_scattered(wide),) if wide > 0.1 else (),
            model=row.get("model"),
            hardware=gpu[1].strip() if gpu else None,
            weights=quantization(row.get("model", "")),
            model_bytes=float(size[1]) * 2.0 ** _POWERS[size[2]] if size else None,
        )


def quantization(model_type: str) -> str | None:
    """The format in a model type such as "llama 8B Q4_K - Medium"."""
    match = _QUANT.search(model_type)
    if match is None:
        return None
    return (match[1] + _LETTER.get((match[2] or "").lower(), "")).lower()


def _once() -> Remark:
    return Remark(
        "MEA006", "info", "measured once: how far it scatters is not known", "repeat it (-r 5)"
    )


def _scattered(share: float) -> Remark:
    return Remark(
        "MEA006",
        "warning",
        f"the repetitions scatter by {share:.0%}: differences below that are noise",
        "an idle machine, locked clocks, more repetitions",
    )
