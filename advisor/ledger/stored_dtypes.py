"""The formats that a safetensors table itself shows: they win over what a config promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from advisor.ledger.module_names import module_paths
from advisor.ledger.safetensors_header import StoredTensor
from advisor.ledger.shapes import Component, Layer, Tensor, Use

_FLOATS: Final = {"BF16": "bf16", "F16": "fp16", "F32": "fp32"}
_FLOAT8: Final = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
_SCALES: Final = ("weight_scale_inv", "weight_scale", "scale")


class StoredDtypes:
    """Corrects formats by the dtypes of the tensors in the files.

    Plain floats and FP8 are told by their dtype. Packed integers are not: there the quantization
    config keeps its word.
    """

    def __init__(self, tensors: Mapping[str, StoredTensor]) -> None:
        """Sort the table by layer, relative to it."""
        self._layers: dict[int, dict[str, str]] = {}
        self._outer: dict[str, str] = {}
        sizes: dict[str, int] = {}
        for name, stored in tensors.items():
            module, _, kind = name.rpartition(".")
            if kind != "weight":
                continue
            found = _format(stored, tensors, module)
            if found is None:
                continue
            if found in _FLOATS.values():
                sizes[found] = sizes.get(found, 0) + stored.bytes
            index, path = _place(module)
            if index is None:
                self._outer[path] = found
            else:
                self._layers.setdefault(index, {})[path] = found
        self.main_dtype = max(sizes, key=lambda name: sizes[name]) if sizes else None
        self._seen: dict[tuple[int, tuple[str | None, ...]], Layer] = {}

    def layer(self, index: int, layer: Layer) -> Layer:
        """The same layer, stored as the files show for this index."""
        found = self._layers.get(index)
        if not found:
            return layer
        formats = tuple(self._of(tensor, found) for tensor in layer.tensors)
        case = id(layer), formats
        if case not in self._seen:
            tensors = tuple(
                replace(tensor, stored_as=name)
                for tensor, name in zip(layer.tensors, formats, strict=True)
            )
            self._seen[case] = replace(layer, tensors=tensors)
        return self._seen[case]

    def outer(self, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Tensors outside the layers, stored as the files show."""
        return tuple(
            replace(tensor, stored_as=self._of(tensor, self._outer))
            if tensor.component in {Component.EMBEDDING, Component.LM_HEAD}
            else tensor
            for tensor in tensors
        )

    def _of(self, tensor: Tensor, found: Mapping[str, str]) -> str | None:
        if tensor.use in {Use.VECTOR, Use.BUFFER} or tensor.name.endswith(".bias"):
            return tensor.stored_as
        is_expert = len(tensor.shape) == 3
        for path in module_paths(tensor.name, tensor.component, is_expert=is_expert):
            if path in found:
                name = found[path]
                return None if name == self.main_dtype else name
        return tensor.stored_as


def _format(stored: StoredTensor, tensors: Mapping[str, StoredTensor], module: str) -> str | None:
    """The format a dtype tells, None for packed integers and other containers."""
    if stored.dtype in _FLOATS:
        return _FLOATS[stored.dtype]
    if stored.dtype not in _FLOAT8:
        return None
    for name in _SCALES:
        scale = tensors.get(f"{module}.{name}")
        if scale is None:
            continue
        if len(scale.shape) == 2 and scale.shape[1] > 1:
            return "fp8-block128"
        rows = stored.shape[0] if stored.shape else 0
        return "fp8-channel" if scale.shape and scale.shape[0] == rows > 1 else "fp8"
    return "fp8"


def _place(module: str) -> tuple[int | None, str]:
    """(layer, module within it); outside the layers None and the whole name."""
    for marker in ("layers.", "h.", "blocks."):
        head, found, rest = module.partition(f".{marker}")
        number, dot, path = rest.partition(".")
        if found and dot and number.isdigit() and len(number) <= 5 and "vis" not in head:
            return int(number), path
    return None, module
