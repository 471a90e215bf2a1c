"""Words of a command: of a shell text, or of a list of arguments, each with its place.

Only quotes, continued lines, comments and separators are read; nothing is expanded or run.
Places of templates ("{{ .Values.x }}") and of variables stay in the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.readers.inner_text import InnerText
from advisor.source import Span


class Word(NamedTuple):
    """One argument."""

    text: str
    span: Span
    """In the file, quotes left out."""
    inner: InnerText | None = None
    """The word as a text of its own, where it stood in quotes."""


_TOKEN: Final = re.compile(
    r"""
      (?P<space>(?:\s|\\\r?\n)+)
    | (?P<comment>\#[^\n]*)
    | (?P<stop>&&|\|\||;;?|\||&|\n)
    | (?P<word>(?:
          '[^']*'
        | "(?:[^"\\]|\\.)*"
        | \{\{.{0,400}?\}\}
        | \$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)
        | \$\([^()]*(?:\([^()]*\)[^()]*)*\)
        | \$\{[^}]{0,400}\}
        | `[^`]*`
        | \\.
        | [^\s;|&'"`\\\#]
        | (?<=\S)\#
      )+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED: Final = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)


def shell_words(text: InnerText) -> Iterator[Word | None]:
    """The words of a shell text; None where one command ends."""
    for match in _TOKEN.finditer(text.text):
        kind = match.lastgroup
        if kind == "word":
            yield _word(match, text)
        elif kind == "stop" or (kind == "space" and _ends_line(match[0])):
            yield None


def _ends_line(space: str) -> bool:
    """Whether white space holds a line end that no backslash takes away."""
    return "\n" in re.sub(r"\\\r?\n", "", space)


def _word(match: re.Match[str], text: InnerText) -> Word:
    raw = match[0]
    start, end = match.span()
    bare = _QUOTED.fullmatch(raw)
    if bare is not None and bare[3] is None:
        value = bare[1] if bare[1] is not None else bare[2].replace('\\"', '"')
        place = (
            text.place(Span(start + 1, end - 1))
            if end - start > 2
            else text.place(Span(start, end))
        )
        return Word(value, place, _part(text, start + 1, end - 1))
    value = _QUOTED.sub(lambda part: next((g for g in part.groups() if g is not None), ""), raw)
    equals = raw.find("=")
    inner = None
    if 0 < equals < len(raw) - 2 and raw[equals + 1] in "'\"" and raw[-1] == raw[equals + 1]:
        inner = _part(text, start + equals + 2, end - 1)
    return Word(value, text.place(Span(start, end)), inner)


def _part(text: InnerText, start: int, end: int) -> InnerText:
    """A stretch of a text as a text of its own, character by character."""
    from advisor.source import Source  # noqa: PLC0415

    offsets = range(start, end) if text.offsets is None else [*text.offsets[start:end]]
    return InnerText(Source(text.source.path, text.text[start:end]), offsets)
