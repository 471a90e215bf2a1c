"""Zamba: Mamba layers, and one transformer block that several layers use again.

The block is stored once and streamed each time it is used: its later uses are `shared`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from advisor.ledger.families import blocks, recurrent
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.family import LINEAR, Family
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length
from advisor.ledger.families.mixers import read_jamba_mamba
from advisor.ledger.shapes import Component, Layer, Tensor

_HYBRID: Final = "hybrid"
_NAMES: Final = {"mamba": LINEAR, LINEAR: LINEAR, _HYBRID: _HYBRID, "g": _HYBRID, "m": LINEAR}


def _numbered(keys: Keys, key: str, kinds: list[str]) -> tuple[str, ...]:
    """The uses of a shared block by its number, the first of each block marked as its owner."""
    if unknown := set(kinds) - set(_NAMES):
        raise keys.error(f"unknown kind of layer {unknown.pop()!r}", key)
    memory = keys.size("num_mem_blocks", default=1)
    uses = 0
    named: list[str] = []
    for kind in kinds:
        if _NAMES[kind] == _HYBRID:
            named.append(f"{_HYBRID}/owner" if uses < memory else _HYBRID)
            uses += 1
        else:
            named.append(LINEAR)
    return tuple(named)


def _zamba_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    given = keys.words("layer_types")
    if given is None:
        period = keys.size("attn_layer_period", default=6)
        offset = keys.size("attn_layer_offset", default=4, minimum=0)
        kinds = [LINEAR, LINEAR, _HYBRID] + [
            _HYBRID if i % period == offset else LINEAR for i in range(layers - 3)
        ]
    else:
        kinds = list(check_length(keys, "layers_block_type", given, layers))
    return _numbered(keys, "layers_block_type", kinds)


def _zamba2_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    given = keys.words("layer_types")
    if given is None:
        raise keys.error("layers_block_type is missing", "layers_block_type")
    kinds = list(check_length(keys, "layers_block_type", given, layers))
    return _numbered(keys, "layers_block_type", kinds)


def _attention(keys: Keys, *, inner: int) -> Block:
    """Attention over the hidden state joined with the embedding: twice the width goes in."""
    hidden, heads = keys.size("hidden"), keys.size("heads")
    kv_heads = keys.size("kv_heads", default=heads)
    head = keys.size("attention_head_dim", default=inner // heads)
    block = blocks.attention(inner, heads, kv_heads, head)
    return block._replace(
        tensors=tuple(
            replace(t, shape=(hidden, heads * head)) if t.name == "o_proj" else t
            for t in block.tensors
        )
    )


def _zamba2_mamba(keys: Keys) -> Block:
    hidden, heads = keys.size("hidden"), keys.size("n_mamba_heads")
    inner = int(keys.number("mamba_expand", 2) * hidden)
    return recurrent.mamba2(
        hidden,
        heads,
        keys.size("mamba_headdim", default=inner // heads),
        keys.size("mamba_d_state"),
        keys.size("mamba_ngroups", default=1),
        keys.size("mamba_d_conv", default=4),
        bias=keys.flag("add_bias_linear"),
        out_bias=keys.flag("add_bias_linear"),
    )


def _adapters(keys: Keys, inner: int, width: int) -> list[Tensor]:
    """The low-rank parts by which each use of a shared block differs."""
    hidden, rank = keys.size("hidden"), keys.size("adapter_rank", default=128)
    tensors = [
        *blocks.linear("gate_up_adapter_a", rank, hidden, Component.MLP),
        *blocks.linear("gate_up_adapter_b", 2 * width, rank, Component.MLP),
    ]
    if keys.flag("use_shared_attention_adapter"):
        for name in ("q", "k", "v"):
            tensors += blocks.linear(f"{name}_adapter_a", rank, inner, Component.ATTENTION)
            tensors += blocks.linear(f"{name}_adapter_b", inner, rank, Component.ATTENTION)
    return tensors


def _layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    hidden = keys.size("hidden")
    second = keys.model_type == "zamba2"
    mamba = _zamba2_mamba(keys) if second else read_jamba_mamba(keys, family, mixer)
    normed = blocks.norms(("input_norm",), hidden)
    if mixer == LINEAR:
        return blocks.layer(normed, mamba)
    inner = keys.size("attention_hidden_size", default=2 * hidden)
    width = keys.size("intermediate", default=4 * hidden)
    main = _attention(keys, inner=inner)
    block = (
        *main.tensors,
        *blocks.mlp(hidden, width, bias=second and keys.flag("add_bias_linear")).tensors,
        *blocks.norm("block_input_norm", inner),
        *blocks.norm("block_mlp_norm", hidden),
    )
    if mixer == _HYBRID:
        block = tuple(replace(tensor, shared=True) for tensor in block)
    own = [blocks.matmul("linear", hidden, hidden, Component.MLP)]
    if second:
        own += _adapters(keys, inner, width)
    shared = Block(block, main.caches, label="shared transformer block")
    return blocks.layer(normed, mamba, shared, Block(tuple(own)))


_ZAMBA: Final = Family(
    tied=True,
    kinds=_zamba_kinds,
    layer=_layer,
    ignored=(
        "attention_head_dim",
        "hybrid_layer_ids",
        "num_query_groups",
        "kv_channels",
        "use_mem_rope",
        "use_conv_bias",
        "use_long_context",
        "mamba_dt_rank",
        "ffn_hidden_size",
        "layers_block_type",
        "attn_layer_period",
        "attn_layer_offset",
    ),
    notes=("a transformer block is stored once and streamed at each of its uses",),
)

FAMILIES: Final[Mapping[str, Family]] = {
    "zamba": _ZAMBA,
    "zamba2": _ZAMBA._replace(kinds=_zamba2_kinds),
}
