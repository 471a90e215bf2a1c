"""What to do instead: every usual lever tried on one deployment, alone and stacked.

Levers are ranked by what they bring on this model, hardware, batch and context. A stack is one more
deployment with all of its levers in it: speedups are never multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple

from advisor.audit import Verdict, verdict_of
from advisor.deployment import Deployment
from advisor.levers import Lever, Nature, lever_class
from advisor.roofline import Interval, compare
from advisor.steps import Step, lever_ceiling, step_of

Goal = Literal["latency", "throughput", "memory"]

_WORTH: Final = 1.02
"""A gain below 2% is lost in the noise of one measurement."""
_WORTH_NAMING: Final = 1.05
"""A finding does not send people after less."""
_WORTH_BYTES: Final = 0.02
MOST_STACKED: Final = 5


class Idea(NamedTuple):
    """A lever worth trying: its fields in the dialect, what it needs, what it risks."""

    kind: str
    fields: Mapping[str, Any]
    needs: str
    risk: str
    """To quality, in a word: none, small, some, high."""
    told: str = ""
    """How a finding names it when it says what to do instead; empty for what it does not name."""

    @property
    def slot(self) -> str:
        """Levers of one slot exclude each other: two formats for the same weights, say."""
        names = ("weights", "kv_cache", "lm_head", "pattern", "size")
        return ".".join((self.kind, *(name for name in names if name in self.fields)))


IDEAS: Final = (
    Idea("quantize", {"weights": "fp8"}, "FP8 checkpoint; weight-only kernel below sm89", "small"),
    Idea("quantize", {"weights": "int8"}, "W8A16 or W8A8 kernel", "small"),
    Idea(
        "quantize",
        {"weights": "int4-g128"},
        "AWQ or GPTQ checkpoint, Marlin-class kernel",
        "some",
        "int4-g128 weights",
    ),
    Idea("quantize", {"weights": "nvfp4"}, "NVFP4 checkpoint; FP4 math from Blackwell", "some"),
    Idea("quantize", {"weights": "int3-g128"}, "3-bit checkpoint and kernel", "high"),
    Idea("quantize", {"lm_head": "int8"}, "an engine that quantizes the output head", "small"),
    Idea(
        "quantize", {"kv_cache": "fp8"}, "attention kernel that reads FP8", "small", "fp8 KV cache"
    ),
    Idea("quantize", {"kv_cache": "int4-g64"}, "attention kernel that reads 4 bits", "some"),
    Idea(
        "prune",
        {"pattern": "2:4", "storage": "2:4-packed", "kernel": "sparse-marlin"},
        "a checkpoint trained for 2:4, a sparse decode kernel, an engine that ships it",
        "some",
    ),
    Idea("prune", {"pattern": "layers", "sparsity": 0.25}, "healing by further training", "high"),
    Idea(
        "prune",
        {"pattern": "channels", "sparsity": 0.25, "storage": "removed"},
        "healing by further training",
        "high",
    ),
    Idea(
        "speculate",
        {"method": "EAGLE-3", "draft_tokens": 3, "tokens_per_pass": 2.0},
        "a draft head for this model; 2.0 accepted tokens per pass are assumed",
        "none",
        "speculation at 2 tokens per pass",
    ),
    Idea(
        "speculate",
        {"method": "n-gram", "draft_tokens": 3, "tokens_per_pass": 1.4},
        "output that repeats its prompt; 1.4 accepted tokens per pass are assumed",
        "none",
    ),
    Idea("activation_sparsity", {"sparsity": 0.4}, "column-major weights, sparse GEMV", "some"),
    Idea("tensor_parallel", {"size": 2}, "two devices with a fast link", "none"),
    Idea("tensor_parallel", {"size": 4}, "four devices with a fast link", "none"),
    Idea("tensor_parallel", {"size": 8}, "eight devices with a fast link", "none"),
    Idea("cuda_graphs", {}, "static shapes", "none", "CUDA graphs"),
    Idea("fuse", {}, "fused norm, rotation and projection kernels", "none"),
    Idea("batch", {"batch": 8}, "eight requests at a time", "none"),
    Idea("batch", {"batch": 32}, "32 requests at a time", "none"),
    Idea("data_parallel", {"size": 2}, "a second replica", "none"),
    Idea("prune", {"sparsity": 0.5, "storage": "dense"}, "nothing", "some"),
    Idea("prune", {"pattern": "heads", "sparsity": 0.25, "storage": "masked"}, "nothing", "some"),
    Idea("matmul_kernel", {"speedup": 1.5}, "another GEMM", "none"),
    Idea("attention_kernel", {"name": "FlashAttention-3"}, "sm90", "none"),
    Idea("prefix_cache", {}, "prompts with common prefixes", "none"),
    Idea("pipeline_parallel", {"size": 2}, "two devices", "none"),
    Idea("offload", {"weights": "4 GB"}, "host memory", "none"),
)
"""What people usually propose, also what gains nothing: the answer says why."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One lever, or a stack of them, tried."""

    ideas: tuple[Idea, ...]
    levers: tuple[Lever, ...]
    before: Step
    after: Step
    gain: Interval
    """Speedup in the goal's metric; the time per token where the goal is memory."""
    ceiling: float
    """Best speedup of the time per token that the first lever could bring alone."""
    freed_bytes: float
    """Memory of one device that becomes free; negative where more is needed."""
    verdict: Verdict

    @property
    def label(self) -> str:
        """The levers in words."""
        return " + ".join(lever.label for lever in self.levers)

    @property
    def bytes_per_token(self) -> float:
        """Bytes one device moves for a token of one sequence."""
        return self.after.ledger.memory_bytes / self.after.estimate.tokens_per_step

    @property
    def fits(self) -> bool:
        """Whether it runs in the memory there is."""
        return self.after.estimate.fits

    def worth(self, goal: Goal) -> float:
        """What it is ranked by."""
        if goal == "memory":
            return self.freed_bytes
        return self.gain.mid

    def helps(self, goal: Goal) -> bool:
        """Whether it brings something that a measurement would show."""
        if goal == "memory":
            needed = self.before.estimate.capacity.needed_bytes
            return self.freed_bytes > _WORTH_BYTES * needed
        return self.gain.mid >= _WORTH

    def reason(self, goal: Goal) -> str:
        """Why it does not help, in a phrase."""
        if goal == "memory":
            return "frees no memory"
        return _reason(self)


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that was tried on one deployment, the best first."""

    goal: Goal
    before: Step
    helping: tuple[Advice, ...]
    useless: tuple[Advice, ...]
    stacks: tuple[Advice, ...] = ()


def advise(
    deployment: Deployment,
    *,
    goal: Goal = "latency",
    stack: int = 1,
    must_fit: bool = False,
    max_devices: int | None = None,
) -> Ranking:
    """Try every idea on a deployment, and stacks of up to `stack` of those that help.

    Ideas that need more devices than `max_devices` (the deployment's own where it is None) are
    left out; with `must_fit`, so is what does not run in the memory there is.
    """
    before = step_of(deployment)
    most = deployment.devices if max_devices is None else max_devices
    tried = [
        advice
        for advice in (
            _tried((idea,), before, goal) for idea in IDEAS if not _is_there(idea, deployment)
        )
        if advice.after.deployment.devices <= most
    ]
    ranked = sorted(tried, key=lambda advice: -advice.worth(goal))
    helping = [advice for advice in ranked if advice.helps(goal) and (advice.fits or not must_fit)]
    useless = [advice for advice in ranked if not advice.helps(goal)]
    stacks = sorted(
        (
            advice
            for advice in _stacks(helping, before, goal, min(stack, MOST_STACKED))
            if (advice.fits or not must_fit) and advice.after.deployment.devices <= most
        ),
        key=lambda advice: -advice.worth(goal),
    )
    return Ranking(goal, before, tuple(helping), tuple(useless), tuple(stacks[:5]))


def first_choice(deployment: Deployment) -> tuple[Advice, ...]:
    """The few ideas that a finding names, those that help here, the best first."""
    before = step_of(deployment)
    tried = (
        _tried((idea,), before, "latency")
        for idea in IDEAS
        if idea.told and not _is_there(idea, deployment)
    )
    return tuple(
        sorted(
            (advice for advice in tried if advice.gain.mid >= _WORTH_NAMING),
            key=lambda advice: -advice.gain.mid,
        )
    )


def _lever(idea: Idea) -> Lever:
    return lever_class(idea.kind).model_validate({"kind": idea.kind, **idea.fields})


def _is_there(idea: Idea, deployment: Deployment) -> bool:
    """Whether the deployment already has it, or something narrower."""
    lever = _lever(idea)
    after = lever.apply(deployment)
    if idea.kind == "quantize":
        one, other = step_of(deployment).ledger, step_of(after).ledger
        return other.memory_bytes >= one.memory_bytes
    if idea.kind in {"batch", "tensor_parallel", "data_parallel", "pipeline_parallel"}:
        key = "batch" if idea.kind == "batch" else "size"
        return int(idea.fields[key]) <= _degree(idea.kind, deployment)
    if idea.kind == "cuda_graphs":
        return deployment.captures_steps
    return idea.kind == "speculate" and deployment.speculation is not None


def _degree(kind: str, deployment: Deployment) -> int:
    splits = deployment.parallelism
    return {
        "batch": deployment.batch,
        "tensor_parallel": splits.tensor,
        "data_parallel": splits.data,
        "pipeline_parallel": splits.pipeline,
    }[kind]


def _tried(ideas: tuple[Idea, ...], before: Step, goal: Goal) -> Advice:
    levers = tuple(_lever(idea) for idea in ideas)
    deployment = before.deployment
    for lever in levers:
        deployment = lever.apply(deployment)
    after = step_of(deployment)
    gain = compare(before.estimate, after.estimate)
    if goal == "throughput":
        gain = gain.scaled(after.deployment.batch / before.deployment.batch)
    freed = before.estimate.capacity.needed_bytes - after.estimate.capacity.needed_bytes
    first = levers[0]
    condition = first.condition(before.deployment)
    return Advice(
        ideas, levers, before, after, gain, lever_ceiling(first, before, after), freed,
        verdict_of(first, before, after, condition),
    )  # fmt: skip


def _stacks(helping: list[Advice], before: Step, goal: Goal, most: int) -> Iterator[Advice]:
    """Combinations of helping levers that do not exclude each other."""
    singles = [advice.ideas[0] for advice in helping]
    for size in range(2, most + 1):
        for chosen in combinations(singles, size):
            if len({idea.slot for idea in chosen}) == size:
                yield _tried(chosen, before, goal)


_REASONS: Final = {
    Verdict.FLOP_ONLY: "same bytes per token",
    Verdict.THROUGHPUT_ONLY: "more users, none faster",
    Verdict.PREFILL_ONLY: "acts on the prompt",
    Verdict.CAPACITY_ONLY: "memory only",
}


def _reason(advice: Advice) -> str:
    shares = advice.before.estimate.shares
    slower = 1.0 / advice.gain.mid
    if advice.levers[0].nature is Nature.LINK:
        return f"{slower:.1f}x the time: these bytes cross the host link for every token"
    if advice.verdict in _REASONS:
        return _REASONS[advice.verdict]
    if slower > _WORTH:
        return f"{slower:.2f}x the time per token"
    if "kv_cache" in advice.ideas[0].fields:
        return f"the KV cache is {shares.kv:.0%} of the step"
    if advice.verdict is Verdict.OVERHEAD:
        return f"fixed time is {shares.fixed:.0%} of the step"
    return f"gains {max(advice.gain.mid - 1.0, 0.0):.1%}"
