"""What a document states of its deployment: model, hardware, batch, context, each with its place.

A value that two sentences state differently is none: it belongs to its own sentence alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from advisor.catalog.engines import engines_in, resolve_engine
from advisor.catalog.hardware import parse_hardware
from advisor.claims.regime import Aspect, Mention, mentioned
from advisor.prose.blocks import Page
from advisor.prose.frame import frame_of
from advisor.prose.in_use import is_in_use
from advisor.prose.named import models_in
from advisor.prose.sentences import sentences_of
from advisor.prose.text import PlainText
from advisor.source import Span

T = TypeVar("T")

_SETUP: Final = re.compile(
    r"\b[bB]atch|\d ?[kK]\b|[cC]ontext|\btokens\b|\b[HABL]\d{2,3}|RTX|MI\d|TPU|GPU|\d[bB]\b"
    r"|[sS]ingle|[oO]ne |vLLM|SGLang|RT-LLM|llama\.cpp|[oO]llama|MLX|TGI|[lL][mM][dD]eploy"
)
_MOST_SENTENCES: Final = 300
_LONGEST: Final = 1500
_NEAR: Final = 12
"""Characters between a number of devices and their name."""


class Told(NamedTuple, Generic[T]):
    """A value and where it stands."""

    value: T
    span: Span


class Facts(NamedTuple):
    """What the whole document is about, as far as it is stated and not disputed."""

    model: Told[str] | None
    hardware: Told[str] | None
    batch: Told[int] | None
    context: Told[int] | None
    engine: Told[str] | None = None
    version: Told[str] | None = None
    is_in_use: bool = False
    """Whether the devices are those that run today, and not ones that are proposed."""


class _One(Generic[T]):
    """A value that all who state it agree on."""

    def __init__(self) -> None:
        self.stated: Told[T] | None = None
        self.key: object = None
        self.is_disputed = False

    def add(self, value: T, key: object, span: Span) -> None:
        if self.stated is None:
            self.stated, self.key = Told(value, span), key
        elif key != self.key:
            self.is_disputed = True

    @property
    def value(self) -> Told[T] | None:
        return None if self.is_disputed else self.stated


class _Hardware:
    """Devices whose names go together: "H100" and "two H100 SXM" are two H100 SXM."""

    def __init__(self) -> None:
        self.candidates: frozenset[str] = frozenset()
        self.name = ""
        self.span = Span(0, 0)
        self.count = _One[int]()
        self.is_disputed = False

    def add(self, name: str, count: int | None, span: Span) -> None:
        found = frozenset(parse_hardware(name)[1].candidates)
        if not found:
            return
        if count is not None:
            self.count.add(count, count, span)
        kept = found & self.candidates if self.candidates else found
        if not kept:
            self.is_disputed = True
        elif len(kept) < len(self.candidates) or not self.name:
            self.candidates, self.name, self.span = kept, name, span

    @property
    def value(self) -> Told[str] | None:
        if self.is_disputed or not self.name:
            return None
        count = self.count.value
        many = f"{count.value} x " if count is not None and count.value > 1 else ""
        return Told(f"{many}{self.name}", self.span)


def facts_of(page: Page) -> Facts:
    """Model, hardware, batch and context of a document where its sentences agree.

    What is in use already prevails over what other sentences name.
    """
    told = list(_sentences(page))
    every = _agreed(told)
    current = _agreed([one for one in told if is_in_use(one[2])])
    return Facts(
        current.model or every.model,
        current.hardware or every.hardware,
        current.batch or every.batch,
        current.context or every.context,
        current.engine or every.engine,
        current.version if current.engine else every.version,
        is_in_use=current.hardware is not None,
    )


def _agreed(told: Iterable[tuple[PlainText, int, str]]) -> Facts:
    model, hardware = _One[str](), _Hardware()
    engine, version = _One[str](), _One[str]()
    numbers = {Aspect.BATCH: _One[int](), Aspect.CONTEXT: _One[int]()}
    for body, start, text in told:
        for named in models_in(text):
            place = body.span(start + named.start, start + named.end)
            model.add(named.model.repo_id, named.model.repo_id, place)
        for one in engines_in(text):
            place = body.span(start + one.start, start + one.end)
            engine.add(one.name, resolve_engine(one.name).id, place)
            if one.version is not None:
                version.add(one.version, one.version, place)
        mentions = mentioned(text).mentions
        for mention in mentions:
            place = body.span(start + mention.start, start + mention.end)
            if mention.aspect is Aspect.HARDWARE:
                hardware.add(mention.name, _count_before(mentions, mention), place)
            elif mention.aspect in numbers:
                _add_number(numbers[mention.aspect], mention, place)
        length = frame_of(text).context
        if (
            length is not None
            and "window" not in text
            and not any(m.aspect is Aspect.CONTEXT for m in mentions)
        ):
            place = body.span(start, start + len(text))
            numbers[Aspect.CONTEXT].add(length, length, place)
    batch, context = numbers[Aspect.BATCH].value, numbers[Aspect.CONTEXT].value
    return Facts(model.value, hardware.value, batch, context, engine.value, version.value)


def _count_before(mentions: Sequence[Mention], hardware: Mention) -> int | None:
    """How many devices a sentence says there are: "two H100 SXM"."""
    for mention in mentions:
        near = 0 <= hardware.start - mention.start <= _NEAR
        if mention.aspect is Aspect.DEVICES and near and mention.low == mention.high:
            return max(round(mention.value), 1)
    return None


def _add_number(one: _One[int], mention: Mention, place: Span) -> None:
    if mention.low == mention.high and mention.value >= 1:
        one.add(round(mention.value), round(mention.value), place)
    else:
        one.is_disputed = True


def _sentences(page: Page) -> Iterator[tuple[PlainText, int, str]]:
    """Lines of the front matter and sentences that may state a deployment, with their places."""
    left = _MOST_SENTENCES
    for line in page.front:
        yield line.body, 0, line.text[:_LONGEST]
    for block in page.blocks:
        if _SETUP.search(block.text) is None:
            continue
        for sentence in sentences_of(block.text):
            if len(sentence.text) <= _LONGEST and left > 0:
                left -= 1
                yield block.body, sentence.start, sentence.text
        if left <= 0:
            return
