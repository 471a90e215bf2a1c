"""The command line. Each command imports what it needs in its body, so that none pays for others.

A command returns its outcome; `main` alone writes and decides on what goes wrong: exit 0 when
nothing is at or above the level of failing, 1 for findings, 2 for usage, settings or an internal
error.

Annotations are evaluated here and not kept as text: typer would evaluate each of them twice.
"""

import gc
import os
import shutil
import sys
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, cast

import typer

from advisor.outcome import CommandError, Outcome

if TYPE_CHECKING:
    from advisor.audit import Audit
    from advisor.config import Configuration
    from advisor.plan import Plan
    from advisor.reports.style import Style

_USAGE_ERROR: Final = cast("type[Exception]", typer.BadParameter.__bases__[0])
"""What typer raises for wrong usage; it exports only some of its kinds."""

_COLLECT_AFTER: Final = 200_000
"""Objects that cycles are looked for after."""

Colour = Literal["auto", "always", "never"]
TextOrJson = Literal["text", "json"]
ReportFormat = Literal[
    "text", "concise", "markdown", "json", "github", "gitlab", "junit", "sarif"
]  # fmt: skip

app = typer.Typer(
    name="rooflint",
    help="Refute LLM-inference optimization proposals that cannot pay off, with numbers.",
    epilog="Exit codes: 0 nothing found, 1 findings, 2 usage, settings or internal error.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files and folders to read, - for standard input.", show_default="."),
]
Colours = Annotated[
    Colour, typer.Option("--color", help="When to colour; auto follows NO_COLOR and FORCE_COLOR.")
]
Format = Annotated[TextOrJson, typer.Option("--format", help="For people or for programs.")]
ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings to use; default: the nearest, see config."
    ),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Use no settings of any file.")]
RulePaths = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="PATH", help="Further rules: a Python file or a folder."),
]

# One deployment, in the options of the commands that take one.
ModelOption = Annotated[str | None, typer.Option("--model", help="A model's name or path.")]
HardwareOption = Annotated[str | None, typer.Option("--hardware", help='Such as "2 x H100 SXM".')]
WeightsOption = Annotated[str | None, typer.Option("--weights", help="Format of the linears.")]
KvCacheOption = Annotated[str | None, typer.Option("--kv-cache", help="Format of the KV cache.")]
ActivationsOption = Annotated[
    str | None, typer.Option("--activations", help="Format of the activations.")
]
HeadOption = Annotated[str | None, typer.Option("--lm-head", help="Format of the output head.")]
EngineOption = Annotated[str | None, typer.Option("--engine", help='Such as "vLLM 0.11".')]
PhaseOption = Annotated[
    Literal["decode", "prefill"] | None, typer.Option("--phase", help="Which kind of step.")
]
BatchOption = Annotated[int | None, typer.Option("--batch", min=1, help="Sequences.")]
ContextOption = Annotated[str | None, typer.Option("--context", help="Tokens of each, such as 4k.")]
TensorOption = Annotated[int | None, typer.Option("--tensor-parallel", "--tp", min=1)]
PipelineOption = Annotated[int | None, typer.Option("--pipeline-parallel", "--pp", min=1)]
DataOption = Annotated[int | None, typer.Option("--data-parallel", "--dp", min=1)]
ExpertOption = Annotated[int | None, typer.Option("--expert-parallel", "--ep", min=1)]
AttentionDataOption = Annotated[int | None, typer.Option("--attention-data-parallel", min=1)]


def main() -> NoReturn:
    """Run the command line of this process and end it with the exit code."""
    # A run makes few cycles and ends soon: looking for them takes time.
    gc.set_threshold(_COLLECT_AFTER)
    # Plugins of other projects have no business in a linter, and looking for them takes time.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    code = run(sys.argv[1:])
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Everything is written; taking the interpreter apart, object by object, would take time.
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        outcome = _run(arguments)
        _write(outcome)
    except BrokenPipeError:
        # Whoever read the output has seen enough; the interpreter must not flush to them again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return outcome.code


def _run(arguments: list[str]) -> Outcome:
    """Parse and run; every error is an outcome."""
    try:
        outcome = _asked_of(arguments)(args=arguments, prog_name="rooflint", standalone_mode=False)
    except _USAGE_ERROR as error:
        cast("Any", error).show()
        return Outcome("", 2)
    except CommandError as error:
        return Outcome("", 2, f"rooflint: {error}\n")
    except Exception as error:
        if "--debug" in arguments:
            raise
        return Outcome("", 2, _internal(error))
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome("", outcome or 0)  # typer's own: help, completion, Ctrl-C


