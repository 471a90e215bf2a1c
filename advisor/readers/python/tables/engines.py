"""Engines started from Python: their keyword arguments are options, read by the engines' tables."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Fact, Setting
from advisor.readers.options.values import whole_of
from advisor.readers.python.calls import (
    ABSENT,
    Call,
    Found,
    Rows,
    Rule,
    environment,
    model_fact,
    options,
    read,
)
from advisor.readers.python.rules import (
    every,
    sets,
    sets_if,
)
from advisor.readers.python.values import Made, usual


def _speculates(method: str, *counts: str) -> Rule:
    """A decoding config: its class is the method."""

    def rule(call: Call) -> Iterator[Found]:
        number = whole_of(call.plain(*counts))
        if number == 0:
            return
        draft = call.plain("speculative_model_dir", "speculative_model", "ea_model_path")
        fields: dict[str, object] = {"method": method}
        fields |= {"draft_tokens": number} if number else {}
        fields |= {"draft_model": draft} if isinstance(draft, str) else {}
        yield call.found(Setting("speculate", fields))

    return rule


def _cache_class(form: str) -> Rule:
    return sets("quantize", kv_cache=form)


def _build_config(call: Call) -> Iterator[Found]:
    yield from options("tensorrt_llm", within=("plugin_config",))(call)


def _trt_cache(call: Call) -> Iterator[Found]:
    """KvCacheConfig by itself: its keywords are those of `kv_cache_config`."""
    for name, (place, value) in call.made.keywords.items():
        known = "kv_cache_dtype" if name == "dtype" else name
        yield from read("tensorrt_llm", known, place, value, call.hangs_on, call.made)


def _draft(call: Call) -> Iterator[Found]:
    if call.plain("use_ngram_draft") is True:
        yield call.found(Setting("speculate", {"method": "ngram"}), "use_ngram_draft")
    if call.has("draft_model"):
        number = whole_of(call.plain("num_draft_tokens"))
        fields = {"draft_tokens": number} if number else {}
        yield call.found(Setting("speculate", fields), "draft_model")


def _prompt_cache(call: Call) -> Iterator[Found]:
    """llama-cpp-python's cache of prompt states."""
    maker = usual(call.made.args[0]) if call.made.args else None
    if isinstance(maker, Made) and "Cache" in maker.name:
        yield call.found(Setting("prefix_cache"))


def _graph_level(call: Call) -> Iterator[Found]:
    """graph_optimization_level of a session: fused operators."""
    given = call.plain("graph_optimization_level")
    if isinstance(given, str) and not given.endswith("DISABLE_ALL"):
        yield call.found(Setting("fuse", {"mode": "graph"}), "graph_optimization_level")


def _batched(call: Call) -> Iterator[Found]:
    """Requests gathered into a batch by a server's decorator."""
    if call.plain("batchable") is ABSENT and not call.has("max_batch_size"):
        return
    number = whole_of(call.plain("max_batch_size"))
    if number != 1:
        yield call.found(Setting("batch", {"batch": number or "unknown"}), "max_batch_size")


def _cache_bits(call: Call) -> Iterator[Found]:
    """exllamav3's cache: 16 bits, or as many as `k_bits` says."""
    bits = whole_of(call.plain("k_bits"))
    if bits is not None and bits < 16:  # the layer's type and its bits go together
        yield call.found(Setting("quantize", {"kv_cache": f"int{bits}"}), "k_bits")
    elif call.has("layer_type") and bits is None:
        yield call.found(Setting("quantize", {"kv_cache": "int4"}), "layer_type")


def _weight_only_mode(call: Call) -> Iterator[Found]:
    """TensorRT-LLM's old modes: 8 bits, or 4 by a switch."""
    form = "int4" if call.plain("use_int4_weights", position=0) is True else "int8"
    yield call.found(Setting("quantize", {"weights": form}))


def _builder(call: Call) -> Iterator[Found]:
    size = whole_of(call.plain("tensor_parallel"))
    if size is not None and size > 1:
        yield call.found(Setting("tensor_parallel", {"size": size}), "tensor_parallel")


def _split_and_batch(call: Call) -> Iterator[Found]:
    """Builders that take the size of a group and of a batch."""
    names = ("model_parallel_size", "tp_size", "world_size")
    size = whole_of(call.plain(*names))
    if size is not None and size > 1:
        yield call.found(Setting("tensor_parallel", {"size": size}), *names)
    number = whole_of(call.plain("max_batch_size"))
    if number is not None and number > 1 and not call.made.name.startswith("tensorrt"):
        yield call.found(Setting("batch", {"batch": number}), "max_batch_size")


