"""Code on tensors: masks on weights, heads zeroed, layers and channels taken out, SVD, windows.

Each function is read by itself. What is only masked keeps its shape and is read as before; what
is sliced out is gone; factors multiplied back are the full matrix again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from advisor.readers.python.calls import Found
from advisor.readers.python.cut import (
    CACHE,
    EXPERTS,
    LAYERS,
    deleted,
    kept,
    left_early,
    narrowed,
    popped,
    replaced,
    windowed,
)
from advisor.readers.python.factors import low_rank
from advisor.readers.python.scope import Scope, is_zero, method_of, pruned
from advisor.readers.python.values import dotted
from advisor.readers.python.zeroed import (
    assigned,
    gated,
    in_place,
    is_gate,
    masked,
    multiplied,
    narrow_cache,
    narrowed_to,
    packed,
    zeroed,
)


def found_in(scope: Scope) -> Iterator[Found]:
    """Every idiom of a body, in order of the text."""
    yield from low_rank(scope)
    done: set[ast.AST] = {summed for call in scope.calls if (summed := _summed(call)) is not None}
    for node in scope.nodes:
        match node:
            case ast.BinOp() if isinstance(node.op, ast.Mult) and node not in done:
                yield from multiplied(scope, node)
            case ast.Call():
                yield from _of_call(scope, node)
            case ast.Assign():
                made = list(_of_assign(scope, node, node.targets[0], node.value))
                if made:
                    done.update(ast.walk(node.value))
                yield from made
            case ast.AugAssign() if isinstance(node.op, ast.Mult):
                if scope.is_weight(node.target) and scope.is_mask(node.value):
                    yield from masked(scope, node, node.value)
            case ast.Return() if node.value is not None:
                yield from gated(scope, node, node.value)
                yield from narrow_cache(node, node.value)
                yield from narrowed_to(scope, node, node.value)
                if CACHE.search(ast.unparse(node.value)):
                    yield from windowed(scope, node, node.value)
            case ast.Delete():
                yield from deleted(scope, node)
            case ast.For():
                yield from left_early(node)


def _summed(call: ast.Call) -> ast.AST | None:
    """What a call sums up: `(weights * mask).sum(dim=0)` is an average, and no pruned weight."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in {"sum", "mean"}:
        return None
    return function.value


def _of_call(scope: Scope, node: ast.Call) -> Iterator[Found]:
    method = method_of(node)
    if method == "register_buffer" and len(node.args) > 1:
        yield from packed(node, node.args[1])
    elif method == "pop":
        yield from popped(scope, node)
    elif method == "setattr" and len(node.args) > 2:
        name = node.args[1]
        if isinstance(name, ast.Constant) and LAYERS.search(str(name.value)):
            yield from kept(scope, node, str(name.value), node.args[2])
    else:
        yield from in_place(scope, node)


def _of_assign(
    scope: Scope, node: ast.Assign, target: ast.expr, value: ast.expr
) -> Iterator[Found]:
    path = dotted(target)
    if isinstance(target, ast.Subscript) and is_zero(value):
        if scope.is_weight(target.value):
            yield from zeroed(scope, node, target)
        elif is_gate(target.value):
            yield pruned(node, "heads", "masked")
    elif isinstance(target, ast.Subscript) and (made := list(replaced(scope, node, target, value))):
        yield from made
    elif EXPERTS.search(path) or (LAYERS.search(path) and "." in path):
        yield from kept(scope, node, path, value)
    elif scope.is_weight(target) and not isinstance(target, ast.Name):
        made = list(assigned(scope, node, value)) or list(narrowed_to(scope, node, value))
        yield from made or narrowed(scope, node, value)
    elif CACHE.search(path) and (made := list(windowed(scope, node, value))):
        yield from made
    else:
        made = list(gated(scope, node, value)) or list(narrow_cache(node, value))
        yield from made or narrowed_to(scope, node, value)
