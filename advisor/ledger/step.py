"""One step of a deployment, counted: operators with their bytes and FLOPs, and what is resident.

Everything is counted along the path of one token through the devices of one rank: what one
device of a tensor-parallel group reads, over all pipeline stages. Totals over all devices are
the path times the devices that do the same at the same time. Formulas: model sizes and caches
from the shapes; 2 FLOP per weight and token; expected distinct experts E*(1-(1-k/E)^T) for T
tokens routed independently; ring all-reduce traffic 2*(n-1)/n of the message per device.
"""

from __future__ import annotations

import math
from functools import lru_cache
from math import ceil, prod
from typing import Final, Literal, NamedTuple

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

Resource = Literal["weights", "kv", "state", "activations", "host", "communication"]

RUNTIME_BYTES: Final = 1.0e9
"""Memory an engine takes beside weights and cache (context, workspace, graphs)."""

_ACTIVATION_BYTES: Final = 2
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


class Operator(NamedTuple):
    """One kind of work in a step, summed over layers, on one rank's path."""

    name: str
    resource: Resource
    format: Format | None
    parameters: float
    """Weights behind the bytes read (the dequantization work); 0 where it reads no weights."""
    read_bytes: float
    written_bytes: float
    flops: float
    shared: bool
    """Read once for the whole batch (weights) rather than once per sequence (caches, states)."""


class Communication(NamedTuple):
    """Collectives and hops of one step on one rank's path."""

    all_reduces: float = 0.0
    all_reduce_bytes: float = 0.0
    """Message of one all-reduce."""
    all_to_alls: float = 0.0
    all_to_all_bytes: float = 0.0
    """Message of one all-to-all, per device."""
    hops: int = 0
    """Pipeline boundaries a token crosses."""
    bytes: float = 0.0
    """Sent by one device in the step."""


_SILENCE: Final = Communication()


class Ledger(NamedTuple):
    """What one step moves and computes. Byte fields are of one rank's path unless they say so."""

    operators: tuple[Operator, ...]
    communication: Communication
    ranks: int
    """Devices that walk such a path at the same time: totals are path times ranks."""
    passes: int
    """Passes over the stages that one step of all sequences takes (pipeline micro-batches)."""
    sequences: int
    """Sequences in one pass of one rank's group."""
    tokens: int
    """Tokens one pass computes: sequences times query tokens."""
    layers: float
    """Layers a token runs through (fixed time counts them)."""
    weight_bytes: float
    kv_read_bytes: float
    kv_write_bytes: float
    state_bytes: float
    activation_bytes: float
    host_bytes: float
    """Bytes that one pass reads over the host link (or from NVMe), on one rank."""
    flops: float

    @property
    def memory_bytes(self) -> float:
        """Bytes to and from device memory on one rank's path."""
        return (
            self.weight_bytes
            + self.kv_read_bytes
            + self.kv_write_bytes
            + self.state_bytes
            + self.activation_bytes
        )

    @property
    def total_factor(self) -> int:
        """From one rank's pass to the whole step of all devices."""
        return self.ranks * self.passes


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


