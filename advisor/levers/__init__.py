"""The ideas people propose, each a function from one deployment to another.

`LEVERS` names each kind of the proposal dialect and where its class stands; classes are imported
when a proposal holds one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from advisor.levers.base import Lever, Metric, Nature

__all__ = ["LEVERS", "Lever", "LeverEntry", "Metric", "Nature", "lever_class"]


class LeverEntry(NamedTuple):
    """One kind of lever: where its class is and what people call it."""

    module: str
    name: str
    machine_kinds: tuple[str, ...]
    """Kinds of the machine vocabulary it can have."""
    about: str


_WIDTHS = (
    "int8", "int6", "int4", "int3", "int2", "int1", "fp8", "fp4", "nf4", "fp16", "mixed", "auto",
)  # fmt: skip

LEVERS: Mapping[str, LeverEntry] = MappingProxyType(
    {
        "quantize": LeverEntry(
            "quantize", "Quantize",
            (*(f"quantize.weights.{width}" for width in _WIDTHS), "quantize.kv"),
            "fewer bits for weights, KV cache, activations or the output head",
        ),
        "prune": LeverEntry(
            "prune", "Prune",
            ("prune.unstructured", "prune.2:4", "prune.block", "prune.channels", "prune.heads",
             "prune.heads.mask", "prune.layers", "prune.experts", "prune.kv_tokens"),
            "weights, heads, layers, experts or cached tokens zeroed or taken out",
        ),
        "activation_sparsity": LeverEntry(
            "structure", "ActivationSparsity", ("activation_sparsity",),
            "weights that meet zero activations are not read",
        ),
        "low_rank": LeverEntry(
            "structure", "LowRank", ("low_rank",), "linears as products of two thin matrices"
        ),
        "early_exit": LeverEntry(
            "structure", "EarlyExit", ("early_exit",), "tokens leave before the last layer"
        ),
        "distill": LeverEntry("structure", "Distill", ("distill",), "a smaller model instead"),
        "merge_layers": LeverEntry(
            "structure", "MergeLayers", ("merge.layers_added",), "layers added by merging models"
        ),
        "no_kv_cache": LeverEntry(
            "structure", "NoKvCache", ("kv_cache.off",), "every token computes the prefix again"
        ),
        "attention": LeverEntry(
            "structure", "AttentionVariant",
            ("kv.gqa", "kv.mqa", "kv.mla", "kv.window", "kv.linear"),
            "attention that caches less",
        ),
        "speculate": LeverEntry(
            "speculate", "Speculate", ("speculative",), "draft tokens, verify them in one pass"
        ),
        "batch": LeverEntry("serving", "Batch", ("batching",), "more sequences in a step"),
        "tensor_parallel": LeverEntry(
            "placement", "TensorParallel", ("tensor_parallel",), "each weight split over devices"
        ),
        "pipeline_parallel": LeverEntry(
            "placement", "PipelineParallel", ("pipeline_parallel",), "layers split into stages"
        ),
        "data_parallel": LeverEntry(
            "placement", "DataParallel", ("data_parallel",), "replicas of the model"
        ),
        "expert_parallel": LeverEntry(
            "placement", "ExpertParallel", ("expert_parallel",), "experts spread over devices"
        ),
        "hardware": LeverEntry("placement", "Hardware", ("hardware",), "other devices"),
        "offload": LeverEntry(
            "placement", "OffloadLever", ("offload.weights", "offload.kv"),
            "weights or cache kept on the host or NVMe",
        ),
        "matmul_kernel": LeverEntry(
            "kernels", "MatmulKernel", ("matmul_kernel",), "a faster matrix multiplication"
        ),
        "attention_kernel": LeverEntry(
            "kernels", "AttentionKernel", ("attention_kernel",), "another attention kernel"
        ),
        "cuda_graphs": LeverEntry(
            "kernels", "CudaGraphs", ("cuda_graph", "cuda_graph.off"), "steps as captured graphs"
        ),
        "compile": LeverEntry("kernels", "Compile", ("compile",), "a graph compiler"),
        "fuse": LeverEntry("kernels", "Fuse", ("latency_overhead",), "kernels fused by hand"),
        "prefix_cache": LeverEntry(
            "serving", "PrefixCache", ("prefix_cache",), "prompt prefixes reused"
        ),
        "chunked_prefill": LeverEntry(
            "serving", "ChunkedPrefill", ("chunked_prefill",), "prompts processed in chunks"
        ),
        "disaggregate": LeverEntry(
            "serving", "Disaggregate", ("disaggregate",), "prefill and decode on separate workers"
        ),
    }
)  # fmt: skip


def lever_class(kind: str) -> type[Lever]:
    """The class of a kind of the dialect; KeyError for a kind that is none."""
    entry = LEVERS[kind]
    found: type[Lever] = getattr(import_module(f"advisor.levers.{entry.module}"), entry.name)
    return found
