"""What a sentence says of a claim that stands inside it: doubted, refuted, hoped for by others.

"We failed to reproduce the result that X", "It is an illusion that X", "Rather than X, ...",
"X; we have not checked it", "X. It was an artefact". A denial of a denial asserts: "we never
doubted that X".
"""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.prose.model import Status

_ERRORS: Final = (
    r"errors?|mistakes?|myths?|illusions?|delusions?|tales?|folklore|legends?|misconceptions?"
    r"|fallac(?:y|ies)|superstitions?|rumou?rs?|wishful thinking|nonsense|misunderstandings?"
    r"|misbeliefs?|falsehoods?|bogus|fiction|fantasy|hearsay|misreadings?"
)
_VIEWS: Final = (
    r"hypothes[ie]s|conjectures?|allegations?|suspicions?|impressions?|no (?:\w+ )?(?:guarantee"
    r"|evidence|proof|reason|sign|indication|basis|data)|little (?:evidence|reason|sign)"
    r"|(?<!we )(?<!to )(?<!will )promise"
    r"|question|doubts?|prediction of others|(?:an?|the|this|that|common|popular|widespread|old)"
    r" (?:belief|dogma|adage|canard|superstition|lore|prejudice)"
)
_OF_ERROR: Final = Form(
    rf"\b(?:{_ERRORS}|{_VIEWS})\b[^.;]{{0,32}}?\b(?:that|to (?:say|think|believe|claim|assume"
    r"|expect|conclude|suppose)|is|was|if|whether)\b|\b(?:wrong|false|incorrect|untrue|questionable"
    r"|doubtful|debatable|unclear|unproven|untested|unverified|unsure|uncertain|sceptical|skeptical"
    r"|unconvinced)\b[^.;]{0,24}?(?:\b(?:that|if|whether|to (?:say|think|believe|claim|assume"
    r"|expect"
    r"|conclude))\b|:)",
)
_UNSURE: Final = Form(
    r"\b(?:fail(?:s|ed|ing)? to (?:[\w-]+ ){1,6}?(?:that|how|why)"
    r"|(?:could|can|did|do|does|was|were) (?:not|never) (?:[\w-]+ ){0,2}?(?:reproduce|confirm"
    r"|verify"
    r"|show|see|find|observe|support|establish)\w*"
    r"|disprov\w+|refut\w+|den(?:y|ies|ied|ying)|doubt(?:s|ed|ing)?|disput\w+|contest(?:s|ed)?"
    r"|debunk\w*|disagree\w*|wonder(?:s|ing|ed)?|not (?:clear|known|proven|shown|the case|so that)"
    r"|(?:nobody|no one|none|nowhere|never)(?: \w+){0,2}? (?:has|have|had|shown?|proven?|showed"
    r"|proved"
    r"|demonstrated|is there|in)\b[^.;]{0,40}?\bthat|(?:makes?|is|of) no (?:sense|use|good) to"
    r"|far from (?:certain|clear|sure|obvious|proven|true)|by no means|in no way|far be it"
    r"|(?:advise|warn|caution)(?:s|d|ed)? against|beware"
    r"|stop (?:telling|saying|claiming|believing|pretending|repeating)"
    r"|(?:do not|don['’]t|nobody should|no one should|never|we should not|you should not|must not)"
    r" (?:tell|say|claim|believe|think|assume|expect|conclude|pretend|imagine|infer|advertise)"
    r"|(?:anyone|those|people|everybody|everyone|whoever)(?: who| still)? (?:hop|think|believ"
    r"|assum|expect)\w+"
    r"|(?:we|i|they|you) had (?:\w+ )?(?:dismissed|assumed|thought|believed|ignored|neglected"
    r"|expected|hoped"
    r"|written off)|pretend\w*|(?:prove|show|explain|demonstrate) (?:to )?(?:me|us|him|her|them)"
    r"|convince (?:me|us)|(?:want|wants|wanted|ask|asks|asked|asking|need"
    r"|needs) (?:\w+ ){0,3}?(?:if"
    r"|whether|evidence|proof)|(?:remains|is|are) to be (?:seen|shown|proven|tested|verified)"
    r"|(?:is|was|are|were|been) (?:\w+ )?(?:rejected|refused|withdrawn|retracted|refuted|superseded"
    r"|void)(?: \w+)?(?=:)|would that|if only|gives? the lie to)\b",
)
_CERTAIN: Final = Form(
    r"\b(?:no|not|never|hardly|scarcely|nobody|no one|few|can['’]?t|cannot|wrong to|without|beyond"
    r"|longer)\b[^.;]{0,24}?\b(?:doubt\w*|den(?:y|ied|ies)|question\w*|disput\w*|contest\w*|debate)"
    r"|\b(?:undeniabl\w+|doubtless|undoubtedly|unquestionabl\w+)"
    r"|\b(?:don['’]t|do not|never|let us not|mustn['’]t) forget\b|\b(?:no|small|little) (?:wonder"
    r"|surprise)\b|\bunsurprising|\bnot surprising",
)
"""Denials of a doubt."""
_SET_ASIDE: Final = Form(
    r"\W*(?:rather than|instead of|contrary to|unlike|far from|in contrast to|as opposed to)\b"
    r"[^,;:]{3,}",
)
"""An opening that sets aside what it holds, up to the comma."""
_IF: Final = Form(
    r"\W*(?:if|unless|in case|suppose|supposing|assuming|even if|whether)\b[^,;:]{3,}",
)
_IF_WOULD: Final = Form(r"\W*if [^,;:]{3,160}, [^;:]{0,60}?\b(?:would|could|might)\b")
"""A condition that need not hold."""
_SUPPOSE: Final = Form(
    r"\W*(?:suppose|supposing|imagine|assume|say|let us (?:suppose|assume|pretend))\b"
)
_WOULD: Final = Form(r"\b(?:would|could|might|ought|should then|then should)\b")
"""What follows from a supposition of the sentence before."""
_LABEL: Final = Form(
    r"\W*(?:[^:.]{0,40}\b(?:untested|unverified|unproven|to be (?:tested|verified|checked)|under"
    r" test"
    r"|open question)[^:.]{0,20}:"
    r"|(?:retracted|busted|debunked|refuted|anti-?pattern|disproved|withdrawn|hoax|clickbait)\b"
    r"[^:.]{0,20}:|on paper\b|in theory\b|theoretically\b)",
)
_TAIL: Final = Form(
    r"\b(?:and (?:we )?(?:could not|couldn['’]t|can['’]t)|(?:is|was|are|were|has"
    r"|have) (?:\w+ )?(?:not|n't)"
    r" (?:been )?(?:\w+ )?(?:kept|met|confirmed|reproduced|borne out|the case|observed|seen|what"
    r" (?:happens|we|you|one))|not (?:confirmed|reproduced|borne out)"
    r"|(?:turn(?:s|ed) out|prov(?:es|ed)) (?:to be )?(?:wrong|false|untrue|not|an?"
    r" (?:myth|artefact|artifact|error|mistake|illusion|misreading|bug))"
    r"|(?:did|does|do)(?:n['’]t| not) (?:hold|happen|materiali[sz]e|survive|reproduce|come true"
    r"|add up)|never (?:materiali[sz]ed|happened|showed up|arrived|came true)"
    r"|no source|citation needed|we (?:have|had) not (?:checked|verified|tested|measured)"
    r"|have not yet|alas\b|the opposite is"
    r"|(?:is|are|was)(?:n['’]t| not) (?:a |the )?(?:decode|per-token|tpot|single-user"
    r"|user) (?:figure|number"
    r"|gain|claim|speed-?up|rate)"
    r"|(?:is|are) (?:unsupported|unfounded|unproven|unverified|untested|refuted|disproved))",
)
_OPEN_TASK: Final = Form(
    r"\b(?:how|whether|ways?|where) (?:best )?to\b[^.;:]{3,160}?\b(?:is|are|remains?"
    r"|was) (?:\w+ ){0,4}?"
    r"(?:problems?|questions?|challeng(?:es?|ing)|topics?|matters?|open|unclear|issues?|unsolved"
    r"|(?:next|future) (?:steps?|work)|difficult|hard|tricky)\b"
)
"""Something that is looked for: "how to make it faster is a problem we still have to solve"."""
_NEXT: Final = Form(
    r"\b(?:(?:we|i) (?:strongly |must |have to |would )?disagree|(?:we|i) (?:were|was) (?:let down"
    r"|wrong"
    r"|disappointed|mistaken)|artefacts?|artifacts?|nothing of the sort|no such (?:thing|effect"
    r"|gain)"
    r"|(?:saw|see|sees|measured|found|shows?|showed|observed|got|with|was|is|there (?:was|is)) no"
    r" (?:measurable |visible |real |such )?(?:difference|change|speed-?up|gain|effect|improvement)"
    r"|(?:did|does|do)(?:n['’]t| not) (?:hold|happen|materiali\w+|reproduce|survive|show up)"
    r"|errat(?:um|a)|(?:could|can)(?: not|n['’]t) (?:reproduce|confirm|verify|see|find)"
    r"|(?:we|i|they) (?:have )?(?:since )?(?:replaced|corrected|withdrew|withdrawn|dropped|struck"
    r"|deleted|removed|revised) (?:it|this|that|them)"
    r"|retract\w*|turn(?:s|ed) out (?:to be )?(?:wrong|false|not|untrue)|not (?:confirmed"
    r"|reproduced)"
    r"|(?:they|both|the two|all) (?:are|is|were) (?:level|equal|even|the same|on a par)"
    r"|(?:say|says|said|tell|tells|told) otherwise|prov(?:ed|es) (?:us |it |this |that )?wrong"
    r"|the opposite (?:is|was)|(?:is|was|it['’]s|that['’]s|utter|pure|complete) (?:nonsense|bogus"
    r"|rubbish"
    r"|false|untrue|wrong|bunk|hype)|flat line|to be (?:tested|verified)|bug in (?:our"
    r"|the) (?:benchmark|timer|script))\b",
)


