"""Gains told of something else that tokens are said to have as well, and help that they get."""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.prose.model import Effect, Kind
from advisor.prose.sentences import Clause


def carried_gain(text: str, clause: Clause) -> Effect | None:
    """A gain that decode gets by help, or by one told of something else: "so does the ITL"."""
    return _helped(text, clause) or _carried(text, clause) or _echoed(text, clause)


_TOKENS: Final = re.compile(
    r"decod|generat|token|tpot|itl|tbt|user|stream|chat|repl|latency|session|person|request|batch"
    r"|convers|interactive|m ?= ?1|gemv",
    re.IGNORECASE,
)
_HELPED: Final = 4
"""Words between a word for help and what it helps."""
_ONE_ROW: Final = Form(
    r"\b(?:matrix[- ]vector|gemv|single[- ]row|M ?= ?1\b|batch[- ](?:1|one)\b)",
)
_NOT_ALL: Final = Form(
    r"\b(?:(?<!or )not|rather than|instead of|only|hardly|little|less|unlike|if|when|while"
    r"|where)\b",
)
"""Words by which a clause restricts what it says."""


def _helped(text: str, clause: Clause) -> Effect | None:
    """Something helps decode, or products with one row."""
    kinds = {tag.name for tag in clause.tags}
    if "HELP" not in kinds or _NOT_ALL.search(text, clause.start, clause.end) is not None:
        return None
    if any(tag.name in {"PREFILL", "THROUGHPUT", "LARGE_BATCH"} for tag in clause.tags):
        return None
    for tag in (tag for tag in clause.tags if tag.name == "HELP"):
        row = _ONE_ROW.search(text, tag.end, min(clause.end, tag.end + 40))
        near = [
            other for other in clause.tags
            if other.name in {"DECODE", "SINGLE"}
            and _TOKENS.search(text, other.start, other.end) is not None
            and (0 <= other.first - tag.last <= _HELPED or 0 <= tag.first - other.last <= _HELPED)
        ]  # fmt: skip
        if row is not None or near:
            return Effect(Kind.GAIN, tag.start, tag.end)
    return None


_OF_TOKENS: Final = frozenset({"DECODE", "SINGLE", "RATE", "TIME", "PRUNE", "MASK"})
"""Something of tokens, or of weights that are zero."""
_CARRIED: Final = Form(
    r"\b(?:talks?|runs?|decodes?|generates?|types?|answers?|streams?|replies|writes?) at that"
    r" (?:speed|pace|rate)\b|"
    r"\binherits? (?:the |this |that )?(?:\w+ )?(?:figure|factor|speed-?up|gain|ratio|boost"
    r"|number)\b"
    r"|\b(?:inherits?|sees?|gets?|keeps?) (?:a (?:good |large |fair )?(?:part|share)|most|much|all"
    r"|half|the (?:whole|rest|bulk)) of (?:this|that|it)\b"
    r"|\b(?:feels?|sees?|gets?|enjoys?|inherits?|notices?) (?:every (?:bit|part|percent) of (?:it"
    r"|this"
    r"|that)|the full \d[\d.]* ?(?:x\b|×|%))"
    r"|\b(?:follows? (?:it|this|that|them|suit) ?(?:down|up)?|(?:shrinks?|drops?|falls?|rises?"
    r"|grows?|goes"
    r" (?:up|down)) (?:along )?with (?:it|them|this|that))\b"
    r"|\b(?:inherits?|enjoys?|collects?|sees?|gets?|receives?|has|have|shows?|keeps?|takes? over"
    r"|promised"
    r"|given"
    r"|granted|expects?|adopts?|reaps?) (?:this|that|the same|the very same|exactly (?:this|that"
    r"|the"
    r" same)|that very|this very|that same|this same|just that) (?:\w+ )?(?:factor|speed-?up|gain"
    r"|ratio|boost|benefit"
    r"|improvement|acceleration|advantage|\d+(?:\.\d+)?x)\b"
    r"|\b(?:collects?|pockets?|inherits?|picks? up|sees?|gets?) (?:this|that|the (?:very )?same"
    r"|the full"
    r"|those) \d[\d.]* ?%"
    r"|\b(?:go(?:es)?|moves?|climbs?|rises?|increases?|scales?|improves?|grows?|follows?|changes?"
    r"|falls?|gains?|profits?|benefits?"
    r"|drops?|shrinks?|decreases?|speeds?)"
    r" (?:up |along |more or less |roughly |almost |nearly |pretty much )*(?:accordingly"
    r"|in (?:exact |direct |strict |full )?proportion|proportionally"
    r"|correspondingly|in step|likewise"
    r"|by (?:the |that |this )?(?:same |very )?(?:factor|ratio|amount|percentage|share)"
    r"|by the ratio of"
    r"|one[- ]to[- ]one|by (?:nearly |almost |about |roughly )?the same proportion|in proportion to"
    r" (?:it|this|that|them|these))"
    r"|\b(?:comes?|go(?:es)?) (?:straight|right|directly) off (?:the |each |every |our |its )"
    r"(?:[\w-]+ ){0,2}?(?:time|latency|tpot|itl|wait|tokens?|steps?)\b"
    r"|\b(?:carries|carry|transfers?|translates?|passes|extends?|applies"
    r"|holds) (?:over )?(?:directly "
    r"|straight |one[- ]to[- ]one |fully |equally )?(?:to|into|for) (?:the )?(?:\w+[- ]){0,2}?"
    r"(?:decod\w+|generation|chat|tokens?|tpot|itl|replies|single|interactive|conversation\w*)",
)
"""A gain told before that decode is said to have as well."""
_LIKE_SMALLER: Final = Form(
    r"\b(?:generat\w+|runs?|decodes?|answers?|replies|speed|fast|quick(?:ly)?|types?) (?:like|as"
    r"|at the"
    r" (?:speed|pace|rate) of) an? (?:dense )?(?:\d+(?:\.\d+)?B\b|(?:much |far )?smaller)"
    r"|\b(?:behaves?|acts?|works?|performs?|costs?|streams?)(?: at batch (?:1|one)| for one user"
    r"| in decode| in chats?)? like an? (?:dense )?"
    r"\d+(?:\.\d+)? ?G?B\b"
    r"|\b(?:is|are|becomes?) (?:effectively|in effect|practically|as good as|virtually) an?"
    r" (?:dense )?\d+(?:\.\d+)? ?B\b"
    r"|\bdown to the (?:traffic|bytes|reads|cost|latency|speed|pace|time|tpot|itl) of an?"
    r" (?:dense )?\d+(?:\.\d+)? ?B\b",
)
_ORIGIN: Final = Form(
    r"\b(?:gains?|speed-?ups?|win|advantage|lead|edge|benefit|improvement|acceleration)\b"
    r"[^.;:]{0,48}?\b"
    r"(?:stems?|comes?|results?|derives?|originates?|is (?:mainly |mostly )?(?:due|owed|thanks))"
    r" (?:mainly |mostly |entirely |only )?(?:from|to|out of)\b"
    r"(?!(?:[^.;:,]|\.\d){0,40}(?:weights?|bytes|traffic|fewer|reads?|bandwidth|[tg]b/s|memory"
    r"|hbm))",
)
"""Where a gain is said to come from."""


