"""Models with hyper-connections, most of them with compressed or indexed caches.

Hyper-connections keep several residual streams: before and after each sublayer small matrices
mix them. DeepSeek-V4 compresses its cache along the sequence: beside a short window every layer
keeps one entry for 4 tokens (of which an indexer picks some) or one for 128 tokens (all read).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from advisor.ledger.families import blocks, latent, recurrent
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.family import LINEAR, Experts, Family, Mtp
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length
from advisor.ledger.shapes import Cache, CacheKind, Component, Layer, Tensor, Use

_SLIDING: Final = "sliding_attention"
_SPARSE: Final = "compressed_sparse_attention"
_HEAVY: Final = "heavily_compressed_attention"
_INDEXED: Final = "indexed_attention"
_RATIOS: Final = {0: _SLIDING, 4: _SPARSE, 128: _HEAVY}
_HASHED: Final = "/hash"
_BY_HASH: Final = "hash_moe"
_BY_SCORE: Final = "moe"


def _connections(keys: Keys, rows: int, scales: int) -> tuple[Tensor, ...]:
    """The mixing of the residual streams around both sublayers of a layer."""
    width = keys.size("hc_mult", default=4) * keys.size("hidden")
    part = Component.MLP
    return tuple(
        tensor
        for name in ("attention_hc", "mlp_hc")
        for tensor in (
            Tensor(f"{name}.fn", (rows, width), part, Use.VECTOR),
            blocks.vector(f"{name}.base", rows, part),
            blocks.vector(f"{name}.scale", scales, part),
        )
    )


def _head_connection(keys: Keys) -> tuple[Tensor, ...]:
    """The mixing of the residual streams into one before the head."""
    streams = keys.size("hc_mult", default=4)
    part = Component.MLP
    return (
        Tensor("head_hc.fn", (streams, streams * keys.size("hidden")), part, Use.VECTOR),
        blocks.vector("head_hc.base", streams, part),
        blocks.vector("head_hc.scale", 1, part),
    )


def _full_connections(keys: Keys) -> tuple[Tensor, ...]:
    streams = keys.size("hc_mult", default=4)
    return _connections(keys, (2 + streams) * streams, 3)


def _plain_connections(keys: Keys) -> tuple[Tensor, ...]:
    return _connections(keys, 2 * keys.size("hc_mult", default=4), 2)


def _v4_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Compression by layer (4, 128 or none); the first layers route by a hash of the token."""
    given = keys.words("layer_types")
    ratios = keys.sizes("compress_ratios")
    if given is not None:
        kinds = check_length(keys, "layer_types", given, layers)
    elif ratios is None:
        kinds = (_HEAVY,) * min(layers, 2) + tuple(
            _SPARSE if i % 2 else _HEAVY for i in range(layers - 2)
        )
    elif len(ratios) < layers or set(ratios) - set(_RATIOS):
        raise keys.error(f"needs one of {sorted(_RATIOS)} a layer", "compress_ratios")
    else:  # an entry beyond the layers is the MTP layer's
        kinds = tuple(_RATIOS[ratio] for ratio in ratios[:layers])
    routing = keys.words("mlp_layer_types")
    if routing is None:
        hashed = min(layers, keys.size("num_hash_layers", default=3, minimum=0))
        routing = (_BY_HASH,) * hashed + (_BY_SCORE,) * (layers - hashed)
    check_length(keys, "mlp_layer_types", routing, layers)
    if unknown := set(routing) - {_BY_HASH, _BY_SCORE}:
        raise keys.error(f"unknown kind of MLP {unknown.pop()!r}", "mlp_layer_types")
    pairs = zip(kinds, routing, strict=True)
    return tuple(kind + _HASHED if by == _BY_HASH else kind for kind, by in pairs)


