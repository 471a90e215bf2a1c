"""Sweeps: every point equals the estimate of its deployment; S* and shares as the formulas say."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cli import run
from advisor.deployment import Deployment, Offload, Speculation
from advisor.roofline import predict
from advisor.sweep import BOUNDS, SweepError, sweep, values_between

DEPLOYMENTS = {
    "dense": Deployment("Llama-3.1-8B", "H100 SXM"),
    "windows": Deployment("gemma-3-27b-it", "A100 80GB SXM", kv_cache="fp8"),
    "experts, split": Deployment("Qwen3-30B-A3B", "2 x H100 SXM", weights="int4"),
    "latent": Deployment("DeepSeek-V3", "8 x H200", weights="fp8"),
    "hybrid": Deployment("Qwen3-Next-80B-A3B", "H200"),
    "eager": Deployment("Llama-3.1-8B", "A100 80GB SXM", engine="transformers"),
    "speculating": Deployment("Llama-3.1-8B").evolve(speculation=Speculation("eagle", 3, 2.0)),
    "offloaded": Deployment("Llama-3.1-8B").evolve(offload=Offload(weights_bytes=4e9)),
    "measured": Deployment("Llama-3.1-8B").evolve(time_factor=(0.9, 1.3, 1.4)),
}


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(DEPLOYMENTS)),
    batch=st.integers(1, 600),
    context=st.integers(1, 300_000),
)
def test_a_point_of_a_sweep_is_the_estimate(name: str, batch: int, context: int) -> None:
    deployment = DEPLOYMENTS[name]
    grid = sweep(deployment, np.array([[1], [batch]]), np.array([[64, context]]))
    found = predict(deployment.evolve(batch=batch, context=context))
    assert grid.step_ms.shape == (2, 2)
    assert grid.step_ms[1, 1] == pytest.approx(found.expected_ms.mid, rel=1e-9)
    assert grid.floor_ms[1, 1] == pytest.approx(found.floor_ms, rel=1e-9)
    assert BOUNDS[grid.bound[1, 1]] == found.bound
    assert grid.throughput[1, 1] == pytest.approx(found.throughput.mid, rel=1e-9)


def test_between_many_batches_lines_are_near_enough() -> None:
    deployment = DEPLOYMENTS["dense"]
    curve = sweep(deployment, np.arange(1, 60_001), deployment.context)
    for batch in (17, 999, 31_415, 59_999):
        found = predict(deployment.evolve(batch=batch))
        assert curve.step_ms[batch - 1] == pytest.approx(found.expected_ms.mid, rel=1e-4)


def test_s_star_of_an_8b_is_about_390_tokens_on_an_h100() -> None:
    # S* = 2 P_r / (kv bytes per token * ridge) = 2 * 7.50e9 / (131,072 * 295) = 388.
    found = predict(Deployment("Llama-3.1-8B", "H100 SXM"))
    assert found.crossover_context == pytest.approx(388, abs=1)
    assert predict(Deployment("Llama-3.1-70B", "H100 SXM")).crossover_context == pytest.approx(
        1436, abs=3
    )


@pytest.mark.parametrize(("context", "share"), [(388, 0.5), (4 * 388, 0.2), (9 * 388, 0.1)])
def test_at_large_batch_the_compute_share_follows_s_star(context: int, share: float) -> None:
    # Products at peak over products and cache reading at peak: 1 / (1 + S / S*).
    large = predict(Deployment("Llama-3.1-8B", "H100 SXM", batch=10_000, context=context))
    products_ms = 10_000 * 2 * 7_504_658_432 / 989.4e12 * 1e3
    cache_ms = large.bytes.kv_read / 3350e9 * 1e3
    assert products_ms / (products_ms + cache_ms) == pytest.approx(share, abs=0.005)
    assert products_ms + cache_ms <= large.floor_ms < 1.1 * (products_ms + cache_ms)


@pytest.mark.parametrize(
    ("batches", "contexts"),
    [([], [1]), ([0], [1]), ([1.5], [1]), ([1], [-4]), ([1, 2, 3], [1, 2])],
)
def test_what_cannot_be_swept_is_refused(batches: list[float], contexts: list[int]) -> None:
    with pytest.raises(SweepError):
        sweep(DEPLOYMENTS["dense"], np.array(batches), np.array(contexts))


def test_values_grow_by_the_same_factor() -> None:
    assert values_between(1, 8, 4) == [1, 2, 4, 8]
    with pytest.raises(SweepError):
        values_between(8, 8, 4)


def test_the_command_in_its_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["sweep", "--model", "llama-3.1-8b", "--to", "64", "--points", "7"]
    assert run(options) == 0
    assert "S*: at 388 tokens" in capsys.readouterr().out
    assert run([*options, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["batch"]) for row in rows] == [1, 2, 4, 8, 16, 32, 64]
    assert float(rows[-1]["throughput"]) > 8 * float(rows[0]["throughput"])
    assert run([*options, "--format", "json", "--svg", str(tmp_path / "curve.svg")]) == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 7
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    assert run(["sweep", "--from", "9", "--to", "3"]) == 2
    assert run(["sweep", "--to", "many"]) == 2
