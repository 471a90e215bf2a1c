"""Equations in prose: what comes out and what does not."""

from __future__ import annotations

import pytest

from advisor.prose.equations import equations_in


@pytest.mark.parametrize(
    "text",
    [
        "2 x 70e9 x 8,192 = 1.15 PFLOP",
        "80 layers x 8 KV heads x 128 x 2 (K and V) x 2 bytes = 328 kB",
        "1 + 0.6 + 0.36 + 0.22 + 0.13 = 2.3 tokens",
        "405 / 26.8 = 15 ms",
        "65.2 GiB x 1.074 = 70 GB",
    ],
)
def test_what_comes_out(text: str) -> None:
    (equation,) = equations_in(text)
    assert equation.is_right


@pytest.mark.parametrize("text", ["140 / 3.35 = 24 ms", "8 x 8 = 72"])
def test_what_does_not(text: str) -> None:
    (equation,) = equations_in(text)
    assert not equation.is_right


@pytest.mark.parametrize(
    "text",
    ["d = 8192", "2h + 3h = 5", "at f_w = 0.7", "2 ** 3 = 8", "x = (1 + 2) / 3 = 1", "a = b"],
)
def test_what_is_no_plain_equation(text: str) -> None:
    assert equations_in(text) == []
