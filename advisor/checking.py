"""From paths to findings and audits: discover, read, audit, apply the rules and suppressions.

Everything a run says follows from the files, the settings and the selection of rules. Nothing is
written, and nothing of the files is executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from advisor import many, rulebook
from advisor.audit import Audit, audit
from advisor.context import Defaults
from advisor.finding import Confidence, Finding, Severity
from advisor.problems import NOT_A_PROPOSAL, internal_error
from advisor.proposal import Engine, Proposal, Reading, Splits, Stated, Workload
from advisor.readers import read
from advisor.readers.discover import STDIN, Candidate, candidates, discover, load, weight_of
from advisor.rule import LoadedRule
from advisor.scope import Scope
from advisor.selection import Named, Words
from advisor.source import Source, Span
from advisor.suppress import (
    SUPPRESSION_PROBLEMS,
    Applied,
    Suppressed,
    apply,
    find_suppressions,
)

if TYPE_CHECKING:
    from advisor.baseline import Baseline, Compared

_UNUSED: Final = "SUP004"
_NOTHING: Final = Defaults()


class Run(NamedTuple):
    """How a run judges."""

    codes: frozenset[str] | None = None
    """Codes of the rules that run; None: all. Findings about unreadable input always stay."""
    strict: bool = False
    """Without, errors and warnings of high confidence are told; with it, everything."""
    defaults: Defaults = Defaults()
    """Facts that hold where a proposal states none."""
    scope: Scope = Scope()
    no_suppress: frozenset[str] = frozenset()
    """Codes of rules that no comment hides."""
    rules: tuple[LoadedRule, ...] = ()
    """Rules beside those of the pack."""
    stdin: str = STDIN
    """Name of the file that standard input stands for."""
    counts_more: bool = False
    """Whether to count what only `strict` would tell; that takes another judgement."""
    processes: int | None = None
    """Processes that read and judge; None: all cores where there is much to read, else one."""


_NO_SETTINGS: Final = Run()


def known_rules(extra: Iterable[LoadedRule] = ()) -> Words:
    """The words that rules are selected by: those of the pack, of suppressions, and others."""
    problems = SUPPRESSION_PROBLEMS.values()
    return Words(
        (
            *(Named(entry.code, entry.name) for entry in rulebook.entries().values()),
            *(Named(problem.code, problem.name) for problem in problems),
            *(Named(loaded.rule.code, loaded.rule.name) for loaded in extra),
        )
    )


class Checked(NamedTuple):
    """What a run found."""

    findings: tuple[Finding, ...]
    """In the order of the files as given, then of their text."""
    suppressed: tuple[Suppressed, ...] = ()
    sources: Mapping[str, Source] = MappingProxyType({})
    """Texts by path, for whoever shows the findings."""
    files: int = 0
    """Files that were named, or hold proposals."""
    without: int = 0
    """Of these, paths that hold no proposal, about which nothing is told."""
    more: int = 0
    """Findings that only a strict run tells, where the run counts them."""
    read: frozenset[str] = frozenset()
    """Paths of all files that were looked at."""
    rules: tuple[LoadedRule, ...] = ()
    """Rules that ran beside those of the pack."""
    baseline: Compared | None = None
    """What a baseline takes out of the findings."""

    def origin_of(self, code: str) -> str:
        """The path that a rule was loaded from, where the user named one; else nothing."""
        return next((one.origin for one in self.rules if one.rule.code == code), "")


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


def check(paths: Sequence[str], *, strict: bool = False, defaults: Defaults = _NOTHING) -> Checked:
    """Find what is wrong with the proposals in files and folders.

    Without `strict`, errors and warnings of high confidence are told; with it, everything.
    `defaults` are facts that hold where a proposal states none.
    """
    return check_run(paths, Run(strict=strict, defaults=defaults))


def check_run(paths: Sequence[str], run: Run) -> Checked:
    """Find what is wrong in files and folders, as a run is set up."""
    findings: list[Finding] = []
    suppressed: list[Suppressed] = []
    looked_at: list[str] = []
    sources: dict[str, Source] = {}
    files = more = 0
    for one in _looked(paths, run):
        looked_at.append(one.path)
        files += one.counts
        more += one.more
        findings += one.findings
        suppressed += one.suppressed
        if one.source is not None:
            sources[one.path] = one.source
    told = [finding for finding in findings if run.strict or _is_told(finding)]
    return Checked(
        tuple(_failures_once(told)),
        tuple(suppressed),
        sources,
        files,
        without=0 if run.strict else sum(one.rule == NOT_A_PROPOSAL for one in findings),
        more=more,
        read=frozenset(looked_at),
        rules=run.rules,
    )


class _Looked(NamedTuple):
    """One file of a run."""

    path: str
    counts: bool
    """Whether it was named, or holds proposals."""
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    source: Source | None = None
    """Its text, where something is told of it."""
    more: int = 0
    """Findings that only a strict run tells."""


def _looked(paths: Sequence[str], run: Run) -> Iterator[_Looked]:
    """Each file read and judged, in the order given, by one process or by several."""
    files = candidates(paths, run.scope.excludes, run.stdin)
    # Rules of the user's own may not be known to other processes.
    processes = 1 if run.rules else run.processes
    found = many.each(partial(_look_at, run), files, processes, weight_of)
    return (one for one in found if one is not None)


def _look_at(run: Run, candidate: Candidate) -> _Looked | None:
    """Read and judge one file; None for one of a folder that cannot hold a proposal."""
    loaded = load(candidate)
    if loaded is None:
        return None
    path, content, named = loaded
    if isinstance(content, Finding):
        more = run.counts_more and not _is_told(content)
        return _Looked(path, counts=True, findings=(content,), more=int(more))
    try:
        reading = read(content, named=named)
        applied, strictly = _judge(reading, run)
    except Exception as error:  # noqa: BLE001 - one file must not hide what is wrong in the others
        return _Looked(path, counts=True, findings=(internal_error(content, error),))
    told = bool(applied.kept or applied.suppressed)
    return _Looked(
        path,
        named or bool(reading.proposals or reading.problems),
        tuple(applied.kept),
        tuple(applied.suppressed),
        content if told else None,
        0 if strictly is None else len(strictly) - sum(map(_is_told, applied.kept)),
    )


def against(checked: Checked, baseline: Baseline, folder: Path, run: Run) -> Checked:
    """A run without the findings that a baseline accepts; `folder` is where the baseline stands."""
    from advisor.baseline import compare  # noqa: PLC0415 - most runs have none

    compared = compare(
        checked.findings,
        checked.sources,
        checked.read,
        baseline,
        folder,
        codes=rulebook.rule_codes() if run.codes is None else run.codes,
        strict=run.strict,
    )
    return checked._replace(findings=compared.new, baseline=compared)


def _failures_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """A rule that fails is told where it first does, not wherever it runs."""
    failed: set[str] = set()
    for finding in findings:
        if finding.rule == rulebook.FAILED_RULE:
            if finding.message in failed:
                continue
            failed.add(finding.message)
        yield finding


def _is_told(finding: Finding) -> bool:
    return finding.confidence is Confidence.HIGH and finding.severity >= Severity.WARNING


def _judge(reading: Reading, run: Run) -> tuple[Applied, tuple[Finding, ...] | None]:
    """What is wrong in one file, and what a strict run would tell, where that is to be counted."""
    audits, problems = _audits_of(reading, run)
    suppressions = find_suppressions(reading.source)
    known = rulebook.rule_codes() | {loaded.rule.code for loaded in run.rules}
    left_out = run.scope.ignored(reading.source.path)
    codes = (known | SUPPRESSION_PROBLEMS.keys() if run.codes is None else run.codes) - left_out

    def applied(*, strictly: bool) -> Applied:
        found = [
            finding
            for one in audits
            for finding in rulebook.run(one, codes=codes, strict=strictly, extra=run.rules)
        ]
        return apply([*problems, *found], suppressions, known, codes & known, run.no_suppress)

    def selected(found: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(
            one for one in found if one.rule not in SUPPRESSION_PROBLEMS or one.rule in codes
        )

    result = applied(strictly=run.strict)
    if run.strict:
        return result._replace(kept=selected(result.kept)), None
    strictly = None
    if run.counts_more or any(finding.rule == _UNUSED for finding in result.kept):
        strictly = applied(strictly=True).kept
        # A suppression of something that only --strict tells is not unused.
        unused = {one.start for one in strictly if one.rule == _UNUSED}
        result = result._replace(
            kept=tuple(one for one in result.kept if one.rule != _UNUSED or one.start in unused)
        )
    counted = selected(strictly) if strictly is not None and run.counts_more else None
    return result._replace(kept=selected(result.kept)), counted


def _audits_of(reading: Reading, run: Run) -> tuple[list[Audit], list[Finding]]:
    """Every proposal of a file as audited, and what in it could not be read."""
    problems = list(reading.problems)
    audits: list[Audit] = []
    for proposal in reading.proposals:
        audited, unknown = audit(proposal, run.defaults)
        problems += unknown
        audits += () if audited is None else (audited,)
    return audits, problems


def audit_paths(paths: Sequence[str], run: Run = _NO_SETTINGS) -> Audited:
    """Audit every proposal in files and folders."""
    audits: list[Audit] = []
    problems: list[Finding] = []
    sources: dict[str, Source] = {}
    for path, content, named in discover(paths, run.scope.excludes):
        if isinstance(content, Finding):
            problems.append(content)
            continue
        try:
            read_audits, unread = _audits_of(read(content, named=named), run)
        except Exception as error:  # noqa: BLE001 - as above
            read_audits, unread = [], [internal_error(content, error)]
        sources[path] = content
        audits += read_audits
        problems += unread
    return Audited(tuple(audits), tuple(problems), sources)
