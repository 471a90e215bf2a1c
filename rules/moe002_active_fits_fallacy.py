"""## What it does
Flags a mixture of experts that is said to need memory for its active parameters only.

## Why is this bad
Routing changes with every token, so every expert must be at hand. Active parameters say what is read
for a token at batch 1, total parameters what must be held.

## Instead
Size memory by total parameters; quantize, shard, or offload experts with the link's arithmetic.

## When this rule is wrong
Where experts live on the host or on disk and are fetched: say so beside the claim.

## References
- Jiang et al.: Mixtral of Experts: https://arxiv.org/abs/2401.04088
- Fedus et al.: Switch Transformers: https://arxiv.org/abs/2101.03961
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.prose.model import Kind
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, confidence_of

RULE = Rule(
    code="MOE002",
    name="active-fits-fallacy",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=(PROSE,),
    flagged=(
        """\
«The 120B-A5B fits in 16 GB» because only 5B parameters are active.
""",
    ),
    passing=(
        """\
The 30B-A3B reads about 3B parameters per token, and 17 GB at 4 bits must fit in memory.
""",
        """\
With experts offloaded to system RAM the 120B-A5B fits in 16 GB of VRAM.
""",
    ),
)

_GIGABYTES = re.compile(r"(\d+(?:\.\d+)?) ?GB\b(?!/s)")
_LEAST_BYTES = 0.4
"""Per parameter: somewhat below 4 bits with scales."""


def check(audit: Audit) -> Iterator[Finding]:
    """Memory for active parameters."""
    yield from RULE.in_prose(
        audit,
        _judge,
        why="routing changes with every token, so every expert must be at hand",
        instead="size memory by total parameters",
    )


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    total, active = statement.frame.parameters, statement.frame.active_parameters
    if sure is None or statement.kind is not Kind.FITS or total is None:
        return None
    if active is None and not said.has(r"\bactive\b"):
        return None
    if said.has(r"offload|cpu|system ram|disk|host|expert cache"):
        return None
    sizes = _GIGABYTES.findall(statement.sentence_text)
    held = max((float(size) * 1e9 for size in sizes), default=0.0)
    if not sizes or held >= _LEAST_BYTES * total:
        return None
    return Wrong(
        f"all {total / 1e9:.0f}B parameters must be held: {0.5 * total / 1e9:.0f} GB at 4 bits,"
        f" {2 * total / 1e9:.0f} GB in 16 bits, not {held / 1e9:.3g} GB",
        sure,
        numbers={"total_parameters": total, "stated_bytes": held},
    )
