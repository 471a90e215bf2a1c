"""Configuration files in the forms of many tools, and the levers each sets."""

from __future__ import annotations

import pytest

from advisor.readers import read
from advisor.source import Source

FORMS: dict[str, tuple[str, str, set[str]]] = {
    "KServe arguments": (
        "k.yaml",
        """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llama}
spec:
  predictor:
    model:
      modelFormat: {name: huggingface}
      args:
        - --model_id=meta-llama/Llama-3.1-8B-Instruct
        - --tensor-parallel-size=2
        - --kv-cache-dtype=fp8
""",
        {"tensor_parallel", "quantize.kv"},
    ),
    "a deployment's shell string": (
        "d.yaml",
        """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  template:
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.11.0
          command: ["/bin/sh", "-c"]
          args:
            - |
              vllm serve Qwen/Qwen3-32B \\
                --quantization awq \\
                --enable-prefix-caching \\
                --enforce-eager
""",
        {"quantize.weights.int4", "prefix_cache", "cuda_graph.off"},
    ),
    "compose": (
        "docker-compose.yaml",
        """\
services:
  tgi:
    image: ghcr.io/huggingface/text-generation-inference:3.0
    command: --model-id mistralai/Mistral-7B-v0.1 --quantize bitsandbytes-nf4 --num-shard 2
""",
        {"quantize.weights.nf4", "tensor_parallel"},
    ),
    "production-stack values": (
        "values.yaml",
        """\
servingEngineSpec:
  modelSpec:
    - name: llama
      repository: vllm/vllm-openai
      modelURL: meta-llama/Llama-3.1-8B-Instruct
      vllmConfig:
        enablePrefixCaching: true
        enableChunkedPrefill: false
        tensorParallelSize: 4
        extraArgs: ["--kv-cache-dtype", "fp8"]
""",
        {"prefix_cache", "tensor_parallel", "quantize.kv"},
    ),
    "SGLang arguments": (
        "s.yaml",
        """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - image: lmsysorg/sglang:latest
      command: [python3, -m, sglang.launch_server]
      args: [--model-path, deepseek-ai/DeepSeek-V3, --tp, "8", --speculative-algorithm, EAGLE,
             --speculative-num-steps, "3", --disable-radix-cache]
""",
        {"tensor_parallel", "speculative"},
    ),
    "TensorRT-LLM options": (
        "extra_llm_api_options.yaml",
        """\
tensor_parallel_size: 4
enable_attention_dp: false
kv_cache_config: {dtype: fp8, enable_block_reuse: false}
cuda_graph_config: {enable_padding: true, max_batch_size: 64}
speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 1}
""",
        {"tensor_parallel", "quantize.kv", "cuda_graph", "speculative"},
    ),
    "llama.cpp in the environment": (
        "llama.yaml",
        """\
services:
  llama:
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    environment:
      LLAMA_ARG_MODEL: /models/Llama-3.1-8B-Instruct-Q4_K_M.gguf
      LLAMA_ARG_CACHE_TYPE_K: q8_0
      LLAMA_ARG_CACHE_TYPE_V: q8_0
      LLAMA_ARG_N_PARALLEL: 4
""",
        {"quantize.weights.int4", "quantize.kv", "batching"},
    ),
    "Ray engine_kwargs": (
        "ray.yaml",
        """\
applications:
  - args:
      llm_configs:
        - model_loading_config: {model_id: qwen, model_source: Qwen/Qwen3-8B}
          engine_kwargs: {tensor_parallel_size: 2, max_num_seqs: 64}
""",
        {"tensor_parallel", "batching"},
    ),
    "a recipe with stages": (
        "recipe.yaml",
        """\
sparsity_stage:
  sparsity_modifiers:
    SparseGPTModifier:
      sparsity: 0.5
      mask_structure: "2:4"
quantization_stage:
  quantization_modifiers:
    QuantizationModifier:
      ignore: [lm_head]
      scheme: FP8_DYNAMIC
      targets: [Linear]
""",
        {"prune.2:4", "quantize.weights.fp8"},
    ),
    "a SparseML recipe with tags": (
        "old.yaml",
        """\
pruning_modifiers:
  - !GMPruningModifier
    params: __ALL_PRUNABLE__
    init_sparsity: 0.05
    final_sparsity: 0.8
    mask_type: unstructured
    start_epoch: 0
    end_epoch: 10
""",
        {"prune.unstructured"},
    ),
    "config groups with a KV scheme": (
        "groups.yaml",
        """\
quant_stage:
  quant_modifiers:
    QuantizationModifier:
      ignore: [lm_head]
      config_groups:
        group_0:
          weights: {num_bits: 4, type: int, strategy: group, group_size: 128, symmetric: true}
          targets: [Linear]
      kv_cache_scheme: {num_bits: 8, type: float, strategy: tensor}
""",
        {"quantize.weights.int4", "quantize.kv"},
    ),
    "mergekit, fewer layers": (
        "merge.yaml",
        """\
merge_method: passthrough
dtype: bfloat16
slices:
  - sources: [{model: meta-llama/Llama-3.1-8B, layer_range: [0, 21]}]
  - sources: [{model: meta-llama/Llama-3.1-8B, layer_range: [29, 32]}]
""",
        {"prune.layers"},
    ),
    "DeepSpeed compression": (
        "ds.json",
        """\
{"train_batch_size": 8,
 "compression_training": {
   "head_pruning": {
     "shared_parameters": {"enabled": true, "method": "topk"},
     "different_groups": {"h1": {"params": {"dense_ratio": 0.5}, "modules": ["attention.out"]}}
   }
 }}
""",
        {"prune.heads"},
    ),
    "Olive passes": (
        "olive.json",
        """\
{"input_model": {"type": "HfModel", "model_path": "microsoft/phi-2"},
 "passes": {"q": {"type": "AutoAWQQuantizer", "w_bit": 4}}}
""",
        {"quantize.weights.int4"},
    ),
    "axolotl": (
        "axolotl.yaml",
        """\
base_model: meta-llama/Llama-3.1-8B
qat:
  weight_dtype: int4
  activation_dtype: int8
  group_size: 32
""",
        {"quantize.weights.int4"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_levers_of_a_configuration(form: str) -> None:
    path, text, kinds = FORMS[form]
    reading = read(Source(path, text))
    found = {lever.lever.machine_kind for one in reading.proposals for lever in one.levers}
    assert kinds <= found
    assert not [problem for problem in reading.problems if problem.rule != "E914"]


@pytest.mark.parametrize(
    "text",
    [
        "model: m\ntensor-parallel-size: 1\nenforce-eager: false\nkv-cache-dtype: auto\n",
        (
            "model: m\nno-enable-prefix-caching: true\nenable-chunked-prefill: false\n"
            "tensor-parallel-size: 1\n"
        ),
        "name: build\non: push\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n",
        "prune:\n  docker: true\nquantization: of energy\n",
    ],
)
def test_what_is_off_or_another_tools_file_sets_nothing(text: str) -> None:
    reading = read(Source("file.yaml", text))
    assert not [lever.lever.label for one in reading.proposals for lever in one.levers]
