"""Pages for reading on a terminal: the Markdown of docstrings as plain text, headings in bold."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from advisor.reports.style import Style

_READABLE = 92
"""Columns that a paragraph is set in at most."""
_BULLET = re.compile(r"(\s*)([-*]|\d+\.) +")


def page_text(title: str, markdown: str, style: Style) -> str:
    """A page under its title, wrapped to the width of the terminal."""
    lines = [style.paint(title, "heading"), "", *_body(markdown.strip("\n"), style)]
    return "\n".join(lines).rstrip() + "\n"


def _body(markdown: str, style: Style) -> Iterator[str]:
    width = min(style.width, _READABLE)
    fenced = False
    paragraph: list[str] = []
    for line in [*markdown.split("\n"), ""]:
        if line.startswith("```"):
            fenced = not fenced
            continue
        plain = not fenced and line.strip() and not line.startswith(("#", "    "))
        if plain and not (paragraph and _BULLET.match(line)):
            paragraph.append(line)
            continue
        yield from _wrapped(paragraph, width)
        paragraph = [line] if plain else []
        if plain:
            continue
        if line.startswith("#") and not fenced:
            yield style.paint(line.lstrip("# "), "heading")
        else:
            yield f"    {line}" if fenced and line else line.rstrip()


def _wrapped(paragraph: list[str], width: int) -> list[str]:
    """Lines of one paragraph or bullet, joined and set anew."""
    if not paragraph:
        return []
    bullet = _BULLET.match(paragraph[0])
    indent = " " * bullet.end() if bullet else ""
    head = bullet[0] if bullet else ""
    words = " ".join(line.strip() for line in paragraph)[len(head.strip()) if bullet else 0 :]
    return textwrap.wrap(
        words.strip(),
        width,
        initial_indent=head,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
