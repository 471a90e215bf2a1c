"""Findings, audits and advice as the records that `--format json` writes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from advisor import roofline
from advisor.advise import Advice, Ranking
from advisor.audit import Audit, LeverAudit, Speedup
from advisor.checking import Checked
from advisor.finding import Finding, Note, Severity
from advisor.judge import ClaimVerdict, JudgedClaim
from advisor.reports.formats import PageSetup
from advisor.reports.records import (
    VERSION,
    AdviceItemRecord,
    AdviceRecord,
    AuditRecord,
    AuditsRecord,
    BytesRecord,
    CheckRecord,
    ClaimRecord,
    EstimateRecord,
    FactRecord,
    FindingRecord,
    IntervalRecord,
    LeverRecord,
    NoteRecord,
    Number,
    PlaceRecord,
    SharesRecord,
    SpeedupRecord,
    SummaryRecord,
)
from advisor.source import Position, Source


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
