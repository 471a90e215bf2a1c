"""Forms of words that name what a step waits for.

Every form has a group `compute`, `memory` or `overhead` around what it names; memory that is said
to wait stands in the group `compute`, for which it waits.
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form, Forms

COMPUTE: Final = (
    r"(?P<compute>compute(?: power| throughput| capacity| units?)?|computations?"
    r"|(?:calculating|calculation|computing|processing|arithmetic) (?:power|units?|capacity"
    r"|resources)"
    r"|computing|(?:tera|peta)-?flops?|tensor (?:throughput|math|performance|rate)|core counts?|sms"
    r"|doing (?:sums|math|maths|calculations|arithmetic)|streaming multiprocessors"
    r"|[gtp]?flop/?s|[gtp]?flops?|tops|arithmetic(?: units?| throughput)?|maths?(?: units?)?|alus?"
    r"|tensor pipes?|mmas?(?: instructions?)?|fma (?:ports?|units?|pipes?)|fmas?"
    r"|vector (?:throughput|units?|maths?)|streaming[- ]multiprocessor arithmetic|(?:fp"
    r"|int)\d pipes?|(?:tensor|matrix|cuda|shader|gpu|cpu)[- ]cores?|shaders"
    r"|(?:gpu|cpu|card|chip)['’]s cores"
    r"|matrix (?:units?|engines?)|tensor units?|mxus?|mmes?(?: arithmetic)?|mac arrays?"
    r"|multipl(?:iers?|ications?|ies|ying)|multiply[- –](?:adds?|accumulate\w*)(?: capacity| units?"
    r"| throughput)?|macs"
    r"|(?:avx[- ]?\d*|simd) units?|matrix (?:products?|math)"
    r"|floating[- ]point (?:operations|throughput|units?|work|maths?|ops|arithmetic)"
    r"|processing power|number[- ]crunching"
    r"|(?:core |gpu )?clock(?: speed| rate)?s?)"
)
MEMORY: Final = (
    r"(?P<memory>(?:memory|hbm|dram|vram|ddr|weight|kv)?[- ]?bandwidth|memory|hbm\w*|dram|vram"
    r"|(?:lp|g)?ddr\d\w*|bytes|weights?|(?:weight |kv |cache )?(?:reads|reading|loads|loading"
    r"|streaming|traffic|fetch\w*)"
    r"|data movement|i/?o|kv cache|[gt]b/s)"
)
_BYTES: Final = r"[gt]b/s|(?:memory )?bandwidth|memory|hbm|bytes|dram|vram|weights?|\d+ ?gb"
OVERHEAD: Final = (
    r"(?P<overhead>(?:kernel |cuda )?launch(?:es|ing)?|overheads?|cpu|host|python|scheduling"
    r"|synchroni[sz]ation|dispatch)"
)
_ANY: Final = rf"\b(?:{COMPUTE}|{MEMORY}|{OVERHEAD})\b"
_FEW: Final = {most: rf"(?:[\w'’/%-]+ ){{0,{most}}}?" for most in (2, 3, 4, 7)}
"""At most so many words, as few as will do."""
_IS: Final = r"(?:is|are|was|were|be|being|gets?|remains?|stays?|becomes?|['’]s|['’]re)"
_BE_NOT: Final = r"(?:isn['’]t|aren['’]t|wasn['’]t)"
_NO_NOUN: Final = (
    r"(?! (?:\w+ )?(?:workloads?|kernels?|phases?|regimes?|models?|operations?|ops|parts?|tasks?"
    r"|cases?"
    r"|steps?|layers?|work)\b)"
)
"""Compute-bound workloads are a kind of workload; nothing says that this one is of it."""
_STOP: Final = (
    r"(?:bottlenecks?|limits?|limiter|limiting (?:factor|resource)|limitation|constraint"
    r"|binding constraint|(?:deciding|decisive) factor|(?:scarce|scarcest|tightest) (?:resource"
    r"|good)|wall|cost|pace[- ]?setter"
    r"|culprit|brakes?|weak (?:link|spot|point)|long pole|dominant (?:cost|term|part)|slow part"
    r"|choke ?point|(?:the )?reason|(?:what"
    r"|where|(?:part|resource|unit|piece|thing|component|ones?) (?:that|which)) (?:\w+ ){0,4}?"
    r"(?:counts?|limits?|decides?|matters?|determines?|sets?|fix(?:es)?|makes?|runs? out"
    r"|(?:can ?not|can['’]t) keep (?:up|pace)"
    r"|waits?|slows?|takes?|costs?|governs?|spends?|go(?:es)?|holds?|keeps?|drives?"
    r"|(?:is|are) waiting"
    r"|(?:has|have) to wait)(?: \w+){0,5}?)"
)


_BUSY: Final = (
    r"(?:saturated|maxed out|exhausted|pegged|pinned|busy|occupied|overloaded|overwhelmed|swamped"
    r"|overstretched|flat out|at full (?:tilt|blast|steam|speed|stretch|load|throttle)|overtime"
    r"|at (?:their|its|the) (?:very )?(?:limits?|maximum|ceiling|capacity|stops?)"
    r"|fully (?:used|utili[sz]ed|loaded|busy|occupied))"
)
_NO_PART: Final = (
    r"(?! (?:(?:for|only|about|just|some|at) )*(?:[0-4]?\d(?:\.\d+)? ?%|\d[\d.]* ?(?:[mµu]s\b"
    r"|(?:milli"
    r"|micro)seconds)))"
)
"""Busy for a small part of the time, or for a time by itself, is not busy."""
_WORKS: Final = rf"(?:{_IS}|{_BE_NOT}|runs?|running|works?|working|go(?:es)?|do(?:es)?)"
_STRAINED: Final = (
    r"(?:overload(?:s|ed|ing)?|overwhelm(?:s|ed|ing)?|swamp(?:s|ed|ing)?|burn(?:s"
    r"|ing)?(?: up)? (?:all"
    r"|every|the whole)|chok(?:es?|ed|ing)|strain(?:s|ed|ing)?|struggl(?:es?|ing)|sweat(?:s|ing)?"
    r"|(?:at|to|near) (?:100 ?%|full (?:load|tilt|stretch))|fully (?:loaded|busy|used|occupied)"
    r"|too (?:few|little|weak|slow)|out of|short of|in short supply|scarce|overstretched|stretched)"
)
_STRAINED_STATE: Final = (
    r"(?:overloaded|overwhelmed|swamped|chok(?:es?|ed|ing)|strained|struggl(?:es?|ing)"
    r"|sweat(?:s|ing)?|(?:at|to|near) (?:100 ?%|full (?:load|tilt|stretch))"
    r"|fully (?:loaded|busy|used|occupied)|too (?:few|weak|slow)|in short supply|scarce"
    r"|(?:over)?stretched)"
)

_PLAIN: Final = (
    r"(?:(?!(?:not|never|hardly|barely|far|nowhere|idle|no|neither|than|reach|memory|bandwidth)\b)"
    r"(?:\d[\d.,]*|[\w'’/-]+) ){0,4}?"
)
"""A few words without a negation."""
_FAST_MEMORY: Final = (
    r"(?:memory (?:bus|bandwidth|speed|system|interface|controllers?|channels?|traffic|reads?)"
    r"|(?:hbm|dram"
    r"|vram)"
    r"(?: bandwidth| stacks?| chips| interface| channels?)?|g?ddr\d?x?(?: sticks?| bus"
    r"| channels?)?|bandwidth|(?:memory )?bus|dimms?)"
)
"""Memory as what delivers bytes, and not as what holds them."""
ALL_MEMORY: Final = rf"(?P<compute>{_FAST_MEMORY}|memory|ram|weights?|sticks)"
"""Of forms in which memory waits: what it waits for is arithmetic."""
_CANNOT: Final = (
    r"(?:can ?not|can(?:['’]t|t\b)|could(?: not|n['’]t)|unable to|fails? to|(?:is|are)(?:n['’]t"
    r"| not) able to)"
)
_IDLE: Final = (
    r"(?:bored|asleep|half asleep|waiting|twiddling|yawning|loafing|hardly used|barely used"
    r"|under-?used|under-?utili[sz]ed|in no hurry)"
)
_OF_TIME: Final = (
    r"(?<!energy )(?<!power )(?<!joules )(?<!watts )(?<!money )(?<!effort )(?<!area )"
    r"(?<!transistors )(?<!silicon )"
)
"""Energy that is spent somewhere is no time."""
_TIMES: Final = r"(?:(?!(?:on|in|and|wast\w*|idle|spare|unused)\b)[\w'’/%-]+ ){0,7}?"
_NOT_WASTED: Final = r"(?:(?!(?:and|wast\w*|idle|spare|unused)\b)[\w'’/%-]+ ){0,3}?"
FORMS: Final = Forms(
    # compute-bound, memory bandwidth limited, compute-intensive
    Form(
        rf"{_ANY}[- ](?:bound|limited|constrained|bottlenecked|dominated|intensive|heavy|hungry"
        rf"|starved)\b"
        rf"{_NO_NOUN}"
    ),
    # is a compute-bound workload, is a compute problem
    Form(
        rf"\b(?:{_IS}|as) (?:\w+ )?an? {_ANY}[- ](?:bound|limited|heavy|intensive|problem|issue"
        r"|bottleneck|limit|matter)\b"
    ),
    # limited by how quickly the tensor cores get through them
    Form(
        r"\b(?:bound(?:ed)?(?! on\b)|limited|constrained|bottlenecked|dominated|dictated|governed"
        r"|determined|gated"
        r"|throttled|capped|restricted|set|driven|decided|given|slowed down|eaten(?: up)?|consumed"
        r"|taken up|swallowed|held (?:back|up)"
        r"|bottlenecks?|waits?|waiting|stalls?|depends?|hinges) "
        rf"(?:only |mostly |mainly |entirely |purely |primarily )?(?:by|on|for) {_FEW[7]}{_ANY}"
    ),
    # is proportional to the FLOPs, scales with bandwidth, comes down to arithmetic
    Form(
        r"\b(?:(?:is|are) (?:\w+ )?(?:proportional to|a (?:matter|question|function) of)"
        r"|scal(?:es?|ing) (?:\w+ )?with|follows?|tracks?|(?:comes?|boils?) down to) "
        rf"{_FEW[4]}{_ANY}"
    ),
    # moves in proportion to the number of operations
    Form(
        r"\b(?:time|latency|itl|tpot|tbt|speed|rate|tok\S*/s|tokens per second"
        r"|steps?)\b[^.;:,]{0,40}?"
        r" (?:in (?:\w+ )?proportion to|(?:is|are) (?:\w+ )?proportional to|scal(?:es?|ing)"
        r" (?:\w+ )?with|in (?:line|step) with) (?:the )?(?:(?:number|count) of )?(?P<compute>"
        r"(?:arithmetic |floating[- ]point )?operations|(?:operation|flop) counts?|multiplications"
        r"|[gt]?flops?)\b"
    ),
    # the bottleneck is arithmetic; what the user waits for is the FLOPs
    Form(
        rf"\b{_STOP}(?: (?:of|for|in|at|during|here)\b[^,;:]{{0,40}}?)?"
        rf" (?:{_IS}|{_BE_NOT}|lies in|sits in) {_FEW[4]}{_ANY}"
    ),
    # arithmetic is the bottleneck
    Form(rf"{_ANY} {_FEW[3]}(?:{_IS}|{_BE_NOT}) {_FEW[3]}{_STOP}\b"),
    # leaves the MXU as the bottleneck
    Form(rf"{_ANY} (?:\([^()]*\) )?as {_FEW[3]}{_STOP}\b"),
    # it is the multiplications that fix how long a step takes
    Form(
        rf"\b(?:it|that)(?: is|['’]s) {_PLAIN}{_ANY}(?:, [^,.;:]{{3,40}},)? {_FEW[4]}(?:that"
        rf"|which) (?:\w+ )?(?:limits?"
        r"|fix(?:es)?|sets?|determines?|decides?|governs?|dictates?|holds?|keeps?|slows?|costs?"
        r"|paces?|caps?|eats?|makes?|takes?)\b"
    ),
    # therefore is the calculating power the limit
    Form(rf"\b{_IS} (?:the |a )?{_ANY} (?:the |a )?{_STOP}\b"),
    # saturates the tensor cores, runs out of FLOPs, short on compute
    Form(
        r"\b(?:saturat(?:es?|ed|ing)|max(?:es|ed|ing)? out|exhausts?|r[ua]ns? out of"
        r"|running out of|short (?:of|on)|starved (?:of|for)|(?:not|has no|lacks|(?:does"
        r"|do)(?: not|n['’]t) have) enough"
        rf"|too few) {_FEW[4]}{_ANY}"
    ),
    # the tensor cores are saturated, keeps the ALUs busy
    Form(rf"{_ANY} {_FEW[2]}{_WORKS} {_FEW[2]}{_BUSY}\b{_NO_PART}"),
    # overloads the SMs, the tensor pipes are at 100%, too few multipliers
    Form(rf"\b{_STRAINED} {_PLAIN}{_ANY}"),
    Form(rf"{_ANY} {_PLAIN}{_STRAINED_STATE}(?!\w)"),
    # more multiplications than it can do in time
    Form(
        rf"\b{COMPUTE}[^.;:]{{0,40}}?,? (?:(?:is|are) )?(?:\w+ )?more than (?:\w+ ){{1,4}}?(?:can"
        rf"|could)"
        r" (?:do|handle|crunch|manage|chew|process|execute|digest|compute|finish|cope)\b"
    ),
    # pins the arithmetic units at 100%, uses up all of the card's arithmetic
    Form(rf"\b(?:pin|peg)(?:s|ned|ging|ning|ged)? {_FEW[2]}{_ANY}"),
    Form(
        r"\b(?:us(?:es?|ing)(?: up)?|tak(?:es?|ing)(?: up)?|eat(?:s|ing)?(?: up)?|consum(?:es?|ing)"
        r"|fill(?:s|ing)?|need(?:s|ing)?) (?:all|the whole|100 ?%)(?: of)?(?: the| its| our| your)?"
        rf"(?: \w+['’]s?)? {COMPUTE}"
    ),
    # the arithmetic units cannot keep up
    Form(
        rf"\b{COMPUTE} {_FEW[3]}(?:can ?not|can['’]t|could ?n['’]t|could not|don['’]t|do not"
        r"|does ?n['’]t|does not|fails? to|unable to|struggles? to) keep (?:up|pace)\b"
    ),
    # no math headroom left, no FLOPs to spare
    Form(
        rf"\bno (?:\w+ )?{COMPUTE} (?:headroom|reserves?|margin|(?:\w+ )?(?:left|to spare"
        r"|remaining))\b"
    ),
    # the RAM is waiting for the maths, the memory bus has headroom, leaves HBM idle
    Form(
        rf"\b{ALL_MEMORY} (?:(?:is|are|sits?|stays?|remains?|lies|just|only|simply|mostly|largely"
        rf"|sitting|there|then|all|basically|pretty|much|idly) ){{1,5}}?{_IDLE}\b"
        rf"(?! (?:for|on) (?:the )?(?:cpu|host|link|pcie|network|disk))"
    ),
    Form(
        rf"\b(?P<compute>{_FAST_MEMORY}|ram|sticks) (?:(?:is|are|sits?|stays?|remains?|lies|mostly"
        r"|largely|nearly|almost|then|sitting) ){1,3}?idle\b(?! (?:between|during|while|when|until"
        r"|for"
        r" (?:the )?(?:first|next)))"
    ),
    Form(
        rf"\bleav(?:es|ing) (?:the )?(?P<compute>{_FAST_MEMORY}|memory) (?:\w+ )?idle"
        rf"|\b(?:hbm|dram|memory bus|bandwidth) idl(?:es|ing)\b"
    ),
    Form(
        r"\b(?P<compute>memory bus|memory system|(?:memory |hbm |dram )?bandwidth|bus) (?:still )?"
        r"(?:has|have|with) (?:\w+ ){0,3}?(?:headroom|to spare|in reserve)"
        r"|\b(?:hbm|dram|memory|ram|card|gpu) (?:still )?(?:has|have|with) (?:\w+ ){0,3}?bandwidth"
        r" (?:to spare|in reserve)"
    ),
    # bandwidth hardly matters, weights were never the issue
    Form(
        rf"\b(?P<compute>{_FAST_MEMORY}) (?:(?:hardly|barely|scarcely) (?:matters?|counts?|limits?)"
        r"|(?:doesn['’]t|does not|never) (?:matter|count|limit)s?"
        r"|plays? (?:hardly|no|little|next to no) (?:\w+ )?(?:role|part))\b"
    ),
    Form(
        rf"\b(?P<compute>{_FAST_MEMORY}|memory|weights?) (?:(?:is|are|was|were)(?: not|n['’]t"
        rf"| never"
        r"| hardly) (?:the|an?|our|your) (?:\w+ )?(?:issue|problem)"
        r"|(?:is|are|being) (?:then )?(?:negligible|irrelevant|secondary|an afterthought"
        r"|(?:an? )?second[- ]order(?: effect)?|an? (?:detail|side ?show)))\b"
    ),
    Form(
        rf"\b{COMPUTE} (?:is|are|was|were) (?:then )?(?:the|our|your) (?:\w+ )?(?:issue"
        rf"|problem)\b"
    ),
    # faster than the SMs can use them, long before the tensor cores are done
    Form(
        rf"\b(?:faster|quicker|sooner|earlier) than {_FEW[2]}{COMPUTE} (?:can|could|manages?"
        rf"|are able"
        rf"|is able|uses?|gets? through|multipl(?:y|ies))\b"
        rf"|\b(?:long|well) before {_FEW[2]}(?:alus?|(?:tensor|cuda|gpu|cpu)[- ]cores?|sms"
        rf"|arithmetic"
        r" units?|multipliers?) (?:is|are|have|has|get|gets)\b"
    ),
    # queues for the ALUs
    Form(
        rf"\b(?:queu(?:es?|ing)|lin(?:es?|ing) up|wait(?:s|ing)? (?:its|their|his|her|a) turn)"
        rf" (?:up )?(?:for|at|behind) {_FEW[3]}{COMPUTE}"
    ),
    # a matter of how fast the chip can multiply
    Form(
        r"\b(?:matter|question|function) of how (?:fast|quickly) (?:\w+ ){1,4}?(?P<compute>multipl"
        r"(?:y|ies)|calculates?)\b"
    ),
    # the multiply-adds explain the 45 ms
    Form(
        rf"\b{COMPUTE}[^.;:]{{0,30}}? (?<!not )(?<!n['’]t )(?<!never )(?:explains?|accounts? for"
        r"|(?:is|are) why|(?:is|are) behind) (?:the |our |its |your )?(?:\d[\d.]* ?ms|slow|latency"
        r"|pace|wait|speed|time|lag)"
    ),
    # arithmetic takes up the 20 ms
    Form(
        rf"\b{COMPUTE}(?:, (?:and )?not [^.,;:]{{3,40}},)? {_FEW[2]}(?:takes? up|eats?(?: up)?"
        rf"|fills?|consumes?|swallows?|makes? up)"
        r" (?:the|(?:most|all|nearly all|almost all|the bulk|the whole) of (?:the|each|every|those"
        r"|these|a)) (?:\w+ ){0,2}?(?:\d[\d.]* ?ms|time|steps?|latency|tokens?)\b"
    ),
    # the weight traffic disappears behind the multiplications
    Form(
        r"\b(?:(?:weight|memory|hbm|dram) (?:traffic|reads?|loads?|access(?:es)?|fetch(?:es)?)"
        r"|(?:traffic|reads?|reading|loads?|loading|fetch\w*) (?:from|of) (?:the )?(?:weights?"
        r"|memory|hbm|dram))"
        r" (?:\w+ ){0,2}?(?:disappears?|vanish(?:es)?|hides?|hidden|lost|concealed|covered)"
        rf" (?:\w+ )?(?:behind|beneath|under|by) {_FEW[3]}{COMPUTE}"
    ),
    # the memory is fast enough
    Form(
        rf"\b(?P<compute>{_FAST_MEMORY}|memory) (?:is|are) (?:more than |easily |plenty |amply )?"
        r"(?:fast|quick|wide) enough\b(?! (?:to|for|that)\b)"
    ),
    # 98% of the chip go to waste on poor kernels
    Form(
        r"\b\d[\d.]* ?% of (?:the |our |its )?(?P<compute>machine|chip|card|gpu|hardware"
        r"|accelerator"
        r"|flop/?s|tflops|compute|peak|silicon) (?:\w+ ){0,2}?(?:wast\w+|squandered"
        r"|left on the table)"
        r"[^.;:]{0,16}? (?:on|by|to|through|in|because of|due to) (?:\w+ ){0,2}?(?:kernels?|code"
        r"|software|stack|engine|implementation)\b"
        r"|\b(?:kernels?|code|software|stack|engine|implementation) (?:leaves?|wastes?|squanders?)"
        r" (?:\w+ )?\d[\d.]* ?% (?:of (?:the |its )?(?:chip|card|gpu|machine|flop/?s|tflops|peak)"
        r"|on the table)"
    ),
    Form(rf"\bkeep(?:s|ing)? {_FEW[2]}{_ANY} {_FEW[2]}{_BUSY}\b{_NO_PART}"),
    # has to wait until the multipliers are done
    Form(rf"\bwait(?:s|ing)? (?:until|till) {_FEW[4]}{_ANY}"),
    # as fast as the tensor cores can
    Form(
        rf"\bas (?:fast|quickly) as (?:\w+ ){{0,2}}?{_ANY} (?:can|could|allows?|permits?|go(?:es)?"
        rf"|manage)\b"
    ),
    # almost all of it arithmetic
    Form(
        r"\b(?:all|most|the bulk|the lion['’]s share|9\d ?%) of (?:it|which|(?:the|every"
        r"|each) (?:\w+ )?"
        rf"(?:step|time|latency|token))(?: is| being|:|,)? (?:\w+ )?{_ANY}"
    ),
    # insufficient arithmetic, a pure compute workload, high arithmetic intensity
    Form(rf"\b(?:insufficient|lack of|lacks|shortage of|too little) (?:\w+ )?{COMPUTE}"),
    Form(rf"\bpure(?:ly)? (?:an? )?{_ANY} (?:workload|problem|job|task|affair|matter)\b"),
    Form(r"\b(?:high|large|considerable|plenty of) (?P<compute>arithmetic) intensity\b"),
    # decode time is nearly all multiplications, doing maths 100% of the time
    Form(
        r"\b(?:time|latency|step|wait|cost|token|budget)\b[^.;:,]{0,24}? (?:is|are) (?:nearly "
        r"|almost "
        rf"|practically |basically )?(?:all|entirely|purely|mostly|just) {_FEW[2]}{COMPUTE}"
    ),
    Form(
        r"\b(?:is|are) (?:busy )?doing (?P<compute>maths?|arithmetic|multiplications|sums)"
        r" (?:\w+ )?(?:(?:9\d|100) ?%|non-?stop|all the time|the whole time|constantly)"
    ),
    # busy multiplying, spends its time on arithmetic; operations that are spent are no time
    Form(rf"\bbusy (?:(?:with|on|in|doing) )?{_FEW[3]}{_ANY}"),
    Form(
        rf"\b{_OF_TIME}spen(?:t|ds?|ding) {_TIMES}(?:on|in|with|doing|waiting (?:for|on))"
        rf" {_NOT_WASTED}{_ANY}"
    ),
    Form(
        rf"\b{_OF_TIME}spen(?:t|ds?|ding) {_TIMES}(?P<compute>multiplying|computing|calculating"
        r"|crunching numbers)\b"
    ),
    # arithmetic dominates, FLOPs dictate latency
    Form(
        rf"{_ANY} {_FEW[3]}(?:dominates?|dictates?|limits?|governs?|determines?|gates?|decides?"
        r"|throttles?|sets?|drives?|holds? \w+ (?:back|up))\b"
    ),
    # on the compute side of the roofline, hits the compute ceiling
    Form(rf"{_ANY}[- ](?:bound )?(?:side|regime|roof|roofline)\b"),
    Form(
        r"\b(?:hits?|hitting|reach(?:es|ed)?|on|against|under|at) (?:the |its )?"
        rf"{_ANY} (?:roof|ceiling|wall|limit)\b"
    ),
    Form(
        r"\b(?:under|on|below|beneath|along|at) the (?:(?P<compute>flat|horizontal)"
        r"|(?P<memory>slop(?:ed|ing)|slant(?:ed|ing)|diagonal))"
        r" (?:part|section|side|branch|roof|line|segment)\b"
    ),
    # right of the ridge
    Form(
        r"\b(?:(?P<compute>right|above|past|beyond)|(?P<memory>left|below|under))(?: of)?"
        r" (?:the |its )?(?:ridge|knee)\b"
    ),
    # not bandwidth but arithmetic; arithmetic rather than bandwidth
    Form(
        rf"\bnot (?:the )?(?:\w+ )?(?:{_BYTES})\b[^.;:]{{0,30}}? but (?:the )?(?:\w+"
        rf" ){{0,2}}?{COMPUTE}\b"
    ),
    Form(rf"\b{COMPUTE},? (?:rather than|and not|not) (?:the )?(?:{_BYTES})\b"),
    # the chip cannot multiply fast enough, or get through the sums any quicker
    Form(
        rf"\b{_CANNOT} (?:\w+ ){{0,2}}?(?P<compute>multiply|compute|calculate"
        r"|crunch|do the (?:maths?|sums|arithmetic|multiplications))\b[^.;:]{0,24}? (?:fast"
        r"|quickly) enough"
    ),
    Form(
        rf"\b(?:{_CANNOT}|too (?:old|small|weak|feeble|slow|modest) to)"
        r" (?:\w+ ){0,2}?(?:(?:get|chew|work|crunch|churn|plough|plow|grind|burn|race|power|run)"
        r" (?:\w+ way )?through|crunch|do|finish|perform|execute|handle|process|complete)"
        rf" {_FEW[3]}(?:{COMPUTE}|(?:sums|numbers|matri(?:x|ces)|calculations))(?: \w+){{0,2}}?"
        r" (?:(?:any |much )?(?:faster|quicker|sooner|more quickly)|in less time|in time"
        r"|(?:fast|quickly) enough)\b"
    ),
    # what each step is held up by is multiplication
    Form(
        r"\bwhat [^.;:]{2,40}? (?:is|are) (?:\w+ )?(?:limited|bound|held (?:up|back)|capped|slowed"
        r"(?: down)?|gated|throttled|kept waiting) by (?:is|are),?"
        rf" {_FEW[3]}{_ANY}"
    ),
    # so many multiplications to do
    Form(rf"\b(?:so|too) many {_FEW[2]}{COMPUTE} to (?:do|get|work|carry|perform|run|finish)\b"),
)
