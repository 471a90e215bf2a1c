"""Dense decoder-only families: what each leaves unsaid in its configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.ledger.families.decoder import Family, Switch
from advisor.ledger.families.keys import Keys

_FOUR_NORMS: Final = (
    "input_norm",
    "post_attention_norm",
    "pre_feedforward_norm",
    "post_feedforward_norm",
)
_ATTENTION_BIAS: Final = Switch("attention_bias")


def _half_width(keys: Keys) -> int:
    """Qwen-1 writes twice the MLP's width: gate and up projection together."""
    return keys.size("intermediate") // 2


FAMILIES: Final[Mapping[str, Family]] = {
    "llama": Family(qkv_bias=_ATTENTION_BIAS, o_bias=_ATTENTION_BIAS, mlp_bias=Switch("mlp_bias")),
    "mistral": Family(default_window=4096),
    "qwen2": Family(qkv_bias=True, window_switch=Switch("use_sliding_window")),
    "qwen3": Family(
        qkv_bias=_ATTENTION_BIAS,
        o_bias=_ATTENTION_BIAS,
        qk_norm="head",
        window_switch=Switch("use_sliding_window"),
    ),
    "gemma2": Family(
        tied=True,
        defaults={"head_dim": 256},
        qkv_bias=_ATTENTION_BIAS,
        o_bias=_ATTENTION_BIAS,
        layer_norms=_FOUR_NORMS,
        default_window=4096,
        pattern=2,
    ),
    "phi3": Family(),
    "gpt2": Family(
        tied=True,
        learned_positions=0,
        norm_bias=True,
        qkv_bias=True,
        o_bias=True,
        gated=False,
        mlp_bias=True,
        width_factor=4,
    ),
    "opt": Family(
        tied=True,
        learned_positions=2,
        embedding_width="word_embed_proj_dim",
        norm_bias=True,
        norm_weight=True,
        final_norm=Switch("do_layer_norm_before", default=True),
        qkv_bias=Switch("enable_bias", default=True),
        o_bias=Switch("enable_bias", default=True),
        gated=False,
        mlp_bias=True,
    ),
    "qwen": Family(
        qkv_bias=True,
        o_bias=False,
        width=_half_width,
    ),
}