def _asked_of(arguments: list[str]) -> typer.Typer:
    """The application with the command that is asked for alone: to build them all takes time."""
    name = next((word for word in arguments if not word.startswith("-")), "")
    commands = [one for one in app.registered_commands if _name_of(one.callback) == name]
    if not commands:
        return app
    alone = copy(app)
    alone.registered_commands = commands
    return alone


def _name_of(command: object) -> str:
    return getattr(command, "__name__", "")


def _internal(error: Exception) -> str:
    words = " ".join(str(error).split())[:200]
    return (
        f"rooflint: internal error: {type(error).__name__}: {words}\n"
        "This is a mistake of rooflint, not of its input. Please report it with the command and "
        "the file; rooflint --debug COMMAND shows where it happened.\n"
    )


def _write(outcome: Outcome) -> None:
    for stream, text in ((sys.stdout, outcome.text), (sys.stderr, outcome.error)):
        if text:
            # A terminal that cannot show a character gets its code, never an exception.
            cast("Any", stream).reconfigure(errors="backslashreplace")
            stream.write(text)
            stream.flush()


def _style(colour: Colour, *, to_file: bool = False) -> "Style":
    from advisor.reports.style import (  # noqa: PLC0415
        DEFAULT_WIDTH,
        MAX_WIDTH,
        MIN_WIDTH,
        Style,
        wants_colour,
    )

    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    terminal = sys.stdout.isatty() and not to_file
    return Style(
        colour=wants_colour(colour, os.environ, terminal=terminal),
        width=min(max(width, MIN_WIDTH), MAX_WIDTH),
    )


def _configuration(file: str | None = None, *, isolated: bool = False) -> "Configuration":
    from advisor.config import SettingsError  # noqa: PLC0415
    from advisor.plan import configuration  # noqa: PLC0415

    try:
        return configuration(Path.cwd(), file, isolated=isolated)
    except SettingsError as error:
        raise CommandError(str(error)) from None


def _planned(configured: "Configuration") -> "Plan":
    """A run as the settings alone say."""
    from advisor.config import SettingsError  # noqa: PLC0415
    from advisor.plan import Flags, plan  # noqa: PLC0415

    try:
        return plan(Flags(), configured)
    except SettingsError as error:
        raise CommandError(str(error)) from None


def _version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"rooflint {version('rooflint')}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    _show_version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Show the version and exit.", callback=_version, is_eager=True
        ),
    ] = False,
    _debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Refute LLM-inference optimization proposals that cannot pay off, with numbers."""


def _rules_like(incomplete: str) -> list[tuple[str, str]]:
    """Codes that a word may become, each with the rule's name: what a shell completes."""
    from advisor.checking import known_rules  # noqa: PLC0415

    done, comma, part = incomplete.rpartition(",")
    codes = {rule.code: rule.name for rule in known_rules().rules}
    if part.islower():
        codes = {code.lower(): name for code, name in codes.items()}
    return [(f"{done}{comma}{code}", name) for code, name in codes.items() if code.startswith(part)]


@app.command()
def check(
    paths: Paths = None,
    *,
    output: Annotated[
        ReportFormat,
        typer.Option("--format", help="Frames, a line each, or for programs and services."),
    ] = "text",
    file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the report there."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Also show infos and findings of less confidence.")
    ] = False,
    fail_on: Annotated[
        Literal["error", "warning", "info"] | None,
        typer.Option(
            help="Exit with 1 from this severity on, it included; info implies --strict.",
            show_default="warning",
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="Only these rules: codes, families or names, such as FLP,CLM001.",
            autocompletion=_rules_like,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="Not these rules: codes, families or names.",
            autocompletion=_rules_like,
        ),
    ] = None,
    rules: RulePaths = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="FILE", help="Tell only what this file does not hold."),
    ] = None,
    write_baseline: Annotated[
        bool,
        typer.Option("--write-baseline", help="Accept what is found: write it to the baseline."),
    ] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count by rule instead of showing findings.")
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show findings only, no summary.")
    ] = False,
    stdin_filename: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Name of the file that standard input (-) stands for."),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Remove unused suppressions; write the assumed context beside claims."
        ),
    ] = False,
    config: ConfigOption = None,
    isolated: Isolated = False,
    color: Colours = "auto",
) -> Outcome:
    """Find what is wrong with proposals.

    Each finding says why in numbers. For pre-commit, CI and review. A file that cannot be read is
    a finding of its own; nothing is said of what is right.

    Example: rooflint check proposals/ --fail-on error
    """
    from advisor.check_command import CheckOptions, run_check  # noqa: PLC0415
    from advisor.plan import Flags  # noqa: PLC0415

    return run_check(
        paths or ["."],
        Flags(_codes(select), _codes(ignore), fail_on, strict),
        _configuration(config, isolated=isolated),
        CheckOptions(
            output,
            file,
            tuple(rules or ()),
            baseline,
            write_baseline,
            statistics,
            exit_zero,
            quiet,
            stdin_filename,
            fix,
        ),
        _style(color, to_file=file is not None),
    )


