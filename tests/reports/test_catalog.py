from __future__ import annotations

import json
from typing import Any

import pytest

from advisor.catalog.hardware import all_devices
from advisor.catalog.models import model_names
from advisor.levers import LEVERS
from advisor.reports.catalog import CATALOGS, catalog_json, catalog_text
from advisor.reports.style import Style, columns


def entries(name: str, words: str = "") -> list[dict[str, Any]]:
    whole = json.loads(catalog_json(name, words))
    assert (whole["version"], whole["catalog"]) == (1, name)
    found: list[dict[str, Any]] = whole["entries"]
    return found


def test_nothing_is_left_out() -> None:
    assert [entry["id"] for entry in entries("hardware")] == [one.id for one in all_devices()]
    assert [entry["name"] for entry in entries("models")] == list(model_names())
    assert [entry["kind"] for entry in entries("levers")] == list(LEVERS)


@pytest.mark.parametrize("name", CATALOGS)
def test_the_table_has_a_row_for_each_entry(name: str) -> None:
    lines = catalog_text(name, "", Style(), fit=False).split("\n\n")[0].splitlines()
    assert len(lines) == len(entries(name)) + 1


def test_a_device_is_told_with_units_confidence_and_source() -> None:
    [entry] = [one for one in entries("hardware", "h100 sxm") if one["name"] == "H100 SXM"]
    assert entry["bandwidth_gbs"] == 3350
    assert entry["memory_bytes"] == 80 * 2**30
    assert entry["ridge_bf16"] == pytest.approx(295, abs=1)
    assert entry["confidence"] == "high"
    assert entry["source"]
    row = next(
        line for line in catalog_text("hardware", "h100 sxm", Style(), fit=False).splitlines()
        if line.startswith("H100 SXM ")
    )  # fmt: skip
    assert {"80", "3,350", "295", "high"} <= set(row.split())


def test_a_device_without_bf16_shows_its_16_bit_rate() -> None:
    [row] = [
        line for line in catalog_text("hardware", "t4", Style(), fit=False).splitlines()
        if line.startswith("T4 ")
    ]  # fmt: skip
    assert row.split()[1:4] == ["16", "320", "65"]


def test_words_of_a_filter_stand_in_any_order_and_in_aliases() -> None:
    names = {entry["name"] for entry in entries("hardware", "SXM h100")}
    assert "H100 SXM" in names
    assert {entry["kind"] for entry in entries("levers", "prune.heads.mask")} == {"prune"}
    assert catalog_text("hardware", "no such thing", Style(), fit=False) == ""


def test_a_table_is_cut_to_a_terminal_only() -> None:
    wide = catalog_text("models", "", Style(width=80), fit=False)
    cut = catalog_text("models", "", Style(width=80), fit=True)
    assert max(map(columns, wide.splitlines())) > 80
    assert max(map(columns, cut.splitlines()[1:])) <= 80
