"""`rooflint prove`: measure this machine, or judge what somebody measured."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from advisor.commands.deployment import tokens
from advisor.commands.options import ProveOptions
from advisor.commands.terminal import write_file
from advisor.deployment import DeploymentError
from advisor.ledger.formats import UnknownFormatError
from advisor.outcome import CommandError, Outcome
from advisor.prove.record import (
    KIND,
    MAX_BYTES,
    Run,
    RunFileError,
    load_text,
    parse_json,
    run_of,
    text_of,
)
from advisor.prove.verdict import judge
from advisor.readers.discover import STDIN
from advisor.reports.prove import prove_json, prove_markdown, prove_svg, prove_text
from advisor.reports.style import Style

if TYPE_CHECKING:
    from advisor.deployment import Deployment
    from advisor.ledger.shapes import Architecture
    from advisor.prove.imports.figures import Figure
    from advisor.prove.published import CountersReading, Reading
    from advisor.prove.session import Hardware

NO_TORCH: Final = (
    "measuring needs torch, which is not installed: pip install 'rooflint[prove]' (a torch built "
    "for CPUs is enough for --device cpu); --from FILE needs none"
)
_CONTEXT: Final = 512
"""Tokens of the baseline where nobody says: the sweep goes to 16 times as many."""


def run_prove(options: ProveOptions, style: Style) -> Outcome:
    """Measure and report; or judge a file of what was measured.

    Raises:
        CommandError: without torch, device, model or memory; for a file that cannot be used.

    """
    try:
        if options.measured is None:
            return _measure(options, style)
        return _read(options.measured, options, style)
    except (RunFileError, UnknownFormatError, DeploymentError) as error:
        raise CommandError(str(error)) from None


def _measure(options: ProveOptions, style: Style) -> Outcome:
    if options.model is None:
        raise CommandError("which model? give --model NAME_OR_CONFIG, or --from FILE")
    model = _model(options.model)
    hardware = _hardware(options)
    from advisor.prove.session import Wanted, run  # noqa: PLC0415

    native = "fp32" if options.device == "cpu" else hardware.sixteen_bit
    wanted = Wanted(
        model,
        options.weights or native,
        options.batch or 1,
        tokens(options.context) or _CONTEXT,
        options.rounds,
        options.minutes,
    )
    show = _progress()
    try:
        measured = run(hardware, wanted, show)
    finally:
        show("")
    return _told(measured, options, style)


def _read(path: str, options: ProveOptions, style: Style) -> Outcome:
    """Judge a file of results: a run of this command, or another tool's."""
    is_given = path == STDIN
    text = text_of(sys.stdin.buffer.read(MAX_BYTES + 1), path) if is_given else load_text(path)
    if text.lstrip().startswith("{") and f'"{KIND}"' in text[:200]:
        return _told(run_of(parse_json(text, path), path), options, style)
    from advisor.prove.imports import benchmark_of  # noqa: PLC0415
    from advisor.prove.published import judge_counters, judge_figure  # noqa: PLC0415
    from advisor.reports.measured import (  # noqa: PLC0415
        measured_json,
        measured_markdown,
        measured_text,
    )

    found = benchmark_of(text, path)
    readings: list[Reading | CountersReading] = [
        *(judge_figure(figure, *_deployment(figure, options)) for figure in found.figures),
        *(judge_counters(counters) for counters in found.counters),
    ]
    if options.output == "json":
        return Outcome(measured_json(path, readings))
    if options.output == "markdown":
        return Outcome(measured_markdown(path, readings))
    return Outcome(measured_text(path, readings, style))


def _deployment(figure: Figure, options: ProveOptions) -> tuple[Deployment | None, str]:
    """What a figure was measured on: options, else what its file names; or what is missing."""
    from advisor.checking import proposal_of  # noqa: PLC0415
    from advisor.context import resolve  # noqa: PLC0415

    model, hardware = options.model or figure.model, options.hardware or figure.hardware
    missing = [name for name, fact in (("model", model), ("hardware", hardware)) if fact is None]
    if missing:
        return None, f"the file does not say which {' and '.join(missing)} it was"
    context = tokens(options.context) or round(figure.mean_context or 0)
    facts = {
        "model": model,
        "hardware": hardware,
        "engine": figure.engine,
        "weights": options.weights or figure.weights,
        "kv_cache": figure.kv_cache,
        "batch": options.batch or max(round(figure.batch or 1), 1),
        "context": max(context, 1),
        "tensor": figure.devices if figure.devices > 1 else None,
    }
    resolved, problems = resolve(proposal_of(facts))
    if resolved is None:
        return None, "; ".join(problem.message for problem in problems)
    return resolved.deployment, ""


def _told(run: Run, options: ProveOptions, style: Style) -> Outcome:
    verdict = judge(run)
    record = prove_json(run, verdict)
    if options.save is not None:
        write_file(options.save, record)
    if options.svg is not None:
        drawing = prove_svg(run)
        if drawing is None:
            raise CommandError("no batch sweep was measured, so there is nothing to draw")
        write_file(options.svg, drawing)
    if options.output == "json":
        return Outcome(record)
    if verdict is None:
        why = "; ".join(run.notes) or "it was interrupted"
        return Outcome("", 2, f"rooflint: nothing was measured: {why}\n")
    if options.output == "markdown":
        return Outcome(prove_markdown(run, verdict))
    return Outcome(prove_text(run, verdict, style))


def _model(name: str) -> Architecture:
    from advisor.reports.model import ModelError, find_model  # noqa: PLC0415

    try:
        return find_model(name).architecture
    except ModelError as error:
        raise CommandError(str(error)) from None


def _hardware(options: ProveOptions) -> Hardware:
    try:
        from advisor.prove.torch_machine import NoDeviceError, TorchMachine  # noqa: PLC0415
    except (ImportError, OSError):  # not there, or a library of it that does not load
        raise CommandError(NO_TORCH) from None
    try:
        return TorchMachine(options.device, options.threads, options.clock)
    except NoDeviceError as error:
        raise CommandError(str(error)) from None


def _progress() -> Callable[[str], None]:
    """One line on standard error that is written over; nothing where nobody watches."""
    if not sys.stderr.isatty():
        return lambda _text: None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return show
