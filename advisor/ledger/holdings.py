"""What one rank holds of a model in given formats on given splits, before any work is counted.

Sums over tensors, caches and states along the path of one token through the devices of one rank.
`count_step` multiplies them by the work; `capacity_of` keeps them in memory.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

from advisor.deployment import Deployment, Parallelism, Sparsity
from advisor.ledger.formats import Format, parse_format
from advisor.ledger.shapes import (
    Architecture,
    Attention,
    Cache,
    CacheKind,
    Component,
    Routing,
    Tensor,
    Use,
)

ACTIVATION_BYTES: Final = 2
"""Activations pass between operators in 16 bits."""

_LATENT_DOWN: Final = frozenset({"kv_a_proj", "q_a_proj"})
"""MLA down-projections, which every rank of a tensor group holds whole."""

_NOT_STREAMED: Final = frozenset({Use.TABLE, Use.IDLE, Use.BUFFER})

_LINEAR: Final = frozenset(
    {
        Component.ATTENTION,
        Component.MLP,
        Component.EXPERTS,
        Component.SHARED_EXPERTS,
        Component.STATE,
    }
)
_OPERATOR_NAMES: Final = {
    Component.ATTENTION: "attention projections",
    Component.MLP: "MLP",
    Component.EXPERTS: "experts",
    Component.SHARED_EXPERTS: "shared experts",
    Component.ROUTER: "router",
    Component.STATE: "recurrent projections",
    Component.EMBEDDING: "embedding rows",
    Component.LM_HEAD: "lm_head",
    Component.NORMS: "norms",
    Component.VISION: "vision",
    Component.MTP: "MTP",
}


class _Weights(NamedTuple):
    """Weights of one kind and format on one rank, per pass."""

    name: str
    format: Format
    parameters: float
    bytes: float
    flops_per_token: float
    head: bool
    """Only the tokens that are sampled from pass through it."""


class _Experts(NamedTuple):
    """Routed experts of equal layers in one format on one rank."""

    format: Format
    experts: int
    top_k: int
    parameters: float
    """Of one expert, all such layers together, on one rank."""
    bytes: float


class _CachePlan(NamedTuple):
    cache: Cache
    bytes_per_entry: float
    """Read per entry and sequence, all such layers together, on one rank."""
    written_per_token: float
    flops_per_entry: float


class Holdings(NamedTuple):
    """A model in given formats on given splits, ready to be multiplied by the work."""

    weights: tuple[_Weights, ...]
    experts: tuple[_Experts, ...]
    row_bytes: float
    """Embedding rows one token gathers."""
    caches: tuple[_CachePlan, ...]
    state_bytes: float
    """Recurrent state of one sequence, read and written."""
    state_flops: float
    layers: int
    moe_layers: int
    resident_bytes: float
    """Weights kept on one device of one stage."""
    activation_width: float
    """Bytes of one token's activations inside one layer: residual, norms, MLP (what stays live)."""


def weight_format(tensor: Tensor, deployment: Deployment) -> Format:
    """The format a tensor is stored in under this deployment."""
    return _format_of(tensor, deployment.model, deployment.weights, deployment.lm_head)


def _is_head(tensor: Tensor, model: Architecture) -> bool:
    return tensor.component is Component.LM_HEAD or (model.tied and tensor.name == "embed_tokens")


def _format_of(
    tensor: Tensor, model: Architecture, weights: Format | None, lm_head: Format | None
) -> Format:
    stored = parse_format(tensor.stored_as or model.dtype)
    if weights is not None and weights.is_wide:
        stored = weights
    if _is_head(tensor, model):
        if lm_head is not None:
            return lm_head
        if weights is None or weights.is_wide:
            return stored
        return parse_format(weights.head or model.dtype)
    if tensor.component in _LINEAR and _is_streamed_matrix(tensor):
        return weights or stored
    return stored


def _stored_bytes(tensor: Tensor, form: Format, sparsity: Sparsity | None) -> float:
    bits = form.bits if form.mix is None else form.mix.get(tensor.name, form.bits)
    if sparsity is not None and tensor.component in _LINEAR and _is_streamed_matrix(tensor):
        bits = sparsity.bits(form, bits)
    rows = prod(tensor.shape[:-1]) * tensor.count
    return (tensor.elements * bits + rows * form.row_bits) / 8


def _is_streamed_matrix(tensor: Tensor) -> bool:
    return tensor.use in (Use.MATMUL, Use.EXPERT)