def _codes(given: list[str] | None) -> tuple[str, ...]:
    """Codes of options, each of which may hold several."""
    return tuple(code for part in given or () for code in part.replace(",", " ").split())


@app.command()
def audit(
    paths: Paths = None,
    *,
    output: Format = "text",
    config: ConfigOption = None,
    isolated: Isolated = False,
    color: Colours = "auto",
) -> Outcome:
    """Score every lever of proposals.

    What it moves, what is possible, what is claimed, and what was assumed.

    Example: rooflint audit proposals/prune-70b.yaml
    """
    from advisor.checking import audit_paths  # noqa: PLC0415

    planned = _planned(_configuration(config, isolated=isolated))
    audited = audit_paths(paths or ["."], planned.run)
    if output == "json":
        from advisor.reports.machine import audits_record  # noqa: PLC0415

        record = audits_record(audited.audits, audited.problems, audited.sources)
        return Outcome(record.model_dump_json(by_alias=True, indent=2) + "\n")
    from advisor.reports import table, text  # noqa: PLC0415

    style = _style(color)
    parts = [table.audit_text(one, style) for one in audited.audits]
    parts += text.frames(audited.problems, audited.sources, style)
    if not parts:
        return Outcome("", error="rooflint: no proposals found\n")
    return Outcome("\n".join(parts))


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="A file, a folder, or a git revision.")],
    new: Annotated[str, typer.Argument(help="What it became.")],
    paths: Annotated[
        list[str] | None, typer.Argument(help="With revisions: only these files and folders.")
    ] = None,
    *,
    output: Annotated[
        Literal["text", "markdown"],
        typer.Option("--format", help="For a terminal or for a pull request."),
    ] = "text",
    config: ConfigOption = None,
    isolated: Isolated = False,
    color: Colours = "auto",
) -> Outcome:
    """Say what a change of configuration does to a decode step.

    Bytes, time, room for sequences, before and after, of each deployment that files configure.

    Example: rooflint diff main HEAD deploy/ --format markdown
    """
    from advisor.diffing import DiffError  # noqa: PLC0415
    from advisor.diffing import diff as compared  # noqa: PLC0415
    from advisor.reports.diff import diff_markdown, diff_text  # noqa: PLC0415

    planned = _planned(_configuration(config, isolated=isolated))
    try:
        found = compared(old, new, paths or (), planned.run.defaults)
    except DiffError as error:
        raise CommandError(str(error)) from None
    if output == "markdown":
        return Outcome(diff_markdown(found))
    return Outcome(diff_text(found, _style(color)))


