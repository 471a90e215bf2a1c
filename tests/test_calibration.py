"""The fitted file: what the script gives, what the estimate uses, and how far off it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from math import exp
from pathlib import Path

import numpy as np
import pytest

from advisor.roofline import predict
from advisor.timing.fitted import load_fitted
from benchmarks.calibrate import PRIORS, TOKEN_MS
from benchmarks.fitting import Design
from benchmarks.kernel_tables import kernel_tables
from benchmarks.measured import Row, observe, served, single_stream

ROOT = Path(__file__).resolve().parent.parent


def run(module: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark with `--check`, on one thread: the cores belong to all tests."""
    return subprocess.run(
        [sys.executable, "-m", module, "--check"],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_fitted_file_is_what_the_data_gives() -> None:
    done = run("benchmarks.calibrate")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_of_figures_is_what_the_data_gives() -> None:
    done = run("benchmarks.fidelity")
    assert done.returncode == 0, done.stdout + done.stderr


def figures(line: str) -> tuple[float, ...]:
    """Numbers of the line of docs/fidelity.md that starts so."""
    page = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    found = next(text for text in page.splitlines() if text.startswith(line))
    return tuple(float(number) for number in re.findall(r"\d+(?:\.\d+)?", found[len(line) :]))


def test_unseen_groups_and_cards_are_predicted_closely() -> None:
    median, ninetieth = figures("| unseen group |")
    assert median <= 5.0
    assert ninetieth <= 30.0
    assert figures("| unseen group without a near twin in the data |")[0] <= 7.0
    assert figures("| unseen card |")[0] <= 13.0


def test_speedups_of_quantization_are_predicted_far_better_than_by_bytes() -> None:
    _, _, bytes_only, _, median, ninetieth, *_ = figures("| weight quantization |")
    assert median <= 5.0
    assert ninetieth <= 20.0
    assert bytes_only > 25.0


@pytest.mark.parametrize(("case", "widest"), [("group", 1.25), ("card", 1.7)])
def test_the_interval_holds_what_it_says(case: str, widest: float) -> None:
    held, factor = figures(f"| interval, unseen {case} |")
    assert 85 <= held <= 95
    assert factor <= widest


def test_peers_are_beaten_on_the_27_points() -> None:
    assert figures("Leave one model out (all rows of the model on that card): mean error")[0] <= 6.0


def test_served_systems_are_predicted_within_a_fifth() -> None:
    _, median, _, by_rows = figures("| all |")
    assert median <= 20.0
    assert by_rows <= 20.0


@pytest.mark.parametrize("rows", [single_stream(), served()], ids=["one sequence", "served"])
def test_an_estimate_is_the_fitted_model(rows: tuple[Row, ...]) -> None:
    """Calibration and estimate add up the same times, in two programs."""
    tables, effects = kernel_tables(), load_fitted().effects
    plain = [row._replace(prompt=0) for row in rows[::7] if row.deployment.engine.graphs]
    design = Design([observe(row, tables, TOKEN_MS) for row in plain], PRIORS)
    values = np.array([effects.get(key, (0.0,))[0] for key in design.keys])
    for row, fitted in zip(plain, design.predict(values), strict=True):
        estimate = predict(row.deployment)
        wanted = max(exp(fitted), estimate.floor_ms)
        assert estimate.expected_ms.mid == pytest.approx(wanted, rel=1e-6), row.group


def test_no_measured_sequence_beats_its_floor() -> None:
    beaten = [
        row.id
        for row in single_stream()
        if row.grade == "calibration" and row.measured_ms < predict(row.deployment).floor_ms
    ]
    assert beaten == []
