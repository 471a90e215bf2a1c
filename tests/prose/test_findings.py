"""What is found in documents: the seed case, sentences of the field, places, suppressions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.audit import audit
from advisor.finding import Finding
from advisor.readers import read
from advisor.rulebook import rule_codes, run
from advisor.source import Source
from advisor.suppress import apply, find_suppressions

PROSE = Path(__file__).parent.parent.parent / "fixtures" / "prose"
PASSAGES = {
    row["id"]: row
    for row in map(json.loads, (PROSE / "passages.jsonl").read_text("utf-8").splitlines())
}
SENTENCES = [
    line.split("\t")
    for name in ("sentences.txt", "paraphrases.txt")
    for line in (PROSE / name).read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
CORRECT = [text.replace("\\n", "\n") for name, text in SENTENCES if name == "none"]


def findings(text: str, path: str = "doc.md") -> list[Finding]:
    found: list[Finding] = []
    for proposal in read(Source(path, text)).proposals:
        audited, unknown = audit(proposal)
        assert audited is not None
        assert unknown == ()
        found += run(audited)
    return found


def classes(found: list[Finding]) -> list[str]:
    return [str(one.error_class) for one in found]


def test_the_one_liner() -> None:
    text = PASSAGES["p-f061ac93ad"]["text"]
    (found,) = findings(text)
    assert "batch-1 decode gets 30% faster" in text[found.start.offset : found.end.offset]
    assert "1.00x" in found.message


def test_the_proposal_with_six_errors_and_its_corrected_twin() -> None:
    row = PASSAGES["p-3e4b247a51"]
    found = findings(row["text"])
    assert len(found) == len(row["spans"]) == 6
    for one, span in zip(found, row["spans"], strict=True):
        assert str(one.error_class) in {span["class"], *span.get("alt_classes", ())}
        assert one.start.offset < span["end"]
        assert span["start"] < one.end.offset
    assert findings(PASSAGES["p-53f8044619"]["text"]) == []


def test_the_target_above_the_floor_shows_its_arithmetic() -> None:
    found = findings(
        "Llama-70B with FP8 weights (70 GB), 3.35 TB/s. «»\n\n120 tokens/s for one user."
    )
    # 70e9 / 3.35e12 = 20.9 ms, 47.9 tokens/s
    (over,) = [one for one in found if one.rule == "CLM006"]
    assert "20.9 ms" in over.message
    assert "47.9 tokens/s" in over.message


@pytest.mark.parametrize(
    "text",
    [
        "Some people claim that 50% sparsity makes chat twice as fast. It does not.",
        "> Pruning half of the weights makes decode 2x faster.\n\nNo: the zeros are still read.",
        "~~Pruning 40% of the weights will cut generation time by 40%.~~",
        "## Myths\n\n- Pruning half of the weights makes decode 2x faster.",
        "| Claim | Verdict |\n|---|---|\n| Pruning 50% makes decode 2x faster | False |",
        "If decode were compute-bound, pruning 50% would make it 2x faster.",
        "Does pruning half of the weights make decode faster?",
        "```\nPruning half of the weights makes decode 2x faster.\n```",
    ],
)
def test_what_is_not_asserted_is_not_judged(text: str) -> None:
    assert findings(text) == []


def test_correct_sentences_are_left_alone() -> None:
    flagged = [text for text in CORRECT if findings(text)]
    assert len(CORRECT) > 190
    assert flagged == []


def test_wrong_sentences_are_found_with_their_class() -> None:
    wrong = [
        (name.split(","), text) for name, text in SENTENCES if not name.startswith(("?", "none"))
    ]
    assert len(wrong) >= 350
    missed = []
    for names, text in wrong:
        found = classes(findings(text.replace("\\n", "\n")))
        if not found or not set(found) <= set(names):
            missed.append((text, names, found))
    assert missed == []


def fits(one: Finding, span: dict[str, Any]) -> bool:
    named = str(one.error_class) in {span["class"], *span.get("alt_classes", ())}
    return named and one.start.offset < span["end"] and span["start"] < one.end.offset


def test_labelled_passages_are_found_and_nothing_else_is() -> None:
    asked = [span for row in PASSAGES.values() for span in row["spans"]]
    assert sum("missed" in span for span in asked) <= 11
    for row in PASSAGES.values():
        found = findings(row["text"])
        wanted = [span for span in row["spans"] if "missed" not in span]
        assert all(any(fits(one, span) for span in row["spans"]) for one in found), row["id"]
        assert all(any(fits(one, span) for one in found) for span in wanted), row["id"]


def test_places_hold_with_windows_line_ends_and_markup() -> None:
    text = (
        "# Plan\r\n\r\n- We *prune* 30% of the weights,\r\n  so **decode** gets 30% faster. 👍\r\n"
    )
    (found,) = findings(text)
    assert (found.start.line, found.end.line) == (4, 4)
    inside = text[found.start.offset : found.end.offset]
    assert inside.startswith("so **decode** gets 30% faster")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- rooflint: ignore[FLP002] example of an error -->\n{}\n",
        "- first\n\n  <!-- rooflint: ignore[FLP002] example of an error -->\n- {}\n",
        "| a |\n|---|\n| {} <!-- rooflint: ignore[FLP002] an error --> |\n",
        "{} <!-- rooflint: ignore[FLP002] an error -->\n",
        "Text.\n\n<!-- rooflint: ignore-file[FLP002] a page of errors -->\n\n{}\n",
    ],
)
def test_suppressions(text: str) -> None:
    document = text.format("We prune 30% of the weights, so decode gets 30% faster.")
    found = findings(document)
    assert [one.rule for one in found] == ["FLP002"]
    applied = apply(found, find_suppressions(Source("doc.md", document)), rule_codes())
    assert applied.kept == ()
    assert len(applied.suppressed) == 1


def test_a_proposal_in_a_fence_is_read_where_it_stands() -> None:
    text = (
        "# Plan\n\n```yaml\nrooflint: 1\nmodel: Llama-3.1-8B\nhardware: H100 SXM\n"
        "workload: {phase: decode, batch: 1, context: 2k}\nlevers:\n"
        "  - kind: prune\n    sparsity: 50%\n    storage: dense\n    claim: 2x\n```\n"
    )
    (found,) = findings(text)
    assert found.rule == "FLP002"
    assert text[found.start.offset : found.end.offset] == "kind: prune"
    assert found.start.line == 9
