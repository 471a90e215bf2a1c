"""Words people use for keys and kinds of the dialect, for the hint of a finding.

They look like none of the known names, so spelling alone does not find what they mean. They are
never read in silence: one name for one thing keeps proposals comparable.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _meant(words: Mapping[str, str]) -> Mapping[str, str]:
    """From what is meant, and its words, to each word and what it means."""
    return MappingProxyType({word: name for name, line in words.items() for word in line.split()})


FIELDS = _meant(
    {
        "title": "name summary description",
        "model": "checkpoint base_model llm architecture",
        "hardware": "gpu gpus device accelerator machine chip",
        "engine": "framework runtime server backend",
        "weights": "dtype quantization precision weight_format",
        "kv_cache": "kv kv_dtype kv_cache_dtype cache",
        "parallelism: {tensor: ...}": "tp tensor_parallel tensor_parallel_size",
        "parallelism: {pipeline: ...}": "pp pipeline_parallel",
        "parallelism: {data: ...}": "dp data_parallel replicas",
        "parallelism: {expert: ...}": "ep expert_parallel",
        "workload: {phase: ...}": "phase stage",
        "workload: {batch: ...}": "batch batch_size concurrency users",
        "workload: {context: ...}": "context context_length seq_len",
        "measured": "baseline measurement tpot itl tokens_per_second throughput",
        "diagnosis": "bottleneck analysis problem",
        "levers": "optimizations optimisations changes techniques plan steps proposals",
        "claim": "target goal speedup expected result results",
    }
)

HARDWARE = _meant({"device": "name gpu type chip", "count": "gpus number num n"})

PARALLELISM = _meant(
    {
        "tensor": "tp tensor_parallel tensor_parallel_size tp_size",
        "pipeline": "pp pipeline_parallel pipeline_parallel_size",
        "data": "dp data_parallel data_parallel_size replicas",
        "expert": "ep expert_parallel",
        "attention_data": "dp_attention attention_dp",
    }
)

WORKLOAD = _meant(
    {
        "phase": "stage mode",
        "batch": "batch_size bs concurrency users sequences",
        "context": "context_length ctx seq_len sequence_length kv_length",
        "prompt": "prompt_tokens prompt_length input input_tokens isl",
        "output": "output_tokens output_length max_tokens osl generated",
    }
)

MEASURED = _meant(
    {
        "tpot": "latency time_per_token ms_per_token time_per_output_token step",
        "tokens_per_second": "tokens/s tok/s tps tok_s speed",
        "throughput": "total aggregate",
    }
)

KINDS = _meant(
    {
        "quantize": "quant int4 int8 fp8 nf4 awq gptq kv_cache kv_quant",
        "prune": "sparse sparsity sparsify 2:4",
        "low_rank": "svd lora",
        "early_exit": "layer_skip early_stopping",
        "distill": "student",
        "attention": "gqa mqa mla sliding_window",
        "speculate": "eagle eagle3 medusa mtp spec_decode draft draft_model lookahead ngram",
        "batch": "continuous_batching concurrency",
        "tensor_parallel": "tp sharding",
        "pipeline_parallel": "pp",
        "data_parallel": "dp replicas",
        "expert_parallel": "ep",
        "hardware": "gpu device upgrade",
        "matmul_kernel": "gemm gemv kernel matmul faster_gemm",
        "attention_kernel": "flash_attention flashattention flash_decoding paged_attention",
        "cuda_graphs": "graphs eager",
        "offload": "cpu_offload nvme",
        "prefix_cache": "prefix_caching radix_cache",
        "disaggregate": "pd_disaggregation disagg",
    }
)

LEVER_FIELDS = _meant(
    {
        "weights": "bits format dtype precision weight scheme",
        "kv_cache": "kv kv_dtype kv_cache_dtype",
        "sparsity": "ratio amount fraction rate",
        "storage": "stored layout",
        "pattern": "type structure",
        "draft_tokens": "k gamma num_speculative_tokens speculative_tokens",
        "acceptance": "acceptance_rate accept_rate alpha",
        "tokens_per_pass": "accepted_tokens accepted tau",
        "draft_model": "draft drafter",
        "size": "degree tp pp dp ep count gpus",
        "batch": "batch_size bs sequences",
        "hardware": "device gpu",
        "model": "student",
        "peak": "flops tflops",
        "mean_depth": "depth layers",
        "to": "target tier",
        "claim": "speedup gain expected",
    }
)
