"""Weights set to zero or rounded by hand: the shape stays, and so do the bytes that are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.python.calls import Found
from advisor.readers.python.scope import (
    HEAD,
    QUANTIZES,
    Scope,
    calls_in,
    is_zero,
    method_of,
    names_in,
    pruned,
    unwrapped,
)
from advisor.readers.python.values import dotted

_CHOSEN: Final = re.compile(r"mask|prun|thresh|zero|drop|sparse|< |<=|indices|where", re.IGNORECASE)
_PRUNES: Final = re.compile(r"prune|sparsif|zero_out|threshold", re.IGNORECASE)
_STRUCTURE: Final = re.compile(r"channel|row|col|struct|head|layer|neuron", re.IGNORECASE)
_TOKENS: Final = re.compile(r"embed|\bw[tp]e\b|\bemb\b")
_OF_VOCABULARY: Final = re.compile(r"vocab|embed|pad", re.IGNORECASE)
_WIDTH: Final = re.compile(r"bit|^q$")
_WIDEST: Final = 8
_ROUTED: Final = re.compile(r"expert|rout|top_?k_(?:ids|idx|indices)", re.IGNORECASE)
"""Which experts a router leaves out for a token."""
_GATE: Final = re.compile(r"mask|gate", re.IGNORECASE)
_KEPT: Final = re.compile(
    r"kv|cache|past|^(?:new_)?keys?(?:_states?)?$|^(?:new_)?values?(?:_states?)?$"
)

_GRIDS: Final[Mapping[tuple[int | None, ...], str]] = MappingProxyType(
    {
        (-128, 127): "int8", (-127, 127): "int8", (0, 255): "int8",
        (-8, 7): "int4", (-7, 7): "int4", (0, 15): "int4", (-4, 3): "int3", (0, 7): "int3",
        (-2, 1): "int2", (0, 3): "int2", (-1, 1): "ternary",
    }
)  # fmt: skip
"""Ends of integer grids and what they are."""


def masked(scope: Scope, node: ast.AST, *sources: ast.AST) -> Iterator[Found]:
    """Single weights set to zero, at a statement; `sources` say which."""
    if not scope.packs:
        pattern = "2:4" if scope.picks_of_four(*sources) else "unstructured"
        yield pruned(node, pattern, "dense")


def zeroed(scope: Scope, node: ast.AST, target: ast.expr) -> Iterator[Found]:
    """A slice of a weight set to zero: heads by its bounds, single weights by a mask."""
    if not isinstance(target, ast.Subscript):
        return
    index = ast.unparse(target.slice)
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    if any(isinstance(part, ast.Constant) and type(part.value) is int for part in parts):
        return  # one row or column: a padding, or the start of an initialisation
    if any(_tells_dead(scope.known.get(name)) for name in names_in(target.slice)):
        return
    whole = isinstance(target.slice, ast.Tuple)
    if _OF_VOCABULARY.search(index) or (not whole and _TOKENS.search(dotted(target.value))):
        return  # rows of an embedding: tokens that are new, or padding
    if HEAD.search(index) or names_in(target.slice) & scope.about_heads:
        yield pruned(node, "heads", "masked")
    elif whole or isinstance(target.slice, ast.Slice):
        yield pruned(node, "channels", "masked")
    elif isinstance(target.slice, ast.Name) and target.slice.id in scope.picked:
        if names_in(target.value) & scope.flat:
            yield from masked(scope, node, target.slice)
        else:
            yield pruned(node, "channels", "masked")
    elif _chooses(scope, target.slice):
        yield from masked(scope, node, target.slice)


def _tells_dead(value: ast.expr | None) -> bool:
    """Whether an index holds what is exactly 0 already: `dead = torch.diag(hessian) == 0`.

    Quantizing to a Hessian blanks columns that no input ever reaches; that prunes nothing.
    """
    if not isinstance(value, ast.Compare) or not isinstance(value.ops[0], ast.Eq):
        return False
    return is_zero(value.comparators[0])


def in_place(scope: Scope, node: ast.Call) -> Iterator[Found]:
    """Methods that change a weight where it is: `w.mul_(mask)`, `w[mask].zero_()`."""
    if not isinstance(node.func, ast.Attribute):
        return
    method, owner = node.func.attr, node.func.value
    inside = owner.value if isinstance(owner, ast.Subscript) else owner
    if not scope.is_weight(inside) and not scope.is_weight(owner):
        return
    if method == "zero_" or (method == "fill_" and node.args and is_zero(node.args[0])):
        yield from zeroed(scope, node, owner)
    elif method in {"mul_", "masked_fill_"} and any(map(scope.is_mask, node.args[:1])):
        yield from masked(scope, node, *node.args)
    elif method in {"scatter_", "index_fill_"} and _fills_zeros(node):
        yield from masked(scope, node)


def _fills_zeros(call: ast.Call) -> bool:
    """Whether places of a weight become 0: not those of experts that a router leaves out."""
    if not call.args or not is_zero(call.args[-1]):
        return False
    return not any(_ROUTED.search(ast.unparse(arg)) for arg in call.args)


def assigned(scope: Scope, node: ast.Assign, value: ast.expr) -> Iterator[Found]:
    """A weight made anew with zeros in it, or rounded; nothing for other values."""
    inner = unwrapped(value, "Parameter", "clone")
    if isinstance(inner, ast.Name) and inner.id in scope.made_by:
        yield from _simulated(scope, node, scope.made_by[inner.id])
        return
    called = method_of(inner) if isinstance(inner, ast.Call) else ""
    if "round" in {method_of(call) for call in calls_in(value)}:
        yield from _rounded(scope, node, value)
    elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
        if scope.is_mask(inner.left) or scope.is_mask(inner.right):
            yield from masked(scope, node, inner)
    elif isinstance(inner, ast.Call) and called == "where":
        if any(is_zero(arg) or "zeros" in ast.unparse(arg) for arg in inner.args[1:]):
            yield from masked(scope, node, inner)
    elif isinstance(inner, ast.Call) and called == "masked_fill":
        yield from masked(scope, node, inner)
    elif isinstance(inner, ast.Call) and QUANTIZES.search(called):
        yield from _simulated(scope, node, inner)
    elif isinstance(inner, ast.Call) and _PRUNES.search(called) and not _STRUCTURE.search(called):
        if called in scope.functions:
            return  # it is read itself
        yield from masked(scope, node, inner)


def multiplied(scope: Scope, node: ast.BinOp) -> Iterator[Found]:
    """`F.linear(x, self.weight * self.mask)`: masked at every call."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if scope.is_weight(one) and scope.is_mask(other) and not scope.is_weight(other):
            yield from masked(scope, node, other)
            return


