"""## What it does
Flags plans that count on a large batch being compute-bound (a faster GEMM, FP8 arithmetic, "the
tensor cores are saturated") at a context where reading the KV cache takes most of the step.

## Why is this bad
Weights are shared by the batch, caches are not. At very large batch the compute-bound share of a
step tends to 1 / (1 + S / S*), where S* is the context at which a sequence's cache takes as long to
read as its matrix products to compute: 388 tokens for an 8B with 8 KV heads on an H100. At 10 times
S* arithmetic is 9% of the step, whatever the batch.

## Instead
Levers on the cache: FP8 KV, fewer KV heads, MLA, eviction.

## When this rule is wrong
At short context, with few KV heads or latent attention the linear layers do dominate; the rule
looks at the share that the model computes for the stated batch and context.

## References
- Chen et al.: MagicDec: https://arxiv.org/abs/2408.11049
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.alternatives import advice, at
from advisor.audit import Audit
from advisor.evidence import claimed_over, is_stated, lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Number, Severity
from advisor.rule import STATEMENTS, Rule
from advisor.steps import Step
from advisor.wording import factor, percent

RULE = Rule(
    code="BAT003",
    name="never-compute-bound-at-context",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.DECODE_CALLED_COMPUTE_BOUND,
    about=(
        "matmul_kernel",
        "quantize",
        STATEMENTS,
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: 8 x H100 SXM
workload: {phase: decode, batch: 512, context: 8k}
levers:
  - {«kind: matmul_kernel», name: FP8 GEMM, speedup: 2x, claim: 1.8x throughput}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: 8 x H100 SXM
workload: {phase: decode, batch: 512, context: 8k}
diagnosis: «decode at batch 512 is compute-bound»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 512, context: 200}
levers:
  - {kind: matmul_kernel, name: FP8 GEMM, speedup: 1.3x, claim: 1.1x throughput}
""",
        """\
rooflint: 1
model: DeepSeek-V3
hardware: 8 x H20
workload: {phase: decode, batch: 512, context: 512}
diagnosis: decode is compute-bound
""",
    ),
)

_LITTLE: Final = 0.20


def check(audit: Audit) -> Iterator[Finding]:
    """Arithmetic at a large batch whose step is mostly its caches."""
    if is_stated(audit, "batch", "context"):
        yield from _levers(audit)
    yield from _sentences(audit)


def _levers(audit: Audit) -> Iterator[Finding]:
    for lever in audit.levers:
        if not _is_cache_bound(lever.before) or not promises_speed(lever):
            continue
        idea = lever.lever
        arithmetic = idea.kind == "matmul_kernel" or getattr(idea, "activations", None) is not None
        if not arithmetic or not claimed_over(lever, lever.tpot.interval.mid):
            continue
        yield RULE.on_lever(
            audit,
            lever,
            _told(lever.before),
            why="the weights are shared by the batch, the caches are not",
            instead=advice(audit, "a lever on the cache"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), **_numbers(lever.before)},
            error_class=ErrorClass.FASTER_MATMUL if idea.kind == "matmul_kernel" else None,
        )


def _sentences(audit: Audit) -> Iterator[Finding]:
    if not audit.diagnosis:
        return
    from advisor.limits import Limit  # noqa: PLC0415 - few proposals need it
    from advisor.statements import read_statement  # noqa: PLC0415

    for index, sentence in enumerate(audit.diagnosis):
        for assertion in read_statement(sentence.text):
            if assertion.limit is not Limit.COMPUTE or assertion.denied or assertion.open:
                continue
            stated = assertion.batch is not None or is_stated(audit, "batch")
            long = assertion.context is not None or is_stated(audit, "context")
            step = at(audit, assertion.batch, assertion.context)
            if assertion.phase == "prefill" or not (stated and long) or not _is_cache_bound(step):
                continue
            yield RULE.on_statement(
                audit,
                index,
                assertion.place_in(sentence.text, sentence.span, audit.proposal.source),
                _told(step),
                why="the weights are shared by the batch, the caches are not",
                instead=advice(audit, "a lever on the cache"),
                numbers=_numbers(step),
            )
            break


def _is_cache_bound(step: Step) -> bool:
    """Whether linear layers are past their crossover and arithmetic still is a small part."""
    shares, tokens = step.estimate.shares, step.ledger.tokens
    attention = step.deployment.model.attention
    latent = attention is not None and attention.is_latent
    crossed = tokens > step.estimate.crossover_batch
    return crossed and not latent and shares.compute < _LITTLE and shares.kv > shares.compute


def _told(step: Step) -> str:
    shares, deployment = step.estimate.shares, step.deployment
    return (
        f"at batch {deployment.batch} and {deployment.context:,} tokens reading the cache is"
        f" {percent(shares.kv)} of the step and arithmetic {percent(shares.compute)}: levers on"
        f" FLOPs gain {factor(1.0 / (1.0 - shares.compute))} at most"
    )


def _numbers(step: Step) -> dict[str, Number]:
    shares = step.estimate.shares
    return {"kv_share": shares.kv, "compute_share": shares.compute}
