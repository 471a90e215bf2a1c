"""Levers found in whole documents of the project's own, against what a reader finds in them.

    python -m benchmarks.documents [FOLDER] [--part 0|1] [--show]

FOLDER holds documents and `levers.txt`: for each document, lines "verdict kind | words", where a
lever of the kind and verdict is proposed in the block of these words; "not kind | words", where
none is; "may kind | words", which counts neither way. A kind that no line of its document names is
found without reason.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from advisor.audit import audit
from advisor.readers import read
from advisor.source import Source

FOLDER = Path(__file__).parent.parent / "fixtures/documents"
_CONDITIONAL = frozenset({"conditional", "capacity_only", "regression"})
"""Verdicts that all say: not as it stands."""
_STARTS = re.compile(r"\s*(?:[-*+]|\d+\.|\||#|>)")


class Expected(NamedTuple):
    """One line of `levers.txt`."""

    verdict: str
    kind: str
    words: str


class Score(NamedTuple):
    """Counts over documents, and what went wrong in words."""

    counts: Counter[str]
    wrong: list[str]


def expectations(folder: Path) -> dict[str, list[Expected]]:
    """What is proposed in each document of a folder."""
    found: dict[str, list[Expected]] = {}
    lines: list[Expected] = []
    for line in (folder / "levers.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if " | " not in line:
            lines = found.setdefault(line.strip(), [])
            continue
        head, words = line.split(" | ", 1)
        verdict, kind = head.split()
        lines.append(Expected(verdict, kind, words))
    return found


def part_of(name: str) -> int:
    """Half that a document belongs to: 0 was read while the reader was written, 1 was not."""
    return int(sha256(name.encode()).hexdigest(), 16) % 2


def score(folder: Path, part: int | None = None) -> Score:
    """Hold what is found in documents against what is expected."""
    total = Score(Counter(), [])
    for name, rows in expectations(folder).items():
        if part is None or part_of(name) == part:
            _score_document(folder / name, rows, total)
    return total


def _score_document(path: Path, rows: list[Expected], total: Score) -> None:
    counts, wrong = total
    text = path.read_text(encoding="utf-8")
    found = _levers(Source(path.name, text))
    explained: set[tuple[str, str, int]] = set()
    for row in rows:
        here = _block(text, text.index(row.words))
        hits = [one for one in found if one[0] == row.kind and _block(text, one[2]) == here]
        explained.update(hits)
        where = f"{path.name}: {row.verdict} {row.kind} | {row.words}"
        if row.verdict == "not":
            counts["traps"] += 1
            if hits:
                counts["sprung"] += 1
                wrong.append(f"trap     {where}")
        elif row.verdict != "may":
            counts["required"] += 1
            counts["found"] += bool(hits)
            right = any(_same(hit[1], row.verdict) for hit in hits)
            counts["right"] += right
            if not right:
                told = f"; given {hits[0][1]}" if hits else ""
                wrong.append(f"{'verdict' if hits else 'missed':8} {where}{told}")
    known = {row.kind for row in rows if row.verdict != "not"}
    for kind, verdict, at in found:
        if (kind, verdict, at) not in explained and kind not in known:
            counts["without reason"] += 1
            wrong.append(f"extra    {path.name}: {verdict} {kind} at {text[at : at + 40]!r}")


def _levers(source: Source) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    for proposal in read(source).proposals:
        audited, _ = audit(proposal)
        found += (
            (one.lever.machine_kind, str(one.verdict), one.proposed.span.start)
            for one in (audited.levers if audited is not None else ())
        )
    return found


def _same(given: str, expected: str) -> bool:
    return given == expected or {given, expected} <= _CONDITIONAL


def _block(text: str, at: int) -> tuple[int, int]:
    """First line and the line after the last of the paragraph, item or row around an offset."""
    lines = text.splitlines()
    first = text.count("\n", 0, at)
    stop = first + 1
    while first > 0 and lines[first - 1].strip() and not _STARTS.match(lines[first]):
        first -= 1
    while stop < len(lines) and lines[stop].strip() and not _STARTS.match(lines[stop]):
        stop += 1
    return first, stop


def main() -> None:
    """Score and print."""
    parser = argparse.ArgumentParser(description="Levers found in whole documents.")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--part", type=int, choices=(0, 1))
    parser.add_argument("--show", action="store_true", help="what went wrong")
    given = parser.parse_args()
    counts, wrong = score(given.folder, given.part)
    print(
        f"{counts['required']} levers: {counts['found']} found, {counts['right']} with the right"
        f" verdict; {counts['sprung']} of {counts['traps']} traps sprung;"
        f" {counts['without reason']} found without reason"
    )
    if given.show:
        print("\n".join(wrong))


if __name__ == "__main__":
    main()
