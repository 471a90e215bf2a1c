"""Does the text assert it? Denied, asked, supposed, quoted, refuted and rejected words are not.

After NegEx: a negation governs what follows it in its clause, up to a bounded number of words;
pseudo-negations ("not only") do not negate; a refuting move in the same or the next two sentences
takes back what was said; a heading or column can mark a whole list as rejected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from advisor.prose.blocks import Block, BlockKind
from advisor.prose.model import Status
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.tagging import Word


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FAR: Final = _set(
    "not cannot never nor neither nothing doesn't don't won't can't isn't aren't didn't wouldn't"
    " shouldn't couldn't wasn't weren't hasn't haven't doubtful unlikely impossible fails failed"
    " unable rarely nobody none hardly barely scarcely little"
)
"""They deny what follows within this many words."""
_SENTENCE_ADVERBS: Final = _set("doubtful unlikely impossible")
_EXPECTATIONS: Final = _set("expect believe think assume see hope")
_FAR_REACH: Final = 10
_NEAR_NEGATIONS: Final = _set("no without")
_BETWEEN: Final = _set(
    "any real measurable noticeable further a such significant more much actual single-user decode"
    " corresponding additional extra big large visible apparent substantial"
)
_NEAR_REACH: Final = 3
_PSEUDO_AFTER: Final = _set("only just need require matter touch merely necessarily to")
_TURNS: Final = _set("but yet instead although so because")
_LABEL_WORDS: Final = 6
_HEDGES: Final = _set(
    "may might perhaps possibly maybe could looks seems appears seem appear sometimes"
)
_SUPPOSED: Final = re.compile(
    r"\b(?:imagine|suppose|supposing|assume that|hypothetically|if (?:[\w-]+ ){0,6}?(?:were|had)\b"
    r"|were (?:the|it|they|we)|(?:one|you|we|people) (?:would|might|could) (?:think|expect|assume"
    r"|hope|conclude|guess)|it (?:is|would be|seems) tempting|naively|at first (?:sight|glance)"
    r"|if decode|as if|would have|(?:is|was|be|be a) (?:wrong|mistake|naive|incorrect|tempting"
    r"|unrealistic)(?: \w+)? to)\b",
    re.IGNORECASE,
)
_ATTRIBUTED: Final = re.compile(
    r"\b(?:(?:some|many|most|other)?\s?(?:people|teams|papers?|posts?|blogs?|vendors?|slides?"
    r"|articles?|marketing|colleagues?)(?: \w+){0,2} (?:say|says|said|claim|claims|claimed|think"
    r"|thinks|believe|believes|argue|argues|advertise|advertises|suggest|suggests|assume|assumes)"
    r"|(?:sample|example|proposal|ticket|issue|author|authors|paper|post|slide|plan|claim|idea"
    r"|myth|reviewer|he|she|they|somebody|someone|people) (?:tells? (?:me|us)|told (?:me|us)"
    r"|proposes?|proposed|claims?|claimed|says?"
    r"|said|promises|promised|suggests?|argues?|states?|stated|expects|hopes)"
    r"|claim(?:s|ed)? that|the (?:idea|claim|notion|belief|argument|hope|myth|assumption) (?:that"
    r"|is|was)"
    r"|(?:myth|misconception|fallacy|mistake)\b|used to (?:be|think|believe|say|call|cost)"
    r"|is (?:often"
    r"|sometimes|frequently) (?:said|claimed|assumed)"
    r"|(?:conclude|concluded|assumed|believed|thought) that)",
    re.IGNORECASE,
)
_REFUTES: Final = re.compile(
    r"[\s\"'“(\[]*(?:wrong|no[,.;:! ]|nope|false|not (?:so|really|quite|true|at|with|on|for|in"
    r"|unless)|never|incorrect|untrue|nonsense"
    r"|(?:this|that|it|they|these|both|neither)(?:'s|’s| is| are| was| does| do| did| will| would"
    r"| has| holds?)? (?:wrong|false|not|n't|a myth|mistaken|a mistake|incorrect|untrue"
    r"|backwards?|only (?:true|holds|if|for|when))"
    r"|(?:it|this|that|they) (?:doesn't|don't|does not|do not|didn't|did not|won't|will not|isn't"
    r"|is not|aren't|cannot|can't)|neither"
    r"|in (?:reality|practice|fact)|however|but|unfortunately|sadly|except|yet|actually|edit"
    r"|update|correction"
    r"|the catch|on current|measured|reality|in truth|nothing of|we measured|the (?:truth|error"
    r"|mistake|flaw|problem) )",
    re.IGNORECASE,
)
_DEPENDS: Final = re.compile(
    r"\b(?:depends? on|depending on|whether(?! or not\b)|provided|as long as|unless|ceiling"
    r"|upper bound|at "
    r"best|at most|cannot exceed|no more than|only (?:if|when|once"
    r"|where|after|with|at|for|in|on|because the baseline))\b",
    re.IGNORECASE,
)
_COLLECTIVE: Final = re.compile(
    r"\b(?:none of (?:these|this|them|it|that|which)|neither (?:of|one)|nothing of (?:this"
    r"|that))\b",
    re.IGNORECASE,
)
_UNCHANGED: Final = re.compile(
    r"\b(?:unchanged|stays? (?:the same|as (?:it|they) (?:is|was|are|were)|put|flat|constant)"
    r"|stayed (?:the same|as|flat|constant)|remains? (?:the same|constant|flat)"
    r"|(?:brings?|gains?|buys?|does|do|gives?|yields?|adds?|changes?|wins?) (?:\w+ )?(?:nothing"
    r"|little|almost nothing|no (?:gain|speedup|benefit))"
    r"|(?:is|are|be) (?:useless|pointless|irrelevant|no help|of no (?:use|help))|no (?:gain"
    r"|benefit|speedup|effect|difference|improvement)|same (?:speed|time|latency|rate)"
    r"|(?:leaves?|leaving|left) [^.;:]{3,40}? (?:as (?:it|they)|where (?:it|they)|unchanged|alone)"
    r"|(?:speed-?ups?|gains?|benefits?|advantage|improvement|effect) (?:\w+ ){0,2}?(?:vanish\w*"
    r"|disappear\w*|evaporat\w*|fad(?:es?|ed|ing)|melts?|erod\w+|goes away|falls away|shrinks"
    r"|is (?:gone|lost|eaten)))\b",
    re.IGNORECASE,
)
_REFUTING_TAIL: Final = re.compile(
    r"\b(?:is|are|was|were) (?:wrong|false|a myth|mistaken|incorrect|a misconception|nonsense|a "
    r"mistake|not true|backwards?)\b",
    re.IGNORECASE,
)
_REJECTING: Final = re.compile(
    r"\b(?:myths?|misconceptions?|rejected|rejections?|fallac(?:y|ies)|pitfalls?|wrong|mistakes?"
    r"|debunk\w*"
    r"|anti-?patterns?|(?:does|do|did|will|would|is|are|was|were|can)(?: ?n['o’]t| not) (?:\w+ "
    r")?(?:work|works|help|pay|matter|worth|enough|true|count|do)|won['’]?t (?:work|help|pay)"
    r"|no-ops?|useless|not worth|why not|why (?:\w+ ){1,6}(?:does|do|is|are|will|would|did) "
    r"?n[o'’]t"
    r"|discarded|abandoned|dismissed|wrong\w*|false\w*|incorrect\w*|what (?:not|does not"
    r"|doesn'?t)|traps?|errors?|flag(?:s|ged)?|example of bad|bad (?:ideas?|claims?|examples?)"
    r"|claim versus|near miss|overclaims?|non-?levers?)\b",
    re.IGNORECASE,
)
_CLAIMED_COLUMN: Final = re.compile(
    r"\b(?:claim(?:s|ed)?|said|promised|myth|statement|expected by|vendor|hope|hoped|marketing"
    r"|wrong claim|idea|proposal|belief)\b",
    re.IGNORECASE,
)
_FOUND_COLUMN: Final = re.compile(
    r"\b(?:found|verdict|measured|reality|actual(?:ly)?|result|fact|truth|why not|observed"
    r"|comment|true|refut\w+|instead|correct\w*|right|status|decision|outcome)\b",
    re.IGNORECASE,
)
_TOLD_COLUMN: Final = re.compile(
    r"\b(?:measured|observed|possible|ceiling|limit|upper bound|at most)\b", re.IGNORECASE
)
"""Columns of what was found or is allowed, beside what is claimed."""
_FALSE_CELL: Final = re.compile(
    r"\s*(?:false|no\b|wrong|myth|rejected|not |0 ?%|none|incorrect|untrue|impossible|✗|✘|❌"
    r"|dropped|declined)",
    re.IGNORECASE,
)
_QUOTES: Final = {'"': '"', "“": "”", "«": "»", "„": "“"}
_PAST: Final = _set(
    "raised rose cut went came fell dropped improved doubled doubling-d tripled halved got took"
    " sped brought gave reduced increased ran gained jumped was were helped made reached saved"
    " expected hoped planned-x wanted thought bought turned grew changed moved shrank "
    "accelerated lowered became"
)


def status_of(
    block: Block, sentences: Sequence[Sentence], index: int, clause: Clause, at: int
) -> Status:
    """How what stands at `at` (the effect's first character) is meant."""
    sentence = sentences[index]
    text = block.text
    if any(start <= at < end for start, end in block.body.apart):
        return Status.REJECTED
    if sentence.is_question:
        return Status.ASKED
    if block.quoted or _in_quotes(text, sentence, at):
        return Status.QUOTED
    if _is_rejected(block) or _is_run_in(sentences, index):
        return Status.REJECTED
    if block.kind is BlockKind.CELL and _TOLD_COLUMN.search(block.column):
        return Status.MEASURED
    if is_negated(sentence.words, clause, at):
        return Status.DENIED
    if _UNCHANGED.search(text, clause.start, clause.end):
        return Status.DENIED
    if _COLLECTIVE.search(text, at, sentence.end):
        return Status.DENIED
    head = text[sentence.start : clause.end]
    if _SUPPOSED.search(head):
        return Status.SUPPOSED
    if _ATTRIBUTED.search(head) or _REFUTING_TAIL.search(text[sentence.start : sentence.end]):
        return Status.QUOTED
    if _is_taken_back(text, sentences, index, clause):
        return Status.REFUTED
    before = [w.folded for w in sentence.words if clause.start <= w.start < at][-8:]
    if not _HEDGES.isdisjoint(before) or _DEPENDS.search(text, clause.start, clause.end):
        return Status.HEDGED
    return Status.ASSERTED


def is_negated(words: Sequence[Word], clause: Clause, at: int) -> bool:
    """Whether a negation of the clause governs the word at `at`."""
    inside = [word.folded for word in words if clause.start <= word.start < at]
    for distance, word in enumerate(reversed(inside)):
        if distance > _FAR_REACH and word not in _SENTENCE_ADVERBS:
            expects = word in _FAR or word.endswith(("n't", "n’t"))
            after = inside[len(inside) - distance] if distance else ""
            if expects and after in _EXPECTATIONS and distance <= 2 * _FAR_REACH:
                return True
            if distance > 2 * _FAR_REACH:
                return False
            continue
        follows = inside[-distance] if distance else ""
        if word in _NEAR_NEGATIONS and distance < _NEAR_REACH:
            between = inside[len(inside) - distance :]
            if all(other in _BETWEEN for other in between):
                return True
            continue
        if word in _FAR or word.endswith(("n't", "n’t")):
            return follows not in _PSEUDO_AFTER
        if word in _TURNS and distance > 0:
            return False
    return False


def _in_quotes(text: str, sentence: Sentence, at: int) -> bool:
    """Whether a quotation of the sentence holds the place."""
    for opening, closing in _QUOTES.items():
        begin = text.rfind(opening, sentence.start, at + 1)
        if begin < 0:
            continue
        if opening == closing and text.count(opening, sentence.start, at + 1) % 2 == 0:
            continue
        end = text.find(closing, max(begin + 1, at), sentence.end)
        if end >= 0:
            return True
    return False


def _is_rejected(block: Block) -> bool:
    """Whether a heading, lead-in or column marks what stands here as wrong."""
    marks = [*block.headings[-2:]]
    if block.kind in {BlockKind.ITEM, BlockKind.CELL}:
        marks.append(block.lead_in)
    if block.kind is BlockKind.CELL:
        marks.append(block.column)
        others = [cell for cell in block.cells if cell != block.text]
        if any(_FALSE_CELL.match(cell) for cell in others):
            return True
        if _CLAIMED_COLUMN.search(block.column) and any(
            _FOUND_COLUMN.search(column) for column in block.columns if column != block.column
        ):
            return True
    return any(_REJECTING.search(mark) for mark in marks if mark)


def _is_run_in(sentences: Sequence[Sentence], index: int) -> bool:
    """Whether a run-in heading ("What will not help.") marks the block as wrong."""
    first = sentences[0]
    return index > 0 and len(first.words) <= _LABEL_WORDS and bool(_REJECTING.search(first.text))


def _is_taken_back(text: str, sentences: Sequence[Sentence], index: int, clause: Clause) -> bool:
    """Whether a later clause or one of the next two sentences refutes it."""
    sentence = sentences[index]
    for other in sentence.clauses:
        if other.start > clause.start and other.opener in {"but", "yet", "although", "though"}:
            return True
    tail = text[clause.end : sentence.end]
    if re.match(r"[,;:–— ]*(?:wrong|false|no\b|not true|but |yet |however)", tail, re.IGNORECASE):
        return True
    for later in sentences[index + 1 : index + 3]:
        if _REFUTES.match(text, later.start):
            return True
        if later.is_question:
            break
    before = sentences[index - 1] if index else None
    return before is not None and bool(_REFUTING_TAIL.search(before.text))


def is_past(sentence: Sentence, clause: Clause) -> bool:
    """Whether the clause tells what happened."""
    previous = ""
    for word in sentence.words:
        if clause.start <= word.start < clause.end:
            told = word.folded in _PAST and previous not in _INFINITIVE
            if told and not (word.folded in _BEING and previous in _COMPARED):
                return True
            previous = word.folded
    return False


_BEING: Final = _set("was were")
_COMPARED: Final = _set("it they that what than as where")
"""After these "was" names a state to compare with: "a fraction of what it was"."""
_INFINITIVE: Final = _set(
    "to will would should can could must may might not and or then is are be being get gets almost"
    " nearly roughly a an the about if once when as what than"
)
"""Words after which a form of the past is an infinitive, a present passive or an adjective."""
