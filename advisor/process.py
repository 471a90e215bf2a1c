"""One run of the command line as a process: what is written where, and the exit code.

A command returns its outcome; only here is it written, and only here is decided on what goes
wrong: exit 0 when nothing is at or above the level of failing, 1 for findings, 2 for usage,
settings or an internal error.
"""

import errno
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import typer
from typer.models import CommandInfo

from advisor.commands.options import Command, without_groups
from advisor.outcome import CommandError, Outcome

_USAGE_ERROR: Final = cast("type[Exception]", typer.BadParameter.__bases__[0])
"""What typer raises for wrong usage; it exports only some of its kinds."""

_OF_THE_OUTPUT: Final = frozenset({errno.EPIPE, errno.ENOSPC})
"""Errors of what the output goes to, while help is shown: no mistakes of a command."""

_COLLECT_AFTER: Final = 200_000
"""Objects that cycles are looked for after."""


def collect_seldom() -> None:
    """Look for cycles seldom: a run makes few and ends soon, and looking for them takes time."""
    gc.set_threshold(_COLLECT_AFTER)


def end_with(run: Callable[[list[str]], int]) -> NoReturn:
    """Run the command line of this process and end it with the exit code."""
    collect_seldom()
    # Plugins of other projects have no business in a linter, and looking for them takes time.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _stand_in_for_closed_streams()
    code = run(sys.argv[1:])
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Everything is written; taking the interpreter apart, object by object, would take time.
    os._exit(code)


def _stand_in_for_closed_streams() -> None:
    """Where a stream of the process is closed, nothing is read from it and nothing is shown."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nothing)


def run(app: typer.Typer, arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        outcome = _outcome(app, arguments)
        _write(outcome)
    except BrokenPipeError:
        # Whoever read the output has seen enough; the interpreter must not flush to them again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        with suppress(OSError):
            why = (error.strerror or str(error)).lower()
            sys.stderr.write(f"rooflint: the output cannot be written: {why}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return outcome.code


def _outcome(app: typer.Typer, arguments: list[str]) -> Outcome:
    """Parse and run; every error is an outcome."""
    try:
        command = _asked_of(app, arguments)
        outcome = command(args=arguments, prog_name="rooflint", standalone_mode=False)
    except _USAGE_ERROR as error:
        return Outcome("", 2, _usage(error))
    except CommandError as error:
        return Outcome("", 2, f"rooflint: {error}\n")
    except Exception as error:
        if "--debug" in arguments or getattr(error, "errno", None) in _OF_THE_OUTPUT:
            raise
        return Outcome("", 2, _internal(error))
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome("", outcome or 0)  # typer's own: help, completion, Ctrl-C


def _asked_of(app: typer.Typer, arguments: list[str]) -> typer.Typer:
    """The application with the command that is asked for alone: to build them all takes time."""
    name = next((word for word in arguments if not word.startswith("-")), "")
    commands = [one for one in app.registered_commands if _name_of(one.callback) == name]
    asked = copy(app)
    asked.registered_commands = [_ungrouped(one) for one in commands or app.registered_commands]
    return asked


def _ungrouped(command: CommandInfo) -> CommandInfo:
    ready = copy(command)
    ready.callback = without_groups(cast("Command", command.callback))
    return ready


def _name_of(command: object) -> str:
    return getattr(command, "__name__", "")


def _usage(error: Any) -> str:
    """What is wrong with the arguments, as typer says it, in the form of every other error."""
    words = error.format_message()
    if words.startswith("Usage:"):
        return f"{words}\n"  # nothing is asked for: the help itself
    words = " ".join(words.replace("Value error, ", "").split())
    command = "rooflint" if error.ctx is None else error.ctx.command_path
    return f"rooflint: {words[:1].lower()}{words[1:]}\nTry '{command} --help' for help.\n"


def _internal(error: Exception) -> str:
    words = " ".join(str(error).split())[:200]
    return (
        f"rooflint: internal error: {type(error).__name__}: {words}\n"
        "This is a mistake of rooflint, not of its input. Please report it with the command and "
        "the file; rooflint --debug COMMAND shows where it happened.\n"
    )


def _write(outcome: Outcome) -> None:
    for stream, text in ((sys.stdout, outcome.text), (sys.stderr, outcome.error)):
        if text:
            # A terminal that cannot show a character gets its code, never an exception.
            cast("Any", stream).reconfigure(errors="backslashreplace")
            stream.write(text)
            stream.flush()
