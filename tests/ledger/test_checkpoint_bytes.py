"""Bytes on disk and formats by tensor, against published checkpoint sizes and dtype maps."""

from __future__ import annotations

from collections import Counter
from math import ceil, prod
from typing import Any

import pytest

from advisor.catalog.models import load_config
from advisor.ledger.architecture import UnsupportedModelError, read_architecture
from advisor.ledger.shapes import Architecture, Component, Tensor, Use
from advisor.ledger.stored import checkpoint_bytes, tensor_bytes

LLAMA_70B = "meta-llama/Llama-3.1-70B-Instruct"
LLAMA_8B = "meta-llama/Llama-3.1-8B-Instruct"


def read(name: str, **changes: object) -> Architecture:
    return read_architecture({**load_config(name), **changes}, name=name)


def by_format(model: Architecture) -> Counter[str | None]:
    found: Counter[str | None] = Counter()
    groups = [(model.tensors, 1), *((layer.tensors, layer.count) for layer in model.layers)]
    for tensors, count in groups:
        for tensor in tensors:
            if tensor.use is not Use.BUFFER:
                found[tensor.stored_as] += tensor.elements * count
    return found


# Sizes as the repositories' indexes and dtype maps state them.
@pytest.mark.parametrize(
    ("name", "size"),
    [
        (LLAMA_8B, 16_060_522_496),
        (LLAMA_70B, 141_107_412_992),
        ("Qwen/Qwen3-8B", 16_381_470_720),
        ("Qwen/Qwen-72B", 144_575_840_256),
        ("Qwen/Qwen2.5-7B-Instruct", 15_231_233_024),
        ("Qwen/Qwen3-30B-A3B", 61_064_245_248),
        ("alpindale/WizardLM-2-8x22B", 281_241_268_224),
        ("bigscience/bloom", 352_494_542_848),
        ("google/medgemma-27b-it", 54_864_813_280),
        ("mistralai/Devstral-Small-2507", 47_144_806_400),
        ("openai/gpt-oss-20b", 13_761_264_768),
        ("openai/gpt-oss-120b", 65_248_815_744),
        ("Qwen/Qwen3-32B-FP8", 34_322_434_048),
        ("deepseek-ai/DeepSeek-V3", 688_574_839_360),
    ],
)
def test_checkpoint_sizes_to_the_byte(name: str, size: int) -> None:
    assert checkpoint_bytes(read(name)) == size


def test_falcon_stores_its_tied_head_once_more() -> None:
    model = read("tiiuae/falcon-180B-chat")
    assert checkpoint_bytes(model, head_stored=True) == 359_045_130_240


def test_awq_of_llama_70b_to_the_byte() -> None:
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
    model = read(LLAMA_70B, quantization_config=awq)
    assert checkpoint_bytes(model) == 39_767_785_472
    assert model.quantization == "int4-g128-asym"


def test_deepseek_v3_by_dtype() -> None:
    # the host's dtype map: F8_E4M3 680,571,043,840, BF16 3,918,786,560, F32 41,555,600
    model = read("deepseek-ai/DeepSeek-V3")
    assert by_format(model) == {"fp8-block128": 680_571_043_840, None: 3_918_786_560}


# The published total of an FP8 repository counts its block scales.
@pytest.mark.parametrize(
    ("name", "scales"),
    [
        ("Qwen/Qwen3-8B-FP8", 423_936),
        ("Qwen/Qwen3-32B-FP8", 1_904_640),
        ("Qwen/Qwen3-30B-A3B-FP8", 1_824_768),
        ("Qwen/Qwen3-235B-A22B-FP8", 14_269_952),
        ("MiniMaxAI/MiniMax-M2.5", 13_880_064),
        ("deepseek-ai/DeepSeek-V3", 41_540_496),
        # gap of 9,998,824,800 less the MTP layer 9,952,920,320 and 76 x 256 router biases
        ("zai-org/GLM-5-FP8", 9_998_824_800 - 9_952_920_320 - 76 * 256),
    ],
)
def test_block_scales_are_counted_by_whole_blocks(name: str, scales: int) -> None:
    model = read(name)
    groups = [(model.tensors, 1), *((layer.tensors, layer.count) for layer in model.layers)]
    blocks = sum(
        count * tensor.count * prod(tensor.shape[:-2])
        * ceil(tensor.shape[-2] / 128) * ceil(tensor.shape[-1] / 128)
        for tensors, count in groups
        for tensor in tensors
        if tensor.stored_as == "fp8-block128"
    )  # fmt: skip
    assert blocks == scales


