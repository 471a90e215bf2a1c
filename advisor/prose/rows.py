"""What the headers of a table, headings and lead-ins state for the cells and sentences below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from advisor.forms import Form
from advisor.prose.blocks import Block
from advisor.prose.frame import NOTHING, Frame, frame_of, is_left_aside
from advisor.prose.patterns import SOME_DIGIT
from advisor.prose.row_lengths import length_of
from advisor.prose.sentences import sentences_of
from advisor.prose.widths import sizes_of

_LONGEST: Final = 1500
"""Characters of a label; a longer text is none."""
BASE_ROW: Final = Form(
    r"\b(?:baseline|base|today|current|now|before|dense|bf16|fp16|f16|f32|fp32|16[- ]bits?|none"
    r"|reference|original"
    r"|status quo|unpruned|eager|naive|stock|vanilla|unmasked)\b|\bfull(?: model)?\s*$"
    r"|^\s*all \d+\b|^\s*1\s*(?:$|[x×]|gpus?\b|cards?\b)",
)
"""The label of a row, or a column, that others are held against."""
RATE_COLUMN: Final = Form(
    r"\btok(?:en)?s?(?:\s?/\s?| per | a )s(?:ec(?:onds?)?)?\b|\bt/s|\btps\b"
    r"|\btg(?:\d+)?\b",
)
"""A column of tokens per second."""
OF_REGIMES: Final = Form(
    r"\b(?:users?|batch(?: size)?|bs|concurrency|streams|sessions|requests|context|tokens|load"
    r"|in flight|clients|chats|sequences)\b",
)
"""A column of regimes: rows that differ in theirs are no baseline of each other."""
_BATCH_COLUMN: Final = Form(
    r"\b(?:batch|streams|sessions|users|concurren\w*|sequences|requests|max_num_seqs"
    r"|max_batch_size|clients|chats|conversations|callers)\b|^(?:b|bs|bsz)$",
)
_DEVICES_COLUMN: Final = Form(
    r"^(?:#\s?)?(?:number of )?(?:gpus|cards|devices|ranks|accelerators)\b"
    r"|^(?:#\s?)?(?:tp|tensor parallel\w*)\b"
    r"|\btp (?:size|degree)\b|^(?:nvidia |amd |rtx )?[a-z]{0,3}\d{2,4}[a-z]{0,3}s$",
)
_BYTES_COLUMN: Final = Form(
    r"bytes (?:per|a|/) ?token|gb (?:per|a|/) ?token|read per token|per token|bytes",
)
SIZE_COLUMN: Final = Form(
    r"^(?:(?:file|model|checkpoint|gguf|download|disk) )?size\b"
    r"|^(?:file|gguf|checkpoint|on disk)\b"
)
"""A column of what the weights take; a size of no file stands in one of memory."""
_PASS_COLUMN: Final = Form(
    r"\btokens? (?:per|a|/) ?(?:pass|round|step|verification|cycle)\b"
    r"|\b(?:accepted|acceptance) (?:length|tokens)\b"
)
"""A column of the tokens that leave with each pass of the target."""
_NUMBER: Final = re.compile(r"\s*[~≈]?\s*(\d+(?:\.\d+)?)\s*")
_GIGABYTES: Final = re.compile(r"\s*[~≈]?\s*(\d+(?:\.\d+)?)\s?GB\s*")
_INTEGER: Final = re.compile(r"\s*(\d[\d,]*)\s*")


def row_text(block: Block) -> str:
    """The row of a cell in words: each header with its cell."""
    pairs = zip(block.columns, block.cells, strict=False)
    return "; ".join(f"{column}: {cell}" for column, cell in pairs)


def row_frame(block: Block) -> Frame:
    """What the cells of a row state by the headers of their columns."""
    batch: int | None = None
    devices: int | None = None
    weights: float | None = None
    cache: float | None = None
    whole: float | None = None
    passes: float | None = None
    for header, cell in zip(block.columns, block.cells, strict=False):
        if _BATCH_COLUMN.search(header) and (count := _INTEGER.fullmatch(cell)):
            batch = int(count[1].replace(",", ""))
        if _DEVICES_COLUMN.search(header) and (count := _INTEGER.fullmatch(cell)):
            devices = int(count[1].replace(",", ""))
        if _PASS_COLUMN.search(header) and (count := _NUMBER.fullmatch(cell)):
            passes = float(count[1])
        size = _GIGABYTES.fullmatch(cell)
        if size is None:
            continue
        value = float(size[1]) * 1e9
        if re.search(r"\b(?:kv|cache)\b", header, re.IGNORECASE):
            cache = value
        elif re.search(r"\bweights?\b", header, re.IGNORECASE) or SIZE_COLUMN.search(header):
            weights = value
        elif _BYTES_COLUMN.search(header):
            whole = value
    if whole is not None:
        weights = whole if cache is None or cache >= whole else whole - cache
    if whole is not None and (cache is None or cache >= whole):
        cache = 0.0
    return Frame(
        batch=batch,
        context=length_of(block.columns, block.cells),
        devices=devices,
        weight_bytes=weights,
        kv_bytes=cache,
        tokens_per_pass=passes,
    )


_UPON: Final = re.compile(
    r"\s*(?:\+|,|, then |, plus |\bplus\b|\bwith\b|\band\b|&)\s*", re.IGNORECASE
)


_AS_ABOVE: Final = Form(r"\W*(?:the same|same|as (?:above|before)|ditto|idem)\b")


def base_row(label: str, rows: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The row before that one goes on from: "Q4 + FA" from "Q4", "+ FA" from the one above it.

    Else the first one, where it is a baseline.
    """
    if not rows:
        return None
    if label.lstrip().startswith("+") or _AS_ABOVE.match(label) is not None:
        return rows[-1]
    parts = _parts(label)
    for row in reversed(rows if len(parts) > 1 else ()):
        earlier = _parts(row[0])
        if earlier and earlier == parts[: len(earlier)] and len(earlier) < len(parts):
            return row
    return rows[0] if _is_base(rows[0]) and not _is_other_model(label, rows[0][0]) else None


