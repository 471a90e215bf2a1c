"""Small changes to a module, each of which some test should notice.

The operators are the usual ones: a comparison turned or its edge moved, `and` for `or`, a `not`
taken away, the opposite operator in arithmetic, a number made larger or smaller, True for False, a
condition negated, a loop that never runs, `break` for `continue`, a handler that catches nothing.
What is no judgement is left alone: docstrings, the metadata and examples of a rule, annotations,
decorators, and f-strings, which are messages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from typing import Final, NamedTuple

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_SCALE: Final = 1.5
_METADATA: Final = "RULE"
_UNTOUCHED: Final = frozenset({"annotation", "returns", "decorator_list", "type_params"})
_SHOWN: Final = 60
"""Characters of a changed expression that a listing shows."""


class Mutant(NamedTuple):
    """One change of one module."""

    path: str
    line: int
    node: int
    """Which of the nodes in the order of `_nodes` is changed."""
    variant: int
    where: str
    """Name of the function or class it stands in; empty at the level of the module."""
    before: str
    after: str

    @property
    def change(self) -> str:
        """The change in words, which stays the same while lines around it move."""
        return f"{self.before} -> {self.after}"

    @property
    def told(self) -> str:
        """The mutant in one line."""
        return f"{self.path}:{self.line} {self.where}: {self.change}"


SURVIVED: Final = "survived"
SLOW: Final = "slow"


class Result(NamedTuple):
    """What became of a mutant: under the tests that there were, and under those there are now."""

    mutant: Mutant
    first: str
    now: str


def mutants(path: str, text: str) -> tuple[Mutant, ...]:
    """Every mutant of a module's text, in the order of the text."""
    return tuple(
        Mutant(path, line, number, variant, where, _shown(node), _shown(changed))
        for number, (node, where, line) in enumerate(_nodes(ast.parse(text), "", 0))
        for variant, changed in enumerate(_variants(node))
    )


def mutated(text: str, mutant: Mutant) -> ast.Module:
    """The module with the change made."""
    tree = ast.parse(text)
    target = [node for node, _, _ in _nodes(tree, "", 0)][mutant.node]
    changed = _variants(target)[mutant.variant]
    module = _Replacement(target, changed).visit(tree)
    assert isinstance(module, ast.Module)
    return ast.fix_missing_locations(module)


def users(text: str, line: int) -> frozenset[int]:
    """The lines of a module that use a name which is given at `line` of its top level."""
    tree = ast.parse(text)
    given = {
        target.id
        for statement in tree.body
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        for target in ast.walk(statement)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }
    return frozenset(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in given
    )


class _Replacement(ast.NodeTransformer):
    def __init__(self, target: ast.AST, changed: ast.AST) -> None:
        self.target, self.changed = target, changed

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.target:
            return ast.copy_location(self.changed, node)
        visited: ast.AST = self.generic_visit(node)
        return visited


def _nodes(node: ast.AST, where: str, line: int) -> Iterator[tuple[ast.AST, str, int]]:
    """The nodes that may change, each with the name it stands under and its line."""
    if isinstance(node, ast.JoinedStr) or _is_metadata(node):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}" if where else node.name
    line = getattr(node, "lineno", line)
    yield node, where, line
    for name, value in ast.iter_fields(node):
        if name in _UNTOUCHED:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _nodes(child, where, line)


def _is_metadata(node: ast.AST) -> bool:
    """The metadata of a rule, or imports that only type checkers see."""
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Name) and one.id == _METADATA for one in node.targets)
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _variants(node: ast.AST) -> list[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare(ops=ops):
            return [
                _with(node, ops=[*ops[:place], other(), *ops[place + 1 :]])
                for place, operator in enumerate(ops)
                for other in _COMPARISONS[type(operator)]
            ]
        case ast.BoolOp(op=ast.And()):
            return [_with(node, op=ast.Or())]
        case ast.BoolOp():
            return [_with(node, op=ast.And())]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return [deepcopy(operand)]
        case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC:
            return [_with(node, op=_ARITHMETIC[type(operator)]())]
        case ast.Constant(value=bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(value=int(value)):
            return [ast.Constant(value + 1), ast.Constant(value - 1)]
        case ast.Constant(value=float(value)):
            changed = (value * _SCALE, value / _SCALE) if value else (1.0,)
            return [ast.Constant(one) for one in changed]
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return [] if _turns_by_itself(test) else [_with(node, test=_negated(test))]
        case ast.comprehension(ifs=[test]):
            return [] if _turns_by_itself(test) else [_with(node, ifs=[_negated(test)])]
        case ast.For():
            return [_with(node, iter=ast.Tuple([], ast.Load()))]
        case ast.Continue():
            return [ast.Break()]
        case ast.Break():
            return [ast.Continue()]
        case ast.ExceptHandler(type=ast.expr()):
            return [_with(node, type=ast.Tuple([], ast.Load()))]
    return []


def _turns_by_itself(test: ast.expr) -> bool:
    """Whether another mutant negates this condition already."""
    return isinstance(test, ast.Compare) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), deepcopy(test))


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node with some of its fields replaced."""
    copy = deepcopy(node)
    for name, value in fields.items():
        setattr(copy, name, value)
    return copy


def _shown(node: ast.AST) -> str:
    """A node in one short line: of a statement its first, of a comprehension its condition."""
    match node:
        case ast.comprehension(ifs=[test]):
            text = f"if {ast.unparse(test)}"
        case ast.For(target=target, iter=over):
            text = f"for {ast.unparse(target)} in {ast.unparse(over)}"
        case ast.ExceptHandler(type=ast.expr() as kind):
            text = f"except {ast.unparse(kind)}"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            text = f"if {ast.unparse(test)}"
        case ast.expr() | ast.Continue() | ast.Break():
            text = ast.unparse(node)
        case _:
            text = ""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
