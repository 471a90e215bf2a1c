"""`check --fix`: edits that change no meaning, and nothing but the words they are about.

Suppressions that hide nothing are removed. A script that claims something and states nothing of
its context gets the context that was assumed for it as a comment, to be set right. Everything
else of a file stays as it is, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from advisor.audit import audit
from advisor.checking import Run, check_run
from advisor.finding import Finding
from advisor.readers import comments_of, read
from advisor.readers.discover import STDIN, discover
from advisor.source import Source, Span
from advisor.suppress import Suppression, find_suppressions

_UNUSED: Final = "SUP004"
_MARK: Final = "rooflint:"
_CLAIM: Final = re.compile(r"\bclaim\s*=")
_CONTEXT: Final = ("model", "hardware", "batch", "context")


class Edit(NamedTuple):
    """A stretch of a text and what stands there instead."""

    span: Span
    text: str


def fix(paths: Sequence[str], run: Run) -> tuple[str, ...]:
    """Mend files in place; returns the paths that changed.

    Files that are not UTF-8, and standard input, are left alone.
    """
    unused: dict[str, list[Finding]] = {}
    for finding in check_run(paths, run).findings:
        if finding.rule == _UNUSED:
            unused.setdefault(finding.path, []).append(finding)
    changed: list[str] = []
    for path, content, named in discover(paths, run.scope.excludes):
        if path == STDIN or isinstance(content, Finding) or _MARK not in content.text:
            continue
        edits = [*_removals(content, unused.get(path, ()))]
        edits += _skeletons(content, run, named=named)
        if edits and _rewrite(Path(path), content, edits):
            changed.append(path)
    return tuple(changed)


def _rewrite(path: Path, source: Source, edits: Iterable[Edit]) -> bool:
    """Write a text with its edits, where its bytes are known exactly."""
    before = path.read_bytes()
    mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    if before != mark + source.text.encode():
        return False
    text = source.text
    for span, instead in sorted(edits, reverse=True):
        text = text[: span.start] + instead + text[span.end :]
    path.write_bytes(mark + text.encode())
    return True


# Suppressions


def _removals(source: Source, findings: Iterable[Finding]) -> Iterator[Edit]:
    """Unused codes of suppressions, or whole comments where nothing else stands in them."""
    starts = {finding.start.offset: finding for finding in findings}
    for suppression in find_suppressions(source):
        finding = starts.get(suppression.span.start)
        if finding is None:
            continue
        kept = [code for code in suppression.codes if code not in finding.message]
        edit = _fewer_codes(source, suppression, kept) if kept else _no_comment(source, suppression)
        if edit is not None:
            yield edit


def _fewer_codes(source: Source, suppression: Suppression, kept: list[str]) -> Edit | None:
    start = source.text.find("[", suppression.span.start, suppression.span.end)
    end = source.text.find("]", start, suppression.span.end)
    return Edit(Span(start + 1, end), ", ".join(kept)) if 0 <= start < end else None


def _no_comment(source: Source, suppression: Suppression) -> Edit | None:
    """Take a comment away, with its line where it stands alone."""
    text = source.text
    sign = text.rfind("#", 0, suppression.span.start)
    if sign < 0 or text[sign + 1 : suppression.span.start].strip():
        return None
    line = source.position(sign).line
    first = source.offset(line, 1)
    last = first + len(source.line(line))
    if text[suppression.span.end : last].strip():
        return None
    if text[first:sign].strip():
        return Edit(Span(len(text[:sign].rstrip(" \t")), last), "")
    return Edit(Span(first, source.offset(line + 1, 1) if line < source.line_count else last), "")


# Context


def _skeletons(source: Source, run: Run, *, named: bool) -> Iterator[Edit]:
    """The assumed context above the first claim of a script that states none."""
    if not source.path.endswith(".py"):
        return
    claims = [
        comment
        for comment in comments_of(source)
        if _CLAIM.search(source.slice(comment.words)) is not None
    ]
    facts = _assumed(source, run, named=named) if claims else {}
    if not facts:
        return
    line = source.position(claims[0].words.start).line
    first = source.offset(line, 1)
    text = source.line(line)
    indent = text[: len(text) - len(text.lstrip())]
    end = "\r\n" if "\r\n" in source.text else "\n"
    words = " ".join(f"{name}={_quoted(str(value))}" for name, value in facts.items())
    yield Edit(Span(first, first), f"{indent}# rooflint: {words}{end}")


def _assumed(source: Source, run: Run, *, named: bool) -> dict[str, object]:
    """What was assumed for a claim, where neither devices nor batch are stated."""
    for proposal in read(source, named=named).proposals:
        if proposal.kind != "proposal" or proposal.hardware or proposal.workload.batch:
            continue
        audited, _ = audit(proposal, run.defaults)
        if audited is not None and (audited.claims or any(one.claim for one in audited.levers)):
            facts = audited.context.facts
            return {
                name: facts[name].value
                for name in _CONTEXT
                if name in facts and facts[name].origin == "assumed"
            }
    return {}


def _quoted(value: str) -> str:
    return f'"{value}"' if re.search(r"[\s,]", value) else value
