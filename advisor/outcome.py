"""What a command comes to."""

from __future__ import annotations

from typing import NamedTuple


class Outcome(NamedTuple):
    """What a command has to say, and its exit code."""

    text: str
    code: int = 0
    error: str = ""


class CommandError(Exception):
    """A command that cannot do what is asked: the message is shown, the exit code is 2."""
