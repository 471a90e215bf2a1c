"""Patterns that are looked for in every sentence of a document and seldom found.

A form that has been asked often derives from its own pattern the letters of which some stand in
every match, and from then on looks for those first: a search for a word is many times quicker than
one for a pattern. Where several parts of a pattern have to stand, each has its letters. A short
document is read before that, and pays for nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

_ASKED: Final = 150
"""Searches after which a form derives its hints."""
_MOST_HINTS: Final = 200
_MOST_PARTS: Final = 3
"""Parts of a pattern that are looked for; a further one would rule out little more."""
_SHORTEST: Final = 2
_DIGIT: Final = "0"
"""Stands for any digit."""
_SOME_DIGIT: Final = re.compile(r"\d")
_EVERYWHERE: Final = frozenset(
    ("the", "that", "this", "with", "and", "is", "be", "as", "of", "in", "it", "to", "for", "a")
)
"""Hints that stand in most sentences tell nothing."""


class Form:
    """A pattern, whatever the case, with the letters that its matches hold.

    It is compiled when it is first asked: a check that reads no prose pays for none.
    """

    __slots__ = ("_asked", "_compiled", "_flags", "_parts", "pattern")

    def __init__(self, pattern: str, flags: int = re.IGNORECASE) -> None:
        """Keep a pattern."""
        self.pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None
        self._asked = 0
        self._parts: tuple[tuple[tuple[str, ...], bool], ...] = ()

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern as `re` knows it."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        return self._compiled

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As of a compiled pattern."""
        if self._parts:
            words = text[start:end].lower()
            for hints, digits in self._parts:
                for hint in hints:
                    if hint in words:
                        break
                else:
                    if not digits or _SOME_DIGIT.search(words) is None:
                        return None
        elif self._asked < _ASKED:
            self._ask()
        return (self._compiled or self.compiled).search(text, start, end)

    def finditer(
        self, text: str, start: int = 0, end: int = sys.maxsize
    ) -> Iterator[re.Match[str]]:
        """As of a compiled pattern."""
        found = self.may_stand(text, start, end)
        return self.compiled.finditer(text, start, end) if found else iter(())

    def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As of a compiled pattern."""
        return self.compiled.fullmatch(text, start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As of a compiled pattern."""
        return self.compiled.match(text, start, end)

    def findall(self, text: str) -> list[Any]:
        """As of a compiled pattern."""
        return self.compiled.findall(text) if self.may_stand(text) else []

    def sub(self, new: str, text: str) -> str:
        """As of a compiled pattern."""
        return self.compiled.sub(new, text) if self.may_stand(text) else text

    def may_stand(self, text: str, start: int = 0, end: int = sys.maxsize) -> bool:
        """Whether of each part some hint stands in a text; true while there are none."""
        if not self._parts:
            if self._asked < _ASKED:
                self._ask()
            return True
        words = text[start:end].lower()
        for hints, digits in self._parts:
            for hint in hints:
                if hint in words:
                    break
            else:
                if not digits or _SOME_DIGIT.search(words) is None:
                    return False
        return True

    def _ask(self) -> None:
        """Count a search; the last one counted derives the hints."""
        self._asked += 1
        if self._asked == _ASKED:
            self._parts = tuple(
                (tuple(hint for hint in hints if hint != _DIGIT), _DIGIT in hints)
                for hints in hints_of(self.pattern, self._flags)
            )


def hints_of(pattern: str, flags: int = re.IGNORECASE) -> tuple[tuple[str, ...], ...]:
    """Of each part that every match holds, the letters in lower case of which some stand there.

    "0" stands for any digit. The part whose letters are the rarest comes first.
    """
    try:
        parser = import_module("re._parser")
    except ImportError:
        return ()
    kept: list[frozenset[str]] = []
    for hints in _of_sequence(list(parser.parse(pattern, flags))):
        # a part that shares its letters with one before it rules out little more
        if _tells(hints) and all(2 * len(hints & other) < len(hints) for other in kept):
            kept.append(hints)
    return tuple(tuple(sorted(hints)) for hints in kept)


def _tells(hints: frozenset[str]) -> bool:
    """Whether few texts hold one of some hints: two letters stand in most."""
    return 2 * sum(len(hint) == _SHORTEST for hint in hints) <= len(hints)


def _is_common(hints: frozenset[str]) -> bool:
    """Whether one of some hints stands in most sentences."""
    return not _EVERYWHERE.isdisjoint(hint.strip() for hint in hints)


_Parts = tuple[frozenset[str], ...]
"""The hints of the parts of a pattern, the rarest first."""


def _of_sequence(items: list[Any]) -> _Parts:
    """The hints of the parts of a sequence, of which every one has to stand."""
    found: list[frozenset[str]] = []
    letters = ""
    for operation, argument in items:
        if str(operation) == "LITERAL":
            letters += chr(argument).lower()
            continue
        found += _of_letters(letters)
        letters = ""
        found += _of_part(str(operation), argument)
    found += _of_letters(letters)
    telling = [hints for hints in found if not _is_common(hints)]
    return tuple(sorted(telling, key=_worth, reverse=True)[:_MOST_PARTS])


def _of_letters(letters: str) -> _Parts:
    return (frozenset({letters}),) if len(letters) >= _SHORTEST else ()


def _of_part(operation: str, argument: Any) -> _Parts:
    match operation:
        case "SUBPATTERN":
            return _of_sequence(list(argument[-1]))
        case "BRANCH":
            return _of_branches([_of_sequence(list(branch)) for branch in argument[1]])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _of_sequence(list(argument[2])) if argument[0] else ()
        case "IN" if all(str(kind) == "CATEGORY" and str(what) == "CATEGORY_DIGIT"
                         for kind, what in argument):  # fmt: skip
            return (frozenset({_DIGIT}),)
        case "ATOMIC_GROUP":
            return _of_sequence(list(argument))
        case _:
            return ()


def _of_branches(branches: list[_Parts]) -> _Parts:
    """Of each branch its rarest part, then of each its next; the last of one that has no more."""
    if not all(branches):
        return ()
    count = max(map(len, branches))
    whole = (
        frozenset().union(*(parts[min(index, len(parts) - 1)] for parts in branches))
        for index in range(count)
    )
    return tuple(hints for hints in whole if len(hints) <= _MOST_HINTS)


def _worth(hints: frozenset[str]) -> int:
    """How rare hints are: the longer their letters and the fewer they are."""
    return min(map(len, hints)) * 4 - len(hints)
