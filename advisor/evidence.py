"""The facts that rules rest on and findings show: what is claimed of a lever, and its numbers.

Everything here is read off an audit; nothing is computed that the audit does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.audit import Audit, LeverAudit, Verdict
from advisor.claims import Kind, Metric
from advisor.finding import Confidence, Number, Subject
from advisor.forms import Form
from advisor.judge import GRACE, ClaimVerdict, JudgedClaim
from advisor.roofline import Bound, Estimate, Interval
from advisor.steps import Step
from advisor.wording import change, digits, factor, factors, gigabytes, milliseconds, size

_BOUND_NAMES: dict[Bound, str] = {
    "memory": "memory-bound",
    "compute": "compute-bound",
    "overhead": "bound by fixed time per layer",
    "communication": "bound by communication",
    "host_link": "bound by the host link",
}
_CACHE_MATTERS = 0.05
"""Share of the cache in a step from which an unknown context could move a ceiling."""
_SET_FOR_SPEED = frozenset({"quantize", "prune", "low_rank", "activation_sparsity", "early_exit"})
"""Kinds of lever that are pointless in a configuration unless decode gets faster.

Batching, splits, offload, caches of prompts and kernels are set for throughput, room or the
prompt as often, and a configuration does not say for what. What speculation gains hangs on the
traffic that it was set up for.
"""
_NOTHING = 0.02
"""A factor this close to 1 is no gain, whoever claims it."""


class AttachedClaim(NamedTuple):
    """A claim with what it is about: one lever, or all of them together."""

    judged: JudgedClaim
    subject: Subject
    lever: LeverAudit | None


def claims_of(audit: Audit) -> Iterator[AttachedClaim]:
    """Every claim once: those of levers, then those of all levers together.

    Several levers of one entry (weights and KV cache) share the entry's claim.
    """
    told = set()
    for lever in audit.levers:
        if lever.claim is not None and lever.claim.sentence.span not in told:
            told.add(lever.claim.sentence.span)
            yield AttachedClaim(lever.claim, Subject("lever", lever.index), lever)
    for index, judged in enumerate(audit.claims):
        yield AttachedClaim(judged, Subject("claim", index), None)


def hangs_on_other_requests(audit: Audit, lever: LeverAudit) -> bool:
    """Whether a lever keeps other requests' prompts out of a step that others may share."""
    alone = is_stated(audit, "batch") and audit.baseline.deployment.batch == 1
    return lever.lever.kind in {"chunked_prefill", "disaggregate"} and not alone


def shares_entry(audit: Audit, lever: LeverAudit) -> bool:
    """Whether a lever is a further part of an entry, whose claim is about all its parts."""
    return any(
        other is not lever and any(part is lever.lever for part in other.proposed.together)
        for other in audit.levers
    )


def promises_speed(lever: LeverAudit) -> bool:
    """Whether faster decode is expected of a lever and not shown to be possible.

    A lever for which nothing readable is claimed is proposed to make decode faster. One that is
    claimed to do something else (memory, time to first token, one kernel alone), or no more than
    it does, promises nothing that is wrong.
    """
    judged = lever.claim
    if judged is None or judged.claim is None:
        return lever.before.deployment.phase == "decode" and not _is_plain_setting(lever)
    if judged.metric is None:
        return False
    if judged.speedup is not None and judged.speedup <= 1.0 + _NOTHING:
        return False
    return judged.verdict is not ClaimVerdict.PLAUSIBLE


def _is_plain_setting(lever: LeverAudit) -> bool:
    """Whether it is set in a configuration, and may well be set for something else than speed.

    What only a model's name says is how its checkpoint was made, no setting of the file.
    """
    if not lever.configured:
        return False
    sure = lever.proposed.confidence is Confidence.HIGH
    return lever.lever.kind not in _SET_FOR_SPEED or not sure


def promises_any_speed(lever: LeverAudit) -> bool:
    """Whether a lever that helps in no phase is expected to make anything faster.

    Wider than `promises_speed`: claims on the prompt, a whole request or one kernel count.
    """
    judged = lever.claim
    if judged is None or judged.claim is None:
        return not _is_plain_setting(lever)
    if judged.metric is not None:
        return promises_speed(lever)
    claim = judged.claim
    return claim.kind is not Kind.UNCHANGED and (claim.speedup or 0.0) > 1.0 + _NOTHING


