"""The rules: found, selected, run over an audit, and their findings merged.

Rule modules stand in advisor.rules, one rule each. Their metadata is compiled to index.json beside
them (`make generated`), so that a run imports only the rules that can apply to what is proposed;
where the index does not list the modules that are there, all of them are imported instead.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final, NamedTuple, cast

from advisor.audit import Audit
from advisor.finding import Confidence, Finding, Note, Severity, Subject
from advisor.problems import place_of, problem
from advisor.rule import (
    CLAIMS,
    MEASURED,
    MEMORY,
    OPEN_FACTS,
    PROSE,
    STATEMENTS,
    LoadedRule,
)
from advisor.source import Span

__all__ = [
    "LoadedRule", "RuleEntry", "compile_index", "entries", "find_rule", "load_rules", "rule_codes",
    "rule_names", "rule_page", "run",
]  # fmt: skip

_PACKAGE: Final = "advisor.rules"
_INDEX: Final = "index.json"
FAILED_RULE: Final = "E990"
_LAST_OF_ITS_KIND: Final = "FLP001"
_FAMILIES_OF_LEVERS: Final = frozenset(
    ("FLP", "PRE", "HW", "ENG", "KV", "MOE", "SPC", "PAR", "BAT", "PHS", "CAP", "TXT")
)


class RuleEntry(NamedTuple):
    """A line of the index: what is known of a rule without importing it."""

    code: str
    name: str
    module: str
    about: tuple[str, ...]


def _folder() -> Path:
    return Path(import_module(_PACKAGE).__path__[0])


def _module_names() -> list[str]:
    return sorted(module.name for module in iter_modules([str(_folder())]))


@lru_cache(maxsize=1)
def entries() -> Mapping[str, RuleEntry]:
    """Every rule by its code, in the order of the codes."""
    file = _folder() / _INDEX
    try:
        rows = json.loads(file.read_bytes())
    except FileNotFoundError:
        rows = []
    found = [RuleEntry(**row | {"about": tuple(row["about"])}) for row in rows]
    if sorted(entry.module for entry in found) != _module_names():
        found = [_entry(name) for name in _module_names()]
    return {entry.code: entry for entry in sorted(found)}


def _entry(module: str) -> RuleEntry:
    rule = _load(module).rule
    return RuleEntry(rule.code, rule.name, module, rule.about)


def compile_index() -> dict[Path, bytes]:
    """The index as the modules have it now, by path."""
    rows = [_entry(name)._asdict() for name in _module_names()]
    lines = ",\n".join(json.dumps(row) for row in sorted(rows, key=lambda row: str(row["code"])))
    return {_folder() / _INDEX: f"[\n{lines}\n]\n".encode()}


@lru_cache(maxsize=256)
def _load(module: str) -> LoadedRule:
    found = import_module(f"{_PACKAGE}.{module}")
    return LoadedRule(found.RULE, (found.__doc__ or "").strip("\n"), found.check)


def load_rules() -> tuple[LoadedRule, ...]:
    """Every rule with its page and check, in the order of the codes."""
    return tuple(_load(entry.module) for entry in entries().values())


def rule_codes() -> frozenset[str]:
    """The codes of all rules."""
    return frozenset(entries())


def rule_names() -> tuple[str, ...]:
    """The codes of all rules, then their names."""
    return (*entries(), *(entry.name for entry in entries().values()))


def find_rule(text: str) -> LoadedRule | None:
    """The rule of a code or name, whatever its case; None where there is none."""
    folded = text.strip().lower().replace("_", "-").replace(" ", "-")
    for entry in entries().values():
        if folded in {entry.code.lower(), entry.name}:
            return _load(entry.module)
    return None


def rule_page(code: str) -> str:
    """The page of a rule, in Markdown; KeyError for a code that is none."""
    return _load(entries()[code].module).page


def run(
    audit: Audit,
    *,
    codes: Collection[str] | None = None,
    strict: bool = False,
    extra: Iterable[LoadedRule] = (),
) -> tuple[Finding, ...]:
    """Judge an audit: one finding for each lever, claim or statement, in the order of the text.

    `codes` are the rules that run (None: all), `extra` rules that are not of the pack. Without
    `strict`, errors and warnings of high confidence are told. What is not told absorbs nothing.
    A rule of `extra` that fails becomes a finding.
    """
    subjects = _subjects(audit)
    if audit.proposal.kind == "prose":
        audit = audit._replace(levers=())  # what a document mentions is proposed by nobody
    found = [
        finding
        for entry in entries().values()
        if not subjects.isdisjoint(entry.about) and (codes is None or entry.code in codes)
        for finding in _load(entry.module).check(audit)
        if strict or _is_told(finding)
    ]
    found += (
        finding
        for loaded in extra
        if not subjects.isdisjoint(loaded.rule.about)
        and (codes is None or loaded.rule.code in codes)
        for finding in _guarded(loaded, audit)
        if strict or _is_told(finding)
    )
    return tuple(sorted(_merged(found), key=lambda finding: finding.sort_key))


def _guarded(loaded: LoadedRule, audit: Audit) -> Iterator[Finding]:
    """What a rule of somebody else says; where it fails, the failure."""
    try:
        for finding in cast("Iterator[object]", loaded.check(audit)):
            if not isinstance(finding, Finding):
                raise TypeError(f"it yields {type(finding).__name__} and not Finding")  # noqa: TRY301
            yield finding
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises, the run goes on
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        yield problem(
            FAILED_RULE,
            audit.proposal.source,
            audit.proposal.first_line(),
            f"rule {loaded.rule.code} fails here: {line}{place_of(error, __file__)}",
            instead="mend the rule, or leave it out with --ignore",
        )


def _subjects(audit: Audit) -> set[str]:
    """What there is to judge, in the words of `Rule.about`."""
    if audit.proposal.kind == "prose":
        return {PROSE}
    kinds = {lever.lever.kind for lever in audit.levers}
    claimed = audit.claims or any(lever.claim is not None for lever in audit.levers)
    others = (
        (CLAIMS, claimed),
        (STATEMENTS, audit.diagnosis),
        (PROSE, audit.said),
        (MEMORY, not audit.combined.estimate.fits),
        (MEASURED, audit.proposal.measured),
        (OPEN_FACTS, audit.is_open and audit.levers),
    )
    return kinds | {name for name, present in others if present}


def _is_told(finding: Finding) -> bool:
    sure = finding.confidence is Confidence.HIGH
    return sure and finding.severity >= Severity.WARNING


def _merged(found: Iterable[Finding]) -> Iterator[Finding]:
    """One root finding for each subject; the others become notes of it."""
    groups: dict[Subject | None, list[Finding]] = {}
    for finding in found:
        groups.setdefault(finding.subject, []).append(finding)
    yield from groups.pop(None, [])
    for group in groups.values():
        root, *others = sorted(group, key=_rank)
        yield root._replace(notes=(*root.notes, *(_as_note(other, root) for other in others)))


def _rank(finding: Finding) -> tuple[int, int, int, str]:
    """Specific rules first, then the floor, the ceilings, and what is general."""
    code = finding.rule
    family = code.rstrip("0123456789")
    if family in _FAMILIES_OF_LEVERS:
        order = 1 if code == _LAST_OF_ITS_KIND else 0
    else:
        order = {"CLM006": 2, "CLM001": 3, "CLM002": 3}.get(code, 4)
    return (order, -finding.severity, -finding.confidence, code)


def _as_note(finding: Finding, root: Finding) -> Note:
    span = Span(finding.start.offset, finding.end.offset)
    elsewhere = span != Span(root.start.offset, root.end.offset)
    return Note(finding.message, span if elsewhere else None, finding.rule)
