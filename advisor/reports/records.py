"""The shape of what programs are told: the records of `--format json`, whose schemas they make.

The keys, their order and their meaning are a contract. Every number is finite; what may be null
says so in its type. Offsets count code points of the decoded text from 0, lines and columns count
from 1, ends are exclusive.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PlainSerializer

from advisor.audit import Verdict
from advisor.finding import Confidence, ErrorClass, Severity
from advisor.judge import ClaimVerdict
from advisor.levers import Metric
from advisor.proposal import Origin
from advisor.roofline import Bound

VERSION: Literal[1] = 1

Number: TypeAlias = int | FiniteFloat | str | None


_SeverityLabel: TypeAlias = Annotated[
    Severity,
    PlainSerializer(lambda level: level.label, return_type=Literal["error", "warning", "info"]),
]
_ConfidenceLabel: TypeAlias = Annotated[
    Confidence,
    PlainSerializer(lambda level: level.label, return_type=Literal["high", "medium", "low"]),
]


class Record(BaseModel):
    """A record of the contract: what it does not name, it does not hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PlaceRecord(Record):
    """A place in a file."""

    line: int = Field(ge=1)
    column: int = Field(ge=1)
    offset: int = Field(ge=0)


class NoteRecord(Record):
    """A related fact; with a place where it stands elsewhere in the file."""

    rule: str | None
    message: str
    start: PlaceRecord | None
    end: PlaceRecord | None


class FindingRecord(Record):
    """One thing that is wrong, at one place, with the numbers that show it."""

    rule: str
    name: str
    error_class: ErrorClass | None = Field(serialization_alias="class")
    severity: _SeverityLabel
    confidence: _ConfidenceLabel
    path: str
    start: PlaceRecord
    end: PlaceRecord
    message: str
    why: str
    instead: str
    lever: str | None
    numbers: dict[str, Number]
    notes: list[NoteRecord]


class SummaryRecord(Record):
    """What the findings come to."""

    files: int
    errors: int
    warnings: int
    info: int
    suppressed: int
    """Hidden by comments."""
    baselined: int
    """Accepted by the baseline, and not among the findings."""
    stale: int
    """Entries of the baseline that match nothing any more."""


class CheckRecord(Record):
    """The output of `rooflint check --format json`."""

    version: Literal[1]
    findings: list[FindingRecord]
    summary: SummaryRecord


class IntervalRecord(Record):
    """A quantity with its 90% interval."""

    low: FiniteFloat
    mid: FiniteFloat
    high: FiniteFloat


class BytesRecord(Record):
    """Bytes of one step over all devices."""

    weights: FiniteFloat
    kv_read: FiniteFloat
    kv_write: FiniteFloat
    state: FiniteFloat
    activations: FiniteFloat
    communication: FiniteFloat
    total: FiniteFloat


class SharesRecord(Record):
    """Parts of the expected time of a step, summing to 1."""

    weights: FiniteFloat
    kv: FiniteFloat
    state: FiniteFloat
    compute: FiniteFloat
    fixed: FiniteFloat
    communication: FiniteFloat
    host_link: FiniteFloat
    draft: FiniteFloat


class EstimateRecord(Record):
    """One step over all devices: bytes, FLOPs and time."""

    bytes: BytesRecord
    flops: FiniteFloat
    intensity: FiniteFloat
    ridge: FiniteFloat
    bound: Bound
    floor_ms: FiniteFloat
    expected_ms: IntervalRecord
    tokens_per_step: FiniteFloat
    tokens_per_second: IntervalRecord
    throughput: IntervalRecord
    shares: SharesRecord
    crossover_batch: FiniteFloat
    fits: bool


class SpeedupRecord(Record):
    """How many times better a metric gets, and the best it could get."""

    metric: Metric
    low: FiniteFloat
    mid: FiniteFloat
    high: FiniteFloat
    ceiling: FiniteFloat


class ClaimRecord(Record):
    """What somebody claims. `speedup` is null where the words give no factor."""

    text: str
    speedup: FiniteFloat | None
    verdict: ClaimVerdict


class LeverRecord(Record):
    """One lever alone against the baseline."""

    kind: str
    start: PlaceRecord
    end: PlaceRecord
    verdict: Verdict
    score: FiniteFloat
    before: EstimateRecord
    after: EstimateRecord
    speedup: SpeedupRecord
    claim: ClaimRecord | None


class FactRecord(Record):
    """A fact of the context and where it comes from."""

    value: str | bool | int | FiniteFloat
    origin: Origin


class AuditRecord(Record):
    """Everything computed about one proposal."""

    path: str
    title: str
    start: PlaceRecord
    context: dict[str, FactRecord]
    baseline: EstimateRecord
    levers: list[LeverRecord]
    combined: EstimateRecord
    claims: list[ClaimRecord]


class AuditsRecord(Record):
    """The output of `rooflint audit --format json`."""

    version: Literal[1]
    audits: list[AuditRecord]
    errors: list[FindingRecord]


class AdviceItemRecord(Record):
    """One lever or stack that was tried; `reason` is null where it helps."""

    levers: list[str]
    kinds: list[str]
    speedup: IntervalRecord
    ceiling: FiniteFloat
    bytes_per_token: FiniteFloat
    freed_bytes: FiniteFloat
    fits: bool
    needs: list[str]
    quality_risk: list[str]
    reason: str | None


class AdviceRecord(Record):
    """What `rooflint advise --format json` prints."""

    version: Literal[1] = 1
    goal: str
    baseline: EstimateRecord
    helping: list[AdviceItemRecord]
    stacks: list[AdviceItemRecord]
    not_helping: list[AdviceItemRecord]
