"""## What it does
Flags speculative decoding that is said to pay at any load, to cost nothing when drafts are wrong,
or to keep its gain at a large batch.

## Why is this bad
Verifying g drafted tokens makes B x (g + 1) tokens a step. Near the crossover batch the linear
layers are compute-bound, and rejected tokens take compute from other requests; the draft itself
takes time everywhere. Tokens per pass are (1 - a^(g+1)) / (1 - a) at acceptance a, and the step
costs g x c more.

## Instead
State acceptance (or tokens per pass), draft length, batch and temperature, and switch drafting
off above a load.

## When this rule is wrong
At long context decode stays bound by the KV cache at any batch, and speculation can keep paying;
n-gram drafts cost next to nothing at small batch.

## References
- Leviathan et al.: Fast inference from transformers via speculative decoding:
  https://arxiv.org/abs/2211.17192
- Chen et al.: MagicDec: https://arxiv.org/abs/2408.11049
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.audit import Audit
from advisor.evidence import lever_facts, lever_numbers, promises_speed
from advisor.finding import Confidence, ErrorClass, Finding, Severity
from advisor.forms import Form
from advisor.operands import gemm_share
from advisor.prose.model import Kind, Phase, Status
from advisor.quantity.numerals import SEVERAL, count_of
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.wording import digits, factor, factors

RULE = Rule(
    code="SPC003",
    name="verify-no-longer-free",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    since="0.1.0",
    error_class=ErrorClass.SPECULATIVE_FREE_LUNCH,
    about=("speculate", PROSE),
    flagged=(
        """\
«At batch 256 speculative decoding will still give 2.5x.»
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: A100 80GB SXM
workload: {phase: decode, batch: 64, context: 512}
weights: int4-g128
levers:
  - {«kind: speculate», method: EAGLE, draft_tokens: 7, acceptance: 60%, claim: 1.5x}
""",
    ),
    passing=(
        """\
Speculative decoding gave 2.3x at batch 1 with 2.9 accepted tokens per pass.
""",
        """\
Speculative decoding stops paying at batch 64 and more.
""",
        """\
rooflint: 1
model: Llama-3.1-8B
hardware: H100 SXM
workload: {phase: decode, batch: 1, context: 2k}
levers:
  - {kind: speculate, method: EAGLE, draft_tokens: 3, acceptance: 70%, claim: 1.8x}
