"""The words of the field: terms by what they stand for.

Terms between commas; "(a|b)" are alternatives, so that "prun(e|es|ed|ing)" is four terms. The
sources are the names of levers in their papers, engines and libraries, and the ways in which
people speak of speed, bytes and arithmetic. No term alone says that a sentence is right or wrong.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

from advisor.prose.tagging import Table, compile_terms, expanded

LEVERS: Final = MappingProxyType(
    {
        "PRUNE": "prun(e|es|ed|ing|er), prunable, sparsif(y|ied|ies|ication), sparsity, sparse,"
        " zero(es|ed|ing) out, zeroing, zeroed, masked weights, weight mask(|s), pruning mask(|s), set to (zero|0), (is|are) zero(|es|s), zero(s|ed|es), zero weights, at zero, mask is applied, apply(ing) (the|a) mask,"
        " magnitude prun(e|ed|ing), lottery ticket(|s), winning ticket(|s), wanda, sparsegpt,"
        " sparse gpt, l1 unstructured, random unstructured, global unstructured, ln structured,"
        " torch nn utils prune, weight masks, unstructured, lth, multiplication(|s) by zero, multiplied by zero, entries are zero(|s), weights (are|is) zero",
        "LAYERS": "skip(|s|ped|ping) layers, layer skip(|ping), layerskip, layer prun(e|ing),"
        " depth prun(ed|ing), drop(|s|ped|ping) layers, layer drop(|ping|ped), shortgpt,"
        " middle (blocks|layers), redundant (blocks|layers), early exit(|s|ing), exit early,"
        " fewer layers, remov(e|es|ed|ing) layers, mixture of depths",
        "HEADS": "head(|s), attention head(|s), query head(|s), head mask(|s|ing), head prun(ing|ed),"
        " prun(e|es|ed|ing) heads",
        "KV_HEADS": "kv head(|s), key value head(|s), k v head(|s), kv groups",
        "S24": "2:4, 4:8, 1:4, 6:8, 3:4, n:m, semi structured, 2 of 4, two of every four, two in four,"
        " structured sparsity, sparse tensor core(|s), sparse tensor core path, cusparselt,"
        " sparse tflops, sparse math, with sparsity, sparsity feature, sparse mma",
        "FLOPS": "flop(|s), gflop(|s), mac(|s), arithmetic, multiplication(|s), operation(|s),"
        " multiply accumulate(|s), multiply adds, compute(|s), computation(|s), calculation(|s),"
        " math, matrix work, arithmetic work, computational (cost|load|work|complexity), arithmetic operations, floating point"
        " operations, multipl(y|ies), work, gmacs, operations per token",
        "PEAK": "tflops, tflop s, pflops, pflop s, teraflop(|s), petaflop(|s), tops, peak compute,"
        " peak flops, peak tflops, fp16 compute, compute power, raw compute, compute throughput,"
        " tensor core(|s), cuda core(|s), stream processors, shader(|s), core(|s), cpu cores, more cores, core count,"
        " core clock(|s), gpu clock(|s), clock speed(|s), clock(|s), ghz, overclock(|s|ed|ing), avx 512,"
        " avx512, amx, npu(|s), compute units, flop rate, peak performance, peak throughput,"
        " matrix (engine|unit)(|s), power (limit|cap), threads, more threads, sm count, boost clock,"
        " tensor throughput, tensor rate, math units, alus, higher clocks, compute capability, flops rating, matrix cores",
        "MATMUL": "gemm(|s), matmul(|s), mat mul, matrix multipl(y|ies|ication|ications),"
        " matrix multiplication kernel, matmul kernel, gemm kernel, faster kernel, strassen,"
        " alphatensor, winograd, tf32, fp16 accumulate, fp16 accumulation, int8 tensor cores, fp8 tensor cores,"
        " fp4 tensor cores, int4 tensor cores, int8 math, fp8 math, fp4 math, 8 bit math, 4 bit math, int8 arithmetic, fp8 arithmetic,"
        " low precision math, lower precision (math|arithmetic), integer (math|arithmetic),"
        " int8 multiplication, 8 bit matmul, 8 bit multiplication, int8 matmul, int8 gemm, fp8 gemm, cublas, cutlass,"
        " fp8 tensor core, int8 units, tensor core path, fp8 rate, int8 rate, fast math, precision goes down",
        "BATCH": "batch(|es|ed|ing), batch size(|s), max batch size, max num seqs, continuous batching,"
        " in flight batching, inflight batching, dynamic batching, static batching, larger batch(|es),"
        " bigger batch(|es), concurrency, max num batched tokens, concurrent requests, parallel requests, added user, (requests|sequences|users|streams) in one step, (requests|users|streams) share, shared by all, sharing the weights,"
        " more users, more requests, slots, num slots, sequences per step",
        "QUANT": "quantiz(e|es|ed|ing|ation), quantis(e|es|ed|ing|ation), int8, int4, int3, int2, fp8,"
        " fp4, nf4, mxfp4, nvfp4, mxfp8, awq, gptq, w4, w8, w4a16, w8a16, 4 bit(|s), 8 bit(|s), 3 bit(|s),"
        " 2 bit(|s), 6 bit(|s), 5 bit(|s), four bit(|s), eight bit(|s), weight only, q4 k m, q4 k, q4 0, q8 0, q5 k m,"
        " q6 k, q3 k m, q2 k, gguf, exl2, exl3, hqq, bitsandbytes, llm int8, load in 8bit, load in 4bit,"
        " 4bit, 8bit, lower precision, low bit, marlin, bnb, smaller weights, ternary, bitnet, fp8 checkpoint, int4 weights,"
        " int8 weights",
        "ACTQ": "w8a8, w4a8, w4a4, w8a4, a8, a4, activation quantization, activation quantisation,"
        " quantized activations, quantised activations, quantizing (the |)activations, quantising (the |)activations,"
        " fp8 activations, int8 activations, 8 bit activations, 4 bit activations, smoothquant,"
        " activations (to|in) (int8|fp8|8 bit|fp4|int4|4 bit), narrower activations, activations too,"
        " quantize (the |)activations",
        "ATTN": "flashattention(|2|3|4), flash attention(|2|3|4), flash attn, flash attention (2|3|4), fa2, fa3, fa4, flash decoding,"
        " flashdecoding, flashinfer, attention kernel(|s), fused attention, sdpa, xformers,"
        " split kv, splitkv, memory efficient attention, scaled dot product attention, faster attention,"
        " attention backend, attention implementation, makes attention, attention (is|gets|becomes), attention with the, attention part, attention step, attention operation, attention computation",
        "KVQ": "kv quant(|ization|isation), kv cache quant(ization|isation), kv cache dtype, fp8 kv, int8 kv,"
        " int4 kv, fp8 kv cache, int8 kv cache, int4 kv cache, 8 bit kv cache, 4 bit kv cache, int8 cache, fp8 cache, int4 cache, 8 bit cache, 4 bit cache,"
        " quantized kv, quantized (kv |)cache, quantised (kv |)cache, kivi, kv cache (to|in) (fp8|int8|int4), kvquant, cache in (fp8|int8|int4),"
        " kv cache compression, compress(|ed|ing) (the |)kv cache, kv compression, smaller cache, kv eviction, h2o, snapkv",
        "GQA": "gqa, mqa, grouped query attention, multi query attention, mla, multi head latent attention,"
        " latent attention, sliding window(|s)",
        "MOE": "moe, moes, mixture of experts, mixtral, expert(|s), routed experts, sparse mixture,"
        " active parameters, (is|are) active, parameters active, active params, activated parameters, deepseek v3, deepseek r1,"
        " qwen3 30b a3b, gpt oss, top k experts, dbrx",
        "TP": "tensor parallel(|ism), tensor parallel size, tp, tp2, tp4, tp8, tp16, second gpu, second card, two gpus,"
        " four gpus, eight gpus, 2 gpus, 4 gpus, 8 gpus, multi gpu, more gpus, sharded across,"
        " shard(|s|ed|ing), second accelerator, sixteen gpus, three gpus, number of gpus, n gpus, two cards, four cards, gpus, all reduce(|s),"
        " allreduce, both gpus, both cards, nvlink",
        "PP": "pipeline parallel(|ism), pipeline stages, pp2, pp4",
        "SPEC": "speculative, speculat(e|es|ed|ing|ion), speculative decoding, draft model(|s), draft(|s|ed|ing), draft head(|s), guess(|es),"
        " eagle, eagle 2, eagle 3, eagle3, medusa, mtp, multi token prediction, lookahead decoding,"
        " n gram(|s), ngram, prompt lookup, assisted generation, assistant model, self speculation",
        "CAPACITY": "vram, more memory, memory capacity, gigabytes, gpu memory, more gpu memory, memory size, bigger memory, larger memory,"
        " more vram, gb of memory, gb of vram, gb card, gb part, capacity, hbm capacity, more ram, more gb,"
        " doubling the memory, memory to, paged attention, pagedattention, memory pool, double the memory",
        "DISTILL": "distill(|s|ed|ing|ation), student, smaller model, teacher",
        "GRAPHS": "cuda graph(|s), graph capture, graphs, torch compile, reduce overhead, launch overhead,"
        " kernel fusion, fus(e|es|ed|ing) everything, fus(e|es|ed|ing), megakernel(|s), host overhead, kernel launches",
        "PREFIX": "prefix cach(e|es|ing), prompt cach(e|es|ing), radix cache, radixattention, prefix reuse,"
        " automatic prefix caching, apc, chunked prefill, disaggregat(e|ed|ion)",
        "OFFLOAD": "offload(|s|ed|ing), cpu offload, spill(|s|ed|ing), system ram, pcie",
        "LOWRANK": "low rank, svd, factoriz(ed|ation), factoris(ed|ation), rank reduction",
        "HARDWARE": "h100, h200, a100, b200, b100, gb200, gb300, l40, l40s, l4, h20, h800, a800, t4, v100, a10, a10g, a6000, 4090, 3090,"
        " 5090, 3080, 4080, 4070, 5080, mi300x, mi250x, mi325x, mi355x, tpu, m1, m2, m3, m4, newer card, new card, other card, new gpu, newer gpu,"
        " faster gpu, bigger gpu, this card, the card, upgrade, gpu, card, cpu, accelerator",
    }
)
"""Ideas, by what they do. A lever's words alone claim nothing."""

