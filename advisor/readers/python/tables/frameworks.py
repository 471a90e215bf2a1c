"""Frameworks around models and engines: wrappers that pass options on, suites, servers, exporters.

LangChain, LlamaIndex, Haystack, Outlines, Guidance, the evaluation harness, FastChat, LitGPT,
NeMo, Quark, BitBLAS, Ray Serve, mergekit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Fact, Setting
from advisor.readers.options.formats import AUTO
from advisor.readers.options.values import mapping_of, whole_of
from advisor.readers.python.calls import (
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
    by_bits,
    by_word,
    every,
    format_named,
    pruned,
    quantized,
    sets,
    sets_if,
)
from advisor.readers.python.values import Literal, Made, Mapping, Value, text_of, usual

_INSIDE: Final = ("huggingface_pipeline_kwargs", "pipeline_kwargs", "model_kwargs")
_TRANSFORMERS: Final = options("transformers", within=_INSIDE)
_SUITES: Final = {"hf": "transformers", "vllm": "vllm", "sglang": "sglang"}


def _batch(call: Call) -> Iterator[Found]:
    """Prompts of one step of a local pipeline."""
    number = whole_of(call.plain("batch_size"))
    if number is not None and number > 1:
        yield call.found(Setting("batch", {"batch": number}), "batch_size")


_PIPELINE: Final = every(_TRANSFORMERS, model_fact("model_id", "model_name", "model"), _batch)


def _model_args(call: Call) -> Iterator[Found]:
    """The evaluation harness: `model="vllm", model_args="pretrained=...,quantization=fp8"`."""
    engine = _SUITES.get(str(call.plain("model", position=0)).partition("-")[0])
    value = call.value("model_args", position=1)
    place = call.place("model_args")
    if engine is None or value is None:
        return
    given = call.plain("model_args", position=1)
    text = text_of(value)
    pairs = mapping_of(given) or dict(
        pair.split("=", 1) for pair in (text or "").split(",") if "=" in pair
    )
    for name, word in pairs.items():
        known = "model" if name == "pretrained" else str(name)
        data = word if isinstance(word, str | int | float) else None
        yield from read(engine, known, place, Literal(value.node, data), call.hangs_on, call.made)


def _replicas(call: Call) -> Iterator[Found]:
    """Copies of a deployment behind one address."""
    number = whole_of(call.plain("num_replicas"))
    if number is not None and number > 1:
        yield call.found(Setting("data_parallel", {"size": number}), "num_replicas")


def _distributed(call: Call) -> Iterator[Found]:
    """LitGPT's `llm.distribute(devices=4, generate_strategy="tensor_parallel")`."""
    size: object = whole_of(call.plain("devices")) or "all"
    strategy = call.plain("generate_strategy")
    if strategy == "tensor_parallel" and size != 1:
        yield call.found(Setting("tensor_parallel", {"size": size}), "generate_strategy")
    elif strategy == "sequential" and size != 1:
        yield call.found(Setting("pipeline_parallel", {"size": size}), "generate_strategy")
    word = call.plain("quantize")
    if isinstance(word, str) and word.startswith("bnb."):
        form = "int8-bnb" if "int8" in word else "nf4-dq" if word.endswith("dq") else "nf4"
        yield call.found(Setting("quantize", {"weights": form}), "quantize")


_TARGETS: Final = {
    "target_ffn_hidden_size": "channels", "target_hidden_size": "channels",
    "target_num_layers": "layers", "drop_layers": "layers",
    "target_num_attention_heads": "heads", "target_num_query_groups": "heads",
    "target_num_moe_experts": "experts",
}  # fmt: skip


def _nemo_pruning(call: Call) -> Iterator[Found]:
    """NeMo's PruningConfig: the sizes that are left."""
    said: set[str] = set()
    for name, pattern in _TARGETS.items():
        if not call.has(name) or pattern in said:
            continue
        said.add(pattern)
        dropped = call.plain(name)
        amount: dict[str, object] = {"sparsity": "unknown"}
        if name == "drop_layers" and isinstance(dropped, list):
            amount = {"dropped": len(dropped)}
        elif name == "target_num_layers" and isinstance(dropped, int):
            amount = {"kept": dropped}
        setting = Setting("prune", {"pattern": pattern, "storage": "removed", **amount})
        yield call.found(setting, name)


