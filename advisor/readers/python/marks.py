"""Which scripts are worth parsing: a search of their bytes before any decoding.

A script calls a library only where it imports it, so the words that are searched are those of the
rows of the libraries it imports, and those of levers made by hand. Words that many calls share
(`from_pretrained`, `convert`) count beside what makes them a lever. A file's words are taken once,
as a set: most of what is looked for is a lookup in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.readers.python.hints import (
    BESIDE,
    BY_HAND,
    BY_NAME,
    COMMANDS,
    DOCUMENTS,
    Hint,
    held,
)

_IMPORTS: Final = re.compile(rb"\n[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)")
_LISTED: Final = re.compile(rb"\n[ \t]*import[ \t]+([\w., \t]+)")
_HANDED_ON: Final = re.compile(
    rb"(?:\b(?:partial|submit|to_thread|apply_async)\(|\brun_in_executor\([^,()]*,|\btarget\s*=)"
    rb"\s*(?:\w+\.)*(\w+)"
)
"""A function that something else calls."""
_HANDING: Final = frozenset(
    {b"partial", b"submit", b"to_thread", b"apply_async", b"run_in_executor", b"target"}
)
_ALIASES: Final = re.compile(rb"^[ \t]*from [^\n]*\b(\w+) as \w", re.MULTILINE)
_TENSORS: Final = frozenset(
    {b"torch", b"mlx", b"tensorflow", b"jax", b"transformers", b"accelerate", b"peft"}
)
_BLANK: Final = ord(" ")
_WORD_BYTES: Final = bytes(
    code if chr(code).isalnum() or chr(code) == "_" or code > 127 else _BLANK for code in range(256)
)
"""Bytes that are part of words as they are, all others as blanks."""


class _Rows(NamedTuple):
    """What is searched for one library."""

    plain: frozenset[bytes]
    """Words that say enough when they are called."""
    beside: frozenset[bytes]


def worth_reading(data: bytes) -> bool:
    """Whether a script's bytes may hold a call, a command or an idiom that sets up a lever."""
    words = words_of(data)
    roots = _roots(data)
    if roots & _TENSORS and any(True for _ in held(BY_HAND, data, words)):
        return True
    return _says(data, words) or _calls(data, words, roots)


def calls_levers(data: bytes, called: set[str]) -> bool:
    """Whether a script sets up something by what it calls, now that that is known.

    `called` holds the last word of every call and decorator.
    """
    words = words_of(data)
    if _says(data, words):
        return True
    if not _HANDING.isdisjoint(words):
        called = called | {word.decode() for word in _HANDED_ON.findall(data)}
    rows = _words()
    known = [rows[root] for root in _roots(data) & rows.keys()]
    names = {word.encode() for word in called}
    return any(
        not names.isdisjoint(one.plain)
        or any(_stands_beside(word, data) for word in one.beside & names)
        for one in (*known, rows[b"."], rows[b"*"])
    )


def by_hand(data: bytes) -> tuple[Hint, ...]:
    """The ways of working on tensors that a script may use."""
    return tuple(held(BY_HAND, data, words_of(data)))


def words_of(data: bytes) -> set[bytes]:
    """Every word of a text."""
    return set(data.translate(_WORD_BYTES).split())


def _roots(data: bytes) -> set[bytes]:
    """The libraries that a script imports."""
    if b"\r" in data or b"\f" in data:
        data = data.replace(b"\r", b"\n").replace(b"\f", b"\n")
    data = b"\n" + data
    roots = set(_IMPORTS.findall(data))
    for listed in _LISTED.findall(data):
        if b"," in listed:  # import torch, deepspeed
            roots |= {
                part.split()[0].partition(b".")[0] for part in listed.split(b",") if part.split()
            }
    return roots


def _says(data: bytes, words: set[bytes]) -> bool:
    """Whether there are command lines, recipes, or names that tell."""
    return any(True for hints in (DOCUMENTS, BY_NAME, COMMANDS) for _ in held(hints, data, words))


def _calls(data: bytes, words: set[bytes], roots: set[bytes]) -> bool:
    rows = _words()
    for root in (*(roots & rows.keys()), b".", b"*"):
        one = rows[root]
        named = one.plain & words
        if named and any(_called(word).search(data) is not None for word in named):
            return True
        if named and b"as" in words and not named.isdisjoint(_ALIASES.findall(data)):
            return True
        if not _HANDING.isdisjoint(words):
            handed = set(_HANDED_ON.findall(data))
            if not named.isdisjoint(handed) or any(
                _stands_beside(word, data) for word in one.beside & handed
            ):
                return True
        for word in one.beside & words:
            if _is_called(word, data) and _stands_beside(word, data):
                return True
    return False


@lru_cache(maxsize=2048)
def _called(word: bytes) -> re.Pattern[bytes]:
    """A call of just this word; a decorator needs no bracket."""
    return re.compile(rb"(?<!\w)" + re.escape(word) + rb"\(")


def _is_called(word: bytes, data: bytes) -> bool:
    return word + b"(" in data or (word == b"compile" and b"torch.compile" in data)


def _stands_beside(word: bytes, data: bytes) -> bool:
    return BESIDE[word.decode()].search(data) is not None


@lru_cache(maxsize=1)
def _words() -> Mapping[bytes, _Rows]:
    """By library, the words of its rows; "." for methods of anything, "*" for names of no one."""
    from advisor.readers.python import tables  # noqa: PLC0415 - only scripts need them

    plain: dict[bytes, set[bytes]] = {b".": set(), b"*": set()}
    beside: dict[bytes, set[bytes]] = {}
    for key in tables.calls():
        root, _, name = key.partition(":") if ":" in key else (".", "", key.lstrip("."))
        owner, _, last = name.rpartition(".")
        if root == "*" and owner:
            continue  # its class is imported from the library of another row
        if last in BESIDE:
            beside.setdefault(root.encode(), set()).add(last.encode())
        elif last not in {"()", ""}:
            plain.setdefault(root.encode(), set()).add(last.encode())
    return MappingProxyType(
        {
            root: _Rows(frozenset(plain.get(root, ())), frozenset(beside.get(root, ())))
            for root in (*plain, *beside)
        }
    )
