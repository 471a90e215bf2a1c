"""Vision and audio towers: stored beside the text model, idle in a decode step.

Each reader takes the tower's keys, the outer config's and the text model's width, and gives
tensors of the component `VISION`. Towers differ in few things: how patches and positions enter,
gated or plain MLPs, biases, and what joins their output to the text model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from advisor.ledger.families.encoders import (
    SIGLIP,
    read_clip,
    read_deepseek_vl2,
    read_gemma3,
    read_llama4,
    read_llava_next,
    read_mllama,
    read_paligemma,
    read_phi3_v,
    read_pixtral,
)
from advisor.ledger.families.keys import Keys
from advisor.ledger.families.native_towers import (
    read_ernie_vl,
    read_fuyu,
    read_gemma4,
    read_gemma4_audio,
    read_glm4v,
    read_glm5_next,
    read_hy4,
    read_kimi,
    read_kosmos,
    read_minimax_m3,
    read_muse,
    read_qwen2_5_vl,
    read_qwen2_vl,
    read_qwen3_vl,
    read_step3,
)
from advisor.ledger.shapes import Tensor


class Tower(NamedTuple):
    """A tower's reader and the values its configs leave out."""

    read: Callable[[Keys, Keys, int], list[Tensor]]
    defaults: Mapping[str, object]


_QWEN: Final = {
    "depth": 32,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
}
_QWEN3: Final = {
    **_QWEN,
    "depth": 27,
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "patch_size": 16,
    "num_position_embeddings": 2304,
}
_GLM: Final = {
    "depth": 24,
    "hidden_size": 1536,
    "intermediate_size": 13696,
    "image_size": 336,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 4096,
}

TOWERS: Final[Mapping[str, Tower]] = {
    "gemma3": Tower(read_gemma3, SIGLIP),
    "paligemma": Tower(read_paligemma, SIGLIP),
    "llava": Tower(read_clip, {**SIGLIP, "patch_size": 32}),
    "llava_next": Tower(read_llava_next, {**SIGLIP, "patch_size": 32}),
    "phi3_v": Tower(read_phi3_v, {"image_dim_out": 1024}),
    "deepseek_vl2": Tower(read_deepseek_vl2, {"width": 1152, "layers": 27, "patch_size": 14}),
    "qwen2_vl": Tower(read_qwen2_vl, {**_QWEN, "embed_dim": 1280}),
    "qwen2_5_vl": Tower(read_qwen2_5_vl, {**_QWEN, "hidden_size": 1280, "intermediate_size": 3420}),
    "qwen3_vl": Tower(read_qwen3_vl, {**_QWEN3, "deepstack_visual_indexes": [8, 16, 24]}),
    "qwen3_5": Tower(read_qwen3_vl, _QWEN3),
    "pixtral": Tower(
        read_pixtral,
        {
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_hidden_layers": 24,
            "num_channels": 3,
            "patch_size": 16,
        },
    ),
    "llama4": Tower(
        read_llama4,
        {
            "hidden_size": 768,
            "intermediate_size": 5632,
            "num_hidden_layers": 34,
            "num_channels": 3,
            "image_size": 448,
            "patch_size": 14,
            "projector_input_dim": 4096,
            "projector_output_dim": 4096,
            "vision_output_dim": 7680,
        },
    ),
    "mllama": Tower(
        read_mllama,
        {
            "hidden_size": 1280,
            "intermediate_size": 5120,
            "num_hidden_layers": 32,
            "num_global_layers": 8,
            "num_channels": 3,
            "image_size": 448,
            "patch_size": 14,
            "max_num_tiles": 4,
            "vision_output_dim": 7680,
        },
    ),
    "glm4v": Tower(read_glm4v, _GLM),
    "glm5_next": Tower(
        read_glm5_next,
        {
            **_GLM,
            "hidden_size": 1024,
            "num_heads": 16,
            "intermediate_size": 4096,
            "out_hidden_size": 1536,
            "projection_intermediate_size": 10240,
        },
    ),
    "ernie_vl": Tower(
        read_ernie_vl,
        {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 5120,
            "in_channels": 3,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_merge_size": 2,
        },
    ),
    "kimi": Tower(read_kimi, {}),
    "minimax_m3": Tower(read_minimax_m3, {"num_channels": 3, "patch_size": 14}),
    "step3": Tower(read_step3, {"num_channels": 3, "image_size": 728, "patch_size": 14}),
    "gemma4": Tower(
        read_gemma4,
        {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_hidden_layers": 16,
            "num_attention_heads": 12,
            "patch_size": 16,
            "position_embedding_size": 10 * 1024,
        },
    ),
    "gemma4_audio": Tower(
        read_gemma4_audio,
        {
            "hidden_size": 1024,
            "num_hidden_layers": 12,
            "num_attention_heads": 8,
            "conv_kernel_size": 5,
            "output_proj_dims": 1536,
        },
    ),
    "fuyu": Tower(read_fuyu, {}),
    "kosmos": Tower(
        read_kosmos,
        {
            "hidden_size": 1536,
            "patch_embed_hidden_size": 768,
            "intermediate_size": 3968,
            "head_dim": 64,
            "num_hidden_layers": 18,
            "num_attention_heads": 24,
            "max_num_patches": 4096,
        },
    ),
    "muse": Tower(
        read_muse,
        {
            "hidden_size": 1536,
            "intermediate_size": 8960,
            "num_hidden_layers": 50,
            "patch_size": 14,
            "pos_emb_height": 32,
            "pos_emb_width": 32,
            "patch_temporal": 2,
        },
    ),
    "hy4": Tower(
        read_hy4,
        {
            "hidden_size": 1536,
            "intermediate_size": 6144,
            "num_hidden_layers": 40,
            "num_channels": 3,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "max_image_size": 2048,
            "out_hidden_size": 6144,
        },
    ),
}
