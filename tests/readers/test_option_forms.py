"""Further options and places of options, each with what the tool's documentation says of it."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.audit import audit
from advisor.readers import read
from advisor.readers.options import Setting, read_option
from advisor.source import Source


def held(text: str, path: str = "x.yaml") -> list[tuple[str, dict[str, Any]]]:
    """Machine kind of each lever, and what it sets beyond defaults."""
    found = []
    for proposal in read(Source(path, text), named=False).proposals:
        audited, problems = audit(proposal)
        assert audited is not None
        assert not problems
        for one in audited.levers:
            fields = one.lever.model_dump(exclude_defaults=True)
            found.append((one.lever.machine_kind, {n: fields[n] for n in fields if n != "kind"}))
    return found


def settings(engine: str, name: str, value: Any) -> list[tuple[str, dict[str, Any]]]:
    effects = read_option(engine, name, value)
    assert effects is not None
    return [(one.kind, dict(one.fields)) for one in effects if isinstance(one, Setting)]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        # No draft tokens: nothing is drafted.
        ("speculative-config", {"method": "ngram", "num_speculative_tokens": 0}, []),
        ("speculative-config", {"model": "[ngram]", "num_speculative_tokens": 4},
         [("speculate", {"method": "ngram", "draft_tokens": 4})]),
        ("speculative-model", "[ngram]", [("speculate", {"method": "ngram"})]),
        ("compilation-config", {"mode": 3}, [("compile", {"mode": "level 3"})]),
        ("compilation-config", {"mode": "NONE"}, []),
        ("compilation-config", {"mode": "VLLM_COMPILE"}, [("compile", {"mode": "level 3"})]),
        ("compilation-config", {"cudagraph_mode": "FULL"}, [("cuda_graphs", {})]),
        ("compilation-config", {"cudagraph_mode": "NONE"}, [("cuda_graphs", {"enabled": False})]),
        ("compilation-config", {"pass_config": {"enable_fusion": False}}, []),
        ("load-format", "bitsandbytes", [("quantize", {"weights": "nf4"})]),
        ("load-format", "safetensors", []),
    ],
)  # fmt: skip
def test_values_of_vllm(name: str, value: Any, expected: list[tuple[str, dict[str, Any]]]) -> None:
    assert settings("vllm", name, value) == expected


VLLM = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: llama}}
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.10.0
          command: [/bin/sh, -c]
          args:
            - |
              {line}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size ${TP:-4}",
         [("tensor_parallel", {"size": 4})]),
        ("TP=2; vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size $TP",
         [("tensor_parallel", {"size": 2})]),
        ("vllm serve meta-llama/Llama-3.1-8B --kv-cache-dtype fp8 && echo --enforce-eager",
         [("quantize.kv", {"kv_cache": "fp8"})]),
        ("ray start --head --num-gpus 3 && vllm serve meta-llama/Llama-3.1-8B -tp 2",
         [("tensor_parallel", {"size": 2})]),
        (("""vllm serve meta-llama/Llama-3.1-8B --speculative-config """
         """'{"method": "ngram", "num_speculative_tokens": 4}'"""),
         [("speculative", {"method": "ngram", "draft_tokens": 4})]),
        ("vllm bench serve --model meta-llama/Llama-3.1-8B --max-concurrency 4", []),
    ],
)  # fmt: skip
def test_command_lines_in_a_shell(line: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    assert held(VLLM.format(line=line)) == expected


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        ("    - type: prefix-cache-scorer\n", ["prefix_cache"]),
        ("    - type: pd-profile-handler\n", ["disaggregate"]),
        ("    - type: max-score-picker\n", []),
    ],
)
def test_plugins_of_the_inference_gateway(plugins: str, expected: list[str]) -> None:
    text = (
        "apiVersion: inference.networking.x-k8s.io/v1alpha1\nkind: EndpointPickerConfig\n"
        f"plugins:\n{plugins}"
    )
    assert [kind for kind, _ in held(text)] == expected


STACK = """\
servingEngineSpec:
  modelSpec:
    - name: llama
      repository: vllm/vllm-openai
      modelURL: meta-llama/Llama-3.1-8B-Instruct
      lmcacheConfig: {config}
