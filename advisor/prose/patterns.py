"""Forms of words that effects are read by. Each is linear: no repetition within a repetition."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from advisor.forms import Form
from advisor.quantity.numerals import NUMERALS

FIGURE: Final = Form(
    r"\d\s?(?:x\b|×|%|per ?cent\b|pct\b|[GkM]B\b|ms\b|us\b|µs|milliseconds|microseconds|tok"
    r"|t/s|tps\b|times\b|s per token|s/token)|\d[- ](?:\w+ )?tokens?\b|[x×]\s?\d|\d-fold\b"
    r"|\b(?:tok(?:en)?s? ?(?:/|per|an?|each|every) ?s(?:ec(?:ond)?)?|factor of)\b"
    r"|\b(?:twice|thrice|half|halv(?:e|es|ed|ing)|thirds?|quarters?|fifths?|tenths?|doubl(?:e|es|ed"
    r"|ing)|tripl(?:e|es|ed|ing)|quadrupl(?:e|es|ed|ing)|\w+fold|per ?cent"
    r"|(?:two|three|four|five|six|eight|ten) times)\b",
)
PARTS: Final = MappingProxyType(
    {"half": 2.0, "third": 3.0, "quarter": 4.0, "fifth": 5.0, "sixth": 6.0, "seventh": 7.0,
     "eighth": 8.0, "tenth": 10.0, "twelfth": 12.0, "sixteenth": 16.0,
     "twentieth": 20.0}
)  # fmt: skip
UTILISATION: Final = Form(
    r"(?<![\d.])(?P<low>\d{1,2}(?:\.\d+)?)(?:\s?[-–]\s?\d{1,3}|\s?%? to \d{1,3})?\s?%"
    r" (?:of (?:the )?(?:peak )?(?:flops|tflops|peak compute|compute)"
    r"(?! (?:per|a|each|for|go|goes|away)\b)"
    r"|mfu|(?:tensor core |compute )?utili[sz]ation)|(?:mfu|utili[sz]ation) (?:of|is|at|around"
    r"|reaches) (?:about |around )?(?P<other>\d{1,2})\s?%",
)
REMOVING: Final = Form(
    r"\b(?:cut|sav|remov|skip|drop|avoid|elimin|spar|strip|prun|reduc|lower|fewer|less)\w*"
    r"(?: \w+){0,4} $"
)
"""Right before a part of the arithmetic: it is taken away, and not what is used."""
UNUSED: Final = Form(
    r"(?: \w+){0,3}? (?:unused|idle|empty|asleep|wasted|to waste|waiting|on the table)\b"
)
"""Right after a part of the arithmetic: it is not used."""
NOT_BEFORE: Final = Form(
    r"\b(?:not|never|isn['’]t|hardly|neither)\b[^.;:]{0,40}$",
)
QUADRATIC: Final = Form(
    r"\b(?:quadratic(?:ally)?|square of|squared|n\^2|n²)"
    r"|\bquadruples? (?:when|if|as|once|each time|whenever) [^.;:]{0,24}?(?:context|window|length"
    r"|prompt|history|conversation)\w* doubles"
    r"|\b(?:twice|double|doubling) (?:of )?(?:the |as much |its |our )?(?:context|window|length"
    r"|history|prompt)\b[^.;:]{0,30}? (?:(?:four times|4x|quadruple) (?:the|as much|its)"
    r"|quadruples)"
    r" (?:the )?(?:kv|cache)"
)
READS: Final = Form(
    r"\b(?:(?:goes|go|pass|passes|runs?|flows?|travels?|moves?) through|visits?|reads?"
    r"|streams?|streamed|loads?|loaded|fetch(?:es|ed)?|touch(?:es|ed)?|mov(?:e|es|ed)"
    r"|pull(?:s|ed)?|traverses?|transfers?|transferred|cross(?:es)?|sweeps?|(?:full|complete|whole)"
    r" pass over|(?:has|have|needs?|must) (?:to )?(?:move|deliver|fetch|sweep|read|stream|come out)"
    r"|(?:traffic|bytes|bandwidth|weights)(?: \w+){0,2}? per (?:\w+ )?token|per-token (?:bytes"
    r"|traffic|weight\w*)"
    r"|(?:token|bandwidth) (?:\w+ ){0,3}?(?:costs?|needs?|sees?|requires?|takes?))\b",
)
CAPACITY_DRIVES: Final = Form(
    r"\b(?:speed|rate|pace|t/s|tok(?:en)?s?/s|tokens per second|tg|tps|generation|decod\w+|fast)\b"
    r"(?: \w+){0,3}? (?:(?:goes|go|grows?|rises?|scales?|increases?|climbs?) (?:\w+ )?with"
    r"|follows?|tracks?|(?:is|are) (?:\w+ )?proportional to|depends? (?:\w+ )?on|hinges? on|(?:is"
    r"|are) (?:\w+ )?(?:set|decided"
    r"|determined|given|limited|governed) by|comes? (?:\w+ )?from|is a (?:matter|question"
    r"|function) of) (?:the |how (?:much|many) )?(?:amount of |size of )?(?:vram|gigabytes"
    r"|gb\b|memory(?: size| capacity| amount)|capacity|(?:card|hbm|ram)(?:'s)? (?:size|capacity)"
    r"|memory (?:a |the |you |is ))"
    r"|\b(?:(?:memory|vram|ram|card|hbm) (?:size|capacity|amount)|(?:amount|size) of (?:the )?"
    r"(?:memory|vram|ram)|capacity|(?:the )?(?:number of )?gigabytes) (?:\w+ ){0,2}?(?:decides?"
    r"|determines?|sets?|governs?|dictates?|drives?|limits?|fixes) (?:how (?:fast|quick)|(?:the "
    r"|your |our )?"
    r"(?:speed|rate|pace|tokens|decode|generation))"
    r"|\bwhat (?:\w+ )?(?:matters|counts|decides|sets|drives|limits)\b[^.;:]{0,24}?\b(?:speed|rate"
    r"|pace|tokens per second|t/s|tok/s|fast)\b[^.;:]{0,12}? is (?:the )?(?:amount of |size of )?"
    r"(?:vram|memory (?:size|capacity)|memory(?! band)|capacity|gigabytes)\b"
    r"|\b(?:extra|additional|more|missing|larger|bigger) (?:\w+ ){0,2}?(?:gigabytes|gb|vram|memory"
    r"|capacity) (?:is|are|was|were) (?:the |what |why |behind )(?:only )?(?:\w+ )?(?:reason|cause"
    r"|explanation|makes?|made|gives?|that)\b"
    r"|\b(?:fast|quick)(?:er|ly)?,? (?:because|since|as) (?:it|the \w+) (?:has|have|holds|offers"
    r"|comes with) (?:more|twice the|double the) (?:memory|vram|gigabytes|gb|ram)\b",
)
"""Memory size that is said to set speed."""
_WAY: Final = r"(?:(?:entirely|wholly|fully|completely|easily|happily|comfortably|nicely|just) )?"
FITS: Final = Form(
    rf"\b(?:runs? {_WAY}(?:in|on|inside|within|from)|fits?(?: {_WAY}(?:into|in|on|inside|within))?"
    r"|fitting"
    r"|needs? (?:only|just|no more than|at most|a mere)|only needs?|requires? (?:only|just)"
    r"|(?:gets?|makes?|can) (?:by|do) with"
    r"|(?:is|are|will be|should be) (?:(?:therefore|thus|hence|then|already|quite|more than|amply)"
    r" )?(?:enough|plenty|sufficient|ample|adequate|all (?:it|you|we|one) needs?)"
    r"|(?:can|could|will) be (?:kept|held|hosted|run|stored|served|housed) (?:on|in|by)"
    r"|suffices?|(?:can|will) (?:(?:therefore|thus|hence|then|easily|simply) )?(?:serve|hold|host"
    r"|run|take|carry|store|load|keep (?!us|you|me|up))"
    r"|(?:holds?|hosts?|carries|stores?|takes|keeps|accommodates?|houses?) (?:it|them|everything"
    r"|all of it|the (?:\w+ )?(?:model|thing|lot|weights)|\w+[- ]?\d\w*)"
    r"|(?:will|would|should|can) do\b|does (?:the|this) (?:job|trick)|do (?:the|this) (?:job|trick)"
    r"|(?:has|have|needs?|must) (?:to )?(?:only )?be (?:resident|held|kept|in (?:memory|vram|hbm))"
    rf"|go(?:es)? {_WAY}(?:in|into|on|onto)|squeezes? {_WAY}(?:in|into|on|onto)"
    rf"|loads? {_WAY}(?:into|onto|in|on)"
    rf"|(?:has|have) room for|is (?:within|in) reach of|(?:lives?|sits?|stays?) {_WAY}(?:in|on"
    rf"|inside)"
    r"|(?:needs?|takes?|wants?|requires?|occup(?:y|ies)) (?:about |some |roughly )?\d[\d.]* ?GB\b"
    r"(?!/s)(?: (?:of|on|in) (?:gpu |device |the |that |this |its )?(?:memory|vram|ram|hbm|card"
    r"|gpu|device"
    r"|board|[A-Z]{1,3}\d+\w*)| in (?:fp|bf|int)\d| at \d)"
    r"|(?:is|are) (?:(?:therefore|thus|hence|then) )?(?:accommodated|held|hosted|housed"
    r"|stored) (?:by"
    r"|in|on)"
    r"|^\W*(?:(?:so|hence|thus|therefore) )?(?:about |just |only )?\d[\d.]* ?GB (?:of )?(?:memory"
    r"|vram|ram|hbm)\b"
    r"|^\W*(?:(?:so|hence|thus|therefore) )?(?:just )?(?:one|an?|a single) \d{1,3} ?GB (?:card|gpu"
    r"|accelerator|device|board|laptop|mac|part)(?=\W*$| (?:at|in|for|with)\b[^,;]{0,40}$)"
    r"|(?:means|makes|gives|comes to) (?:about )?\d[\d.]* ?GB of (?:memory|vram|ram|hbm)"
    r"|(?:memory|vram|ram) (?:needed|required|requirement|need|budget|footprint)\b)",
)
"""What memory is said to be enough."""
OVER_ALL: Final = Form(
    r"\b(?:sav(?:es?|ed|ing)|cuts?|reduc(?:es?|ed|ing|tion of)|lowers?|removes?|eliminates?"
    r"|shaves off|drops by|falls by|shrinks by)\s(?:\w+\s){0,4}?(?:by |of )?([1-9]\d\d)\s?%",
)
OF_SOMETHING: Final = Form(
    r"\s*(?:(?:the|in|its|their|of|as many|as much|more|fewer|less|larger|smaller|bigger"
    r"|higher)\s+)"
    r"(?:[\w-]+\s+){0,4}?(?:bytes?|flops?|memory|parameters|weights?|bandwidth|experts?|batch"
    r"|tokens?(?!/)|users|requests|cache|tflops|compute|work|gpus|cards|devices|chips|nodes|figure"
    r"|size|capacity|vram"
    r"|traffic|b16)\b",
)
OF_A_THING: Final = Form(
    r"\b(?:batch|cache|memory|bytes|weights?|model|size|bandwidth|capacity|flops|compute)\s+"
    r"(?:is|are|was|were|becomes|gets|fell|grew|grows|falls)\s*(?:about |by )?$",
)
OF_AN_ERRAND: Final = Form(
    r"\b(?:downloads?|uploads?|cold starts?|start-?ups?|installs?|installation|deployments?"
    r"|builds?|compilation|conversion|backups?|transfers?|evaluation|fine-?tuning|loading)"
    r" (?:is|are|was|were|becomes?|gets?|got|runs?|ran|goes|finish(?:es|ed)?)"
    r" (?:now |then |also |about |roughly |some |an? |by |almost |nearly |third |quarter |half"
    r" |fifth |\d+ ?% |much |far )*$",
)
"""Something done once, of whose speed the words after it tell."""
OFTEN: Final = Form(r"of the time\b(?! (?:per|for|between|of|a token|each))")
OUT_OF_SO_MANY: Final = Form(
    r" (?:in|out of) (?:every )?(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twelve"
    r"|twenty|a hundred)\b(?! ?(?:m?s|seconds?|minutes?|%|x|tok\w*)\b)"
)
"""After so many times: how often something is the case, and no factor."""
SO_OFTEN: Final = Form(
    r" (?:per|a|an|each|every|for (?:each|every)|in (?:each|every|a)) (?:\w+ )?(?:tokens?|steps?"
    r"|layers?|pass|requests?|second|minute|forward|iteration|call|round|batch|block|run|time)\b"
)
"""After so many times: how often a thing is done in another."""
DONE_SO_OFTEN: Final = Form(
    r"\b(?:re-?)?(?:used|read|called|launched|run|ran|executed|repeated|loaded|invoked|applied"
    r"|fetched|visited|touched|sampled|measured|tested|tried|happen(?:s|ed)?|occur(?:s|red)?"
    r"|copied|written|accessed|restarted|retried|averaged|synchroni[sz]ed|evaluated|streamed"
    r"|swapped|evicted|seen|asked|counted)(?: again)?,? (?:up to |at least |at most |more than "
    r"|about |only "
    r"|some |roughly |around |exactly |a total of )?$"
)
"""Before it."""
COMPARED: Final = Form(r" (?:the|as|more|fewer|less|faster|slower|higher|lower|better|that|what)\b")
TAKES: Final = Form(
    r"\b(?:tak(?:e|es|ing)|needs?|costs?|in|to|within|after|of what|sav(?:e|es|ing)|cuts?|by)\b",
)
SET_APART: Final = Form(
    r"\b(?:unlike|in contrast to|as opposed to|contrary to"
    r"|different from) [^,;:.]{0,24}?\b(?:batch\w*"
    r"|bs|users?|streams?|requests?|sequences?|load|concurrency)\b[^,;:.]{0,16}(?=[,;:.)]|$)"
)
"""A regime that is named as another one: "unlike at batch 1, ..."."""
OTHER_SIDE: Final = Form(
    r"\b(?:rather than|than|before|instead of|different from|not|versus|vs\.?|or|from being"
    r"|no longer|without being)\s+(?:\w+\s+)?$",
)
OF_THE_TIME: Final = Form(
    r"(?: of)? the (?:\w+ )?(?:time|latency|wait)\b| as long\b",
)
ADVICE: Final = Form(
    r"\b(buy|choose|pick|prefer|select|opt for|invest in|(?:sort|rank|order|compare)(?: \w+)? by"
    r"|(?:get|take|use|want) (?:whatever|whichever|the (?:one|card|gpu|chip|machine|laptop"
    r"|box) (?:that"
    r"|which)) |(?:look|go) (?:at|by) (?=(?:the )?(?:[tp]flops|tops|core count))"
    r"|(?:you|we|i|they) (?:want|need)[^.;:]{0,30}? is (?:the one )?(?:with )?the (?:most|highest"
    r"|biggest|largest))\b"
    r"|(?:^\W*|[,;:.—–(] ?|\b(?:should|must|to|you|we|i|and|or|then|please|better|would|will|can"
    r"|always"
    r"|just|simply|rather|also|not|never|that|is) )(buy|take|choose"
    r"|(?<!you )(?<!we )(?<!i )get|pick|prefer|go for|pay for|select|look for|invest in"
    r"|opt for|rank)\b"
    r"(?! (?:\w+ ){0,2}?[\d.]+ ?(?:ms|[uµ]s|s|%|x|tok\S*|t/s)\b)",
)
SAME_AS_SHORT: Final = Form(
    r"as (?:fast|quickly) as an empty|(?:leaves?|leaving) (?:the )?(?:\w+[- ]){0,3}?(?:rate|speed"
    r"|pace|latency|time)\b[^.;:]{0,24}? as (?:it|they)|\b(?:runs?|works?|goes"
    r"|decodes?) at the same"
    r" \d|(?:is|are) the weights (?:over|divided by) the bandwidth|"
    r"(?:(?<!half )(?<!third )(?<!quarter )as fast|as quick(?:ly)?|same (?:speed|rate|pace"
    r"|\d+ ?tok\S*)|no slower|\d+ ?tok\S*"
    r"|just as \w+) (?:\w+ ){0,3}?(?:as|than) (?:at|with|for) \d",
)
PER_TOKEN: Final = Form(
    r"ms (?:per|a|/) ?token|ms/token|ms (?:between|for (?:each|every)|from) (?:\w+ )?tokens?"
    r"|\b(?:tpot|itl|tbt)\b|per token",
)
OF_SHAPE: Final = Form(
    r"\bM ?= ?\d{3}|(?<![\w.])\d{3,5} ?(?:\^ ?3\b|³|cubed\b|[x×] ?\d{3,5}(?!\d))"
    r"|\b(?:products?|matrices|problems|gemms?) of (?:size )?\d{3,5}\b"
)
"""The shape of a product of many rows, as kernels are timed with: "8192x8192x8192", "M=4096"."""
SOME_DIGIT: Final = re.compile(r"\d")
SOME_AMOUNT: Final = re.compile(
    r"\d ?(?:[kMGT]B\b(?!/s)|ms\b|[uµ]s\b|s\b|seconds?\b|minutes?\b|hours?\b)"
)
_LARGEST_WORD: Final = 20
NUMBER_WORDS: Final = MappingProxyType(
    {word: float(number) for word, number in NUMERALS.items() if 2 <= number <= _LARGEST_WORD}
)
OF_PROMPT: Final = Form(
    r"\b(?:prompts?|prefill\w*|prompt processing|pp\d*)\b(?![^.;]{0,24}\b(?:decod|writ|generat|tg))"
    r"[^.;]{0,16}$"
)
OF_WHICH: Final = Form(
    r"\b(?:account\w* for|remaining|the (?:rest|other|last)|difference of|of which|thereof"
    r"|overheads? (?:of|amounts? to)|(?:fixed|other|further|constant|host|python)"
    r" (?:costs?|times?|parts?|overheads?)(?: of| is| are|:)?|(?:read|reading|launch|sampling"
    r"|routing|communication"
    r"|transfer|kernel|attention|draft|idle|wait) times?(?: of| is| are|:)?|plus|adds?|adding"
    r"|sav(?:es?|ed|ings?)(?: is| are| was| of)?|spends?|loses?|wastes?|(?:is|are|was|be) worth"
    r"|(?:all-?reduces?|collectives?|launches|kernels?|syncs?|hops?|transfers?"
    r"|copies) (?:\w+ ){0,2}?"
    r"(?:(?:cost|take|need|add|last|eat)s?(?: \d[\d.]* ?[mµu]s (?:each|apiece|per \w+),?)?"
    r"|(?:at|of) \d[\d.]* ?[mµu]s (?:each |apiece )?(?:are|is|makes?|comes? to))"
    r"|(?:the )?(?:gap|(?<!\bwe )(?<!\bi )(?<!\byou )budget|remainder|difference|slack"
    r"|headroom)(?: is| of| to \w+)?"
    r"|(?:a )?(?:good |large |small )?(?:part|deal|share|bit|half|third|quarter|much|most) of"
    r" (?:the|our|its|those|these)|(?:does|do|did|finish\w*) (?:this|that|it) in) (?:under"
    r" |about |only |some |less than |up to |just |~ ?|≈ ?)*\d[\d.]* ?(?:ms|[uµ]s)\b",
)
"""A time that is a part of another."""
SAVED_EACH: Final = Form(
    r"\b(?:sav|shav|cost|add)\w*\b[^;:]{0,28}?\d ?(?:[mµu]s|(?:micro|milli)seconds?)\b"
    r"(?! (?:so|hence|to|and|leav\w*))[^.;:\d]{0,20}$"
)
"""A time that is saved or spent each time, before what it comes to for a token."""
A_PART: Final = Form(
    r"[^.;:]{0,24}?\b(?:(?:go(?:es)?|went|going) (?:in)?to|(?:is|are|was|were|being)? ?(?:spent"
    r"|lost"
    r"|wasted)"
    r"|of (?:it|that|this|them|these|those|which|overhead|launch\w*|latency for)\b"
    r"|(?:which|that) [^.;:]{0,40}?\b(?:give|gives"
    r"|giving) back|(?:to|can be|could be|be) (?:gained|saved|won|spared|recovered))\b"
)
"""What follows a time that is a part of another."""
PER_PIECE: Final = Form(
    r"(?<!for )\beach\b|per (?:layer|gpu|card|all-reduce|reduce|request|kernel|hop"
    r"|prompt)",
)
COPULA: Final = Form(
    r"(?:\b(?:is|are|be|being|been|becom(?:e|es|ing)|remains?|stays?|runs?|called|was|were|gets?"
    r"|as|counts|makes?|made"
    r"|considered|it|them|decode|decoding|generation)\b|['’](?:s|re)\b|=|:)(?:\s+[\w-]+){0,4}\s*$",
)
SOME_PEAK: Final = Form(r"\d ?(?:TFLOPS|TOPS|PFLOPS)\b|\d dense")
DECIDES: Final = Form(
    r"\b(?:attention (?:kernel|backend|implementation)) (?:that |which )?(?:decides?|determines?"
    r"|sets?|governs?|dictates?|limits?)\b"
    r"|\b(?:decided|determined|set|governed|limited) by the attention"
    r" (?:kernel|backend|implementation)\b"
    r"|\battention (?:kernel|backend|implementation) is what (?:each|every|the|a) (?:\w+ )?"
    r"(?:token|step|word|reply|stream|user) (?:\w+ )?(?:waits|depends|hangs|feels|notices)\b"
)
"""An attention kernel that is said to decide the speed of decode."""
PEAK_DECIDES: Final = Form(
    r"\b(?:they|it|these|those|this|that|which) (?:\w+ )?(?:decides?|determines?|sets?|governs?"
    r"|dictates?)"
    r" (?:how (?:many|fast|quickly|soon)|the (?:\w+ ){0,2}?(?:speed|rate|pace|latency|tempo))\b"
    r"|\b(?:tells?|decides?|says?|predicts?|shows?) (?:\w+ )?how (?:fast|quick(?:ly)?|many tokens)"
    r"[^.;:]{0,40}? (?:is|are) (?:the |its |their )?(?:\w+ )?(?:tflops|tops|flop/s|peak"
    r"|core count)\b"
    r"|\b(?:tokens? per second|tok/s|t/s|speed|rate)\b[^.;:=]{0,32}? (?:=|equals?|is) (?:the )?"
    r"(?:\w+ )?(?:tflops|tops|flop/s|peak)\b[^.;:]{0,16}? (?:divided by|over|/|÷)"
)
"""A peak that is said to decide the speed of decode."""
