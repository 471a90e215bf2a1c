"""Gemma 3n and Gemma 4: per-layer embeddings, shared KV caches, layers of two widths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.dense import FOUR_NORMS
from advisor.ledger.families.family import FULL, SLIDING, Experts, Family
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length, window_of
from advisor.ledger.shapes import Component, Layer, Tensor, Use

_BORROWED: Final = "borrowed"


def _kinds(keys: Keys, layers: int, pattern: int) -> list[str]:
    given = keys.words("layer_types")
    if given is not None:
        return list(check_length(keys, "layer_types", given, layers))
    return [SLIDING if (i + 1) % pattern else FULL for i in range(layers)]


def _shared_from(keys: Keys, layers: int, default: int) -> int:
    """The first layer that reads an earlier layer's cache."""
    return layers - min(layers, keys.size("num_kv_shared_layers", default=default, minimum=0))


def _gemma3n_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Kind, MLP width, head width, KV heads, borrowed: "sliding_attention/16384/256/2/borrowed"."""
    kinds = _kinds(keys, layers, 5)
    width = keys.raw("intermediate_size")
    widths = keys.sizes("intermediate_size", minimum=1) if isinstance(width, list) else None
    if widths is None:
        widths = (keys.size("intermediate"),) * layers
    if len(widths) != layers:
        raise keys.error(f"has {len(widths)} entries for {layers} layers", "intermediate_size")
    first = _shared_from(keys, layers, 15)
    heads = f"{keys.size('head_dim')}/{keys.size('kv_heads')}"
    return tuple(
        f"{kind}/{width}/{heads}" + (f"/{_BORROWED}" if i >= first else "")
        for i, (kind, width) in enumerate(zip(kinds, widths, strict=True))
    )


def _gemma4_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """As Gemma 3n's; full layers have heads of their own, and the last layer is one of them."""
    kinds = _kinds(keys, layers, 6)
    kinds[-1] = FULL
    width = keys.size("intermediate")
    wide = 2 * width if keys.flag("use_double_wide_mlp") else width
    first = _shared_from(keys, layers, 0)
    heads = _gemma4_heads(keys, kinds)
    return tuple(
        f"{kind}/{wide}/{own}/{_BORROWED}" if i >= first else f"{kind}/{width}/{own}"
        for i, (kind, own) in enumerate(zip(kinds, heads, strict=True))
    )


def _gemma4_heads(keys: Keys, kinds: list[str]) -> list[str]:
    """Head width and KV heads of each layer: by its kind, or given layer by layer."""
    head, kv_heads = keys.size("head_dim"), keys.size("kv_heads")
    given = keys.mapping("per_layer_config")
    if given is not None:
        layers = keys.nested("per_layer_config", keys.model_type)
        own = [layers.nested(str(i), keys.model_type) for i in range(len(kinds))]
        return [
            f"{one.size('head_dim', default=head)}/{one.size('kv_heads', default=kv_heads)}"
            for one in own
        ]
    wide = keys.size("global_head_dim", default=512)
    fewer = keys.size("num_global_key_value_heads", default=kv_heads)
    if not keys.flag("attention_k_eq_v"):
        fewer = kv_heads
    return [f"{wide}/{fewer}" if kind == FULL else f"{head}/{kv_heads}" for kind in kinds]


def _attention(keys: Keys, family: Family, kind: str) -> tuple[Block, int]:
    """The attention of a kind, and the width of its MLP."""
    mixer, width, head_text, kv_heads_text, *borrowed = kind.split("/")
    head, kv_heads = int(head_text), int(kv_heads_text)
    own_values = mixer != FULL or not keys.flag("attention_k_eq_v")
    bias = keys.flag("attention_bias")
    block = blocks.attention(
        keys.size("hidden"),
        keys.size("heads"),
        kv_heads,
        head,
        qkv_bias=bias,
        o_bias=bias,
        window=window_of(keys, family) if mixer == SLIDING else None,
        has_keys=not borrowed,
        has_values=own_values,
    )
    norms = blocks.norm("q_norm", head)
    if not borrowed:
        norms = (*norms, *blocks.norm("k_norm", head))
    label = f"{block.label}, shared cache" if borrowed else block.label
    return block._replace(tensors=block.tensors + norms, label=label), int(width)


def _per_layer_width(keys: Keys) -> int:
    return keys.size("hidden_size_per_layer_input", default=256, minimum=0)


