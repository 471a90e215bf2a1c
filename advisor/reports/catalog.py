"""What rooflint knows, as tables: models, hardware, number formats, engines, levers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from advisor.catalog.device import Device
from advisor.catalog.engines import all_engines
from advisor.catalog.hardware import all_devices, sources
from advisor.catalog.models import load_config, model_names, model_record
from advisor.ledger.formats import STORAGES, known_formats
from advisor.levers import LEVERS, lever_class
from advisor.reports.columns import table
from advisor.reports.style import Style, wrap

_HALF: Final = 0.5
_WIDE_BITS: Final = 16


class Row(NamedTuple):
    """One entry: what the table shows, what the machine format says, and words to find it by."""

    cells: tuple[str, ...]
    record: Mapping[str, Any]
    words: str = ""


class Listing(NamedTuple):
    """One catalog."""

    heading: tuple[str, ...]
    right: str
    """"r" at the place of each column that is set right."""
    rows: Callable[[], Iterator[Row]]
    about: str
    """What the columns mean, and where the figures come from."""


def catalog_text(name: str, words: str, style: Style, *, fit: bool) -> str:
    """A catalog as a table, cut to the width of the page where it is to fit; "" where it is empty.

    A KeyError for a name that is none of `CATALOGS`.
    """
    listing = CATALOGS[name]
    rows = [row.cells for row in _matching(listing, words)]
    if not rows:
        return ""
    last: Literal["cut", "over"] = "cut" if fit else "over"
    lines = table(listing.heading, rows, style, right=listing.right, last=last)
    lines += ["", *(style.paint(line, "quiet") for line in wrap(listing.about, style.width))]
    return "\n".join(lines) + "\n"


def catalog_json(name: str, words: str) -> str:
    """A catalog for programs; KeyError for a name that is none of `CATALOGS`."""
    entries = [dict(row.record) for row in _matching(CATALOGS[name], words)]
    return json.dumps({"version": 1, "catalog": name, "entries": entries}, ensure_ascii=False)


def _matching(listing: Listing, words: str) -> Iterator[Row]:
    """Rows that hold every word, in any case."""
    wanted = words.lower().split()
    for row in listing.rows():
        text = " ".join((*row.cells, row.words)).lower()
        if all(word in text for word in wanted):
            yield row


def _models() -> Iterator[Row]:
    for name in model_names():
        record = model_record(name)
        family = str(load_config(name).get("model_type", ""))
        count = record.parameters
        shown = f"{count / 1e9:,.2f}" if count is not None else "?"
        yield Row(
            (name, family, shown, record.confidence, record.source),
            {
                "name": name,
                "model_type": family,
                "parameters": count,
                "confidence": record.confidence,
                "source": record.source,
            },
        )


def _hardware() -> Iterator[Row]:
    told = sources()
    for device in all_devices():
        ridge = device.ridge("bf16")
        yield Row(
            (
                device.name,
                f"{device.memory_gb:g}",
                f"{device.bandwidth_gbs:,g}",
                _tflops(device, "bf16") or _tflops(device, "fp16"),
                _tflops(device, "fp8"),
                _tflops(device, "int8"),
                "" if ridge is None else f"{ridge:.0f}",
                "" if device.interconnect_gbs is None else f"{device.interconnect_gbs:,g}",
                device.released,
                device.confidence,
                ", ".join(device.source),
            ),
            {
                "id": device.id,
                "name": device.name,
                "aliases": list(device.aliases),
                "vendor": device.vendor,
                "kind": device.kind,
                "architecture": device.architecture,
                "released": device.released,
                "memory_type": device.memory_type,
                "memory_bytes": device.memory_bytes,
                "bandwidth_gbs": device.bandwidth_gbs,
                "tflops_dense": dict(device.tflops_dense),
                "ridge_bf16": ridge,
                "interconnect_gbs": device.interconnect_gbs,
                "host_link_gbs": device.host_link_gbs,
                "tdp_w": device.tdp_w,
                "confidence": device.confidence,
                "source": [told.get(key, key) for key in device.source],
            },
            " ".join((device.id, device.vendor, device.architecture, *device.aliases)),
        )


def _tflops(device: Device, dtype: str) -> str:
    figure = device.tflops_dense.get(dtype)
    return "" if figure is None else f"{figure:,g}"


def _formats() -> Iterator[Row]:
    for form in known_formats():
        yield Row(
            (
                form.name,
                form.kind,
                f"{form.bits:.4g}",
                f"{_WIDE_BITS / form.bits:.2f}x",
                f"{form.row_bits:g}" if form.row_bits else "",
                form.about,
            ),
            {
                "name": form.name,
                "kind": form.kind,
                "bits_per_weight": form.bits,
                "bits_per_row": form.row_bits,
                "bits_by_role": dict(form.mix) if form.mix is not None else {},
                "about": form.about,
            },
        )
    for storage in STORAGES.values():
        bits = storage.bits(_WIDE_BITS, _HALF)
        yield Row(
            (storage.name, "storage", f"{bits:.4g}", f"{_WIDE_BITS / bits:.2f}x", "",
             f"{storage.about} (of 16-bit weights, half of them zero)"),
            {
                "name": storage.name,
                "kind": "storage",
                "bits_per_weight": bits,
                "bits_per_row": 0,
                "bits_by_role": {},
                "about": storage.about,
            },
        )  # fmt: skip


def _engines() -> Iterator[Row]:
    for engine in all_engines().values():
        yield Row(
            (
                engine.label,
                engine.id,
                "yes" if engine.graphs else "no",
                engine.batching,
                engine.all_reduce,
                engine.evidence,
            ),
            {
                "id": engine.id,
                "label": engine.label,
                "graphs": engine.graphs,
                "host_us_per_layer": list(engine.host),
                "fused_attention": engine.fused_attention,
                "batching": engine.batching,
                "all_reduce": engine.all_reduce,
                "evidence": engine.evidence,
            },
        )


def _levers() -> Iterator[Row]:
    for kind, entry in LEVERS.items():
        found = lever_class(kind)
        fields = [name for name in found.model_fields if name != "kind"]
        yield Row(
            (kind, found.metric, entry.about, ", ".join(fields), entry.also),
            {
                "kind": kind,
                "about": entry.about,
                "acts_on": found.nature.value,
                "metric": found.metric,
                "fields": fields,
                "machine_kinds": list(entry.machine_kinds),
                "aliases": list(entry.aliases),
            },
            " ".join(entry.machine_kinds),
        )


CATALOGS: Mapping[str, Listing] = MappingProxyType(
    {
        "models": Listing(
            ("model", "family", "parameters 1e9", "confidence", "source"),
            "  r",
            _models,
            "parameters: the published total; exact: the counts of rooflint meet it to the "
            "element, explained: they differ by a known amount, unverified: no total was at hand",
        ),
        "hardware": Listing(
            ("device", "GB", "GB/s", "16-bit", "fp8", "int8", "ridge", "link GB/s", "released",
             "confidence", "source"),
            " rrrrrrr",
            _hardware,
            "16-bit, fp8, int8: dense TFLOPS of one device; ridge: FLOP/B in 16 bits; link: both "
            "directions together; confidence high: recomputed, medium: recalled, low: preliminary",
        ),
        "formats": Listing(
            ("format", "kind", "bits", "to 16-bit", "bits a row", "what it is"),
            "  rrr",
            _formats,
            "bits: stored for each weight, with scales and zeros; mixes of GGUF by their base",
        ),
        "engines": Listing(
            ("engine", "id", "graphs", "batching", "all-reduce", "evidence"),
            "",
            _engines,
            "graphs: steps run as captured graphs unless somebody switches them off",
        ),
        "levers": Listing(
            ("kind", "metric", "what it is", "fields", "also called"),
            "",
            _levers,
            "metric: what a claim without one is about; rooflint explain KIND has a page on each",
        ),
    }
)  # fmt: skip
