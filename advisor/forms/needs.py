r"""What letters a pattern needs, derived from the pattern itself.

Of each part that every match of a pattern holds, the letters in lower case of which some stand
there: of `(?:halves|cuts) (?:\w+ )?latency` "latency", and "halves" or "cuts". Letters that stand
in most sentences tell nothing and are left out, as are parts beyond the three that tell the most.
A space before or behind letters stands for the edge of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import takewhile
from typing import Any, Final

from advisor.forms.alternatives import alternatives
from advisor.forms.letters import DIGIT, PIECE, SHORTEST

_MOST_LETTERS: Final = 200
_MOST_PARTS: Final = 3
"""Parts of a pattern that are looked for; a further one would rule out little more."""
_EVERYWHERE: Final = frozenset(
    ("the", "that", "this", "with", "and", "is", "be", "as", "of", "in", "it", "to", "for", "a")
)
_WORD: Final = re.compile(r"\w+")
_A_LETTER: Final = "[(IN, [(CATEGORY, CATEGORY_WORD)])]"

Need = tuple[str, ...]
"""Letters of which some have to stand in a text; "0" is any digit."""
_Parts = tuple[frozenset[str], ...]
"""The letters of the parts of a pattern, the rarest first."""


def needs_in(pattern: str) -> tuple[Need, ...]:
    """What every match of a pattern holds, the rarest first."""
    tree = import_module("re._parser").parse(pattern, re.IGNORECASE)
    kept: list[frozenset[str]] = []
    for letters in _of_sequence(list(tree)):
        # a part that shares its letters with one before it rules out little more
        if _tells(letters) and all(2 * len(letters & other) < len(letters) for other in kept):
            kept.append(letters)
    return tuple(tuple(sorted(letters)) for letters in kept)


def needs_of_alternatives(pattern: str) -> tuple[tuple[Need, ...], ...]:
    """What each alternative needs; nothing where most need nothing."""
    found = tuple(needs_in(branch) for branch in alternatives(pattern))
    return found if 2 * sum(map(bool, found)) > len(found) else ()


def _tells(letters: frozenset[str]) -> bool:
    """Whether few texts hold one of some letters: a pair stands in most."""
    return 2 * sum(len(one) == SHORTEST for one in letters) <= len(letters)


def _is_common(letters: frozenset[str]) -> bool:
    """Whether one of some letters stands in most sentences."""
    return not _EVERYWHERE.isdisjoint(one.strip() for one in letters)


def _of_sequence(items: list[Any], *, before: bool = False, behind: bool = False) -> _Parts:
    """The letters of the parts of a sequence, of which every one has to stand.

    `before` and `behind` tell whether it begins and ends at the edge of a word.
    """
    items = _distributed(items)
    befores = _edges(items, edge=before)
    behinds = _edges(items, edge=behind, backward=True)
    found: list[frozenset[str]] = []
    run = ""
    for index, (operation, argument) in enumerate(items):
        if str(operation) == "LITERAL":
            run += chr(argument).lower()
            if index + 1 == len(items) or str(items[index + 1][0]) != "LITERAL":
                found += _of_run(run, before=befores[index + 1 - len(run)], behind=behinds[index])
                run = ""
        else:
            found += _of_part(
                str(operation), argument, before=befores[index], behind=behinds[index]
            )
    telling = [letters for letters in found if not _is_common(letters)]
    return tuple(sorted(telling, key=_worth, reverse=True)[:_MOST_PARTS])


def _distributed(items: list[Any]) -> list[Any]:
    """Of `p(?:in|eg)` the alternatives `pin` and `peg`, which is what `re` makes the former of."""
    found: list[Any] = []
    for operation, argument in items:
        literals = list(takewhile(lambda item: str(item[0]) == "LITERAL", reversed(found)))[::-1]
        if str(operation) == "BRANCH" and literals:
            del found[-len(literals) :]
            branches = [[*literals, *branch] for branch in argument[1]]
            found.append((operation, (None, branches)))
        else:
            found.append((operation, argument))
    return found


def _of_run(run: str, *, before: bool, behind: bool) -> Iterator[frozenset[str]]:
    """The pieces of a run of letters, with a space where the edge of a word has to be."""
    for match in PIECE.finditer(run):
        is_sign = _WORD.fullmatch(match[0]) is None
        starts = before or match.start() > 0 or is_sign
        ends = behind or match.end() < len(run) or is_sign
        if len(match[0]) >= SHORTEST or (starts and ends):
            yield frozenset({" " * starts + match[0] + " " * ends})


def _of_part(operation: str, argument: Any, *, before: bool, behind: bool) -> _Parts:
    match operation:
        case "SUBPATTERN":
            return _of_sequence(list(argument[-1]), before=before, behind=behind)
        case "ATOMIC_GROUP":
            return _of_sequence(list(argument), before=before, behind=behind)
        case "BRANCH":
            branches = (list(branch) for branch in argument[1])
            return _of_branches(
                [_of_sequence(branch, before=before, behind=behind) for branch in branches]
            )
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if argument[0]:
            once = argument[1] == 1
            return _of_sequence(list(argument[2]), before=before and once, behind=behind and once)
        case "IN" if all(str(what) == "CATEGORY_DIGIT" for _, what in argument):
            return (frozenset({DIGIT}),)
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
    return tuple(letters for letters in whole if len(letters) <= _MOST_LETTERS)


def _edges(items: list[Any], *, edge: bool, backward: bool = False) -> list[bool]:
    """Before each item whether the edge of a word is there; `backward`, the same behind each."""
    found = []
    for operation, argument in reversed(items) if backward else items:
        found.append(edge)
        edge = _is_edge_after(str(operation), argument, edge=edge, backward=backward)
    return found[::-1] if backward else found


def _is_edge_after(operation: str, argument: Any, *, edge: bool, backward: bool) -> bool:
    """Whether the edge of a word is there after an item, with an edge before it or none."""

    def after(items: Any) -> bool:
        found = edge
        for one, its in reversed(list(items)) if backward else list(items):
            found = _is_edge_after(str(one), its, edge=found, backward=backward)
        return found

    match operation:
        case "AT":
            return edge or str(argument) != "AT_NON_BOUNDARY"
        case "ASSERT":
            return edge
        case "ASSERT_NOT":
            return edge or str(argument[1]) == _A_LETTER
        case "LITERAL":
            return _WORD.fullmatch(chr(argument)) is None
        case "IN":
            return all(_is_no_letter(str(kind), what) for kind, what in argument)
        case "SUBPATTERN":
            return after(argument[-1])
        case "BRANCH":
            return all(map(after, argument[1]))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = argument
            if most == 1:
                return after(body) and (edge or least > 0)
            inside = _is_edge_after("SUBPATTERN", (body,), edge=False, backward=backward)
            return inside and (edge or least > 0)
        case _:
            return False


def _is_no_letter(kind: str, what: Any) -> bool:
    """Whether a part of a class of signs holds no letter, digit or underscore."""
    if kind == "LITERAL":
        return _WORD.fullmatch(chr(what)) is None
    return kind == "CATEGORY" and str(what) in {"CATEGORY_SPACE", "CATEGORY_NOT_WORD"}


def _worth(letters: frozenset[str]) -> int:
    """How rare letters are: the longer they are and the fewer."""
    return min(map(len, letters)) * 4 - len(letters)
