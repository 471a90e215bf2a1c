"""Reads a decoder-only config by a family's row: its defaults and peculiarities, as data.

`read_decoder` turns a config and its family's row into an `Architecture`. The helpers above it
read one thing each (attention, MLP, experts, the kinds of layers), for families that need only
some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from advisor.ledger.families import blocks
from advisor.ledger.families.blocks import Block
from advisor.ledger.families.family import CHUNKED, FULL, SLIDING, Experts, Family
from advisor.ledger.families.keys import Keys, UnsupportedModelError
from advisor.ledger.families.layouts import (
    decide,
    expert_layers,
    layer_kinds,
    window_of,
)
from advisor.ledger.families.spellings import LAYOUTS, SPELLINGS
from advisor.ledger.shapes import (
    Architecture,
    Attention,
    CacheKind,
    Component,
    Layer,
    Tensor,
    Use,
)

DTYPES: Final[Mapping[str, str]] = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "float": "fp32",
}


def head_dim(keys: Keys, hidden: int, heads: int) -> int:
    """Width of one head: given, or the hidden size divided among the heads."""
    given = keys.optional_size("head_dim")
    if given is not None:
        return given
    if hidden % heads:
        raise keys.error(f"hidden size {hidden} is not a multiple of {heads} heads", "head_dim")
    return hidden // heads


def read_attention(keys: Keys, family: Family, kind: str) -> Block:
    """Grouped-query attention as the config and the family's row describe it."""
    hidden = keys.size("hidden")
    heads = keys.size("heads")
    kv_heads = (
        family.kv_heads(keys, heads) if family.kv_heads else keys.size("kv_heads", default=heads)
    )
    if heads % kv_heads:
        raise keys.error(
            f"{heads} heads cannot share {kv_heads} KV heads evenly", "num_key_value_heads"
        )
    return blocks.attention(
        hidden,
        heads,
        kv_heads,
        head_dim(keys, hidden, heads),
        qkv_bias=decide(keys, family.qkv_bias),
        o_bias=decide(keys, family.o_bias),
        qk_norm=family.qk_norm if decide(keys, family.qk_norm_switch) else "",
        gate=family.gate,
        gate_bias=family.gate_bias,
        sinks=decide(keys, family.sinks),
        window=window_of(keys, family) if kind in {SLIDING, CHUNKED} else None,
        label="chunked attention" if kind == CHUNKED else "",
    )


def read_moe(keys: Keys, family: Family, experts: Experts) -> Block:
    """The routed MLP of a layer."""
    hidden = keys.size("hidden")
    source = keys.nested(experts.nested, keys.model_type) if experts.nested else keys
    given = [role for role in experts.width if source.has(role)]
    width = source.uniform_size(given[0] if given else experts.width[0])
    count = source.size("experts")
    top_k = source.uniform_size("top_k")
    if top_k > count:
        raise source.error(
            f"a token cannot go to {top_k} of {count} experts", "num_experts_per_tok"
        )
    if experts.shared_width:
        shared = source.size(experts.shared_width, minimum=0)
    else:
        shared = width * source.uniform_size("shared_experts", default=0, minimum=0)
    latent = source.size(experts.latent, default=0, minimum=0) if experts.latent else 0
    return blocks.moe(
        hidden,
        blocks.MoeShape(
            experts=count,
            top_k=top_k,
            width=width,
            shared_width=shared,
            gated=experts.gated,
            expert_bias=decide(keys, experts.bias),
            router_bias=decide(keys, experts.router_bias),
            selection_bias=decide(keys, experts.selection_bias),
            selection_parameter=experts.selection_parameter,
            shared_gate=experts.shared_gate and shared > 0,
            shared_bias=decide(keys, family.mlp_bias),
            output_norm=experts.output_norm,
            latent=latent,
            latent_norm=latent > 0 and decide(keys, experts.latent_norm),
        ),
    )


def mlp_width(keys: Keys, family: Family, hidden: int) -> int:
    """Width of the dense MLP."""
    if family.width is not None:
        return family.width(keys)
    default = family.width_factor * hidden if family.width_factor else None
    return keys.size("intermediate", default=default)


def read_mlp(keys: Keys, family: Family) -> Block:
    """The dense MLP of a layer."""
    hidden = keys.size("hidden")
    return blocks.mlp(
        hidden,
        mlp_width(keys, family, hidden),
        gated=family.gated,
        bias=decide(keys, family.mlp_bias),
    )


