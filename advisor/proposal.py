"""A proposal: what somebody wants to do to make inference faster, every value with its place.

Readers make proposals and know no physics; the audit judges them and knows no files. A value is
`Stated` with where it stands and where it comes from, so that what the user gave, what the
settings gave and what was assumed are never mixed up.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from advisor.finding import Confidence, Finding
from advisor.levers import Lever
from advisor.source import Source, Span

if TYPE_CHECKING:
    from advisor.prose.model import Statement

T = TypeVar("T")
Origin = Literal["given", "settings", "assumed"]


class Stated(NamedTuple, Generic[T]):
    """A value, where it comes from, and where it stands if it stands in the text."""

    value: T
    origin: Origin = "given"
    span: Span | None = None


class Workload(NamedTuple):
    """What is asked of the deployment; None where nobody said."""

    phase: Stated[Literal["decode", "prefill"]] | None = None
    batch: Stated[int] | None = None
    context: Stated[int] | None = None
    prompt: Stated[int] | None = None
    output: Stated[int] | None = None


class Splits(NamedTuple):
    """Parallel degrees as stated."""

    tensor: Stated[int] | None = None
    pipeline: Stated[int] | None = None
    data: Stated[int] | None = None
    expert: Stated[int] | None = None
    attention_data: Stated[int] | None = None


class Engine(NamedTuple):
    """The engine as stated."""

    name: Stated[str]
    version: Stated[str] | None = None


class Measured(NamedTuple):
    """What the proposal says was measured of its baseline."""

    span: Span
    tpot_ms: float | None = None
    tokens_per_second: float | None = None
    """Of one sequence."""
    throughput: float | None = None
    """Tokens per second of all sequences."""
    run: str | None = None
    """The file of a run of `rooflint prove`, as a path beside the proposal."""


class Sentence(NamedTuple):
    """Words of the proposal that are judged: a claim, or a statement on what limits decode."""

    text: str
    span: Span


class ProposedLever(NamedTuple):
    """A lever, where it is proposed, and what is claimed for it."""

    lever: Lever
    span: Span
    """The words that name it; a finding about the lever stands here."""
    claim: Sentence | None = None
    together: tuple[Lever, ...] = ()
    """Every lever of the same entry, which the claim is about; empty where it is this one only."""
    spans: Mapping[str, Span] = MappingProxyType({})
    """Where each field of the lever stands."""
    condition: str = ""
    """What the text leaves open around the lever: a branch not taken, a split that is undone."""
    confidence: Confidence = Confidence.HIGH
    """How sure it is that the text proposes it: low where only a name says so."""

    def span_of(self, name: str) -> Span:
        """Where a field stands; the lever itself where it does not."""
        return self.spans.get(name, self.span)


class Proposal(NamedTuple):
    """One proposal of one file, as stated. What nobody stated is None."""

    source: Source
    span: Span
    """The whole proposal in the file."""
    title: str = ""
    kind: Literal["proposal", "configuration", "prose"] = "proposal"
    """A configuration is in use as it is: nobody promises anything of what it sets."""
    model: Stated[str | Mapping[str, object]] | None = None
    """A name, a path, or a config written inline."""
    hardware: Stated[str] | None = None
    engine: Engine | None = None
    splits: Splits = Splits()
    workload: Workload = Workload()
    weights: Stated[str] | None = None
    kv_cache: Stated[str] | None = None
    activations: Stated[str] | None = None
    lm_head: Stated[str] | None = None
    measured: Measured | None = None
    diagnosis: tuple[Sentence, ...] = ()
    levers: tuple[ProposedLever, ...] = ()
    claims: tuple[Sentence, ...] = ()
    """Claims for all levers together."""
    statements: tuple[Statement, ...] = ()
    """What its prose says about speed, clause by clause."""

    def first_line(self) -> Span:
        """Where it begins: the place of what nobody stated."""
        start = self.span.start
        return Span(start, start + len(self.source.line(self.source.position(start).line)))

    def context_spans(self) -> Mapping[str, Span]:
        """Where each stated fact of the context stands."""
        found: dict[str, Span] = {}
        parts: tuple[NamedTuple, ...] = (self, self.workload, self.splits)
        for part in parts:
            for name, value in part._asdict().items():
                if isinstance(value, Stated) and value.span is not None:
                    found[name] = value.span
        return found


class Reading(NamedTuple):
    """What a reader made of a file: proposals, and findings about what it could not read."""

    source: Source
    proposals: tuple[Proposal, ...] = ()
    problems: tuple[Finding, ...] = ()
