"""Readers: files into proposals. They know formats and no physics.

`READERS` names each reader, the files it is for and where it stands; a reader is imported when
the first such file comes.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Final, NamedTuple, Protocol

from advisor.problems import file_problem
from advisor.proposal import Reading
from advisor.readers.marks import CONFIGURATION_MARKS
from advisor.source import Source, Span, decode

__all__ = [
    "MARK",
    "READERS",
    "Comment",
    "Reader",
    "comments_of",
    "decode_text",
    "is_ours_by_name",
    "may_hold_proposals",
    "read",
]

MARK: Final = b"rooflint"
"""What a file says that is ours; a file that does not costs a search for these bytes."""


class Comment(NamedTuple):
    """A comment that holds "rooflint:"."""

    words: Span
    """What stands in it, the signs that open and close it left out."""
    scope: Span
    """What it is about: its line, or the entry or block that follows it."""


class _Read(Protocol):
    def __call__(self, source: Source, *, named: bool) -> Reading: ...


class _Comments(Protocol):
    def __call__(self, source: Source) -> tuple[Comment, ...]: ...


class Reader(NamedTuple):
    """One format."""

    module: str
    """Below advisor.readers; its `read` takes a source to a reading."""
    comments_module: str
    """Below advisor.readers; its `comments` finds the comments of a source."""
    suffixes: tuple[str, ...]
    own_suffixes: tuple[str, ...]
    """Names of files that are ours whatever they hold."""
    marks: re.Pattern[bytes] | None = None
    """What else a file may say that holds something to read."""
    sieve: str = ""
    """Below advisor.readers; its `worth_reading` takes bytes, where words say too little."""
    decoder: str = ""
    """Below advisor.readers; its `decode_text` takes bytes to text, where UTF-8 is not all."""

    def load(self) -> _Read:
        """The function that reads."""
        found: _Read = import_module(f"advisor.readers.{self.module}").read
        return found

    def load_comments(self) -> _Comments:
        """The function that finds comments."""
        module = import_module(f"advisor.readers.{self.comments_module}")
        found: _Comments = module.comments
        return found


READERS: Final = (
    Reader(
        "yaml_proposals",
        "yaml_comments",
        (".yaml", ".yml", ".json"),
        tuple(
            f".{word}.{suffix}"
            for word in ("proposal", "rooflint")
            for suffix in ("yaml", "yml", "json")
        ),
        CONFIGURATION_MARKS,
    ),
    Reader(
        "python.reader",
        "python.comments",
        (".py",),
        (".rooflint.py",),
        sieve="python.marks",
        decoder="python.syntax",
    ),
    Reader(
        "markdown",
        "markdown",
        (".md", ".markdown", ".mdx", ".rst", ".txt"),
        (".md", ".markdown", ".mdx"),
    ),
)


def _reader_for(path: str) -> Reader | None:
    name = path.lower()
    return next((reader for reader in READERS if name.endswith(reader.suffixes)), None)


def is_ours_by_name(path: str, module: str = "") -> bool:
    """Whether the name alone says that a file holds proposals, of the format of `module` if named.

    A block in YAML of a document is not a proposal because the document is ours.
    """
    reader = _reader_for(path)
    if reader is None or (module and reader.module != module):
        return False
    return path.lower().endswith(reader.own_suffixes)


def may_hold_proposals(path: str, data: bytes) -> bool:
    """Whether a file found in a folder is worth decoding: by its name, or it says a mark."""
    if is_ours_by_name(path):
        return True
    plain = data.replace(b"\0", b"") if b"\0" in data else data  # also in UTF-16
    reader = _reader_for(path)
    marks = reader.marks if reader is not None else None
    if MARK in plain or (marks is not None and marks.search(plain) is not None):
        return True
    if reader is None or not reader.sieve:
        return False
    worth_reading = import_module(f"advisor.readers.{reader.sieve}").worth_reading
    return bool(worth_reading(plain))


def decode_text(path: str, data: bytes) -> str:
    """A file's text by the way its format declares an encoding.

    Raises:
        DecodingError: where the bytes are not text in it.

    """
    reader = _reader_for(path)
    if reader is None or not reader.decoder:
        return decode(data)
    decoded: str = import_module(f"advisor.readers.{reader.decoder}").decode_text(data)
    return decoded


def read(source: Source, *, named: bool = True) -> Reading:
    """Read a file's text into proposals, and findings about what could not be read.

    `named` says that the user named this very file: one that holds no proposal is then told
    about; a file that was only found in a folder is left alone in silence.
    """
    reader = _reader_for(source.path) or _reader_by_content(source)
    if reader is not None:
        return reader.load()(source, named=named)
    if not named:
        return Reading(source)
    known = " ".join(suffix for reader in READERS for suffix in reader.suffixes)
    finding = file_problem(
        "E914",
        source.path,
        "files of this kind are not read, and this one does not say rooflint",
        instead=f"name files that end in {known}",
    )
    return Reading(source, (), (finding,))


def comments_of(source: Source) -> tuple[Comment, ...]:
    """The comments of a text that hold "rooflint:"."""
    reader = _reader_for(source.path) or _reader_by_content(source)
    return reader.load_comments()(source) if reader is not None else ()


def _reader_by_content(source: Source) -> Reader | None:
    """The reader for standard input, and for a file whose name says nothing."""
    is_ours = source.path == "-" or MARK.decode() in source.text
    return READERS[0] if is_ours else None
