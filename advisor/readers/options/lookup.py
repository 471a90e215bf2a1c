"""Which engine takes an option, and under which of its spellings.

Spellings meet in kebab-case: `--tensor_parallel_size`, `tensorParallelSize` and
`tensor-parallel-size` are one. `--no-X` is the negation of a switch, and argparse takes every
beginning of a name that only one option has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.readers.options.effects import OPEN, Effect, Meaning, Setting, Value
from advisor.readers.options.tools import TOOLS
from advisor.readers.options.values import kebab, switch_of

ENGINES: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        # engine: module, its options, its environment
        "vllm": ("vllm", "OPTIONS", "ENVIRONMENT"),
        "sglang": ("sglang", "OPTIONS", "ENVIRONMENT"),
        "tensorrt_llm": ("tensorrt_llm", "OPTIONS", "ENVIRONMENT"),
        "tgi": ("tgi", "TGI", "TGI_ENVIRONMENT"),
        "djl": ("tgi", "DJL", ""),
        "lmdeploy": ("tgi", "LMDEPLOY", ""),
        "llamacpp": ("llamacpp", "LLAMACPP", ""),
        "ollama": ("llamacpp", "", "OLLAMA_ENVIRONMENT"),
        "localai": ("llamacpp", "LOCALAI", ""),
        "kobold": ("llamacpp", "KOBOLD", ""),
        "exllama": ("llamacpp", "EXLLAMA", ""),
        "mlc": ("llamacpp", "MLC", ""),
        "jetstream": ("transformers", "JETSTREAM", ""),
        "transformers": ("transformers", "TRANSFORMERS", ""),
        "deepspeed": ("transformers", "DEEPSPEED", ""),
        "ctranslate2": ("transformers", "CTRANSLATE2", ""),
        "openvino": ("transformers", "OPENVINO", ""),
        "olive": ("transformers", "OLIVE", ""),
    }
)
"""Where each engine's tables are."""

_GUESSED: Final = (
    "vllm", "sglang", "tensorrt_llm", "tgi", "lmdeploy", "llamacpp", "transformers",
)  # fmt: skip
"""Engines whose options are tried, in this order, where nothing names the engine."""
LONGEST_NAME: Final = 80
"""Characters of an option's name."""
_LEAST_PREFIX: Final = 6
"""Letters of an abbreviated option; argparse takes fewer, people do not write fewer."""
_PREFIXED: Final = (("LLAMA_ARG_", "llamacpp"), ("OPTION_", "djl"), ("SGLANG_", "sglang"),
                    ("AXOLOTL_", ""))  # fmt: skip


class Option(NamedTuple):
    """An option as it was found."""

    engine: str
    name: str
    """Its first spelling."""
    meaning: Meaning
    negated: bool = False


class _Table(NamedTuple):
    options: Mapping[str, tuple[str, Meaning]]
    """By every spelling: the first spelling and the meaning."""
    environment: Mapping[str, Meaning]


@lru_cache(maxsize=32)
def _table(engine: str) -> _Table:
    if engine in TOOLS:
        return _Table(_by_spelling(TOOLS[engine][1]), MappingProxyType({}))
    module, options, environment = ENGINES[engine]
    loaded = import_module(f"advisor.readers.options.{module}")
    return _Table(
        _by_spelling(getattr(loaded, options) if options else {}),
        getattr(loaded, environment) if environment else MappingProxyType({}),
    )


def _by_spelling(table: Mapping[tuple[str, ...], Meaning]) -> Mapping[str, tuple[str, Meaning]]:
    return MappingProxyType(
        {name: (names[0], meaning) for names, meaning in table.items() for name in names}
    )


@lru_cache(maxsize=4096)
def find_option(engine: str | None, name: str) -> Option | None:
    """The option that a spelling means; None where the engine has none like it.

    `engine` is a key of `ENGINES` or `TOOLS`, or None: then an option is found where its spelling
    is long enough to be no one else's.
    """
    if len(name) > LONGEST_NAME:
        return None
    spelling = kebab(name)
    if engine is not None:
        found = _of_engine(engine, spelling) if engine in ENGINES or engine in TOOLS else None
        if found is None and engine == "vllm" and spelling.startswith("engine-args-"):
            return find_option(engine, spelling.removeprefix("engine-args-"))
        return found
    if len(spelling) < _LEAST_PREFIX:
        return None
    for guess in _GUESSED:
        found = _of_engine(guess, spelling, whole=True)
        if found is not None:
            return found
    return None


def _of_engine(engine: str, spelling: str, *, whole: bool = False) -> Option | None:
    options = _table(engine).options
    for negated, bare in ((False, spelling), (True, _without_no(spelling))):
        if not bare:
            continue
        known = options.get(bare)
        if known is None and not whole:
            known = _abbreviated(options, bare)
        if known is not None:
            return Option(engine, known[0], known[1], negated)
    return None


def _without_no(spelling: str) -> str:
    return spelling.removeprefix("no-") if spelling.startswith("no-") else ""


