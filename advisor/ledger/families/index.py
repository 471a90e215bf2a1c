"""Which module knows a model_type: families are imported only when a config needs them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_MODULES: Final = {
    "dense": "llama mistral qwen2 qwen3 gemma2 phi3 gpt2 opt qwen",
}

FAMILY_MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        model_type: f"advisor.ledger.families.{module}"
        for module, types in _MODULES.items()
        for model_type in types.split()
    }
)
