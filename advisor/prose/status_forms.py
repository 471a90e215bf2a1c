"""Words and forms by which a text denies, doubts, reports, refutes or rejects what it says.

Each is linear: no repetition within a repetition. What they come to is decided in status.py.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.quantity.lexing import words

FAR: Final = words(
    "not cannot never nor neither nothing doesn't don't won't can't isn't aren't didn't wouldn't"
    " shouldn't couldn't wasn't weren't hasn't haven't doubtful unlikely impossible fails failed"
    " unable rarely nobody none hardly barely scarcely little stop stops stopped cease ceases"
)
"""They deny what follows within this many words."""
SENTENCE_ADVERBS: Final = words("doubtful unlikely impossible")
EXPECTATIONS: Final = words("expect believe think assume see hope")
FAR_REACH: Final = 10
NEAR_NEGATIONS: Final = words("no without")
BETWEEN: Final = words(
    "any real measurable noticeable further a such significant more much actual single-user decode"
    " corresponding additional extra big large visible apparent substantial"
)
NEAR_REACH: Final = 3
PSEUDO_AFTER: Final = words("only just need require matter touch merely necessarily least")
ASIDES: Final = words("mention forget say speak")
"""After "not to" they deny nothing."""
TURNS: Final = words("but yet instead although so because")
LABEL_WORDS: Final = 6
HEDGES: Final = words("may might perhaps possibly maybe could looks seems seem sometimes")
SUPPOSED: Final = Form(
    r"(?:^|[:;—–] )\W*(?:were|was|had) (?!to\b)[^?]{3,200}?\b(?:would|could|might|ought|should)\b"
    r"|\beven (?:if|with (?:it|that|this|them|one))\b[^.;]{3,160}?(?:\bwould\b|\w['’]d\b)"
    r"|^\W*should (?!(?:be|give|get|make|bring|yield|reach|take"
    r"|cut|run|help|double|halve|speed"
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
    r"|were (?:the|it|they|we)|(?:one|you|we|people) (?<!as one )(?<!as you )(?:would|might"
    r"|could) (?:think|expect|assume"
    r"|hope|conclude|guess)|it (?:is|would be|seems) tempting|naively|at first (?:sight|glance)"
    r"|if decode|as if|would have|the (?:shorter|faster|quicker|lower|smaller"
    r"|less) [^.;]{3,80}? the better|(?:is|was|be|be a) (?:wrong|mistake|naive|incorrect|tempting"
    r"|unrealistic)(?: \w+)? to)\b",
)
ATTRIBUTED: Final = Form(
    r"\b(?:\w{3,}s (?:\w+ ){0,2}?(?:tell|ask|email|assure|keep telling) (?:us|me)\b"
    r"|(?:something|what|things?|a line|one line) (?:we|i|you|they) (?:often |always |keep "
    r"|still )?"
    r"(?:hear|hearing|read|reading|get told)\b"
    r"|(?:some|many|most|other)?\s?(?:people|teams|papers?|posts?|blogs?|vendors?|slides?"
    r"|brochures?"
    r"|articles?|marketing|colleagues?|customers|buyers|readers|folks|everyone"
    r"|everybody)(?: \w+){0,2} (?:say|says|said|claim|claims|claimed|think"
    r"|thinks|believe|believes|argue|argues|advertise|advertises|suggest|suggests|assume|assumes"
    r"|wrote|writes|promise|promises|announce|announces|announced)"
    r"|(?:sample|example|proposal|ticket|issue|description|commit message|abstract|author|authors"
    r"|paper|post|slide|plan|claim|idea|myth|reviewer|he|she|they|somebody|someone|people"
    r"|(?:your|their|his|her) (?:\w+ )?(?:offer|quote|appendix|datasheet|letter|page|deck)"
    r"|(?:page|slide|item) \d{1,3})"
    r" (?:tells? (?:me|us)|told (?:me|us)"
    r"|proposes?|proposed|claims?|claimed|says?"
    r"|said|promises|promised|suggests?|argues?|states?|stated|expects|hopes|wrote|writes|posts"
    r"|posted|once \w+)"
    r"|you (?:also |then |even )?(?:propose|proposed|claim|claimed|wrote|assert|argue|argued|state"
    r"|stated)\b"
    r"|\b(?:will|would|may|might|can) tell (?:you|us|me) that\b"
    r"|\ban? (?:\w+ )?(?:customer|client|colleague|reader|partner|friend)s? (?:wants?|wanted|asks?"
    r"|asked|hopes?|hoped|plans?|planned|wrote|writes)\b"
    r"|^\W*(?!(?:we|i|this|that|these|those|it|which|who|what|the|our|my|all|as|and|but|so) )"
    r"[^\W\d_]{2,16} (?:then |had |also )?(?:proposed|suggested|argued|hoped|wondered|asked|urged)"
    r" (?:to|that|whether|if|for)\b"
    r"|(?:somebody|someone|people|colleagues?|friends?|vendors?|he|she|they|i (?:was|am)|we were"
    r"|i['’]ve been) (?:keeps? (?:telling|saying)|told|tells?|telling)\b"
    r"|(?:somebody|someone|some guy|another (?:user|poster|member)|a (?:user|poster)|op) (?:\w+ )?"
    r"(?:posted|posts|reported|reports|quoted|quotes|shared|mentioned|mentions)\b"
    r"|(?<!\bi )(?<!we )(?<!ich )(?<!this )(?<!that )(?<!\bit )(?:told|assured|promised) (?:me|us"
    r"|him|her|them)\b"
    r"|\bi(?:['’]ve| have)? (?:read|heard|hear|saw|seen)\b"
    r"|\b(?:screenshot|figure|number|post|clip|claim|chart) (?:\w+ )?(?:is going (?:a)?round"
    r"|goes (?:a)?round|makes the rounds|is making the rounds|circulates|is circulating)\b|rumou?r"
    r"|allegedly|supposedly|so-called"
    r"|\b(?:this|that|an?) (?:\w+ )?(?:idea|notion|belief|myth|legend|rumou?r) (?:\w+ ){1,3}?that\b"
    r"|(?:withdraw|retract|revoke|recant|take back)s? (?:\w+ ){0,6}?that\b"
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
_NO: Final = (
    r"(?:no[,.;:!]|no (?![\w -]{2,30}, (?:and |or )?no )(?!(?:\w+ )?(?:kernels?"
    r"|runtime|export|idea|clue|need"
    r"|other|further|extra|new|special|custom"
    r"|code|change|retraining|fine-?tuning|calibration|accuracy|quality|perplexity|loss|recompil\w*"
    r"|repacking|conversion|draft|driver|firmware|config\w*|downside|drawback|catch|magic)\b))"
)
"""A no, unless it tells what is not needed."""
REFUTING_CLAUSE: Final = Form(rf"[,;:–— ]*(?:(?:wrong|false|not true|but|yet|however)\b|{_NO}|no$)")
"""How a clause begins that takes back the one before it."""
REFUTES: Final = Form(
    rf"[\s\"'“(\[]*(?:wrong|{_NO}|nope"
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
    r"|(?:i|we) (?:do not|don['’]t|cannot|can['’]t) (?:\w+ )?(?:buy|believe|trust|confirm"
    r"|reproduce)"
    r" (?:it|this|that|a word)\b"
    r"|refuted\b|disproved|disproven|debunked|falsified|not (?:confirmed|supported)"
    r"|the catch|on current|measured|reality|in truth|nothing of|we measured|the (?:truth|error"
    r"|mistake|flaw|problem) )",
)
DEPENDS: Final = Form(
    r"\b(?:depends? on|depending on"
    r"|(?<!matter )whether(?! or not\b)(?![^,;.]{3,60}? or [^;.]{2,40}?, )|provided"
    r"|(?<!lasts )(?<!last )as long as(?! it takes)|unless"
    r"|specific to|restricted to|keeps? [^.;:]{0,40}? (?:under|below) \d(?![\d,]*k?[- ]tok)"
    r"|(?:under|below) \d[\d.]*x"
    r"|capped at(?! \d[\d,]*k?[- ]tok)|(?<!lifts the )(?<!lift the )(?<!lifting the )"
    r"(?<!raises the )(?<!raising the )(?<!raise the )ceiling(?! (?:rises?|climbs?|goes up|moves up"
    r"|doubles))|upper bound|at best|(?<!of )at most"
    r"(?! \d[\d,]*k?[- ]tok)|cannot exceed|(?<!costs )(?<!cost )no more than"
    r"|only (?:if|when|once"
    r"|where|after|with|at|for|in|on|because the baseline))\b",
)
COLLECTIVE: Final = Form(
    r"\b(?:none of (?:these|this|them|it|that|which)|neither (?:of|one)|nothing of (?:this"
    r"|that))\b",
)
UNCHANGED: Final = Form(
    r"\b(?:tpot|itl|latency|speed|rate|t/s|tok\S*|time per token|pace) (?:as (?:before|it was)"
    r"|unchanged|flat)\b|"
    r"(?<!\btwice )(?<!\bhalf )(?<!\btimes )\bas (?:fast|quick(?:ly)?|soon"
    r"|slow(?:ly)?) as (?:before"
    r"|ever|it did|today|now|then)\b"
    r"|\bstill (?:\w+ )?(?:reads?|pulls?|loads?|streams?|moves?|fetch(?:es)?) (?:all|every"
    r"|the (?:whole|full))"
    r"|\bzeros? (?:included|and all)\b|\bincluding (?:the |all )?zeros\b"
    r"|"
    r"\b(?:types?|writes?|chats?|decodes?|generates?|streams?|answers?|talks?|repl(?:y"
    r"|ies)) (?:on )?"
    r"(?:exactly |just )?(?:as (?:before|ever|it did|slowly)|at (?:the|its) (?:same|old) \w+)"
    r"|\b(?:stays?|remains?|stuck) (?:at|with) (?:its |the |about )?\d[\d.,]*(?! ?(?:bits?|[kmgt]b"
    r"|users?))"
    r"|"
    r"\b(?:(?<!bandwidth )(?<!clocks )(?<!top-\d )unchanged(?! (?:\w+ ){0,2}?(?:bandwidth|bus"
    r"|clocks?|weights?|checkpoint|tensors?|files?|model|kernels?|layout)\b)"
    r"|stays? (?:the same|as (?:it|they) (?:is|was|are|were)|put|flat|constant)"
    r"|stayed (?:the same|as|flat|constant)|remains? (?:the same|constant|flat)"
    r"|(?:brings?|gains?|buys?|picks? up|does|do|gives?|yields?|adds?|changes?|wins?|saves?"
    r"|doubles?|halves|triples?|shortens?|accelerates?|speeds? up|lowers?|raises?|lifts?|cuts?"
    r"|shrinks?|improves?|boosts?|(?:is|are) worth) (?:\w+"
    r" )?(?:nothing"
    r"|little|almost nothing|no (?:gain|speedup|benefit|time))"
    r"|would be (?:wasted|for nothing|in vain)"
    r"|(?:says?|said|tells?|told|proves?|shows?) (?:\w+ )?nothing (?:about|of|for)\b"
    r"|(?<!bandwidth )(?<!memory )(?<!bytes )(?<!cache )(?<!weights )(?<!context )(?<!length )"
    r"(?:(?:plays?|played) no (?:part|role)|(?:has|have|had) no bearing)\b"
    r"|(?:wo|does|do|would)(?:n['’]t| not) (?:show|matter|register|be (?:seen|felt|noticed"
    r"|visible))"
    r"|will not (?:show|matter|register|be (?:seen|felt|noticed|visible))"
    r"|(?:is|are|be) (?:useless|pointless|irrelevant|no help|of no (?:use|help))|no (?:gain"
    r"|benefit|speedup|effect|difference|improvement|(?:speed |visible |measurable )?change)"
    r"|(?<!of the )same (?:speed|latency|rate)"
    r"|(?<!at the )(?<!\btokens in the )(?<!\btext in the )same time"
    r"|(?:leaves?|leaving|left)(?! (?:\w+ ){0,2}?(?:tensors?|shapes?|layout|format|files?)\b)"
    r" [^.;:]{3,40}? (?:as (?:it|they)|where (?:it|they)|unchanged|alone)"
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
OUT_OF_REACH: Final = Form(
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
REFUTING_TAIL: Final = Form(
    r"\b(?<!draft )(?<!drafts )(?<!guess )(?<!guesses )(?<!token )(?<!tokens )(?<!hen it )"
    r"(?<!hen they )(?<!if it )(?<!if they )(?<!proposal )(?<!proposals )"
    r"(?:is|are|was|were) (?:wrong|false|a myth|mistaken|incorrect|a misconception|nonsense|a "
    r"mistake|not true|backwards?)\b"
    r"|\b(?:looks|sounds|smells|reads) (?:\w+ )?like an? (?:bug|typo|mistake|error|slip"
    r"|misprint)\b",
)
STANDS_BY: Final = Form(
    r"\b(?:and|which|so) we (?:will |shall |do |fully )?(?:stand by|agree|follow|adopt|keep|honou?r"
    r"|hold to|go with|take (?:it|this|that) (?:as|for|over)|plan with|count on)\b"
)
"""An attributed figure that the author makes his own."""
BY_A_RULE: Final = Form(
    r"\W*(?:[A-Z]{3}\d{3}(?:, | and )?)+\W* (?:now |no longer |also )?(?:tells?|says?|reads?|finds?"
    r"|leaves?|flags?|warns?|takes?|catches|judges?|knows|asks?|names?|marks?|refutes?)\b"
)
"""What a rule of a linter tells is told of others' words."""
EXAMPLE: Final = Form(r"(?:\be\.g\.,?|\bfor example|\bsuch as) (?:an? |about |[^\s.;:]+ or )?$")
"""A figure that only shows how figures are written."""
FIELD: Final = Form(
    r"\W*[\w.-]+`?: `?(?:an? |optional )?(?:number|text|string|str|int|integer|float|bool(?:ean)?"
    r"|list|mapping|path|name)\b"
)
"""A field of a format and what may stand in it."""
CITED: Final = Form(r"\bet al\b\.?(?: ?\(?\d{4}\)?)?[:,][^.]{0,80}$")
IDENTIFIER: Final = re.compile(r"\w*_\w*_\w*")
A_SLIP: Final = Form(
    r"(?:(?! and | but | so )(?:[^.;:,]|\.(?=\d)))*? (?:is|are|was|were|looks?|sounds?|smells?"
    r"|must be|would be|can only be|has to be|seems? to be) (?:like )?(?:(?:clearly|obviously"
    r"|surely"
    r"|most likely|probably|simply|just) )?an? (?:\w+ )?(?:bug|typo|glitch|slip|miscount|misprint"
    r"|misreading|miscalculation|artefact|artifact)\b(?![- ]f)"
)
"""What the sentence calls an error: "83 GB per token looks like a bug to me"."""
NOBODY_WAITS: Final = Form(
    r"\b(?:nothing|nobody|no (?:one|step|token|user)) waits for\b"
    r"|\bno (?:single )?(?!(?:longer|matter|doubt)\b)\w{3,} (?:\w+ ){0,3}?(?:sooner|faster|quicker"
    r"|earlier)\b"
)
NO_BEARING: Final = Form(
    r"\b(?:has|have|had) no (?:\w+ ){0,2}?(?:bearing|effect|influence|impact) (?:up)?on\b"
)
"""A lever that is said to leave alone what follows."""
HYPOTHESIS: Final = Form(
    r"\W*(?:(?:working |null |our |initial )?hypothes[ie]s|conjectures?|(?:open|research)"
    r" questions?"
    r"|to (?:be )?(?:test(?:ed)?|verif(?:y|ied)|measured?))(?: \w+)?\W*(?:[:.]|$)"
)
"""A label under which nothing is asserted yet."""
ACTED_ON: Final = Form(
    r"\b(?:so|therefore|hence|thus),? (?:(?:we|let us|let['’]s) (?:will |should |shall )?)?(?:use"
    r"|take"
    r"|cut|reduce|lower|buy|drop|prune|move|switch|replace|remove|skip|shrink|quanti[sz]e)\b"
)
"""A hypothesis from which an act follows at once: it is believed."""
ELSEWHERE: Final = Form(
    r"\b(?:(?:comes?|came|stems?|derives?|originates?) from|(?:is|are|was|were) due to|owed to|has)"
    r" (?:elsewhere|another (?:source|cause|place|reason)|something else|(?:an)?other reasons?"
    r"|other causes)\b"
)
"""A gain that is there, for a reason told apart."""
EVIDENCE: Final = Form(
    r"\W*(?:[\w-]+/)?(?:evidence|measurements?|measured|published|observed)(?: \w+)?:"
    r"|\W*(?:reading|looking at) (?:the|this) table\b"
)
NOTHING_NEXT: Final = Form(
    r"\W*(?:gains?|brings?|buys?|gives?|helps?|yields?|saves?|changes?|does|do|is worth) nothing\b"
    r"|\s?[:=–—] ?(?:none|nil|zero|nothing|no)\b(?! \w)"
)
"""What follows the clause of which it is said."""
TOLD_COLUMN: Final = Form(
    r"\b(?:measured|observed|possible|ceiling|limit|upper bound|at most)\b",
)
"""Columns of what was found or is allowed, beside what is claimed."""
QUOTES: Final = {'"': '"', "“": "”", "«": "»", "„": "“"}
PAST: Final = words(
    "raised rose cut went came fell dropped improved doubled doubling-d tripled halved got took"
    " sped brought gave reduced increased ran gained jumped was were helped made reached saved"
    " expected hoped planned-x wanted asked thought bought turned grew changed moved shrank"
    " accelerated lowered became did achieved contributed delivered yielded"
)
