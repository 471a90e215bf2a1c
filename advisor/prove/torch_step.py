"""The decode step of a deployment in torch: its own shapes, random weights.

Faithful to what costs time and not to what is said: every matrix that a step streams is one
matmul over all its rows, every cache is attended to, every state is read and written, residuals
and norms stand where they stand. Activations of another width than at hand are repeated or cut,
so that any architecture the ledger counts can be built, one with rows removed among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any, Final

import torch
from torch.nn import functional

from advisor.ledger.holdings import weight_format
from advisor.ledger.shapes import Cache, CacheKind, Layer, Routing, Tensor, Use
from advisor.ledger.step import distinct_experts
from advisor.prove.experiments import Missing, Variant

DTYPES: Final[dict[str, Any]] = {
    "fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16,
}  # fmt: skip
_GROUP: Final = 128
_TILES: Final = 8
"""Inner tiles of the packed 4-bit layout on GPUs, the largest that the kernel takes."""
_ROWS: Final = 64
"""The packed kernels take rows in such multiples; a vocabulary is padded to it."""
_BLOCK_BYTES: Final = 2**27
_ALIGNMENT: Final = 256
Matmul = Callable[[Any], Any]


class Arena:
    """Weights side by side in a few large blocks, so that all variants lie alike in memory.

    Tensors allocated one by one land on small or huge pages as the allocator's history has it,
    which alone moves the time of a step on CPUs by a tenth.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self.block: Any = None
        self.used_bytes = 0

    def take(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Room for a tensor, not filled."""
        size = prod(shape) * dtype.itemsize
        if self.block is None or self.used_bytes + size > self.block.numel():
            room = max(_BLOCK_BYTES, size)
            self.block = torch.empty(room, dtype=torch.uint8, device=self._device)
            self.used_bytes = 0
        part = self.block[self.used_bytes : self.used_bytes + size].view(dtype).view(shape)
        self.used_bytes += -(-size // _ALIGNMENT) * _ALIGNMENT
        return part

    def hold(self, values: Any) -> Any:
        """A tensor moved in."""
        return self.take(tuple(values.shape), values.dtype).copy_(values)


class Weights:
    """Random weights of one form of a model, in `copies` that are taken in turn."""

    def __init__(self, variant: Variant, device: str, dtype: Any, copies: int) -> None:
        """Build them.

        Raises:
            Missing: where a format has no kernel that torch itself brings.

        """
        self._variant, self._device, self.dtype = variant, device, dtype
        self.arena = Arena(device)
        self.copies = [self._copy() for _ in range(copies)]

    def _copy(self) -> tuple[list[list[list[Matmul]]], list[Matmul]]:
        """Of every layer and tensor its matrices (several for experts), and those outside."""
        model = self._variant.deployment.model
        layers = [
            [self._matrices(tensor) for tensor in layer.tensors]
            for layer in model.layers
            for _ in range(layer.count)
        ]
        outside = [
            self._matmul(tensor, tensor.shape)
            for tensor in model.tensors
            if tensor.use is Use.MATMUL or (model.tied and tensor.name == "embed_tokens")
        ]
        return layers, outside

    def _matrices(self, tensor: Tensor) -> list[Matmul]:
        if tensor.use is Use.MATMUL:
            return [self._matmul(tensor, tensor.shape) for _ in range(tensor.count)]
        if tensor.use is Use.EXPERT:
            return [self._matmul(tensor, tensor.shape[1:]) for _ in range(tensor.shape[0])]
        return []

    def _matmul(self, tensor: Tensor, shape: tuple[int, ...]) -> Matmul:
        deployment = self._variant.deployment
        form = weight_format(tensor, deployment)
        width = shape[-1]
        rows = prod(shape[:-1])
        if form.is_wide:
            return self._wide(rows, width, DTYPES.get(form.name, self.dtype))
        if form.name == "int8":
            return self._int8(rows, width)
        if form.name == "int4-g128":
            return self._int4(rows, width)
        raise Missing(f"no kernel for {form.name} weights is known to torch itself")

    def _wide(self, rows: int, width: int, dtype: Any) -> Matmul:
        weight = self.arena.take((rows, width), dtype)
        weight.uniform_(-1.0, 1.0).div_(width**0.5)
        if self._variant.zeros:
            keep = torch.rand(rows, width, device=self._device) >= self._variant.zeros
            weight.mul_(keep)
        if dtype == self.dtype:
            return lambda taken: functional.linear(taken, weight)
        return lambda taken: functional.linear(taken.to(dtype), weight).to(self.dtype)

    def _int8(self, rows: int, width: int) -> Matmul:
        weight = self.arena.take((rows, width), torch.int8).random_(-127, 127)
        scale = torch.full((rows,), 1e-3, dtype=self.dtype, device=self._device)
        kernel = torch._weight_int8pack_mm  # noqa: SLF001  the weight-only kernel has no other name
        return lambda taken: kernel(taken, weight, scale)

    def _int4(self, rows: int, width: int) -> Matmul:
        if width % _GROUP:
            raise Missing(f"the 4-bit kernel needs widths in multiples of {_GROUP}, not {width}")
        rows = -(-rows // _ROWS) * _ROWS
        scales = torch.full((width // _GROUP, rows, 2), 1e-3, device=self._device)
        scales = scales.to(self.dtype)
        if self._device == "cpu":
            codes = torch.randint(0, 15, (rows, width), dtype=torch.int32)
            packed = self.arena.hold(
                torch._convert_weight_to_int4pack_for_cpu(codes, 1)  # noqa: SLF001
            )
            kernel = torch._weight_int4pack_mm_for_cpu  # noqa: SLF001
            return lambda taken: kernel(taken, packed, _GROUP, scales)
        halves = torch.randint(0, 255, (rows, width // 2), dtype=torch.uint8, device=self._device)
        packed = self.arena.hold(
            torch._convert_weight_to_int4pack(halves, _TILES)  # noqa: SLF001
        )
        kernel = torch._weight_int4pack_mm  # noqa: SLF001
        return lambda taken: kernel(taken, packed, _GROUP, scales)


class DecodeStep:
    """A step on built weights; calling it runs it once, on the next copy of the weights."""

    def __init__(self, variant: Variant, device: str, weights: Weights) -> None:
        """Build caches and the order of operations."""
        self._variant, self._device = variant, device
        self._dtype = weights.dtype
        deployment = variant.deployment
        self._rows = deployment.batch * (2 if variant.doubled else 1)
        start = torch.randn(self._rows, deployment.model.hidden, device=device)
        self._start = start.to(self._dtype)
        self._copies = [list(self._operations(*copy)) for copy in weights.copies]
        self._turn = 0

    def __call__(self) -> Any:
        """Run one step."""
        self._turn += 1
        return self.run_copy(self._turn % len(self._copies))

    @property
    def copies(self) -> int:
        """How many copies of the weights there are."""
        return len(self._copies)

    def run_copy(self, number: int) -> Any:
        """Run the step on one copy of the weights."""
        hidden = self._start
        for operation in self._copies[number]:
            hidden = operation(hidden)
        return hidden

    def _operations(
        self, layers: list[list[list[Matmul]]], outside: list[Matmul]
    ) -> Iterator[Matmul]:
        model = self._variant.deployment.model
        built = iter(layers)
        for layer in model.layers:
            for _ in range(layer.count):
                yield self._layer(layer, next(built))
        widths = [
            tensor.shape[-1]
            for tensor in model.tensors
            if tensor.use is Use.MATMUL or (model.tied and tensor.name == "embed_tokens")
        ]
        for width, multiply in zip(widths, outside, strict=True):
            yield partial(_fitted, multiply, width)

    def _layer(self, layer: Layer, matrices: list[list[Matmul]]) -> Matmul:
        """Matrices one after another, each on what the last one of its input's width gave."""
        hidden_size = self._variant.deployment.model.hidden
        weight = torch.ones(hidden_size, device=self._device, dtype=self._dtype)
        steps: list[tuple[str, int, Matmul]] = []
        for tensor, built in zip(layer.tensors, matrices, strict=True):
            used = built
            if tensor.use is Use.EXPERT:
                used = self._routed(layer.routing, built)
            steps += [(tensor.name, tensor.shape[-1], multiply) for multiply in used]
        attends = [self._attention(cache) for cache in layer.caches]
        state = None
        if layer.state is not None:
            elements = layer.state.elements + layer.state.conv_elements
            state = torch.zeros(self._variant.deployment.batch, elements, device=self._device)
        joins = [place for place, step in enumerate(steps) if step[0] in {"o_proj", "out_proj"}]
        mixes_at = joins[0] if joins else 0

        def run(hidden: Any) -> Any:
            normed = functional.layer_norm(hidden, (hidden_size,), weight)
            latest = {hidden_size: normed}
            wide = normed
            for place, (name, width, multiply) in enumerate(steps):
                if place == mixes_at:
                    for attend in attends:
                        wide = attend(wide)
                    if state is not None:
                        state.mul_(0.5).add_(1.0)
                taken = wide if name in _JOINING else latest.get(width, wide)
                wide = multiply(_fit(taken, width))
                if name in _GATED:
                    wide = functional.silu(wide)
                if name in _JOINING:
                    hidden = hidden + _fit(wide, hidden_size)
                    normed = functional.layer_norm(hidden, (hidden_size,), weight)
                    latest[hidden_size] = normed
            return hidden

        return run

    def _routed(self, routing: Routing | None, experts: list[Matmul]) -> list[Matmul]:
        """As many experts as the tokens are expected to touch, each with its part of them."""
        top_k = routing.top_k if routing is not None else len(experts)
        read = max(round(distinct_experts(len(experts), top_k, self._rows)), 1)
        tokens = max(round(self._rows * top_k / read), 1)
        if tokens >= self._rows:
            return experts[:read]
        again = -(-self._rows // tokens)

        def some(multiply: Matmul) -> Matmul:
            return lambda taken: multiply(taken[:tokens]).repeat(again, 1)[: self._rows]

        return [some(multiply) for multiply in experts[:read]]

    def _attention(self, cache: Cache) -> Callable[[Any], Any]:
        deployment = self._variant.deployment
        entries = max(cache.read_entries(deployment.context), 1)
        attention = deployment.model.attention
        query_tokens = 2 if self._variant.doubled else 1
        batch = deployment.batch
        heads = attention.heads if attention is not None else cache.kv_heads
        groups = cache.kv_heads if cache.kind is CacheKind.KV else 1
        width = max(cache.elements // (2 * groups if cache.kind is CacheKind.KV else 1), 1)
        heads = max(heads // groups, 1) * groups
        stored = (batch, groups, entries, width)
        keys = torch.randn(stored, device=self._device).to(self._dtype)
        # A latent cache holds keys and values in one.
        values = torch.randn_like(keys) if cache.kind is CacheKind.KV else keys

        def attend(wide: Any) -> Any:
            query = _fit(wide, heads * width).view(batch, query_tokens, heads, width)
            # Query heads of one group read the same keys: they stand as rows of one matmul.
            rows = query.transpose(1, 2).reshape(batch, groups, -1, width)
            mixed = functional.scaled_dot_product_attention(rows, keys, values)
            return mixed.reshape(batch * query_tokens, heads * width)

        return attend


_JOINING: Final = frozenset({"o_proj", "out_proj", "down_proj"})
"""Matrices that take what was computed last and add to the residual."""
_GATED: Final = frozenset({"gate_proj", "fc_in"})


def _fitted(multiply: Matmul, width: int, values: Any) -> Any:
    return multiply(_fit(values, width))


def _fit(values: Any, width: int) -> Any:
    """Rows of another width: cut, or repeated and cut."""
    have = values.shape[-1]
    if have == width:
        return values
    if have > width:
        return values[..., :width].contiguous()
    return values.repeat(1, -(-width // have))[..., :width].contiguous()
