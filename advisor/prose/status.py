"""Does the text assert it? Denied, asked, supposed, quoted, refuted and rejected words are not.

After NegEx: a negation governs what follows it in its clause, up to a bounded number of words;
pseudo-negations ("not only") do not negate; a refuting move in the same or the next two sentences
takes back what was said; a heading or column can mark a whole list as rejected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from advisor.forms import Form
from advisor.prose.bench_tables import is_logged
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.matrix import embedding, is_certain, is_conditional
from advisor.prose.model import Status
from advisor.prose.other_matters import is_another_matter
from advisor.prose.refusals import REJECTING, is_dropped, is_rejected
from advisor.prose.rows import is_put_to_test
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.status_forms import (
    A_SLIP,
    ACTED_ON,
    ASIDES,
    ATTRIBUTED,
    BETWEEN,
    BY_A_RULE,
    CITED,
    COLLECTIVE,
    DEPENDS,
    ELSEWHERE,
    EVIDENCE,
    EXAMPLE,
    EXPECTATIONS,
    FAR,
    FAR_REACH,
    FIELD,
    HEDGES,
    HYPOTHESIS,
    IDENTIFIER,
    LABEL_WORDS,
    NEAR_NEGATIONS,
    NEAR_REACH,
    NO_BEARING,
    NOBODY_WAITS,
    NOTHING_NEXT,
    OUT_OF_REACH,
    PAST,
    PSEUDO_AFTER,
    QUOTES,
    REFUTES,
    REFUTING_CLAUSE,
    REFUTING_TAIL,
    SENTENCE_ADVERBS,
    STANDS_BY,
    SUPPOSED,
    TOLD_COLUMN,
    TURNS,
    UNCHANGED,
)
from advisor.prose.tagging import Word
from advisor.prose.voices import is_adoption
from advisor.quantity.lexing import words


def _is_named(text: str, at: int, start: int) -> bool:
    """Whether what stands there is part of a title that is cited, or of an identifier."""
    if CITED.search(text, max(0, start - _AUTHORS), at + 1) is not None:
        return True
    begin = at
    while begin > start and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    word = IDENTIFIER.match(text, begin)
    return word is not None and word.end() > at


_AUTHORS: Final = 48
"""Characters of authors before a title."""


def status_of(
    block: Block,
    sentences: Sequence[Sentence],
    index: int,
    clause: Clause,
    at: int,
    *,
    of_speed: bool = True,
) -> Status:
    """How what stands at `at` (the effect's first character) is meant.

    A change `of_speed` is denied by words that say that speed stays as it is.
    """
    sentence = sentences[index]
    text = block.text
    if any(start <= at < end for start, end in block.body.apart):
        return Status.REJECTED
    if sentence.is_question:
        return Status.ASKED
    if block.quoted or _in_quotes(text, at):
        after = sentences[index + 1].text if index + 1 < len(sentences) else ""
        if block.quoted or not is_adoption(after):
            return Status.QUOTED
    if is_rejected(block) or _is_run_in(sentences, index):
        return Status.REJECTED
    if _is_hypothesis(block, sentences, index):
        return Status.SUPPOSED
    if BY_A_RULE.match(text, sentence.start) or EXAMPLE.search(text, clause.start, at):
        return Status.QUOTED
    if FIELD.match(text, sentence.start) or _is_named(text, at, clause.start):
        return Status.QUOTED
    if NOBODY_WAITS.search(text, clause.start, clause.end) or ELSEWHERE.search(
        text, at, clause.end
    ):
        return Status.DENIED
    if of_speed and NO_BEARING.search(text, clause.start, clause.end) is not None:
        return Status.DENIED
    if A_SLIP.match(text, at, clause.end):
        return Status.REFUTED
    foreseen = index > 0 and _FORESEEN.search(text, clause.start, clause.end) is not None
    if (EVIDENCE.match(text) and not foreseen) or EVIDENCE.match(text, sentence.start):
        return Status.MEASURED
    if NOTHING_NEXT.match(text, clause.end):
        return Status.DENIED
    if is_dropped(sentence.text):
        return Status.REJECTED
    if (block.kind is BlockKind.CELL and TOLD_COLUMN.search(block.column)) or is_logged(block):
        return Status.MEASURED
    if block.kind is BlockKind.CELL and is_put_to_test(block):
        return Status.QUOTED
    following = sentences[index + 1].text if index + 1 < len(sentences) else ""
    earlier = sentences[index - 1].text if index else ""
    embedded = embedding(text, sentence.start, at, sentence.end, after=following, earlier=earlier)
    if embedded is not None:
        return embedded
    start, end = part_of(text, clause, at)
    certain = is_certain(text[sentence.start : at])
    if not certain and is_negated(sentence.words, clause, at, _main_from(text, start, at)):
        return Status.DENIED
    if of_speed and _unchanged(text, start, end):
        return Status.DENIED
    if OUT_OF_REACH.search(text, clause.start, sentence.end):
        return Status.DENIED
    if COLLECTIVE.search(text, at, sentence.end):
        return Status.DENIED
    head = text[sentence.start : clause.end]
    if not certain and SUPPOSED.search(head):
        return Status.SUPPOSED
    stands = STANDS_BY.search(text, clause.start, sentence.end) or is_adoption(following)
    if (ATTRIBUTED.search(head) and not stands) or REFUTING_TAIL.search(
        text[sentence.start : sentence.end]
    ):
        return Status.QUOTED
    if _is_taken_back(text, sentences, index, clause):
        return Status.REFUTED
    before = [
        w.folded for w in sentence.words
        if clause.start <= w.start < at and not _is_month(text, sentence, w)
        and _ABOUT.match(text, w.end) is None
    ][-8:]  # fmt: skip
    concluded = _CONCLUDED.search(text, clause.start, end) is not None
    conceded = _CONCESSION.match(text, clause.start, at)
    begin = conceded.end() if conceded is not None else clause.start
    other = _OTHER_MATTER.search(text, at, clause.end)
    stop = clause.end if other is None else other.start()
    depends = DEPENDS.search(text, begin, stop)
    if depends is not None and not of_speed and _is_unconditional(text, begin, *depends.span()):
        depends = None
    if (not HEDGES.isdisjoint(before) and not concluded) or depends is not None:
        return Status.HEDGED
    if is_conditional(text, sentence.start, sentence.end):
        return Status.HEDGED
    return Status.ASSERTED


def _is_unconditional(text: str, begin: int, start: int, end: int) -> bool:
    """Whether a condition is denied: "the gain does not depend on load"."""
    return _NOT.search(text, begin, start) is not None and _ON_LOAD.match(text, end) is not None


_NOT: Final = re.compile(r"(?:\bnot|n['’]t) $")
_ON_LOAD: Final = Form(
    r" (?:the |its |our )?(?:\w+ )?(?:load|batch|concurrency|traffic|utili[sz]ation|occupancy"
    r"|number of (?:users|streams|sessions|requests|chats)|context|history|prompt|depth|length"
    r"|how (?:long|deep|many tokens (?:came|went|precede|stand|are cached)))\b"
)
_FORESEEN: Final = Form(r"\b(?:will|would|should|shall|going to)\b")
"""After a block that begins as a report: what follows from it, and was not seen."""
_ABOUT: Final = Form(r" ~?\d[\d.,]*k? (?:tokens|words|users|chats|turns|messages|gb)\b")
"""After "maybe" and its like: an amount that is not sure, and no claim."""


def _is_month(text: str, sentence: Sentence, word: Word) -> bool:
    """Whether it is the May of a calendar."""
    return word.start > sentence.start and text.startswith("May", word.start)


_CONCESSION: Final = Form(
    r"\W*(?:although|though|even though|while|whereas|albeit) [^,;:]{3,160}, "
)
"""An opening that is conceded, whose limits are none of what is then said."""
_OTHER_MATTER: Final = Form(
    r", (?:and )?(?:the|our|its|any) (?:\w+ )?(?:risks?|price|drawbacks?|downsides?|catch"
    r"|questions?"
    r"|concerns?|doubts?) (?:is|are|lies|remains?|concerns?)\b"
)
"""What a clause adds of quality or cost, on which speed does not hang."""
_CONCLUDED: Final = Form(
    r"\b(?:could|may|might) (?:therefore|thus|hence|accordingly|consequently)\b"
    r"|\b(?:may|might) (?:well )?be (?:expected|counted|relied) (?:to|on)\b"
    r"|\b(?:therefore|thus|hence|consequently)[^.;:]{0,60}? (?:could|may|might)\b"
)
"""A possibility that is concluded, and so stood by."""
_AND: Final = Form(
    r" and (?=(?:when|if|where|even if|once|whenever) )|, (?:and (?!(?:not|no|nor|never|neither"
    r"|nothing|so|thus|therefore|hence)\b)"
    r"|(?=(?:the|this|that|it|we|they|each|every|our|he|she|you) ))"
    r"(?:[\w'’/.%-]+ ){1,8}?(?:is|are|will|would|should|can|has|have|gets?|becomes?|runs?|goes"
    r"|comes?"
    r"|drops?|falls?|rises?|grows?|takes?|speeds?|improves?|doubles?|halves|shrinks?|gains?|stays?"
    r"|remains?|leaves?|decodes?|generates?|saves?|costs?|reads?|needs?|arrives?|follows?|drop|fall"
    r"|loses?|wins?|returns?|replies|answers|appears?|sees?|types?|writes?|feels?|carries|applies"
    r"|transfers|translates)\b",
)
"""Where a sentence goes on with another subject and verb."""


def part_of(text: str, clause: Clause, at: int) -> tuple[int, int]:
    """The part of a clause around a place that has a subject and a verb of its own."""
    start, end = clause.start, clause.end
    for match in _AND.finditer(text, clause.start, clause.end):
        if match.start() < at:
            start = match.start()
        else:
            end = match.start()
            break
    return start, end


_REASON: Final = Form(
    r"\W*(?:since|because|as|although|though|given that|now that) [^,;:.]{3,120}, "
)


def _main_from(text: str, start: int, at: int) -> int:
    """Where the main clause begins after a reason that opens it: "Since nobody knows X, Y"."""
    match = _REASON.match(text, start, at)
    return start if match is None else match.end()


def is_negated(said: Sequence[Word], clause: Clause, at: int, start: int) -> bool:
    """Whether a negation of the clause, from `start` on, governs the word at `at`."""
    inside = [word.folded for word in said if max(clause.start, start) <= word.start < at]
    # "No, decode reads weights only": an answer, which negates nothing after it
    answers = {"no"} if len(said) > 1 and said[1].start - said[0].end > 1 else set()
    if inside[:1] != ["no"] or "no" in inside[1:]:
        answers = set()
    for distance, word in enumerate(reversed(inside)):
        if distance > FAR_REACH and word not in SENTENCE_ADVERBS:
            expects = word in FAR or word.endswith(("n't", "n’t"))
            after = inside[len(inside) - distance] if distance else ""
            if expects and after in EXPECTATIONS and distance <= 2 * FAR_REACH:
                return True
            if distance > 2 * FAR_REACH:
                return False
            continue
        follows = inside[-distance] if distance else ""
        if word in NEAR_NEGATIONS and distance < NEAR_REACH and word not in answers:
            between = inside[len(inside) - distance :]
            if all(other in BETWEEN for other in between):
                return True
            continue
        if word in FAR or word.endswith(("n't", "n’t")):
            if _is_aside(inside, len(inside) - 1 - distance):
                continue
            mentioned = follows == "to" and distance > 1 and inside[1 - distance] in ASIDES
            reason = inside[: len(inside) - 1 - distance][-1:] == ["reason"]  # "no reason not to"
            return follows not in PSEUDO_AFTER and not mentioned and not reason
        if word in TURNS and distance > 0:
            return False
    return False


_KEPT: Final = words("changed touched altered modified different tuned added")


def _is_aside(inside: Sequence[str], at: int) -> bool:
    """Whether "nothing" stands in "nothing else changed", which tells how things were compared."""
    if inside[at] not in {"nothing", "none"} or inside[at + 1 : at + 2] != ["else"]:
        return False
    return inside[at + 2 : at + 3] != [] and inside[at + 2] in _KEPT


_QUOTATION: Final = re.compile(
    "|".join(
        rf"(?<![\w{opening}]){opening}(?=\S)[^{opening}{closing}]{{1,800}}{closing}(?!\w)"
        for opening, closing in QUOTES.items()
    )
)


@lru_cache(maxsize=64)
def _quotations(text: str) -> tuple[tuple[int, int], ...]:
    """Where a text quotes, be it words or several sentences."""
    if QUOTES.keys().isdisjoint(text):
        return ()
    return tuple(match.span() for match in _QUOTATION.finditer(text))


def _in_quotes(text: str, at: int) -> bool:
    """Whether a quotation holds the place."""
    return any(start <= at < end for start, end in _quotations(text))


def _is_run_in(sentences: Sequence[Sentence], index: int) -> bool:
    """Whether a run-in heading ("What will not help.") marks the block as wrong."""
    first = sentences[0]
    return index > 0 and len(first.words) <= LABEL_WORDS and bool(REJECTING.search(first.text))


def _is_hypothesis(block: Block, sentences: Sequence[Sentence], index: int) -> bool:
    """Whether a label before a sentence, or the heading above, says that it is to be tested."""
    if ACTED_ON.search(sentences[index].text) is not None:
        return False
    labels = [sentences[index].text, *block.headings[-1:]]
    if index == 1 and len(sentences[0].words) <= LABEL_WORDS:
        labels.append(sentences[0].text)
    return any(HYPOTHESIS.match(label) is not None for label in labels)


_OPPOSED: Final = frozenset({"but", "yet", "although", "though"})
_CONCEDED: Final = Form(
    r"\b(?:still|all|same|unchanged|untouched|as (?:before|it (?:is|was)|they (?:are"
    r"|were)))\b[^.;]{0,40}?"
    r"(?:read|loaded|streamed|fetched|stored|there|dense|size|file|format|layout|bytes)\b"
    r"|\b(?:file|checkpoint|tensors?|weights?)\b[^.;]{0,16}? (?:still|stays?|remains?|keeps?)\b"
    r"|\b(?:size|file|format|layout|checkpoint|bytes|weights?)\b[^.;]{0,24}? (?:unchanged|the same"
    r"|untouched|as before)\b"
)
"""What "although" concedes of the weights, and claims a gain in spite of."""


def _is_taken_back(text: str, sentences: Sequence[Sentence], index: int, clause: Clause) -> bool:
    """Whether a later clause or one of the next two sentences refutes it."""
    sentence = sentences[index]
    for other in sentence.clauses:
        if other.start <= clause.start or other.opener not in _OPPOSED:
            continue
        if other.opener in {"but", "yet"} and is_another_matter(text[other.start : other.end]):
            continue
        if other.opener in {"but", "yet"} or not _CONCEDED.search(text, other.start, other.end):
            return True
    if REFUTING_CLAUSE.match(text, clause.end, sentence.end) is not None:
        return not is_another_matter(text[clause.end : sentence.end])
    for later in sentences[index + 1 : index + 3]:
        if REFUTES.match(text, later.start):
            return _OPPOSING.match(later.text) is None or not is_another_matter(later.text)
        if later.is_question:
            break
    before = sentences[index - 1] if index else None
    return before is not None and bool(REFUTING_TAIL.search(before.text))


_OPPOSING: Final = Form(r"\W*(?:but|yet|however|unfortunately|sadly|except)\b")
"""How a sentence begins that may be about another matter."""
_PLURAL: Final = re.compile(r"[a-z]{3,}[^siu\W]s")
"""A noun in the plural, after which "cut" is no past form."""


_ONCE: Final = Form(r"\W*(?:once|as soon as|provided(?: that)?|if) [^,;:.]{3,120}, ")
"""A condition that opens a sentence: its participles tell no outcome."""


def is_past(sentence: Sentence, clause: Clause) -> bool:
    """Whether the clause tells what happened."""
    opening = _ONCE.match(sentence.text)
    begin = sentence.start + opening.end() if opening is not None else clause.start
    previous, former, first = "", 0, True
    last = next((w for w in reversed(sentence.words) if w.start < clause.end), None)
    for word in sentence.words:
        if max(clause.start, begin) <= word.start < clause.end:
            former = _FORMER_STATES.get(word.folded, former - 1)
            told = word.folded in PAST and previous not in _INFINITIVE
            if word.folded == "cut" and _PLURAL.fullmatch(previous):
                told = False  # "int8 activations cut the latency"
            if word.folded == "moved" and previous in _MOVED:
                told = False
            if told and word is last and word.folded.endswith("ed"):
                continue  # "the multiplications saved": what was saved, no telling
            compared = word.folded in _BEING and previous in _COMPARED and not first
            if told and former <= 0 and not compared:
                return True
            first = not previous  # "That was ...": what begins a clause is its subject
            previous = word.folded
    return False


_VERBS: Final = frozenset(
    {"UP", "DOWN", "FASTER", "SLOWER", "IMPROVED", "HELP", "HOPED", "TRANSFER", "FREE"}
)
_ELLIPTIC: Final = frozenset({":", ";", ",", "(", "–", "—", "-"})
"""Signs after which a clause may do without the verb, which the one before it told."""
_CHANGES: Final = frozenset({"UP", "DOWN", "IMPROVED"})
_OF_SPEED: Final = frozenset({"TIME", "RATE", "PREFILL", "THROUGHPUT", "DECODE"})
_FINITE: Final = Form(
    r"\b(?:is|are|will|would|should|can|could|may|might|must|has|have|had|do|does|makes?|gives?"
    r"|gets?|goes|becomes?|means?|puts?|brings?|takes?|reach(?:es)?|now|then|so|hence|therefore"
    r"|same)\b"
    r"|\b[a-z]{2,}(?:ies|[^s\W]s) (?:to|by|at|over|as|with|along|through)\b"
)


def goes_on_past(sentence: Sentence, clause: Clause) -> bool:
    """Whether a clause without a verb goes on with what was told: "TTFT fell, ITL from 9 to 7"."""
    if clause.opener not in _ELLIPTIC or not _VERBS.isdisjoint(tag.name for tag in clause.tags):
        return False
    text = sentence.text[clause.start - sentence.start : clause.end - sentence.start]
    before = [other for other in sentence.clauses if other.end <= clause.start]
    if not before or _FINITE.search(text) is not None:
        return False
    names = {tag.name for tag in before[-1].tags}
    of_speed = names & {"FASTER", "SLOWER"} or (names & _CHANGES and names & _OF_SPEED)
    return bool(of_speed) and "HOPED" not in names and is_past(sentence, before[-1])


_FORMER_STATES: Final = {"where": 3, "than": 6}
"""Words that tell what was before, from these on: "1 s where it took 4", "than when he was"
" alone"."""
_MOVED: Final = words("data bytes traffic gigabytes")
"""Things before "moved" as a participle: "the data moved per step"."""
_BEING: Final = words("was were")
_COMPARED: Final = words("it they that what than as where")
"""After these "was" names a state to compare with: "a fraction of what it was"."""


def is_void(text: str) -> bool:
    """Whether a point of a list is dropped, or brings nothing by its own words."""
    if is_dropped(text):
        return True
    return any(
        _STORED.search(text, max(0, at - _STORED_REACH), at) is None
        or not text.startswith("unchanged", at)
        for at in _unchanged(text, 0, len(text))
    )


def _unchanged(text: str, start: int, end: int) -> list[int]:
    """Where something is told to stay as it is, other than a file: "unchanged BF16 weights"."""
    return [
        match.start()
        for match in UNCHANGED.finditer(text, start, end)
        if _STORED_NEXT.match(text, match.end()) is None
    ]


_STORED: Final = Form(
    r"\b(?:checkpoint|weights?|files?|layouts?|shapes?|tensors?|formats?|bytes|traffic|bandwidth"
    r"|memory|storage)(?: \w+)? $"
)
"""What does not change where the speed may: "the checkpoint unchanged"."""
_STORED_REACH: Final = 32
_STORED_NEXT: Final = Form(
    r"(?: [\w-]+){0,2}? (?:checkpoint|weights?|files?|layouts?|shapes?|tensors?|formats?)\b"
)
"""The same after it."""


_INFINITIVE: Final = words(
    "to will would should can could must may might not and or then is are be being get gets almost"
    " nearly roughly a an the about if once when as what than from of with by through"
)
"""Words after which a form of the past is an infinitive, a present passive or an adjective."""
