"""From a proposal to an audit: each lever before and after, what it can bring, what is claimed.

A lever is judged alone against the baseline, and all levers together as one more deployment:
speedups are never multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.names import UnknownNameError
from advisor.context import Context, Defaults, resolve
from advisor.deployment import Deployment, DeploymentError
from advisor.finding import Finding
from advisor.judge import JudgedClaim, Limits, judge
from advisor.ledger.architecture import UnsupportedModelError
from advisor.ledger.step import Ledger, count_step
from advisor.levers import Lever, Metric, Nature
from advisor.problems import problem
from advisor.proposal import Proposal, ProposedLever, Sentence
from advisor.roofline import Estimate, Interval, compare, estimate

if TYPE_CHECKING:
    from advisor.said import Said

_UNCHANGED = 0.005
"""Relative change of time below which nothing has changed."""
_SAME_BYTES = 1e-4
"""Relative change of bytes below which nothing has changed: a count is exact, a time is not."""
_SLOWER = 1.02
_FOUND = "configuration"


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


class Step(NamedTuple):
    """A deployment with its counted and timed step."""

    deployment: Deployment
    ledger: Ledger
    estimate: Estimate


def step_of(deployment: Deployment) -> Step:
    """Count and time a deployment's step."""
    ledger = count_step(deployment)
    return Step(deployment, ledger, estimate(ledger, deployment))


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
            return Speedup("ttft", _SAME, 1.0) if self.tpot.ceiling <= 1.0 else self.tpot
        return self.tpot

    @property
    def moves_fewer_bytes(self) -> bool:
        """Whether one device moves noticeably fewer bytes per token than before."""
        return _bytes_per_token(self.after) < (1.0 - _SAME_BYTES) * _bytes_per_token(self.before)

    @property
    def byte_ratio(self) -> float:
        """Bytes per token and device before over after."""
        return _bytes_per_token(self.before) / _bytes_per_token(self.after)


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
        return _tpot_speedup(self.baseline, self.combined)

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


_SAME = Interval(1.0, 1.0, 1.0)


def _bytes_per_token(step: Step) -> float:
    return step.ledger.memory_bytes / step.estimate.tokens_per_step


