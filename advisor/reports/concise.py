"""Findings on a line each, as editors and scripts pick them up."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.checking import Checked
from advisor.finding import Finding
from advisor.reports.formats import PageSetup
from advisor.reports.style import Style, clean
from advisor.reports.text import written


def report(checked: Checked, page: PageSetup) -> str:
    """Every finding on a line, and what they come to."""
    return written(lines(checked.findings, page.style), checked, page)


def lines(findings: Iterable[Finding], style: Style) -> Iterable[str]:
    """`path:line:column: severity CODE message` of each finding."""
    for finding in findings:
        severity = style.severity(f"{finding.severity.label} {finding.rule}", finding.severity)
        start = finding.start
        place = f"{clean(finding.path)}:{start.line}:{start.column}"
        yield f"{place}: {severity} {clean(finding.message)}"
