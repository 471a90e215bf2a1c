"""Arguments that tell by their names what a call sets up, whatever library it is of.

No one else has a `tensor_parallel_size` or a `load_in_4bit`: where a call that no row reads is
given one as a literal, that is the lever. Names that other things have too are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from advisor.readers.options import Effect, Meaning, Setting
from advisor.readers.options.meanings import degree, graphs, kv, switch, weights_as
from advisor.readers.options.transformers import TRANSFORMERS
from advisor.readers.options.vllm import OPTIONS
from advisor.readers.python.calls import Found
from advisor.readers.python.values import Literal, Made, Value, plain, usual
from advisor.readers.python.values import Mapping as Pairs

_SPLITS: Final = (
    "tensor_parallel_size", "tensor_model_parallel_size", "tensor_parallelism_size",
    "tensor_parallel_degree", "tp_degree", "model_parallel_size", "num_shard",
    "tensor_parallel_shards", "inference_tp_size", "tp_world_size",
)  # fmt: skip
_STAGES: Final = (
    "pipeline_parallel_size", "pipeline_model_parallel_size", "pipeline_parallelism_size",
    "pipeline_parallel_degree",
)  # fmt: skip

TELLING: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        **dict.fromkeys(_SPLITS, degree("tensor_parallel")),
        **dict.fromkeys(_STAGES, degree("pipeline_parallel")),
        "load_in_4bit": weights_as("nf4"),
        "load_in_8bit": weights_as("int8-bnb"),
        "kv_cache_dtype": kv(),
        "kv_cache_quantization": kv(),
        "enable_prefix_caching": switch("prefix_cache"),
        "enable_chunked_prefill": switch("chunked_prefill"),
        "enforce_eager": graphs(on=False),
        "enable_expert_parallel": switch("expert_parallel", {"size": "unknown"}),
        "max_num_seqs": OPTIONS[("max-num-seqs",)],
        "cpu_offload_gb": OPTIONS[("cpu-offload-gb",)],
        "speculative_config": OPTIONS[("speculative-config", "spec")],
        "attn_implementation": TRANSFORMERS[("attn-implementation",)],
        "prompt_lookup_num_tokens": TRANSFORMERS[("prompt-lookup-num-tokens",)],
    }
)
"""What each name means."""


def by_argument(made: Made, hangs_on: str) -> Iterator[Found]:
    """Levers by the names of a call's literal arguments."""
    for name in made.keywords.keys() & TELLING.keys():
        place, value = made.keywords[name]
        if isinstance(usual(value), Literal | Pairs):
            for effect in _effects(name, value):
                yield Found(effect, place, hangs_on, call=made)


def _effects(name: str, value: Value) -> tuple[Effect, ...]:
    found = TELLING[name](plain(value))
    return tuple(one for one in found if isinstance(one, Setting))
