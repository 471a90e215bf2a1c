"""Text with templates' places, merge markers or placeholders, made readable place for place.

Helm, Jinja and Go templates are no YAML before they are rendered. Here their places become words
of the same length and their control lines comments, so that every offset stays what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.readers.flags import HELM_PLACE
from advisor.source import Span

_LINE_CHARACTER: Final = re.compile(r"[^\r\n]")
_MARKER: Final = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?![<=>|])")
_PAIRS: Final = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("${", "}"))


def other_sides(text: str) -> tuple[Span, ...]:
    """The second sides of merge conflicts, which `readable` leaves out."""
    found: list[Span] = []
    start = None
    at = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("=======") and not line.strip("=\r\n"):
            start = at + len(line)
        elif line.startswith(">>>>>>>") and start is not None:
            found.append(Span(start, at))
            start = None
        at += len(line)
    return tuple(found)


def readable(text: str) -> str:
    """The text with templates' places as words, control lines and merge markers as comments."""
    for opening, closing in _PAIRS:
        text = "".join(_marked(text, opening, closing))
    lines: list[str] = []
    other = False
    for line in text.splitlines(keepends=True):
        if line.startswith("=======") and not line.strip("=\r\n"):
            other = True
        elif line.startswith(">>>>>>>"):
            other = False
        lines.append(_commented(line) if other else _line(line))
    return "".join(lines)


def _marked(text: str, opening: str, closing: str) -> Iterator[str]:
    """The text with what stands between two signs as one word; line ends stay."""
    at = 0
    while True:
        start = text.find(opening, at)
        end = text.find(closing, start + 2) if start >= 0 else -1
        if end < 0:
            yield text[at:]
            return
        yield text[at:start]
        at = end + 2
        yield _LINE_CHARACTER.sub(HELM_PLACE, text[start:at])


def _line(line: str) -> str:
    """A line that holds only templates' places, or a merge marker, as a comment."""
    bare = line.rstrip("\r\n")
    if not bare:
        return line
    alone = HELM_PLACE in bare and not bare.strip(" \t" + HELM_PLACE)
    if alone or _MARKER.match(bare) or bare.lstrip().startswith("//"):
        return _commented(line)
    indent = len(bare) - len(bare.lstrip(" \t"))
    if "\t" in bare[:indent]:
        return " " * indent + line[indent:]
    return line


def _commented(line: str) -> str:
    """A line of the same length that holds only a comment."""
    bare = line.rstrip("\r\n")
    return ("#" + " " * (len(bare) - 1) if bare else "") + line[len(bare) :]
