"""Weights cut to a rank by SVD: two thin factors kept apart, or multiplied back to the whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.python.calls import Found
from advisor.readers.python.scope import WEIGHT, Scope, method_of
from advisor.readers.python.values import dotted

_SVD: Final = frozenset({"svd", "svd_lowrank", "svds"})
_OF_WEIGHTS: Final = re.compile(
    r"weight|\bW|\bw\b|\.data\b|param|proj|kernel|\bmat|linear|\blayer|\bfc|delta"
)
_HOLDERS: Final = frozenset({"Linear", "Sequential", "LowRankLinear", "SVDLinear"})


def low_rank(scope: Scope) -> Iterator[Found]:
    """SVD of a weight, cut at a rank; nothing for one of anything else."""
    svd = next(
        (call for call in scope.calls if method_of(call) in _SVD and _is_of_weights(scope, call)),
        None,
    )
    cut = any(
        isinstance(node, ast.Slice) and node.lower is None and node.upper is not None
        for node in scope.nodes
    )
    if svd is None or not (cut or method_of(svd) == "svd_lowrank"):
        return
    product = _product(scope)
    apart = any(method_of(call) in _HOLDERS for call in scope.calls)
    multiplied = product is not None and not apart
    fields = {"rank": _rank(scope, svd), "storage": "multiplied" if multiplied else "factored"}
    place = product if multiplied and product is not None else svd
    yield Found(Setting("low_rank", fields), place)


def _is_of_weights(scope: Scope, svd: ast.Call) -> bool:
    """Whether a decomposition is of a weight: by its name, or by what the scope works on."""
    held = svd.func.value if isinstance(svd.func, ast.Attribute) else None
    text = ast.unparse(svd.args[0]) if svd.args else ""
    if not svd.args and held is not None:
        text = ast.unparse(held)  # w.svd()
    for _ in range(3):
        if _OF_WEIGHTS.search(text):
            return True
        known = scope.known.get(text)
        if known is None:
            break
        text = ast.unparse(known)
    return any(
        WEIGHT.search(dotted(node)) for node in scope.nodes if isinstance(node, ast.Attribute)
    )


def _rank(scope: Scope, svd: ast.Call) -> object:
    given = [word.value for word in svd.keywords if word.arg in {"q", "k"}]
    given += [
        node.upper
        for node in scope.nodes
        if isinstance(node, ast.Slice) and node.lower is None and node.upper is not None
    ]
    numbers = [number for item in given if (number := scope.whole(item)) and number > 0]
    return numbers[0] if numbers else "unknown"


def _product(scope: Scope) -> ast.AST | None:
    """The statement that multiplies the factors back into a weight."""
    for node in scope.nodes:
        value = node.value if isinstance(node, ast.Assign | ast.Return) else None
        if value is None:
            continue
        products = sum(
            (isinstance(item, ast.BinOp) and isinstance(item.op, ast.MatMult))
            or (isinstance(item, ast.Call) and method_of(item) in {"matmul", "mm"})
            for item in ast.walk(value)
        )
        if products and (products > 1 or "[" in ast.unparse(value)):
            return node
    return None
