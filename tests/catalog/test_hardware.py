import random
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog import compile as compiler
from advisor.catalog.hardware import (
    all_devices,
    device,
    parse_hardware,
    resolve_device,
    sources,
)
from advisor.catalog.models import resolve_model
from advisor.catalog.names import UnknownNameError

SOURCE = Path(compiler.__file__).with_name("hardware.yaml")
DATA = yaml.load(SOURCE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
ALIASES = [(alias, entry["id"]) for entry in DATA["devices"] for alias in entry["aliases"]]


def only(text: str) -> str:
    match = resolve_device(text)
    assert match.unique is not None, (text, match)
    return match.unique


def test_compiled_files_are_fresh() -> None:
    assert compiler.main(["--check"]) == 0


def test_stale_compiled_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiler, "compiled_files", lambda: {"hardware.json": b"{}"})
    monkeypatch.setattr(compiler, "FOLDER", tmp_path)
    assert compiler.main(["--check"]) == 1
    assert "hardware.json" in capsys.readouterr().err
    assert compiler.main([]) == 0
    assert compiler.main(["--check"]) == 0


def test_every_device_of_the_source_is_there_with_its_sources() -> None:
    assert len(all_devices()) == 287
    assert [entry.id for entry in all_devices()] == [entry["id"] for entry in DATA["devices"]]
    assert {key for entry in all_devices() for key in entry.source} <= sources().keys()
    assert {entry.confidence for entry in all_devices()} == {"high", "medium", "low"}


@pytest.mark.parametrize(
    ("name", "bandwidth_gbs", "dtype", "tflops", "ridge"),
    [
        # Vendor datasheets: bandwidth and dense matrix rate (headline halved where sparse).
        ("P100", 732, "fp16", 21.2, 29),
        ("V100 SXM2", 900, "fp16", 125, 139),
        ("T4", 320, "fp16", 65, 203),
        ("T4", 320, "int8", 130, 406),
        ("A100 SXM 80GB", 2039, "bf16", 312, 153),
        ("A100 SXM 80GB", 2039, "int8", 624, 306),
        ("A10", 600, "bf16", 125, 208),
        ("H100 SXM", 3350, "bf16", 989, 295),
        ("H100 SXM", 3350, "fp8", 1979, 591),
        ("H100 PCIe", 2039, "bf16", 756, 371),
        ("H20 96GB", 4000, "bf16", 148, 37),
        ("H200", 4800, "bf16", 989, 206),
        ("B200", 8000, "bf16", 2250, 281),
        ("B200", 8000, "fp4", 9000, 1125),
        ("L4", 300, "bf16", 121, 403),
        ("L40S", 864, "bf16", 362, 419),
        ("RTX 3090", 936, "fp16", 71, 76),
        ("RTX 4090", 1008, "bf16", 165, 164),
        ("RTX 5090", 1792, "bf16", 210, 117),
        ("MI300X", 5300, "bf16", 1307, 247),
        ("MI325X", 6000, "bf16", 1307, 218),
        ("TPU v5e", 819, "bf16", 197, 241),
        ("TPU v5p", 2765, "bf16", 459, 166),
        ("TPU v6e", 1638, "bf16", 918, 560),
        ("Trainium2", 2900, "bf16", 667, 230),
        ("M2 Ultra", 819.2, "fp16", 27.2, 33),
        ("Xeon 8480+", 307.2, "bf16", 115, 373),
    ],
)
def test_datasheet_figures(
    name: str, bandwidth_gbs: float, dtype: str, tflops: float, ridge: float
) -> None:
    known = device(only(name))
    peak, point = known.peak_flops(dtype), known.ridge(dtype)
    assert peak is not None
    assert point is not None
    assert known.bandwidth_gbs == pytest.approx(bandwidth_gbs, rel=0.002)
    assert peak / 1e12 == pytest.approx(tflops, rel=0.006)
    assert point == pytest.approx(ridge, rel=0.01)


@pytest.mark.parametrize(
    ("name", "dtype", "same_as"),
    [
        ("V100 SXM2", "bf16", "fp16"),
        ("A100 SXM 80GB", "fp8", "bf16"),
        ("A100 SXM 80GB", "fp4", "bf16"),
        ("H100 SXM", "fp4", "fp8"),
        ("H100 SXM", "int4", "int8"),
        ("GTX 1080", "bf16", "fp32"),
        ("T4", "fp8", "fp16"),
    ],
)
def test_missing_formats_run_in_the_fastest_wider_one(name: str, dtype: str, same_as: str) -> None:
    known = device(only(name))
    own = known.tflops_dense[same_as]
    assert own is not None
    assert known.tflops_dense.get(dtype) is None
    assert known.peak_flops(dtype) == own * 1e12


def test_unknown_peak_stays_unknown() -> None:
    known = device("raspberry-pi-5")
    assert known.peak_flops("bf16") is None
    assert known.ridge("bf16") is None


