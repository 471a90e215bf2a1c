"""## What it does
Flags more sequences in a step, more replicas, pipeline stages or spread experts with a claim that
one user's tokens come faster.

## Why is this bad
A batch reads the weights once for all its sequences, which multiplies the tokens of all users
together. Each user still waits for the whole step, and the step grows by the caches of the others.
Pipeline stages run one after another for each token; replicas do not meet in one request at all.

## Instead
Claim throughput. For one user's latency: tensor parallelism, fewer bytes, speculation.

## When this rule is wrong
Under load, more slots cut the time a request waits in the queue: say so ("less queueing delay").
Fewer sequences per step do make each faster, and are not flagged.

## References
- Yu et al.: Orca, a distributed serving system for transformer-based generative models:
  https://www.usenix.org/conference/osdi22/presentation/yu
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.alternatives import advice
from advisor.audit import Audit, LeverAudit
from advisor.evidence import claim_facts, lever_numbers
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.judge import GRACE
from advisor.levers import Nature
from advisor.prose.model import Kind, Phase, Statement
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of, is_unlinked
from advisor.wording import factor, milliseconds

RULE = Rule(
    code="BAT002",
    name="amortise-lever-for-latency",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.BATCHING_FOR_LATENCY,
    about=("batch", "pipeline_parallel", "data_parallel", "expert_parallel", PROSE),
    flagged=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - «kind: batch»
    batch: 32
    claim: 40% lower latency per token
""",
        """\
rooflint: 1
model: Llama-3.1-70B
hardware: {device: H100 SXM, count: 1}
workload: {phase: decode, batch: 1, context: 2048}
weights: fp8
levers:
  - «kind: pipeline_parallel»
    size: 4
    claim: 4x lower TPOT
""",
        """\
A larger batch amortises the weight reads, «so every single stream speeds up.»
""",
    ),
    passing=(
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2048}
levers:
  - kind: batch
    batch: 32
    claim: 20x throughput
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 8, context: 2048}
levers:
  - kind: batch
    batch: 32
    claim: 40% lower latency under load, because requests queue less
""",
        """\
Batching raises total throughput 14x while each user waits a little longer per token.
""",
        """\
Reducing the batch from 32 to 8 makes each stream faster.
""",
    ),
)


def check(audit: Audit) -> Iterator[Finding]:
    """Levers on throughput with claims on one user's latency."""
    for lever in audit.levers:
        if lever.lever.acts_on is not Nature.AMORTISE or not _claims_latency(lever):
            continue
        before, after = lever.before.estimate, lever.after.estimate
        yield RULE.on_lever(
            audit,
            lever,
            f"{lever.lever.label}: each user's token takes {milliseconds(before.tpot_ms.mid)} ms"
            f" before and {milliseconds(after.tpot_ms.mid)} ms after; {_throughput(lever)}",
            why="each user still waits for the whole step",
            instead=advice(audit, "claim throughput"),
            facts=claim_facts(lever.claim, lever.tpot.interval),
            numbers={
                **lever_numbers(lever),
                "throughput_ratio": lever.throughput.interval.mid,
            },
        )
    yield from RULE.in_prose(
        audit,
        _judge,
        why="each user still waits for the whole step",
        instead="claim throughput; for one user: fewer bytes, tensor parallelism, speculation",
    )


def _claims_latency(lever: LeverAudit) -> bool:
    """Whether one stream is claimed to get faster than it does."""
    judged = lever.claim
    if judged is None or judged.metric != "tpot" or judged.speedup is None:
        return False
    return judged.speedup > GRACE * max(1.0, lever.tpot.interval.mid)


def _throughput(lever: LeverAudit) -> str:
    gain = lever.throughput.interval.mid
    if gain > GRACE:
        return f"what grows is the tokens of all users, {factor(gain)}"
    return "the tokens of all users grow with more sequences in flight"


_ALL_RATE = re.compile(
    r"(\d[\d,]*) tok(?:en)?s?/s (?:in total|total|aggregate|overall|across|altogether|for all)"
    r"|(?:total|aggregate|together|throughput|altogether|all users)\D{0,40}?(\d[\d,]*) "
    r"tok(?:en)?s?/s",
    re.IGNORECASE,
)
_ONE_STREAM = re.compile(
    r"\b(?:single|one|lone) (?:stream|user|sequence|request)|\bbatch (?:size )?1\b", re.IGNORECASE
)
_STEP = re.compile(r"\b(?:step|pass|iteration)\b[^.;]{0,40}?(\d+(?:\.\d+)?) ?ms\b", re.IGNORECASE)
"""A step's time, which is each user's time per token."""
_COUNT = re.compile(
    r"\b(\d{1,4}) (?:\w+ )?(?:users|streams|sessions|requests|clients|sequences)|batch (?:size "
    r")?(?:of )?(\d{1,4})",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\bbatch(?: size)?(?: of| from)? (\d+) to (?:a )?(?:batch )?(?:size )?(?:of )?(\d+)",
    re.IGNORECASE,
)
_FEWER = (
    r"smaller batch|(?:reduc|lower|shrink|decreas|limit|cap|small)\w*(?: the| a)? (?:batch"
    r"|concurrency|max_num_seqs)"
    r"|fewer (?:users|requests|sequences)|at batch (?:size )?1\b|lower concurrency"
)
_USERS = r"batch|streams|sessions|users\b|concurren|sequences|requests|num_seqs|clients"
_TOTAL = r"aggregate|total|throughput|overall|all users|server|system"
_OF_ONE = r"user|stream|session|itl|tpot|request|client|each|single"


