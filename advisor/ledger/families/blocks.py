"""What a layer is made of: attention, MLP, experts and norms as tensors, caches and routing.

Shapes are (out, in), as the checkpoints store them. Every builder is a pure function of
dimensions; which family uses which is data in the family tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from advisor.ledger.shapes import (
    Cache,
    CacheKind,
    Component,
    Layer,
    Routing,
    State,
    Tensor,
    Use,
)

Kind = TypeVar("Kind", bound=Hashable)


class Block(NamedTuple):
    """Part of a layer: its tensors, what it keeps of the sequence, and how it routes."""

    tensors: tuple[Tensor, ...] = ()
    caches: tuple[Cache, ...] = ()
    state: State | None = None
    routing: Routing | None = None
    label: str = ""


def layer(*blocks: Block) -> Layer:
    """One layer of these blocks; its label joins theirs."""
    state = next((block.state for block in blocks if block.state), None)
    routing = next((block.routing for block in blocks if block.routing), None)
    return Layer(
        tensors=tuple(tensor for block in blocks for tensor in block.tensors),
        caches=tuple(cache for block in blocks for cache in block.caches),
        state=state,
        routing=routing,
        label=" + ".join(block.label for block in blocks if block.label),
    )


def group(kinds: Sequence[Kind], build: Callable[[Kind], Layer]) -> tuple[Layer, ...]:
    """One layer for each distinct kind, in order of first appearance, with its count."""
    counts: dict[Kind, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    merged: dict[Layer, int] = {}
    for kind, count in counts.items():
        built = build(kind)
        merged[built] = merged.get(built, 0) + count
    return tuple(
        Layer(one.tensors, one.caches, one.state, one.routing, count, one.label)
        for one, count in merged.items()
    )


def matmul(name: str, out: int, width: int, component: Component) -> Tensor:
    """A weight matrix that is streamed whole by every step."""
    return Tensor(name, (out, width), component)


def vector(name: str, size: int, component: Component) -> Tensor:
    """A norm, bias or other small tensor that no format touches."""
    return Tensor(name, (size,), component, Use.VECTOR)


def norm(name: str, size: int, *, bias: bool = False, weight: bool = True) -> tuple[Tensor, ...]:
    """A norm's weight and, where it has one, its bias."""
    tensors = (vector(name, size, Component.NORMS),) if weight else ()
    return (*tensors, vector(f"{name}.bias", size, Component.NORMS)) if bias else tensors


def norms(names: Iterable[str], size: int, *, bias: bool = False, weight: bool = True) -> Block:
    """The norms of a layer, all of one width."""
    return Block(tuple(t for name in names for t in norm(name, size, bias=bias, weight=weight)))


def linear(
    name: str, out: int, width: int, component: Component, *, bias: bool = False
) -> tuple[Tensor, ...]:
    """A projection and, where it has one, its bias."""
    weight = matmul(name, out, width, component)
    return (weight, vector(f"{name}.bias", out, component)) if bias else (weight,)


def kv_cache(
    heads: int,
    kv_heads: int,
    key_dim: int,
    value_dim: int,
    *,
    window: int | None = None,
    kind: CacheKind = CacheKind.KV,
    borrowed: bool = False,
) -> Cache:
    """Keys and values of one layer; a query reads them with 2 FLOP per head and element."""
    return Cache(
        kind,
        elements=kv_heads * (key_dim + value_dim),
        flops=2 * heads * (key_dim + value_dim),
        kv_heads=kv_heads,
        window=window,
        borrowed=borrowed,
    )


def qk_norms(style: str, heads: int, kv_heads: int, head_dim: int) -> tuple[Tensor, ...]:
    """Norms on queries and keys.

    "head" shares one weight among the heads (2·d), "full" has one for every channel
    ((n + k)·d), "head-layernorm" is a LayerNorm with bias (4·d).
    """
    match style:
        case "":
            return ()
        case "head":
            return (*norm("q_norm", head_dim), *norm("k_norm", head_dim))
        case "head-layernorm":
            return (*norm("q_norm", head_dim, bias=True), *norm("k_norm", head_dim, bias=True))
        case "full":
            return (*norm("q_norm", heads * head_dim), *norm("k_norm", kv_heads * head_dim))
    raise ValueError(style)