def read_layer(keys: Keys, family: Family, mixer: str, *, routes: bool) -> Layer:
    """One layer of a kind."""
    if family.layer is not None:
        return family.layer(keys, family, mixer, routes)
    hidden = keys.size("hidden")
    reader = family.mixers.get(mixer) or family.mixers.get(mixer.partition("/")[0])
    if reader is not None:
        mixed = reader(keys, family, mixer)
    elif mixer in {FULL, SLIDING, CHUNKED}:
        mixed = read_attention(keys, family, mixer)
    else:
        raise keys.error(f"unknown kind of layer {mixer!r}", "layer_types")
    if family.solo:
        feed = Block()
    elif routes and family.experts is not None:
        feed = read_moe(keys, family, family.experts)
    else:
        feed = read_mlp(keys, family)
    bias = decide(keys, family.norm_bias)
    weight = decide(keys, family.norm_weight)
    normed = blocks.norms(family.layer_norms, hidden, bias=bias, weight=weight)
    extra = Block(family.layer_extra(keys) if family.layer_extra else ())
    return blocks.layer(normed, mixed, feed, extra)


def has_experts(keys: Keys, family: Family) -> bool:
    """Whether the config gives this family any experts: some have dense members (0, 1 or null)."""
    if family.experts is None:
        return False
    nested = family.experts.nested
    source = keys.nested(nested, keys.model_type) if nested else keys
    return source.has("experts") and source.size("experts", minimum=0) > 1


LayerStore = Callable[[int, Layer], Layer]


def _same(layer: Layer) -> Layer:
    return layer


def read_layers(
    keys: Keys, family: Family, layers: int, store: LayerStore | None
) -> tuple[Layer, ...]:
    """All layers, grouped; `store` says how the checkpoint stores the layer of an index."""
    mixers = layer_kinds(keys, family, layers)
    routed = (False,) * layers
    if has_experts(keys, family):
        routed = expert_layers(keys, layers)

    def build(kind: tuple[str, bool]) -> Layer:
        return read_layer(keys, family, kind[0], routes=kind[1])

    kinds = tuple(zip(mixers, routed, strict=True))
    if store is None:
        return blocks.group(kinds, build)
    built = {kind: build(kind) for kind in dict.fromkeys(kinds)}
    return blocks.group(tuple(store(i, built[kind]) for i, kind in enumerate(kinds)), _same)


def mtp_tensors(keys: Keys, family: Family, vocabulary: int) -> tuple[Tensor, ...]:
    """The MTP layers: a layer like the model's, a projection of two states, norms."""
    rules = family.mtp
    declared = keys.optional_size("mtp_layers", minimum=0)
    if rules is None or not declared:
        return ()
    part = Component.MTP
    hidden = keys.size("hidden")
    inner = [
        Tensor("mtp.eh_proj", (hidden, 2 * hidden), part),
        Tensor("mtp.norms", (rules.norms, hidden), part),
    ]
    private = keys.size("positions", default=0, minimum=0) <= rules.private_embeddings_until
    if private:
        inner.append(Tensor("mtp.embed_tokens", (vocabulary, hidden), part))
    if private or rules.private_head:
        inner.append(Tensor("mtp.lm_head", (vocabulary, hidden), part))
    if rules.extra_tensors is not None:
        inner += rules.extra_tensors(keys)
    routes = rules.routes and has_experts(keys, family)
    for mixer in rules.mixers:
        layer = read_layer(keys, family, mixer, routes=routes)
        inner += (replace(t, name=f"mtp.{t.name}") for t in layer.tensors)
    return blocks.idle(inner, part, count=rules.layers or declared)


def mtp_notes(keys: Keys, family: Family) -> tuple[str, ...]:
    """What a reader should know of MTP layers that are declared but not counted."""
    if family.mtp is None and keys.size("mtp_layers", default=0, minimum=0):
        return ("the config declares MTP layers, which are not counted",)
    return ()


def read_dtype(keys: Keys) -> str:
    """The checkpoint's own 16- or 32-bit type; bf16 where the config does not say."""
    for key in ("dtype", "torch_dtype"):
        text = keys.raw(key)
        if isinstance(text, str) and text.removeprefix("torch.") in DTYPES:
            return DTYPES[text.removeprefix("torch.")]
    return "bf16"


