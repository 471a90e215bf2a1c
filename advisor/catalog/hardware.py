"""The hardware catalog: devices by identifier, and by their names as people write them."""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.names import (
    MAX_NAME,
    Match,
    UnknownNameError,
    key,
    nearest_names,
    split_counts,
    squeeze,
    words,
)
from advisor.catalog.store import load_index

MAKERS = frozenset((
    "nvidia", "amd", "intel", "apple", "google", "aws", "geforce", "radeon", "tesla", "instinct",
    "gpu", "gpus",
))  # fmt: skip
"""Words that distinguish no device: left out of every key."""

# Words that may stand beside a device's name and say nothing about which one it is. No single
# letters: the A of an A6000 and the W of a W7900 are names.
_ASIDE = frozenset((
    "an", "the", "of", "on", "with", "in", "each", "per", "total", "stock", "variant", "form",
    "factor", "unstated", "single", "one", "vram", "ram", "memory", "unified", "shared", "nvlink",
    "nvswitch", "server", "servers", "node", "nodes", "machine", "box", "host", "desktop", "pc",
    "cloud", "instance", "system", "rig", "workstation", "card", "cards", "accelerator",
    "accelerators", "device", "devices", "chip", "chips", "class", "series", "founders", "edition",
    "fe", "oem", "oc", "eco", "quadro", "graphics", "platinum", "gold", "azure", "gcp", "amazon",
    "standard", "tensor", "core", "power", "limited", "capped", "limit", "at", "to",
))  # fmt: skip
_MACHINE = re.compile(r"mac ?book (?:pro|air)|mac (?:studio|mini|pro)|imac(?: pro)?", re.IGNORECASE)
_MEMORY_TYPE = re.compile(r"\b(hbm\d?e?|lpddr\dx?|gddr\dx?)\b", re.IGNORECASE)
_WATTS = re.compile(r"\b\d{2,4} ?w(?:atts?)?\b", re.IGNORECASE)
_CORES = re.compile(r"\d+core")
_MEMORY_SIZE = re.compile(r"(\d+(?:\.\d+)?)gb")
_ARCHITECTURES = frozenset((
    "pascal", "volta", "turing", "ampere", "ada", "lovelace", "hopper", "blackwell", "rubin",
    "cdna", "rdna",
))  # fmt: skip
_SXM_BOARDS = frozenset(("sxm", "dgx", "hgx"))
_FORM_FACTORS = _SXM_BOARDS | {"pcie"}
_PARTS = re.compile(r"[()\[\],;|]|\bw/|\s\+\s|\bwith\b|\bon\b|\s/\s")
# Drivers, sheets and people round differently: 192 for the 180 GB of a B200, 288 for 268.
_MEMORY_TOLERANCE = 0.08


class Hardware(NamedTuple):
    """A hardware field: how many of which device (unpacks as `count, match`)."""

    devices: int
    match: Match


@lru_cache(maxsize=512)
def device(identifier: str) -> Device:
    """Return the device of an identifier of hardware.yaml.

    Raises:
        UnknownNameError: with the nearest known names.

    """
    index = load_index("hardware")
    if identifier not in index.places:
        raise UnknownNameError("hardware", identifier, _nearest(identifier))
    entry = index.entry(identifier)
    for listed in ("aliases", "source", "halved_from_sparse", "derived", "checked_fields"):
        entry[listed] = tuple(entry.get(listed, ()))
    entry["tflops_dense"] = MappingProxyType(entry["tflops_dense"])
    return Device(**entry)


@lru_cache(maxsize=1)
def all_devices() -> tuple[Device, ...]:
    """Every device, in the order of hardware.yaml."""
    return tuple(device(identifier) for identifier in load_index("hardware").places)


def sources() -> dict[str, str]:
    """What the keys in `Device.source` stand for."""
    return dict(load_index("hardware").tables["sources"])


@lru_cache(maxsize=1024)
def resolve_device(text: str) -> Match:
    """Find the devices that a name without a count may stand for.

    An ambiguous name ("A100") keeps every device it may mean. Beside a known name, words that
    fit the device (its memory, memory type, architecture, form factor) or say nothing ("card",
    "node") are set aside; any other word leaves the name unknown.
    """
    if len(text) > MAX_NAME:
        return Match(())
    return _find(text) or Match((), nearest=_nearest(text))


@lru_cache(maxsize=256)
def variants_of(identifier: str) -> tuple[str, ...]:
    """The devices that share the short name of one that is the fastest of them, it among them.

    "H100" alone is read as its fastest variant; a slower one was named as such.
    """
    parts = identifier.split("-")
    for stop in range(len(parts) - 1, 1, -1):
        found = resolve_device("-".join(parts[1:stop])).candidates
        if identifier in found:
            fastest = max(found, key=lambda one: device(one).bandwidth_gbs)
            return found if fastest == identifier else (identifier,)
    return (identifier,)


@lru_cache(maxsize=1024)
def parse_hardware(text: str) -> Hardware:
    """Read a hardware field: "2 x H100 SXM", "8xA100-80GB", "RTX 4090 x2", "p5.48xlarge".

    The count is 1 where none is written. A cloud instance type counts its devices.
    """
    if len(text) > MAX_NAME:
        return Hardware(1, Match(()))
    whole = _find(text)
    if whole is None or not whole.exact:
        for count, name in split_counts(text):
            if match := _find(name):
                return Hardware(count * _devices_of_instance(name), match)
    return Hardware(_devices_of_instance(text), whole or Match((), nearest=_nearest(text)))


