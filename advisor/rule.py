"""What a rule is: its page, its metadata, and a pure check of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict, Unpack

from advisor.audit import Audit, LeverAudit
from advisor.evidence import AttachedClaim, assumed_facts, claims_of
from advisor.finding import Confidence, ErrorClass, Finding, Note, Number, Severity, Subject
from advisor.own_figures import step_told
from advisor.proposal import Sentence
from advisor.source import Span

if TYPE_CHECKING:
    from advisor.said import Judge

Check = Callable[[Audit], Iterator[Finding]]

OPEN, CLOSE = "«", "»"
"""In an example, these marks stand around the words a rule underlines."""

CLAIMS: Final = "claims"
STATEMENTS: Final = "statements"
"""In `Rule.about`, beside kinds of lever: claims of any kind, and sentences of a diagnosis."""

PROSE: Final = "prose"
"""... and what the prose of a document says about speed."""

MEMORY: Final = "memory"
MEASURED: Final = "measured"
OPEN_FACTS: Final = "open facts"
"""... a deployment that does not fit, a measured baseline, and a batch, a context or a device that
nobody states."""

SUBJECTS: Final = (CLAIMS, STATEMENTS, PROSE, MEMORY, MEASURED, OPEN_FACTS)

HEADINGS: Final = (
    "What it does", "Why is this bad", "Instead", "When this rule is wrong", "References"
)  # fmt: skip
"""Sections of a rule's page, in this order."""


class Details(TypedDict, total=False):
    """What a finding says beyond its message."""

    why: str
    instead: str
    numbers: Mapping[str, Number]
    facts: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...]
    severity: Severity | None
    """None: the rule's own, as for `confidence` and `error_class`."""
    confidence: Confidence | None
    error_class: ErrorClass | None


class Rule(NamedTuple):
    """A rule's metadata. Its page is the docstring of the module it stands in."""

    code: str
    name: str
    """kebab-case, the thing flagged: reads after "allow ..."."""
    severity: Severity
    confidence: Confidence
    since: str
    error_class: ErrorClass | None
    about: tuple[str, ...]
    """Kinds of lever of the proposal dialect, CLAIMS or STATEMENTS: what it can apply to."""
    flagged: tuple[str, ...]
    """Proposals the rule flags, the words it underlines between « and »."""
    passing: tuple[str, ...]
    """Near misses: proposals about which the rule says nothing."""

    @property
    def family(self) -> str:
        """The letters of the code: FLP, CLM, ..."""
        return self.code.rstrip("0123456789")

    def on_lever(
        self, audit: Audit, lever: LeverAudit, message: str, **details: Unpack[Details]
    ) -> Finding:
        """A finding about a lever, where the lever is named."""
        subject = Subject("lever", lever.index)
        kind = lever.lever.machine_kind
        return self._finding(audit, lever.proposed.span, subject, kind, message, details)

    def on_claim(
        self, audit: Audit, claim: AttachedClaim, message: str, **details: Unpack[Details]
    ) -> Finding:
        """A finding about a claim, where it stands; a lever's claim is judged with the lever."""
        span = claim.judged.sentence.span
        kind = claim.lever.lever.machine_kind if claim.lever is not None else None
        return self._finding(audit, span, claim.subject, kind, message, details)

    def on_statement(
        self, audit: Audit, index: int, span: Span, message: str, **details: Unpack[Details]
    ) -> Finding:
        """A finding about the `index`-th sentence of the diagnosis, at the words that are wrong."""
        return self._finding(audit, span, Subject("statement", index), None, message, details)

    def on_sentence(
        self,
        audit: Audit,
        sentence: Sentence,
        index: int | None,
        message: str,
        **details: Unpack[Details],
    ) -> Finding:
        """A finding about a whole sentence: the `index`-th of the diagnosis, else a claim."""
        if index is not None:
            return self.on_statement(audit, index, sentence.span, message, **details)
        for claim in claims_of(audit):
            if claim.judged.sentence == sentence:
                return self.on_claim(audit, claim, message, **details)
        return self._finding(audit, sentence.span, Subject("fact", 2), None, message, details)

    def on_fact(
        self, audit: Audit, number: int, span: Span, message: str, **details: Unpack[Details]
    ) -> Finding:
        """A finding about a fact of the baseline, where it stands; facts of one number are one."""
        return self._finding(audit, span, Subject("fact", number), None, message, details)

    def in_prose(self, audit: Audit, judge: Judge, *, why: str, instead: str) -> Iterator[Finding]:
        """What `judge` finds wrong in the prose of a document; of a sentence, the last such clause.

        A sentence leads up to what it concludes: of two clauses that are wrong in the same way,
        the later one is what a reviewer underlines.
        """
        found: dict[str, Finding] = {}
        for said in audit.said:
            wrong = judge(said)
            if wrong is None:
                continue
            statement = said.statement
            subject = Subject("said", said.group)
            details: Details = {
                "why": why,
                "instead": instead,
                "confidence": wrong.confidence,
                "error_class": wrong.error_class,
                "numbers": {
                    "claimed_speedup": statement.speedup,
                    "claimed_tpot_ms": statement.tpot_ms,
                    **wrong.numbers,
                },
            }
            alike = f"{statement.kind} {wrong.topic} {statement.sentence_text}"
            key = alike if statement.table is None else str(statement.span)
            finding = self._finding(audit, statement.span, subject, None, wrong.message, details)
            found.pop(key, None)
            told = () if wrong.numbers else step_told(statement.frame)
            found[key] = finding._replace(facts=told)
        yield from found.values()

    def _finding(
        self,
        audit: Audit,
        span: Span,
        subject: Subject,
        lever: str | None,
        message: str,
        details: Details,
    ) -> Finding:
        source = audit.proposal.source
        return Finding(
            rule=self.code,
            name=self.name,
            severity=details.get("severity") or self.severity,
            confidence=details.get("confidence") or self.confidence,
            path=source.path,
            start=source.position(span.start),
            end=source.position(span.end),
            message=message,
            error_class=details.get("error_class") or self.error_class,
            why=details.get("why", ""),
            instead=details.get("instead", ""),
            lever=lever,
            numbers=details.get("numbers", {}),
            facts=(*details.get("facts", ()), *assumed_facts(audit)),
            notes=details.get("notes", ()),
            subject=subject,
        )


def unmarked(example: str) -> tuple[str, tuple[Span, ...]]:
    """An example without its marks, and the spans that they enclosed."""
    text: list[str] = []
    spans: list[Span] = []
    length = 0
    for part in example.replace(CLOSE, OPEN).split(OPEN):
        text.append(part)
        if len(text) % 2 == 0:
            spans.append(Span(length, length + len(part)))
        length += len(part)
    return "".join(text), tuple(spans)


class LoadedRule(NamedTuple):
    """A rule with its page and its check, as found in a module."""

    rule: Rule
    page: str
    check: Check
    origin: str = ""
    """The path that the user loads it from; empty for rules of the pack and of packages."""