def attention(
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    *,
    value_dim: int | None = None,
    qkv_bias: bool = False,
    o_bias: bool = False,
    qk_norm: str = "",
    gate: str = "",
    gate_bias: bool = True,
    sinks: bool = False,
    window: int | None = None,
    has_keys: bool = True,
    has_values: bool = True,
    has_o: bool = True,
    label: str = "",
) -> Block:
    """Multi-head, grouped-query or multi-query attention.

    `gate`: "channel" gates every output channel (with the query's bias if `gate_bias`), "head"
    has one gate a head.
    A layer without keys reads another layer's cache; one without values reuses its keys as values
    (they are still cached apart, because only the keys are rotated).
    """
    part = Component.ATTENTION
    value_dim = value_dim or head_dim
    q_out = heads * head_dim
    tensors = [*linear("q_proj", q_out, hidden, part, bias=qkv_bias)]
    if gate == "channel":
        tensors += linear(
            "q_gate_proj", heads * value_dim, hidden, part, bias=qkv_bias and gate_bias
        )
    elif gate == "head":
        tensors += linear("gate_proj", heads, hidden, part)
    if has_keys:
        tensors += linear("k_proj", kv_heads * head_dim, hidden, part, bias=qkv_bias)
    if has_keys and has_values:
        tensors += linear("v_proj", kv_heads * value_dim, hidden, part, bias=qkv_bias)
    if has_o:
        tensors += linear("o_proj", hidden, heads * value_dim, part, bias=o_bias)
    if sinks:
        tensors.append(vector("sinks", heads, part))
    tensors += qk_norms(qk_norm, heads, kv_heads, head_dim)
    cache = kv_cache(heads, kv_heads, head_dim, value_dim, window=window, borrowed=not has_keys)
    words = label or ("full attention" if window is None else "sliding attention")
    return Block(tuple(tensors), (cache,), label=words)


def mlp(
    hidden: int,
    width: int,
    *,
    gated: bool = True,
    bias: bool = False,
    component: Component = Component.MLP,
) -> Block:
    """A dense MLP: three matrices where gated, two where not."""
    gate = linear("gate_proj", width, hidden, component, bias=bias) if gated else ()
    up = linear("up_proj", width, hidden, component, bias=bias)
    down = linear("down_proj", hidden, width, component, bias=bias)
    return Block((*gate, *up, *down), label="MLP")


class MoeShape(NamedTuple):
    """The routed part of an MLP."""

    experts: int
    top_k: int
    width: int
    shared_width: int = 0
    gated: bool = True
    expert_bias: bool = False
    router_bias: bool = False
    """A bias the router adds to its logits (a parameter)."""
    selection_bias: bool = False
    """A float32 bias that steers the choice of experts; a buffer, in some models a parameter."""
    selection_parameter: bool = False
    shared_gate: bool = False
    shared_bias: bool = False
    """Biases of the shared expert, and of the projections to and from the latent."""
    output_norm: bool = False
    latent: int = 0
    """Width the experts work in where it is not the model's (latent experts)."""
    latent_norm: bool = False


def moe(hidden: int, shape: MoeShape) -> Block:
    """Routed experts with their router, shared expert and latent projections."""
    width = shape.latent or hidden
    experts = shape.experts

    def expert(name: str, out: int, inner: int) -> list[Tensor]:
        weight = Tensor(name, (experts, out, inner), Component.EXPERTS, Use.EXPERT)
        bias = Tensor(f"{name}.bias", (experts, out), Component.EXPERTS, Use.EXPERT)
        return [weight, bias] if shape.expert_bias else [weight]

    tensors = [*linear("router", experts, hidden, Component.ROUTER, bias=shape.router_bias)]
    if shape.selection_bias:
        use = Use.VECTOR if shape.selection_parameter else Use.BUFFER
        tensors.append(Tensor("router.selection_bias", (experts,), Component.ROUTER, use))
    if shape.latent:
        tensors += linear(
            "latent_down_proj", width, hidden, Component.EXPERTS, bias=shape.shared_bias
        )
    if shape.gated:
        tensors += expert("gate_proj", shape.width, width)
    tensors += expert("up_proj", shape.width, width)
    tensors += expert("down_proj", width, shape.width)
    if shape.latent_norm:
        tensors += norm("latent_norm", width)
    if shape.latent:
        tensors += linear(
            "latent_up_proj", hidden, width, Component.EXPERTS, bias=shape.shared_bias
        )
    if shape.shared_width:
        tensors += mlp(
            hidden,
            shape.shared_width,
            gated=shape.gated,
            bias=shape.shared_bias,
            component=Component.SHARED_EXPERTS,
        ).tensors
    if shape.shared_gate:
        tensors += linear("shared_expert_gate", 1, hidden, Component.ROUTER)
    if shape.output_norm:
        tensors += norm("post_mlp_norm", hidden)
    return Block(tuple(tensors), routing=Routing(experts, shape.top_k), label="MoE")


def idle(tensors: Iterable[Tensor], component: Component, count: int = 1) -> tuple[Tensor, ...]:
    """The same tensors as stored but not read by a plain decode step; buffers stay buffers."""
    return tuple(
        replace(
            t,
            component=component,
            use=t.use if t.use is Use.BUFFER else Use.IDLE,
            count=t.count * count,
        )
        for t in tensors
    )
