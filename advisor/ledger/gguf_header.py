"""The header of a GGUF file: its metadata and its tensor table, read within bounds.

Written here rather than taken from the `gguf` package: that one needs numpy, maps the whole file
and trusts what it reads. Layout (versions 2 and 3, little-endian): magic, version, counts, typed
key-value pairs, tensor infos, then the data at the next multiple of the alignment.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from advisor.ledger.bounded_files import CheckpointError, open_regular

_MAX_TENSORS: Final = 200_000
_MAX_PAIRS: Final = 65_536
_MAX_KEY_BYTES: Final = 65_536
_MAX_STRING_BYTES: Final = 16 * 2**20
_MAX_ITEMS: Final = 2**24
_KEPT_ITEMS: Final = 10_000
"""Longer arrays (vocabularies) are skipped: only their length is kept."""
_MAX_NAME_BYTES: Final = 256
_MAX_SIZE: Final = 2**48

_STRING, _ARRAY = 8, 9
_SCALARS: Final[Mapping[int, str]] = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip

_TYPES: Final[Mapping[int, tuple[str, int, int]]] = {
    # ggml type: (format, weights a block, bytes a block)
    0: ("fp32", 1, 4), 1: ("fp16", 1, 2), 2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20),
    6: ("q5_0", 32, 22), 7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34), 10: ("q2_k", 256, 84),
    11: ("q3_k", 256, 110), 12: ("q4_k", 256, 144), 13: ("q5_k", 256, 176), 14: ("q6_k", 256, 210),
    16: ("iq2_xxs", 256, 66), 17: ("iq2_xs", 256, 74), 18: ("iq3_xxs", 256, 98),
    19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18), 21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 29: ("iq1_m", 256, 56),
    30: ("bf16", 1, 2), 34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 39: ("mxfp4", 32, 17),
    40: ("nvfp4", 64, 36),
}  # fmt: skip


class GgufTensor(NamedTuple):
    """One tensor: its shape as (out, in), its format and its exact bytes."""

    name: str
    shape: tuple[int, ...]
    format: str
    bytes: int


class GgufFile(NamedTuple):
    """What a header says."""

    metadata: Mapping[str, object]
    """Scalars, strings and short arrays; of a long array its length, under key + ".length"."""
    tensors: tuple[GgufTensor, ...]


class _Reader:
    """Reads a header forwards and never beyond the end of the file."""

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file = file
        self._left = size
        self.size = size
        self.name = name

    @property
    def position(self) -> int:
        return self.size - self._left

    def error(self, reason: str) -> CheckpointError:
        return CheckpointError(f"{self.name}: {reason}")

    def take(self, count: int) -> bytes:
        if count > self._left:
            raise self.error(f"ends at byte {self.size:,}, within its header")
        data = self._file.read(count)
        if len(data) != count:
            raise self.error("was cut short while it was read")
        self._left -= count
        return data

    def number(self, code: str) -> int:
        value = struct.unpack(code, self.take(struct.calcsize(code)))[0]
        return int(value)

    def text(self, limit: int) -> str:
        length = self.number("<Q")
        if length > limit:
            raise self.error(f"claims a text of {length:,} bytes; at most {limit:,} are read")
        return self.take(length).decode("utf-8", "replace")

    def skip_text(self) -> None:
        length = self.number("<Q")
        if length > _MAX_STRING_BYTES:
            raise self.error(f"claims a text of {length:,} bytes")
        self.take(length)


def read_header(path: Path) -> GgufFile:
    """Metadata and tensor table of a GGUF file.

    Raises:
        CheckpointError: no GGUF, truncated, or a claim that does not fit the file.

    """
    file, size = open_regular(path)
    with file:
        reader = _Reader(file, size, path.name)
        if reader.take(4) != b"GGUF":
            raise reader.error("is no GGUF file")
        version = reader.number("<I")
        if version not in {2, 3}:
            raise reader.error(f"has GGUF version {version}; versions 2 and 3 are known")
        tensors, pairs = reader.number("<Q"), reader.number("<Q")
        if tensors > _MAX_TENSORS or pairs > _MAX_PAIRS:
            raise reader.error(f"claims {tensors:,} tensors and {pairs:,} metadata entries")
        metadata: dict[str, object] = {}
        for _ in range(pairs):
            _read_pair(reader, metadata)
        infos = [_read_info(reader) for _ in range(tensors)]
        found = _place(reader, infos, metadata.get("general.alignment", 32))
    return GgufFile(metadata, found)


def _read_pair(reader: _Reader, metadata: dict[str, object]) -> None:
    key = reader.text(_MAX_KEY_BYTES)
    kind = reader.number("<I")
    if kind == _STRING:
        metadata[key] = reader.text(_MAX_STRING_BYTES)
    elif kind == _ARRAY:
        inner, count = reader.number("<I"), reader.number("<Q")
        if count > _MAX_ITEMS:
            raise reader.error(f"{key[:60]} claims {count:,} entries")
        metadata[f"{key}.length"] = count
        _read_array(reader, key, inner, count, metadata)
    elif kind in _SCALARS:
        code = _SCALARS[kind]
        metadata[key] = struct.unpack(code, reader.take(struct.calcsize(code)))[0]
    else:
        raise reader.error(f"{key[:60]} has the unknown type {kind}")


def _read_array(
    reader: _Reader, key: str, inner: int, count: int, metadata: dict[str, object]
) -> None:
    if inner == _STRING:
        for _ in range(count):
            reader.skip_text()
        return
    if inner not in _SCALARS:
        raise reader.error(f"{key[:60]} is an array of the unknown type {inner}")
    code = _SCALARS[inner]
    width = struct.calcsize(code)
    if count > _KEPT_ITEMS:
        for start in range(0, count, _KEPT_ITEMS):
            reader.take(min(_KEPT_ITEMS, count - start) * width)
        return
    data = reader.take(count * width)
    metadata[key] = [item[0] for item in struct.iter_unpack(code, data)]


def _read_info(reader: _Reader) -> tuple[str, tuple[int, ...], int, int]:
    """(name, shape as written: innermost first, type, offset) of one tensor."""
    name = reader.text(_MAX_NAME_BYTES)
    count = reader.number("<I")
    if not 0 < count <= 4:
        raise reader.error(f"tensor {name[:60]!r} has {count} dimensions")
    shape = tuple(reader.number("<Q") for _ in range(count))
    if any(not 0 < size <= _MAX_SIZE for size in shape):
        raise reader.error(f"tensor {name[:60]!r} has the shape {shape}")
    return name, shape, reader.number("<I"), reader.number("<Q")


def _place(
    reader: _Reader, infos: list[tuple[str, tuple[int, ...], int, int]], alignment: object
) -> tuple[GgufTensor, ...]:
    """The tensors, once each lies whole within the file and none over another."""
    if isinstance(alignment, bool) or not isinstance(alignment, int):
        raise reader.error(f"has the alignment {alignment!r}")
    if not 0 < alignment <= 2**20 or alignment & (alignment - 1):
        raise reader.error(f"has the alignment {alignment}, which is no power of two")
    start = -(-reader.position // alignment) * alignment
    found: list[GgufTensor] = []
    spans: list[tuple[int, int]] = []
    for name, shape, kind, offset in infos:
        if kind not in _TYPES:
            raise reader.error(f"tensor {name[:60]!r} has a type ({kind}) that stores no weights")
        form, block, block_bytes = _TYPES[kind]
        if shape[0] % block:
            raise reader.error(f"tensor {name[:60]!r}: rows of {shape[0]} are no blocks of {block}")
        size = prod(shape) // block * block_bytes
        if offset % alignment or start + offset + size > reader.size:
            raise reader.error(f"tensor {name[:60]!r} lies outside the file")
        spans.append((offset, offset + size))
        found.append(GgufTensor(name, tuple(reversed(shape)), form, size))
    spans.sort()
    for before, after in pairwise(spans):
        if after[0] < before[1]:
            raise reader.error(f"tensors overlap at byte {start + after[0]:,}")
    return tuple(found)
