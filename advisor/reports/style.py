"""How text looks on a terminal: colours, the width of characters, what is never printed raw."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from advisor.finding import Severity

Colour = Literal["auto", "always", "never"]

TAB_COLUMNS: Final = 4
MIN_WIDTH, DEFAULT_WIDTH, MAX_WIDTH = 60, 120, 140

_CODES: Mapping[str, str] = MappingProxyType(
    {
        "error": "\x1b[1;31m",
        "warning": "\x1b[1;33m",
        "info": "\x1b[1;36m",
        "heading": "\x1b[1m",
        "gutter": "\x1b[1;34m",
        "quiet": "\x1b[2m",
        "good": "\x1b[32m",
    }
)
_RESET: Final = "\x1b[0m"
_SEVERITIES: Mapping[Severity, str] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
)
# Marks that turn the direction of text around can make a line read as something it is not.
_BIDIRECTIONAL: Final = frozenset(
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


class Style(NamedTuple):
    """Width of the page, and whether to colour it."""

    colour: bool = False
    width: int = DEFAULT_WIDTH

    def paint(self, text: str, name: str) -> str:
        """The text in a colour by name; as it is where colours are off."""
        if not self.colour or not text:
            return text
        return f"{_CODES[name]}{text}{_RESET}"

    def severity(self, text: str, severity: Severity) -> str:
        """The text in the colour of a severity."""
        return self.paint(text, _SEVERITIES[severity])


def wants_colour(choice: Colour, environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to colour: the flag, else NO_COLOR, FORCE_COLOR, TERM=dumb, else a terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return terminal and environment.get("TERM") != "dumb"


def printable(character: str) -> str:
    """A character as it may go to a terminal: control characters as visible signs."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0 or character in _BIDIRECTIONAL or 0xD800 <= code < 0xE000:
        return "\ufffd"
    return character


def clean(text: str) -> str:
    """Text on one line and without control characters: nothing of a file steers the terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(printable(character) for character in " ".join(text.split("\n")))


def width_of(character: str) -> int:
    """Columns that a character takes on a terminal: 0, 1 or 2."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def columns(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(width_of, text))


def wrap(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` columns; at least one line."""
    found = textwrap.wrap(
        clean(text), max(width, 20), break_long_words=True, break_on_hyphens=False
    )
    return found or [""]
