"""Bytes a checkpoint takes on disk, tensor by tensor: scales, zeros and block padding included.

Formats describe their cost in bits per weight (`formats`); here the same is counted in whole
scales and blocks, as files store them: DeepSeek-V3's 576-row projection has 5 rows of 128-row
blocks. Tensors of sparse or mixed files are counted from the file itself (`checkpoint`).
"""

from __future__ import annotations

from math import ceil, prod
from typing import Final

from advisor.ledger.formats import FORMATS, parse_format
from advisor.ledger.shapes import Architecture, Tensor, Use

_BLOCK: Final = 128
_WIDE: Final = {"bf16": 2, "fp16": 2, "fp32": 4, "int64": 8}
_BFLOAT16_SCALES: Final = ("qwen",)
"""Families whose FP8 checkpoints keep the scales of their blocks in 16 bits, not 32."""
_GROUPED: Final = {
    # name: (weights a byte, weights a scale, bytes a scale, bytes a tensor)
    "mxfp4": (2, 32, 1, 0),
    "mxfp8": (1, 32, 1, 0),
    "nvfp4": (2, 16, 1, 8),
}


def checkpoint_bytes(architecture: Architecture, *, head_stored: bool = False) -> int:
    """Bytes of all tensors in the checkpoint, MTP layers and buffers included.

    `head_stored`: the checkpoint of a tied model stores its head once more, as Falcon's does.
    """
    wide = _WIDE[architecture.dtype]
    scale = 2 if architecture.model_type.startswith(_BFLOAT16_SCALES) else 4
    total = sum(tensor_bytes(t, wide, scale) for t in architecture.tensors)
    for layer in architecture.layers:
        total += layer.count * sum(
            tensor_bytes(t, wide, scale) for t in layer.tensors if not t.shared
        )
    if head_stored and architecture.tied:
        total += architecture.vocabulary * architecture.hidden * wide
    return total


def tensor_bytes(tensor: Tensor, wide_bytes: int, scale_bytes: int = 4) -> int:
    """Bytes of a tensor in its stored format; `wide_bytes` an element where nothing is set.

    `scale_bytes` is the width of one scale of a 128x128 FP8 block.
    """
    name = tensor.stored_as
    if tensor.use is Use.BUFFER and name is None:
        name = "fp32"
    if name is None:
        return tensor.elements * wide_bytes
    if name in _WIDE:
        return tensor.elements * _WIDE[name]
    rows, columns = _matrix(tensor)
    matrices = tensor.count * prod(tensor.shape[:-2])
    return matrices * _matrix_bytes(name, rows, columns, scale_bytes)


def _matrix(tensor: Tensor) -> tuple[int, int]:
    return (tensor.shape[-2], tensor.shape[-1]) if len(tensor.shape) > 1 else (1, tensor.shape[0])


def _matrix_bytes(name: str, rows: int, columns: int, scale_bytes: int) -> int:
    """Bytes of one matrix of `rows` outputs."""
    elements = rows * columns
    if name == "fp8-block128":
        return elements + scale_bytes * ceil(rows / _BLOCK) * ceil(columns / _BLOCK)
    if name in _GROUPED:
        packed, group, scale, extra = _GROUPED[name]
        return elements // packed + scale * rows * ceil(columns / group) + extra
    if name.startswith("int") and "-g" in name:
        return _integer_bytes(name, rows, columns)
    form = parse_format(name)
    bits = elements * (form.bits if name in FORMATS else form.element_bits)
    return ceil(bits / 8) + ceil(rows * form.row_bits / 8)


def _integer_bytes(name: str, rows: int, columns: int) -> int:
    """Integers in groups along a row: a 16-bit scale each, and a zero as the name says."""
    form = parse_format(name)
    width = int(form.element_bits)
    group = int(name.split("-g")[1].split("-", maxsplit=1)[0])
    groups = rows * ceil(columns / group)
    metadata_bits = round((form.bits - width) * group) * groups
    return ceil((rows * columns * width + metadata_bits) / 8)
