"""What checkpoints of Llama-3.1-8B say of their quantization, by the tools' own documentation."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.catalog.models import load_config
from advisor.ledger.architecture import UnsupportedModelError, read_architecture

LINEARS = frozenset({"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"})


def formats(config: dict[str, Any]) -> dict[str, set[str | None]]:
    """Formats by tensor name, over all layers and outside them."""
    given = {**load_config("meta-llama/Meta-Llama-3.1-8B"), "quantization_config": config}
    model = read_architecture(given, name="model")
    found: dict[str, set[str | None]] = {}
    for tensors in (model.tensors, *(layer.tensors for layer in model.layers)):
        for tensor in tensors:
            found.setdefault(tensor.name, set()).add(tensor.stored_as)
    return found


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"quant_method": "torchao", "quant_type": "int4_weight_only",
          "quant_type_kwargs": {"group_size": 64}}, "int4-g64"),
        ({"quant_method": "torchao", "quant_type": "int8_weight_only"}, "int8"),
        ({"quant_method": "torchao", "quant_type": "int8_dynamic_activation_int8_weight"}, "int8"),
        ({"quant_method": "torchao", "quant_type": {"default": {
          "_type": "Float8DynamicActivationFloat8WeightConfig", "_data": {}}}}, "fp8-channel"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8-bnb"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True,
          "bnb_4bit_use_double_quant": True}, "nf4-dq"),
        ({"quant_method": "fbgemm_fp8"}, "fp8-channel"),
        ({"quant_method": "exl2", "bits": 4.25}, "4.25bpw"),
        # Exported by llm-compressor without the method's name.
        ({"config_groups": {"g": {"targets": ["Linear"], "weights": {
          "num_bits": 8, "type": "float", "strategy": "channel"}}}}, "fp8-channel"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {
          "targets": ["Linear"], "weights": {"num_bits": 8, "type": "int",
          "strategy": "channel"}}}}, "int8-sym"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {
          "targets": ["Linear"], "weights": {"num_bits": 4, "type": "float",
          "strategy": "group", "group_size": 32}}}}, "mxfp4"),
    ],
)  # fmt: skip
def test_linears_are_stored_as_the_config_says(config: dict[str, Any], expected: str) -> None:
    found = formats(config)
    stored = {form for name in LINEARS for form in found[name]}
    assert {str(form).removesuffix("-sym") for form in stored} == {expected.removesuffix("-sym")}
    assert found["embed_tokens"] == {None}
    assert found["input_norm"] == {None}


def test_gptq_models_leave_out_and_change_modules_by_pattern() -> None:
    found = formats(
        {
            "quant_method": "gptq", "bits": 4, "group_size": 128,
            "dynamic": {r"-:.*self_attn.*": {}, r"+:.*down_proj.*": {"bits": 8, "group_size": 32}},
        }
    )  # fmt: skip
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        assert found[name] == {None}
    assert found["down_proj"] == {"int8-g32-asym"}
    assert found["up_proj"] == {"int4-g128-asym"}


def test_a_gptq_head_is_covered_where_the_config_says_so() -> None:
    config = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    assert formats(config)["lm_head"] == {None}
    assert formats({**config, "lm_head": True})["lm_head"] == {"int4-g128-asym"}


def test_groups_of_modules_have_their_own_schemes() -> None:
    four = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}
    eight = {"num_bits": 8, "type": "int", "strategy": "channel"}
    found = formats(
        {
            "quant_method": "compressed-tensors",
            "ignore": ["lm_head"],
            "config_groups": {
                "a": {"targets": ["Linear"], "weights": four},
                "b": {"targets": ["re:.*down_proj"], "weights": eight},
                "activations": {"targets": ["re:.*norm"], "weights": None},
            },
        }
    )
    assert found["up_proj"] == {"int4-g128"}
    assert {str(form).removesuffix("-sym") for form in found["down_proj"]} == {"int8"}


def test_mlx_covers_embeddings_and_names_exceptions() -> None:
    config: dict[str, Any] = {"bits": 4, "group_size": 64}
    found = formats(config)
    assert found["embed_tokens"] == found["up_proj"] == {"int4-g64"}
    found = formats(
        {**config, "model.layers.0.mlp.down_proj": {"bits": 8, "group_size": 64},
         "model.layers.1.mlp.down_proj": False, "lm_head": False}
    )  # fmt: skip
    assert found["down_proj"] == {"int4-g64", "int8-g64", None}
    assert found["lm_head"] == {None}
    assert formats({"bits": 4, "group_size": 32, "mode": "mxfp4"})["up_proj"] == {"mxfp4"}


def test_modelopt_names_a_format_a_module() -> None:
    found = formats(
        {
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {
                **{f"model.layers.{i}.mlp.up_proj": {"quant_algo": "FP8"} for i in range(32)},
                "model.layers.0.mlp.down_proj": {"quant_algo": "W4A16_AWQ", "group_size": 128},
                "model.layers.1.mlp.down_proj": {"quant_algo": None},
            },
        }
    )
    assert found["up_proj"] == {"fp8"}
    assert found["down_proj"] == {"int4-g128", None}
    assert found["gate_proj"] == {None}


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"quant_method": "bitsandbytes"}, "load_in_4bit"),
        ({"quant_method": "torchao", "quant_type": "int3_magic"}, "quant_type"),
        ({"quant_method": "exl2", "bits": 40}, "bits"),
        ({"quant_method": "exl2", "bits": "four"}, "bits"),
        ({"quant_method": "hqq", "quant_config": {}}, "quant_config"),
        ({"quant_method": "quanto", "weights": "int3"}, "weights"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": 4}}, "config_groups"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": 4}}},
         "config_groups.g"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {"weights":
          {"num_bits": 5, "type": "float", "strategy": "channel"}}}}, "strategy"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {"weights":
          {"num_bits": 4, "type": "int", "strategy": "spiral"}}}}, "strategy"),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.0.mlp.up_proj": 4}},
         "quantized_layers"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_by_its_key(config: dict[str, Any], key: str) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        formats(config)
    assert str(caught.value.key).startswith("quantization_config")
    assert str(caught.value.key).endswith(key)
