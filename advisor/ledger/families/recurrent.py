"""State-space and linear-attention mixers: what they store and the state they carry.

FLOPs of a token's state update and read-out: 6 a state element for Mamba (decay, input and
output, each a multiply-add), 8 for the delta rule (it reads the state once more to correct it).
"""

from __future__ import annotations

from advisor.ledger.families.blocks import Block, linear, vector
from advisor.ledger.shapes import Component, State, Tensor, Use

_PART = Component.STATE


def _conv(channels: int, kernel: int, *, bias: bool) -> tuple[Tensor, ...]:
    """A depthwise convolution along the sequence."""
    weight = Tensor("conv1d", (channels, kernel), _PART, Use.VECTOR)
    return (weight, vector("conv1d.bias", channels, _PART)) if bias else (weight,)


def _norm(name: str, size: int) -> Tensor:
    """A norm inside a recurrent mixer: counted with the mixer."""
    return vector(name, size, _PART)


def mamba1(
    hidden: int,
    inner: int,
    state: int,
    kernel: int,
    rank: int,
    *,
    heads: int = 1,
    conv_bias: bool = True,
    bias: bool = False,
    normed: bool = False,
) -> Block:
    """Mamba-1; with `heads` above 1 each head projects its own share (Zamba)."""
    tensors = [
        *linear("in_proj", 2 * inner, hidden, _PART, bias=bias),
        *_conv(inner, kernel, bias=conv_bias),
        Tensor("x_proj", (rank + 2 * state, inner // heads), _PART, count=heads),
        Tensor("dt_proj", (inner // heads, rank), _PART, count=heads),
        vector("dt_proj.bias", inner, _PART),
        Tensor("A_log", (inner, state), _PART, Use.VECTOR),
        vector("D", inner, _PART),
        *linear("out_proj", hidden, inner, _PART, bias=bias),
    ]
    if normed:
        tensors += [_norm("dt_norm", rank), _norm("b_norm", state), _norm("c_norm", state)]
    elements = inner * state
    return Block(
        tuple(tensors), state=State(elements, inner * kernel, 6 * elements), label="Mamba-1"
    )


def mamba2(
    hidden: int,
    heads: int,
    head_dim: int,
    state: int,
    groups: int,
    kernel: int,
    *,
    conv_bias: bool = True,
    bias: bool = False,
    out_bias: bool = False,
    normed: bool = True,
) -> Block:
    """Mamba-2 (SSD): scalar decay per head, B and C shared by groups of heads."""
    inner = heads * head_dim
    channels = inner + 2 * groups * state
    tensors = [
        *linear("in_proj", inner + channels + heads, hidden, _PART, bias=bias),
        *_conv(channels, kernel, bias=conv_bias),
        vector("A_log", heads, _PART),
        vector("D", heads, _PART),
        vector("dt_bias", heads, _PART),
        *linear("out_proj", hidden, inner, _PART, bias=out_bias),
    ]
    if normed:
        tensors.append(_norm("norm", inner))
    elements = heads * head_dim * state
    return Block(
        tuple(tensors), state=State(elements, channels * kernel, 6 * elements), label="Mamba-2"
    )


def gated_delta_net(
    hidden: int, key_heads: int, value_heads: int, key_dim: int, value_dim: int, kernel: int
) -> Block:
    """Gated DeltaNet: a matrix state per value head, corrected by the delta rule."""
    keys, values = key_heads * key_dim, value_heads * value_dim
    channels = 2 * keys + values
    tensors = (
        *linear("in_proj_qkv", channels, hidden, _PART),
        *linear("in_proj_z", values, hidden, _PART),
        *linear("in_proj_b", value_heads, hidden, _PART),
        *linear("in_proj_a", value_heads, hidden, _PART),
        *_conv(channels, kernel, bias=False),
        vector("dt_bias", value_heads, _PART),
        vector("A_log", value_heads, _PART),
        _norm("norm", value_dim),
        *linear("out_proj", hidden, values, _PART),
    )
    elements = value_heads * key_dim * value_dim
    return Block(
        tensors, state=State(elements, channels * kernel, 8 * elements), label="gated DeltaNet"
    )


def kimi_delta(
    hidden: int,
    heads: int,
    head_dim: int,
    kernel: int,
    *,
    full_rank_decay: bool = False,
    full_rank_gate: bool = False,
) -> Block:
    """Kimi delta attention (KDA): a decay for every channel, low-rank or full."""
    inner = heads * head_dim

    def low_rank(name: str, *, full: bool) -> tuple[Tensor, ...]:
        if full:
            return linear(f"{name}_proj", inner, hidden, _PART)
        return (
            *linear(f"{name}_a_proj", head_dim, hidden, _PART),
            *linear(f"{name}_b_proj", inner, head_dim, _PART),
        )

    tensors = (
        *linear("in_proj_qkv", 3 * inner, hidden, _PART),
        *_conv(3 * inner, kernel, bias=False),
        *low_rank("f", full=full_rank_decay),
        vector("A_log", heads, _PART),
        vector("dt_bias", inner, _PART),
        *linear("b_proj", heads, hidden, _PART),
        *low_rank("g", full=full_rank_gate),
        _norm("o_norm", head_dim),
        *linear("out_proj", hidden, inner, _PART),
    )
    elements = heads * head_dim * head_dim
    return Block(
        tensors,
        state=State(elements, 3 * inner * kernel, 8 * elements),
        label="Kimi delta attention",
    )


def lightning(hidden: int, heads: int, head_dim: int) -> Block:
    """Lightning attention (MiniMax-01): linear attention with a fixed decay per head."""
    inner = heads * head_dim
    tensors = (
        *linear("in_proj_qkv", 3 * inner, hidden, _PART),
        *linear("output_gate", inner, hidden, _PART),
        _norm("norm", inner),
        *linear("out_proj", hidden, inner, _PART),
    )
    elements = heads * head_dim * head_dim
    return Block(tensors, state=State(elements, 0, 6 * elements), label="lightning attention")


def short_conv(hidden: int, kernel: int, *, bias: bool = False) -> Block:
    """A gated short convolution (LFM2): its state is the last tokens of the sequence."""
    tensors = (
        *linear("in_proj", 3 * hidden, hidden, _PART, bias=bias),
        *_conv(hidden, kernel, bias=bias),
        *linear("out_proj", hidden, hidden, _PART, bias=bias),
    )
    return Block(tensors, state=State(0, hidden * kernel), label="short convolution")
