"""Dense decoder-only families: what each leaves unsaid in its configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.family import FULL, SLIDING, Family, Mtp, Switch
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.layouts import check_length
from advisor.ledger.shapes import Component, Tensor, Use

FOUR_NORMS: Final = (
    "input_norm",
    "post_attention_norm",
    "pre_feedforward_norm",
    "post_feedforward_norm",
)
POST_NORMS: Final = ("post_attention_norm", "post_feedforward_norm")
ONE_NORM: Final = ("input_norm",)
ATTENTION_BIAS: Final = Switch("attention_bias")
MLP_BIAS: Final = Switch("mlp_bias")
USE_BIAS: Final = Switch("use_bias")
USE_WINDOW: Final = Switch("use_sliding_window")


def _half_width(keys: Keys) -> int:
    """Qwen-1 writes twice the MLP's width: gate and up projection together."""
    return keys.size("intermediate") // 2


def _expanded_width(keys: Keys) -> int:
    """MPT writes the MLP's width as a multiple of the hidden size."""
    return int(keys.number("expansion_ratio", 4) * keys.size("hidden"))


def _falcon_kv_heads(keys: Keys, heads: int) -> int:
    """`num_kv_heads` counts only in the new architecture; before it was one, or as many."""
    given = keys.size("kv_heads", default=heads)
    if keys.flag("new_decoder_architecture"):
        return given
    return 1 if keys.flag("multi_query", default=True) else heads


def _bigcode_kv_heads(keys: Keys, heads: int) -> int:
    return 1 if keys.flag("multi_query", default=True) else heads


def _chatglm_kv_heads(keys: Keys, heads: int) -> int:
    groups = keys.size("multi_query_group_num", default=heads)
    return groups if keys.flag("multi_query_attention") else heads


def _mpt_kv_heads(keys: Keys, heads: int) -> int:
    attention = keys.nested("attn_config", keys.model_type)
    if attention.flag("qk_ln"):
        raise attention.error("query and key norms are not known for this family", "qk_ln")
    if attention.word("attn_type") == "multiquery_attention":
        return 1
    if not attention.flag("alibi", default=True):
        raise attention.error("a learned position table is not known for this family", "alibi")
    return attention.size("kv_n_heads", default=heads)


def _falcon_norms(keys: Keys) -> tuple[Tensor, ...]:
    """The second norm: of the MLP in the new architecture, or after sequential attention."""
    hidden = keys.size("hidden")
    new = keys.flag("new_decoder_architecture")
    norms = keys.size("num_ln_in_parallel_attn", default=2 if new else 1)
    if not keys.flag("parallel_attn", default=True) or (new and norms == 2):
        return blocks.norm("post_attention_norm", hidden, bias=True)
    return ()


def _stablelm_norms(keys: Keys) -> tuple[Tensor, ...]:
    if keys.flag("use_parallel_residual"):
        return ()
    return blocks.norm("post_attention_norm", keys.size("hidden"), bias=True)


def _bitnet_norms(keys: Keys) -> tuple[Tensor, ...]:
    """BitNet normalises what goes into o_proj and down_proj."""
    return (
        *blocks.norm("attention_sub_norm", keys.size("hidden")),
        *blocks.norm("ffn_sub_norm", keys.size("intermediate")),
    )


def _xielu(keys: Keys) -> tuple[Tensor, ...]:
    """The two learned slopes of the xIELU activation."""
    if keys.word("hidden_act", "xielu") != "xielu":
        return ()
    return (blocks.vector("activation", 2, Component.MLP),)


