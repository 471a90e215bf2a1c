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

from advisor.alternatives import byte_ratio_of, gain_of
from advisor.audit import Audit, LeverAudit
from advisor.evidence import (
    lever_facts,
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
        yield RULE.on_lever(
            audit,
            lever,
            f"how are the zeros stored, and which kernel skips them?{_forks(lever, idea)}",
            why="the verdict hangs on the storage",
            instead="state storage, and kernel for a packed format",
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
            error_class=ErrorClass.SPARSITY_24 if idea.pattern == "2:4" else None,
            confidence=None if idea.pattern in _SPARSE else Confidence.MEDIUM,
        )


def _forks(lever: LeverAudit, idea: Prune) -> str:
    """What each storage would come to; nothing where nobody says how much is pruned."""
    if idea.fraction is None:
        return ""
    told = ["dense 1.00x"]
    for storage in _PACKED.get(idea.pattern, ("removed",)):
        other = idea.model_copy(update={"storage": storage})
        share = 1.0 / byte_ratio_of(lever.before, other)
        gain = factor(gain_of(lever.before, other).mid)
        told.append(f"{storage} {percent(share)} of the bytes, {gain}")
    return f" At {percent(idea.fraction)}: {'; '.join(told)}"
