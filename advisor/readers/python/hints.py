"""What scripts say that may set up a lever: patterns, and words of which one must stand there too.

The words are looked up in the set of a file's words, which costs nothing; a pattern is searched
only where one of its words stands. Patterns begin with a literal where they can, which is what
makes a search fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple


class Hint(NamedTuple):
    """A pattern, and words of which one must stand in the file; any file where there are none."""

    words: tuple[str, ...]
    pattern: str


@lru_cache(maxsize=512)
def _compiled(hint: Hint) -> tuple[frozenset[bytes], re.Pattern[bytes]]:
    return frozenset(word.encode() for word in hint.words), re.compile(hint.pattern.encode())


def held(hints: Iterable[Hint], data: bytes, words: set[bytes]) -> Iterable[Hint]:
    """The hints that a file's bytes hold."""
    for hint in hints:
        needed, pattern = _compiled(hint)
        if (not needed or not needed.isdisjoint(words)) and pattern.search(data) is not None:
            yield hint


_LOADED: Final = rb"(?:LM|Model)\.from_pretrained\((?:[^\n]*\n){0,8}?[^\n]*\."
"""A model that is loaded a few lines before."""

BESIDE: Final[Mapping[str, re.Pattern[bytes]]] = MappingProxyType(
    {
        "from_pretrained": re.compile(
            rb"quantization_config|load_in_|attn_implementation|tp_plan|offload_folder|max_memory"
            rb"|device_map|use_flash_attention|(?i:gptq|awq|aqlm|spqr|quip|int[48]|\d-?bits?\b|fp8)"
            rb"|MedusaModel|EaModel|num_cores\s*=|tp_degree\s*=|[Bb]it[Nn]et|num_hidden_layers"
            rb"|1[._]58|use_kernels|AutoDistributed|AutoLigerKernel|gguf_file|(?i:\.gguf\b)|attention_sink|Medusa|Eagle|use_fp8"
        ),
        "generate": re.compile(
            rb"(?:assistant_model|prompt_lookup\w*)[\"']?\]?\s*[=:]"
            rb"|cache_implementation[\"']?\]?\s*[=:]\s*[\"']|use_cache[\"']?\]?\s*[=:]\s*False"
            rb"|assistant_early_exit|kv_bits|past_key_values\s*=\s*copy"
            rb"|prefill_chunk_size\s*=|model\s*=\s*[\"'][^\"'\n]*[-_:]q\d_|num_gpu"
        ),
        "pipeline": re.compile(
            rb"batch_size|quantization|load_in_|attn_impl|torch_dtype|assistant_model"
        ),
        "compile": re.compile(
            rb"torch\.compile\((?!\))|@torch\.compile\n|import compile\b|mx\.compile\("
            rb"|torch_tensorrt\.compile\(|\.compile\("
            rb"(?:mode|backend|fullgraph)"
        ),
        "scaled_dot_product_attention": re.compile(rb"from_pretrained"),
        "convert": re.compile(
            rb"quantization\s*=|quantization\.convert|import convert\b|q_bits"
            rb"|mt(?:d|sp)\.convert|(?:distill|speculative)\.convert"
        ),
        "apply": re.compile(rb"prune\.\w+\.apply"),
        "quantize": re.compile(
            rb"quant_config|quantize_config|weights\s*=|mtq\.|bits\s*=|\.quantize\(\s*[\"']"
        ),
        "load": re.compile(rb"(?i:int[48]|[48]-?bits?\b|fp8|awq|gptq)"),
        "run": re.compile(rb"[\"']passes[\"']"),
        "prune": re.compile(rb"mtp\.prune|mcore_minitron|fastnas|gradnas|ratio\s*="),
        "Model": re.compile(rb"NUM_SHARD|QUANTIZE|SM_NUM_GPUS|(?:int[48]|fp8)"),
        "to_sparse": re.compile(rb"\.to_sparse\("),
        "configure": re.compile(rb"perchannel\s*="),
        "create_model": re.compile(rb"PrimaryContainer|builder"),
        "serve": re.compile(rb"quantize\s*=|speculate\s*=|num_shard|tensor_parallel"),
        "deployment": re.compile(rb"num_replicas\s*="),
        "update": re.compile(rb"_KV_CFG"),
        "distribute": re.compile(rb"generate_strategy|bnb\."),
        "to": re.compile(
            rb"from_pretrained\([^\n]*\)\.to\((?:dtype=)?torch\.(?:b?float16|half)"
            rb"|from_pretrained\([^\n]*float32"
        ),
        "half": re.compile(_LOADED + rb"half\("),
        "bfloat16": re.compile(_LOADED + rb"bfloat16\("),
        "get_config": re.compile(rb"LLMTemplate"),
        "compile_model": re.compile(rb"KV_CACHE_PRECISION"),
        "set_property": re.compile(rb"KV_CACHE_PRECISION"),
        "batch": re.compile(rb"max_batch_size\s*="),
        "export": re.compile(rb"TensorRTLLM|vLLMExporter"),
        "jit": re.compile(rb"thunder\.jit"),
        "create": re.compile(rb"quantize\s*=|Pipeline\.create"),
    }
)
"""Last words of rows that many calls share, and what must stand in the file too."""

