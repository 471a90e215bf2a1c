"""What a deployment keeps in memory: weights, caches and states of one device, and what fits."""

from __future__ import annotations

from math import ceil
from typing import Final, NamedTuple

from advisor.deployment import Deployment
from advisor.ledger.holdings import Holdings, holdings_of

RUNTIME_BYTES: Final = 1.0e9
"""Memory an engine takes beside weights and cache (context, workspace, graphs)."""


def kv_stored_bytes(deployment: Deployment) -> float:
    """Cache bytes that one sequence of the deployment's context keeps on one rank's path."""
    return _kv_stored_bytes(deployment, holdings_of(deployment))


def _kv_stored_bytes(deployment: Deployment, held: Holdings) -> float:
    return deployment.kv_kept * sum(
        entry_bytes * cache.stored_entries(deployment.context)
        for cache, entry_bytes, written, _flops in held.caches
        if written
    )


def kv_bytes_per_token(deployment: Deployment) -> float:
    """Cache bytes one token adds over all layers, on one rank's path."""
    return sum(written for _cache, _bytes, written, _flops in holdings_of(deployment).caches)


class Capacity(NamedTuple):
    """What must be kept in the memory of one device, and how much more would fit."""

    weights_bytes: float
    per_sequence_bytes: float
    """KV cache and state of one sequence at the deployment's context."""
    sequences: int
    """Sequences kept on one device's rank."""
    available_bytes: float

    @property
    def needed_bytes(self) -> float:
        """All of it, the runtime's own memory included."""
        return self.weights_bytes + self.sequences * self.per_sequence_bytes + RUNTIME_BYTES

    @property
    def fits(self) -> bool:
        """Whether it can run at all."""
        return self.needed_bytes <= self.available_bytes

    @property
    def largest_batch(self) -> int:
        """Sequences of this context that fit on one rank; 0 where the weights alone do not."""
        room = self.available_bytes - self.weights_bytes - RUNTIME_BYTES
        if room <= 0:
            return 0
        return int(room // self.per_sequence_bytes) if self.per_sequence_bytes else 2**31


def capacity_of(deployment: Deployment) -> Capacity:
    """Memory that one device needs: its share of the weights, and its sequences' caches."""
    held = holdings_of(deployment)
    parallelism = deployment.parallelism
    sequences = ceil(deployment.batch / (parallelism.data * parallelism.attention_data))
    per_sequence = (_kv_stored_bytes(deployment, held) + held.state_bytes) / parallelism.pipeline
    weights = held.resident_bytes
    ranks = parallelism.tensor * parallelism.pipeline
    if deployment.offload is not None:
        weights = max(0.0, weights - deployment.offload.weights_bytes / ranks)
        away = deployment.offload.kv_bytes / ranks / max(sequences, 1)
        per_sequence = max(0.0, per_sequence - away)
    return Capacity(weights, per_sequence, sequences, deployment.hardware.usable_memory_bytes)
