"""Findings and audits for programs: the output of `--format json`, and what its schema is made of.

The keys, their order and their meaning are a contract. Every number is finite; what may be null
says so in its type. Offsets count code points of the decoded text from 0, lines and columns count
from 1, ends are exclusive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PlainSerializer

from advisor import roofline
from advisor.advise import Advice, Ranking
from advisor.audit import Audit, LeverAudit, Speedup, Verdict
from advisor.checking import Checked
from advisor.finding import Confidence, ErrorClass, Finding, Note, Severity
from advisor.judge import ClaimVerdict, JudgedClaim
from advisor.levers import Metric
from advisor.proposal import Origin
from advisor.reports.formats import PageSetup
from advisor.source import Position, Source

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


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlaceRecord(_Record):
    """A place in a file."""

    line: int = Field(ge=1)
    column: int = Field(ge=1)
    offset: int = Field(ge=0)


class NoteRecord(_Record):
    """A related fact; with a place where it stands elsewhere in the file."""

    rule: str | None
    message: str
    start: PlaceRecord | None
    end: PlaceRecord | None


class FindingRecord(_Record):
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


class SummaryRecord(_Record):
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


class CheckRecord(_Record):
    """The output of `rooflint check --format json`."""

    version: Literal[1]
    findings: list[FindingRecord]
    summary: SummaryRecord


class IntervalRecord(_Record):
    """A quantity with its 90% interval."""

    low: FiniteFloat
    mid: FiniteFloat
    high: FiniteFloat


class BytesRecord(_Record):
    """Bytes of one step over all devices."""

    weights: FiniteFloat
    kv_read: FiniteFloat
    kv_write: FiniteFloat
    state: FiniteFloat
    activations: FiniteFloat
    communication: FiniteFloat
    total: FiniteFloat


class SharesRecord(_Record):
    """Parts of the expected time of a step, summing to 1."""

    weights: FiniteFloat
    kv: FiniteFloat
    state: FiniteFloat
    compute: FiniteFloat
    fixed: FiniteFloat
    communication: FiniteFloat
    host_link: FiniteFloat
    draft: FiniteFloat


class EstimateRecord(_Record):
    """One step over all devices: bytes, FLOPs and time."""

    bytes: BytesRecord
    flops: FiniteFloat
    intensity: FiniteFloat
    ridge: FiniteFloat
    bound: roofline.Bound
    floor_ms: FiniteFloat
    expected_ms: IntervalRecord
    tokens_per_step: FiniteFloat
    tokens_per_second: IntervalRecord
    throughput: IntervalRecord
    shares: SharesRecord
    crossover_batch: FiniteFloat
    fits: bool


class SpeedupRecord(_Record):
    """How many times better a metric gets, and the best it could get."""

    metric: Metric
    low: FiniteFloat
    mid: FiniteFloat
    high: FiniteFloat
    ceiling: FiniteFloat


class ClaimRecord(_Record):
    """What somebody claims. `speedup` is null where the words give no factor."""

    text: str
    speedup: FiniteFloat | None
    verdict: ClaimVerdict


class LeverRecord(_Record):
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


class FactRecord(_Record):
    """A fact of the context and where it comes from."""

    value: str | bool | int | FiniteFloat
    origin: Origin


class AuditRecord(_Record):
    """Everything computed about one proposal."""

    path: str
    title: str
    start: PlaceRecord
    context: dict[str, FactRecord]
    baseline: EstimateRecord
    levers: list[LeverRecord]
    combined: EstimateRecord
    claims: list[ClaimRecord]


class AuditsRecord(_Record):
    """The output of `rooflint audit --format json`."""

    version: Literal[1]
    audits: list[AuditRecord]
    errors: list[FindingRecord]


class AdviceItemRecord(_Record):
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


class AdviceRecord(_Record):
    """What `rooflint advise --format json` prints."""

    version: Literal[1] = 1
    goal: str
    baseline: EstimateRecord
    helping: list[AdviceItemRecord]
    stacks: list[AdviceItemRecord]
    not_helping: list[AdviceItemRecord]


def advice_record(ranking: Ranking) -> AdviceRecord:
    """A ranking of levers."""
    return AdviceRecord(
        goal=ranking.goal,
        baseline=estimate_record(ranking.before.estimate),
        helping=[_advice(advice, None) for advice in ranking.helping],
        stacks=[_advice(advice, None) for advice in ranking.stacks],
        not_helping=[_advice(advice, advice.reason(ranking.goal)) for advice in ranking.useless],
    )


def _advice(advice: Advice, reason: str | None) -> AdviceItemRecord:
    return AdviceItemRecord(
        levers=[lever.label for lever in advice.levers],
        kinds=[lever.machine_kind for lever in advice.levers],
        speedup=_interval(advice.gain),
        ceiling=advice.ceiling,
        bytes_per_token=advice.bytes_per_token,
        freed_bytes=advice.freed_bytes,
        fits=advice.fits,
        needs=[idea.needs for idea in advice.ideas],
        quality_risk=[idea.risk for idea in advice.ideas],
        reason=reason,
    )


def report(checked: Checked, _page: PageSetup) -> str:
    """The findings of a run as `check --format json` writes them."""
    return check_record(checked).model_dump_json(by_alias=True, indent=2) + "\n"


def check_record(checked: Checked) -> CheckRecord:
    """The findings of a run as the machine format tells them."""
    count = dict.fromkeys(Severity, 0)
    for finding in checked.findings:
        count[finding.severity] += 1
    baseline = checked.baseline
    return CheckRecord(
        version=VERSION,
        findings=[
            finding_record(finding, checked.sources.get(finding.path))
            for finding in checked.findings
        ],
        summary=SummaryRecord(
            files=checked.files,
            errors=count[Severity.ERROR],
            warnings=count[Severity.WARNING],
            info=count[Severity.INFO],
            suppressed=len(checked.suppressed),
            baselined=0 if baseline is None else len(baseline.unchanged),
            stale=0 if baseline is None else len(baseline.stale),
        ),
    )


def audits_record(
    audits: Iterable[Audit], errors: Iterable[Finding], sources: Mapping[str, Source]
) -> AuditsRecord:
    """The audits of a run, and what could not be read, as the machine format tells them."""
    return AuditsRecord(
        version=VERSION,
        audits=[audit_record(audit) for audit in audits],
        errors=[finding_record(finding, sources.get(finding.path)) for finding in errors],
    )


def finding_record(finding: Finding, source: Source | None) -> FindingRecord:
    """One finding, `source` the text it is about where there is one."""
    return FindingRecord(
        rule=finding.rule,
        name=finding.name,
        error_class=finding.error_class,
        severity=finding.severity,
        confidence=finding.confidence,
        path=finding.path,
        start=_place(finding.start),
        end=_place(finding.end),
        message=finding.message,
        why=finding.why,
        instead=finding.instead,
        lever=finding.lever,
        numbers={name: finite(value) for name, value in finding.numbers.items()},
        notes=[_note(note, source) for note in finding.notes],
    )


def finite(value: Number) -> Number:
    """A number, or null where there is none: JSON has no infinity."""
    return value if not isinstance(value, float) or math.isfinite(value) else None


def audit_record(audit: Audit) -> AuditRecord:
    """One audit."""
    proposal = audit.proposal
    source = proposal.source
    return AuditRecord(
        path=source.path,
        title=proposal.title,
        start=_place(source.position(proposal.span.start)),
        context={
            name: FactRecord(value=_fact(name, stated.value, audit), origin=stated.origin)
            for name, stated in audit.context.facts.items()
        },
        baseline=estimate_record(audit.baseline.estimate),
        levers=[_lever(lever, source) for lever in audit.levers],
        combined=estimate_record(audit.combined.estimate),
        claims=[_claim(claim) for claim in audit.claims],
    )


def estimate_record(estimate: roofline.Estimate) -> EstimateRecord:
    """One estimate."""
    moved = estimate.bytes
    return EstimateRecord(
        bytes=BytesRecord(**moved._asdict(), total=moved.total),
        flops=estimate.flops,
        intensity=estimate.intensity,
        ridge=estimate.ridge,
        bound=estimate.bound,
        floor_ms=estimate.floor_ms,
        expected_ms=_interval(estimate.expected_ms),
        tokens_per_step=estimate.tokens_per_step,
        tokens_per_second=_interval(estimate.tokens_per_second),
        throughput=_interval(estimate.throughput),
        shares=SharesRecord(**estimate.shares._asdict()),
        crossover_batch=estimate.crossover_batch,
        fits=estimate.fits,
    )


def _lever(lever: LeverAudit, source: Source) -> LeverRecord:
    start, end = lever.proposed.span
    return LeverRecord(
        kind=lever.lever.machine_kind,
        start=_place(source.position(start)),
        end=_place(source.position(end)),
        verdict=lever.verdict,
        score=lever.score,
        before=estimate_record(lever.before.estimate),
        after=estimate_record(lever.after.estimate),
        speedup=_speedup(lever.speedup),
        claim=None if lever.claim is None else _claim(lever.claim),
    )


def _claim(claim: JudgedClaim) -> ClaimRecord:
    """A claim that this step does not show (on quality, on a kernel) needs evidence of its own."""
    return ClaimRecord(
        text=claim.sentence.text,
        speedup=claim.speedup,
        verdict=claim.verdict or ClaimVerdict.NEEDS_EVIDENCE,
    )


def _speedup(speedup: Speedup) -> SpeedupRecord:
    low, mid, high = speedup.interval
    return SpeedupRecord(
        metric=speedup.metric, low=low, mid=mid, high=high, ceiling=speedup.ceiling
    )


def _interval(interval: roofline.Interval) -> IntervalRecord:
    return IntervalRecord(low=interval.low, mid=interval.mid, high=interval.high)


def _fact(name: str, value: object, audit: Audit) -> str | bool | int | float:
    """A fact as it was stated; a model written out in the proposal by its name."""
    if isinstance(value, str | bool | int | float):
        return value
    return audit.context.deployment.model.name if name == "model" else str(value)


def _note(note: Note, source: Source | None) -> NoteRecord:
    start = end = None
    if note.span is not None and source is not None:
        start = _place(source.position(note.span.start))
        end = _place(source.position(note.span.end))
    return NoteRecord(rule=note.rule, message=note.message, start=start, end=end)


def _place(position: Position) -> PlaceRecord:
    return PlaceRecord(line=position.line, column=position.column, offset=position.offset)