def expects_speed(lever: LeverAudit) -> bool:
    """Whether a speedup is claimed, possible by its bytes or not, or nothing readable is.

    For rules on what the byte model does not see: kernels, engines, missing units.
    """
    claimed = lever.claim.speedup if lever.claim is not None else None
    return (claimed or 0.0) > 1.0 + _NOTHING or promises_any_speed(lever)


def promises_bytes(lever: LeverAudit) -> bool:
    """Whether fewer bytes, read or held, are claimed of a lever."""
    judged = lever.claim
    if judged is None or judged.claim is None:
        return False
    return judged.claim.metric in {Metric.MEMORY, Metric.BYTES}


def claimed_words(lever: LeverAudit) -> str:
    """What is claimed of a lever, in lower case; empty where nothing is."""
    return lever.claim.sentence.text.lower() if lever.claim is not None else ""


_MATH: Final = Form(r"tensor[- ]?cores?|flops|\bmma\b|\bmath\b|arithmetic|compute")


def rests_on_arithmetic(lever: LeverAudit) -> bool:
    """Whether what is claimed of a lever is said to come from faster arithmetic."""
    return _MATH.search(claimed_words(lever)) is not None


def claimed_over(lever: LeverAudit, limit: float) -> bool:
    """Whether the speedup claimed of a lever exceeds a limit by more than the grace."""
    claim = lever.claim
    return claim is not None and claim.speedup is not None and claim.speedup > GRACE * limit


def changes_nothing(lever: LeverAudit) -> bool:
    """Whether a lever that saves by name leaves the bytes and the time of a decode step."""
    decode = lever.before.deployment.phase == "decode"
    return decode and lever.verdict is Verdict.FLOP_ONLY


def per_step(step: Step) -> str:
    """GB/token where a step makes one token of one sequence, else GB/step."""
    alone = step.deployment.batch == 1 and step.estimate.tokens_per_step == 1.0
    return "GB/token" if alone else "GB/step"


def bound_of(estimate: Estimate) -> str:
    """What a step waits for, with the numbers that show it."""
    numbers = f"{digits(estimate.intensity, 2)} FLOP/B, ridge {digits(estimate.ridge)}"
    return f"{_BOUND_NAMES[estimate.bound]}: {numbers}"


def moved(what: str, before: float, after: float, unit: str) -> str:
    """Bytes of one kind before and after: weights 70.6 -> 38.6 GB/token."""
    return f"{what} {gigabytes(before)} -> {gigabytes(after)} {unit}"


def step_facts(lever: LeverAudit) -> tuple[str, str]:
    """The line of numbers under a finding: bytes, FLOPs and time before and after a lever."""
    before, after = lever.before.estimate, lever.after.estimate
    unit = per_step(lever.before)
    parts = [moved("weights", before.bytes.weights, after.bytes.weights, unit)]
    if before.bytes.kv_read != after.bytes.kv_read:
        parts.append(moved("KV", before.bytes.kv_read, after.bytes.kv_read, unit))
    saved = change(1.0, 1.0 - lever.flops_saved)
    parts.append(f"FLOPs {saved if lever.flops_saved else change(before.flops, after.flops)}")
    times = f"{milliseconds(before.tpot_ms.mid)} -> {milliseconds(after.tpot_ms.mid)} ms"
    parts.append(f"step {times} ({bound_of(before)})")
    return ("numbers", ", ".join(parts))


def claim_facts(judged: JudgedClaim | None, possible: Interval) -> tuple[tuple[str, str], ...]:
    """The line on what is claimed and what is possible; none where nothing was claimed."""
    if judged is None or judged.speedup is None:
        return ()
    return (("claimed", f"{factor(judged.speedup)}; possible {factors(possible)}"),)


def lever_facts(lever: LeverAudit) -> tuple[tuple[str, str], ...]:
    """The lines under a finding about a lever."""
    return (step_facts(lever), *claim_facts(lever.claim, lever.tpot.interval))


