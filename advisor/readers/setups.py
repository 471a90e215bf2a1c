"""A setup: one deployment as a file configures it, gathered option by option, then a proposal.

Options of one setup meet here: a model's name states a format and an option names it again, a
draft model and its length are two options, attention in data parallel takes part of what a
tensor split gives. What is in effect becomes the levers of one proposal, in the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from advisor.finding import Confidence
from advisor.levers import lever_class
from advisor.proposal import Engine, Proposal, ProposedLever, Splits, Stated, Workload
from advisor.readers.options import UNKNOWN, Effect, Fact, Setting
from advisor.source import Source, Span

_DEVICES_OF_A_NODE: Final = 8
_REFERENCE_CONTEXT: Final = 4096
"""Tokens that are assumed of a context nobody states; a lower bound cuts them."""
_OPEN_WIDTHS: Final = frozenset({"auto"})
_OPEN: Final = (UNKNOWN, *_OPEN_WIDTHS)


class Placed(NamedTuple):
    """What an option does, and where it stands."""

    effect: Effect
    span: Span
    """The option's name."""
    value: Span | None = None
    sure: bool = True
    """False where only a name says it."""
    condition: str = ""


@dataclass(slots=True)
class Setup:
    """What is known so far of one deployment."""

    title: str = ""
    engine: str | None = None
    engine_span: Span | None = None
    version: str | None = None
    placed: list[Placed] = field(default_factory=list)
    hardware: tuple[str, Span] | None = None
    spans_nodes: bool = False
    """Whether the file says that one replica runs on several nodes."""

    def add(
        self, effects: Iterable[Effect], span: Span, value: Span | None = None, *, sure: bool = True
    ) -> None:
        """Take in what an option does."""
        for effect in effects:
            here = value if isinstance(effect, Fact) and effect.name == "model" else None
            self.placed.append(Placed(effect, here or span, value, sure))

    def fact(self, name: str) -> Placed | None:
        """The first statement of a fact."""
        return next(
            (
                one
                for one in self.placed
                if isinstance(one.effect, Fact) and one.effect.name == name
            ),
            None,
        )

    def kinds(self) -> frozenset[tuple[str, str]]:
        """What it sets, to tell setups apart that say the same thing."""
        return frozenset(_key(one.effect) for one in self.placed if isinstance(one.effect, Setting))


def joined(setups: Iterable[Setup]) -> tuple[Setup, ...]:
    """Setups of one file: parts that speak of one deployment become one.

    A part joins the first other that states no other model and sets nothing that it sets too.
    Facts that only one part of the file states hold for all.
    """
    found: list[Setup] = []
    for setup in setups:
        if not setup.placed and setup.hardware is None:
            continue
        host = next((other for other in found if _fit(other, setup)), None)
        if host is None:
            found.append(setup)
            continue
        host.placed += setup.placed
        host.engine = host.engine or setup.engine
        host.engine_span = host.engine_span or setup.engine_span
        host.version = host.version or setup.version
        host.hardware = host.hardware or setup.hardware
        host.title = host.title or setup.title
        host.spans_nodes |= setup.spans_nodes
    return tuple(_completed(found))


def _fit(one: Setup, other: Setup) -> bool:
    """Whether two setups may be two parts of one deployment."""
    if one.kinds() & other.kinds():
        return False
    if one.engine is not None and other.engine is not None and one.engine != other.engine:
        return False
    models = {
        str(placed.effect.value)
        for placed in (one.fact("model"), other.fact("model"))
        if placed is not None and isinstance(placed.effect, Fact)
    }
    devices = {setup.hardware[0] for setup in (one, other) if setup.hardware is not None}
    return len(models) <= 1 and len(devices) <= 1


def _completed(setups: list[Setup]) -> Iterable[Setup]:
    """Each setup with what only one other states: the file's model, devices, engine."""
    models = [placed for setup in setups if (placed := setup.fact("model")) is not None]
    devices = [setup.hardware for setup in setups if setup.hardware is not None]
    engines = [setup for setup in setups if setup.engine is not None]
    for setup in setups:
        if setup.fact("model") is None and _is_one(placed.effect for placed in models):
            setup.placed.append(models[0])
        if setup.hardware is None and _is_one(name for name, _ in devices):
            setup.hardware = devices[0]
        if setup.engine is None and _is_one(other.engine for other in engines):
            setup.engine, setup.version = engines[0].engine, engines[0].version
        yield setup


