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
    also: str = ""
    """Ideas that are this kind, by the names people give them, apart by commas."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Those names one by one."""
        return tuple(self.also.split(", ")) if self.also else ()


_WIDTHS = (
    "int8", "int6", "int4", "int3", "int2", "int1", "fp8", "fp4", "nf4", "fp16", "mixed", "auto",
)  # fmt: skip

LEVERS: Mapping[str, LeverEntry] = MappingProxyType(
    {
        "quantize": LeverEntry(
            "quantize", "Quantize",
            (*(f"quantize.weights.{width}" for width in _WIDTHS), "quantize.kv"),
            "fewer bits for weights, KV cache, activations or the output head",
            also="GPTQ, AWQ, W4A16, W8A16, W8A8, W4A8, W4A4, SmoothQuant, LLM.int8, bitsandbytes, "
            "NF4, QLoRA inference, FP8, NVFP4, MXFP4, MXFP8, EXL2, EXL3, HQQ, AutoRound, "
            "Marlin, AQLM, QuIP#, QTIP, VPTQ, BitNet b1.58, ternary, GGUF k-quants, half(), "
            "FP32 to FP16, quantized lm_head, KIVI, KVQuant, FP8 KV cache",
        ),
        "prune": LeverEntry(
            "prune", "Prune",
            ("prune.unstructured", "prune.2:4", "prune.block", "prune.channels", "prune.heads",
             "prune.heads.mask", "prune.layers", "prune.experts", "prune.vocabulary",
             "prune.kv_tokens"),
            "weights, heads, layers, experts or cached tokens zeroed or taken out",
            also="magnitude pruning, Wanda, SparseGPT, lottery ticket, SpInfer, MACKO, Flash-LLM, "
            "cuSPARSE, Sputnik, DeepSparse, 2:4, semi-structured, N:M, SparseLlama, block "
            "sparsity, BSR, layer dropping, ShortGPT, LLM-Pruner, SliceGPT, Minitron width, "
            "head pruning, head masks, expert dropping, REAP, expert merging, vocabulary "
            "trimming, FR-Spec, H2O, SnapKV, StreamingLLM, token eviction",
        ),
        "activation_sparsity": LeverEntry(
            "structure", "ActivationSparsity", ("activation_sparsity",),
            "weights that meet zero activations are not read",
            also="TEAL, CATS, Deja Vu, PowerInfer, ProSparse, ReLUfication, LLM in a flash, "
            "contextual sparsity, WINA",
        ),
        "low_rank": LeverEntry(
            "structure", "LowRank", ("low_rank",), "linears as products of two thin matrices",
            also="SVD-LLM, ASVD, LASER, factorised linears",
        ),
        "early_exit": LeverEntry(
            "structure", "EarlyExit", ("early_exit",), "tokens leave before the last layer",
            also="LayerSkip, CALM, DeeBERT, layer skipping",
        ),
        "distill": LeverEntry(
            "structure", "Distill", ("distill",), "a smaller model instead",
            also="student model, smaller model, model downsize, Minitron, mixture of experts "
            "instead",
        ),
        "merge_layers": LeverEntry(
            "structure", "MergeLayers", ("merge.layers_added",), "layers added by merging models",
            also="passthrough merge, frankenmerge, depth up-scaling",
        ),
        "no_kv_cache": LeverEntry(
            "structure", "NoKvCache", ("kv_cache.off",), "every token computes the prefix again",
            also="use_cache=False, recompute",
        ),
        "attention": LeverEntry(
            "structure", "AttentionVariant",
            ("kv.gqa", "kv.mqa", "kv.mla", "kv.window", "kv.linear", "kv.cross_layer",
            "kv.low_rank",
             "kv.approximate"),
            "attention that caches or computes less",
            also="GQA, MQA, uptraining, MLA, TransMLA, sliding window, SWA, linear attention, "
            "Mamba "
            "hybrid, RWKV, Gated DeltaNet, CLA, YOCO, cross-layer KV sharing, Palu, LoRC, low- "
            "rank KV, Performer, Linformer",
        ),
        "speculate": LeverEntry(
            "speculate", "Speculate", ("speculative",), "draft tokens, verify them in one pass",
            also="speculative decoding, assisted generation, draft model, EAGLE, EAGLE-3, Medusa, "
            "Hydra, HASS, MTP, multi-token prediction, prompt lookup, n-gram, suffix decoding, "
            "REST, lookahead, self-speculation, Kangaroo",
        ),
        "batch": LeverEntry(
            "serving", "Batch", ("batching",), "more sequences in a step",
            also="larger batch, max_num_seqs, static batching",
        ),
        "tensor_parallel": LeverEntry(
            "placement", "TensorParallel", ("tensor_parallel",), "each weight split over devices",
            also="TP, tensor_parallel_size, sharding",
        ),
        "pipeline_parallel": LeverEntry(
            "placement", "PipelineParallel", ("pipeline_parallel",), "layers split into stages",
            also="PP, layer split",
        ),
        "data_parallel": LeverEntry(
            "placement", "DataParallel", ("data_parallel",), "replicas of the model",
            also="DP, replicas, DP attention",
        ),
        "expert_parallel": LeverEntry(
            "placement", "ExpertParallel", ("expert_parallel",), "experts spread over devices",
            also="EP, wide EP, DeepEP",
        ),
        "hardware": LeverEntry(
            "placement", "Hardware", ("hardware",), "other devices",
            also="H200, B200, HBM upgrade, more GPUs, NPU, SRAM machines, bigger TFLOPS",
        ),
        "offload": LeverEntry(
            "placement", "OffloadLever", ("offload.weights", "offload.kv"),
            "weights or cache kept on the host or NVMe",
            also="device_map=auto, --cpu-offload-gb, ZeRO-Inference, AirLLM, layer streaming, "
            "--n-cpu-moe, KTransformers, Fiddler, expert cache, UVM, managed memory, GPUDirect "
            "Storage, LMCache, FlexGen, HiCache, KV to CPU",
        ),
        "matmul_kernel": LeverEntry(
            "kernels", "MatmulKernel", ("matmul_kernel",), "a faster matrix multiplication",
            also="Strassen, Winograd, AlphaTensor, TF32, set_float32_matmul_precision, FP16 "
            "accumulation, allow_bf16_reduced_precision_reduction, CUTLASS, AMX, matrix units, "
            "faster GEMM, split-K GEMV",
        ),
        "attention_kernel": LeverEntry(
            "kernels", "AttentionKernel", ("attention_kernel",), "another attention kernel",
            also="FlashAttention, FA2, FA3, FlashInfer, SDPA, memory-efficient attention, Flash- "
            "Decoding, split-KV, PagedAttention v2, FlashMLA",
        ),
        "cuda_graphs": LeverEntry(
            "kernels", "CudaGraphs", ("cuda_graph", "cuda_graph.off"), "steps as captured graphs",
            also="HIP graphs, enforce_eager, graph capture",
        ),
        "compile": LeverEntry(
            "kernels", "Compile", ("compile",), "a graph compiler",
            also="torch.compile, inductor, XLA, TensorRT build, reduce-overhead",
        ),
        "fuse": LeverEntry(
            "kernels", "Fuse", ("latency_overhead",), "kernels fused by hand",
            also="fused RMSNorm, fused QKV, gate-up merge, fused RoPE, Liger, megakernel, "
            "persistent "
            "kernel, PDL, programmatic dependent launch",
        ),
        "prefix_cache": LeverEntry(
            "serving", "PrefixCache", ("prefix_cache",), "prompt prefixes reused",
            also="prompt caching, RadixAttention, APC",
        ),
        "chunked_prefill": LeverEntry(
            "serving", "ChunkedPrefill", ("chunked_prefill",), "prompts processed in chunks",
            also="Sarathi, mixed batches",
        ),
        "disaggregate": LeverEntry(
            "serving", "Disaggregate", ("disaggregate",), "prefill and decode on separate workers",
            also="P/D disaggregation, Splitwise, DistServe, Mooncake, Dynamo",
        ),
        "compress": LeverEntry(
            "storage", "Compress", ("compress.lossless",),
            "weights compressed without loss",
            also="DFloat11, ZipNN, NeuZip, entropy-coded bf16",
        ),
        "share_weights": LeverEntry(
            "storage", "ShareWeights", ("share_weights",), "one block of weights for several "
            "layers",
            also="ALBERT, tied layers, recursive transformer, looped transformer, MobileLLM-LS, "
            "Universal Transformer",
        ),
        "cache_residency": LeverEntry(
            "storage", "CacheResidency", ("cache_residency",),
            "weights that stay in the last cache or in on-chip memory",
            also="persisting L2, weights in L2, weights in SRAM, L3-resident weights",
        ),
        "lora": LeverEntry(
            "storage", "Lora", ("lora",), "low-rank adapters, unmerged or merged",
            also="LoRA adapters, merge_and_unload, fused adapters, multi-LoRA serving",
        ),
        "experts_per_token": LeverEntry(
            "decoding", "ExpertsPerToken", ("moe.top_k",), "fewer routed experts for each token",
            also="dynamic top-k, expert skipping, adaptive gating",
        ),
        "sparse_attention": LeverEntry(
            "cache", "SparseAttention", ("kv.sparse_read",),
            "part of the cached tokens read, all of them kept",
            also="Quest, DSA, NSA, RetrievalAttention, top-k pages",
        ),
        "shared_prefix": LeverEntry(
            "cache", "SharedPrefix", ("kv.shared_prefix",),
            "a common prefix read once for all sequences",
            also="cascade attention, Hydragen, ChunkAttention, DeFT, bifurcated attention",
        ),
        "paged_cache": LeverEntry(
            "cache", "PagedCache", ("kv.paged",), "the cache in pages, less memory wasted",
            also="PagedAttention, block tables, vAttention",
        ),
        "static_cache": LeverEntry(
            "cache", "StaticCache", ("kv.static",), "a cache of fixed length, for captured graphs",
            also="StaticCache, preallocated cache",
        ),
        "parallel_sampling": LeverEntry(
            "decoding", "ParallelSampling", ("parallel_sampling",), "several answers to one prompt",
            also="best-of-n, beam search, self-consistency, multi-sample",
        ),
        "block_decoding": LeverEntry(
            "decoding", "BlockDecoding", ("block_decoding",),
            "several tokens from one pass without a draft",
            also="diffusion language models, LLaDA, Mercury, block diffusion, Jacobi decoding",
        ),
        "continuous_batching": LeverEntry(
            "serving", "ContinuousBatching", ("batching",), "requests join and leave at every step",
            also="in-flight batching, Orca, iteration-level scheduling",
        ),
        "context_parallel": LeverEntry(
            "placement", "ContextParallel", ("context_parallel",),
            "the cache of a sequence spread over devices",
            also="CP, ring attention, KV sharding, DCP, Helix",
        ),
        "host_work": LeverEntry(
            "host", "HostWork", ("latency_overhead",),
            "runtime, scheduler, sampler or tokenizer made faster",
            also="rewrite in Rust, rewrite in C++, faster tokenizer, GIL removal, detokenise off- "
            "thread, async scheduling, zero-overhead scheduler, multi-step scheduling, fused "
            "top-p, FlashInfer sampling, grammar on GPU",
        ),
        "clocks": LeverEntry(
            "host", "Clocks", ("clocks",), "core clock, memory clock or power limit",
            also="overclocking, undervolting, power limit, nvidia-smi -lgc",
        ),
        "numa": LeverEntry(
            "host", "Numa", ("numa",), "threads and pages on the right node",
            also="numactl, huge pages, interleave, thread pinning",
        ),
        "elementwise": LeverEntry(
            "host", "Elementwise", ("elementwise",), "cheaper activation functions and norms",
            also="GELU to ReLU, RMSNorm instead of LayerNorm, biases removed, softmax "
            "approximation",
        ),
        "token_pruning": LeverEntry(
            "decoding", "TokenPruning", ("token_pruning",), "prompt tokens dropped or merged",
            also="mixture of depths, token merging, prompt compression, LLMLingua, MInference",
        ),
        "shorter_output": LeverEntry(
            "decoding", "ShorterOutput", ("shorter_output",), "fewer tokens to an answer",
            also="shorter prompts, less chain of thought, structured output, RAG",
        ),
        "loading": LeverEntry(
            "storage", "Loading", ("loading",), "how a checkpoint is stored and loaded",
            also="safetensors, mmap, tensorizer, sharded loading, fastsafetensors",
        ),
        "training_only": LeverEntry(
            "storage", "TrainingOnly", ("training_only",), "what only training feels",
            also="gradient checkpointing, activation checkpointing, ZeRO optimizer sharding",
        ),
    }
)  # fmt: skip


def lever_class(kind: str) -> type[Lever]:
    """The class of a kind of the dialect; KeyError for a kind that is none."""
    entry = LEVERS[kind]
    found: type[Lever] = getattr(import_module(f"advisor.levers.{entry.module}"), entry.name)
    return found
