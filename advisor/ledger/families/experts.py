"""Mixture-of-experts families with grouped-query attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.decoder import read_attention, read_mlp
from advisor.ledger.families.dense import (
    ATTENTION_BIAS,
    FOUR_NORMS,
    MLP_BIAS,
    ONE_NORM,
    POST_NORMS,
    USE_BIAS,
    USE_WINDOW,
)
from advisor.ledger.families.family import CHUNKED, FULL, SLIDING, Experts, Family, Mtp, Switch
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length
from advisor.ledger.families.own_attention import (
    SPARSE,
    laguna_kinds,
    mimo_kinds,
    minimax_m3_kinds,
    read_laguna_attention,
    read_mimo_attention,
    read_minimax_m3_attention,
    read_step3_attention,
    step3_kinds,
)
from advisor.ledger.shapes import Component, Layer, Tensor

FOREVER: Final = 2**40
"""A context limit above all others: every model of the family."""

_INTERMEDIATE: Final = ("intermediate",)
_PLAIN: Final = Experts(width=_INTERMEDIATE)
_SELECTED: Final = Experts(selection_bias=True)
_QWEN: Final = Experts(shared_width="shared_expert_intermediate_size", shared_gate=True)


def _llama4_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Layers with rotary positions attend within chunks, those without to everything."""
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    rotary = keys.sizes("no_rope_layers")
    if not rotary:
        interval = keys.size("no_rope_layer_interval", default=4)
        rotary = tuple(int((i + 1) % interval != 0) for i in range(layers))
    if len(rotary) != layers:
        raise keys.error(f"no_rope_layers has {len(rotary)} entries", "no_rope_layers")
    return tuple(CHUNKED if mark else FULL for mark in rotary)


def _llama4_dense_width(keys: Keys) -> int:
    return keys.size("intermediate_size_mlp")


def _cohere2_dense_width(keys: Keys) -> int:
    return keys.size("prefix_dense_intermediate_size", default=keys.size("intermediate"))


def _cohere2_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """The dense layers that come first have a window pattern of their own."""
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    first = min(layers, keys.size("first_k_dense_replace", default=0, minimum=0))
    patterns = (
        (keys.size("prefix_dense_sliding_window_pattern", default=1), first),
        (keys.size("sliding_window_pattern", default=4), layers - first),
    )
    return tuple(
        SLIDING if (i + 1) % pattern else FULL for pattern, count in patterns for i in range(count)
    )


def _beam_gate_bias(keys: Keys) -> tuple[Tensor, ...]:
    return (blocks.vector("q_gate_proj.bias", keys.size("heads"), Component.ATTENTION),)


def _minimax_m2_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """The family's list of attention types; all of M2's layers attend to everything (1)."""
    types = keys.sizes("attn_type_list") or (1,) * layers
    if len(types) != layers or set(types) != {1}:
        raise keys.error("MiniMax-M2 has full attention in every layer", "attn_type_list")
    return (FULL,) * layers


def _ernie_vl_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:
    """Two sets of experts: text tokens go to the first, image tokens to the second (idle)."""
    hidden = keys.size("hidden")
    normed = blocks.norms(family.layer_norms, hidden)
    main = read_attention(keys, family, mixer)
    if not routes:
        return blocks.layer(normed, main, read_mlp(keys, family))
    widths = keys.sizes("expert_width", minimum=1) or (1536, 512)
    if len(widths) != 2:
        raise keys.error("needs the widths of the text and vision experts", "moe_intermediate_size")
    shape = blocks.MoeShape(
        experts=keys.size("experts"),
        top_k=keys.size("top_k"),
        width=widths[0],
        shared_width=widths[0] * keys.size("shared_experts", default=2),
        selection_bias=True,
        selection_parameter=True,
    )
    text = blocks.moe(hidden, shape)
    seen = blocks.moe(hidden, shape._replace(width=widths[1], shared_width=0))
    idle = tuple(
        replace(tensor, name=f"vision.{tensor.name}")
        for tensor in blocks.idle(seen.tensors, Component.VISION)
    )
    return blocks.layer(normed, main, text, Block(idle))


def _kolibri_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    return tuple(SLIDING if (i + 1) % 5 else FULL for i in range(layers))


