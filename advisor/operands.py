"""Quantities of a step that rules compare: tokens, crossovers, intensities, experts, phases.

All are read off a step's ledger and estimate; nothing here has a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.audit import Audit
from advisor.claims import Claim
from advisor.deployment import Deployment, Kernels
from advisor.judge import JudgedClaim, read_claims
from advisor.ledger.step import distinct_experts
from advisor.proposal import Sentence
from advisor.source import Span
from advisor.steps import Step, step_of

_ACHIEVED_RIDGE: Final = 0.75


class Routed(NamedTuple):
    """Experts of one MoE layer: how many there are, how many a token and a step touch."""

    experts: int
    top_k: int
    touched: float
    """Expected distinct experts of the step, an upper estimate."""


class Request(NamedTuple):
    """The two phases of a request, in ms."""

    prompt_tokens: int
    output_tokens: int
    prefill_ms: float
    decode_ms: float

    @property
    def decode_share(self) -> float:
        """Part of the request that decoding takes."""
        return self.decode_ms / (self.prefill_ms + self.decode_ms)


def claims_in(judged: JudgedClaim | None) -> tuple[Claim, ...]:
    """Every claim of a judged sentence that is not denied, the one that was judged among them."""
    if judged is None:
        return ()
    return tuple(one for one in read_claims(judged.sentence.text).claims if not one.negated)


def sentences_of(audit: Audit) -> Iterator[tuple[Sentence, int | None]]:
    """Every sentence of a proposal with its number in the diagnosis; None where it is a claim."""
    for index, sentence in enumerate(audit.diagnosis):
        yield sentence, index
    for lever in audit.proposal.levers:
        if lever.claim is not None:
            yield lever.claim, None
    for sentence in audit.proposal.claims:
        yield sentence, None


def wide_crossover(step: Step) -> float:
    """Tokens per step from which linear layers in 16 bits are compute-bound, at peak rates.

    B* = PK * b_w / (2 * BW) with b_w of 2 bytes: the ridge of 16-bit math.
    """
    return step.deployment.hardware.ridge("bf16") or float("inf")


def gemm_share(step: Step) -> float:
    """Part of the step that the linear layers take, whatever bounds them."""
    return step.estimate.shares.weights + step.estimate.shares.compute


def attention_intensity(step: Step) -> float | None:
    """FLOP per byte of attention over the cache on one device; None where there is none."""
    for operator in step.ledger.operators:
        if operator.resource == "kv" and operator.read_bytes:
            return operator.flops / operator.read_bytes
    return None


def attention_ridge(step: Step) -> float | None:
    """FLOP per byte at which attention's math takes as long as its bytes, in 16-bit math."""
    return step.deployment.hardware.ridge("bf16")


def waits_for_attention(step: Step) -> bool:
    """Whether latent attention waits for its arithmetic and not for its cache.

    Achieved ridges are about three quarters of those on paper: 220 of 295 on an H800.
    """
    attention = step.deployment.model.attention
    intensity, ridge = attention_intensity(step), attention_ridge(step)
    if attention is None or not attention.is_latent or intensity is None or ridge is None:
        return False
    return intensity > _ACHIEVED_RIDGE * ridge


def linear_bytes(step: Step) -> float:
    """Bytes of the linear layers in one pass: projections, MLPs and experts, no head, no norms."""
    names = {"attention projections", "MLP", "experts", "shared experts", "recurrent projections"}
    return sum(one.read_bytes for one in step.ledger.operators if one.name in names)


def routed(step: Step) -> Routed | None:
    """Routing of the model's widest MoE layers in this step; None for a dense model."""
    found = [layer.routing for layer in step.deployment.model.layers if layer.routing is not None]
    if not found:
        return None
    widest = max(found, key=lambda one: one.experts)
    touched = distinct_experts(widest.experts, widest.top_k, step.ledger.tokens)
    return Routed(widest.experts, widest.top_k, touched)


def stored_weight_bytes(deployment: Deployment) -> float:
    """Bytes of all weights, over all devices that share one copy."""
    alone = step_of(
        deployment.evolve(parallelism=type(deployment.parallelism)(), offload=None, batch=1)
    )
    return alone.estimate.capacity.weights_bytes


def alone_at_batch_1(step: Step) -> Step:
    """The step of one sequence and one token, everything else as it is."""
    return step_of(step.deployment.evolve(batch=1, speculation=None))


def without_cache_bytes_ms(step: Step) -> float:
    """The floor per token if the cache were not read."""
    estimate = step.estimate
    part = estimate.bytes.weights / max(estimate.bytes.memory, 1.0)
    return estimate.floor_tpot_ms * part


def well_run(step: Step) -> Step:
    """The same step on an engine that replays captured graphs, unfitted to any measurement."""
    deployment = step.deployment.evolve(time_factor=None)
    engine = deployment.engine if deployment.engine.graphs else Deployment().engine
    return step_of(deployment.evolve(engine=engine, kernels=Kernels(graphs=True)))


def request_of(audit: Audit) -> Request | None:
    """Prefill and decode of the request that the workload states; None where it states none."""
    work = audit.proposal.workload
    if work.prompt is None or work.output is None:
        return None
    prompt, output = work.prompt.value, work.output.value
    deployment = audit.baseline.deployment
    first = step_of(deployment.evolve(phase="prefill", context=prompt, speculation=None))
    token = step_of(deployment.evolve(phase="decode", context=prompt + max(output // 2, 1)))
    decode_ms = token.estimate.tpot_ms.mid * output
    return Request(prompt, output, first.estimate.expected_ms.mid, decode_ms)


def place_of_fact(audit: Audit, *names: str) -> Span:
    """Where the first of these facts stands; the proposal's first line where none does."""
    spans = audit.proposal.context_spans()
    found = [spans[name] for name in names if name in spans]
    return found[0] if found else audit.proposal.first_line()
