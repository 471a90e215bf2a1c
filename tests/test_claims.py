"""Claims as people write them, each with the arithmetic done by hand."""

from __future__ import annotations

import cProfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.claims import (
    RULES,
    Aspect,
    Claim,
    Kind,
    Metric,
    Scope,
    Stream,
    parse_claim,
    parse_context,
)
from advisor.quantity import Bound

TPOT, TTFT, LATENCY = Metric.TPOT, Metric.TTFT, Metric.LATENCY
TPS, THROUGHPUT, UNKNOWN = Metric.TOKENS_PER_SECOND, Metric.THROUGHPUT, Metric.UNKNOWN
FLOPS, BYTES, MEMORY, QUALITY = Metric.FLOPS, Metric.BYTES, Metric.MEMORY, Metric.QUALITY


def only(text: str) -> Claim:
    reading = parse_claim(text)
    assert len(reading.claims) == 1, reading.claims
    assert reading.reason is None
    return reading.claims[0]


SPEEDUPS: list[tuple[str, Metric, float]] = [
    # a factor, of speed unless the text says of what
    ("1.8x", UNKNOWN, 1.8),
    ("2×", UNKNOWN, 2),
    ("1.8 times", UNKNOWN, 1.8),
    ("1.8-fold", UNKNOWN, 1.8),
    ("a speedup of 1.8x", UNKNOWN, 1.8),
    ("speedup: 1.8x", UNKNOWN, 1.8),
    ("1.8x speed-up", UNKNOWN, 1.8),
    ("the 7B model gets 1.8x", UNKNOWN, 1.8),
    ("INT4 weights 1.8x", UNKNOWN, 1.8),
    ("reduced precision gives 1.8x", UNKNOWN, 1.8),
    ("we should end up at about 6x", UNKNOWN, 6),
    ("1.8x decode", TPS, 1.8),
    ("another 1.5x on decode", TPS, 1.5),
    ("3.4x in decode", TPS, 3.4),
    ("2x tokens/s", TPS, 2),
    ("1.8x tok/s", TPS, 1.8),
    ("1.6x in tokens/s", TPS, 1.6),
    ("2.6x more tokens per second", TPS, 2.6),
    ("1.3x throughput", THROUGHPUT, 1.3),
    ("improves serving throughput 1.8x", THROUGHPUT, 1.8),
    ("raised total output 14-fold", THROUGHPUT, 14),
    ("2x prefill", TTFT, 2),
    # percent faster: 1 + 0.3
    ("30% faster", UNKNOWN, 1.30),
    ("30% quicker", UNKNOWN, 1.30),
    ("faster by 30%", UNKNOWN, 1.30),
    ("speeds up decode by 30%", TPS, 1.30),
    ("batch-1 decode gets 30% faster", TPS, 1.30),
    ("100% faster", UNKNOWN, 2),
    ("2x faster TTFT", TTFT, 2),
    ("four times faster", UNKNOWN, 4),
    # percent slower: the time is 1.3 times; 1 / 1.3
    ("30% slower", UNKNOWN, 0.76923),
    ("takes 25% longer", UNKNOWN, 0.8),
    ("2x slower", UNKNOWN, 0.5),
    # percent of a time less: 1 / (1 - 0.3)
    ("30% lower latency", LATENCY, 1.42857),
    ("30% less time", LATENCY, 1.42857),
    ("reduces latency by 30%", LATENCY, 1.42857),
    ("latency reduction of 30%", LATENCY, 1.42857),
    ("30% latency improvement", LATENCY, 1.42857),
    ("latency drops 30%", LATENCY, 1.42857),
    ("latency down 30%", LATENCY, 1.42857),
    ("cuts ITL by 30%", TPOT, 1.42857),
    ("30% lower inter-token latency", TPOT, 1.42857),
    ("time per output token falls by 20%", TPOT, 1.25),
    ("each generated token now costs 38% less", TPOT, 1.6129),  # 1 / 0.62
    ("TPOT: -25%", TPOT, 1.33333),
    ("-25% TPOT", TPOT, 1.33333),
    ("TTFT drops 40%", TTFT, 1.66667),
    ("30% lower end-to-end latency", Metric.LATENCY_E2E, 1.42857),
    ("2x lower latency", LATENCY, 2),
    ("cuts TTFT by 7.2x", TTFT, 7.2),
    ("20% higher latency", LATENCY, 0.83333),
    # a rate
    ("30% higher throughput", THROUGHPUT, 1.30),
    ("throughput up 30%", THROUGHPUT, 1.30),
    ("+30% tokens/s", TPS, 1.30),
    ("14.7% more throughput", THROUGHPUT, 1.147),
    ("20% lower throughput", THROUGHPUT, 0.8),
    ("raised tokens per second by about 1.2x", TPS, 1.2),
    # words for numbers
    ("halves latency", LATENCY, 2),
    ("cuts latency in half", LATENCY, 2),
    ("half the latency", LATENCY, 2),
    ("time per token halves", TPOT, 2),
    ("twice as fast", UNKNOWN, 2),
    ("half as fast", UNKNOWN, 0.5),
    ("three times as fast", UNKNOWN, 3),
    ("takes twice as long", UNKNOWN, 0.5),
    ("each token comes out twice as fast", TPOT, 2),
    ("twice the throughput", THROUGHPUT, 2),
    ("twice as many tokens per second", TPS, 2),
    ("doubles throughput", THROUGHPUT, 2),
    ("doubling single-user speed", TPS, 2),
    ("tokens/s triples", TPS, 3),
    # after / before itself
    ("latency falls to 70%", LATENCY, 1.42857),
    ("cuts latency to a third", LATENCY, 3),
    ("0.7x the latency", LATENCY, 1.42857),
    ("0.5x latency", LATENCY, 2),
    ("runs in 30% of the time", LATENCY, 3.33333),
    ("reduces TPOT by a factor of 2", TPOT, 2),
    ("a factor of three speedup", UNKNOWN, 3),
    ("2.3x speed-up in generation", TPS, 2.3),
    ("loses 5% throughput", THROUGHPUT, 0.95),
    ("25% overhead", LATENCY, 0.8),
    ("TP=8 brings an eighth of the single-GPU token latency", TPOT, 8),
]


