"""Settings as scripts declare them: parsers, fields, options of commands, dicts that are changed.

What holds where nothing else is passed is the value.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Final

from advisor.readers.python.expressions import Expressions
from advisor.readers.python.results import MAX_ITEMS
from advisor.readers.python.seen import Local
from advisor.readers.python.values import (
    Either,
    Literal,
    Made,
    Mapping,
    Sequence,
    Value,
    plain,
    usual,
)

_FIELDS: Final = frozenset({"field", "Field", "Option", "Argument", "attrib", "ib"})
"""Calls that declare a field or parameter, its default first or by name."""
_SAME_FIELDS: Final = frozenset({"asdict", "vars", "to_container", "OrderedDict", "replace"})
_WRAPPERS: Final = frozenset(
    {
        "create",
        "EasyDict",
        "edict",
        "Box",
        "Munch",
        "AttrDict",
        "DotDict",
        "ConfigDict",
        "DictConfig",
    }
)
_DUMPS: Final = frozenset({".model_dump", ".dict", "._asdict", ".to_dict", ".copy"})


class Declared(Expressions):
    """Containers and declarations; a base class of `flow.Flow`."""

    def __init__(self) -> None:
        """Begin with no flags."""
        super().__init__()
        self._flags: dict[str, Value] = {}

    @abstractmethod
    def condition(self) -> str:
        """What the statement that is read hangs on."""

    def _defaults_of(self, made: Made) -> Value | None:
        """Settings that hold where nothing else is passed, by the ways to declare them."""
        last = made.name.rpartition(".")[2]
        first = usual(made.args[0]) if made.args else None
        if last.startswith("DEFINE_") and len(made.args) > 1 and isinstance(first, Literal):
            self._flags[str(first.data)] = made.args[1]
        elif last in _SAME_FIELDS and isinstance(first, Mapping):
            return first
        elif last in _WRAPPERS and isinstance(first, Mapping):
            return Mapping(made.node, first.entries, is_namespace=True)
        elif made.name in _DUMPS and isinstance(usual(made.receiver or made), Mapping):
            return usual(made.receiver or made)
        elif last == "cli" and isinstance(first, Local):
            return self._instance(first, Made(made.node, "", [], {}))
        elif last == "parse_args_into_dataclasses":
            parser = usual(made.receiver) if made.receiver is not None else None
            kinds = usual(parser.args[0]) if isinstance(parser, Made) and parser.args else None
            listed = kinds.items if isinstance(kinds, Sequence) else [kinds] if kinds else []
            return Sequence(
                made.node,
                [
                    self._instance(kind, Made(made.node, "", [], {}))
                    if isinstance(kind, Local) and isinstance(kind.node, ast.ClassDef)
                    else Value(made.node)
                    for kind in map(usual, listed)
                ],
            )
        return None

    def _changed(self, receiver: Sequence | Mapping, made: Made) -> Value | None:
        """Methods of lists and dicts that change them or read one entry."""
        method, args = made.name, made.args
        under = self.condition()

        def kept(value: Value) -> Value:
            return Either(value.node, [(value, under)]) if under else value

        if isinstance(receiver, Sequence):
            if method == ".append" and args:
                receiver.items.append(kept(args[0]))
            elif method == ".extend" and args:
                more = usual(args[0])
                items = more.items if isinstance(more, Sequence) else [Value(made.node)]
                receiver.items += map(kept, items[:MAX_ITEMS])
                del receiver.items[MAX_ITEMS:]
            return None
        if method == ".update":
            inner = usual(args[0]) if args else None
            entries = inner.entries if isinstance(inner, Mapping) else {}
            for name, (place, value) in {**entries, **made.keywords}.items():
                receiver.entries[name] = (place, kept(value))
        elif method in {".setdefault", ".get", ".pop"} and args:
            key = plain(args[0])
            if isinstance(key, str | int) and str(key) in receiver.entries:
                return receiver.entries[str(key)][1]
            fallback = args[1] if len(args) > 1 else Literal(made.node, None)
            if method == ".setdefault" and isinstance(key, str):
                receiver.entries[key] = (made.node, kept(fallback))
            if not isinstance(key, str | int) and receiver.entries:
                return Either(made.node, [(item, "") for _, item in receiver.entries.values()])
            return fallback
        elif method in {".items", ".values", ".keys"} and not receiver.is_namespace:
            return self._listed(receiver, method, made)
        elif method == ".copy":
            return Mapping(receiver.node, dict(receiver.entries), receiver.is_namespace)
        return None

    @staticmethod
    def _listed(receiver: Mapping, method: str, made: Made) -> Value:
        """What a loop over a dict runs through."""
        pairs = [(Literal(made.node, key), value) for key, (_, value) in receiver.entries.items()]
        if method == ".items":
            return Sequence(made.node, [Sequence(made.node, [*pair]) for pair in pairs])
        return Sequence(made.node, [key if method == ".keys" else value for key, value in pairs])

    @staticmethod
    def _add_argument(parser: Mapping, made: Made) -> None:
        """One option of a command line: its default is what holds."""
        names = [plain(item) for item in made.args]
        flags = [name for name in names if isinstance(name, str)]
        dest = plain(made.keywords["dest"][1]) if "dest" in made.keywords else None
        if not isinstance(dest, str):
            long = next(
                (name for name in flags if name.startswith("--")), flags[0] if flags else ""
            )
            dest = long.lstrip("-").replace("-", "_")
        if not dest:
            return
        action = plain(made.keywords["action"][1]) if "action" in made.keywords else ""
        required = "required" in made.keywords or not any(flag.startswith("-") for flag in flags)
        value: Value
        if "default" in made.keywords:
            value = made.keywords["default"][1]
        elif action in {"store_true", "store_false"}:
            value = Literal(made.node, action == "store_false")
        else:
            value = Value(made.node) if required else Literal(made.node, None)
        parser.entries[dest] = (made.node, value)

    def fields_of(self, node: ast.ClassDef) -> dict[str, tuple[ast.AST, Value]]:
        """The fields of a class that have a default: its place and its value."""
        found: dict[str, tuple[ast.AST, Value]] = {}
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                if item.value is not None:
                    found[item.target.id] = (item, self.default_of(item.value))
            elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
                found[item.targets[0].id] = (item, self.default_of(item.value))
        return found

    def default_of(self, node: ast.expr) -> Value:
        """A field's default, also as `field(default=...)`, `Field(...)`, `default_factory`."""
        value = self.evaluate(node)
        made = usual(value)
        if isinstance(made, Made) and made.name.rpartition(".")[2] in _FIELDS:
            if "default" in made.keywords:
                return made.keywords["default"][1]
            if made.args:
                return made.args[0]
            return Value(node)
        return value

    def _instance(self, local: Local, made: Made) -> Value:
        """An instance of a class of the file: its fields, and what is passed."""
        node = local.node
        assert isinstance(node, ast.ClassDef)
        fields = self.fields_of(node)
        names = list(fields)
        passed = dict(zip(names, ((item.node, item) for item in made.args), strict=False))
        held = local.owner
        inner = held.entries if isinstance(held, Mapping) else {}
        return Mapping(made.node, {**inner, **fields, **passed, **made.keywords}, is_namespace=True)

    def _declared(self, node: ast.expr) -> dict[str, Value]:
        """`@click.option("--tp", default=2)`: the parameter and its default."""
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith(".option"):
            return {}
        parser = Mapping(node)
        words: dict[str, tuple[ast.AST, Value]] = {
            word.arg: (word, self.evaluate(word.value)) for word in node.keywords if word.arg
        }
        made = Made(node, ".add_argument", [self.evaluate(arg) for arg in node.args], words)
        if "is_flag" in words and "default" not in words:
            made.keywords["default"] = (node, Literal(node, data=False))
        self._add_argument(parser, made)
        return {name: value for name, (_, value) in parser.entries.items()}

    def _typed(self, arg: ast.arg) -> Value:
        """A parameter without a value: an instance with its defaults where its class is known."""
        if isinstance(arg.annotation, ast.Name):
            kind = self.look_up(arg.annotation)
            if isinstance(kind, Local) and isinstance(kind.node, ast.ClassDef):
                return Mapping(arg, self.fields_of(kind.node), is_namespace=True)
        return Value(arg)
