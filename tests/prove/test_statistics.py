from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.prove.statistics import drift, find_knee, fit_line, paired_speedup, spread

TIMES = st.lists(st.floats(0.1, 1e4), min_size=3, max_size=30)


def test_one_wild_repetition_does_not_widen_the_spread() -> None:
    # Median 10, absolute deviations 0, 0, 0.1, 0.1, 90: their median is 0.1; 1.4826 * 0.1 / 10.
    assert spread([10.0, 10.0, 10.1, 9.9, 100.0]) == pytest.approx(0.014826)


def test_drift_that_both_share_cancels_in_paired_ratios() -> None:
    before = [10.0 * (1 + 0.1 * round_) for round_ in range(9)]
    after = [5.0 * (1 + 0.1 * round_) for round_ in range(9)]
    ratio = paired_speedup(before, after)
    assert ratio.mid == pytest.approx(2.0)
    assert ratio.high - ratio.low < 1e-9


@given(TIMES)
def test_nothing_is_faster_than_itself(times: list[float]) -> None:
    ratio = paired_speedup(times, times)
    assert (ratio.low, ratio.mid, ratio.high) == (1.0, 1.0, 1.0)


@given(TIMES, st.floats(0.01, 100.0))
def test_statistics_do_not_depend_on_the_unit(times: list[float], factor: float) -> None:
    scaled = [time * factor for time in times]
    assert spread(scaled) == pytest.approx(spread(times), abs=1e-9)
    assert drift(scaled) == pytest.approx(drift(times), abs=1e-9)


def test_three_rounds_say_less_than_thirty() -> None:
    # The same scatter of 10 %: Student's t has 2.92 at two degrees of freedom, 1.70 at 29.
    few = paired_speedup([10.0, 11.0, 9.0], [10.0] * 3)
    many = paired_speedup([10.0, 11.0, 9.0] * 10, [10.0] * 30)
    assert few.high - few.low == pytest.approx(
        (many.high - many.low) * 2.92 / 1.70 * (30 / 3) ** 0.5, rel=0.06
    )


def test_one_round_says_nothing() -> None:
    ratio = paired_speedup([10.0], [5.0])
    assert (ratio.low, ratio.mid, ratio.high) == (0.0, 2.0, 4.0)


def test_a_rise_over_the_run_is_drift() -> None:
    # First third 1, last third 2, median of all 1.5.
    assert drift([1.0, 1.0, 1.5, 1.5, 2.0, 2.0]) == pytest.approx(1.0 / 1.5)
    assert drift([1.0, 2.0]) == 0.0


def test_the_line_of_published_a100_times_has_their_fixed_time_and_the_bandwidth_of_the_card() -> (
    None
):
    # gpt-fast, Llama-2-7B on an A100 (README, batch 1): bf16, int8, int4. Least squares gives
    # 2.96 ms and 2021 GB/s, within 0.07 ms of each point (of 5.08 ms: 1.4 %).
    line = fit_line([(13.32e9, 9.53), (6.87e9, 6.43), (4.38e9, 5.08)])
    assert line.fixed_ms == pytest.approx(2.96, abs=0.05)
    assert line.gbs == pytest.approx(2021, rel=0.01)
    assert line.residual < 0.014


def test_a_time_that_does_not_rise_with_the_bytes_has_no_finite_bandwidth() -> None:
    assert fit_line([(1e9, 5.0), (2e9, 5.0)]).gbs == float("inf")
    with pytest.raises(ValueError, match="two different"):
        fit_line([(1e9, 5.0), (1e9, 6.0)])


@given(st.floats(2.0, 60.0))
def test_the_knee_of_a_roofline_is_where_its_sides_cross(crossing: float) -> None:
    sweep = [(batch, max(10.0, 10.0 * batch / crossing)) for batch in (1, 2, 4, 8, 16, 32, 64, 128)]
    knee = find_knee(sweep)
    assert knee is not None
    assert knee.batch == pytest.approx(crossing)
    assert knee.reached


def test_a_knee_that_was_not_reached_is_a_lower_bound() -> None:
    knee = find_knee([(1, 10.0), (2, 10.0), (4, 10.5)])
    assert knee is not None
    assert not knee.reached
    assert knee.batch == pytest.approx(10.0 * 4 / 10.5)
    assert knee.free_until == 4
    assert find_knee([(1, 10.0), (2, 10.0)]) is None
    assert find_knee([(2, 10.0), (4, 10.0), (8, 10.0)]) is None
