"""SARIF 2.1.0, with what code scanning takes: rules with help, places, fingerprints, states.

Findings that a comment hides are told with the comment's reason, and those that a baseline
accepts as unchanged: whoever reads the log decides on what to show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from advisor.baseline import Entry, entries_of
from advisor.checking import Checked
from advisor.finding import Confidence, Finding, Note, Severity
from advisor.problems import PROBLEMS
from advisor.reports.formats import PageSetup
from advisor.reports.machine import finite
from advisor.reports.style import clean
from advisor.rulebook import LoadedRule, find_rule
from advisor.source import Position, Source
from advisor.suppress import SUPPRESSION_PROBLEMS

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final[Mapping[Severity, str]] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
)

Json = dict[str, Any]


class _State(NamedTuple):
    """What is known of a finding beside what it says."""

    baseline: str | None = None
    hidden_because: str | None = None
    """Reason of the comment that hides it."""


def report(checked: Checked, page: PageSetup) -> str:
    """The log of one run."""
    states = list(_with_states(checked))
    findings = [finding for finding, _ in states]
    codes = sorted({finding.rule for finding in findings})
    entries = entries_of(findings, checked.sources, page.root)
    own = {loaded.rule.code: loaded for loaded in checked.rules}
    run = {
        "tool": {
            "driver": {
                "name": "rooflint",
                "version": version("rooflint"),
                "semanticVersion": version("rooflint"),
                "rules": [_rule(code, own.get(code)) for code in codes],
            }
        },
        "automationDetails": {"id": "rooflint/"},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            _ROOT: {"description": {"text": "The root of the repository, or where the run began."}}
        },
        "results": [
            _result(
                finding, state, entry, codes.index(finding.rule),
                checked.sources.get(finding.path), page,
            )
            for (finding, state), entry in zip(states, entries, strict=True)
        ],
    }  # fmt: skip
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _with_states(checked: Checked) -> Iterator[tuple[Finding, _State]]:
    new = None if checked.baseline is None else "new"
    unchanged = () if checked.baseline is None else checked.baseline.unchanged
    yield from ((finding, _State(new)) for finding in checked.findings)
    yield from ((finding, _State("unchanged")) for finding in unchanged)
    yield from ((finding, _State(new, reason)) for finding, reason in checked.suppressed)


def _result(
    finding: Finding, state: _State, entry: Entry, index: int, source: Source | None,
    page: PageSetup,
) -> Json:  # fmt: skip
    related = [note for note in finding.notes if note.span is not None and source is not None]
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _place(finding, source, page)}],
        # Code scanning follows an alert by the first; it fills it in only where its own action
        # uploads the file.
        "partialFingerprints": {
            "primaryLocationLineHash": f"{entry.hash}:{entry.occurrence + 1}",
            "rooflint/v1": f"{finding.rule}:{entry.hash}:{entry.occurrence}",
        },
        "properties": _properties(finding),
    }
    if related and source is not None:
        result["relatedLocations"] = [
            _related(number, note, source, finding, page) for number, note in enumerate(related, 1)
        ]
    if state.baseline is not None:
        result["baselineState"] = state.baseline
    if state.hidden_because is not None:
        result["suppressions"] = [
            {"kind": "inSource", "status": "accepted", "justification": state.hidden_because}
        ]
    return result


def _message(finding: Finding) -> str:
    """The message, then why and what instead: code scanning shows nothing else of a result."""
    lines = [finding.message]
    lines += [f"Why: {finding.why}"] if finding.why else []
    lines += [f"Instead: {finding.instead}"] if finding.instead else []
    lines += [f"Note: {note.message}" for note in finding.notes if note.span is None]
    return "\n".join(map(clean, lines))


def _properties(finding: Finding) -> Json:
    found: Json = {"confidence": finding.confidence.label}
    found |= {"class": finding.error_class.value} if finding.error_class is not None else {}
    found |= {"lever": finding.lever} if finding.lever is not None else {}
    if finding.numbers:
        found["numbers"] = {name: finite(value) for name, value in finding.numbers.items()}
    return found


def _place(finding: Finding, source: Source | None, page: PageSetup) -> Json:
    place: Json = {"artifactLocation": _file(page.path(finding.path))}
    if source is None:
        place["region"] = {"startLine": finding.start.line}
        return place
    words = source.text[finding.start.offset : finding.end.offset]
    place["region"] = _region(finding.start, finding.end) | {"snippet": {"text": words}}
    return place


def _related(number: int, note: Note, source: Source, finding: Finding, page: PageSetup) -> Json:
    assert note.span is not None
    start, end = source.position(note.span.start), source.position(note.span.end)
    return {
        "id": number,
        "message": {"text": clean(note.message)},
        "physicalLocation": {
            "artifactLocation": _file(page.path(finding.path)),
            "region": _region(start, end),
        },
    }


def _file(path: str) -> Json:
    if path.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    return {"uri": quote(path), "uriBaseId": _ROOT}


def _region(start: Position, end: Position) -> Json:
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }


def _rule(code: str, own: LoadedRule | None) -> Json:
    """A rule with its page, or a kind of bad input with the line that it has."""
    loaded = own or find_rule(code)
    if loaded is None:
        kind = PROBLEMS.get(code) or SUPPRESSION_PROBLEMS[code]
        about = f"{kind.about[:1].upper()}{kind.about[1:]}."
        return _descriptor(code, kind.name, about, about, kind.severity, Confidence.HIGH, ())
    rule = loaded.rule
    tags = () if rule.error_class is None else (rule.error_class.value,)
    page = loaded.page.strip("\n")
    return _descriptor(
        code, rule.name, _first_paragraph(page), page, rule.severity, rule.confidence, tags
    )


def _descriptor(
    code: str, name: str, full: str, page: str, severity: Severity, confidence: Confidence,
    tags: Iterable[str],
) -> Json:  # fmt: skip
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": name.replace("-", " ")},
        "fullDescription": {"text": full},
        "help": {"text": _plain(page), "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {
            "tags": ["llm-inference", code.rstrip("0123456789"), *tags],
            "precision": confidence.label,
            "problem.severity": "recommendation" if severity is Severity.INFO else severity.label,
        },
    }


def _first_paragraph(page: str) -> str:
    body = re.sub(r"\A\s*#+[^\n]*\n+", "", page)
    return " ".join(body.split("\n\n", 1)[0].split())


def _plain(page: str) -> str:
    """A page without the marks of its headings."""
    return re.sub(r"^#+ +", "", page, flags=re.MULTILINE)
