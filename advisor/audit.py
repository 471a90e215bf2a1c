"""From a proposal to an audit: each lever before and after, what it can bring, what is claimed.

A lever is judged alone against the baseline, and all levers together as one more deployment:
speedups are never multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.names import UnknownNameError
from advisor.context import Context, Defaults, resolve
from advisor.deployment import Deployment, DeploymentError
from advisor.finding import Finding
from advisor.judge import JudgedClaim, Limits, judge
from advisor.ledger.architecture import UnsupportedModelError
from advisor.levers import Lever, Metric, Nature
from advisor.problems import problem
from advisor.proposal import Proposal, ProposedLever, Sentence, Workload
from advisor.roofline import Interval
from advisor.steps import (
    SAME,
    Step,
    bytes_per_token,
    lever_ceiling,
    moves_fewer_bytes,
    step_of,
    throughput_speedup,
    tpot_speedup,
    within,
)

if TYPE_CHECKING:
    from advisor.said import Said

_UNCHANGED = 0.005
"""Relative change of time below which nothing has changed."""
_SLOWER = 1.02


class Verdict(StrEnum):
    """What a lever is worth at decode, in the machine vocabulary."""

    BANDWIDTH = "bandwidth"
    FLOP_ONLY = "flop_only"
    THROUGHPUT_ONLY = "throughput_only"
    OVERHEAD = "overhead"
    PREFILL_ONLY = "prefill_only"
    CONDITIONAL = "conditional"
    CAPACITY_ONLY = "capacity_only"
    REGRESSION = "regression"


class Speedup(NamedTuple):
    """How many times better a metric gets, and what it can reach at best."""

    metric: Metric
    interval: Interval
    ceiling: float
    """1 / (1 - share of the step the lever can touch): where its cost goes to nothing."""


@dataclass(frozen=True, slots=True)
class LeverAudit:
    """One lever alone against the baseline."""

    index: int
    proposed: ProposedLever
    before: Step
    after: Step
    verdict: Verdict
    score: float
    """Share of the step's expected time per token that it removes, in percent."""
    tpot: Speedup
    throughput: Speedup
    flops_saved: float
    """Part of the step's FLOPs it saves by name, executed or not."""
    condition: str | None
    """What the gain hangs on that is not given."""
    claim: JudgedClaim | None
    configured: bool = False
    """Whether it is a setting found in a configuration, of which nobody promises anything."""

    @property
    def lever(self) -> Lever:
        """The lever itself."""
        return self.proposed.lever

    @property
    def speedup(self) -> Speedup:
        """The speedup in the metric that the lever is about."""
        if self.lever.metric == "throughput":
            return self.throughput
        if self.lever.metric == "ttft":
            return Speedup("ttft", SAME, 1.0) if self.tpot.ceiling <= 1.0 else self.tpot
        return self.tpot

    @property
    def moves_fewer_bytes(self) -> bool:
        """Whether one device moves noticeably fewer bytes per token than before."""
        return moves_fewer_bytes(self.before, self.after)

    @property
    def byte_ratio(self) -> float:
        """Bytes per token and device before over after."""
        return bytes_per_token(self.before) / bytes_per_token(self.after)


class Audit(NamedTuple):
    """Everything computed about one proposal. Rules see this and nothing else."""

    proposal: Proposal
    context: Context
    baseline: Step
    levers: tuple[LeverAudit, ...]
    combined: Step
    """All levers together."""
    claims: tuple[JudgedClaim, ...]
    """Claims for all levers together."""
    said: tuple[Said, ...] = ()
    """What the prose of a document says about speed, with the physics to hold it against."""

    @property
    def speedup(self) -> Interval:
        """Speedup of the time per token with all levers together."""
        return tpot_speedup(self.baseline, self.combined)

    @property
    def is_open(self) -> bool:
        """Whether a verdict may hang on what nobody states: batch, context, which device."""
        facts = self.context.facts
        stated = all(facts[name].origin != "assumed" for name in ("batch", "context"))
        return not stated or len(self.context.devices) > 1

    @property
    def diagnosis(self) -> tuple[Sentence, ...]:
        """What the proposal says limits decode."""
        return self.proposal.diagnosis


