"""Towers built on the encoders that many models borrow: CLIP, SigLIP, Pixtral and their kin."""

from __future__ import annotations

from typing import Final

from advisor.ledger.families.keys import Keys
from advisor.ledger.shapes import Component, Tensor, Use


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


def dimensions(vision: Keys) -> tuple[int, int, int]:
    """Hidden size, layers and MLP width, in the spelling of most towers."""
    return (
        vision.size("hidden_size"),
        vision.size("num_hidden_layers"),
        vision.size("intermediate_size"),
    )


def patches(vision: Keys) -> int:
    """Patches of one image."""
    return (vision.size("image_size") // vision.size("patch_size")) ** 2


SIGLIP: Final = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 16,
}


CLIP_LARGE: Final = {
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_channels": 3,
    "image_size": 336,
    "patch_size": 14,
}


def read_siglip(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """SigLIP, with its pooling head where the config keeps it."""
    hidden, layers, width = dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    tensors = [
        *linear("patch_embedding", hidden, pixels),
        part("position_embedding", patches(vision), hidden),
        *encoder(hidden, layers, width),
        *layer_norm("post_norm", hidden),
    ]
    if vision.flag("vision_use_head", default=True):
        # attention pooling: a probe, an attention block, a norm and an MLP
        tensors += [part("probe", hidden), *encoder(hidden, 1, width, norms=1)]
    return tensors


def read_gemma3(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """SigLIP and one projection with its norm."""
    hidden = vision.size("hidden_size")
    return [
        *read_siglip(vision, outer, text),
        part("projection", hidden, text),
        *layer_norm("projection_norm", hidden, bias=False),
    ]


def read_paligemma(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """SigLIP and one projection."""
    width = vision.size("projection_dim", default=text)
    tower = read_siglip(vision, outer, text)
    return [*tower, *linear("projection", width, vision.size("hidden_size"))]


def feature_layers(outer: Keys) -> int:
    """How many layers of the tower feed the projection."""
    layers = outer.raw("vision_feature_layer")
    return len(layers) if isinstance(layers, list | tuple) else 1


def read_clip(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """CLIP without its text half, and LLaVA's two projections."""
    hidden, layers, width = dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    bias = outer.flag("multimodal_projector_bias", default=True)
    return [
        part("class_embedding", hidden),
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", patches(vision) + 1, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("outer_norm", hidden, count=2),
        *linear("linear_1", text, hidden * feature_layers(outer), bias=bias),
        *linear("linear_2", text, text, bias=bias),
    ]


def read_llava_next(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """LLaVA's tower and the row that ends each line of tiles."""
    return [*read_clip(vision, outer, text), part("image_newline", text)]


def read_phi3_v(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """CLIP ViT-L/14 at 336 pixels, fixed, and two projections of four joined patches."""
    hidden, joined = vision.size("image_dim_out"), 4 * vision.size("image_dim_out")
    clip = Keys({"hidden_size": hidden}, vision.model_type, defaults=CLIP_LARGE)
    own = [t for t in read_clip(clip, outer, text) if "linear_" not in t.name]
    return [
        *own,
        *linear("linear_1", text, joined),
        *linear("linear_2", text, text),
        part("separators", 2, joined),
    ]


def read_deepseek_vl2(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """SigLIP SO400M at 384 pixels with its pooling head, and a two-layer projection."""
    hidden = vision.size("width")
    width = round(hidden * vision.number("mlp_ratio", 4))
    values: dict[str, object] = {
        "hidden_size": hidden,
        "intermediate_size": width,
        "num_hidden_layers": vision.size("layers"),
        "patch_size": vision.size("patch_size"),
    }
    siglip = Keys(values, vision.model_type, defaults={**SIGLIP, "image_size": 384})
    return [
        *read_siglip(siglip, outer, text),
        *linear("projection_1", text, 4 * hidden),
        *linear("projection_2", text, text),
        part("separators", 2, text),
    ]


def read_pixtral(vision: Keys, outer: Keys, text: int) -> list[Tensor]:
    """Pixtral, its patch merger and two projections."""
    hidden, layers, width = dimensions(vision)
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
        *linear("linear_1", text, hidden * feature_layers(outer), bias=bias),
        *linear("linear_2", text, text, bias=bias),
    ]


def read_llama4(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Llama 4's ViT with a pixel-shuffle adapter."""
    hidden, layers, width = dimensions(vision)
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    inner, out = vision.size("projector_input_dim"), vision.size("projector_output_dim")
    return [
        part("class_embedding", hidden),
        *linear("patch_embedding", hidden, pixels, bias=False),
        part("position_embedding", patches(vision) + 1, hidden),
        *encoder(hidden, layers, width),
        *layer_norm("outer_norm", hidden, count=2),
        *linear("adapter_1", inner, width, bias=False),
        *linear("adapter_2", out, out, bias=False),
        *linear("projection", text, vision.size("vision_output_dim"), bias=False),
    ]


def read_mllama(vision: Keys, outer: Keys, text: int) -> list[Tensor]:  # noqa: ARG001
    """Tiles with gated position tables, and a second, gated stack over all tiles."""
    hidden, layers, width = dimensions(vision)
    deep = vision.size("num_global_layers")
    tiles = vision.size("max_num_tiles")
    ratios = len(vision.lists("supported_aspect_ratios") or ()) or 8
    pixels = vision.size("num_channels") * vision.size("patch_size") ** 2
    positions = patches(vision) + 1
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