class _Plan(NamedTuple):
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
def _plan(
    model: Architecture,
    weights: Format | None,
    lm_head: Format | None,
    kv_cache: Format,
    sparsity: Sparsity | None,
    parallelism: Parallelism,
) -> _Plan:
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
    return _Plan(
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
        activation_width=(4 * model.hidden + model.intermediate) * _ACTIVATION_BYTES,
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


def plan_of(deployment: Deployment) -> _Plan:
    """The cached sums that `count_step` multiplies by the work."""
    return _plan(
        deployment.model,
        deployment.weights,
        deployment.lm_head,
        deployment.kv_cache,
        deployment.sparsity,
        deployment.parallelism,
    )


def distinct_experts(experts: int, top_k: int, tokens: float) -> float:
    """Experts that `tokens` tokens are expected to touch, routed independently and evenly.

    An upper estimate: real routing is correlated. E*(1-(1-k/E)^T), k at one token.
    """
    return experts * (1.0 - math.pow(1.0 - top_k / experts, tokens))


def count_step(deployment: Deployment) -> Ledger:
    """Count one step: a decode step for all sequences, or the prefill of their prompts."""
    plan = plan_of(deployment)
    parallelism = deployment.parallelism
    batch = deployment.batch
    replicas = min(parallelism.data, batch)
    per_replica = ceil(batch / replicas) if replicas > 1 else batch
    passes = min(parallelism.pipeline, per_replica)
    sequences = ceil(per_replica / passes) if passes > 1 else per_replica
    query = deployment.query_tokens
    tokens = sequences * query
    decoding = deployment.phase == "decode"
    head_tokens = tokens if decoding else sequences
    depth = deployment.depth
    skip = deployment.activation_sparsity
    # Rows that no token of the pass activates are skipped: the union over tokens is read.
    kept = depth * (1.0 - skip**tokens) if skip else depth
    moved = kept * deployment.weight_traffic
    operators: list[Operator] = []
    weight_bytes = flops = 0.0

    for name, form, parameters, stored, per_token, head in plan.weights:
        part = 1.0 if head else kept
        read = stored * (1.0 if head else moved)
        work = per_token * (head_tokens if head else tokens * depth)
        operators.append(
            Operator(name, "weights", form, parameters * part, read, 0.0, work, shared=True)
        )
        weight_bytes += read
        flops += work
    for form, experts, top_k, parameters, stored in plan.experts:
        routed = tokens
        if parallelism.expert > parallelism.tensor:
            routed = tokens * min(parallelism.data, batch)
        distinct = distinct_experts(experts, top_k, routed) * depth
        read = stored * distinct * deployment.weight_traffic
        work = 2.0 * parameters * top_k * routed * depth
        operators.append(
            Operator(
                "experts", "weights", form, parameters * distinct, read, 0.0, work, shared=True
            )
        )
        weight_bytes += read
        flops += work
    weight_bytes += plan.row_bytes * tokens

    kv_read = kv_write = attention_flops = 0.0
    context = deployment.context
    attended = sequences
    if parallelism.attention_data > 1:
        attended = ceil(sequences / parallelism.attention_data)
    prefix = min(deployment.shared_prefix, context)
    kept_kv = depth * deployment.kv_kept
    for cache, entry_bytes, written, entry_flops in plan.caches:
        if decoding:
            entries = cache.read_entries(context)
            read_entries = attended * entries
            if prefix and attended > 1:
                common = min(cache.read_entries(prefix), entries)
                read_entries = common + attended * (entries - common)
            work = entry_flops * entries * attended * query
        else:
            # Each prompt token attends to those before it; keys and values are read once.
            entries = cache.read_entries(context)
            full = context // cache.tokens_per_entry
            read_entries = attended * full
            work = entry_flops * attended * entries * (full - entries / 2.0 + 0.5)
            work *= cache.tokens_per_entry
        kv_read += entry_bytes * read_entries * kept_kv * deployment.kv_read
        kv_write += written * attended * query * depth
        attention_flops += work * kept_kv * deployment.kv_read
    if plan.caches:
        operators.append(
            Operator(
                "attention over KV", "kv", deployment.kv_cache, 0.0, kv_read, kv_write,
                attention_flops, shared=False,
            )
        )  # fmt: skip
        flops += attention_flops
    state_bytes = 2.0 * plan.state_bytes * sequences * depth
    if state_bytes:
        work = plan.state_flops * tokens * depth
        half = state_bytes / 2.0
        operators.append(Operator("state", "state", None, 0.0, half, half, work, shared=False))
        flops += work

    activation_bytes = _activation_bytes(deployment, plan, tokens)
    if activation_bytes:
        half = activation_bytes / 2.0
        operators.append(
            Operator("activations", "activations", deployment.activations, 0.0, half, half, 0.0,
                     shared=False)
        )  # fmt: skip
    host_bytes = 0.0
    if deployment.offload is not None:
        operators, host_bytes, weight_bytes, kv_read = _offloaded(
            deployment, plan, operators, weight_bytes, kv_read
        )
    return Ledger(
        tuple(operators),
        _communication(deployment, plan, tokens),
        parallelism.tensor * replicas * parallelism.context,
        passes,
        sequences,
        tokens,
        plan.layers * depth,
        weight_bytes,
        kv_read,
        kv_write,
        state_bytes,
        activation_bytes,
        host_bytes,
        flops,
    )


def _activation_bytes(deployment: Deployment, plan: _Plan, tokens: int) -> float:
    """Traffic of activations to device memory: none while one layer's fit half the last cache."""
    one_layer = tokens * plan.activation_width / deployment.parallelism.tensor
    cache_bytes = (deployment.hardware.llc_mb or 0.0) * 1e6
    if one_layer <= cache_bytes / 2.0:
        return 0.0
    return 2.0 * one_layer * plan.layers * deployment.depth


def _offloaded(
    deployment: Deployment,
    plan: _Plan,
    operators: list[Operator],
    weight_bytes: float,
    kv_read: float,
) -> tuple[list[Operator], float, float, float]:
    """Move the offloaded part of each operator's reads from device memory to the host link."""
    offload = deployment.offload
    assert offload is not None
    ranks = deployment.parallelism.tensor * deployment.parallelism.pipeline
    weights_away = min(1.0, offload.weights_bytes / (plan.resident_bytes * ranks))
    stored_kv = kv_stored_bytes(deployment) * deployment.batch
    kv_away = min(1.0, offload.kv_bytes / stored_kv) if stored_kv else 0.0
    moved: list[Operator] = []
    host = 0.0
    for operator in operators:
        away = {"weights": weights_away, "kv": kv_away}.get(operator.resource, 0.0)
        host += operator.read_bytes * away
        moved.append(operator._replace(read_bytes=operator.read_bytes * (1.0 - away)))
    return moved, host, weight_bytes * (1.0 - weights_away), kv_read * (1.0 - kv_away)


def _communication(deployment: Deployment, plan: _Plan, tokens: int) -> Communication:
    """All-reduces of tensor parallelism (two a layer), all-to-alls of experts, pipeline hops."""
    parallelism = deployment.parallelism
    ways = parallelism.tensor
    hops = parallelism.pipeline - 1
    if ways == 1 and parallelism.expert == 1 and hops == 0 and parallelism.context == 1:
        return _SILENCE
    message = tokens * deployment.model.hidden * _ACTIVATION_BYTES
    reduces = 2.0 * plan.layers * deployment.depth if ways > 1 else 0.0
    if parallelism.context > 1:
        # Partial attention of each part of the context is put together once a layer.
        reduces += plan.layers * deployment.depth
        ways = max(ways, parallelism.context)
    exchanges = 2.0 * plan.moe_layers if parallelism.expert > 1 else 0.0
    exchanged = message * _top_k(plan) / max(parallelism.expert, 1)
    sent = (
        reduces * 2.0 * (ways - 1) / ways * message
        + exchanges * exchanged * (parallelism.expert - 1)
        + hops * message
    )
    return Communication(reduces, float(message), exchanges, exchanged, hops, sent)


def _top_k(plan: _Plan) -> int:
    return max((experts.top_k for experts in plan.experts), default=1)


def kv_stored_bytes(deployment: Deployment) -> float:
    """Cache bytes that one sequence of the deployment's context keeps on one rank's path."""
    return deployment.kv_kept * sum(
        entry_bytes * cache.stored_entries(deployment.context)
        for cache, entry_bytes, written, _flops in plan_of(deployment).caches
        if written
    )


def kv_bytes_per_token(deployment: Deployment) -> float:
    """Cache bytes one token adds over all layers, on one rank's path."""
    return sum(written for _cache, _bytes, written, _flops in plan_of(deployment).caches)


class Capacity(NamedTuple):
    """What must be kept in the memory of one device, and how much more would fit."""

    weights_bytes: float
    per_sequence_bytes: float
    """KV cache and state of one sequence at the deployment's context."""
    sequences: int
    """Sequences kept on one device's rank."""
    available_bytes: float

    @property
    def needed_bytes(self) -> float:
        """All of it, the runtime's own memory included."""
        return self.weights_bytes + self.sequences * self.per_sequence_bytes + RUNTIME_BYTES

    @property
    def fits(self) -> bool:
        """Whether it can run at all."""
        return self.needed_bytes <= self.available_bytes

    @property
    def largest_batch(self) -> int:
        """Sequences of this context that fit on one rank; 0 where the weights alone do not."""
        room = self.available_bytes - self.weights_bytes - RUNTIME_BYTES
        if room <= 0:
            return 0
        return int(room // self.per_sequence_bytes) if self.per_sequence_bytes else 2**31


def capacity_of(deployment: Deployment) -> Capacity:
    """Memory that one device needs: its share of the weights, and its sequences' caches."""
    plan = plan_of(deployment)
    parallelism = deployment.parallelism
    sequences = ceil(deployment.batch / (parallelism.data * parallelism.attention_data))
    per_sequence = (kv_stored_bytes(deployment) + plan.state_bytes) / parallelism.pipeline
    weights = plan.resident_bytes
    ranks = parallelism.tensor * parallelism.pipeline
    if deployment.offload is not None:
        weights = max(0.0, weights - deployment.offload.weights_bytes / ranks)
        away = deployment.offload.kv_bytes / ranks / max(sequences, 1)
        per_sequence = max(0.0, per_sequence - away)
    return Capacity(weights, per_sequence, sequences, deployment.hardware.usable_memory_bytes)