@app.command()
def predict(
    *,
    model: ModelOption = None,
    hardware: HardwareOption = None,
    weights: WeightsOption = None,
    kv_cache: KvCacheOption = None,
    activations: ActivationsOption = None,
    lm_head: HeadOption = None,
    engine: EngineOption = None,
    phase: PhaseOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    tensor_parallel: TensorOption = None,
    pipeline_parallel: PipelineOption = None,
    data_parallel: DataOption = None,
    expert_parallel: ExpertOption = None,
    attention_data_parallel: AttentionDataOption = None,
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """Predict one step of a deployment.

    Its bytes, its FLOPs, the floor of its time and what to expect. What is not given comes from
    the settings, else from the reference: Llama-3.1-8B in bf16 on one H100 SXM, vLLM, batch 1,
    4,096 tokens.

    Example: rooflint predict --model Llama-3.1-70B --hardware "2 x H100 SXM" --weights fp8
    """
    audited = _audited(
        model=model,
        hardware=hardware,
        weights=weights,
        kv_cache=kv_cache,
        activations=activations,
        lm_head=lm_head,
        engine=engine,
        phase=phase,
        batch=batch,
        context=_tokens(context),
        tensor=tensor_parallel,
        pipeline=pipeline_parallel,
        data=data_parallel,
        expert=expert_parallel,
        attention_data=attention_data_parallel,
    )
    if output == "json":
        from advisor.reports.machine import estimate_record  # noqa: PLC0415

        record = estimate_record(audited.baseline.estimate)
        return Outcome(record.model_dump_json(indent=2) + "\n")
    from advisor.reports.table import audit_text  # noqa: PLC0415

    return Outcome(audit_text(audited, _style(color)))


@app.command()
def advise(
    *,
    model: ModelOption = None,
    hardware: HardwareOption = None,
    weights: WeightsOption = None,
    kv_cache: KvCacheOption = None,
    engine: EngineOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    tensor_parallel: TensorOption = None,
    goal: Annotated[
        Literal["latency", "throughput", "memory"], typer.Option(help="What to rank by.")
    ] = "latency",
    stack: Annotated[
        int, typer.Option(min=1, max=5, help="Levers to combine at most; 1 tries each alone.")
    ] = 1,
    must_fit: Annotated[bool, typer.Option(help="Leave out what does not fit in memory.")] = False,
    max_devices: Annotated[
        int | None, typer.Option(min=1, help="Devices that may be used; default: those given.")
    ] = None,
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """Say what to do: every usual lever on one deployment, the best first, and what gains nothing.

    What is not given comes from the settings, else from the reference deployment.

    Example: rooflint advise --model Llama-3.1-70B --hardware "2 x H100 SXM" --stack 3
    """
    from advisor.advise import advise as rank  # noqa: PLC0415

    audited = _audited(
        model=model,
        hardware=hardware,
        weights=weights,
        kv_cache=kv_cache,
        engine=engine,
        batch=batch,
        context=_tokens(context),
        tensor=tensor_parallel,
    )
    ranking = rank(
        audited.context.deployment,
        goal=goal,
        stack=stack,
        must_fit=must_fit,
        max_devices=max_devices,
    )
    if output == "json":
        from advisor.reports.machine import advice_record  # noqa: PLC0415

        return Outcome(advice_record(ranking).model_dump_json(indent=2) + "\n")
    from advisor.reports.advice import advice_text  # noqa: PLC0415
    from advisor.reports.table import audit_text  # noqa: PLC0415

    style = _style(color)
    return Outcome(f"{audit_text(audited, style)}\n{advice_text(ranking, style)}")


@app.command()
def sweep(
    *,
    over: Annotated[Literal["batch", "context"], typer.Option(help="What to vary.")] = "batch",
    start: Annotated[str | None, typer.Option("--from", help="First value.")] = None,
    end: Annotated[
        str | None, typer.Option("--to", help="Last value, such as 256 or 128k.")
    ] = None,
    points: Annotated[int, typer.Option(min=2, max=1_000_000, help="How many at most.")] = 100,
    model: ModelOption = None,
    hardware: HardwareOption = None,
    weights: WeightsOption = None,
    kv_cache: KvCacheOption = None,
    engine: EngineOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    tensor_parallel: TensorOption = None,
    output: Annotated[
        Literal["text", "csv", "json"], typer.Option("--format", help="For people or programs.")
    ] = "text",
    svg: Annotated[str | None, typer.Option(help="Write the curve as SVG here.")] = None,
    color: Colours = "auto",
) -> Outcome:
    """Follow one deployment over batch or context: step time, rates, what the step waits for.

    Example: rooflint sweep --over context --to 128k --model Llama-3.1-8B --batch 32
    """
    audited = _audited(
        model=model,
        hardware=hardware,
        weights=weights,
        kv_cache=kv_cache,
        engine=engine,
        batch=batch,
        context=_tokens(context),
        tensor=tensor_parallel,
    )
    from advisor.reports import sweep as report  # noqa: PLC0415

    try:
        from advisor.sweep import SweepError, values_between  # noqa: PLC0415
        from advisor.sweep import sweep as swept  # noqa: PLC0415
    except ModuleNotFoundError:
        raise CommandError("sweep needs numpy: pip install 'rooflint[sweep]'") from None
    first, last = _tokens(start, "--from"), _tokens(end, "--to")
    try:
        values = values_between(
            first or (1 if over == "batch" else 256),
            last or (256 if over == "batch" else 131_072),
            points,
        )
    except SweepError as error:
        raise CommandError(str(error)) from None
    deployment = audited.context.deployment
    batches = values if over == "batch" else deployment.batch
    contexts = values if over == "context" else deployment.context
    curve = report.Curve(deployment, over, values, swept(deployment, batches, contexts))
    if svg is not None:
        _save(svg, report.sweep_svg(curve))
    if output == "csv":
        return Outcome(report.sweep_csv(curve))
    if output == "json":
        return Outcome(report.sweep_json(curve))
    return Outcome(report.sweep_text(curve, _style(color)))


@app.command()
def wall(
    *,
    model: ModelOption = None,
    hardware: HardwareOption = None,
    weights: WeightsOption = None,
    kv_cache: KvCacheOption = None,
    engine: EngineOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    tensor_parallel: TensorOption = None,
    classes: Annotated[
        list[str] | None, typer.Option("--class", help="Hardware class to follow; repeat for more.")
    ] = None,
    ridges_svg: Annotated[str | None, typer.Option(help="Write the ridges as SVG here.")] = None,
    roofline_svg: Annotated[
        str | None, typer.Option(help="Write the roofline as SVG here.")
    ] = None,
    color: Colours = "auto",
) -> Outcome:
    """Show the memory wall: ridge points over the years, and a model's decode on a roofline.

    Example: rooflint wall --model Llama-3.1-8B --hardware H100 --roofline-svg roofline.svg
    """
    from advisor.reports.wall import ridges_drawing, roofline_drawing, wall_text  # noqa: PLC0415
    from advisor.wall import CLASSES, UnknownClassError, generations, roofline_of  # noqa: PLC0415

    audited = _audited(
        model=model,
        hardware=hardware,
        weights=weights,
        kv_cache=kv_cache,
        engine=engine,
        batch=batch,
        context=_tokens(context),
        tensor=tensor_parallel,
    )
    try:
        rows = generations(classes or CLASSES)
    except UnknownClassError as error:
        raise CommandError(str(error)) from None
    roof = roofline_of(audited.context.deployment)
    for path, drawing in (
        (ridges_svg, ridges_drawing(rows)),
        (roofline_svg, roofline_drawing(roof)),
    ):
        if path is not None:
            _save(path, drawing.svg())
    return Outcome(wall_text(rows, roof, _style(color)))


@app.command()
def prove(
    *,
    model: ModelOption = None,
    measured: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Judge what was measured; runs nothing."),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda", "mps"], typer.Option(help="What torch calls it.")
    ] = "cpu",
    hardware: HardwareOption = None,
    weights: WeightsOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Of a CPU; default: all.")] = None,
    clock: Annotated[
        Literal["wall", "cpu"],
        typer.Option(help="cpu: the time on the core, on one thread of a machine that is shared."),
    ] = "wall",
    rounds: Annotated[int, typer.Option(min=3, help="Repetitions of every variant.")] = 15,
    minutes: Annotated[float, typer.Option(min=0.01, help="Start nothing new after these.")] = 10.0,
    save: Annotated[str | None, typer.Option(help="Write the JSON of the run here.")] = None,
    svg: Annotated[str | None, typer.Option(help="Write the batch sweep as SVG here.")] = None,
    output: Annotated[
        Literal["text", "json", "markdown"], typer.Option("--format", help="How to tell it.")
    ] = "text",
    color: Colours = "auto",
) -> Outcome:
    """Measure decode on this machine, or read a benchmark's file, and say what it shows.

    Builds the model's decode step with random weights, times it against variants of itself, and
    puts every measured speedup beside the predicted one. Needs the extra rooflint[prove].

    Examples: rooflint prove --model Qwen2.5-0.5B --device cpu, rooflint prove --from bench.json
    """
    from advisor.prove_command import ProveOptions, run_prove  # noqa: PLC0415

    given = ProveOptions(
        model, device, hardware, weights, batch, _tokens(context), threads, clock, rounds, minutes,
        output, save, svg,
    )  # fmt: skip
    return run_prove(given, measured, _style(color))