def _is_other_model(label: str, base: str) -> bool:
    """Whether two rows are of models of different size: "8B dense" below "70B dense"."""
    own, other = ({size for size, _ in sizes_of(text)} for text in (label, base))
    return bool(own and other) and own.isdisjoint(other)


def _is_base(cells: tuple[str, ...]) -> bool:
    """Whether a row is a baseline by its label, which may stand after a number."""
    numbered = cells[0].strip().rstrip(".").isdigit()
    return any(BASE_ROW.search(cell) is not None for cell in cells[: 2 if numbered else 1])


def _parts(label: str) -> list[str]:
    """What a row puts together, without what is said of it in parentheses: "INT4 (AWQ) + FA"."""
    return [part.lower() for part in _UPON.split(_ASIDE.sub("", label).strip()) if part]


_ASIDE: Final = re.compile(r"\s*\([^()]*\)")


_MILESTONE: Final = re.compile(r"\s*M\d\s*")
_DATED: Final = Form(
    r"\b(?:milestones?|due|deadline|date|quarter|month|phase|by when|ships?|release|eta)\b"
)


def _is_milestone(block: Block, cell: str) -> bool:
    """Whether "M2" is the second milestone of a plan, and no chip."""
    if _MILESTONE.fullmatch(cell) is None:
        return False
    return any(_DATED.search(text) for text in (*block.columns, block.lead_in, *block.headings))


_TIMES: Final = ("ms", "tpot", "itl", "ttft", "latency", "time")


def regime_text(block: Block) -> str:
    """The row of a cell in words, without its rates and times: they are no operands."""
    pairs = zip(block.columns, block.cells, strict=False)
    return "; ".join(
        f"{column}: {cell}"
        for column, cell in pairs
        if RATE_COLUMN.search(column) is None
        and not column.lower().startswith(_TIMES)
        and not _is_milestone(block, cell)
    )


_OTHERS_FIGURE: Final = Form(
    r"\b(?:claim\w*|promis\w+|advertis\w+|announc\w+|brochure|slides?|vendor|author|proposer"
    r"|myth|forum|they say)\b"
)
_OUR_FIGURE: Final = Form(
    r"\b(?:measur\w+|observed|seen|reality|actual|our (?:figure|result|run)s?)\b"
)


def is_put_to_test(block: Block) -> bool:
    """Whether a cell is what somebody claims, and its row measured another figure."""
    if _OTHERS_FIGURE.search(block.column) is None:
        return False
    own = block.cells[block.columns.index(block.column)] if block.column in block.columns else ""
    return any(
        _OUR_FIGURE.search(column) is not None and SOME_DIGIT.search(cell) and cell != own
        for column, cell in zip(block.columns, block.cells, strict=False)
    )


@lru_cache(maxsize=512)
def label_frame(text: str) -> Frame:
    """What a heading, lead-in or header states, the last sentence first."""
    if not text or len(text) > _LONGEST:
        return NOTHING
    frame = NOTHING
    for sentence in reversed(sentences_of(text)):
        if not is_left_aside(sentence.text):
            frame = frame.over(frame_of(sentence.text))
    return frame
