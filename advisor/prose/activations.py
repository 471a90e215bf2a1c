"""Activations: where a text makes them narrower, and where it lets them decide what a token costs.

One token's activations are kilobytes beside gigabytes of weights, so at batch 1 neither their width
nor their bytes can be what a step waits for.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause

_NARROW: Final = (
    r"(?:u?int8|fp8|int4|fp4|mxfp[48]|nvfp4|e[45]m[23]|[468][- ]bits?|(?:four|eight)[- ]bits?"
    r"|half (?:the )?(?:width|precision|size)|(?:one|1)"
    r" byte|bytes|q8_\d)"
)
_INPUTS: Final = (
    r"(?:activations?|hidden[- ](?:states?|vectors?)|layer inputs|inputs?(?: vectors?| tensors?)?"
    r"|residual stream"
    r"|feature maps|intermediate tensors|(?:norm|rmsnorm|layernorm|gelu|silu|mlp) outputs?)"
)
_NO_WEIGHT: Final = r"(?:(?!weight)[^.;,])"
_NARROWED: Final = Form(
    rf"\b{_INPUTS}\b{_NO_WEIGHT}{{0,64}}? (?:to|in|at|into|as|on|now|becomes?|made"
    rf"|turned) {_NARROW}\b"
    rf"|\b{_INPUTS}\b{_NO_WEIGHT}{{0,48}}? (?:from )?(?:bf|fp)?16(?:[- ]bits?)?"
    r" ?(?:down to|to|->|→|into) ?(?:fp|int|mxfp)?[48]\b"
    r"|\bbits per activation\b[^.;]{0,16}16"
    rf"|\b{_INPUTS}\b{_NO_WEIGHT}{{0,40}}? (?:shrinks?|falls?|drops?|goes|go|(?:is"
    rf"|are) cut) (?:from )?"
    r"\d[\d.]* ?KB (?:to|->|→) \d"
    rf"|\b(?:{_INPUTS}|vectors between (?:the )?layers)\b{_NO_WEIGHT}{{0,24}}? (?:becomes?|gets?"
    rf"|are"
    r"|is|being) (?:\w+ )?(?:narrower|shrunk|half as (?:wide|large|big|long))\b"
    rf"|\b{_INPUTS}(?: too| as well)?: ?{_NARROW}\b"
    rf"|\b{_NARROW} (?:instead of|rather than|in place of|not) (?:16[- ]bits?|bf16"
    rf"|fp16) {_INPUTS}\b"
    rf"|\b{_INPUTS}(?: vectors?)?\b{_NO_WEIGHT}{{0,24}}? \d[\d.]* ?KB\b[^.\d]{{0,16}}? {_NARROW}\b"
    r"[^.;\d]{0,16}?\d"
    rf"|\b{_INPUTS} traffic (?:is |gets |then )?(?:halved|halves|cut in (?:two|half))\b"
    rf"|\b(?:{_NARROW}|quanti[sz]\w+(?: of)?|narrow\w*|cast(?:ing)?) (?:the |our |its )?{_INPUTS}\b"
    rf"|\b{_NARROW} (?:for|at) (?:the |our )?{_INPUTS}\b"
    r"|\bactivations?(?:[ _](?:bit ?width|bits|num_bits))[^.;]{0,12}16 ?(?:->|→|to) ?\d\b"
    r"|\ba16\b[^.;]{0,16}?(?:to|->|→|by|with) ?(?:the )?a[48]\b|\ba[48]\b[^.;]{0,16}? (?:instead of"
    r"|rather than|in place of|over|against) a16\b"
    r"|\bw(?P<weights>\d)a16\b[^.;]{0,60}?\bw(?P=weights)a[468]\b"
    r"|\bw(?P<kept>\d)a[468]\b[^.;]{0,60}?\bw(?P=kept)a16\b"
    r"|\bweight[- ]only (?:fp8|int8) (?:to|into) full (?:fp8|int8)\b",
)
"""Activations in fewer bits, weights as they were."""
_MAYBE: Final = Form(
    r"activation|w\da\d|\ba16\b|input|hidden|tensors|outputs|residual|feature maps"
)
"""Without one of these nothing is said of the width of activations."""
_MOST: Final = (
    r"(?:most|the (?:bulk|majority|larger part|main part|lion['’]s share)|(?:over )?half)"
)
_TRAFFIC: Final = (
    r"(?:traffic|bytes|reads|bandwidth|data|memory (?:traffic|accesses|movement)|step|tpot|itl"
    r"|time(?: per token)?)"
)
_A_BITS: Final = (
    r"(?:(?:8|4|eight|four|narrow|low)[- ]?bit activations?|narrow(?:er)? activations?|a[48]\b"
    r"|(?:int8|fp8|int4|fp4) activations?|activation quanti[sz]ation|quanti[sz]ed activations)"
)
_WIDE: Final = (
    r"(?:(?:16|sixteen)[- ]bit |bf16 |fp16 |wide |unquanti[sz]ed )(?:activations?|hidden states?)"
)
_DECIDE: Final = Form(
    rf"\b{_MOST} of (?:the|our|what) (?:\w+ )?{_TRAFFIC}\b[^.;:,]{{0,32}}? (?:is|are|comes? from"
    r"|go(?:es)? (?:to|into)|belongs? to|stems? from|consists? of|falls? to) (?:the )?(?:\w+ )?"
    r"activations?\b"
    r"|\b(?:activations?|hidden states?)\b[^.;:,]{0,40}?"
    rf" (?:are|is|make(?: up)?|form|account for|cause|constitute|amount to) (?:{_MOST}|the (?:main"
    rf"|largest|larger|bigger|heavier|greater|biggest|chief|dominant|heaviest)) (?:part |share "
    rf"|source )?(?:of )?(?:the )?(?:\w+ )?"
    rf"{_TRAFFIC}\b"
    r"|\bspends? (?:most of |much of |the bulk of )?(?:its|their|the|that"
    r"|this) (?:\w+ )?time (?:on |in )?"
    r"(?:the )?(?:mov\w+|shuttl\w+|transport\w*|cop(?:y|ying)|pass\w+|ferry\w*|shift\w*|haul\w*"
    r"|carrying|read\w*|load\w*) (?:of )?(?:the |its )?activations?\b"
    r"|\bwhat (?:\w+ )?(?:dominates|takes|costs|limits|slows)\b[^.;:]{0,48}? (?:is|are) (?:the "
    r"|its )?"
    r"(?:transport|movement|traffic|transfers?|exchange|shuttling|moving|copying) (?:of )?(?:the )?"
    r"activations?\b"
    rf"|\bactivations? (?:\w+ )?dominates? (?:the |our )?(?:\w+ )?{_TRAFFIC}\b"
    r"|\b(?:activation (?:width|precision|bits)|(?:width|precision) of the activations)"
    r" (?:that |which )?(?:decides?|determines?|sets?|governs?|dictates?|limits?)\b"
    r"|\b(?:decided|determined|set|governed|limited) by the (?:activation (?:width|precision|bits)"
    r"|(?:width|precision) of the activations)\b"
    rf"|\b(?:it['’]?s|it (?:is|was)) (?:the |our )?{_A_BITS}[^.;:,]{{0,40}}? (?:that|which|who)"
    r" (?:really |actually |\w+ly )?(?:buys?|brings?|makes?|gives?|does|do|pays?|wins?|speeds?"
    r"|takes?"
    r"|carr(?:y|ies)|delivers?|cuts?|counts?|matters?)\b"
    r"|\bit['’]?(?:s| is) (?:the |our |these |those )?(?:activations?|hidden states?|vectors)"
    r"[^.;:,]{0,20}? (?:that"
    r"|which) (?:\w+ly )?(?:fill|keep|occupy|hog|saturate"
    r"|dominate|make|cost|count|limit|slow|decide|matter|load|clog|eat|take)\w*\b"
    rf"|\b{_A_BITS}[^.;:,]{{0,24}}? (?:is|are) what (?:\w+ )?(?:buys?|brings?|makes?|gives?|takes?"
    r"|speeds?|cuts?|counts|matters|pays|does)\b"
    rf"|\bwhat (?:\w+ )?(?:slows?|limits?|holds?|costs?|brakes?|drags?)\b[^.;:]{{0,60}}? (?:is|are)"
    rf" (?:the |its |our )?{_WIDE}"
    rf"|\b(?:{_WIDE}|activations?) (?:is|are) (?:the |our |your |its )?(?:\w+ )?(?:bottleneck|brake"
    r"|limit|limiting factor|culprit)\b"
    rf"|\b{_WIDE}[^.;:,]{{0,24}}? (?:is|are) what (?:\w+ )?(?:slows?|limits?|holds?|costs?)\b"
    rf"|\b{_A_BITS} (?:counts?|matters?|pays?|brings?|gives?|does|helps?) more than (?:w[48]\b"
    r"|(?:the )?(?:\w+[- ]bit )?weights)"
)
"""What lets activations decide."""
_SHARE: Final = Form(
    r"\bweights (?:were|are|is) (?:never|not|hardly|no longer) (?:the (?:issue|problem|bottleneck"
    r"|point|limit|matter)|what (?:counts|matters))\b"
    r"|\bweights (?:hardly|barely|scarcely|no longer|do not|don['’]t) (?:matter|count|weigh)\b"
)
"""Weights that are said not to count, beside activations."""


def are_narrowed(text: str) -> bool:
    """Whether activations get fewer bits."""
    return _MAYBE.search(text) is not None and _NARROWED.search(text) is not None


def activations_decide(text: str, clause: Clause) -> Effect | None:
    """Where a clause lets activations decide what a token costs, or weights count for nothing."""
    if (
        "ctivation" in text
        or "idden" in text
        or "vectors" in text
        or _BITS.search(text) is not None
    ):
        match = _DECIDE.search(text)
        if match is not None:
            return Effect(
                Kind.INPUTS_DRIVE, clause.start + match.start(), clause.start + match.end()
            )
    match = _SHARE.search(text) if "eights" in text else None
    if match is None:
        return None
    return Effect(Kind.INPUTS_DRIVE, clause.start + match.start(), clause.start + match.end())


_BITS: Final = re.compile(r"\bA[48]\b")
