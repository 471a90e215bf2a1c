"""Changes of a model's shape: tensors, caches and layers made smaller, or factored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from advisor.ledger.shapes import Architecture, Cache, CacheKind, Component, Layer, Tensor, Use


def map_tensors(model: Architecture, change: Callable[[Tensor], Iterable[Tensor]]) -> Architecture:
    """The model with each layer tensor replaced by what `change` makes of it."""
    layers = tuple(
        replace(layer, tensors=tuple(new for old in layer.tensors for new in change(old)))
        for layer in model.layers
    )
    return model.with_layers(layers)


def map_caches(model: Architecture, change: Callable[[Cache], Cache]) -> Architecture:
    """The model with each layer's caches replaced."""
    layers = tuple(
        replace(layer, caches=tuple(change(cache) for cache in layer.caches))
        for layer in model.layers
    )
    return model.with_layers(layers)


def narrow_mlp(model: Architecture, kept: float) -> Architecture:
    """MLP width times `kept`: rows of gate and up, columns of down (experts alike)."""

    def change(tensor: Tensor) -> Iterable[Tensor]:
        if tensor.component not in _MLPS or tensor.use not in (Use.MATMUL, Use.EXPERT):
            return (tensor,)
        axis = -1 if tensor.name == "down_proj" else -2
        return (_resized(tensor, axis, kept),)

    narrowed = map_tensors(model, change)
    return replace(narrowed, intermediate=max(1, round(model.intermediate * kept)))


_MLPS = frozenset({Component.MLP, Component.EXPERTS, Component.SHARED_EXPERTS})


def _resized(tensor: Tensor, axis: int, kept: float) -> Tensor:
    shape = list(tensor.shape)
    shape[axis] = max(1, round(shape[axis] * kept))
    return replace(tensor, shape=tuple(shape))


def drop_heads(model: Architecture, kept: float, kv_heads: int | None) -> Architecture:
    """Query heads times `kept`, KV heads to `kv_heads`: q rows, o columns, k and v rows, caches.

    Without `kv_heads`, keys and values follow only where each query head has its own.
    """
    attention = model.attention
    if attention is None:
        return model
    heads = max(1, round(attention.heads * kept))
    if kv_heads is None:
        own = attention.kv_heads == attention.heads and not attention.is_latent
        kv_heads = heads if own else attention.kv_heads
    return with_heads(model, heads, kv_heads)


def with_heads(model: Architecture, heads: int, kv_heads: int) -> Architecture:
    """The model with other numbers of query and KV heads."""
    attention = model.attention
    if attention is None:
        return model
    q_kept, kv_kept = heads / attention.heads, kv_heads / attention.kv_heads

    def change(tensor: Tensor) -> Iterable[Tensor]:
        if tensor.component is not Component.ATTENTION:
            return (tensor,)
        if tensor.name in {"q_proj", "q_b_proj", "q_bias"}:
            return (_resized(tensor, 0, q_kept),)
        if tensor.name == "o_proj":
            return (_resized(tensor, -1, q_kept),)
        if tensor.name in {"k_proj", "v_proj", "k_bias", "v_bias"} and not attention.is_latent:
            return (_resized(tensor, 0, kv_kept),)
        return (tensor,)

    def shrink(cache: Cache) -> Cache:
        flops = round(cache.flops * q_kept)
        if cache.kind is not CacheKind.KV:
            return replace(cache, flops=flops)
        return replace(
            cache, elements=max(1, round(cache.elements * kv_kept)), flops=flops, kv_heads=kv_heads
        )

    changed = map_caches(map_tensors(model, change), shrink)
    return replace(changed, attention=replace(attention, heads=heads, kv_heads=kv_heads))


def drop_layers(model: Architecture, fraction: float) -> Architecture:
    """Whole layers removed, from each kind of layer in proportion; at least one is kept."""
    return with_depth(model, max(1, round(model.layer_count * (1.0 - fraction))))


def with_depth(model: Architecture, keep: int) -> Architecture:
    """The model with `keep` layers, each kind of layer in the proportion it had."""
    total = model.layer_count
    exact = [layer.count * keep / total for layer in model.layers]
    counts = [int(count) for count in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: counts[i] - exact[i])
    for index in by_remainder[: keep - sum(counts)]:
        counts[index] += 1
    layers = tuple(
        replace(layer, count=count)
        for layer, count in zip(model.layers, counts, strict=True)
        if count
    )
    return model.with_layers(layers)


def drop_experts(model: Architecture, fraction: float) -> Architecture:
    """Routed experts removed; as many as before are active per token, where enough are left."""

    def change(layer: Layer) -> Layer:
        routing = layer.routing
        if routing is None:
            return layer
        experts = max(1, round(routing.experts * (1.0 - fraction)))
        tensors = tuple(
            replace(tensor, shape=(experts, *tensor.shape[1:]))
            if tensor.component in (Component.EXPERTS, Component.ROUTER)
            and tensor.shape[0] == routing.experts
            else tensor
            for tensor in layer.tensors
        )
        routing = replace(routing, experts=experts, top_k=min(routing.top_k, experts))
        return replace(layer, tensors=tensors, routing=routing)

    return model.with_layers(tuple(change(layer) for layer in model.layers))