@pytest.mark.parametrize(("text", "metric", "speedup"), SPEEDUPS)
def test_speedups(text: str, metric: Metric, speedup: float) -> None:
    claim = only(text)
    assert (claim.metric, claim.kind) == (metric, Kind.SPEEDUP)
    assert claim.speedup == pytest.approx(speedup, rel=1e-4)
    assert claim.speedup_low == claim.speedup_high == claim.speedup


CHANGES: list[tuple[str, Metric, float, float, str, float]] = [
    ("from 26 ms to 18 ms", UNKNOWN, 26, 18, "ms", 1.44444),  # 26 / 18
    ("ITL drops from 26 ms to about 18 ms", TPOT, 26, 18, "ms", 1.44444),
    ("cut the step from 11.1 to 8.1 ms", TPOT, 11.1, 8.1, "ms", 1.37037),
    ("TPOT 26 ms -> 18 ms", TPOT, 26, 18, "ms", 1.44444),
    ("18 ms per token instead of 26 ms", TPOT, 26, 18, "ms", 1.44444),
    ("TTFT from 1.2 s to 300 ms", TTFT, 1200, 300, "ms", 4),
    ("from 41 to 83 tokens/s", TPS, 41, 83, "tokens/s", 2.02439),  # 83 / 41
    ("from 41 tok/s to 83 tok/s", TPS, 41, 83, "tokens/s", 2.02439),
    ("from 2 to 3 requests/s", THROUGHPUT, 2, 3, "requests/s", 1.5),
]


@pytest.mark.parametrize(("text", "metric", "before", "after", "unit", "speedup"), CHANGES)
def test_from_one_value_to_another(
    text: str, metric: Metric, before: float, after: float, unit: str, speedup: float
) -> None:
    claim = only(text)
    assert (claim.metric, claim.kind, claim.unit) == (metric, Kind.ABSOLUTE, unit)
    assert (claim.before, claim.value) == pytest.approx((before, after))
    assert claim.speedup == pytest.approx(speedup, rel=1e-4)


