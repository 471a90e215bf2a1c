"""Drafts as a text tells them: how many tokens, how many are accepted, what a pass yields."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.quantity.numerals import SEVERAL, count_of

_COUNT: Final = rf"\d{{1,2}}|{SEVERAL}"
_DRAFTED: Final = Form(
    rf"\bdraft(?:s|ing|ed)? (?:of |length )?(?:of )?({_COUNT})\b"
    rf"|\b({_COUNT}) (?:draft(?:ed)?|proposed|guessed|speculative|candidate) tokens"
    rf"|\b({_COUNT}) (?:drafts|guesses|proposals|candidates)\b"
    rf"|\b(?:(?:gamma|γ|num_speculative_tokens|(?:draft|spec(?:ulative)?)[-_ ](?:tokens|length|len"
    rf"|k|n)"
    rf"|n_predict|draft[-_]max|lookahead|steps)\s?(?:=|:|of|is)?|k\s?(?:=|:|of|is))\s?({_COUNT})"
    rf"\b(?!\.\d)"
    rf"|\b(?:guess(?:es)?|propos(?:es?|ing)|predict(?:s|ing)?|writes?|jots? down|drafts?)"
    rf" (?:the next )?({_COUNT})(?: words| tokens)?\b(?! ?%)"
    rf"|\b({_COUNT}) (?:mtp|medusa|draft(?:ing)?) (?:heads|modules)\b"
    rf"|\b(?:chain|stack|unroll|iterate|appl(?:y|ie)|r[ue]n)(?:s|ing|ed)? (?:the |our |its |this "
    rf"|that )?"
    rf"(?:mtp |nextn |draft(?:ing)? )?(?:head|module|layer) ({_COUNT}) times\b"
    rf"|\bdraft(?:s|ing|ed)? ({_COUNT}) (?:at a time|at once|ahead|in a row)\b"
)
_ROUND: Final = r"(?:pass(?:es)?|steps?|forward(?: pass)?|verifications?|rounds?|go|turn|check)"
PER_PASS: Final = Form(
    rf"\b({_COUNT}) tokens (?:(?:per|a|each|every|in (?:one|a|each)) (?:pass|step|forward|round|go"
    r"|verification)|instead of one|for the price of one|at once|at a time)"
)
"""Tokens that leave, or enter, one pass of the large model."""
_PERCENT: Final = r"\d{1,3}(?:\.\d+)? ?(?:%|per ?cent\b)"
_RIGHT: Final = (
    r"(?:accepted|accepts?|right|correct|kept|confirmed|surviv\w+|match(?:es|ed)?|pass(?:es|ed)?"
    r"|agree\w*)"
)
_GUESSES: Final = (
    r"(?:drafts?|proposals?|guess(?:es)?|candidates?|(?:draft(?:ed)?|proposed) tokens)"
)
_ACCEPTANCE: Final = Form(
    rf"\baccept\w*(?: \w+)?(?: rates?| ratio| probability)?[^.;,\d]{{0,40}}?"
    rf"(?<![\w.])(?P<after>0?\.\d+|{_PERCENT})(?! ?(?:to|->|→) ?\d)"
    rf"|(?<![\w.])(?P<before>0\.\d+|{_PERCENT}) (?:\w+ )?accept(?:ance|ed)\b"
    rf"|(?<![\w.])(?P<share>{_PERCENT}) of (?:the |its |our |all )?(?:\w+"
    rf" )?{_GUESSES}[^.;]{{0,24}}?"
    rf" {_RIGHT}\b"
    rf"|\b(?:one|1) (?:\w+ )?in (?P<n>\d{{1,2}}|{SEVERAL}) (?:\w+ ){{0,3}}?{_RIGHT}\b"
    rf"|\b{_RIGHT} (?:\w+ ){{0,3}}?(?:one|1)(?: \w+)? in (?P<m>\d{{1,2}}|{SEVERAL})\b"
)
_N: Final = rf"(?<![\w.,])(?:{_COUNT}|(?:k|n|γ|gamma) ?\+ ?(?:1|one))"
_WORDS: Final = r"(?:new |more )?(?:tokens|words|positions)"
_EMITS: Final = Form(
    rf"\b{_ROUND}\b[^.;:]{{0,40}}? (?:yields?|gives?|makes?|emits?|produces?|delivers?|puts? out"
    rf"|returns?|brings?|generates?|hands? (?:you|us)|spits? out|outputs?|(?:advances?"
    rf"|moves?)(?: ahead| on| forward)?(?: by)?) "
    rf"(?:\w+ )?{_N} {_WORDS}\b"
    rf"|\b(?:moves?|advances?|gets?|go(?:es)?|jumps?|progress(?:es)?)(?: ahead| on"
    rf"| forward)?(?: by)?"
    rf" {_N} {_WORDS} (?:out of |in |per |an? |each |every |with )(?:each |every |one )?(?:\w+ )?"
    rf"{_ROUND}\b"
    rf"|\b{_N} {_WORDS}(?: come out| leave| are (?:emitted|produced|made|generated|gained|won))?"
    rf"(?: in| with| out)?(?: of)? (?:per|a|an|each|every) (?:\w+ ){{0,2}}?{_ROUND}\b"
)
"""A pass that is said to yield so many tokens."""
_FOR_ONE: Final = Form(
    rf"\b{_N} {_WORDS} (?:for the (?:price|cost|time|reading) of (?:one|a single one)"
    rf"|instead of one)\b"
)
"""Several tokens at what one would cost: "five tokens for the price of one"."""
_ANY_ACCEPTANCE: Final = Form(
    r"\b(?:regardless of|irrespective of|independent(?:ly)? of|whatever|no matter(?: how| whether"
    r"| what| if)?|whether or not|whether|however|even (?:if|when|where|though|with)|never mind"
    r"|no need to \w+|without (?:knowing"
    r"|measuring|looking at))\b[^.;]{0,48}?\b(?:accept\w*"
    r"|hit rates?|match\w*|right|wrong|correct|grades?|guess\w*|draft\w*|miss(?:es)?|proposals?"
    r"|agree\w*"
    r"|reject\w*|verdict|verif\w+|candidates?)\b"
    r"|\b(?:acceptance|hit rates?)(?: rates?)? (?:(?:does|do)(?: not|n['’]t) (?:matter|count|enter"
    r"|play"
    r" a role)|is (?:irrelevant|beside the point|unimportant|no concern)|plays no role)\b"
)
_EVERY_TIME: Final = Form(
    r"\balways\b|\b(?:every|each) time\b|\bin (?:any|every) (?:case|event)\b|\binvariably\b"
    r"|\bguaranteed\b"
)
_AT_MOST: Final = Form(
    r"\b(?:up to|or more|or so|at most|at best|at least|maxim\w+|if (?:all|every\w*)|(?:when|where"
    r"|provided|once)"
    r" (?:all|every\w*)|on average|average|expected|ideal\w*|theor\w+)\b"
)
_LOOKBACK: Final = 100
"""Characters before a clause in which its condition may stand."""
QUALITY_ONLY: Final = Form(
    r"\b(?:only|merely|just|purely) (?:really )?(?:matters?|counts?|affects?|concerns?|influences?"
    r"|changes?|says something about)(?: for| to)? (?:the )?(?:output |answer |text )?quality\b"
    r"|\b(?:matters?|counts?|is (?:important|relevant)) (?:only |just )?(?:for|to) (?:the"
    r" )?(?:output "
    r"|answer |text )?quality(?: only| alone|,? (?:and )?not)\b"
    r"|\b(?:has|have|having|with) no (?:bearing|influence|effect|impact) (?:at all )?on (?:the )?"
    r"(?:\w+ )?(?:speed|latency|rate|pace|gain|throughput|t/s|tokens)"
)
"""An acceptance that is said to leave the speed alone."""


def drafted_in(text: str) -> int | None:
    """Tokens drafted for a pass, where a text tells them."""
    match = _DRAFTED.search(text)
    if match is not None:
        return count_of(next(group for group in match.groups() if group))
    passes = PER_PASS.search(text)
    return count_of(passes[1]) - 1 if passes is not None else None


def acceptance_in(text: str) -> float | None:
    """The largest acceptance of drafts that a text tells, from 0 to 1."""
    found = []
    for match in _ACCEPTANCE.finditer(text):
        told = match["after"] or match["before"] or match["share"]
        if told is None:
            found.append(1.0 / count_of(match["n"] or match["m"]))
        else:
            number = float(told.rstrip("% percnt"))
            found.append(number if told.startswith(("0.", ".")) else number / 100.0)
    return max((share for share in found if 0.0 < share < 1.0), default=None)


def tokens_per_pass(drafted: int | None, accepted: float) -> float:
    """Tokens of a pass at an acceptance a: (1 - a^(g+1)) / (1 - a), for any g below 1 / (1 - a)."""
    power = accepted ** (drafted + 1) if drafted is not None else 0.0
    return (1.0 - power) / (1.0 - accepted)


def without_conditions(text: str) -> str:
    """A text without what it says does not matter: "regardless of acceptance"."""
    match = _ANY_ACCEPTANCE.search(text)
    return text if match is None else text[: match.start()] + text[match.end() :]


_ASKED_FOR: Final = Form(
    r"\b(?:needs?|needed|requir\w+|must|have to|had to|would have to)\b[^.;:]{0,24}$"
)
"""The tokens of a pass that a goal takes, and not those that it yields."""


def every_pass(whole: str, start: int, end: int) -> tuple[int, int] | None:
    """Where a clause says that a pass yields so many tokens: whatever is accepted, or of drafts."""
    emits = _EMITS.search(whole, start, end) or _FOR_ONE.search(whole, start, end)
    if emits is None or _AT_MOST.search(whole, start, end) is not None:
        return None
    if _ASKED_FOR.search(whole, start, emits.start()) is not None:
        return None
    before = max(0, start - _LOOKBACK)
    if _ANY_ACCEPTANCE.search(whole, before, end) or _EVERY_TIME.search(whole, start, end):
        return emits.start(), emits.end()
    return emits.span() if _OF_DRAFTS.search(whole, before, end) is not None else None


_OF_DRAFTS: Final = Form(
    rf"\b(?:draft\w*|{_GUESSES}|candidates?|accept\w*|speculat\w+|medusa|eagle|mtp|lookahead"
    rf"|gamma)\b"
)


def names_drafts(text: str) -> bool:
    """Whether a text tells of drafts at all."""
    return _OF_DRAFTS.search(text) is not None


def is_every_pass(text: str) -> bool:
    """Whether a clause tells the tokens of a pass."""
    return _EMITS.search(text) is not None or _FOR_ONE.search(text) is not None


def is_whatever_accepted(text: str) -> bool:
    """Whether a text says that acceptance does not count."""
    return _ANY_ACCEPTANCE.search(text) is not None or _EVERY_TIME.search(text) is not None


def tokens_told(text: str) -> int | None:
    """The tokens that a clause says a pass yields; without a verb they may be those drafted."""
    if _YIELDING.search(text) is None:
        return None
    emits = _EMITS.search(text) or _FOR_ONE.search(text)
    number = _NUMBER.search(emits[0]) if emits is not None else None
    return count_of(number[1]) if number is not None else None


def adapts_to_load(text: str) -> bool:
    """Whether a text says that drafting follows the load, and is shortened or switched off."""
    return _ADAPTS.search(text) is not None


_ADAPTS: Final = Form(
    r"\b(?:dynamic(?:ally)?|adaptive(?:ly)?|load-aware|auto(?:matic(?:ally)?|-tun\w+))"
    r" (?:\w+ ){0,2}?(?:adjust\w*|speculat\w+|draft\w*|length\w*|lookahead|disabl\w+"
    r"|switch\w*|turn\w*"
    r"|choos\w+|select\w*|scal\w+|control\w*|gamma|k)\b"
    r"|\b(?:adjust|adapt|tun|shrink|shorten|lower|cut)\w* (?:the |its |their )?(?:number of "
    r"|count of )?(?:draft\w*|speculat\w+|proposed|candidate|lookahead|guess\w*)"
    r"|\b(?:draft(?:ing)?|speculation|lookahead|drafts?) (?:\w+ ){0,3}?(?:adapts?|adjusts?"
    r"|follows?) (?:to )?(?:the )?(?:load|traffic|batch|queue|concurrency)\b"
)


_YIELDING: Final = Form(
    r"\b(?:yield|giv|mak|emit|produc|deliver|put|return|bring|generat|hand|advanc|mov|get|com|leav"
    r"|gain|w[io]n|spit|output|jump|progress)(?:es|s|e|ed|ing)?\b"
)
_NUMBER: Final = Form(rf"(?<![\w.,])({_COUNT}) {_WORDS}")