_PARTS: Final = (
    r"\s=\s[^=\n]{0,120}?(?:[\(\[]\n[^=\n]{0,80}?){0,2}"
    r"(?:\[[^\n\]]{0,30}:|\bif\b|\bnew|[\(\[]\s*[\w.]*\w\[\w+\]\s+for\b|ModuleList\(\w+\))"
)
"""What follows a list of layers that is made anew, though the lines are broken."""
_OF_A_MODEL: Final = (
    r"(?:(?<=\.layers)|(?<=\.layer)|(?<=\w_layers))(?<!self\.layers)(?<!self\.layer)"
    r"(?<!num_layers)(?<!hidden_layers)(?<!n_layers)"
)
"""Layers of something: a class that makes its own sets `self.layers`."""
_LEAVES: Final = r"[^\n]*:\n[^\n]*(?:\n[^\n]*)?\b(?:break|return)\b"
_WEIGHT: Final = ("weight",)
_LAYERS: Final = ("layers", "layer", "decoder_layers", "encoder_layers")

BY_HAND: Final = (
    Hint(_WEIGHT, r"weight(?:\.data)?(?:\.(?:mul_|masked_fill_)\(|\s*\*=)"),
    Hint(
        _WEIGHT,
        r"weight(?:\.data)?\[[^\n]{1,80}\](?:\.data)?(?:\.zero_\(|\.fill_\(0|\s*=\s*0)",
    ),
    Hint(
        _WEIGHT,
        r"\.weight(?:\.data)?\s*=[^=]{0,120}?"
        r"(?:mask|where|index_select|round\(|quant|prune|sparsif)",
    ),
    Hint(_WEIGHT, r"\.weight(?:\.data)?\s*=[^=]{0,80}?weight(?:\.data)?\["),
    Hint(_WEIGHT, r"\.weight(?:\.data)?\s*=[^=]{0,80}?[<>]"),
    Hint(("W",), r"W\[[^\n]{1,40}\]\s*=\s*0"),
    Hint(("w",), r"w\[[^\n]{1,40}\]\s*=\s*0"),
    Hint(("data",), r"\.data\s*=[^=]{0,80}?(?:mask|where\(|[<>])"),
    Hint(("data",), r"\.data\s*\*="),
    Hint(("abs", "mask", "masks"), r"\]\s*=\s*\w+ \* (?:\w*mask|\([^\n]{0,60}[<>])"),
    Hint(("mul_",), r"p(?:aram)?(?:\.data)?\.mul_\([^\n]*(?:mask|[<>])"),
    Hint(("scatter_",), r"scatter_\([^\n=]{1,40}, 0(?:\.0)?\)"),
    Hint(("None",), r"out(?:puts?)? \* \w*mask\[[^\n]{1,40}None"),
    Hint(("None",), r"attn\w* \* \w*mask\[[^\n]{1,40}None"),
    Hint(("None",), r"heads? \* \w*mask\[[^\n]{1,40}None"),
    Hint((), r"\* self\.\w*head\w*(?:gate|mask)"),
    Hint(("head_mask",), r"head_mask\[[^\n]{1,40}\]\s*=\s*0"),
    Hint(("svd", "svd_lowrank", "svds"), r"svd(?:_lowrank|s)?\("),
    Hint(_LAYERS, r"layers?" + _OF_A_MODEL + _PARTS),
    Hint(_LAYERS, r"self\.layers?\s=\s[^=\n]{0,40}self\.layers?\["),
    Hint(("h",), r"\.h" + _PARTS),
    Hint(("blocks", "block"), r"\.blocks?" + _PARTS),
    Hint(("experts",), r"\.experts" + _PARTS),
    Hint(("experts",), r"\.experts\s=[^\n]*experts\["),
    Hint(_LAYERS, r"layers\s=\s(?!layers|self|config|None|num_|args)\w+\s*(?:\n|$)"),
    Hint(("h",), r"\.h\s=\s\w+\s*(?:\n|$)"),
    Hint(("setattr",), r"setattr\([^\n]{1,60}[\"'](?:layers?|h|blocks?)[\"']"),
    Hint(("del",), r"del [^\n]{1,60}(?:layers?|\.h|blocks)\["),
    Hint(("pop",), r"layers?\.pop\("),
    Hint(("pop",), r"\.h\.pop\("),
    Hint(("cat",), r"cat\(\[[^\n]{1,60}\[:, :, "),
    Hint((), r"\[\.\.\., -\w+:, :\]"),
    Hint((), r"\[:, :, -(?:self\.)?\w*(?:window|recent|budget|keep|kept|max_\w+)\w*:"),
    Hint(("chunk", "tensor_split", "split"), r"(?:chunk|split)\([^\n]*\)\[\w*rank\w*\]"),
    Hint(_LAYERS, r"layers\[\w+\]\s*=\s*[\w.]*(?i:identity|skip|noop|passthrough|bypass)"),
    Hint(("int8",), r"round\([^\n]{0,90}int8"),
    Hint(("float8_e4m3fn", "float8_e5m2"), r"\.to\((?:dtype=)?torch\.float8"),
    Hint(("data", "weight"), r"quanti[sz]e\w*\((?:\w+\.)*(?:data|weight)"),
    Hint(("abs",), r"abs\([^\n]{0,80}\]\s*=\s*0"),
    Hint(("topk", "argsort", "sort"), r"w\w*\[\w+\]\s*=\s*0"),
    Hint(_WEIGHT, r"weight\w* \* (?:self\.)?\w*mask"),
    Hint(("gather", "index_select"), r"(?:gather|index_select)\((?:dim=)?-?2,"),
    Hint(("past_key_values",), r"past_key_values\s*=[^\n]*\[[^\n]*-"),
    Hint(("mean",), r"[kv]_proj\.weight(?:\.data)?\s*="),
    Hint(("mean",), r"[kv]\.weight(?:\.data)?\s*="),
    Hint(("register_buffer",), r"register_buffer\([^\n]*round\("),
    Hint((), r"conf(?:idence)?s?(?:\.\w+\(\))?[ \t]*[<>]" + _LEAVES),
    Hint((), r"thresh\w*" + _LEAVES),
    Hint((), r"entropy\w*[ \t]*[<>]" + _LEAVES),
    Hint((), r"exit_\w*" + _LEAVES),
)
"""What code on tensors says that works in one of the known ways."""

