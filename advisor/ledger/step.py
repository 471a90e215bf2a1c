"""One step of a deployment, counted: operators with their bytes and FLOPs.

Everything is counted along the path of one token through the devices of one rank: what one
device of a tensor-parallel group reads, over all pipeline stages. Totals over all devices are
the path times the devices that do the same at the same time. Formulas: model sizes and caches
from the shapes; 2 FLOP per weight and token; expected distinct experts E*(1-(1-k/E)^T) for T
tokens routed independently.
"""

from __future__ import annotations

import math
from math import ceil
from typing import Literal, NamedTuple

from advisor.deployment import Deployment
from advisor.ledger.capacity import kv_stored_bytes
from advisor.ledger.collectives import Communication, communication_of
from advisor.ledger.formats import Format
from advisor.ledger.holdings import Holdings, holdings_of

Resource = Literal["weights", "kv", "state", "activations", "host", "communication"]


class Operator(NamedTuple):
    """One kind of work in a step, summed over layers, on one rank's path."""

    name: str
    resource: Resource
    format: Format | None
    parameters: float
    """Weights behind the bytes read (the dequantization work); 0 where it reads no weights."""
    read_bytes: float
    written_bytes: float
    flops: float


class Ledger(NamedTuple):
    """What one step moves and computes. Byte fields are of one rank's path unless they say so."""

    operators: tuple[Operator, ...]
    communication: Communication
    ranks: int
    """Devices that walk such a path at the same time: totals are path times ranks."""
    passes: int
    """Passes over the stages that one step of all sequences takes (pipeline micro-batches)."""
    sequences: int
    """Sequences in one pass of one rank's group."""
    tokens: int
    """Tokens one pass computes: sequences times query tokens."""
    layers: float
    """Layers a token runs through (fixed time counts them)."""
    weight_bytes: float
    kv_read_bytes: float
    kv_write_bytes: float
    state_bytes: float
    activation_bytes: float
    host_bytes: float
    """Bytes that one pass reads over the host link (or from NVMe), on one rank."""
    flops: float

    @property
    def memory_bytes(self) -> float:
        """Bytes to and from device memory on one rank's path."""
        return (
            self.weight_bytes
            + self.kv_read_bytes
            + self.kv_write_bytes
            + self.state_bytes
            + self.activation_bytes
        )

    @property
    def total_factor(self) -> int:
        """From one rank's pass to the whole step of all devices."""
        return self.ranks * self.passes


def distinct_experts(experts: int, top_k: int, tokens: float) -> float:
    """Experts that `tokens` tokens are expected to touch, routed independently and evenly.

    An upper estimate: real routing is correlated. E*(1-(1-k/E)^T), k at one token.
    """
    return experts * (1.0 - math.pow(1.0 - top_k / experts, tokens))


def count_step(deployment: Deployment) -> Ledger:
    """Count one step: a decode step for all sequences, or the prefill of their prompts."""
    held = holdings_of(deployment)
    parallelism = deployment.parallelism
    batch = deployment.batch
    replicas = min(parallelism.data, batch)
    per_replica = ceil(batch / replicas) if replicas > 1 else batch
    passes = min(parallelism.pipeline, per_replica)
    sequences = ceil(per_replica / passes) if passes > 1 else per_replica
    tokens = sequences * deployment.query_tokens
    depth = deployment.depth

    operators, weight_bytes, flops = _over_weights(deployment, held, sequences, tokens)
    kv_read = kv_write = 0.0
    if held.caches:
        kv_read, kv_write, work = _over_caches(deployment, held, sequences)
        operators.append(
            Operator(
                "attention over KV", "kv", deployment.kv_cache, 0.0, kv_read, kv_write, work
            )
        )  # fmt: skip
        flops += work
    state_bytes = 2.0 * held.state_bytes * sequences * depth
    if state_bytes:
        work = held.state_flops * tokens * depth
        half = state_bytes / 2.0
        operators.append(Operator("state", "state", None, 0.0, half, half, work))
        flops += work
    activation_bytes = _activation_bytes(deployment, held, tokens)
    if activation_bytes:
        half = activation_bytes / 2.0
        operators.append(
            Operator("activations", "activations", deployment.activations, 0.0, half, half, 0.0)
        )
    host_bytes = 0.0
    if deployment.offload is not None:
        operators, host_bytes, weight_bytes, kv_read = _offloaded(
            deployment, held, operators, weight_bytes, kv_read
        )
    return Ledger(
        tuple(operators),
        communication_of(deployment, held, tokens),
        parallelism.tensor * replicas * parallelism.context,
        passes,
        sequences,
        tokens,
        held.layers * depth,
        weight_bytes,
        kv_read,
        kv_write,
        state_bytes,
        activation_bytes,
        host_bytes,
        flops,
    )


