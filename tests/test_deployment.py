"""What a deployment refuses, by the field at fault."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.catalog.models import resolve_model
from advisor.catalog.names import UnknownNameError
from advisor.deployment import Deployment, DeploymentError, find_device, find_model, parse_sparsity
from advisor.quantity.scan import scan


@pytest.mark.parametrize(
    ("facts", "field", "told"),
    [
        ({"batch": 0}, "batch", "at least 1, not 0"),
        ({"batch": 2.5}, "batch", "whole number, not 2.5"),
        ({"batch": True}, "batch", "whole number, not True"),
        ({"context": -4}, "context", "at least 1, not -4"),
        ({"tensor_parallel": 2**41}, "tensor_parallel", "at most 1,099,511,627,776, not"),
        ({"pipeline_parallel": "2"}, "pipeline_parallel", "whole number, not '2'"),
    ],
)
def test_counts_that_cannot_be(facts: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(DeploymentError, match=told) as caught:
        Deployment("Llama-3.1-8B", **facts)
    assert caught.value.field == field


def test_names_that_nobody_knows_come_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="H100"):
        find_device("H1000")
    with pytest.raises(UnknownNameError, match=r"Llama-3\.1-8B"):
        find_model("Lama-3.1-8B")


def test_a_share_of_zeros_is_below_one() -> None:
    with pytest.raises(DeploymentError, match="between 0 and 1, not 1"):
        parse_sparsity(1.0, "dense")


def test_only_attributes_evolve() -> None:
    with pytest.raises(TypeError, match="no attribute colour"):
        Deployment("Llama-3.1-8B").evolve(colour="red")


@pytest.mark.parametrize(
    ("name", "quantized_as"),
    [
        ("Llama-3.1-8B-Instruct-Q4_K_M.gguf", "q4_k_m"),
        ("Llama-3.1-8B-Instruct-AWQ", "int4-g128-asym"),
        ("Llama-3.1-8B-Instruct-GPTQ-Int8", "int8-g128"),
        ("Llama-3.1-8B-Instruct-FP8", "fp8"),
        ("Llama-3.1-8B-Instruct-4.25bpw-exl2", "4.25bpw"),
    ],
)
def test_names_of_checkpoints_state_their_format(name: str, quantized_as: str) -> None:
    match = resolve_model(name)
    assert match.candidates[0].endswith("Llama-3.1-8B-Instruct")
    assert match.quantized_as == quantized_as


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("two hundred tokens per second", 200.0),
        ("two hundred and twenty tokens per second", 220.0),
        ("thirty-five percent", 0.35),
        ("a third", 1 / 3),
        ("two thirds", 2 / 3),
    ],
)
def test_amounts_in_words(text: str, value: float) -> None:
    (found,) = scan(f"It saves {text}.")
    assert found.quantity.value == pytest.approx(value)


def test_an_amount_beyond_what_is_physical_is_none() -> None:
    assert scan("a model of 1e40 GB") == []