def _save(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror}") from None


def _audited(**facts: Any) -> "Audit":
    """Audit one deployment given by options; unknown names are errors of usage."""
    from advisor.audit import audit as judge  # noqa: PLC0415
    from advisor.checking import proposal_of  # noqa: PLC0415
    from advisor.context import Defaults  # noqa: PLC0415

    audited, problems = judge(proposal_of(facts), Defaults(_configuration().settings.context))
    if audited is None:
        raise CommandError("; ".join(problem.message for problem in problems))
    return audited


def _tokens(text: str | None, option: str = "--context") -> int | None:
    from advisor.quantity import Dimension, QuantityError, parse_quantity  # noqa: PLC0415

    try:
        return None if text is None else int(parse_quantity(text, Dimension.TOKENS).value)
    except QuantityError as error:
        raise CommandError(f"{option}: {error}") from None


@app.command()
def explain(
    subject: Annotated[
        list[str] | None,
        typer.Argument(help="A rule's code, a kind of lever, a term, or prove."),
    ] = None,
    *,
    model: ModelOption = None,
    hardware: HardwareOption = None,
    weights: WeightsOption = None,
    engine: EngineOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    tensor_parallel: TensorOption = None,
    rules: RulePaths = None,
    color: Colours = "auto",
) -> Outcome:
    """Read up on a rule, a lever or a term, or on how to prove what limits decode.

    Without one, list what there is. The options are for `prove`: the tests that show whether
    decode is bandwidth-bound, with the figures to expect of this model on this hardware.

    Examples: rooflint explain FLP002, rooflint explain quantize, rooflint explain MBU,
    rooflint explain prove --model Llama-3.1-8B --hardware "A100 80GB SXM"
    """
    from advisor import explain as pages  # noqa: PLC0415

    if not subject:
        return Outcome(pages.contents(_style(color)))
    if " ".join(subject).lower() == pages.PROVE:
        from advisor.protocol import TITLE, protocol  # noqa: PLC0415
        from advisor.reports.page import page_text  # noqa: PLC0415

        audited = _audited(
            model=model,
            hardware=hardware,
            weights=weights,
            engine=engine,
            batch=batch,
            context=_tokens(context),
            tensor=tensor_parallel,
        )
        text = protocol(audited.context.deployment)
        return Outcome(page_text(TITLE, text, _style(color)))
    from advisor.plugins import RuleError, load  # noqa: PLC0415

    try:
        return Outcome(pages.explain(" ".join(subject), _style(color), load(rules or ())))
    except (pages.UnknownSubjectError, RuleError) as error:
        raise CommandError(str(error)) from None


