"""Patterns that are looked for in every sentence of a document and seldom found.

A form derives from its own pattern the letters of which some stand in every match, and looks for
those first: a search for a word is many times quicker than one for a pattern, and a pattern that
is not needed is not compiled. Where several parts of a pattern have to stand, each has its letters.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

_RUNS: Final = 100
"""Searches after which a form is taken apart into its alternatives."""
_EDGES: Final = frozenset({"AT", "ASSERT", "ASSERT_NOT"})
"""Operations that take up no letters."""
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


_Tested = tuple[tuple[tuple[str, ...], bool], ...]
"""Of each part its hints, and whether any digit is one."""


class _Branch:
    """One alternative of a pattern, with the hints of its parts."""

    __slots__ = ("_compiled", "_flags", "_tree", "parts")

    def __init__(self, tree: Any, flags: int) -> None:
        self._tree = tree
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None
        self.parts = _parts_of(tree)

    @property
    def compiled(self) -> re.Pattern[str]:
        """The alternative by itself; its groups have the numbers they have in the pattern."""
        if self._compiled is None:
            self._compiled = _compile(self._tree, self._flags)
        return self._compiled


class Form:
    """A pattern, whatever the case, with the letters that its matches hold.

    It is compiled when a text holds those letters: what reads no prose, or a short one, pays for
    few patterns. Of a pattern that is often run in vain the alternatives are looked for one by one.
    """

    __slots__ = ("_branches", "_compiled", "_flags", "_parts", "_runs", "_tree", "pattern")

    def __init__(self, pattern: str, flags: int = re.IGNORECASE) -> None:
        """Keep a pattern."""
        self.pattern = pattern
        self._flags = int(flags)  # `&` of two flags takes many times longer than of two numbers
        self._compiled: re.Pattern[str] | None = None
        self._tree: Any = None
        self._parts: _Tested | None = None
        self._runs = 0
        self._branches: tuple[_Branch, ...] = ()

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern as `re` knows it."""
        if self._compiled is None:
            tree = self._tree
            self._compiled = (
                re.compile(self.pattern, self._flags)
                if tree is None
                else _compile(tree, self._flags)
            )
        return self._compiled

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As of a compiled pattern."""
        parts = self._parts
        if parts is None:
            parts = self._derive()
        words = ""
        if parts:
            words = text[start:end].lower()
            if not _stand(parts, words):
                return None
        if self._branches:
            return self._search_branches(text, start, end, words)
        if self._runs < _RUNS:
            self._run()
        return (self._compiled or self.compiled).search(text, start, end)

    def _search_branches(self, text: str, start: int, end: int, words: str) -> re.Match[str] | None:
        """The first match of those alternatives whose letters stand in a text."""
        words = words or text[start:end].lower()
        live = [branch for branch in self._branches if _stand(branch.parts, words)]
        if 2 * len(live) > len(self._branches):
            return self.compiled.search(text, start, end)
        first: re.Match[str] | None = None
        for branch in live:
            match = branch.compiled.search(text, start, end)
            # of two at one place the earlier alternative counts
            if match is not None and (first is None or match.start() < first.start()):
                first = match
        return first

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
        """Whether of each part some hint stands in a text; true where there are none."""
        parts = self._derive() if self._parts is None else self._parts
        return not parts or _stand(parts, text[start:end].lower())

    def stands_in(self, words: str) -> bool:
        """As `may_stand`, of a text in small letters."""
        parts = self._derive() if self._parts is None else self._parts
        return not parts or _stand(parts, words)

    def _derive(self) -> _Tested:
        """Derive the hints of the parts from the pattern."""
        self._tree = _parsed(self.pattern, self._flags)
        self._parts = _parts_of(self._tree)
        return self._parts

    def _run(self) -> None:
        """Count a search; the last one counted takes the alternatives apart."""
        self._runs += 1
        if self._runs == _RUNS and self._tree is not None:
            branches = [_Branch(tree, self._flags) for tree in _alternatives(self._tree)]
            if 2 * sum(bool(branch.parts) for branch in branches) > len(branches):
                self._branches = tuple(branches)


def _parsed(pattern: str, flags: int) -> Any:
    """The parts of a pattern as `re` takes it apart; None where that cannot be had."""
    try:
        return import_module("re._parser").parse(pattern, flags)
    except (ImportError, AttributeError):
        return None


def _compile(tree: Any, flags: int) -> re.Pattern[str]:
    compiled: re.Pattern[str] = import_module("re._compiler").compile(tree, flags)
    return compiled


def _alternatives(tree: Any) -> list[Any]:
    """The alternatives of a pattern that is nothing else, but for what stands at its edges."""
    items = list(tree)
    at = [index for index, (operation, _) in enumerate(items) if str(operation) == "BRANCH"]
    if len(at) != 1 or any(str(operation) not in _EDGES for operation, _ in items[: at[0]]):
        return []
    if any(str(operation) not in _EDGES for operation, _ in items[at[0] + 1 :]):
        return []
    sequence = import_module("re._parser").SubPattern
    return [
        sequence(tree.state, [*items[: at[0]], *branch, *items[at[0] + 1 :]])
        for branch in items[at[0]][1][1]
    ]


def _stand(parts: _Tested, words: str) -> bool:
    """Whether of each part some hint stands in a text in small letters."""
    for hints, digits in parts:
        for hint in hints:
            if hint in words:
                break
        else:
            if not digits or _SOME_DIGIT.search(words) is None:
                return False
    return True


def _parts_of(tree: Any) -> _Tested:
    """The hints of the parts of a pattern, and whether a digit does as well."""
    if tree is None:
        return ()
    return tuple(
        (tuple(hint for hint in hints if hint != _DIGIT), _DIGIT in hints)
        for hints in _telling(tree)
    )


def hints_of(pattern: str, flags: int = re.IGNORECASE) -> tuple[tuple[str, ...], ...]:
    """Of each part that every match holds, the letters in lower case of which some stand there.

    "0" stands for any digit. The part whose letters are the rarest comes first.
    """
    tree = _parsed(pattern, flags)
    return () if tree is None else _telling(tree)


def _telling(tree: Any) -> tuple[tuple[str, ...], ...]:
    kept: list[frozenset[str]] = []
    for hints in _of_sequence(list(tree)):
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
