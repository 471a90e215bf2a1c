"""Terms for levers: their names in papers, engines and libraries, and as people say them.

Terms between commas; "(a|b)" are alternatives, so that "prun(e|es|ed|ing)" is four terms. A term
alone says nothing about right or wrong.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

LEVERS: Final = MappingProxyType(
    {
        "PRUNE": (
            "are 0 0, are now (0|zero), become(|s) (0|zero), exactly zero, masked out, null(|s|"
            "ed|ing) out, nulled, individual weights, single weights, clamped to (0|zero), "
            "every second weight, mask(|s) on the weight, mask(|s) over the weights, masked "
            "parameters, (connections|parameters|weights) removed, small weights, tiny "
            "weights, smallest weights, least important weights, non zero weights, nonzero "
            "weights, non zero parameters, non zeros, nonzeros, nnz, sparser, (weights|entries|"
            "values|parameters) to (0|zero), equal zero, values are zero, parameters gone, "
            "weights gone, of the weights left, of the parameters left, prun(e|es|ed|ing|er), "
            "prunable, sparsif(y|ied|ies|ication), sparsity, sparse, zero(es|ed|ing) out, "
            "zeroing, zeroed, masked weights, weight mask(|s), magnitude mask(|s), pruning "
            "mask(|s), set to (zero|0), (is|are) zero(|es|s), zero(s|ed|es), zero weights, at "
            "zero, mask is applied, apply(ing) (the|a) mask, magnitude prun(e|ed|ing), lottery "
            "ticket(|s), winning ticket(|s), wanda, sparsegpt, sparse gpt, l1 unstructured, "
            "random unstructured, global unstructured, ln structured, torch nn utils prune, "
            "weight masks, unstructured, lth, multiplication(|s) by zero, multiplied by zero, "
            "entries are zero(|s), weights (are|is) zero, thinned, thinning, sparsified "
            "weights, sparse weights, sparse model, sparse checkpoint, sparse network, weight "
            "sparsity, zeroed weights, pruned weights, pruned model, pruned network, pruned "
            "checkpoint, dead weights, removed weights, dropped weights, weights dropped, "
            "drop(|s|ped|ping) (half|most) of the weights, magnitude threshold, movement "
            "pruning, obc, obs, iterative pruning, prune ratio, pruning ratio, sparsity level, "
            "set to nought, to nought, nullif(y|ies|ied), sparsellm, prunes, admm, zero out, "
            "zero the, zeros the, cleaned out, unimportant (weights|connections), weights (are|"
            "were|have been|get) removed, connections (are|were|have been) (removed|cut|"
            "dropped), sparse checkpoint(|s), sparsity ratio, sparsity of, magnitude based, "
            "movement pruned, owl sparsity, alps, besa, dsnot, pruner zero, gblm, zero valued "
            "weights, zero entries, zeroed entries, zeroed parameters, removed connections"
        ),
        "LAYERS": (
            "skip(|s|ped|ping) layers, layer skip(|ping), layerskip, layer prun(e|ing), depth "
            "prun(ed|ing), drop(|s|ped|ping) layers, layer drop(|ping|ped), shortgpt, middle "
            "(blocks|layers), redundant (blocks|layers), early exit(|s|ing), exit early, fewer "
            "layers, remov(e|es|ed|ing) layers, mixture of depths"
        ),
        "HEADS": (
            "head(|s), attention head(|s), query head(|s), head mask(|s|ing), head prun(ing|"
            "ed), prun(e|es|ed|ing) heads, attn heads, per head, head wise, head output(|s), "
            "head scale(|s), head keep, head gate(|s), dead heads"
        ),
        "KV_HEADS": ("kv head(|s), key value head(|s), k v head(|s), kv groups"),
        "S24": (
            "2:4, 4:8, 1:4, 6:8, 3:4, n:m, semi structured, 2 of 4, two of every four, two in "
            "four, structured sparsity, sparse tensor core(|s), sparse tensor core path, "
            "cusparselt, sparse tflops, sparse math, with sparsity, sparsity feature, sparse "
            "mma, two of four, 2 out of 4, semi structured sparsity, sparse tensor throughput, "
            "structured 2 of 4, n m sparsity, asp, sparse gemm, sparse cores, (two|2) out of "
            "(every|each) (four|4), (two|2) of (each|every) (four|4), half of every four, (two|"
            "2) in every (four|4), two out of four, pruned 2 4, tflops sparse, sparse flops, "
            "sparse peak, sparse tops, 2of4, (two|2) weights (from|of|in) (each|every) (group "
            "of )(four|4), 1 1 0 0, nm pattern, n m pruning, zeros per block 2, half of each "
            "group of four, weightnormsparsifier, structured 2 4, sparsity pattern 2 4, mask "
            "structure 2 4, prunen 2 prunem 4"
        ),
        "FLOPS": (
            "flop(|s), gflop(|s), mac(|s), arithmetic, multiplication(|s), operation(|s), "
            "multiply accumulate(|s), multiply adds, compute(|s), computation(|s), "
            "calculation(|s), math, matrix work, arithmetic work, computational (cost|load|"
            "work|complexity), arithmetic operations, floating point operations, multipl(y|"
            "ies), work, gmacs, operations per token, number crunching, workload, computing, "
            "multiply accumulates, cheaper math, less math, compute budget, compute per token, "
            "flops per token, compute cost, arithmetic cost, multiplies, additions, "
            "instruction count, instructions, op count, fma(|s), mults, additions and "
            "multiplications, elementwise multiplies, lookup table, table lookup, polynomial, "
            "shift and add, bit shifts, additions instead, exp2, winograd, strassen, strassen "
            "style, alphatensor, karatsuba, addernet, scalar ops, elementwise ops, "
            "transcendental(|s), dot products, inner products, sines and cosines, logit soft "
            "capping, softcapping, variance ops, multiply count, flop count, op counts, gflop, "
            "tflop, macs, mac count, shifts and additions, l1 distances, upper triangle, top k "
            "softmax, precomputed, tanh, linear(ised|ized) (kernel|attention|scores), (kernel|"
            "attention) scores"
        ),
        "PEAK": (
            "tflops, tflop s, pflops, pflop s, teraflop(|s), petaflop(|s), tops, peak compute, "
            "peak flops, peak tflops, fp16 compute, compute power, raw compute, compute "
            "throughput, tensor core(|s), cuda core(|s), stream processors, shader(|s), core(|"
            "s), cpu cores, more cores, core count, core clock(|s), gpu clock(|s), clock "
            "speed(|s), clock(|s), ghz, overclock(|s|ed|ing), avx 512, avx512, amx, npu(|s), "
            "compute units, flop rate, peak performance, peak throughput, matrix (engine|"
            "unit)(|s), power (limit|cap), threads, more threads, sm count, boost clock, "
            "tensor throughput, tensor rate, math units, alus, higher clocks, compute "
            "capability, flops rating, matrix cores, horsepower, beefier (gpu|chip|card), "
            "stronger (gpu|chip|card), ai tops, ai performance, tensor performance, peak rate, "
            "peak figure, peak number(|s), compute rich, exaflops, math throughput, fp8 "
            "throughput, fp16 throughput, bf16 throughput, int8 throughput, fp4 throughput, "
            "sms, streaming multiprocessors, tensor units, stronger compute, more compute, "
            "extra compute, faster compute, turbo, boost clocks, cpu clock, gpu core, data "
            "sheet, datasheet, spec sheet, spec sheets, raw performance, simd, vnni, neon, "
            "core frequency, undervolt(|ed|ing), compute performance, mac array(|s), mxu, "
            "matrix throughput, dense fp4, dense fp8, macs per cycle, npu tops, vector units, "
            "vector width, p cores, e cores, core m series, core bin, gpu bin, sve, simd "
            "width, dp4a, tensor flops, matrix flops, fp4 rate, fp8 rate, xmx, systolic, "
            "compute die, compute tile(|s), compute chiplet(|s), teraflops, petaflops, peak "
            "int8 ops, int8 ops, (fp8|bf16|fp16|fp4|int8|dense|sparse) peak, peak ops, dense "
            "(fp4|fp8|fp16|bf16|int8) compute, tensor math, gpu cores, gpu core count, cores "
            "being, calculation power, computing power, arithmetic throughput, arithmetic "
            "rate, arithmetic units, arithmetic speed"
        ),
        "MATMUL": (
            "gemm(|s), matmul(|s), mat mul, matrix multipl(y|ies|ication|ications), matrix "
            "multiplication kernel, matmul kernel, gemm kernel, faster kernel, tf32, fp16 "
            "accumulate, fp16 accumulation, int8 tensor cores, fp8 tensor cores, fp4 tensor "
            "cores, int4 tensor cores, int8 math, fp8 math, fp4 math, 8 bit math, 4 bit math, "
            "int8 arithmetic, fp8 arithmetic, low precision math, lower precision (math|"
            "arithmetic), integer (math|arithmetic), int8 multiplication, 8 bit matmul, 8 bit "
            "multiplication, int8 matmul, int8 gemm, fp8 gemm, cublas, cutlass, fp8 tensor "
            "core, int8 units, tensor core path, fp8 rate, int8 rate, fast math, precision "
            "goes down, matrix product(|s), matrix engine, blas, onednn, mkl, kernel library, "
            "gemm library, gemm tuning, gemm autotuning, tuned gemm, gemms, multiplication "
            "routine, cublaslt, deepgemm, tile size(|s), tiling, wgmma, mma instructions, "
            "tensor core kernel, int4 math, fp6 math, half precision math, mixed precision, "
            "lower precision multiplication, narrower multiplication, faster multiplication, "
            "faster multiplications, faster matmuls, faster gemms, quicker matmul, autocast, "
            "bf16 math, fp16 math, mma, fp8 mma, math rate, mma rate, double the rate of bf16, "
            "twice the (bf16|fp16) rate, cast on the fly, math rates, tensor cores multiply, "
            "multipl(y|ies) faster, multipl(y|ies) twice as fast, multipl(y|ies) (an order of "
            "magnitude|several times) faster, fp4 rate, reduced precision reduction, 16 bit "
            "accumulat(e|ors|ion), accumulators, accumulator, stream k, split k, tile shapes, "
            "gemm shapes, autotun(e|ed|ing), tensorop, fp16 accum, precision high, set float32 "
            "matmul precision, hmma rate, hmma, imma, fp32 accumulation, (fp8|int8|fp4|int4|"
            "bf16|fp16) (gemm )kernel(|s) (runs|is|are|multiplies), m (256|512|1024|2048|4096|"
            "8192|16384)"
        ),
        "BATCH": (
            "requests per step, sequences per step, users per step, streams per step, better "
            "utilised, better utilized, batch(|es|ed|ing), batch size(|s), max batch size, max "
            "num seqs, continuous batching, in flight batching, inflight batching, dynamic "
            "batching, static batching, larger batch(|es), bigger batch(|es), concurrency, max "
            "num batched tokens, concurrent requests, parallel requests, added user, (requests|"
            "sequences|users|streams) in one step, (requests|users|streams) share, shared by "
            "all, sharing the weights, more users, more requests, slots, num slots, sequences "
            "per step, requests together, group(s|ed|ing) requests, more sequences, serv(e|es|"
            "ing) more (users|requests), more concurrent, users at once, requests at once, "
            "batch of, concurrent users, concurrent streams, multiplex(|ed|ing), batch size "
            "from, max batch, higher concurrency, larger batches, bigger batches, batch more, "
            "many requests at once, sharing the pass, shared pass, continuous batch, request "
            "batching, dynamic batch, parallel 8, parallel slots, np 8, running requests, max "
            "running requests, packs sequences, groups of (ten|eight|four|sixteen|10|8|4|16|"
            "32), virtual users, merged the queues, one large batch, gather more requests, num "
            "return sequences, conversations at once, batched together, coalesc(e|es|ed|ing), "
            "iteration level scheduling, orca, neighbours, neighbors, co tenants, others in "
            "the batch, others in the step"
        ),
        "QUANT": (
            "quantiz(e|es|ed|ing|ation), quantis(e|es|ed|ing|ation), int8, int4, int3, int2, "
            "fp8, fp4, nf4, mxfp4, nvfp4, mxfp8, awq, gptq, w4, w8, w4a16, w8a16, 4 bit(|s), 8 "
            "bit(|s), 3 bit(|s), 2 bit(|s), 6 bit(|s), 5 bit(|s), four bit(|s), eight bit(|s), "
            "weight only, q4 k m, q4 k, q4 0, q8 0, q5 k m, q6 k, q3 k m, q2 k, gguf, exl2, "
            "exl3, hqq, bitsandbytes, llm int8, load in 8bit, load in 4bit, 4bit, 8bit, lower "
            "precision, low bit, marlin, bnb, smaller weights, ternary, bitnet, fp8 "
            "checkpoint, int4 weights, int8 weights, gptq model, awq model, int4 model, fp8 "
            "model, quantized model, fp6, int6, int5, mxfp6, q3 k, q4 k s, q5 k, q5 k s, iq2 "
            "xs, iq2 xxs, iq3 xxs, iq4 xs, bpw, quip, aqlm, quantised model, quantized "
            "checkpoint, quantized weights, quantised weights, low precision weights, narrow "
            "weights, narrower weights, 4 bit weights, 8 bit weights, nf4 weights, q4, q8, q5, "
            "q6, w4a16 kernel, bits per weight, bits a weight, bits per parameter"
        ),
        "ACTQ": (
            "w8a8, w4a8, w4a4, w8a4, a8, a4, activation quantization, activation quantisation, "
            "quantized activations, quantised activations, quantizing (the |)activations, "
            "quantising (the |)activations, fp8 activations, int8 activations, 8 bit activations, "
            "4 bit activations, smoothquant, activations (to|in) (int8|fp8|8 bit|fp4|int4|4 bit), "
            "narrower activations, activations (down to|at) (int8|fp8|8 bit|fp4|int4|4 bit|8 "
            "bits|4 bits), "
            "(width|precision) of the activations, activation (width|precision), activations too, "
            "quantize (the |)activations, quantized "
            "inputs, int8 inputs, a8w8, 8 bit inputs, dynamic activation quantization, int8 "
            "activation(|s), fp8 activation(|s), activation(|s) at 8 bits, activations are "
            "quantized, a8 instead of a16, w8a8 instead of w8a16"
        ),
        "ATTN": (
            "flashattention(|2|3|4), flash attention(|2|3|4), flash attn, flash attention (2|3|"
            "4), fa2, fa3, fa4, flash decoding, flashdecoding, flashinfer, attention kernel(|"
            "s), fused attention, sdpa, xformers, split kv, splitkv, memory efficient "
            "attention, scaled dot product attention, faster attention, attention backend, "
            "attention implementation, makes attention, attention (is|gets|becomes), attention "
            "with the, attention part, attention step, attention operation, attention "
            "computation, attention kernels, faster attention kernel, fa kernel, flash kernel, "
            "flash v2, flash v3, tri dao, fmha, fused multi head attention, flex attention, "
            "flexattention, ring attention, fused softmax, attention fusion, sparse attention, "
            "block sparse attention, xqa, paged kv attention, paged attention kernel(|s), "
            "naive attention, eager attention, math attention, bettertransformer, s x s "
            "matrix, attn implementation, fused mha, triton attention, cascade attention, lean "
            "attention, flashmla, attention op, attention ops, softmax kernel, io "
            "aware kernel(|s), (io aware|tiled|online softmax) attention, (fused|flash) mha, mha "
            "kernel(|s), fa (on|off|0|1|true|false|flag), attn (on|1), attention matrix, "
            "(score|scores) matrix, score matrices, fus(e|es|ed|ing) (qk|softmax|"
            "attention|the attention), intermediate scores, scores (on chip|in sram|in shared "
            "memory|in registers)"
        ),
        "KVQ": (
            "kv quant(|ization|isation), kv cache quant(ization|isation), kv cache dtype, fp8 kv, "
            "int8 kv, int4 kv, fp8 kv cache, int8 kv cache, int4 kv cache, 8 bit kv cache, 4 bit "
            "kv cache, int8 cache, fp8 cache, int4 cache, 8 bit cache, 4 bit cache, quantized kv, "
            "quantized (kv |)cache, quantised (kv |)cache, kivi, kv cache (to|in) "
            "(fp8|int8|int4), kvquant, cache in (fp8|int8|int4), kv cache compression, "
            "compress(|ed|ing) (the |)kv cache, kv compression, kv eviction, h2o, "
            "snapkv, kv in (fp8|int8|int4|8 bit|4 bit), cache to 8 bit, cache to 4 bit, "
            "quantizing the (kv |)cache, quantising the (kv |)cache, quantize the (kv |)cache, "
            "cache quantization, 8 bit keys and values, halv(e|es|ing) the (kv "
            "|)cache, kv cache in half, half the kv cache, cache is half"
        ),
        "GQA": (
            "gqa, mqa, grouped query attention, multi query attention, mla, multi head latent "
            "attention, latent attention, sliding window(|s)"
        ),
        "MOE": (
            "moe, moes, mixture of experts, mixtral, expert(|s), routed experts, sparse mixture, "
            "active parameters, (is|are) active, parameters active, active params, activated "
            "parameters, deepseek v3, deepseek r1, qwen3 30b a3b, gpt oss, top k experts, dbrx, "
            "sparse moe, moe model, routed, router, routing, expert parallel, all experts, shared "
            "expert, a22b, a3b, a12b, a17b, a37b, a32b, 8x7b, 8x22b"
        ),
        "TP": (
            "tensor parallel(|ism), tensor parallel size, tp, tp2, tp4, tp8, tp16, second gpu, "
            "second card, two gpus, four gpus, eight gpus, 2 gpus, 4 gpus, 8 gpus, multi gpu, "
            "more gpus, sharded across, second accelerator, sixteen gpus, three gpus, number "
            "of gpus, n gpus, two cards, four cards, gpus, all reduce(|s), allreduce, both "
            "gpus, both cards, nvlink, dual gpu, dual gpus, pair of gpus, pair of cards, n "
            "way, two way, four way, eight way, split over, split across, spread over, spread "
            "across, gpu pair, additional gpu(|s), additional card(|s), extra gpu(|s), extra "
            "card(|s), each extra gpu, second h100, two h100s, four h100s, eight h100s, two "
            "a100s, four a100s, eight a100s, tensor parallel degree, parallel degree, both "
            "devices, number of cards, all eight gpus, all four gpus, multi gpu inference, 16 "
            "gpus, twice the gpus, more cards, model parallel, model parallelism, 2x h100, 4x "
            "h100, 8x h100, 2x a100, 4x a100, 8x a100, communication, sharded, sharding"
        ),
        "PP": ("pipeline parallel(|ism), pipeline stages, pp2, pp4"),
        "SPEC": (
            "speculative, speculat(e|es|ed|ing|ion), speculative decoding, draft model(|s), "
            "draft(|s|ed|ing), draft head(|s), guess(|es), eagle, eagle 2, eagle 3, eagle3, "
            "medusa, mtp, multi token prediction, lookahead decoding, n gram(|s), ngram, prompt "
            "lookup, assisted generation, assistant model, self speculation, helper model, small "
            "model proposes, drafter, drafting model, draft tokens, proposed tokens, lookahead, "
            "verify step, verification, self speculative, speculators, token prediction, "
            "blockwise decoding, draft and verify, spec tokens, verifier, draft length, num draft"
            " tokens, "
            "(verify|verifying|verification) pass, proposer, spec decod(e|ing), gamma, "
            "(verify|verifies|verifying|checking) (two|three|four|five|six|seven|eight|several)"
            " tokens, "
            "speculator, (verify|checking) five, drafted"
        ),
        "CAPACITY": (
            "vram, more room, larger hbm, gb (configuration|variant), gb instead of, gb rather "
            "than, more memory, memory "
            "capacity, gigabytes, gpu memory, more gpu memory, memory "
            "size, bigger memory, larger memory, more vram, gb of memory, gb of vram, gb card, gb "
            "part, capacity, hbm capacity, more ram, more gb, doubling the memory, memory to, "
            "paged attention, pagedattention, memory pool, double the memory, bigger card, larger "
            "card, more hbm, hbm size, memory headroom, headroom, 48 gb version, 80 gb version, "
            "24 gb version, 141 gb, 192 gb, vram size, amount of vram, amount of memory, twice "
            "the memory, double the vram, larger vram, extra memory, extra vram, spare memory, "
            "free memory, unused memory, gb of ram, memory amount, bigger vram, bigger hbm"
        ),
        "DISTILL": ("distill(|s|ed|ing|ation), student, smaller model, teacher"),
        "GRAPHS": (
            "cuda graph(|s), graph capture, graphs, torch compile, reduce overhead, launch "
            "overhead, kernel fusion, fus(e|es|ed|ing) everything, fus(e|es|ed|ing), "
            "megakernel(|s), host overhead, kernel launches"
        ),
        "PREFIX": (
            "prefix cach(e|es|ing), prompt cach(e|es|ing), radix cache, radixattention, prefix "
            "reuse, automatic prefix caching, apc, chunked prefill, disaggregat(e|ed|ion), "
            "minference, sparse prefill, prompt compression, llmlingua, gist tokens, token "
            "merging, image tokens, visual tokens, vision tokens, prompt trimming, compressed "
            "prompt(|s), shorter prompt(|s), prompts from, trims the prompt(|s), lmcache, "
            "cacheblend, swiftkv, prompt cache, kv aware router, cached by the provider, warm "
            "the cache, prompt is (now )cached, prefix aware, kv reuse, reuses kv, reuses the "
            "kv, ubatch, ub, cached prefix, system prompt is cached, cached system prompt, "
            "session cache, keeps the earlier turns, needn t be recomputed, not recomputed, "
            "isn't recomputed"
        ),
        "OFFLOAD": ("offload(|s|ed|ing), cpu offload, spill(|s|ed|ing), system ram, pcie"),
        "LOWRANK": (
            "low rank, svd, factoriz(ed|ation), factoris(ed|ation), rank reduction, factored "
            "as, factored into, rank 512, rank 256, rank 1024, lower rank, rank r, truncated "
            "to rank, rank approximation, multiplied back, factors multiplied, two factors, uv "
            "factor(|s), low rank factor(|s), two thin matrices, thin matrices, product of two "
            "(thin|thinner|skinny|small|smaller|narrow|low rank) , two (skinny|narrow|thinner|"
            "smaller) matrices, factors of rank, matrices of rank"
        ),
        "HARDWARE": (
            "h100, h200, a100, b200, b100, gb200, gb300, l40, l40s, l4, h20, h800, a800, t4, "
            "v100, a10, a10g, a6000, 4090, 3090, 5090, 3080, 4080, 4070, 5080, mi300x, mi250x, "
            "mi325x, mi355x, tpu, m1, m2, m3, m4, newer card, new card, other card, new gpu, "
            "newer gpu, faster gpu, bigger gpu, this card, the card, upgrade, gpu, card, cpu, "
            "accelerator"
        ),
    }
)
"""Ideas, by what they do. A lever's words alone claim nothing."""
