"""The proposal dialect: one YAML mapping as a Proposal.

Names of models, hardware, engines and formats are carried as text; who judges the proposal
looks them up. What is wrong in one field hides no other field.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from advisor.problems import Problems, shown
from advisor.proposal import (
    Engine,
    Measured,
    Proposal,
    Sentence,
    Splits,
    Stated,
    Workload,
)
from advisor.quantity import Dimension
from advisor.readers import meant
from advisor.readers.fields import (
    choice_of,
    count_of,
    described,
    known_entries,
    quantity_of,
    sentences_of,
    text_of,
    unknown_key,
)
from advisor.readers.lever_entries import read_levers
from advisor.readers.yaml_nodes import Entry, MapNode, ScalarNode, is_nothing, plain_value
from advisor.source import Span

VERSION: Final = "1"
"""The version of the dialect that is read."""

FIELDS: Final = MappingProxyType(
    {
        "rooflint": "version of the dialect: 1",
        "title": "what is proposed, in a few words",
        "model": "a name, a path to a config.json or checkpoint folder, or the config inline",
        "hardware": "2 x H100 SXM, or {device: h100-sxm, count: 2}",
        "parallelism": "{tensor, pipeline, data, expert, attention_data}",
        "engine": "a name, or {name, version}",
        "workload": "{phase, batch, context, prompt, output}",
        "weights": "number format of the linear layers",
        "kv_cache": "number format of the KV cache",
        "activations": "number format of the activations",
        "lm_head": "number format of the output head",
        "measured": "{tpot: 26 ms}, {tokens_per_second: 41}, {throughput: 900}; or a prove.json",
        "diagnosis": "what limits decode: a sentence or a list of sentences",
        "levers": "what is to be changed, one entry a lever",
        "claim": "what all levers together are to bring: a sentence or a list of sentences",
    }
)
"""The top-level fields; keys that begin with x- are the author's own."""


def read_proposal(root: MapNode, problems: Problems) -> Proposal | None:
    """One document as a proposal; None where it is written for another version."""
    entries = {entry.key.text: entry for entry in root.entries}
    if not _is_this_version(entries.get("rooflint"), problems):
        return None
    for name, entry in entries.items():
        if name not in FIELDS and not name.startswith("x-"):
            unknown_key(entry, "in a proposal", FIELDS, problems, meant=meant.FIELDS)
    return _Document(entries, problems).proposal(root.span)


def _is_this_version(entry: Entry | None, problems: Problems) -> bool:
    if entry is None:
        return True
    value = entry.value
    if isinstance(value, ScalarNode) and value.text.strip() == VERSION:
        return True
    if is_nothing(value) or not isinstance(value, ScalarNode):
        message = f"rooflint is the version of the dialect, {VERSION}, not {described(value)}"
        problems.add("E904", entry.pair, message, instead=f"write rooflint: {VERSION}")
    else:
        message = f"this rooflint reads version {VERSION} of the dialect, not {shown(value.text)}"
        problems.add("E913", value.span, message, instead=f"write rooflint: {VERSION}")
    return False


