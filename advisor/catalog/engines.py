"""Inference engines: what each does by default, and the names people write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache


class UnknownEngineError(ValueError):
    """An engine nobody knows by this name."""

    def __init__(self, text: str, nearest: tuple[str, ...]) -> None:
        """Keep the nearest known names beside the message."""
        self.text, self.nearest = text, nearest
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(f"unknown engine {text!r}{hint}")


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """An engine, perhaps of a version; compared by identity, resolving is cached."""

    id: str
    label: str
    version: str | None = None
    graphs: bool = True
    """Whether steps run as captured graphs (or compiled) unless somebody switches that off."""


_ENGINES = {
    "vllm": ("vLLM", True),
    "sglang": ("SGLang", True),
    "tensorrt-llm": ("TensorRT-LLM", True),
    "llama.cpp": ("llama.cpp", True),
    "hf-eager": ("Hugging Face eager", False),
    "torch-compile": ("torch.compile", True),
    "unknown": ("an unknown engine", True),
}


@lru_cache(maxsize=256)
def resolve_engine(text: str, version: str | None = None) -> Engine:
    """The engine people mean by `text`.

    Raises:
        UnknownEngineError: with the nearest known names.

    """
    flat = re.sub(r"[^a-z0-9]", "", text.lower())
    for name, (label, graphs) in _ENGINES.items():
        if flat in {re.sub(r"[^a-z0-9]", "", name), re.sub(r"[^a-z0-9]", "", label.lower())}:
            return Engine(name, label, version, graphs)
    raise UnknownEngineError(text, tuple(get_close_matches(flat, _ENGINES, 2, 0.5)))
