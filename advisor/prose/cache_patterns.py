"""Forms of words that leave the cache, or the length of the context, out of decode.

Each is linear: no repetition within a repetition. They say nothing of whether that is wrong: at
short context it is right.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.prose.lengths import inputs_in, may_tell_length

_NOT_SO: Final = (
    r"(?<!non-)(?<!non )(?<!no longer )(?<!anything but )(?<!far from )(?<!nowhere near )"
    r"(?<!not at all )(?<!short of )"
)
"""What stands before a word for little that it denies."""
_HERE: Final = (
    r"(?=$|[.,;:)!?]| (?:to|for|at|in|on|here|there|then|as|and|or|but|even|once|when|if|beside"
    r"|next|compared|up|below|until|because|since|no|whatever|however|throughout)\b)"
)
"""After a word that is said of something, and is no attribute of what follows it."""
_LITTLE: Final = (
    r"(?:neglig\w+|(?:a |in the )?rounding error|(?:lost|drowned) in (?:the )?\w+|in the noise"
    r"|peanuts|(?:pocket|small|loose|spare) change|crumbs|a drop in the (?:bucket|ocean)|dwarfed"
    r"|immaterial|insignificant|trivial|tiny|irrelevant|small (?:fry|beer|potatoes)"
    r"|(?:too small|not enough) to (?:count|matter|notice)|not worth (?:counting|mentioning))"
)
_ROOM: Final = r"(?:room|space|capacity|size|fit|fitting|memory(?! bandwidth)|storage)"
_LENGTH: Final = (
    r"(?:contexts?|prompts?|sequences?|histor(?:y|ies)|length|long|many tokens|depth|deep|full"
    r"|conversations?|documents?|sessions?|tokens)"
)
_WEIGHTS: Final = (
    r"(?:the )?(?:\d[\d.,]* ?GB of )?(?:weights?|parameters|weight (?:bytes|reads?|traffic))"
)
_PREFILL_ONLY: Final = (
    r"(?:costs?|matters?|counts?|hurts?|(?:is|are|gets?) (?:paid(?: for)?|felt|noticed)"
    r"|weighs?) (?:you "
    r"|us )?(?:only|just|solely|merely) (?:at|in|during|for|before|until) (?:the )?(?:prefill"
    r"|prompt processing|first token|ttft)"
)
PREFILL_ONLY: Final = Form(rf"\b{_PREFILL_ONLY}\b")
"""A long context that is said to cost nothing after the prompt."""
KV_IGNORED: Final = Form(
    # negligible, a rounding error, vanishes beside the weights
    rf"\b(?:{_NOT_SO}neglig\w+|neglect\w*|ignor(?:e|ed|able)|{_NOT_SO}rounding error"
    r"|not worth counting"
    rf"|(?:is|are|stays?|remains?|has become|becomes?|(?<=they)['’]re|(?<=it)['’]s|(?<=that)['’]s)"
    rf" (?:(?!no|not|never|hardly|anything|far\b)\w+ ){{0,2}}?{_LITTLE}"
    r"|(?:vanish|disappear|pale|drown)(?:e?s)? (?:beside|next to|against|in|behind|under"
    r"|compared)"
    r"|(?:small|nothing) (?:against|compared|beside|next to)"
    r"|(?:with|at|for) no (?:\w+ )?(?:change|loss|drop|dent|penalty|difference|decrease|slowdown)"
    r" (?:in|of|to) (?:\w+ ){0,2}?(?:tok\S*|t/s|speed|rate|pace|latency|itl|tpot|time)"
    r"|harmless (?:for|to)|(?:changes?|alters?) nothing (?:about|in|to|for|here|there)"
    r"|makes? no difference (?:to|for|in)"
    r"|leaves? (?:\S+ ){0,3}?(?:speed|rate|pace|latency|itl|tpot|time per token) (?:intact"
    r"|unchanged"
    r"|untouched|alone|unaffected|where it (?:is|was)|as it (?:is|was))"
    r"|(?:same|identical) \d[\d.]* ?(?:tok\S*|t/s|ms) as (?:with no|without)"
    r"|(?:does|do|will|would) (?:therefore )?not (?:change|affect|alter|influence|reduce|lower"
    r"|slow)|doesn['’]t (?:change|affect|slow)"
    rf"|{_NOT_SO}irrelevant{_HERE}"
    r"|(?:does|do) not enter|plays? no (?:role|part)|no (?:role|influence|effect|impact"
    r"|bearing|say)"
    # purely a question of room
    r"|(?:purely|only|merely|just|solely|nothing but) (?:a |an )?(?:question|matter|problem|issue)"
    rf" of {_ROOM}"
    rf"|(?:only|merely|just) (?:takes?|costs?|needs?|uses?) {_ROOM}|matters? only for {_ROOM}"
    # only the weights count, set by the weights alone
    rf"|(?:only|nothing but|just|solely) {_WEIGHTS}"
    r"|weights and (?:not|nothing)|nothing (?:for|on) (?:decode |its |their )?(?:reads?|reading"
    r"|traffic|bandwidth)|(?:weights|parameters) alone"
    r"|weights (?:are|is) (?:all|the only (?:thing|part)|everything)"
    r" (?:\w+ )?(?:counts?|matters?|(?:is|gets) read|moves?|in the step)|weights and nothing else"
    rf"|(?:is|are|equals?|=|:) (?:still |just |simply )?(?:{_WEIGHTS}(?: bytes)?|\d[\d.]* ?GB)"
    r" (?:over|divided by|/|by) (?:the )?(?:memory )?bandwidth"
    # independent of how long
    r"|(?:does|do) not (?:matter|count|play)|doesn['’]t (?:matter|count)"
    r"|(?:does|do) not (?:depend on|care about|care|change with|grow with|rise with|vary with"
    rf"|react to|scale with) (?:the |how )?(?:much |many )?(?:\w+ )?{_LENGTH}"
    rf"|doesn['’]t (?:depend on|care about) (?:the |how )?{_LENGTH}"
    rf"|independent(?:ly)? of (?:the |how |its )?(?:\w+ )?{_LENGTH}"
    rf"|(?:no matter|regardless of|irrespective of|whatever|however) (?:\w+ ){{0,5}}?{_LENGTH}"
    r"|unaffected by (?:the )?(?:context|length|prompt)|no matter how long"
    # costs nothing, no extra cost, a one-time cost
    r"|(?:adds?|costs?|takes?|needs?) (?:almost |next to |practically |exactly )?(?:nothing"
    r"|no (?:extra|more"
    r"|additional|further) (?:time|cost|traffic|latency|bandwidth|bytes|reads?))"
    r"|at no (?:extra|additional|further) (?:cost|charge|expense)|no (?:extra|additional) (?:cost"
    r"|time|traffic)"
    r"|(?:is|are|comes?|stays?|remains?) (?:completely |virtually |basically )?(?:for )?free"
    r"(?! of charge)"
    r"|one-time (?:cost|expense|effort)|no (?:issue|concern|problem|obstacle|drag)"
    r"|(?:is|are|gets?|get) (?:never|not) (?:again )?(?:touched|re-?read|read|visited"
    r"|fetched)(?: again)?"
    r"|never (?:touched|read|re-?read|visited) again|no (?:dram|hbm|memory) traffic"
    r"|(?:costs?|takes?) (?:exactly |just )?(?:as much|as long|the same) as|O\(1\)"
    r"|(?:is|are) not (?:reduced|slowed|affected|touched)|wouldn['’]t (?:change|affect|slow)"
    r"|(?:counts?|sees?|reads?|needs?) (?:only )?(?:the )?weights,? (?:and nothing (?:else|more))"
    r"|(?:weights|parameters|model size|file size) (?:are|is) (?:the only|what"
    r"|all) (?:\w+ ){0,3}?(?:traffic"
    r"|reads?|counts?|matters?|budget|re-?read)|nothing else (?:needs?|is|counts?|enters?)"
    r"|drop(?:s|ped)? the (?:kv|cache) (?:term|part)|\+0 ?%|at the short-context (?:speed|rate"
    r"|pace)"
    r"|one and the same (?:rate|speed|pace)|valid (?:at|for) any"
    r"|doesn['’]t (?:touch|weigh on|hurt|burden)|nothing else (?:\w+ ){1,3}?(?:is|gets) (?:read"
    r"|moved"
    r"|transferred|fetched|streamed|loaded)"
    # the same as at 1k
    r"|(?:same|just|exactly|identical|equal) (?:as|to) (?:with|at|for|in|on) (?:an? "
    r"|the )?(?:empty|blank"
    r"|fresh|brand[- ]new|short|start|beginning|outset|first (?:page|token|turn))\w*"
    r"|(?:context|prompt|history) (?:length|size|depth) never \w+"
    rf"|{_PREFILL_ONLY}"
    r"|neither [^.;]{3,80}? (?:enters?|counts?|matters?|plays? a (?:part|role))"
    r"|keeps? (?:its|the same) (?:pace|speed|rate)"
    r"|(?:stays?|remains?|is) (?:where|what|as) it was at \d\w*"
    r"|(?:same|identical) (?:\d[\d.]* ?(?:tok\S*|t/s|ms)|speed|rate|pace|time|tpot|latency)"
    r"(?: \w+){0,2}? (?:as|to|like) (?:those |that |the )?(?:at |with |for |in |of )?(?:an? )?"
    r"(?:short|empty|new|fresh|\d)\w*"
    r"|(?:identical|equal) to (?:the )?(?:speed|rate|pace|time|that) (?:at|with|of|for)"
    r"|\bbe (?:it|they) [^.;]{2,60}? or "
    r"|(?:does|do) not (?:weigh on|burden|slow|touch|hurt|bear on)"
    r"|(?:is|are) only (?:ever )?(?:appended|written)|never (?:re-?)?read"
    r"|nothing to worry about|no (?:concern|worry)|can be (?:left out|forgotten|omitted)|left out"
    r"|(?:flat|constant|unchanged) (?:from|over|across|between|up to|all the way) )\b",
)
ANY_LENGTH: Final = Form(
    r"\b(?:independent(?:ly)? of|no matter|regardless of|irrespective of|whatever|however"
    r"|(?:does|do) not (?:depend on|care about|change with|grow with|rise with|vary with))"
    r" (?:the )?(?:how )?(?:\w+ ){0,2}?(?:long|length|many tokens|much (?:text|context)|deep|full"
    r"|context|history)\b"
    r"|\b(?:at|for|with) (?:any|every|all) (?:(?:context|prompt) )?(?:lengths?|contexts?)\b"
    r"|\b(?:context|prompt|history) (?:length|size|depth)(?: \w+)? (?:does not|doesn['’]t|never"
    r"|cannot"
    r"|can['’]t) (?:touch|affect|change|influence|slow|enter|count|hurt|matter|alter)(?:e?s)?\b"
    r"|\b(?:length|depth|size) of the (?:context|dialogue|conversation|history|prompt|session)"
    r" (?:plays? no (?:part|role)|does not (?:matter|enter|count)|is irrelevant|has no \w+)",
)
"""Every length is meant, the long ones too."""
SAME_FIGURE: Final = Form(
    r"\b(?:one|same|single|identical|very) (?:figure|number|value|rate|speed|time|tpot|itl|latency"
    r"|estimate|pace|t/s|tok\S*)\b|\btreat(?:s|ed|ing)?\b"
    r"|\b(?:time|speed|rate|latency|cost) (?:is|are|stays?|remains?) (?:the same|equal"
    r"|identical)\b"
    r"|\b(?:same|identical) as (?:at|in|with|for|on)\b|\bequals?\b|\bis (?:exactly |still "
    r"|just )?(?:that|what it (?:is|was)) (?:at|of|with|in"
    r"|for)\b"
    r"|\bmatch(?:es)?\b"
    r"|(?<!half )(?<!third )(?<!quarter )(?<!fifth )(?<!twice )(?<!times )(?<!x )(?<!not )"
    r"(?<!nowhere near )\bas (?:fast|quick|quickly|slow|slowly) (?:\w+ ){0,3}?as\b|\bintact\b"
    r"|\b(?:stays?|remains?|holds?|stands?) at (?:about |roughly |its )?\d[\d.]* ?(?:ms|tok\S*|t/s)"
    r"|\bkeeps? (?:its|the|their) (?:full |whole )?\d[\d.]* ?(?:tok\S*|t/s)"
    r"|\b(?:runs?|goes|comes?|decodes?|writes?) at the (?:speed|rate|pace) of\b"
    r"|\bcosts? what it (?:costs?|did)\b|\bholds? (?:at|for|with) \S+ (?:\w+ )?(?:as|and) (?:at"
    r"|for|with)"
    r"|\b(?:stays?|remains?|is|are|runs?|keeps?|holds?) (?:\w+ )?(?:flat|constant|unchanged"
    r"|unaffected"
    r"|level|steady)\b|\bwhere (?:it|they) (?:is|was|are|were)\b|\bno (?:slower|longer|worse)\b",
)
_FRESH: Final = Form(
    r"\b(?:empty|fresh|blank|brand[- ]new|without (?:any |the )?(?:context|retriev\w+|documents?"
    r"|history"
    r"|prompt)|first (?:turn|message|tokens?|page|line)"
    r"|(?:at|from) the (?:start|beginning|outset)|(?:start|beginning|outset) of)\b"
)
"""No context at all, to compare a long one with."""
_OF_NO_TOKENS: Final = (
    r"(?! ?(?:(?:to|and|or|-|–) \d[\d,]* ?[kK]? )?(?:users|requests|clients|conversations|images"
    r"|samples|steps|stars|lines|gpus|cores|nodes|qps|dollars|usd|eur|iterations|rows|images)\b)"
)
LENGTHS: Final = re.compile(
    rf"(?<![\w.$€])(\d{{1,4}})\s?[kK]\b{_OF_NO_TOKENS}"
    rf"|(?<![\w.,$€])(\d{{1,4}}),000\b{_OF_NO_TOKENS}"
)
_TOKENS: Final = Form(r"(?<![\w.,])(\d{2,3})[- ]tokens?\b(?! ?(?:/|per|a second))")
_NARROW: Final = (
    r"(?:fp8|int8|int4|fp4|q8|q4|[48][- ]bit|quanti[sz](?:ed|ing)|smaller|narrower|half-width)"
)
_SMALLER_CACHE: Final = (
    rf"(?:(?:{_NARROW}|compress(?:ed|ing)) (?:the )?(?:kv(?:[- ]cache)?|cache|k/v|keys and values)"
    r"|(?:evict|halv|shrink|compress|quanti[sz]|prun|trim)ing (?:\S+ ){0,5}?(?:kv|cache)"
    r"|(?:kv|cache) (?:quanti[sz]ation|compression|eviction)"
    r"|evict(?:ion of|ing) (?:\w+ ){0,2}?(?:tokens|entries|keys|turns)"
    rf"|(?:kv|cache|keys and values) (?:in|at) (?:{_NARROW}|[48] bits))"
)
_ROOM_ALONE: Final = (
    r"(?:buys?|saves?|gives?|brings?|frees?|wins?|gains?|yields?|gets?|means?) (?:you |us |only "
    r"|just "
    r"|more |some |nothing but )*(?:room|memory|space|capacity|vram)(?:,? (?:but|and)|,)"
    r" (?:(?:it|that) )?(?:no|not|never|won['’]t|will not|does not|doesn['’]t|cannot|can['’]t)"
    r" (?:\w+ ){0,3}?(?:speed|time|tokens|pace|faster|latency|milliseconds?|ms|tok\S*|rate|quicker)"
)
CACHE_LEVER_DENIED: Final = Form(
    rf"\b{_SMALLER_CACHE}\b[^.;:]{{0,48}}?"
    r"(?:(?<!not )\b(?:pointless|useless|no use|a waste|not worth (?:it|the)|for nothing)\b"
    r"|\b(?:brings?|buys?|gains?|gives?|wins?|does|changes?) nothing\b"
    rf"|\b{_ROOM_ALONE}\b"
    r"|\b(?:cannot|can['’]?t|can not|will not|won['’]t|does not|doesn['’]t)"
    r" (?:make|speed|shorten|help|lower|cut|reduce|change|move|affect|raise|improve|touch))",
)
"""A smaller cache that is said to bring nothing."""
CELL_IGNORED: Final = Form(
    r"\s*(?:~\s?0|≈\s?0|0|none|negligible|ignored|neglected|tiny|-+|–|—|n/?a|rounding error)\s*"
    r"(?:GB|MB)?\s*",
)
"""A cell that leaves out what its column asks for."""
_POWERS: Final = re.compile(
    r"(?<![\w.,])(?:d ?)?(4096|8192|16384|32768|65536|131072|262144|524288|1048576)\b(?! ?[x×])"
)
_ORDINALS: Final = re.compile(r"(?<![\w.,])(\d[\d,]*)(?:st|nd|rd|th)\b")
"""Of tokens: "the 100,000th comes as quickly as the 20th"."""
_LONG: Final = 32_000
"""Tokens from which on twice as many are felt."""
_FAR: Final = 8
"""Times the context, from which on no model with a full cache keeps its rate."""


def lengths_in(text: str) -> list[int]:
    """Lengths in tokens that a text names: "32k", "128K", "4,000"."""
    thousands = [int(kilo or other) * 1000 for kilo, other in LENGTHS.findall(text)]
    whole = {1024 * thousand // 1000 for thousand in thousands}
    ordinals = [int(match[1].replace(",", "")) for match in _ORDINALS.finditer(text)]
    powers = [int(match[1]) for match in _POWERS.finditer(text)]
    return [
        *thousands, *powers, *ordinals,
        *(length for length in inputs_in(text) if length not in whole),
        *(int(match[1]) for match in _TOKENS.finditer(text)),
    ]  # fmt: skip


def spans_lengths(text: str) -> re.Match[str] | None:
    """Where one figure is given for contexts that lie far apart."""
    told = SAME_FIGURE.search(text) if may_tell_length(text) else None
    if told is None:
        return None
    lengths = [length for length in lengths_in(text) if length > 0]
    if not lengths:
        return None
    least, most = min(lengths), max(lengths)
    far = most >= _FAR * least or (least >= _LONG and most >= 2 * least)
    return told if far or _FRESH.search(text) is not None else None
