"""Words by which documents name levers, and the things and acts that make a lever together.

Terms between commas, "(a|b)" for alternatives, as in `advisor.prose.tagging`. What names a lever
alone stands in `DIRECT`; a width needs to be of something (`THINGS`), and an act like "removed"
needs a part that it is done to (`PARTS`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from advisor.prose.tagging import Table, compile_terms


class Named(NamedTuple):
    """A lever of the dialect that some words name: its kind, and what they fix of it."""

    kind: str
    fields: Mapping[str, Any] = MappingProxyType({})


def _named(kind: str, **fields: Any) -> Named:
    return Named(kind, MappingProxyType(fields))


DIRECT: Final[Mapping[str, tuple[Named, str]]] = MappingProxyType(
    {
        "kv quantized": (
            _named("quantize", kv_cache="fp8"),
            ("kv cache dtype, kvcachedtype, kv cache type, cache type (k|v), ctk, ctv, "
            "kv (cache |)quanti(z|s)ation, kv cache quant, kvquant, kivi, turboquant kv, "
            "quanti(z|s)ed (kv|k v) cache, cache quanti(z|s)ation, int8 kv cache flag, "
            "quantizedcache, k v cache quantization, quantizing the (kv |)cache, "
            "quantise the (kv |)cache, quantize the (kv |)cache"),
        ),
        "2:4": (
            _named("prune", pattern="2:4"),
            ("2:4, 4:8, 1:4, n:m, 2of4, 2 of 4, two of (every |)four, semi structured, "
            "semistructured, structured 2:4, sparse tensor cores, sparsellama, maskllm"),
        ),
        "blocks": (
            _named("prune", pattern="block"),
            ("block spars(e|ity), block sparse (weights|layers|matrices), block prun(ing|ed), "
            "block wise prun(ing|ed), bsr"),
        ),
        "masked heads": (
            _named("prune", pattern="heads", storage="masked"), "head mask(|s|ing)",
        ),
        "heads": (
            _named("prune", pattern="heads", storage="removed"),
            "(attention |)head prun(ing|ed), (attention |)head removal, prune heads",
        ),
        "layers": (
            _named("prune", pattern="layers", storage="removed"),
            ("layer (prun(ing|ed)|drop(|ping)|removal), layerdrop, depth prun(ing|ed), shortgpt, "
            "block removal, shortened llama, llm streamline"),
        ),
        "channels": (
            _named("prune", pattern="channels", storage="removed"),
            ("channel prun(ing|ed), width prun(ing|ed), structured prun(ing|ed), "
            "filter prun(ing|ed), neuron prun(ing|ed), row prun(ing|ed), llm pruner, slicegpt, "
            "minitron"),
        ),
        "experts": (
            _named("prune", pattern="experts", storage="removed"),
            "expert (prun(ing|ed)|drop(|ping)|removal), reap",
        ),
        "tokens": (
            _named("prune", pattern="kv_tokens"),
            ("kv (cache |)evict(|ion|ing), token evict(ion|ing), cache evict(ion|ing), snapkv, "
            "h2o, pyramidkv, streamingllm, attention sink(|s), sink tokens, sliding window(|s), "
            "rolling (kv |)cache, rolling buffer cache"),
        ),
        "unstructured": (
            _named("prune", pattern="unstructured"),
            ("unstructured, magnitude prun(e|es|ed|ing), wanda, sparsegpt, movement pruning, "
            "l1 unstructured, random unstructured, global unstructured, prun(e|es|ed|ing), "
            "sparsity, sparsif(y|ied|ies|ication), weight sparsity, sparse (weights|model|models"
            "|checkpoint), lottery ticket, optimal brain surgeon"),
        ),
        "activation sparsity": (
            _named("activation_sparsity", sparsity=None),
            ("activation sparsity, contextual sparsity, deja vu, powerinfer, prosparse, "
            "relufication, teal sparsity"),
        ),
        "low rank": (
            _named("low_rank", rank=None),
            ("low rank (factor(s|i(z|s)ation|i(z|s)ed)|decomposition|approximation|compression"
            "|weights), svd llm, asvd, truncat(e|es|ed|ing) (the |)svd, "
            "svd (compression|factors), factori(z|s)ed (linear|mlp"
            "|layers|matrices), singular values, (two|thin) factors, of rank"),
        ),
        "early exit": (
            _named("early_exit", mean_depth=None),
            "early exit(|s|ing), exit early, layerskip, layer skipping, exit layer",
        ),
        "distill": (
            _named("distill", model=None),
            "distil(|l|ls|led|ling|ing|lation), student model",
        ),
        "speculative": (
            _named("speculate"),
            ("speculative (decoding|sampling|execution|generation|config|model|tokens), "
            "speculat(ion|ive|or|ors), "
            "speculate, draft model(|s), drafter, draft head(|s), drafts (with|from|tokens), "
            "draft tokens, draft (max|min), num speculative tokens, self speculat(ive|ion), "
            "medusa, eagle (1|2|3|heads), eagle, eagle2, eagle3, prompt lookup, n gram, ngram, "
            "lookahead decoding, multi token prediction, mtp, assisted (generation|decoding), "
            "assistant model, self speculative, model draft, small model proposes, "
            "proposes (two|three|four|five|six|seven|eight) tokens"),
        ),
        "attention": (
            _named("attention_kernel"),
            ("flash attention (2|3|4|), flash attn (2|3|), flashattention(|2|3|4), "
            "flashattention (2|3|4), flash decoding, flashdecoding, flashinfer, flashmla, "
            "fa2, fa3, fa on, sdpa, xformers, memory efficient attention, attn implementation, "
            "attention backend, paged attention v2, ollama flash attention"),
        ),
        "graphs": (
            _named("cuda_graphs"), "cuda graph(|s), cudagraph(|s), hip graphs, static cache",
        ),
        "graphs off": (
            _named("cuda_graphs", enabled=False),
            "enforce eager, enforceeager, eager mode, disable cuda graph(|s)",
        ),
        "compile": (_named("compile"), "torch compile, torch inductor, inductor"),
        "fuse": (
            _named("fuse"),
            ("fus(e|es|ed|ing) (layers|modules|kernel|kernels|qkv|norms|the norm|the norms|rmsnorm"
            "|gate|residual|rope|sampling|the residual), "
            "kernel fusion, megakernel(|s), persistent kernel"),
        ),
        "host": (
            _named("host_work"),
            ("async(|hronous) scheduling, multi step scheduling, num scheduler steps, "
            "overlap(|ped) scheduling, zero overhead scheduler"),
        ),
        "prefix": (
            _named("prefix_cache"),
            ("prefix cach(e|es|ing), prompt cach(e|es|ing), radix (cache|attention), "
            "radixattention, automatic prefix caching, enableprefixcaching, block reuse, "
            "prefix reuse, reuse of (common |shared |)prefixes, prefix aware routing"),
        ),
        "chunked": (_named("chunked_prefill"), "chunked prefill(|s), chunked prefilling, sarathi"),
        "disaggregate": (
            _named("disaggregate"),
            ("disaggregat(e|ed|ion|ing) (prefill|serving|decode|inference|), "
            "p d (disaggregation|separation|disagg), pd disaggregation, prefill decode "
            "(disaggregation|separation), distserve, splitwise"),
        ),
        "expert parallel": (
            _named("expert_parallel", size=8),
            "expert parallel(|ism), enable expert parallel, wide ep, deepep",
        ),
        "pipeline parallel": (
            _named("pipeline_parallel", size=2),
            "pipeline parallel(|ism), pipeline stages",
        ),
        "data parallel": (
            _named("data_parallel", size=2),
            "data parallel(|ism), dp attention, (two|three|four|five|six|more|additional) replicas",
        ),
        "tensor parallel": (
            _named("tensor_parallel"),
            ("tensor parallel(|ism), tensorparallelsize, tp, tp2, tp4, tp8, tp16, num shard, "
            "tensor split, (split(|s|ting)|shard(|s|ed|ing)) (every|each|the|all) "
            "(layer|layers|weight|weights|matrix|model)"),
        ),
        "context parallel": (
            _named("context_parallel", size=2),
            "context parallel(|ism), ring attention, decode context parallel",
        ),
        "continuous batching": (
            _named("continuous_batching"), "(continuous|in flight|inflight|dynamic) batching",
        ),
        "batch": (
            _named("batch"),
            ("max num seqs, maxnumseqs, max (batch|batch size), maximum batch (size|), "
            "max num batched tokens, num parallel, num slots, parallel slots, max concurrent "
            "requests, max running requests, (larger|bigger|higher) batch(|es| size| sizes), "
            "(raise|raising|increase|increasing|grow) (the |max |maximum )batch(| size), "
            "batch size to, np, more (requests|sequences) (per|share|in|at), "
            "max batch total tokens"),
        ),
        "offload weights": (
            _named("offload", weights="1 GB"),
            ("(cpu|weight|weights|expert|layer|model) offload(|ing|ed), cpu offload gb, n cpu moe, "
            "zero inference, airllm, layer streaming, ktransformers, "
            "offload(|s|ed|ing) (the |some |all |)(weights|layers|experts)"),
        ),
        "offload cache": (
            _named("offload", kv_cache="1 GB"),
            ("kv (cache |)offload(|ing|ed), offload(|s|ed|ing) (the |)(kv|kv cache|cache), "
            "lmcache, hicache, host tier, evicted (kv |)blocks"),
        ),
        "gqa": (
            _named("attention", variant="gqa", kv_heads=8), "gqa, grouped query attention",
        ),
        "mqa": (_named("attention", variant="mqa"), "mqa, multi query attention"),
        "mla": (
            _named("attention", variant="mla"),
            "mla, latent attention, multi head latent attention, transmla, mha2mla",
        ),
        "no cache": (_named("no_kv_cache"), "use cache false, without (a |the )kv cache"),
        "merged layers": (
            _named("merge_layers", layers_added=None),
            "passthrough merge, frankenmerge, depth up scaling",
        ),
    }
)  # fmt: skip
"""What names a lever by itself."""

WIDTHS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "nvfp4": "nvfp4, nvfp4a16, modelopt fp4, w4a4, fp4",
        "mxfp4": "mxfp4, mxfp4a16",
        "nf4": "nf4, load in 4bit, bnb 4bit, 4 bit (with bitsandbytes|bitsandbytes), "
        "bitsandbytes (4 bit|nf4|4bit), qlora",
        "fp8": "fp8, float8, fp8 dynamic, w8a8 fp8, fp8 e4m3, fp8 e5m2, e4m3, e5m2, w8a8 float, "
        "8 bit float(|s), 8 bit floating point, fp8 w8a8",
        "mxfp8": "mxfp8, mxfp8a16",
        "llm.int8": "llm int8, load in 8bit, bitsandbytes (8 bit|8bit|int8), bnb 8bit",
        "int8": "int8, int8wo, 8 bit(|s), 8bit, w8a16, w8a8, w8a8 int8, smoothquant, eight bit(|s)",
        "q8_0": "q8 0, q8",
        "int4-g128": "int4, int4wo, 4 bit(|s), 4bit, four bit(|s), w4a16, w4a8, w4afp8, w4aint8, "
        "awq, gptq, autoround, hqq, nbits 4, uint4, tinygemm, marlin int4",
        "q4_k_m": "q4 k m, q4 k s, q4 k, q4 0, q4 1, iq4 xs, iq4 nl",
        "int5": "q5 k m, q5 k s, q5 0, 5 bit(|s)",
        "q6_k": "q6 k, 6 bit(|s), 6bit, six bit(|s)",
        "int3": "int3, 3 bit(|s), 3bit, three bit(|s), q3 k (m|s|l|), iq3 (xxs|xs|s|m)",
        "int2": "int2, 2 bit(|s), 2bit, two bit(|s), q2 k, iq2 (xxs|xs|s|m), aqlm, quip, qtip",
        "ternary": "ternary (weights|quantization|quantisation|model|), 1 58 bit, b1 58, bitnet, "
        "1 bit, one bit, binary weights",
        "mixed": "mixed (precision|bit|bits|width|widths), effective bits",
        "fp16": "fp32 to (fp16|bf16|16 bit), half precision weights, model half, "
        "(cast|convert) (the weights |weights |)(to|from fp32 to) (fp16|bf16|half)",
        "auto": "quanti(z|s)(ation|ed|e|es|ing), weight only, gguf, bitsandbytes, exl2, exl3, mlx",
    }
)
"""By the format of the ledger: the words for a number format."""

THINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cache": "kv cache(|s), kv, k v, keys and values, k v cache, key value cache, cache, "
        "kv cache dtype, kvcachedtype, cache type (k|v), kv cache type, ctk, ctv",
        "weights": "weight(|s), checkpoint(|s), model(|s), parameters, weight only, linear layers, "
        "experts, layers, w",
        "activations": "activation(|s), act, inputs",
        "training": "optimizer(|s), optimiser(|s), adam, adamw, lion, gradient(|s), "
        "master weights, training, all reduce, communication, accumulation, arithmetic, "
        "accumulator(|s), multiplications, tensor cores, math",
        "head": "lm head, output head, vocabulary projection, vocabulary, embedding(|s), "
        "unembedding",
        "other": "image(|s), color, colour, integer(|s), audio, samples, register(|s), address, "
        "hash(|es), mask(|s), processor(|s), cpu(|s), microcontroller, rgb, grayscale, ids, "
        "logits, scale(|s), scaling factor(|s)",
    }
)
"""What a width can be of."""

NEUTRAL: Final = (
    "zero point(|s), zero shot, zero copy, zero overhead, zero cost, non zero, ground zero, "
    "attention mask(|s), causal mask(|s), mask token(|s), loss mask, drop in, cut off, "
    "skip connection(|s), skip special tokens, dropped requests, layer norm, layers of, "
    "quantization aware, quantization error, quantization noise, quantization config, "
    "structured output(|s), structured generation, prefill only, head dimension, head dim, "
    "model parallel, expert routing, draft version, draft pr, draft proposal, a draft of, "
    "multi head attention, self attention, 8 bit optimizer(|s), 8 bit adam(|w)"
)
"""Terms that hold the words of others and name no lever."""
PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "heads": "head(|s), attention head(|s), query head(|s)",
        "kv heads": "kv head(|s), key value head(|s)",
        "layers": "layer(|s), transformer (block|blocks|layer|layers), decoder "
        "(block|blocks|layer|layers), middle blocks, redundant blocks",
        "channels": "channel(|s), neuron(|s), rows and columns, intermediate (dimension|size|width)"
        ", hidden (dimension|size|width|units), mlp width, ffn width, mlp dimension, columns, "
        "intermediate channels",
        "experts": "expert(|s), routed experts",
        "cached tokens": "cached tokens, kv entries, cache entries, old tokens, key value pairs, "
        "recent (tokens|ones)",
        "weights": "weight(|s), parameter(|s), connections, entries, values of each matrix, "
        "each row, each matrix",
    }
)
ACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cut": "prun(e|es|ed|ing)",
        "zero": "zero(|s|es|ed|ing), zero(|es|ed|ing) out, zeroed, set to (zero|0), "
        "mask(|s|ed|ing|ed out), gat(ed|ing), are 0",
        "remove": "remov(e|es|ed|ing|al), drop(|s|ped|ping), cut out, cut(|s|ting) away, "
        "delet(e|es|ed|ing), tak(e|en|ing) out, skip(|s|ped|ping), discard(|s|ed), "
        "evict(|s|ed|ing), redundant, strip(|ped|ping)",
        "put": "liv(e|es|ing), stay(|s|ed), kept, keep(|s|ing), go(|es), mov(e|es|ed|ing), "
        "spill(|s|ed|ing), swap(|s|ped|ping), sit(|s), park(|s|ed|ing), push(|es|ed|ing), "
        "stor(e|es|ed|ing), page(|s|d) out",
    }
)
STORED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "host": "(cpu|host|system|main|pinned) (memory|ram|dram)",
        "dense": "dense, densely, stored dense, keep the tensors, same shape, shapes (stay"
        "|unchanged|do not change), tensors as they are, masked dense, as before",
        "sparse": "bitmap, csr, bsr format, compressed, sparse format, sparse storage, packed, "
        "stored sparse, stored compressed, cusparselt, spmv, sparse kernel(|s), deepsparse, "
        "sparse engine, macko, spinfer, sparse matmul(|s), sparse compressed",
        "kernel": "cusparselt, sparse tensor cores, cutlass, marlin, sparse marlin, "
        "marlin (2:4|24|sparse), macko, spinfer",
        "back": "multipl(y|ied) back, multipl(y|ied) (the |)(factors |them |)back, back into one, "
        "merged back, reconstructed, back to (a |)(full|dense)",
        "simulated": "fake quantization, fake quantisation, fake quant, fake quantized, qat, "
        "quantization aware training, simulated quantization, rounded in, dequantized weights "
        "are saved, quantization aware",
        "slower": "slower, no speed(up| up|ups), no gain, not faster, no faster, slow(s|ed|ing) "
        "down, no speed up",
        "evicted": "evicted, come(|s) back, prefix(|es), reuse(|d), idle sessions, paused sessions",
    }
)
"""Words around a lever that decide what it is worth."""


@lru_cache(maxsize=1)
def terms() -> Table:
    """All terms in one table; the name of a tag says which list it is of: "direct:2:4"."""
    groups = {
        "direct": {name: listed for name, (_, listed) in DIRECT.items()},
        "width": WIDTHS,
        "thing": THINGS,
        "part": PARTS,
        "act": ACTS,
        "stored": STORED,
        "neutral": {"": NEUTRAL},
    }
    return compile_terms(
        {f"{group}:{name}": listed for group, table in groups.items()
         for name, listed in table.items()}
    )  # fmt: skip
