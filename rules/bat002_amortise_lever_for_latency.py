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
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.levers import Nature
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.totals import beats_alone, factor_of_totals, reply_at_total, users_of
from advisor.prose.users import COUNTED, OF_ONE, RAISED, has_grown
from advisor.quantity.numerals import count_of
from advisor.rule import PROSE, Rule
from advisor.said import Said, Wrong, confidence_of, is_summed, is_unlinked
from advisor.told.shared_rates import taken_for_own
from advisor.told.users_of_row import users_of_row
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
    if judged is None or judged.metric != "tpot":
        return False
    return judged.figures[0] > GRACE * max(1.0, lever.tpot.interval.mid)


def _throughput(lever: LeverAudit) -> str:
    gain = lever.throughput.interval.mid
    if gain > GRACE:
        return f"what grows is the tokens of all users, {factor(gain)}"
    return "the tokens of all users grow with more sequences in flight"


_ALL_RATE = Form(
    r"(\d[\d,]*) tok(?:en)?s?/s (?:(?:through|with|on|from|out of|of) (?:\w+ ){1,3}?)?"
    r"(?:in total|total|aggregate|overall|across|altogether|for all|in"
    r" all"
    r"|together|combined)"
    r"|(?:total|aggregate|together|throughput|altogether|all users|combined|server|card|gpu|box"
    r"|endpoint)(?:(?!each|every|\. )\D){0,40}?(\d[\d,]*) tok(?:en)?s?/s"
)
_ONE_STREAM = Form(r"\b(?:single|one|lone) (?:stream|user|sequence|request)|\bbatch (?:size )?1\b")
_STEP = Form(r"\b(?:step|pass|iteration)\b[^.;:]{0,40}?(\d+(?:\.\d+)?) ?ms\b")
"""A step's time, which is each user's time per token."""
_FEWER = (
    r"smaller batch|(?:reduc|lower|shrink|decreas|limit|cap|small|halv|cut|drop)\w*(?: the| a|"
    r" our)?"
    r" (?:\w+ )?(?:batch|concurrency|max[-_]num[-_]seqs)"
    r"|fewer (?:\w+ )?(?:users|requests|sequences|streams|chats|slots)|(?<!that )(?<!than )at"
    r" batch (?:size )?1\b"
    r"|lower concurrency|\b(?:lower|smaller) (?:values?|settings?|numbers?|limits?)\b"
    r"|(?<!server )(?<!one )(?<!box )without batching|no batching|replicas?\b"
)
_APART = Form(
    r"\b(?:not|no longer|stop(?:s|ped)?|without|instead of|than) shar(?:e|es|ed|ing)\b"
    r"|\bdedicated\b"
    r"|^(?!.*\bthan (?:if|when|with|in case)\b).*\bto (?:your|him|her|my|it|them)sel(?:f|ves)\b"
)
_EACH_SLOWER = Form(r"\bslower\b[^.;:]{0,32}? (?:each|every|any|a single|one) ")
"""Faster for all, and slower for one: "22x more for the card and 30% slower for each user"."""
_QUEUE = (
    r"\bqueu\w*|waiting (?:time|line|room|list)|\bwait(?:s|ing|ed)? (?:in|to start|until|before"
    r"|longer|for (?:a|the|its|their|his) (?:slot|turn|start))|backlog|burst|\brush\b|p9\d"
    r"|\btails?\b"
    r"|admission|ttft|first token|nightly|whole set|makespan|jobs?\b"
)
_OTHERS = frozenset(
    {"GRAPHS", "QUANT", "SPEC", "TP", "KVQ", "DISTILL", "LAYERS", "S24", "PREFIX", "OFFLOAD", "GQA",
     "ATTN", "PRUNE", "MOE", "MATMUL", "PEAK", "FLOPS"}
)  # fmt: skip
"""Levers that do make a stream faster, whatever the batch."""
_AS_BEFORE = r"\bstill\b|as before|\bas well as before|the same as alone|no (?:slower|worse)"
_BOTH = r"\bboth\b|as well as|\balike\b|at the same time"
_PRICE = (
    r"\b(?:(?:gpu|device|machine|card|compute)[- ](?:time|hours?|seconds?)|costs?(?! of (?:a|the"
    r"|each|one) (?:step|pass|read))|price|energy"
    r"|accept|half the (?:pace|speed|rate)|joules?|watt|dollars?|euros?)\b"
)


