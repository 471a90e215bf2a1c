"""Other shapes and paths: low rank, early exit, activation sparsity, attention, a student."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from advisor.deployment import Deployment, find_model
from advisor.ledger.step import count_step
from advisor.levers import reshape
from advisor.levers.base import Count, Lever, Nature, Open, Ratio, Tokens
from advisor.quantity import Dimension, parse_quantity

# DeepSeek-V2 and V3 compress keys and values to 512 dimensions and keep 64 rotary ones apart.
_MLA_LATENT, _MLA_ROPE = 512, 64


class ActivationSparsity(Lever):
    """Weights that meet zero activations are not read (TEAL, Deja Vu, ReLU sparsity)."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["activation_sparsity"] = "activation_sparsity"
    sparsity: Annotated[Ratio | None, Open]
    kernel: str | None = None

    @property
    def label(self) -> str:
        """How much is skipped."""
        amount = "" if self.sparsity is None else f"{self.sparsity:.0%} "
        return f"{amount}activation sparsity"

    def apply(self, deployment: Deployment) -> Deployment:
        """Skip the rows that no token of the pass activates."""
        return deployment.evolve(activation_sparsity=self.sparsity or 0.0)

    def condition(self, deployment: Deployment) -> str | None:
        """An amount that nobody stated."""
        del deployment
        return "how many activations are zero" if self.sparsity is None else None

    def nominal_flops(self, deployment: Deployment) -> float:
        """The skipped part of the linear layers."""
        del deployment
        return self.sparsity or 0.0


class LowRank(Lever):
    """Linear layers replaced by products of two thin matrices, or truncated and multiplied back."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["low_rank"] = "low_rank"
    rank: Annotated[Count | None, Open]
    storage: Literal["factored", "multiplied"] = "factored"

    @property
    def label(self) -> str:
        """Rank and storage."""
        back = ", multiplied back" if self.storage == "multiplied" else ""
        return f"low rank{back}" if self.rank is None else f"rank {self.rank}{back}"

    def apply(self, deployment: Deployment) -> Deployment:
        """Two thin matrices for each linear; multiplied back, the matrix it was."""
        if self.storage == "multiplied" or self.rank is None:
            return deployment
        return deployment.evolve(model=reshape.factor(deployment.model, self.rank))

    def condition(self, deployment: Deployment) -> str | None:
        """A rank that nobody stated: below the break-even it saves, above it costs."""
        del deployment
        open_rank = self.rank is None and self.storage == "factored"
        return "the rank, against the break-even of each matrix" if open_rank else None

    def nominal_flops(self, deployment: Deployment) -> float:
        """FLOPs that the factors save against the full matrices."""
        if self.rank is None:
            return 0.0
        before = count_step(deployment).flops
        factored = deployment.evolve(model=reshape.factor(deployment.model, self.rank))
        return max(0.0, 1.0 - count_step(factored).flops / before) if before else 0.0


def _depth(value: object) -> float:
    quantity = parse_quantity(value, Dimension.FACTOR if _is_count(value) else Dimension.RATIO)
    return quantity.value


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and value > 1


_DEPTH: Final = {"type": ["number", "string"], "examples": ["60%", 20]}


class EarlyExit(Lever):
    """Tokens leave the model before its last layer."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["early_exit"] = "early_exit"
    mean_depth: Annotated[
        Annotated[float, BeforeValidator(_depth), WithJsonSchema(_DEPTH)] | None, Open
    ]
    """Layers run on average: a part of them (60%) or a number above 1."""

    @property
    def label(self) -> str:
        """Mean depth."""
        if self.mean_depth is None:
            return "early exit"
        if self.mean_depth > 1:
            return f"early exit after {self.mean_depth:g} layers"
        return f"early exit after {self.mean_depth:.0%} of the layers"

    def _part(self, deployment: Deployment) -> float:
        if self.mean_depth is None:
            return 1.0
        if self.mean_depth <= 1:
            return self.mean_depth
        return min(1.0, self.mean_depth / max(deployment.model.layer_count, 1))

    def apply(self, deployment: Deployment) -> Deployment:
        """Run part of the layers; with more tokens in a pass the deepest of them decides.

        The mean of the deepest of T tokens with exits spread evenly tends to the last layer.
        """
        part = self._part(deployment)
        tokens = deployment.batch * deployment.query_tokens
        deepest = 1.0 - (1.0 - part) * 2.0 / (tokens + 1.0) if tokens > 1 else part
        return deployment.evolve(depth=min(1.0, max(part, deepest)))

    def condition(self, deployment: Deployment) -> str | None:
        """Early exit needs keys and values of the layers it skipped."""
        del deployment
        return "how skipped layers get the keys and values that later tokens attend to"

    def nominal_flops(self, deployment: Deployment) -> float:
        """The skipped layers."""
        return 1.0 - self._part(deployment)


