"""Parts taken out by hand: layers, experts, channels, heads, cached tokens, layers left early."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.python.calls import Found
from advisor.readers.python.scope import (
    HEAD,
    WEIGHT,
    Amount,
    Scope,
    arguments_of,
    calls_in,
    method_of,
    names_in,
    pruned,
    unwrapped,
)
from advisor.readers.python.values import dotted

LAYERS: Final = re.compile(r"(?:^|\.)(?:\w*layers?|h|blocks?)$")
EXPERTS: Final = re.compile(r"(?:^|\.)experts$")
CACHE: Final = re.compile(
    r"past|cache|\bk_?v?\b|\bkeys?\b|key_states|\bv\b|value_states", re.IGNORECASE
)
_BUDGET: Final = re.compile(
    r"^(?:\w*_)?(?:budget|recent|window|sinks?|capacity|cache_size)(?:_size|_length|_tokens|_len)?$"
)
"""Names of how many tokens a cache keeps."""
_CONFIDENCE: Final = re.compile(r"conf|entropy|prob|exit|thresh|saturat", re.IGNORECASE)
_KEYS: Final = re.compile(r"\b[kv]_proj\b")
_ATTENDS: Final = re.compile(r"\b(?:[qkvo]_proj|out_proj|query|qkv|c_attn|self_attn|attention)\b")
_LISTS: Final = ("ModuleList", "list", "tuple", "Sequential")


def kept(scope: Scope, node: ast.AST, path: str, value: ast.expr) -> Iterator[Found]:
    """Layers or experts kept: a slice of them, two slices, or a list with a condition."""
    experts = EXPERTS.search(path) is not None
    pattern, parts = ("experts", EXPERTS) if experts else ("layers", LAYERS)
    value = unwrapped(value, *_LISTS)
    if isinstance(value, ast.Starred):
        value = unwrapped(value.value, *_LISTS)
    if isinstance(value, ast.Name) and isinstance(
        scope.known.get(value.id), ast.ListComp | ast.Subscript | ast.BinOp
    ):
        value = scope.known[value.id]
    if isinstance(value, ast.Name) and _is_filled(scope, value.id, parts):
        yield pruned(node, pattern, "removed", _filled_by(scope, value.id))
    elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        if parts.search(dotted(unwrapped(value.value, *_LISTS))):
            yield pruned(node, pattern, "removed", _sliced(scope, value.slice))
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        if any(_is_part(scope, item, parts) for item in ast.walk(value)):
            yield pruned(node, pattern, "removed", _gap(scope, value))
    elif isinstance(value, ast.ListComp | ast.GeneratorExp):
        amount = _listed(scope, value, parts)
        if amount is not None:
            yield pruned(node, pattern, "removed", amount)


def _is_part(scope: Scope, item: ast.AST, path: re.Pattern[str]) -> bool:
    """Whether an expression is a slice of the layers, or a name for one."""
    if isinstance(item, ast.Name):
        known = scope.known.get(item.id)
        return isinstance(known, ast.Subscript) and _is_part(scope, known, path)
    return isinstance(item, ast.Subscript) and path.search(dotted(item.value)) is not None


def replaced(scope: Scope, node: ast.Assign, target: ast.expr, value: ast.expr) -> Iterator[Found]:
    """`model.layers[i] = Skip()`: a layer that passes on what it is given."""
    if not isinstance(target, ast.Subscript) or not LAYERS.search(dotted(target.value)):
        return
    if isinstance(value, ast.Call) and _PASSES_ON.search(method_of(value)):
        yield pruned(node, "layers", "removed", _times(scope, target.slice))


_PASSES_ON: Final = re.compile(r"identity|skip|no_?op|pass_?through|bypass", re.IGNORECASE)


def _is_filled(scope: Scope, name: str, path: re.Pattern[str]) -> bool:
    """Whether a list is filled with chosen items: `new.append(old[i])`, `new.append(layer)`."""
    return any(
        _appends_to(call, name)
        and bool(call.args)
        and (
            isinstance(call.args[0], ast.Subscript)
            or (isinstance(call.args[0], ast.Name) and _is_one_of(scope, call.args[0].id, path))
        )
        for call in scope.calls
    )


def _appends_to(call: ast.Call, name: str) -> bool:
    return (
        method_of(call) == "append"
        and isinstance(call.func, ast.Attribute)
        and dotted(call.func.value) == name
    )


def _filled_by(scope: Scope, name: str) -> Amount:
    """What a loop that fills a list leaves out, by the test before it appends."""
    for node in scope.nodes:
        if isinstance(node, ast.If) and any(
            _appends_to(call, name) for item in node.body for call in calls_in(item)
        ):
            return _left_by(scope, node.test)
        if isinstance(node, ast.For) and any(
            _appends_to(call, name) and isinstance(call.args[0], ast.Subscript)
            for item in node.body
            for call in calls_in(item)
            if call.args
        ):
            count = scope.length(node.iter)
            return {"kept": count} if count else {}
    return {}


def _is_one_of(scope: Scope, name: str, path: re.Pattern[str]) -> bool:
    """Whether a name runs through layers in a loop that tests something first."""
    for node in scope.nodes:
        if not isinstance(node, ast.For) or not any(isinstance(one, ast.If) for one in node.body):
            continue
        over = [dotted(node.iter), *map(dotted, arguments_of(node.iter))]
        if name in names_in(node.target) and any(path.search(part) for part in over):
            return True
    return False


def _sliced(scope: Scope, index: ast.Slice) -> Amount:
    """What `layers[low:high:step]` leaves."""
    low, high, step = map(scope.whole, (index.lower, index.upper, index.step))
    if step is not None and step > 1:
        return {"sparsity": round(1.0 - 1.0 / step, 6)}
    if index.lower is None and high:
        return {"kept": high} if high > 0 else {"dropped": -high}
    return {"dropped": low} if index.upper is None and low and low > 0 else {}


def _gap(scope: Scope, value: ast.BinOp) -> Amount:
    """What lies between `layers[:a]` and `layers[b:]`."""
    slices = [item for item in ast.walk(value) if isinstance(item, ast.Slice)]
    ends = {scope.whole(item.upper) for item in slices if item.lower is None}
    starts = {scope.whole(item.lower) for item in slices if item.upper is None}
    end, start = next(iter(ends), None), next(iter(starts), None)
    if end is not None and start is not None and start > end >= 0:
        return {"dropped": start - end}
    return {}


def _listed(
    scope: Scope, value: ast.ListComp | ast.GeneratorExp, path: re.Pattern[str]
) -> Amount | None:
    """What a comprehension leaves; None where it is about something else."""
    source = value.generators[0]
    parts = [dotted(source.iter), *map(dotted, arguments_of(source.iter))]
    element = unwrapped(value.elt, "deepcopy", "copy")
    if isinstance(element, ast.Subscript) and path.search(dotted(element.value)):
        count = scope.length(source.iter)
        return {"kept": count} if count and not source.ifs else {}
    if not source.ifs or not any(path.search(part) for part in parts):
        return None
    return _left_by(scope, source.ifs[0])


def _left_by(scope: Scope, test: ast.expr) -> Amount:
    """What a test on a layer's number leaves: every n-th, or those of a list."""
    left = test.left if isinstance(test, ast.Compare) else None
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        step = scope.whole(left.right)
        one = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
        if step and step > 1:
            return {"sparsity": round(1 - 1 / step if one else 1 / step, 6)}
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In | ast.NotIn):
        count = scope.length(test.comparators[0])
        return {"kept" if isinstance(test.ops[0], ast.In) else "dropped": count} if count else {}
    return {}


