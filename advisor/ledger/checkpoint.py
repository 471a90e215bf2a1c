"""A checkpoint on disk -> `Architecture`: what its files say wins over what formulas give.

A folder with config.json and safetensors is counted by its config, tensor by tensor, and stored
as its headers say; a GGUF file by its own tensor table. No weight is ever read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.bounded_files import CheckpointError, inside, read_json
from advisor.ledger.safetensors_header import TensorTable, read_header, read_table
from advisor.ledger.shapes import Architecture
from advisor.ledger.stored_dtypes import StoredDtypes

__all__ = ["CheckpointError", "UnsupportedModelError", "read_checkpoint"]

_CONFIG: Final = "config.json"
_MODELOPT: Final = "hf_quant_config.json"
_OTHER_WEIGHTS: Final = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack")


def read_checkpoint(path: str | Path) -> Architecture:
    """Describe the model of a checkpoint: a folder, a config.json, a .safetensors or .gguf file.

    Raises:
        CheckpointError: a file is missing, truncated, lies about its content or leads out of its
            folder.
        UnsupportedModelError: the config is of no known family.

    """
    given = Path(path)
    if given.is_dir():
        return _read_folder(given)
    suffix = given.suffix.lower()
    if suffix == ".gguf":
        return _read_gguf(given)
    if suffix == ".safetensors":
        tensors = read_header(given)
        table = TensorTable(tensors, sum(t.bytes for t in tensors.values()), complete=True)
        if not (given.parent / _CONFIG).exists():
            raise CheckpointError(
                f"there is no {_CONFIG} beside {given.name}: "
                "a tensor table does not say how many heads share a projection"
            )
        return _read_config(given.parent, table, given.stem)
    if suffix == ".json":
        name = given.resolve().parent.name if given.name == _CONFIG else given.stem
        return read_architecture(read_json(given), name=name)
    if not given.exists():
        raise CheckpointError(f"{given} does not exist")
    raise CheckpointError(
        f"{given.name} is no checkpoint: "
        "give a folder, a config.json, a .safetensors or a .gguf file"
    )


def _read_folder(folder: Path) -> Architecture:
    if (folder / _CONFIG).exists():
        return _read_config(folder, read_table(folder), folder.resolve().name)
    files = sorted(folder.glob("*.gguf"))
    if files:
        return _read_gguf(inside(folder, files[0].name))
    raise CheckpointError(f"{folder} holds no {_CONFIG} and no .gguf file")


def _read_gguf(path: Path) -> Architecture:
    from advisor.ledger.gguf_model import read_gguf  # noqa: PLC0415 (only for .gguf files)

    return read_gguf(path)


def _read_config(folder: Path, table: TensorTable | None, name: str) -> Architecture:
    """The model of a folder's config, stored as its tensor table says."""
    config = read_json(inside(folder, _CONFIG))
    quantization: Mapping[str, object] | None = None
    if (folder / _MODELOPT).exists():
        quantization = read_json(inside(folder, _MODELOPT))
    if table is None:
        model = read_architecture(config, name=name, quantization=quantization)
        if any(True for pattern in _OTHER_WEIGHTS for _ in folder.glob(pattern)):
            note = "the weights are no safetensors: counted by the config alone"
            return replace(model, notes=(*model.notes, note))
        return model
    stored = StoredDtypes(table.tensors)
    model = read_architecture(config, name=name, quantization=quantization, storage=stored)
    notes = model.notes
    if not table.complete:
        notes = (*notes, "files are missing: the stored bytes are those its index states")
    return replace(
        model,
        source="safetensors",
        stored_bytes=table.bytes,
        dtype=stored.main_dtype or model.dtype,
        notes=notes,
    )
