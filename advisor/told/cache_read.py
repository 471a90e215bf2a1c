"""The cache that a rate at a long context reads beside the weights, at its least.

A rate is held against it only where its own sentence or row tells how long the context is: what a
document allows for at most, most requests do not fill.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.forms import Form
from advisor.prose.cache_patterns import lengths_in
from advisor.prose.frame import frame_of
from advisor.prose.model import Statement

if TYPE_CHECKING:
    from advisor.prose.frame import Frame

_LONG: Final = 8192
"""Tokens below which the cache is small beside the weights."""
_NARROW: Final = 0.5
"""An 8-bit cache over the 16-bit one."""
_AT_MOST: Final = Form(
    r"\b(?:up to|until|at most|max(?:imum|imal|imally)?\b|as (?:much|many|long) as|no more than"
    r"|below"
    r"|under|less than|window|limit|supports?|allows?|trained|prompts?|prefill)"
)
_NARROWED: Final = Form(
    r"\b(?:fp8|int8|int4|q[48]_\d|[48][- ]bits?|quanti[sz]ed|compressed|evict\w*|window(?:ed)?"
    r"|sparse|h2o|snapkv|mla|sliding)\b"
)


_RATES: Final = Form(
    r"\d ?(?:tok\w*(?: ?/ ?| per | an? )s|t/s|tps)\b|\b(?:at|to|near|from|by"
    r"|about) \d[\d.]*(?=[.,;]|$)"
)


def least_cache(statement: Statement, own_words: str) -> float:
    """Bytes of cache that a step at batch 1 reads for a rate; 0 where the text leaves it open."""
    frame = statement.frame
    context = _context(frame_of(own_words), frame, own_words)
    if frame.kv_bytes is not None or context is None or context < _LONG:
        return 0.0
    if (frame.batch or 1) > 1 or _AT_MOST.search(own_words) is not None:
        return 0.0
    if statement.table is None and len(_RATES.findall(own_words)) > 1:
        return 0.0  # "starts at 250 tokens/s and ends near 110": the length is that of one of them
    narrowed = "KVQ" in statement.nearby or _NARROWED.search(own_words) is not None
    return _per_token(frame, context) * context * (_NARROW if narrowed else 1.0)


def _context(own: Frame, frame: Frame, own_words: str) -> int | None:
    """The context that a sentence or row tells; one told before may be called "96K" again."""
    if own.context is not None:
        return None if own.is_loose else own.context
    if frame.context is None:
        return None
    again = {int(one) for one in _KILO.findall(own_words)}
    return frame.context if {frame.context // 1000, frame.context // 1024} & again else None


_KILO: Final = re.compile(r"(?<![\w.])(\d{1,4}) ?[kK]\b(?! ?(?:tok\w*/|t/s|B))")


def _per_token(frame: Frame, context: int) -> float:
    """Bytes that a token of the context adds: as stated, else of the model in 8 bits."""
    if frame.kv_per_token is not None:
        return frame.kv_per_token
    if frame.model is None:
        return 0.0
    from advisor.prose.named import cache_bytes  # noqa: PLC0415 - few texts name a model

    return _NARROW * cache_bytes(frame.model, context) / context


def is_of_other_length(statement: Statement) -> bool:
    """Whether a figure names a context of its own, other than that of the cache told before."""
    context = statement.frame.context
    own = lengths_in(statement.sentence_text)
    return bool(own and context) and not any(
        abs(length / context - 1.0) < _SAME_LENGTH for length in own if context
    )


_SAME_LENGTH: Final = 0.1
"""128k is 131,072."""
