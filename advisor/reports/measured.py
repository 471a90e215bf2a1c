"""The answer of `rooflint prove --from`: what other tools' results show."""

from __future__ import annotations

import json
from collections.abc import Sequence

from advisor.prove.imports.figures import Remark
from advisor.prove.published import CountersReading, Reading
from advisor.reports.style import Style, clean, wrap

Judged = Sequence[Reading | CountersReading]


def measured_text(path: str, readings: Judged, style: Style) -> str:
    """For a terminal."""
    lines = []
    for one in readings:
        lines.append(style.paint(clean(f"{path}: {_title(one)}"), "heading"))
        lines += [f"  {part}" for part in _facts(one)]
        lines.append(f"  {_verdict(one)}")
        for remark in _remarks(one):
            text = f"{remark.severity} {remark.code}: {remark.message}; instead: {remark.instead}"
            first, *rest = wrap(text, style.width - 4)
            lines += [f"  {first}", *(f"    {part}" for part in rest)]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def measured_markdown(path: str, readings: Judged) -> str:
    """For a page."""
    lines = []
    for one in readings:
        lines += [f"## {clean(path)}: {clean(_title(one))}", ""]
        lines += [f"- {clean(part)}" for part in (*_facts(one), _verdict(one))]
        lines += [
            f"- {remark.severity} {remark.code}: {clean(remark.message)}; "
            f"instead: {clean(remark.instead)}"
            for remark in _remarks(one)
        ]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def measured_json(path: str, readings: Judged) -> str:
    """For programs."""
    records = []
    for one in readings:
        measured = one.figure if isinstance(one, Reading) else one.counters
        record = measured._asdict()
        record.update(
            bound=one.bound,
            because=one.because,
            remarks=[remark._asdict() for remark in _remarks(one)],
        )
        if isinstance(one, Reading):
            expected = one.expected_ms
            record.update(
                mbu=one.mbu,
                step_bytes=one.step_bytes,
                expected_ms=None if expected is None else expected._asdict(),
            )
        records.append(record)
    return json.dumps({"version": 1, "path": path, "results": records}, indent=2) + "\n"


def _title(one: Reading | CountersReading) -> str:
    measured = one.figure if isinstance(one, Reading) else one.counters
    return f"{measured.tool}, {measured.label}"


def _verdict(one: Reading | CountersReading) -> str:
    name = {"memory": "memory-bound", "compute": "compute-bound", "overhead": "bound by overhead"}
    return f"{name.get(one.bound, 'undecided')}: {one.because}"


def _remarks(one: Reading | CountersReading) -> tuple[Remark, ...]:
    return one.remarks if isinstance(one, Reading) else one.counters.remarks


def _facts(one: Reading | CountersReading) -> list[str]:
    if isinstance(one, CountersReading):
        counters = one.counters
        if counters.read_bytes is None or counters.time_ms is None:
            return []
        rate = counters.read_bytes / 1e6 / counters.time_ms
        read = f"{counters.read_bytes / 1e9:.4g} GB read in {counters.time_ms:.4g} ms"
        return [f"{read} ({rate:,.4g} GB/s at the profiler's clocks)"]
    figure = one.figure
    named = [figure.model, figure.weights and f"{figure.weights} weights", figure.hardware]
    facts = [", ".join(part for part in named if part)] if any(named) else []
    work = []
    if figure.batch is not None:
        work.append(f"batch {figure.batch:.4g}")
    if figure.mean_context is not None:
        work.append(f"{figure.mean_context:,.0f} tokens in the cache on average")
    if work:
        facts.append(", ".join(work))
    if figure.tpot_ms is not None:
        line = f"{figure.tpot_ms:.4g} ms per output token"
        if one.expected_ms is not None:
            expected = one.expected_ms
            line += f"; expected {expected.mid:.4g} ms ({expected.low:.4g}-{expected.high:.4g})"
        if one.step_bytes is not None:
            line += f"; {one.step_bytes / 1e9:.4g} GB a step"
        facts.append(line)
    return facts
