"""Families with recurrent layers: state-space models, linear attention, and hybrids of both."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Final

from advisor.ledger.families.blocks import Block
from advisor.ledger.families.decoder import read_mlp, read_moe
from advisor.ledger.families.dense import ATTENTION_BIAS, MLP_BIAS, ONE_NORM, POST_NORMS
from advisor.ledger.families.family import FULL, LINEAR, Experts, Family, Mtp, Switch
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length
from advisor.ledger.families.mixers import (
    read_bailing_delta,
    read_bailing_mla,
    read_delta_net,
    read_falcon_h1,
    read_granite_mamba,
    read_jamba_mamba,
    read_kimi_delta,
    read_kimi_mla,
    read_lightning,
    read_mamba1,
    read_mamba2,
    read_nemotron_mamba,
    read_olmo_delta_net,
    read_short_conv,
)

_CONV: Final = "conv"
_MLP: Final = "mlp"
_MOE: Final = "moe"
_HYBRID: Final = "hybrid"
_NAMES: Final = {"mamba": LINEAR, "attention": FULL, "mamba2": LINEAR}


def _kimi_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """`linear_attn_config` lists the layers of each kind, counted from one."""
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    lists = keys.nested("linear_attn_config", keys.model_type)
    full = set(lists.sizes("full_attn_layers", minimum=1) or ())
    delta = set(lists.sizes("kda_layers", minimum=1) or ())
    lists.refuse_unknown()
    if full | delta != set(range(1, layers + 1)) or full & delta:
        raise keys.error("does not give each layer one kind", "linear_attn_config")
    return tuple(FULL if i in full else LINEAR for i in range(1, layers + 1))


def _minimax_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """`attn_type_list` marks full attention with 1 and lightning attention with 0."""
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    marks = keys.sizes("attn_type_list")
    if marks is None or len(marks) != layers:
        raise keys.error("needs one entry a layer", "attn_type_list")
    return tuple(FULL if mark else LINEAR for mark in marks)


def _jamba_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    period = keys.size("attn_layer_period", default=8)
    offset = keys.size("attn_layer_offset", default=4, minimum=0)
    given = keys.words("layer_types")
    if given is not None:  # the period may stand beside the list
        check_length(keys, "layer_types", given, layers)
        return tuple(_NAMES.get(kind, kind) for kind in given)
    return tuple(FULL if i % period == offset else LINEAR for i in range(layers))


def _bamba_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    given = keys.words("layer_types")
    if given is not None:
        check_length(keys, "layer_types", given, layers)
        return tuple(_NAMES.get(kind, kind) for kind in given)
    full = set(keys.sizes("attn_layer_indices") or ())
    return tuple(FULL if i in full else LINEAR for i in range(layers))


def _lfm2_width(keys: Keys) -> int:
    """Two thirds of the width in the config, rounded up to a multiple."""
    width = keys.size("block_ff_dim", default=keys.size("intermediate"))
    if not keys.flag("block_auto_adjust_ff_dim", default=True):
        return width
    width = int(keys.number("block_ffn_dim_multiplier", 1.0) * int(2 * width / 3))
    multiple = keys.size("block_multiple_of", default=256)
    return multiple * ceil(width / multiple)


def _lfm2_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    listed = keys.sizes("full_attn_idxs")
    full = set(range(layers)) if listed is None else set(listed)
    return tuple(FULL if i in full else _CONV for i in range(layers))


def _nemotron_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """One block a layer, as a list of names or a string of letters."""
    names = {"mamba": LINEAR, "attention": FULL, "mlp": _MLP, "moe": _MOE, LINEAR: LINEAR,
             FULL: FULL, "M": LINEAR, "*": FULL, "-": _MLP, "E": _MOE}  # fmt: skip
    given: tuple[str, ...] | None = keys.words("layer_types")
    key = "layers_block_type"
    if given is None:
        key = "hybrid_override_pattern"
        given = tuple(keys.word(key))
    check_length(keys, key, given, layers)
    if unknown := set(given) - set(names):
        raise keys.error(f"unknown kind of layer {unknown.pop()!r}", key)
    return tuple(names[kind] for kind in given)


def _nemotron_mlp(keys: Keys, family: Family, kind: str) -> Block:
    if kind == _MOE and family.experts is not None:
        return read_moe(keys, family, family.experts)
    return read_mlp(keys, family)


_QWEN3_NEXT: Final = Family(
    defaults={"head_dim": 256, "decoder_sparse_step": 1},
    qkv_bias=ATTENTION_BIAS,
    o_bias=ATTENTION_BIAS,
    qk_norm="head",
    gate="channel",
    pattern_key="full_attention_interval",
    pattern=4,
    other_kind=LINEAR,
    mixers={LINEAR: read_delta_net},
    experts=Experts(
        width=("expert_width",),
        shared_width="shared_expert_intermediate_size",
        shared_gate=True,
    ),
    mtp=Mtp(),
    ignored=("attn_output_gate", "mtp_use_dedicated_embeddings"),
)
_MAMBA: Final = Family(
    tied=True, solo=True, layer_norms=ONE_NORM, kinds=lambda _, n: (LINEAR,) * n, head=True
)
_MAMBA_IGNORED: Final = ("expand", "intermediate_size", "time_step_rank", "chunk_size")
_LFM2: Final = Family(
    tied=True,
    qk_norm="head",
    kinds=_lfm2_kinds,
    mixers={_CONV: read_short_conv},
    width=_lfm2_width,
    ignored=(
        "conv_dim",
        "conv_dim_out",
        "conv_use_xavier_init",
        "block_dim",
        "block_ff_dim",
        "block_ffn_dim_multiplier",
        "block_multiple_of",
        "block_use_swiglu",
        "full_attn_idxs",
    ),
)
_MINIMAX: Final = Family(
    kinds=_minimax_kinds,
    mixers={LINEAR: read_lightning},
    experts=Experts(width=("intermediate",)),
    ignored=("block_size", "shared_intermediate_size", "shared_moe_mode"),
)

FAMILIES: Final[Mapping[str, Family]] = {
    "qwen3_next": _QWEN3_NEXT,
    "qwen3_5_text": _QWEN3_NEXT._replace(experts=None),
    "qwen3_5_moe_text": _QWEN3_NEXT,
    "olmo_hybrid": Family(
        layer_norms=POST_NORMS,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="full",
        pattern=4,
        other_kind=LINEAR,
        mixers={LINEAR: read_olmo_delta_net},
        ignored=("linear_allow_neg_eigval",),
    ),
    "kimi_linear": Family(
        defaults={"first_k_dense_replace": 1},
        kinds=_kimi_kinds,
        mixers={FULL: read_kimi_mla, LINEAR: read_kimi_delta},
        experts=Experts(width=("expert_width",), selection_bias=True),
        ignored=("head_dim", "num_key_value_heads", "qk_head_dim", "mla_use_nope"),
    ),
    "bailing_hybrid": Family(
        defaults={"first_k_dense_replace": 1},
        pattern_key="layer_group_size",
        pattern=6,
        other_kind=LINEAR,
        mixers={FULL: read_bailing_mla, LINEAR: read_bailing_delta},
        experts=Experts(width=("expert_width",), selection_bias=True),
        mtp=Mtp(),
        ignored=(
            "head_dim",
            "num_key_value_heads",
            "qk_head_dim",
            "layer_group_size",
            "linear_conv_kernel_dim",
            "kda_safe_gate",
        ),
    ),
    "minimax": _MINIMAX,
    "minimax_text_01": _MINIMAX,
    "mamba": _MAMBA._replace(mixers={LINEAR: read_mamba1}, ignored=_MAMBA_IGNORED),
    "falcon_mamba": _MAMBA._replace(mixers={LINEAR: read_mamba1}, ignored=_MAMBA_IGNORED),
    "mamba2": _MAMBA._replace(tied=False, mixers={LINEAR: read_mamba2}, ignored=_MAMBA_IGNORED),
    "jamba": Family(
        defaults={"expert_layer_period": 2, "expert_layer_offset": 1},
        kinds=_jamba_kinds,
        mixers={LINEAR: read_jamba_mamba},
        experts=Experts(width=("intermediate",)),
        ignored=("use_mambapy",),
    ),
    "bamba": Family(
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
        kinds=_bamba_kinds,
        mixers={LINEAR: read_granite_mamba},
        ignored=("mamba_chunk_size",),
    ),
    "falcon_h1": Family(
        mlp_bias=MLP_BIAS,
        kinds=lambda _, layers: (_HYBRID,) * layers,
        mixers={_HYBRID: read_falcon_h1},
        ignored=(
            "mamba_chunk_size",
            "mamba_norm_before_gate",
            "mamba_use_mlp",
            "attn_layer_indices",
        ),
    ),
    "granitemoehybrid": Family(
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        kind_names=_NAMES,
        mixers={LINEAR: read_granite_mamba},
        width=lambda keys: keys.size("shared_intermediate_size"),
        experts=Experts(width=("intermediate",), shared_width="shared_intermediate_size"),
        ignored=("mamba_chunk_size", "position_embedding_type", "normalization_function"),
    ),
    "nemotron_h": Family(
        defaults={"head_dim": 128},
        solo=True,
        layer_norms=ONE_NORM,
        gated=False,
        mlp_bias=MLP_BIAS,
        layer_list=("layer_types", "hybrid_override_pattern"),
        kinds=_nemotron_kinds,
        mixers={LINEAR: read_nemotron_mamba, _MLP: _nemotron_mlp, _MOE: _nemotron_mlp},
        experts=Experts(
            width=("expert_width",),
            shared_width="moe_shared_expert_intermediate_size",
            selection_bias=True,
            latent="moe_latent_size",
            gated=False,
        ),
        mtp=Mtp(mixers=(FULL, _MOE)),
        ignored=(
            "expand",
            "n_shared_experts",
            "chunk_size",
            "mamba_proj_bias",
            "moe_shared_expert_overlap",
            "mtp_hybrid_override_pattern",
            "mtp_layers_block_type",
            "time_step_limit",
            "attention_head_dim",
            "attention_bias",
        ),
    ),
    "lfm2": _LFM2,
    "lfm2_moe": _LFM2._replace(
        defaults={"num_dense_layers": 2},
        width=None,
        experts=Experts(
            width=("expert_width",), selection_bias=Switch("use_expert_bias", default=True)
        ),
    ),
}