def _abbreviated(
    options: Mapping[str, tuple[str, Meaning]], bare: str
) -> tuple[str, Meaning] | None:
    """The one option that begins with a word, as argparse completes it."""
    if len(bare) < _LEAST_PREFIX:
        return None
    found = {known[0]: known for name, known in options.items() if name.startswith(bare)}
    return next(iter(found.values())) if len(found) == 1 else None


def read_option(engine: str | None, name: str, value: Value) -> tuple[Effect, ...] | None:
    """What an option does: levers and facts, nothing where it is off, None for one unknown.

    `name` in any spelling (`--tp`, `tensor_parallel_size`, `tensorParallelSize`, `--no-X`);
    `value` as plain data, True for a flag without one, `OPEN` where the text does not fix it.
    """
    option = find_option(engine, name)
    if option is None:
        return None
    if option.negated:
        return _negated(option, value)
    return option.meaning(value)


def _negated(option: Option, value: Value) -> tuple[Effect, ...]:
    """`--no-X`: X is off; said to be false, it is on; open, X may be on."""
    state = switch_of(value)
    if state is None and value is OPEN:
        return option.meaning(OPEN)
    return option.meaning(state is False)


def read_environment(engine: str | None, name: str, value: Value) -> tuple[Effect, ...] | None:
    """What an environment variable does; None for one that no engine reads.

    Names that only one engine has are read whatever the engine; common words (QUANTIZE, DTYPE)
    only with the engine that takes them.
    """
    for prefix, owner in _PREFIXED:
        if name.startswith(prefix) and owner:
            found = read_option(owner, name.removeprefix(prefix), value)
            if found is not None:
                return found
    tried = [engine] if engine is not None and engine in ENGINES else []
    tried += [owner for owner, marks in _OWN_NAMES if name.startswith(marks)]
    for owner in tried:
        meaning = _table(owner).environment.get(name)
        if meaning is not None:
            return meaning(value)
    return None


_OWN_NAMES: Final = (
    ("vllm", ("VLLM_", "LMCACHE_", "NIM_", "TENSOR_PARALLEL_SIZE", "MAX_NUM_SEQS",
              "ENABLE_PREFIX_CACHING", "ENFORCE_EAGER", "SPECULATIVE_MODEL", "CPU_OFFLOAD_GB",
              "KV_CACHE_DTYPE")),
    ("sglang", ("SGLANG_",)),
    ("tgi", ("HF_MODEL_QUANTIZE", "SM_NUM_GPUS", "NUM_SHARD", "HF_MODEL_ID")),
    ("ollama", ("OLLAMA_",)),
)  # fmt: skip

_WORDS: Final = (
    ("sglang", r"sglang|sgl-project|sgl[-_]router"),
    ("tensorrt_llm", r"trtllm|tensorrt[-_]?llm|trt-llm|convert_checkpoint\.py"),
    ("tgi", r"text[-_]generation[-_](?:launcher|inference|server|router)|\btgi\b|py-txi"),
    ("lmdeploy", r"lmdeploy|turbomind"),
    ("ollama", r"ollama"),
    (
        "llamacpp",
        r"llama[-_.]?cpp|llama-(?:server|cli|bench|box|quantize)|gg(?:ml-org|erganov)|\bllamafile\b",
    ),
    ("vllm", r"vllm|aphrodite|multi-node-serving|lmcache"),
    ("djl", r"\bdjl\b|djl-(?:serving|inference)|lmi-dist"),
    ("mlc", r"mlc[-_]llm"),
    ("jetstream", r"jetstream|maxengine|maxtext"),
    ("exllama", r"tabbyapi|exllama|text-generation-webui"),
    ("kobold", r"koboldcpp"),
    ("localai", r"local-?ai\b"),
    ("ctranslate2", r"ctranslate2|faster[-_]whisper|ct2-transformers"),
    ("openvino", r"openvino|optimum-intel|optimum-cli"),
    ("deepspeed", r"deepspeed"),
    ("olive", r"\bolive\b"),
)
_ENGINE_WORDS: Final = re.compile(
    "|".join(f"(?P<{engine}>{words})" for engine, words in _WORDS), re.IGNORECASE
)


@lru_cache(maxsize=4096)
def engine_named_in(text: str) -> str | None:
    """The engine that an image, command or key names; the first one of a text."""
    match = _ENGINE_WORDS.search(text[:4000])
    return match.lastgroup if match is not None else None


_TOOL_WORDS: Final = re.compile(
    "|".join(f"(?P<t{at}>{words})" for at, (words, _) in enumerate(TOOLS.values())), re.IGNORECASE
)
_TOOL_NAMES: Final = tuple(TOOLS)


@lru_cache(maxsize=4096)
def tool_named_in(text: str) -> str | None:
    """The tool that a command line runs, by its name or by options that only it has."""
    match = _TOOL_WORDS.search(text[:4000])
    return _TOOL_NAMES[int((match.lastgroup or "t0")[1:])] if match is not None else None


def settings_of(effects: tuple[Effect, ...]) -> tuple[Setting, ...]:
    """The levers among effects."""
    return tuple(effect for effect in effects if isinstance(effect, Setting))