_GLM4: Final = Family(
    defaults={"first_k_dense_replace": 1},
    qkv_bias=ATTENTION_BIAS,
    qk_norm="head",
    qk_norm_switch=Switch("use_qk_norm"),
    experts=_SELECTED,
    mtp=Mtp(private_embeddings_until=131_072),
)
_QWEN3_MOE: Final = Family(
    defaults={"decoder_sparse_step": 1},
    qkv_bias=ATTENTION_BIAS,
    o_bias=ATTENTION_BIAS,
    qk_norm="head",
    qk_norm_switch=Switch("use_qk_norm", default=True),
    window_switch=USE_WINDOW,
    experts=Experts(width=("expert_width",)),
)
_STEP3: Final = Family(
    defaults={"first_k_dense_replace": 3},
    kinds=step3_kinds,
    mixers={FULL: read_step3_attention, SLIDING: read_step3_attention},
    mlp_bias=MLP_BIAS,
    experts=Experts(width=("expert_width",), shared_width="share_expert_dim", selection_bias=True),
    mtp=Mtp(mixers=(SLIDING,), routes=False, private_head=True),
    ignored=(
        "n_shared_experts",
        "use_moe_router_bias",
        "use_head_wise_attn_gate",
        "use_moe",
        "share_expert_dims",
        "use_qk_norm",
        "moe_every_n_layer",
    ),
)

