"""The model catalog: config.json files of known models, by repository identifier."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from advisor.catalog.model_names import ModelMatch, resolve_model
from advisor.catalog.names import UnknownNameError, nearest_names, squeeze
from advisor.catalog.store import load_index
from advisor.ledger.architecture import read_architecture
from advisor.ledger.shapes import Architecture

__all__ = [
    "ModelMatch",
    "ModelRecord",
    "load_config",
    "load_model",
    "model_names",
    "model_record",
    "resolve_model",
]


class ModelRecord(NamedTuple):
    """Where a config of the catalog comes from, and how far it may be trusted."""

    repo_id: str
    source: str
    confidence: str
    """exact: its parameter count meets the published total; explained: it differs by a known
    amount; unverified: no published total was at hand."""
    parameters: int | None
    """Published total of the checkpoint, as its host counts it (packed formats count less)."""


def model_names() -> tuple[str, ...]:
    """Every repository identifier of the catalog."""
    return tuple(load_index("models").places)


def load_config(repo_id: str) -> dict[str, Any]:
    """Return the config.json of a model of the catalog, the caller's to change.

    Raises:
        UnknownNameError: with the nearest known names.

    """
    config: dict[str, Any] = _entry(repo_id)["config"]
    return config


def model_record(repo_id: str) -> ModelRecord:
    """Return the source and confidence of a model of the catalog.

    Raises:
        UnknownNameError: with the nearest known names.

    """
    entry = _entry(repo_id)
    return ModelRecord(repo_id, entry["source"], entry["confidence"], entry["parameters"])


@lru_cache(maxsize=64)
def load_model(repo_id: str) -> Architecture:
    """Describe a model of the catalog, tensor by tensor.

    Raises:
        UnknownNameError: with the nearest known names.
        UnsupportedModelError: the family of the model cannot be read.

    """
    return read_architecture(load_config(repo_id), name=repo_id)


def _entry(repo_id: str) -> dict[str, Any]:
    index = load_index("models")
    if repo_id not in index.places:
        known = {squeeze(name): name for name in index.places}
        raise UnknownNameError("model", repo_id, nearest_names(repo_id, known))
    return index.entry(repo_id)