def _expert_parallel(call: Call) -> Iterator[Found]:
    number = whole_of(call.plain("ep_size"))
    if number is not None and number > 1:
        yield call.found(Setting("expert_parallel", {"size": number}), "ep_size")


def _gpu_layers(call: Call) -> Iterator[Found]:
    """Ollama's options: layers on the device."""
    for name in ("num_gpu",):
        given = call.plain("options")
        value = given.get(name) if isinstance(given, dict) else call.plain(name)
        number = whole_of(value)
        if number is not None and number < _ALL_LAYERS:
            yield call.found(Setting("offload", {"weights": "unknown"}), "options", name)


_ALL_LAYERS: Final = 33
"""As many layers as a 7B model has, its head counted."""


def _with_engine(name: str, rule: Rule) -> Rule:
    """A row that also says which engine runs it."""

    def found(call: Call) -> Iterator[Found]:
        yield call.found(Fact("engine", name))
        yield from rule(call)

    return found


_VLLM: Final = _with_engine(
    "vllm",
    options("vllm", "model", within=("engine_kwargs", "vllm_kwargs", "model_loading_config")),
)
_SGLANG: Final = _with_engine("sglang", options("sglang", "model_path"))
_TRT: Final = _with_engine("tensorrt-llm", options("tensorrt_llm", "model"))
_LMDEPLOY: Final = _with_engine("lmdeploy", options("lmdeploy"))
_LLAMA: Final = _with_engine("llama.cpp", options("llamacpp", "model_path"))
_OLLAMA: Final = _with_engine("ollama", every(model_fact("model"), _gpu_layers))
_SAGEMAKER: Final = environment("env", "environment", engine="tgi")

