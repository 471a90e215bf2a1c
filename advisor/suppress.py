"""Suppressions: `# rooflint: ignore[FLP002] reason` hides a finding, and says why it may.

A comment at the end of a line covers that line; on a line of its own it covers what begins on
the next line that holds something, a whole lever where it stands above `- kind: ...`.
`ignore-file[...]` covers the file. The brackets end the codes, so words of the reason are never
read as codes. A suppression without code or reason, with an unknown code, or that hides nothing
is a finding itself; findings about unreadable input cannot be hidden, nor those of rules that the
settings forbid to suppress.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from advisor.finding import Finding, Severity
from advisor.problems import PROBLEMS, Problem, nearest, shown
from advisor.readers import comments_of
from advisor.source import Source, Span

SUPPRESSION_PROBLEMS: Final[Mapping[str, Problem]] = MappingProxyType(
    {
        item.code: item
        for item in (
            Problem("SUP001", "suppression-without-code", "a suppression that names no rule",
                    Severity.WARNING),
            Problem("SUP002", "suppression-without-reason", "a suppression that gives no reason",
                    Severity.WARNING),
            Problem("SUP003", "suppression-of-unknown-code", "a suppression of no known rule",
                    Severity.WARNING),
            Problem("SUP004", "unused-suppression", "a suppression that hides no finding",
                    Severity.WARNING),
            Problem("SUP005", "forbidden-suppression", "a suppression that the settings forbid",
                    Severity.WARNING),
        )
    }
)  # fmt: skip

_EXAMPLE: Final = "rooflint: ignore[FLP002] measured on our kernel"
_MAY_STAND: Final = re.compile(r"rooflint:\s*[A-Za-z]")
"""A text without one holds no directive; `rooflint: 1` of a proposal is none."""
_DIRECTIVE: Final = re.compile(
    r"rooflint:\s*(?P<word>[A-Za-z][A-Za-z_-]*)(?P<codes>\s*\[[^\]\n\r]*(?P<end>\])?)?"
    r"(?P<rest>.*)",
    re.DOTALL,
)
MAX_SUPPRESSIONS: Final = 1000
"""More of them in one file are not read."""

_WORDS: Final = ("ignore", "ignore_file")
# Rules never ran on a file that stopped at one of these, so nothing in it is unused.
_STOPS: Final = frozenset({"E901", "E902", "E907", "E908", "E913"})


class Suppression(NamedTuple):
    """One comment that hides findings."""

    source: Source
    span: Span
    """The comment's words."""
    codes: tuple[str, ...]
    reason: str
    scope: Span | None
    """What it covers; None for the whole file."""
    malformed: str = ""
    """What is wrong with the way it is written."""

    def covers(self, finding: Finding) -> bool:
        """Whether the finding, or a place it points to, begins inside the scope."""
        if finding.path != self.source.path:
            return False
        if self.scope is None:
            return True
        starts = (finding.start.offset, *(note.span.start for note in finding.notes if note.span))
        return any(self.scope.start <= start <= self.scope.end for start in starts)


class Suppressed(NamedTuple):
    """A finding that is hidden, and why it may be."""

    finding: Finding
    reason: str


class Applied(NamedTuple):
    """Findings after suppressions."""

    kept: tuple[Finding, ...]
    """Those that stay, and those about the suppressions themselves."""
    suppressed: tuple[Suppressed, ...]


def find_suppressions(source: Source) -> tuple[Suppression, ...]:
    """The suppressions of a text, in order."""
    if not _MAY_STAND.search(source.text):
        return ()
    found: list[Suppression] = []
    for words, scope in comments_of(source)[:MAX_SUPPRESSIONS]:
        start = words.start
        while start < words.end and source.text[start].isspace():
            start += 1
        match = _DIRECTIVE.match(source.text, start, words.end)
        suppression = _read(source, match, scope) if match is not None else None
        found += () if suppression is None else (suppression,)
    return tuple(found)