_SAVED: Final = Form(
    r"\b(?:saved|spared|avoided|missing|dropped) (?:\d[\d.]* ?%|(?:half|third|quarter|fifth|sixth"
    r"|eighth|tenth|work|arithmetic|operations|multiplications|flops|macs)\b)[^.;:,]{0,32}?"
    r" (?:shows? up|turns? up|comes? through|arrives?|lands?|reappears?|comes? back|(?:is"
    r"|are) felt)"
    r"\b[^.;:]{0,40}?\b(?:time|latency|tpot|itl|speed|tok\S*|tokens?|wait|step)\b"
)
"""What is saved of the work, as something that the time of a token shows."""


def saved_as_time(text: str, clause: Clause) -> Effect | None:
    """Work that is saved and shows up in the time: no loss, whatever goes "up"."""
    match = _SAVED.search(text, clause.start, clause.end)
    return None if match is None else Effect(Kind.GAIN, *match.span())


def _carried(text: str, clause: Clause) -> Effect | None:
    """A gain of something else that decode is said to have as well, or said to come from."""
    of_tokens = not _OF_TOKENS.isdisjoint(tag.name for tag in clause.tags)
    for pattern in (_CARRIED, _LIKE_SMALLER, _ORIGIN) if of_tokens else (_ORIGIN,):
        match = pattern.search(text, clause.start, clause.end)
        if match is not None:
            return Effect(Kind.GAIN, *match.span())
    return None


_SO_DOES: Final = Form(r"\b(?:so|and with (?:it|them|that)) (?:do|does|will|would|should) ")
_FALLS: Final = Form(
    r"\b(?:halv\w+|fall\w*|drop\w*|shrinks?|go(?:es)? (?:down|away)|disappears?|vanish\w*"
    r"|decreas\w+|declin\w+|lower|fewer|less"
    r"|sinks?|down by|cut)\b[^;:]{0,80}$"
)
_RISES: Final = Form(
    r"\b(?:doubl\w+|ris(?:es?|ing)|grows?|go(?:es)? up|increas\w+|climbs?|tripl\w+|higher|more"
    r"|up by)\b[^;:]{0,80}$"
)
_SPEEDS_UP: Final = Form(
    r"\b(?:as (?:fast|quick(?:ly)?)|faster|quicker|speeds? up|accelerat\w+|doubles (?:its|in)"
    r" (?:speed|pace|rate))\b[^;:]{0,80}$"
)
_BEFORE: Final = 120


def _echoed(text: str, clause: Clause) -> Effect | None:
    """A change told just before, that a time or a rate goes through as well: "so does the ITL"."""
    match = _SO_DOES.search(text, clause.start, clause.end)
    if match is None:
        return None
    after = {tag.name for tag in clause.tags if tag.start >= match.end()}
    if "SLOWER" in after or after.isdisjoint({"TIME", "RATE", "DECODE"}):
        return None
    form = _FALLS if "TIME" in after else _RISES if "RATE" in after else _SPEEDS_UP
    begin = max(0, match.start() - _BEFORE)
    told = form.search(text, begin, match.start()) is not None
    return Effect(Kind.GAIN, *match.span()) if told else None
