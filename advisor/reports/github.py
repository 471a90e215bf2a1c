"""Annotations of GitHub Actions, after the text that people read in the log.

The text holds words of files, which could look like commands to the runner; so commands are
stopped while it is printed, with a token that nothing in it can know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from advisor.checking import Checked
from advisor.finding import Finding, Severity
from advisor.reports import text
from advisor.reports.formats import PageSetup
from advisor.reports.style import clean

_LEVELS: Final[Mapping[Severity, str]] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
)


def report(checked: Checked, page: PageSetup) -> str:
    """The text of the findings, then an annotation for each."""
    told = text.report(checked, page)
    if not told:
        return ""
    token = "rooflint-" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]
    lines = [f"::stop-commands::{token}", told.rstrip("\n"), f"::{token}::"]
    return "\n".join([*lines, *_annotations(checked, page)]) + "\n"


def _annotations(checked: Checked, page: PageSetup) -> Iterator[str]:
    for finding in checked.findings:
        parts = ",".join(
            f"{name}={_property(value)}" for name, value in _place(finding, page).items()
        )
        yield f"::{_LEVELS[finding.severity]} {parts}::{_data(_words(finding))}"


def _place(finding: Finding, page: PageSetup) -> dict[str, str]:
    start, end = finding.start, finding.end
    place = {"file": page.path(finding.path), "line": str(start.line), "endLine": str(end.line)}
    if start.line == end.line:  # the runner takes columns of one line only
        place |= {"col": str(start.column), "endColumn": str(end.column)}
    return place | {"title": f"{finding.rule} {finding.name}"}


def _words(finding: Finding) -> str:
    parts = [finding.message]
    parts += [f"why: {finding.why}"] if finding.why else []
    parts += [f"instead: {finding.instead}"] if finding.instead else []
    return "\n".join(map(clean, parts))


def _data(text_: str) -> str:
    """Text as a command carries it."""
    return text_.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text_: str) -> str:
    """A value between the commas of a command."""
    return _data(text_).replace(":", "%3A").replace(",", "%2C")
