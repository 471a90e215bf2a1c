"""Models whose decoder attends to another sequence: encoder-decoders and Llama 3.2 Vision.

Keys and values of the other sequence are computed once and cached: their projections stay idle
in a decode step, the cache is read by every step and never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.decoder import read_attention, read_mlp
from advisor.ledger.families.family import FULL, Family
from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import CacheKind, Component, Layer, Tensor, Use

_CROSS: Final = "cross_attention"
_FIRST: Final = "full_attention/first"
_IDLE_PROJECTIONS: Final = frozenset({"k_proj", "v_proj", "k_proj.bias", "v_proj.bias", "k_norm"})


def cross_attention(block: Block, entries: int | None, prefix: str = "") -> Block:
    """The same attention over `entries` of another sequence (None: as long as the context)."""
    tensors = tuple(
        replace(
            tensor,
            name=prefix + tensor.name,
            use=Use.IDLE if tensor.name in _IDLE_PROJECTIONS else tensor.use,
        )
        for tensor in block.tensors
    )
    cache = replace(block.caches[0], kind=CacheKind.CROSS, window=entries)
    return Block(tensors, (cache,), label="cross attention")


def _idle_encoder(layer: Layer, count: int) -> list[Tensor]:
    """Encoder layers: stored, idle once the prompt is encoded."""
    return [
        replace(tensor, name=f"encoder.{tensor.name}", use=Use.IDLE, count=tensor.count * count)
        for tensor in layer.tensors
    ]


def _mllama_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    crossed = keys.sizes("cross_attention_layers")
    if crossed is None:
        crossed = (3, 8, 13, 18, 23, 28, 33, 38)
    if any(i >= layers for i in crossed):
        raise keys.error(f"names a layer beyond {layers}", "cross_attention_layers")
    return tuple(_CROSS if i in set(crossed) else FULL for i in range(layers))


def _mllama_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    hidden = keys.size("hidden")
    normed = blocks.norms(family.layer_norms, hidden)
    if mixer == FULL:
        return blocks.layer(normed, read_attention(keys, family, FULL), read_mlp(keys, family))
    main = read_attention(keys, family._replace(qk_norm="head"), FULL)
    gates = Block((blocks.vector("cross_attention_gates", 2, Component.ATTENTION),))
    # four tiles of 1,601 patches: the most that one image brings
    return blocks.layer(normed, cross_attention(main, 4 * 1601), gates, read_mlp(keys, family))


def _mllama_embeddings(keys: Keys) -> tuple[Tensor, ...]:
    """Eight rows of image tokens that the head has no counterpart for."""
    shape = (8, keys.size("hidden"))
    return (Tensor("embed_tokens.image", shape, Component.EMBEDDING, Use.IDLE),)


def _t5_attention(keys: Keys) -> Block:
    heads = keys.size("heads")
    return blocks.attention(keys.size("hidden"), heads, heads, keys.size("d_kv", default=64))


def _t5_mlp(keys: Keys) -> Block:
    gated = keys.word("feed_forward_proj", "relu").startswith("gated")
    return blocks.mlp(keys.size("hidden"), keys.size("intermediate"), gated=gated)


def _t5_bias(keys: Keys, kind: str) -> Block:
    """Relative positions: a table that the layers share, or (umT5) one in every layer."""
    if kind == FULL and keys.model_type != "umt5":
        return Block()
    shape = (keys.size("relative_attention_num_buckets", default=32), keys.size("heads"))
    return Block((Tensor("relative_bias", shape, Component.ATTENTION, Use.VECTOR),))


def _t5_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    names = ("input_norm", "cross_norm", "post_attention_norm")
    normed = blocks.norms(names, keys.size("hidden"))
    main = _t5_attention(keys)
    crossed = cross_attention(main, None, "cross_")
    return blocks.layer(normed, main, _t5_bias(keys, mixer), crossed, _t5_mlp(keys))


def _t5_encoder(keys: Keys) -> tuple[Tensor, ...]:
    count = keys.size("num_layers")
    normed = blocks.norms(("input_norm", "post_attention_norm"), keys.size("hidden"))
    parts = (normed, _t5_attention(keys), _t5_mlp(keys))
    first = _idle_encoder(blocks.layer(*parts, _t5_bias(keys, _FIRST)), 1)
    rest = _idle_encoder(blocks.layer(*parts, _t5_bias(keys, FULL)), count - 1)
    final = Tensor("encoder.final_norm", (keys.size("hidden"),), Component.NORMS, Use.IDLE)
    return (*first, *(rest if count > 1 else ()), final)


def _t5_kinds(keys: Keys, layers: int) -> tuple[str, ...]:  # noqa: ARG001
    return (_FIRST, *(FULL,) * (layers - 1))


def _t5_layers(keys: Keys) -> int:
    return keys.size("num_decoder_layers", default=keys.size("num_layers"))


def _whisper_attention(keys: Keys, heads: int) -> Block:
    """Whisper's key projections have no bias."""
    hidden = keys.size("hidden")
    if hidden % heads:
        raise keys.error(f"{hidden} is not a multiple of {heads} heads", "d_model")
    block = blocks.attention(hidden, heads, heads, hidden // heads, qkv_bias=True, o_bias=True)
    kept = tuple(tensor for tensor in block.tensors if tensor.name != "k_proj.bias")
    return block._replace(tensors=kept)


def _whisper_layer(keys: Keys, family: Family, mixer: str, routes: bool) -> Layer:  # noqa: ARG001
    hidden = keys.size("hidden")
    normed = blocks.norms(("input_norm", "cross_norm", "post_attention_norm"), hidden, bias=True)
    main = _whisper_attention(keys, keys.size("decoder_attention_heads"))
    crossed = cross_attention(main, keys.size("max_source_positions", default=1500), "cross_")
    feed = blocks.mlp(hidden, keys.size("decoder_ffn_dim"), gated=False, bias=True)
    return blocks.layer(normed, main, crossed, feed)


def _whisper_encoder(keys: Keys) -> tuple[Tensor, ...]:
    hidden = keys.size("hidden")
    positions = keys.size("max_target_positions", default=448)
    decoder = Tensor("embed_positions", (positions, hidden), Component.EMBEDDING, Use.IDLE)
    if keys.raw("architectures") == ["WhisperForCausalLM"]:  # a decoder without its encoder
        return (decoder,)
    mel = keys.size("num_mel_bins", default=80)
    normed = blocks.norms(("input_norm", "post_attention_norm"), hidden, bias=True)
    main = _whisper_attention(keys, keys.size("encoder_attention_heads"))
    feed = blocks.mlp(hidden, keys.size("encoder_ffn_dim"), gated=False, bias=True)
    part = Component.EMBEDDING
    source = keys.size("max_source_positions", default=1500)
    return (
        decoder,
        Tensor("encoder.conv1", (hidden, 3 * mel), part, Use.IDLE),
        Tensor("encoder.conv2", (hidden, 3 * hidden), part, Use.IDLE),
        Tensor("encoder.conv.bias", (2, hidden), part, Use.IDLE),
        Tensor("encoder.embed_positions", (source, hidden), part, Use.IDLE),
        *_idle_encoder(blocks.layer(normed, main, feed), keys.size("encoder_layers")),
        Tensor("encoder.final_norm", (2, hidden), Component.NORMS, Use.IDLE),
    )


_T5: Final = Family(
    tied=True,
    layer_count=_t5_layers,
    kinds=_t5_kinds,
    layer=_t5_layer,
    extra_tensors=_t5_encoder,
    ignored=("relative_attention_max_distance", "feed_forward_proj", "is_gated_act"),
    notes=("the cross-attention cache is counted as long as the context",),
)

FAMILIES: Final[Mapping[str, Family]] = {
    "mllama_text_model": Family(
        kinds=_mllama_kinds,
        layer=_mllama_layer,
        extra_tensors=_mllama_embeddings,
        notes=("cross attention is counted for one image of four tiles",),
    ),
    "t5": _T5,
    "mt5": _T5._replace(tied=False, defaults={"feed_forward_proj": "gated-gelu"}),
    "umt5": _T5._replace(tied=False, defaults={"feed_forward_proj": "gated-gelu"}),
    "whisper": Family(
        tied=True,
        norm_bias=True,
        layer_count=lambda keys: keys.size("decoder_layers"),
        heads="decoder_attention_heads",
        layer=_whisper_layer,
        extra_tensors=_whisper_encoder,
        ignored=(
            "encoder_layers",
            "encoder_attention_heads",
            "encoder_ffn_dim",
            "max_source_positions",
            "num_mel_bins",
            "median_filter_width",
            "num_hidden_layers",
        ),
    ),
}
