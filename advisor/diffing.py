"""What a change of configuration does: each setup with all that it sets, before and after.

Two files, two folders, or two git revisions of a repository. A setup is one deployment of a file;
its step counts every lever that is set, and no batch limit: both sides do the same work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from advisor.audit import Audit, audit
from advisor.catalog.names import UnknownNameError
from advisor.context import Defaults
from advisor.deployment import DeploymentError
from advisor.finding import Finding
from advisor.ledger.architecture import UnsupportedModelError
from advisor.levers import Lever, Nature
from advisor.proposal import Proposal
from advisor.readers import is_ours_by_name, may_hold_proposals, read
from advisor.readers.configurations import read_configurations
from advisor.readers.discover import discover
from advisor.readers.revisions import Revisions
from advisor.roofline import Interval, compare
from advisor.source import DecodingError, Source, decode
from advisor.steps import Step, step_of

_SAME: Final = 0.005
"""Relative change of time below which nothing has changed."""


class DiffError(ValueError):
    """Two things that cannot be compared; the message says why."""


class Side(NamedTuple):
    """One setup of one side."""

    path: str
    title: str
    audit: Audit
    step: Step
    """One step with everything that is set, at the batch of the context."""
    sequences: int | None
    """The most sequences that the setup allows; None where it does not say."""


class Change(NamedTuple):
    """One setup on both sides."""

    title: str
    before: Side
    after: Side

    @property
    def speedup(self) -> Interval:
        """How many times less time a token takes."""
        if self.before.step.estimate == self.after.step.estimate:
            return Interval(1.0, 1.0, 1.0)
        return compare(self.before.step.estimate, self.after.step.estimate)

    @property
    def is_change(self) -> bool:
        """Whether anything that is estimated differs."""
        one, other = self.before.step, self.after.step
        times = (one.estimate.tpot_ms.mid, other.estimate.tpot_ms.mid)
        return (
            abs(times[1] / times[0] - 1.0) >= _SAME
            or one.ledger.memory_bytes != other.ledger.memory_bytes
            or one.estimate.capacity != other.estimate.capacity
            or self.before.sequences != self.after.sequences
        )

    def not_estimated(self) -> tuple[str, ...]:
        """What differs and acts on something that a decode step does not show, or is open."""
        found: list[str] = []
        for word, here, there in (
            ("new", self.after, self.before),
            ("gone", self.before, self.after),
        ):
            others = {one.lever for one in there.audit.levers}
            for lever in here.audit.levers:
                if lever.lever in others:
                    continue
                if lever.condition is not None:
                    found.append(f"{word}: {lever.lever.label} hangs on {lever.condition}")
                elif lever.lever.acts_on is Nature.PREFILL:
                    found.append(f"{word}: {lever.lever.label} acts on the prompt")
        return tuple(found)

    def assumed(self) -> tuple[str, ...]:
        """Facts that neither side states and the figures rest on."""
        facts = self.after.audit.context.facts
        names = ("model", "hardware", "batch", "context")
        return tuple(
            f"{name} {facts[name].value}"
            for name in names
            if name in facts and facts[name].origin == "assumed"
        )


class Differences(NamedTuple):
    """Everything that two sides hold."""

    changes: tuple[Change, ...]
    """Setups on both sides that differ."""
    same: int
    """Setups that read the same bytes in the same time."""
    added: tuple[Side, ...] = ()
    removed: tuple[Side, ...] = ()
    problems: tuple[Finding, ...] = ()


class _Text(NamedTuple):
    """A file of one side, by its place below what was given."""

    name: str
    content: Source | Finding


def diff(
    old: str, new: str, paths: Sequence[str] = (), defaults: Defaults | None = None
) -> Differences:
    """Compare two files, two folders, or two revisions of the repository around.

    `paths` narrow revisions to files and folders.

    Raises:
        DiffError: where one side is a file and the other a folder, or neither is known.

    """
    before, after = _sides(old, new, paths)
    problems: list[Finding] = []
    one = tuple(_setups(before, defaults, problems))
    other = tuple(_setups(after, defaults, problems))
    return _matched(one, other, tuple(problems))


def _sides(old: str, new: str, paths: Sequence[str]) -> tuple[Iterable[_Text], Iterable[_Text]]:
    places = (Path(old), Path(new))
    if all(place.exists() for place in places):
        if places[0].is_dir() != places[1].is_dir():
            raise DiffError(f"{old} and {new}: give two files or two folders")
        if paths:
            raise DiffError("paths narrow revisions, not files or folders")
        return _read_all(old), _read_all(new)
    revisions = Revisions(Path.cwd())
    of_what = "of this repository" if revisions.are_there else "as this is no git repository"
    for name, place in zip((old, new), places, strict=True):
        if not revisions.has(name):
            where = "a path, but the other is none" if place.exists() else "no path"
            raise DiffError(f"{name} is {where}, and no revision {of_what}")
    changed = revisions.changed(old, new, paths)
    return (
        tuple(_of_revision(revisions, old, changed)),
        tuple(_of_revision(revisions, new, changed)),
    )


def _read_all(given: str) -> Iterator[_Text]:
    """The files of a path; a single file has no name of its own, so that any two compare."""
    root = Path(given)
    for found in discover([given]):
        name = "" if root.is_file() else Path(found.path).relative_to(root).as_posix()
        yield _Text(name, found.content)


def _of_revision(revisions: Revisions, name: str, changed: Iterable[str]) -> Iterator[_Text]:
    for path in changed:
        data = revisions.content(name, path)
        if data is None or not (is_ours_by_name(path) or may_hold_proposals(path, data)):
            continue
        try:
            yield _Text(path, Source(path, decode(data)))
        except DecodingError:
            continue


def _setups(
    texts: Iterable[_Text], defaults: Defaults | None, problems: list[Finding]
) -> Iterator[Side]:
    """Every setup of one side, those that set nothing too: the other side may."""
    for name, content in texts:
        if isinstance(content, Finding):
            problems.append(content)
            continue
        proposals = read(content, named=False).proposals
        if all(proposal.kind == "configuration" for proposal in proposals):
            proposals = read_configurations(content, bare=True)
        for number, proposal in enumerate(proposals):
            audited, _ = audit(proposal, defaults)
            if audited is not None:
                title = proposal.title or (f"setup {number + 1}" if number else "")
                yield _side(name, title, proposal, audited)


def _side(path: str, title: str, proposal: Proposal, audited: Audit) -> Side:
    """A setup with all it sets but the limit of its batch."""
    deployment = audited.context.deployment
    sequences: int | None = None
    for proposed in proposal.levers:
        if proposed.lever.kind == "batch":
            sequences = getattr(proposed.lever, "batch", None)
    levers: list[Lever] = [one.lever for one in audited.levers if one.lever.kind != "batch"]
    for lever in levers:
        try:
            deployment = lever.apply(deployment)
        except (UnknownNameError, UnsupportedModelError, DeploymentError):
            continue
    return Side(path, title, audited, step_of(deployment), sequences)


def _matched(
    before: tuple[Side, ...], after: tuple[Side, ...], problems: tuple[Finding, ...]
) -> Differences:
    """Setups by file and title, then those left of a file in their order."""
    left = list(after)
    pairs: list[tuple[Side, Side]] = []
    waiting: list[Side] = []
    for side in before:
        same = next((one for one in left if one[:2] == side[:2]), None)
        if same is None:
            waiting.append(side)
        else:
            left.remove(same)
            pairs.append((side, same))
    removed: list[Side] = []
    for side in waiting:
        other = next((one for one in left if one.path == side.path), None)
        if other is None:
            removed.append(side)
        else:
            left.remove(other)
            pairs.append((side, other))
    changes = [Change(_title(one, other), one, other) for one, other in pairs]
    differing = tuple(change for change in changes if change.is_change or change.not_estimated())
    return Differences(
        differing, len(changes) - len(differing), tuple(left), tuple(removed), problems
    )


def _title(before: Side, after: Side) -> str:
    title = after.title or before.title
    parts = [part for part in (after.path, title) if part]
    return ": ".join(parts) or after.audit.proposal.source.path
