"""Code on tensors: masks on weights, heads zeroed, layers and channels taken out, SVD, windows.

Each function is read by itself. What is only masked keeps its shape and is read as before; what
is sliced out is gone; factors multiplied back are the full matrix again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Setting
from advisor.readers.python.calls import Found
from advisor.readers.python.values import dotted

_WEIGHT: Final = re.compile(r"(?:^|\.)(?:weights?|W|w|kernel)(?:\.data)?(?:$|\[)")
_PARAMETER: Final = re.compile(r"^(?:p|param|parameter|tensor|t)(?:\.data)?$")
"""Names under which loops hold the weights of a whole model."""
_MASK: Final = re.compile(r"mask", re.IGNORECASE)
_HEAD: Final = re.compile(r"head", re.IGNORECASE)
_LAYERS: Final = re.compile(r"(?:^|\.)(?:\w*layers?|h|blocks?)$")
_EXPERTS: Final = re.compile(r"(?:^|\.)experts$")
_CHOSEN: Final = re.compile(r"mask|prun|thresh|zero|drop|sparse|< |<=|indices|where", re.IGNORECASE)
_SIMULATES: Final = re.compile(
    r"^_?(?:fake|pseudo|sim\w*|rtn|dequant\w*|round)?_*(?:de)?quanti[sz]e?(?!r)\w*|fake_quant\w*",
    re.IGNORECASE,
)
_WIDTH: Final = re.compile(r"bit|^q$")
_WIDEST: Final = 8
_GATES: Final = re.compile(r"head_?(?:mask|gate)s?", re.IGNORECASE)
_CACHE: Final = re.compile(r"past|cache|\bk_?v?\b|\bkeys?\b|key_states", re.IGNORECASE)
_KEPT: Final = re.compile(r"kv|cache|past|^keys?(?:_states?)?$|^values?(?:_states?)?$")
_CONFIDENCE: Final = re.compile(r"conf|entropy|prob|exit|thresh|saturat", re.IGNORECASE)
_SVD: Final = frozenset({"svd", "svd_lowrank", "svds"})
_OF_WEIGHTS: Final = re.compile(
    r"weight|\bW|\bw\b|\.data\b|param|proj|kernel|\bmat|linear|\blayer|\bfc|delta"
)
_HOLDERS: Final = frozenset({"Linear", "Sequential", "LowRankLinear", "SVDLinear", "Parameter"})
_KEYS: Final = re.compile(r"\b[kv]_proj\b")

_GRIDS: Final[Mapping[tuple[int | None, ...], str]] = MappingProxyType(
    {
        (-128, 127): "int8", (-127, 127): "int8", (0, 255): "int8",
        (-8, 7): "int4", (-7, 7): "int4", (0, 15): "int4", (-4, 3): "int3", (0, 7): "int3",
        (-2, 1): "int2", (0, 3): "int2", (-1, 1): "ternary",
    }
)  # fmt: skip
"""Ends of integer grids and what they are."""

Amount = Mapping[str, object]


class Scope:
    """One function's code on tensors."""

    def __init__(
        self,
        body: list[ast.stmt],
        known: Mapping[str, ast.expr],
        functions: Mapping[str, Mapping[str, ast.expr]],
    ) -> None:
        """Gather the nodes of a body.

        `known` are names whose values are known from outside, `functions` the file's own with
        the defaults of their parameters.
        """
        self._nodes = list(_nodes(body))
        self._calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._known = dict(known)
        self._functions = functions
        self._about_heads: set[str] = set()
        self._loops = {
            node.target.id: node.iter
            for node in self._nodes
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
        }
        for node in self._nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._known.setdefault(node.targets[0].id, node.value)
                if _HEAD.search(ast.unparse(node.value)):
                    self._about_heads.add(node.targets[0].id)
        self._packs = any(method_of(call).startswith("to_sparse") for call in self._calls)

    def found(self) -> Iterator[Found]:
        """Every idiom, in order of the text."""
        yield from self._low_rank()
        for node in self._nodes:
            match node:
                case ast.Call():
                    yield from self._of_call(node)
                case ast.Assign():
                    yield from self._of_assign(node, node.targets[0], node.value)
                case ast.AugAssign() if isinstance(node.op, ast.Mult):
                    if _WEIGHT.search(dotted(node.target)) and _is_mask(node.value):
                        yield from self._masked(node)
                case ast.Return() if node.value is not None:
                    yield from self._gated(node, node.value)
                    yield from self._narrow_cache(node, node.value)
                    if _CACHE.search(ast.unparse(node.value)):
                        amount = self._window(node.value)
                        if amount is not None:
                            yield Found(Setting("prune", {"pattern": "kv_tokens", **amount}), node)
                case ast.Delete():
                    yield from self._deleted(node)
                case ast.For():
                    yield from self._left_early(node)

    # Weights set to zero

    def _of_call(self, node: ast.Call) -> Iterator[Found]:
        method = method_of(node)
        if method == "register_buffer" and len(node.args) > 1:
            yield from self._packed(node, node.args[1])
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if method == "pop" and owner is not None and _LAYERS.search(dotted(owner)):
            yield _pruned(
                node, "layers", "removed", self._times(node.args[0] if node.args else None)
            )
        if owner is None:
            return
        if method == "mul_" and _PARAMETER.match(dotted(owner)) and self._holds_weights(owner):
            if any(map(_is_mask, node.args[:1])):
                yield from self._masked(node)
            return
        if not _WEIGHT.search(dotted(owner)):
            return
        if method == "zero_" or (method == "fill_" and node.args and _is_zero(node.args[0])):
            yield from self._zeroed(node, owner)
        elif method in {"mul_", "masked_fill_"} and any(map(_is_mask, node.args[:1])):
            yield from self._masked(node)

    def _holds_weights(self, node: ast.expr) -> bool:
        """Whether a name runs through the parameters of a model."""
        name = dotted(node).partition(".")[0]
        return any(
            isinstance(item, ast.For)
            and name in {part.id for part in ast.walk(item.target) if isinstance(part, ast.Name)}
            and "parameters" in ast.unparse(item.iter)
            for item in self._nodes
        )

    def _zeroed(self, node: ast.AST, target: ast.expr) -> Iterator[Found]:
        """A slice of a weight set to zero: heads by its bounds, single weights by a mask."""
        if not isinstance(target, ast.Subscript):
            return
        index = ast.unparse(target.slice)
        names = {item.id for item in ast.walk(target.slice) if isinstance(item, ast.Name)}
        parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(part, ast.Constant) and type(part.value) is int for part in parts):
            return  # one row or column: a padding, or the start of an initialisation
        whole = isinstance(target.slice, ast.Tuple)
        if _HEAD.search(index) or names & self._about_heads:
            yield _pruned(node, "heads", "masked")
        elif whole or isinstance(target.slice, ast.Slice):
            yield _pruned(node, "channels", "masked")
        elif _chooses(target.slice):
            yield from self._masked(node)

    def _masked(self, node: ast.AST) -> Iterator[Found]:
        if not self._packs:
            yield _pruned(node, "2:4" if self._is_two_of_four() else "unstructured", "dense")

    def _is_two_of_four(self) -> bool:
        """Whether a mask of the scope picks some of every four."""
        for call in self._calls:
            if method_of(call) in {"view", "reshape", "unflatten", "chunk"} and call.args:
                last = call.args[-1]
                last = last.elts[-1] if isinstance(last, ast.Tuple) and last.elts else last
                if self._whole(last) == 4:
                    return True
        return False

    def _gated(self, node: ast.AST, value: ast.expr) -> Iterator[Found]:
        """`out * mask[:, :, None, None]` with a mask that is made for heads."""
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
            return
        for side in (value.left, value.right):
            text = ast.unparse(side)
            names = {item.id for item in ast.walk(side) if isinstance(item, ast.Name)}
            about_heads = _HEAD.search(text) or names & self._about_heads
            if about_heads and ("mask" in text.lower() or "gate" in text.lower()):
                yield _pruned(node, "heads", "masked")
                return

    def _rounded(self, node: ast.AST, value: ast.expr) -> Iterator[Found]:
        """`w = (w / s).round().clamp(-8, 7) * s`: rounded to a grid, and wide again."""
        ends = [
            self._whole(arg)
            for call in calls_in(value)
            if method_of(call) in {"clamp", "clip", "clamp_"}
            for arg in call.args[-2:]
        ]
        form = _GRIDS.get(tuple(ends), "auto")
        wide = not any("int8" in ast.unparse(arg) for call in calls_in(value) for arg in call.args)
        fields = {"weights": form} | ({"packed": False} if wide else {})
        yield Found(Setting("quantize", fields), node)

    def _simulated(self, node: ast.AST, call: ast.Call) -> Iterator[Found]:
        """`m.weight.data = pseudo_quantize_tensor(m.weight.data, n_bit=4)`: rounded, and wide."""
        given = [word.value for word in call.keywords if _WIDTH.search(word.arg or "")]
        bits = next((n for item in [*given, *call.args[1:]] if (n := self._whole(item))), None)
        if bits is None:
            bits = self._width_of(call)
        form = "auto" if bits is None else f"int{bits}"
        if bits is None or 1 <= bits <= _WIDEST:
            yield Found(Setting("quantize", {"weights": form, "packed": False}), node)

    def _width_of(self, call: ast.Call) -> int | None:
        """The width by default of a function of the file."""
        spec = self._functions.get(method_of(call))
        for name, value in spec.items() if spec is not None else ():
            if _WIDTH.search(name) and (bits := self._whole(value)):
                return bits
        return None

    def _packed(self, node: ast.AST, value: ast.expr) -> Iterator[Found]:
        """A weight rounded and kept as int8: as many bytes as it is read in, by a kernel."""
        words = {ast.unparse(arg) for call in calls_in(value) for arg in call.args}
        rounds = any(method_of(call) == "round" for call in calls_in(value))
        if rounds and any("int8" in word for word in words):
            condition = "a kernel that reads int8 weights: expanded first, they are read twice"
            yield Found(Setting("quantize", {"weights": "int8"}), node, condition)

    # Parts taken out

    def _of_assign(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> Iterator[Found]:
        path = dotted(target)
        if isinstance(target, ast.Subscript) and _is_zero(value):
            if _WEIGHT.search(dotted(target.value)):
                yield from self._zeroed(node, target)
            elif _GATES.search(dotted(target.value)):
                yield _pruned(node, "heads", "masked")
        elif _EXPERTS.search(path):
            yield from self._kept(node, value, "experts", _EXPERTS)
        elif _LAYERS.search(path) and "." in path:
            yield from self._kept(node, value, "layers", _LAYERS)
        elif _WEIGHT.search(path) and "round" in {method_of(call) for call in calls_in(value)}:
            yield from self._rounded(node, value)
        elif _WEIGHT.search(path):
            yield from self._of_weight(node, value)
        elif _CACHE.search(path) and (amount := self._window(value)) is not None:
            yield Found(Setting("prune", {"pattern": "kv_tokens", **amount}), node)
        else:
            yield from self._gated(node, value)
            yield from self._narrow_cache(node, value)

    def _narrow_cache(self, node: ast.AST, value: ast.expr) -> Iterator[Found]:
        """Keys or values rounded to int8 by hand: expanded again before attention reads them."""
        words = {ast.unparse(arg) for call in calls_in(value) for arg in call.args}
        rounds = any(method_of(call) == "round" for call in calls_in(value))
        if rounds and any("int8" in word for word in words):
            names = {dotted(item) for item in ast.walk(value) if isinstance(item, ast.Name)}
            if any(_KEPT.search(name) for name in names):
                fields = {"kv_cache": "int8", "in_kernel": False}
                yield Found(Setting("quantize", fields), node)

    def _of_weight(self, node: ast.Assign, value: ast.expr) -> Iterator[Found]:
        inner = value
        if isinstance(inner, ast.Call) and method_of(inner) in {"Parameter", "clone"}:
            inner = inner.args[0] if inner.args else inner
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
            if _mentions_mask(inner.left) or _mentions_mask(inner.right):
                yield from self._masked(node)
        elif isinstance(inner, ast.Call) and method_of(inner) == "where":
            if any(_is_zero(arg) or "zeros" in ast.unparse(arg) for arg in inner.args[1:]):
                yield from self._masked(node)
        elif isinstance(inner, ast.Call) and method_of(inner) == "masked_fill":
            yield from self._masked(node)
        elif isinstance(inner, ast.Call) and _SIMULATES.search(method_of(inner)):
            yield from self._simulated(node, inner)
        elif _KEYS.search(dotted(node.targets[0])) and any(
            method_of(call) == "mean" for call in self._calls
        ):
            heads = next((n for call in self._calls if method_of(call) in {"view", "reshape"}
                          and call.args and (n := self._whole(call.args[0]))), None)  # fmt: skip
            if heads:
                yield Found(Setting("attention", {"variant": "gqa", "kv_heads": heads}), node)
        elif _selects(value):
            yield _pruned(node, "channels", "removed")

    def _kept(
        self, node: ast.AST, value: ast.expr, pattern: str, path: re.Pattern[str]
    ) -> Iterator[Found]:
        """Layers or experts kept: a slice of them, two slices, or a list with a condition."""
        if isinstance(value, ast.Call) and method_of(value) == "ModuleList" and value.args:
            value = value.args[0]
        if isinstance(value, ast.Call) and method_of(value) == "list" and value.args:
            value = value.args[0]
        if isinstance(value, ast.Name) and isinstance(self._known.get(value.id), ast.ListComp):
            value = self._known[value.id]
        if isinstance(value, ast.Name) and self._is_filled(value.id, path):
            yield _pruned(node, pattern, "removed", self._filled_by(value.id))
        elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            if path.search(dotted(_inside_list(value.value))):
                yield _pruned(node, pattern, "removed", self._sliced(value.slice))
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            if any(
                isinstance(item, ast.Subscript) and path.search(dotted(item.value))
                for item in ast.walk(value)
            ):
                yield _pruned(node, pattern, "removed", self._gap(value))
        elif isinstance(value, ast.ListComp | ast.GeneratorExp):
            amount = self._listed(value, path)
            if amount is not None:
                yield _pruned(node, pattern, "removed", amount)

    def _is_filled(self, name: str, path: re.Pattern[str]) -> bool:
        """Whether a list is filled with chosen items: `new.append(old[i])`, `new.append(layer)`."""
        return any(
            method_of(call) == "append"
            and isinstance(call.func, ast.Attribute)
            and dotted(call.func.value) == name
            and bool(call.args)
            and (
                isinstance(call.args[0], ast.Subscript)
                or (isinstance(call.args[0], ast.Name) and self._is_one_of(call.args[0].id, path))
            )
            for call in self._calls
        )

    def _filled_by(self, name: str) -> Amount:
        """What a loop that fills a list leaves out, by the test before it appends."""
        for node in self._nodes:
            if isinstance(node, ast.If) and any(
                method_of(call) == "append"
                and isinstance(call.func, ast.Attribute)
                and dotted(call.func.value) == name
                for item in node.body
                for call in calls_in(item)
            ):
                return self._left_by(node.test)
        return {}

    def _is_one_of(self, name: str, path: re.Pattern[str]) -> bool:
        """Whether a name runs through layers in a loop that tests something first."""
        for node in self._nodes:
            if not isinstance(node, ast.For) or not any(
                isinstance(item, ast.If) for item in node.body
            ):
                continue
            over = [dotted(node.iter), *map(dotted, getattr(node.iter, "args", []))]
            targets = {item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)}
            if name in targets and any(path.search(part) for part in over):
                return True
        return False

    def _sliced(self, index: ast.Slice) -> Amount:
        """What `layers[low:high:step]` leaves."""
        low, high, step = map(self._whole, (index.lower, index.upper, index.step))
        if step is not None and step > 1:
            return {"sparsity": round(1.0 - 1.0 / step, 6)}
        if index.lower is None and high:
            return {"kept": high} if high > 0 else {"dropped": -high}
        return {"dropped": low} if index.upper is None and low and low > 0 else {}

    def _gap(self, value: ast.BinOp) -> Amount:
        """What lies between `layers[:a]` and `layers[b:]`."""
        slices = [item for item in ast.walk(value) if isinstance(item, ast.Slice)]
        ends = {self._whole(item.upper) for item in slices if item.lower is None}
        starts = {self._whole(item.lower) for item in slices if item.upper is None}
        end, start = next(iter(ends), None), next(iter(starts), None)
        if end is not None and start is not None and start > end >= 0:
            return {"dropped": start - end}
        return {}

    def _listed(
        self, value: ast.ListComp | ast.GeneratorExp, path: re.Pattern[str]
    ) -> Amount | None:
        """What a comprehension leaves; None where it is about something else."""
        source = value.generators[0]
        parts = [dotted(source.iter), *map(dotted, getattr(source.iter, "args", []))]
        if isinstance(value.elt, ast.Subscript) and path.search(dotted(value.elt.value)):
            kept = self._length(source.iter)
            return {"kept": kept} if kept and not source.ifs else {}
        if not source.ifs or not any(path.search(part) for part in parts):
            return None
        return self._left_by(source.ifs[0])

    def _left_by(self, test: ast.expr) -> Amount:
        """What a test on a layer's number leaves: every n-th, or those of a list."""
        left = test.left if isinstance(test, ast.Compare) else None
        if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
            step = self._whole(left.right)
            one = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
            if step and step > 1:
                return {"sparsity": round(1 - 1 / step if one else 1 / step, 6)}
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In | ast.NotIn):
            count = self._length(test.comparators[0])
            return (
                {"kept" if isinstance(test.ops[0], ast.In) else "dropped": count} if count else {}
            )
        return {}

    def _deleted(self, node: ast.Delete) -> Iterator[Found]:
        """`del model.layers[20:28]`."""
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or not _LAYERS.search(dotted(target.value)):
                continue
            amount: Amount = self._times(target.slice)
            if isinstance(target.slice, ast.Slice):
                low, high = self._whole(target.slice.lower), self._whole(target.slice.upper)
                amount = {}
                if low is not None and high is not None and high > low >= 0:
                    amount = {"dropped": high - low}
                elif low and target.slice.upper is None:
                    amount = {"kept": low} if low > 0 else {"dropped": -low}
            yield _pruned(node, "layers", "removed", amount)

    def _times(self, index: ast.expr | None) -> Amount:
        """One layer, or as many as a loop over a literal takes out."""
        if isinstance(index, ast.Name):
            count = self._length(self._loops.get(index.id))
            return {"dropped": count} if count else {}
        return {"dropped": 1}

    def _window(self, value: ast.expr) -> Amount | None:
        """The tokens that `k[:, :, -window:]` keeps of a cache; None for other values."""
        for node in ast.walk(value):
            if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
                continue
            last = next(
                (part for part in node.slice.elts[2:3] if isinstance(part, ast.Slice)), None
            )
            if last is not None and isinstance(last.lower, ast.UnaryOp) and last.upper is None:
                kept = self._whole(last.lower.operand)
                if kept is None or kept > 1:
                    return {} if kept is None else {"kept": kept}
        return None

    def _left_early(self, node: ast.For) -> Iterator[Found]:
        """A loop over layers that a confident token leaves."""
        over = [dotted(node.iter), *map(dotted, getattr(node.iter, "args", []))]
        if not any(_LAYERS.search(part) and "." in part for part in over):
            return
        for item in ast.walk(node):
            leaves = isinstance(item, ast.If) and any(
                isinstance(last, ast.Break | ast.Return) for last in item.body
            )
            if isinstance(item, ast.If) and leaves and _CONFIDENCE.search(ast.unparse(item.test)):
                yield Found(Setting("early_exit", {"mean_depth": "unknown"}), item)
                return

    # SVD

    def _low_rank(self) -> Iterator[Found]:
        """SVD, cut at a rank: two thin factors kept apart, or multiplied back."""
        svd = next(
            (call for call in self._calls if method_of(call) in _SVD and self._is_of_weights(call)),
            None,
        )
        cut = any(
            isinstance(node, ast.Slice) and node.lower is None and node.upper is not None
            for node in self._nodes
        )
        if svd is None or not (cut or method_of(svd) == "svd_lowrank"):
            return
        product = self._product()
        apart = any(method_of(call) in _HOLDERS - {"Parameter"} for call in self._calls)
        fields = {"rank": self._rank(svd), "storage": "factored"}
        if product is not None and not apart:
            fields["storage"] = "multiplied"
        yield Found(Setting("low_rank", fields), svd if fields["storage"] == "factored" else
                    product or svd)  # fmt: skip

    def _is_of_weights(self, svd: ast.Call) -> bool:
        """Whether a decomposition is of a weight: by its name, or as nothing says otherwise."""
        held = svd.func.value if isinstance(svd.func, ast.Attribute) else None
        if held is not None and dotted(held).rpartition(".")[2] not in {"linalg", "torch", "np"}:
            text = ast.unparse(held) if not svd.args else ast.unparse(svd.args[0])
        else:
            text = ast.unparse(svd.args[0]) if svd.args else ""
        for _ in range(3):
            if _OF_WEIGHTS.search(text):
                return True
            known = self._known.get(text)
            if known is None:
                break
            text = ast.unparse(known)
        return any(
            _WEIGHT.search(dotted(node)) for node in self._nodes if isinstance(node, ast.Attribute)
        )

    def _rank(self, svd: ast.Call) -> object:
        given = [word.value for word in svd.keywords if word.arg in {"q", "k"}]
        given += [
            node.upper
            for node in self._nodes
            if isinstance(node, ast.Slice) and node.lower is None and node.upper is not None
        ]
        numbers = [number for item in given if (number := self._whole(item)) and number > 0]
        return numbers[0] if numbers else "unknown"

    def _product(self) -> ast.AST | None:
        """The statement that multiplies the factors back into a weight."""
        for node in self._nodes:
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

    # Numbers

    def _whole(self, node: ast.expr | None) -> int | None:
        """A whole number, also by its name."""
        sign = 1
        for _ in range(4):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                node, sign = node.operand, -sign
            elif isinstance(node, ast.Name):
                node = self._known.get(node.id)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return sign * node.value
        return None

    def _length(self, node: ast.expr | None) -> int | None:
        """How many items a literal has, also by its name."""
        for _ in range(4):
            if isinstance(node, ast.Name):
                node = self._known.get(node.id)
            if isinstance(node, ast.Call) and method_of(node) in {"set", "list", "tuple", "sorted"}:
                node = node.args[0] if node.args else None
        if isinstance(node, ast.Call) and method_of(node) == "range" and node.args:
            ends = [self._whole(arg) for arg in node.args[:2]]
            low, high = (0, ends[0]) if len(ends) == 1 else ends
            return max(high - low, 0) if high is not None and low is not None else None
        return len(node.elts) if isinstance(node, ast.List | ast.Tuple | ast.Set) else None


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Every call of an expression."""
    return (item for item in ast.walk(node) if isinstance(item, ast.Call))


def _inside_list(node: ast.expr) -> ast.expr:
    """The argument of `list(...)`; anything else as it is."""
    if isinstance(node, ast.Call) and method_of(node) in {"list", "ModuleList"} and node.args:
        return node.args[0]
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


def _pruned(node: ast.AST, pattern: str, storage: str, amount: Amount | None = None) -> Found:
    return Found(Setting("prune", {"pattern": pattern, "storage": storage, **(amount or {})}), node)


def _selects(value: ast.expr) -> bool:
    """Whether a weight is made of chosen rows or columns of another one."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and method_of(node) == "index_select":
            return True
        if isinstance(node, ast.Subscript) and _WEIGHT.search(dotted(node.value)):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for part in parts:
                bounded = isinstance(part, ast.Slice) and part.upper is not None
                if bounded or isinstance(part, ast.Name | ast.Attribute):
                    return True
    return False


def method_of(call: ast.Call) -> str:
    """The last word of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _chooses(index: ast.expr) -> bool:
    """Whether an index picks weights one by one: a mask, a comparison; one row is a padding."""
    if isinstance(index, ast.Compare | ast.UnaryOp | ast.BinOp):
        return True
    return _CHOSEN.search(ast.unparse(index)) is not None


def _mentions_mask(node: ast.AST) -> bool:
    return _MASK.search(ast.unparse(node)) is not None


def _compares(node: ast.AST) -> bool:
    """Whether a factor is a comparison with a threshold: zeros and ones."""
    return any(isinstance(item, ast.Compare) for item in ast.walk(node))


def _is_mask(node: ast.AST) -> bool:
    return _mentions_mask(node) or _compares(node)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and not node.value
