"""Patterns that are looked for in every sentence of a document and seldom found.

A form that has been asked often derives from its own pattern the letters of which some stand in
every match, and from then on looks for those first: a search for a word is many times quicker than
one for a pattern. A short document is read before that, and pays for nothing.
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

    __slots__ = ("_asked", "_compiled", "_digits", "_filters", "_flags", "_hints", "pattern")

    def __init__(self, pattern: str, flags: int = re.IGNORECASE) -> None:
        """Keep a pattern."""
        self.pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None
        self._asked = 0
        self._hints: tuple[str, ...] = ()
        self._digits = False
        self._filters = False

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern as `re` knows it."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        return self._compiled

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As of a compiled pattern."""
        if self._filters:
            words = text[start:end].lower()
            for hint in self._hints:
                if hint in words:
                    break
            else:
                if not self._digits or _SOME_DIGIT.search(words) is None:
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
        """Whether one of the hints stands in a text; true while there are none."""
        if not self._filters:
            if self._asked < _ASKED:
                self._ask()
            return True
        words = text[start:end].lower()
        if any(hint in words for hint in self._hints):
            return True
        return self._digits and _SOME_DIGIT.search(words) is not None

    def _ask(self) -> None:
        """Count a search; the last one counted derives the hints."""
        self._asked += 1
        if self._asked == _ASKED:
            hints = hints_of(self.pattern, self._flags)
            self._digits = _DIGIT in hints
            self._hints = tuple(hint for hint in hints if hint != _DIGIT)
            self._filters = bool(hints)


def hints_of(pattern: str, flags: int = re.IGNORECASE) -> tuple[str, ...]:
    """Letters in lower case, of which one at least stands in every match; none where none do.

    "0" stands for any digit.
    """
    try:
        parser = import_module("re._parser")
    except ImportError:
        return ()
    found = _of_sequence(list(parser.parse(pattern, flags)))
    if found is None or not _EVERYWHERE.isdisjoint(hint.strip() for hint in found):
        return ()
    if 2 * sum(len(hint) == _SHORTEST for hint in found) > len(found):
        return ()  # two letters stand in most texts
    return tuple(sorted(found))


def _of_sequence(items: list[Any]) -> frozenset[str] | None:
    """The best hints among those of the parts of a sequence: every part has to stand."""
    best: frozenset[str] | None = None
    letters = ""
    for operation, argument in items:
        if str(operation) == "LITERAL":
            letters += chr(argument).lower()
            continue
        best = _better(best, _of_letters(letters))
        letters = ""
        best = _better(best, _of_part(str(operation), argument))
    return _better(best, _of_letters(letters))


def _of_letters(letters: str) -> frozenset[str] | None:
    return frozenset({letters}) if len(letters) >= _SHORTEST else None


def _of_part(operation: str, argument: Any) -> frozenset[str] | None:
    match operation:
        case "SUBPATTERN":
            return _of_sequence(list(argument[-1]))
        case "BRANCH":
            branches = [_of_sequence(list(branch)) for branch in argument[1]]
            known = [one for one in branches if one is not None]
            whole = frozenset().union(*known)
            return whole if len(known) == len(branches) and len(whole) <= _MOST_HINTS else None
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _of_sequence(list(argument[2])) if argument[0] else None
        case "IN" if all(str(kind) == "CATEGORY" and str(what) == "CATEGORY_DIGIT"
                         for kind, what in argument):  # fmt: skip
            return frozenset({_DIGIT})
        case "ATOMIC_GROUP":
            return _of_sequence(list(argument))
        case _:
            return None


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The rarer of two sets of hints: of the longer letters, then the smaller one."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=_worth)


def _worth(hints: frozenset[str]) -> int:
    common = not _EVERYWHERE.isdisjoint(hint.strip() for hint in hints)
    return min(map(len, hints)) * 4 - len(hints) - 100 * common
