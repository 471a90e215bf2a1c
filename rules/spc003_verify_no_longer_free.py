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
from advisor.judge import GRACE
from advisor.operands import gemm_share
from advisor.prose.baselines import CONCLUDING
from advisor.prose.drafts import (
    PER_PASS,
    QUALITY_ONLY,
    acceptance_in,
    adapts_to_load,
    drafted_in,
    is_every_pass,
    is_whatever_accepted,
    names_drafts,
    tokens_per_pass,
    tokens_told,
    without_conditions,
)
from advisor.prose.loads import LARGE, SMALL
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.prose.sentences import enumerates_needs
from advisor.rule import PROSE, Rule
from advisor.said import NO_DECODE, Said, Wrong, confidence_of
from advisor.told.draft_loads import SOURCE, is_full, is_long, own_load, sequences_of
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
_NOVEL = Form(_NEW_TEXT)
_LOAD = r"(?:load|batch(?: sizes?)?|concurrency|traffic|utili[sz]ation|occupancy|queue)s?"
_ANY_LOAD = (
    rf"\b(?:(?:at|under|for|in|with|on) (?:any|every|all|whatever|each) (?:\w+ )?{_LOAD}"
    r"|(?:whatever|regardless of|independent(?:ly)? of|irrespective of|no matter(?: how \w+|"
    r" what)?)"
    rf" (?:the |is the )?(?:\w+ )?{_LOAD}"
    rf"|(?:not|n['’]t) depend (?:on|upon) (?:the )?(?:\w+ )?{_LOAD}(?!(?: sizes?)? (?:alone|only"
    rf"|as such))"
    r"|(?:all|every) (?:\w+ )?(?:profiles?|deployments?|tiers?|pools?|traffic|servers?|endpoints?"
    r"|workloads?|queues?)|in (?:every|all|any) (?:cases?|deployments?|profiles?))\b"
)
_OFF = (
    r"\b(?:(?<!pays )(?<!pay )(?<!paid )off(?! only)|disabl\w+|slow\w*|less(?! than)"
    r"|(?<!to )lose[sn]?(?!"
    r" nothing)"
    r"|shrinks?|fades?|vanish\w*|drops? to|falls to|below"
    r" 1"
    r"|at the (?:cost|expense|price)|trade|lower (?:\w+ )?(?:throughput|output|total)"
    r"|(?<!off )only(?!"
    r" help| gain| win| upside| make| get| be)|may"
    r"|unless|except|until|up to batch|break-?even|smaller|no"
    r" longer|stop(?:s|ped)?|(?<!not )(?<!n't )(?<!n’t )depends?|if"
    r"|(?<!costs )(?<!cost )nothing (?:at|with|for|above"
    r"|beyond|from)|no (?:gain"
    r"|speed-?up"
    r"|benefit|help))\b"
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
    r".{0,160}?\b(?:weights(?! (?:are|is|get) (?:only )?(?:read|load|stream|fetch))|memory|vram|GB"
    r"|set(?:ting)? ?up|install\w*|train\w*|distribution"
    r"|quality"
    r"|outputs?|licen[cs]e|disk|download|accuracy)\b.{0,80}?\b(?:costs?|free|negligible|nothing|no"
    r"|ignored|takes?|adds?|matter|same)\b"
    r"|.{0,120}?\b(?:hurts?|harms?|affects?|changes?) (?:the |its |our )?(?:\w+ )?(?:quality"
    r"|outputs?"
    r"|accuracy|texts?|answers?|distribution)\b"
)
"""What else may cost nothing: memory, set-up, quality."""
_SHARED = 16
"""Sequences in a step from which on verification is not free by itself."""
_FELT = 1.3
"""A smaller gain is possible at a large batch."""
_FELT_AT_FIRST = 1.5
"""... and at the one where verification only begins to wait for arithmetic."""


def _felt(said: Said) -> float:
    """The least gain that a full step does not leave."""
    return _FELT_AT_FIRST if 0 < sequences_of(said) <= LARGE else _FELT


_SAME_TEXT = (
    r"\blossless\b|\b(?:same|identical|unchanged|equal) (?:outputs?|texts?|results?|answers?)"
    r"|\b(?:outputs?|texts?|results?|answers?) (?:is|are|stays?|remains?) (?:\w+ )?(?:unchanged"
    r"|the same|identical|equal)"
)
_ACCEPTANCE_TOLD = Form(_ACCEPTED.replace("|up to", ""))
_SEVERAL = 2
"""Drafted tokens, of which some may be accepted."""
_USUAL = 0.6
"""An acceptance for examples."""


