"""Options of engines, held against what the engines' documentation says of them."""

from __future__ import annotations

import pytest

from advisor.deployment import Deployment
from advisor.levers import lever_class
from advisor.readers.options import (
    ENGINES,
    OPEN,
    Fact,
    Setting,
    engine_named_in,
    named_precision,
    read_environment,
    read_option,
)
from advisor.readers.options.lookup import _table
from advisor.readers.options.values import gigabytes_of, kebab, whole_of

QUANT = "quantize"


def levers(engine: str | None, name: str, value: object) -> list[tuple[str, dict[str, object]]]:
    effects = read_option(engine, name, value)
    assert effects is not None, f"{engine} {name} is not known"
    return [(one.kind, dict(one.fields)) for one in effects if isinstance(one, Setting)]


@pytest.mark.parametrize(
    ("engine", "name", "value", "kind", "fields"),
    [
        ("vllm", "--tensor-parallel-size", "8", "tensor_parallel", {"size": 8}),
        ("vllm", "-tp", 2, "tensor_parallel", {"size": 2}),
        ("vllm", "tensorParallelSize", 4, "tensor_parallel", {"size": 4}),
        ("vllm", "tensor_parallel_size", OPEN, "tensor_parallel", {"size": "unknown"}),
        ("vllm", "--max-num-seq", "512", "batch", {"batch": 512}),
        ("vllm", "kv-cache-dtype", "fp8_e5m2", QUANT, {"kv_cache": "fp8"}),
        ("vllm", "quantization", "awq_marlin", QUANT, {"weights": "awq"}),
        ("vllm", "quantization", "bitsandbytes", QUANT, {"weights": "nf4"}),
        ("vllm", "quantization", "compressed-tensors", QUANT, {"weights": "auto"}),
        ("vllm", "quantization", OPEN, QUANT, {"weights": "auto"}),
        ("vllm", "enforce-eager", True, "cuda_graphs", {"enabled": False}),
        ("vllm", "cpu-offload-gb", 10, "offload", {"weights": "10737418240 B"}),
        ("vllm", "num-scheduler-steps", "8", "fuse", {"mode": "multi-step scheduling"}),
        ("vllm", "-O3", True, None, None),
        ("vllm", "-O", "3", "compile", {"mode": "level 3"}),
        ("vllm", "-O", 0, "cuda_graphs", {"enabled": False}),
        ("sglang", "--speculative-algo", "EAGLE", "speculate", {"method": "EAGLE"}),
        ("sglang", "disable_radix_cache", False, "prefix_cache", {}),
        ("sglang", "quantization", "w8a8_fp8", QUANT, {"weights": "fp8-channel"}),
        ("sglang", "torchao-config", "int4wo-128", QUANT, {"weights": "int4-g128"}),
        ("sglang", "disaggregation-mode", "decode", "disaggregate", {}),
        ("tensorrt_llm", "kv_cache_config", {"dtype": "fp8"}, QUANT, {"kv_cache": "fp8"}),
        ("tensorrt_llm", "cuda_graph_config", None, "cuda_graphs", {"enabled": False}),
        ("tensorrt_llm", "cuda_graph_config", {}, "cuda_graphs", {}),
        ("tensorrt_llm", "moe_expert_parallel_size", 4, "expert_parallel", {"size": 4}),
        ("tgi", "--quantize", "bitsandbytes-nf4", QUANT, {"weights": "nf4"}),
        ("tgi", "--quantize", "bitsandbytes", QUANT, {"weights": "int8-bnb"}),
        ("tgi", "--quantize", "eetq", QUANT, {"weights": "int8"}),
        ("tgi", "num_shard", "2", "tensor_parallel", {"size": 2}),
        ("tgi", "cuda-graphs", "0", "cuda_graphs", {"enabled": False}),
        ("tgi", "speculate", "3", "speculate", {"draft_tokens": 3}),
        ("llamacpp", "-ctk", "q8_0", QUANT, {"kv_cache": "q8_0"}),
        ("llamacpp", "type_k", 8, QUANT, {"kv_cache": "q8_0"}),
        ("llamacpp", "-ngl", "20", "offload", {"weights": "unknown"}),
        ("llamacpp", "-nkvo", True, "offload", {"kv_cache": "unknown"}),
        ("llamacpp", "-ts", "3,1", "pipeline_parallel", {"size": 2}),
        ("lmdeploy", "quant-policy", "8", QUANT, {"kv_cache": "int8"}),
        ("exllama", "cache_mode", "8,8", QUANT, {"kv_cache": "int8"}),
        ("mlc", "quantization", "q4f16_1", QUANT, {"weights": "int4"}),
        ("transformers", "load_in_4bit", True, QUANT, {"weights": "nf4"}),
        ("transformers", "use_cache", False, "no_kv_cache", {}),
        ("transformers", "cache_implementation", "static", "cuda_graphs", {}),
        ("deepspeed", "tensor_parallel", {"tp_size": 2}, "tensor_parallel", {"size": 2}),
        ("djl", "tensor_parallel_degree", "4", "tensor_parallel", {"size": 4}),
        (None, "--tensor-parallel-size", 2, "tensor_parallel", {"size": 2}),
    ],
)
def test_an_option_sets_its_lever(
    engine: str | None, name: str, value: object, kind: str | None, fields: object
) -> None:
    if kind is None:
        assert read_option(engine, name, value) is None  # the reader splits -O3 first
        return
    assert levers(engine, name, value) == [(kind, fields)]