DOCUMENTS: Final = (
    Hint(("layer_range", "merge_method"), r"(?:layer_range|merge_method):"),
    Hint((), r"Modifier[:(]"),
)
"""Recipes as texts and as objects."""

BY_NAME: Final = (
    Hint((), r"student\w*\s*=[^\n]*(?:load|from_pretrained|build)"),
    Hint((), r"draft\w*\s*=[^\n]*(?:load|from_pretrained|build)"),
    Hint((), r"assistant\w*\s*=[^\n]*(?:load|from_pretrained|build)"),
    Hint((), r"class \w*Specul"),
    Hint((), r"specul\w*\([^\n]*(?:draft|assistant|small)"),
    Hint(("num_key_value_heads",), r"num_key_value_heads = \d"),
    Hint(("use_cache",), r"config\.use_cache\s*=\s*False"),
    Hint(("sliding_window",), r"sliding_window\s*=\s*\d"),
    Hint(("num_hidden_layers",), r"num_hidden_layers\s*=\s*\d"),
    Hint(("teacher", "teacher_model"), r"teacher(?:_model)?\s*=\s*\w*teacher"),
    Hint(("k_bits", "v_bits"), r"[kv]_bits\s*=\s*\d"),
    Hint(("head_mask",), r"head_mask\s*=\s*(?!None)"),
    Hint(
        ("tensor_parallel_size", "tensor_model_parallel_size", "tensor_parallelism_size",
         "tensor_parallel_degree", "model_parallel_size", "tensor_parallel_shards",
         "pipeline_parallel_size", "pipeline_model_parallel_size", "pipeline_parallelism_size",
         "tp_degree", "num_shard", "tp_world_size"),
        r"(?:_size|_degree|_shards?)\s*=\s*(?:[2-9]|1\d)",
    ),
    Hint(("load_in_4bit", "load_in_8bit"), r"load_in_[48]bit\s*=\s*True"),
    Hint(("kv_cache_dtype",), r"kv_cache_dtype\s*=\s*[\"'](?:fp|int|u)"),
    Hint(
        ("enable_prefix_caching", "enable_chunked_prefill", "enable_expert_parallel"),
        r"enable_(?:prefix_caching|chunked_prefill|expert_parallel)\s*=\s*True",
    ),
)  # fmt: skip
"""What is loaded, set or passed under names that say what it is for."""

