"""Levers found in labelled files of the forms people write: kinds, verdicts, and traps.

    python benchmarks/real_inputs.py LABELS.jsonl FILES_ROOT [--only yaml/] [--every 2 --from 0]
                                     [--show]

LABELS holds one lever a line: file, lines, kind, verdict, optional, looks_like. A lever counts as
found where one of its kind stands on a labelled line or in the same block: the same YAML mapping,
the same Python call, the same paragraph. Rows of kind `none` are traps: nothing of the kind in
`looks_like` (nothing at all where there is none) may stand on their lines, and no finding.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from advisor.audit import audit
from advisor.checking import check
from advisor.readers import read
from advisor.readers.templates import readable
from advisor.readers.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from advisor.readers.yaml_tree import compose
from advisor.source import Source, decode

VERDICTS = {
    "bandwidth": "bandwidth_lever",
    "flop_only": "flag_flop_only",
    "throughput_only": "throughput_only",
    "overhead": "latency_overhead_lever",
    "prefill_only": "prefill_only",
    "conditional": "needs_condition",
    "capacity_only": "needs_condition",
    "regression": "needs_condition",
}


class Lever(NamedTuple):
    """A lever as it was found."""

    line: int
    kind: str
    verdict: str


def levers_of(source: Source) -> list[Lever]:
    """Every lever of a file with its line, kind and verdict in the words of the labels."""
    found: list[Lever] = []
    for proposal in read(source).proposals:
        audited, _ = audit(proposal)
        for lever in audited.levers if audited is not None else ():
            line = source.position(lever.proposed.span.start).line
            found.append(Lever(line, lever.lever.machine_kind, VERDICTS[lever.verdict]))
    return found


def blocks_of(source: Source) -> list[tuple[int, int]]:
    """Lines of blocks: YAML mappings, Python statements, paragraphs."""
    if source.path.endswith(".py"):
        return sorted(_statements(source))
    if source.path.endswith(".md"):
        return sorted(_paragraphs(source))
    composed = compose(source)
    if not composed.whole:
        composed = compose(Source(source.path, readable(source.text)))
    return sorted(block for root in composed.documents for block in _mappings(root, source))


def _mappings(node: Node, source: Source) -> Iterator[tuple[int, int]]:
    if isinstance(node, ScalarNode):
        return
    if isinstance(node, MapNode):
        yield (
            source.position(node.span.start).line,
            source.position(max(node.span.end - 1, node.span.start)).line,
        )
        for entry in node.entries:
            yield from _mappings(entry.value, source)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _mappings(item, source)


def _statements(source: Source) -> Iterator[tuple[int, int]]:
    try:
        tree = ast.parse(source.text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) or (isinstance(node, ast.stmt) and not hasattr(node, "body")):
            yield (node.lineno, node.end_lineno or node.lineno)


def _paragraphs(source: Source) -> Iterator[tuple[int, int]]:
    start = None
    for number in range(1, source.line_count + 2):
        blank = not source.line(number).strip()
        if blank and start is not None:
            yield (start, number - 1)
            start = None
        elif not blank and start is None:
            start = number


def innermost(blocks: Iterable[tuple[int, int]], line: int) -> tuple[int, int]:
    """The smallest block that holds a line; the line alone where there is none."""
    held = [block for block in blocks if block[0] <= line <= block[1]]
    return min(held, key=lambda block: block[1] - block[0], default=(line, line))


def is_same_kind(found: str, labelled: str) -> bool:
    """Kinds of the vocabulary; one stands for another only where the vocabulary says so."""
    return found == labelled


class Score(NamedTuple):
    """Counts over the files, and the rows that went wrong."""

    required: int
    found: int
    verdicts: int
    traps: int
    hit: int
    wrong: list[str]


def score(rows: Iterable[dict[str, Any]], root: Path) -> Score:
    """Hold what is found in files against their labels."""
    by_file: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_file.setdefault(row["file"], []).append(row)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for name, labels in sorted(by_file.items()):
        path = root / name
        source = Source(name, decode(path.read_bytes()))
        levers = levers_of(source)
        blocks = blocks_of(source)
        told = {finding.start.line for finding in check([str(path)]).findings}
        for row in labels:
            if row["kind"] == "none":
                _score_trap(row, levers, told, counts, wrong)
            elif not row.get("optional"):
                _score_lever(row, levers, blocks, counts, wrong)
    return Score(
        counts["required"], counts["found"], counts["verdicts"], counts["traps"], counts["hit"],
        wrong,
    )  # fmt: skip


def _score_lever(
    row: dict[str, Any],
    levers: list[Lever],
    blocks: list[tuple[int, int]],
    counts: Counter[str],
    wrong: list[str],
) -> None:
    counts["required"] += 1
    places = [innermost(blocks, line) for line in row["lines"]]
    there = [
        lever
        for lever in levers
        if is_same_kind(lever.kind, row["kind"])
        and any(first <= lever.line <= last for first, last in places)
    ]
    where = f"{row['file']}:{row['lines'][0]} {row['kind']} {row['verdict']}"
    if not there:
        others = sorted({lever.kind for lever in levers})
        wrong.append(f"missed   {where}; found {', '.join(others) or 'nothing'}")
        return
    counts["found"] += 1
    if any(lever.verdict == row["verdict"] for lever in there):
        counts["verdicts"] += 1
    else:
        wrong.append(f"verdict  {where}; given {there[0].verdict}")


def _score_trap(
    row: dict[str, Any],
    levers: list[Lever],
    told: set[int],
    counts: Counter[str],
    wrong: list[str],
) -> None:
    counts["traps"] += 1
    like = row.get("looks_like")
    sprung = [
        lever.kind
        for lever in levers
        if lever.line in row["lines"] and (lever.kind == like or not (like or row.get("optional")))
    ]
    if sprung or (told & set(row["lines"]) and not row.get("optional")):
        counts["hit"] += 1
        wrong.append(f"trap     {row['file']}:{row['lines'][0]} {like}; {sprung or 'a finding'}")


def main() -> int:
    """Score and print; 1 below the bars of 95% and no trap."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("labels", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--only", default="", help="files whose name begins so")
    parser.add_argument("--every", type=int, default=1, help="every n-th file of a folder")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--show", action="store_true", help="the rows that went wrong")
    given = parser.parse_args()
    lines = given.labels.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    rows = [row for row in rows if row["file"].startswith(given.only)]
    folder = given.root / given.only
    kept = sorted(path.name for path in folder.iterdir())[given.first :: given.every]
    rows = [row for row in rows if Path(row["file"]).name in set(kept)]
    result = score(rows, given.root)
    print(
        f"{len(kept)} files, {result.required} levers: {result.found} found"
        f" ({result.found / max(result.required, 1):.1%}), {result.verdicts} with the right verdict"
        f" ({result.verdicts / max(result.required, 1):.1%});"
        f" {result.hit} of {result.traps} traps sprung"
    )
    if given.show:
        print("\n".join(result.wrong))
    good = 0.95 * result.required
    return int(result.found < good or result.verdicts < good or result.hit > 0)


if __name__ == "__main__":
    sys.exit(main())
