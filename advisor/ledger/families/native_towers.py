"""Towers of their own design: Qwen, GLM, ERNIE, Kimi, MiniMax, Step, Gemma 4 and others."""

from __future__ import annotations

from advisor.ledger.families.encoders import (
    dimensions,
    encoder,
    layer_norm,
    linear,
    part,
    patches,
)
from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import Tensor


def read_qwen2_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """A plain ViT over patches of two frames, four of them merged."""
    hidden, layers = vision.size("embed_dim"), vision.size("depth")
    merged = hidden * vision.size("spatial_merge_size") ** 2
    width = int(hidden * vision.number("mlp_ratio", 4))
    return [
        *linear("patch_embedding", hidden, _patch_pixels(vision), bias=False),
        *encoder(hidden, layers, width),
        *layer_norm("merger_norm", hidden),
        *linear("merger_1", merged, merged),
        *linear("merger_2", vision.size("hidden_size", default=text), merged),
    ]


def _patch_pixels(vision: Keys) -> int:
    """Values of one patch over the frames that share it."""
    channels = vision.size("in_channels", default=vision.size("in_chans", default=3))
    return channels * vision.size("temporal_patch_size") * vision.size("patch_size") ** 2


def read_qwen2_5_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Gated MLPs and RMSNorms; four patches merged."""
    hidden, layers = vision.size("hidden_size"), vision.size("depth")
    merged = hidden * vision.size("spatial_merge_size") ** 2
    return [
        *linear("patch_embedding", hidden, _patch_pixels(vision), bias=False),
        *encoder(hidden, layers, vision.size("intermediate_size"), gated=True, norm_bias=False),
        *layer_norm("merger_norm", hidden, bias=False),
        *linear("merger_1", merged, merged),
        *linear("merger_2", vision.size("out_hidden_size", default=text), merged),
    ]


def read_qwen3_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Learned positions, and a merger for each layer that feeds the text model early."""
    hidden, layers = vision.size("hidden_size"), vision.size("depth")
    merged = hidden * vision.size("spatial_merge_size") ** 2
    out = vision.size("out_hidden_size", default=text)
    deep = len(vision.sizes("deepstack_visual_indexes") or ())
    tensors = [
        *linear("patch_embedding", hidden, _patch_pixels(vision)),
        part("position_embedding", vision.size("num_position_embeddings"), hidden),
        *encoder(hidden, layers, vision.size("intermediate_size")),
        *layer_norm("merger_norm", hidden),
        *linear("merger_1", merged, merged, count=1 + deep),
        *linear("merger_2", out, merged, count=1 + deep),
    ]
    if deep:
        tensors += layer_norm("deepstack_norm", merged, count=deep)
    return tensors


