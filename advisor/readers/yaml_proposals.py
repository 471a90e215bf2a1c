"""YAML and JSON files: whose they are, and each document of ours as a proposal.

A document is a proposal when it has the top-level key `rooflint`, or when its file is named as
one. A file that somebody named and that is not ours is told what a proposal is; a file met in a
folder is not.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.finding import Finding
from advisor.levers import LEVERS
from advisor.problems import Problems, problem
from advisor.proposal import Proposal, Reading
from advisor.readers import is_ours_by_name
from advisor.readers.dialect import FIELDS, VERSION, read_proposal
from advisor.readers.fields import described
from advisor.readers.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from advisor.readers.yaml_tree import compose
from advisor.source import Source, Span

_FIRST_LINES: Final = f"begin with rooflint: {VERSION}, then model:, hardware: and levers:"
_KEY: Final = re.compile(r"""^(["']?)rooflint\1\s*:|[{,]\s*(["']?)rooflint\2\s*:""", re.MULTILINE)
_FIELD: Final = re.compile(
    rf"^({'|'.join(name for name in FIELDS if name != 'title')})\s*:", re.MULTILINE
)


def read(source: Source, *, named: bool) -> Reading:
    """All proposals of a file."""
    by_name = is_ours_by_name(source.path, "yaml_proposals")
    composed = compose(source)
    maps = [root for root in composed.documents if isinstance(root, MapNode)]
    marked = [_says_version(root) for root in maps]
    ours = by_name or any(marked)
    if not composed.whole and not ours:
        ours = _KEY.search(source.text) is not None
        ours = ours or (named and len(set(_FIELD.findall(source.text))) >= 2)
    if not ours:
        if not any(_entry_span(root, "levers") for root in maps):
            # A proposal does not pay for what configurations need.
            from advisor.readers.configurations import read_configurations  # noqa: PLC0415

            found = read_configurations(source, composed)
            if found:
                return Reading(source, found)
        return Reading(source, *_not_ours(source, composed.documents, composed.problems, named))
    problems = Problems(source, list(composed.problems))
    proposals: list[Proposal] = []
    if composed.whole and not composed.documents:
        _report_empty(problems)
    for root in composed.documents:
        proposal = _read_document(root, problems, by_name=by_name)
        proposals += () if proposal is None else (proposal,)
    return Reading(source, tuple(proposals), _in_order(problems))


def _read_document(root: Node, problems: Problems, *, by_name: bool) -> Proposal | None:
    if not isinstance(root, MapNode):
        _report_no_mapping(root, problems)
        return None
    if not by_name and _entry_span(root, "rooflint") is None:
        first = root.entries[0].key.span if root.entries else root.span
        message = f"this document does not say rooflint: {VERSION}"
        problems.add("E911", first, message, instead=f"begin it with rooflint: {VERSION}")
    return read_proposal(root, problems)


def _not_ours(
    source: Source, documents: tuple[Node, ...], broken: tuple[Finding, ...], named: bool
) -> tuple[tuple[Proposal, ...], tuple[Finding, ...]]:
    """A file without the key: silence, or a word to the person who named it."""
    if not named:
        return (), ()
    if broken:
        first = broken[0]
        message = f"this is no proposal, and no well-formed YAML: {first.message}"
        where = Span(first.start.offset, first.end.offset)
        return (), (problem("E914", source, where, message, instead=_FIRST_LINES),)
    problems = Problems(source)
    if not documents:
        _report_empty(problems)
        return (), _in_order(problems)
    root = documents[0]
    if isinstance(root, MapNode):
        levers = _entry_span(root, "levers")
        if levers is not None:
            proposal = _read_document(root, problems, by_name=False)
            return (() if proposal is None else (proposal,)), _in_order(problems)
    elif isinstance(root, ScalarNode) or _holds_levers(root):
        _report_no_mapping(root, problems)
        return (), _in_order(problems)
    start = root.span.start
    first_line = Span(start, start + len(source.line(source.position(start).line)))
    message = f"this file holds no proposal: nothing in it says rooflint: {VERSION}"
    problems.add("E914", first_line, message, instead=_FIRST_LINES)
    return (), _in_order(problems)


def _holds_levers(root: ListNode) -> bool:
    """Whether a list is a proposal gone wrong: of levers, or of words, as no other tool has it."""
    for item in root.items:
        if not isinstance(item, MapNode):
            return True
        for entry in item.entries:
            kind = entry.value.text if isinstance(entry.value, ScalarNode) else ""
            if entry.key.text == "levers" or (entry.key.text == "kind" and kind in LEVERS):
                return True
    return not root.items


def _report_empty(problems: Problems) -> None:
    source = problems.source
    message = "the file holds only comments" if source.text.strip() else "the file is empty"
    problems.add("E911", source.whole(), message, instead=_FIRST_LINES)


def _report_no_mapping(root: Node, problems: Problems) -> None:
    message = f"a proposal is a mapping of fields, not {described(root)}"
    if isinstance(root, ScalarNode):
        message += " alone"
    source = problems.source
    start = root.span.start
    stop = min(root.span.end, start + len(source.line(source.position(start).line)))
    problems.add("E904", Span(start, max(stop, start)), message, instead=_FIRST_LINES)


def _says_version(root: MapNode) -> bool:
    """Whether a document speaks our dialect; a job of CI that is named rooflint does not."""
    named = next((entry for entry in root.entries if entry.key.text == "rooflint"), None)
    if named is None:
        return False
    return not isinstance(named.value, MapNode) or any(
        entry.key.text in FIELDS for entry in root.entries if entry is not named
    )


def _entry_span(root: MapNode, key: str) -> Span | None:
    return next((entry.pair for entry in root.entries if entry.key.text == key), None)


def _in_order(problems: Problems) -> tuple[Finding, ...]:
    return tuple(sorted(problems.found, key=lambda finding: finding.sort_key))