def _is_one(values: Iterable[object]) -> bool:
    return len(set(map(repr, values))) == 1


class _Lever(NamedTuple):
    """A lever in the making."""

    kind: str
    fields: dict[str, object]
    span: Span
    spans: dict[str, Span]
    sure: bool
    condition: str


def proposal_of(setup: Setup, source: Source, span: Span, *, bare: bool = False) -> Proposal | None:
    """The setup as a proposal; None where it sets nothing.

    `bare`: one that only names its model is one too.
    """
    levers = _levers(setup)
    proposed = tuple(lever for made in levers for lever in _proposed(made))
    if not proposed and not (bare and setup.fact("model") is not None):
        return None
    quantized = any(made.kind == "quantize" and "weights" in made.fields for made in levers)
    return Proposal(
        source=source,
        span=span,
        title=setup.title,
        kind="configuration",
        model=_stated(setup, "model"),
        hardware=Stated(*_given(setup.hardware)) if setup.hardware is not None else None,
        engine=_engine(setup),
        # The baseline is one device: every split is a lever of the file.
        splits=Splits(tensor=Stated(1, "assumed")),
        workload=_workload(setup),
        weights=_baseline_weights(setup, levers) if quantized else None,
        levers=proposed,
    )


def _given(pair: tuple[str, Span]) -> tuple[str, Any, Span]:
    return (pair[0], "given", pair[1])


def _stated(setup: Setup, name: str) -> Stated[Any] | None:
    placed = setup.fact(name)
    if placed is None or not isinstance(placed.effect, Fact):
        return None
    return Stated(placed.effect.value, "given", placed.value or placed.span)


def _engine(setup: Setup) -> Engine | None:
    if setup.engine is None:
        return None
    name: Stated[str] = Stated(_ENGINE_NAMES.get(setup.engine, setup.engine), "given",
                               setup.engine_span)  # fmt: skip
    version = setup.version
    return Engine(name, Stated(version, "given", setup.engine_span) if version else None)


_ENGINE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tensorrt_llm": "TensorRT-LLM", "llamacpp": "llama.cpp", "exllama": "ExLlamaV2",
        "localai": "llama.cpp", "mlc": "MLC-LLM", "djl": "vllm", "tgi": "TGI",
        "ctranslate2": "CTranslate2",
    }
)  # fmt: skip


def _workload(setup: Setup) -> Workload:
    """Batch 1 where the file allows no more; a context where it allows less than is assumed."""
    batch = context = None
    for placed in setup.placed:
        effect = placed.effect
        if not isinstance(effect, Fact):
            continue
        where = placed.value or placed.span
        if effect.name == "batch_limit" and effect.value == 1:
            batch = Stated(1, "given", where)
        elif effect.name == "batch" and isinstance(effect.value, int):
            batch = Stated(effect.value, "given", where)
        elif (effect.name == "context" and isinstance(effect.value, int)) or (
            effect.name == "context_limit"
            and isinstance(effect.value, int)
            and effect.value < _REFERENCE_CONTEXT
            and context is None
        ):
            context = Stated(effect.value, "given", where)
    return Workload(batch=batch, context=context)


def _baseline_weights(setup: Setup, levers: list[_Lever]) -> Stated[str]:
    """What the weights would be without the file's quantization."""
    wide = {"fp16", "bf16"}
    if any(made.kind == "quantize" and made.fields.get("weights") in wide for made in levers):
        return Stated("fp32", "assumed")
    dtype = _stated(setup, "dtype")
    return dtype if dtype is not None else Stated("bf16", "assumed")


def _key(effect: Effect) -> tuple[str, str]:
    """What two settings have in common that are about one lever."""
    if not isinstance(effect, Setting):
        return ("", "")
    return lever_key(effect.kind, effect.fields)


def lever_key(kind: str, fields: Mapping[str, object]) -> tuple[str, str]:
    """What two settings have in common that are about one lever of a setup."""
    if kind == "quantize":
        return (kind, next(iter(name for name in _TARGETS if name in fields), ""))
    if kind == "offload":
        return (kind, "weights" if "weights" in fields else "kv_cache")
    named = {"prune": "pattern", "compile": "phase"}.get(kind, "")
    return (kind, str(fields.get(named, "")) if named else "")


