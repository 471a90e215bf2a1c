"""A pattern that is looked for in every sentence of a document and seldom found.

Where the letters that it needs do not stand in a text, it is neither compiled nor looked for: what
reads no prose, or a short one, pays for few patterns.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, Final

from advisor.forms.alternatives import alternatives
from advisor.forms.letters import (
    letters_of,
    letters_of_alternatives,
    need_of,
    needs_of_alternatives,
)

_SHORT: Final = 48
"""Characters of a part of a text that nothing else asks for the letters of."""
_UNKNOWN: Final = -1
"""A need that was not looked up yet."""


class Form:
    """A pattern, whatever the case.

    Of a pattern that is nothing but alternatives only those are looked for whose letters stand in
    the text.
    """

    __slots__ = ("_branches", "_compiled", "_need", "_needs_of_branches", "pattern")

    def __init__(self, pattern: str) -> None:
        """Keep a pattern."""
        self.pattern = pattern
        self._compiled: re.Pattern[str] | None = None
        self._need = _UNKNOWN
        self._needs_of_branches: tuple[int, ...] = ()
        self._branches: list[Form] = []

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern as `re` knows it."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, re.IGNORECASE)
        return self._compiled

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As of a compiled pattern."""
        need = self._need
        if need < 0:
            need = self.need
        # where few characters are looked at, the pattern itself is as quick as finding letters
        is_short = end - start < _SHORT and self._compiled is not None
        if need and not is_short and letters_of(text[start:end]) & need != need:
            return None
        if not self._needs_of_branches:
            return (self._compiled or self.compiled).search(text, start, end)
        letters = letters_of_alternatives(text[start:end])
        live = [
            index for index, need in enumerate(self._needs_of_branches) if letters & need == need
        ]
        if 2 * len(live) > len(self._needs_of_branches):
            return self.compiled.search(text, start, end)
        return self._first_of(live, text, start, end)

    def _first_of(self, live: list[int], text: str, start: int, end: int) -> re.Match[str] | None:
        """The first match of some alternatives; of two at one place that of the earlier one."""
        if not self._branches:
            self._branches = [Form(pattern) for pattern in alternatives(self.pattern)]
        first: re.Match[str] | None = None
        for index in live:
            match = self._branches[index].compiled.search(text, start, end)
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
        """Whether a text has the letters that the pattern needs."""
        need = self.need
        return not need or letters_of(text[start:end]) & need == need

    @property
    def need(self) -> int:
        """The bits of the letters that the pattern needs."""
        if self._need < 0:
            self._need = need_of(self.pattern)
            self._needs_of_branches = needs_of_alternatives(self.pattern)
        return self._need


class Forms:
    """Many forms, of which most do not stand in a text."""

    __slots__ = ("_asked", "_forms")

    def __init__(self, *forms: Form) -> None:
        """Keep forms, in order."""
        self._forms = forms
        self._asked: list[tuple[int, Form]] = []

    def __iter__(self) -> Iterator[Form]:
        """Every form."""
        return iter(self._forms)

    def standing_in(self, text: str, start: int = 0, end: int = sys.maxsize) -> list[Form]:
        """Those whose letters a text has: each of the others is not there."""
        if not self._asked:
            self._asked = [(form.need, form) for form in self._forms]
        letters = letters_of(text[start:end])
        return [form for need, form in self._asked if letters & need == need]
