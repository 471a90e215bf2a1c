"""Terms for everything but levers: storage, effects, metrics, regimes, resources, evidence.

Written like those for levers.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

MARKS: Final = MappingProxyType(
    {
        "REMOVE": ("remov(e|es|ed|ing|al), drop(|s|ped|ping), cut, cutting, tak(e|es|ing)"),
        "PART": (
            "layer(|s), block(|s), row(|s), column(|s), neuron(|s), filter(|s), unit(|s), "
            "dimension(|s), width, entirely, them, module(|s), branch(|es)"
        ),
        "REMOVED": (
            "physically remov(e|es|ed|ing), cut out, cutting out, taken out, tak(e|es|ing) out, "
            "physically, slic(e|es|ed|ing) (away|off|out|the|them), sliced, rebuil(d|ds|t|ding), "
            "dropped blocks, drop(|s|ped|ping) (the "
            "|)(blocks|layers|rows|columns|channels|neurons|experts), structural(|ly), structured "
            "prun(ing|ed), smaller (matrices|tensors|matrix|dense|layers|network), shrink(|s) the "
            "(tensors|matrices|layers|dimensions), really gone, (is|are) gone, actually gone, "
            "narrower (matrices|layers|tensors), thinner, delet(e|es|ed|ing|ion), half their "
            "width, of their width, reduced width, hidden size, intermediate size, fewer layers, "
            "fewer rows, excis(e|ed|ing), extract(ed|ing) the remaining, not executed, no longer "
            "executed, no longer in the, width prun(ed|ing), depth prun(ed|ing), channel(|s), "
            "whole (channels|rows|columns|layers|neurons|blocks), rows and columns, removing "
            "layers, layers removed, re exported, shrunk, dense matrices of, compact(|ed) model, "
            "head groups, layers out, blocks out, dropping a quarter of the layers, out of the "
            "(tensors|model|weights|checkpoint|network|graph|matrices)"
        ),
        "PACKED": (
            "packed, pack(|s|ing), compressed, bitmap, csr, bsr, sparse kernel(|s), sparse "
            "format(|s), packed format, load as sparse, spinfer, macko, flash llm, sparse "
            "marlin, marlin 24, deepsparse, sputnik, tiled csl, sparse engine, skip(|s) the "
            "read(|s), skip(|s) reading, kernel that skips zeros, sparse storage, compressed "
            "storage, compressed format, sparse runtime, values plus, metadata, kernel that "
            "reads, reads only, stored sparse, stored compressed, sparse layout, own sparse "
            "kernels, relufication, predictor, hot neurons, sparsity aware, sparse aware, "
            "sparse matmul, sparse matrix kernel(|s), cutlass sparse, non zero values, nonzero "
            "values, only the non zeros, skip(s|ped) loading, contextual sparsity, activation "
            "sparsity, deja vu, powerinfer, teal, sparse gemv, sparse spmv, spmv, skips the "
            "(rows|columns), repack(|s|ed|ing), entropy coded, decompress(|es|ed|ing), "
            "gathered into, half width matrices, custom kernel, semi structured gemv, sparse "
            "linear kernel, compacted, stored compactly, compact form, skip(s|ped|ping) the "
            "zero(|s|ed) (weights|values|blocks), skip(|s|ped|ping) loading, skip(|s|ped|ping) "
            "(the )(load|read|reads|rows|columns), skip(|s|ped|ping) reading, skip(|s|ped|"
            "ping) (their|its|these|those|the|whole) (rows|columns|reads|loads|blocks), saves "
            "real reads, reads it directly"
        ),
        "DENSE": (
            "dense tensor(|s), dense checkpoint, dense format, dense storage, stored dense, "
            "stay(|s) dense, stay in the, stays in the, remain in the, stock (code|kernel|"
            "kernels|checkpoint), standard (kernels|checkpoint|tensors|format), ordinary "
            "(checkpoint|kernels|tensors), normal (tensors|checkpoint|kernels), same tensor(|"
            "s), same shape(|s), shapes unchanged, shape unchanged, same (checkpoint|file) "
            "(size|format), fp16 checkpoint, bf16 checkpoint, fp8 tensors, fp16 tensors, bf16 "
            "tensors, dense kernels, dense gemm, in place, multiplication by zero, multiplied "
            "by zero, still stored, still executed, still there, kept in, mask(|s|ed|ing), no "
            "op, masked out, make it permanent, live, number of parameters stays, parameter "
            "count stays, full size, dense matrix, dense matrices, dense fp16, dense bf16, "
            "dense fp8, as dense, unstructured, simulated, normal fp8 tensors, same dense, "
            "regular dense, kernel as it is, kernels as they are, dense kernel, unchanged "
            "kernel(|s), layout alone, layout unchanged, plain nn linear, nn linear unchanged, "
            "ordinary nn linear, standard gemm(|s), save pretrained, normal checkpoint, usual "
            "checkpoint, as usual, same file, regular checkpoint, dense gemv"
        ),
        "MASK": (
            "zero gate, gate, gates, multiplied by a zero, multiplied by zero, close(|s|d), l0 "
            "gates, masked out, head mask(s|ing), gating, (gate|switch|turn) them off, gates "
            "them off, mask(|s|ed|ing), gat(ed|ing) off, gate(|s) off, gated, zero(ed|ing|s) "
            "out, zeroed, zeroing, disabl(e|es|ed|ing), switch(|es|ed|ing) off, switched off, "
            "set to zero, by zero, by 0, masking, turn(|s|ed|ing) off, silenc(e|es|ed|ing), "
            "mut(e|ed|es|ing), head mask, without half of its, deactivat(e|es|ed|ing), zero "
            "out, knock(|s|ed|ing) out, ablat(e|es|ed|ing|ion), dropout, skipped in the sum, "
            "output(|s) zero, with zeros, to zero, exactly zero, at zero, close(|s|d) (the "
            "their )gates, gates closed"
        ),
        "FASTER": (
            "types (faster|quicker), "
            "cheaper token(|s), token cheaper, tokens cheaper, cheaper in (time|latency), "
            "(step|steps|reply|replies) cheaper, ready sooner, faster, quicker, "
            "snappier, speedier, swifter, sooner, speed(|s|ing) up, sped up, speedup(|s), "
            "speed up(|s), accelerat(e|es|ed|ing|ion), quicken(|s|ed|ing), more quickly, "
            "snappy, less time, shorter time, half the time, third of the time, quarter of the "
            "time, half third quarter shorter wait, less waiting, more responsive, livelier, "
            "instant, instantly, zippier, brisker, outpac(e|es|ed|ing), overtak(e|es|ing), "
            "outperform(|s|ed|ing), in less time, less wait, shorter waits, quicker replies, "
            "cuts the wait, at double speed, double speed, twice the speed, twice the rate, "
            "double the rate, double the speed, triple the speed, three times the speed, four "
            "times the speed, half the latency, hastens, quickest, fastest, order of magnitude "
            "faster, speed(s|ing) along, sav(e|es|ing) time, time saved, time saving(|s), "
            "start(|s) (earlier|sooner), begin(|s) (earlier|sooner), arriv(e|es|ing) earlier, "
            "(clearly|well|pulls|pull|far) ahead, earlier answers, prompter, swift, brisk, "
            "speedily, expedit(e|es|ed|ing), cut the wait, shaves time, faster still, quicker "
            "still, more promptly, promptly, more rapidly, rapidly, more swiftly, swiftly, at "
            "a higher rate, more fluid, more fluent, fluid, smoother, more snappy, hasten(|s|"
            "ed|ing), faster paced, no longer (drag|drags|crawl|crawls|lag|lags|slow|"
            "sluggish), thing of the past, more fast, more quick, speeds along, speed(s|ed|"
            "ing) (it decoding decode generation replies the reply things everything tokens it "
            "all )along, not to wait so long, wait less, waits less, waiting less, shave(s|d|) "
            "time, save(s|d|) time, saves (precious )milliseconds, save (precious "
            ")milliseconds, shaves milliseconds, milliseconds saved, at greater speed, at "
            "higher speed, increased speed, higher speed, greater speed, pacier, perkier, "
            "nimbler, crisper, lively, less laggy, less lag, less sluggish, less delay, less "
            "latency, shortened wait, shorter wait, shorter delay, shorter delays, time saver, "
            "turbocharge(s|d|), supercharge(s|d|), fast track(|s), speed bump, speed boost, "
            "speed gain(|s), speed win, speed increase, speed improvement(|s), decode win, "
            "latency win, latency gain, latency improvement, performance boost, performance "
            "gain(|s), performance win, earlier on (the )screen, word earlier, words earlier, "
            "token earlier, tokens earlier, there earlier, done earlier, finish(|es) earlier, "
            "complete(|s) earlier, come(|s) earlier, milliseconds earlier, more tokens (leave|"
            "come|arrive|appear), as responsive, as snappy, as lively, types (faster|quicker)"
        ),
        "SLOWER": (
            "slows (anything|things) down, slower, slow(|s|ed|ing) down, slow, "
            "slowdown(|s), longer, worse"
        ),
        "UP": (
            "rais(e|es|ed|ing), ris(e|es|ing), rose, increas(e|es|ed|ing), grow(|s|n|ing), "
            "higher, more, doubl(e|es|ed|ing), tripl(e|es|ed|ing), quadrupl(e|es|ed|ing), "
            "boost(|s|ed|ing), lift(|s|ed|ing), climb(|s|ed), jump(|s|ed), go(|es) up, going "
            "up, twice, multipl(ied|ying), scal(e|es|ing), up by, propel(|s|led|ling), push(|"
            "es|ed|ing) up, pushes, crank(|s|ed|ing) up, soar(|s|ed|ing), leap(|s|ed|ing), "
            "surg(e|es|ed|ing), swell(|s|ed|ing), way up, driv(e|es|ing) up, drove up, "
            "elevat(e|es|ed|ing), enhanc(e|es|ed|ing|ement|ements), augment(|s|ed|ing), "
            "amplif(y|ies|ied|ying), mount(|s|ed|ing), ramp(|s|ed|ing) up, pick(|s|ed|ing) up, "
            "skyrocket(|s|ed|ing), rocket(|s|ed|ing), upward(|s), went up, turn(|s|ed|ing) up, "
            "nudg(e|es|ed|ing) up, add(|s|ed|ing) to, increment(|s|ed), upsurge, multipl(y|"
            "ies), rise in, increase in, jump in, expand(|s|ed|ing)"
        ),
        "IMPROVED": (
            "improv(e|es|ed|ing|ement|ements), better, benefit(|s|ed), win, wins, relief, "
            "optimiz(e|es|ed), optimis(e|es|ed), gain(|s|ed), bump(|s), boost(|s|ed|ing), "
            "uplift, upgrade(|s|d), advantage, kinder, kind to, good for, great for, does "
            "wonders, do wonders, wonders for, gives wings, wings, shot in the arm, ahead on, "
            "ahead in, big promotion, advance(|s), progress, reliev(e|es|ed|ing), eas(e|es|ed|"
            "ing), polish(|es|ed), enhanc(e|es|ed|ing|ement), beat(|s|ing), outdo(|es), "
            "surpass(|es), leav(e|es|ing) behind, gift, boon, payoff, pay off, pays off, "
            "dividend(|s), favourable, favorable, lighter, nicer"
        ),
        "DOWN": (
            "cut(|s|ting), reduc(e|es|ed|ing|tion), lower(|s|ed|ing), halv(e|es|ed|ing), drop(|"
            "s|ped|ping), fall(|s|ing), fell, shrink(|s|ing), shrank, shrunk, decreas(e|es|ed|"
            "ing), shorten(|s|ed|ing), sav(e|es|ed|ing|ings), less, fewer, shorter, down, go(|"
            "es) down, shav(e|es|ed|ing), slash(|es|ed|ing), trim(|s|med|ming), minus, bring(|"
            "s|ing) down, smaller, remov(e|es|ing), com(e|es|ing) down, skip(|s|ping|ped), "
            "divid(e|es|ed|ing), contract(|s|ed|ing), sink(|s|ing), sank, declin(e|es|ed|ing), "
            "clip(|s|ped|ping), chip(|s|ped|ping) away, dwindl(e|es|ed|ing), diminish(|es|ed|"
            "ing), lessen(|s|ed|ing), plung(e|es|ed|ing), plummet(|s|ed|ing), tumbl(e|es|ed|"
            "ing), melt(|s|ed|ing), compress(|es|ed|ing), squeez(e|es|ed|ing), narrow(|s|ed|"
            "ing), curtail(|s|ed|ing), curb(|s|ed|ing), shed(|s|ding), wip(e|es|ed|ing) off, "
            "knock(|s|ed|ing) off, tak(e|es|ing) off, peel(|s|ed|ing) off, eliminat(e|es|ed|"
            "ing), deduct(|s|ed|ing), closes up, shrivel(|s|ed|ing), collaps(e|es|ed|ing), "
            "descend(|s|ed|ing), decrement(|s|ed), downward(|s), went down, going down, "
            "brought down, took down, thin(|s|ned) out, discount(|s|ed), minimi(z|s)(e|es|ed|"
            "ing), contraction, decrease(|s), reduction(|s), drop in, cut in, fall in, decline "
            "in, (slice|bite|chunk|cut) out"
        ),
        "TIME": (
            "per token cost, cost per token, token cost, turn, latency, latencies, itl, tpot, "
            "tbt, inter token latency, inter token time, token latency, token time, time per "
            "token, time per output token, times per token, ms per token, ms token, step time, "
            "steps time, decode time, decod(e|ing) step(|s), decoding time, generation time, "
            "time between tokens, response time, reply time, wait per token, time per "
            "generated token, per token latency, per token time, decode latency, seconds per "
            "token, inference time, time per step, time for each token, step latency, runtime, "
            "wall time, time to generate, milliseconds per token, delay, lag, wait, waiting "
            "time, time to write, time to answer, time for a token, time for each word, "
            "seconds per answer, response latency, reply latency, generation delay, ms per "
            "output token, ms a token, per word latency, duration, completion time, s per "
            "token, decode cost, time each token takes, time a token takes, time to produce, "
            "time of a step, token interval, gap between tokens, gaps between tokens, interval "
            "between tokens, time spent per token, microseconds per token, inter token gap(|"
            "s), gap between (two )tokens, token gap, time per word, per token delay, time "
            "spent on a token, tok time, token times, decode (delay|wait), waiting time per "
            "token, time for (each|every|a|the next|one) (new generated output )token, time of "
            "(each|every|a|one) (new generated output )token, per token (delay|wait|budget), "
            "token interval(|s), interval between (two consecutive )tokens, gap from one token "
            "to the next, step times, decode steps, ms tok, ms per tok, time from token to "
            "token, inter token time(|s), token to token (time|latency|interval), time between "
            "words, each token, decode durations, token production time, time per pass, time "
            "to produce a token, latency token, token period, decode loop time, time a token "
            "needs, waiting for tokens, wait for (the each every )(next new )(token|word), "
            "time of the reply, answer time, answering time, time to complete a reply, time to "
            "finish a reply, per step time, turnaround, latency win, latency gain, latency "
            "improvement, less latency, (batch 1|bs1|bs 1|single user|single stream|one user|"
            "decode|7b|8b|13b|14b|30b|32b|34b|70b|72b|405b) step(|s), pause between (two the "
            ")(words|tokens), pauses between (words|tokens), wait between (two the )(words|"
            "tokens), time between two (words|tokens)"
        ),
        "RATE": (
            "tokens s, tok s, tps, tokens per second, token s, tokens sec, tok sec, token per "
            "second, token rate, decode speed, decoding speed, generation speed, typing speed, "
            "inference speed, tokens a second, output rate, output speed, speed, decode rate, "
            "decode throughput, tokens per user, decode performance, generation throughput, "
            "inference performance, performance, writing speed, reading speed, chat speed, "
            "single user speed, stream speed, streaming speed, token throughput, tokens per s, "
            "t s, words per second, characters per second, word rate, output tokens per "
            "second, tokens each second, rate of tokens, pace, tempo, generation rate, reply "
            "speed, answer speed, token speed, speed of generation, speed of decoding, speed "
            "of the reply, speed of replies, speed of a single, speed per user, writing rate, "
            "decode tokens per second, stream rate, single stream speed, chat rate, t per s, "
            "toks, toks per second, token generation speed, token generation rate, (user|"
            "stream|single user|generation|output|per user|single stream|chat|typing|reply|"
            "writing|decoding) rate(|s), rate at which, per user speed, interactivity, token "
            "output, per user tps, tok sec user, rate of generation, rate of decoding, tokens "
            "per unit time, speed of decode, speed of generating, speed of output, output tok "
            "s, tok per sec, tokens sec user, tok s user, tokens s user, generating speed, "
            "decoding throughput, speed in chat, speed of chat, performance boost, performance "
            "gain(|s), performance win, more tokens (leave|come|arrive|appear), as many tokens "
            "(a|per|each|every) second, as many tokens s, as many tok s"
        ),
        "THROUGHPUT": (
            "throughput, goodput, requests s, requests per second, req s, tokens in total, "
            "total tokens, aggregate throughput, system throughput, total output, its output, "
            "the output of the (server|card|gpu|node)"
        ),
        "DECODE": (
            "tokens that follow, tokens after (it|that|them), tokens thereafter, following "
            "tokens, later tokens, remaining tokens, caption(|s), decod(e|es|ing), decoder(|"
            "s), generat(e|es|ed|ing|ion), autoregressive, auto regressive, stream(|s|ed|ing), "
            "repl(y|ies), answer(|s), chat(|s|ting|bot), itl, tpot, tbt, inter token latency, "
            "per token, each token, every token, next token, new token, output token(|s), "
            "output tokens, time between tokens, word by word, token by token, token at a "
            "time, each word, each new word, every word, next word, new word, words, talk(|s), "
            "speak(|s), dialog, text, completion(|s), reads along, typ(es|ing|ed) (out|speed), "
            "typing speed, writ(e|es|ing|ten), response(|s), conversation(|s), assistant, "
            "copilot, time per token, token rate, ms token, sentences, tokens after the first, "
            "interactive, dialogue, token latency, token generation, text generation, decode "
            "step, tps, gemv, token time, time per output token, ms per token, autocomplete, "
            "autocompletion, suggestion(|s), story, stories, poem, essay(|s), email(|s), "
            "letter(|s), bot, voice, voice assistant, spoken, subtitle(|s), dictation, words "
            "per second, characters per second, per word, each character, interactivity, "
            "responsiveness, keystroke(|s), prose, sentence(|s), paragraph(|s), narration, "
            "tutor, token stream, token output, output speed, produce(|s|d) tokens, producing "
            "tokens, tokens appear, tokens arrive, tokens come, emits, emit, word rate, types "
            "back, answers back, speaks, talking, dialogues, a reply, the reply, incremental "
            "decoding, causal decoding, one token, per output token, subsequent tokens, "
            "generation phase, generation stage, decode phase, decode stage, generation "
            "latency, decoding phase, output phase, completion speed, generates text, writing "
            "text, text output, users (see|get|notice), users (will|should) (see|get|notice), "
            "users can (expect|look forward), tg, tg128, sampling, token by token generation, "
            "typing, types its answers, interactive path, decode win, types (out|back|its|the|"
            "faster|quicker|replies|answers|text|words|tokens), (batch 1|bs1|bs 1|single user|"
            "single stream|one user|7b|8b|13b|14b|30b|32b|34b|70b|72b|405b) step(|s), between "
            "(two the )(words|tokens)"
        ),
        "TOKENS": (
            "token, tokens, tokens s, tok s, tokens per second, t s, tokens (a|per|each|every) "
            "second"
        ),
        "LLM": (
            "llm(|s), language model(|s), llama, mistral, qwen, gpt, chatbot, transformer(|s), "
            "inference, serving, vllm, 7b, 8b, 13b, 32b, 70b"
        ),
        "GPU_GENERATION": (
            "(every|each|per|this|new|next|gpu|hardware|previous|current|last|older|newer|cdna"
            "|ampere|hopper|"
            "blackwell|ada|rdna|nvidia|amd|apple|later|earlier|one|card|chip|same) generation("
            "|s), generation over generation, generation to generation"
        ),
        "SINGLE": (
            "(1|one|single|lone|solitary|sole|individual|a single|a lone) (user|client|customer|"
            "caller|tenant|person|session|stream|request|conversation|chat|chat session|chat "
            "user|sequence|reader|analyst|developer|agent|listener|reviewer|dialogue|dialog|"
            "reply|answer|visitor|tester|engineer|player|programmer|writer|editor|operator|"
            "employee|colleague|student|guest|call|voice|active user|speaker|gamer|owner|"
            "hobbyist|subscriber|author|clerk|lawyer|doctor|teacher|viewer|participant|human), "
            "(each|every) of (the users|them), (each|every) of them waits, (per|each|every) "
            "(user|client|customer|caller|tenant|person|session|stream|conversation|chat|chat "
            "user|reply|request), (a|the) (user|client|customer|reader|caller|listener|person|"
            "stream|reviewer), (concurrency|batch|bs|bsz|batch size|batch of|num seqs|max num "
            "seqs|batch size of|batch equals|m) (1|one), (one person|one user|one request|one "
            "analyst|one sequence|one) at a time, single tenant(|s), single token, (just|only) "
            "me, me chatting, by myself, nobody else, (alone on|box alone|alone with), user "
            "alone, home lab, homelab, hobby, interactive (user|session|client)(|s), "
            "concurrency of (1|one), user sees, only user, our users, bs1, pilot customer, "
            "lone, (his|her) (stream|reply|replies|token|tokens|answers), personal, local, "
            "laptop, desktop, workstation, idle server, at home, individual itl, individual, "
            "personal assistant, one desk, one laptop, at batch one, without batching, no "
            "batching, unbatched, solo, for one, on a phone, edge device, (our|the|my|its) "
            "(only|sole|one) (tester|user|customer|reader|caller|guest), for the only user, "
            "speed of (a|one|each|every) (request|chat|reply|stream|session|conversation), "
            "person at the (terminal|keyboard|screen), (at|with) one token per step"
        ),
        "PREFILL": (
            "summari(s|z)(e|es|ing), ingests, "
            "prefill(|s|ing|ed), prompt(|s), prompt processing, prompt pass, ttft, first "
            "(token|word)(|s), time to first token, ingest(|s|ing|ion), long document("
            "|s), reading in, "
            "reads in (the|a|your|his|her) (question|text|mail|book|contract|article|code|file"
            "|page|history"
            "|source), context encoding, long input(|s), prompt ingestion, prompt evaluation, "
            "prompt speed, context processing, pp512, summariz(e|ing) long, forward pass over, "
            "single forward pass, scoring of, scores candidates"
        ),
        "TRAINING": (
            "training, train, trains, pretraining, backward, backward pass, gradient(|s), "
            "optimizer, epoch(|s), training step, training run, lora training, gradients, "
            "forward and backward, microbatch, checkpointing, retraining, fine tuning, "
            "finetuning, fine tune, finetune, retrain"
        ),
        "OTHER_MODEL": (
            "bert, roberta, distilbert, vit, resnet(|s), resnet50, cnn(|s), convnet, "
            "convolution(|s|al), mobilenet, efficientnet, yolo, unet, diffusion, stable "
            "diffusion, sdxl, image classif(ier|ication), vision encoder, vision transformer, "
            "encoder, embedding model, classifier(|s), classification, object detection, whisper "
            "encoder, visual tokens, image(|s), vgg, recommender, gan, speech encoder, "
            "segmentation, detector, vision model, encoder only, encoder decoder, bert base, "
            "clip, dino, speech recognition, whisper, asr, tts, wav2vec, embedding(|s), reranker, "
            "rerank, ranking model, text to image, image generation, video generation, detection, "
            "convnext, swin, u net, ocr model"
        ),
        "LARGE_BATCH": (
            "large batch(|es), high batch, big batch(|es), huge batch(|es), full batch, at "
            "saturation, saturation, saturated, offline, server is full, full server, busy, "
            "full load, high concurrency, high load, heavy load, high qps, many users, busy "
            "server, peak load, peak hours, under load, fully loaded, loaded gpu, batch pool, "
            "thousands of requests, heavy traffic, mixed traffic, nightly, batch inference, "
            "bulk, overnight, throughput job, batch job, high throughput, full occupancy, "
            "fully batched, batch 64, batch 128, batch 256, batch 512, hundreds of users, "
            "thousands of users, hundreds of requests, data center load, at scale, production "
            "load, batch of 64, batch of 128, batch of 256, enough (tokens|rows|sequences|"
            "requests)"
        ),
        "AGGREGATE": (
            "aggregate, aggregated, total, all users, all streams, overall, combined, per gpu "
            "hour, system wide, cluster, fleet, in total, together, server wide, across users, "
            "across requests, across all, total throughput, sum, throughput, the server, the "
            "system, the node, the cluster, the deployment, the fleet, as many tokens"
        ),
        "SHORT": (
            "one line (questions|answers|chats|replies|q), one liners, "
            "short "
            "(chats|chat|answers|context|contexts|prompt|prompts|sequence|sequences|replies|reply"
            "|questions|conversation|conversations|messages|queries|inputs), "
            "few hundred tokens, short ctx, short context decode"
        ),
        "LONG": (
            "long context(|s), long prompt(|s), long sequence(|s), long document(|s), long "
            "conversation(|s), long contexts, long cache, long history, long ones, long "
            "input(|s), long ctx, large context"
        ),
        "BYTES": (
            "byte(|s), weight traffic, traffic, memory traffic, weight reads, weight read, "
            "weight loading, bandwidth, gb per token, gb token, bytes per token, fetch(|es|ed|"
            "ing), stream(s|ed) the weights, memory reads, reads, hbm traffic, weight bytes, "
            "data moved, memory bandwidth, dram traffic, bytes read, weights read, data read, "
            "weight fetch, bits read, data movement, streamed weights, memory movement, hbm "
            "reads, load from memory, loads from hbm, gigabytes per token, data per token, "
            "memory accesses, hbm accesses, bytes streamed, weights streamed, bytes moved, "
            "memory fetches"
        ),
        "WEIGHTS": ("weight(|s), parameter(|s), params, checkpoint"),
        "KV": (
            "kv, kv cache, k v cache, cache, key value cache, keys and values, kv reads, kv traffic"
        ),
        "FREE": (
            "never costs anything, never costs, does not cost anything, verified in parallel for "
            "free, exchange free, "
            "for free, no cost, has no cost, costs nothing extra, costs the same as, (costs|cost) "
            "no more than, (guesses|drafts|tokens|verification) (is|are) free, nothing is lost, "
            "at no cost, free lunch, nothing to "
            "lose, lose(|s) nothing, cost(|s) nothing, never hurts, cannot hurt, can not hurt, "
            "can only help, can only gain, no downside, no drawback, (is|are|comes|come) free, no "
            "penalty, harmless, no risk, without (any "
            "|)(cost|penalty|risk|overhead|drawback|downside), free speedup, free performance, "
            "zero cost, pure gain, pure win, free win, no reason not to"
        ),
        "ALWAYS": (
            "does not matter, do not matter, everywhere, "
            "whatever, any batch, any load, any batch size, regardless, no matter, independent "
            "of, in every case, always, in all cases, at any load, all loads, every batch, every "
            "load, every workload, never slower, all traffic, all requests, every request, "
            "irrespective, in any case, under any load, any concurrency, any traffic, every time, "
            "all batch sizes"
        ),
        "MEASURED": (
            "measur(e|ed|ement|ements), in our tests, in our test, we saw, we see, observed, "
            "benchmark(|s|ed), we list, (list|listed|report|reported|published) separately, "
            "reported, in practice, tested, found, profil(ed|er|ing), i "
            "measure, timed, in my tests, i get, we got, i got, trace, results, clocked"
        ),
        "HOPED": (
            "expect(|s|ed|ing), should, will, would, plan(|s|ned), target(|s), goal(|s), aim(|"
            "s|ed|ing), planning, promise(|s|d), hope(|s|d), projected, forecast, estimate(|d|"
            "s), anticipat(e|ed|es), planned rate, count on, going to, (can|could|may) be "
            "assumed, be assumed, realistic, (can|could|is to|are to) be expected, foreseen, "
            "in the plan, promised, budget(|ed), est, proj, want to see, sales asks, "
            "confirmed, guaranteed, we promise, foresee(|s), reckon(|s|ed), look forward to, "
            "aspire, envisage(|d|s), ought to, supposed to, bound to, set to, due to come, "
            "likely, announced, committed to, commits us to, agreed on, contractually, owe, was "
            "promised, were promised, signed off, demanded"
        ),
        "TRANSFER": (
            "as well, too, accordingly, inherits, inherit, by the same ratio, the same ratio, "
            "likewise, same factor, same speedup, same gain, equally, also, carries over, carry "
            "over, transfers to, same applies, same for, by the same, translates, same "
            "improvement, just as much, both, no difference, same boost, similarly"
        ),
        "ROUTE": (
            "read(|s), stream(|s|ed), load(|s|ed|ing), fetch(|es|ed), touch(|es|ed), pull(|s|ed), "
            "mov(e|es|ed), from the weights alone, per token, for each token, for every token, "
            "each token, traverse(|s)"
        ),
        "HELP": (
            "help(|s|ed|ing), benefit(|s|ed|ing), pays off, pay off, improv(e|es|ing), boost(|"
            "s|ing), favours, favors, profits, profit, lifts, uplift, remedy for, cure for, "
            "medicine (for|against), fix for, solution (to|for), answer to the"
        ),
        "NO_WRITING": (
            "write back(|s), writ(e|es|ing|ten) (back|to|kernels|code|down|access(|es)|"
            "allocate|out to), (we|i) see no (reason|point|need|cause), text (encoder|file|model"
            "|field|box), answer is, answers are, "
            "user experience"
        ),
    }
)
"""Everything else that fills a slot."""
