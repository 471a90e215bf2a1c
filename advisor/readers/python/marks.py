"""Which scripts are worth parsing: a search of their bytes before any decoding.

A script calls a library only where it imports it, so the words that are searched are those of the
rows of the libraries it imports, and those of levers made by hand. Words that many calls share
(`from_pretrained`, `convert`) count beside what makes them a lever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

_IMPORTS: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_PARTIAL: Final = re.compile(rb"partial\(\s*(?:\w+\.)*(\w+)")
_ALIASES: Final = re.compile(rb"^[ \t]*from [^\n]*\b(\w+) as \w", re.MULTILINE)
_ENGINES: Final = (
    b"vllm", b"sglang", b"trtllm", b"text-generation", b"llama-", b"lmdeploy", b"VLLM_",
    b"NUM_SHARD", b"OLLAMA_", b"SGLANG_", b"prune_method", b"slicegpt", b"hf_prune", b"_bits ",
    b"qformat", b"flexgen", b"flex_opt", b"export_llama", b"torchchat", b"checkpoint_path",
    b"awq.entry", b"auto_round", b"auto-round", b"mlx_lm.", b"litgpt", b"fastchat",
    b"ktransformers", b"--vram-budget", b"run_inference.py", b"ea-model-path", b"enable_",
    b"woq_", b"quantize_quark",
)  # fmt: skip
_TENSORS: Final = frozenset({b"torch", b"mlx", b"tensorflow", b"jax"})
_BESIDE: Final[Mapping[str, re.Pattern[bytes]]] = MappingProxyType(
    {
        "from_pretrained": re.compile(
            rb"quantization_config|load_in_|attn_implementation|tp_plan|offload_folder|max_memory"
            rb"|device_map|use_flash_attention|GPTQ|AWQ|[Aa]wq|gptq|int[48]|[48]-?bits?\b|[Ff][Pp]8|MedusaModel|EaModel"
            rb"|num_cores\s*=|tp_degree\s*=|[Bb]it[Nn]et"
        ),
        "generate": re.compile(
            rb"assistant_model\s*=|prompt_lookup\w*\s*=|cache_implementation\s*=\s*[\"']"
            rb"|use_cache\s*=\s*False|assistant_early_exit|kv_bits|past_key_values\s*=\s*copy"
        ),
        "pipeline": re.compile(rb"batch_size|quantization|load_in_|attn_impl|torch_dtype"),
        "compile": re.compile(
            rb"torch\.compile|import compile|mx\.compile|torch_tensorrt\.compile"
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
        "Model": re.compile(rb"NUM_SHARD|QUANTIZE|SM_NUM_GPUS"),
        "to_sparse": re.compile(rb"\.to_sparse\("),
        "configure": re.compile(rb"perchannel\s*="),
        "create_model": re.compile(rb"PrimaryContainer"),
        "serve": re.compile(rb"quantize\s*=|speculate\s*=|num_shard"),
        "deployment": re.compile(rb"num_replicas\s*="),
        "update": re.compile(rb"_KV_CFG"),
        "distribute": re.compile(rb"generate_strategy|bnb\."),
        "load_tp": re.compile(rb"\.load_tp\("),
    }
)
"""Last words of rows that many calls share, and what must stand in the file too."""
_PARTS: Final = (
    r"\s=\s[^=]{0,160}?"
    r"(?:\[[^\n\]]{0,30}:|\bif\b|\bnew|\[\w+\]\)? for\b|\[\w+\]\s+for\b|ModuleList\(\w+\))"
)
"""What follows a list of layers that is made anew, though the lines are broken."""
BY_HAND: Final = (
    # Each begins with a literal, which is what makes a search fast.
    r"weight(?:\.data)?(?:\.(?:mul_|masked_fill_)\(|\s*\*=)",
    r"weight(?:\.data)?\[[^\n]{1,80}\](?:\.data)?(?:\.zero_\(|\.fill_\(0|\s*=\s*0)",
    r"weight(?:\.data)?\s*=[^=]{0,120}?(?:mask|where|index_select|round\(|quant|prune|sparsif)",
    r"weight(?:\.data)?\s*=[^=]{0,80}?weight(?:\.data)?\[",
    r"weight(?:\.data)?\s*=[^=]{0,80}?[<>]",
    r"W\[[^\n]{1,40}\]\s*=\s*0",
    r"w\[[^\n]{1,40}\]\s*=\s*0",
    r"\.data\s*=[^=]{0,80}?(?:mask|where\(|[<>])",
    r"\.data\s*\*=",
    r"\]\s*=\s*\w+ \* (?:\w*mask|\([^\n]{0,60}[<>])",
    r"p(?:aram)?(?:\.data)?\.mul_\([^\n]*(?:mask|[<>])",
    r"scatter_\([^\n=]{1,40}, 0(?:\.0)?\)",
    r"\* \w*mask\[[^\n]{1,40}None",
    r"\* self\.\w*(?:head|gate)",
    r"head_mask\[[^\n]{1,40}\]\s*=\s*0",
    r"svd(?:_lowrank|s)?\(",
    r"layers?" + _PARTS,
    r"\.h" + _PARTS,
    r"blocks?" + _PARTS,
    r"experts" + _PARTS,
    r"experts\s=[^\n]*experts\[",
    r"layers\s=\s(?!layers|self|config|None|num_|args)\w+\s*(?:\n|$)",
    r"\.h\s=\s\w+\s*(?:\n|$)",
    r"setattr\([^\n]{1,60}[\"'](?:layers?|h|blocks?)[\"']",
    r"del [^\n]{1,60}(?:layers?|\.h|blocks)\[",
    r"layers?\.pop\(",
    r"\.h\.pop\(",
    r"cat\(\[[^\n]{1,60}\[:, :, ",
    r"\[\.\.\., -\w+:, :\]",
    r"round\(\)[^\n]{0,60}int8",
    r"past_key_values\s*=[^\n]*\[[^\n]*-",
    r"k_proj\.weight",
    r"register_buffer\([^\n]*round\(",
    r"conf(?:idence)?\w*(?:\.\w+\(\))?\s*[<>]",
    r"> (?:self\.)?\w*thresh",
    r"< (?:self\.)?\w*thresh",
    r"entropy\w*\s*[<>]",
    r"exit_\w*\s*[<>]",
    r"> self\.exit_",
)
"""What code on tensors says that works in one of the known ways."""
_DOCUMENTS: Final = (b"layer_range:", b"Modifier:", b"merge_method:")
_BY_NAME: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rb"student\w*\s*=[^\n]*(?:load|from_pretrained|build)",
        rb"draft\w*\s*=[^\n]*(?:load|from_pretrained|build)",
        rb"assistant\w*\s*=[^\n]*(?:load|from_pretrained|build)",
        rb"specul\w*\([^\n]*(?:draft|assistant|small)",
        rb"num_key_value_heads = \d",
        rb"config\.use_cache\s*=\s*False",
        rb"sliding_window\s*=\s*\d",
        rb"num_hidden_layers\s*=\s*\d",
        rb"(?:tensor|model|inference)_\w*(?:size|degree|shards)\s*=\s*(?:[2-9]|1\d)",
        rb"pipeline_\w*(?:size|degree)\s*=\s*(?:[2-9]|1\d)",
        rb"load_in_[48]bit\s*=\s*True",
        rb"kv_cache_dtype\s*=\s*[\"'](?:fp|int|u)",
        rb"enable_(?:prefix_caching|chunked_prefill|expert_parallel)\s*=\s*True",
        rb"teacher(?:_model)?\s*=",
    )
)
"""What is loaded or set under names that say what it is for."""
_IN_BYTES: Final = tuple(re.compile(pattern.encode()) for pattern in BY_HAND)
_COMMANDS: Final = re.compile(
    rb"vllm[\"', ]+serve|-m[\"', ]+vllm\.|entrypoints\.(?:openai\.)?api_server"
    rb"|sglang\.launch_server|trtllm-(?:serve|build|llmapi)"
    rb"|text-generation-(?:launcher|inference)|llama-(?:server|cli|bench|quantize)"
    rb"|lmdeploy[\"', ]+serve|vllm/vllm-openai|lmsysorg/sglang"
    rb"|--prune[-_]method|slicegpt\.py|hf_prune\.py|--[wka]_bits|--qformat|flex(?:gen|_opt)[^\n]* -"
    rb"|export_llama |torchchat[^\n]* -|--(?:draft_)?checkpoint_path|awq\.entry"
    rb"|auto[-_]round[^\n]* -|mlx_lm\.(?:convert|generate|server|chat)[^\n]* -|litgpt[^\n]* -"
    rb"|fastchat\.serve|ktransformers|--vram-budget|run_inference\.py|--ea-model-path"
    rb"|--enable_(?:small_cache|h2o_cache|streaming)|--woq_|quantize_quark"
    rb"|environ[^\n]{0,20}[\"'](?:VLLM|SGLANG|OLLAMA|LMCACHE|TRTLLM)_|[\"']NUM_SHARD"
)


class _Words(NamedTuple):
    """What is searched for one library."""

    plain: tuple[bytes, ...]
    """What is called, with the bracket."""
    beside: frozenset[str]


def worth_reading(data: bytes) -> bool:
    """Whether a script's bytes may hold a call, a command or an idiom that sets up a lever."""
    roots = _roots(data)
    if roots & _TENSORS and any(pattern.search(data) is not None for pattern in _IN_BYTES):
        return True
    return _calls(data, roots)


