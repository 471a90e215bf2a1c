"""config.json -> `Architecture`: the one door through which every model enters the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

from advisor.ledger.families.decoder import count_layers, read_decoder
from advisor.ledger.families.family import Family
from advisor.ledger.families.index import FAMILY_MODULES
from advisor.ledger.families.keys import Keys, UnsupportedModelError
from advisor.ledger.families.multimodal import MULTIMODAL, TEXT_DEFAULTS, Multimodal
from advisor.ledger.shapes import Architecture, Layer, Tensor

if TYPE_CHECKING:
    from advisor.ledger.families.towers import Tower
    from advisor.ledger.quantization_methods import Rules

__all__ = ["UnsupportedModelError", "read_architecture"]

_TEXT_KEYS: Final = ("text_config", "llm_config", "language_config")
_QUANTIZED: Final = ("quantization_config", "compression_config", "quantization")
_TIE: Final = "tie_word_embeddings"
_FROM_OUTSIDE: Final = (_TIE, "dtype", "torch_dtype")
"""Keys of the outer config that speak of the text model."""


class Storage(Protocol):
    """How a checkpoint stores the tensors of a model."""

    def layer(self, index: int, layer: Layer) -> Layer:
        """The layer of an index, its tensors in their stored formats."""

    def outer(self, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The tensors outside the layers, in their stored formats."""


def read_architecture(
    config: Mapping[str, object],
    *,
    name: str,
    quantization: Mapping[str, object] | None = None,
    storage: Storage | None = None,
) -> Architecture:
    """Describe the model of a Hugging Face config.json, tensor by tensor.

    `quantization` is the content of a hf_quant_config.json that stands beside the config;
    `storage` knows from the files themselves how tensors are stored.

    Raises:
        UnsupportedModelError: unknown model_type, unknown structural keys, or a value that is
            missing, null, negative, absurd or of the wrong type.

    """
    model_type = model_type_of(config)
    rules = _find_rules(config, model_type, quantization)
    nested = any(isinstance(config.get(key), Mapping) for key in _TEXT_KEYS)
    if model_type in MULTIMODAL and (nested or model_type not in FAMILY_MODULES):
        return _read_multimodal(config, MULTIMODAL[model_type], name, rules, storage)
    family = find_family(model_type)
    keys = Keys(config, model_type, defaults=family.defaults)
    return _read_stored(keys, family, name, rules, storage)


def _find_rules(
    config: Mapping[str, object], model_type: str, extra: Mapping[str, object] | None
) -> Rules | None:
    """The quantization rules at any level of a config, or of the file beside it."""
    nested = [config.get(key) for key in _TEXT_KEYS]
    for level in (config, *(one for one in nested if isinstance(one, Mapping))):
        for key in _QUANTIZED:
            given = level.get(key)
            if given is not None and not isinstance(given, Mapping):
                raise UnsupportedModelError(model_type, f"{key} must be an object", key)
            if given:
                return _read_rules(given, config, model_type, key)
    return _read_rules(extra, config, model_type, "hf_quant_config.json") if extra else None


def _read_rules(
    given: Mapping[str, object], config: Mapping[str, object], model_type: str, where: str
) -> Rules:
    from advisor.ledger.quantization_methods import read_rules  # noqa: PLC0415 (seldom needed)

    return read_rules(given, config, model_type, where)


def model_type_of(config: Mapping[str, object]) -> str:
    """The config's model_type, which decides everything else.

    Raises:
        UnsupportedModelError: there is none.

    """
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise UnsupportedModelError(
            str(model_type), "model_type is missing: no family, no layer shapes", "model_type"
        )
    return model_type


def find_family(model_type: str) -> Family:
    """The row of a model_type, from the module that holds it.

    Raises:
        UnsupportedModelError: no module knows it.

    """
    module = FAMILY_MODULES.get(model_type)
    if module is None:
        near = get_close_matches(model_type, (*FAMILY_MODULES, *MULTIMODAL), n=1)
        hint = f"; the nearest known is {near[0]!r}" if near else ""
        raise UnsupportedModelError(model_type, f"unknown model_type{hint}", "model_type")
    families: Mapping[str, Family] = import_module(module).FAMILIES
    return families[model_type]


def _read_stored(
    keys: Keys, family: Family, name: str, rules: Rules | None, storage: Storage | None
) -> Architecture:
    """A decoder, its tensors in the formats that the config promises and the files show."""
    if rules is None and storage is None:
        return read_decoder(keys, family, name)
    from advisor.ledger.quantization import Quantizer, main_format  # noqa: PLC0415 (as above)

    stores: list[Storage] = []
    if rules is not None:
        stores.append(Quantizer(rules, count_layers(keys, family), keys.model_type))
    if storage is not None:
        stores.append(storage)

    def store(index: int, layer: Layer) -> Layer:
        for one in stores:
            layer = one.layer(index, layer)
        return layer

    model = read_decoder(keys, family, name, store)
    tensors = model.tensors
    for one in stores:
        tensors = one.outer(tensors)
    return replace(model, tensors=tensors, quantization=main_format(model.layers))


def _read_multimodal(
    config: Mapping[str, object],
    shape: Multimodal,
    name: str,
    rules: Rules | None,
    storage: Storage | None,
) -> Architecture:
    """The text model, with its towers beside it."""
    model_type = model_type_of(config)
    outer = Keys(config, model_type)
    text, where = _text_config(outer)
    text_type = shape.text or str(text.get("model_type") or "")
    if not text_type:
        raise outer.error("the text model's model_type is missing", f"{where}model_type")
    family = find_family(text_type)
    nested = TEXT_DEFAULTS.get(text_type, {}) if where else {}
    keys = Keys(text, text_type, defaults={**nested, **family.defaults}, where=where)
    if not where:  # a flat config: the text's keys stand beside the tower's
        keys.ignore(*(key for key, _ in shape.towers), *shape.ignored)
    model = _read_stored(keys, family, name, rules, storage)
    towers, note = _read_towers(outer, shape, model.hidden)
    if where:
        outer.refuse_nested(*_TEXT_KEYS, *(key for key, _ in shape.towers))
    return replace(
        model,
        model_type=model_type,
        tensors=(*model.tensors, *towers),
        notes=(*model.notes, note) if note else model.notes,
    )


def _text_config(outer: Keys) -> tuple[Mapping[str, object], str]:
    """The text model's keys and where they stand; the outer config may speak for it."""
    for key in _TEXT_KEYS:
        nested = outer.mapping(key)
        if nested is not None:
            text = dict(nested)
            for shared in _FROM_OUTSIDE:
                value = outer.raw(shared)
                if value is not None and (text.get(shared) is None or shared == _TIE):
                    text[shared] = value
            return text, f"{key}."
    return outer.everything(), ""


def _read_towers(outer: Keys, shape: Multimodal, hidden: int) -> tuple[tuple[Tensor, ...], str]:
    """The tensors of the towers, and what a reader should know if one is left out."""
    towers: Mapping[str, Tower] = import_module(f"{__package__}.families.towers").TOWERS
    tensors: list[Tensor] = []
    missing: list[str] = []
    for key, tower_name in shape.towers:
        tower = towers[tower_name]
        if key and outer.mapping(key) is None:
            missing += [] if key in shape.optional else [key]
            continue
        keys = outer.nested(key, outer.model_type, tower.defaults) if key else outer
        tensors += tower.read(keys, outer, hidden)
    note = f"no {' or '.join(missing)}: that tower is not counted" if missing else ""
    return tuple(tensors), note