# HF's total of these repositories counts two packed values once and no scales: it is short by
# half of what is quantized, and so tells which part that is.
@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("nvidia/GLM-5.1-NVFP4", 362_387_865_600),
        ("nvidia/Gemma-4-26B-A4B-NVFP4", 11_418_992_640),
        ("nvidia/Gemma-4-31B-IT-NVFP4", 10_404_495_360),
        ("nvidia/MiniMax-M2.5-NVFP4", 112_340_238_336),
        ("nvidia/MiniMax-M2.7-NVFP4", 112_340_238_336),
        # 57 x 128 router biases are counted besides
        ("nvidia/MiniMax-M3-NVFP4", 206_561_076_096 + 57 * 128),
        ("nvidia/Qwen3.5-122B-A10B-NVFP4", 57_982_058_496),
        ("nvidia/Qwen3.6-27B-NVFP4", 9_192_079_360),
        ("nvidia/Qwen3.6-35B-A3B-NVFP4", 16_423_321_600),
    ],
)
def test_lists_of_modules_say_what_is_quantized(name: str, short: int) -> None:
    assert by_format(read(name))["nvfp4"] == 2 * short


def test_scales_of_qwen3_235b_nvfp4_are_counted_with_its_total() -> None:
    # there the total counts the scales of 16 values each: short by 1/2 - 1/16
    quantized = by_format(read("nvidia/Qwen3-235B-A22B-NVFP4"))["nvfp4"]
    assert quantized // 2 - quantized // 16 == 102_287_015_936


def formats(config: dict[str, Any], name: str = LLAMA_8B) -> dict[str, set[str | None]]:
    """Formats by tensor name, over all layers and outside them."""
    model = read(name, quantization_config=config)
    found: dict[str, set[str | None]] = {}
    for tensors in (model.tensors, *(layer.tensors for layer in model.layers)):
        for tensor in tensors:
            found.setdefault(tensor.name, set()).add(tensor.stored_as)
    return found


WEIGHTS = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True}


