"""Markdown, reStructuredText and plain text: what they say about speed, and proposals in them.

Fenced blocks and front matter in YAML are read by that format's own reader where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from advisor.finding import Confidence, Finding
from advisor.levers.base import OPEN_WIDTHS
from advisor.proposal import Engine, Proposal, ProposedLever, Reading, Splits, Stated, Workload
from advisor.prose.blocks import Page
from advisor.prose.markdown import read_markdown
from advisor.prose.page_facts import Facts, Told, facts_of
from advisor.prose.reading import statements_of
from advisor.readers import Comment
from advisor.readers.mentions import mentions_of
from advisor.source import Source, Span

_MARKDOWN: Final = (".md", ".markdown", ".mdx")
_RESTRUCTURED: Final = (".rst", ".rest")
_PYTHON: Final = "python.reader"
_READERS: Final = MappingProxyType(
    {
        **dict.fromkeys(("", "yaml", "yml", "json", "rooflint"), "yaml_proposals"),
        **dict.fromkeys(("python", "py", "python3"), _PYTHON),
    }
)
"""By the language of a fenced block: the module that reads it."""
_SHELLS: Final = frozenset(("bash", "sh", "shell", "console", "zsh", "shell-session", "terminal"))
_LONGEST_BLOCK: Final = 100_000
_KEY: Final = re.compile(r"^\s*[\"'{]*\s*rooflint[\"']?\s*:", re.MULTILINE)
_NOT_LINE_END: Final = re.compile(r"[^\r\n]+")


def read(source: Source, *, named: bool) -> Reading:  # noqa: ARG001 - every text may be prose
    """The proposals in a document, and the document itself as one where it says something."""
    page = _page(source)
    proposals: list[Proposal] = []
    problems: list[Finding] = []
    understood: list[Span] = []
    for fence, inner in _fenced(source, page):
        proposals += inner.proposals
        problems += inner.problems
        if any(one.levers for one in inner.proposals):
            understood.append(fence)
    statements = statements_of(page)
    inside = [proposed.span for one in proposals for proposed in one.levers] + understood
    levers, in_use = mentions_of(source, page, inside)
    if statements or levers:
        title = next((block.headings[0] for block in page.blocks if block.headings), "")
        whole = Span(0, len(source.text))
        facts = facts_of(page)
        proposals.append(
            Proposal(
                source,
                whole,
                title=title,
                kind="prose",
                model=_stated(facts.model),
                hardware=_stated(facts.hardware),
                engine=_engine(facts),
                splits=_splits(levers, in_use, is_in_use=facts.is_in_use),
                weights=_one_of(in_use, "weights"),
                kv_cache=_one_of(in_use, "kv_cache"),
                workload=Workload(batch=_stated(facts.batch), context=_stated(facts.context)),
                levers=levers,
                statements=statements,
            )
        )
    return Reading(source, tuple(proposals), tuple(problems))


def _splits(
    levers: Iterable[ProposedLever], in_use: Iterable[ProposedLever], *, is_in_use: bool
) -> Splits:
    """Of the baseline: as stated, all devices in use, one where only a split is proposed."""
    stated = _one_of(in_use, "size")
    if stated is not None:
        return Splits(tensor=stated)
    is_split = any(proposed.lever.kind == "tensor_parallel" for proposed in levers)
    return Splits(tensor=Stated(1, "assumed")) if is_split and not is_in_use else Splits()


def _one_of(in_use: Iterable[ProposedLever], field: str) -> Stated[Any] | None:
    """A field of what is in use where all who state it agree."""
    told = [
        (value, proposed.span_of(field))
        for proposed in in_use
        if (value := getattr(proposed.lever, field, None)) not in {None, *OPEN_WIDTHS}
    ]
    if len({value for value, _ in told}) != 1:
        return None
    return Stated(told[0][0], "given", told[0][1])


def _engine(facts: Facts) -> Engine | None:
    name = _stated(facts.engine)
    return Engine(name, _stated(facts.version)) if name is not None else None


def _stated(told: Told[Any] | None) -> Stated[Any] | None:
    return Stated(told.value, "given", told.span) if told is not None else None


def comments(source: Source) -> tuple[Comment, ...]:
    """HTML comments that hold "rooflint:", each with the line or block that it covers."""
    return tuple(Comment(words, scope) for words, scope in _page(source).comments)


@lru_cache(maxsize=2)
def _page(source: Source) -> Page:
    if source.path.lower().endswith(_MARKDOWN):
        return read_markdown(source.text)
    from advisor.prose.plain import read_plain, read_restructured  # noqa: PLC0415 - few documents

    is_restructured = source.path.lower().endswith(_RESTRUCTURED)
    return read_restructured(source.text) if is_restructured else read_plain(source.text)


def _may_propose(script: str) -> bool:
    """Whether a script may hold a proposal or set up a lever: quicker than reading it in place."""
    from advisor.readers.python.marks import worth_reading  # noqa: PLC0415 - few documents

    return "rooflint" in script or worth_reading(script.encode())


def _blank(line: re.Match[str]) -> str:
    return " " * len(line[0])


def _fenced(source: Source, page: Page) -> Iterator[tuple[Span, Reading]]:
    """What the readers of other formats make of blocks, each where it stands."""
    blank = ""
    for fence in page.fences:
        language = fence.info.split()[0].lower().strip("{}.") if fence.info else ""
        place = Span(fence.start, fence.end)
        if language in _SHELLS and fence.end - fence.start <= _LONGEST_BLOCK:
            from advisor.readers.shell import read_commands  # noqa: PLC0415 - few documents

            yield place, Reading(source, tuple(map(_shown, read_commands(source, place))))
            continue
        module = _READERS.get(language)
        if module is None or fence.end - fence.start > _LONGEST_BLOCK:
            continue
        if module == _PYTHON and not _may_propose(source.text[fence.start : fence.end]):
            continue
        # Everything before the block is blank, so that offsets and lines stay.
        blank = blank or _NOT_LINE_END.sub(_blank, source.text)
        inner = Source(source.path, blank[: fence.start] + source.text[fence.start : fence.end])
        reading = import_module(f"advisor.readers.{module}").read(inner, named=False)
        is_ours = _KEY.search(source.text, fence.start, fence.end) is not None
        yield place, reading if is_ours else Reading(source, tuple(map(_shown, reading.proposals)))


_SHOWN: Final = frozenset({"prune", "low_rank", "quantize.kv"})
"""What a call does to any checkpoint, and a cache that is narrow for room as often as for speed."""


def _shown(proposal: Proposal) -> Proposal:
    """A configuration as a document shows it: how a tool is called, which promises nothing.

    The checkpoint is the reader's own and need be no language model; how it is stored and served
    afterwards, and what a flag is for, the document tells in its prose or not at all.
    """
    if proposal.kind != "configuration":
        return proposal
    levers = tuple(
        proposed._replace(confidence=Confidence.LOW)
        if proposed.claim is None
        and not _SHOWN.isdisjoint({proposed.lever.kind, proposed.lever.machine_kind})
        else proposed
        for proposed in proposal.levers
    )
    return proposal._replace(levers=levers)
