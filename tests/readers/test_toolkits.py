"""Compression toolkits and training runs: what of them changes the model that is served.

Each expectation was read off the toolkit's documentation of its config.
"""

from __future__ import annotations

import pytest

from advisor.audit import Verdict, audit
from advisor.readers import read
from advisor.source import Source


def verdicts(text: str, path: str = "x.yaml") -> list[tuple[str, Verdict]]:
    found: list[tuple[str, Verdict]] = []
    for proposal in read(Source(path, text), named=False).proposals:
        audited, problems = audit(proposal)
        assert audited is not None
        assert not problems
        found += [(lever.lever.machine_kind, lever.verdict) for lever in audited.levers]
    return found


OLIVE = '{{"input_model": {{"type": "HfModel", "model_path": "a/b"}}, "passes": {{"p": {step}}}}}'


@pytest.mark.parametrize(
    ("step", "kind", "verdict"),
    [
        ('{"type": "GptqQuantizer", "bits": 4}', "quantize.weights.int4", Verdict.BANDWIDTH),
        ('{"type": "OnnxDynamicQuantization"}', "quantize.weights.int8", Verdict.BANDWIDTH),
        ('{"type": "ModelBuilder", "precision": "fp16"}', "quantize.weights.fp16",
         Verdict.BANDWIDTH),
        ('{"type": "OrtTransformersOptimization"}', "latency_overhead", Verdict.OVERHEAD),
        ('{"type": "SliceGPT", "sparsity": 0.3}', "prune.channels", Verdict.BANDWIDTH),
        ('{"type": "SparseGPT", "sparsity": [2, 4]}', "prune.2:4", Verdict.CONDITIONAL),
        ('{"type": "SparseGPT", "sparsity": 0.5}', "prune.unstructured", Verdict.FLOP_ONLY),
        ('{"type": "QuarkQuantization", "quant_scheme": "w_uint4_per_group_asym"}',
         "quantize.weights.int4", Verdict.BANDWIDTH),
        (('{"type": "OpenVINOOptimumConversion", "ov_quant_config":'
         ' {"weight_format": "int4", "ratio": 0.8}}'), "quantize.weights.mixed", Verdict.BANDWIDTH),
    ],
)  # fmt: skip
def test_passes_of_olive(step: str, kind: str, verdict: Verdict) -> None:
    assert verdicts(OLIVE.format(step=step), "x.json") == [(kind, verdict)]


def test_a_ratio_of_widths_is_counted() -> None:
    # 80% of the weights in 4 bits and 20% in 8 are 4.8 bits on average.
    step = '{"type": "X", "ov_quant_config": {"weight_format": "int4", "ratio": 0.8}}'
    (proposal,) = read(Source("x.json", OLIVE.format(step=step)), named=False).proposals
    audited, _ = audit(proposal)
    assert audited is not None
    bits = [
        1.0 - lever.after.ledger.weight_bytes / lever.before.ledger.weight_bytes
        for lever in audited.levers
    ]
    linear = 32 * 218_103_808
    assert bits == [pytest.approx(linear * (16 - 4.8) / 8 / 15_009_857_536, rel=1e-3)]


@pytest.mark.parametrize(
    ("step", "bits"),
    [
        # The ratio is the share in the default width: 3/4 of 4 bits and 1/4 of 8 are 5, and a
        # scale of 16 bits for 64 weights is 1/4 of a bit.
        ('"algorithm": "snr", "bits": 4, "high_bits": 8, "ratio": 0.75, "group_size": 64', 5.25),
        # One of three matrices of the MLP in half of the layers: at most 1/6 of the weights.
        ('"algorithm": "k_quant_down"', 4 + 4 / 6 + 16 / 128),
    ],
)
def test_selected_layers_keep_a_higher_width(step: str, bits: float) -> None:
    text = OLIVE.format(step='{"type": "SelectiveMixedPrecision", ' + step + "}")
    (proposal,) = read(Source("x.json", text), named=False).proposals
    (lever,) = proposal.levers
    assert getattr(lever.lever, "mean_bits", None) == pytest.approx(bits, abs=0.005)
    assert verdicts(text, "x.json") == [("quantize.weights.mixed", Verdict.BANDWIDTH)]