class _Document:
    """The fields of one document, read one by one."""

    def __init__(self, entries: dict[str, Entry], problems: Problems) -> None:
        self.entries = entries
        self.problems = problems

    def proposal(self, span: Span) -> Proposal:
        """All of them."""
        title = self.text("title", "Prune the 70B for faster decode")
        levers = self.entries.get("levers")
        return Proposal(
            source=self.problems.source,
            span=span,
            title=title.value if title is not None else "",
            model=self.model(),
            hardware=self.hardware(),
            engine=self.engine(),
            splits=self.splits(),
            workload=self.workload(),
            weights=self.text("weights", "int4-g128"),
            kv_cache=self.text("kv_cache", "fp8"),
            activations=self.text("activations", "bf16"),
            lm_head=self.text("lm_head", "bf16"),
            measured=self.measured(),
            diagnosis=self.sentences("diagnosis", "decode is limited by memory bandwidth"),
            levers=read_levers(levers.value, self.problems) if levers is not None else (),
            claims=self.sentences("claim", "2x tokens/s"),
        )

    def text(self, field: str, example: str) -> Stated[str] | None:
        """A field that holds a name."""
        entry = self.entries.get(field)
        return entry and text_of(entry.value, field, self.problems, example=example)

    def sentences(self, field: str, example: str) -> tuple[Sentence, ...]:
        """A field that holds sentences."""
        entry = self.entries.get(field)
        if entry is None:
            return ()
        return sentences_of(entry.value, field, self.problems, example=example)

    def model(self) -> Stated[str | Mapping[str, object]] | None:
        """A name, a path, or the config itself."""
        entry = self.entries.get("model")
        if entry is not None and isinstance(entry.value, MapNode):
            parts = {item.key.text: item for item in entry.value.entries}
            config = {name: plain_value(item.value) for name, item in parts.items()}
            family = parts.get("model_type")  # what decides whether it can be counted
            place = family.pair if family is not None else entry.key.span
            return Stated(MappingProxyType(config), "given", place)
        named = self.text("model", "Llama-3.1-8B")
        return None if named is None else Stated(named.value, named.origin, named.span)

    def hardware(self) -> Stated[str] | None:
        """How many of which device, as one text."""
        entry = self.entries.get("hardware")
        if entry is None or not isinstance(entry.value, MapNode):
            return self.text("hardware", "2 x H100 SXM")
        parts = known_entries(
            entry.value,
            "hardware",
            ("device", "count"),
            self.problems,
            example="{device: h100-sxm, count: 2}",
            meant=meant.HARDWARE,
        )
        device, count = parts.get("device"), parts.get("count")
        if device is None or is_nothing(device.value):
            self.missing(entry, "hardware needs its device", "{device: h100-sxm, count: 2}")
            return None
        name = text_of(device.value, "hardware.device", self.problems, example="h100-sxm")
        many = count and count_of(count.value, "hardware.count", self.problems)
        if name is None or many is None:
            return name
        return Stated(f"{many.value} x {name.value}", "given", name.span)

    def engine(self) -> Engine | None:
        """Name and version."""
        entry = self.entries.get("engine")
        if entry is None or not isinstance(entry.value, MapNode):
            name = self.text("engine", "vllm")
            return Engine(name) if name is not None else None
        example = "{name: vllm, version: 0.11}"
        parts = known_entries(
            entry.value, "engine", ("name", "version"), self.problems, example=example
        )
        named, version = parts.get("name"), parts.get("version")
        if named is None or is_nothing(named.value):
            self.missing(entry, "engine needs its name", example)
            return None
        name = text_of(named.value, "engine.name", self.problems, example="vllm")
        if name is None:
            return None
        of = version and text_of(version.value, "engine.version", self.problems, example="0.11")
        return Engine(name, of)

    def splits(self) -> Splits:
        """Parallel degrees."""
        entry = self.entries.get("parallelism")
        if entry is None:
            return Splits()
        names = ("tensor", "pipeline", "data", "expert", "attention_data")
        parts = known_entries(
            entry.value, "parallelism", names, self.problems, example="{tensor: 2}",
            meant=meant.PARALLELISM,
        )  # fmt: skip
        return Splits(
            **{
                name: count_of(part.value, f"parallelism.{name}", self.problems)
                for name, part in parts.items()
            }
        )

    def workload(self) -> Workload:
        """Phase, batch and lengths."""
        entry = self.entries.get("workload")
        if entry is None:
            return Workload()
        example = "{phase: decode, batch: 1, context: 4096}"
        names = ("phase", "batch", "context", "prompt", "output")
        parts = known_entries(
            entry.value, "workload", names, self.problems, example=example, meant=meant.WORKLOAD
        )
        counts = {
            name: count_of(
                part.value,
                f"workload.{name}",
                self.problems,
                Dimension.COUNT if name == "batch" else Dimension.TOKENS,
            )
            for name, part in parts.items()
            if name != "phase"
        }
        return Workload(phase=self.phase(parts.get("phase")), **counts)

    def phase(self, entry: Entry | None) -> Stated[Literal["decode", "prefill"]] | None:
        """Decode or prefill."""
        if entry is None:
            return None
        word = choice_of(entry.value, "workload.phase", ("decode", "prefill"), self.problems)
        if word is None:
            return None
        return Stated("prefill" if word.value == "prefill" else "decode", "given", word.span)

    def measured(self) -> Measured | None:
        """What was measured of the baseline."""
        entry = self.entries.get("measured")
        if entry is None:
            return None
        if isinstance(entry.value, ScalarNode) and entry.value.text.strip().endswith(".json"):
            return Measured(entry.value.span, run=entry.value.text.strip())
        parts = known_entries(
            entry.value,
            "measured",
            ("tpot", "itl", "tokens_per_second", "throughput"),
            self.problems,
            example="{tpot: 26 ms}",
            meant=meant.MEASURED,
        )
        if "tpot" in parts and "itl" in parts:
            self.problems.add(
                "E910",
                parts["itl"].key.span,
                "itl is another name of tpot, which is given",
                instead="remove one of them",
            )
        time = parts.get("tpot") or parts.get("itl")
        field = f"measured.{time.key.text}" if time is not None else ""
        tpot = time and quantity_of(time.value, field, Dimension.TIME, self.problems, unit="ms")
        speed = self.rate(parts.get("tokens_per_second"))
        throughput = self.rate(parts.get("throughput"))
        if tpot is None and speed is None and throughput is None:
            return None
        return Measured(entry.value.span, tpot.value if tpot else None, speed, throughput)

    def rate(self, entry: Entry | None) -> float | None:
        """Tokens per second."""
        if entry is None:
            return None
        field = f"measured.{entry.key.text}"
        read = quantity_of(entry.value, field, Dimension.RATE, self.problems, unit="tokens/s")
        if read is None:
            return None
        if read.unit != "tokens/s":
            message = f"{field} is in tokens per second, not {read.unit}"
            instead = f"write {entry.key.text}: 83 tokens/s"
            self.problems.add("E905", entry.value.span, message, instead=instead)
            return None
        return read.value

    def missing(self, entry: Entry, message: str, example: str) -> None:
        """Report a mapping that lacks what it needs."""
        self.problems.add("E911", entry.pair, message, instead=f"write {entry.key.text}: {example}")
