"""A finding in prose shows what a token of the text's own model takes on its own device."""

from __future__ import annotations

import pytest

from advisor.own_figures import step_told
from advisor.prose.frame import Frame
from tests.prose.test_numbers_told import found

BOUND = "Decode at batch 1 is compute-bound"


@pytest.mark.parametrize(
    ("of", "here"),
    [
        # 8e9 x 2 bytes / 3,350 GB/s = 4.78 ms; 2 x 8e9 / 989.4e12 = 0.0162 ms
        (
            "our 8B on one H100 SXM",
            (
                "a token reads 16.0 GB of weights in 16 bits (assumed), which takes 4.78 ms at"
                " 3,350 GB/s; its arithmetic takes 0.0162 ms"
            ),
        ),
        # 70e9 x 1 byte / (2 x 3,350 GB/s) = 10.4 ms; 2 x 70e9 / (2 x 989.4e12) = 0.07075 ms
        (
            "our 70B in FP8 on two H100 SXM",
            (
                "a token reads 70.0 GB of weights in 8 bits, which takes 10.4 ms at 6,700 GB/s; its"
                " arithmetic takes 0.0707 ms"
            ),
        ),
    ],
)
def test_model_and_device_of_the_text_are_reckoned_with(of: str, here: str) -> None:
    finding = found(f"{BOUND} for {of}.", "TXT001")
    assert finding is not None
    assert dict(finding.facts)["here"] == here


@pytest.mark.parametrize("of", ["", " for our 8B", " on one H100 SXM"])
def test_nothing_is_reckoned_with_what_nobody_stated(of: str) -> None:
    finding = found(f"{BOUND}{of}.", "TXT001")
    assert finding is not None
    assert finding.facts == ()


def test_a_step_of_many_sequences_is_another_one() -> None:
    one = Frame(parameters=8e9, hardware="nvidia-h100-sxm")
    assert step_told(one) != ()
    assert step_told(Frame(parameters=8e9, hardware="nvidia-h100-sxm", batch=32)) == ()
