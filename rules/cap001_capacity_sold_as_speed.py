"""## What it does
Flags more memory (a larger card, freed gigabytes) that is to make tokens of one stream come
faster where the model already fits.

## Why is this bad
A token reads the same bytes from a card of 24 GB and of 48 GB; time follows bandwidth. Capacity
pays where a model would spill over a link, or where it is turned into a larger batch or a longer
context.

## Instead
Compare GB/s. Sell capacity as users, context or a model that did not fit, with the arithmetic.

## When this rule is wrong
If the model did not fit before (weights on the host, PCIe in the token path), say so: then
capacity does set speed. If the larger card also has more bandwidth, name it.

## References
- Kwon et al.: PagedAttention: https://arxiv.org/abs/2309.06180
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.levers import Nature
from advisor.prose.model import Kind, Phase
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.wording import size

RULE = Rule(
    code="CAP001",
    name="capacity-sold-as-speed",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.CAPACITY_BANDWIDTH,
    about=("paged_cache", "loading", "training_only", "prune", PROSE),
    flagged=(
        """\
The 7B fits in both. «The card with more VRAM gives more tokens per second.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 4k}
levers:
  - {«kind: paged_cache», claim: 2x faster generation at batch 1}
""",
    ),
    passing=(
        """\
The 70B does not fit 24 GB and spills to system RAM; more VRAM makes it many times faster.
""",
        """\
More VRAM does not make a model that already fits any faster.
""",
        """\
48 GB allow more sessions, not faster ones.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 4k}
levers:
  - {kind: paged_cache, claim: twice the sequences in the same memory}
""",
    ),
)

_HELPS = (
    r"(?:does|do|did|would|will|could|can)(?: ?n['o’]t| not) fit|no longer fit|spill|swap|offload"
    r"|pcie"
    r"|system ram|\bdisk|larger batch|more (?:users|sequences|requests)|concurren"
)
"""What makes capacity a matter of speed after all."""
_SAME_BANDWIDTH = (
    r"(?:same|equal|identical|unchanged) (?:memory )?bandwidth"
    r"|bandwidth (?:is|stays) (?:the same|equal|unchanged)|same \d[\d.,]* ?[tg]b/s"
)
_MORE = (
    r"more (?:gigabytes|vram|memory|gb|ram)|\d ?gb[^.]{0,80}more room|(?:unused|spare|idle"
    r"|free) (?:vram|memory)|(?:vram|memory) (?:is|stays) (?:unused|idle|empty)"
    r"|\d+ ?gb (?:instead of|rather than|against) \d+ ?gb|\d+ ?gb (?:configuration|variant)"
    r"|\d+ ?gb (?:card|part|version|gpu|model)|vram"
    r"|doubl\w+ the memory|(?:larger|bigger) (?:memory|hbm|vram)|memory to \d+|(?:frees|saves"
    r"|releases|free "
    r"up) \d+ ?gb"
)
_OTHER_LEVERS = frozenset({"QUANT", "PRUNE", "DISTILL", "KVQ", "GQA", "SPEC"})


def check(audit: Audit) -> Iterator[Finding]:
    """More memory with a promise for one stream."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="fitting is not streaming less",
        instead="compare GB/s first; turn capacity into users or context, with the arithmetic",
    )


def _levers(audit: Audit) -> Iterator[Finding]:
    """Levers on memory with claims on the time per token."""
    for lever in audit.levers:
        before, after = lever.before.estimate, lever.after.estimate
        saving = lever.lever.acts_on is Nature.CAPACITY or lever.lever.machine_kind == (
            "prune.experts"
        )
        if lever.lever.kind not in RULE.about or not saving or not promises_speed(lever):
            continue
        if lever.moves_fewer_bytes or lever.claim is None or lever.claim.metric != "tpot":
            continue
        held = before.capacity.needed_bytes - after.capacity.needed_bytes
        yield RULE.on_lever(
            audit,
            lever,
            f"{lever.lever.label} saves {size(max(held, 0.0))} of memory at this batch; a token"
            f" still reads {size(after.bytes.memory)}: 1.00x",
            why="fitting is not streaming less",
            instead=advice(audit, "turn the room into sequences or context, with the arithmetic"),
            facts=lever_facts(lever),
            numbers=lever_numbers(lever),
        )


def _is_paged(said: Said) -> bool:
    """Whether a paged cache is to speed up one stream, which shares its memory with nobody."""
    return "SINGLE" in said.statement.clause and said.says(r"paged ?attention|paged (?:kv )?cache")


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.phase in NO_DECODE or statement.is_aggregate:
        return None
    if "CAPACITY" not in statement.sentence or statement.kind not in {Kind.GAIN, Kind.ADVICE}:
        return None
    if said.has(_HELPS) or not _OTHER_LEVERS.isdisjoint(statement.sentence):
        return None
    if said.has(r"bandwidth|[tg]b/s") and not said.has(_SAME_BANDWIDTH):
        return None
    if statement.kind is Kind.ADVICE:
        about_speed = not statement.sentence.isdisjoint({"FASTER", "SLOWER", "RATE"})
        decode = statement.phase is Phase.DECODE and "CAPACITY" in statement.clause
        if not about_speed or not decode or said.has(r"fit|users|context"):
            return None
    elif (
        statement.kind is not Kind.GAIN
        or "CAPACITY" not in statement.sentence
        or statement.cause not in {"CAPACITY", "TP", "BATCH", "HARDWARE"}
        or not (said.says(_MORE) or _is_paged(said))
        or said.says(
            r"(?:memory|hbm|bandwidth|clock|ram|kernel|gpu|cores?) (?:is|are|runs?|gets?) (?:\w+ "
            r"){0,2}faster"
        )
    ):
        return None
    about_tokens = not statement.nearby.isdisjoint({"TOKENS", "LLM", "RATE"})
    if statement.phase is Phase.UNKNOWN and not about_tokens and not said.has(r"\bfits?\b"):
        sure = Confidence.MEDIUM
    return Wrong(
        "memory that is not read moves nothing: at equal GB/s a token takes the same time from 24"
        " GB as from 48 GB (1.00x)",
        sure,
    )
