"""The tensor table of safetensors files, read from their headers alone.

A file starts with the length of its header (8 bytes, little-endian), then the header, a JSON
object of dtype, shape and place of every tensor. Every claim is checked against the others and
against the size of the file before it is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Final, NamedTuple, TypeGuard

from advisor.ledger.bounded_files import (
    CheckpointError,
    inside,
    open_regular,
    parse_json,
    read_json,
)

INDEX_NAME: Final = "model.safetensors.index.json"
_MAX_HEADER_BYTES: Final = 64 * 2**20
_MAX_TENSORS: Final = 1_000_000
_MAX_FILES: Final = 4_096
_MAX_DIMENSIONS: Final = 16
_MAX_BYTES: Final = 2**60

_BITS: Final[Mapping[str, int]] = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "I64": 64, "U64": 64, "F64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip


class StoredTensor(NamedTuple):
    """One tensor of a file."""

    dtype: str
    shape: tuple[int, ...]
    bytes: int


class TensorTable(NamedTuple):
    """All tensors of a checkpoint."""

    tensors: Mapping[str, StoredTensor]
    """Empty where only the index is at hand."""
    bytes: int
    complete: bool
    """Whether every file that the index names was read."""


def read_header(path: Path) -> dict[str, StoredTensor]:
    """The tensors of one safetensors file.

    Raises:
        CheckpointError: truncated, lying, or gigantic header.

    """
    file, size = open_regular(path)
    with file:
        if size < 8:
            raise CheckpointError(f"{path.name} has {size} bytes: too short for a header length")
        length = int.from_bytes(file.read(8), "little")
        if length > _MAX_HEADER_BYTES:
            raise CheckpointError(
                f"{path.name} claims a header of {length:,} bytes; "
                f"at most {_MAX_HEADER_BYTES:,} are read"
            )
        if length > size - 8:
            raise CheckpointError(
                f"{path.name} claims a header of {length:,} bytes, but has {size - 8:,} left"
            )
        header = parse_json(file.read(length), f"the header of {path.name}")
    return _check_header(header, path.name, size - 8 - length)


def _check_header(
    header: Mapping[str, object], name: str, data_bytes: int
) -> dict[str, StoredTensor]:
    """The entries of a header; together they must cover the data without overlap."""
    if len(header) > _MAX_TENSORS:
        raise CheckpointError(f"{name} lists {len(header):,} tensors")
    found: dict[str, StoredTensor] = {}
    spans: list[tuple[int, int]] = []
    for key, entry in header.items():
        if key == "__metadata__":
            continue
        tensor, span = _check_entry(entry, f"{name}: tensor {key[:80]!r}", data_bytes)
        found[key] = tensor
        spans.append(span)
    spans.sort()
    end = 0
    for begin, stop in spans:
        if begin != end:
            place = min(begin, end)
            raise CheckpointError(f"{name}: tensors overlap or leave a gap at byte {place:,}")
        end = stop
    if end != data_bytes:
        raise CheckpointError(
            f"{name}: the tensors end at byte {end:,} of {data_bytes:,}: truncated or padded"
        )
    return found


def _check_entry(
    entry: object, where: str, data_bytes: int
) -> tuple[StoredTensor, tuple[int, int]]:
    if not isinstance(entry, Mapping):
        raise CheckpointError(f"{where} must be an object")
    dtype, shape, place = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise CheckpointError(f"{where} has the unknown dtype {str(dtype)[:20]!r}")
    if not _are_sizes(shape) or len(shape) > _MAX_DIMENSIONS:
        raise CheckpointError(f"{where} has no valid shape")
    if not _are_sizes(place) or len(place) != 2 or not place[0] <= place[1] <= data_bytes:
        raise CheckpointError(f"{where} lies outside the file")
    size = place[1] - place[0]
    if prod(shape) * _BITS[dtype] != size * 8:
        raise CheckpointError(f"{where}: {dtype} of shape {shape} is not {size:,} bytes")
    return StoredTensor(dtype, tuple(shape), size), (place[0], place[1])


def _are_sizes(value: object) -> TypeGuard[list[int]]:
    """Whether it is a list of plain whole numbers within reason."""
    return isinstance(value, list) and all(
        isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= _MAX_BYTES
        for item in value
    )


def read_table(folder: Path) -> TensorTable | None:
    """All tensors of a folder: by its index, or of every safetensors file; None without any.

    Raises:
        CheckpointError: a file that lies, or an index that names files outside the folder.

    """
    if (folder / INDEX_NAME).exists():
        return _read_indexed(folder)
    names = sorted(path.name for path in folder.glob("*.safetensors"))[: _MAX_FILES + 1]
    if not names:
        return None
    return _read_files(folder, names)


def _read_files(folder: Path, names: list[str]) -> TensorTable:
    if len(names) > _MAX_FILES:
        raise CheckpointError(f"more than {_MAX_FILES} safetensors files")
    tensors: dict[str, StoredTensor] = {}
    for name in names:
        tensors.update(read_header(inside(folder, name)))
    return TensorTable(tensors, sum(tensor.bytes for tensor in tensors.values()), complete=True)


def _read_indexed(folder: Path) -> TensorTable:
    """The tensors an index names; where files are missing, the total that it states."""
    index = read_json(inside(folder, INDEX_NAME))
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, Mapping) or not weight_map:
        raise CheckpointError(f"{INDEX_NAME} has no weight_map")
    names = sorted({name for name in weight_map.values() if isinstance(name, str)})
    if any(not isinstance(name, str) for name in weight_map.values()):
        raise CheckpointError(f"{INDEX_NAME}: weight_map must name files")
    paths = [inside(folder, name) for name in names]
    if all(path.exists() for path in paths):
        table = _read_files(folder, names)
        missing = next((name for name in weight_map if name not in table.tensors), None)
        if missing is not None:
            raise CheckpointError(f"{INDEX_NAME} names {missing[:80]!r}, which no file holds")
        return table
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    if isinstance(total, bool) or not isinstance(total, int) or not 0 < total <= _MAX_BYTES:
        raise CheckpointError(
            f"{INDEX_NAME} states no total_size, and {paths[0].name} is not all there"
        )
    return TensorTable({}, total, complete=False)
