"""Premises about a step that no gain is told with: what it reads, waits for, or does at once.

"Most of the step is the sampler", "the weights cross the slot for every token", "only the adapter
is read", "a GPU runs all layers at once": each is wrong by itself in a regime that can be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from advisor.forms import Form, Forms
from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause


class Premise(StrEnum):
    """What is said of a step."""

    SAMPLER = "sampler"
    """It is spent in the sampler, for the most part."""
    LAUNCHES = "launches"
    """It is spent in launches, for the most part."""
    SLOT = "slot"
    """Its weights come over the slot."""
    ADAPTER = "adapter"
    """It reads an adapter and not the model below it."""
    LAYERS = "layers"
    """Its layers run at once."""
    PREFIX = "prefix"
    """It does not read the keys of a cached prefix."""
    ON_CHIP = "on_chip"
    """Its weights come out of an on-chip cache."""
    GAUGE = "gauge"
    """The device gives all it can, as the gauge of busy time is at the top."""


_MOST: Final = (
    r"(?:most|the (?:bulk|majority|larger part|greater part|main part|better part|largest part"
    r"|lion['’]s share)|more than half|well over half|over half|the rest"
    r"|two thirds|three quarters|nearly all|almost all|(?:[5-9]\d|100) ?%)"
)
_STEP: Final = (
    r"(?:this|that|it|them|these|those|(?:the|each|every|a|our|its|their)\b[^.;:,]{0,40}?"
    r"(?:step|time|latency|tpot|itl|ms|milliseconds|token|decode|decoding|generation))"
)
_BY: Final = (
    r"(?:is|are|go(?:es)? (?:to|into|on)|is (?:spent|lost|burnt|burned|taken) (?:up )?(?:in|on|by"
    r"|to"
    r"|for)"
    r"|comes? from|stems? from|is due to|is down to|belongs to|falls to|lies in)"
)
_TAKES: Final = (
    r"(?:takes?(?: up)?|makes? up|accounts? for|eats?(?: up)?|consumes?|is responsible for|costs?"
    r"|swallows?|fills?|forms?|is|are|amounts? to|represents?|constitutes?)"
)
_SAMPLER: Final = (
    r"(?:(?:the |our |its )?(?:[\w-]+ )?(?:sampler|sampling|sort(?:ing)? (?:of|over) (?:the )?\w*"
    r" ?(?:logits|vocabulary)|logits? sort(?:ing)?|top[-_ ]?[kp](?: \w+)?|token selection))"
)
_LAUNCHES: Final = (
    r"(?:(?:the |our |its |pure |mere |kernel |launch |host |cpu )*(?:launch(?:es"
    r"|ing)?(?: overheads?)?"
    r"|kernel launch\w*|(?:host|cpu|python|driver|dispatch) overheads?))"
)


def _mostly(thing: str) -> Form:
    """That a step is, for the most part, one thing."""
    return Form(
        rf"\b{_MOST} of {_STEP}[^.;:,]{{0,24}}? {_BY} (?:\w+ )?{thing}\b"
        rf"|\b{thing}\b[^.;:]{{0,40}}? {_TAKES} (?:roughly |about |up )?{_MOST} of {_STEP}\b"
        rf"|\b{thing} (?:\w+ )?dominat\w+ (?:{_STEP}|decod\w+|generation|tpot|itl|inference)\b"
        rf"|\b(?:is|are) (?:mostly|mainly|largely|chiefly|almost all|nearly all|predominantly)"
        rf" (?:\w+ )?{thing}\b"
        rf"|\b(?:bottleneck|brake|culprit)\b[^.;:,]{{0,32}}? (?:is|are) {thing}\b"
        rf"|\b{thing} (?:is|are) (?:the|our) (?:main |chief |real |biggest |largest )?(?:bottleneck"
        r"|brake|limit|culprit|cost of (?:a|each|every) (?:step|token))\b"
    )


_WEIGHTS: Final = r"(?:weights?|parameters?|model|checkpoint|layers|matrices|\d[\d.]* ?GB|file)"
_SLOT: Final = r"(?:slot|pcie?(?:[ -](?:bus|link|slot|lanes?))?|pci express|riser|lanes|bus|link)"
_GAP: Final = r"(?:(?!\bnot\b|n['’]t\b|\bnever\b|\bno\b|\bhardly\b)[^.;:])"
"""What stands between, without a negation."""
_EACH: Final = (
    r"(?:(?:for|with|at|on) (?:each|every)(?: (?:single|new))? (?:token|word|step)"
    r"|per (?:token|word|step)|(?:each|every) (?:token|word|step)|(?:over and over )?again"
    r"|quick(?:er|ly)|faster)"
)
_CROSS: Final = (
    r"(?:cross(?:es|ing)?|(?:go(?:es)?|comes?|travel|travels|pass|passes|flow|flows|moves?|move|run"
    r"|runs"
    r"|stream|streams|streamed|sent|shipped|pushed|pulled|copied|squeezed|pumped|fed|dragged"
    r"|transferred|transfer) (?:\w+ )?(?:over|through|across|via|along))"
)
_LORA: Final = r"(?:(?:lo-?ra|adapter)s?(?:['’]s?)?(?: (?:weights?|matrices|parameters|factors))?)"
_READS: Final = (
    r"(?:reads?|streams?|touch(?:es)?|loads?|fetch(?:es)?|moves?|pulls?|needs?|uses?|is read"
    r"|are read|is streamed|are streamed|gets read|is touched|are touched|is fetched|are fetched)"
)
_ONLY: Final = (
    r"(?<!\bnot )(?:only|just|merely|solely|nothing but|nothing except|no more than|exclusively)"
)
_AT_ONCE: Final = (
    r"(?:in parallel|at the same time|simultaneously|concurrently|at once|all together|in one go"
    r"|side by side)"
)
_DENIED_READ: Final = (
    r"(?:(?:need|needs|do|does|must|have|has|is|are)(?: not|n['’]t)(?: to)?|no longer(?: \w+ to)?"
    r"|never|not) (?:\w+ ){0,2}?(?:read|re-?read|fetch(?:ed)?|stream(?:ed)?|attend(?:ed)?(?: to)?"
    r"|load(?:ed)?|touch(?:ed)?|look(?:ed)? at|scan(?:ned)?|visit(?:ed)?|go(?:es)? through)"
)
_GENERATING: Final = (
    r"(?:decod(?:e|es|ing)|generat(?:e|es|ing|ion)|per token|each token|every token|while writing"
    r"|(?:later|following|subsequent|new|output|next) tokens)"
)
_CHIP: Final = (
    r"(?:l[23](?: cache)?|llc|last[- ]level cache|infinity cache|system[- ]level cache|slc"
    r"|on-?(?:chip|die) (?:cache|sram|memory)|sram|smart cache|(?<!kv )(?<!value )cache)"
)
_ALL_OF_IT: Final = Form(
    r"\b(?:card|gpus?|chip|device|board|accelerator|hardware)\b[^.;:,]{0,24}? (?:(?:is"
    r"|are) (?:\w+ )?"
    r"(?:(?:giving|delivering|doing) (?:all|everything) (?:that )?(?:it|they) can|flat out"
    r"|maxed out"
    r"|at (?:its|their|the) (?:very )?(?:limit|ceiling|maximum)|fully (?:used|utili[sz]ed|exploited"
    r"|exhausted)|used to the full|exhausted)|(?:has|have) (?:got )?(?:no (?:\w+ )?(?:headroom"
    r"|reserves?|slack|pace|speed|capacity)|nothing (?:left|more|in reserve))|(?:delivers?|gives?"
    r"|does) (?:all|everything) (?:that )?(?:it|they) (?:can|has)|runs? (?:flat out"
    r"|at its limit))\b"
    r"|\b(?:nothing|no (?:speed|time|pace|performance)) (?:\w+ )?(?:left )?to (?:gain|win"
    r"|squeeze out"
    r"|optimi[sz]e)\b[^.;:]{0,32}?\b(?:gpu|card|kernels?|hardware)\b"
)
FORMS: Final[tuple[tuple[Premise, Form], ...]] = (
    (Premise.GAUGE, _ALL_OF_IT),
    (Premise.SAMPLER, _mostly(_SAMPLER)),
    (Premise.LAUNCHES, _mostly(_LAUNCHES)),
    (
        Premise.SLOT,
        Form(
            rf"\b{_WEIGHTS}\b{_GAP}{{0,48}}? {_CROSS} (?:the |that |this )?(?:\w+ )?{_SLOT}\b"
            rf"[^.;:]{{0,32}}? {_EACH}\b"
            rf"|\b(?:each|every) (?:token|word|step)\b{_GAP}{{0,24}}? (?:pulls?|drags?|reads?"
            rf"|needs?"
            rf"|moves?|fetch(?:es)?|sends?|streams?|loads?) (?:the |all "
            rf"|its )?(?:\w+ )?{_WEIGHTS}\b"
            rf"[^.;:]{{0,24}}? (?:over|through|across|via) (?:the |that )?(?:\w+ )?{_SLOT}\b"
        ),
    ),
    (
        Premise.ADAPTER,
        Form(
            rf"\b{_ONLY} (?:(?:the|its|an?|that|their|your|this)\b[^.;:,]{{0,24}}?)?{_LORA}\b"
            rf"[^.;:]{{0,40}}? (?:(?:is|are|gets?|has to be|needs? to be|ha(?:s|ve) to) (?:\w+ )?"
            r"(?:read|streamed|touched|fetched|moved|cross|loaded)|to (?:read|fetch|stream|move"
            r"|touch|load))\b"
            rf"|\b{_LORA}\b[^.;:,]{{0,24}}? (?:is|are) (?:all|everything|the only thing)(?: that"
            r"| which)?\b[^.;:,]{0,24}? (?:reads?|streamed|streams?|fetched|touched|moved?|moves)\b"
            rf"|\b{_READS} {_ONLY} (?:(?:the|its|an?|that|their|your|this)\b[^.;:,]{{0,24}}?)?"
            rf"{_LORA}\b"
            rf"|\b{_ONLY} {_READS} (?:the|its|an?|that)\b[^.;:,]{{0,24}}?{_LORA}\b"
            rf"|\b{_READS}[^.;:,]{{0,24}}? {_LORA}\b[^.;:]{{0,32}}?(?:, not|and not|instead of"
            r"|rather than|in place of) (?:the )?(?:\w+ )?(?:base|full|whole|backbone|\d)"
        ),
    ),
    (
        Premise.LAYERS,
        Form(
            r"\b(?:layers|blocks)\b (?:(?!cannot|not|never|no\b|hardly)\w+ ){0,5}?(?:executed|run"
            r"|processed|computed|evaluated"
            rf"|worked|calculated|live|runs?|execute|compute|work)(?: \w+){{0,2}}? {_AT_ONCE}\b"
            r"|\b(?:runs?|execut\w+|comput\w+|process\w*|evaluat\w+|works? on|handl\w+)"
            r" (?:all (?:of )?)?(?:the |its |these |many |several |the model['’]s |\d+ )*"
            rf"(?:layers|blocks)(?: \w+)? {_AT_ONCE}\b"
        ),
    ),
    (
        Premise.PREFIX,
        Form(
            rf"\b{_GENERATING}\b[^.;:]{{0,40}}? {_DENIED_READ}\b"
            rf"|\b{_DENIED_READ}\b[^.;:]{{0,40}}? {_GENERATING}\b"
            r"|\b(?:spares?|saves?|frees?|relieves?|exempts?) (?:the |each |every "
            r"|all )?(?:later )?"
            r"(?:decod\w+|generat\w+)(?: \w+)?(?: of| from)?(?: ever)?(?: having to)?"
            r" (?:read\w*|attend\w*|fetch\w*|load\w*|stream\w*|(?:the|those|these|its) )"
        ),
    ),
    (
        Premise.ON_CHIP,
        Form(
            rf"\b{_WEIGHTS}\b{_GAP}{{0,32}}? (?:served|read|come|comes|fetched|streamed|taken"
            r"|supplied|delivered|fed|kept|held|cached|stay|stays|reside|resides|live|lives|sit"
            r"|sits|fit|fits|is|are|lie|lies) (?:\w+ )?(?:from|out of|in|inside|into|by) (?:the "
            rf"|this |that |its |our )?(?:[\w.]+ ){{0,3}}?{_CHIP}\b"
            r"|\b(?:keeps?|holds?|reads?|serves?|fetch(?:es)?|streams?) (?:all |the |its |our )*"
            rf"(?:\w+ )?{_WEIGHTS}\b{_GAP}{{0,24}}? (?:from|out of|in|inside) (?:the |this |that "
            rf"|its |our )?(?:[\w.]+ ){{0,3}}?{_CHIP}\b"
            rf"|\b{_CHIP} (?:\w+ )?(?:serves|holds|supplies|delivers|feeds|keeps|provides|contains"
            rf"|caches) (?:all |the |its |our )*(?:\w+ )?(?:weights|parameters|model)\b"
            rf"|\b{_CHIP}\b[^.;:]{{0,48}}?,? which is where (?:\w+ ){{0,4}}?(?:weights|model)\b"
        ),
    ),
)
_ALL: Final = Forms(*(form for _, form in FORMS))


def premise_in(text: str) -> tuple[Premise, int, int] | None:
    """The premise that a clause states, and where."""
    standing = _ALL.standing_in(text)
    for premise, form in FORMS if standing else ():
        match = form.search(text) if form in standing else None
        if match is not None:
            return premise, match.start(), match.end()
    return None


def premises(text: str, clause: Clause) -> Iterator[Effect]:
    """What a clause states of a step."""
    found = premise_in(text)
    if found is not None:
        yield Effect(Kind.PREMISE, clause.start + found[1], clause.start + found[2])
