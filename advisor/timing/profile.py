"""The coefficients of one setting, added up once and kept: what an estimate multiplies with.

A profile is looked up by the identity of model, device and engine, which are cached themselves,
so that an estimate pays for one dictionary look-up and no strings.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, sqrt
from typing import Final, NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.engines import Engine
from advisor.ledger.formats import Format
from advisor.ledger.shapes import Architecture
from advisor.timing.effects import (
    Effect,
    Setting,
    bandwidth_effects,
    cache_effects,
    dequantize_effects,
    growth_effects,
    hop_effects,
    kernel_family,
    layer_effects,
    reduce_effects,
    setting_of,
    width_class,
)
from advisor.timing.fitted import load_fitted
from advisor.timing.kernels import (
    link_of,
    math_fraction,
    matmul_dtype,
    peak_flops,
    vector_flops,
)

BUS_LIMIT: Final = 0.98
"""No kernel reaches more of the peak bandwidth than this."""


class Coefficient(NamedTuple):
    """A fitted coefficient, its uncertainty in log units, and the effects behind it."""

    value: float
    """Seconds per byte, per weight or per layer, or a factor."""
    slope: float
    """d log(value) by the sum of the effects."""
    deviation: float
    """Standard deviation of log(value)."""
    effects: tuple[Effect, ...]


class MathRate(NamedTuple):
    """What one FLOP on operands of two formats costs."""

    floor_s: float
    """At the dense peak."""
    reached_s: float
    """At the rate that large matrix products reach."""
    dtype: str
    """The math: bf16, fp8 ..."""


class WeightRates(NamedTuple):
    """What reading weights of one format and multiplying by them costs."""

    byte_s: Coefficient
    weight_s: Coefficient
    """Vector work per weight."""
    math: MathRate
    fallbacks: tuple[tuple[str, str], ...]
    """What stands in where no row measured this format under this engine."""


class Profile:
    """The coefficients that do not depend on the format of the weights; compared by identity."""

    __slots__ = (
        "attention_layers",
        "cache_byte_s",
        "device",
        "fallbacks",
        "growth",
        "hop_s",
        "layer_s",
        "link_byte_s",
        "reduce",
        "setting",
        "spread",
        "token_s",
    )

    def __init__(
        self, model: Architecture, device: Device, engine: Engine, setting: Setting
    ) -> None:
        self.setting = setting
        self.device = device
        self.cache_byte_s = _share(cache_effects(setting), device)
        self.layer_s = _log(layer_effects(setting), 1e-6)
        self.growth = max(load_fitted().total(tuple(growth_effects(setting))), 0.0)
        """Exponent of the sequences in the step, by which the fixed time grows."""
        self.reduce = _log(reduce_effects(setting), 1.0)
        """Factor on the collective library's own time."""
        self.hop_s = _log(hop_effects(setting), 1e-3)
        self.link_byte_s = 1.0 / link_of(device)[1]
        self.attention_layers = sum(layer.count for layer in model.layers if layer.caches)
        self.token_s = load_fitted().token_ms * 1e-3
        self.spread = load_fitted().spread_of(setting)
        self.fallbacks = _fallbacks(setting, engine)


def _share(effects: list[Effect], device: Device) -> Coefficient:
    """Seconds per byte where the effects add up to the logit of the achieved fraction."""
    fitted = load_fitted()
    per_byte_s = 1.0 / (device.bandwidth_gbs * 1e9)
    known = tuple(effects)
    reached = 1.0 / (1.0 + exp(-fitted.total(known)))
    slope = reached - 1.0
    return Coefficient(
        per_byte_s / (BUS_LIMIT * reached), slope, -slope * sqrt(fitted.variance(known)), known
    )


def _log(effects: list[Effect], unit: float) -> Coefficient:
    """`unit` times the exponential of what the effects add up to."""
    fitted = load_fitted()
    known = tuple(effects)
    return Coefficient(unit * exp(fitted.total(known)), 1.0, sqrt(fitted.variance(known)), known)


@lru_cache(maxsize=4096)
def profile_of(
    model: Architecture, device: Device, engine: Engine, attention: str | None, devices: int
) -> Profile:
    """The coefficients of a model on `devices` devices of a tensor group under an engine."""
    setting = setting_of(model, device, engine, attention, devices)
    return Profile(model, device, engine, setting)


@lru_cache(maxsize=8192)
def weight_rates(
    profile: Profile, form: Format, activations: Format, sparse: bool, routed: bool
) -> WeightRates:
    """What weights of a format cost, stored sparse or not, of routed experts or not."""
    family = kernel_family(form, sparse=sparse)
    effects = bandwidth_effects(profile.setting, family, form.element_bits, routed=routed)
    return WeightRates(
        _share(effects, profile.device),
        _log(dequantize_effects(profile.setting, family), 1.0 / vector_flops(profile.device)),
        math_rate(profile.device, form, activations),
        _format_fallbacks(profile.setting, family, form),
    )


@lru_cache(maxsize=4096)
def math_rate(device: Device, form: Format, activations: Format) -> MathRate:
    """What a FLOP on weights of a format and activations of another costs."""
    floor_s = 1.0 / peak_flops(device, form, activations)
    reached_s = floor_s / math_fraction(device, form, activations)
    return MathRate(floor_s, reached_s, matmul_dtype(form, activations))


def _format_fallbacks(setting: Setting, family: str, form: Format) -> tuple[tuple[str, str], ...]:
    effects = load_fitted().effects
    if setting.effect(f"bandwidth:engine+format={setting.kernels}|{family}").key in effects:
        return ()
    if setting.effect(f"bandwidth:format={family}").key in effects:
        return (("weights", f"{form.name} under other engines"),)
    return (("weights", f"other {width_class(family, form.element_bits)}-bit formats"),)


def _fallbacks(setting: Setting, engine: Engine) -> tuple[tuple[str, str], ...]:
    """What has no data of its own here, and what stands in for it."""
    effects = load_fitted().effects

    def known(key: str) -> bool:
        return setting.effect(key).key in effects

    found = []
    if not known(f"bandwidth:card={setting.card}"):
        if known(f"bandwidth:class={setting.hardware_class}"):
            stand_in = f"devices of class {setting.hardware_class}"
        else:
            stand_in = "the mean of all devices"
        found.append(("hardware", stand_in))
    if not known(f"layer:engine={setting.kernels}"):
        pooled = known(f"layer:family={setting.family}")
        stand_in = f"{setting.family} engines" if pooled else "the mean of all engines"
        found.append(("engine", stand_in))
    elif not known(f"layer:engine+class={setting.kernels}|{setting.hardware_class}"):
        found.append(("engine", f"{engine.label} on other hardware"))
    if not known(f"layer:model={setting.model}"):
        found.append(("model", "the mean of all model families"))
    return tuple(found)
