"""Settings written in a sentence or a table: `--speculate 2`, `enforce_eager=True`, `kvCacheDtype`.

Read by the same tables as the commands and files in which they usually stand. A name counts where
it is a flag, an assignment, or a row's label beside a column of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.levers import lever_class
from advisor.proposal import ProposedLever
from advisor.prose.blocks import Block, BlockKind
from advisor.readers.inner_text import InnerText
from advisor.readers.options import OPEN, Effect, find_option, read_environment, read_option
from advisor.readers.serving import walk_script
from advisor.readers.setups import Setup, proposal_of
from advisor.source import Source, Span

_FLAGS: Final = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*(?:[ =](?![-(])[^\s,;)]+)?"
    r"(?:[ ]--?[A-Za-z][\w-]*(?:[ =](?![-(])[^\s,;)]+)?)*"
)
_ASSIGNED: Final = re.compile(
    r"(?<![\w.-])(?P<name>[A-Za-z]+[A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)"
    r"(?:\s?[=:]\s?[\"']?(?P<value>[\w.+-]+)|(?=\s+from \d+ to (?P<raised>\d+))|\b)"
)
_BITS: Final = re.compile(r"\b(?:n_?bits|w_?bits|num_bits|weight_bits)\s?[=:]\s?(?P<bits>[2348])\b")
_WIDTHS: Final = {"2": "int2", "3": "int3", "4": "int4-g128", "8": "int8"}
_VALUES: Final = re.compile(
    r"\b(?:default|value|setting|recommended|set to|we use)\b", re.IGNORECASE
)
_ENGINES: Final = ("llamacpp", "vllm", "sglang")
"""Engines with flags of one dash and several letters."""
_SENTENCE_END: Final = ".,;:"


class Set(NamedTuple):
    """A setting in a block: where its words stand, and the levers it sets; none where it is off."""

    start: int
    end: int
    levers: tuple[ProposedLever, ...]


def settings_of(block: Block) -> Iterator[Set]:
    """Settings in the text of a block that the tables of options know, in order."""
    text = block.text
    if "-" in text:
        yield from _flags(block)
    if "_" in text or (block.kind is BlockKind.CELL and block.row == "") or "=" in text:
        yield from _assigned(block)


def _flags(block: Block) -> Iterator[Set]:
    for match in _FLAGS.finditer(block.text):
        words = match[0].rstrip(_SENTENCE_END)
        name = re.split(r"[ =]", words, maxsplit=1)[0]
        short = name if not words.startswith("--") else ""
        engine = next((one for one in _ENGINES if short and find_option(one, short)), None)
        if short and engine is None:
            continue
        stop = match.start() + len(words)
        places = [block.body.place(at) for at in range(match.start(), stop)]
        setups = walk_script(InnerText(Source("", words), places), engine)
        if any(setup.placed for setup in setups) or find_option(engine, name) is not None:
            yield Set(match.start(), stop, tuple(one for made in setups for one in _levers(made)))


def _assigned(block: Block) -> Iterator[Set]:
    for match in _BITS.finditer(block.text):
        lever = lever_class("quantize").model_validate({"weights": _WIDTHS[match["bits"]]})
        yield Set(*match.span(), (ProposedLever(lever, block.body.span(*match.span())),))
    for match in _ASSIGNED.finditer(block.text):
        name = match["name"]
        value = match["value"] or match["raised"] or _of_row(block, match)
        if value is None:
            continue
        effects = _effects(name, _plain(value))
        if effects is None:
            continue
        setup = Setup()
        span = block.body.span(match.start("name"), match.end())
        setup.add(effects, span, span)
        yield Set(match.start(), match.end(), _levers(setup))


def _effects(name: str, value: object) -> tuple[Effect, ...] | None:
    if name.isupper():
        return read_environment(None, name, value)
    if find_option(None, name) is not None:
        return read_option(None, name, value)
    return read_option("transformers", name, value)


def _of_row(block: Block, match: re.Match[str]) -> str | None:
    """The value beside a name that is the label of its row."""
    if block.kind is not BlockKind.CELL or block.row or match[0] != block.text.strip("` "):
        return None
    for column, cell in zip(block.columns, block.cells, strict=False):
        if _VALUES.search(column) and cell != block.text:
            return cell.strip("`\"' ")
    return None


def _plain(value: str) -> object:
    lowered = value.lower()
    if lowered in {"true", "false"}:
        return lowered == "true"
    if value.isdigit():
        return int(value)
    return value or OPEN


def _levers(setup: Setup) -> tuple[ProposedLever, ...]:
    proposal = proposal_of(setup, Source("", ""), Span(0, 0))
    return proposal.levers if proposal is not None else ()
