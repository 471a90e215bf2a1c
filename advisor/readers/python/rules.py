"""Rules of data: which argument is which field, which class is which format."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from advisor.readers.options import OPEN, Setting
from advisor.readers.options.formats import AUTO, integer_format, weight_format
from advisor.readers.options.values import switch_of, whole_of, word_of
from advisor.readers.python.calls import ABSENT, Call, Found, Rule

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