def _per_layer_input(keys: Keys) -> tuple[Tensor, ...]:
    """What mixes a layer's own embedding into its output."""
    hidden, width = keys.size("hidden"), _per_layer_width(keys)
    if not width:
        return ()
    return (
        *blocks.linear("per_layer_input_gate", width, hidden, Component.MLP),
        *blocks.linear("per_layer_projection", hidden, width, Component.MLP),
        *blocks.norm("per_layer_norm", hidden),
    )


def _per_layer_embeddings(keys: Keys) -> tuple[Tensor, ...]:
    """A second table with a row for all layers, of which a step reads one row a token."""
    hidden, width = keys.size("hidden"), _per_layer_width(keys)
    if not width:
        return ()
    rows = keys.size("vocab_size_per_layer_input", default=262_144)
    part = Component.EMBEDDING
    total = keys.size("layers") * width
    return (
        Tensor("embed_tokens_per_layer", (rows, total), part, Use.TABLE),
        *blocks.linear("per_layer_model_projection", total, hidden, part),
        *blocks.norm("per_layer_projection_norm", width),
    )


def _gemma3n_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    """A Gemma layer in AltUp's streams, with a low-rank residual (LAuReL) beside attention."""
    hidden, rank = keys.size("hidden"), keys.size("laurel_rank", default=64)
    inputs = keys.size("altup_num_inputs", default=4)
    main, width = _attention(keys, family, mixer)
    part = Component.MLP
    extra = (
        blocks.vector("altup.correct_output_scale", hidden, part),
        blocks.matmul("altup.correction_coefs", inputs, inputs, part),
        blocks.matmul("altup.prediction_coefs", inputs * inputs, inputs, part),
        blocks.matmul("altup.modality_router", inputs, hidden, part),
        *blocks.norm("altup.router_norm", hidden),
        blocks.matmul("laurel.left_proj", rank, hidden, part),
        blocks.matmul("laurel.right_proj", hidden, rank, part),
        *blocks.norm("laurel.norm", hidden),
        *_per_layer_input(keys),
    )
    return blocks.layer(
        blocks.norms(FOUR_NORMS, hidden), main, blocks.mlp(hidden, width), Block(extra)
    )


def _gemma3n_extra(keys: Keys) -> tuple[Tensor, ...]:
    hidden, inputs = keys.size("hidden"), keys.size("altup_num_inputs", default=4)
    part = Component.EMBEDDING
    streams = tuple(
        Tensor(name, (hidden, hidden), part, count=inputs - 1)
        for name in ("altup_projections", "altup_unembed_projections")
    )
    return (*_per_layer_embeddings(keys), *streams)


def _gemma4_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    """A Gemma layer; in the MoE models routed experts run beside the dense MLP."""
    hidden = keys.size("hidden")
    main, width = _attention(keys, family, mixer)
    parts = [blocks.norms(FOUR_NORMS, hidden), main, blocks.mlp(hidden, width)]
    if keys.flag("enable_moe_block"):
        experts = keys.size("experts")
        routed = blocks.moe(
            hidden,
            blocks.MoeShape(experts, keys.size("top_k"), keys.size("expert_width")),
        )
        scales = (
            blocks.vector("router.scale", hidden, Component.ROUTER),
            blocks.vector("router.per_expert_scale", experts, Component.ROUTER),
        )
        names = ("post_mlp_norm", "pre_experts_norm", "post_experts_norm")
        parts += [routed, Block(scales), blocks.norms(names, hidden)]
    return blocks.layer(*parts, Block(_per_layer_input(keys)))


_GEMMA4_IGNORED: Final = (
    "vocab_size_per_layer_input",
    "expert_intermediate_size",
    "global_head_dim",
    "num_global_key_value_heads",
)

FAMILIES: Final[Mapping[str, Family]] = {
    "gemma3n_text": Family(
        tied=True,
        defaults={"head_dim": 256},
        default_window=512,
        kinds=_gemma3n_kinds,
        layer=_gemma3n_layer,
        extra_tensors=_gemma3n_extra,
        ignored=("altup_active_idx", "altup_correct_scale", "activation_sparsity_pattern"),
        notes=("Gemma 3n's vision and audio towers are not counted",),
    ),
    "gemma4_text": Family(
        tied=True,
        defaults={"head_dim": 256},
        default_window=512,
        kinds=_gemma4_kinds,
        layer=_gemma4_layer,
        extra_tensors=_per_layer_embeddings,
        experts=Experts(),
        ignored=_GEMMA4_IGNORED,
    ),
}
