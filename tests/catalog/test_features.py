"""What parts, kernels and engines support, against what their makers publish."""

from __future__ import annotations

import pytest

from advisor.catalog.device import Device
from advisor.catalog.engines import resolve_engine
from advisor.catalog.features import (
    absence,
    break_even,
    capability_of,
    is_default,
    kernel_named,
    multiplies,
    small_m_kernel,
)
from advisor.deployment import find_device


def part(name: str) -> Device:
    return find_device(name)[1]


@pytest.mark.parametrize(
    ("name", "fp8", "fp4"),
    [
        ("A100 80GB SXM", False, False),
        ("L40S", True, False),
        ("H100 SXM", True, False),
        ("B200", True, True),
    ],
)
def test_formats_that_matrix_units_multiply(name: str, fp8: bool, fp4: bool) -> None:
    assert multiplies(part(name), "fp8") is fp8
    assert multiplies(part(name), "fp4") is fp4


def test_what_nobody_lists_is_not_known() -> None:
    assert capability_of(part("M2 Ultra")) is None
    assert multiplies(part("M2 Ultra"), "fp4") is None
    assert kernel_named("my own attention") is None
    assert kernel_named("alfa2 attention") is None
    assert break_even("block") is None


@pytest.mark.parametrize(
    ("kernel", "hardware", "runs"),
    [
        ("FlashAttention-3", "H100 SXM", True),
        ("FlashAttention 3", "A100 80GB SXM", False),
        ("FA3", "B200", False),
        ("flash-attn-2", "A100 80GB SXM", True),
        ("FA2", "T4", False),
        ("Marlin", "A100 80GB SXM", True),
        ("Machete", "A100 80GB SXM", False),
        ("FlashAttention-3", "MI300X", None),
    ],
)
def test_architectures_of_kernels(kernel: str, hardware: str, runs: bool | None) -> None:
    found = kernel_named(kernel)
    assert found is not None
    assert found.runs_on(part(hardware)) is runs
    assert found.source.startswith("https://")


@pytest.mark.parametrize(
    ("name", "made_for_it"),
    [
        ("to_sparse_semi_structured", False),
        ("SparseSemiStructuredTensor", False),
        ("cuSPARSELt", False),
        ("sparse-marlin", True),
        ("torchao MarlinSparseLayout", True),
        ("CUTLASS", True),
    ],
)
def test_kernels_of_2_4_by_the_rows_they_are_made_for(name: str, made_for_it: bool) -> None:
    found = small_m_kernel(name)
    assert found is not None
    assert found.made_for_it is made_for_it


@pytest.mark.parametrize(
    ("version", "feature", "sure"),
    [
        ("0.24.0", "sparse-24", True),
        ("0.19.1", "sparse-24", True),
        ("0.19.0", "sparse-24", None),
        ("0.8.5", "sparse-24", None),
        ("0.8.5", "sparse-24-16-bit", True),
        ("0.6.3", "sparse-24-16-bit", None),
        (None, "sparse-24", False),
        ("0.10.2", "draft-model", True),
        ("0.12.0", "draft-model", None),
        ("0.24.0", "sparse-unstructured", True),
        (None, "sparse-unstructured", True),
    ],
)
def test_features_that_vllm_lacks(version: str | None, feature: str, sure: bool | None) -> None:
    found = absence(resolve_engine("vllm", version), feature)
    assert (None if found is None else found[1]) is sure


def test_defaults_of_engines() -> None:
    assert is_default(resolve_engine("vllm"), "cuda_graphs")
    assert is_default(resolve_engine("vllm", "0.8.5"), "prefix_cache")
    assert not is_default(resolve_engine("vllm", "0.6.0"), "prefix_cache")
    assert not is_default(resolve_engine("transformers"), "cuda_graphs")


def test_break_evens_of_kernels() -> None:
    bitmap = break_even("bitmap")
    assert bitmap is not None
    assert (bitmap.sparsity, bitmap.tokens) == (0.30, 32)
