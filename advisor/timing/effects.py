"""Which fitted effects the coefficients of a step's time are sums of.

    t = W/(eta_w*BW) + P*c/FP32 + KV/(eta_kv*BW) + L*tau*T^beta + t0 + 2L*AR + hops

Achieved fractions eta are 0.98*sigmoid(z), so that no prediction beats the bus; the dequantization
work per weight c, the fixed time per layer tau and the collective's cost AR are exp(z). Each z is
a sum of effects, from the mean of everything over engine and hardware class down to one card, and
every effect is a deviation from what stands above it, shrunk to nothing where the data is thin. So
an engine or a card without data falls back to its class by leaving its own effects out.

Engines that serve many requests at once and engines that run one sequence are two populations with
effects of their own: they differ in host work, kernels and in how they were measured, and neither
predicts the other.

The same functions serve the calibration, which fits the effects, and the estimate, which adds
them up: there is one description of the model.
"""

from __future__ import annotations

import re
from math import log, log2
from typing import NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine
from advisor.ledger.formats import Format
from advisor.ledger.shapes import Architecture

REFERENCE_WIDTH = 4096
REFERENCE_VOCABULARY = 64000

_UNFUSED = frozenset(
    ("unfused", "eager", "naive", "math", "off", "none", "no-flash", "noflash", "standard")
)
_KNOWN_FAMILY = re.compile(r"[a-z]+(?:_[a-z]{3,})?")


class Effect(NamedTuple):
    """One addend of a coefficient: the fitted value of `key` times `weight`."""

    key: str
    weight: float = 1.0


LINEAR_OPERATORS = frozenset(
    ("attention projections", "MLP", "experts", "shared experts", "recurrent projections")
)
"""Operators of the ledger whose weights a sparse storage covers."""

_ANY_WIDTH = frozenset(("exl2",))

SERVING = "served"
"""Family of the engines whose effects are their own population."""
_SERVING_PREFIX = "serving "


def kind_of(key: str) -> str:
    """What a key distinguishes ("bandwidth:card"), which sets the prior width of its effect."""
    return key.partition("=")[0].removeprefix(_SERVING_PREFIX)


def is_serving(key: str) -> bool:
    """Whether an effect belongs to the population of serving engines."""
    return key.startswith(_SERVING_PREFIX)


class Setting(NamedTuple):
    """What the coefficients depend on: where, by what, and for what kind of model."""

    kernels: str
    family: str
    """Of the engine."""
    era: str | None
    hardware_class: str
    generation: str
    card: str
    model: str
    """Family of the model."""
    routed: bool
    latent: bool
    recurrent: bool
    fused: bool
    sharing: float
    """log2 of the query heads per KV head."""
    width: float
    """log of the model's width over the reference's."""
    vocabulary: float
    """log of the vocabulary over the reference's."""
    devices: int
    """Of a tensor-parallel group."""

    def effect(self, key: str, weight: float = 1.0) -> Effect:
        """An effect of the population that the engine belongs to."""
        return Effect(_SERVING_PREFIX + key if self.family == SERVING else key, weight)


def model_family(architecture: Architecture) -> str:
    """The family behind a model_type: qwen3_moe is qwen, gemma3_text is gemma."""
    match = _KNOWN_FAMILY.match(architecture.model_type)
    return match[0] if match else architecture.model_type


def setting_of(
    model: Architecture, device: Device, engine: Engine, attention_kernel: str | None, devices: int
) -> Setting:
    """Read off what the coefficients depend on; the attention kernel as somebody named it."""
    attention = model.attention
    sharing = 0.0
    if attention is not None and not attention.is_latent:
        sharing = log2(attention.heads / attention.kv_heads)
    fused = engine.fused_attention
    if attention_kernel is not None:
        fused = attention_kernel.lower() not in _UNFUSED
    return Setting(
        kernels=engine.kernel_set(device),
        family=engine.family,
        era=engine.era,
        hardware_class=device.hardware_class,
        generation=device.generation,
        card=device.id,
        model=model_family(model),
        routed=any(layer.routing is not None for layer in model.layers),
        latent=attention is not None and attention.is_latent,
        recurrent=any(layer.state is not None for layer in model.layers),
        fused=fused,
        sharing=sharing,
        width=log(model.hidden / REFERENCE_WIDTH),
        vocabulary=log(max(model.vocabulary, 1) / REFERENCE_VOCABULARY),
        devices=devices,
    )


