"""## What it does
Asks how pruned weights are stored where a proposal does not say.

## Why is this bad
The verdict hangs on it. Zeros in dense tensors change nothing; a bitmap stores a bit per weight and
the values that are left; CSR stores a column index with each value and is larger than dense at 50%
sparsity in 16 bits. And a packed format is only as fast as the kernel that streams it.

## Instead
State `storage` (dense, masked, removed, bitmap, csr, 2:4-packed ...), and the `kernel` of a packed
one.

## When this rule is wrong
Where the kernel settles the storage, naming it is enough, and the rule is silent. For heads and
channels most people mean that they are taken out of the tensors, so there it asks in strict mode
only. Layers and experts are taken out or they are not pruned.

## References
- PyTorch torchao: sparsity overview: https://docs.pytorch.org/ao/stable/sparsity.html
- Fan et al.: SpInfer, low-level sparsity for LLM inference on GPUs:
  https://doi.org/10.1145/3689031.3717481
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advisor.alternatives import byte_ratio_of, gain_of
from advisor.audit import Audit, LeverAudit
from advisor.evidence import (
    lever_numbers,
    promises_any_speed,
    promises_bytes,
)
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers.prune import Prune
from advisor.rule import Rule
from advisor.wording import factor, percent

RULE = Rule(
    code="PRE001",
    name="storage-format-missing",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.PRUNING_DENSE_STORAGE,
    about=("prune",),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
engine: vllm
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: prune»
    pattern: unstructured
    sparsity: 50%
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: prune
    sparsity: 50%
    storage: bitmap
    kernel: SpInfer
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: prune
    sparsity: 50%
    kernel: MACKO
""",
    ),
)

_SPARSE = frozenset({"unstructured", "2:4", "block"})
_PACKED = {"2:4": ("2:4-packed",), "unstructured": ("bitmap", "csr"), "block": ("bitmap",)}


def check(audit: Audit) -> Iterator[Finding]:
    """Pruning whose saving nobody can know."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, Prune) or not idea.storage_is_open or idea.kernel is not None:
            continue
        if not (promises_any_speed(lever) or promises_bytes(lever)):
            continue
        forks = _forks(lever, idea)
        yield RULE.on_lever(
            audit,
            lever,
            f"how are the zeros stored, and which kernel skips them?{_told(idea, forks)}",
            why="the verdict hangs on the storage",
            instead="state storage, and kernel for a packed format",
            facts=_claimed(lever, forks),
            numbers={**lever_numbers(lever), **_numbers(forks)},
            error_class=ErrorClass.SPARSITY_24 if idea.pattern == "2:4" else None,
            confidence=None if idea.pattern in _SPARSE else Confidence.MEDIUM,
        )


class _Fork(NamedTuple):
    """What one way to store the zeros would come to."""

    storage: str
    bytes_share: float
    """Of the bytes that a step moves now."""
    speedup: float


def _forks(lever: LeverAudit, idea: Prune) -> list[_Fork]:
    """None where nobody says how much is pruned."""
    if idea.fraction is None:
        return []
    forks = [_Fork("dense", 1.0, 1.0)]
    for storage in _PACKED.get(idea.pattern, ("removed",)):
        other = idea.model_copy(update={"storage": storage})
        share = 1.0 / byte_ratio_of(lever.before, other)
        forks.append(_Fork(storage, share, gain_of(lever.before, other).mid))
    return forks


def _told(idea: Prune, forks: list[_Fork]) -> str:
    if idea.fraction is None or not forks:
        return ""
    parts = [
        f"{fork.storage} {percent(fork.bytes_share)} of the bytes, {factor(fork.speedup)}"
        for fork in forks
    ]
    return f" At {percent(idea.fraction)}: {'; '.join(parts)}"


def _claimed(lever: LeverAudit, forks: list[_Fork]) -> tuple[tuple[str, str], ...]:
    claimed = lever.claim.speedup if lever.claim is not None else None
    if claimed is None or not forks:
        return ()
    least, most = (bound(fork.speedup for fork in forks) for bound in (min, max))
    return (("claimed", f"{factor(claimed)}; possible {least:.2f}-{factor(most)} by storage"),)


def _numbers(forks: list[_Fork]) -> dict[str, float]:
    return {f"speedup_{fork.storage.replace(':', '_')}": fork.speedup for fork in forks}