def _find(text: str) -> Match | None:
    if text in load_index("hardware").places:
        return Match((text,), exact=True)
    return _lookup(words(text)) or _described(text) or _in_parts(text)


def _devices_of_instance(text: str) -> int:
    counts: dict[str, int] = load_index("hardware").tables["instances"]
    return counts.get(key(words(text), MAKERS | {"standard"}), 1)


def _lookup(parts: list[str]) -> Match | None:
    index = load_index("hardware")
    name = key(parts, MAKERS)
    identifiers = index.names.get(name)
    if identifiers is None and any(_CORES.fullmatch(word) for word in parts):
        # Out of order, "Core Ultra 9" ends up with nine cores.
        apart = [piece for word in parts for piece in re.split(r"(?<=\d)(?=core$)", word)]
        name = key(apart, MAKERS)
        identifiers = index.names.get(name)
    if identifiers is None:
        return None
    differ = index.tables["ambiguous"].get(name, ("", ""))[1]
    return Match(tuple(identifiers), exact=True, differ=differ)


def _described(text: str) -> Match | None:
    """Set aside what describes a device, then keep the candidates that it fits."""
    types = [found.lower() for found in _MEMORY_TYPE.findall(text)]
    plain = text
    for pattern in (_MEMORY_TYPE, _MACHINE, _WATTS):
        plain = pattern.sub(" ", plain)
    parts = words(plain)
    sizes = [float(found[1]) for word in parts if (found := _MEMORY_SIZE.fullmatch(word))]
    rest = [word for word in parts if not _MEMORY_SIZE.fullmatch(word) and word not in _ASIDE]
    # A word that is part of a name ("RTX 6000 Ada", "A100 PCIe") may also only describe one
    # ("Ada L40S", "L40 PCIe"), so the fullest reading that is known counts.
    traits = [word for word in rest if word in _ARCHITECTURES or word in _FORM_FACTORS]
    bare = [word for word in rest if word not in traits]
    readings: list[tuple[list[str], tuple[str, ...]]] = [(rest, ()), (bare, tuple(traits))]
    # Tried only then: "H100s" are several H100 (but an L40S is itself), and Apple sells one chip
    # with several core counts on one bus.
    readings += [
        ([word for word in used if word != "s" and not _CORES.fullmatch(word)], extra)
        for used, extra in readings
    ]
    for used, extra in readings:
        for with_size in (True, False):
            kept = [*used, *(f"{size:g}gb" for size in sizes)] if with_size else used
            match = _lookup(kept)
            if match is None:
                continue
            checks = () if with_size else tuple(sizes)
            fitting = tuple(
                identifier
                for identifier in match.candidates
                if _fits(device(identifier), checks, types, extra)
            )
            if fitting:
                differ = match.differ if len(fitting) > 1 else ""
                return Match(fitting, exact=False, differ=differ)
    return None


def _describes(word: str) -> bool:
    return (
        word in _ASIDE
        or word in _ARCHITECTURES
        or word in _FORM_FACTORS
        or _MEMORY_SIZE.fullmatch(word) is not None
    )


def _fits(
    known: Device, sizes: tuple[float, ...], types: list[str], traits: tuple[str, ...]
) -> bool:
    # The label of an SoC or a CPU is the largest memory it is sold with.
    configurable = known.kind in {"soc", "cpu"}
    for size in sizes:
        off = size / known.memory_gb - 1
        if off > _MEMORY_TOLERANCE or (off < -_MEMORY_TOLERANCE and not configurable):
            return False
    if any(not known.memory_type.lower().startswith(kind) for kind in types):
        return False
    name, architecture = known.name.lower(), known.architecture.lower()
    for trait in traits:
        if trait in _SXM_BOARDS and (
            "pcie" in name or "nvl" in name or "GDDR" in known.memory_type
        ):
            return False
        if trait == "pcie" and "sxm" in name:
            return False
        spelled = "ada" if trait == "lovelace" else trait
        if trait not in _FORM_FACTORS and spelled not in architecture:
            return False
    return True


def _in_parts(text: str) -> Match | None:
    """Read "host (card)" and "card, host": the one accelerator that a part names."""
    parts = [part for part in _PARTS.split(text) if part.strip()]
    if not 1 < len(parts) <= 8:
        return None
    found = []
    for part in parts:
        spelled = words(part)
        match = _lookup(spelled) or _described(part)
        if match is not None:
            found.append(match)
        elif all(_describes(word) for word in spelled):
            return None  # "H100 (40 GB)": a description that fits nothing, not another part
    cards = [match for match in found if device(match.candidates[0]).kind != "cpu"]
    best = {match.candidates for match in cards or found}
    if len(best) != 1:
        return None
    match = (cards or found)[0]
    return Match(match.candidates, exact=False, differ=match.differ)


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    ambiguous: dict[str, list[str]] = load_index("hardware").tables["ambiguous"]
    known = {squeeze(alias): alias for alias, _ in ambiguous.values()}
    for entry in all_devices():
        for name in (entry.name, *entry.aliases):
            known.setdefault(squeeze(name), entry.name)
    return known


def _nearest(text: str) -> tuple[str, ...]:
    counted = next(split_counts(text), None)
    return nearest_names(counted[1] if counted else text, _spellings())
