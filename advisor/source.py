"""Text with a place: a file's decoded text, spans in it, and lines and columns for people.

Offsets count code points of the decoded text from 0, a byte-order mark not counted, end
exclusive. Lines and columns count from 1. A line ends at LF, CRLF or CR.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")

MAX_BYTES = 8 * 2**20
"""A proposal, script or document above this size is refused rather than read."""


class Span(NamedTuple):
    """A half-open range of code points, `text[start:end]`."""

    start: int
    end: int


class Position(NamedTuple):
    """A place in a text as people and editors count it."""

    line: int
    column: int
    offset: int


class DecodingError(ValueError):
    """The bytes are not text that can be read; the message says what they are instead."""

    def __init__(self, line: int, message: str) -> None:
        """Keep the line, from 1, beside the message."""
        self.line = line
        super().__init__(message)


def decode(data: bytes) -> str:
    """Decode a file's bytes: UTF-8, or UTF-16 and UTF-32 where a byte-order mark says so.

    Raises:
        DecodingError: for invalid UTF-8 (with the line and byte), for NUL bytes, and for
            UTF-16 without a mark; the message says what would be right.

    """
    encoding, mark = "utf-8", 0
    for bom, name in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
        (b"\x00\x00\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(bom):
            encoding, mark = name, len(bom)
            break
    try:
        text = data[mark:].decode(encoding)
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[mark : mark + error.start].decode("latin-1"))) + 1
        byte = data[mark + error.start]
        raise DecodingError(
            line,
            f"line {line} is not valid {encoding.upper()} (byte 0x{byte:02x}); save as UTF-8",
        ) from None
    nul = text.find("\0")
    if nul >= 0:
        line = len(_LINE_END.findall(text, 0, nul)) + 1
        wide = data[1:2] == b"\0" or data[:1] == b"\0"
        hint = "this looks like UTF-16 without a byte-order mark" if wide else "is it binary?"
        raise DecodingError(line, f"line {line} holds a NUL byte ({hint}); save as UTF-8 text")
    return text


@dataclass(frozen=True)
class Source:
    """A file's decoded text under the name the user gave it."""

    path: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> Position:
        """Line and column of an offset; offsets outside the text are clamped to it."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1, offset)

    def offset(self, line: int, column: int) -> int:
        """Offset of a line and column, both from 1; clamped to the text."""
        starts = self._line_starts
        line = min(max(line, 1), len(starts))
        return min(starts[line - 1] + max(column, 1) - 1, len(self.text))

    def line(self, number: int) -> str:
        """One line, from 1, without its end; empty outside the text."""
        starts = self._line_starts
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    @property
    def line_count(self) -> int:
        """Lines in the text; a final line end does not begin another."""
        starts = self._line_starts
        return len(starts) - (1 if len(starts) > 1 and starts[-1] == len(self.text) else 0)

    def slice(self, span: Span) -> str:
        """The text a span covers."""
        return self.text[span.start : span.end]

    def whole(self) -> Span:
        """The first line, standing for the whole file in a finding without a narrower place."""
        return Span(0, len(self.line(1)))