def _over_weights(
    deployment: Deployment, held: Holdings, sequences: int, tokens: int
) -> tuple[list[Operator], float, float]:
    """The operators that read weights once for all tokens, with their bytes and FLOPs in all."""
    head_tokens = tokens if deployment.phase == "decode" else sequences
    depth = deployment.depth
    skip = deployment.activation_sparsity
    # Rows that no token of the pass activates are skipped: the union over tokens is read.
    kept = depth * (1.0 - skip**tokens) if skip else depth
    traffic = deployment.weight_traffic
    moved = kept * traffic
    operators: list[Operator] = []
    weight_bytes = flops = 0.0
    for name, form, parameters, stored, per_token, head in held.weights:
        part = 1.0 if head else kept
        read = stored * (1.0 if head else moved)
        work = per_token * (head_tokens if head else tokens * depth)
        operators.append(Operator(name, "weights", form, parameters * part, read, 0.0, work))
        weight_bytes += read
        flops += work
    parallelism = deployment.parallelism
    for form, experts, top_k, parameters, stored in held.experts:
        routed = tokens
        if parallelism.expert > parallelism.tensor:
            routed = tokens * min(parallelism.data, deployment.batch)
        distinct = distinct_experts(experts, top_k, routed) * depth
        read = stored * distinct * traffic
        work = 2.0 * parameters * top_k * routed * depth
        operators.append(
            Operator("experts", "weights", form, parameters * distinct, read, 0.0, work)
        )
        weight_bytes += read
        flops += work
    return operators, weight_bytes + held.row_bytes * tokens, flops


def _over_caches(
    deployment: Deployment, held: Holdings, sequences: int
) -> tuple[float, float, float]:
    """Bytes that attention reads of the caches and writes to them, and its FLOPs."""
    ways = deployment.parallelism.attention_data
    attended = ceil(sequences / ways) if ways > 1 else sequences
    decoding = deployment.phase == "decode"
    query, context = deployment.query_tokens, deployment.context
    prefix = min(deployment.shared_prefix, context)
    depth, part = deployment.depth, deployment.kv_read
    kept = depth * deployment.kv_kept
    read = written = flops = 0.0
    for cache, entry_bytes, per_token, entry_flops in held.caches:
        entries = cache.read_entries(context)
        if decoding:
            read_entries = attended * entries
            if prefix and attended > 1:
                common = min(cache.read_entries(prefix), entries)
                read_entries = common + attended * (entries - common)
            work = entry_flops * entries * attended * query
        else:
            # Each prompt token attends to those before it; keys and values are read once.
            full = context // cache.tokens_per_entry
            read_entries = attended * full
            work = entry_flops * attended * entries * (full - entries / 2.0 + 0.5)
            work *= cache.tokens_per_entry
        read += entry_bytes * read_entries * kept * part
        written += per_token * attended * query * depth
        flops += work * kept * part
    return read, written, flops


def _activation_bytes(deployment: Deployment, held: Holdings, tokens: int) -> float:
    """Traffic of activations to device memory: none while one layer's fit half the last cache."""
    one_layer = tokens * held.activation_width / deployment.parallelism.tensor
    cache_bytes = (deployment.hardware.llc_mb or 0.0) * 1e6
    if one_layer <= cache_bytes / 2.0:
        return 0.0
    return 2.0 * one_layer * held.layers * deployment.depth


def _offloaded(
    deployment: Deployment,
    held: Holdings,
    operators: list[Operator],
    weight_bytes: float,
    kv_read: float,
) -> tuple[list[Operator], float, float, float]:
    """Move the offloaded part of each operator's reads from device memory to the host link."""
    offload = deployment.offload
    assert offload is not None
    ranks = deployment.parallelism.tensor * deployment.parallelism.pipeline
    weights_away = min(1.0, offload.weights_bytes / (held.resident_bytes * ranks))
    stored_kv = kv_stored_bytes(deployment) * deployment.batch
    kv_away = min(1.0, offload.kv_bytes / stored_kv) if stored_kv else 0.0
    moved: list[Operator] = []
    host = 0.0
    for operator in operators:
        away = {"weights": weights_away, "kv": kv_away}.get(operator.resource, 0.0)
        host += operator.read_bytes * away
        moved.append(operator._replace(read_bytes=operator.read_bytes * (1.0 - away)))
    return moved, host, weight_bytes * (1.0 - weights_away), kv_read * (1.0 - kv_away)
