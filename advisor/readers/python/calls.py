"""Calls that set up levers: how a table row reads a call.

A row is a `Rule`, from a `Call` to effects with their places; options of engines are read here,
rules.py makes rules of data. Keys of the tables are
"package:Name" or "package:Class.method", with the package's first word only (a library moves
names between its modules), ".method" for methods of anything, and "*:Name" for names that are no
one else's, wherever they are imported from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from advisor.readers.options import Effect, Setting, read_environment, read_option
from advisor.readers.python.values import (
    Literal,
    Made,
    Mapping,
    Sequence,
    Symbol,
    Value,
    alternatives,
    plain,
    usual,
)

ABSENT: Final = object()
"""Stands for an argument that is not there."""


class Found(NamedTuple):
    """An effect, where the words stand that have it, and what it hangs on."""

    effect: Effect
    node: ast.AST
    condition: str = ""
    by_name: bool = False
    """Whether only a model's name says so."""
    call: Made | None = None


@dataclass(slots=True)
class File:
    """What rows may know of the file around a call."""

    names: frozenset[str] = frozenset()
    """Last words of every call in the file."""
    assigned: Table[int, str] = field(default_factory=dict)
    """By id of a call's node: the name it is assigned to."""
    engine: str | None = None
    attributes: frozenset[str] = frozenset()
    """Names of the attributes that the file sets."""


@dataclass(slots=True)
class Call:
    """A call as rows read it."""

    made: Made
    hangs_on: str
    file: File

    def value(self, *names: str, position: int | None = None) -> Value | None:
        """An argument by any of its names, or by its place."""
        for name in names:
            if name in self.made.keywords:
                return self.made.keywords[name][1]
        if position is not None and position < len(self.made.args):
            return self.made.args[position]
        return None

    def plain(self, *names: str, position: int | None = None) -> object:
        """An argument as plain data; `ABSENT` where it is not there."""
        value = self.value(*names, position=position)
        return ABSENT if value is None else plain(value)

    def has(self, *names: str) -> bool:
        """Whether one of the arguments is given, and is something."""
        return self.plain(*names) not in (ABSENT, None, False)

    def place(self, *names: str) -> ast.AST:
        """Where an argument stands; the call where it does not."""
        for name in names:
            if name in self.made.keywords:
                return self.made.keywords[name][0]
        return self.made.node

    def found(self, effect: Effect, *names: str, condition: str = "") -> Found:
        """An effect of this call, at an argument."""
        return Found(effect, self.place(*names), self.hangs_on or condition, call=self.made)

    @property
    def is_used_by(self) -> frozenset[str]:
        """Last words of the calls that take what this one makes."""
        return frozenset(made.name.rpartition(".")[2] for made in self.made.used_by)


Rule: TypeAlias = Callable[[Call], Iterator[Found]]
Rows: TypeAlias = Table[str, Rule]


def options(engine: str, *positional: str, within: tuple[str, ...] = ()) -> Rule:
    """Arguments that are options of an engine, by the engine's own table.

    `within` names arguments that hold further options as a mapping.
    """

    def rule(call: Call) -> Iterator[Found]:
        given = dict(call.made.keywords)
        for name, value in zip(positional, call.made.args, strict=False):
            given.setdefault(name, (value.node, value))
        for name in within:
            if name in given:
                inner = usual(given[name][1])
                given |= inner.entries if isinstance(inner, Mapping) else {}
                given |= inner.keywords if isinstance(inner, Made) else {}
        for name, (place, value) in given.items():
            yield from read(engine, name, place, value, call.hangs_on, call.made)

    return rule