VALUES: list[tuple[str, Metric, float, str]] = [
    ("TPOT 18 ms", TPOT, 18, "ms"),
    ("TPOT: 18 ms", TPOT, 18, "ms"),
    ("18 ms per token", TPOT, 18, "ms"),
    ("18 ms/token", TPOT, 18, "ms"),
    ("cuts TPOT to 18 ms", TPOT, 18, "ms"),
    ("a token takes 26 ms", TPOT, 26, "ms"),
    ("TPOT drops below 6 ms", TPOT, 6, "ms"),
    ("the inter-token gap is 6 ms", TPOT, 6, "ms"),
    ("a reply of 1,000 tokens is finished in 5 s", TPOT, 5, "ms"),
    ("generating 500 tokens takes 2.5 s", TPOT, 5, "ms"),
    ("my 950-token answer is done in half a second", TPOT, 500 / 950, "ms"),
    ("it types 200 tokens in a second", TPS, 200, "tokens/s"),
    ("time to first token of 200 ms", TTFT, 200, "ms"),
    ("18 ms", UNKNOWN, 18, "ms"),
    ("120 tokens/s for one user", TPS, 120, "tokens/s"),
    ("83 tokens/s if the kernel sustains 95% of bandwidth", TPS, 83, "tokens/s"),
    ("1275 tokens/s in aggregate", THROUGHPUT, 1275, "tokens/s"),
    ("4000 tok/s/GPU", THROUGHPUT, 4000, "tokens/s"),
    ("12 requests/s", THROUGHPUT, 12, "requests/s"),
    ("70 GB per token", BYTES, 70e9, "bytes"),
    ("needs only about 7 GB of traffic per token", BYTES, 7e9, "bytes"),
    ("140 GFLOPs per token", FLOPS, 140e9, "FLOP"),
    ("2.3 accepted tokens per pass", Metric.TOKENS_PER_PASS, 2.3, "tokens"),
    ("2.3 tokens per pass", Metric.TOKENS_PER_PASS, 2.3, "tokens"),
]


@pytest.mark.parametrize(("text", "metric", "value", "unit"), VALUES)
def test_values(text: str, metric: Metric, value: float, unit: str) -> None:
    claim = only(text)
    assert (claim.metric, claim.kind, claim.unit) == (metric, Kind.ABSOLUTE, unit)
    assert claim.value == pytest.approx(value)
    assert claim.speedup is None
    assert claim.before is None


@pytest.mark.parametrize(
    "text",
    [
        "reading 2,000 tokens takes 100 ms",
        "a prompt of 2,000 tokens takes 100 ms",
        "an answer of 300 tokens saves 0.7 s",
        "a reply of 300 tokens and one of 500 tokens take 2 s",
    ],
)
def test_a_time_is_divided_by_tokens_that_are_written_in_it_alone(text: str) -> None:
    assert all(claim.metric is not TPOT for claim in parse_claim(text).claims)


RESOURCES: list[tuple[str, Metric, float]] = [
    ("25% fewer FLOPs", FLOPS, 0.75),
    ("cutting FLOPs by 30%", FLOPS, 0.7),
    ("nine times fewer FLOPs", FLOPS, 1 / 9),
    ("30% less arithmetic", FLOPS, 0.7),
    ("removes 40% of the weight traffic", BYTES, 0.6),
    ("4x fewer bytes", BYTES, 0.25),
    ("weight traffic is 0.56x of dense", BYTES, 0.56),
    ("halves the bytes", BYTES, 0.5),
    ("doubles the memory", MEMORY, 2),
    ("twice the memory", MEMORY, 2),
    ("3x smaller weights", MEMORY, 1 / 3),
    ("4x compression", MEMORY, 0.25),
    ("26% less memory", MEMORY, 0.74),
    ("shrinks the cache 4x", MEMORY, 0.25),
    ("1.5x as much memory", MEMORY, 1.5),
    ("60% fewer parameters", Metric.PARAMETERS, 0.4),
    ("2.5x lower cost", Metric.COST, 0.4),
    ("1% accuracy loss", QUALITY, 0.99),
]


