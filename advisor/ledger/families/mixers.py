"""Recurrent mixers as the families' configs spell them."""

from __future__ import annotations

from math import ceil

from advisor.ledger.families import blocks, latent, recurrent
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.family import Family
from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import Component


def auto_size(keys: Keys, key: str, value: int) -> int:
    """A size that configs may leave to be computed ("auto")."""
    return value if keys.raw(key) in (None, "auto") else keys.size(key)


def read_mamba1(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Mamba's own spelling; a given width wins over `expand` (Falcon-Mamba's does not hold)."""
    hidden = keys.size("hidden")
    bias = keys.flag("use_bias")
    return recurrent.mamba1(
        hidden,
        keys.size("intermediate", default=int(keys.number("expand", 2) * hidden)),
        keys.size("state_size", default=16),
        keys.size("conv_kernel", default=4),
        auto_size(keys, "time_step_rank", ceil(hidden / 16)),
        conv_bias=keys.flag("use_conv_bias", default=True),
        bias=bias,
    )


def read_jamba_mamba(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Mamba-1 in the spelling of Jamba and Zamba: `mamba_d_state`, `mamba_d_conv`, ..."""
    hidden = keys.size("hidden")
    return recurrent.mamba1(
        hidden,
        int(keys.number("mamba_expand", 2) * hidden),
        keys.size("mamba_d_state", default=16),
        keys.size("mamba_d_conv", default=4),
        auto_size(keys, "mamba_dt_rank", ceil(hidden / 16)),
        heads=keys.size("n_mamba_heads", default=1),
        conv_bias=keys.flag("mamba_conv_bias", default=True),
        bias=keys.flag("mamba_proj_bias"),
        normed=keys.model_type == "jamba",
    )


def read_mamba2(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Mamba-2's own spelling: `num_heads`, `head_dim`, `n_groups`."""
    bias = keys.flag("use_bias")
    return recurrent.mamba2(
        keys.size("hidden"),
        keys.size("num_heads"),
        keys.size("head_dim"),
        keys.size("state_size"),
        keys.size("n_groups"),
        keys.size("conv_kernel", default=4),
        conv_bias=keys.flag("use_conv_bias", default=True),
        bias=bias,
        out_bias=bias,
    )


def read_nemotron_mamba(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Nemotron-H: `expand` does not hold, heads times head width does."""
    bias = keys.flag("use_bias")
    return recurrent.mamba2(
        keys.size("hidden"),
        keys.size("mamba_num_heads"),
        keys.size("mamba_head_dim"),
        keys.size("ssm_state_size"),
        keys.size("n_groups"),
        keys.size("conv_kernel", default=4),
        conv_bias=keys.flag("use_conv_bias", default=True),
        bias=bias,
        out_bias=bias,
    )


def read_granite_mamba(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """The spelling of Bamba and Granite-4: `mamba_n_heads`, `mamba_d_head`, ..."""
    hidden, heads = keys.size("hidden"), keys.size("mamba_n_heads")
    inner = keys.size("mamba_d_ssm", default=int(keys.number("mamba_expand", 2) * hidden))
    width = auto_size(keys, "mamba_d_head", inner // heads)
    if heads * width != inner:
        raise keys.error(f"{heads} heads of {width} do not make {inner}", "mamba_d_head")
    bias = keys.flag("mamba_proj_bias")
    return recurrent.mamba2(
        hidden,
        heads,
        width,
        keys.size("mamba_d_state"),
        keys.size("mamba_n_groups", default=1),
        keys.size("mamba_d_conv", default=4),
        conv_bias=keys.flag("mamba_conv_bias", default=True),
        bias=bias,
        out_bias=keys.flag("projectors_bias", default=bias),
        normed=keys.flag("mamba_rms_norm") if keys.model_type == "falcon_h1" else True,
    )


def read_falcon_h1(keys: Keys, family: Family, kind: str) -> Block:
    """Falcon-H1 runs attention and Mamba-2 side by side in every layer."""
    mamba = read_granite_mamba(keys, family, kind)
    heads = keys.size("heads")
    main = blocks.attention(
        keys.size("hidden"),
        heads,
        keys.size("kv_heads", default=heads),
        keys.size("head_dim", default=keys.size("hidden") // heads),
        qkv_bias=keys.flag("attention_bias"),
        o_bias=keys.flag("attention_bias"),
    )
    label = f"{main.label} beside {mamba.label}"
    return Block(main.tensors + mamba.tensors, main.caches, mamba.state, label=label)


def read_delta_net(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Gated DeltaNet in Qwen's spelling."""
    return recurrent.gated_delta_net(
        keys.size("hidden"),
        keys.size("linear_num_key_heads"),
        keys.size("linear_num_value_heads"),
        keys.size("linear_key_head_dim"),
        keys.size("linear_value_head_dim"),
        keys.size("linear_conv_kernel_dim", default=4),
    )


def read_olmo_delta_net(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """OLMo-Hybrid: as many linear heads as attention heads, keys of 3/4 of their width."""
    hidden, heads = keys.size("hidden"), keys.size("heads")
    key_heads = keys.size("linear_num_key_heads", default=heads)
    key_dim = keys.size("linear_key_head_dim", default=3 * hidden // (4 * key_heads))
    return recurrent.gated_delta_net(
        hidden,
        key_heads,
        keys.size("linear_num_value_heads", default=heads),
        key_dim,
        keys.size("linear_value_head_dim", default=2 * key_dim),
        keys.size("linear_conv_kernel_dim", default=4),
    )


def read_kimi_delta(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Kimi delta attention; `linear_attn_config` wins over flat keys."""
    given = keys.nested("linear_attn_config", keys.model_type)
    return recurrent.kimi_delta(
        keys.size("hidden"),
        given.size("num_heads", default=keys.size("linear_num_heads", default=32)),
        given.size("head_dim", default=keys.size("linear_head_dim", default=128)),
        given.size(
            "short_conv_kernel_size", default=keys.size("linear_conv_kernel_dim", default=4)
        ),
    )


def read_kimi_mla(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Latent attention without rotary positions changes no size."""
    return latent.mla(keys)


def read_bailing_delta(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Ling-3: full-rank decay and output gate."""
    return recurrent.kimi_delta(
        keys.size("hidden"),
        keys.size("linear_num_heads", default=keys.size("heads")),
        keys.size("linear_head_dim", default=keys.size("head_dim", default=128)),
        keys.size("short_conv_kernel_size", default=keys.size("linear_conv_kernel_dim", default=4)),
        full_rank_decay=True,
        full_rank_gate=True,
    )


def read_bailing_mla(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """MLA with one output gate a head."""
    main = latent.mla(keys)
    gate = blocks.matmul("gate_proj", keys.size("heads"), keys.size("hidden"), Component.ATTENTION)
    return main._replace(tensors=(*main.tensors, gate))


def read_lightning(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """Lightning attention with the heads of the full layers."""
    hidden, heads = keys.size("hidden"), keys.size("heads")
    return recurrent.lightning(hidden, heads, keys.size("head_dim", default=hidden // heads))


def read_short_conv(keys: Keys, family: Family, kind: str) -> Block:  # noqa: ARG001
    """The gated short convolution of LFM2."""
    kernel = keys.size("conv_L_cache", default=3)
    return recurrent.short_conv(keys.size("hidden"), kernel, bias=keys.flag("conv_bias"))
