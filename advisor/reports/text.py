"""Findings for people: a frame for each, or a line for each, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from shlex import quote

from advisor.checking import Checked
from advisor.finding import Confidence, Finding, Severity
from advisor.reports.formats import PageSetup
from advisor.reports.frame import Mark, excerpt
from advisor.reports.style import Style, clean, wrap
from advisor.source import Source, Span

_INDENT = 6
"""Facts begin below the bar of the excerpt."""
_LABEL = 9
"""Columns of the labels of facts: numbers, claimed, instead, explain."""


def report(checked: Checked, page: PageSetup) -> str:
    """Every finding in a frame, and what they come to."""
    told = frames(checked.findings, checked.sources, page.style, checked.origin_of)
    return written(told, checked, page)


def written(lines: Iterable[str], checked: Checked, page: PageSetup) -> str:
    """Lines and a summary; nothing at all for a pipe where nothing was found."""
    if not checked.findings and not page.terminal:
        return ""
    last = () if page.quiet else (summary(checked),)
    return "".join(f"{line}\n" for line in (*lines, *last))


def _of_the_pack(_code: str) -> str:
    return ""


def frames(
    findings: Iterable[Finding],
    sources: Mapping[str, Source],
    style: Style,
    origin_of: Callable[[str], str] = _of_the_pack,
) -> Iterable[str]:
    """Each finding with its lines of the file, the reasons and what would be right."""
    for finding in findings:
        source, origin = sources.get(finding.path), origin_of(finding.rule)
        yield "\n".join(frame(finding, source, style, origin=origin)) + "\n"


def frame(finding: Finding, source: Source | None, style: Style, *, origin: str = "") -> list[str]:
    """One finding in several lines; `origin` is the path of a rule that is not of the pack."""
    place = f"{clean(finding.path)}:{finding.start.line}:{finding.start.column}"
    severity = style.severity(f"{finding.severity.label} {finding.rule}", finding.severity)
    sure = (
        "" if finding.confidence is Confidence.HIGH else f" ({finding.confidence.label} confidence)"
    )
    lines = [f"{style.paint(place, 'heading')} {severity} {finding.name}{sure}"]
    if source is None or not source.text:
        pad = " " * _INDENT
        lines += [f"{pad}{line}" for line in wrap(finding.message, style.width - _INDENT)]
    else:
        lines += excerpt(source, _marks(finding), style)
    for label, text in _facts(finding, origin, in_frame=source is not None):
        lines += _fact(label, text, style)
    return lines


def _marks(finding: Finding) -> list[Mark]:
    span = Span(finding.start.offset, finding.end.offset)
    primary = Mark(span, finding.message, finding.severity.label)
    return [
        primary,
        *(
            Mark(note.span, note.message, "gutter", "-")
            for note in finding.notes
            if note.span is not None
        ),
    ]


def _facts(finding: Finding, origin: str, *, in_frame: bool) -> Iterable[tuple[str, str]]:
    yield from finding.facts
    if finding.why:
        yield "why", finding.why
    if finding.instead:
        yield "instead", finding.instead
    for note in finding.notes:
        if note.span is None or not in_frame:
            code = f"{note.rule} " if note.rule else ""
            yield "note", f"{code}{note.message}"
    where = f" --rules {quote(origin)}" if origin else ""
    yield "explain", f"rooflint explain {finding.rule}{where}"


def _fact(label: str, text: str, style: Style) -> list[str]:
    used = _INDENT + _LABEL + 3
    first, *rest = wrap(text, style.width - used)
    head = f"{'':{_INDENT}}{style.paint('=', 'gutter')} "
    lines = [f"{head}{style.paint(f'{label:<{_LABEL}}', 'heading')} {first}".rstrip()]
    return lines + [f"{'':{used}}{line}" for line in rest]


def summary(checked: Checked) -> str:
    """What the findings come to: "6 errors, 1 warning (3 suppressed) in 2 files"."""
    parts = [
        _counted(count, severity.label)
        for severity in sorted(Severity, reverse=True)
        if (count := sum(finding.severity is severity for finding in checked.findings))
    ]
    told = ", ".join(parts) or "no findings"
    unchanged = len(checked.baseline.unchanged) if checked.baseline is not None else 0
    hidden = [
        f"{count:,} {how}"
        for count, how in ((len(checked.suppressed), "suppressed"), (unchanged, "baselined"))
        if count
    ]
    aside = f" ({', '.join(hidden)})" if hidden else ""
    files = _counted(checked.files, "file")
    if checked.without:
        files += f", of which {checked.without:,} without a proposal"
    more = f"; {checked.more:,} more with --strict" if checked.more else ""
    return f"{told}{aside} in {files}{more}"


def _counted(count: int, noun: str) -> str:
    plural = noun if count == 1 or noun == "info" else f"{noun}s"
    return f"{count:,} {plural}"
