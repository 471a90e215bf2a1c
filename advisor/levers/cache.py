"""How the KV cache is kept and read: pages, fixed length, shared prefixes, sparse reads."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from advisor.deployment import Deployment
from advisor.levers.base import Lever, Nature, Open, Ratio, Tokens


class PagedCache(Lever):
    """The cache in pages (PagedAttention): less memory wasted, more sequences fit."""

    nature: ClassVar[Nature] = Nature.CAPACITY

    kind: Literal["paged_cache"] = "paged_cache"

    @property
    def machine_kind(self) -> str:
        """kv.paged."""
        return "kv.paged"

    @property
    def label(self) -> str:
        """Its name."""
        return "paged KV cache"

    def apply(self, deployment: Deployment) -> Deployment:
        """As many bytes are read; only their places change."""
        return deployment


class StaticCache(Lever):
    """A cache of fixed length, made for captured graphs."""

    nature: ClassVar[Nature] = Nature.OVERHEAD

    kind: Literal["static_cache"] = "static_cache"
    length: Tokens | None = None
    """Tokens it is made for; every step reads them all where the kernel does not stop early."""
    read_whole: bool = False

    @property
    def machine_kind(self) -> str:
        """kv.static."""
        return "kv.static"

    @property
    def label(self) -> str:
        """Its length."""
        return f"static cache of {self.length:,} tokens" if self.length else "static cache"

    def apply(self, deployment: Deployment) -> Deployment:
        """Graphs can be captured; read whole, the cache counts with its full length."""
        changed = deployment.evolve(kernels=deployment.kernels._replace(graphs=True))
        if not self.read_whole or self.length is None:
            return changed
        return changed.evolve(kv_read=max(1.0, self.length / deployment.context))


class SparseAttention(Lever):
    """Each step reads the cached tokens that matter, and keeps them all (Quest, DSA, NSA)."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["sparse_attention"] = "sparse_attention"
    tokens: Annotated[Tokens | None, Open]
    """Cached tokens that a step reads of each sequence."""
    index: Ratio = 0.0
    """Bytes read to choose them, as a part of the whole cache."""

    @property
    def machine_kind(self) -> str:
        """kv.sparse_read."""
        return "kv.sparse_read"

    @property
    def label(self) -> str:
        """What it reads."""
        if self.tokens is None:
            return "sparse attention"
        return f"sparse attention over {self.tokens:,} tokens"

    def apply(self, deployment: Deployment) -> Deployment:
        """Part of the cache is read, and the index that chooses it."""
        if self.tokens is None or deployment.phase != "decode":
            return deployment
        part = min(1.0, self.tokens / deployment.context + self.index)
        return deployment.evolve(kv_read=deployment.kv_read * part)

    def condition(self, deployment: Deployment) -> str | None:
        """A number that nobody stated, or a context that is not longer."""
        if self.tokens is None:
            return "how many cached tokens a step reads"
        if deployment.context <= self.tokens:
            return f"a context longer than {self.tokens:,} tokens"
        return None


class SharedPrefix(Lever):
    """A prefix that all sequences share, read once a step for all of them (cascade attention)."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["shared_prefix"] = "shared_prefix"
    tokens: Annotated[Tokens | None, Open]

    @property
    def machine_kind(self) -> str:
        """kv.shared_prefix."""
        return "kv.shared_prefix"

    @property
    def label(self) -> str:
        """Its length."""
        return f"attention over a shared prefix of {self.tokens or 'some'} tokens"

    def apply(self, deployment: Deployment) -> Deployment:
        """The prefix counts once, what follows once for each sequence."""
        return deployment.evolve(shared_prefix=self.tokens or 0)

    def condition(self, deployment: Deployment) -> str | None:
        """One sequence shares nothing."""
        if self.tokens is None:
            return "how long the shared prefix is"
        if deployment.batch == 1:
            return "several sequences with one prefix: at batch 1 there is nothing to share"
        return None
