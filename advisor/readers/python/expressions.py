"""Expressions as values: names, literals, texts, arithmetic of constants, calls.

A base class of `flow.Flow`, which knows scopes, branches and what local functions return.
"""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Mapping as Table
from types import MappingProxyType
from typing import Any, Final

from advisor.readers.python.results import MAX_ITEMS, MAX_TEXT, as_text, known_result
from advisor.readers.python.values import (
    HOLE,
    Either,
    Literal,
    Made,
    Mapping,
    Member,
    Sequence,
    Symbol,
    Value,
    alternatives,
    plain,
    text_of,
    truth,
    usual,
)

_DEEPEST: Final = 60

_ARITHMETIC: Final[Table[type[ast.AST], Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
        ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    }
)  # fmt: skip
_COMPARED: Final[Table[type[ast.AST], Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
        ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    }
)  # fmt: skip


class Expressions:
    """Expressions in the scope that stands."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.made: list[Made] = []
        """Calls in the order in which they are made."""
        self._depth = 0

    @abstractmethod
    def look_up(self, node: ast.Name) -> Value:
        """The value of a name."""

    @abstractmethod
    def attribute(self, node: ast.Attribute, receiver: Value) -> Value:
        """An attribute of a value."""

    @abstractmethod
    def called(self, made: Made, function: Value, node: ast.Call) -> Value:
        """What a call returns, once its arguments are known."""

    def evaluate(self, node: ast.AST | None) -> Value:
        """The value of an expression."""
        if node is None:
            return Value(ast.Constant(None))
        if self._depth > _DEEPEST:
            return Value(node)
        self._depth += 1
        try:
            method = _METHODS.get(type(node))
            if method is not None:
                value: Value = getattr(self, method)(node)
                return value
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.evaluate(child)
            return Value(node)
        finally:
            self._depth -= 1

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, str | bytes | bool | int | float) or node.value is None:
            return Literal(node, node.value)
        return Value(node)

    def _name(self, node: ast.Name) -> Value:
        return self.look_up(node)

    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(node, self.evaluate(node.value))

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        for item in node.elts[:MAX_ITEMS]:
            if isinstance(item, ast.Starred):
                inner = usual(self.evaluate(item.value))
                items += inner.items if isinstance(inner, Sequence) else [Value(item)]
            else:
                items.append(self.evaluate(item))
        return Sequence(node, items)

    def _mapping(self, node: ast.Dict) -> Value:
        found = Mapping(node)
        for key, item in list(zip(node.keys, node.values, strict=True))[:MAX_ITEMS]:
            value = self.evaluate(item)
            if key is None:
                inner = usual(value)
                if isinstance(inner, Mapping):
                    found.entries.update(inner.entries)
                continue
            name = plain(self.evaluate(key))
            if isinstance(name, str | int) and not isinstance(name, bool):
                found.entries[str(name)] = (key, value)
        return found

    def _text(self, node: ast.JoinedStr) -> Value:
        parts: list[str] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            elif isinstance(part, ast.FormattedValue):
                data = as_text(self.evaluate(part.value))
                parts.append(data)
        return Literal(node, "".join(parts)[:MAX_TEXT])

    def _conditional(self, node: ast.IfExp) -> Value:
        test = truth(self.evaluate(node.test))
        one, other = self.evaluate(node.body), self.evaluate(node.orelse)
        words = "" if test is None else self.condition_of(node.test)
        return Either(
            node, [(one, words if test is False else ""), (other, words if test is True else "")]
        )

    @staticmethod
    def condition_of(test: ast.AST) -> str:
        """A test that the defaults do not pass, in words."""
        try:
            text = ast.unparse(test)
        except (RecursionError, ValueError):
            text = "a branch"
        short = text if len(text) <= 40 else text[:37] + "..."
        return f"{short}, which the defaults do not choose"

    def _either(self, node: ast.BoolOp) -> Value:
        values = [self.evaluate(item) for item in node.values]
        wanted = isinstance(node.op, ast.And)
        for value in values[:-1]:
            state = truth(value)
            if state is None:
                break
            if state is not wanted:
                return value
        else:
            return values[-1]
        states = [truth(value) for value in values]
        if any(state is (not wanted) for state in states):
            return Literal(node, not wanted)
        return Either(node, [(value, "") for value in values])

    def _unary(self, node: ast.UnaryOp) -> Value:
        inner = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            state = truth(inner)
            return Value(node) if state is None else Literal(node, not state)
        value = usual(inner)
        if isinstance(value, Literal) and isinstance(value.data, int | float):
            return Literal(node, -value.data if isinstance(node.op, ast.USub) else value.data)
        return Value(node)

    def _binary(self, node: ast.BinOp) -> Value:
        one, other = self.evaluate(node.left), self.evaluate(node.right)
        return self.combined(node, node.op, one, other)

    def combined(self, node: ast.AST, op: ast.operator, one: Value, other: Value) -> Value:
        """Two values under an operator."""
        left, right = usual(one), usual(other)
        if isinstance(left, Sequence) and isinstance(op, ast.Add):
            items = right.items if isinstance(right, Sequence) else [Value(node)]
            return Sequence(node, [*left.items, *items][:MAX_ITEMS])
        if isinstance(left, Mapping) and isinstance(right, Mapping) and isinstance(op, ast.BitOr):
            return Mapping(node, {**left.entries, **right.entries})
        action = _ARITHMETIC.get(type(op))
        if isinstance(left, Literal) and isinstance(right, Literal) and action is not None:
            return self._computed(node, action, left.data, right.data)
        if isinstance(left, Literal) and isinstance(left.data, str):
            if isinstance(op, ast.Add):
                return Literal(node, (left.data + as_text(right))[:MAX_TEXT])
            if isinstance(op, ast.Mod):
                return self._formatted(node, left.data, right)
        if isinstance(right, Literal) and isinstance(right.data, str) and isinstance(op, ast.Add):
            return Literal(node, (as_text(left) + right.data)[:MAX_TEXT])
        if isinstance(op, ast.Div) and isinstance(right, Literal) and isinstance(right.data, str):
            return Literal(node, f"{as_text(left)}/{right.data}"[:MAX_TEXT])
        return Value(node)

    @staticmethod
    def _computed(
        node: ast.AST, action: Callable[[Any, Any], Any], left: object, right: object
    ) -> Value:
        small = all(not isinstance(item, int | float) or abs(item) < 1e15 for item in (left, right))
        repeats = action is operator.mul and (
            isinstance(left, str | bytes) or isinstance(right, str | bytes)
        )
        if not small or repeats:
            return Value(node)
        try:
            result = action(left, right)
        except (TypeError, ValueError, ArithmeticError):
            if isinstance(left, str) and isinstance(right, str):
                return Literal(node, f"{left}/{right}"[:MAX_TEXT])  # pathlib's division
            return Value(node)
        if isinstance(result, str):
            return Literal(node, result[:MAX_TEXT])
        return Literal(node, result) if isinstance(result, int | float) else Value(node)

    def _formatted(self, node: ast.AST, text: str, value: Value) -> Value:
        """Text % values, for the few forms that command lines use."""
        items = value.items if isinstance(value, Sequence) else [value]
        parts = text.replace("%d", "%s").split("%s")
        if len(parts) != len(items) + 1:
            return Literal(node, HOLE)
        words = [as_text(item) for item in items]
        whole = "".join(part + word for part, word in zip(parts, [*words, ""], strict=True))
        return Literal(node, whole[:MAX_TEXT])

    def _comparison(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        rights = [self.evaluate(item) for item in node.comparators]
        if len(rights) != 1:
            return Value(node)
        found = {
            self._compared(node.ops[0], one, other)
            for one, hangs_on in alternatives(left)
            if not hangs_on
            for other in (usual(rights[0]),)
        }
        state = next(iter(found)) if len(found) == 1 else None
        return Value(node) if state is None else Literal(node, state)

    @staticmethod
    def _compared(op: ast.cmpop, left: Value, right: Value) -> bool | None:
        if isinstance(op, ast.In | ast.NotIn):
            inside: object
            if isinstance(right, Sequence) and isinstance(left, Literal):
                inside = [item.data for item in right.items if isinstance(item, Literal)]
            elif isinstance(right, Mapping) and isinstance(left, Literal):
                inside = right.entries
            elif text_of(right) is not None and text_of(left) is not None:
                inside = text_of(right)
            else:
                return None
            assert isinstance(left, Literal)
            found = left.data in inside  # type: ignore[operator]
            return found if isinstance(op, ast.In) else not found
        none = isinstance(right, Literal) and right.data is None
        if none and not isinstance(left, Literal):
            known = isinstance(left, Sequence | Mapping | Made)
            return isinstance(op, ast.IsNot | ast.NotEq) if known else None
        action = _COMPARED.get(type(op))
        if action is None or not isinstance(left, Literal) or not isinstance(right, Literal):
            return None
        if HOLE in (str(left.data), str(right.data)):
            return None
        try:
            return bool(action(left.data, right.data))
        except TypeError:
            return None

    def _subscript(self, node: ast.Subscript) -> Value:
        base = usual(self.evaluate(node.value))
        index = self.evaluate(node.slice)
        key = plain(index)
        if isinstance(base, Mapping):
            if isinstance(key, str | int) and str(key) in base.entries:
                return base.entries[str(key)][1]
            if base.entries and not isinstance(key, str | int) and not base.is_namespace:
                return Either(node, [(item, "") for _, item in base.entries.values()])
            return Value(node)
        if isinstance(base, Sequence) and isinstance(key, int):
            return base.items[key] if -len(base.items) <= key < len(base.items) else Value(node)
        if isinstance(base, Symbol) and isinstance(key, str):
            return Symbol(node, f"{base.name}[{key}]")
        return Member(node, base, "[]")

    def _inner(self, node: ast.Starred | ast.NamedExpr | ast.Await) -> Value:
        return self.evaluate(node.value)

    def _call(self, node: ast.Call) -> Value:
        function = self.evaluate(node.func)
        receiver: Value | None = None
        held = usual(function)
        if isinstance(held, Symbol):
            name = held.name
        elif isinstance(held, Made):
            name, receiver = "", held
        elif isinstance(node.func, ast.Name):
            name = f"?.{node.func.id}"
        elif isinstance(node.func, ast.Attribute):
            name = f".{node.func.attr}"
            if isinstance(function, Member):
                receiver = function.receiver
        else:
            name = ""
        args: list[Value] = []
        for item in node.args[:MAX_ITEMS]:
            value = self.evaluate(item)
            if isinstance(item, ast.Starred) and isinstance(usual(value), Sequence):
                args += usual(value).items  # type: ignore[attr-defined]
            else:
                args.append(value)
        keywords: dict[str, tuple[ast.AST, Value]] = {}
        for word in node.keywords:
            value = self.evaluate(word.value)
            inner = usual(value)
            if word.arg is not None:  # given twice, as in a conflict, the first holds
                keywords.setdefault(word.arg, (word, value))
            elif isinstance(inner, Mapping):
                keywords = {**inner.entries, **keywords}
        made = Made(node, name, args, keywords, receiver)
        for value in (
            *args,
            *(item for _, item in keywords.values()),
            *([receiver] if receiver else []),
        ):
            self._used(value, made)
        self.made.append(made)
        known = known_result(made)
        return known if known is not None else self.called(made, function, node)

    def _used(self, value: Value, by: Made, depth: int = 0) -> None:
        for option, _ in alternatives(value):
            if isinstance(option, Made):
                option.used_by.append(by)
            elif depth < 3 and isinstance(option, Sequence):
                for item in option.items:
                    self._used(item, by, depth + 1)
            elif depth < 3 and isinstance(option, Mapping):
                for _, item in option.entries.values():
                    self._used(item, by, depth + 1)


_METHODS: Final[Table[type[ast.AST], str]] = MappingProxyType(
    {
        ast.Constant: "_constant", ast.Name: "_name", ast.Attribute: "_attribute",
        ast.List: "_sequence", ast.Tuple: "_sequence", ast.Set: "_sequence",
        ast.Dict: "_mapping", ast.JoinedStr: "_text", ast.IfExp: "_conditional",
        ast.BoolOp: "_either", ast.UnaryOp: "_unary", ast.BinOp: "_binary",
        ast.Compare: "_comparison", ast.Subscript: "_subscript", ast.Starred: "_inner",
        ast.NamedExpr: "_inner", ast.Await: "_inner", ast.Call: "_call",
    }
)  # fmt: skip
"""Methods by what they read."""
