"""Calls that set up levers: how a table row reads a call.

A row is a `Rule`, from a `Call` to effects with their places; the functions here make rules of
data: which argument is which field, which class is which format. Keys of the tables are
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

from advisor.readers.options import OPEN, Effect, Fact, Setting, read_environment, read_option
from advisor.readers.options.formats import AUTO, MIXED, integer_format, weight_format
from advisor.readers.options.values import switch_of, whole_of, word_of
from advisor.readers.python.values import (
    Literal,
    Made,
    Mapping,
    Sequence,
    Symbol,
    Value,
    alternatives,
    plain,
    symbol_of,
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

_BITS: Final = (
    "bits",
    "nbits",
    "num_bits",
    "w_bit",
    "wbits",
    "q_bits",
    "bit_width",
    "nbits_weight",
)
_GROUPS: Final = ("group_size", "q_group_size", "block_size", "groupsize", "w_group_size")


def sets(kind: str, **fields: object) -> Rule:
    """A call that by itself sets up a lever."""

    def rule(call: Call) -> Iterator[Found]:
        yield call.found(Setting(kind, fields))

    return rule


def sets_if(
    name: str, kind: str, *, on: bool = True, default: bool = False, **fields: object
) -> Rule:
    """A lever by a switch among the arguments."""

    def rule(call: Call) -> Iterator[Found]:
        given = call.plain(name)
        state = default if given is ABSENT else switch_of(given)
        if state is not (not on):
            yield call.found(Setting(kind, fields), name)

    return rule


def every(*rules: Rule) -> Rule:
    """A call that several rows read."""

    def rule(call: Call) -> Iterator[Found]:
        for one in rules:
            yield from one(call)

    return rule


def quantized(
    form: str,
    *,
    condition: str = "",
    packed: bool = True,
    undone_by: frozenset[str] = frozenset(),
    packed_by: frozenset[str] = frozenset(),
) -> Rule:
    """Weights of a fixed format.

    Simulated where one of `undone_by` takes the object, unless the file calls one of `packed_by`.
    """

    def rule(call: Call) -> Iterator[Found]:
        simulated = not packed or bool(undone_by & call.is_used_by)
        if simulated and packed_by & call.file.names:
            simulated = False
        fields = {"weights": form} | ({"packed": False} if simulated else {})
        yield call.found(Setting("quantize", fields), condition=condition)

    return rule


def by_bits(
    default: int | None,
    *,
    group: int | None = 128,
    symmetric: bool = True,
    names: tuple[str, ...] = _BITS,
    position: int | None = None,
    condition: str = "",
    packed: bool = True,
    packed_by: frozenset[str] = frozenset(),
    words: tuple[str, ...] = (),
) -> Rule:
    """Weights of as many bits as an argument says; `words` name arguments that name a format."""

    def rule(call: Call) -> Iterator[Found]:
        for name in words:
            word = call.plain(name)
            if isinstance(word, str) and (known := weight_format(word.rpartition(".")[2])):
                yield call.found(Setting("quantize", {"weights": known}), name, condition=condition)
                return
            if isinstance(word, str) and word_of(word) in {"fp32", "fp16", "bf16", "float32"}:
                return
        given = call.plain(*names, position=position)
        bits = default if given is ABSENT else whole_of(given)
        if bits is not None and not 1 <= bits <= 8:
            return
        stated = call.plain(*_GROUPS)
        size = group if stated is ABSENT else whole_of(stated)
        form = AUTO if bits is None else integer_format(bits, size, symmetric=symmetric)
        fields: dict[str, object] = {"weights": form}
        if not packed and not packed_by & call.file.names:
            fields["packed"] = False
        yield call.found(Setting("quantize", fields), condition=condition)

    return rule


def by_word(
    *names: str, position: int | None = None, default: str | None = None, kind: str = "weights"
) -> Rule:
    """A format by a word: `weight_dtype="int4"`, `weight_type=QuantType.QInt8`, `qint4`."""

    def rule(call: Call) -> Iterator[Found]:
        given = call.plain(*names, position=position)
        form = format_named(given) if isinstance(given, str) else None
        if given is ABSENT or given is None:
            form = default
        elif given is OPEN:
            form = AUTO
        if form:
            yield call.found(Setting("quantize", {kind: form}), *names)

    return rule


def format_named(word: str) -> str | None:
    """A format by a library's constant or class: QInt8, INT4_SYM, float8_e4m3fn, w4a16."""
    last = word.rpartition(".")[2].lower().replace("-", "_")
    last = last.removeprefix("sym_").removeprefix("asym_").removeprefix("torch_")
    for end in ("_default_cfg", "_cfg", "_sym", "_asym", "_config", "_weight_only", "_clip"):
        last = last.removesuffix(end)
    if last[:1] == "q" and last[1:4] in {"int", "uin", "flo"}:
        last = last[1:]
    last = last.removeprefix("u") if last.startswith("uint") else last
    return weight_format(last) or weight_format(last.partition("_")[0])


def pruned(
    pattern: str,
    *amounts: str,
    storage: str | None = "dense",
    position: int | None = None,
    default: float | None = None,
    **fields: object,
) -> Rule:
    """A part of the model zeroed or taken out, as much as an argument says."""

    def rule(call: Call) -> Iterator[Found]:
        given = call.plain(*amounts, position=position)
        amount: object = default if given is ABSENT else given
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            if amount == 0 and isinstance(
                getattr(call.place(*amounts), "value", None), ast.Constant
            ):
                return
            # torch.nn.utils.prune counts weights where the amount is a whole number above one.
            share: object = float(amount) if 0 < amount <= 1 else "unknown"
        else:
            share = "unknown"
        found: dict[str, object] = {"pattern": pattern, **fields}
        if storage is not None:
            found["storage"] = storage
        if pattern != "2:4":
            found["sparsity"] = share
        yield call.found(Setting("prune", found))

    return rule


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


__all__ = [
    "ABSENT",
    "AUTO",
    "MIXED",
    "Call",
    "Fact",
    "File",
    "Found",
    "Rows",
    "Rule",
    "by_bits",
    "by_word",
    "environment",
    "every",
    "format_named",
    "inside",
    "model_fact",
    "numbers_of",
    "options",
    "pruned",
    "quantized",
    "read",
    "sets",
    "sets_if",
    "symbol_of",
    "variable",
]