FAMILIES: Final[Mapping[str, Family]] = {
    "mixtral": Family(experts=_PLAIN),
    "qwen2_moe": Family(
        defaults={"decoder_sparse_step": 1},
        qkv_bias=Switch("qkv_bias", default=True),
        window_switch=USE_WINDOW,
        experts=_QWEN,
    ),
    "qwen3_moe": _QWEN3_MOE,
    "olmoe": Family(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="full", experts=_PLAIN),
    "flex_olmo": Family(
        layer_norms=POST_NORMS,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="full",
        experts=_PLAIN,
    ),
    "gpt_oss": Family(
        defaults={"head_dim": 64},
        qkv_bias=Switch("attention_bias", default=True),
        o_bias=Switch("attention_bias", default=True),
        sinks=True,
        default_window=128,
        pattern=2,
        experts=Experts(width=_INTERMEDIATE, router_bias=True, bias=True),
    ),
    "granitemoe": Family(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, experts=_PLAIN),
    "granitemoeshared": Family(
        defaults={"shared_intermediate_size": 0},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        experts=Experts(width=_INTERMEDIATE, shared_width="shared_intermediate_size"),
    ),
    "phimoe": Family(
        norm_bias=True,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        head_bias=Switch("lm_head_bias"),
        experts=_PLAIN,
    ),
    "dbrx": Family(
        kv_heads=lambda keys, _: keys.nested("attn_config", "dbrx").size("kv_n_heads"),
        experts=Experts(width=_INTERMEDIATE, nested="ffn_config"),
    ),
    "deepseek": Family(
        defaults={"first_k_dense_replace": 0},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        experts=Experts(width=("expert_width",)),
    ),
    "ernie4_5_moe": Family(
        tied=True,
        defaults={
            "moe_layer_interval": 1,
            "moe_layer_start_index": 1,
            "moe_num_shared_experts": 2,
        },
        qkv_bias=USE_BIAS,
        o_bias=USE_BIAS,
        mlp_bias=USE_BIAS,
        head_bias=USE_BIAS,
        experts=Experts(width=("expert_width",), selection_bias=True, selection_parameter=True),
        mtp=Mtp(routes=False, norms=2),
    ),
    "glm4_moe": _GLM4,
    "sarvam_moe": _GLM4._replace(qk_norm_switch=Switch("use_qk_norm", default=True), mtp=None),
    "dots1": Family(
        defaults={"first_k_dense_replace": 0},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        window_switch=USE_WINDOW,
        experts=_SELECTED,
    ),
    "solar_open": Family(
        defaults={"head_dim": 128},
        qkv_bias=ATTENTION_BIAS,
        experts=Experts(width=("expert_width",), selection_bias=True),
        ignored=("first_k_dense_replace", "intermediate_size"),
    ),
    "minimax_m2": Family(
        defaults={"head_dim": 128},
        qk_norm="full",
        qk_norm_switch=Switch("use_qk_norm", default=True),
        kinds=_minimax_m2_kinds,
        experts=Experts(
            width=_INTERMEDIATE, selection_bias=Switch("use_routing_bias", default=True)
        ),
        ignored=(
            "num_mtp_modules",
            "mtp_transformer_layers",
            "use_mtp",
            "shared_intermediate_size",
        ),
        notes=("the config names MTP modules, the published checkpoints hold none",),
    ),
    "afmoe": Family(
        defaults={"head_dim": 128, "num_dense_layers": 1},
        layer_norms=FOUR_NORMS,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        gate="channel",
        gate_bias=False,
        default_window=1024,
        pattern_key="global_attn_every_n_layers",
        pattern=4,
        experts=Experts(selection_bias=True, selection_parameter=True),
    ),
    "hy_v3": Family(
        defaults={"head_dim": 128, "first_k_dense_replace": 1},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        mlp_bias=MLP_BIAS,
        experts=_SELECTED,
        mtp=Mtp(),
    ),
    "hunyuan_v1_moe": Family(
        defaults={"shared_experts": 1},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        experts=Experts(),
        ignored=("use_qk_norm", "use_mixed_mlp_moe", "attention_head_dim"),
    ),
    "exaone_moe": Family(
        defaults={"first_k_dense_replace": 1, "num_shared_experts": 1},
        qk_norm="head",
        default_window=4096,
        pattern=4,
        experts=_SELECTED,
        mtp=Mtp(),
    ),
    "mimo_v2_flash": Family(
        defaults={"head_dim": 192, "v_head_dim": 128, "first_k_dense_replace": 1},
        default_window=128,
        kinds=mimo_kinds,
        mixers={FULL: read_mimo_attention, SLIDING: read_mimo_attention},
        experts=_SELECTED,
        ignored=("attention_chunk_size",),
    ),
    "laguna": Family(
        defaults={"head_dim": 128, "first_k_dense_replace": 1},
        kinds=laguna_kinds,
        mixers={FULL: read_laguna_attention, SLIDING: read_laguna_attention},
        experts=Experts(
            shared_width="shared_expert_intermediate_size",
            selection_bias=True,
            selection_parameter=True,
        ),
    ),
    "kolibri1": Family(
        defaults={"head_dim": 128},
        layer_norms=FOUR_NORMS,
        qk_norm="head",
        default_window=513,
        kinds=_kolibri_kinds,
        experts=Experts(shared_width="shared_expert_intermediate_size", selection_bias=True),
    ),
    "mellum": Family(
        defaults={"head_dim": 128},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        experts=Experts(width=("expert_width",)),
    ),
    "cohere2_moe": Family(
        tied=True,
        defaults={"head_dim": 128, "first_k_dense_replace": 0},
        layer_norms=ONE_NORM,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        default_window=4096,
        kinds=_cohere2_kinds,
        width=_cohere2_dense_width,
        experts=_PLAIN,
        ignored=("prefix_dense_sliding_window_pattern",),
    ),
    "minimax_m3": Family(
        defaults={"head_dim": 128},
        qk_norm="head",
        kinds=minimax_m3_kinds,
        mixers={SPARSE: read_minimax_m3_attention},
        width=lambda keys: keys.size("dense_intermediate_size"),
        experts=Experts(
            width=_INTERMEDIATE,
            shared_width="shared_intermediate_size",
            selection_bias=Switch("use_routing_bias", default=True),
        ),
        ignored=(
            "use_qk_norm",
            "qk_norm_type",
            "n_shared_experts",
            "num_mtp_modules",
            "moe_intermediate_size",
            "first_k_dense_replace",
            "use_gemma_norm",
        ),
        notes=("the config names MTP modules, the published checkpoints hold none",),
    ),
    "ernie4_5_vl_moe_text": Family(
        tied=True,
        defaults={"first_k_dense_replace": 1},
        qkv_bias=USE_BIAS,
        o_bias=USE_BIAS,
        mlp_bias=USE_BIAS,
        layer=_ernie_vl_layer,
        experts=Experts(),
    ),
    "glm4v_moe_text": _GLM4._replace(
        qkv_bias=Switch("attention_bias", default=True), qk_norm="", mtp=None
    ),
    "step3p7_text": _STEP3,
    "step3p5": _STEP3,
    "llama4_text": Family(
        defaults={"head_dim": 128, "interleave_moe_layer_step": 1, "num_shared_experts": 1},
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        window_key="attention_chunk_size",
        default_window=8192,
        kinds=_llama4_kinds,
        width=_llama4_dense_width,
        experts=_PLAIN,
        ignored=(
            "intermediate_size_mlp",
            "use_qk_norm",
            "for_llm_compressor",
            "no_rope_layer_interval",
            "nope_layer_interval",
        ),
    ),
    "beam": Family(
        defaults={"head_dim": 128, "first_k_dense_replace": 3},
        layer_norms=FOUR_NORMS,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        gate="channel",
        gate_bias=False,
        default_window=512,
        pattern=6,
        layer_extra=_beam_gate_bias,
        experts=_SELECTED,
    ),
}
