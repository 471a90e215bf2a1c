"""The command line, declared: each command, its options and its help.

What a command does stands in the module of `advisor.commands` that it is named after, imported in
its body, so that none pays for others.

Annotations are evaluated here and not kept as text: typer would evaluate each of them twice.
"""

from typing import Annotated, Literal, NoReturn

import typer

from advisor import process
from advisor.commands.options import (
    CheckOptions,
    Colours,
    DeploymentOptions,
    Format,
    Paths,
    ProveOptions,
    RulePaths,
    SettingsOptions,
)
from advisor.commands.terminal import style_of
from advisor.outcome import Outcome

app = typer.Typer(
    name="rooflint",
    help="Refute LLM-inference optimization proposals that cannot pay off, with numbers.",
    epilog="Exit codes: 0 nothing found, 1 findings, 2 usage, settings or internal error.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> NoReturn:
    """Run the command line of this process and end it with the exit code."""
    process.end_with(run)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    return process.run(app, arguments)


def _version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

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


@app.command()
def check(
    paths: Paths = None,
    *,
    options: CheckOptions,
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Find what is wrong with proposals.

    Each finding says why in numbers. For pre-commit, CI and review. A file that cannot be read is
    a finding of its own; nothing is said of what is right.

    Example: rooflint check proposals/ --fail-on error
    """
    from advisor.commands.check import run_check

    style = style_of(color, to_file=options.file is not None)
    return run_check(paths or ["."], options, settings, style)


@app.command()
def audit(
    paths: Paths = None,
    *,
    output: Format = "text",
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Score every lever of proposals.

    What it moves, what is possible, what is claimed, and what was assumed.

    Example: rooflint audit proposals/prune-70b.yaml
    """
    from advisor.commands.audit import run_audit

    return run_audit(paths or ["."], settings, output, style_of(color))


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
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Say what a change of configuration does to a decode step.

    Bytes, time, room for sequences, before and after, of each deployment that files configure.

    Example: rooflint diff main HEAD deploy/ --format markdown
    """
    from advisor.commands.diff import run_diff

    return run_diff(old, new, paths or (), settings, output, style_of(color))


@app.command()
def predict(
    *,
    given: DeploymentOptions,
    phase: Annotated[
        Literal["decode", "prefill"] | None, typer.Option(help="Which kind of step.")
    ] = None,
    output: Format = "text",
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Predict one step of a deployment.

    Its bytes, its FLOPs, the floor of its time and what to expect. What is not given comes from
    the settings, else from the reference: Llama-3.1-8B in bf16 on one H100 SXM, vLLM, batch 1,
    4,096 tokens.

    Example: rooflint predict --model Llama-3.1-70B --hardware "2 x H100 SXM" --weights fp8
    """
    from advisor.commands.deployment import audited
    from advisor.commands.predict import run_predict

    return run_predict(audited(given, settings, phase), output, style_of(color))


@app.command()
def advise(
    *,
    given: DeploymentOptions,
    goal: Annotated[
        Literal["latency", "throughput", "memory"], typer.Option(help="What to rank by.")
    ] = "latency",
    stack: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=5, help="Levers to combine at most; 1 tries each alone."
        ),
    ] = 1,
    must_fit: Annotated[
        bool, typer.Option("--must-fit", help="Leave out what does not fit in memory.")
    ] = False,
    max_devices: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Devices that may be used; default: those given."),
    ] = None,
    output: Format = "text",
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Say what to do: every usual lever on one deployment, the best first, and what gains nothing.

    What is not given comes from the settings, else from the reference deployment.

    Example: rooflint advise --model Llama-3.1-70B --hardware "2 x H100 SXM" --stack 3
    """
    from advisor.commands.advise import run_advise
    from advisor.commands.deployment import audited

    return run_advise(
        audited(given, settings),
        output,
        style_of(color),
        goal=goal,
        stack=stack,
        must_fit=must_fit,
        max_devices=max_devices,
    )


@app.command()
def sweep(
    *,
    over: Annotated[Literal["batch", "context"], typer.Option(help="What to vary.")] = "batch",
    start: Annotated[str | None, typer.Option("--from", metavar="N", help="First value.")] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="N", help="Last value, such as 256 or 128k.")
    ] = None,
    points: Annotated[
        int, typer.Option(metavar="N", min=2, max=1_000_000, help="How many at most.")
    ] = 100,
    given: DeploymentOptions,
    output: Annotated[
        Literal["text", "csv", "json"], typer.Option("--format", help="For people or programs.")
    ] = "text",
    svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the curve as SVG there.")
    ] = None,
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Follow one deployment over batch or context: step time, rates, what the step waits for.

    Example: rooflint sweep --over context --to 128k --model Llama-3.1-8B --batch 32
    """
    from advisor.commands.deployment import audited
    from advisor.commands.sweep import run_sweep

    return run_sweep(
        audited(given, settings),
        output,
        style_of(color),
        over=over,
        start=start,
        end=end,
        points=points,
        svg=svg,
    )