@pytest.mark.parametrize(("text", "metric", "change"), RESOURCES)
def test_a_saved_resource_is_no_speedup(text: str, metric: Metric, change: float) -> None:
    claim = only(text)
    assert (claim.metric, claim.kind) == (metric, Kind.SAVING)
    assert claim.change == pytest.approx(change)
    assert claim.speedup is None


@pytest.mark.parametrize(
    ("text", "metric", "value", "unit"),
    [
        ("saves 35 GB", MEMORY, 35e9, "bytes"),
        ("frees 35 GB of VRAM", MEMORY, 35e9, "bytes"),
        ("35 GB less VRAM", MEMORY, 35e9, "bytes"),
        ("saves 8 ms per token", TPOT, 8, "ms"),
        ("cuts TPOT by 8 ms", TPOT, 8, "ms"),
        ("adds 2 ms per token", TPOT, -2, "ms"),
    ],
)
def test_amounts_saved(text: str, metric: Metric, value: float, unit: str) -> None:
    claim = only(text)
    assert (claim.metric, claim.kind, claim.unit) == (metric, Kind.SAVING, unit)
    assert claim.value == pytest.approx(value)
    assert claim.speedup is None


def test_memory_from_one_size_to_another() -> None:
    claim = only("weights shrink from 140 GB to 35 GB")
    assert (claim.metric, claim.before, claim.value) == (MEMORY, 140e9, 35e9)
    assert claim.change == pytest.approx(0.25)
    assert claim.speedup is None


@pytest.mark.parametrize(
    ("text", "metric", "speedup"),
    [
        ("no slowdown", UNKNOWN, 1.0),
        ("without slowdown", UNKNOWN, 1.0),
        ("not slower", UNKNOWN, 1.0),
        ("no latency overhead", LATENCY, 1.0),
        ("same tokens/s", TPS, 1.0),
        ("the same latency", LATENCY, 1.0),
        ("latency unchanged", LATENCY, 1.0),
        ("same quality", QUALITY, None),
        ("no quality loss", QUALITY, None),
        ("no loss of accuracy", QUALITY, None),
        ("accuracy unchanged", QUALITY, None),
        ("lossless", QUALITY, None),
        ("the same VRAM", MEMORY, None),
    ],
)
def test_what_stays_as_it_is(text: str, metric: Metric, speedup: float | None) -> None:
    claim = only(text)
    assert (claim.metric, claim.kind, claim.speedup) == (metric, Kind.UNCHANGED, speedup)
    assert claim.change == 1.0
    assert not claim.negated


def test_ranges_keep_both_ends() -> None:
    claim = only("1.5-1.8x decode")
    assert (claim.speedup_low, claim.speedup_high) == (1.5, 1.8)
    claim = only("two to four times faster")
    assert (claim.speedup_low, claim.speedup_high) == (2, 4)
    claim = only("20-35% lower latency")  # 1 / 0.8 to 1 / 0.65
    assert claim.speedup_low == pytest.approx(1.25)
    assert claim.speedup_high == pytest.approx(1.53846, rel=1e-4)
    claim = only("20 to 25 ms per token")
    assert (claim.value_low, claim.value_high, claim.speedup) == (20, 25, None)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("up to 3x", Bound.AT_MOST),
        ("at most 1.5x faster", Bound.AT_MOST),
        ("latency drops by up to 30%", Bound.AT_MOST),
        ("at least 1.5x faster", Bound.AT_LEAST),
        ("more than 100 tok/s", Bound.AT_LEAST),
        ("up to 100 tok/s", Bound.AT_MOST),
        ("under 20 ms per token", Bound.AT_LEAST),  # less time is more gain
        ("latency falls to less than 70%", Bound.AT_LEAST),
        ("at most 5% slower", Bound.AT_LEAST),
        ("less than 1% accuracy loss", Bound.AT_LEAST),
        ("3x", None),
    ],
)
def test_bounds_are_on_the_gain(text: str, bound: Bound | None) -> None:
    assert only(text).bound is bound


