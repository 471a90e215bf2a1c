"""The answer of `rooflint prove`: the verdict on a run as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import Final

from advisor.prove.record import BASELINE, Run, to_json
from advisor.prove.verdict import LeverRow, Verdict
from advisor.reports.columns import table
from advisor.reports.plot import Axis, Series, axis, svg, terminal
from advisor.reports.style import Style, clean, wrap

_BOUNDS: Final = {
    "memory": "memory-bound",
    "compute": "compute-bound",
    "overhead": "bound by overhead",
    "undecided": "undecided",
}
_HEADING: Final = ("lever", "GB/step", "predicted", "measured", "error", "")
_CLOCKS: Final = {
    "wall": "wall clock",
    "cpu": "time on the core",
    "device": "device events",
}


def prove_text(run: Run, verdict: Verdict, style: Style) -> str:
    """The verdict for a terminal."""
    lines = [style.paint(clean(title(run)), "heading")]
    for line in machine_lines(run, verdict):
        lines += _wrapped(line, style)
    lines.append("")
    bound = f"{_BOUNDS[verdict.bound]}: {verdict.because}"
    lines += [style.paint(line, "heading") for line in wrap(bound, style.width)]
    for line in fit_lines(run, verdict):
        lines += _wrapped(line, style)
    lines += ["", style.paint("tests", "heading")]
    for test in verdict.tests:
        lines += _wrapped(f"{test.result:<9} {test.name}: {test.shows}", style)
        lines += [
            f"            {part}"
            for part in wrap(f"refuted if {test.refuted_if}", style.width - 12)
        ]
    lines += ["", style.paint("predicted against measured, per token", "heading")]
    lines += table(_HEADING, [_row(lever) for lever in verdict.levers], style, right="lrrrr")
    if len(run.group("batch")) > 1:
        lines += ["", style.paint("batch sweep", "heading"), *terminal(*_sweep(run), height=14)]
    lines += _remarks(run, verdict, style)
    return "\n".join(lines) + "\n"


def prove_markdown(run: Run, verdict: Verdict) -> str:
    """The verdict for a page."""
    lines = [f"## {title(run)}", ""]
    lines += [f"- {line}" for line in machine_lines(run, verdict)]
    lines += ["", f"**{_BOUNDS[verdict.bound]}**: {verdict.because}.", ""]
    lines += [f"- {line}" for line in fit_lines(run, verdict)]
    lines += ["", "| test | outcome | what it shows | what would have refuted it |"]
    lines.append("|---|---|---|---|")
    lines += [
        f"| {_cell(test.name)} | {test.result} | {_cell(test.shows)} | {_cell(test.refuted_if)} |"
        for test in verdict.tests
    ]
    lines += [
        "",
        "| lever | GB/step | predicted | measured | error | |",
        "|---|--:|--:|--:|--:|---|",
    ]
    lines += [
        "| " + " | ".join(_cell(cell) for cell in _row(lever)) + " |" for lever in verdict.levers
    ]
    told = [*verdict.doubts, *run.notes]
    if told:
        lines += ["", *(f"- {_cell(line)}" for line in told)]
    return "\n".join(lines) + "\n"


def prove_json(run: Run, verdict: Verdict | None) -> str:
    """The run with its verdict; `measured:` of a proposal takes it as it is."""
    data = json.loads(to_json(run))
    data["verdict"] = None if verdict is None else _plain(verdict)
    return json.dumps(data, indent=1) + "\n"


def prove_svg(run: Run) -> str | None:
    """The batch sweep as SVG; None where none was measured."""
    return svg(*_sweep(run), title(run)) if len(run.group("batch")) > 1 else None


def _plain(value: object) -> object:
    """Named tuples as mappings; numbers that JSON has none for as null."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return value


def title(run: Run) -> str:
    """Model, formats and work in a line."""
    base = run.baseline
    part = "" if base.layers == base.all_layers else f" ({base.layers} of {base.all_layers} layers)"
    return (
        f"{base.model}{part} | {base.weights} weights | batch {base.batch} | "
        f"{base.context:,} tokens | {run.machine.device}"
    )


