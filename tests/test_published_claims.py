"""Claims that people published, held to what was measured of them."""

from __future__ import annotations

import pytest

from docs.claims import Judged, judged

DIFFERING = {"compile", "quantize.weights.fp4"}
"""An eager baseline of 2023, and a kernel swap on a DGX Spark; docs/claims.md says why."""


def ids(one: Judged) -> str:
    return f"{one.kind}: {one.text}"


def test_there_are_enough_of_every_family() -> None:
    kinds = {one.kind.partition(".")[0] for one in judged()}
    assert len(judged()) >= 40
    assert kinds >= {
        "quantize", "prune", "speculative", "batching", "tensor_parallel", "hardware",
        "cuda_graph", "activation_sparsity", "distill", "attention_kernel", "prefix_cache",
    }  # fmt: skip


@pytest.mark.parametrize("one", [c for c in judged() if c.is_right], ids=ids)
def test_what_was_measured_is_not_called_impossible(one: Judged) -> None:
    assert one.agrees is (one.kind not in DIFFERING)


@pytest.mark.parametrize("one", [c for c in judged() if not c.is_right], ids=ids)
def test_what_was_measured_otherwise_is_refuted(one: Judged) -> None:
    assert one.is_refuted


def test_measured_gains_lie_within_the_expected_interval() -> None:
    measured = [one for one in judged() if one.is_right and one.possible and one.claim.speedup]
    inside = [
        one
        for one in measured
        if one.possible and one.claim.speedup
        and one.possible.low / 1.1 <= one.claim.speedup <= one.possible.high * 1.1
    ]  # fmt: skip
    assert len(inside) >= 0.75 * len(measured)