def read(
    engine: str | None,
    name: str,
    place: ast.AST,
    value: Value,
    hangs_on: str = "",
    made: Made | None = None,
) -> Iterator[Found]:
    """One option by the engine's table, each value that it may have."""
    for option, condition in alternatives(value):
        last = option.name.rpartition(".")[2] if isinstance(option, Made) else ""
        if last in _OWN_ROWS or (last and name in {"quantization_config", "quant_config"}):
            continue
        effects = read_option(engine, name, _worded(option)) or ()
        if isinstance(option, Made) and option.name.endswith(_COUNTS):
            effects = tuple(map(_over_all, effects))
        for effect in effects:
            node, hangs = place, hangs_on or condition
            if isinstance(effect, Setting):
                node = inside(option, effect.path) or place
                hangs = hangs or effect.condition
            named = name in {
                "model",
                "model_path",
                "model_source",
                "model_id",
                "pretrained_model_name_or_path",
            }
            by_name = named and isinstance(effect, Setting)
            yield Found(effect, node, hangs, by_name, made)


_COUNTS: Final = (".device_count", ".get_world_size", ".num_gpus")


def _over_all(effect: Effect) -> Effect:
    """A degree that is the number of devices there are."""
    if isinstance(effect, Setting) and effect.fields.get("size") == "unknown":
        return effect._replace(fields={**effect.fields, "size": "all"})
    return effect


_DEEPEST: Final = 12
_OWN_ROWS: Final = frozenset(
    {"LlamaPromptLookupDecoding", "MTPDecodingConfig", "EagleDecodingConfig",
     "Eagle3DecodingConfig", "NGramDecodingConfig", "DraftTargetDecodingConfig",
     "MedusaDecodingConfig", "LookaheadDecodingConfig", "AutoDecodingConfig", "QuantConfig",
     "draft_model"}
)  # fmt: skip
"""Objects whose own rows say what they are; options that hold them add nothing."""


def _worded(value: Value, depth: int = 0) -> object:
    """Plain data, constants by their last word: QuantAlgo.FP8 is FP8."""
    data = plain(value)
    if isinstance(value, Symbol) and isinstance(data, str):
        last = data.rpartition(".")[2]
        if "torch." in data:
            return last
        return last.lower().removeprefix("ggml_type_")
    if isinstance(data, dict) and isinstance(usual(value), Mapping | Made):
        inner = usual(value)
        items = inner.entries if isinstance(inner, Mapping) else getattr(inner, "keywords", {})
        if depth < _DEEPEST:
            return {key: _worded(usual(item), depth + 1) for key, (_, item) in items.items()}
    return data


def inside(value: Value, path: tuple[str, ...]) -> ast.AST | None:
    """The node of the entry that a path of keys leads to."""
    node: ast.AST | None = None
    for key in path:
        value = usual(value)
        items = value.entries if isinstance(value, Mapping) else getattr(value, "keywords", {})
        if key not in items:
            return node
        node, value = items[key]
    return node


def environment(*names: str, engine: str | None = None) -> Rule:
    """Environment variables in a mapping among the arguments."""

    def rule(call: Call) -> Iterator[Found]:
        for name in names:
            inner = usual(call.value(name) or Value(call.made.node))
            if isinstance(inner, Mapping):
                for key, (place, value) in inner.entries.items():
                    yield from variable(engine, key, place, value, call.hangs_on)

    return rule


def variable(
    engine: str | None, name: str, place: ast.AST, value: Value, hangs_on: str = ""
) -> Iterator[Found]:
    """One environment variable by the table of its engine."""
    for option, condition in alternatives(value):
        for effect in read_environment(engine, name, plain(option)) or ():
            more = effect.condition if isinstance(effect, Setting) else ""
            yield Found(effect, place, hangs_on or condition or more)


def model_fact(*names: str, position: int | None = 0) -> Rule:
    """A model by its name, and the precision that only the name states."""

    def rule(call: Call) -> Iterator[Found]:
        value = call.value(*names, position=position)
        if value is not None:
            place = call.place(*names)
            yield from read("transformers", "model", place, value, call.hangs_on, call.made)

    return rule


def numbers_of(value: Value | None) -> list[float]:
    """The numbers of a sequence."""
    inner = usual(value) if value is not None else None
    items = inner.items if isinstance(inner, Sequence) else []
    found = [usual(item) for item in items]
    return [
        float(item.data)
        for item in found
        if isinstance(item, Literal) and isinstance(item.data, int | float)
    ]
