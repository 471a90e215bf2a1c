"""The module paths that frameworks give a tensor, for quantization configs that name modules.

A config says "model.layers.3.mlp.gate" or "re:.*self_attn.*"; the ledger knows a router of a
layer. Paths here are relative to the layer, in every spelling that checkpoints use.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from advisor.ledger.shapes import Component

_ATTENTION: Final = ("self_attn", "attn", "attention", "self_attention", "mixer", "cross_attn")
_MLP: Final = ("mlp", "feed_forward", "ffn", "mixer")
_EXPERTS: Final = (
    "mlp.experts",
    "block_sparse_moe.experts",
    "mixer.experts",
    "feed_forward.experts",
    "ffn.experts",
    "experts",
)
_SHARED: Final = (
    "mlp.shared_experts",
    "mlp.shared_expert",
    "mlp.shared_mlp",
    "block_sparse_moe.shared_experts",
    "mixer.shared_experts",
    "feed_forward.shared_expert",
    "ffn.shared_experts",
    "shared_mlp",
)
_STATE: Final = ("linear_attn", "mixer", "mamba", "conv", "self_attn")

_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "q_proj": ("q_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wqkv"),
    "k_proj": ("k_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wqkv"),
    "v_proj": ("v_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wqkv"),
    "q_gate_proj": ("q_proj", "gate_proj"),
    "o_proj": ("o_proj", "out_proj", "dense", "c_proj", "wo"),
    "kv_a_proj": ("kv_a_proj_with_mqa", "kv_a_proj"),
    "indexer.q_b_proj": ("indexer.wq_b", "indexer.q_b_proj"),
    "indexer.k_proj": ("indexer.wk", "indexer.k_proj"),
    "indexer.weights_proj": ("indexer.weights_proj", "indexers_proj"),
    "gate_proj": ("gate_proj", "gate_up_proj", "w1", "dense_h_to_4h"),
    "up_proj": ("up_proj", "gate_up_proj", "w3", "fc1", "c_fc", "dense_h_to_4h", "fc_in"),
    "down_proj": ("down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h", "fc_out"),
    "in_proj_qkv": ("in_proj_qkv", "in_proj_qkvz", "in_proj"),
    "in_proj_z": ("in_proj_z", "in_proj_qkvz"),
    "in_proj_b": ("in_proj_b", "in_proj_ba"),
    "in_proj_a": ("in_proj_a", "in_proj_ba"),
}
_ROUTERS: Final = {
    "router": ("mlp.gate", "mlp.router", "block_sparse_moe.gate", "mixer.gate", "ffn.gate",
               "feed_forward.router", "router"),
    "shared_expert_gate": ("mlp.shared_expert_gate",),
    "latent_down_proj": ("mixer.fc1_latent_proj",),
    "latent_up_proj": ("mixer.fc2_latent_proj",),
}  # fmt: skip
_OUTER: Final = {
    "embed_tokens": ("model.embed_tokens", "embed_tokens", "embed", "backbone.embeddings",
                     "transformer.wte", "model.language_model.embed_tokens",
                     "language_model.model.embed_tokens"),
    "lm_head": ("lm_head", "head", "language_model.lm_head", "model.lm_head"),
}  # fmt: skip
_PLACES: Final[Mapping[Component, tuple[str, ...]]] = {
    Component.ATTENTION: _ATTENTION,
    Component.MLP: _MLP,
    Component.EXPERTS: _EXPERTS,
    Component.SHARED_EXPERTS: _SHARED,
    Component.STATE: _STATE,
}


_ATTENTION_NAMES: Final = frozenset(
    {"q_proj", "k_proj", "v_proj", "o_proj", "q_gate_proj", "q_a_proj", "q_b_proj", "kv_a_proj",
     "kv_b_proj", "kv_proj", "o_a_proj", "o_b_proj", "indexer.q_b_proj", "indexer.k_proj",
     "indexer.weights_proj"}
)  # fmt: skip
_MLP_NAMES: Final = frozenset({"gate_proj", "up_proj", "down_proj"})
_OWN_EXPERTS: Final[Mapping[str, tuple[str, ...]]] = {"gemma4_text": ("experts", "moe.experts")}
"""Families whose experts stand beside the dense MLP, not within it."""


def is_linear_name(name: str) -> bool:
    """Whether a tensor of this name is a linear layer that quantizers cover."""
    return name in _ATTENTION_NAMES or name in _MLP_NAMES


@lru_cache(maxsize=1024)
def module_paths(
    name: str, component: Component, model_type: str = "", *, is_expert: bool = False
) -> tuple[str, ...]:
    """Every path, relative to its layer, under which a config may name this tensor.

    Tensors of MTP layers are told apart by name, and experts among them by their third dimension.
    """
    name = name.removeprefix("mtp.")
    if name in _ROUTERS:
        return _ROUTERS[name]
    if name in _OUTER:
        return _OUTER[name]
    if component is Component.EXPERTS or is_expert:
        own = _OWN_EXPERTS.get(model_type, _EXPERTS)
        places = tuple(path for place in own for path in (place, f"{place}.0"))
    elif component is Component.MTP and name in _ATTENTION_NAMES:
        places = _ATTENTION
    elif component is Component.MTP and name in _MLP_NAMES:
        places = (*_MLP, *_SHARED)
    elif component in _PLACES:
        places = _PLACES[component]
    else:
        return (name,)
    spellings = _SPELLINGS.get(name, (name,))
    return tuple(f"{place}.{spelling}" for place in places for spelling in spellings)