@pytest.mark.parametrize(
    ("engine", "name", "value"),
    [
        ("vllm", "tensor-parallel-size", 1),
        ("vllm", "--no-enable-prefix-caching", True),
        ("vllm", "enable-prefix-caching", "false"),
        ("vllm", "enable-chunked-prefill", False),
        ("vllm", "enforce_eager", False),
        ("vllm", "kv-cache-dtype", "auto"),
        ("vllm", "kv-cache-dtype", "bfloat16"),
        ("vllm", "quantization", None),
        ("vllm", "quantization", "None"),
        ("vllm", "speculative-config", None),
        ("vllm", "swap-space", 16),
        ("vllm", "cpu-offload-gb", 0),
        ("vllm", "gpu-memory-utilization", 0.9),
        ("vllm", "num-scheduler-steps", 1),
        ("vllm", "stream-interval", 1),
        ("sglang", "disable-radix-cache", True),
        ("sglang", "chunked-prefill-size", -1),
        ("sglang", "disable-cuda-graph", False),
        ("sglang", "disaggregation-mode", "null"),
        ("tensorrt_llm", "kv_cache_config", {"enable_block_reuse": False, "dtype": "auto"}),
        ("tensorrt_llm", "cache_transceiver_config", None),
        ("tgi", "speculate", 0),
        ("llamacpp", "-ngl", "99"),
        ("llamacpp", "-ngl", "all"),
        ("llamacpp", "-fa", "off"),
        ("llamacpp", "--cache-type-v", "f16"),
        ("llamacpp", "-ts", "1"),
        ("lmdeploy", "quant-policy", 0),
        ("transformers", "load_in_4bit", False),
        ("transformers", "attn_implementation", "eager"),
        ("transformers", "device_map", "auto"),
    ],
)
def test_off_and_inverted_spellings_set_nothing(engine: str, name: str, value: object) -> None:
    assert levers(engine, name, value) == []


def test_a_negation_said_to_be_false_is_on() -> None:
    assert levers("vllm", "no-enable-prefix-caching", "false") == [("prefix_cache", {})]


def test_speculative_config_is_read_whole() -> None:
    config = {
        "model": "nvidia/gpt-oss-120b-Eagle3-v3",
        "num_speculative_tokens": 7,
        "method": "eagle3",
        "draft_tensor_parallel_size": 1,
    }
    fields = {
        "draft_model": "nvidia/gpt-oss-120b-Eagle3-v3",
        "draft_tokens": 7,
        "method": "eagle3",
    }
    assert levers("vllm", "speculative_config", config) == [("speculate", fields)]
    mtp = {"decoding_type": "MTP", "num_nextn_predict_layers": 3}
    assert levers("tensorrt_llm", "speculative_config", mtp) == [
        ("speculate", {"method": "MTP", "draft_tokens": 3})
    ]


