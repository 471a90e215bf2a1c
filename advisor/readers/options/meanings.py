"""The few ways in which options set levers: degrees, switches, formats, limits, sizes.

Each function makes a `Meaning`: from a value to what it does. A value that switches the lever
off, a degree of 1 and an amount of nothing do nothing; an open value leaves the field unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from advisor.readers.options.effects import (
    NOTHING,
    OPEN,
    UNKNOWN,
    Effect,
    Fact,
    Meaning,
    Setting,
    Value,
)
from advisor.readers.options.formats import AUTO, DTYPES, WIDE, kv_format, weight_format
from advisor.readers.options.names import named_precision
from advisor.readers.options.values import (
    flat,
    gigabytes_of,
    is_off,
    mapping_of,
    switch_of,
    whole_of,
    word_of,
)


def nothing(_: Value) -> tuple[Effect, ...]:
    """An option that is known and moves no bytes of a decode step."""
    return NOTHING


def degree(kind: str, *, starts: bool = True) -> Meaning:
    """How many ways something is split; 1 says nothing."""

    def read(value: Value) -> tuple[Effect, ...]:
        number = whole_of(value)
        if number is None:
            if switch_of(value) is False:
                return NOTHING
            return (Setting(kind, {"size": UNKNOWN}, starts),)
        return (Setting(kind, {"size": number}, starts),) if number > 1 else NOTHING

    return read


def switch(kind: str, fields: Mapping[str, object] | None = None, *, on: bool = True) -> Meaning:
    """A lever that is there when the option is on (or, with `on` false, when it is off)."""

    def read(value: Value) -> tuple[Effect, ...]:
        state = None if isinstance(value, list | dict) else switch_of(value)
        if state is (not on) or isinstance(value, list | dict):
            return NOTHING
        condition = "" if state is not None or value is not OPEN else _IF_ON
        return (Setting(kind, fields or {}, condition=condition),)

    return read


_IF_ON = "the switch, which is left open"


def graphs(*, on: bool) -> Meaning:
    """CUDA graphs by a switch that turns them on, or off."""

    def read(value: Value) -> tuple[Effect, ...]:
        state = switch_of(value)
        if on:
            return NOTHING if state is False else (Setting("cuda_graphs"),)
        # Off is the default of a switch that turns graphs off, so `false` says nothing.
        return NOTHING if state is False else (Setting("cuda_graphs", {"enabled": False}),)

    return read


def graph_sizes(value: Value) -> tuple[Effect, ...]:
    """Batch sizes whose steps are captured; 0 or an empty list turns graphs off."""
    items = value if isinstance(value, list) else [value]
    numbers = [whole_of(item) for item in items]
    if value is not OPEN and (is_off(value) or all(number == 0 for number in numbers)):
        off = bool(numbers) and all(number == 0 for number in numbers)
        return (Setting("cuda_graphs", {"enabled": False}),) if off else NOTHING
    return (Setting("cuda_graphs"),)


def weights(value: Value) -> tuple[Effect, ...]:
    """Weight formats by an engine's word for its quantization."""
    if value is OPEN:
        return (Setting("quantize", {"weights": AUTO}),)
    word = word_of(value)
    if flat(word) in WIDE or switch_of(value) is False:
        return NOTHING
    known = weight_format(word)
    if known is None:
        named = named_precision(word).weights if word else None
        known = named or AUTO
    if flat(known) in WIDE and known != AUTO:
        return NOTHING
    return (Setting("quantize", {"weights": known}),)


def mean_bits(value: Value) -> tuple[Effect, ...]:
    """Bits per weight on average, as converters of EXL2 and EXL3 take them."""
    try:
        bits = float(str(value))
    except ValueError:
        return NOTHING
    # More than a weight has are other numbers.
    return (Setting("quantize", {"weights": f"{bits:g}bpw"}),) if 1 <= bits <= 8 else NOTHING


def weights_as(form: str) -> Meaning:
    """A switch for one weight format."""
    return switch("quantize", {"weights": form})


def kv(*, in_kernel: bool = True) -> Meaning:
    """The cache's format by an engine's word."""

    def read(value: Value) -> tuple[Effect, ...]:
        extra = {} if in_kernel else {"in_kernel": False}
        if value is OPEN:
            return (
                Setting("quantize", {"kv_cache": AUTO, **extra}, condition="the cache's format"),
            )
        form = kv_format(word_of(value))
        if form is None:
            form = named_precision(word_of(value)).weights or ""
        return (Setting("quantize", {"kv_cache": form, **extra}),) if form else NOTHING

    return read


def batch(value: Value) -> tuple[Effect, ...]:
    """The most sequences in a step; 1 means batch 1, and is a fact, no lever."""
    if value is OPEN:
        return (Setting("batch", {"batch": UNKNOWN}),)
    number = whole_of(value)
    if number is None or number < 1:
        return NOTHING
    if number == 1:
        return (Fact("batch_limit", 1),)
    return (Setting("batch", {"batch": number}), Fact("batch_limit", number))


def fact(name: str) -> Meaning:
    """Words that are a fact of the context."""

    def read(value: Value) -> tuple[Effect, ...]:
        if not isinstance(value, str) or not value.strip():
            return NOTHING
        return (Fact(name, value.strip()),)

    return read


