"""What a family's configs leave unsaid, as data: one `Family` a model_type.

Biases and norms of its layers, the kinds of layers that alternate, what is assumed where a key
is missing. A new Llama-like family is one more row in a table; a family with a mechanism of its
own names the function that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from advisor.ledger.families.blocks import Block
from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import Layer, Tensor


class Switch(NamedTuple):
    """A property that the config switches by a key; `default` where the key is missing."""

    key: str
    default: bool = False
    inverted: bool = False
    """The key says the opposite (`no_bias`)."""


Flag = bool | Switch
MixerReader = Callable[[Keys, "Family", str], Block]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
FULL: Final = "full_attention"
SLIDING: Final = "sliding_attention"
CHUNKED: Final = "chunked_attention"
LINEAR: Final = "linear_attention"


class Experts(NamedTuple):
    """How a family's MoE layers are built."""

    width: tuple[str, ...] = ("expert_width", "intermediate")
    """Where the width of one expert is written, the first that is given."""
    nested: str = ""
    """Key of the object that holds the experts' keys, where they stand apart."""
    shared_width: str = ""
    """Key of the shared expert's whole width; without one it is count times expert width."""
    shared_gate: bool = False
    selection_bias: Flag = False
    selection_parameter: bool = False
    """The selection bias is stored as a parameter, not as a buffer."""
    router_bias: Flag = False
    bias: Flag = False
    """The experts have biases; the shared expert has those of the dense MLP."""
    latent: str = ""
    """Key of the width the experts work in, where it is not the model's."""
    latent_norm: Flag = False
    output_norm: bool = False
    """A norm on what the routed MLP gives back."""
    gated: bool = True


class Mtp(NamedTuple):
    """The multi-token-prediction layers that the checkpoint holds beside the model."""

    layers: int = 0
    """How many the checkpoint stores, whatever number the config gives; 0 takes the config's."""
    mixers: tuple[str, ...] = (FULL,)
    routes: bool = True
    """Its MLP is routed like the model's; else dense."""
    norms: int = 3
    extra_tensors: Callable[[Keys], tuple[Tensor, ...]] | None = None
    private_head: bool = False
    """Each layer has its own copy of the head (Step-3.5)."""
    private_embeddings_until: int = 0
    """Each layer has its own copy of the embedding table and of the head in the models of a
    family up to this context limit (GLM-4.5 has copies, GLM-4.6 with its longer context none)."""


class Family(NamedTuple):
    """What the configs of one model_type leave unsaid."""

    defaults: Mapping[str, object] = _NOTHING
    """Values of missing keys, by role or key: the defaults of the family's config class."""
    # embeddings and head
    tied: bool = False
    head: bool = True
    head_bias: Flag = False
    learned_positions: int | None = None
    """Rows of the position table above the context limit; None where positions are computed."""
    embedding_norm: bool = False
    embedding_width: str = ""
    """Key of the embedding's width; where it is not the hidden size, projections join the two."""
    # norms
    layer_norms: tuple[str, ...] = ("input_norm", "post_attention_norm")
    norm_bias: Flag = False
    norm_weight: Flag = True
    final_norm: Flag = True
    # attention
    qkv_bias: Flag = False
    o_bias: Flag = False
    qk_norm: str = ""
    qk_norm_switch: Flag = True
    gate: str = ""
    gate_bias: bool = True
    sinks: Flag = False
    window_key: str = "window"
    default_window: int | None = None
    pattern_key: str = "sliding_window_pattern"
    pattern: int = 0
    """Every n-th layer attends to all, the others are of the other kind; 0: all slide where a
    window is given."""
    other_kind: str = SLIDING
    kind_names: Mapping[str, str] = _NOTHING
    """What the family calls the kinds of layers, where it has names of its own."""
    window_switch: Flag = True
    # MLP
    gated: bool = True
    mlp_bias: Flag = False
    width_factor: int = 0
    """MLP width as a multiple of the hidden size where the config gives none."""
    width: Callable[[Keys], int] | None = None
    """How the MLP width follows from the config, where it is not simply a key."""
    experts: Experts | None = None
    # layers
    mixers: Mapping[str, MixerReader] = _NOTHING
    """Readers of other mixers than GQA, by layer kind; what follows a slash in a kind tells
    variants of it apart ("full_attention/64")."""
    solo: bool = False
    """A layer is one block: a mixer or an MLP, not one after the other."""
    layer_count: Callable[[Keys], int] | None = None
    """The number of layers, where it is not simply a key."""
    heads: str = "heads"
    """Where the heads of the main attention are written."""
    layer_list: tuple[str, ...] = ()
    """Lists (or patterns) with one entry a layer: their length is the number of layers where the
    config does not give it."""
    kinds: Callable[[Keys, int], tuple[str, ...]] | None = None
    """The kind of each layer where `layer_types` and the window pattern do not say it."""
    kv_heads: Callable[[Keys, int], int] | None = None
    mtp: Mtp | None = None
    ignored: tuple[str, ...] = ()
    """Structural-looking keys that change nothing that is counted here."""
    notes: tuple[str, ...] = ()
    layer: Callable[[Keys, Family, str, bool], Layer] | None = None
    """Reads a whole layer (its kind, whether it routes) where a layer is not norms, mixer, MLP."""
    layer_extra: Callable[[Keys], tuple[Tensor, ...]] | None = None
    """Tensors of every layer that only this family has."""
    extra_tensors: Callable[[Keys], tuple[Tensor, ...]] | None = None
    """Tensors outside the layers that only this family has."""