def _read(source: Source, match: re.Match[str], scope: Span) -> Suppression | None:
    """A directive as a suppression; None for one that is about something else."""
    word = match["word"].lower().replace("-", "_")
    brackets = match["codes"]
    span = Span(match.start(), match.end())
    if word not in _WORDS:
        near = nearest(word, _WORDS)
        if not near or (brackets is None and match["rest"].lstrip().startswith("=")):
            return None  # `rooflint: model=...` states a fact
        near = near.replace("_", "-")
        wrong = f"{shown(match['word'])} is no directive; did you mean {near}?"
        return Suppression(source, span, (), "", scope, wrong)
    whole = None if word == "ignore_file" else scope
    if brackets is None or match["end"] is None:
        what = "names no rule" if brackets is None else "has no closing bracket"
        return Suppression(source, span, (), "", whole, f"this suppression {what}")
    listed = brackets.strip()[1:-1].split(",")
    codes = tuple(dict.fromkeys(code.strip().upper() for code in listed if code.strip()))
    reason = match["rest"].strip().lstrip(":-–— ").strip()
    return Suppression(
        source, span, codes, reason, whole, "" if codes else "this suppression names no rule"
    )


def apply(
    findings: Iterable[Finding],
    suppressions: Iterable[Suppression],
    known_codes: Collection[str],
    ran: Collection[str] | None = None,
    forbidden: Collection[str] = (),
) -> Applied:
    """Take out what is suppressed, and add what is wrong with the suppressions.

    `known_codes` are the codes of all rules, `ran` those that were checked (all by default): a
    suppression of a rule that was not checked is not called unused. Those of `forbidden` codes
    hide nothing.
    """
    every = tuple(findings)
    asked = tuple(suppressions)
    used: set[tuple[int, str]] = set()
    kept: list[Finding] = []
    hidden: list[Suppressed] = []
    for finding in every:
        by = [
            index
            for index, suppression in enumerate(asked)
            if finding.rule in suppression.codes
            and finding.rule not in PROBLEMS
            and finding.rule not in forbidden
            and suppression.covers(finding)
        ]
        used.update((index, finding.rule) for index in by)
        if by:
            hidden.append(Suppressed(finding, asked[by[0]].reason))
        else:
            kept.append(finding)
    stopped = {finding.path for finding in every if finding.rule in _STOPS}
    checked = known_codes if ran is None else ran
    for index, suppression in enumerate(asked):
        unused = tuple(
            code
            for code in suppression.codes
            if code in checked
            and code not in forbidden
            and (index, code) not in used
            and suppression.source.path not in stopped
        )
        kept += _complaints(suppression, known_codes, unused, forbidden)
    return Applied(
        tuple(sorted(kept, key=lambda finding: finding.sort_key)),
        tuple(sorted(hidden, key=lambda one: one.finding.sort_key)),
    )


def _complaints(
    suppression: Suppression,
    known_codes: Collection[str],
    unused: tuple[str, ...],
    forbidden: Collection[str],
) -> list[Finding]:
    if suppression.malformed:
        return [_finding("SUP001", suppression, suppression.malformed, f"write {_EXAMPLE}")]
    found: list[Finding] = []
    if not suppression.reason:
        codes = ", ".join(suppression.codes)
        message = f"this suppression of {codes} gives no reason"
        found.append(
            _finding("SUP002", suppression, message, "say why after the bracket: " + _EXAMPLE)
        )
    for code in suppression.codes:
        if code in PROBLEMS:
            message = f"{code} is about input that cannot be read; it cannot be suppressed"
            found.append(_finding("SUP003", suppression, message, "mend the input"))
        elif code not in known_codes:
            near = nearest(code, (known.lower() for known in known_codes)).upper()
            hint = f"; did you mean {near}?" if near else ""
            message = f"no rule has the code {shown(code)}{hint}"
            found.append(_finding("SUP003", suppression, message, "rooflint explain lists them"))
        elif code in forbidden:
            message = (
                f"the settings forbid to suppress {code} (no-suppress); it is told all the same"
            )
            found.append(_finding("SUP005", suppression, message, "remove it, or mend the cause"))
    if unused:
        codes = ", ".join(unused)
        message = f"this suppression hides no finding of {codes}"
        found.append(_finding("SUP004", suppression, message, "remove it"))
    return found


def _finding(code: str, suppression: Suppression, message: str, instead: str) -> Finding:
    kind = SUPPRESSION_PROBLEMS[code]
    return kind.at(suppression.source, suppression.span, message, instead=instead)