def audit(
    proposal: Proposal, defaults: Defaults | None = None
) -> tuple[Audit | None, tuple[Finding, ...]]:
    """Judge a proposal.

    Returns the audit, None where the baseline itself could not be built, and a finding for
    each name that nobody knows.
    """
    context, problems = resolve(proposal, defaults)
    if context is None and proposal.kind == "prose":
        # what sentences far apart state need not be of one deployment
        proposal = proposal._replace(model=None, hardware=None, workload=Workload())
        context, problems = resolve(proposal, defaults)
    if context is None:
        return None, problems
    found = list(problems)
    baseline = step_of(context.deployment)
    levers: list[LeverAudit] = []
    everything = context.deployment
    named: set[str] = set()  # a document names one lever many times
    for index, given in enumerate(proposal.levers):
        proposed = given if proposal.kind == "proposal" else _with_known_names(given, context)
        try:
            after = step_of(proposed.lever.apply(context.deployment))
            joint = after
            if proposed.together:
                joint = step_of(_applied(context.deployment, proposed.together))
            if proposal.kind != "prose" or proposed.lever.label not in named:
                everything = proposed.lever.apply(everything)
            named.add(proposed.lever.label)
        except (UnknownNameError, UnsupportedModelError, DeploymentError) as error:
            if proposal.kind == "prose":
                continue  # a mention that does not fit the baseline is nobody's mistake
            code = "E909" if isinstance(error, UnsupportedModelError) else "E906"
            place = proposed.spans.get(getattr(error, "field", "model"), proposed.span)
            found.append(problem(code, proposal.source, place, str(error)))
            continue
        audited = audit_lever(index, proposed, baseline, after, joint, context)
        levers.append(replace(audited, configured=proposal.kind != "proposal"))
    combined = step_of(everything)
    limits = Limits(
        tpot_speedup(baseline, combined),
        throughput_speedup(baseline, combined),
        _combined_ceiling(baseline, combined, levers),
    )
    claims = tuple(
        judge(sentence, baseline.estimate, combined.estimate, combined.deployment, limits, context)
        for sentence in proposal.claims
    )
    return (
        Audit(proposal, context, baseline, tuple(levers), combined, claims, _said(proposal)),
        tuple(found),
    )


def _with_known_names(proposed: ProposedLever, context: Context) -> ProposedLever:
    """A setting without the names it rests on that nobody knows: drafts are often unpublished."""
    draft = getattr(proposed.lever, "draft_model", None)
    if draft is None:
        return proposed
    try:
        proposed.lever.apply(context.deployment)
    except (UnknownNameError, UnsupportedModelError):
        return proposed._replace(lever=proposed.lever.model_copy(update={"draft_model": None}))
    return proposed


def _said(proposal: Proposal) -> tuple[Said, ...]:
    if not proposal.statements:
        return ()
    from advisor.said import say  # noqa: PLC0415 - only documents pay for it

    return say(proposal.statements)


def _applied(deployment: Deployment, levers: tuple[Lever, ...]) -> Deployment:
    for lever in levers:
        deployment = lever.apply(deployment)
    return deployment


