"""Markdown, reStructuredText and plain text: what they say about speed, and proposals in them.

Fenced blocks and front matter that say `rooflint:` are read by the YAML reader where they stand.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from advisor.finding import Finding
from advisor.proposal import Proposal, Reading
from advisor.prose.blocks import Fence, Page
from advisor.prose.markdown import read_markdown, read_plain
from advisor.prose.reading import statements_of
from advisor.readers import Comment
from advisor.source import Source, Span

_MARKDOWN: Final = (".md", ".markdown", ".mdx")
_YAML: Final = frozenset({"", "yaml", "yml", "json", "rooflint"})
_KEY: Final = re.compile(r"^\s*[\"'{]*\s*rooflint[\"']?\s*:", re.MULTILINE)
_NOT_LINE_END: Final = re.compile(r"[^\r\n]")


def read(source: Source, *, named: bool) -> Reading:  # noqa: ARG001 - every text may be prose
    """The proposals in a document, and the document itself as one where it says something."""
    page = _page(source)
    proposals: list[Proposal] = []
    problems: list[Finding] = []
    for fence in page.fences:
        if _is_proposal(source, fence):
            inner = _read_fence(source, fence)
            proposals += inner.proposals
            problems += inner.problems
    statements = statements_of(page)
    if statements:
        title = next((block.headings[0] for block in page.blocks if block.headings), "")
        whole = Span(0, len(source.text))
        proposals.append(Proposal(source, whole, title=title, kind="prose", statements=statements))
    return Reading(source, tuple(proposals), tuple(problems))


def comments(source: Source) -> tuple[Comment, ...]:
    """HTML comments that hold "rooflint:", each with the line or block that it covers."""
    return tuple(Comment(words, scope) for words, scope in _page(source).comments)


@lru_cache(maxsize=2)
def _page(source: Source) -> Page:
    if source.path.lower().endswith(_MARKDOWN):
        return read_markdown(source.text)
    return read_plain(source.text)


def _is_proposal(source: Source, fence: Fence) -> bool:
    language = fence.info.split()[0].lower() if fence.info else ""
    return language in _YAML and _KEY.search(source.text, fence.start, fence.end) is not None


def _read_fence(source: Source, fence: Fence) -> Reading:
    """Read a block in place: everything before it is blank, so that offsets stay."""
    from advisor.readers.yaml_proposals import read as read_yaml  # noqa: PLC0415 - rarely needed

    before = _NOT_LINE_END.sub(" ", source.text[: fence.start])
    inner = Source(source.path, before + source.text[fence.start : fence.end])
    return read_yaml(inner, named=False)
