"""Times and rates of a token as documents tell them: the value in ms, and the phase it is of."""

from __future__ import annotations

import pytest

from advisor.prose.markdown import read_markdown
from advisor.prose.model import Phase, Statement, Status
from advisor.prose.pairs import pairs_in
from advisor.prose.reading import statements_of
from advisor.quantity.units import in_milliseconds

SETUP = "Llama-3.1-8B in FP16 on one A100, a single user.\n\n"


def told(text: str) -> list[Statement]:
    """The statements of a paragraph with a time per token."""
    found = statements_of(read_markdown(SETUP + text))
    return [one for one in found if one.tpot_ms is not None]


@pytest.mark.parametrize(
    ("text", "times_ms"),
    [
        ("Decode reaches 200 tokens per second.", [5.0]),
        ("After the change a token takes 6 ms.", [6.0]),
        ("Each user's inter-token latency drops below 6 ms.", [6.0]),
        ("A reply of 1,000 tokens is thus finished in 25 ms.", [0.025]),
        ("mean ITL (ms): 5", [5.0]),
        ("Output speed (tok/s): 200", [5.0]),
        ("Today a token takes 10 ms. With the new kernel it takes 5 ms.", [10.0, 5.0]),
        ("A token took 36 ms on one card, which brings us to 4.5 ms.", [36.0, 4.5]),
        ("It takes 10 ms a token (TP=2). Going to TP=4 brings this to 5 ms.", [10.0, 5.0]),
        ("We use TP=2 and k = 5.", []),
        ("The saving is 0.3 ms a token.", []),
    ],
)
def test_times(text: str, times_ms: list[float]) -> None:
    assert [one.tpot_ms for one in told(text)] == pytest.approx(times_ms)


@pytest.mark.parametrize(
    ("text", "phases"),
    [
        ("Decode: 200 tok/s, prefill: 9,000 tok/s", [Phase.DECODE, Phase.PREFILL]),
        ("With 200-token prompts we see 200 tok/s.", [Phase.DECODE]),
        ("200 tok/s (prompt 512, output 128)", [Phase.DECODE]),
        ("It hits 45 tok/s on a single prompt.", [Phase.DECODE]),
        ("Prompts are read at 9,000 tok/s.", [Phase.PREFILL]),
    ],
)
def test_phases(text: str, phases: list[Phase]) -> None:
    assert [one.phase for one in told(text)] == phases


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("We saw 10.1 ms per token (99 tok/s).", Status.MEASURED),
        ("Acceptance: a session streams at 110 tok/s, measured from the second token.",
         Status.ASSERTED),
        ("Hypothesis: a token takes 5 ms.", Status.SUPPOSED),
        ("A token does not take 5 ms.", Status.DENIED),
    ],
)  # fmt: skip
def test_status(text: str, status: Status) -> None:
    assert {one.status for one in told(text)} == {status}


@pytest.mark.parametrize("unit", ["us", "µs", "μs", "Μs", "microseconds"])
def test_microseconds_in_every_spelling(unit: str) -> None:
    pair = pairs_in(f"The step time falls from 900 {unit} to 450 {unit}.")
    assert [one.factor for one in pair] == pytest.approx([2.0])
    assert in_milliseconds(unit) == pytest.approx(1e-3)


def test_a_pair_of_two_units_of_time() -> None:
    pair = pairs_in("The step time falls from 1 ms to 500 μs.")
    assert [one.factor for one in pair] == pytest.approx([2.0])