@pytest.mark.parametrize(
    ("config", "kinds"),
    [
        ({"kv_connector": "NixlConnector", "kv_role": "kv_producer"}, ["disaggregate"]),
        ({"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}, ["offload"]),
        ({"kv_connector": "OffloadingConnector", "kv_role": "kv_both"}, ["offload"]),
    ],
)
def test_a_cache_connector_is_a_store_or_a_split(config: object, kinds: list[str]) -> None:
    assert [kind for kind, _ in levers("vllm", "kv-transfer-config", config)] == kinds


def test_compilation_config_has_levers_at_its_keys() -> None:
    effects = read_option(
        "vllm", "compilation-config", {"cudagraph_mode": "NONE", "pass_config": {"a": True}}
    )
    assert effects is not None
    assert [(one.kind, one.path) for one in effects if isinstance(one, Setting)] == [
        ("cuda_graphs", ("cudagraph_mode",)),
        ("compile", ("pass_config",)),
    ]


def test_one_sequence_is_a_fact_and_no_lever() -> None:
    assert read_option("vllm", "max-num-seqs", 1) == (Fact("batch_limit", 1),)


@pytest.mark.parametrize(
    ("engine", "name", "value", "kind"),
    [
        ("tgi", "QUANTIZE", "awq", QUANT),
        (None, "LLAMA_ARG_CACHE_TYPE_K", "q8_0", QUANT),
        (None, "LLAMA_ARG_NO_KV_OFFLOAD", "1", "offload"),
        (None, "OLLAMA_KV_CACHE_TYPE", "q4_0", QUANT),
        (None, "VLLM_ATTENTION_BACKEND", "FLASHINFER", "attention_kernel"),
        (None, "OPTION_TENSOR_PARALLEL_DEGREE", "4", "tensor_parallel"),
        (None, "HF_MODEL_QUANTIZE", "gptq", QUANT),
    ],
)
def test_environment_variables(engine: str | None, name: str, value: str, kind: str) -> None:
    effects = read_environment(engine, name, value)
    assert effects is not None
    assert [one.kind for one in effects if isinstance(one, Setting)] == [kind]


def test_common_words_are_variables_of_their_engine_only() -> None:
    assert read_environment(None, "QUANTIZE", "awq") is None
    assert read_environment(None, "DTYPE", "float16") is None


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", "fp8"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "fp8"),
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "nvfp4"),
        ("nvidia/DeepSeek-R1-NVFP4-v2", "nvfp4"),
        ("Qwen/Qwen2.5-7B-Instruct-AWQ", "awq"),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "int4"),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "int8"),
        ("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w4a16", "int4"),
        ("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", "int8"),
        ("unsloth/llama-3-8b-bnb-4bit", "nf4"),
        ("/models/llama-3-8b-instruct.Q4_K_M.gguf", "q4_k_m"),
        ("bartowski/Llama-3.2-3B-Instruct-GGUF:IQ4_XS", "iq4_xs"),
        ("turboderp/Llama-3.1-8B-exl2-4.5bpw", "4.5bpw"),
        ("hf://unsloth/Qwen3-8B-GGUF/Qwen3-8B-UD-Q4_K_XL.gguf", "q4_k_xl"),
        ("meta-llama/Llama-3.1-8B-Instruct", None),
        ("deepseek-ai/DeepSeek-R1", None),
        ("/mnt/int8-node/models/llama", None),
        ("mistralai/Mistral-7B-Instruct-v0.3", None),
        ("Qwen/Qwen2-VL-2B", None),
        ("google/gemma-4b-it", None),
    ],
)
def test_precision_in_a_name(name: str, weights: str | None) -> None:
    assert named_precision(name).weights == weights


def test_a_pattern_in_a_name() -> None:
    assert named_precision("neuralmagic/Sparse-Llama-3.1-8B-2of4").sparse
    assert not named_precision("meta-llama/Llama-2-4-chat-ft").weights


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("vllm/vllm-openai:v0.8.5", "vllm"),
        ("lmsysorg/sglang:latest", "sglang"),
        ("python3 -m sglang.launch_server", "sglang"),
        ("ghcr.io/huggingface/text-generation-inference:2.4", "tgi"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.0", "tensorrt_llm"),
        ("trtllm-serve", "tensorrt_llm"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda", "llamacpp"),
        ("llama-server -m x.gguf", "llamacpp"),
        ("openmmlab/lmdeploy", "lmdeploy"),
        ("nginx:1.27", None),
    ],
)
def test_engines_by_image_and_command(text: str, engine: str | None) -> None:
    assert engine_named_in(text) == engine


@pytest.mark.parametrize(
    ("given", "spelling"),
    [
        ("--tensor_parallel_size", "tensor-parallel-size"),
        ("tensorParallelSize", "tensor-parallel-size"),
        ("maxNumSeqs", "max-num-seqs"),
        ("kvCacheDType", "kv-cache-d-type"),
        ("-TP", "tp"),
    ],
)
def test_spellings_meet(given: str, spelling: str) -> None:
    assert kebab(given) == spelling


def test_amounts() -> None:
    assert whole_of("16k") == 16_000  # lower case counts in thousands, upper case in 1,024s
    assert whole_of("16K") == 16_384
    assert gigabytes_of("60") == 60 * 2**30
    assert gigabytes_of("10GB") == 10e9
    assert gigabytes_of("10Gi") == 10 * 2**30


OPEN_VALUES: tuple[object, ...] = (OPEN, True, "2", "auto", "fp8", {}, {"x": 1}, [], None, 0, 4)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_whatever_an_option_is_given_its_levers_can_be_built(engine: str) -> None:
    table = _table(engine)
    step = Deployment("Llama-3.1-8B", "H100 SXM")
    meanings = [meaning for _, meaning in table.options.values()]
    for meaning in (*meanings, *table.environment.values()):
        for value in OPEN_VALUES:
            for effect in meaning(value):
                if isinstance(effect, Setting) and effect.starts:
                    lever_class(effect.kind)(kind=effect.kind, **effect.fields).condition(step)