def machine_lines(run: Run, verdict: Verdict) -> list[str]:
    """What it ran on, when, and what was measured of the machine."""
    machine = run.machine
    rates = ", ".join(
        f"{median(rates):,.0f} GFLOP/s {dtype}" for dtype, rates in machine.matmul_gflops.items()
    )
    count = "1 thread" if machine.threads == 1 else f"{machine.threads} threads"
    where = f"{machine.name}, {count}, torch {machine.torch}, {run.date}, {_CLOCKS[machine.clock]}"
    return [where, f"streams {verdict.streaming_gbs:,.1f} GB/s, multiplies {rates or 'not at all'}"]


def fit_lines(run: Run, verdict: Verdict) -> list[str]:
    """The baseline's time and what was fitted."""
    time = f"baseline {verdict.baseline_ms:,.4g} ms a step (noise {verdict.noise:.1%})"
    found = [f"{time}, MBU {verdict.mbu:.0%} of the streaming bandwidth"]
    base = next(trial for trial in run.trials if trial.name == BASELINE)
    off = base.modelled_ms / verdict.baseline_ms - 1.0
    found.append(
        f"the model of this machine, not fitted to any step, expected {base.modelled_ms:,.4g} ms "
        f"({off:+.0%})"
    )
    if verdict.line is not None:
        found.append(
            f"one kernel, rows removed: t = {verdict.line.fixed_ms:,.3g} ms + bytes / "
            f"{verdict.line.gbs:,.1f} GB/s (off by {verdict.line.residual:.1%} at most)"
        )
    if verdict.format_line is not None:
        line = verdict.format_line
        words = (
            f"over number formats: t = {line.fixed_ms:,.3g} ms + bytes / {line.gbs:,.1f} GB/s "
            f"(off by {line.residual:.1%} at most)"
        )
        if line.residual > 0.15:
            words += "; no one line: each format has a kernel of its own, at its own bandwidth"
        found.append(words)
    return found


def _sweep(run: Run) -> tuple[list[Series], Axis, Axis]:
    """The batch sweep in tokens per second of all sequences, both axes logarithmic.

    The prediction goes through the measured baseline; the third line is what would be if every
    sequence more were free.
    """
    sweep = run.group("batch")
    first = 1e3 * sweep[0].batch / median(sweep[0].times_ms)
    measured = [(one.batch, 1e3 * one.batch / median(one.times_ms)) for one in sweep]
    predicted = [(one.batch, first * one.predicted[1]) for one in sweep]
    free = [(one.batch, first * one.batch / sweep[0].batch) for one in sweep]
    rates = [rate for line in (measured, predicted) for _, rate in line]
    lines = [Series("measured", measured), Series("predicted", predicted)]
    shown = [(batch, rate) for batch, rate in free if rate <= 1.5 * max(rates)]
    lines.append(Series("if every sequence more were free", shown))
    batches = axis("batch", [float(one.batch) for one in sweep], log=True)
    all_rates = [rate for line in lines for _, rate in line.points]
    return lines, batches, axis("tokens per second", all_rates, log=True)


def _row(lever: LeverRow) -> tuple[str, ...]:
    low, mid, high = lever.predicted
    measured = lever.measured
    return (
        lever.name,
        f"{lever.gigabytes:,.3g}",
        f"{mid:.2f}x ({low:.2f}-{high:.2f})",
        f"{measured.mid:.2f}x ({measured.low:.2f}-{measured.high:.2f})",
        f"{round(lever.error, 2) + 0.0:+.0%}",
        "" if lever.agrees else "outside the interval",
    )


def _remarks(run: Run, verdict: Verdict, style: Style) -> list[str]:
    told: list[tuple[str, Sequence[str]]] = [
        ("doubt", verdict.doubts),
        ("note", run.notes),
        ("note", () if run.ended == "done" else (_ENDED[run.ended],)),
    ]
    lines = [f"{label}: {text}" for label, texts in told for text in texts]
    return ["", *(part for line in lines for part in _wrapped(line, style))] if lines else []


_ENDED: Final = {
    "time": "the time given by --minutes was up before everything was measured",
    "interrupted": "interrupted: what was measured until then is shown",
}


def _wrapped(text: str, style: Style) -> list[str]:
    first, *rest = wrap(text, style.width - 4)
    return [f"  {first}", *(f"    {line}" for line in rest)]


def _cell(text: str) -> str:
    return clean(text).replace("|", "\\|")
