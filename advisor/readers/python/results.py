"""What the few calls return that only pass on, join or split texts and data."""

from __future__ import annotations

import ast
import json
import shlex
from typing import Final

from advisor.readers.python.values import (
    HOLE,
    Literal,
    Made,
    Mapping,
    Sequence,
    Value,
    plain,
    text_of,
    usual,
)

MAX_TEXT: Final = 20_000
MAX_ITEMS: Final = 2_000

_SAME: Final = frozenset(
    {"str", "int", "float", "bool", "list", "tuple", "pathlib.Path", "Path", "typing.cast",
     "copy.deepcopy", "copy.copy", "dict"}
)  # fmt: skip
"""Calls whose result stands for their argument."""

_ENVIRONMENT: Final = frozenset({"os.getenv", "os.environ.get"})

_TEXT_METHODS: Final = frozenset({"strip", "lower", "upper", "rstrip", "lstrip"})


def as_text(value: Value) -> str:
    """A value as it stands in a text; a hole where nobody fixes it."""
    value = usual(value)
    if isinstance(value, Literal) and not isinstance(value.data, bytes):
        return str(value.data)
    return HOLE


def known_result(made: Made) -> Value | None:
    """Results of the few calls that only pass on or join texts."""
    bare = made.name.removeprefix("?.")
    if bare == "dict":
        first = usual(made.args[0]) if made.args else None
        inner = first.entries if isinstance(first, Mapping) else {}
        return Mapping(made.node, {**inner, **made.keywords})
    if bare in _SAME and len(made.args) >= 1:
        value = made.args[-1] if bare == "typing.cast" else made.args[0]
        literal = usual(value)
        if bare == "str" and isinstance(literal, Literal) and not isinstance(literal.data, bytes):
            return Literal(made.node, str(literal.data))
        return value
    if made.name in _ENVIRONMENT:
        return made.args[1] if len(made.args) > 1 else Literal(made.node, None)
    if bare == "json.dumps" and made.args:
        return _dumped(made)
    if bare == "json.loads" and made.args and (text := text_of(made.args[0])) is not None:
        return _loaded(made, text)
    if bare.endswith((".hf_hub_download", ".snapshot_download")):
        return _downloaded(made)
    if bare == "shlex.split" and made.args:
        return _split(made, made.args[0])
    if bare == "os.path.join" and made.args:
        return Literal(made.node, "/".join(as_text(item) for item in made.args)[:MAX_TEXT])
    if bare == "shlex.join" and made.args:
        return _joined(made, " ", made.args[0])
    return _text_method(made)


def _dumped(made: Made) -> Value:
    data = plain(made.args[0])
    try:
        return Literal(usual(made.args[0]).node, json.dumps(data))
    except (TypeError, ValueError):
        return Value(made.node)


def _loaded(made: Made, text: str) -> Value:
    """A literal text read as JSON."""
    try:
        return _as_value(made.args[0].node, json.loads(text))
    except (ValueError, RecursionError):
        return Value(made.node)


def _as_value(node: ast.AST, data: object) -> Value:
    """Plain data as a value, all of it at one place."""
    if isinstance(data, dict):
        return Mapping(
            node, {str(key): (node, _as_value(node, item)) for key, item in data.items()}
        )
    if isinstance(data, list):
        return Sequence(node, [_as_value(node, item) for item in data[:MAX_ITEMS]])
    known = isinstance(data, str | bool | int | float) or data is None
    return Literal(node, data) if known else Value(node)  # type: ignore[arg-type]


def _downloaded(made: Made) -> Value:
    """A downloaded file or folder stands for its name on the hub."""
    parts = [made.keywords[name][1] for name in ("repo_id", "filename") if name in made.keywords]
    return Literal(made.node, "/".join(map(as_text, parts or made.args[:2])))


def _text_method(made: Made) -> Value | None:
    text = text_of(made.receiver) if made.receiver is not None else None
    receiver = usual(made.receiver) if made.receiver is not None else None
    holed = isinstance(receiver, Literal) and isinstance(receiver.data, str)
    if text is None and not holed:
        return None
    whole = str(receiver.data) if isinstance(receiver, Literal) else ""
    method = made.name.removeprefix(".")
    if method == "join" and made.args:
        return _joined(made, whole, made.args[0])
    if method == "split" and not made.args:
        return _split(made, made.receiver or Value(made.node))
    if method in _TEXT_METHODS and not made.args:
        return Literal(made.node, getattr(whole, method)())
    if method in {"startswith", "endswith"} and text is not None and made.args:
        part = text_of(made.args[0])
        return None if part is None else Literal(made.node, getattr(text, method)(part))
    if method == "format":
        for item in made.args:
            whole = whole.replace("{}", as_text(item), 1)
        for key, (_, item) in made.keywords.items():
            whole = whole.replace("{" + key + "}", as_text(item))
        return Literal(made.node, whole[:MAX_TEXT])
    return None


def _joined(made: Made, sign: str, value: Value) -> Value:
    items = usual(value)
    if not isinstance(items, Sequence):
        return Value(made.node)
    if sign.isspace():
        return items  # words of a command stay words
    return Literal(made.node, sign.join(as_text(item) for item in items.items)[:MAX_TEXT])


def _split(made: Made, value: Value) -> Value:
    literal = usual(value)
    if not isinstance(literal, Literal) or not isinstance(literal.data, str):
        return Value(made.node)
    try:
        words = shlex.split(literal.data[:MAX_TEXT])
    except ValueError:
        words = literal.data[:MAX_TEXT].split()
    return Sequence(literal.node, [Literal(literal.node, word) for word in words])