def test_approximate() -> None:
    assert only("about 1.8x").approximate
    assert only("~2x faster").approximate
    assert not only("1.8x").approximate


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("3.87x per GEMM on A10", Scope.KERNEL),
        ("the RMSNorm kernel is 8x faster", Scope.KERNEL),
        ("10% faster at the kernel level", Scope.KERNEL),
        ("attention kernel 8x", Scope.KERNEL),
        ("3x matmul speedup", Scope.KERNEL),
        ("1.3x e2e", Scope.END_TO_END),
        ("1.3x end-to-end", Scope.END_TO_END),
        ("1.5x (end to end)", Scope.END_TO_END),
        ("1.8x with the new kernel", Scope.UNSTATED),
        ("the fused kernel cuts TPOT by 30%", Scope.UNSTATED),
        ("a faster INT8 GEMM should give us another 2x", Scope.UNSTATED),
        ("83 tokens/s if the kernel sustains 95% of bandwidth", Scope.UNSTATED),
        ("1.8x", Scope.UNSTATED),
    ],
)
def test_scope(text: str, scope: Scope) -> None:
    assert only(text).scope is scope


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("120 tokens/s for one user", Stream.SINGLE),
        ("single-stream decode 2x faster", Stream.SINGLE),
        ("83 tok/s/user", Stream.SINGLE),
        ("83 tokens/s per user", Stream.SINGLE),
        ("1275 tokens/s aggregate", Stream.AGGREGATE),
        ("2.6x total throughput", Stream.AGGREGATE),
        ("4000 tok/s per GPU", Stream.AGGREGATE),
        ("120 tokens/s", Stream.UNSTATED),
    ],
)
def test_stream(text: str, stream: Stream) -> None:
    assert only(text).stream is stream


def test_conditions_inside_a_claim() -> None:
    claim = only("83 tokens/s at batch 1, 2K context, on 2x H100 SXM at 95% of peak bandwidth")
    stated = claim.conditions
    assert (stated.batch, stated.context_tokens, stated.devices) == (1, 2048, 2)
    assert (stated.hardware, stated.bandwidth_fraction) == ("H100 SXM", 0.95)
    assert only("8 GPUs, 8x").conditions.devices == 8
    assert only("8 GPUs, 8x").speedup == 8


def test_conditions_go_to_their_own_claim() -> None:
    kernel, whole = parse_claim("8x attention, 1.3x e2e at 64k").claims
    assert kernel.conditions.context_tokens is None
    assert whole.conditions.context_tokens == 65536
    first, second = parse_claim("At batch 1, 1.8x decode and 1.2x prefill").claims
    assert (first.conditions.batch, second.conditions.batch) == (1, 1)
    one, two = parse_claim("One H100 gives 28 ms per token. On two L40S it is 20 ms.").claims
    assert (one.conditions.hardware, two.conditions.hardware) == ("H100", "L40S")


def test_a_sentence_ends_where_its_closing_marks_end() -> None:
    text = "**What will not help.** Cutting FLOPs by 30%"
    assert not only(text).negated


def test_negation_and_evidence() -> None:
    assert only("this will not give 2x").negated
    assert only("it doesn't make decode 2x faster").negated
    assert not only("not only 2x faster").negated
    assert not only("no more than 2x").negated
    assert only("we measured 1.8x").evidence == ("measured",)
    assert only("**Target.** 120 tokens/s").evidence == ("target",)
    assert only("tokens/s should go up by 1.6x").evidence == ("should",)


