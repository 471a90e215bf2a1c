"""Attention kernels that are to make decode faster where there is little to attend to."""

from __future__ import annotations

from typing import Final

from advisor.finding import Confidence, ErrorClass
from advisor.forms import Form
from advisor.prose.lengths import inputs_in
from advisor.prose.model import Kind, Phase, Statement
from advisor.said import NO_DECODE, Said, Wrong, attributed, confidence_of, decode_gain
from advisor.told.cache_share import cache_share

_SHORT: Final = 4096
"""Tokens up to which attention is a few percent of a step at batch 1."""
_IN_DECODE: Final = (
    r"\b(?:decod\w*|generat\w*|per token|(?:each|every|next|output|generated) (?:\w+ )?token|tpot"
    r"|itl"
    r"|one query|step|bs ?=? ?1|batch[- ]1|t/s|tok\S*/s|tps)\b"
)
_FUSED: Final = Form(r"\b(?:fused|tiled|new|this|that|the) (?:\w+ )?kernel\b")
_OTHER_FUSION: Final = Form(r"\bgraphs?\b|launch|overhead|norm|gate|rope|mlp|swiglu|mega")


_AS_BEFORE: Final = Form(
    r"\b(?:same|equal|identical) (?:rate|pace|speed|efficiency),? (?:as|with|whether|before)\b"
)
"""A pace that is kept, and no gain carried over."""


def short_attention(said: Said) -> Wrong | None:
    """An attention kernel that is to make decode faster at short context."""
    statement = said.statement
    sure = attributed(said) or decode_gain(said)
    context = _context(said)
    if "SHORT" in statement.clause and (context or 0) > _SHORT:
        context = None  # the long one is where it was measured
    share = statement.kind is Kind.SHARE and statement.phase in {Phase.DECODE, Phase.UNKNOWN}
    if (statement.kind is Kind.DRIVER and statement.phase is Phase.DECODE) or share:
        sure = confidence_of(statement)
        if share and (
            not (said.says(_IN_DECODE) or _is_of_decode(said))
            or (context is None and "SHORT" not in statement.sentence)
        ):
            return None
    elif statement.kind is Kind.CARRIED and statement.phase not in NO_DECODE - {Phase.PREFILL}:
        known = context is not None and _AS_BEFORE.search(statement.text) is None
        sure = confidence_of(statement) if known else None
    if sure is None or not _is_attention(statement) or _is_other(said):
        return None
    long = "LONG" in statement.sentence and "SHORT" not in statement.sentence
    beside = cache_share(statement.frame, context or _USUAL)
    over = statement.speedup is not None and statement.speedup > _GRACE * beside.most
    small = beside.is_named and beside.share <= _SMALL and over
    if (context is not None and context > _SHORT and not small) or long:
        return None
    if "SHORT" not in statement.nearby and context is None:
        sure = Confidence.MEDIUM
    return Wrong(
        f"{beside}: attention is {100 * beside.share:.1f}% of the bytes, so even for free it brings"
        f" {beside.most:.2f}x",
        sure,
        ErrorClass.FLASH_ATTENTION_SHORT,
        numbers={"context_tokens": beside.context, "cache_bytes": beside.cache_bytes},
    )


def _is_of_decode(said: Said) -> bool:
    """Whether the sentence before tells that decode is meant."""
    return said.statement.phase is Phase.DECODE and said.has(_IN_DECODE)


_USUAL: Final = 512
"""Tokens of a short chat, where nobody says how many."""
_SMALL: Final = 0.1
_GRACE: Final = 1.1


def _is_attention(statement: Statement) -> bool:
    """Whether the lever is an attention kernel: by name, or as the kernel of one named before."""
    if statement.cause == "ATTN":
        return True
    if statement.kind is Kind.SHARE:
        return _OF_ATTENTION.search(statement.text) is not None
    if statement.cause not in {"GRAPHS", None} or "ATTN" not in statement.nearby:
        return False
    text = statement.sentence_text
    return _FUSED.search(text) is not None and _OTHER_FUSION.search(text) is None


_OF_ATTENTION: Final = Form(r"attention|softmax|\bq ?k|quadratic|\bscores?\b")
_LAUNCHES: Final = Form(
    r"\bcuda graphs? (?:and|plus|together)\b|\b(?:and|plus) (?:(?!with )\w+ )?cuda graphs?\b(?!-)"
    r"|\blaunch\w*|\boverhead|\bkernels? (?:a|per|each) layer"
)
_OF_KERNEL: Final = Form(
    r"\bkernels? (?:\w+ )?(?:is|are|runs?|gets?|becomes?) [^.;:,]{0,24}?(?:fast|quick)"
)
_OF_OPERATION: Final = Form(
    r"\b(?:decode|decoding|mla|gqa|mqa|paged) attention (?:kernels? |op\w* )?(?:is|are|runs?|gets?"
    r"|becomes?) (?:[^.;:,]|\.\d){0,24}?(?:fast|quick)"
)
"""The operation that gets faster, and not the step around it: "decode attention is 2x faster"."""
_SMALL_PART: Final = Form(
    r"(?<![\d.])(?:\d|1[0-5])(?:\.\d+)? ?(?:%|per ?cent) of (?:the |each |a "
    r"|every )?(?:\w+ )?(?:step|time"
    r"|token|latency)"
)
"""Attention as the small part of a step that it is."""
_ATE: Final = Form(
    r"\b(?:ate|took|spent|used|consumed|cost|made up) (?:\w+ ){0,2}?[3-9]\d ?(?:%|per ?cent) of"
    r" (?:the |each |every )?(?:\w+ )?(?:step|time|latency)\b"
)
_CUT_OUT: Final = Form(
    r"\b(?:cut (?:out|off|away)|removed|sliced|pruned away|dropped|taken out|physically)\b"
)
_FELT: Final = 1.12
"""A gain that the cache of a short context may bring."""


def _is_other(said: Said) -> bool:
    """Whether launches are saved, a kernel alone is told to be fast, or little is won."""
    statement = said.statement
    if _LAUNCHES.search(statement.context_text) or _SMALL_PART.search(statement.context_text):
        return True
    if statement.speedup is not None and 1.0 < statement.speedup <= _FELT:
        return True
    if "HEADS" in statement.nearby and _CUT_OUT.search(statement.context_text):
        return True  # fewer heads are fewer weights
    if _ATE.search(statement.context_text):
        return True  # measured, by whatever kernel it was
    if _OF_OPERATION.search(statement.text):
        return True
    of_users = not statement.clause.isdisjoint({"TIME", "RATE", "SINGLE"})
    return not of_users and _OF_KERNEL.search(statement.text) is not None


_LENGTH: Final = Form(
    r"(?<![\w.,])(\d[\d,]*)( ?k)?(?:[- ](?:\w+ )?(?:context|history|chats?|prompts?"
    r"|sessions?))\b|\b(?:context|history|prompts? of|length)\W{1,3}(?:of |is )?(\d[\d,]*)( ?k)?\b"
)
_FEWEST: Final = 16
"""Fewer tokens are no context."""


def _context(said: Said) -> int | None:
    """The shortest context that the sentence tells, or else what it rests on."""
    statement = said.statement
    own = _lengths(statement.sentence_text) or _lengths(statement.context_text)
    return min(own) if own else statement.frame.context


def _lengths(text: str) -> list[int]:
    found = list(inputs_in(text))
    for match in _LENGTH.finditer(text):
        number = int((match[1] or match[3]).replace(",", ""))
        scaled = number * (1024 if match[2] or match[4] else 1)
        if scaled >= _FEWEST:
            found.append(scaled)
    return found