def limit(value: Value) -> tuple[Effect, ...]:
    """The most tokens of a sequence: an upper bound of the context, not the context."""
    number = whole_of(value)
    return (Fact("context_limit", number),) if number is not None and number > 0 else NOTHING


def dtype(value: Value) -> tuple[Effect, ...]:
    """The format that weights are computed in; a low-bit word is a quantization."""
    word = flat(word_of(value))
    if word in DTYPES:
        return (Fact("dtype", DTYPES[word]),)
    if value is OPEN or word in WIDE:
        return NOTHING
    form = weight_format(word)
    return (Setting("quantize", {"weights": form}),) if form else NOTHING


def model(value: Value) -> tuple[Effect, ...]:
    """A model's name or path, and the precision that only its name states."""
    if not isinstance(value, str) or not value.strip():
        return NOTHING
    name = value.strip()
    named = named_precision(name)
    found: list[Effect] = [Fact("model", name)]
    if named.weights is not None:
        found.append(Setting("quantize", {"weights": named.weights}))
    if named.kv_cache is not None:
        found.append(Setting("quantize", {"kv_cache": named.kv_cache}))
    if named.sparse:
        found.append(Setting("prune", {"pattern": "2:4"}))
    return tuple(found)


def kernel(kind: str, field: str = "name", *, plain: Iterable[str] = ()) -> Meaning:
    """A kernel or back end by name; `plain` words are the default and say nothing."""
    words = frozenset(plain) | {"auto", "none", "null", "default", "", "false"}

    def read(value: Value) -> tuple[Effect, ...]:
        if value is OPEN:
            return (Setting(kind),)
        if isinstance(value, list | dict):
            return NOTHING
        word = word_of(value)
        if word in words or switch_of(value) is False:
            return NOTHING
        named = isinstance(value, str) and switch_of(value) is None
        return (Setting(kind, {field: str(value).strip()} if named else {}),)

    return read


def offload_weights(unit: str = "g") -> Meaning:
    """An amount of weights on the host; 0 says nothing."""

    def read(value: Value) -> tuple[Effect, ...]:
        size = gigabytes_of(value, unit)
        if size is None:
            return (
                NOTHING
                if switch_of(value) is False
                else (Setting("offload", {"weights": UNKNOWN}),)
            )
        return (Setting("offload", {"weights": f"{size:.0f} B"}),) if size > 0 else NOTHING

    return read


def offload_kv(unit: str = "g", *, evicted: bool = True) -> Meaning:
    """A tier for cache blocks on the host: of evicted prefixes, or read in every step."""

    def read(value: Value) -> tuple[Effect, ...]:
        size = gigabytes_of(value, unit)
        if size == 0 or (size is None and switch_of(value) is False):
            return NOTHING
        amount = UNKNOWN if size is None or switch_of(value) is True else f"{size:.0f} B"
        return (Setting("offload", {"kv_cache": amount, "evicted": evicted}),)

    return read


def speculation(**fields: object) -> Meaning:
    """An option that alone turns speculation on, its value one of the lever's fields or a switch.

    A field named by `value=...` takes the option's value.
    """
    target = fields.pop("value", None)

    def read(value: Value) -> tuple[Effect, ...]:
        if is_off(value):
            return NOTHING
        found = dict(fields)
        if target == "draft_tokens":
            number = whole_of(value)
            if number is not None and number <= 0:
                return NOTHING
            if number is not None:
                found["draft_tokens"] = number
        elif isinstance(target, str) and isinstance(value, str):
            found[target] = value.strip()
        return (Setting("speculate", found),)

    return read


def part_of_speculation(field: str) -> Meaning:
    """An option that says more of a speculation which another option turns on."""

    def read(value: Value) -> tuple[Effect, ...]:
        if field == "draft_tokens":
            number = whole_of(value)
            known = number is not None and number > 0
            return (Setting("speculate", {field: number}, starts=False),) if known else NOTHING
        if isinstance(value, str) and value.strip():
            return (Setting("speculate", {field: value.strip()}, starts=False),)
        return NOTHING

    return read


def fused(words: str, *, at_least: int | None = None, on: bool = True) -> Meaning:
    """Fixed time of a step that an option takes away, by a switch or by a count above a limit."""

    def read(value: Value) -> tuple[Effect, ...]:
        if at_least is not None:
            number = whole_of(value)
            if number is not None and number < at_least:
                return NOTHING
        elif switch_of(value) is (not on):
            return NOTHING
        return (Setting("fuse", {"mode": words}),)

    return read


def several(*meanings: Meaning) -> Meaning:
    """An option that does several things."""

    def read(value: Value) -> tuple[Effect, ...]:
        return tuple(effect for one in meanings for effect in one(value))

    return read


def nested(table: Mapping[str, Meaning], whole: Meaning | None = None) -> Meaning:
    """An option whose value is a mapping of options, and what the mapping itself says."""

    def read(value: Value) -> tuple[Effect, ...]:
        inside = mapping_of(value)
        found: list[Effect] = list(whole(value)) if whole is not None else []
        for key, item in (inside or {}).items():
            meaning = table.get(key.lower().replace("-", "_"))
            if meaning is None:
                continue
            for effect in meaning(item):
                if isinstance(effect, Setting):
                    found.append(
                        Setting(
                            effect.kind,
                            effect.fields,
                            effect.starts,
                            effect.condition,
                            (key, *effect.path),
                        )
                    )
                else:
                    found.append(effect)
        return tuple(found)

    return read