def deleted(scope: Scope, node: ast.Delete) -> Iterator[Found]:
    """`del model.layers[20:28]`."""
    for target in node.targets:
        if not isinstance(target, ast.Subscript) or not LAYERS.search(dotted(target.value)):
            continue
        amount: Amount = _times(scope, target.slice)
        if isinstance(target.slice, ast.Slice):
            low, high = scope.whole(target.slice.lower), scope.whole(target.slice.upper)
            amount = {}
            if low is not None and high is not None and high > low >= 0:
                amount = {"dropped": high - low}
            elif low and target.slice.upper is None:
                amount = {"kept": low} if low > 0 else {"dropped": -low}
        yield pruned(node, "layers", "removed", amount)


def popped(scope: Scope, node: ast.Call) -> Iterator[Found]:
    """`model.layers.pop(20)`."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if owner is not None and LAYERS.search(dotted(owner)):
        yield pruned(node, "layers", "removed", _times(scope, node.args[0] if node.args else None))


def _times(scope: Scope, index: ast.expr | None) -> Amount:
    """One layer, or as many as a loop over a literal takes out."""
    if isinstance(index, ast.Name):
        count = scope.length(scope.loops.get(index.id))
        return {"dropped": count} if count else {}
    return {"dropped": 1}


def narrowed(scope: Scope, node: ast.Assign, value: ast.expr) -> Iterator[Found]:
    """A weight made of chosen rows or columns of another, or of heads brought together."""
    path = dotted(node.targets[0])
    if _KEYS.search(path) and any(method_of(call) == "mean" for call in scope.calls):
        heads = next((n for call in scope.calls if method_of(call) in {"view", "reshape"}
                      and call.args and (n := scope.whole(call.args[0]))), None)  # fmt: skip
        if heads and heads > 0:
            yield Found(Setting("attention", {"variant": "gqa", "kv_heads": heads}), node)
            return
    if _is_own_shard(value):
        yield Found(Setting("tensor_parallel", {"size": "all"}), node)
        return
    index = _selected(value)
    if index is not None:
        by_heads = HEAD.search(ast.unparse(index)) or names_in(index) & scope.about_heads
        attends = _ATTENDS.search(path) is not None
        if by_heads and attends:
            yield pruned(node, "heads", "removed")
        else:
            yield pruned(node, "channels", "removed", _width(scope, index))


def _is_own_shard(value: ast.expr) -> bool:
    """`w.chunk(world, dim=0)[rank]`: this device's part of a weight."""
    return any(
        isinstance(item, ast.Subscript)
        and isinstance(item.value, ast.Call)
        and method_of(item.value) in {"chunk", "split", "tensor_split"}
        and "rank" in ast.unparse(item.slice)
        for item in ast.walk(value)
    )