def _share(tensor: Tensor, parallelism: Parallelism, attention: Attention | None) -> float:
    """Part of a tensor that one rank of the tensor group holds and reads."""
    if tensor.component in (Component.ROUTER, Component.NORMS) or tensor.use is Use.VECTOR:
        return 1.0
    if tensor.use is Use.EXPERT:
        return 1.0 / max(parallelism.tensor, parallelism.expert)
    if tensor.component is Component.ATTENTION:
        ways = parallelism.attention_ways
        if attention is not None and attention.is_latent and tensor.name in _LATENT_DOWN:
            return 1.0
        if attention is not None and tensor.name in {"k_proj", "v_proj"}:
            ways = min(ways, attention.kv_heads)
        return 1.0 / ways
    return 1.0 / parallelism.tensor


@lru_cache(maxsize=512)
def _held(
    model: Architecture,
    weights: Format | None,
    lm_head: Format | None,
    kv_cache: Format,
    sparsity: Sparsity | None,
    parallelism: Parallelism,
) -> Holdings:
    """Sum a model's tensors, caches and states by what one rank does with them."""
    matrices: dict[tuple[str, Format, bool], list[float]] = {}
    experts: dict[tuple[Format, int, int], list[float]] = {}
    caches: dict[Cache, int] = {}
    row_bytes = resident = state_bytes = state_flops = 0.0

    def add(tensor: Tensor, layers: int, routing: Routing | None) -> None:
        nonlocal row_bytes, resident
        form = _format_of(tensor, model, weights, lm_head)
        stored = _stored_bytes(tensor, form, sparsity) * layers
        share = _share(tensor, parallelism, model.attention)
        elements = tensor.elements * layers
        if tensor.component is not Component.MTP and not tensor.shared:
            resident += stored * share
        is_head = _is_head(tensor, model)
        if tensor.use is Use.TABLE:
            # One row a token. A tied table is also streamed whole, as the output head.
            row_bytes += stored * tensor.shape[-1] * tensor.count / max(tensor.elements, 1)
        if tensor.use in _NOT_STREAMED and not is_head:
            return
        if tensor.use is Use.EXPERT and routing is not None:
            sums = experts.setdefault((form, routing.experts, routing.top_k), [0.0, 0.0])
            sums[0] += elements * share / routing.experts
            sums[1] += stored * share / routing.experts
            return
        name = "lm_head" if is_head else _OPERATOR_NAMES[tensor.component]
        if tensor.use is Use.VECTOR:
            name = _OPERATOR_NAMES[Component.NORMS]
        sums = matrices.setdefault((name, form, is_head), [0.0, 0.0, 0.0])
        sums[0] += elements * share
        sums[1] += stored * share
        sums[2] += 2.0 * elements * share if is_head or tensor.use is Use.MATMUL else 0.0

    for tensor in model.tensors:
        add(tensor, 1, None)
    moe_layers = 0
    for layer in model.layers:
        for tensor in layer.tensors:
            add(tensor, layer.count, layer.routing)
        for cache in layer.caches:
            caches[cache] = caches.get(cache, 0) + layer.count
        if layer.state is not None:
            state = layer.state
            # The recurrent part keeps its own width; convolution columns are 16-bit.
            state_bits = state.elements * state.bits + state.conv_elements * 16
            state_bytes += state_bits / 8 * layer.count / parallelism.tensor
            state_flops += state.flops * layer.count / parallelism.tensor
        moe_layers += layer.count if layer.routing is not None else 0
    return Holdings(
        weights=tuple(
            _Weights(name, form, parameters, stored, flops, head)
            for (name, form, head), (parameters, stored, flops) in matrices.items()
        ),
        experts=tuple(
            _Experts(form, count, top_k, parameters, stored)
            for (form, count, top_k), (parameters, stored) in experts.items()
        ),
        row_bytes=row_bytes,
        caches=tuple(
            _cache_plan(cache, count, kv_cache, parallelism) for cache, count in caches.items()
        ),
        state_bytes=state_bytes,
        state_flops=state_flops,
        layers=model.layer_count,
        moe_layers=moe_layers,
        resident_bytes=resident / parallelism.pipeline,
        activation_width=(4 * model.hidden + model.intermediate) * ACTIVATION_BYTES,
    )


def _cache_plan(cache: Cache, count: int, form: Format, parallelism: Parallelism) -> _CachePlan:
    ways = parallelism.attention_ways
    share = 1.0 / min(ways, cache.kv_heads) if cache.kind is CacheKind.KV else 1.0
    share /= parallelism.context
    entry_bytes = cache.elements * form.bits / 8 * count * share
    writes = 0.0 if cache.borrowed or cache.kind is CacheKind.CROSS else 1.0
    return _CachePlan(
        cache, entry_bytes, writes * entry_bytes / cache.tokens_per_entry,
        cache.flops * count / ways / parallelism.context,
    )  # fmt: skip


def holdings_of(deployment: Deployment) -> Holdings:
    """The cached sums that `count_step` multiplies by the work."""
    return _held(
        deployment.model,
        deployment.weights,
        deployment.lm_head,
        deployment.kv_cache,
        deployment.sparsity,
        deployment.parallelism,
    )
