"""The terminal and the files that a command writes to."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.outcome import CommandError

if TYPE_CHECKING:
    from advisor.reports.style import Colour, Style


def style_of(colour: Colour, *, to_file: bool = False) -> Style:
    """Width and colours of standard output, or of a file that is written instead."""
    from advisor.reports.style import (  # noqa: PLC0415 - help and version show nothing in style
        DEFAULT_WIDTH,
        MAX_WIDTH,
        MIN_WIDTH,
        Style,
        wants_colour,
    )

    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    terminal = sys.stdout.isatty() and not to_file
    return Style(
        colour=wants_colour(colour, os.environ, terminal=terminal),
        width=min(max(width, MIN_WIDTH), MAX_WIDTH),
    )


def write_file(path: str | Path, text: str) -> None:
    """Write a file that the user names.

    Raises:
        CommandError: where it cannot be written.

    """
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise CommandError(f"{path}: cannot be written: {why}") from None
