"""Statements made by hand, and what a rule finds in them."""

from __future__ import annotations

from typing import Any

from advisor.audit import audit
from advisor.finding import Confidence
from advisor.prose.frame import Frame
from advisor.prose.model import Kind, Phase, Statement, Status
from advisor.readers import read
from advisor.rulebook import find_rule
from advisor.said import say
from advisor.source import Source, Span

HIGH, MEDIUM = Confidence.HIGH, Confidence.MEDIUM
HEDGED, DENIED = {"status": Status.HEDGED}, {"status": Status.DENIED}
UNKNOWN = {"phase": Phase.UNKNOWN}
FAR = {"reach": 3, "is_linked": False}
AGGREGATE = {"is_aggregate": True}
LARGE = {"nearby": {"LARGE_BATCH"}}
PREFILL = {"phase": Phase.PREFILL}

[PROPOSAL] = read(Source("doc.md", "Pruning half of the weights makes decode 2x faster.")).proposals
EMPTY, _ = audit(PROPOSAL)


def statement(**slots: Any) -> Statement:
    """A gain of decode that is asserted, with some slots; words given once stand everywhere."""
    words = slots.pop("words", None)
    base = Statement(Kind.GAIN, Span(0, 10), "", Status.ASSERTED, Phase.DECODE, Frame())
    if words is not None:
        base = base._replace(text=words, context_text=words, sentence_text=words)
    sets = ("clause", "sentence", "nearby", "around")
    return base._replace(
        **{name: frozenset(value) if name in sets else value for name, value in slots.items()}
    )


def confidence(rule: str, slots: dict[str, Any]) -> Confidence | None:
    loaded = find_rule(rule)
    assert loaded is not None
    assert EMPTY is not None
    found = list(loaded.check(EMPTY._replace(said=say([statement(**slots)]), levers=())))
    assert len(found) <= 1
    return found[0].confidence if found else None


Change = tuple[dict[str, Any], Confidence | None]
