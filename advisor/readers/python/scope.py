"""One function's code on tensors: its nodes, and which of its names hold weights, masks, heads.

Names are followed inside the function alone: what a loop over parameters runs through, what is
made of a weight by another shape, what a comparison makes.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.python.calls import Found
from advisor.readers.python.values import dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef
Amount = Mapping[str, object]
"""How much of a model goes: `kept`, `dropped` or `sparsity`, where that is known."""

WEIGHT: Final = re.compile(r"(?:^|\.)(?:weights?|W|w|kernel)(?:\.data)?(?:$|\[)")
HEAD: Final = re.compile(r"head", re.IGNORECASE)
_MASK: Final = re.compile(r"mask", re.IGNORECASE)
_STATES: Final = re.compile(r"^(?:\w*state_?dict|sd|state|tensors|ckpt|checkpoint)$")
_MAKES_STATES: Final = frozenset({"state_dict", "load_file", "load_state"})
_FLATTENS: Final = frozenset({"flatten", "ravel"})
_PICKS: Final = frozenset({"topk", "argsort", "sort", "nonzero", "randperm", "multinomial"})
QUANTIZES: Final = re.compile(r"(?:^|_)(?:de)?quanti[sz]ed?(?:_|$)|fake_?quant", re.IGNORECASE)
_SAME_NUMBERS: Final = frozenset(
    {"view", "reshape", "clone", "detach", "float", "flatten", "half", "to", "contiguous", "cpu",
     "cuda", "transpose", "permute", "t", "unflatten", "squeeze", "unsqueeze", "view_as", "double",
     "numpy", "ravel", "bfloat16"}
)  # fmt: skip
_RECKONS: Final = frozenset(
    {"flip", "cumsum", "cumprod", "softmax", "sigmoid", "exp", "log", "clamp", "linspace", "arange"}
)
"""Functions whose results are weights of an average, and no model's."""
_COMPARES: Final = frozenset({"gt", "ge", "lt", "le", "greater", "less", "isin", "logical_not"})
_FOUR: Final = 4


_DEEPEST: Final = 8
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = MappingProxyType(
    {
        ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
        ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    }
)  # fmt: skip


