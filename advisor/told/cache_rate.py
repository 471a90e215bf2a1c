"""Rates at a long context that the weights alone allow, and their cache does not."""

from __future__ import annotations

from typing import Final

from advisor.forms import Form
from advisor.prose.frame import frame_of
from advisor.prose.model import Kind, Phase, Statement
from advisor.said import Said
from advisor.told.cache_rows import row_length
from advisor.told.cache_told import Cache

_LONG: Final = 32_000
_NEAR: Final = 1.25
"""Times the floor of the weights, within which a rate leaves no time for a long cache."""
_RESERVED: Final = Form(
    r"\b(?:ctx[-_ ]?(?:size|len)\w*|n_?ctx|num_ctx|max[-_](?:model|seq\w*|context)[-_]len\w*"
    r"|context[-_ ](?:size|window))\b[ =:\"']{0,3}(?:of )?\d[\d,]*k?|(?<!\S)-c \d+k?\b"
)
"""Room for a context, of which nobody says how much is filled."""
_OF_WEIGHTS: Final = Form(r"\W*(?:the )?weights?\b[^.;]{0,24}(?::|alone|take|are)")
"""A part of the step, told as such."""


def leaves_no_time(said: Said, context: int, cache: Cache | None, grace: float) -> bool:
    """A rate at long context that the weights alone would nearly allow.

    Where the cache is known, the step has to take `grace` times as long as told.
    """
    statement, floor = said.statement, said.floor
    if statement.kind is not Kind.FIGURE or floor is None or statement.tpot_ms is None:
        return False
    if statement.frame.kv_bytes is not None or context < _LONG:
        return False  # its row, or what stands before it, counts the cache
    if "SPEC" in statement.nearby or _is_of_many(statement):
        return False
    if not _tells_length(statement):
        return False  # the length of another part of the document
    if statement.opener == ":" and _OF_WEIGHTS.match(statement.sentence_text) is not None:
        return False
    if statement.phase is not Phase.DECODE:
        return False
    if cache is not None and cache.context:
        least = floor._replace(kv_bytes=cache.bytes).ms
        return least > grace * statement.tpot_ms and statement.tpot_ms < _NEAR * floor.ms
    return statement.tpot_ms < _NEAR * floor.ms


def _is_of_many(statement: Statement) -> bool:
    """Whether a rate is that of all sequences of a batch, and no time of a step."""
    return statement.is_aggregate or ((statement.frame.batch or 1) > 1 and not statement.is_single)


def _tells_length(statement: Statement) -> bool:
    """Whether the row, or the words near by, tell the length of a rate's context."""
    if statement.table is not None:
        return row_length(statement) is not None or (
            statement.near is not None and statement.near.context is not None
        )
    return frame_of(_RESERVED.sub(" ", statement.context_text)).context is not None