CALLS: Final[Rows] = MappingProxyType(
    {
        **{
            f"{package}:{name}": _VLLM
            for package in ("vllm", "aphrodite")
            for name in ("LLM", "EngineArgs", "AsyncEngineArgs", "AsyncLLM.from_engine_args")
        },
        "langchain_community:VLLM": _VLLM,
        "langchain:VLLM": _VLLM,
        "llama_index:Vllm": _VLLM,
        "ray:LLMConfig": _VLLM,
        "ray:vLLMEngineProcessorConfig": _VLLM,
        "sglang:Engine": _SGLANG,
        "sglang:Runtime": _SGLANG,
        "sglang:ServerArgs": _SGLANG,
        "sglang:srt.server_args.ServerArgs": _SGLANG,
        "ray:SGLangEngineProcessorConfig": _SGLANG,
        "tensorrt_llm:LLM": _TRT,
        "tensorrt_llm:BuildConfig": _build_config,
        "tensorrt_llm:PluginConfig": options("tensorrt_llm"),
        "tensorrt_llm:KvCacheConfig": _trt_cache,
        "tensorrt_llm:PyTorchConfig": options("tensorrt_llm"),
        "tensorrt_llm:TorchLlmArgs": _TRT,
        "tensorrt_llm:QuantConfig": options("tensorrt_llm"),
        "tensorrt_llm:Mapping": options("tensorrt_llm"),
        "tensorrt_llm:ModelRunner.from_dir": options("tensorrt_llm"),
        "tensorrt_llm:ModelRunnerCpp.from_dir": options("tensorrt_llm"),
        "tensorrt_llm:MTPDecodingConfig": _speculates("mtp", "num_nextn_predict_layers"),
        "tensorrt_llm:EagleDecodingConfig": _speculates("eagle", "max_draft_len"),
        "tensorrt_llm:Eagle3DecodingConfig": _speculates("eagle", "max_draft_len"),
        "tensorrt_llm:NGramDecodingConfig": _speculates(
            "ngram", "max_draft_len", "prompt_lookup_num_tokens"
        ),
        "tensorrt_llm:DraftTargetDecodingConfig": _speculates("draft_model", "max_draft_len"),
        "tensorrt_llm:MedusaDecodingConfig": _speculates("medusa", "max_draft_len"),
        "tensorrt_llm:LookaheadDecodingConfig": _speculates("lookahead"),
        "lmdeploy:TurbomindEngineConfig": _LMDEPLOY,
        "lmdeploy:PytorchEngineConfig": _LMDEPLOY,
        "lmdeploy:pipeline": _with_engine("lmdeploy", options("lmdeploy", "model_path")),
        "lmdeploy:SpeculativeConfig": _speculates("eagle", "num_speculative_tokens"),
        "llama_cpp:Llama": _LLAMA,
        "llama_cpp:Llama.from_pretrained": every(_LLAMA, model_fact("filename", position=1)),
        ".set_cache": _prompt_cache,
        "ollama:generate": _OLLAMA,
        "ollama:chat": _OLLAMA,
        "langchain_community:Ollama": _OLLAMA,
        "langchain_ollama:OllamaLLM": _OLLAMA,
        "langchain_ollama:ChatOllama": _OLLAMA,
        "llama_index:Ollama": _OLLAMA,
        "tensorrt_llm:quantize_and_export": options("tensorrt_llm"),
        "onnxruntime:SessionOptions": _graph_level,
        "onnxruntime:optimize_model": sets("fuse", mode="graph"),
        "llama_cpp:LlamaPromptLookupDecoding": _speculates("ngram", "num_pred_tokens"),
        "llama_cpp:ModelSettings": _LLAMA,
        "langchain_community:LlamaCpp": _LLAMA,
        "langchain:LlamaCpp": _LLAMA,
        "llama_index:LlamaCPP": _with_engine(
            "llama.cpp", options("llamacpp", within=("model_kwargs",))
        ),
        "exllamav2:ExLlamaV2Cache_Q4": _cache_class("int4"),
        "exllamav2:ExLlamaV2Cache_Q6": _cache_class("int6"),
        "exllamav2:ExLlamaV2Cache_Q8": _cache_class("int8"),
        "exllamav2:ExLlamaV2Cache_8bit": _cache_class("fp8"),
        "exllamav2:ExLlamaV2DynamicGenerator": _draft,
        "exllamav2:ExLlamaV2DynamicGeneratorAsync": _draft,
        "exllamav2:ExLlamaV2StreamingGenerator": _draft,
        "exllamav2:ExLlamaV2Config": model_fact("model_dir"),
        "exllamav3:Generator": _draft,
        "exllamav3:Cache": _cache_bits,
        "llama_cpp:llama_context_default_params": options("llamacpp"),
        "llama_cpp:llama_model_default_params": options("llamacpp"),
        "tensorrt_llm:QuantMode.use_weight_only": _weight_only_mode,
        "tensorrt_llm:QuantMode.use_smooth_quant": sets("quantize", weights="int8"),
        ".create_builder_config": _builder,
        "mlc_llm:MLCEngine": _with_engine(
            "mlc", options("mlc", "model", within=("engine_config",))
        ),
        "mlc_llm:EngineConfig": options("mlc"),
        "sagemaker:HuggingFaceModel": _SAGEMAKER,
        "sagemaker:Model": _SAGEMAKER,
        "sagemaker:JumpStartModel": _SAGEMAKER,
        "testcontainers:DockerContainer": _SAGEMAKER,
        "medusa:MedusaModel.from_pretrained": every(
            _speculates("medusa"), model_fact("pretrained_model_name_or_path")
        ),
        "eagle:EaModel.from_pretrained": every(
            _speculates("eagle"), model_fact("base_model_path", position=None)
        ),
        "hydra:HydraModel.from_pretrained": _speculates("medusa"),
        "*:EaModel.from_pretrained": _speculates("eagle"),
        "*:MedusaModel.from_pretrained": _speculates("medusa"),
        "*:create_inference_endpoint": environment("env", engine="tgi"),
        "optimum:NVAutoModelForCausalLM.from_pretrained": sets_if(
            "use_fp8", "quantize", weights="fp8"
        ),
        "lade:config_lade": _speculates("lookahead"),
        "lade:augment_all": _speculates("lookahead"),
        "ray:serve.batch": _batched,
        "bentoml:api": _batched,
        "litserve:LitServer": _batched,
        "pytriton:ModelConfig": _batched,
        "modal:batched": _batched,
        "*:append_worker": _batched,
        "langchain_community:CTransformers": every(_LLAMA, model_fact("model_file", position=None)),
        "langchain:CTransformers": every(_LLAMA, model_fact("model_file", position=None)),
        "langchain_community:ExLlamaV2": model_fact("model_path"),
        "llama:Llama.build": _split_and_batch,
        "deepspeed:tp_model_init": _split_and_batch,
        "tensorrt_llm:auto_deploy.LLM": every(_TRT, _split_and_batch),
        "deepspeed:MoE": _expert_parallel,
        "petals:AutoDistributedModelForCausalLM.from_pretrained": sets(
            "pipeline_parallel", size="unknown"
        ),
    }
)
"""Rows."""