def kernel_family(form: Format, *, sparse: bool) -> str:
    """The group of formats that one kind of kernel reads."""
    return f"sparse-{form.family}" if sparse else form.family


def width_class(family: str, bits: float) -> str:
    """The group that a kernel family without data falls back to: by the width of its elements.

    A family of any width (exl2) is in one group, so that fewer bits of it are never slower.
    """
    if family in _ANY_WIDTH:
        return "4"
    if bits > 8:
        return "16"
    if bits > 5:
        return "8"
    return "4" if bits > 3.5 else "2"


def bandwidth_effects(setting: Setting, family: str, bits: float, *, routed: bool) -> list[Effect]:
    """Z of the achieved fraction of peak bandwidth on weights of a kernel family."""
    s = setting
    effects = [
        s.effect("bandwidth"),
        s.effect(f"bandwidth:class={s.hardware_class}"),
        s.effect(f"bandwidth:generation={s.generation}"),
        s.effect(f"bandwidth:card={s.card}"),
        s.effect(f"bandwidth:width={width_class(family, bits)}"),
        s.effect(f"bandwidth:format={family}"),
        s.effect(f"bandwidth:engine+format={s.kernels}|{family}"),
    ]
    if s.era is not None:
        effects.append(s.effect(f"bandwidth:era={s.kernels}|{s.era}"))
    if routed:
        effects.append(s.effect("bandwidth:routed"))
    return effects


def dequantize_effects(setting: Setting, family: str) -> list[Effect]:
    """Log of the vector operations per weight that a kernel spends on reading it."""
    s = setting
    return [
        s.effect("dequantize"),
        s.effect(f"dequantize:format={family}"),
        s.effect(f"dequantize:engine={s.kernels}"),
        s.effect(f"dequantize:generation={s.generation}"),
    ]


def cache_effects(setting: Setting) -> list[Effect]:
    """Z of the achieved fraction of peak bandwidth on the KV cache."""
    s = setting
    kernel = f"{s.kernels}+{'fused' if s.fused else 'unfused'}"
    effects = [
        s.effect("kv"),
        s.effect(f"kv:kernel={kernel}"),
        s.effect(f"kv:class={s.hardware_class}"),
        s.effect("kv:sharing", s.sharing),
        s.effect(f"kv:sharing+kernel={kernel}", s.sharing),
    ]
    if s.latent:
        effects.append(s.effect("kv:latent"))
    return effects


def layer_effects(setting: Setting) -> list[Effect]:
    """Log of the fixed time per layer in microseconds."""
    s = setting
    effects = [
        s.effect("layer"),
        s.effect(f"layer:family={s.family}"),
        s.effect(f"layer:engine={s.kernels}"),
        s.effect(f"layer:class={s.hardware_class}"),
        s.effect(f"layer:engine+class={s.kernels}|{s.hardware_class}"),
        s.effect(f"layer:generation={s.generation}"),
        s.effect(f"layer:card={s.card}"),
        s.effect(f"layer:model={s.model}"),
        s.effect("layer:width", s.width),
        s.effect("layer:vocabulary", s.vocabulary),
    ]
    if s.era is not None:
        effects.append(s.effect(f"layer:era={s.kernels}|{s.era}"))
    if s.routed:
        effects.append(s.effect("layer:routed"))
        effects.append(s.effect(f"layer:routed+engine={s.kernels}"))
    if s.latent:
        effects.append(s.effect("layer:latent"))
    if s.recurrent:
        effects.append(s.effect("layer:recurrent"))
    if s.devices > 1:
        effects.append(s.effect("layer:devices"))
    return effects


def growth_effects(setting: Setting) -> list[Effect]:
    """Exponent of the tokens in the step, by which the fixed time per layer grows."""
    s = setting
    return [s.effect("growth"), s.effect(f"growth:engine={s.kernels}")]


def reduce_effects(setting: Setting) -> list[Effect]:
    """Log of an all-reduce's cost in a step over its cost alone in a loop."""
    s = setting
    return [s.effect("reduce"), s.effect(f"reduce:engine={s.kernels}")]


def hop_effects(setting: Setting) -> list[Effect]:
    """Log of the milliseconds at one boundary between devices that hold different layers."""
    return [setting.effect("hop")]


def prefill_effects(setting: Setting) -> list[Effect]:
    """Log of the part of other requests' prefill that falls between two tokens of one."""
    s = setting
    return [s.effect("prefill"), s.effect(f"prefill:engine={s.kernels}")]
