"""Is a claimed gain possible? Each claim against the interval and the ceiling of what it is about.

At most the high end of the expected interval: plausible. At most the ceiling: needs evidence.
Above it, or below the floor: impossible as stated. Every limit has a grace of 5%. A claim about
one metric, phase or scope is never judged on another.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.claims import Claim, ClaimReading, Kind, Metric, Scope, Stream, parse_claim
from advisor.context import Context
from advisor.deployment import Deployment
from advisor.levers import Metric as StepMetric
from advisor.proposal import Sentence
from advisor.quantity import Bound
from advisor.roofline import Estimate, Interval

GRACE: Final = 1.05
"""Every limit is exceeded only by more than 5%."""


@lru_cache(maxsize=512)
def read_claims(text: str) -> ClaimReading:
    """Every claim of a sentence; one sentence is judged at several steps and by several rules."""
    return parse_claim(text)


class ClaimVerdict(StrEnum):
    """What can be said of a claim."""

    PLAUSIBLE = "plausible"
    NEEDS_EVIDENCE = "needs_evidence"
    IMPOSSIBLE = "impossible"


class Limits(NamedTuple):
    """What a claim is held against: expected speedups, and the best the levers could bring."""

    tpot: Interval
    throughput: Interval
    ceiling: float
    """Of the time per output token."""


class JudgedClaim(NamedTuple):
    """A claim, how it was read, and what came of it."""

    sentence: Sentence
    claim: Claim | None
    """None where no claim could be read in the sentence."""
    metric: StepMetric | None
    """The metric it is judged on; None where it is about something this step does not show."""
    speedup: float | None
    """Claimed factor in that metric, above 1 for better."""
    tpot_ms: float | None
    """Claimed time per output token of one sequence, where the claim is an absolute figure."""
    possible: Interval | None
    """Expected speedup in that metric."""
    ceiling: float | None
    floor_tpot_ms: float | None
    """Time per output token that no implementation can beat with these levers."""
    verdict: ClaimVerdict | None
    reason: str = ""
    """Why it was not judged, where it was not."""

    @property
    def figures(self) -> tuple[float, Interval, float]:
        """Claimed speedup, what is possible, and its ceiling; of a claim that was judged."""
        assert self.speedup is not None
        assert self.possible is not None
        assert self.ceiling is not None
        return self.speedup, self.possible, self.ceiling

    @property
    def below_floor(self) -> bool:
        """Whether the claimed time per token is faster than the bytes allow."""
        if self.tpot_ms is None or self.floor_tpot_ms is None:
            return False
        return self.tpot_ms * GRACE < self.floor_tpot_ms


_WAITING: Final = re.compile(r"\bqueu|\bbacklog|\bhead-of-line|\bunder load\b", re.IGNORECASE)
_RESOURCES: Final = frozenset({Metric.FLOPS, Metric.BYTES, Metric.MEMORY, Metric.PARAMETERS})
_SPEED: Final = frozenset(
    {
        Metric.TPOT, Metric.LATENCY, Metric.TOKENS_PER_SECOND, Metric.THROUGHPUT, Metric.UNKNOWN,
        Metric.TTFT, Metric.LATENCY_E2E,
    }
)  # fmt: skip


def judge(
    sentence: Sentence,
    before: Estimate,
    after: Estimate,
    deployment: Deployment,
    limits: Limits,
    context: Context,
    *,
    natural: StepMetric = "tpot",
) -> JudgedClaim:
    """Read a claim and hold it against what the levers can bring.

    `before` and `after` are the steps without and with what the claim is about, `deployment`
    the one after; `natural` is the metric of a claim that names none.
    """
    reading = read_claims(sentence.text)
    claim = _main_claim(reading.claims)
    if claim is None:
        reason = reading.reason or "no figure in it"
        return _unjudged(sentence, None, reason)
    reason = _other_subject(sentence, claim, deployment)
    if reason:
        return _unjudged(sentence, claim, reason)
    metric = _metric(claim, deployment, natural)
    if metric == "ttft":
        return _unjudged(sentence, claim, "about the prompt; a decode step does not show it")
    tpot_ms = _absolute_tpot(claim, metric, deployment)
    floor = after.floor_tpot_ms
    if (
        tpot_ms is not None
        and tpot_ms * GRACE < floor
        and _may_count_all(claim, metric, deployment.batch)
    ):
        metric, tpot_ms = "throughput", tpot_ms * deployment.batch
    speedup = claim.speedup
    baseline = context.measured_tpot_ms or before.tpot_ms.mid
    if speedup is None and tpot_ms is not None:
        gain = baseline / tpot_ms
        speedup = gain if metric == "tpot" else gain * limits.throughput.mid / limits.tpot.mid
    if speedup is None:
        return _unjudged(sentence, claim, "no figure that time follows from")
    batch_gain = limits.throughput.mid / limits.tpot.mid
    possible = limits.tpot if metric == "tpot" else limits.throughput
    ceiling = limits.ceiling if metric == "tpot" else limits.ceiling * batch_gain
    if tpot_ms is not None and context.measured_tpot_ms is None:
        # Against a baseline that nobody measured, an absolute figure has the floor for a limit.
        ceiling = max(ceiling, (1.0 if metric == "tpot" else batch_gain) * baseline / floor)
    fraction = claim.conditions.bandwidth_fraction or reading.conditions.bandwidth_fraction
    if fraction:
        best = baseline / (floor / min(fraction, 1.0))
        best *= 1.0 if metric == "tpot" else batch_gain
        possible = possible._replace(high=max(possible.high, best))
    # What is expected bounds the ceiling from below: no claim within the interval is impossible.
    ceiling = max(ceiling, possible.high)
    below = tpot_ms is not None and tpot_ms * GRACE < floor
    return JudgedClaim(
        sentence, claim, metric, speedup, tpot_ms, possible, ceiling, floor,
        _verdict(claim, speedup, possible, ceiling, below_floor=below),
    )  # fmt: skip


def _unjudged(sentence: Sentence, claim: Claim | None, reason: str) -> JudgedClaim:
    return JudgedClaim(sentence, claim, None, None, None, None, None, None, None, reason)


def _main_claim(claims: tuple[Claim, ...]) -> Claim | None:
    """The claim a sentence is about: the first on speed, else the first of any kind."""
    asserted = [claim for claim in claims if not claim.negated]
    for claim in asserted:
        if claim.metric in _SPEED:
            return claim
    return asserted[0] if asserted else None


def _other_subject(sentence: Sentence, claim: Claim, deployment: Deployment) -> str:
    """Why a claim is not about this step; empty where it is."""
    if claim.kind is Kind.UNCHANGED:
        return "says that something stays as it is"
    if claim.metric in _RESOURCES:
        return "about a resource, not about time"
    if claim.metric not in _SPEED:
        return f"about {claim.metric.value.replace('_', ' ')}, not about time"
    if claim.metric is Metric.LATENCY_E2E:
        return "about a whole request, of which a decode step is a part"
    if claim.scope is Scope.KERNEL:
        return "about one kernel, not about the step"
    if _WAITING.search(sentence.text):
        return "about requests that wait for others, which one step does not show"
    conditions = claim.conditions
    if conditions.phase in {"prefill", "training"} and deployment.phase != conditions.phase:
        return f"about {conditions.phase}"
    if conditions.batch is not None and conditions.batch != deployment.batch:
        return f"at batch {conditions.batch}; the step has batch {deployment.batch}"
    stated = conditions.context_tokens
    if stated is not None and not 0.5 <= stated / deployment.context <= 2.0:
        return f"at {stated:,} tokens; the step has {deployment.context:,}"
    return ""


def _metric(claim: Claim, deployment: Deployment, natural: StepMetric) -> StepMetric:
    """The metric of the step that a claim is judged on."""
    if claim.metric is Metric.TTFT:
        return "ttft"
    if claim.stream is Stream.AGGREGATE:
        return "throughput"
    if claim.stream is Stream.SINGLE or claim.metric is Metric.TPOT:
        return "tpot"
    if claim.metric is Metric.THROUGHPUT:
        return "throughput"
    if claim.metric is Metric.TOKENS_PER_SECOND:
        return "throughput" if natural == "throughput" and deployment.batch > 1 else "tpot"
    return natural if claim.metric is Metric.UNKNOWN else "tpot"


def _may_count_all(claim: Claim, metric: StepMetric, batch: int) -> bool:
    """Whether a rate of tokens, which says nothing of whose, may be of all sequences together."""
    rate = claim.metric is Metric.TOKENS_PER_SECOND
    return batch > 1 and metric == "tpot" and rate and claim.stream is Stream.UNSTATED


def _absolute_tpot(claim: Claim, metric: StepMetric, deployment: Deployment) -> float | None:
    """Time per output token of one sequence that an absolute claim comes to."""
    if claim.value is None or claim.value <= 0 or claim.kind is not Kind.ABSOLUTE:
        return None
    if claim.unit == "ms":
        return claim.value if claim.metric in {Metric.TPOT, Metric.LATENCY} else None
    if claim.unit == "tokens/s":
        sequences = deployment.batch if metric == "throughput" else 1
        return 1e3 * sequences / claim.value
    return None


def _verdict(
    claim: Claim, speedup: float, possible: Interval, ceiling: float, *, below_floor: bool
) -> ClaimVerdict:
    """By interval and ceiling; a range is possible where its low end is."""
    least = claim.speedup_low or speedup
    if claim.bound is Bound.AT_MOST:
        least = speedup
    if below_floor or least > GRACE * ceiling:
        return ClaimVerdict.IMPOSSIBLE
    if speedup <= GRACE * possible.high:
        return ClaimVerdict.PLAUSIBLE
    return ClaimVerdict.NEEDS_EVIDENCE