def calls_levers(data: bytes) -> bool:
    """Whether there may be a call or a command among what makes a script worth reading."""
    return _calls(data, _roots(data))


def _roots(data: bytes) -> set[bytes]:
    """The libraries that a script imports."""
    if b"\r" in data or b"\f" in data:
        data = data.replace(b"\r", b"\n").replace(b"\f", b"\n")
    return set(_IMPORTS.findall(data))


def _calls(data: bytes, roots: set[bytes]) -> bool:
    if any(word in data for word in _ENGINES) and _COMMANDS.search(data) is not None:
        return True
    if any(word in data for word in _DOCUMENTS):
        return True
    if b"Modifier(" in data or any(pattern.search(data) is not None for pattern in _BY_NAME):
        return True
    words = _words()
    known = [words[root] for root in roots & words.keys()]
    every = (*known, words[b"."], words[b"*"])
    passed = {word + b"(" for word in _ALIASES.findall(data)}
    if b"partial(" in data:
        passed |= {word + b"(" for word in _PARTIAL.findall(data)}
    if passed and any(not passed.isdisjoint(one.plain) for one in every):
        return True
    return any(
        any(word in data and _whole(word).search(data) is not None for word in one.plain)
        or any(_BESIDE[word].search(data) is not None for word in one.beside if _has(word, data))
        for one in every
    )