class Distill(Lever):
    """Another, smaller model in the place of this one."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["distill"] = "distill"
    model: Annotated[str | None, Open]

    @property
    def label(self) -> str:
        """The student."""
        return f"distil to {self.model or 'a student'}"

    def apply(self, deployment: Deployment) -> Deployment:
        """The student in the same formats on the same hardware."""
        if self.model is None:
            return deployment
        return deployment.evolve(model=find_model(self.model))

    def condition(self, deployment: Deployment) -> str | None:
        """A student that nobody named."""
        del deployment
        return "which student: its bytes decide" if self.model is None else None


class MergeLayers(Lever):
    """Layers of other models stacked in (passthrough merges): a deeper model."""

    nature: ClassVar[Nature] = Nature.COST

    kind: Literal["merge_layers"] = "merge_layers"
    layers_added: Annotated[Count | None, Open]

    @property
    def machine_kind(self) -> str:
        """merge.layers_added."""
        return "merge.layers_added"

    @property
    def label(self) -> str:
        """How many."""
        return f"{self.layers_added or 'more'} layers merged in"

    def apply(self, deployment: Deployment) -> Deployment:
        """More layers of the same kinds."""
        if self.layers_added is None:
            return deployment
        deeper = reshape.with_depth(
            deployment.model, deployment.model.layer_count + self.layers_added
        )
        return deployment.evolve(model=deeper)


class NoKvCache(Lever):
    """No cache of keys and values: every token computes the whole prefix again."""

    nature: ClassVar[Nature] = Nature.COST

    kind: Literal["no_kv_cache"] = "no_kv_cache"

    @property
    def machine_kind(self) -> str:
        """kv_cache.off."""
        return "kv_cache.off"

    @property
    def label(self) -> str:
        """Its name."""
        return "no KV cache"

    def apply(self, deployment: Deployment) -> Deployment:
        """A pass over all tokens so far for each new one: the work of a prefill."""
        return deployment.evolve(phase="prefill")


class AttentionVariant(Lever):
    """Attention that caches or computes less: fewer KV heads, one latent, a window, a state ..."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["attention"] = "attention"
    variant: Literal[
        "gqa", "mqa", "mla", "window", "linear", "cross_layer", "low_rank", "approximate"
    ]
    kv_heads: Count | None = None
    window: Tokens | None = None
    layers: Count | None = None
    """Of cross_layer: layers that share one cache."""
    kept: Ratio | None = None
    """Of low_rank: part of the cache that is left; of approximate: of the arithmetic."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.variant == "gqa" and self.kv_heads is None:
            raise ValueError("gqa needs kv_heads")
        if self.variant == "window" and self.window is None:
            raise ValueError("a window needs its size: window: 4096")
        if self.variant == "cross_layer" and self.layers is None:
            raise ValueError("cross_layer needs the layers that share a cache: layers: 2")
        if self.variant == "low_rank" and self.kept is None:
            raise ValueError("low_rank needs the part of the cache that is kept: kept: 50%")
        return self

    @property
    def machine_kind(self) -> str:
        """kv.<variant>."""
        return f"kv.{self.variant}"

    @property
    def label(self) -> str:
        """The variant and its size."""
        if self.variant == "gqa":
            return f"GQA with {self.kv_heads} KV heads"
        if self.variant == "window":
            return f"window of {self.window:,} tokens"
        if self.variant == "cross_layer":
            return f"KV cache shared by {self.layers} layers"
        if self.variant == "low_rank":
            return f"low-rank KV cache, {self.kept:.0%} kept"
        return {
            "mqa": "MQA",
            "mla": "MLA",
            "linear": "linear attention",
            "approximate": "approximate attention scores",
        }[self.variant]

    @property
    def acts_on(self) -> Nature:
        """Fewer bytes; a cache shared by layers is read by each of them, approximate scores too."""
        other = {"cross_layer": Nature.CAPACITY, "approximate": Nature.FLOPS}
        return other.get(self.variant, self.nature)

    def apply(self, deployment: Deployment) -> Deployment:
        """Other caches and projections; the rest of the model as it was."""
        model = deployment.model
        if self.variant == "window" and self.window is not None:
            return deployment.evolve(model=reshape.with_window(model, self.window))
        if model.attention is None:
            return deployment
        if self.variant == "mla":
            return deployment.evolve(model=reshape.with_latent(model, _MLA_LATENT, _MLA_ROPE))
        if self.variant == "linear":
            # A constant state of about head_dim entries per head stands for the whole context.
            return deployment.evolve(model=reshape.with_window(model, model.attention.head_dim))
        if self.variant == "approximate" or model.attention.is_latent:
            return deployment
        if self.variant == "cross_layer":
            return deployment.evolve(model=reshape.share_caches(model, self.layers or 1))
        if self.variant == "low_rank":
            return deployment.evolve(model=reshape.narrow_caches(model, self.kept or 1.0))
        heads = 1 if self.variant == "mqa" else self.kv_heads or 1
        heads = min(heads, model.attention.heads)
        return deployment.evolve(model=reshape.with_heads(model, model.attention.heads, heads))

    def condition(self, deployment: Deployment) -> str | None:
        """Attention is trained in; whether the model already has it is a fact."""
        attention = deployment.model.attention
        if attention is None:
            return "a model with attention: this one has none"
        fewer = self.kv_heads is not None and self.kv_heads < attention.kv_heads
        if self.variant == "gqa" and (attention.is_latent or not fewer):
            return f"fewer than the {attention.kv_heads} KV heads the model already has"
        if self.variant == "low_rank":
            return "a kernel that absorbs the projection back: else the cache is expanded first"
        return None

    def nominal_flops(self, deployment: Deployment) -> float:
        """Part of the arithmetic of attention that approximate scores leave out."""
        if self.variant != "approximate":
            return 0.0
        ledger = count_step(deployment)
        over_cache = sum(op.flops for op in ledger.operators if op.resource == "kv")
        return (1.0 - (self.kept or 0.0)) * over_cache / ledger.flops if ledger.flops else 0.0
