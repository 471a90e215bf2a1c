"""The end of a process: what it is told, what is closed, and the code it leaves."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Iterator

import pytest
import typer

from advisor import process
from advisor.outcome import Outcome


class _EndedError(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Codes that the process ended with; what is set for its end is set back."""
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise _EndedError

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    before = gc.get_threshold()
    yield codes
    gc.set_threshold(*before)
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)


def test_the_arguments_go_in_and_the_code_comes_out(
    ended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def run(arguments: list[str]) -> int:
        seen.append(arguments)
        return 3

    monkeypatch.setattr(sys, "argv", ["rooflint", "check", "a.yaml"])
    with pytest.raises(_EndedError):
        process.end_with(run)
    assert (seen, ended) == ([["check", "a.yaml"]], [3])


def test_nothing_stands_in_for_a_closed_stream(
    ended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    read: list[str] = []

    def run(_arguments: list[str]) -> int:
        read.append(sys.stdin.read())
        sys.stdout.write("nobody sees this")
        return 0

    with pytest.raises(_EndedError):
        process.end_with(run)
    assert (read, ended) == ([""], [0])
    for name in ("stdin", "stdout", "stderr"):
        getattr(sys, name).close()


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 2,
         "rooflint: the output cannot be written: no space left on device\n"),
        (OSError(errno.EIO, "Input/output error"), 2, "rooflint: internal error: OSError: "),
        (KeyboardInterrupt(), 130, ""),
        (ValueError("odd"), 2, "rooflint: internal error: ValueError: odd\n"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_a_command(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer(callback=lambda: None)  # so that one command alone keeps its name

    @app.command()
    def one() -> Outcome:
        raise error

    @app.command()
    def other() -> Outcome:
        return Outcome("said\n", 1, "noted\n")

    assert process.run(app, ["one"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(told)
    assert process.run(app, ["other"]) == 1
    assert capsys.readouterr() == ("said\n", "noted\n")
