"""Statements of a text and the physics that they are held against, by hand calculation."""

from __future__ import annotations

import pytest

from advisor.finding import Confidence
from advisor.prose.frame import Frame
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.said import (
    Floor,
    Said,
    bandwidth_of,
    carries_over,
    claimed,
    confidence_of,
    decode_gain,
    floor_of,
    gain,
    in_sight,
    is_of_units,
    is_small_batch,
    is_unlinked,
    say,
)
from advisor.source import Span

HIGH, MEDIUM = Confidence.HIGH, Confidence.MEDIUM
GAIN = Statement(
    Kind.GAIN, Span(0, 10), "decode gets faster", Status.ASSERTED, Phase.DECODE, Frame(),
    clause=frozenset({"DECODE"}), cause="PRUNE", context_text="we prune, so decode gets faster",
    sentence_text="so decode gets faster",
)  # fmt: skip


def said(statement: Statement) -> Said:
    return say([statement])[0]


@pytest.mark.parametrize(
    ("frame", "bandwidth"),
    [
        (Frame(), None),
        (Frame(bandwidth_gbs=1000.0), 1000.0),
        (Frame(bandwidth_gbs=1000.0, devices=4), 4000.0),
        (Frame(hardware="nvidia-h100-sxm"), 3350.0),
        (Frame(hardware="nvidia-h100-sxm", devices=2), 6700.0),
        (Frame(hardware="nvidia-h100-sxm", bandwidth_gbs=3000.0), 3000.0),
        (Frame(bandwidth_gbs=1000.0, devices=4, total_bandwidth_gbs=3600.0), 3600.0),
    ],
)
def test_bandwidth_of_all_devices(frame: Frame, bandwidth: float | None) -> None:
    assert bandwidth_of(frame) == bandwidth


@pytest.mark.parametrize(
    ("facts", "weights", "cached"),
    [
        ({"weight_bytes": 14e9}, 14e9, 0.0),
        ({"weight_bytes": 14e9, "kv_bytes": 2e9}, 14e9, 2e9),
        # Names round sizes, and the input embeddings are not read: 0.93 of 7e9 times 16 / 8.
        ({"parameters": 7e9, "weight_bits": 16.0}, 7e9 * 2 * 0.93, 0.0),
        ({"parameters": 7e9, "weight_bits": 4.0}, 7e9 / 2 * 0.93, 0.0),
        ({"parameters": 30e9, "active_parameters": 3e9, "weight_bits": 8.0}, 3e9 * 0.93, 0.0),
        # 60 GB are all of 120e9 at 4 bits, of which 5 in 120 are read.
        (
            {"weight_bytes": 60e9, "parameters": 120e9, "active_parameters": 5e9},
            60e9 * 5 / 120, 0.0,
        ),
        (
            {"weight_bytes": 43e9, "parameters": 120e9, "active_parameters": 5e9},
            43e9 * 5 / 120, 0.0,
        ),
        # Up to seven tenths of it, it is what is read.
        ({"weight_bytes": 42e9, "parameters": 120e9, "active_parameters": 5e9}, 42e9, 0.0),
        ({"weight_bytes": 41e9, "parameters": 120e9, "active_parameters": 5e9}, 41e9, 0.0),
        (
            {"weight_bytes": 80e9, "parameters": 120e9, "active_parameters": 5e9,
             "weight_bits": 8.0}, 80e9, 0.0,
        ),
        ({"weight_bytes": 60e9, "parameters": 120e9}, 60e9, 0.0),
    ],
)  # fmt: skip
def test_floors(facts: dict[str, float], weights: float, cached: float) -> None:
    floor = floor_of(Frame(bandwidth_gbs=2000.0, **facts))
    assert floor is not None
    assert floor == pytest.approx((weights, cached, 2000.0))
    assert floor.ms == pytest.approx((weights + cached) / 2e12 * 1e3)


def test_a_floor_needs_its_operands() -> None:
    assert Floor(8e9, 2e9, 1000.0).ms == pytest.approx(10.0)
    assert floor_of(Frame(weight_bytes=14e9)) is None
    assert floor_of(Frame(bandwidth_gbs=1000.0, parameters=7e9)) is None
    assert floor_of(Frame(bandwidth_gbs=1000.0, weight_bits=4.0)) is None


@pytest.mark.parametrize(
    ("status", "sure"),
    [
        (Status.ASSERTED, HIGH), (Status.HEDGED, MEDIUM), (Status.MEASURED, None),
        (Status.DENIED, None), (Status.QUOTED, None),
    ],
)  # fmt: skip
def test_how_sure_a_text_is(status: Status, sure: Confidence | None) -> None:
    assert confidence_of(GAIN._replace(status=status)) is sure
    assert decode_gain(said(GAIN._replace(status=status))) is sure