SENTENCES: list[tuple[str, list[tuple[Metric, Kind, float | None]]]] = [
    (
        "We prune 30% of the weights, cutting FLOPs by 30%, so decode gets 30% faster.",
        [(FLOPS, Kind.SAVING, None), (TPS, Kind.SPEEDUP, 1.3)],
    ),
    (
        "cuts latency by 30% and memory by 40%",
        [(LATENCY, Kind.SPEEDUP, 1 / 0.7), (MEMORY, Kind.SAVING, None)],
    ),
    (
        "TTFT drops 40%, TPOT 20%",
        [(TTFT, Kind.SPEEDUP, 1 / 0.6), (TPOT, Kind.SPEEDUP, 1 / 0.8)],
    ),
    (  # what is no rate gives a rate no direction
        "40% fewer bytes, 1.5x tokens/s",
        [(Metric.BYTES, Kind.SAVING, None), (TPS, Kind.SPEEDUP, 1.5)],
    ),
    (
        "throughput drops 2x, tokens/s 1.5x",
        [(THROUGHPUT, Kind.SPEEDUP, 1 / 2), (TPS, Kind.SPEEDUP, 1 / 1.5)],
    ),
    (
        "60% fewer parameters, 60% faster",
        [(Metric.PARAMETERS, Kind.SAVING, None), (UNKNOWN, Kind.SPEEDUP, 1.6)],
    ),
    (
        "int4 2x times EAGLE 2.15x = 4.3x",
        [(UNKNOWN, Kind.SPEEDUP, 2.0), (UNKNOWN, Kind.SPEEDUP, 2.15), (UNKNOWN, Kind.SPEEDUP, 4.3)],
    ),
    (
        "104.9 -> 155.6 tok/s, gpt-fast, A100 330 W",
        [(TPS, Kind.ABSOLUTE, 155.6 / 104.9)],
    ),
    (
        "1.8x, no quality loss",
        [(UNKNOWN, Kind.SPEEDUP, 1.8), (QUALITY, Kind.UNCHANGED, None)],
    ),
    (
        "total output rose 14-fold while each request took four times as long",
        [(THROUGHPUT, Kind.SPEEDUP, 14.0), (UNKNOWN, Kind.SPEEDUP, 0.25)],
    ),
    (
        "At 140 GB per token, 2.0 TB/s gives 70 ms and 3.35 TB/s gives 42 ms.",
        [
            (BYTES, Kind.ABSOLUTE, None),
            (UNKNOWN, Kind.ABSOLUTE, None),
            (UNKNOWN, Kind.ABSOLUTE, None),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_several_claims_in_order(
    text: str, expected: list[tuple[Metric, Kind, float | None]]
) -> None:
    claims = parse_claim(text).claims
    assert [(c.metric, c.kind) for c in claims] == [(metric, kind) for metric, kind, _ in expected]
    for claim, (_, _, speedup) in zip(claims, expected, strict=True):
        assert claim.speedup == (None if speedup is None else pytest.approx(speedup))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("fast", "no amount"),
        ("much faster", "no amount"),
        ("30%", "of what"),
        ("120", "no unit"),
        ("0.3", "no unit"),
        ("2x latency", "either way"),  # twice as good or twice as long
        ("3x FLOPs", "either way"),
        ("30% improvement", "of what"),
        ("drops 30%", "of what"),
        ("cuts decode by 30%", "of what"),  # the time or the speed of decode
        ("120% lower latency", "nothing"),
        ("100% less time", "nothing"),
        ("saves 300% of the compute", "nothing"),
        ("0.9x faster", "unclear"),
        ("0x", "above zero"),
        ("latency falls to 0%", "above zero"),
        ("0% as fast", "above zero"),
        ("from 0 ms to 18 ms", "above zero"),
        ("from 26 ms to 0 ms", "above zero"),
        ("26 ± 30 ms", "above zero"),
        ("20 tokens/s more", "baseline"),
        ("80 GB", "no claim"),
        ("24 GB beats 16 GB", "no claim"),
        ("saves 5 us per layer", "no claim"),
        ("trained for 3 hours", "no claim"),
        ("1979 TFLOPS", "no claim"),
        ("3.35 TB/s", "no claim"),
        ("down from 26 ms", "no claim"),
        ("1,8x", "no amount"),
        ("40% of the step time is launches", "of what"),
        ("50% sparsity", "of what"),
        ("prune 30% of the weights", "of what"),
        ("82% MBU", "of what"),
        ("half of the layers", "of what"),
        ("twice its predecessor", "no amount"),
    ],
)
def test_what_cannot_be_read_has_a_reason(text: str, says: str) -> None:
    reading = parse_claim(text)
    assert reading.claims == ()
    assert reading.reason is not None
    assert says in reading.reason
    assert any(word in reading.reason for word in ("write", "nothing", "above zero"))


@pytest.mark.parametrize(
    "text",
    [
        "2:4 sparsity",
        "INT4 W4A16 Q4_K_M",
        "a 70B on H100",
        "Llama-3.1-70B",
        "vLLM v0.6.3 and CUDA 12.4",
        "2024-11-30",
        "Section 3.2, Table 2, [14]",
        "see arXiv 2605.11999",
        "8x7B on 8x H100",
        "2 x L40S",
        "8 x 4.8 TB/s",
        "16 x 1024 tokens",
        "batch 1, 4,096 tokens",
        "32 layers, 8 KV heads",
        "https://example.org/2x-faster/30%",
    ],
)
def test_no_claims(text: str) -> None:
    assert parse_claim(text).claims == ()


def test_rules_are_written_down() -> None:
    texts = [row[0] for row in SPEEDUPS] + [row[0] for row in CHANGES]
    texts += [row[0] for row in VALUES] + [row[0] for row in RESOURCES]
    used = {only(text).rule for text in [*texts, "saves 35 GB", "no slowdown"]}
    assert used == set(RULES)


REGIMES: list[tuple[str, dict[str, object]]] = [
    ("batch 1", {"batch": 1}),
    ("batch-1 decode", {"batch": 1, "phase": "decode"}),
    ("batch size of 8", {"batch": 8}),
    ("bs=32", {"batch": 32}),
    ("bs32", {"batch": 32}),
    ("B=1", {"batch": 1}),
    ("batch one", {"batch": 1}),
    ("single stream", {"batch": 1}),
    ("single-user", {"batch": 1}),
    ("for one user", {"batch": 1}),
    ("64 concurrent requests", {"batch": 64}),
    ("16 parallel users", {"batch": 16}),
    ("with 16 sequences", {"batch": 16}),
    ("concurrency 64", {"batch": 64}),
    ("batch 1, 3, 5, 30 and 256", {}),  # several batches state none
    ("batch 1 to 16", {}),
    ("max_num_seqs=64", {}),  # a limit is no batch
    ("1000 users", {}),
    ("2K context", {"context_tokens": 2048}),
    ("context length 4096", {"context_tokens": 4096}),
    ("context of 32k", {"context_tokens": 32768}),
    ("at 32k tokens", {"context_tokens": 32768}),
    ("1.3x at 64k", {"context_tokens": 65536}),
    ("128K session", {"context_tokens": 131072}),
    ("512 tokens of context", {"context_tokens": 512}),
    ("seq len 4096", {"context_tokens": 4096}),
    ("S=8k", {"context_tokens": 8192}),
    ("at 83 tokens/s", {}),
    ("at 8 GPUs", {"devices": 8}),
    ("500-token prompts", {"prompt_tokens": 500}),
    ("prompt of 500 tokens", {"prompt_tokens": 500}),
    ("128 output tokens", {"output_tokens": 128}),
    ("decode", {"phase": "decode"}),
    ("token generation", {"phase": "decode"}),
    ("TTFT", {"phase": "prefill"}),
    ("time to first token", {"phase": "prefill"}),
    ("prefill and decode", {}),
    ("training", {"phase": "training"}),
    ("on an H100 SXM", {"hardware": "H100 SXM"}),
    ("on A100 80GB SXM", {"hardware": "A100 80GB SXM"}),
    ("the 4090", {"hardware": "4090"}),
    ("an RTX 4090", {"hardware": "RTX 4090"}),
    ("an M4 Max", {"hardware": "M4 Max"}),
    ("8x H100 SXM", {"hardware": "H100 SXM", "devices": 8}),
    ("2 x MI300X", {"hardware": "MI300X", "devices": 2}),
    ("two L40s", {"hardware": "L40s", "devices": 2}),
    ("A100 or H100", {}),
    ("W8A8 and A16", {"hardware": "A16"}),
    ("M=4096", {"gemm_rows": 4096}),
    ("95% of bandwidth", {"bandwidth_fraction": 0.95}),
    ("88% of peak memory bandwidth", {"bandwidth_fraction": 0.88}),
    ("MBU 0.82", {"bandwidth_fraction": 0.82}),
    ("82% MBU", {"bandwidth_fraction": 0.82}),
    ("80% acceptance", {"acceptance": 0.8}),
    ("acceptance rate of 0.8", {"acceptance": 0.8}),
    ("2.3 accepted tokens per pass", {"tokens_per_pass": 2.3}),
    ("acceptance length 2.3", {"tokens_per_pass": 2.3}),
    ("5 draft tokens", {"draft_tokens": 5}),
]


@pytest.mark.parametrize(("text", "expected"), REGIMES)
def test_regimes(text: str, expected: dict[str, object]) -> None:
    regime = parse_context(text)
    stated = {
        name: value
        for name, value in regime._asdict().items()
        if name != "mentions" and value is not None
    }
    assert stated == pytest.approx(expected)


def test_every_batch_of_a_list_is_mentioned() -> None:
    mentions = parse_context("for batch 1, 3, 5, 30 and 256").mentions
    assert [m.value for m in mentions if m.aspect is Aspect.BATCH] == [1, 3, 5, 30, 256]


PIECES = st.sampled_from(
    [
        *(
            "0%",
            "0x",
            "0 ms",
            "30%",
            "1.8x",
            "26 ms",
            "83 tokens/s",
            "35 GB",
            "half",
            "twice",
            "4k",
            "2:4",
            "1/3",
            "-5%",
        ),
        *("lower", "faster", "cuts", "by", "to", "from", "of", "the", "as", "fast", "same", "no"),
        *("latency", "TPOT", "FLOPs", "memory", "loss", "decode", "kernel", "per", "token", "user"),
        *(",", ".", ";", "(", ")", "\n", "|", "-", "x", "H100", "batch", "1", "up", "🚀", "ü", "≤"),
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map(" ".join))


@settings(deadline=None)
@given(TEXTS)
def test_every_reading_lies_in_the_text(text: str) -> None:
    reading = parse_claim(text)
    for claim in reading.claims:
        assert 0 <= claim.start < claim.end <= len(text)
        assert text[claim.start : claim.end] == claim.text
        assert claim.rule in RULES
        if claim.speedup is not None:
            assert claim.speedup_low is not None
            assert claim.speedup_high is not None
            assert 0 <= claim.speedup_low <= claim.speedup_high
    for problem in reading.unreadable:
        assert text[problem.start : problem.end] == problem.text
    for mention in reading.conditions.mentions:
        assert 0 <= mention.start < mention.end <= len(text)
    assert reading.claims or reading.unreadable
    assert [c.start for c in reading.claims] == sorted(c.start for c in reading.claims)


@settings(deadline=None)
@given(
    st.integers(min_value=1, max_value=99),
    st.sampled_from(["Δ ", "", "so ", "🚀 ", "We expect that "]),
)
def test_a_percentage_is_read_by_its_rule_wherever_it_stands(percent: int, lead: str) -> None:
    claim = only(f"{lead}{percent}% lower latency")
    assert claim.speedup == pytest.approx(100 / (100 - percent))
    assert claim.text == f"{percent}% lower latency"
    assert claim.start == len(lead)
    assert only(f"{lead}{percent}% faster").speedup == pytest.approx(1 + percent / 100)


@pytest.mark.parametrize(
    "pattern",
    [
        "30% lower latency and ",
        "1.8x ",
        "cuts latency ",
        "should ",
        "no ",
        "same ",
        "per user ",
        "tokens per second per user ",
        "batch 1, ",
        "H100 SXM ",
        "inter-token-",
        "from 1 to ",
        "(",
        "as ",
    ],
)
def test_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    """Count function calls, not seconds: twice the text is about twice the calls."""

    def calls(length: int) -> int:
        profile = cProfile.Profile()
        profile.runcall(parse_claim, (pattern * (length // len(pattern) + 1))[:length])
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(8000) < 2.3 * calls(4000) + 1000
