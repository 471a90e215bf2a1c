"""The normalised description of a model: tensors, caches, states and how a step uses them.

Every architecture, however its config spells it, becomes one `Architecture`: the tensors
outside the layers, and groups of identical layers. Nothing below this module knows model
families; nothing above it knows config keys. Counting parameters is summing `Tensor.elements`;
everything a decode step moves follows from each tensor's `use`, each layer's `caches`, `state`
and `routing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import prod
from typing import Self


class Component(StrEnum):
    """The part of the model a tensor belongs to, as `rooflint model` reports it."""

    EMBEDDING = "embedding"
    LM_HEAD = "lm_head"
    ATTENTION = "attention"
    MLP = "mlp"
    EXPERTS = "experts"
    SHARED_EXPERTS = "shared_experts"
    ROUTER = "router"
    NORMS = "norms"
    STATE = "state"
    VISION = "vision"
    MTP = "mtp"


class Use(StrEnum):
    """What one decode step does with a tensor."""

    MATMUL = "matmul"
    """Streamed whole, once a step at any batch; 2 FLOP per element and token. Quantizable."""
    VECTOR = "vector"
    """Streamed whole, once a step; never quantized, few FLOPs: norms, biases, convolutions."""
    TABLE = "table"
    """A gather: one row (the last dimension) per token is read, the rest stays in place."""
    EXPERT = "expert"
    """First dimension counts the experts; a step reads the experts its tokens are routed to."""
    IDLE = "idle"
    """Stored, not read by a plain decode step: vision towers, encoders, MTP layers, cached K/V."""
    BUFFER = "buffer"
    """Stored in the checkpoint (float32) but no parameter: a router's selection bias. Not counted
    as read: a few hundred elements a layer."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight tensor as it is stored, or one of `count` equal ones."""

    name: str
    """Canonical role: q_proj k_proj v_proj o_proj gate_proj up_proj down_proj router norm ...

    Fused tensors (qkv, gate_up) are listed by their parts, so that levers find them by name.
    """
    shape: tuple[int, ...]
    component: Component
    use: Use = Use.MATMUL
    count: int = 1
    shared: bool = False
    """The weights of an earlier layer used again: streamed here too, stored only there."""
    stored_as: str | None = None
    """Number format fixed by the checkpoint (a name of `formats`), None where nothing fixes it."""

    @property
    def elements(self) -> int:
        """Parameters in all `count` tensors."""
        return prod(self.shape) * self.count

    @property
    def is_parameter(self) -> bool:
        """Whether it adds to the model's parameters: buffers and weights used again do not."""
        return not self.shared and self.use is not Use.BUFFER


class CacheKind(StrEnum):
    """What a cache holds, which decides its format and how parallel devices share it."""

    KV = "kv"
    """Keys and values per KV head; tensor parallelism splits it by KV head."""
    LATENT = "latent"
    """One latent for all heads (MLA); tensor parallelism replicates it."""
    INDEX = "index"
    """Index keys of sparse attention; scanned whole, replicated."""
    CROSS = "cross"
    """Cross-attention over encoder output: read each step, written once by the encoder."""


@dataclass(frozen=True, slots=True)
class Cache:
    """What one layer caches of the sequence, per entry, and what one query token reads of it."""

    kind: CacheKind
    elements: int
    """Elements stored per entry, keys and values together."""
    flops: int
    """FLOPs of one query token against one visible entry, all heads (scores and mix)."""
    kv_heads: int = 1
    tokens_per_entry: int = 1
    """Above 1 where the cache is compressed along the sequence."""
    window: int | None = None
    """Entries kept at most (sliding or chunked window); None grows with the context."""
    read_limit: int | None = None
    """Entries one query reads at most (sparse attention); all stay stored."""
    borrowed: bool = False
    """The layer reads another layer's cache: read here, stored and written there."""

    def stored_entries(self, context: int) -> int:
        """Entries held for a sequence of `context` tokens."""
        entries = context // self.tokens_per_entry
        return entries if self.window is None else min(entries, self.window)

    def read_entries(self, context: int) -> int:
        """Entries one query token reads at a context of `context` tokens."""
        entries = self.stored_entries(context)
        return entries if self.read_limit is None else min(entries, self.read_limit)


