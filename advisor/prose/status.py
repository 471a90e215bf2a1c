"""Does the text assert it? Denied, asked, supposed, quoted, refuted and rejected words are not.

After NegEx: a negation governs what follows it in its clause, up to a bounded number of words;
pseudo-negations ("not only") do not negate; a refuting move in the same or the next two sentences
takes back what was said; a heading or column can mark a whole list as rejected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block, BlockKind
from advisor.prose.matrix import embedding, is_certain, is_conditional
from advisor.prose.model import Status
from advisor.prose.refusals import REJECTING, is_dropped, is_rejected
from advisor.prose.rows import is_put_to_test
from advisor.prose.sentences import Clause, Sentence
from advisor.prose.tagging import Word
from advisor.prose.voices import is_adoption
from advisor.quantity.lexing import words

_FAR: Final = words(
    "not cannot never nor neither nothing doesn't don't won't can't isn't aren't didn't wouldn't"
    " shouldn't couldn't wasn't weren't hasn't haven't doubtful unlikely impossible fails failed"
    " unable rarely nobody none hardly barely scarcely little stop stops stopped cease ceases"
)
"""They deny what follows within this many words."""
_SENTENCE_ADVERBS: Final = words("doubtful unlikely impossible")
_EXPECTATIONS: Final = words("expect believe think assume see hope")
_FAR_REACH: Final = 10
_NEAR_NEGATIONS: Final = words("no without")
_BETWEEN: Final = words(
    "any real measurable noticeable further a such significant more much actual single-user decode"
    " corresponding additional extra big large visible apparent substantial"
)
_NEAR_REACH: Final = 3
_PSEUDO_AFTER: Final = words("only just need require matter touch merely necessarily to least")
_TURNS: Final = words("but yet instead although so because")
_LABEL_WORDS: Final = 6
_HEDGES: Final = words("may might perhaps possibly maybe could looks seems seem sometimes")
_SUPPOSED: Final = Form(
    r"^\W*(?:were|was|had) (?!to\b)[^?]{3,200}?\b(?:would|could|might)\b"
    r"|^\W*should (?!(?:be|give|get|make|bring|yield|reach|take|cut|run|help|double|halve|speed"
    r"|lower|improve|save|now|then|also|easily|still|put|allow|suffice|come|go|drop|fall|rise)\b)"
    r"[^?,]{3,80},"
    r"|\bif [^,;.]{3,120}? (?:is|are|was) to\b|\b(?:will|would|might|may|could) otherwise\b"
    r"|\bif [^,;.]{3,80}? (?:took|spent|dominated|made up|cost|waited"
    r"|read)\b[^,;.]{0,80}, [^.;]{0,80}?"
    r"\bwould\b"
    r"|\b(?:imagine|suppose|supposing|(?<!\bwe )assume that"
    r"|if we assume that|hypothetically"
    r"|(?<!than )if (?:[\w-]+ ){0,6}?(?:were|had|went with|scaled with|depended|mattered"
    r"|followed|tracked|determined)\b"
    r"|were (?:the|it|they|we)|(?:one|you|we|people) (?:would|might|could) (?:think|expect|assume"
    r"|hope|conclude|guess)|it (?:is|would be|seems) tempting|naively|at first (?:sight|glance)"
    r"|if decode|as if|would have|the (?:shorter|faster|quicker|lower|smaller"
    r"|less) [^.;]{3,80}? the better|(?:is|was|be|be a) (?:wrong|mistake|naive|incorrect|tempting"
    r"|unrealistic)(?: \w+)? to)\b",
)
_ATTRIBUTED: Final = Form(
    r"\b(?:(?:some|many|most|other)?\s?(?:people|teams|papers?|posts?|blogs?|vendors?|slides?|brochures?"
    r"|articles?|marketing|colleagues?|customers|buyers|readers|folks|everyone"
    r"|everybody)(?: \w+){0,2} (?:say|says|said|claim|claims|claimed|think"
    r"|thinks|believe|believes|argue|argues|advertise|advertises|suggest|suggests|assume|assumes"
    r"|wrote|writes|promise|promises|announce|announces|announced)"
    r"|(?:sample|example|proposal|ticket|issue|author|authors|paper|post|slide|plan|claim|idea"
    r"|myth|reviewer|he|she|they|somebody|someone|people) (?:tells? (?:me|us)|told (?:me|us)"
    r"|proposes?|proposed|claims?|claimed|says?"
    r"|said|promises|promised|suggests?|argues?|states?|stated|expects|hopes|wrote|writes|posts"
    r"|posted|once \w+)"
    r"|(?:somebody|someone|people|colleagues?|friends?|vendors?|he|she|they|i (?:was|am)|we were"
    r"|i['’]ve been) (?:keeps? (?:telling|saying)|told|tells?|telling)\b"
    r"|(?:somebody|someone|some guy|another (?:user|poster|member)|a (?:user|poster)|op) (?:\w+ )?"
    r"(?:posted|posts|reported|reports|quoted|quotes|shared|mentioned|mentions)\b"
    r"|(?<!\bi )(?<!we )(?<!ich )(?<!this )(?<!that )(?<!\bit )(?:told|assured|promised) (?:me|us"
    r"|him|her|them)\b"
    r"|\bi(?:['’]ve| have)? (?:read|heard|hear|saw|seen)\b|rumou?r|allegedly|supposedly|so-called"
    r"|\b(?:this|that|an?) (?:\w+ )?(?:idea|notion|belief|myth|legend|rumou?r) (?:\w+ ){1,3}?that\b"
    r"|claim(?:s|ed)? that|the (?:idea|claim|notion|belief|argument|hope|myth|assumption"
    r"|sentence|statement|assertion|remark|line|promise|advice|paragraph) (?:that|is|was)"
    r"|(?:this|that|the) (?:\w+ )?(?:idea|notion|belief|claim|assertion|story|line|meme|dogma)"
    r" (?:on|in|around|out|from|among|going|of) (?:\w+ ){1,3}?that\b"
    r"|(?:this|that) \w+ (?:idea|notion|belief|claim|assertion|story|line|meme|dogma) that\b"
    r"|(?:myth|misconception|fallacy|mistake)\b|(?<!there )(?<!where it )used to"
    r" (?:be(?! (?:about |some |at |~ ?)*\d)|think|believe|say|call|cost)"
    r"|is (?:often"
    r"|sometimes|frequently) (?:said|claimed|assumed)"
    r"|(?:anyone|anybody|whoever|everyone|everybody|those|people)(?: who)? (?:quotes?|advertises?"
    r"|promises?|cites?|claims?|says?|writes?|prints?|sells?)"
    r"|\bwe(?:['’]ve| have)? (?:were told|heard|read)\b"
    r"|(?:insists|swears|reckons|believes|thinks|imagines|brags|preaches|swore"
    r"|would have (?:me|us|you) believe)\b|(?:maintains|contends|asserts|boasts|argues) that\b"
    r"|(?<!we )(?<!i )(?:conclude|concluded|assumed|believed|thought|insist|insisted|swear|swore"
    r"|maintained|contended|asserted) that)",
)
_REFUTES: Final = Form(
    r"[\s\"'“(\[]*(?:wrong|no[,.;:!]|no (?!(?:\w+ )?(?:kernels?|runtime|export|idea|clue|need"
    r"|other|further|extra|new|special|custom"
    r"|code|change|retraining|fine-?tuning|calibration|accuracy|quality|perplexity|loss|recompil\w*"
    r"|repacking|conversion|draft|driver|firmware|config\w*|downside|drawback|catch|magic)\b)|nope"
    r"|false|not (?:so|really|quite|true|at|with|on|for|in"
    r"|unless)|never|incorrect|untrue|nonsense"
    r"|(?:this|that|it|they|these|both|neither)(?:'s|’s| is| are| was| does| do| did| will| would"
    r"| has| holds?)? (?:wrong|false|not|n't|a myth|mistaken|a mistake|incorrect|untrue"
    r"|backwards?|only (?:true|holds|if|for|when))"
    r"|(?:it|this|that|they) (?:doesn't|don't|does not|do not|didn't|did not|won't|will not|isn't"
    r"|is not|aren't|cannot|can't)|neither"
    r"|(?:it|they|(?:the |my |our )?(?:tpot|itl|rate|speed|latency|step|time)) (?:stayed|remained"
    r"|is still|are still|was still)\b"
    r"|in (?:reality|practice|fact)|however|but|unfortunately|sadly|except|yet|actually"
    r"|correction|(?:edit|update)\b(?=[^.]{0,160}?(?:(?<![-\w])(?:not|no|never|wrong|mistaken?"
    r"|turn(?:s|ed) out"
    r"|nothing|unchanged|same|was|were|actually|measur\w+|retract\w*|scratch|less|only)(?![-\w])"
    r"|n['’]t\b))"
    r"|(?:he|she|you|they|i|we)(?:['’](?:s|re|m)| is| are| was| were) (?:\w+ )?(?:wrong|mistaken"
    r"|in error|incorrect)"
    r"|refuted\b|disproved|disproven|debunked|falsified|not (?:confirmed|supported)"
    r"|the catch|on current|measured|reality|in truth|nothing of|we measured|the (?:truth|error"
    r"|mistake|flaw|problem) )",
)
_DEPENDS: Final = Form(
    r"\b(?:depends? on|depending on|(?<!matter )whether(?! or not\b)|provided|as long as|unless"
    r"|specific to|restricted to|keeps? [^.;:]{0,40}? (?:under|below) \d(?![\d,]*k?[- ]tok)"
    r"|(?:under|below) \d[\d.]*x"
    r"|capped at(?! \d[\d,]*k?[- ]tok)|(?<!lifts the )(?<!lift the )(?<!lifting the )"
    r"(?<!raises the )(?<!raising the )(?<!raise the )ceiling(?! (?:rises?|climbs?|goes up|moves up"
    r"|doubles))|upper bound|at best|(?<!of )at most"
    r"(?! \d[\d,]*k?[- ]tok)|cannot exceed|no more than"
    r"|only (?:if|when|once"
    r"|where|after|with|at|for|in|on|because the baseline))\b",
)
_COLLECTIVE: Final = Form(
    r"\b(?:none of (?:these|this|them|it|that|which)|neither (?:of|one)|nothing of (?:this"
    r"|that))\b",
)
_UNCHANGED: Final = Form(
    r"\b(?:unchanged|stays? (?:the same|as (?:it|they) (?:is|was|are|were)|put|flat|constant)"
    r"|stayed (?:the same|as|flat|constant)|remains? (?:the same|constant|flat)"
    r"|(?:brings?|gains?|buys?|picks? up|does|do|gives?|yields?|adds?|changes?|wins?|saves?"
    r"|doubles?|halves|triples?|shortens?|accelerates?|speeds? up|lowers?|raises?|lifts?|cuts?"
    r"|shrinks?|improves?|boosts?) (?:\w+"
    r" )?(?:nothing"
    r"|little|almost nothing|no (?:gain|speedup|benefit|time))"
    r"|would be (?:wasted|for nothing|in vain)"
    r"|(?:is|are|be) (?:useless|pointless|irrelevant|no help|of no (?:use|help))|no (?:gain"
    r"|benefit|speedup|effect|difference|improvement)|same (?:speed|time|latency|rate)"
    r"|(?:leaves?|leaving|left) [^.;:]{3,40}? (?:as (?:it|they)|where (?:it|they)|unchanged|alone)"
    r"|(?:speed-?ups?|gains?|benefits?|advantage|improvement|effect) (?:\w+ ){0,2}?(?:vanish\w*"
    r"|disappear\w*|evaporat\w*|fad(?:es?|ed|ing)|melts?|erod\w+|goes away|falls away|shrinks"
    r"|is (?:gone|lost|eaten))"
    r"|(?:left|leaves?|leaving|stay(?:s|ed)?|remain(?:s|ed)?|kept|keeps|held|holds?|is|are|was"
    r"|were|came out|come out|comes out|ended up)\b[^.;:]{0,60}? within (?:\w+ ){0,3}?\d[\d.]*"
    r" ?(?:%"
    r"|per ?cent\b|pct\b)"
    r"|(?:by|of|than) (?:less than |under |about |only |some )?(?:0?\.\d+|[01](?:\.\d+)?) ?%(?!"
    r" to\b)"
    r"|less than (?:a|one|half a|two) per ?cent|(?:is|was|are|were|within|in|inside|below) (?:the "
    r"|pure )?(?:measurement )?noise\b"
    r"|no (?:\w+ )?(?:change|difference) (?:for|to|in) tg\d*"
    r"|no (?:\w+ )?(?:change|trace) (?:in|of|to|for) (?:the |our )?(?:[\w-]+ ){0,2}?(?:tpot|itl"
    r"|latency"
    r"|speed|rate|pace|times?|tok\S*|decode)"
    r"|(?:did|does|do|has done) (?:absolutely |next to )?nothing"
    r"|(?:tpot|itl|latency|speed|rate|pace|times?|tok\S*|ms)\b[^.;:]{0,40}? (?:is|was|are|were)"
    r" (?:identical|indistinguishable|no different)"
    r"|(?:same|identical) (?:\d[\d.]* ?(?:ms|tok\S*|t/s)|pace|tpot|itl)"
    r"|(?:ms|tok\S*|t/s|tokens per second)(?: per token)?,? (?:as before|both times|in both cases"
    r"|either way|with and without)|as (?:they|it) (?:did|was|were) before)(?!\w)",
)
_OUT_OF_REACH: Final = Form(
    r"\b(?:(?:difficult|hard|harder|impossible|tricky|tough) to (?:optimi[sz]e|improve|speed"
    r"|accelerate"
    r"|reduce|lower|cut|raise)|out of (?:reach|the question|bounds)|impossible|unrealistic"
    r"|unattainable|unreachable"
    r"|infeasible|implausible|wishful|fantasy|fiction|pipe dream|too (?:good to be|optimistic|much"
    r" to)"
    r"|(?:not|never|hardly|scarcely|nowhere near)(?: \w+){0,2}? (?:possible|realistic|feasible"
    r"|attainable|reachable|within reach|achievable|plausible|on the cards|to be had|credible)"
    r"|(?:cannot|can['’]t|can not|will not|won['’]t) (?:\w+ )?be (?:\w+ )?(?:had|reached|met|done"
    r"|kept"
    r"|true|right|promised|achieved|delivered|attained|correct|held|real)"
    r"|beyond (?:what|reach|the (?:reach|roof|ceiling|limit))|(?:is|are|lies?|lie|be|was) (?:well "
    r"|far |clearly )?(?:above|over|past) (?:the|its|what|any) (?:\w+ )?(?:ceiling|roof|roofline"
    r"|limit|bound|bandwidth|physics|card)|(?:exceeds?|contradicts?|violates?) (?:the|what"
    r"|physics))\b",
)
"""What is said of a figure that cannot be had."""
_REFUTING_TAIL: Final = Form(
    r"\b(?<!draft )(?<!drafts )(?<!guess )(?<!guesses )(?<!token )(?<!tokens )(?<!hen it )"
    r"(?<!hen they )(?<!if it )(?<!if they )(?<!proposal )(?<!proposals )"
    r"(?:is|are|was|were) (?:wrong|false|a myth|mistaken|incorrect|a misconception|nonsense|a "
    r"mistake|not true|backwards?)\b"
    r"|\b(?:looks|sounds|smells|reads) (?:\w+ )?like an? (?:bug|typo|mistake|error|slip"
    r"|misprint)\b",
)
_STANDS_BY: Final = Form(
    r"\b(?:and|which|so) we (?:will |shall |do |fully )?(?:stand by|agree|follow|adopt|keep|honou?r"
    r"|hold to|go with|take (?:it|this|that) (?:as|for|over)|plan with|count on)\b"
)
"""An attributed figure that the author makes his own."""
_BY_A_RULE: Final = Form(
    r"\W*(?:[A-Z]{3}\d{3}(?:, | and )?)+\W* (?:now |no longer |also )?(?:tells?|says?|reads?|finds?"
    r"|leaves?|flags?|warns?|takes?|catches|judges?|knows|asks?|names?|marks?|refutes?)\b"
)
"""What a rule of a linter tells is told of others' words."""
_EXAMPLE: Final = Form(r"(?:\be\.g\.,?|\bfor example|\bsuch as) (?:an? |about |[^\s.;:]+ or )?$")
"""A figure that only shows how figures are written."""
_FIELD: Final = Form(
    r"\W*[\w.-]+`?: `?(?:an? |optional )?(?:number|text|string|str|int|integer|float|bool(?:ean)?"
    r"|list|mapping|path|name)\b"
)
"""A field of a format and what may stand in it."""
_CITED: Final = Form(r"\bet al\b\.?(?: ?\(?\d{4}\)?)?[:,][^.]{0,80}$")
_IDENTIFIER: Final = re.compile(r"\w*_\w*_\w*")
_A_SLIP: Final = Form(
    r"(?:(?! and | but | so )(?:[^.;:,]|\.(?=\d)))*? (?:is|are|was|were|looks?|sounds?|smells?"
    r"|must be|can only be|has to be|seems? to be) (?:like )?(?:(?:clearly|obviously|surely"
    r"|most likely|probably|simply|just) )?an? (?:\w+ )?(?:bug|typo|glitch|slip|miscount|misprint"
    r"|misreading|miscalculation|artefact|artifact)\b(?![- ]f)"
)
"""What the sentence calls an error: "83 GB per token looks like a bug to me"."""
_NOBODY_WAITS: Final = Form(r"\b(?:nothing|nobody|no (?:one|step|token|user)) waits for\b")
_EVIDENCE: Final = Form(
    r"\W*(?:[\w-]+/)?(?:evidence|measurements?|measured|published|observed)(?: \w+)?:"
)
_NOTHING_NEXT: Final = Form(
    r"\W*(?:gains?|brings?|buys?|gives?|helps?|yields?|saves?|changes?|does|do|is worth) nothing\b"
    r"|\s?[:=–—] ?(?:none|nil|zero|nothing|no)\b(?! \w)"
)
"""What follows the clause of which it is said."""
_TOLD_COLUMN: Final = Form(
    r"\b(?:measured|observed|possible|ceiling|limit|upper bound|at most)\b",
)
"""Columns of what was found or is allowed, beside what is claimed."""
_QUOTES: Final = {'"': '"', "“": "”", "«": "»", "„": "“"}
_PAST: Final = words(
    "raised rose cut went came fell dropped improved doubled doubling-d tripled halved got took"
    " sped brought gave reduced increased ran gained jumped was were helped made reached saved"
    " expected hoped planned-x wanted asked thought bought turned grew changed moved shrank"
    " accelerated lowered became did"
)


