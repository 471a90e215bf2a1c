"""A checkpoint's own quantization: which tensors its config says are stored in which format.

Reads `quantization_config` (Hugging Face, at any level), `compression_config`, ModelOpt's
hf_quant_config.json and MLX's `quantization`, with their lists of modules kept wide and of
modules stored otherwise. What no rule names and is no linear layer stays in the model's dtype:
embeddings, head, norms, routers, towers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final, NamedTuple

from advisor.ledger.families.keys import UnsupportedModelError
from advisor.ledger.module_names import is_linear_name, module_paths
from advisor.ledger.module_patterns import PatternError, Patterns, read_patterns
from advisor.ledger.quantization_methods import Rules
from advisor.ledger.shapes import Component, Layer, Tensor, Use

_LINEAR: Final = frozenset(
    {
        Component.ATTENTION,
        Component.MLP,
        Component.EXPERTS,
        Component.SHARED_EXPERTS,
        Component.STATE,
    }
)
_KEPT_NAMES: Final = frozenset(
    {"router", "shared_expert_gate", "indexer.weights_proj", "indexer.pool_gate"}
)
"""Matrices that quantizers leave wide unless they are named."""


class Quantizer:
    """Puts a format on every tensor that a checkpoint's own quantization covers."""

    def __init__(self, rules: Rules, layers: int, model_type: str) -> None:
        """`layers` counts the text model's layers; MTP layers follow them in most checkpoints.

        Raises:
            UnsupportedModelError: a module pattern cannot be read with certainty.

        """
        self._rules = rules
        self._model_type = model_type
        self._layers = layers
        try:
            self._kept = read_patterns(rules.kept, layers + 1)
            self._named = tuple(
                _Format(name, read_patterns(entries, layers + 1))
                for name, entries in rules.named.items()
            )
        except PatternError as error:
            raise UnsupportedModelError(
                model_type, f"a module pattern of the quantization config: {error}", rules.where
            ) from None
        self._numbered = any(
            patterns.numbered for patterns in (self._kept, *(rule.patterns for rule in self._named))
        )
        self._seen: dict[tuple[object, ...], Layer] = {}

    def layer(self, index: int, layer: Layer) -> Layer:
        """The same layer, its tensors stored as the config says for this index."""
        named = tuple(rule.patterns.of_layer(index) for rule in self._named)
        number = index if self._numbered else None
        case = id(layer), self._kept.of_layer(index), named, number
        if case not in self._seen:
            stored = tuple(self._stored(tensor, index) for tensor in layer.tensors)
            self._seen[case] = replace(layer, tensors=stored)
        return self._seen[case]

    def outer(self, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Tensors outside the layers; MTP layers count as the layer after the last."""
        return tuple(
            self._stored(tensor, self._layers if tensor.component is Component.MTP else None)
            for tensor in tensors
        )

    def _stored(self, tensor: Tensor, index: int | None) -> Tensor:
        if (
            tensor.use in {Use.VECTOR, Use.BUFFER}
            or tensor.component in {Component.VISION, Component.NORMS}
            or tensor.name.endswith(".bias")
        ):
            return tensor
        paths = module_paths(
            tensor.name, tensor.component, self._model_type, is_expert=len(tensor.shape) == 3
        )
        found = next(
            (rule.format for rule in self._named if rule.patterns.match(paths, index)), None
        )
        if found is None and self._rules.default and self._covered(tensor):
            found = self._rules.default
        if found is None or self._is_kept(tensor, paths, index):
            return tensor
        return replace(tensor, stored_as=found)

    def _is_kept(self, tensor: Tensor, paths: tuple[str, ...], index: int | None) -> bool:
        if tensor.component is Component.MTP and self._kept.mtp:
            return True
        return self._kept.match(paths, index)

    def _covered(self, tensor: Tensor) -> bool:
        """Whether the quantizer's default reaches this tensor at all."""
        name = tensor.name.removeprefix("mtp.")
        if len(tensor.shape) < 2:
            return False
        if self._rules.everything:
            return True
        is_expert = tensor.use is Use.EXPERT or len(tensor.shape) == 3
        if self._rules.experts_only:
            return is_expert
        if name == "lm_head":
            return self._rules.head
        if tensor.component is Component.MTP:
            return is_linear_name(name) and name not in _KEPT_NAMES
        return tensor.component in _LINEAR and name not in _KEPT_NAMES


class _Format(NamedTuple):
    """A format and the modules that are stored in it."""

    format: str
    patterns: Patterns


def main_format(layers: tuple[Layer, ...]) -> str | None:
    """The format that most weights of the layers are stored in; None where that is no other."""
    elements: Counter[str] = Counter()
    for layer in layers:
        for tensor in layer.tensors:
            if tensor.stored_as is not None and tensor.use is not Use.BUFFER:
                elements[tensor.stored_as] += tensor.elements * layer.count
    return max(elements, key=lambda name: elements[name]) if elements else None
