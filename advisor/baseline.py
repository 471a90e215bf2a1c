"""A baseline: findings that are known and accepted, so that only new ones are told.

An entry is kept by what it is about and not by its line: the path, the rule, a hash of the words
it rests on, and a count where the same words stand several times in a file. So it stays when the
file moves around it, and goes when somebody changes what was accepted.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from advisor.finding import Finding
from advisor.problems import PROBLEMS
from advisor.source import Source

DEFAULT_FILE: Final = "rooflint-baseline.json"

_VERSION: Final = 1
_HASH_DIGITS: Final = 16
_SHOWN: Final = 80
_PROSE: Final = (".md", ".markdown", ".rst", ".txt")


class BaselineError(ValueError):
    """A baseline that cannot be read or written; the message says what is wrong with it."""


class Entry(NamedTuple):
    """One accepted finding."""

    path: str
    """Relative to the folder of the baseline, with forward slashes."""
    rule: str
    hash: str
    """Of the words that the finding rests on, white space aside."""
    occurrence: int
    """Its place among the same findings about the same words of the file."""
    text: str = ""
    """The words, cut, for whoever reads the baseline."""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What makes two entries the same."""
        return self[:4]


class Baseline(NamedTuple):
    """The entries of a file."""

    entries: tuple[Entry, ...] = ()
    strict: bool = False
    """Whether it was written with the findings that only --strict tells."""


class Compared(NamedTuple):
    """What a baseline makes of the findings of a run."""

    new: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]
    stale: tuple[Entry, ...]
    """Entries of files that were read, or are gone, that match nothing any more."""


def fingerprint(finding: Finding, source: Source | None) -> str:
    """Hash of what a finding rests on: stable where lines move, new where the words change."""
    evidence = " ".join(_evidence(finding, source).split())
    return hashlib.sha256(evidence.encode("utf-8", "replace")).hexdigest()[:_HASH_DIGITS]


def _evidence(finding: Finding, source: Source | None) -> str:
    """The words; of a lever all its lines, because a finding on it judges what they say."""
    if source is None:
        return finding.message
    words = source.text[finding.start.offset : finding.end.offset]
    if finding.subject is None or finding.subject.kind != "lever":
        return words
    if source.path.lower().endswith(_PROSE):
        return words
    first = source.line(finding.start.line)
    lines, indent = [first], _indent(first)
    for number in range(finding.start.line + 1, source.line_count + 1):
        line = source.line(number)
        if line.strip() and _indent(line) <= indent:
            break
        lines.append(line)
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def entries_of(
    findings: Iterable[Finding], sources: Mapping[str, Source], folder: Path
) -> tuple[Entry, ...]:
    """An entry for each finding, in the same order."""
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for finding in findings:
        source = sources.get(finding.path)
        evidence = " ".join(_evidence(finding, source).split())
        path = _relative(finding.path, folder)
        start = (path, finding.rule, fingerprint(finding, source))
        made.append(Entry(*start, seen[start], _cut(evidence)))
        seen[start] += 1
    return tuple(made)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _relative(path: str, folder: Path) -> str:
    return path if path == "-" else os.path.relpath(path, folder).replace(os.sep, "/")


def compare(
    findings: Iterable[Finding],
    sources: Mapping[str, Source],
    read: Collection[str],
    baseline: Baseline,
    folder: Path,
    *,
    codes: Collection[str],
    strict: bool,
) -> Compared:
    """Part findings into new and accepted ones.

    `read` are the paths of this run and `codes` the rules that ran: an entry of another file or
    rule is not stale.
    """
    told = tuple(findings)
    accepted = {entry.key for entry in baseline.entries}
    new: list[Finding] = []
    unchanged: list[Finding] = []
    for finding, entry in zip(told, entries_of(told, sources, folder), strict=True):
        known = entry.key in accepted and finding.rule not in PROBLEMS
        (unchanged if known else new).append(finding)
        accepted.discard(entry.key)
    here = {_relative(path, folder) for path in read}
    stale = tuple(
        entry
        for entry in baseline.entries
        if entry.key in accepted
        and entry.rule in codes
        and (strict or not baseline.strict)
        and _is_settled(entry, here, folder)
    )
    return Compared(tuple(new), tuple(unchanged), stale)


def _is_settled(entry: Entry, read: Collection[str], folder: Path) -> bool:
    """Whether this run says all there is to say about the file of an entry."""
    return entry.path in read or not (folder / entry.path).exists()


def renewed(
    compared: Compared, found: Iterable[Entry], before: Baseline, *, strict: bool
) -> Baseline:
    """The baseline that accepts what was found; what was not looked at stays."""
    stale = {entry.key for entry in compared.stale}
    kept = {entry.key: entry for entry in before.entries if entry.key not in stale}
    kept |= {entry.key: entry for entry in found if entry.rule not in PROBLEMS}
    return Baseline(tuple(sorted(kept.values())), strict or (before.strict and bool(kept)))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        BaselineError: where there is none, or it is not one.

    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["version"] != _VERSION:
            raise BaselineError(f"{path}: version {table['version']!r} is not known, only 1 is")
        entries = tuple(_entry(row) for row in table["findings"])
        return Baseline(entries, bool(table.get("strict", False)))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BaselineError(f"baseline {path}: {reason}; --write-baseline makes one") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(
            f"{path} is not a baseline; --write-baseline makes a new one where there is no file"
        ) from None


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(
        str(row["path"]), str(row["rule"]), str(row["hash"]), int(row["occurrence"]),
        str(row.get("text", "")),
    )  # fmt: skip


def baseline_text(baseline: Baseline) -> str:
    """The text of the file: JSON, one entry a line, in the order of the paths."""
    rows = ",\n".join(json.dumps(entry._asdict(), ensure_ascii=False) for entry in baseline.entries)
    strict = json.dumps(baseline.strict)
    return f'{{"version": {_VERSION}, "strict": {strict}, "findings": [\n{rows}\n]}}\n'
