"""Fewer bits: weights, KV cache, activations, output head."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, Self

from pydantic import model_validator

from advisor.deployment import Deployment
from advisor.ledger.formats import parse_format
from advisor.levers.base import OPEN_WIDTHS, FormatName, Lever, Nature

_SHORT: Final = 2048
_LARGE_BATCH: Final = 16
"""Up to this context and below this batch the cache is a few percent of a step."""


class Quantize(Lever):
    """Weights, KV cache, activations or output head kept in other number formats."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["quantize"] = "quantize"
    weights: FormatName | None = None
    kv_cache: FormatName | None = None
    activations: FormatName | None = None
    lm_head: FormatName | None = None
    kernel: str | None = None
    packed: bool = True
    """False where weights are only rounded and stay in wide tensors (simulated, QAT)."""
    mean_bits: float | None = None
    """Bits per weight on average, of a mix of widths that is fixed by them."""
    in_kernel: bool = True
    """False where a low-bit KV cache is expanded before the attention kernel reads it."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.weights or self.kv_cache or self.activations or self.lm_head):
            raise ValueError("quantize what? give weights, kv_cache, activations or lm_head")
        return self

    @property
    def machine_kind(self) -> str:
        """quantize.weights.<width> or quantize.kv."""
        if self._is_kv:
            return "quantize.kv"
        if self._main in OPEN_WIDTHS:
            return f"quantize.weights.{self._main}"
        return f"quantize.weights.{parse_format(self._main).kind}"

    @property
    def _is_kv(self) -> bool:
        return self.kv_cache is not None and not (self.weights or self.lm_head)

    @property
    def _main(self) -> str:
        return self.weights or self.lm_head or self.activations or self.kv_cache or ""

    @property
    def label(self) -> str:
        """The formats in words."""
        parts = []
        if self.weights:
            parts.append(f"{self.weights} weights")
        if self.lm_head:
            parts.append(f"{self.lm_head} lm_head")
        if self.activations:
            parts.append(f"{self.activations} activations")
        if self.kv_cache:
            parts.append(f"{self.kv_cache} KV cache")
        return ", ".join(parts)

    def apply(self, deployment: Deployment) -> Deployment:
        """Other formats, everything else unchanged."""
        layers = deployment.model.layer_count
        changes = {
            field: parse_format(text, layers)
            for field, text in (
                ("weights", self.weights),
                ("kv_cache", self.kv_cache),
                ("activations", self.activations),
                ("lm_head", self.lm_head),
            )
            if text is not None and text not in OPEN_WIDTHS
        }
        if self.weights == "mixed" and self.mean_bits is not None:
            changes["weights"] = parse_format(f"{self.mean_bits:g}bpw")
        if not self.packed:
            changes.pop("weights", None)
        if not self.in_kernel:
            changes.pop("kv_cache", None)
        return deployment.evolve(**changes)

    def condition(self, deployment: Deployment) -> str | None:
        """What stands between fewer bits by name and fewer bytes read."""
        if self._main in OPEN_WIDTHS and self.mean_bits is None:
            return "the width, which is chosen at run time"
        if not self.packed:
            return "packing: rounded weights in wide tensors are as many bytes as before"
        if self._is_kv and not self.in_kernel:
            return "an attention kernel that reads the low-bit cache: here it is expanded first"
        if self._is_kv and deployment.context <= _SHORT and deployment.batch < _LARGE_BATCH:
            return f"a longer context or larger batch than {deployment.context:,} tokens"
        if self._main not in OPEN_WIDTHS and parse_format(self._main).family == "bnb-int8":
            return "the outlier path of LLM.int8, usually slower than 16 bits at batch 1"
        return None

    def parts(self) -> tuple[Lever, ...]:
        """Weights and KV cache are two levers: each has its own bytes and its own verdict."""
        if self.kv_cache is None or self._is_kv:
            return (self,)
        weights = self.model_copy(update={"kv_cache": None})
        return (weights, Quantize(kv_cache=self.kv_cache, kernel=self.kernel))