@app.command()
def catalog(
    name: Annotated[
        Literal["models", "hardware", "formats", "engines", "levers"],
        typer.Argument(help="Which catalog.", show_default=False),
    ],
    *,
    words: Annotated[
        str, typer.Option("--filter", help="Only entries that hold all of these words.")
    ] = "",
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """List models, hardware, formats, ...

    With units, confidence and sources.

    Example: rooflint catalog hardware --filter "h100 sxm"
    """
    from advisor.reports.catalog import catalog_json, catalog_text  # noqa: PLC0415

    if output == "json":
        return Outcome(catalog_json(name, words) + "\n")
    text = catalog_text(name, words, _style(color), fit=sys.stdout.isatty())
    return Outcome(text, error="" if text else f"rooflint: no {name} match {words!r}\n")


@app.command()
def model(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME_OR_PATH", help="A model's name, or a config or checkpoint."),
    ],
    *,
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """Count a model's parameters and bytes.

    What it stores, keeps resident, streams in a step and caches for a token.

    Example: rooflint model Llama-3.1-8B
    """
    from advisor.reports.model import ModelError, find_model, model_report, model_text  # noqa: PLC0415

    try:
        facts = find_model(name)
    except ModelError as error:
        raise CommandError(str(error)) from None
    if output == "json":
        return Outcome(model_report(facts).model_dump_json(indent=2) + "\n")
    return Outcome(model_text(facts, _style(color)))


@app.command()
def config(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files: what the settings mean for each.")
    ] = None,
    *,
    file: ConfigOption = None,
    isolated: Isolated = False,
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """Show the settings that hold, and where each comes from.

    Settings stand in [tool.rooflint] of pyproject.toml or in rooflint.toml, the nearest at or
    above the working directory.

    Example: rooflint config docs/proposal.yaml
    """
    from advisor.reports.configuration import configuration_json, configuration_text  # noqa: PLC0415

    configured = _configuration(file, isolated=isolated)
    planned = _planned(configured)
    if output == "json":
        return Outcome(configuration_json(configured, planned, paths or ()))
    return Outcome(configuration_text(configured, planned, paths or (), _style(color)))


@app.command()
def schema(
    name: Annotated[
        Literal["proposal", "check", "audit"],
        typer.Argument(help="Of proposal files, or of the output of check or audit."),
    ] = "proposal",
) -> Outcome:
    """Print a JSON Schema.

    Of proposal files, for editors; or of what --format json writes.

    Example: rooflint schema proposal > rooflint.schema.json
    """
    from advisor.schema import schema_text  # noqa: PLC0415

    return Outcome(schema_text(name))