def _width(scope: Scope, index: ast.AST) -> Amount:
    """How many rows or columns an index keeps, where it is counted."""
    for item in ast.walk(index):
        known = scope.known.get(item.id) if isinstance(item, ast.Name) else None
        for call in calls_in(known) if known is not None else ():
            if method_of(call) in {"topk", "arange"} and call.args:
                count = scope.whole(call.args[-1] if method_of(call) == "arange" else call.args[0])
                count = count or scope.whole(call.args[-1])
                return {"width": count} if count and count > 0 else {}
        if isinstance(item, ast.Slice) and item.lower is None and (n := scope.whole(item.upper)):
            return {"width": n} if n > 0 else {}
    return {}


def _selected(value: ast.expr) -> ast.AST | None:
    """The index by which rows or columns of a weight are chosen."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and method_of(node) == "index_select":
            return node
        if isinstance(node, ast.Subscript) and WEIGHT.search(dotted(node.value)):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for part in parts:
                bounded = isinstance(part, ast.Slice) and part.upper is not None
                if bounded or isinstance(part, ast.Name | ast.Attribute):
                    return node.slice
    return None


def window(scope: Scope, value: ast.expr) -> tuple[ast.AST, Amount] | None:
    """Where `k[:, :, -window:]` stands, and the tokens it keeps of a cache."""
    for node in ast.walk(value):
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
            continue
        parts = node.slice.elts
        dots = isinstance(parts[0], ast.Constant) and parts[0].value is Ellipsis
        last = next((part for part in (parts[1:2] if dots else parts[2:3])), None)
        if isinstance(last, ast.Slice) and isinstance(last.lower, ast.UnaryOp) and not last.upper:
            count = scope.whole(last.lower.operand)
            if count is None or count > 1:
                return node, {} if count is None else {"kept": count}
    return None


def windowed(scope: Scope, node: ast.AST, value: ast.expr) -> Iterator[Found]:
    """A cache of which only the last tokens, or chosen ones, are kept."""
    sizes = [n for name in scope.known if _BUDGET.match(name) and (n := _size(scope, name))]
    budget: Amount = {"kept": sum(sizes)} if sizes else {}
    place, amount = window(scope, value) or (node, None)
    if amount is None and any(_gathers_tokens(scope, call) for call in calls_in(value)):
        amount = budget
    if amount is not None:
        yield Found(Setting("prune", {"pattern": "kv_tokens", **(amount or budget)}), place)


def _size(scope: Scope, name: str) -> int:
    return max(scope.whole(scope.known[name]) or 0, 0)


_TOKENS: Final = frozenset({2, -2})
"""The dimension of tokens in a cache, from either end."""


def _gathers_tokens(scope: Scope, call: ast.Call) -> bool:
    """`k.gather(2, index)`, `k.index_select(2, keep)`."""
    if method_of(call) not in {"gather", "index_select"} or not isinstance(
        call.func, ast.Attribute
    ):
        return False
    named = [word.value for word in call.keywords if word.arg == "dim"]
    first = next(iter([*named, *call.args[:1]]), None)
    return scope.whole(first) in _TOKENS and CACHE.search(ast.unparse(call.func.value)) is not None


def left_early(node: ast.For) -> Iterator[Found]:
    """A loop over layers that a confident token leaves."""
    over = [dotted(node.iter), *map(dotted, arguments_of(node.iter))]
    if not any(LAYERS.search(part) and "." in part for part in over):
        return
    for item in ast.walk(node):
        leaves = isinstance(item, ast.If) and any(
            isinstance(last, ast.Break | ast.Return) for last in item.body
        )
        if isinstance(item, ast.If) and leaves and _CONFIDENCE.search(ast.unparse(item.test)):
            yield Found(Setting("early_exit", {"mean_depth": "unknown"}), item)
            return
