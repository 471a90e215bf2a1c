"""How answers are made: experts per token, several samples, blocks of tokens, fewer of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from advisor.deployment import Deployment, Speculation
from advisor.levers import reshape
from advisor.levers.base import Count, Factor, Lever, Metric, Nature, Open, Ratio

_DEFAULT_BLOCK: Final = 8


class ExpertsPerToken(Lever):
    """Fewer routed experts for each token of a mixture of experts."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["experts_per_token"] = "experts_per_token"
    top_k: Annotated[Count | None, Open]

    @property
    def machine_kind(self) -> str:
        """moe.top_k."""
        return "moe.top_k"

    @property
    def label(self) -> str:
        """How many."""
        return f"{self.top_k or 'fewer'} experts per token"

    def apply(self, deployment: Deployment) -> Deployment:
        """Other routing; at larger batches the union of experts shrinks less than that."""
        if self.top_k is None:
            return deployment
        return deployment.evolve(model=reshape.route_to(deployment.model, self.top_k))

    def condition(self, deployment: Deployment) -> str | None:
        """A mixture of experts that routes to more of them."""
        routed = max((layer.routing.top_k for layer in deployment.model.layers if layer.routing),
                     default=0)  # fmt: skip
        if not routed:
            return "a mixture of experts: this model has none"
        if self.top_k is None:
            return "how many experts a token is sent to"
        return f"fewer than the {routed} that are routed to now" if self.top_k >= routed else None


class ParallelSampling(Lever):
    """Several answers to one prompt at a time: best-of-n, beams, self-consistency."""

    nature: ClassVar[Nature] = Nature.AMORTISE
    metric: ClassVar[Metric] = "throughput"

    kind: Literal["parallel_sampling"] = "parallel_sampling"
    samples: Annotated[Count | None, Open]

    @property
    def label(self) -> str:
        """How many."""
        return f"{self.samples or 'several'} samples of one prompt"

    def apply(self, deployment: Deployment) -> Deployment:
        """As many sequences more; no answer is done sooner."""
        return deployment.evolve(batch=deployment.batch * (self.samples or 1))

    def condition(self, deployment: Deployment) -> str | None:
        """A number that nobody stated."""
        del deployment
        return "how many samples" if self.samples is None else None


class BlockDecoding(Lever):
    """Several tokens from one pass without a draft: diffusion, Jacobi, non-autoregressive."""

    nature: ClassVar[Nature] = Nature.TOKENS

    kind: Literal["block_decoding"] = "block_decoding"
    name: str | None = None
    block: Count | None = None
    """Tokens that one pass works on."""
    tokens_per_pass: Factor | None = None
    """Tokens that are done after a pass, on average."""

    @property
    def label(self) -> str:
        """Name and block."""
        size = f", blocks of {self.block}" if self.block else ""
        return f"{self.name or 'block decoding'}{size}"

    def apply(self, deployment: Deployment) -> Deployment:
        """A pass over a block, of which some tokens are done; proposing them costs nothing."""
        block = self.block or _DEFAULT_BLOCK
        done = self.tokens_per_pass or 1.0
        return deployment.evolve(speculation=Speculation("ngram", max(block - 1, 1), done))

    def condition(self, deployment: Deployment) -> str | None:
        """The tokens of a pass; whether caches are kept is the model's own matter."""
        del deployment
        if self.tokens_per_pass is None:
            return "the tokens that are done after a pass, on your traffic"
        return None


class TokenPruning(Lever):
    """Tokens of the prompt dropped or merged: mixture of depths, prompt compression."""

    nature: ClassVar[Nature] = Nature.PREFILL
    metric: ClassVar[Metric] = "ttft"

    kind: Literal["token_pruning"] = "token_pruning"
    kept: Ratio | None = None

    @property
    def label(self) -> str:
        """How much is left."""
        return "prompt tokens dropped" + (f", {self.kept:.0%} kept" if self.kept else "")

    def apply(self, deployment: Deployment) -> Deployment:
        """A decode step has one token: there is none to drop."""
        return deployment


class ShorterOutput(Lever):
    """Fewer tokens to an answer: another prompt, no chain of thought, structured output."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["shorter_output"] = "shorter_output"
    kept: Ratio | None = None
    """Tokens of an answer after over before."""

    @property
    def label(self) -> str:
        """How much is left."""
        return "fewer tokens per answer" + (f", {self.kept:.0%} of them" if self.kept else "")

    def apply(self, deployment: Deployment) -> Deployment:
        """Each token takes as long as before."""
        return deployment

    def condition(self, deployment: Deployment) -> str | None:
        """What it changes is counted in tokens per answer."""
        del deployment
        return "tokens per answer: a token takes as long as before, an answer has fewer"
