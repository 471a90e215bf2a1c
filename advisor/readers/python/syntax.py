"""The text of a Python file as a syntax tree, and places in it.

What people keep beside scripts is read too: exported notebooks with magics, files with conflict
markers (both sides count), Python 2's print. Trees are made by `ast` alone; nothing is run.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from typing import Final, NamedTuple

from advisor.source import DecodingError, Source, Span, decode

MAX_PARSED: Final = 2**20
"""Code points of a script; a file above it is data, and would take seconds to parse."""

_MAGIC: Final = re.compile(r"^([ \t]*)([%!?][^\n\r]*|[^\n\r#'\"=()]*\?{1,2}[ \t]*)$", re.MULTILINE)
_CONFLICT: Final = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: [^\n\r]*)?$", re.MULTILINE)
_SIDE: Final = re.compile(r"^={7}[ \t]*\r?\n.*?^(?=>{7} )", re.MULTILINE | re.DOTALL)
_PRINT: Final = re.compile(r"^([ \t]*)(?:print|exec)[ \t]+[^\n\r(=][^\n\r]*$", re.MULTILINE)
_EXCEPT: Final = re.compile(
    r"(?<=^)([ \t]*except[ \t]+[\w.]+),[ \t]*(\w+)(?=[ \t]*:)", re.MULTILINE
)
_NEW_LINES: Final = re.compile(r"\r\n|\r|\n")


class Parsed(NamedTuple):
    """A tree and the shell lines of a notebook, or why there is none."""

    tree: ast.Module | None
    shell: tuple[tuple[str, Span], ...] = ()
    """Shell lines: what follows "!", and its place."""
    problem: str = ""
    place: Span = Span(0, 0)
    too_large: bool = False


def decode_text(data: bytes) -> str:
    """Text by the encoding that a file's first lines declare (PEP 263), UTF-8 by default.

    Raises:
        DecodingError: for bytes that are not text in it, and for an encoding nobody knows.

    """
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"} or data[:3] == b"\xef\xbb\xbf":
        return decode(data)
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data[:2000]).readline)
    except SyntaxError as error:
        if "unknown encoding" not in str(error):
            return decode(data)
        raise DecodingError(1, f"{error}; save as UTF-8") from None
    if name in {"utf-8", "utf-8-sig", "ascii"}:
        return decode(data)
    try:
        text = data.decode(name)
    except (UnicodeDecodeError, LookupError, ValueError) as error:
        start = getattr(error, "start", 0)
        line = data.count(b"\n", 0, start) + 1
        raise DecodingError(line, f"line {line} is not valid {name}; save as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DecodingError(line, f"line {line} holds a NUL byte (is it binary?)")
    return text


def parse(source: Source) -> Parsed:
    """The tree of a text; None in it, and a problem, where it cannot be parsed."""
    text = source.text
    if len(text) > MAX_PARSED:
        return Parsed(None, problem="too large to be a script", too_large=True)
    tree, error = _parsed(text)
    if tree is not None:
        return Parsed(tree)
    shell = tuple(
        (match[2][1:].strip(), Span(match.start(2), match.end(2)))
        for match in _MAGIC.finditer(text)
        if match[2].startswith("!")
    )
    for whole in (True, False):
        mended = _mended(text, both_sides=whole)
        tree = _parsed(mended)[0] if mended != text else None
        if tree is not None:
            return Parsed(tree, shell)
    message, line, column = error
    start = source.offset(line, column)
    end = source.offset(line, 1) + len(source.line(line))
    return Parsed(None, (), message, Span(min(start, end), end))


def _parsed(text: str) -> tuple[ast.Module | None, tuple[str, int, int]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that a later Python refuses
            return ast.parse(text), ("", 1, 1)
    except SyntaxError as error:
        return None, (error.msg, error.lineno or 1, error.offset or 1)
    except (RecursionError, MemoryError):
        return None, ("nested too deep to be read", 1, 1)
    except ValueError as error:
        return None, (str(error), 1, 1)


def _blank(indent: str, words: str) -> str:
    """A line of the same length that does nothing."""
    nothing = "pass" if len(words) >= len("pass") else "0"
    return indent + nothing.ljust(len(words))


def _mended(text: str, *, both_sides: bool) -> str:
    """The text with what is not Python replaced by as many blanks.

    Of a conflict both sides stay where they can stand together, else the first.
    """
    if not both_sides:
        text = _SIDE.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]), text)
    text = _CONFLICT.sub(lambda match: " " * len(match[0]), text)
    text = _MAGIC.sub(lambda match: _blank(match[1], match[2]), text)
    text = _PRINT.sub(lambda match: _blank(match[1], match[0][len(match[1]) :]), text)
    return _EXCEPT.sub(r"\1 as \2", text) if _EXCEPT.search(text) else text


class Places:
    """From nodes, whose columns are bytes of UTF-8, to spans in code points."""

    def __init__(self, source: Source) -> None:
        """Count the lines as the parser does: CR, LF and CRLF end one, a form feed does not."""
        self._text = source.text
        self._starts = [0, *(match.end() for match in _NEW_LINES.finditer(source.text))]
        self._ascii = source.text.isascii()

    def offset(self, line: int, column: int) -> int:
        """Offset of a line from 1 and a column in bytes from 0."""
        if line > len(self._starts):
            return len(self._text)
        start = self._starts[line - 1]
        if self._ascii or column == 0:
            return min(start + column, len(self._text))
        end = self._starts[line] if line < len(self._starts) else len(self._text)
        return start + len(self._text[start:end].encode()[:column].decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> Span:
        """Where a node stands."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last = getattr(node, "end_lineno", None) or line
        stop = getattr(node, "end_col_offset", None)
        start = self.offset(line, column)
        return Span(start, max(start, self.offset(last, column if stop is None else stop)))

    def line_at(self, offset: int) -> int:
        """The line, from 1, that holds an offset."""
        return bisect_right(self._starts, offset)
