"""What prose says of serving without a word of speed: carried over, for nothing, taking the step.

"The 2.3x holds at batch 256", "communication is negligible", "at 512 tokens decode spends its time
in attention": each is a claim about speed, made of a figure, a cost or a share of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.forms import Form
from advisor.prose.carried import carried_over
from advisor.prose.drafts import QUALITY_ONLY, every_pass
from advisor.prose.gains import LARGEST_FACTOR
from advisor.prose.lengths import READS_DOCUMENT
from advisor.prose.model import Effect, Kind
from advisor.prose.patterns import PARTS
from advisor.prose.prompt_limits import memory_of_prompt
from advisor.prose.sentences import Clause
from advisor.prose.split import divided_by_count
from advisor.quantity.numerals import count_of

TOPICS: Final = frozenset(
    {"SPEC", "TP", "ATTN", "BATCH", "PREFIX", "PREFILL", "GQA", "KVQ", "QUANT", "MATMUL", "PEAK"}
)
"""Levers and phases of which these forms say something."""

_COSTLESS: Final = Form(
    r"\b(?:costs?|adds?|takes?|weighs?|needs?) (?:you |us )?(?:next to |almost |practically "
    r"|virtually |essentially |basically |as good as )?(?:nothing(?! (?:but|except|apart|beyond"
    r"|in (?:quality|accuracy|perplexity|memory))\b)|no (?:extra |additional "
    r"|measurable )?(?:time|latency|cost|overhead))\b"
    r"|\b(?:is|are|be|becomes?|being|makes? [\w -]{2,40}?|stays?|renders? [\w -]{2,40}?)"
    r" (?!not\b|never\b|hardly\b|far\b|no\b|neither\b)(?:\w+ )?"
    r"(?:negligible|irrelevant|free(?! for (?:the )?(?:kv|cache|use|other|more))|insignificant"
    r"|immaterial|trivial|unimportant|for free"
    r"|without (?:cost|price)|a rounding error|a non-?issue|noise|peanuts|small change|a trifle)\b"
    r"|\b(?:comes?|is|are|be) at no (?:extra |additional )?(?:cost|price|charge)\b"
    r"|\bcosts? (?:hardly |no )more than (?:an? |the |one )?(?:ordinary|normal|plain|usual|regular"
    r"|single|undrafted) (?:steps?|pass(?:es)?|tokens?|rounds?|forward)\b"
    r"|\bno time (?:is|gets|will be|goes) (?:lost|spent|wasted|into)\b"
    r"|\bwithout (?:any )?(?:loss|waste) of time\b"
    r"|\b(?:is|are) not to be (?:considered|counted|reckoned|worried|taken into account)\b"
    r"|\b(?:comes?|ends? up|stays?|is|are) (?:out )?(?:ahead|in front)(?: (?:of the game"
    r"|on balance))?"
    r" (?:anyway|anyhow|regardless|either way|in any case|no matter \w+|whatever \w+|always)\b"
    r"|\b(?:gains?|speed-?ups?|benefits?|advantage|factor|win|acceleration)\b[^.;:]{0,32}?"
    r" (?:(?:does|do) not depend|(?:doesn|don)['’]t depend|is independent|are independent"
    r"|hangs? not)"
    r" (?:on|of|upon) (?:the )?(?:\w+ )?(?:load|batch(?: sizes?)?|concurrency|traffic"
    r"|utili[sz]ation"
    r"|occupancy|number of (?:users|streams|sessions|requests|chats))\b(?!(?: sizes?)? (?:alone"
    r"|only|as such))"
    r"|\bnever (?:matters?|counts?|shows?)\b"
    r"|\b(?:leave|leaves|left|leaving|kept|keep) (?:it|them|that|this|these|those) out\b"
    r"|\b(?:is|are) nothing (?:at|over|across|beside|next to|against|compared)\b"
    r"|\b(?:can|may|might|could) (?:safely |simply |well )?(?:be )?(?:ignored?|neglect(?:ed)?|left"
    r" out"
    r"|disregard(?:ed)?|forg(?:et|otten)|dropped|leave out|skip(?:ped)?)\b"
    r"|\b(?:does|do|will|would)(?: not|n['’]t) (?:add|cost|take|eat) (?:any(?:thing)?|a (?:micro"
    r"|milli)"
    r"second|much as a)\b"
    r"|\bneglecting\b|\b(?:plays?|has|have) no (?:role|part|influence|effect|bearing)\b"
    r"|\b(?:does|do)(?: not|n['’]t) (?:matter|count|enter|show|cost)\b"
    r"|\bneed(?: not|n['’]t) (?:worry|bother|concern|be (?:considered|modelled|counted))\b"
    r"|\balways pays\b|\bpays? (?:off )?(?:always|everywhere|(?:at|under|for|on|with) (?:any|every"
    r"|all)"
    r"|in (?:any|every|all) cases?"
    r"|regardless)\b|\b(?:nothing|never anything) (?:is |to be )?(?:lost|lose|to lose)\b"
    r"|\blos(?:es?|ing) nothing\b|\bonly upside\b|\b(?:is|are) guaranteed\b"
    r"|\b(?:gain|speed-?up|acceleration|win|benefit) is (?:\w+ )?(?:certain|assured|sure)\b"
    r"|\bguarantees?\b"
    r"|\bstill (?:beats?|wins?|pays?)\b|\bcannot (?:hurt|harm|lose)\b"
    r"|\b(?:drops?|falls?) out(?: of the (?:sum|model|picture|estimate))?\b"
    r"|\bcheap insurance\b|\bfree of (?:cost|charge)\b|\bnothing (?:has been|is|was|gets) (?:spent"
    r"|wasted|paid)\b|\bonly count\b[^.;]{0,40}?\b(?:payload|bandwidth|bytes)\b"
    r"|\b(?:enable|activate|switch on|turn on|leave|keep|put|roll out|deploy)"
    r" [^.;:]{0,40}?\b(?:every"
    r"|all|everywhere|always|any|whole)\b",
)
"""A cost that is said to be none."""
_WORTH: Final = Form(
    r"\b(?:pays? for (?:itself|themselves)|(?:is|are) (?:always )?worth (?:it|having|the trouble"
    r"|the effort|switching on|enabling))\b"
    r"|\b(?:never|cannot|can(?: not|['’]t)|won['’]t|will (?:not|never)|could(?: not|n['’]t|"
    r" never)) (?:ever )?(?:slows?|hurts?|harms?)\b(?! (?:the |its |our )?(?:\w+ )?(?:quality"
    r"|outputs?|accuracy"
    r"|texts?|answers?|distribution|results?))"
    r"|(?<!hardly )(?<!rarely )(?<!longer )(?<!never )(?<!seldom )(?<!barely )(?<!not )\b(?:pays?"
    r"|wins?"
    r"|helps?|pure (?:upside|gain|win|profit))(?: off)?(?: (?:just as (?:well|much)|equally|too"
    r"|also"
    r"|even|still))? (?:at|under|in|with|during) (?:the |a )?(?:full(?: load)?|peak|heavy"
    r"|high(?:est)?"
    r" load|maximum|saturat\w+|rush hours?|busy|packed)\b"
)
"""A lever that is said to earn more than it costs."""
_ATTENTION: Final = (
    r"(?:attention(?:[- ](?:op(?:erator|eration)?|layers?|kernels?|part|math|scores?|step|block"
    r"|computation|module))?|q ?k(?:\^?t|ᵀ)?|softmax|score (?:matrix|matrices|traffic)|the scores)"
)
_MOST: Final = (
    r"(?:most(?:ly)?|mainly|largely|chiefly|bulk|majority|half|predominantly|primarily"
    r"|(?:[4-9]\d) ?(?:%|per ?cent)|(?:two|three|four) (?:thirds|quarters|fifths|tenths)"
    r"|nine tenths"
    r"|almost all|nearly all)"
)
_IN_ATTENTION: Final = Form(
    rf"\b(?:spends?|goes|lies|sits|burns?|passes|is spent|consumed|eaten)\b[^.;]{{0,60}}?"
    rf"\b{_MOST}\b[^.;]{{0,40}}?\b{_ATTENTION}"
    rf"|\b{_MOST}\b[^.;]{{0,60}}? (?:(?:is|are) spent|go(?:es)?|lies?|sits?|happens?|falls?|is"
    rf"|are)\b[^.;]{{0,24}}?\b{_ATTENTION}"
    rf"|\b(?:dominated|governed|ruled|limited|bound|bottlenecked|determined|set|paced) by (?:the )?"
    rf"(?:\w+ )?{_ATTENTION}"
    rf"|\b(?:is|are) (?:mostly|mainly|largely|chiefly|predominantly|nothing but"
    rf"|almost all) (?:the )?"
    rf"{_ATTENTION}"
    rf"|\b(?:that|this|here|there|it) is where {_MOST}\b[^.;]{{0,60}}? (?:sits?|lies|goes|is"
    rf" (?:spent|lost)|comes from|hides)"
    rf"|\b{_ATTENTION}\b[^.;]{{0,60}}? (?:dominates?|constitutes? (?:the )?{_MOST}|makes? up"
    rf" (?:the )?{_MOST}|(?:accounts?|stands) for (?:the )?{_MOST}|takes? (?:up )?(?:the )?{_MOST}"
    rf"|eats? (?:up )?(?:the )?{_MOST}|(?:is|are) (?:(?:about |some |roughly "
    rf"|nearly )?{_MOST} (?:of|in)\b|the (?:\w+ )?(?:bottleneck|hot ?spot|biggest"
    rf"|largest|main|hot (?:loop|path)|long pole|culprit|dominant|critical path"
    rf"|costliest|slowest)|where\b[^.;]{{0,70}}?\b{_MOST}|what (?:limits|costs|slows"
    rf"|(?:each|every|the|a) (?:\w+ ){{0,2}}?(?:tokens?|steps?|words?|repl(?:y|ies)) (?:\w+ )?"
    rf"(?:waits?|hangs?|depends?)|(?:you|we|users?|everyone) (?:are |is )?wait(?:ing)? (?:for"
    rf"|on))))"
    rf"|\b{_ATTENTION}(?: \([^()]*\)|\([^()]*\))? (?:is|are) (?:(?:where"
    rf"|what) (?:\w+ ){{0,2}}?(?:the|all|our"
    rf"|each|every) (?:\w+ )?(?:time|milliseconds|ms|latency) (?:goes|go|is (?:spent|lost))"
    rf"|what (?:eats?|takes?|costs?|fills?|burns?|makes?|keeps?) (?!up with)(?:up )?(?:the|most"
    rf"|each"
    rf"|every|all|our)\b"
    rf"|the (?:expensive|slow|costly|heavy) part)"
    rf"|\bit(?: is|['’]s) (?:the )?{_ATTENTION} (?:that|which) (?:eats?|takes?|costs?|fills?|burns?"
    rf"|dominates?|limits?|slows?|keeps?)\b"
    r"|\bquadratic (?:cost|price|work|attention)?\b[^.;]{0,30}? (?:on|for|at|with|in) (?:each"
    r"|every)"
    r" (?:\w+ )?token",
)
"""A decode step that is said to be attention for the most part."""
_DIVIDED: Final = Form(
    r"\b(?:divid(?:ed|es?|ing)|cut|split|shr(?:inks?|unk)|reduced|falls?|drops?) (?:\w+ ){0,4}?"
    r"(?:by (?:a factor of )?|into )(?P<by>two|three|four|five|six|seven|eight|ten|sixteen|\d{1,2})"
    r"(?!\d|\.\d|\s?(?:%|per ?cent|ms|us|µs|x\b|gb|tokens?\b|layers?\b|points?|s\b))"
    r"|\b(?P<fold>\d{1,2}|two|three|four|five|six|seven|eight|ten|sixteen)-?fold\b"
    r"|\bquarters (?:the|its|our|each|every|per)\b",
)
_ELLIPTIC: Final = Form(
    r"(?:\b(?:to|at|is|be|gives?|gets?|reach(?:es)?|makes?|becomes?|do|does|yields?|delivers?"
    r"|brings?"
    r"|lands?|hits?|sees?|has|have|follows?|expects?|enjoys?|takes?|puts?)\b(?: us| you| it)?"
    r"(?: about| around| roughly| some| only| just| up to| out at| at| near| close to| to)?"
    r"|\btp ?=?\d+|(?<![\dA-Za-z])(?<!\b[a-z] )[:=→]|(?<=[A-Za-z]):|->)"
    r" ?~?(?P<value>\d[\d,]*(?:\.\d+)?)(?![.,]?\d)"
    r"(?=\s*(?:each\b|apiece\b|per (?:user|stream|head|client)|[,;.)]|$|(?:for|on|with|across) "
    r"(?:each|every|one|a|two|four|eight|\d|tp|both|all)\b))",
)
"""A number whose unit was told before: "eight of them will do 304", "TP4 23.5, TP8 11.75"."""
_SPREAD: Final = 40.0
"""Beyond it a number is none of the same quantity."""


_RANKED: Final = Form(
    r"\b(?:comes?|is|lands?|ranks?|stands?|goes|sits?) (?:the |our |at the )?(?:very )?(?:first|top"
    r"|next"
    r"|highest|biggest|number one|most)\b|\bis the (?:\w+ )?(?:lever|change|setting|tweak|knob"
    r"|thing|item|measure"
    r"|win|gain|boost|fix|improvement)\b[^.;,]{0,30}? (?:largest|biggest|most|greatest|strongest"
    r"|best)"
    r"|\bis the (?:\w+ )?(?:largest|biggest|greatest|strongest|best) (?:\w+ )?(?:lever|change"
    r"|setting|tweak|knob|item"
    r"|measure|win|gain|boost|fix|improvement)\b|\btops? (?:the|our)\b|\bfirst (?:item|step|lever"
    r"|thing"
    r"|on)\b"
)
_LARGEST_GAIN: Final = Form(
    r"\b(?:it|this|that|which|(?:install|enabl|activat|turn|switch|us)ing (?:it|this|that)(?: on)?)"
    r" is the (?:\w+ )?(?:largest|biggest|greatest|strongest"
    r"|best) (?:\w+ )?"
    r"(?:win|gain|boost|speed-?up|improvement) (?:in|for|on) (?:\w+ ){0,2}?(?:generation|decod\w+"
    r"|tokens?|chat|typing|tpot|itl)\b"
)
"""What was named before, as what decode gains most by."""
_TO_PERCENT: Final = Form(
    r"\b(?:shrinks?|falls?|drops?|goes down|comes down|cut|reduced?s?|brings?|down|sinks?"
    r"|lowers?)\b"
    r"[^.;:\d]{0,40}? to (?:about |only |just |roughly )?(?P<left>\d{1,2}(?:\.\d+)?) ?(?:%"
    r"|per ?cent)"
    r"(?! (?:of (?:the )?(?:peak|bandwidth|heads|weights)|mfu|mbu))"
)
"""A time that falls to a part: "the step shrinks to 20%"."""
_BY_PART: Final = Form(
    r"\bby (?:(?:about|roughly|nearly|almost|some|up to|over|around) )?(?:an? |one |the )?"
    r"(?P<part>half|third|quarter|fifth|sixth|eighth|tenth)\b(?! (?:of|the|as))"
)
"""A time that falls by a part: "diminishes the delay by one half"."""
_CUT_IT: Final = Form(
    r"\b(?:shortens?|cuts?|reduces?|lowers?|shrinks?|brings?|speeds?) (?:it|this|that|them|these)"
    r"(?: down| up)? by (?:about |some |roughly )?(?P<percent>\d{1,2}(?:\.\d+)?) ?%"
)


def serving_effects(whole: str, clause: Clause, text: str, names: set[str]) -> Iterator[Effect]:
    """What a clause says of a figure carried over, a cost of nothing, attention in a step."""
    if "PREFILL" in names and (waits := memory_of_prompt(whole, clause)) is not None:
        yield waits
    of_tokens = names & {"TIME", "RATE", "DECODE"}
    ranked = _RANKED.search(text) if "ATTN" in names else _LARGEST_GAIN.search(text)
    if of_tokens and ranked is not None:
        yield _effect(Kind.GAIN, clause, ranked)
    carried = carried_over(text)
    if carried is not None:
        yield _effect(Kind.CARRIED, clause, carried)
    costless = _COSTLESS.search(text) or QUALITY_ONLY.search(text)
    if costless is None and "SPEC" in names:
        costless = _WORTH.search(text)
    if costless is not None and "FREE" not in names:
        yield _effect(Kind.FREE, clause, costless)
    elif (each := every_pass(whole, clause.start, clause.end)) is not None:
        yield Effect(Kind.FREE, *each)
    if ("TP" in names or _FORMULA.search(text)) and of_tokens | (names & {"SINGLE"}):
        by_count = divided_by_count(text)
        if by_count is not None:
            yield _effect(Kind.GAIN, clause, by_count)
    nothing = _NOTHING.search(text)
    if nothing is not None:
        yield _effect(Kind.NO_GAIN, clause, nothing)
    of_share = "uadratic" in text or " is where" in text or "ATTN" in names
    share = _IN_ATTENTION.search(text) if of_share or _SOME.search(text) else None
    if share is not None:
        yield _effect(Kind.SHARE, clause, share)


_FORMULA: Final = re.compile(r"\b[Tt]\(1\) ?/ ?[npNP]\b")
"""The time of one device over their number."""
_NOTHING: Final = Form(
    r"\b(?:brings?|gains?|buys?|does|do|gives?|yields?|adds?|changes?|wins?|earns?|saves?|sees?)"
    r" (?:\w+ ){0,2}?(?:nothing|no (?:gain|speed-?up|benefit|advantage|improvement))\b"
    r"|\b(?:notices?|sees?|feels?) (?:no|any) difference (?:in (?:pace|speed|latency|tempo)"
    r"|between|on an?)\b"
    r"|\b(?:stays?|remains?) (?:just )?as slow\b"
    r"|\b(?:is|are|remains?) (?:useless|pointless|worthless|no help|of no (?:use|help|benefit)|in"
    r" vain)"
    r"|\b(?:never|cannot|can['’]t|does not|doesn['’]t|do not|don['’]t|will not|won['’]t|would not"
    r"|hardly)"
    r" (?:ever )?(?:pays? off|pays?|help|benefit|profit|gain)\b"
)
"""A lever that is said to bring nothing."""
_FRACTION_OF_TIME: Final = Form(
    r"\bin a (?:small |tiny |mere )?fraction of the time(?= ?[.,;:)]|$| (?:and|for|on|with|by)\b)"
)
_OF_WHAT: Final = Form(
    r"\b(?:an?|one|exactly an?|only an?) (?P<part>half|third|fourth|quarter|fifth|sixth|eighth"
    r"|tenth"
    r"|sixteenth) of what (?:it|one|a token|they|each|that|we) (?:\w+ )?(?:needed|took|was|used"
    r"|takes"
    r"|needs|is|were|had|cost)\b"
)
_SOME: Final = Form(r"attention|softmax|\bq ?k|score")


_BETWEEN: Final = Form(
    r"\binter-?gpu\b|\bbetween (?:the )?(?:\w+ )?(?:cards|gpus|ranks|devices|accelerators"
    r"|machines)\b"
)


def is_topical(text: str, near: frozenset[str]) -> bool:
    """Whether a sentence, or what stands near it, is about serving."""
    if not TOPICS.isdisjoint(near):
        return True
    of_attention = "DECODE" in near and _SOME.search(text) is not None
    if of_attention or _BETWEEN.search(text) is not None:
        return True
    return READS_DOCUMENT.search(text) is not None


def divided(clause: Clause, text: str, names: set[str]) -> Effect | None:
    """A time divided by a number: "the latency is divided by six", "cuts latency 16-fold"."""
    cut = _CUT_IT.search(text)
    if cut is not None:
        part = float(cut["percent"]) / 100.0
        return Effect(
            Kind.GAIN, clause.start + cut.start(), clause.start + cut.end(), 1.0 / (1.0 - part)
        )
    left = _TO_PERCENT.search(text) if "TIME" in names and "RATE" not in names else None
    if left is not None and float(left["left"]) > 0:
        start, end = clause.start + left.start(), clause.start + left.end()
        return Effect(Kind.GAIN, start, end, 100.0 / float(left["left"]))
    by_part = _BY_PART.search(text) if {"TIME", "DOWN"} <= names and "RATE" not in names else None
    if by_part is not None:
        part = PARTS[by_part["part"].lower()]
        start, end = clause.start + by_part.start(), clause.start + by_part.end()
        return Effect(Kind.GAIN, start, end, part / (part - 1.0))
    some = _FRACTION_OF_TIME.search(text) if names & {"DECODE", "SINGLE"} else None
    if some is not None:
        return Effect(Kind.GAIN, clause.start + some.start(), clause.start + some.end())
    left = _OF_WHAT.search(text) if names & {"TIME", "DECODE", "SINGLE", "TOKENS"} else None
    if left is not None:
        start, end = clause.start + left.start(), clause.start + left.end()
        return Effect(Kind.GAIN, start, end, _PARTS_OF[left["part"].lower()])
    if names.isdisjoint({"TIME", "DECODE", "SINGLE"}) or "SLOWER" in names:
        return None
    match = _DIVIDED.search(text)
    if match is None:
        return _multiplied(clause, text)
    word = (match["by"] or match["fold"] or "four").lower()
    factor = float(count_of(word))
    if not 1.02 < factor < LARGEST_FACTOR:
        return None
    return Effect(Kind.GAIN, clause.start + match.start(), clause.start + match.end(), factor)


_PARTS_OF: Final = {**PARTS, "fourth": 4.0}
_MULTIPLIES: Final = Form(
    r"\b(?:chat|session|stream|reply|replies|conversation|generation|decode|decoding)"
    r" (?:(?:then|also|likewise|itself|speed|rate) )?(?P<own>doubl|tripl|quadrupl)es?\b"
    r"|\b(?P<verb>doubl|tripl|quadrupl)(?:es?|ing) (?:what (?:(?:the|our|my) )?)?"
    r"(?:the |a |an |our |each |every |any )?(?:(?:one"
    r"|single"
    r"|lone|solo|individual)[- ](?:user|stream|client|session|request|sequence|customer|chat|caller"
    r"|reader|conversation|person)|batch[- ]"
    r"(?:1|one)|bs ?=? ?1)(?:['’]s)?(?:[- ](?:chats?|stream|session|rate|speed|decode|decoding"
    r"|generation|tok\S*|experience|case|path))?(?=\s|[.,;]|$)",
)
"""A single user who is doubled: his rate is meant."""
_DOUBLING: Final = Form(
    r"\b(?P<own>doubl|tripl|quadrupl)ing (?:of|in) (?:the |his |her |their |my "
    r"|our )?(?:\w+ )?(?:tokens?"
    r"(?: rate| per second|/s)|tok/s|t/s|speed|rate|pace)\b"
)
"""A gain as a noun: "a doubling of chat speed"."""
_TIMES: Final = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}


_MULTIPLIED: Final = Form(
    r"\b(?:tg\d*|decode|decoding|(?:token |text )?generation|(?:my |your |his |her )?(?:chats?"
    r"|stream)) (?:\w+ ){0,2}?(?P<verb>doubl|tripl|quadrupl)(?:es|ed|e)\b(?! (?:the|its|in) )"
)
"""Decode itself is multiplied: "tg triples", "generation doubles"."""


def _multiplied(clause: Clause, text: str) -> Effect | None:
    match = _MULTIPLIES.search(text) or _MULTIPLIED.search(text) or _DOUBLING.search(text)
    if match is None:
        return None
    groups = match.groupdict()
    factor = _TIMES[(groups.get("verb") or groups["own"]).lower()]
    return Effect(Kind.GAIN, clause.start + match.start(), clause.start + match.end(), factor)


def elliptic(clause: Clause, text: str, last_ms: float, *, is_rate: bool) -> Effect | None:
    """A figure without its unit, which is that of the one before it."""
    for match in _ELLIPTIC.finditer(text):
        value = float(match["value"].replace(",", ""))
        tpot = (1e3 / value if is_rate else value) if value > 0 else 0.0
        if tpot and 1.02 < max(tpot / last_ms, last_ms / tpot) < _SPREAD:
            return Effect(
                Kind.FIGURE,
                clause.start + match.start("value"),
                clause.start + match.end(),
                None,
                tpot,
            )
    its = _ITS_TIME.search(text)
    if its is None or not 1.02 < max(ratio := float(its["value"]) / last_ms, 1.0 / ratio) < _SPREAD:
        return None
    start, end = clause.start + its.start("value"), clause.start + its.end()
    return Effect(Kind.FIGURE, start, end, None, float(its["value"]))


_ITS_TIME: Final = Form(
    r"\b(?:(?:it|this|that|they)\b (?:\w+ ){0,3}?(?:takes?|needs?|is|becomes?|be|to|at|lasts?)"
    r"|(?:brings?|gets?|takes?|puts?) (?:us|you|me|things|matters) (?:down )?(?:to|at))"
    r" (?:(?:about|only|just|exactly|roughly|some|down to) )?"
    r"(?:(?:half|(?:an?|one) (?:third|quarter|fifth|sixth|eighth)) of (?:that|this|it)"
    r"(?:,| \(|:) ?(?:i\.e\.,? )?)?(?P<value>[1-9]\d*(?:\.\d+)?) ?ms\b"
    r"(?! (?:per|of|for|in|more|less|faster|slower|later|earlier|each|ttft|\w+ (?:per|each)))"
)
"""A time of what was timed before: "with the new kernel it takes 5 ms"."""


def _effect(kind: Kind, clause: Clause, match: re.Match[str]) -> Effect:
    return Effect(kind, clause.start + match.start(), clause.start + match.end())
