"""Comments of a Python text that say "rooflint:", and what each is about.

At the end of a line a comment covers the line; on a line of its own, what begins on the next line
that holds code: a statement, an argument or an entry, whole. In a header (before the first
statement that is no import) it may be about the file.
"""

from __future__ import annotations

import ast
import io
import tokenize
from functools import lru_cache
from typing import Final, NamedTuple

from advisor.readers import Comment
from advisor.readers.python.syntax import Parsed, Places, parse
from advisor.source import Source, Span

_MARK: Final = "rooflint:"


class Remark(NamedTuple):
    """A comment, and how it stands."""

    comment: Comment
    alone: bool
    """Whether nothing else stands on its line."""
    heads_file: bool
    """Whether it stands before the first statement, apart from it."""


@lru_cache(maxsize=4)
def parsed(source: Source) -> Parsed:
    """The tree of a source; the reader and the suppressions ask for the same one."""
    return parse(source)


def comments(source: Source) -> tuple[Comment, ...]:
    """The comments that say "rooflint:", for suppressions."""
    return tuple(remark.comment for remark in remarks(source))


def remarks(source: Source) -> tuple[Remark, ...]:
    """The comments that say "rooflint:", each with what it is about."""
    if _MARK not in source.text:
        return ()
    places = Places(source)
    tree = parsed(source).tree
    begins = _begins(tree, places) if tree is not None else {}
    lines = sorted(begins)
    header = _header_end(tree)
    found: list[Remark] = []
    for words in _comments(source, places):
        line = places.line_at(words.start)
        first = places.offset(line, 0)
        text = source.line(line)
        if source.text[first : words.start - 1].strip():
            stop = first + len(text)
            found.append(Remark(Comment(words, Span(first, stop)), alone=False, heads_file=False))
            continue
        after = next((number for number in lines if number > line), None)
        scope = Span(first, first + len(text)) if after is None else begins[after]
        apart = after is None or any(
            not source.line(number).strip() for number in range(line + 1, after)
        )
        heads = (
            words.start - 1 == first
            and line < header
            and (apart or after is None or _imports(tree, after))
        )
        found.append(Remark(Comment(words, scope), alone=True, heads_file=heads))
    return tuple(found)


def _comments(source: Source, places: Places) -> list[Span]:
    """Words of the comments, after "#"; those behind a place that no Python can hold are left."""
    found: list[Span] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
            if token.type == tokenize.COMMENT and _MARK in token.string:
                line, column = token.start
                start = source.offset(line, 1) + column
                found.append(Span(start + 1, start + len(token.string.rstrip())))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        pass
    del places
    return found


def _begins(tree: ast.Module, places: Places) -> dict[int, Span]:
    """By line: the longest of what begins on it."""
    found: dict[int, Span] = {}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", None)
        if line is None:
            continue
        for decorator in getattr(node, "decorator_list", ())[:1]:
            line = decorator.lineno
        span = places.span(node)
        known = found.get(line)
        first = places.offset(line, 0)
        if known is None or span.end > known.end:
            found[line] = Span(min(first, known.start) if known else first, span.end)
    return {line: Span(places.offset(line, 0), span.end) for line, span in found.items()}


def _header_end(tree: ast.Module | None) -> int:
    """The line of the first statement that is neither docstring nor import."""
    for node in tree.body if tree is not None else ():
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not isinstance(node, ast.Import | ast.ImportFrom):
            return node.lineno
    return 1 << 30


def _imports(tree: ast.Module | None, line: int) -> bool:
    """Whether the statement that begins on a line is an import or a docstring."""
    for node in tree.body if tree is not None else ():
        if node.lineno == line:
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            return is_text or isinstance(node, ast.Import | ast.ImportFrom)
    return False
