"""Stored bits of formats and sparse storages against the published layouts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.ledger.formats import (
    FORMATS,
    STORAGES,
    UnknownFormatError,
    known_formats,
    parse_format,
    parse_storage,
)

BITS = {
    "bf16": 16, "fp16": 16, "fp32": 32, "fp8": 8, "mxfp8": 8.25, "mxfp4": 4.25, "nvfp4": 4.5,
    "fp8-block128": 8.001953125, "nf4": 4.5, "nf4-dq": 4.126953125,
    "int4": 4.125, "int4-g128": 4.125, "AWQ": 4.15625, "GPTQ": 4.15625,
    "int4-g128-asym": 4.15625, "int4-g64": 4.5, "int4-g32": 5.0, "W4A16": 4.125,
    "Q4_0": 4.5, "Q4_1": 5, "Q5_0": 5.5, "Q5_1": 6, "Q8_0": 8.5, "Q2_K": 2.625,
    "Q3_K": 3.4375, "Q4_K": 4.5, "Q5_K": 5.5, "Q6_K": 6.5625, "IQ1_S": 1.5625, "IQ1_M": 1.75,
    "IQ2_XXS": 2.0625, "IQ2_XS": 2.3125, "IQ2_S": 2.5625, "IQ3_XXS": 3.0625, "IQ3_S": 3.4375,
    "IQ4_XS": 4.25, "IQ4_NL": 4.5, "TQ1_0": 1.6875, "TQ2_0": 2.0625, "4.65bpw": 4.65,
}  # fmt: skip


@pytest.mark.parametrize(("name", "bits"), BITS.items())
def test_bits_per_weight(name: str, bits: float) -> None:
    assert parse_format(name).bits == bits


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("int8", "int8"), ("W8A8", "int8"), ("load_in_8bit", "int8"), ("8-bit", "int8"),
        ("fp8_e4m3", "fp8"), ("float8_e4m3fn", "fp8"), ("FP8 dynamic", "fp8"),
        ("4bit", "int4"), ("w4a16", "int4"), ("Q4_K_M", "int4"), ("HQQ", "int4"),
        ("bnb-4bit", "nf4"), ("nf4", "nf4"), ("modelopt_fp4", "fp4"), ("NVFP4", "fp4"),
        ("int3", "int3"), ("2-bit", "int2"), ("1.58bit", "int1"), ("half", "fp16"),
        ("bfloat16", "fp16"),
    ],
)  # fmt: skip
def test_names_as_people_write_them(text: str, kind: str) -> None:
    assert parse_format(text).kind == kind


@pytest.mark.parametrize("text", ["", "int", "int9", "4", "q4_z", "fp7", "bitty", "int4-g0", "-4"])
def test_unknown_names_are_refused(text: str) -> None:
    with pytest.raises(UnknownFormatError):
        parse_format(text)


def test_a_slip_names_its_neighbour() -> None:
    with pytest.raises(UnknownFormatError, match="mxfp4"):
        parse_format("mxfp44")


def test_q4_k_m_gives_half_the_value_and_down_projections_more_bits() -> None:
    # llama.cpp: the first and last eighth and every third layer between: 16 of 32 layers.
    mix = parse_format("Q4_K_M", 32).mix
    assert mix is not None
    assert mix["down_proj"] == pytest.approx(4.5 + 0.5 * (6.5625 - 4.5))
    assert mix["lm_head"] == 6.5625
    assert "gate_proj" not in mix


@pytest.mark.parametrize(
    ("storage", "bits", "sparsity"),
    [
        # Sparsity at which the stored form has the dense bytes.
        ("bitmap", 16, 1 / 16), ("bitmap", 8, 1 / 8), ("bitmap", 4, 1 / 4),
        ("csr16", 16, 1 / 2), ("csr16", 8, 2 / 3), ("csr16", 4, 4 / 5),
        ("csr32", 16, 2 / 3), ("csr32", 8, 4 / 5), ("csr32", 4, 8 / 9),
        ("tiled-csl", 16, 1 / 2),
    ],
)  # fmt: skip
def test_break_even_sparsity(storage: str, bits: float, sparsity: float) -> None:
    assert STORAGES[storage].bits(bits, 1 - sparsity) == pytest.approx(bits)


@pytest.mark.parametrize(("bits", "ratio"), [(16, 0.5625), (8, 0.625), (4, 0.75)])
def test_packed_2_4(bits: float, ratio: float) -> None:
    assert STORAGES["2:4-packed"].bits(bits, 0.5) == bits * ratio


def test_macko_at_half_is_ten_bits() -> None:
    assert STORAGES["macko"].bits(16, 0.5) == pytest.approx(10, abs=0.001)


@pytest.mark.parametrize(
    ("text", "name"),
    [("SpInfer", "bitmap"), ("CSR", "csr32"), ("marlin_24", "2:4-packed"), ("zeros", "dense")],
)
def test_storage_names(text: str, name: str) -> None:
    assert parse_storage(text).name == name


def test_every_known_format_reads_back_by_its_name() -> None:
    for form in known_formats():
        assert parse_format(form.name).bits == form.bits


@given(st.text(max_size=30))
def test_any_text_reads_or_is_refused(text: str) -> None:
    try:
        form = parse_format(text)
    except UnknownFormatError:
        return
    assert 0.5 <= form.bits <= 32
    assert form.name in FORMATS or form.element_bits <= form.bits + 0.5
