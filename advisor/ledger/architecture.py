"""config.json -> `Architecture`: the one door through which every model enters the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module

from advisor.ledger.families.decoder import Family, read_decoder
from advisor.ledger.families.index import FAMILY_MODULES
from advisor.ledger.families.keys import Keys, UnsupportedModelError
from advisor.ledger.shapes import Architecture

__all__ = ["UnsupportedModelError", "read_architecture"]


def read_architecture(config: Mapping[str, object], *, name: str) -> Architecture:
    """Describe the model of a Hugging Face config.json, tensor by tensor.

    Raises:
        UnsupportedModelError: unknown model_type, unknown structural keys, or a value that is
            missing, null, negative, absurd or of the wrong type.

    """
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise UnsupportedModelError(
            str(model_type), "model_type is missing: no family, no layer shapes", "model_type"
        )
    family = find_family(model_type)
    return read_decoder(Keys(config, model_type, defaults=family.defaults), family, name)


def find_family(model_type: str) -> Family:
    """The row of a model_type, from the module that holds it."""
    module = FAMILY_MODULES.get(model_type)
    if module is None:
        near = get_close_matches(model_type, FAMILY_MODULES, n=1)
        hint = f"; the nearest known is {near[0]!r}" if near else ""
        raise UnsupportedModelError(model_type, f"unknown model_type{hint}", "model_type")
    families: Mapping[str, Family] = import_module(module).FAMILIES
    return families[model_type]
