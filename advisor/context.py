"""What a proposal rests on: each fact given, from the settings, or assumed; and the deployment.

What nobody stated comes from the settings, else from the reference context. A name that fits
several devices keeps them all; the most usual one carries the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine, resolve_engine
from advisor.catalog.hardware import device, parse_hardware
from advisor.catalog.models import load_model, resolve_model
from advisor.catalog.names import UnknownNameError
from advisor.deployment import (
    REFERENCE_BATCH,
    REFERENCE_CONTEXT,
    REFERENCE_ENGINE,
    REFERENCE_HARDWARE,
    REFERENCE_MODEL,
    Deployment,
    DeploymentError,
)
from advisor.finding import Finding
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.formats import Format, UnknownFormatError, parse_format
from advisor.ledger.shapes import Architecture
from advisor.measured import fitted_to, measured_tpot_ms
from advisor.problems import problem
from advisor.proposal import Measured, Proposal, Stated
from advisor.source import Span

if TYPE_CHECKING:
    from advisor.prove.fit import MachineFit

T = TypeVar("T")

_MEASURED_ENGINE: Final = "hf-eager"


class Defaults(NamedTuple):
    """Facts that the settings of a repository give where a proposal does not."""

    values: Mapping[str, Any] = MappingProxyType({})

    def get(self, name: str) -> Any:
        """The value the settings give, or None."""
        return self.values.get(name)


class Context(NamedTuple):
    """A proposal's baseline, every fact of it with its origin."""

    facts: Mapping[str, Stated[Any]]
    """By name, as people write them: model, hardware, devices, engine, phase, batch, ..."""
    deployment: Deployment
    devices: tuple[Device, ...]
    """Every device the hardware's name may mean, the one in use first."""
    measured_tpot_ms: float | None = None
    """Time per output token of one sequence that the proposal says was measured."""

    def is_given(self, name: str) -> bool:
        """Whether the proposal itself states the fact."""
        fact = self.facts.get(name)
        return fact is not None and fact.origin == "given"


class _Resolver:
    """Collects findings about names while the facts are looked up."""

    def __init__(self, proposal: Proposal, defaults: Defaults) -> None:
        self.proposal = proposal
        self.defaults = defaults
        self.problems: list[Finding] = []
        self.facts: dict[str, Stated[Any]] = {}

    def fact(self, name: str, stated: Stated[T] | None, reference: T) -> Stated[T]:
        """The stated value, else the settings', else the reference's."""
        if stated is None:
            default = self.defaults.get(name)
            stated = (
                Stated(reference, "assumed") if default is None else Stated(default, "settings")
            )
        self.facts[name] = stated
        return stated

    def look_up(
        self,
        stated: Stated[Any],
        find: Callable[[Any], T],
        name: str = "",
        stand_in: str | None = None,
    ) -> T | None:
        """Resolve a name; one nobody knows becomes a finding where it stands.

        With a `stand_in` it becomes that, as the fact `name` that is assumed: a configuration
        may run models and devices of its own.
        """
        try:
            return find(stated.value)
        except (UnknownNameError, UnsupportedModelError, _ModelFileError) as error:
            if stand_in is not None:
                self.facts[name] = Stated(stand_in, "assumed", stated.span)
                return find(stand_in)
            self.refuse(error, stated.span)
        except UnknownFormatError as error:
            self.report("E906", stated.span, str(error))
        return None

    def refuse(
        self, error: UnknownNameError | UnsupportedModelError | _ModelFileError, span: Span | None
    ) -> None:
        """Report a name that is not known, or a model that cannot be read."""
        if isinstance(error, _ModelFileError):
            self.report(error.code, span, str(error))
        else:
            code = "E909" if isinstance(error, UnsupportedModelError) else "E906"
            self.report(code, span, str(error))

    def report(self, code: str, span: Span | None, message: str) -> None:
        place = span if span is not None else self.proposal.first_line()
        self.problems.append(problem(code, self.proposal.source, place, message))


class _ModelFileError(ValueError):
    """A model given as a file that cannot be read."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


_SIZES: Final = (
    (0.5, "Qwen2.5-0.5B"), (1.2, "Llama-3.2-1B"), (3.2, "Llama-3.2-3B"), (8.0, REFERENCE_MODEL),
    (14.7, "Qwen2.5-14B"), (32.8, "Qwen2.5-32B"), (70.6, "Llama-3.1-70B"),
    (405.9, "Llama-3.1-405B"),
)  # fmt: skip
_SIZE_IN_NAME: Final = re.compile(r"(?<![a-zA-Z0-9.])(\d{1,3}(?:\.\d{1,2})?)[bB](?![a-zA-Z0-9])")


def _stand_in(name: object) -> str:
    """A well-known model of the size that a model's name states; else the reference."""
    match = _SIZE_IN_NAME.search(name) if isinstance(name, str) else None
    if match is None:
        return REFERENCE_MODEL
    billions = max(float(match[1]), 0.1)
    return min(_SIZES, key=lambda size: max(size[0] / billions, billions / size[0]))[1]