class Scope:
    """A body, and what its names hold."""

    def __init__(
        self,
        body: list[ast.stmt],
        known: Mapping[str, ast.expr],
        functions: Mapping[str, Function],
    ) -> None:
        """Gather the nodes of a body.

        `known` are names whose values are known from outside, `functions` those of the file.
        """
        self.nodes = list(_nodes(body))
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self.known = dict(known)
        self.functions = functions
        self.about_heads: set[str] = set()
        self.loops: dict[str, ast.expr] = {}
        self._weights: set[str] = set()
        self._masks: set[str] = set()
        self._states: set[str] = set()
        self.picked: set[str] = set()
        """Names of indices that something chose: `topk`, `argsort`."""
        self.flat: set[str] = set()
        """Names of weights as one row of numbers."""
        self.made_by: dict[str, ast.Call] = {}
        """Names that a quantizing function makes, and its call."""
        for node in self.nodes:
            if isinstance(node, ast.For):
                self._of_loop(node)
            elif isinstance(node, ast.Assign):
                self._of_target(node.targets[0], node.value)
        self.packs = any(method_of(call).startswith("to_sparse") for call in self.calls)

    def _of_loop(self, node: ast.For) -> None:
        if isinstance(node.target, ast.Name):
            self.loops[node.target.id] = node.iter
        last = node.target.elts[-1] if isinstance(node.target, ast.Tuple) else node.target
        over = ast.unparse(node.iter)
        holds = "parameters(" in over or "state_dict(" in over
        holds |= any(name in over.split(".") for name in self._states) and ".items(" in over
        if isinstance(last, ast.Name) and holds:
            self._weights.add(last.id)

    def _of_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._of_name(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, part in zip(target.elts, value.elts, strict=False):
                self._of_target(one, part)
        elif isinstance(target, ast.Tuple):
            for name in names_in(target):
                self._of_result(name, value)

    def _of_result(self, name: str, value: ast.expr) -> None:
        """What a name holds of a call's result."""
        if any(method_of(call) in _PICKS for call in calls_in(value)):
            self.picked.add(name)
        if isinstance(value, ast.Call) and QUANTIZES.search(method_of(value)):
            self.made_by[name] = value

    def _of_name(self, name: str, value: ast.expr) -> None:
        self.known.setdefault(name, value)
        text = ast.unparse(value)
        if HEAD.search(text):
            self.about_heads.add(name)
        self._of_result(name, value)
        if isinstance(value, ast.Call) and (
            method_of(value) in _MAKES_STATES or dotted(value.func) == "torch.load"
        ):
            self._states.add(name)
        if any(_flattens(call) for call in calls_in(value)):
            self.flat.add(name)
        if self.is_weight(value):
            self._weights.add(name)
        elif self.is_mask(value):
            self._masks.add(name)

    def is_weight(self, node: ast.expr) -> bool:
        """Whether an expression is a weight, in this or another shape."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in _SAME_NUMBERS:
                return False
            node = node.func.value
        path = dotted(node)
        if WEIGHT.search(path):
            return not self._is_reckoned(node)
        root, _, rest = path.replace("[]", ".[]").partition(".")
        if root in self._weights:
            return rest in {"", "data", "[]", "data.[]"}
        is_state = root in self._states or _STATES.match(root) is not None
        return is_state and rest == "[]"

    def _is_reckoned(self, node: ast.expr) -> bool:
        """Whether a name that says weight is reckoned from other things: `similarity * kept`."""
        value = self.known.get(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(value, ast.BinOp) and not (
            isinstance(value, ast.Call) and method_of(value) in _RECKONS
        ):
            return False
        parts = (item for item in ast.walk(value) if isinstance(item, ast.expr))
        return not any(WEIGHT.search(dotted(item)) for item in parts)

    def is_mask(self, node: ast.expr) -> bool:
        """Whether a factor is zeros and ones: a mask by name, or a comparison."""
        if isinstance(node, ast.Call) and method_of(node) == "where" and not _has_zeros(node):
            return False  # `where(flipped, -scale, scale)` chooses between two numbers
        for item in ast.walk(node):
            if isinstance(item, ast.Compare) and not _tells_equals(item):
                return True
            if isinstance(item, ast.Name) and (item.id in self._masks or _MASK.search(item.id)):
                return not _tells_equals(self.known.get(item.id))
            if isinstance(item, ast.Attribute) and _MASK.search(item.attr):
                return True
            if isinstance(item, ast.Call) and method_of(item) in _COMPARES:
                return True
        return False

    def picks_of_four(self, *nodes: ast.AST) -> bool:
        """Whether a mask of the scope, or of a function that makes it, picks some of every four."""
        made = [
            function
            for node in nodes
            for call in calls_in(node)
            if (function := self.functions.get(method_of(call))) is not None
        ]
        inner = [call for function in made for call in calls_in(function)]
        for call in (*self.calls, *inner):
            if method_of(call) in {"view", "reshape", "unflatten", "chunk"} and call.args:
                last = call.args[-1]
                last = last.elts[-1] if isinstance(last, ast.Tuple) and last.elts else last
                if self.whole(last) == _FOUR:
                    return True
        return False

    # Numbers

    def whole(self, node: ast.expr | None) -> int | None:
        """A whole number, also by its name or by arithmetic: `int(3072 * 0.7)`."""
        number = self._number(node, 0)
        return number if isinstance(number, int) else None

    def _number(self, node: ast.expr | None, depth: int) -> int | float | None:
        """A number that can be worked out from numbers that are written; None for another."""
        if node is None or depth > _DEEPEST:
            return None
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                return self._number(self.known.get(name), depth + 1)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                number = self._number(inner, depth + 1)
                return None if number is None else -number
            case ast.Call(func=ast.Name(id="int" | "round" as name), args=[inner]):
                number = self._number(inner, depth + 1)
                if number is None:
                    return None
                return int(number) if name == "int" else round(number)
            case ast.BinOp(left=left, op=operation, right=right):
                sign = _ARITHMETIC.get(type(operation))
                one, other = self._number(left, depth + 1), self._number(right, depth + 1)
                if sign is None or one is None or other is None:
                    return None
                try:
                    return sign(one, other)
                except ArithmeticError:
                    return None
            case _:
                return None

    def length(self, node: ast.expr | None) -> int | None:
        """How many items a literal has, also by its name."""
        for _ in range(4):
            if isinstance(node, ast.Name):
                node = self.known.get(node.id)
            if isinstance(node, ast.Call) and method_of(node) in {"set", "list", "tuple", "sorted"}:
                node = node.args[0] if node.args else None
        if isinstance(node, ast.Call) and method_of(node) == "range" and node.args:
            ends = [self.whole(arg) for arg in node.args]
            low, high = (0, ends[0]) if len(ends) == 1 else (ends[0], ends[1])
            step = ends[2] if len(ends) > 2 else 1
            if high is None or low is None or not step:
                return None
            return len(range(low, min(high, low + 10_000), step))
        return len(node.elts) if isinstance(node, ast.List | ast.Tuple | ast.Set) else None


def _flattens(call: ast.Call) -> bool:
    if method_of(call) in {"view", "reshape"} and len(call.args) == 1:
        return isinstance(call.args[0], ast.UnaryOp)
    return method_of(call) in _FLATTENS


def pruned(node: ast.AST, pattern: str, storage: str, amount: Amount | None = None) -> Found:
    """Part of a model that goes, at a place."""
    return Found(Setting("prune", {"pattern": pattern, "storage": storage, **(amount or {})}), node)


def method_of(call: ast.Call) -> str:
    """The last word of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Every call of an expression."""
    return (item for item in ast.walk(node) if isinstance(item, ast.Call))


def arguments_of(node: ast.expr) -> list[ast.expr]:
    """The arguments of a call; none of anything else."""
    return node.args if isinstance(node, ast.Call) else []


def names_in(node: ast.AST) -> set[str]:
    """Every name of an expression."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def _tells_equals(value: ast.expr | None) -> bool:
    """Whether a mask holds what equals something, as the tokens of one expert: `indices == 3`.

    What is pruned is chosen by its size, and never by one value.
    """
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    if not isinstance(value, ast.Compare):
        return False
    return all(isinstance(sign, ast.Eq | ast.NotEq) for sign in value.ops)


def _has_zeros(where: ast.Call) -> bool:
    """Whether one of the two choices is nothing."""
    return any(is_zero(arg) or "zeros" in ast.unparse(arg) for arg in where.args[1:])


def is_zero(node: ast.expr) -> bool:
    """Whether an expression is the number nothing."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and not node.value


def unwrapped(node: ast.expr, *names: str) -> ast.expr:
    """The first argument of a call of one of these names; anything else as it is."""
    while isinstance(node, ast.Call) and method_of(node) in names and node.args:
        node = node.args[0]
    return node


def _nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of a body in order of the text, without functions inside."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))
