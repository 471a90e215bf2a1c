"""Forms of words that a gain is told by: factors, percentages, parts of a time, fewer bytes.

Each is linear: no repetition within a repetition.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from advisor.forms import Form

SIGNED_PERCENT: Final = Form(r"(?<![\w.])([-+−–])\s?(\d{1,3}(?:\.\d+)?)\s?%")
BARE_FACTOR: Final = re.compile(r"\s*(?:about |~|up to |≈ ?)?(\d{1,3}(?:\.\d+)?)\s?[x×]\b")
FRACTION: Final = Form(
    r"\b(?<!first )(?<!second )(?<!other )(?<!latter )(?P<part>half|quarter|(?:(?<=\ba )"
    r"|(?<=\ban )|(?<=\bone )|(?<=\bthe )|(?<=\bby )|(?<=\bto )"
    r"|(?<=\beach )|(?<=-)|(?<=\btwo ))(?:third|fifth|sixth|seventh|eighth|tenth|twelfth"
    r"|sixteenth|twentieth))"
    r"s?\b(?! (?:million|billion))",
)
PERCENT_OF_TIME: Final = Form(
    r"\b(\d{1,2}(?:\.\d+)?)\s?% of (?:the (?:\w+[- ]){0,3}?(?:time|latency|tpot|itl|original"
    r"|baseline)"
    r"|what (?:it|they) (?:is|was|were|used)|before)\b",
)
TIMES: Final = Form(
    r"\b(?P<times>\d{1,3}(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen"
    r"|sixteen|twenty)(?:\s?x|\s?×|[- "
    r"]times|[- ]?fold)\b(?! ?(?:(?:[habl]|mi|rtx|gtx|v|gb|gh)\s?\d{2,4}"
    r"|(?:the |as many |more )?(?:gpus?|cards?|devices|chips|accelerators|nodes|machines)\b))"
    r"|(?<![\w×])[x×]\s?(?P<factor>\d{1,3}(?:\.\d+)?)\b(?!\s?[x×GT])",
)
OF_PARTS: Final = Form(
    r"\s*of (?:the |all |its |our |their |these |those )?(?:\w+[- ]){0,2}?(?:heads|layers|blocks"
    r"|weights|parameters|zeros|entries|values|rows|columns|neurons|channels|gates|visits|bytes"
    r"|multiplications|flops|operations|arithmetic|math|experts|tokens(?! (?:time|latency|per|an?"
    r"|each)\b|/)|users"
    r"|requests|cards|gpus"
    r"|scores?|masks?|memory|traffic|cache|reads|accesses)\b",
)
"""A part of something that is no time."""
SMALLER_SIZE: Final = Form(
    r"\b(\d+(?:\.\d+)?) ?GB\b(?!/s)[^.;:]{0,24}? (?:to|into|becomes?|->"
    r"|→)[^.;:\d]{0,20}(\d+(?:\.\d+)?)"
    r" ?GB\b(?!/s)",
)
_OLD: Final = (
    r" (?:instead of|rather than|not the|down from|against|not|where (?:it|they|there|we|you|one)"
    r" (?:\w+ ){0,2}?(?:was|were|be|had|moved|read|needed|took|fetched|streamed|loaded|pulled"
    r"|required|did|weighed|(?:to )?(?:pull|read|fetch|stream|load|move)))"
)
FEWER_READ: Final = Form(
    r"\b(?:(?:fetch|read|load|stream|mov|pull)\w*|token (?:needs?|takes?|costs?))[^.;:\d]{0,16}"
    r"(?P<now>\d+(?:\.\d+)?) ?GB\b(?!/s)"
    rf"[^.;:\d]{{0,24}}?{_OLD}"
    r" [^.;:\d]{0,12}(?P<then>\d+(?:\.\d+)?)(?: ?GB\b(?!/s)|(?=[,;.)]|$| per| a | for))",
)
"""Fewer bytes read than before: "fetches 7 GB per token instead of 14 GB"."""
SIZE_WHERE: Final = Form(
    r"\b(?P<now>\d+(?:\.\d+)?) ?GB\b(?!/s)[^.;:\d]{0,24}? (?:instead of|rather than|down from"
    r"|where (?:it|they|there|we|you)"
    r" (?:\w+ ){0,2}?(?:was|were|be|had|needed|took|weighed)) [^.;:\d]{0,12}"
    r"(?P<then>\d+(?:\.\d+)?)(?: ?GB\b(?!/s)|(?=[,;.)]|$))",
)
"""A smaller size, and the one before it: "8 GB where there used to be 16"."""
PART_OF_OLD: Final = Form(
    r"\b(?:is|are|becomes?|falls? to|drops? to|shrinks? to) (?:only |just |about )?(?:0?\.\d+"
    r"|\d{1,2} ?(?:%|per ?cent)) (?:times |of )(?:the|its|that|what|their) (?:of )?(?:original"
    r"|former"
    r"|dense|previous|old|before|it was|they were)"
)
"""Bytes as a part of those before: "is 0.4 of the original"."""
LESS_TO_READ: Final = Form(
    r"\b(?:\d{1,2} ?(?:%|per ?cent) (?:less|fewer)|\d[\d.]* ?GB (?:less|fewer)|(?:only )?(?:half"
    r"|a third|a quarter|a fifth)"
    r"(?: as much)?|less|fewer|(?:much|far) less) (?:of (?:it|that|them) |bytes |data |kv "
    r"|kv cache |cache |weights "
    r"|of what (?:is|was|remains) (?:left |there )?)?to (?:be )?"
    r"(?:load|read|fetch|stream|move|transfer|pull|drag|haul|carry|shift|ship)(?:ed|red|d)?\b"
    r"|\b(?:only|just|merely) (?:the )?(?:surviving|remaining|other|non-?zero) (?:\d{1,2} ?%|half"
    r"|(?:\w+ )?(?:thirds?|quarters?|fifths?|tenths?)) to (?:load|read|fetch|stream|move|transfer"
    r"|pull|drag|haul|carry|shift|ship)\b"
    r"|\b(?:pulls?|reads?|fetch(?:es)?|moves?|streams?|hauls?|drags?|loads?|carr(?:y|ies))"
    r" (?:only |just )?(?:half as much|(?:an? )?(?:third|quarter|fifth) as much"
    r"|\d{1,2} ?(?:%|per ?cent) (?:less|fewer)) (?:out of|from|over|across|per|for|data|bytes)\b"
    r"|\bonly half (?:of )?(?:the |its |all )?(?:weights?|bytes|data|values|matri(?:x|ces))\b"
    r"[^.;:,]{0,16}? (?:is|are|gets?|needs? to be|ha(?:s|ve) to be) (?:read|fetched|streamed|loaded"
    r"|moved)\b"
    r"|\b(?:reads?|fetch(?:es)?|streams?|loads?|moves?) (?:only )?half (?:of )?(?:the |its )?"
    r"(?:memory|bytes|weights|data|traffic)\b"
)
"""Less to read: "has 60% less to load"."""
OF_THE_RATE: Final = Form(
    r"(?: of)? the (?:[\w/-]+ )?(?:speed|pace|rate|tokens?(?:/s| per second)|tok/s|t/s)\b",
)
LESS_OF: Final = Form(r"\b(?:only|just|merely)\b.{0,20}?\d\s?%? of")
TO_A_PART: Final = Form(
    r"\b(?:cuts?|brings?|takes?|reduces?|lowers?|shrinks?|falls?|drops?"
    r"|goes)\b[^.;:]{0,40}? (?:close |near |down )?to (?:\w+ly )?(?:an? |one |about (?:an? )?"
    r"|almost (?:an? )?|just (?:an? )?|the )?(?P<part>half|third|quarter|fifth|sixth|eighth|tenth"
    r"|sixteenth)\b",
)
IS_A_PART: Final = Form(
    r"\b(?:time|latency|tpot|itl|wait)(?: per (?:output )?token| a token)?,? (?:then |now )?(?:is"
    r"|becomes?|will be|would be) (?:then |now |only |just |about |roughly |nearly |almost "
    r"|close to "
    r")*(?:an? |one )?(?P<part>half|third|quarter|fifth|sixth|eighth|tenth)\b(?=\W*$|[,;)]"
    r"| of (?:what|that of|the (?:single|old|former|original|previous|current|dense|present)))"
)
"""A time that is a part of the one before it: "its token time is a quarter"."""
BECOMES: Final = Form(
    r"\b(\d{1,5}(?:\.\d+)?) ?(?:ms|s)(?: per token| a token|/token)?,? (?:(?:will )?(?:now "
    r")?takes?|becomes?|turns? into|shrinks? to"
    r"|->|→) (?:about |only )?(\d{1,5}(?:\.\d+)?) ?(?:ms|s)\b",
)
FACTOR_OF: Final = Form(
    r"\bfactor (?:of )?(?P<times>\d{1,3}(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten"
    r"|twelve|fifteen|sixteen|twenty)\b",
)
OF_A_FIGURE: Final = Form(
    r"\b(?P<verb>halv|quarter|third|doubl|tripl|quadrupl)\w* (?:the|our|its|these|those|that"
    r"|today['’]s) "
    r"(?:current |present |measured )?\d[\d.,]* ?(?P<unit>ms|[uµ]s|s\b|tok\w*/s|t/s|tps)",
)
"""A figure that a verb multiplies: "halves the 24 ms"."""
BEATS_BY: Final = Form(
    r"\b(?:outruns?|outpaces?|beats?|outperforms?|overtakes?|surpass(?:es)?|leads?)\b[^.;:,]{0,32}?"
    r" by (?:a factor (?:of |near |close to |around |about |some "
    r"|roughly )*(?P<factor>\d(?:\.\d+)?)"
    r"|(?:about |some |roughly |nearly |almost |up to )*(?P<times>\d(?:\.\d+)?) ?(?:x\b|×|times))"
)
"""One of two that is faster: "W8A8 outruns W8A16 by a factor near 1.5"."""
AGAIN: Final = Form(
    r"\W*(?:about |some |roughly |nearly |almost |up to |another )*(?P<factor>\d(?:\.\d+)?) ?[x×]"
    r" (?:once more|once again|again|on top(?: of (?:that|it|this))?|extra|further)\W*$"
)
"""A gain on top of one told before, after the lever and a colon."""
VERBS: Final = MappingProxyType({"halv": 2.0, "doub": 2.0, "trip": 3.0, "quad": 4.0})
PRODUCT: Final = Form(
    r"\b(?:multipl(?:y|ies|ied|ying)|compounds?|compounding|combines?|stacks?)"
    r" (?:up )?(?:together )?to (?:about |some |roughly |a factor of )?(?P<times>\d{1,3}(?:\.\d+)?"
    r"|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|fifteen|sixteen|twenty)"
    r"(?: ?[x×]| times)?\b(?! ?(?:%|[kMGT]?B\b|ms|tok|tokens|users|layers|gpus|cards|bits))",
)
"""Gains multiplied with each other: "which multiplies to fourteen"."""
AS_FAST: Final = Form(
    r"\b(?P<times>\d{1,3}(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen"
    r"|sixteen|twenty)(?:\s?x|\s?×|[- "
    r"]times)?"
    r" (?:as (?:fast|quick|quickly|short|responsive|snappy|rapid(?:ly)?)|faster|quicker)\b"
    r"|\b(?P<twice>twice) as (?:fast|short|quick(?:ly)?|responsive|snappy|rapid(?:ly)?)\b",
)
SAME_BYTES: Final = Form(
    r"\b(?:same|equal|identical|as much|unchanged) (?:\w+ ){0,2}?(?:traffic|bytes|reads|data)\b"
    r"|\bstill (?:\w+ )?\d[\d.]* ?GB\b(?!/s)",
)
UP_A_PART: Final = Form(
    r"\b(?:up|rises?|grows?|gains?|climbs?|increases?|improves?) (?:by )?(?:an?|one) (?P<part>half"
    r"|third|quarter|fifth|sixth|eighth|tenth)\b(?! of)"
)
"""A rate that grows by a part of itself."""
HALF_SPEED: Final = Form(
    r"\bat (?:an? |one )?(?P<part>half|third|quarter|fifth|sixth|eighth|tenth)(?: of)? (?:the "
    r"|its )?"
    r"(?:speed|rate|pace)\b"
    r"|\bat (?:(?:some|about|around|roughly|only|just) |~ ?)?(?P<percent>\d{1,2}) ?% of (?:the "
    r"|an? )?"
    r"[\w-]*\d\w*(?:['’]s)? (?:speed|rate|pace)\b"
)
"""The speed of something as a part of that of another: "at 15% of the H100's pace"."""
OUTPACES: Final = Form(
    r"\bleav(?:es?|ing) (?:[\w-]+ ){1,4}?(?:far |well |clearly )?behind\b"
    r"|\b(?:writ|typ|answer|repl|generat)\w+ (?:circles|rings) a?round\b"
    r"|\bruns? (?:circles|rings) a?round\b"
)
"""Something that is faster than another, as people say it."""
OFF_THE_TIME: Final = Form(
    r"\b(?:(?P<percent>\d{1,2}(?:\.\d+)?) ?%|(?:(?:an?|another|one|some) )?(?:further |full |whole "
    r"|good )?(?P<part>half|third|quarter|fifth|sixth|eighth|tenth)) off (?:of )?(?:the |each "
    r"|every |our |its )?(?:\w+['’]?s?[- ]){0,2}?(?:time|latency|tpot|itl|tbt|wait|tokens?|step)\b",
)
STEP_SHRINKS: Final = Form(
    r"\bsteps? (?:(?:[\w-]+ ){0,4}?)(?:shortens?|shrinks?|gets? shorter|falls?|drops?"
    r"|becomes? shorter|comes? down|go(?:es)? down|is cut)"
    r" by (?:(?:about|around|close to|roughly|nearly|almost|up to|some) |~ ?)?(?:"
    r"(?P<percent>\d{1,2}(?:\.\d+)?) ?%|(?:an? |one )?(?P<part>half|third|quarter|fifth|sixth"
    r"|eighth"
    r"|tenth)\b(?! (?:of|the)))"
    r"|\bwaits? (?:(?:about|around|roughly|some|nearly|almost|up to|only|just) ){0,2}(?:"
    r"(?P<less>\d{1,2}(?:\.\d+)?) ?%|(?:an? |one )?(?P<piece>half|third|quarter|fifth|sixth|eighth"
    r"|tenth)) (?:less|shorter)\b"
)
"""A step that gets shorter, or a user who waits less: "the step shortens by close to 12%"."""
SAVES_OF_STEP: Final = Form(
    r"\b(?:sav|shav|spar|cut|trim|remov|tak)\w* (?:us |you )?(?:another |about |roughly |some )?(?:"
    r"(?P<percent>\d{1,2}) ?%|(?:an? |one )?(?P<part>half|third|quarter|fifth|sixth|eighth|tenth))"
    r" (?:(?:of|from) (?=each|every)|off )(?:each|every|the) (?:decode |decoding |generation )?"
    r"steps?\b(?!['’])"
)
"""A part of each step that is saved: "saves a third of each step"."""
GAIN_IN: Final = Form(
    r"\b(?:buys?|gains?|gives?|brings?|wins?|yields?|worth|earns?|nets?|delivers?|picks? up"
    r"|adds?)\b"
    r"[^.;:,]{0,20}?"
    r"(\d{1,3}(?:\.\d+)?) ?% (?:in|on|of|for) (?:the |our )?(?:\w+[- ]){0,2}?(?:tpot|itl|tbt"
    r"|latency|speed|decode|decoding|generation|tok(?:en)?s?\b)",
)
GAINS_FIGURE: Final = Form(
    r"\b(?:(?:gains?|wins?|earns?|nets?|picks? up|profits? by|improves? by|(?:is|are) worth)"
    r" (?:(?:some|about|roughly|around|up to|at (?:best|most|least)|as much as|nearly|almost"
    r"|close to|a|another|up|those|these|the|full|same|whole) |~ ?|≈ ?)*|(?:gets?|sees?|enjoys?"
    r"|inherits?|receives?|has|have|takes?|reaps?) (?:those|these|the (?:same|full|whole|very)) )"
    r"(\d{1,3}(?:\.\d+)?) ?(x\b|×|%)"
    r"(?! (?:more|less|fewer|of|in|on|for|accuracy|quality|points|memory|capacity|room))",
)
"""A gain of what decodes, in figures: "a lone chat can gain up to 3x"."""
ANOTHER: Final = Form(
    r"\b(?:adds?|gives?|brings?|buys?|yields?|worth) (?:us |you |it )?(?:another|a further"
    r"|an extra|an"
    r" additional|a) (\d{1,3}(?:\.\d+)?)\s?(%|x\b|×)(?! (?:more|less|fewer|of))",
)
"""A gain on top of one told before, whose metric it keeps."""
GONE: Final = Form(
    r"[^.;:,]{0,24}?\b(?:goes(?! (?:to|into|on))|is gone|vanish\w*|disappears?|falls away"
    r"|is (?:saved|won|cut|removed)"
    r"|less|sooner|shorter)\b",
)
SAVES: Final = Form(
    r"\b(?:sav(?:es?|ed|ing)|shav(?:es?|ed|ing)|cut(?:s|ting)?|remov(?:es?|ed|ing)|wins?|gains?"
    r"|trims?|slash(?:es)?)\b(?![^.;:]* to (?:an?|one)? ?$)[^.;:]{0,70}$",
)
"""Around a part of a time: it is what is saved, not what is left."""