def embedding(
    text: str, start: int, at: int, end: int, *, after: str, earlier: str
) -> Status | None:
    """How a sentence `text[start:end]` embeds what stands at `at`; None where it only says it.

    `after` is the sentence that follows, `earlier` the one before.
    """
    before = text[start:at]
    if _SUPPOSE.match(earlier) is not None and _WOULD.search(text, start, end) is not None:
        return Status.SUPPOSED
    for opening, status in ((_SET_ASIDE, Status.DENIED), (_IF, Status.SUPPOSED)):
        match = opening.match(before)
        if match is not None and match.end() == len(before):
            return status
    if _LABEL.match(before) is not None:
        return Status.SUPPOSED
    if _CERTAIN.search(before) is None and (_OF_ERROR.search(before) or _UNSURE.search(before)):
        return Status.QUOTED
    if _TAIL.search(text, at, end):
        return Status.REFUTED
    task = _OPEN_TASK.search(text, start, end)
    if task is not None and task.start() < at:
        return Status.ASKED
    return Status.REFUTED if _NEXT.search(after) is not None else None


def is_conditional(text: str, start: int, end: int) -> bool:
    """Whether a sentence says what would follow from a condition that need not hold."""
    return _IF_WOULD.match(text, start, end) is not None


def is_certain(before: str) -> bool:
    """Whether words before a claim deny a doubt of it, and so assert it."""
    return _CERTAIN.search(before) is not None
