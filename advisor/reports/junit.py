"""Findings as a JUnit report: a suite for each file, a failed case for each finding."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from xml.etree import ElementTree as ET

from advisor.checking import Checked
from advisor.reports.formats import PageSetup
from advisor.reports.style import Style, clean
from advisor.reports.text import frame

_WIDTH = 100


def report(checked: Checked, page: PageSetup) -> str:
    """Every finding; where there is none, one case that passed."""
    root = ET.Element("testsuites", name="rooflint")
    for path, group in groupby(checked.findings, attrgetter("path")):
        findings = list(group)
        count = str(len(findings))
        suite = ET.SubElement(
            root, "testsuite", name=_legal(page.path(path)), tests=count, failures=count, errors="0"
        )
        for finding in findings:
            name = f"{finding.rule} {finding.name} at {finding.start.line}:{finding.start.column}"
            case = ET.SubElement(
                suite, "testcase", classname=_legal(page.path(path)), name=_legal(name)
            )
            failure = ET.SubElement(
                case, "failure", type=finding.severity.label, message=_legal(finding.message)
            )
            lines = frame(
                finding,
                checked.sources.get(path),
                Style(width=_WIDTH),
                origin=checked.origin_of(finding.rule),
            )
            failure.text = "\n".join(map(_legal, lines))
    if not checked.findings:
        suite = ET.SubElement(
            root, "testsuite", name="rooflint", tests="1", failures="0", errors="0"
        )
        ET.SubElement(suite, "testcase", classname="rooflint", name="no findings")
    ET.indent(root)
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _legal(text: str) -> str:
    """Text without the characters that XML has no place for."""
    return clean(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
