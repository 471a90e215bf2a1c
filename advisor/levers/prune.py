"""Fewer weights, heads, layers, experts or cached tokens: removed, packed, or only zeroed."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import BeforeValidator

from advisor.deployment import Deployment, parse_sparsity
from advisor.ledger.step import count_step
from advisor.levers import reshape
from advisor.levers.base import Count, Lever, Nature, Open, Ratio, StorageName

Pattern = Literal[
    "unstructured", "2:4", "block", "channels", "heads", "layers", "experts", "vocabulary",
    "kv_tokens",
]  # fmt: skip

_NAMES: Final = {
    "semi-structured": "2:4", "semi_structured": "2:4", "semistructured": "2:4", "n:m": "2:4",
    "magnitude": "unstructured", "width": "channels", "neurons": "channels",
    "attention_heads": "heads", "depth": "layers", "tokens": "kv_tokens", "kv": "kv_tokens",
    "vocab": "vocabulary", "lm_head": "vocabulary",
}  # fmt: skip


def _pattern(value: object) -> object:
    if isinstance(value, str):
        key = value.strip().lower().replace(" ", "_")
        return _NAMES.get(key, key)
    return value


_ZEROS_STORED_DENSE: Final = frozenset({"dense", "masked"})
_SPARSE_PATTERNS: Final = frozenset({"unstructured", "2:4", "block"})
_REMOVED: Final = frozenset({"removed", "deleted"})
_TAKEN_OUT: Final = frozenset({"layers", "experts", "vocabulary", "kv_tokens"})
"""Patterns that mean removal unless somebody says that the zeros stay."""


_NEGLIGIBLE: Final = 0.01


class Prune(Lever):
    """Part of the model set to zero or taken out."""

    nature: ClassVar[Nature] = Nature.BYTES

    kind: Literal["prune"] = "prune"
    pattern: Annotated[Pattern, BeforeValidator(_pattern)] = "unstructured"
    sparsity: Annotated[Ratio | None, Open] = None
    """Part that is zeroed or taken out; 2:4 is half by its name."""
    storage: StorageName | None = None
    kernel: str | None = None
    kv_heads: Count | None = None
    width: Count | None = None
    """Of channels: the width of the MLP that is left, where it is known exactly."""
    kept: Count | None = None
    """How many layers, experts, heads of a layer or cached tokens are left, where counted."""
    dropped: Count | None = None
    """How many layers, experts of a layer or heads of the whole model go, where counted."""

    @property
    def storage_is_open(self) -> bool:
        """Whether nobody said if the zeros stay in dense tensors."""
        return self.storage is None and self.pattern not in _TAKEN_OUT

    @property
    def fraction(self) -> float | None:
        """Part of the weights, heads, layers ... that goes; None where nobody said."""
        return 0.5 if self.pattern == "2:4" else self.sparsity

    def gone(self, deployment: Deployment) -> float | None:
        """Part that goes: as stated, or as counted against the model; None where nobody said."""
        if self.fraction is not None:
            return self.fraction
        total = self._total(deployment)
        kept = self.width if self.pattern == "channels" and self.width else self.kept
        if kept is not None and total:
            return max(0.0, 1.0 - kept / total)
        if self.dropped is not None and total:
            whole = total * deployment.model.layer_count if self.pattern == "heads" else total
            return min(1.0, self.dropped / whole)
        return None

    def _total(self, deployment: Deployment) -> int | None:
        model = deployment.model
        match self.pattern:
            case "layers":
                return model.layer_count
            case "heads":
                return model.attention.heads if model.attention is not None else None
            case "experts":
                routed = [layer.routing.experts for layer in model.layers if layer.routing]
                return max(routed, default=None)
            case "kv_tokens":
                return deployment.context
            case "channels":
                return model.intermediate or None
            case _:
                return None

    @property
    def keeps_dense_bytes(self) -> bool:
        """Whether the pruned part is still stored, and so still read."""
        return self.storage in _ZEROS_STORED_DENSE

    @property
    def machine_kind(self) -> str:
        """prune.<pattern>, heads by whether they are gone or masked."""
        if self.pattern == "heads" and self.storage not in _REMOVED and self.storage is not None:
            return "prune.heads.mask"
        return f"prune.{self.pattern}"

    @property
    def label(self) -> str:
        """What is pruned, how much, how stored."""
        part = "" if self.pattern == "unstructured" else f" of {self.pattern}"
        share = "part" if self.sparsity is None else f"{self.sparsity:.0%}"
        if self.sparsity is None and self.dropped is not None:
            share = f"{self.dropped}"
        elif self.sparsity is None and self.kept is not None:
            share = f"all but {self.kept}"
        amount = "prune 2:4" if self.pattern == "2:4" else f"prune {share}{part}"
        stored = {None: "", "dense": ", stored dense", "masked": ", masked"}
        return amount + stored.get(self.storage, f", {self.storage}")

    def apply(self, deployment: Deployment) -> Deployment:
        """Take out what is really taken out; zeros in dense tensors change nothing."""
        model, gone = deployment.model, self.gone(deployment)
        if gone is None:
            return deployment
        if self.pattern == "kv_tokens":
            return deployment.evolve(kv_kept=deployment.kv_kept * (1.0 - gone))
        if self.pattern == "layers" and not self.keeps_dense_bytes:
            return deployment.evolve(model=reshape.drop_layers(model, gone))
        if self.pattern == "experts" and not self.keeps_dense_bytes:
            return deployment.evolve(model=reshape.drop_experts(model, gone))
        if self.pattern == "vocabulary" and not self.keeps_dense_bytes:
            return deployment.evolve(model=reshape.cut_vocabulary(model, 1.0 - gone))
        if self.pattern in _SPARSE_PATTERNS:
            return self._sparse(deployment, gone)
        if self.storage not in _REMOVED:
            return deployment
        if self.pattern == "channels":
            kept = self.width / model.intermediate if self.width else 1.0 - gone
            return deployment.evolve(model=reshape.narrow_mlp(model, kept))
        return deployment.evolve(model=reshape.drop_heads(model, 1.0 - gone, self.kv_heads))

    def _sparse(self, deployment: Deployment, fraction: float) -> Deployment:
        if self.storage is None or self.storage == "dense" or self.storage in _REMOVED:
            return deployment
        return deployment.evolve(sparsity=parse_sparsity(fraction, self.storage, self.kernel))

    def condition(self, deployment: Deployment) -> str | None:
        """What a stored-sparse or shape-changing saving hangs on."""
        gone = self.gone(deployment)
        if gone is None and not self.keeps_dense_bytes:
            return "how much is pruned"
        if gone is not None and gone < _NEGLIGIBLE and self.dropped is not None:
            return f"more than {self.dropped} to go: a share this small changes nothing"
        if gone == 0 and self.kept is not None:
            return f"more than the {self.kept:,} that are kept: here nothing goes"
        if self.storage_is_open:
            return "how the pruned part is stored, and a kernel that skips it"
        if self.pattern in {"2:4", "block"} and not self.keeps_dense_bytes and not self.kernel:
            return "a kernel that streams the packed form at decode"
        if self.pattern == "unstructured" and not self.keeps_dense_bytes and not self.kernel:
            return "a kernel that streams the packed form at decode"
        if self.pattern == "experts" and deployment.batch == 1 and not self.keeps_dense_bytes:
            return "a batch that touches most experts: at batch 1 as many are read as before"
        return None

    def nominal_flops(self, deployment: Deployment) -> float:
        """The part of the FLOPs that the pruned weights or heads stand for."""
        ledger = count_step(deployment)
        if not ledger.flops:
            return 0.0
        if self.pattern == "heads":
            names = {"attention projections", "attention over KV"}
        elif self.pattern == "channels":
            names = {"MLP", "experts", "shared experts"}
        elif self.pattern == "vocabulary":
            names = {"lm_head"}
        elif self.pattern == "kv_tokens":
            names = {"attention over KV"}
        else:
            names = {"attention projections", "MLP", "experts", "shared experts"}
        touched = sum(op.flops for op in ledger.operators if op.name in names)
        if self.pattern == "layers":
            touched = ledger.flops - sum(
                op.flops for op in ledger.operators if op.name == "lm_head"
            )
        return (self.gone(deployment) or 0.0) * touched / ledger.flops