def lever_numbers(lever: LeverAudit) -> dict[str, Number]:
    """The numbers of a finding about a lever, for machines."""
    before, after = lever.before.estimate, lever.after.estimate
    claimed = lever.claim.speedup if lever.claim is not None else None
    return {
        "weights_before_bytes": before.bytes.weights,
        "weights_after_bytes": after.bytes.weights,
        "kv_read_before_bytes": before.bytes.kv_read,
        "kv_read_after_bytes": after.bytes.kv_read,
        "flops_saved_percent": 100.0 * lever.flops_saved,
        "tpot_before_ms": before.tpot_ms.mid,
        "tpot_after_ms": after.tpot_ms.mid,
        "intensity_flop_per_byte": before.intensity,
        "ridge_flop_per_byte": before.ridge,
        "claimed_speedup": claimed,
        "possible_speedup": lever.tpot.interval.mid,
        "possible_speedup_high": lever.tpot.interval.high,
        "ceiling_speedup": lever.tpot.ceiling,
    }


def weights_read(step: Step) -> str:
    """Bytes of weights that a step reads: 70.6 GB."""
    return size(step.estimate.bytes.weights)


def arithmetic_of(step: Step) -> str:
    """How much of a step its arithmetic would take alone, at peak: 0.07 ms of the 30.9 ms step."""
    estimate, deployment = step.estimate, step.deployment
    peak = estimate.ridge * deployment.hardware.bandwidth_gbs * 1e9 * deployment.devices
    alone = digits(1e3 * estimate.flops / peak, 2)
    return f"{alone} ms of the {milliseconds(estimate.expected_ms.mid)} ms step"


def hardware_of(step: Step) -> str:
    """The devices of a step: H100 SXM, 2 x H100 SXM."""
    count, name = step.deployment.devices, step.deployment.hardware.name
    return name if count == 1 else f"{count} x {name}"


def step_of_claim(audit: Audit, claim: AttachedClaim) -> Step:
    """The step with what a claim is about: its lever, or all of them."""
    return claim.lever.after if claim.lever is not None else audit.combined


def claim_numbers(audit: Audit, claim: AttachedClaim) -> dict[str, Number]:
    """The numbers of a finding about a claim, for machines."""
    judged = claim.judged
    step = step_of_claim(audit, claim)
    return {
        "claimed_speedup": judged.speedup,
        "claimed_tpot_ms": judged.tpot_ms,
        "possible_speedup": judged.possible.mid if judged.possible is not None else None,
        "possible_speedup_high": judged.possible.high if judged.possible is not None else None,
        "ceiling_speedup": judged.ceiling,
        "floor_tpot_ms": judged.floor_tpot_ms,
        "tpot_before_ms": audit.baseline.estimate.tpot_ms.mid,
        "tpot_after_ms": step.estimate.tpot_ms.mid,
        "step_bytes": step.estimate.bytes.total,
    }


def is_stated(audit: Audit, *names: str) -> bool:
    """Whether facts come from the proposal or the settings: a verdict may rest on them."""
    facts = audit.context.facts
    return all(name in facts and facts[name].origin != "assumed" for name in names)


def assumed_facts(audit: Audit) -> tuple[tuple[str, str], ...]:
    """The line on what nobody stated and the numbers of a finding rest on."""
    deployment = audit.baseline.deployment
    shown = {
        "model": deployment.model.name,
        "hardware": deployment.hardware.name,
        "batch": f"batch {deployment.batch}",
        "context": f"{deployment.context:,} tokens of context",
    }
    assumed = [told for name, told in shown.items() if not is_stated(audit, name)]
    return (("assumed", ", ".join(assumed)),) if assumed else ()


def rests_on_guesses(audit: Audit, claim: AttachedClaim) -> bool:
    """Whether the ceiling of a claim would move with facts that nobody stated.

    The model and the hardware decide the share of the weights; batch and context that of the
    cache, where a lever is on the cache or the cache is a good part of the step.
    """
    if not is_stated(audit, "model", "hardware"):
        return True
    before, after = audit.baseline.estimate, step_of_claim(audit, claim).estimate
    on_cache = before.bytes.kv_read != after.bytes.kv_read
    return (on_cache or before.shares.kv > _CACHE_MATTERS) and not is_stated(
        audit, "batch", "context"
    )
