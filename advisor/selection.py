"""Which rules run: words of people (codes, families, names) to codes of rules.

The more specific word wins: `--select FLP002 --ignore FLP` runs FLP002, `--select FLP --ignore
FLP002` runs the rest of the family. Where both are as specific, the rule does not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from advisor.problems import PROBLEMS

ALL: Final = "ALL"
"""As a word, every rule."""

_FAMILY, _RULE = 1, 2  # how specific a word is; ALL is 0


class UnknownRuleError(ValueError):
    """A word that is no code, family or name of a rule; the message names the nearest."""


class Named(NamedTuple):
    """What a rule answers to."""

    code: str
    name: str

    @property
    def family(self) -> str:
        """The letters of the code."""
        return self.code.rstrip("0123456789")


class Words:
    """Every rule by its code, family and name, in any case."""

    def __init__(self, rules: Iterable[Named]) -> None:
        """Take the rules that there are."""
        self.rules = tuple(rules)
        self._meant: dict[str, str] = {ALL.lower(): ALL}
        for rule in self.rules:
            for word in rule.code, rule.family, rule.name:
                self._meant[word.lower()] = word

    def knows(self, word: str) -> bool:
        """Whether a word means a rule."""
        return word.strip().lower() in self._meant

    def look_up(self, word: str) -> str:
        """The code, family or name that a word means.

        Raises:
            UnknownRuleError: for a word that means none.

        """
        folded = word.strip().lower()
        found = self._meant.get(folded)
        if found is None:
            raise UnknownRuleError(f"no rule or family is called {word!r}{self._hint(folded)}")
        return found

    def _hint(self, word: str) -> str:
        if word.upper() in PROBLEMS:
            return "; what cannot be read is always told"
        from difflib import get_close_matches  # noqa: PLC0415 - only a wrong word pays for it

        near = get_close_matches(word[:60], self._meant, 1, 0.5)
        return f"; did you mean {self._meant[near[0]]}?" if near else "; rooflint explain lists all"

    def codes(self, words: Iterable[str]) -> frozenset[str]:
        """Codes of the rules that words name.

        Raises:
            UnknownRuleError: for a word that means none.

        """
        return frozenset(self._matching({self.look_up(word) for word in words}))

    def _matching(self, meant: set[str]) -> Iterator[str]:
        for rule in self.rules:
            if meant & {ALL, rule.family, rule.code, rule.name}:
                yield rule.code

    def chosen(self, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
        """Codes of the rules that are selected (all, where no word is) and not ignored.

        Raises:
            UnknownRuleError: for a word that means none.

        """
        wanted = {self.look_up(word) for word in select} or {ALL}
        refused = {self.look_up(word) for word in ignore}
        return frozenset(
            rule.code for rule in self.rules if _closeness(rule, wanted) > _closeness(rule, refused)
        )


def _closeness(rule: Named, meant: set[str]) -> int:
    """How specific the closest word to a rule is; -1 where none means it."""
    if meant & {rule.code, rule.name}:
        return _RULE
    if rule.family in meant:
        return _FAMILY
    return 0 if ALL in meant else -1