""",
    ),
)

_LARGE = 64
"""Sequences with which four drafted tokens each reach the crossover of an H100 (295)."""


def check(audit: Audit) -> Iterator[Finding]:
    """Speculation without a condition, or at a batch where it pays no more."""
    yield from _levers(audit)
    yield from RULE.in_prose(
        audit,
        _judge,
        why=(
            "verification takes compute, and drafting takes time, whether drafts are accepted or "
            "not"
        ),
        instead="state acceptance, draft length and batch; switch drafting off above a load",
    )


_HALF = 0.5


def _levers(audit: Audit) -> Iterator[Finding]:
    """Drafts whose verification crosses into arithmetic."""
    for lever in audit.levers:
        before, after = lever.before.estimate, lever.after.estimate
        tokens = lever.after.ledger.tokens
        if lever.lever.kind != "speculate" or tokens <= after.crossover_batch:
            continue
        if gemm_share(lever.after) <= _HALF or not promises_speed(lever):
            continue
        verify = after.expected_ms.mid * (1.0 - after.shares.draft) / before.expected_ms.mid
        yield RULE.on_lever(
            audit,
            lever,
            f"a pass verifies {tokens} tokens, linear layers wait for arithmetic from"
            f" {after.crossover_batch:,.0f}: it takes {factor(verify)} of a step for"
            f" {digits(after.tokens_per_step, 2)} tokens, {factors(lever.tpot.interval)}",
            why="speculation and batching spend the same headroom",
            instead="fewer draft tokens, or none above a load",
            facts=lever_facts(lever),
            numbers={**lever_numbers(lever), "verify_steps": verify, "tokens_per_step": tokens},
        )


_COUNT = rf"\d{{1,2}}|{SEVERAL}"
_DRAFTED = Form(
    rf"\bdraft(?:s|ing|ed)? (?:of |length )?(?:of )?({_COUNT})\b"
    rf"|\b({_COUNT}) (?:draft(?:ed)?|proposed|guessed|speculative|candidate) tokens"
    rf"|\b({_COUNT}) (?:drafts|guesses|proposals|candidates)\b"
    rf"|\b(?:gamma|γ|k|num_speculative_tokens|(?:draft|spec(?:ulative)?)[-_ ](?:tokens|length|len|k"
    rf"|n)"
    rf"|n_predict|draft[-_]max|lookahead|steps)\s?(?:=|:|of|is)?\s?({_COUNT})\b"
    rf"|\b(?:guess(?:es)?|propos(?:es?|ing)|predict(?:s|ing)?) (?:the next )?({_COUNT})\b(?! ?%)"
)
_PER_PASS = Form(
    rf"\b({_COUNT}) tokens (?:(?:per|a|each|every|in (?:one|a|each)) (?:pass|step|forward|round|go"
    r"|verification)|instead of one|for the price of one|at once|at a time)"
)
_NEVER = (
    r"never (?:\w+ ){0,2}?(?:slow|worse)"
    r"|(?:cannot|can not|can['’]t) (?:\w+ )?(?:slow|make \w+ worse)"
    r"|\b(?:no|not|never|hardly) (?:any )?(?:worse|slower)\b"
)
_ACCEPTED = (
    r"accept|reject|agree|hit rate|at best|up to|upper|ceiling|if all|theor|match(?:es|ed)?\b"
)
_NEW_TEXT = (
    r"creative|\bnovels?\b|\bnovel writing|chit-?chat|open-ended|fresh text|essays?|stor(?:y|ies)"
    r"|poem|poetry|fiction|free[- ]form|brainstorm|small talk|verse|lyrics"
    r"|any (?:kind|sort|type|text|prompt|task|chat|input|topic|request|content|language)"
    r"|(?:every|all) (?:kinds?|sorts?|types?|texts?|prompts?|tasks?|chats?|requests?|workloads?)"
    r"|whatever (?:the|is|they|people|users)|no matter (?:what|which)|alike\b|everywhere|across the"
    r" "
    r"board|irrespective|independent(?:ly)? of (?:the )?(?:text|prompt|task|content|input)"
)
_MANY = Form(
    r"\b(?:batch(?: size)?|bs|concurrency|max_num_seqs)\W{0,3}(?:of |is |at )?(?P<batch>\d{1,4})\b"
    r"|\b(?P<count>\d{1,4}) (?:[\w-]+ ){0,2}?(?:users|chats|streams|sessions|sequences|requests"
    r"|clients|conversations|seqs|slots|callers|queries|of them|in flight|at once|in parallel"
    r"|together|concurrent(?:ly)?)\b"
)
_BUSY = (
    r"\b(?:saturat\w+|(?:100|9\d) ?%? ?(?:gpu )?(?:utili[sz]ation|load|busy|occupancy)|full(?:y)?"
    r" (?:load|batch|server|house|loaded|occupied)|peak (?:hours?|load"
    r"|traffic)|rush hour|heavy (?:load|traffic)|under (?:full |heavy |high )?load|busy|batch jobs?"
    r"|offline (?:job|batch|run|queue|workload)s?|bulk|nightly|overnight|high (?:concurrency|load"
    r"|qps)|large batch(?:es)?|big batch(?:es)?|hundreds of (?:users|requests|streams|sequences)"
    r"|max(?:ed|imum)? (?:out|batch|throughput|load)|throughput (?:job|tier|profile)s?)\b"
)
_LOAD = r"(?:load|batch(?: sizes?)?|concurrency|traffic|utili[sz]ation|occupancy|queue)s?"
_ANY_LOAD = (
    rf"\b(?:(?:at|under|for|in|with|on) (?:any|every|all|whatever|each) (?:\w+ )?{_LOAD}"
    r"|(?:whatever|regardless of|independent(?:ly)? of|irrespective of|no matter(?: how \w+|"
    r" what)?)"
    rf" (?:the |is the )?(?:\w+ )?{_LOAD}"
    r"|(?:all|every) (?:\w+ )?(?:profiles?|deployments?|tiers?|pools?|traffic|servers?|endpoints?"
    r"|workloads?|queues?)|in (?:every|all|any) (?:cases?|deployments?|profiles?))\b"
)
_OFF = (
    r"\b(?:(?<!pays )(?<!pay )(?<!paid )off|disabl\w+|slow\w*|less(?! than)|(?<!to )lose[sn]?(?!"
    r" nothing)"
    r"|shrinks?|fades?|vanish\w*|drops? to|falls to|below"
    r" 1"
    r"|at the (?:cost|expense|price)|trade|lower throughput|only(?! help| gain| win| upside)|may"
    r"|unless|except|until|up to batch|break-?even|smaller|no"
    r" longer|stop(?:s|ped)?|depends?|if|nothing (?:at|with|for|above|beyond|from)|no (?:gain"
    r"|speed-?up"
    r"|benefit|help))\b"
)
_SMALL = (
    r"\b(?:batch(?: size)?|bs|concurrency)\W{0,3}(?:of |is )?(?:1|one|2|two|4|four)\b|single[- ]"
    r"(?:user|stream|request|sequence)|one (?:user|stream|request|chat)|lone|idle|small batch"
    r"|(?:low|light|small) (?:load|concurrency|batch|traffic)|alone"
)
_BAD_DRAFTS = (
    r"\b(?:wrong|bad(?:ly)?|poor(?:ly)?|miss(?:es|ed)?|reject\w*|useless|mispredict\w*|fails?|low"
    r" acceptance|even if|worst case|not accepted|discarded|acceptance (?:rate )?(?:is|does|plays"
    r"|has"
    r"|need))\b"
)
_UNIVERSAL = (
    r"\b(?:cannot|can['’]t|can not|never|always|no (?:downside|drawback|risk|penalty|reason not)"
    r"|nothing (?:is |to )?(?:be )?los[te]|only (?:help|gain|win|upside)|pure (?:win|gain)|free"
    r" lunch"
    r"|loses? nothing|harmless)\b"
)
_UNKNOWN = (
    r"accept\w*[^;]{0,60}?\b(?:not (?:been )?(?:looked|measured|known|checked|logged|tested"
    r"|recorded)|unknown|unmeasured|untested|unclear|nobody|never (?:been )?(?:looked|measured)"
    r"|yet to be|no idea|irrelevant|no role)|(?:nobody|no one|not|never|without) [^.;]{0,40}?\b"
    r"(?:measur\w+|look\w+|check\w+|know\w*) [^.;]{0,24}?\baccept\w+"
)
_OTHER_COST = Form(
    r".{0,160}?\b(?:weights|memory|vram|GB|set(?:ting)? ?up|install\w*|train\w*|distribution"
    r"|quality"
    r"|outputs?|licen[cs]e|disk|download|accuracy)\b.{0,80}?\b(?:costs?|free|negligible|nothing|no"
    r"|ignored|takes?|adds?|matter|same)\b"
)
"""What else may cost nothing: memory, set-up, quality."""
_SHARED = 16
"""Sequences in a step from which on verification is not free by itself."""
_FELT = 1.3
"""A smaller gain is possible at a large batch."""
_LONGEST_SHORT = 8192
"""Tokens of context from which on decode stays bound by the cache at any batch."""


def _number(word: str) -> int:
    return count_of(word)


def _drafted(text: str) -> int | None:
    """Tokens drafted for a pass, where a text tells them."""
    match = _DRAFTED.search(text)
    if match is not None:
        return _number(next(group for group in match.groups() if group))
    passes = _PER_PASS.search(text)
    return _number(passes[1]) - 1 if passes is not None else None


def _takes_all_drafts(said: Said) -> int | None:
    """Tokens drafted, where the gain is as large with no word on what is accepted."""
    statement = said.statement
    drafted = _drafted(statement.context_text)
    if drafted is None or drafted < 2 or statement.speedup is None:
        return None
    if said.has(_ACCEPTED.replace("|up to", "")) or re.search(
        r"\bup to\b|at most", statement.text, re.IGNORECASE
    ):
        return None
    return drafted if 0.95 * drafted <= statement.speedup <= 1.05 * (drafted + 1) else None


def _unpredictable(said: Said, sure: Confidence) -> Wrong | None:
    """Drafts copied from the text so far, and a gain where little of it comes again."""
    statement = said.statement
    if statement.kind not in {Kind.GAIN, Kind.CARRIED} or said.has(_ACCEPTED):
        return None
    if not said.says(_NEW_TEXT) or said.says(
        r"\bnot\b|hardly|\bonly\b|except|\bbut\b|no gain|nothing"
    ):
        return None
    return Wrong(
        "n-gram drafts repeat what the text already holds: where little recurs a pass yields hardly"
        " more than 1 token, about 1.0x",
        sure,
    )


def _sequences(said: Said) -> int:
    """The most sequences in a step that the sentence or its frame tells."""
    counts = [int(m["batch"] or m["count"]) for m in _MANY.finditer(said.statement.sentence_text)]
    return max([said.statement.frame.batch or 0, *counts])


def _is_long(said: Said) -> bool:
    """Whether decode stays bound by the cache, so that drafts keep paying."""
    context = said.statement.frame.context
    if context is not None:
        return context > _LONGEST_SHORT
    return "LONG" in said.statement.nearby


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if statement.kind is Kind.LOSS and statement.status is Status.DENIED and said.says(_NEVER):
        sure = Confidence.HIGH
    drafts = "SPEC" in statement.nearby or _PER_PASS.search(statement.context_text) is not None
    if sure is None or not drafts:
        return None
    if statement.phase in NO_DECODE and (
        statement.phase is not Phase.PREFILL or said.says(r"ttft|prefill|first token|processing")
    ):
        return None
    if said.has(r"n-?gram|prompt[- ]lookup"):
        return _unpredictable(said, sure)
    named = "SPEC" in statement.sentence or (
        drafts
        and (statement.is_linked or statement.kind is Kind.CARRIED or statement.table is not None)
    )
    if not named or (statement.phase is Phase.UNKNOWN and statement.kind is Kind.FIGURE):
        return None
    told = "MEASURED" in statement.sentence and "HOPED" not in statement.sentence
    gain = statement.kind is Kind.CARRIED or (
        statement.kind is Kind.GAIN and not told and (statement.speedup or _FELT) >= _FELT
    )
    large = _sequences(said) >= _LARGE or said.says(_BUSY) or "LARGE_BATCH" in statement.sentence
    if gain and large and not _is_long(said) and not said.says(_OFF):
        return _crowded(said, sure)
    drafted = _takes_all_drafts(said) if statement.kind is Kind.GAIN else None
    if drafted is not None:
        return Wrong(
            f"{drafted} drafted tokens make {drafted + 1} only where all are accepted, and the"
            f" draft"
            f" takes time: at 60% acceptance a pass yields {_per_pass(drafted):.1f} tokens",
            sure,
            numbers={"drafted": float(drafted), "tokens_per_pass": _per_pass(drafted)},
        )
    if gain and said.has(_UNKNOWN) and "SPEC" in statement.nearby:
        return _by_acceptance(sure)
    if statement.kind is Kind.LOSS and said.says(_NEVER):
        risky = (
            said.says(_BAD_DRAFTS)
            or said.says(_ANY_LOAD)
            or large
            or said.says(r"never|cannot|can['’]t")
        )
        return _by_acceptance(sure) if risky else None
    always = said.says(_ANY_LOAD) or "ALWAYS" in statement.sentence
    if gain and always and not _is_long(said) and not said.says(_OFF):
        return _crowded(said, sure)
    if statement.kind is not Kind.FREE or _OTHER_COST.match(statement.text):
        return None
    bad = said.says(_BAD_DRAFTS)
    if large or always or _sequences(said) >= _SHARED:
        if said.says(_OFF):
            return None
        return None if _is_long(said) and not bad else _crowded(said, sure)
    few = said.has(_SMALL) or statement.is_single or 0 < _sequences(said) < _SHARED
    if bad or (not few and said.says(_UNIVERSAL)):
        return _by_acceptance(sure)
    return None


def _per_pass(drafted: int, accepted: float = 0.6) -> float:
    """Tokens of a pass at an acceptance a: (1 - a^(g+1)) / (1 - a)."""
    return (1.0 - accepted ** (drafted + 1)) / (1.0 - accepted)


def _crowded(said: Said, sure: Confidence) -> Wrong:
    count = _sequences(said)
    batch = max(count, _LARGE)
    drafted = _drafted(said.statement.context_text) or 4
    return Wrong(
        f"{drafted} drafted tokens make {drafted + 1} tokens of each sequence: at batch {batch:,} a"
        f" step verifies {batch * (drafted + 1):,}, above the crossover of an H100 (295 in BF16);"
        f" at"
        f" 60% acceptance a pass yields {_per_pass(drafted):.1f} tokens",
        sure,
        numbers={"batch": float(batch), "verified": float(batch * (drafted + 1))},
    )


def _by_acceptance(sure: Confidence) -> Wrong:
    return Wrong(
        "a draft takes its time whether it is accepted or not: tokens per pass are"
        " (1 - a^(g+1)) / (1 - a), at 4 drafted tokens 2.3 for a = 60% and 1.2 for a = 20%",
        sure,
    )
