"""Vision and audio towers: stored beside the text model, idle in a decode step.

Each reader takes the tower's keys, the outer config's and the text model's width, and gives
tensors of the component `VISION`. Towers differ in few things: how patches and positions enter,
gated or plain MLPs, biases, and what joins their output to the text model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import Component, Tensor, Use


class Tower(NamedTuple):
    """A tower's reader and the values its configs leave out."""

    read: Callable[[Keys, Keys, int], list[Tensor]]
    defaults: Mapping[str, object]


def part(name: str, *shape: int, count: int = 1) -> Tensor:
    """One tensor of a tower, or `count` equal ones."""
    return Tensor(f"vision.{name}", shape, Component.VISION, Use.IDLE, count)


def linear(name: str, out: int, width: int, *, bias: bool = True, count: int = 1) -> list[Tensor]:
    """A projection of a tower and its bias."""
    weight = part(name, out, width, count=count)
    return [weight, part(f"{name}.bias", out, count=count)] if bias else [weight]


def layer_norm(name: str, size: int, *, bias: bool = True, count: int = 1) -> list[Tensor]:
    """A LayerNorm with weight and bias, or an RMSNorm with a weight alone."""
    return [part(name, 2 if bias else 1, size, count=count)]


def encoder(
    hidden: int,
    layers: int,
    width: int,
    *,
    qkv_bias: bool = True,
    o_bias: bool = True,
    mlp_bias: bool = True,
    gated: bool = False,
    norm_bias: bool = True,
    norms: int = 2,
    inner: int | None = None,
    qk_norm: int = 0,
) -> list[Tensor]:
    """The transformer layers of a tower; `inner` is heads times head width."""
    inner = inner or hidden
    names = ("gate_proj", "up_proj") if gated else ("up_proj",)
    tensors = [
        *(
            t
            for name in ("q_proj", "k_proj", "v_proj")
            for t in linear(name, inner, hidden, bias=qkv_bias, count=layers)
        ),
        *linear("o_proj", hidden, inner, bias=o_bias, count=layers),
        *(t for name in names for t in linear(name, width, hidden, bias=mlp_bias, count=layers)),
        *linear("down_proj", hidden, width, bias=mlp_bias, count=layers),
        *layer_norm("norm", hidden, bias=norm_bias, count=norms * layers),
    ]
    if qk_norm:
        tensors.append(part("qk_norm", 2, qk_norm, count=layers))
    return tensors


def _dimensions(vision: Keys) -> tuple[int, int, int]:
    """Hidden size, layers and MLP width, in the spelling of most towers."""
    return (
        vision.size("hidden_size"),
        vision.size("num_hidden_layers"),
        vision.size("intermediate_size"),
    )