@dataclass(frozen=True, slots=True)
class State:
    """Recurrent state of a layer, per sequence: read and written whole by every step."""

    elements: int
    """Recurrent part (SSM or linear-attention matrix)."""
    conv_elements: int = 0
    flops: int = 0
    """FLOPs of one token's state update and read-out."""
    bits: int = 32
    """The recurrent part is commonly kept in float32, whatever the KV format."""


@dataclass(frozen=True, slots=True)
class Routing:
    """Which of a layer's experts a token is sent to."""

    experts: int
    top_k: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, standing for `count` identical ones."""

    tensors: tuple[Tensor, ...]
    caches: tuple[Cache, ...] = ()
    state: State | None = None
    routing: Routing | None = None
    count: int = 1
    label: str = ""
    """In words, for a table: "full attention + MoE", "sliding attention + MLP", "Mamba-2"."""


@dataclass(frozen=True, slots=True)
class Attention:
    """The main attention's dimensions, for messages, levers and the achieved KV bandwidth."""

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int | None = None
    """Value width where it differs from the key width."""
    latent_dim: int | None = None
    """MLA: width of the compressed KV latent."""
    rope_dim: int | None = None
    """MLA: width of the shared rotary key."""

    @property
    def is_latent(self) -> bool:
        """Whether the cache holds one latent for all heads (MLA)."""
        return self.latent_dim is not None


@dataclass(frozen=True, slots=True, eq=False)
class Architecture:
    """A model as the ledger sees it. Compared by identity, so that plans are cached cheaply."""

    name: str
    model_type: str
    hidden: int
    vocabulary: int
    tensors: tuple[Tensor, ...]
    """Outside the layers: embeddings, head, final norm, projections, towers, MTP layers."""
    layers: tuple[Layer, ...]
    tied: bool = False
    """The embedding table is also the output head: stored once, streamed whole as a matmul."""
    attention: Attention | None = None
    """None for attention-free models."""
    intermediate: int = 0
    """Width of the dense MLP, or of one expert where all MLPs are routed."""
    dtype: str = "bf16"
    """What the config calls the checkpoint's 16- or 32-bit type: bf16, fp16 or fp32."""
    quantization: str | None = None
    """Name of the format that the checkpoint's own quantization config puts on its linears."""
    context_limit: int | None = None
    source: str = "config"
    """What the counts rest on: config, safetensors, gguf."""
    stored_bytes: int | None = None
    """Exact bytes of the weights in the checkpoint where a file's own table gave them."""
    notes: tuple[str, ...] = field(default=())
    """What a reader of the counts should know (a key ignored on purpose, a tower left out)."""

    @property
    def layer_count(self) -> int:
        """Layers of the text model (MTP layers not counted)."""
        return sum(layer.count for layer in self.layers)

    def parameters(self) -> dict[Component, int]:
        """Elements by component (MTP layers apart): each weight once, buffers not counted."""
        totals = dict.fromkeys(Component, 0)
        for tensor in self.tensors:
            if tensor.is_parameter:
                totals[tensor.component] += tensor.elements
        for layer in self.layers:
            for tensor in layer.tensors:
                if tensor.is_parameter:
                    totals[tensor.component] += tensor.elements * layer.count
        return totals

    @property
    def total_parameters(self) -> int:
        """All stored elements of the model proper: every component but MTP."""
        return sum(n for part, n in self.parameters().items() if part is not Component.MTP)

    @property
    def active_parameters(self) -> int:
        """Parameters one token of text uses, embeddings included, as model cards count them."""
        outside = sum(_active(tensor, None) for tensor in self.tensors)
        return outside + sum(
            _active(tensor, layer) * layer.count
            for layer in self.layers
            for tensor in layer.tensors
        )

    def with_layers(self, layers: tuple[Layer, ...]) -> Self:
        """The same model with other layers."""
        return replace(self, layers=layers)


def _active(tensor: Tensor, layer: Layer | None) -> int:
    """Elements of a tensor that one token uses."""
    unused = tensor.component in {Component.VISION, Component.MTP} or tensor.use is Use.IDLE
    if not tensor.is_parameter or unused:
        return 0
    if tensor.use is Use.EXPERT and layer is not None and layer.routing is not None:
        return tensor.elements * layer.routing.top_k // layer.routing.experts
    return tensor.elements