def _takes_all_drafts(said: Said) -> int | None:
    """Tokens drafted, where the gain is as large with no word on what is accepted."""
    statement = said.statement
    drafted = drafted_in(statement.context_text)
    if drafted is None or drafted < 2 or statement.speedup is None:
        return None
    if _ACCEPTANCE_TOLD.search(without_conditions(statement.context_text)) or re.search(
        r"\bup to\b|at most", statement.text, re.IGNORECASE
    ):
        return None
    return drafted if 0.95 * drafted <= statement.speedup <= 1.05 * (drafted + 1) else None


def _yield_of_pass(said: Said, sure: Confidence) -> Wrong | None:
    """A pass that is to yield as many tokens as were drafted, whatever is accepted of them."""
    text = said.statement.context_text
    own = said.statement.text
    if is_whatever_accepted(text[: text.rfind(own) + len(own)]):
        return _by_acceptance(sure)
    if _FACTOR_TOLD.search(said.statement.sentence_text) is not None:
        return None  # the gain that is concluded from it is judged
    told, accepted, drafted = (
        tokens_told(said.statement.text),
        acceptance_in(text),
        drafted_in(text),
    )
    if told is None or said.statement.status is not Status.ASSERTED:
        return None
    if accepted is not None:
        most = tokens_per_pass(drafted, accepted)
        return _by_acceptance(sure) if told > GRACE * most else None
    if _ACCEPTANCE_TOLD.search(text) is not None or drafted is None or drafted < _SEVERAL:
        return None
    return _by_acceptance(sure) if told in {drafted, drafted + 1} else None


_FACTOR_TOLD = Form(r"\d ?[x×](?!\w)|\btimes (?:as|the|faster)\b|\w+fold\b")


def _unpredictable(said: Said, sure: Confidence) -> Wrong | None:
    """Drafts copied from the text so far, and a gain where little of it comes again."""
    statement = said.statement
    if statement.kind not in {Kind.GAIN, Kind.CARRIED} or said.has(_ACCEPTED):
        return None
    if not said.says(_NEW_TEXT) or said.says(
        r"\bnot\b|hardly|\bonly\b|except|\bbut\b|no gain|nothing"
    ):
        return None
    if enumerates_needs(statement.sentence_text) and not _NOVEL.search(statement.text):
        return None  # "code needs prompt lookup, stories need sampling"
    return Wrong(
        "n-gram drafts repeat what the text already holds: where little recurs a pass yields hardly"
        " more than 1 token, about 1.0x",
        sure,
    )


_LONGER = Form(
    r"\bthe (?:longer|more) (?:the |of the )?(?:\w+ )?(?:drafts?|guesses|proposals|draft(?:ed)?"
    r" tokens"
    r"|lookahead)[^.;]{0,24}?,? the (?:faster|quicker|better|shorter|larger)\b"
    r"|\bmore (?:draft(?:ed)? tokens|guesses|drafts) (?:are|is) always (?:better|faster)\b"
)
"""Drafts that are to be the better the longer they are."""


def _fills_step(said: Said) -> bool:
    """Whether so many share a step, or any number, that drafts of no cost still take room in it."""
    return is_full(said) or said.says(_ANY_LOAD)


_LEFT_OFF = (
    r"\b(?:leave|left|keep|kept|switch(?:ed)?|turn(?:ed)?) (?:it|them|this|that) off\b(?! only)"
    r"|\bnot worth\b"
)
"""The text itself does without."""


_EXPERIMENT = Form(
    r"\b(?:we|i) (?:\w+ )?(?:benchmark|measur|test|evaluat|profil|time|ran|compar)\w*\b"
    r"[^.;]{0,240}$"
)
"""An experiment, told in the sentence before its results."""


def _is_result(said: Said) -> bool:
    """Whether a figure stands right after an experiment, as what came out of it."""
    statement = said.statement
    if statement.speedup is None or statement.opener in CONCLUDING:
        return False
    at = statement.context_text.rfind(statement.sentence_text)
    before = statement.context_text[: max(at, 0)].rstrip(" .")
    return "HOPED" not in statement.sentence and _EXPERIMENT.search(before) is not None


def _is_of_another(statement: Statement) -> bool:
    """Whether its sentence names another lever, and drafts are told of after it alone."""
    if "SPEC" in statement.sentence or statement.cause in {None, "SPEC"} or statement.reach > 1:
        return False
    return not names_drafts(statement.context_text)


