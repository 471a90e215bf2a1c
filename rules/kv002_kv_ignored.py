"""## What it does
Flags a text that leaves the KV cache out of decode at long context: "the cache can be neglected
at 128K", or a rate at long context that only the weights allow.

## Why is this bad
Every token reads the whole cache of its sequence: layers x KV heads x head size x 2 x bytes,
times the tokens before it. For an 8B with 8 KV heads in 16 bits that is 131 KB a token: 13 GB at
100K, as much as its weights.

## Instead
Add the cache to the bytes of a step; cut it by GQA, MLA, windows, fewer bits or eviction.

## When this rule is wrong
For models with constant state (Mamba, RWKV), sliding windows or latent attention, whose cache is
small: name them. At short context the cache does count little, and the rule is silent.

## References
- Pope et al.: Efficiently scaling transformer inference: https://arxiv.org/abs/2211.05102
- Ainslie et al.: GQA: https://arxiv.org/abs/2305.13245
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import claim_numbers, claims_of, is_stated, step_of_claim
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.judge import GRACE
from advisor.operands import without_cache_bytes_ms
from advisor.prose.cache_effects import ONLY_WEIGHTS
from advisor.prose.cache_patterns import (
    ANY_LENGTH,
    CACHE_LEVER_DENIED,
    PREFILL_ONLY,
    lengths_in,
)
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.rule import CLAIMS, PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.told.cache_rate import leaves_no_time
from advisor.told.cache_rows import keeps_its_rate
from advisor.told.cache_told import cache_of, is_weights_alone
from advisor.told.context_told import ABOUT_LENGTH, LONG, context_of
from advisor.told.length_matters import is_about_step, is_excepted, names_other_subject
from advisor.told.lost_batch import lost_batch
from advisor.wording import milliseconds, size

RULE = Rule(
    code="KV002",
    name="kv-ignored",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.KV_IGNORED,
    about=(CLAIMS, PROSE),
    flagged=(
        """\
«At 128K tokens the KV cache can be neglected.» Only the weights count.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 128k}
claim: «215 tokens/s for one user»
""",
    ),
    passing=(
        """\
At 128K tokens the KV cache of the 8B is as large as its weights and cannot be ignored.
""",
        """\