def factor(model: Architecture, rank: int) -> Architecture:
    """Each linear of attention and MLP (out, in) as two thin ones, (rank, in) and (out, rank)."""

    def change(tensor: Tensor) -> Iterable[Tensor]:
        linear = tensor.component in (Component.ATTENTION, Component.MLP)
        if not linear or tensor.use is not Use.MATMUL or len(tensor.shape) != 2:
            return (tensor,)
        rows, columns = tensor.shape
        return (
            replace(tensor, name=f"{tensor.name}.down", shape=(rank, columns)),
            replace(tensor, name=f"{tensor.name}.up", shape=(rows, rank)),
        )

    return map_tensors(model, change)


def with_window(model: Architecture, window: int) -> Architecture:
    """Every layer's cache limited to the last `window` tokens."""

    def change(cache: Cache) -> Cache:
        if cache.kind is CacheKind.CROSS:
            return cache
        return replace(cache, window=min(window, cache.window or window))

    return map_caches(model, change)


def with_latent(model: Architecture, latent: int, rope: int) -> Architecture:
    """Attention's cache as one latent for all heads, in absorbed form.

    Per entry latent + rope elements and 2*heads*(2*latent + rope) FLOPs. The projections are
    left as they are: their change is a few percent of the weights and depends on the recipe.
    """
    attention = model.attention
    if attention is None or attention.is_latent:
        return model

    def change(cache: Cache) -> Cache:
        if cache.kind is not CacheKind.KV:
            return cache
        return replace(
            cache,
            kind=CacheKind.LATENT,
            elements=latent + rope,
            flops=2 * attention.heads * (2 * latent + rope),
            kv_heads=1,
        )

    changed = map_caches(model, change)
    return replace(changed, attention=replace(attention, latent_dim=latent, rope_dim=rope))


def narrow_caches(model: Architecture, kept: float) -> Architecture:
    """Entries of every KV cache made smaller by a low-rank projection that kernels absorb."""

    def change(cache: Cache) -> Cache:
        if cache.kind is not CacheKind.KV:
            return cache
        return replace(cache, elements=max(1, round(cache.elements * kept)))

    return map_caches(model, change)


def share_caches(model: Architecture, layers: int) -> Architecture:
    """One cache for each group of `layers` layers: stored once, read by every layer.

    Layers that borrow make no keys and values of their own.
    """

    def borrow(layer: Layer, count: int) -> Layer:
        own = {"k_proj", "v_proj", "k_bias", "v_bias"}
        return replace(
            layer,
            tensors=tuple(tensor for tensor in layer.tensors if tensor.name not in own),
            caches=tuple(replace(cache, borrowed=True) for cache in layer.caches),
            count=count,
        )

    changed: list[Layer] = []
    for layer in model.layers:
        owners = -(-layer.count // layers) if layer.caches else layer.count
        changed.append(replace(layer, count=owners))
        if layer.count > owners:
            changed.append(borrow(layer, layer.count - owners))
    return model.with_layers(tuple(changed))


def share_layers(model: Architecture, times: int) -> Architecture:
    """Each layer's weights used `times` times: stored once, streamed at every use."""
    changed: list[Layer] = []
    for layer in model.layers:
        owners = -(-layer.count // times)
        changed.append(replace(layer, count=owners))
        if layer.count > owners:
            shared = tuple(replace(tensor, shared=True) for tensor in layer.tensors)
            changed.append(replace(layer, tensors=shared, count=layer.count - owners))
    return model.with_layers(tuple(changed))


def route_to(model: Architecture, top_k: int) -> Architecture:
    """Other numbers of routed experts per token."""

    def change(layer: Layer) -> Layer:
        if layer.routing is None:
            return layer
        routing = replace(layer.routing, top_k=min(top_k, layer.routing.experts))
        return replace(layer, routing=routing)

    return model.with_layers(tuple(change(layer) for layer in model.layers))


def with_adapters(model: Architecture, rank: int, adapters: int) -> Architecture:
    """Low-rank adapters beside each linear: (rank, in) and (out, rank) of `adapters` each."""

    def change(tensor: Tensor) -> Iterable[Tensor]:
        linear = tensor.component in (Component.ATTENTION, Component.MLP)
        if not linear or tensor.use is not Use.MATMUL or len(tensor.shape) != 2:
            return (tensor,)
        rows, columns = tensor.shape
        down = replace(
            tensor, name=f"{tensor.name}.lora_a", shape=(rank, columns),
            count=tensor.count * adapters, stored_as=model.dtype,
        )  # fmt: skip
        return (tensor, down, replace(down, name=f"{tensor.name}.lora_b", shape=(rows, rank)))

    return map_tensors(model, change)


def cut_vocabulary(model: Architecture, kept: float) -> Architecture:
    """Rows of the embedding table and the output head removed."""
    rows = max(1, round(model.vocabulary * kept))
    tensors = tuple(
        replace(tensor, shape=(rows, *tensor.shape[1:]))
        if tensor.component in (Component.EMBEDDING, Component.LM_HEAD)
        and tensor.shape[0] == model.vocabulary
        else tensor
        for tensor in model.tensors
    )
    return replace(model, tensors=tensors, vocabulary=rows)
