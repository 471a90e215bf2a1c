"""What sentences about limits assert, as a reader of English would take them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.limits import Limit
from advisor.source import Source, Span
from advisor.statements import Assertion, read_statement

COMPUTE, MEMORY, OVERHEAD = Limit.COMPUTE, Limit.MEMORY, Limit.OVERHEAD


def holds(assertion: Assertion) -> bool:
    return not (assertion.denied or assertion.open)


@pytest.mark.parametrize(
    "text",
    [
        "decode is compute-bound",
        "Decode is compute bound.",
        "decode is limited by how quickly the tensor cores get through them",
        "latency is dictated by the FLOPs a token needs",
        "decode is where computation dominates",
        "The step is thus on the compute side of the roofline",
        "single-stream decode saturates the tensor cores",
        "The bottleneck is arithmetic",
        "the limiting factor for generation is matrix multiplications",
        "generation is bottlenecked by the GPU's compute",
        "token generation waits for the ALUs",
        "The tensor cores are saturated at batch 1",
        "decode is FLOPs-bound",
        "arithmetic is the bottleneck of decode",
        "Decode is not memory-bound but compute-bound",
        "Not only prefill but also decode is compute-bound",
        "Because each token runs through 70B weights, decode is compute-bound",
        "the expert FLOPs are the cost, so use fewer FLOPs per expert",
        "we sit right of the ridge at batch 1",
        "DECODE IS COMPUTE-BOUND",
        "decode is a compute-bound workload",
    ],
)
def test_arithmetic_is_asserted(text: str) -> None:
    found = [one for one in read_statement(text) if holds(one) and one.phase != "prefill"]
    assert [one.limit for one in found] == [COMPUTE]


@pytest.mark.parametrize(
    "text",
    [
        "decode is memory-bound, not compute-bound",
        "decode is memory-bound rather than compute-bound",
        "decode isn't compute-bound",
        "compute is not the bottleneck",
        "the bottleneck of decode is not the tensor cores",
        "neither decode nor the sampler is compute-bound",
        "decode is far from compute-bound",
        "decode never saturates the tensor cores",
        "contrary to the belief that decode is compute-bound, bytes decide",
        "It is a myth that decode is compute-bound",
        "People often say that decode is compute-bound.",
        "If decode were compute-bound, pruning would help",
        "Is decode compute-bound?",
        "we should find out whether decode is compute-bound",
        "At large batch, decode is compute-bound.",
        "beyond batch 256 decode is compute-bound",
        "decode is compute-bound at batches 128 and 256",
        "once the batch exceeds 300, decode becomes compute-bound",
        "Prefill is compute-bound and decode memory-bound.",
        "training is compute-bound",
        "tensor cores are idle 95% of the time",
        "decode needs 16 GFLOP per token",
        "the tensor cores wait for weights",
        "decode is limited by the bytes that reach the tensor cores",
        "we use compute capability 9.0",
        "on compute-bound workloads the L40S is faster",
        "",
    ],
)
def test_arithmetic_is_not_asserted_of_decode(text: str) -> None:
    wrong = [
        one
        for one in read_statement(text)
        if one.limit is COMPUTE and holds(one) and one.phase not in {"prefill", "training"}
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("decode is memory-bound", MEMORY),
        ("decode is limited by memory bandwidth rather than compute", MEMORY),
        ("the step waits for HBM", MEMORY),
        ("decode is bandwidth-limited (weights 70 GB)", MEMORY),
        ("a 1B model is launch-bound", OVERHEAD),
        ("kernel launches dominate the step", OVERHEAD),
        ("the bottleneck is the CPU", OVERHEAD),
    ],
)
def test_other_limits_are_told_apart(text: str, limit: Limit) -> None:
    assert [one.limit for one in read_statement(text) if holds(one)] == [limit]


def test_each_clause_has_its_own_phase() -> None:
    found = read_statement("Prefill is compute-bound and decode is memory-bound")
    assert [(one.limit, one.phase) for one in found] == [
        (COMPUTE, "prefill"),
        (MEMORY, "decode"),
    ]


def test_a_sentence_may_name_its_batch_and_context() -> None:
    [one] = read_statement("at batch 32 and 8k context decode is compute-bound")
    assert (one.batch, one.context, one.open) == (32, 8192, False)
    [one] = read_statement("MLA decode is compute-bound on H20")
    assert one.about_attention
    assert one.batch is None
    [one] = read_statement("single-user decode is compute-bound")
    assert one.single_stream


def test_the_clause_is_found_in_a_folded_text() -> None:
    written = "diagnosis: >-\n  Costs are 140 GFLOP, and decode is limited by\n  arithmetic.\n"
    span = Span(written.index("Costs"), len(written))
    text = "Costs are 140 GFLOP, and decode is limited by arithmetic."
    [one] = read_statement(text)
    place = one.place_in(text, span, Source("p.yaml", written))
    assert written[slice(*place)] == "decode is limited by\n  arithmetic"


def test_a_clause_that_stands_twice_is_not_placed() -> None:
    text = "decode is compute-bound"
    written = f"{text} {text}"
    [one] = read_statement(text)
    assert one.place_in(text, Span(0, len(written)), Source("p", written)) == Span(0, len(written))


SENTENCE = (
    "decode prefill is not compute memory bound - limited by the tensor cores saturates , . but "
    "and if bottleneck FLOPs dominate waits for batch 32 ? weights"
)
WORDS = st.sampled_from(tuple(SENTENCE.split()))


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=200))
def test_any_text_is_read_and_offsets_are_within_it(text: str) -> None:
    for one in read_statement(text):
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start : one.end].strip()


def test_long_texts_are_read_to_their_end() -> None:
    assert len(read_statement("decode is compute-bound and " * 400)) == 400
    assert read_statement("is the " * 4000) == ()
