"""Figures of a token that are those of all weights of a mixture: bytes, times and parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.forms import Form
from advisor.prose.experts import FOR_EACH, HELD, PART_OF, TAKEN
from advisor.prose.model import Kind, Statement
from advisor.prose.shrinkage import gigabytes_in
from advisor.said import Said, bandwidths_of, sizes_of
from advisor.told.asked import question_before

if TYPE_CHECKING:
    from advisor.prose.frame import Frame

_CLOSE: Final = {True: (0.92, 1.08), False: (0.85, 1.3)}
"""All weights at 8 bits and more, and below, where scales and wide parts add to them."""
_UNSTATED_BITS: Final = (16.0, 8.0, 4.5)
_DENIED: Final = Form(r"\b(?:not|rather than|instead of|never|nor|against|than)(?: \w+){0,2} ?$")
"""What an amount is contrasted with."""
_FAR_MORE: Final = 1.5
_SAME: Final = 0.06


def all_bytes(said: Said) -> float | None:
    """Bytes that a token is said to take and that are all weights of the model."""
    statement = said.statement
    total, active = sizes_of(statement)
    if active is None or total is None:
        return None
    if statement.kind not in {Kind.READS, Kind.AMOUNT}:
        return None
    text = statement.text
    if statement.table is not None:
        text = f"{statement.table[0][statement.table[2]]}: {text}"
    told_of = text if statement.table is not None else statement.sentence_text
    asked = question_before(statement)
    if not FOR_EACH.search(asked or told_of) or not TAKEN.search(asked or text):
        return None
    if (
        HELD.search(f"{asked} {text}")
        or re.search(PART_OF, text)
        or _OF_WHICH.search(statement.sentence_text) is not None
        or re.search(r"\b(?:dense|active)\b", text)
    ):
        return None
    for start, amount in gigabytes_in(text):
        told = amount * 1e9
        denied = _DENIED.search(text, 0, start) is not None
        denied |= _is_of_active(told, statement) or _has_larger(said, told)
        if not denied and _is_all(told, total, statement.frame.weight_bits):
            return told
    return None


_OF_WHICH: Final = Form(
    r"(?:^|: )\W*(?:out )?of (?:the |its |all |these )?\d[\d.,]* ?GB,? [^.;]{0,48}?\d[\d.,]* ?GB"
)
"""A part of the whole: "Of 46.7 GB, one token touches 12.9 GB"."""


def _has_larger(said: Said, told: float) -> bool:
    """Whether the sentence tells all weights apart: "needs 94 GB of memory but reads 26 GB"."""
    frame, (total, _) = said.statement.frame, sizes_of(said.statement)
    amounts = [one.gigabytes * 1e9 for one in gigabytes_in(said.statement.sentence_text)]
    larger = (amount for amount in amounts if amount > _FAR_MORE * told)
    return any(_is_all(amount, total or 0.0, frame.weight_bits) for amount in larger)


def _is_of_active(told: float, statement: Statement) -> bool:
    """Whether an amount is what the active parameters come to in the format, or in a wide one."""
    frame, active = statement.frame, sizes_of(statement)[1] or 0.0
    if frame.weight_bytes is not None and abs(told - frame.weight_bytes) < _SAME * told:
        return False  # what the file takes
    widths = (frame.weight_bits,) if frame.weight_bits is not None else (16.0, 8.0)
    return any(abs(told - active * bits / 8.0) < _SAME * told for bits in widths)


def _is_all(told: float, total: float, bits: float | None) -> bool:
    """Whether bytes are those of all parameters, at the stated width or a usual one."""
    for width in (bits,) if bits else _UNSTATED_BITS:
        low, high = _CLOSE[width >= 8.0] if bits else (0.88, 1.12)
        if low <= told / (total * width / 8.0) <= high:
            return True
    return False


def stored_bytes(statement: Statement) -> float:
    """Bytes of all parameters, at the stated width or as stated."""
    frame, (total, _) = statement.frame, sizes_of(statement)
    if total and frame.weight_bits:
        return total * frame.weight_bits / 8.0
    return frame.weight_bytes or 0.0


_TIMED: Final = (
    r"weights|read|stream|pull|bandwidth|bus|/ ?\d|floor|limit|roof|ceiling|bound|at most|best"
    r"|cannot|perfect|\bGB\b|\b(?:therefore|thus|hence|so)\b"
    r"|sparse or not|\bcosts?\b|no (?:less|faster|quicker|shorter|more) than|at least|minimum"
    r"|\bwall\b|never|divi(?:de|sion)"
)
"""A time that is computed of bytes, and not measured."""
_NO_WALL: Final = Form(r"\b(?:is|are|was|were)(?: (?:no|not|hardly|by no means)|n['’]t)\b")
"""It is said of the time that it is no limit."""
_SAME_TIME: Final = 0.07
_FILE_BYTES: Final = (0.45, 2.2)
"""Of a parameter, in any format."""


def time_of_all(said: Said) -> float | None:
    """A time per token, in ms, that is all weights over the bandwidth."""
    statement, frame = said.statement, said.statement.frame
    bandwidths = bandwidths_of(frame)
    if statement.kind is not Kind.FIGURE or statement.tpot_ms is None or not bandwidths:
        return None
    total, active = sizes_of(statement)
    if active is None or total is None or not said.says(_TIMED):
        return None
    if _NO_WALL.search(statement.text) is not None:
        return None
    stated = frame.weight_bytes
    if stated is None or not (_is_all(stated, total, frame.weight_bits) or _is_file(frame)):
        stated = total * frame.weight_bits / 8.0 if frame.weight_bits else _told_whole(said, total)
    if stated is None:
        return None
    whole = stated / max(bandwidths) / 1e6
    right = any(
        abs(statement.tpot_ms * bandwidth * 1e6 / stated - 1.0) < _rounded(statement.tpot_ms)
        for bandwidth in bandwidths
    )
    # a quotient in the text may be rounded, or that of one of several cards
    near = 0.4 * whole <= statement.tpot_ms <= 1.35 * whole and said.says(
        r"\d ?/ ?\d|weights alone"
    )
    return statement.tpot_ms if right or near else None


def _told_whole(said: Said, total: float) -> float | None:
    """Bytes that the sentence gives for a token and that are those of all parameters."""
    if FOR_EACH.search(said.statement.sentence_text) is None:
        return None
    told = (one.gigabytes * 1e9 for one in gigabytes_in(said.statement.sentence_text))
    return next((amount for amount in told if _is_all(amount, total, None)), None)


def _is_file(frame: Frame) -> bool:
    """Whether stated bytes are those of a whole file, of a format that nobody names."""
    if frame.weight_bytes is None or frame.parameters is None or frame.weight_bits is not None:
        return False
    if frame.active_parameters is None or frame.weight_bytes < 2.2 * frame.active_parameters:
        return False
    return _FILE_BYTES[0] <= frame.weight_bytes / frame.parameters <= _FILE_BYTES[1]


def _rounded(tpot_ms: float) -> float:
    """How far a time may be off that is told as a rate of a few whole tokens a second."""
    rate = 1e3 / tpot_ms
    whole = rate < _FEW and abs(rate - round(rate)) < 1e-6
    return max(_SAME_TIME, 0.5 / rate) if whole else _SAME_TIME


_FEW: Final = 10.0


_COUNT: Final = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:B|billion)\b(?!-)(?! (?:total|in total|model))"
)
_ALIKE_COUNT: Final = 0.06


def tells_all_parameters(said: Said) -> bool:
    """Whether the count of parameters that a token is said to take is that of all of them."""
    statement = said.statement
    total, active = sizes_of(statement)
    if total is None or active is None:
        return False
    if re.search(r"\bdense\b|\bof what\b", statement.text):
        return False
    told = [float(match[1]) * 1e9 for match in _COUNT.finditer(statement.text)]
    if any(abs(count - active) < _ALIKE_COUNT * active for count in told):
        return False  # both are told apart
    return any(abs(count - total) < _ALIKE_COUNT * total for count in told)


_SIZES: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B\b")
_NEARLY: Final = 0.8
"""Of all weights: more than any routed share of the models at hand."""


def tells_all_bytes(said: Said) -> bool:
    """Whether bytes in the clause come to nearly all parameters that a model near by has."""
    statement = said.statement
    sizes = [float(size) for size in _SIZES.findall(statement.context_text)]
    read = [one.gigabytes for one in gigabytes_in(statement.text)]
    bits = statement.frame.weight_bits or 16.0
    if sizes and statement.frame.active_parameters and statement.frame.parameters:
        sizes.append(statement.frame.parameters / 1e9)  # the text may give the active ones alone
    return bool(sizes and read) and max(read) > _NEARLY * max(sizes) * bits / 8.0
