"""The options that commands share, and groups of options that a command takes as one value.

A group is a named tuple whose fields are annotated as options of typer. A command that takes a
group in a parameter of that type gets every option of the group where the parameter stands.

Annotations are evaluated here and not kept as text: typer would evaluate each of them twice.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import typer

from advisor.outcome import Outcome

Command = Callable[..., Outcome]

Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files and folders to read, - for standard input.", show_default="."),
]
Colours = Annotated[
    Literal["auto", "always", "never"],
    typer.Option("--color", help="When to colour; auto follows NO_COLOR and FORCE_COLOR."),
]
Format = Annotated[
    Literal["text", "json"], typer.Option("--format", help="For people or for programs.")
]
RulePaths = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="PATH", help="Further rules: a Python file or a folder."),
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME_OR_PATH", help="Which model.")
]
HardwareOption = Annotated[
    str | None, typer.Option("--hardware", metavar="NAME", help='Such as "2 x H100 SXM".')
]
WeightsOption = Annotated[
    str | None,
    typer.Option("--weights", metavar="FORMAT", help="Of the linear layers, such as int4-g128."),
]
BatchOption = Annotated[int | None, typer.Option("--batch", metavar="N", min=1, help="Sequences.")]
ContextOption = Annotated[
    str | None, typer.Option("--context", metavar="TOKENS", help="Of each sequence, such as 4k.")
]


def rules_like(incomplete: str) -> list[tuple[str, str]]:
    """Codes that a word may become, each with the rule's name: what a shell completes."""
    from advisor.checking import known_rules  # noqa: PLC0415 - only a shell that completes asks

    done, comma, part = incomplete.rpartition(",")
    codes = {rule.code: rule.name for rule in known_rules().rules}
    if part.islower():
        codes = {code.lower(): name for code, name in codes.items()}
    return [(f"{done}{comma}{code}", name) for code, name in codes.items() if code.startswith(part)]


def codes_in(given: list[str] | None) -> tuple[str, ...]:
    """Codes of an option that is repeated, each of which may hold several."""
    return tuple(code for part in given or () for code in part.replace(",", " ").split())


class SettingsOptions(NamedTuple):
    """Where settings come from."""

    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Settings to use; default: the nearest, see config."),
    ] = None
    isolated: Annotated[bool, typer.Option("--isolated", help="Use no settings of any file.")] = (
        False
    )


class DeploymentOptions(NamedTuple):
    """One deployment; what is None comes from the settings, else from the reference."""

    model: ModelOption = None
    hardware: HardwareOption = None
    weights: WeightsOption = None
    kv_cache: Annotated[str | None, typer.Option(metavar="FORMAT", help="Of the KV cache.")] = None
    activations: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Of the activations.")
    ] = None
    lm_head: Annotated[str | None, typer.Option(metavar="FORMAT", help="Of the output head.")] = (
        None
    )
    engine: Annotated[str | None, typer.Option(metavar="NAME", help='Such as "vLLM 0.11".')] = None
    batch: BatchOption = None
    context: ContextOption = None
    tensor_parallel: Annotated[
        int | None,
        typer.Option(
            "--tensor-parallel", "--tp", metavar="N", min=1, help="Ways to split each layer."
        ),
    ] = None
    pipeline_parallel: Annotated[
        int | None,
        typer.Option("--pipeline-parallel", "--pp", metavar="N", min=1, help="Stages of layers."),
    ] = None
    data_parallel: Annotated[
        int | None,
        typer.Option("--data-parallel", "--dp", metavar="N", min=1, help="Copies of the model."),
    ] = None
    expert_parallel: Annotated[
        int | None,
        typer.Option(
            "--expert-parallel", "--ep", metavar="N", min=1, help="Ways to spread the experts."
        ),
    ] = None
    attention_data_parallel: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Copies of attention in the tensor group."),
    ] = None


class CheckOptions(NamedTuple):
    """What `check` judges, tells and writes; what is None is as the settings say."""

    output: Annotated[
        Literal["text", "concise", "markdown", "json", "github", "gitlab", "junit", "sarif"],
        typer.Option("--format", help="Frames, a line each, or for programs and services."),
    ] = "text"
    file: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there.")
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Also show infos and findings of less confidence.")
    ] = False
    fail_on: Annotated[
        Literal["error", "warning", "info"] | None,
        typer.Option(
            help="Exit with 1 from this severity on, it included; info implies --strict.",
            show_default="warning",
        ),
    ] = None
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="Only these rules: codes, families or names, such as FLP,CLM001.",
            autocompletion=rules_like,
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="Not these rules: codes, families or names.",
            autocompletion=rules_like,
        ),
    ] = None
    rules: RulePaths = None
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Tell only what this file does not hold.")
    ] = None
    write_baseline: Annotated[
        bool,
        typer.Option("--write-baseline", help="Accept what is found: write it to the baseline."),
    ] = False
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count by rule instead of showing findings.")
    ] = False
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show findings only, no summary.")
    ] = False
    stdin_filename: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Name of the file that standard input (-) stands for."),
    ] = None
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Remove unused suppressions; write the assumed context beside claims."
        ),
    ] = False


class ProveOptions(NamedTuple):
    """What `prove` measures or reads, and how it tells it."""

    model: ModelOption = None
    measured: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Judge what was measured (- for standard input); runs nothing.",
        ),
    ] = None
    device: Annotated[Literal["cpu", "cuda", "mps"], typer.Option(help="What torch calls it.")] = (
        "cpu"
    )
    hardware: HardwareOption = None
    weights: WeightsOption = None
    batch: BatchOption = None
    context: ContextOption = None
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Of a CPU; default: all.")
    ] = None
    clock: Annotated[
        Literal["wall", "cpu"],
        typer.Option(help="cpu: the time on the core, on one thread of a machine that is shared."),
    ] = "wall"
    rounds: Annotated[
        int, typer.Option(metavar="N", min=3, help="Repetitions of every variant.")
    ] = 15
    minutes: Annotated[
        float, typer.Option(metavar="N", min=0.01, help="Start nothing new after these.")
    ] = 10.0
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the JSON of the run there.")
    ] = None
    svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the batch sweep as SVG there.")
    ] = None
    output: Annotated[
        Literal["text", "json", "markdown"], typer.Option("--format", help="How to tell it.")
    ] = "text"


def without_groups(command: Command) -> Command:
    """A command that takes the options of its groups one by one: typer knows nothing else."""
    own = inspect.signature(command).parameters.values()
    groups = {one.name: one.annotation for one in own if _is_group(one.annotation)}

    def called(**given: Any) -> Outcome:
        for name, group in groups.items():
            given[name] = group(*map(given.pop, group._fields))
        return command(**given)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    keyword = inspect.Parameter.KEYWORD_ONLY
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, keyword, default=default, annotation=annotation)
            for one in own
            for name, default, annotation in _options(one)
        ]
    )
    return called


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, tuple)


def _options(parameter: inspect.Parameter) -> list[tuple[str, Any, Any]]:
    """Names, defaults and annotations of what a parameter stands for."""
    group = parameter.annotation
    if not _is_group(group):
        return [(parameter.name, parameter.default, group)]
    annotations = inspect.get_annotations(group)
    return [(name, group._field_defaults[name], annotations[name]) for name in group._fields]