def outer_tensors(keys: Keys, family: Family, hidden: int, vocabulary: int) -> list[Tensor]:
    """Embeddings, final norm and head."""
    part = Component.EMBEDDING
    width = hidden
    if family.embedding_width:
        width = keys.size(family.embedding_width, default=hidden)
    tensors = [Tensor("embed_tokens", (vocabulary, width), part, Use.TABLE)]
    if width != hidden:
        tensors.append(blocks.matmul("project_in", hidden, width, part))
        tensors.append(blocks.matmul("project_out", width, hidden, part))
    bias = decide(keys, family.norm_bias)
    if family.learned_positions is not None:
        rows = keys.size("positions") + family.learned_positions
        tensors.append(Tensor("embed_positions", (rows, hidden), part, Use.IDLE))
    if family.embedding_norm:
        tensors += blocks.norm("embed_norm", hidden, bias=bias)
    if decide(keys, family.final_norm):
        weight = decide(keys, family.norm_weight)
        tensors += blocks.norm("final_norm", hidden, bias=bias, weight=weight)
    if family.head and not keys.flag("tied", family.tied):
        tensors.append(Tensor("lm_head", (vocabulary, width), Component.LM_HEAD))
    if family.head and decide(keys, family.head_bias):
        tensors.append(blocks.vector("lm_head.bias", vocabulary, Component.LM_HEAD))
    return tensors


def attention_of(layers: tuple[Layer, ...], keys: Keys, family: Family) -> Attention | None:
    """The main attention's dimensions, from the first layer that attends to everything."""
    attending = [one for one in layers if one.caches]
    if not attending:
        return None
    full = next((one for one in attending if one.caches[0].window is None), attending[0])
    heads = keys.size(family.heads)
    cache = full.caches[0]
    shapes = {tensor.name: tensor.shape for tensor in full.tensors}
    query = shapes.get("q_b_proj") or shapes.get("q_proj")
    output = shapes.get("o_proj")
    width = query[0] // heads if query else cache.elements // (2 * cache.kv_heads)
    latent = cache.kind is CacheKind.LATENT
    return Attention(
        heads=heads,
        kv_heads=cache.kv_heads,
        head_dim=width,
        value_dim=output[1] // heads if output else None,
        latent_dim=keys.size("kv_lora_rank", default=cache.elements) if latent else None,
        rope_dim=keys.size("qk_rope_head_dim", default=0, minimum=0) if latent else None,
    )


def dense_width(layers: tuple[Layer, ...]) -> int:
    """Width of the dense MLP, or of one expert where every MLP is routed."""
    for part in (Component.MLP, Component.EXPERTS):
        for one in layers:
            for tensor in one.tensors:
                if tensor.name == "up_proj" and tensor.component is part:
                    return tensor.shape[-2]
    return 0


def count_layers(keys: Keys, family: Family) -> int:
    """The number of layers: given, or the length of the list that describes them."""
    if family.layer_count is not None:
        return family.layer_count(keys)
    for key in family.layer_list if not keys.has("layers") else ():
        listed = keys.raw(key)
        if isinstance(listed, list | tuple | str):
            return len(listed)
    return keys.size("layers")


def _use_other_kinds(keys: Keys, family: Family) -> None:
    """Mark what describes kinds of layers that this config has none of: known, if unused."""
    for kind in (FULL, *family.mixers):
        with suppress(UnsupportedModelError):
            read_layer(keys, family._replace(layer=None, experts=None), kind, routes=False)
    if family.experts is not None:
        roles = ("experts", "top_k", "expert_width", "shared_experts")
        keys.ignore(*(key for role in roles for key in SPELLINGS[role]))
        keys.ignore(family.experts.shared_width, family.experts.latent)


def read_decoder(
    keys: Keys, family: Family, name: str, store: LayerStore | None = None
) -> Architecture:
    """A decoder-only model, tensor by tensor."""
    hidden = keys.size("hidden")
    count = count_layers(keys, family)
    vocabulary = keys.size("vocabulary")
    layers = read_layers(keys, family, count, store)
    tensors = outer_tensors(keys, family, hidden, vocabulary)
    if family.extra_tensors is not None:
        tensors += family.extra_tensors(keys)
    tensors += mtp_tensors(keys, family, vocabulary)
    architecture = Architecture(
        name=name,
        model_type=keys.model_type,
        hidden=hidden,
        vocabulary=vocabulary,
        tensors=tuple(tensors),
        layers=layers,
        tied=family.head and keys.flag("tied", family.tied),
        attention=attention_of(layers, keys, family),
        intermediate=dense_width(layers),
        dtype=read_dtype(keys),
        context_limit=keys.optional_size("positions"),
        notes=(*family.notes, *mtp_notes(keys, family)),
    )
    keys.ignore(*family.ignored, *SPELLINGS["intermediate"], *LAYOUTS)
    keys.ignore(*SPELLINGS.get(family.pattern_key, (family.pattern_key,)))
    try:
        keys.refuse_unknown()
    except UnsupportedModelError:
        _use_other_kinds(keys, family)
        keys.refuse_unknown()
    return architecture