For prompts under 1K tokens the KV cache can be neglected.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
claim: 120 tokens/s for one user
""",
    ),
)

_KV_BYTES_PER_TOKEN = 131_072
"""Of an 8B with 32 layers and 8 KV heads of 128 in 16 bits: 32 x 8 x 128 x 2 x 2."""


def check(audit: Audit) -> Iterator[Finding]:
    """Decode at long context without its cache."""
    yield from _claims(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why="every token reads the whole cache of its sequence",
        instead=(
            "add the cache to the bytes of a step: layers x KV heads x head size x 2 x bytes x "
            "context"
        ),
    )


_FELT = 0.15
"""Part of the bytes from which a forgotten cache is no rounding."""


def _claims(audit: Audit) -> Iterator[Finding]:
    """Rates that the weights allow and the cache does not."""
    if not is_stated(audit, "context"):
        return
    for claim in claims_of(audit):
        judged, step = claim.judged, step_of_claim(audit, claim)
        read = step.estimate.bytes
        if not judged.below_floor or judged.metric != "tpot":
            continue
        assert judged.tpot_ms is not None
        alone = without_cache_bytes_ms(step)
        if read.kv_read < _FELT * read.memory or judged.tpot_ms * GRACE < alone:
            continue
        yield RULE.on_claim(
            audit,
            claim,
            f"{milliseconds(judged.tpot_ms)} ms is the floor of the weights alone"
            f" ({milliseconds(alone)} ms); {size(read.kv_read)} of cache a step make it"
            f" {milliseconds(step.estimate.floor_tpot_ms)} ms at least",
            why="every token reads the whole cache of its sequence",
            instead="add the cache to the bytes of a step",
            numbers=claim_numbers(audit, claim),
        )


_BLAMED = Form(
    r"\b(?:people|many|most|some|everyone|everybody|teams|they|vendors|calculators|estimates|it is"
    r" easy to|we often|you often) (?:\w+ )?(?:forgets?|overlooks?|neglects?|ignores?|omits?)\b"
    r"|(?:\d|\b(?:formula|estimate|figure|number|line|calculator|bound|script|sheet|spreadsheet"
    r"|rule of thumb"
    r"|it|that|which)) (?:simply |just |still |wrongly )?(?:neglects|ignores|omits|overlooks"
    r"|forgets"
    r"|leaves out|misses)\b"
)
"""Others, or a figure, are said to ignore the cache."""
_NO_ROOM = Form(
    r"\b(?:(?:do|does|did|will|would)(?:n['’]t| not)|cannot|can['’]t) (?:fit\b|enter\W*$)"
)
"""The cache is counted, and is too large."""


_OF_COST = r"\b(?:usd|eur|cents?|dollars?|euros?)\b|\bper million\b|-hour\b"
_READ_AS_WELL = (
    r"(?<!what the )\b(?:keys and values|kv|k/v|cache)\b[^.;]{0,40}?\b(?:as well|too|on top"
    r"|in addition|is read"
    r"|(?<!only the weights )(?<!only weights )are read"
    r"|transferred|added|adds)\b(?! (?:nothing|no))"
)
"""The sentence counts the cache itself."""
_FREE_FOR_CACHE = Form(
    r"\b(?:free|left|available|room|spare|remains?) for (?:the |its )?(?:kv |k/v )?(?:caches?"
    r"|context)\b"
)
"""What a device has left for the cache, and nothing of a step."""


_CACHE_ROW = Form(r"\W*(?:kv|k/v|keys|cache|cached)\b")


def _is_of_cache(statement: Statement) -> bool:
    """Whether a cell stands in the row of the cache itself."""
    return statement.table is not None and _CACHE_ROW.match(statement.table[1][0]) is not None


_ROOM_LEFT = (
    r"\b(?:remaining|free|left-?over|spare|unused|empty) (?:\w+ )?(?:space|room|memory|vram"
    r"|gigabytes|gb)\b[^.;]{0,40}? (?:holds?|fits?|takes?|stores?|has room for) (?:\w+ ){0,2}?\d"
)
"""Room in which nothing stands, and which no step reads."""


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    if statement.table is not None and len(set(statement.table[0])) < len(statement.table[0]):
        return None  # which of two columns of one name it is cannot be told
    if statement.cause == "PEAK" and statement.nearby.isdisjoint({"KV", "KVQ", "LONG"}):
        return None
    if said.says(_OF_COST) or said.says(_ROOM_LEFT) or _is_of_cache(statement):
        return None
    if _FREE_FOR_CACHE.search(statement.text) is not None or said.says(_READ_AS_WELL):
        return None
    sure = _sure(statement)
    denied = statement.kind is Kind.LOSS and statement.status is Status.DENIED
    if sure is None and statement.kind is not Kind.KV_IGNORED and not denied:
        return None
    if _is_elsewhere(said) or is_excepted(said):
        return None
    if _BLAMED.search(statement.text) or _NO_ROOM.search(statement.text):
        return None
    context = context_of(said)
    if statement.kind is Kind.AMOUNT and sure and (missed := lost_batch(said)) is not None:
        told, right, batch = missed
        return Wrong(
            f"{told / 1e9:.3g} GB are one sequence's; {batch} sequences read {right / 1e9:,.0f} GB",
            sure,
            numbers={"told_bytes": told, "right_bytes": right},
        )
    cache = cache_of(said, context)
    share = cache.share if cache is not None else None
    long = context >= LONG if share is None else share >= _FELT
    if share is not None and not long:
        return None
    if cache is not None and sure is not None and is_weights_alone(said, cache):
        near = statement.near
        if near is not None and near.context is None and not lengths_in(statement.context_text):
            sure = Confidence.MEDIUM  # a context told elsewhere may be that of another case
    elif _is_denied_loss(said, context) or keeps_its_rate(said):
        sure = Confidence.HIGH
    elif statement.kind is Kind.KV_IGNORED and (_is_same(said, context) or _is_lever_denied(said)):
        sure = Confidence.HIGH if long else None
    elif not (
        _is_ignored(said, long=long, known=share is not None)
        or leaves_no_time(said, context, cache, GRACE)
    ):
        return None
    if sure is None:
        return None
    topic = "read" if ONLY_WEIGHTS.search(statement.text) is not None else ""
    if cache is not None and share is not None and not cache.context:
        return Wrong(
            f"{cache.bytes / 1e9:.3g} GB of cache are read at each step beside"
            f" {cache.bytes / share / 1e9:.3g} GB of weights",
            sure,
            numbers={"cache_bytes": cache.bytes, "weight_bytes": cache.bytes / share},
            topic=topic,
        )
    if cache is not None and share is not None:
        of_all = "" if cache.sequences == 1 else f"{cache.sequences} sequences of "
        return Wrong(
            f"{of_all}{cache.context:,} tokens hold {cache.bytes / 1e9:.3g} GB of cache"
            f" ({cache.per_token / 1e3:,.0f} KB a token), read at each step beside"
            f" {cache.bytes / share / 1e9:.3g} GB of weights",
            sure,
            numbers={
                "context_tokens": cache.context,
                "cache_bytes": cache.bytes,
                "weight_bytes": cache.bytes / share,
            },
            topic=topic,
        )
    length = context or 128_000
    size = _KV_BYTES_PER_TOKEN * length / 1e9
    return Wrong(
        f"at {length:,} tokens the cache of an 8B with 8 KV heads is {size:.1f} GB in 16 bits,"
        " read for every token beside 15 GB of weights",
        sure,
        numbers={"context_tokens": length, "kv_bytes_of_an_8b": _KV_BYTES_PER_TOKEN * length},
        topic=topic,
    )


_OF_PROMPT = (
    r"\b(?:ttft|first token|prompts?\b[^.;,]{0,24}? (?:takes?|needs?)|prefill\w*"
    r"|prompt processing|ingest\w*)\b"
)
_MENTIONED = r"\b(?:prompts?|documents?|contracts?|summar\w+|pages?|inputs?)\b"
_CAME_BEFORE = re.compile(
    r"\b(?:how (?:many|much|long)|what(?:ever)?) [^.;,]{0,30}?\b(?:came|was|went)\b"
)
"""Past words for what stands before a token, which tell no measurement."""
_PERMITTED = re.compile(
    r"\b(?:may|can|might|could) (?:safely |simply |well |just |then )?be (?!as)\w"
)


_OF_STEP = (
    r"\bin (?:a|each|every|one) (?:decode )?step\b"
    r"|\b(?:per|each|every) (?:decode )?(?:step|token)\b"
)


def _is_elsewhere(said: Said) -> bool:
    """Whether another phase is meant; a prompt that is merely mentioned is the context of one."""
    statement = said.statement
    if statement.phase is Phase.PREFILL and statement.kind is Kind.KV_IGNORED:
        if said.says(_OF_STEP) or PREFILL_ONLY.search(statement.text) is not None:
            return False
        if statement.phase_reach > 1:
            return said.has(_OF_PROMPT) or not said.has(_MENTIONED)
        return said.says(_OF_PROMPT) or not said.says(_MENTIONED)
    return statement.phase in NO_DECODE


def _sure(statement: Statement) -> Confidence | None:
    """How sure it is that the text asserts it; that something may be left out is no doubt."""
    if statement.status is Status.MEASURED and _CAME_BEFORE.search(statement.text) is not None:
        return Confidence.HIGH
    hedged = statement.status is Status.HEDGED and statement.kind is Kind.KV_IGNORED
    if hedged and (_PERMITTED.search(statement.text) or PREFILL_ONLY.search(statement.text)):
        return Confidence.HIGH
    return confidence_of(statement)


_ANSWERED = re.compile(r"\. (?:A(?:nswer)?[:.] )?(?:No|Nope|Not at all|Never)\b")


_OF_CAPACITY = Form(
    r"\b\d+ ?GB (?:limit|cap|card|of (?:vram|memory))|\b(?:memory|vram|capacity) (?:limit|cap)\b"
)
"""What does not slow a step down as long as all fits."""


def _is_denied_loss(said: Said, context: int) -> bool:
    """Whether a long context is said not to make decode slower."""
    statement = said.statement
    return (
        statement.kind is Kind.LOSS
        and statement.status is Status.DENIED
        and statement.phase is Phase.DECODE
        and context >= LONG
        and (_ANSWERED.search(statement.text) is not None or not said.has(r"\?"))
        and _OF_CAPACITY.search(statement.text) is None
        and (
            said.says(r"context|tokens|prompt|window|history|dialog|document")
            or "?" in statement.context_text
        )
    )


def _is_lever_denied(said: Said) -> bool:
    """Whether a smaller cache is said to bring nothing."""
    statement = said.statement
    told = statement.status is Status.ASSERTED
    return told and CACHE_LEVER_DENIED.search(statement.sentence_text) is not None


_OTHER_LEVERS = frozenset({"KVQ", "GQA", "ATTN", "PREFIX", "SPEC", "TP", "BATCH", "OFFLOAD"})
_SAME_RATE = (
    r"(?:leaves?|leaving) (?:the )?(?:\w+ ){0,3}?(?:rate|speed|pace|latency|time)[^.;:]{0,24}? as"
    r" (?:it|they)|(?:rate|speed|pace|latency|time per token) (?:\w+ )?(?:stays?|remains?) "
    r"(?:the same|as|flat|constant)"
    r"|as (?:fast|quickly) as an empty|(?:same|that) (?:rate|speed|pace)"
    r"|runs? at the same \d|(?:is|are) the weights (?:over|divided by) the bandwidth"
)
"""Ways to say that a long context is as fast as a short one."""


def _is_same(said: Said, context: int) -> bool:
    """Whether decode is said to be as fast at a long context as at a short one."""
    statement = said.statement
    told = statement.status in {Status.ASSERTED, Status.DENIED}
    named = not statement.clause.isdisjoint({"RATE", "TIME", "DECODE", "LONG"})
    of_length = re.search(ABOUT_LENGTH, statement.text, re.IGNORECASE) is not None
    if not (told and named and of_length) or not _OTHER_LEVERS.isdisjoint(statement.sentence):
        return False
    return context >= LONG and re.search(_SAME_RATE, statement.text) is not None


_OF_SERVER = (
    r"\b(?:start-?up|boot\w*|load(?:ing)? time|warm-?up|compil\w+|download\w*|install\w*|pric(?:e"
    r"|ing)"
    r"|build time|accuracy|quality)\b"
)
"""What is told of a server or a model, and not of a step of decode."""
_ADDED = (
    r"\b(?:plus|(?<!what the cache )adds?(?! (?:next to |almost |practically )?(?:nothing|no\b"
    r"|little))|added"
    r"|on top|in addition|and the (?:kv |k/v )?cache|(?<!even )then the cache)\b"
)
"""The cache is counted after all."""


def _is_ignored(said: Said, *, long: bool, known: bool) -> bool:
    statement = said.statement
    if statement.kind is not Kind.KV_IGNORED or "SHORT" in statement.sentence:
        return False
    if said.says(_ADDED) or _WEIGHTS_ARE.search(statement.text) is not None:
        return False
    if not is_about_step(said):
        return False
    if statement.sentence.isdisjoint({"KV", "RATE", "DECODE"}) and said.says(_OF_SERVER):
        return False
    if _KEPT_WEIGHTS.search(statement.text) is not None or said.says(_UNUSED):
        return False
    if said.says(_ROOM):
        return False
    if not (long or "LONG" in statement.sentence):
        if "KV" in statement.sentence and _ANY.search(statement.text) is not None:
            return not statement.frame.context
        return not statement.frame.context and _is_universal(statement)
    if statement.table is not None:
        return "KV" in statement.around
    # a sentence that names neither cache nor length repeats what the one before it said
    named = not statement.sentence.isdisjoint({"KV", "KVQ", "LONG"})
    named |= known and ONLY_WEIGHTS.search(statement.text) is not None
    return (
        named
        or said.says(rf"{ABOUT_LENGTH}|sequence|length")
        or bool(lengths_in(statement.sentence_text))
    )


_OF_SPEED = (
    r"(?<!first )\btime per token|tokens? (?:per|a) second|tok/s|decode (?:speed|step|time)"
    r"|\btpot\b"
)
_OF_DECODE = r"decod|\bsteps?\b|tokens?\b|generat"


def _is_universal(statement: Statement) -> bool:
    """Whether the speed of decode is said to be the same at any length."""
    told = ANY_LENGTH.search(statement.text)
    if told is None or statement.phase is not Phase.DECODE:
        return False
    named = re.search(_OF_DECODE, statement.text, re.IGNORECASE)
    before = re.search(_OF_SPEED, statement.context_text, re.IGNORECASE)
    if statement.clause.isdisjoint({"TIME", "RATE"}) and named is None and before is None:
        return False
    return not names_other_subject(statement.text)


_KEPT_WEIGHTS = Form(
    r"^\W*(?:the )?(?:weights?|weight (?:traffic|bytes|reads)|parameters?) (?:(?:do|does) not"
    r"|stays?|remains?"
    r"|are the same|is the same)\b"
)
"""Of the weights it is true at any length."""
_UNUSED = r"\b(?:while|when|if|as long as) (?:\w+ ){0,2}?(?:unused|empty|not used)\b|\bunused\b"
_ROOM = r"\b(?:would|will) (?:need|ask|take|require) (?:for )?\d[\d.]* ?GB\b(?!/)"
"""What caches need of the memory, and not of a step."""
_ANY = re.compile(r"\b(?:any|every|all) (?:context |prompt )?(?:lengths?|contexts?)\b|however long")
_WEIGHTS_ARE = Form(
    r"\bweights? (?:are|is|become|becomes|look) (?:then |here |there )?(?:a |in the "
    r"|only )?(?:rounding"
    r"|neglig|tiny|small|little|noise|minor|irrelevant)"
)
"""The weights are what counts little, and not the cache."""