MARKS: Final = MappingProxyType(
    {
        # What happens to what is pruned
        "REMOVE": "remov(e|es|ed|ing|al), drop(|s|ped|ping), cut, cutting, tak(e|es|ing)",
        "PART": "layer(|s), block(|s), row(|s), column(|s), neuron(|s), filter(|s), unit(|s), dimension(|s), width, entirely, them, module(|s), branch(|es)",
        "REMOVED": "physically remov(e|es|ed|ing), cut out, cutting out, taken out, tak(e|es|ing) out,"
        " physically, slic(e|es|ed|ing) (away|off|out|the|them), sliced, rebuil(d|ds|t|ding), dropped blocks, drop(|s|ped|ping) (the |)(blocks|layers|rows|columns|channels|neurons|experts),"
        " structural(|ly), structured prun(ing|ed), smaller (matrices|tensors|matrix|dense|layers|network), shrink(|s) the (tensors|matrices|layers|dimensions),"
        " really gone, (is|are) gone, actually gone, narrower (matrices|layers|tensors), thinner, delet(e|es|ed|ing|ion), half their width, of their width, reduced width,"
        " hidden size, intermediate size, fewer layers, fewer rows, excis(e|ed|ing), extract(ed|ing) the remaining, not executed, no longer executed, no longer in the,"
        " width prun(ed|ing), depth prun(ed|ing), channel(|s), whole (channels|rows|columns|layers|neurons|blocks), rows and columns, removing layers, layers removed, re exported, shrunk,"
        " dense matrices of, compact(|ed) model, head groups, layers out, blocks out, dropping a quarter of the layers, out of the (tensors|model|weights|checkpoint|network|graph|matrices)",
        "PACKED": "packed, pack(|s|ing), compressed, bitmap, csr, bsr, sparse kernel(|s), sparse format(|s), packed format,"
        " load as sparse, spinfer, macko, flash llm, sparse marlin, marlin 24, deepsparse, sputnik, tiled csl,"
        " sparse engine, skip(|s) the read(|s), skip(|s) reading, skip(|s|ping) zeros, sparse storage, compressed storage,"
        " compressed format, sparse runtime, values plus, metadata, kernel that reads, reads only, stored sparse, stored compressed, sparse layout, own sparse kernels,"
        " relu, relufication, predictor, neuron(|s), hot neurons, sparsity aware, sparse aware, sparse matmul, sparse matrix kernel(|s), cutlass sparse, non zero values, nonzero values, only the non zeros, skip(s|ped) loading, contextual sparsity, activation sparsity, deja vu, powerinfer, teal, sparse gemv, sparse spmv, spmv, skips the (rows|columns), index(ed|es)",
        "DENSE": "dense tensor(|s), dense checkpoint, dense format, dense storage, stored dense, stay(|s) dense, stay in the, stays in the, remain in the,"
        " stock (code|kernel|kernels|checkpoint), standard (kernels|checkpoint|tensors|format), ordinary (checkpoint|kernels|tensors), normal (tensors|checkpoint|kernels),"
        " same tensor(|s), same shape(|s), shapes unchanged, shape unchanged, same (checkpoint|file) (size|format), fp16 checkpoint, bf16 checkpoint, fp8 tensors, fp16 tensors, bf16 tensors, dense kernels, dense gemm,"
        " in place, multiplication by zero, multiplied by zero, still stored, still executed, still there, kept in, mask(|s|ed|ing), no op, make it permanent, live,"
        " number of parameters stays, parameter count stays, full size, dense matrix, dense matrices, dense fp16, dense bf16, dense fp8, as dense, unstructured, simulated, normal fp8 tensors, same dense, regular dense",
        "MASK": "mask(|s|ed|ing), gat(ed|ing) off, gate(|s) off, gated, zero(ed|ing|s) out, zeroed, zeroing, disabl(e|es|ed|ing), switch(|es|ed|ing) off, switched off, set to zero, by zero,"
        " turn(|s|ed|ing) off, silenc(e|es|ed|ing), mut(e|ed|es|ing), head mask, without half of its, deactivat(e|es|ed|ing), zero out",
        # Effects
        "FASTER": "faster, quicker, snappier, speedier, swifter, sooner, speed(|s|ing) up, sped up, speedup(|s), speed up(|s),"
        " accelerat(e|es|ed|ing|ion), quicken(|s|ed|ing), more quickly, snappy, as fast, as quick, as quickly, less time, shorter time, half the time, third of the time, quarter of the time,"
        " fraction of the time, half as long, third as long, quarter as long, as long, shorter wait, less waiting",
        "SLOWER": "slower, slow(|s|ed|ing) down, slow, slowdown(|s), longer, worse",
        "UP": "rais(e|es|ed|ing), ris(e|es|ing), rose, increas(e|es|ed|ing), grow(|s|n|ing), higher, more, doubl(e|es|ed|ing), tripl(e|es|ed|ing),"
        " quadrupl(e|es|ed|ing), improv(e|es|ed|ing|ement|ements), boost(|s|ed|ing), gain(|s|ed), lift(|s|ed|ing), climb(|s|ed), jump(|s|ed), go(|es) up, going up, better, twice, multipl(ied|ying), scal(e|es|ing), up by,"
        " benefit(|s|ed)",
        "DOWN": "cut(|s|ting), reduc(e|es|ed|ing|tion), lower(|s|ed|ing), halv(e|es|ed|ing), drop(|s|ped|ping), fall(|s|ing), fell, shrink(|s|ing), shrank, shrunk, decreas(e|es|ed|ing),"
        " shorten(|s|ed|ing), sav(e|es|ed|ing|ings), less, fewer, shorter, down, go(|es) down, shav(e|es|ed|ing), slash(|es|ed|ing), trim(|s|med|ming), minus, bring(|s|ing) down, smaller, remov(e|es|ing), com(e|es|ing) down, skip(|s|ping|ped), divid(e|es|ed|ing)",
        # Metrics
        "TIME": "latency, latencies, itl, tpot, tbt, inter token latency, inter token time, token latency, token time, time per token, time per output token, times per token,"
        " ms per token, ms token, step time, steps time, decode time, decode step, decoding time, generation time, time between tokens, response time, reply time, wait per token, time per generated token, per token latency, per token time,"
        " decode latency, seconds per token, inference time, time per step, time for each token, step latency, runtime, wall time, time to generate, milliseconds per token, delay, lag",
        "RATE": "tokens s, tok s, tps, tokens per second, token s, tokens sec, tok sec, token per second, token rate, decode speed, decoding speed, generation speed, typing speed, inference speed, tokens a second, output rate, output speed,"
        " speed, decode rate, decode throughput, tokens per user, decode performance, generation throughput, inference performance, performance, writing speed, reading speed, chat speed, single user speed, stream speed, streaming speed, token throughput, tokens per s, t s",
        "THROUGHPUT": "throughput, goodput, requests s, requests per second, req s, tokens in total, total tokens, aggregate throughput, system throughput, total output",
        # Regimes
        "DECODE": "decod(e|es|ing), decoder(|s), generat(e|es|ed|ing|ion), autoregressive, auto regressive, stream(|s|ed|ing), repl(y|ies), answer(|s), chat(|s|ting|bot), itl, tpot, tbt, inter token latency, per token, each token, every token, next token, new token, output token(|s), output tokens,"
        " time between tokens, word by word, token by token, token at a time, each word, each new word, every word, next word, new word, words, types, talk(|s), speak(|s), dialog, text, completion(|s), reads along, typ(es|ing|ed) (out|speed), typing speed, writ(e|es|ing|ten), response(|s), conversation(|s), assistant, copilot, time per token, token rate, ms token, sentences, tokens after the first,"
        " interactive, dialogue, token latency, token generation, text generation, decode step, tps, gemv, token time, time per output token, ms per token",
        "TOKENS": "token, tokens, tokens s, tok s, tokens per second, t s",
        "LLM": "llm(|s), language model(|s), llama, mistral, qwen, gpt, chatbot, transformer(|s), inference, serving, vllm, 7b, 8b, 13b, 32b, 70b",
        "SINGLE": "single user, one user, a user, single stream, one stream, batch 1, batch one, batch size 1, batch size one, batch of 1, batch of one, bs 1, bs1, single request, one request, lone request, lone user, single customer, one customer, pilot customer, single session, one session, single active user, single analyst, one person,"
        " a person, our users, a reader, a customer, each person, each client, each customer, every client, every customer, a client, lone stream, lone, single chat, one chat, one sequence at a time, individual client, individual user, individual stream, per user, each user, every user, each stream, the user, user sees, his stream, her stream, per stream, single token, one reply, each reply, single conversation, personal, local, laptop, desktop, workstation, idle server, at home, one at a time, individual reader, single reader, per session, each session, single client, individual itl, a single active user, one sequence, single sequence, the stream, individual",
        "PREFILL": "prefill(|s|ing|ed), prompt(|s), prompt processing, prompt pass, ttft, first token, time to first token, ingest(|s|ing|ion), long document(|s), reading in, reads in, context encoding, long input(|s), prompt ingestion, prompt evaluation, prompt speed, context processing, pp512, summariz(e|ing) long",
        "TRAINING": "training, train, trains, trained, retrain(ed|ing), fine tun(e|ed|ing), finetun(e|ed|ing), pretraining, backward, backward pass, gradient(|s), optimizer, epoch(|s)",
        "OTHER_MODEL": "bert, roberta, distilbert, vit, resnet(|s), resnet50, cnn(|s), convnet, convolution(|s|al), mobilenet, efficientnet, yolo, unet, diffusion, stable diffusion, sdxl, image classif(ier|ication), vision encoder, vision transformer, encoder, embedding model, classifier(|s), classification,"
        " object detection, whisper encoder, visual tokens, image(|s), vgg, recommender, gan, speech encoder, segmentation, detector, vision model, encoder only, encoder decoder",
        "LARGE_BATCH": "large batch(|es), high batch, big batch(|es), huge batch(|es), full batch, at saturation, saturation, saturated, offline, server is full, full server, busy, full load, high concurrency, high load, heavy load, high qps, many users, busy server, peak load, peak hours, under load, fully loaded, loaded gpu, batch pool, thousands of requests, heavy traffic, mixed traffic, nightly",
        "AGGREGATE": "aggregate, aggregated, total, all users, all streams, overall, combined, per gpu hour, system wide, cluster, fleet, in total, together, server wide, across users, across requests, across all, total throughput, sum, throughput, the server, the system, the node, the cluster, the deployment, as many tokens, the fleet",
        "SHORT": "short (chats|chat|answers|context|contexts|prompt|prompts|sequence|sequences|replies|reply|questions|conversation|conversations|messages|queries|inputs), few hundred tokens, short ctx, short context decode",
        "LONG": "long context(|s), long prompt(|s), long sequence(|s), long document(|s), long conversation(|s), long contexts, long cache, long history, long ones, long input(|s), long ctx, large context",
        # Resources that bytes are about
        "BYTES": "byte(|s), weight traffic, traffic, memory traffic, weight reads, weight read, weight loading, bandwidth, gb per token, gb token, bytes per token, fetch(|es|ed|ing), stream(s|ed) the weights, memory reads, reads, hbm traffic, weight bytes, data moved, memory bandwidth, dram traffic",
        "WEIGHTS": "weight(|s), parameter(|s), params, checkpoint",
        "KV": "kv, kv cache, k v cache, cache, key value cache, keys and values, kv reads, kv traffic",
        "BOUND_COMPUTE": "compute bound, compute limited, flop bound, flops bound, arithmetic bound, math bound, compute intensive, bound by compute, bound by arithmetic, bound by flops, bound by the tensor cores, limited by compute, limited by arithmetic, limited by flops, limited by the flops,"
        " limited by the tensor cores, limited by tensor cores, limited by how (fast|quickly) the tensor cores, computation dominates, compute dominates, arithmetic dominates, dominated by (the |)(compute|computation|arithmetic|matmuls|gemms|matrix multiplication|matrix multiplications|flops), compute side of the roofline,"
        " saturat(e|es|ing) the tensor cores, saturates tensor cores, saturat(e|es|ing) the compute units, waits for (arithmetic|compute|math|the tensor cores|the alus|flops), bottleneck is (compute|arithmetic|flops|math|the tensor cores|the gemm|the gemms|computation|tensor core throughput), bottlenecked by (compute|arithmetic|flops|math|the tensor cores|computation), bottlenecked on (compute|arithmetic|flops|math|the tensor cores|computation),"
        " compute is the (bottleneck|limit|limiting factor), arithmetic is the (bottleneck|limit|limiting factor), flops are the (bottleneck|limit|limiting factor), limited by (the |)(arithmetic|compute|computation|math|matmul|matmuls|gemm|gemms) (throughput|rate|speed|units|power), constrained by (compute|arithmetic|flops), limited by computation, bound by (the |)(matmuls|gemms|math|computation|number of flops|multiplications), limited by the number of (flops|operations|multiplications), bound by the number of (flops|operations|multiplications), limited by matrix multiplication(|s),"
        " compute is what limits, tensor cores are the bottleneck, tensor cores are the limit, limited by the matrix units, limited by the alus, alu bound, spent (on|in) (arithmetic|multiplying|matrix multiplications|math|computation)",
        "BOUND_MEMORY": "memory bound, bandwidth bound, memory bandwidth bound, memory limited, bandwidth limited, bound by memory, bound by bandwidth, limited by memory, limited by bandwidth, limited by memory bandwidth, bound by memory bandwidth, limited by the memory, starved",
        # Adoption of levers without conditions
        "FREE": "for free, no cost, has no cost, nothing is lost, at no cost, free lunch, nothing to lose, lose(|s) nothing, cost(|s) nothing, never hurts, cannot hurt, can not hurt, can only help, can only gain,"
        " no downside, no drawback, (is|are|comes|come) free, no penalty, harmless, no risk, without (any |)(cost|penalty|risk|overhead|drawback|downside), free speedup, free performance, zero cost, pure gain, pure win, free win, no reason not to",
        "ALWAYS": "whatever, any batch, any load, any batch size, regardless, no matter, independent of, in every case, always, in all cases, at any load, all loads, every batch, every load, every workload, never slower, all traffic, all requests, every request, irrespective, in any case, under any load, any concurrency, any traffic, every time, all batch sizes",
        # Evidence
        "MEASURED": "measur(e|ed|ement|ements), in our tests, in our test, we saw, we see, observed, benchmark(|s|ed), reported, in practice, tested, found, profil(ed|er|ing), i measure, timed, in my tests, i get, we got, i got, trace, results, clocked",
        "HOPED": "expect(|s|ed|ing), should, will, would, plan(|s|ned), target(|s), goal(|s), aim(|s|ed|ing), promise(|s|d), hope(|s|d), projected, forecast, estimate(|d|s), anticipat(e|ed|es), planned rate, count on, going to",
        # Transfers from one place to another
        "TRANSFER": "as well, too, accordingly, inherits, inherit, by the same ratio, the same ratio, likewise, same factor, same speedup, same gain, equally, also, carries over, carry over, transfers to, same applies, same for, by the same, translates, same improvement, just as much, both, no difference, same boost, similarly",
        "ROUTE": "read(|s), stream(|s|ed), load(|s|ed|ing), fetch(|es|ed), touch(|es|ed), pull(|s|ed), mov(e|es|ed), from the weights alone, per token, for each token, for every token, each token, traverse(|s)",
    }
)
"""Everything else that fills a slot."""


