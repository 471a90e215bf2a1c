"""## What it does
Flags an option that switches off captured graphs, the KV cache, or fused attention over a narrow
cache, where faster decode is expected.

## Why is this bad
Eager mode issues every kernel of every layer from the host: an 8B on an H100 went from 5.1 to 8.4
ms. Without a cache each token computes the whole prefix again. A narrow cache that is expanded
before attention reads and writes more than the wide one.

## Instead
Leave the fast path on, or use the back end that fuses the conversion.

## When this rule is wrong
For debugging, or where graphs take memory that is needed: claim that. A step so long that launches
hide behind it loses little, and the rule is silent below 5%.

## References
- vLLM: Optimization and tuning: https://docs.vllm.ai/en/latest/configuration/optimization.html
- SGLang: quantized KV cache: https://docs.sglang.ai/advanced_features/quantized_kv_cache.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers
from advisor.finding import Confidence, Finding, Severity
from advisor.levers.quantize import Quantize
from advisor.rule import Rule
from advisor.wording import factor, milliseconds, size

RULE = Rule(
    code="ENG003",
    name="lever-disables-fast-path",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=None,
    about=(
        "cuda_graphs",
        "no_kv_cache",
        "quantize",
    ),
    flagged=(
        """\
rooflint: 1
model: Llama-3.2-1B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: vllm
levers:
  - {«kind: cuda_graphs», enabled: false}
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: no_kv_cache», claim: less memory and the same speed}
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.2-1B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
engine: transformers
levers:
  - {kind: cuda_graphs}
""",
    ),
)

_FELT: Final = 1.05


def check(audit: Audit) -> Iterator[Finding]:
    """Options that cost a fast path."""
    for lever in audit.levers:
        idea, before, after = lever.lever, lever.before.estimate, lever.after.estimate
        unfused = isinstance(idea, Quantize) and not idea.in_kernel
        off = idea.machine_kind in {"cuda_graph.off", "kv_cache.off"}
        slower = after.tpot_ms.mid / before.tpot_ms.mid
        if not (off or unfused) or lever.before.deployment.phase != "decode":
            continue
        if slower < _FELT and not unfused:
            continue
        told = f"{milliseconds(before.tpot_ms.mid)} -> {milliseconds(after.tpot_ms.mid)} ms a token"
        read = size(before.bytes.kv_read)
        yield RULE.on_lever(
            audit,
            lever,
            f"a cache of {read} is expanded before attention reads it"
            if unfused
            else f"{idea.label}: {told}, {factor(1.0 / slower)}",
            why="what the fast path saves is paid for every token",
            instead="leave it on, or use a back end that fuses it",
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
            confidence=Confidence.MEDIUM if lever.configured or unfused else None,
        )