@lru_cache(maxsize=1024)
def _whole(word: bytes) -> re.Pattern[bytes]:
    """A call of just this word."""
    return re.compile(rb"(?<!\w)" + re.escape(word))


def _has(word: str, data: bytes) -> bool:
    """Whether a word is called, or decorates."""
    return word.encode() + b"(" in data or (word == "compile" and b"torch.compile" in data)


@lru_cache(maxsize=1)
def _words() -> Mapping[bytes, _Words]:
    """By library, the words of its rows; "." for methods of anything, "*" for names of no one."""
    from advisor.readers.python import tables  # noqa: PLC0415 - only scripts need them

    plain: dict[bytes, set[bytes]] = {b".": set(), b"*": set()}
    beside: dict[bytes, set[str]] = {}
    for key in tables.calls():
        root, _, name = key.partition(":") if ":" in key else (".", "", key.lstrip("."))
        owner, _, last = name.rpartition(".")
        if root == "*" and owner:
            continue  # its class is imported from the library of another row
        if last in _BESIDE:
            beside.setdefault(root.encode(), set()).add(last)
        elif last not in {"()", ""}:
            plain.setdefault(root.encode(), set()).add(last.encode() + b"(")
    return MappingProxyType(
        {
            root: _Words(tuple(sorted(plain.get(root, ()))), frozenset(beside.get(root, ())))
            for root in (*plain, *beside)
        }
    )
