"""What a YAML parser's complaint means to the person who wrote the file, and what would be right.

The parser speaks of tokens and blocks; people need the place and the remedy.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import yaml

from advisor.problems import Problems
from advisor.source import Source, Span

_DEEP: Final = "nesting depth"

# (words of the parser's complaint, what is wrong, what would be right); the first that fits.
_MEANINGS: Final = (
    (
        "mapping values are not allowed",
        "the colon makes this a key, and none can stand here",
        'quote a value that holds ": "; give every key its colon and the same indentation',
    ),
    (
        "block sequence entries are not allowed",
        "a list cannot begin here",
        'put "- " on a line of its own, or quote a value that begins with "- "',
    ),
    (
        "found unexpected end of stream",
        "a quote is opened here and never closed",
        "close the quote",
    ),
    (
        "unexpected document indicator",
        "a quote is opened here and not closed before the next document",
        "close the quote",
    ),
    (
        "could not find expected ':'",
        "a line without a colon stands where a key is expected",
        "write `key: value`; text over several lines needs quotes or a deeper indentation",
    ),
    (
        "did not find expected key",
        "this is no key of the mapping that it stands in",
        "give the keys of one mapping the same indentation; quote a value that begins with a quote",
    ),
    (
        "did not find expected '-' indicator",
        "the list before this line has not ended, and this is no item of it",
        'align it with the keys above it, or begin an item with "- "',
    ),
    (
        "unknown escape character",
        "an unknown escape in a double-quoted text",
        "write the backslash twice, or use single quotes",
    ),
    (
        "invalid Unicode character escape",
        "an escape that is no character",
        "write the character itself, or use single quotes",
    ),
    (
        "did not find expected node content",
        "a value is missing here",
        "write it, or close the list with ] and the mapping with }",
    ),
    ("tab character", "a tab in the indentation", "indent with spaces"),
    (
        "undefined tag handle",
        "a tag that nothing declares",
        'remove it; a text that begins with "!" needs quotes',
    ),
    (
        "did not find expected <document start>",
        "text after the end of a document",
        "begin the next document with ---",
    ),
    (
        "did not find expected alphabetic or numeric character",
        "* and & begin a name here, and none follows",
        'quote a value that begins with "*" or "&"',
    ),
    ("incompatible YAML document", "a YAML version nobody reads", "remove the %YAML line"),
)


class _Complaint(NamedTuple):
    """Where it is, what is wrong, what would be right."""

    span: Span
    message: str
    instead: str


def report(error: yaml.YAMLError, problems: Problems) -> None:
    """Add the parser's complaint as a finding."""
    source = problems.source
    if isinstance(error, yaml.MarkedYAMLError) and error.problem is not None:
        code = "E908" if _DEEP in error.problem else "E902"
        where, message, instead = _marked(source, error)
        problems.add(code, where, message, instead=instead)
    else:
        problems.add("E902", source.whole(), "this is not well-formed YAML", instead="")


def _marked(source: Source, error: yaml.MarkedYAMLError) -> _Complaint:
    words = error.problem or ""
    mark = error.problem_mark or error.context_mark
    offset = mark.index if mark is not None else 0
    if (
        "end of stream" in words or "document indicator" in words
    ) and error.context_mark is not None:
        offset = error.context_mark.index  # where the quote opens, not where the file ends
    if _DEEP in words:
        return _Complaint(
            _span(source, offset), "values are nested too deep", "a proposal is a few levels deep"
        )
    if conflict := _conflict(source, offset):
        return conflict
    first = source.text[offset : offset + 1]
    if "cannot start any token" in words:
        if first == "\t":
            return _Complaint(
                _span(source, offset), "a tab in the indentation", "indent with spaces"
            )
        return _Complaint(
            _span(source, offset),
            f"a value cannot begin with {first!r}",
            f'quote it: "{first}..."',
        )
    if opened := _opened(source, error, offset):
        return opened
    for heard, message, instead in _MEANINGS:
        if heard in words:
            return _Complaint(_span(source, offset), message, instead)
    return _Complaint(_span(source, offset), f"this is not well-formed YAML: {words}", "")


def _opened(source: Source, error: yaml.MarkedYAMLError, offset: int) -> _Complaint | None:
    """A list or mapping in brackets that lacks a comma, or its end."""
    sign = next((sign for sign in "]}" if f"expected ',' or '{sign}'" in (error.problem or "")), "")
    if not sign:
        return None
    what = "list" if sign == "]" else "mapping"
    opening = error.context_mark.index if error.context_mark is not None else offset
    if source.position(opening).line == source.position(offset).line < source.line_count:
        message = f"this is not the next item of the {what}"
        return _Complaint(_span(source, offset), message, f"write a comma before it, or {sign}")
    return _Complaint(
        Span(opening, opening + 1), f"the {what} that opens here is not closed", f"close it: {sign}"
    )


def _conflict(source: Source, offset: int) -> _Complaint | None:
    """Marks that a merge left behind, at the line of the complaint or the one before."""
    line = source.position(offset).line
    for number in (line, line - 1):
        text = source.line(number)
        if text.startswith(("<<<<<<< ", ">>>>>>> ")) or text == "=======":
            start = source.offset(number, 1)
            return _Complaint(
                Span(start, start + len(text)),
                "a merge conflict is left in the file",
                "choose one side and remove the marks",
            )
    return None


def _span(source: Source, offset: int) -> Span:
    """From the place of a complaint to the end of its line; the last word where the text ends."""
    if offset >= len(source.text):
        offset = max(len(source.text.rstrip()) - 1, 0)
    place = source.position(offset)
    end = offset - place.column + 1 + len(source.line(place.line).rstrip())
    if end <= offset:
        offset = max(end - 1, offset - place.column + 1)
    return Span(offset, max(end, offset))