def _is_named(text: str, at: int, start: int) -> bool:
    """Whether what stands there is part of a title that is cited, or of an identifier."""
    if _CITED.search(text, max(0, start - _AUTHORS), at + 1) is not None:
        return True
    begin = at
    while begin > start and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    word = _IDENTIFIER.match(text, begin)
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
    if block.quoted or _in_quotes(text, sentence, at):
        after = sentences[index + 1].text if index + 1 < len(sentences) else ""
        if block.quoted or not is_adoption(after):
            return Status.QUOTED
    if is_rejected(block) or _is_run_in(sentences, index):
        return Status.REJECTED
    if _BY_A_RULE.match(text, sentence.start) or _EXAMPLE.search(text, clause.start, at):
        return Status.QUOTED
    if _FIELD.match(text, sentence.start) or _is_named(text, at, clause.start):
        return Status.QUOTED
    if _NOBODY_WAITS.search(text, at, clause.end):
        return Status.DENIED
    if _A_SLIP.match(text, at, clause.end):
        return Status.REFUTED
    if _EVIDENCE.match(text) or _EVIDENCE.match(text, sentence.start):
        return Status.MEASURED
    if _NOTHING_NEXT.match(text, clause.end):
        return Status.DENIED
    if is_dropped(sentence.text):
        return Status.REJECTED
    if block.kind is BlockKind.CELL and _TOLD_COLUMN.search(block.column):
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
    if of_speed and _UNCHANGED.search(text, start, end):
        return Status.DENIED
    if _OUT_OF_REACH.search(text, clause.start, sentence.end):
        return Status.DENIED
    if _COLLECTIVE.search(text, at, sentence.end):
        return Status.DENIED
    head = text[sentence.start : clause.end]
    if not certain and _SUPPOSED.search(head):
        return Status.SUPPOSED
    stands = _STANDS_BY.search(text, clause.start, sentence.end) or is_adoption(following)
    if (_ATTRIBUTED.search(head) and not stands) or _REFUTING_TAIL.search(
        text[sentence.start : sentence.end]
    ):
        return Status.QUOTED
    if _is_taken_back(text, sentences, index, clause):
        return Status.REFUTED
    before = [
        w.folded for w in sentence.words
        if clause.start <= w.start < at and not _is_month(text, sentence, w)
    ][-8:]  # fmt: skip
    concluded = _CONCLUDED.search(text, clause.start, end) is not None
    conceded = _CONCESSION.match(text, clause.start, at)
    begin = conceded.end() if conceded is not None else clause.start
    if (not _HEDGES.isdisjoint(before) and not concluded) or _DEPENDS.search(
        text, begin, clause.end
    ):
        return Status.HEDGED
    if is_conditional(text, sentence.start, sentence.end):
        return Status.HEDGED
    return Status.ASSERTED