def _judge(said: Said) -> Wrong | None:
    """More sequences in a step, and one user who is to see tokens faster."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.phase in NO_DECODE or is_unlinked(statement):
        return None
    for held in (_in_row(statement), _in_words(said, sure)):
        if held is not None:
            return held
    if not said.says(_FEWER) and _is_shared_rate(statement):
        return _each_waits(sure)
    if said.says(_FEWER) or said.has(r"\bqueu|\bwait|\bbacklog|\bburst|\bp9\d|\btail"):
        return None
    if "SPEC" in statement.sentence:
        return None
    if statement.kind is Kind.GAIN and not statement.is_aggregate:
        one = not statement.clause.isdisjoint({"SINGLE", "TIME"}) or "SINGLE" in statement.sentence
        change = _CHANGE.search(statement.context_text)
        raised = change is not None and int(change[1]) < int(change[2])
        if change is not None and not raised:
            return None
        if statement.cause == "BATCH" and statement.is_single and one:
            return _each_waits(sure)
        if statement.phase is Phase.DECODE and "TIME" in statement.clause:
            if raised:
                return _each_waits(sure)
            if statement.cause == "BATCH":
                return _each_waits(Confidence.MEDIUM)
    return None


def _each_waits(sure: Confidence) -> Wrong:
    return Wrong(
        "a step of B sequences makes B tokens, one for each: each user waits for the whole step, so"
        " his rate is the total over B, and 1.00x at best",
        sure,
    )


def _is_shared_rate(statement: Statement) -> bool:
    """Whether the rate of all is given as that of one, or the step is divided by its users."""
    if statement.kind not in {Kind.FIGURE, Kind.GAIN} or statement.tpot_ms is None:
        return False
    many = (
        (statement.frame.batch or 0) > 1
        or not statement.nearby.isdisjoint({"BATCH", "AGGREGATE", "THROUGHPUT"})
        or _COUNT.search(statement.context_text) is not None
    )
    if not many or "SINGLE" not in statement.clause:
        return False
    before = [tpot for _, _, tpot in statement.earlier if tpot]
    step = _STEP.search(statement.context_text)
    if step is not None:
        return statement.tpot_ms < 0.8 * float(step[1])
    told_before = statement.context_text.rpartition(statement.text)[0]
    same = not _ONE_STREAM.search(told_before) and any(
        abs(tpot - statement.tpot_ms) < 0.06 * tpot for tpot in before
    )
    divided = bool(
        before
        and statement.tpot_ms < 0.8 * min(before)
        and "BATCH" in statement.nearby
        and re.search(r"\b(?:each|every)", statement.text, re.IGNORECASE)
    )
    return same or divided


def _in_words(said: Said, sure: Confidence) -> Wrong | None:
    """Users, their rate and the rate of all in one passage, which do not multiply."""
    statement = said.statement
    if statement.tpot_ms is None or "SINGLE" not in statement.clause or statement.is_aggregate:
        return None
    total, users = _ALL_RATE.search(statement.context_text), _COUNT.search(statement.context_text)
    if total is None or users is None or statement.table is not None:
        return None
    rate = float((total[1] or total[2]).replace(",", ""))
    count = float(users[1] or users[2])
    each = 1e3 / statement.tpot_ms
    return _told(count, each, rate, sure) if count > 1 and each * count > 1.15 * rate else None


def _told(count: float, each: float, rate: float, sure: Confidence) -> Wrong:
    return Wrong(
        f"{count:,.0f} users at {each:,.0f} tokens/s are {each * count:,.0f} tokens/s, more than "
        f"the"
        f" {rate:,.0f} of all; each has {rate / count:,.1f} ({1e3 * count / rate:,.1f} ms per "
        f"token)",
        sure,
        numbers={"users": count, "total_tokens_per_second": rate, "each_tokens_per_second": each},
    )


def _in_row(statement: Statement) -> Wrong | None:
    """A row whose users have more tokens together than the server makes."""
    if statement.table is None or statement.tpot_ms is None:
        return None
    columns, cells, own = statement.table
    users, total = _column(columns, _USERS), _column(columns, _TOTAL)
    if users is None or total is None or own in {users, total} or total >= len(cells):
        return None
    if not re.search(_OF_ONE, columns[own], re.IGNORECASE):
        return None
    count, rate = _number(cells[users]), _number(cells[total])
    if not count or not rate or count <= 1:
        return None
    each = 1e3 / statement.tpot_ms
    if each * count <= 1.15 * rate:
        return None
    return _told(count, each, rate, Confidence.HIGH)


def _column(columns: tuple[str, ...], pattern: str) -> int | None:
    return next(
        (i for i, name in enumerate(columns) if re.search(pattern, name, re.IGNORECASE)), None
    )


def _number(cell: str) -> float | None:
    match = re.match(r"[~≈]?\s*(\d[\d,]*(?:\.\d+)?)", cell.strip())
    return float(match[1].replace(",", "")) if match else None