@pytest.mark.parametrize(
    ("batch", "nearby", "single", "small"),
    [
        (None, set(), False, True),
        (31, set(), False, True),
        (32, set(), False, False),
        (32, set(), True, False),
        (None, {"LARGE_BATCH"}, False, False),
        (None, {"LARGE_BATCH"}, True, True),
        (1, {"LARGE_BATCH"}, False, False),
    ],
)
def test_batches_that_are_small(
    batch: int | None, nearby: set[str], single: bool, small: bool
) -> None:
    statement = GAIN._replace(frame=Frame(batch=batch), nearby=frozenset(nearby), is_single=single)
    assert is_small_batch(statement) is small
    assert decode_gain(said(statement)) is (HIGH if small else None)


@pytest.mark.parametrize(
    ("changed", "sure"),
    [
        ({}, HIGH),
        ({"kind": Kind.LOSS}, None),
        ({"phase": Phase.PREFILL}, None),
        ({"is_aggregate": True}, None),
        # one user in the same words, and not only somewhere around
        ({"is_aggregate": True, "is_single": True}, None),
        ({"is_aggregate": True, "is_single": True, "clause": frozenset({"SINGLE"})}, HIGH),
        ({"reach": 3, "is_linked": False}, None),
        ({"reach": 3, "is_linked": True}, HIGH),
        ({"reach": 2, "is_linked": False}, HIGH),
        # Only a heading says that decode is meant.
        ({"phase_reach": 4}, MEDIUM),
        ({"phase_reach": 3}, HIGH),
        ({"phase_reach": 4, "is_single": True}, HIGH),
        ({"text": "the tensor cores are twice as fast", "clause": frozenset()}, None),
        ({"text": "the tensor cores are twice as fast", "clause": frozenset({"RATE"})}, HIGH),
    ],
)  # fmt: skip
def test_gains_of_decode_at_small_batch(
    changed: dict[str, object], sure: Confidence | None
) -> None:
    statement = GAIN._replace(**changed)  # type: ignore[arg-type]
    assert decode_gain(said(statement)) is sure
    assert gain(said(statement), "PRUNE") is sure
    assert gain(said(statement), "QUANT") is None


def test_parts_of_the_question() -> None:
    far = GAIN._replace(reach=3, is_linked=False)
    assert is_unlinked(far)
    assert not is_unlinked(far._replace(reach=4))
    assert in_sight(GAIN._replace(phase_reach=5), MEDIUM) is MEDIUM
    assert in_sight(GAIN._replace(phase_reach=5), None) is None
    assert not is_of_units(GAIN._replace(clause=frozenset()))
    assert is_of_units(GAIN._replace(text="the GEMM runs twice as fast", clause=frozenset()))


@pytest.mark.parametrize(
    ("changed", "carried"),
    [
        ({}, True),
        ({"cause": "QUANT"}, False),
        ({"cause": "ATTN"}, True),
        ({"earlier": ()}, False),
        ({"earlier": ((Phase.DECODE, 2.0, None),)}, False),
        ({"earlier": (), "context_text": "TTFT fell, so decode is faster, too"}, True),
        ({"clause": frozenset({"RATE"})}, False),
        ({"clause": frozenset({"SINGLE"})}, True),
        ({"clause": frozenset({"DECODE", "PREFILL"})}, False),
        ({"text": "decode gets faster"}, False),
        ({"text": "decode gets faster", "clause": frozenset({"DECODE", "TRANSFER"})}, True),
        ({"context_text": "in FP8 decode gets faster, too"}, False),
    ],
)
def test_gains_of_the_prompt_that_are_carried_over(
    changed: dict[str, object], carried: bool
) -> None:
    statement = GAIN._replace(
        cause=None, text="decode gets faster, too", earlier=((Phase.PREFILL, 2.0, None),)
    )._replace(**changed)  # type: ignore[arg-type]
    assert carries_over(said(statement)) is carried


def test_the_figure_of_a_statement() -> None:
    assert claimed(GAIN) == ""
    assert claimed(GAIN._replace(speedup=1.5)) == "1.5x"
    assert claimed(GAIN._replace(speedup=1.5, kind=Kind.FIGURE)) == ""
    assert claimed(GAIN._replace(kind=Kind.FIGURE, tpot_ms=8.25)) == "8.25 ms per token"


def test_statements_about_the_same_words_are_one_subject() -> None:
    found = say([GAIN, GAIN._replace(span=Span(20, 30)), GAIN._replace(kind=Kind.FIGURE)])
    assert [one.group for one in found] == [0, 1, 0]
    assert found[0].floor is None
    assert found[0].has("WE PRUNE")
    assert not found[0].says("we prune")
    assert found[0].says("SO DECODE")