COMMANDS: Final = (
    Hint(("serve",), r"vllm[\"', ]+serve"),
    Hint(("vllm",), r"-m[\"', ]+vllm\."),
    Hint(("api_server",), r"entrypoints\.(?:openai\.)?api_server"),
    Hint(("launch_server",), r"sglang\.launch_server"),
    Hint(("trtllm",), r"trtllm-(?:serve|build|llmapi)"),
    Hint(("launcher", "inference"), r"text-generation-(?:launcher|inference)"),
    Hint(("llama",), r"llama-(?:server|cli|bench|quantize)"),
    Hint(("lmdeploy",), r"lmdeploy[\"', ]+(?:serve|lite|convert)"),
    Hint(("openai",), r"vllm/vllm-openai"),
    Hint(("lmsysorg",), r"lmsysorg/sglang"),
    Hint(("ct2",), r"ct2-transformers-converter"),
    Hint(("optimum",), r"optimum-cli[\"', ]+export"),
    Hint(("olive",), r"olive[\"', ]+(?:quantize|auto-opt|optimize|run)"),
    Hint(("onnxruntime_genai",), r"onnxruntime_genai\.models\.builder"),
    Hint(("convert_hf_to_gguf",), r"convert_hf_to_gguf\.py"),
    Hint(
        ("koboldcpp", "tabbyAPI", "exllamav2", "exllamav3"), r"(?:koboldcpp|tabby|exllama)\S*\.py"
    ),
    Hint(("mlc_llm",), r"mlc_llm[\"', ]+(?:serve|convert|gen|chat)"),
    Hint(("ollama",), r"ollama[\"', ]+(?:run|serve)"),
    Hint(("convert_checkpoint",), r"convert_checkpoint\.py"),
    Hint(("prune_method",), r"--prune_method"),
    Hint(("slicegpt", "run_slicegpt"), r"slicegpt\.py"),
    Hint(("hf_prune", "pruner_type"), r"hf_prune\.py|--pruner_type"),
    Hint(("prunen", "wbits", "sparsity"), r"(?:opt|llama|bloom)\.py[\"', ]"),
    Hint(("w_bits", "a_bits", "k_bits"), r"--[wka]_bits"),
    Hint(("qformat", "hf_ptq"), r"--qformat|hf_ptq\.py"),
    Hint(("flexgen", "flex_opt", "flexllmgen"), r"flex(?:gen|_opt|llmgen)[^\n]*[ \"']-"),
    Hint(("export_llama",), r"export_llama "),
    Hint(("torchchat",), r"torchchat[^\n]*[ \"']-"),
    Hint(("checkpoint_path", "draft_checkpoint_path"), r"--(?:draft_)?checkpoint_path"),
    Hint(("entry",), r"awq\.entry"),
    Hint(("auto_round", "auto"), r"auto[-_]round[^\n]*[ \"']-"),
    Hint(("mlx_lm",), r"mlx_lm\.(?:convert|generate|server|chat)[^\n]*[ \"']-"),
    Hint(("litgpt",), r"litgpt[^\n]*[ \"']-"),
    Hint(("fastchat",), r"fastchat\.serve"),
    Hint(("lightllm",), r"lightllm\.server"),
    Hint(("ktransformers", "vram"), r"ktransformers[^\n]*[ \"']-|--vram-budget"),
    Hint(("setup_env", "run_inference"), r"(?:setup_env|run_inference)\.py"),
    Hint(("ea",), r"--ea-model-path"),
    Hint(
        ("enable_small_cache", "enable_h2o_cache", "enable_streaming", "press_name"),
        r"--(?:enable_|press_)",
    ),
    Hint(("woq_bits", "woq_algo"), r"--woq_"),
    Hint(("quantize_quark", "quant_scheme"), r"quantize_quark|--quant_scheme"),
    Hint(
        ("environ", "environment", "env", "putenv"),
        r"[\"'](?:VLLM|SGLANG|OLLAMA|LMCACHE|TRTLLM)_\w+[\"']\s*(?:\]\s*=|,\s*[\"']|:)",
    ),
    Hint(("OLLAMA_KV_CACHE_TYPE", "OLLAMA_NUM_PARALLEL", "OLLAMA_FLASH_ATTENTION"), r"OLLAMA_"),
    Hint(("NUM_SHARD",), r"NUM_SHARD"),
)
"""Command lines and variables of engines and tools."""
