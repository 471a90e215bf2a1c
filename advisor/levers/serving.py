"""Batching and the scheduling of prompts: what changes the work, not the bytes of a pass."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from advisor.deployment import Deployment
from advisor.levers.base import Count, Lever, Metric, Nature, Open


class Batch(Lever):
    """More sequences in a step."""

    nature: ClassVar[Nature] = Nature.AMORTISE
    metric: ClassVar[Metric] = "throughput"

    kind: Literal["batch"] = "batch"
    batch: Annotated[Count | None, Open]

    @property
    def machine_kind(self) -> str:
        """Batching."""
        return "batching"

    @property
    def label(self) -> str:
        """The batch."""
        return "larger batch" if self.batch is None else f"batch {self.batch}"

    def apply(self, deployment: Deployment) -> Deployment:
        """The same weights for more sequences."""
        return deployment if self.batch is None else deployment.evolve(batch=self.batch)

    def condition(self, deployment: Deployment) -> str | None:
        """A batch that nobody stated."""
        del deployment
        return "the batch" if self.batch is None else None


class _PromptLever(Lever):
    """A lever on the prompt: a decode step is what it was."""

    nature: ClassVar[Nature] = Nature.PREFILL
    metric: ClassVar[Metric] = "ttft"

    def apply(self, deployment: Deployment) -> Deployment:
        """Nothing about a decode step changes."""
        return deployment


class PrefixCache(_PromptLever):
    """Keys and values of prompt prefixes seen before are reused."""

    kind: Literal["prefix_cache"] = "prefix_cache"

    @property
    def label(self) -> str:
        """Its name."""
        return "prefix cache"


class ChunkedPrefill(_PromptLever):
    """Prompts are processed in chunks between decode steps."""

    kind: Literal["chunked_prefill"] = "chunked_prefill"

    @property
    def label(self) -> str:
        """Its name."""
        return "chunked prefill"


class Disaggregate(_PromptLever):
    """Prefill and decode run on separate workers."""

    kind: Literal["disaggregate"] = "disaggregate"

    @property
    def label(self) -> str:
        """Its name."""
        return "disaggregated prefill"

    def condition(self, deployment: Deployment) -> str | None:
        """Separation pays where prefill disturbs decode, and costs the transfer of the cache."""
        del deployment
        return "how much prefill of other requests disturbs decode, and the link for the KV cache"


class ContinuousBatching(Lever):
    """Requests join and leave the batch at every step (in-flight batching)."""

    nature: ClassVar[Nature] = Nature.AMORTISE
    metric: ClassVar[Metric] = "throughput"

    kind: Literal["continuous_batching"] = "continuous_batching"

    @property
    def machine_kind(self) -> str:
        """Batching."""
        return "batching"

    @property
    def label(self) -> str:
        """Its name."""
        return "continuous batching"

    def apply(self, deployment: Deployment) -> Deployment:
        """A step at the batch that is stated; fuller steps are a matter of the traffic."""
        return deployment

    def condition(self, deployment: Deployment) -> str | None:
        """How full the batch is without it."""
        del deployment
        return "how full the batch is now, on your traffic"