def read_glm4v(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Gated MLPs as wide as the output, a convolution that joins four patches."""
    hidden, layers, width = (
        vision.size("hidden_size"),
        vision.size("depth"),
        vision.size("intermediate_size"),
    )
    out = vision.size("out_hidden_size")
    return [
        *linear("patch_embedding", hidden, _patch_pixels(vision)),
        part("position_embedding", patches(vision), hidden),
        *encoder(
            hidden,
            layers,
            out,
            gated=True,
            qkv_bias=vision.flag("attention_bias"),
            o_bias=False,
            mlp_bias=False,
            norm_bias=False,
        ),
        *layer_norm("outer_norm", hidden, bias=False, count=2),
        *_glm_merger(hidden, out, width, vision.size("spatial_merge_size")),
    ]


def _glm_merger(hidden: int, out: int, width: int, merge: int) -> list[Tensor]:
    """A strided convolution, a projection with its norm, and a gated MLP."""
    return [
        *linear("downsample", out, hidden * merge**2),
        *linear("merger_proj", out, out, bias=False),
        *layer_norm("merger_norm", out),
        *linear("merger_gate_proj", width, out, bias=False),
        *linear("merger_up_proj", width, out, bias=False),
        *linear("merger_down_proj", out, width, bias=False),
    ]


def read_glm5_next(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """GLM with biases and norms on queries and keys."""
    hidden, layers = vision.size("hidden_size"), vision.size("depth")
    bias = vision.flag("attention_bias", default=True)
    width = vision.size("projection_intermediate_size")
    return [
        *linear("patch_embedding", hidden, _patch_pixels(vision)),
        *encoder(
            hidden,
            layers,
            vision.size("intermediate_size"),
            gated=True,
            qkv_bias=bias,
            o_bias=bias,
            mlp_bias=bias,
            norm_bias=False,
            qk_norm=hidden // vision.size("num_heads"),
        ),
        *layer_norm("outer_norm", hidden, bias=False),
        *_glm_merger(
            hidden, vision.size("out_hidden_size"), width, vision.size("spatial_merge_size")
        ),
    ]


def read_ernie_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """A plain ViT, and a resampler over space and time."""
    hidden, layers = vision.size("hidden_size"), vision.size("depth")
    spatial = hidden * vision.size("spatial_merge_size") ** 2
    temporal = spatial * vision.size("temporal_merge_size")
    pixels = vision.size("in_channels") * vision.size("patch_size") ** 2
    return [
        *linear("patch_embedding", hidden, pixels, bias=False),
        *encoder(hidden, layers, vision.size("intermediate_size")),
        *layer_norm("outer_norm", hidden),
        *linear("spatial_1", spatial, spatial),
        *linear("spatial_2", spatial, spatial),
        *linear("temporal_1", spatial, temporal),
        *linear("temporal_2", spatial, spatial),
        *layer_norm("resampler_norm", spatial, count=2),
        *linear("projection", text, spatial),
        *layer_norm("projection_norm", text, bias=False),
    ]


def read_kimi(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """MoonViT in Kimi's own spelling (`vt_...`, `mm_...`)."""
    hidden = vision.size("vt_hidden_size", default=vision.size("hidden_size", default=1152))
    layers = vision.size("vt_num_hidden_layers", default=vision.size("layers", default=27))
    width = vision.size("vt_intermediate_size", default=vision.size("intermediate", default=4304))
    grid = vision.size(
        "init_pos_emb_height", default=vision.size("pos_emb_height", default=64)
    ) * vision.size("init_pos_emb_width", default=vision.size("pos_emb_width", default=64))
    kernel = vision.sizes("merge_kernel_size") or (2, 2)
    merged = hidden * kernel[0] * kernel[1]
    return [
        *linear("patch_embedding", hidden, 3 * vision.size("patch_size", default=14) ** 2),
        part("position_embedding", grid, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("outer_norm", hidden),
        *layer_norm("projection_norm", vision.size("mm_hidden_size", default=hidden)),
        *linear("linear_1", merged, merged),
        *linear("linear_2", text, merged),
    ]


def read_minimax_m3(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """A plain ViT, two projections before and two after four patches merge."""
    hidden, layers, width = dimensions(vision)
    compression = vision.nested("img_token_compression_config", vision.model_type)
    frames = compression.size("temporal_patch_size", default=2)
    merge = compression.size("spatial_merge_size", default=2) ** 2
    pixels = vision.size("num_channels") * frames * vision.size("patch_size") ** 2
    inner = outer.size("projector_hidden_size", default=text)
    return [
        *linear("patch_embedding", hidden, pixels, bias=False),
        *layer_norm("pre_norm", hidden),
        *encoder(hidden, layers, width),
        *linear("linear_1", inner, hidden),
        *linear("linear_2", text, inner),
        *linear("merge_linear_1", inner, text * merge),
        *linear("merge_linear_2", text, inner),
    ]


def read_step3(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """Layer scales, and two convolutions that each halve the grid."""
    hidden = vision.size("width", default=vision.size("hidden_size", default=1536))
    layers = vision.size("layers", default=vision.size("num_hidden_layers", default=47))
    width = int(hidden * vision.number("mlp_ratio", 8960 / 1536))
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    bias = outer.flag("projector_bias")
    return [
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", patches(vision), hidden),
        *layer_norm("pre_norm", hidden),
        *encoder(hidden, layers, width),
        part("layer_scale", 2, hidden, count=layers),
        *linear("downsample_1", 2 * hidden, 9 * hidden),
        *linear("downsample_2", 4 * hidden, 9 * 2 * hidden),
        *linear("projection", text, 4 * hidden, bias=bias),
    ]


def read_gemma4(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Four norms a layer, and a position table for each axis."""
    hidden, layers, width = dimensions(vision)
    heads = vision.size("num_attention_heads")
    head = vision.size("head_dim", default=64)
    return [
        *linear("patch_embedding", hidden, 3 * vision.size("patch_size") ** 2, bias=False),
        part("position_embedding", 2 * vision.size("position_embedding_size"), hidden),
        *encoder(
            hidden,
            layers,
            width,
            gated=True,
            qkv_bias=False,
            o_bias=False,
            mlp_bias=False,
            norm_bias=False,
            norms=4,
            inner=heads * head,
            qk_norm=head,
        ),
        *linear("projection", text, hidden, bias=False),
    ]


def read_gemma4_audio(audio: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """A conformer: two half feed-forwards around attention and a light convolution."""
    hidden, layers = audio.size("hidden_size"), audio.size("num_hidden_layers")
    heads = audio.size("num_attention_heads")
    first, second = audio.sizes("subsampling_conv_channels") or (128, 32)
    kernel, out = audio.size("conv_kernel_size"), audio.size("output_proj_dims")
    return [
        part("audio.conv_0", first, 9),
        part("audio.conv_1", second, 9 * first),
        part("audio.conv_norm", first + second),
        *linear("audio.input_proj", hidden, first // 4 * second, bias=False),
        *linear("audio.attention", hidden, hidden, bias=False, count=5 * layers),
        part("audio.per_dim_scale", hidden // heads, count=layers),
        *linear("audio.ffw_1", 4 * hidden, hidden, bias=False, count=2 * layers),
        *linear("audio.ffw_2", hidden, 4 * hidden, bias=False, count=2 * layers),
        *linear("audio.conv_start", 2 * hidden, hidden, bias=False, count=layers),
        *linear("audio.conv_end", hidden, hidden, bias=False, count=layers),
        part("audio.depthwise", hidden, kernel, count=layers),
        part("audio.norm", hidden, count=9 * layers),
        *linear("audio.output_proj", out, hidden),
        *linear("audio.projection", text, out, bias=False),
    ]


def read_fuyu(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """No tower: patches are projected straight into the text model."""
    size, channels = outer.size("patch_size", default=30), outer.size("num_channels", default=3)
    return linear("patch_embedding", text, size * size * channels)


def read_kosmos(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """Pix2Struct, and learned queries that attend to its patches."""
    hidden, layers, width = dimensions(vision)
    inner = vision.size("num_attention_heads") * vision.size("head_dim")
    return [
        *linear("patch_embedding", hidden, vision.size("patch_embed_hidden_size")),
        part("position_embedding", vision.size("max_num_patches"), hidden, count=2),
        *encoder(
            hidden,
            layers,
            width,
            gated=True,
            qkv_bias=False,
            o_bias=False,
            mlp_bias=False,
            norm_bias=False,
            inner=inner,
        ),
        *layer_norm("outer_norm", hidden, bias=False),
        part("latent_query", outer.size("latent_query_num", default=2048), text),
        *linear("dense", text, hidden),
        *linear("cross_attention", text, text, count=4),
    ]


def read_muse(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """A plain ViT, an adapter and a projection."""
    hidden, layers, width = dimensions(vision)
    grid = vision.size("pos_emb_height") * vision.size("pos_emb_width")
    pixels = 3 * vision.size("patch_temporal") * vision.size("patch_size") ** 2
    inner = outer.size("projector_hidden_size", default=4096)
    return [
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", grid, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("outer_norm", hidden, count=2),
        *linear("adapter_1", inner, outer.size("out_hidden_size", default=6144), bias=False),
        *linear("adapter_2", inner, inner, bias=False),
        *linear("projection", text, inner, bias=False),
    ]


def read_hy4(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """A plain ViT, and two convolutions that join four patches."""
    hidden, layers, width = dimensions(vision)
    merge = vision.size("spatial_merge_size") ** 2
    out = vision.size("out_hidden_size")
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    positions = (vision.size("max_image_size") // vision.size("patch_size")) ** 2 + 1
    return [
        *linear("patch_embedding", hidden, pixels),
        part("position_embedding", positions, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("merger_norm", hidden, bias=False),
        *linear("merger_conv", hidden * merge, hidden * merge),
        *linear("merger_out", out, hidden * merge),
        part("image_newline", out),
    ]