def narrowed_to(scope: Scope, node: ast.AST, value: ast.expr) -> Iterator[Found]:
    """A weight kept in 8 bits: rounded to int8, or cast to float8."""
    if not any(scope.is_weight(item) for item in ast.walk(value) if isinstance(item, ast.expr)):
        return
    if _rounds_to_int8(value):
        yield from packed(node, value)
    elif any(
        method_of(call) in {"to", "type"} and "float8" in "".join(map(ast.unparse, call.args))
        for call in calls_in(value)
    ):
        condition = "a kernel that reads float8 weights: cast back first, they are read twice"
        yield Found(Setting("quantize", {"weights": "fp8"}), node, condition)


def gated(scope: Scope, node: ast.AST, value: ast.expr) -> Iterator[Found]:
    """`out * mask[:, :, None, None]` with a mask that is made for heads."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return
    for side in (value.left, value.right):
        text = ast.unparse(side)
        if isinstance(side, ast.Name) and _is_handed_in(scope.known.get(side.id)):
            continue
        if _GATE.search(text) and (HEAD.search(text) or names_in(side) & scope.about_heads):
            yield pruned(node, "heads", "masked")
            return


def _is_handed_in(value: ast.expr | None) -> bool:
    """Whether a mask is whatever a caller hands in, by default nothing: `head_mask=None`."""
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def narrow_cache(node: ast.AST, value: ast.expr) -> Iterator[Found]:
    """Keys or values rounded to int8 by hand: expanded again before attention reads them."""
    if _rounds_to_int8(value) and any(
        _KEPT.search(name) or name in {"k", "v"} for name in names_in(value)
    ):
        yield Found(Setting("quantize", {"kv_cache": "int8", "in_kernel": False}), node)


def packed(node: ast.AST, value: ast.expr) -> Iterator[Found]:
    """A weight rounded and kept as int8: as many bytes as it is read in, by a kernel."""
    if _rounds_to_int8(value):
        condition = "a kernel that reads int8 weights: expanded first, they are read twice"
        yield Found(Setting("quantize", {"weights": "int8"}), node, condition)


def _rounds_to_int8(value: ast.expr) -> bool:
    calls = list(calls_in(value))
    return any(method_of(call) == "round" for call in calls) and any(
        "int8" in ast.unparse(arg) for call in calls for arg in call.args
    )


def _rounded(scope: Scope, node: ast.AST, value: ast.expr) -> Iterator[Found]:
    """`w = (w / s).round().clamp(-8, 7) * s`: rounded to a grid, and wide again."""
    ends = [
        scope.whole(arg)
        for call in calls_in(value)
        if method_of(call) in {"clamp", "clip", "clamp_"}
        for arg in call.args[-2:]
    ]
    form = _GRIDS.get(tuple(ends), "auto")
    wide = not any("int8" in ast.unparse(arg) for call in calls_in(value) for arg in call.args)
    yield Found(Setting("quantize", {"weights": form} | ({"packed": False} if wide else {})), node)


def _simulated(scope: Scope, node: ast.AST, call: ast.Call) -> Iterator[Found]:
    """`m.weight.data = pseudo_quantize_tensor(m.weight.data, n_bit=4)`: rounded, and wide."""
    given = [word.value for word in call.keywords if _WIDTH.search(word.arg or "")]
    bits = next((n for item in [*given, *call.args[1:]] if (n := scope.whole(item))), None)
    if bits is None:
        bits = _usual_width(scope, call)
    form = "auto" if bits is None else f"int{bits}"
    if bits is None or 1 <= bits <= _WIDEST:
        yield Found(Setting("quantize", {"weights": form, "packed": False}), node)


def _usual_width(scope: Scope, call: ast.Call) -> int | None:
    """The width by default of a function of the file."""
    function = scope.functions.get(method_of(call))
    for name, value in defaults_of(function).items() if function is not None else ():
        if _WIDTH.search(name) and (bits := scope.whole(value)):
            return bits
    text = "" if function is None else ast.unparse(function)
    return _WIDEST if "int8" in text or "127" in text else None


def defaults_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """Parameters and their defaults."""
    spec = node.args
    names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    found = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
    pairs = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return {**found, **{arg.arg: value for arg, value in pairs if value is not None}}


def _chooses(scope: Scope, index: ast.expr) -> bool:
    """Whether an index picks weights one by one: a mask, a comparison; one row is a padding."""
    if isinstance(index, ast.BinOp):
        return isinstance(index.op, ast.BitAnd | ast.BitOr)  # `padding - start` is one row
    if isinstance(index, ast.Compare | ast.UnaryOp):
        return True
    return scope.is_mask(index) or _CHOSEN.search(ast.unparse(index)) is not None


def is_gate(target: ast.expr) -> bool:
    """Whether an assignment's target is a mask or gate of heads."""
    path = dotted(target)
    return HEAD.search(path) is not None and _GATE.search(path) is not None
