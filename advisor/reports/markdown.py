"""Findings as a review to paste: the words, why they are wrong, the number, what to write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from advisor.checking import Checked
from advisor.finding import Finding
from advisor.reports.formats import PageSetup
from advisor.reports.style import clean
from advisor.reports.text import summary
from advisor.source import Source, Span

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_SPACES = re.compile(r"\s+")
_LONGEST = 300


def report(checked: Checked, page: PageSetup) -> str:
    """Every finding with the words it is about, by file."""
    lines = list(_review(checked.findings, checked.sources, page))
    if not lines and not page.terminal:
        return ""
    last = () if page.quiet else (summary(checked),)
    return "\n\n".join((*lines, *last)) + "\n"


def _review(
    findings: Iterable[Finding], sources: Mapping[str, Source], page: PageSetup
) -> Iterable[str]:
    path = ""
    for finding in findings:
        if finding.path != path:
            path = finding.path
            yield f"## {_plain(page.path(path))}"
        yield _one(finding, sources.get(path))


def _one(finding: Finding, source: Source | None) -> str:
    """One finding: a quotation, then the points."""
    start = finding.start
    lines = [f"**Line {start.line}: {finding.rule}** {finding.name} ({finding.severity.label})", ""]
    if source is not None and source.text:
        quote = source.slice(Span(start.offset, finding.end.offset))
        quote = _SPACES.sub(" ", quote).strip()
        quote = quote if len(quote) <= _LONGEST else quote[: _LONGEST - 3] + "..."
        lines += [f"> {_plain(quote)}", ""]
    points = [("Number", finding.message), ("Why", finding.why), ("Instead", finding.instead)]
    points += [(label.capitalize(), text) for label, text in finding.facts]
    points += [(note.rule or "Note", note.message) for note in finding.notes]
    lines += [f"- {label}: {_plain(text)}" for label, text in points if text]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return _SPECIAL.sub(r"\\\1", clean(text))
