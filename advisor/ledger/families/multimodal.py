"""Configs that nest a text model beside towers: where the text stands, which tower joins it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Multimodal(NamedTuple):
    """A model_type whose text model stands in a nested config, or flat beside a tower's."""

    text: str = ""
    """The text's family; where empty, the nested config's own model_type."""
    towers: tuple[tuple[str, str], ...] = ()
    """(key of the nested config, name of the tower)."""
    optional: tuple[str, ...] = ()
    """Keys whose tower exists only where the config gives them."""
    ignored: tuple[str, ...] = ()
    """Keys of the outer config that stand among the text's own in flat configs."""


def _with(tower: str, text: str = "", *, ignored: tuple[str, ...] = ()) -> Multimodal:
    return Multimodal(text, (("vision_config", tower),), ignored=ignored)


_LLAMA_SIZES: Final = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
}

TEXT_DEFAULTS: Final[Mapping[str, Mapping[str, object]]] = {
    "llama": _LLAMA_SIZES,
    "mistral": {**_LLAMA_SIZES, "intermediate_size": 14336, "num_key_value_heads": 8},
    "qwen2": {
        **_LLAMA_SIZES,
        "vocab_size": 151936,
        "intermediate_size": 22016,
        "num_key_value_heads": 32,
    },
    "gemma": {
        "vocab_size": 256000,
        "hidden_size": 3072,
        "intermediate_size": 24576,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
    },
    "gemma2": {
        "vocab_size": 256000,
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
    },
    "gemma3_text": {
        "vocab_size": 262208,
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "max_position_embeddings": 131072,
    },
}
"""The sizes that configs nested in a multimodal one leave out where they equal the defaults of
their class. A config that stands alone always writes them."""

MULTIMODAL: Final[Mapping[str, Multimodal]] = {
    "gemma3": _with("gemma3", "gemma3_text"),
    "paligemma": _with("paligemma"),
    "llava": _with("llava"),
    "llava_next": _with("llava_next"),
    "vipllava": _with("llava"),
    "qwen2_vl": _with("qwen2_vl", "qwen2"),
    "qwen2_5_vl": _with("qwen2_5_vl", "qwen2"),
    "qwen3_vl": _with("qwen3_vl", "qwen3"),
    "qwen3_vl_moe": _with("qwen3_vl", "qwen3_moe"),
    "qwen3_5": _with("qwen3_5", "qwen3_5_text"),
    "qwen3_5_moe": _with("qwen3_5", "qwen3_5_moe_text"),
    "mistral3": _with("pixtral"),
    "ministral3": _with("pixtral"),
    "llama4": _with("llama4", "llama4_text"),
    "mllama": _with("mllama", "mllama_text_model"),
    "glm4v": _with("glm4v", "glm4v_text"),
    "glm4v_moe": _with("glm4v", "glm4v_moe_text"),
    "ernie4_5_vl_moe": _with("ernie_vl", "ernie4_5_vl_moe_text"),
    "kimi_k25": _with("kimi"),
    "minimax_m3_vl": _with("minimax_m3", "minimax_m3"),
    "step3p7": _with("step3", "step3p7_text"),
    "gemma4": Multimodal(
        "gemma4_text",
        (("vision_config", "gemma4"), ("audio_config", "gemma4_audio")),
        optional=("vision_config", "audio_config"),
    ),
    "gemma3n": Multimodal("gemma3n_text"),
    "phi3_v": Multimodal("phi3", (("img_processor", "phi3_v"),), ignored=("embd_layer",)),
    "deepseek_vl_v2": _with("deepseek_vl2"),
    "fuyu": Multimodal("", (("", "fuyu"),)),
    "kosmos-2.5": _with("kosmos", "kosmos_2_5_text_model"),
    "muse_glimmer": _with("muse", "muse_glimmer_text"),
    "hy_v4_vl": _with("hy4", "hy_v4_vl_text"),
    "glm5_next": _with("glm5_next", "glm5_next_text"),
}