def audit(
    proposal: Proposal, defaults: Defaults | None = None
) -> tuple[Audit | None, tuple[Finding, ...]]:
    """Judge a proposal.

    Returns the audit, None where the baseline itself could not be built, and a finding for
    each name that nobody knows.
    """
    context, problems = resolve(proposal, defaults)
    if context is None:
        return None, problems
    found = list(problems)
    baseline = step_of(context.deployment)
    levers: list[LeverAudit] = []
    everything = context.deployment
    for index, given in enumerate(proposal.levers):
        proposed = _with_known_names(given, context) if proposal.kind == _FOUND else given
        try:
            after = step_of(proposed.lever.apply(context.deployment))
            joint = after
            if proposed.together:
                joint = step_of(_applied(context.deployment, proposed.together))
            everything = proposed.lever.apply(everything)
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
        _tpot_speedup(baseline, combined),
        _throughput_speedup(baseline, combined),
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
    tpot = _within(_tpot_speedup(before, after), ceiling)
    batches = after.deployment.batch / before.deployment.batch
    throughput = tpot.scaled(batches)
    claim = None
    if proposed.claim is not None:
        best = max(ceiling, lever_ceiling(lever, before, joint))
        limits = Limits(
            _within(_tpot_speedup(before, joint), best),
            _within(_throughput_speedup(before, joint), best * max(1.0, batches)),
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


def _tpot_speedup(before: Step, after: Step) -> Interval:
    one, other = before.estimate, after.estimate
    if (one.bytes, one.shares, one.expected_ms) == (other.bytes, other.shares, other.expected_ms):
        return _SAME  # nothing that a token waits for has changed, so nothing is uncertain
    return compare(before.estimate, after.estimate)


def _within(interval: Interval, ceiling: float) -> Interval:
    """An interval cut at what the lever could bring at best."""
    top = max(interval.mid, min(interval.high, ceiling))
    return interval._replace(high=top)


def _throughput_speedup(before: Step, after: Step) -> Interval:
    per_stream = _tpot_speedup(before, after)
    return per_stream.scaled(after.deployment.batch / before.deployment.batch)


def verdict_of(lever: Lever, before: Step, after: Step, condition: str | None) -> Verdict:
    """What a lever is worth, by what it acts on and by what has changed."""
    slower = after.estimate.tpot_ms.mid > _SLOWER * before.estimate.tpot_ms.mid
    faster = after.estimate.tpot_ms.mid < (1.0 - _UNCHANGED) * before.estimate.tpot_ms.mid
    fewer = _bytes_per_token(after) < (1.0 - _SAME_BYTES) * _bytes_per_token(before)
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


def lever_ceiling(lever: Lever, before: Step, after: Step) -> float:
    """The best speedup of the time per token that the lever could bring at no cost of its own.

    1 / (1 - sum of the shares of the step that it touches).
    """
    match lever.acts_on:
        case Nature.TOKENS:
            speculation = after.deployment.speculation
            if speculation is None:
                return 1.0
            # All drafts accepted, and the pass as short as it may well be: how much drafting and
            # verifying cost (a mixture of experts above all) is the least certain part of it.
            best = speculation.draft_tokens + 1.0
            return best * min(1.0, before.estimate.tpot_ms.mid / after.estimate.expected_ms.low)
        case Nature.HARDWARE:
            ratio = before.estimate.floor_tpot_ms / after.estimate.floor_tpot_ms
            return max(ratio, before.estimate.tpot_ms.mid / after.estimate.tpot_ms.mid)
        case Nature.PREFILL:
            # An attention kernel has decode's attention over the cache to gain, a prompt nothing.
            attends = lever.kind == "attention_kernel"
            return _amdahl(before.estimate.shares.kv) if attends else 1.0
        case Nature.AMORTISE | Nature.LINK | Nature.COST | Nature.CAPACITY:
            return 1.0
        case Nature.OVERHEAD:
            fixed = _amdahl(before.estimate.shares.fixed)
            if before.deployment.captures_steps or not after.deployment.captures_steps:
                return fixed
            # The host's time is the widest part of an eager step: at worst all of it goes.
            return max(fixed, before.estimate.tpot_ms.high / after.estimate.tpot_ms.mid)
        case Nature.FLOPS:
            if lever.condition(before.deployment):
                # A kernel for few tokens may keep the bus busier, up to its peak.
                return before.estimate.tpot_ms.mid / before.estimate.floor_tpot_ms
            return _amdahl(before.estimate.shares.compute)
        case Nature.BYTES:
            if before.deployment is after.deployment and lever.condition(before.deployment):
                # What is open decides whether anything is saved; at best its part of the weights.
                part = lever.nominal_flops(before.deployment) or 1.0
                return _amdahl(part * before.estimate.shares.weights)
            return _amdahl(sum(touched_shares(before, after).values()))


def touched_shares(before: Step, after: Step) -> Mapping[str, float]:
    """Shares of the baseline's time, by resource, that a lever on bytes can move.

    Under tensor parallelism a resource that is split n ways keeps 1/n of its time. Where layers
    go, what stays of them stays whole: only the part that is gone is touched.
    """
    shares = before.estimate.shares
    one, other = before.ledger, after.ledger
    touched: dict[str, float] = {}
    if other.layers < one.layers and not _differs(one.ranks, other.ranks):
        touched["weights"] = shares.weights * _part_gone(one.weight_bytes, other.weight_bytes)
        touched["kv"] = shares.kv * _part_gone(one.kv_read_bytes, other.kv_read_bytes)
        touched["state"] = shares.state * _part_gone(one.state_bytes, other.state_bytes)
        touched["compute"] = shares.compute * _part_gone(one.flops, other.flops)
        touched["fixed"] = shares.fixed * _part_gone(one.layers, other.layers)
        return touched
    ways = other.ranks / one.ranks
    gone = 1.0 - 1.0 / ways if ways > 1.0 else 1.0
    if _differs(one.weight_bytes, other.weight_bytes):
        touched["weights"] = shares.weights * gone
    if _differs(one.kv_read_bytes, other.kv_read_bytes):
        touched["kv"] = shares.kv * gone
    if _differs(one.state_bytes, other.state_bytes):
        touched["state"] = shares.state * gone
    if _differs(one.flops, other.flops) or not touched:
        touched["compute"] = shares.compute * gone
    if _differs(one.layers, other.layers):
        touched["fixed"] = shares.fixed
    return touched


def _part_gone(before: float, after: float) -> float:
    return max(0.0, 1.0 - after / before) if before else 0.0


def _differs(one: float, other: float) -> bool:
    return abs(one - other) > _SAME_BYTES * max(one, other)


def _amdahl(touched: float) -> float:
    return 1.0 / max(1.0 - touched, 1e-6)


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
