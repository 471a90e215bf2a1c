"""A Code Quality report of GitLab: a JSON list that merge requests show beside the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from advisor.baseline import Entry, entries_of
from advisor.checking import Checked
from advisor.finding import Finding, Severity
from advisor.reports.formats import PageSetup

_SEVERITIES: Final[Mapping[Severity, str]] = MappingProxyType(
    {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}
)


def report(checked: Checked, page: PageSetup) -> str:
    """Every finding; an empty list where there is none."""
    entries = entries_of(checked.findings, checked.sources, page.root)
    rows = [
        _row(finding, entry, page) for finding, entry in zip(checked.findings, entries, strict=True)
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def _row(finding: Finding, entry: Entry, page: PageSetup) -> dict[str, Any]:
    return {
        "description": f"{finding.rule}: {finding.message}",
        "check_name": finding.rule,
        "fingerprint": hashlib.sha256(repr(entry.key).encode("utf-8", "replace")).hexdigest(),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": page.path(finding.path),
            "lines": {"begin": finding.start.line, "end": finding.end.line},
        },
    }
