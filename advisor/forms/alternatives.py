r"""The alternatives of a pattern, each as a pattern of its own.

Of a pattern `\b(?:faster|quicker)\b` those are `\b(?:faster)\b` and `\b(?:quicker)\b`. What a
pattern holds beside its alternatives may only be what takes up no letters: edges of words, and
what has to stand before or behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(|\)|\||[^\\\[()|]+|.", re.DOTALL)
"""What a pattern is read by: an escape, a class of letters, a sign of grouping, or other text."""
_EDGE: Final = re.compile(r"\\[bB]|[\^$]")
_LOOK: Final = ("(?=", "(?!", "(?<=", "(?<!")
_GROUP: Final = "(?:"
_NAME: Final = re.compile(r"\(\?P<(\w+)>")
_NUMBERED: Final = re.compile(r"(?<!\\)\((?!\?)")
_BACK: Final = re.compile(r"\(\?P=|\(\?\(|\\[1-9]")


def alternatives(pattern: str) -> tuple[str, ...]:
    """Patterns of which the first that matches furthest to the left is the match of the whole.

    Each has all named groups of the whole. Empty where there is one alternative, where a group has
    no name, or where something beside the alternatives takes up letters.
    """
    if _NUMBERED.search(pattern) or _BACK.search(pattern):
        return ()
    before, choices, after = _taken_apart(pattern)
    if len(choices) <= 1:
        return ()
    names = _NAME.findall(pattern)
    return tuple(
        f"{before}(?:{choice}){after}{_absent(names, before + choice + after)}"
        for choice in choices
    )


def _absent(names: list[str], pattern: str) -> str:
    """Groups that never match, for those that another alternative has."""
    own = set(_NAME.findall(pattern))
    return "".join(f"(?:(?P<{name}>(?!)))?" for name in names if name not in own)


def _taken_apart(pattern: str) -> tuple[str, list[str], str]:
    """What stands before the alternatives, they themselves, and what stands behind."""
    whole = _choices(pattern)
    if len(whole) > 1:
        return "", whole, ""
    items = list(_items(pattern))
    groups = [index for index, item in enumerate(items) if not _is_edge(item)]
    if len(groups) != 1 or not items[groups[0]].startswith(_GROUP):
        return "", [], ""
    at = groups[0]
    inner = items[at][len(_GROUP) : -1]
    return "".join(items[:at]), _choices(inner), "".join(items[at + 1 :])


def _is_edge(item: str) -> bool:
    return _EDGE.fullmatch(item) is not None or item.startswith(_LOOK)


def _choices(pattern: str) -> list[str]:
    """The alternatives that no group encloses."""
    found = [""]
    depth = 0
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            found.append("")
        else:
            found[-1] += piece
    return found


def _items(pattern: str) -> Iterator[str]:
    """The groups, edges and other pieces of a pattern, as they stand side by side."""
    item = ""
    depth = 0
    for piece in _PIECE.findall(pattern):
        item += piece
        depth += (piece == "(") - (piece == ")")
        if not depth:
            yield item
            item = ""
