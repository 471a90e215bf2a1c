"""Multi-head latent attention (MLA), with and without a sparse indexer, and its families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.decoder import read_attention
from advisor.ledger.families.dense import MLP_BIAS
from advisor.ledger.families.experts import FOREVER
from advisor.ledger.families.family import FULL, Experts, Family, Mtp
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length
from advisor.ledger.shapes import Cache, CacheKind, Component, Tensor

_INDEXED: Final = "indexed_attention"
_SHARED: Final = "indexed_attention/shared"
"""Sparse attention with an indexer of its own, or with the last indexer's choice."""


def mla(keys: Keys, *, read_limit: int | None = None, label: str = "latent attention") -> Block:
    """MLA as a decode step computes it: queries against the latent, projections absorbed.

    The cache holds one latent and one rotary key for all heads; a query spends 2 FLOP per head on
    every element for the scores (r + rope) and again on the latent for the mix (r).
    """
    part = Component.ATTENTION
    hidden, heads = keys.size("hidden"), keys.size("heads")
    rank, rope = keys.size("kv_lora_rank"), keys.size("qk_rope_head_dim", minimum=0)
    nope = keys.size("qk_nope_head_dim")
    value = keys.size("value_dim", default=hidden // heads)
    bias = keys.flag("attention_bias")
    q_rank = keys.optional_size("q_lora_rank")
    q_out = heads * (nope + rope)
    tensors: list[Tensor] = []
    if q_rank is None:
        tensors += blocks.linear("q_proj", q_out, hidden, part)
    else:
        tensors += blocks.linear("q_a_proj", q_rank, hidden, part, bias=bias)
        tensors += blocks.norm("q_a_norm", q_rank)
        tensors += blocks.linear("q_b_proj", q_out, q_rank, part)
    tensors += blocks.linear("kv_a_proj", rank + rope, hidden, part, bias=bias)
    tensors += blocks.norm("kv_a_norm", rank)
    tensors += blocks.linear("kv_b_proj", heads * (nope + value), rank, part)
    tensors += blocks.linear("o_proj", hidden, heads * value, part, bias=bias)
    cache = Cache(
        CacheKind.LATENT,
        elements=rank + rope,
        flops=2 * heads * (2 * rank + rope),
        read_limit=read_limit,
    )
    return Block(tuple(tensors), (cache,), label=label)


def indexer(keys: Keys) -> Block:
    """The indexer of sparse attention: it scores every cached index key for every query head."""
    part = Component.ATTENTION
    heads, width = keys.size("index_n_heads"), keys.size("index_head_dim")
    hidden, q_rank = keys.size("hidden"), keys.size("q_lora_rank")
    tensors = (
        *blocks.linear("indexer.q_b_proj", heads * width, q_rank, part),
        *blocks.linear("indexer.k_proj", width, hidden, part),
        *blocks.norm("indexer.k_norm", width, bias=True),
        *blocks.linear("indexer.weights_proj", heads, hidden, part),
    )
    cache = Cache(CacheKind.INDEX, elements=width, flops=2 * heads * width)
    return Block(tensors, (cache,))


def _read_mla(keys: Keys, family: Family, kind: str) -> Block:
    if not keys.flag("use_mla", default=True):
        return read_attention(keys, family, kind)
    return mla(keys)


def _read_sparse_mla(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    main = mla(keys, read_limit=keys.size("index_topk"), label="sparse latent attention")
    if kind == _SHARED:
        return main
    index = indexer(keys)
    return Block(main.tensors + index.tensors, main.caches + index.caches, label=main.label)


def _sparse_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Layers with an indexer ("full"), and layers that reuse the last one's choice ("shared")."""
    for kind in keys.words("layer_types") or ():
        if kind not in {_INDEXED, "deepseek_sparse_attention"}:
            raise keys.error(f"unknown kind of layer {kind!r}", "layer_types")
    types = keys.words("indexer_types")
    if types is None:
        pattern = keys.raw("index_topk_pattern")
        if isinstance(pattern, str):
            names = {"F": "full", "S": "shared"}
            types = tuple(names.get(letter, letter) for letter in pattern)
        else:
            every = keys.size("index_topk_freq", default=1)
            offset = keys.size("index_skip_topk_offset", default=2, minimum=0)
            types = tuple(
                "full" if max(i - offset + 1, 0) % every == 0 else "shared" for i in range(layers)
            )
    check_length(keys, "indexer_types", types, layers)
    known = {"full": _INDEXED, "shared": _SHARED}
    if unknown := set(types) - set(known):
        raise keys.error(f"unknown kind of indexer {unknown.pop()!r}", "indexer_types")
    return tuple(known[kind] for kind in types)


def _all_full(keys: Keys, layers: int) -> tuple[str, ...]:
    """MLA layers attend to everything; a `layer_types` that says so is accepted."""
    for kind in keys.words("layer_types") or ():
        if kind != FULL:
            raise keys.error(f"unknown kind of layer {kind!r}", "layer_types")
    return (FULL,) * layers


def _all_indexed(keys: Keys, layers: int) -> tuple[str, ...]:
    for kind in keys.words("layer_types") or ():
        if kind != _INDEXED:
            raise keys.error(f"unknown kind of layer {kind!r}", "layer_types")
    return (_INDEXED,) * layers


_IGNORED: Final = ("head_dim", "num_key_value_heads", "qk_head_dim", "num_experts")
_EXPERTS: Final = Experts(width=("expert_width",), selection_bias=True)
_MLA: Final = Family(kinds=_all_full, mixers={FULL: _read_mla}, ignored=_IGNORED)
_SPARSE: Final = _MLA._replace(
    defaults={"first_k_dense_replace": 3},
    mixers={_INDEXED: _read_sparse_mla},
    experts=_EXPERTS,
    kinds=_sparse_kinds,
)
_DEEPSEEK_V3: Final = _MLA._replace(
    defaults={"first_k_dense_replace": 3},
    experts=_EXPERTS,
    mtp=Mtp(private_embeddings_until=FOREVER),
)


FAMILIES: Final[Mapping[str, Family]] = {
    "deepseek_v2": _MLA._replace(
        defaults={"first_k_dense_replace": 0},
        experts=Experts(width=("expert_width",)),
        mlp_bias=MLP_BIAS,
        ignored=(*_IGNORED, "lm_head", "rm_head"),
    ),
    "deepseek_v3": _DEEPSEEK_V3,
    "kimi_k2": _DEEPSEEK_V3._replace(defaults={"first_k_dense_replace": 1}),
    "deepseek_v32": _SPARSE._replace(
        kinds=_all_indexed,
        mtp=Mtp(mixers=(_INDEXED,), private_embeddings_until=FOREVER),
        ignored=(*_IGNORED, "mlp_bias"),
    ),
    "glm_moe_dsa": _SPARSE._replace(
        mtp=Mtp(mixers=(_INDEXED,)),
        ignored=(*_IGNORED, "index_share_for_mtp_iteration"),
    ),
    "glm4_moe_lite": _MLA._replace(
        defaults={"first_k_dense_replace": 1}, experts=_EXPERTS, mtp=Mtp()
    ),
    "axk1": _MLA._replace(
        defaults={"first_k_dense_replace": 1},
        experts=Experts(width=("expert_width",), output_norm=True),
    ),
    "mistral4": _MLA._replace(
        defaults={"first_k_dense_replace": 0}, experts=Experts(width=("expert_width",))
    ),
    "sarvam_mla": _MLA._replace(defaults={"first_k_dense_replace": 1}, experts=_EXPERTS),
    "minicpm3": _MLA._replace(tied=True, mlp_bias=MLP_BIAS),
    "youtu": _MLA._replace(tied=True),
}
