"""Whether what is told of a long context, or of a cache, is told of a step of decode at all.

Much does not hang on a length, and rightly: the quality of answers, the work of a scheduler, a step
whose attention reads a part of the cache, a user whose neighbour sends a long prompt.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.forms import Form
from advisor.said import Said

_SMALL_CACHE: Final = (
    r"mamba|hybrid|linear attention|state[- ]space|sliding|(?:local|attention) window"
    r"|window(?:ed)? attention|\brnn|rwkv|\bmla\b|latent|\bbelow\b"
    r"|\bunder\b|\bif\b|sparse attention|\btop-?k\b(?! sampl)|\b(?:dsa|nsa|csa)\b"
    r"|lightning attention|\bindexer\b|streaming ?llm|retrieval heads?"
)
"""Models and attention that read little of a long context, and conditions."""
_SHARED_OUT: Final = (
    r"\b(?:context|sequence)[- ]parallel\w*|\bring attention\b|\b(?:adding|more|extra|twice the"
    r"|doubling the) (?:\w+ )?(?:gpus|cards|devices|nodes)\b|\bin proportion\b"
)
"""A cache that more devices read."""
_OF_OTHERS: Final = (
    r"\b(?:other|running|ongoing|in-?flight|concurrent|active|neighbou?r\w*|existing|decoding)"
    r" (?:\w+ )?(?:users?|requests?|streams?|sequences?|sessions?|tenants?|decodes?)\b"
    r"|\bdisaggregat\w+|\bchunked[- ]prefill|\b(?:separate|dedicated|own) (?:prefill )?(?:nodes?"
    r"|gpus?|workers?|instances?|pools?)\b|\bhead-of-line|\binterfere\w*|\bstalls?\b"
)
"""The prompt of one request, and the steps of others."""
_AT_REST: Final = (
    r"\b(?:not|never) (?:\w+ )?(?:read|touched|fetched)\b[^.;]{0,24}? (?:until|unless)\b"
    r"|\b(?:idle|paused|inactive|finished|suspended|offloaded) (?:sessions?|requests?|users?"
    r"|conversations?|sequences?)\b|\bonce (?:offloaded|evicted|swapped)\b"
    r"|\b(?:kv|cache) (?:\w+ )?(?:transfers?|migrations?|cop(?:y|ies)|copying|movement)\b"
    r"|\btransfer\w* (?:of )?(?:the )?(?:kv|cache)\b|\bhidden (?:behind|by|under)\b|\boverlap\w*"
)
"""A cache that no step reads just now, or that is on its way between devices."""
_FOR_NOW: Final = (
    r"\bfor (?:now|the moment|the time being)\b[^.;]{0,48}?\b(?:later|come back|return|below|then"
    r"|next|add)\b"
)
"""What is left out first, and added after."""


def is_excepted(said: Said) -> bool:
    """Whether the text names what makes a long context cheap, or is about another's."""
    return (
        said.has(_SMALL_CACHE)
        or said.says(_SHARED_OUT)
        or said.has(_OF_OTHERS)
        or said.says(_AT_REST)
        or said.says(_FOR_NOW)
    )


