"""Tables that give bytes beside a speed: a format that is to be faster than its bytes shrink.

Formats stand in the rows or in the columns; each is held against those before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from advisor.forms import Form
from advisor.prose.devices import devices_in
from advisor.prose.model import Statement
from advisor.prose.rows import OF_REGIMES, RATE_COLUMN
from advisor.prose.shrinkage import FORMAT, gigabytes_in
from advisor.prose.widths import sizes_of, widths_of

Row = tuple[str, ...]
_OF_BYTES: Final = Form(
    r"\b(?:files?|sizes?|weights?|reads?|bytes|traffic|checkpoint|disk|gguf|gb (?:per|a"
    r"|/) ?(?:token"
    r"|step)|per token)\b|^\W*gb\W*$"
)
_READ: Final = Form(r"\b(?:reads?|traffic|per token|per step|streamed|moved)\b")
"""What is read comes before what is stored."""
_NO_BYTES: Final = Form(r"[gt]b/s|\b(?:vram|ram|cache|kv|bandwidth|activations?|free|prompts?)\b")
_OF_SPEED: Final = Form(
    r"\btok\w*(?: ?/ ?| per | a )s\w*|\bt/s\b|\btps\b|\btg ?\d*\b|\btpot\b|\bitl\b|\bms ?(?:/|per"
    r"|a) ?tok"
    r"|\b(?:time|latency) per token|\b(?:speed|speed-?ups?|pace|gain|faster|rate|decode"
    r"|generation)\b"
)
_TIME: Final = Form(r"\bms\b|\btpot\b|\bitl\b|\blatency\b|\btime\b")
_OTHER_SPEED: Final = Form(
    r"\b(?:prefill|prompts?|pp ?\d+|ttft|first token|aggregate|throughput|total|batch\w*|bs|users"
    r"|concurren\w+|load(?:ing)?|streams|sessions|gemm|tflops|kernel|goodput)\b"
)
"""Speeds of other phases, or of all users together."""
_OTHER_LEVER: Final = Form(
    r"\b(?:draft\w*|spec\w*|eagle\w*|medusa|mtp|graphs?|compil\w+|fus\w+|prun\w+|spars\w+|2:4"
    r"|flash\w*"
    r"|fa[23]?|tp ?=?\d*|cards|gpus|batch\w*|distil\w*|student|offload\w*|cpu|ram|kv|cache|layers"
    r"|eager"
    r"|hf|transformers|vllm|sglang|tensorrt\S*|exllama\S*|ollama|mlx|w\da[48])\b"
)
_NUMBER: Final = re.compile(r"\s*[~≈]?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:[x×]|%|ms\b|t/s\b|tok\S*)?\s*")


class OverBytes(NamedTuple):
    """A speed over that of another format, and the bytes of both in GB."""

    claimed: float
    before: float
    after: float


def over_bytes(statement: Statement, grace: float) -> OverBytes | None:
    """A cell of speed that is more than `grace` times as fast as its bytes shrink."""
    if statement.table is None:
        return None
    columns, cells, own = statement.table
    if not 0 < own < len(cells) or own >= len(columns):
        return None
    found = (
        *_down(columns, cells, statement.rows, own),
        *_across(columns, cells, statement.rows, own),
    )
    worst = max(found, key=lambda one: one.claimed * one.after / one.before, default=None)
    return worst if worst and worst.claimed > grace * worst.before / worst.after else None


def _down(columns: Row, cells: Row, rows: Sequence[Row], own: int) -> Iterator[OverBytes]:
    """Of formats in rows, against each row before."""
    if not _is_speed(columns[own]):
        return
    size = _named(columns, own)
    if size is None or size >= len(cells):
        return
    for row in rows:
        if len(row) == len(cells) and _alike(columns, cells, row, {own, size}):
            yield from _over(
                _speed(cells[own], row[own], columns[own]),
                _gigabytes(row[size], columns[size]),
                _gigabytes(cells[size], columns[size]),
            )


def _across(columns: Row, cells: Row, rows: Sequence[Row], own: int) -> Iterator[OverBytes]:
    """Of formats in columns, against each column before."""
    if not _is_speed(cells[0]):
        return
    labels = [row[0] for row in rows]
    size = _named(("", *labels), 0)
    if size is None:
        return
    of_size = rows[size - 1]
    for other in range(1, own):
        if own < len(of_size) and _are_formats(columns[own], columns[other]):
            yield from _over(
                _speed(cells[own], cells[other], cells[0]),
                _gigabytes(of_size[other], of_size[0]),
                _gigabytes(of_size[own], of_size[0]),
            )


def _over(claimed: float | None, before: float | None, after: float | None) -> Iterator[OverBytes]:
    if claimed and before and after and before > after and claimed > 1.0:
        yield OverBytes(claimed, before, after)


def _is_speed(label: str) -> bool:
    told = _OF_SPEED.search(label) or RATE_COLUMN.search(label)
    return told is not None and _OTHER_SPEED.search(label) is None


def _named(labels: Row, own: int) -> int | None:
    """Where the bytes stand, by label: those that are read, else those of a file."""
    named = [
        at for at, label in enumerate(labels)
        if at not in {0, own} and _OF_BYTES.search(label) and not _NO_BYTES.search(label)
    ]  # fmt: skip
    return next((at for at in named if _READ.search(labels[at])), named[0] if named else None)


def _alike(columns: Row, cells: Row, row: Row, numbers: set[int]) -> bool:
    """Whether two rows differ in their format alone."""
    if not _are_formats(cells[0], row[0]):
        return False
    for at, (one, other) in enumerate(zip(cells, row, strict=True)):
        if at in numbers or one == other:
            continue
        if at and at < len(columns) and OF_REGIMES.search(columns[at]) is not None:
            return False
        devices = ({named.identifier for named in devices_in(text)} for text in (one, other))
        if len(set(map(frozenset, devices))) > 1:
            return False
        if at and _OTHER_LEVER.search(f"{one} {other}") is not None:
            return False
    return True


_FORMAT: Final = Form(rf"\b{FORMAT}\b")


def _are_formats(own: str, other: str) -> bool:
    """Whether two labels name formats of one model, and no other lever."""
    if _OTHER_LEVER.search(f"{own} {other}") is not None:
        return False
    models = [{size for size, _ in sizes_of(text)} for text in (own, other)]
    if all(models) and models[0] != models[1]:
        return False
    return bool(widths_of(own)) or _FORMAT.search(own) is not None


def _speed(cell: str, other: str, label: str) -> float | None:
    """How many times as fast; a time is the faster the smaller it is."""
    one, two = _NUMBER.fullmatch(cell), _NUMBER.fullmatch(other)
    if one is None or two is None:
        return None
    above, below = (float(match[1].replace(",", "")) for match in (one, two))
    if min(above, below) <= 0:
        return None
    return below / above if _TIME.search(label) is not None else above / below


def _gigabytes(cell: str, label: str) -> float | None:
    """The gigabytes of a cell, whose unit may stand in its label."""
    if found := gigabytes_in(cell):
        return found[0].gigabytes
    bare = _NUMBER.fullmatch(cell)
    return float(bare[1].replace(",", "")) if bare is not None and "GB" in label else None


def is_of_other_device(statement: Statement) -> bool:
    """Whether the first row of a table is of another device than the row of a cell."""
    if statement.table is None or not statement.rows:
        return False
    own, first = (
        {named.identifier for named in devices_in(" | ".join(row))}
        for row in (statement.table[1], statement.first_row)
    )
    return own != first
