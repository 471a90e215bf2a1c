r"""Plain text with a way back: what a reader sees, and where each character stands in the file.

Inline markup (emphasis, links, code spans, HTML, escapes, tags of templates) is taken out, so that
words can be read across it; every range of the plain text maps back to the file, code point by code
point. Of TeX only figures and relations are kept ("$2.5\times$"): the words of formulas are no
prose.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from advisor.source import Span

_INLINE: Final = re.compile(
    r"""(?P<escape>\\[!-/:-@\[-`{-~])
    | (?P<code>`+)
    | (?P<strike>~~)
    | (?P<note>\[\^[^\[\]\s]{1,80}\]:?)
    | (?P<open>!?\[)
    | (?P<close>\](?:\((?:[^()\s]|\([^()\s]*\))*(?:[ ]"[^"]*")?\)|\[[^\[\]]*\])?)
    | (?P<tag><(?:[A-Za-z/!?][^<>]*)>)
    | (?P<template>\{\{[<%{]?[^{}]{0,300}\}\}|\{%[^{}]{0,300}%\})
    | (?P<display>\$\$(?:[^$]|\$(?!\$)){1,2000}\$\$)
    | (?P<tex>\$(?![\s$]|[A-Z]{3})(?:[^$\n\\]|\\.){1,200}(?<!\s)\$(?![\d$])|\$\\[a-z]+\$)
    | (?P<star>\*+)
    | (?P<under>_+)""",
    re.VERBOSE,
)
_WORDS_OF_CODE: Final = 2
"""Spaces in a code span from which on it is quoted text and no name."""
_SPACES: Final = frozenset(" \t\n\r\f\v\u00a0")


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text without markup. Piece i covers `text[starts[i]:starts[i + 1]]`, from `places[i]` on."""

    text: str
    starts: tuple[int, ...]
    places: tuple[int, ...]
    """Offset in the file of each piece's first character."""
    apart: tuple[Span, ...] = ()
    """Ranges of `text` that are struck out, or that stand as code of several words."""

    def place(self, at: int) -> int:
        """Offset in the file of the character `at`."""
        piece = max(bisect_right(self.starts, at) - 1, 0)
        return self.places[piece] + at - self.starts[piece]

    def span(self, start: int, end: int) -> Span:
        """The range of the file that `text[start:end]` stands in."""
        if end <= start:
            return Span(self.place(start), self.place(start))
        return Span(self.place(start), self.place(end - 1) + 1)


class _Builder:
    """Collects pieces of plain text with their places."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.starts: list[int] = []
        self.places: list[int] = []
        self.length = 0

    def add(self, part: str, place: int) -> None:
        if part:
            self.parts.append(part)
            self.starts.append(self.length)
            self.places.append(place)
            self.length += len(part)


def plain(lines: Iterable[tuple[str, int]], *, markup: bool = True) -> PlainText:
    """Lines of one block, each with the offset of its first character, as one plain text.

    Line ends become one space; without `markup` the lines are taken as they stand.
    """
    raw = _Builder()
    for line, place in lines:
        if raw.length:
            raw.add("\n", raw.places[-1] + len(raw.parts[-1]))
        raw.add(line, place)
    whole = "".join(raw.parts)
    joined = PlainText(whole, tuple(raw.starts) or (0,), tuple(raw.places) or (0,))
    if not markup or _INLINE.search(whole) is None:
        return PlainText(whole.replace("\n", " "), joined.starts, joined.places)
    return _stripped(joined)


def _stripped(joined: PlainText) -> PlainText:
    """Take out inline markup."""
    text = joined.text
    fences = _code_spans(text)
    built = _Builder()
    apart: list[Span] = []
    strike_from: int | None = None
    at = 0

    def keep(start: int, end: int) -> None:
        # a range may run over several pieces of the joined lines
        piece = bisect_right(joined.starts, start) - 1
        while start < end:
            stop = joined.starts[piece + 1] if piece + 1 < len(joined.starts) else len(text)
            stop = min(stop, end)
            built.add(text[start:stop].replace("\n", " "), joined.place(start))
            start, piece = stop, piece + 1

    while (match := _INLINE.search(text, at)) is not None:
        start, end = match.span()
        keep(at, start)
        kind = match.lastgroup
        at = end
        if kind == "escape":
            keep(start + 1, end)
        elif kind == "code":
            close = fences.get(start)
            if close is None:
                keep(start, end)
            else:
                begin = built.length
                keep(end, close)
                if text.count(" ", end, close) >= _WORDS_OF_CODE:
                    apart.append(Span(begin, built.length))
                at = close + (end - start)
        elif kind == "tex":
            for part, place in _figures_of(text, start, end):
                built.add(part, joined.place(place))
        elif kind == "strike":
            if strike_from is None:
                strike_from = built.length
            else:
                apart.append(Span(strike_from, built.length))
                strike_from = None
        elif kind == "star":
            if _is_lone(text, start, end):
                keep(start, end)
        elif kind == "under":
            if not (_at_edge(text, start, end)) or _is_lone(text, start, end):
                keep(start, end)
        elif kind == "close" and end == start + 1:
            keep(start, end)
        elif kind == "open" and not match[0].startswith("!"):
            # "[ ] task" and "[1]" keep their bracket; a link's text loses it
            close_at = text.find("]", end, end + 300)
            if close_at < 0 or text[close_at + 1 : close_at + 2] not in {"(", "["}:
                keep(start, end)
    keep(at, len(text))
    return PlainText("".join(built.parts), tuple(built.starts) or (0,),
                     tuple(built.places) or (0,), tuple(apart))  # fmt: skip


_SIGNS: Final = {
    "times": "×", "approx": "≈", "sim": "~", "rightarrow": "→", "to": "→", "le": "≤", "leq": "≤",
    "ge": "≥", "geq": "≥", "pm": "±", "%": "%", ",": "",
}  # fmt: skip
_SIGN: Final = re.compile(r"\\(?:([a-zA-Z]+) ?|(\W))")
_FIGURES: Final = re.compile(
    r"(?:[\d.,%~+\-=<> ]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])|\\(?:[a-zA-Z]+ ?|[%,]))*"
)


def _figures_of(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """What is read of a formula `text[start:end]`: figures and signs, with their places.

    Of one with words or operators nothing is read.
    """
    start, end = start + 1, end - 1
    commands = {match[1] or match[2] for match in _SIGN.finditer(text, start, end)}
    if not _FIGURES.fullmatch(text, start, end) or not commands <= _SIGNS.keys():
        return
    at = start
    for match in _SIGN.finditer(text, start, end):
        yield text[at : match.start()], at
        at = match.end()
        # at the end of its command, where a range that ends with it is to end
        yield _SIGNS[match[1] or match[2]], at - 1 - match[0].endswith(" ")
    yield text[at:end], at


def _code_spans(text: str) -> dict[int, int]:
    """Start of each opening run of backticks to the start of the run that closes it."""
    if "`" not in text:
        return {}
    runs = [(m.start(), m.end() - m.start()) for m in re.finditer(r"`+", text)]
    after: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1]
        closing[index] = after.get(length)
        after[length] = index
    found: dict[int, int] = {}
    index = 0
    while index < len(runs):
        close = closing[index]
        if close is None:
            index += 1
            continue
        found[runs[index][0]] = runs[close][0]
        index = close + 1
    return found


def _is_lone(text: str, start: int, end: int) -> bool:
    """Whether marks stand between spaces, or between digits: "2 * 3", "2*3"."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if before in _SPACES and after in _SPACES:
        return True
    return before.isdigit() and after.isdigit()


def _at_edge(text: str, start: int, end: int) -> bool:
    """Whether underscores stand at the edge of a word, as emphasis does."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    return not (before.isalnum() and after.isalnum())