def _compressor(
    hidden: int, name: str, width: int, kept: int, ratio: int
) -> tuple[tuple[Tensor, ...], Cache]:
    """Compresses `ratio` tokens into one entry of `kept` elements (keys that are values too)."""
    part = Component.ATTENTION
    tensors = (
        *blocks.linear(f"{name}.kv_proj", width, hidden, part),
        *blocks.linear(f"{name}.gate_proj", width, hidden, part),
        Tensor(f"{name}.position_bias", (ratio, width), part, Use.VECTOR),
        *blocks.norm(f"{name}.kv_norm", kept),
    )
    return tensors, Cache(CacheKind.LATENT, elements=kept, flops=0, tokens_per_entry=ratio)


def _v4_attention(keys: Keys, kind: str) -> Block:
    """One shared head whose key is also its value, and a grouped low-rank output projection."""
    part = Component.ATTENTION
    hidden, heads, head = keys.size("hidden"), keys.size("heads"), keys.size("head_dim")
    rank, groups = keys.size("q_lora_rank"), keys.size("o_groups")
    out_rank = keys.size("o_lora_rank")
    flops = 2 * heads * 2 * head
    window = keys.size("window", default=128)
    tensors = [
        *blocks.linear("q_a_proj", rank, hidden, part),
        *blocks.norm("q_a_norm", rank),
        *blocks.linear("q_b_proj", heads * head, rank, part),
        *blocks.linear("kv_proj", head, hidden, part),
        *blocks.norm("kv_norm", head),
        *blocks.linear("o_a_proj", groups * out_rank, heads * head // groups, part),
        *blocks.linear("o_b_proj", hidden, groups * out_rank, part),
        blocks.vector("sinks", heads, part),
    ]
    caches = [Cache(CacheKind.LATENT, elements=head, flops=flops, window=window)]
    label = "sliding attention"
    rates = keys.nested("compress_rates", keys.model_type)
    if kind == _HEAVY:
        rate = rates.size(_HEAVY, default=128)
        added, cache = _compressor(hidden, "compressor", head, head, rate)
        tensors += added
        caches.append(replace(cache, flops=flops))
        label = f"attention compressed {rate}:1"
    elif kind == _SPARSE:
        rate = rates.size(_SPARSE, default=4)
        added, cache = _compressor(hidden, "compressor", 2 * head, head, rate)
        index_heads, index = keys.size("index_n_heads"), keys.size("index_head_dim")
        more, index_cache = _compressor(hidden, "indexer", 2 * index, index, rate)
        tensors += added + more
        tensors += blocks.linear("indexer.q_b_proj", index_heads * index, rank, part)
        tensors += blocks.linear("indexer.weights_proj", index_heads, hidden, part)
        caches.append(replace(cache, flops=flops, read_limit=keys.size("index_topk")))
        caches.append(replace(index_cache, kind=CacheKind.INDEX, flops=2 * index_heads * index))
        label = f"sparse attention compressed {rate}:1"
    elif kind != _SLIDING:
        raise keys.error(f"unknown kind of layer {kind!r}", "layer_types")
    return Block(tuple(tensors), tuple(caches), label=label)


def _v4_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    hidden = keys.size("hidden")
    kind = mixer.removesuffix(_HASHED)
    hashed = kind != mixer
    experts, top_k, width = keys.size("experts"), keys.size("top_k"), keys.size("expert_width")
    routed = blocks.moe(
        hidden,
        blocks.MoeShape(
            experts,
            top_k,
            width,
            shared_width=width * keys.size("shared_experts", default=1, minimum=0),
            selection_bias=not hashed,
        ),
    )
    extra = _full_connections(keys)
    if hashed:
        shape = (keys.size("vocabulary"), top_k)
        table = Tensor("router.experts_of_token", shape, Component.ROUTER, Use.BUFFER)
        extra = (*extra, replace(table, stored_as="int64"))
    return blocks.layer(
        blocks.norms(family.layer_norms, hidden), _v4_attention(keys, kind), routed, Block(extra)
    )


def _glm5_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    given = keys.words("layer_types") or tuple(
        LINEAR if i % 4 != 3 else _INDEXED for i in range(layers)
    )
    check_length(keys, "layer_types", given, layers)
    indexers = keys.words("indexer_types") or ("full",) * layers
    check_length(keys, "indexer_types", indexers, layers)
    kinds = (_INDEXED if kind == "full_attention" else kind for kind in given)
    return tuple(
        f"{kind}/{indexer}" if kind == _INDEXED else kind
        for kind, indexer in zip(kinds, indexers, strict=True)
    )


def _glm5_delta(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    given = keys.nested("linear_attn_config", keys.model_type)
    return recurrent.kimi_delta(
        keys.size("hidden"),
        given.size("num_heads", default=keys.size("linear_num_heads", default=64)),
        given.size("head_dim", default=keys.size("linear_head_dim", default=128)),
        given.size(
            "short_conv_kernel_size", default=keys.size("linear_conv_kernel_dim", default=4)
        ),
    )


def _glm5_sparse(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Sparse MLA whose indexer scores pools of tokens."""
    main = latent.mla(keys, read_limit=keys.size("index_topk"), label="sparse latent attention")
    if kind.endswith("/shared"):
        return main
    index = latent.indexer(keys)
    pool, width = keys.size("index_kpool", default=16), keys.size("index_head_dim")
    part = Component.ATTENTION
    pooling = (
        Tensor("indexer.pool_position_bias", (pool, width), part, Use.VECTOR),
        blocks.matmul("indexer.pool_gate", width, keys.size("hidden"), part),
    )
    caches = (*main.caches, replace(index.caches[0], tokens_per_entry=pool))
    return Block(main.tensors + index.tensors + pooling, caches, label=main.label)


def _hy4_sparse(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Sparse MLA with an output gate for every channel and sinks."""
    main = latent.mla(keys, read_limit=keys.size("index_topk"), label="sparse latent attention")
    heads, value = keys.size("heads"), keys.size("value_dim")
    part = Component.ATTENTION
    own = (
        blocks.matmul("q_gate_proj", heads * value, keys.size("hidden"), part),
        blocks.vector("sinks", heads, part),
    )
    if kind.endswith("/shared"):
        return main._replace(tensors=main.tensors + own)
    index = latent.indexer(keys)
    return Block(main.tensors + own + index.tensors, main.caches + index.caches, label=main.label)


def _hy4_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    types = keys.words("indexer_types") or tuple(
        "full" if i == 0 or (i - 1) % 4 == 0 else "shared" for i in range(layers)
    )
    check_length(keys, "indexer_types", types, layers)
    for kind in keys.words("layer_types") or ():
        if kind != _INDEXED:
            raise keys.error(f"unknown kind of layer {kind!r}", "layer_types")
    return tuple(f"{_INDEXED}/{kind}" for kind in types)


_IGNORED: Final = (
    "head_dim",
    "num_key_value_heads",
    "qk_head_dim",
    "hc_sinkhorn_iters",
    "index_kpool_always_select_tail",
)
_EXPERTS: Final = Experts(width=("expert_width",), selection_bias=True)
_V4: Final = Family(
    kinds=_v4_kinds,
    layer=_v4_layer,
    extra_tensors=_head_connection,
    experts=_EXPERTS,
    mtp=Mtp(mixers=(_SLIDING,), extra_tensors=_head_connection),
    ignored=(
        "num_key_value_heads",
        "qk_rope_head_dim",
        "hc_sinkhorn_iters",
        "compress_rates",
        "num_hash_layers",
        "index_n_heads",
        "index_head_dim",
        "index_topk",
    ),
)

FAMILIES: Final[Mapping[str, Family]] = {
    "deepseek_v4": _V4,
    "deepseek_ref": _V4,
    "glm5_next_text": Family(
        defaults={"first_k_dense_replace": 3},
        kinds=_glm5_kinds,
        mixers={LINEAR: _glm5_delta, _INDEXED: _glm5_sparse},
        layer_extra=_full_connections,
        experts=_EXPERTS,
        mtp=Mtp(mixers=(f"{_INDEXED}/full",)),
        ignored=_IGNORED,
    ),
    "hy_v4_vl_text": Family(
        defaults={"first_k_dense_replace": 1},
        kinds=_hy4_kinds,
        mixers={_INDEXED: _hy4_sparse},
        layer_extra=_plain_connections,
        extra_tensors=_head_connection,
        experts=_EXPERTS,
        ignored=_IGNORED,
    ),
}
