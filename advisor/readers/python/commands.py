"""Command lines in Python: lists of arguments, texts for a shell, shell lines of notebooks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Mapping as Table
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.readers.flags import Option, options_of
from advisor.readers.inner_text import InnerText
from advisor.readers.options import Effect, engine_named_in, read_option, tool_named_in
from advisor.readers.python.results import MAX_TEXT
from advisor.readers.python.syntax import Places
from advisor.readers.python.values import (
    HOLE,
    Either,
    Literal,
    Made,
    Sequence,
    alternatives,
    text_of,
    usual,
)
from advisor.readers.words import Word, shell_words
from advisor.source import Source, Span

_DEEPEST: Final = 6
_INSTALLS: Final = frozenset(
    {"install", "download", "pull", "clone", "uninstall", "pkill", "build"}
)
"""Words near the start of commands that do not serve."""
_NO_VARIABLES: Final[Table[str, str]] = MappingProxyType({})


class Command(NamedTuple):
    """What one option of a command does."""

    effects: tuple[Effect, ...]
    span: Span
    value: Span | None
    condition: str
    name: str


def commands_of(
    made: Made, hangs_on: str, source: Source, places: Places, done: set[int]
) -> Iterator[tuple[str | None, list[Command]]]:
    """The engine and options of each command among a call's arguments."""
    values = [*made.args, *(value for _, value in made.keywords.values())]
    around = engine_named_in(" ".join(text for value in values if (text := text_of(value))))
    for value in values:
        for option, _ in alternatives(value):
            if id(option.node) in done:
                continue
            if isinstance(option, Sequence):
                words, conditions = _words(option, source, places)
                words += _scripts(option, source, places)
            elif isinstance(option, Literal) and isinstance(option.data, str):
                words, conditions = _shell(option, source, places), {}
            else:
                continue
            said = " ".join(word.text for word in words if word is not None)
            engine = engine_named_in(said) or around
            if engine is None and tool_named_in(said) is None:
                continue
            for found in _commands(words, conditions, engine, hangs_on):
                done.add(id(option.node))
                yield engine, found


def shell_commands(
    text: str, span: Span, source: Source
) -> Iterator[tuple[str | None, list[Command]]]:
    """The options of a shell line that stands in the text itself."""
    start = span.end - len(text)
    inner = InnerText(Source(source.path, text), range(start, span.end))
    engine = engine_named_in(text)
    if engine is not None or tool_named_in(text) is not None:
        for found in _commands(list(shell_words(inner)), {}, engine, ""):
            yield engine, found


def _commands(
    words: list[Word | None], conditions: dict[int, str], engine: str | None, hangs_on: str
) -> Iterator[list[Command]]:
    """What each command's options do; commands without any are left out."""
    if any(word is not None and word.text in _INSTALLS for word in words[:6]):
        return
    for command in options_of(words, engine, _NO_VARIABLES):
        found = [
            Command(
                effects,
                option.span,
                option.value_span,
                hangs_on or conditions.get(option.span.start, ""),
                option.name,
            )
            for option in command
            if (effects := _effects(option))
        ]
        if found:
            yield found


def _effects(option: Option) -> tuple[Effect, ...]:
    return read_option(option.engine, option.name, option.value) or ()


def _words(
    value: Sequence, source: Source, places: Places, depth: int = 0
) -> tuple[list[Word | None], dict[int, str]]:
    """The items of a list as words; what the items of branches hang on, by their start."""
    words: list[Word | None] = []
    conditions: dict[int, str] = {}
    for item in value.items:
        option, condition = item, ""
        if isinstance(item, Either):
            every = list(alternatives(item))
            if every:
                option, condition = next((pair for pair in every if not pair[1]), every[0])
        inner = usual(option)
        if isinstance(inner, Sequence):
            more, their = _words(inner, source, places, depth + 1) if depth < _DEEPEST else ([], {})
            words += more
            conditions |= their
            continue
        known = isinstance(inner, Literal) and not isinstance(inner.data, bytes)
        text = str(getattr(inner, "data", HOLE)) if known else HOLE
        span = _place(item.node, text, source, places)
        if condition:
            conditions[span.start] = condition
        words.append(Word(text, span))
    return words, conditions


def _scripts(value: Sequence, source: Source, places: Places) -> list[Word | None]:
    """The words of a script that a list hands to a shell: `["bash", "-c", SCRIPT]`."""
    found: list[Word | None] = []
    for before, item in pairwise(value.items):
        flag, script = text_of(before) or "", usual(item)
        if _TO_SHELL.fullmatch(flag) and isinstance(script, Literal) and text_of(script):
            found += [None, *_shell(script, source, places)]
    return found


_TO_SHELL: Final = re.compile(r"-[a-z]*c")


def _shell(value: Literal, source: Source, places: Places) -> list[Word | None]:
    """The words of a text for a shell, each where it stands in the source."""
    text = str(value.data)
    if " -" not in text or len(text) > MAX_TEXT:
        return []
    return [
        None if word is None else Word(word.text, _place(value.node, word.text, source, places))
        for word in shell_words(InnerText(Source(source.path, text)))
    ]


def _place(node: ast.AST, text: str, source: Source, places: Places) -> Span:
    """A word inside the node that wrote it; the node where it is not found as it is."""
    span = places.span(node)
    bare = text.partition("=")[0] if text.startswith("-") else text
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and bare):
        at = source.text.find(bare, span.start, span.end) if HOLE not in bare else -1
        if at >= 0:
            return Span(at, at + len(bare))
    return span