def _judge(said: Said) -> Wrong | None:
    statement = said.statement
    sure = confidence_of(statement)
    if statement.kind is Kind.LOSS and statement.status is Status.DENIED and said.says(_NEVER):
        sure = Confidence.HIGH
    if statement.kind is Kind.CARRIED and statement.status is Status.MEASURED:
        sure = Confidence.HIGH if SOURCE.search(statement.text) is not None else sure
    drafts = "SPEC" in statement.nearby or (
        "BATCH" not in statement.nearby and PER_PASS.search(statement.context_text) is not None
    )
    if sure is None or not drafts or said.says(_LEFT_OFF) or _is_of_another(statement):
        return None
    if statement.phase in NO_DECODE and (
        statement.phase is not Phase.PREFILL or said.says(r"ttft|prefill|first token|processing")
    ):
        return None
    if statement.kind is Kind.FREE and is_every_pass(statement.text):
        return _yield_of_pass(said, sure)
    named = "SPEC" in statement.sentence or (
        drafts
        and (statement.is_linked or statement.kind is Kind.CARRIED or statement.table is not None)
    )
    if not named or (statement.phase is Phase.UNKNOWN and statement.kind is Kind.FIGURE):
        return None
    told = "MEASURED" in statement.sentence and "HOPED" not in statement.sentence
    told |= _is_result(said)
    felt = (statement.speedup or _FELT_AT_FIRST) >= _felt(said)
    gain = statement.kind is Kind.CARRIED or (statement.kind is Kind.GAIN and not told and felt)
    large = is_full(said)
    large &= not adapts_to_load(statement.context_text)
    if gain and large and not is_long(said) and not said.says(_OFF):
        return _crowded(said, sure)
    repeats = said.has(r"n-?gram|prompt[- ]lookup")
    if repeats and not (statement.kind is Kind.FREE and _fills_step(said)):
        return _unpredictable(said, sure)
    if statement.kind is Kind.GAIN and _LONGER.search(statement.text) is not None:
        return _by_acceptance(sure)
    drafted = _takes_all_drafts(said) if statement.kind is Kind.GAIN and not told else None
    if drafted is not None:
        usual = tokens_per_pass(drafted, _USUAL)
        return Wrong(
            f"{drafted} drafted tokens make {drafted + 1} only where all are accepted, and the"
            f" draft"
            f" takes time: at 60% acceptance a pass yields {usual:.1f} tokens",
            sure,
            numbers={"drafted": float(drafted), "tokens_per_pass": usual},
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
    if gain and statement.speedup is None and said.says(_SAME_TEXT) and not said.says(_ANY_LOAD):
        return None  # what holds always is that the text stays as it was
    if gain and always and not is_long(said) and not said.says(_OFF):
        return _crowded(said, sure)
    if statement.kind is Kind.FREE and QUALITY_ONLY.search(statement.text) and said.has("accept"):
        return _by_acceptance(sure)
    if statement.kind is not Kind.FREE or _OTHER_COST.match(statement.text):
        return None
    bad = said.says(_BAD_DRAFTS)
    own = own_load(statement)
    shared = (sequences_of(said) if own is None else own) >= _SHARED
    if large or always or shared:
        if said.says(_OFF):
            return None
        return None if is_long(said) and not bad else _crowded(said, sure)
    few = said.has(SMALL) or statement.is_single or 0 < sequences_of(said) < _SHARED
    if bad or (not few and said.says(_UNIVERSAL)):
        return _by_acceptance(sure, statement.opener)
    return None


def _crowded(said: Said, sure: Confidence) -> Wrong:
    count = sequences_of(said)
    batch = max(count, LARGE)
    drafted = drafted_in(said.statement.context_text) or 4
    usual = tokens_per_pass(drafted, _USUAL)
    return Wrong(
        f"{drafted} drafted tokens make {drafted + 1} tokens of each sequence: at batch {batch:,} a"
        f" step verifies {batch * (drafted + 1):,}, above the crossover of an H100 (295 in BF16);"
        f" at"
        f" 60% acceptance a pass yields {usual:.1f} tokens",
        sure,
        numbers={"batch": float(batch), "verified": float(batch * (drafted + 1))},
    )


def _by_acceptance(sure: Confidence, opener: str = "") -> Wrong:
    return Wrong(
        "a draft takes its time whether it is accepted or not: tokens per pass are"
        " (1 - a^(g+1)) / (1 - a), at 4 drafted tokens 2.3 for a = 60% and 1.2 for a = 20%",
        sure,
        topic="concluded" if opener in CONCLUDING else "",
    )
