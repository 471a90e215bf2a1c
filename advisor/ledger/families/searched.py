"""Nemotron-NAS (Puzzle): every layer's attention and MLP were chosen by search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.decoder import head_dim
from advisor.ledger.families.family import Family
from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import Component, Layer

_MULTIPLE: Final = 256


def _kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Attention and MLP of each layer: heads in a group or what stands there, and the width."""
    given = keys.raw("block_configs")
    if not isinstance(given, list) or len(given) != layers:
        raise keys.error(f"needs one entry for each of {layers} layers", "block_configs")
    hidden = keys.size("hidden")
    return tuple(_kind(keys, entry, hidden) for entry in given)


def _kind(keys: Keys, entry: object, hidden: int) -> str:
    if not isinstance(entry, Mapping):
        raise keys.error("each entry must be an object", "block_configs")
    where = "block_configs."
    block = Keys(entry, keys.model_type, where=where)
    attention = block.nested("attention", keys.model_type)
    feed = block.nested("ffn", keys.model_type)
    mixer = _replaced(attention) or str(attention.size("n_heads_in_group"))
    width = _replaced(feed) or str(_width(feed.number("ffn_mult", 0), hidden))
    return f"{mixer}/{width}"


def _replaced(part: Keys) -> str:
    if part.flag("no_op"):
        return "none"
    return "linear" if part.flag("replace_with_linear") else ""


def _width(multiple: float, hidden: int) -> int:
    """Two thirds of the multiple (as for a gated MLP), rounded up."""
    width = int(2 * multiple * hidden / 3)
    return _MULTIPLE * -(-width // _MULTIPLE)


def _layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    hidden, heads = keys.size("hidden"), keys.size("heads")
    attention, width = mixer.split("/")
    parts: list[Block] = []
    if attention != "none":
        parts.append(blocks.norms(("input_norm",), hidden))
    if attention == "linear":
        one = blocks.matmul("linear_attention_proj", hidden, hidden, Component.ATTENTION)
        parts.append(Block((one,), label="linear map"))
    elif attention != "none":
        bias = keys.flag("attention_bias")
        kv_heads = heads // int(attention)
        parts.append(
            blocks.attention(
                hidden,
                heads,
                kv_heads,
                head_dim(keys, hidden, heads),
                qkv_bias=bias,
                o_bias=bias,
            )
        )
    if width != "none":
        parts.append(blocks.norms(("post_attention_norm",), hidden))
    if width == "linear":
        one = blocks.matmul("linear_mlp_proj", hidden, hidden, Component.MLP)
        parts.append(Block((one,), label="linear map"))
    elif width != "none":
        parts.append(blocks.mlp(hidden, int(width), bias=keys.flag("mlp_bias")))
    return blocks.layer(*parts)


FAMILIES: Final[Mapping[str, Family]] = {
    "nemotron-nas": Family(kinds=_kinds, layer=_layer, ignored=("block_configs",)),
}
