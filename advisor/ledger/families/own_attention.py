"""Attention of MoE families that differs by layer: own gates, own head counts, own indexers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.family import FULL, SLIDING, Family
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length, window_of
from advisor.ledger.shapes import Cache, CacheKind, Component


def read_mimo_attention(keys: Keys, family: Family, kind: str) -> Block:
    """MiMo-V2: sliding layers have their own head counts and widths, and sinks."""
    swa = "swa_" if kind == SLIDING else ""
    heads = keys.size(f"{swa}num_attention_heads", default=keys.size("heads"))
    double = keys.size("kv_heads") * (2 if swa else 1)
    kv_heads = keys.size(f"{swa}num_key_value_heads", default=double)
    sinks = keys.flag(
        "add_swa_attention_sink_bias" if swa else "add_full_attention_sink_bias", bool(swa)
    )
    return blocks.attention(
        keys.size("hidden"),
        heads,
        kv_heads,
        keys.size(f"{swa}head_dim", default=keys.size("head_dim")),
        value_dim=keys.size(f"{swa}v_head_dim", default=keys.size("value_dim")),
        qkv_bias=keys.flag("attention_bias"),
        sinks=sinks,
        window=window_of(keys, family) if swa else None,
    )


def mimo_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Layers marked 1 slide."""
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    marks = keys.sizes("hybrid_layer_pattern")
    if marks is None or len(marks) != layers:
        raise keys.error("needs one entry a layer", "hybrid_layer_pattern")
    return tuple(SLIDING if mark else FULL for mark in marks)


def laguna_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """The heads of a layer may differ: they join its kind ("full_attention/64")."""
    kinds = keys.words("layer_types") or (FULL,) * layers
    check_length(keys, "layer_types", kinds, layers)
    heads = keys.sizes("num_attention_heads_per_layer", minimum=1)
    if heads is None:
        heads = (keys.size("heads"),) * layers
    if len(heads) != layers:
        raise keys.error("needs one entry a layer", "num_attention_heads_per_layer")
    return tuple(f"{kind}/{count}" for kind, count in zip(kinds, heads, strict=True))


def step3_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Entries beyond the layers are those of the MTP layers."""
    given = keys.words("layer_types") or (FULL,) * layers
    predicted = keys.size("mtp_layers", default=0, minimum=0)
    kinds = given[:layers] if len(given) == layers + predicted else given
    return check_length(keys, "layer_types", kinds, layers)


def read_step3_attention(keys: Keys, family: Family, kind: str) -> Block:
    """Sliding layers have their own number of heads."""
    other = keys.nested("attention_other_setting", keys.model_type)
    for role in ("kv_heads", "head_dim"):
        if other.has(role) and other.size(role) != keys.size(role):
            raise other.error("sliding layers differ in more than their heads", role)
    heads = keys.size("heads")
    if kind == SLIDING:
        heads = keys.size("num_sliding_attention_heads", default=other.size("heads", default=heads))
    return _own_heads(keys, family, kind, heads)


def read_laguna_attention(keys: Keys, family: Family, kind: str) -> Block:
    """Heads by layer."""
    mixer, _, heads = kind.partition("/")
    return _own_heads(keys, family, mixer, int(heads or keys.size("heads")))


def _own_heads(keys: Keys, family: Family, kind: str, heads: int) -> Block:
    """These heads, with a gate per head or per channel."""
    gating = keys.raw("gating")
    bias = keys.flag("attention_bias")
    return blocks.attention(
        keys.size("hidden"),
        heads,
        keys.size("kv_heads"),
        keys.size("head_dim"),
        qkv_bias=bias,
        o_bias=bias,
        qk_norm="head",
        gate="head" if gating in (None, True, "per-head") else "channel",
        gate_bias=False,
        window=window_of(keys, family) if kind == SLIDING else None,
    )


def minimax_m3_sparse(keys: Keys) -> Keys:
    """The object that describes the indexer."""
    return keys.nested("sparse_attention_config", keys.model_type)


def minimax_m3_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Layers that attend to blocks chosen by an indexer are marked one by one."""
    marks = minimax_m3_sparse(keys).sizes("sparse_attention_freq")
    if marks is None or len(marks) != layers:
        raise keys.error("needs one entry a layer", "sparse_attention_config.sparse_attention_freq")
    return tuple(SPARSE if mark else FULL for mark in marks)


def read_minimax_m3_attention(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Grouped-query attention over the blocks that a small indexer picks."""
    sparse = minimax_m3_sparse(keys)
    hidden = keys.size("hidden")
    main = blocks.attention(
        hidden,
        keys.size("heads"),
        keys.size("kv_heads"),
        keys.size("head_dim"),
        qk_norm="head",
        label="sparse attention",
    )
    heads, width = sparse.size("sparse_num_index_heads"), sparse.size("sparse_index_dim")
    limit = sparse.size("sparse_topk_blocks") * sparse.size("sparse_block_size")
    index = (
        *blocks.linear("indexer.q_proj", heads * width, hidden, Component.ATTENTION),
        *blocks.linear("indexer.k_proj", width, hidden, Component.ATTENTION),
        *blocks.norm("indexer.q_norm", width),
        *blocks.norm("indexer.k_norm", width),
    )
    caches = (
        replace(main.caches[0], read_limit=limit),
        Cache(CacheKind.INDEX, elements=width, flops=2 * heads * width),
    )
    return Block(main.tensors + index, caches, label=main.label)


SPARSE: Final = "sparse_attention"