@pytest.mark.parametrize(
    ("config", "format_name"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "int4-g128-asym"),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "int8"),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, "int4-g64-asym"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "nf4"),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True,
             "bnb_4bit_use_double_quant": True},
            "nf4-dq",
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8-bnb"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8-block128"),
        ({"quant_method": "fp8", "activation_scheme": "static"}, "fp8"),
        ({"quant_method": "fbgemm_fp8"}, "fp8-channel"),
        ({"config_groups": {"group_0": {"weights": WEIGHTS, "targets": ["Linear"]}},
          "quant_method": "compressed-tensors"}, "int4-g32-sym"),
        ({"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}, "nvfp4"),
        ({"quantization": {"quant_algo": "FP8"}}, "fp8"),
        ({"quant_algo": "W4A16_AWQ", "group_size": 64}, "int4-g64-sym"),
        ({"quant_method": "hqq", "quant_config": {"weight_quant_params":
            {"nbits": 4, "group_size": 64}}}, "int4-g64"),
        ({"quant_method": "torchao", "quant_type": {"default": {
            "_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}}, "int4-g128-zp"),
        ({"quant_method": "exl2", "bits": 4.25}, "4.25bpw"),
        ({"quant_method": "quanto", "weights": "int8"}, "int8"),
    ],
)  # fmt: skip
def test_methods_and_what_they_leave_wide(config: dict[str, Any], format_name: str) -> None:
    found = formats(config)
    for name in ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"):
        assert found[name] == {format_name}
    for name in ("embed_tokens", "lm_head", "input_norm", "final_norm"):
        assert found[name] == {None}


def test_mlx_quantizes_embeddings_and_head_too() -> None:
    found = formats({"bits": 4, "group_size": 64, "lm_head": {"bits": 8, "group_size": 64}})
    assert found["embed_tokens"] == found["q_proj"] == {"int4-g64"}
    assert found["lm_head"] == {"int8-g64"}
    assert found["input_norm"] == {None}


def test_gpt_oss_keeps_all_but_its_expert_matrices_wide() -> None:
    model = read("openai/gpt-oss-20b")
    for layer in model.layers:
        for tensor in layer.tensors:
            expert = tensor.component is Component.EXPERTS and not tensor.name.endswith(".bias")
            assert tensor.stored_as == ("mxfp4" if expert else None)


@pytest.mark.parametrize(
    ("kept", "wide", "layers"),
    [
        (["model.layers.0"], set(), [1, 31]),
        (["model.layers.0*"], set(), [1, 31]),  # layer 0 alone: no other number starts with 0
        (["model.layers.1*"], set(), [21, 11]),  # 0, 2-9, 20-31 | 1, 10-19
        (["model.layers.1.*"], set(), [31, 1]),
        (["re:.*\\.layers\\.(0|31)\\..*"], set(), [2, 30]),
        (["self_attn"], {"q_proj", "k_proj", "v_proj", "o_proj"}, [32]),
        (["model.layers.*.self_attn"], {"q_proj", "k_proj", "v_proj", "o_proj"}, [32]),
        (["re:.*self_attn.*"], {"q_proj", "k_proj", "v_proj", "o_proj"}, [32]),
        (["re:.*(q|k)_proj$"], {"q_proj", "k_proj"}, [32]),
        (["re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
         {"gate_proj", "up_proj", "down_proj"}, [32]),
        (["*.mlp.down_proj"], {"down_proj"}, [32]),
        (["model.layers.5.mlp.down_proj"], set(), [31, 1]),
        (["vision_tower", "lm_head", "gate"], set(), [32]),
    ],
)  # fmt: skip
def test_kept_modules_by_name_wildcard_and_regex(
    kept: list[str], wide: set[str], layers: list[int]
) -> None:
    config = {"quant_method": "compressed-tensors", "ignore": kept,
              "config_groups": {"g": {"weights": WEIGHTS, "targets": ["Linear"]}}}  # fmt: skip
    model = read(LLAMA_8B, quantization_config=config)
    assert sorted(layer.count for layer in model.layers) == sorted(layers)
    linears = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    everywhere = set.intersection(
        *({t.name for t in layer.tensors if not t.stored_as} for layer in model.layers)
    )
    assert everywhere & linears == wide


@pytest.mark.parametrize(
    "config",
    [
        {"quant_method": "sorcery"},
        {"quant_algo": "INT0"},
        {"quant_method": "gptq"},
        {"quant_method": "gptq", "bits": "four"},
        {"quant_method": "gptq", "bits": True},
        {"quant_method": "fp8", "weight_block_size": [7, 7]},
        {"quant_method": "compressed-tensors"},
        {"quant_method": "awq", "modules_to_not_convert": "lm_head"},
        {"quant_method": "awq", "modules_to_not_convert": ["re:(a+)+$"]},
        {"quant_method": "awq", "modules_to_not_convert": ["re:" + "(a|b)" * 20]},
        {"quant_method": "awq", "modules_to_not_convert": ["re:(unclosed"]},
        "int4",
    ],
)
def test_a_quantization_that_is_not_known_is_refused(config: object) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        read(LLAMA_8B, quantization_config=config)
    assert str(caught.value.key).startswith("quantization_config")


@pytest.mark.parametrize(
    ("stored_as", "size"),
    [
        (None, 576 * 7168 * 2),
        ("fp32", 576 * 7168 * 4),
        ("fp8-block128", 576 * 7168 + 5 * 56 * 4),  # 576 rows take 5 rows of blocks
        ("mxfp4", 576 * 7168 * 17 // 32),
        ("int4-g128-asym", 576 * (7168 // 2 + 56 * 2 + 56 // 2)),
        ("int4-g128", 576 * (7168 // 2 + 56 * 2)),
        ("int8", 576 * 7168 + 576 * 2),
        ("q4_k", 576 * 7168 * 144 // 256),
    ],
)
def test_bytes_of_one_matrix(stored_as: str | None, size: int) -> None:
    tensor = Tensor("kv_a_proj", (576, 7168), Component.ATTENTION, stored_as=stored_as)
    assert tensor_bytes(tensor, 2) == size
