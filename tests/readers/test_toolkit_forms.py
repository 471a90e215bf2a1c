"""Further forms of toolkits' configs, each with what its documentation says that it does."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.audit import LeverAudit, audit
from advisor.readers import read
from advisor.source import Source


def levers_of(text: str, path: str = "x.yaml") -> list[LeverAudit]:
    found: list[LeverAudit] = []
    for proposal in read(Source(path, text), named=False).proposals:
        audited, problems = audit(proposal)
        assert audited is not None
        assert not problems
        found += audited.levers
    return found


def told(lever: LeverAudit) -> tuple[str, dict[str, Any]]:
    """Its machine kind, and what it sets beyond defaults."""
    fields = lever.lever.model_dump(exclude_defaults=True)
    return lever.lever.machine_kind, {name: fields[name] for name in fields if name != "kind"}


def held(text: str, path: str = "x.yaml") -> list[tuple[str, dict[str, Any]]]:
    return [told(lever) for lever in levers_of(text, path)]


# llm-compressor and SparseML


def oneshot(modifier: str) -> str:
    return f"quant_stage:\n  quant_modifiers:\n{modifier}"


@pytest.mark.parametrize(
    ("modifier", "kind", "fields"),
    [
        # A preset for some targets: {scheme: [targets]}.
        ("    QuantizationModifier:\n      ignore: [lm_head]\n      scheme: {W4A16: [Linear]}\n",
         "quantize.weights.int4", {"weights": "int4"}),
        # num_bits and type as compressed-tensors writes them; float in 4 bits is NVFP4, with
        # groups of 32 MXFP4; float in 8 bits with groups of 32 MXFP8.
        (("    QuantizationModifier:\n      config_groups:\n        group_0:\n"
         "          targets: [Linear]\n          weights: {num_bits: 4, type: float,"
         " strategy: tensor_group, group_size: 16}\n"),
         "quantize.weights.fp4", {"weights": "nvfp4"}),
        (("    QuantizationModifier:\n      config_groups:\n        group_0:\n"
         "          targets: [Linear]\n          weights: {num_bits: 4, type: float,"
         " strategy: group, group_size: 32}\n"),
         "quantize.weights.fp4", {"weights": "mxfp4"}),
        (("    QuantizationModifier:\n      config_groups:\n        group_0:\n"
         "          targets: [Linear]\n          weights: {num_bits: 8, type: float,"
         " strategy: channel}\n"),
         "quantize.weights.fp8", {"weights": "fp8-channel"}),
        (("    QuantizationModifier:\n      config_groups:\n        group_0:\n"
         "          targets: [Linear]\n          weights: {num_bits: 8, type: float,"
         " strategy: block}\n"),
         "quantize.weights.fp8", {"weights": "fp8-block128"}),
        # A group nobody sizes has 128 weights, as the presets do.
        (("    GPTQModifier:\n      config_groups:\n        group_0:\n          targets: [Linear]\n"
         "          weights: {num_bits: 4, type: int, symmetric: true, strategy: group}\n"),
         "quantize.weights.int4", {"weights": "int4-g128"}),
        (("    GPTQModifier:\n      config_groups:\n        group_0: {targets: [Linear],"
         " scheme: W8A16}\n"),
         "quantize.weights.int8", {"weights": "int8"}),
    ],
)  # fmt: skip
def test_schemes_of_llm_compressor(modifier: str, kind: str, fields: dict[str, Any]) -> None:
    (found,) = held(oneshot(modifier))
    assert found[0] == kind
    assert {name: found[1].get(name) for name in fields} == fields


@pytest.mark.parametrize(
    ("modifier", "kind"),
    [
        ("SparseGPTModifier:\n      sparsity: 0.5\n      mask_structure: '2:4'\n", "prune.2:4"),
        ("MagnitudePruningModifier:\n      final_sparsity: 0.6\n      mask_type: filter\n",
         "prune.channels"),
        ("MagnitudePruningModifier:\n      final_sparsity: 0.6\n      mask_type: channel\n",
         "prune.channels"),
        ("MagnitudePruningModifier:\n      final_sparsity: 0.6\n      mask_type: block4\n",
         "prune.block"),
        ("MagnitudePruningModifier:\n      final_sparsity: 0.6\n", "prune.unstructured"),
        ("LayerPruningModifier:\n      layers: [3, 4]\n", "prune.layers"),
        ("REAPPruningModifier:\n      sparsity: 0.25\n", "prune.experts"),
    ],
)  # fmt: skip
def test_pruning_modifiers(modifier: str, kind: str) -> None:
    text = f"model: Qwen3-30B-A3B\nsparsity_stage:\n  sparsity_modifiers:\n    {modifier}"
    assert [one for one, _ in held(text)] == [kind]


def test_masks_that_are_kept_have_the_pattern_that_was_pruned() -> None:
    text = (
        "stage:\n  one_modifiers:\n    SparseGPTModifier: {sparsity: 0.5, mask_structure: '2:4'}\n"
        "  two_modifiers:\n    ConstantPruningModifier: {targets: __ALL_PRUNABLE__}\n"
    )
    assert {kind for kind, _ in held(text)} == {"prune.2:4"}


def test_no_sparsity_prunes_nothing() -> None:
    text = "stage:\n  one_modifiers:\n    SparseGPTModifier: {sparsity: 0.0}\n"
    assert held(text) == []


# DeepSpeed, NeMo, Neural Compressor


def test_layers_that_deepspeed_copies_from_the_teacher() -> None:
    text = (
        '{"train_batch_size": 32, "compression_training": {"layer_reduction": {"enabled": true,'
        ' "keep_number_layer": 6, "module_name_prefix": "bert.encoder.layer",'
        ' "teacher_layer": [1, 3, 5, 7, 9, 11]}}}'
    )
    # Six of the twelve layers of the teacher, the last of which is layer 11.
    ((kind, fields),) = held(text, "ds.json")
    assert kind == "prune.layers"
    assert fields["sparsity"] == 0.5


def test_an_export_of_nemo() -> None:
    text = (
        "model_file: llama-3.1-8b.nemo\nquantization:\n  algorithm: fp8\n  enable_kv_cache: true\n"
        "export:\n  decoder_type: llama\n  inference_tensor_parallel: 2\n  dtype: 16\n"
    )
    kinds = [kind for kind, _ in held(text)]
    assert kinds == ["quantize.weights.fp8", "quantize.kv", "tensor_parallel"]


def test_an_export_of_nemo_that_quantizes_nothing() -> None:
    text = (
        "model_file: llama-3.1-8b.nemo\nquantization:\n  algorithm: null\n"
        "  enable_kv_cache: false\nexport:\n  decoder_type: llama\n"
        "  inference_tensor_parallel: 1\n  dtype: bf16\n"
    )
    assert held(text) == []


@pytest.mark.parametrize(
    ("block", "kind", "fields"),
    [
        ("quantization: {approach: post_training_static_quant}", "quantize.weights.int8",
         {"weights": "int8"}),
        (("quantization:\n  approach: post_training_weight_only_quant\n  model_wise:\n"
         "    weight: {bits: 4, group_size: 32}\n"), "quantize.weights.int4",
         {"weights": "int4-g32-sym"}),
        ("quantization: {approach: weight-only}", "quantize.weights.int4", {"weights": "int4"}),
        ("quantization: {approach: quant_aware_training}", "quantize.weights.int8",
         {"packed": False}),
    ],
)  # fmt: skip
def test_quantization_of_neural_compressor(block: str, kind: str, fields: dict[str, Any]) -> None:
    text = f"model: {{name: opt, framework: pytorch}}\n{block}\n"
    (found,) = held(text)
    assert found[0] == kind
    assert {name: found[1].get(name) for name in fields} == fields


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("'2:4'", "prune.2:4"),
        ("tile_pattern_4x1", "prune.block"),
        ("4x1", "prune.block"),
        ("channelx1", "prune.channels"),
        ("1x1", "prune.unstructured"),
    ],
)
def test_patterns_of_neural_compressor(pattern: str, kind: str) -> None:
    text = (
        "model: {name: opt, framework: pytorch}\npruning:\n  approach:\n    weight_compression:\n"
        f"      target_sparsity: 0.5\n      pattern: {pattern}\n      pruners:\n        - !Pruner\n"
        "            names: ['decoder.layers.0.fc1.weight']\n"
    )
    assert {one for one, _ in held(text)} == {kind}


def test_an_fp8_config_of_neural_compressor() -> None:
    text = '{"mode": "QUANTIZE", "observer": "maxabs", "scale_method": "maxabs_hw"}'
    assert [kind for kind, _ in held(text, "fp8.json")] == ["quantize.weights.fp8"]
    assert held(text.replace("QUANTIZE", "MEASURE"), "fp8.json") == []


# torchtune, minitron, DMS


@pytest.mark.parametrize(
    ("quantizer", "weights"),
    [
        ("torchtune.training.quantization.Int8DynActInt4WeightQuantizer", "int4-g256"),
        ("torchtune.training.quantization.Int4WeightOnlyQuantizer", "int4-g256"),
    ],
)
def test_quantizers_of_torchtune(quantizer: str, weights: str) -> None:
    text = (
        "model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\n"
        f"checkpointer: x\nquantizer:\n  _component_: {quantizer}\n  groupsize: 256\n"
    )
    ((kind, fields),) = held(text)
    assert kind == "quantize.weights.int4"
    assert fields["weights"] == weights


def test_generation_of_torchtune_without_a_cache() -> None:
    text = (
        "model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\ncheckpointer: x\n"
        "tensor_parallel_plan:\n  _component_: torchtune.models.llama3.base_llama_tp_plan\n"
        "enable_kv_cache: False\nmax_new_tokens: 100\n"
    )
    kinds = {kind for kind, _ in held(text)}
    assert "tensor_parallel" in kinds
    assert len(kinds) == 2


@pytest.mark.parametrize(
    ("arguments", "kind", "fields"),
    [
        # A scheme by its weights; overrides where no scheme is named; 8-bit floats in groups of 32.
        ("scheme: {weights: {num_bits: 4, type: int, strategy: group, group_size: 64}}",
         "quantize.weights.int4", {}),
        ("scheme_overrides: {Linear: W4A16}", "quantize.weights.int4", {}),
        (("config_groups: {g: {targets: [Linear], weights: {num_bits: 8, type: float,"
         " strategy: group, group_size: 32}}}"), "quantize.weights.fp8", {"weights": "mxfp8"}),
    ],
)  # fmt: skip
def test_other_places_of_schemes(arguments: str, kind: str, fields: dict[str, Any]) -> None:
    text = f"quant_stage:\n  quant_modifiers:\n    QuantizationModifier: {{{arguments}}}\n"
    (found,) = held(text)
    assert found[0] == kind
    assert {name: found[1].get(name) for name in fields} == fields


@pytest.mark.parametrize(
    "arguments",
    [
        "config_groups: {g: many}",
        "config_groups: {g: {targets: [Linear], weights: {num_bits: 16, type: float}}}",
        "scheme: {anything: [Linear]}",
    ],
)
def test_schemes_that_name_no_format_set_none(arguments: str) -> None:
    text = f"quant_stage:\n  quant_modifiers:\n    QuantizationModifier: {{{arguments}}}\n"
    assert [fields.get("weights") for _, fields in held(text)] in ([], ["auto"])


def test_a_share_that_is_no_number_stays_open() -> None:
    text = (
        "stage:\n  one_modifiers:\n    SparseGPTModifier: {sparsity: much, mask_structure: '0:0'}\n"
    )
    ((kind, fields),) = held(text)
    assert kind == "prune.unstructured"
    assert "sparsity" not in fields or fields["sparsity"] is None


def test_masks_of_two_in_four_by_their_type() -> None:
    text = (
        "stage:\n  one_modifiers:\n    MagnitudePruningModifier:"
        " {final_sparsity: 0.5, mask_type: '2:4'}\n"
    )
    assert [kind for kind, _ in held(text)] == ["prune.2:4"]


# Searches and training that change what is served


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Minitron by hand: widths to try, layers to drop, query groups to keep.
        ("restore_from_path: meta-llama/Llama-3.1-8B\nprune:\n  num_query_groups: 4\n",
         [("kv.gqa", {"variant": "gqa", "kv_heads": 4})]),
        ("restore_from_path: meta-llama/Llama-3.1-8B\nprune:\n  drop_layers: [16, 17, 18, 19]\n",
         [("prune.layers", {"dropped": 4})]),
        ("teacher_dir: x\nintermediate_size_list: [3072, 5888, 8704]\n",
         [("prune.channels", {})]),
        ("teacher_dir: x\nnum_experts_to_keep_list: [64, 32]\nmodel: Qwen3-30B-A3B\n",
         [("prune.experts", {})]),
        # Dynamic memory sparsification: at a ratio of 4 a quarter of the tokens stays.
        ("dms: {final_cr: 4, initial_cr: 1}\n",
         [("prune.kv_tokens", {"sparsity": 0.75})]),
        ("dms: {final_cr: 4, disable_eviction: true}\n", []),
    ],
)  # fmt: skip
def test_searches_and_schedules(text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    found = held(text)
    assert [kind for kind, _ in found] == [kind for kind, _ in expected]
    for (_, fields), (_, known) in zip(found, expected, strict=True):
        assert {name: fields.get(name) for name in known} == known
