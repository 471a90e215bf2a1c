"""Slots of one statement: its phase, whose tokens it counts, what it rests on, what was observed.

Each is filled by the words of the clause; where they leave it open, by the nearest words around it
that tell. `text` is that of the block, in which all offsets count. Lever, denial and regime have
modules of their own: causes.py, status.py and frame.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.baselines import CONCLUDING
from advisor.prose.causes import Names
from advisor.prose.ideas import ideas_of
from advisor.prose.lengths import READS_DOCUMENT, is_length
from advisor.prose.model import Effect, Kind, Phase
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.status import goes_on_past, is_past
from advisor.quantity.lexing import words


class Places(NamedTuple):
    """Kinds of terms in a clause and around it."""

    clause: Names
    sentence: Names
    before: Sequence[Names]
    """In the sentences, or items of one record, before its own, in their order."""
    labels: Sequence[Names]
    """In the row and column, the lead-in and the headings."""


_PHASES: Final = frozenset({"PREFILL", "DECODE", "SINGLE", "TRAINING"})
_CONTRAST: Final = Form(r"[ ,](?:not|rather than|instead of|unlike|never)\b")
_AS_IT_IS: Final = Form(r"\b(?:no|not|never|unchanged|the same|as before|nothing)\b|n['’]t\b")
"""What is told of decode beside a gain of prompts: that it has none."""


_LABEL: Final = Form(
    r"\b(?:(?P<prefill>prefill\w*|prompt(?: processing| eval(?:uation)?)?|pp ?\d*|ttft)"
    r"|(?P<decode>decod\w*|(?:token )?generation|tg ?\d*|tpot|itl))"
    r"(?: (?:speed|rate|throughput|time|latency|phase))?(?: ?\([^()]*\))? ?[:=] ?\W{0,2}$"
)
"""The phase as the label of a figure: "decode: 200 tok/s, prefill: 9,000 tok/s"."""
_LABEL_LENGTH: Final = 40
_RATE: Final = Form(r"tok\w*(?: ?/ ?| per | a )s|\bt/s|\btps\b|\btg ?\d")


def phase_of(
    text: str, sentence: Sentence, clause: Clause, effect: Effect, around: Places
) -> tuple[Phase, int]:
    """The phase by the nearest words that say one, and how far away they stand."""
    if effect.is_prefill:
        return Phase.PREFILL, 0
    if _AFTER_FIRST.search(text, clause.start, effect.start) is not None:
        return Phase.DECODE, 0
    label = _LABEL.search(text, max(0, effect.start - _LABEL_LENGTH), effect.start)
    if label is not None and effect.tpot_ms is not None:
        return (Phase.PREFILL if label["prefill"] else Phase.DECODE), 0
    logged = _logged(text, sentence, effect)
    if logged is not None:
        return logged, 0
    is_rate = _RATE.search(text, effect.start, effect.end + 8) is not None
    test = _test_of(text, clause, effect) if is_rate else None
    if test is not None:
        return test, 0
    if is_rate:
        around = _without_lengths(text, sentence, clause, around)
    if effect.kind is Kind.BOUND:
        if READS_DOCUMENT.search(text, clause.start, effect.start) is not None:
            return Phase.PREFILL, 0
        phases = [tag for tag in clause.tags if tag.name in _PHASES]
        nearest = [tag for tag in phases if tag.start < effect.start][-1:] or [
            tag for tag in phases if tag.start >= effect.end
        ]
        if nearest:
            return _named_phase(frozenset({nearest[0].name})), 0
    if effect.kind in {Kind.GAIN, Kind.LOSS} and _is_of_prompt(text, clause, effect):
        return Phase.PREFILL, 0
    places = [
        (_uncontrasted(text, clause, effect, around.clause), 0),
        *((place, 0) for place in _beside_aside(text, sentence, clause)),
        (around.sentence, 1),
        *((place, 2) for place in reversed(around.before)),
        *((place, 4) for place in around.labels),
    ]
    of_tokens = effect.tpot_ms is not None and not any(
        "TRAINING" in place for place in around.labels
    )
    for place, reach in places:
        known = _named_phase(place)
        if known is Phase.TRAINING and reach >= _ELSEWHERE and of_tokens:
            continue  # "fine-tune with masks", a step of the plan before the rate that it leads to
        if known is not Phase.UNKNOWN:
            return known, reach
    for place, reach in places:
        if "TOKENS" in place:
            of_length = reach <= 1 and _are_lengths(text, sentence if reach else clause)
            if not of_length:
                return Phase.DECODE, reach
    return Phase.UNKNOWN, 0


_TEST: Final = Form(
    r"\b(?:(?P<prefill>pp(?:[-_ ]?\d{2,5}|(?![-=_]?\w)))|(?P<decode>tg(?:[-_ ]?\d{1,4}"
    r"|(?![-=_]?\w))))(?! (?:\d|degrees?|stages?|size|ranks?|groups?))\b"
)
"""A test as benchmarks of llama.cpp name it: "PP-512", "tg128", "PP speed"."""


def _test_of(text: str, clause: Clause, effect: Effect) -> Phase | None:
    """The phase of the test that a rate in a clause is of: "18 t/s TG", else the last before it."""
    told = list(_TEST.finditer(text, clause.start, clause.end))
    after = next((match for match in told if match.start() >= effect.start), None)
    if after is not None and _NEXT_TO.fullmatch(text, effect.end, after.start()) is not None:
        return _of_test(after)
    before = [match for match in told if match.end() <= effect.start]
    named = before[-1] if before else after
    return None if named is None else _of_test(named)


_NEXT_TO: Final = Form(r"\s?(?:(?:tok\w*|t)/s(?:ec)?|tps)? ?(?:(?:for|in|on|at|of|with|during) )?")


def _of_test(match: re.Match[str]) -> Phase:
    return Phase.PREFILL if match["prefill"] else Phase.DECODE


_EVAL: Final = Form(r"\b(?P<prompt>prompt )?eval(?:uation)? (?:time|rate|duration|speed)\b")
_LOG_LINE: Final = Form(r"\beval time ?= ?\d[\d.]* ?ms ?/ ?\d+ (?:tokens|runs)\b")
"""What llama.cpp prints of a phase that is over."""
_LINE: Final = 160
"""Characters of a line that llama.cpp prints of a phase."""


def _logged(text: str, sentence: Sentence, effect: Effect) -> Phase | None:
    """The phase of the log line that a figure stands in: "prompt eval time = 9 ms / 8 tokens"."""
    if effect.tpot_ms is None:
        return None
    told = list(_EVAL.finditer(text, max(sentence.start, effect.start - _LINE), effect.start))
    if not told:
        return None
    return Phase.PREFILL if told[-1]["prompt"] else Phase.DECODE


_AFTER_FIRST: Final = Form(
    r"\b(?:once|after|when|as soon as) the first (?:token|word|one)\b[^,;.]{0,32}, "
    r"|\b(?:the )?rest of (?:the |each |every |its |an? )?(?:answer|reply|response|output|text"
    r"|completion)\b(?![^,;.]{0,24}\bfirst)"
)
"""Before what is told of the tokens that come then."""
_LENGTH_BEFORE: Final = Form(r"(?:\d ?k|\d,?\d{3})[- ]$")


def _are_lengths(text: str, part: Sentence | Clause) -> bool:
    """Whether tokens only tell how long something is: "trims the intake of 12k-token briefs"."""
    return all(
        text[tag.start : tag.end].lower() == "token"
        and _LENGTH_BEFORE.search(text, max(0, tag.start - 6), tag.start) is not None
        for tag in part.tags
        if tag.name == "TOKENS"
    )


def _beside_aside(text: str, sentence: Sentence, clause: Clause) -> list[Names]:
    """Kinds of terms in the clause that figures in parentheses stand behind."""
    if clause.opener != "(":
        return []
    before = [other for other in sentence.clauses if other.end <= clause.start]
    return [ideas_of(text, before[-1].tags)] if before else []


_ELSEWHERE: Final = 2
"""Reach of what another sentence, or item, says."""


def _without_lengths(text: str, sentence: Sentence, clause: Clause, around: Places) -> Places:
    """Kinds of terms beside a rate, where a prompt only tells how long the context is."""
    lengths = {tag for tag in sentence.tags if tag.name == "PREFILL" and is_length(text, tag.start)}
    if not lengths:
        return around
    own = [tag for tag in (*clause.subject, *clause.tags) if tag not in lengths]
    whole = [tag for tag in sentence.tags if tag not in lengths]
    return around._replace(clause=ideas_of(text, own), sentence=ideas_of(text, whole))


def _named_phase(place: Names) -> Phase:
    """The phase that the terms in one place come to."""
    if "TRAINING" in place and "DECODE" not in place:
        return Phase.TRAINING
    if "OTHER_MODEL" in place:
        return Phase.OTHER
    if "PREFILL" in place and "DECODE" not in place:
        return Phase.PREFILL
    if not place.isdisjoint({"DECODE", "SINGLE"}):
        return Phase.DECODE
    return Phase.UNKNOWN


def _uncontrasted(text: str, clause: Clause, effect: Effect, own: Names) -> Names:
    """Kinds of terms in a clause, without what it contrasts itself with."""
    match = _CONTRAST.search(text, effect.end, clause.end)
    if match is None:
        return own
    return own & ideas_of(text, [tag for tag in clause.tags if tag.start < match.start()])


def _is_of_prompt(text: str, clause: Clause, effect: Effect) -> bool:
    """Whether the prompt gets faster, and decode, told of after it, has no part in that."""
    phases = [tag for tag in clause.tags if tag.name in {"PREFILL", "DECODE", "SINGLE"}]
    before = {tag.name for tag in phases if tag.start < effect.start}
    after = [tag for tag in phases if tag.start >= effect.end]
    if before != {"PREFILL"} or not after:
        return False
    between = text[effect.end : after[0].start]
    if "," in between or " and " not in between:
        return True
    # "speeds up prefill and decode" is of both, "... and leaves decode as before" is not
    return _AS_IT_IS.search(text, after[0].end, clause.end) is not None


def is_aggregate(clause: Clause, effect: Effect, cell: Names | None) -> bool:
    """Whether a clause counts the tokens of all users.

    `cell`: of a cell, the kinds of terms in its row and column, which tell instead of its words.
    """
    if effect.is_aggregate:
        return True
    if cell is not None:
        return "AGGREGATE" in cell and "SINGLE" not in cell
    return _nearest(clause, effect, ("AGGREGATE", "SINGLE")) == "AGGREGATE"


def is_single(
    clause: Clause,
    effect: Effect,
    sentences: Sequence[Names],
    labels: Sequence[Names],
    batch: int | None,
    batch_of_cell: int | None = None,
) -> bool:
    """Whether the tokens of one user are meant, by the nearest words that say it.

    `sentences` are those before the own one and it; `batch` is what the document states, and
    `batch_of_cell` what the column of a cell does.
    """
    if effect.is_single:
        return True
    if batch_of_cell is not None and batch_of_cell > 1:
        return False
    nearest = _nearest(clause, effect, ("AGGREGATE", "SINGLE"))
    if nearest is not None:
        return nearest == "SINGLE"
    for place in reversed(sentences):
        if "SINGLE" in place:
            return True
        if "LARGE_BATCH" in place:
            return False
    return any("SINGLE" in place for place in labels) or batch == 1


def _nearest(clause: Clause, effect: Effect, kinds: Sequence[str]) -> str | None:
    """Which of some kinds of terms stands nearest to an effect in its clause."""
    start = min(effect.start, effect.start if effect.metric is None else effect.metric)
    found = [
        (max(tag.start - effect.end, start - tag.end, 0), tag.name)
        for tag in clause.tags
        if tag.name in kinds
    ]
    return min(found)[1] if found else None


OUTCOME: Final = Form(
    r"(?:[\w-]+ )?(?:gain|result|effect|speed|speed-?up|target|goal|outcome|tpot|itl|latency|decode"
    r"|tok\S*|forecast|projected|projection|estimate|plan|promise|expect\w*|after|new|then"
    r"|value|benefits?|impact|pay-?off|upshot|advantage|improvement|reward|rationale|motivation"
    r"|remedy|fix|consequence|time per token)\b[^:.]{0,60}: ",
)
"""An item that tells what comes of those above it."""
_POINTING: Final = words(
    "this that these those it they that's thats such same so therefore thus hence both accordingly"
    " we"
    " you i our your his her their user users each every one everyone everybody all expect"
    " expected target goal result then outcome effect"
)
_THE_LEVER: Final = Form(
    r"\b(?:the|this|that|these|those) (?:2:4 |sparse |zero |head )?(?:pattern|masks?|gates?|zeros"
    r"|sparsity|pruning)\b"
)
"""A lever that is known by its article."""
_WITH_THEM_GONE: Final = Form(
    r"^\W*with (?:[\w%-]+ ){1,8}?(?:gone|zeroed|nulled|masked|removed|out of (?:play|the way))(?=,"
    r"| )"
)
"""What was done before, as the condition that a sentence opens with."""
_SAME_AMOUNT: Final = Form(r"\b(?:the (?:whole|full|entire|same)|all of the|that) \d[\d.]* ?[x×%]")
"""An amount that was told before: "picks up the whole 1.5x"."""
_POINTING_TAIL: Final = Form(
    r"\b(?:for (?:it|that|this)|because of (?:it|this|that)|as a (?:result|consequence|reward)"
    r"|in (?:return|exchange|consequence)|thanks to (?:it|this|that)|from (?:it|this|then on)"
    r"|through (?:it|this|that)|with (?:it|this|that)|that way|thereby)\W*(?:$|, (?:at|with|for) )"
)


def is_linked(text: str, sentence: Sentence, clause: Clause) -> bool:
    """Whether a clause points back at what was said before its sentence, or states a target."""
    if clause.opener in CONCLUDING:
        return True
    if OUTCOME.match(text, sentence.start) is not None:
        return True
    opening = [w.folded for w in sentence.words if w.start >= clause.start][:6]
    if not _POINTING.isdisjoint(opening):
        return True
    if not sentence.names.isdisjoint({"DENSE", "MASK"}):
        return True
    if _THE_LEVER.search(sentence.text) or _WITH_THEM_GONE.match(sentence.text):
        return True
    if any(w.folded in {"former", "latter"} for w in sentence.words if w.start < clause.end):
        return True
    if clause.opener == ":" and "HOPED" in sentence.names:
        return True
    if _POINTING_TAIL.search(text, clause.start, clause.end) is not None:
        return True
    if _SAME_AMOUNT.search(text, clause.start, clause.end) is not None:
        return True
    return not {"HOPED", "TRANSFER"}.isdisjoint(tag.name for tag in clause.tags)


_PURPOSE: Final = Form(r"\W*(?:in order )?to (?:[\w-]+ )?$|\W*to$")
_SHOWS: Final = Form(
    r"\b(?:shows?|says?|means?|prov(?:es?|ing)|impl(?:y|ies)|indicates?|tells|suggests?|confirms?"
    r"|demonstrates?)\b"
)


def is_concluded(text: str, clause: Clause, effect: Effect) -> bool:
    """Whether a limit is what a figure is said to show: an opinion, and no observation."""
    if effect.kind is not Kind.BOUND:
        return False
    return _SHOWS.search(text, clause.start, effect.start) is not None


_DEMANDED: Final = Form(
    r"\b(?:acceptance|target|goal|slo|requirement|objective|criterion)s?(?: \w+)?:"
    r"|\bmeasured (?:from|as|over|between) (?:the|each|all)\b"
)
"""A figure that is asked for, and how it is to be measured."""


_HOLDS: Final = Form(
    r"\b(?:holds?|carr(?:y|ies)|appl(?:y|ies)|stays?|survives?|remains?|persists?|continues?"
    r"|transfers?|is|keeps?|will|gives?|yields?|does|do|gets?|sees?|brings?|still)\b[^.;:]{0,24}?$"
)
"""A present verb at the end of what carries a figure over: the past before it is of its origin."""


_BY_FIGURES: Final = Form(
    r"\b(?:based on|according to|judging (?:by|from)|going by|from) (?:the|my|our|these|those|your"
    r"|his"
    r"|her|their) (?:[\w/-]+ ){0,5}?(?:figures|numbers|results|measurements|testing|tests"
    r"|benchmarks?|runs|timings)\b"
)
"""What a comparison rests on: figures that somebody took."""


def is_observed(
    text: str, sentence: Sentence, clause: Clause, effect: Effect, around: Places
) -> bool:
    """Whether a clause tells what was measured, or what has happened, and nothing hoped for."""
    if "HOPED" in around.clause or is_concluded(text, clause, effect):
        return False
    if _DEMANDED.search(text, sentence.start, clause.end) is not None:
        return False
    if "MEASURED" in around.clause or _LOG_LINE.search(sentence.text) is not None:
        return True
    if _BY_FIGURES.search(text, sentence.start, effect.start) is not None:
        return True
    if clause.opener == ":" and "MEASURED" in around.sentence and effect.kind is not Kind.BOUND:
        return "HOPED" not in around.sentence  # "benchmark target: +40%"
    if clause.opener == "(" and "MEASURED" in around.sentence and "HOPED" not in around.sentence:
        return True  # "we saw 10.1 ms (99 tok/s)"
    if "TRANSFER" in around.clause:
        return False
    if effect.kind is Kind.CARRIED and _HOLDS.search(text, effect.start, effect.end):
        return False  # "the 2x that it brought a lone user still holds at batch 256"
    # "to speed up chats we raised the batch" tells what is hoped for
    has_happened = is_past(sentence, clause) or goes_on_past(sentence, clause)
    return has_happened and _PURPOSE.match(text, sentence.start, effect.start) is None


def apart_from_prompts(text: str, sentence: Sentence, clause: Clause, around: Places) -> Names:
    """Kinds of terms in the sentence, without a later clause that is about the prompt."""
    other = [
        later
        for later in sentence.clauses
        if later.start > clause.start and any(tag.name == "PREFILL" for tag in later.tags)
    ]
    if not other or "DECODE" not in around.clause:
        return around.sentence
    apart = min(later.start for later in other)
    return ideas_of(text, [tag for tag in sentence.tags if tag.start < apart])
