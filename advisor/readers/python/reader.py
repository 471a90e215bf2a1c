"""A Python file as proposals: what it states in annotations, and what its code sets up.

A file that says "rooflint" proposes: its context and claims hold for the levers of its code. One
that does not is a configuration in use, and only what it sets is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from advisor.finding import Finding
from advisor.problems import Problems, problem
from advisor.proposal import Proposal, ProposedLever, Reading, Splits
from advisor.readers.dialect import read_proposal
from advisor.readers.python.comments import Remark, parsed, remarks
from advisor.readers.python.directives import Directive, merged, read_directive
from advisor.readers.python.embedded import embedded
from advisor.readers.python.literals import annotated_classes, documents
from advisor.readers.python.recognise import Recognised
from advisor.readers.python.syntax import Places
from advisor.readers.setups import Setup, joined, proposal_of
from advisor.source import Source, Span

_MARK: Final = "rooflint:"


class _Stated(NamedTuple):
    """An annotation, and what it is about; no scope for the whole file."""

    directive: Directive
    scope: Span | None


def read(source: Source, *, named: bool) -> Reading:
    """All proposals of a file."""
    tree = parsed(source)
    ours = "rooflint" in source.text
    if tree.tree is None:
        return Reading(source, (), _unread(source, named=named, ours=ours))
    problems = Problems(source)
    try:
        return _read(source, problems, named=named)
    except RecursionError:
        message = "nested too deep to be read"
        finding = problem("E908", source, source.whole(), message)
        return Reading(source, (), (finding,) if named or ours else ())


def _unread(source: Source, *, named: bool, ours: bool) -> tuple[Finding, ...]:
    """Why a file cannot be read; silence for one that nobody named and that is not ours."""
    if not (named or _MARK in source.text) or not source.text.strip():
        return ()
    tree = parsed(source)
    if tree.too_large:
        message = "the file is too large to be a script"
        return (problem("E908", source, source.whole(), message),)
    del ours
    message = f"not Python that can be read: {tree.problem}"
    return (problem("E902", source, tree.place, message, instead="mend the syntax"),)


def _read(source: Source, problems: Problems, *, named: bool) -> Reading:
    places = Places(source)
    tree = parsed(source)
    assert tree.tree is not None
    recognised = Recognised(source, tree, places, named=named)
    setups = recognised.setups()
    proposals: list[Proposal] = [*embedded(recognised.documents, source, places)]
    if "rooflint" not in source.text:
        return Reading(source, (*_configurations(setups, source), *proposals), ())
    for root in documents(tree.tree, recognised.flow, source, places):
        found = read_proposal(root, problems)
        proposals += () if found is None else (found,)
    stated = _directives(remarks(source), problems)
    for one in annotated_classes(tree.tree, recognised.flow, source, places, problems):
        about = [*_about(stated, one.span), *one.directives]
        found = read_proposal(merged(about, one.span), problems)
        proposals += () if found is None else (found,)
        stated = [
            item for item in stated if item.scope is None or not _within(one.span, item.scope)
        ]
    proposals += _annotated(stated, setups, source, problems, alone=not proposals)
    del named
    return Reading(
        source,
        tuple(proposals),
        tuple(sorted(problems.found, key=lambda finding: finding.sort_key)),
    )


def _directives(found: Iterable[Remark], problems: Problems) -> list[_Stated]:
    stated: list[_Stated] = []
    for remark in found:
        words = remark.comment.words
        text = problems.source.slice(words)
        directive = read_directive(text, words.start, problems)
        if directive is not None:
            scope = None if remark.heads_file else remark.comment.scope
            stated.append(_Stated(directive, scope))
    return stated


def _about(stated: Iterable[_Stated], span: Span) -> list[Directive]:
    """What is stated of a place: of the file first, of the place itself last."""
    every = list(stated)
    return [
        *(one.directive for one in every if one.scope is None),
        *(one.directive for one in every if one.scope is not None and _within(span, one.scope)),
    ]


def _within(span: Span, scope: Span) -> bool:
    return scope.start <= span.start <= scope.end


def _configurations(setups: Iterable[Setup], source: Source) -> tuple[Proposal, ...]:
    found = (proposal_of(setup, source, _whole(setup, source)) for setup in joined(setups))
    return tuple(proposal for proposal in found if proposal is not None)


def _whole(setup: Setup, source: Source) -> Span:
    starts = [placed.span.start for placed in setup.placed]
    ends = [placed.span.end for placed in setup.placed]
    return Span(min(starts, default=0), max(ends, default=len(source.text)))


def _annotated(
    stated: list[_Stated],
    setups: list[Setup],
    source: Source,
    problems: Problems,
    *,
    alone: bool,
) -> list[Proposal]:
    """Levers of the code under what is stated of them: each block, then the rest of the file."""
    blocks: dict[Span, list[Setup]] = {one.scope: [] for one in stated if one.scope is not None}
    rest: list[Setup] = []
    for setup in setups:
        span = _whole(setup, source)
        inner = [
            scope for scope in blocks if any(_within(placed.span, scope) for placed in setup.placed)
        ]
        nearest = min(inner, key=lambda scope: scope.end - scope.start, default=None)
        (rest if nearest is None else blocks[nearest]).append(setup)
        del span
    found: list[Proposal] = []
    for scope, inside in sorted(blocks.items()):
        about = _about(stated, Span(scope.start, scope.start))
        found += _proposed(about, inside, scope, source, problems)
    files = [one.directive for one in stated if one.scope is None]
    if files and (rest or (alone and not found)):
        found += _proposed(files, rest, source.whole(), source, problems)
    elif rest:
        found += _configurations(rest, source)
    return found


def _splits(lever: ProposedLever) -> bool:
    return lever.lever.kind == "tensor_parallel"


def _proposed(
    about: list[Directive], setups: list[Setup], scope: Span, source: Source, problems: Problems
) -> list[Proposal]:
    """One proposal of what is stated and of every lever it is about."""
    base = read_proposal(merged(about, scope), problems)
    if base is None:
        return []
    made = _configurations(setups, source)
    levers = [*base.levers, *(lever for one in made for lever in one.levers)]
    claims = base.claims
    if len(levers) == 1 and len(claims) == 1 and levers[0].claim is None:
        levers = [levers[0]._replace(claim=claims[0])]
        claims = ()
    first = made[0] if made else base
    span = Span(min(base.span.start, first.span.start), max(base.span.end, first.span.end))
    splits = base.splits
    # Where the code itself splits, the baseline is one device, however many are named.
    if not any(splits) and (base.hardware is None or any(map(_splits, levers))):
        splits = first.splits if made else Splits()
    return [
        base._replace(
            span=span,
            model=base.model or first.model,
            engine=base.engine or first.engine,
            hardware=base.hardware or first.hardware,
            weights=base.weights or first.weights,
            workload=base.workload._replace(
                batch=base.workload.batch or first.workload.batch,
                context=base.workload.context or first.workload.context,
            ),
            splits=splits,
            levers=tuple(levers),
            claims=claims,
        )
    ]
