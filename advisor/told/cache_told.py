"""The cache that a step reads, by what a text gives, and steps told without it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.frame import frame_of
from advisor.prose.lengths import per_token_in, sequences_in
from advisor.prose.model import Kind, Phase, Statement
from advisor.prose.named import cache_bytes
from advisor.said import Said

_USUAL: Final = {
    8e9: 131_072.0,
    32e9: 262_144.0,
    70e9: 327_680.0,
    72e9: 327_680.0,
    405e9: 516_096.0,
}
"""Bytes of cache a token of sizes that nearly all models have in common: GQA with 8 KV heads in 32,
64, 80 and 126 layers. For 7B and 13B it hangs on the heads."""
_FULL_HEADS: Final = {7e9: 524_288.0, 13e9: 819_200.0}
"""With as many KV heads as heads: 32 x 32 x 128 x 2 x 2, 40 x 40 x 128 x 2 x 2."""
PARTED: Final = re.compile(
    r";|\. |, (?=(?:at|with|by|beyond|above|past|from) \d)|,? (?:but|while|whereas|yet) "
)


class Cache(NamedTuple):
    """The cache of a step by what a text gives."""

    bytes: float
    per_token: float
    context: int
    sequences: int
    share: float | None
    """Of the bytes of the weights."""


def cache_of(said: Said, context: int) -> Cache | None:
    """Bytes of cache that a step reads, by the model or as told; None where it is unknown."""
    frame, text = said.statement.frame, said.statement.context_text
    if context <= 0:
        return _told_beside(said)
    sequences = max(frame.batch or 1, frame.sequences or 1, sequences_in(_up_to(said.statement)))
    told = frame.kv_per_token or per_token_in(text)
    if told is not None:
        per_token = told
    elif frame.model is not None:
        per_token = cache_bytes(frame.model, context) / context
    else:
        sizes = _FULL_HEADS if re.search(r"\bMHA\b|multi-head attention", text) else _USUAL
        nominal = round(frame.parameters or 0.0, -9)
        if nominal not in sizes:
            return None
        per_token = sizes[nominal]
    if said.has(r"(?:fp8|int8|8-bit|q8) (?:kv|cache)|(?:kv|cache) (?:in|at) (?:fp8|int8|8 bits)"):
        per_token /= 1.0 if told is not None else 2.0
    weights = frame.weight_bytes
    if weights is None and frame.parameters is not None:
        count = frame.active_parameters or frame.parameters
        weights = count * (frame.weight_bits or 16.0) / 8.0
    moved = per_token * context * sequences
    return Cache(moved, per_token, context, sequences, moved / weights if weights else None)


def _told_beside(said: Said) -> Cache | None:
    """Bytes of cache that a text tells near by, beside those of the weights."""
    text = said.statement.context_text
    cache, weights = frame_of(text).kv_bytes, said.statement.frame.weight_bytes
    if not cache or not weights or _ROOM.search(text) is not None:
        return None
    return Cache(cache, 0.0, 0, 1, cache / weights)


_ROOM: Final = Form(
    r"\b(?:free|left|leav\w+|remain\w*|available|room|spare|reserv\w+|budget|pool|up to|limit\w*)\b"
)
"""Bytes that caches may take, and no step reads for sure."""


def _up_to(statement: Statement) -> str:
    """What stands before a statement and its own part of the sentence, without what follows."""
    text = statement.context_text
    at = text.rfind(statement.text)
    after = PARTED.search(text, at + len(statement.text)) if at >= 0 else None
    return text[: after.start()] if after is not None else text


_OF_A_STEP: Final = Form(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?GB(?: of reads?)? ?(?:(?:/|÷|over|divided by) ?(?:the |its )?"
    r"\d[\d.,]* ?[TG]B/s|(?P<of>(?:per|a|each|every|for (?:each|every)) (?:\w+ )?(?:step|token)\b))"
)
"""Bytes over a bandwidth, or for a step."""
_ALIKE: Final = 0.08


_FREE: Final = Form(
    r"\b(?:free|left|remains?|available|room|spare) (?:\w+ ){0,2}?(?:for|to)\b"
    r"|\bfor (?:the )?cache\b"
)


def is_weights_alone(said: Said, cache: Cache) -> bool:
    """Whether the bytes of a whole step are told, and they are those of the weights."""
    statement = said.statement
    if statement.kind not in {Kind.AMOUNT, Kind.FIGURE, Kind.READS} or not cache.share:
        return False
    if statement.phase not in {Phase.DECODE, Phase.UNKNOWN} or statement.frame.kv_bytes:
        return False
    told = _OF_A_STEP.search(statement.text)
    of_step = told is not None and told["of"] is not None
    if told is None or "WEIGHTS" in statement.sentence or "KV" in statement.nearby:
        return False
    if "KVQ" in statement.around or _FREE.search(statement.sentence_text) is not None:
        return False  # the cache itself, or the room for it
    if not of_step and statement.nearby.isdisjoint({"TIME", "RATE", "DECODE"}):
        return False
    weights = cache.bytes / cache.share
    return abs(float(told[1].replace(",", "")) * 1e9 / weights - 1.0) < _ALIKE