_OF_STEP_TERMS: Final = frozenset(
    {"KV", "KVQ", "RATE", "TIME", "DECODE", "FASTER", "SLOWER", "BYTES", "SINGLE"}
)
_OF_STEPS: Final = (
    r"\b(?:steps?|times?|milliseconds?|ms|speed|pace|slow\w*|attention|histor(?:y|ies)|cached?)\b"
)
_OF_STEP_NEAR: Final = frozenset({"KV", "KVQ", "RATE", "TIME", "DECODE"})
_OTHER_SUBJECT: Final = re.compile(
    r"\b(?:(?<!over the )(?<!GB of )(?<!reads the )(?<!reading the )(?<!read the )(?<!of the )"
    r"weights?"
    r"|traffic|bytes|flops|overheads?|kernels?|launch\w*|acceptance|gains?|speed-?ups?"
    r"|savings?|benefits?|ratio|router|loss|cost of|quality|accuracy|memory|size|limits?"
    r"|requests? equally|metrics?|treats?|all-?reduces?|reduces|collectives?|sampl\w+"
    r"|projections?|norms?|tokeni[sz]\w+|heads?|mlp|ffn|embedding\w*|network|queue\w*)\b",
    re.IGNORECASE,
)
"""What rightly does not hang on the context."""
_HEAD: Final = Form(
    r"\W*(?:(?:because|since|so|and|but|while|moreover|also|here|at [^,;.]{1,30},"
    r"|for [^,;.]{1,30},|in [^,;.]{1,30},|with [^,;.]{1,30},) ?)?"
    r"(?:the |our |an? |its |their |this |any )?(?:(?!(?:is|are|was|only)\b)[\w-]+ ){0,3}?"
    r"(?:overheads?|perplexity|ppl|accuracy|quality|hit[- ]rates?|hit ratios?|acceptance|waste"
    r"|fragmentation|scheduling|lookups?|hash\w*|tokeni[sz]\w+|block tables?|charges?|prices?"
    r"|outputs? quality|recall"
    r"|scores?|precision|degradation|errors?"
    r"|speed-?ups?|gains?|savings?|benefits?|improvements?|ratios?|gemms?|matmuls?|mlps?|ffns?"
    r"|linear layers?|projections?|adapters?|managers?|schedulers?|routers?|allocators?|billing"
    r"|limiters?)\b"
)
"""A clause whose subject is a quality, or the work beside a step."""
_OF_OTHER_LAYERS: Final = Form(
    r"\b(?:for|in) (?:the )?(?:linear layers?|mlps?|ffns?|projections?|gemms?|matmuls?|dense layers"
    r"|experts|non-attention (?:parts?|layers?))\b"
)
"""A part of the step that is none of attention."""
_NO_EFFECT: Final = Form(
    r"\b(?:ha(?:s|ve|d) no (?:\w+ )?(?:effect|impact|influence|bearing|say)|ma(?:kes?|de) no"
    r" difference|(?:does|do|did|will|would)(?: not|n['’]t) (?:affect|influence|slow|hurt|touch"
    r"|matter"
    r"|(?:change|alter)(?! (?:with|over|across|from|between|as|when|at|beyond|for|up|until)\b)))\b"
)
_LENGTH_SUBJECT: Final = Form(
    r"\b(?:kv|k/v|caches?|contexts?|lengths?|prompts?|histor(?:y|ies)|conversations?|dialog\w*"
    r"|documents?|sessions?|tokens?|windows?|depth|keys|long(?:er)?|\d+ ?k|it|this|that|they|these"
    r"|those|which|attention|positions?|novels?|books?|transcripts?|chats?|past|what|how|inputs?"
    r"|sequences?|logs?|contracts?|pages?|files?|text)\b"
)
"""What is long, or the cache of it, or a word that points at them."""
_IGNORING: Final = Form(r"\b(?:ignor|neglect)(?:e|es|ed|ing|s)? (?P<what>(?:[\w/'’-]+ ?){1,8})")
_ENDS_OBJECT: Final = re.compile(
    r"\b(?:when|if|for|in|at|on|as|and|than|with|that|which|during|while|because|since|so|here|from"
    r"|altogether|entirely|completely|even|is|are)\b"
)
_OF_CACHE: Final = Form(
    r"\b(?:kv|k/v|caches?|keys|histor(?:y|ies)|contexts?|length|past|attention|it|this|that|them"
    r"|these|reads?|reading|traffic|term)(?: (?:cache|reads?|traffic|loading|loads?|term|part|bytes"
    r"|cost|costs|contribution|share|side|length|size|time|component))*$"
)
"""A cache, or what points at it, as the last words of what is ignored."""


def _is_of_other_object(text: str) -> bool:
    """Whether a clause ignores something else than a cache: "we ignore the first 100 requests"."""
    ignoring = _IGNORING.search(text)
    if ignoring is None:
        return False
    told = ignoring["what"].strip()
    end = _ENDS_OBJECT.search(told)
    told = told[: end.start()].strip() if end is not None else told
    return bool(told) and _OF_CACHE.search(told) is None


def _is_of_other_cause(text: str) -> bool:
    """Whether it is a setting that changes nothing, and no length: "block size has no effect"."""
    told = _NO_EFFECT.search(text)
    if told is None or not text[: told.start()].strip():
        return False
    return _LENGTH_SUBJECT.search(text, 0, told.start()) is None


def names_other_subject(text: str) -> bool:
    """Whether a clause names what rightly does not hang on the context."""
    return _OTHER_SUBJECT.search(text) is not None


def is_about_step(said: Said) -> bool:
    """Whether the sentence is about a step: by its words, or pointing at what was told of one.

    Much else does not hang on a length: an answer's quality, the cost of a draft, a calibration.
    """
    statement = said.statement
    if _HEAD.match(statement.text) is not None or _OF_OTHER_LAYERS.search(statement.text):
        return False
    if _is_of_other_object(statement.text) or _is_of_other_cause(statement.text):
        return False
    own = statement.sentence | statement.clause
    if not own.isdisjoint(_OF_STEP_TERMS) or said.says(_OF_STEPS):
        return True
    if _OTHER_SUBJECT.search(statement.text) is not None:
        return False
    return not statement.nearby.isdisjoint(_OF_STEP_NEAR) or said.has(r"\d ?GB\b")