_OF_DECODE: Final = frozenset(
    [
        "decode",
        "decoding",
        "generation",
        "token",
        "tps",
        "itl",
        "tpot",
        "tbt",
        "typing",
        "chat",
        "reply",
        "writing",
        "generated",
        "generate",
        "stream",
        "streaming",
        "user",
        "output",
    ]
)
"""Metrics with one of these words are metrics of decode."""


@lru_cache(maxsize=1)
def terms() -> Table:
    """The look-up table of all terms. A tag may come from levers and marks alike."""
    listed = {**LEVERS, **MARKS}
    of_decode = [
        term.strip()
        for name in ("TIME", "RATE")
        for term in listed[name].split(",")
        if not _OF_DECODE.isdisjoint(term.split())
    ]
    derived = {
        "DECODE": ",".join(
            [
                listed["DECODE"],
                *of_decode,
                *_with(listed, "SHORT", _TALK),
                *_with(listed, "LONG", _TALK),
            ]
        ),
        "PREFILL": ",".join([listed["PREFILL"], *_with(listed, "LONG", _READ)]),
    }
    return compile_terms({**listed, **derived})


_TALK: Final = frozenset(
    [
        "chats",
        "chat",
        "replies",
        "reply",
        "answers",
        "conversation",
        "conversations",
        "questions",
        "messages",
    ]
)
_READ: Final = frozenset(["prompt", "prompts", "document", "documents", "input", "inputs"])


def _with(listed: dict[str, str], name: str, words: frozenset[str]) -> list[str]:
    """Terms of a kind that hold one of some words, as patterns."""
    patterns = [pattern.strip() for pattern in listed[name].split(",")]
    terms_of_kind = [term for pattern in patterns for term in expanded(pattern)]
    return [term for term in terms_of_kind if not words.isdisjoint(term.split())]