def test_memory_labels_are_binary_for_dram_and_decimal_for_sram() -> None:
    h100, l4, wafer = device(only("H100 SXM")), device(only("L4")), device(only("WSE-3"))
    assert h100.memory_bytes == 85_899_345_920  # 80 * 2^30
    assert h100.usable_memory_bytes == 84_181_359_002  # 98 % of it
    assert l4.usable_memory_bytes == pytest.approx(0.93 * 24 * 2**30, abs=1)  # inline ECC
    assert wafer.memory_bytes == 44_000_000_000


def test_nvlink_is_printed_both_ways_together() -> None:
    assert device(only("H100 SXM")).interconnect_gbs == 900
    assert device(only("H100 SXM")).interconnect_one_way_gbs == 450
    assert device(only("TPU v4")).interconnect_one_way_gbs == 300  # the docs print one way here
    assert device(only("RTX 4090")).interconnect_one_way_gbs is None


@pytest.mark.parametrize(
    ("name", "hardware_class", "generation"),
    [
        ("A100 SXM 80GB", "nvidia-hbm", "ampere"),
        ("RTX A6000", "nvidia-gddr", "ampere"),
        ("GH200 96GB", "nvidia-hbm", "hopper"),
        ("RTX 4090", "nvidia-gddr", "ada"),
        ("Jetson AGX Orin 64GB", "jetson", "ampere"),
        ("DGX Spark", "nvidia-soc", "blackwell"),
        ("M4", "apple-base", "m4"),
        ("M1 Max", "apple-pro-max", "m1"),
        ("M3 Max 40-core", "apple-pro-max", "m3"),
        ("M2 Pro", "apple-pro-max", "m2"),
        ("M2 Ultra", "apple-ultra", "m2"),
        ("MI300X", "amd-hbm", "cdna 3"),
        ("RX 7900 XTX", "amd-gddr", "rdna 3"),
        ("Strix Halo", "strix-halo", "rdna 3.5"),
        ("Radeon 780M", "amd-soc", "rdna 3"),
        ("Arc B580", "intel-gddr", "xe2"),
        ("Data Center GPU Max 1550", "intel-hbm", "xe-hpc"),
        ("Iris Xe", "intel-soc", "xe-lp"),
        ("EPYC 9654", "cpu", "zen 4"),
        ("TPU v5e", "tpu", "tpu v5e"),
        ("Gaudi 3", "asic", "gaudi 3"),
        ("Groq LPU", "sram", "tsp"),
    ],
)
def test_classes_for_pooling(name: str, hardware_class: str, generation: str) -> None:
    known = device(only(name))
    assert (known.hardware_class, known.generation) == (hardware_class, generation)


def test_bare_a100_keeps_its_four_candidates_most_usual_first() -> None:
    match = resolve_device("A100")
    assert match.candidates == (
        "nvidia-a100-sxm-80gb",
        "nvidia-a100-sxm-40gb",
        "nvidia-a100-pcie-80gb",
        "nvidia-a100-pcie-40gb",
    )
    assert "1935" in match.differ
    assert match.unique is None


@pytest.mark.parametrize("row", DATA["ambiguous"], ids=lambda row: row["alias"])
def test_ambiguous_names_keep_their_candidates(row: dict[str, object]) -> None:
    match = resolve_device(str(row["alias"]))
    assert list(match.candidates) == row["candidates"]
    assert match.differ


def test_every_alias_name_and_id_resolves_to_its_device_alone() -> None:
    for alias, identifier in ALIASES:
        assert resolve_device(alias).candidates == (identifier,), alias
        assert resolve_device(alias).exact
    for entry in all_devices():
        assert resolve_device(entry.name).candidates == (entry.id,), entry.name
        assert resolve_device(entry.id).candidates == (entry.id,)


@given(st.sampled_from(ALIASES), st.randoms(use_true_random=False), st.sampled_from(" -_,"))
def test_case_punctuation_and_word_order_do_not_matter(
    pair: tuple[str, str], chance: random.Random, separator: str
) -> None:
    alias, identifier = pair
    parts = re.sub(r"(?<=[A-Za-z])-(?=\D)", " ", alias).replace("/", " ").split()
    chance.shuffle(parts)
    written = "".join(chance.choice((c.upper(), c.lower())) for c in separator.join(parts))
    assert resolve_device(written).candidates == (identifier,)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("NVIDIA A100-SXM4-80GB", "nvidia-a100-sxm-80gb"),
        ("a100 80 GB sxm", "nvidia-a100-sxm-80gb"),
        ("A100-80G SXM4", "nvidia-a100-sxm-80gb"),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-sxm"),
        ("NVIDIA GeForce RTX™ 4090 24GB GDDR6X", "nvidia-rtx-4090"),
        ("RTX4070TiSuper", "nvidia-rtx-4070-ti-super"),
        ("RTX A6000 48GB", "nvidia-rtx-a6000"),
        ("L40S 48GB PCIe", "nvidia-l40s"),
        ("L40s", "nvidia-l40s"),
        ("HGX A100 80GB", "nvidia-a100-sxm-80gb"),
        ("Intel(R) Xeon(R) Platinum 8480+", "intel-xeon-8480plus"),
        ("AMD Radeon RX 7900 XTX", "amd-rx-7900-xtx"),
        ("MI-300X", "amd-mi300x"),
        ("Apple M2 Ultra 76-core GPU 192GB", "apple-m2-ultra"),
        ("Mac Studio (M3 Ultra, 512 GB)", "apple-m3-ultra"),
        ("MacBook Pro M4 Max 128GB", "apple-m4-max-40c"),
        ("Intel 13900K (Nvidia 4090)", "nvidia-rtx-4090"),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "amd-strix-halo"),
        ("B200 192GB", "nvidia-b200"),
        ("h100_sxm", "nvidia-h100-sxm"),
        ("rtx_pro_6000_server", "nvidia-rtx-pro-6000-server"),
    ],
)
def test_names_as_people_write_them(text: str, identifier: str) -> None:
    assert only(text) == identifier


