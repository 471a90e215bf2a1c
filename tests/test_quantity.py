"""Quantities as people write them, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.quantity import (
    READABLE,
    Bound,
    Dimension,
    Quantity,
    QuantityError,
    parse_quantity,
    scan,
)

RATIO, COUNT, TOKENS = Dimension.RATIO, Dimension.COUNT, Dimension.TOKENS
TIME, BYTES, BANDWIDTH = Dimension.TIME, Dimension.BYTES, Dimension.BANDWIDTH
WORK, COMPUTE, RATE, FACTOR = Dimension.WORK, Dimension.COMPUTE, Dimension.RATE, Dimension.FACTOR

FIELDS: list[tuple[object, Dimension, float]] = [
    ("30%", RATIO, 0.3),
    ("30 %", RATIO, 0.3),
    ("30 percent", RATIO, 0.3),
    ("30 per cent", RATIO, 0.3),
    ("0.3", RATIO, 0.3),
    (0.3, RATIO, 0.3),
    (1, RATIO, 1.0),
    ("1/3", RATIO, 1 / 3),
    ("half", RATIO, 0.5),
    ("a third", RATIO, 1 / 3),
    ("three-quarters", RATIO, 0.75),
    ("two thirds", RATIO, 2 / 3),
    ("12.5%", RATIO, 0.125),
    (32, COUNT, 32),
    ("32", COUNT, 32),
    ("4,096", COUNT, 4096),
    ("1,000,000", COUNT, 1e6),
    ("4_096", COUNT, 4096),
    ("12k", COUNT, 12000),
    ("4k", COUNT, 4000),  # a count of requests is decimal ...
    ("4k", TOKENS, 4096),  # ... a context is not
    ("4K tokens", TOKENS, 4096),
    ("2k", TOKENS, 2048),
    ("8k", TOKENS, 8192),
    ("32k", TOKENS, 32768),
    ("64k", TOKENS, 65536),
    ("128K", TOKENS, 131072),
    ("512k", TOKENS, 524288),
    ("1M", TOKENS, 1048576),
    ("10k", TOKENS, 10000),
    ("20k", TOKENS, 20000),
    ("100k tokens", TOKENS, 100000),
    ("200K", TOKENS, 200000),
    ("4096 tokens", TOKENS, 4096),
    ("2.5 million tokens", TOKENS, 2.5e6),
    ("4Ki", TOKENS, 4096),
    ("70B", COUNT, 70e9),
    ("26 ms", TIME, 26),
    ("26ms", TIME, 26),
    ("26 ms/token", TIME, 26),
    ("26 ms per token", TIME, 26),
    ("0.026 s", TIME, 26),
    (".026 s", TIME, 26),
    ("120 us", TIME, 0.12),
    ("120 µs", TIME, 0.12),
    ("120 μs", TIME, 0.12),
    ("1.5 seconds", TIME, 1500),
    ("900 ns", TIME, 9e-4),
    ("2 minutes", TIME, 120000),
    ("70 GB", BYTES, 70e9),
    ("70GB", BYTES, 70e9),
    ("70gb", BYTES, 70e9),
    ("70 GiB", BYTES, 70 * 2**30),
    ("900 MB", BYTES, 900e6),
    ("512 MiB", BYTES, 512 * 2**20),
    ("1.5 TB", BYTES, 1.5e12),
    ("24 gigabytes", BYTES, 24e9),
    ("4096 bytes", BYTES, 4096),
    ("3.35 TB/s", BANDWIDTH, 3.35e12),
    ("3350 GB/s", BANDWIDTH, 3.35e12),
    ("3,350 GB/s", BANDWIDTH, 3.35e12),
    ("3350 GB per second", BANDWIDTH, 3.35e12),
    ("100 GiB/s", BANDWIDTH, 100 * 2**30),
    ("900 GBps", BANDWIDTH, 900e9),
    ("400 Gb/s", BANDWIDTH, 50e9),  # a 400 Gbit link carries 50 GB/s
    ("400 Gbps", BANDWIDTH, 50e9),
    ("141 GFLOP", WORK, 141e9),
    ("141 GFLOPs per token", WORK, 141e9),
    ("989 TFLOPS", COMPUTE, 989e12),
    ("989 TFLOPs", COMPUTE, 989e12),
    ("989 TFLOP/s", COMPUTE, 989e12),
    ("1.4 PFLOP/s", COMPUTE, 1.4e15),
    ("45 TOPS", COMPUTE, 45e12),
    ("989 teraflops", COMPUTE, 989e12),
    ("83 tokens/s", RATE, 83),
    ("83 tok/s", RATE, 83),
    ("83 t/s", RATE, 83),
    ("83 tps", RATE, 83),
    ("83 tokens/sec", RATE, 83),
    ("83 tokens per second", RATE, 83),
    ("83 tokens a second", RATE, 83),
    ("12k tokens/s", RATE, 12000),
    ("8k tok/s", RATE, 8000),  # rates are decimal
    ("600 tokens/minute", RATE, 10),
    ("1.8x", FACTOR, 1.8),
    ("1.8X", FACTOR, 1.8),
    ("2×", FACTOR, 2),
    ("1.8 times", FACTOR, 1.8),
    ("1.8-fold", FACTOR, 1.8),
    ("1.8", FACTOR, 1.8),
    (1.8, FACTOR, 1.8),
    ("three times", FACTOR, 3),
    ("factor of 3", FACTOR, 3),
]


@pytest.mark.parametrize(("written", "dimension", "value"), FIELDS)
def test_a_field_reads_as_people_mean_it(
    written: object, dimension: Dimension, value: float
) -> None:
    read = parse_quantity(written, dimension)
    assert read.value == pytest.approx(value, rel=1e-12)
    assert read.dimension is dimension
    assert (read.low, read.high) == (read.value, read.value)


def test_requests_per_second_keep_their_unit() -> None:
    assert parse_quantity("12 requests/s", RATE).unit == "requests/s"
    assert parse_quantity("12 qps", RATE).unit == "requests/s"
    assert parse_quantity("12 tokens/s", RATE).unit == "tokens/s"


def test_a_field_can_bring_its_unit() -> None:
    assert parse_quantity(26, TIME, unit="ms").value == 26
    assert parse_quantity("26", TIME, unit="ms").value == 26
    assert parse_quantity(41, RATE, unit="tokens/s").value == 41
    assert parse_quantity("0.026 s", TIME, unit="ms").value == 26


@pytest.mark.parametrize(
    ("written", "dimension", "low", "high"),
    [
        ("1.5-1.8x", FACTOR, 1.5, 1.8),
        ("1.5–1.8x", FACTOR, 1.5, 1.8),
        ("1.5x-1.8x", FACTOR, 1.5, 1.8),
        ("1.5x to 1.8x", FACTOR, 1.5, 1.8),
        ("from 1.5x to 1.8x", FACTOR, 1.5, 1.8),
        ("between 1.5 and 1.8x", FACTOR, 1.5, 1.8),
        ("two to four times", FACTOR, 2, 4),
        ("2 to 3 ms", TIME, 2, 3),
        ("20-35%", RATIO, 0.2, 0.35),
        ("20% - 35%", RATIO, 0.2, 0.35),
        ("1-16", COUNT, 1, 16),
        ("2k to 32k tokens", TOKENS, 2048, 32768),
        ("2-4k", COUNT, 2000, 4000),
        ("26 ± 1 ms", TIME, 25, 27),
    ],
)
def test_ranges(written: str, dimension: Dimension, low: float, high: float) -> None:
    read = parse_quantity(written, dimension)
    assert (read.low, read.high) == pytest.approx((low, high))
    assert read.low < read.value < read.high


@pytest.mark.parametrize(
    ("written", "bound", "approximate"),
    [
        ("up to 3x", Bound.AT_MOST, False),
        ("at most 3x", Bound.AT_MOST, False),
        ("< 3x", Bound.AT_MOST, False),
        ("<= 3x", Bound.AT_MOST, False),
        ("≤3x", Bound.AT_MOST, False),
        ("less than 3x", Bound.AT_MOST, False),
        ("no more than 3x", Bound.AT_MOST, False),
        ("at least 3x", Bound.AT_LEAST, False),
        (">3x", Bound.AT_LEAST, False),
        (">= 3x", Bound.AT_LEAST, False),
        ("more than 3x", Bound.AT_LEAST, False),
        ("over 3x", Bound.AT_LEAST, False),
        ("3x+", Bound.AT_LEAST, False),
        ("3x or more", Bound.AT_LEAST, False),
        ("~3x", None, True),
        ("about 3x", None, True),
        ("around 3x", None, True),
        ("roughly 3x", None, True),
        ("3x or so", None, True),
        ("up to about 3x", Bound.AT_MOST, True),
        ("3x", None, False),
    ],
)
def test_bounds_and_approximations(written: str, bound: Bound | None, approximate: bool) -> None:
    read = parse_quantity(written, FACTOR)
    assert (read.value, read.bound, read.approximate) == (3, bound, approximate)


@pytest.mark.parametrize(
    ("written", "dimension", "says"),
    [
        ("-30%", RATIO, "negative"),
        (-0.3, RATIO, "negative"),
        (-4, COUNT, "negative"),
        ("−18 ms", TIME, "negative"),
        ("0%", RATIO, "zero"),
        (0, COUNT, "zero"),
        ("0 ms", TIME, "zero"),
        ("130%", RATIO, "more than the whole"),
        (30, RATIO, "write 30%"),
        ("4/3", RATIO, "cannot read"),
        (float("nan"), RATIO, "cannot read"),
        (float("inf"), COUNT, "cannot read"),
        (10**400, COUNT, "cannot read"),
        ("nan", FACTOR, "cannot read"),
        ("inf", FACTOR, "cannot read"),
        (True, COUNT, "cannot read true"),
        (None, TIME, "cannot read"),
        ([26], TIME, "cannot read"),
        ("", TIME, "cannot read"),
        ("fast", TIME, "cannot read 'fast'"),
        ("26", TIME, "no unit"),
        (26, TIME, "no unit"),
        ("26 GB", TIME, "a size in bytes, not a time"),
        ("1.8x", RATIO, "a factor, not a share"),
        ("30%", FACTOR, "a share, not a factor"),
        ("1,8x", FACTOR, "cannot read"),  # a decimal comma is not guessed
        ("1.8.2x", FACTOR, "cannot read"),
        ("70 Gb", BYTES, "bits"),
        ("4.5", COUNT, "whole number"),
        ("26 ms 18 ms", TIME, "cannot read"),
        ("from 26 to 18 ms", TIME, "cannot read"),
        ("26 ms of pain", TIME, "cannot read"),
        ("9" * 5000 + " ms", TIME, "cannot read"),
        ("1e999 ms", TIME, "cannot read"),
    ],
)
def test_what_cannot_be_read_says_what_can(
    written: object, dimension: Dimension, says: str
) -> None:
    with pytest.raises(QuantityError) as error:
        parse_quantity(written, dimension)
    assert says in str(error.value)
    assert len(str(error.value)) < 200
    if "cannot" in says or "not a" in says or says == "no unit":
        assert READABLE[dimension] in str(error.value)


def test_zero_is_read_where_the_field_allows_it() -> None:
    assert parse_quantity("0%", RATIO, allow_zero=True).value == 0


@pytest.mark.parametrize("dimension", Dimension)
def test_every_example_in_a_message_can_be_read(dimension: Dimension) -> None:
    for example in READABLE[dimension].replace("4,096,", "4096,").split(", "):
        assert parse_quantity(example.split(" (")[0], dimension).dimension is dimension


SENTENCES: list[tuple[str, list[tuple[Dimension, float, str]]]] = [
    (
        "70 / 3350 GB/s, so 140 GB per token on 3.35 TB/s gives 42 ms",
        [
            (COUNT, 70, "70"),
            (BANDWIDTH, 3.35e12, "3350 GB/s"),
            (BYTES, 140e9, "140 GB per token"),
            (BANDWIDTH, 3.35e12, "3.35 TB/s"),
            (TIME, 42, "42 ms"),
        ],
    ),
    ("done in half a second", [(TIME, 500, "half a second")]),
    ("a quarter of a second later", [(TIME, 250, "a quarter of a second")]),
    ("two thirds of a minute", [(TIME, 40e3, "two thirds of a minute")]),
    ("8 × (1 - 0.5)", [(COUNT, 8, "8"), (COUNT, 1, "1"), (COUNT, 0.5, "0.5")]),
    ("8 x 4.8 TB/s", [(COUNT, 8, "8"), (BANDWIDTH, 4.8e12, "4.8 TB/s")]),
    ("20-35% over FP16 on an A100", [(RATIO, 0.275, "20-35%")]),
    ("a 70B in 4-bit on 2x H100", [(COUNT, 70e9, "70B")]),
    ("8-way TP, 4bit, 3rd try, 80 layers", [(COUNT, 80, "80")]),
    ("1-4 FLOP/B", [(COUNT, 2.5, "1-4")]),  # intensity: no amount of work
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_sentences(text: str, expected: list[tuple[Dimension, float, str]]) -> None:
    found = scan(text)
    assert [text[f.start : f.end] for f in found] == [phrase for _, _, phrase in expected]
    assert [f.quantity.dimension for f in found] == [dimension for dimension, _, _ in expected]
    assert [f.quantity.value for f in found] == pytest.approx([value for _, value, _ in expected])


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("from 26 ms to 18 ms", 26, 18),
        ("from 26 to 18 ms", 26, 18),
        ("from 26 ms to about 18 ms", 26, 18),
        ("from 26 ms per token to 18 ms per token", 26, 18),
        ("from 26 ms today to 18 ms", 26, 18),
        ("26 ms to 18 ms", 26, 18),
        ("26 -> 18 ms", 26, 18),
        ("26 ms → 18 ms", 26, 18),
        ("26 ms => 18 ms", 26, 18),
        ("18 ms instead of 26 ms", 26, 18),
        ("18 ms, down from 26 ms", 26, 18),
        ("18 ms (was 26 ms)", 26, 18),
        ("from 26 to 40 ms", 26, 40),
        ("0.018 s vs 26 ms", 26, 18),
    ],
)
def test_changes(text: str, before: float, after: float) -> None:
    (found,) = scan(text)
    assert found.before is not None
    assert (found.before.value, found.quantity.value) == pytest.approx((before, after))


@pytest.mark.parametrize(
    "text",
    [
        "Llama-3.1-Instruct",
        "GPT-4",
        "v0.6.3",
        "0.6.3",
        "2:4",
        "10:30",
        "H100",
        "W4A16",
        "INT4",
        "Q4_K_M",
        "2024-11-30",
        "3/4/2024",
        "24/7",
        "#1234",
        "§3.2",
        "https://example.org/2x/30%",
        "8x7B",
        "4x4 tiles",
        "8x H100",
        "2x RTX",
        "4-bit",
        "one user",
        "second half",
        "a third party",
    ],
)
def test_numbers_in_names_are_no_amounts(text: str) -> None:
    assert scan(text) == []


@pytest.mark.parametrize("text", ["version 2024.11.30", "10.0.0.1", "1,3,5,30"])
def test_chains_of_numbers_are_no_amounts(text: str) -> None:
    assert scan(text) == []


numbers = st.integers(min_value=1, max_value=999_999).map(lambda n: n / 1000)


@settings(deadline=None)
@given(
    st.sampled_from([d for d in Dimension if d not in {COUNT, TOKENS, RATIO}]),
    numbers,
    numbers,
    st.booleans(),
    st.sampled_from([None, *Bound]),
)
def test_what_is_written_reads_back(
    dimension: Dimension, one: float, two: float, approximate: bool, bound: Bound | None
) -> None:
    unit = parse_quantity(READABLE[dimension].split(", ")[0], dimension).unit
    low, high = sorted((one, two))
    quantity = Quantity((low + high) / 2, unit, dimension, low, high, approximate, bound)
    read = parse_quantity(str(quantity), dimension)
    assert read.low == pytest.approx(low, rel=1e-5)
    assert read.high == pytest.approx(high, rel=1e-5)
    assert (read.approximate, read.bound, read.unit) == (approximate, bound, unit)


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**12))
def test_counts_and_shares_read_back(whole: int) -> None:
    count = float(whole)
    for dimension in (COUNT, TOKENS):
        quantity = Quantity(count, "", dimension, count, count)
        assert parse_quantity(str(quantity), dimension).value == count
    share = 1 / count
    if share > 1e-6:
        text = str(Quantity(share, "", RATIO, share, share))
        assert parse_quantity(text, RATIO).value == pytest.approx(share, rel=1e-4)


def test_a_number_in_words_and_one_with_a_suffix() -> None:
    (found,) = scan("Contexts from one to 20K tokens.", TOKENS)
    assert found.quantity.high == 20_000.0


ALPHABET = st.sampled_from(
    [
        *"0123456789.,%x×/-–:+~<>=() kMGBs\n",
        " to ",
        " from ",
        " per ",
        " ms",
        " tok/s",
        "µ",
        "🚀",
        " one ",
        " twenty",
        " tokens",
        " half a second",
    ]
)


@settings(deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(ALPHABET, max_size=40).map("".join)))
def test_offsets_lie_in_the_text_and_in_order(text: str) -> None:
    end = 0
    for found in scan(text):
        assert end <= found.start <= found.number_start < found.end <= len(text)
        assert math.isfinite(found.quantity.value)
        assert found.quantity.low <= found.quantity.high
        end = found.end


@settings(deadline=None)
@given(st.one_of(st.text(max_size=30), st.floats(), st.integers(), st.booleans(), st.none()))
def test_a_field_reads_or_says_why(value: object) -> None:
    for dimension in Dimension:
        try:
            read = parse_quantity(value, dimension)
        except QuantityError:
            continue
        assert read.low > 0
        assert math.isfinite(read.high)


@pytest.mark.parametrize(
    "pattern",
    [
        "1",
        "1.",
        "1,",
        "1,111",
        "1-",
        "1/",
        "1:",
        "about ",
        "from 1 to ",
        "1 x ",
        "1 per ",
        "-",
        ".1",
    ],
)
def test_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    """Count function calls, not seconds: twice the text is at most about twice the calls."""
    import cProfile  # noqa: PLC0415  a tool of this test alone

    def calls(length: int) -> int:
        profile = cProfile.Profile()
        text = (pattern * (length // len(pattern) + 1))[:length]
        profile.runcall(scan, text)
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(8000) < 2.5 * calls(4000) + 1000