def _judge(said: Said) -> Wrong | None:
    """More sequences in a step, and one user who is to see tokens faster."""
    statement = said.statement
    sure = confidence_of(statement)
    if sure is None or statement.phase in {Phase.TRAINING, Phase.OTHER} or is_unlinked(statement):
        return None
    if statement.phase is Phase.PREFILL and "DECODE" not in statement.clause:
        return None
    if (row := users_of_row(statement)) is not None:
        return _told(*row, Confidence.HIGH)
    for held in (
        _in_words(said, sure), _at_rate_of_all(said, sure), _above_one_alone(said, sure),
        taken_for_own(said, sure),
    ):  # fmt: skip
        if held is not None:
            return held
    if said.says(_FEWER):
        return None
    cured = _CURES.search(statement.text) is not None and not _DENIED.search(statement.text)
    if cured and not said.has(_QUEUE):
        return _each_waits(said, sure)
    if _is_shared_rate(said):
        return _each_waits(said, sure)
    stepped = statement.tpot_ms is not None and _STEP.search(statement.context_text) is not None
    if statement.kind is not Kind.GAIN or stepped or said.has(_QUEUE):
        return None
    if statement.is_aggregate and not re.search(_BOTH, statement.text, re.IGNORECASE):
        return None
    if is_summed(statement) or said.says(r"\bbandwidth|\d ?[gt]b/s"):
        return None  # what makes the stream faster is told
    others = _OTHERS - {"FLOPS"} if statement.cause == "BATCH" else _OTHERS  # "merges work"
    if (
        statement.cause in others
        or not others.isdisjoint(statement.sentence)
        or re.search(_PRICE, statement.text, re.IGNORECASE)
    ):
        return None
    grown = has_grown(statement.context_text)
    if grown is False:
        return None
    raised = bool(grown) or RAISED.search(statement.context_text) is not None
    if re.search(_AS_BEFORE, statement.text, re.IGNORECASE) or not raised:
        return None
    before = [tpot for _, _, tpot in statement.earlier if tpot]
    figure = statement.tpot_ms if statement.speedup is None else None
    if before and figure is not None and figure > max(before):
        return None  # slower than every rate told before: "98 alone, then about 45"
    if _APART.search(statement.context_text) or _EACH_SLOWER.search(statement.text):
        return None
    if _is_of_one(statement) or (statement.is_single and _REPLY.search(statement.text)):
        return _each_waits(said, sure)
    if statement.phase is Phase.DECODE and "TIME" in statement.clause:
        return _each_waits(said, sure if grown else Confidence.MEDIUM)
    return None


def _at_rate_of_all(said: Said, sure: Confidence) -> Wrong | None:
    """A user who is to see the rate of all: by a factor, or by the time of one reply."""
    statement = said.statement
    if statement.table is not None or not _OTHERS.isdisjoint(statement.sentence):
        return None
    reply = reply_at_total(statement.text, statement.context_text)
    if reply is not None:
        total, tokens = reply
        users = users_of(statement.context_text)
        each = f"{tokens * users / total:,.3g} s" if users else "as many times longer"
        return Wrong(
            f"{total:,.0f} tokens/s are those of all: a reply of {tokens:,.0f} tokens takes {each}"
            + (f" at {total / users:,.3g} tokens/s for each of {users}" if users else ""),
            sure,
            numbers={"total_tokens_per_second": total},
        )
    if statement.kind is not Kind.GAIN or statement.speedup is None or statement.is_aggregate:
        return None
    if "SLOWER" in statement.clause:
        return None  # "24 times the text while every customer gets it somewhat slower"
    if not (_is_of_one(statement) or statement.is_single or _REPLY.search(statement.text)):
        return None
    if is_summed(statement) or re.search(_PRICE, statement.text, re.IGNORECASE):
        return None
    raised = RAISED.search(statement.context_text) is not None
    held = factor_of_totals(
        statement.context_text, statement.speedup, raised=raised, own=statement.text
    )
    if held is None:
        return None
    return Wrong(
        f"{held[1]:,.0f} against {held[0]:,.0f} tokens/s are the tokens of all who share a step:"
        f" each"
        " of them waits for the whole step, and sees no more than one alone",
        sure,
        numbers={"total_tokens_per_second": held[1], "before_tokens_per_second": held[0]},
    )