def _gpt_neo_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """`attention_types` repeats short patterns: [[["global", "local"], 12]]."""
    names = {"global": FULL, "local": SLIDING}
    given: list[str] = list(keys.words("attention_layers") or ())
    if not given:
        for pattern in keys.lists("attention_types") or [[["global", "local"], layers // 2]]:
            kinds, times = pattern if len(pattern) == 2 else (None, None)
            if not isinstance(kinds, list) or not isinstance(times, int) or times > layers:
                raise keys.error("must list patterns and how often they repeat", "attention_types")
            given += [str(kind) for kind in kinds] * times
    check_length(keys, "attention_types", given, layers)
    if unknown := set(given) - set(names):
        raise keys.error(f"unknown kind of attention {unknown.pop()!r}", "attention_types")
    return tuple(names[kind] for kind in given)


def _muse_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """Every fourth layer, counted back from the last, attends to everything."""
    given = keys.words("layer_types")
    if given is not None:
        return check_length(keys, "layer_types", given, layers)
    return tuple(SLIDING if (layers - 1 - i) % 4 else FULL for i in range(layers))


def first_full_every(period: int, default_window: int | None = None) -> Family:
    """Llama with the first of every `period` layers attending to all."""

    def kinds(keys: Keys, layers: int) -> tuple[str, ...]:
        given = keys.words("layer_types")
        if given is not None:
            return check_length(keys, "layer_types", given, layers)
        return tuple(SLIDING if i % period else FULL for i in range(layers))

    return LLAMA._replace(kinds=kinds, default_window=default_window)


LLAMA: Final = Family(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, mlp_bias=MLP_BIAS)
_QWEN2: Final = Family(qkv_bias=True, window_switch=USE_WINDOW)
_QWEN3: Final = Family(
    qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head", window_switch=USE_WINDOW
)
_GEMMA: Final = Family(
    tied=True, defaults={"head_dim": 256}, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS
)
_GPT2: Final = Family(
    tied=True,
    learned_positions=0,
    norm_bias=True,
    qkv_bias=True,
    o_bias=True,
    gated=False,
    mlp_bias=True,
    width_factor=4,
)
_GPTJ: Final = Family(
    layer_norms=ONE_NORM,
    norm_bias=True,
    gated=False,
    mlp_bias=True,
    width_factor=4,
    head_bias=True,
)
_OLMO2: Final = Family(
    layer_norms=POST_NORMS, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="full"
)
_LAYER_NORM_LLAMA: Final = LLAMA._replace(norm_bias=True)
_INTERNLM: Final = Family(qkv_bias=Switch("bias"), o_bias=Switch("bias"))

FAMILIES: Final[Mapping[str, Family]] = {
    "llama": LLAMA,
    "mistral": Family(default_window=4096),
    "ministral": Family(default_window=4096),
    "ministral3": Family(defaults={"head_dim": 128}),
    "qwen2": _QWEN2,
    "qwen3": _QWEN3,
    "mimo": _QWEN2._replace(mtp=Mtp(layers=1), ignored=("attention_bias",)),
    "gemma": _GEMMA,
    "gemma2": _GEMMA._replace(layer_norms=FOUR_NORMS, default_window=4096, pattern=2),
    "vaultgemma": _GEMMA._replace(
        layer_norms=("input_norm", "pre_feedforward_norm"),
        default_window=4096,
        pattern=2,
    ),
    "gemma3_text": _GEMMA._replace(
        layer_norms=FOUR_NORMS, qk_norm="head", default_window=4096, pattern=6
    ),
    "phi": Family(
        layer_norms=ONE_NORM,
        norm_bias=True,
        qkv_bias=True,
        o_bias=True,
        qk_norm="head-layernorm",
        qk_norm_switch=Switch("qk_layernorm"),
        gated=False,
        mlp_bias=True,
        head_bias=True,
    ),
    "phi3": Family(),
    "phi3small": Family(
        tied=True,
        norm_bias=True,
        qkv_bias=True,
        o_bias=True,
        mlp_bias=True,
        width=lambda keys: keys.size("ff_intermediate_size"),
        ignored=(
            "blocksparse_block_size",
            "blocksparse_num_local_blocks",
            "blocksparse_triton_kernel_block_size",
            "blocksparse_vert_stride",
            "blocksparse_homo_head_pattern",
            "dense_attention_every_n_layers",
            "pad_sequence_to_multiple_of_64",
            "gegelu_pad_to_256",
        ),
        notes=("block-sparse layers read less of the KV cache than is counted here",),
    ),
    "gpt2": _GPT2,
    "gpt_bigcode": _GPT2._replace(kv_heads=_bigcode_kv_heads),
    "gpt_neo": _GPT2._replace(
        qkv_bias=False,
        kinds=_gpt_neo_kinds,
        window_key="window_size",
        default_window=256,
        ignored=("attention_types",),
    ),
    "gptj": _GPTJ,
    "codegen": _GPTJ,
    "gpt_neox": Family(
        norm_bias=True,
        qkv_bias=Switch("attention_bias", default=True),
        o_bias=Switch("attention_bias", default=True),
        gated=False,
        mlp_bias=True,
    ),
    "opt": Family(
        tied=True,
        learned_positions=2,
        embedding_width="word_embed_proj_dim",
        norm_weight=Switch("layer_norm_elementwise_affine", default=True),
        norm_bias=Switch("layer_norm_elementwise_affine", default=True),
        final_norm=Switch("do_layer_norm_before", default=True),
        qkv_bias=Switch("enable_bias", default=True),
        o_bias=Switch("enable_bias", default=True),
        gated=False,
        mlp_bias=Switch("enable_bias", default=True),
    ),
    "bloom": Family(
        tied=True,
        embedding_norm=True,
        norm_bias=True,
        qkv_bias=True,
        o_bias=True,
        gated=False,
        mlp_bias=True,
        width_factor=4,
    ),
    "mpt": Family(
        tied=True,
        qkv_bias=Switch("no_bias", default=True, inverted=True),
        o_bias=Switch("no_bias", default=True, inverted=True),
        norm_bias=Switch("no_bias", default=True, inverted=True),
        gated=False,
        mlp_bias=Switch("no_bias", default=True, inverted=True),
        width=_expanded_width,
        kv_heads=_mpt_kv_heads,
    ),
    "falcon": Family(
        tied=True,
        layer_norms=ONE_NORM,
        norm_bias=True,
        layer_extra=_falcon_norms,
        qkv_bias=Switch("bias"),
        o_bias=Switch("bias"),
        gated=False,
        mlp_bias=Switch("bias"),
        width_factor=4,
        kv_heads=_falcon_kv_heads,
    ),
    "persimmon": Family(
        norm_bias=True,
        qkv_bias=True,
        o_bias=True,
        qk_norm="head-layernorm",
        qk_norm_switch=Switch("qk_layernorm", default=True),
        gated=False,
        mlp_bias=True,
    ),
    "stablelm": Family(
        layer_norms=ONE_NORM,
        norm_bias=True,
        layer_extra=_stablelm_norms,
        qkv_bias=Switch("use_qkv_bias"),
        qk_norm="full",
        qk_norm_switch=Switch("qk_layernorm"),
    ),
    "starcoder2": Family(
        tied=True,
        norm_bias=True,
        qkv_bias=Switch("use_bias", default=True),
        o_bias=Switch("use_bias", default=True),
        gated=False,
        mlp_bias=Switch("use_bias", default=True),
    ),
    "cohere": Family(
        tied=True,
        layer_norms=ONE_NORM,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="full",
        qk_norm_switch=Switch("use_qk_norm"),
    ),
    "cohere2": Family(
        tied=True,
        layer_norms=ONE_NORM,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        default_window=4096,
        pattern=4,
    ),
    "olmo": Family(norm_weight=False, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS),
    "olmo2": _OLMO2,
    "olmo3": _OLMO2._replace(default_window=4096, pattern=4),
    "granite": LLAMA,
    "granite_swa": first_full_every(4, 128)._replace(tied=True, sinks=True),
    "cwm": first_full_every(4, 8192)._replace(qkv_bias=False, o_bias=False),
    "nemotron": Family(
        norm_bias=True,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        gated=False,
        mlp_bias=MLP_BIAS,
    ),
    "arcee": LLAMA._replace(gated=False),
    "apertus": Family(
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        qk_norm="head",
        gated=False,
        layer_extra=_xielu,
    ),
    "helium": LLAMA._replace(o_bias=False, defaults={"head_dim": 128}),
    "hunyuan_v1_dense": Family(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head"),
    "bitnet": Family(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, layer_extra=_bitnet_norms),
    "jais2": Family(
        norm_bias=True,
        qkv_bias=Switch("attention_bias", default=True),
        o_bias=Switch("attention_bias", default=True),
        gated=False,
        mlp_bias=Switch("mlp_bias", default=True),
    ),
    "iquestcoder": LLAMA._replace(defaults={"head_dim": 128}),
    "smollm3": LLAMA._replace(tied=True, window_switch=USE_WINDOW),
    "seed_oss": Family(
        defaults={"head_dim": 128},
        qkv_bias=Switch("attention_bias", default=True),
        o_bias=Switch("attention_out_bias"),
        mlp_bias=MLP_BIAS,
    ),
    "ernie4_5": Family(
        tied=True,
        defaults={"head_dim": 128},
        qkv_bias=USE_BIAS,
        o_bias=USE_BIAS,
        mlp_bias=USE_BIAS,
    ),
    "exaone": LLAMA,
    "exaone4": Family(layer_norms=POST_NORMS, qk_norm="head", default_window=4096, pattern=4),
    "glm": Family(defaults={"head_dim": 128}, qkv_bias=Switch("attention_bias", default=True)),
    "glm4": Family(
        defaults={"head_dim": 128},
        layer_norms=FOUR_NORMS,
        qkv_bias=Switch("attention_bias", default=True),
    ),
    "glm4v_text": Family(layer_norms=FOUR_NORMS, qkv_bias=True),
    "muse_glimmer_text": Family(
        defaults={"head_dim": 128},
        layer_norms=FOUR_NORMS,
        qkv_bias=ATTENTION_BIAS,
        o_bias=ATTENTION_BIAS,
        gate="channel",
        gate_bias=False,
        default_window=2048,
        kinds=_muse_kinds,
    ),
    "kosmos_2_5_text_model": Family(
        tied=True,
        norm_bias=True,
        qkv_bias=True,
        o_bias=True,
        gated=False,
        mlp_bias=True,
        layer_extra=lambda keys: blocks.norm("ffn_norm", keys.size("intermediate"), bias=True),
        extra_tensors=lambda keys: (
            Tensor("embed_segments", (2, keys.size("hidden")), Component.EMBEDDING, Use.IDLE),
        ),
    ),
    "chatglm": Family(
        kv_heads=_chatglm_kv_heads,
        qkv_bias=Switch("add_qkv_bias"),
        o_bias=Switch("add_bias_linear"),
        mlp_bias=Switch("add_bias_linear"),
        final_norm=Switch("post_layer_norm", default=True),
        ignored=("apply_residual_connection_post_layernorm", "original_rope"),
    ),
    "qwen": Family(qkv_bias=True, width=_half_width, ignored=("no_bias",)),
    "baichuan": Family(),
    "internlm": Family(qkv_bias=Switch("bias", default=True), o_bias=Switch("bias", default=True)),
    "internlm2": _INTERNLM,
    "internlm3": Family(
        defaults={"head_dim": 128},
        qkv_bias=Switch("qkv_bias"),
        o_bias=Switch("linear_bias"),
        mlp_bias=Switch("linear_bias"),
    ),
    "minicpm": LLAMA._replace(tied=True),
    "orion": _LAYER_NORM_LLAMA._replace(qkv_bias=False, o_bias=False, mlp_bias=False),
    "xverse": Family(),
}
