"""Bad input: the E9xx codes, what each means, and how such a finding is made.

A file that cannot be read, and a value in it that cannot be understood, is a finding like any
other: it says what is wrong, where, and what would be right, and hides no other finding.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from advisor.finding import Confidence, Finding, Note, Severity
from advisor.source import Position, Source, Span


class Problem(NamedTuple):
    """One kind of bad input."""

    code: str
    name: str
    about: str
    severity: Severity = Severity.ERROR

    def at(
        self,
        source: Source,
        span: Span,
        message: str,
        *,
        instead: str = "",
        notes: Iterable[Note] = (),
    ) -> Finding:
        """A finding of this kind at a place in a file."""
        return Finding(
            rule=self.code,
            name=self.name,
            severity=self.severity,
            confidence=Confidence.HIGH,
            path=source.path,
            start=source.position(span.start),
            end=source.position(span.end),
            message=message,
            instead=instead,
            notes=tuple(notes),
        )


PROBLEMS: Mapping[str, Problem] = MappingProxyType(
    {
        problem.code: problem
        for problem in (
            Problem("E901", "unreadable-file", "a path that is no file, or that may not be read"),
            Problem("E902", "syntax-error", "text that is not well-formed YAML"),
            Problem("E903", "unknown-key", "a key that the proposal dialect does not have"),
            Problem("E904", "wrong-type", "a list, mapping, text or number in another's place"),
            Problem("E905", "unreadable-quantity", "an amount that cannot be read in its place"),
            Problem("E906", "unknown-name", "a name nobody knows, or none of the choices"),
            Problem("E907", "not-text", "bytes that are not UTF-8, nor UTF-16 with its mark"),
            Problem("E908", "too-large", "a file too large, too deep or with too many values"),
            Problem("E909", "unsupported-model", "a model whose structure is not counted"),
            Problem("E910", "duplicate-key", "a key given twice; the first one holds"),
            Problem("E911", "missing-field", "something needed that nobody gave"),
            Problem("E912", "unknown-tag", "a YAML tag; tags are never acted on"),
            Problem("E913", "unsupported-version", "a proposal for another version of the dialect"),
            Problem("E914", "not-a-proposal", "a named file that holds no proposal", Severity.INFO),
            Problem("E990", "rule-failed", "a rule that is not of rooflint and that fails"),
            Problem("E991", "internal-error", "a file on which rooflint itself fails"),
        )
    }
)
"""By code; codes are never reused."""

NOT_A_PROPOSAL = "E914"

MAX_PROBLEMS = 100
"""More than these in one file are not listed: it is not a proposal, or an attack."""

_SHOWN = 60
_HOME = f"{Path(__file__).parent.parent}{os.sep}"
"""Where the packages of rooflint are installed."""


def problem(
    code: str,
    source: Source,
    span: Span,
    message: str,
    *,
    instead: str = "",
    notes: Iterable[Note] = (),
) -> Finding:
    """A finding of `PROBLEMS[code]` at a place in a file."""
    return PROBLEMS[code].at(source, span, message, instead=instead, notes=notes)


def file_problem(
    code: str, path: str, message: str, *, line: int = 1, instead: str = ""
) -> Finding:
    """A finding about a file whose text is not known: it stands at the start of a line."""
    kind = PROBLEMS[code]
    place = Position(line, 1, 0)
    return Finding(
        rule=kind.code,
        name=kind.name,
        severity=kind.severity,
        confidence=Confidence.HIGH,
        path=path,
        start=place,
        end=place,
        message=message,
        instead=instead,
    )


def internal_error(source: Source, error: Exception) -> Finding:
    """A mistake of rooflint's own, told of the file that brought it out: the others are judged."""
    words = " ".join(str(error).split())[:_SHOWN]
    return file_problem(
        "E991",
        source.path,
        f"rooflint itself fails on this file: {type(error).__name__}: {words}{place_of(error)}",
        instead="please report it with the file; all other files are judged",
    )


def place_of(error: BaseException, within: str = "") -> str:
    """File and line that raised an error, in parentheses; those of the file `within` not counted.

    Of rooflint's own files the path begins with the package, wherever it is installed.
    """
    from traceback import extract_tb  # noqa: PLC0415 - only a failure pays for it

    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename != within]
    if not frames:
        return ""
    return f" ({frames[-1].filename.removeprefix(_HOME)}:{frames[-1].lineno})"


@dataclass(slots=True)
class Problems:
    """The problems found so far in one file: each once, and no more than anyone would read."""

    source: Source
    found: list[Finding] = field(default_factory=list)

    def add(
        self,
        code: str,
        span: Span,
        message: str,
        *,
        instead: str = "",
        notes: Iterable[Note] = (),
    ) -> None:
        """Add a finding of `PROBLEMS[code]`."""
        if self.full:
            return
        if len(self.found) == MAX_PROBLEMS - 1:
            code, message = "E908", f"more than {MAX_PROBLEMS - 1} problems; the rest is not listed"
            instead, notes = "", ()
        finding = problem(code, self.source, span, message, instead=instead, notes=notes)
        if finding not in self.found:  # a value used through aliases is read several times
            self.found.append(finding)

    @property
    def full(self) -> bool:
        """Whether more would not be listed."""
        return len(self.found) >= MAX_PROBLEMS


def shown(text: str) -> str:
    """Words of the user's as a message quotes them: short, on one line, control codes escaped."""
    quoted = repr(text)
    return quoted if len(quoted) <= _SHOWN else quoted[: _SHOWN - 4] + "...'"


def nearest(word: str, known: Iterable[str], meant: Mapping[str, str] | None = None) -> str:
    """The known name that a word most likely stands for, or "".

    `meant` holds words that look like none of the known names and still mean one of them.
    """
    folded = word.strip().lower().replace("-", "_").replace(" ", "_")
    names = tuple(known)
    if folded in names:
        return folded
    if meant is not None and folded in meant:
        return meant[folded]
    if not folded or len(folded) > _SHOWN:
        return ""  # difflib takes quadratic time, and nothing this long is a misspelt name
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong name pays for it

    close = get_close_matches(folded, names, 1, 0.6)
    return close[0] if close else ""
