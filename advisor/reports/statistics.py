"""How often each rule finds something: `check --statistics`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from advisor.checking import Checked
from advisor.finding import Finding
from advisor.reports.columns import table
from advisor.reports.formats import PageSetup
from advisor.reports.text import summary


class Row(NamedTuple):
    """A rule and what a run found of it."""

    rule: str
    name: str
    findings: int
    files: int
    suppressed: int
    baselined: int


def rows(checked: Checked) -> tuple[Row, ...]:
    """Every rule that found something, the most frequent first."""
    unchanged = () if checked.baseline is None else checked.baseline.unchanged
    hidden = [finding for finding, _ in checked.suppressed]
    told, aside, known = map(_counts, (checked.findings, hidden, unchanged))
    names = {one.rule: one.name for one in (*checked.findings, *hidden, *unchanged)}
    files = _counts({(one.rule, one.path): one for one in checked.findings}.values())
    found = [
        Row(code, name, told[code], files[code], aside[code], known[code])
        for code, name in names.items()
    ]
    return tuple(sorted(found, key=lambda row: (-row.findings, row.rule)))


def _counts(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.rule for finding in findings)


def report(checked: Checked, page: PageSetup) -> str:
    """A table for people."""
    found = rows(checked)
    heading = ("findings", "files", "suppressed", "baselined", "rule", "name")
    cells = [
        (*(f"{count:,}" if count else "-" for count in row[2:]), row.rule, row.name)
        for row in found
    ]
    lines = table(heading, cells, page.style, right="rrrr") if found else []
    if not page.quiet and (found or page.terminal):
        lines += ["", summary(checked)] if found else [summary(checked)]
    return "".join(f"{line}\n" for line in lines)


def report_json(checked: Checked) -> str:
    """The same for programs."""
    whole = {"version": 1, "statistics": [row._asdict() for row in rows(checked)]}
    return json.dumps(whole, indent=2) + "\n"
