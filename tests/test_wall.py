"""The wall: ridge points from data sheets, and where levers move a deployment on the roofline."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cli import run
from advisor.deployment import Deployment
from advisor.reports.plot import Series, axis, svg, terminal
from advisor.reports.wall import ridges_drawing, roofline_drawing
from advisor.wall import generations, roofline_of

# Dense peak over bandwidth, from the vendors' data sheets.
RIDGES = {
    "P100 SXM2": (29, None, None),
    "A100 SXM 80GB": (153, 306, 612),
    "H100 SXM": (295, 591, None),
    "H200 SXM": (206, 412, None),
    "RTX PRO 6000 Blackwell Workstation": (281, 562, 1125),
    "Apple M2 Ultra": (33, None, None),
}


@pytest.mark.parametrize("name", RIDGES)
def test_ridges_of_known_devices(name: str) -> None:
    (row,) = [row for row in generations() if row.device.name == name]
    for ridge, expected in zip((row.ridge_16, row.ridge_8, row.ridge_4), RIDGES[name], strict=True):
        assert ridge is None if expected is None else ridge == pytest.approx(expected, abs=0.6)


def test_one_device_a_class_and_year() -> None:
    rows = generations()
    keys = [(row.device.hardware_class, row.device.year) for row in rows]
    assert len(set(keys)) == len(keys)
    assert generations(["nvidia-hbm"])[0].device.name == "P100 SXM2"


def test_the_classes_of_levers_move_as_the_roofline_says() -> None:
    roof = roofline_of(Deployment("Llama-3.1-8B", "H100 SXM"))
    now, fewer, many, drafts, closer, flops = roof.places
    assert now.intensity == pytest.approx(1.10, abs=0.02)  # 17.2 GFLOP over 15.5 GB
    assert fewer.intensity > 2.5 * now.intensity
    assert fewer.speedup > 1.5
    assert many.intensity > 10 * now.intensity
    assert many.speedup < 1.0
    assert drafts.intensity == pytest.approx(2 * now.intensity, rel=0.01)
    assert closer.intensity == now.intensity
    # On the slope: FLOP/s = intensity * bandwidth.
    assert closer.flops_per_second == pytest.approx(closer.intensity * 3350e9, rel=0.01)
    assert flops.intensity == now.intensity / 2
    assert flops.flops_per_second == now.flops_per_second / 2
    assert flops.speedup == 1.0


def test_the_drawings_are_xml_with_every_series_named() -> None:
    for drawing in (
        ridges_drawing(generations()),
        roofline_drawing(roofline_of(Deployment("Qwen3-8B", "A100 80GB SXM"))),
    ):
        root = ET.fromstring(drawing.svg())  # noqa: S314  our own output
        words = {element.text for element in root.iter() if element.tag.endswith("text")}
        assert {line.label for line in drawing.series} <= words


values = st.floats(min_value=1e-3, max_value=1e12, allow_nan=False)


@settings(max_examples=80, deadline=None)
@given(
    points=st.lists(st.tuples(values, values), min_size=1, max_size=20),
    log=st.booleans(),
    width=st.integers(30, 140),
)
def test_any_points_can_be_drawn(points: Any, log: bool, width: int) -> None:
    x = axis("x", [point[0] for point in points], log=log)
    y = axis("y", [point[1] for point in points], log=log)
    line = Series("a <b> & c", points, names=("<n>",))
    rows = terminal([line], x, y, width=width)
    assert all(len(row) <= width + 1 for row in rows)
    assert any("o" in row.partition("|")[2] for row in rows)
    ET.fromstring(svg([line], x, y, "<title>"))  # noqa: S314


def test_the_command_prints_and_saves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "roof.svg"
    options = ["--model", "Qwen3-8B", "--class", "nvidia-hbm", "--roofline-svg", str(file)]
    assert run(["wall", *options]) == 0
    assert "H100 SXM" in capsys.readouterr().out
    assert file.read_text().startswith("<svg")
    assert run(["wall", "--class", "gpu"]) == 2
    assert "nvidia-hbm" in capsys.readouterr().err
    assert run(["wall", "--ridges-svg", str(tmp_path / "no" / "where.svg")]) == 2