@app.command()
def wall(
    *,
    given: DeploymentOptions,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            "--class", metavar="NAME", help="Class of hardware to follow; repeat for more."
        ),
    ] = None,
    ridges_svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the ridges as SVG there.")
    ] = None,
    roofline_svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the roofline as SVG there.")
    ] = None,
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Show the memory wall: ridge points over the years, and a model's decode on a roofline.

    Example: rooflint wall --model Llama-3.1-8B --hardware H100 --roofline-svg roofline.svg
    """
    from advisor.commands.deployment import audited
    from advisor.commands.wall import run_wall

    return run_wall(
        audited(given, settings),
        style_of(color),
        classes=classes,
        ridges_svg=ridges_svg,
        roofline_svg=roofline_svg,
    )


@app.command()
def prove(*, options: ProveOptions, color: Colours = "auto") -> Outcome:
    """Measure decode on this machine, or read a benchmark's file, and say what it shows.

    Builds the model's decode step with random weights, times it against variants of itself, and
    puts every measured speedup beside the predicted one. Needs the extra rooflint[prove].

    Examples: rooflint prove --model Qwen2.5-0.5B --device cpu, rooflint prove --from bench.json
    """
    from advisor.commands.prove import run_prove

    return run_prove(options, style_of(color))


@app.command()
def explain(
    subject: Annotated[
        list[str] | None,
        typer.Argument(help="A rule's code, a kind of lever, a term, or prove."),
    ] = None,
    *,
    given: DeploymentOptions,
    rules: RulePaths = None,
    settings: SettingsOptions,
    color: Colours = "auto",
) -> Outcome:
    """Read up on a rule, a lever or a term, or on how to prove what limits decode.

    Without one, list what there is. The options of a deployment are for `prove`: the tests that
    show whether decode is bandwidth-bound, with the figures to expect of this model on this
    hardware.

    Examples: rooflint explain FLP002, rooflint explain quantize, rooflint explain MBU,
    rooflint explain prove --model Llama-3.1-8B --hardware "A100 80GB SXM"
    """
    from advisor.commands.explain import run_explain

    return run_explain(subject or (), given, settings, rules or (), style_of(color))


@app.command()
def catalog(
    name: Annotated[
        Literal["models", "hardware", "formats", "engines", "levers"],
        typer.Argument(help="Which catalog.", show_default=False),
    ],
    *,
    words: Annotated[
        str,
        typer.Option(
            "--filter", metavar="WORDS", help="Only entries that hold all of these words."
        ),
    ] = "",
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """List models, hardware, formats, ...

    With units, confidence and sources.

    Example: rooflint catalog hardware --filter "h100 sxm"
    """
    from advisor.commands.catalog import run_catalog

    return run_catalog(name, words, output, style_of(color))


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
    from advisor.commands.model import run_model

    return run_model(name, output, style_of(color))


@app.command()
def config(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files: what the settings mean for each.")
    ] = None,
    *,
    settings: SettingsOptions,
    output: Format = "text",
    color: Colours = "auto",
) -> Outcome:
    """Show the settings that hold, and where each comes from.

    Settings stand in [tool.rooflint] of pyproject.toml or in rooflint.toml, the nearest at or
    above the working directory.

    Example: rooflint config docs/proposal.yaml
    """
    from advisor.commands.config import run_config

    return run_config(paths or (), settings, output, style_of(color))


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
    from advisor.schema import schema_text

    return Outcome(schema_text(name))