def audit_lever(
    index: int,
    proposed: ProposedLever,
    before: Step,
    after: Step,
    joint: Step,
    context: Context,
) -> LeverAudit:
    """One lever between two counted steps; `joint` has every lever of its entry."""
    lever = proposed.lever
    ceiling = lever_ceiling(lever, before, after)
    tpot = within(tpot_speedup(before, after), ceiling)
    batches = after.deployment.batch / before.deployment.batch
    throughput = tpot.scaled(batches)
    claim = None
    if proposed.claim is not None:
        best = max(ceiling, lever_ceiling(lever, before, joint))
        limits = Limits(
            within(tpot_speedup(before, joint), best),
            within(throughput_speedup(before, joint), best * max(1.0, batches)),
            best,
        )
        claim = judge(
            proposed.claim, before.estimate, joint.estimate, joint.deployment, limits, context,
            natural=lever.metric,
        )  # fmt: skip
    condition = lever.condition(before.deployment)
    verdict = verdict_of(lever, before, after, condition)
    if proposed.condition and verdict is Verdict.BANDWIDTH:
        condition, verdict = proposed.condition, Verdict.CONDITIONAL
    time_ratio = after.estimate.tpot_ms.mid / before.estimate.tpot_ms.mid
    score = 100.0 * (1.0 - time_ratio)
    return LeverAudit(
        index=index,
        proposed=proposed,
        before=before,
        after=after,
        verdict=verdict,
        score=0.0 if abs(score) < _UNCHANGED else score,
        tpot=Speedup("tpot", tpot, ceiling),
        throughput=Speedup("throughput", throughput, ceiling * max(1.0, batches)),
        flops_saved=lever.nominal_flops(before.deployment),
        condition=condition,
        claim=claim,
    )


def verdict_of(lever: Lever, before: Step, after: Step, condition: str | None) -> Verdict:
    """What a lever is worth, by what it acts on and by what has changed."""
    slower = after.estimate.tpot_ms.mid > _SLOWER * before.estimate.tpot_ms.mid
    faster = after.estimate.tpot_ms.mid < (1.0 - _UNCHANGED) * before.estimate.tpot_ms.mid
    fewer = moves_fewer_bytes(before, after)
    match lever.acts_on:
        case Nature.AMORTISE:
            return Verdict.THROUGHPUT_ONLY
        case Nature.OVERHEAD:
            return Verdict.OVERHEAD
        case Nature.CAPACITY:
            return Verdict.CAPACITY_ONLY
        case Nature.LINK | Nature.COST:
            return Verdict.REGRESSION if slower else Verdict.CAPACITY_ONLY
        case Nature.PREFILL:
            return Verdict.CONDITIONAL if condition else Verdict.PREFILL_ONLY
        case Nature.FLOPS:
            return Verdict.CONDITIONAL if faster or condition else Verdict.FLOP_ONLY
        case Nature.HARDWARE:
            if slower:
                return Verdict.REGRESSION
            return Verdict.BANDWIDTH if faster else Verdict.FLOP_ONLY
        case Nature.BYTES | Nature.TOKENS:
            if condition is not None:
                return Verdict.CONDITIONAL
            if _rests_on_assumed_tokens(lever, after):
                return Verdict.BANDWIDTH
            if slower:
                return Verdict.REGRESSION
            return Verdict.BANDWIDTH if fewer else Verdict.FLOP_ONLY


def _rests_on_assumed_tokens(lever: Lever, after: Step) -> bool:
    """Whether nobody said how many drafts are kept: the time then is no ground for a verdict."""
    speculation = after.deployment.speculation
    return (
        lever.acts_on is Nature.TOKENS
        and speculation is not None
        and speculation.tokens_per_pass is None
    )


def _combined_ceiling(before: Step, after: Step, levers: list[LeverAudit]) -> float:
    """What all levers together could bring: the union of what they touch, and their tokens."""
    best = before.estimate.tpot_ms.mid / max(after.estimate.floor_tpot_ms, 1e-9)
    single = max((lever.tpot.ceiling for lever in levers), default=1.0)
    if not levers:
        return 1.0
    if len(levers) == 1:
        return single
    return max(single, min(best, _product(lever.tpot.ceiling for lever in levers)))


def _product(values: Iterable[float]) -> float:
    result = 1.0
    for value in values:
        result *= value
    return result
