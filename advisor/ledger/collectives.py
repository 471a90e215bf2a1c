"""Collectives and hops of one step: all-reduces, all-to-alls, pipeline boundaries.

Ring all-reduce traffic is 2*(n-1)/n of the message per device.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from advisor.deployment import Deployment
from advisor.ledger.holdings import ACTIVATION_BYTES, Holdings


class Communication(NamedTuple):
    """Collectives and hops of one step on one rank's path."""

    all_reduces: float = 0.0
    all_reduce_bytes: float = 0.0
    """Message of one all-reduce."""
    all_to_alls: float = 0.0
    all_to_all_bytes: float = 0.0
    """Message of one all-to-all, per device."""
    hops: int = 0
    """Pipeline boundaries a token crosses."""
    bytes: float = 0.0
    """Sent by one device in the step."""


_SILENCE: Final = Communication()


def communication_of(deployment: Deployment, held: Holdings, tokens: int) -> Communication:
    """All-reduces of tensor parallelism (two a layer), all-to-alls of experts, pipeline hops."""
    parallelism = deployment.parallelism
    ways = parallelism.tensor
    hops = parallelism.pipeline - 1
    if ways == 1 and parallelism.expert == 1 and hops == 0 and parallelism.context == 1:
        return _SILENCE
    message = tokens * deployment.model.hidden * ACTIVATION_BYTES
    reduces = 2.0 * held.layers * deployment.depth if ways > 1 else 0.0
    if parallelism.context > 1:
        # Partial attention of each part of the context is put together once a layer.
        reduces += held.layers * deployment.depth
        ways = max(ways, parallelism.context)
    exchanges = 2.0 * held.moe_layers if parallelism.expert > 1 else 0.0
    exchanged = message * _top_k(held) / max(parallelism.expert, 1)
    sent = (
        reduces * 2.0 * (ways - 1) / ways * message
        + exchanges * exchanged * (parallelism.expert - 1)
        + hops * message
    )
    return Communication(reduces, float(message), exchanges, exchanged, hops, sent)


def _top_k(held: Holdings) -> int:
    return max((experts.top_k for experts in held.experts), default=1)
