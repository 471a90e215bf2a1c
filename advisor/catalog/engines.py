"""Inference engines: what each does by default, whose kernels it runs, and the names people write.

engines.yaml is the source, engines.json what is read. An engine that nobody knows is no error: it
becomes the unknown engine under its own name, with `known` false, so that an estimate can say
what it stands on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.store import FOLDER

Batching = Literal["continuous", "static", "none"]
AllReduce = Literal["custom", "nccl"]

_UNKNOWN = "unknown"
_ANY = "*"
_DEFAULTS: Mapping[str, Any] = {
    "host_us": (120.0, 260.0, 800.0),
    "all_reduce": "nccl",
    "eras": (),
}
_MAX_NAME = 120


class Era(NamedTuple):
    """Builds of one time, whose kernels were slower than today's."""

    name: str
    before_build: int
    before_year: int


class HostTime(NamedTuple):
    """Microseconds the host takes to issue one layer's kernels, one by one."""

    low: float
    typical: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """An engine, perhaps of a version; compared by identity, resolving is cached."""

    id: str
    label: str
    family: str
    """The group of kernel sets that a thinly measured one is pooled with."""
    kernels: Mapping[str, str]
    """Kernel set by vendor; "cpu" for CPUs and "*" for the rest."""
    graphs: bool
    """Whether steps run as captured graphs (or compiled) unless somebody switches that off."""
    host: HostTime
    fused_attention: bool
    batching: Batching
    all_reduce: AllReduce
    """Library of tensor parallelism: one-shot kernels inside graphs, or NCCL."""
    eras: tuple[Era, ...]
    evidence: str
    """What the figures of the engine rest on, in words."""
    version: str | None = None
    known: bool = True
    nearest: tuple[str, ...] = ()
    """Known names that look like the one given, where it is not known."""

    def kernel_set(self, device: Device) -> str:
        """The measured kernel set that runs on a device."""
        vendor = "cpu" if device.kind == "cpu" else device.vendor.lower()
        return self.kernels.get(vendor) or self.kernels[_ANY]

    @property
    def era(self) -> str | None:
        """The era of the version given; None for today's builds and where no version is given."""
        if self.version is None:
            return None
        build = re.search(r"\bb(\d{3,6})\b", self.version)
        year = re.search(r"\b(20\d\d)\b", self.version)
        for era in self.eras:
            if build is not None and int(build[1]) < era.before_build:
                return era.name
            if build is None and year is not None and int(year[1]) < era.before_year:
                return era.name
        return None


@lru_cache(maxsize=1)
def all_engines() -> Mapping[str, Engine]:
    """Every engine by identifier, the unknown one last."""
    entries = json.loads((FOLDER / "engines.json").read_bytes())
    return MappingProxyType({entry["id"]: _engine(entry) for entry in entries})


def _engine(entry: Mapping[str, Any]) -> Engine:
    return Engine(
        id=entry["id"],
        label=entry["label"],
        family=entry["family"],
        kernels=MappingProxyType(entry["kernels"]),
        graphs=entry["graphs"],
        host=HostTime(*entry["host_us"]),
        fused_attention=entry["attention"] == "fused",
        batching=entry["batching"],
        all_reduce=entry["all_reduce"],
        eras=tuple(Era(str(name), build, year) for name, build, year in entry["eras"]),
        evidence=entry["evidence"],
    )


@lru_cache(maxsize=1)
def _names() -> Mapping[str, str]:
    entries = json.loads((FOLDER / "engines.json").read_bytes())
    return MappingProxyType(
        {
            _flat(name): entry["id"]
            for entry in entries
            for name in (entry["id"], entry["label"], *entry["aliases"])
        }
    )


def _flat(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@lru_cache(maxsize=256)
def resolve_engine(text: str, version: str | None = None) -> Engine:
    """The engine people mean by `text` ("vLLM 0.8.5", "TRT-LLM", "llama.cpp b4500").

    A name nobody knows gives the unknown engine, with `known` false and the nearest known names.
    """
    name, written = _split_version(text[:_MAX_NAME])
    names = _names()
    engines = all_engines()
    identifier = names.get(_flat(text[:_MAX_NAME]))
    if identifier is None:
        identifier, version = names.get(_flat(name)), version or written
    if identifier is None:
        near = get_close_matches(_flat(name), names, 2, 0.6)
        return _replace(
            engines[_UNKNOWN],
            label=text[:_MAX_NAME],
            version=version,
            known=False,
            nearest=tuple(dict.fromkeys(engines[names[found]].label for found in near)),
        )
    engine = engines[identifier]
    return engine if version is None else _replace(engine, version=version)


class NamedEngine(NamedTuple):
    """An engine that a text names, with its version; offsets in the text."""

    name: str
    version: str | None
    start: int
    end: int


_WRITTEN: Final = re.compile(
    r"(?<![\w/.-])(vllm|sglang|tensorrt-llm|trt-llm|llama\.cpp|llama-server|ollama|lm studio"
    r"|koboldcpp|ik_llama\.cpp|mlx-lm|mlx|tgi|text-generation-inference|lmdeploy|exllama(?:v[23])?"
    r"|mlc[- ]llm|gpt-fast)(?![\w/-])(?:(?: |==| v| version )(\d+\.\d+(?:\.\d+)?|b\d{3,5})\b)?",
    re.IGNORECASE,
)
"""Names that mean an engine in any sentence; "transformers" may be models."""


def engines_in(text: str) -> tuple[NamedEngine, ...]:
    """The engines that a text names, in order."""
    return tuple(
        NamedEngine(match[1], match[2], *match.span())
        for match in _WRITTEN.finditer(text)
        if _flat(match[1]) in _names()
    )


def _split_version(text: str) -> tuple[str, str | None]:
    """Part "vLLM v0.8.5", "vllm==0.8" or "llama.cpp b4500" into a name and a version."""
    match = re.fullmatch(
        r"\s*(.*?)[\s@=/-]+(?:version\s+)?(v?\d[\w.+-]*|b\d{3,6}(?:\s.*)?)\s*", text, re.IGNORECASE
    )
    return (match[1], match[2].removeprefix("v")) if match else (text, None)


def _replace(engine: Engine, **changes: Any) -> Engine:
    fields = {name: getattr(engine, name) for name in Engine.__slots__}
    return Engine(**{**fields, **changes})


def compile_engines(source: Mapping[str, Any]) -> bytes:
    """Turn the parsed engines.yaml into engines.json: defaults and `like` filled in.

    Raises:
        ValueError: where one name belongs to two engines or `like` names none.

    """
    entries = {entry["id"]: entry for entry in source["engines"]}
    taken: dict[str, str] = {}
    compiled = []
    for identifier, entry in entries.items():
        for name in (identifier, entry["label"], *entry["aliases"]):
            if taken.setdefault(_flat(name), identifier) != identifier:
                raise ValueError(f"{name!r} is both {identifier} and {taken[_flat(name)]}")
        if "like" in entry and entry["like"] not in entries:
            raise ValueError(f"{identifier} is like {entry['like']}, which is none")
        parent = entries.get(entry.get("like", ""), {})
        whole = {**_DEFAULTS, **parent, **entry}
        whole.pop("like", None)
        compiled.append(whole)
    lines = [json.dumps(entry, separators=(",", ":"), ensure_ascii=False) for entry in compiled]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()