def _above_one_alone(said: Said, sure: Confidence) -> Wrong | None:
    """Each of many who is to have more tokens per second than one who is alone."""
    statement = said.statement
    if statement.kind is not Kind.FIGURE or statement.tpot_ms is None or statement.is_aggregate:
        return None
    if not _OTHERS.isdisjoint(statement.nearby) or statement.table is not None:
        return None
    rate = 1e3 / statement.tpot_ms
    alone = beats_alone(statement.context_text, statement.sentence_text, rate)
    if alone is None or is_summed(statement):
        return None
    return Wrong(
        f"a step of many takes no less time than a step of one: where one alone has {alone:,.3g}"
        f" tokens/s, each of many has at most that, and not {rate:,.4g}",
        sure,
        numbers={"alone_tokens_per_second": alone, "each_tokens_per_second": rate},
    )


_REPLY = Form(
    r"\b(?:the|my|your|an?|one['’]s) (?:\w+ )?(?:chat|repl(?:y|ies)|answers?|response|stream"
    r"|conversation"
    r"|completion|text|chat window|typing)\b"
)
_CURES = Form(
    r"\bbatching\b[^.;]{0,32}?\b(?:fix(?:es)?|cures?|solves?|remed(?:y|ies)|solution|answer to"
    r"|medicine"
    r"|takes? care of|gets? rid of|does away with)\b[^.;]{0,48}?\b(?:ms\b|itl|tpot|inter-?token"
    r"|between"
    r" tokens|per token|slow tokens|token latency)[^.;]*?\b(?:lone|only|single|one|sole) (?:\w+"
    r" )?(?:user"
    r"|tester|customer|client|reader|person|chat|stream|request)\b"
)
"""Batching as the cure for the time per token of a single user."""
_LABEL = re.compile(r"\W*(?:[\w-]+ ){0,3}[\w-]+:")
"""A label before a figure: "User experience: 0.2 ms per token"."""
_DENIED = Form(r"\b(?:not|never|cannot|no|neither|hardly|nothing)\b|n['’]t\b")


def _is_of_one(statement: Statement) -> bool:
    """Whether the clause is about the tokens of one user."""
    if "SINGLE" in statement.clause or OF_ONE.search(statement.text) is not None:
        return True
    label = _LABEL.match(statement.sentence_text) if statement.opener == ":" else None
    if label is not None and OF_ONE.search(label[0]) is not None:
        return True
    return "SINGLE" in statement.sentence and not statement.clause.isdisjoint({"DECODE", "TIME"})


def _users(said: Said) -> float | None:
    """How many share a step, where the text tells it."""
    match = COUNTED.search(said.statement.context_text)
    if match is not None:
        word = (match[1] or match[2]).lower()
        return float(count_of(word))
    batch = said.statement.frame.batch
    return float(batch) if batch else None


def _each_waits(said: Said, sure: Confidence) -> Wrong:
    count = _users(said)
    step = _STEP.search(said.statement.context_text)
    shown = f"{count:.0f} tokens, one for each of {count:.0f}" if count and count > 1 else (
        "B tokens, one for each of B sequences"
    )  # fmt: skip
    waits = f": {step[1]} ms per token" if step is not None else ", and 1.00x at best"
    return Wrong(
        f"a step makes {shown}: each user waits for the whole step{waits}; what grows is the total",
        sure,
        numbers={"users": count} if count else {},
    )


_AGAINST_ALONE = Form(
    r"\b(?:where|while|whereas|against|instead of|rather than|than|and not|not) (?:a |an |the "
    r"|one )?"
    r"(?:(?:lone|single|solitary) \w+ (?:gets?|sees?|has|had|got|saw)? ?)?\d[\d.,]*"
)
"""The rate of one alone beside that of each: "34 tok/s where a lone user gets 82"."""


