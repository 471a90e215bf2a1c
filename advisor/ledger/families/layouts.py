"""How the layers of a model are laid out: which slide, which route, and how far windows reach."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.ledger.families.family import FULL, SLIDING, Family, Flag
from advisor.ledger.families.keys import Keys


def decide(keys: Keys, flag: Flag) -> bool:
    """What a flag says for this config."""
    if isinstance(flag, bool):
        return flag
    value = keys.flag(flag.key, flag.default != flag.inverted)
    return value != flag.inverted


def window_of(keys: Keys, family: Family) -> int | None:
    """The sliding window in tokens; None where there is none that the context could reach."""
    window = keys.optional_size(family.window_key, minimum=-1)
    if window is None and not keys.present(family.window_key):
        window = family.default_window
    if window is None or window <= 0:
        return None
    limit = keys.optional_size("positions")
    return None if limit is not None and window >= limit else window


def layer_kinds(keys: Keys, family: Family, layers: int) -> tuple[str, ...]:
    """The kind of every layer."""
    if family.kinds is not None:
        return family.kinds(keys, layers)
    given = keys.words("layer_types")
    if given is not None:
        check_length(keys, "layer_types", given, layers)
        return tuple(family.kind_names.get(kind, kind) for kind in given)
    if family.other_kind == SLIDING and (
        window_of(keys, family) is None or not decide(keys, family.window_switch)
    ):
        return (FULL,) * layers
    pattern = keys.optional_size(family.pattern_key) or family.pattern
    if pattern:
        return tuple(FULL if (i + 1) % pattern == 0 else family.other_kind for i in range(layers))
    return (SLIDING,) * layers


def check_length(keys: Keys, key: str, given: Sequence[str], layers: int) -> tuple[str, ...]:
    """A list with one entry a layer."""
    if len(given) != layers:
        raise keys.error(f"{key} has {len(given)} entries for {layers} layers", key)
    return tuple(given)


def expert_layers(keys: Keys, layers: int) -> tuple[bool, ...]:
    """Which layers route, in any of the spellings that say so."""
    kinds = keys.words("mlp_layer_types")
    if kinds is not None:
        known = {"dense": False, "sparse": True, "moe": True, "hash_moe": True}
        for kind in check_length(keys, "mlp_layer_types", kinds, layers):
            if kind not in known:
                raise keys.error(f"unknown kind of MLP {kind!r}", "mlp_layer_types")
        return tuple(known[kind] for kind in kinds)
    listed = keys.numbered("moe_layers")
    if listed is not None:
        return tuple(i in set(listed) for i in range(layers))
    frequency = keys.raw("moe_layer_freq")
    if isinstance(frequency, list | tuple):
        marks = keys.sizes("moe_layer_freq") or ()
        if len(marks) != layers:
            raise keys.error(f"moe_layer_freq has {len(marks)} entries", "moe_layer_freq")
        return tuple(bool(mark) for mark in marks)
    dense_first = keys.optional_size("first_k_dense_replace", minimum=0)
    if dense_first is not None:
        step = keys.size("moe_layer_freq", default=1)
        return tuple(i >= dense_first and i % step == 0 for i in range(layers))
    leading = keys.optional_size("num_dense_layers", minimum=0)
    if leading is not None:
        return tuple(i >= leading for i in range(layers))
    interleave = keys.optional_size("interleave_moe_layer_step")
    if interleave is not None:
        return tuple((i + 1) % interleave == 0 for i in range(layers))
    sparse_step = keys.optional_size("decoder_sparse_step")
    if sparse_step is not None:
        dense = set(keys.sizes("mlp_only_layers") or ())
        return tuple(i not in dense and (i + 1) % sparse_step == 0 for i in range(layers))
    interval = keys.optional_size("moe_layer_interval")
    if interval is not None:
        first = keys.size("moe_layer_start_index", minimum=0)
        last = keys.size("moe_layer_end_index", default=-1, minimum=-1)
        last = layers - 1 if last < 0 else last
        return tuple(first <= i <= last and (i + 1) % interval == 0 for i in range(layers))
    period = keys.optional_size("expert_layer_period")
    if period is not None:
        offset = keys.size("expert_layer_offset", minimum=0)
        return tuple(i % period == offset for i in range(layers))
    return (True,) * layers