_TARGETS: Final = ("weights", "lm_head", "kv_cache", "activations")


def _levers(setup: Setup) -> list[_Lever]:
    """What is set, each lever once, in the order of the text."""
    made: dict[tuple[str, str, str], _Lever] = {}
    loose: list[Placed] = []
    for placed in setup.placed:
        effect = placed.effect
        if not isinstance(effect, Setting):
            continue
        if not effect.starts:
            loose.append(placed)
            continue
        _take(made, placed, effect)
    for placed in loose:
        effect = placed.effect
        assert isinstance(effect, Setting)
        key = (*_key(effect), "")
        if key in made:
            _complete(made[key], placed, effect)
        elif effect.kind == "speculate" and "draft_model" in effect.fields:
            _take(made, placed, effect)
    _cross(setup, made)
    return sorted(made.values(), key=lambda lever: lever.span.start)


def _take(made: dict[tuple[str, str, str], _Lever], placed: Placed, effect: Setting) -> None:
    """A setting as a lever of its own, or as more about one that is there."""
    key = (*_key(effect), "")
    known = made.get(key)
    fresh = _fresh(placed, effect)
    if known is None:
        made[key] = fresh
    elif effect.kind == "quantize" and known.sure != placed.sure:
        made[key] = _option_over_name(known, fresh)
    elif not _agree(known, fresh) or (
        effect.kind in {"prune", "low_rank"} and known.sure and placed.sure
    ):
        made[(*key[:2], str(placed.span.start))] = fresh
    else:
        _complete(known, placed, effect)


def _fresh(placed: Placed, effect: Setting) -> _Lever:
    spans = {}
    if placed.value is not None:
        spans = dict.fromkeys(effect.fields, placed.value)
    condition = placed.condition or effect.condition
    return _Lever(effect.kind, dict(effect.fields), placed.span, spans, placed.sure, condition)


def _agree(one: _Lever, other: _Lever) -> bool:
    """Whether two settings may be one lever: what both state is the same, or open in one."""
    for name in one.fields.keys() & other.fields.keys():
        first, second = one.fields[name], other.fields[name]
        if first != second and first not in _OPEN and second not in _OPEN:
            return False
    return True


def _option_over_name(one: _Lever, other: _Lever) -> _Lever:
    """An option says more surely what a name says too; a name may fix the width it leaves open."""
    option, named = (one, other) if one.sure else (other, one)
    fields = dict(named.fields)
    for name, value in option.fields.items():
        if value not in _OPEN_WIDTHS or name not in fields:
            fields[name] = value
    return option._replace(fields=fields)


def _complete(known: _Lever, placed: Placed, effect: Setting) -> None:
    """Put in what a lever does not say yet."""
    for name, value in effect.fields.items():
        if known.fields.get(name) in {None, UNKNOWN, *_OPEN_WIDTHS}:
            known.fields[name] = value
            if placed.value is not None:
                known.spans[name] = placed.value


def _cross(setup: Setup, made: dict[tuple[str, str, str], _Lever]) -> None:
    """What one option takes from another."""
    key = ("tensor_parallel", "", "")
    split = made.get(key)
    if split is None:
        return
    size = split.fields.get("size")
    condition = split.condition
    if setup.fact("attention_data") is not None:
        condition = "attention in data parallel, which every device reads whole"
    elif setup.spans_nodes and (
        not isinstance(size, int) or size > _DEVICES_OF_A_NODE or split.fields.get("at_least")
    ):
        condition = "the link between nodes, which the split crosses in every layer"
    made[key] = split._replace(condition=condition)


def _proposed(made: _Lever) -> Iterable[ProposedLever]:
    """A lever as the audit takes it; nothing where its values cannot be."""
    try:
        lever = lever_class(made.kind)(kind=made.kind, **made.fields)
    except ValidationError:
        return
    confidence = Confidence.HIGH if made.sure else Confidence.LOW
    for part in lever.parts():
        yield ProposedLever(
            part,
            made.span,
            spans=MappingProxyType(made.spans),
            condition=made.condition,
            confidence=confidence,
        )