def test_a_head_in_a_higher_width_beside_layers_in_one_width() -> None:
    step = '{"type": "SelectiveMixedPrecision", "algorithm": "k_quant_last"}'
    (kind, verdict), *_ = verdicts(OLIVE.format(step=step), "x.json")
    assert (kind, verdict) == ("quantize.weights.int4", Verdict.BANDWIDTH)


PRUNERS = """\
model: {name: opt, framework: pytorch}
pruning:
  approach:
    weight_compression:
      target_sparsity: 0.9
      pruners:
        - !Pruner
            prune_type: basic_magnitude
            names: ['encoder.conv1.weight']
        - !Pruner
            target_sparsity: 0.5
            prune_type: basic_magnitude
            names: ['decoder.layers.0.fc1.weight']
"""


def test_pruners_are_judged_one_by_one() -> None:
    (proposal,) = read(Source("x.yaml", PRUNERS), named=False).proposals
    lines = [proposal.source.position(one.span.start).line for one in proposal.levers]
    assert lines == [5, 12]  # not the pruner of a convolution
    assert [verdict for _, verdict in verdicts(PRUNERS)] == [Verdict.FLOP_ONLY] * 2
    convolutions = PRUNERS.replace("decoder.layers.0.fc1", "encoder.conv2")
    assert verdicts(convolutions) == []


def test_pruning_by_gradients_takes_heads() -> None:
    text = PRUNERS.replace("basic_magnitude", "gradient_sensitivity")
    assert ("prune.heads", Verdict.CONDITIONAL) in verdicts(text)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("{train: {start_epoch: 0, end_epoch: 90}}", []),
        ("{train: {criterion: {KnowledgeDistillationLoss: {}}}}",
         [("distill", Verdict.CONDITIONAL)]),
    ],
)  # fmt: skip
def test_a_schedule_alone_distils_nothing(block: str, expected: list[tuple[str, Verdict]]) -> None:
    text = f"model: {{name: bert, framework: pytorch}}\ndistillation: {block}\n"
    assert verdicts(text) == expected


DEEPSPEED = """\
{{"train_batch_size": 32, "compression_training": {{"{name}": {{"shared_parameters":
 {{"enabled": {enabled}}}, "different_groups": {{"g": {{"params": {params}}}}}}}}}}}
"""


@pytest.mark.parametrize(
    ("name", "enabled", "params", "expected"),
    [
        ("weight_quantization", "true", '{"target_bits": 8}',
         [("quantize.weights.int8", Verdict.CONDITIONAL)]),
        ("weight_quantization", "false", '{"target_bits": 8}', []),
        ("sparse_pruning", "true", '{"dense_ratio": 0.5}',
         [("prune.unstructured", Verdict.FLOP_ONLY)]),
        ("head_pruning", "HEAD_PRUNING", "{}", [("prune.heads", Verdict.CONDITIONAL)]),
        ("row_pruning", "true", '{"dense_ratio": 0.5}',
         [("prune.channels", Verdict.CONDITIONAL)]),
    ],
)  # fmt: skip
def test_compression_training_of_deepspeed(
    name: str, enabled: str, params: str, expected: list[tuple[str, Verdict]]
) -> None:
    text = DEEPSPEED.format(name=name, enabled=enabled, params=params)
    assert verdicts(text, "ds.json") == expected


def test_widths_and_depths_that_nemo_keeps() -> None:
    text = (
        "restore_from_path: meta-llama/Llama-3.1-8B\nprune:\n  ffn_hidden_size: 9216\n"
        "  num_attention_heads: null\n  num_layers: 16\n"
    )
    assert verdicts(text) == [
        ("prune.channels", Verdict.BANDWIDTH),
        ("prune.layers", Verdict.BANDWIDTH),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("quantize:\n  quant_cfg: FP8_DEFAULT_CFG\n", "quantize.weights.fp8"),
        ("imports:\n  kv: configs/units/kv_fp8\nquantize:\n  quant_cfg:\n    - $import: kv\n",
         "quantize.kv"),
        ("auto_quantize:\n  constraints:\n    effective_bits: 5.4\n", "quantize.weights.mixed"),
        ("- quantizer_name: '*weight_quantizer'\n  cfg: {num_bits: 4}\n", "quantize.weights.int4"),
    ],
)  # fmt: skip
def test_recipes_of_modelopt(text: str, kind: str) -> None:
    assert verdicts(text) == [(kind, Verdict.BANDWIDTH)]