def _nemo_quantization(call: Call) -> Iterator[Found]:
    """NeMo's QuantizationConfig(algorithm="int4_awq", enable_kv_cache=True)."""
    word = call.plain("algorithm", position=0)
    if isinstance(word, str) and word not in {"no_quant", "none"}:
        form = format_named(word) or ("int8" if word.startswith("int8") else AUTO)
        yield call.found(Setting("quantize", {"weights": form}), "algorithm")
    if call.plain("enable_kv_cache") is True:
        yield call.found(Setting("quantize", {"kv_cache": "fp8"}), "enable_kv_cache")


def _exported(call: Call) -> Iterator[Found]:
    """NeMo's exporter to an engine: how it is split, its batch, 8-bit weights and cache."""
    for names, kind in ((("tensor_parallelism_size", "tensor_parallel_size"), "tensor_parallel"),
                        (("pipeline_parallelism_size",), "pipeline_parallel")):  # fmt: skip
        size = whole_of(call.plain(*names))
        if size is not None and size > 1:
            yield call.found(Setting(kind, {"size": size}), *names)
    number = whole_of(call.plain("max_batch_size"))
    if number is not None and number > 1:
        yield call.found(Setting("batch", {"batch": number}), "max_batch_size")
    for name, field in (("fp8_quantized", "weights"), ("fp8_kvcache", "kv_cache")):
        if call.plain(name) is True:
            yield call.found(Setting("quantize", {field: "fp8"}), name)


_SPECS: Final = (
    (re.compile(r"^OCP_MXFP4|MXFP4"), "mxfp4"), (re.compile(r"^OCP_MXFP8|MXFP8"), "mxfp8"),
    (re.compile(r"^FP8"), "fp8"), (re.compile(r"^U?[Ii]nt4|^UINT4|^INT4"), "int4"),
    (re.compile(r"^U?[Ii]nt8|^UINT8|^INT8"), "int8"), (re.compile(r"^U?[Ii]nt3"), "int3"),
    (re.compile(r"^U?[Ii]nt2"), "int2"),
)  # fmt: skip


def _quark(call: Call) -> Iterator[Found]:
    """Quark's QuantizationConfig(weight=Int4PerGroupSpec(...).to_quantization_spec())."""
    value: Value | None = call.value("weight")
    inner = usual(value) if value is not None else None
    if isinstance(inner, Made) and inner.receiver is not None:
        inner = usual(inner.receiver)
    last = inner.name.rpartition(".")[2] if isinstance(inner, Made) else ""
    form = next((form for pattern, form in _SPECS if pattern.search(last)), None)
    if form:
        yield call.found(Setting("quantize", {"weights": form}), "weight")


def _paddle(call: Call) -> Iterator[Found]:
    """paddle.nn.quant.weight_quantize(w, algo="weight_only_int4"): int8 where nothing is said."""
    word = call.plain("algo", position=1)
    form = "int4" if isinstance(word, str) and word.endswith("int4") else "int8"
    yield call.found(Setting("quantize", {"weights": form}), "algo")


def _server(call: Call) -> Iterator[Found]:
    """TGI's launcher as a function."""
    yield from options("tgi")(call)


def _scheme(call: Call) -> Iterator[Found]:
    """QuantizationScheme(weights=QuantizationArgs(num_bits=4, group_size=128))."""
    value = call.value("weights")
    inner = usual(value) if value is not None else None
    if isinstance(inner, Made):
        held = Call(inner, call.hangs_on, call.file)
        if "float" in str(held.plain("type")).lower():
            form = "fp8" if held.plain("num_bits") != 4 else "nvfp4"
            yield held.found(Setting("quantize", {"weights": form}), "num_bits")
        else:
            yield from by_bits(8, group=None)(held)


def _colossal(call: Call) -> Iterator[Found]:
    """ColossalAI's InferenceConfig."""
    size = whole_of(call.plain("tp_size"))
    if size is not None and size > 1:
        yield call.found(Setting("tensor_parallel", {"size": size}), "tp_size")
    number = whole_of(call.plain("max_batch_size"))
    if number is not None and number > 1:
        yield call.found(Setting("batch", {"batch": number}), "max_batch_size")
    if call.plain("use_cuda_graph") is True:
        yield call.found(Setting("cuda_graphs"), "use_cuda_graph")
    if call.plain("use_spec_dec") is True:
        yield call.found(Setting("speculate", {}), "use_spec_dec")


def _endpoint(call: Call) -> Iterator[Found]:
    """boto3's create_model: the environment of a container that serves."""
    yield from environment("Environment", engine="tgi")(
        Call(_container(call), call.hangs_on, call.file)
    )