@pytest.mark.parametrize(
    "text",
    [
        "70B", "gpu", "H1000", "H100 40GB", "RTX 4090 48GB", "RTX 4090 SXM", "H200 PCIe", "2x24GB",
        "2 GPUs", "CPU", "phone", "various", "Tensor Core GPU", "H100 vs A100", "A100, H100",
        "A6000 Ada", "H100 (40 GB)", "H100, 40GB", "unstated", "Xeon", "", "  ",
        "Llama-3.1-8B", "A100-H100",
    ],
)  # fmt: skip
def test_what_names_no_device_matches_nothing(text: str) -> None:
    assert not parse_hardware(text).match.found


def test_unknown_names_come_with_the_nearest_known_ones() -> None:
    assert "H100" in resolve_device("H1000").nearest
    assert "RTX 4090" in parse_hardware("2 x RTX 4091").match.nearest
    with pytest.raises(UnknownNameError, match=r"unknown hardware 'nvidia-h100'.*H100"):
        device("nvidia-h100")


@pytest.mark.parametrize(
    ("text", "count", "first"),
    [
        ("H100 SXM", 1, "nvidia-h100-sxm"),
        ("2 x H100 SXM", 2, "nvidia-h100-sxm"),
        ("8xH100", 8, "nvidia-h100-sxm"),
        ("8 × H100 SXM5 80GB", 8, "nvidia-h100-sxm"),
        ("2x RTX 4090", 2, "nvidia-rtx-4090"),
        ("H100 x2", 2, "nvidia-h100-sxm"),
        ("H100 SXM (x8)", 8, "nvidia-h100-sxm"),
        ("4 H100", 4, "nvidia-h100-sxm"),
        ("8 H100s", 8, "nvidia-h100-sxm"),
        ("4090 24GB * 2", 2, "nvidia-rtx-4090"),
        ("dual RTX 3090", 2, "nvidia-rtx-3090"),
        ("a single T4", 1, "nvidia-t4"),
        ("A100 SXM 80GB, 8 GPUs", 8, "nvidia-a100-sxm-80gb"),
        ("8-GPU H100", 8, "nvidia-h100-sxm"),
        ("4 x 4090", 4, "nvidia-rtx-4090"),
        ("16 MI300X", 16, "amd-mi300x"),
        # Names that begin or end like a count.
        ("7900 XTX", 1, "amd-rx-7900-xtx"),
        ("dual-channel DDR5-5600", 1, "generic-desktop-ddr5-2ch"),
        ("8-channel DDR4-3200", 1, "generic-server-ddr4-8ch"),
        # Cloud instances hold several devices.
        ("p5.48xlarge", 8, "nvidia-h100-sxm"),
        ("2 x p5.48xlarge", 16, "nvidia-h100-sxm"),
        ("g5.12xlarge", 4, "nvidia-a10g"),
        ("g5.xlarge", 1, "nvidia-a10g"),
        ("a2-highgpu-4g", 4, "nvidia-a100-sxm-40gb"),
        ("Standard_ND96isr_H100_v5", 8, "nvidia-h100-sxm"),
    ],
)
def test_counts_are_split_off(text: str, count: int, first: str) -> None:
    found = parse_hardware(text)
    assert (found.devices, found.match.candidates[0]) == (count, first)


@given(st.text(max_size=300))
def test_no_text_breaks_the_matching(text: str) -> None:
    found = parse_hardware(text)
    assert found.devices >= 1
    assert all(device(identifier) for identifier in found.match.candidates)


def test_a_name_of_two_devices_is_refused_by_the_compiler() -> None:
    text = SOURCE.read_text(encoding="utf-8").replace('"L20"]', '"L20", "L4"]')
    with pytest.raises(compiler.CatalogError, match="L4"):
        compiler.compile_hardware(text)


@pytest.mark.parametrize("text", [" " * 100_000, "8 x " * 50_000, "H100 " + "gpu " * 50_000])
def test_a_text_too_long_for_a_name_is_none(text: str) -> None:
    assert not parse_hardware(text).match.found
    assert not resolve_device(text).found
    assert not resolve_model(text).found