def resolve(
    proposal: Proposal, defaults: Defaults | None = None
) -> tuple[Context | None, tuple[Finding, ...]]:
    """Look up a proposal's names and build its baseline.

    Returns the context, None where a name it needs is unknown, and a finding for each such name.
    """
    resolver = _Resolver(proposal, defaults or Defaults())
    fact, look_up = resolver.fact, resolver.look_up
    stated_model = fact("model", proposal.model, REFERENCE_MODEL)
    here = proposal.source.path
    is_found = proposal.kind == "configuration"
    other = _stand_in(stated_model.value) if is_found else None
    is_named = here == "" and stated_model.origin == "given"
    found = look_up(
        stated_model, lambda value: _find_model(value, here, anywhere=is_named), "model", other
    )
    run = _run_of(resolver)
    is_measured = resolver.facts.get("measured")
    if run is not None and is_measured is not None and _nobody_says(resolver, "hardware"):
        name = Stated(run.device.name, is_measured.origin, is_measured.span)
        hardware = fact("hardware", name, REFERENCE_HARDWARE)
        parts: tuple[int, tuple[Device, ...]] | None = (1, (run.device,))
    else:
        hardware = fact("hardware", proposal.hardware, REFERENCE_HARDWARE)
        other = REFERENCE_HARDWARE if is_found else None
        parts = look_up(hardware, _find_devices, "hardware", other)
        run = _of_this_machine(run, parts, resolver)
    engine = _engine(resolver)
    work, splits = proposal.workload, proposal.splits
    phase = fact("phase", work.phase, "decode")
    batch = fact("batch", work.batch, REFERENCE_BATCH)
    context = _context_tokens(resolver)
    count = parts[0] if parts is not None else 1
    given = "given" if hardware.origin == "given" else hardware.origin
    tensor = splits.tensor
    if tensor is None:
        others = 1
        for split in (splits.pipeline, splits.data):
            others *= split.value if split is not None else 1
        tensor = Stated(max(count // others, 1), given)
        resolver.facts["tensor_parallel"] = tensor
    else:
        resolver.facts["tensor_parallel"] = tensor
    quantized_as = found[1] if found is not None else None
    weights = _weights(resolver, found[0] if found is not None else None, quantized_as)
    kv_cache = look_up(fact("kv_cache", proposal.kv_cache, "bf16"), parse_format)
    activations = _optional_format(resolver, "activations", proposal.activations)
    lm_head = _optional_format(resolver, "lm_head", proposal.lm_head)
    if found is None or parts is None or engine is None or resolver.problems:
        return None, tuple(resolver.problems)
    try:
        deployment = Deployment(
            found[0],
            parts[1][0],
            weights=weights,
            lm_head=lm_head,
            kv_cache=kv_cache,
            activations=activations,
            engine=engine,
            phase=phase.value,
            batch=batch.value,
            context=context.value,
            tensor_parallel=tensor.value,
            pipeline_parallel=splits.pipeline.value if splits.pipeline else 1,
            data_parallel=splits.data.value if splits.data else 1,
            expert_parallel=splits.expert.value if splits.expert else 1,
            attention_data_parallel=splits.attention_data.value if splits.attention_data else 1,
        )
    except DeploymentError as error:
        span = proposal.context_spans().get(error.field)
        resolver.report("E904", span, str(error))
        return None, tuple(resolver.problems)
    deployment, measured = _fitted(deployment, proposal.measured, run)
    facts = MappingProxyType(resolver.facts)
    return Context(facts, deployment, parts[1], measured), tuple(resolver.problems)


def _find_devices(text: str) -> tuple[int, tuple[Device, ...]]:
    count, match = parse_hardware(text)
    if not match.found:
        raise UnknownNameError("hardware", text, match.nearest)
    return count, tuple(device(candidate) for candidate in match.candidates)


def _find_model(
    value: str | Mapping[str, object], path: str, *, anywhere: bool
) -> tuple[Architecture, str | None]:
    """A model by name, file or inline config, and the format that only its name states.

    A file may lie `anywhere` where the user names it among the options, in no file.
    """
    if isinstance(value, Mapping):
        return read_architecture(value, name="inline model"), None
    match = resolve_model(value)
    if match.found:
        return load_model(match.candidates[0]), match.quantized_as
    if not _looks_like_path(value) and not (anywhere and Path(value).exists()):
        raise UnknownNameError("model", value, match.nearest)
    return _read_local(value, path, anywhere=anywhere), None


def _looks_like_path(text: str) -> bool:
    return text.startswith((".", "/", "~")) or text.endswith((".json", ".gguf", ".safetensors"))


def _read_local(text: str, proposal_path: str, *, anywhere: bool) -> Architecture:
    """Read a model's files beside the proposal or below the working directory, or `anywhere`."""
    from advisor.ledger.checkpoint import CheckpointError, read_checkpoint  # noqa: PLC0415

    try:
        place = Path(text) if anywhere else _local(text, proposal_path, "model")
        return read_checkpoint(place)
    except CheckpointError as error:
        raise _ModelFileError("E901", f"model {text!r}: {error}") from None


def _local(text: str, proposal_path: str, what: str) -> Path:
    """A file or folder that a proposal names, which must be beside it or below where we are."""
    here = Path(proposal_path).parent
    target = (here / text).resolve()
    roots = (here.resolve(), Path.cwd().resolve())
    if not any(target == root or root in target.parents for root in roots):
        raise _ModelFileError(
            "E901", f"{what} {text!r} lies outside the proposal's folder and the working directory"
        )
    if not target.exists():
        raise _ModelFileError("E901", f"{what} {text!r}: no such file or folder")
    return target


def _nobody_says(resolver: _Resolver, name: str) -> bool:
    return getattr(resolver.proposal, name) is None and resolver.defaults.get(name) is None


def _run_of(resolver: _Resolver) -> MachineFit | None:
    """The run of `rooflint prove` that the proposal names, else the one that the settings name."""
    measured = resolver.proposal.measured
    named = resolver.defaults.get("measured")
    if measured is not None and measured.run is not None:
        stated = Stated(measured.run, "given", measured.span)
    elif measured is None and named is not None:
        stated = Stated(named, "settings")
    else:
        return None
    from advisor.prove.fit import fit_of  # noqa: PLC0415  only where a run is named
    from advisor.prove.record import RunFileError, read_run  # noqa: PLC0415

    resolver.facts["measured"] = stated
    try:
        if stated.origin == "given":
            place = _local(stated.value, resolver.proposal.source.path, "measured")
        else:
            place = Path(stated.value)  # the settings' reader has seen to where it lies
        return fit_of(read_run(place), stated.value)
    except _ModelFileError as error:
        resolver.report(error.code, stated.span, str(error))
    except RunFileError as error:
        resolver.report("E901", stated.span, f"measured: {error}")
    return None


def _of_this_machine(
    run: MachineFit | None, parts: tuple[int, tuple[Device, ...]] | None, resolver: _Resolver
) -> MachineFit | None:
    """The run, where it was made on the hardware that the proposal is about."""
    if run is None or parts is None or any(part.id == run.catalog_id for part in parts[1]):
        return run
    stated = resolver.facts.pop("measured")
    if stated.origin == "given":
        resolver.report(
            "E906",
            stated.span,
            f"measured on {run.device.name}, and the proposal is about {parts[1][0].name}; leave "
            "hardware out to judge it on the machine that was measured",
        )
    return None


def _engine(resolver: _Resolver) -> Engine | None:
    stated = resolver.proposal.engine
    # A run of `rooflint prove` is of steps that torch issues one operator at a time.
    usual = REFERENCE_ENGINE if "measured" not in resolver.facts else _MEASURED_ENGINE
    name = resolver.fact("engine", stated.name if stated else None, usual)
    version = stated.version if stated is not None else None
    if version is not None:
        resolver.facts["engine_version"] = version
    number = version.value if version is not None else None
    return resolver.look_up(name, lambda text: resolve_engine(text, number))


def _context_tokens(resolver: _Resolver) -> Stated[int]:
    """Context as stated; else the prompt and half the output, else the default."""
    work = resolver.proposal.workload
    if work.context is None and work.prompt is not None:
        output = work.output.value if work.output is not None else 0
        stated = Stated(work.prompt.value + output // 2, work.prompt.origin, work.prompt.span)
        return resolver.fact("context", stated, REFERENCE_CONTEXT)
    return resolver.fact("context", work.context, REFERENCE_CONTEXT)


def _weights(
    resolver: _Resolver, model: Architecture | None, quantized_as: str | None
) -> Format | None:
    """Format of the linears: stated, else what the model's name or checkpoint says."""
    stated = resolver.proposal.weights
    layers = model.layer_count if model is not None else 32
    if stated is None and quantized_as is not None:
        model_fact = resolver.facts["model"]
        stated = Stated(quantized_as, model_fact.origin, model_fact.span)
    if stated is None and model is not None and model.quantization is not None:
        resolver.facts["weights"] = Stated(model.quantization, resolver.facts["model"].origin)
        return None
    named = resolver.fact("weights", stated, model.dtype if model is not None else "bf16")
    return resolver.look_up(named, lambda text: parse_format(text, layers))


def _optional_format(resolver: _Resolver, name: str, stated: Stated[str] | None) -> Format | None:
    if stated is None:
        default = resolver.defaults.get(name)
        if default is None:
            return None
        stated = Stated(default, "settings")
    resolver.facts[name] = stated
    return resolver.look_up(stated, parse_format)


def _fitted(
    deployment: Deployment, measured: Measured | None, run: MachineFit | None
) -> tuple[Deployment, float | None]:
    """The baseline with its expected time fitted to what was measured of it, or of its machine."""
    if run is not None:
        return run.applied(deployment), run.step_ms if run.is_of(deployment) else None
    if measured is None:
        return deployment, None
    tpot_ms = measured_tpot_ms(measured, deployment)
    if tpot_ms is None:
        return deployment, None
    return fitted_to(deployment, tpot_ms), tpot_ms