def _container(call: Call) -> Made:
    value = call.value("PrimaryContainer")
    inner = usual(value) if value is not None else None
    entries = inner.entries if isinstance(inner, Mapping) else {}
    return Made(call.made.node, "", [], dict(entries))


def _merged(call: Call) -> Iterator[Found]:
    """Mergekit's passthrough as a dict: layers stacked, or layers left out."""
    recipe = mapping_of(call.plain("obj", "config", position=0)) or {}
    slices = recipe.get("slices")
    if recipe.get("merge_method") != "passthrough" or not isinstance(slices, list):
        return
    ranges: list[tuple[int, int]] = []
    for entry in slices:
        sources = (mapping_of(entry) or {}).get("sources")
        for source in sources if isinstance(sources, list) else ():
            ends = (mapping_of(source) or {}).get("layer_range")
            if isinstance(ends, list) and len(ends) == 2 and all(type(n) is int for n in ends):
                ranges.append((ends[0], ends[1]))
    stacked = sum(end - start for start, end in ranges)
    whole = max((end for _, end in ranges), default=0)
    if stacked > whole:
        yield call.found(Setting("merge_layers", {"layers_added": stacked - whole}))
    elif stacked < whole:
        fields = {"pattern": "layers", "storage": "removed", "dropped": whole - stacked}
        yield call.found(Setting("prune", fields))


def _as_engine(name: str, rule: Rule) -> Rule:
    def found(call: Call) -> Iterator[Found]:
        yield call.found(Fact("engine", name))
        yield from rule(call)

    return found


_LLAMA: Final = _as_engine("llama.cpp", every(options("llamacpp"), model_fact("model")))

CALLS: Final[Rows] = MappingProxyType(
    {
        "langchain_huggingface:HuggingFacePipeline.from_model_id": _PIPELINE,
        "langchain_community:HuggingFacePipeline.from_model_id": _PIPELINE,
        "langchain:HuggingFacePipeline.from_model_id": _PIPELINE,
        "haystack:HuggingFaceLocalGenerator": _PIPELINE,
        "haystack:HuggingFaceLocalChatGenerator": _PIPELINE,
        "llama_index:HuggingFaceLLM": _PIPELINE,
        "outlines:models.transformers": _PIPELINE,
        "outlines:models.vllm": _as_engine("vllm", options("vllm", "model")),
        "outlines:models.llamacpp": _LLAMA,
        "guidance:models.LlamaCpp": _LLAMA,
        "guidance:models.Transformers": _PIPELINE,
        "gpt4all:GPT4All": _as_engine("llama.cpp", model_fact("model_name")),
        "lm_eval:simple_evaluate": _model_args,
        "lm_eval:evaluator.simple_evaluate": _model_args,
        "fastchat:load_model": every(
            sets_if("load_8bit", "quantize", weights="int8-bnb"),
            sets_if("cpu_offloading", "offload", weights="unknown"),
        ),
        ".distribute": _distributed,
        ".create_model": _endpoint,
        ".launch_model": by_word("quantization"),
        "minference:MInference": sets("attention_kernel", name="MInference"),
        "paddle:weight_quantize": _paddle,
        "colossalai:InferenceConfig": _colossal,
        "text_generation_server:serve": _server,
        "openllm:LLM": options("tgi"),
        "compressed_tensors:QuantizationScheme": _scheme,
        "nemo:PruningConfig": _nemo_pruning,
        "nemo:QuantizationConfig": _nemo_quantization,
        "nemo:llm.distill": sets("distill", model="unknown"),
        **{
            f"{package}:{name}.export": _exported
            for package in ("nemo", "nemo_export", "nemo_deploy")
            for name in ("TensorRTLLM", "vLLMExporter")
        },
        "quark:QuantizationConfig": _quark,
        "bitblas:MatmulConfig": by_word("W_dtype"),
        "bitblas:Linear": by_word("W_dtype"),
        "ray:serve.deployment": _replicas,
        "ray:deployment": _replicas,
        "mergekit:MergeConfiguration.model_validate": _merged,
        "mergekit:MergeConfiguration.parse_obj": _merged,
        "lmdeploy:auto_awq": by_bits(4, names=("w_bits",), symmetric=False),
        "lmdeploy:auto_gptq": by_bits(4, names=("w_bits",)),
        "lmdeploy:smooth_quant": quantized("int8"),
        "shortgpt:ShortGPT": pruned("layers", storage="removed"),
        "short_gpt:ShortGPT": pruned("layers", storage="removed"),
    }
)
"""Rows."""
