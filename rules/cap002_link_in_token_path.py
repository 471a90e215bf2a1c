"""## What it does
Flags weights kept on the host or on NVMe that every token reads over the link, proposed for speed.

## Why is this bad
A PCIe 5 link moves 63 GB/s, the memory of an H100 3,350. Ten gigabytes over a PCIe 4 link are 400
ms for every token, against 3 ms from device memory.

## Instead
Quantize until it fits, use tensor parallelism, or compute the offloaded part on the host.

## When this rule is wrong
If it is what makes the model run at all, claim that it fits. With a very large batch the transfer
is shared by many tokens; on a coherent link (NVLink-C2C) it may pay: the rule is silent where the
model does not see a loss.

## References
- Sheng et al.: FlexGen: https://arxiv.org/abs/2303.06865
- Hugging Face Accelerate, big model inference:
  https://huggingface.co/docs/accelerate/concept_guides/big_model_inference
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE, JudgedClaim
from advisor.levers.placement import OffloadLever
from advisor.prose.model import Kind
from advisor.prose.split import is_staged
from advisor.prose.tiers import CARD_SPEED, ELSEWHERE, UNHURT
from advisor.rule import PROSE, Rule
from advisor.said import LARGE_BATCH, NO_DECODE, Said, Wrong, confidence_of, many_rows
from advisor.wording import milliseconds, size

RULE = Rule(
    code="CAP002",
    name="link-in-token-path",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=("offload", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: RTX 4090
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {«kind: offload», weights: 10 GB, to: host, claim: 1.2x lower latency}
""",
        """\
Ten layers stay in system RAM and are fetched over PCIe for each token. «The time per token is not
affected.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: offload, weights: 80 GB, to: host, claim: runs on one card}
""",
        """\
Sessions that are idle move their cache to system RAM; the time per token of the others is not
affected.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Weights that cross the link for every token."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="a host link has a fiftieth of the bandwidth of device memory",
        instead="count what crosses the link, or is read from the host's memory, for every token",
    )


def _levers(audit: Audit) -> Iterator[Finding]:
    """Offloaded weights with a promise of speed."""
    for lever in audit.levers:
        idea = lever.lever
        if not isinstance(idea, OffloadLever) or not idea.weights or not promises_speed(lever):
            continue
        judged = lever.claim
        if judged is not None and judged.tpot_ms is not None:
            continue
        before, after = lever.before.estimate, lever.after.estimate
        if after.tpot_ms.mid <= GRACE * before.tpot_ms.mid:
            continue
        if not before.fits and not _claims_gain(judged):
            continue  # without it nothing runs
        moved_bytes = lever.after.ledger.host_bytes
        yield RULE.on_lever(
            audit,
            lever,
            f"{size(moved_bytes)} cross the link for every step: {milliseconds(after.tpot_ms.mid)}"
            f" ms a token instead of {milliseconds(before.tpot_ms.mid)}",
            why="a host link has a fiftieth of the bandwidth of device memory",
            instead=advice(audit, "quantize until it fits"),
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "host_bytes": moved_bytes},
            severity=Severity.ERROR if _claims_gain(judged) else Severity.WARNING,
        )


def _claims_gain(judged: JudgedClaim | None) -> bool:
    return judged is not None and judged.speedup is not None


_SELDOM = Form(
    r"\b(?:idle|inactive|paused|waiting|between turns|swapped out|evicted|cold|prefix|once\b"
    r"|at start|start-?up|load(?:ing)? time|download|grace|gh200|gb200|c2c|coherent|apple"
    r"|unified memory|checkpoint(?:ing|s)?|optimi[sz]er|batch of \d{3}|throughput|input embeddings?"
    r"|(?:old|finished|closed|former|past|ended|sleeping|archived|returning) (?:sessions?|chats?"
    r"|conversations?|users?|caches?|requests?)|embedding table|unused|never (?:read|used)"
    r"|spare|backup|copy of)\b"
)
"""What crosses the link seldom, a link that is no bottleneck, or a batch that shares it."""
_PER_TOKEN = Form(
    r"\b(?:each|every|per|a)[- ](?:\w+ )?(?:tokens?|step)\b|decod|generat|\bchats?\b|single (?:user"
    r"|stream)|one user|\blayers? (?:of|in|on)|\bexperts?\b"
)


_MOVED = Form(r"\b(?:offload\w*|host|system ram|cpu|pinned|nvme|ssd)\b")
"""What lies elsewhere than on another card."""


def _judge(said: Said) -> Wrong | None:
    """What lies on the host, is needed for every token, and is said to cost no time."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.kind is not Kind.UNHURT or statement.phase in NO_DECODE:
        return None
    if statement.is_aggregate or many_rows(said) >= LARGE_BATCH:
        return None
    if (statement.frame.batch or 1) >= LARGE_BATCH:
        return None
    about = statement.context_text
    if _SELDOM.search(about) or not (_PER_TOKEN.search(about) and ELSEWHERE.search(about)):
        return None
    if is_staged(about) and _MOVED.search(about) is None:
        return None
    if not (UNHURT.search(statement.text) or CARD_SPEED.search(statement.text)):
        return None
    return Wrong(
        "what lies on the host is read at the 20 to 64 GB/s of the link, or at the 50 to 100 GB/s"
        " of its memory, not at the 1,000 and more of the device: 15 to 50 ms a gigabyte",
        sure,
        ErrorClass.OTHER,
    )