def _is_month(text: str, sentence: Sentence, word: Word) -> bool:
    """Whether it is the May of a calendar."""
    return word.start > sentence.start and text.startswith("May", word.start)


_CONCESSION: Final = Form(
    r"\W*(?:although|though|even though|while|whereas|albeit) [^,;:]{3,160}, "
)
"""An opening that is conceded, whose limits are none of what is then said."""
_CONCLUDED: Final = Form(
    r"\b(?:could|may|might) (?:therefore|thus|hence|accordingly|consequently)\b"
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
    r"|loses?|wins?|returns?|replies|answers|appears?|sees?|types?|writes?|feels?)\b",
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
        if distance > _FAR_REACH and word not in _SENTENCE_ADVERBS:
            expects = word in _FAR or word.endswith(("n't", "n’t"))
            after = inside[len(inside) - distance] if distance else ""
            if expects and after in _EXPECTATIONS and distance <= 2 * _FAR_REACH:
                return True
            if distance > 2 * _FAR_REACH:
                return False
            continue
        follows = inside[-distance] if distance else ""
        if word in _NEAR_NEGATIONS and distance < _NEAR_REACH and word not in answers:
            between = inside[len(inside) - distance :]
            if all(other in _BETWEEN for other in between):
                return True
            continue
        if word in _FAR or word.endswith(("n't", "n’t")):
            if _is_aside(inside, len(inside) - 1 - distance):
                continue
            return follows not in _PSEUDO_AFTER
        if word in _TURNS and distance > 0:
            return False
    return False


_KEPT: Final = words("changed touched altered modified different tuned added")


def _is_aside(inside: Sequence[str], at: int) -> bool:
    """Whether "nothing" stands in "nothing else changed", which tells how things were compared."""
    if inside[at] not in {"nothing", "none"} or inside[at + 1 : at + 2] != ["else"]:
        return False
    return inside[at + 2 : at + 3] != [] and inside[at + 2] in _KEPT


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


def _is_run_in(sentences: Sequence[Sentence], index: int) -> bool:
    """Whether a run-in heading ("What will not help.") marks the block as wrong."""
    first = sentences[0]
    return index > 0 and len(first.words) <= _LABEL_WORDS and bool(REJECTING.search(first.text))


_OPPOSED: Final = frozenset({"but", "yet", "although", "though"})
_CONCEDED: Final = Form(
    r"\b(?:still|all|same|unchanged|untouched|as (?:before|it (?:is|was)|they (?:are"
    r"|were)))\b[^.;]{0,40}?"
    r"(?:read|loaded|streamed|fetched|stored|there|dense|size|file|format|layout|bytes)\b"
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
        if other.opener in {"but", "yet"} or not _CONCEDED.search(text, other.start, other.end):
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


_PLURAL: Final = re.compile(r"[a-z]{3,}[^siu\W]s")
"""A noun in the plural, after which "cut" is no past form."""


def is_past(sentence: Sentence, clause: Clause) -> bool:
    """Whether the clause tells what happened."""
    previous, former, first = "", 0, True
    last = next((w for w in reversed(sentence.words) if w.start < clause.end), None)
    for word in sentence.words:
        if clause.start <= word.start < clause.end:
            former = _FORMER_STATE if word.folded == "where" else former - 1
            told = word.folded in _PAST and previous not in _INFINITIVE
            if word.folded == "cut" and _PLURAL.fullmatch(previous):
                told = False  # "int8 activations cut the latency"
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


_FORMER_STATE: Final = 3
"""Words from "where" on that tell what was before: "after 1 s where it took 4"."""
_BEING: Final = words("was were")
_COMPARED: Final = words("it they that what than as where")
"""After these "was" names a state to compare with: "a fraction of what it was"."""


def is_void(text: str) -> bool:
    """Whether a point of a list is dropped, or brings nothing by its own words."""
    return is_dropped(text) or _UNCHANGED.search(text) is not None


_INFINITIVE: Final = words(
    "to will would should can could must may might not and or then is are be being get gets almost"
    " nearly roughly a an the about if once when as what than"
)
"""Words after which a form of the past is an infinitive, a present passive or an adjective."""
