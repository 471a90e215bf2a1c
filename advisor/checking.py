"""From paths to findings and audits: discover, read, audit, apply the rules and suppressions.

Everything a run says follows from the files, the settings and the selection of rules. Nothing is
written, and nothing of the files is executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from advisor import rulebook
from advisor.audit import Audit, audit
from advisor.context import Defaults
from advisor.finding import Confidence, Finding, Severity
from advisor.proposal import Engine, Proposal, Reading, Splits, Stated, Workload
from advisor.readers import read
from advisor.readers.discover import discover
from advisor.source import Source, Span
from advisor.suppress import SUPPRESSION_PROBLEMS, Applied, apply, find_suppressions

_UNUSED: Final = "SUP004"
_NOTHING: Final = Defaults()


class UnknownRuleError(ValueError):
    """A rule is selected or ignored that there is none of; the message names the nearest."""


class Selection(NamedTuple):
    """Which rules run: codes, families or names. Findings about unreadable input always stay."""

    select: frozenset[str] = frozenset()
    """Empty: all of them."""
    ignore: frozenset[str] = frozenset()

    def has(self, code: str, name: str) -> bool:
        """Whether a rule is selected and not ignored."""
        words = {code, code.rstrip("0123456789"), name}
        return (not self.select or bool(words & self.select)) and not words & self.ignore


EVERYTHING: Final = Selection()


def selection_of(select: Iterable[str], ignore: Iterable[str]) -> Selection:
    """The rules that words select and ignore, in any case.

    Raises:
        UnknownRuleError: for a word that is no code, family or name of a rule.

    """
    known = {
        word.lower(): word
        for code, name in _codes_and_names()
        for word in (code, code.rstrip("0123456789"), name)
    }

    def look_up(word: str) -> str:
        found = known.get(word.strip().lower())
        if found is None:
            near = get_close_matches(word.lower()[:60], known, 1, 0.5)
            hint = f"; did you mean {known[near[0]]}?" if near else ""
            raise UnknownRuleError(f"no rule or family is called {word!r}{hint}")
        return found

    return Selection(frozenset(map(look_up, select)), frozenset(map(look_up, ignore)))


def _codes_and_names() -> Iterator[tuple[str, str]]:
    yield from ((entry.code, entry.name) for entry in rulebook.entries().values())
    yield from ((problem.code, problem.name) for problem in SUPPRESSION_PROBLEMS.values())


class Checked(NamedTuple):
    """What a run found."""

    findings: tuple[Finding, ...]
    """In the order of the files as given, then of their text."""
    suppressed: tuple[Finding, ...] = ()
    sources: Mapping[str, Source] = MappingProxyType({})
    """Texts by path, for whoever shows the findings."""
    files: int = 0
    """Files that were named, or hold proposals."""


class Audited(NamedTuple):
    """Every proposal of a run, and what could not be read."""

    audits: tuple[Audit, ...]
    problems: tuple[Finding, ...]
    sources: Mapping[str, Source]


def proposal_of(facts: Mapping[str, Any]) -> Proposal:
    """A proposal that states these facts, those that are not None, and holds no lever.

    Facts by the names of the fields of `Proposal`, `Workload` and `Splits`; the engine by name.
    """
    given = {name: Stated(value) for name, value in facts.items() if value is not None}
    engine = given.get("engine")
    return Proposal(
        Source("", ""),
        Span(0, 0),
        model=given.get("model"),
        hardware=given.get("hardware"),
        engine=None if engine is None else Engine(engine),
        splits=Splits(**{name: given.get(name) for name in Splits._fields}),
        workload=Workload(**{name: given.get(name) for name in Workload._fields}),
        weights=given.get("weights"),
        kv_cache=given.get("kv_cache"),
        activations=given.get("activations"),
        lm_head=given.get("lm_head"),
    )


def check(
    paths: Sequence[str],
    *,
    selection: Selection = EVERYTHING,
    strict: bool = False,
    defaults: Defaults = _NOTHING,
) -> Checked:
    """Find what is wrong with the proposals in files and folders.

    Without `strict`, errors and warnings of high confidence are told; with it, everything.
    `defaults` are facts that hold where a proposal states none.
    """
    findings: list[Finding] = []
    suppressed: list[Finding] = []
    sources: dict[str, Source] = {}
    files = 0
    for path, content, named in discover(paths):
        if isinstance(content, Finding):
            files += 1
            findings.append(content)
            continue
        reading = read(content, named=named)
        files += named or bool(reading.proposals or reading.problems)
        applied = _judge(reading, selection, defaults, strict=strict)
        if applied.kept:
            sources[path] = content
        findings += applied.kept
        suppressed += applied.suppressed
    told = tuple(finding for finding in findings if strict or _is_told(finding))
    return Checked(told, tuple(suppressed), sources, files)


def _is_told(finding: Finding) -> bool:
    return finding.confidence is Confidence.HIGH and finding.severity >= Severity.WARNING


def _judge(reading: Reading, selection: Selection, defaults: Defaults, *, strict: bool) -> Applied:
    """What is wrong in one file."""
    problems = list(reading.problems)
    audits: list[Audit] = []
    for proposal in reading.proposals:
        audited, unknown = audit(proposal, defaults)
        problems += unknown
        audits += () if audited is None else (audited,)
    suppressions = find_suppressions(reading.source)
    known = rulebook.rule_codes()
    ran = {code for code, entry in rulebook.entries().items() if selection.has(code, entry.name)}

    def applied(*, strictly: bool) -> Applied:
        found = [
            finding
            for one in audits
            for finding in rulebook.run(
                one, select=selection.select, ignore=selection.ignore, strict=strictly
            )
        ]
        return apply([*problems, *found], suppressions, known, ran)

    result = applied(strictly=strict)
    if not strict and any(finding.rule == _UNUSED for finding in result.kept):
        # A suppression of something that only --strict tells is not unused.
        unused = {one.start for one in applied(strictly=True).kept if one.rule == _UNUSED}
        result = result._replace(
            kept=tuple(one for one in result.kept if one.rule != _UNUSED or one.start in unused)
        )
    kept = tuple(
        one
        for one in result.kept
        if one.rule not in SUPPRESSION_PROBLEMS or selection.has(one.rule, one.name)
    )
    return result._replace(kept=kept)


def audit_paths(paths: Sequence[str], defaults: Defaults = _NOTHING) -> Audited:
    """Audit every proposal in files and folders."""
    audits: list[Audit] = []
    problems: list[Finding] = []
    sources: dict[str, Source] = {}
    for path, content, named in discover(paths):
        if isinstance(content, Finding):
            problems.append(content)
            continue
        reading = read(content, named=named)
        sources[path] = content
        problems += reading.problems
        for proposal in reading.proposals:
            audited, unknown = audit(proposal, defaults)
            problems += unknown
            audits += () if audited is None else (audited,)
    return Audited(tuple(audits), tuple(problems), sources)
