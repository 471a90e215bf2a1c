"""Every rule is held to its page and to its examples."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
import yaml

from advisor.audit import audit
from advisor.finding import Confidence, Finding, Severity
from advisor.levers import LEVERS
from advisor.readers import read
from advisor.rule import HEADINGS, SUBJECTS, LoadedRule, unmarked
from advisor.rulebook import load_rules, run
from advisor.source import Source, Span

RULES = load_rules()
FLAGGED = [
    pytest.param(loaded, example, id=f"{loaded.rule.code}-{number}")
    for loaded in RULES
    for number, example in enumerate(loaded.rule.flagged)
]
PASSING = [
    pytest.param(loaded, example, id=f"{loaded.rule.code}-{number}")
    for loaded in RULES
    for number, example in enumerate(loaded.rule.passing)
]


def is_told(loaded: LoadedRule) -> bool:
    """Whether the rule speaks at the default level; else --strict is needed to hear it."""
    rule = loaded.rule
    return rule.severity >= Severity.WARNING and rule.confidence is Confidence.HIGH


def findings_in(text: str, *, strict: bool = False) -> list[Finding]:
    """What the rules say; the text itself must be in order."""
    name = "example.yaml" if text.startswith("rooflint:") else "example.md"
    reading = read(Source(name, text))
    assert reading.problems == ()
    found: list[Finding] = []
    for proposal in reading.proposals:
        audited, unknown = audit(proposal)
        assert unknown == ()
        assert audited is not None
        found += run(audited, strict=strict)
    return found


@pytest.mark.parametrize("loaded", RULES, ids=lambda loaded: loaded.rule.code)
def test_a_page_has_its_headings_and_public_references(loaded: LoadedRule) -> None:
    assert tuple(re.findall(r"^## (.*)$", loaded.page, re.MULTILINE)) == HEADINGS
    sections = re.split(r"^## .*$", loaded.page, flags=re.MULTILINE)[1:]
    assert all(len(section.split()) >= 5 for section in sections)
    references = re.split(r"^- ", sections[-1], flags=re.MULTILINE)[1:]
    assert references
    assert all(re.search(r"\S:\s+https://[\w.-]+/\S+$", entry.strip()) for entry in references)


@pytest.mark.parametrize("loaded", RULES, ids=lambda loaded: loaded.rule.code)
def test_metadata_is_well_formed(loaded: LoadedRule) -> None:
    rule = loaded.rule
    assert re.fullmatch(r"[A-Z]{2,3}\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)
    assert rule.about
    assert set(rule.about) <= {*LEVERS, *SUBJECTS}
    assert rule.flagged
    assert rule.passing


def test_codes_and_names_are_unique() -> None:
    for words in ([one.rule.code for one in RULES], [one.rule.name for one in RULES]):
        assert [word for word, count in Counter(words).items() if count > 1] == []


@pytest.mark.parametrize(("loaded", "example"), FLAGGED)
def test_a_flagged_example_is_flagged_at_its_marks(loaded: LoadedRule, example: str) -> None:
    text, spans = unmarked(example)
    assert spans
    found = findings_in(text, strict=not is_told(loaded))
    if not is_told(loaded):  # beside it other rules may speak that are heard with --strict only
        found = [finding for finding in found if finding.rule == loaded.rule.code]
    assert [finding.rule for finding in found] == [loaded.rule.code] * len(spans)
    assert [Span(one.start.offset, one.end.offset) for one in found] == list(spans)
    for finding in found:
        assert re.search(r"\d", finding.message)
        assert finding.numbers
        assert finding.why
        assert finding.instead
        assert len(finding.message) <= 250


@pytest.mark.parametrize(("loaded", "example"), PASSING)
def test_nothing_is_said_of_a_passing_example(loaded: LoadedRule, example: str) -> None:
    assert "«" not in example
    assert findings_in(example) == []
    said = findings_in(example, strict=True)
    assert [finding for finding in said if finding.rule == loaded.rule.code] == []


def test_marks_are_taken_out_and_remembered() -> None:
    assert unmarked("a «bc» d «e»") == ("a bc d e", (Span(2, 4), Span(7, 8)))


WITH_LEVERS = [param for param in FLAGGED if "levers:\n" in str(param.values[1])]
IDLE = "  - {kind: loading, name: tensorizer, claim: 20% less memory}\n"


@pytest.mark.parametrize(("loaded", "example"), WITH_LEVERS)
def test_other_levers_hide_no_finding(loaded: LoadedRule, example: str) -> None:
    text, spans = unmarked(example)
    head, tail = text.split("levers:\n")
    crowd = f"{head}levers:\n{IDLE}{tail.rstrip()}\n"
    if not re.search(r"^\S", tail, re.MULTILINE):
        crowd += IDLE
    found = [one for one in findings_in(crowd, strict=True) if one.rule == loaded.rule.code]
    notes = [
        note
        for one in findings_in(crowd, strict=True)
        for note in one.notes
        if note.rule == loaded.rule.code
    ]
    shift = len(IDLE)
    starts = {one.start.offset - shift for one in found}
    assert {span.start for span in spans if span.start >= len(head)} <= starts or notes


@pytest.mark.parametrize(("loaded", "example"), FLAGGED)
def test_sentences_denied_before_one_hide_no_finding(loaded: LoadedRule, example: str) -> None:
    text, _ = unmarked(example)
    if "diagnosis: " not in text:
        return
    line = re.search(r"^diagnosis: (.*)$", text, re.MULTILINE)
    assert line is not None
    several = f"diagnosis:\n  - nothing is known of the network\n  - {line[1]}"
    crowd = text.replace(line[0], several)
    assert loaded.rule.code in {one.rule for one in findings_in(crowd, strict=True)}


def parsed(example: str) -> dict[str, Any]:
    document = yaml.load(unmarked(example)[0], Loader=yaml.CSafeLoader)
    assert isinstance(document, dict)
    return document


def levers_of(examples: Iterable[str]) -> list[dict[str, Any]]:
    return [
        lever
        for example in examples
        if "levers:\n" in example
        for lever in parsed(example)["levers"]
    ]


MORE_LEVERS: list[dict[str, Any]] = [
    {"kind": "activation_sparsity", "sparsity": "95%"},
    {"kind": "offload", "kv_cache": "1 MB"},
    {"kind": "offload", "kv_cache": "1 MB", "claim": "1.1x tokens/s"},
    {"kind": "offload", "weights": "1 MB", "claim": "1.1x tokens/s"},
    {"kind": "offload", "weights": "8 GB", "claim": "half the memory"},
    {"kind": "quantize", "weights": "fp8", "claim": "nothing to lose"},
    {"kind": "quantize", "weights": "fp8", "claim": "half the memory"},
    {"kind": "quantize", "kv_cache": "fp8", "claim": "twice the sequences"},
    {"kind": "speculate", "draft_tokens": 3, "claim": "1.1x tokens/s"},
    {"kind": "prune", "sparsity": "50%", "claim": "half the memory"},
    {"kind": "tensor_parallel", "size": 1},
    {"kind": "cuda_graphs"},
]


@cache
def levers_of_all_examples() -> list[dict[str, Any]]:
    examples = (one for loaded in RULES for one in (*loaded.rule.passing, *loaded.rule.flagged))
    plain = [*MORE_LEVERS, *levers_of(examples)]
    modest = ({**lever, "claim": "half the memory"} for lever in plain)
    once = {json.dumps(lever, sort_keys=True): lever for lever in (*modest, *plain)}
    return list(once.values())


def places(rule: str, document: dict[str, Any], levers: list[dict[str, Any]]) -> list[int]:
    """Lines of what a rule finds where one lever stands in a line, from the last line back."""
    head = yaml.safe_dump({name: part for name, part in document.items() if name != "levers"})
    lines = "".join(f"  - {json.dumps(lever)}\n" for lever in levers)
    text = f"{head}levers:\n{lines}"
    [proposal] = read(Source("example.yaml", text)).proposals
    audited, _ = audit(proposal)
    assert audited is not None
    end = text.count("\n")
    return sorted(end - one.start.line for one in run(audited, codes=(rule,), strict=True))


@pytest.mark.parametrize(("loaded", "example"), WITH_LEVERS)
def test_levers_of_the_same_kind_before_it_hide_no_finding(
    loaded: LoadedRule, example: str
) -> None:
    document = parsed(example)
    if {"claim", "diagnosis"} & document.keys():
        return  # what is said of all levers together hangs on the others
    own = document["levers"]
    kinds = {lever["kind"] for lever in own}
    crowd = [lever for lever in levers_of_all_examples() if lever["kind"] in kinds]
    alone = places(loaded.rule.code, document, own)
    assert alone
    among = places(loaded.rule.code, document, [*crowd, *own])
    assert [place for place in among if place < len(own)] == alone