def test_disabled_quantizers_quantize_nothing() -> None:
    text = "- quantizer_name: '*weight_quantizer'\n  enable: false\n  cfg: {num_bits: 4}\n"
    assert verdicts(text) == []


def test_quantization_aware_training_is_simulated() -> None:
    component = "torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer"
    text = (
        "model:\n  _component_: torchtune.models.llama3.llama3_8b\noptimizer: x\nepochs: 1\n"
        f"quantizer:\n  _component_: {component}\n  groupsize: 256\ncompile: True\n"
    )
    assert verdicts(text) == [("quantize.weights.int4", Verdict.CONDITIONAL)]


@pytest.mark.parametrize(
    ("width", "kind"),
    [("float8_e4m3fn", "quantize.weights.fp8"), ("nvfp4", "quantize.weights.fp4")],
)
def test_weights_that_axolotl_quantizes_without_a_training_run(width: str, kind: str) -> None:
    text = f"base_model: meta-llama/Llama-3.2-3B\nquantization:\n  weight_dtype: {width}\n"
    assert verdicts(text) == [(kind, Verdict.BANDWIDTH)]
    assert verdicts(text.replace("base_model", "image")) != [(kind, Verdict.BANDWIDTH)]


def test_an_inference_config_of_deepspeed() -> None:
    text = (
        '{"tensor_parallel": {"tp_size": 4}, "dtype": "fp16", "enable_cuda_graph": true,'
        ' "replace_with_kernel_inject": true}'
    )
    kinds = {kind for kind, _ in verdicts(text, "x.json")}
    assert kinds == {"tensor_parallel", "cuda_graph", "latency_overhead"}


def test_a_student_takes_the_place_of_its_teacher() -> None:
    text = (
        "model:\n  _component_: torchtune.models.llama3_2.lora_llama3_2_1b\nepochs: 1\n"
        "teacher_model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\noptimizer: x\n"
    )
    assert verdicts(text) == [("distill", Verdict.BANDWIDTH)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"bits": 4, "group_size": 128, "desc_act": false}', "quantize.weights.int4"),
        ('{"w_bit": 4, "q_group_size": 128, "version": "GEMM"}', "quantize.weights.int4"),
        (('{"architectures": ["X"], "model_type": "llama", "quantization_config":'
         ' {"quant_method": "fp8"}}'), "quantize.weights.fp8"),
        ('{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}',
         "quantize.weights.fp4"),
    ],
)  # fmt: skip
def test_configs_beside_checkpoints(text: str, kind: str) -> None:
    assert [found for found, _ in verdicts(text, "x.json")] == [kind]


def test_plain_checkpoints_are_left_alone() -> None:
    text = '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "use_cache": false}'
    assert verdicts(text, "config.json") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": "cpu", "lm_head": 0}',
         [("offload.weights", Verdict.CAPACITY_ONLY)]),
        ('{"model.embed_tokens": 0, "model.layers.0": 1, "lm_head": 1}', []),
        ('{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}',
         [("offload.weights", Verdict.CAPACITY_ONLY)]),
        (('{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}},'
         ' "optimizer": {"type": "Adam"}}'), []),
        ("start_size: 4\nrecent_size: 2000\n", [("prune.kv_tokens", Verdict.BANDWIDTH)]),
        ("generation_strategy: self_speculative\nexit_layer: 8\n",
         [("speculative", Verdict.BANDWIDTH)]),
    ],
)  # fmt: skip
def test_places_of_weights_and_tokens(text: str, expected: list[tuple[str, Verdict]]) -> None:
    assert verdicts(text) == expected
