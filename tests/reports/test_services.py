"""What services take: SARIF (against its schema), annotations, Code Quality, JUnit; the counts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from advisor.baseline import Compared
from advisor.checking import Checked
from advisor.finding import Confidence, ErrorClass, Finding, Note, Severity
from advisor.problems import file_problem
from advisor.reports import formats, statistics
from advisor.reports.formats import FORMATS, PageSetup, repository_root, write
from advisor.source import Source, Span
from advisor.suppress import Suppressed

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "fixtures/sarif/sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
TEXT = "a: 🚀 prune, 100%\nclaim: 2x\n"
SOURCE = Source("docs/ä b.yaml", TEXT)


def found(
    words: str, rule: str = "FLP002", severity: Severity = Severity.WARNING, **more: Any
) -> Finding:
    start = TEXT.index(words)
    return Finding(
        rule, "pruning-dense-storage", severity, Confidence.HIGH, SOURCE.path,
        SOURCE.position(start), SOURCE.position(start + len(words)),
        more.pop("message", "all 70.6 GB are still read: 100%, always"), **more,
    )  # fmt: skip


PRUNE = found(
    "prune", why="zeros stream", instead="pack them", lever="prune.unstructured",
    error_class=ErrorClass.PRUNING_DENSE_STORAGE, numbers={"claimed": 2.0, "endless": math.inf},
    notes=(Note("claimed here", Span(25, 27)), Note("as CLM001 says", rule="CLM001")),
)  # fmt: skip
CLAIM = found("2x", rule="CLM001", severity=Severity.ERROR)
UNREAD = file_problem("E901", "gone.yaml", "no such file or directory")
CHECKED = Checked((PRUNE, CLAIM, UNREAD), (), {SOURCE.path: SOURCE}, files=2)


def told(name: str, checked: Checked = CHECKED, **page: Any) -> str:
    return write(name, checked, PageSetup(**page))


def sarif(checked: Checked = CHECKED, **page: Any) -> dict[str, Any]:
    log = json.loads(told("sarif", checked, **page))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    [run] = log["runs"]
    assert isinstance(run, dict)
    return run


# SARIF


def test_a_log_says_where_in_code_points() -> None:
    run = sarif()
    assert run["columnKind"] == "unicodeCodePoints"
    [place] = run["results"][0]["locations"]
    physical = place["physicalLocation"]
    assert physical["artifactLocation"] == {
        "uri": "docs/%C3%A4%20b.yaml", "uriBaseId": "%SRCROOT%",
    }  # fmt: skip
    # "a: 🚀 prune": the rocket is one code point, so the word begins in column 6.
    assert physical["region"] == {
        "startLine": 1, "startColumn": 6, "endLine": 1, "endColumn": 11,
        "snippet": {"text": "prune"},
    }  # fmt: skip


def test_a_log_has_the_rules_it_needs_with_their_pages() -> None:
    run = sarif()
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["CLM001", "E901", "FLP002"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    flp = rules[2]
    assert flp["name"] == "pruning-dense-storage"
    assert flp["help"]["markdown"].startswith("## What it does\nFlags pruning whose zeros stay")
    assert flp["help"]["text"].startswith("What it does\n")
    assert flp["fullDescription"]["text"].startswith("Flags pruning whose zeros stay")
    assert flp["defaultConfiguration"]["level"] == "warning"
    assert flp["properties"]["precision"] == "high"
    assert "pruning_dense_storage" in flp["properties"]["tags"]
    assert all("security-severity" not in rule["properties"] for rule in rules)


def test_a_result_says_why_and_points_to_what_is_related() -> None:
    first, second, unread = sarif()["results"]
    assert first["message"]["text"].splitlines() == [
        "all 70.6 GB are still read: 100%, always", "Why: zeros stream", "Instead: pack them",
        "Note: as CLM001 says",
    ]  # fmt: skip
    [related] = first["relatedLocations"]
    assert related["message"]["text"] == "claimed here"
    assert related["physicalLocation"]["region"]["startLine"] == 2
    assert first["properties"]["numbers"] == {"claimed": 2.0, "endless": None}
    assert [first["level"], second["level"], unread["level"]] == ["warning", "error", "error"]
    assert unread["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert "baselineState" not in first
    assert "suppressions" not in first


def test_what_is_hidden_or_accepted_is_in_the_log_as_that() -> None:
    other = found("claim", rule="CLM002")
    checked = CHECKED._replace(
        findings=(CLAIM,),
        suppressed=(Suppressed(other, "measured on our kernel"),),
        baseline=Compared((CLAIM,), (PRUNE,), ()),
    )
    results = {one["ruleId"]: one for one in sarif(checked)["results"]}
    assert {code: one["baselineState"] for code, one in results.items()} == {
        "CLM001": "new", "FLP002": "unchanged", "CLM002": "new",
    }  # fmt: skip
    assert results["CLM002"]["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "measured on our kernel"}
    ]
    assert "suppressions" not in results["FLP002"]


def test_fingerprints_stay_where_lines_move_and_tell_the_same_words_apart() -> None:
    moved = Source(SOURCE.path, "# one more line\n" + TEXT)
    shift = len(moved.text) - len(TEXT)
    there = PRUNE._replace(
        start=moved.position(PRUNE.start.offset + shift),
        end=moved.position(PRUNE.end.offset + shift),
        notes=(),
    )
    prints = [
        [one["partialFingerprints"] for one in sarif(checked)["results"]]
        for checked in (
            Checked((PRUNE, PRUNE), (), {SOURCE.path: SOURCE}),
            Checked((there, there), (), {SOURCE.path: moved}),
        )
    ]
    assert prints[0] == prints[1]
    assert prints[0][0] != prints[0][1]
    assert {"primaryLocationLineHash", "rooflint/v1"} == set(prints[0][0])


def test_a_log_without_findings_is_whole() -> None:
    run = sarif(Checked(()))
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []
    assert run["invocations"] == [{"executionSuccessful": True}]


# Paths from the root of the repository


def test_services_take_paths_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    root = repository_root(inner)
    assert root == tmp_path
    page = PageSetup(root=root)
    assert page.path("./a.yaml") == page.path(str(inner / "a.yaml")) == "inner/a.yaml"
    assert page.path("-") == "-"
    assert page.path("../../elsewhere.yaml") == "../../elsewhere.yaml"
    outside = Checked((CLAIM._replace(path="/else where/a.yaml"),))
    [result] = sarif(outside, root=root)["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "file:///else%20where/a.yaml"}
    [*_, unread] = sarif(root=root)["results"]
    location = unread["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == "inner/gone.yaml"
    assert "file=inner/docs/ä b.yaml," in told("github", root=root)


# GitHub


def test_annotations_are_escaped_and_stand_in_code_points() -> None:
    lines = told("github").splitlines()
    assert lines[-3] == (
        "::warning file=docs/ä b.yaml,line=1,endLine=1,col=6,endColumn=11,"
        "title=FLP002 pruning-dense-storage::all 70.6 GB are still read: 100%25, always"
        "%0Awhy: zeros stream%0Ainstead: pack them"
    )
    assert lines[-1].startswith("::error file=gone.yaml,line=1,endLine=1,col=1,endColumn=1,")


def test_values_that_would_end_an_annotation_are_escaped() -> None:
    odd = CLAIM._replace(path="a,b:c%.yaml", message="x\r\n::error::y")
    last = told("github", Checked((odd,))).splitlines()[-1]
    assert last.startswith("::error file=a%2Cb%3Ac%25.yaml,")
    assert "\r" not in last
    assert last.endswith("::x␍ ::error::y")


def test_columns_are_left_out_where_a_finding_has_several_lines() -> None:
    wide = found("prune, 100%\nclaim")
    last = told("github", Checked((wide,), (), {SOURCE.path: SOURCE})).splitlines()[-1]
    assert last.startswith("::warning file=docs/ä b.yaml,line=1,endLine=2,title=")


def test_the_text_that_people_read_cannot_command_the_runner() -> None:
    odd = CLAIM._replace(path="::add-mask::x", message="##[add-mask]y")
    first, *lines = told("github", Checked((odd,))).splitlines()
    assert first.startswith("::stop-commands::")
    token = first.removeprefix("::stop-commands::")
    end = lines.index(f"::{token}::")
    assert lines[0].startswith("::add-mask::x:2:8 error")
    assert not any(token in line for line in lines[:end])
    assert [line.split()[0] for line in lines[end + 1 :]] == ["::error"]


def test_a_run_without_findings_says_nothing_to_the_runner() -> None:
    assert told("github", Checked(())) == ""


# GitLab, JUnit


def test_code_quality_has_the_fields_that_gitlab_asks_for() -> None:
    first, second, third = json.loads(told("gitlab"))
    assert list(first) == ["description", "check_name", "fingerprint", "severity", "location"]
    assert first["check_name"] == "FLP002"
    assert first["location"] == {"path": SOURCE.path, "lines": {"begin": 1, "end": 1}}
    assert [first["severity"], second["severity"]] == ["major", "critical"]
    assert len({one["fingerprint"] for one in (first, second, third)}) == 3
    assert json.loads(told("gitlab", Checked(()))) == []


def test_junit_has_a_failed_case_for_each_finding() -> None:
    odd = found("2x", rule="CLM002", message="a\x00b\ufffe<&>\x1b[31m")
    root = ET.fromstring(told("junit", CHECKED._replace(findings=(PRUNE, odd, UNREAD))))  # noqa: S314 - written here
    suites = root.findall("testsuite")
    assert [(one.get("name"), one.get("failures")) for one in suites] == [
        (SOURCE.path, "2"), ("gone.yaml", "1"),
    ]  # fmt: skip
    first = suites[0].findall("testcase/failure")[0]
    assert first.get("message") == PRUNE.message
    assert "pack them" in (first.text or "")
    [empty] = ET.fromstring(told("junit", Checked(())))  # noqa: S314 - written here
    assert (empty.get("tests"), empty.get("failures")) == ("1", "0")


# All of them, and the counts


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_every_finding(name: str) -> None:
    assert name in formats.FORMATS
    text = told(name)
    for code in ("FLP002", "CLM001", "E901"):
        assert code in text
    assert text.endswith("\n")
    assert "\x1b" not in text


def test_concise_is_a_line_each_and_a_summary() -> None:
    lines = told("concise").splitlines()
    assert lines[0] == (
        f"{SOURCE.path}:1:6: warning FLP002 all 70.6 GB are still read: 100%, always"
    )
    assert lines[-1] == "2 errors, 1 warning in 2 files"
    assert told("concise", quiet=True).splitlines() == lines[:-1]


def test_statistics_count_by_rule_the_most_frequent_first() -> None:
    checked = Checked(
        (CLAIM, PRUNE, PRUNE, PRUNE._replace(path="other.yaml")),
        (Suppressed(found("claim", rule="CLM002"), "why"),),
        {},
        2,
        baseline=Compared((), (CLAIM,), ()),
    )
    whole = json.loads(statistics.report_json(checked))
    assert [list(row.values()) for row in whole["statistics"]] == [
        ["FLP002", "pruning-dense-storage", 3, 2, 0, 0],
        ["CLM001", "pruning-dense-storage", 1, 1, 0, 1],
        ["CLM002", "pruning-dense-storage", 0, 0, 1, 0],
    ]
    lines = statistics.report(checked, PageSetup()).splitlines()
    assert lines[0].split() == ["findings", "files", "suppressed", "baselined", "rule", "name"]
    assert lines[1].split()[:5] == ["3", "2", "-", "-", "FLP002"]
    assert lines[-1] == "1 error, 3 warnings (1 suppressed, 1 baselined) in 2 files"
    assert statistics.report(Checked(()), PageSetup()) == ""
