"""Score the findings in prose against labelled passages: `python -m benchmarks.prose FILE`.

A line of a .jsonl file has `id`, `text`, `spans` (start, end, class, alt_classes), `optional_spans`
and perhaps `pair_of`. A finding matches a span when they overlap by half of the shorter one and its
class is the span's or one of its alternatives. A line of a .txt file is `class[,class...]`, a tab
and a text, or `none` for a correct one; any place of the text will do.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from advisor.audit import audit
from advisor.readers import read
from advisor.rulebook import run
from advisor.source import Source

DEFAULT = Path(__file__).parent.parent / "fixtures" / "prose" / "passages.jsonl"


class Marked(NamedTuple):
    """A finding in a passage."""

    start: int
    end: int
    error_class: str
    rule: str


def findings_in(text: str, *, strict: bool = False) -> list[Marked]:
    """What is found in a Markdown text."""
    found: list[Marked] = []
    for proposal in read(Source("passage.md", text)).proposals:
        audited, _ = audit(proposal)
        if audited is None:
            continue
        found.extend(
            Marked(one.start.offset, one.end.offset, str(one.error_class), one.rule)
            for one in run(audited, strict=strict)
        )
    return found


def overlaps(one: Marked, span: dict[str, Any]) -> bool:
    """Whether a finding covers half of the shorter of the two."""
    common = min(one.end, span["end"]) - max(one.start, span["start"])
    return common > 0 and 2 * common >= min(one.end - one.start, span["end"] - span["start"])


def matches(one: Marked, span: dict[str, Any]) -> bool:
    """Whether a finding is the one that a span asks for."""
    return overlaps(one, span) and one.error_class in {span["class"], *span.get("alt_classes", ())}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The labelled passages of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in lines if line.strip()]
    told = (line.split("\t", 1) for line in lines if "\t" in line and not line.startswith("#"))
    return [_row(index, name, text) for index, (name, text) in enumerate(told)]


def _row(index: int, name: str, text: str) -> dict[str, Any]:
    text = text.replace("\\n", "\n")
    first, *others = name.lstrip("?").split(",")
    span = {"start": 0, "end": len(text), "class": first, "alt_classes": others, "quote": text}
    return {"id": index, "text": text, "spans": [] if first == "none" else [span]}


class Score(NamedTuple):
    """How one passage came out."""

    right: int
    wrong: int
    found: int
    expected: int
    alarms: tuple[Marked, ...]
    missed: tuple[dict[str, Any], ...]

    @property
    def is_whole(self) -> bool:
        """Whether everything was found and nothing else."""
        return not self.wrong and not self.missed


def score(row: dict[str, Any], found: list[Marked]) -> Score:
    """Hold findings against the spans of a passage."""
    optional = row.get("optional_spans", ())
    right = [one for one in found if any(matches(one, span) for span in row["spans"])]
    alarms = tuple(
        one
        for one in found
        if one not in right and not any(overlaps(one, span) for span in optional)
    )
    missed = tuple(span for span in row["spans"] if not any(matches(one, span) for one in found))
    expected = len(row["spans"])
    return Score(len(right), len(alarms), expected - len(missed), expected, alarms, missed)


def report(rows: list[dict[str, Any]], *, strict: bool, show: bool) -> None:
    scores = {row["id"]: score(row, findings_in(row["text"], strict=strict)) for row in rows}
    right = sum(one.right for one in scores.values())
    wrong = sum(one.wrong for one in scores.values())
    found = sum(one.found for one in scores.values())
    expected = sum(one.expected for one in scores.values())
    correct = [row for row in rows if not row["spans"]]
    flagged = sum(bool(scores[row["id"]].wrong) for row in correct)
    pairs = [(row["id"], row["pair_of"]) for row in rows if row.get("pair_of") in scores]
    both = sum(scores[one].is_whole and scores[other].is_whole for one, other in pairs)
    print(
        f"{'strict ' if strict else 'default'}  precision {right}/{right + wrong}"
        f" = {right / max(right + wrong, 1):.3f}  recall {found}/{expected}"
        f" = {found / max(expected, 1):.3f}  correct passages flagged {flagged}/{len(correct)}"
        f" = {flagged / max(len(correct), 1):.3f}  pairs {both}/{len(pairs)}"
    )
    by_class: dict[str, Counter[str]] = {}
    for row in rows:
        for span in row["spans"]:
            counts = by_class.setdefault(span["class"], Counter())
            counts["expected"] += 1
            counts["found"] += span not in scores[row["id"]].missed
    if show:
        for name, counts in sorted(by_class.items()):
            print(f"  {name:50} {counts['found']}/{counts['expected']}")
        for row in rows:
            one = scores[row["id"]]
            for alarm in one.alarms:
                print(f"  alarm {row['id']} {alarm.rule} {row['text'][alarm.start : alarm.end]!r}")
            for span in one.missed:
                print(f"  missed {row['id']} {span['class']} {span.get('quote', '')!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="tell every alarm and miss")
    arguments = parser.parse_args()
    rows = read_rows(arguments.passages)
    for strict in (False, True):
        report(rows, strict=strict, show=arguments.show)


if __name__ == "__main__":
    main()