def _patches(vision: Keys) -> int:
    return (vision.size("image_size") // vision.size("patch_size")) ** 2


def _siglip(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    hidden, layers, width = _dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    tensors = [
        *linear("patch_embedding", hidden, pixels),
        part("position_embedding", _patches(vision), hidden),
        *encoder(hidden, layers, width),
        *layer_norm("post_norm", hidden),
    ]
    if vision.flag("vision_use_head", default=True):
        # attention pooling: a probe, an attention block, a norm and an MLP
        tensors += [part("probe", hidden), *encoder(hidden, 1, width, norms=1)]
    return tensors


def _gemma3(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    hidden = vision.size("hidden_size")
    return [
        *_siglip(vision, outer, text),
        part("projection", hidden, text),
        *layer_norm("projection_norm", hidden, bias=False),
    ]


def _paligemma(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    width = vision.size("projection_dim", default=text)
    tower = _siglip(vision, outer, text)
    return [*tower, *linear("projection", width, vision.size("hidden_size"))]


def _clip(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """CLIP without its text half, and LLaVA's two projections."""
    hidden, layers, width = _dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    bias = outer.flag("multimodal_projector_bias", default=True)
    return [
        part("class_embedding", hidden),
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", _patches(vision) + 1, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("outer_norm", hidden, count=2),
        *linear("linear_1", text, hidden * _feature_layers(outer), bias=bias),
        *linear("linear_2", text, text, bias=bias),
    ]


def _feature_layers(outer: Keys) -> int:
    """How many layers of the tower feed the projection."""
    layers = outer.raw("vision_feature_layer")
    return len(layers) if isinstance(layers, list | tuple) else 1


def _llava_next(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    return [*_clip(vision, outer, text), part("image_newline", text)]


def _phi3_v(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """CLIP ViT-L/14 at 336 pixels, fixed, and two projections of four joined patches."""
    hidden, joined = vision.size("image_dim_out"), 4 * vision.size("image_dim_out")
    clip = Keys({"hidden_size": hidden}, vision.model_type, defaults=_CLIP_LARGE)
    own = [t for t in _clip(clip, outer, text) if "linear_" not in t.name]
    return [
        *own,
        *linear("linear_1", text, joined),
        *linear("linear_2", text, text),
        part("separators", 2, joined),
    ]


def _deepseek_vl2(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """SigLIP SO400M at 384 pixels with its pooling head, and a two-layer projection."""
    hidden = vision.size("width")
    width = round(hidden * vision.number("mlp_ratio", 4))
    values: dict[str, object] = {
        "hidden_size": hidden,
        "intermediate_size": width,
        "num_hidden_layers": vision.size("layers"),
        "patch_size": vision.size("patch_size"),
    }
    siglip = Keys(values, vision.model_type, defaults={**_SIGLIP, "image_size": 384})
    return [
        *_siglip(siglip, outer, text),
        *linear("projection_1", text, 4 * hidden),
        *linear("projection_2", text, text),
        part("separators", 2, text),
    ]


def _qwen2_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
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


def _qwen2_5_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    hidden, layers = vision.size("hidden_size"), vision.size("depth")
    merged = hidden * vision.size("spatial_merge_size") ** 2
    return [
        *linear("patch_embedding", hidden, _patch_pixels(vision), bias=False),
        *encoder(hidden, layers, vision.size("intermediate_size"), gated=True, norm_bias=False),
        *layer_norm("merger_norm", hidden, bias=False),
        *linear("merger_1", merged, merged),
        *linear("merger_2", vision.size("out_hidden_size", default=text), merged),
    ]


def _qwen3_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
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


def _pixtral(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    hidden, layers, width = _dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    bias = outer.flag("multimodal_projector_bias")
    merge = outer.size("spatial_merge_size", default=2) ** 2
    return [
        *linear("patch_embedding", hidden, pixels, bias=False),
        *layer_norm("pre_norm", hidden, bias=False),
        *encoder(
            hidden,
            layers,
            width,
            gated=True,
            qkv_bias=False,
            o_bias=False,
            mlp_bias=False,
            norm_bias=False,
        ),
        *layer_norm("projection_norm", hidden, bias=False),
        *linear("merger", hidden, hidden * merge, bias=False),
        *linear("linear_1", text, hidden * _feature_layers(outer), bias=bias),
        *linear("linear_2", text, text, bias=bias),
    ]


def _llama4(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    hidden, layers, width = _dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    inner, out = vision.size("projector_input_dim"), vision.size("projector_output_dim")
    return [
        part("class_embedding", hidden),
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", _patches(vision) + 1, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("outer_norm", hidden, count=2),
        *linear("adapter_1", inner, width, bias=False),
        *linear("adapter_2", out, out, bias=False),
        *linear("projection", text, vision.size("vision_output_dim"), bias=False),
    ]


def _mllama(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Tiles with gated position tables, and a second, gated stack over all tiles."""
    hidden, layers, width = _dimensions(vision)
    deep = vision.size("num_global_layers")
    tiles = vision.size("max_num_tiles")
    ratios = len(vision.lists("supported_aspect_ratios") or ()) or 8
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    positions = _patches(vision) + 1
    return [
        part("class_embedding", hidden),
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", positions, hidden),
        part("tile_position_embedding", ratios + 1, tiles * positions * hidden),
        part("tile_embedding", ratios + 1, tiles * hidden, count=2),
        part("gates", 3 + 2 * deep),
        *encoder(hidden, layers + deep, width, qkv_bias=False, o_bias=False),
        *layer_norm("outer_norm", hidden, count=2),
        *linear("projection", text, vision.size("vision_output_dim")),
    ]


def _glm4v(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    hidden, layers, width = (
        vision.size("hidden_size"),
        vision.size("depth"),
        vision.size("intermediate_size"),
    )
    out = vision.size("out_hidden_size")
    return [
        *linear("patch_embedding", hidden, _patch_pixels(vision)),
        part("position_embedding", _patches(vision), hidden),
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


def _glm5_next(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
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


def _ernie_vl(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
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


def _kimi(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
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


def _minimax_m3(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    hidden, layers, width = _dimensions(vision)
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


def _step3(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    hidden = vision.size("width", default=vision.size("hidden_size", default=1536))
    layers = vision.size("layers", default=vision.size("num_hidden_layers", default=47))
    width = int(hidden * vision.number("mlp_ratio", 8960 / 1536))
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    bias = outer.flag("projector_bias")
    return [
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", _patches(vision), hidden),
        *layer_norm("pre_norm", hidden),
        *encoder(hidden, layers, width),
        part("layer_scale", 2, hidden, count=layers),
        *linear("downsample_1", 2 * hidden, 9 * hidden),
        *linear("downsample_2", 4 * hidden, 9 * 2 * hidden),
        *linear("projection", text, 4 * hidden, bias=bias),
    ]


def _gemma4(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    hidden, layers, width = _dimensions(vision)
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


def _gemma4_audio(audio: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
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


def _fuyu(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """No tower: patches are projected straight into the text model."""
    size, channels = outer.size("patch_size", default=30), outer.size("num_channels", default=3)
    return linear("patch_embedding", text, size * size * channels)


def _kosmos(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    hidden, layers, width = _dimensions(vision)
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


def _muse(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    hidden, layers, width = _dimensions(vision)
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


def _hy4(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    hidden, layers, width = _dimensions(vision)
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


_SIGLIP: Final = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 16,
}
_CLIP_LARGE: Final = {
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_channels": 3,
    "image_size": 336,
    "patch_size": 14,
}
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
    "gemma3": Tower(_gemma3, _SIGLIP),
    "paligemma": Tower(_paligemma, _SIGLIP),
    "llava": Tower(_clip, {**_SIGLIP, "patch_size": 32}),
    "llava_next": Tower(_llava_next, {**_SIGLIP, "patch_size": 32}),
    "phi3_v": Tower(_phi3_v, {"image_dim_out": 1024}),
    "deepseek_vl2": Tower(_deepseek_vl2, {"width": 1152, "layers": 27, "patch_size": 14}),
    "qwen2_vl": Tower(_qwen2_vl, {**_QWEN, "embed_dim": 1280}),
    "qwen2_5_vl": Tower(_qwen2_5_vl, {**_QWEN, "hidden_size": 1280, "intermediate_size": 3420}),
    "qwen3_vl": Tower(_qwen3_vl, {**_QWEN3, "deepstack_visual_indexes": [8, 16, 24]}),
    "qwen3_5": Tower(_qwen3_vl, _QWEN3),
    "pixtral": Tower(
        _pixtral,
        {
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_hidden_layers": 24,
            "num_channels": 3,
            "patch_size": 16,
        },
    ),
    "llama4": Tower(
        _llama4,
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
        _mllama,
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
    "glm4v": Tower(_glm4v, _GLM),
    "glm5_next": Tower(
        _glm5_next,
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
        _ernie_vl,
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
    "kimi": Tower(_kimi, {}),
    "minimax_m3": Tower(_minimax_m3, {"num_channels": 3, "patch_size": 14}),
    "step3": Tower(_step3, {"num_channels": 3, "image_size": 728, "patch_size": 14}),
    "gemma4": Tower(
        _gemma4,
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
        _gemma4_audio,
        {
            "hidden_size": 1024,
            "num_hidden_layers": 12,
            "num_attention_heads": 8,
            "conv_kernel_size": 5,
            "output_proj_dims": 1536,
        },
    ),
    "fuyu": Tower(_fuyu, {}),
    "kosmos": Tower(
        _kosmos,
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
        _muse,
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
        _hy4,
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
