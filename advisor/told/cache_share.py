"""The cache beside the weights, of the model that a text names; of a usual 8B where it names none.

Bytes of a step at batch 1: cache of one sequence in 16 bits, weights in the format that is stated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from advisor.prose.frame import Frame

_USUAL_BYTES_PER_TOKEN: Final = 131_072
"""32 layers, 8 KV heads of 128, keys and values, 2 bytes each: Llama-3.1-8B."""
_USUAL_WEIGHT_BYTES: Final = 15e9


class CacheShare(NamedTuple):
    """What a step reads."""

    name: str
    """The model, as a message calls it."""
    context: int
    cache_bytes: float
    weight_bytes: float
    is_named: bool
    """Whether the text names the model."""

    @property
    def share(self) -> float:
        """Of the bytes, those of the cache."""
        return self.cache_bytes / (self.cache_bytes + self.weight_bytes)

    @property
    def most(self) -> float:
        """The factor of a step that reads no cache at all."""
        return 1.0 / (1.0 - self.share)

    def __str__(self) -> str:
        """As a message begins: "at 512 tokens the cache of an 8B is 0.067 GB beside ..."."""
        cache, weights = self.cache_bytes / 1e9, self.weight_bytes / 1e9
        return (
            f"at {self.context:,} tokens the cache of {self.name} is {cache:.2g} GB beside"
            f" {weights:.3g} GB of weights"
        )


def cache_share(frame: Frame, context: int) -> CacheShare:
    """Cache and weights at a context in tokens."""
    if frame.model is not None:
        from advisor.prose.named import (  # noqa: PLC0415 - few texts name a model
            cache_bytes,
            read_parameters,
        )

        weights = frame.weight_bytes
        if weights is None or frame.active_parameters is not None:
            weights = read_parameters(frame.model) * (frame.weight_bits or 16.0) / 8.0
        cache = cache_bytes(frame.model, context)
        return CacheShare(frame.model.rpartition("/")[2], context, cache, weights, is_named=True)
    return CacheShare(
        "an 8B",
        context,
        float(_USUAL_BYTES_PER_TOKEN * context),
        _USUAL_WEIGHT_BYTES,
        is_named=False,
    )