"""


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ('{enabled: true, cpuOffloadingBufferSize: "60"}', ["offload.kv"]),
        ('{enabled: false, cpuOffloadingBufferSize: "60"}', []),
        ("{enabled: true, enablePD: true}", ["disaggregate"]),
    ],
)  # fmt: skip
def test_lmcache_of_the_production_stack(config: str, expected: list[str]) -> None:
    assert [kind for kind, _ in held(STACK.format(config=config))] == expected


def test_arguments_of_lm_eval_in_one_text() -> None:
    text = (
        "apiVersion: trustyai.opendatahub.io/v1alpha1\nkind: LMEvalJob\nspec:\n  model: vllm\n"
        "  modelArgs: pretrained=meta-llama/Llama-3.1-8B,tensor_parallel_size=2,"
        "kv_cache_dtype=fp8\n"
        "model: vllm\n"
        "model_args: pretrained=meta-llama/Llama-3.1-8B,tensor_parallel_size=2,kv_cache_dtype=fp8\n"
    )
    assert held(text) == [
        ("tensor_parallel", {"size": 2}),
        ("quantize.kv", {"kv_cache": "fp8"}),
    ]


# Merges


MERGE = "slices:\n{slices}merge_method: passthrough\ndtype: bfloat16\n"
SLICE = "  - sources:\n      - {{model: meta-llama/Llama-3.1-8B, layer_range: [{first}, {last}]}}\n"


@pytest.mark.parametrize(
    ("ranges", "kind"),
    [
        # 32 layers: 0-21 and 27-32 are 26 of them; 0-24 and 8-32 are 48.
        ([(0, 21), (27, 32)], "prune.layers"),
        ([(0, 24), (8, 32)], "merge.layers_added"),
        ([(0, 16)], "prune.layers"),
    ],
)
def test_passthrough_merges_add_and_drop_layers(ranges: list[tuple[int, int]], kind: str) -> None:
    slices = "".join(SLICE.format(first=first, last=last) for first, last in ranges)
    assert kind in {one for one, _ in held(MERGE.format(slices=slices))}


@pytest.mark.parametrize(
    "text",
    [
        MERGE.format(slices=SLICE.format(first=0, last=16)).replace("passthrough", "slerp"),
        MERGE.format(slices="  - sources: []\n"),
        MERGE.format(slices="  - sources:\n      - {model: a/b, layer_range: [a, 3]}\n"),
        MERGE.format(slices="  - sources:\n      - {model: a/b, layer_range: 4}\n"),
        MERGE.format(slices="  - sources:\n      - a/b\n"),
        "slices: many\nmerge_method: passthrough\n",
        MERGE.format(slices=SLICE.format(first=9, last=3)),
    ],
)
def test_what_stacks_no_layers_is_no_lever(text: str) -> None:
    assert held(text) == []


# Olive and ModelOpt


def olive(passes: str, model: str = '"type": "HfModel", "model_path": "a/b"') -> str:
    return f'{{"input_model": {{{model}}}, "passes": {passes}}}'


@pytest.mark.parametrize(
    ("passes", "expected"),
    [
        ('{"o": {"type": "OrtTransformersOptimization", "float16": true}}',
         [("latency_overhead", None), ("quantize.weights.fp16", "fp16")]),
        ('{"o": {"type": "OnnxFloatToFloat16"}}', [("quantize.weights.fp16", "fp16")]),
        ('{"q": [{"type": "GptqQuantizer", "bits": 4, "group_size": 64}]}',
         [("quantize.weights.int4", "int4-g64-sym")]),
        ('{"q": {"type": "QuarkQuantization", "quant_scheme": "w_mxfp4_a_mxfp4"}}',
         [("quantize.weights.fp4", "mxfp4")]),
        ('{"q": {"type": "QuarkQuantization", "quant_scheme": "w_fp8_a_fp8"}}',
         [("quantize.weights.fp8", "fp8")]),
        (('{"q": {"type": "OpenVINOOptimumConversion", "ov_quant_config":'
         ' {"weight_format": "int4", "group_size": 32}}}'),
         [("quantize.weights.int4", "int4-g32-sym")]),
        ('{"s": {"type": "SliceGPT"}}', [("prune.channels", None)]),
        ('{"x": {"type": "LoRA"}}', []),
    ],
)  # fmt: skip
def test_passes_of_olive(passes: str, expected: list[tuple[str, str | None]]) -> None:
    found = held(olive(passes), "olive.json")
    assert [(kind, fields.get("weights")) for kind, fields in found] == expected


def test_image_models_are_left_alone_by_olive() -> None:
    model = '"type": "HfModel", "model_path": "microsoft/resnet-50", "task": "image-classification"'
    assert held(olive('{"q": {"type": "GptqQuantizer", "bits": 4}}', model), "olive.json") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quantize:\n  quant_cfg:\n    '*weight_quantizer': {num_bits: 8}\n",
         ["quantize.weights.int8"]),
        ("quantize:\n  quant_cfg:\n    '*weight_quantizer': {enable: false, num_bits: 8}\n", []),
        ("quantize:\n  quant_cfg:\n    '*input_quantizer': {num_bits: 8}\n", []),
        ("auto_quantize:\n  constraints:\n    other: 1\n", []),
    ],
)  # fmt: skip
def test_quantizers_of_modelopt(text: str, expected: list[str]) -> None:
    assert [kind for kind, _ in held(text)] == expected


# transformers


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("quantization_config", {"load_in_8bit": True}, [("quantize", {"weights": "int8-bnb"})]),
        ("cache_implementation", "offloaded_static",
         [("offload", {"kv_cache": "unknown"}), ("cuda_graphs", {})]),
        ("device_map", {"model.embed_tokens": 0, "model.layers.30": "cpu"},
         [("offload", {"weights": "unknown"})]),
        ("device_map", "auto", []),
        ("max_memory", {"0": "20GiB", "cpu": "60GiB"}, [("offload", {"weights": "unknown"})]),
        ("max_memory", {"0": "20GiB"}, []),
    ],
)  # fmt: skip
def test_options_of_transformers(
    name: str, value: Any, expected: list[tuple[str, dict[str, Any]]]
) -> None:
    assert settings("transformers", name, value) == expected


# Places


def test_variables_in_quotes_and_settings_of_settings() -> None:
    line = (
        """vllm serve "meta-llama/Llama-3.1-8B" --speculative-config="""
        """'{"model": "[ngram]", "num_speculative_tokens": 3}' --tensor-parallel-size="2" """
    )
    text = VLLM.format(line=line)
    assert held(text) == [
        ("speculative", {"method": "ngram", "draft_tokens": 3}),
        ("tensor_parallel", {"size": 2}),
    ]
    (proposal,) = read(Source("x.yaml", text), named=False).proposals
    speculation, split = (text[one.span.start : one.span.end] for one in proposal.levers)
    assert '"model"' in speculation or "--speculative-config" in speculation
    assert "--tensor-parallel-size" in split


@pytest.mark.parametrize("asked", ["H100:8", "{H100: 8}", "[H100:8]", "{H100:8}"])
def test_accelerators_of_skypilot(asked: str) -> None:
    text = (
        f"resources:\n  accelerators: {asked}\n"
        "run: |\n  vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 8\n"
    )
    (proposal,) = read(Source("sky.yaml", text), named=False).proposals
    assert proposal.hardware is not None
    assert "H100" in proposal.hardware.value
    assert held(text) == [("tensor_parallel", {"size": 8})]


# Command lines of other engines


COMPOSE = "services:\n  a:\n    image: {image}\n    command: {command}\n"


@pytest.mark.parametrize(
    ("image", "command", "expected"),
    [
        # llama-quantize IN OUT TYPE
        ("ghcr.io/ggml-org/llama.cpp:full", "llama-quantize /m/f16.gguf /m/q.gguf Q4_K_M",
         ["quantize.weights.int4"]),
        # 20 of the 32 layers on the device; the file's name states its format.
        ("ghcr.io/ggml-org/llama.cpp:server-cuda",
         "-m /models/Llama-3.1-8B-Q4_K_M.gguf -ngl 20 -c 8192 -ctk q8_0 -ctv q8_0",
         ["quantize.weights.int4", "offload.weights", "quantize.kv"]),
        ("vllm/vllm-openai:v0.10.0",
         "--model meta-llama/Llama-3.1-8B --quantization fp8 --max-num-seqs=64",
         ["quantize.weights.fp8", "batching"]),
    ],
)  # fmt: skip
def test_commands_of_containers(image: str, command: str, expected: list[str]) -> None:
    text = COMPOSE.format(image=image, command=command)
    assert [kind for kind, _ in held(text)] == expected


def test_serving_properties_in_a_config_map() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: djl}\ndata:\n  serving.properties: |\n"
        "    engine=Python\n    option.model_id=meta-llama/Llama-3.1-8B\n"
        "    option.tensor_parallel_degree=4\n    option.quantize=awq\n"
    )
    assert [kind for kind, _ in held(text)] == ["tensor_parallel", "quantize.weights.int4"]
    (proposal,) = read(Source("x.yaml", text), named=False).proposals
    places = [text[one.span.start : one.span.end] for one in proposal.levers]
    assert places == ["tensor_parallel_degree", "quantize"]


def test_pairs_of_jetstream() -> None:
    text = (
        "containers:\n  - name: jetstream\n"
        "    image: us-docker.pkg.dev/cloud-tpu-images/inference/jetstream-maxtext:v1\n"
        "    args: [model_name=llama3.1-8b, ici_tensor_parallelism=4, quantization=int8,"
        " quantize_kvcache=True]\n"
    )
    kinds = [kind for kind, _ in held(text)]
    assert kinds == ["tensor_parallel", "quantize.weights.int8", "quantize.kv"]