def _is_shared_rate(said: Said) -> bool:
    """Whether the rate of all is given as that of one, or the step is divided by its users."""
    statement = said.statement
    if statement.kind not in {Kind.FIGURE, Kind.GAIN} or statement.tpot_ms is None:
        return False
    many = (
        (statement.frame.batch or 0) > 1
        or not statement.nearby.isdisjoint({"BATCH", "AGGREGATE", "THROUGHPUT"})
        or (_users(said) or 0.0) > 1
    )
    if is_summed(statement) or re.search(_PRICE, statement.text, re.IGNORECASE):
        return False
    if not many or not _is_of_one(statement) or _ALL_RATE.search(statement.text):
        return False
    if _AGAINST_ALONE.search(statement.sentence_text) is not None:
        return False  # judged by the rate that one alone has (`_above_one_alone`)
    if statement.is_aggregate and OF_ONE.search(statement.text) is None:
        return False
    before = [tpot for phase, _, tpot in statement.earlier if tpot and phase is not Phase.PREFILL]
    step = _STEP.search(statement.context_text)
    if step is not None and not _OTHERS.isdisjoint(statement.sentence):
        return False
    if step is not None:
        return statement.tpot_ms < 0.8 * float(step[1])
    told_before = statement.context_text[: statement.context_text.rfind(statement.text)]
    shared = (statement.frame.batch or 0) > 1 or (_users(said) or 0.0) > 1
    if _OF_TEXT.search(statement.text) is not None:
        before = [min(before)] if before and shared else []  # and not what each of them gets
    if _EACH_BEFORE.search(told_before) is not None:
        before = []  # what each of them gets was told
    same = not _ONE_STREAM.search(told_before) and any(
        abs(tpot - statement.tpot_ms) < 0.06 * tpot for tpot in before
    )
    divided = bool(
        before
        and statement.tpot_ms < 0.8 * min(before)
        and RAISED.search(statement.context_text)
        and _OTHERS.isdisjoint(statement.nearby)
        and re.search(r"\b(?:each|every)", statement.text, re.IGNORECASE)
    )
    return (same and not re.search(_AS_BEFORE, statement.text, re.IGNORECASE)) or divided


_EACH_BEFORE = Form(
    r"\beach (?:receiv|get|see|of them)\w*|\bper (?:user|conversation|sequence|stream)\b"
)
_OF_TEXT = Form(r"\d[\d,]*[- ](?:token|word) \w+")
"""A text of so many tokens, whose time is a rate in other words: that rate may be one user's."""


def _in_words(said: Said, sure: Confidence) -> Wrong | None:
    """Users, their rate and the rate of all in one passage, which do not multiply."""
    statement = said.statement
    if statement.tpot_ms is None or not _is_of_one(statement) or statement.is_aggregate:
        return None
    total, count = _ALL_RATE.search(statement.context_text), _users(said)
    if total is None or count is None or statement.table is not None:
        return None
    rate = float((total[1] or total[2]).replace(",", ""))
    each = 1e3 / statement.tpot_ms
    if is_summed(statement):
        return None
    if _ALL_RATE.search(statement.text) and abs(each - rate) < 0.01 * rate:
        return None  # it is the rate of all itself
    if _LEFT_ALONE.search(statement.text) is not None and each < rate:
        return None  # the rate that one has without the others
    return _told(count, each, rate, sure) if count > 1 and each * count > 1.15 * rate else None


_LEFT_ALONE = Form(
    r"\b(?:a|the|one) (?:lone|single|solitary|sole)\b|\balone\b|\bby (?:itself|himself|herself)\b"
    r"|\bon (?:its|his|her) own\b"
)


def _told(count: float, each: float, rate: float, sure: Confidence) -> Wrong:
    return Wrong(
        f"{count:,.0f} users at {each:,.0f} tokens/s are {each * count:,.0f} tokens/s, more than "
        f"the"
        f" {rate:,.0f} of all; each has {rate / count:,.1f} ({1e3 * count / rate:,.1f} ms per "
        f"token)",
        sure,
        numbers={"users": count, "total_tokens_per_second": rate, "each_tokens_per_second": each},
    )
